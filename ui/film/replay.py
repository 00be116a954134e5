"""Serialisable description of a run, and recomputation of the run from it, usually in another process.

A run is determined by its scenario and the commands of its branches. Another process, or a command without a window,
therefore draws the same pictures as the window. This module does not import pygame.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from files.scenario import Scenario
from files.session import SavedBranch, SavedSession
from sim.params import ConfigError, did_you_mean_hint
from sim.time.branches import ROOT_BRANCH, BranchState, BranchTree
from sim.world_commands import MAX_COMMAND_TICK, SetTickTimeLimit
from ui.film.captions import Caption, captions_of_branches
from ui.model import opened_files
from ui.model.appearance import Appearance
from ui.model.run import Run, world_builder

KEYFRAME_BYTES = 64 * 1024 * 1024
"""Maximum memory of keyframes in bytes. A small amount suffices, because a recording rarely seeks backwards."""


@dataclass(frozen=True, eq=False)
class ReplaySpec:
    """Description of one run: its scenario, the shown branches with their commands, and the focused branch."""

    scenario: Scenario
    branch_states: tuple[BranchState, ...] = ()  # branches on screen; empty: a single branch with the scenario's script
    focused_branch_number: int = ROOT_BRANCH  # number of the focused branch
    expected_branches: tuple[SavedBranch, ...] = ()  # branches of a session file, with digests to verify the replay

    def start_rerun(self) -> "Rerun":
        return Rerun(self)

    @property
    def first_irreproducible_tick(self) -> int | None:
        """Return the first tick that is not reproducible; None if the whole run is reproducible.

        Ticks with a time limit in milliseconds are not reproducible after the saved part of the run, because only that
        part records which agents finished planning within the limit.
        """
        ticks = [
            _first_time_limited_tick(self.scenario.tick_ms, saved.branch_state) for saved in self.expected_branches
        ]
        return min((tick for tick in ticks if tick is not None), default=None)

    @property
    def branch_numbers(self) -> tuple[int, ...]:
        """Return the numbers of the shown branches."""
        return tuple(state.number for state in self.branch_states) or (ROOT_BRANCH,)


def replay_spec_of_run(run: Run, branches: Sequence[int] | None = None) -> ReplaySpec:
    """Return the description of a run with all of its current commands.

    Args:
        run: Run to describe.
        branches: Numbers of the branches; None: the branches on screen.
    """
    return ReplaySpec(run.scenario, branch_states_at_start(run, branches), run.focused_branch_number)


def branch_states_at_start(run: Run, branches: Sequence[int] | None = None) -> tuple[BranchState, ...]:
    """Return the states of branches at tick 0, with all of their commands.

    Args:
        run: Run with the branches.
        branches: Numbers of the branches; None: the branches on screen.
    """
    chosen = run.shown_branch_numbers if branches is None else branches
    return _states_reset_to_tick_0([run.branch_tree.branch_state(number) for number in chosen])


def _states_reset_to_tick_0(states: Sequence[BranchState]) -> tuple[BranchState, ...]:
    present = {state.number for state in states}
    return tuple(
        replace(state, tick=0, furthest_tick=0, parent=state.parent if state.parent in present else None)
        for state in states
    )


def replay_spec_of_session(saved: SavedSession, path: Path | None = None, chosen: Sequence[str] = ()) -> ReplaySpec:
    """Return the description of the run in a session file.

    Args:
        saved: Content of the session file.
        path: Path of the file, for the title; None: the scenario's own title.
        chosen: Names or numbers of branches; empty: the branches that were on screen.

    Raises:
        ConfigError: There is no branch with a chosen name or number.
    """
    states = {branch.branch_state.number: branch.branch_state for branch in saved.branches}
    numbers = (
        [_branch_number_of_name(name, states) for name in chosen]
        or list(saved.shown_branches)
        or [saved.focused_branch]
    )
    branches = _states_reset_to_tick_0([states[number] for number in dict.fromkeys(numbers)])
    expected = tuple(branch for branch in saved.branches if branch.branch_state.number in numbers)
    return ReplaySpec(opened_files.scenario_with_title(saved.scenario, path), branches, numbers[0], expected)


def _branch_number_of_name(name: str, states: Mapping[int, BranchState]) -> int:
    """Return the number of the branch with this name or number; raise a ConfigError if there is none."""
    if name.isdecimal() and int(name) in states:
        return int(name)
    numbers = [state.number for state in states.values() if state.name == name]
    if numbers:
        return numbers[0]
    raise ConfigError(f"branch: no branch '{name}'{did_you_mean_hint(name, [s.name for s in states.values()])}")


def _first_time_limited_tick(milliseconds: float, state: BranchState) -> int | None:
    """Return the first tick with a time limit after the recorded part of a branch; None if there is no such tick.

    Args:
        milliseconds: Time limit of a tick at the beginning of the run; 0: no limit.
        state: Branch, whose commands may change the limit.
    """
    limits = [(0, milliseconds)]
    limits += [
        (e.tick, e.command.limit_ms) for e in state.entries if isinstance(e.command, SetTickTimeLimit) and e.is_enabled
    ]
    limit_ends = [*(tick for tick, _ in limits[1:]), MAX_COMMAND_TICK]
    spans = zip(limits, limit_ends, strict=True)
    return next(
        (max(begin, state.furthest_tick) for (begin, ms), end in spans if ms and end > state.furthest_tick), None
    )


class Rerun:
    """Run that is recomputed from its description (a replay), with the commands and the focus of that description."""

    def __init__(self, replay: ReplaySpec) -> None:
        self.replay_spec = replay
        build_world = world_builder(replay.scenario, measures_at_once=True)
        tree = (
            BranchTree.from_states(build_world, replay.branch_states, KEYFRAME_BYTES)
            if replay.branch_states
            else BranchTree(build_world)
        )
        for saved in replay.expected_branches:
            tree[saved.branch_state.number].timeline.run_history.set_expected_digests(
                saved.digests, saved.shown_digest, dict(saved.agent_digests)
            )
        self.run = Run(replay.scenario, tree, replay.focused_branch_number, replay.branch_numbers)
        self.seek_to_tick(0)

    @property
    def tick(self) -> int:
        return self.run.max_shown_tick

    def seek_to_tick(self, tick: int) -> int:
        """Seek to a tick and apply the commands of this tick.

        The seek pauses at the ticks at which branches were saved, because session files have digests of these ticks,
        with which differences from the saved run are detected.

        Returns:
            The tick that was reached, which is smaller than `tick` if the run ends before.
        """
        saved_at = {saved.shown_digest[0] for saved in self.replay_spec.expected_branches if saved.shown_digest}
        for stop in (*sorted(stop for stop in saved_at if self.tick < stop < tick), tick):
            self.run.seek_to_tick(stop)
        self.run.user_messages.messages_until_next_edit.clear()
        return self.tick

    def arrange_panels(self, appearance: Appearance) -> None:
        """Arrange the panels in the order given by view settings."""
        self.run.order_panels(appearance.panel_order)

    def replace_commands(self, replay: ReplaySpec) -> bool:
        """Replace all commands, past and future, by those of a newer description of the same run.

        Returns:
            False if the description has another scenario or other branches; then nothing is changed.
        """
        if replay.scenario is not self.replay_spec.scenario or replay.branch_numbers != self.replay_spec.branch_numbers:
            return False
        tick, run = self.tick, self.run
        self.replay_spec = replay
        for state in replay.branch_states:
            run.branch_tree[state.number].timeline.replace_command_log(state.entries)
            run.branch_tree.rename_branch(state.number, state.name)
        run.focused_branch_number = (
            replay.focused_branch_number
            if replay.focused_branch_number in run.shown_branch_numbers
            else run.focused_branch_number
        )
        self.seek_to_tick(tick)
        return True

    def captions_between(self, after: int, until: int) -> list[Caption]:
        """Return the captions of events in the ticks from `after` (exclusive) to `until` (inclusive)."""
        return captions_of_branches(self.run.shown_branches, after, until)
