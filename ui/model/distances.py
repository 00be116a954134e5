"""How far an agent was from the goal at each tick: the fingerprint of a run. No pygame.

The distances are those of the map as it is now. They are measured a little in each frame; what is not known yet is
not a number.
"""

import numpy as np
import numpy.typing as npt

from sim.time.timeline import Timeline

MOST_ASKED = 12
"""Cells whose distance is asked for in one frame, for each agent."""


class Distances:
    """What is known of one branch."""

    def __init__(self) -> None:
        self._map: tuple[int, int, int] | None = None  # of which they are: run, version of the grid, goal
        self._of_cell = np.zeros(0)

    def along(self, timeline: Timeline, cells: npt.NDArray[np.int32], run: int) -> npt.NDArray[np.float64]:
        """The distance from each of these cells."""
        world = timeline.world
        now = (run, world.grid.version, world.goal)
        if now != self._map:
            self._map, self._of_cell = now, np.full(world.grid.cells, np.nan)
        unknown = np.unique(cells[np.isnan(self._of_cell[cells])])
        for cell in unknown[:MOST_ASKED].tolist():
            distance = timeline.true_distance(cell) if world.grid.is_free(cell) else np.inf
            if distance is None:
                break
            self._of_cell[cell] = distance
        return self._of_cell[cells]
