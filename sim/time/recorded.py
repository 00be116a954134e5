"""What has been recorded of a run: where each agent was after every tick, and the marks worth jumping to.

A record is kept once for the whole run, so trails, charts and marks need no replay. It takes 16 bytes a tick and
agent.
"""

from bisect import bisect_left
from collections.abc import Sequence
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from sim.kernels import log


class MarkKind(IntEnum):
    EDIT = 0
    RESTART = 1
    BACK_MOVE = 2
    NO_PATH = 3
    ARRIVAL = 4


MARK = np.dtype([("tick", "i4"), ("agent", "i4"), ("kind", "i4")])
NO_AGENT = -1

_KIND_OF_BIT = (
    (log.RESTARTED, int(MarkKind.RESTART)),
    (log.BACK_MOVE, int(MarkKind.BACK_MOVE)),
    (log.ARRIVED, int(MarkKind.ARRIVAL)),
)
_MARKED = sum(bit for bit, _ in _KIND_OF_BIT)
_KINDS_OF = tuple([kind for bit, kind in _KIND_OF_BIT if bits & bit] for bits in range(_MARKED + 1))
"""By what is marked in a row."""


class Record:
    """One agent's ticks, from the one in which it was put on the map."""

    def __init__(self, agent: int, label: str, kind: str, joined: int, start: int) -> None:
        self.agent, self.label, self.kind = agent, label, kind
        self.joined = joined
        self.start = start  # the cell it was put on
        self.spans: list[tuple[int, int]] = []  # ticks (from, to) in which it was active
        self.cuts = 0  # how often something of it was forgotten: in between rows are only added
        self._rows = log.new_bare_log(256)
        self._count = 0

    @property
    def rows(self) -> npt.NDArray[np.void]:
        """log.ROW of each tick from `joined` on, up to the last in which it was active; it waits in between."""
        return self._rows[: self._count]

    @property
    def end(self) -> int:
        """The tick behind the last row; from there on nothing has happened to it."""
        return self.joined + self._count

    def rows_before(self, tick: int) -> npt.NDArray[np.void]:
        """The rows of all ticks before `tick`: what had happened when the clock showed it."""
        return self._rows[: max(0, min(self._count, tick - self.joined))]

    def cell_at(self, tick: int) -> int:
        """Where the agent stood when the clock showed `tick`."""
        rows = self.rows_before(tick)
        return int(rows["cell"][-1]) if rows.size else self.start

    def append(self, tick: int, rows: npt.NDArray[np.void]) -> None:
        """Take in rows of which the first is that of `tick`."""
        begin = tick - self.joined
        end = begin + rows.size
        if end > self._rows.size:
            self._grow_to(end)
        if begin > self._count:
            self._wait_to(begin)
        self._rows[begin:end], self._count = rows, end
        if self.spans and self.spans[-1][1] == tick:
            self.spans[-1] = (self.spans[-1][0], tick + rows.size)
        else:
            self.spans.append((tick, tick + rows.size))

    def _grow_to(self, needed: int) -> None:
        rows = log.new_bare_log(max(needed, 2 * self._rows.size))
        rows[: self._count] = self.rows
        self._rows = rows

    def _wait_to(self, count: int) -> None:
        """An agent at its end has no rows; if it goes on, it has waited in the meantime."""
        self._rows[self._count : count] = (self.cell_at(self.end), 0, 0, 0, log.WAITING)
        self._count = count

    def last_active(self, tick: int) -> int:
        """The end of its last active time before `tick`, 0 when there is none."""
        place = bisect_left(self.spans, (tick,))  # behind those that began before it
        return min(self.spans[place - 1][1], tick) if place else 0

    def truncate(self, tick: int) -> None:
        """Forget `tick` and all that follows."""
        self.cuts += 1
        self.spans = [(begin, min(end, tick)) for begin, end in self.spans if begin < tick]
        self._count = self.spans[-1][1] - self.joined if self.spans else 0

    def copy(self) -> "Record":
        other = Record(self.agent, self.label, self.kind, self.joined, self.start)
        other.spans = list(self.spans)
        other._rows, other._count = self.rows.copy(), self._count
        return other


class Marks:
    """What happened when, by tick: restarts, back-moves, arrivals, proofs that there is no path."""

    def __init__(self) -> None:
        self._marks = np.zeros(64, MARK)
        self._count = 0
        self._new: list[tuple[int, int, int]] = []  # not among them yet: a run has some in most ticks, and few look

    @property
    def all(self) -> npt.NDArray[np.void]:
        if self._new:
            self._take_in()
        return self._marks[: self._count]

    def append(self, marks: list[tuple[int, int, int]]) -> None:
        """Take in (tick, agent, kind) in the order of their ticks, none before the last one here."""
        self._new += marks

    def _take_in(self) -> None:
        marks, self._new = np.array(self._new, MARK), []
        needed = self._count + marks.size
        if needed > self._marks.size:
            self._marks = np.concatenate([self._marks[: self._count], np.zeros(max(marks.size, self._count), MARK)])
        self._marks[self._count : needed] = marks
        self._count = needed

    def between(self, first: int, last: int) -> npt.NDArray[np.void]:
        """The marks from tick `first` to tick `last`, both included."""
        ticks = self.all["tick"]
        return self.all[np.searchsorted(ticks, first, "left") : np.searchsorted(ticks, last, "right")]

    def truncate(self, tick: int) -> None:
        """Forget what is marked after `tick`."""
        self._count = int(np.searchsorted(self.all["tick"], tick, "right"))

    def copy(self) -> "Marks":
        other = Marks()
        other._marks, other._count = self.all.copy(), self._count
        return other


def marks_of_rows(agent: int, tick: int, rows: npt.NDArray[np.void]) -> list[tuple[int, int, int]]:
    """(tick, agent, kind) of what rows report; the mark stands at the tick at which it is seen, one after its row."""
    marks = rows["marks"]
    found: list[tuple[int, int, int]] = []
    for place in marks.nonzero()[0].tolist():  # np.flatnonzero takes twice as long, and this is done in every frame
        for kind in _KINDS_OF[marks.item(place) & _MARKED]:
            found.append((tick + place + 1, agent, kind))
    return found


def marks_of_all(agents: Sequence[int], tick: int, rows: npt.NDArray[np.void]) -> list[tuple[int, int, int]]:
    """The same of many agents, log.ROW[agents, ticks]."""
    bits = rows["marks"]
    found = []
    for who, when in zip(*(places.tolist() for places in np.nonzero(bits)), strict=True):
        found += [(tick + when + 1, agents[who], kind) for kind in _KINDS_OF[bits[who, when] & _MARKED]]
    return found
