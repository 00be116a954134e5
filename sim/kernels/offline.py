"""Search that runs to its end in one call, for code that needs a path but no agent."""

from sim.kernels.distance import UNLIMITED
from sim.kernels.jit import kernel
from sim.kernels.route import way_to
from sim.kernels.search import GOAL_ON_TOP, begin, expand


@kernel
def solve(ground, search, start, goal, way):
    """Find a cheapest path from `start` to `goal` and write its cells into `way`.

    Returns the number of cells, 0 if there is no path, and the expansions. Writes: search, way.
    """
    begin(ground, search, start, goal, goal)
    expansions = expand(ground, search, UNLIMITED)
    if search.control[0].status != GOAL_ON_TOP:
        return 0, expansions
    return way_to(ground, search, goal, way), expansions
