"""Legend entries: the exact mark of each layer on a small patch of map, and the colour bar of the heat."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pygame

from ui.draw import marks
from ui.draw.cells import HeatScale
from ui.draw.kernels import cellwords as bits
from ui.draw.kernels import paint, strokes
from ui.draw.kernels.paint import Frame
from ui.draw.map_colours import closed_edge, fill_table
from ui.draw.theme import DIVERGING, Colour, Palette, mix, packed, rgb
from ui.widgets.canvas import Canvas

Rect = tuple[int, int, int, int]

BADGE_COLOURS = {"A": DIVERGING[-1], "B": DIVERGING[0]}
BADGE_INK = rgb("#FFFFFF")

_STRIP = np.arange(3, dtype=np.int32)  # three cells in a row
_ALL = {"terrain": True, "closed": True, "open": True, "detour": True}


def legend_swatch(surface: pygame.Surface, rect: Rect, layer_key: str, palette: Palette, ui_scale: float = 1.0) -> None:
    """Draw a layer's mark as it appears on the map, on a patch of free ground that fills `rect`."""
    surface.blit(_swatch(rect[2], rect[3], layer_key, palette, ui_scale), rect)


@lru_cache(maxsize=256)
def _swatch(width: int, height: int, layer_key: str, palette: Palette, ui_scale: float) -> pygame.Surface:
    surface = pygame.Surface((max(1, width), max(1, height)), 0, 32)
    swatch = _Swatch(surface, (0, 0, *surface.get_size()), palette, ui_scale)
    swatch.draw(layer_key)
    swatch.frame = None  # type: ignore[assignment] # gives the lock back
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


class _Swatch:
    def __init__(self, surface: pygame.Surface, rect: Rect, palette: Palette, ui_scale: float) -> None:
        self.palette, self.ui_scale = palette, ui_scale
        self.width, self.height = rect[2], rect[3]
        zoom = rect[2] / 2.0  # the middles of three cells lie at the left edge, in the middle and at the right edge
        pixels = marks.window_pixels(surface)
        self.frame = Frame(pixels, *rect, zoom, 0.5, 0.5 - rect[3] / 2.0 / zoom, 3, 1)
        paint.fill_rect(self.frame, 0, 0, rect[2], rect[3], packed(palette.free))

    def draw(self, layer_key: str) -> None:
        drawers: dict[str, Callable[[], None]] = {
            "terrain": lambda: self._fills(bits.WALL, bits.TREES, bits.SWAMP, bits.WATER),
            "closed": self._closed,
            "open": self._open,
            "detour": lambda: self._fills(bits.FREE | bits.DETOUR),
            "grid": self._grid,
            "groups": self._groups,
            "edits": self._edits,
            "back_moves": self._back_moves,
            "best": lambda: self._markers("best"),
            "agent": lambda: self._markers("agent"),
            "ends": lambda: self._markers("start", "goal"),
        }
        drawers.get(layer_key, lambda: self._line(layer_key))()

    def _px(self, units: float) -> int:
        return max(1, round(units * self.ui_scale))

    def _groups(self) -> None:
        """Two of the tints, side by side."""
        for i, colour in enumerate((self.palette.agent, self.palette.trail)):
            left, right = i * self.width // 2, (i + 1) * self.width // 2
            paint.fill_rect(self.frame, left, 0, right, self.height, packed(mix(self.palette.free, colour, 0.43)))

    def _fills(self, *words: int) -> None:
        table = fill_table(self.palette, _ALL, None, fills_open=False)
        for i, word in enumerate(words):
            left, right = i * self.width // len(words), (i + 1) * self.width // len(words)
            paint.fill_rect(self.frame, left, 0, right, self.height, int(table[word]))

    def _closed(self) -> None:
        self._fills(bits.FREE | bits.CLOSED)
        paint.outline(self.frame, 0, 0, self.width, self.height, packed(closed_edge(self.palette)))

    def _open(self) -> None:
        masks = marks.open_masks(max(12, min(self.height, 18 * self._px(1))))
        size = masks.shape[1]
        x, y = (self.width - size) // 2, (self.height - size) // 2
        paint.stamp(self.frame, masks[0], x, y, packed(self.palette.open))

    def _grid(self) -> None:
        step = max(6, self.height // 2)
        colour = packed(self.palette.grid_line)
        for x in range(self.width // 2 % step, self.width, step):
            paint.fill_rect(self.frame, x, 0, x + 1, self.height, colour)
        for y in range(self.height // 2 % step, self.height, step):
            paint.fill_rect(self.frame, 0, y, self.width, y + 1, colour)

    def _edits(self) -> None:
        half, middle = self.width // 2, self.height / 2 - 0.5
        palette = self.palette
        paint.fill_rect(self.frame, 0, 0, half, self.height, packed(palette.wall))
        reach = min(self.height, half) * 0.3
        strokes.cross(self.frame, half / 2 - 0.5, middle, reach, self._px(1), packed(palette.outside))
        strokes.dots(self.frame, half * 1.5 - 0.5, middle, reach, self._px(1), packed(palette.text))

    def _line(self, layer_key: str) -> None:
        colours = {"tracing": self.palette.tracing, "path": self.palette.path, "tree": self.palette.tree}
        colour = colours.get(layer_key, self.palette.trail)
        if layer_key == "tree":
            strokes.stroke_cells(self.frame, _STRIP, self._px(1), packed(colour))
            return
        width = self._px(3 if layer_key == "path" else 2)
        for extra, ink in self._cased(colour):
            if layer_key == "tracing":
                strokes.dash_cells(self.frame, _STRIP, width + extra, ink, 5.0 * self._px(1), 4.0 * self._px(1))
            else:
                strokes.stroke_cells(self.frame, _STRIP, width + extra, ink)

    def _back_moves(self) -> None:
        middle = self.height / 2 - 0.5
        for extra, colour in self._cased(self.palette.back_move):
            width, half = self._px(2) + extra, self.width * 0.15
            for x in (self.width * 0.26, self.width * 0.76):
                strokes.stroke(self.frame, x - half, middle, x + half, middle, width, colour)
                strokes.chevron(self.frame, x - half, middle, -1, 0, float(self._px(3)), width, colour)

    def _markers(self, *names: str) -> None:
        for i, name in enumerate(names):
            share = (i + 0.5) / len(names)
            for mask, colour in marks.marker(name, min(16.0, self.height * 0.9), self.ui_scale * 0.9, self.palette):
                size = mask.shape[0]
                x, y = round(self.width * share - size / 2), round(self.height / 2 - size / 2)
                paint.stamp(self.frame, mask, x, y, colour)

    def _cased(self, colour: Colour) -> tuple[tuple[int, int], tuple[int, int]]:
        return (2 * self._px(1), packed(marks.casing_of(self.palette, colour))), (0, packed(colour))
