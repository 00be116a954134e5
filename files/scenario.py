"""Read and write scenario files: one map, one problem, its agents and timed commands, as a small YAML file.

A file is checked completely: the map is opened, every name and cell is looked up, and all problems are raised in one
ConfigError, one per line. The result is plain data; see yaml.py for the limits, agents.py for the agents and
timed_commands.py for the timed commands.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from files.agents import (
    agent_config_data,
    random_changes_data,
    read_agents,
    read_random_changes,
    sets_own_start_or_goal,
)
from files.cell_lists import read_cells
from files.disk import read_file, write_file_atomically
from files.document_fields import DocumentField, DocumentProblems, require_field
from files.file_kinds import SCENARIO, check_file_kind
from files.map_source import (
    MAX_PATH,
    MapFile,
    MapFolders,
    MapRecipe,
    MapRows,
    MapSource,
    OpenedMap,
    map_rows_of_grid,
    map_source_data,
    open_map_folders,
    open_map_source,
    read_map_source,
    report_map_problems,
)
from files.timed_commands import TimedCommandReader, TrackedAgents, read_timed_commands, timed_commands_data
from files.yaml import MAX_BYTES, MAX_VALUES, InlineList, InlineMap, count_values, read_yaml, write_yaml
from sim.agent_api import AgentSpec
from sim.batching.batched_executor import BatchedExecutor
from sim.changes import RandomChangeSchedule
from sim.grid import MAX_MAP_SIDE, Grid
from sim.movement import DEFAULT_MOVEMENT, Movement
from sim.params import ConfigError, Param, did_you_mean_hint, escape_unprintable, value_as_in_files
from sim.world import World
from sim.world_commands import (
    BUDGET_PARAM,
    MAX_AGENTS,
    MAX_COMMAND_TICK,
    MAX_NAME_LENGTH,
    MAX_SWITCHES,
    TICK_MS_PARAM,
    TRIALS_PARAM,
    AgentConfig,
    CellXY,
    SetTickTimeLimit,
    TimedCommand,
)

FORMAT, VERSION = SCENARIO.format, 1
SUFFIX = ".yaml"
MAX_TITLE, MAX_CAPTION = 120, 1000  # maximum lengths of title and caption in characters

SEED_PARAM = Param("seed", int, 0, "seed of the random changes and of randomised agents", 0, (1 << 32) - 1)
STOP_TICK_PARAM = Param(
    "tick", int, 1, "tick at which to stop a run that would otherwise continue", 1, MAX_COMMAND_TICK
)
LISTED_OPTIMAL_PARAM = Param(
    "listed_optimal", float, 0.0, "length of the cheapest path, as a problem list states it", 0.0
)

SCENARIO_KEYS = (
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


# placeholder for the grid of a Scenario, which the Scenario replaces by the grid of its map source
_GRID_PLACEHOLDER = Grid.from_text_rows(["."], "still to be opened")


@dataclass(frozen=True)
class StopTick:
    """Tick at which to stop a run that would otherwise continue, with the reason for stopping."""

    tick: int
    reason: str = ""  # reason for stopping, shown to the user


@dataclass(frozen=True)
class Scenario:
    """Initial state and script of a run, from which `build_world` builds worlds; a scenario never changes."""

    map: MapSource  # source of the map: a file, a recipe for a generator, or rows
    start: CellXY  # default start of the agents
    goal: CellXY  # default goal of the agents
    agents: tuple[AgentConfig, ...] = ()
    title: str = ""  # title; made printable and truncated to MAX_TITLE, so any text may be given
    caption: str = ""  # text that tells users what to watch in the run
    seed: int = 0  # seed of the random changes and of randomised agents
    budget: int = int(BUDGET_PARAM.default)  # expansions per tick, for agents without an individual budget
    switches: Mapping[str, tuple[CellXY, ...]] = field(default_factory=dict)  # name of a switch -> its cells
    changes: RandomChangeSchedule | None = None
    timed_commands: tuple[TimedCommand, ...] = ()  # commands with the ticks at which they apply
    view: Mapping[str, Any] = field(default_factory=dict)  # settings of the window: layers, panels, camera
    trials: int = 1  # maximum number of walks from start to goal, for agents that learn h
    tick_ms: float = 0.0  # time limit of a tick in milliseconds, for all agents together; 0: no limit
    listed_optimal: float | None = None  # optimal length stated by a problem list
    # Tick at which a run without a window ends, and the window pauses; None: no such tick.
    stop_tick: StopTick | None = None
    grid: Grid = field(default_factory=lambda: _GRID_PLACEHOLDER, compare=False, repr=False)
    """Map at tick 0, with the opened map in `original_terrain`; read-only. The default is the map of the source."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", escape_unprintable(self.title)[:MAX_TITLE])
        if self.grid is _GRID_PLACEHOLDER:
            object.__setattr__(self, "grid", open_map_source(self.map).grid)
        self.grid.make_read_only()

    @property
    def is_map_edited(self) -> bool:
        """Return whether the map of tick 0 differs from the map of the source."""
        if isinstance(self.map, MapRows):
            return self.map.rows != tuple(self.grid.text_rows())
        return not np.array_equal(self.grid.terrain, self.grid.original_terrain)

    @property
    def depends_on_clock(self) -> bool:
        """Return whether runs depend on a clock, because the time of ticks is limited initially or by an edit."""
        commands = (edit.command for edit in self.timed_commands)
        return self.tick_ms > 0 or any(isinstance(c, SetTickTimeLimit) and c.limit_ms > 0 for c in commands)

    def with_movement(self, movement: Movement) -> "Scenario":
        """Return a copy of the scenario with another movement rule.

        `listed_optimal` is kept only under the usual rule, on which the lengths in problem lists are based.
        """
        if movement == self.grid.movement:
            return self
        source, listed = (
            replace(self.map, movement=movement),
            self.listed_optimal if movement == DEFAULT_MOVEMENT else None,
        )
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
        """Return a short name of the map, for results and titles."""
        match self.map:
            case MapFile(file=file):
                return file
            case MapRecipe(kind=kind):
                return kind
            case MapRows(name=name):
                return name


# --- building a world -----------------------------------------------------------------------------


def build_world(
    scenario: Scenario,
    specs: Mapping[str, AgentSpec],
    *,
    complain: Callable[[ConfigError], None] | None = None,
    **world_options: Any,
) -> World:
    """Build the world of tick 0, with its agents on their starts and its edits in the queue.

    Args:
        scenario: the scenario.
        specs: known agents by key.
        complain: callback for invalid agents, which are left out; None: an invalid agent raises its error.
        world_options: options of the World; they override those of the scenario.

    Raises:
        ConfigError: An agent is invalid, and `complain` is None.
    """
    options: dict[str, Any] = {
        "budget": scenario.budget,
        "seed": scenario.seed,
        "switches": scenario.switch_cells,
        "random_changes": scenario.changes,
        "trials": scenario.trials,
        "tick_ms": scenario.tick_ms,
        "executor": BatchedExecutor,
    }
    start_and_goal = scenario.start_cell, scenario.goal_cell
    world = World(scenario.grid.copy(), *start_and_goal, specs, **(options | world_options))
    for config in scenario.agents:
        try:
            world.add(config)
        except ConfigError as error:
            if complain is None:
                raise
            complain(error)
    world.queue_commands((edit.tick, edit.command) for edit in scenario.timed_commands)
    return world


# --- reading --------------------------------------------------------------------------------------


def load_scenario(
    path: str | os.PathLike[str],
    specs: Mapping[str, AgentSpec],
    allowed_folders: Iterable[str | os.PathLike[str]] = (),
) -> Scenario:
    """Read a scenario file.

    Args:
        path: the file.
        specs: known agents by key.
        allowed_folders: further folders from which its map may come, besides the parent of the file's folder.

    Returns:
        The scenario.

    Raises:
        ConfigError: The file is not a valid scenario; the error lists all problems.
    """
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
    """Parse the text of a scenario file.

    Args:
        data: the text.
        name: name of the file in messages.
        specs: known agents by key.
        folder: folder of the file; None: its map may come only from `allowed_folders`.
        allowed_folders: further folders from which its map may come.
        is_saved: whether the text is part of a session or a journal, see ScenarioReader.

    Returns:
        The scenario.

    Raises:
        ConfigError: The text is not a valid scenario; the error lists all problems.
    """
    problems = DocumentProblems(read_yaml(data, name))
    check_file_kind(problems.document, SCENARIO)
    root = DocumentField(problems, (), problems.document.data)
    scenario = ScenarioReader(root, specs, open_map_folders(folder, allowed_folders), is_saved=is_saved).read_scenario()
    problems.raise_if_any_problem()
    assert scenario is not None, root.value
    return scenario


class ScenarioReader:
    """Reader of one scenario document. It reports problems and continues, so that all problems are found."""

    def __init__(
        self, root: DocumentField, specs: Mapping[str, AgentSpec], folders: MapFolders, *, is_saved: bool = False
    ) -> None:
        """Create a reader.

        Args:
            root: the document.
            specs: known agents by key.
            folders: folders from which the map may come.
            is_saved: whether the document is part of a session or a journal. Older versions wrote long titles and
                settings without meaning for the map into them, which are tolerated.
        """
        self.root, self.specs, self.map_folders, self.is_saved = root, specs, folders, is_saved
        self.fields = root.read_known_keys(SCENARIO_KEYS, f"a scenario, which begins with 'format: {FORMAT}'")
        self.opened_map: OpenedMap | None = None
        self.width = self.height = MAX_MAP_SIDE  # size of the map; the maximum size until the map is opened

    def read_scenario(self) -> Scenario | None:
        """Return the scenario; None if it cannot be built. Problems are reported in the document in either case."""
        self._check_format()
        source = self._open_scenario_map()
        budget = self._read_integer("budget", BUDGET_PARAM)
        switches = self._read_switches()
        roster = TrackedAgents(self.specs, budget)
        agents = self._read_agents(roster)
        start = self._read_start_or_goal("start", agents[0].start if agents else None)
        goal = self._read_start_or_goal("goal", agents[0].goal if agents else None)
        knows_switches = self.opened_map is not None or "switches" in self.fields
        edits = self._read_timed_commands(
            TimedCommandReader(self.width, self.height, switches if knows_switches else None, roster)
        )
        title, caption = self._read_title(), self._read_text("caption", MAX_CAPTION, lines=True)
        seed, changes, view = (
            self._read_integer("seed", SEED_PARAM),
            self._read_random_changes(),
            self._read_view_settings(),
        )
        trials, tick_ms, listed = (
            self._read_integer("trials", TRIALS_PARAM),
            self._read_tick_ms(),
            self._read_listed_optimal(),
        )
        until = self._read_stop_tick()
        if source is None or start is None or goal is None or self.opened_map is None:
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
            timed_commands=edits,
            view=view,
            trials=trials,
            tick_ms=tick_ms,
            listed_optimal=listed,
            stop_tick=until,
            grid=self.opened_map.grid,
        )

    def _check_format(self) -> None:
        named = require_field(self.fields, "format", self.root, f"'{FORMAT}'")
        if named and named.value != FORMAT:
            named.report_problem(
                f"expected '{FORMAT}', got {value_as_in_files(named.value)}{_nearest_format_hint(named.value)}"
            )
        version = require_field(self.fields, "version", self.root, str(VERSION))
        if version and (version.value != VERSION or isinstance(version.value, bool)):
            version.report_expected_value(f"{VERSION}, the only version so far")

    def _read_integer(self, key: str, param: Param) -> int:
        value = self.fields[key].read_integer(param) if key in self.fields else None
        return int(param.default) if value is None else value

    def _read_text(self, key: str, longest: int, lines: bool = False) -> str:
        return (self.fields[key].read_text(longest, lines) or "") if key in self.fields else ""

    def _read_title(self) -> str:
        """Return the title; it may be long in saved files, because older versions wrote whole paths into sessions."""
        return self._read_text("title", MAX_PATH if self.is_saved else MAX_TITLE)

    def _read_tick_ms(self) -> float:
        value = self.fields["tick_ms"].read_value(TICK_MS_PARAM) if "tick_ms" in self.fields else None
        return float(TICK_MS_PARAM.default if value is None else value)

    def _read_listed_optimal(self) -> float | None:
        entry = self.fields.get("listed_optimal")
        value = entry.read_value(LISTED_OPTIMAL_PARAM) if entry and entry.value is not None else None
        return None if value is None else float(value)

    def _read_random_changes(self) -> RandomChangeSchedule | None:
        entry = self.fields.get("changes")
        return read_random_changes(entry, may_be_one=True) if entry and entry.value is not None else None

    def _read_stop_tick(self) -> StopTick | None:
        entry = self.fields.get("until")
        fields = (
            entry.read_known_keys(("tick", "why"), "the last tick such as {tick: 3000, why: out of moves}")
            if entry
            else {}
        )
        tick_field = require_field(fields, "tick", entry, "the last tick") if entry and fields else None
        tick = tick_field.read_integer(STOP_TICK_PARAM) if tick_field else None
        why = fields["why"].read_text(120) if "why" in fields else ""
        return None if tick is None or why is None else StopTick(tick, why)

    def _read_view_settings(self) -> dict[str, Any]:
        entry = self.fields.get("view")
        if entry:
            entry.read_mapping("a mapping of settings of the window")
        return entry.value if entry and isinstance(entry.value, dict) else {}

    # --- map, start and goal ---

    def _open_scenario_map(self) -> MapSource | None:
        entry = require_field(self.fields, "map", self.root, "a map such as {file: ../maps/river.map}")
        source = read_map_source(entry, self.map_folders, self.is_saved) if entry else None
        if entry is None or source is None:
            return None
        try:
            self.opened_map = open_map_source(source)
        except ConfigError as error:
            report_map_problems(entry, source, error.problems)
            return None
        self.width, self.height = self.opened_map.grid.width, self.opened_map.grid.height
        return self.opened_map.source

    def _read_start_or_goal(self, key: str, own: CellXY | None) -> CellXY | None:
        """Return the default start or goal of the agents; None after reporting that it is missing or wrong.

        Args:
            key: "start" or "goal".
            own: start or goal of the first agent, used as the default if every agent has one of its own.
        """
        if key not in self.fields:
            # A missing key is no problem while the map is invalid, because the map might define a start and goal.
            map_value = {"start": self.opened_map.start, "goal": self.opened_map.goal}[key] if self.opened_map else None
            if map_value is None and self._is_set_by_all_agents(key):
                return own
            if map_value is None and self.opened_map:
                require_field(self.fields, key, self.root, "a cell as [x, y], because not every agent sets its own")
            return map_value
        entry = self.fields[key]
        pair = entry.cell(self.width, self.height)
        if pair and self.opened_map:
            _check_cell_is_free(entry, self.opened_map.grid, pair)
        return pair

    def _is_set_by_all_agents(self, key: str) -> bool:
        """Return whether every agent gives its own start or goal, even if other values of it are wrong."""
        agents = self.fields["agents"].value if "agents" in self.fields else None
        return isinstance(agents, list) and bool(agents) and all(sets_own_start_or_goal(agent, key) for agent in agents)

    def _read_switches(self) -> dict[str, tuple[CellXY, ...]]:
        if "switches" not in self.fields:
            return dict(self.opened_map.switches) if self.opened_map else {}
        entry = self.fields["switches"]
        parts = entry.read_mapping("named groups of cells such as {bridge: [[60, 20], [61, 20]]}")
        if len(parts) > MAX_SWITCHES:
            entry.report_problem(f"expected at most {MAX_SWITCHES} switches, got {len(parts):,}")
        switches = {}
        for name, part in parts.items():
            DocumentField(part.problems, part.path, name).read_text(MAX_NAME_LENGTH)
            cells = read_cells(part, self.width, self.height)
            switches[name] = tuple((cell % self.width, cell // self.width) for cell in cells or ())
            if cells == ():
                part.report_expected_value("at least one cell")
        return switches

    # --- agents and timed commands ---

    def _read_agents(self, roster: TrackedAgents) -> tuple[AgentConfig, ...]:
        entry = require_field(self.fields, "agents", self.root, "a list of agents such as [{kind: tb-wa}]")
        parts = entry.items("a list of agents such as [{kind: tb-wa}]") if entry else []
        if entry and len(parts) > MAX_AGENTS:
            entry.report_problem(f"expected at most {MAX_AGENTS} agents, got {len(parts):,}")
            return ()
        configs: list[AgentConfig] = []
        grid = self.opened_map.grid if self.opened_map else None
        for part in parts:
            found = read_agents(part, self.specs, roster.shared_budget, grid, self.map_folders.find_map)
            for config in found:
                roster.add_agent(config)
            configs += found
            if not found:
                roster.add_invalid_agent(part.value)
            if entry and len(configs) > MAX_AGENTS:
                entry.report_problem(f"expected at most {MAX_AGENTS:,} agents in all, got {len(configs):,}")
                return ()
        return tuple(configs)

    def _read_timed_commands(self, reader: TimedCommandReader) -> tuple[TimedCommand, ...]:
        entry = self.fields.get("edits")
        if entry is None or entry.value is None:
            return ()
        return read_timed_commands(entry, reader)


def _nearest_format_hint(value: object) -> str:
    return did_you_mean_hint(value, [FORMAT]) if isinstance(value, str) else ""


def _check_cell_is_free(entry: DocumentField, grid: Grid, pair: CellXY) -> None:
    x, y = pair
    if not grid.is_free(grid.cell(x, y)):
        entry.report_problem(f"expected a free cell, got [{x}, {y}], which is blocked ({chr(grid.terrain[y, x])!r})")


# --- writing --------------------------------------------------------------------------------------


def dump_scenario(scenario: Scenario) -> str:
    """Return the scenario as YAML; reading it gives an equal scenario."""
    return write_yaml(scenario_data(scenario))


def scenario_data(scenario: Scenario) -> dict[str, Any]:
    """Return the scenario as plain data. A map that differs from its source is included as rows."""
    if scenario.is_map_edited:
        scenario = replace(scenario, map=map_rows_of_grid(scenario.grid, scenario.map_name))
    data: dict[str, Any] = {"format": FORMAT, "version": VERSION}
    if scenario.title:
        data["title"] = scenario.title
    if scenario.caption:
        data["caption"] = scenario.caption
    data["map"] = map_source_data(scenario.map)
    data |= {"seed": scenario.seed, "budget": scenario.budget}
    if scenario.trials != TRIALS_PARAM.default:
        data["trials"] = scenario.trials
    if scenario.tick_ms:
        data["tick_ms"] = scenario.tick_ms
    data |= {"start": InlineList(scenario.start), "goal": InlineList(scenario.goal)}
    if scenario.listed_optimal is not None:
        data["listed_optimal"] = scenario.listed_optimal
    data["agents"] = [agent_config_data(config) for config in scenario.agents]
    # Write even an empty list for a generated map, because reading would otherwise add the generator's switches.
    if scenario.switches or isinstance(scenario.map, MapRecipe):
        data["switches"] = {name: _cells_data(cells) for name, cells in scenario.switches.items()}
    if scenario.changes:
        data["changes"] = random_changes_data(scenario.changes)
    if scenario.timed_commands:
        data["edits"] = timed_commands_data(scenario.agents, scenario.timed_commands, scenario.grid.width)
    if scenario.stop_tick:
        data["until"] = InlineMap(tick=scenario.stop_tick.tick)
        data["until"] |= {"why": scenario.stop_tick.reason} if scenario.stop_tick.reason else {}
    if scenario.view:
        data["view"] = dict(scenario.view)
    return data


def save_scenario(scenario: Scenario, path: str | os.PathLike[str]) -> Scenario:
    """Write a scenario file atomically and return the scenario as written.

    The path of its map is relative to the new folder; a map that a file there may not name is written as rows.
    """
    moved = relocate_scenario(scenario, Path(os.path.realpath(Path(path).parent)))
    write_document(scenario_data(moved), path)
    return moved


def write_document(data: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write a scenario or session file atomically; raise a ConfigError if the file would be too large to be read."""
    values = count_values(data)
    text = write_yaml(data).encode("utf-8") if values <= MAX_VALUES else b""
    for unit, limit, count in (("values", MAX_VALUES, values), ("bytes", MAX_BYTES, len(text))):
        if count > limit:
            raise ConfigError(f"{path}: expected at most {limit:,} {unit}, got {count:,}: it could not be opened again")
    write_file_atomically(path, text)


def relocate_scenario(scenario: Scenario, folder: Path) -> Scenario:
    """Return the scenario to be saved in `folder`: with the map's path relative to it, or rows if that is refused."""
    source = scenario.map
    if not isinstance(source, MapFile):
        return scenario
    if not source.path.is_relative_to(folder.parent):
        return replace(scenario, map=map_rows_of_grid(scenario.grid, scenario.map_name))
    name = Path(os.path.relpath(source.path, folder)).as_posix()
    if not name.isprintable():  # a name that is not printable would be refused when the file is read
        return replace(scenario, map=map_rows_of_grid(scenario.grid, scenario.map_name))
    return replace(scenario, map=replace(source, file=name))


def _cells_data(cells: Iterable[CellXY]) -> InlineList:
    return InlineList(InlineList(pair) for pair in cells)
