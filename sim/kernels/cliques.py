"""Clique abstraction: cells grouped into regions, regions into larger ones, level by level.

Three or four nodes that are all neighbours of each other become one node of the next level, their parent. The remaining
nodes are joined in pairs or to the group of a neighbour. Two parents are neighbours if some of their members are.

Papers: section 5.2 of "Dynamic Control in Real-Time Heuristic Search", after Sturtevant and Buro 2005. The order is the
one of the authors' public code; see docs/deviations.md. A graph is two arrays: the neighbours of node u, ascending, are
edge[first[u]:first[u + 1]].
"""

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels.octile import DX, DY

DIRECTIONS_BY_CELL = np.array(sorted(range(8), key=lambda d: (DY[d], DX[d])), np.int64)
"""Directions in the order of the cells that they lead to."""


@kernel
def number_free_cells(free, node_of, cell_of):
    """Number the free cells in ascending order as the nodes of level 0.

    Returns the number of nodes. Writes: node_of (the node of each cell, -1: none), cell_of (the cell of each node).
    """
    count = 0
    for cell in range(free.size):
        node_of[cell] = -1
        if free[cell]:
            node_of[cell] = count
            cell_of[count] = cell
            count += 1
    return count


@kernel
def build_cell_graph(ground, node_of, cell_of, count, first, edge):
    """Build the graph of level 0: nodes are cells, arcs are legal moves. Returns the number of arcs.

    Writes: first, edge.
    """
    arcs = 0
    for u in range(count):
        first[u] = arcs
        cell = np.int64(cell_of[u])
        moves = np.int64(ground.moves[cell])
        for i in range(8):
            d = DIRECTIONS_BY_CELL[i]
            if moves >> d & 1:
                edge[arcs] = node_of[cell + ground.step[d]]
                arcs += 1
    first[count] = arcs
    return arcs


@kernel
def group_nodes_into_cliques(first, edge, count, parent, aside, found):
    """Group the nodes of a level by assigning each a parent on the next level. Returns the number of parents.

    Writes: parent; `aside` and `found` are scratch buffers.
    """
    for u in range(count):
        parent[u] = -1
    parents, waiting = 0, 0
    for u in range(count):
        if parent[u] >= 0:
            continue
        degree = first[u + 1] - first[u]
        if degree == 0:
            parent[u] = parents
            parents += 1
        elif degree > 1 and find_clique_of_node(first, edge, parent, u, found):
            parent[u] = parents
            for i in range(3):
                if found[i] >= 0:
                    parent[found[i]] = parents
            parents += 1
        else:
            aside[waiting] = u
            waiting += 1
    while waiting:
        waiting -= 1
        u = aside[waiting]
        if parent[u] < 0:
            parents = assign_leftover_node(first, edge, parent, u, parents)
    return parents


@kernel
def find_clique_of_node(first, edge, parent, u, found):
    """Return whether two or three nodes without a parent are neighbours of u and of each other.

    The first three in ascending order, else the first two, are written to found[:3], with -1 in place of a third.
    """
    count = 0
    for i in range(first[u], first[u + 1]):
        if parent[edge[i]] < 0:
            found[3 + count] = edge[i]
            count += 1
    pair_x, pair_y = -1, -1
    for a in range(3, 3 + count - 1):
        for b in range(a + 1, 3 + count):
            if not are_neighbour_nodes(first, edge, found[a], found[b]):
                continue
            if pair_x < 0:
                pair_x, pair_y = found[a], found[b]
            for c in range(b + 1, 3 + count):
                if are_neighbour_nodes(first, edge, found[a], found[c]) and are_neighbour_nodes(
                    first, edge, found[b], found[c]
                ):
                    found[0], found[1], found[2] = found[a], found[b], found[c]
                    return True
    found[0], found[1], found[2] = pair_x, pair_y, -1
    return pair_x >= 0


@kernel
def are_neighbour_nodes(first, edge, u, v):
    """Return whether v is among the neighbours of u, which are in ascending order."""
    for i in range(first[u], first[u + 1]):
        if edge[i] >= v:
            return edge[i] == v
    return False


@kernel
def assign_leftover_node(first, edge, parent, u, parents):
    """Assign a parent to a node that is in no clique. Returns the number of parents.

    The node is paired with a neighbour that has no parent yet. Without such a neighbour, a dead end joins the group of
    its only neighbour, and any other node becomes a group of its own.
    """
    for i in range(first[u], first[u + 1]):
        if parent[edge[i]] < 0:
            parent[u] = parents
            parent[edge[i]] = parents
            return parents + 1
    if first[u + 1] - first[u] == 1:
        parent[u] = parent[edge[first[u]]]
        return parents
    parent[u] = parents
    return parents + 1


@kernel
def list_children(parent, count, parents, child_first, child):
    """List the children of every parent in ascending order; parent p has child[child_first[p]:child_first[p + 1]]."""
    for p in range(parents + 1):
        child_first[p] = 0
    for u in range(count):
        child_first[parent[u] + 1] += 1
    for p in range(parents):
        child_first[p + 1] += child_first[p]
    for u in range(count - 1, -1, -1):  # in descending order, because each list of children is filled from its end
        p = parent[u]
        child_first[p + 1] -= 1
        child[child_first[p + 1]] = u
    for p in range(parents):
        child_first[p] = child_first[p + 1]
    child_first[parents] = count


@kernel
def build_parent_graph(first, edge, parent, parents, child_first, child, seen, new_first, new_edge):
    """Build the graph of the next level: two parents are neighbours if any of their children are neighbours.

    Returns the number of arcs. Writes: new_first, new_edge; `seen` is a scratch buffer.
    """
    for p in range(parents):
        seen[p] = -1
    arcs = 0
    for p in range(parents):
        new_first[p] = arcs
        for i in range(child_first[p], child_first[p + 1]):
            u = child[i]
            for k in range(first[u], first[u + 1]):
                q = parent[edge[k]]
                if q != p and seen[q] != p:
                    seen[q] = p
                    insert_into_sorted_arcs(new_edge, new_first[p], arcs, q)
                    arcs += 1
    new_first[parents] = arcs
    return arcs


@kernel
def insert_into_sorted_arcs(edge, begin, end, q):
    """Insert q into the ascending list edge[begin:end]."""
    i = end
    while i > begin and edge[i - 1] > q:
        edge[i] = edge[i - 1]
        i -= 1
    edge[i] = q


@kernel
def sum_cell_coordinates(parent, count, parents, x, y, size, new_x, new_y, new_size):
    """Sum the coordinates of all map cells of each parent node, and count the cells. Writes: new_x, new_y, new_size."""
    for p in range(parents):
        new_x[p] = new_y[p] = new_size[p] = 0
    for u in range(count):
        p = parent[u]
        new_x[p] += x[u]
        new_y[p] += y[u]
        new_size[p] += size[u]


@kernel
def colour_regions(first, edge, begin, end, colour):
    """Colour the nodes from begin to end - 1 for display, so that neighbours differ. Writes: colour.

    Each node gets the least colour that no neighbour with a smaller number has.
    """
    for u in range(begin, end):
        used_colours = np.int64(0)
        for i in range(first[u], first[u + 1]):
            if edge[i] < u:
                used_colours |= np.int64(1) << min(62, np.int64(colour[edge[i] - begin]))
        chosen = 0
        while used_colours >> chosen & 1:
            chosen += 1
        colour[u - begin] = chosen


@kernel
def find_region_representatives(cell_of, region, regions, width, x, y, size, rep, min_distances):
    """Find for every region the cell nearest to the mean of its cells, the smaller cell in a tie.

    Distances are multiplied by the size of the region, so that cells on opposite sides of the mean tie exactly. Writes:
    rep; min_distances is scratch.
    """
    for p in range(regions):
        rep[p] = -1
        min_distances[p] = np.inf
    for u in range(cell_of.size):
        p = region[u]
        dx = np.float64(size[p] * (cell_of[u] % width) - x[p])
        dy = np.float64(size[p] * (cell_of[u] // width) - y[p])
        distance = dx * dx + dy * dy
        if distance < min_distances[p]:
            min_distances[p] = distance
            rep[p] = cell_of[u]
