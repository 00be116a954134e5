"""Layer "Subgoals": the cells that the agent heads for one after another, numbered; the current one is larger."""

from collections.abc import Iterable

import numpy as np

from ui.draw.drawing import SvgPainter
from ui.draw.kernels import strokes
from ui.draw.layer import Layer
from ui.draw.picture import Picture
from ui.draw.svg_paths import hexed, n
from ui.draw.swatch import STRIP, Swatch
from ui.draw.theme import packed

NUMBER_SIZE = 12  # font size of the numbers of subgoals, in design units


def draw(picture: Picture) -> None:
    if picture.walker is None or not picture.walker.agent.waypoints.size:
        return
    points = picture.walker.agent.waypoints
    way = np.concatenate([[picture.walker.position], points]).astype(np.int32)
    for more, colour in picture.cased(picture.palette.best):
        strokes.dash_cells(picture.frame, way, picture.px(1) + more, colour, picture.px(5), picture.px(4))
    for cell in points[1:].tolist():
        picture.stamp_cell("waypoint", cell)
    picture.stamp_cell("best", int(points[0]))
    picture.write(((str(i + 1), cell) for i, cell in enumerate(points.tolist())), NUMBER_SIZE, picture.palette.best)


def swatch(swatch: Swatch) -> None:
    strokes.dash_cells(swatch.frame, STRIP, swatch.px(1), packed(swatch.palette.best), swatch.px(4), swatch.px(3))
    swatch.markers("best")


def svg(drawing: SvgPainter) -> Iterable[str]:
    points = drawing.agent.waypoints
    if not points.size:
        return
    colour, width = hexed(drawing.palette.best), n(0.5 * drawing.line)
    way = [drawing.xy(drawing.view.position), *(drawing.xy(cell) for cell in points.tolist())]
    data = "M" + "L".join(f"{x} {y}" for x, y in way)
    yield f'<path stroke="{colour}" stroke-width="{width}" stroke-dasharray="{width} {width}" d="{data}"/>'
    for number, (x, y) in enumerate(way[1:]):
        r = n(drawing.marker * (0.8 if number == 0 else 0.5))
        yield f'<circle cx="{x}" cy="{y}" r="{r}" fill="{colour}" stroke="{drawing.around(drawing.palette.best)}"/>'
        size, aside = n(2.2 * drawing.marker), n(x + drawing.marker)
        look = f'font-size="{size}" font-weight="bold" fill="{colour}" stroke="none"'
        yield f'<text x="{aside}" y="{n(y - 0.5 * drawing.marker)}" {look}>{number + 1}</text>'


def svg_swatch(drawing: SvgPainter) -> str:
    return drawing.line_swatch(drawing.palette.best) if drawing.agent.waypoints.size else ""


LAYER = Layer(
    key="waypoints",
    name="Subgoals",
    place=17,
    depth=208,
    legend="cells that the agent heads for on the way to the goal, numbered in order",
    draw=draw,
    swatch=swatch,
    svg=svg,
    svg_swatch=svg_swatch,
    is_special=True,
)
