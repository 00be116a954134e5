"""Layer "Flow arrows": in each cell known to the search, an arrow towards its parent, the direction of back-moves."""

from collections.abc import Iterable
from functools import lru_cache
from math import atan2, pi

import numpy as np
import numpy.typing as npt

from sim.kernels.octile import DX, DY, NO_DIRECTION
from ui.draw import masks
from ui.draw.kernels import paint
from ui.draw.kernels.parent_arrows import stamp_parent_arrows
from ui.draw.layer import Layer
from ui.draw.map_painter import MapPainter
from ui.draw.svg_painter import SvgPainter
from ui.draw.svg_paths import hex_code_of_colour, short_decimal_text
from ui.draw.swatch import Swatch
from ui.draw.theme import pack_colour

FROM_PX = 7.0  # smallest side of a cell, in pixels, at which arrows are drawn
# side of the arrow's mask as a fraction of a cell; length of the arrow as a fraction of the mask, to fit at any angle
SHARE, LENGTH = 0.9, 0.6


def draw(picture: MapPainter) -> None:
    search = picture.walker_view.agent.search if picture.walker_view else None
    if search is None or picture.zoom < FROM_PX:
        return
    arrows = parent_arrow_masks(max(5, round(picture.zoom * SHARE)) | 1)
    stamp_parent_arrows(
        picture.viewport, search.nodes, int(search.control[0].search), arrows, pack_colour(picture.palette.tree)
    )


@lru_cache(maxsize=64)
def parent_arrow_masks(size: int) -> npt.NDArray[np.uint8]:
    """Return one arrow mask for each direction of a move, pointing in the opposite direction (to the parent)."""
    directions = [round(atan2(-DY[d], -DX[d]) * 8 / pi) % 16 for d in range(8)]
    return np.ascontiguousarray(
        np.stack([masks.arrow_head_mask(size, size * LENGTH, direction) for direction in directions])
    )


def draw_swatch(swatch: Swatch) -> None:
    size = min(swatch.height, swatch.width) * 3 // 4 | 1
    x, y = round((swatch.width - size) / 2), round((swatch.height - size) / 2)
    paint.stamp_mask(swatch.viewport, parent_arrow_masks(size)[1], x, y, pack_colour(swatch.palette.tree))


def svg_elements(drawing: SvgPainter) -> Iterable[str]:
    search = drawing.agent_view.search
    if search is None:
        return
    nodes, number = search.nodes, int(search.control[0]["search"])
    parts = []
    for cell in np.flatnonzero((nodes["search"] == number) & (nodes["came"] != NO_DIRECTION)).tolist():
        x, y = drawing.point_of_cell(cell)
        direction = int(nodes[cell]["came"])
        dx, dy = -float(DX[direction]), -float(DY[direction])
        length = (dx * dx + dy * dy) ** 0.5
        dx, dy = dx / length * 0.33, dy / length * 0.33
        tail_x, tail_y = x - dx, y - dy
        left, right = (tail_x - dy * 0.62, tail_y + dx * 0.62), (tail_x + dy * 0.62, tail_y - dx * 0.62)
        parts.append(
            f"M{short_decimal_text(x + dx)} {short_decimal_text(y + dy)}L{short_decimal_text(left[0])} "
            f"{short_decimal_text(left[1])}L"
            f"{short_decimal_text(right[0])} {short_decimal_text(right[1])}z"
        )
    if parts:
        yield f'<path fill="{hex_code_of_colour(drawing.palette.tree)}" stroke="none" d="{"".join(parts)}"/>'


def svg_swatch(drawing: SvgPainter) -> str:
    return f'<path d="M1.3 .5L.8 .2L.8 .8z" fill="{hex_code_of_colour(drawing.palette.tree)}"/>'


LAYER = Layer(
    key="flow",
    name="Flow arrows",
    list_position=21,
    drawing_depth=45,
    legend_text="an arrow in each known cell, towards the cell it was reached from",
    draw=draw,
    draw_swatch=draw_swatch,
    svg_elements=svg_elements,
    svg_swatch=svg_swatch,
    is_on_by_default=False,
)
