"""Agents with an A*-shaped local search space: K LRTA*, LSS-LRTA*, RTAA*, daRTAA*.

Papers: Koenig 2004 and Koenig and Sun 2009 (backup by Dijkstra), Koenig and Likhachev 2006 (RTAA*), Hernandez and Baier
2012 (daRTAA*). One planning episode expands n cells from the agent with the learned h, backs values up from the open
cells, and plans a path to one of these; the agent then walks the whole path or one step.

Ties on f: larger g, then smaller cell. The goal has h = 0 and so the largest g: it wins every tie by this rule.
"""

from typing import NamedTuple

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels import log
from sim.kernels.labels import count_expansion
from sim.kernels.learned import learned_h_excess, learned_h_of, raise_learned_h, set_learned_h
from sim.kernels.learner import has_obviously_no_path, move_agent_to
from sim.kernels.memory import lazily_allocated_zeros
from sim.kernels.octile import NO_DIRECTION, SUCCESSORS
from sim.kernels.openlist import OPEN_LIST_ENTRY, key_of_f, packed_tie, sift_down, sift_up
from sim.kernels.search import (
    CLOSED,
    GOAL_ON_TOP,
    OPEN_LIST_EMPTY,
    RUNNING,
    Search,
    add_root,
    new_search,
    parent_of,
    start_search_without_roots,
)

# Rules for backing up h: by Dijkstra's algorithm; from the f of the best open cell (RTAA*).
DIJKSTRA_BACKUP, RTAA_BACKUP = 0, 1
MIN_F_RULE, MIN_EXCESS_RULE = 0, 1  # rules for the open cell to head for: the least f; the least h - h0 (daRTAA*)

BACKUP_LABEL = np.dtype([("place", "i4")])  # index of a closed cell in the queue of the backup, or SETTLED, or UNSEEN
FINAL_VALUE, NEVER_QUEUED = -1, -2  # states of a closed cell in the backup: it has its final value; it was never queued


class LocalSearchSpace(NamedTuple):
    """Local search space of the last plan. Make it only with new_local_search_space()."""

    search: Search
    closed: np.ndarray  # int32[cells] expanded cells in their order; a cell expanded twice is listed twice
    labels: np.ndarray  # LABEL[cells] state of each closed cell in the backup
    heap: np.ndarray  # ENTRY[cells + 1] queue of closed cells during the backup, a heap ordered by h
    path: np.ndarray  # int32[cells] path from the agent's cell at the last plan to the chosen open cell


def new_local_search_space(cells: int, is_watched: bool) -> LocalSearchSpace:
    return LocalSearchSpace(
        new_search(cells, counts_heat=is_watched, notes_order=is_watched, is_reused=not is_watched),
        lazily_allocated_zeros(cells, np.int32),
        lazily_allocated_zeros(cells, BACKUP_LABEL).view(np.recarray),
        lazily_allocated_zeros(cells + 1, OPEN_LIST_ENTRY).view(np.recarray),
        lazily_allocated_zeros(cells, np.int32),
    )


@kernel
def run_ticks(ground, learned, space, state, n, backup, exit_rule, walks_all, rows):
    """Plan and act for up to len(rows) ticks.

    Args:
        ground: The map.
        learned: Learned heuristic of the agent.
        space: Local search space.
        state: learner.STATE[1] of the agent.
        n: Expansions in a tick that plans.
        backup: DIJKSTRA or ADAPTIVE.
        exit_rule: MIN_F_RULE or MIN_EXCESS_RULE.
        walks_all: Whether the agent walks a whole path before it plans again.
        rows: log.ROW records to write, one per tick.

    Returns:
        The ticks done, fewer if the agent is no longer active.
    """
    st = state[0]
    for tick in range(rows.size):
        if st.status != log.ACTIVE:
            return tick
        used, phase = 0, log.FOLLOWING
        if has_obviously_no_path(ground, st):
            st.status = log.NO_PATH
        elif st.head + 1 >= st.length or not walks_all:
            used = plan_episode(ground, learned, space, st, n, backup, exit_rule)
            phase = log.LEARNING
        if st.status == log.ACTIVE:
            st.head += 1
            move_agent_to(st, space.path[st.head])
        else:
            phase = log.WAITING
        log.write_tick_row(rows[tick], st.loc, used, 0, st.marks, phase)
        st.marks = 0
    return rows.size


@kernel
def plan_episode(ground, learned, space, st, n, backup, exit_rule):
    """Run one planning episode: search, learn, choose a path. Returns the number of expansions."""
    used = expand_local_space(ground, learned, space, st, n)
    control = space.search.control[0]
    if control.status == OPEN_LIST_EMPTY:
        st.status = log.NO_PATH
        return used
    if backup == DIJKSTRA_BACKUP:
        back_up_h_as_lss_lrta(ground, learned, space, st)
    else:
        back_up_h_as_rtaa(ground, learned, space, st)
    if learned.h[st.loc] > st.limit:
        st.status = log.NO_PATH
        return used
    st.best = best_open_cell_in_space(ground, space)
    if exit_rule == MIN_EXCESS_RULE and control.status != GOAL_ON_TOP:
        st.best = least_excess_cell(ground, learned, space)
    trace_planned_path(ground, space, st)
    return used


@kernel
def best_open_cell_in_space(ground, space):
    """Return the best open cell, which is the one with the least f."""
    return space.search.heap[0].tie & ((np.int64(1) << ground.shift) - 1)


@kernel
def expand_local_space(ground, learned, space, st, n):
    """Run A* from the agent until the goal is on top, no cell is open, or n cells are expanded.

    A closed cell is opened again if a cheaper path to it is found. A consistent h rules that out, but an edit of the
    map may make h inconsistent. The list of expanded cells limits the expansions to the number of cells. Returns the
    number of expansions.
    """
    search, closed = space.search, space.closed
    nodes, heap, control = search.nodes, search.heap, search.control[0]
    step, cost, shift = ground.step, ground.cost, ground.shift
    mask = (np.int64(1) << shift) - 1
    start_search_without_roots(ground, search, st.goal, st.goal)
    control.root = st.loc
    learned_h_of(learned, st.loc)
    add_root(ground, search, st.loc, 0.0)
    number, size, goal = control.search, control.open_size, st.goal
    max_cells = min(n, closed.size)
    used, known = np.int64(0), control.known
    status = RUNNING
    while True:
        if size == 0:
            status = OPEN_LIST_EMPTY
            break
        s = heap[0].tie & mask
        if s == goal:
            status = GOAL_ON_TOP
            break
        if used >= max_cells:
            break
        size -= 1
        sift_down(heap, nodes, size, heap[size].key, heap[size].tie, mask)
        node = nodes[np.uint64(s)]  # unsigned, because numba tests every signed index for being negative
        node.place = CLOSED
        closed[used] = s
        used += 1
        count_expansion(search, s)
        successors = np.int64(SUCCESSORS[np.int64(node.came) << 8 | np.int64(ground.moves[s])])
        while successors:  # for each t in succ(s)
            d = np.uint64((successors & 15) - 1)
            successors >>= 4
            t = s + step[d]
            g = node.g + cost[d]
            child = nodes[np.uint64(t)]
            index = np.int64(child.place)
            if child.search != number:
                index = size
                size += 1
                known += 1
            elif child.g <= g:
                continue
            elif index == CLOSED:
                index = size
                size += 1
            child.g = g
            child.search = number
            child.came = d
            f = g + learned_h_of(learned, t)
            sift_up(heap, nodes, index, key_of_f(f), packed_tie(t, g, 0.0, True, shift), mask)
    control.open_size = size
    control.known = known
    control.status = status
    st.closed = used
    return used


# --- learning -------------------------------------------------------------------------------------------


@kernel
def back_up_h_as_rtaa(ground, learned, space, st):
    """Back up values as RTAA*: h[u] = max(h[u], f(b) - g(u)) for every closed u, where b is the best open cell.

    Writes: h.
    """
    nodes = space.search.nodes
    b = best_open_cell_in_space(ground, space)
    f = nodes[b].g + learned_h_of(learned, b)
    for i in range(st.closed):
        u = np.uint64(space.closed[i])
        if nodes[u].place == CLOSED:  # false for a cell that was expanded and then opened again
            raise_learned_h(learned, np.int64(u), f - nodes[u].g)
            st.updates += 1


@kernel
def back_up_h_as_lss_lrta(ground, learned, space, st):
    """Back up values as LSS-LRTA*: h[u] = min over the successors t of c(u,t) + h[t] for every closed u. Writes: h.

    Dijkstra's algorithm computes all values at once, from the open cells with their h into the closed ones. An open
    cell only offers c + h to its closed neighbours, so these offers are made first and only closed cells enter the
    queue.
    """
    search, labels, heap = space.search, space.labels, space.heap
    mask = (np.int64(1) << ground.shift) - 1
    size = queue_border_cells(ground, learned, space, st, mask)
    while size:
        u = heap[0].tie
        value = np.int64(heap[0].key).view(np.float64)
        size -= 1
        sift_down(heap, labels, size, heap[size].key, heap[size].tie, mask)
        labels[np.uint64(u)].place = FINAL_VALUE
        set_learned_h(learned, u, value)
        st.pops += 1
        st.updates += 1
        successors = np.int64(SUCCESSORS[NO_DIRECTION << 8 | np.int64(ground.moves[u])])
        while successors:
            d = np.uint64((successors & 15) - 1)
            successors >>= 4
            t = u + ground.step[d]
            if search.nodes[np.uint64(t)].place == CLOSED:  # valid record, because successors of closed cells are known
                size = queue_cell_value(space, size, t, value + ground.cost[d], mask)


@kernel
def queue_border_cells(ground, learned, space, st, mask):
    """Queue each closed cell that has open neighbours, with the least c + h of them. Returns the size of the queue."""
    search = space.search
    for i in range(st.closed):
        space.labels[np.uint64(space.closed[i])].place = NEVER_QUEUED
    size = np.int64(0)
    for i in range(st.closed):
        u = np.int64(space.closed[i])
        if search.nodes[np.uint64(u)].place != CLOSED:
            continue
        best = np.inf
        successors = np.int64(SUCCESSORS[NO_DIRECTION << 8 | np.int64(ground.moves[u])])
        while successors:
            d = np.uint64((successors & 15) - 1)
            successors >>= 4
            t = u + ground.step[d]
            if search.nodes[np.uint64(t)].place != CLOSED:
                best = min(best, ground.cost[d] + learned_h_of(learned, t))
        if best < np.inf:
            size = queue_cell_value(space, size, u, best, mask)
    return size


@kernel
def queue_cell_value(space, size, u, value, mask):
    """Queue the closed cell u with this value, or lower its value in the queue. Returns the size of the queue.

    Nothing changes if the value of u in the queue is at most the new one.
    """
    label = space.labels[np.uint64(u)]
    key = key_of_f(value)
    index = np.int64(label.place)
    if index == NEVER_QUEUED:
        sift_up(space.heap, space.labels, size, key, u, mask)
        return size + 1
    if index != FINAL_VALUE and space.heap[np.uint64(index)].key > key:
        sift_up(space.heap, space.labels, index, key, u, mask)
    return size


# --- where to go ----------------------------------------------------------------------------------------


@kernel
def least_excess_cell(ground, learned, space):
    """Return the exit of daRTAA*: the open cell with the least h - h0; ties: smaller f, larger g, smaller cell."""
    heap, mask = space.search.heap, (np.int64(1) << ground.shift) - 1
    best = np.int64(0)
    min_value = np.inf
    for i in range(space.search.control[0].open_size):
        value = learned_h_excess(learned, heap[i].tie & mask)
        is_first = heap[i].key < heap[best].key or (heap[i].key == heap[best].key and heap[i].tie < heap[best].tie)
        if value < min_value or (value == min_value and is_first):
            min_value = value
            best = i
    return heap[best].tie & mask


@kernel
def trace_planned_path(ground, space, st):
    """Plan the path along parents from the root to the chosen cell. Writes: path, st."""
    search, path = space.search, space.path
    length = 0
    s = np.int64(st.best)
    while s >= 0:
        length += 1
        s = parent_of(ground, search, s)
    s = np.int64(st.best)
    for i in range(length - 1, -1, -1):
        path[i] = s
        s = parent_of(ground, search, s)
    st.length = length
    st.head = 0
