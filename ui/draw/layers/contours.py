"""Layer "Contours": lines around the cells that IDA* first entered under each limit on f, labelled with that limit."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ui.draw.kernels import strokes
from ui.draw.layer import Layer
from ui.draw.map_colours import contour_colour
from ui.draw.map_painter import MapPainter
from ui.draw.svg_painter import SvgPainter
from ui.draw.svg_paths import hex_code_of_colour, short_decimal_text
from ui.draw.swatch import STRIP, Swatch
from ui.draw.theme import pack_colour

NUMBER_SIZE = 11  # font size of the labels of contours, in design units
NUMBERS_FROM_PX = 12.0  # smallest side of a cell, in pixels, at which contours are labelled

Limits = npt.NDArray[np.float64]
Lines = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.int32]]


def contour_lines(contours: Limits, free: npt.NDArray[np.bool_], width: int) -> Lines:
    """Return contour lines, which separate neighbouring free cells that were first entered under different limits.

    Args:
        contours: Limit on f under which each cell was first entered, 0 for cells that were never entered.
        free: Whether each cell is free; blocked cells have no contour.
        width: Width of the map.

    Returns:
        The x and the y of all end points of lines, in cells from the middle of cell (0, 0), and the pairs of end points
        that are joined by lines, as indices.
    """
    limits, land = contours.reshape(-1, width), free.reshape(-1, width)
    # cells (x, y) whose right neighbour, and cells (u, v) whose lower neighbour, was entered under another limit
    y, x = np.nonzero((limits[:, 1:] != limits[:, :-1]) & land[:, 1:] & land[:, :-1])
    v, u = np.nonzero((limits[1:] != limits[:-1]) & land[1:] & land[:-1])
    begin_x, begin_y = np.concatenate([x + 0.5, u - 0.5]), np.concatenate([y - 0.5, v + 0.5])
    end_x, end_y = np.concatenate([x + 0.5, u + 0.5]), np.concatenate([y + 0.5, v + 0.5])
    arcs = np.arange(2 * begin_x.size, dtype=np.int32).reshape(2, -1).T.copy()
    return np.concatenate([begin_x, end_x]), np.concatenate([begin_y, end_y]), arcs


def contour_labels(contours: Limits) -> list[tuple[str, int]]:
    """Return the labels of contours: each limit on f as text, and the first cell (by index) entered under it."""
    limits, cells = np.unique(contours, return_index=True)
    return [(f"{limit:.1f}", cell) for limit, cell in zip(limits.tolist(), cells.tolist(), strict=True) if limit]


def draw(picture: MapPainter) -> None:
    contours = picture.walker_view.agent.contours if picture.walker_view else None
    if contours is None:
        return
    grid, colour = picture.snapshot.grid, contour_colour(picture.palette)
    strokes.stroke_graph_arcs(
        picture.viewport,
        *contour_lines(contours, grid.free_mask, grid.width),
        picture.to_pixels(1),
        pack_colour(colour),
    )
    if picture.zoom >= NUMBERS_FROM_PX:
        picture.write_texts(contour_labels(contours), NUMBER_SIZE, colour)


def draw_swatch(swatch: Swatch) -> None:
    strokes.stroke_cell_path(swatch.viewport, STRIP, swatch.to_pixels(1), pack_colour(contour_colour(swatch.palette)))


def svg_elements(drawing: SvgPainter) -> Iterable[str]:
    contours, grid = drawing.agent_view.contours, drawing.snapshot.grid
    if contours is None:
        return
    x, y, arcs = contour_lines(contours, grid.free_mask, grid.width)
    colour = hex_code_of_colour(contour_colour(drawing.palette))
    data = "".join(
        f"M{short_decimal_text(x[u])} {short_decimal_text(y[u])}L{short_decimal_text(x[v])} {short_decimal_text(y[v])}"
        for u, v in arcs.tolist()
    )
    yield f'<path stroke="{colour}" stroke-width="{short_decimal_text(0.4 * drawing.line_width)}" d="{data}"/>'
    size = short_decimal_text(1.8 * drawing.marker_radius)
    for text, cell in contour_labels(contours):
        left, top = drawing.point_of_cell(cell)
        yield f'<text x="{left}" y="{top}" font-size="{size}" fill="{colour}" stroke="none">{text}</text>'


def svg_swatch(drawing: SvgPainter) -> str:
    colour = contour_colour(drawing.palette)
    return drawing.line_swatch(colour, ".08") if drawing.agent_view.contours is not None else ""


LAYER = Layer(
    key="contours",
    name="Contours",
    list_position=22,
    drawing_depth=103,
    legend_text="lines around the cells first entered under each limit on f, with that limit (IDA*)",
    draw=draw,
    draw_swatch=draw_swatch,
    svg_elements=svg_elements,
    svg_swatch=svg_swatch,
    is_agent_specific=True,
)
