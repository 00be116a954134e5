"""One panel as an SVG drawing: what its layers draw with (ui/draw/layers/)."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.agent_api import AgentView
from sim.walker import WalkerView
from sim.world import Snapshot
from ui.draw.cells import CellWords
from ui.draw.heat import HeatScale
from ui.draw.svg_paths import Mask, Point, hexed, is_light, n, outline_path
from ui.draw.theme import Colour, Palette
from ui.model.crowds import Crowd
from ui.model.layers import LayerState
from ui.model.run import Edits
from ui.model.trails import Trail

TINT = 0.43  # how much of a colour shows where it is laid over others


@dataclass(frozen=True)
class Drawing:
    """On the map the unit is a cell; lines and marks are drawn in a group whose origin is the middle of a cell."""

    snapshot: Snapshot
    view: WalkerView
    cells: CellWords
    trail: Trail
    edits: Edits
    layers: LayerState
    scale: HeatScale
    palette: Palette
    line: float  # width of an ordinary line, in cells
    crowd: Crowd | None = None
    has_mind: bool = True  # whether it shows the mind of an agent; of a crowd only where one was picked

    @property
    def width(self) -> int:
        return int(self.snapshot.grid.width)

    @property
    def height(self) -> int:
        return int(self.snapshot.grid.height)

    @property
    def agent(self) -> AgentView:
        return self.view.agent

    @property
    def words(self) -> npt.NDArray[np.uint8]:
        return self.cells.words

    @property
    def has_heat(self) -> bool:
        return self.cells.bands.size > 0

    @property
    def marker(self) -> float:
        """Half the size of a marker, in cells."""
        return max(0.34, 3.2 * self.line)

    def xy(self, cell: int) -> Point:
        return cell % self.width, cell // self.width

    def points(self, cells: npt.NDArray[np.int32]) -> list[Point]:
        return [self.xy(int(cell)) for cell in cells]

    def fill(self, flat: Mask, colour: Colour, more: str = "") -> Iterable[str]:
        """All cells of a mask in one path."""
        data = outline_path(flat.reshape(self.height, self.width))
        if data:
            yield f'<path fill="{hexed(colour)}" fill-rule="evenodd"{more} d="{data}"/>'

    def lay_over(self, flat: Mask, colour: Colour) -> Iterable[str]:
        """A tint over all cells of a mask, among the lines and marks."""
        return self.fill(flat, colour, f' fill-opacity="{n(TINT)}" transform="translate(-.5 -.5)"')

    def cased(self, data: str, colour: Colour, width: float, more: str = "") -> Iterable[str]:
        """A line in its colour, on a wider one that sets it off from any background."""
        if data:
            wide, narrow = n((width + 0.9) * self.line), n(width * self.line)
            yield f'<path stroke="{self.around(colour)}" stroke-width="{wide}"{more} d="{data}"/>'
            yield f'<path stroke="{hexed(colour)}" stroke-width="{narrow}"{more} d="{data}"/>'

    def around(self, colour: Colour) -> str:
        """The casing of a mark of this colour."""
        return hexed(self.palette.casing_dark if is_light(colour) else self.palette.casing_light)

    # --- swatches -------------------------------------------------------------------------------------

    @staticmethod
    def box_swatch(colour: Colour) -> str:
        return f'<rect width="2" height="1" fill="{hexed(colour)}"/>'

    @staticmethod
    def line_swatch(colour: Colour, width: str = ".16", data: str = "M0 .5H2", more: str = "") -> str:
        return f'<path d="{data}" fill="none" stroke="{hexed(colour)}" stroke-width="{width}"{more}/>'
