"""Layer "Terrain": trees, swamp and water in different colours, with textures if cells are large enough."""

from collections.abc import Iterable

from ui.draw import marks
from ui.draw.drawing import SvgPainter
from ui.draw.kernels import cellwords, paint
from ui.draw.layer import Layer
from ui.draw.map_colours import texture_colours
from ui.draw.picture import Picture
from ui.draw.swatch import Swatch
from ui.draw.theme import packed


def draw(picture: Picture) -> None:
    if picture.zoom < marks.TEXTURES_FROM_PX:
        return
    masks = marks.texture_masks(int(picture.zoom))
    colours = tuple(packed(colour) for colour in texture_colours(picture.palette))
    paint.paint_textures(picture.frame, picture.cells.words, masks, colours)


def swatch(swatch: Swatch) -> None:
    swatch.fill_words(cellwords.WALL, cellwords.TREES, cellwords.SWAMP, cellwords.WATER)


def svg_fill(drawing: SvgPainter) -> Iterable[str]:
    palette = drawing.palette
    kinds = (cellwords.SWAMP, palette.swamp), (cellwords.WATER, palette.water), (cellwords.TREES, palette.trees)
    for bit, colour in kinds:
        yield from drawing.fill(drawing.words & bit != 0, colour)


LAYER = Layer(
    key="terrain",
    name="Terrain",
    place=1,
    depth=28,
    legend="walls, trees, swamp and water; off: free and blocked only",
    fills=cellwords.TREES | cellwords.SWAMP | cellwords.WATER,
    draw=draw,
    swatch=swatch,
    svg_fill=svg_fill,
    is_in_legend=False,
    is_explained=False,
    is_of_mind=False,
)
