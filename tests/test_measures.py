"""The table of measures: every number that the referee counts is in it, once, and so on every page made from it."""

from dataclasses import fields
from inspect import getmembers

import numpy as np
import pytest

from agents.registry import BY_KEY
from sim.kernels.learned import excess
from sim.measures import IN_PANEL, MEASURE_BY_KEY, MEASURES
from sim.metrics import Metrics
from sim.params import Value
from sim.results import result, trial_result
from sim.walker import Walker
from sim.world import World
from ui.model.columns import COLUMNS
from ui.model.wording import hud_fields, param_chip

from .conftest import drawn, make_world
from .filming import setup
from .test_golden import M1
from .window import make_app

OF_A_TRIAL = {"trial_cost", "trial_ticks"}  # said as ratios, by suboptimality and game time


def test_every_number_of_an_agent_is_a_measure() -> None:
    numbers = {field.name for field in fields(Metrics)}
    numbers |= {name for name, _ in getmembers(Metrics, lambda member: isinstance(member, property))}
    assert numbers - OF_A_TRIAL - {"is_being_measured"} == set(MEASURE_BY_KEY) and len(MEASURE_BY_KEY) == len(MEASURES)


def memory_of(kind: str, ticks: int = 10_000, watched: bool = False, **params: Value) -> tuple[World, Walker]:
    rows, start, goal = drawn(M1["map"])
    world = make_world(rows, start, goal, (kind, params), budget=30, watched=watched)
    world.advance(ticks)
    return world, world.walkers[0]


@pytest.mark.parametrize("kind", ["astar", "wastar", "tb-wa", "ribs"])
def test_memory_of_a_search_is_its_open_and_closed_cells(kind: str) -> None:
    world, walker = memory_of(kind)
    nodes = walker.agent.view().search.nodes
    known = int(np.count_nonzero(nodes["search"] == walker.agent.view().search.control[0].search))
    assert world.metrics(walker).memory == known > 30


def test_memory_is_the_most_of_several_searches() -> None:
    """LSS-LRTA* begins one in each episode; what it has learned is kept in all of them."""
    world, most, seen = memory_of("lss-lrta", ticks=0)[0], 0, 0
    walker = world.walkers[0]
    while world.advance(1):
        view = walker.agent.view()
        most = max(most, int(np.count_nonzero(view.search.nodes["search"] == view.search.control[0].search)))
        h = view.learned.h
        seen = sum(excess(view.learned, s) > 0.0 for s in np.flatnonzero(h).tolist())
        assert world.metrics(walker).memory == most + seen
    assert seen > 5


@pytest.mark.parametrize("kind", ["lrta", "d-lrta", "pr-lrta", "knn-lrta", "dt-lrta"])
def test_who_looks_does_not_change_what_is_counted(kind: str) -> None:
    counted = [memory_of(kind, watched=watched) for watched in (False, True)]
    metrics = [world.metrics(walker) for world, walker in counted]
    assert metrics[0] == metrics[1] and metrics[0].memory >= 9


def test_game_time_counts_waiting() -> None:
    """A* stands still until it has the path, which is 18 moves long on this map; greedy search at once walks."""
    world, walker = memory_of("astar")
    metrics = world.metrics(walker)
    assert metrics.optimal_moves == metrics.moves == 18
    assert metrics.game_time == (metrics.moves + metrics.waits) / 18 > 1.0
    assert metrics.first_move == metrics.waits and metrics.twentieth_move is None
    world, walker = memory_of("lrta")
    metrics = world.metrics(walker)
    assert metrics.game_time == metrics.moves / 18 and metrics.twentieth_move == 19


def test_game_time_of_a_trial_is_its_own() -> None:
    rows, start, goal = drawn(M1["map"])
    world = make_world(rows, start, goal, ("lrta", {}), trials=3)
    world.advance(10_000)
    walker = world.walkers[0]
    line = result(world, walker, "reached", "m1")
    times = [trial_result(line, trial)["game_time"] for trial in walker.trials]
    assert times == [trial.ticks / 18 for trial in walker.trials] and times[-1] == line["game_time"]


def test_every_measure_is_a_column_of_the_comparison() -> None:
    keys = [column.key for column in COLUMNS]
    assert len(set(keys)) == len(keys) and set(MEASURE_BY_KEY) <= set(keys)
    assert [panel.place for _, panel in IN_PANEL] == list(range(1, len(IN_PANEL) + 1))


def test_what_should_not_be_is_orange_in_panels_and_in_the_table() -> None:
    app = make_app(setup(2, budget=1, script=()))
    app.session.advance(40)
    view = app.session.run.panels[0].view
    assert view.metrics.back_moves
    assert {field.name for field in hud_fields(view) if field.is_warning} == {"back-moves"}
    assert {column.key for column in COLUMNS if column.is_warning(view)} == {"back_moves"}


def test_numbers_of_parameters_in_headers_are_read_as_they_are_set() -> None:
    def chips(kind: str) -> list[str]:
        return [param_chip(param, param.default) for param in BY_KEY[kind].params]

    assert "most 1,000,000" in chips("ida") and "w 1" in chips("tb-wa")
