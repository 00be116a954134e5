"""Hill climbing, and h toward several targets: one table for each."""

import itertools
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sim.grid import Grid
from sim.kernels import climb, learner, targets
from sim.movement import DEFAULT_MOVEMENT, Movement

from . import naive_databases
from .conftest import board_of, drawn, make_world, movements, problems
from .naive import Board
from .test_golden import M1


def grid_of(rows: list[str], movement: Movement = DEFAULT_MOVEMENT) -> Grid:
    return Grid.from_text_rows(rows, movement=movement)


@settings(max_examples=60)
@given(problem=problems(side=12), movement=movements, cap=st.sampled_from([0, 3, 1000]))
def test_hill_climbing_matches_naive_version(problem: tuple[list[str], int, int], movement: Movement, cap: int) -> None:
    grid = grid_of(problem[0], movement)
    board, (_, a, b) = board_of(grid), problem
    expected = naive_databases.climb(board, board.at(a), board.at(b), cap)
    steps = int(climb.climb_length(grid.map_arrays, a, b, cap))
    assert steps == (climb.CLIMB_FAILED if expected is None else len(expected) - 1)
    if expected is not None:
        way = np.zeros(grid.cells, np.int32)
        count = int(climb.write_climb_cells(grid.map_arrays, a, b, way))
        assert [board.at(int(cell)) for cell in way[:count]] == expected


def test_hill_climbing_fails_on_m1_but_solves_its_legs() -> None:
    rows, start, goal = drawn(M1["map"])
    ground, legs = Grid.from_text_rows(rows).map_arrays, [(1, 1), (11, 0), (12, 4), (14, 8)]
    cells = [y * 20 + x for x, y in legs]
    assert climb.climb_length(ground, start, goal, climb.NO_STEP_LIMIT) == climb.CLIMB_FAILED
    assert [int(climb.climb_length(ground, a, b, climb.NO_STEP_LIMIT)) for a, b in itertools.pairwise(cells)] == [
        10,
        4,
        4,
    ]


def make_state(start: int, goal: int, limit: float = 1e9) -> Any:
    state = np.zeros(1, learner.STATE).view(np.recarray)
    learner.place_agent(state, start, goal)
    state[0].limit = limit
    return state


@settings(max_examples=40)
@given(problem=problems(side=12))
def test_lrta_with_initial_h_follows_hill_climbing(problem: tuple[list[str], int, int]) -> None:
    """As long as climbing leads on; toward the goal and toward another cell alike."""
    rows, start, goal = problem
    grid = Grid.from_text_rows(rows)
    assume(start != goal)
    for target, real_goal in ((goal, goal), (goal, start)):
        tables, state = targets.new_target_heuristics(grid.map_arrays, real_goal), make_state(start, real_goal)
        targets.set_present_target(grid.map_arrays, tables, target)
        steps = int(climb.climb_length(grid.map_arrays, start, target, climb.NO_STEP_LIMIT))
        assume(steps >= 0)
        way = np.zeros(grid.cells, np.int32)
        climb.write_climb_cells(grid.map_arrays, start, target, way)
        for cell in way[1 : steps + 1]:
            assert targets.step_toward_target(grid.map_arrays, tables, state[0]) and state[0].loc == cell


@settings(max_examples=25)
@given(problem=problems(side=10, low=2))
def test_step_toward_the_goal_equals_lrta(problem: tuple[list[str], int, int]) -> None:
    world = make_world(*problem, ("lrta", {}))
    grid = world.grid
    tables, state = targets.new_target_heuristics(grid.map_arrays, world.goal), make_state(world.start, world.goal)
    for _ in range(200):
        stood = world.walkers[0].position
        if not world.advance(1) or world.walkers[0].position == stood:
            break
        assert (
            targets.step_toward_target(grid.map_arrays, tables, state[0]) and state[0].loc == world.walkers[0].position
        )


class NaiveTables:
    """h by target and cell in a dictionary."""

    def __init__(self, board: Board) -> None:
        self.board, self.h = board, dict[tuple[Any, Any], float]()

    def of(self, target: Any, s: Any) -> float:
        return self.h.get((target, s), self.board.h(s, target))

    def step(self, s: Any, target: Any) -> Any:
        arcs = list(self.board.successors(s))
        key = lambda arc: (arc[1] + self.of(target, arc[0]), arc[0] != target, -arc[1], self.board.id(arc[0]))  # noqa: E731
        t, cost = min(arcs, key=key)
        if cost + self.of(target, t) > self.of(target, s):
            self.h[target, s] = cost + self.of(target, t)
        return t


@settings(max_examples=30)
@given(problem=problems(side=10, low=3), seed=st.integers(0, 99))
def test_every_target_has_its_own_h_table(problem: tuple[list[str], int, int], seed: int) -> None:
    """Targets change at random; values and moves are those of a dictionary by target, however large it grows."""
    rows, start, goal = problem
    grid, chance = Grid.from_text_rows(rows), random.Random(seed)
    board = board_of(grid)
    assume(int(grid.moves[start]))
    tables, state, naive = (
        targets.new_target_heuristics(grid.map_arrays, goal),
        make_state(start, goal),
        NaiveTables(board),
    )
    aims = [int(cell) for cell in np.flatnonzero(grid.free_mask)]
    for _ in range(400):
        target = chance.choice([*aims[:: max(1, len(aims) // 6)], goal])
        stood = int(state[0].loc)
        if target == stood:
            continue
        if targets.must_hash_table_grow(tables):
            tables = targets.with_larger_hash_table(tables)
        targets.set_present_target(grid.map_arrays, tables, target)
        targets.step_toward_target(grid.map_arrays, tables, state[0])
        assert board.at(int(state[0].loc)) == naive.step(board.at(stood), board.at(target))
        assert targets.h_toward_target(tables, stood) == naive.of(board.at(target), board.at(stood))
    for target in aims:
        targets.set_present_target(grid.map_arrays, tables, target)
        assert [float(targets.h_toward_target(tables, s)) for s in aims] == [
            naive.of(board.at(target), board.at(s)) for s in aims
        ]
    others = {target for target, _ in naive.h if target != board.at(goal)}
    assert tables.counts[0].tables == len(others)
    kept = sum(target != board.at(goal) for target, _ in naive.h)
    assert tables.counts[0].entries == kept + len(others)


def test_unreachable_target_is_detected_without_changing_goal_h() -> None:
    grid = Grid.from_text_rows([".....", "..@@@", "..@.."])
    tables, state = targets.new_target_heuristics(grid.map_arrays, 4), make_state(0, 4, limit=20.0)
    targets.set_present_target(grid.map_arrays, tables, 14)
    moved = True
    for _ in range(10_000):
        moved = bool(targets.step_toward_target(grid.map_arrays, tables, state[0]))
        if not moved:
            break
    assert not moved and tables.goal.target[0].changes == 0 and tables.present_target[0].changes > 0


@pytest.mark.parametrize("target, cell", [(0, 0), (2**25 - 1, 2**25 - 1), (17, 2**25 - 1), (2**25 - 1, 17)])
def test_hash_index_handles_the_largest_cells(target: int, cell: int) -> None:
    keys = np.zeros(1 << 8, np.int64)
    key = (target << targets.CELL_BITS | cell) + 1
    place = int(targets.index_in_hash_table(keys, key))
    keys[place] = key
    assert place == int(targets.index_in_hash_table(keys, key)) and 0 <= place < 256
