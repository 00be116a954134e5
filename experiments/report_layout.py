"""Read the descriptions of the tables and figures of a report from a specification, with numbers printed in a paper."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from experiments.columns import NUMERIC_COLUMNS, TEXT_COLUMNS
from experiments.result_frame import ResultMeasure, RunFilter, parse_measure
from files.document_fields import DocumentField, require_field
from sim.map_generators import generate_map
from sim.params import ConfigError, Param, did_you_mean_hint

CUTOFF_PARAM = Param(
    "cutoff", int, 0, "expansions per tick above which a setting is disqualified; 0: no limit", 0, 1 << 40
)

TABLE_KEYS = (
    *("title", "where", "rows", "columns", "values", "of", "limit", "against", "printed", "printed_rows", "note"),
)
FIGURE_KEYS = (
    *("name", "title", "kind", "where", "x", "y", "by", "of", "levels", "log", "cutoff", "zoom", "generate"),
    *("printed", "note"),
)
FIGURE_KINDS = ("scatter", "lines", "histogram", "map")
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
LOG_AXES = ("x", "y", "xy", "none")  # values of the key `log_axes` of a figure: which axes have a logarithmic scale

_T = TypeVar("_T")

_FILE_NAME_PATTERN = re.compile(r"\w[\w +.-]*")


@dataclass(frozen=True)
class TableSpec:
    """Description of a table with a row for each combination of attribute values and a column for each measure.

    If there are attributes for columns, each measure has a column for each of their values. `quotient_sides`, `limit`
    and `rival_filter` change the content of the table.
    """

    title: str
    row_attributes: tuple[str, ...]  # attributes of runs; the table has a row for each combination of their values
    # Attributes of runs; the table has a column for each combination of their values.
    column_attributes: tuple[str, ...]
    values: tuple[ResultMeasure, ...]  # measures whose numbers fill the cells
    run_filter: Mapping[str, Any] = field(default_factory=dict)  # filter for the runs: attribute -> allowed values
    # Column -> row -> number in the paper.
    printed_numbers: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    note: str = ""  # explanation next to the table
    # row -> measure -> number in the paper, for settings that only the paper has
    printed_rows: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    quotient_sides: tuple[
        RunFilter, ...
    ] = ()  # two selections of runs; each cell is the value of the first divided by the second
    # Limited measure; each row is a range of limits for which the same setting is best.
    limit: ResultMeasure | None = None
    # Filter for rival settings without prepared data, with which settings that use prepared data are compared.
    # Each row then says after how many moves the preparation pays off, against the rival of the most similar quality.
    rival_filter: RunFilter | None = None


@dataclass(frozen=True)
class FigureSpec:
    """Description of a figure with a series for each combination of values of the attributes `series_attributes`."""

    name: str  # name of the figure's files without extension
    title: str
    kind: str  # kind of figure, one of FIGURE_KINDS
    x: str  # attribute (kind lines) or measure (other kinds) on the x axis
    y: str  # measure on the y axis
    # Attributes of runs; the figure has a series for each combination of their values.
    series_attributes: tuple[str, ...]
    log_axes: str = "none"  # axes with logarithmic scale: one of LOG_AXES
    run_filter: Mapping[str, Any] = field(default_factory=dict)  # filter for the runs: attribute -> allowed values
    # Curve -> points in a paper.
    printed_curves: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    note: str = ""
    quotient_sides: tuple[
        RunFilter, ...
    ] = ()  # kind lines: two selections of runs; y is the value of the first, divided by the value of the second
    # Kind lines: filter for runs without an x value, drawn as horizontal lines at their y.
    level_filter: RunFilter | None = None
    # kind scatter: expansions per tick above which a setting is left out; 0: the cut-off of the specification applies
    cutoff: int = 0
    # Axis x or y -> (low, high) of its limits.
    axis_limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    map_recipe: Mapping[str, Any] = field(default_factory=dict)  # kind map: recipe of the generated map


def read_tables(entry: DocumentField) -> tuple[TableSpec, ...]:
    return _read_mappings(
        entry, "a list of tables", TABLE_KEYS, "a table such as {rows: budget, values: cost}", _read_table
    )


def read_figures(entry: DocumentField) -> tuple[FigureSpec, ...]:
    what = "a figure such as {kind: lines, x: budget, y: suboptimality, by: agent}"
    names: set[str] = set()

    def read(part: DocumentField, fields: dict[str, DocumentField]) -> FigureSpec | None:
        figure = _read_figure(part, fields)
        if figure and file_name_key(figure.name) in names:
            fields["name"].report_problem(
                f"another figure has the name {figure.name!r}; its files would be overwritten"
            )
        names.update([file_name_key(figure.name)] if figure else [])
        return figure

    return _read_mappings(entry, "a list of figures", FIGURE_KEYS, what, read)


def _read_mappings(
    entry: DocumentField,
    list_description: str,
    keys: Iterable[str],
    entry_description: str,
    read: Callable[[DocumentField, dict[str, DocumentField]], _T | None],
) -> tuple[_T, ...]:
    return read_elements(
        entry, list_description, lambda part: read(part, part.read_known_keys(keys, entry_description))
    )


def read_elements(entry: DocumentField, description: str, read: Callable[[DocumentField], _T | None]) -> tuple[_T, ...]:
    """Read all elements of a list in a specification, and return the elements without mistakes.

    Args:
        entry: The list.
        description: Describes the list in error messages.
        read: Reads one element; it may return None after reporting mistakes.
    """
    elements: list[_T] = []
    for part in entry.items(description):
        before = len(entry.problems.found)
        item = read(part)
        if item is not None and len(entry.problems.found) == before:
            elements.append(item)
    return tuple(elements)


def file_name_key(name: str) -> str:
    """Return a key that is equal for file names that are the same on a case-insensitive file system."""
    return name.casefold()


def _read_table(part: DocumentField, fields: dict[str, DocumentField]) -> TableSpec | None:
    has_own_rows = "limit" in fields or "against" in fields
    for key, others in _CONFLICTING_KEYS.items():
        for other in others if key in fields else ():
            if other in fields:
                fields[other].report_problem(f"has no effect together with {key}")
    rows = fields.get("rows") if has_own_rows else require_field(fields, "rows", part, "an attribute such as budget")
    values = require_field(fields, "values", part, "a measure such as suboptimality")
    if values is None or (rows is None and not has_own_rows):
        return None
    if values.value == []:
        values.report_expected_value("at least one measure")
    return TableSpec(
        read_optional_text(fields, "title"),
        read_attributes(rows) if rows else (),
        read_attributes(fields["columns"]) if "columns" in fields else (),
        tuple(m for piece in elements_of_field(values) if (m := read_measure(piece)) is not None),
        read_run_filter(fields),
        _read_printed_table(fields["printed"]) if "printed" in fields else {},
        read_optional_text(fields, "note"),
        _read_printed_rows(fields["printed_rows"], values) if "printed_rows" in fields else {},
        read_compared_sides(fields["of"]) if "of" in fields else (),
        read_measure(fields["limit"]) if "limit" in fields else None,
        read_run_filter(fields, "against") if "against" in fields else None,
    )


def _read_figure(part: DocumentField, fields: dict[str, DocumentField]) -> FigureSpec | None:
    name = require_field(fields, "name", part, "a name for its files")
    kind = read_choice(fields, "kind", FIGURE_KINDS, "scatter")
    for key, allowed_kinds in _KINDS_OF_KEYS.items():
        if key in fields and kind not in allowed_kinds:
            fields[key].report_problem(
                f"is allowed only with {' or '.join(allowed_kinds)}, this figure is of kind {kind}"
            )
    if kind == "map":
        return _read_map_figure(part, fields, name)
    x = require_field(fields, "x", part, "what is on the x axis")
    needs_y = kind != "histogram"
    y = require_field(fields, "y", part, "what is on the y axis") if needs_y else x
    if name is None or x is None or y is None:
        return None
    for axis in (x, y):
        if axis is not x or kind != "lines":
            measure = read_measure(axis)
            if kind == "histogram" and measure and measure.kind != "mean":
                axis.report_expected_value("a column with one number per run")
        elif axis.read_text(60) is None or str(axis.value) in TEXT_COLUMNS:
            axis.report_expected_value("an attribute that is a number, such as budget")
    return FigureSpec(
        _read_file_name(name),
        read_optional_text(fields, "title"),
        kind,
        str(x.value),
        str(y.value),
        read_attributes(fields["by"]) if "by" in fields else ("agent",),
        read_choice(fields, "log", LOG_AXES, "none"),
        read_run_filter(fields),
        _read_printed_points(fields["printed"]) if "printed" in fields else {},
        read_optional_text(fields, "note"),
        read_compared_sides(fields["of"]) if "of" in fields else (),
        read_run_filter(fields, "levels") if "levels" in fields else None,
        fields["cutoff"].read_integer(CUTOFF_PARAM) or 0 if "cutoff" in fields else 0,
        _read_axis_limits(fields["zoom"]) if "zoom" in fields else {},
    )


def _read_map_figure(
    part: DocumentField, fields: dict[str, DocumentField], name: DocumentField | None
) -> FigureSpec | None:
    """Read the description of a figure of kind map, which shows a generated map; return None after a mistake."""
    recipe = require_field(fields, "generate", part, "a recipe such as {kind: corner, size: 20}")
    parts = recipe.read_mapping("a recipe such as {kind: corner, size: 20}") if recipe else {}
    if recipe is None or name is None or require_field(parts, "kind", recipe, "the kind of map") is None:
        return None
    values = {key: entry.value for key, entry in parts.items()}
    try:
        generate_map(values["kind"], {key: value for key, value in values.items() if key != "kind"}, "generate")
    except ConfigError as error:
        recipe.problems.add_messages_by_key(error.problems, recipe.path, recipe.value)
    title, note = read_optional_text(fields, "title"), read_optional_text(fields, "note")
    return FigureSpec(_read_file_name(name), title, "map", "", "", (), note=note, map_recipe=values)


def _read_axis_limits(entry: DocumentField) -> dict[str, tuple[float, float]]:
    limits_by_axis = {}
    for axis, part in entry.read_known_keys(("x", "y"), "axes such as {x: [0, 10]}").items():
        limits = [float(cell.value) for cell in part.items("two numbers such as [0, 10]") if check_number(cell)]
        if len(limits) == 2 and limits[0] < limits[1]:
            limits_by_axis[axis] = (limits[0], limits[1])
        else:
            part.report_expected_value("two numbers such as [0, 10], the smaller first")
    return limits_by_axis


def _read_file_name(entry: DocumentField) -> str:
    """Return the name of a figure's files.

    A name with characters that could lead out of the report's folder is reported as a mistake.
    """
    text = entry.read_text(60)
    if text is not None and not _FILE_NAME_PATTERN.fullmatch(text):
        entry.report_expected_value("letters, digits, blanks and . + - _, beginning with a letter or digit")
    return text or "figure"


def _read_printed_table(entry: DocumentField) -> dict[str, dict[str, float]]:
    return {
        column: {
            row: float(cell.value) for row, cell in part.read_mapping("rows and numbers").items() if check_number(cell)
        }
        for column, part in entry.read_mapping("columns, each with rows and numbers").items()
    }


def _read_printed_rows(entry: DocumentField, values: DocumentField) -> dict[str, dict[str, float]]:
    """Read table rows with numbers printed in a paper; measures that the table does not have are mistakes."""
    known = [str(piece.value) for piece in elements_of_field(values)]
    for row in entry.read_mapping("rows, each with measures and numbers").values():
        row.read_known_keys(known, "measures and numbers")
    return _read_printed_table(entry)


def _read_printed_points(entry: DocumentField) -> dict[str, tuple[tuple[float, float], ...]]:
    found = {}
    for name, part in entry.read_mapping("named lists of points [[x, y], ...]").items():
        points = [cell.value for cell in part.items("a list of points [[x, y], ...]")]
        good = [p for p in points if isinstance(p, list) and len(p) == 2 and all(_is_number(v) for v in p)]
        if len(good) < len(points):
            part.report_expected_value("a list of points [[x, y], ...]")
        found[name] = tuple((float(x), float(y)) for x, y in good)
    return found


# --- shared with claims ---------------------------------------------------------------------------


def elements_of_field(entry: DocumentField) -> list[DocumentField]:
    """Return the elements of a list field, or a list with only the field itself if its value is no list."""
    return entry.items("") if isinstance(entry.value, list) else [entry]


def read_measure(entry: DocumentField) -> ResultMeasure | None:
    """Read a measure such as `suboptimality` or `expansions/moves`; report an unknown name as a mistake."""
    text = entry.read_text(100)
    found = parse_measure(text) if text is not None else None
    if isinstance(found, str):
        entry.report_problem(f"no measure '{found}'{did_you_mean_hint(found, sorted(NUMERIC_COLUMNS))}")
    return found if isinstance(found, ResultMeasure) else None


def read_attributes(entry: DocumentField) -> tuple[str, ...]:
    """Read the names of attributes of runs: columns of the results, or parameters of agents."""
    return tuple(text for piece in elements_of_field(entry) if (text := piece.read_text(60)) is not None)


def read_run_filter(fields: Mapping[str, DocumentField], key: str = "where") -> dict[str, Any]:
    """Read a filter for rows of results, such as {agent: tba, budget: [10, 100]}; {} if the key is missing."""
    return _read_filter_mapping(fields[key]) if key in fields else {}


def _read_filter_mapping(entry: DocumentField) -> dict[str, Any]:
    parts = entry.read_mapping("attributes such as {agent: tba}")
    return {name: part.value for name, part in parts.items() if _check_filter_value(part)}


def _check_filter_value(entry: DocumentField) -> bool:
    """Return whether a field contains a value that an attribute can have, or a list of such values."""
    if entry.value == []:
        entry.report_expected_value("at least one value")
    # build the list before all(), which would stop at the first mistake and not report the others
    found = [_check_plain_value(piece) for piece in elements_of_field(entry)]
    return all(found)


def _check_plain_value(entry: DocumentField) -> bool:
    if entry.value is None or isinstance(entry.value, bool):
        return True
    if isinstance(entry.value, str):
        return entry.read_text(200) is not None
    if isinstance(entry.value, (list, dict)):
        entry.report_expected_value("text, a number, true, false or nothing")
        return False
    return check_number(entry)


def read_compared_sides(entry: DocumentField) -> tuple[RunFilter, ...]:
    """Read the two selections of runs that a claim, table or figure compares."""
    parts = entry.items("two sides such as [{agent: tba}, {agent: lrta}]")
    if len(parts) != 2:
        entry.report_expected_value("two sides such as [{agent: tba}, {agent: lrta}]")
        return ({}, {})
    return tuple(_read_filter_mapping(part) for part in parts)


def read_optional_text(fields: Mapping[str, DocumentField], key: str) -> str:
    return (fields[key].read_text(2000, lines=True) or "").strip() if key in fields else ""


def read_choice(fields: Mapping[str, DocumentField], key: str, choices: tuple[str, ...], default: str) -> str:
    if key not in fields:
        return default
    if fields[key].value not in choices:
        fields[key].report_expected_value(f"one of {', '.join(choices)}")
        return default
    return str(fields[key].value)


def check_number(entry: DocumentField) -> bool:
    if not _is_number(entry.value):
        is_typed = isinstance(entry.value, int | float) and not isinstance(entry.value, bool)
        entry.report_expected_value(f"a number from {-MAX_NUMBER:g} to {MAX_NUMBER:g}" if is_typed else "a number")
        return False
    return True


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and -MAX_NUMBER <= value <= MAX_NUMBER
