"""Search that runs to its end in one call, for code that needs a path but no agent."""

from sim.jit.decorators import kernel
from sim.kernels.distance import UNLIMITED_EXPANSIONS
from sim.kernels.route import trace_path_from_root
from sim.kernels.search import GOAL_ON_TOP, begin_search, expand_best_cells


@kernel
def find_cheapest_path(ground, search, start, goal, path):
    """Find a cheapest path from `start` to `goal` and write its cells into `path`.

    Returns the number of cells, 0 if there is no path, and the expansions. Writes: search, path.
    """
    begin_search(ground, search, start, goal, goal)
    expansions = expand_best_cells(ground, search, UNLIMITED_EXPANSIONS)
    if search.control[0].status != GOAL_ON_TOP:
        return 0, expansions
    return trace_path_from_root(ground, search, goal, path), expansions
