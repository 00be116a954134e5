"""Guess the strokes of a log, for sessions and journals of older versions, which did not store strokes.

A stroke is the group of entries that one action of the user created. In a running world, a stroke of the brush consists
of one command for each tick in which the brush moved, and changing a parameter with the mouse wheel also gives several
commands. Entries that are close in time and on the map are taken as one stroke.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from sim.commands import EditCells, SetBudget, SetParam
from sim.files.log_entries import UNKNOWN_STROKE
from sim.time.log import LogEntry

_STROKE_TICKS = 60  # maximum number of ticks between two successive log entries of one brush stroke
_WHEEL_TICKS = 30  # maximum number of ticks between two turns of the mouse wheel that count as one stroke
_MAX_CELL_GAP = 2  # maximum distance in cells, along x and y, between successive log entries of one brush stroke


def guess_strokes(logs: Sequence[Sequence[LogEntry]], width: int) -> list[tuple[LogEntry, ...]]:
    """Return the logs of all branches with a stroke set in every entry; entry objects shared by logs stay shared.

    Args:
        logs: entries of each branch.
        width: width of the map.
    """
    known: dict[int, LogEntry] = {}  # id() of an entry as read -> the same entry with its guessed stroke
    for log in logs:
        _guess_strokes_of_log(log, width, known)
    return [tuple(known.get(id(entry), entry) for entry in log) for log in logs]


def _guess_strokes_of_log(log: Iterable[LogEntry], width: int, known: dict[int, LogEntry]) -> None:
    last: LogEntry | None = None
    for entry in log:
        if entry.stroke == UNKNOWN_STROKE and id(entry) not in known:
            is_continued = last is not None and _continues_stroke(last, entry, width)
            known[id(entry)] = replace(entry, stroke=last.stroke if last is not None and is_continued else entry.id)
        last = known.get(id(entry), entry)


def _continues_stroke(last: LogEntry, entry: LogEntry, width: int) -> bool:
    if last.is_scripted or last.is_enabled != entry.is_enabled:
        return False
    passed = entry.tick - last.tick
    match last.command, entry.command:
        case EditCells(a_blocked, a_freed), EditCells(b_blocked, b_freed):
            is_same_kind = bool(a_blocked) == bool(b_blocked) and bool(a_freed) == bool(b_freed)
            return (
                is_same_kind
                and passed <= _STROKE_TICKS
                and _are_cells_near(a_blocked or a_freed, b_blocked or b_freed, width)
            )
        case SetParam(agent, name, _), SetParam(other, other_name, _):
            return passed <= _WHEEL_TICKS and (agent, name) == (other, other_name)
        case SetBudget(_, agent), SetBudget(_, other):
            return passed <= _WHEEL_TICKS and agent == other
    return False


def _are_cells_near(a: tuple[int, ...], b: tuple[int, ...], width: int) -> bool:
    """Return whether a cell of `a` is at most _MAX_CELL_GAP from a cell of `b`, along both axes."""
    if not a or not b:
        return False
    (ay, ax), (by, bx) = (np.divmod(np.asarray(cells, np.int64), width) for cells in (a, b))
    is_near = (np.abs(ax[:, None] - bx) <= _MAX_CELL_GAP) & (np.abs(ay[:, None] - by) <= _MAX_CELL_GAP)
    return bool(is_near.any())
