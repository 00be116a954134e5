"""Captions of videos, about edits of the run and restarts of agents. This module does not import pygame.

Captions depend only on the commands and the recorded events of the branches, so every replay of a run has the same
captions.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sim.time.agent_records import MarkKind
from sim.time.branches import Branch
from sim.time.run_marks import marks_of_run
from sim.time.timeline import Timeline
from sim.world_commands import Command, merge_commands
from ui.model.panel_texts import RunNames

_MAX_NAMES = 3  # maximum number of agents listed by name in a caption; a larger number is only counted


@dataclass(frozen=True)
class Caption:
    """Caption of one event: the text, and the first tick that shows the effect of the event."""

    tick: int
    text: str

    def __str__(self) -> str:
        return f"tick {self.tick:,}: {self.text}"


def captions_of_branches(branches: Sequence[Branch], after: int, until: int) -> list[Caption]:
    """Return captions of the edits and restarts in a range of ticks, sorted by tick, edits first.

    Args:
        branches: Branches on screen. Captions of events that are not in all branches start with the branch names.
        after: Tick before the first tick of the range.
        until: Last tick of the range.
    """
    branch_names: dict[tuple[int, str], list[str]] = {}
    for branch in branches:
        for tick, text in _event_captions(branch.timeline, after, until):
            branch_names.setdefault((tick, text), []).append(branch.name)
    captions = [
        Caption(tick, text if len(names) == len(branches) else f"{', '.join(names)}: {text}")
        for (tick, text), names in branch_names.items()
    ]
    return sorted(captions, key=lambda caption: caption.tick)


def _event_captions(timeline: Timeline, after: int, until: int) -> Iterable[tuple[int, str]]:
    """Yield (tick, caption) for all edits and restarts of one branch."""
    yield from _edit_captions(timeline, after, until)
    yield from _restart_captions(timeline, after, until)


# --- commands -------------------------------------------------------------------------------------


def _edit_captions(timeline: Timeline, after: int, until: int) -> Iterable[tuple[int, str]]:
    """Yield (tick, caption) for the edits of one branch, with one caption for similar edits at the same tick."""
    by_tick: dict[int, list[Command]] = {}
    for entry in timeline.command_log.entries:
        if entry.is_enabled and after < entry.tick <= until:
            by_tick.setdefault(entry.tick, []).append(entry.command)
    names = RunNames(timeline)
    for tick, done in by_tick.items():
        for command in merge_commands(done):
            yield tick, command.describe_change(names)


# --- agents ---------------------------------------------------------------------------------------


def _restart_captions(timeline: Timeline, after: int, until: int) -> Iterable[tuple[int, str]]:
    """Yield one caption per tick that names or counts the agents that restarted their search."""
    names = RunNames(timeline)
    by_tick: dict[int, list[str]] = {}
    for tick, agent, _ in marks_of_run(timeline, after + 1, until, (MarkKind.RESTART,)).tolist():
        by_tick.setdefault(tick, []).append(names.agent_name(agent))
    for tick, labels in by_tick.items():
        agents_text = ", ".join(labels) if len(labels) <= _MAX_NAMES else f"{len(labels)} agents"
        yield tick, f"{agents_text} {'restarts' if len(labels) == 1 else 'restart'}"
