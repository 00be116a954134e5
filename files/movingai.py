"""Read and write MovingAI files: `.map` (terrain) and `.scen` (problems on a map).

For any bytes, reading gives a valid object or a ConfigError with file, line and reason. It takes memory in proportion
to the size of the file, never to the size stated in its header.
"""

import difflib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path, PurePath

import numpy as np
import numpy.typing as npt

from files.disk import nearest_file_hint, read_file, write_file_atomically
from files.file_access import file_refusal_reason
from sim.grid import MAX_MAP_CELLS, MAX_MAP_SIDE, PASSABLE_LETTERS, SOLID_LETTERS, Grid, check_map_size
from sim.movement import DEFAULT_MOVEMENT, Movement
from sim.params import ConfigError, Param, value_as_in_files
from sim.system.load_progress import report_load_progress

MAX_MAP_BYTES = MAX_MAP_CELLS + 2 * MAX_MAP_SIDE + 4096
"""Most bytes of a `.map` file: the largest map that Grid accepts, with CRLF line ends and 4 KB for the header."""

MAX_SCEN_BYTES = 1 << 24
MAX_SCEN_ROWS = 200_000
_MAX_SCEN_LINE = 4096

SWAMP_PARAM = Param(
    "swamp",
    str,
    "passable",
    "whether S can be walked on, at cost 1 (listed lengths assume it)",
    choices=("passable", "blocked"),
)
"""Whether swamp 'S' is passable. In HOG2 it is, in warthog it is not; the optimal lengths in benchmark lists are from
HOG2."""

_SWAMP_WHEN_BLOCKED = ord("T")  # letter that replaces blocked swamp: trees, because '@' would mean out of bounds

_UNSUPPORTED_TYPES = {
    "octile-corner": "corner heights of HOG2",
    "raw": "binary terrain of HOG2",
    "patch": "several small maps in one file",
}
_HEADER_KEYS = ("type", "height", "width")
_KNOWN_LETTERS = np.zeros(256, np.bool_)
_KNOWN_LETTERS[[ord(letter) for letter in PASSABLE_LETTERS + SOLID_LETTERS]] = True

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_WORD_PATTERN = re.compile(rb"\S+")
_WHOLE_NUMBER_PATTERN = re.compile(r"[+-]?[0-9]{1,9}")
_MAX_SHOWN_PROBLEMS = 10


# --- maps -----------------------------------------------------------------------------------------------


def read_map(path: str | os.PathLike[str], swamp: str = "passable", movement: Movement = DEFAULT_MOVEMENT) -> Grid:
    """Read the grid of a `.map` file; see parse_map() for the arguments."""
    return parse_map(read_file(path, MAX_MAP_BYTES, ".map"), str(path), swamp, movement)


def parse_map(data: bytes, name: str, swamp: str = "passable", movement: Movement = DEFAULT_MOVEMENT) -> Grid:
    """Parse the bytes of a `.map` file.

    Args:
        data: the bytes.
        name: path of the file, for messages and the name of the grid.
        swamp: "passable" or "blocked". When blocked, every S becomes T, also when the grid is written again.
        movement: movement rule of the grid.

    Returns:
        The grid.

    Raises:
        ConfigError: The bytes are no valid map.
    """
    blocks_swamp = SWAMP_PARAM.parse_value(swamp, f"{name}: swamp") == "blocked"
    data = _normalize_line_ends(data)
    width, height, start = _parse_header(data, name)
    report_load_progress(0.05)
    rows = _split_map_rows(data, start, width, height, name)
    report_load_progress(0.1)
    letters = np.frombuffer(b"".join(rows).upper(), np.uint8).reshape(height, width).copy()
    _refuse_unknown_letters(letters, rows, _line_number_at(data, start), name)
    if blocks_swamp:
        letters[letters == ord("S")] = _SWAMP_WHEN_BLOCKED
    # Only a quarter is done, because Grid needs most of the time to compute the moves of all cells.
    report_load_progress(0.25)
    return Grid(letters, movement, PurePath(name).name)


def map_text(grid: Grid) -> str:
    """Return the text of a `.map` file for a grid: original letters, with `@` and `.` for edited cells."""
    return "\n".join(["type octile", f"height {grid.height}", f"width {grid.width}", "map", *grid.text_rows(), ""])


def write_map(grid: Grid, path: str | os.PathLike[str]) -> None:
    """Write a `.map` file atomically."""
    write_file_atomically(path, map_text(grid).encode("ascii"))


def _normalize_line_ends(data: bytes) -> bytes:
    """Return the bytes of a file with LF line ends (most city maps have CRLF) and without trailing white space."""
    data = data.removeprefix(_BYTE_ORDER_MARK)
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").rstrip()


def _line_number_at(data: bytes, position: int) -> int:
    return data.count(b"\n", 0, position) + 1


def _parse_header(data: bytes, name: str) -> tuple[int, int, int]:
    """Return width and height from the header of a map file, and the byte offset of the map's first row."""
    values: dict[str, int] = {}
    sides_at = name
    words = _WORD_PATTERN.finditer(data)
    for word in words:
        where = f"{name}:{_line_number_at(data, word.start())}"
        key = _header_text(word).lower()
        if key == "map":
            break
        if key in values:
            raise ConfigError(f"{where}: expected one line for {key}, got a second")
        values[key] = _parse_header_value(key, next(words, None), where)
        sides_at = where if key != "type" else sides_at
    else:
        raise ConfigError(
            f"{name}:{_line_number_at(data, len(data))}: expected the line 'map', got the end of the file"
        )
    missing = [key for key in _HEADER_KEYS if key not in values]
    if missing:
        raise ConfigError(f"{where}: expected {' and '.join(missing)} before 'map', got none")
    check_map_size(values["width"], values["height"], sides_at)
    return values["width"], values["height"], _offset_of_map_rows(data, word.end(), where)


def _parse_header_value(key: str, word: re.Match[bytes] | None, where: str) -> int:
    if key not in _HEADER_KEYS:
        hint = _nearest_word_hint(key, [*_HEADER_KEYS, "map"])
        raise ConfigError(f"{where}: expected type, height, width or map, got {value_as_in_files(key)}{hint}")
    if word is None:
        raise ConfigError(f"{where}: expected a value after {key}, got the end of the file")
    if key == "type":
        _check_map_type(_header_text(word).lower(), where)
        return 0
    return _parse_map_side(_header_text(word), f"{where}: {key}")


def _header_text(word: re.Match[bytes]) -> str:
    return word.group()[:80].decode("latin-1")  # truncated, because a word may be as long as the file


def _check_map_type(kind: str, where: str) -> None:
    if kind in _UNSUPPORTED_TYPES:
        reason = _UNSUPPORTED_TYPES[kind]
        raise ConfigError(f"{where}: expected type octile, got {kind} ({reason}), which is not supported")
    if kind != "octile":
        raise ConfigError(
            f"{where}: expected type octile, got {value_as_in_files(kind)}{_nearest_word_hint(kind, ['octile'])}"
        )


def _parse_map_side(text: str, where: str) -> int:
    if not _WHOLE_NUMBER_PATTERN.fullmatch(text):
        raise ConfigError(f"{where}: expected a whole number from 1 to {MAX_MAP_SIDE:,}, got {value_as_in_files(text)}")
    return int(text)


def _offset_of_map_rows(data: bytes, after_header: int, where: str) -> int:
    end_of_line = data.find(b"\n", after_header)
    extra_text = data[after_header : end_of_line if end_of_line >= 0 else len(data)].strip()
    if extra_text:
        raise ConfigError(
            f"{where}: expected the rows to begin on the line after 'map', got {_escaped_text_for_message(extra_text)}"
        )
    return end_of_line + 1 if end_of_line >= 0 else len(data)


def _split_map_rows(data: bytes, start: int, width: int, height: int, name: str) -> list[bytes]:
    """Return the rows of a map file, after checking that each row has the width stated in the header.

    Rows are taken from the text one by one, so a wrong height in the header allocates no memory.
    """
    rows: list[bytes] = []
    problems = _MapFileProblems(name)
    line = _line_number_at(data, start)
    for y in range(height):
        if start >= len(data):
            problems.add(line + y, f"expected row {y + 1} of {height}, got the end of the file")
            break
        end = data.find(b"\n", start)
        end = end if end >= 0 else len(data)
        rows.append(data[start:end].rstrip())
        start = end + 1
        if len(rows[y]) != width:
            hint = " (in the header, height comes before width)" if y == 0 and len(rows[y]) == height else ""
            problems.add(line + y, f"expected {width} characters in row {y + 1} of {height}, got {len(rows[y])}{hint}")
    extra = _WORD_PATTERN.search(data, start)
    if extra:
        extra_text = _escaped_text_for_message(extra.group())
        problems.add(
            _line_number_at(data, extra.start()), f"expected the end of the file after {height} rows, got {extra_text}"
        )
    problems.raise_if_any_problem()
    return rows


def _refuse_unknown_letters(letters: npt.NDArray[np.uint8], rows: Sequence[bytes], first_line: int, name: str) -> None:
    is_unknown = ~_KNOWN_LETTERS[letters]
    problems = _MapFileProblems(name)
    for y in np.flatnonzero(is_unknown.any(axis=1)).tolist():
        x = int(is_unknown[y].argmax())
        expected = f"expected one of {' '.join(PASSABLE_LETTERS + SOLID_LETTERS)}"
        problems.add(first_line + y, f"column {x + 1}: {expected}, got {_letter_for_message(rows[y][x])}")
    problems.raise_if_any_problem()


def _letter_for_message(byte: int) -> str:
    return repr(chr(byte)) if byte < 128 else f"byte 0x{byte:02X}"


def _escaped_text_for_message(text: bytes) -> str:
    return value_as_in_files(text[:80].decode("latin-1"))


def _nearest_word_hint(word: str, known: Iterable[str]) -> str:
    """Return a question that suggests the nearest known word; "" if no known word is similar."""
    matches = difflib.get_close_matches(word.lower(), list(known), n=1, cutoff=0.6)
    return f"; did you mean '{matches[0]}'?" if matches else ""


class _MapFileProblems:
    """Problems of one map file: the first few as text, and a count of the others, as a wrong width affects each row."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._problem_lines: list[str] = []
        self._hidden_count = 0

    def add(self, line: int, problem: str) -> None:
        if len(self._problem_lines) < _MAX_SHOWN_PROBLEMS:
            self._problem_lines.append(f"{self._name}:{line}: {problem}")
        else:
            self._hidden_count += 1

    def raise_if_any_problem(self) -> None:
        more = [f"{self._name}: and {self._hidden_count:,} more lines with problems"] if self._hidden_count else []
        if self._problem_lines:
            raise ConfigError(self._problem_lines + more)


# --- scenarios ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ScenRow:
    """Problem of a `.scen` file. A row that could not be read has only its number, line, text and problem."""

    row_index: int  # index of the row in the file, including rows that could not be read
    bucket: int
    map_name: str
    width: int  # width of the map for which the row was made; 0: unknown, in the old form without sizes
    height: int  # height of the map for which the row was made; 0: unknown
    start: tuple[int, int]
    goal: tuple[int, int]
    optimal: float  # listed optimal length; diagonal moves cost sqrt(2) and cut no corners
    line: int = 0  # line number of the row in the file
    problem: str | None = None  # reason why the row cannot be run; None: it can be run
    text: str | None = None  # text of the line if it could not be read

    @property
    def is_readable(self) -> bool:
        return self.text is None


@dataclass(frozen=True)
class ScenFile:
    """Rows of a `.scen` file in their order, including rows that cannot be run."""

    name: str
    rows: list[ScenRow]

    def with_problems_on_grid(self, grid: Grid) -> "ScenFile":
        """Return a copy with `problem` set in each row that cannot be run on the given map."""
        return replace(self, rows=[replace(row, problem=row_problem_on_grid(row, grid)) for row in self.rows])

    def map_names(self) -> list[str]:
        """Return the different names of maps in the rows, in order of appearance."""
        return list(dict.fromkeys(row.map_name for row in self.rows if row.is_readable))


def read_scen(path: str | os.PathLike[str], grid: Grid | None = None) -> ScenFile:
    """Read a `.scen` file; with a grid, also check its rows on that map."""
    scen = parse_scen(read_file(path, MAX_SCEN_BYTES, ".scen"), str(path))
    return scen.with_problems_on_grid(grid) if grid is not None else scen


def parse_scen(data: bytes, name: str) -> ScenFile:
    """Parse the bytes of a `.scen` file; a row that cannot be read is kept with the reason.

    Raises:
        ConfigError: The file is empty, has another version, too many rows, or neither a version nor a readable row.
    """
    lines = _nonblank_lines(data)
    first = next(lines, None)
    if first is None:
        raise ConfigError(f"{name}:1: expected 'version 1' or a row, got an empty file")
    has_version = first[1].split(maxsplit=1)[0].lower() == "version"
    if has_version:
        _check_scen_version(first[1], f"{name}:{first[0]}")
    rows: list[ScenRow] = [] if has_version else [_parse_scen_row(0, *first)]
    for line, text in lines:
        if len(rows) == MAX_SCEN_ROWS:
            raise ConfigError(f"{name}:{line}: expected at most {MAX_SCEN_ROWS:,} rows, got more")
        rows.append(_parse_scen_row(len(rows), line, text))
    if not has_version and not any(row.is_readable for row in rows):
        raise ConfigError(f"{name}:{rows[0].line}: {rows[0].problem}")
    return ScenFile(name, rows)


def select_row_indices(text: str | None, count: int, name: str, where: str = "--rows") -> list[int]:
    """Return the indices of the rows selected by a text such as `0,5,10:20`.

    Args:
        text: the selection; None: all rows.
        count: number of rows in the file.
        name: name of the file, for messages.
        where: option or key that contains the text, for messages.

    Raises:
        ConfigError: The text is invalid, or the file has no rows.
    """
    if not count:
        raise ConfigError(f"{name}: expected a list with at least one problem, got none")
    if text is None:
        return list(range(count))
    numbers: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(?:(\d{1,9})|(\d{0,9}):(\d{0,9}))\s*", part)
        if match is None:
            raise ConfigError(f"{where}: expected rows such as 0,5,10:20, got '{part.strip()}'")
        single, first, end = match.groups()
        chosen = range(int(single), int(single) + 1) if single else range(int(first or 0), int(end or count))
        if not chosen or chosen[-1] >= count:
            raise ConfigError(f"{where}: expected rows from 0 to {count - 1} of {name}, got '{part.strip()}'")
        numbers += chosen
    return numbers


def scen_text(rows: Iterable[ScenRow]) -> str:
    """Return the text of a `.scen` file: version 1, or the old form without sizes if no row has a size."""
    row_list = list(rows)
    is_old_form = bool(row_list) and not any(row.width or row.height or not row.is_readable for row in row_list)
    lines = [] if is_old_form else ["version 1"]
    return "\n".join([*lines, *(_format_scen_row(row) for row in row_list), ""])


def are_path_lengths_equal(ours: float, listed: float) -> bool:
    """Return whether a path length equals a listed length, allowing for sums in float32 and rounding to two digits."""
    return abs(ours - listed) <= 0.01 + 1e-4 * abs(listed)


def row_problem_on_grid(row: ScenRow, grid: Grid) -> str | None:
    """Return the reason why the problem of a `.scen` row cannot be run on a map; None if it can be run."""
    if not row.is_readable:
        return row.problem
    if (row.width or row.height) and (row.width, row.height) != (grid.width, grid.height):
        sizes = f"expected a map of {row.width} x {row.height}, got {grid.width} x {grid.height}"
        return f"{sizes}: the row is for this map scaled to that size; open the scaled copy"
    for end, (x, y) in (("start", row.start), ("goal", row.goal)):
        if not grid.contains_point(x, y):
            return f"{end}: expected a cell of the {grid.width} x {grid.height} map, got ({x}, {y}) outside it"
        if not grid.is_free(grid.cell(x, y)):
            return f"{end}: expected a free cell, got ({x}, {y}) on {_terrain_at(grid, x, y)}, which is blocked"
    start, goal = _terrain_at(grid, *row.start), _terrain_at(grid, *row.goal)
    if (start == _WATER_NAME) != (goal == _WATER_NAME):
        return f"expected start and goal both on ground or both in water, got {start} and {goal}: no move connects them"
    return None


_WATER_NAME = "water 'W'"


def _terrain_at(grid: Grid, x: int, y: int) -> str:
    letter = chr(grid.terrain[y, x])
    names = {"W": _WATER_NAME, "T": "trees 'T'", "@": "'@'", "O": "'O'"}
    return names.get(letter, f"ground '{letter}'")


def _nonblank_lines(data: bytes) -> Iterator[tuple[int, str]]:
    """Yield line number and text of each line that is not blank.

    It is a generator, because a list of millions of one-byte lines would take much memory.
    """
    for number, line in enumerate(BytesIO(_normalize_line_ends(data)), 1):
        text = line.decode("utf-8", "replace").strip()
        if text:
            yield number, text


def _check_scen_version(text: str, where: str) -> None:
    version = text.split()[1:]
    if version not in (["1"], ["1.0"]):
        raise ConfigError(f"{where}: expected version 1, got {value_as_in_files(text)}")


def _parse_scen_row(number: int, line: int, text: str) -> ScenRow:
    try:
        return _parse_row_fields(number, line, _split_scen_row(text))
    except ConfigError as error:
        return ScenRow(number, 0, "", 0, 0, (-1, -1), (-1, -1), 0.0, line, str(error), text)


def _split_scen_row(text: str) -> list[str]:
    """Return the nine fields of a `.scen` row, or its seven fields in the old form without map sizes.

    Fields are separated by any white space, or only by tabs if the name of the map contains blanks.
    """
    if len(text) > _MAX_SCEN_LINE:
        raise ConfigError(f"expected a row of 9 fields, got a line of {len(text):,} characters")
    words = text.split()
    by_tabs = [field.strip() for field in text.split("\t")]
    if len(by_tabs) in (7, 9) and len(by_tabs) < len(words) and all(by_tabs):
        numbers = by_tabs[:1] + by_tabs[2:]
        if all(len(field.split()) == 1 for field in numbers):
            return by_tabs
    if len(words) not in (7, 9):
        fields = "bucket map width height start-x start-y goal-x goal-y length"
        raise ConfigError(
            f"expected 9 fields ({fields}; 7 without the sizes), got {len(words)}: {value_as_in_files(text)}"
        )
    return words


def _parse_row_fields(number: int, line: int, fields: list[str]) -> ScenRow:
    bucket, map_name, *sizes, start_x, start_y, goal_x, goal_y, optimal = fields
    width, height = sizes or ("0", "0")
    return ScenRow(
        number,
        _parse_whole_number(bucket, "bucket"),
        map_name,
        _parse_listed_map_side(width, "map width") if sizes else 0,
        _parse_listed_map_side(height, "map height") if sizes else 0,
        (_parse_whole_number(start_x, "start x"), _parse_whole_number(start_y, "start y")),
        (_parse_whole_number(goal_x, "goal x"), _parse_whole_number(goal_y, "goal y")),
        _parse_path_length(optimal),
        line,
    )


def _parse_whole_number(text: str, what: str) -> int:
    if not _WHOLE_NUMBER_PATTERN.fullmatch(text):
        raise ConfigError(f"{what}: expected a whole number, got {value_as_in_files(text)}")
    return int(text)


def _parse_listed_map_side(text: str, what: str) -> int:
    size = _parse_whole_number(text, what)
    if size < 1:
        raise ConfigError(f"{what}: expected at least 1, got {value_as_in_files(text)}")
    return size


def _parse_path_length(text: str) -> float:
    try:
        length = float(text)
    except ValueError:
        length = -1.0
    if not 0.0 <= length < float("inf"):  # also true for nan
        raise ConfigError(f"optimal length: expected a number of at least 0, got {value_as_in_files(text)}")
    return length


def _format_scen_row(row: ScenRow) -> str:
    if row.text is not None:
        return row.text
    name = row.map_name
    if not name or not name.isprintable() or name != name.strip():
        raise ConfigError(f"row {row.row_index}: map: expected a file name, got {value_as_in_files(name)}")
    sizes = [row.width, row.height] if row.width or row.height else []
    length = int(row.optimal) if row.optimal.is_integer() else row.optimal
    return "\t".join(str(field) for field in [row.bucket, name, *sizes, *row.start, *row.goal, length])


# --- files ----------------------------------------------------------------------------------------------


def find_map_of_scen(
    scen_path: str | os.PathLike[str], map_name: str, search_path: Iterable[str | os.PathLike[str]] = ()
) -> Path:
    """Return the file that a row of a `.scen` file names as its map.

    The first existing file of these is returned; file_access.py decides which of them may be opened:
    1. `map_name`, relative to the folder of the `.scen` file;
    2. the path of the `.scen` file with the extension `.map`;
    3. the path of the `.scen` file without its extension, if that ends in `.map`;
    4. the last part of `map_name` in the folder of the `.scen` file;
    5. the same four for the target, if `scen_path` is a symbolic link;
    6. `map_name` and its last part in each folder of `search_path`.

    Args:
        scen_path: the `.scen` file.
        map_name: name of the map in the row.
        search_path: further folders.

    Raises:
        ConfigError: No such file exists or may be opened.
    """
    scen, real_scen = Path(os.path.abspath(scen_path)), Path(os.path.realpath(scen_path))
    further = [Path(os.path.abspath(folder)) for folder in search_path]
    if not map_name or not map_name.isprintable():
        raise ConfigError(f"{scen_path}: map: expected a file name, got {value_as_in_files(map_name)}")
    tried = []
    candidates = [*_candidate_map_paths(scen, map_name), *_candidate_map_paths(real_scen, map_name)]
    candidates += [folder / part for folder in further for part in _map_path_and_listed_name(map_name)]
    for candidate in dict.fromkeys(Path(os.path.normpath(candidate)) for candidate in candidates):
        refused = file_refusal_reason(candidate, [scen.parent, real_scen.parent, *further])
        if refused is None and os.path.isfile(candidate):
            return candidate
        tried.append(f"{candidate}{f' (not opened: {refused})' if refused else ''}")
    hint = nearest_file_hint(scen.parent / PurePath(map_name).name, ".map")
    raise ConfigError(
        f"{scen_path}: expected the map {value_as_in_files(map_name)}, found none at {', '.join(tried)}{hint}"
    )


def _candidate_map_paths(scen: Path, map_name: str) -> list[Path]:
    map_path, last = _map_path_and_listed_name(map_name)
    candidates = [scen.parent / map_path, scen.with_suffix(".map")]
    if scen.stem.lower().endswith(".map"):
        candidates.append(scen.with_suffix(""))
    return [*candidates, scen.parent / last]


def _map_path_and_listed_name(map_name: str) -> tuple[PurePath, str]:
    """Return the path of the map that a `.scen` row names, and the last part of this path."""
    named = PurePath(map_name.replace("\\", "/"))  # rows that were written under Windows have backslashes
    return named, named.name
