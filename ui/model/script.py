"""The script of edits as a user sees it: a stroke of the brush is one deed, however many commands it took."""

from collections.abc import Iterable
from dataclasses import dataclass

from sim import commands
from sim.commands import Command
from sim.time.log import Entry
from sim.time.timeline import Timeline

_AGAIN_AFTER = 10  # ticks until what is done once more is done


@dataclass(frozen=True)
class Deed:
    """What was done at once, in one or more entries of the log."""

    entries: tuple[Entry, ...]

    @property
    def id(self) -> int:
        return self.entries[0].id

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(entry.id for entry in self.entries)

    @property
    def tick(self) -> int:
        return self.entries[0].tick

    @property
    def last_tick(self) -> int:
        return self.entries[-1].tick

    @property
    def is_enabled(self) -> bool:
        return self.entries[0].is_enabled

    @property
    def command(self) -> Command:
        """All of it as one command."""
        last = self.entries[-1].command
        if len(self.entries) == 1 or not isinstance(last, commands.EditCells):
            return last
        pieces = [entry.command for entry in self.entries if isinstance(entry.command, commands.EditCells)]
        blocked = dict.fromkeys(cell for piece in pieces for cell in piece.blocked)
        freed = dict.fromkeys(cell for piece in pieces for cell in piece.freed)
        return commands.EditCells(tuple(blocked), tuple(freed))


def deeds_of(entries: Iterable[Entry]) -> list[Deed]:
    """The entries of a log, those of one stroke together."""
    deeds: dict[tuple[int, int, bool], list[Entry]] = {}
    for entry in entries:
        alone = 0 if entry.stroke else entry.id
        deeds.setdefault((entry.stroke, alone, entry.is_enabled), []).append(entry)
    return [Deed(tuple(deed)) for deed in deeds.values()]


# --- changing it: the run is computed anew --------------------------------------------------------


def move(timeline: Timeline, deed: Deed, by: int) -> None:
    """Do it earlier or later; a stroke keeps its shape in time, and none of it goes before tick 0."""
    offset = max(by, -deed.tick)
    for entry in deed.entries:
        timeline.move(entry.id, entry.tick + offset)


def toggle(timeline: Timeline, deed: Deed) -> None:
    for number in deed.ids:
        timeline.set_enabled(number, not deed.is_enabled)


def delete(timeline: Timeline, deed: Deed) -> None:
    for number in deed.ids:
        timeline.delete(number)


def duplicate(timeline: Timeline, deed: Deed) -> None:
    """The same once more, a little later."""
    stroke = 0
    for entry in deed.entries:
        stroke = timeline.duplicate(entry.id, entry.tick + _AGAIN_AFTER, stroke).stroke
