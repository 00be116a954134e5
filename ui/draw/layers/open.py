"""Layer "Open frontier": a ring in each open cell; small cells have a square, very small cells are filled."""

from collections.abc import Iterable

from ui.draw import marks
from ui.draw.drawing import SvgPainter
from ui.draw.kernels import cellwords, paint
from ui.draw.layer import Layer
from ui.draw.picture import Picture
from ui.draw.swatch import Swatch
from ui.draw.theme import packed


def is_filled(picture: Picture) -> bool:
    """Return whether open cells are filled, because cells are too small for a ring or square inside."""
    return not picture.has_marks


def draw(picture: Picture) -> None:
    if picture.has_marks and not picture.has_heat:
        mask = marks.open_mask(int(picture.zoom))
        paint.paint_rings(picture.frame, picture.cells.words, cellwords.OPEN, mask, packed(picture.palette.open))


def swatch(swatch: Swatch) -> None:
    mask = marks.open_mask(max(12, min(swatch.height, 18 * swatch.px(1))))
    size = mask.shape[0]
    x, y = (swatch.width - size) // 2, (swatch.height - size) // 2
    paint.stamp(swatch.frame, mask, x, y, packed(swatch.palette.open))


def svg_fill(drawing: SvgPainter) -> Iterable[str]:
    return drawing.fill(drawing.words & cellwords.OPEN != 0, drawing.palette.open)


LAYER = Layer(
    key="open",
    name="Open frontier",
    place=3,
    depth=40,
    legend="cells generated but not yet expanded",
    fills=cellwords.OPEN,
    is_replaced_by_heat=True,
    is_filled=is_filled,
    draw=draw,
    swatch=swatch,
    svg_fill=svg_fill,
    svg_swatch=lambda drawing: drawing.box_swatch(drawing.palette.open),
)
