"""Session of a user with a run: focus, passing time, beginning the run again at tick 0, and undo of all actions.

Simulation, branches and time belong to a Run (run.py), detection of unsaved work to Unsaved (unsaved.py). All changes
of a world go through `do`, as commands at tick boundaries; the commands with their ticks are the recording of the
session. Each action becomes an entry of one History (history.py), so Ctrl+Z undoes the last action of any kind.
Actions by topic are in painting.py, agent_edits.py, branching.py and script.py. This module does not use pygame.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from files.scenario import Scenario
from sim.grid import Grid
from sim.movement import Movement
from sim.walker import Walker
from sim.world_commands import AgentConfig, CellXY, Command, MapEdit
from ui.model import run as runs
from ui.model.layout import MAX_PANELS
from ui.model.panel_keys import FIRST_PANEL, NO_PANEL, PanelKey
from ui.model.run import Panel, Run, RunState, UserMessages
from ui.model.start_over import (
    current_agent_configs,
    scenario_of_run,
    scenario_with_free_starts_and_goals,
    user_commands,
)
from ui.model.stop_rules import STOP_RULES, StopCondition
from ui.model.undo_history import UndoEntry, UndoHistory
from ui.model.unsaved_work import RunContent, UnsavedWork
from ui.model.user_map_edits import map_with_user_edits

PrepareThenContinue = Callable[[Sequence[AgentConfig], Grid, Callable[[], None]], None]
"""Callback (agents, map, continue): prepare the data that the agents need on the map, then call `continue`."""


def _continue_without_preparing(agents: Sequence[AgentConfig], grid: Grid, go_on: Callable[[], None]) -> None:
    """Call `go_on` at once, for sessions without a window, in which agents compute their data when they need it."""
    go_on()


@dataclass(frozen=True)
class ArchivedRun:
    """Run that was replaced because the user began again at tick 0, kept so that undo can restore it."""

    run_state: RunState
    focused_panel: PanelKey  # key of the panel that had the focus
    saved_content: RunContent | None  # content of the run when it was last saved; None if it was never saved


class Session:
    """Open run with its focused panel and its undo history.

    `user_messages` collects messages to the user; the window shows and clears them.
    """

    def __init__(self, begun: Scenario | Run) -> None:
        self.user_messages = begun.user_messages if isinstance(begun, Run) else UserMessages()
        # Index of panel A of a heat map A - B in a read-only session; else None.
        self.first_compared_index: int | None = None
        # Stop rule of the "run until" in progress; None if there is none.
        self.stop_condition: StopCondition | None = None
        self.path: Path | None = None  # file that the run was opened from or saved to
        # Journals that the run was restored from, deleted when its new journal is on disk.
        self.recovered_journals: list[Path] = []
        # The window sets a callback that prepares data in a job.
        self.call_when_prepared: PrepareThenContinue = _continue_without_preparing
        self._max_keyframe_bytes: int | None = None
        self._opened_run_count = self._picture_generation = 0
        self._picture_generation_inputs: tuple[object, ...] = ()  # inputs of `generation` when it was last incremented
        if isinstance(begun, Run):
            self.open_run(begun)
        else:
            self.open_scenario(begun)

    @classmethod
    def create_read_only_session(cls, run: Run) -> "Session":
        """Return a read-only session for a picture or a film, in which no panel has the focus."""
        session = cls(run)
        session.first_compared_index = 0
        return session

    def set_first_compared_panel(self, index: int) -> None:
        """Set the index of panel A of a heat map A - B, if the session is read-only; otherwise do nothing."""
        self.first_compared_index = self.first_compared_index if self.first_compared_index is None else index

    # --- opening and beginning again --------------------------------------------------------------

    def open_scenario(self, scenario: Scenario) -> None:
        """Open a new run of a scenario."""
        self.open_run(runs.begin_run(scenario, user_messages=self.user_messages))

    def open_run(self, run: Run, agent: int = FIRST_PANEL.agent) -> None:
        """Make an existing run the open run of this session, with an empty undo history.

        Args:
            run: Run to open.
            agent: Number of the agent in the front branch to focus.
        """
        self.undo_history = UndoHistory(self)
        self._replace_run(run, agent)

    def _replace_run(self, run: Run, agent: int) -> None:
        """Make `run` the open run and focus an agent of its front branch; the undo history is kept."""
        self.run, self.unsaved_work = run, UnsavedWork(run)
        self._opened_run_count += 1
        self._focused_agent = agent
        self.stop_condition = replace(self.stop_condition, begin_tick=0) if self.stop_condition else None
        self._apply_keyframe_memory_limit()
        self.ensure_valid_focus()

    def limit_keyframe_memory(self, megabytes: int) -> None:
        """Limit the memory of keyframes in this run and later ones.

        Args:
            megabytes: Maximum memory in MB; 0 allows as much as the run itself takes.
        """
        self._max_keyframe_bytes = megabytes * 1_000_000 or None
        self._apply_keyframe_memory_limit()

    def _apply_keyframe_memory_limit(self) -> None:
        self.run.set_keyframe_memory_and_thread(self._max_keyframe_bytes, in_background=True)

    def start_over(self, *, keeps_map: bool) -> None:
        """Begin again at tick 0 with all agents and their current settings; the script runs again.

        Args:
            keeps_map: Keep all map edits by the user. Otherwise only those drawn at tick 0, before the run began, are
                kept.
        """
        first = [command for tick, command in user_commands(self.run.focused_branch_timeline) if tick == 0]
        map_edits = [command for command in first if isinstance(command, MapEdit) and not keeps_map]
        self._replace_with_new_run("started over", keeps_map, map_edits=map_edits)

    def start_over_with_changes(self, **changes: Any) -> None:
        """Begin again at tick 0 with some fields of the scenario changed, such as the start; map edits are kept."""
        description = ", ".join(f"{name} {value}" for name, value in changes.items())
        self._replace_with_new_run(
            f"started over with {description}", True, lambda scenario: replace(scenario, **changes)
        )

    def start_over_with_start(self, agent: int, start: tuple[int, int]) -> None:
        """Begin again at tick 0 with another start of one agent; map edits by the user are kept."""
        walker = self.run.world.walker_with_id(agent)
        if walker is not None:
            self._replace_with_new_run(
                f"started over with another start of {walker.label}", True, starts={agent: start}
            )

    def set_movement(self, movement: Movement) -> None:
        """Begin again at tick 0 with another movement rule, as soon as the agents' data for it is prepared.

        Map edits by the user are kept. A run cannot continue under another rule, because searches, learned values and
        path lengths are only valid for the rule under which they were computed.
        """
        grid = map_with_user_edits(self.run).copy(movement)
        if grid.movement != self.run.world.grid.movement:
            self.call_when_prepared(
                current_agent_configs(self.run), grid, partial(self._start_over_with_movement, movement)
            )

    def _start_over_with_movement(self, movement: Movement) -> None:
        """Begin again with another movement rule; called when the agents' data for that rule is prepared."""
        self.user_messages.messages_until_next_edit.append(f"Started over at tick 0: {movement.description}")
        self._replace_with_new_run(
            f"started over with {movement.description}", True, lambda scenario: scenario.with_movement(movement)
        )

    def _replace_with_new_run(
        self,
        description: str,
        keeps_map: bool,
        change: Callable[[Scenario], Scenario] = lambda scenario: scenario,
        map_edits: Sequence[Command] = (),
        starts: Mapping[int, CellXY] = {},
    ) -> None:
        """Replace the run by a new one at tick 0, as one undo entry, so that no work is lost.

        Args:
            description: Description of the undo entry.
            keeps_map: Begin on the map with the user's edits, not on the original one.
            change: Function applied to the scenario.
            map_edits: Commands to apply to the new run at tick 0.
            starts: New start (x, y) of some agents, by number of the agent.
        """
        self.undo_history.close_entry()
        self.run.focused_branch_timeline.finish_seek()  # the current settings are those at the target tick of the seek
        archived, tick, was_unsaved = self.open_run_as_archived(), self.tick, self.has_unsaved_edits
        scenario, freed = scenario_with_free_starts_and_goals(
            change(scenario_of_run(self.run, keeps_map=keeps_map, starts=starts))
        )
        self.user_messages.messages_until_next_edit.extend(freed)
        run = runs.begin_run(scenario, max_bytes=self._max_keyframe_bytes, user_messages=self.user_messages)
        for command in map_edits:
            run.apply_command(command)
        self._replace_run(run, FIRST_PANEL.agent)
        if was_unsaved:
            self.unsaved_work.mark_unsaved()
        self.undo_history.append_entry(UndoEntry(description, _RunReplacement(self, archived), tick))
        branches = archived.run_state.branch_states
        if len(branches) > 1 or any(not entry.is_scripted for entry in branches[0].entries):
            self.user_messages.messages_until_next_edit.append(
                "Started over. {key:undo} restores the previous run with all its edits."
            )

    def open_run_as_archived(self) -> ArchivedRun:
        """Return the open run as an archived run, which undo can restore."""
        return ArchivedRun(self.run.run_state(), self.focused_key, self.unsaved_work.saved_content)

    def restore_archived_run(self, left: ArchivedRun) -> None:
        """Replace the open run by an archived one, for undo or redo; the undo history is kept."""
        self._replace_run(
            runs.run_from_state(left.run_state, max_bytes=self._max_keyframe_bytes, user_messages=self.user_messages),
            left.focused_panel.agent,
        )
        self.unsaved_work.saved_content = left.saved_content

    @property
    def archived_runs(self) -> list[ArchivedRun]:
        """Return the runs that were replaced by a new start at tick 0 and can be restored by undo, the oldest first."""
        return [
            done.undoable_change.archived_run
            for done in self.undo_history.done
            if isinstance(done.undoable_change, _RunReplacement)
        ]

    # --- queries ----------------------------------------------------------------------------------

    @property
    def tick(self) -> int:
        return self.run.displayed_tick if self.first_compared_index is None else self.run.max_shown_tick

    @property
    def panels_that_fit_in_window(self) -> tuple[Panel, ...]:
        """Return at most MAX_PANELS panels, including the focused one; a window has no room for more."""
        panels = self.run.panels
        if len(panels) <= MAX_PANELS:
            return panels
        index = next((i for i, panel in enumerate(panels) if panel.key == self.focused_key), 0)
        end = max(MAX_PANELS, index + 1)
        return panels[end - MAX_PANELS : end]

    @property
    def picture_generation(self) -> int:
        """Return a counter that is incremented whenever all cached pictures of the run become invalid."""
        inputs = (self._opened_run_count, self.run.picture_cache_key)
        if inputs != self._picture_generation_inputs:
            self._picture_generation_inputs = inputs
            self._picture_generation += 1
        return self._picture_generation

    def panel_index(self, key: PanelKey) -> int:
        """Return the index of a panel in display order; for NOBODY in a read-only session, that of panel A."""
        if key == NO_PANEL and self.first_compared_index is not None:
            return self.first_compared_index
        return self.run.panel_index(key)

    def compared_panel_indices(self, index: int | None = None) -> tuple[int, int]:
        """Return the indices of the panels A and B that a heat map A - B compares.

        Args:
            index: Index of panel A; by default the focused panel.
        """
        return self.run.compared_panel_indices(self.panel_index(self.focused_key) if index is None else index)

    @property
    def has_unsaved_edits(self) -> bool:
        """Return whether there is unsaved work; always False in a read-only session."""
        return self.first_compared_index is None and self.unsaved_work.has_unsaved_changes

    # --- time -------------------------------------------------------------------------------------

    def begin_seek(self, tick: int) -> None:
        """Begin to seek to another tick with all branches on screen."""
        self.run.begin_seek(tick)
        self.ensure_valid_focus()

    def continue_seek(self, work_us: float | None = None) -> bool:
        """Continue the seek and return whether it has reached its target tick.

        Args:
            work_us: Time for replaying ticks in microseconds; None means the time for one frame, SEEK_WORK.
        """
        has_arrived = self.run.continue_seek(work_us)
        self.ensure_valid_focus()
        return has_arrived

    def seek_to_tick(self, tick: int) -> None:
        """Seek to another tick with all branches on screen; return only when they have reached it."""
        self.run.seek_to_tick(tick)
        self.ensure_valid_focus()

    def recover_worlds(self) -> None:
        """Recover from an error in the middle of a tick: rebuild the worlds on screen at their last complete tick."""
        self.run.recover_worlds()
        self.ensure_valid_focus()

    def advance_by_ticks(self, ticks: int) -> int:
        """Advance up to `ticks` ticks and return how many passed.

        Fewer ticks pass if a stop rule is met, if the scenario pauses the run earlier, or if the world is over.
        """
        if self._scenario_pause_tick is not None and self.tick < self._scenario_pause_tick:
            ticks = min(ticks, self._scenario_pause_tick - self.tick)
        if self.stop_condition is None:
            return self._advance_run(ticks)
        passed = 0
        while passed < ticks and self._advance_run(1):
            passed += 1
            if self.is_stop_condition_met:
                break
        return passed

    def _advance_run(self, ticks: int) -> int:
        passed = self.run.advance_by_ticks(ticks)
        self.ensure_valid_focus()
        return passed

    def set_stop_condition(self, rule: str | None, tick: int | None = None) -> None:
        """Set the condition at which `advance_by_ticks` stops.

        Args:
            rule: Key of STOP_RULES; None if only `tick` counts.
            tick: Tick at which to pause; None if only `rule` counts.
        """
        self.stop_condition = StopCondition(STOP_RULES[rule] if rule else None, tick, self.tick)

    @property
    def is_stop_condition_met(self) -> bool:
        """Return whether the event that a "run until" waits for happened in the last tick."""
        return self.stop_condition is not None and self.stop_condition.is_condition_met(
            self.run, self.focused_key, self.tick
        )

    @property
    def _scenario_pause_tick(self) -> int | None:
        """Return the tick at which the scenario pauses the run; None if it names no such tick."""
        until = self.run.scenario.stop_tick
        return None if until is None else until.tick

    @property
    def should_pause(self) -> bool:
        """Return whether the run should pause now, because of a stop rule or because the scenario says so."""
        return self.is_stop_condition_met or self.is_at_pause_tick

    @property
    def is_at_pause_tick(self) -> bool:
        return self.tick == self._scenario_pause_tick

    # --- focus ------------------------------------------------------------------------------------

    @property
    def focused_key(self) -> PanelKey:
        """Return the key of the focused panel, which does not exist if the front branch has no agents."""
        return (
            PanelKey(self.run.focused_branch_number, self._focused_agent)
            if self.first_compared_index is None
            else NO_PANEL
        )

    @property
    def focused_walker(self) -> Walker | None:
        return self.run.walker_of_panel(self.focused_key)

    def focus_panel(self, key: PanelKey) -> None:
        """Focus a panel and bring its branch to the front; commands then apply to that branch."""
        self._focused_agent = key.agent
        if key.branch in self.run.branch_tree.branches:
            self.run.focused_branch_number = key.branch

    def ensure_valid_focus(self) -> None:
        """Move the focus to an existing panel if the focused panel no longer exists."""
        if (
            self.first_compared_index is not None
            or self.run.is_seeking
            or self.run.has_single_agent_panel(self.focused_key)
        ):
            return
        if not self.run.panels or any(panel.key == self.focused_key for panel in self.run.panels):
            return
        in_front_branch = [panel for panel in self.run.panels if panel.key.branch == self.run.focused_branch_number]
        self.focus_panel((in_front_branch or self.run.panels)[-1].key)

    def update_after_change(self) -> None:
        """Update caches and focus after a change of the run."""
        self.run.update_after_change()
        self.ensure_valid_focus()

    # --- commands and undo ----------------------------------------------------------------------

    def submit_command(self, command: Command) -> None:
        """Apply a command now to the focused branch and to the branches that are linked with it."""
        self.undo_history.submit(command)
        self.ensure_valid_focus()

    @contextmanager
    def combine_actions(self, description: str) -> Iterator[None]:
        """Combine the actions inside the `with` block into one undo entry."""
        with self.undo_history.combine_actions(description):
            yield
        self.update_after_change()


@dataclass
class _RunReplacement:
    """Undoable replacement of the open run by another run; undo and redo exchange the two runs."""

    session: Session
    archived_run: ArchivedRun

    def apply_change(self, forwards: bool) -> None:
        current_run = self.session.open_run_as_archived()
        self.session.restore_archived_run(self.archived_run)
        self.archived_run = current_run
