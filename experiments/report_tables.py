"""Compute the tables of a report: the tables that its specification describes, and the tables of every report."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from experiments.claims import ClaimVerdict
from experiments.paper_tables import (
    TableContent,
    best_settings_table,
    create_measure_cell,
    preparation_payoff_table,
)
from experiments.report_charts import group_label, measure_label, setting_score, value_of_measure
from experiments.report_layout import TableSpec
from experiments.result_frame import PROBLEM_COLUMNS, SETTING_COLUMNS, ResultFrame, ResultMeasure, setting_names
from experiments.statistics import bootstrap_mean, compare_paired_values, pareto_settings
from experiments.table_formats import UNFINISHED_MARK, MeasuredCell, ReportTable, TableCell

_TRIAL_MEANS = {
    "trials": ResultMeasure("trial", "mean", ("trial",)),
    "converged": ResultMeasure("converged", "mean", ("converged",)),
}
_SETTING_TAIL_MEASURES = ResultMeasure("suboptimality", "mean", ("suboptimality",)).median_and_maximum
_LAST_TRIAL_NOTE = (
    "The numbers are from the last trial of each run, except for the most expansions in a tick. Converged: the share of"
    " runs whose last trial changed no learned value."
)
_TAILS_NOTE = "In brackets: median and maximum of the runs."
_UNFINISHED_NOTE = (
    f"{UNFINISHED_MARK} Some of these runs did not finish: they have no cost / optimal, and their other numbers count "
    "only"
    " up to their end."
)
# columns that must be equal in compared runs: the part of the experiment, and the random changes of the map
_CONDITION_COLUMNS = ("part", "every", "rate")


def create_specified_table(
    number: int, grouping: TableSpec, frame: ResultFrame, agents: Mapping[str, str]
) -> ReportTable:
    """Return a table that a specification describes, with numbers printed in the paper next to measured numbers.

    Args:
        number: The number of the table in the report.
        grouping: The description of the table.
        frame: The results.
        agents: The displayed name of each agent, by its key.
    """
    chosen = frame.filter_rows(grouping.run_filter)
    if grouping.limit is not None:
        headings_and_rows = best_settings_table(grouping, grouping.limit, chosen, agents)
    elif grouping.rival_filter is not None:
        headings_and_rows = preparation_payoff_table(grouping, chosen, frame.filter_rows(grouping.rival_filter), agents)
    else:
        headings_and_rows = _table_of_run_groups(grouping, chosen, agents)
    headings, rows = headings_and_rows
    title = grouping.title or ", ".join(value.text for value in grouping.values)
    printed = [
        (f"{name} (printed)", *_cells_of_printed_row(headings, grouping, numbers))
        for name, numbers in grouping.printed_rows.items()
    ]
    return add_cell_notes(ReportTable(f"table-{number}", title, headings, (*rows, *printed), grouping.note))


def add_cell_notes(table: ReportTable) -> ReportTable:
    """Return a table with a note that explains the brackets and daggers in its cells, if there are any."""
    cells = [cell for row in table.rows for cell in row if isinstance(cell, MeasuredCell)]
    notes = [_TAILS_NOTE] if any(cell.median_and_maximum for cell in cells) else []
    notes += [_UNFINISHED_NOTE] if any(cell.unfinished_count for cell in cells) else []
    return replace(table, note=" ".join(filter(None, [table.note, *notes])))


def _table_of_run_groups(grouping: TableSpec, frame: ResultFrame, agents: Mapping[str, str]) -> TableContent:
    """Return the headings and rows of a table with a row for each group of runs."""
    columns = list(frame.rows_by_group(grouping.column_attributes)) if grouping.column_attributes else [()]
    headings: list[str] = [*grouping.row_attributes]
    for column in columns:
        for value in grouping.values:
            name = group_label(grouping.column_attributes, column, agents) if column else measure_label(value.text)
            headings.append(f"{name}: {measure_label(value.text)}" if column and len(grouping.values) > 1 else name)
            if grouping.printed_numbers.get(_printed_column_key(grouping, column, value)):
                headings += ["printed", "deviation"]
    rows: list[tuple[TableCell, ...]] = [
        (*_attribute_cells(grouping.row_attributes, key, agents), *_measured_cells(part, columns, grouping))
        for key, part in sorted_run_groups(frame, grouping.row_attributes)
    ]
    return tuple(headings), rows


def _printed_column_key(grouping: TableSpec, column: Sequence[Any], value: ResultMeasure) -> str:
    """Return the key in `printed_numbers` under which the specification lists the paper's numbers for a column.

    The key consists of the values of the column attributes, the name of the measure, or both.
    """
    parts = [_printed_row_key(column)] if column else []
    if not column or len(grouping.values) > 1:
        parts.append(value.text)
    return " ".join(parts)


def _cells_of_printed_row(
    headings: Sequence[str], grouping: TableSpec, numbers: Mapping[str, float]
) -> Iterator[TableCell]:
    """Yield the cells after the first one for a row that has only numbers printed in a paper.

    Columns of measures contain these numbers, all other columns are empty.
    """
    by_heading = {measure_label(value.text): numbers[value.text] for value in grouping.values if value.text in numbers}
    yield from (by_heading.get(heading, "" if heading in grouping.row_attributes else None) for heading in headings[1:])


def sorted_run_groups(frame: ResultFrame, names: Sequence[str]) -> list[tuple[tuple[Any, ...], ResultFrame]]:
    """Return the groups of rows with equal attributes: sorted if all values are numbers, else in the frame's order."""
    groups = list(frame.iter_groups(names))
    if all(isinstance(value, (int, float)) for key, _ in groups for value in key):
        groups.sort(key=lambda group: group[0])
    return groups


def _measured_cells(part: ResultFrame, columns: Sequence[tuple[Any, ...]], grouping: TableSpec) -> list[TableCell]:
    """Return the cells of a row with measured numbers, each followed by the paper's number and the deviation."""
    cells: list[TableCell] = []
    row = _printed_row_key(next(iter(part.rows_by_group(grouping.row_attributes))))
    for column in columns:
        runs = part.filter_rows(dict(zip(grouping.column_attributes, column, strict=True))) if column else part
        for value in grouping.values:
            measured = value_of_measure(value, grouping.quotient_sides, runs)
            cells.append(create_measure_cell(value, runs, grouping.values, grouping.quotient_sides))
            if (printed := grouping.printed_numbers.get(_printed_column_key(grouping, column, value))) is not None:
                printed_value = printed.get(row)
                cells += [
                    "" if printed_value is None else f"{printed_value:g}",
                    f"{100 * (measured / printed_value - 1):+.1f} %" if printed_value else "",
                ]
    return cells


def _printed_row_key(key: Sequence[Any]) -> str:
    """Return the attribute values of a group of runs, joined by blanks as in the keys of `printed_numbers`."""
    return " ".join(str(value) for value in key)


def _attribute_cells(names: Sequence[str], key: Sequence[Any], agents: Mapping[str, str]) -> list[TableCell]:
    """Return the first cells of a row, which show its attributes: agents by displayed name, None as an empty cell."""
    return [
        agents.get(value, value) if name == "agent" else _attribute_cell(value)
        for name, value in zip(names, key, strict=True)
    ]


def _attribute_cell(value: Any) -> TableCell:
    if value is None:
        return ""
    return value if isinstance(value, (str, int, float)) and not isinstance(value, bool) else str(value)


# --- standard tables of every experiment ----------------------------------------------------------


def settings_table(frame: ResultFrame, agents: Mapping[str, str]) -> ReportTable:
    """Return the standard table with a line for each setting (agent, parameters, budget) of each part.

    Args:
        frame: The last trial of each run.
        agents: The displayed name of each agent, by its key.
    """
    names = setting_names(frame, agents)
    learning = ("trials", "converged") if frame.numeric_column("trial").max() > 1 else ()
    lines: list[tuple[TableCell, ...]] = []
    has_parts = len(frame.rows_by_group(["part"])) > 1
    for (part,), rows in frame.iter_groups(["part"]):
        runs_of = list(rows.iter_groups(SETTING_COLUMNS))
        best = set(pareto_settings([setting_score(runs) for _, runs in runs_of]))
        for index, (key, runs) in enumerate(runs_of):
            head: tuple[TableCell, ...] = (str(part or ""),) if has_parts else ()
            taught = tuple(_TRIAL_MEANS[name].compute_value(runs) for name in learning)
            lines.append((*head, names[key], *_setting_cells(runs, index in best), *taught))
    headings = (
        "setting",
        "runs",
        "arrived",
        f"{measure_label('suboptimality')} (95 %)",
        measure_label("median suboptimality"),
        measure_label("most suboptimality"),
        measure_label("expansions/moves"),
        "most expansions in a tick",
        "back-moves, mean of runs",
        "planning us / move, pooled",
        "disqualified",
        "Pareto-optimal",
        *learning,
    )
    note = " ".join(text for text in (_LAST_TRIAL_NOTE if learning else "", _identical_runs_warning(frame)) if text)
    head = ("part",) if has_parts else ()
    return add_cell_notes(ReportTable("settings", "All settings", head + headings, tuple(lines), note))


def _identical_runs_warning(frame: ResultFrame) -> str:
    """Return a warning if the runs of any setting are identical for all seeds, else an empty text.

    If neither the agent nor the map uses random numbers, a run with another seed is a repetition and no new evidence.
    """
    settings = [
        runs for _, runs in frame.iter_groups(("part", *SETTING_COLUMNS)) if len(runs.rows_by_group(["seed"])) > 1
    ]
    problem = [name for name in PROBLEM_COLUMNS if name != "seed"]
    same = sum(len(runs.rows_by_group(problem)) == len(runs.rows_by_group([*problem, "digest"])) for runs in settings)
    if not same:
        return ""
    return (
        f"{same:,} of {len(settings):,} settings have the same runs with every seed, because nothing in them is random."
        " Intervals and p-values count these runs as different ones and are too small; remove `seeds`."
    )


def _setting_cells(runs: ResultFrame, is_best: bool) -> tuple[TableCell, ...]:
    """Return the cells after the name for one setting in the standard table of settings."""
    moves = float(np.nansum(runs.numeric_column("moves")))
    out = int(runs.numeric_column("disqualified").sum())
    return (
        len(runs),
        _run_count_cell(int(runs.numeric_column("arrived").sum()), runs.unfinished_run_count),
        bootstrap_mean(runs.numeric_column("suboptimality")),
        *(None if np.isnan(tail := measure.compute_value(runs)) else tail for measure in _SETTING_TAIL_MEASURES),
        float(np.nansum(runs.numeric_column("expansions"))) / moves if moves else None,
        int(np.nanmax(runs.numeric_column("max_expansions"))),
        float(np.nanmean(runs.numeric_column("back_moves"))),
        1000.0 * float(np.nansum(runs.numeric_column("total_ms"))) / moves if moves else None,
        f"{out} runs" if out else "",
        "*" if is_best else "",
    )


def _run_count_cell(value: int, unfinished: int) -> TableCell:
    """Return a cell with a number of runs, marked by a dagger if some of these runs did not finish."""
    return MeasuredCell(value, unfinished_count=unfinished) if unfinished else value


def comparison_table(frame: ResultFrame, agents: Mapping[str, str]) -> ReportTable:
    """Return a table that compares every setting with the best one on the same problems.

    In each part, and for each kind of random changes, the best setting has the smallest mean cost among the settings
    that arrive most often.

    Args:
        frame: The last trial of each run.
        agents: The displayed name of each agent, by its key.
    """
    names = setting_names(frame, agents)
    lines: list[tuple[TableCell, ...]] = []
    has_parts = len(frame.rows_by_group(["part"])) > 1
    for (part, *_), rows in frame.iter_groups(_CONDITION_COLUMNS):
        codes, keys = rows.group_number_of_each_row(PROBLEM_COLUMNS)
        groups = rows.rows_by_group(SETTING_COLUMNS)
        costs = {key: _costs_by_problem(rows, chosen, codes, len(keys)) for key, chosen in groups.items()}
        arrivals = {key: int(np.count_nonzero(~np.isnan(values))) for key, values in costs.items()}
        rivals = [key for key, count in arrivals.items() if count]
        if len(rivals) < 2:
            continue
        best = min(rivals, key=lambda key: (-arrivals[key], np.nanmean(costs[key])))
        for key in rivals:
            if key == best:
                continue
            comparison = compare_paired_values(costs[key], costs[best])
            head: tuple[TableCell, ...] = (str(part or ""),) if has_parts else ()
            p = "< 0.001" if comparison.p_value < 0.001 else f"{comparison.p_value:.3f}"
            count = _run_count_cell(
                comparison.count, sum(rows.select_rows(groups[side]).unfinished_run_count for side in (key, best))
            )
            lines.append(
                (
                    *head,
                    names[key],
                    names[best],
                    count,
                    comparison.mean_difference,
                    comparison.smaller_count,
                    comparison.larger_count,
                    p,
                )
            )
    headings = (
        "setting",
        "against",
        "problems",
        "costs more by (95 %)",
        "cheaper on",
        "more expensive on",
        "p (signed ranks)",
    )
    note = (
        "Each setting is compared with the cheapest of the settings that arrive most often, by the cost of the walk on"
        " the problems on which both arrive."
    )
    heads = (("part",) if has_parts else ()) + headings
    return add_cell_notes(ReportTable("comparisons", "On the same problems", heads, tuple(lines), note))


def _costs_by_problem(frame: ResultFrame, rows: Any, codes: Any, count: int) -> Any:
    """Return the cost of a setting's walk on each problem, or nan if the goal was not reached.

    Args:
        frame: A frame with the last trial of each run.
        rows: The row indices of the setting.
        codes: The number of the problem of each row of the frame.
        count: The number of problems.
    """
    costs = np.full(count, np.nan)
    costs[codes[rows]] = np.where(frame.numeric_column("arrived")[rows] > 0, frame.numeric_column("cost")[rows], np.nan)
    return costs


def disqualified_settings_table(frame: ResultFrame, cutoff: int, agents: Mapping[str, str]) -> ReportTable | None:
    """Return a table of the settings that the cut-off disqualifies, or None if there is no cut-off.

    A setting is listed if any of its runs expands more cells in a tick than the cut-off allows.
    """
    if not cutoff:
        return None
    names = setting_names(frame, agents)
    lines = []
    for key, runs in frame.iter_groups(SETTING_COLUMNS):
        above = runs.numeric_column("disqualified")
        if above.any():
            max_expansions = int(np.nanmax(runs.numeric_column("max_expansions")))
            lines.append((names[key], int(above.sum()), len(runs), max_expansions))
    title = f"Disqualified by the cut-off of {cutoff:,} expansions in a tick"
    headings = ("setting", "runs above the cut-off", "runs", "most expansions in a tick")
    return ReportTable("disqualified", title, headings, tuple(lines))


def claims_table(verdicts: Sequence[ClaimVerdict]) -> ReportTable:
    lines = [(verdict.claim.text, verdict.label, _measured_text_with_reason(verdict)) for verdict in verdicts]
    return ReportTable("claims", "Claims", ("claim", "our runs", "measured"), tuple(lines))


def _measured_text_with_reason(verdict: ClaimVerdict) -> str:
    """Return the measured numbers of a claim, followed by the reason why it does not hold, unless it holds."""
    reason = "" if verdict.holds else verdict.claim.failure_reason
    return f"{verdict.measured_text}. {reason}" if reason else verdict.measured_text
