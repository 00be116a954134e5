"""Swatch: a small patch of map in a legend, on which a layer draws a sample of itself."""

import numpy as np
import pygame

from ui.draw import marker_shapes
from ui.draw.kernels import paint
from ui.draw.kernels.cell_flags import WALL
from ui.draw.kernels.paint import Viewport
from ui.draw.map_colours import fill_colour_table
from ui.draw.theme import Colour, Palette, pack_colour

STRIP = np.arange(3, dtype=np.int32)
"""Indices of three cells in a row. Their middles are at the left edge, the middle and the right edge of a swatch."""


class Swatch:
    """Patch of free terrain for the legend sample of a layer. Unlock it before blitting its surface."""

    def __init__(self, surface: pygame.Surface, palette: Palette, ui_scale: float) -> None:
        self.palette, self.ui_scale = palette, ui_scale
        self.width, self.height = surface.get_size()
        zoom = self.width / 2.0
        top = 0.5 - self.height / 2.0 / zoom
        self.viewport = Viewport(
            marker_shapes.locked_pixels_of(surface), 0, 0, self.width, self.height, zoom, 0.5, top, 3, 1
        )
        self.fill_columns(0, self.width, pack_colour(palette.free))

    def unlock_pixels(self) -> None:
        self.viewport = self.viewport._replace(pixels=np.zeros((0, 0), np.uint32))

    def to_pixels(self, units: float) -> int:
        return max(1, round(units * self.ui_scale))

    @property
    def two_cell_viewport(self) -> Viewport:
        """Return the swatch as a map of two cells: cell 0 fills the left half, and cell 1 the right half."""
        return self.viewport._replace(left=0.0)

    def fill_columns(self, left: int, right: int, colour: int) -> None:
        paint.fill_rect(self.viewport, left, 0, right, self.height, colour)

    def fill_with_cell_colours(self, *cell_flags: int) -> None:
        """Fill equal parts of the swatch, from left to right, with the fill colours of these cell flags."""
        table = fill_colour_table(self.palette, 0, None)
        for i, flags in enumerate(cell_flags):
            left, right = i * self.width // len(cell_flags), (i + 1) * self.width // len(cell_flags)
            if flags == WALL:
                self.draw_wall(left, right)
            else:
                self.fill_columns(left, right, int(table[flags]))

    def draw_wall(self, left: int, right: int) -> None:
        """Draw a wall as on the map: an outline around an area in the background colour."""
        self.fill_columns(left, right, pack_colour(self.palette.outside))
        for inset in range(self.to_pixels(1)):
            box = (left + inset, inset, right - inset, self.height - inset)
            paint.paint_rect_outline(self.viewport, *box, pack_colour(self.palette.wall))

    def draw_markers(self, *names: str) -> None:
        """Draw markers, such as "start" and "goal", next to each other."""
        for i, name in enumerate(names):
            share = (i + 0.5) / len(names)
            for mask, colour in marker_shapes.marker_masks(
                name, min(16.0, self.height * 0.9), self.ui_scale * 0.9, self.palette
            ):
                size = mask.shape[0]
                x, y = round(self.width * share - size / 2), round(self.height / 2 - size / 2)
                paint.stamp_mask(self.viewport, mask, x, y, colour)

    def strokes_with_casing(self, colour: Colour) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return both strokes of a line as (extra width, packed colour): first its casing, then the line itself."""
        return (2 * self.to_pixels(1), pack_colour(marker_shapes.casing_colour_for(self.palette, colour))), (
            0,
            pack_colour(colour),
        )
