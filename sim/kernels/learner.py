"""Code shared by all agents that learn h (the estimated cost to the goal) while they walk.

If there is no path to the goal, an agent with a small lookahead cannot see it. It would walk forever, while its h keeps
growing. So there is a limit: the cost of the longest possible path on the map, plus a `slack`. An h above this limit
proves that there is no path, because h exceeds the true cost by at most `slack`. The slack is 0 until a map change adds
arcs. Added arcs can reduce true costs, so the slack is then set to the highest h at that time.
"""

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels import log
from sim.kernels.flood import FLOOD_MET_TARGET, flood_fill
from sim.kernels.octile import direction_between

STATE = np.dtype(
    [
        ("loc", "i8"),  # cell of the agent
        ("goal", "i8"),
        ("status", "i8"),  # ACTIVE, AT_GOAL or NO_PATH, defined in log.py
        ("marks", "i8"),  # bits for the events to report in the row of the next tick, see log.py
        ("restarts", "i8"),  # number of times the agent has dropped its plan because of a map change
        ("limit", "f8"),  # if h of the agent's cell exceeds this cost, there is no path to the goal
        ("slack", "f8"),  # maximum by which h may exceed the true cost to the goal
        ("length", "i8"),  # number of cells on the whole planned path; 0: nothing planned
        ("head", "i8"),  # index of the agent's present cell on the planned path
        ("best", "i8"),  # last cell of the latest plan; -1 before the first plan
        ("closed", "i8"),  # number of cells in the list that the latest lookahead has made
        ("queued", "i8"),  # P LRTA*: number of cells in the queue whose h is still to be updated
        ("updates", "i8"),  # number of updates of an h value so far, even if the value remained the same
        ("pops", "i8"),  # K LRTA*, LSS-LRTA*: number of cells taken so far from the queue for updating h
    ],
    align=True,
)


# Labels of cells in can_reach_added_arc(). IS_SEEN: the flood fill has reached the cell. IS_TAIL: an added arc leaves
# it.
IS_SEEN, IS_TAIL = 1, 2


@kernel
def place_agent(state, start, goal):
    """Place the agent at cell `start`, without a plan."""
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
    """Set the limit of h above which there is no path. `longest` is an upper bound of the cost of any path."""
    state[0].limit = state[0].slack + longest


@kernel
def can_reach_added_arc(ground, loc, tails, rose, seen, queue):
    """Return whether the agent at cell `loc` can reach the tail (first cell) of an arc that a map change has added.

    Changed arc i begins at tails[i]; it was added if rose[i] is false. `seen` must contain only zeros before the call.
    Writes: seen, queue.
    """
    for i in range(tails.size):
        if not rose[i]:
            seen[tails[i]] = IS_TAIL
    return flood_fill(ground, seen, queue, loc, IS_SEEN, IS_TAIL) == FLOOD_MET_TARGET


@kernel
def has_obviously_no_path(ground, st):
    """Return True if there is no legal move from the agent's cell or from the goal, so that there is no path."""
    return ground.moves[st.goal] == 0 or ground.moves[st.loc] == 0


@kernel
def move_agent_to(st, t):
    """Move the agent to cell t; set its status if t is the goal."""
    st.loc = t
    if t == st.goal:
        st.status = log.AT_GOAL


@kernel
def write_learning_row(row, st, used, has_moved):
    """Write the result row of a tick. `used` is the number of expansions. If not `has_moved`, there is no path."""
    if not has_moved:
        st.status = log.NO_PATH
    log.write_tick_row(row, st.loc, used, 0, st.marks, log.LEARNING if has_moved else log.WAITING)
    st.marks = 0


@kernel
def is_planned_path_blocked(ground, path, state):
    """Return True if a map change has made a move on the rest of the agent's planned path illegal."""
    st = state[0]
    for i in range(st.head, st.length - 1):
        if direction_between(ground, path[i], path[i + 1]) < 0:
            return True
    return False
