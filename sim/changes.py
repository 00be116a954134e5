"""Random changes of "Time-Bounded Best-First Search": the map is redrawn from the original at intervals.

An event is one random change. It blocks rate / 2 % of the originally free cells, frees rate / 2 % of the originally
blocked cells, and undoes the previous event. If events accumulated, a rate of 10 would make the map impassable within
ten events. An event depends only on the seed of the world and on its tick, so a run can be resumed at any tick.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.grid import Grid
from sim.params import Param

CHANGE_INTERVAL_PARAM = Param("every", int, 10, "ticks between random changes", 1, 1_000_000_000)
CHANGES_REPEAT_PARAM = Param(
    "repeat", bool, True, "whether the changes repeat; false: only one change, after `every` ticks"
)
CHANGE_RATE_PARAM = Param("rate", float, 0.0, "percent of cells that one random change redraws", 0.0, 100.0)


@dataclass(frozen=True)
class RandomChangeSchedule:
    """Schedule and size of the random changes of the map (events)."""

    interval_ticks: int  # number of ticks between two random changes
    changed_percent: float  # percent of the cells that one random change alters; 0: there are no random changes
    # True: a random change every `interval_ticks` ticks; False: only one, at tick `interval_ticks`.
    repeats: bool = True

    def is_change_due(self, tick: int) -> bool:
        return tick > 0 and self.next_change_tick_after(tick - 1) == tick

    def next_change_tick_after(self, tick: int) -> int | None:
        """Return the first tick after `tick` at which a random change is due; None: there will be none."""
        if self.changed_percent <= 0 or (not self.repeats and tick >= self.interval_ticks):
            return None
        return (tick // self.interval_ticks + 1) * self.interval_ticks


@dataclass(frozen=True)
class RandomChange:
    """Cells that one random change blocks, and cells that it frees."""

    blocked_cells: npt.NDArray[np.int32]
    freed_cells: npt.NDArray[np.int32]


NO_RANDOM_CHANGE = RandomChange(np.empty(0, np.int32), np.empty(0, np.int32))


def sample_random_change(
    grid: Grid, changes: RandomChangeSchedule, seed: int, tick: int, protected: npt.ArrayLike
) -> RandomChange:
    """Return the random change for a tick, drawn from the original terrain.

    Args:
        grid: map.
        changes: rate of the event.
        seed: seed of the world.
        tick: tick of the event; the same map, rate, seed and tick give the same event.
        protected: cells that must not be blocked, such as those occupied by agents.
    """
    generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed & 0xFFFFFFFF, tick])))
    was_free, was_blocked = grid.original_free_and_blocked_cells
    blocked = _sample_cells(generator, was_free, changes.changed_percent / 200.0)
    freed = _sample_cells(generator, was_blocked, changes.changed_percent / 200.0)
    return RandomChange(blocked[~np.isin(blocked, protected)], freed)


def merge_undo_with_next_change(
    before: RandomChange, event: RandomChange, grid: Grid, protected: npt.ArrayLike
) -> tuple[RandomChange, RandomChange]:
    """Combine undoing the previous random change, `before`, with the new one, `event`.

    Args:
        before: previous event, to be undone.
        event: new event, as returned by `sample_random_change`.
        grid: present map, on which `before` is applied.
        protected: cells that must not be blocked, such as those occupied by agents.

    Returns:
        Two events. The first is the new event, reduced to cells that it really changes: pass it as `before` next time.
        The second is the edit to apply to the map now; it undoes `before` and applies the new event.
    """
    back = _undo_random_change(grid, before)
    stays = np.isin(back.blocked_cells, protected)  # mask of cells that `before` freed and that must not be blocked now
    free = grid.free_mask
    free[back.freed_cells] = True
    free[back.blocked_cells[~stays]] = False
    # Cells that a user has blocked or freed already are left out of the event, so that undoing it does not affect them.
    blocked, freed = event.blocked_cells[free[event.blocked_cells]], event.freed_cells[~free[event.freed_cells]]
    free[blocked] = False
    free[freed] = True
    redrawn = np.unique(np.concatenate([back.blocked_cells, back.freed_cells, blocked, freed]))
    was_free, is_free = grid.are_cells_free(redrawn), free[redrawn]
    edit = RandomChange(redrawn[was_free & ~is_free], redrawn[is_free & ~was_free])
    return RandomChange(blocked, np.concatenate([freed, back.blocked_cells[stays]])), edit


def _undo_random_change(grid: Grid, event: RandomChange) -> RandomChange:
    """Return the change that undoes `event`, except in cells that have been edited since, for example by the user."""
    return RandomChange(
        event.freed_cells[grid.are_cells_free(event.freed_cells)],
        event.blocked_cells[~grid.are_cells_free(event.blocked_cells)],
    )


def _sample_cells(generator: np.random.Generator, cells: npt.NDArray[np.intp], share: float) -> npt.NDArray[np.int32]:
    """Return a random sample of `cells`, in ascending order. `share`: fraction of the cells to draw, from 0 to 1."""
    chosen = generator.choice(cells, round(cells.size * share), replace=False, shuffle=False)
    return np.sort(chosen).astype(np.int32)
