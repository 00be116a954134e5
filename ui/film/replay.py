"""A run as plain data, and the same run again: what a recording needs to draw it somewhere else.

A run is what it began with and the commands of its branches; everything else follows. So another process, or a
command without a window, makes the same pictures as the window, and the window need not wait for it. No pygame here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sim.files.scenario import Scenario
from sim.files.session import Saved
from sim.params import ConfigError, did_you_mean
from sim.time.branches import ROOT, BranchState, BranchTree
from sim.time.timeline import Timeline
from ui.film.captions import Happening, happenings_of
from ui.model import files
from ui.model.keys import NOBODY, PanelKey
from ui.model.look import Look
from ui.model.session import Session

KEYFRAME_BYTES = 64 * 1024 * 1024
"""Memory for winding back: a recording seldom does."""


@dataclass(frozen=True, eq=False)
class Replay:
    """What a run began with, and those of its branches that are shown, the focused one named."""

    scenario: Scenario  # what it began with
    branches: tuple[BranchState, ...] = ()  # with all their commands; empty: one, with the script of the scenario
    focused: int = ROOT

    def begin(self) -> "ReplaySession":
        return ReplaySession(self)

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(state.number for state in self.branches) or (ROOT,)


def replay_of(session: Session, branches: Sequence[int] | None = None) -> Replay:
    """The run of a session: the branches that are on screen, or some others, with all commands they have now."""
    return Replay(session.scenario, states_of(session, branches), session.branch)


def states_of(session: Session, branches: Sequence[int] | None = None) -> tuple[BranchState, ...]:
    """The branches as plain values, from tick 0 and with nothing known of their future but their commands."""
    chosen = session.shown if branches is None else branches
    return _at_tick_0([session.tree.state(number) for number in chosen])


def _at_tick_0(states: Sequence[BranchState]) -> tuple[BranchState, ...]:
    there = {state.number for state in states}
    return tuple(
        replace(state, tick=0, horizon=0, parent=state.parent if state.parent in there else None) for state in states
    )


def replay_of_saved(saved: Saved, path: Path | None = None, chosen: Sequence[str] = ()) -> Replay:
    """The run of a session file: the branches that were on screen, or those chosen by name or number."""
    states = {branch.state.number: branch.state for branch in saved.branches}
    numbers = [_number_of(name, states) for name in chosen] or list(saved.shown) or [saved.branch]
    branches = _at_tick_0([states[number] for number in dict.fromkeys(numbers)])
    return Replay(files.titled(saved.scenario, path), branches, numbers[0])


def _number_of(name: str, states: Mapping[int, BranchState]) -> int:
    """The branch that a name or a number means."""
    if name.isdecimal() and int(name) in states:
        return int(name)
    found = [state.number for state in states.values() if state.name == name]
    if found:
        return found[0]
    raise ConfigError(f"branch: no branch '{name}'{did_you_mean(name, [s.name for s in states.values()])}")


class ReplaySession(Session):
    """A session that goes through a replay. Nobody edits it, nothing in it has the focus."""

    measures_at_once = True

    def __init__(self, replay: Replay) -> None:
        self.replay = replay
        self.front = 0  # the panel that a heat map A - B takes for A
        super().__init__(replay.scenario)

    def _build(self, scenario: Scenario) -> None:
        super()._build(scenario)
        if self.replay.branches:
            self.tree = BranchTree.restored(self.maker(scenario), self.replay.branches, KEYFRAME_BYTES)
        self.shown = list(self.replay.numbers)
        self.branch = self.replay.focused if self.replay.focused in self.shown else self.shown[0]
        self.seek(0)

    # --- nobody looks -----------------------------------------------------------------------------

    @property
    def focused_key(self) -> PanelKey:
        return NOBODY

    @focused_key.setter
    def focused_key(self, key: PanelKey) -> None:
        """A session keeps the focus on a panel that is there; here it stays with nobody."""

    def _keep_focus(self) -> None:
        """There is none."""

    def panel_of(self, key: PanelKey) -> int:
        return self.front if key == NOBODY else super().panel_of(key)

    @property
    def has_unsaved_edits(self) -> bool:
        return False

    def wear(self, look: Look) -> None:
        """Put the panels in the order of a look."""
        self.front = look.front
        self.order = list(look.order)
        self.changed()

    # --- time and commands ------------------------------------------------------------------------

    @property
    def timelines(self) -> list[Timeline]:
        return [branch.timeline for branch in self.shown_branches]

    @property
    def tick(self) -> int:
        """The tick of the branch that has come furthest; one that is over waits for the others."""
        return max(timeline.target for timeline in self.timelines)

    def go_to(self, tick: int) -> int:
        """Another tick, with its commands applied; returns the tick that was reached."""
        self.seek(tick)
        self.messages.clear()
        return self.tick

    def follow(self, replay: Replay) -> bool:
        """Take over other commands, past or future, for the same branches; False if it is not the same run."""
        if replay.scenario is not self.replay.scenario or replay.numbers != self.replay.numbers:
            return False
        tick = self.tick
        self.replay = replay
        for state in replay.branches:
            self.tree[state.number].timeline.replace_log(state.entries)
            self.tree.rename(state.number, state.name)
        self.branch = replay.focused if replay.focused in self.shown else self.branch
        self.go_to(tick)
        return True

    def happenings(self, after: int, until: int) -> list[Happening]:
        """What is worth a caption in the ticks after `after` up to `until`."""
        return happenings_of(self.shown_branches, after, until)

    def digests(self) -> tuple[str, ...]:
        """Of all branches that are shown."""
        return tuple(timeline.world.digest() for timeline in self.timelines)
