"""D* Lite: a search from the goal that is kept valid on a changing map by repairing only what a change made wrong.

Paper: Koenig and Likhachev 2002, "D* Lite", the version of its figure 3 (its procedure "compute" ends when the agent's
cell is not under-consistent). Each cell has g, its distance to the goal when it was last expanded, and rhs, its
distance computed from the g of its successors. The queue U contains exactly the cells whose g and rhs differ. Keys
(k1, k2) compare lexicographically, ties by smaller cell. Sums of costs are exact, so no tolerance is needed.

Here rhs is recomputed in full whenever a successor changed (at most 8 terms), not updated case by case as in the
optimised version of the paper. A cell whose g and rhs are both infinite is forgotten, because every cell begins in that
state.
"""

from typing import NamedTuple

import numpy as np

from sim.jit.addresses import agent_arrays_at
from sim.jit.decorators import kernel
from sim.kernels import log
from sim.kernels.labels import OPPOSITE_DIRECTION, count_expansion
from sim.kernels.memory import lazily_allocated_zeros
from sim.kernels.octile import NO_DIRECTION, h0_between_cells
from sim.kernels.referee import judge_log_rows
from sim.kernels.search import CLOSED, is_known, start_search_without_roots
from sim.kernels.tiled import Table, new_table

QUEUE_ENTRY = np.dtype([("k1", "f8"), ("k2", "f8"), ("cell", "i8")], align=True)

STATE = np.dtype(
    [
        ("loc", "i8"),  # cell of the agent
        ("goal", "i8"),
        ("last", "i8"),  # cell of the agent when the offset km was last raised
        ("status", "i8"),  # ACTIVE, AT_GOAL, NO_PATH of log.py
        ("marks", "i8"),  # bits for the events that the next row reports, see log.py
        ("found", "i8"),  # whether the repair after the last map change is complete, so that g gives an optimal path
        ("km", "f8"),  # offset added to new keys, because the agent has moved since the first keys were made
        ("rekeyed", "i8"),  # how often an entry of the queue U got a new key, because its old key was too small
        ("did", "i8"),  # bits for the events of the last tick: HEEDED, LOWERED, RAISED, SETTLED
        ("has_news", "i8"),  # whether arcs were added or removed since the last tick
    ],
    align=True,
)

# Events of a tick, for display only: the search never reads them.
MAP_CHANGE_HEEDED = 1  # the map had changed before the tick, and the agent took the change into account
G_LOWERED = 2  # in this tick a g that was too large was lowered to rhs
G_RAISED = 4  # in this tick a g that was too small became infinite
REPAIR_COMPLETED = 8  # in this tick the repair of everything that matters for the path was completed


class DstarLiteMemory(NamedTuple):
    """Memory of D* Lite besides its Search, which has g, indices in U and next cells of paths.

    Made by new_dstar_lite_memory().
    """

    rhs: Table  # float64[cells] rhs of each cell, valid only for cells that the search knows
    queue: np.ndarray  # ENTRY[cells + 1] the queue U of cells whose g and rhs differ, a binary heap


def new_dstar_lite_memory(cells: int, tile_width: int = 0) -> DstarLiteMemory:
    """Return the memory of a search that has not begun. `tile_width`: width of the map for tiles, 0 for row order."""
    return DstarLiteMemory(
        new_table("rhs", cells, np.float64, tile_width),
        lazily_allocated_zeros(cells + 1, QUEUE_ENTRY).view(np.recarray),
    )


@kernel
def reset_agent(ground, search, memory, state, start, goal):
    """Begin a new search, which knows only that the distance of the goal is 0. Costs O(1)."""
    st = state[0]
    st.loc = start
    st.goal = goal
    st.last = start
    st.marks = 0
    st.found = 0
    st.km = 0.0
    st.rekeyed = 0
    st.did = 0
    st.has_news = 0
    st.status = log.AT_GOAL if start == goal else log.ACTIVE
    start_search_without_roots(ground, search, goal, start)
    search.control[0].root = goal
    set_rhs(search, memory, goal, 0.0, NO_DIRECTION)
    update_queue_entry(ground, search, memory, st, goal)


@kernel
def run_ticks(ground, search, memory, state, expansions, rows):
    """Repair the search and move, for up to len(rows) ticks. Returns the number of ticks done.

    A tick has up to `expansions` expansions. The agent moves only in ticks in which its path is completely repaired.
    """
    st = state[0]
    for tick in range(rows.size):
        if st.status != log.ACTIVE:
            return tick
        st.did = MAP_CHANGE_HEEDED if st.has_news else 0
        st.has_news = 0
        used = 0 if st.found else compute_shortest_path(ground, search, memory, st, expansions)
        phase = log.SEARCHING
        if st.found and rhs_of(search, memory, st.loc) == np.inf:
            st.status = log.NO_PATH
            phase = log.WAITING
        elif st.found:
            move_agent(ground, search, st)
            phase = log.FOLLOWING
        log.write_tick_row(rows[tick], st.loc, used, 0, st.marks, phase)
        st.marks = 0
    return rows.size


@kernel
def move_agent(ground, search, st):
    """Make one move along the cheapest path."""
    st.loc += ground.step[next_direction(ground, search, st.loc)]
    if st.loc == st.goal:
        st.status = log.AT_GOAL


@kernel
def next_direction(ground, search, s):
    """Return the direction to argmin over succ(s) of c + g, or -1 if no g is finite.

    Ties go to the larger c, then to the smaller cell.
    """
    best = np.int64(-1)
    best_cost = np.inf
    for d in range(8):
        if not ground.moves[s] >> d & 1:
            continue
        t = s + ground.step[d]
        cost = ground.cost[d] + g_of(search, t)
        if cost < best_cost:
            best, best_cost = np.int64(d), cost
        elif best >= 0 and cost == best_cost:
            is_longer = ground.cost[d] > ground.cost[best]
            if is_longer or (ground.cost[d] == ground.cost[best] and ground.step[d] < ground.step[best]):
                best = np.int64(d)
    return best


@kernel
def compute_shortest_path(ground, search, memory, st, expansions):
    """Process the least entries of U until the agent's path is optimal, or the budget of `expansions` is spent.

    Returns the expansions; re-keying an entry is not one. Writes: g, rhs, U, st.
    """
    control = search.control[0]
    used = 0
    while True:
        if not needs_repair(search, memory, st):
            st.found = 1
            st.did |= REPAIR_COMPLETED
            break
        if used >= expansions:
            break
        entry = memory.queue[0]
        u = entry.cell
        k2 = min(g_of(search, u), memory.rhs[u])
        k1 = k2 + h0_between_cells(ground, st.loc, u) + st.km
        if entry_precedes(entry.k1, entry.k2, u, k1, k2, u):
            sift_queue_entry(memory.queue, search.nodes, control.open_size, 0, k1, k2, u)
            st.rekeyed += 1
            continue
        expand_cell(ground, search, memory, st, u)
        used += 1
    return used


@kernel
def needs_repair(search, memory, st):
    """Return whether the repair must continue: whether U.top_key < key(loc) or rhs[loc] > g[loc], as in the paper."""
    if search.control[0].open_size == 0:
        return False
    g = g_of(search, st.loc)
    rhs = rhs_of(search, memory, st.loc)
    if rhs > g:
        return True
    top = memory.queue[0]
    k1 = min(g, rhs) + st.km  # without a term for h0(loc, loc), which is 0
    return top.k1 < k1 or (top.k1 == k1 and top.k2 < min(g, rhs))


@kernel
def expand_cell(ground, search, memory, st, u):
    """Set g of u to rhs if it was too large, or to infinity if it was too small, and update its predecessors."""
    count_expansion(search, u)
    node = search.nodes[u]
    if node.g > memory.rhs[u]:
        node.g = memory.rhs[u]
        st.did |= G_LOWERED
        update_queue_entry(ground, search, memory, st, u)
    else:
        node.g = np.inf
        st.did |= G_RAISED
        update_rhs(ground, search, memory, st, u)
    for d in range(8):  # for p in pred(u), which equals succ(u) because moves are undirected
        if ground.moves[u] >> d & 1:
            update_rhs(ground, search, memory, st, u + ground.step[d])


@kernel
def update_rhs(ground, search, memory, st, p):
    """Recompute rhs[p] = min over succ(p) of c + g, unless p is the goal, and update p's entry in U."""
    if p != st.goal:
        d = next_direction(ground, search, p)
        if d >= 0:
            set_rhs(search, memory, p, ground.cost[d] + g_of(search, p + ground.step[d]), OPPOSITE_DIRECTION[d])
        elif is_known(search, p):
            set_rhs(search, memory, p, np.inf, NO_DIRECTION)
        else:
            return
    update_queue_entry(ground, search, memory, st, p)


@kernel
def set_rhs(search, memory, p, rhs, came):
    """Set rhs[p], and the direction by which the search came to p from the next cell on the path to the goal."""
    node = search.nodes[p]
    if not is_known(search, p):
        node.search = search.control[0].search
        search.control[0].known += 1
        node.g = np.inf
        node.place = CLOSED
    node.came = came
    memory.rhs[p] = rhs


@kernel
def update_queue_entry(ground, search, memory, st, u):
    """Insert u into U, update its key, or remove it, depending on g and rhs.

    A cell with infinite g and rhs is forgotten. Writes: U, the place and record of u.
    """
    control = search.control[0]
    node = search.nodes[u]
    rhs = memory.rhs[u]
    if node.g != rhs:
        k2 = min(node.g, rhs)
        index = np.int64(node.place)
        if index == CLOSED:
            index = control.open_size
            control.open_size += 1
        sift_queue_entry(
            memory.queue,
            search.nodes,
            control.open_size,
            index,
            k2 + h0_between_cells(ground, st.loc, u) + st.km,
            k2,
            u,
        )
        return
    if node.place != CLOSED:
        remove_queue_entry(search, memory, np.int64(node.place))
        node.place = CLOSED
    if rhs == np.inf:
        node.search = 0  # no search has the number 0, so the cell becomes unknown to the search
        control.most_known = max(control.most_known, control.known)
        control.known -= 1


@kernel
def g_of(search, s):
    """Return g of cell s, infinity if s is unknown to the search."""
    return search.nodes[s].g if is_known(search, s) else np.inf


@kernel
def rhs_of(search, memory, s):
    """Return rhs of cell s, infinity if s is unknown to the search."""
    return memory.rhs[s] if is_known(search, s) else np.inf


@kernel
def entry_precedes(k1, k2, s, other_k1, other_k2, other):
    """Return whether the entry (k1, k2, s) of U comes before the entry with the other keys and cell."""
    if k1 != other_k1:
        return k1 < other_k1
    if k2 != other_k2:
        return k2 < other_k2
    return s < other


@kernel
def remove_queue_entry(search, memory, index):
    """Remove the entry at `index` from U by moving the last entry there and restoring the heap order."""
    control = search.control[0]
    control.open_size -= 1
    last = memory.queue[control.open_size]
    if index < control.open_size:
        sift_queue_entry(memory.queue, search.nodes, control.open_size, index, last.k1, last.k2, last.cell)


@kernel
def sift_queue_entry(queue, nodes, size, index, k1, k2, s):
    """Put an entry into the heap of `size` entries, starting at index `index` and moving it up or down as needed.

    Writes: queue, the places of all entries moved.
    """
    i = index
    while i > 0 and entry_precedes(k1, k2, s, queue[(i - 1) >> 1].k1, queue[(i - 1) >> 1].k2, queue[(i - 1) >> 1].cell):
        move_queue_entry(queue, nodes, (i - 1) >> 1, i)
        i = (i - 1) >> 1
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and queue_entry_precedes(queue, child + 1, child):
            child += 1
        if not entry_precedes(queue[child].k1, queue[child].k2, queue[child].cell, k1, k2, s):
            break
        move_queue_entry(queue, nodes, child, i)
        i = child
    entry = queue[i]
    entry.k1 = k1
    entry.k2 = k2
    entry.cell = s
    nodes[s].place = i


@kernel
def queue_entry_precedes(queue, i, k):
    """Return whether the entry at index i of the queue comes before the entry at index k."""
    return entry_precedes(queue[i].k1, queue[i].k2, queue[i].cell, queue[k].k1, queue[k].k2, queue[k].cell)


@kernel
def move_queue_entry(queue, nodes, i, k):
    """Copy the entry at index i to index k."""
    queue[k].k1 = queue[i].k1
    queue[k].k2 = queue[i].k2
    queue[k].cell = queue[i].cell
    nodes[queue[k].cell].place = k


@kernel
def on_change(ground, search, memory, state, tails, rose):
    """Handle a map change: recompute rhs of the cells whose arcs changed, and leave the repair to the next ticks.

    The map already contains all changes, so every arc is read in its new state. An agent without a path becomes active
    again when an arc is added; removed arcs alone leave it inactive, and only increase the later repair.
    """
    st = state[0]
    if st.status == log.AT_GOAL or tails.size == 0:
        return
    st.km += h0_between_cells(ground, st.last, st.loc)
    st.last = st.loc
    search.control[0].aim_x = st.loc % ground.width
    search.control[0].aim_y = st.loc // ground.width
    for i in range(tails.size):
        update_rhs(ground, search, memory, st, np.int64(tails[i]))
        if not rose[i] and st.status == log.NO_PATH:
            st.status = log.ACTIVE
    st.found = 0
    st.has_news = 1


@kernel
def write_path_ahead(ground, search, state, path):
    """Write the cells that the agent will walk if nothing changes, its own first, into `path`. Returns their number."""
    st = state[0]
    path[0] = st.loc
    length = 1
    while path[length - 1] != st.goal:
        s = np.int64(path[length - 1])
        path[length] = s + ground.step[next_direction(ground, search, s)]
        length += 1
    return length


# --- batches -----------------------------------------------------------------------------------


@kernel
def run_batch(ground, prototype, table, results, tick, rows):
    """Advance a batch of agents that spread each search over several ticks.

    Writes: rows, results, all arrays at the addresses in `table`.
    """
    for i in range(table.shape[0]):
        result = results[i]
        (search, memory, state), metrics, visits = agent_arrays_at(prototype, table, i)
        result.done = run_ticks(ground, search, memory, state, result.budget, rows[i])
        result.legal = judge_log_rows(ground, rows[i], result.done, tick, result.budget, metrics, visits)
        result.status = state[0].status


@kernel
def apply_map_change_to_batch(ground, prototype, table, tails, heads, rose):
    """Notify all agents of a batch of a map change. Writes: all arrays at the addresses in `table`."""
    for i in range(table.shape[0]):
        (search, memory, state), _, _ = agent_arrays_at(prototype, table, i)
        on_change(ground, search, memory, state, tails, rose)
