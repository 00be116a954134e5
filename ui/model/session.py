"""What a user does with a run: looking at a panel, letting time pass, beginning again; and taking all of it back.

The run itself, its branches and its time are a Run (run.py), what of it is not saved is its Unsaved (unsaved.py).
Everything that changes a world goes through `do`, as a command at a tick boundary; the commands with their ticks are
the recording of the session. Whatever is done is noted in one History (history.py), so Ctrl+Z takes back the last
thing, whatever it was. What is done by topic: painting.py, agent_edits.py, branching.py, script.py. No pygame here.
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
from ui.model.layout import MOST_PANELS
from ui.model.run import Panel, Run, RunState, Told
from ui.model.stopping import STOP_RULES, Until
from ui.model.unsaved import Content, Unsaved

WhenReady = Callable[[Sequence[AgentConfig], Grid, Callable[[], None]], None]
"""Sees to it that all is there which agents of these kinds need on this map, then goes on."""


def _at_once(agents: Sequence[AgentConfig], grid: Grid, go_on: Callable[[], None]) -> None:
    """Whoever shows no window does not mind that an agent makes what it needs itself."""
    go_on()


@dataclass(frozen=True)
class LeftRun:
    """A run that was left by beginning again."""

    state: RunState
    focused: PanelKey
    saved: Content | None


class Session:
    """The open run. `told` collects what the user should be told; the window shows and clears it."""

    def __init__(self, begun: Scenario | Run) -> None:
        self.told = begun.told if isinstance(begun, Run) else Told()
        self.watched_from: int | None = None  # the panel that a heat map A - B takes for A, where nothing has the focus
        self.until: Until | None = None
        self.path: Path | None = None  # of the file that it was opened from or saved to
        self.crashed: list[Path] = []  # journals that this run was taken up from, and whose place its own takes
        self.when_ready: WhenReady = _at_once  # agents wait for their prepared data there, where a window shows it
        self._most_bytes: int | None = None
        self._runs = self._generation = 0
        self._seen: tuple[object, ...] = ()  # what the generation was counted up for
        if isinstance(begun, Run):
            self.take(begun)
        else:
            self.open(begun)

    @classmethod
    def watching(cls, run: Run) -> "Session":
        """That of somebody who looks at a run and does nothing: no panel has the focus."""
        session = cls(run)
        session.watched_from = 0
        return session

    def watch_from(self, place: int) -> None:
        """Take the panel at a place for A of a heat map A - B, where nothing has the focus."""
        self.watched_from = self.watched_from if self.watched_from is None else place

    # --- opening and starting again ---------------------------------------------------------------

    def open(self, scenario: Scenario) -> None:
        """Begin with another map, other agents, or both."""
        self.take(runs.begin(scenario, told=self.told))

    def take(self, run: Run, agent: int = FIRST.agent) -> None:
        """Put a run in place of the open one: nothing has been done to it yet."""
        self.history = History(self)
        self._put_run(run, agent)

    def _put_run(self, run: Run, agent: int) -> None:
        self.run, self.unsaved = run, Unsaved(run)
        self._runs += 1
        self._agent = agent
        self.until = replace(self.until, since=0) if self.until else None
        self._limit_keyframes()
        self.keep_focus()

    def limit_keyframes(self, megabytes: int) -> None:
        """The most memory for going back in time, in this run and later ones; 0: as much as the run itself takes."""
        self._most_bytes = megabytes * 1_000_000 or None
        self._limit_keyframes()

    def _limit_keyframes(self) -> None:
        self.run.look_after_keyframes(self._most_bytes, beside=True)

    def reset(self, *, keeps_map: bool) -> None:
        """Tick 0 again, with the agents as the user has set them; on the first map, or with what was drawn on it.

        What was drawn at tick 0, before the run began, stays in any case. The script does what it did once more.
        """
        first = [command for tick, command in done_by_hand(self.run.timeline) if tick == 0]
        drawn = [command for command in first if isinstance(command, MapEdit) and not keeps_map]
        self._begin_again("begun again", keeps_map, drawn=drawn)

    def restart_with(self, **changes: Any) -> None:
        """Tick 0 with something of the scenario changed, such as the start; the map as edited stays."""
        words = ", ".join(f"{name} {value}" for name, value in changes.items())
        self._begin_again(f"begun again with {words}", True, lambda scenario: replace(scenario, **changes))

    def restart_from(self, agent: int, start: tuple[int, int]) -> None:
        """Tick 0 with another start of one agent; the map as edited stays."""
        walker = self.run.world.walker(agent)
        if walker is not None:
            self._begin_again(f"begun again with another start of {walker.label}", True, starts={agent: start})

    def set_movement(self, movement: Movement) -> None:
        """Tick 0 with another movement rule, as soon as what agents then need is there; what was drawn by hand stays.

        Whatever was searched and learned, and every length, is of the rule before: there is no way to go on with it.
        """
        grid = drawn_by_hand(self.run).copy(movement)
        if grid.movement != self.run.world.grid.movement:
            self.when_ready(configs_of(self.run), grid, partial(self._move_by, movement))

    def _move_by(self, movement: Movement) -> None:
        self.told.messages.append(f"tick 0 again: {movement.words}")
        self._begin_again(f"begun again with {movement.words}", True, lambda scenario: scenario.moved_by(movement))

    def _begin_again(
        self,
        words: str,
        keeps_map: bool,
        change: Callable[[Scenario], Scenario] = lambda scenario: scenario,
        drawn: Sequence[Command] = (),
        starts: Mapping[int, Pair] = {},
    ) -> None:
        """A new run. The one before can be undone like a stroke: no single key destroys work."""
        self.history.end()
        self.run.timeline.settle()  # "as they are set now" is where the run is on its way to
        left, tick, was_unsaved = self.as_left(), self.tick, self.has_unsaved_edits
        scenario, freed = with_free_ends(change(scenario_of(self.run, keeps_map=keeps_map, starts=starts)))
        self.told.messages.extend(freed)
        run = runs.begin(scenario, most_bytes=self._most_bytes, told=self.told)
        for command in drawn:
            run.do(command)
        self._put_run(run, FIRST.agent)
        if was_unsaved:
            self.unsaved.mark_unsaved()
        self.history.note(Done(words, _AnotherRun(self, left), tick))
        if len(left.state.branches) > 1 or any(not entry.is_scripted for entry in left.state.branches[0].entries):
            self.told.messages.append("begun again; {key:undo} goes back to the run before, with all its edits")

    def as_left(self) -> LeftRun:
        return LeftRun(self.run.state(), self.focused_key, self.unsaved.saved)

    def go_back_to(self, left: LeftRun) -> None:
        self._put_run(runs.again(left.state, most_bytes=self._most_bytes, told=self.told), left.focused.agent)
        self.unsaved.saved = left.saved

    @property
    def runs_left(self) -> list[LeftRun]:
        """The runs that were left by beginning again and can be gone back to, the first one first."""
        return [done.change.other for done in self.history.done if isinstance(done.change, _AnotherRun)]

    # --- what the run says ------------------------------------------------------------------------

    @property
    def tick(self) -> int:
        return self.run.clock if self.watched_from is None else self.run.furthest

    @property
    def panels_with_room(self) -> tuple[Panel, ...]:
        """Those that a window shows: as many as it has room for, the focused one among them."""
        panels = self.run.panels
        if len(panels) <= MOST_PANELS:
            return panels
        place = next((i for i, panel in enumerate(panels) if panel.key == self.focused_key), 0)
        end = max(MOST_PANELS, place + 1)
        return panels[end - MOST_PANELS : end]

    @property
    def generation(self) -> int:
        """Rises whenever pictures have to begin anew."""
        seen = (self._runs, self.run.generation)
        if seen != self._seen:
            self._seen = seen
            self._generation += 1
        return self._generation

    def panel_of(self, key: PanelKey) -> int:
        """The place of a panel among the others."""
        if key == NOBODY and self.watched_from is not None:
            return self.watched_from
        return self.run.panel_of(key)

    def compared(self, place: int | None = None) -> tuple[int, int]:
        """The places of the panels A and B that a heat map A - B compares; A is the focused one, or that at `place`."""
        return self.run.compared(self.panel_of(self.focused_key) if place is None else place)

    @property
    def has_unsaved_edits(self) -> bool:
        """Whether there is work that is not saved. Who only watches has none."""
        return self.watched_from is None and self.unsaved.is_any

    # --- time -------------------------------------------------------------------------------------

    def begin_seek(self, tick: int) -> None:
        """Set out for another tick, all branches on screen together."""
        self.run.begin_seek(tick)
        self.keep_focus()

    def continue_seek(self, work: float | None = None) -> bool:
        """Go on with the seek for a frame's worth of work; whether it has arrived."""
        has_arrived = self.run.continue_seek(work)
        self.keep_focus()
        return has_arrived

    def seek(self, tick: int) -> None:
        self.run.seek(tick)
        self.keep_focus()

    def make_whole(self) -> None:
        """After an error in the middle of something: the worlds on screen at their last whole tick."""
        self.run.make_whole()
        self.keep_focus()

    def advance(self, ticks: int) -> int:
        """Let ticks pass; fewer when a stop rule is met, where the run pauses, or when the world is over."""
        if self._pause is not None and self.tick < self._pause:
            ticks = min(ticks, self._pause - self.tick)
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
        self.until = Until(STOP_RULES[rule] if rule else None, tick, self.tick)

    @property
    def is_stopped_by_rule(self) -> bool:
        """Whether what a "run until" waits for has happened in the last tick."""
        return self.until is not None and self.until.is_met(self.run, self.focused_key, self.tick)

    @property
    def _pause(self) -> int | None:
        """The tick at which the run pauses, because its file says so."""
        until = self.run.scenario.until
        return None if until is None else until.tick

    @property
    def has_come_to_a_stop(self) -> bool:
        """Asked after ticks have passed: whether no more should before somebody has looked."""
        return self.is_stopped_by_rule or self.is_at_pause

    @property
    def is_at_pause(self) -> bool:
        return self.tick == self._pause

    # --- focus ------------------------------------------------------------------------------------

    @property
    def focused_key(self) -> PanelKey:
        """The focused panel: an agent of the branch in front, which may have none."""
        return PanelKey(self.run.front, self._agent) if self.watched_from is None else NOBODY

    @property
    def focused(self) -> Walker | None:
        return self.run.walker(self.focused_key)

    def focus(self, key: PanelKey) -> None:
        """Focus a panel, and with it the branch that gets what is done."""
        self._agent = key.agent
        if key.branch in self.run.tree.branches:
            self.run.front = key.branch

    def keep_focus(self) -> None:
        """The focus stays on a panel that is there."""
        if self.watched_from is not None or self.run.is_seeking or self.run.has_own_panel(self.focused_key):
            return
        if not self.run.panels or any(panel.key == self.focused_key for panel in self.run.panels):
            return
        of_branch = [panel for panel in self.run.panels if panel.key.branch == self.run.front]
        self.focus((of_branch or self.run.panels)[-1].key)

    def changed(self) -> None:
        """Something happened to the run."""
        self.run.changed()
        self.keep_focus()

    # --- doing things, and taking them back -----------------------------------------------------

    def do(self, command: Command) -> None:
        """Apply a command now to the focused branch, and to those that are linked with it."""
        self.history.submit(command)
        self.keep_focus()

    @contextmanager
    def doing(self, words: str) -> Iterator[None]:
        """What is done inside is one thing, which Ctrl+Z takes back."""
        with self.history.doing(words):
            yield
        self.changed()


@dataclass
class _AnotherRun:
    """A run was left for another one: taking that back swaps them."""

    session: Session
    other: LeftRun

    def turn(self, forwards: bool) -> None:
        mine = self.session.as_left()
        self.session.go_back_to(self.other)
        self.other = mine
