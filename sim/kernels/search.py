"""Resumable best-first search from one root: f = wg * g + wh * h, closed cells stay closed by default.

The search can be stopped after any number of expansions, its best open cell read, and the search resumed. A* is (wg,
wh) = (1, 1), weighted A* (1, w), greedy best-first search (0, 1).

A new search costs O(1): a node record is valid only if it has the number of the current search.
"""

from typing import NamedTuple

import numpy as np

from sim.jit.decorators import inlined_kernel, kernel
from sim.kernels import buckets
from sim.kernels.buckets import Buckets, new_buckets
from sim.kernels.memory import lazily_allocated_zeros, scratch_array
from sim.kernels.octile import DX, DY, FIRST_DIAGONAL, NO_DIRECTION, SUCCESSORS, h0, inverse_width, row_of_cell
from sim.kernels.openlist import HEAP_OFFSET, OPEN_LIST_ENTRY, key_of_f, packed_tie, sift_down, sift_up
from sim.kernels.stale import StampedTable
from sim.kernels.tiled import Table, new_table

# Status of a search: it can be resumed; it has the goal on top of its open list; it has no open cell left.
RUNNING, GOAL_ON_TOP, OPEN_LIST_EMPTY = 0, 1, 2

CLOSED = -1  # `place` of a cell that was expanded and not opened again
_LAST_SEARCH = 65_535  # largest number of a search, as node.search has 16 bits; after it, all records are cleared

NODE = np.dtype(
    [
        ("g", "f8"),  # cost of the cheapest path found from the root
        ("place", "i4"),  # index in the heap (with buckets: IN_BUCKET or ON_STACK, see buckets.py), or CLOSED
        ("search", "u2"),  # number of the search that wrote this record; 0 is no search
        ("came", "u1"),  # direction by which the parent moved here, NO_DIRECTION at the root
        ("is_linked", "?"),  # whether the cell has its link, set by agents that link their trees (ancestry.py)
    ],
    align=True,
)

CONTROL = np.dtype(
    [
        ("search", "i8"),  # number of the current search
        ("root", "i8"),
        ("goal", "i8"),  # cell that ends the search when it is on top of the open list
        # coordinates of the cell to which h estimates the distance: the goal, except in searches for true distances
        ("aim_x", "i8"),
        ("aim_y", "i8"),
        ("open_size", "i8"),  # cells on the open list
        ("cursor", "i8"),  # number of the first bucket that may contain an entry
        ("class_f", "f8"),  # f of the cells on the stack of the buckets
        ("stack_size", "i8"),
        ("free_chunk", "i8"),  # index of the first chunk in the list of freed chunks, 0: none
        ("fresh_chunk", "i8"),  # index of the first chunk that this search has never used
        ("spare_chunks", "i8"),  # number of chunks that can be taken, freed or never used
        ("status", "i8"),  # RUNNING, GOAL_ON_TOP or EMPTY
        ("wg", "f8"),  # weight of g in f
        ("wh", "f8"),  # weight of h in f
        ("reopens", "i8"),  # whether a closed cell is opened again when a cheaper path to it is found
        ("is_bucketed", "i8"),  # whether the open list is in buckets instead of the heap
        # whether the map has changed since the search began, so that its costs and parents may be wrong
        ("is_stale", "i8"),
        ("expansions", "i8"),  # number of expansions of this search
        ("known", "i8"),  # number of cells that are open or closed in this search
        ("most_known", "i8"),  # largest number of open and closed cells in any earlier search
        ("noted", "i8"),  # number of entries used in `order`, the list of expanded cells
    ],
    align=True,
)


class Search(NamedTuple):
    """Memory of one search. Make it only with new_search(), so that dtypes never vary."""

    nodes: Table  # NODE[cells] record of each cell
    heap: np.ndarray  # ENTRY[cells + 1] the open list; one unused entry if the open list is in buckets
    buckets: Buckets  # the open list in buckets, which replaces the heap; empty arrays if the heap is used
    heat: np.ndarray  # uint32[cells] number of expansions of each cell; empty if the agent is not displayed
    order: np.ndarray  # int32[cells] cells in the order of their expansion; empty if the agent is not displayed
    control: np.ndarray  # CONTROL[1] variables of the search, such as its goal and the size of its open list


def new_search(
    cells: int,
    wg: float = 1.0,
    wh: float = 1.0,
    reopens: bool = False,
    is_bucketed: bool = False,
    counts_heat: bool = False,
    notes_order: bool = False,
    is_reused: bool = False,
    tile_width: int = 0,
) -> Search:
    """Return the memory of a search that has not begun.

    Pages that the search never touches cost nothing.

    Args:
        cells: Number of cells of the map.
        wg: Weight of g in f.
        wh: Weight of h in f.
        reopens: Whether a closed cell is opened again when a cheaper path to it is found.
        is_bucketed: Whether the open list is made of buckets instead of a heap; only for A*.
        counts_heat: Whether expansions are counted for each cell.
        notes_order: Whether expanded cells are listed in their order.
        is_reused: Whether the memory may come from an earlier search of this process, see memory.py.
        tile_width: Width of the map for node records in tiles, 0 for rows, see tiled.py.
    """
    control = np.zeros(1, CONTROL).view(np.recarray)
    control[0].wg, control[0].wh = wg, wh
    control[0].reopens, control[0].is_bucketed = reopens, is_bucketed
    return Search(
        nodes=new_table("nodes", cells, NODE, tile_width, is_reused, control["search"]),
        heap=scratch_array("heap", HEAP_OFFSET + (1 if is_bucketed else cells + 1), OPEN_LIST_ENTRY, is_reused)[
            HEAP_OFFSET:
        ].view(np.recarray),
        buckets=new_buckets(cells if is_bucketed else 0, is_reused),
        heat=lazily_allocated_zeros(cells if counts_heat else 0, np.uint32),
        order=lazily_allocated_zeros(cells if notes_order else 0, np.int32),
        control=control,
    )


def stamped_table_of_nodes(search: Search) -> StampedTable:
    """Return the table of node records together with the test for valid records, for clearing stale ones (stale.py)."""
    return StampedTable(search.nodes, search.nodes, 32, _LAST_SEARCH, int(search.control["search"][0]))


@kernel
def begin_search(ground, search, root, goal, aim):
    """Start a new search at `root`. `aim` is the cell to which h estimates the distance, usually the goal."""
    start_search_without_roots(ground, search, goal, aim)
    search.control[0].root = root
    add_root(ground, search, root, 0.0)


@kernel
def start_search_without_roots(ground, search, goal, aim):
    """Start a new search with an empty open list and no known cell. The caller then adds its roots one by one.

    `goal` is the cell that ends the search when it is on top of the open list, `aim` the cell to which h estimates the
    distance.
    """
    control = search.control[0]
    if control.search == _LAST_SEARCH:
        for s in range(search.nodes.size):
            search.nodes[s].search = 0
        control.search = 0
    control.search += 1
    control.root = -1
    control.goal = goal
    control.aim_x = aim % ground.width
    control.aim_y = aim // ground.width
    control.open_size = 0
    control.status = RUNNING
    control.is_stale = 0
    control.expansions = 0
    control.most_known = max(control.most_known, control.known)
    control.known = 0
    control.noted = 0
    if control.is_bucketed:
        buckets.clear_buckets(search.buckets, control)


def max_known_cells(search: Search) -> int:
    """Return the largest number of open and closed cells that any search in this memory had."""
    control = search.control[0]
    return max(int(control.most_known), int(control.known))


@kernel
def is_known(search, s):
    """Return whether the current search has generated cell s."""
    return search.nodes[s].search == search.control[0].search


@kernel
def is_closed(search, s):
    """Return whether the current search has expanded cell s (and not opened it again)."""
    return is_known(search, s) and search.nodes[s].place == CLOSED


@kernel
def parent_of(ground, search, s):
    """Return the parent of a known cell, or -1 at a root."""
    came = search.nodes[s].came
    if came == NO_DIRECTION:
        return np.int64(-1)
    return np.int64(s) - ground.step[came]


@kernel
def h_to_aim(ground, control, s):
    """Return the estimated distance from cell s to the cell that the search aims at."""
    width = ground.width
    return h0(s % width, s // width, control.aim_x, control.aim_y, ground.cost[FIRST_DIAGONAL])


@kernel
def add_root(ground, search, s, g):
    """Put cell s on the open list as a root of cost g."""
    control = search.control[0]
    node = search.nodes[s]
    control.known += node.search != control.search
    node.g = g
    node.search = control.search
    node.came = NO_DIRECTION
    node.is_linked = False
    h = h_to_aim(ground, control, s)
    f = control.wg * g + control.wh * h
    tie = packed_tie(s, g, h, control.wg == 0.0, ground.shift)
    if control.is_bucketed:
        # The root may need a new chunk, and so may every entry that moves from the stack back into its bucket.
        buckets.ensure_free_chunks(search.buckets, control, search.nodes, ground.shift, control.stack_size + 1)
        buckets.return_stack_before_smaller_f(search.buckets, control, search.nodes, ground.shift, f)
        node.place = buckets.IN_BUCKET
        buckets.insert_bucket_entry(search.buckets, control, buckets.bucket_number(f), tie)
    else:
        sift_up(search.heap, search.nodes, control.open_size, key_of_f(f), tie, (1 << ground.shift) - 1)
    control.open_size += 1


@kernel
def best_open_cell(ground, search):
    """Return the cell that would be expanded next, or -1 if no cell is open. The goal wins every tie on f."""
    control = search.control[0]
    if control.open_size == 0:
        return np.int64(-1)
    mask = (np.int64(1) << ground.shift) - 1
    if not control.is_bucketed:
        return np.int64(search.heap[0].tie & mask)
    if control.stack_size == 0:
        buckets.fill_stack_with_least_f(search.buckets, control, search.nodes, ground.shift)
    return search.buckets.stack[control.stack_size - 1] & mask


@kernel
def record_expansion(search, control, s):
    """Record an expansion of cell s for display: count it in heat, list it in order. Writes: heat, order, control."""
    if search.heat.size:
        search.heat[s] += 1
    if control.noted < search.order.size:
        search.order[control.noted] = s
        control.noted += 1


@inlined_kernel
def expand_best_cells(ground, search, budget):
    """Expand up to `budget` cells, best first. Returns the number of expansions; control.status says why it stopped."""
    if search.control[0].is_bucketed:
        used = _expand_from_buckets(ground, search, budget)
    else:
        used = _expand_from_heap(ground, search, budget)
    search.control[0].expansions += used
    return used


@kernel
def _expand_from_heap(ground, search, budget):
    """Expand up to `budget` cells with the heap as open list. Returns the number of expansions."""
    control = search.control[0]
    nodes, heap, moves, step, cost = search.nodes, search.heap, ground.moves, ground.step, ground.cost
    width, shift, diagonal = ground.width, ground.shift, ground.cost[FIRST_DIAGONAL]
    inverse = inverse_width(width)
    mask = (np.int64(1) << shift) - 1
    number, size, goal = control.search, control.open_size, control.goal
    aim_x, aim_y, wg, wh = control.aim_x, control.aim_y, control.wg, control.wh
    reopens, is_greedy, is_stale = control.reopens != 0, control.wg == 0.0, control.is_stale != 0
    used, known = np.int64(0), control.known
    status, is_watched = RUNNING, search.heat.size + search.order.size > 0
    while True:
        if size == 0:
            status = OPEN_LIST_EMPTY
            break
        s = heap[0].tie & mask
        if s == goal:
            status = GOAL_ON_TOP
            break
        if used >= budget:
            break
        size -= 1
        sift_down(heap, nodes, size, heap[size].key, heap[size].tie, mask)
        node = nodes[np.uint64(s)]  # unsigned, because numba tests every signed index for being negative
        node.place = CLOSED
        used += 1
        if is_watched:
            record_expansion(search, control, s)
        y = row_of_cell(s, inverse)
        x = s - y * width
        came = NO_DIRECTION if is_stale else np.int64(node.came)
        successors = np.int64(SUCCESSORS[came << 8 | np.int64(moves[s])])
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
                child.is_linked = False
            elif is_greedy or child.g <= g or (index == CLOSED and not reopens):
                continue
            elif index == CLOSED:
                index = size
                size += 1
            child.g = g
            child.search = number
            child.came = d
            h = h0(x + DX[d], y + DY[d], aim_x, aim_y, diagonal)
            f = wg * g + wh * h
            sift_up(heap, nodes, index, key_of_f(f), packed_tie(t, g, h, is_greedy, shift), mask)
    control.open_size = size
    control.known = known
    control.status = status
    return used


@kernel
def _expand_from_buckets(ground, search, budget):
    """Expand up to `budget` cells with the bucketed open list, for A* only: wg = wh = 1, closed cells stay closed."""
    control = search.control[0]
    nodes, moves, step, cost = search.nodes, ground.moves, ground.step, ground.cost
    lists, stack = search.buckets, search.buckets.stack
    width, shift, diagonal = ground.width, ground.shift, ground.cost[FIRST_DIAGONAL]
    inverse = inverse_width(width)
    mask = (np.int64(1) << shift) - 1
    number, size, goal = control.search, control.open_size, control.goal
    aim_x, aim_y, is_stale = control.aim_x, control.aim_y, control.is_stale != 0
    top, class_f = control.stack_size, control.class_f
    used, known, pause = np.int64(0), control.known, np.int64(0)
    status, is_watched = RUNNING, search.heat.size + search.order.size > 0
    while True:
        if size == 0:
            status = OPEN_LIST_EMPTY
            break
        if top == 0:
            control.stack_size = 0
            buckets.fill_stack_with_least_f(lists, control, nodes, shift)
            top, class_f = control.stack_size, control.class_f
        s = stack[np.uint64(top - 1)] & mask
        if s == goal:
            status = GOAL_ON_TOP
            break
        if used >= pause:
            if used >= budget:
                break
            pause = min(budget, used + buckets.guaranteed_expansions(lists, control, nodes, shift))
        top -= 1
        size -= 1
        node = nodes[np.uint64(s)]  # unsigned, because numba tests every signed index for being negative
        node.place = CLOSED
        used += 1
        if is_watched:
            record_expansion(search, control, s)
        y = row_of_cell(s, inverse)
        x = s - y * width
        came = NO_DIRECTION if is_stale else np.int64(node.came)
        successors = np.int64(SUCCESSORS[came << 8 | np.int64(moves[s])])
        while successors:  # for each t in succ(s)
            d = np.uint64((successors & 15) - 1)
            successors >>= 4
            t = s + step[d]
            g = node.g + cost[d]
            child = nodes[np.uint64(t)]
            if child.search != number:
                size += 1
                known += 1
                child.is_linked = False
            elif child.g <= g or child.place == CLOSED:
                continue
            child.g = g
            child.search = number
            child.came = d
            h = h0(x + DX[d], y + DY[d], aim_x, aim_y, diagonal)
            f = g + h
            tie = packed_tie(t, g, h, False, shift)
            if f == class_f:
                child.place = buckets.ON_STACK
                buckets.push_on_stack(stack, top, tie)
                top += 1
            else:
                child.place = buckets.IN_BUCKET
                buckets.insert_bucket_entry(lists, control, buckets.bucket_number(f), tie)
    control.open_size = size
    control.stack_size = top
    control.known = known
    control.status = status
    return used
