"""SVG painter of one panel's map: the content of the panel, and helpers with which layers create SVG elements."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.agent_api import AgentView
from sim.world_view import WalkerView, WorldSnapshot
from ui.draw.heat_scale import HeatScale
from ui.draw.panel_content import CellFlags
from ui.draw.svg_paths import Mask, Point, hex_code_of_colour, is_light_colour, outline_path, short_decimal_text
from ui.draw.theme import Colour, Palette
from ui.model.crowds import Crowd
from ui.model.layer_state import LayerState
from ui.model.run import Edits
from ui.model.trails import Trail

TINT = 0.43  # opacity of translucent fills, 0 to 1


@dataclass(frozen=True)
class SvgPainter:
    """Content of one panel, and helpers with which layers create the SVG elements of its map.

    The unit of length is a cell. The origin of fills is the upper left corner of the map. Lines and marks are in an
    SVG group that is shifted by half a cell, so that integer coordinates are the middles of cells.
    """

    snapshot: WorldSnapshot
    walker_view: WalkerView
    cells: CellFlags
    trail: Trail
    recent_edits: Edits
    layer_state: LayerState
    heat_scale: HeatScale
    palette: Palette
    line_width: float  # width of an ordinary line, in cells
    crowd: Crowd | None = None
    # whether an agent's search, path and trail are drawn; False for a crowd without a selected agent
    has_shown_agent: bool = True

    @property
    def width(self) -> int:
        return int(self.snapshot.grid.width)

    @property
    def height(self) -> int:
        return int(self.snapshot.grid.height)

    @property
    def agent_view(self) -> AgentView:
        return self.walker_view.agent

    @property
    def flags_by_cell(self) -> npt.NDArray[np.uint8]:
        return self.cells.flags

    @property
    def has_heat(self) -> bool:
        return self.cells.heat_bands.size > 0

    @property
    def marker_radius(self) -> float:
        """Return half the size of a marker, in cells."""
        return max(0.34, 3.2 * self.line_width)

    def point_of_cell(self, cell: int) -> Point:
        return cell % self.width, cell // self.width

    def points_of_cells(self, cells: npt.NDArray[np.int32]) -> list[Point]:
        return [self.point_of_cell(int(cell)) for cell in cells]

    def cell_fill_elements(self, flat: Mask, colour: Colour, more: str = "") -> Iterable[str]:
        """Yield one path that fills all cells of a mask; nothing if the mask is empty.

        Args:
            flat: Mask with one entry per cell.
            colour: Fill colour.
            more: Further attributes of the path element, with a leading space.
        """
        data = outline_path(flat.reshape(self.height, self.width))
        if data:
            yield f'<path fill="{hex_code_of_colour(colour)}" fill-rule="evenodd"{more} d="{data}"/>'

    def cell_tint_elements(self, flat: Mask, colour: Colour) -> Iterable[str]:
        """Yield a translucent fill of all cells of a mask, for use in the SVG group of lines and marks."""
        return self.cell_fill_elements(
            flat, colour, f' fill-opacity="{short_decimal_text(TINT)}" transform="translate(-.5 -.5)"'
        )

    def line_with_casing(self, data: str, colour: Colour, width: float, more: str = "") -> Iterable[str]:
        """Yield a line on top of a wider casing that separates it from any background.

        Args:
            data: Path data of the line; nothing is drawn if it is empty.
            colour: Colour of the line.
            width: Width of the line, as a multiple of the width of an ordinary line.
            more: Further attributes of both path elements, with a leading space.
        """
        if data:
            casing_width, line_width = (
                short_decimal_text((width + 0.9) * self.line_width),
                short_decimal_text(width * self.line_width),
            )
            yield f'<path stroke="{self.casing_colour(colour)}" stroke-width="{casing_width}"{more} d="{data}"/>'
            yield f'<path stroke="{hex_code_of_colour(colour)}" stroke-width="{line_width}"{more} d="{data}"/>'

    def casing_colour(self, colour: Colour) -> str:
        """Return the hex code of the casing colour for a mark: dark around light marks, light around dark marks."""
        return hex_code_of_colour(self.palette.casing_dark if is_light_colour(colour) else self.palette.casing_light)

    # --- swatches -------------------------------------------------------------------------------------

    @staticmethod
    def box_swatch(colour: Colour) -> str:
        return f'<rect width="2" height="1" fill="{hex_code_of_colour(colour)}"/>'

    @staticmethod
    def line_swatch(colour: Colour, width: str = ".16", data: str = "M0 .5H2", more: str = "") -> str:
        return f'<path d="{data}" fill="none" stroke="{hex_code_of_colour(colour)}" stroke-width="{width}"{more}/>'
