"""What all agents have in common that learn h while they walk: their state, how they end, how they wake.

An agent with a small lookahead never sees that there is no path. But a value of h above the cost of the longest
possible way proves it: h never exceeds the true distance by more than it once did (`slack`: nothing at first, and
after arcs were added the highest value then known).
"""

import numpy as np

from sim.kernels import log
from sim.kernels.flood import MET, flood
from sim.kernels.jit import kernel
from sim.kernels.octile import direction_between

STATE = np.dtype(
    [
        ("loc", "i8"),
        ("goal", "i8"),
        ("status", "i8"),  # ACTIVE, AT_GOAL, NO_PATH of log.py
        ("marks", "i8"),  # marks for the next row
        ("restarts", "i8"),
        ("limit", "f8"),  # an h above it proves that there is no path
        ("slack", "f8"),  # by how much h may exceed true distances
        ("length", "i8"),  # cells on the path ahead, the agent's own included; 0: nothing planned
        ("head", "i8"),  # place of the agent on it
        ("best", "i8"),  # the cell that the last plan headed for, -1 before the first
        ("closed", "i8"),  # cells in the list of those that the last plan expanded
        ("queued", "i8"),  # P LRTA*: cells in the queue
        ("updates", "i8"),  # values backed up, changed or not
        ("pops", "i8"),  # K LRTA*, LSS-LRTA*: cells taken from the queue of the backup
    ],
    align=True,
)


IS_SEEN, IS_TAIL = 1, 2  # marks of may_lead_out()


@kernel
def stand(state, start, goal):
    """Stand at `start` with nothing planned."""
    st = state[0]
    st.loc = start
    st.goal = goal
    st.length = 0
    st.head = 0
    st.best = -1
    st.status = log.AT_GOAL if start == goal else log.ACTIVE


@kernel
def begin_again(state):
    """Drop the plan and be awake, as after a change that matters."""
    st = state[0]
    stand(state, st.loc, st.goal)
    st.restarts += 1
    st.marks |= log.RESTARTED


@kernel
def set_limit(state, longest):
    """What proves that there is no path, on a map where no way costs more than `longest`."""
    state[0].limit = state[0].slack + longest


@kernel
def may_lead_out(ground, loc, tails, rose, seen, queue):
    """Whether some new arc leaves a cell that can be reached from `loc`. Writes: seen (zeros before), queue."""
    for i in range(tails.size):
        if not rose[i]:
            seen[tails[i]] = IS_TAIL
    return flood(ground, seen, queue, loc, IS_SEEN, IS_TAIL) == MET


@kernel
def has_no_way(ground, st):
    """Whether no move leads to the goal, or none away from here."""
    return ground.moves[st.goal] == 0 or ground.moves[st.loc] == 0


@kernel
def move_to(st, t):
    st.loc = t
    if t == st.goal:
        st.status = log.AT_GOAL


@kernel
def write_step(row, st, used, has_moved):
    """The row of a tick in which an agent has learned and moved; or has not moved, because there is no way."""
    if not has_moved:
        st.status = log.NO_PATH
    log.write_row(row, st.loc, used, 0, st.marks, log.LEARNING if has_moved else log.WAITING)
    st.marks = 0


@kernel
def is_cut(ground, path, state):
    """Whether a move of the path ahead is not legal any more."""
    st = state[0]
    for i in range(st.head, st.length - 1):
        if direction_between(ground, path[i], path[i + 1]) < 0:
            return True
    return False
