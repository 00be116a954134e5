"""The command log of a timeline: what is applied at which tick, scripted or done by hand. Plain data.

Entries are kept by tick, those of one tick in the order in which they apply. Their numbers stay, whatever is moved.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from sim.commands import Command, Serve
from sim.time.recorded import NO_AGENT, MarkKind


@dataclass(frozen=True)
class Entry:
    """A command of the log."""

    id: int
    tick: int
    command: Command
    is_scripted: bool = False  # it came with the scenario
    is_enabled: bool = True
    stroke: int = 0  # what was done at once has one number here, the id of its first entry; 0: of the script


def placed(entries: Iterable[Entry], entry: Entry) -> list[Entry]:
    """The log with an entry put in, or in the place of the one with its id; behind all others of its tick."""
    log = list(entries)
    place = next((i for i, old in enumerate(log) if old.id == entry.id), None)
    if place is not None and log[place].tick == entry.tick:
        log[place] = entry
        return log
    if place is not None:
        del log[place]
    log.insert(end_of(log, entry.tick), entry)
    return log


def end_of(entries: list[Entry], tick: int) -> int:
    """The place behind the last entry of this tick."""
    return bisect_right(entries, tick, key=lambda entry: entry.tick)


class Numbers:
    """Numbers for entries, one after the other; the timelines of one tree share them."""

    def __init__(self) -> None:
        self._last = 0

    def next(self) -> int:
        self._last += 1
        return self._last

    def skip(self, number: int) -> None:
        """Give out only numbers above this one."""
        self._last = max(self._last, number)


def last_tick(entries: Iterable[Entry]) -> int:
    return max((entry.tick for entry in entries if entry.is_enabled), default=0)


def edit_marks(entries: list[Entry], first: int, last: int) -> list[tuple[int, int, int]]:
    """(tick, agent, kind) of the commands from tick `first` to tick `last`, both included."""
    places = (bisect_left(entries, first, key=lambda entry: entry.tick), end_of(entries, last))
    return [
        (entry.tick, _agent_of(entry.command), int(MarkKind.EDIT))
        for entry in entries[slice(*places)]
        if entry.is_enabled and not isinstance(entry.command, Serve)
    ]


def _agent_of(command: Command) -> int:
    agent = getattr(command, "agent", None)
    return NO_AGENT if agent is None else int(agent)
