"""Draws a panel's map: the world as it is and what the agent has in mind, layer by layer (ux.md, 5.5).

All pixels are painted by kernels, straight into the window's memory. That view locks the surface, so it lives only
inside `draw` and is gone before text is blitted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from math import atan2, ceil, pi

import numpy as np
import numpy.typing as npt
import pygame

from sim.world import Snapshot, WalkerView
from ui.draw import marks, masks
from ui.draw.cells import NO_CELLS, CellWords, HeatScale, scale_for
from ui.draw.kernels import cellwords, paint, strokes
from ui.draw.kernels.paint import Frame
from ui.draw.legend import draw_colour_bar, legend_swatch
from ui.draw.map_colours import closed_edge, fill_table, group_colours, texture_colours
from ui.draw.marks import TEXTURES_FROM_PX
from ui.draw.theme import Colour, Palette, packed
from ui.draw.values import TEXT_FROM_PX, draw_values
from ui.model.camera import Camera
from ui.model.layers import LayerState
from ui.model.trails import Trail

__all__ = ["MapRenderer", "draw_colour_bar", "legend_swatch"]

MARKS_FROM_PX = 6.0
HEAT_TRAILS_FROM_PX = 12.0
TREE_FROM_PX = 3.0
RECENT_TICKS = 64
EDIT_FADE_TICKS = 200
GROUP_ALPHA = 110  # of 255
MOST_EDIT_MARKS = 2000

_NO_PIXELS = np.zeros((0, 0), np.uint32)

Edits = dict[int, tuple[int, bool]]
Rect = tuple[int, int, int, int]


@dataclass(frozen=True)
class EditMarks:
    """The edits to mark."""

    cells: npt.NDArray[np.int32]
    is_blocked: npt.NDArray[np.bool_]
    age: npt.NDArray[np.float64]  # from 0, just made, to 1, about to go

    @classmethod
    def of(cls, edits: Edits, snapshot: Snapshot, tick_fade: int, spacing: int) -> "EditMarks":
        """The last edits; only one in each square of `spacing` cells, so that marks of tiny cells keep apart."""
        now, width = snapshot.tick, snapshot.grid.width
        chosen: dict[tuple[int, int, bool], tuple[int, bool, float]] = {}
        for cell, (tick, is_blocked) in islice(reversed(edits.items()), MOST_EDIT_MARKS):
            if 0 <= now - tick <= tick_fade:
                place = cell % width // spacing, cell // width // spacing, is_blocked
                chosen.setdefault(place, (cell, is_blocked, (now - tick) / max(1, tick_fade)))
        cells, blocked, age = zip(*chosen.values(), strict=True) if chosen else ((), (), ())
        return cls(np.array(cells, np.int32), np.array(blocked, np.bool_), np.array(age, np.float64))


class MapRenderer:
    """Scratch memory and caches; one serves all panels."""

    def __init__(self) -> None:
        self._columns = np.zeros((3, 0), np.uint32)
        self._rows = np.zeros(0, np.uint32)
        self._map_rows = np.zeros((2, 0), np.uint8)
        self._edit_key: tuple[int, ...] = ()
        self._edit_marks = EditMarks(NO_CELLS, np.empty(0, np.bool_), np.empty(0))
        self.ui_scale = 1.0  # widths of lines and markers on displays of high density

    def draw(
        self,
        surface: pygame.Surface,
        rect: Rect,
        camera: Camera,
        snapshot: Snapshot,
        walker: WalkerView | None,
        trail: Trail | None,
        cells: CellWords,
        layers: LayerState,
        palette: Palette,
        *,
        scale: HeatScale | None = None,
        glide: float = 1.0,
        edits: Edits | None = None,
        hover: int | None = None,
        preview_cells: Sequence[int] = (),
        tick_fade: int = EDIT_FADE_TICKS,
        reveal: int | None = None,
    ) -> None:
        """Draw one panel. `cells` must be up to date: call ui.cells.update_all once a frame before."""
        late = NO_CELLS
        if reveal is not None and walker is not None:
            late = cells.take_back(snapshot.grid, walker, reveal)
        picture = _Picture(self, surface, rect, camera, snapshot, walker, trail, cells, layers, palette, scale)
        picture.draw_fills()
        picture.draw_groups()
        picture.draw_marks()
        if camera.zoom >= TEXT_FROM_PX and walker is not None:
            picture.unlock()
            draw_values(surface, rect, camera, snapshot, walker, cells, picture.table)
            picture.lock(surface)
        picture.draw_lines()
        picture.draw_markers(glide, edits or {}, tick_fade, reveal)
        picture.draw_pointer(hover, preview_cells)
        picture.unlock()
        if late.size and walker is not None:
            cells.put_forward(snapshot.grid, walker, late)

    def edit_marks(self, edits: Edits, snapshot: Snapshot, tick_fade: int, zoom: float) -> "EditMarks":
        """The marks to draw, made once for all panels that show the same edits."""
        spacing = 1 if zoom >= MARKS_FROM_PX else ceil(MARKS_FROM_PX / zoom)
        key = (id(edits), len(edits), snapshot.tick, snapshot.grid.version, tick_fade, spacing)
        if self._edit_key != key:
            self._edit_key = key
            self._edit_marks = EditMarks.of(edits, snapshot, tick_fade, spacing)
        return self._edit_marks

    def scratch(self, rect: Rect, map_width: int) -> None:
        """Make the scratch arrays large enough."""
        if self._columns.shape[1] < rect[2]:
            self._columns = np.zeros((3, rect[2]), np.uint32)
        if self._rows.size < rect[3]:
            self._rows = np.zeros(rect[3], np.uint32)
        if self._map_rows.shape[1] < map_width:
            self._map_rows = np.zeros((2, map_width), np.uint8)


def _clipped(rect: Rect, camera: Camera, size: tuple[int, int]) -> tuple[Rect, Camera]:
    """The part of a rectangle that lies on a surface, and the camera for that part: kernels check no bounds."""
    x, y, width, height = rect
    x0, y0 = max(0, x), max(0, y)
    x1, y1 = min(size[0], x + width), min(size[1], y + height)
    if (x0, y0) != (x, y):
        camera = camera.panned(x - x0, y - y0)
    return (x0, y0, max(0, x1 - x0), max(0, y1 - y0)), camera


class _Picture:
    """One panel in one frame."""

    def __init__(
        self,
        renderer: MapRenderer,
        surface: pygame.Surface,
        rect: Rect,
        camera: Camera,
        snapshot: Snapshot,
        walker: WalkerView | None,
        trail: Trail | None,
        cells: CellWords,
        layers: LayerState,
        palette: Palette,
        scale: HeatScale | None,
    ) -> None:
        grid = snapshot.grid
        rect, camera = _clipped(rect, camera, surface.get_size())
        renderer.scratch(rect, grid.width)
        self.renderer, self.snapshot, self.walker, self.trail = renderer, snapshot, walker, trail
        self.cells, self.visible, self.palette = cells, layers.visible, palette
        self.zoom = float(camera.zoom)
        self.frame = Frame(_NO_PIXELS, *rect, self.zoom, float(camera.left), float(camera.top), grid.width, grid.height)
        self.lock(surface)
        self.bands = cells.bands
        self.scale = (scale or scale_for(layers.heat)) if self.bands.size else None

    def lock(self, surface: pygame.Surface) -> None:
        """Take hold of the window's memory; nothing can be blitted until unlock()."""
        self.frame = self.frame._replace(pixels=marks.window_pixels(surface))

    def unlock(self) -> None:
        self.frame = self.frame._replace(pixels=_NO_PIXELS)

    def shows(self, layer: str) -> bool:
        return self.visible.get(layer, True)

    def px(self, units: float) -> int:
        return max(1, round(units * self.renderer.ui_scale))

    # --- cells ------------------------------------------------------------------------------------

    def draw_fills(self) -> None:
        r = self.renderer
        has_marks = self.zoom >= MARKS_FROM_PX
        self.table = table = fill_table(self.palette, self.visible, self.scale, fills_open=not has_marks)
        args = (self.frame, self.cells.words, self.bands, table, packed(self.palette.outside))
        if self.zoom >= 1.0:
            paint.paint_cells(*args, r._columns[0], r._rows)
        else:
            paint.paint_small_cells(*args, r._map_rows, r._columns)

    def draw_groups(self) -> None:
        """The cells that an algorithm sets apart, tinted."""
        if self.walker is None or not self.shows("groups"):
            return
        colours = group_colours(self.palette)
        for name, cells in self.walker.agent.groups.items():
            if cells.size:
                self._tint(cells, colours[name], GROUP_ALPHA)

    def _tint(self, cells: npt.NDArray[np.int32], colour: Colour, alpha: int) -> None:
        """Lay a colour over cells. Where several share a pixel each gives less: areas look alike at any zoom."""
        if self.zoom < 1.0:
            alpha = round(255 * (1.0 - (1.0 - alpha / 255) ** self.zoom))
        paint.tint_cells(self.frame, np.ascontiguousarray(cells, np.int32), packed(colour), alpha)

    def draw_marks(self) -> None:
        if self.zoom < MARKS_FROM_PX:
            return
        palette = self.palette
        if self.zoom >= TEXTURES_FROM_PX and self.shows("grid"):
            paint.paint_grid(self.frame, self.cells.words, packed(palette.grid_line))
        has_heat = self.scale is not None
        edge = packed(closed_edge(palette)) if self.shows("closed") and not has_heat else -1
        hidden = 0 if self.shows("open") else cellwords.OPEN
        hidden |= 0 if self.shows("terrain") else cellwords.TREES | cellwords.SWAMP | cellwords.WATER
        paint.paint_marks(
            self.frame,
            self.cells.words,
            marks.texture_masks(int(self.zoom)),
            tuple(packed(c) for c in texture_colours(palette)),
            edge,
            marks.open_masks(int(self.zoom)),
            packed(palette.open),
            packed(marks.casing_of(palette, palette.open, has_heat)) if has_heat else -1,
            hidden,
        )

    # --- lines ------------------------------------------------------------------------------------

    def draw_lines(self) -> None:
        if self.walker is None:
            return
        view = self.walker.agent
        if self.shows("tree") and view.search is not None and self.zoom >= TREE_FROM_PX:
            number = int(view.search.control[0].search)
            width = self.px(1 if self.zoom < 16 else 2)
            strokes.stroke_tree(
                self.frame, self.cells.words, view.search.nodes, number, width, packed(self.palette.tree)
            )
        # Over small cells the lines would cover every cell that was walked on, and with them the heat.
        if self.trail is not None and (self.scale is None or self.zoom >= HEAT_TRAILS_FROM_PX):
            self._draw_trail(self.trail)
        self._draw_paths()

    def _draw_trail(self, trail: Trail) -> None:
        frame, palette, moves = self.frame, self.palette, self.cells.moves
        recent_cells, recent_marks = trail.cells[-RECENT_TICKS - 1 :], trail.marks[-RECENT_TICKS - 1 :]
        if self.shows("trail"):
            width = self.px(1 if self.zoom < 6 else 2 if self.zoom < 24 else 3)
            for extra, colour in self._cased(palette.trail):
                strokes.stroke_moves(frame, moves.cells, moves.ways, moves.count, width + extra, colour)
                strokes.stroke_recent(frame, recent_cells, recent_marks, width + self.px(1) + extra, colour)
        if self.shows("back_moves"):
            self._draw_back_moves(recent_cells, recent_marks)

    def _draw_back_moves(self, recent_cells: npt.NDArray[np.int32], recent_marks: npt.NDArray[np.int16]) -> None:
        frame, moves = self.frame, self.cells.moves
        width = self.px(1 if self.zoom < 6 else 2 if self.zoom < 24 else 3)
        wider = width + (self.px(1) if self.zoom < 6 else 0)
        arm = 0.0 if self.zoom < 10 else min(max(3.0, 0.17 * self.zoom), 7.0) * self.renderer.ui_scale
        for extra, colour in self._cased(self.palette.back_move):
            strokes.stroke_back_moves(
                frame, moves.cells, moves.ways, moves.count, moves.seen, width, extra, colour, arm
            )
            strokes.stroke_recent_back_moves(frame, recent_cells, recent_marks, wider, extra, colour, arm)

    def _draw_paths(self) -> None:
        assert self.walker is not None
        view, frame, palette = self.walker.agent, self.frame, self.palette
        thick = 2 if self.zoom < 6 else 3 if self.zoom < 24 else 4
        if self.shows("path") and view.path.size > 1:
            for extra, colour in self._cased(palette.path):
                strokes.stroke_cells(frame, view.path[: view.head + 1], self.px(thick - 1) + extra, colour)
                strokes.stroke_cells(frame, view.path[view.head :], self.px(thick) + extra, colour)
        if self.shows("tracing") and view.tracing.size > 1:
            dash, gap = (4.0, 3.0) if self.zoom < 12 else (8.0, 6.0)
            for extra, colour in self._cased(palette.tracing):
                strokes.dash_cells(frame, view.tracing, self.px(thick) + extra, colour, dash, gap)

    def _cased(self, colour: Colour) -> tuple[tuple[int, int], tuple[int, int]]:
        """What to add to a line's width, and its colour: first for the casing, then for the line."""
        casing = marks.casing_of(self.palette, colour, self.scale is not None)
        return (2 * self.px(1), packed(casing)), (0, packed(colour))

    # --- markers ----------------------------------------------------------------------------------

    def draw_markers(self, glide: float, edits: Edits, tick_fade: int, reveal: int | None) -> None:
        if self.shows("edits") and edits:
            self._draw_edits(edits, tick_fade)
        walker = self.walker
        if walker is not None and self.shows("best") and walker.agent.best >= 0:
            self._stamp_pair("best", walker.agent.best)
        if walker is not None and reveal:
            shown = CellWords.last_expanded(walker)[:reveal]
            if shown.size:
                self._stamp_pair("dot", int(shown[-1]))
        if self.shows("ends"):
            self._stamp_pair("start", self.snapshot.start)
            self._stamp_pair("goal", self.snapshot.goal)
            self._draw_pointer_out(self.snapshot.goal, self.palette.path)
        if walker is not None and self.shows("agent"):
            x, y = self._agent_place(glide)
            self._stamp("agent", x, y)
            self._draw_pointer_out(walker.position, self.palette.agent)

    def _agent_place(self, glide: float) -> tuple[float, float]:
        """Where the agent is between its last cell and this one; map position of its middle."""
        assert self.walker is not None
        x, y = self.snapshot.grid.xy(self.walker.position)
        if (
            self.trail is not None
            and len(self.trail) > 1
            and glide < 1.0
            and self.trail.last_tick == self.snapshot.tick
        ):
            before_x, before_y = self.snapshot.grid.xy(int(self.trail.cells[-2]))
            if max(abs(before_x - x), abs(before_y - y)) <= 1:
                return before_x + (x - before_x) * glide + 0.5, before_y + (y - before_y) * glide + 0.5
        return x + 0.5, y + 0.5

    def _draw_edits(self, edits: Edits, tick_fade: int) -> None:
        marked = self.renderer.edit_marks(edits, self.snapshot, tick_fade, self.zoom)
        palette = self.palette
        if self.zoom < MARKS_FROM_PX:
            reach, width = np.full(marked.cells.size, 2.0 * self.renderer.ui_scale), self.px(1)
            colours = 3 * (packed(palette.text),)
            around = 3 * (packed(marks.casing_of(palette, palette.text)),)
            args = (self.frame, self.cells.words, marked.cells, marked.is_blocked, reach)
            strokes.mark_edits(*args, width + 2 * self.px(1), around)
        else:
            reach, width = (0.3 - 0.2 * marked.age) * self.zoom, self.px(1 if self.zoom < 16 else 2)
            colours = (packed(palette.outside), packed(palette.text), packed(palette.text))
        strokes.mark_edits(self.frame, self.cells.words, marked.cells, marked.is_blocked, reach, width, colours)

    def _stamp_pair(self, name: str, cell: int) -> None:
        x, y = self.snapshot.grid.xy(cell)
        self._stamp(name, x + 0.5, y + 0.5)

    def _stamp(self, name: str, x: float, y: float) -> None:
        for mask, colour in marks.marker(name, self.zoom, self.renderer.ui_scale, self.palette):
            paint.stamp_at(self.frame, mask, x, y, colour)

    def _draw_pointer_out(self, cell: int, colour: Colour) -> None:
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

    def draw_pointer(self, hover: int | None, preview_cells: Sequence[int]) -> None:
        """The brush preview and the cell under the mouse."""
        if len(preview_cells):
            cells = np.asarray(preview_cells, np.int32)
            self._tint(cells, self.palette.accent, 110)
        if hover is not None and hover >= 0:
            self._outline_cell(hover)

    def _outline_cell(self, cell: int) -> None:
        frame = self.frame
        column, row = self.snapshot.grid.xy(cell)
        x0, y0 = paint.left_of(column, frame.left, frame.zoom), paint.left_of(row, frame.top, frame.zoom)
        x1 = max(x0 + 3, paint.left_of(column + 1, frame.left, frame.zoom))
        y1 = max(y0 + 3, paint.left_of(row + 1, frame.top, frame.zoom))
        paint.outline(frame, x0 - 1, y0 - 1, x1 + 1, y1 + 1, packed(self.palette.casing_dark))
        paint.outline(frame, x0, y0, x1, y1, packed(self.palette.casing_light))
