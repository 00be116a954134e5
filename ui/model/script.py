"""The script of edits as a user sees it: a stroke of the brush is one deed, however many commands it took. No pygame.

A stroke over a running world is a command a tick, for each is applied when the brush was there; so is a parameter that
is turned by the wheel. Which of them belong together is read off the commands alone, so it is the same in a session
that was saved and opened again.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sim import commands
from sim.commands import Command
from sim.time.log import Entry

_STROKE_TICKS = 60  # most ticks between two pieces of one stroke
_TURN_TICKS = 30  # and between two turns of the wheel
_REACH = 2  # cells from one piece of a stroke to the next


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


def deeds_of(entries: Iterable[Entry], width: int, stroke_of: Mapping[int, int] | None = None) -> list[Deed]:
    """The entries of a log on a map of this width, those together that belong together.

    `stroke_of` says of some entries to which stroke they belong; of the others it is read off the commands.
    """
    known = stroke_of or {}
    deeds: list[list[Entry]] = []
    by_stroke: dict[tuple[int, bool], list[Entry]] = {}
    for entry in entries:
        stroke = known.get(entry.id)
        deed = by_stroke.get((stroke, entry.is_enabled)) if stroke is not None else None
        last = deeds[-1] if deeds and deeds[-1][-1].id not in known and stroke is None else None
        if deed is None and last and _continues(last[-1], entry, width):
            deed = last
        if deed is None:
            deed = []
            deeds.append(deed)
        deed.append(entry)
        if stroke is not None:
            by_stroke[stroke, entry.is_enabled] = deed
    return [Deed(tuple(deed)) for deed in deeds]


def _continues(last: Entry, entry: Entry, width: int) -> bool:
    if last.is_scripted or entry.is_scripted or last.is_enabled != entry.is_enabled:
        return False
    passed = entry.tick - last.tick
    match last.command, entry.command:
        case commands.EditCells(a_blocked, a_freed), commands.EditCells(b_blocked, b_freed):
            is_same_kind = bool(a_blocked) == bool(b_blocked) and bool(a_freed) == bool(b_freed)
            return (
                is_same_kind and passed <= _STROKE_TICKS and _touch(a_blocked or a_freed, b_blocked or b_freed, width)
            )
        case commands.SetParam(agent, name, _), commands.SetParam(other, other_name, _):
            return passed <= _TURN_TICKS and (agent, name) == (other, other_name)
        case commands.SetBudget(_, agent), commands.SetBudget(_, other):
            return passed <= _TURN_TICKS and agent == other
    return False


@lru_cache(maxsize=8192)  # the script is looked at in every frame
def _touch(a: tuple[int, ...], b: tuple[int, ...], width: int) -> bool:
    """Whether some cell of one is at most _REACH from some cell of the other."""
    if not a or not b:
        return False
    (ay, ax), (by, bx) = (np.divmod(np.asarray(cells, np.int64), width) for cells in (a, b))
    near = (np.abs(ax[:, None] - bx) <= _REACH) & (np.abs(ay[:, None] - by) <= _REACH)
    return bool(near.any())
