"""Time-bounded best-first search, and its repetition on a changing map.

Paper: "Time-Bounded Best-First Search" (TB-BFS, TB-WA*, TB-GBFS; Algorithm 3 for lazy restarts).

Each tick expands k cells of one search that is never discarded, takes the path from the root to the best open cell, and
moves one cell: along the path if the agent is on it, else back to the parent.

Deviations, each with its reason in docs/deviations.md:
- closed cells stay closed unless the search is set to reopen them;
- the path is not made, only the agent's next cell on it is looked up, so that a tick costs the same on any map; the
  path is made for display, after a map change, and always when closed cells may change their parents;
- an agent notices in planning that a change has cut its path, not by bumping into an obstacle;
- without a path the agent waits for a change that may open one, unless it is set to give up.
"""

import numpy as np

from sim.jit.addresses import agent_arrays_at
from sim.jit.decorators import inlined_kernel, kernel
from sim.kernels import log
from sim.kernels.ancestry import link_ancestors, next_cell_towards
from sim.kernels.octile import cost_between_neighbours, h0_between_cells
from sim.kernels.referee import judge_log_rows
from sim.kernels.route import (
    is_remaining_walk_legal,
    remaining_walk_cost,
    route_index,
    trace_changed_route,
    trace_whole_route,
)
from sim.kernels.search import (
    GOAL_ON_TOP,
    OPEN_LIST_EMPTY,
    begin_search,
    best_open_cell,
    expand_best_cells,
    is_known,
    parent_of,
)
from sim.kernels.tiled import prefetch_table_entry

STATE = np.dtype(
    [
        ("loc", "i8"),
        ("goal", "i8"),
        ("status", "i8"),  # ACTIVE, AT_GOAL, NO_PATH, GAVE_UP of log.py
        ("end", "i8"),  # last cell of the path: the best open cell of the last plan, -1 before the first
        ("length", "i8"),  # number of cells on the route: the path as it was when the route was last made
        ("found", "i8"),  # whether the goal has been on top of the open list
        ("marks", "i8"),  # bits for the events that the next row reports, see log.py
        ("restarts", "i8"),
        # Position of a trace of the missing route in trace_missing_routes(): the next cell, and its index in the route.
        ("trace_cell", "i8"),  # -1: no trace is in progress
        ("trace_index", "i8"),
        # Parameters of the agent.
        ("gives_up", "i8"),  # whether an agent without a path stops for good instead of waiting for a map change
        ("policy", "i8"),  # EAGER_RESTART or LAZY_RESTART
        ("heeds", "i8"),  # REMOVED_ARC_AHEAD or REMOVED_ARC_INTO_ROUTE
        ("shortcut_weight", "f8"),  # weight w of the search; 0: added arcs never make the agent restart
    ],
    align=True,
)

# Restart policies: after every map change; only after a change that may affect the walk ahead.
EAGER_RESTART, LAZY_RESTART = 0, 1
# Which removed arcs make a lazy agent restart. REMOVED_ARC_AHEAD: arcs on its walk ahead.
# REMOVED_ARC_INTO_ROUTE: also all arcs that lead to a cell of its route, as the paper prints the rule.
REMOVED_ARC_AHEAD, REMOVED_ARC_INTO_ROUTE = 0, 1


@kernel
def reset_agent(ground, search, state, start, goal):
    """Place the agent at `start` with a new search to `goal`."""
    st = state[0]
    st.loc = start
    st.goal = goal
    st.marks = 0
    st.restarts = 0
    begin_search_at_agent(ground, search, st)


@kernel
def begin_search_at_agent(ground, search, st):
    """Begin a new search with its root at the agent's cell: InitializeSearch of the paper. Costs O(1)."""
    begin_search(ground, search, st.loc, st.goal, st.goal)
    st.end = -1
    st.length = 0
    st.trace_cell = -1
    st.trace_index = -1
    st.found = 0
    st.status = log.AT_GOAL if st.loc == st.goal else log.ACTIVE


@kernel
def restart_search(ground, search, st):
    """Begin a new search at the agent's cell. The restart is counted, and reported as a mark of the next row."""
    begin_search_at_agent(ground, search, st)
    st.restarts += 1
    st.marks |= log.RESTARTED


@inlined_kernel
def run_ticks(ground, search, route, links, state, budget, rows):
    """Plan and act for up to len(rows) ticks. Returns the ticks done, fewer if the agent is no longer active."""
    st = state[0]
    for tick in range(rows.size):
        if st.status != log.ACTIVE:
            return tick
        used, traced = plan_within_budget(ground, search, route, links, st, budget)
        marks, phase = move_agent(ground, search, route, links, st)
        log.write_tick_row(rows[tick], st.loc, used, traced, marks | st.marks, phase)
        st.marks = 0
    return rows.size


@inlined_kernel
def plan_within_budget(ground, search, route, links, st, budget):
    """Spend at most `budget` expansions, then determine the path.

    Returns the expansions and the parent pointers followed.
    """
    control = search.control[0]
    used = 0
    traced = 0
    while not st.found:
        used += expand_best_cells(ground, search, budget - used)
        if control.status == OPEN_LIST_EMPTY:
            if not control.is_stale:
                st.status = log.GAVE_UP if st.gives_up else log.NO_PATH
                break
        else:
            st.found = control.status == GOAL_ON_TOP
            st.end = best_open_cell(ground, search)
            if not control.reopens:
                traced += link_ancestors(ground, search, links, route.scratch, st.end)
            if control.reopens or control.is_stale:
                traced += update_route(ground, search, route, st)
            if not control.is_stale or is_remaining_walk_legal(ground, search, route, st.length, st.loc):
                break
        # The search from before the map change is useless: its parents lead through a wall, or it ended without a path.
        restart_search(ground, search, st)
    return used, traced


@kernel
def update_route(ground, search, route, st):
    """Trace the agent's present path into `route`. Returns the parent pointers followed."""
    if st.end < 0:
        return 0
    if search.control[0].reopens:
        st.length, steps = trace_whole_route(ground, search, route, st.end)
    else:
        st.length, steps = trace_changed_route(ground, search, route, st.length, st.end)
    return steps


@kernel
def next_path_cell(ground, search, route, links, st):
    """Return the cell after the agent's on its path, or -1 if the agent is off the path or at its end."""
    if not search.control[0].reopens:
        return next_cell_towards(ground, search, links, st.loc, st.end)
    i = route_index(route, st.length, st.loc)
    return np.int64(route.cells[i + 1]) if 0 <= i < st.length - 1 else np.int64(-1)


@kernel
def move_agent(ground, search, route, links, st):
    """Make one move. Returns the marks and the phase of the tick."""
    if st.status != log.ACTIVE:
        return 0, log.WAITING
    next_cell = next_path_cell(ground, search, route, links, st)
    if next_cell >= 0:
        st.loc = next_cell
        if st.loc == st.goal:
            st.status = log.AT_GOAL
        return 0, log.FOLLOWING if st.found else log.SEARCHING
    before = parent_of(ground, search, st.loc)
    if before < 0:
        return 0, log.WAITING  # a restart used up the budget: the agent is at the root and has no path yet
    st.loc = before
    return log.BACK_MOVE, log.WALKING_BACK


@kernel
def on_change(ground, search, route, state, tails, heads, rose):
    """Keep the search or begin again after a map change, as in Algorithm 3.

    An eager agent restarts after any change. A lazy agent restarts only if an arc of its walk ahead was removed, or if
    an arc was added through which `shortcut_weight` times the estimated cost is less than the rest of the walk. With
    REMOVED_ARC_INTO_ROUTE, it restarts also if a removed arc led into any cell of the route.

    The walk ahead was legal when it was planned, so one of its arcs was removed if and only if the walk is not legal
    now: the changed arcs need not be examined.

    Args:
        ground: The map after the change.
        search: Search of the agent.
        route: Route of the agent; made here if the agent is lazy.
        state: STATE[1] of the agent.
        tails: First cell of each changed arc.
        heads: Second cell of each changed arc.
        rose: True for each arc that was removed.
    """
    st = state[0]
    if st.status == log.AT_GOAL or st.status == log.GAVE_UP or tails.size == 0:
        return
    control = search.control[0]
    if st.status == log.NO_PATH:
        if may_added_arc_open_path(search, tails, rose):
            restart_search(ground, search, st)
        return
    if st.end < 0:
        return  # the agent has not planned yet, so the change makes nothing wrong
    if (
        st.policy == EAGER_RESTART
    ):  # tested before the route is traced, because an eager restart does not need the route
        restart_search(ground, search, st)
        return
    control.is_stale = 1
    update_route(ground, search, route, st)
    left = remaining_walk_cost(ground, search, route, st.length, st.loc)
    if left == np.inf or (st.heeds == REMOVED_ARC_INTO_ROUTE and is_route_entered(route, st, heads, rose)):
        restart_search(ground, search, st)
    elif st.shortcut_weight > 0.0 and may_added_arc_offer_shortcut(ground, route, st, tails, heads, rose, left):
        restart_search(ground, search, st)


@kernel
def may_added_arc_open_path(search, tails, rose):
    """Return whether an added arc may open a path: it leaves a cell that the failed search had reached."""
    for i in range(tails.size):
        if not rose[i] and is_known(search, tails[i]):
            return True
    return False


@kernel
def is_route_entered(route, st, heads, rose):
    """Return whether a removed arc led into the route, the paper's printed condition for a change of the path.

    The condition ignores that an agent off its path must first walk back to it, and would walk into the wall.
    """
    for i in range(heads.size):
        if rose[i] and route_index(route, st.length, heads[i]) >= 0:
            return True
    return False


@kernel
def may_added_arc_offer_shortcut(ground, route, st, tails, heads, rose, left):
    """Return whether an added arc may lead to the goal at less than 1/w of the cost of the agent's present walk.

    `left` is the cost of that walk as far as it is known. Since h0 is consistent, no path over any arc is shorter than
    h0 from the agent to the goal; so one comparison usually makes the loop over the arcs unnecessary.
    """
    if not st.found and st.length > 0:
        left += h0_between_cells(ground, route.cells[st.length - 1], st.goal)
    if st.shortcut_weight * h0_between_cells(ground, st.loc, st.goal) >= left:
        return False
    for i in range(tails.size):
        if not rose[i]:
            arc_cost = cost_between_neighbours(ground, tails[i], heads[i])
            via = h0_between_cells(ground, st.loc, tails[i]) + arc_cost + h0_between_cells(ground, heads[i], st.goal)
            if st.shortcut_weight * via < left:
                return True
    return False


# --- batches -----------------------------------------------------------------------------------


@kernel
def run_batch(ground, prototype, table, results, tick, rows):
    """Advance a batch of agents.

    Writes: rows, results, all arrays at the addresses in `table`.
    """
    for i in range(table.shape[0]):
        result = results[i]
        (search, route, links, state), metrics, visits = agent_arrays_at(prototype, table, i)
        result.done = run_ticks(ground, search, route, links, state, result.budget, rows[i])
        result.legal = judge_log_rows(ground, rows[i], result.done, tick, result.budget, metrics, visits)
        result.status = state[0].status


ROUTES_TRACED_PER_CALL = 64
"""Number of agents whose routes one call of trace_missing_routes() traces."""


@kernel
def apply_map_change_to_batch(ground, prototype, table, tails, heads, rose):
    """Notify all agents of a batch of a map change. Writes: all arrays at the addresses in `table`."""
    for i in range(table.shape[0]):
        if i % ROUTES_TRACED_PER_CALL == 0:
            trace_missing_routes(ground, prototype, table, i, min(i + ROUTES_TRACED_PER_CALL, table.shape[0]))
        (search, route, _, state), _, _ = agent_arrays_at(prototype, table, i)
        on_change(ground, search, route, state, tails, heads, rose)


@kernel
def trace_missing_routes(ground, prototype, table, first, beyond):
    """Trace the missing routes of lazy agents, among the agents `first` to `beyond` - 1.

    A route is traced from its last cell to the root of the search, from parent to parent. The results are the same as
    those of route.trace_changed_route(), but the agents take turns: one cell of each agent, round-robin. Tracing one
    agent at a time would wait for main memory at every cell. Here the next cell of an agent is prefetched while the
    other agents are processed. With 500 agents, this reduces the time of the first map change to 40 %.
    Writes: all arrays at the addresses in `table`.
    """
    for i in range(first, beyond):
        (search, route, _, state), _, _ = agent_arrays_at(prototype, table, i)
        st = state[0]
        is_on_its_way = st.status == log.ACTIVE and st.end >= 0 and not search.control[0].reopens
        if st.policy == LAZY_RESTART and is_on_its_way and st.length == 0:
            st.trace_cell = st.end
            st.trace_index = route.place[st.end].depth
            st.length = st.trace_index + 1
    left = beyond - first
    while left:
        left = 0
        for i in range(first, beyond):
            (search, route, _, state), _, _ = agent_arrays_at(prototype, table, i)
            st = state[0]
            if st.trace_cell >= 0:
                route.cells[st.trace_index] = st.trace_cell
                st.trace_cell = parent_of(ground, search, st.trace_cell)
                st.trace_index -= 1
                left += 1
                if st.trace_cell >= 0:
                    prefetch_table_entry(search.nodes, st.trace_cell)
