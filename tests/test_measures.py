"""The table of measures: every number that the referee counts is in it, once, and so on every page made from it."""

from dataclasses import fields
from inspect import getmembers

import numpy as np
import pytest

from agents.registry import AGENT_SPECS_BY_KEY
from sim.kernels.learned import learned_h_excess
from sim.measures import MEASURE_BY_KEY, MEASURES, PANEL_MEASURES
from sim.metrics import Metrics
from sim.params import Value
from sim.result_lines import agent_result_line, trial_result_line
from sim.walker import Walker
from sim.world import World
from ui.model.comparison_columns import COLUMNS
from ui.model.panel_texts import agent_panel_numbers, param_text

from .conftest import drawn, make_world
from .filming import setup
from .test_golden import M1
from .window import make_app

OF_A_TRIAL = {"trial_cost", "trial_ticks"}  # said as ratios, by suboptimality and game time


def test_every_metric_field_is_a_measure() -> None:
    numbers = {field.name for field in fields(Metrics)}
    numbers |= {name for name, _ in getmembers(Metrics, lambda member: isinstance(member, property))}
    assert numbers - OF_A_TRIAL - {"is_being_measured"} == set(MEASURE_BY_KEY) and len(MEASURE_BY_KEY) == len(MEASURES)


def run_agent(kind: str, ticks: int = 10_000, watched: bool = False, **params: Value) -> tuple[World, Walker]:
    rows, start, goal = drawn(M1["map"])
    world = make_world(rows, start, goal, (kind, params), budget=30, watched=watched)
    world.advance(ticks)
    return world, world.walkers[0]


@pytest.mark.parametrize("kind", ["astar", "wastar", "tb-wa", "ribs"])
def test_search_memory_counts_open_and_closed_cells(kind: str) -> None:
    world, walker = run_agent(kind)
    nodes = walker.agent.view().search.nodes
    known = int(np.count_nonzero(nodes["search"] == walker.agent.view().search.control[0].search))
    assert world.metrics_of_walker(walker).memory == known > 30


def test_memory_is_the_maximum_over_searches_plus_learned_cells() -> None:
    """LSS-LRTA* begins one in each episode; what it has learned is kept in all of them."""
    world, most, seen = run_agent("lss-lrta", ticks=0)[0], 0, 0
    walker = world.walkers[0]
    while world.advance(1):
        view = walker.agent.view()
        most = max(most, int(np.count_nonzero(view.search.nodes["search"] == view.search.control[0].search)))
        h = view.learned.h
        seen = sum(learned_h_excess(view.learned, s) > 0.0 for s in np.flatnonzero(h).tolist())
        assert world.metrics_of_walker(walker).memory == most + seen
    assert seen > 5


@pytest.mark.parametrize("kind", ["lrta", "d-lrta", "pr-lrta", "knn-lrta", "dt-lrta"])
def test_watching_does_not_change_measures(kind: str) -> None:
    counted = [run_agent(kind, watched=watched) for watched in (False, True)]
    metrics = [world.metrics_of_walker(walker) for world, walker in counted]
    assert metrics[0] == metrics[1] and metrics[0].memory >= 9


def test_game_time_counts_waiting() -> None:
    """A* stands still until it has the path, which is 18 moves long on this map; greedy search at once walks."""
    world, walker = run_agent("astar")
    metrics = world.metrics_of_walker(walker)
    assert metrics.optimal_moves == metrics.moves == 18
    assert metrics.game_time == (metrics.moves + metrics.waits) / 18 > 1.0
    assert metrics.first_move == metrics.waits and metrics.twentieth_move is None
    world, walker = run_agent("lrta")
    metrics = world.metrics_of_walker(walker)
    assert metrics.game_time == metrics.moves / 18 and metrics.twentieth_move == 19


def test_game_time_is_measured_per_trial() -> None:
    rows, start, goal = drawn(M1["map"])
    world = make_world(rows, start, goal, ("lrta", {}), trials=3)
    world.advance(10_000)
    walker = world.walkers[0]
    line = agent_result_line(world, walker, "reached", "m1")
    times = [trial_result_line(line, trial)["game_time"] for trial in walker.trials]
    assert times == [trial.ticks / 18 for trial in walker.trials] and times[-1] == line["game_time"]


def test_result_line_gives_times_in_milliseconds() -> None:
    world, walker = run_agent("lrta")
    world.agent_times.planning_s[walker.id], world.agent_times.map_change_s[walker.id] = 1.5, 0.25
    line = agent_result_line(world, walker, "reached", "m1")
    assert (line["planning_ms"], line["changes_ms"]) == (1500.0, 250.0)


def test_every_measure_is_a_comparison_column() -> None:
    keys = [column.key for column in COLUMNS]
    assert len(set(keys)) == len(keys) and set(MEASURE_BY_KEY) <= set(keys)
    assert [panel.footer_position for _, panel in PANEL_MEASURES] == list(range(1, len(PANEL_MEASURES) + 1))


def test_warning_measures_match_in_panels_and_table() -> None:
    app = make_app(setup(2, budget=1, script=()))
    app.session.advance_by_ticks(40)
    view = app.session.run.panels[0].walker_view
    assert view.metrics.back_moves
    assert {field.name for field in agent_panel_numbers(view) if field.is_warning} == {"back-moves"}
    assert {column.key for column in COLUMNS if column.is_warning(view)} == {"back_moves"}


def test_parameter_chips_show_values_as_entered() -> None:
    def parameter_chips(kind: str) -> list[str]:
        return [param_text(param, param.default) for param in AGENT_SPECS_BY_KEY[kind].params]

    assert "most 1,000,000" in parameter_chips("ida") and "w 1" in parameter_chips("tb-wa")
