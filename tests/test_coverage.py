"""How many records of solved problems a map wants: the share of pairs that hill climbing connects."""

import math
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.registry import AGENT_SPECS_BY_KEY
from sim import climb_coverage, problem_records
from sim.agent_api import Problem
from sim.grid import Grid
from sim.kernels.climb import count_climbable_pairs
from sim.map_generators import generate_map
from sim.movement import Movement
from sim.prepared_data import fetch_data
from sim.world_commands import SetParam
from ui.panels.tab_inspect import prepared_data_sentences

from . import naive_databases as naive
from .conftest import board_of, movements, problems, solo


def share_of(grid: Grid, cap: int = 250) -> float:
    return float(fetch_data(climb_coverage.climb_coverage_recipe(cap), grid).tables.share[0])


@settings(max_examples=30)
@given(problem=problems(side=10), movement=movements, cap=st.sampled_from([1, 4, 250]))
def test_climbed_pair_count_matches_naive_version(
    problem: tuple[list[str], int, int], movement: Movement, cap: int
) -> None:
    grid = Grid.from_text_rows(problem[0], movement=movement)
    board = board_of(grid)
    pairs = np.array(problem_records.random_problem_pairs(grid, 40, 1), np.int32).reshape(-1, 2)
    expected = sum(naive.climb(board, board.at(int(a)), board.at(int(b)), cap) is not None for a, b in pairs)
    assert count_climbable_pairs(grid.map_arrays, pairs, cap) == expected


def test_empty_map_needs_few_records_and_maze_many() -> None:
    empty, wall = Grid.from_text_rows(["." * 20] * 20), Grid.from_text_rows([".@."])
    assert (
        share_of(empty) == 1.0 and climb_coverage.recommended_record_count(1.0) == climb_coverage.WANTED_FITTING_RECORDS
    )
    assert (
        share_of(wall) == 0.0
        and climb_coverage.describe_recommended_records(0.0) == "no number of records is enough for this map"
    )
    cave = generate_map("caves", {"width": 64, "height": 64, "seed": 3}).grid
    assert 0.0 < share_of(cave) < 0.5
    assert share_of(empty, cap=3) < 0.5, "a climb that needs more steps than the cap fails"


@pytest.mark.parametrize("share, wanted", [(1.0, 30), (0.1, 3000), (0.054, 11_000), (0.3, 340)])
def test_wanted_records_scale_with_inverse_square_of_share(share: float, wanted: int) -> None:
    assert climb_coverage.recommended_record_count(share) == wanted
    assert climb_coverage.expected_fitting_records(wanted, share) >= climb_coverage.WANTED_FITTING_RECORDS * 0.999
    assert climb_coverage.describe_recommended_records(share) == f"this map needs about {wanted:,} records"


def test_agent_data_lines_report_expected_fits() -> None:
    """In the inspector, and while records are made."""
    made = generate_map("caves", {"width": 48, "height": 48, "seed": 4})
    start, goal = made.grid.cell(*made.start), made.grid.cell(*made.goal)
    share = share_of(made.grid)
    params = {p.name: p.default for p in AGENT_SPECS_BY_KEY["knn-lrta"].params} | {"records": 77}
    texts = [
        step.work_name for step in AGENT_SPECS_BY_KEY["knn-lrta"].prepare(Problem(made.grid, start, goal), params, None)
    ]
    wanted = climb_coverage.recommended_record_count(share)
    summary = f"p = {share:.1%}, about {77 * share**2:,.1f} of 77 records fit, about {wanted:,} needed"
    assert texts and all(text == f"solving problems; {summary}" for text in texts)
    assert climb_coverage.summarize_expected_fits(9, 0.0) == "p = 0.0%, about 0.0 of 9 records fit, no number is enough"
    _, walker = solo(made.grid.text_rows(), start, goal, "knn-lrta", 1, records=77)
    numbers = walker.agent.view().numbers
    assert numbers["pairs climbed, %"] == 100.0 * share and numbers["expected fits"] == 77 * share**2
    line = prepared_data_sentences(walker.agent.view())[-1]
    assert line == climb_coverage.describe_expected_fits(77, share)
    assert line.startswith(
        f"{share:.1%} of pairs can be climbed: about {77 * share**2:,.1f} of 77 records fit a random"
    )
    plain: Any = SimpleNamespace(prepared=(), numbers={})
    assert prepared_data_sentences(plain) == []


@pytest.mark.parametrize("fits, is_replaced", [(3, True), (0, False)])
def test_records_depend_on_the_cap_only_if_their_number_follows_the_coverage(fits: int, is_replaced: bool) -> None:
    world, walker = solo(["." * 24] * 24, 0, 575, "knn-lrta", 1, fits=fits, records=20)
    agent = cast(Any, walker.agent)
    before = agent.records_data
    world.submit(SetParam(walker.id, "cap", 3))
    world.apply_due_changes()
    assert agent.climbable_pair_share == share_of(world.grid, cap=3) < 0.5
    assert (agent.records_data is not before) == is_replaced
    assert len(agent.problem_records.ends) == (math.ceil(fits / agent.climbable_pair_share**2) if fits else 20)


def test_record_count_can_follow_map_coverage() -> None:
    """On two maps of one size; changed while running, too; never more than the largest number of records."""
    made: dict[str, int] = {}
    for rows in (["." * 24] * 24, generate_map("caves", {"width": 24, "height": 24, "seed": 4}).grid.text_rows()):
        grid = Grid.from_text_rows(rows)
        free = np.flatnonzero(grid.free_mask)
        world, walker = solo(rows, int(free[0]), int(free[-1]), "knn-lrta", 1, fits=3)
        share, agent = share_of(grid), cast(Any, walker.agent)
        made[rows[0]] = len(agent.problem_records.ends)
        assert made[rows[0]] == math.ceil(3 / share**2)
        world.submit(SetParam(walker.id, "fits", 0))
        world.apply_due_changes()
        assert len(agent.problem_records.ends) == 1000
        world.submit(SetParam(walker.id, "fits", 5))
        world.apply_due_changes()
        assert len(agent.problem_records.ends) == math.ceil(5 / share**2)
        assert walker.agent.view().numbers["expected fits"] == pytest.approx(5, abs=1)
    assert min(made.values()) == 3 < max(made.values())
    assert (
        climb_coverage.needed_record_count(1000, 0.001, 80_000)
        == climb_coverage.needed_record_count(1, 0.0, 80_000)
        == 80_000
    )
