"""True distances from an agent's cell to the goal at each tick: the fingerprint of a run.

The distances are those of the current map. Some are computed in each frame; unknown ones are NaN. This module does not
use pygame.
"""

import numpy as np
import numpy.typing as npt

from sim.measuring import A_TICK, OptimalityTracker
from sim.time.timeline import Timeline

MAX_ASKED = 12
"""Maximum number of cells whose distance is requested in one frame, for each agent."""


class Distances:
    """Known distances to one goal in one branch."""

    def __init__(self) -> None:
        self._map: tuple[int, int, int] | None = None  # map of the distances: run, version of the grid, goal
        self._distance_by_cell = np.zeros(0)
        # for a goal that differs from the world's; the world itself measures distances to its own
        self._own: OptimalityTracker | None = None

    def along(self, timeline: Timeline, cells: npt.NDArray[np.int32], run: int, goal: int) -> npt.NDArray[np.float64]:
        """Return the distance from each of these cells, NaN where it is unknown.

        Some of the unknown distances are computed first, at most MAX_ASKED.
        """
        self._look_at_map(timeline, run, goal)
        unknown = np.unique(cells[np.isnan(self._distance_by_cell[cells])])
        for cell in unknown[:MAX_ASKED].tolist():
            if self._measured(timeline, cell) is None:
                break
        return self._distance_by_cell[cells]

    def complete(self, timeline: Timeline, cells: npt.NDArray[np.int32], run: int, goal: int) -> None:
        """Compute all unknown distances from these cells, without a limit on the work."""
        self._look_at_map(timeline, run, goal)
        for cell in np.unique(cells[np.isnan(self._distance_by_cell[cells])]).tolist():
            is_free = timeline.world.grid.is_free(cell)
            measure = self._own.distance if self._own else timeline.distance
            self._distance_by_cell[cell] = measure(cell) if is_free else np.inf

    def of_cell(self, timeline: Timeline, cell: int, run: int, goal: int) -> float | None:
        """Return the distance from one cell; None while it is unknown."""
        self._look_at_map(timeline, run, goal)
        known = float(self._distance_by_cell[cell])
        return self._measured(timeline, cell) if np.isnan(known) else known

    def _look_at_map(self, timeline: Timeline, run: int, goal: int) -> None:
        world = timeline.world
        now = (run, world.grid.version, goal)
        if now != self._map:
            self._map, self._distance_by_cell = now, np.full(world.grid.cells, np.nan)
            self._own = None if goal == world.goal else OptimalityTracker(world.grid, goal, world.start, is_on=True)

    def _measured(self, timeline: Timeline, cell: int) -> float | None:
        found: float | None = np.inf
        if timeline.world.grid.is_free(cell):
            found = self._own.distance_within(cell, A_TICK) if self._own else timeline.true_distance(cell)
        if found is not None:
            self._distance_by_cell[cell] = found
        return found
