"""Layer "Parent tree": a line from each cell that the search knows to its parent."""

from collections.abc import Iterable

import numpy as np

from sim.kernels.octile import DX, DY, NO_DIRECTION
from ui.draw.kernels import strokes
from ui.draw.layer import Layer
from ui.draw.map_painter import MapPainter
from ui.draw.svg_painter import SvgPainter
from ui.draw.svg_paths import hex_code_of_colour, line_segment_command, short_decimal_text
from ui.draw.swatch import STRIP, Swatch
from ui.draw.theme import pack_colour

TREE_FROM_PX = 3.0  # smallest side of a cell, in pixels, at which the tree is drawn


def draw(picture: MapPainter) -> None:
    search = picture.walker_view.agent.search if picture.walker_view else None
    if search is None or picture.zoom < TREE_FROM_PX:
        return
    number, colour = int(search.control[0].search), pack_colour(picture.palette.tree)
    width = picture.to_pixels(1 if picture.zoom < 16 else 2)
    strokes.stroke_parent_tree(picture.viewport, picture.cells.flags, search.nodes, number, width, colour)


def draw_swatch(swatch: Swatch) -> None:
    strokes.stroke_cell_path(swatch.viewport, STRIP, swatch.to_pixels(1), pack_colour(swatch.palette.tree))


def svg_elements(drawing: SvgPainter) -> Iterable[str]:
    search = drawing.agent_view.search
    if search is None:
        return
    nodes, number = search.nodes, int(search.control[0]["search"])
    known_cells = np.flatnonzero((nodes["search"] == number) & (nodes["came"] != NO_DIRECTION))
    parts = []
    for cell in known_cells.tolist():
        x, y = drawing.point_of_cell(cell)
        direction = int(nodes[cell]["came"])
        parts.append(f"M{x} {y}{line_segment_command(-int(DX[direction]), -int(DY[direction]))}")
    if parts:
        colour, width = hex_code_of_colour(drawing.palette.tree), short_decimal_text(0.5 * drawing.line_width)
        yield f'<path stroke="{colour}" stroke-width="{width}" d="{"".join(parts)}"/>'


LAYER = Layer(
    key="tree",
    name="Parent tree",
    list_position=8,
    drawing_depth=100,
    legend_text="a line from each known cell to the cell it was reached from",
    draw=draw,
    draw_swatch=draw_swatch,
    svg_elements=svg_elements,
    svg_swatch=lambda drawing: drawing.line_swatch(drawing.palette.tree),
    is_on_by_default=False,
)
