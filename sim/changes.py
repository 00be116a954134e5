"""The random dynamics of "Time-Bounded Best-First Search": the map is redrawn from the original at intervals.

At each event rate / 2 % of the originally free cells are blocked and rate / 2 % of the originally blocked ones
freed, and the event before is undone. Read cumulatively, a rate of 10 would seal the map off within ten events.
An event depends only on the seed and its tick, so a run can be taken up anywhere.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.grid import Grid
from sim.params import Param

EVERY = Param("every", int, 10, "ticks between random changes", 1, 1_000_000_000)
REPEAT = Param("repeat", bool, True, "whether the changes go on; false: one, after so many ticks")
RATE = Param("rate", float, 0.0, "percent of cells that one random change redraws", 0.0, 100.0)


@dataclass(frozen=True)
class RandomChanges:
    every: int  # ticks between events
    rate: float  # percent of cells changed by one event
    repeats: bool = True  # False: one event, at tick `every`, and no more

    def is_due(self, tick: int) -> bool:
        return tick > 0 and self.next_after(tick - 1) == tick

    def next_after(self, tick: int) -> int | None:
        """The first tick after `tick` at which an event is due."""
        if self.rate <= 0 or (not self.repeats and tick >= self.every):
            return None
        return (tick // self.every + 1) * self.every


@dataclass(frozen=True)
class Event:
    """The cells that one event blocked and freed."""

    blocked: npt.NDArray[np.int32]
    freed: npt.NDArray[np.int32]


NO_EVENT = Event(np.empty(0, np.int32), np.empty(0, np.int32))


def draw(grid: Grid, changes: RandomChanges, seed: int, tick: int, protected: npt.ArrayLike) -> Event:
    """The event of this tick, drawn over the original terrain. Protected cells are left as they are."""
    generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed & 0xFFFFFFFF, tick])))
    was_free, was_blocked = grid.original_cells
    blocked = _sample(generator, was_free, changes.rate / 200.0)
    freed = _sample(generator, was_blocked, changes.rate / 200.0)
    return Event(blocked[~np.isin(blocked, protected)], freed)


def put_in_place_of(before: Event, event: Event, grid: Grid, protected: npt.ArrayLike) -> tuple[Event, Event]:
    """What `event` does where `before` is taken back with it, to be taken back in its turn; and both as one edit."""
    back = _undoing(grid, before)
    stays = np.isin(back.blocked, protected)  # freed by the event, and now somebody stands there
    free = grid.free
    free[back.freed] = True
    free[back.blocked[~stays]] = False
    # What a user blocked or freed is not the event's to take back.
    blocked, freed = event.blocked[free[event.blocked]], event.freed[~free[event.freed]]
    free[blocked] = False
    free[freed] = True
    redrawn = np.unique(np.concatenate([back.blocked, back.freed, blocked, freed]))
    was_free, is_free = grid.are_free(redrawn), free[redrawn]
    edit = Event(redrawn[was_free & ~is_free], redrawn[is_free & ~was_free])
    return Event(blocked, np.concatenate([freed, back.blocked[stays]])), edit


def _undoing(grid: Grid, event: Event) -> Event:
    """What takes an event back: only cells that are still as it left them (a user may have edited since)."""
    return Event(event.freed[grid.are_free(event.freed)], event.blocked[~grid.are_free(event.blocked)])


def _sample(generator: np.random.Generator, cells: npt.NDArray[np.intp], share: float) -> npt.NDArray[np.int32]:
    chosen = generator.choice(cells, round(cells.size * share), replace=False, shuffle=False)
    return np.sort(chosen).astype(np.int32)
