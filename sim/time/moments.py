"""What is worth seeing in a run, found in what was recorded of it: nothing is run again.

    largest_scrub(record, last)         the longest stretch of moves onto cells that the agent had stood on before
    dearest_tick(record, last)          the tick with most expansions
    dearest_restart(record, last)       the restart after which most was expanded until the next one
    parting(one, other, last)           the first tick at which two agents stand on different cells, or differ otherwise
    first_difference(timeline, other, last)     the same of two branches: the first command or agent that differs

`last` is how far to look; of a tick that was not recorded nothing is said. A tick t that is told of shows what
happened in the tick before it, as the clock of the window does.
"""

from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
import numpy.typing as npt

from sim.kernels import log
from sim.time.log import Entry
from sim.time.recorded import Record
from sim.time.timeline import Timeline

Cells = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Scrub:
    begin: int  # what the clock shows before its first move
    end: int  # and after its last one
    moves: int
    cells: int  # different ones that it went over


@dataclass(frozen=True)
class Dearest:
    """A tick, and the expansions that it cost: in it, or from it on."""

    tick: int
    expansions: int


@dataclass(frozen=True)
class Parting:
    """Where two agents first differ. The clock shows `tick` after that."""

    tick: int
    what: str  # "cell", "expansions", "marks", "phase", or "start"
    one: int  # the two values
    other: int


@dataclass(frozen=True)
class Difference:
    """What two branches first differ in: a command that only one of them has, or an agent."""

    tick: int
    entry: Entry | None = None
    is_own: bool = False  # whether the command is that of the first branch
    agent: int = -1
    parting: Parting | None = None


# --- of one agent ---------------------------------------------------------------------------------


def largest_scrub(record: Record, last: int) -> Scrub | None:
    rows = record.rows_before(last)
    if not rows.size:
        return None
    cells = np.concatenate([[record.start], rows["cell"]])
    begins = np.concatenate([[False], (rows["marks"] & log.TRIAL) != 0])
    is_new = _first_visits(cells, np.cumsum(begins))
    moves = 1 + np.flatnonzero((cells[1:] != cells[:-1]) & ~begins[1:])
    begin, end = _longest_run(~is_new[moves])
    if begin == end:
        return None
    first, final = int(moves[begin]), int(moves[end - 1])
    different = np.unique(cells[moves[begin:end]]).size
    return Scrub(record.joined + first - 1, record.joined + final, end - begin, int(different))


def _first_visits(cells: Cells, trials: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Whether each place is the first at which its cell stands within its trial."""
    found = np.zeros(cells.size, bool)
    _, firsts = np.unique(np.stack([trials, cells]), axis=1, return_index=True)
    found[firsts] = True
    return found


def _longest_run(flags: npt.NDArray[np.bool_]) -> tuple[int, int]:
    """From and to of the longest stretch of true ones, the first of several."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    begins, ends = edges[::2], edges[1::2]
    if not begins.size:
        return 0, 0
    longest = int(np.argmax(ends - begins))
    return int(begins[longest]), int(ends[longest])


def dearest_tick(record: Record, last: int) -> Dearest | None:
    expanded = record.rows_before(last)["expanded"]
    if not expanded.size or not expanded.max():
        return None
    place = int(np.argmax(expanded))
    return Dearest(record.joined + place + 1, int(expanded[place]))


def dearest_restart(record: Record, last: int) -> Dearest | None:
    rows = record.rows_before(last)
    places = np.flatnonzero(rows["marks"] & log.RESTARTED)
    if not places.size:
        return None
    sums = np.add.reduceat(rows["expanded"].astype(np.int64), places)
    dearest = int(np.argmax(sums))
    return Dearest(record.joined + int(places[dearest]) + 1, int(sums[dearest]))


# --- of two ---------------------------------------------------------------------------------------

_FIELDS = (("cell", "cell"), ("expanded", "expansions"), ("marks", "marks"), ("phase", "phase"))


def parting(one: Record, other: Record, last: int, *, in_cells_first: bool = True) -> Parting | None:
    """Where they first stand apart; if they never do, where they first differ in anything else.

    Without `in_cells_first` whatever comes first counts: two branches of one agent differ in nothing until they do.
    """
    begin = max(one.joined, other.joined)
    if one.cell_at(begin) != other.cell_at(begin):
        return Parting(begin, "start", one.cell_at(begin), other.cell_at(begin))
    found = [p for name, what in _FIELDS if (p := _first_unequal(one, other, begin, last, name, what))]
    if not found:
        return None
    return found[0] if in_cells_first else min(found, key=lambda parting: parting.tick)


def _first_unequal(one: Record, other: Record, begin: int, last: int, name: str, what: str) -> Parting | None:
    a, b = (_values(record, begin, last, name) for record in (one, other))
    places = np.flatnonzero(a != b)
    if not places.size:
        return None
    place = int(places[0])
    return Parting(begin + place + 1, what, int(a[place]), int(b[place]))


def _values(record: Record, begin: int, last: int, name: str) -> npt.NDArray[np.int64]:
    """Of each tick from `begin` to before `last`; who is at its end stays on its cell and does nothing."""
    rows = record.rows_before(last)[max(0, begin - record.joined) :]
    values = np.zeros(max(0, last - begin), np.int64)
    values[: rows.size] = rows[name]
    if name == "cell":
        values[rows.size :] = record.cell_at(last)
    return values


def first_difference(timeline: Timeline, other: Timeline, last: int) -> Difference | None:
    """What comes first; a command comes before what agents do in its tick."""
    found = [_first_command(timeline, other, last), *_agents_apart(timeline, other, last)]
    return min((d for d in found if d is not None), key=lambda d: (d.tick, d.entry is None), default=None)


def _first_command(timeline: Timeline, other: Timeline, last: int) -> Difference | None:
    logs = [[e for e in line.entries() if e.is_enabled and e.tick < last] for line in (timeline, other)]
    for own, theirs in zip_longest(*logs):
        if own is None or theirs is None or (own.tick, own.command) != (theirs.tick, theirs.command):
            return _earlier(own, theirs)
    return None


def _earlier(own: Entry | None, theirs: Entry | None) -> Difference:
    """Of two commands that are not the same the earlier one is in one branch only."""
    is_own = theirs is None or (own is not None and own.tick <= theirs.tick)
    entry = own if is_own else theirs
    assert entry is not None
    return Difference(entry.tick, entry, is_own)


def _agents_apart(timeline: Timeline, other: Timeline, last: int) -> list[Difference]:
    apart = []
    for agent in timeline.records.keys() & other.records.keys():
        found = parting(timeline.records[agent], other.records[agent], last, in_cells_first=False)
        if found is not None:
            apart.append(Difference(found.tick, agent=agent, parting=found))
    return sorted(apart, key=lambda difference: (difference.tick, difference.agent))
