"""Where each agent has walked, tick by tick: what the trail, the back-moves and the charts are drawn from."""

from typing import Any

import numpy as np
import numpy.typing as npt

from sim.grid import Grid
from sim.kernels import log
from sim.time.recorded import Record


class Trail:
    """A growing record of one agent's ticks. Entry 0 is where it was put on the map."""

    def __init__(self, start: int, tick: int, grid: Grid) -> None:
        self.first_tick = tick
        self._count = 1
        self._shown: int | None = None  # entries to be seen, when the clock shows an earlier tick
        self._followed: tuple[Record, int] | None = None  # the record that it was made from, see Record.cuts
        self._width, self._diagonal = grid.width, grid.diagonal
        self._seen = np.zeros(grid.cells, np.bool_)
        self._seen[start] = True
        self._cells = np.full(1024, start, np.int32)
        self._marks = np.zeros(1024, np.int16)
        self._expanded = np.zeros(1024, np.int64)
        self._cost = np.zeros(1024, np.float64)
        self._revisits = np.zeros(1024, np.int64)

    def append(self, rows: Any, tick: int | None = None) -> None:
        """Take in the rows of some ticks, the first of which is `tick` (by default the next one).

        An agent without a path reports nothing until a change wakes it; it is noted as waiting for that long.
        """
        missing = 0 if tick is None else tick - (self.first_tick + self._count - 1)
        self._make_room(self._count + max(0, missing) + rows.size)
        if missing > 0:
            self._wait(missing)
        old, new = self._count, self._count + rows.size
        self._cells[old:new] = rows.cell
        self._marks[old:new] = rows.marks
        self._expanded[old:new] = self._expanded[old - 1] + np.cumsum(rows.expanded)
        self._cost[old:new] = self._cost[old - 1] + np.cumsum(self._move_costs(old, new))
        self._revisits[old:new] = self._revisits[old - 1] + np.cumsum(self._is_revisit(old, new))
        self._count = new

    def follow(self, record: Record, tick: int) -> None:
        """Take in what is new in a record of ticks, and show what had happened when the clock showed `tick`. Who was at
        its end by then has no entries for the ticks in which it waited for what came later.

        What was taken in stays right until the record forgets something: the same cells may be walked with other
        expansions and marks then.
        """
        followed = (record, record.cuts)
        if followed != self._followed:
            self._seen[:] = False
            self._seen[self._cells[0]] = True
            self._count, self._followed = 1, followed
        taken = self._count - 1
        if taken < record.rows.size:
            self.append(record.rows[taken:].view(np.recarray))
        self._shown = 1 + record.rows_before(record.last_active(tick)).size

    def _wait(self, ticks: int) -> None:
        """Ticks in which nothing happened. There is room for them."""
        old, new = self._count, self._count + ticks
        self._marks[old:new] = 0
        for values in (self._cells, self._expanded, self._cost, self._revisits):
            values[old:new] = values[old - 1]
        self._count = new

    def _make_room(self, needed: int) -> None:
        while needed > self._cells.size:
            for name in ("_cells", "_marks", "_expanded", "_cost", "_revisits"):
                array = getattr(self, name)
                setattr(self, name, np.concatenate([array, np.zeros_like(array)]))

    def _move_costs(self, old: int, new: int) -> npt.NDArray[np.float64]:
        cells = self._cells[old - 1 : new]
        dx = np.abs(np.diff(cells % self._width))
        dy = np.abs(np.diff(cells // self._width))
        costs = np.where(dx & dy, self._diagonal, (dx | dy).astype(np.float64))
        paid: npt.NDArray[np.float64] = np.where(self._marks[old:new] & log.TRIAL, 0.0, costs)
        return paid

    def _is_revisit(self, old: int, new: int) -> npt.NDArray[np.bool_]:
        """Moves onto a cell stood on before. Waiting in place is none."""
        cells = self._cells[old:new]
        first = np.zeros(cells.size, np.bool_)
        first[np.unique(cells, return_index=True)[1]] = True
        is_new = first & ~self._seen[cells]
        self._seen[cells] = True
        is_placed = (self._marks[old:new] & log.TRIAL) != 0  # for its next trial: onto the start, which it knows
        moved: npt.NDArray[np.bool_] = np.diff(self._cells[old - 1 : new]) != 0
        counts: npt.NDArray[np.bool_] = (moved | is_placed) & ~is_new
        return counts

    @property
    def last_tick(self) -> int:
        """The tick of the last entry. An agent at its end has none after that."""
        return self.first_tick + len(self) - 1

    def __len__(self) -> int:
        """The entries up to the present tick."""
        return self._count if self._shown is None else min(self._shown, self._count)

    @property
    def cells(self) -> npt.NDArray[np.int32]:
        """The agent's cell after each tick, from where it started."""
        return self._cells[: len(self)]

    @property
    def marks(self) -> npt.NDArray[np.int16]:
        """log.BACK_MOVE and the other marks of each tick; 0 for the first entry."""
        return self._marks[: len(self)]

    @property
    def expanded(self) -> npt.NDArray[np.int64]:
        """Expansions so far, after each tick."""
        return self._expanded[: len(self)]

    @property
    def cost(self) -> npt.NDArray[np.float64]:
        """Cost walked so far, after each tick."""
        return self._cost[: len(self)]

    @property
    def revisits(self) -> npt.NDArray[np.int64]:
        """Revisits so far, after each tick."""
        return self._revisits[: len(self)]
