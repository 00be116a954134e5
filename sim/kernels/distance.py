"""True distances to one cell, computed only as far as somebody asks.

A search backwards from the goal (moves are undirected), aimed at a fixed cell, stopped when the cell in
question is on top of its open list: with a consistent h its g is then its true distance. Asked again it
goes on from there, so a run pays about one A* for all its moves, not one Dijkstra over the map.

(Repairing the search after a change, as Lifelong Planning A* does, was tried: with 0.2 % of the map changed at a time
it is two to five times faster than a search anew up to 1024 x 1024 by the median, but twice slower at its worst, and
on 2048 x 2048 always. What must not stop a window is spread over ticks instead, see sim/measuring.py.)
"""

import numpy as np

from sim.kernels.jit import kernel
from sim.kernels.octile import FIRST_DIAGONAL, h0_cells
from sim.kernels.search import GOAL_ON_TOP, RUNNING, expand, is_closed, parent

UNLIMITED = np.int64(1) << 62

UNKNOWN = -1.0
"""In the place of a distance: the expansions that were allowed did not do."""


@kernel
def true_distance(ground, backward, s, allowed):
    """Cost of the cheapest way from cell s to the root of the search `backward`, infinity when there is none.

    UNKNOWN when `allowed` expansions did not do; the next time it goes on from there.
    """
    if not is_closed(backward, s):
        control = backward.control[0]
        control.goal = s
        expand(ground, backward, allowed)
        if control.status == RUNNING:
            return UNKNOWN
        if control.status != GOAL_ON_TOP:
            return np.inf
    return backward.nodes[s].g


@kernel
def moves_between(ground, search, s):
    """How many moves the cheapest way has that the search found between its root and the closed cell s."""
    moves = 0
    s = parent(ground, search, s)
    while s >= 0:
        moves += 1
        s = parent(ground, search, s)
    return moves


@kernel
def ways_from(ground, backward, starts, costs, moves):
    """Cost and moves of the cheapest way from each of these cells to the root of the search; infinity where is none."""
    for i in range(starts.size):
        costs[i] = true_distance(ground, backward, starts[i], UNLIMITED)
        if costs[i] < np.inf:
            moves[i] = moves_between(ground, backward, starts[i])


@kernel
def find_ways_near(ground, starts, goals, costs, changed, is_near):
    """Which cheapest ways, of these costs, may be others now that these cells changed. Writes: is_near.

    An arc that came or went begins and ends beside such a cell or on it, so a way over it is not shorter than h0 to the
    cell and on from there, but for two steps.
    """
    steps = 2.0 * ground.cost[FIRST_DIAGONAL]
    for i in range(starts.size):
        most = costs[i] + steps
        for c in changed:
            if h0_cells(ground, starts[i], c) + h0_cells(ground, c, goals[i]) <= most:
                is_near[i] = True
                break
