"""P LRTA*: LRTA* of depth 1 that propagates each change of h to the neighbours, the largest changes first.

Paper: prioritized LRTA* (Rayner et al. 2007), as described in "TBA*: Time-Bounded A*".

The queue is a sorted list, smallest priority first, and among equal priorities the larger cell first. A list is enough
because the queue is short: the next cell is taken from its end, and a full queue drops the cell at its beginning.
"""

from typing import NamedTuple

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels import log
from sim.kernels.labels import count_expansion
from sim.kernels.learned import learned_h_of, set_learned_h
from sim.kernels.learner import has_obviously_no_path, move_agent_to
from sim.kernels.lrta import best_successor
from sim.kernels.memory import lazily_allocated_zeros
from sim.kernels.octile import NO_DIRECTION, SUCCESSORS
from sim.kernels.search import CLOSED, start_search_without_roots


class UpdateQueue(NamedTuple):
    """Queue of cells whose h is to be updated, made by new_update_queue().

    Its number of cells is in the agent's state.
    """

    cells: np.ndarray  # int32[room] cells waiting for an update, the most urgent last
    cell_priorities: np.ndarray  # float64[map cells] priority of each cell in the queue, 0 for all others
    updated_cells: np.ndarray  # int32[updates + 1] cells updated in this tick, the agent's own first


def new_update_queue(room: int, max_updates: int, cells: int) -> UpdateQueue:
    return UpdateQueue(
        np.zeros(room, np.int32), lazily_allocated_zeros(cells, np.float64), np.zeros(max_updates + 1, np.int32)
    )


@kernel
def run_ticks(ground, learned, queue, notebook, state, updates, rows):
    """Plan and act for up to len(rows) ticks, with up to `updates` updates of queued cells before each move.

    Returns the number of ticks done.
    """
    st = state[0]
    for tick in range(rows.size):
        if st.status != log.ACTIVE:
            return tick
        used, phase = 0, log.WAITING
        if has_obviously_no_path(ground, st):
            st.status = log.NO_PATH
        else:
            used = update_urgent_cells(ground, learned, queue, notebook, st, updates)
            if learned.h[st.loc] > st.limit:
                st.status = log.NO_PATH
            else:
                t, _ = best_successor(ground, learned, st.loc, 0.0)
                st.best = t
                move_agent_to(st, t)
                phase = log.LEARNING
        log.write_tick_row(rows[tick], st.loc, used, 0, st.marks, phase)
        st.marks = 0
    return rows.size


@kernel
def update_urgent_cells(ground, learned, queue, notebook, st, updates):
    """Update the agent's cell, then the most urgent cells of the queue. Returns the number of updates."""
    is_watched = notebook.order.size > 0
    if is_watched:
        start_search_without_roots(ground, notebook, st.goal, st.goal)
        notebook.control[0].root = st.loc
    s = np.int64(st.loc)
    used = 0
    while True:
        update_h(ground, learned, queue, st, s)
        queue.updated_cells[used] = s
        used += 1
        if is_watched:
            record_update(notebook, s)
        if used > updates or st.queued == 0:
            break
        st.queued -= 1
        s = np.int64(queue.cells[st.queued])
        queue.cell_priorities[s] = 0.0
    st.closed = used
    st.updates += used
    return used


@kernel
def record_update(notebook, s):
    """Record in `notebook`, a Search that is displayed, that cell s was updated in this tick."""
    count_expansion(notebook, s)
    node = notebook.nodes[s]
    node.search = notebook.control[0].search
    node.place = CLOSED
    node.came = NO_DIRECTION
    node.g = 0.0


@kernel
def update_h(ground, learned, queue, st, u):
    """Raise h[u] to the least c + h of its successors, and queue the successors if h[u] changed."""
    m = least_successor_cost_plus_h(ground, learned, u)
    delta = m - learned_h_of(learned, u)
    if u == st.goal or delta <= 0.0 or m == np.inf:
        return
    set_learned_h(learned, u, m)
    successors = np.int64(SUCCESSORS[NO_DIRECTION << 8 | np.int64(ground.moves[u])])
    while successors:
        t = np.int64(u) + ground.step[(successors & 15) - 1]
        successors >>= 4
        if t != st.goal:
            enqueue_cell_for_update(queue, st, t, delta)


@kernel
def least_successor_cost_plus_h(ground, learned, u):
    """Return the least c(u,t) + h[t] over the successors of u, infinity if there is none."""
    best = np.inf
    successors = np.int64(SUCCESSORS[NO_DIRECTION << 8 | np.int64(ground.moves[u])])
    while successors:
        d = (successors & 15) - 1
        successors >>= 4
        best = min(best, ground.cost[d] + learned_h_of(learned, np.int64(u) + ground.step[d]))
    return best


@kernel
def enqueue_cell_for_update(queue, st, t, priority):
    """Put cell t into the queue, or raise its priority if it is in the queue already.

    If the queue is full, t replaces the cell with the lowest priority, unless the priority of t is not higher.
    """
    cells, urgency = queue.cells, queue.cell_priorities
    hole = st.queued  # index in the queue whose entry may be overwritten
    if urgency[t] > 0.0:
        if urgency[t] >= priority:
            return
        hole = queue_index(queue, st.queued, t, urgency[t])
    elif st.queued < cells.size:
        st.queued += 1
    elif cells.size == 0 or urgency[cells[0]] >= priority:
        return
    else:
        hole = 0
        urgency[cells[0]] = 0.0
    while hole > 0 and is_less_urgent(queue, t, priority, cells[hole - 1]):
        cells[hole] = cells[hole - 1]
        hole -= 1
    while hole + 1 < st.queued and not is_less_urgent(queue, t, priority, cells[hole + 1]):
        cells[hole] = cells[hole + 1]
        hole += 1
    cells[hole] = t
    urgency[t] = priority


@kernel
def is_less_urgent(queue, t, priority, other):
    """Return whether cell t with this priority belongs before the cell `other` in the queue: it is less urgent."""
    theirs = queue.cell_priorities[other]
    return priority < theirs or (priority == theirs and t > other)


@kernel
def queue_index(queue, queued, t, priority):
    """Return the index of cell t in the queue, by binary search for its priority."""
    low, high = 0, queued
    while low < high:
        middle = (low + high) >> 1
        if queue.cells[middle] != t and not is_less_urgent(queue, t, priority, queue.cells[middle]):
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def remove_blocked_cells(ground, queue, state):
    """Remove the cells without a legal move from the queue."""
    st = state[0]
    size = 0
    for i in range(st.queued):
        s = queue.cells[i]
        if ground.moves[s]:
            queue.cells[size] = s
            size += 1
        else:
            queue.cell_priorities[s] = 0.0
    st.queued = size


@kernel
def clear_update_queue(queue, state):
    """Remove all cells from the queue."""
    for i in range(state[0].queued):
        queue.cell_priorities[queue.cells[i]] = 0.0
    state[0].queued = 0
