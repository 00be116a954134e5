"""Layer "Agent's marks": groups of cells that an algorithm distinguishes, such as its local search space.

Cells have a frame in the colour of their group. Cells that are too small for frames are tinted instead; dead cells are
always tinted. Frames are preferred, because a tint mixes with the fill colour and may then resemble the colour of
another group (yellow on closed cells is brown). While heat is shown, no cell is tinted.
"""

from collections.abc import Iterable

import numpy as np

from ui.draw.kernels import paint
from ui.draw.layer import Layer
from ui.draw.map_colours import group_colours
from ui.draw.map_painter import MapPainter
from ui.draw.svg_painter import TINT, SvgPainter
from ui.draw.svg_paths import hex_code_of_colour, short_decimal_text
from ui.draw.swatch import Swatch
from ui.draw.theme import mix_colours, pack_colour

GROUP_ALPHA = 110  # opacity of the tint of cells of a group, 0 to 255
FILLED = ("dead",)
"""Groups that are tinted even if cells have frames, because another group has a similar colour."""


def draw(picture: MapPainter) -> None:
    if picture.walker_view is None:
        return
    colours = group_colours(picture.palette)
    for name, cells in picture.walker_view.agent.groups.items():
        if not cells.size:
            continue
        if is_group_tinted(name, picture.has_cell_symbols, picture.has_heat):
            picture.tint_cells(cells, colours[name], GROUP_ALPHA)
        if picture.has_cell_symbols:
            picture.draw_cell_frames(cells, colours[name])


def is_group_tinted(name: str, has_frame: bool, has_heat: bool) -> bool:
    return not has_heat and (name in FILLED or not has_frame)


def draw_swatch(swatch: Swatch) -> None:
    """Draw two cells next to each other, marked as the groups "local space" and "dead"."""
    draw_group_sample(swatch, "local space", 0, swatch.width // 2)
    draw_group_sample(swatch, "dead", swatch.width // 2, swatch.width)


def draw_group_sample(swatch: Swatch, name: str, left: int, right: int) -> None:
    """Draw a closed cell with the frame or tint of a group, between two x coordinates of the swatch."""
    palette, colour = swatch.palette, group_colours(swatch.palette)[name]
    ground = mix_colours(palette.closed, colour, TINT) if is_group_tinted(name, True, False) else palette.closed
    swatch.fill_columns(left, right, pack_colour(ground))
    for inset in range(swatch.to_pixels(1), swatch.to_pixels(3)):
        box = (left + inset, inset, right - inset, swatch.height - inset)
        paint.paint_rect_outline(swatch.viewport, *box, pack_colour(colour))


def svg_elements(drawing: SvgPainter) -> Iterable[str]:
    colours = group_colours(drawing.palette)
    for name, cells in drawing.agent_view.groups.items():
        mask = np.zeros(drawing.flags_by_cell.size, np.bool_)
        mask[cells] = True
        yield from drawing.cell_tint_elements(mask, colours[name])


def svg_swatch(drawing: SvgPainter) -> str:
    if not drawing.agent_view.groups:
        return ""
    palette = drawing.palette
    tint = f'fill="{hex_code_of_colour(palette.agent)}" fill-opacity="{short_decimal_text(TINT)}"'
    return f'{drawing.box_swatch(palette.free)}<rect width="2" height="1" {tint}/>'


LAYER = Layer(
    key="groups",
    name="Agent's marks",
    list_position=14,
    drawing_depth=36,
    legend_text="groups of cells: local search space, queue, dead, redundant, inconsistent, corridor, new contour",
    draw=draw,
    draw_swatch=draw_swatch,
    svg_elements=svg_elements,
    svg_swatch=svg_swatch,
    is_agent_specific=True,
)
