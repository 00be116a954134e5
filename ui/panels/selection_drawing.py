"""Selection on the maps: an animated dashed outline, and the floating piece being moved or pasted."""

import time
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pygame

from ui.draw.map_colours import EDGED_FROM_PX
from ui.draw.theme import Colour, Palette
from ui.model.camera import Camera
from ui.model.layout import Box
from ui.model.select_tool import SelectTool
from ui.model.selection import MapPiece, OutlineLines, Selection
from ui.panels.view_context import ViewContext

DASH_LENGTH = 5  # length of a dash of the outline, in design units
DASH_SPEED = 20.0  # speed at which the dashes move along the outline, in design units per second
# Opacity of a floating piece and of tinted selected cells, from 0 to 255.
FLOATING_PIECE_ALPHA, SELECTED_CELLS_ALPHA = 200, 90
# Maximum number of outline segments per panel; more segments would take too long in every frame.
MAX_OUTLINE_SEGMENTS = 1500
# Length in pixels of the image of dashes that outlines are copied from; longer than any window.
_DASH_STRIP_LENGTH = 8192


def draw_selection(desk: ViewContext, selecting: SelectTool) -> None:
    """Draw the selection in every panel of the front branch, to which edits apply."""
    selection, floating = selecting.displayed_selection, selecting.floating_piece
    if selection is None:
        return
    for panel, boxes in desk.map_view.panels_with_boxes():
        if panel.key.branch == desk.session.run.focused_branch_number:
            camera = desk.map_view.camera_of_panel(panel.key, boxes)
            with desk.canvas.clip_drawing_to_box(boxes.map_box):
                if floating is not None:
                    piece, target = floating
                    _draw_cell_image(
                        desk.canvas.surface,
                        boxes.map_box,
                        camera,
                        _floating_piece_image(piece, desk.palette, camera.zoom >= EDGED_FROM_PX),
                        target,
                    )
                _draw_selection_outline(desk, boxes.map_box, camera, selection)


def _first_pixels_of_cells(cell: float | npt.NDArray[np.int32], origin: float, zoom: float) -> npt.NDArray[np.int64]:
    """Return the first pixel of each column (or row) of cells, as `first_pixel_of_cells` in paint.py does."""
    return np.ceil((np.asarray(cell) - origin) * zoom - 0.5).astype(np.int64)


# --- outline --------------------------------------------------------------------------------------


def _draw_selection_outline(desk: ViewContext, area: Box, camera: Camera, selection: Selection) -> None:
    """Draw the dashed outline of a selection as straight segments.

    Each segment is one blit from a long strip of dashes, because a blit per dash would take too long. If there are more
    than MAX_OUTLINE_SEGMENTS segments, the selected cells are tinted instead.
    """
    px, palette, surface = desk.canvas.to_px, desk.palette, desk.canvas.surface
    dash, width = max(2, px(DASH_LENGTH)), max(1, px(2))
    phase = round(time.monotonic() * DASH_SPEED * desk.canvas.scale) % (2 * dash)
    turned = Camera(camera.zoom, camera.top, camera.left)
    row_segments = _visible_segments(selection.outline[0], camera, (area[2], area[3]), width)
    column_segments = _visible_segments(selection.outline[1], turned, (area[3], area[2]), width)
    if len(row_segments) + len(column_segments) > MAX_OUTLINE_SEGMENTS:
        _draw_cell_image(surface, area, camera, _tinted_cells_image(selection, palette), selection)
        return
    strip = _horizontal_dash_strip(dash, width, palette.casing_dark, palette.casing_light)
    upright = _vertical_dash_strip(dash, width, palette.casing_dark, palette.casing_light)
    x, y = area[:2]
    surface.blits(
        [(strip, (x + a, y + b), ((a - phase) % (2 * dash), 0, long, width)) for b, a, long in row_segments], False
    )
    surface.blits(
        [(upright, (x + b, y + a), (0, (a - phase) % (2 * dash), width, long)) for b, a, long in column_segments], False
    )


def _visible_segments(lines: OutlineLines, camera: Camera, size: tuple[int, int], width: int) -> list[list[int]]:
    """Return the visible segments of an outline as [pixel across, first pixel along, length along].

    Args:
        lines: Segments in cells as rows of (position across, begin, end).
        camera: Camera whose `top` is the direction across and whose `left` the direction along.
        size: Size of the map area in pixels: along, across.
        width: Width of the outline in pixels.
    """
    line_px = _first_pixels_of_cells(lines[:, 0], camera.top, camera.zoom) - width // 2
    begin_px = np.maximum(-width, _first_pixels_of_cells(lines[:, 1], camera.left, camera.zoom) - width // 2)
    end_px = np.minimum(
        size[0] + width, _first_pixels_of_cells(lines[:, 2], camera.left, camera.zoom) + width - width // 2
    )
    is_seen = (begin_px < end_px) & (line_px > -width) & (line_px < size[1])
    segments: list[list[int]] = np.stack([line_px, begin_px, end_px - begin_px], axis=1)[is_seen].tolist()
    return segments


@lru_cache(maxsize=8)
def _horizontal_dash_strip(dash: int, width: int, dark: Colour, light: Colour) -> pygame.Surface:
    strip = pygame.Surface((_DASH_STRIP_LENGTH, width))
    strip.fill(dark)
    for x in range(0, _DASH_STRIP_LENGTH, 2 * dash):
        strip.fill(light, (x, 0, dash, width))
    return strip


@lru_cache(maxsize=8)
def _vertical_dash_strip(dash: int, width: int, dark: Colour, light: Colour) -> pygame.Surface:
    return pygame.transform.rotate(_horizontal_dash_strip(dash, width, dark, light), -90)


# --- floating piece -------------------------------------------------------------------------------


def _draw_cell_image(
    surface: pygame.Surface, area: Box, camera: Camera, image: pygame.Surface, area_in_cells: Selection
) -> None:
    """Draw the visible part of an image that has one pixel per cell, scaled to the size of the cells on screen."""
    zoom = camera.zoom
    columns = _visible_cell_range(area_in_cells.left - camera.left, zoom, area_in_cells.width, area[2])
    rows = _visible_cell_range(area_in_cells.top - camera.top, zoom, area_in_cells.height, area[3])
    if columns[0] >= columns[1] or rows[0] >= rows[1]:
        return
    x0, x1 = (int(_first_pixels_of_cells(area_in_cells.left + column, camera.left, zoom)) for column in columns)
    y0, y1 = (int(_first_pixels_of_cells(area_in_cells.top + row, camera.top, zoom)) for row in rows)
    if x0 < x1 and y0 < y1:
        visible_image = image.subsurface((columns[0], rows[0], columns[1] - columns[0], rows[1] - rows[0]))
        surface.blit(pygame.transform.scale(visible_image, (x1 - x0, y1 - y0)), (area[0] + x0, area[1] + y0))


def _visible_cell_range(offset: float, zoom: float, count: int, pixels: int) -> tuple[int, int]:
    """Return the visible columns or rows of an image with one pixel per cell, as (first, end) without `end`."""
    first, end = int(np.floor(-offset)), int(np.ceil(pixels / zoom - offset))
    return max(0, first), min(count, end)


@lru_cache(maxsize=4)
def _floating_piece_image(piece: MapPiece, palette: Palette, has_edges: bool) -> pygame.Surface:
    """Return the image of a floating piece of map, one pixel per cell, in the colours of the map.

    Args:
        piece: Piece to draw.
        palette: Colours of the theme.
        has_edges: Whether the map draws walls as edges, because cells are large. The inside of walls then has the
            colour of the area outside the map.
    """
    image = pygame.Surface((piece.width, piece.height), pygame.SRCALPHA)
    pygame.surfarray.pixels3d(image)[:] = _colour_by_letter(palette, palette.outside if has_edges else palette.wall)[
        piece.terrain_letters
    ].swapaxes(0, 1)
    pygame.surfarray.pixels_alpha(image)[:] = np.where(piece.mask, FLOATING_PIECE_ALPHA, 0).T
    return image


@lru_cache(maxsize=4)
def _tinted_cells_image(selection: Selection, palette: Palette) -> pygame.Surface:
    image = pygame.Surface((selection.width, selection.height), pygame.SRCALPHA)
    image.fill(palette.accent)
    pygame.surfarray.pixels_alpha(image)[:] = np.where(selection.mask, SELECTED_CELLS_ALPHA, 0).T
    return image


@lru_cache(maxsize=4)
def _colour_by_letter(palette: Palette, wall: Colour) -> npt.NDArray[np.uint8]:
    """Return the colour of each terrain letter, indexed by character code."""
    table = np.full((256, 3), wall, np.uint8)
    for letters, colour in ((".GB", palette.free), ("S", palette.swamp), ("W", palette.water), ("T", palette.trees)):
        for letter in letters:
            table[ord(letter)] = colour
    return table
