"""Where each agent has walked, tick by tick: what the trail, the back-moves and the charts are drawn from."""

import numpy as np
import numpy.typing as npt

from sim.kernels import log


class Trail:
    """A growing record of one agent's rows. Entry 0 is where it was put on the map."""

    def __init__(self, start: int, tick: int) -> None:
        self.first_tick = tick
        self._count = 1
        self._cells = np.full(1024, start, np.int32)
        self._marks = np.zeros(1024, np.int16)
        self._expanded = np.zeros(1024, np.int32)

    def append(self, rows: np.ndarray) -> None:
        needed = self._count + rows.size
        while needed > self._cells.size:
            self._cells = np.concatenate([self._cells, np.zeros_like(self._cells)])
            self._marks = np.concatenate([self._marks, np.zeros_like(self._marks)])
            self._expanded = np.concatenate([self._expanded, np.zeros_like(self._expanded)])
        self._cells[self._count : needed] = rows.cell
        self._marks[self._count : needed] = rows.marks
        self._expanded[self._count : needed] = rows.expanded
        self._count = needed

    def __len__(self) -> int:
        return self._count

    @property
    def cells(self) -> npt.NDArray[np.int32]:
        """The agent's cell after each tick, from where it started."""
        return self._cells[: self._count]

    @property
    def marks(self) -> npt.NDArray[np.int16]:
        """log.BACK_MOVE and the other marks of each tick; 0 for the first entry."""
        return self._marks[: self._count]

    @property
    def expanded(self) -> npt.NDArray[np.int32]:
        return self._expanded[: self._count]

    @property
    def is_back_move(self) -> npt.NDArray[np.bool_]:
        return (self.marks & log.BACK_MOVE) != 0
