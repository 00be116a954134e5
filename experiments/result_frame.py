"""Table of an experiment's results in columns, with filters for rows, grouping, and measures such as means.

A row is one run, or one trial of a run whose agent walks several times from start to goal.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from experiments.columns import COLUMN_TYPES, COST_RATIO_COLUMNS, NUMERIC_COLUMNS, REQUIRED_COLUMNS
from sim.params import value_as_in_files
from sim.result_lines import NO_PATH, REACHED

Numbers = npt.NDArray[np.float64]
_ENTRY_KB = 4 / 1024  # size in KB of one cell or one database entry: four bytes, as in the papers

RunFilter = Mapping[str, Any]
"""Filter for rows: the required value, or a list of allowed values, by attribute: {agent: tba, budget: [10, 100]}."""

SETTING_COLUMNS = ("agent", "label", "params", "budget", "every", "rate")
"""Columns that identify a setting; the settings of a part run on all problems of the part."""

PROBLEM_COLUMNS = ("part", "map", "start_x", "start_y", "goal_x", "goal_y", "seed", "every", "rate")
"""Columns that identify a problem; paired comparisons match runs that agree in all of them."""


def standard_deviation(values: Numbers) -> float:
    """Return the standard deviation of a sample (divided by n - 1)."""
    return float(values.std(ddof=1)) if values.size > 1 else 0.0


def standard_error(values: Numbers) -> float:
    """Return the standard error of the mean."""
    return standard_deviation(values) / sqrt(values.size)


SUMMARY_FUNCTIONS: Mapping[str, Callable[[Numbers], float]] = {
    "most": np.max,
    "least": np.min,
    "median": np.median,
    "sd": standard_deviation,
    "error": standard_error,
}
"""Functions that summarise a column, by the word that precedes the name of the column, as in `median cost`."""

SUMMARY_NAMES = {"most": "maximum", "least": "minimum", "sd": "standard deviation of", "error": "standard error of"}
"""Names in reports of the kinds in KINDS; a kind without an entry is called by its key."""


@dataclass(frozen=True)
class ResultMeasure:
    """Definition of a number that is computed from several runs, such as a mean.

    It is written as `cost` (the mean of a column), `expansions/moves` (the sum of one column divided by the sum of
    another), or as a column after one of SUMMARY_FUNCTIONS, such as `median cost`. Runs in which any of its
    columns is nan are left out, so both sums of a ratio are taken over the same runs.
    """

    text: str  # the measure as it is written in a specification, such as `median cost`
    kind: str  # "mean", "ratio", or a key of SUMMARY_FUNCTIONS such as "median"
    names: tuple[str, ...]  # name of the measured column; for a ratio, the columns of numerator and denominator

    @property
    def kind_name(self) -> str:
        """Return the name of the measure's kind in reports, such as "maximum" for `most`."""
        return SUMMARY_NAMES.get(self.kind, self.kind)

    @property
    def median_and_maximum(self) -> "tuple[ResultMeasure, ...]":
        """Return the measures "median" and "maximum" of the column if this is a mean of cost ratios, else nothing."""
        if self.kind != "mean" or self.names[0] not in COST_RATIO_COLUMNS:
            return ()
        return tuple(ResultMeasure(f"{kind} {self.text}", kind, self.names) for kind in ("median", "most"))

    def compute_value(self, frame: "ResultFrame") -> float:
        """Compute the measure over all runs in a frame, or return nan if no run has values in all needed columns."""
        columns = [frame.numeric_column(name) for name in self.names]
        known = ~np.isnan(columns).any(axis=0)
        values = [column[known] for column in columns]
        if not values[0].size:
            return float("nan")
        if self.kind == "ratio":
            divisor = float(values[1].sum())
            return float(values[0].sum()) / divisor if divisor else float("nan")
        return float(SUMMARY_FUNCTIONS.get(self.kind, np.mean)(values[0]))


def parse_measure(text: str) -> ResultMeasure | str:
    """Return the measure that a text names; if it names an unknown column, return that part of the text instead."""
    word, _, column = text.strip().partition(" ")
    kind, names = "mean", [text.strip()]
    if word in SUMMARY_FUNCTIONS and column:
        kind, names = word, [column.strip()]
    elif "/" in text:
        kind, names = "ratio", [part.strip() for part in text.split("/")]
    unknown = [name for name in names if name not in NUMERIC_COLUMNS]
    if unknown or len(names) > 2:
        return unknown[0] if unknown else text
    return ResultMeasure(text.strip(), kind, tuple(names))


class DamagedResultsError(ValueError):
    """Error raised if a cell of the results file has a value that no run can produce, because the file is damaged."""


MAX_CELL = 1e18  # maximum magnitude of a number in a cell of the results; larger numbers count as damage
_ACCEPTED_TYPES: Mapping[type, frozenset[type]] = {
    int: frozenset({int, float, type(None)}),
    float: frozenset({int, float, type(None)}),
    str: frozenset({str, type(None)}),
}
"""Python types accepted from SQLite for each kind of column; a number may have been stored as int or as float."""


class ResultFrame:
    """Table of results with columns of equal length. Numeric columns are floats, nan if missing; others are text."""

    def __init__(self, columns: Mapping[str, npt.NDArray[Any]], params: Sequence[Mapping[str, Any]] = ()) -> None:
        """Create a table of results from its columns.

        Args:
            columns: The array of each column, by the name of the column.
            params: The different sets of agent parameters. The column `params` contains indices of this list.
        """
        self.columns = dict(columns)
        self.param_sets = list(params)
        self.length = len(next(iter(self.columns.values()))) if self.columns else 0
        # (whole frame, mask or indices of the selected rows) if this frame is a selection of rows, else None
        self._whole_frame_and_rows: tuple[ResultFrame, npt.NDArray[Any]] | None = None

    def __len__(self) -> int:
        return self.length

    def column_values(self, name: str) -> npt.NDArray[Any]:
        """Return a stored column, a column derived from stored ones, or the values of an agent parameter, by name."""
        if name not in self.columns:
            if self._whole_frame_and_rows is None:
                self.columns[name] = self._derived_column(name)
            else:
                source, chosen = self._whole_frame_and_rows
                self.columns[name] = source.column_values(name)[chosen]
        return self.columns[name]

    def numeric_column(self, name: str) -> Numbers:
        return np.asarray(self.column_values(name), np.float64)

    def _derived_column(self, name: str) -> npt.NDArray[Any]:
        with np.errstate(divide="ignore", invalid="ignore"):
            match name:
                case "expansions_per_move":
                    return _with_infinite_as_nan(self.numeric_column("expansions") / self.numeric_column("moves"))
                case "back_move_share":
                    return _with_infinite_as_nan(
                        100.0 * self.numeric_column("back_moves") / self.numeric_column("nonoptimal_moves")
                    )
                case "us_per_move":
                    return _with_infinite_as_nan(
                        1000.0 * self.numeric_column("total_ms") / self.numeric_column("moves")
                    )
                case "suboptimality_percent":
                    return 100.0 * (self.numeric_column("suboptimality") - 1.0)
                case "memory_kb":
                    return self.numeric_column("memory") * _ENTRY_KB
                case "database_kb":
                    return np.nan_to_num(self.numeric_column("entries")) * _ENTRY_KB
                case "cumulative_kb":
                    return self.numeric_column("memory_kb") + self.numeric_column("database_kb")
                case "build_s":
                    return self.numeric_column("build_ms") / 1000.0
                case "bound_share":
                    return _with_infinite_as_nan(self.numeric_column("cost") / self._cost_bound())
                case "total_ms":
                    return self.numeric_column("planning_ms") + self.numeric_column("changes_ms")
                case "arrived":
                    return np.asarray(self.column_values("outcome") == "reached", np.float64)
                case "last_trial":
                    return np.asarray(np.diff(self.numeric_column("row"), append=-1) != 0, np.float64)
                case "converged":
                    learned = self.numeric_column("h_changes")
                    return np.where(np.isnan(learned), np.nan, (learned == 0) & (self.numeric_column("arrived") > 0))
        values = np.array([params.get(name) for params in self.param_sets] + [None], object)
        return (
            values[self.column_values("params").astype(np.int64)]
            if self.param_sets
            else np.full(len(self), None, object)
        )

    def _cost_bound(self) -> Numbers:
        """Return for each run the bound on its cost by theorem 2 of "Time-Bounded Best-First Search".

        The bound is floor((N - 1) / k) diagonal steps plus 2 w times the cost of the cheapest path, with N expansions.
        """
        weight = np.array([np.nan if w is None else w for w in self.column_values("weight").tolist()], np.float64)
        steps = np.floor((self.numeric_column("expansions") - 1) / self.numeric_column("budget"))
        return steps * sqrt(2.0) + 2.0 * weight * self.numeric_column("optimal")

    @property
    def unfinished_run_count(self) -> int:
        """Return the number of rows that neither reached the goal nor proved that there is no path."""
        return len(self) - int(np.isin(self.column_values("outcome").astype(str), (REACHED, NO_PATH)).sum())

    def select_rows(self, chosen: npt.NDArray[Any]) -> "ResultFrame":
        """Return a frame with a selection of the rows.

        Columns are copied lazily, at the first access, because most of the about sixty columns are never used.

        Args:
            chosen: A boolean mask or an array of row indices.
        """
        part = ResultFrame({}, self.param_sets)
        part.length = int(np.count_nonzero(chosen)) if chosen.dtype == np.bool_ else chosen.size
        part._whole_frame_and_rows = self, chosen
        return part

    def filter_rows(self, run_filter: RunFilter) -> "ResultFrame":
        """Return a frame with the rows whose attributes have the required values."""
        chosen = np.ones(len(self), np.bool_)
        for name, value in run_filter.items():
            values = value if isinstance(value, (list, tuple)) else [value]
            column = self.column_values(name)
            chosen &= np.logical_or.reduce([_equal_mask(column, v) for v in values])
        return self if chosen.all() else self.select_rows(chosen)

    def iter_groups(self, names: Sequence[str]) -> Iterator[tuple[tuple[Any, ...], "ResultFrame"]]:
        """Yield (attribute values, frame of the rows with these values) for each group of rows.

        Groups are ordered by their first row.
        """
        for key, rows in self.rows_by_group(names).items():
            yield key, self.select_rows(rows)

    def rows_by_group(self, names: Sequence[str]) -> dict[tuple[Any, ...], npt.NDArray[np.int64]]:
        if not names or not len(self):
            return {(): np.arange(len(self))} if len(self) else {}
        codes, keys = self.group_number_of_each_row(names)
        order = np.argsort(codes, kind="stable")
        group_ends = np.flatnonzero(np.diff(codes[order], append=-1)) + 1
        parts = np.split(order, group_ends[:-1])
        indices_by_key = {keys[int(codes[part[0]])]: part for part in parts}
        return dict(sorted(indices_by_key.items(), key=lambda item: int(item[1][0])))

    def group_number_of_each_row(self, names: Sequence[str]) -> tuple[npt.NDArray[np.int64], list[tuple[Any, ...]]]:
        """Return the group number of each row, and a list with the attribute values of each group.

        Rows are in the same group if they agree in all attributes in `names`.
        """
        combined = np.zeros(len(self), np.int64)
        for name in names:
            code, count = _value_codes(self.column_values(name))
            _, combined = np.unique(combined * count + code, return_inverse=True)
        _, first, codes = np.unique(combined, return_index=True, return_inverse=True)
        columns = [self.column_values(name) for name in names]
        keys = [tuple(_as_python_value(column[row]) for column in columns) for row in first.tolist()]
        return codes.astype(np.int64), keys


def divide_among_trials(frame: ResultFrame, name: str) -> Numbers:
    """Return a column with the value of each run divided among the run's trials, in proportion to their expansions.

    In the given frame, the row of every trial contains the value of the whole run.
    """
    last = frame.numeric_column("last_trial") > 0
    if last.all():
        return frame.numeric_column(name)
    run: npt.NDArray[np.int64] = np.cumsum(last) - last
    # 1e-9 gives equal shares to the trials of a run without expansions.
    work = frame.numeric_column("expansions") + 1e-9
    return np.asarray(frame.numeric_column(name) * work / np.bincount(run, work)[run], np.float64)


def _value_codes(column: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], int]:
    """Return an integer code for each cell of a column, equal for equal values, and the number of different codes."""
    if column.dtype == object:
        numbers: dict[Any, int] = {}
        codes = np.array([numbers.setdefault(value, len(numbers)) for value in column.tolist()], np.int64)
        return codes, len(numbers)
    values, codes = np.unique(column, return_inverse=True)
    return codes.astype(np.int64), len(values)


def _with_infinite_as_nan(values: Numbers) -> Numbers:
    """Return an array with its infinite values replaced by nan."""
    return np.where(np.isfinite(values), values, np.nan)


def _equal_mask(column: npt.NDArray[Any], value: Any) -> npt.NDArray[np.bool_]:
    """Return a mask of the cells of a column that are equal to a value; the value None matches missing cells."""
    if value is None:
        return np.array([_as_python_value(v) is None for v in column.tolist()], np.bool_)
    return np.asarray(column == value, np.bool_)


def _as_python_value(value: Any) -> Any:
    """Return the value of a cell as a plain Python value: whole numbers as int, and nan as None."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return None if value != value else int(value) if value.is_integer() else value
    return value


def create_result_frame(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> ResultFrame:
    """Return the rows of a results file as a table of columns.

    The JSON texts in the column `params` are replaced by indices of `ResultFrame.params`.

    Raises:
        DamagedResultsError: A cell has a value that no run can have.
    """
    columns: dict[str, npt.NDArray[Any]] = {}
    params: dict[str, int] = {}
    columns_by_name = dict(zip(names, zip(*rows, strict=True), strict=False)) or dict.fromkeys(names, ())
    _check_cell_types(columns_by_name)
    for name in names:
        cells = columns_by_name[name]
        if name == "params":
            columns[name] = np.array([params.setdefault(text, len(params)) for text in cells], np.int64)
        elif name in NUMERIC_COLUMNS or name == "row":
            columns[name] = np.array(cells, np.float64)
        else:
            columns[name] = np.array(cells, object)
    return ResultFrame(columns, [parse_params_json(text) for text in params])


def _check_cell_types(columns: Mapping[str, Sequence[Any]]) -> None:
    """Raise a DamagedResultsError for the first cell with a value of a wrong type or magnitude."""
    for name, cells in columns.items():
        allowed = _ACCEPTED_TYPES[COLUMN_TYPES.get(name, int)]
        if (
            not {*map(type, cells)} <= allowed
            or (name in REQUIRED_COLUMNS and None in cells)
            or not _are_cells_bounded(cells)
        ):
            for index, cell in enumerate(cells):
                is_missing = cell is None and name in REQUIRED_COLUMNS
                if type(cell) not in allowed or is_missing or not _are_cells_bounded([cell]):
                    what = {int: "a whole number", float: "a number", str: "text"}[COLUMN_TYPES.get(name, int)]
                    row = columns.get("row", range(len(cells)))[index]
                    raise DamagedResultsError(f"row {row}: {name}: expected {what}, got {value_as_in_files(cell)}")


def _are_cells_bounded(cells: Sequence[Any]) -> bool:
    """Return whether all float cells are at most MAX_CELL in magnitude, so that sums and axes do not overflow."""
    numbers = [cell for cell in cells if type(cell) is float]
    return not numbers or max(map(abs, numbers)) <= MAX_CELL


def parse_params_json(text: str) -> dict[str, Any]:
    """Parse agent parameters from JSON; raise a DamagedResultsError if the text is not an object of plain values."""
    try:
        params = json.loads(text)
    except ValueError:
        params = None
    if not isinstance(params, dict) or any(isinstance(value, (list, dict)) for value in params.values()):
        raise DamagedResultsError(f"params: expected parameters in JSON, got {value_as_in_files(text)}")
    return params


# --- names ----------------------------------------------------------------------------------------


def setting_names(frame: ResultFrame, agents: Mapping[str, str]) -> dict[tuple[Any, ...], str]:
    """Return a short name for each setting: its agent or label, and the values in which similar settings differ.

    A parameter is included if another setting with the same agent and label has another value. The budget and the rate
    of random changes are included if they vary within the frame.

    Args:
        frame: The results.
        agents: The displayed name of each agent, by its key.
    """
    keys = list(frame.rows_by_group(SETTING_COLUMNS))
    kin: dict[Any, list[tuple[Any, ...]]] = {}
    for key in keys:
        kin.setdefault(key[:2], []).append(key)
    return {key: _setting_name(key, kin[key[:2]], keys, frame, agents) for key in keys}


def _setting_name(
    key: tuple[Any, ...],
    kin: Sequence[tuple[Any, ...]],
    every: Sequence[tuple[Any, ...]],
    frame: ResultFrame,
    agents: Mapping[str, str],
) -> str:
    agent, label, code, budget, _, rate = key
    params = frame.param_sets[int(code)]
    others = [frame.param_sets[int(other[2])] for other in kin]
    varying = [name for name in params if any(other.get(name) != params[name] for other in others)]
    parts = [label or agents.get(agent, agent)]
    parts += [f"{name}={_param_text(params[name])}" for name in varying]
    if len({other[3] for other in every}) > 1:
        parts.append(f"k={budget:,}")
    if len({other[5] for other in every}) > 1:
        parts.append(f"rate={rate}")
    return " ".join(parts)


def _param_text(value: Any) -> str:
    """Return the value of an agent's parameter as text for the name of a setting."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
