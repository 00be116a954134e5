"""Legend entries: the exact mark of each layer on a small patch of map, and the colour bar of the heat."""

from functools import lru_cache

import pygame

from ui.draw.cells import HeatScale
from ui.draw.layers import Layer
from ui.draw.swatch import Swatch
from ui.draw.theme import DIVERGING, Palette, rgb
from ui.widgets.canvas import Canvas

Rect = tuple[int, int, int, int]

BADGE_COLOURS = {"A": DIVERGING[-1], "B": DIVERGING[0]}
BADGE_INK = rgb("#FFFFFF")


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
    colours = scale.colours
    for i, colour in enumerate(colours):
        left, right = x + i * width // len(colours), x + (i + 1) * width // len(colours)
        surface.fill(colour, (left, y, right - left, height))
    if scale.is_difference:  # between B and A lies nothing: the free ground
        surface.fill(palette.free, (x + width // 2 - 1, y, 2, height))


def draw_badge(canvas: Canvas, box: Rect, letter: str) -> None:
    """The letter A or B of a heat map A - B, in the colour of cells where that panel has more."""
    canvas.fill(box, BADGE_COLOURS[letter], 4)
    middle = (box[0] + box[2] // 2, box[1] + box[3] // 2 + canvas.px(1))
    size = 0.65 * box[3] / canvas.scale
    canvas.text(middle, letter, size=size, face="bold", colour=BADGE_INK, align="centre", middle=True)


def draw_map_badge(canvas: Canvas, box: Rect, letter: str, branch: str) -> None:
    """The badge of a panel, in the upper right corner of its map; lower where the branch's name needs that row."""
    px = canvas.px
    side = px(20)
    x, y, width, height = box
    if width < 2 * side or height < 2 * side:
        return
    top = px(6)
    if branch and canvas.text_width(branch, 12) + px(6 + 14 + 6 + 6) + side > width:
        top += px(26)
    draw_badge(canvas, (x + width - side - px(6), y + top, side, side), letter)
