"""Layer "Terrain": trees, swamp and water in different colours, with textures if cells are large enough."""

from collections.abc import Iterable

from ui.draw import marker_shapes
from ui.draw.kernels import cell_flags, paint
from ui.draw.layer import Layer
from ui.draw.map_colours import texture_colours
from ui.draw.map_painter import MapPainter
from ui.draw.svg_painter import SvgPainter
from ui.draw.swatch import Swatch
from ui.draw.theme import pack_colour


def draw(picture: MapPainter) -> None:
    if picture.zoom < marker_shapes.TEXTURES_FROM_PX:
        return
    masks = marker_shapes.texture_masks(int(picture.zoom))
    colours = tuple(pack_colour(colour) for colour in texture_colours(picture.palette))
    paint.paint_terrain_textures(picture.viewport, picture.cells.flags, masks, colours)


def draw_swatch(swatch: Swatch) -> None:
    swatch.fill_with_cell_colours(cell_flags.WALL, cell_flags.TREES, cell_flags.SWAMP, cell_flags.WATER)


def svg_fill_elements(drawing: SvgPainter) -> Iterable[str]:
    palette = drawing.palette
    flags_and_colours = (
        (cell_flags.SWAMP, palette.swamp),
        (cell_flags.WATER, palette.water),
        (cell_flags.TREES, palette.trees),
    )
    for bit, colour in flags_and_colours:
        yield from drawing.cell_fill_elements(drawing.flags_by_cell & bit != 0, colour)


LAYER = Layer(
    key="terrain",
    name="Terrain",
    list_position=1,
    drawing_depth=28,
    legend_text="walls, trees, swamp and water; off: free and blocked only",
    filled_flags=cell_flags.TREES | cell_flags.SWAMP | cell_flags.WATER,
    draw=draw,
    draw_swatch=draw_swatch,
    svg_fill_elements=svg_fill_elements,
    is_in_legend=False,
    is_explained=False,
    is_for_single_agent=False,
)
