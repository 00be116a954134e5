"""LRTA* on a level of the abstraction: lookahead among regions, h for each target region, depths for a database.

It works like sim/kernels/lrta.py on the map, with a weight on g: the value of a frontier node is gamma * g + h, and at
least the value of the nodes before it (path-max). Papers: "Dynamic Control in Real-Time Heuristic Search", section 7.2;
"TBA*: Time-Bounded A*".
"""

from typing import NamedTuple

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels.labels import count_expansion
from sim.kernels.levels import (
    NodeSearch,
    begin_node_search,
    insert_open_node,
    new_node_search,
    node_distance,
    node_on_level,
    pop_best_node,
)
from sim.kernels.lrta import FRONTIER, INSIDE
from sim.kernels.memory import lazily_allocated_zeros
from sim.kernels.openlist import key_of_f, sift_up
from sim.kernels.search import CLOSED
from sim.kernels.subgoals import NO_SUBGOAL
from sim.kernels.targets import CELL_BITS, index_in_hash_table, put_in_hash_table

COST_TOLERANCE = 1e-9
"""Relative tolerance for comparing costs, because sums of distances between the means of regions are not exact."""


class NodeBall(NamedTuple):
    """Memory of one lookahead among nodes (regions) of the abstraction. Make it only with new_node_ball()."""

    nodes: NodeSearch
    ball_nodes: np.ndarray  # int32[nodes] the ball: all nodes that the lookahead has found, the root first
    path_max_f: np.ndarray  # float64[nodes] f of each node, raised by path-max to at least the f of its parent
    size: np.ndarray  # int64[1] number of nodes in the ball


def new_node_ball(nodes: int) -> NodeBall:
    return NodeBall(
        new_node_search(nodes),
        lazily_allocated_zeros(nodes, np.int32),
        lazily_allocated_zeros(nodes, np.float64),
        np.zeros(1, np.int64),
    )


@kernel
def learned_node_h(levels, tables, target, u, diagonal):
    """Return the estimated cost from node u to the target node: the learned value, or the distance between the two.

    `tables` is a targets.Targets, of which only the hash table is used.
    """
    index = index_in_hash_table(tables.keys, (np.int64(target) << CELL_BITS | np.int64(u)) + 1)
    if tables.keys[index] != 0:
        return tables.values[index]
    return node_distance(levels, u, target, diagonal)


@kernel
def raise_learned_node_h(levels, tables, target, u, value, diagonal):
    """Raise the estimated cost from node u to the target node to `value` if it is lower."""
    if value > learned_node_h(levels, tables, target, u, diagonal):
        aimed = tables.present_target[0]
        tables.counts[0].entries += put_in_hash_table(
            tables.keys, tables.values, np.int64(target) << CELL_BITS | np.int64(u), value
        )
        aimed.changes += 1
        aimed.highest = max(aimed.highest, value)


@kernel
def run_node_lookahead(levels, ball, tables, root, target, depth, gamma, diagonal, notes):
    """Run Dijkstra's algorithm inside the ball of nodes up to `depth` arcs from the root.

    All nodes but the last layer are expanded; the target is never expanded. Returns the expansions. `gamma` is the
    weight of g, `notes` the displayed Search in which expansions are counted. Writes: ball, notes.
    """
    search, nodes, control = ball.nodes.search, ball.nodes.search.nodes, ball.nodes.search.control[0]
    mask = (np.int64(1) << ball.nodes.shift) - 1
    find_node_ball(levels, ball, root, target, depth)
    nodes[root].g = 0.0
    ball.nodes.parent[root] = -1
    ball.path_max_f[root] = learned_node_h(levels, tables, target, root, diagonal)
    sift_up(search.heap, nodes, 0, key_of_f(0.0), np.int64(root), mask)
    control.open_size = 1
    used = np.int64(0)
    while control.open_size:
        u = pop_best_node(ball.nodes)
        used += 1
        count_expansion(notes, levels.rep[u])
        for i in range(levels.edge_first[u], levels.edge_first[u + 1]):
            v = np.int64(levels.edge[i])
            g = nodes[u].g + node_distance(levels, u, v, diagonal)
            child = nodes[v]
            if child.g <= g:
                continue
            child.g = g
            ball.nodes.parent[v] = u
            ball.path_max_f[v] = max(
                ball.path_max_f[u], gamma * g + learned_node_h(levels, tables, target, v, diagonal)
            )
            if child.place != FRONTIER and child.place != CLOSED:
                index = np.int64(child.place)
                if index == INSIDE:
                    index = control.open_size
                    control.open_size += 1
                sift_up(search.heap, nodes, index, key_of_f(g), v, mask)
    return used


@kernel
def find_node_ball(levels, ball, root, target, depth):
    """Find the nodes up to `depth` arcs from the root, layer by layer. All nodes but the last layer become INSIDE."""
    begin_node_search(ball.nodes, root)
    ball.nodes.search.control[0].open_size = 0
    ball.size[0] = 0
    add_frontier_node(ball, root)
    first = 0
    for _ in range(depth):
        last = ball.size[0]
        for i in range(first, last):
            u = np.int64(ball.ball_nodes[i])
            if u == target:
                continue
            ball.nodes.search.nodes[u].place = INSIDE
            for k in range(levels.edge_first[u], levels.edge_first[u + 1]):
                v = np.int64(levels.edge[k])
                if v != root and ball.nodes.search.nodes[v].search != ball.nodes.search.control[0].search:
                    add_frontier_node(ball, v)
        first = last


@kernel
def add_frontier_node(ball, u):
    """Add a newly found node to the ball, as a frontier node."""
    node = ball.nodes.search.nodes[u]
    node.search = ball.nodes.search.control[0].search
    ball.nodes.search.control[0].known += 1
    node.place = FRONTIER
    node.g = np.inf
    ball.ball_nodes[ball.size[0]] = u
    ball.size[0] += 1


@kernel
def best_frontier_node(ball, target):
    """Return the frontier node with the least path-max f, -1 if there is none.

    Ties go to the target, then to the larger g, then to the smaller node.
    """
    best, fh = np.int64(-1), ball.path_max_f
    for i in range(1, ball.size[0]):
        v = np.int64(ball.ball_nodes[i])
        node = ball.nodes.search.nodes[v]
        if node.place != FRONTIER or node.g == np.inf:
            continue
        if best < 0 or fh[v] < fh[best]:
            best = v
        elif fh[v] == fh[best] and best != target:
            g, best_g = node.g, ball.nodes.search.nodes[best].g
            if v == target or g > best_g or (g == best_g and v < best):
                best = v
    return best


@kernel
def first_node_on_path(ball, root, b):
    """Return the first node after the root on the path that the lookahead found from the root to node b."""
    v = np.int64(b)
    while ball.nodes.parent[v] != root:
        v = np.int64(ball.nodes.parent[v])
    return v


# --- depths for a database ------------------------------------------------------------------------------


@kernel
def find_node_depths(
    levels, lower, level, region, near, ball, nodes, tables, diagonal, cap, first, last, subgoal, depth, notes
):
    """Find for each region from first to last - 1 of `level` the depth of lookahead on level `lower`.

    The depth is the least one whose first move, with nothing learned, is on a cheapest path between the nodes of the
    representatives or, if `near`, to the node of the subgoal. It is 1 if both are the same node, and `cap` if no depth
    below it is enough or no path exists.

    Returns the number of expansions of the lookaheads. Writes: depth, notes.
    """
    base, used = levels.first[level], np.int64(0)
    z = node_on_level(levels, levels.rep[region], lower)
    if not near:
        begin_node_search(nodes, z)
    for a in range(base + first, base + last):
        s = node_on_level(levels, levels.rep[a], lower)
        y = z
        if near:
            y = s if a == region else np.int64(-1)
            if subgoal[a - base] != NO_SUBGOAL:
                y = node_on_level(levels, subgoal[a - base], lower)
        depth[a - base] = 1 if s == y or a == region else cap
        if s == y or a == region or y < 0:
            continue
        if near:
            begin_node_search(nodes, y)
        distance = true_node_distance(levels, nodes, s, diagonal, notes)
        if distance == np.inf:
            continue
        for d in range(1, cap):
            used += run_node_lookahead(levels, ball, tables, s, y, d, 1.0, diagonal, notes)
            b = best_frontier_node(ball, y)
            if b < 0:
                continue
            t = first_node_on_path(ball, s, b)
            remaining = true_node_distance(levels, nodes, t, diagonal, notes)
            if node_distance(levels, s, t, diagonal) + remaining <= distance + COST_TOLERANCE * distance:
                depth[a - base] = d
                break
    return used


@kernel
def true_node_distance(levels, nodes, u, diagonal, notes):
    """Return the true distance from node u to the root of the search `nodes`, infinity if there is no path.

    The search is continued until the distance is known.
    """
    search, control = nodes.search, nodes.search.control[0]
    while search.nodes[u].search != control.search or search.nodes[u].place != CLOSED:
        if control.open_size == 0:
            return np.inf
        s = pop_best_node(nodes)
        count_expansion(notes, levels.rep[s])
        for i in range(levels.edge_first[s], levels.edge_first[s + 1]):
            t = np.int64(levels.edge[i])
            g = search.nodes[s].g + node_distance(levels, s, t, diagonal)
            child = search.nodes[t]
            if child.search != control.search or (child.place != CLOSED and child.g > g):
                insert_open_node(nodes, t, s, g, g, 0.0)
    return search.nodes[u].g
