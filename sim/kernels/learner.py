"""Common parts of all agents that learn h while they walk: state, end of the walk, restart.

An agent with a small lookahead never sees that there is no path. But h exceeds the true distance by at most `slack`. So
an h above the cost of the longest possible path plus the slack proves that there is no path. The slack is 0 at first;
when arcs are added, which may shorten true distances, it becomes the highest h known at that time.
"""

import numpy as np

from sim.kernels import log
from sim.kernels.flood import FLOOD_MET, flood_fill
from sim.kernels.jit import kernel
from sim.kernels.octile import direction_between

STATE = np.dtype(
    [
        ("loc", "i8"),  # cell of the agent
        ("goal", "i8"),
        ("status", "i8"),  # ACTIVE, AT_GOAL, NO_PATH of log.py
        ("marks", "i8"),  # bits for the events that the next row reports, see log.py
        ("restarts", "i8"),  # number of plans dropped because of a map change
        ("limit", "f8"),  # cost limit: an h above it proves that there is no path
        ("slack", "f8"),  # maximum by which h may exceed true distances
        ("length", "i8"),  # number of cells on the planned path, including the agent's own; 0: nothing planned
        ("head", "i8"),  # index of the agent's cell on the planned path
        ("best", "i8"),  # target cell of the last plan, -1 before the first plan
        ("closed", "i8"),  # number of cells in the list of cells that the last plan expanded
        ("queued", "i8"),  # P LRTA*: number of cells waiting in the queue of updates
        ("updates", "i8"),  # number of h values backed up so far, changed or not
        ("pops", "i8"),  # K LRTA*, LSS-LRTA*: number of cells taken from the queue of the backup so far
    ],
    align=True,
)


IS_SEEN, IS_TAIL = (
    1,
    2,
)  # labels of cells in reaches_added_arc(): the flood reached the cell; an added arc leaves the cell


@kernel
def place_agent(state, start, goal):
    """Place the agent at `start` with nothing planned."""
    st = state[0]
    st.loc = start
    st.goal = goal
    st.length = 0
    st.head = 0
    st.best = -1
    st.status = log.AT_GOAL if start == goal else log.ACTIVE


@kernel
def restart_agent(state):
    """Drop the plan and make the agent active again, after a map change that may affect it."""
    st = state[0]
    place_agent(state, st.loc, st.goal)
    st.restarts += 1
    st.marks |= log.RESTARTED


@kernel
def set_h_limit(state, longest):
    """Set the limit above which h proves that there is no path; no path on the map costs more than `longest`."""
    state[0].limit = state[0].slack + longest


@kernel
def reaches_added_arc(ground, loc, tails, rose, seen, queue):
    """Return whether an added arc leaves a cell that can be reached from `loc`. Writes: seen, queue.

    `seen` must contain only zeros before the call.
    """
    for i in range(tails.size):
        if not rose[i]:
            seen[tails[i]] = IS_TAIL
    return flood_fill(ground, seen, queue, loc, IS_SEEN, IS_TAIL) == FLOOD_MET


@kernel
def has_no_moves(ground, st):
    """Return whether there is obviously no path: the goal's cell or the agent's cell has no legal move."""
    return ground.moves[st.goal] == 0 or ground.moves[st.loc] == 0


@kernel
def move_agent_to(st, t):
    """Move the agent to cell t."""
    st.loc = t
    if t == st.goal:
        st.status = log.AT_GOAL


@kernel
def write_learning_row(row, st, used, has_moved):
    """Write the row of a tick in which the agent has learned and moved, or has not moved because there is no path."""
    if not has_moved:
        st.status = log.NO_PATH
    log.write_row(row, st.loc, used, 0, st.marks, log.LEARNING if has_moved else log.WAITING)
    st.marks = 0


@kernel
def is_path_cut(ground, path, state):
    """Return whether a move of the path that the agent still has to walk is no longer legal."""
    st = state[0]
    for i in range(st.head, st.length - 1):
        if direction_between(ground, path[i], path[i + 1]) < 0:
            return True
    return False
