"""Layer "Best open cell": a diamond on the cell that the search would expand next."""

from collections.abc import Iterable

from ui.draw.drawing import SvgPainter
from ui.draw.layer import Layer
from ui.draw.picture import Picture
from ui.draw.svg_paths import hexed, n
from ui.draw.swatch import Swatch


def draw(picture: Picture) -> None:
    if picture.walker is not None and picture.walker.agent.best >= 0:
        picture.stamp_cell("best", picture.walker.agent.best)


def swatch(swatch: Swatch) -> None:
    swatch.markers("best")


def svg(drawing: SvgPainter) -> Iterable[str]:
    if drawing.agent.best >= 0:
        x, y = drawing.xy(drawing.agent.best)
        r, colour = drawing.marker * 0.8, drawing.palette.best
        data = f"M{n(x - r)} {y}L{x} {n(y - r)}L{n(x + r)} {y}L{x} {n(y + r)}z"
        yield f'<path fill="{hexed(colour)}" stroke="{drawing.around(colour)}" d="{data}"/>'


def svg_swatch(drawing: SvgPainter) -> str:
    colour = drawing.palette.best
    edge = f'stroke="{drawing.around(colour)}" stroke-width=".08"'
    return f'<path d="M.6 .5L1 .1L1.4 .5L1 .9z" fill="{hexed(colour)}" {edge}/>'


LAYER = Layer(
    key="best",
    name="Best open cell",
    place=9,
    depth=210,
    legend="the cell that the search would expand next",
    draw=draw,
    swatch=swatch,
    svg=svg,
    svg_swatch=svg_swatch,
)
