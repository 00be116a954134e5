"""Layer "Closed": the cells that the search has expanded, filled with a colour and framed by a thin line."""

from collections.abc import Iterable

from ui.draw.kernels import cell_flags, paint
from ui.draw.layer import Layer
from ui.draw.map_colours import closed_edge_colour
from ui.draw.map_painter import MapPainter
from ui.draw.svg_painter import SvgPainter
from ui.draw.swatch import Swatch
from ui.draw.theme import pack_colour


def draw(picture: MapPainter) -> None:
    if picture.has_cell_symbols and not picture.has_heat:
        edge = pack_colour(closed_edge_colour(picture.palette))
        paint.paint_cell_frames(picture.viewport, picture.cells.flags, cell_flags.CLOSED, edge)


def draw_swatch(swatch: Swatch) -> None:
    swatch.fill_with_cell_colours(cell_flags.FREE | cell_flags.CLOSED)
    paint.paint_rect_outline(
        swatch.viewport, 0, 0, swatch.width, swatch.height, pack_colour(closed_edge_colour(swatch.palette))
    )


def svg_fill_elements(drawing: SvgPainter) -> Iterable[str]:
    return drawing.cell_fill_elements(drawing.flags_by_cell & cell_flags.CLOSED != 0, drawing.palette.closed)


LAYER = Layer(
    key="closed",
    name="Closed",
    list_position=2,
    drawing_depth=30,
    legend_text="cells that the current search has expanded",
    filled_flags=cell_flags.CLOSED,
    is_replaced_by_heat=True,
    draw=draw,
    draw_swatch=draw_swatch,
    svg_fill_elements=svg_fill_elements,
    svg_swatch=lambda drawing: drawing.box_swatch(drawing.palette.closed),
)
