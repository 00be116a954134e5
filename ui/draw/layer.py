"""Class of the layers of the map. Every module in ui/draw/layers/ defines one layer, as LAYER."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ui.draw.map_painter import MapPainter
from ui.draw.svg_painter import SvgPainter
from ui.draw.swatch import Swatch

TEXT_DEPTH, STEP_DEPTH = 90, 215
"""Depths of two drawings that are no layers: the numbers g, h, f in cells, and the last expansion in slow motion."""


def is_always_filled(picture: MapPainter) -> bool:
    return True


@dataclass(frozen=True, eq=False)
class Layer:
    """One kind of drawing on the map, such as the trail: its name, drawing order and drawing functions.

    A frame begins with one pass of a kernel that fills every cell with its terrain, its heat or its state in the search
    (open, closed). Then the layers draw on top of these fills, in ascending order of depth. Depths below 100 are for
    marks inside cells, 100 to 199 for lines from cell to cell, 200 and above for markers.
    """

    key: str  # identifier of the layer in settings and files, equal to the name of its module
    name: str
    list_position: int  # position in lists of layers, counted from 1; determines the default key of its command
    drawing_depth: int  # drawing order: layers of higher depth are drawn later, on top of the others
    legend_text: str  # explanation of the layer for the legend, one short sentence
    draw_swatch: Callable[[Swatch], None]  # callback that draws a sample of the layer for the legend

    draw: Callable[[MapPainter], None] | None = None  # callback that draws the layer on a map, on top of the fills
    filled_flags: int = 0  # bit mask of the cell flags (such as OPEN) whose fill colour this layer switches on and off
    # callback that returns whether this layer fills cells at the current zoom, while it is on
    is_filled: Callable[[MapPainter], bool] = is_always_filled
    is_replaced_by_heat: bool = False  # whether the layer is hidden while heat is shown, because both fill cells

    # Callback that yields SVG elements of lines and marks.
    svg_elements: Callable[[SvgPainter], Iterable[str]] | None = None
    # Callback that yields SVG elements of filled cells.
    svg_fill_elements: Callable[[SvgPainter], Iterable[str]] | None = None
    # callback that returns the SVG legend sample, in a box of 2 x 1 units; None or "": not in the legend
    svg_swatch: Callable[[SvgPainter], str] | None = None

    is_for_single_agent: bool = True  # whether the layer shows a single agent; for a crowd, that is the selected agent
    is_agent_specific: bool = False  # whether the layer is offered only for agents that list it in AgentSpec.shows
    is_on_by_default: bool = True  # whether the layer is visible by default
    is_in_legend: bool = True  # whether the legends of videos and pictures include the layer
    is_explained: bool = True  # whether the sidebar shows the explanation of the layer
