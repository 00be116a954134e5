"""Read and open the map source of a scenario: a file, a recipe for a generator, or rows in the scenario itself."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from files.document_fields import DocumentField, require_field
from files.file_access import OUTSIDE_REASON, file_refusal_reason
from files.map_files import MAP_SETTINGS, describe_maps_with_setting, open_map
from files.movement import MOVEMENT_KEYS, movement_data, read_movement
from files.movingai import SWAMP_PARAM
from files.picture_map import THRESHOLD_PARAM
from files.yaml import InlineMap
from sim.grid import Grid
from sim.map_generators import generate_map
from sim.movement import DEFAULT_MOVEMENT, Movement
from sim.params import Value, value_as_in_files
from sim.world_commands import CellXY


@dataclass(frozen=True)
class MapFile:
    """Map source: a map file of any kind that map_files.py can open."""

    file: str  # path as named in the scenario, relative to the folder of the scenario
    path: Path = field(compare=False)  # path of the file to open
    swamp: str = "passable"
    movement: Movement = DEFAULT_MOVEMENT
    threshold: int = int(THRESHOLD_PARAM.default)  # lowest shade of a free pixel, for pictures


@dataclass(frozen=True)
class MapRecipe:
    """Map source: a generator with its parameters."""

    kind: str  # name of the generator
    values: Mapping[str, Value]  # parameters of the generator
    movement: Movement = DEFAULT_MOVEMENT


MAX_PATH = 1000  # maximum number of characters of a path in a scenario file
DEFAULT_ROWS_NAME = "rows"
"""Default name of a map given as rows."""


@dataclass(frozen=True)
class MapRows:
    """Map source: rows of terrain letters in the scenario itself."""

    rows: tuple[str, ...]
    movement: Movement = DEFAULT_MOVEMENT
    name: str = DEFAULT_ROWS_NAME  # name of the map from which the rows were made, such as its file name


MapSource = MapFile | MapRecipe | MapRows


def map_rows_of_grid(grid: Grid, name: str = DEFAULT_ROWS_NAME) -> MapRows:
    """Return a grid as a map source of rows, which has the given name if that is a valid name."""
    is_name = 0 < len(name) <= MAX_PATH and name.isprintable()
    return MapRows(tuple(grid.text_rows()), grid.movement, name if is_name else DEFAULT_ROWS_NAME)


@dataclass(frozen=True)
class MapFolders:
    """Folders from which a scenario may open maps."""

    base_folder: Path | None  # folder to which relative paths refer; None: the working directory
    permitted_folders: tuple[Path, ...]  # folders from which maps may be opened, including their subfolders

    def find_map(self, name: str) -> Path | None:
        """Return the path of a map named in a scenario, or None if it must not be opened (see file_access.py)."""
        found = Path(os.path.realpath(self.base_folder / name if self.base_folder else name))
        if any(found.is_relative_to(folder) for folder in self.permitted_folders):
            return found
        # Return the unresolved path, even if it is a link, because a saved scenario must name the same path.
        return None if self.map_refusal_reason(name) else self._path_for_name(name)

    def map_refusal_reason(self, name: str) -> str | None:
        """Return the reason why a map named in a scenario must not be opened (see file_access.py); None if it may."""
        return file_refusal_reason(self._path_for_name(name), self.permitted_folders)

    def _path_for_name(self, name: str) -> Path:
        """Return the path for a name in a scenario, without resolving links."""
        return Path(os.path.normpath(self.base_folder / name if self.base_folder else name))


def open_map_folders(folder: str | os.PathLike[str] | None, allowed: Iterable[str | os.PathLike[str]]) -> MapFolders:
    """Return the folders from which a file in `folder` may open maps: the parent of `folder` and the `allowed` ones."""
    home = Path(os.path.realpath(folder)) if folder is not None else None
    tree = (home.parent,) if home else ()
    return MapFolders(home, tree + tuple(Path(os.path.realpath(root)) for root in allowed))


@dataclass
class OpenedMap:
    """Opened map of a scenario, with the start, goal and switches that a generator adds to its map."""

    source: MapSource  # source of the map; a recipe has all parameters, because defaults may change in later versions
    grid: Grid
    start: CellXY | None = None
    goal: CellXY | None = None
    switches: Mapping[str, tuple[CellXY, ...]] = field(default_factory=dict)


_SOURCE_KEYS = ("file", "generate", "rows", "name", "swamp", "threshold", *MOVEMENT_KEYS)
_SOURCE_FORM = "a map: {file: name}, {generate: {kind: rooms}} or {rows: [...]}"


def read_map_source(entry: DocumentField, folders: MapFolders, is_saved: bool) -> MapSource | None:
    """Return the map source that a mapping describes; None after reporting its problems.

    Args:
        entry: the mapping.
        folders: folders from which the map may come.
        is_saved: whether the mapping is part of a session or a journal, in which settings without meaning for this kind
            of map are dropped silently; otherwise they are problems.
    """
    fields = entry.read_known_keys(_SOURCE_KEYS, _SOURCE_FORM)
    given_keys = [key for key in ("file", "generate", "rows") if key in fields]
    movement = read_movement(fields)
    swamp = fields["swamp"].read_value(SWAMP_PARAM) if "swamp" in fields else SWAMP_PARAM.default
    threshold = fields["threshold"].read_value(THRESHOLD_PARAM) if "threshold" in fields else THRESHOLD_PARAM.default
    if isinstance(entry.value, dict) and len(given_keys) != 1:
        entry.report_problem(f"expected {_SOURCE_FORM}, got {' and '.join(given_keys) or 'none of them'}")
    if len(given_keys) != 1 or movement is None or swamp is None or threshold is None:
        return None
    for key in ("swamp", "threshold"):
        if key in fields and given_keys != ["file"]:
            fields[key].report_problem("is allowed only with a map file")
    name: str | None = DEFAULT_ROWS_NAME
    if "name" in fields and given_keys != ["rows"]:
        fields["name"].report_problem("is allowed only with rows")
    elif "name" in fields:
        name = fields["name"].read_text(MAX_PATH)
    if name is None:
        return None
    part = fields[given_keys[0]]
    if given_keys[0] == "file":
        source = _read_map_file(part, folders, str(swamp), movement, int(threshold))
        return source and (_without_unused_settings(source) if is_saved else _without_unused_settings(source, fields))
    return _read_map_recipe(part, movement) if given_keys[0] == "generate" else _read_map_rows(part, movement, name)


def _read_map_file(
    part: DocumentField, folders: MapFolders, swamp: str, movement: Movement, threshold: int
) -> MapFile | None:
    name = part.read_text(MAX_PATH)
    if name is None:
        return None
    path = folders.find_map(name)
    if path is None:
        inside = " or ".join(str(folder) for folder in folders.permitted_folders) or "a folder that is open to it"
        why = folders.map_refusal_reason(name)
        refusal = "which is outside" if why in (OUTSIDE_REASON, None) else f"which is refused: {why}"
        part.report_problem(f"expected a map inside {inside}, got {value_as_in_files(name)}, {refusal}")
        return None
    return MapFile(name, path, swamp, movement, threshold)


def _without_unused_settings(source: MapFile, fields: Mapping[str, DocumentField] | None = None) -> MapFile:
    """Return a map source with default values for the settings that have no meaning for its kind of map.

    If `fields` is given, report a problem for each such setting in `fields`.
    """
    idle = {setting: maps for setting in MAP_SETTINGS if (maps := describe_maps_with_setting(setting, source.path))}
    for setting, maps in idle.items():
        if fields and setting.name in fields:
            fields[setting.name].report_problem(f"is allowed only with {maps}, got {value_as_in_files(source.file)}")
    usual: dict[str, Any] = {setting.name: setting.default for setting in idle}
    return replace(source, **usual)


def _read_map_recipe(part: DocumentField, movement: Movement) -> MapRecipe | None:
    fields = part.read_mapping("a recipe such as {kind: rooms, width: 64, height: 64, seed: 7}")
    kind = require_field(fields, "kind", part, "the kind of map") if fields else None
    if kind is None:
        return None
    values = {key: field.value for key, field in fields.items() if key != "kind"}
    return MapRecipe(str(kind.value), values, movement)


def _read_map_rows(part: DocumentField, movement: Movement, name: str) -> MapRows | None:
    """Return rows given as a list of strings, or as one text of several lines; None after reporting a problem."""
    if isinstance(part.value, str):
        return MapRows(tuple(part.value.split()), movement, name)
    rows = part.items("rows of terrain letters")
    wrong = [row for row in rows if not isinstance(row.value, str)]
    for row in wrong:
        row.report_expected_value("a row of terrain letters")
    return None if wrong or not isinstance(part.value, list) else MapRows(tuple(part.value), movement, name)


def open_map_source(source: MapSource) -> OpenedMap:
    """Read or generate the map of a source; raise a ConfigError if that fails."""
    match source:
        case MapFile():
            return OpenedMap(source, open_map(source.path, source.swamp, source.movement, source.threshold))
        case MapRows():
            return OpenedMap(source, Grid.from_text_rows(list(source.rows), source.name, source.movement))
        case MapRecipe():
            generated = generate_map(source.kind, source.values, "map.generate", source.movement)
            values = {name: value for name, value in generated.recipe.items() if name != "kind"}
            switches = {name: tuple(cells) for name, cells in generated.switches.items()}
            return OpenedMap(replace(source, values=values), generated.grid, generated.start, generated.goal, switches)


def report_map_problems(entry: DocumentField, source: MapSource, texts: list[str]) -> None:
    """Report the problems that occurred while opening a map, at the part of the scenario to which they belong."""
    match source:
        case MapRecipe():
            path = (*entry.path, "generate")
            entry.problems.add_messages_by_key(texts, path, entry.value["generate"])
        case MapFile() | MapRows():
            key = "file" if isinstance(source, MapFile) else "rows"
            for text in texts:
                entry.problems.add((*entry.path, key), text.removeprefix("rows: "))


def map_source_data(source: MapSource) -> dict[str, Any]:
    """Return a map source as plain data for a scenario."""
    data: dict[str, Any]
    match source:
        case MapFile():
            data = InlineMap(file=source.file)
            if source.swamp != SWAMP_PARAM.default:
                data["swamp"] = source.swamp
            if source.threshold != THRESHOLD_PARAM.default:
                data["threshold"] = source.threshold
        case MapRecipe():
            data = InlineMap(generate=InlineMap(kind=source.kind, **source.values))
        case MapRows():
            data = {"rows": "\n".join([*source.rows, ""])}
            if source.name != DEFAULT_ROWS_NAME:
                data["name"] = source.name
    data.update(movement_data(source.movement))  # `|` would return a plain dict, which is not written on one line
    return data
