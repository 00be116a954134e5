"""True distances: the cost of the cheapest path from a cell to the shared goal, on the present map.

    distances.cost(cell)                             cost of the cheapest path from a cell to the goal
    distances.cost_to_goal_within_limit(cell, expansions)    the same; None: it takes more expansions, so call it again
    distances.cost_and_moves_to_goal(cell)           cost and number of moves of this path
    distances.invalidate_distances(goal, near)       restart the search at its next use, after a change of map or goal

All distances come from one A* search that starts at the goal and continues with every new cell. Restarted after a map
change, it takes up to 60 ms on a map of 2048 x 2048 cells, so a window spreads it over several frames.
"""

from math import inf
from typing import Any

from sim.grid import Grid
from sim.jit.decorators import as_plain_arrays
from sim.kernels import distance
from sim.kernels.search import begin_search, new_search, stamped_table_of_nodes
from sim.kernels.stale import StampedTable

MAX_EXPANSIONS_PER_TICK = 20_000
"""Maximum number of expansions per tick for true distances in a window; they take about 1 ms."""

UNLIMITED_EXPANSIONS = int(distance.UNLIMITED_EXPANSIONS)
"""Number of expansions that no search reaches."""


class TrueDistances:
    """Search from the shared goal for the cost of the cheapest path from any cell."""

    def __init__(self, grid: Grid, goal: int, near: int, keeps_search: bool, *, is_watched: bool = False) -> None:
        """Create the search.

        Args:
            grid: map, which may change; call `invalidate_distances` after each change.
            goal: shared goal.
            near: cell near which distances will be needed first, which directs the A* search.
            keeps_search: whether to keep one search for all cells. If not, each distance is found by a search of its
                own, which needs no memory in between.
            is_watched: whether the world is shown in a window. The memory of its search is not reused by other worlds.
        """
        self.keeps_search = keeps_search
        self._grid, self.goal, self._near_cell = grid, goal, near
        self._backward_search = as_plain_arrays(
            new_search(grid.cells if keeps_search else 0, is_bucketed=keeps_search, is_reused=not is_watched)
        )
        self._is_outdated = True
        self._earlier_expansions = 0  # number of expansions of all searches before the present search

    @property
    def expansions(self) -> int:
        """Return the number of expansions of all searches so far."""
        return self._earlier_expansions + int(self._backward_search.control["expansions"][0])

    def generation_table(self) -> StampedTable:
        """Return the node table of the search. Keyframes (saved states) leave out its outdated nodes."""
        return stamped_table_of_nodes(self._backward_search)

    def invalidate_distances(self, goal: int, near: int) -> None:
        """Discard all distances, because the map or the goal has changed.

        Args:
            goal: shared goal from now on.
            near: cell near which distances will be needed next, such as the cell of an agent.
        """
        self.goal, self._near_cell, self._is_outdated = goal, near, True

    def cost(self, cell: int) -> float:
        """Return the cost of the cheapest path from a cell to the goal; infinity: there is no path."""
        found = self.cost_to_goal_within_limit(cell, UNLIMITED_EXPANSIONS)
        assert found is not None
        return found

    def cost_to_goal_within_limit(self, cell: int, expansions: int) -> float | None:
        """Return the true distance of a cell, or None if the search needs more than `expansions` expansions.

        If this method returns None, the next call continues the same search.
        """
        return self._search_cost(
            self._search_for_cell(cell), cell, expansions if self.keeps_search else UNLIMITED_EXPANSIONS
        )

    def cost_and_moves_to_goal(self, cell: int) -> tuple[float, int | None]:
        """Return cost and number of moves of the cheapest path from a cell to the goal; no path: (infinity, None)."""
        backward = self._search_for_cell(cell)
        found = self._search_cost(backward, cell, UNLIMITED_EXPANSIONS)
        assert found is not None
        return found, int(distance.move_count_from_root(self._grid.map_arrays, backward, cell)) if found < inf else None

    def current_search(self) -> Any:
        """Return the search from the goal. If the map or the goal has changed, the search is restarted first."""
        if self._is_outdated and self.keeps_search:
            self._earlier_expansions += int(self._backward_search.control["expansions"][0])
            begin_search(self._grid.map_arrays, self._backward_search, self.goal, -1, self._near_cell)
            self._is_outdated = False
        return self._backward_search

    def _search_for_cell(self, cell: int) -> Any:
        """Return the search that finds the distance of a cell: the kept search, or a new one for this cell alone."""
        if self.keeps_search:
            return self.current_search()
        backward = new_search(self._grid.cells, is_bucketed=True, is_reused=True)
        begin_search(self._grid.map_arrays, backward, self.goal, cell, cell)
        return backward

    def _search_cost(self, backward: Any, cell: int, expansions: int) -> float | None:
        """Continue a search from the goal; return the true distance of a cell. None: `expansions` do not suffice."""
        found = float(distance.true_distance(self._grid.map_arrays, backward, cell, expansions))
        return None if found == distance.UNKNOWN_DISTANCE else found
