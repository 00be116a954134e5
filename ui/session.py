"""What is open in the window: a world, how it came about, and what the user has done to it. No pygame here.

Everything that changes the world goes through `do`, as a command at a tick boundary; the log of those commands
with their ticks is the recording of the session.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agents.registry import BY_KEY
from sim import commands
from sim.changes import RandomChanges
from sim.commands import AgentConfig, Command
from sim.grid import Grid
from sim.kernels import log
from sim.params import ConfigError, Value
from sim.scenario import MapSource
from sim.world import Snapshot, Walker, WalkerView, World
from ui.trails import Trail

EDIT_SHOWN_TICKS = 200
"""How long an edited cell stays marked on the map."""


@dataclass(frozen=True)
class Setup:
    """Everything that a run begins with."""

    grid: Grid
    start: int
    goal: int
    agents: tuple[AgentConfig, ...]
    budget: int = 16
    seed: int = 0
    switches: dict[str, tuple[int, ...]] = field(default_factory=dict)
    changes: RandomChanges | None = None
    script: tuple[tuple[int, Command], ...] = ()
    title: str = "Untitled"
    caption: str = ""
    listed_optimal: float | None = None  # the optimal length that a problem list states
    source: MapSource | None = None  # file, recipe or rows of the map, for saving a scenario that names them
    trials: int = 1  # most walks from start to goal of agents that learn


@dataclass
class Stroke:
    """One undoable edit: what the cells were and what they became."""

    before: dict[int, int] = field(default_factory=dict)  # cell -> terrain character
    after: dict[int, int] = field(default_factory=dict)
    name: str = "edit"
    branch: int = 0


@dataclass(frozen=True)
class Panel:
    """What one panel shows: an agent of one of the worlds on screen."""

    key: int  # names the panel; the agent's number where there is only one world
    snapshot: Snapshot  # of its own world
    view: WalkerView  # its id is the key
    branch: str = ""  # name of the branch, where several are shown


@dataclass(frozen=True)
class StopRule:
    """When a run that was started with "run until" pauses."""

    name: str
    is_met: Callable[["Session", Walker, np.ndarray], bool]  # asked for every agent after every tick


def _next_move(session: "Session", walker: Walker, row: np.ndarray) -> bool:
    trail = session.trails[walker.id].cells
    return walker.id == session.focused_id and len(trail) > 1 and trail[-1] != trail[-2]


STOP_RULES = {
    "move": StopRule("next move", _next_move),
    "back_move": StopRule("next back-move", lambda s, w, row: bool(row["marks"] & log.BACK_MOVE)),
    "restart": StopRule("next restart", lambda s, w, row: bool(row["marks"] & log.RESTARTED)),
    "arrival": StopRule("next arrival", lambda s, w, row: bool(row["marks"] & log.ARRIVED)),
}


class Session:
    """The open run. `messages` collects what the user should be told; the window shows and clears them."""

    def __init__(self, setup: Setup) -> None:
        self.messages: list[str] = []
        self.stop_rule: StopRule | None = None
        self.stop_tick: int | None = None
        self.path: Path | None = None
        self.open(setup)

    # --- opening and starting again ---------------------------------------------------------------

    def open(self, setup: Setup) -> None:
        """Begin with another map, other agents, or both."""
        self.setup = setup
        self.first_terrain = setup.grid.terrain.copy()
        self.saved_terrain = setup.grid.terrain.copy()
        self.focused_id = 0
        self._build(list(setup.agents))

    def make_world(self, configs: list[AgentConfig]) -> World:
        """The world of tick 0, with its scripted commands in the queue."""
        setup = self.setup
        grid = Grid(self.first_terrain.copy(), setup.grid.diagonal, setup.grid.name)
        grid.original = setup.grid.original.copy()
        world = World(
            grid,
            setup.start,
            setup.goal,
            BY_KEY,
            budget=setup.budget,
            seed=setup.seed,
            switches=setup.switches,
            random_changes=setup.changes,
            watched=True,
            trials=setup.trials,
        )
        for config in configs:
            try:
                world.add(config)
            except ConfigError as error:
                self.messages += error.problems
        world.submit_all(setup.script)
        return world

    def _build(self, configs: list[AgentConfig]) -> None:
        self._forget()
        self.first_configs = configs
        self.world = self.make_world(configs)
        self.log: list[tuple[int, Command]] = []
        self.trails: dict[int, Trail] = {}
        self.generation = getattr(self, "generation", 0) + 1  # another world: pictures begin anew
        self._said = 0
        self.world.apply_now()
        self.after_commands()

    def _forget(self) -> None:
        """Whatever belonged to the run before."""
        self.undone: list[Stroke] = []
        self.strokes: list[Stroke] = []
        self.current: Stroke | None = None
        self.recent_edits: dict[int, tuple[int, bool]] = {}
        self._snapshot: Snapshot | None = None
        self._runs_since = 0  # tick at which the last "run until" began

    def reset(self, *, keeps_map: bool) -> None:
        """Tick 0 again, with the agents as they are set now; on the first map, or on the map as edited."""
        configs = self.configs()
        if keeps_map:
            self.first_terrain = self.world.grid.terrain.copy()
        self.setup = replace(self.setup, budget=self.world.budget, goal=self.world.goal)
        self._build(configs)

    def configs(self) -> list[AgentConfig]:
        """The agents as they are set now, in the order of the panels."""
        return [AgentConfig(w.config.kind, w.config.label, dict(w.params), w.budget) for w in self.world.walkers]

    def restart_with(self, **changes: object) -> None:
        """Tick 0 with something of the setup changed, such as the start; the map as edited stays."""
        configs = self.configs()
        self.first_terrain = self.world.grid.terrain.copy()
        self.setup = replace(self.setup, budget=self.world.budget, goal=self.world.goal)
        self.setup = replace(self.setup, **changes)  # type: ignore[arg-type]
        self._build(configs)

    # --- time -------------------------------------------------------------------------------------

    @property
    def tick(self) -> int:
        return self.world.tick

    @property
    def is_over(self) -> bool:
        return self.world.is_over

    def advance(self, ticks: int) -> int:
        """Let ticks pass; fewer when a stop rule is met or the world is over."""
        self.take_new_walkers()
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
        passed = 0
        # Asked for more, a world that is over would still make the random change of its last tick: then the digest
        # would depend on the pace.
        while passed < ticks and not self.world.is_over:
            # Up to the next change at most: a change may wake an agent, and its trail must know when.
            done = self.world.advance(min(ticks - passed, max(1, self.world.ticks_to_next_event())))
            if done == 0:
                break
            passed += done
            self._note_rows()
        if passed:
            self._snapshot = None
        self.after_commands()
        return passed

    def _note_rows(self) -> None:
        self.take_new_walkers()  # a command of the script may have added some
        for walker in self.world.walkers:
            if walker.rows.size:
                self.trails[walker.id].append(walker.rows, walker.rows_tick)

    def _must_stop(self) -> bool:
        if self.tick <= self._runs_since:
            return False  # the rows are those of the tick before
        met = self.stop_tick is not None and self.tick >= self.stop_tick
        if self.stop_rule:
            met = met or any(w.rows.size and self.stop_rule.is_met(self, w, w.rows[-1]) for w in self.world.walkers)
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

    # --- commands ---------------------------------------------------------------------------------

    def do(self, command: Command) -> None:
        """Apply a command now: between two ticks, which is where commands belong."""
        self.log.append((self.tick, command))
        self.world.submit(command)
        self.world.apply_now()
        self._snapshot = None
        self.after_commands()

    def after_commands(self) -> None:
        """Pick up what the world has to say and the agents that a command added."""
        for note in self.world.notes[self._said :]:
            self.messages.append(f"tick {note.tick}: {note.text}")
        self._said = len(self.world.notes)
        self.take_new_walkers()

    def take_new_walkers(self) -> None:
        for walker in self.world.walkers:
            if walker.id not in self.trails:
                self.trails[walker.id] = Trail(self.world.start, walker.joined, self.world.grid)
        if self.world.walkers and self.world.walker(self.focused_id) is None:
            self.focused_id = self.world.walkers[-1].id

    is_seeking = False  # whether the world shown is still on its way to the tick that was asked for

    def continue_seek(self) -> bool:
        """Go on with a seek for a frame's worth of work; whether it has arrived."""
        return True

    def walker(self, key: int) -> Walker | None:
        """The agent of a panel."""
        return self.world.walker(key)

    @property
    def focused(self) -> Walker | None:
        return self.walker(self.focused_id)

    def focus(self, agent_id: int) -> None:
        self.focused_id = agent_id

    def add_agent(self, config: AgentConfig) -> bool:
        """Put another agent on the start; False (and a message) when it is not legal."""
        try:
            self.world.check_agent(config)
        except ConfigError as error:
            self.messages += error.problems
            return False
        self.do(commands.AddAgent(config))
        self.focused_id = self.world.walkers[-1].id
        return True

    def replace_agent(self, agent_id: int, config: AgentConfig) -> bool:
        """Another agent in the same panel; it begins at the start now."""
        place = self.panel_of(agent_id)
        if not self.add_agent(config):
            return False
        self.do(commands.RemoveAgent(agent_id))
        walkers = self.world.walkers
        walkers.insert(place, walkers.pop())
        self.focused_id = walkers[place].id
        return True

    def remove_agent(self, agent_id: int) -> None:
        self.do(commands.RemoveAgent(agent_id))

    def set_budget(self, agent_id: int, budget: int | None) -> None:
        """A budget of its own for one agent, or the shared one again."""
        self.do(commands.SetBudget(budget, agent_id))

    def panel_of(self, agent_id: int) -> int:
        return next((i for i, w in enumerate(self.world.walkers) if w.id == agent_id), 0)

    def move_panel(self, agent_id: int, by: int) -> None:
        """Another place among the panels. Agents do not meet, so their order changes nothing else."""
        walkers = self.world.walkers
        here = self.panel_of(agent_id)
        there = max(0, min(len(walkers) - 1, here + by))
        walkers.insert(there, walkers.pop(here))
        self._snapshot = None

    def set_param(self, agent_id: int, name: str, value: Value) -> None:
        walker = self.world.walker(agent_id)
        param = walker.spec.param(name) if walker else None
        if walker is None or param is None:
            return
        try:
            legal = param.parse(value, f"{walker.label}: {name}")
        except ConfigError as error:
            self.messages += error.problems
            return
        if legal != walker.params[name]:
            self.do(commands.SetParam(agent_id, name, legal))

    # --- editing ----------------------------------------------------------------------------------

    def begin_stroke(self, name: str = "edit") -> None:
        self.current = Stroke(name=name)

    def paint(self, cells: Iterable[int], *, block: bool) -> None:
        """Block or free cells as part of the stroke that is going on, or as a stroke of their own."""
        wanted = [c for c in dict.fromkeys(cells) if self.world.grid.is_free(c) == block]
        if not wanted:
            return
        chosen = tuple(wanted)
        command = commands.EditCells(blocked=chosen) if block else commands.EditCells(freed=chosen)
        is_own = self.current is None
        if is_own:
            self.begin_stroke()
        self._noted(command, chosen)
        if is_own:
            self.end_stroke()

    def _noted(self, command: Command, cells: tuple[int, ...]) -> None:
        """Do an edit and remember in the current stroke what it changed."""
        assert self.current is not None
        flat = self.world.grid.terrain.reshape(-1)
        places = np.asarray(cells, np.int32)
        before = flat[places].copy()
        self.do(command)
        after = self.world.grid.terrain.reshape(-1)[places]
        for cell, old, new in zip(cells, before.tolist(), after.tolist(), strict=True):
            if old != new:
                self.current.before.setdefault(cell, old)
                self.current.after[cell] = new
                self.recent_edits[cell] = (self.tick, not self.world.grid.is_free(cell))

    def end_stroke(self) -> None:
        if self.current is not None and self.current.before:
            self.strokes.append(self.current)
            self.undone.clear()
        self.current = None

    def cancel_stroke(self) -> None:
        """Take back the stroke that is going on."""
        stroke, self.current = self.current, None
        if stroke and stroke.before:
            self._put(stroke.before)

    def undo(self) -> bool:
        if not self.strokes:
            return False
        stroke = self.strokes.pop()
        self._put(stroke.before)
        self.undone.append(stroke)
        return True

    def redo(self) -> bool:
        if not self.undone:
            return False
        stroke = self.undone.pop()
        self._put(stroke.after)
        self.strokes.append(stroke)
        return True

    def _put(self, letters: dict[int, int]) -> None:
        self.do(commands.SetTerrain(tuple(letters), bytes(letters.values()).decode("ascii")))
        for cell in letters:
            self.recent_edits[cell] = (self.tick, not self.world.grid.is_free(cell))

    def flip_switch(self, name: str) -> None:
        """Block a switch that is open, free one that is blocked; one stroke."""
        is_blocked = self.world.switch_states()[name]
        self.begin_stroke(name)
        self._noted(commands.SetSwitch(name, not is_blocked), tuple(self.setup.switches[name]))
        self.end_stroke()

    def take_edits_back(self) -> None:
        """The map as it was opened; one stroke, so it can be undone."""
        grid = self.world.grid
        changed = np.flatnonzero(grid.terrain.reshape(-1) != grid.original.reshape(-1))
        if not changed.size:
            return
        letters = bytes(grid.original.reshape(-1)[changed].tolist()).decode("ascii")
        cells = tuple(int(c) for c in changed)
        self.begin_stroke("all edits")
        self._noted(commands.SetTerrain(cells, letters), cells)
        self.end_stroke()

    @property
    def has_unsaved_edits(self) -> bool:
        """Whether the user's strokes have made the map differ from the file; random changes do not count."""
        return bool(self.strokes) and not np.array_equal(self.world.grid.terrain, self.saved_terrain)

    def mark_saved(self) -> None:
        self.saved_terrain = self.world.grid.terrain.copy()

    # --- looking ----------------------------------------------------------------------------------

    @property
    def snapshot(self) -> Snapshot:
        """The world as it is; the same object until something happens."""
        if self._snapshot is None:
            self._snapshot = self.world.snapshot()
        return self._snapshot

    @property
    def panels(self) -> tuple[Panel, ...]:
        """What the panels show, in their order."""
        snapshot = self.snapshot
        return tuple(Panel(view.id, snapshot, view) for view in snapshot.walkers)

    def shown_edits(self, panel: int = 0) -> dict[int, tuple[int, bool]]:
        """The cells edited lately in the world of a panel, with the tick and whether they were blocked."""
        old = [c for c, (tick, _) in self.recent_edits.items() if self.tick - tick > EDIT_SHOWN_TICKS]
        for cell in old:
            del self.recent_edits[cell]
        return self.recent_edits

    def free_map(self) -> npt.NDArray[np.bool_]:
        """bool[height, width], for the flood fill."""
        grid = self.world.grid
        return grid.free.reshape(grid.height, grid.width)
