"""kNN LRTA*: tick by tick against naive code, spread selections, and what a changed map does to records."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agents.registry import AGENT_SPECS_BY_KEY
from sim.agent_api import Status
from sim.grid import Grid
from sim.map_generators import generate_map
from sim.movement import Movement
from sim.params import Value
from sim.walker import Walker
from sim.world import World
from sim.world_commands import AgentConfig, EditCells, SetParam

from .conftest import board_of, drawn, movements, problems, random_map_rows, solo
from .naive_knn import Knn
from .test_golden import M1

Problem = tuple[list[str], int, int]


def make_naive_knn_lrta(world: World, records: Any, similar: int, cap: int, skips_first: bool = False) -> Knn:
    board, cells = board_of(world.grid), records.cells.tolist()
    chains = [[board.at(c) for c in cells[a:b]] for a, b in itertools.pairwise(records.offsets.tolist())]
    return Knn(board, board.at(world.start), board.at(world.goal), chains, similar, cap, skips_first)


@settings(max_examples=60)
@given(
    problem=problems(side=14, low=4, water=False),
    movement=movements,
    count=st.sampled_from([1, 5, 30]),
    similar=st.integers(1, 6),
    cap=st.sampled_from([3, 8, 250]),
    skips=st.booleans(),
)
def test_every_move_matches_naive_version(
    problem: Problem, movement: Movement, count: int, similar: int, cap: int, skips: bool
) -> None:
    params: dict[str, Value] = {"records": count, "similar": similar, "cap": cap, "skip_first": skips}
    world, walker = solo(*problem, "knn-lrta", 1, movement, **params)
    assume(world.start != world.goal)
    board = board_of(world.grid)
    assume(board.at(world.goal) in board.distances(board.at(world.start)))
    naive = make_naive_knn_lrta(world, walker.agent.problem_records, similar, cap, skips)
    for _ in range(5000):
        if not world.advance(1):
            break
        naive.tick()
        assert board.at(walker.position) == naive.loc
    assert walker.agent.status is Status.AT_GOAL
    metrics = world.metrics_of_walker(walker)
    assert metrics.expansions == metrics.moves, "one expansion a move"
    assert metrics.max_climbed <= (2 * similar + 1 + skips) * cap, "to the goal, to each candidate and from it"


def test_knn_lrta_follows_matching_record_on_m1() -> None:
    """Of enough records one has the corners of the way; the walk is far from the scrubbing of LRTA*."""
    rows, start, goal = drawn(M1["map"])
    costs = {}
    for kind, params in (("lrta", {}), ("knn-lrta", {"records": 400})):
        world, walker = solo(rows, start, goal, kind, 1, **params)
        world.advance(5000)
        assert walker.agent.status is Status.AT_GOAL
        costs[kind] = world.metrics_of_walker(walker).suboptimality
    assert costs["knn-lrta"] < 1.5 < 3.0 < costs["lrta"]


def test_more_records_lower_suboptimality() -> None:
    rows = generate_map("rooms", {"width": 40, "height": 40, "seed": 5, "room": 7}).grid.text_rows()
    free = np.flatnonzero(Grid.from_text_rows(rows).free_mask)
    pairs = [(int(free[i]), int(free[-1 - 3 * i])) for i in range(0, 240, 12)]
    means = []
    for count in (1, 50, 2000):
        ratios = []
        for start, goal in pairs:
            world, walker = solo(rows, start, goal, "knn-lrta", 1, records=count)
            world.advance(100_000)
            ratios.append(world.metrics_of_walker(walker).suboptimality)
        means.append(sum(ratios) / len(ratios))
    assert means[0] > means[1] > means[2] and means[2] < 1.5, means


@settings(max_examples=30)
@given(problem=problems(side=14, low=4, water=False), spread=st.sampled_from([1, 7, 40]))
def test_spread_selection_respects_climb_limit_and_arrives(problem: Problem, spread: int) -> None:
    world, walker = solo(*problem, "knn-lrta", 1, records=20, spread=spread)
    board = board_of(world.grid)
    assume(board.at(world.goal) in board.distances(board.at(world.start)))
    world.advance(20_000)
    assert walker.agent.status is Status.AT_GOAL
    assert world.metrics_of_walker(walker).max_climbed <= spread


@settings(max_examples=40)
@given(problem=problems(side=12, low=4, water=False), seed=st.integers(0, 2**31 - 1))
def test_knn_lrta_arrives_or_proves_no_path_on_changed_map(problem: Problem, seed: int) -> None:
    rows, start, goal = problem
    world, walker = solo(rows, start, goal, "knn-lrta", 1, records=40)
    chance = np.random.default_rng(seed)
    for tick in range(3):
        world.advance(int(chance.integers(1, 6)))
        cells = chance.choice(world.grid.cells, max(1, world.grid.cells // 12), replace=False)
        free = [int(c) for c in cells if world.grid.is_free(int(c)) and c not in (walker.position, goal)]
        walls = [int(c) for c in cells if not world.grid.is_free(int(c))]
        world.submit(EditCells(blocked_cells=tuple(free), freed_cells=tuple(walls)), world.tick + tick % 2)
    world.advance(300_000)
    board = board_of(world.grid)
    reachable = board.at(goal) in board.distances(board.at(walker.position))
    assert walker.agent.status is (Status.AT_GOAL if reachable else Status.NO_PATH)


def test_record_rebuild_takes_ticks_according_to_its_cost() -> None:
    rows = random_map_rows(2, 24, 24, 0.2)
    free = np.flatnonzero(Grid.from_text_rows(rows).free_mask)
    world = World(Grid.from_text_rows(rows), int(free[0]), int(free[-1]), AGENT_SPECS_BY_KEY, budget=50)
    walker = world.add(AgentConfig("knn-lrta", params={"records": 50, "after_change": "rebuild"}))
    world.advance(1)
    blocked = next(int(c) for c in free[5:] if c not in (walker.position, world.goal))
    world.submit(EditCells(blocked_cells=(blocked,)))
    before = walker.agent.records_data
    world.advance(1)
    assert walker.agent.view().is_stale
    for _ in range(before.build_expansions // 50 + 60):
        if not world.advance(1):
            break
    assert walker.agent.status is Status.AT_GOAL or not walker.agent.view().is_stale


@pytest.mark.parametrize("rows", [["."], [".."], ["..@.."]])
def test_knn_lrta_solves_tiny_maps(rows: list[str]) -> None:
    world, walker = solo(rows, 0, len(rows[0]) - 1, "knn-lrta", 1)
    world.advance(500)
    assert walker.agent.status is (Status.NO_PATH if "@" in rows[0] else Status.AT_GOAL)


def test_target_text_is_empty_while_any_record_is_followed() -> None:
    """The first record has the number 0, which is a record like every other."""
    world, walker = solo(["." * 9] * 9, 0, 80, "knn-lrta", 1, records=1, direct=False)
    assert walker.agent.view().numbers["record"] == -1
    world.advance(1)
    view = walker.agent.view()
    assert view.numbers["record"] == 0 and view.notes >= {"take"}
    assert not view.notes & {"choosing", "direct", "no record"}


def make_edited_world_with_rebuilt_records(problem: Problem, seed: int, cap: int) -> tuple[World, Walker]:
    """Return a run in which some cells are blocked and the records of the new map are ready a tick later."""
    rows, start, goal = problem
    world, walker = solo(
        rows, start, goal, "knn-lrta", 10**6, records=30, cap=cap, direct=False, after_change="rebuild"
    )
    cells = np.random.default_rng(seed).choice(world.grid.cells, max(1, world.grid.cells // 4), replace=False)
    world.submit(EditCells(tuple(int(c) for c in cells if world.grid.is_free(int(c)) and c not in (start, goal))))
    return world, walker


@settings(max_examples=60)
@given(problem=problems(side=6, low=3, water=False), seed=st.integers(0, 2**31 - 1), cap=st.sampled_from([1, 2, 3]))
def test_rebuilt_records_with_long_legs_are_not_dropped(problem: Problem, seed: int, cap: int) -> None:
    """The limit on a leg holds for records of another map: these may lead nowhere, rebuilt ones do not."""
    world, walker = make_edited_world_with_rebuilt_records(problem, seed, cap)
    for _ in range(300):
        was_stale = walker.agent.view().is_stale
        if not world.advance(1):
            break
        assert was_stale or "lost" not in walker.agent.view().notes


def test_requested_records_are_valid_once_the_map_is_restored() -> None:
    world, walker = solo(["....", ".@..", "...."], 0, 11, "knn-lrta", 1, records=20)
    cut = (3, 8)
    world.queue_commands(
        [(0, EditCells(blocked_cells=cut)), (1, SetParam(walker.id, "records", 7)), (2, EditCells((), cut))]
    )
    world.advance(1)
    assert walker.agent.view().is_stale and walker.agent.problem_records.offsets.size == 21
    world.advance(2)
    assert not walker.agent.view().is_stale and walker.agent.problem_records.offsets.size == 8
