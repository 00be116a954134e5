"""True distances from an agent's cell to the goal at each tick, drawn as a curve that is called the run's fingerprint.

The distances hold for the current map. Only some of them are computed in each frame, so that no frame is late; unknown
distances are NaN. This module does not use pygame.
"""

import numpy as np
import numpy.typing as npt

from sim.time.timeline import Timeline
from sim.true_distances import MAX_EXPANSIONS_PER_TICK, TrueDistances

MAX_REQUESTS_PER_FRAME = 12
"""Maximum number of cells whose distance is requested in one frame, for each agent."""


class DistanceCache:
    """Cache of true distances (costs of the cheapest paths) to one goal on the map of one branch."""

    def __init__(self) -> None:
        # Cache key: number of the run, version of the grid, goal cell.
        self._cache_key: tuple[int, int, int] | None = None
        self._distance_by_cell = np.zeros(0)
        # search used for any goal except the world's goal, for which the timeline computes the distances
        self._other_goal_distances: TrueDistances | None = None

    def distances_from_cells(
        self, timeline: Timeline, cells: npt.NDArray[np.int32], run: int, goal: int
    ) -> npt.NDArray[np.float64]:
        """Return the distance to the goal from each of these cells, NaN where it is unknown.

        At most MAX_REQUESTS_PER_FRAME of the unknown distances are computed in one call, so that no frame is delayed.
        """
        self._clear_if_outdated(timeline, run, goal)
        unknown = np.unique(cells[np.isnan(self._distance_by_cell[cells])])
        for cell in unknown[:MAX_REQUESTS_PER_FRAME].tolist():
            if self._compute_distance(timeline, cell) is None:
                break
        return self._distance_by_cell[cells]

    def compute_all_distances(self, timeline: Timeline, cells: npt.NDArray[np.int32], run: int, goal: int) -> None:
        """Compute all unknown distances from these cells to the goal, however long that takes."""
        self._clear_if_outdated(timeline, run, goal)
        for cell in np.unique(cells[np.isnan(self._distance_by_cell[cells])]).tolist():
            is_free = timeline.world.grid.is_free(cell)
            measure = self._other_goal_distances.cost if self._other_goal_distances else timeline.compute_true_distance
            self._distance_by_cell[cell] = measure(cell) if is_free else np.inf

    def distance_from_cell(self, timeline: Timeline, cell: int, run: int, goal: int) -> float | None:
        """Return the distance of one cell; None while its search, which each call resumes, is incomplete."""
        self._clear_if_outdated(timeline, run, goal)
        known = float(self._distance_by_cell[cell])
        return self._compute_distance(timeline, cell) if np.isnan(known) else known

    def _clear_if_outdated(self, timeline: Timeline, run: int, goal: int) -> None:
        """Clear the cached distances if they belong to another run, map version or goal."""
        world = timeline.world
        map_key = (run, world.grid.version, goal)
        if map_key != self._cache_key:
            self._cache_key, self._distance_by_cell = map_key, np.full(world.grid.cells, np.nan)
            is_shared = goal == world.goal
            self._other_goal_distances = (
                None if is_shared else TrueDistances(world.grid, goal, world.start, keeps_search=True)
            )

    def _compute_distance(self, timeline: Timeline, cell: int) -> float | None:
        """Compute, cache and return the distance to the goal from a cell; None while its search is incomplete."""
        distance: float | None = np.inf
        if timeline.world.grid.is_free(cell):
            distance = (
                self._other_goal_distances.cost_to_goal_within_limit(cell, MAX_EXPANSIONS_PER_TICK)
                if self._other_goal_distances
                else timeline.poll_true_distance(cell)
            )
        if distance is not None:
            self._distance_by_cell[cell] = distance
        return distance
