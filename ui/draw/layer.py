"""Definition of a layer of the map. Every module in ui/draw/layers/ defines one, as LAYER."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ui.draw.drawing import SvgPainter
from ui.draw.picture import Picture
from ui.draw.swatch import Swatch

TEXT_DEPTH, STEP_DEPTH = 90, 215
"""Depths at which two marks without a layer are drawn: the numbers in cells, and the last expansion in slow motion."""

DIGITS = 9
MODIFIERS = ("Ctrl+", "Ctrl+Shift+", "Ctrl+Alt+")
"""Prefixes of the shortcuts of layers 1 to 9, 10 to 18 and 19 to 27. A digit from 1 to 9 follows."""


def always(picture: Picture) -> bool:
    return True


@dataclass(frozen=True, eq=False)
class Layer:
    """One kind of marks on the map: its name, its depth, and functions that draw it on maps, in legends and in SVG.

    A frame begins with one pass of a kernel that fills every cell with its terrain, its heat or its state in the search
    (open, closed). Then the layers draw on top in ascending order of depth. Depths below 100 are for marks inside
    cells, 100 to 199 for lines from cell to cell, 200 and above for markers.
    """

    key: str  # identifier in settings and files; name of the layer's module
    name: str
    place: int  # position in lists of layers, from 1; determines the shortcut
    depth: int  # drawing order: layers of higher depth are drawn later, on top
    legend: str  # meaning of the mark, in one short sentence
    swatch: Callable[[Swatch], None]  # draws the mark on a small patch of free terrain

    draw: Callable[[Picture], None] | None = None  # draws the layer on a map, above the fills
    fills: int = 0  # bits of the cell words (ui/draw/kernels/cellwords.py) whose fill belongs to this layer
    # whether cells with the bits `fills` are filled while the layer is on
    is_filled: Callable[[Picture], bool] = always
    is_replaced_by_heat: bool = False  # whether heat hides this layer, because a cell has only one fill

    svg: Callable[[SvgPainter], Iterable[str]] | None = None  # returns SVG elements of lines and marks
    svg_fill: Callable[[SvgPainter], Iterable[str]] | None = None  # returns SVG elements of fills
    # returns the mark for the legend of SVG files, in a box of 2 x 1 units; None or "": not in the legend
    svg_swatch: Callable[[SvgPainter], str] | None = None

    is_of_mind: bool = True  # whether it shows one agent's search or walk; a crowd needs a selected agent to draw it
    is_special: bool = False  # whether it applies only to agents that list it in AgentSpec.shows
    is_on: bool = True  # default visibility
    is_in_legend: bool = True  # whether legends of videos and pictures list the layer
    is_explained: bool = True  # whether the sidebar shows the text `legend`

    @property
    def shortcut(self) -> str:
        """Return the default shortcut of this layer; "" for layers after the 27th, which have none."""
        nines, digit = divmod(self.place - 1, DIGITS)
        return f"{MODIFIERS[nines]}{digit + 1}" if nines < len(MODIFIERS) else ""
