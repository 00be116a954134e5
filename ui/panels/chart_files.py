"""Export of the sidebar's charts: SVG for papers, PNG for slides, CSV for other tools."""

from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
import pygame

from sim.files.csv_text import CsvCell, format_csv
from sim.files.disk import write_file_atomically
from sim.files.png import png_bytes
from ui.draw.svg_paths import hex_code_of_colour, short_decimal_text
from ui.draw.theme import SERIES
from ui.panels import charts, panel_mark
from ui.panels.charts import ChartLine, TimeChart
from ui.panels.view_context import ViewContext
from ui.widgets.canvas import Canvas

SUFFIXES = (".svg", ".png", ".csv")
WIDTH, HEIGHT, LEGEND_HEIGHT = 640, 240, 28  # width and height of a chart and height of the legend, in design units
PNG_SCALE = 2.0  # pixels per design unit in PNG files


def save_charts(desk: ViewContext, path: Path) -> None:
    """Write all visible charts to one file, with all values up to the current tick.

    Args:
        desk: View context.
        path: Target file; its suffix, one of SUFFIXES, determines the format.
    """
    charts.compute_missing_chart_values(desk)
    make = {".svg": _svg_bytes, ".png": _png_bytes, ".csv": _csv_bytes}[path.suffix.lower()]
    write_file_atomically(path, make(desk))


def _csv_bytes(desk: ViewContext) -> bytes:
    """Return the charts as CSV text with one row per value: chart, panel, agent, tick or trial number, value."""
    return format_csv(("chart", "panel", "agent", "tick", "value"), _csv_rows(desk)).encode()


def _csv_rows(desk: ViewContext) -> Iterator[tuple[CsvCell, ...]]:
    for chart in charts.shown_charts(desk):
        for line in charts.chart_lines(desk, chart):
            numbers = range(line.first, line.last_number + 1)
            for number, value in zip(numbers, line.values.tolist(), strict=True):
                yield chart.key, line.place + 1, line.label, number, _rounded_value(value)


def _rounded_value(value: float) -> CsvCell:
    """Return a value rounded to ten digits, or None if it is infinite, such as a distance without a path."""
    if not np.isfinite(value):
        return None
    short = float(f"{value:.10g}")
    return int(short) if short.is_integer() else short


# --- pictures -------------------------------------------------------------------------------------


def _png_bytes(desk: ViewContext) -> bytes:
    """Return the charts as a PNG file, drawn by the same code as in the window but PNG_SCALE times as large."""
    shown_charts = charts.shown_charts(desk)
    size = (round(WIDTH * PNG_SCALE), round((LEGEND_HEIGHT + HEIGHT * len(shown_charts)) * PNG_SCALE))
    surface, before = pygame.Surface(size, 0, 32), desk.canvas
    surface.fill(desk.palette.surface)
    desk.canvas = Canvas()
    desk.canvas.accepts_mouse = False
    desk.canvas.begin_frame(surface, desk.palette, PNG_SCALE, (-1, -1))
    px = desk.canvas.to_px
    left = px(12)
    for index, panel in enumerate(desk.session.run.panels):
        left = panel_mark.draw_panel_mark(desk.canvas, left, px(LEGEND_HEIGHT) // 2, index) + px(6)
        left += desk.canvas.text(
            (left, px(LEGEND_HEIGHT) // 2), panel.displayed_agent.label, size=13, middle=True
        ) + px(16)
    for i, chart in enumerate(shown_charts):
        charts.draw_chart(desk, (px(12), px(LEGEND_HEIGHT + i * HEIGHT), px(WIDTH - 24), px(HEIGHT - 10)), chart)
    desk.canvas = before
    return png_bytes(np.ascontiguousarray(pygame.surfarray.pixels2d(surface).T & np.uint32(0xFFFFFF)))


def _svg_bytes(desk: ViewContext) -> bytes:
    """Return the charts as an SVG file with a transparent background, so that they fit any page."""
    shown_charts = charts.shown_charts(desk)
    height = LEGEND_HEIGHT + HEIGHT * len(shown_charts)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    parts = [f'{head} font-family="sans-serif" font-size="12" fill="#222222">']
    left = 12
    for index, panel in enumerate(desk.session.run.panels):
        colour, label = hex_code_of_colour(SERIES[index % len(SERIES)]), escape(panel.displayed_agent.label)
        parts.append(f'<rect x="{left}" y="8" width="12" height="12" fill="{colour}"/>')
        parts.append(f'<text x="{left + 17}" y="18">{label}</text>')
        left += 34 + 7 * len(panel.displayed_agent.label)
    for i, chart in enumerate(shown_charts):
        parts += _svg_lines_of_chart(chart, charts.chart_lines(desk, chart), LEGEND_HEIGHT + i * HEIGHT)
    return "\n".join([*parts, "</svg>", ""]).encode()


def _svg_lines_of_chart(chart: TimeChart, lines: list[ChartLine], top: int) -> list[str]:
    scale = charts.chart_scale_of_lines(lines, (56, top + 22, WIDTH - 68, HEIGHT - 52), 0)
    parts = [f'<text x="12" y="{top + 14}" font-weight="bold">{escape(chart.title)}</text>']
    if scale is None:
        return parts
    x, y, width, height = scale.plot
    parts.append(f'<path d="M{x} {y}V{y + height}H{x + width}" stroke="#888888" fill="none"/>')
    for value in charts.grid_line_values(scale.top):
        at = short_decimal_text(scale.y(value))
        parts.append(f'<path d="M{x} {at}H{x + width}" stroke="#dddddd"/>')
        parts.append(f'<text x="{x - 5}" y="{at}" text-anchor="end" dy="4">{chart.format_value(value)}</text>')
    for number, anchor in ((scale.first, "start"), (scale.last_number, "end")):
        at = short_decimal_text(scale.x(number))
        parts.append(f'<text x="{at}" y="{y + height + 15}" text-anchor="{anchor}">{chart.unit} {number:,}</text>')
    for line in lines:
        points = " ".join(
            f"{short_decimal_text(px)},{short_decimal_text(py)}" for px, py in charts.points_of_line(line, scale)
        )
        colour = hex_code_of_colour(SERIES[line.place % len(SERIES)])
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
    return parts
