"""Grid: cell numbers, text form, move masks, and the arcs that an edit names, against naive code."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.grid import MAX_MAP_SIDE, Grid, MapChange, check_map_size
from sim.kernels.octile import DIAGONAL
from sim.movement import CUT_ONE_CORNER, EIGHT_NEIGHBOURS, FOUR_NEIGHBOURS, SQUEEZE_BETWEEN_CORNERS, Movement
from sim.params import ConfigError

from .conftest import board_of, movements, problems
from .naive import SQRT2, STEPS, Arc, Board, arc_difference

LETTERS = "..@TWSG"
EDITS = st.lists(
    st.tuples(st.lists(st.integers(0, 10**6), max_size=5), st.lists(st.integers(0, 10**6), max_size=5)), max_size=5
)


def naive_move_mask(board: Board, cell: int) -> int:
    return sum(
        1 << d
        for d, (dx, dy) in enumerate(STEPS)
        if board.cost(board.at(cell), (board.at(cell)[0] + dx, board.at(cell)[1] + dy)) is not None
    )


def arcs_of(change: MapChange, board: Board) -> tuple[set[Arc], set[Arc]]:
    """(arcs that went, arcs that came) as the change lists them; each may be listed only once."""
    arcs = [(board.at(int(a)), board.at(int(b))) for a, b in zip(change.tails, change.heads, strict=True)]
    assert len(arcs) == len(set(arcs)), "an arc is listed twice"
    gone = {arc for arc, rose in zip(arcs, change.rose, strict=True) if rose}
    return gone, set(arcs) - gone


def assert_masks_match_naive(grid: Grid, board: Board) -> None:
    assert grid.moves.tolist() == [naive_move_mask(board, cell) for cell in range(grid.cells)]


@given(problems(water=True), movements)
def test_move_masks_match_naive_rule(problem: tuple[list[str], int, int], movement: Movement) -> None:
    grid = Grid.from_text_rows(problem[0], movement=movement)
    assert_masks_match_naive(grid, board_of(grid))
    assert [grid.is_free(c) for c in range(grid.cells)] == grid.free_mask.tolist()
    for cell in range(grid.cells):
        for other in grid.free_neighbours(cell):
            assert cell in grid.free_neighbours(other), "moves are undirected"


@given(problems(side=7), movements, EDITS)
def test_map_change_lists_exactly_the_changed_arcs(
    problem: tuple[list[str], int, int], movement: Movement, edits: list[tuple[list[int], list[int]]]
) -> None:
    grid = Grid.from_text_rows(problem[0], movement=movement)
    for blocked, freed in edits:
        before, board = board_of(grid).arcs(), board_of(grid)
        was_free = grid.free_mask.copy()
        blocked, freed = [c % grid.cells for c in blocked], [c % grid.cells for c in freed]
        change = grid.block_and_free(blocked, freed)
        for cell in blocked:
            board.put(board.at(cell), "@")
        for cell in freed:
            original = chr(grid.original_terrain.reshape(-1)[cell])
            board.put(board.at(cell), "." if original in "@OT" else original)
        assert grid.free_mask.tolist() == [board.at(c) in board.land for c in range(grid.cells)]
        assert arcs_of(change, board) == arc_difference(before, board.arcs())
        assert change.cells.tolist() == np.flatnonzero(was_free != grid.free_mask).tolist()
        assert change.has_new_arcs == (not change.rose.all())
        assert_masks_match_naive(grid, board)


@given(problems(side=6), movements, st.lists(st.tuples(st.integers(0, 35), st.sampled_from(LETTERS)), max_size=12))
def test_put_terrain_changes_terrain_and_restores_it(
    problem: tuple[list[str], int, int], movement: Movement, strokes: list[tuple[int, str]]
) -> None:
    grid = Grid.from_text_rows(problem[0], movement=movement)
    letters = {cell % grid.cells: letter for cell, letter in strokes}
    board, before = board_of(grid), board_of(grid).arcs()
    was = grid.terrain.reshape(-1)[list(letters)].copy()
    rows = grid.text_rows()
    change = grid.set_terrain(list(letters), np.frombuffer("".join(letters.values()).encode(), np.uint8))
    for cell, letter in letters.items():
        board.put(board.at(cell), letter)
    assert arcs_of(change, board) == arc_difference(before, board.arcs())
    assert_masks_match_naive(grid, board)
    back = grid.set_terrain(list(letters), was)
    assert arcs_of(back, board) == arc_difference(board.arcs(), before)
    assert grid.text_rows() == rows


def test_blocking_and_freeing_restore_terrain_letters() -> None:
    grid = Grid.from_text_rows(["GTWS", "O.@B"])
    everything = range(grid.cells)
    grid.block_and_free(everything, [])
    assert grid.text_rows() == ["@T@@", "O@@@"]
    grid.block_and_free([], everything)
    assert grid.text_rows() == ["G.WS", "...B"]
    version = grid.version
    assert grid.block_and_free([], everything).cells.size == 0 and grid.version == version
    assert grid.block_and_free([0], [0]).cells.size == 0, "a cell in both lists ends up free"


@given(st.integers(1, 40), st.integers(1, 40), st.data())
def test_cell_ids_round_trip_to_coordinates(width: int, height: int, data: st.DataObject) -> None:
    grid = Grid(np.full((height, width), ord("."), np.uint8))
    x, y = data.draw(st.integers(0, width - 1)), data.draw(st.integers(0, height - 1))
    assert grid.xy(grid.cell(x, y)) == (x, y)
    assert grid.cell(*grid.xy(width * height - 1)) == width * height - 1
    assert grid.contains_point(x, y) and not grid.contains_point(x + width, y) and not grid.contains_point(x, -1)


@given(problems())
def test_grid_rows_and_pickle_round_trip(problem: tuple[list[str], int, int]) -> None:
    grid = Grid.from_text_rows(problem[0])
    assert grid.text_rows() == problem[0]
    copy = pickle.loads(pickle.dumps(grid))
    assert copy.text_rows() == grid.text_rows() and copy.moves.tolist() == grid.moves.tolist()
    copy.block_and_free([0], [])
    assert copy.map_arrays.moves is copy.moves and copy.moves[0] == 0, "the kernels see the copy's own masks"
    assert grid.text_rows() == problem[0]


def test_diagonal_moves_need_shoulders_of_the_same_terrain() -> None:
    for corner in ("@", "W"):
        grid = Grid.from_text_rows(["." + corner, ".."])
        assert grid.free_neighbours(0) == [2]
        assert grid.free_neighbours(3) == [2]
    water = Grid.from_text_rows(["WW", "WW"])
    assert water.free_neighbours(0) == [1, 2, 3]
    for rule, reached in ((FOUR_NEIGHBOURS, [1, 2]), (CUT_ONE_CORNER, [1, 2, 3]), (SQUEEZE_BETWEEN_CORNERS, [1, 2, 3])):
        assert Grid.from_text_rows(["..", ".."], movement=Movement(rule)).free_neighbours(0) == reached
    for rule, one_blocked, both_blocked in (
        (FOUR_NEIGHBOURS, [2], []),
        (EIGHT_NEIGHBOURS, [2], []),
        (CUT_ONE_CORNER, [2, 3], []),
        (SQUEEZE_BETWEEN_CORNERS, [2, 3], [3]),
    ):
        for corner in "@W":
            rows = ["." + corner, ".."], ["." + corner, corner + "."]
            found = [Grid.from_text_rows(some, movement=Movement(rule)).free_neighbours(0) for some in rows]
            assert found == [one_blocked, both_blocked], (rule, corner)
    assert DIAGONAL == SQRT2 and 2**0.5 - 2.5e-8 < DIAGONAL < 2**0.5


@pytest.mark.parametrize(
    "rows, words",
    [
        ([], "at least 1 x 1"),
        ([""], "at least 1 x 1"),
        (["..", "."], r"rows\[1\]: expected 2 characters, got 1"),
        (["..", ".x"], r"rows\[1\]\[1\]: expected one of .* got 'x'"),
        (["." * (MAX_MAP_SIDE + 1)], "expected at most"),
    ],
)
def test_bad_rows_are_refused_with_reason(rows: list[str], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Grid.from_text_rows(rows)


def test_sizes_and_diagonals_out_of_range_are_refused() -> None:
    check_map_size(MAX_MAP_SIDE, 4096, "m")
    with pytest.raises(ConfigError, match="m: expected at most"):
        check_map_size(MAX_MAP_SIDE, MAX_MAP_SIDE, "m")
    for diagonal in (0.99, 1.0001, 1.9999, 2.01, float("nan")):
        with pytest.raises(ConfigError, match=r"diagonal: expected 1, 2 or a number from 1\.0005 to 1\.9995"):
            Grid.from_text_rows(["."], movement=Movement(diagonal=diagonal))
    assert Grid.from_text_rows(["."], movement=Movement(diagonal=1.5)).diagonal_cost == 1.5


def test_edited_since_returns_changed_cells_or_none() -> None:
    """Drawing looks only there: whatever differs must be in it, letters that change no move included."""
    grid, random = Grid.from_text_rows([".G..@", "....T", "S...."]), np.random.default_rng(5)
    letters, version, known = grid.terrain.copy(), grid.version, 0
    for _ in range(300):
        cells = random.choice(grid.cells, 3, replace=False)
        if random.random() < 0.5:
            grid.set_terrain(cells, random.choice(np.frombuffer(b".G@TSW", np.uint8), 3))
        else:
            grid.block_and_free(cells[:1], cells[1:])
        if random.random() < 0.6:
            differing = np.flatnonzero(letters != grid.terrain)
            found = grid.cells_edited_since(version)
            assert found is None or set(differing) <= set(found.tolist())
            known += found is not None
            letters, version = grid.terrain.copy(), grid.version
    assert known > 100


def test_original_cells_follow_changes_of_the_original_map() -> None:
    grid = Grid.from_text_rows(["..@", "..."])
    assert [cells.tolist() for cells in grid.original_free_and_blocked_cells] == [[0, 1, 3, 4, 5], [2]]
    grid.block_and_free([0], [])
    grid.set_original_terrain([1, 2], np.frombuffer(b"@.", np.uint8))
    assert [cells.tolist() for cells in pickle.loads(pickle.dumps(grid)).original_free_and_blocked_cells] == [
        [0, 2, 3, 4, 5],
        [1],
    ]
    assert [cells.tolist() for cells in grid.original_free_and_blocked_cells] == [[0, 2, 3, 4, 5], [1]]


def test_contains_refuses_points_outside_each_border() -> None:
    grid = Grid.from_text_rows(["...", "..."])
    inside = {(x, y) for x in range(-2, 5) for y in range(-2, 5) if grid.contains_point(x, y)}
    assert inside == {(x, y) for x in range(3) for y in range(2)}
