"""Charts as SVG, PDF and PNG files by matplotlib, readable without colour and with every kind of colour vision."""

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib
import numpy as np

from experiments.report_charts import ChartData, ChartSeries
from files.disk import write_file_atomically

matplotlib.use("Agg")  # prevents matplotlib from choosing a backend with a window

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import Formatter, FuncFormatter, MaxNLocator

FORMATS = ("svg", "pdf", "png")
SIZE_IN = (6.4, 4.2)  # size of a figure in inches
DPI = 200  # resolution of PNG files
_UNFINISHED_LEGEND = "crossed: some runs unfinished"
_CROSS_STYLE: dict[str, Any] = {
    "color": "#000000",
    "linestyle": "none",
    "marker": "x",
    "markersize": 9.0,
    "markeredgewidth": 0.7,
    "zorder": 3,
}
_MEDIAN_LEGEND = "bar: median of the runs"
_MEDIAN_STYLE: dict[str, Any] = {"linestyle": "none", "marker": "_", "markersize": 9.0, "markeredgewidth": 1.1}
_MAX_LABEL_CHARS = 50  # maximum number of characters in a line of an axis label

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#8A8A00")
"""Colours of series after Okabe and Ito, distinguishable with every common kind of colour vision and by brightness."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "h", "d", "p", "8")
DASHES = ("-", "--", "-.", ":")

_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "backmove",  # fixed, so that equal charts give identical files
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "axes.grid": True,
    "grid.color": "#d9d9d9",
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "legend.fontsize": 8.0,
    "lines.linewidth": 1.3,
    "lines.markersize": 4.5,
}


def draw_chart(chart: ChartData) -> Figure:
    """Return a chart as a figure. Each series is an SVG group with the id series-NUMBER, for scripts and tests."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=SIZE_IN, layout="constrained")
        axes = figure.add_subplot()
        axes.patch.set_gid("axes")
        for number, series in enumerate(chart.series):
            if series.points:
                _draw_series(axes, number, series)
        has_medians = _draw_medians(axes, chart.series)
        _draw_crosses(axes, chart.series)
        if chart.map_rows:
            _draw_map(axes, chart.map_rows)
        _set_scales(axes, chart)
        axes.set(**{f"{axis}lim": limits for axis, limits in chart.axis_limits.items()})
        axes.set_xlabel(_literal_text(fill(chart.x, _MAX_LABEL_CHARS)))
        axes.set_ylabel(_literal_text(fill(chart.y, _MAX_LABEL_CHARS)))
        if chart.title:
            axes.set_title(_literal_text(chart.title), fontsize=10, loc="left")
        drawn = [series for series in chart.series if series.points]
        has_crosses = any(any(series.is_unfinished) for series in drawn)
        if len(drawn) > 1 or has_crosses or has_medians or any(series.name != "all" for series in drawn):
            _add_legend(axes, len(drawn) + has_crosses + has_medians)
        return figure


def _literal_text(text: str) -> str:
    """Return a text escaped so that matplotlib shows it literally.

    Otherwise `$` would begin a formula, and a label with an underscore in front would be hidden.
    """
    return f"{' ' if text.startswith('_') else ''}{text}".replace("$", r"\$")


def _draw_series(axes: Axes, number: int, series: ChartSeries) -> None:
    x, y = np.array(series.points).T
    index = number if series.style_index < 0 else series.style_index
    colour = "#555555" if series.is_background else _series_colour(number, series)
    dash = DASHES[index // len(COLOURS) % len(DASHES)] if series.style_index < 0 else DASHES[-1]
    line = dash if series.has_lines else "none"
    marker = MARKERS[index % len(MARKERS)]
    (drawn,) = axes.plot(x, y, color=colour, linestyle=line, marker=marker, label=_literal_text(series.name))
    drawn.set_gid(f"series-{number}")
    if series.is_histogram:
        drawn.set_drawstyle("steps-mid")
    if series.is_printed:
        drawn.set(markerfacecolor="white", markersize=6.0, linewidth=0.9)
    if series.is_background:  # draw quiet series as rings behind the points of other series
        drawn.set(markerfacecolor="none", marker="o", markersize=9, linewidth=0.8, zorder=1)
    if series.intervals:
        low, high = np.array(series.intervals).T
        band = axes.vlines(x, low, high, color=colour, linewidth=0.9, alpha=0.7)
        band.set_gid(f"spans-{number}")


def _series_colour(number: int, series: ChartSeries) -> str:
    """Return the colour of a series. `number`: its index in the chart."""
    return COLOURS[(number if series.style_index < 0 else series.style_index) % len(COLOURS)]


def _draw_medians(axes: Axes, all_series: Sequence[ChartSeries]) -> bool:
    """Draw the medians beside means of cost ratios as short bars, with one grey legend entry for all of them.

    Returns:
        Whether any median was drawn.
    """
    has_medians = False
    for number, series in enumerate(all_series):
        if series.medians_and_maxima:
            x = [point[0] for point in series.points]
            (drawn,) = axes.plot(
                x,
                [median for median, _ in series.medians_and_maxima],
                color=_series_colour(number, series),
                **_MEDIAN_STYLE,
            )
            drawn.set_gid(f"medians-{number}")
            has_medians = True
    if has_medians:
        axes.plot([], [], color="#555555", label=_MEDIAN_LEGEND, **_MEDIAN_STYLE)
    return has_medians


def _draw_crosses(axes: Axes, all_series: Sequence[ChartSeries]) -> None:
    """Mark points with unfinished runs by a cross; the last entry of the legend explains the crosses."""
    label = _UNFINISHED_LEGEND
    for number, series in enumerate(all_series):
        if any(series.is_unfinished):
            x, y = np.array(
                [p for p, is_marked in zip(series.points, series.is_unfinished, strict=True) if is_marked]
            ).T
            (drawn,) = axes.plot(x, y, label=label, **_CROSS_STYLE)
            drawn.set_gid(f"unfinished-{number}")
            label = "_again"  # the legend leaves out labels that begin with an underscore


def _draw_map(axes: Axes, rows: Sequence[str]) -> None:
    """Draw a map with dark blocked cells; y points down, as in map files."""
    blocked = np.array([[letter in "@OTW#" for letter in row] for row in rows])
    axes.imshow(blocked, cmap="Greys", vmin=0, vmax=1.6, interpolation="nearest", zorder=0)
    axes.grid(visible=False)
    axes.spines[["top", "right"]].set_visible(True)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))


def _set_scales(axes: Axes, chart: ChartData) -> None:
    """Set the scales and ticks of both axes; a logarithmic scale is used if it is requested and possible."""
    points = np.array([point for series in chart.series for point in series.points] or [(1.0, 1.0)])
    for letter, values, set_scale in (("x", points[:, 0], axes.set_xscale), ("y", points[:, 1], axes.set_yscale)):
        axis, is_log = axes.xaxis if letter == "x" else axes.yaxis, letter in chart.log_axes
        if is_log and (values > 0).all() and values.max() > 3 * values.min():
            set_scale("log")
            axis.set_minor_formatter(_minor_formatter(values.max() / values.min()))
        elif not chart.map_rows:
            axis.set_major_locator(MaxNLocator(7))  # at most 7 ticks, so that numbers of seven digits do not touch
        axis.set_major_formatter(FuncFormatter(_tick_label))


def _tick_label(value: float, position: int | None = None) -> str:
    """Return a value as the label of a tick on an axis."""
    return f"{value:,.10g}"


def _minor_formatter(span: float) -> Formatter:
    """Return the formatter of the ticks between powers of ten; the larger the range, the fewer ticks have a number.

    Args:
        span: The largest value on the axis divided by the smallest.
    """
    digits = (2, 3, 5) if span < 30 else (2, 5) if span < 100 else ()

    def written(value: float, position: int | None = None) -> str:
        digit = value / 10 ** np.floor(np.log10(value))
        return _tick_label(value) if any(abs(digit - d) < 1e-6 for d in digits) else ""

    return FuncFormatter(written)


def _add_legend(axes: Axes, count: int) -> None:
    columns = 1 if count <= 16 else 2
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, ncols=columns)


def figure_bytes(figure: Figure, kind: str) -> bytes:
    target = io.BytesIO()
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None, "ModDate": None}, "png": {"Software": None}}
    with matplotlib.rc_context(_STYLE):
        figure.savefig(target, format=kind, dpi=DPI, metadata=dates[kind])
    return target.getvalue()


def save_chart(chart: ChartData, folder: Path) -> Iterator[Path]:
    """Write a chart in every format; yield the path of each file."""
    figure = draw_chart(chart)
    for kind in FORMATS:
        path = folder / f"{chart.name}.{kind}"
        write_file_atomically(path, figure_bytes(figure, kind))
        yield path
