"""Compute the content of figures as plain numbers; other modules draw the figures in files or in the window."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from experiments.columns import AXIS_LABELS, NUMERIC_COLUMNS, RATIO_COLUMNS, TEXT_COLUMNS
from experiments.report_layout import FigureSpec
from experiments.result_frame import (
    SETTING_COLUMNS,
    SUMMARY_FUNCTIONS,
    SUMMARY_NAMES,
    ResultFrame,
    ResultMeasure,
    RunFilter,
    parse_measure,
    setting_names,
)
from experiments.statistics import SettingScore, bootstrap_mean, equally_filled_bin_edges, pareto_settings
from sim.map_generators import generate_map

Point = tuple[float, float]
_MEAN_SUFFIX, _RUN_SUFFIX, _POOLED_SUFFIX = ", mean of runs", " of a run", ", pooled"
_MAX_SERIES = 14  # maximum number of curves in a figure; readers cannot distinguish more


@dataclass(frozen=True)
class ChartSeries:
    """Points of a chart with one legend entry, such as one curve."""

    name: str  # name of the series in the legend
    points: tuple[Point, ...]
    intervals: tuple[
        Point, ...
    ] = ()  # (low, high) of the confidence interval of y, for each point; empty: no intervals
    medians_and_maxima: tuple[
        Point, ...
    ] = ()  # (median, maximum) of the runs, for each point whose y is their mean cost ratio
    point_names: tuple[str, ...] = ()  # name of the setting behind each point; empty: points have no names
    has_lines: bool = True  # whether points are joined by lines
    # Whether the series is drawn as horizontal steps, with a point at the middle of each step.
    is_histogram: bool = False
    # Whether the series is drawn as grey rings behind the other series, as Pareto fronts are.
    is_background: bool = False
    is_printed: bool = False  # whether the points are numbers printed in a paper, drawn hollow and dotted
    is_unfinished: tuple[bool, ...] = ()  # for each point, whether any of the averaged runs did not finish
    style_index: int = -1  # index of the colour and marker; -1: the index of the series in the chart


@dataclass(frozen=True)
class ChartData:
    """Content of a figure: its series of points, labels and axes."""

    name: str  # name of the figure's files without extension
    title: str
    x: str  # label of the x axis
    y: str  # label of the y axis
    series: tuple[ChartSeries, ...]
    log_axes: str = "none"  # axes with logarithmic scale: x, y, xy or none
    note: str = ""
    axis_limits: Mapping[str, Point] = field(default_factory=dict)  # axis x or y -> (low, high) of its limits
    map_rows: tuple[str, ...] = ()  # rows of terrain letters of a map drawn behind the series; empty: no map


def measure_label(measure: str) -> str:
    """Return the displayed name of a measure on axes and in headings; different measures have different names.

    Names of quotients end in "mean of runs", or in "pooled" if one sum over all runs is divided by another.
    """
    word, _, column = measure.partition(" ")
    if column and word in SUMMARY_FUNCTIONS:
        return f"{SUMMARY_NAMES.get(word, word)} {column_label(column)}"
    if measure in RATIO_COLUMNS:
        return f"{RATIO_COLUMNS[measure]}{_MEAN_SUFFIX}"
    return f"{_axis_label(measure)}{_POOLED_SUFFIX if '/' in measure else ''}"


def column_label(column: str) -> str:
    """Return the displayed name of a result column, marked as "of a run" if the column is a quotient per run."""
    return f"{RATIO_COLUMNS[column]}{_RUN_SUFFIX}" if column in RATIO_COLUMNS else _axis_label(column)


def _axis_label(text: str) -> str:
    return AXIS_LABELS.get(text, text.replace("/", " / ").replace("_", " "))


def group_label(names: Sequence[str], key: Sequence[Any], agents: Mapping[str, str]) -> str:
    """Return a displayed name for a group of runs: the agent's name, and other attributes as name=value.

    Args:
        names: The attributes.
        key: Their values.
        agents: The displayed name of each agent, by its key.
    """
    parts = []
    for name, value in zip(names, key, strict=True):
        if value in (None, ""):
            continue
        parts.append(agents.get(str(value), str(value)) if name == "agent" else _attribute_text(name, value))
    return " ".join(parts) or "all"


def _attribute_text(name: str, value: Any) -> str:
    """Return one attribute of a group of runs as text for the name of the group, such as budget=16."""
    if name in ("part", "map", "label"):
        return str(value)
    return f"{name}={value:,}" if isinstance(value, int) and not isinstance(value, bool) else f"{name}={value}"


# --- figures that a specification asks for --------------------------------------------------------


def chart_of_figure(figure: FigureSpec, frame: ResultFrame, agents: Mapping[str, str]) -> ChartData:
    if figure.kind == "map":
        return _map_chart(figure)
    chosen = frame.filter_rows(figure.run_filter)
    make = {"scatter": _scatter_series, "lines": _line_series, "histogram": _histogram_series}[figure.kind]
    series = list(make(figure, chosen, agents))
    if figure.level_filter is not None:
        series += _horizontal_line_series(
            figure, frame.filter_rows({**figure.run_filter, **figure.level_filter}), series, agents
        )
    series += _printed_series(figure, [curve.name for curve in series])
    y = measure_label(figure.y if figure.kind != "histogram" else "share of runs")
    if figure.quotient_sides:
        y = f"{y}: {' / '.join(_selection_label(side, agents) for side in figure.quotient_sides)}"
    x = measure_label(figure.x) if figure.kind == "scatter" else column_label(figure.x)
    note = " ".join(text for text in (figure.note, _maxima_note(series)) if text)
    chart = ChartData(figure.name, figure.title, x, y, tuple(series), figure.log_axes, note)
    return clip_chart(chart, figure.axis_limits) if figure.axis_limits else chart


def _maxima_note(series: Sequence[ChartSeries]) -> str:
    """Return the maximum of each series as text, because one extreme run would compress the axis of a chart."""
    maxima = [
        f"{curve.name} {max(maximum for _, maximum in curve.medians_and_maxima):.4g}"
        for curve in series
        if curve.medians_and_maxima
    ]
    return f"Maximum of a run: {', '.join(maxima)}." if maxima else ""


def _selection_label(side: Mapping[str, Any], agents: Mapping[str, str]) -> str:
    """Return a short name for a selection of runs: the attribute values that it selects, joined by blanks."""
    return " ".join(agents.get(str(value), str(value)) for value in side.values())


def clip_chart(chart: ChartData, zoom: Mapping[str, Point]) -> ChartData:
    """Return a chart without the points outside axis limits; the note of the chart says how many were left out.

    Args:
        chart: The chart.
        zoom: The limits of the axes "x" and "y".
    """
    limits = [zoom.get(axis, (-float("inf"), float("inf"))) for axis in "xy"]
    series = [_clip_series(series, limits) for series in chart.series]
    left = sum(len(a.points) - len(b.points) for a, b in zip(chart.series, series, strict=True))
    note = " ".join(text for text in (chart.note, f"{left:,} points are outside the limits." if left else "") if text)
    return replace(chart, series=tuple(series), note=note, axis_limits=zoom)


def _clip_series(series: ChartSeries, limits: Sequence[Point]) -> ChartSeries:
    """Return a series without the points outside the limits of the axes x and y."""
    indices = [
        i
        for i, point in enumerate(series.points)
        if all(low <= value <= high for value, (low, high) in zip(point, limits, strict=True))
    ]
    return replace(
        series,
        points=tuple(series.points[i] for i in indices),
        intervals=tuple(series.intervals[i] for i in indices) if series.intervals else (),
        medians_and_maxima=tuple(series.medians_and_maxima[i] for i in indices) if series.medians_and_maxima else (),
        point_names=tuple(series.point_names[i] for i in indices) if series.point_names else (),
        is_unfinished=tuple(series.is_unfinished[i] for i in indices) if series.is_unfinished else (),
    )


def _map_chart(figure: FigureSpec) -> ChartData:
    """Return a chart of a generated map with its start and goal."""
    recipe = {key: value for key, value in figure.map_recipe.items() if key != "kind"}
    generated = generate_map(figure.map_recipe["kind"], recipe, "generate")
    markers = (
        ChartSeries(name, ((float(x), float(y)),), has_lines=False)
        for name, (x, y) in (("start", generated.start), ("goal", generated.goal))
    )
    return ChartData(
        figure.name,
        figure.title,
        "x",
        "y",
        tuple(markers),
        "none",
        figure.note,
        map_rows=tuple(generated.grid.text_rows()),
    )


def _printed_series(figure: FigureSpec, names: Sequence[str]) -> Iterable[ChartSeries]:
    """Yield a series for each curve printed in a paper, in the colour of the measured series of the same name."""
    for name, points in figure.printed_curves.items():
        index = names.index(name) if name in names else -1
        yield ChartSeries(
            f"{name} (printed)", points, has_lines=figure.kind == "lines", is_printed=True, style_index=index
        )


def _parse_measure(text: str) -> ResultMeasure:
    found = parse_measure(text)
    assert isinstance(found, ResultMeasure), text
    return found


def _scatter_series(figure: FigureSpec, frame: ResultFrame, agents: Mapping[str, str]) -> Iterable[ChartSeries]:
    """Yield a scatter series for each group of runs, with a point for each setting below the cut-off."""
    x, y = _parse_measure(figure.x), _parse_measure(figure.y)
    for key, part in frame.iter_groups(figure.series_attributes):
        labels = setting_names(part, agents)
        points, tails, names, unfinished = [], [], [], []
        for setting, runs in part.iter_groups(SETTING_COLUMNS):
            point = x.compute_value(runs), y.compute_value(runs)
            is_above = (
                runs.numeric_column("max_expansions").max() > figure.cutoff
                if figure.cutoff
                else _is_setting_disqualified(runs)
            )
            if not is_above and not np.isnan(point).any():
                points.append(point)
                tails.append(_median_and_maximum_of(y, runs))
                names.append(labels[setting])
                unfinished.append(runs.unfinished_run_count > 0)
        order = sorted(range(len(points)), key=lambda i: points[i])
        yield ChartSeries(
            group_label(figure.series_attributes, key, agents),
            tuple(points[i] for i in order),
            medians_and_maxima=tuple(tails[i] for i in order) if y.median_and_maximum else (),
            point_names=tuple(names[i] for i in order),
            has_lines=False,
            is_unfinished=tuple(unfinished[i] for i in order),
        )


def _median_and_maximum_of(measure: ResultMeasure, runs: ResultFrame) -> Point:
    """Return the median and the maximum of the runs if the measure is a mean of cost ratios, else nan."""
    median, maximum = [tail.compute_value(runs) for tail in measure.median_and_maximum] or (float("nan"), float("nan"))
    return median, maximum


def _is_setting_disqualified(runs: ResultFrame) -> bool:
    """Return whether any run expands more cells in a tick than the cut-off of the specification allows."""
    return bool(runs.numeric_column("disqualified").max() > 0)


def _line_series(figure: FigureSpec, frame: ResultFrame, agents: Mapping[str, str]) -> Iterable[ChartSeries]:
    """Yield a curve for each group of runs (`figure.series_attributes`), with confidence intervals if y is a mean."""
    y = _parse_measure(figure.y)
    for key, part in frame.iter_groups(figure.series_attributes):
        groups = [(float(k[0]), runs) for k, runs in part.iter_groups([figure.x]) if isinstance(k[0], (int, float))]
        groups.sort(key=lambda group: group[0])
        points = [(x, value_of_measure(y, figure.quotient_sides, runs)) for x, runs in groups]
        spans = [_confidence_bounds(y, runs) for _, runs in groups]
        indices = [i for i, point in enumerate(points) if point[1] == point[1]]
        name = group_label(figure.series_attributes, key, agents)
        has_spans = y.kind == "mean" and not figure.quotient_sides
        yield ChartSeries(
            name,
            tuple(points[i] for i in indices),
            tuple(spans[i] for i in indices) if has_spans else (),
            tuple(_median_and_maximum_of(y, groups[i][1]) for i in indices)
            if y.median_and_maximum and not figure.quotient_sides
            else (),
            is_unfinished=tuple(unfinished_run_count(figure.quotient_sides, groups[i][1]) > 0 for i in indices),
        )


def value_of_measure(measure: ResultMeasure, sides: Sequence[RunFilter], runs: ResultFrame) -> float:
    """Return the value of a measure for some runs, or the quotient of its values for two selections of these runs.

    Args:
        measure: The measure.
        sides: Empty, or two selections of runs; the result is then the value of the first / the value of the second.
        runs: The runs.
    """
    if not sides:
        return measure.compute_value(runs)
    a, b = (measure.compute_value(runs.filter_rows(side)) for side in sides)
    return a / b if b else float("nan")


def unfinished_run_count(sides: Sequence[RunFilter], runs: ResultFrame) -> int:
    """Return how many of the runs behind a plotted number did not finish."""
    return sum(runs.filter_rows(side).unfinished_run_count for side in sides) if sides else runs.unfinished_run_count


def _horizontal_line_series(
    figure: FigureSpec, frame: ResultFrame, curves: Sequence[ChartSeries], agents: Mapping[str, str]
) -> Iterable[ChartSeries]:
    """Yield a horizontal line for each group of runs without x values, coloured like the curve of the same name."""
    xs, names = [x for curve in curves for x, _ in curve.points], [curve.name for curve in curves]
    word = _selection_label(figure.level_filter or {}, agents)
    for key, runs in frame.iter_groups(figure.series_attributes):
        name, value = group_label(figure.series_attributes, key, agents), _parse_measure(figure.y).compute_value(runs)
        if name in names and value == value and xs:
            points = ((min(xs), value), (max(xs), value))
            yield ChartSeries(f"{name}, {word}", points, style_index=names.index(name))


def _confidence_bounds(measure: ResultMeasure, runs: ResultFrame) -> Point:
    """Return (low, high) of the confidence interval of a mean, or (nan, nan) for other measures."""
    if measure.kind != "mean":
        return float("nan"), float("nan")
    interval = bootstrap_mean(runs.numeric_column(measure.names[0]))
    return interval.low, interval.high


def _histogram_series(figure: FigureSpec, frame: ResultFrame, agents: Mapping[str, str]) -> Iterable[ChartSeries]:
    """Yield a histogram for each group of runs (`figure.series_attributes`), with the share of its runs in each bin.

    All histograms have the same bins. The x of each point is the middle of its bin.
    """
    column = _parse_measure(figure.x).names[0]
    values = frame.numeric_column(column)
    values = values[~np.isnan(values)]
    if not values.size:
        return
    low, high = float(values.min()), float(values.max())
    if "x" in figure.log_axes and low > 0:
        edges = np.geomspace(low, high * 1.0001, 21)
        middles = np.sqrt(edges[:-1] * edges[1:])
    else:
        edges = np.linspace(low, high + 1e-9 + (high == low), 21)
        middles = (edges[:-1] + edges[1:]) / 2
    for key, part in frame.iter_groups(figure.series_attributes):
        counts, _ = np.histogram(part.numeric_column(column), edges)
        shares = counts / max(1, int(counts.sum()))
        points = tuple((float(x), float(y)) for x, y in zip(middles, shares, strict=True))
        yield ChartSeries(group_label(figure.series_attributes, key, agents), points, is_histogram=True)


# --- standard figures of every experiment ---------------------------------------------------------


def standard_charts(frame: ResultFrame, agents: Mapping[str, str]) -> list[ChartData]:
    """Return the standard charts of every experiment.

    These are quality against work, curves over every number that varies, a histogram of the largest tick, and the
    growth of work with path length. Charts without enough points are left out.
    """
    charts = [pareto_chart(frame, agents)]
    for name in _varying_attributes(frame):
        charts += [_chart_over_attribute(name, value, frame, agents) for value in ("suboptimality", "expansions/moves")]
    largest = FigureSpec(
        "largest-tick", "Most expansions in a tick of a run", "histogram", "max_expansions", "", ("agent",), "x"
    )
    charts.append(chart_of_figure(largest, frame, agents))
    charts.append(expansions_growth_chart(frame, agents))
    return [chart for chart in charts if any(len(series.points) > 1 or not series.has_lines for series in chart.series)]


def pareto_chart(frame: ResultFrame, agents: Mapping[str, str]) -> ChartData:
    """Return the chart of cost / optimal against expansions per move, with the Pareto-optimal settings marked."""
    figure = FigureSpec("pareto", "", "scatter", "expansions/moves", "suboptimality", ("agent",), "xy")
    chart = chart_of_figure(figure, frame, agents)
    results = [setting_score(runs) for _, runs in frame.iter_groups(SETTING_COLUMNS)]
    best = tuple(sorted({(results[i].work, results[i].cost) for i in pareto_settings(results)}))
    line = ChartSeries("Pareto-optimal", best, is_background=True)
    title = "Quality against work, one point per setting"
    return replace(chart, title=title, series=(*chart.series, line))


def setting_score(runs: ResultFrame) -> SettingScore:
    """Return work, cost and arrival rate of a setting, for ranking settings; a disqualified setting has cost nan."""
    cost = float("nan") if _is_setting_disqualified(runs) else _parse_measure("suboptimality").compute_value(runs)
    return SettingScore(
        _parse_measure("expansions/moves").compute_value(runs), cost, _parse_measure("arrived").compute_value(runs)
    )


def _varying_attributes(frame: ResultFrame) -> list[str]:
    """Return the numeric attributes of settings (budget, rate, parameters) that vary among runs of one agent."""
    params = dict.fromkeys(
        name for params in frame.param_sets for name in params if name not in NUMERIC_COLUMNS | TEXT_COLUMNS
    )
    names = ["budget", "rate", *params]
    varying = []
    for name in names:
        for _, part in frame.iter_groups(["agent"]):
            values = {key[0] for key in part.rows_by_group([name])} - {None}
            if len(values) > 1 and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values):
                varying.append(name)
                break
    return varying


def _chart_over_attribute(name: str, value: str, frame: ResultFrame, agents: Mapping[str, str]) -> ChartData:
    """Return the chart of a measure over a numeric attribute such as the budget.

    There is a curve for each agent and each combination of the other numeric attributes that vary among the runs. If
    there are more than _MAX_SERIES curves, every n-th curve is kept.

    Args:
        name: The attribute on the x axis.
        value: The measure on the y axis.
        frame: The runs.
        agents: The displayed name of each agent, by its key.
    """
    other_names = [other for other in _varying_attributes(frame) if other != name]
    grouping = ("agent", *other_names)
    figure = FigureSpec(
        f"{value.split('/')[0]}-over-{name}",
        f"{measure_label(value)}, over {column_label(name)}",
        "lines",
        name,
        value,
        grouping,
        "xy",
    )
    chart = chart_of_figure(figure, frame.select_rows(_has_value_mask(frame, name)), agents)
    curves = [series for series in chart.series if len(series.points) > 1]
    step = max(1, -(-len(curves) // _MAX_SERIES))
    drawn = curves[::step]
    notes = f"{len(drawn)} of {len(curves)} settings." if step > 1 else "", _maxima_note(drawn)
    return ChartData(chart.name, chart.title, chart.x, chart.y, tuple(drawn), "xy", " ".join(filter(None, notes)))


def _has_value_mask(frame: ResultFrame, name: str) -> Any:
    """Return a mask of the rows in which an attribute has a value."""
    return np.array([value is not None and value == value for value in frame.column_values(name).tolist()], np.bool_)


def expansions_growth_chart(frame: ResultFrame, agents: Mapping[str, str]) -> ChartData:
    """Return the chart of expansions per run over the cost of the cheapest path, averaged in equally filled bins."""
    optimal = frame.numeric_column("optimal")
    edges = equally_filled_bin_edges(optimal)
    series = []
    names = setting_names(frame, agents)
    settings = list(frame.iter_groups(SETTING_COLUMNS))
    step = max(1, -(-len(settings) // _MAX_SERIES))
    for key, runs in settings[::step]:
        lengths, work = runs.numeric_column("optimal"), runs.numeric_column("expansions")
        bin_of = np.clip(np.searchsorted(edges, lengths, "right") - 1, 0, max(0, edges.size - 2))
        filled = [i for i in range(edges.size - 1) if (bin_of == i).any() and np.isfinite(lengths[bin_of == i]).all()]
        points = tuple((float(lengths[bin_of == i].mean()), float(work[bin_of == i].mean())) for i in filled)
        unfinished = tuple(runs.select_rows(bin_of == i).unfinished_run_count > 0 for i in filled)
        series.append(ChartSeries(names[key], points, is_unfinished=unfinished))
    note = f"{len(series)} of {len(settings)} settings" if step > 1 else ""
    return ChartData(
        "growth",
        "Work over the cost of the cheapest path",
        column_label("optimal"),
        measure_label("expansions"),
        tuple(series),
        "xy",
        note,
    )
