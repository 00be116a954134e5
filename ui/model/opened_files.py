"""Opening and saving of files for the window: scenarios, maps, problem lists.

Any problem with a file or a folder is raised as a ConfigError, whose text the window shows unchanged. This module does
not use pygame.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from agents.registry import AGENT_SPECS_BY_KEY
from files.disk import open_regular_file, read_file
from files.lesson import is_lesson_data, load_lesson
from files.lesson_claims import Lesson
from files.map_files import MAP_SUFFIX, OTHER_MAP_SUFFIXES, is_map_file, open_map
from files.map_source import MapFile, MapRecipe, map_rows_of_grid
from files.movingai import (
    ScenFile,
    ScenRow,
    find_map_of_scen,
    read_map,
    read_scen,
    row_problem_on_grid,
    write_map,
)
from files.picture_map import MAX_PICTURE_BYTES
from files.png import png_texts
from files.scenario import Scenario, load_scenario, save_scenario
from files.session import SavedSession, is_session_data, load_session, parse_session
from files.shipped_files import SCENARIOS, resolve_shipped_file
from sim.agent_placing import adapt_agents_to_map
from sim.grid import Grid
from sim.map_generators import GeneratedMap, largest_component_mask, opposite_corner_cells
from sim.params import ConfigError, similar_name_hint
from sim.system.program import ASSETS_FOLDER
from sim.world_commands import AgentConfig, SetTerrain, TimedCommand
from ui.model.layer_state import HEAT_KINDS
from ui.model.selection import MapPiece
from ui.model.session import Session
from ui.model.start_over import scenario_of_run
from ui.model.user_map_edits import letters_of_user_edits

SCENARIO_SUFFIXES = (".yaml", ".yml")
PROBLEMS_SUFFIX = ".scen"
PICTURE_SUFFIX = ".png"
KNOWN_SUFFIXES = (*SCENARIO_SUFFIXES, MAP_SUFFIX, PROBLEMS_SUFFIX, *OTHER_MAP_SUFFIXES)
PICTURE_TEXT = "Scenario"
"""Key of the PNG text that holds the session shown in a picture saved by this program."""

MAPS_FOLDER = ASSETS_FOLDER / "maps"

DEFAULT_BUDGET = 16
DEFAULT_AGENTS = (
    AgentConfig("tba"),
    AgentConfig("tb-wa", params={"weight": 1.0}),
    AgentConfig("tb-wa", params={"weight": 3.0}),
    AgentConfig("tb-gbfs"),
)
"""Agents to put on a map whose file names none: those that the papers compare, from much scrubbing to none."""

MAX_EDITED_CELLS = 4096
"""Maximum number of edited cells to save as an edit at tick 0; a map with more edited cells is saved as a whole."""

_EXAMPLE_ORDER_IN_GALLERY = (
    "scrubbing",
    "weights",
    "bridges",
    "rooms",
    "acting-early",
    "indecision",
    "two-corridors",
    "reopening",
    "random-changes",
    "no-path",
    "corner",
    "learning",
    "lookahead",
    "dstar-lite",
)
"""Order of the examples in the gallery, from basics to details; other examples follow in alphabetical order."""

LESSON_FOLDER = ASSETS_FOLDER / "lessons"
_LESSON_ORDER = ("why-agents-scrub", "weight-tames-it", "lazy-or-eager", "what-learning-costs")

_MAX_MAPS = 32  # maximum number of maps that are read to check the problems of a list when the list is opened


@dataclass(frozen=True)
class OpenedFile:
    """Content of a file: the run to begin, and the problem list, session or lesson if it held one."""

    scenario: Scenario
    path: Path  # file that was opened
    problem_list: ScenFile | None = None  # problem list, if the file is one
    saved_session: SavedSession | None = None  # session with its branches and all commands, if the file holds one
    lesson: Lesson | None = None  # lesson that guides the user through the run, if the file is one


# --- opening --------------------------------------------------------------------------------------


def open_any_file(path: str | os.PathLike[str], agents: Sequence[AgentConfig] = DEFAULT_AGENTS) -> OpenedFile:
    """Return the content of a file of any known kind.

    Args:
        path: File of a scenario, session, lesson, map, problem list or picture.
        agents: Agents to put on the map if the file names none.

    Raises:
        ConfigError: The file cannot be read, is not valid, or is of an unknown kind.
    """
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix in SCENARIO_SUFFIXES and is_session_file(file):
        return _opened_saved_session(load_session(file, AGENT_SPECS_BY_KEY, (ASSETS_FOLDER,)), file)
    if suffix == PICTURE_SUFFIX and (text := _session_in_picture(file)) is not None:
        saved = parse_session(text, str(file), AGENT_SPECS_BY_KEY, file.parent, (ASSETS_FOLDER,))
        return _opened_saved_session(saved, file)
    if suffix in SCENARIO_SUFFIXES and is_lesson_file(file):
        lesson = read_lesson(file)
        return OpenedFile(replace(lesson.scenario, title=lesson.title), file, lesson=lesson)
    if is_map_file(file):
        return OpenedFile(scenario_from_map_file(file, agents), file)
    if suffix in SCENARIO_SUFFIXES:
        scenario = load_scenario(file, AGENT_SPECS_BY_KEY, (ASSETS_FOLDER,))
        return OpenedFile(scenario_with_title(scenario, file), file)
    if suffix == PROBLEMS_SUFFIX:
        return _open_problem_list(file, agents)
    raise ConfigError(_unknown_file_kind_message(file, suffix))


def _opened_saved_session(saved: SavedSession, file: Path) -> OpenedFile:
    return OpenedFile(scenario_with_title(saved.scenario, file), file, saved_session=saved)


def _session_in_picture(file: Path) -> str | None:
    """Return the session, at the tick shown, that this program has stored as text in a picture.

    Returns:
        The text; None for any other picture, which the caller then reads as a map.
    """
    data = read_file(file, MAX_PICTURE_BYTES, PICTURE_SUFFIX)
    try:
        return png_texts(data).get(PICTURE_TEXT)
    except ValueError as error:
        raise ConfigError(f"{file}: expected a PNG file, got one that cannot be read: {error}") from None


def is_session_file(path: Path) -> bool:
    """Return whether a file holds a whole session rather than a scenario."""
    try:
        with open_regular_file(path, SCENARIO_SUFFIXES[0]) as file:
            return is_session_data(file.read(4096))
    except ConfigError:
        return False  # reading the whole file will report this error


def is_lesson_file(path: Path) -> bool:
    """Return whether a file holds a lesson rather than a scenario."""
    try:
        with open_regular_file(path, SCENARIO_SUFFIXES[0]) as file:
            return is_lesson_data(file.read(4096))
    except ConfigError:
        return False  # reading the whole file will report this error


def read_lesson(file: Path, *, is_played: bool = True) -> Lesson:
    return load_lesson(file, AGENT_SPECS_BY_KEY, (ASSETS_FOLDER,), HEAT_KINDS, is_played=is_played)


def _unknown_file_kind_message(file: Path, suffix: str) -> str:
    if os.path.isdir(file):
        return f"{file}: expected a file, got a folder"
    hint = similar_name_hint(suffix, KNOWN_SUFFIXES)
    return f"{file}: expected a file that ends in one of {', '.join(KNOWN_SUFFIXES)}, got '{file.name}'{hint}"


def scenario_with_title(scenario: Scenario, path: str | os.PathLike[str] | None = None) -> Scenario:
    """Return the scenario with a title: its own title, else the name of its file, else the name of its map."""
    return replace(scenario, title=scenario.title or (Path(path).stem if path else scenario.map_name))


def scenario_from_map_file(path: str | os.PathLike[str], agents: Sequence[AgentConfig] = DEFAULT_AGENTS) -> Scenario:
    """Return a scenario for a map alone, with start and goal at opposite ends of its largest connected part."""
    file = Path(path)
    grid = open_map(file)
    start, goal = distant_start_and_goal(grid)
    start_and_goal, title = (grid.xy(start), grid.xy(goal)), file.stem
    placed_agents = tuple(adapt_agents_to_map(agents, grid, seed=0))
    return Scenario(_map_file_of_path(file), *start_and_goal, placed_agents, title, budget=DEFAULT_BUDGET, grid=grid)


def scenario_from_generated(
    generated: GeneratedMap, agents: Sequence[AgentConfig] = DEFAULT_AGENTS, budget: int = DEFAULT_BUDGET, seed: int = 0
) -> Scenario:
    """Return a scenario for a generated map, with the start, the goal and the switches that the generator chose."""
    grid, recipe = generated.grid, dict(generated.recipe)
    kind = str(recipe.pop("kind"))
    number = f", seed {recipe['seed']}" if "seed" in recipe else ""
    return Scenario(
        MapRecipe(kind, recipe, grid.movement),
        generated.start,
        generated.goal,
        tuple(adapt_agents_to_map(agents, grid, seed)),
        f"{kind.replace('-', ' ').capitalize()} {grid.width} x {grid.height}{number}",
        seed=seed,
        budget=budget,
        switches={name: tuple(cells) for name, cells in generated.switches.items()},
        grid=grid,
    )


def example_files() -> list[Path]:
    """Return the scenario files of all examples, in the order of the gallery."""
    file_by_name = {name: Path(resolve_shipped_file(name)) for name in SCENARIOS.names()}
    ordered_names = [name for name in _EXAMPLE_ORDER_IN_GALLERY if name in file_by_name]
    return [file_by_name[name] for name in [*ordered_names, *sorted(set(file_by_name) - set(ordered_names))]]


def lesson_files() -> list[Path]:
    """Return the files of the lessons that come with the program, in the order in which they should be taken."""
    file_by_name = {path.stem: path for path in LESSON_FOLDER.glob("*.yaml")}
    ordered_names = [name for name in _LESSON_ORDER if name in file_by_name]
    return [file_by_name[name] for name in [*ordered_names, *sorted(set(file_by_name) - set(ordered_names))]]


def is_shipped_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a file came with the program and must not be overwritten."""
    return Path(os.path.realpath(path)).is_relative_to(ASSETS_FOLDER)


def distant_start_and_goal(grid: Grid) -> tuple[int, int]:
    """Return start and goal cells, far apart, for a map file without a start and a goal.

    Both cells are on land, or on water if the map has nothing else.
    """
    for letters in (b".GSB", b"W"):
        mask = np.isin(grid.terrain, np.frombuffer(letters, np.uint8))
        if mask.any():
            start, goal = opposite_corner_cells(largest_component_mask(mask))
            return int(grid.cell(*start)), int(grid.cell(*goal))
    raise ConfigError(f"{grid.name}: expected a map with a free cell, got none")


def _map_file_of_path(path: Path) -> MapFile:
    return MapFile(path.name, Path(os.path.realpath(path)))


# --- problem lists --------------------------------------------------------------------------------


def _open_problem_list(path: Path, agents: Sequence[AgentConfig]) -> OpenedFile:
    """Return a problem list, with the scenario of its first problem that can be run."""
    problems = problem_list_with_checked_rows(read_scen(path))
    row = next((row for row in problems.rows if row.problem is None), None)
    if row is None:
        reasons = [f"{path}:{row.line}: {row.problem}" for row in problems.rows[:5]]
        raise ConfigError([f"{path}: expected a problem that can be run, got none", *reasons])
    return OpenedFile(scenario_of_problem(problems, row, agents), path, problems)


def problem_list_with_checked_rows(problems: ScenFile) -> ScenFile:
    """Return the problem list with the defect of each faulty row, found by checking the row against its map."""
    grids = {name: _map_or_error_text(problems, name) for name in problems.map_names()[:_MAX_MAPS]}

    def check(row: ScenRow) -> ScenRow:
        grid = grids.get(row.map_name)
        if not row.is_readable or grid is None:
            return row
        return replace(row, problem=grid if isinstance(grid, str) else row_problem_on_grid(row, grid))

    return replace(problems, rows=[check(row) for row in problems.rows])


def _map_or_error_text(problems: ScenFile, name: str) -> Grid | str:
    try:
        return read_map(find_map_of_scen(problems.name, name, _map_folders()))
    except ConfigError as error:
        return error.problems[0]


def _map_folders() -> tuple[Path, ...]:
    return (MAPS_FOLDER,)


def scenario_of_problem(
    problems: ScenFile, row: ScenRow, agents: Sequence[AgentConfig] = DEFAULT_AGENTS, budget: int = DEFAULT_BUDGET
) -> Scenario:
    """Return the scenario of one problem (one row) of a problem list, on the map that the row names."""
    map_file = find_map_of_scen(problems.name, row.map_name, _map_folders())
    grid = read_map(map_file)
    problem = row_problem_on_grid(row, grid)
    if problem:
        raise ConfigError(f"problem {row.row_index}: {problem}")
    return Scenario(
        _map_file_of_path(map_file),
        row.start,
        row.goal,
        tuple(adapt_agents_to_map(agents, grid, seed=0)),
        f"{map_file.stem}, problem {row.row_index}",
        budget=budget,
        listed_optimal=row.optimal,
        grid=grid,
    )


# --- saving ---------------------------------------------------------------------------------------


def path_with_suffix(path: str | os.PathLike[str], suffixes: str | Sequence[str]) -> Path:
    """Return the path unchanged if it ends in one of the suffixes; else append the first suffix."""
    known = (suffixes,) if isinstance(suffixes, str) else tuple(suffixes)
    file = Path(path)
    return file if file.name.lower().endswith(known) and file.suffix else file.with_name(file.name + known[0])


def save_map(session: Session, path: str | os.PathLike[str]) -> Path:
    """Write the current map and return the path of the file."""
    file = path_with_suffix(path, MAP_SUFFIX)
    write_map(session.run.world.grid, file)
    session.unsaved_work.mark_map_saved()
    return file


def save_map_piece(piece: MapPiece, path: str | os.PathLike[str]) -> Path:
    """Write a copied part of a map as a map file of its own, and return the path of the file."""
    file = path_with_suffix(path, MAP_SUFFIX)
    write_map(piece.to_grid(), file)
    return file


def save_session_scenario(
    session: Session, path: str | os.PathLike[str], view: Mapping[str, Any] | None = None
) -> Path:
    """Write map, agents, settings and the view of the window as a scenario, and return the path of the file."""
    file = path_with_suffix(path, SCENARIO_SUFFIXES)
    save_scenario(replace(scenario_from_session(session), view=dict(view or {})), file)
    if len(session.run.branch_tree.branches) == 1:
        session.unsaved_work.mark_saved()
    return file


def scenario_from_session(session: Session) -> Scenario:
    """Return the open run as a scenario that begins at tick 0, with the user's edits and current agent settings.

    The script and the random changes remain part of the scenario. Their effects so far are not included, because
    otherwise they would be applied twice.
    """
    return _scenario_with_map_edits(scenario_of_run(session.run, keeps_map=False), letters_of_user_edits(session.run))


def _scenario_with_map_edits(scenario: Scenario, letters: Mapping[int, int]) -> Scenario:
    """Return the scenario with the user's map edits (cell -> letter) added to its script or to its map.

    At tick 0, the edits take effect in this order: original map, script, edits by the user.

    A new map is stored if more than MAX_EDITED_CELLS cells were edited, or if the start or the goal would be blocked on
    the original map.
    """
    grid, script = scenario.grid, scenario.timed_commands
    first, opened = grid.terrain.reshape(-1), grid.original_terrain.reshape(-1)
    early = {int(cell): int(first[cell]) for cell in np.flatnonzero(first != opened)} if scenario.is_map_edited else {}
    source = Grid(grid.original_terrain.copy() if early else grid.terrain.copy(), grid.movement, grid.name)
    ends_are_free = source.is_free(scenario.start_cell) and source.is_free(scenario.goal_cell)
    if ends_are_free and len(early) + len(letters) <= MAX_EDITED_CELLS:
        edits = (*_terrain_edit_commands(early), *script, *_terrain_edit_commands(letters))
        return replace(scenario, grid=source, timed_commands=tuple(sorted(edits, key=lambda edit: edit.tick)))
    terrain = grid.terrain.copy()
    terrain.reshape(-1)[list(letters)] = list(letters.values())
    edited_grid = Grid(terrain, grid.movement, grid.name)
    # A script that paints at tick 0 is applied after the rows of the map, and the user's edits after the script.
    is_painted_over = any(edit.tick == 0 for edit in script)
    edits = (*script, *(_terrain_edit_commands(letters) if is_painted_over else ()))
    return replace(
        scenario, map=map_rows_of_grid(edited_grid, scenario.map_name), grid=edited_grid, timed_commands=edits
    )


def _terrain_edit_commands(letters: Mapping[int, int]) -> tuple[TimedCommand, ...]:
    if not letters:
        return ()
    cells = tuple(sorted(letters))
    text = bytes(letters[cell] for cell in cells).decode("ascii")
    return (TimedCommand(0, SetTerrain(cells, text)),)
