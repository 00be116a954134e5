"""Colours of cells, as a lookup table from the flags of a cell and its heat band to a pixel colour."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ui.draw.heat_scale import HeatScale
from ui.draw.kernels.cell_flags import (
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
from ui.draw.theme import Colour, Palette, mix_colours, pack_colour

ColourTable = npt.NDArray[np.uint32]

KINDS_OF_TERRAIN = TREES | SWAMP | WATER


DOTS_FROM_PX = 3.0
"""Smallest side of a cell, in pixels, at which the lowest heat band is drawn as dots; below, it is drawn as a tint."""

EDGED_FROM_PX = 3.0
"""Smallest side of a cell, in pixels, at which walls are drawn as outlines; below, they are filled."""

# width of the outline of walls: fraction of a cell's side, and maximum in design units
_EDGE_SHARE, _MAX_EDGE_WIDTH = 0.12, 3.0

_TINT = 0.5  # share of the heat colour in the tint of small cells, which are too small for dots
_DOT_INK_SHARE = 0.4  # share of the text colour in dots, because few pixels need more contrast than a filled cell


@lru_cache(maxsize=64)
def fill_colour_table(
    palette: Palette, hidden: int, scale: HeatScale | None, has_dots: bool = False, has_edges: bool = False
) -> ColourTable:
    """Return the table of fill colours: cells with `flags` and heat `band` have the colour at band << 8 | flags.

    A pixel that covers several cells is looked up by the bitwise or of their flags. While heat is shown, the table has
    only two colours besides the colours of heat: one for passable and one for blocked cells.

    Args:
        palette: Colours of the theme.
        hidden: Bit mask of flags that are not shown as fills. If it includes trees, swamp or water, all passable cells
            look free, and all blocked cells look like walls.
        scale: Heat scale; None: no heat.
        has_dots: Whether the caller draws dots for the lowest heat band, so that the band needs no tint.
        has_edges: Whether the caller draws outlines of walls, so that walls are not filled.
    """
    if scale is not None:
        return _heat_colour_table(palette, scale, has_dots)
    is_plain = bool(hidden & KINDS_OF_TERRAIN)
    shown_bits = ~(hidden & ~KINDS_OF_TERRAIN)
    drawn_flags = ((_flags_without_terrain_kinds(flags) if is_plain else flags) & shown_bits for flags in range(256))
    colours = [pack_colour(cell_colour(palette, flags, has_edges)) for flags in drawn_flags]
    return np.tile(np.array(colours, np.uint32), BANDS + 1)


def _heat_colour_table(palette: Palette, scale: HeatScale, has_dots: bool) -> ColourTable:
    """Return the table of fill colours while heat is shown.

    It is recomputed whenever the heat scale changes. To save time, colours are computed only for the four cases that
    look different under heat (nothing, passable, blocked, both) instead of for all 256 combinations of flags.
    """
    all_flags = np.arange(256)
    columns = np.where(all_flags & PASSABLE, 1, 0) + np.where(all_flags & BLOCKED, 2, 0)
    floors = [heat_cell_colour(palette, scale, band, has_dots) for band in range(BANDS + 1)]
    rows = [
        [pack_colour(heat_pixel_colour(palette, flags, band, floor)) for flags in (0, FREE, WALL, FREE | WALL)]
        for band, floor in enumerate(floors)
    ]
    return np.array(rows, np.uint32)[:, columns].reshape(-1)


def heat_pixel_colour(palette: Palette, flags: int, band: int, floor: Colour) -> Colour:
    """Return the fill colour of a pixel while heat is shown; a pixel with both heat and walls shows the heat."""
    if not flags & PASSABLE:
        return palette.outside
    return mix_colours(floor, palette.outside, 0.5) if flags & BLOCKED and not band else floor


def heat_cell_colour(palette: Palette, scale: HeatScale, band: int, has_dots: bool) -> Colour:
    """Return the fill colour of passable cells in a heat band; cells with a dot have the colour of free terrain."""
    colour = heat_band_colour(scale, band, palette)
    if colour is None or (has_dots and scale.has_dots_in_lowest_band and band == 1):
        return palette.free
    return mix_colours(palette.free, colour, _TINT) if scale.has_dots_in_lowest_band and band == 1 else colour


def heat_dot_colour(palette: Palette, scale: HeatScale) -> Colour:
    """Return the colour of the dots in cells of the lowest heat band."""
    return mix_colours(scale.band_colours(palette)[0], palette.text, _DOT_INK_SHARE)


def heat_edge_colour(palette: Palette) -> Colour:
    """Return the colour of the thin line around walls while heat is shown."""
    return mix_colours(palette.outside, palette.text, 0.22)


def heat_band_colour(scale: HeatScale, band: int, palette: Palette) -> Colour | None:
    """Return the colour of a heat band; None for band 0, which has no heat.

    For the heat A - B, odd bands mean a larger count in B and even bands a larger count in A. Higher bands mean larger
    differences.
    """
    if band == 0:
        return None
    colours = scale.band_colours(palette)
    if not scale.is_difference_scale:
        return colours[min(band, len(colours)) - 1]
    step = (band + 1) // 2
    return colours[4 - step if band % 2 else 3 + step]


def _flags_without_terrain_kinds(flags: int) -> int:
    """Return cell flags with the kinds of terrain reduced to free and wall."""
    reduced = flags & ~TERRAIN
    if flags & PASSABLE:
        reduced |= FREE
    if flags & BLOCKED:
        reduced |= WALL
    return reduced


def wall_edge_width(zoom: float, ui_scale: float) -> int:
    """Return the width of the outline of walls, in pixels."""
    return max(1, min(round(_EDGE_SHARE * zoom), round(_MAX_EDGE_WIDTH * ui_scale)))


def flags_drawn_as_walls(hidden: int) -> int:
    """Return the flags of cells that look like walls: walls, and also trees if kinds of terrain are hidden."""
    return BLOCKED if hidden & KINDS_OF_TERRAIN else WALL


def cell_colour(palette: Palette, flags: int, has_edges: bool = False) -> Colour:
    """Return the fill colour of a pixel while no heat is shown.

    A pixel with both blocked and passable cells gets a mixed colour, so that both stay visible. A pixel with an open
    cell gets the colour of open cells.

    Args:
        palette: Colours of the theme.
        flags: Bitwise or of the flags of all cells in the pixel.
        has_edges: Whether walls are drawn as outlines, so that they are not filled.
    """
    if not flags & TERRAIN or (has_edges and not flags & (PASSABLE | TREES)):
        return palette.outside
    wall = palette.wall if flags & WALL else palette.trees
    if not flags & PASSABLE:
        return wall
    fill = _passable_colour(palette, flags)
    if not flags & BLOCKED or flags & OPEN:
        return fill
    return mix_colours(fill, wall, 0.65)


def _passable_colour(palette: Palette, flags: int) -> Colour:
    if flags & OPEN:
        return palette.open
    if flags & DETOUR:
        return detour_colour(palette)
    if flags & CLOSED:
        return palette.closed
    if flags & SWAMP:
        return palette.swamp
    return palette.water if flags & WATER else palette.free


def detour_colour(palette: Palette) -> Colour:
    return mix_colours(palette.free, palette.tracing, 0.55)


def group_colours(palette: Palette) -> dict[str, Colour]:
    """Return the tints of the groups of cells that agents report, by name of the group."""
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
    """Return the colour of contours, which separate cells that IDA* first entered under different limits on f.

    The cells that were first entered under the newest limit are tinted with this colour too.
    """
    return group_colours(palette)["new contour"]


def region_colours(palette: Palette) -> tuple[Colour, ...]:
    """Return the tints of the regions of an abstraction; neighbouring regions get different entries of this tuple."""
    return (
        palette.arrived,
        palette.warning,
        palette.accent,
        palette.tracing,
        palette.agent,
        palette.trail,
        palette.water,
        mix_colours(palette.arrived, palette.agent, 0.5),
        mix_colours(palette.accent, palette.tracing, 0.5),
    )


def closed_edge_colour(palette: Palette) -> Colour:
    """Return the colour of the thin frame inside closed cells, which helps where their fill is hard to see."""
    return mix_colours(palette.closed, palette.open, 0.22)


def texture_colours(palette: Palette) -> tuple[Colour, Colour, Colour]:
    """Return the colours of the textures of trees, swamp and water."""
    away = palette.casing_dark
    return (
        mix_colours(palette.trees, away, 0.45),
        mix_colours(palette.swamp, away, 0.4),
        mix_colours(palette.water, palette.casing_light, 0.4),
    )
