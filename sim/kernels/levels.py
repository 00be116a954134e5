"""Search on the levels of an abstraction: A* between regions, the corridor on the map along a path of regions.

`levels` is a sim.abstraction.Levels. The cost of an arc between two regions is the heuristic distance between their
means, so the heuristic is consistent. The distance is octile, or straight-line if the diagonal cost is STRAIGHT.

A node is a region of one level; a node of level 0 is one cell. An expansion of a region is counted and displayed at its
representative cell. `notes` is the Search that records these expansions.
"""

from typing import NamedTuple

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels.labels import count_expansion
from sim.kernels.memory import lazily_allocated_zeros
from sim.kernels.octile import MapArrays, h0
from sim.kernels.openlist import UNITS_PER_COST, key_of_f, sift_down, sift_up
from sim.kernels.search import (
    CLOSED,
    GOAL_ON_TOP,
    OPEN_LIST_EMPTY,
    RUNNING,
    Search,
    add_root,
    best_open_cell,
    expand_best_cells,
    new_search,
    start_search_without_roots,
)

STRAIGHT_LINE_COST = -1.0
"""Value for a diagonal cost that makes arcs between regions as long as the straight line between their means."""

IS_INSIDE, IS_END = 1, 2  # marks of a corridor's cells: the cell is inside; it is inside and may end the search


class NodeSearch(NamedTuple):
    """Memory of an A* search among the nodes of one level. Make it only with new_node_search()."""

    search: Search  # search whose cells are nodes; `came` is not used
    parent: np.ndarray  # int32[nodes] node from which a node was reached, -1: the root
    # int32[nodes] mark of each node: a search restricted to a mark enters only children of nodes with this mark
    marked: np.ndarray
    way: np.ndarray  # int32[nodes] nodes of the last path found, its start first
    shift: int  # number of bits that hold the number of a node in an entry of the heap


class Corridor(NamedTuple):
    """Part of the map that can be searched like a map (it has its own Ground). Make it only with new_corridor()."""

    ground: MapArrays  # arrays of the map, in which only moves between cells of the corridor are legal
    marks: np.ndarray  # uint8[cells] IS_INSIDE or IS_END, 0 for cells outside the corridor
    cells: np.ndarray  # int32[cells] list of the cells inside the corridor
    stack: np.ndarray  # int32[nodes] scratch buffer of add_node_to_corridor()
    size: np.ndarray  # int64[1] number of cells inside the corridor


def new_node_search(nodes: int) -> NodeSearch:
    search = new_search(nodes)
    return NodeSearch(
        search,
        lazily_allocated_zeros(nodes, np.int32),
        lazily_allocated_zeros(nodes, np.int32),
        lazily_allocated_zeros(nodes, np.int32),
        max(1, nodes.bit_length()),
    )


def new_corridor(ground: MapArrays, nodes: int) -> Corridor:
    cells = ground.moves.size
    inside = ground._replace(moves=lazily_allocated_zeros(cells, np.uint8))
    return Corridor(
        inside,
        lazily_allocated_zeros(cells, np.uint8),
        lazily_allocated_zeros(cells, np.int32),
        lazily_allocated_zeros(nodes, np.int32),
        np.zeros(1, np.int64),
    )


# --- regions --------------------------------------------------------------------------------------------


@kernel
def node_on_level(levels, cell, level):
    """Return the node that contains a cell on this level, or on the cell's highest level if that is lower.

    Returns -1 for a cell without a node. A cell has no node if it was blocked when the levels were computed.
    """
    u = np.int64(levels.node_of[cell])
    for _ in range(level):
        if u < 0 or levels.parent[u] < 0:
            break
        u = np.int64(levels.parent[u])
    return u


@kernel
def lowest_common_level(levels, a, b):
    """Return the lowest level on which two cells are in the same node, or -1 if no path connects them."""
    u, v = np.int64(levels.node_of[a]), np.int64(levels.node_of[b])
    level = 0
    while u != v:
        if u < 0 or v < 0:
            return -1
        u, v = np.int64(levels.parent[u]), np.int64(levels.parent[v])
        level += 1
        if u < 0 and v < 0:
            return -1
    return level


@kernel
def node_distance(levels, u, v, diagonal):
    """Return the cost of an arc between two nodes, also the estimated cost of a path between any two nodes."""
    if diagonal < 0.0:
        dx, dy = levels.x[u] - levels.x[v], levels.y[u] - levels.y[v]
        return np.sqrt(dx * dx + dy * dy)
    return h0(levels.x[u], levels.y[u], levels.x[v], levels.y[v], diagonal)


# --- A* among the nodes of a level ----------------------------------------------------------------------


@kernel
def begin_node_search(nodes, start):
    """Start a new search at node `start`. All nodes of the last search become unknown."""
    search = nodes.search
    control = search.control[0]
    if control.search == 65_535:  # the largest number of a search, because node.search has 16 bits
        for u in range(search.nodes.size):
            search.nodes[u].search = 0
        control.search = 0
    control.search += 1
    control.open_size = 0
    control.most_known = max(control.most_known, control.known)
    control.known = 0
    control.status = RUNNING
    insert_open_node(nodes, start, -1, 0.0, 0.0, 0.0)


@kernel
def insert_open_node(nodes, u, before, g, f, h):
    """Put a node on the open list, or move it up if it is open already.

    Ties on f: larger g, which means smaller h, then smaller node.
    """
    control, node = nodes.search.control[0], nodes.search.nodes[u]
    index = np.int64(node.place)
    if node.search != control.search:
        node.search = control.search
        index = control.open_size
        control.open_size += 1
        control.known += 1
    node.g = g
    nodes.parent[u] = before
    tie = np.int64(h * UNITS_PER_COST) << nodes.shift | np.int64(u)
    sift_up(nodes.search.heap, nodes.search.nodes, index, key_of_f(f), tie, (np.int64(1) << nodes.shift) - 1)


@kernel
def pop_best_node(nodes):
    """Remove the best node from the open list, close it, and return it."""
    search, control = nodes.search, nodes.search.control[0]
    mask = (np.int64(1) << nodes.shift) - 1
    u = search.heap[0].tie & mask
    control.open_size -= 1
    size = control.open_size
    sift_down(search.heap, search.nodes, size, search.heap[size].key, search.heap[size].tie, mask)
    search.nodes[u].place = CLOSED
    return u


@kernel
def expand_nodes(levels, nodes, end, end_parent, mark, diagonal, budget, notes):
    """Expand up to `budget` nodes toward `end`, or, if `end_parent` is not -1, toward any child of `end_parent`.

    Only children of nodes with the mark `mark` are entered, or all nodes if it is 0. Returns the expansions. Then
    control.status says why the search stopped, and control.goal is the end reached, if any. Writes: nodes, notes.
    """
    search, control = nodes.search, nodes.search.control[0]
    aim = end if end_parent < 0 else end_parent
    used = np.int64(0)
    while True:
        if control.open_size == 0:
            control.status = OPEN_LIST_EMPTY
            return used
        top = search.heap[0].tie & ((np.int64(1) << nodes.shift) - 1)
        if top == end or (end_parent >= 0 and levels.parent[top] == end_parent):
            control.status = GOAL_ON_TOP
            control.goal = top
            return used
        if used >= budget:
            return used
        u = pop_best_node(nodes)
        used += 1
        count_expansion(notes, levels.rep[u])
        for i in range(levels.edge_first[u], levels.edge_first[u + 1]):
            v = np.int64(levels.edge[i])
            if mark and nodes.marked[levels.parent[v]] != mark:
                continue
            g = search.nodes[u].g + node_distance(levels, u, v, diagonal)
            child = search.nodes[v]
            if child.search == control.search and (child.place == CLOSED or child.g <= g):
                continue
            h = node_distance(levels, v, aim, diagonal)
            insert_open_node(nodes, v, u, g, g + h, h)


@kernel
def trace_node_path(nodes, end):
    """Write the path from the root to node `end` into nodes.way. Returns the number of its nodes."""
    length = 0
    u = np.int64(end)
    while u >= 0:
        nodes.way[length] = u
        length += 1
        u = np.int64(nodes.parent[u])
    for i in range(length // 2):
        k = length - 1 - i
        nodes.way[i], nodes.way[k] = nodes.way[k], nodes.way[i]
    return length


@kernel
def mark_node_path(levels, nodes, length, mark, is_wide):
    """Mark the first `length` nodes of the path with the number `mark`, and their neighbours too if `is_wide`."""
    for i in range(length):
        u = nodes.way[i]
        nodes.marked[u] = mark
        if is_wide:
            for k in range(levels.edge_first[u], levels.edge_first[u + 1]):
                nodes.marked[levels.edge[k]] = mark


# --- the corridor on the map ----------------------------------------------------------------------------


@kernel
def clear_corridor(corridor):
    """Remove all cells from the corridor."""
    for i in range(corridor.size[0]):
        cell = corridor.cells[i]
        corridor.marks[cell] = 0
        corridor.ground.moves[cell] = 0
    corridor.size[0] = 0


@kernel
def add_node_to_corridor(levels, corridor, node, mark):
    """Add all map cells of a node to the corridor, with the mark IS_INSIDE or IS_END."""
    stack = corridor.stack
    stack[0] = node
    size = 1
    while size:
        size -= 1
        u = np.int64(stack[size])
        if levels.child_first[u] == levels.child_first[u + 1]:  # no children: u is a node of level 0, which is one cell
            cell = np.int64(levels.rep[u])
            if corridor.marks[cell] == 0:
                corridor.cells[corridor.size[0]] = cell
                corridor.size[0] += 1
            corridor.marks[cell] = mark
        for i in range(levels.child_first[u], levels.child_first[u + 1]):
            stack[size] = levels.child[i]
            size += 1


@kernel
def allow_corridor_moves(ground, corridor):
    """Copy the legal moves between cells of the corridor from the map, so that the corridor can be searched."""
    for i in range(corridor.size[0]):
        cell = np.int64(corridor.cells[i])
        moves = np.int64(ground.moves[cell])
        allowed = 0
        for d in range(8):
            if moves >> d & 1 and corridor.marks[cell + ground.step[d]]:
                allowed |= 1 << d
        corridor.ground.moves[cell] = allowed


@kernel
def begin_search_in_same_tick(ground, search, start, goal, aim):
    """Begin a search as search.begin() does, but keep the list and the count of expansions made earlier in the tick."""
    noted, expansions = search.control[0].noted, search.control[0].expansions
    start_search_without_roots(ground, search, goal, aim)
    search.control[0].noted, search.control[0].expansions = noted, expansions
    search.control[0].root = start
    add_root(ground, search, start, 0.0)


@kernel
def expand_to_marked_end(corridor, search, budget):
    """Expand up to `budget` cells until a cell marked IS_END is on top of the open list; store it in control.goal.

    Returns the number of expansions.
    """
    used = np.int64(0)
    while True:
        top = best_open_cell(corridor.ground, search)
        if top < 0:
            search.control[0].status = OPEN_LIST_EMPTY
            return used
        if corridor.marks[top] == IS_END:
            search.control[0].goal = top
            search.control[0].status = GOAL_ON_TOP
            return used
        if used >= budget:
            return used
        used += expand_best_cells(corridor.ground, search, 1)
