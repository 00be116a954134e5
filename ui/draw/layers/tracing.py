"""Layer "Path being traced": a dashed line along the parents that TBA* has traced so far, or the stack of IDA*."""

from collections.abc import Iterable

from ui.draw.drawing import SvgPainter
from ui.draw.kernels import strokes
from ui.draw.layer import Layer
from ui.draw.picture import Picture
from ui.draw.svg_paths import line_path, n
from ui.draw.swatch import STRIP, Swatch


def draw(picture: Picture) -> None:
    if picture.walker is None or picture.walker.agent.tracing.size < 2:
        return
    cells, width = picture.walker.agent.tracing, picture.px(picture.line + 1)
    dash, gap = (4, 3) if picture.zoom < 12 else (8, 6)
    for extra, colour in picture.cased(picture.palette.tracing):
        strokes.dash_cells(picture.frame, cells, width + extra, colour, dash, gap)


def swatch(swatch: Swatch) -> None:
    dash, gap = 5 * swatch.px(1), 4 * swatch.px(1)
    for extra, colour in swatch.cased(swatch.palette.tracing):
        strokes.dash_cells(swatch.frame, STRIP, swatch.px(2) + extra, colour, dash, gap)


def svg(drawing: SvgPainter) -> Iterable[str]:
    if drawing.agent.tracing.size > 1:
        line = line_path(drawing.points(drawing.agent.tracing))
        dashes = f' stroke-dasharray="{n(4 * drawing.line)} {n(3 * drawing.line)}" stroke-linecap="butt"'
        yield from drawing.cased(line, drawing.palette.tracing, 1.5, dashes)


LAYER = Layer(
    key="tracing",
    name="Path being traced",
    place=4,
    depth=140,
    legend="parents traced so far from the best open cell (TBA*), or the cells of the stack (IDA*)",
    draw=draw,
    swatch=swatch,
    svg=svg,
    svg_swatch=lambda drawing: drawing.line_swatch(drawing.palette.tracing, more=' stroke-dasharray=".4 .25"'),
    is_special=True,
)
