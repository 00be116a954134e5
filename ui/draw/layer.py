"""What a layer of a map picture is. Every file of ui/draw/layers/ makes one and calls it LAYER."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ui.draw.drawing import Drawing
from ui.draw.picture import Picture
from ui.draw.swatch import Swatch

TEXT_DEPTH, STEP_DEPTH = 90, 215
"""Where the numbers in cells, and in slow motion the last expansion, lie among the layers."""

DIGITS = 9
MODIFIERS = ("Ctrl+", "Ctrl+Shift+", "Ctrl+Alt+")
"""The first nine layers have Ctrl and a digit, the next nine the same with Shift, the next nine with Alt."""


def always(picture: Picture) -> bool:
    return True


@dataclass(frozen=True, eq=False)
class Layer:
    """One layer: what it is called, where it lies, and how it looks on the map, in legends and in SVG drawings.

    First every cell is filled, in one pass of a kernel: with its terrain, its heat, or what a search thinks of it.
    Then layers draw what lies above the fills, from the least depth to the greatest: below 100 inside cells, from 100
    on lines from cell to cell, from 200 on markers.
    """

    key: str  # in settings and files; the name of its module
    name: str
    place: int  # in lists, from 1; it says the keys, too
    depth: int
    legend: str  # what the mark means, one short sentence
    swatch: Callable[[Swatch], None]  # the mark on a small patch of free ground

    draw: Callable[[Picture], None] | None = None
    fills: int = 0  # the bits of a cell's word (ui/draw/kernels/cellwords.py) whose colour belongs to this layer
    is_filled: Callable[[Picture], bool] = always  # whether those are filled while the layer is on
    is_replaced_by_heat: bool = False  # a cell has one fill: where there is heat, this one is not seen

    svg: Callable[[Drawing], Iterable[str]] | None = None
    svg_fill: Callable[[Drawing], Iterable[str]] | None = None
    svg_swatch: Callable[[Drawing], str] | None = None  # in a box of 2 x 1 units; None or "": not in the legend

    is_of_mind: bool = True  # it shows what one agent knows or has done: nothing of a crowd in which none is followed
    is_special: bool = False  # only agents draw it whose spec says so, see AgentSpec.shows
    is_on: bool = True  # at first
    is_in_legend: bool = True  # of videos and pictures; False: it shows what it is
    is_explained: bool = True  # in the sidebar, in words

    @property
    def shortcut(self) -> str:
        """Return the usual key of this layer; "" for those after the 27th, which are only listed."""
        nines, digit = divmod(self.place - 1, DIGITS)
        return f"{MODIFIERS[nines]}{digit + 1}" if nines < len(MODIFIERS) else ""
