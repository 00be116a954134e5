"""Read the descriptions of the tables and figures of a report from a specification, with numbers printed in a paper."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sim.experiments.columns import NUMBERS, WORDS
from sim.experiments.frame import Measure, Where, measure_of
from sim.files.fields import Field, require
from sim.generate import generate
from sim.params import ConfigError, Param, did_you_mean

CUT_OFF = Param("cutoff", int, 0, "expansions per tick above which a setting is disqualified; 0: no limit", 0, 1 << 40)

TABLE_KEYS = (
    *("title", "where", "rows", "columns", "values", "of", "limit", "against", "printed", "printed_rows", "note"),
)
FIGURE_KEYS = (
    *("name", "title", "kind", "where", "x", "y", "by", "of", "levels", "log", "cutoff", "zoom", "generate"),
    *("printed", "note"),
)
KINDS = ("scatter", "lines", "histogram", "map")
_KINDS_OF_KEYS = {  # key of a figure -> kinds of figures in which it has an effect
    **dict.fromkeys(("of", "levels"), ("lines",)),
    "cutoff": ("scatter",),
    "generate": ("map",),
    **dict.fromkeys(("where", "x", "by", "log", "zoom", "printed"), ("scatter", "lines", "histogram")),
    "y": ("scatter", "lines"),
}
"""Kinds of figures in which a key has an effect; keys without an entry are allowed in every kind."""
_CONFLICTING_KEYS = {
    "limit": ("against", "rows", "columns", "of", "printed"),
    "against": ("rows", "columns", "of", "printed", "printed_rows"),
}
"""Keys that have no effect in a table with a certain key, by that key; they are reported as mistakes."""
MAX_NUMBER = 1e18  # limit for numbers in claims, tables and figures, so that sums and axes do not overflow
AXES = ("x", "y", "xy", "none")  # values of the key `log` of a figure: which axes have a logarithmic scale

_T = TypeVar("_T")

_FILE_NAME = re.compile(r"\w[\w +.-]*")


@dataclass(frozen=True)
class Grouping:
    """Description of a table with a row for each combination of attribute values and a column for each measure.

    If there are attributes for columns, each measure has a column for each of their values. `of`, `limit` and
    `against` change the content of the table.
    """

    title: str
    rows: tuple[str, ...]  # attributes of runs; the table has a row for each combination of their values
    columns: tuple[str, ...]  # attributes of runs; the table has a column for each combination of their values
    values: tuple[Measure, ...]  # measures whose numbers fill the cells
    where: Mapping[str, Any] = field(default_factory=dict)  # filter for the runs: attribute -> allowed values
    printed: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # column -> row -> number in the paper
    note: str = ""  # explanation next to the table
    # row -> measure -> number in the paper, for settings that only the paper has
    printed_rows: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    of: tuple[Where, ...] = ()  # two selections of runs; each cell is the value of the first divided by the second
    limit: Measure | None = None  # limited measure; each row is a range of limits for which the same setting is best
    # Filter for rival settings without prepared data, with which settings that use prepared data are compared.
    # Each row then says after how many moves the preparation pays off, against the rival of the most similar quality.
    against: Where | None = None


@dataclass(frozen=True)
class Figure:
    """Description of a figure with a series for each combination of values of the attributes `by`."""

    name: str  # name of the figure's files without extension
    title: str
    kind: str  # kind of figure, one of KINDS
    x: str  # attribute (kind lines) or measure (other kinds) on the x axis
    y: str  # measure on the y axis
    by: tuple[str, ...]  # attributes of runs; the figure has a series for each combination of their values
    log: str = "none"  # axes with logarithmic scale: one of AXES
    where: Mapping[str, Any] = field(default_factory=dict)  # filter for the runs: attribute -> allowed values
    printed: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)  # curve -> points in a paper
    note: str = ""
    of: tuple[Where, ...] = ()  # kind lines: two selections of runs; y is the value of the first / that of the second
    levels: Where | None = None  # kind lines: filter for runs without an x value, drawn as horizontal lines at their y
    # kind scatter: expansions per tick above which a setting is left out; 0: the cut-off of the specification applies
    cutoff: int = 0
    zoom: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # axis x or y -> (low, high) of its limits
    generate: Mapping[str, Any] = field(default_factory=dict)  # kind map: recipe of the generated map


def read_tables(entry: Field) -> tuple[Grouping, ...]:
    return _read_all(entry, "a list of tables", TABLE_KEYS, "a table such as {rows: budget, values: cost}", _read_table)


def read_figures(entry: Field) -> tuple[Figure, ...]:
    what = "a figure such as {kind: lines, x: budget, y: suboptimality, by: agent}"
    names: set[str] = set()

    def read(part: Field, fields: dict[str, Field]) -> Figure | None:
        figure = _read_figure(part, fields)
        if figure and file_key(figure.name) in names:
            fields["name"].complain(f"another figure has the name {figure.name!r}; its files would be overwritten")
        names.update([file_key(figure.name)] if figure else [])
        return figure

    return _read_all(entry, "a list of figures", FIGURE_KEYS, what, read)


def _read_all(
    entry: Field, words: str, keys: Iterable[str], what: str, read: Callable[[Field, dict[str, Field]], _T | None]
) -> tuple[_T, ...]:
    return read_each(entry, words, lambda part: read(part, part.keys(keys, what)))


def read_each(entry: Field, words: str, read: Callable[[Field], _T | None]) -> tuple[_T, ...]:
    """Read all elements of a list in a specification, and return the elements without mistakes.

    Args:
        entry: The list.
        words: Describes the list in error messages.
        read: Reads one element; it may return None after reporting mistakes.
    """
    found: list[_T] = []
    for part in entry.items(words):
        before = len(entry.problems.found)
        item = read(part)
        if item is not None and len(entry.problems.found) == before:
            found.append(item)
    return tuple(found)


def file_key(name: str) -> str:
    """Return a key that is equal for file names that are the same on a case-insensitive file system."""
    return name.casefold()


def _read_table(part: Field, fields: dict[str, Field]) -> Grouping | None:
    has_own_rows = "limit" in fields or "against" in fields
    for key, others in _CONFLICTING_KEYS.items():
        for other in others if key in fields else ():
            if other in fields:
                fields[other].complain(f"has no effect together with {key}")
    rows = fields.get("rows") if has_own_rows else require(fields, "rows", part, "an attribute such as budget")
    values = require(fields, "values", part, "a measure such as suboptimality")
    if values is None or (rows is None and not has_own_rows):
        return None
    if values.value == []:
        values.expect("at least one measure")
    return Grouping(
        text_of(fields, "title"),
        attributes(rows) if rows else (),
        attributes(fields["columns"]) if "columns" in fields else (),
        tuple(m for piece in pieces(values) if (m := measure(piece)) is not None),
        where_of(fields),
        _printed_table(fields["printed"]) if "printed" in fields else {},
        text_of(fields, "note"),
        _printed_rows(fields["printed_rows"], values) if "printed_rows" in fields else {},
        sides(fields["of"]) if "of" in fields else (),
        measure(fields["limit"]) if "limit" in fields else None,
        where_of(fields, "against") if "against" in fields else None,
    )


def _read_figure(part: Field, fields: dict[str, Field]) -> Figure | None:
    name = require(fields, "name", part, "a name for its files")
    kind = word_of(fields, "kind", KINDS, "scatter")
    for key, kinds in _KINDS_OF_KEYS.items():
        if key in fields and kind not in kinds:
            fields[key].complain(f"is allowed only with {' or '.join(kinds)}, this figure is of kind {kind}")
    if kind == "map":
        return _read_map(part, fields, name)
    x = require(fields, "x", part, "what is on the x axis")
    needs_y = kind != "histogram"
    y = require(fields, "y", part, "what is on the y axis") if needs_y else x
    if name is None or x is None or y is None:
        return None
    for axis in (x, y):
        if axis is not x or kind != "lines":
            found = measure(axis)
            if kind == "histogram" and found and found.kind != "mean":
                axis.expect("a column with one number per run")
        elif axis.text(60) is None or str(axis.value) in WORDS:
            axis.expect("an attribute that is a number, such as budget")
    return Figure(
        _file_name(name),
        text_of(fields, "title"),
        kind,
        str(x.value),
        str(y.value),
        attributes(fields["by"]) if "by" in fields else ("agent",),
        word_of(fields, "log", AXES, "none"),
        where_of(fields),
        _printed_points(fields["printed"]) if "printed" in fields else {},
        text_of(fields, "note"),
        sides(fields["of"]) if "of" in fields else (),
        where_of(fields, "levels") if "levels" in fields else None,
        fields["cutoff"].integer(CUT_OFF) or 0 if "cutoff" in fields else 0,
        _zoom(fields["zoom"]) if "zoom" in fields else {},
    )


def _read_map(part: Field, fields: dict[str, Field], name: Field | None) -> Figure | None:
    """Read the description of a figure of kind map, which shows a generated map; return None after a mistake."""
    recipe = require(fields, "generate", part, "a recipe such as {kind: corner, size: 20}")
    parts = recipe.any_keys("a recipe such as {kind: corner, size: 20}") if recipe else {}
    if recipe is None or name is None or require(parts, "kind", recipe, "the kind of map") is None:
        return None
    values = {key: entry.value for key, entry in parts.items()}
    try:
        generate(values["kind"], {key: value for key, value in values.items() if key != "kind"}, "generate")
    except ConfigError as error:
        recipe.problems.adopt(error.problems, recipe.path, recipe.value)
    title, note = text_of(fields, "title"), text_of(fields, "note")
    return Figure(_file_name(name), title, "map", "", "", (), note=note, generate=values)


def _zoom(entry: Field) -> dict[str, tuple[float, float]]:
    found = {}
    for axis, part in entry.keys(("x", "y"), "axes such as {x: [0, 10]}").items():
        ends = [float(cell.value) for cell in part.items("two numbers such as [0, 10]") if is_number(cell)]
        if len(ends) == 2 and ends[0] < ends[1]:
            found[axis] = (ends[0], ends[1])
        else:
            part.expect("two numbers such as [0, 10], the smaller first")
    return found


def _file_name(entry: Field) -> str:
    """Return the name of a figure's files.

    A name with characters that could lead out of the report's folder is reported as a mistake.
    """
    text = entry.text(60)
    if text is not None and not _FILE_NAME.fullmatch(text):
        entry.expect("letters, digits, blanks and . + - _, beginning with a letter or digit")
    return text or "figure"


def _printed_table(entry: Field) -> dict[str, dict[str, float]]:
    return {
        column: {row: float(cell.value) for row, cell in part.any_keys("rows and numbers").items() if is_number(cell)}
        for column, part in entry.any_keys("columns, each with rows and numbers").items()
    }


def _printed_rows(entry: Field, values: Field) -> dict[str, dict[str, float]]:
    """Read table rows with numbers printed in a paper; measures that the table does not have are mistakes."""
    known = [str(piece.value) for piece in pieces(values)]
    for row in entry.any_keys("rows, each with measures and numbers").values():
        row.keys(known, "measures and numbers")
    return _printed_table(entry)


def _printed_points(entry: Field) -> dict[str, tuple[tuple[float, float], ...]]:
    found = {}
    for name, part in entry.any_keys("named lists of points [[x, y], ...]").items():
        points = [cell.value for cell in part.items("a list of points [[x, y], ...]")]
        good = [p for p in points if isinstance(p, list) and len(p) == 2 and all(_is_number(v) for v in p)]
        if len(good) < len(points):
            part.expect("a list of points [[x, y], ...]")
        found[name] = tuple((float(x), float(y)) for x, y in good)
    return found


# --- shared with claims ---------------------------------------------------------------------------


def pieces(entry: Field) -> list[Field]:
    """Return the elements of a list field, or a list with only the field itself if its value is no list."""
    return entry.items("") if isinstance(entry.value, list) else [entry]


def measure(entry: Field) -> Measure | None:
    """Read a measure such as `suboptimality` or `expansions/moves`; report an unknown name as a mistake."""
    text = entry.text(100)
    found = measure_of(text) if text is not None else None
    if isinstance(found, str):
        entry.complain(f"no measure '{found}'{did_you_mean(found, sorted(NUMBERS))}")
    return found if isinstance(found, Measure) else None


def attributes(entry: Field) -> tuple[str, ...]:
    """Read the names of attributes of runs: columns of the results, or parameters of agents."""
    return tuple(text for piece in pieces(entry) if (text := piece.text(60)) is not None)


def where_of(fields: Mapping[str, Field], key: str = "where") -> dict[str, Any]:
    """Read a filter for rows of results, such as {agent: tba, budget: [10, 100]}; {} if the key is missing."""
    return _filter_of(fields[key]) if key in fields else {}


def _filter_of(entry: Field) -> dict[str, Any]:
    parts = entry.any_keys("attributes such as {agent: tba}")
    return {name: part.value for name, part in parts.items() if _is_filter_value(part)}


def _is_filter_value(entry: Field) -> bool:
    """Return whether a field contains a value that an attribute can have, or a list of such values."""
    if entry.value == []:
        entry.expect("at least one value")
    # build the list before all(), which would stop at the first mistake and not report the others
    found = [_is_plain_value(piece) for piece in pieces(entry)]
    return all(found)


def _is_plain_value(entry: Field) -> bool:
    if entry.value is None or isinstance(entry.value, bool):
        return True
    if isinstance(entry.value, str):
        return entry.text(200) is not None
    if isinstance(entry.value, (list, dict)):
        entry.expect("text, a number, true, false or nothing")
        return False
    return is_number(entry)


def sides(entry: Field) -> tuple[Where, ...]:
    """Read the two selections of runs that a claim, table or figure compares."""
    parts = entry.items("two sides such as [{agent: tba}, {agent: lrta}]")
    if len(parts) != 2:
        entry.expect("two sides such as [{agent: tba}, {agent: lrta}]")
        return ({}, {})
    return tuple(_filter_of(part) for part in parts)


def text_of(fields: Mapping[str, Field], key: str) -> str:
    return (fields[key].text(2000, lines=True) or "").strip() if key in fields else ""


def word_of(fields: Mapping[str, Field], key: str, words: tuple[str, ...], default: str) -> str:
    if key not in fields:
        return default
    if fields[key].value not in words:
        fields[key].expect(f"one of {', '.join(words)}")
        return default
    return str(fields[key].value)


def is_number(entry: Field) -> bool:
    if not _is_number(entry.value):
        is_typed = isinstance(entry.value, (int, float)) and not isinstance(entry.value, bool)
        entry.expect(f"a number from {-MAX_NUMBER:g} to {MAX_NUMBER:g}" if is_typed else "a number")
        return False
    return True


def _is_number(value: object) -> bool:
    is_typed = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_typed and -MAX_NUMBER <= value <= MAX_NUMBER  # type: ignore[operator]
