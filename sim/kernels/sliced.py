"""Search that is solved slice by slice before the agent sets out: A*, weighted A*, greedy search, Delayed A*.

A reference agent waits in place meanwhile. Delayed A* is the "late acting" control of "TBA*: Time-Bounded A*",
Table 1: it moves from the first tick on but, until the whole path is traced, only to and fro between the start
and one of its neighbours.
"""

import numpy as np

from sim.jit.decorators import inlined_kernel, kernel
from sim.kernels import log
from sim.kernels.route import route_index, set_route_from_trace
from sim.kernels.search import GOAL_ON_TOP, OPEN_LIST_EMPTY, begin_search, expand_best_cells, parent_of
from sim.kernels.tb_bfs import may_added_arc_open_path

STATE = np.dtype(
    [
        ("loc", "i8"),
        ("goal", "i8"),
        ("root", "i8"),
        ("aside", "i8"),  # neighbour of the root to which Delayed A* shuttles while it plans, -1: wait in place
        ("status", "i8"),
        ("found", "i8"),  # whether the search has the goal on top of its open list
        ("traced", "i8"),  # whether the whole path is traced
        ("trace_length", "i8"),  # number of cells traced so far
        ("length", "i8"),  # number of cells on the route, 0 until its trace is complete
        ("marks", "i8"),
        ("restarts", "i8"),
    ],
    align=True,
)

UNLIMITED_STEPS = np.int64(1) << 62


@kernel
def reset_agent(ground, search, state, start, goal, aside):
    """Place the agent at `start` with a new search to `goal`, and set its counts to 0."""
    st = state[0]
    st.loc = start
    st.goal = goal
    st.marks = 0
    st.restarts = 0
    begin_search_at_agent(ground, search, st, aside)


@kernel
def begin_search_at_agent(ground, search, st, aside):
    """Begin a new search with its root at the agent's cell, and forget the route. Costs O(1)."""
    begin_search(ground, search, st.loc, st.goal, st.goal)
    st.root = st.loc
    st.aside = aside
    st.found = 0
    st.traced = 0
    st.trace_length = 0
    st.length = 0
    st.status = log.AT_GOAL if st.loc == st.goal else log.ACTIVE


@kernel
def run_ticks(ground, search, route, state, expansions, budget, trace_rate, rows):
    """Plan and act for up to len(rows) ticks.

    A tick has up to `expansions` expansions and (budget - used) * trace_rate steps of tracing; a trace_rate of 0 means
    that tracing is not charged. Returns the number of ticks done.
    """
    st = state[0]
    for tick in range(rows.size):
        if st.status != log.ACTIVE:
            return tick
        used, steps = plan_within_budget(ground, search, route, st, expansions, budget, trace_rate)
        phase = move_agent(route, st)
        log.write_tick_row(rows[tick], st.loc, used, steps, st.marks, phase)
        st.marks = 0
    return rows.size


@inlined_kernel
def plan_within_budget(ground, search, route, st, expansions, budget, trace_rate):
    """Continue the search, then the trace of its path. Returns the expansions and the trace steps."""
    used = 0
    if not st.found:
        used = expand_best_cells(ground, search, expansions)
        status = search.control[0].status
        if status == OPEN_LIST_EMPTY:
            st.status = log.NO_PATH
        st.found = status == GOAL_ON_TOP
    steps = 0
    if st.found and not st.traced:
        room = UNLIMITED_STEPS
        if trace_rate > 0.0:
            room = np.int64(np.floor((budget - used) * trace_rate + 1e-9))
        steps = continue_trace(ground, search, route, st, room)
    return used, steps


@kernel
def continue_trace(ground, search, route, st, room):
    """Follow at most `room` parents from the goal towards the root; adopt the path when it is complete."""
    if st.trace_length == 0:
        route.scratch[0] = st.goal
        st.trace_length = 1
    steps = 0
    while steps < room and route.scratch[st.trace_length - 1] != st.root:
        route.scratch[st.trace_length] = parent_of(ground, search, np.int64(route.scratch[st.trace_length - 1]))
        st.trace_length += 1
        steps += 1
    if route.scratch[st.trace_length - 1] == st.root:
        st.length = set_route_from_trace(route, route.scratch, st.trace_length)
        st.traced = 1
    return steps


@kernel
def move_agent(route, st):
    """Make one move, or wait. Returns the phase of the tick."""
    if st.status != log.ACTIVE:
        return log.WAITING
    if st.traced:
        i = route_index(route, st.length, st.loc)
        st.loc = route.cells[i + 1] if i >= 0 else st.root
        if st.loc == st.goal:
            st.status = log.AT_GOAL
        return log.FOLLOWING
    if st.aside >= 0:
        st.loc = st.aside if st.loc == st.root else st.root
        if st.loc == st.goal:
            st.status = log.AT_GOAL
        return log.SHUTTLING
    return log.TRACING if st.found else log.SEARCHING


@kernel
def needs_restart(search, state, tails, rose):
    """Return whether the planner must begin again because of a map change.

    It need not if no arc changed, if the agent is at its goal, or if the search has not begun. After a search that
    found no path, it must begin again only if the change may open one.
    """
    st = state[0]
    if st.status == log.AT_GOAL or tails.size == 0:
        return False
    if st.status == log.NO_PATH:
        return may_added_arc_open_path(search, tails, rose)
    return st.traced != 0 or search.control[0].expansions > 0 or st.aside >= 0


@kernel
def restart_search(ground, search, state, aside):
    """Begin a new search at the agent's cell. The restart is counted, and reported as a mark of the next row."""
    st = state[0]
    begin_search_at_agent(ground, search, st, aside)
    st.restarts += 1
    st.marks |= log.RESTARTED
