"""The middle of the map, as a cross: a layer that shows which files one more layer takes."""

from collections.abc import Iterable

from ui.draw.drawing import Drawing
from ui.draw.kernels import paint
from ui.draw.layer import Layer
from ui.draw.picture import Picture
from ui.draw.svg_paths import hexed, n
from ui.draw.swatch import Swatch
from ui.draw.theme import packed


def draw(picture: Picture) -> None:
    grid = picture.snapshot.grid
    x, y = picture.to_px(grid.width / 2, grid.height / 2)
    paint.fill_rect(picture.frame, round(x) - 1, round(y) - 5, 3, 11, packed(picture.palette.middle))


def swatch(swatch: Swatch) -> None:
    paint.fill_rect(swatch.frame, swatch.width // 2 - 1, 1, 3, swatch.height - 2, packed(swatch.palette.middle))


def svg(drawing: Drawing) -> Iterable[str]:
    x, y = drawing.grid.width / 2, drawing.grid.height / 2
    yield f'<path stroke="{hexed(drawing.palette.middle)}" d="M{n(x)} {n(y - 1)}V{n(y + 1)}"/>'


def svg_swatch(drawing: Drawing) -> str:
    return f'<path stroke="{hexed(drawing.palette.middle)}" d="M.5 .1V.9"/>'


LAYER = Layer(
    key="middle",
    name="Middle",
    place=22,
    depth=46,
    legend="the middle of the map",
    draw=draw,
    swatch=swatch,
    svg=svg,
    svg_swatch=svg_swatch,
    is_on=False,
)
