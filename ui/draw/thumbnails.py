"""Thumbnails of maps for galleries and previews."""

import numpy as np
import pygame

from sim.grid import Grid
from sim.system.program import PROGRAM_FOLDER
from ui.draw import marker_shapes
from ui.draw.kernels import paint
from ui.draw.kernels.cell_flags import WALL
from ui.draw.kernels.paint import Viewport
from ui.draw.map_colours import EDGED_FROM_PX, fill_colour_table, wall_edge_width
from ui.draw.panel_content import NO_BANDS, terrain_flags_of
from ui.draw.theme import Palette, pack_colour

THUMBNAIL_FOLDER = PROGRAM_FOLDER / "assets" / "thumbs"
"""Folder with pictures of the examples, created by `make thumbs`."""

THUMBNAIL_SIDE = 220
"""Longer side of a picture in FOLDER, in pixels."""


def draw_thumbnail(grid: Grid, start: int, goal: int, size: tuple[int, int], palette: Palette) -> pygame.Surface:
    """Return a thumbnail of the whole map with start and goal.

    Args:
        grid: Map to draw.
        start: Start cell.
        goal: Goal cell.
        size: Maximum width and height in pixels; the proportions of the map are kept.
        palette: Colours of the theme.
    """
    scale = min(size[0] / grid.width, size[1] / grid.height)
    picture_size = max(1, round(grid.width * scale)), max(1, round(grid.height * scale))
    # If cells are smaller than a pixel, their colours are averaged, so that thin walls stay visible.
    if scale >= 1.0:
        picture = _terrain_surface(grid, picture_size, scale, palette)
    else:
        picture = pygame.transform.smoothscale(
            _terrain_surface(grid, (grid.width, grid.height), 1.0, palette), picture_size
        )
    for name, cell in (("start", start), ("goal", goal)):
        _draw_marker(picture, name, grid.xy(cell), scale, palette)
    return picture


def load_example_picture(name: str, size: tuple[int, int], palette: Palette) -> pygame.Surface | None:
    """Return the stored picture of an example, scaled to fit into `size`; None if there is no stored picture."""
    path = THUMBNAIL_FOLDER / picture_file_name(name, palette.name)
    if not path.is_file():
        return None
    picture = pygame.image.load(path)
    scale = min(size[0] / picture.get_width(), size[1] / picture.get_height())
    scaled_size = max(1, round(picture.get_width() * scale)), max(1, round(picture.get_height() * scale))
    return pygame.transform.smoothscale(picture.convert(24), scaled_size)


def picture_file_name(example: str, theme: str) -> str:
    return f"{example}-{theme}.jpg"


def _draw_marker(picture: pygame.Surface, name: str, point: tuple[int, int], scale: float, palette: Palette) -> None:
    """Draw a marker on a cell. Near the border the marker is moved inwards, so that it is not cut off."""
    size = picture.get_size()
    frame = Viewport(marker_shapes.locked_pixels_of(picture), 0, 0, *size, 1.0, 0.0, 0.0, *size)
    mask_layers = marker_shapes.marker_masks(name, scale, max(0.75, min(size) / 300), palette)
    margin = max(mask.shape[0] // 2 for mask, _ in mask_layers)
    x, y = (_clamped_pixel(coordinate, scale, side, margin) for coordinate, side in zip(point, size, strict=True))
    for mask, colour in mask_layers:
        paint.stamp_mask(frame, mask, x - mask.shape[0] // 2, y - mask.shape[0] // 2, colour)


def _clamped_pixel(coordinate: int, scale: float, side: int, margin: int) -> int:
    """Return the pixel x or y of a cell's middle, but at least `margin` pixels away from the border."""
    return min(max(round((coordinate + 0.5) * scale), margin), max(margin, side - 1 - margin))


def _terrain_surface(grid: Grid, size: tuple[int, int], scale: float, palette: Palette) -> pygame.Surface:
    """Return a surface with the terrain of a map, drawn as in panels.

    Args:
        grid: Map to draw.
        size: Width and height of the surface in pixels.
        scale: Pixels per cell, at least 1.
        palette: Colours of the theme.
    """
    surface, flags = pygame.Surface(size, 0, 32), terrain_flags_of(grid).cell_flags
    has_edges = scale >= EDGED_FROM_PX
    frame = Viewport(marker_shapes.locked_pixels_of(surface), 0, 0, *size, scale, 0.0, 0.0, grid.width, grid.height)
    columns, rows = np.zeros(size[0], np.uint32), np.zeros(size[1], np.uint32)
    table = fill_colour_table(palette, 0, None, has_edges=has_edges)
    paint.paint_cell_colours(frame, flags, NO_BANDS, table, pack_colour(palette.outside), columns, rows)
    if has_edges:
        paint.paint_wall_edges(frame, flags, WALL, wall_edge_width(scale, 1.0), pack_colour(palette.wall))
    return surface
