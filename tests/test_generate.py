"""Generated maps: always the same from the same recipe, always solvable, each kind with what its name promises."""

import hashlib
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from files.movingai import map_text, parse_map, read_map
from sim.kernels import octile
from sim.map_generators import (
    GENERATOR_SPECS,
    GeneratedMap,
    GeneratorSpec,
    SplitMix64,
    generate_map,
    largest_component_mask,
    opposite_corner_cells,
)
from sim.movement import Movement
from sim.params import ConfigError
from tools import remake_maps

from .naive import Board, Tba

SPEC_OF_KIND = {spec.kind: spec for spec in GENERATOR_SPECS}
SIZED = [spec.kind for spec in GENERATOR_SPECS if any(param.name == "width" for param in spec.params)]


def problems_of(kind: object, values: object, where: str = "map.generate") -> list[str]:
    with pytest.raises(ConfigError) as caught:
        generate_map(kind, values, where)
    return caught.value.problems


def free_of(made: GeneratedMap) -> np.ndarray:
    return made.grid.free_mask.reshape(made.grid.height, made.grid.width)


def is_connected(made: GeneratedMap) -> bool:
    """By scipy, over straight moves: a diagonal one needs two straight ones, so it connects nothing more."""
    regions, _ = ndimage.label(free_of(made))
    start, goal = regions[made.start[1], made.start[0]], regions[made.goal[1], made.goal[0]]
    return bool(start and start == goal)


@st.composite
def draw_recipe(draw):
    """Any kind with any legal values, on maps that are small enough to make many."""
    spec = draw(st.sampled_from(GENERATOR_SPECS))
    values = {}
    for param in spec.params:
        high = 64 if param.name in ("width", "height", "size") else int(param.high)
        values[param.name] = draw(st.integers(int(param.low), high))
    return spec.kind, values


# --- what holds for all kinds ---------------------------------------------------------------------------


@settings(max_examples=150)
@given(draw_recipe())
def test_any_recipe_is_solvable_or_refused_with_reason(recipe):
    kind, values = recipe
    try:
        made = generate_map(kind, values, "map")
    except ConfigError as error:  # numbers that do not go together, such as a river wider than the map
        assert len(error.problems) == 1
        assert error.problems[0].startswith("map.") and "expected at most" in error.problems[0]
        return
    assert is_connected(made)
    assert made.start != made.goal
    again = generate_map(made.recipe["kind"], {k: v for k, v in made.recipe.items() if k != "kind"})
    assert map_text(again.grid) == map_text(made.grid)
    assert (again.start, again.goal, again.switches) == (made.start, made.goal, made.switches)


@pytest.mark.parametrize("kind", SIZED)
@pytest.mark.parametrize("size", [(40, 24), (24, 40)])
def test_sizes_are_width_by_height(kind, size):
    grid = generate_map(kind, {"width": size[0], "height": size[1]}).grid
    assert (grid.width, grid.height) == size


@pytest.mark.parametrize("kind", SIZED)
def test_each_seed_gives_a_different_map(kind):
    texts = {map_text(generate_map(kind, {"width": 32, "height": 32, "seed": seed}).grid) for seed in range(8)}
    assert len(texts) == 8


@pytest.mark.parametrize("kind", SIZED)
@pytest.mark.parametrize("seed", range(3))
def test_start_and_goal_are_far_apart(kind, seed):
    made = generate_map(kind, {"seed": seed})
    across = abs(made.start[0] - made.goal[0]) + abs(made.start[1] - made.goal[1])
    assert across > 100, "of 254 on a map of 128 x 128"


@pytest.mark.parametrize(
    ("kind", "digest"),
    [
        ("rooms", "e1673a71"),
        ("random", "e5251ecc"),
        ("maze", "602105f6"),
        ("caves", "c54a274e"),
        ("river", "60dd9939"),
        ("corner", "0b4f1aa5"),
        ("two-corridors", "af40f23f"),
    ],
)
def test_default_maps_never_change(kind, digest):
    """A saved recipe must give the map it gave before. A new generator takes a new kind or a new parameter."""
    assert hashlib.sha256(map_text(generate_map(kind, {}).grid).encode()).hexdigest()[:8] == digest


def test_every_map_kind_has_a_reference_digest():
    (mark,) = test_default_maps_never_change.pytestmark
    assert [kind for kind, _ in mark.args[1]] == [spec.kind for spec in GENERATOR_SPECS]


@pytest.mark.parametrize("spec", GENERATOR_SPECS, ids=lambda spec: spec.kind)
def test_generator_parameters_have_ranges_and_help(spec: GeneratorSpec):
    assert spec.name and spec.description
    for param in spec.params:
        assert param.kind is int and param.low is not None and param.high is not None and param.step and param.help
        assert param.parse_value(param.default) == param.default
    assert generate_map(spec.kind, {}).recipe == {"kind": spec.kind} | {
        param.name: param.default for param in spec.params
    }


def test_recipe_reports_all_problems():
    assert problems_of("roms", {}) == ["map.generate.kind: no generator 'roms'; did you mean 'rooms'?"]
    assert problems_of(["rooms"], {})[0].startswith("map.generate.kind: no generator ['rooms']")
    assert problems_of("rooms", [1]) == ["map.generate: expected parameters and their values, got [1]"]
    assert problems_of("rooms", {"widht": 64, "height": 10**9, "seed": "x"}) == [
        "map.generate.widht: no such parameter; did you mean 'width'?",
        "map.generate.height: expected a whole number from 16 to 2,048, got 1000000000",
        "map.generate.seed: expected a whole number from 0 to 999,999, got 'x'",
    ]
    assert problems_of("river", {"width": 40, "river": 11}) == [
        "map.generate.river: expected at most 10 on a map 40 cells wide, got 11"
    ]
    assert problems_of("river", {"height": 24, "bridges": 7}) == [
        "map.generate.bridges: expected at most 6, 2 wide, on a map 24 high, got 7"
    ]
    assert problems_of("maze", {"width": 20, "corridor": 9}) == [
        "map.generate.corridor: expected at most 8 on a map of 20 x 128, got 9"
    ]
    assert generate_map("maze", {"width": 20, "corridor": 8}).grid.width == 20


def test_diagonal_cost_is_passed_to_the_grid():
    assert generate_map("corner", {}).grid.diagonal_cost == octile.DIAGONAL
    assert generate_map("corner", {}, movement=Movement(diagonal=1.5)).grid.diagonal_cost == 1.5


def test_generated_maps_survive_writing_and_parsing():
    made = generate_map("caves", {"width": 32, "height": 32})
    assert parse_map(map_text(made.grid).encode("ascii"), "caves.map").text_rows() == made.grid.text_rows()


# --- random numbers and helpers -------------------------------------------------------------------------


def test_random_words_match_splitmix64_reference():
    """The reference values that everyone quotes for seed 1234567."""
    reference = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert SplitMix64(1234567).random_words(4).tolist() == reference
    random = SplitMix64(1234567)
    assert [*random.random_words(1).tolist(), *random.random_words(3).tolist()] == reference


@given(st.integers(0, 2**64 - 1), st.lists(st.integers(1, 2**31), max_size=20))
def test_random_numbers_stay_below_their_limits(seed, limits):
    drawn = SplitMix64(seed).random_integers(limits)
    assert all(0 <= number < limit for number, limit in zip(drawn.tolist(), limits, strict=True))


def test_random_numbers_are_uniform():
    counts = np.bincount(SplitMix64(3).random_integers(np.full(60_000, 6)), minlength=6)
    assert (abs(counts - 10_000) < 400).all()


@given(st.integers(1, 9), st.integers(1, 9), st.data())
def test_largest_component_matches_scipy(width, height, data):
    free = np.array(data.draw(st.lists(st.booleans(), min_size=width * height, max_size=width * height)))
    free = free.reshape(height, width)
    regions, count = ndimage.label(free)
    region = largest_component_mask(free)
    sizes = np.bincount(regions.ravel())[1:]
    assert np.count_nonzero(region) == (sizes.max() if count else 0)
    assert not (region & ~free).any()
    assert ndimage.label(region)[1] == min(count, 1)


@pytest.mark.parametrize("percent", [30, 40, 45])
def test_largest_component_of_large_maps_matches_scipy(percent):
    for seed in range(20):
        free = ~SplitMix64(seed).random_mask(percent, 60, 50)
        regions, _ = ndimage.label(free)
        sizes = np.bincount(regions.ravel())
        sizes[0] = 0
        region = largest_component_mask(free)
        assert np.count_nonzero(region) == sizes.max()
        assert ndimage.label(region)[1] == 1


def test_largest_component_follows_winding_corridors():
    """A snake over the whole map, and beside it a smaller block."""
    free = np.zeros((101, 103), np.bool_)
    free[::2, :100] = True
    free[1::4, 99] = True
    free[3::4, 0] = True
    snake = free.copy()
    free[:, 101:] = True
    assert (largest_component_mask(free) == snake).all()


def test_opposite_ends_are_the_farthest_cells():
    region = np.zeros((4, 6), np.bool_)
    for x, y in [(0, 3), (2, 0), (5, 1), (3, 2)]:
        region[y, x] = True
    assert opposite_corner_cells(region) == ((2, 0), (5, 1))


# --- each kind ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("width", "height", "room"), [(64, 64, 7), (65, 40, 7), (66, 40, 7), (33, 17, 2), (20, 20, 64)]
)
def test_each_wall_between_two_rooms_has_one_door(width, height, room):
    free = free_of(generate_map("rooms", {"width": width, "height": height, "room": room, "seed": 4}))
    walls_x, walls_y = list(range(room, width - 1, room + 1)), list(range(room, height - 1, room + 1))
    for x in walls_x:
        for above, below in pairwise([-1, *walls_y, height]):
            assert free[above + 1 : below, x].sum() == 1, (x, above)
    for y in walls_y:
        for left, right in pairwise([-1, *walls_x, width]):
            assert free[y, left + 1 : right].sum() == 1, (left, y)
    assert not any(free[y, x] for x in walls_x for y in walls_y)
    assert ndimage.label(free)[1] == 1


@pytest.mark.parametrize("density", [0, 10, 40])
def test_random_map_has_requested_density(density):
    made = generate_map("random", {"density": density, "width": 200, "height": 200})
    assert abs(100 * (1 - free_of(made).mean()) - density) < 1


@pytest.mark.parametrize(("width", "height", "corridor"), [(33, 33, 1), (40, 31, 1), (64, 50, 3), (50, 64, 5)])
def test_maze_is_a_spanning_tree(width, height, corridor):
    free = free_of(generate_map("maze", {"width": width, "height": height, "corridor": corridor}))
    pitch = corridor + 1
    columns, rows = (width - 1) // pitch, (height - 1) // pitch
    across = free[1 : rows * pitch : pitch, pitch : columns * pitch : pitch]
    down = free[pitch : rows * pitch : pitch, 1 : columns * pitch : pitch]
    assert free[1 : rows * pitch : pitch, 1 : columns * pitch : pitch].all()
    assert across.sum() + down.sum() == columns * rows - 1, "a tree has one passage less than places"
    assert ndimage.label(free)[1] == 1
    assert free.sum() == columns * rows * corridor**2 + (columns * rows - 1) * corridor, "passages as wide as corridors"


def test_caves_are_connected_and_spacious():
    for seed in range(4):
        free = free_of(generate_map("caves", {"seed": seed}))
        assert ndimage.label(free)[1] == 1
        assert 0.3 < free.mean() < 0.8


def test_larger_grain_makes_wider_caves():
    def boundary_length(grain: int) -> int:
        free = free_of(generate_map("caves", {"grain": grain, "seed": 3}))
        return int((free[:, 1:] != free[:, :-1]).sum())

    assert boundary_length(1) > 2 * boundary_length(4)


def test_caves_map_without_free_cells_gets_a_tunnel():
    made = generate_map("caves", {"width": 16, "height": 16, "fill": 55, "grain": 16})
    assert free_of(made).sum() == 14 and is_connected(made)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("width_of_river", [1, 4])
def test_river_is_crossed_only_by_bridges(seed, width_of_river):
    made = generate_map("river", {"seed": seed, "river": width_of_river, "bridges": 3, "width": 64, "height": 48})
    grid = made.grid
    assert list(made.switches) == ["north bridge", "middle bridge", "south bridge"]
    cells = {name: [grid.cell(*cell) for cell in bridge] for name, bridge in made.switches.items()}
    for name, bridge in cells.items():
        assert len(bridge) == 2 * width_of_river
        grid.block_and_free(blocked=list(chain(*cells.values())), freed=[])
        assert not is_connected(made), "without bridges there is no way"
        assert set("".join(grid.text_rows())) == {".", "@"}, "a river of W would let agents swim along it"
        grid.block_and_free(blocked=[], freed=bridge)
        assert is_connected(made), f"{name} alone is enough"


@pytest.mark.parametrize(
    ("count", "names"),
    [
        (1, ["bridge"]),
        (2, ["north bridge", "south bridge"]),
        (4, ["north bridge", "bridge 2", "bridge 3", "south bridge"]),
    ],
)
def test_bridges_are_named_from_north_to_south(count, names):
    switches = generate_map("river", {"bridges": count}).switches
    assert list(switches) == names
    tops = [min(y for _, y in bridge) for bridge in switches.values()]
    assert tops == sorted(tops) and len(set(tops)) == count


def test_corner_map_matches_the_experiment():
    made = generate_map("corner", {"size": 6})
    assert made.grid.text_rows() == ["......", "....@.", "....@.", "....@.", ".@@@@.", "......"]
    assert (made.start, made.goal) == ((0, 0), (5, 5))
    assert free_of(generate_map("corner", {"size": 40})).sum() == 1525, "the x of experiment E6"


def run_tba(made: GeneratedMap, limit: int, shortcut: bool) -> tuple[Tba, list[tuple[int, int]], int]:
    """The agent after its run, the cells it stood on, and the tick in which A* found the goal."""
    agent = Tba(Board(made.grid.text_rows()), made.start, made.goal, limit, shortcut=shortcut)
    walk, found_at = [made.start], 0
    while agent.status == "active":
        agent.tick()
        walk.append(agent.loc)
        found_at = found_at or (len(walk) - 2 if agent.found else 0)
    return agent, walk, found_at


@pytest.mark.parametrize(("size", "limit"), [(16, 40), (24, 50)])
def test_two_corridors_map_shows_benefit_of_the_shortcut(size, limit):
    made = generate_map("two-corridors", {"size": size})
    basic, long_walk, found_at = run_tba(made, limit, shortcut=False)
    enhanced, short_walk, _ = run_tba(made, limit, shortcut=True)
    halfway = made.start[1] - size
    assert abs(long_walk[found_at][1] - halfway) <= 4 and long_walk[found_at][0] <= 2, "up the left corridor"
    assert made.start in long_walk[found_at:], "basic TBA* walks back all the way"
    assert made.start not in short_walk[found_at:]
    assert len(enhanced.shortcuts) == 1
    assert abs(enhanced.shortcuts[0][0][1] - halfway) <= 4, "through the opening"
    assert basic.board.length(long_walk) - basic.board.length(short_walk) >= 1.5 * size


def test_each_of_two_corridors_leads_to_the_goal():
    """With either corridor walled up, the other still leads there."""
    for walled in ((1, 1), (27, 40)):  # the upper end of the left one; the right one above the opening
        made = generate_map("two-corridors", {"size": 24})
        made.grid.block_and_free(blocked=[made.grid.cell(*walled)], freed=[])
        assert is_connected(made)


# --- the maps in assets ---------------------------------------------------------------------------------


def test_shipped_maps_match_their_recipes():
    made = dict(remake_maps.iter_shipped_files())
    shipped = {path.name: path.read_text("ascii") for path in remake_maps.SHIPPED_MAPS_FOLDER.iterdir()}
    assert sorted(made) == sorted(shipped)
    for name, text in made.items():
        assert text == shipped[name], f"{name}: run python -m tools.remake_maps"


def test_shipped_maps_open_and_are_solvable():
    for name in remake_maps.SHIPPED_MAP_RECIPES:
        made = remake_maps.generate_shipped_map(name)
        grid = read_map(remake_maps.SHIPPED_MAPS_FOLDER / f"{name}.map")
        assert is_connected(made) and grid.is_free(grid.cell(*made.start)) and grid.is_free(grid.cell(*made.goal))
        assert 28 < max(grid.width, grid.height) <= 512


def test_remake_maps_writes_to_given_folder(tmp_path: Path, capsys):
    remake_maps.main([str(tmp_path)])
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        name for name, _ in remake_maps.iter_shipped_files()
    )
    assert capsys.readouterr().out == ""
