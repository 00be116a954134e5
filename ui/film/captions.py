"""Texts of captions about edits and restarts. This module does not import pygame.

The texts depend only on the commands of the branches and the marks of their timelines, so every replay has the same
captions.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sim.commands import Command, together
from sim.time.branches import Branch
from sim.time.recorded import MarkKind
from sim.time.timeline import Timeline
from ui.model.wording import RunNames

_MAX_NAMES = 3  # maximum number of agents named in a caption; more are only counted


@dataclass(frozen=True)
class Happening:
    """One caption: a text, and the tick at which its event is first visible."""

    tick: int
    text: str

    def __str__(self) -> str:
        return f"tick {self.tick:,}: {self.text}"


def happenings_of(branches: Sequence[Branch], after: int, until: int) -> list[Happening]:
    """Return captions of the edits and restarts in a range of ticks, sorted by tick, edits first.

    Args:
        branches: Branches on screen. The names of the branches precede an event that did not happen in all of them.
        after: Tick before the first one of the range.
        until: Last tick of the range.
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
    """Yield (tick, caption) for all events of one branch."""
    yield from _edits(timeline, after, until)
    yield from _restart_captions(timeline, after, until)


# --- commands -------------------------------------------------------------------------------------


def _edits(timeline: Timeline, after: int, until: int) -> Iterable[tuple[int, str]]:
    """Yield (tick, caption) for the edits of one branch; similar edits of one tick share a caption."""
    by_tick: dict[int, list[Command]] = {}
    for entry in timeline.entries():
        if entry.is_enabled and after < entry.tick <= until:
            by_tick.setdefault(entry.tick, []).append(entry.command)
    names = RunNames(timeline)
    for tick, done in by_tick.items():
        for command in together(done):
            yield tick, command.say(names)


# --- agents ---------------------------------------------------------------------------------------


def _restart_captions(timeline: Timeline, after: int, until: int) -> Iterable[tuple[int, str]]:
    """Yield one caption per tick that names or counts the agents that restarted their search."""
    names = RunNames(timeline)
    by_tick: dict[int, list[str]] = {}
    for tick, agent, _ in timeline.marks(after + 1, until, (MarkKind.RESTART,)).tolist():
        by_tick.setdefault(tick, []).append(names.agent(agent))
    for tick, labels in by_tick.items():
        who = ", ".join(labels) if len(labels) <= _MAX_NAMES else f"{len(labels)} agents"
        yield tick, f"{who} {'restarts' if len(labels) == 1 else 'restart'}"
