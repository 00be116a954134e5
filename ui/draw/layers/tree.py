"""Layer "Parent tree": a line from each cell that the search knows to its parent."""

from collections.abc import Iterable

import numpy as np

from sim.kernels.octile import DX, DY, NO_DIRECTION
from ui.draw.kernels import strokes
from ui.draw.layer import Layer
from ui.draw.map_painter import MapPainter
from ui.draw.svg_painter import SvgPainter
from ui.draw.svg_paths import hex_code_of_colour, line_command, short_decimal_text
from ui.draw.swatch import STRIP, Swatch
from ui.draw.theme import pack_colour

TREE_FROM_PX = 3.0  # smallest side of a cell, in pixels, at which the tree is drawn


def draw(picture: MapPainter) -> None:
    search = picture.walker.agent.search if picture.walker else None
    if search is None or picture.zoom < TREE_FROM_PX:
        return
    number, colour = int(search.control[0].search), pack_colour(picture.palette.tree)
    width = picture.to_pixels(1 if picture.zoom < 16 else 2)
    strokes.stroke_tree(picture.frame, picture.cells.flags, search.nodes, number, width, colour)


def draw_swatch(swatch: Swatch) -> None:
    strokes.stroke_cell_path(swatch.frame, STRIP, swatch.to_pixels(1), pack_colour(swatch.palette.tree))


def svg_elements(drawing: SvgPainter) -> Iterable[str]:
    search = drawing.agent.search
    if search is None:
        return
    nodes, number = search.nodes, int(search.control[0]["search"])
    known_cells = np.flatnonzero((nodes["search"] == number) & (nodes["came"] != NO_DIRECTION))
    parts = []
    for cell in known_cells.tolist():
        x, y = drawing.xy(cell)
        direction = int(nodes[cell]["came"])
        parts.append(f"M{x} {y}{line_command(-int(DX[direction]), -int(DY[direction]))}")
    if parts:
        colour, width = hex_code_of_colour(drawing.palette.tree), short_decimal_text(0.5 * drawing.line)
        yield f'<path stroke="{colour}" stroke-width="{width}" d="{"".join(parts)}"/>'


LAYER = Layer(
    key="tree",
    name="Parent tree",
    place=8,
    depth=100,
    legend="a line from each known cell to the cell it was reached from",
    draw=draw,
    swatch=draw_swatch,
    svg=svg_elements,
    svg_swatch=lambda drawing: drawing.line_swatch(drawing.palette.tree),
    is_on=False,
)
