"""True distances to one cell, computed only as far as somebody asks.

A search backwards from the goal (moves are undirected), aimed at a fixed cell, stopped when the cell in
question is on top of its open list: with a consistent h its g is then its true distance. Asked again it
goes on from there, so a run pays about one A* for all its moves, not one Dijkstra over the map.
"""

import numpy as np

from sim.kernels.jit import kernel
from sim.kernels.search import GOAL_ON_TOP, expand, is_closed

UNLIMITED = np.int64(1) << 62


@kernel
def true_distance(ground, backward, s):
    """Cost of the cheapest way from cell s to the root of the search `backward`, infinity when there is none."""
    if not is_closed(backward, s):
        control = backward.control[0]
        control.goal = s
        expand(ground, backward, UNLIMITED)
        if control.status != GOAL_ON_TOP:
            return np.inf
    return backward.nodes[s].g
