"""Trails: the cells and measures of each agent tick by tick, from which trail, back-moves and charts are drawn."""

from typing import Any

import numpy as np
import numpy.typing as npt

from sim.grid import Grid
from sim.kernels import log
from sim.time.agent_records import AgentRecord


class Trail:
    """Growing table of one agent, with an entry for each tick; entry 0 is its start cell, before its first tick."""

    def __init__(self, start: int, tick: int, grid: Grid) -> None:
        self.first_tick = tick
        self._entry_count = 1
        self._shown_count: int | None = None  # number of visible entries while an earlier tick is shown; None: all
        # record that the entries were copied from, and its version (`AgentRecord.truncation_count` counts how often it
        # dropped rows)
        self._followed_record: tuple[AgentRecord, int] | None = None
        self._map_width, self._movement = grid.width, grid.movement
        self._is_visited = np.zeros(grid.cells, np.bool_)  # bool[cells]: whether the agent has been on each cell
        self._is_visited[start] = True
        self._cells = np.full(1024, start, np.int32)
        self._marks = np.zeros(1024, np.int16)
        self._expanded = np.zeros(1024, np.int64)
        self._total_costs = np.zeros(1024, np.float64)
        self._revisit_counts = np.zeros(1024, np.int64)

    def append_rows(self, rows: Any, tick: int | None = None) -> None:
        """Append entries for consecutive ticks.

        An agent without a path produces no rows until a map change wakes it. That gap is filled with waiting entries.

        Args:
            rows: Rows of the agent's log (dtype log.ROW), one for each of these ticks.
            tick: Tick of the first row; by default the one after the last entry.
        """
        missing = 0 if tick is None else tick - (self.first_tick + self._entry_count - 1)
        self._grow_arrays(self._entry_count + max(0, missing) + rows.size)
        if missing > 0:
            self._append_waiting_ticks(missing)
        old, new = self._entry_count, self._entry_count + rows.size
        self._cells[old:new] = rows.cell
        self._marks[old:new] = rows.marks
        self._expanded[old:new] = self._expanded[old - 1] + np.cumsum(rows.expanded)
        self._total_costs[old:new] = self._total_costs[old - 1] + np.cumsum(self._costs_of_moves(old, new))
        self._revisit_counts[old:new] = self._revisit_counts[old - 1] + np.cumsum(self._revisit_mask(old, new))
        self._entry_count = new

    def update_from_record(self, record: AgentRecord, tick: int) -> None:
        """Append the new rows of a record, and show the entries up to `tick`.

        An agent that was idle at `tick` has no entries for the ticks since its last active one. After the record has
        dropped rows, all entries are rebuilt, because the agent may have walked the same cells with other expansions
        and marks.
        """
        record_version = (record, record.truncation_count)
        if record_version != self._followed_record:
            self._is_visited[:] = False
            self._is_visited[self._cells[0]] = True
            self._entry_count, self._followed_record = 1, record_version
        copied_count = self._entry_count - 1
        if copied_count < record.log_rows.size:
            self.append_rows(record.log_rows[copied_count:].view(np.recarray))
        self._shown_count = 1 + record.rows_before_tick(record.activity_end_before(tick)).size

    def _append_waiting_ticks(self, ticks: int) -> None:
        """Append entries for ticks in which the agent waited; the arrays must have room for them."""
        old, new = self._entry_count, self._entry_count + ticks
        self._marks[old:new] = 0
        for values in (self._cells, self._expanded, self._total_costs, self._revisit_counts):
            values[old:new] = values[old - 1]
        self._entry_count = new

    def _grow_arrays(self, needed: int) -> None:
        """Double the size of the arrays until they have room for `needed` entries."""
        while needed > self._cells.size:
            for name in ("_cells", "_marks", "_expanded", "_total_costs", "_revisit_counts"):
                array = getattr(self, name)
                setattr(self, name, np.concatenate([array, np.zeros_like(array)]))

    def _costs_of_moves(self, old: int, new: int) -> npt.NDArray[np.float64]:
        """Return the cost of the move in each entry from `old` to `new`; 0 where a trial puts the agent back."""
        cells = self._cells[old - 1 : new]
        costs = self._movement.step_costs(np.diff(cells % self._map_width), np.diff(cells // self._map_width))
        paid_costs: npt.NDArray[np.float64] = np.where(self._marks[old:new] & log.TRIAL_BEGAN, 0.0, costs)
        return paid_costs

    def _revisit_mask(self, old: int, new: int) -> npt.NDArray[np.bool_]:
        """Return for each entry whether its move leads to a cell visited before; waiting in place does not count."""
        cells = self._cells[old:new]
        first = np.zeros(cells.size, np.bool_)
        first[np.unique(cells, return_index=True)[1]] = True
        is_new = first & ~self._is_visited[cells]
        self._is_visited[cells] = True
        # at the beginning of a trial, the agent is put back on its start cell, which it has visited before
        is_placed = (self._marks[old:new] & log.TRIAL_BEGAN) != 0
        moved: npt.NDArray[np.bool_] = np.diff(self._cells[old - 1 : new]) != 0
        counts: npt.NDArray[np.bool_] = (moved | is_placed) & ~is_new
        return counts

    @property
    def last_tick(self) -> int:
        """Return the tick of the last entry, which for an idle agent is its last active tick."""
        return self.first_tick + len(self) - 1

    def __len__(self) -> int:
        """Return the number of entries of the trail up to the current tick."""
        return self._entry_count if self._shown_count is None else min(self._shown_count, self._entry_count)

    @property
    def cells(self) -> npt.NDArray[np.int32]:
        """Return the agent's cell after each tick, beginning with its start."""
        return self._cells[: len(self)]

    @property
    def marks(self) -> npt.NDArray[np.int16]:
        """Return the marks of each tick, such as log.BACK_MOVE; 0 for the first entry."""
        return self._marks[: len(self)]

    @property
    def expanded(self) -> npt.NDArray[np.int64]:
        """Return the agent's total number of expansions after each tick."""
        return self._expanded[: len(self)]

    @property
    def total_costs(self) -> npt.NDArray[np.float64]:
        """Return the total cost of the agent's walk after each tick."""
        return self._total_costs[: len(self)]

    @property
    def revisit_counts(self) -> npt.NDArray[np.int64]:
        """Return the agent's total number of revisits (moves onto cells visited before) after each tick."""
        return self._revisit_counts[: len(self)]
