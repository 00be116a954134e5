"""Export of the sidebar's charts: SVG for papers, PNG for slides, CSV for other tools."""

from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
import pygame

from files.csv_text import CsvCell, format_csv
from files.disk import write_file_atomically
from files.png import png_bytes
from ui.draw.svg_paths import hex_code_of_colour, short_decimal_text
from ui.draw.theme import SERIES
from ui.panels import charts, panel_mark
from ui.panels.charts import ChartLine, TimeChart
from ui.panels.view_context import ViewContext
from ui.widgets.canvas import Canvas

CHART_FILE_SUFFIXES = (".svg", ".png", ".csv")
# Width and height of a chart and height of the legend, in design units.
CHART_WIDTH, CHART_HEIGHT, CHART_LEGEND_HEIGHT = 640, 240, 28
PNG_PIXELS_PER_UNIT = 2.0  # pixels per design unit in PNG files


def save_charts(desk: ViewContext, path: Path) -> None:
    """Write all visible charts to one file, with all values up to the current tick.

    Args:
        desk: View context.
        path: Target file; its suffix, one of SUFFIXES, determines the format.
    """
    charts.compute_missing_chart_values(desk)
    make = {".svg": _charts_as_svg, ".png": _charts_as_png, ".csv": _charts_as_csv}[path.suffix.lower()]
    write_file_atomically(path, make(desk))


def _charts_as_csv(desk: ViewContext) -> bytes:
    """Return the charts as CSV text with one row per value: chart, panel, agent, tick or trial number, value."""
    return format_csv(("chart", "panel", "agent", "tick", "value"), _chart_csv_rows(desk)).encode()


def _chart_csv_rows(desk: ViewContext) -> Iterator[tuple[CsvCell, ...]]:
    for chart in charts.shown_charts(desk):
        for line in charts.chart_lines(desk, chart):
            numbers = range(line.first, line.last_tick_or_trial + 1)
            for number, value in zip(numbers, line.values.tolist(), strict=True):
                yield chart.key, line.panel_index + 1, line.label, number, _csv_number(value)


def _csv_number(value: float) -> CsvCell:
    """Return a value rounded to ten digits, or None if it is infinite, such as a distance without a path."""
    if not np.isfinite(value):
        return None
    short = float(f"{value:.10g}")
    return int(short) if short.is_integer() else short


# --- pictures -------------------------------------------------------------------------------------


def _charts_as_png(desk: ViewContext) -> bytes:
    """Return the charts as a PNG file, drawn as in the window but PNG_PIXELS_PER_UNIT times as large."""
    shown_charts = charts.shown_charts(desk)
    size = (
        round(CHART_WIDTH * PNG_PIXELS_PER_UNIT),
        round((CHART_LEGEND_HEIGHT + CHART_HEIGHT * len(shown_charts)) * PNG_PIXELS_PER_UNIT),
    )
    surface, before = pygame.Surface(size, 0, 32), desk.canvas
    surface.fill(desk.palette.surface)
    desk.canvas = Canvas()
    desk.canvas.accepts_mouse_input = False
    desk.canvas.begin_frame(surface, desk.palette, PNG_PIXELS_PER_UNIT, (-1, -1))
    px = desk.canvas.to_px
    left = px(12)
    for index, panel in enumerate(desk.session.run.panels):
        left = panel_mark.draw_panel_mark(desk.canvas, left, px(CHART_LEGEND_HEIGHT) // 2, index) + px(6)
        left += desk.canvas.draw_text(
            (left, px(CHART_LEGEND_HEIGHT) // 2), panel.displayed_agent.label, size=13, middle=True
        ) + px(16)
    for i, chart in enumerate(shown_charts):
        charts.draw_chart(
            desk,
            (px(12), px(CHART_LEGEND_HEIGHT + i * CHART_HEIGHT), px(CHART_WIDTH - 24), px(CHART_HEIGHT - 10)),
            chart,
        )
    desk.canvas = before
    return png_bytes(np.ascontiguousarray(pygame.surfarray.pixels2d(surface).T & np.uint32(0xFFFFFF)))


def _charts_as_svg(desk: ViewContext) -> bytes:
    """Return the charts as an SVG file with a transparent background, so that they fit any page."""
    shown_charts = charts.shown_charts(desk)
    height = CHART_LEGEND_HEIGHT + CHART_HEIGHT * len(shown_charts)
    size = f'width="{CHART_WIDTH}" height="{height}" viewBox="0 0 {CHART_WIDTH} {height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}'
    parts = [f'{head} font-family="sans-serif" font-size="12" fill="#222222">']
    left = 12
    for index, panel in enumerate(desk.session.run.panels):
        colour, label = hex_code_of_colour(SERIES[index % len(SERIES)]), escape(panel.displayed_agent.label)
        parts.append(f'<rect x="{left}" y="8" width="12" height="12" fill="{colour}"/>')
        parts.append(f'<text x="{left + 17}" y="18">{label}</text>')
        left += 34 + 7 * len(panel.displayed_agent.label)
    for i, chart in enumerate(shown_charts):
        parts += _svg_lines_of_chart(chart, charts.chart_lines(desk, chart), CHART_LEGEND_HEIGHT + i * CHART_HEIGHT)
    return "\n".join([*parts, "</svg>", ""]).encode()


def _svg_lines_of_chart(chart: TimeChart, lines: list[ChartLine], top: int) -> list[str]:
    scale = charts.chart_scale_of_lines(lines, (56, top + 22, CHART_WIDTH - 68, CHART_HEIGHT - 52), 0)
    parts = [f'<text x="12" y="{top + 14}" font-weight="bold">{escape(chart.title)}</text>']
    if scale is None:
        return parts
    x, y, width, height = scale.plot_box
    parts.append(f'<path d="M{x} {y}V{y + height}H{x + width}" stroke="#888888" fill="none"/>')
    for value in charts.grid_line_values(scale.max_value):
        at = short_decimal_text(scale.y(value))
        parts.append(f'<path d="M{x} {at}H{x + width}" stroke="#dddddd"/>')
        parts.append(f'<text x="{x - 5}" y="{at}" text-anchor="end" dy="4">{chart.format_value(value)}</text>')
    for number, anchor in ((scale.first, "start"), (scale.last_tick_or_trial, "end")):
        at = short_decimal_text(scale.x(number))
        parts.append(
            f'<text x="{at}" y="{y + height + 15}" text-anchor="{anchor}">{chart.x_axis_unit} {number:,}</text>'
        )
    for line in lines:
        points = " ".join(
            f"{short_decimal_text(px)},{short_decimal_text(py)}" for px, py in charts.pixel_points_of_line(line, scale)
        )
        colour = hex_code_of_colour(SERIES[line.panel_index % len(SERIES)])
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
    return parts
