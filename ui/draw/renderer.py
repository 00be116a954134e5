"""Drawing of the map of one panel: first all cells are filled, then the layers (ui/draw/layers/) draw on top."""

from collections.abc import Iterable, Sequence

import numpy as np
import pygame

from ui.draw.cells import NO_CELLS, CellFlags, Shown
from ui.draw.heat import HeatScale, scale_for
from ui.draw.kernels import cellwords, paint
from ui.draw.layer import STEP_DEPTH, TEXT_DEPTH, Layer
from ui.draw.layers import BY_DEPTH
from ui.draw.map_colours import (
    DOTS_FROM_PX,
    EDGED_FROM_PX,
    Table,
    dot_colour,
    edge_width,
    fill_table,
    hot_edge,
    wall_bits,
)
from ui.draw.picture import Extras, Picture, Rect, Scratch, ToolPreview
from ui.draw.theme import Palette, packed
from ui.draw.values import TEXT_FROM_PX, draw_values
from ui.model.camera import Camera
from ui.model.layers import LayerState
from ui.model.run import Edits

PREVIEW_ALPHA = 110  # opacity of the brush preview, 0 to 255
# smallest side of a cell, in pixels, at which walls are outlined on top of heat; in smaller cells lines would hide it
EDGES_FROM_PX = 2.0
DOT_SHARE = 0.22  # side of the dot in cells of the lowest heat band, as a fraction of the cell's side


class MapRenderer:
    """Renderer of maps. One instance draws the maps of all panels, so that they share its buffers."""

    def __init__(self) -> None:
        self._scratch_buffers = Scratch()
        self.ui_scale = 1.0  # pixels per design unit, for the widths of lines and markers

    def draw(
        self,
        surface: pygame.Surface,
        rect: Rect,
        camera: Camera,
        shown: Shown,
        layers: LayerState,
        palette: Palette,
        *,
        scale: HeatScale | None = None,
        glide: float = 1.0,
        edits: Edits | None = None,
        hover: int | None = None,
        hand: ToolPreview = ToolPreview(),  # noqa: B008 - it cannot be changed
        reveal: int | None = None,
    ) -> None:
        """Draw the map of one panel. Before, flags and heat of all cells must be updated, once per frame.

        Args:
            surface: Surface to draw on.
            rect: Rectangle of the map on the surface.
            camera: Part of the map to show.
            shown: Content of the panel.
            layers: Visible layers, and the kind of heat.
            palette: Colours of the theme.
            scale: Heat scale that all panels share; None: the smallest scale of the chosen kind of heat.
            glide: Progress of the animated move from the previous cell to the current one, 0 to 1.
            edits: Recent edits of the map, by cell.
            hover: Cell to outline, usually the cell under the mouse.
            hand: Preview of the effect of the selected tool at the mouse position.
            reveal: Number of expansions of the last tick shown so far in slow motion; None: all.
        """
        cells, grid, walker = shown.cells, shown.snapshot.grid, shown.walker
        late = NO_CELLS
        if reveal is not None and walker is not None:
            late = cells.take_back(grid, walker, reveal)
        extras = Extras(glide, edits or {}, reveal, layers.region_level, hand.carried)
        picture = Picture(
            surface,
            rect,
            camera,
            shown,
            palette,
            scale or scale_for(layers.heat),
            extras,
            self._scratch_buffers,
            self.ui_scale,
        )
        _draw(picture, layers)
        _draw_pointer(picture, hover, hand.cells)
        picture.unlock()
        if late.size and walker is not None:
            cells.put_forward(grid, walker, late)


def _draw(picture: Picture, state: LayerState) -> None:
    """Draw the fills, then the visible layers in order of depth, with g, h, f and the last expansion in between."""
    table = _fill(picture, state)
    shown = [layer for layer in BY_DEPTH if state.shows(layer)]
    _draw_layers(picture, (layer for layer in shown if layer.depth < TEXT_DEPTH))
    _write_values(picture, table)
    _draw_layers(picture, (layer for layer in shown if TEXT_DEPTH < layer.depth < STEP_DEPTH))
    _draw_last_expansion(picture)
    _draw_layers(picture, (layer for layer in shown if layer.depth > STEP_DEPTH))


def _draw_layers(picture: Picture, layers: Iterable[Layer]) -> None:
    for layer in layers:
        if layer.draw is not None:
            layer.draw(picture)


def _fill(picture: Picture, state: LayerState) -> Table:
    """Fill every cell with its colour; return the table of fill colours, by cell flags and heat band."""
    has_dots, has_edges = picture.zoom >= DOTS_FROM_PX, picture.zoom >= EDGED_FROM_PX
    hidden = _hidden_fills(picture, state)
    table = fill_table(picture.palette, hidden, picture.scale, has_dots, has_edges)
    scratch = picture.scratch
    args = (picture.frame, picture.cells.words, picture.cells.bands, table, packed(picture.palette.outside))
    if picture.zoom >= 1.0:
        paint.paint_cells(*args, scratch.columns[0], scratch.rows)
    else:
        paint.paint_small_cells(*args, scratch.map_rows, scratch.columns)
    if picture.scale is not None:
        _draw_around_heat(picture, picture.scale)
    elif has_edges:
        width, colour = edge_width(picture.zoom, picture.ui_scale), packed(picture.palette.wall)
        paint.paint_wall_edges(picture.frame, picture.cells.words, wall_bits(hidden), width, colour)
    return table


def _draw_around_heat(picture: Picture, scale: HeatScale) -> None:
    """Draw what heat does not fill: outlines of walls, and dots in the cells of the lowest heat band."""
    palette, frame = picture.palette, picture.frame
    if picture.zoom >= EDGES_FROM_PX:
        paint.paint_wall_edges(frame, picture.cells.words, cellwords.BLOCKED, picture.px(1), packed(hot_edge(palette)))
    if scale.has_dots and picture.zoom >= DOTS_FROM_PX:
        size = max(1, round(DOT_SHARE * picture.zoom))
        paint.paint_dots(frame, picture.cells.bands, 1, size, packed(dot_colour(palette, scale)))


def _hidden_fills(picture: Picture, state: LayerState) -> int:
    """Return the bit mask of flags that are not filled, because their layer is off, under heat, or not filling."""
    hidden = 0
    for layer in BY_DEPTH:
        is_covered = layer.is_replaced_by_heat and picture.has_heat
        if not state.shows(layer) or is_covered or not layer.is_filled(picture):
            hidden |= layer.fills
    return hidden


def _write_values(picture: Picture, table: Table) -> None:
    """Write the numbers g, h and f of the search into the cells if cells are large enough on screen."""
    if picture.zoom < TEXT_FROM_PX * picture.ui_scale or picture.walker is None:
        return
    picture.unlock()
    args = (picture.surface, picture.rect, picture.camera, picture.snapshot, picture.walker, picture.cells)
    draw_values(*args, table, picture.ui_scale)
    picture.lock()


def _draw_last_expansion(picture: Picture) -> None:
    """Mark the cell of the latest expansion shown so far in slow motion."""
    if picture.walker is not None and picture.extras.reveal:
        shown = CellFlags.last_expanded(picture.walker)[: picture.extras.reveal]
        if shown.size:
            picture.stamp_cell("expansion", int(shown[-1]))


def _draw_pointer(picture: Picture, hover: int | None, preview_cells: Sequence[int]) -> None:
    """Draw the cells that the brush would change, and outline the cell under the mouse."""
    if len(preview_cells):
        picture.tint(np.asarray(preview_cells, np.int32), picture.palette.accent, PREVIEW_ALPHA)
    if hover is not None and hover >= 0:
        picture.outline_cell(hover)
