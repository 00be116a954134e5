"""Layer "Path followed": the path that the agent follows, with a thicker line for the cells ahead of the agent."""

from collections.abc import Iterable

from ui.draw.kernels import strokes
from ui.draw.layer import Layer
from ui.draw.map_painter import MapPainter
from ui.draw.svg_painter import SvgPainter
from ui.draw.svg_paths import path_through_points
from ui.draw.swatch import STRIP, Swatch


def draw(picture: MapPainter) -> None:
    if picture.walker_view is None or picture.walker_view.agent.path.size < 2:
        return
    path, head = picture.walker_view.agent.path, picture.walker_view.agent.head
    line_width = picture.line_width_units if picture.has_heat else picture.line_width_units + 1
    for extra, colour in picture.strokes_with_casing(picture.palette.path):
        strokes.stroke_cell_path(
            picture.viewport, path[: head + 1], picture.to_pixels(picture.line_width_units) + extra, colour
        )
        strokes.stroke_cell_path(picture.viewport, path[head:], picture.to_pixels(line_width) + extra, colour)


def draw_swatch(swatch: Swatch) -> None:
    for extra, colour in swatch.strokes_with_casing(swatch.palette.path):
        strokes.stroke_cell_path(swatch.viewport, STRIP, swatch.to_pixels(3) + extra, colour)


def svg_elements(drawing: SvgPainter) -> Iterable[str]:
    path, head = drawing.agent_view.path, drawing.agent_view.head
    if path.size > 1:
        yield from drawing.line_with_casing(
            path_through_points(drawing.points_of_cells(path[: head + 1])), drawing.palette.path, 1.0
        )
        yield from drawing.line_with_casing(
            path_through_points(drawing.points_of_cells(path[head:])), drawing.palette.path, 2.0
        )


LAYER = Layer(
    key="path",
    name="Path followed",
    list_position=5,
    drawing_depth=130,
    legend_text="the path to the best open cell, thicker ahead of the agent",
    draw=draw,
    draw_swatch=draw_swatch,
    svg_elements=svg_elements,
    svg_swatch=lambda drawing: drawing.line_swatch(drawing.palette.path, ".3"),
)
