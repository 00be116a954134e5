"""Scenario files: one map, one problem, its agents and what happens to them, as a small YAML file.

A file is checked as a whole: the map is opened, every name and every cell looked up, and all problems come out in
one ConfigError, a line each. What is read is plain data; see yaml.py for the limits, agents.py for the agents and
edits.py for the timed commands.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from sim.agent_api import AgentSpec
from sim.changes import RandomChanges
from sim.commands import (
    BUDGET,
    LAST_TICK,
    MAX_AGENTS,
    MAX_NAME,
    MAX_SWITCHES,
    TICK_MS,
    TRIALS,
    AgentConfig,
    Pair,
    SetTickMs,
    TimedCommand,
)
from sim.files.agents import agent_data, changes_data, read_agents, read_changes, says_own_end
from sim.files.cells import read_cells
from sim.files.disk import read_file, write_atomically
from sim.files.edits import EditReader, Roster, edits_data, read_edits
from sim.files.fields import Field, Problems, require
from sim.files.kinds import SCENARIO, check_kind
from sim.files.map_source import (
    MAX_PATH,
    MapFile,
    MapRecipe,
    MapRows,
    MapSource,
    OpenedMap,
    Places,
    open_places,
    open_source,
    read_source,
    report_source,
    rows_of,
    source_data,
)
from sim.files.yaml import MAX_BYTES, MAX_VALUES, Inline, InlineMap, read_yaml, values_in, write_yaml
from sim.grid import MAX_SIDE, Grid
from sim.movement import USUAL, Movement
from sim.params import ConfigError, Param, did_you_mean, printable, shown
from sim.world import World

FORMAT, VERSION = SCENARIO.format, 1
SUFFIX = ".yaml"
MAX_TITLE, MAX_CAPTION = 120, 1000  # characters

SEED = Param("seed", int, 0, "seed of the random changes and of agents that draw lots", 0, (1 << 32) - 1)
UNTIL = Param("tick", int, 1, "where a run ends that goes on by itself", 1, LAST_TICK)
LISTED_OPTIMAL = Param("listed_optimal", float, 0.0, "length of the cheapest path, as a problem list states it", 0.0)

KEYS = (
    "format",
    "version",
    "title",
    "caption",
    "map",
    "seed",
    "budget",
    "trials",
    "tick_ms",
    "start",
    "goal",
    "listed_optimal",
    "agents",
    "switches",
    "changes",
    "edits",
    "until",
    "view",
)


_FROM_SOURCE = Grid.from_rows(["."], "still to be opened")


@dataclass(frozen=True)
class Until:
    """Where a run ends that goes on by itself, and why."""

    tick: int
    why: str = ""


@dataclass(frozen=True)
class Scenario:
    """Everything that a run begins with. Worlds are made from it (`build_world`) and none of them changes it."""

    map: MapSource  # where the map came from
    start: Pair
    goal: Pair
    agents: tuple[AgentConfig, ...] = ()
    title: str = ""  # of any text, such as the name of a file, what files take for a title
    caption: str = ""  # what to look at
    seed: int = 0
    budget: int = int(BUDGET.default)
    switches: Mapping[str, tuple[Pair, ...]] = field(default_factory=dict)
    changes: RandomChanges | None = None
    edits: tuple[TimedCommand, ...] = ()
    view: Mapping[str, Any] = field(default_factory=dict)  # the window's own: layers, panels, camera
    trials: int = 1  # most walks from start to goal of agents that learn h
    tick_ms: float = 0.0  # milliseconds a tick for all agents together; 0: as long as it takes
    listed_optimal: float | None = None  # the optimal length that a problem list states
    until: Until | None = None  # where it ends without a window, and pauses in one
    grid: Grid = field(default_factory=lambda: _FROM_SOURCE, compare=False, repr=False)
    """The map at tick 0, and in `original` as it was opened. Only read; by default that of the source."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", printable(self.title)[:MAX_TITLE])
        if self.grid is _FROM_SOURCE:
            object.__setattr__(self, "grid", open_source(self.map).grid)
        self.grid.freeze()

    @property
    def is_redrawn(self) -> bool:
        """Whether the map of tick 0 is another one than that of the source."""
        if isinstance(self.map, MapRows):
            return self.map.rows != tuple(self.grid.rows())
        return not np.array_equal(self.grid.terrain, self.grid.original)

    @property
    def asks_a_clock(self) -> bool:
        """Whether milliseconds limit a tick, from the beginning or by an edit: then a clock says who has a turn."""
        commands = (edit.command for edit in self.edits)
        return self.tick_ms > 0 or any(isinstance(c, SetTickMs) and c.milliseconds > 0 for c in commands)

    def moved_by(self, movement: Movement) -> "Scenario":
        """The same under another movement rule. What a problem list states is a length under the usual one."""
        if movement == self.grid.movement:
            return self
        source, listed = replace(self.map, movement=movement), self.listed_optimal if movement == USUAL else None
        return replace(self, map=source, grid=self.grid.copy(movement), listed_optimal=listed)

    @property
    def start_cell(self) -> int:
        return self.grid.cell(*self.start)

    @property
    def goal_cell(self) -> int:
        return self.grid.cell(*self.goal)

    @property
    def switch_cells(self) -> dict[str, tuple[int, ...]]:
        return {name: tuple(self.grid.cell(x, y) for x, y in cells) for name, cells in self.switches.items()}

    @property
    def map_name(self) -> str:
        """A short name of the map, for results and titles."""
        match self.map:
            case MapFile(file=file):
                return file
            case MapRecipe(kind=kind):
                return kind
            case MapRows(name=name):
                return name


# --- from a scenario to a world -------------------------------------------------------------------


def build_world(
    scenario: Scenario,
    specs: Mapping[str, AgentSpec],
    *,
    complain: Callable[[ConfigError], None] | None = None,
    **world_options: Any,
) -> World:
    """The world at tick 0, its agents on the start and its edits in the queue.

    `complain` is told of agents that are not legal, which are left out; without it they are an error.
    """
    options: dict[str, Any] = {
        "budget": scenario.budget,
        "seed": scenario.seed,
        "switches": scenario.switch_cells,
        "random_changes": scenario.changes,
        "trials": scenario.trials,
        "tick_ms": scenario.tick_ms,
    }
    ends = scenario.start_cell, scenario.goal_cell
    world = World(scenario.grid.copy(), *ends, specs, **(options | world_options))
    for config in scenario.agents:
        try:
            world.add(config)
        except ConfigError as error:
            if complain is None:
                raise
            complain(error)
    world.submit_all((edit.tick, edit.command) for edit in scenario.edits)
    return world


# --- reading --------------------------------------------------------------------------------------


def load_scenario(
    path: str | os.PathLike[str],
    specs: Mapping[str, AgentSpec],
    allowed_folders: Iterable[str | os.PathLike[str]] = (),
) -> Scenario:
    """The scenario in a file. It may name maps below its folder's parent and below `allowed_folders`."""
    data = read_file(path, MAX_BYTES, SUFFIX)
    return parse_scenario(data, str(path), specs, Path(path).parent, allowed_folders)


def parse_scenario(
    data: bytes | str,
    name: str,
    specs: Mapping[str, AgentSpec],
    folder: str | os.PathLike[str] | None = None,
    allowed_folders: Iterable[str | os.PathLike[str]] = (),
    *,
    is_saved: bool = False,
) -> Scenario:
    """The scenario that a text describes; without a folder, only `allowed_folders` are open to it."""
    problems = Problems(read_yaml(data, name))
    check_kind(problems.document, SCENARIO)
    root = Field(problems, (), problems.document.data)
    scenario = ScenarioReader(root, specs, open_places(folder, allowed_folders), is_saved=is_saved).read()
    problems.raise_any()
    assert scenario is not None, root.value
    return scenario


class ScenarioReader:
    """Reads one document. Whatever is wrong is noted, and reading goes on with what is right."""

    def __init__(self, root: Field, specs: Mapping[str, AgentSpec], places: Places, *, is_saved: bool = False) -> None:
        """`is_saved`: of a session or a journal. Older versions wrote into them what means nothing for the map."""
        self.root, self.specs, self.places, self.is_saved = root, specs, places, is_saved
        self.fields = root.keys(KEYS, f"a scenario, which begins with 'format: {FORMAT}'")
        self.opened: OpenedMap | None = None
        self.width = self.height = MAX_SIDE  # until the map is known, every cell that could be one is legal

    def read(self) -> Scenario | None:
        self._check_format()
        source = self._map()
        budget = self._integer("budget", BUDGET)
        switches = self._switches()
        roster = Roster(self.specs, budget)
        agents = self._agents(roster)
        start = self._end("start", agents[0].start if agents else None)
        goal = self._end("goal", agents[0].goal if agents else None)
        knows_switches = self.opened is not None or "switches" in self.fields
        edits = self._edits(EditReader(self.width, self.height, switches if knows_switches else None, roster))
        title, caption = self._title(), self._text("caption", MAX_CAPTION, lines=True)
        seed, changes, view = self._integer("seed", SEED), self._changes(), self._view()
        trials, tick_ms, listed = self._integer("trials", TRIALS), self._tick_ms(), self._listed_optimal()
        until = self._until()
        if source is None or start is None or goal is None or self.opened is None:
            return None
        return Scenario(
            map=source,
            start=start,
            goal=goal,
            agents=agents,
            title=title,
            caption=caption,
            seed=seed,
            budget=budget,
            switches=switches,
            changes=changes,
            edits=edits,
            view=view,
            trials=trials,
            tick_ms=tick_ms,
            listed_optimal=listed,
            until=until,
            grid=self.opened.grid,
        )

    def _check_format(self) -> None:
        named = require(self.fields, "format", self.root, f"'{FORMAT}'")
        if named and named.value != FORMAT:
            named.complain(f"expected '{FORMAT}', got {shown(named.value)}{_nearest_format(named.value)}")
        version = require(self.fields, "version", self.root, str(VERSION))
        if version and (version.value != VERSION or isinstance(version.value, bool)):
            version.expect(f"{VERSION}, the only version so far")

    def _integer(self, key: str, param: Param) -> int:
        value = self.fields[key].integer(param) if key in self.fields else None
        return int(param.default) if value is None else value

    def _text(self, key: str, longest: int, lines: bool = False) -> str:
        return (self.fields[key].text(longest, lines) or "") if key in self.fields else ""

    def _title(self) -> str:
        """Older versions wrote into a session the whole name of a file, however long."""
        return self._text("title", MAX_PATH if self.is_saved else MAX_TITLE)

    def _tick_ms(self) -> float:
        value = self.fields["tick_ms"].parse(TICK_MS) if "tick_ms" in self.fields else None
        return float(TICK_MS.default if value is None else value)

    def _listed_optimal(self) -> float | None:
        entry = self.fields.get("listed_optimal")
        value = entry.parse(LISTED_OPTIMAL) if entry and entry.value is not None else None
        return None if value is None else float(value)

    def _changes(self) -> RandomChanges | None:
        entry = self.fields.get("changes")
        return read_changes(entry, may_be_one=True) if entry and entry.value is not None else None

    def _until(self) -> Until | None:
        entry = self.fields.get("until")
        fields = entry.keys(("tick", "why"), "the last tick such as {tick: 3000, why: out of moves}") if entry else {}
        tick_field = require(fields, "tick", entry, "the last tick") if entry and fields else None
        tick = tick_field.integer(UNTIL) if tick_field else None
        why = fields["why"].text(120) if "why" in fields else ""
        return None if tick is None or why is None else Until(tick, why)

    def _view(self) -> dict[str, Any]:
        entry = self.fields.get("view")
        if entry:
            entry.any_keys("a mapping of settings of the window")
        return entry.value if entry and isinstance(entry.value, dict) else {}

    # --- the map and the ends ---

    def _map(self) -> MapSource | None:
        entry = require(self.fields, "map", self.root, "a map such as {file: ../maps/river.map}")
        source = read_source(entry, self.places, self.is_saved) if entry else None
        if entry is None or source is None:
            return None
        try:
            self.opened = open_source(source)
        except ConfigError as error:
            report_source(entry, source, error.problems)
            return None
        self.width, self.height = self.opened.grid.width, self.opened.grid.height
        return self.opened.source

    def _end(self, key: str, own: Pair | None) -> Pair | None:
        """Where those begin or end who have no place of their own; where all have one, that of the first: `own`."""
        if key not in self.fields:
            # Not asked for when the map is wrong: it might be one that brings its own.
            given = {"start": self.opened.start, "goal": self.opened.goal}[key] if self.opened else None
            if given is None and self._all_have_their_own(key):
                return own
            if given is None and self.opened:
                require(self.fields, key, self.root, "a cell as [x, y], which not every agent has of its own")
            return given
        entry = self.fields[key]
        pair = entry.cell(self.width, self.height)
        if pair and self.opened:
            _check_is_free(entry, self.opened.grid, pair)
        return pair

    def _all_have_their_own(self, key: str) -> bool:
        """Also where something else about them is wrong."""
        agents = self.fields["agents"].value if "agents" in self.fields else None
        return isinstance(agents, list) and bool(agents) and all(says_own_end(agent, key) for agent in agents)

    def _switches(self) -> dict[str, tuple[Pair, ...]]:
        if "switches" not in self.fields:
            return dict(self.opened.switches) if self.opened else {}
        entry = self.fields["switches"]
        parts = entry.any_keys("named groups of cells such as {bridge: [[60, 20], [61, 20]]}")
        if len(parts) > MAX_SWITCHES:
            entry.complain(f"expected at most {MAX_SWITCHES} switches, got {len(parts):,}")
        switches = {}
        for name, part in parts.items():
            Field(part.problems, part.path, name).text(MAX_NAME)
            cells = read_cells(part, self.width, self.height)
            switches[name] = tuple((cell % self.width, cell // self.width) for cell in cells or ())
            if cells == ():
                part.expect("at least one cell")
        return switches

    # --- who walks and what happens ---

    def _agents(self, roster: Roster) -> tuple[AgentConfig, ...]:
        entry = require(self.fields, "agents", self.root, "a list of agents such as [{kind: tb-wa}]")
        parts = entry.items("a list of agents such as [{kind: tb-wa}]") if entry else []
        if entry and len(parts) > MAX_AGENTS:
            entry.complain(f"expected at most {MAX_AGENTS} agents, got {len(parts):,}")
            return ()
        configs: list[AgentConfig] = []
        grid = self.opened.grid if self.opened else None
        for part in parts:
            found = read_agents(part, self.specs, roster.budget, grid, self.places.find)
            for config in found:
                roster.join(config)
            configs += found
            if not found:
                roster.join_unread(part.value)
            if entry and len(configs) > MAX_AGENTS:
                entry.complain(f"expected at most {MAX_AGENTS:,} agents in all, got {len(configs):,}")
                return ()
        return tuple(configs)

    def _edits(self, reader: EditReader) -> tuple[TimedCommand, ...]:
        entry = self.fields.get("edits")
        if entry is None or entry.value is None:
            return ()
        return read_edits(entry, reader)


def _nearest_format(value: object) -> str:
    return did_you_mean(value, [FORMAT]) if isinstance(value, str) else ""


def _check_is_free(entry: Field, grid: Grid, pair: Pair) -> None:
    x, y = pair
    if not grid.is_free(grid.cell(x, y)):
        entry.complain(f"expected a free cell, got [{x}, {y}], which is blocked ({chr(grid.terrain[y, x])!r})")


# --- writing --------------------------------------------------------------------------------------


def dump_scenario(scenario: Scenario) -> str:
    """The scenario as YAML that reads back equal."""
    return write_yaml(scenario_data(scenario))


def scenario_data(scenario: Scenario) -> dict[str, Any]:
    """The scenario as plain data. A map that was redrawn is drawn in it."""
    if scenario.is_redrawn:
        scenario = replace(scenario, map=rows_of(scenario.grid, scenario.map_name))
    data: dict[str, Any] = {"format": FORMAT, "version": VERSION}
    if scenario.title:
        data["title"] = scenario.title
    if scenario.caption:
        data["caption"] = scenario.caption
    data["map"] = source_data(scenario.map)
    data |= {"seed": scenario.seed, "budget": scenario.budget}
    if scenario.trials != TRIALS.default:
        data["trials"] = scenario.trials
    if scenario.tick_ms:
        data["tick_ms"] = scenario.tick_ms
    data |= {"start": Inline(scenario.start), "goal": Inline(scenario.goal)}
    if scenario.listed_optimal is not None:
        data["listed_optimal"] = scenario.listed_optimal
    data["agents"] = [agent_data(config) for config in scenario.agents]
    if scenario.switches or isinstance(scenario.map, MapRecipe):  # a recipe has its own, unless the file says others
        data["switches"] = {name: _cells_data(cells) for name, cells in scenario.switches.items()}
    if scenario.changes:
        data["changes"] = changes_data(scenario.changes)
    if scenario.edits:
        data["edits"] = edits_data(scenario.agents, scenario.edits, scenario.grid.width)
    if scenario.until:
        data["until"] = InlineMap(tick=scenario.until.tick)
        data["until"] |= {"why": scenario.until.why} if scenario.until.why else {}
    if scenario.view:
        data["view"] = dict(scenario.view)
    return data


def save_scenario(scenario: Scenario, path: str | os.PathLike[str]) -> Scenario:
    """Write a scenario file, whole or not at all; returns it as written.

    Its map file is named from the new place. A map out of reach from there is drawn in the file itself.
    """
    moved = moved_to(scenario, Path(os.path.realpath(Path(path).parent)))
    write_document(scenario_data(moved), path)
    return moved


def write_document(data: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write a scenario or a session, whole or not at all; a ConfigError where it is more than what is read."""
    values = values_in(data)
    text = write_yaml(data).encode("utf-8") if values <= MAX_VALUES else b""
    for what, most, count in (("values", MAX_VALUES, values), ("bytes", MAX_BYTES, len(text))):
        if count > most:
            raise ConfigError(f"{path}: expected at most {most:,} {what}, got {count:,}: it could not be opened again")
    write_atomically(path, text)


def moved_to(scenario: Scenario, folder: Path) -> Scenario:
    source = scenario.map
    if not isinstance(source, MapFile):
        return scenario
    if not source.path.is_relative_to(folder.parent):
        return replace(scenario, map=rows_of(scenario.grid, scenario.map_name))
    name = Path(os.path.relpath(source.path, folder)).as_posix()
    if not name.isprintable():  # a name that is no text: nobody could read it back
        return replace(scenario, map=rows_of(scenario.grid, scenario.map_name))
    return replace(scenario, map=replace(source, file=name))


def _cells_data(cells: Iterable[Pair]) -> Inline:
    return Inline(Inline(pair) for pair in cells)
