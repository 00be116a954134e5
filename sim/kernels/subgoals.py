"""Column of the database of subgoals and depths: the entry of every region of a level for one goal region.

Papers: figures 6 and 8, sections 5.2 and 6 of "Dynamic Control in Real-Time Heuristic Search". An entry is exact for
the representative cell of its region, and shared by all cells of the region.
"""

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels.distance import UNLIMITED_EXPANSIONS, true_distance
from sim.kernels.levels import node_on_level
from sim.kernels.lrta import NO_G_LIMIT, best_frontier_cell, first_cell_on_path, run_lookahead
from sim.kernels.octile import FIRST_DIAGONAL, NO_DIRECTION, SUCCESSORS, TIE_ORDERED_SUCCESSORS, direction_between
from sim.kernels.search import begin_search
from sim.kernels.targets import set_present_target

NO_SUBGOAL = -1  # entry of a region without a subgoal: the goal is in the region, or cannot be reached


@kernel
def compute_distance_field(ground, source, field, came, rings, sizes):
    """Compute true distances to `source` on the whole map. Returns the number of expansions.

    Before, `field` must be infinite and `sizes` zero everywhere. Cells to be expanded wait in queues, called rings, by
    the integer part of their distance. No move costs less than 1, so cells of one ring cannot improve each other, and
    their order does not matter. No move costs more than 2, so three rings are enough. Writes: field, came, rings,
    sizes.
    """
    moves, step, cost = ground.moves, ground.step, ground.cost
    field[source] = 0.0
    came[source] = NO_DIRECTION
    rings[0, 0] = source
    sizes[0] = 1
    expansions, ring, is_done = np.int64(0), np.int64(0), False
    while not is_done:
        ring_slot = ring % 3
        for i in range(sizes[ring_slot]):
            s = np.int64(rings[ring_slot, i])
            g = field[s]
            if np.int64(g) != ring:
                continue  # outdated entry: the cell's distance fell, and the cell was inserted into an earlier ring
            expansions += 1
            successors = np.int64(SUCCESSORS[np.int64(came[s]) << 8 | np.int64(moves[s])])
            while successors:
                d = np.uint64((successors & 15) - 1)
                successors >>= 4
                t = np.uint64(s + step[d])
                new_g, old_g = g + cost[d], field[t]
                if new_g < old_g:
                    field[t] = new_g
                    came[t] = d
                    new_ring = np.int64(new_g)
                    if old_g == np.inf or np.int64(old_g) != new_ring:
                        k = new_ring % 3
                        rings[k, sizes[k]] = t
                        sizes[k] += 1
        sizes[ring_slot] = 0
        ring += 1
        is_done = sizes[0] == 0 and sizes[1] == 0 and sizes[2] == 0
    return expansions


@kernel
def find_subgoals(ground, levels, level, goal_region, field, first, last, subgoal):
    """Find for each region from first to last - 1 the first cell outside it on a cheapest path to the goal region.

    Writes: subgoal.
    """
    base = levels.first[level]
    for region in range(base + first, base + last):
        s = np.int64(levels.rep[region])
        subgoal[region - base] = NO_SUBGOAL
        if region == goal_region or field[s] == np.inf:
            continue
        while node_on_level(levels, s, level) == region:
            s = next_cell_towards_source(ground, field, s)
        subgoal[region - base] = s


@kernel
def next_cell_towards_source(ground, field, s):
    """Return the next cell on a cheapest path from s to the source of the distances `field`.

    Ties go to the larger cost of the move, then to the smaller cell.
    """
    is_dearer = np.int64(ground.cost[FIRST_DIAGONAL] > 1.0)
    successors = np.int64(TIE_ORDERED_SUCCESSORS[is_dearer << 8 | np.int64(ground.moves[s])])
    best, best_f = np.int64(-1), np.inf
    while successors:
        d = (successors & 15) - 1
        successors >>= 4
        t = np.int64(s) + ground.step[d]
        f = ground.cost[d] + field[t]
        if f < best_f:
            best, best_f = t, f
    return best


@kernel
def find_depths_to_representative(
    ground, levels, level, goal_region, field, targets, ball, st, cap, first, last, depth
):
    """Find for each region from first to last - 1 the lookahead depth for a path to the goal region's representative.

    `targets` must have learned nothing. Returns the number of expansions. Writes: depth.
    """
    base, used = levels.first[level], np.int64(0)
    z = np.int64(levels.rep[goal_region])
    set_present_target(ground, targets, z)
    for region in range(base + first, base + last):
        s = np.int64(levels.rep[region])
        depth[region - base] = 1 if region == goal_region else cap
        if region == goal_region or field[s] == np.inf:
            continue
        for d in range(1, cap):
            t = first_lrta_move(ground, targets, ball, st, s, d)
            used += ball.search.control[0].expansions
            if t >= 0 and field[s] == ground.cost[direction_between(ground, s, t)] + field[t]:
                depth[region - base] = d
                break
    return used


@kernel
def find_depths_to_subgoals(
    ground, levels, level, field, backward, targets, ball, st, cap, first, last, subgoal, depth
):
    """Find for each region from first to last - 1 the lookahead depth for a path to the region's subgoal.

    Returns the number of expansions. Writes: depth.
    """
    base, used = levels.first[level], np.int64(0)
    for region in range(base + first, base + last):
        s, y = np.int64(levels.rep[region]), np.int64(subgoal[region - base])
        if y == NO_SUBGOAL:
            depth[region - base] = 1 if field[s] == 0.0 else cap
            continue
        depth[region - base] = cap
        set_present_target(ground, targets, y)
        begin_search(ground, backward, y, s, s)
        distance = true_distance(ground, backward, s, UNLIMITED_EXPANSIONS)
        for d in range(1, cap):
            t = first_lrta_move(ground, targets, ball, st, s, d)
            used += ball.search.control[0].expansions
            if t < 0:
                continue
            remaining = true_distance(ground, backward, t, UNLIMITED_EXPANSIONS)
            if distance == ground.cost[direction_between(ground, s, t)] + remaining:
                depth[region - base] = d
                break
        used += backward.control[0].expansions
    return used


@kernel
def first_lrta_move(ground, targets, ball, st, s, depth):
    """Return the cell to which LRTA* of this depth would move from s, -1 if it finds no path. Learns nothing."""
    st.loc = s
    run_lookahead(ground, targets, ball, st, depth, NO_G_LIMIT)
    b = best_frontier_cell(targets, ball, st)
    return first_cell_on_path(ground, ball.search, s, b) if b >= 0 else np.int64(-1)
