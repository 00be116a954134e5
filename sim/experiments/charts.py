"""Compute the content of figures as plain numbers; other modules draw the figures in files or in the window."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sim.experiments.columns import AXES, NUMBERS, RATIOS, WORDS
from sim.experiments.frame import KIND_WORDS, KINDS, SETTING, Frame, Measure, Where, measure_of, setting_names
from sim.experiments.layout import Figure
from sim.experiments.statistics import Result, bins, bootstrap, unbeaten
from sim.generate import generate

Point = tuple[float, float]
_MEAN_OF_RUNS, _OF_A_RUN, _POOLED = ", mean of runs", " of a run", ", pooled"
_MAX_SERIES = 14  # maximum number of curves in a figure; readers cannot distinguish more


@dataclass(frozen=True)
class Series:
    """Points of a chart with one legend entry, such as one curve."""

    name: str  # name of the series in the legend
    points: tuple[Point, ...]
    spans: tuple[Point, ...] = ()  # (low, high) of the confidence interval of y, for each point; empty: no intervals
    tails: tuple[Point, ...] = ()  # (median, maximum) of the runs, for each point whose y is their mean cost ratio
    words: tuple[str, ...] = ()  # name of the setting behind each point; empty: points have no names
    is_line: bool = True  # whether points are joined by lines
    is_steps: bool = False  # whether the series is drawn as horizontal steps, with a point at the middle of each step
    is_quiet: bool = False  # whether the series is drawn as grey rings behind the other series, as Pareto fronts are
    is_printed: bool = False  # whether the points are numbers printed in a paper, drawn hollow and dotted
    unfinished: tuple[bool, ...] = ()  # for each point, whether any of the averaged runs did not finish
    place: int = -1  # index of the colour and marker; -1: the index of the series in the chart


@dataclass(frozen=True)
class Chart:
    """Content of a figure: its series of points, labels and axes."""

    name: str  # name of the figure's files without extension
    title: str
    x: str  # label of the x axis
    y: str  # label of the y axis
    series: tuple[Series, ...]
    log: str = "none"  # axes with logarithmic scale: x, y, xy or none
    note: str = ""
    zoom: Mapping[str, Point] = field(default_factory=dict)  # axis x or y -> (low, high) of its limits
    rows: tuple[str, ...] = ()  # rows of terrain letters of a map drawn behind the series; empty: no map


def worded(measure: str) -> str:
    """Return the displayed name of a measure on axes and in headings; different measures have different names.

    Names of quotients end in "mean of runs", or in "pooled" if one sum over all runs is divided by another.
    """
    word, _, rest = measure.partition(" ")
    if rest and word in KINDS:
        return f"{KIND_WORDS.get(word, word)} {of_a_run(rest)}"
    if measure in RATIOS:
        return f"{RATIOS[measure]}{_MEAN_OF_RUNS}"
    return f"{_plain_name(measure)}{_POOLED if '/' in measure else ''}"


def of_a_run(column: str) -> str:
    """Return the displayed name of a result column, marked as "of a run" if the column is a quotient per run."""
    return f"{RATIOS[column]}{_OF_A_RUN}" if column in RATIOS else _plain_name(column)


def _plain_name(text: str) -> str:
    return AXES.get(text, text.replace("/", " / ").replace("_", " "))


def labelled(names: Sequence[str], key: Sequence[Any], agents: Mapping[str, str]) -> str:
    """Return a displayed name for a group of runs: the agent's name, and other attributes as name=value.

    Args:
        names: The attributes.
        key: Their values.
        agents: The displayed name of each agent, by its key.
    """
    words = []
    for name, value in zip(names, key, strict=True):
        if value in (None, ""):
            continue
        words.append(agents.get(str(value), str(value)) if name == "agent" else _word(name, value))
    return " ".join(words) or "all"


def _word(name: str, value: Any) -> str:
    """Return one attribute of a group of runs as text for the name of the group, such as budget=16."""
    if name in ("part", "map", "label"):
        return str(value)
    return f"{name}={value:,}" if isinstance(value, int) and not isinstance(value, bool) else f"{name}={value}"


# --- figures that a specification asks for --------------------------------------------------------


def chart_of(figure: Figure, frame: Frame, agents: Mapping[str, str]) -> Chart:
    if figure.kind == "map":
        return _map(figure)
    chosen = frame.where(figure.where)
    make = {"scatter": _scatter_series, "lines": _lines, "histogram": _histogram_series}[figure.kind]
    series = list(make(figure, chosen, agents))
    if figure.levels is not None:
        series += _level_lines(figure, frame.where({**figure.where, **figure.levels}), series, agents)
    series += _printed_series(figure, [one.name for one in series])
    y = worded(figure.y if figure.kind != "histogram" else "share of runs")
    if figure.of:
        y = f"{y}: {' / '.join(_side(side, agents) for side in figure.of)}"
    x = worded(figure.x) if figure.kind == "scatter" else of_a_run(figure.x)
    note = " ".join(text for text in (figure.note, _maxima_note(series)) if text)
    chart = Chart(figure.name, figure.title, x, y, tuple(series), figure.log, note)
    return zoomed(chart, figure.zoom) if figure.zoom else chart


def _maxima_note(series: Sequence[Series]) -> str:
    """Return the maximum of each series as text, because one extreme run would compress the axis of a chart."""
    maxima = [f"{one.name} {max(most for _, most in one.tails):.4g}" for one in series if one.tails]
    return f"Maximum of a run: {', '.join(maxima)}." if maxima else ""


def _side(side: Mapping[str, Any], agents: Mapping[str, str]) -> str:
    """Return a short name for a selection of runs: the attribute values that it selects, joined by blanks."""
    return " ".join(agents.get(str(value), str(value)) for value in side.values())


def zoomed(chart: Chart, zoom: Mapping[str, Point]) -> Chart:
    """Return a chart without the points outside axis limits; the note of the chart says how many were left out.

    Args:
        chart: The chart.
        zoom: The limits of the axes "x" and "y".
    """
    limits = [zoom.get(axis, (-float("inf"), float("inf"))) for axis in "xy"]
    series = [_within(series, limits) for series in chart.series]
    left = sum(len(a.points) - len(b.points) for a, b in zip(chart.series, series, strict=True))
    note = " ".join(text for text in (chart.note, f"{left:,} points are outside the limits." if left else "") if text)
    return replace(chart, series=tuple(series), note=note, zoom=zoom)


def _within(series: Series, limits: Sequence[Point]) -> Series:
    """Return a series without the points outside the limits of the axes x and y."""
    indices = [
        i
        for i, point in enumerate(series.points)
        if all(low <= value <= high for value, (low, high) in zip(point, limits, strict=True))
    ]
    return replace(
        series,
        points=tuple(series.points[i] for i in indices),
        spans=tuple(series.spans[i] for i in indices) if series.spans else (),
        tails=tuple(series.tails[i] for i in indices) if series.tails else (),
        words=tuple(series.words[i] for i in indices) if series.words else (),
        unfinished=tuple(series.unfinished[i] for i in indices) if series.unfinished else (),
    )


def _map(figure: Figure) -> Chart:
    """Return a chart of a generated map with its start and goal."""
    recipe = {key: value for key, value in figure.generate.items() if key != "kind"}
    made = generate(figure.generate["kind"], recipe, "generate")
    ends = (
        Series(name, ((float(x), float(y)),), is_line=False)
        for name, (x, y) in (("start", made.start), ("goal", made.goal))
    )
    return Chart(figure.name, figure.title, "x", "y", tuple(ends), "none", figure.note, rows=tuple(made.grid.rows()))


def _printed_series(figure: Figure, names: Sequence[str]) -> Iterable[Series]:
    """Yield a series for each curve printed in a paper, in the colour of the measured series of the same name."""
    for name, points in figure.printed.items():
        place = names.index(name) if name in names else -1
        yield Series(f"{name} (printed)", points, is_line=figure.kind == "lines", is_printed=True, place=place)


def _measure(text: str) -> Measure:
    found = measure_of(text)
    assert isinstance(found, Measure), text
    return found


def _scatter_series(figure: Figure, frame: Frame, agents: Mapping[str, str]) -> Iterable[Series]:
    """Yield a scatter series for each value of `figure.by`, with a point for each setting below the cut-off."""
    x, y = _measure(figure.x), _measure(figure.y)
    for key, part in frame.groups(figure.by):
        words = setting_names(part, agents)
        points, tails, names, unfinished = [], [], [], []
        for setting, runs in part.groups(SETTING):
            point = x.of(runs), y.of(runs)
            is_above = runs.numbers("max_expansions").max() > figure.cutoff if figure.cutoff else _is_disqualified(runs)
            if not is_above and not np.isnan(point).any():
                points.append(point)
                tails.append(_tails_of(y, runs))
                names.append(words[setting])
                unfinished.append(runs.unfinished > 0)
        order = sorted(range(len(points)), key=lambda i: points[i])
        yield Series(
            labelled(figure.by, key, agents),
            tuple(points[i] for i in order),
            tails=tuple(tails[i] for i in order) if y.tails else (),
            words=tuple(names[i] for i in order),
            is_line=False,
            unfinished=tuple(unfinished[i] for i in order),
        )


def _tails_of(measure: Measure, runs: Frame) -> Point:
    """Return the median and the maximum of the runs if the measure is a mean of cost ratios, else nan."""
    median, maximum = [tail.of(runs) for tail in measure.tails] or (float("nan"), float("nan"))
    return median, maximum


def _is_disqualified(runs: Frame) -> bool:
    """Return whether any run expands more cells in a tick than the cut-off of the specification allows."""
    return bool(runs.numbers("disqualified").max() > 0)


def _lines(figure: Figure, frame: Frame, agents: Mapping[str, str]) -> Iterable[Series]:
    """Yield a curve for each value of `figure.by`, with confidence intervals if y is a mean."""
    y = _measure(figure.y)
    for key, part in frame.groups(figure.by):
        groups = [(float(k[0]), runs) for k, runs in part.groups([figure.x]) if isinstance(k[0], (int, float))]
        groups.sort(key=lambda group: group[0])
        points = [(x, number_of(y, figure.of, runs)) for x, runs in groups]
        spans = [_span(y, runs) for _, runs in groups]
        kept = [i for i, point in enumerate(points) if point[1] == point[1]]
        name = labelled(figure.by, key, agents)
        has_spans = y.kind == "mean" and not figure.of
        yield Series(
            name,
            tuple(points[i] for i in kept),
            tuple(spans[i] for i in kept) if has_spans else (),
            tuple(_tails_of(y, groups[i][1]) for i in kept) if y.tails and not figure.of else (),
            unfinished=tuple(unfinished_of(figure.of, groups[i][1]) > 0 for i in kept),
        )


def number_of(measure: Measure, sides: Sequence[Where], runs: Frame) -> float:
    """Return the value of a measure for some runs, or the quotient of its values for two selections of these runs.

    Args:
        measure: The measure.
        sides: Empty, or two selections of runs; the result is then the value of the first / the value of the second.
        runs: The runs.
    """
    if not sides:
        return measure.of(runs)
    a, b = (measure.of(runs.where(side)) for side in sides)
    return a / b if b else float("nan")


def unfinished_of(sides: Sequence[Where], runs: Frame) -> int:
    """Return how many of the runs behind a plotted number did not finish."""
    return sum(runs.where(side).unfinished for side in sides) if sides else runs.unfinished


def _level_lines(figure: Figure, frame: Frame, curves: Sequence[Series], agents: Mapping[str, str]) -> Iterable[Series]:
    """Yield a horizontal line for each group of runs without x values, coloured like the curve of the same name."""
    xs, names = [x for curve in curves for x, _ in curve.points], [curve.name for curve in curves]
    word = _side(figure.levels or {}, agents)
    for key, runs in frame.groups(figure.by):
        name, value = labelled(figure.by, key, agents), _measure(figure.y).of(runs)
        if name in names and value == value and xs:
            points = ((min(xs), value), (max(xs), value))
            yield Series(f"{name}, {word}", points, place=names.index(name))


def _span(measure: Measure, runs: Frame) -> Point:
    """Return (low, high) of the confidence interval of a mean, or (nan, nan) for other measures."""
    if measure.kind != "mean":
        return float("nan"), float("nan")
    interval = bootstrap(runs.numbers(measure.names[0]))
    return interval.low, interval.high


def _histogram_series(figure: Figure, frame: Frame, agents: Mapping[str, str]) -> Iterable[Series]:
    """Yield a histogram for each value of `figure.by`, with the share of its runs in each bin.

    All histograms have the same bins. The x of each point is the middle of its bin.
    """
    column = _measure(figure.x).names[0]
    values = frame.numbers(column)
    values = values[~np.isnan(values)]
    if not values.size:
        return
    low, high = float(values.min()), float(values.max())
    if "x" in figure.log and low > 0:
        edges = np.geomspace(low, high * 1.0001, 21)
        middles = np.sqrt(edges[:-1] * edges[1:])
    else:
        edges = np.linspace(low, high + 1e-9 + (high == low), 21)
        middles = (edges[:-1] + edges[1:]) / 2
    for key, part in frame.groups(figure.by):
        counts, _ = np.histogram(part.numbers(column), edges)
        shares = counts / max(1, int(counts.sum()))
        points = tuple((float(x), float(y)) for x, y in zip(middles, shares, strict=True))
        yield Series(labelled(figure.by, key, agents), points, is_steps=True)


# --- standard figures of every experiment ---------------------------------------------------------


def usual(frame: Frame, agents: Mapping[str, str]) -> list[Chart]:
    """Return the standard charts of every experiment.

    These are quality against work, curves over every number that varies, a histogram of the largest tick, and the
    growth of work with path length. Charts without enough points are left out.
    """
    charts = [front(frame, agents)]
    for name in _varying_names(frame):
        charts += [_chart_over(name, value, frame, agents) for value in ("suboptimality", "expansions/moves")]
    largest = Figure(
        "largest-tick", "Most expansions in a tick of a run", "histogram", "max_expansions", "", ("agent",), "x"
    )
    charts.append(chart_of(largest, frame, agents))
    charts.append(growth(frame, agents))
    return [chart for chart in charts if any(len(series.points) > 1 or not series.is_line for series in chart.series)]


def front(frame: Frame, agents: Mapping[str, str]) -> Chart:
    """Return the chart of cost / optimal against expansions per move, with the Pareto-optimal settings marked."""
    figure = Figure("pareto", "", "scatter", "expansions/moves", "suboptimality", ("agent",), "xy")
    chart = chart_of(figure, frame, agents)
    results = [result_of(runs) for _, runs in frame.groups(SETTING)]
    best = tuple(sorted({(results[i].work, results[i].cost) for i in unbeaten(results)}))
    line = Series("Pareto-optimal", best, is_quiet=True)
    title = "Quality against work, one point per setting"
    return replace(chart, title=title, series=(*chart.series, line))


def result_of(runs: Frame) -> Result:
    """Return work, cost and arrival rate of a setting, for ranking settings; a disqualified setting has cost nan."""
    cost = float("nan") if _is_disqualified(runs) else _measure("suboptimality").of(runs)
    return Result(_measure("expansions/moves").of(runs), cost, _measure("arrived").of(runs))


def _varying_names(frame: Frame) -> list[str]:
    """Return the numeric attributes of settings (budget, rate, parameters) that vary among runs of one agent."""
    params = dict.fromkeys(name for params in frame.params for name in params if name not in NUMBERS | WORDS)
    names = ["budget", "rate", *params]
    found = []
    for name in names:
        for _, part in frame.groups(["agent"]):
            values = {key[0] for key in part.group_rows([name])} - {None}
            if len(values) > 1 and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values):
                found.append(name)
                break
    return found


def _chart_over(name: str, value: str, frame: Frame, agents: Mapping[str, str]) -> Chart:
    """Return the chart of a measure over a numeric attribute such as the budget.

    There is a curve for each agent and each combination of the other numeric attributes that vary among the runs. If
    there are more than _MAX_SERIES curves, every n-th curve is kept.

    Args:
        name: The attribute on the x axis.
        value: The measure on the y axis.
        frame: The runs.
        agents: The displayed name of each agent, by its key.
    """
    rest = [other for other in _varying_names(frame) if other != name]
    by = ("agent", *rest)
    figure = Figure(
        f"{value.split('/')[0]}-over-{name}", f"{worded(value)}, over {of_a_run(name)}", "lines", name, value, by, "xy"
    )
    chart = chart_of(figure, frame.take(_has_value(frame, name)), agents)
    curves = [series for series in chart.series if len(series.points) > 1]
    step = max(1, -(-len(curves) // _MAX_SERIES))
    kept = curves[::step]
    notes = f"{len(kept)} of {len(curves)} settings." if step > 1 else "", _maxima_note(kept)
    return Chart(chart.name, chart.title, chart.x, chart.y, tuple(kept), "xy", " ".join(filter(None, notes)))


def _has_value(frame: Frame, name: str) -> Any:
    """Return a mask of the rows in which an attribute has a value."""
    return np.array([value is not None and value == value for value in frame.column(name).tolist()], np.bool_)


def growth(frame: Frame, agents: Mapping[str, str]) -> Chart:
    """Return the chart of expansions per run over the cost of the cheapest path, averaged in equally filled bins."""
    optimal = frame.numbers("optimal")
    edges = bins(optimal)
    series = []
    names = setting_names(frame, agents)
    settings = list(frame.groups(SETTING))
    step = max(1, -(-len(settings) // _MAX_SERIES))
    for key, runs in settings[::step]:
        lengths, work = runs.numbers("optimal"), runs.numbers("expansions")
        bin_of = np.clip(np.searchsorted(edges, lengths, "right") - 1, 0, max(0, edges.size - 2))
        filled = [i for i in range(edges.size - 1) if (bin_of == i).any() and np.isfinite(lengths[bin_of == i]).all()]
        points = tuple((float(lengths[bin_of == i].mean()), float(work[bin_of == i].mean())) for i in filled)
        unfinished = tuple(runs.take(bin_of == i).unfinished > 0 for i in filled)
        series.append(Series(names[key], points, unfinished=unfinished))
    note = f"{len(series)} of {len(settings)} settings" if step > 1 else ""
    return Chart(
        "growth",
        "Work over the cost of the cheapest path",
        of_a_run("optimal"),
        worded("expansions"),
        tuple(series),
        "xy",
        note,
    )
