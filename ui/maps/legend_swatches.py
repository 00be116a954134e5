"""Legend swatches: a sample of each layer on a small patch of map, and the colour bar of the heat."""

from functools import lru_cache

import pygame

from ui.draw import marker_shapes
from ui.draw.heat_scale import HeatScale
from ui.draw.kernels import paint
from ui.draw.kernels.cell_flags import SWAMP, TREES, WATER
from ui.draw.layers import Layer, groups
from ui.draw.map_colours import texture_colours
from ui.draw.swatch import Swatch
from ui.draw.theme import Palette, pack_colour

Rect = tuple[int, int, int, int]


def draw_layer_swatch(
    surface: pygame.Surface, rect: Rect, layer: Layer, palette: Palette, ui_scale: float = 1.0
) -> None:
    """Draw the legend sample of a layer into `rect`, as the layer appears on free terrain of the map."""
    surface.blit(_layer_swatch_surface(rect[2], rect[3], layer, palette, ui_scale), rect)


@lru_cache(maxsize=256)
def _layer_swatch_surface(width: int, height: int, layer: Layer, palette: Palette, ui_scale: float) -> pygame.Surface:
    surface = pygame.Surface((max(1, width), max(1, height)), 0, 32)
    swatch = Swatch(surface, palette, ui_scale)
    layer.draw_swatch(swatch)
    swatch.unlock_pixels()
    return surface


def draw_terrain_swatch(surface: pygame.Surface, rect: Rect, flags: int, palette: Palette) -> None:
    """Draw the legend sample of one kind of terrain (TREES, SWAMP or WATER) with its texture into `rect`."""
    x, y, width, height = rect
    patch = pygame.Surface((max(1, width), max(1, height)), 0, 32)
    swatch = Swatch(patch, palette, 1.0)
    swatch.fill_with_cell_colours(flags)
    side = max(height, round(marker_shapes.TEXTURES_FROM_PX))
    kind = (TREES, SWAMP, WATER).index(flags)
    mask, colour = marker_shapes.texture_masks(side)[kind], pack_colour(texture_colours(palette)[kind])
    for left in range(0, width, side):
        paint.stamp_mask(swatch.viewport, mask, left, 0, colour)
    swatch.unlock_pixels()
    surface.blit(patch, (x, y))


def draw_group_swatch(surface: pygame.Surface, rect: Rect, name: str, palette: Palette, ui_scale: float) -> None:
    """Draw the legend sample of a group of cells (one of sim.agent_api.GROUP_NAMES) into `rect`."""
    x, y, width, height = rect
    patch = pygame.Surface((max(1, width), max(1, height)), 0, 32)
    swatch = Swatch(patch, palette, ui_scale)
    for i in range(2):
        groups.draw_group_sample(swatch, name, i * width // 2, (i + 1) * width // 2)
    swatch.unlock_pixels()
    surface.blit(patch, (x, y))


def draw_marker_swatch(
    surface: pygame.Surface, rect: Rect, names: tuple[str, ...], palette: Palette, ui_scale: float
) -> None:
    """Draw markers, such as "start" and "goal", next to each other on a patch of free terrain that fills `rect`."""
    x, y, width, height = rect
    patch = pygame.Surface((max(1, width), max(1, height)), 0, 32)
    swatch = Swatch(patch, palette, ui_scale)
    swatch.draw_markers(*names)
    swatch.unlock_pixels()
    surface.blit(patch, (x, y))


def draw_colour_bar(surface: pygame.Surface, rect: Rect, scale: HeatScale, palette: Palette) -> None:
    """Draw the colours of a heat scale next to each other, from the lowest heat band to the highest."""
    x, y, width, height = rect
    colours = scale.band_colours(palette)
    for i, colour in enumerate(colours):
        left, right = x + i * width // len(colours), x + (i + 1) * width // len(colours)
        surface.fill(colour, (left, y, right - left, height))
    if scale.is_difference_scale:  # equal counts in A and B have no colour: show a gap between both halves
        surface.fill(palette.free, (x + width // 2 - 1, y, 2, height))
