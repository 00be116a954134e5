"""Compute the tables of a report: the tables that its specification describes, and the tables of every report."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sim.experiments.charts import labelled, number_of, result_of, worded
from sim.experiments.claims import Verdict
from sim.experiments.frame import PROBLEM, SETTING, Frame, Measure, setting_names
from sim.experiments.layout import Grouping
from sim.experiments.special import Made, limits, number_cell, payoffs
from sim.experiments.statistics import bootstrap, compare, unbeaten
from sim.experiments.tables import UNFINISHED, Cell, Measured, Table

_TRIAL_MEANS = {
    "trials": Measure("trial", "mean", ("trial",)),
    "converged": Measure("converged", "mean", ("converged",)),
}
_SETTING_TAIL_MEASURES = Measure("suboptimality", "mean", ("suboptimality",)).tails
_LAST_TRIAL_NOTE = (
    "The numbers are from the last trial of each run, except for the most expansions in a tick. Converged: the share of"
    " runs whose last trial changed no learned value."
)
_TAILS_NOTE = "In brackets: median and maximum of the runs."
_UNFINISHED = (
    f"{UNFINISHED} Some of these runs did not finish: they have no cost / optimal, and their other numbers count only"
    " up to their end."
)
# columns that must be equal in compared runs: the part of the experiment, and the random changes of the map
_CONDITION_COLUMNS = ("part", "every", "rate")


def grouping_table(number: int, grouping: Grouping, frame: Frame, agents: Mapping[str, str]) -> Table:
    """Return a table that a specification describes, with numbers printed in the paper next to measured numbers.

    Args:
        number: The number of the table in the report.
        grouping: The description of the table.
        frame: The results.
        agents: The displayed name of each agent, by its key.
    """
    chosen = frame.where(grouping.where)
    if grouping.limit is not None:
        made = limits(grouping, grouping.limit, chosen, agents)
    elif grouping.against is not None:
        made = payoffs(grouping, chosen, frame.where(grouping.against), agents)
    else:
        made = _grouped(grouping, chosen, agents)
    headings, rows = made
    title = grouping.title or ", ".join(value.text for value in grouping.values)
    printed = [
        (f"{name} (printed)", *_printed_cells(headings, grouping, of)) for name, of in grouping.printed_rows.items()
    ]
    return annotated(Table(f"table-{number}", title, headings, (*rows, *printed), grouping.note))


def annotated(table: Table) -> Table:
    """Return a table with a note that explains the brackets and daggers in its cells, if there are any."""
    cells = [cell for row in table.rows for cell in row if isinstance(cell, Measured)]
    notes = [_TAILS_NOTE] if any(cell.tails for cell in cells) else []
    notes += [_UNFINISHED] if any(cell.unfinished for cell in cells) else []
    return replace(table, note=" ".join(filter(None, [table.note, *notes])))


def _grouped(grouping: Grouping, frame: Frame, agents: Mapping[str, str]) -> Made:
    """Return the headings and rows of a table with a row for each group of runs."""
    columns = list(frame.group_rows(grouping.columns)) if grouping.columns else [()]
    headings: list[str] = [*grouping.rows]
    for column in columns:
        for value in grouping.values:
            name = labelled(grouping.columns, column, agents) if column else worded(value.text)
            headings.append(f"{name}: {worded(value.text)}" if column and len(grouping.values) > 1 else name)
            if grouping.printed.get(_place(grouping, column, value)):
                headings += ["printed", "deviation"]
    rows: list[tuple[Cell, ...]] = [
        (*_head(grouping.rows, key, agents), *_cells(part, columns, grouping))
        for key, part in sorted_groups(frame, grouping.rows)
    ]
    return tuple(headings), rows


def _place(grouping: Grouping, column: Sequence[Any], value: Measure) -> str:
    """Return the key in `printed` under which the specification lists the paper's numbers for a column.

    The key consists of the values of the column attributes, the name of the measure, or both.
    """
    words = [_text(column)] if column else []
    if not column or len(grouping.values) > 1:
        words.append(value.text)
    return " ".join(words)


def _printed_cells(headings: Sequence[str], grouping: Grouping, numbers: Mapping[str, float]) -> Iterator[Cell]:
    """Yield the cells after the first one for a row that has only numbers printed in a paper.

    Columns of measures contain these numbers, all other columns are empty.
    """
    by_heading = {worded(value.text): numbers[value.text] for value in grouping.values if value.text in numbers}
    yield from (by_heading.get(heading, "" if heading in grouping.rows else None) for heading in headings[1:])


def sorted_groups(frame: Frame, names: Sequence[str]) -> list[tuple[tuple[Any, ...], Frame]]:
    """Return the groups of rows with equal attributes: sorted if all values are numbers, else in the frame's order."""
    groups = list(frame.groups(names))
    if all(isinstance(value, (int, float)) for key, _ in groups for value in key):
        groups.sort(key=lambda group: group[0])
    return groups


def _cells(part: Frame, columns: Sequence[tuple[Any, ...]], grouping: Grouping) -> list[Cell]:
    """Return the cells of a row with measured numbers, each followed by the paper's number and the deviation."""
    cells: list[Cell] = []
    row = _text(next(iter(part.group_rows(grouping.rows))))
    for column in columns:
        runs = part.where(dict(zip(grouping.columns, column, strict=True))) if column else part
        for value in grouping.values:
            found = number_of(value, grouping.of, runs)
            cells.append(number_cell(value, runs, grouping.values, grouping.of))
            if (printed := grouping.printed.get(_place(grouping, column, value))) is not None:
                given = printed.get(row)
                cells += ["" if given is None else f"{given:g}", f"{100 * (found / given - 1):+.1f} %" if given else ""]
    return cells


def _text(key: Sequence[Any]) -> str:
    """Return the attribute values of a group of runs, joined by blanks as in the keys of `printed`."""
    return " ".join(str(value) for value in key)


def _head(names: Sequence[str], key: Sequence[Any], agents: Mapping[str, str]) -> list[Cell]:
    """Return the first cells of a row, which show its attributes: agents by displayed name, None as an empty cell."""
    return [
        agents.get(value, value) if name == "agent" else _plain(value) for name, value in zip(names, key, strict=True)
    ]


def _plain(value: Any) -> Cell:
    if value is None:
        return ""
    return value if isinstance(value, (str, int, float)) and not isinstance(value, bool) else str(value)


# --- standard tables of every experiment ----------------------------------------------------------


def settings_table(frame: Frame, agents: Mapping[str, str]) -> Table:
    """Return the standard table with a line for each setting (agent, parameters, budget) of each part.

    Args:
        frame: The last trial of each run.
        agents: The displayed name of each agent, by its key.
    """
    names = setting_names(frame, agents)
    learning = ("trials", "converged") if frame.numbers("trial").max() > 1 else ()
    lines: list[tuple[Cell, ...]] = []
    has_parts = len(frame.group_rows(["part"])) > 1
    for (part,), rows in frame.groups(["part"]):
        runs_of = list(rows.groups(SETTING))
        best = set(unbeaten([result_of(runs) for _, runs in runs_of]))
        for index, (key, runs) in enumerate(runs_of):
            head: tuple[Cell, ...] = (str(part or ""),) if has_parts else ()
            taught = tuple(_TRIAL_MEANS[name].of(runs) for name in learning)
            lines.append((*head, names[key], *_setting_cells(runs, index in best), *taught))
    headings = (
        "setting",
        "runs",
        "arrived",
        f"{worded('suboptimality')} (95 %)",
        worded("median suboptimality"),
        worded("most suboptimality"),
        worded("expansions/moves"),
        "most expansions in a tick",
        "back-moves, mean of runs",
        "planning us / move, pooled",
        "disqualified",
        "Pareto-optimal",
        *learning,
    )
    note = " ".join(text for text in (_LAST_TRIAL_NOTE if learning else "", _seeds_warning(frame)) if text)
    head = ("part",) if has_parts else ()
    return annotated(Table("settings", "All settings", head + headings, tuple(lines), note))


def _seeds_warning(frame: Frame) -> str:
    """Return a warning if the runs of any setting are identical for all seeds, else an empty text.

    If neither the agent nor the map uses random numbers, a run with another seed is a repetition and no new evidence.
    """
    settings = [runs for _, runs in frame.groups(("part", *SETTING)) if len(runs.group_rows(["seed"])) > 1]
    problem = [name for name in PROBLEM if name != "seed"]
    same = sum(len(runs.group_rows(problem)) == len(runs.group_rows([*problem, "digest"])) for runs in settings)
    if not same:
        return ""
    return (
        f"{same:,} of {len(settings):,} settings have the same runs with every seed, because nothing in them is random."
        " Intervals and p-values count these runs as different ones and are too small; remove `seeds`."
    )


def _setting_cells(runs: Frame, is_best: bool) -> tuple[Cell, ...]:
    """Return the cells after the name for one setting in the standard table of settings."""
    moves = float(np.nansum(runs.numbers("moves")))
    out = int(runs.numbers("disqualified").sum())
    return (
        len(runs),
        _marked_count(int(runs.numbers("arrived").sum()), runs.unfinished),
        bootstrap(runs.numbers("suboptimality")),
        *(None if np.isnan(tail := measure.of(runs)) else tail for measure in _SETTING_TAIL_MEASURES),
        float(np.nansum(runs.numbers("expansions"))) / moves if moves else None,
        int(np.nanmax(runs.numbers("max_expansions"))),
        float(np.nanmean(runs.numbers("back_moves"))),
        1000.0 * float(np.nansum(runs.numbers("total_ms"))) / moves if moves else None,
        f"{out} runs" if out else "",
        "*" if is_best else "",
    )


def _marked_count(value: int, unfinished: int) -> Cell:
    """Return a cell with a number of runs, marked by a dagger if some of these runs did not finish."""
    return Measured(value, unfinished=unfinished) if unfinished else value


def comparison_table(frame: Frame, agents: Mapping[str, str]) -> Table:
    """Return a table that compares every setting with the best one on the same problems.

    In each part, and for each kind of random changes, the best setting has the smallest mean cost among the settings
    that arrive most often.

    Args:
        frame: The last trial of each run.
        agents: The displayed name of each agent, by its key.
    """
    names = setting_names(frame, agents)
    lines: list[tuple[Cell, ...]] = []
    has_parts = len(frame.group_rows(["part"])) > 1
    for (part, *_), rows in frame.groups(_CONDITION_COLUMNS):
        codes, keys = rows.codes(PROBLEM)
        groups = rows.group_rows(SETTING)
        costs = {key: _costs_by_problem(rows, chosen, codes, len(keys)) for key, chosen in groups.items()}
        arrivals = {key: int(np.count_nonzero(~np.isnan(values))) for key, values in costs.items()}
        rivals = [key for key, count in arrivals.items() if count]
        if len(rivals) < 2:
            continue
        best = min(rivals, key=lambda key: (-arrivals[key], np.nanmean(costs[key])))
        for key in rivals:
            if key == best:
                continue
            found = compare(costs[key], costs[best])
            head: tuple[Cell, ...] = (str(part or ""),) if has_parts else ()
            p = "< 0.001" if found.p_value < 0.001 else f"{found.p_value:.3f}"
            count = _marked_count(found.count, sum(rows.take(groups[side]).unfinished for side in (key, best)))
            lines.append((*head, names[key], names[best], count, found.difference, found.wins, found.losses, p))
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
    return annotated(Table("comparisons", "On the same problems", heads, tuple(lines), note))


def _costs_by_problem(frame: Frame, rows: Any, codes: Any, count: int) -> Any:
    """Return the cost of a setting's walk on each problem, or nan if the goal was not reached.

    Args:
        frame: A frame with the last trial of each run.
        rows: The row indices of the setting.
        codes: The number of the problem of each row of the frame.
        count: The number of problems.
    """
    costs = np.full(count, np.nan)
    costs[codes[rows]] = np.where(frame.numbers("arrived")[rows] > 0, frame.numbers("cost")[rows], np.nan)
    return costs


def cutoff_table(frame: Frame, cutoff: int, agents: Mapping[str, str]) -> Table | None:
    """Return a table of the settings that the cut-off disqualifies, or None if there is no cut-off.

    A setting is listed if any of its runs expands more cells in a tick than the cut-off allows.
    """
    if not cutoff:
        return None
    names = setting_names(frame, agents)
    lines = []
    for key, runs in frame.groups(SETTING):
        above = runs.numbers("disqualified")
        if above.any():
            most = int(np.nanmax(runs.numbers("max_expansions")))
            lines.append((names[key], int(above.sum()), len(runs), most))
    title = f"Disqualified by the cut-off of {cutoff:,} expansions in a tick"
    headings = ("setting", "runs above the cut-off", "runs", "most expansions in a tick")
    return Table("disqualified", title, headings, tuple(lines))


def claims_table(verdicts: Sequence[Verdict]) -> Table:
    lines = [
        (
            verdict.claim.text,
            verdict.word,
            verdict.measured + (f". {verdict.claim.why}" if verdict.claim.why else ""),
        )
        for verdict in verdicts
    ]
    return Table("claims", "Claims", ("claim", "our runs", "measured"), tuple(lines))
