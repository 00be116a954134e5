"""Read the problems of an experiment: rows of .scen files, random pairs of cells on maps, and generated maps.

Random choices depend only on a seed and on the name of the file, so the problems of a file stay the same if other
parts of the experiment change.
"""

import itertools
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import numpy as np

from files.document_fields import DocumentField, require_field
from files.file_access import file_refusal_reason
from files.map_files import describe_maps_with_setting, open_map
from files.movement import MOVEMENT_KEYS, read_movement
from files.movingai import (
    SWAMP_PARAM,
    ScenRow,
    find_map_of_scen,
    read_scen,
    row_problem_on_grid,
    select_row_indices,
)
from sim.agent_placing import cheapest_path_cost
from sim.grid import Grid
from sim.map_generators import component_labels, generate_map
from sim.movement import DEFAULT_MOVEMENT, RULE_PARAM, Movement
from sim.params import ConfigError, Param, escape_unprintable, value_as_in_files
from sim.world_commands import CellXY

MAX_CASES = 1_000_000
COUNT_PARAM = Param("count", int, 100, "number of problems", 1, MAX_CASES)
SEED_PARAM = Param("seed", int, 0, "seed of all random choices", 0, (1 << 32) - 1)
LENGTH_PARAM = Param("length", float, 0.0, "cost of the cheapest path", 0.0)

SHRINK_PARAM = Param("shrink", int, 1, "factor by which the map is scaled down", 1, 16)
SEALED_PARAM = Param("sealed", bool, False, "whether the goal is walled in, so that there is no path")

PROBLEM_KEYS = (
    *("scen", "map", "generate", "rows", "optimal", "sample", "each", "random"),
    *("seed", *MOVEMENT_KEYS, "swamp", "shrink", "sealed"),
)
PROBLEMS_EXAMPLE = (
    "problems such as {scen: [maps/*.scen]}, {map: [maps/*.map], random: 40} or {generate: {kind: rooms}}"
)

_SOURCES_OF_KEY = {  # key -> sources of problems with which it may be combined; other keys may be used with all sources
    "rows": ("scen",),
    "optimal": ("scen", "map", "generate"),
    "shrink": ("map",),
    "sample": ("scen",),
    "each": ("scen",),
    "random": ("map", "generate"),
    "swamp": ("scen", "map"),
}

_RING_DISTANCE = 2  # distance in cells between a sealed goal and its walls
# Maximum number of random cell pairs drawn for each requested pair, if path lengths are limited.
_MAX_DRAWS_PER_PAIR = 1000

_T = TypeVar("_T")


@dataclass(frozen=True)
class MapData:
    """Map of an experiment, with its name and a digest of everything in it that a run can depend on."""

    name: str  # name of the map in the results
    grid: Grid = field(compare=False, repr=False)
    digest: str  # digest of the map in hexadecimal digits

    @property
    def free_cell_count(self) -> int:
        """Return the number of free cells of the map."""
        return self.grid.free_cell_count


@dataclass(frozen=True)
class CompressedMap:
    """Compressed map in the form that is sent to a worker, which may not have access to the map file."""

    name: str
    digest: str  # digest of the map in hexadecimal digits
    width: int
    height: int
    movement: Movement
    compressed_letters: bytes  # terrain letters of all rows, compressed by zlib

    def decompress(self) -> Grid:
        letters = np.frombuffer(zlib.decompress(self.compressed_letters), np.uint8)
        return Grid(letters.reshape(self.height, self.width).copy(), self.movement, self.name)


@dataclass(frozen=True)
class ProblemInstance:
    """One problem of an experiment: a map, a start and a goal."""

    map_data: MapData
    start: CellXY
    goal: CellXY
    listed_optimal: float | None  # cost of the cheapest path according to the .scen file; None without such a file
    problem_number: int  # index of the problem in its .scen file, or in the random sequence of problems on the map


def create_map_data(name: str, grid: Grid) -> MapData:
    """Return a map with its digest.

    The digest covers the size, the cost of a diagonal move, the movement rule and the letters of the map. The default
    movement rule is left out, so that results remain valid that were stored before there were other rules.
    """
    rule = "" if grid.movement.rule == RULE_PARAM.default else f"{grid.movement.rule} "
    digest = blake2b(f"{grid.width} {grid.height} {grid.diagonal_cost.hex()} {rule}".encode(), digest_size=12)
    digest.update(grid.original_terrain.tobytes())
    return MapData(name, grid, digest.hexdigest())


def compress_map(board: MapData) -> CompressedMap:
    """Return a map in compressed form, to be sent to a worker."""
    grid = board.grid
    letters = zlib.compress(grid.original_terrain.tobytes(), 6)
    return CompressedMap(board.name, board.digest, grid.width, grid.height, grid.movement, letters)


# --- random problems and changed maps -------------------------------------------------------------


def problem_random_generator(seed: int, name: str) -> Random:
    """Return the random number generator with which the problems of one file are drawn.

    The experiments in docs/experiments.md use seed 0, for which only the name of the file counts.
    """
    return Random(f"{seed} {name}" if seed else name)


def ordered_sample(items: Sequence[_T], count: int, chance: Random) -> list[_T]:
    """Return a random sample of at most `count` items in their original order."""
    indices = chance.sample(range(len(items)), min(count, len(items)))
    return [items[index] for index in sorted(indices)]


def random_start_goal_pairs(
    grid: Grid, count: int, chance: Random, lengths: tuple[float, float] = (0.0, float("inf"))
) -> list[tuple[int, int]]:
    """Return random problems as pairs (start cell, goal cell), drawn uniformly from all connected pairs of cells.

    Args:
        grid: The map.
        count: The number of pairs. Fewer are returned if pairs of the given lengths are too rare, none if no two
            cells of the map are connected.
        chance: The source of random numbers.
        lengths: The smallest and the largest cost of the cheapest path.
    """
    free = grid.free_mask.nonzero()[0].tolist()
    label = component_labels(grid)
    if len(free) == len(set(label[free].tolist())):
        return []
    pairs: list[tuple[int, int]] = []
    is_any_length = lengths == (0.0, float("inf"))
    tries = 0
    while len(pairs) < count and (is_any_length or tries < _MAX_DRAWS_PER_PAIR * count):
        start, goal = chance.sample(free, 2)
        tries += 1
        if label[start] == label[goal] and (
            is_any_length or lengths[0] <= cheapest_path_cost(grid, start, goal) <= lengths[1]
        ):
            pairs.append((start, goal))
    return pairs


def shrink_map(grid: Grid, by: int) -> Grid:
    """Return a map scaled down by the factor `by`.

    A cell of the result stands for a square of `by` x `by` cells; it is free if more than half of them are free. Rows
    and columns at the lower and right edge that do not fill a square are cut off.
    """
    height, width = grid.height // by, grid.width // by
    free = grid.free_mask_2d[: height * by, : width * by]
    share = free.reshape(height, by, width, by).mean(axis=(1, 3))
    letters = np.where(share > 0.5, ord("."), ord("@")).astype(np.uint8)
    return Grid(letters, grid.movement, f"{grid.name} / {by}")


def problem_with_sealed_goal(case: ProblemInstance) -> ProblemInstance | None:
    """Return a problem with a ring of walls two cells away from its goal, or None if the start is inside the ring."""
    (x, y), grid = case.goal, case.map_data.grid
    if max(abs(case.start[0] - x), abs(case.start[1] - y)) <= _RING_DISTANCE:
        return None
    letters = grid.original_terrain.copy()
    for column, row in itertools.product(
        range(x - _RING_DISTANCE, x + _RING_DISTANCE + 1), range(y - _RING_DISTANCE, y + _RING_DISTANCE + 1)
    ):
        if grid.contains_point(column, row) and max(abs(column - x), abs(row - y)) == _RING_DISTANCE:
            letters[row, column] = ord("@")
    walled = Grid(letters, grid.movement, grid.name)
    return replace(case, map_data=create_map_data(f"{case.map_data.name}, {x},{y} sealed", walled), listed_optimal=None)


# --- search for files -----------------------------------------------------------------------------


@dataclass
class ProblemFiles:
    """Folders in which the files named in a specification are searched, and a cache of the maps opened so far."""

    search_folders: Sequence[Path]
    opened_maps: dict[tuple[object, ...], MapData] = field(default_factory=dict)

    def find_matching_files(self, pattern: str) -> list[tuple[str, Path]]:
        """Return (displayed name, path) of all files that match a pattern in the first folder with such files."""
        for folder in self.search_folders:
            found = sorted({path for path in _files_matching_pattern(folder, pattern) if self._may_open_file(path)})
            if found:
                return [(_file_name_in_results(path, folder), path) for path in found]
        return []

    def refusal_messages(self, pattern: str) -> list[str]:
        """Return a message for each file that matches a pattern but must not be opened for security reasons."""
        paths = [
            path
            for folder in self.search_folders
            for path in sorted(_files_matching_pattern(folder, pattern))
            if path.is_file()
        ]
        return [f"{path}: {why}" for path in paths if (why := self._refusal_reason(path)) is not None]

    def _may_open_file(self, path: Path) -> bool:
        return path.is_file() and self._refusal_reason(path) is None

    def _refusal_reason(self, path: Path) -> str | None:
        """Return why a file must not be opened, or None if it may be.

        Files in each of the folders and in the parent of each folder may be opened.
        """
        return file_refusal_reason(
            os.path.normpath(path), [*self.search_folders, *(folder.resolve().parent for folder in self.search_folders)]
        )

    def cached_map(self, key: tuple[object, ...], name: str, make: Callable[[], Grid]) -> MapData:
        """Return the map cached under a key; create the map by calling `make` if the key is not cached yet."""
        if key not in self.opened_maps:
            self.opened_maps[key] = create_map_data(name, make())
        return self.opened_maps[key]


def _files_matching_pattern(folder: Path, pattern: str) -> list[Path]:
    try:
        return list(folder.glob(pattern))
    except (ValueError, NotImplementedError, OSError):
        return []


def _file_name_in_results(path: Path, folder: Path) -> str:
    """Return the name of a file in results: its path relative to a folder, without unprintable characters."""
    # try the unresolved path as well, because a symbolic link in the folder may lead out of the folder
    for file, home in ((path.resolve(), folder.resolve()), (path, folder)):
        if file.is_relative_to(home):
            return escape_unprintable(file.relative_to(home).as_posix())
    return escape_unprintable(f"{path.parent.name}/{path.name}")


# --- reading --------------------------------------------------------------------------------------


def read_problems(entry: DocumentField, problem_files: ProblemFiles, notes: list[str]) -> list[ProblemInstance]:
    """Return the problems that the mapping `problems` of a specification describes.

    Args:
        entry: The mapping; mistakes are collected in `entry.problems`.
        problem_files: The folders to search for files.
        notes: Receives a message for each file with problems that cannot be run.

    Returns:
        The problems, in an order that depends only on the mapping and the files.
    """
    fields = entry.read_known_keys(PROBLEM_KEYS, PROBLEMS_EXAMPLE)
    sources = [key for key in ("scen", "map", "generate") if key in fields]
    if isinstance(entry.value, dict) and len(sources) != 1:
        entry.report_problem(f"expected {PROBLEMS_EXAMPLE}, got {' and '.join(sources) or 'none of them'}")
    if len(sources) != 1:
        return []
    for key, allowed in _SOURCES_OF_KEY.items():
        if key in fields and sources[0] not in allowed:
            fields[key].report_problem(f"is allowed only with {' or '.join(allowed)}")
    reader = _ProblemsReader(fields, problem_files, notes)
    cases = {
        "scen": reader.read_scen_problems,
        "map": reader.read_map_problems,
        "generate": reader.read_generated_problems,
    }[sources[0]]()
    if reader.is_sealed:
        cases = [walled for case in cases if (walled := problem_with_sealed_goal(case)) is not None]
    if not cases and not entry.problems.found:
        entry.report_problem("expected at least one problem, got none")
    return cases


class _ProblemsReader:
    """Reader of the mapping `problems` of a specification."""

    def __init__(self, fields: dict[str, DocumentField], problem_files: ProblemFiles, notes: list[str]) -> None:
        self.fields, self.problem_files, self.omission_messages = fields, problem_files, notes
        self.seed = self._read_integer("seed", SEED_PARAM)
        self.movement = read_movement(fields) or DEFAULT_MOVEMENT
        self.swamp = str(self._read_value("swamp", SWAMP_PARAM))
        self.shrink = self._read_integer("shrink", SHRINK_PARAM)
        self.is_sealed = bool(self._read_value("sealed", SEALED_PARAM))

    def _read_value(self, key: str, param: Param) -> Any:
        """Return the value of a key of the mapping; the default of `param` if the key is missing or invalid."""
        value = self.fields[key].read_value(param) if key in self.fields else None
        return param.default if value is None else value

    def _read_integer(self, key: str, param: Param) -> int:
        return int(self._read_value(key, param))

    def _read_count(self, key: str) -> int | None:
        return self.fields[key].read_integer(COUNT_PARAM) if key in self.fields else None

    # --- rows of .scen files ---

    def read_scen_problems(self) -> list[ProblemInstance]:
        low, high = self._path_length_limits()
        files = [
            self._problems_of_scen(part, name, path, low, high) for part, name, path in self._matching_files("scen")
        ]
        if (each := self._read_count("each")) is not None:
            files = [
                (name, ordered_sample(cases, each, problem_random_generator(self.seed, name))) for name, cases in files
            ]
        cases = [case for _, found in files for case in found]
        if (count := self._read_count("sample")) is not None:
            names = " ".join(name for name, _ in files)
            cases = ordered_sample(cases, count, problem_random_generator(self.seed, names))
        return cases

    def _path_length_limits(self) -> tuple[float, float]:
        entry = self.fields.get("optimal")
        if entry is None:
            return 0.0, float("inf")
        pair = [part.read_value(LENGTH_PARAM) for part in entry.items("two lengths such as [60, 400]")]
        if len(pair) != 2 or None in pair:
            if isinstance(entry.value, list) and len(pair) != 2:
                entry.report_expected_value("two lengths such as [60, 400]")
            return 0.0, float("inf")
        low, high = float(pair[0] or 0), float(pair[1] or 0)
        if low > high:
            entry.report_expected_value("the shorter length first")
        return low, high

    def _problems_of_scen(
        self, part: DocumentField, name: str, path: Path, low: float, high: float
    ) -> tuple[str, list[ProblemInstance]]:
        """Return the name of the map and the problems of one .scen file.

        A row becomes a problem if it was requested, the cost of its cheapest path is from `low` to `high`, and it can
        be run.
        """
        map_name = name.removesuffix(".scen")
        try:
            scen = read_scen(path)
            chosen = select_row_indices(self._read_row_selection(), len(scen.rows), name, "problems.rows")
            rows = [scen.rows[number] for number in chosen if low <= scen.rows[number].optimal <= high]
            problems_or_reasons = [self._problem_of_row(row, path) for row in rows]
        except ConfigError as error:
            for text in error.problems:
                part.report_problem(text)
            return map_name, []
        self._report_unfit_rows(
            name, [(row, why) for row, why in zip(rows, problems_or_reasons, strict=True) if isinstance(why, str)]
        )
        return map_name, [case for case in problems_or_reasons if isinstance(case, ProblemInstance)]

    def _report_unfit_rows(self, name: str, unfit: list[tuple[ScenRow, str]]) -> None:
        if unfit:
            row, reason = unfit[0]
            more = f" and {len(unfit) - 1:,} more of its rows are" if len(unfit) > 1 else " is"
            self.omission_messages.append(f"{name}: row {row.row_index}: {reason}; it{more} left out")

    def _read_row_selection(self) -> str | None:
        entry = self.fields.get("rows")
        if entry is None:
            return None
        return str(entry.value) if isinstance(entry.value, (str, int)) else entry.read_text(1000)

    def _problem_of_row(self, row: ScenRow, path: Path) -> ProblemInstance | str:
        """Return the problem of a row of a .scen file, or a message if the problem cannot be run."""
        if row.problem is not None:
            return row.problem
        board = self._open_map(find_map_of_scen(path, row.map_name, self.problem_files.search_folders))
        return row_problem_on_grid(row, board.grid) or ProblemInstance(
            board, row.start, row.goal, row.optimal, row.row_index
        )

    def _open_map(self, path: Path) -> MapData:
        key = (path.resolve(), self.swamp, self.movement)
        homes = (
            f
            for f in self.problem_files.search_folders
            if path.resolve().is_relative_to(f.resolve()) or path.is_relative_to(f)
        )
        home = next(homes, None)
        name = escape_unprintable(path.name) if home is None else _file_name_in_results(path, home)
        if self.shrink == 1:
            return self.problem_files.cached_map(key, name, lambda: open_map(path, self.swamp, self.movement))
        small_name = f"{name} / {self.shrink}"
        return self.problem_files.cached_map(
            (*key, self.shrink), small_name, lambda: shrink_map(open_map(path, self.swamp, self.movement), self.shrink)
        )

    # --- maps ---

    def _matching_files(self, key: str) -> Iterator[tuple[DocumentField, str, Path]]:
        """Yield (field with the pattern, name, path) of every file that matches one of the patterns, each file once."""
        entry = self.fields[key]
        parts = [entry] if isinstance(entry.value, str) else entry.items("a pattern such as maps/*.scen, or a list")
        seen: set[Path] = set()
        for part in parts:
            pattern = part.read_text(1000)
            if pattern is None:
                continue
            files = self.problem_files.find_matching_files(pattern)
            if not files:
                folders = " or ".join(str(folder) for folder in self.problem_files.search_folders)
                refused = self.problem_files.refusal_messages(pattern)
                found = (
                    f"only {refused[0]}" if refused else f"none that matches {value_as_in_files(pattern)} in {folders}"
                )
                part.report_problem(f"expected files, got {found}; add a folder with --maps")
            for name, path in files:
                if path not in seen:
                    seen.add(path)
                    yield part, name, path

    def read_map_problems(self) -> list[ProblemInstance]:
        count = (
            self._read_count("random")
            if require_field(self.fields, "random", self._mapping_field("map"), "the number of random pairs")
            else None
        )
        cases: list[ProblemInstance] = []
        for part, name, path in self._matching_files("map"):
            if "swamp" in self.fields and (maps := describe_maps_with_setting(SWAMP_PARAM, path)):
                self.fields["swamp"].report_problem(f"is allowed only with {maps}, got {value_as_in_files(name)}")
            try:
                board = self._open_map(path)
            except ConfigError as error:
                for text in error.problems:
                    part.report_problem(text)
                continue
            cases += self._draw_problems(board, name, count or 0)
        return cases

    def _mapping_field(self, key: str) -> DocumentField:
        entry = self.fields[key]
        path = entry.path[:-1]
        return DocumentField(entry.problems, path, {name: field.value for name, field in self.fields.items()})

    def _draw_problems(self, board: MapData, name: str, count: int) -> list[ProblemInstance]:
        """Return at most `count` random problems on a map, with the requested path lengths."""
        pairs = random_start_goal_pairs(
            board.grid, count, problem_random_generator(self.seed, name), self._path_length_limits()
        )
        if count and not pairs:
            self.omission_messages.append(f"{name}: no two cells of the map are connected; the map is left out")
        xy = board.grid.xy
        return [ProblemInstance(board, xy(start), xy(goal), None, number) for number, (start, goal) in enumerate(pairs)]

    # --- generated maps ---

    def read_generated_problems(self) -> list[ProblemInstance]:
        """Return the problems on all generated maps: the start and goal set by the generator, or random pairs."""
        entry = self.fields["generate"]
        parts = entry.read_mapping("a recipe such as {kind: rooms, width: 64, seed: [1, 2]}")
        if "kind" not in parts:
            if parts:
                require_field(parts, "kind", entry, "the kind of map")
            return []
        count = self._read_count("random")
        return [
            case
            for values in _map_recipe_combinations(parts)
            for case in self._problems_on_generated_maps(entry, values, count)
        ]

    def _problems_on_generated_maps(
        self, entry: DocumentField, values: dict[str, Any], count: int | None
    ) -> list[ProblemInstance]:
        recipe = {key: value for key, value in values.items() if key != "kind"}
        try:
            generated = generate_map(values["kind"], recipe, "problems.generate", self.movement)
        except ConfigError as error:
            entry.problems.add_messages_by_key(error.problems, entry.path, entry.value)
            return []
        name = " ".join([str(values["kind"]), *(f"{key}={value}" for key, value in recipe.items())])
        key = (name, self.movement)
        board = self.problem_files.cached_map(key, name, lambda: generated.grid)
        if count is not None:
            return self._draw_problems(board, name, count)
        return [ProblemInstance(board, generated.start, generated.goal, None, 0)]


def _map_recipe_combinations(parts: dict[str, DocumentField]) -> Iterator[dict[str, Any]]:
    """Yield a recipe of a generated map for each combination of the values that a specification lists."""
    values = [part.value if isinstance(part.value, list) else [part.value] for part in parts.values()]
    for chosen in itertools.product(*values):
        yield dict(zip(parts, chosen, strict=True))
