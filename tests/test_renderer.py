"""What is drawn is what is: pixels against plain-Python oracles that read the agents' own data.

Nothing here uses the painting kernels to say what is expected; cells, bands and colours are worked out anew.
"""

import copy
import dataclasses
import os
import random
import re
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor
from pathlib import Path

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

import numpy as np
import pygame
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agents.registry import AGENT_SPECS_BY_KEY
from sim import world_commands
from sim.abstraction import fetch_abstraction, region_map, top_level_number
from sim.grid import Grid
from sim.jit.decorators import JIT_ON
from sim.kernels import learned, log, octile
from sim.kernels.search import begin_search, expand_best_cells, new_search
from sim.map_generators import generate_map
from sim.world import World
from sim.world_commands import AgentConfig
from ui.draw import marker_shapes
from ui.draw.heat_scale import HeatScale, heat_scale_for_peak
from ui.draw.kernels import cell_flags as bits
from ui.draw.layers import LAYERS, contours
from ui.draw.map_colours import (
    detour_colour,
    fill_colour_table,
    group_colours,
    heat_cell_colour,
    heat_dot_colour,
    heat_edge_colour,
    heat_pixel_colour,
    region_colours,
)
from ui.draw.map_painter import RECENT_TICKS, ToolPreview
from ui.draw.panel_content import CellFlags, PanelContent, update_flags_and_heat_of_panels
from ui.draw.theme import DARK, DIVERGING, LIGHT, PALETTES, Colour, Palette, mix_colours, pack_colour
from ui.draw.thumbnails import draw_thumbnail
from ui.maps.legend_swatches import draw_colour_bar, draw_layer_swatch
from ui.maps.map_renderer import MapRenderer
from ui.model.camera import Camera, camera_fitting_map
from ui.model.layer_state import HeatSetting, LayerState
from ui.model.trails import Trail

from .conftest import drawn
from .naive import Board
from .test_golden import M1

pygame.font.init()

AGENTS = [
    ("tba", {}),
    ("tba", {"shortcut": True, "share": 0.5, "switch": "longer"}),
    ("tba", {"open_list": "buckets"}),
    ("tb-wa", {"weight": 2.0}),
    ("tb-wa", {"weight": 3.0, "reopen": True}),
    ("tb-gbfs", {}),
    ("rtb-wa", {"restart": "lazy"}),
    ("rtb-wa", {"restart": "eager"}),
    ("astar", {}),
]


class Stage:
    """A watched world with what the window keeps for each of its agents."""

    def __init__(self, grid: Grid, start: int, goal: int, agents=AGENTS[:1], budget: int = 20) -> None:
        self.world = World(grid, start, goal, AGENT_SPECS_BY_KEY, budget=budget, watched=True, measures=False)
        for key, params in agents:
            self.world.add(AgentConfig(key, params=params))
        self.trails = [Trail(w.position, 0, grid) for w in self.world.walkers]
        self.cells = [CellFlags() for _ in self.world.walkers]

    @property
    def grid(self) -> Grid:
        return self.world.grid

    def run(self, ticks: int) -> None:
        for _ in range(ticks):
            self.world.advance(1)
            for walker, trail in zip(self.world.walkers, self.trails, strict=True):
                trail.append_rows(walker.log_rows)

    def do(self, command) -> None:
        self.world.submit(command)
        self.world.apply_due_changes()

    def refresh(self, heat: HeatSetting | None = None, **keywords) -> HeatScale:
        snapshot = self.world.create_snapshot()
        shown = [
            PanelContent(c, snapshot, w, t) for c, w, t in zip(self.cells, snapshot.walkers, self.trails, strict=True)
        ]
        return update_flags_and_heat_of_panels(shown, heat or HeatSetting(), **keywords)

    def draw(
        self, camera: Camera, size, layers: LayerState, palette: Palette = DARK, *, panel=0, at=(0, 0), **keywords
    ):
        scale = self.refresh(layers.heat_setting)
        surface = pygame.Surface((size[0] + at[0] + 7, size[1] + at[1] + 5), 0, 32)
        surface.fill((255, 0, 255))
        snapshot = self.world.create_snapshot()
        MapRenderer().draw_map(
            surface,
            (*at, *size),
            camera,
            PanelContent(self.cells[panel], snapshot, snapshot.walkers[panel], self.trails[panel]),
            layers,
            palette,
            scale=scale,
            **keywords,
        )
        return surface, scale


def layers_with(*names: str, heat: HeatSetting | None = None) -> LayerState:
    return LayerState({layer.key: layer.key in names for layer in LAYERS}, heat or HeatSetting())


def random_grid(generator: np.random.Generator, width: int, height: int) -> Grid:
    letters = np.frombuffer(b".....................GS@@@@@OTW", np.uint8)
    terrain = generator.choice(letters, (height, width))
    if generator.random() < 0.5:  # a solid block, so that some walls have no free cell around them
        terrain[height // 3 : height // 2 + 1, width // 4 : width // 2 + 2] = ord("@")
    return Grid(terrain.copy())


def random_stage(seed: int, agents=None, width: int = 0, height: int = 0, budget: int = 0) -> Stage:
    generator = np.random.default_rng(seed)
    grid = random_grid(generator, width or int(generator.integers(4, 40)), height or int(generator.integers(4, 30)))
    ground = np.flatnonzero(np.isin(grid.terrain.reshape(-1), np.frombuffer(b".GSB", np.uint8)))
    start, goal = (int(c) for c in generator.choice(ground, 2))
    chosen = agents or [AGENTS[i] for i in generator.choice(len(AGENTS), 3, replace=False)]
    return Stage(grid, start, goal, chosen, budget or int(generator.integers(11, 60)))


# --- oracles ------------------------------------------------------------------------------------------


def letter_at(grid: Grid, x: int, y: int) -> str:
    return chr(grid.terrain[y, x])


def is_passable(grid: Grid, x: int, y: int) -> bool:
    return letter_at(grid, x, y) in ".GSBW"


def is_deep_wall(grid: Grid, x: int, y: int) -> bool:
    """A wall without any passable cell around it, which is painted as rock."""
    near = [(x + dx, y + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
    return letter_at(grid, x, y) in "@O" and not any(grid.contains_point(*n) and is_passable(grid, *n) for n in near)


def is_closed_in(search, cell: int) -> bool:
    node = search.nodes[cell]
    return bool(node.search == search.control[0].search and node.place == -1)


def is_open_in(search, cell: int) -> bool:
    node = search.nodes[cell]
    return bool(node.search == search.control[0].search and node.place >= 0)


def naive_word(grid: Grid, view, cell: int) -> int:
    x, y = grid.xy(cell)
    if is_deep_wall(grid, x, y):
        return 0
    word = {"@": bits.WALL, "O": bits.WALL, "T": bits.TREES, "S": bits.SWAMP, "W": bits.WATER}.get(
        letter_at(grid, x, y), bits.FREE
    )
    if is_passable(grid, x, y):
        if view.search is not None:
            word |= bits.CLOSED if is_closed_in(view.search, cell) else 0
            word |= bits.OPEN if is_open_in(view.search, cell) else 0
        if view.detour is not None and view.detour.nodes.size == grid.cells and is_closed_in(view.detour, cell):
            word |= bits.DETOUR
    return word


def naive_words(grid: Grid, view) -> list[int]:
    return [naive_word(grid, view, cell) for cell in range(grid.cells)]


def naive_band(value: float, scale: HeatScale) -> int:
    """How many of the limits lie below the value."""
    return sum(Fraction(value) > Fraction(limit) for limit in scale.band_limits) if value > 0 else 0


def heat_colour(value: float, scale: HeatScale, palette: Palette, zoom: float = 1.0) -> Colour | None:
    """The fill of a cell with this value; None where there is no heat, or only a dot."""
    band = naive_band(value, scale)
    if not band:
        return None
    colour = scale.band_colours(palette)[min(band, scale.band_count) - 1]
    is_dot = band == 1 and scale.heat_setting.kind == "visits"
    return colour if not is_dot else None if zoom >= 3.0 else mix_colours(palette.free, colour, 0.5)


def heat_values(walker, kind: str, grid: Grid | None = None) -> list[float]:
    if kind == "g":
        search = walker.agent.search
        known = [bool(word & bits.KNOWN) for word in naive_words(grid, walker.agent)]
        values = zip(known, search.nodes["g"].tolist(), strict=True)
        return [max(g, 0.5) if is_known and g < float("inf") else 0.0 for is_known, g in values]
    if kind == "visits":
        return walker.visit_counts.tolist()
    if kind == "expansions":
        return walker.agent.search.heat.tolist()
    return [learned.learned_h_excess(walker.agent.learned_heuristic, cell) for cell in range(walker.visits.size)]


def expected_cell_fill(
    palette: Palette, letter: str, is_closed: bool, is_open: bool, is_detour: bool, shown, zoom: float = 1.0
):
    """The fill of one cell that is not deep in a wall, where there is no heat. Large walls are hollow."""
    if letter in "@O" or (letter == "T" and "terrain" not in shown):
        return palette.wall if zoom < 3.0 else palette.outside
    if letter == "T":
        return palette.trees
    if is_open and "open" in shown:
        return palette.open
    if is_detour and "detour" in shown:
        return detour_colour(palette)
    if is_closed and "closed" in shown:
        return palette.closed
    special = {"S": palette.swamp, "W": palette.water} if "terrain" in shown else {}
    return special.get(letter, palette.free)


class Expected:
    """The fills of one panel's cells."""

    def __init__(
        self, stage: Stage, panel: int, layers: LayerState, palette: Palette, scale: HeatScale, zoom: float = 1.0
    ) -> None:
        self.grid, self.palette, self.scale, self.zoom = stage.grid, palette, scale, zoom
        walker = stage.world.create_snapshot().walkers[panel]
        self.view = walker.agent
        self.shown = {key for key, is_on in layers.layer_visibility.items() if is_on}
        self.values = (
            None if layers.heat_setting.kind == "off" else heat_values(walker, layers.heat_setting.kind, stage.grid)
        )

    def colour(self, x: int, y: int, has_ring: bool = False) -> Colour:
        grid = self.grid
        if not grid.contains_point(x, y):
            return self.palette.outside
        if is_deep_wall(grid, x, y):
            return self.palette.outside
        cell = grid.cell(x, y)
        word = naive_word(grid, self.view, cell)
        if self.values is not None:
            if word & bits.BLOCKED:
                return self.palette.outside
            return heat_colour(self.values[cell], self.scale, self.palette, self.zoom) or self.palette.free
        is_open = bool(word & bits.OPEN) and not has_ring
        is_closed, is_detour = bool(word & bits.CLOSED), bool(word & bits.DETOUR)
        return expected_cell_fill(
            self.palette, letter_at(grid, x, y), is_closed, is_open, is_detour, self.shown, self.zoom
        )

    def is_wall_edge(self, camera: Camera, px: int, py: int) -> bool | None:
        """Whether a pixel of a hollow wall touches one of passable ground; lines are a pixel wide up to zoom 12.

        None when a pixel around it is too near the edge of a cell to tell, and what it may hold decides.
        """
        if self.values is not None or self.zoom < 3.0:
            return False
        looks = "@O" if "terrain" in self.shown else "@OT"
        here = cell_of_pixel(camera, px, py)
        if here is None or not self.grid.contains_point(*here) or letter_at(self.grid, *here) not in looks:
            return False
        around = [cells_near_pixel(camera, px + dx, py + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
        told = [
            {self.grid.contains_point(*place) and is_passable(self.grid, *place) for place in places}
            for places in around
        ]
        if {True} in told:
            return True
        return None if {True, False} in told else False


def colour_at(surface: pygame.Surface, x: int, y: int) -> Colour:
    return tuple(surface.get_at((x, y))[:3])


def to_rgb(pixel: int) -> Colour:
    return pixel >> 16 & 255, pixel >> 8 & 255, pixel & 255


def cell_of_pixel(camera: Camera, px: int, py: int) -> tuple[int, int] | None:
    """The cell at the middle of a pixel, None when that is too near an edge to tell."""
    places = cells_near_pixel(camera, px, py)
    return places.pop() if len(places) == 1 else None


def cells_near_pixel(camera: Camera, px: int, py: int) -> set[tuple[int, int]]:
    """The cells that the middle of a pixel may lie in, as floats round: several where it is on an edge of theirs."""
    x = Fraction(camera.left) + (Fraction(px) + Fraction(1, 2)) / Fraction(camera.zoom)
    y = Fraction(camera.top) + (Fraction(py) + Fraction(1, 2)) / Fraction(camera.zoom)
    near = Fraction(1, 10**9)
    return {(floor(x + dx), floor(y + dy)) for dx in (-near, near) for dy in (-near, near)}


# --- cell words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(24))
def test_cell_flags_and_bands_match_naive_version_after_random_actions(seed):
    chance = random.Random(seed)
    stage = random_stage(seed)
    heat = HeatSetting(("off", "visits", "expansions", "g", "g")[seed % 5], is_log=seed % 2 == 0)
    for _ in range(12):
        random_action(stage, chance)
        stage.run(chance.choice([0, 1, 1, 2, 7]))
        if chance.random() < 0.3:
            continue  # the window does not look after every tick
        scale = stage.refresh(heat)
        for cells, walker in zip(stage.cells, stage.world.create_snapshot().walkers, strict=True):
            assert cells.flags.tolist() == naive_words(stage.grid, walker.agent)
            if heat.kind != "off":
                assert cells.heat_bands.tolist() == [
                    naive_band(v, scale) for v in heat_values(walker, heat.kind, stage.grid)
                ]


DEEDS = ("nothing", "nothing", "nothing", "edit", "edit", "goal", "param", "back in time")


def random_action(stage: Stage, chance: random.Random) -> None:
    grid, world = stage.grid, stage.world
    match chance.choice(DEEDS):
        case "edit":
            cells = chance.choices(range(grid.cells), k=chance.randrange(12))
            blocked, freed = cells[::2], cells[1::2]
            stage.do(world_commands.EditCells(tuple(c for c in blocked if c != world.goal), tuple(freed)))
        case "goal":
            stage.do(world_commands.MoveGoal(chance.randrange(grid.cells)))
        case "param":
            walker = world.walkers[0]
            if walker.spec.param("weight"):
                stage.do(world_commands.SetParam(walker.id, "weight", chance.choice([1.0, 2.5])))
        case "back in time":
            earlier = copy.deepcopy((world, stage.trails))
            stage.run(3)
            stage.refresh()
            stage.world, stage.trails = earlier


def test_cell_flags_are_updated_incrementally():
    """The incremental way is really taken: one rebuild at the beginning, none while the search goes on."""
    stage = Stage(Grid.from_text_rows(["." * 60] * 40), 0, 60 * 40 - 1, AGENTS[:1], budget=20)
    for _ in range(20):
        stage.run(1)
        stage.refresh(HeatSetting("expansions"))
    assert stage.cells[0].rebuild_count == 1


def test_cell_flags_follow_a_replaced_agent():
    stage = random_stage(5, AGENTS[:1], 20, 20)
    stage.run(5)
    stage.refresh()
    other = random_stage(5, [("tb-gbfs", {})], 20, 20)
    other.run(3)
    stage.world, stage.trails = other.world, other.trails
    stage.refresh()
    assert stage.cells[0].flags.tolist() == naive_words(stage.grid, stage.world.create_snapshot().walkers[0].agent)


@pytest.mark.parametrize("kind", ["visits", "expansions", "g"])
def test_cell_flags_are_right_when_a_panel_switches_agents(kind):
    stage = make_trap_stage(budget=8, agents=[AGENTS[0], ("tb-gbfs", {})])
    heat, cells = HeatSetting(kind), CellFlags()
    for tick in range(12):
        stage.run(1)
        snapshot, shown = stage.world.create_snapshot(), tick // 2 % 2
        walker = snapshot.walkers[shown]
        scale = update_flags_and_heat_of_panels([PanelContent(cells, snapshot, walker, stage.trails[shown])], heat)
        assert cells.flags.tolist() == naive_words(stage.grid, walker.agent)
        assert cells.heat_bands.tolist() == [
            naive_band(value, scale) for value in heat_values(walker, kind, stage.grid)
        ]


def test_panels_updated_at_different_times_see_every_edit():
    stage = random_stage(21, [AGENTS[6], AGENTS[3]], 18, 14, budget=12)
    chance = random.Random(3)
    for _ in range(40):
        cells = chance.choices(range(stage.grid.cells), k=4)
        stage.do(world_commands.EditCells(tuple(c for c in cells[:2] if c != stage.world.goal), tuple(cells[2:])))
        stage.run(chance.randrange(2))
        panel = chance.randrange(2)
        snapshot = stage.world.create_snapshot()
        shown = PanelContent(stage.cells[panel], snapshot, snapshot.walkers[panel], stage.trails[panel])
        update_flags_and_heat_of_panels([shown], HeatSetting())
        assert stage.cells[panel].flags.tolist() == naive_words(stage.grid, snapshot.walkers[panel].agent)


def test_shortcut_search_is_shown_and_survives_edits():
    rows = ["." * 60 for _ in range(40)]
    for y in range(8, 33):
        rows[y] = "." * 44 + "@" + "." * 15
    for y in (8, 32):
        rows[y] = "." * 12 + "@" * 33 + "." * 15
    agent = ("tba", {"shortcut": True, "share": 0.9})
    stage = Stage(Grid.from_text_rows(rows), 20 * 60 + 4, 20 * 60 + 56, [agent], budget=60)
    for tick in range(80):
        stage.run(1)
        stage.refresh()
        if tick % 7 == 0:
            assert_flags_match_naive(stage)
    words = stage.cells[0].flags
    only_there = np.flatnonzero((words & bits.DETOUR != 0) & (words & bits.KNOWN == 0)).tolist()
    assert len(only_there) > 20
    for cell in only_there[::7]:
        for edit in (world_commands.EditCells(blocked_cells=(cell,)), world_commands.EditCells(freed_cells=(cell,))):
            stage.do(edit)
            stage.refresh()
            assert_flags_match_naive(stage)


def assert_flags_match_naive(stage: Stage) -> None:
    for cells, walker in zip(stage.cells, stage.world.create_snapshot().walkers, strict=True):
        assert cells.flags.tolist() == naive_words(stage.grid, walker.agent)


@pytest.mark.parametrize("is_log", [True, False])
@pytest.mark.parametrize("compared", [(0, 1), (1, 0)])
def test_difference_heat_is_visits_of_a_minus_b(is_log, compared):
    stage = make_trap_stage(budget=6, agents=[AGENTS[0], ("tb-gbfs", {})])
    stage.run(80)
    heat = HeatSetting("difference", is_log)
    scale = stage.refresh(heat, compared=compared)
    a, b = (heat_values(stage.world.create_snapshot().walkers[i], "visits") for i in compared)
    assert a != b
    bands = stage.cells[0].heat_bands.copy()
    surface, _ = stage.draw(Camera(1.0), (30, 20), layers_with(heat=heat))  # compares the panels (0, 1)
    for cell in range(stage.grid.cells):
        apart = a[cell] - b[cell]
        steps = (*scale.band_limits[1:], 10**9)
        size = next(i for i, limit in enumerate(steps) if abs(apart) <= limit) if apart else -1
        code = 0 if size < 0 else 2 * size + (1 if apart < 0 else 2)
        assert bands[cell] == code
        if code and compared == (0, 1):
            x, y = stage.grid.xy(cell)
            assert colour_at(surface, x, y) == DIVERGING["dark"][4 + size if apart > 0 else 3 - size]


@pytest.mark.parametrize("palette", PALETTES.values(), ids=lambda palette: palette.name)
@pytest.mark.parametrize("kind", ["visits", "expansions", "difference"])
def test_fill_table_has_the_colour_of_every_flag_combination(kind: str, palette: Palette) -> None:
    """It is made from one word of each kind."""
    scale = heat_scale_for_peak(HeatSetting(kind), 9.0)
    table = fill_colour_table(palette, 0, scale).reshape(-1, 256)
    for band, row in enumerate(table):
        floor = heat_cell_colour(palette, scale, band, has_dots=False)
        assert row.tolist() == [pack_colour(heat_pixel_colour(palette, word, band, floor)) for word in range(256)]


def test_linear_scale_is_shared_and_reaches_the_maximum():
    stage = random_stage(3, [AGENTS[0], AGENTS[3]], 30, 20, budget=12)
    stage.run(200)
    scale = stage.refresh(HeatSetting("visits", is_log=False))
    peak = max(int(w.visit_counts.max()) for w in stage.world.walkers)
    assert scale.band_limits[1] * 8 >= peak
    assert scale == heat_scale_for_peak(scale.heat_setting, peak)
    for cells, walker in zip(stage.cells, stage.world.walkers, strict=True):
        assert cells.heat_bands.tolist() == [naive_band(v, scale) for v in walker.visit_counts.tolist()]


@pytest.mark.parametrize("kind", ["visits", "difference"])
@pytest.mark.parametrize("peak", [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 41, 127.5, 1000, 10**5, 10**8])
def test_logarithmic_scale_ends_at_the_maximum(kind: str, peak: float) -> None:
    """The lowest band is one, the others are as even on a logarithmic scale as whole numbers allow."""
    scale = heat_scale_for_peak(HeatSetting(kind), peak)
    assert scale.band_limits[:2] == (0.0, 1.0) and all(limit == int(limit) for limit in scale.band_limits)
    assert all(b > a for a, b in pairwise(scale.band_limits))
    assert peak <= scale.upper_end <= max(1.0, ceil(peak) * 1.13), "at most an eighth of a doubling above it"
    assert naive_band(peak, scale) == (scale.band_count if peak else 0), "the largest value has the highest colour"
    if peak > 10**5:
        ratios = [b / a for a, b in pairwise((*scale.band_limits[1:], scale.upper_end))]
        assert max(ratios) <= 1.2 * min(ratios)


def test_scale_labels_end_at_the_maximum() -> None:
    assert heat_scale_for_peak(HeatSetting("scrub"), 41).band_labels == (
        "1",
        "2",
        "3",
        "4-5",
        "6-9",
        "10-15",
        "16-26",
        "27-41",
    )
    assert heat_scale_for_peak(HeatSetting("scrub"), 40.0).highest_label.endswith("-40")
    assert heat_scale_for_peak(HeatSetting("visits"), 3).band_labels == ("1", "2", "3")
    assert heat_scale_for_peak(HeatSetting("visits", is_log=False), 3).band_labels == ("1", "2", "3")
    assert heat_scale_for_peak(HeatSetting("difference"), 9).band_labels == (
        "-5-9",
        "-3-4",
        "-2",
        "-1",
        "+1",
        "+2",
        "+3-4",
        "+5-9",
    )


@pytest.mark.parametrize("kind", ["visits", "difference"])
def test_heat_scale_covers_the_maximum_of_all_panels(kind):
    stage = make_trap_stage(budget=6, agents=[AGENTS[0], ("tb-gbfs", {})])
    stage.run(30)
    snapshot = stage.world.create_snapshot()
    counts = np.array([3**i for i in range(9)] + [0] * (stage.grid.cells - 9), np.uint32)
    few, many = snapshot.walkers[0], dataclasses.replace(snapshot.walkers[1], visit_counts=counts)
    shown = [PanelContent(c, snapshot, w, t) for c, w, t in zip(stage.cells, (few, many), stage.trails, strict=True)]
    heat = HeatSetting(kind)
    before = update_flags_and_heat_of_panels([dataclasses.replace(shown[0], cells=CellFlags())] * 2, heat)
    scale = update_flags_and_heat_of_panels(shown, heat)
    assert before.upper_end < 128.0 and scale == heat_scale_for_peak(heat, 3**8)
    if kind == "visits":
        for cells, walker in zip(stage.cells, (few, many), strict=True):
            assert cells.heat_bands.tolist() == [naive_band(value, scale) for value in walker.visit_counts.tolist()]
    assert len(set(stage.cells[1].heat_bands[:9].tolist())) > (7 if kind == "visits" else 3), "not all one colour"


def test_difference_heat_is_drawn_only_in_the_compared_panels():
    stage = make_trap_stage(budget=6, agents=[AGENTS[0], ("tb-gbfs", {}), AGENTS[3]])
    stage.run(60)
    for compared in ((0, 1), (2, 0), (1, 1)):
        stage.refresh(HeatSetting("difference"), compared=compared)
        hot = {place for place, cells in enumerate(stage.cells) if cells.heat_bands.size}
        assert hot == (set(compared) if compared != (1, 1) else set()), "a panel is not compared with itself"
    scale = stage.refresh(HeatSetting("visits"))
    for cells, walker in zip(stage.cells, stage.world.walkers, strict=True):
        assert cells.heat_bands.tolist() == [naive_band(value, scale) for value in walker.visit_counts.tolist()]


@pytest.mark.parametrize("seed", range(6))
def test_scrub_heat_counts_back_moves_and_revisits(seed):
    chance = random.Random(seed)
    stage = random_stage(seed, [AGENTS[1], ("tb-wa", {})])
    for _ in range(6):
        random_action(stage, chance)
        stage.run(chance.choice([1, 2, 30]))
        scale = stage.refresh(HeatSetting("scrub"))
        for cells, trail in zip(stage.cells, stage.trails, strict=True):
            counts, been = [0] * stage.grid.cells, {int(trail.cells[0])}
            for before, cell, mark in zip(trail.cells, trail.cells[1:], trail.marks[1:], strict=False):
                if cell != before and not mark & log.TRIAL_BEGAN and (int(cell) in been or mark & log.BACK_MOVE):
                    counts[cell] += 1
                been.add(int(cell))
            assert cells.heat_bands.tolist() == [naive_band(value, scale) for value in counts]
            assert cells.peak_heat == max(counts)


def test_learned_heat_shows_increase_of_h():
    stage = random_stage(8, [AGENTS[3]], 12, 9)
    snapshot = stage.world.create_snapshot()
    walker = snapshot.walkers[0]
    grid = stage.grid
    table = learned.new_learned_heuristic(grid.map_arrays, stage.world.goal, is_watched=True)
    view = copy.copy(walker.agent)
    object.__setattr__(view, "learned", table)
    walker = copy.copy(walker)
    object.__setattr__(walker, "agent", view)
    cells = CellFlags()
    shown = [PanelContent(cells, snapshot, walker, stage.trails[0])]
    chance = random.Random(2)
    for times in (0, 1, 40, 0, learned.MAX_LISTED_CHANGES + 5):  # the last time more has changed than is noted
        for _ in range(times):
            cell = chance.randrange(grid.cells)
            learned.learned_h_of(table, cell)
            learned.raise_learned_h(table, cell, table.h[cell] + chance.choice([0.0, 1.0, 7.5]))
        scale = update_flags_and_heat_of_panels(shown, HeatSetting("learned"))
        risen = [max(0.0, h - initial_h(stage.world, s)) for s, h in enumerate(table.h.tolist())]
        assert cells.heat_bands.tolist() == [naive_band(value, scale) for value in risen]
        assert cells.peak_heat == max(risen)


def initial_h(world: World, cell: int) -> float:
    board = Board(world.grid.text_rows(), world.grid.diagonal_cost)
    return board.h(board.at(cell), board.at(world.goal))


# --- fills --------------------------------------------------------------------------------------------

FILLS = ("terrain", "closed", "open", "detour")


@settings(max_examples=25)
@given(
    st.integers(0, 2**32 - 1),
    st.one_of(st.floats(1.0, 5.9), st.integers(1, 5).map(float)),
    st.floats(-6, 30),
    st.floats(-6, 20),
    st.sets(st.sampled_from(FILLS)),
    st.sampled_from(
        [HeatSetting(), HeatSetting("visits"), HeatSetting("expansions", False), HeatSetting("visits", True, "magma")]
    ),
    st.sampled_from([DARK, LIGHT]),
)
@example(190805, 5.9, 20.34049150711822, 0.0, set(FILLS), HeatSetting(), DARK)  # a wall ends on half a pixel
def test_every_fill_pixel_is_right_when_zoomed_in(seed, zoom, left, top, shown, heat, palette):
    stage = random_stage(seed)
    stage.run(1 + seed % 40)
    layers, camera = layers_with(*shown, heat=heat), Camera(zoom, left, top)
    surface, scale = stage.draw(camera, (57, 43), layers, palette, panel=seed % 3, at=(3, 2))
    expected = Expected(stage, seed % 3, layers, palette, scale, zoom)
    known: dict[tuple[int, int], Colour] = {}
    for py in range(43):
        for px in range(57):
            place = cell_of_pixel(camera, px, py)
            if place is None:
                continue
            if place not in known:
                known[place] = expected.colour(*place)
            seen, is_edge = colour_at(surface, px + 3, py + 2), expected.is_wall_edge(camera, px, py)
            if is_edge is None and seen == palette.wall:
                continue
            if is_edge:
                assert seen == palette.wall, (place, px, py)
                continue
            assert seen == known[place] or (heat.kind != "off" and seen in colours_over_heat(scale, palette)), (
                place,
                px,
                py,
            )
    assert colour_at(surface, 2, 2) == colour_at(surface, 60, 2) == colour_at(surface, 3, 45) == (255, 0, 255)


def colours_over_heat(scale: HeatScale, palette: Palette) -> tuple[Colour, Colour]:
    """What lies on the fills where there is heat: the edges of walls, and dots."""
    return heat_edge_colour(palette), heat_dot_colour(palette, scale)


@pytest.mark.parametrize("zoom", [5, 12, 16, 40])
@pytest.mark.parametrize("heat", [HeatSetting(), HeatSetting("visits")])
def test_walls_have_edges_on_all_sides_with_every_layer(zoom, heat):
    """No line between cells lies on it."""
    stage = Stage(Grid.from_text_rows(["....", ".@@.", "...."]), 0, 3, [])
    cells, snapshot = CellFlags(), stage.world.create_snapshot()
    scale = update_flags_and_heat_of_panels([PanelContent(cells, snapshot, None, None)], heat)
    surface = pygame.Surface((4 * zoom, 3 * zoom), 0, 32)
    layers = layers_with("terrain", "grid", heat=heat)
    rect = (0, 0, *surface.get_size())
    MapRenderer().draw_map(
        surface, rect, Camera(zoom), PanelContent(cells, snapshot, None, None), layers, DARK, scale=scale
    )
    edge = heat_edge_colour(DARK) if cells.heat_bands.size else DARK.wall
    for x in range(zoom, 3 * zoom):
        assert colour_at(surface, x, zoom) == colour_at(surface, x, 2 * zoom - 1) == edge
    for y in range(zoom, 2 * zoom):
        assert colour_at(surface, zoom, y) == colour_at(surface, 3 * zoom - 1, y) == edge


def test_dots_and_wall_edges_are_drawn_over_heat() -> None:
    """A cell that was visited once has a dot in its middle; walls have a line where they meet the floor."""
    rows = ["....", ".@@.", "...."]
    stage = Stage(Grid.from_text_rows(rows), 0, 3, [("astar", {})], budget=50)
    stage.run(3)
    visits = stage.world.walkers[0].visit_counts
    surface, scale = stage.draw(Camera(10.0), (40, 30), layers_with(heat=HeatSetting("visits")), DARK)
    dot = heat_dot_colour(DARK, scale)
    for cell in range(12):
        x, y = stage.grid.xy(cell)
        if letter_at(stage.grid, x, y) == "@":
            assert {colour_at(surface, 10 * x + 5, py) for py in (10 * y, 10 * y + 9)} == {heat_edge_colour(DARK)}
            assert colour_at(surface, 10 * x + 5, 10 * y + 5) == DARK.outside
        else:
            assert (colour_at(surface, 10 * x + 5, 10 * y + 5) == dot) == (visits[cell] == 1), (x, y)
            assert colour_at(surface, 10 * x + 1, 10 * y + 1) == DARK.free
    assert colour_at(surface, 19, 15) == colour_at(surface, 20, 15) == DARK.outside, "none between two walls"


@settings(max_examples=15)
@given(
    st.integers(0, 2**32 - 1),
    st.one_of(st.integers(6, 50).map(float), st.floats(6.0, 30.0)),
    st.floats(-2, 10),
    st.floats(-2, 10),
    st.sampled_from([HeatSetting(), HeatSetting("visits")]),
    st.sampled_from([DARK, LIGHT]),
)
def test_centre_of_every_large_cell_is_right(seed, zoom, left, top, heat, palette):
    """Marks leave the middle free, but for the squares of open cells where cells are too small for rings."""
    stage = random_stage(seed)
    stage.run(1 + seed % 40)
    layers, camera = layers_with(*FILLS, "grid", heat=heat), Camera(zoom, left, top)
    size = (220, 160)
    surface, scale = stage.draw(camera, size, layers, palette, panel=seed % 3)
    expected = Expected(stage, seed % 3, layers, palette, scale, zoom)
    for cell in range(stage.grid.cells):
        x, y = stage.grid.xy(cell)
        px, py = (floor(v) for v in camera.map_to_px(x + 0.5, y + 0.5))
        if not (2 <= px < size[0] - 2 and 2 <= py < size[1] - 2):
            continue
        is_dot = heat.kind == "visits" and expected.values[cell] == 1
        # A ring lies up to a pixel off where cells are not equally wide; a dot in a cell of even width has two middles.
        reach = 0.0 if zoom.is_integer() and not is_dot else 0.5
        colour = heat_dot_colour(palette, scale) if is_dot else expected.colour(x, y, has_ring=zoom >= 12)
        assert has_colour_near(surface, (px, py), reach, colour), (x, y)


@settings(max_examples=25)
@given(
    st.integers(0, 2**32 - 1),
    st.floats(0.06, 0.97),
    st.floats(-20, 30),
    st.floats(-20, 20),
    st.sampled_from([HeatSetting(), HeatSetting("visits"), HeatSetting("expansions")]),
)
def test_every_pixel_is_right_when_zoomed_out(seed, zoom, left, top, heat):
    """A pixel stands for all cells in it: nothing of what they are is lost."""
    stage = random_stage(seed, width=70, height=50)
    stage.run(1 + seed % 40)
    panel = seed % 3
    layers, camera = layers_with(*FILLS, heat=heat), Camera(zoom, left, top)
    surface, scale = stage.draw(camera, (41, 29), layers, panel=panel, at=(1, 4))
    walker = stage.world.create_snapshot().walkers[panel]
    words = np.array(naive_words(stage.grid, walker.agent)).reshape(50, 70)
    values = None if heat.kind == "off" else np.array(heat_values(walker, heat.kind, stage.grid)).reshape(50, 70)
    columns, rows = pixel_edges(left, zoom, 70, 41), pixel_edges(top, zoom, 50, 29)
    for py in range(29):
        for px in range(41):
            part = slice(rows[py], rows[py + 1]), slice(columns[px], columns[px + 1])
            value = 0 if values is None else max(values[part].ravel().tolist(), default=0)
            hot = None if values is None else heat_colour(value, scale, DARK)
            expected = mixed_colour(DARK, {int(w) for w in words[part].ravel()}, hot, values is not None)
            assert colour_at(surface, px + 1, py + 4) == expected, (px, py)


def pixel_edges(origin: float, zoom: float, cells: int, pixels: int) -> list[int]:
    return [min(max(floor(origin + p * (1 / zoom)), 0), cells) for p in range(pixels + 1)]


def mixed_colour(palette: Palette, words: set[int], hot: Colour | None, has_heat: bool) -> Colour:
    """The colour of a pixel for the set of words in it."""

    def has(*flags: int) -> bool:
        return any(word & flag for word in words for flag in flags)

    wall = palette.wall if has(bits.WALL) else palette.trees if has(bits.TREES) else None
    if not words:
        return palette.outside
    is_passable = has(bits.FREE, bits.SWAMP, bits.WATER)
    if has_heat:
        cold = mix_colours(palette.free, palette.outside, 0.5) if wall else palette.free
        return (hot or cold) if is_passable else palette.outside
    if not is_passable:
        return wall or palette.outside
    if has(bits.OPEN):
        return palette.open
    fill = detour_colour(palette) if has(bits.DETOUR) else palette.closed if has(bits.CLOSED) else None
    if fill is None:
        fill = palette.swamp if has(bits.SWAMP) else palette.water if has(bits.WATER) else palette.free
    return mix_colours(fill, wall, 0.65) if wall else fill


@pytest.mark.parametrize("zoom", [0.07, 0.3, 0.31, 0.5, 0.77, 0.999, 1.0, 1.3, 2.9])
@pytest.mark.parametrize("flag", [bits.WALL, bits.OPEN, bits.CLOSED])
def test_single_cell_is_visible_at_every_zoom(zoom, flag):
    generator = np.random.default_rng(4)
    stage = Stage(Grid.from_text_rows(["." * 64] * 48), 0, 1, [])
    snapshot = stage.world.create_snapshot()
    for _ in range(12):
        cells = CellFlags()
        update_flags_and_heat_of_panels([PanelContent(cells, snapshot, None, None)], HeatSetting())
        x, y = int(generator.integers(64)), int(generator.integers(48))
        cells.flags[y * 64 + x] = flag if flag == bits.WALL else flag | bits.FREE
        surface = pygame.Surface((64 * 3 + 20, 48 * 3 + 20), 0, 32)
        camera = Camera(zoom, *(generator.random(2) * -5))
        rect = (0, 0, *surface.get_size())
        MapRenderer().draw_map(
            surface, rect, camera, PanelContent(cells, snapshot, None, None), layers_with(*FILLS), LIGHT
        )
        colours = {to_rgb(p) for p in np.unique(pygame.surfarray.array2d(surface)).tolist()}
        assert colours - {LIGHT.free, LIGHT.outside}, (x, y)


@pytest.mark.parametrize("zoom", [0.07, 0.3, 0.5, 0.77, 1.0, 2.9, 9.0])
@pytest.mark.parametrize("palette", [DARK, LIGHT], ids=lambda p: p.name)
def test_rock_edge_is_visible_at_every_zoom(zoom, palette):
    """Between rock and free ground there is a pixel of wall, or of wall and ground together, at every zoom."""
    rows = ["." * 90] * 30 + ["." * 30 + "@" * 30 + "." * 30] * 30 + ["." * 90] * 30
    stage = Stage(Grid.from_text_rows(rows), 0, 1, [])
    for left in (0.0, -0.4, -3.7):
        side = ceil(100 * zoom)
        surface, _ = draw_map_without_agent(stage, Camera(zoom, left, left), (side, side), palette)
        within = range(ceil((5 - left) * zoom), floor((85 - left) * zoom))  # beside the map there is no edge
        seen = [colour_at(surface, x, floor((45 - left) * zoom)) for x in within]
        assert {palette.wall, mix_colours(palette.free, palette.wall, 0.65)} & set(seen)
        assert (palette.outside, palette.free) not in set(pairwise(seen))
        assert (palette.free, palette.outside) not in set(pairwise(seen))
        assert palette.outside in seen or zoom < 0.1


def draw_map_without_agent(stage, camera, size, palette):
    """The map without an agent."""
    cells, snapshot = CellFlags(), stage.world.create_snapshot()
    update_flags_and_heat_of_panels([PanelContent(cells, snapshot, None, None)], HeatSetting())
    surface = pygame.Surface(size, 0, 32)
    MapRenderer().draw_map(
        surface, (0, 0, *size), camera, PanelContent(cells, snapshot, None, None), layers_with("terrain"), palette
    )
    return surface, cells


@pytest.mark.parametrize("palette", [DARK, LIGHT], ids=lambda p: p.name)
def test_thumbnails_show_rock(palette):
    grid = Grid.from_text_rows(["." * 12] * 3 + ["@" * 12] * 4 + ["T" * 12])
    picture = draw_thumbnail(grid, 0, 11, (120, 80), palette)
    column = [colour_at(picture, 65, 10 * y + 5) for y in range(8)]
    assert column == 3 * [palette.free] + 4 * [palette.outside] + [palette.trees]
    assert colour_at(picture, 65, 30) == palette.wall, "its edge"


def test_single_free_cell_in_a_wall_is_visible_at_every_zoom():
    for zoom in (0.2, 0.45, 0.8):
        rows = ["@" * 40 for _ in range(40)]
        rows[23] = "@" * 17 + "." + "@" * 22
        stage = Stage(Grid.from_text_rows(rows), 23 * 40 + 17, 23 * 40 + 17, [])
        cells, snapshot = CellFlags(), stage.world.create_snapshot()
        update_flags_and_heat_of_panels([PanelContent(cells, snapshot, None, None)], HeatSetting())
        surface = pygame.Surface((40, 40), 0, 32)
        MapRenderer().draw_map(
            surface,
            (0, 0, 40, 40),
            Camera(zoom),
            PanelContent(cells, snapshot, None, None),
            layers_with("terrain"),
            DARK,
        )
        colours = {to_rgb(p) for p in np.unique(pygame.surfarray.array2d(surface)).tolist()}
        assert mix_colours(DARK.free, DARK.wall, 0.65) in colours


def test_terrain_layer_off_shows_only_free_and_blocked():
    stage = Stage(Grid.from_text_rows([".T@WS", "....."]), 0, 5, [])
    cells, snapshot = CellFlags(), stage.world.create_snapshot()
    update_flags_and_heat_of_panels([PanelContent(cells, snapshot, None, None)], HeatSetting())
    surface = pygame.Surface((5, 2), 0, 32)
    MapRenderer().draw_map(
        surface, (0, 0, 5, 2), Camera(1.0), PanelContent(cells, snapshot, None, None), layers_with(), DARK
    )
    free, wall = DARK.free, DARK.wall
    assert [colour_at(surface, x, 0) for x in range(5)] == [free, wall, wall, free, free]


# --- marks and lines ----------------------------------------------------------------------------------


TRAPPED = [("tba", {"share": 0.6, "trace_rate": 3.0})]


def make_trap_stage(budget: int, agents=TRAPPED) -> Stage:
    """TBA* (or others) before a trap, in which it will walk to and fro."""
    rows = ["." * 30 for _ in range(20)]
    for y in range(4, 16):
        rows[y] = "." * 20 + "@" + "." * 9
    for y in (4, 15):
        rows[y] = "." * 6 + "@" * 15 + "." * 9
    return Stage(Grid.from_text_rows(rows), 10 * 30 + 2, 10 * 30 + 28, agents, budget)


def make_scrubbing_stage() -> Stage:
    """TBA* in the trap and in the middle of tracing a path."""
    stage = make_trap_stage(budget=10)
    stage.run(34)
    assert stage.world.create_snapshot().walkers[0].agent.tracing.size > 3
    return stage


@pytest.mark.parametrize("zoom", [0.6, 1.7, 4.0, 9.0, 16.0, 33.0])
@pytest.mark.parametrize("palette", [DARK, LIGHT], ids=lambda p: p.name)
def test_agent_and_goal_are_visible_at_every_zoom(zoom, palette):
    stage = make_scrubbing_stage()
    walker = stage.world.create_snapshot().walkers[0]
    for cell, role in ((walker.position, "agent"), (stage.world.goal, "path")):
        x, y = stage.grid.xy(cell)
        camera = Camera(zoom).centred_on_point(x + 0.5, y + 0.5, 201, 201)
        surface, _ = stage.draw(camera, (201, 201), LayerState(), palette)
        assert colour_at(surface, 100, 100) == getattr(palette, role)


def test_agent_marker_is_at_least_seven_pixels_wide():
    for zoom in (0.1, 1.0, 5.0):
        mask = marker_shapes.marker_masks("agent", zoom, 1.0, DARK)[1][0]
        assert (mask[mask.shape[0] // 2] == 255).sum() >= 7


def test_agent_position_is_interpolated_from_its_last_cell():
    stage = make_scrubbing_stage()
    cells = stage.trails[0].cells
    last, now = stage.grid.xy(int(cells[-2])), stage.grid.xy(int(cells[-1]))
    assert last != now
    for glide in (0.0, 0.5, 1.0):
        x, y = (a + (b - a) * glide + 0.5 for a, b in zip(last, now, strict=True))
        camera = Camera(20.0).centred_on_point(x, y, 101, 101)
        surface, _ = stage.draw(camera, (101, 101), layers_with("agent"), glide=glide)
        assert colour_at(surface, 50, 50) == DARK.agent


def test_arrived_agent_is_not_animated():
    """While others walk on, its last move is not shown over and over."""
    stage = make_trap_stage(budget=1, agents=[("tb-wa", {"weight": 1.0}), ("tb-gbfs", {})])
    walkers = stage.world.walkers
    while not any(walker.has_arrived for walker in walkers):
        stage.run(1)
    stage.run(2)
    panel = next(i for i, walker in enumerate(walkers) if walker.has_arrived)
    assert not walkers[1 - panel].has_arrived
    x, y = stage.grid.xy(stage.world.goal)
    camera = Camera(20.0).centred_on_point(x + 0.5, y + 0.5, 101, 101)
    pictures = [
        pygame.surfarray.array3d(stage.draw(camera, (101, 101), layers_with("agent"), panel=panel, glide=glide)[0])
        for glide in (0.0, 0.5, 1.0)
    ]
    assert all((picture == pictures[2]).all() for picture in pictures)


@pytest.mark.parametrize("zoom", [4.0, 9.0, 20.0])
def test_path_line_runs_through_cell_centres(zoom):
    stage = make_scrubbing_stage()
    view = stage.world.create_snapshot().walkers[0].agent
    assert view.path.size > 3
    surface, _ = stage.draw(Camera(zoom), (int(30 * zoom), int(20 * zoom)), layers_with("path"))
    for cell in view.path.tolist():
        x, y = stage.grid.xy(cell)
        assert has_colour_near(surface, ((x + 0.5) * zoom - 0.5, (y + 0.5) * zoom - 0.5), 0.5, DARK.path)


@pytest.mark.parametrize("zoom", [1.0, 3.0, 9.0, 20.0])
def test_every_back_move_is_drawn_next_to_the_trail(zoom):
    stage = make_trap_stage(budget=4)
    stage.run(130)
    trail = stage.trails[0]
    assert np.count_nonzero(trail.marks[:-RECENT_TICKS] & log.BACK_MOVE) > 10, "old ones too"
    backs = trail.marks[1:] & log.BACK_MOVE
    moves = {(int(a), int(b)) for (a, b), back in zip(pairwise(trail.cells), backs, strict=True) if back}
    surface, _ = stage.draw(Camera(zoom), (int(30 * zoom), int(20 * zoom)), layers_with("back_moves"))
    for s, t in moves:
        (ax, ay), (bx, by) = stage.grid.xy(s), stage.grid.xy(t)
        middle = (ax + bx + 1) / 2 * zoom, (ay + by + 1) / 2 * zoom
        length = 1.0 if ax == bx or ay == by else 2**0.5
        right = middle[0] - (by - ay) * 0.28 * zoom / length, middle[1] + (bx - ax) * 0.28 * zoom / length
        assert has_colour_near(surface, right, max(1.5, 0.12 * zoom), DARK.back_move), (ax, ay, bx, by)


@pytest.mark.parametrize("way", range(8))
@pytest.mark.parametrize("zoom", [12.0, 30.0])
def test_back_move_arrow_is_right_of_and_along_its_direction(way, zoom):
    dx, dy = int(octile.DX[way]), int(octile.DY[way])
    stage = Stage(Grid.from_text_rows(["." * 7] * 7), 24, 24, [("astar", {})])
    rows = log.new_tick_log(1)
    rows[0].cell, rows[0].marks = 24 + dx + 7 * dy, log.BACK_MOVE
    stage.trails[0].append_rows(rows)
    size = int(7 * zoom)
    surface, _ = stage.draw(Camera(zoom), (size, size), layers_with("back_moves"))
    inked = np.argwhere(pygame.surfarray.array2d(surface)[:size, :size] == pack_colour(DARK.back_move)) + 0.5
    along = (inked - 3.5 * zoom) @ np.array([dx, dy]) / np.hypot(dx, dy)
    right = (inked - 3.5 * zoom) @ np.array([-dy, dx]) / np.hypot(dx, dy)
    assert inked.size
    assert right.mean() == pytest.approx(0.28 * zoom, abs=1.0)
    assert along.min() > 0
    assert along.max() < zoom * np.hypot(dx, dy)
    if zoom > 20:
        assert right[along > along.mean()].std() > right[along < along.mean()].std(), "the head is wider than the tail"


@pytest.mark.parametrize("zoom", [0.5, 1.0, 2.0])
def test_single_back_move_is_never_hidden_by_a_dash_gap(zoom):
    for start in range(40, 60):
        stage = Stage(Grid.from_text_rows(["." * 80] * 5), 2 * 80 + start, 0, [("astar", {})])
        rows = log.new_tick_log(1)
        rows[0].cell, rows[0].marks = 2 * 80 + start - 1, log.BACK_MOVE
        stage.trails[0].append_rows(rows)
        stage.refresh()  # the move counts as old: only the list of all moves may show it
        stage.trails[0].append_rows(log.new_tick_log(RECENT_TICKS + 5))
        stage.trails[0].cells[2:] = 0
        surface, _ = stage.draw(Camera(zoom), (int(80 * zoom), 12), layers_with("back_moves"))
        assert pack_colour(DARK.back_move) in pygame.surfarray.array2d(surface), start


def has_colour_near(surface: pygame.Surface, place, reach: float, colour: Colour) -> bool:
    xs = range(max(0, floor(place[0] - reach)), min(surface.get_width(), ceil(place[0] + reach) + 1))
    ys = range(max(0, floor(place[1] - reach)), min(surface.get_height(), ceil(place[1] + reach) + 1))
    return any(colour_at(surface, x, y) == colour for x in xs for y in ys)


def test_trail_is_drawn_only_near_visited_cells():
    stage = make_scrubbing_stage()
    zoom = 9.0
    surface, _ = stage.draw(Camera(zoom), (270, 180), layers_with("trail", "back_moves"))
    walked = {stage.grid.xy(int(c)) for c in stage.trails[0].cells}
    near = {(x + dx, y + dy) for x, y in walked for dx in (-1, 0, 1) for dy in (-1, 0, 1)}
    for y in range(20):
        for x in range(30):
            if (x, y) not in near and is_passable(stage.grid, x, y):
                assert colour_at(surface, int((x + 0.5) * zoom), int((y + 0.5) * zoom)) == DARK.free


@pytest.mark.parametrize("layer", [layer.key for layer in LAYERS])
def test_every_layer_can_be_switched_off(layer):
    """A layer that is off draws nothing; one that is on draws something in a scene that has everything."""
    stage = make_scrubbing_stage()
    edits = {35: (stage.world.tick, True), 95: (stage.world.tick, False)}
    camera, size = Camera(16.0), (480, 320)
    alone, _ = stage.draw(camera, size, layers_with(layer), edits=edits)
    bare, _ = stage.draw(camera, size, layers_with(), edits=edits)
    everything, _ = stage.draw(camera, size, layers_with(*(k.key for k in LAYERS)), edits=edits)
    without, _ = stage.draw(camera, size, layers_with(*(k.key for k in LAYERS if k.key != layer)), edits=edits)
    if layer in ("terrain", "detour", "groups", "regions", "waypoints", "records", "candidates", "control", "contours"):
        # Nothing special on this map, no shortcut search, nothing set apart, no abstraction, no records, no limits.
        assert pixel_bytes(alone) == pixel_bytes(bare)
    else:
        assert pixel_bytes(alone) != pixel_bytes(bare)
        assert pixel_bytes(without) != pixel_bytes(everything)


@pytest.mark.parametrize("layer", ["regions", "waypoints"])
def test_layers_of_agents_with_a_database_draw_something(layer):
    grid = Grid.from_text_rows(["." * 30] * 20)
    stage = Stage(
        grid,
        int(np.flatnonzero(grid.free_mask)[0]),
        int(np.flatnonzero(grid.free_mask)[-1]),
        [("d-lrta", {"level": 1})],
    )
    for zoom in (0.7, 3.0, 16.0):
        camera, size = Camera(zoom), (480, 320)
        alone, _ = stage.draw(camera, size, layers_with(layer))
        bare, _ = stage.draw(camera, size, layers_with())
        assert pixel_bytes(alone) != pixel_bytes(bare)


@pytest.mark.parametrize("layer", ["records", "candidates", "waypoints"])
def test_layers_of_agents_with_records_draw_something(layer):
    grid = Grid.from_text_rows(["." * 30] * 20)
    cap = 1 if layer == "candidates" else 250
    stage = Stage(grid, 0, 599, [("knn-lrta", {"records": 20, "direct": False, "similar": 3, "cap": cap})])
    stage.world.advance(1)
    for zoom in (0.7, 3.0, 16.0):
        camera, size = Camera(zoom), (480, 320)
        alone, _ = stage.draw(camera, size, layers_with(layer))
        bare, _ = stage.draw(camera, size, layers_with())
        assert pixel_bytes(alone) != pixel_bytes(bare)


def test_contours_separate_cells_of_different_limits():
    """Every line lies between two free cells of different limits, and every such pair has one; each limit is named."""
    rows, start, goal = drawn("S...#. .##... .#.... ..#..G")  # words of a row each
    grid = Grid.from_text_rows(rows)
    stage = Stage(grid, start, goal, [("ida", {})], budget=4)
    stage.world.advance(40)
    limits = stage.world.walkers[0].agent.view().contours
    x, y, arcs = contours.contour_lines(limits, grid.free_mask, grid.width)
    apart = set()
    for u, v in arcs.tolist():
        middle_x, middle_y = (x[u] + x[v]) / 2, (y[u] + y[v]) / 2
        ends = {(int(middle_x - dx), int(middle_y - dy)) for dx in (-0.5, 0.5) for dy in (-0.5, 0.5)}
        apart.add(frozenset(place for place in ends if (place[0] - middle_x) * (place[1] - middle_y) == 0))
    free = [grid.xy(cell) for cell in np.flatnonzero(grid.free_mask).tolist()]
    pairs = {frozenset((a, b)) for a in free for b in free if abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1}
    differ = {pair for pair in pairs if len({limits[grid.cell(*place)] for place in pair}) == 2}
    assert apart == differ and len(differ) > 5
    assert len(contours.contour_labels(limits)) == len(set(limits.tolist()) - {0.0}) > 1
    alone, _ = stage.draw(Camera(16.0), (96, 64), layers_with("contours"))
    bare, _ = stage.draw(Camera(16.0), (96, 64), layers_with())
    assert pixel_bytes(alone) != pixel_bytes(bare)


def test_region_colours_suffice_for_adjacent_regions():
    """On a map whose regions touch in every way; else the colours would begin again, and neighbours share one."""
    for palette in (DARK, LIGHT):
        assert len(set(region_colours(palette))) == len(region_colours(palette))
    for kind in ("caves", "rooms", "random"):
        grid = generate_map(kind, {"width": 128, "height": 128, "seed": 4}).grid
        prepared = fetch_abstraction(grid)
        for level in range(1, top_level_number(prepared.tables) + 1):
            assert len(region_map(prepared, level).cells) <= len(region_colours(DARK))


def test_regions_of_the_chosen_level_are_drawn():
    grid = Grid.from_text_rows(["." * 30] * 20)
    stage = Stage(grid, 0, 599, [("d-lrta", {"level": 1})])
    pictures = []
    for level in (0, 1, 4):
        state = layers_with("regions")
        state.region_level = level
        pictures.append(pixel_bytes(stage.draw(Camera(9.0), (270, 180), state)[0]))
    assert pictures[0] == pictures[1] != pictures[2]


def test_depth_heat_shows_depths_of_the_database():
    rows, start, goal = drawn(M1["map"])
    grid = Grid.from_text_rows(rows)
    stage = Stage(grid, start, goal, [("d-lrta", {"level": 2, "goal_control": "global"})])
    scale = stage.refresh(HeatSetting("depth"))
    depths = stage.world.walkers[0].agent.view().depths
    bands = np.searchsorted(np.array(scale.band_limits), depths, side="left")
    assert (stage.cells[0].heat_bands[grid.free_mask] == bands[grid.free_mask]).all() and len(
        set(depths[grid.free_mask].tolist())
    ) > 3


def draw_marked_block(zoom: float, name: str, heat: HeatSetting) -> pygame.Surface:
    """A block of cells that the agent marks as one of its sets."""
    stage = make_trap_stage(budget=10)
    scale = stage.refresh(heat)
    snapshot = stage.world.create_snapshot()
    apart = np.array([y * 30 + x for y in range(17, 20) for x in range(12, 24)], np.int32)
    view = dataclasses.replace(snapshot.walkers[0].agent, groups={name: apart})
    walker = dataclasses.replace(snapshot.walkers[0], agent=view)
    surface = pygame.Surface((int(30 * zoom), int(20 * zoom)), 0, 32)
    MapRenderer().draw_map(
        surface,
        (0, 0, *surface.get_size()),
        Camera(zoom),
        PanelContent(stage.cells[0], snapshot, walker, stage.trails[0]),
        layers_with("groups", heat=heat),
        DARK,
        scale=scale,
    )
    return surface


@pytest.mark.parametrize("heat", [HeatSetting(), HeatSetting("visits")])
@pytest.mark.parametrize("name", ["local space", "redundant", "dead"])
def test_large_marked_cells_have_a_frame_and_keep_heat_colour(name, heat):
    surface = draw_marked_block(10.0, name, heat)
    assert colour_at(surface, 151, 185) == group_colours(DARK)[name], "a pixel from the border of the cell"
    assert (colour_at(surface, 155, 185) == DARK.free) == (name != "dead" or heat.kind != "off")


@pytest.mark.parametrize("zoom", [0.4, 1.0, 9.0])
def test_marked_cells_are_tinted_evenly(zoom):
    surface = draw_marked_block(zoom, "dead", HeatSetting())
    inside, outside = colour_at(surface, int(18.5 * zoom), int(18.5 * zoom)), colour_at(surface, 0, int(18.5 * zoom))
    assert outside == DARK.free
    assert 20 < inside[0] - outside[0] < 120, "neither lost nor solid"


def pixel_bytes(surface: pygame.Surface) -> bytes:
    return pygame.image.tobytes(surface, "RGB")


@pytest.mark.parametrize("zoom", [0.3, 1.0, 2.3, 8.0, 50.0])
def test_nothing_is_drawn_outside_the_panel(zoom):
    stage = make_scrubbing_stage()
    camera = Camera(zoom, 3.3, 2.2)
    everything = layers_with(*(k.key for k in LAYERS))
    edits = {cell: (stage.world.tick, cell % 2 == 0) for cell in range(0, 600, 7)}
    surface, _ = stage.draw(
        camera, (90, 70), everything, at=(20, 10), edits=edits, hover=70, tool_preview=ToolPreview((70, 71))
    )
    outside = np.ones((97 + 20, 75 + 10), np.bool_)
    outside[20:110, 10:80] = False
    assert (pygame.surfarray.array2d(surface)[outside] == 0xFF00FF).all()


def test_panel_partly_outside_the_window_is_clipped():
    stage = make_scrubbing_stage()
    stage.refresh()
    snapshot = stage.world.create_snapshot()
    surface = pygame.Surface((60, 50), 0, 32)
    whole = pygame.Surface((200, 200), 0, 32)
    camera = Camera(8.0, 4.0, 3.0)
    for target, rect in ((surface, (-40, -30, 200, 200)), (whole, (0, 0, 200, 200))):
        MapRenderer().draw_map(
            target,
            rect,
            camera,
            PanelContent(stage.cells[0], snapshot, snapshot.walkers[0], stage.trails[0]),
            layers_with("path"),
            DARK,
        )
    assert pixel_bytes(surface) == pixel_bytes(whole.subsurface((40, 30, 60, 50)))
    MapRenderer().draw_map(
        surface, (500, 0, 50, 50), camera, PanelContent(stage.cells[0], snapshot, None, None), layers_with(), DARK
    )


def test_map_can_be_drawn_to_a_subsurface():
    stage = make_scrubbing_stage()
    whole, _ = stage.draw(Camera(8.0), (120, 90), LayerState())
    snapshot, parent = stage.world.create_snapshot(), pygame.Surface((300, 200), 0, 32)
    part = parent.subsurface((101, 53, 120, 90))
    MapRenderer().draw_map(
        part,
        (0, 0, 120, 90),
        Camera(8.0),
        PanelContent(stage.cells[0], snapshot, snapshot.walkers[0], stage.trails[0]),
        LayerState(),
        DARK,
    )
    assert pixel_bytes(part.copy()) == pixel_bytes(whole.subsurface((0, 0, 120, 90)).copy())
    assert colour_at(parent, 100, 60) == colour_at(parent, 221, 60) == (0, 0, 0)


def test_surface_is_unlocked_after_drawing():
    stage = make_scrubbing_stage()
    surface, _ = stage.draw(Camera(50.0), (300, 200), LayerState())
    assert not surface.get_locked()


def test_arrow_points_to_agent_outside_the_view():
    stage = make_scrubbing_stage()
    x, y = stage.grid.xy(stage.world.create_snapshot().walkers[0].position)
    surface, _ = stage.draw(Camera(40.0, x + 5.0, float(y)), (120, 90), layers_with("agent"))
    colours = [colour_at(surface, px, py) for px in range(25) for py in range(90)]
    assert DARK.agent in colours, "at the left edge"
    hidden, _ = stage.draw(Camera(40.0, x + 5.0, float(y)), (120, 90), layers_with())
    assert DARK.agent not in [colour_at(hidden, px, py) for px in range(25) for py in range(90)]


@pytest.mark.parametrize("zoom", [1.0, 3.0, 5.0])
def test_marks_at_the_view_border_are_complete(zoom):
    """The goal's ring is larger than its cell: it is moved in."""
    stage = Stage(Grid.from_text_rows(["." * 60] * 60), 30 * 60 + 30, 59 * 60 + 59, [])
    side = ceil(60 * zoom)
    layers = layers_with("ends")

    def inked(camera: Camera) -> int:
        cells, snapshot = CellFlags(), stage.world.create_snapshot()
        update_flags_and_heat_of_panels([PanelContent(cells, snapshot, None, None)], HeatSetting())
        surface = pygame.Surface((side, side), 0, 32)
        MapRenderer().draw_map(
            surface, (0, 0, side, side), camera, PanelContent(cells, snapshot, None, None), layers, DARK
        )
        right = pygame.surfarray.array2d(surface)[side // 2 + 12 :, side // 2 + 12 :]
        return int((right == pack_colour(DARK.path)).sum())

    whole = inked(Camera(zoom, 10.0 / zoom, 10.0 / zoom))
    assert whole > 40 and abs(inked(Camera(zoom)) - whole) <= 1


@pytest.mark.parametrize("palette", [DARK, LIGHT], ids=lambda p: p.name)
def test_only_recent_back_moves_are_drawn_over_heat_in_small_cells(palette):
    """That an agent walks back can be seen in any heat at any zoom."""
    stage = make_trap_stage(budget=4)
    seen: set[bool] = set()
    for _ in range(40):
        stage.run(3)
        trail = stage.trails[0]
        is_back = [bool(mark & log.BACK_MOVE) for mark in trail.marks.tolist()]
        surface, _ = stage.draw(Camera(6.0), (180, 120), layers_with("back_moves", heat=HeatSetting("visits")), palette)
        shows = pack_colour(palette.back_move) in np.unique(pygame.surfarray.array2d(surface)).tolist()
        assert shows == any(is_back[-24:])
        seen.add(shows)
    assert True in seen


@pytest.mark.parametrize("kind", ["scrub", "visits", "expansions"])
@pytest.mark.parametrize("palette", [DARK, LIGHT], ids=lambda p: p.name)
def test_trail_is_drawn_only_on_cells_without_heat_in_small_cells(palette, kind):
    """Where it walked straight on, the heat of scrubbing said nothing, and no line was there either."""
    stage, found = make_trap_stage(budget=10), set()
    heat, zoom = HeatSetting(kind), 6
    for _ in range(12):
        stage.run(9)
        images = [
            stage.draw(Camera(zoom), (180, 120), layers_with(*on, heat=heat), palette)[0] for on in ((), ("trail",))
        ]
        x, y = np.nonzero(np.not_equal(*(pygame.surfarray.array2d(image) for image in images)))
        is_inside = (x % zoom > 0) & (x % zoom < zoom - 1) & (y % zoom > 0) & (y % zoom < zoom - 1)
        inked = set((y // zoom * stage.grid.width + x // zoom)[is_inside].tolist())
        assert inked <= set(stage.trails[0].cells.tolist()) - set(np.flatnonzero(stage.cells[0].heat_bands).tolist())
        found |= inked
    assert (len(found) > 9) == (kind == "scrub"), "what it visits and expands has heat everywhere on its way"


def test_edit_marks_shrink_with_age_and_disappear():
    stage = make_scrubbing_stage()
    now, size = stage.world.tick, (480, 320)
    inked = []
    bare = pixel_bytes(stage.draw(Camera(16.0), size, layers_with("edits"))[0])
    for age in (0, 100, 201):
        surface, _ = stage.draw(Camera(16.0), size, layers_with("edits"), edits={100: (now - age, True)})
        inked.append(sum(a != b for a, b in zip(pixel_bytes(surface), bare, strict=True)))
    assert inked[0] > inked[1] > inked[2] == 0


def test_edit_marks_of_tiny_cells_keep_the_map_visible():
    stage = make_scrubbing_stage()
    now, size = stage.world.tick, (240, 160)
    free = np.flatnonzero(stage.grid.free_mask).tolist()
    edits = dict.fromkeys(free, (now, False))
    bare = pixel_bytes(stage.draw(Camera(4.0), size, layers_with("terrain"))[0])
    marked = pixel_bytes(stage.draw(Camera(4.0), size, layers_with("terrain", "edits"), edits=edits)[0])
    inked = [b for a, b in zip(bare, marked, strict=True) if a != b]
    assert 0 < len(inked) < 0.15 * len(bare)
    assert set(inked) <= {*DARK.text}, "the ink alone: a casing would look like walls"


def test_hover_and_tool_preview_are_drawn():
    stage = make_scrubbing_stage()
    bare, _ = stage.draw(Camera(10.0), (300, 200), layers_with())
    shown, _ = stage.draw(Camera(10.0), (300, 200), layers_with(), hover=31, tool_preview=ToolPreview((62, 63)))
    assert colour_at(shown, 10, 10) != colour_at(bare, 10, 10)
    for cell in (62, 63):
        x, y = stage.grid.xy(cell)
        assert colour_at(shown, 10 * x + 5, 10 * y + 5) != colour_at(bare, 10 * x + 5, 10 * y + 5)
    assert colour_at(shown, 200, 150) == colour_at(bare, 200, 150)


def test_values_are_written_only_into_known_cells():
    stage = make_scrubbing_stage()
    stage.refresh()
    layers = layers_with()
    zoom = 60.0
    surface, _ = stage.draw(Camera(zoom), (1800, 1200), layers)
    pixels = pygame.surfarray.array2d(surface)
    view = stage.world.create_snapshot().walkers[0].agent
    for cell in range(0, 600, 5):
        x, y = stage.grid.xy(cell)
        # Within walls' edges.
        part = pixels[int(x * zoom) + 3 : int(x * zoom) + 57, int(y * zoom) + 3 : int(y * zoom) + 57]
        is_known = is_closed_in(view.search, cell) or is_open_in(view.search, cell)
        assert (len(np.unique(part)) > 1) == is_known, (x, y)


# --- slow mode ----------------------------------------------------------------------------------------


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.integers(1, 25), st.sampled_from([("tb-wa", {"weight": 2.0}), ("astar", {})]))
def test_slow_motion_shows_the_search_after_any_expansion_count(seed, ticks, agent):
    """The same search, stopped in the middle of the tick, is the oracle."""
    stage = random_stage(seed, [agent], budget=9)
    stage.run(ticks)
    stage.refresh()
    grid, cells = stage.grid, stage.cells[0]
    walker = stage.world.create_snapshot().walkers[0]
    control = walker.agent.search.control[0]
    in_tick = int(walker.log_rows[-1].expanded) if walker.log_rows.size else 0
    before = cells.flags.copy()
    assert CellFlags.expansions_of_last_tick(walker).size == in_tick
    for shown in range(in_tick + 1):
        again = new_search(grid.cells, control.wg, control.wh)
        begin_search(grid.map_arrays, again, int(control.root), int(control.goal), int(control.goal))
        expand_best_cells(grid.map_arrays, again, int(control.expansions) - in_tick + shown)
        late = cells.hide_late_expansions(grid, walker, shown)
        stopped = copy.copy(walker.agent)
        object.__setattr__(stopped, "search", again)
        assert cells.flags.tolist() == naive_words(grid, stopped)
        cells.show_late_expansions(grid, walker, late)
        assert np.array_equal(cells.flags, before)


def test_slow_motion_marks_the_last_shown_expansion():
    stage = Stage(Grid.from_text_rows(["." * 30] * 20), 10 * 30 + 2, 10 * 30 + 28, [("tb-wa", {})], budget=7)
    stage.run(3)
    order = CellFlags.expansions_of_last_tick(stage.world.create_snapshot().walkers[0])
    layers = layers_with("closed", "open")
    for shown in (1, 4, 7):
        surface, _ = stage.draw(Camera(12.0), (360, 240), layers, reveal=shown)
        for place, cell in enumerate(order.tolist()):
            x, y = stage.grid.xy(cell)
            colour = colour_at(surface, 12 * x + 3, 12 * y + 3)
            assert (colour == DARK.closed) == (place < shown), place
        x, y = stage.grid.xy(int(order[shown - 1]))
        assert colour_at(surface, 12 * x + 6, 12 * y + 6) == DARK.path


# --- preparing ----------------------------------------------------------------------------------------

COUNT_KERNELS = """
from ui.draw.kernels import cell_flags, paint, strokes
from ui.maps.warm_pictures import compile_all_picture_kernels
compile_all_picture_kernels()
modules = {{"cell_flags": cell_flags, "paint": paint, "strokes": strokes}}
for name in "{names}".split():
    kernel = getattr(modules[name.split(".")[0]], name.split(".")[1], None)
    if kernel is not None and not kernel.signatures:
        print("not prepared:", name)
"""


@pytest.mark.skipif(not JIT_ON, reason="nothing is compiled")
def test_drawing_kernels_are_compiled_before_the_first_frame():
    root = Path(__file__).parent.parent
    sources = "".join(path.read_text() for path in sorted((root / "ui" / "draw").glob("*.py")))
    names = sorted(set(re.findall(r"\b(?:cell_flags|paint|strokes)\.[a-z_]+(?=\()", sources)))
    assert len(names) > 25
    script = COUNT_KERNELS.format(names=" ".join(names))
    done = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True)
    assert "not prepared" not in done.stdout, done.stdout


# --- legend -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("palette", [DARK, LIGHT], ids=lambda p: p.name)
@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_every_layer_has_a_distinct_swatch(palette, scale):
    pictures = set()
    for layer in LAYERS:
        surface = pygame.Surface((int(28 * scale), int(18 * scale)), 0, 32)
        draw_layer_swatch(surface, (0, 0, *surface.get_size()), layer, palette, scale)
        pictures.add(pixel_bytes(surface))
    assert len(pictures) == len(LAYERS)


def test_colour_bar_shows_all_bands():
    surface = pygame.Surface((80, 10), 0, 32)
    for kind in ("visits", "difference"):
        scale = heat_scale_for_peak(HeatSetting(kind), 50)
        draw_colour_bar(surface, (0, 0, 80, 10), scale, DARK)
        assert [colour_at(surface, 10 * i + 4, 5) for i in range(8)] == list(scale.band_colours(DARK))


def test_fitted_camera_shows_the_whole_map():
    stage = random_stage(1, AGENTS[:1], 33, 21)
    surface, _ = stage.draw(camera_fitting_map(33, 21, 333, 222), (333, 222), layers_with("terrain"))
    camera = camera_fitting_map(33, 21, 333, 222)
    expected = Expected(stage, 0, layers_with("terrain"), DARK, 1.0)
    for cell in (0, 32, 33 * 20, 33 * 21 - 1):
        x, y = stage.grid.xy(cell)
        px, py = camera.map_to_px(x + 0.5, y + 0.5)
        assert colour_at(surface, int(px), int(py)) == expected.colour(x, y)
