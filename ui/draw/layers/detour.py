"""Layer "Shortcut search": the cells that TBA* has expanded in its search for a shortcut from the path to the agent."""

from collections.abc import Iterable

from ui.draw.drawing import SvgPainter
from ui.draw.kernels import cellwords
from ui.draw.layer import Layer
from ui.draw.map_colours import detour_colour
from ui.draw.swatch import Swatch


def swatch(swatch: Swatch) -> None:
    swatch.fill_words(cellwords.FREE | cellwords.DETOUR)


def svg_fill(drawing: SvgPainter) -> Iterable[str]:
    return drawing.fill(drawing.words & cellwords.DETOUR != 0, detour_colour(drawing.palette))


LAYER = Layer(
    key="detour",
    name="Shortcut search",
    place=13,
    depth=35,
    legend="TBA*'s search for a shortcut from the path to the agent",
    fills=cellwords.DETOUR,
    is_replaced_by_heat=True,
    swatch=swatch,
    svg_fill=svg_fill,
    svg_swatch=lambda drawing: drawing.box_swatch(detour_colour(drawing.palette)),
    is_special=True,
)
