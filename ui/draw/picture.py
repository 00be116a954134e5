"""One panel in one frame: what its layers draw with (ui/draw/layers/).

All pixels are painted by kernels, straight into the window's memory. That view locks the surface, so it lives only
between `lock` and `unlock`; text is blitted outside.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import atan2, pi
from typing import Any

import numpy as np
import numpy.typing as npt
import pygame

from ui.draw import marks, masks
from ui.draw.cells import Shown
from ui.draw.fonts import Fonts
from ui.draw.heat import HeatScale
from ui.draw.kernels import paint, strokes
from ui.draw.kernels.paint import Frame
from ui.draw.theme import Colour, Palette, packed
from ui.model.camera import Camera
from ui.model.run import Edits
from ui.model.trails import Trail

MARKS_FROM_PX = 6.0
HEAT_TRAILS_FROM_PX = 12.0
THIN_SHARE, CASING_SHARE, FRAME_SHARE = 0.13, 0.07, 0.1  # of a cell's side
RECENT_TICKS = 64

Rect = tuple[int, int, int, int]
Cells = npt.NDArray[np.int32]

_fonts = Fonts()
_NO_PIXELS = np.zeros((0, 0), np.uint32)


@dataclass
class Scratch:
    """Memory that panels and frames share; one serves all panels of a window."""

    columns: npt.NDArray[np.uint32] = field(default_factory=lambda: np.zeros((3, 0), np.uint32))
    rows: npt.NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, np.uint32))
    map_rows: npt.NDArray[np.uint8] = field(default_factory=lambda: np.zeros((2, 0), np.uint8))
    kept: dict[str, Any] = field(default_factory=dict)  # what layers keep for the next panel, by their keys

    def make_room(self, rect: Rect, map_width: int) -> None:
        if self.columns.shape[1] < rect[2]:
            self.columns = np.zeros((3, rect[2]), np.uint32)
        if self.rows.size < rect[3]:
            self.rows = np.zeros(rect[3], np.uint32)
        if self.map_rows.shape[1] < map_width:
            self.map_rows = np.zeros((2, map_width), np.uint8)


@dataclass(frozen=True)
class Carried:
    """The start or the goal in the user's hand."""

    kind: str  # "start" or "goal"
    cell: int
    is_refused: bool  # whether it cannot be dropped there


@dataclass(frozen=True)
class Hand:
    """What the mouse is about to do to a map."""

    cells: Sequence[int] = ()  # that it would change
    carried: Carried | None = None


@dataclass(frozen=True)
class Extras:
    """What a picture shows beside the world and the agent's mind."""

    glide: float = 1.0  # how far the agent has got from its last cell to this one
    edits: Edits = field(default_factory=dict)
    reveal: int | None = None  # slow motion: so many expansions of the last tick
    region_level: int = 0  # see LayerState
    carried: Carried | None = None


class Picture:
    def __init__(
        self,
        surface: pygame.Surface,
        rect: Rect,
        camera: Camera,
        shown: Shown,
        palette: Palette,
        scale: HeatScale,
        extras: Extras,
        scratch: Scratch,
        ui_scale: float,
    ) -> None:
        grid = shown.snapshot.grid
        self.rect, self.camera = _clipped(rect, camera, surface.get_size())
        scratch.make_room(self.rect, grid.width)
        self.surface, self.scratch, self.ui_scale = surface, scratch, ui_scale
        self.snapshot, self.walker, self.trail = shown.snapshot, shown.walker, shown.trail
        self.cells, self.crowd = shown.cells, shown.crowd
        self.palette, self.extras = palette, extras
        self.zoom = float(self.camera.zoom)
        self.frame = Frame(
            _NO_PIXELS, *self.rect, self.zoom, float(self.camera.left), float(self.camera.top), grid.width, grid.height
        )
        self.scale: HeatScale | None = scale if self.cells.bands.size else None
        self.lock()

    def lock(self) -> None:
        """Take hold of the window's memory; nothing can be blitted until unlock()."""
        self.frame = self.frame._replace(pixels=marks.window_pixels(self.surface))

    def unlock(self) -> None:
        self.frame = self.frame._replace(pixels=_NO_PIXELS)

    # --- what layers ask ------------------------------------------------------------------------------

    @property
    def has_heat(self) -> bool:
        return self.scale is not None

    @property
    def has_marks(self) -> bool:
        """Whether cells are large enough for a mark inside them."""
        return self.zoom >= MARKS_FROM_PX

    @property
    def line(self) -> int:
        """The width of a line of ordinary weight at this zoom, in design units; over heat all are thin."""
        if self.has_heat:
            return 1
        return 1 if self.zoom < 6 else 2 if self.zoom < 24 else 3

    @property
    def thin(self) -> int:
        """The width in pixels of lines that lie side by side where an agent scrubs: part of a cell on any display."""
        return max(self.px(1), min(self.px(self.line), round(THIN_SHARE * self.zoom)))

    @property
    def _thin_casing(self) -> int:
        return 0 if self.has_heat else min(self.px(1), round(CASING_SHARE * self.zoom))

    @property
    def has_casings(self) -> bool:
        """Whether cells have room for casings around thin lines; where not, back-moves stand out by their width."""
        return self._thin_casing > 0

    @property
    def shown_trail(self) -> Trail | None:
        """None over small cells with heat: lines through all that was walked on would cover it."""
        return None if self.has_heat and self.zoom < HEAT_TRAILS_FROM_PX else self.trail

    def px(self, units: float) -> int:
        return max(1, round(units * self.ui_scale))

    def cased(self, colour: Colour) -> tuple[tuple[int, int], ...]:
        """What to add to a line's width, and its colour: first for the casing, then for the line.

        Over heat there is no casing: the line is a hint of where the agent goes, the heat is what counts.
        """
        line = (0, packed(colour))
        return (line,) if self.has_heat else ((2 * self.px(1), packed(marks.casing_of(self.palette, colour))), line)

    def thinly_cased(self, colour: Colour) -> tuple[tuple[int, int], ...]:
        """The same for thin lines. Between small cells casings would be all there is to see."""
        around = self._thin_casing
        cased = ((2 * around, packed(marks.casing_of(self.palette, colour))),) if around else ()
        return (*cased, (0, packed(colour)))

    # --- drawing --------------------------------------------------------------------------------------

    def tint(self, cells: Cells, colour: Colour, alpha: int) -> None:
        """Lay a colour over cells. Where several share a pixel each gives less: areas look alike at any zoom."""
        if self.zoom < 1.0:
            alpha = round(255 * (1.0 - (1.0 - alpha / 255) ** self.zoom))
        paint.tint_cells(self.frame, np.ascontiguousarray(cells, np.int32), packed(colour), alpha)

    def frame_cells(self, cells: Cells, colour: Colour) -> None:
        """A frame inside each of some cells: it hides no fill, and is no fill."""
        width = max(1, min(self.px(2), round(FRAME_SHARE * self.zoom)))
        paint.frame_cells(self.frame, np.ascontiguousarray(cells, np.int32), width, packed(colour))

    def write(self, texts: Iterable[tuple[str, int]], size: int, colour: Colour) -> None:
        """Texts beside the middles of cells, each with a casing; one that would lie on another is left out."""
        taken: list[pygame.Rect] = []
        self.unlock()
        frame = self.frame  # without the pixels: whoever holds them locks the surface
        before = self.surface.get_clip()
        self.surface.set_clip(pygame.Rect(self.rect).clip(before))
        for text, cell in texts:
            x, y = self.snapshot.grid.xy(cell)
            left = self.rect[0] + round((x + 0.5 - frame.left) * frame.zoom) + self.px(5)
            top = self.rect[1] + round((y + 0.5 - frame.top) * frame.zoom) - self.px(size)
            ink = _fonts.render(text, "bold", self.px(size), colour)
            box = ink.get_rect(topleft=(left, top))
            if box.collidelist(taken) >= 0:
                continue
            taken.append(box)
            around = _fonts.render(text, "bold", self.px(size), marks.casing_of(self.palette, colour))
            for dx, dy in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                self.surface.blit(around, box.move(dx, dy))
            self.surface.blit(ink, box)
        self.surface.set_clip(before)
        self.lock()

    def stamp_cell(self, name: str, cell: int) -> None:
        """A marker in the middle of a cell."""
        x, y = self.snapshot.grid.xy(cell)
        self.stamp(name, x + 0.5, y + 0.5)

    def stamp(self, name: str, x: float, y: float) -> None:
        """A marker at a place of the map; one that is larger than its cell is moved in from the border of the view."""
        made = marks.marker(name, self.zoom, self.ui_scale, self.palette)
        half = max(mask.shape[0] for mask, _ in made) / 2
        frame = self.frame
        x += self._moved_in(x - frame.left, frame.width, half)
        y += self._moved_in(y - frame.top, frame.height, half)
        for mask, colour in made:
            paint.stamp_at(frame, mask, x, y, colour)

    def _moved_in(self, at: float, room: int, half: float) -> float:
        """By how much, in cells; never farther than the marker stands out of its cell, so that it leaves with it."""
        most = max(0.0, half / self.zoom - 0.5)
        inside = min(max(at, half / self.zoom), (room - half) / self.zoom)
        return min(max(inside - at, -most), most)

    def point_out(self, cell: int, colour: Colour) -> None:
        """An arrow at the edge of the view towards a cell that lies outside it."""
        frame = self.frame
        x, y = self.snapshot.grid.xy(cell)
        px, py = (x + 0.5 - frame.left) * frame.zoom, (y + 0.5 - frame.top) * frame.zoom
        if 0 <= px < frame.width and 0 <= py < frame.height:
            return
        size = self.px(17) | 1
        inset = size // 2 + self.px(3)
        at_x = min(max(px, inset), frame.width - inset)
        at_y = min(max(py, inset), frame.height - inset)
        way = round(atan2(py - at_y, px - at_x) * 8 / pi) % 16
        for length, tint in ((size - 1.0, marks.casing_of(self.palette, colour)), (size - 6.0, colour)):
            mask = masks.arrow_head(size, length, way)
            paint.stamp(frame, mask, round(at_x) - size // 2, round(at_y) - size // 2, packed(tint))

    def cross_out(self, cell: int, colour: Colour) -> None:
        """A cross over a cell, as large as a marker: what is there cannot stay there."""
        frame = self.frame
        column, row = self.snapshot.grid.xy(cell)
        x, y = (column + 0.5 - frame.left) * frame.zoom, (row + 0.5 - frame.top) * frame.zoom
        reach = max(7.0 * self.ui_scale, 0.5 * frame.zoom)
        for extra, ink in ((2 * self.px(1), packed(marks.casing_of(self.palette, colour))), (0, packed(colour))):
            for sign in (-1.0, 1.0):
                strokes.stroke(frame, x - reach, y - sign * reach, x + reach, y + sign * reach, self.px(2) + extra, ink)

    def outline_cell(self, cell: int) -> None:
        frame = self.frame
        column, row = self.snapshot.grid.xy(cell)
        x0, y0 = paint.left_of(column, frame.left, frame.zoom), paint.left_of(row, frame.top, frame.zoom)
        x1 = max(x0 + 3, paint.left_of(column + 1, frame.left, frame.zoom))
        y1 = max(y0 + 3, paint.left_of(row + 1, frame.top, frame.zoom))
        paint.outline(frame, x0 - 1, y0 - 1, x1 + 1, y1 + 1, packed(self.palette.casing_dark))
        paint.outline(frame, x0, y0, x1, y1, packed(self.palette.casing_light))


def _clipped(rect: Rect, camera: Camera, size: tuple[int, int]) -> tuple[Rect, Camera]:
    """The part of a rectangle that lies on a surface, and the camera for that part: kernels check no bounds."""
    x, y, width, height = rect
    x0, y0 = max(0, x), max(0, y)
    x1, y1 = min(size[0], x + width), min(size[1], y + height)
    if (x0, y0) != (x, y):
        camera = camera.panned(x - x0, y - y0)
    return (x0, y0, max(0, x1 - x0), max(0, y1 - y0)), camera
