"""Definition of a layer of the map. Every module in ui/draw/layers/ defines one, as LAYER."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ui.draw.drawing import SvgPainter
from ui.draw.picture import Picture
from ui.draw.swatch import Swatch

TEXT_DEPTH, STEP_DEPTH = 90, 215
"""Depths, among the layers, of the numbers in cells and of the last expansion in slow motion."""

DIGITS = 9
MODIFIERS = ("Ctrl+", "Ctrl+Shift+", "Ctrl+Alt+")
"""Modifier keys of the first, second and third nine layers; a digit from 1 to 9 follows."""


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
    place: int  # rank in lists, from 1; determines the shortcut
    depth: int
    legend: str  # meaning of the mark, in one short sentence
    swatch: Callable[[Swatch], None]  # draws the mark on a small patch of free terrain

    draw: Callable[[Picture], None] | None = None  # draws the layer on a map, above the fills
    fills: int = 0  # bits of the cell words (ui/draw/kernels/cellwords.py) whose fill belongs to this layer
    is_filled: Callable[[Picture], bool] = always  # whether `fills` is filled while the layer is on
    is_replaced_by_heat: bool = False  # whether heat hides this layer, because a cell has only one fill

    svg: Callable[[SvgPainter], Iterable[str]] | None = None  # returns SVG elements of lines and marks
    svg_fill: Callable[[SvgPainter], Iterable[str]] | None = None  # returns SVG elements of fills
    svg_swatch: Callable[[SvgPainter], str] | None = None  # mark in a box of 2 x 1 units; None or "": not in the legend

    is_of_mind: bool = True  # whether it shows one agent's search or walk; not drawn for a crowd without selected agent
    is_special: bool = False  # whether it applies only to agents that list it in AgentSpec.shows
    is_on: bool = True  # default visibility
    is_in_legend: bool = True  # whether legends of videos and pictures list it; False: the mark needs no explanation
    is_explained: bool = True  # whether the sidebar describes it

    @property
    def shortcut(self) -> str:
        """Return the default shortcut of this layer; "" for layers after the 27th, which have none."""
        nines, digit = divmod(self.place - 1, DIGITS)
        return f"{MODIFIERS[nines]}{digit + 1}" if nines < len(MODIFIERS) else ""
