"""A table of results as columns of numbers, and what can be asked of it: rows that fit, groups, means."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.experiments.columns import COST_RATIOS, IN_EVERY_ROW, KIND_OF, NUMBERS
from sim.params import shown
from sim.results import NO_PATH, REACHED

Numbers = npt.NDArray[np.float64]
_ENTRY_KB = 4 / 1024  # of a cell or an entry of a database: four bytes, as in the papers' sizes

Where = Mapping[str, Any]
"""Attributes and the value, or the values, that rows are to have: {agent: tba, budget: [10, 100]}."""

SETTING = ("agent", "label", "params", "budget", "every", "rate")
"""What makes a setting: the same for all problems of a part."""

PROBLEM = ("part", "map", "start_x", "start_y", "goal_x", "goal_y", "seed", "every", "rate")
"""What makes a problem: comparisons are paired on these."""


def deviation(values: Numbers) -> float:
    """The standard deviation, of a sample."""
    return float(values.std(ddof=1)) if values.size > 1 else 0.0


def standard_error(values: Numbers) -> float:
    """Of the mean."""
    return deviation(values) / sqrt(values.size)


KINDS: Mapping[str, Callable[[Numbers], float]] = {
    "most": np.max,
    "least": np.min,
    "median": np.median,
    "sd": deviation,
    "error": standard_error,
}
"""Words before the name of a column, and the number that they mean."""

KIND_WORDS = {"most": "maximum", "least": "minimum", "sd": "standard deviation of", "error": "standard error of"}
"""What reports call the kinds that have another name there."""


@dataclass(frozen=True)
class Measure:
    """A number for some runs: `cost` (the mean), `expansions/moves` (sum by sum), or one of KINDS before a column.

    Of those in which it is known: a sum by a sum is over the same runs.
    """

    text: str
    kind: str  # mean, ratio, or one of KINDS
    names: tuple[str, ...]

    @property
    def kind_word(self) -> str:
        """What the kind is called in reports."""
        return KIND_WORDS.get(self.kind, self.kind)

    @property
    def tails(self) -> "tuple[Measure, ...]":
        """Median and maximum where this is a mean of cost ratios, else nothing."""
        if self.kind != "mean" or self.names[0] not in COST_RATIOS:
            return ()
        return tuple(Measure(f"{kind} {self.text}", kind, self.names) for kind in ("median", "most"))

    def of(self, frame: "Frame") -> float:
        """The number for all runs of a frame; nan when there are none."""
        columns = [frame.numbers(name) for name in self.names]
        known = ~np.isnan(columns).any(axis=0)
        values = [column[known] for column in columns]
        if not values[0].size:
            return float("nan")
        if self.kind == "ratio":
            whole = float(values[1].sum())
            return float(values[0].sum()) / whole if whole else float("nan")
        return float(KINDS.get(self.kind, np.mean)(values[0]))


def measure_of(text: str) -> Measure | str:
    """The measure that a text names, or what is wrong with it."""
    word, _, rest = text.strip().partition(" ")
    kind, names = "mean", [text.strip()]
    if word in KINDS and rest:
        kind, names = word, [rest.strip()]
    elif "/" in text:
        kind, names = "ratio", [part.strip() for part in text.split("/")]
    unknown = [name for name in names if name not in NUMBERS]
    if unknown or len(names) > 2:
        return unknown[0] if unknown else text
    return Measure(text.strip(), kind, tuple(names))


class DamageError(ValueError):
    """A cell holds what no run can have."""


MAX_CELL = 1e18
_TYPES: Mapping[type, frozenset[type]] = {
    int: frozenset({int, float, type(None)}),
    float: frozenset({int, float, type(None)}),
    str: frozenset({str, type(None)}),
}
"""What SQLite gives for the kinds of columns: it keeps a whole number as whatever it was written as."""


class Frame:
    """Columns of equal length. Numbers are floats with nan for nothing; everything else is text."""

    def __init__(self, columns: Mapping[str, npt.NDArray[Any]], params: Sequence[Mapping[str, Any]] = ()) -> None:
        """`params`: for each code in the column `params`, the parameters that it stands for."""
        self.columns = dict(columns)
        self.params = list(params)
        self.length = len(next(iter(self.columns.values()))) if self.columns else 0
        self._part_of: tuple[Frame, npt.NDArray[Any]] | None = None  # whose rows these are, and which of them

    def __len__(self) -> int:
        return self.length

    def column(self, name: str) -> npt.NDArray[Any]:
        """A column, or a parameter of the agents as one."""
        if name not in self.columns:
            if self._part_of is None:
                self.columns[name] = self._derived(name)
            else:
                whole, chosen = self._part_of
                self.columns[name] = whole.column(name)[chosen]
        return self.columns[name]

    def numbers(self, name: str) -> Numbers:
        return np.asarray(self.column(name), np.float64)

    def _derived(self, name: str) -> npt.NDArray[Any]:
        with np.errstate(divide="ignore", invalid="ignore"):
            match name:
                case "expansions_per_move":
                    return _finite(self.numbers("expansions") / self.numbers("moves"))
                case "back_move_share":
                    return _finite(100.0 * self.numbers("back_moves") / self.numbers("nonoptimal_moves"))
                case "us_per_move":
                    return _finite(1000.0 * self.numbers("total_ms") / self.numbers("moves"))
                case "suboptimality_percent":
                    return 100.0 * (self.numbers("suboptimality") - 1.0)
                case "memory_kb":
                    return self.numbers("memory") * _ENTRY_KB
                case "database_kb":
                    return np.nan_to_num(self.numbers("entries")) * _ENTRY_KB
                case "cumulative_kb":
                    return self.numbers("memory_kb") + self.numbers("database_kb")
                case "build_s":
                    return self.numbers("build_ms") / 1000.0
                case "bound_share":
                    return _finite(self.numbers("cost") / self._bound())
                case "total_ms":
                    return self.numbers("planning_ms") + self.numbers("changes_ms")
                case "arrived":
                    return np.asarray(self.column("outcome") == "reached", np.float64)
                case "last_trial":
                    return np.asarray(np.diff(self.numbers("row"), append=-1) != 0, np.float64)
                case "converged":
                    learned = self.numbers("h_changes")
                    return np.where(np.isnan(learned), np.nan, (learned == 0) & (self.numbers("arrived") > 0))
        values = np.array([params.get(name) for params in self.params] + [None], object)
        return values[self.column("params").astype(np.int64)] if self.params else np.full(len(self), None, object)

    def _bound(self) -> Numbers:
        """Theorem 2 of "Time-Bounded Best-First Search": (N - 1) / k steps of a search, and 2 w cheapest paths."""
        weight = np.array([np.nan if w is None else w for w in self.column("weight").tolist()], np.float64)
        steps = np.floor((self.numbers("expansions") - 1) / self.numbers("budget"))
        return steps * sqrt(2.0) + 2.0 * weight * self.numbers("optimal")

    @property
    def unfinished(self) -> int:
        """The runs, or trials, that neither reached the goal nor proved that there is no way."""
        return len(self) - int(np.isin(self.column("outcome").astype(str), (REACHED, NO_PATH)).sum())

    def take(self, chosen: npt.NDArray[Any]) -> "Frame":
        """Some of the rows. A column is copied when it is first asked for: of sixty, most never are."""
        part = Frame({}, self.params)
        part.length = int(np.count_nonzero(chosen)) if chosen.dtype == np.bool_ else chosen.size
        part._part_of = self, chosen
        return part

    def where(self, wanted: Where) -> "Frame":
        """The rows that have these values."""
        chosen = np.ones(len(self), np.bool_)
        for name, value in wanted.items():
            values = value if isinstance(value, (list, tuple)) else [value]
            column = self.column(name)
            chosen &= np.logical_or.reduce([_equal(column, v) for v in values])
        return self if chosen.all() else self.take(chosen)

    def groups(self, names: Sequence[str]) -> Iterator[tuple[tuple[Any, ...], "Frame"]]:
        """The rows by their values of some attributes, in the order in which these are first met."""
        for key, rows in self.group_rows(names).items():
            yield key, self.take(rows)

    def group_rows(self, names: Sequence[str]) -> dict[tuple[Any, ...], npt.NDArray[np.int64]]:
        if not names or not len(self):
            return {(): np.arange(len(self))} if len(self) else {}
        codes, keys = self.codes(names)
        order = np.argsort(codes, kind="stable")
        ends = np.flatnonzero(np.diff(codes[order], append=-1)) + 1
        parts = np.split(order, ends[:-1])
        found = {keys[int(codes[part[0]])]: part for part in parts}
        return dict(sorted(found.items(), key=lambda item: int(item[1][0])))

    def codes(self, names: Sequence[str]) -> tuple[npt.NDArray[np.int64], list[tuple[Any, ...]]]:
        """For each row the number of its group, and the values of each group."""
        whole = np.zeros(len(self), np.int64)
        for name in names:
            code, count = _coded(self.column(name))
            _, whole = np.unique(whole * count + code, return_inverse=True)
        _, first, codes = np.unique(whole, return_index=True, return_inverse=True)
        columns = [self.column(name) for name in names]
        keys = [tuple(_plain(column[row]) for column in columns) for row in first.tolist()]
        return codes.astype(np.int64), keys


def shared_out(frame: Frame, name: str) -> Numbers:
    """What is known of a whole run and stands on the line of each of its trials, by the cells that each expanded."""
    last = frame.numbers("last_trial") > 0
    if last.all():
        return frame.numbers(name)
    run: npt.NDArray[np.int64] = np.cumsum(last) - last
    work = frame.numbers("expansions") + 1e-9  # of a run without any, all trials have the same
    return np.asarray(frame.numbers(name) * work / np.bincount(run, work)[run], np.float64)


def _coded(column: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], int]:
    if column.dtype == object:
        numbers: dict[Any, int] = {}
        codes = np.array([numbers.setdefault(value, len(numbers)) for value in column.tolist()], np.int64)
        return codes, len(numbers)
    values, codes = np.unique(column, return_inverse=True)
    return codes.astype(np.int64), len(values)


def _finite(values: Numbers) -> Numbers:
    return np.where(np.isfinite(values), values, np.nan)


def _equal(column: npt.NDArray[Any], value: Any) -> npt.NDArray[np.bool_]:
    if value is None:
        return np.array([_plain(v) is None for v in column.tolist()], np.bool_)
    return np.asarray(column == value, np.bool_)


def _plain(value: Any) -> Any:
    """A cell as a Python value: whole numbers whole, nan None."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return None if value != value else int(value) if value.is_integer() else value
    return value


def frame_of(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Frame:
    """A frame from rows as they lie in a store. The texts of parameters become codes."""
    columns: dict[str, npt.NDArray[Any]] = {}
    params: dict[str, int] = {}
    by_name = dict(zip(names, zip(*rows, strict=True), strict=False)) or dict.fromkeys(names, ())
    _check_cells(by_name)
    for name in names:
        cells = by_name[name]
        if name == "params":
            columns[name] = np.array([params.setdefault(text, len(params)) for text in cells], np.int64)
        elif name in NUMBERS or name == "row":
            columns[name] = np.array(cells, np.float64)
        else:
            columns[name] = np.array(cells, object)
    return Frame(columns, [params_of(text) for text in params])


def _check_cells(columns: Mapping[str, Sequence[Any]]) -> None:
    """Raise a DamageError for the first cell that no run can have."""
    for name, cells in columns.items():
        allowed = _TYPES[KIND_OF.get(name, int)]
        if not {*map(type, cells)} <= allowed or (name in IN_EVERY_ROW and None in cells) or not _are_bounded(cells):
            for place, cell in enumerate(cells):
                is_missing = cell is None and name in IN_EVERY_ROW
                if type(cell) not in allowed or is_missing or not _are_bounded([cell]):
                    what = {int: "a whole number", float: "a number", str: "text"}[KIND_OF.get(name, int)]
                    row = columns.get("row", range(len(cells)))[place]
                    raise DamageError(f"row {row}: {name}: expected {what}, got {shown(cell)}")


def _are_bounded(cells: Sequence[Any]) -> bool:
    """Return whether all numbers are ones that sums and axes can hold; other cells do not count."""
    numbers = [cell for cell in cells if type(cell) is float]
    return not numbers or max(map(abs, numbers)) <= MAX_CELL


def params_of(text: str) -> dict[str, Any]:
    """Return the parameters that a text in JSON holds."""
    try:
        params = json.loads(text)
    except ValueError:
        params = None
    if not isinstance(params, dict) or any(isinstance(value, (list, dict)) for value in params.values()):
        raise DamageError(f"params: expected parameters in JSON, got {shown(text)}")
    return params


# --- names ----------------------------------------------------------------------------------------


def setting_names(frame: Frame, agents: Mapping[str, str]) -> dict[tuple[Any, ...], str]:
    """A short name for each setting: its agent or label, the parameters in which others of that name differ, budget."""
    keys = list(frame.group_rows(SETTING))
    kin: dict[Any, list[tuple[Any, ...]]] = {}
    for key in keys:
        kin.setdefault(key[:2], []).append(key)
    return {key: _name_of(key, kin[key[:2]], keys, frame, agents) for key in keys}


def _name_of(
    key: tuple[Any, ...],
    kin: Sequence[tuple[Any, ...]],
    every: Sequence[tuple[Any, ...]],
    frame: Frame,
    agents: Mapping[str, str],
) -> str:
    agent, label, code, budget, _, rate = key
    params = frame.params[int(code)]
    others = [frame.params[int(other[2])] for other in kin]
    varying = [name for name in params if any(other.get(name) != params[name] for other in others)]
    words = [label or agents.get(agent, agent)]
    words += [f"{name}={_shown(params[name])}" for name in varying]
    if len({other[3] for other in every}) > 1:
        words.append(f"k={budget:,}")
    if len({other[5] for other in every}) > 1:
        words.append(f"rate={rate}")
    return " ".join(words)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
