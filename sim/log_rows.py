"""Log rows that an agent wrote in the last call of `World.advance`. A row (log.ROW) says what it did in one tick.

An agent that acts alone has rows of its own (`UnbatchedRows`). Agents that act together in a kernel call share an array
of rows, of which each agent has a part. Readers use the interface `RecentRows`, which both have.
"""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sim.kernels import log

NO_LOG_ROWS = log.new_plain_tick_log(0)


class RecentRows(Protocol):
    """Rows of one agent from the last advance, and facts about its last row, which may be of an earlier advance."""

    @property
    def rows(self) -> npt.NDArray[Any]:
        """Return the rows as a plain structured array: log.ROW[ticks]."""

    @property
    def tick(self) -> int:
        """Return the world tick of the first row in `rows`."""

    @property
    def phase(self) -> int:
        """Return the phase of the last row, a constant such as log.WAITING."""

    @property
    def last_budget(self) -> int:
        """Return the maximum number of expansions that was allowed in the tick of the last row."""

    def as_unbatched_rows(self) -> "UnbatchedRows":
        """Return the same rows and facts as rows that belong to the agent alone."""


class UnbatchedRows:
    """Rows of an agent that acts alone. During an advance they are collected in `row_arrays`, one array per call."""

    __slots__ = ("last_budget", "phase", "row_arrays", "rows", "tick")

    def __init__(
        self, rows: npt.NDArray[Any] = NO_LOG_ROWS, tick: int = 0, phase: int = log.WAITING, budget: int = 0
    ) -> None:
        self.rows, self.tick, self.phase, self.last_budget = rows, tick, phase, budget
        self.row_arrays: list[npt.NDArray[Any]] = []  # arrays of rows that were written so far in the present advance

    def as_unbatched_rows(self) -> "UnbatchedRows":
        return self

    def append(self, rows: npt.NDArray[Any], tick: int, budget: int) -> None:
        """Add rows of the present advance; rows of later calls can be read after `join_row_arrays`.

        Args:
            rows: rows written by the agent and judged by the referee.
            tick: world tick of the first of these rows.
            budget: expansions per tick in these ticks.
        """
        if not self.row_arrays:
            self.rows, self.tick = rows, tick
        self.row_arrays.append(rows)
        self.phase, self.last_budget = rows["phase"].item(-1), budget

    def join_row_arrays(self) -> None:
        """Join the pieces at the end of an advance, once, because a long advance has thousands of them."""
        if len(self.row_arrays) > 1:
            self.rows = np.concatenate(self.row_arrays)
        self.row_arrays = []

    def discard_rows(self) -> None:
        """Discard the rows when the next advance begins."""
        if self.rows.size:
            self.rows = NO_LOG_ROWS
        if self.row_arrays:
            self.row_arrays = []
