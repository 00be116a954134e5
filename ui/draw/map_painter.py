"""Painter of the map of one panel in one frame. It provides the drawing functions that layers (ui/draw/layers/) use.

Kernels paint pixels directly into the memory of the surface. The surface is locked while an array of that memory
exists. Text is blitted while the surface is unlocked.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import atan2, pi
from typing import Any

import numpy as np
import numpy.typing as npt
import pygame

from ui.draw import marker_shapes, masks
from ui.draw.fonts import FontCache
from ui.draw.heat_scale import HeatScale
from ui.draw.kernels import paint, strokes
from ui.draw.kernels.paint import Viewport
from ui.draw.panel_content import PanelContent
from ui.draw.theme import Colour, Palette, pack_colour
from ui.model.camera import Camera
from ui.model.run import Edits
from ui.model.trails import Trail

MARKS_FROM_PX = 6.0  # smallest side of a cell, in pixels, at which symbols are drawn inside cells
HEAT_TRAILS_FROM_PX = 12.0  # smallest side of a cell, in pixels, at which whole trails are drawn on top of heat
THIN_SHARE, CASING_SHARE, FRAME_SHARE = 0.13, 0.07, 0.1  # maximum line widths, as fractions of a cell's side
RECENT_TICKS = 64  # number of the latest ticks whose moves are drawn wider

Rect = tuple[int, int, int, int]
Cells = npt.NDArray[np.int32]

_fonts = FontCache()
_NO_PIXELS = np.zeros((0, 0), np.uint32)


@dataclass
class PaintBuffers:
    """Buffers for drawing maps, shared by all panels and reused from frame to frame."""

    # temporary arrays of the painting kernels, with an entry per pixel column, pixel row and map column respectively
    column_buffer: npt.NDArray[np.uint32] = field(default_factory=lambda: np.zeros((3, 0), np.uint32))
    row_buffer: npt.NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, np.uint32))
    map_row_buffer: npt.NDArray[np.uint8] = field(default_factory=lambda: np.zeros((2, 0), np.uint8))
    layer_caches: dict[str, Any] = field(default_factory=dict)  # key of a layer -> value that it caches for all panels

    def ensure_capacity(self, rect: Rect, map_width: int) -> None:
        """Enlarge the buffers if they are too small for a panel of this size or a map of this width."""
        if self.column_buffer.shape[1] < rect[2]:
            self.column_buffer = np.zeros((3, rect[2]), np.uint32)
        if self.row_buffer.size < rect[3]:
            self.row_buffer = np.zeros(rect[3], np.uint32)
        if self.map_row_buffer.shape[1] < map_width:
            self.map_row_buffer = np.zeros((2, map_width), np.uint8)


@dataclass(frozen=True)
class DraggedMarker:
    """Start or goal marker that the user is dragging."""

    marker_name: str  # "start" or "goal"
    cell: int
    is_refused: bool  # whether the marker cannot be dropped on this cell


@dataclass(frozen=True)
class ToolPreview:
    """Preview of the effect that the selected tool would have on a map at the mouse position."""

    cells: Sequence[int] = ()  # cells that a click would change
    dragged_marker: DraggedMarker | None = None


@dataclass(frozen=True)
class TransientContent:
    """Temporary content of a map besides the world and the agent: animation, recent edits, dragged marker."""

    glide_progress: float = 1.0  # progress of the animated move from the previous cell to the current one, 0 to 1
    recent_edits: Edits = field(default_factory=dict)
    # Number of expansions of the last tick shown so far in slow motion; None: all.
    shown_expansion_count: int | None = None
    region_level: int = 0  # level of the agent's abstraction to draw; 0: the level that the agent uses
    dragged_marker: DraggedMarker | None = None


class MapPainter:
    """Painter of one panel's map in one frame: the content, the target rectangle, and drawing functions for layers."""

    def __init__(
        self,
        surface: pygame.Surface,
        rect: Rect,
        camera: Camera,
        content: PanelContent,
        palette: Palette,
        scale: HeatScale,
        extras: TransientContent,
        scratch: PaintBuffers,
        ui_scale: float,
    ) -> None:
        grid = content.snapshot.grid
        self.visible_rect, self.camera = _clipped_view(rect, camera, surface.get_size())
        scratch.ensure_capacity(self.visible_rect, grid.width)
        self.surface, self.paint_buffers, self.ui_scale = surface, scratch, ui_scale
        self.snapshot, self.walker_view, self.trail = content.snapshot, content.walker_view, content.trail
        self.cells, self.crowd = content.cells, content.crowd
        self.palette, self.transient_content = palette, extras
        self.zoom = float(self.camera.zoom)
        self.viewport = Viewport(
            _NO_PIXELS,
            *self.visible_rect,
            self.zoom,
            float(self.camera.left),
            float(self.camera.top),
            grid.width,
            grid.height,
        )
        self.heat_scale: HeatScale | None = scale if self.cells.heat_bands.size else None
        self.lock_pixels()

    def lock_pixels(self) -> None:
        """Lock the surface, so that kernels can write its pixels; blitting is impossible until it is unlocked."""
        self.viewport = self.viewport._replace(pixels=marker_shapes.locked_pixels_of(self.surface))

    def unlock_pixels(self) -> None:
        self.viewport = self.viewport._replace(pixels=_NO_PIXELS)

    # --- properties for layers ------------------------------------------------------------------------

    @property
    def has_heat(self) -> bool:
        return self.heat_scale is not None

    @property
    def has_cell_symbols(self) -> bool:
        """Return whether cells are large enough on screen for symbols inside them."""
        return self.zoom >= MARKS_FROM_PX

    @property
    def line_width_units(self) -> int:
        """Return the width of an ordinary line at this zoom, in design units; always 1 on top of heat."""
        if self.has_heat:
            return 1
        return 1 if self.zoom < 6 else 2 if self.zoom < 24 else 3

    @property
    def thin_line_width(self) -> int:
        """Return the line width of trails and back-moves in pixels, at most a fixed fraction of a cell's side.

        The limit is needed because several of these lines share a cell where an agent moves back and forth.
        """
        return max(self.to_pixels(1), min(self.to_pixels(self.line_width_units), round(THIN_SHARE * self.zoom)))

    @property
    def _thin_casing_width(self) -> int:
        return 0 if self.has_heat else min(self.to_pixels(1), round(CASING_SHARE * self.zoom))

    @property
    def has_casings(self) -> bool:
        """Return whether cells are large enough on screen for casings around thin lines, such as trails."""
        return self._thin_casing_width > 0

    @property
    def visible_trail(self) -> Trail | None:
        """Return the trail to draw; None while heat is shown in small cells, because trails would cover the heat."""
        return None if self.has_heat and self.zoom < HEAT_TRAILS_FROM_PX else self.trail

    def to_pixels(self, units: float) -> int:
        return max(1, round(units * self.ui_scale))

    def strokes_with_casing(self, colour: Colour) -> tuple[tuple[int, int], ...]:
        """Return the strokes of a line as (extra width, packed colour): first its casing, then the line itself.

        Lines on top of heat have no casing, so that they cover as little of the heat as possible.
        """
        line = (0, pack_colour(colour))
        return (
            (line,)
            if self.has_heat
            else ((2 * self.to_pixels(1), pack_colour(marker_shapes.casing_colour_for(self.palette, colour))), line)
        )

    def thin_strokes_with_casing(self, colour: Colour) -> tuple[tuple[int, int], ...]:
        """Return the strokes of a thin line as (extra width, packed colour): its casing, then the line itself.

        In small cells there is no casing, because casings would cover everything else.
        """
        around = self._thin_casing_width
        cased = ((2 * around, pack_colour(marker_shapes.casing_colour_for(self.palette, colour))),) if around else ()
        return (*cased, (0, pack_colour(colour)))

    # --- drawing --------------------------------------------------------------------------------------

    def tint_cells(self, cells: Cells, colour: Colour, alpha: int) -> None:
        """Tint cells with a translucent colour.

        If several cells share a pixel, each cell tints it with less opacity, so that areas look the same at any zoom.

        Args:
            cells: Cells to tint.
            colour: Colour of the tint.
            alpha: Opacity, 0 to 255.
        """
        if self.zoom < 1.0:
            alpha = round(255 * (1.0 - (1.0 - alpha / 255) ** self.zoom))
        paint.tint_cells(self.viewport, np.ascontiguousarray(cells, np.int32), pack_colour(colour), alpha)

    def draw_cell_frames(self, cells: Cells, colour: Colour) -> None:
        """Draw a frame along the inside of each cell's border, so that the fill stays visible."""
        width = max(1, min(self.to_pixels(2), round(FRAME_SHARE * self.zoom)))
        paint.paint_frames_of_listed_cells(
            self.viewport, np.ascontiguousarray(cells, np.int32), width, pack_colour(colour)
        )

    def write_texts(self, texts: Iterable[tuple[str, int]], size: int, colour: Colour) -> None:
        """Write outlined texts next to the middles of cells, omitting texts that would overlap an earlier one.

        Args:
            texts: Pairs of a text and its cell, the most important pair first.
            size: Size of the font, in design units.
            colour: Colour of the text.
        """
        used_rects: list[pygame.Rect] = []
        self.unlock_pixels()
        frame = self.viewport  # has no pixels now, because a reference to them would keep the surface locked
        before = self.surface.get_clip()
        self.surface.set_clip(pygame.Rect(self.visible_rect).clip(before))
        for text, cell in texts:
            x, y = self.snapshot.grid.xy(cell)
            left = self.visible_rect[0] + round((x + 0.5 - frame.left) * frame.zoom) + self.to_pixels(5)
            top = self.visible_rect[1] + round((y + 0.5 - frame.top) * frame.zoom) - self.to_pixels(size)
            ink = _fonts.render_text(text, "bold", self.to_pixels(size), colour)
            box = ink.get_rect(topleft=(left, top))
            if box.collidelist(used_rects) >= 0:
                continue
            used_rects.append(box)
            around = _fonts.render_text(
                text, "bold", self.to_pixels(size), marker_shapes.casing_colour_for(self.palette, colour)
            )
            for dx, dy in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                self.surface.blit(around, box.move(dx, dy))
            self.surface.blit(ink, box)
        self.surface.set_clip(before)
        self.lock_pixels()

    def draw_marker_in_cell(self, name: str, cell: int) -> None:
        """Draw a marker in the middle of a cell."""
        x, y = self.snapshot.grid.xy(cell)
        self.draw_marker(name, x + 0.5, y + 0.5)

    def draw_marker(self, name: str, x: float, y: float) -> None:
        """Draw a marker at a point of the map.

        A marker that is larger than its cell and would be cut off at the border of the view is moved inwards.

        Args:
            name: Name of the marker, such as "agent" or "goal".
            x: Horizontal position in cells; the middle of the first column is at 0.5.
            y: Vertical position in cells; the middle of the first row is at 0.5.
        """
        mask_layers = marker_shapes.marker_masks(name, self.zoom, self.ui_scale, self.palette)
        half = max(mask.shape[0] for mask, _ in mask_layers) / 2
        frame = self.viewport
        x += self._marker_shift_into_view(x - frame.left, frame.width, half)
        y += self._marker_shift_into_view(y - frame.top, frame.height, half)
        for mask, colour in mask_layers:
            paint.stamp_mask_at_point(frame, mask, x, y, colour)

    def _marker_shift_into_view(self, position: float, view_side: int, half: float) -> float:
        """Return by how many cells a marker has to be moved along one axis to be completely inside the view.

        The distance is limited to the overhang of the marker over its cell, so that a marker leaves the view together
        with its cell.
        """
        max_shift = max(0.0, half / self.zoom - 0.5)
        inside = min(max(position, half / self.zoom), (view_side - half) / self.zoom)
        return min(max(inside - position, -max_shift), max_shift)

    def draw_arrow_to_cell(self, cell: int, colour: Colour) -> None:
        """Draw an arrow at the edge of the view that points to a cell outside the view; nothing if it is inside."""
        frame = self.viewport
        x, y = self.snapshot.grid.xy(cell)
        px, py = (x + 0.5 - frame.left) * frame.zoom, (y + 0.5 - frame.top) * frame.zoom
        if 0 <= px < frame.width and 0 <= py < frame.height:
            return
        size = self.to_pixels(17) | 1
        inset = size // 2 + self.to_pixels(3)
        at_x = min(max(px, inset), frame.width - inset)
        at_y = min(max(py, inset), frame.height - inset)
        direction = round(atan2(py - at_y, px - at_x) * 8 / pi) % 16
        for length, tint in ((size - 1.0, marker_shapes.casing_colour_for(self.palette, colour)), (size - 6.0, colour)):
            mask = masks.arrow_head_mask(size, length, direction)
            paint.stamp_mask(frame, mask, round(at_x) - size // 2, round(at_y) - size // 2, pack_colour(tint))

    def cross_out_cell(self, cell: int, colour: Colour) -> None:
        """Draw a large cross over a cell, to show that a dragged marker cannot be dropped there."""
        frame = self.viewport
        column, row = self.snapshot.grid.xy(cell)
        x, y = (column + 0.5 - frame.left) * frame.zoom, (row + 0.5 - frame.top) * frame.zoom
        reach = max(7.0 * self.ui_scale, 0.5 * frame.zoom)
        for extra, ink in (
            (2 * self.to_pixels(1), pack_colour(marker_shapes.casing_colour_for(self.palette, colour))),
            (0, pack_colour(colour)),
        ):
            for sign in (-1.0, 1.0):
                strokes.stroke_line(
                    frame, x - reach, y - sign * reach, x + reach, y + sign * reach, self.to_pixels(2) + extra, ink
                )

    def outline_cell(self, cell: int) -> None:
        frame = self.viewport
        column, row = self.snapshot.grid.xy(cell)
        x0, y0 = (
            paint.first_pixel_of_cells(column, frame.left, frame.zoom),
            paint.first_pixel_of_cells(row, frame.top, frame.zoom),
        )
        x1 = max(x0 + 3, paint.first_pixel_of_cells(column + 1, frame.left, frame.zoom))
        y1 = max(y0 + 3, paint.first_pixel_of_cells(row + 1, frame.top, frame.zoom))
        paint.paint_rect_outline(frame, x0 - 1, y0 - 1, x1 + 1, y1 + 1, pack_colour(self.palette.casing_dark))
        paint.paint_rect_outline(frame, x0, y0, x1, y1, pack_colour(self.palette.casing_light))


def _clipped_view(rect: Rect, camera: Camera, size: tuple[int, int]) -> tuple[Rect, Camera]:
    """Return a rectangle clipped to the size of a surface, and the camera for the remaining part.

    Clipping is necessary because kernels do not check array bounds.
    """
    x, y, width, height = rect
    x0, y0 = max(0, x), max(0, y)
    x1, y1 = min(size[0], x + width), min(size[1], y + height)
    if (x0, y0) != (x, y):
        camera = camera.panned_by(x - x0, y - y0)
    return (x0, y0, max(0, x1 - x0), max(0, y1 - y0)), camera
