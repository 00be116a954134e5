"""Legend entries: the exact mark of each layer on a small patch of map, and the colour bar of the heat."""

from functools import lru_cache

import pygame

from ui.draw.heat import HeatScale
from ui.draw.layers import Layer
from ui.draw.swatch import Swatch
from ui.draw.theme import Palette

Rect = tuple[int, int, int, int]


def legend_swatch(surface: pygame.Surface, rect: Rect, layer: Layer, palette: Palette, ui_scale: float = 1.0) -> None:
    """Draw a layer's mark as it appears on the map, on a patch of free ground that fills `rect`."""
    surface.blit(_swatch(rect[2], rect[3], layer, palette, ui_scale), rect)


@lru_cache(maxsize=256)
def _swatch(width: int, height: int, layer: Layer, palette: Palette, ui_scale: float) -> pygame.Surface:
    surface = pygame.Surface((max(1, width), max(1, height)), 0, 32)
    swatch = Swatch(surface, palette, ui_scale)
    layer.swatch(swatch)
    swatch.unlock()
    return surface


def draw_colour_bar(surface: pygame.Surface, rect: Rect, scale: HeatScale, palette: Palette) -> None:
    """The bands of a heat scale side by side; their limits are in `scale.labels`."""
    x, y, width, height = rect
    colours = scale.colours(palette)
    for i, colour in enumerate(colours):
        left, right = x + i * width // len(colours), x + (i + 1) * width // len(colours)
        surface.fill(colour, (left, y, right - left, height))
    if scale.is_difference:  # between B and A lies nothing: the free ground
        surface.fill(palette.free, (x + width // 2 - 1, y, 2, height))
