"""Warm-up of the drawing kernels: tiny maps are drawn with all layers, so that later frames compile no kernel."""

from dataclasses import replace
from typing import Any

import numpy as np
import pygame

from agents.registry import AGENT_SPECS_BY_KEY
from sim.crowd import CrowdCounts
from sim.grid import Grid
from sim.kernels import search as search_kernels
from sim.kernels.learned import new_learned_heuristic
from sim.kernels.octile import h0_between_cells
from sim.world import World
from sim.world_commands import AgentConfig, EditCells
from ui.draw.kernels import cell_flags, paint
from ui.draw.kernels.paint import Viewport
from ui.draw.layers import LAYER_BY_KEY, LAYERS
from ui.draw.map_painter import DraggedMarker, ToolPreview
from ui.draw.marker_shapes import locked_pixels_of
from ui.draw.panel_content import BANDS, NO_CELLS, CellFlags, PanelContent, update_flags_and_heat_of_panels
from ui.draw.theme import DARK
from ui.maps.legend_swatches import draw_layer_swatch
from ui.maps.map_renderer import MapRenderer
from ui.model.camera import Camera
from ui.model.crowds import Crowd
from ui.model.layer_state import HEAT_KINDS, HeatSetting, LayerState
from ui.model.trails import Trail

ROWS = ("..........", ".@@@@@@@..", "......T@..", ".@@@@@@@..", ".S..WW....")
ZOOMS = (0.5, 2.0, 8.0, 16.0, 50.0)  # pixels per cell, from cells smaller than a pixel to cells with text
# pixels per cell in the first frames: large cells, and small cells, for which trails over heat have other kernels
FIRST_ZOOM, FIRST_SMALL_ZOOM = 16.0, 8.0
# Each kind of heat is drawn twice, because the first frame updates all cells, and the second only changed cells.
FIRST_HEATS = ("off", *2 * ("scrub",), *2 * ("visits",), *2 * ("expansions",))
SIZE = (96, 64)  # width and height of the surface to draw on, in pixels


def compile_first_picture_kernels(kind: str) -> None:
    """Compile the drawing kernels that a panel with this kind of agent needs with default settings."""
    surface = pygame.Surface(SIZE, 0, 32)
    world = _create_tiny_world()
    walker = world.add(AgentConfig(kind))
    trail, cells = Trail(walker.position, 0, world.grid), CellFlags()
    for i, heat in enumerate((*FIRST_HEATS, *(("learned", "learned") if walker.spec.keeps_h else ()))):
        world.submit(EditCells(blocked_cells=(23,)))
        world.advance(1)
        trail.append_rows(walker.log_rows)
        snapshot = world.create_snapshot()
        contents = [PanelContent(cells, snapshot, snapshot.walkers[0], trail)]
        _draw_panels(
            surface,
            contents,
            LayerState(heat_setting=HeatSetting(heat)),
            FIRST_SMALL_ZOOM if i % 2 else FIRST_ZOOM,
            edits={23: (snapshot.tick, True)},
            tool_preview=ToolPreview((4,), DraggedMarker("goal", 4, is_refused=True)),
        )
        world.submit(EditCells(freed_cells=(23,)))
    if search := walker.agent.view().search:
        cell_flags.update_search_flags(cells.flags.copy(), search.nodes, 1, 0)
        cell_flags.recompute_flags_of_cells(cells.flags.copy(), cells.flags, search.nodes, 1, NO_CELLS)
        cell_flags.update_flags_around_cells(cells.flags.copy(), search.nodes, 1, world.grid.width, NO_CELLS)
    for layer in LAYERS:
        draw_layer_swatch(surface, (0, 0, 20, 12), layer, DARK)


def compile_crowd_picture_kernels() -> None:
    """Compile the kernels that draw a crowd: the dots of its agents, their tails, and the heat of their visits."""
    surface = pygame.Surface(SIZE, 0, 32)
    world = _create_tiny_world()
    walker = world.add(AgentConfig("tb-wa", group="crowd"))
    world.advance(2)
    tails = np.array([[walker.start, walker.position]], np.int32)
    numbers = CrowdCounts.from_walkers(world, [walker])
    crowd = Crowd("crowd", (0,), NO_CELLS, numbers, walker.visit_counts, 1, tails, ())
    for heat in ("off", "visits"):
        contents = [PanelContent(CellFlags(), world.create_snapshot(()), None, None, crowd)]
        _draw_panels(surface, contents, LayerState(heat_setting=HeatSetting(heat)), FIRST_ZOOM)


def _create_tiny_world() -> World:
    return World(Grid.from_text_rows(list(ROWS)), 20, 29, AGENT_SPECS_BY_KEY, budget=12, watched=True)


def compile_all_picture_kernels() -> None:
    """Compile all drawing kernels, by drawing every layer and every kind of heat at several zooms."""
    pygame.font.init()
    surface = pygame.Surface(SIZE, 0, 32)
    world = _create_tiny_world()
    for params in ({"shortcut": True}, {"share": 0.5, "trace_rate": 1.0}):
        world.add(AgentConfig("tba", params=params))
    trails = [Trail(w.position, 0, world.grid) for w in world.walkers]
    cells = [CellFlags() for _ in world.walkers]
    for tick in range(12):
        if tick == 6:
            world.submit(EditCells(blocked_cells=(23,)))
        world.advance(1)
        for walker, trail in zip(world.walkers, trails, strict=True):
            trail.append_rows(walker.log_rows)
        _draw_all_agents(surface, world, trails, cells, HEAT_KINDS[tick % len(HEAT_KINDS)], ZOOMS[tick % len(ZOOMS)])
    _call_remaining_kernels(world, cells[0])
    frame = Viewport(locked_pixels_of(surface), 0, 0, *SIZE, FIRST_ZOOM, 0.0, 0.0, world.grid.width, world.grid.height)
    paint.paint_frames_of_listed_cells(frame, np.array([0], np.int32), 1, 0)
    del frame  # the surface stays locked as long as the frame exists
    for layer in LAYERS:
        draw_layer_swatch(surface, (0, 0, 20, 12), layer, DARK)


def _call_remaining_kernels(world: World, cells: CellFlags) -> None:
    """Call the drawing kernels that the frames of a short run may not call, so that they are compiled too."""
    view = world.walkers[0].agent.view()
    search, detour = view.search, view.detour
    assert search is not None and detour is not None
    flags = cells.flags.copy()
    cell_flags.update_search_flags(flags, search.nodes, 1, 0)
    cell_flags.recompute_flags_of_cells(flags, flags, search.nodes, 1, NO_CELLS)
    cell_flags.set_detour_flags(flags, detour.nodes, 1, NO_CELLS)
    cell_flags.clear_detour_flags(flags, NO_CELLS)
    limits = np.zeros(BANDS, np.uint32)
    cell_flags.update_count_bands(search.heat, limits, flags, NO_CELLS)
    table = new_learned_heuristic(world.grid.map_arrays, world.goal, is_watched=True)
    cell_flags.update_learned_bands(table, np.zeros(BANDS), flags, 0)
    for cell in (0, 20):  # call the kernels with which the inspector shows the values of a cell
        search_kernels.is_known(search, cell)
        search_kernels.is_closed(search, cell)
        h0_between_cells(world.grid.map_arrays, cell, world.goal)
    search_kernels.parent_of(world.grid.map_arrays, search, world.start)
    cell_flags.update_g_bands(search.nodes, flags, world.grid.width, np.zeros(BANDS), flags, NO_CELLS)


def _draw_all_agents(
    surface: pygame.Surface, world: World, trails: list[Trail], cells: list[CellFlags], kind: str, zoom: float
) -> None:
    """Draw all agents with every layer and one kind of heat."""
    snapshot = world.create_snapshot()
    table = new_learned_heuristic(world.grid.map_arrays, snapshot.goal, is_watched=True)
    views = [replace(view, agent=replace(view.agent, learned=table)) for view in snapshot.walkers]
    layers = LayerState(dict.fromkeys(LAYER_BY_KEY, True), HeatSetting(kind))
    contents = [PanelContent(c, snapshot, v, t) for c, v, t in zip(cells, views, trails, strict=True)]
    edits = {23: (snapshot.tick, True), 5: (snapshot.tick, False)}
    tool_preview = ToolPreview((4, 5), DraggedMarker("goal", 4, is_refused=True))
    _draw_panels(surface, contents, layers, zoom, edits=edits, hover=3, tool_preview=tool_preview, reveal=2)


def _draw_panels(
    surface: pygame.Surface, contents: list[PanelContent], layers: LayerState, zoom: float, **options: Any
) -> None:
    scale = update_flags_and_heat_of_panels(contents, layers.heat_setting)
    renderer = MapRenderer()
    for content in contents:
        renderer.draw_map(
            surface,
            (0, 0, *SIZE),
            Camera(zoom),
            content,
            layers,
            DARK,
            scale=scale,
            **options,
        )
