"""Masks and colours of markers (agent, start, goal), of symbols inside cells, and of casings (contrasting outlines)."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pygame

from ui.draw import masks
from ui.draw.masks import Mask
from ui.draw.theme import Colour, Palette, pack_colour

TEXTURES_FROM_PX = 12.0  # smallest side of a cell, in pixels, at which terrain is drawn with textures


def locked_pixels_of(surface: pygame.Surface) -> npt.NDArray[np.uint32]:
    """Return the pixels of a surface as an array uint32[row, column]. The surface is locked while the array exists.

    The rows of the array are as long as the pitch of the surface, which may exceed its visible width. So the array is
    contiguous, as kernels require, on any display and for subsurfaces too.
    """
    buffer: Any = surface.get_buffer()
    return np.frombuffer(buffer, np.uint32).reshape(surface.get_height(), surface.get_pitch() // 4)


def casing_colour_for(palette: Palette, colour: Colour) -> Colour:
    """Return the colour of the casing (outline) of a mark: dark for light marks, light for dark marks."""
    red, green, blue = colour
    is_light = 0.299 * red + 0.587 * green + 0.114 * blue > 140
    return palette.casing_dark if is_light else palette.casing_light


def _rounded_to_odd(value: float) -> int:
    """Return a size in pixels rounded to an odd number, so that a mask of this size has a middle pixel."""
    return round(value) | 1


class _MarkerSpec(NamedTuple):
    """Specification of a marker: a shape with a casing (outline) around it. Colours are names of palette entries."""

    shape_mask: Callable[..., Mask]
    min_size: float  # minimum size of the marker in design units, which applies in small cells
    share: float  # size of the marker in large cells, as a fraction of the cell's side
    colour_name: str = "path"
    stands_out_from: str | None = "path"  # colour with which the casing must contrast; None: the casing is dark
    casing_width: float = 2  # diameter of the casing minus diameter of the shape, in design units
    mask_margin: float = 2  # size of the mask minus size of the shape, in design units
    has_dot: bool = False  # whether the marker has a disc in the middle of its shape


_OUTLINE_SHAPES = (masks.ring_mask, masks.square_mask, masks.cross_mask)
"""Shapes that are drawn as outlines; all other shapes are filled."""

_MARKERS = {
    "agent": _MarkerSpec(masks.disc_mask, 11, 0.62, "agent", None, casing_width=4, mask_margin=4),
    "unit": _MarkerSpec(masks.disc_mask, 5, 0.6, "agent", None),
    "unit there": _MarkerSpec(masks.disc_mask, 5, 0.6, "arrived", None),
    # a cross instead of a disc, because its colour is similar to the colours of other units
    "unit stuck": _MarkerSpec(masks.cross_mask, 7, 0.7, "warning", "warning"),
    "start": _MarkerSpec(masks.square_mask, 11, 0.7),
    "goal": _MarkerSpec(masks.ring_mask, 15, 0.8, has_dot=True),
    "best": _MarkerSpec(masks.diamond_mask, 7, 0.4, "best", casing_width=3, mask_margin=4),
    "waypoint": _MarkerSpec(masks.disc_mask, 5, 0.3, "best", casing_width=3, mask_margin=4),
    "refused": _MarkerSpec(masks.cross_mask, 7, 0.4, "tracing", mask_margin=4),
    "cap hit": _MarkerSpec(masks.square_mask, 7, 0.5, "arrived", mask_margin=4),
    "re-entry": _MarkerSpec(masks.ring_mask, 9, 0.74, "agent", mask_margin=4),
    "expansion": _MarkerSpec(masks.disc_mask, 5, 0.34),
}

_marker_cache: dict[tuple[str, int, float, str], tuple[tuple[Mask, int], ...]] = {}


def marker_masks(name: str, zoom: float, ui_scale: float, palette: Palette) -> tuple[tuple[Mask, int], ...]:
    """Return the masks that make up a marker, each with its packed colour, in drawing order.

    Args:
        name: Name of the marker, such as "agent" or "goal".
        zoom: Side of a cell, in pixels.
        ui_scale: Pixels per design unit.
        palette: Colours of the theme.
    """
    key = (name, round(zoom), ui_scale, palette.name)
    if key not in _marker_cache:
        _marker_cache[key] = _create_marker_masks(_MARKERS[name], zoom, ui_scale, palette)
    return _marker_cache[key]


def _create_marker_masks(
    kind: _MarkerSpec, zoom: float, ui_scale: float, palette: Palette
) -> tuple[tuple[Mask, int], ...]:
    """Return the masks of a marker, each with its packed colour: first the casings, then the shapes on top."""
    size = _rounded_to_odd(max(kind.min_size * ui_scale, kind.share * zoom))
    side, line = _rounded_to_odd(size + kind.mask_margin * ui_scale), 2 * ui_scale
    shapes: list[tuple[Callable[..., Mask], float]] = [(kind.shape_mask, size)]
    if kind.has_dot:
        shapes.append((masks.disc_mask, max(5 * ui_scale, 0.22 * zoom)))
    ink, casing = pack_colour(getattr(palette, kind.colour_name)), pack_colour(_marker_casing_colour(kind, palette))
    around = kind.casing_width * ui_scale
    casings = [
        (_marker_shape_mask(shape, side, diameter + around, line + 2 * ui_scale), casing) for shape, diameter in shapes
    ]
    return (*casings, *((_marker_shape_mask(shape, side, diameter, line), ink) for shape, diameter in shapes))


def _marker_shape_mask(shape: Callable[..., Mask], side: int, diameter: float, line: float) -> Mask:
    return shape(side, diameter, line) if shape in _OUTLINE_SHAPES else shape(side, diameter)


def _marker_casing_colour(kind: _MarkerSpec, palette: Palette) -> Colour:
    if kind.stands_out_from is None:
        return palette.casing_dark
    return casing_colour_for(palette, getattr(palette, kind.stands_out_from))


def texture_masks(cell_px: int) -> tuple[Mask, Mask, Mask]:
    """Return the textures of trees, swamp and water; empty masks if cells are too small for textures."""
    if cell_px < TEXTURES_FROM_PX:
        return masks.empty_mask(), masks.empty_mask(), masks.empty_mask()
    return masks.tree_texture(cell_px), masks.swamp_texture(cell_px), masks.water_texture(cell_px)


@lru_cache(maxsize=128)
def open_cell_mask(cell_px: int) -> Mask:
    """Return the mask of the symbol for an open cell: a square in small cells, a ring in large cells."""
    size = cell_px - 2
    if cell_px < TEXTURES_FROM_PX:
        return masks.square_mask(size, cell_px - 4)
    diameter = min(0.58 * cell_px, 16 + 0.1 * cell_px)  # leaves room for g, h and f, which very large cells show
    return masks.ring_mask(size, diameter, max(1.5, 0.15 * diameter))
