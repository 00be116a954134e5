"""SVG painter of one panel's map: the content of the panel, and helpers with which layers create SVG elements."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.agent_api import AgentView
from sim.walker import WalkerView
from sim.world import Snapshot
from ui.draw.cells import CellFlags
from ui.draw.heat import HeatScale
from ui.draw.svg_paths import Mask, Point, hexed, is_light, n, outline_path
from ui.draw.theme import Colour, Palette
from ui.model.crowds import Crowd
from ui.model.layers import LayerState
from ui.model.run import Edits
from ui.model.trails import Trail

TINT = 0.43  # opacity of translucent fills, 0 to 1


@dataclass(frozen=True)
class SvgPainter:
    """Content of one panel, and helpers with which layers create the SVG elements of its map.

    The unit of length is a cell. The origin of fills is the upper left corner of the map. Lines and marks are in an
    SVG group that is shifted by half a cell, so that integer coordinates are the middles of cells.
    """

    snapshot: Snapshot
    view: WalkerView
    cells: CellFlags
    trail: Trail
    edits: Edits
    layers: LayerState
    scale: HeatScale
    palette: Palette
    line: float  # width of an ordinary line, in cells
    crowd: Crowd | None = None
    # whether an agent's search, path and trail are drawn; False for a crowd without a selected agent
    has_mind: bool = True

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
        """Return half the size of a marker, in cells."""
        return max(0.34, 3.2 * self.line)

    def xy(self, cell: int) -> Point:
        return cell % self.width, cell // self.width

    def points(self, cells: npt.NDArray[np.int32]) -> list[Point]:
        return [self.xy(int(cell)) for cell in cells]

    def fill(self, flat: Mask, colour: Colour, more: str = "") -> Iterable[str]:
        """Yield one path that fills all cells of a mask; nothing if the mask is empty.

        Args:
            flat: Mask with one entry per cell.
            colour: Fill colour.
            more: Further attributes of the path element, with a leading space.
        """
        data = outline_path(flat.reshape(self.height, self.width))
        if data:
            yield f'<path fill="{hexed(colour)}" fill-rule="evenodd"{more} d="{data}"/>'

    def lay_over(self, flat: Mask, colour: Colour) -> Iterable[str]:
        """Yield a translucent fill of all cells of a mask, for use in the SVG group of lines and marks."""
        return self.fill(flat, colour, f' fill-opacity="{n(TINT)}" transform="translate(-.5 -.5)"')

    def cased(self, data: str, colour: Colour, width: float, more: str = "") -> Iterable[str]:
        """Yield a line on top of a wider casing that separates it from any background.

        Args:
            data: Path data of the line; nothing is drawn if it is empty.
            colour: Colour of the line.
            width: Width of the line, as a multiple of the width of an ordinary line.
            more: Further attributes of both path elements, with a leading space.
        """
        if data:
            wide, narrow = n((width + 0.9) * self.line), n(width * self.line)
            yield f'<path stroke="{self.around(colour)}" stroke-width="{wide}"{more} d="{data}"/>'
            yield f'<path stroke="{hexed(colour)}" stroke-width="{narrow}"{more} d="{data}"/>'

    def around(self, colour: Colour) -> str:
        """Return the hex code of the casing colour for a mark: dark around light marks, light around dark marks."""
        return hexed(self.palette.casing_dark if is_light(colour) else self.palette.casing_light)

    # --- swatches -------------------------------------------------------------------------------------

    @staticmethod
    def box_swatch(colour: Colour) -> str:
        return f'<rect width="2" height="1" fill="{hexed(colour)}"/>'

    @staticmethod
    def line_swatch(colour: Colour, width: str = ".16", data: str = "M0 .5H2", more: str = "") -> str:
        return f'<path d="{data}" fill="none" stroke="{hexed(colour)}" stroke-width="{width}"{more}/>'
