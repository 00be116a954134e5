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

from sim.commands import Pair
from sim.files.fields import Field, require
from sim.files.map import SWAMP, ScenRow, find_map, read_scen, row_numbers, row_problem
from sim.files.maps import maps_for, open_map
from sim.files.movement import MOVEMENT_KEYS, read_movement
from sim.files.reach import refusal
from sim.generate import generate, regions
from sim.grid import Grid
from sim.movement import RULE, USUAL, Movement
from sim.params import ConfigError, Param, printable, shown
from sim.placing import cheapest

MAX_CASES = 1_000_000
COUNT = Param("count", int, 100, "number of problems", 1, MAX_CASES)
SEED = Param("seed", int, 0, "seed of all random choices", 0, (1 << 32) - 1)
LENGTH = Param("length", float, 0.0, "cost of the cheapest path", 0.0)

SHRINK = Param("shrink", int, 1, "factor by which the map is scaled down", 1, 16)
SEALED = Param("sealed", bool, False, "whether the goal is walled in, so that there is no path")

KEYS = (
    *("scen", "map", "generate", "rows", "optimal", "sample", "each", "random"),
    *("seed", *MOVEMENT_KEYS, "swamp", "shrink", "sealed"),
)
WHAT_PROBLEMS_ARE = (
    "problems such as {scen: [maps/*.scen]}, {map: [maps/*.map], random: 40} or {generate: {kind: rooms}}"
)

_ONLY_WITH = {  # key -> sources of problems with which it may be combined; other keys may be used with all sources
    "rows": ("scen",),
    "optimal": ("scen", "map", "generate"),
    "shrink": ("map",),
    "sample": ("scen",),
    "each": ("scen",),
    "random": ("map", "generate"),
    "swamp": ("scen", "map"),
}

_RING_DISTANCE = 2  # distance in cells between a sealed goal and its walls
_TRIES = 1000  # maximum number of random cell pairs drawn for each requested pair, if path lengths are limited

_T = TypeVar("_T")


@dataclass(frozen=True)
class Board:
    """Map of an experiment, with its name and a digest of everything in it that a run can depend on."""

    name: str  # name of the map in the results
    grid: Grid = field(compare=False, repr=False)
    key: str  # digest of the map in hexadecimal digits

    @property
    def states(self) -> int:
        """Return the number of free cells of the map."""
        return self.grid.free_count


@dataclass(frozen=True)
class Packed:
    """Compressed map in the form that is sent to a worker, which may not have access to the map file."""

    name: str
    key: str  # digest of the map in hexadecimal digits
    width: int
    height: int
    movement: Movement
    letters: bytes  # terrain letters of all rows, compressed by zlib

    def unpack(self) -> Grid:
        letters = np.frombuffer(zlib.decompress(self.letters), np.uint8)
        return Grid(letters.reshape(self.height, self.width).copy(), self.movement, self.name)


@dataclass(frozen=True)
class Case:
    """One problem of an experiment: a map, a start and a goal."""

    board: Board
    start: Pair
    goal: Pair
    listed: float | None  # cost of the cheapest path according to the .scen file; None without such a file
    number: int  # index of the problem in its .scen file, or in the random sequence of problems on the map


def board_of(name: str, grid: Grid) -> Board:
    """Return a map with its digest.

    The digest covers the size, the cost of a diagonal move, the movement rule and the letters of the map. The default
    movement rule is left out, so that results remain valid that were stored before there were other rules.
    """
    rule = "" if grid.movement.rule == RULE.default else f"{grid.movement.rule} "
    digest = blake2b(f"{grid.width} {grid.height} {grid.diagonal.hex()} {rule}".encode(), digest_size=12)
    digest.update(grid.original.tobytes())
    return Board(name, grid, digest.hexdigest())


def packed(board: Board) -> Packed:
    """Return a map in compressed form, to be sent to a worker."""
    grid = board.grid
    letters = zlib.compress(grid.original.tobytes(), 6)
    return Packed(board.name, board.key, grid.width, grid.height, grid.movement, letters)


# --- random problems and changed maps -------------------------------------------------------------


def chance_of(seed: int, name: str) -> Random:
    """Return the random number generator with which the problems of one file are drawn.

    The experiments in docs/experiments.md use seed 0, for which only the name of the file counts.
    """
    return Random(f"{seed} {name}" if seed else name)


def sample(items: Sequence[_T], count: int, chance: Random) -> list[_T]:
    """Return a random sample of at most `count` items in their original order."""
    indices = chance.sample(range(len(items)), min(count, len(items)))
    return [items[index] for index in sorted(indices)]


def random_pairs(
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
    free = grid.free.nonzero()[0].tolist()
    label = regions(grid)
    if len(free) == len(set(label[free].tolist())):
        return []
    found: list[tuple[int, int]] = []
    is_any_length = lengths == (0.0, float("inf"))
    tries = 0
    while len(found) < count and (is_any_length or tries < _TRIES * count):
        start, goal = chance.sample(free, 2)
        tries += 1
        if label[start] == label[goal] and (is_any_length or lengths[0] <= cheapest(grid, start, goal) <= lengths[1]):
            found.append((start, goal))
    return found


def shrunk(grid: Grid, by: int) -> Grid:
    """Return a map scaled down by the factor `by`.

    A cell of the result stands for a square of `by` x `by` cells; it is free if more than half of them are free. Rows
    and columns at the lower and right edge that do not fill a square are cut off.
    """
    height, width = grid.height // by, grid.width // by
    free = grid.free_map[: height * by, : width * by]
    share = free.reshape(height, by, width, by).mean(axis=(1, 3))
    letters = np.where(share > 0.5, ord("."), ord("@")).astype(np.uint8)
    return Grid(letters, grid.movement, f"{grid.name} / {by}")


def sealed(case: Case) -> Case | None:
    """Return a problem with a ring of walls two cells away from its goal, or None if the start is inside the ring."""
    (x, y), grid = case.goal, case.board.grid
    if max(abs(case.start[0] - x), abs(case.start[1] - y)) <= _RING_DISTANCE:
        return None
    letters = grid.original.copy()
    for column, row in itertools.product(
        range(x - _RING_DISTANCE, x + _RING_DISTANCE + 1), range(y - _RING_DISTANCE, y + _RING_DISTANCE + 1)
    ):
        if grid.contains(column, row) and max(abs(column - x), abs(row - y)) == _RING_DISTANCE:
            letters[row, column] = ord("@")
    walled = Grid(letters, grid.movement, grid.name)
    return replace(case, board=board_of(f"{case.board.name}, {x},{y} sealed", walled), listed=None)


# --- search for files -----------------------------------------------------------------------------


@dataclass
class Places:
    """Folders in which the files named in a specification are searched, and a cache of the maps opened so far."""

    folders: Sequence[Path]
    boards: dict[tuple[object, ...], Board] = field(default_factory=dict)

    def find(self, pattern: str) -> list[tuple[str, Path]]:
        """Return (displayed name, path) of all files that match a pattern in the first folder with such files."""
        for folder in self.folders:
            found = sorted({path for path in _glob_files(folder, pattern) if self._is_open(path)})
            if found:
                return [(_name_below(path, folder), path) for path in found]
        return []

    def refusals(self, pattern: str) -> list[str]:
        """Return a message for each file that matches a pattern but must not be opened for security reasons."""
        paths = [path for folder in self.folders for path in sorted(_glob_files(folder, pattern)) if path.is_file()]
        return [f"{path}: {why}" for path in paths if (why := self._refusal_of(path)) is not None]

    def _is_open(self, path: Path) -> bool:
        return path.is_file() and self._refusal_of(path) is None

    def _refusal_of(self, path: Path) -> str | None:
        """Return why a file must not be opened, or None if it may be.

        Files in each of the folders and in the parent of each folder may be opened.
        """
        return refusal(os.path.normpath(path), [*self.folders, *(folder.resolve().parent for folder in self.folders)])

    def board(self, key: tuple[object, ...], name: str, make: Callable[[], Grid]) -> Board:
        """Return the map cached under a key; create the map by calling `make` if the key is not cached yet."""
        if key not in self.boards:
            self.boards[key] = board_of(name, make())
        return self.boards[key]


def _glob_files(folder: Path, pattern: str) -> list[Path]:
    try:
        return list(folder.glob(pattern))
    except (ValueError, NotImplementedError, OSError):
        return []


def _name_below(path: Path, folder: Path) -> str:
    """Return the name of a file in results: its path relative to a folder, without unprintable characters."""
    # try the unresolved path as well, because a symbolic link in the folder may lead out of the folder
    for file, home in ((path.resolve(), folder.resolve()), (path, folder)):
        if file.is_relative_to(home):
            return printable(file.relative_to(home).as_posix())
    return printable(f"{path.parent.name}/{path.name}")


# --- reading --------------------------------------------------------------------------------------


def read_problems(entry: Field, places: Places, notes: list[str]) -> list[Case]:
    """Return the problems that the mapping `problems` of a specification describes.

    Args:
        entry: The mapping; mistakes are collected in `entry.problems`.
        places: The folders to search for files.
        notes: Receives a message for each file with problems that cannot be run.

    Returns:
        The problems, in an order that depends only on the mapping and the files.
    """
    fields = entry.keys(KEYS, WHAT_PROBLEMS_ARE)
    sources = [key for key in ("scen", "map", "generate") if key in fields]
    if isinstance(entry.value, dict) and len(sources) != 1:
        entry.complain(f"expected {WHAT_PROBLEMS_ARE}, got {' and '.join(sources) or 'none of them'}")
    if len(sources) != 1:
        return []
    for key, allowed in _ONLY_WITH.items():
        if key in fields and sources[0] not in allowed:
            fields[key].complain(f"is allowed only with {' or '.join(allowed)}")
    reader = _Reader(fields, places, notes)
    cases = {"scen": reader.rows, "map": reader.pairs_on_maps, "generate": reader.generated}[sources[0]]()
    if reader.is_sealed:
        cases = [walled for case in cases if (walled := sealed(case)) is not None]
    if not cases and not entry.problems.found:
        entry.complain("expected at least one problem, got none")
    return cases


class _Reader:
    """Reader of the mapping `problems` of a specification."""

    def __init__(self, fields: dict[str, Field], places: Places, notes: list[str]) -> None:
        self.fields, self.places, self.notes = fields, places, notes
        self.seed = self._integer("seed", SEED)
        self.movement = read_movement(fields) or USUAL
        self.swamp = str(self._value("swamp", SWAMP))
        self.shrink = self._integer("shrink", SHRINK)
        self.is_sealed = bool(self._value("sealed", SEALED))

    def _value(self, key: str, param: Param) -> Any:
        """Return the value of a key of the mapping; the default of `param` if the key is missing or invalid."""
        value = self.fields[key].parse(param) if key in self.fields else None
        return param.default if value is None else value

    def _integer(self, key: str, param: Param) -> int:
        return int(self._value(key, param))

    def _count(self, key: str) -> int | None:
        return self.fields[key].integer(COUNT) if key in self.fields else None

    # --- rows of .scen files ---

    def rows(self) -> list[Case]:
        low, high = self._length_limits()
        files = [self._fitting(part, name, path, low, high) for part, name, path in self._matching_files("scen")]
        if (each := self._count("each")) is not None:
            files = [(name, sample(cases, each, chance_of(self.seed, name))) for name, cases in files]
        cases = [case for _, found in files for case in found]
        if (count := self._count("sample")) is not None:
            names = " ".join(name for name, _ in files)
            cases = sample(cases, count, chance_of(self.seed, names))
        return cases

    def _length_limits(self) -> tuple[float, float]:
        entry = self.fields.get("optimal")
        if entry is None:
            return 0.0, float("inf")
        pair = [part.parse(LENGTH) for part in entry.items("two lengths such as [60, 400]")]
        if len(pair) != 2 or None in pair:
            if isinstance(entry.value, list) and len(pair) != 2:
                entry.expect("two lengths such as [60, 400]")
            return 0.0, float("inf")
        low, high = float(pair[0] or 0), float(pair[1] or 0)
        if low > high:
            entry.expect("the shorter length first")
        return low, high

    def _fitting(self, part: Field, name: str, path: Path, low: float, high: float) -> tuple[str, list[Case]]:
        """Return the name of the map and the problems of one .scen file.

        A row becomes a problem if it was requested, the cost of its cheapest path is from `low` to `high`, and it can
        be run.
        """
        map_name = name.removesuffix(".scen")
        try:
            scen = read_scen(path)
            chosen = row_numbers(self._row_text(), len(scen.rows), name, "problems.rows")
            rows = [scen.rows[number] for number in chosen if low <= scen.rows[number].optimal <= high]
            found = [self._case_of_row(row, path) for row in rows]
        except ConfigError as error:
            for text in error.problems:
                part.complain(text)
            return map_name, []
        self._note_unfit(name, [(row, why) for row, why in zip(rows, found, strict=True) if isinstance(why, str)])
        return map_name, [case for case in found if isinstance(case, Case)]

    def _note_unfit(self, name: str, unfit: list[tuple[ScenRow, str]]) -> None:
        if unfit:
            row, reason = unfit[0]
            more = f" and {len(unfit) - 1:,} more of its rows are" if len(unfit) > 1 else " is"
            self.notes.append(f"{name}: row {row.number}: {reason}; it{more} left out")

    def _row_text(self) -> str | None:
        entry = self.fields.get("rows")
        if entry is None:
            return None
        return str(entry.value) if isinstance(entry.value, (str, int)) else entry.text(1000)

    def _case_of_row(self, row: ScenRow, path: Path) -> Case | str:
        """Return the problem of a row of a .scen file, or a message if the problem cannot be run."""
        if row.problem is not None:
            return row.problem
        board = self._board(find_map(path, row.map_name, self.places.folders))
        return row_problem(row, board.grid) or Case(board, row.start, row.goal, row.optimal, row.number)

    def _board(self, path: Path) -> Board:
        key = (path.resolve(), self.swamp, self.movement)
        homes = (f for f in self.places.folders if path.resolve().is_relative_to(f.resolve()) or path.is_relative_to(f))
        home = next(homes, None)
        name = printable(path.name) if home is None else _name_below(path, home)
        if self.shrink == 1:
            return self.places.board(key, name, lambda: open_map(path, self.swamp, self.movement))
        small = f"{name} / {self.shrink}"
        return self.places.board(
            (*key, self.shrink), small, lambda: shrunk(open_map(path, self.swamp, self.movement), self.shrink)
        )

    # --- maps ---

    def _matching_files(self, key: str) -> Iterator[tuple[Field, str, Path]]:
        """Yield (field with the pattern, name, path) of every file that matches one of the patterns, each file once."""
        entry = self.fields[key]
        parts = [entry] if isinstance(entry.value, str) else entry.items("a pattern such as maps/*.scen, or a list")
        seen: set[Path] = set()
        for part in parts:
            pattern = part.text(1000)
            if pattern is None:
                continue
            found = self.places.find(pattern)
            if not found:
                folders = " or ".join(str(folder) for folder in self.places.folders)
                refused = self.places.refusals(pattern)
                got = f"only {refused[0]}" if refused else f"none that matches {shown(pattern)} in {folders}"
                part.complain(f"expected files, got {got}; add a folder with --maps")
            for name, path in found:
                if path not in seen:
                    seen.add(path)
                    yield part, name, path

    def pairs_on_maps(self) -> list[Case]:
        count = (
            self._count("random")
            if require(self.fields, "random", self._owner_field("map"), "the number of random pairs")
            else None
        )
        cases: list[Case] = []
        for part, name, path in self._matching_files("map"):
            if "swamp" in self.fields and (maps := maps_for(SWAMP, path)):
                self.fields["swamp"].complain(f"is allowed only with {maps}, got {shown(name)}")
            try:
                board = self._board(path)
            except ConfigError as error:
                for text in error.problems:
                    part.complain(text)
                continue
            cases += self._pairs(board, name, count or 0)
        return cases

    def _owner_field(self, key: str) -> Field:
        entry = self.fields[key]
        path = entry.path[:-1]
        return Field(entry.problems, path, {name: field.value for name, field in self.fields.items()})

    def _pairs(self, board: Board, name: str, count: int) -> list[Case]:
        """Return at most `count` random problems on a map, with the requested path lengths."""
        pairs = random_pairs(board.grid, count, chance_of(self.seed, name), self._length_limits())
        if count and not pairs:
            self.notes.append(f"{name}: no two cells of the map are connected; the map is left out")
        xy = board.grid.xy
        return [Case(board, xy(start), xy(goal), None, number) for number, (start, goal) in enumerate(pairs)]

    # --- generated maps ---

    def generated(self) -> list[Case]:
        """Return the problems on all generated maps: the start and goal set by the generator, or random pairs."""
        entry = self.fields["generate"]
        parts = entry.any_keys("a recipe such as {kind: rooms, width: 64, seed: [1, 2]}")
        if "kind" not in parts:
            if parts:
                require(parts, "kind", entry, "the kind of map")
            return []
        count = self._count("random")
        return [
            case for values in _value_combinations(parts) for case in self._cases_on_generated(entry, values, count)
        ]

    def _cases_on_generated(self, entry: Field, values: dict[str, Any], count: int | None) -> list[Case]:
        recipe = {key: value for key, value in values.items() if key != "kind"}
        try:
            made = generate(values["kind"], recipe, "problems.generate", self.movement)
        except ConfigError as error:
            entry.problems.adopt(error.problems, entry.path, entry.value)
            return []
        name = " ".join([str(values["kind"]), *(f"{key}={value}" for key, value in recipe.items())])
        key = (name, self.movement)
        board = self.places.board(key, name, lambda: made.grid)
        if count is not None:
            return self._pairs(board, name, count)
        return [Case(board, made.start, made.goal, None, 0)]


def _value_combinations(parts: dict[str, Field]) -> Iterator[dict[str, Any]]:
    """Yield a recipe of a generated map for each combination of the values that a specification lists."""
    values = [part.value if isinstance(part.value, list) else [part.value] for part in parts.values()]
    for chosen in itertools.product(*values):
        yield dict(zip(parts, chosen, strict=True))
