"""What a user does with a run: looking at a panel, editing, beginning again, saving; and taking all of it back.

The run itself, its branches and its time are a Run (run.py). Everything that changes a world goes through `do`, as a
command at a tick boundary; the commands with their ticks are the recording of the session. Whatever is done is noted
in one History (history.py), so Ctrl+Z takes back the last thing, whatever it was. No pygame here.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from agents.own_files import pinned
from sim import commands
from sim.commands import AgentConfig, Command, MapEdit, Pair
from sim.files.scenario import Scenario
from sim.grid import Grid
from sim.movement import Movement
from sim.params import ConfigError, Value
from sim.time.branches import Branch, BranchTree
from sim.time.log import Entry
from sim.time.recorded import MarkKind
from sim.time.timeline import Timeline
from sim.walker import Walker
from sim.world import World
from ui.model import run as runs
from ui.model import script
from ui.model.beginning import configs_of, done_by_hand, scenario_of, with_free_ends
from ui.model.crowds import Crowd
from ui.model.drawn import drawn_by_hand
from ui.model.history import Done, History
from ui.model.keys import FIRST, NOBODY, PanelKey
from ui.model.layout import MOST_PANELS
from ui.model.run import Edits, Run, RunState, Told
from ui.model.run import Panel as Panel
from ui.model.script import Deed, deeds_of
from ui.model.stopping import STOP_RULES, StopRule
from ui.model.trails import Trail
from ui.model.wording import RunNames

_OF_AGENTS = (commands.AddAgent, commands.RemoveAgent, commands.NameAgent)
WORTH_ASKING = (MapEdit, commands.MoveGoal, commands.NameSwitch, *_OF_AGENTS)

Work = tuple[tuple[int, str, tuple[Entry, ...]], ...]
T = TypeVar("T")


WhenReady = Callable[[Sequence[AgentConfig], Grid, Callable[[], None]], None]
"""Sees to it that all is there which agents of these kinds need on this map, then goes on."""


def _at_once(agents: Sequence[AgentConfig], grid: Grid, go_on: Callable[[], None]) -> None:
    """Whoever shows no window does not mind that an agent makes what it needs itself."""
    go_on()


def _nothing() -> None:
    """There is nothing to go on with."""


@dataclass(frozen=True)
class LeftRun:
    """A run that was left by beginning again."""

    state: RunState
    focused: PanelKey
    saved_work: "Work | None"


class Session:
    """The open run. `told` collects what the user should be told; the window shows and clears it."""

    def __init__(self, begun: Scenario | Run) -> None:
        self.told = begun.told if isinstance(begun, Run) else Told()
        self.watched_from: int | None = None  # the panel that a heat map A - B takes for A, where nothing has the focus
        self.stop_rule: StopRule | None = None
        self.stop_tick: int | None = None
        self.path: Path | None = None
        self.crashed: list[Path] = []  # journals that this run was taken up from, and whose place its own takes
        self.when_ready: WhenReady = _at_once
        self._most_bytes: int | None = None
        self._runs = self._generation = 0
        self._seen: tuple[object, ...] = ()  # what the generation was counted up for
        self._saved_work: Work | None = None  # what was there when it was saved last
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
        self.mark_saved()

    def _put_run(self, run: Run, agent: int) -> None:
        self.run = run
        self._runs += 1
        self._agent = agent
        self._runs_since = 0  # tick at which the last "run until" began
        self._limit_keyframes()
        self._keep_focus()

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
        drawn = [] if keeps_map else [c for tick, c in self.log if tick == 0 and isinstance(c, MapEdit)]
        self._begin_again("begun again", keeps_map, drawn=drawn)

    def restart_with(self, **changes: Any) -> None:
        """Tick 0 with something of the scenario changed, such as the start; the map as edited stays."""
        words = ", ".join(f"{name} {value}" for name, value in changes.items())
        self._begin_again(f"begun again with {words}", True, lambda scenario: replace(scenario, **changes))

    def set_movement(self, movement: Movement) -> None:
        """Tick 0 with another movement rule, as soon as what agents then need is there; what was drawn by hand stays.

        Whatever was searched and learned, and every length, is of the rule before: there is no way to go on with it.
        """
        grid = drawn_by_hand(self.run).copy(movement)
        if grid.movement != self.world.grid.movement:
            self.when_ready(self.configs(), grid, partial(self._move_by, movement))

    def _move_by(self, movement: Movement) -> None:
        self.messages.append(f"tick 0 again: {movement.words}")
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
        self.timeline.settle()  # "as they are set now" is where the run is on its way to
        left, tick, was_unsaved = self.as_left(), self.tick, self.has_unsaved_edits
        scenario, freed = with_free_ends(change(scenario_of(self.run, keeps_map=keeps_map, starts=starts)))
        self.messages.extend(freed)
        run = runs.begin(scenario, most_bytes=self._most_bytes, told=self.told)
        for command in drawn:
            run.do(command)
        self._put_run(run, FIRST.agent)
        self._saved_work = None if was_unsaved else self._work()
        self.history.note(Done(words, _AnotherRun(self, left), tick))
        if len(left.state.branches) > 1 or any(not entry.is_scripted for entry in left.state.branches[0].entries):
            self.messages.append("begun again; Ctrl+Z goes back to the run before, with all its edits")

    def as_left(self) -> LeftRun:
        return LeftRun(self.run.state(), self.focused_key, self._saved_work)

    def go_back_to(self, left: LeftRun) -> None:
        self._put_run(runs.again(left.state, most_bytes=self._most_bytes, told=self.told), left.focused.agent)
        self._saved_work = left.saved_work

    @property
    def runs_left(self) -> list[LeftRun]:
        """The runs that were left by beginning again and can be gone back to, the first one first."""
        return [done.change.other for done in self.history.done if isinstance(done.change, _AnotherRun)]

    @property
    def messages(self) -> list[str]:
        return self.told.messages

    @property
    def alarms(self) -> list[str]:
        """What must not be missed."""
        return self.told.alarms

    # --- what the run says ------------------------------------------------------------------------

    @property
    def scenario(self) -> Scenario:
        return self.run.scenario

    @property
    def tree(self) -> BranchTree:
        return self.run.tree

    @property
    def branch(self) -> int:
        """The focused branch: what is done goes there."""
        return self.run.front

    @property
    def shown(self) -> list[int]:
        return self.run.shown

    @property
    def shown_branches(self) -> list[Branch]:
        return self.run.shown_branches

    @property
    def timeline(self) -> Timeline:
        return self.run.timeline

    @property
    def world(self) -> World:
        """The world of the focused branch."""
        return self.run.world

    @property
    def tick(self) -> int:
        return self.run.tick if self.watched_from is None else self.run.furthest

    @property
    def is_over(self) -> bool:
        return self.run.is_over

    @property
    def recorded_end(self) -> int:
        return self.run.recorded_end

    @property
    def is_seeking(self) -> bool:
        return self.run.is_seeking

    @property
    def panels(self) -> tuple[Panel, ...]:
        return self.run.panels

    @property
    def panels_with_room(self) -> tuple[Panel, ...]:
        """Those that a window shows: as many as it has room for, the focused one among them."""
        panels = self.panels
        if len(panels) <= MOST_PANELS:
            return panels
        place = next((i for i, panel in enumerate(panels) if panel.key == self.focused_key), 0)
        end = max(MOST_PANELS, place + 1)
        return panels[end - MOST_PANELS : end]

    @property
    def trails(self) -> dict[PanelKey, Trail]:
        return self.run.trails

    @property
    def generation(self) -> int:
        """Rises whenever pictures have to begin anew."""
        seen = (self._runs, self.run.generation)
        if seen != self._seen:
            self._seen = seen
            self._generation += 1
        return self._generation

    def walker(self, key: PanelKey) -> Walker | None:
        """The agent of a panel; of a crowd the one that was picked, or else the first."""
        return self.run.walker(key)

    def followed(self, key: PanelKey) -> Walker | None:
        """The agent that the camera goes with: in a crowd only one that was picked."""
        return self.run.followed(key)

    def pick(self, key: PanelKey, agent: int | None) -> None:
        """Show the mind of one agent of a crowd, and follow it; None: of no one."""
        self.run.pick(key, agent)

    def point_at(self, key: PanelKey | None, agent: int | None) -> None:
        """Show the mind of one agent of a crowd as long as the mouse is over it."""
        self.run.point_at(key, agent)

    def crowd(self, key: PanelKey) -> Crowd | None:
        """The crowd of a panel."""
        return self.run.crowd(key)

    def panel_of(self, key: PanelKey) -> int:
        """The place of a panel among the others."""
        if key == NOBODY and self.watched_from is not None:
            return self.watched_from
        return self.run.panel_of(key)

    def shown_edits(self, panel: PanelKey = FIRST) -> Edits:
        return self.run.shown_edits(panel)

    def compared(self, place: int | None = None) -> tuple[int, int]:
        """The places of the panels A and B that a heat map A - B compares; A is the focused one, or that at `place`."""
        return self.run.compared(self.panel_of(self.focused_key) if place is None else place)

    @property
    def log(self) -> list[tuple[int, Command]]:
        """What was done by hand in the focused branch, with its ticks."""
        return done_by_hand(self.timeline)

    def marks(self, kinds: Sequence[MarkKind] = tuple(MarkKind)) -> npt.NDArray[np.void]:
        """What happened when in the focused branch, for the scrubber."""
        return self.timeline.marks(0, max(self.timeline.recorded_end, self.timeline.horizon), kinds)

    # --- saved or not -----------------------------------------------------------------------------

    def _work(self) -> Work:
        """All that would have to be saved: branches, their names and commands."""
        return tuple((b.number, b.name, b.timeline.entries()) for b in self.tree.branches.values())

    def mark_saved(self) -> None:
        self._saved_work = self._work()

    def mark_unsaved(self) -> None:
        """Whatever there is has not been saved, as after a crash."""
        self._saved_work = None

    def mark_map_saved(self) -> None:
        """The map alone was saved: that is everything if nothing but the map was changed."""
        if self.is_map_alone:
            self.mark_saved()

    @property
    def is_map_alone(self) -> bool:
        """Whether nothing but the map was changed."""
        return len(self.tree.branches) == 1 and all(isinstance(c, MapEdit) for _, c in self.log)

    @property
    def has_unsaved_edits(self) -> bool:
        """Whether something was done since the run was opened or saved that was not taken back."""
        return self.watched_from is None and self._saved_work != self._work()

    @property
    def would_lose_work(self) -> bool:
        """Whether to ask before it is lost: settings that are turned by a key are not worth a question."""
        if not self.has_unsaved_edits:
            return False
        commands_done = [c for branch in self.tree.branches.values() for c in by_hand(branch.timeline)]
        is_work = len(self.tree.branches) > 1 or any(isinstance(c, WORTH_ASKING) for c in commands_done)
        return is_work or self._saved_work is None

    # --- time -------------------------------------------------------------------------------------

    def begin_seek(self, tick: int) -> None:
        """Set out for another tick, all branches on screen together."""
        self.run.begin_seek(tick)
        self._keep_focus()

    def continue_seek(self, work: float | None = None) -> bool:
        """Go on with the seek for a frame's worth of work; whether it has arrived."""
        has_arrived = self.run.continue_seek(work)
        self._keep_focus()
        return has_arrived

    def seek(self, tick: int) -> None:
        self.run.seek(tick)
        self._keep_focus()

    def make_whole(self) -> None:
        """After an error in the middle of something: the worlds on screen at their last whole tick."""
        self.run.make_whole()
        self._keep_focus()

    def advance(self, ticks: int) -> int:
        """Let ticks pass; fewer when a stop rule is met or the world is over."""
        if not self.has_stop_rule:
            return self._advance(ticks)
        passed = 0
        while passed < ticks and self._advance(1):
            passed += 1
            if self.is_stopped_by_rule():
                break
        return passed

    def _advance(self, ticks: int) -> int:
        passed = self.run.advance(ticks)
        self._keep_focus()
        return passed

    def advance_for(self, seconds: float) -> int:
        """As many ticks as fit into the time."""
        deadline = time.perf_counter() + seconds
        passed, bulk = 0, 1
        while time.perf_counter() < deadline:
            before = time.perf_counter()
            done = self.advance(bulk)
            passed += done
            if done < bulk:
                break
            spent = max(1e-6, time.perf_counter() - before)
            bulk = max(1, min(2048, int(bulk * 0.5 * (deadline - before) / spent)))
        return passed

    @property
    def is_being_read(self) -> bool:
        """Whether the next tick would have to wait until a keyframe is read."""
        return self.run.is_being_read

    def hurry(self) -> None:
        """A tick waits for what is read in another thread."""
        self.run.tree.store.hurry()

    def go_on_measuring(self) -> None:
        self.run.go_on_measuring()

    def run_until(self, rule: str | None, tick: int | None = None) -> None:
        self.stop_rule = STOP_RULES[rule] if rule else None
        self.stop_tick = tick
        self._runs_since = self.tick

    @property
    def has_stop_rule(self) -> bool:
        return self.stop_rule is not None or self.stop_tick is not None

    def is_stopped_by_rule(self) -> bool:
        """Whether what a "run until" waits for has happened in the last tick."""
        if self.tick <= self._runs_since:
            return False
        is_there = self.stop_tick is not None and self.tick >= self.stop_tick
        return is_there or (self.stop_rule is not None and self.stop_rule.is_met_in(self.run, self.focused_key))

    # --- focus ------------------------------------------------------------------------------------

    @property
    def focused_key(self) -> PanelKey:
        """The focused panel: an agent of the branch in front, which may have none."""
        return PanelKey(self.run.front, self._agent) if self.watched_from is None else NOBODY

    @property
    def focused(self) -> Walker | None:
        return self.walker(self.focused_key)

    def focus(self, key: PanelKey) -> None:
        """Focus a panel, and with it the branch that gets what is done."""
        self._agent = key.agent
        if key.branch in self.tree.branches:
            self.run.front = key.branch

    def _keep_focus(self) -> None:
        """The focus stays on a panel that is there."""
        if self.watched_from is not None or self.is_seeking or self.run.has_own_panel(self.focused_key):
            return
        if not self.panels or any(panel.key == self.focused_key for panel in self.panels):
            return
        of_branch = [panel for panel in self.panels if panel.key.branch == self.branch]
        self.focus((of_branch or self.panels)[-1].key)

    def changed(self) -> None:
        """Something happened to the run."""
        self.run.changed()
        self._keep_focus()

    # --- doing things, and taking them back -----------------------------------------------------

    def do(self, command: Command) -> None:
        """Apply a command now to the focused branch, and to those that are linked with it."""
        self.history.submit(command)
        self._keep_focus()

    @contextmanager
    def doing(self, words: str) -> Iterator[None]:
        """What is done inside is one thing, which Ctrl+Z takes back."""
        with self.history.doing(words):
            yield
        self.changed()

    def undo(self) -> Done | None:
        """Take back the last thing done, whatever it was; None when there is none."""
        done = self.history.undo()
        self._keep_focus()
        return done

    def redo(self) -> Done | None:
        done = self.history.redo()
        self._keep_focus()
        return done

    def go_to(self, place: int) -> None:
        """Back, or on again, to where so many things are done."""
        self.history.go_to(place)
        self._keep_focus()

    # --- the map ----------------------------------------------------------------------------------

    def free_map(self) -> npt.NDArray[np.bool_]:
        """bool[height, width], for the flood fill."""
        grid = self.world.grid
        return grid.free.reshape(grid.height, grid.width)

    def begin_stroke(self) -> None:
        """What is painted until `end_stroke` is one stroke."""
        self.history.begin(is_stroke=True)

    def end_stroke(self) -> None:
        self.history.end()

    def cancel_stroke(self) -> None:
        """Take back the stroke that is going on."""
        self.history.cancel()
        self._keep_focus()

    def paint(self, cells: Iterable[int], *, block: bool) -> None:
        """Block or free cells as part of the stroke that is going on, or as a stroke of their own."""
        wanted = tuple(c for c in dict.fromkeys(cells) if self.world.grid.is_free(c) == block)
        stood_on = {walker.position: walker.label for walker in self.world.walkers}
        if block and wanted and all(cell in stood_on for cell in wanted):  # nothing would come of it
            self.messages.append(f"{self.world.grid.xy(wanted[0])} stays free: {stood_on[wanted[0]]} stands on it")
        elif wanted:
            self.do(commands.EditCells(blocked=wanted) if block else commands.EditCells(freed=wanted))

    def move_goal(self, cell: int) -> None:
        grid = self.world.grid
        if not grid.is_free(cell):
            self.messages.append(f"the goal cannot be at {grid.xy(cell)}: that cell is blocked")
        elif cell != self.world.goal:
            self.do(commands.MoveGoal(cell))

    def move_own_goal(self, agent: int, cell: int) -> None:
        """The goal of one agent of the branch in front, which is its own from then on."""
        self.do(commands.MoveGoal(cell, agent))

    def restart_from(self, agent: int, start: tuple[int, int]) -> None:
        """Tick 0 with another start of one agent; the map as edited stays."""
        walker = self.world.walker(agent)
        if walker is not None:
            self._begin_again(f"begun again with another start of {walker.label}", True, starts={agent: start})

    def flip_switch(self, name: str) -> None:
        """Block a switch that is open, free one that is blocked."""
        self.do(commands.SetSwitch(name, not self.world.switch_states()[name]))

    def name_switch(self, name: str, cells: Sequence[int]) -> None:
        """Make cells a switch; no cells: end it."""
        self.do(commands.NameSwitch(name, tuple(cells)))

    def take_edits_back(self) -> bool:
        """The map as it was opened; False where it is that already."""
        grid = self.world.grid
        changed = np.flatnonzero(grid.terrain.reshape(-1) != grid.original.reshape(-1))
        if changed.size:
            letters = bytes(grid.original.reshape(-1)[changed].tolist()).decode("ascii")
            with self.doing("the map as it was opened"):
                self.do(commands.SetTerrain(tuple(changed.tolist()), letters))
        return bool(changed.size)

    # --- agents -----------------------------------------------------------------------------------

    def move_panel(self, key: PanelKey, by: int) -> None:
        """Another place among the panels. Agents do not meet, so their order changes nothing else."""
        walker = self.walker(key)
        with self.doing(f"{walker.label if walker else 'a panel'} moved"):
            self._put_panel(key, max(0, self.panel_of(key) + by))

    def _put_panel(self, key: PanelKey, place: int) -> None:
        """Give a panel this place among the others, or the last one if there are fewer."""
        others = [panel.key for panel in self.panels if panel.key != key]
        self.run.arrange([*others[:place], key, *others[place:]])

    def add_agent(self, config: AgentConfig) -> bool:
        """Put another agent on the start; False (and a message) when it is not legal."""
        try:
            self.world.check_agent(config)
        except ConfigError as error:
            self.messages.extend(error.problems)
            return False
        self.when_ready((config,), self.world.grid, partial(self._add, config))
        return True

    def _add(self, config: AgentConfig) -> None:
        with self.history.doing():
            self.do(commands.AddAgent(pinned(config)))
            self.focus(PanelKey(self.branch, self.world.walkers[-1].id))

    def replace_agent(self, key: PanelKey, config: AgentConfig, then: Callable[[], None] = _nothing) -> bool:
        """Another agent in the same panel; it begins at the start as soon as what it needs is there."""
        self.focus(key)
        try:
            self.world.check_agent(config)
        except ConfigError as error:
            self.messages.extend(error.problems)
            return False
        self.when_ready((config,), self.world.grid, partial(self._replace, key, config, then))
        return True

    def _replace(self, key: PanelKey, config: AgentConfig, then: Callable[[], None]) -> None:
        self.focus(key)
        place, gone = self.panel_of(key), self.focused
        with self.doing(f"{gone.label if gone else 'an agent'} replaced"):
            self._add(config)
            new = self.focused_key
            self.do(commands.RemoveAgent(key.agent))
            self._put_panel(new, place)
            self.focus(new)
        then()

    def remove_agent(self, key: PanelKey) -> None:
        self.focus(key)
        self.do(self._told_to(key, commands.RemoveAgent(key.agent)))

    def _told_to(
        self, key: PanelKey, command: commands.SetBudget | commands.SetParam | commands.RemoveAgent
    ) -> Command:
        """What the agent of a panel is told, or all of its crowd."""
        walker = self.walker(key)
        group = walker.config.group if walker else ""
        return commands.ToGroup(group, replace(command, agent=0)) if group else command

    def set_param(self, key: PanelKey, name: str, value: Value, then: Callable[[], None] = _nothing) -> None:
        """Change a parameter as soon as what the agent then needs is there; `then` also hears of a refusal."""
        self.focus(key)
        walker = self.walker(key)
        param = walker.spec.param(name) if walker else None
        if walker is None or param is None:
            return
        try:
            legal = param.parse(value, f"{walker.label}: {name}")
        except ConfigError as error:
            self.messages.extend(error.problems)
            then()
            return
        if legal != walker.params[name]:
            config = replace(walker.config, params={**walker.params, name: legal})
            self.when_ready((config,), self.world.grid, partial(self._set_param, key, name, legal, then))

    def _set_param(self, key: PanelKey, name: str, value: Value, then: Callable[[], None]) -> None:
        self.focus(key)
        self.do(self._told_to(key, commands.SetParam(key.agent, name, value)))
        then()

    def set_budget(self, key: PanelKey, budget: int | None) -> None:
        """A budget of its own for one agent, or the shared one again."""
        self.focus(key)
        self.do(self._told_to(key, commands.SetBudget(budget, key.agent)))

    def configs(self) -> list[AgentConfig]:
        """The agents of the focused branch as they are set now, in the order of the panels."""
        return configs_of(self.run)

    def label_of(self, key: PanelKey) -> str:
        """What the agent of a panel is called."""
        walker = self.walker(key)
        names = self.tree[key.branch].timeline.given_names() if walker is not None else {}
        return "" if walker is None else names.get(walker.id) or walker.label

    def name_agent(self, key: PanelKey, label: str) -> None:
        """Another name for an agent; none at all: that of its algorithm."""
        self.focus(key)
        walker = self.walker(key)
        if walker is not None and not walker.config.group and label != self.label_of(key):
            with self.doing(f"{self.label_of(key)} named {label or walker.spec.name}"):
                self.do(commands.NameAgent(walker.id, "" if label == walker.spec.name else label))

    # --- branches ---------------------------------------------------------------------------------

    def branch_here(self) -> Branch:
        """Another future from the present tick on, beside the one it comes from."""
        agent = self.focused_key.agent
        with self.doing("branch made"):
            branch = self.tree.branch(self.branch)
            branch.timeline.settle()
            self._show_beside(branch, agent)
        return branch

    def add_branch(self, words: str, make: Callable[[], Branch], agent: int) -> Branch:
        """A future that somebody else makes, beside the focused one."""
        with self.doing(words):
            branch = make()
            self._show_beside(branch, agent)
        return branch

    def _show_beside(self, branch: Branch, agent: int) -> None:
        self.run.show([*self.shown, branch.number])
        self.focus(PanelKey(branch.number, agent))

    def split(self, variants: Sequence[Mapping[str, Value | None]]) -> list[Branch]:
        """One future for each setting of the focused agent; later commands go to all of them."""
        agent = self.focused_key.agent
        with self.doing(f"split into {len(variants)} futures"):
            futures = self.tree.split_policy(self.branch, agent, variants)
            for branch in futures:
                branch.timeline.settle()
            self.run.show(branch.number for branch in futures)
            split = [PanelKey(number, agent) for number in self.shown]
            others = [key for key in self.run.order if key not in split]
            self.run.arrange([*split, *others])  # the split first: there may be too many panels
            self.focus(split[0])
        return futures

    def show_branch(self, number: int) -> None:
        """Put a branch on screen, at the tick of the others, and focus it."""
        if number not in self.shown:
            self.run.show([*self.shown, number])
        self.run.front = number
        self.run.changed()
        first = next((p.key for p in self.panels if p.key.branch == number), None)
        if first is not None:
            self.focus(first)

    def hide_branch(self, number: int) -> None:
        """Take a branch off the screen; the last one stays."""
        if len(self.shown) > 1 and number in self.shown:
            self.run.show(shown for shown in self.shown if shown != number)
            self._keep_focus()

    def rename_branch(self, number: int, name: str) -> None:
        if name.strip():
            with self.doing(f'"{self.tree[number].name}" renamed'):
                self.tree.rename(number, name.strip())

    def delete_branch(self, number: int) -> None:
        with self.doing(f'"{self.tree[number].name}" deleted'):
            self.run.delete(number)

    def compare_with_parent(self) -> bool:
        """Put the focused branch and its parent side by side; False when it has none."""
        parent, focused = self.tree[self.branch].parent, self.focused_key
        if parent is None:
            return False
        self.run.show([parent, self.branch])
        self.run.arrange([])
        self.focus(focused)
        self._keep_focus()
        return True

    # --- the script -------------------------------------------------------------------------------

    def entries(self) -> tuple[Entry, ...]:
        """All commands of the focused branch, those of the scenario and those done by hand."""
        return self.timeline.entries()

    def deeds(self) -> list[Deed]:
        """The same as a user sees it: a stroke is one."""
        return deeds_of(entry for entry in self.entries() if not isinstance(entry.command, commands.Serve))

    def move_deed(self, deed: Deed, by: int) -> None:
        """The same so many ticks later or earlier; the run is computed again from there."""
        self._rewrite(deed, "moved in time", lambda line, there: script.move(line, there, by))

    def toggle_deed(self, deed: Deed) -> None:
        self._rewrite(deed, "switched off" if deed.is_enabled else "switched on", script.toggle)

    def delete_deed(self, deed: Deed) -> None:
        self._rewrite(deed, "deleted", script.delete)

    def duplicate_deed(self, deed: Deed) -> None:
        self._rewrite(deed, "done once more", script.duplicate)

    def _rewrite(self, deed: Deed, words: str, rewrite: Callable[[Timeline, Deed], None]) -> None:
        """Change the script where it still has what is to be changed."""
        there = {entry.id for entry in self.entries()}
        entries = tuple(entry for entry in deed.entries if entry.id in there)
        if entries:
            with self.doing(f"{deed.command.say(RunNames(self.timeline))}: {words}"):
                rewrite(self.timeline, Deed(entries))


@dataclass
class _AnotherRun:
    """A run was left for another one: taking that back swaps them."""

    session: Session
    other: LeftRun

    def turn(self, forwards: bool) -> None:
        mine = self.session.as_left()
        self.session.go_back_to(self.other)
        self.other = mine


def by_hand(timeline: Timeline) -> list[Command]:
    """What was done in a timeline beside its script, also where it is switched off."""
    return [entry.command for entry in timeline.entries() if not entry.is_scripted]
