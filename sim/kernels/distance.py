"""True distances to one cell, computed on demand.

A search runs backwards from the goal (moves are undirected), with a heuristic that aims at a fixed cell, and stops when
the cell in question is on top of its open list. With a consistent h, the g of that cell is then its true distance. The
next query resumes the search, so all queries of a run cost about as much as one A*, less than a Dijkstra search over
the whole map.

(Repairing the search after a change, as Lifelong Planning A* does, was tried: with 0.2 % of the map changed at a time
it is two to five times faster than a new search up to 1024 x 1024 by the median, but twice slower at its worst, and on
2048 x 2048 always slower. Searches that would delay a window are spread over ticks instead, see
sim/move_optimality.py.)
"""

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels.octile import FIRST_DIAGONAL, h0_between_cells
from sim.kernels.search import GOAL_ON_TOP, RUNNING, expand_best_cells, is_closed, parent_of

UNLIMITED_EXPANSIONS = np.int64(1) << 62  # expansion limit of a search that may run until it has its result

UNKNOWN_DISTANCE = -1.0
"""Value returned for a distance that needs more expansions than allowed."""


@kernel
def true_distance(ground, backward, s, allowed):
    """Return the cost of the cheapest path from cell s to the root of the search `backward`.

    Infinity means that there is no path, UNKNOWN that `allowed` expansions were not enough; the next call resumes the
    search. Writes: backward.
    """
    if not is_closed(backward, s):
        control = backward.control[0]
        control.goal = s
        expand_best_cells(ground, backward, allowed)
        if control.status == RUNNING:
            return UNKNOWN_DISTANCE
        if control.status != GOAL_ON_TOP:
            return np.inf
    return backward.nodes[s].g


@kernel
def move_count_from_root(ground, search, s):
    """Return the number of moves on the cheapest path that the search found from its root to the closed cell s."""
    moves = 0
    s = parent_of(ground, search, s)
    while s >= 0:
        moves += 1
        s = parent_of(ground, search, s)
    return moves


@kernel
def measure_cheapest_paths(ground, backward, starts, costs, moves):
    """Compute cost and number of moves of the cheapest path from each start to the root of the search `backward`.

    The cost is infinite if there is no path. Writes: costs, moves, backward.
    """
    for i in range(starts.size):
        costs[i] = true_distance(ground, backward, starts[i], UNLIMITED_EXPANSIONS)
        if costs[i] < np.inf:
            moves[i] = move_count_from_root(ground, backward, starts[i])


@kernel
def mark_paths_near_changes(ground, starts, goals, costs, changed, is_near):
    """Mark each cheapest path that may have changed because the cells `changed` were edited. Writes: is_near.

    `costs` are the old costs of the paths. An added or removed arc begins and ends at a changed cell or next to one. So
    a path over the arc costs at least h0 from its start to the cell, plus h0 from the cell to its goal, less two moves.
    """
    steps = 2.0 * ground.cost[FIRST_DIAGONAL]
    for i in range(starts.size):
        max_cost = costs[i] + steps
        for c in changed:
            if h0_between_cells(ground, starts[i], c) + h0_between_cells(ground, c, goals[i]) <= max_cost:
                is_near[i] = True
                break
