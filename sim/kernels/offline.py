"""A search to its end in one call, for those who want a path and no agent."""

import numpy as np

from sim.kernels.jit import kernel
from sim.kernels.route import way_to
from sim.kernels.search import GOAL_ON_TOP, begin, expand

ALL_EXPANSIONS = np.int64(1) << 62


@kernel
def solve(ground, search, start, goal, way):
    """Returns how many cells the path has, none where there is no path, and the expansions. Writes: search, way."""
    begin(ground, search, start, goal, goal)
    expansions = expand(ground, search, ALL_EXPANSIONS)
    if search.control[0].status != GOAL_ON_TOP:
        return 0, expansions
    return way_to(ground, search, goal, way), expansions
