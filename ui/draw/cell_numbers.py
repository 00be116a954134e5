"""Numbers g, h and f of the search, written into cells that are large enough for text."""

from math import isfinite

import numpy as np
import numpy.typing as npt
import pygame

from sim.world_view import WalkerView, WorldSnapshot
from ui.draw.fonts import FontCache
from ui.draw.kernels import cell_flags
from ui.draw.kernels.paint import first_pixel_of_cells
from ui.draw.panel_content import CellFlags
from ui.draw.theme import colour_from_hex
from ui.model.camera import Camera
from ui.model.cell_values import search_values_of_cell

TEXT_FROM_PX = 48.0  # smallest side of a cell, in design units, at which g, h and f are written into cells
WIDE_FROM_PX = 80  # smallest side of a cell, in design units, at which g and h have four digits instead of three

_DARK_INK, _LIGHT_INK = colour_from_hex("#14171C"), colour_from_hex("#F1F3F6")
_fonts = FontCache()


def draw_cell_numbers(
    surface: pygame.Surface,
    rect: tuple[int, int, int, int],
    camera: Camera,
    snapshot: WorldSnapshot,
    walker: WalkerView,
    cells: CellFlags,
    table: npt.NDArray[np.uint32],
    ui_scale: float = 1.0,
) -> None:
    """Write g (upper left), h (upper right) and f (lower right) into every visible cell that the search knows.

    Args:
        surface: Surface to draw on.
        rect: Rectangle of the map on the surface.
        camera: Part of the map that is shown.
        snapshot: World that is shown.
        walker: Agent whose search the numbers belong to.
        cells: Flags and heat bands of all cells of the panel.
        table: Fill colours by flags and heat band of a cell; they decide between dark and light text.
        ui_scale: Pixels per design unit.
    """
    search = walker.agent.search
    if search is None:
        return
    grid = snapshot.grid
    zoom = float(camera.zoom)
    size = round(max(10 * ui_scale, min(15 * ui_scale, zoom / 5)))
    last_x, last_y = camera.px_to_map(rect[2], rect[3])
    before = surface.get_clip()
    surface.set_clip(pygame.Rect(rect).clip(before))
    for y in range(max(0, int(camera.top)), min(grid.height, int(last_y) + 1)):
        for x in range(max(0, int(camera.left)), min(grid.width, int(last_x) + 1)):
            cell = grid.cell(x, y)
            flags = int(cells.flags[cell])
            if not flags & cell_flags.KNOWN:
                continue
            band = int(cells.heat_bands[cell]) if cells.heat_bands.size else 0
            ink = _text_colour_on(int(table[band << 8 | flags]))
            left = rect[0] + int(first_pixel_of_cells(x, camera.left, zoom))
            top = rect[1] + int(first_pixel_of_cells(y, camera.top, zoom))
            _write_cell_numbers(
                surface,
                (left, top, round(zoom)),
                search_values_of_cell(snapshot, walker, cell),
                size,
                ink,
                WIDE_FROM_PX * ui_scale,
            )
    surface.set_clip(before)


def short_number_text(value: float, max_letters: int) -> str:
    """Return a number as text, with one decimal if that takes at most `max_letters` characters, otherwise rounded."""
    if not isfinite(value):
        return "inf"
    text = f"{value:.1f}".removesuffix(".0")
    return text if len(text) <= max_letters else f"{value:.0f}"


def _text_colour_on(colour: int) -> tuple[int, int, int]:
    """Return the text colour (dark or light) that is easier to read on a background of this packed colour."""
    red, green, blue = colour >> 16 & 255, colour >> 8 & 255, colour & 255
    return _DARK_INK if 0.299 * red + 0.587 * green + 0.114 * blue > 130 else _LIGHT_INK


def _write_cell_numbers(
    surface: pygame.Surface,
    cell: tuple[int, int, int],
    values: tuple[float, float, float],
    size: int,
    ink: tuple[int, int, int],
    wide_from: float = WIDE_FROM_PX,
) -> None:
    left, top, side = cell
    digits = 4 if side >= wide_from else 3
    texts = short_number_text(values[0], digits), short_number_text(values[1], digits), short_number_text(values[2], 4)
    g, h, f = (_fonts.render_text(text, "mono", size, ink) for text in texts)
    surface.blit(g, (left + 3, top + 1))
    surface.blit(h, (left + side - 2 - h.get_width(), top + 1))
    surface.blit(f, (left + side - 2 - f.get_width(), top + side - 1 - f.get_height()))
