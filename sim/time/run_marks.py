"""Marks of a run: the commands of its log and the events of its history, to which a user can jump.

marks_of_run(timeline, first, last)    edits, restarts, back-moves, proofs of no path, arrivals; sorted by tick
next_mark_tick(timeline, tick), previous_mark_tick(timeline, tick)
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from sim.time.agent_records import MARK_DTYPE, MarkKind
from sim.time.timeline import Timeline

ALL_MARK_KINDS = tuple(MarkKind)


def marks_of_run(
    timeline: Timeline, first: int, last: int, kinds: Iterable[MarkKind] = ALL_MARK_KINDS
) -> npt.NDArray[np.void]:
    """Return the marks (MARK_DTYPE) of these kinds from tick `first` to `last` inclusive, sorted by tick."""
    kind_numbers = [int(kind) for kind in kinds]
    marks = timeline.run_history.marks.marks_between(first, last)
    if len(set(kind_numbers)) < len(MarkKind):
        marks = marks[np.isin(marks["kind"], kind_numbers)]
    edits = timeline.command_log.marks(first, last) if MarkKind.EDIT in kind_numbers else []
    if not edits:
        return marks
    both = np.concatenate([np.array(edits, MARK_DTYPE), marks])
    return both[np.argsort(both["tick"], kind="stable")]


def next_mark_tick(timeline: Timeline, tick: int, kinds: Iterable[MarkKind] = ALL_MARK_KINDS) -> int | None:
    """Return the tick of the first mark after `tick`; None if there is none."""
    marks = marks_of_run(timeline, tick + 1, 1 << 30, kinds)
    return int(marks["tick"][0]) if marks.size else None


def previous_mark_tick(timeline: Timeline, tick: int, kinds: Iterable[MarkKind] = ALL_MARK_KINDS) -> int | None:
    """Return the tick of the last mark before `tick`; None if there is none."""
    marks = marks_of_run(timeline, 0, tick - 1, kinds)
    return int(marks["tick"][-1]) if marks.size else None
