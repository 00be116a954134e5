"""From cell words to pixel colours: one lookup table for everything that fills a cell."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ui.draw.heat import HeatScale
from ui.draw.kernels.cellwords import (
    BANDS,
    BLOCKED,
    CLOSED,
    DETOUR,
    FREE,
    OPEN,
    PASSABLE,
    SWAMP,
    TERRAIN,
    TREES,
    WALL,
    WATER,
)
from ui.draw.theme import Colour, Palette, mix, packed

Table = npt.NDArray[np.uint32]

KINDS_OF_TERRAIN = TREES | SWAMP | WATER


DOTS_FROM_PX = 3.0
"""Smaller cells have no room for a dot: those of a dotted band get a tint in its place."""

EDGED_FROM_PX = 3.0
"""Walls of larger cells are drawn as their edges alone, on the colour of what is outside; smaller ones are filled."""

_EDGE_SHARE, _MOST_EDGE = 0.12, 3.0  # of a cell's side, and in design units: the line around walls

_TINT = 0.5
_DOT_INK = 0.4  # of the colour of texts in dots: a few pixels need more contrast than a filled cell


@lru_cache(maxsize=64)
def fill_table(
    palette: Palette, hidden: int, scale: HeatScale | None, has_dots: bool = False, has_edges: bool = False
) -> Table:
    """uint32[band << 8 | word]: the colour of a cell, or of several cells or-ed together.

    Bits in `hidden` are not filled; without kinds of terrain a cell is free or blocked. `has_dots`, `has_edges`: cells
    of a dotted band get their dots, walls their edges from somebody else. Where there is heat, all else steps back: one
    floor, one wall.
    """
    if scale is not None:
        return _heat_table(palette, scale, has_dots)
    is_plain = bool(hidden & KINDS_OF_TERRAIN)
    kept = ~(hidden & ~KINDS_OF_TERRAIN)
    seen = ((_plain(word) if is_plain else word) & kept for word in range(256))
    colours = [packed(cell_colour(palette, word, has_edges)) for word in seen]
    return np.tile(np.array(colours, np.uint32), BANDS + 1)


def _heat_table(palette: Palette, scale: HeatScale, has_dots: bool) -> Table:
    """Made anew whenever the scale changes, so it asks for the colour of one word of each kind in place of all."""
    words = np.arange(256)
    kinds = np.where(words & PASSABLE, 1, 0) + np.where(words & BLOCKED, 2, 0)
    floors = [hot_floor(palette, scale, band, has_dots) for band in range(BANDS + 1)]
    rows = [
        [packed(hot_colour(palette, word, band, floor)) for word in (0, FREE, WALL, FREE | WALL)]
        for band, floor in enumerate(floors)
    ]
    return np.array(rows, np.uint32)[:, kinds].reshape(-1)


def hot_colour(palette: Palette, word: int, band: int, floor: Colour) -> Colour:
    """The fill of a pixel where heat is shown. Heat shows through whatever else lies in the pixel."""
    if not word & PASSABLE:
        return palette.outside
    return mix(floor, palette.outside, 0.5) if word & BLOCKED and not band else floor


def hot_floor(palette: Palette, scale: HeatScale, band: int, has_dots: bool) -> Colour:
    """What a passable cell of a band is filled with."""
    colour = band_colour(scale, band, palette)
    if colour is None or (has_dots and scale.has_dots and band == 1):
        return palette.free
    return mix(palette.free, colour, _TINT) if scale.has_dots and band == 1 else colour


def dot_colour(palette: Palette, scale: HeatScale) -> Colour:
    """A dot of the lowest band, on open ground."""
    return mix(scale.colours(palette)[0], palette.text, _DOT_INK)


def hot_edge(palette: Palette) -> Colour:
    """The thin line around walls where heat is shown."""
    return mix(palette.outside, palette.text, 0.22)


def band_colour(scale: HeatScale, band: int, palette: Palette) -> Colour | None:
    """The colour of a band as the kernels number them, None for band 0."""
    if band == 0:
        return None
    colours = scale.colours(palette)
    if not scale.is_difference:
        return colours[min(band, len(colours)) - 1]
    step = (band + 1) // 2
    return colours[4 - step if band % 2 else 3 + step]


def _plain(word: int) -> int:
    """The word without kinds of terrain: free or blocked."""
    bare = word & ~TERRAIN
    if word & PASSABLE:
        bare |= FREE
    if word & BLOCKED:
        bare |= WALL
    return bare


def edge_width(zoom: float, ui_scale: float) -> int:
    """Pixels of the line around walls."""
    return max(1, min(round(_EDGE_SHARE * zoom), round(_MOST_EDGE * ui_scale)))


def wall_bits(hidden: int) -> int:
    """The bits of cells that look like walls: without kinds of terrain trees do, too."""
    return BLOCKED if hidden & KINDS_OF_TERRAIN else WALL


def cell_colour(palette: Palette, word: int, has_edges: bool = False) -> Colour:
    """The fill of a pixel that stands for cells with these bits.

    A pixel of walls and others is a mixture, so that neither vanishes; one with an open cell is open.
    """
    if not word & TERRAIN or (has_edges and not word & (PASSABLE | TREES)):
        return palette.outside
    wall = palette.wall if word & WALL else palette.trees
    if not word & PASSABLE:
        return wall
    fill = _passable_colour(palette, word)
    if not word & BLOCKED or word & OPEN:
        return fill
    return mix(fill, wall, 0.65)


def _passable_colour(palette: Palette, word: int) -> Colour:
    if word & OPEN:
        return palette.open
    if word & DETOUR:
        return detour_colour(palette)
    if word & CLOSED:
        return palette.closed
    if word & SWAMP:
        return palette.swamp
    return palette.water if word & WATER else palette.free


def detour_colour(palette: Palette) -> Colour:
    return mix(palette.free, palette.tracing, 0.55)


def group_colours(palette: Palette) -> dict[str, Colour]:
    """The tint of each of sim.agent_api.GROUP_NAMES."""
    return {
        "local space": palette.agent,
        "queued": palette.tracing,
        "dead": palette.wall,
        "redundant": palette.trail,
        "inconsistent": palette.tracing,
        "corridor": palette.agent,
        "new contour": palette.tracing,
    }


def contour_colour(palette: Palette) -> Colour:
    """Lines between what one limit has let in and what the next one has; the last of these areas has this tint."""
    return group_colours(palette)["new contour"]


def region_colours(palette: Palette) -> tuple[Colour, ...]:
    """Tints for regions, so that no two neighbours share one."""
    return (
        palette.arrived,
        palette.warning,
        palette.accent,
        palette.tracing,
        palette.agent,
        palette.trail,
        palette.water,
        mix(palette.arrived, palette.agent, 0.5),
        mix(palette.accent, palette.tracing, 0.5),
    )


def closed_edge(palette: Palette) -> Colour:
    """The inset edge of closed cells: a second cue beside their fill."""
    return mix(palette.closed, palette.open, 0.22)


def texture_colours(palette: Palette) -> tuple[Colour, Colour, Colour]:
    """What trees, swamp dots and waves are drawn with."""
    away = palette.casing_dark
    return mix(palette.trees, away, 0.45), mix(palette.swamp, away, 0.4), mix(palette.water, palette.casing_light, 0.4)
