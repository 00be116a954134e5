"""Drawing of the map of one panel: first all cells are filled, then the layers (ui/draw/layers/) draw on top."""

from collections.abc import Iterable, Sequence

import numpy as np
import pygame

from ui.draw.cell_numbers import TEXT_FROM_PX, draw_cell_numbers
from ui.draw.heat_scale import HeatScale, heat_scale_for_peak
from ui.draw.kernels import cell_flags, paint
from ui.draw.layer import STEP_DEPTH, TEXT_DEPTH, Layer
from ui.draw.layers import LAYERS_BY_DRAWING_DEPTH
from ui.draw.map_colours import (
    DOTS_FROM_PX,
    EDGED_FROM_PX,
    ColourTable,
    fill_colour_table,
    flags_drawn_as_walls,
    heat_dot_colour,
    heat_edge_colour,
    wall_edge_width,
)
from ui.draw.map_painter import MapPainter, PaintBuffers, Rect, ToolPreview, TransientContent
from ui.draw.panel_content import NO_CELLS, CellFlags, PanelContent
from ui.draw.theme import Palette, pack_colour
from ui.model.camera import Camera
from ui.model.layer_state import LayerState
from ui.model.run import Edits

PREVIEW_ALPHA = 110  # opacity of the brush preview, 0 to 255
# smallest side of a cell, in pixels, at which walls are outlined on top of heat; in smaller cells lines would hide it
EDGES_FROM_PX = 2.0
DOT_SHARE = 0.22  # side of the dot in cells of the lowest heat band, as a fraction of the cell's side


class MapRenderer:
    """Renderer of maps. One instance draws the maps of all panels, so that they share its buffers."""

    def __init__(self) -> None:
        self._scratch_buffers = PaintBuffers()
        self.ui_scale = 1.0  # pixels per design unit, for the widths of lines and markers

    def draw_map(
        self,
        surface: pygame.Surface,
        rect: Rect,
        camera: Camera,
        content: PanelContent,
        layers: LayerState,
        palette: Palette,
        *,
        scale: HeatScale | None = None,
        glide: float = 1.0,
        edits: Edits | None = None,
        hover: int | None = None,
        tool_preview: ToolPreview = ToolPreview(),  # noqa: B008 - it cannot be changed
        reveal: int | None = None,
    ) -> None:
        """Draw the map of one panel. Before, flags and heat of all cells must be updated, once per frame.

        Args:
            surface: Surface to draw on.
            rect: Rectangle of the map on the surface.
            camera: Part of the map to show.
            content: Content of the panel.
            layers: Visible layers, and the kind of heat.
            palette: Colours of the theme.
            scale: Heat scale that all panels share; None: the smallest scale of the chosen kind of heat.
            glide: Progress of the animated move from the previous cell to the current one, 0 to 1.
            edits: Recent edits of the map, by cell.
            hover: Cell to outline, usually the cell under the mouse.
            tool_preview: Preview of the effect of the selected tool at the mouse position.
            reveal: Number of expansions of the last tick shown so far in slow motion; None: all.
        """
        cells, grid, walker = content.cells, content.snapshot.grid, content.walker_view
        hidden_cells = NO_CELLS
        if reveal is not None and walker is not None:
            hidden_cells = cells.hide_late_expansions(grid, walker, reveal)
        extras = TransientContent(glide, edits or {}, reveal, layers.region_level, tool_preview.dragged_marker)
        picture = MapPainter(
            surface,
            rect,
            camera,
            content,
            palette,
            scale or heat_scale_for_peak(layers.heat_setting),
            extras,
            self._scratch_buffers,
            self.ui_scale,
        )
        _draw_panel_map(picture, layers)
        _draw_tool_preview(picture, hover, tool_preview.cells)
        picture.unlock_pixels()
        if hidden_cells.size and walker is not None:
            cells.show_late_expansions(grid, walker, hidden_cells)


def _draw_panel_map(picture: MapPainter, state: LayerState) -> None:
    """Draw the fills, then the visible layers in order of depth, with g, h, f and the last expansion in between."""
    table = _paint_cell_fills(picture, state)
    visible_layers = [layer for layer in LAYERS_BY_DRAWING_DEPTH if state.is_layer_on(layer)]
    _draw_layers(picture, (layer for layer in visible_layers if layer.drawing_depth < TEXT_DEPTH))
    _write_cell_values(picture, table)
    _draw_layers(picture, (layer for layer in visible_layers if TEXT_DEPTH < layer.drawing_depth < STEP_DEPTH))
    _draw_last_expansion(picture)
    _draw_layers(picture, (layer for layer in visible_layers if layer.drawing_depth > STEP_DEPTH))


def _draw_layers(picture: MapPainter, layers: Iterable[Layer]) -> None:
    for layer in layers:
        if layer.draw is not None:
            layer.draw(picture)


def _paint_cell_fills(picture: MapPainter, state: LayerState) -> ColourTable:
    """Fill every cell with its colour; return the table of fill colours, by cell flags and heat band."""
    has_dots, has_edges = picture.zoom >= DOTS_FROM_PX, picture.zoom >= EDGED_FROM_PX
    hidden = _hidden_fill_flags(picture, state)
    table = fill_colour_table(picture.palette, hidden, picture.heat_scale, has_dots, has_edges)
    scratch = picture.paint_buffers
    args = (
        picture.viewport,
        picture.cells.flags,
        picture.cells.heat_bands,
        table,
        pack_colour(picture.palette.outside),
    )
    if picture.zoom >= 1.0:
        paint.paint_cell_colours(*args, scratch.column_buffer[0], scratch.row_buffer)
    else:
        paint.paint_small_cells(*args, scratch.map_row_buffer, scratch.column_buffer)
    if picture.heat_scale is not None:
        _draw_heat_details(picture, picture.heat_scale)
    elif has_edges:
        width, colour = wall_edge_width(picture.zoom, picture.ui_scale), pack_colour(picture.palette.wall)
        paint.paint_wall_edges(picture.viewport, picture.cells.flags, flags_drawn_as_walls(hidden), width, colour)
    return table


def _draw_heat_details(picture: MapPainter, scale: HeatScale) -> None:
    """Draw what heat does not fill: outlines of walls, and dots in the cells of the lowest heat band."""
    palette, frame = picture.palette, picture.viewport
    if picture.zoom >= EDGES_FROM_PX:
        paint.paint_wall_edges(
            frame, picture.cells.flags, cell_flags.BLOCKED, picture.to_pixels(1), pack_colour(heat_edge_colour(palette))
        )
    if scale.has_dots_in_lowest_band and picture.zoom >= DOTS_FROM_PX:
        size = max(1, round(DOT_SHARE * picture.zoom))
        paint.paint_heat_dots(frame, picture.cells.heat_bands, 1, size, pack_colour(heat_dot_colour(palette, scale)))


def _hidden_fill_flags(picture: MapPainter, state: LayerState) -> int:
    """Return the bit mask of flags that are not filled, because their layer is off, under heat, or not filling."""
    hidden = 0
    for layer in LAYERS_BY_DRAWING_DEPTH:
        is_covered = layer.is_replaced_by_heat and picture.has_heat
        if not state.is_layer_on(layer) or is_covered or not layer.is_filled(picture):
            hidden |= layer.filled_flags
    return hidden


def _write_cell_values(picture: MapPainter, table: ColourTable) -> None:
    """Write the numbers g, h and f of the search into the cells if cells are large enough on screen."""
    if picture.zoom < TEXT_FROM_PX * picture.ui_scale or picture.walker_view is None:
        return
    picture.unlock_pixels()
    args = (picture.surface, picture.visible_rect, picture.camera, picture.snapshot, picture.walker_view, picture.cells)
    draw_cell_numbers(*args, table, picture.ui_scale)
    picture.lock_pixels()


def _draw_last_expansion(picture: MapPainter) -> None:
    """Mark the cell of the latest expansion shown so far in slow motion."""
    if picture.walker_view is not None and picture.transient_content.shown_expansion_count:
        visible_cells = CellFlags.expansions_of_last_tick(picture.walker_view)[
            : picture.transient_content.shown_expansion_count
        ]
        if visible_cells.size:
            picture.draw_marker_in_cell("expansion", int(visible_cells[-1]))


def _draw_tool_preview(picture: MapPainter, hover: int | None, preview_cells: Sequence[int]) -> None:
    """Draw the cells that the brush would change, and outline the cell under the mouse."""
    if len(preview_cells):
        picture.tint_cells(np.asarray(preview_cells, np.int32), picture.palette.accent, PREVIEW_ALPHA)
    if hover is not None and hover >= 0:
        picture.outline_cell(hover)
