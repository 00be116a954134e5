"""Measuring at leisure: what is said is what measuring at once says, and what cannot be known is not said."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.changes import RandomChangeSchedule
from sim.kernels import distance
from sim.world import World
from sim.world_commands import EditCells, MoveGoal

from .conftest import make_world, random_map_rows

AGENTS = (("tba", {}), ("rtb-wa", {"weight": 3.0}), ("lss-lrta", {}))


def make_tracked_world(
    seed: int = 3, side: int = 24, allowance: int | None = None, changes: RandomChangeSchedule | None = None
) -> World:
    rows = random_map_rows(seed, side, side, 0.2)
    rows[0], rows[-1] = "." + rows[0][1:], rows[-1][:-1] + "."
    world = make_world(rows, 0, side * side - 1, *AGENTS, budget=9, random_changes=changes)
    world.optimality_tracker.expansion_limit = allowance
    return world


def nonoptimal_moves_of(world: World) -> list[int | None]:
    return [world.metrics_of_walker(walker).nonoptimal_moves for walker in world.walkers]


@given(st.integers(0, 50), st.integers(1, 400), st.lists(st.integers(1, 30), min_size=1, max_size=12))
def test_known_nonoptimal_moves_equal_immediate_measurement(seed: int, allowance: int, steps: list[int]) -> None:
    now, later = make_tracked_world(seed), make_tracked_world(seed, allowance=allowance)
    for step in steps:
        now.advance(step)
        later.advance(step)
        for known, true in zip(nonoptimal_moves_of(later), nonoptimal_moves_of(now), strict=True):
            assert known is None or known == true
    later.optimality_tracker.judge_whole_queue()
    assert nonoptimal_moves_of(later) == nonoptimal_moves_of(now)
    assert later.compute_digest() == now.compute_digest()


def test_deferred_measurement_over_many_edits_loses_nothing() -> None:
    """Moves wait for the end of an edit's ticks; with time to do it before the next, none is lost."""
    now, later = make_tracked_world(), make_tracked_world(allowance=5)
    chance = np.random.default_rng(4)
    waited = edits = 0
    while edits < 10_000:
        cells = chance.integers(0, now.grid.cells, 25)
        cells = cells[(cells != now.goal) & (cells != now.start)]
        edit = EditCells(tuple(cells[:12].tolist()), tuple(cells[12:].tolist()))
        edits += cells.size
        goal = MoveGoal(int(chance.integers(0, now.grid.cells)))
        moves_goal = chance.random() < 0.1 or now.is_over
        for world in (now, later):
            if moves_goal:
                world.submit(goal)
                world.apply_due_changes()
            world.submit(edit)
            world.advance(3)
        waited += later.optimality_tracker.has_queued_moves
        for known, true in zip(nonoptimal_moves_of(later), nonoptimal_moves_of(now), strict=True):
            assert known is None or known == true
        later.optimality_tracker.judge_queue_with_limit(1000)  # time enough before the next edit
    assert nonoptimal_moves_of(later) == nonoptimal_moves_of(now)
    assert waited > 10, "or nothing was measured at leisure"


def test_moves_unmeasured_before_a_map_change_stay_unknown() -> None:
    world = make_tracked_world(side=40, allowance=1)
    world.advance(30)
    assert nonoptimal_moves_of(world) == [None, None, None]
    assert all(world.metrics_of_walker(walker).is_being_measured for walker in world.walkers), "shown as ..."
    world.submit(EditCells((300,)))
    world.advance(30)
    world.optimality_tracker.judge_whole_queue()
    assert nonoptimal_moves_of(world) == [None, None, None]
    assert not any(world.metrics_of_walker(walker).is_being_measured for walker in world.walkers), "it will never come"


def test_finished_trials_are_fully_measured() -> None:
    rows = random_map_rows(3, 12, 12, 0.15)
    rows[0], rows[-1] = "." + rows[0][1:], rows[-1][:-1] + "."
    worlds = [make_world(rows, 0, 143, ("lss-lrta", {}), budget=9, trials=5) for _ in range(2)]
    worlds[1].optimality_tracker.expansion_limit = 1
    for world in worlds:
        world.advance(500)
    now, later = ([trial.nonoptimal_moves for trial in world.walkers[0].trials] for world in worlds)
    assert now == later and None not in now


@pytest.mark.parametrize("allowed", [1, 7, 100])
def test_incremental_distance_equals_true_distance(allowed: int) -> None:
    world, other = make_tracked_world(side=40), make_tracked_world(side=40)
    for cell in np.flatnonzero(world.grid.free_mask)[::37].tolist():
        found = world.optimality_tracker.true_distances.cost_to_goal_within_limit(cell, allowed)
        while found is None:
            found = world.optimality_tracker.true_distances.cost_to_goal_within_limit(cell, allowed)
        assert found == other.optimality_tracker.true_distances.cost(cell)
        assert found != distance.UNKNOWN_DISTANCE
