"""A run as plain data, and the same run again: what a recording needs to draw it somewhere else.

A run is what it began with and the commands of its branches; everything else follows. So another process, or a
command without a window, makes the same pictures as the window, and the window need not wait for it. No pygame here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sim.commands import LAST_TICK, SetTickMs
from sim.files.scenario import Scenario
from sim.files.session import Saved, SavedBranch
from sim.params import ConfigError, did_you_mean
from sim.time.branches import ROOT, BranchState, BranchTree
from ui.film.captions import Happening, happenings_of
from ui.model import files
from ui.model.look import Look
from ui.model.run import Run, world_maker

KEYFRAME_BYTES = 64 * 1024 * 1024
"""Memory for winding back: a recording seldom does."""


@dataclass(frozen=True, eq=False)
class Replay:
    """What a run began with, and those of its branches that are shown, the focused one named."""

    scenario: Scenario  # what it began with
    branches: tuple[BranchState, ...] = ()  # with all their commands; empty: one, with the script of the scenario
    focused: int = ROOT
    expected: tuple[SavedBranch, ...] = ()  # of a session file: the digests that these branches had

    def begin(self) -> "Rerun":
        return Rerun(self)

    @property
    def unnoted(self) -> int | None:
        """The first tick that milliseconds limit where a session was not run to: nobody knows who had a turn."""
        ticks = [_first_limited(self.scenario.tick_ms, saved.state) for saved in self.expected]
        return min((tick for tick in ticks if tick is not None), default=None)

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(state.number for state in self.branches) or (ROOT,)


def replay_of(run: Run, branches: Sequence[int] | None = None) -> Replay:
    """A run as it is: the branches that are on screen, or some others, with all commands they have now."""
    return Replay(run.scenario, states_of(run, branches), run.front)


def states_of(run: Run, branches: Sequence[int] | None = None) -> tuple[BranchState, ...]:
    """The branches as plain values, from tick 0 and with nothing known of their future but their commands."""
    chosen = run.shown if branches is None else branches
    return _at_tick_0([run.tree.state(number) for number in chosen])


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
    expected = tuple(branch for branch in saved.branches if branch.state.number in numbers)
    return Replay(files.titled(saved.scenario, path), branches, numbers[0], expected)


def _number_of(name: str, states: Mapping[int, BranchState]) -> int:
    """The branch that a name or a number means."""
    if name.isdecimal() and int(name) in states:
        return int(name)
    found = [state.number for state in states.values() if state.name == name]
    if found:
        return found[0]
    raise ConfigError(f"branch: no branch '{name}'{did_you_mean(name, [s.name for s in states.values()])}")


def _first_limited(milliseconds: float, state: BranchState) -> int | None:
    """The first tick from the end of a branch on that a clock would limit, where a run begins with so many."""
    limits = [(0, milliseconds)]
    limits += [
        (e.tick, e.command.milliseconds) for e in state.entries if isinstance(e.command, SetTickMs) and e.is_enabled
    ]
    ends = [*(tick for tick, _ in limits[1:]), LAST_TICK]
    spans = zip(limits, ends, strict=True)
    return next((max(begin, state.horizon) for (begin, ms), end in spans if ms and end > state.horizon), None)


class Rerun:
    """The run of a replay, gone through once more. Nobody edits it, nothing in it has the focus."""

    def __init__(self, replay: Replay) -> None:
        self.replay = replay
        maker = world_maker(replay.scenario, measures_at_once=True)
        tree = BranchTree.restored(maker, replay.branches, KEYFRAME_BYTES) if replay.branches else BranchTree(maker)
        for saved in replay.expected:
            tree[saved.state.number].timeline.expect(saved.digests, saved.last, dict(saved.agents))
        self.run = Run(replay.scenario, tree, replay.focused, replay.numbers)
        self.go_to(0)

    @property
    def tick(self) -> int:
        return self.run.furthest

    def go_to(self, tick: int) -> int:
        """Another tick, with its commands applied; returns the tick that was reached.

        On the way it looks in at those at which the run was saved: its digest is known of these alone, beside a few.
        """
        saved_at = {saved.last[0] for saved in self.replay.expected if saved.last}
        for stop in (*sorted(stop for stop in saved_at if self.tick < stop < tick), tick):
            self.run.seek(stop)
        self.run.told.messages.clear()
        return self.tick

    def wear(self, look: Look) -> None:
        """Put the panels in the order of a look."""
        self.run.arrange(look.order)

    def follow(self, replay: Replay) -> bool:
        """Take over other commands, past or future, for the same branches; False if it is not the same run."""
        if replay.scenario is not self.replay.scenario or replay.numbers != self.replay.numbers:
            return False
        tick, run = self.tick, self.run
        self.replay = replay
        for state in replay.branches:
            run.tree[state.number].timeline.replace_log(state.entries)
            run.tree.rename(state.number, state.name)
        run.front = replay.focused if replay.focused in run.shown else run.front
        self.go_to(tick)
        return True

    def happenings(self, after: int, until: int) -> list[Happening]:
        """What is worth a caption in the ticks after `after` up to `until`."""
        return happenings_of(self.run.shown_branches, after, until)
