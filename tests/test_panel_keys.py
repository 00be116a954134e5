"""Panels of several branches: each shows its own world, and what is done in one goes to its own agent."""

from dataclasses import replace

import numpy as np
import pytest

from agents.registry import AGENT_SPECS
from sim.agent_api import Status
from sim.kernels.search import is_known
from sim.world_commands import AgentConfig, MoveGoal
from tests.test_app import setup
from tests.window import App, make_app, press_combination, settle
from ui.dialogs.agent_editor import AgentEditor
from ui.draw.layers.regions import regions_at_level
from ui.model import branch_actions
from ui.model.cell_values import search_values_of_cell
from ui.model.panel_keys import PanelKey
from ui.panels import charts
from ui.panels.tab_inspect import _cell_number_text, agent_facts_about_cell, prepared_data_sentences


@pytest.fixture
def app_with_two_branches() -> App:
    """Two agents in two branches, the second agent of the second branch focused."""
    app = make_app(setup())
    app.session.advance_by_ticks(6)
    branch_actions.create_branch_at_current_tick(app.session)
    app.session.focus_panel(PanelKey(1, 1))
    settle(app)
    return app


def weights_by_panel(app: App) -> dict[PanelKey, object]:
    return {panel.key: panel.walker_view.params["weight"] for panel in app.session.run.panels}


def test_weight_key_changes_only_the_focused_agent(app_with_two_branches: App) -> None:
    before = weights_by_panel(app_with_two_branches)
    press_combination(app_with_two_branches, "W")
    after = weights_by_panel(app_with_two_branches)
    assert {key for key in after if after[key] != before[key]} == {PanelKey(1, 1)}
    assert app_with_two_branches.session.focused_key == PanelKey(1, 1)


def test_agent_editor_belongs_to_the_focused_panel(app_with_two_branches: App) -> None:
    app_with_two_branches.window.run_command("edit_agent")
    for _ in range(3):
        app_with_two_branches.run_frame(0.1)
    dialog = app_with_two_branches.window.dialogs.current_dialog
    assert isinstance(dialog, AgentEditor) and dialog.panel_key == PanelKey(1, 1)
    assert dialog._panel_index == app_with_two_branches.session.panel_index(PanelKey(1, 1)) > 0


def test_charts_and_inspector_use_the_world_of_the_panel(app_with_two_branches: App) -> None:
    """With the goal moved in one branch, charts divided by the optimum of the focused one, and h was to its goal."""
    session = app_with_two_branches.session
    session.submit_command(MoveGoal(session.run.world.grid.cell(9, 4)))  # a few steps away, in this branch alone
    session.advance_by_ticks(30)
    session.focus_panel(PanelKey(0, 0))  # the other branch is in front now
    cost = next(chart for chart in charts.TICK_CHARTS if chart.key == "cost")
    for panel in session.run.panels:
        shown = cost.values(app_with_two_branches, panel)[-1]
        assert shown == pytest.approx(
            panel.world.metrics_of_walker(panel.world.walker_with_id(panel.key.agent)).suboptimality
        ), panel.key
        facts = dict(agent_facts_about_cell(panel, panel.snapshot.goal))
        assert float(facts.get("h", 0)) == 0.0, "the goal of its own world"
    assert session.run.panels[2].walker_view.status is Status.AT_GOAL


@pytest.mark.parametrize("kind", ["dstar-lite", "rtaa", "tb-wa"])
def test_inspector_and_cell_texts_agree(kind: str) -> None:
    """They computed h apart: the one from the goal of the map, the other from where the agent's search is aimed."""
    app = make_app(replace(setup(), agents=(AgentConfig(kind),)))
    app.session.advance_by_ticks(25)
    (panel,) = app.session.run.panels
    search = panel.walker_view.agent.search
    assert search is not None
    known = [cell for cell in range(panel.snapshot.grid.cells) if is_known(search, cell)]
    assert len(known) > 5
    for cell in known:
        facts = dict(agent_facts_about_cell(panel, cell))
        assert [facts[name] for name in "ghf"] == [
            _cell_number_text(v) for v in search_values_of_cell(panel.snapshot, panel.walker_view, cell)
        ]


def test_agent_knows_no_cell_before_its_first_search() -> None:
    """Stamps of zero meant "this search" at tick 0, so every cell passed for open."""
    for spec in AGENT_SPECS:
        if spec.key in ("k-lrta", "lss-lrta", "rtaa", "da-rtaa", "p-lrta"):
            (panel,) = make_app(replace(setup(), agents=(AgentConfig(spec.key),))).session.run.panels
            assert panel.walker_view.agent.search is None, spec.key
            assert not {name for name, _ in agent_facts_about_cell(panel, 0)} & {"list", "g", "h", "f"}, spec.key


def test_inspector_shows_facts_of_databases_and_contours() -> None:
    """The region of the level that the slider chose, the depth there, the subgoal's number; the limit of a contour."""
    agents = (AgentConfig("d-lrta", params={"level": 2}), AgentConfig("ida"))
    app = make_app(replace(setup(), agents=agents, budget=8))
    app.session.advance_by_ticks(9)
    database, ida = app.session.run.panels
    agent = database.walker_view.agent
    assert [line.split(":")[0] for line in prepared_data_sentences(agent)] == ["abstraction", "database column"]
    assert all(
        f"{data.build_expansions:,} exp" in line
        for data, line in zip(agent.prepared, prepared_data_sentences(agent), strict=True)
    )
    first = int(agent.waypoints[0])
    facts = dict(agent_facts_about_cell(database, first))
    assert facts["subgoal"] == "number 1" and facts["depth"] == str(int(agent.depths[first]))
    for level, chosen in ((0, 2), (1, 1), (3, 3)):
        regions = regions_at_level(agent, level)
        assert regions.level == chosen
        assert dict(agent_facts_about_cell(database, first, level))[f"region, level {chosen}"] == str(
            int(regions.region_by_cell[first])
        )
    contours = ida.walker_view.agent.contours
    entered, other = int(np.argmax(contours > 0)), int(np.argmax(contours == 0))
    assert dict(agent_facts_about_cell(ida, entered))["contour"] == f"f <= {contours[entered]:.2f}"
    assert "contour" not in dict(agent_facts_about_cell(ida, other))
