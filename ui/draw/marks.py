"""Markers, cell glyphs and casings: which masks and colours a mark is made of."""

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pygame

from ui.draw import masks
from ui.draw.masks import Mask
from ui.draw.theme import Colour, Palette, packed

TEXTURES_FROM_PX = 12.0


def window_pixels(surface: pygame.Surface) -> npt.NDArray[np.uint32]:
    """The surface's memory as uint32[row, column]. It locks the surface while it lives: keep it in one scope.

    Rows are as wide as they lie in memory, which may be more than is shown: so the array is always contiguous, which
    kernels are compiled for, on any display and for parts of a surface too.
    """
    buffer: Any = surface.get_buffer()
    return np.frombuffer(buffer, np.uint32).reshape(surface.get_height(), surface.get_pitch() // 4)


def casing_of(palette: Palette, colour: Colour) -> Colour:
    """The casing that makes a mark of this colour stand out: dark around light, light around dark."""
    red, green, blue = colour
    is_light = 0.299 * red + 0.587 * green + 0.114 * blue > 140
    return palette.casing_dark if is_light else palette.casing_light


def _odd(value: float) -> int:
    return round(value) | 1


_markers: dict[tuple[str, int, float, str], tuple[tuple[Mask, int], ...]] = {}


def marker(name: str, zoom: float, ui_scale: float, palette: Palette) -> tuple[tuple[Mask, int], ...]:
    """The masks of a marker and their colours, the lowest first."""
    key = (name, round(zoom), ui_scale, palette.name)
    if key not in _markers:
        _markers[key] = _make_marker(name, zoom, ui_scale, palette)
    return _markers[key]


def _make_marker(name: str, zoom: float, ui_scale: float, palette: Palette) -> tuple[tuple[Mask, int], ...]:
    ink, around = packed(palette.path), packed(casing_of(palette, palette.path))
    line = 2.0 * ui_scale
    edge = 1.0 * ui_scale
    match name:
        case "agent":
            d = _odd(max(11 * ui_scale, 0.62 * zoom))
            n = _odd(d + 4 * ui_scale)
            return (masks.disc(n, d + 4 * edge), packed(palette.casing_dark)), (masks.disc(n, d), packed(palette.agent))
        case "unit stuck":  # another shape, too: its colour is near to that of those that are there
            d = _odd(max(7 * ui_scale, 0.7 * zoom))
            n = _odd(d + 2 * edge)
            ink, around = packed(palette.warning), packed(casing_of(palette, palette.warning))
            return (masks.cross(n, d + 2 * edge, line + 2 * edge), around), (masks.cross(n, d, line), ink)
        case "unit" | "unit there":
            colours = {"unit": palette.agent, "unit there": palette.arrived}
            d = _odd(max(5 * ui_scale, 0.6 * zoom))
            n = _odd(d + 2 * edge)
            return (masks.disc(n, d + 2 * edge), packed(palette.casing_dark)), (masks.disc(n, d), packed(colours[name]))
        case "start":
            d = _odd(max(11 * ui_scale, 0.7 * zoom))
            n = _odd(d + 2 * edge)
            return (masks.square(n, d + 2 * edge, line + 2 * edge), around), (masks.square(n, d, line), ink)
        case "goal":
            d = _odd(max(15 * ui_scale, 0.8 * zoom))
            n = _odd(d + 2 * edge)
            dot = max(5 * ui_scale, 0.22 * zoom)
            return (
                (masks.ring(n, d + 2 * edge, line + 2 * edge), around),
                (masks.disc(n, dot + 2 * edge), around),
                (masks.ring(n, d, line), ink),
                (masks.disc(n, dot), ink),
            )
        case "best":
            d = _odd(max(7 * ui_scale, 0.4 * zoom))
            n = _odd(d + 4 * edge)
            colour = packed(palette.best)
            return (masks.diamond(n, d + 3 * edge), around), (masks.diamond(n, d), colour)
        case "waypoint":
            d = _odd(max(5 * ui_scale, 0.3 * zoom))
            n = _odd(d + 4 * edge)
            return (masks.disc(n, d + 3 * edge), around), (masks.disc(n, d), packed(palette.best))
        case "refused":
            d = _odd(max(7 * ui_scale, 0.4 * zoom))
            n = _odd(d + 4 * edge)
            colour = packed(palette.tracing)
            return (masks.cross(n, d + 2 * edge, line + 2 * edge), around), (masks.cross(n, d, line), colour)
        case "cap hit":
            d = _odd(max(7 * ui_scale, 0.5 * zoom))
            n = _odd(d + 4 * edge)
            return (masks.square(n, d + 2 * edge, line + 2 * edge), around), (
                masks.square(n, d, line),
                packed(palette.arrived),
            )
        case "re-entry":
            d = _odd(max(9 * ui_scale, 0.74 * zoom))
            n = _odd(d + 4 * edge)
            return (masks.ring(n, d + 2 * edge, line + 2 * edge), around), (
                masks.ring(n, d, line),
                packed(palette.agent),
            )
        case _:
            d = _odd(max(5 * ui_scale, 0.34 * zoom))
            n = _odd(d + 2 * edge)
            return (masks.disc(n, d + 2 * edge), around), (masks.disc(n, d), ink)


def texture_masks(cell_px: int) -> tuple[Mask, Mask, Mask]:
    if cell_px < TEXTURES_FROM_PX:
        return masks.empty(), masks.empty(), masks.empty()
    return masks.trees(cell_px), masks.dots(cell_px), masks.waves(cell_px)


@lru_cache(maxsize=128)
def open_mask(cell_px: int) -> Mask:
    """The mark of an open cell: a square where cells are small, a ring where they are large."""
    size = cell_px - 2
    if cell_px < TEXTURES_FROM_PX:
        return masks.square(size, cell_px - 4)
    diameter = min(0.58 * cell_px, 16 + 0.1 * cell_px)  # in very large cells there are numbers around it
    return masks.ring(size, diameter, max(1.5, 0.15 * diameter))
