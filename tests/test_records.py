"""Records of solved problems: the golden one, those of naive code, and retrieval against looking at all of them."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim import problem_records
from sim.grid import Grid
from sim.kernels import records as kernels
from sim.kernels.route import trace_path_from_root
from sim.kernels.search import new_search
from sim.movement import Movement
from sim.prepared_data import fetch_data

from . import naive_databases
from .conftest import board_of, drawn, movements, problems, random_map_rows
from .test_golden import M1


def record_of(grid: Grid, start: int, goal: int) -> tuple[list[int], list[int]]:
    """The path of a problem and its record, both as cells."""
    way, record = np.zeros(grid.cells, np.int32), np.zeros(grid.cells + 1, np.int32)
    search = new_search(grid.cells)
    count, _ = kernels.solve_problem_and_compress_path(grid.map_arrays, search, start, goal, way, record)
    length = int(trace_path_from_root(grid.map_arrays, search, goal, way)) if count else 0
    return way[:length].tolist(), record[:count].tolist()


def test_record_of_a_problem_whose_start_is_its_goal_fits_on_a_map_of_one_cell() -> None:
    assert record_of(Grid.from_text_rows(["."]), 0, 0) == ([0], [0, 0])
    assert problem_records._RecordSolver(Grid.from_text_rows(["."])).record.size == 2


def make_records(grid: Grid, count: int, seed: int = 1) -> kernels.ProblemRecords:
    tables: kernels.ProblemRecords = fetch_data(
        problem_records.problem_records_recipe({"records": count, "seed": seed}), grid
    ).tables
    return tables


def test_record_of_m1_matches_golden_values() -> None:
    rows, start, goal = drawn(M1["map"])
    grid = Grid.from_text_rows(rows)
    path, record = record_of(grid, start, goal)
    assert [grid.xy(cell) for cell in record] == [(1, 1), (11, 0), (12, 4), (14, 8)]
    assert [list(grid.xy(cell)) for cell in path] == M1["astar_path"]


@settings(max_examples=60)
@given(problem=problems(side=12, water=False))
def test_records_are_hill_climbable_chains_of_optimal_paths(problem: tuple[list[str], int, int]) -> None:
    rows, start, goal = problem
    grid = Grid.from_text_rows(rows)
    board = board_of(grid)
    path, record = record_of(grid, start, goal)
    if not record:
        assert board.at(goal) not in board.distances(board.at(start))
        return
    if start == goal:
        return
    places = [board.at(cell) for cell in path]
    assert board.length(places) == board.distances(places[0])[places[-1]]
    assert [board.at(cell) for cell in record] == naive_databases.compressed(board, places)
    assert all(naive_databases.climb(board, board.at(a), board.at(b)) for a, b in itertools.pairwise(record))


@settings(max_examples=60)
@given(
    count=st.sampled_from([1, 7, 40, 300]),
    seed=st.integers(0, 99),
    asked=st.integers(1, 15),
    movement=movements,
)
def test_kd_tree_finds_the_records_of_exhaustive_search(count: int, seed: int, asked: int, movement: Movement) -> None:
    rows = random_map_rows(seed, 30, 22, 0.2)
    grid = Grid.from_text_rows(rows, movement=movement)
    board, tables, chance = board_of(grid), make_records(grid, count, seed), random.Random(seed)
    similar = kernels.new_similar_records(asked)
    ends = tables.cells[tables.offsets[:-1]], tables.cells[tables.offsets[1:] - 1]
    for _ in range(5):
        s, goal = chance.randrange(grid.cells), chance.randrange(grid.cells)
        pairs = [
            (max(board.h(board.at(s), board.at(int(a))), board.h(board.at(int(b)), board.at(goal))), r)
            for r, (a, b) in enumerate(zip(*ends, strict=True))
        ]
        expected = [r for _, r in sorted(pairs)[:asked]]
        found = int(kernels.find_similar_records(grid.map_arrays, tables, s, goal, similar))
        assert similar.records[:found].tolist() == expected


@pytest.mark.parametrize("count", [0, 8, 9, 200, 333])
def test_kd_tree_splits_each_part_along_the_axes_in_turn(count: int) -> None:
    ends = np.random.default_rng(count).integers(0, 50, (count, 4)).astype(np.int32)
    order = problem_records.kd_tree_order(ends)
    assert sorted(order.tolist()) == list(range(count))
    parts = [(0, count, 0)]
    while parts:
        low, high, axis = parts.pop()
        if high - low > kernels.LEAF_SIZE:
            middle, places = (low + high) // 2, ends[order, axis]
            assert (places[low:middle] <= places[middle]).all() and (places[middle:high] >= places[middle]).all()
            parts += [(low, middle, (axis + 1) % 4), (middle + 1, high, (axis + 1) % 4)]


def test_records_depend_on_the_seed_but_not_on_core_count(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = Grid.from_text_rows(random_map_rows(3, 40, 40, 0.25))
    tables = []
    for cores in (1, 3):
        monkeypatch.setattr("os.cpu_count", lambda cores=cores: cores)
        making = problem_records._build_records(grid, 200, 5)
        try:
            while True:
                next(making)
        except StopIteration as end:
            tables.append(end.value)
    assert tables[0].expansions == tables[1].expansions > 0
    for a, b in zip(tables[0].tables, tables[1].tables, strict=True):
        assert np.array_equal(a, b)
    other = make_records(grid, 200, 6)
    assert not np.array_equal(other.ends, tables[0].tables.ends)


def test_record_problems_are_drawn_from_the_largest_component() -> None:
    grid = Grid.from_text_rows(["..@.....", "..@.....", "@@@....."])
    pairs = problem_records.random_problem_pairs(grid, 300, 1)
    drawn_cells = {cell for pair in pairs for cell in pair}
    assert drawn_cells == {cell for cell in range(grid.cells) if grid.xy(cell)[0] > 2}
    assert all(a != b for a, b in pairs)


@pytest.mark.parametrize("rows", [["@@", "@@"], [".@", "@."], ["."]])
def test_map_without_solvable_pairs_has_no_records(rows: list[str]) -> None:
    grid = Grid.from_text_rows(rows)
    tables = make_records(grid, 10)
    assert tables.offsets.tolist() == [0] and tables.cells.size == 0
    assert int(kernels.find_similar_records(grid.map_arrays, tables, 0, 0, kernels.new_similar_records(3))) == 0
