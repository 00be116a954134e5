"""Records of a run: where each agent was after every tick, and marks to jump to.

A record covers the whole run, so trails, charts and marks need no replay. It takes 16 bytes per tick and agent.
"""

from bisect import bisect_left
from collections.abc import Sequence
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from sim.kernels import log


class MarkKind(IntEnum):
    """Kinds of marks on the timeline: events of a run to which a user can jump."""

    EDIT = 0
    RESTART = 1
    BACK_MOVE = 2
    NO_PATH = 3
    ARRIVAL = 4


MARK_DTYPE = np.dtype([("tick", "i4"), ("agent", "i4"), ("kind", "i4")])
NO_AGENT = -1

_KIND_BY_BIT = (
    (log.RESTARTED, int(MarkKind.RESTART)),
    (log.BACK_MOVE, int(MarkKind.BACK_MOVE)),
    (log.ARRIVED, int(MarkKind.ARRIVAL)),
)
_MARK_BITS = sum(bit for bit, _ in _KIND_BY_BIT)
_KINDS_BY_BITS = tuple([kind for bit, kind in _KIND_BY_BIT if bits & bit] for bits in range(_MARK_BITS + 1))
"""Kinds of marks of a row, indexed by the value of its bits in _MARK_BITS."""


class AgentRecord:
    """Record of one agent: a row (log.ROW) per tick, starting with the tick in which it was put on the map."""

    def __init__(self, agent: int, label: str, kind: str, joined: int, start: int) -> None:
        self.agent, self.label, self.kind = agent, label, kind
        self.joined_tick = joined  # tick in which the agent was put on the map
        self.start_cell = start  # cell on which the agent was put
        self.active_spans: list[tuple[int, int]] = []  # half-open ranges of ticks in which the agent was active
        self.truncation_count = 0  # number of truncations; while it is unchanged, rows are only appended
        self._row_buffer = log.new_plain_tick_log(256)
        self._row_count = 0

    @property
    def log_rows(self) -> npt.NDArray[np.void]:
        """Return one row (log.ROW) per tick, from `joined_tick` to the last active tick; inactive ticks are waits."""
        return self._row_buffer[: self._row_count]

    @property
    def end(self) -> int:
        """Return the tick after the last row; the agent has been inactive since then."""
        return self.joined_tick + self._row_count

    def rows_before_tick(self, tick: int) -> npt.NDArray[np.void]:
        """Return the rows of all ticks before `tick`: the ticks that are over when the clock shows `tick`."""
        return self._row_buffer[: max(0, min(self._row_count, tick - self.joined_tick))]

    def cell_at_tick(self, tick: int) -> int:
        """Return the cell on which the agent was when the clock showed `tick`."""
        rows = self.rows_before_tick(tick)
        return int(rows["cell"][-1]) if rows.size else self.start_cell

    def append(self, tick: int, rows: npt.NDArray[np.void]) -> None:
        """Append rows of consecutive ticks, starting with `tick`; fill a gap before `tick` with waits."""
        begin = tick - self.joined_tick
        end = begin + rows.size
        if end > self._row_buffer.size:
            self._grow_capacity(end)
        if begin > self._row_count:
            self._pad_with_waiting_rows(begin)
        self._row_buffer[begin:end], self._row_count = rows, end
        if self.active_spans and self.active_spans[-1][1] == tick:
            self.active_spans[-1] = (self.active_spans[-1][0], tick + rows.size)
        else:
            self.active_spans.append((tick, tick + rows.size))

    def _grow_capacity(self, needed: int) -> None:
        rows = log.new_plain_tick_log(max(needed, 2 * self._row_buffer.size))
        rows[: self._row_count] = self.log_rows
        self._row_buffer = rows

    def _pad_with_waiting_rows(self, count: int) -> None:
        """Append rows that mean waiting until there are `count` rows, for ticks in which the agent was inactive."""
        self._row_buffer[self._row_count : count] = (self.cell_at_tick(self.end), 0, 0, 0, log.WAITING)
        self._row_count = count

    def activity_end_before(self, tick: int) -> int:
        """Return 1 + the last tick before `tick` in which the agent was active; 0 if there is no such tick."""
        index = bisect_left(self.active_spans, (tick,))  # number of spans that begin before `tick`
        return min(self.active_spans[index - 1][1], tick) if index else 0

    def remove_rows_from_tick(self, tick: int) -> None:
        """Remove the rows of `tick` and all later ticks, because the run was edited at `tick`."""
        self.truncation_count += 1
        self.active_spans = [(begin, min(end, tick)) for begin, end in self.active_spans if begin < tick]
        self._row_count = self.active_spans[-1][1] - self.joined_tick if self.active_spans else 0

    def copy(self) -> "AgentRecord":
        other = AgentRecord(self.agent, self.label, self.kind, self.joined_tick, self.start_cell)
        other.active_spans = list(self.active_spans)
        other._row_buffer, other._row_count = self.log_rows.copy(), self._row_count
        return other


class MarkList:
    """Marks of a run sorted by tick: restarts, back-moves, arrivals, and proofs that an agent has no path."""

    def __init__(self) -> None:
        self._mark_buffer = np.zeros(64, MARK_DTYPE)
        self._mark_count = 0
        # Marks that are not in the array yet. The next read adds all of them, because adding them in each tick is slow.
        self._pending_marks: list[tuple[int, int, int]] = []

    @property
    def marks_array(self) -> npt.NDArray[np.void]:
        if self._pending_marks:
            self._merge_pending_marks()
        return self._mark_buffer[: self._mark_count]

    def append(self, marks: list[tuple[int, int, int]]) -> None:
        """Append marks (tick, agent, kind) sorted by tick; they must not be earlier than existing marks."""
        self._pending_marks += marks

    def _merge_pending_marks(self) -> None:
        marks, self._pending_marks = np.array(self._pending_marks, MARK_DTYPE), []
        needed = self._mark_count + marks.size
        if needed > self._mark_buffer.size:
            self._mark_buffer = np.concatenate(
                [self._mark_buffer[: self._mark_count], np.zeros(max(marks.size, self._mark_count), MARK_DTYPE)]
            )
        self._mark_buffer[self._mark_count : needed] = marks
        self._mark_count = needed

    def marks_between(self, first: int, last: int) -> npt.NDArray[np.void]:
        """Return the marks from tick `first` to tick `last`, both included."""
        ticks = self.marks_array["tick"]
        return self.marks_array[np.searchsorted(ticks, first, "left") : np.searchsorted(ticks, last, "right")]

    def remove_marks_after(self, tick: int) -> None:
        """Remove all marks after `tick`, because the run was edited at `tick`."""
        self._mark_count = int(np.searchsorted(self.marks_array["tick"], tick, "right"))

    def copy(self) -> "MarkList":
        other = MarkList()
        other._mark_buffer, other._mark_count = self.marks_array.copy(), self._mark_count
        return other


def marks_of_rows(agent: int, tick: int, rows: npt.NDArray[np.void]) -> list[tuple[int, int, int]]:
    """Return (tick, agent, kind) for each mark in the rows of one agent.

    The tick of a mark is one after the tick of its row, because the clock shows that tick when the effect is visible.

    Args:
        agent: number of the agent.
        tick: tick of the first row.
        rows: log.ROW of consecutive ticks.
    """
    marks = rows["marks"]
    found: list[tuple[int, int, int]] = []
    # np.flatnonzero takes twice as long as nonzero, and this runs in every frame.
    for index in marks.nonzero()[0].tolist():
        for kind in _KINDS_BY_BITS[marks.item(index) & _MARK_BITS]:
            found.append((tick + index + 1, agent, kind))
    return found


def marks_of_batch(agents: Sequence[int], tick: int, rows: npt.NDArray[np.void]) -> list[tuple[int, int, int]]:
    """Return (tick, agent, kind) for each mark in the rows of several agents.

    Args:
        agents: numbers of the agents.
        tick: tick of the first column of `rows`.
        rows: log.ROW[agents, ticks].
    """
    bits = rows["marks"]
    found = []
    for agent_index, tick_index in zip(*(indices.tolist() for indices in np.nonzero(bits)), strict=True):
        found += [
            (tick + tick_index + 1, agents[agent_index], kind)
            for kind in _KINDS_BY_BITS[bits[agent_index, tick_index] & _MARK_BITS]
        ]
    return found
