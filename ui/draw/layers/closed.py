"""Layer "Closed": the cells that the search has expanded, filled with a colour and framed by a thin line."""

from collections.abc import Iterable

from ui.draw.drawing import SvgPainter
from ui.draw.kernels import cellwords, paint
from ui.draw.layer import Layer
from ui.draw.map_colours import closed_edge
from ui.draw.picture import Picture
from ui.draw.swatch import Swatch
from ui.draw.theme import packed


def draw(picture: Picture) -> None:
    if picture.has_marks and not picture.has_heat:
        edge = packed(closed_edge(picture.palette))
        paint.paint_edges(picture.frame, picture.cells.words, cellwords.CLOSED, edge)


def swatch(swatch: Swatch) -> None:
    swatch.fill_words(cellwords.FREE | cellwords.CLOSED)
    paint.outline(swatch.frame, 0, 0, swatch.width, swatch.height, packed(closed_edge(swatch.palette)))


def svg_fill(drawing: SvgPainter) -> Iterable[str]:
    return drawing.fill(drawing.words & cellwords.CLOSED != 0, drawing.palette.closed)


LAYER = Layer(
    key="closed",
    name="Closed",
    place=2,
    depth=30,
    legend="cells that the current search has expanded",
    fills=cellwords.CLOSED,
    is_replaced_by_heat=True,
    draw=draw,
    swatch=swatch,
    svg_fill=svg_fill,
    svg_swatch=lambda drawing: drawing.box_swatch(drawing.palette.closed),
)
