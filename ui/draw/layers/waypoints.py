"""Layer "Subgoals": the cells that the agent heads for one after another, numbered; the current one is larger."""

from collections.abc import Iterable

import numpy as np

from ui.draw.kernels import strokes
from ui.draw.layer import Layer
from ui.draw.map_painter import MapPainter
from ui.draw.svg_painter import SvgPainter
from ui.draw.svg_paths import hex_code_of_colour, short_decimal_text
from ui.draw.swatch import STRIP, Swatch
from ui.draw.theme import pack_colour

NUMBER_SIZE = 12  # font size of the numbers of subgoals, in design units


def draw(picture: MapPainter) -> None:
    if picture.walker_view is None or not picture.walker_view.agent.waypoints.size:
        return
    points = picture.walker_view.agent.waypoints
    route = np.concatenate([[picture.walker_view.position], points]).astype(np.int32)
    for extra_width, colour in picture.strokes_with_casing(picture.palette.best):
        strokes.dash_cell_path(
            picture.viewport,
            route,
            picture.to_pixels(1) + extra_width,
            colour,
            picture.to_pixels(5),
            picture.to_pixels(4),
        )
    for cell in points[1:].tolist():
        picture.draw_marker_in_cell("waypoint", cell)
    picture.draw_marker_in_cell("best", int(points[0]))
    picture.write_texts(
        ((str(i + 1), cell) for i, cell in enumerate(points.tolist())), NUMBER_SIZE, picture.palette.best
    )


def draw_swatch(swatch: Swatch) -> None:
    strokes.dash_cell_path(
        swatch.viewport,
        STRIP,
        swatch.to_pixels(1),
        pack_colour(swatch.palette.best),
        swatch.to_pixels(4),
        swatch.to_pixels(3),
    )
    swatch.draw_markers("best")


def svg_elements(drawing: SvgPainter) -> Iterable[str]:
    points = drawing.agent_view.waypoints
    if not points.size:
        return
    colour, width = hex_code_of_colour(drawing.palette.best), short_decimal_text(0.5 * drawing.line_width)
    route = [
        drawing.point_of_cell(drawing.walker_view.position),
        *(drawing.point_of_cell(cell) for cell in points.tolist()),
    ]
    data = "M" + "L".join(f"{x} {y}" for x, y in route)
    yield f'<path stroke="{colour}" stroke-width="{width}" stroke-dasharray="{width} {width}" d="{data}"/>'
    for number, (x, y) in enumerate(route[1:]):
        r = short_decimal_text(drawing.marker_radius * (0.8 if number == 0 else 0.5))
        yield (
            f'<circle cx="{x}" cy="{y}" r="{r}" fill="{colour}" stroke="{drawing.casing_colour(drawing.palette.best)}'
            '"/>'
        )
        size, text_x = short_decimal_text(2.2 * drawing.marker_radius), short_decimal_text(x + drawing.marker_radius)
        style = f'font-size="{size}" font-weight="bold" fill="{colour}" stroke="none"'
        text_y = short_decimal_text(y - 0.5 * drawing.marker_radius)
        yield f'<text x="{text_x}" y="{text_y}" {style}>{number + 1}</text>'


def svg_swatch(drawing: SvgPainter) -> str:
    return drawing.line_swatch(drawing.palette.best) if drawing.agent_view.waypoints.size else ""


LAYER = Layer(
    key="waypoints",
    name="Subgoals",
    list_position=17,
    drawing_depth=208,
    legend_text="cells that the agent heads for on the way to the goal, numbered in order",
    draw=draw,
    draw_swatch=draw_swatch,
    svg_elements=svg_elements,
    svg_swatch=svg_swatch,
    is_agent_specific=True,
)
