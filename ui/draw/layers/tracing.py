"""Layer "Path being traced": a dashed line along the parents that TBA* has traced so far, or the stack of IDA*."""

from collections.abc import Iterable

from ui.draw.kernels import strokes
from ui.draw.layer import Layer
from ui.draw.map_painter import MapPainter
from ui.draw.svg_painter import SvgPainter
from ui.draw.svg_paths import path_through_points, short_decimal_text
from ui.draw.swatch import STRIP, Swatch


def draw(picture: MapPainter) -> None:
    if picture.walker_view is None or picture.walker_view.agent.tracing.size < 2:
        return
    cells, width = picture.walker_view.agent.tracing, picture.to_pixels(picture.line_width_units + 1)
    dash, gap = (4, 3) if picture.zoom < 12 else (8, 6)
    for extra, colour in picture.strokes_with_casing(picture.palette.tracing):
        strokes.dash_cell_path(picture.viewport, cells, width + extra, colour, dash, gap)


def draw_swatch(swatch: Swatch) -> None:
    dash, gap = 5 * swatch.to_pixels(1), 4 * swatch.to_pixels(1)
    for extra, colour in swatch.strokes_with_casing(swatch.palette.tracing):
        strokes.dash_cell_path(swatch.viewport, STRIP, swatch.to_pixels(2) + extra, colour, dash, gap)


def svg_elements(drawing: SvgPainter) -> Iterable[str]:
    if drawing.agent_view.tracing.size > 1:
        line = path_through_points(drawing.points_of_cells(drawing.agent_view.tracing))
        dash, gap = short_decimal_text(4 * drawing.line_width), short_decimal_text(3 * drawing.line_width)
        dashes = f' stroke-dasharray="{dash} {gap}" stroke-linecap="butt"'
        yield from drawing.line_with_casing(line, drawing.palette.tracing, 1.5, dashes)


LAYER = Layer(
    key="tracing",
    name="Path being traced",
    list_position=4,
    drawing_depth=140,
    legend_text="parents traced so far from the best open cell (TBA*), or the cells of the stack (IDA*)",
    draw=draw,
    draw_swatch=draw_swatch,
    svg_elements=svg_elements,
    svg_swatch=lambda drawing: drawing.line_swatch(drawing.palette.tracing, more=' stroke-dasharray=".4 .25"'),
    is_agent_specific=True,
)
