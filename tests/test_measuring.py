"""Measuring at leisure: what is said is what measuring at once says, and what cannot be known is not said."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.changes import RandomChanges
from sim.commands import EditCells, MoveGoal
from sim.kernels import distance
from sim.world import World

from .conftest import make_world, random_rows

AGENTS = (("tba", {}), ("rtb-wa", {"weight": 3.0}), ("lss-lrta", {}))


def a_world(seed: int = 3, side: int = 24, allowance: int | None = None, changes: RandomChanges | None = None) -> World:
    rows = random_rows(seed, side, side, 0.2)
    rows[0], rows[-1] = "." + rows[0][1:], rows[-1][:-1] + "."
    world = make_world(rows, 0, side * side - 1, *AGENTS, budget=9, random_changes=changes)
    world.measuring.allowance = allowance
    return world


def nonoptimal(world: World) -> list[int | None]:
    return [world.metrics(walker).nonoptimal_moves for walker in world.walkers]


@given(st.integers(0, 50), st.integers(1, 400), st.lists(st.integers(1, 30), min_size=1, max_size=12))
def test_a_number_that_is_said_is_the_true_one(seed: int, allowance: int, steps: list[int]) -> None:
    now, later = a_world(seed), a_world(seed, allowance=allowance)
    for step in steps:
        now.advance(step)
        later.advance(step)
        for known, true in zip(nonoptimal(later), nonoptimal(now), strict=True):
            assert known is None or known == true
    later.measuring.finish()
    assert nonoptimal(later) == nonoptimal(now)
    assert later.digest() == now.digest()


def test_ten_thousand_random_edits_measured_at_leisure_come_to_the_same() -> None:
    """Moves wait for the end of an edit's ticks; with time to do it before the next, none is lost."""
    now, later = a_world(), a_world(allowance=5)
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
                world.apply_now()
            world.submit(edit)
            world.advance(3)
        waited += later.measuring.is_waiting
        for known, true in zip(nonoptimal(later), nonoptimal(now), strict=True):
            assert known is None or known == true
        later.measuring.spend(1000)  # time enough before the next edit
    assert nonoptimal(later) == nonoptimal(now)
    assert waited > 10, "or nothing was measured at leisure"


def test_what_the_next_change_makes_unknowable_is_never_said() -> None:
    world = a_world(side=40, allowance=1)
    world.advance(30)
    assert nonoptimal(world) == [None, None, None]
    assert all(world.metrics(walker).is_being_measured for walker in world.walkers), "shown as ..."
    world.submit(EditCells((300,)))
    world.advance(30)
    world.measuring.finish()
    assert nonoptimal(world) == [None, None, None]
    assert not any(world.metrics(walker).is_being_measured for walker in world.walkers), "it will never come"


def test_a_trial_that_is_over_is_measured() -> None:
    rows = random_rows(3, 12, 12, 0.15)
    rows[0], rows[-1] = "." + rows[0][1:], rows[-1][:-1] + "."
    worlds = [make_world(rows, 0, 143, ("lss-lrta", {}), budget=9, trials=5) for _ in range(2)]
    worlds[1].measuring.allowance = 1
    for world in worlds:
        world.advance(500)
    now, later = ([trial.nonoptimal_moves for trial in world.walkers[0].trials] for world in worlds)
    assert now == later and None not in now


@pytest.mark.parametrize("allowed", [1, 7, 100])
def test_a_distance_in_pieces_is_the_distance(allowed: int) -> None:
    world, other = a_world(side=40), a_world(side=40)
    for cell in np.flatnonzero(world.grid.free)[::37].tolist():
        found = world.measuring.distance_within(cell, allowed)
        while found is None:
            found = world.measuring.distance_within(cell, allowed)
        assert found == other.true_distance(cell)
        assert found != distance.UNKNOWN
