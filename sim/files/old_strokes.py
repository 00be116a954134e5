"""Which entries of a log were one stroke, in files that do not say it: sessions and journals before strokes were kept.

A stroke over a running world is a command a tick, for each is applied when the brush was there; so is a parameter that
is turned by the wheel. What follows on another in time and place is taken for one stroke with it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from sim.commands import EditCells, SetBudget, SetParam
from sim.files.log import UNKNOWN
from sim.time.log import Entry

_STROKE_TICKS = 60  # most ticks between two pieces of one stroke
_TURN_TICKS = 30  # and between two turns of the wheel
_REACH = 2  # cells from one piece of a stroke to the next


def with_strokes(logs: Sequence[Sequence[Entry]], width: int) -> list[tuple[Entry, ...]]:
    """The logs of branches on a map of this width, every entry with its stroke. What they share stays shared."""
    known: dict[int, Entry] = {}  # by the identity of the entry that was read
    for log in logs:
        _guess(log, width, known)
    return [tuple(known.get(id(entry), entry) for entry in log) for log in logs]


def _guess(log: Iterable[Entry], width: int, known: dict[int, Entry]) -> None:
    last: Entry | None = None
    for entry in log:
        if entry.stroke == UNKNOWN and id(entry) not in known:
            goes_on = last is not None and _continues(last, entry, width)
            known[id(entry)] = replace(entry, stroke=last.stroke if last is not None and goes_on else entry.id)
        last = known.get(id(entry), entry)


def _continues(last: Entry, entry: Entry, width: int) -> bool:
    if last.is_scripted or last.is_enabled != entry.is_enabled:
        return False
    passed = entry.tick - last.tick
    match last.command, entry.command:
        case EditCells(a_blocked, a_freed), EditCells(b_blocked, b_freed):
            is_same_kind = bool(a_blocked) == bool(b_blocked) and bool(a_freed) == bool(b_freed)
            return (
                is_same_kind and passed <= _STROKE_TICKS and _touch(a_blocked or a_freed, b_blocked or b_freed, width)
            )
        case SetParam(agent, name, _), SetParam(other, other_name, _):
            return passed <= _TURN_TICKS and (agent, name) == (other, other_name)
        case SetBudget(_, agent), SetBudget(_, other):
            return passed <= _TURN_TICKS and agent == other
    return False


def _touch(a: tuple[int, ...], b: tuple[int, ...], width: int) -> bool:
    """Whether some cell of one is at most _REACH from some cell of the other."""
    if not a or not b:
        return False
    (ay, ax), (by, bx) = (np.divmod(np.asarray(cells, np.int64), width) for cells in (a, b))
    near = (np.abs(ax[:, None] - bx) <= _REACH) & (np.abs(ay[:, None] - by) <= _REACH)
    return bool(near.any())
