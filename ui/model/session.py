"""What is open in the window: a tree of branches, each a run that can be wound back; some of them side by side.

Everything that changes a world goes through `do`, as a command at a tick boundary; the commands with their ticks are
the recording of the session. A panel is named by its branch and its agent (keys.py) and shows its own world. No pygame
here.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.registry import BY_KEY
from sim import commands
from sim.commands import AgentConfig, Command
from sim.crowd import groups_of
from sim.files.scenario import Scenario, build_world
from sim.grid import Grid
from sim.kernels import log
from sim.measuring import A_TICK
from sim.params import ConfigError, Value
from sim.time.branches import Branch, BranchState, BranchTree
from sim.time.log import Entry
from sim.time.recorded import MarkKind
from sim.time.timeline import Timeline
from sim.world import Snapshot, Walker, WalkerView, World
from ui.model.crowds import Crowd, Follower, as_one
from ui.model.keys import FIRST, PanelKey
from ui.model.script import Deed, deeds_of
from ui.model.strokes import Stroke, Strokes
from ui.model.trails import Trail

SEEK_WORK = 8000.0
"""Microseconds of replay in one frame while a seek is under way."""

READER = ThreadPoolExecutor(1, "keyframes")
"""Reads keyframes while the window draws, presents and waits."""

EDIT_SHOWN_TICKS = 200
"""How long an edited cell stays marked on the map."""

_AGAIN_AFTER = 10  # ticks until what is done once more is done

MAP_EDITS = (commands.EditCells, commands.SetTerrain, commands.SetSwitch)
WORTH_ASKING = (*MAP_EDITS, commands.MoveGoal)

Work = tuple[tuple[int, str, tuple[Entry, ...]], ...]

WhenReady = Callable[[AgentConfig, Callable[[], None]], None]
"""Sees to it that all is there which an agent of this kind needs, then goes on."""


def _at_once(config: AgentConfig, go_on: Callable[[], None]) -> None:
    """Whoever shows no window does not mind that the agent makes what it needs itself."""
    go_on()


def _nothing() -> None:
    """There is nothing to go on with."""


@dataclass(frozen=True)
class Panel:
    """What one panel shows: an agent of one of the worlds on screen, or a crowd under the number of its first."""

    key: PanelKey
    world: World  # its own: that of the branch which the agent belongs to
    snapshot: Snapshot  # of that world
    view: WalkerView  # of a crowd, all of them as one
    branch: str = ""  # name of the branch, where several are shown
    crowd: Crowd | None = None  # where it shows all agents of a group
    member: WalkerView | None = None  # the one of them whose mind is shown

    @property
    def mind(self) -> WalkerView | None:
        """The agent whose search, path and trail are drawn; None: of a crowd nobody was chosen."""
        return self.view if self.crowd is None else self.member


@dataclass(frozen=True)
class LeftRun:
    """A run that was left by beginning again, as plain values: keyframes would hold its memory."""

    scenario: Scenario
    states: tuple[BranchState, ...]
    groups: tuple[tuple[int, ...], ...]
    focused: PanelKey
    shown: tuple[int, ...]
    order: tuple[PanelKey, ...]
    strokes: list[Stroke]
    undone: list[Stroke]
    saved_work: "Work | None"
    before: "LeftRun | None"  # the one that had been left for it


@dataclass(frozen=True)
class StopRule:
    """When a run that was started with "run until" pauses."""

    name: str
    is_met: Callable[["Session", PanelKey, np.ndarray], bool]  # asked for every panel after every tick, with its key


def _next_move(session: "Session", key: PanelKey, row: np.ndarray) -> bool:
    trail = session.trails[key].cells
    return key == session.focused_key and len(trail) > 1 and trail[-1] != trail[-2]


STOP_RULES = {
    "move": StopRule("next move", _next_move),
    "back_move": StopRule("next back-move", lambda s, key, row: bool(row["marks"] & log.BACK_MOVE)),
    "restart": StopRule("next restart", lambda s, key, row: bool(row["marks"] & log.RESTARTED)),
    "arrival": StopRule("next arrival", lambda s, key, row: bool(row["marks"] & log.ARRIVED)),
}


class Session(Strokes):
    """The open run. `messages` and `alarms` collect what the user should be told; the window shows and clears them."""

    _keyframe_bytes: int | None = None
    _trail_of: dict[PanelKey, int | None]
    measures_at_once = False  # for those who wait for a frame, but not for a number

    def __init__(self, scenario: Scenario) -> None:
        self.messages: list[str] = []
        self.alarms: list[str] = []  # what must not be missed: the run is not the one that was saved
        self.stop_rule: StopRule | None = None
        self.stop_tick: int | None = None
        self.path: Path | None = None
        self.when_ready: WhenReady = _at_once
        self._trail_of = {}  # of crowds: whose trail their panel has
        self._builds = 0  # how many runs there have been: pictures begin anew with each
        self.open(scenario)

    # --- opening and starting again ---------------------------------------------------------------

    def open(self, scenario: Scenario) -> None:
        """Begin with another map, other agents, or both."""
        self.focused_key = FIRST
        self._left: LeftRun | None = None
        self._build(scenario)
        self.mark_saved()

    def maker(self, scenario: Scenario, problems: list[str] | None = None) -> Callable[[], World]:
        """What makes the world of tick 0, its true distances measured in pieces where somebody waits for frames."""
        return world_maker(scenario, problems, measures_at_once=self.measures_at_once)

    def _build(self, scenario: Scenario) -> None:
        """A new tree with one branch at tick 0."""
        self.scenario = scenario
        self.forget_strokes()
        self.strokes_of_entries: dict[
            int, int
        ] = {}  # by entry, which pieces belong together; not saved, see ui/model/script.py
        self._runs_since = 0  # tick at which the last "run until" began
        problems: list[str] = []
        self.tree = BranchTree(self.maker(scenario, problems))
        self._look_after_keyframes()
        self.messages += dict.fromkeys(problems)  # once, however often the world of tick 0 was made
        self.branch = 0
        self.shown = [0]
        self.order: list[PanelKey] = []
        self.trails: dict[PanelKey, Trail] = {}
        self._followers: dict[PanelKey, Follower] = {}
        self._builds += 1
        self._told: set[tuple[int, str]] = set()
        self._panels: tuple[Panel, ...] | None = None
        self._edits: dict[int, dict[int, tuple[int, bool]]] = {}  # by branch
        self.changed()

    def limit_keyframes(self, megabytes: int) -> None:
        """The most memory for going back in time, in this run and later ones; 0: as much as the run itself takes."""
        self._keyframe_bytes = megabytes * 1_000_000 or None
        self._look_after_keyframes()

    def _look_after_keyframes(self) -> None:
        self.tree.store.beside = READER
        self.tree.store.budget = self._keyframe_bytes

    def plant(self, tree: BranchTree, branch: int, shown: list[int]) -> None:
        """Take a tree that was saved, with these branches on screen."""
        self.tree, self.branch, self.shown = tree, branch, shown
        self._look_after_keyframes()
        self.trails, self.order, self._followers = {}, [], {}
        self._builds += 1
        self.focused_key = PanelKey(branch, self.focused_key.agent)
        self.begin_seek(tree[branch].timeline.target)

    def reset(self, *, keeps_map: bool) -> None:
        """Tick 0 again, with the agents as they are set now; on the first map, or on the map as edited.

        What was drawn at tick 0, before the run began, stays in any case.
        """
        drawn = [] if keeps_map else [c for tick, c in self.log if tick == 0 and isinstance(c, MAP_EDITS)]
        self._begin_again(keeps_map=keeps_map)
        for command in drawn:
            self.do(command)

    def restart_with(self, **changes: object) -> None:
        """Tick 0 with something of the scenario changed, such as the start; the map as edited stays."""
        self._begin_again(keeps_map=True, **changes)

    def _begin_again(self, *, keeps_map: bool, **changes: object) -> None:
        """A new run. The one before can be undone like a stroke: no single key destroys work."""
        self.timeline.settle()  # "as they are set now" is where the run is on its way to
        left, was_unsaved = self._as_left(), self.has_unsaved_edits
        scenario = replace(self.scenario_now(keeps_map=keeps_map), **changes)  # type: ignore[arg-type]
        self._build(self._with_free_ends(scenario))
        self._left = left
        self._saved_work = None if was_unsaved else self._work()
        if len(left.states) > 1 or any(not entry.is_scripted for entry in left.states[0].entries):
            self.messages.append("begun again; Ctrl+Z goes back to the run before, with all its edits")

    def scenario_now(self, *, keeps_map: bool) -> Scenario:
        """The run as something to begin again: on its first map or as edited, with the agents as they are set now.

        What the user has set by hand stays. What the script has set stays out: the script will set it again.
        """
        world, pair = self.world, self.world.grid.xy
        changes = world.random_changes
        by_hand: dict[type[Command], dict[str, Any]] = {
            commands.MoveGoal: {"goal": pair(world.goal)},
            commands.SetBudget: {"budget": world.budget},
            commands.SetTrials: {"trials": world.trials},
            commands.SetChanges: {"changes": changes if changes.rate > 0 else None},
        }
        done = {type(command) for _, command in self.log}
        set_by_hand = {name: value for kind in by_hand if kind in done for name, value in by_hand[kind].items()}
        grid = world.grid.copy() if keeps_map else self.scenario.grid
        agents = tuple(_as_in_a_file(config) for config in self.configs())
        return replace(self.scenario, agents=agents, grid=grid, **set_by_hand)

    def _with_free_ends(self, scenario: Scenario) -> Scenario:
        """A run cannot begin with a start or a goal that was blocked in the meantime."""
        grid = scenario.grid.copy()
        letters, original = grid.terrain.reshape(-1), grid.original.reshape(-1)
        blocked = [(name, c) for name, c in _ends_of(scenario).items() if not scenario.grid.is_free(c)]
        for name, cell in blocked:
            letters[cell] = original[cell] if Grid.is_passable_letter(original[cell : cell + 1])[0] else ord(".")
            self.messages.append(f"the {name} is free again, for the run to begin")
        return replace(scenario, grid=grid.copy()) if blocked else scenario

    def _as_left(self) -> "LeftRun":
        return LeftRun(
            self.scenario,
            tuple(self.tree.states()),
            tuple(map(tuple, self.tree.groups())),
            self.focused_key,
            tuple(self.shown),
            tuple(self.order),
            self.strokes,
            self.undone,
            self._saved_work,
            self._left,
        )

    @property
    def runs_left(self) -> int:
        """How many runs were left by beginning again and can be gone back to."""
        left, number = self._left, 0
        while left is not None:
            left, number = left.before, number + 1
        return number

    def undo(self) -> bool:
        """Take back the last stroke, or when there is none, go back to the run before this one."""
        return super().undo() or self._return()

    def _return(self) -> bool:
        left = self._left
        if left is None:
            return False
        self._left = left.before
        self.scenario = left.scenario
        tree = BranchTree.restored(self.maker(left.scenario), left.states)
        for group in left.groups:
            tree.link(group)
        self.strokes, self.undone, self.current = left.strokes, left.undone, None
        self.plant(tree, left.focused.branch, list(left.shown))
        self.focused_key, self.order = left.focused, list(left.order)
        self._saved_work = left.saved_work
        return True

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
        return len(self.tree.branches) == 1 and all(isinstance(c, MAP_EDITS) for _, c in self.log)

    @property
    def has_unsaved_edits(self) -> bool:
        """Whether something was done since the run was opened or saved, other than strokes that were all undone."""
        if self._saved_work == self._work():
            return False
        is_undone = self._left is None and not self.strokes and self.is_map_alone
        return self._saved_work is None or not is_undone

    @property
    def would_lose_work(self) -> bool:
        """Whether to ask before it is lost: settings that are turned by a key are not worth a question."""
        if not self.has_unsaved_edits:
            return False
        commands_done = [c for branch in self.tree.branches.values() for c in by_hand(branch.timeline)]
        is_work = len(self.tree.branches) > 1 or any(isinstance(c, WORTH_ASKING) for c in commands_done)
        return is_work or self._saved_work is None

    @property
    def timeline(self) -> Timeline:
        return self.tree[self.branch].timeline

    @property
    def shown_branches(self) -> list[Branch]:
        return [self.tree[number] for number in self.shown]

    @property
    def world(self) -> World:
        """The world of the focused branch."""
        return self.timeline.world

    @property
    def generation(self) -> int:
        """Rises whenever pictures have to begin anew."""
        return self._builds * 1_000_000 + sum(b.timeline.generation for b in self.tree.branches.values())

    @property
    def log(self) -> list[tuple[int, Command]]:
        """What was done by hand in the focused branch, with its ticks."""
        return [(e.tick, e.command) for e in self.timeline.entries() if not e.is_scripted and e.is_enabled]

    # --- time -------------------------------------------------------------------------------------

    @property
    def tick(self) -> int:
        """The tick that is shown, or that a seek is under way to."""
        return self.timeline.target

    @property
    def is_over(self) -> bool:
        return all(b.timeline.is_over for b in self.shown_branches)

    @property
    def recorded_end(self) -> int:
        return max(b.timeline.recorded_end for b in self.shown_branches)

    @property
    def is_seeking(self) -> bool:
        return any(b.timeline.is_seeking for b in self.shown_branches)

    def begin_seek(self, tick: int) -> None:
        """Set out for another tick, all branches on screen together."""
        for branch in self.shown_branches:
            branch.timeline.begin_seek(max(0, tick))
        if not self.continue_seek(SEEK_WORK):
            self.changed()

    def continue_seek(self, work: float = SEEK_WORK) -> bool:
        """Go on with the seek for a frame's worth of work; whether it has arrived."""
        if not self.is_seeking:
            return True
        arrived = [b.timeline.continue_seek(work / len(self.shown)) for b in self.shown_branches]
        if all(arrived):
            self.changed()
        return all(arrived)

    def seek(self, tick: int) -> None:
        self.begin_seek(tick)
        for branch in self.shown_branches:
            branch.timeline.settle()
        self.changed()

    def make_whole(self) -> None:
        """After an error in the middle of something: make the worlds on screen anew, at their last whole tick."""
        for branch in self.shown_branches:
            branch.timeline.make_whole()
        self.changed()

    def advance(self, ticks: int) -> int:
        """Let ticks pass; fewer when a stop rule is met or the world is over."""
        if self.stop_rule is None and self.stop_tick is None:
            return self._advance(ticks)
        passed = 0
        while passed < ticks and self._advance(1):
            passed += 1
            if self._must_stop():
                break
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

    def _advance(self, ticks: int) -> int:
        passed = max(b.timeline.advance(ticks) for b in self.shown_branches)
        self.changed()
        return passed

    def go_on_measuring(self) -> None:
        """While no tick passes, measure what is still unknown, a little in each frame."""
        went_on = [branch.timeline.go_on_measuring() for branch in self.shown_branches]
        if any(went_on):
            self.changed()

    def _must_stop(self) -> bool:
        if self.tick <= self._runs_since:
            return False
        met = self.stop_tick is not None and self.tick >= self.stop_tick
        if self.stop_rule and not met:
            met = any(
                walker.rows.size
                and walker.rows_tick + walker.rows.size == self.tick
                and self.stop_rule.is_met(self, PanelKey(branch.number, walker.id), walker.rows[-1])
                for branch in self.shown_branches
                for walker in branch.timeline.world.walkers
            )
        return met

    def run_until(self, rule: str | None, tick: int | None = None) -> None:
        self.stop_rule = STOP_RULES[rule] if rule else None
        self.stop_tick = tick
        self._runs_since = self.tick

    def is_stopped_by_rule(self) -> bool:
        """Whether what a "run until" waits for has happened in the last tick."""
        return self._must_stop()

    @property
    def has_stop_rule(self) -> bool:
        return self.stop_rule is not None or self.stop_tick is not None

    def marks(self, kinds: Sequence[MarkKind] = tuple(MarkKind)) -> np.ndarray:
        """What happened when in the focused branch, for the scrubber."""
        return self.timeline.marks(0, max(self.timeline.recorded_end, self.timeline.horizon), kinds)

    # --- commands ---------------------------------------------------------------------------------

    def do(self, command: Command) -> None:
        """Apply a command now to the focused branch, and to those that are linked with it."""
        known = set(self.tree.branches)
        entries = self.tree.do(self.branch, command)
        if self.current is not None:
            self.strokes_of_entries |= dict.fromkeys((entry.id for entry in entries), self.current.number)
        for number in set(self.tree.branches) - known:
            self.messages.append(f'the run as it was is kept as the branch "{self.tree[number].name}"')
        self.changed()

    def changed(self) -> None:
        """Something happened: look again at everything that is remembered here."""
        self._panels = None
        self._edits = {}
        for branch in self.shown_branches:
            if branch.timeline.is_seeking:
                continue
            self._look_for_divergence(branch)
            for note in branch.timeline.notes():
                if (note.tick, note.text) not in self._told:
                    self._told.add((note.tick, note.text))
                    self.messages.append(f"tick {note.tick}: {note.text}")
        self._follow_trails()
        self._keep_focus()

    def _look_for_divergence(self, branch: Branch) -> None:
        """Say it once when a branch is found not to be what it was."""
        found = branch.timeline.divergence
        if found is None or not found.was or (branch.number, found.was) in self._told:
            return
        self._told.add((branch.number, found.was))
        who = f" Not as it was: {', '.join(found.agents)}." if found.agents else ""
        self.alarms.append(
            f'The branch "{branch.name}" is not the run that was saved, from tick {found.tick:,} on: its digest was '
            f"{found.was} and is {found.now} now.{who}"
        )

    def _follow_trails(self) -> None:
        """Every panel has a trail, also while a seek is under way: a saved run is drawn before it has arrived."""
        for branch in self.shown_branches:
            walkers = branch.timeline.world.walkers
            for walker in walkers:
                if not walker.config.group:
                    self._follow_trail(branch, PanelKey(branch.number, walker.id), walker)
            for members in groups_of(walkers).values():
                key = PanelKey(branch.number, members[0].id)
                self._follow_shown(branch, key, self._follower(branch, members), members)

    def _follower(self, branch: Branch, members: list[Walker]) -> Follower:
        """What follows a crowd, brought to the present unless that is being sought."""
        follower = self._followers.setdefault(PanelKey(branch.number, members[0].id), Follower())
        if not branch.timeline.is_seeking or follower.tick < 0:
            follower.follow(branch.timeline, members)
        return follower

    def _follow_trail(self, branch: Branch, key: PanelKey, walker: Walker) -> None:
        timeline = branch.timeline
        if timeline.is_seeking and key in self.trails:
            return  # the past may have been changed: the old world stays on screen with its old trail
        record = timeline.history.record(walker.id)
        if key not in self.trails:
            self.trails[key] = Trail(record.start, record.joined, timeline.world.grid)
        self.trails[key].follow(record.rows, record.rows_before(timeline.tick).size)

    def _follow_shown(self, branch: Branch, key: PanelKey, follower: Follower, members: list[Walker]) -> None:
        """The trail in a crowd's panel is that of the agent whose mind is shown."""
        shown = next((walker for walker in members if walker.id == follower.shown), None)
        if self._trail_of.get(key) != follower.shown or key not in self.trails:
            first = shown or members[0]
            self.trails[key] = Trail(first.start, first.joined, branch.timeline.world.grid)
            self._trail_of[key] = follower.shown
        if shown is not None:
            self._follow_trail(branch, key, shown)

    # --- panels -----------------------------------------------------------------------------------

    def walker(self, key: PanelKey) -> Walker | None:
        """The agent of a panel; of a crowd the one that was picked, or else the first."""
        branch = self.tree.branches.get(key.branch)
        follower = self._followers.get(key)
        picked = follower.picked if follower else None
        return branch.timeline.world.walker(key.agent if picked is None else picked) if branch else None

    def followed(self, key: PanelKey) -> Walker | None:
        """The agent that the camera goes with: in a crowd only one that was picked."""
        follower = self._followers.get(key)
        return self.walker(key) if follower is None or follower.picked is not None else None

    def pick(self, key: PanelKey, agent: int | None) -> None:
        """Show the mind of one agent of a crowd, and follow it; None: of no one."""
        if (follower := self._followers.get(key)) is not None:
            follower.picked, follower.pointed = agent, None
            self.changed()

    def point_at(self, key: PanelKey | None, agent: int | None) -> None:
        """Show the mind of one agent of a crowd as long as the mouse is over it."""
        for other, follower in self._followers.items():
            pointed = agent if other == key else None
            if follower.pointed != pointed:
                follower.pointed = pointed
                self.changed()

    def crowd(self, key: PanelKey) -> Crowd | None:
        """The crowd of a panel."""
        return next((panel.crowd for panel in self.panels if panel.key == key), None)

    @property
    def panels(self) -> tuple[Panel, ...]:
        if self._panels is None:
            found = {panel.key: panel for branch in self.shown_branches for panel in self._panels_of(branch)}
            self.order = [key for key in self.order if key in found]
            self.order += [key for key in found if key not in self.order]
            self._panels = tuple(found[key] for key in self.order)
        return self._panels

    def _panels_of(self, branch: Branch) -> list[Panel]:
        world = branch.timeline.world
        snapshot = world.snapshot({walker.id for walker in world.walkers if not walker.config.group})
        name = branch.name if len(self.shown) > 1 else ""
        single = [Panel(PanelKey(branch.number, v.id), world, snapshot, v, name) for v in snapshot.walkers]
        crowds = [self._crowd_panel(branch, members, snapshot, name) for members in groups_of(world.walkers).values()]
        place = {walker.id: place for place, walker in enumerate(world.walkers)} if crowds else {}
        return sorted([*single, *crowds], key=lambda panel: place[panel.key.agent]) if crowds else single

    def _crowd_panel(self, branch: Branch, members: list[Walker], snapshot: Snapshot, name: str) -> Panel:
        world, key = branch.timeline.world, PanelKey(branch.number, members[0].id)
        crowd = self._follower(branch, members).crowd(world, members)
        # Looking at an agent may write to its memory, which nobody may do while a keyframe is read.
        chosen = None if branch.timeline.is_being_read else crowd.shown
        shown = next((world.view(walker) for walker in members if walker.id == chosen), None)
        view = as_one(world, members[0], crowd)
        return Panel(key, world, snapshot, view, name, crowd, shown)

    def _keep_focus(self) -> None:
        """The focus stays on a panel that is there."""
        if self.is_seeking or not self.panels or any(panel.key == self.focused_key for panel in self.panels):
            return
        of_branch = [panel for panel in self.panels if panel.key.branch == self.branch]
        self.focus((of_branch or self.panels)[-1].key)

    @property
    def focused(self) -> Walker | None:
        return self.walker(self.focused_key)

    def focus(self, key: PanelKey) -> None:
        """Focus a panel, and with it the branch that gets what is done."""
        self.focused_key = key
        if key.branch in self.tree.branches:
            self.branch = key.branch

    def panel_of(self, key: PanelKey) -> int:
        """The place of a panel among the others."""
        return next((i for i, panel in enumerate(self.panels) if panel.key == key), 0)

    def compared(self, place: int | None = None) -> tuple[int, int]:
        """The places of the panels A and B that a heat map A - B compares; twice the same where there is only one.

        A is the focused panel, or the one at `place`. B is the same agent in the branch that A's comes from, or else in
        one that comes from A's, or else in any other; without such a panel it is the next one.
        """
        panels, count = self.panels, len(self.panels)
        a = min(self.panel_of(self.focused_key) if place is None else place, max(0, count - 1))
        others = [(a + i) % count for i in range(1, count)]
        return a, min(others, key=lambda b: self._distance_of_kin(panels[a].key, panels[b].key), default=a)

    def _distance_of_kin(self, a: PanelKey, b: PanelKey) -> int:
        if b.agent != a.agent or b.branch == a.branch:
            return 3
        if self.tree[a.branch].parent == b.branch:
            return 0
        return 1 if self.tree[b.branch].parent == a.branch else 2

    def move_panel(self, key: PanelKey, by: int) -> None:
        """Another place among the panels. Agents do not meet, so their order changes nothing else."""
        self._put_panel(key, max(0, self.panel_of(key) + by))

    def _put_panel(self, key: PanelKey, place: int) -> None:
        """Give a panel this place among the others, or the last one if there are fewer."""
        others = [panel.key for panel in self.panels if panel.key != key]
        self.order = [*others[:place], key, *others[place:]]
        self._panels = None

    def add_agent(self, config: AgentConfig) -> bool:
        """Put another agent on the start; False (and a message) when it is not legal."""
        try:
            self.world.check_agent(config)
        except ConfigError as error:
            self.messages += error.problems
            return False
        self.when_ready(config, partial(self._add, config))
        return True

    def _add(self, config: AgentConfig) -> None:
        self.do(commands.AddAgent(config))
        self.focus(PanelKey(self.branch, self.world.walkers[-1].id))

    def replace_agent(self, key: PanelKey, config: AgentConfig, then: Callable[[], None] = _nothing) -> bool:
        """Another agent in the same panel; it begins at the start as soon as what it needs is there."""
        self.focus(key)
        try:
            self.world.check_agent(config)
        except ConfigError as error:
            self.messages += error.problems
            return False
        self.when_ready(config, partial(self._replace, key, config, then))
        return True

    def _replace(self, key: PanelKey, config: AgentConfig, then: Callable[[], None]) -> None:
        self.focus(key)
        place = self.panel_of(key)
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
            self.messages += error.problems
            then()
            return
        if legal != walker.params[name]:
            config = replace(walker.config, params={**walker.params, name: legal})
            self.when_ready(config, partial(self._set_param, key, name, legal, then))

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
        place = {key: i for i, key in enumerate(self.order)}
        first = {w.id: members[0].id for members in groups_of(self.world.walkers).values() for w in members}
        keys = {w.id: PanelKey(self.branch, first.get(w.id, w.id)) for w in self.world.walkers}
        walkers = sorted(self.world.walkers, key=lambda w: place.get(keys[w.id], len(place)))
        return [replace(w.config, params=dict(w.params), budget=w.budget) for w in walkers]

    def free_map(self) -> npt.NDArray[np.bool_]:
        """bool[height, width], for the flood fill."""
        grid = self.world.grid
        return grid.free.reshape(grid.height, grid.width)

    # --- strokes ----------------------------------------------------------------------------------

    def _goes_to_branch_of(self, strokes: list[Stroke]) -> bool:
        """Go to the branch in which the last of these strokes was made; False when there is none."""
        while strokes and strokes[-1].branch not in self.tree.branches:
            strokes.pop()
        if strokes and strokes[-1].branch != self.branch:
            self.show_branch(strokes[-1].branch)
        return bool(strokes)

    def shown_edits(self, panel: PanelKey = FIRST) -> dict[int, tuple[int, bool]]:
        """The cells that commands have edited lately in a panel's branch, those of the script too."""
        number = panel.branch
        if number not in self._edits:
            self._edits[number] = self._edited_lately(self.tree[number].timeline)
        return self._edits[number]

    def _edited_lately(self, timeline: Timeline) -> dict[int, tuple[int, bool]]:
        free, now = timeline.world.grid.free, timeline.tick
        edited: dict[int, tuple[int, bool]] = {}
        for entry in timeline.entries():
            if entry.is_enabled and now - EDIT_SHOWN_TICKS <= entry.tick <= now:
                for cell in self._cells_of(entry.command):
                    edited[cell] = (entry.tick, not free[cell])
        return edited

    def _cells_of(self, command: Command) -> Sequence[int]:
        match command:
            case commands.EditCells(blocked, freed):
                return (*blocked, *freed)
            case commands.SetTerrain(cells, _):
                return cells
            case commands.SetSwitch(name, _):
                return self.world.switches.get(name, ())
        return ()

    # --- branches ---------------------------------------------------------------------------------

    def branch_here(self) -> Branch:
        """Another future from the present tick on, beside the one it comes from."""
        agent = self.focused_key.agent
        branch = self.tree.branch(self.branch)
        branch.timeline.settle()
        self.shown.append(branch.number)
        self.changed()
        self.focus(PanelKey(branch.number, agent))
        return branch

    def split(self, variants: Sequence[Mapping[str, Value | None]]) -> list[Branch]:
        """One future for each setting of the focused agent; later commands go to all of them."""
        agent = self.focused_key.agent
        futures = self.tree.split_policy(self.branch, agent, variants)
        for branch in futures:
            branch.timeline.settle()
        self.shown = [branch.number for branch in futures]
        split = [PanelKey(number, agent) for number in self.shown]
        self.order = [*split, *(key for key in self.order if key not in split)]  # first: there may be too many panels
        self.changed()
        self.focus(split[0])
        return futures

    def show_branch(self, number: int) -> None:
        """Put a branch on screen, at the tick of the others, and focus it."""
        if number not in self.shown:
            self.shown.append(number)
            self.tree[number].timeline.seek(self.tick)
        self.changed()
        first = next((p.key for p in self.panels if p.key.branch == number), None)
        if first is not None:
            self.focus(first)
        else:
            self.branch = number

    def hide_branch(self, number: int) -> None:
        """Take a branch off the screen; the last one stays."""
        if len(self.shown) == 1 or number not in self.shown:
            return
        self.shown.remove(number)
        if self.branch == number:
            self.branch = self.shown[0]
        self.changed()

    def rename_branch(self, number: int, name: str) -> None:
        if name.strip():
            self.tree.rename(number, name.strip())
            self.changed()

    def delete_branch(self, number: int) -> None:
        if len(self.tree.branches) == 1:
            raise ConfigError("the only branch cannot be deleted")
        if self.shown == [number]:
            self.show_branch(next(n for n in self.tree.branches if n != number))
        self.hide_branch(number)
        self.tree.delete(number)
        self.changed()

    def compare_with_parent(self) -> bool:
        """Put the focused branch and its parent side by side; False when it has none."""
        parent = self.tree[self.branch].parent
        if parent is None:
            return False
        number, focused = self.branch, self.focused_key
        self.shown = [parent, number]
        self.tree[parent].timeline.seek(self.tick)
        self.order = []
        self.changed()
        self.show_branch(number)
        if focused.branch == number:
            self.focus(focused)
        return True

    # --- the script -------------------------------------------------------------------------------

    def entries(self) -> tuple[Entry, ...]:
        """All commands of the focused branch, those of the scenario and those done by hand."""
        return self.timeline.entries()

    def deeds(self) -> list[Deed]:
        """The same as a user sees it: a stroke is one."""
        return deeds_of(self.entries(), self.world.grid.width, self.strokes_of_entries)

    def move_deed(self, deed: Deed, by: int) -> None:
        """The same so many ticks later or earlier; the run is computed again from there."""
        ticks = {entry.id: entry.tick for entry in deed.entries}
        by = max(by, -deed.tick)

        def move(offset: int) -> None:
            for number in self._still_there(ticks):
                self.timeline.move(number, ticks[number] + offset)

        self._rewrite_script(lambda: move(by), lambda: move(0))

    def toggle_deed(self, deed: Deed) -> None:
        def switch(is_enabled: bool) -> None:
            for number in self._still_there(deed.ids):
                self.timeline.set_enabled(number, is_enabled)

        self._rewrite_script(lambda: switch(not deed.is_enabled), lambda: switch(deed.is_enabled))

    def delete_deed(self, deed: Deed) -> None:
        self._rewrite_script(lambda: self._take_out(deed.entries), lambda: self._put_back(deed.entries))

    def duplicate_deed(self, deed: Deed) -> None:
        made = tuple(self.timeline.duplicate(entry.id, entry.tick + _AGAIN_AFTER) for entry in deed.entries)
        self.strokes_of_entries |= dict.fromkeys((entry.id for entry in made), -made[0].id)  # apart from the first
        self._rewrite_script(lambda: self._put_back(made), lambda: self._take_out(made))

    def _take_out(self, entries: Sequence[Entry]) -> None:
        for number in self._still_there(entry.id for entry in entries):
            self.timeline.delete(number)

    def _still_there(self, numbers: Iterable[int]) -> list[int]:
        """Those entries that are in the log: what is done in the past leaves later ones to another branch."""
        there = {entry.id for entry in self.timeline.entries()}
        return [number for number in numbers if number in there]

    def _put_back(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            self.timeline.put_back(entry)

    def _rewrite_script(self, do: Callable[[], None], take_back: Callable[[], None]) -> None:
        """Change the script, as a stroke that can be undone."""
        do()
        self.strokes.append(Stroke(name="script", branch=self.branch, turns=(take_back, do)))
        self.undone.clear()
        self.changed()


def world_maker(
    scenario: Scenario, problems: list[str] | None = None, *, measures_at_once: bool = False
) -> Callable[[], World]:
    """What makes the world of tick 0 to be watched; agents that are not legal are left out, and `problems` told."""

    def complain(error: ConfigError) -> None:
        if problems is not None:
            problems.extend(error.problems)

    def make() -> World:
        world = build_world(scenario, BY_KEY, complain=complain, watched=True)
        world.clock = time.perf_counter
        if not measures_at_once:
            world.measuring.allowance = A_TICK
        return world

    return make


def _as_in_a_file(config: AgentConfig) -> AgentConfig:
    """Only parameters that differ from their defaults, so that a file says what matters."""
    spec = BY_KEY[config.kind]
    params = {p.name: config.params[p.name] for p in spec.params if config.params.get(p.name, p.default) != p.default}
    return replace(config, params=params)


def _ends_of(scenario: Scenario) -> dict[str, int]:
    return {"start": scenario.start_cell, "goal": scenario.goal_cell}


def by_hand(timeline: Timeline) -> list[Command]:
    """What was done in a timeline beside its script, also where it is switched off."""
    return [entry.command for entry in timeline.entries() if not entry.is_scripted]
