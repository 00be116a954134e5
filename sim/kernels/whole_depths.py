"""Optimal lookahead depths without a cap, for a column of the database of subgoals and depths.

Paper: section 5 and appendices C and D of "Dynamic Control in Real-Time Heuristic Search". The optimal depth of a cell
is the least depth at which LRTA* with nothing learned chooses a move of a cheapest path. Depths of a hundred moves are
common on mazes. Depth is not monotone, because a deeper lookahead may choose a worse move, so every depth must be
tried.

The lookahead of depth d + 1 is grown from the lookahead of depth d: its frontier is expanded too, and of the other
cells only those whose g falls are expanded again. A region then costs about as many expansions as its last lookahead
has cells, while a lookahead from scratch for every depth (subgoals.find_depths_to_representative) costs the sum of all
of them.
Nothing is learned and h0 is consistent, so path-max changes no f, and both kinds of lookahead choose the same moves.
"""

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels.distance import UNLIMITED_EXPANSIONS, true_distance
from sim.kernels.lrta import FRONTIER, INSIDE, add_frontier_cell
from sim.kernels.octile import NO_DIRECTION, SUCCESSORS, direction_between
from sim.kernels.openlist import key_of_f, sift_down, sift_up
from sim.kernels.search import CLOSED, begin_search, start_search_without_roots
from sim.kernels.subgoals import NO_SUBGOAL
from sim.kernels.targets import h_toward_target, set_present_target

NO_DEPTH = 0
"""Depth of a region from which no path leads to the target."""


@kernel
def find_uncapped_depths(ground, levels, level, goal_region, backward, targets, ball, first, last, subgoal, depth):
    """Find the optimal lookahead depth for each region from first to last - 1.

    The depth is for the path to the region's subgoal or, if `subgoal` is empty, to the representative of the goal
    region. `backward` is scratch memory; `targets` must have learned nothing.

    Returns the number of expansions. Writes: depth.
    """
    base, used = levels.first[level], np.int64(0)
    z = np.int64(levels.rep[goal_region])
    if subgoal.size == 0:
        set_present_target(ground, targets, z)
        begin_search(ground, backward, z, z, z)
    for region in range(base + first, base + last):
        s = np.int64(levels.rep[region])
        depth[region - base] = 1 if region == goal_region else NO_DEPTH
        if region == goal_region or (subgoal.size and subgoal[region - base] == NO_SUBGOAL):
            continue
        if subgoal.size:
            y = np.int64(subgoal[region - base])
            set_present_target(ground, targets, y)
            begin_search(ground, backward, y, s, s)
        depth[region - base] = least_optimal_depth(ground, backward, targets, ball, s)
        used += ball.search.control[0].expansions
        if subgoal.size:
            used += backward.control[0].expansions
    return used + (0 if subgoal.size else backward.control[0].expansions)


@kernel
def least_optimal_depth(ground, backward, targets, ball, s):
    """Return the least depth whose first move from s is on a cheapest path to the present target, or NO_DEPTH.

    `backward` is a search whose root is that target.
    """
    y = np.int64(targets.present_target[0].goal)
    distance = true_distance(ground, backward, s, UNLIMITED_EXPANSIONS)
    begin_lookahead_ball(ground, ball, s, y)
    if distance == np.inf:
        return np.int64(NO_DEPTH)
    first, last, depth = np.int64(0), np.int64(1), np.int64(0)
    while True:
        depth += 1
        count = grow_lookahead_ball(ground, ball, y, first, last)
        first, last = last, count
        t = first_cell_on_ball_path(ground, ball, s, best_frontier_cell_of_ball(targets, ball, y, first, last))
        if distance == ground.cost[direction_between(ground, s, t)] + true_distance(
            ground, backward, t, UNLIMITED_EXPANSIONS
        ):
            return depth


@kernel
def begin_lookahead_ball(ground, ball, s, y):
    """Begin a ball of depth 0, which contains only the cell s, as its frontier. Later calls of grow() extend it."""
    start_search_without_roots(ground, ball.search, y, y)
    ball.search.control[0].root = s
    add_frontier_cell(ball.search, ball.cells, 0, s)
    ball.search.nodes[s].g = 0.0
    ball.search.nodes[s].came = NO_DIRECTION


@kernel
def grow_lookahead_ball(ground, ball, y, first, last):
    """Expand the frontier, the cells at indices first to last - 1, and add the next frontier at the end of the list.

    The target y is never expanded. Returns the new number of cells. Writes: ball.
    """
    search, cells = ball.search, ball.cells
    nodes, heap, control = search.nodes, search.heap, search.control[0]
    mask = (np.int64(1) << ground.shift) - 1
    size, count = np.int64(0), np.int64(last)
    for i in range(first, last):
        s = np.int64(cells[i])
        if s != y:
            nodes[s].place = INSIDE
            sift_up(heap, nodes, size, key_of_f(nodes[s].g), s, mask)
            size += 1
    while size:
        s = heap[0].tie
        size -= 1
        sift_down(heap, nodes, size, heap[size].key, heap[size].tie, mask)
        node = nodes[np.uint64(s)]
        node.place = CLOSED
        control.expansions += 1
        successors = np.int64(SUCCESSORS[np.int64(node.came) << 8 | np.int64(ground.moves[s])])
        while successors:
            d = np.uint64((successors & 15) - 1)
            successors >>= 4
            t = s + ground.step[d]
            g = node.g + ground.cost[d]
            child = nodes[np.uint64(t)]
            if child.search != control.search:
                count = add_frontier_cell(search, cells, count, t)
            if child.g <= g:
                continue
            child.g = g
            child.came = d
            if child.place != FRONTIER:
                index = np.int64(child.place)
                if index == CLOSED:
                    index = size
                    size += 1
                sift_up(heap, nodes, index, key_of_f(g), t, mask)
    return count


@kernel
def best_frontier_cell_of_ball(targets, ball, y, first, last):
    """Return the frontier cell with the least f = g + h0. Ties: the target, larger g, smaller cell.

    The frontier consists of the cells at indices first to last - 1, and of the target once it is in the ball.
    """
    nodes = ball.search.nodes
    best, best_f, best_g = np.int64(-1), np.inf, np.inf
    if nodes[y].search == ball.search.control[0].search:
        best, best_f = y, nodes[y].g
    for i in range(first, last):
        t = np.int64(ball.cells[i])
        g = nodes[t].g
        f = g + h_toward_target(targets, t)
        is_first = f == best_f and best != y and (g > best_g or (g == best_g and t < best))
        if f < best_f or is_first:
            best, best_f, best_g = t, f, g
    return best


@kernel
def first_cell_on_ball_path(ground, ball, s, b):
    """Return the first cell after s on the path from s to b.

    The parent of a cell is the first expanded cell that gives it its g, in the order of a search that expands by g,
    then by cell. `came` cannot be used: it gives the cell that was expanded first since the ball began.
    """
    nodes = ball.search.nodes
    t = np.int64(b)
    while True:
        before, before_g = np.int64(-1), np.inf
        for d in range(8):
            if ground.moves[t] >> d & 1 == 0:
                continue
            u = t + ground.step[d]  # every move is legal in both directions, at the same cost
            node = nodes[u]
            if node.search != ball.search.control[0].search or node.place != CLOSED:
                continue
            g = node.g
            if g + ground.cost[d] == nodes[t].g and (g < before_g or (g == before_g and u < before)):
                before, before_g = u, g
        if before == s:
            return t
        t = before
