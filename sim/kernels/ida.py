"""IDA*: depth-first searches with a limit T on f = g + h0 that rises from one search to the next.

Paper: Korf 1985; here from section 3.2 of "Real-Time Heuristic Search for Pathfinding in Video Games". An iteration
starts at the root, descends to children with f <= T in the fixed order of directions, never onto a cell of its own
stack, and keeps the least f beyond T as the next limit. Its only memory is the stack, so it expands a cell once for
every path that leads to it. `labels`, a Search without an open list, is for display only: it records the cells entered,
and `entry_limits` the limit with which each was first entered. The search itself never reads them.

One expansion is one cell put on the stack. The goal is never expanded.
"""

from typing import NamedTuple

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels import log
from sim.kernels.labels import OPPOSITE_DIRECTION, count_expansion
from sim.kernels.memory import lazily_allocated_zeros
from sim.kernels.octile import NO_DIRECTION, h0_between_cells
from sim.kernels.route import route_index, set_route_from_trace
from sim.kernels.search import CLOSED, is_known, start_search_without_roots
from sim.kernels.tb_bfs import may_added_arc_open_path

STATE = np.dtype(
    [
        ("loc", "i8"),
        ("goal", "i8"),
        ("root", "i8"),  # cell at which the search began
        ("status", "i8"),  # ACTIVE, AT_GOAL, NO_PATH, GAVE_UP of log.py
        ("found", "i8"),  # whether the path to the goal was found
        ("length", "i8"),  # number of cells on the route, once the goal was found
        ("depth", "i8"),  # number of cells on the stack
        ("iteration", "i8"),  # number of the iteration, 1 for the first limit
        ("limit", "f8"),  # T, the limit on f in this iteration
        ("next_limit", "f8"),  # least f beyond T in this iteration, infinity if there is none
        ("most", "i8"),  # maximum number of expansions, after which the agent gives up
        ("marks", "i8"),
        ("restarts", "i8"),
        ("did", "i8"),  # bits for the events of the last tick: ROSE, CELL_POPPED, CELL_POPPED_LAST
    ],
    align=True,
)

# Events of a tick, for display only: the search never reads them.
LIMIT_ROSE = 1  # in this tick the limit on f rose
CELL_POPPED = 2  # in this tick a cell was taken off the stack
CELL_POPPED_LAST = 4  # in this tick a cell was taken off the stack after the last expansion


class SearchStack(NamedTuple):
    """Stack of the depth-first search: the path from the root to its current cell.

    Make it only with new_search_stack().
    """

    cells: np.ndarray  # int32[cells] cells on the stack, the root first
    next_directions: np.ndarray  # uint8[cells] for each cell of the stack, the direction to try next
    came: np.ndarray  # uint8[cells] direction by which each cell of the stack was entered
    g: np.ndarray  # float64[cells] g of each cell of the stack
    holds: np.ndarray  # uint8[map cells] 1 if a cell is on the stack
    # float64[map cells] limit T with which each cell was first entered; valid only for cells that `labels` knows
    entry_limits: np.ndarray


def new_search_stack(cells: int) -> SearchStack:
    return SearchStack(
        lazily_allocated_zeros(cells, np.int32),
        lazily_allocated_zeros(cells, np.uint8),
        lazily_allocated_zeros(cells, np.uint8),
        lazily_allocated_zeros(cells, np.float64),
        lazily_allocated_zeros(cells, np.uint8),
        lazily_allocated_zeros(cells, np.float64),
    )


@kernel
def reset_agent(ground, labels, stack, state, start, goal, max_expansions):
    """Place the agent at `start` with an empty search."""
    st = state[0]
    st.loc = start
    st.goal = goal
    st.most = max_expansions
    st.marks = 0
    st.restarts = 0
    begin_search_at_agent(ground, labels, stack, st)


@kernel
def begin_search_at_agent(ground, labels, stack, st):
    """Prepare the first iteration from the agent's cell: set its limit, empty the stack."""
    clear_stack(stack, st)
    start_search_without_roots(ground, labels, st.goal, st.goal)
    labels.control[0].root = st.loc
    st.root = st.loc
    st.found = 0
    st.length = 0
    st.iteration = 0
    st.limit = 0.0
    st.next_limit = h0_between_cells(ground, st.loc, st.goal)
    st.status = log.AT_GOAL if st.loc == st.goal else log.ACTIVE


@kernel
def clear_stack(stack, st):
    """Empty the stack."""
    for i in range(st.depth):
        stack.holds[stack.cells[i]] = 0
    st.depth = 0


@kernel
def run_ticks(ground, labels, stack, route, state, expansions, rows):
    """Plan and act for up to len(rows) ticks, with up to `expansions` in each. Returns the number of ticks done."""
    st = state[0]
    for tick in range(rows.size):
        if st.status != log.ACTIVE:
            return tick
        used = 0
        st.did = 0
        if not st.found:
            used = continue_depth_first_search(ground, labels, stack, st, expansions)
            if st.found:
                set_route_from_stack(stack, route, st)
        phase = move_agent(route, st)
        log.write_tick_row(rows[tick], st.loc, used, 0, st.marks, phase)
        st.marks = 0
    return rows.size


@kernel
def continue_depth_first_search(ground, labels, stack, st, room):
    """Continue the depth-first search for up to `room` expansions.

    Returns the number of expansions. Writes: stack, labels, st.
    """
    used = 0
    while not st.found and st.status == log.ACTIVE:
        if st.depth == 0:
            if st.next_limit == np.inf:  # no cell was beyond the limit, so all reachable cells have been searched
                st.status = log.NO_PATH
                break
            if used == room:
                break
            st.limit, st.next_limit = st.next_limit, np.inf
            st.did |= LIMIT_ROSE if st.iteration else 0
            st.iteration += 1
            push_cell(labels, stack, st, st.root, NO_DIRECTION, 0.0)
            used += 1
            continue
        if labels.control[0].expansions >= st.most:
            st.status = log.GAVE_UP
            break
        d = next_child_direction(ground, stack, st)
        if d < 0:
            pop_cell(stack, st)
            continue
        top = st.depth - 1
        t = stack.cells[top] + ground.step[d]
        if t == st.goal:
            st.found = 1
            break
        if used == room:
            break
        stack.next_directions[top] = d + 1
        push_cell(labels, stack, st, t, d, stack.g[top] + ground.cost[d])
        used += 1
    return used


@kernel
def push_cell(labels, stack, st, s, came, g):
    """Expand cell s by putting it on the stack. For display, `labels` keeps the least g with which s was entered."""
    stack.cells[st.depth] = s
    stack.next_directions[st.depth] = 0
    stack.came[st.depth] = came
    stack.g[st.depth] = g
    stack.holds[s] = 1
    st.depth += 1
    st.did &= ~CELL_POPPED_LAST
    labels.control[0].most_known = max(labels.control[0].most_known, st.depth)  # the memory of IDA* is the stack alone
    node = labels.nodes[s]
    if not is_known(labels, s):
        node.search = labels.control[0].search
        node.place = CLOSED
        node.g = np.inf
        stack.entry_limits[s] = st.limit
    if g < node.g:
        node.g = g
        node.came = came
    count_expansion(labels, s)


@kernel
def pop_cell(stack, st):
    """Take the top cell off the stack."""
    st.depth -= 1
    stack.holds[stack.cells[st.depth]] = 0
    st.did |= CELL_POPPED | CELL_POPPED_LAST


@kernel
def next_child_direction(ground, stack, st):
    """Return the direction of the top cell's next child within the limit, or -1 if none is left.

    Writes: turn of the top cell, next_limit.
    """
    top = st.depth - 1
    s = stack.cells[top]
    moves = np.int64(ground.moves[s])
    for d in range(stack.next_directions[top], 8):
        stack.next_directions[top] = d
        if not moves >> d & 1 or (stack.came[top] != NO_DIRECTION and d == OPPOSITE_DIRECTION[stack.came[top]]):
            continue
        t = s + ground.step[d]
        if stack.holds[t]:
            continue
        f = stack.g[top] + ground.cost[d] + h0_between_cells(ground, t, st.goal)
        if f <= st.limit:
            return d
        st.next_limit = min(st.next_limit, f)
    return -1


@kernel
def set_route_from_stack(stack, route, st):
    """Make the cells of the stack, followed by the goal, the agent's route."""
    route.scratch[0] = st.goal
    for i in range(st.depth):
        route.scratch[st.depth - i] = stack.cells[i]
    st.length = set_route_from_trace(route, route.scratch, st.depth + 1)


@kernel
def move_agent(route, st):
    """Make one move along the route, or none before it is found. Returns the phase of the tick."""
    if st.status != log.ACTIVE:
        return log.WAITING
    if not st.found:
        return log.SEARCHING
    st.loc = route.cells[route_index(route, st.length, st.loc) + 1]
    if st.loc == st.goal:
        st.status = log.AT_GOAL
    return log.FOLLOWING


@kernel
def on_change(ground, labels, stack, state, tails, rose):
    """Begin again at the agent's cell after a map change, unless the change cannot affect the search."""
    st = state[0]
    if st.status == log.AT_GOAL or st.status == log.GAVE_UP or tails.size == 0:
        return
    if st.status == log.NO_PATH and not may_added_arc_open_path(labels, tails, rose):
        return
    if st.status == log.ACTIVE and labels.control[0].expansions == 0:
        return
    begin_search_at_agent(ground, labels, stack, st)
    st.restarts += 1
    st.marks |= log.RESTARTED


@kernel
def read_contour_limits(labels, stack, limits):
    """Read for every cell the limit with which it was first entered, 0 if it was not entered. Writes: limits."""
    for s in range(limits.size):
        limits[s] = stack.entry_limits[s] if is_known(labels, s) else 0.0
