"""Layer "Open frontier": a ring in each open cell; small cells have a square, very small cells are filled."""

from collections.abc import Iterable

from ui.draw import marker_shapes
from ui.draw.kernels import cell_flags, paint
from ui.draw.layer import Layer
from ui.draw.map_painter import MapPainter
from ui.draw.svg_painter import SvgPainter
from ui.draw.swatch import Swatch
from ui.draw.theme import pack_colour


def are_open_cells_filled(picture: MapPainter) -> bool:
    """Return whether open cells are filled, because cells are too small for a ring or square inside."""
    return not picture.has_cell_symbols


def draw(picture: MapPainter) -> None:
    if picture.has_cell_symbols and not picture.has_heat:
        mask = marker_shapes.open_cell_mask(int(picture.zoom))
        paint.paint_cell_symbols(
            picture.viewport, picture.cells.flags, cell_flags.OPEN, mask, pack_colour(picture.palette.open)
        )


def draw_swatch(swatch: Swatch) -> None:
    mask = marker_shapes.open_cell_mask(max(12, min(swatch.height, 18 * swatch.to_pixels(1))))
    size = mask.shape[0]
    x, y = (swatch.width - size) // 2, (swatch.height - size) // 2
    paint.stamp_mask(swatch.viewport, mask, x, y, pack_colour(swatch.palette.open))


def svg_fill_elements(drawing: SvgPainter) -> Iterable[str]:
    return drawing.cell_fill_elements(drawing.flags_by_cell & cell_flags.OPEN != 0, drawing.palette.open)


LAYER = Layer(
    key="open",
    name="Open frontier",
    list_position=3,
    drawing_depth=40,
    legend_text="cells generated but not yet expanded",
    filled_flags=cell_flags.OPEN,
    is_replaced_by_heat=True,
    is_filled=are_open_cells_filled,
    draw=draw,
    draw_swatch=draw_swatch,
    svg_fill_elements=svg_fill_elements,
    svg_swatch=lambda drawing: drawing.box_swatch(drawing.palette.open),
)
