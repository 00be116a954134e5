"""Markers, cell glyphs and casings: which masks and colours a mark is made of."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

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


class _Marker(NamedTuple):
    """A marker: one shape with a casing around it. Colours are named as in the palette."""

    shape: Callable[..., Mask]
    least: float  # its size in small cells, in design units
    share: float  # and in large ones, in cells
    ink: str = "path"
    stands_out_from: str | None = "path"  # what its casing is chosen for; None: it is dark
    casing: float = 2  # how much larger the casing is, in design units
    room: float = 2  # and the mask
    has_dot: bool = False


_LINES = (masks.ring, masks.square, masks.cross)
"""Shapes that are drawn with a line; the others are filled."""

_MARKERS = {
    "agent": _Marker(masks.disc, 11, 0.62, "agent", None, casing=4, room=4),
    "unit": _Marker(masks.disc, 5, 0.6, "agent", None),
    "unit there": _Marker(masks.disc, 5, 0.6, "arrived", None),
    "unit stuck": _Marker(masks.cross, 7, 0.7, "warning", "warning"),  # its colour alone is near to that of the others
    "start": _Marker(masks.square, 11, 0.7),
    "goal": _Marker(masks.ring, 15, 0.8, has_dot=True),
    "best": _Marker(masks.diamond, 7, 0.4, "best", casing=3, room=4),
    "waypoint": _Marker(masks.disc, 5, 0.3, "best", casing=3, room=4),
    "refused": _Marker(masks.cross, 7, 0.4, "tracing", room=4),
    "cap hit": _Marker(masks.square, 7, 0.5, "arrived", room=4),
    "re-entry": _Marker(masks.ring, 9, 0.74, "agent", room=4),
    "expansion": _Marker(masks.disc, 5, 0.34),
}

_made: dict[tuple[str, int, float, str], tuple[tuple[Mask, int], ...]] = {}


def marker(name: str, zoom: float, ui_scale: float, palette: Palette) -> tuple[tuple[Mask, int], ...]:
    """The masks of a marker and their colours, the lowest first."""
    key = (name, round(zoom), ui_scale, palette.name)
    if key not in _made:
        _made[key] = _make(_MARKERS[name], zoom, ui_scale, palette)
    return _made[key]


def _make(kind: _Marker, zoom: float, ui_scale: float, palette: Palette) -> tuple[tuple[Mask, int], ...]:
    size = _odd(max(kind.least * ui_scale, kind.share * zoom))
    room, line = _odd(size + kind.room * ui_scale), 2 * ui_scale
    shapes: list[tuple[Callable[..., Mask], float]] = [(kind.shape, size)]
    if kind.has_dot:
        shapes.append((masks.disc, max(5 * ui_scale, 0.22 * zoom)))
    ink, casing = packed(getattr(palette, kind.ink)), packed(_casing(kind, palette))
    around = kind.casing * ui_scale
    casings = [(_mask(shape, room, across + around, line + 2 * ui_scale), casing) for shape, across in shapes]
    return (*casings, *((_mask(shape, room, across, line), ink) for shape, across in shapes))


def _mask(shape: Callable[..., Mask], room: int, across: float, line: float) -> Mask:
    return shape(room, across, line) if shape in _LINES else shape(room, across)


def _casing(kind: _Marker, palette: Palette) -> Colour:
    if kind.stands_out_from is None:
        return palette.casing_dark
    return casing_of(palette, getattr(palette, kind.stands_out_from))


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
