"""Compute two special tables of papers: the best setting under a limit, and when prepared data pays off."""

from collections.abc import Mapping, Sequence

import numpy as np

from experiments.report_charts import measure_label, unfinished_run_count, value_of_measure
from experiments.report_layout import TableSpec
from experiments.result_frame import SETTING_COLUMNS, ResultFrame, ResultMeasure, RunFilter, setting_names
from experiments.table_formats import MeasuredCell, TableCell

_BUILD_TIME = ResultMeasure("build_s", "mean", ("build_s",))

TableContent = tuple[tuple[str, ...], list[tuple[TableCell, ...]]]
"""Content of a table: (headings, rows)."""


def best_settings_table(
    grouping: TableSpec, limit: ResultMeasure, frame: ResultFrame, agents: Mapping[str, str]
) -> TableContent:
    """Return a table that says, for each range of a limit, which setting is best under this limit.

    The best setting has the smallest first measure of the table, among settings that do not exceed the limit and
    arrive in every run.

    Args:
        grouping: The table.
        limit: The limited measure.
        frame: The runs.
        agents: The displayed name of each agent, by its key.
    """
    names = setting_names(frame, agents)
    candidates = []
    for key, runs in frame.iter_groups(SETTING_COLUMNS):
        limit_value, value = limit.compute_value(runs), grouping.values[0].compute_value(runs)
        if runs.numeric_column("arrived").min() > 0 and value == value and limit_value == limit_value:
            candidates.append((limit_value, value, names[key], runs))
    candidates.sort(key=lambda item: item[:2])
    best: list[tuple[float, float, str, ResultFrame]] = []
    for item in candidates:
        if not best or item[1] < best[-1][1]:
            best.append(item)
    range_ends = [f" to {following[0] - 1:,.0f}" for following in best[1:]] + [" and more"] if best else []
    rows: list[tuple[TableCell, ...]] = [
        (
            f"{limit_value:,.0f}{end}",
            name,
            *(create_measure_cell(measure, runs, grouping.values) for measure in grouping.values),
        )
        for (limit_value, _, name, runs), end in zip(best, range_ends, strict=True)
    ]
    if not best:  # no setting arrives in all of its runs
        rows.append(("any", "none", *(None for _ in grouping.values)))
    elif best[0][0] > 0:
        rows.insert(0, (f"below {best[0][0]:,.0f}", "none", *(None for _ in grouping.values)))
    return (
        f"limit: {measure_label(limit.text)}",
        "setting",
        *(measure_label(value.text) for value in grouping.values),
    ), rows


def preparation_payoff_table(
    grouping: TableSpec, frame: ResultFrame, rivals: ResultFrame, agents: Mapping[str, str]
) -> TableContent:
    """Return a table with the number of moves after which the prepared data of each setting pays off.

    Each setting is compared with the rival that is nearest in the first measure of the table.

    Args:
        grouping: The table.
        frame: The runs of the settings with prepared data.
        rivals: The runs of the settings without.
        agents: The displayed name of each agent, by its key.
    """
    value = grouping.values[0]
    names, others = setting_names(frame, agents), setting_names(rivals, agents)
    known = [
        (value.compute_value(runs), _planning_us_per_move(runs), others[key], runs)
        for key, runs in rivals.iter_groups(SETTING_COLUMNS)
    ]
    known = [rival for rival in known if rival[0] == rival[0]]
    rows: list[tuple[TableCell, ...]] = []
    for key, runs in frame.iter_groups(SETTING_COLUMNS):
        quality, ours = value.compute_value(runs), _planning_us_per_move(runs)
        nearest = min(known, key=lambda rival: abs(rival[0] - quality), default=None)
        if nearest is None or quality != quality:
            continue
        build_s, gain = _BUILD_TIME.compute_value(runs), nearest[1] - ours
        moves = 1e6 * build_s / gain if gain > 0 else float("nan")
        times: tuple[TableCell, ...] = (moves, moves * ours / 1e6) if gain > 0 else ("never", "never")
        cells = (
            create_measure_cell(value, runs, grouping.values),
            create_measure_cell(value, nearest[3], grouping.values),
        )
        rows.append((names[key], cells[0], ours, nearest[2], cells[1], nearest[1], build_s, *times))
    word = measure_label(value.text)
    headings = (
        "setting",
        word,
        "us / move, pooled",
        "against",
        f"its {word}",
        "its us / move, pooled",
        "seconds to build",
        "moves until it pays off",
    )
    return (*headings, "seconds of planning until then"), rows


def _planning_us_per_move(runs: ResultFrame) -> float:
    """Return the microseconds of planning per move: the total of all runs divided by their total number of moves."""
    moves = float(np.nansum(runs.numeric_column("moves")))
    return 1000.0 * float(np.nansum(runs.numeric_column("total_ms"))) / moves if moves else float("nan")


def create_measure_cell(
    measure: ResultMeasure, runs: ResultFrame, among: Sequence[ResultMeasure] = (), sides: Sequence[RunFilter] = ()
) -> TableCell:
    """Return a table cell with the value of a measure for some runs.

    If the measure is a mean of cost ratios, the cell also has the median and maximum of these ratios.

    Args:
        measure: The measure.
        runs: The runs.
        among: All measures of the table. If they include the median and the maximum, the cell does not repeat them.
        sides: Empty, or two selections of runs; the cell then has the number of the first / the number of the second.
    """
    value, unfinished = value_of_measure(measure, sides, runs), unfinished_run_count(sides, runs)
    if np.isnan(value):
        return None
    found = int(value) if measure.kind == "most" and not sides and value.is_integer() else value
    has_own_columns = {tail.text for tail in measure.median_and_maximum} <= {other.text for other in among}
    numbers = (
        [value_of_measure(tail, sides, runs) for tail in measure.median_and_maximum] if not has_own_columns else []
    )
    tails = (numbers[0], numbers[1]) if numbers else None
    is_plain = not tails and (not unfinished or measure.names == ("arrived",))
    return found if is_plain else MeasuredCell(found, tails, unfinished)
