"""What happened in a run, in words, for captions. No pygame here.

Everything is read off the commands of the branches and the marks of their timelines, so it is the same in every
replay.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sim.commands import Command, together
from sim.time.branches import Branch
from sim.time.recorded import MarkKind
from sim.time.timeline import Timeline
from ui.model.wording import RunNames

_MOST_NAMES = 3  # more agents than that are counted, not named


@dataclass(frozen=True)
class Happening:
    """Something worth a caption, at the tick at which it is first seen."""

    tick: int
    text: str

    def __str__(self) -> str:
        return f"tick {self.tick:,}: {self.text}"


def happenings_of(branches: Sequence[Branch], after: int, until: int) -> list[Happening]:
    """Edits and restarts in the ticks after `after` up to `until`, sorted by tick, edits first.

    What happens in one of several branches only is told with its name.
    """
    found: dict[tuple[int, str], list[str]] = {}
    for branch in branches:
        for tick, text in _told(branch.timeline, after, until):
            found.setdefault((tick, text), []).append(branch.name)
    told = [
        Happening(tick, text if len(names) == len(branches) else f"{', '.join(names)}: {text}")
        for (tick, text), names in found.items()
    ]
    return sorted(told, key=lambda happening: happening.tick)


def _told(timeline: Timeline, after: int, until: int) -> Iterable[tuple[int, str]]:
    yield from _edits(timeline, after, until)
    yield from _restarts(timeline, after, until)


# --- commands -------------------------------------------------------------------------------------


def _edits(timeline: Timeline, after: int, until: int) -> Iterable[tuple[int, str]]:
    by_tick: dict[int, list[Command]] = {}
    for entry in timeline.entries():
        if entry.is_enabled and after < entry.tick <= until:
            by_tick.setdefault(entry.tick, []).append(entry.command)
    names = RunNames(timeline)
    for tick, done in by_tick.items():
        for command in together(done):
            yield tick, command.say(names)


# --- agents ---------------------------------------------------------------------------------------


def _restarts(timeline: Timeline, after: int, until: int) -> Iterable[tuple[int, str]]:
    """Who began a new search, tick by tick."""
    names = RunNames(timeline)
    by_tick: dict[int, list[str]] = {}
    for tick, agent, _ in timeline.marks(after + 1, until, (MarkKind.RESTART,)).tolist():
        by_tick.setdefault(tick, []).append(names.agent(agent))
    for tick, labels in by_tick.items():
        who = ", ".join(labels) if len(labels) <= _MOST_NAMES else f"{len(labels)} agents"
        yield tick, f"{who} {'restarts' if len(labels) == 1 else 'restart'}"
