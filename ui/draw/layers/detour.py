"""Layer "Shortcut search": the cells that TBA* has expanded in its search for a shortcut from the path to the agent."""

from collections.abc import Iterable

from ui.draw.kernels import cell_flags
from ui.draw.layer import Layer
from ui.draw.map_colours import detour_colour
from ui.draw.svg_painter import SvgPainter
from ui.draw.swatch import Swatch


def draw_swatch(swatch: Swatch) -> None:
    swatch.fill_with_cell_colours(cell_flags.FREE | cell_flags.DETOUR)


def svg_fill_elements(drawing: SvgPainter) -> Iterable[str]:
    return drawing.cell_fill_elements(drawing.flags_by_cell & cell_flags.DETOUR != 0, detour_colour(drawing.palette))


LAYER = Layer(
    key="detour",
    name="Shortcut search",
    list_position=13,
    drawing_depth=35,
    legend_text="TBA*'s search for a shortcut from the path to the agent",
    filled_flags=cell_flags.DETOUR,
    is_replaced_by_heat=True,
    draw_swatch=draw_swatch,
    svg_fill_elements=svg_fill_elements,
    svg_swatch=lambda drawing: drawing.box_swatch(detour_colour(drawing.palette)),
    is_agent_specific=True,
)
