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

from sim.commands import AgentConfig, Command, MapEdit, Pair
from sim.files.scenario import Scenario
from sim.grid import Grid
from sim.movement import Movement
from sim.walker import Walker
from ui.model import run as runs
from ui.model.beginning import configs_of, done_by_hand, scenario_of, with_free_ends
from ui.model.drawn import drawn_by_hand
from ui.model.history import Done, History
from ui.model.keys import FIRST, NOBODY, PanelKey
from ui.model.layout import MAX_PANELS
from ui.model.run import Panel, Run, RunState, Told
from ui.model.stopping import STOP_RULES, Until
from ui.model.unsaved import Content, Unsaved

WhenReady = Callable[[Sequence[AgentConfig], Grid, Callable[[], None]], None]
"""Callback (agents, map, continue): prepare the data that the agents need on the map, then call `continue`."""


def _continue_at_once(agents: Sequence[AgentConfig], grid: Grid, go_on: Callable[[], None]) -> None:
    """Call `go_on` at once, for sessions without a window, in which agents compute their data when they need it."""
    go_on()


@dataclass(frozen=True)
class ArchivedRun:
    """Run that was replaced because the user began again at tick 0, kept so that undo can restore it."""

    state: RunState
    focused: PanelKey  # key of the panel that had the focus
    saved: Content | None  # content of the run when it was last saved; None if it was never saved


class Session:
    """Open run with its focused panel and its undo history.

    `told` collects messages to the user; the window shows and clears them.
    """

    def __init__(self, begun: Scenario | Run) -> None:
        self.told = begun.told if isinstance(begun, Run) else Told()
        self.compare_base: int | None = None  # index of panel A of a heat map A - B in a read-only session; else None
        self.until: Until | None = None  # stop rule of the "run until" in progress; None if there is none
        self.path: Path | None = None  # file that the run was opened from or saved to
        self.crashed: list[
            Path
        ] = []  # journals that the run was restored from, deleted when its new journal is on disk
        self.when_ready: WhenReady = _continue_at_once  # the window sets a callback that prepares data in a job
        self._most_bytes: int | None = None
        self._runs = self._generation = 0
        self._seen: tuple[object, ...] = ()  # inputs of `generation` when it was last incremented
        if isinstance(begun, Run):
            self.take(begun)
        else:
            self.open(begun)

    @classmethod
    def watching(cls, run: Run) -> "Session":
        """Return a read-only session for a picture or a film, in which no panel has the focus."""
        session = cls(run)
        session.compare_base = 0
        return session

    def watch_from(self, place: int) -> None:
        """Set the index of panel A of a heat map A - B, if the session is read-only; otherwise do nothing."""
        self.compare_base = self.compare_base if self.compare_base is None else place

    # --- opening and beginning again --------------------------------------------------------------

    def open(self, scenario: Scenario) -> None:
        """Open a new run of a scenario."""
        self.take(runs.begin(scenario, told=self.told))

    def take(self, run: Run, agent: int = FIRST.agent) -> None:
        """Make an existing run the open run of this session, with an empty undo history.

        Args:
            run: Run to open.
            agent: Number of the agent in the front branch to focus.
        """
        self.history = History(self)
        self._replace_run(run, agent)

    def _replace_run(self, run: Run, agent: int) -> None:
        """Make `run` the open run and focus an agent of its front branch; the undo history is kept."""
        self.run, self.unsaved = run, Unsaved(run)
        self._runs += 1
        self._agent = agent
        self.until = replace(self.until, since=0) if self.until else None
        self._limit_keyframes()
        self.keep_focus()

    def limit_keyframes(self, megabytes: int) -> None:
        """Limit the memory of keyframes in this run and later ones.

        Args:
            megabytes: Maximum memory in MB; 0 allows as much as the run itself takes.
        """
        self._most_bytes = megabytes * 1_000_000 or None
        self._limit_keyframes()

    def _limit_keyframes(self) -> None:
        self.run.look_after_keyframes(self._most_bytes, beside=True)

    def reset(self, *, keeps_map: bool) -> None:
        """Begin again at tick 0 with all agents and their current settings; the script runs again.

        Args:
            keeps_map: Keep all map edits by the user. Otherwise only those drawn at tick 0, before the run began, are
                kept.
        """
        first = [command for tick, command in done_by_hand(self.run.timeline) if tick == 0]
        drawn = [command for command in first if isinstance(command, MapEdit) and not keeps_map]
        self._begin_again("started over", keeps_map, drawn=drawn)

    def restart_with(self, **changes: Any) -> None:
        """Begin again at tick 0 with some fields of the scenario changed, such as the start; map edits are kept."""
        description = ", ".join(f"{name} {value}" for name, value in changes.items())
        self._begin_again(f"started over with {description}", True, lambda scenario: replace(scenario, **changes))

    def restart_from(self, agent: int, start: tuple[int, int]) -> None:
        """Begin again at tick 0 with another start of one agent; map edits by the user are kept."""
        walker = self.run.world.walker(agent)
        if walker is not None:
            self._begin_again(f"started over with another start of {walker.label}", True, starts={agent: start})

    def set_movement(self, movement: Movement) -> None:
        """Begin again at tick 0 with another movement rule, as soon as the agents' data for it is prepared.

        Map edits by the user are kept. A run cannot continue under another rule, because searches, learned values and
        path lengths are only valid for the rule under which they were computed.
        """
        grid = drawn_by_hand(self.run).copy(movement)
        if grid.movement != self.run.world.grid.movement:
            self.when_ready(configs_of(self.run), grid, partial(self._begin_again_with_movement, movement))

    def _begin_again_with_movement(self, movement: Movement) -> None:
        """Begin again with another movement rule; called when the agents' data for that rule is prepared."""
        self.told.messages.append(f"Started over at tick 0: {movement.words}")
        self._begin_again(f"started over with {movement.words}", True, lambda scenario: scenario.moved_by(movement))

    def _begin_again(
        self,
        words: str,
        keeps_map: bool,
        change: Callable[[Scenario], Scenario] = lambda scenario: scenario,
        drawn: Sequence[Command] = (),
        starts: Mapping[int, Pair] = {},
    ) -> None:
        """Replace the run by a new one at tick 0, as one undo entry, so that no work is lost.

        Args:
            words: Description of the undo entry.
            keeps_map: Begin on the map with the user's edits, not on the original one.
            change: Function applied to the scenario.
            drawn: Commands to apply to the new run at tick 0.
            starts: New start (x, y) of some agents, by number of the agent.
        """
        self.history.end()
        self.run.timeline.settle()  # finish the seek, because the current settings are those at its target tick
        archived, tick, was_unsaved = self.as_left(), self.tick, self.has_unsaved_edits
        scenario, freed = with_free_ends(change(scenario_of(self.run, keeps_map=keeps_map, starts=starts)))
        self.told.messages.extend(freed)
        run = runs.begin(scenario, most_bytes=self._most_bytes, told=self.told)
        for command in drawn:
            run.do(command)
        self._replace_run(run, FIRST.agent)
        if was_unsaved:
            self.unsaved.mark_unsaved()
        self.history.note(Done(words, _RunReplacement(self, archived), tick))
        branches = archived.state.branches
        if len(branches) > 1 or any(not entry.is_scripted for entry in branches[0].entries):
            self.told.messages.append("Started over. {key:undo} restores the previous run with all its edits.")

    def as_left(self) -> ArchivedRun:
        """Return the open run as an archived run, which undo can restore."""
        return ArchivedRun(self.run.state(), self.focused_key, self.unsaved.saved)

    def go_back_to(self, left: ArchivedRun) -> None:
        """Replace the open run by an archived one, for undo or redo; the undo history is kept."""
        self._replace_run(runs.again(left.state, most_bytes=self._most_bytes, told=self.told), left.focused.agent)
        self.unsaved.saved = left.saved

    @property
    def runs_left(self) -> list[ArchivedRun]:
        """Return the runs that were replaced by a new start at tick 0 and can be restored by undo, the oldest first."""
        return [done.change.other for done in self.history.done if isinstance(done.change, _RunReplacement)]

    # --- queries ----------------------------------------------------------------------------------

    @property
    def tick(self) -> int:
        return self.run.clock if self.compare_base is None else self.run.furthest

    @property
    def panels_with_room(self) -> tuple[Panel, ...]:
        """Return at most MAX_PANELS panels, including the focused one; a window has no room for more."""
        panels = self.run.panels
        if len(panels) <= MAX_PANELS:
            return panels
        index = next((i for i, panel in enumerate(panels) if panel.key == self.focused_key), 0)
        end = max(MAX_PANELS, index + 1)
        return panels[end - MAX_PANELS : end]

    @property
    def generation(self) -> int:
        """Return a counter that is incremented whenever all cached pictures of the run become invalid."""
        inputs = (self._runs, self.run.generation)
        if inputs != self._seen:
            self._seen = inputs
            self._generation += 1
        return self._generation

    def panel_of(self, key: PanelKey) -> int:
        """Return the index of a panel in display order; for NOBODY in a read-only session, that of panel A."""
        if key == NOBODY and self.compare_base is not None:
            return self.compare_base
        return self.run.panel_of(key)

    def compared(self, place: int | None = None) -> tuple[int, int]:
        """Return the indices of the panels A and B that a heat map A - B compares.

        Args:
            place: Index of panel A; by default the focused panel.
        """
        return self.run.compared(self.panel_of(self.focused_key) if place is None else place)

    @property
    def has_unsaved_edits(self) -> bool:
        """Return whether there is unsaved work; always False in a read-only session."""
        return self.compare_base is None and self.unsaved.is_any

    # --- time -------------------------------------------------------------------------------------

    def begin_seek(self, tick: int) -> None:
        """Begin to seek to another tick with all branches on screen."""
        self.run.begin_seek(tick)
        self.keep_focus()

    def continue_seek(self, work: float | None = None) -> bool:
        """Continue the seek and return whether it has reached its target tick.

        Args:
            work: Time for replaying ticks in microseconds; None means the time for one frame, SEEK_WORK.
        """
        has_arrived = self.run.continue_seek(work)
        self.keep_focus()
        return has_arrived

    def seek(self, tick: int) -> None:
        """Seek to another tick with all branches on screen; return only when they have reached it."""
        self.run.seek(tick)
        self.keep_focus()

    def make_whole(self) -> None:
        """Recover from an error in the middle of a tick: rebuild the worlds on screen at their last complete tick."""
        self.run.make_whole()
        self.keep_focus()

    def advance(self, ticks: int) -> int:
        """Advance up to `ticks` ticks and return how many passed.

        Fewer ticks pass if a stop rule is met, if the scenario pauses the run earlier, or if the world is over.
        """
        if self._pause_tick is not None and self.tick < self._pause_tick:
            ticks = min(ticks, self._pause_tick - self.tick)
        if self.until is None:
            return self._advance(ticks)
        passed = 0
        while passed < ticks and self._advance(1):
            passed += 1
            if self.is_stopped_by_rule:
                break
        return passed

    def _advance(self, ticks: int) -> int:
        passed = self.run.advance(ticks)
        self.keep_focus()
        return passed

    def run_until(self, rule: str | None, tick: int | None = None) -> None:
        """Set the condition at which `advance` stops.

        Args:
            rule: Key of STOP_RULES; None if only `tick` counts.
            tick: Tick at which to pause; None if only `rule` counts.
        """
        self.until = Until(STOP_RULES[rule] if rule else None, tick, self.tick)

    @property
    def is_stopped_by_rule(self) -> bool:
        """Return whether the event that a "run until" waits for happened in the last tick."""
        return self.until is not None and self.until.is_met(self.run, self.focused_key, self.tick)

    @property
    def _pause_tick(self) -> int | None:
        """Return the tick at which the scenario pauses the run; None if it names no such tick."""
        until = self.run.scenario.until
        return None if until is None else until.tick

    @property
    def has_come_to_a_stop(self) -> bool:
        """Return whether the run should pause now, because of a stop rule or because the scenario says so."""
        return self.is_stopped_by_rule or self.is_at_pause

    @property
    def is_at_pause(self) -> bool:
        return self.tick == self._pause_tick

    # --- focus ------------------------------------------------------------------------------------

    @property
    def focused_key(self) -> PanelKey:
        """Return the key of the focused panel, which does not exist if the front branch has no agents."""
        return PanelKey(self.run.front, self._agent) if self.compare_base is None else NOBODY

    @property
    def focused(self) -> Walker | None:
        return self.run.walker(self.focused_key)

    def focus(self, key: PanelKey) -> None:
        """Focus a panel and bring its branch to the front; commands then apply to that branch."""
        self._agent = key.agent
        if key.branch in self.run.tree.branches:
            self.run.front = key.branch

    def keep_focus(self) -> None:
        """Move the focus to an existing panel if the focused panel no longer exists."""
        if self.compare_base is not None or self.run.is_seeking or self.run.has_own_panel(self.focused_key):
            return
        if not self.run.panels or any(panel.key == self.focused_key for panel in self.run.panels):
            return
        in_front_branch = [panel for panel in self.run.panels if panel.key.branch == self.run.front]
        self.focus((in_front_branch or self.run.panels)[-1].key)

    def changed(self) -> None:
        """Update caches and focus after a change of the run."""
        self.run.changed()
        self.keep_focus()

    # --- commands and undo ----------------------------------------------------------------------

    def do(self, command: Command) -> None:
        """Apply a command now to the focused branch and to the branches that are linked with it."""
        self.history.submit(command)
        self.keep_focus()

    @contextmanager
    def doing(self, words: str) -> Iterator[None]:
        """Combine the actions inside the `with` block into one undo entry."""
        with self.history.doing(words):
            yield
        self.changed()


@dataclass
class _RunReplacement:
    """Undoable replacement of the open run by another run; undo and redo exchange the open run and `other`."""

    session: Session
    other: ArchivedRun

    def turn(self, forwards: bool) -> None:
        mine = self.session.as_left()
        self.session.go_back_to(self.other)
        self.other = mine
