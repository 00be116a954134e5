"""Layer "Grid lines": lines between cells, if cells are large enough."""

from ui.draw import marker_shapes
from ui.draw.kernels import paint
from ui.draw.layer import Layer
from ui.draw.map_painter import MapPainter
from ui.draw.swatch import Swatch
from ui.draw.theme import pack_colour


def draw(picture: MapPainter) -> None:
    if picture.zoom >= marker_shapes.TEXTURES_FROM_PX:
        paint.paint_grid_lines(picture.viewport, picture.cells.flags, pack_colour(picture.palette.grid_line))


def draw_swatch(swatch: Swatch) -> None:
    step = max(6, swatch.height // 2)
    colour = pack_colour(swatch.palette.grid_line)
    for x in range(swatch.width // 2 % step, swatch.width, step):
        paint.fill_rect(swatch.viewport, x, 0, x + 1, swatch.height, colour)
    for y in range(swatch.height // 2 % step, swatch.height, step):
        paint.fill_rect(swatch.viewport, 0, y, swatch.width, y + 1, colour)


LAYER = Layer(
    key="grid",
    name="Grid lines",
    list_position=15,
    drawing_depth=25,
    legend_text="drawn if cells are at least 12 pixels wide",
    draw=draw,
    draw_swatch=draw_swatch,
    is_in_legend=False,
    is_explained=False,
    is_for_single_agent=False,
)
