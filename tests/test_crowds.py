"""Crowds: all agents of a group in one panel. What it shows is what its agents come to, whatever way led there."""

import random
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pygame
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from files.scenario import Scenario
from sim.agent_api import Status
from sim.agent_placing import RandomPlacing, cheapest_cost_and_moves, place_group_members
from sim.batching.agent_batch import MIN_BATCH_SIZE
from sim.grid import Grid
from sim.jit.decorators import JIT_ON
from sim.walker import Walker
from sim.world_commands import AgentConfig, ApplyToGroup, MoveGoal, RemoveAgent, RenameAgent
from tests.runs import changed, scenario_on
from tests.window import App, at_cell, choose, click, drag, make_app, press, press_combination, settle, type_text
from ui.dialogs import comparison_table
from ui.dialogs.crowd_list import CrowdList, agent_matches_query, histogram_range
from ui.draw.layers.agent import STUCK, agent_states_of_crowd
from ui.film.replay import ReplaySpec
from ui.model import agent_edits, branch_actions, cell_edits, panel_texts, script_entries
from ui.model.crowds import TAIL_TICKS, Crowd, crowd_totals_as_walker_view
from ui.model.panel_keys import PanelKey
from ui.model.panel_texts import LONGEST_TICK_NAME, crowd_panel_numbers
from ui.model.run import Panel, Run
from ui.model.session import Session
from ui.panels import charts

from .conftest import random_map_rows

SIDE = 12


def make_crowd_scenario(seed: int = 1, count: int = 6) -> Scenario:
    """Two crowds and, between them, an agent by itself."""
    grid = Grid.from_text_rows(random_map_rows(seed, SIDE, SIDE, 0.15))
    free = grid.free_mask.nonzero()[0].tolist()
    lazy = AgentConfig("rtb-wa", "lazy", {"weight": 2.0, "restart": "lazy"})
    eager = AgentConfig("rtb-wa", "eager", {"weight": 2.0, "restart": "eager"})
    agents = [
        *place_group_members(lazy, count, RandomPlacing(seed), grid),
        AgentConfig("tba"),
        *place_group_members(eager, count, RandomPlacing(seed), grid),
    ]
    return scenario_on(grid, free[0], free[-1], agents, budget=3, seed=seed)


def crowds_of(run: Run) -> list[tuple[Panel, Crowd]]:
    return [(panel, panel.crowd) for panel in run.panels if panel.crowd is not None]


def assert_crowds_match_their_agents(session: Session) -> None:
    """Every crowd on screen says what its agents say one by one."""
    for panel, crowd in crowds_of(session.run):
        members = [w for w in panel.world.walkers if w.config.group == crowd.name]
        every = [panel.world.metrics_of_walker(walker) for walker in members]
        assert crowd.agent_ids == tuple(walker.id for walker in members)
        assert crowd.visit_counts.tolist() == np.sum([walker.visit_counts for walker in members], axis=0).tolist()
        assert crowd.tail_cells[:, -1].tolist() == [walker.position for walker in members]
        assert crowd.tail_cells.shape[1] <= TAIL_TICKS
        there = [m for m, walker in zip(every, members, strict=True) if walker.agent.status is Status.AT_GOAL]
        assert crowd.counts.arrived_count == len(there)
        ratios = [m.suboptimality for m in there if m.suboptimality is not None]
        assert (
            crowd.counts.max_cost_ratio == pytest.approx(max(ratios)) if ratios else crowd.counts.max_cost_ratio is None
        )
        if ratios:
            shown = {field.name: field.value_text for field in crowd_panel_numbers(crowd)}
            wanted = (np.mean(ratios), np.median(ratios), max(ratios))
            names = ("mean cost / opt", "median", "max")
            mean, middle, most = (panel_texts.ratio_text(float(value)) for value in wanted)
            detail = comparison_table._agent_detail_text(panel, 0)
            assert f"mean of agents {mean}, median {middle}, max {most}" in detail
            pooled = panel.walker_view.metrics.suboptimality
            assert f"cost / optimal: pooled {panel_texts.ratio_text(pooled)}" in detail
            assert [shown[name] for name in names] == [panel_texts.ratio_text(float(value)) for value in wanted]
        whole = panel.walker_view.metrics
        for name in ("moves", "back_moves", "expansions", "restarts", "revisits", "waits"):
            assert getattr(whole, name) == sum(getattr(m, name) for m in every), name
        assert whole.cost == pytest.approx(sum(m.cost for m in every))
        assert whole.max_expansions == max(m.max_expansions for m in every)
        firsts = [m.first_move for m in every if m.first_move is not None]
        assert whole.first_move == min(firsts, default=None)


@settings(max_examples=15)
@given(st.integers(0, 50), st.integers(0, 999))
def test_crowd_panel_matches_its_agents_after_random_edits(seed: int, luck: int) -> None:
    session, chance = Session(make_crowd_scenario(seed)), random.Random(luck)
    for _ in range(12):
        what = chance.choice(["on", "on", "back", "paint", "take", "branch"])
        if what == "on":
            session.advance_by_ticks(chance.choice([1, 2, 40]))
        elif what == "back":
            session.seek_to_tick(chance.randrange(session.tick + 1))
        elif what == "paint":
            session.undo_history.open_entry(is_stroke=True)
            cell_edits.block_or_free_cells(session, [chance.randrange(SIDE * SIDE)], block=chance.random() < 0.5)
            session.undo_history.close_entry()
        elif what == "take":
            crowd = chance.choice(crowds_of(session.run))
            session.run.follow_crowd_agent(crowd[0].key, chance.choice([None, *crowd[1].agent_ids]))
        elif len(session.run.shown_branch_numbers) < 2:
            branch_actions.create_branch_at_current_tick(session)
        assert_crowds_match_their_agents(session)


def test_each_group_has_one_panel_in_order() -> None:
    session = Session(make_crowd_scenario())
    assert [panel.walker_view.label for panel in session.run.panels] == ["lazy", "TBA*", "eager"]
    assert [panel.key.agent for panel in session.run.panels] == [0, 6, 7]
    assert [panel.drawn_agent is None for panel in session.run.panels] == [True, False, True]
    assert session.run.panels[0].walker_view.state_word == "0 of 6 arrived"


def test_picked_member_is_shown_and_followed() -> None:
    session = Session(make_crowd_scenario())
    key = session.run.panels[0].key
    session.advance_by_ticks(3)
    assert session.run.followed_walker(key) is None, "nobody was picked: the camera stays"
    session.run.follow_crowd_agent(key, 4)
    session.advance_by_ticks(2)
    panel = session.run.panels[0]
    assert panel.drawn_member is not None and panel.drawn_member.id == 4 and panel.drawn_agent is panel.drawn_member
    assert (
        session.run.trail_by_panel[key].cells[-1]
        == panel.drawn_member.position
        == session.run.world.walkers[4].position
    )
    assert len(session.run.trail_by_panel[key]) == 6
    followed = session.run.followed_walker(key)
    assert followed is not None and followed.id == 4
    session.run.show_hovered_crowd_agent(key, 2)
    assert session.run.panels[0].drawn_member is not None and session.run.panels[0].drawn_member.id == 2, (
        "the mouse goes before the pick"
    )
    session.run.show_hovered_crowd_agent(None, None)
    session.run.follow_crowd_agent(key, None)
    assert session.run.panels[0].drawn_member is None


def test_crowd_edits_apply_to_all_members() -> None:
    session = Session(make_crowd_scenario())
    key, entries = session.run.panels[0].key, len(session.run.focused_branch_timeline.command_log.entries)
    agent_edits.set_agent_param(session, key, "weight", 3.0)
    agent_edits.set_agent_budget(session, key, 5)
    weights = {walker.config.group: walker.params.get("weight") for walker in session.run.world.walkers}
    assert weights == {"lazy": 3.0, "": None, "eager": 2.0}
    assert {walker.budget for walker in session.run.world.walkers[:6]} == {5}
    assert len(session.run.focused_branch_timeline.command_log.entries) == entries + 2, (
        "one command each, however many they are"
    )
    branch_actions.split_into_variants(session, [{"weight": 3.0}, {"weight": 1.5}])
    assert {w.params["weight"] for w in session.run.world.walkers[:6]} == {3.0}
    other = session.run.branch_tree[session.run.shown_branch_numbers[-1]].timeline.world
    assert {w.params["weight"] for w in other.walkers[:6]} == {1.5}
    agent_edits.remove_agent(session, PanelKey(session.run.focused_branch_number, 0))
    assert {walker.config.group for walker in session.run.world.walkers} == {"", "eager"}


def test_reset_keeps_start_and_goal_of_each_agent() -> None:
    session = Session(make_crowd_scenario())
    session.advance_by_ticks(20)
    before = [(w.start, session.run.world.goal_of_walker(w), w.config.group) for w in session.run.world.walkers]
    session.start_over(keeps_map=True)
    assert [(w.start, session.run.world.goal_of_walker(w), w.config.group) for w in session.run.world.walkers] == before


@pytest.mark.skipif(not JIT_ON, reason="crews are compiled only")
def test_crowds_are_timed_in_a_session_but_not_in_a_replay() -> None:
    scenario = make_crowd_scenario(count=MIN_BATCH_SIZE)
    session, film = Session(scenario), ReplaySpec(scenario).start_rerun()
    session.advance_by_ticks(5)
    film.seek_to_tick(5)
    (_, timed), (_, untimed) = crowds_of(session.run)[0], crowds_of(film.run)[0]
    assert timed.recent_tick_ms and timed.max_tick_ms > 0.0 and not untimed.recent_tick_ms
    shown = [[field.name for field in crowd_panel_numbers(crowd)] for crowd in (timed, untimed)]
    assert LONGEST_TICK_NAME in shown[0] and LONGEST_TICK_NAME not in shown[1]


def test_unbatched_crowd_agents_are_timed() -> None:
    """So are those of a user's own, of a kind that never advances together, or too few for that."""
    session = Session(make_crowd_scenario())
    for _ in range(5):
        session.advance_by_ticks(1)
        _ = session.run.panels
    (_, crowd), *_ = crowds_of(session.run)
    assert len(crowd.recent_tick_ms) == 5 and crowd.median_tick_ms > 0.0
    assert LONGEST_TICK_NAME in [field.name for field in crowd_panel_numbers(crowd)]


def test_replayed_crowd_panel_has_no_tick_times() -> None:
    film = ReplaySpec(make_crowd_scenario()).start_rerun()
    film.seek_to_tick(5)
    (_, crowd), *_ = crowds_of(film.run)
    assert not crowd.recent_tick_ms and LONGEST_TICK_NAME not in [field.name for field in crowd_panel_numbers(crowd)]


def test_stopped_units_are_counted_and_drawn_as_crosses() -> None:
    """Those of a user's own that fail would look as if they were on their way."""
    session = Session(make_crowd_scenario())
    session.advance_by_ticks(3)
    (panel, crowd), *_ = crowds_of(session.run)
    world, leader = panel.world, panel.world.walkers[0]
    ends = {
        (Status.GAVE_UP,): ("6", Status.GAVE_UP),
        (Status.GAVE_UP, Status.AT_GOAL): ("3", Status.GAVE_UP),
        (Status.GAVE_UP, Status.NO_PATH): ("3", Status.NO_PATH),
        (Status.GAVE_UP, Status.NO_PATH, Status.ACTIVE): ("2", Status.ACTIVE),
    }
    assert "stopped" not in {field.name for field in crowd_panel_numbers(crowd)}
    for statuses, (count, status) in ends.items():
        numbers = replace(crowd.counts, agent_statuses=np.resize(np.array(statuses, np.int8), 6))
        some = replace(crowd, counts=numbers)
        (stopped,) = [field for field in crowd_panel_numbers(some) if field.name == "stopped"]
        assert (
            stopped.value_text == count
            and stopped.is_warning
            and crowd_totals_as_walker_view(world, leader, some).status is status
        )
        drawn = agent_states_of_crowd(numbers).tolist()
        assert [kind == STUCK for kind in drawn] == [
            s in (Status.GAVE_UP, Status.NO_PATH) for s in numbers.agent_statuses
        ]


# --- the window -----------------------------------------------------------------------------------


def make_crowd_app() -> App:
    app = make_app(make_crowd_scenario())
    app.session.advance_by_ticks(4)
    settle(app)
    return app


@pytest.mark.parametrize(("size", "is_beside"), [((1600, 700), True), ((1600, 900), False), ((500, 800), False)])
def test_crowd_meter_shows_milliseconds_in_every_panel_layout(size: tuple[int, int], is_beside: bool) -> None:
    app = make_app(make_crowd_scenario(), size)
    app.session.advance_by_ticks(4)
    press(app, pygame.K_x)
    settle(app)
    assert app.window.map_view.layout.panel_boxes[0].has_side_hud == is_beside
    (panel, _), *_ = crowds_of(app.session.run)
    spot = app.window.canvas.hit_region_with_id(f"meter:{panel.key}")
    assert spot is not None and spot.tooltip.startswith("Milliseconds per tick")


def test_histogram_range_includes_units_cheaper_than_optimal() -> None:
    """A door that opens while they walk makes their ways shorter than the cheapest was when they set out."""
    assert histogram_range(np.array([0.7, 1.2])) == (0.7, 1.2)
    assert histogram_range(np.array([1.0])) == (1.0, 1.05)


def make_app_following_fourth_agent() -> tuple[App, Walker]:
    """Of the first crowd."""
    app = make_crowd_app()
    app.session.run.follow_crowd_agent(app.session.run.panels[0].key, 3)
    settle(app)
    return app, app.session.run.world.walkers[3]


def test_hover_shows_search_of_a_unit_and_click_picks_it() -> None:
    app = make_crowd_app()
    session, panel = app.session, app.session.run.panels[0]
    walker = session.run.world.walkers[3]
    there = at_cell(app, *session.run.world.grid.xy(walker.position))
    here = {w.id for w in session.run.world.walkers[:6] if w.position == walker.position}
    pygame.event.post(pygame.event.Event(pygame.MOUSEMOTION, pos=there, rel=(0, 0), buttons=(0, 0, 0)))
    settle(app)
    assert session.run.panels[0].drawn_member is not None and session.run.panels[0].drawn_member.id in here
    blocked = int((~session.run.world.grid.free_mask).sum())
    drag(app, there, there)
    crowd = session.run.crowd_of_panel(panel.key)
    assert crowd is not None and crowd.followed_agent in here
    assert int((~session.run.world.grid.free_mask).sum()) == blocked, "a click on an agent paints nothing"
    drag(app, there, there)
    assert session.run.panels[0].crowd is not None and session.run.panels[0].crowd.followed_agent is None


def test_goal_and_start_of_picked_agent_can_be_dragged() -> None:
    app, walker = make_app_following_fourth_agent()
    session, key, grid = app.session, app.session.run.panels[0].key, app.session.run.world.grid
    others = [(w.start, session.run.world.goal_of_walker(w)) for w in session.run.world.walkers if w.id != 3]
    taken = {w.position for w in session.run.world.walkers} | {cell for pair in others for cell in pair}
    free = [
        cell for cell in grid.free_mask.nonzero()[0].tolist() if cell not in taken | {walker.start, walker.own_goal}
    ]
    for there, cell in ((session.run.world.goal_of_walker(walker), free[0]), (walker.start, free[-1])):
        app.window.map_editor.stroke_panel = key
        app.window.map_editor.handle_press(grid.xy(there))
        app.window.map_editor.handle_move(grid.xy(cell))
        app.window.map_editor.handle_release()
        settle(app)
    walker = session.run.world.walkers[3]
    assert (walker.start, walker.own_goal) == (free[-1], free[0]) and session.tick == 0
    assert walker.own_optimum == cheapest_cost_and_moves(session.run.world.grid, free[-1], free[0])
    assert [(w.start, session.run.world.goal_of_walker(w)) for w in session.run.world.walkers if w.id != 3] == others
    session.advance_by_ticks(300)
    assert (
        session.run.world.walkers[3].position == free[0] or session.run.world.walkers[3].agent.status is Status.NO_PATH
    )


@pytest.mark.parametrize("width", [620, 860, 1120])
def test_crowd_header_layout_is_stable_while_units_arrive(width: int) -> None:
    app = make_app(make_crowd_scenario(count=14), (width, 800))
    key = app.session.run.panels[0].key
    parts = tuple(f"{part}:{key}" for part in ("name", "edit", "remove", "chip"))
    places, words = set(), set()
    for _ in range(12):
        app.session.advance_by_ticks(4)
        app.draw_window()
        words.add(app.session.run.panels[0].walker_view.state_word)
        places.add(tuple((spot.id, spot.box) for spot in app.window.canvas.hit_regions if spot.id.startswith(parts)))
    assert len({len(word) for word in words}) > 1 and len(places) == 1


def test_charts_plot_and_name_the_followed_unit() -> None:
    app = make_crowd_app()
    session, key = app.session, app.session.run.panels[0].key
    session.advance_by_ticks(4)
    cost = next(chart for chart in charts.TICK_CHARTS if chart.key == "cost")
    place = session.panel_index(key)
    assert place not in {line.panel_index for line in charts.chart_lines(app.window.view_context, cost)}
    (hint,) = charts.shown_agent_sentences(session.run.panels)
    assert "point at an agent" in hint
    for follow, how in (
        (session.run.follow_crowd_agent, "followed"),
        (session.run.show_hovered_crowd_agent, "pointed at"),
    ):
        session.run.follow_crowd_agent(key, None)
        follow(key, 3)
        line = next(line for line in charts.chart_lines(app.window.view_context, cost) if line.panel_index == place)
        walker = session.run.world.walkers[3]
        (told,) = charts.shown_agent_sentences(session.run.panels)
        assert line.label == walker.label and line.label in told and how in told
        assert (
            line.value_at_tick_or_trial(line.last_tick_or_trial)
            == session.run.world.metrics_of_walker(walker).suboptimality
        )


def test_goal_of_picked_agent_can_be_dragged_from_under_another_agent() -> None:
    app, walker = make_app_following_fourth_agent()
    session, key, grid = app.session, app.session.run.panels[0].key, app.session.run.world.grid
    taken = {w.position for w in session.run.world.walkers}
    free = [
        cell for cell in grid.free_mask.nonzero()[0].tolist() if cell not in taken | {walker.start, walker.own_goal}
    ]
    there = at_cell(app, *grid.xy(walker.own_goal))
    with patch.object(Crowd, "nearest_agent", lambda *_: 2):  # another stands on it
        drag(app, there, at_cell(app, *grid.xy(free[0])))
    settle(app)
    assert session.run.crowd_of_panel(key).followed_agent == 3
    assert session.run.world.walkers[3].own_goal == free[0]


def goals_of(app: App, group: str) -> set[int]:
    world = app.session.run.world
    return {world.goal_of_walker(walker) for walker in world.walkers if walker.config.group == group}


def test_crowd_goal_is_set_by_menu_key_and_drag() -> None:
    app = make_crowd_app()
    session, grid = app.session, app.session.run.world.grid
    key, others, shared = session.run.panels[0].key, goals_of(app, "eager"), session.run.world.goal
    taken = {w.position for w in session.run.world.walkers} | others | goals_of(app, "lazy") | {shared}
    first, second, third = [cell for cell in grid.free_mask.nonzero()[0].tolist() if cell not in taken][:3]
    assert len(goals_of(app, "lazy")) > 1 and session.run.panels[0].crowd.drawn_start_and_goal((1, 2)) == (-1, -1)

    click(app, at_cell(app, *grid.xy(first)), button=3)
    assert "Move the goal here" not in [item.label for item in app.window.ui_state.context_menu.items], (
        "of whom, if nobody is followed?"
    )
    choose(app, "Move the goal of all agents of lazy here")
    assert goals_of(app, "lazy") == {first} and session.run.panels[0].crowd.drawn_start_and_goal((1, 2)) == (-1, first)
    assert [deed.representative_command for deed in script_entries.script_entries(session.run)] == [
        ApplyToGroup("lazy", MoveGoal(first, 0))
    ]

    session.focus_panel(key)
    app.window.ui_state.cell_cursor = grid.xy(second)
    press_combination(app, "Alt+Shift+Return")
    assert goals_of(app, "lazy") == {second}

    settle(app)
    drag(app, at_cell(app, *grid.xy(second)), at_cell(app, *grid.xy(third)))
    assert goals_of(app, "lazy") == {third} and goals_of(app, "eager") == others
    assert session.run.world.goal == shared
    for goal in (second, first):
        press_combination(app, "Ctrl+Z")
        assert goals_of(app, "lazy") == {goal}
    press_combination(app, "Ctrl+Z")
    assert len(goals_of(app, "lazy")) > 1


def test_menu_sets_goal_of_followed_agent_or_of_whole_crowd() -> None:
    app, _ = make_app_following_fourth_agent()
    session, grid, shared = app.session, app.session.run.world.grid, app.session.run.world.goal
    taken = {w.position for w in session.run.world.walkers} | goals_of(app, "lazy") | goals_of(app, "eager") | {shared}
    first, second, *_ = [cell for cell in grid.free_mask.nonzero()[0].tolist() if cell not in taken]
    click(app, at_cell(app, *grid.xy(first)), button=3)
    choose(app, "Move the goal here")
    assert session.run.world.goal_of_walker(session.run.world.walkers[3]) == first and session.run.world.goal == shared
    assert len(goals_of(app, "lazy")) > 1
    click(app, at_cell(app, *grid.xy(second)), button=3)
    choose(app, "Move the goal of all agents of lazy here")
    assert goals_of(app, "lazy") == {second}


def test_crowd_goal_command_ignores_single_agents() -> None:
    app = make_crowd_app()
    app.session.focus_panel(app.session.run.panels[1].key)
    app.window.ui_state.cell_cursor = (0, 0)
    press_combination(app, "Alt+Shift+Return")
    assert app.session.run.focused_branch_timeline.command_log.entries == ()


def test_crowd_list_sorts_worst_first_and_follows_the_choice() -> None:
    app = make_crowd_app()
    app.session.advance_by_ticks(200)
    press_combination(app, "Alt+U")
    dialog = app.window.dialogs.current_dialog
    assert isinstance(dialog, CrowdList)
    crowd = app.session.run.crowd_of_panel(app.session.run.panels[0].key)
    assert crowd is not None
    worst = float((crowd.counts.counts_by_agent["cost"] / crowd.counts.optimal_costs).max())
    assert dialog.agent_list.items[0].cells[2] == f"{worst:.3f}"
    assert {item.cells[1] for item in dialog.agent_list.items} == {"at goal"}
    chosen = dialog.agent_list.items[0].value
    press_combination(app, "Return")
    assert app.window.dialogs.current_dialog is None
    assert app.session.run.panels[0].crowd is not None and app.session.run.panels[0].crowd.followed_agent == chosen


@pytest.mark.parametrize("query", ["1", "lazy 1"])
def test_crowd_list_ranks_exact_number_before_prefix_matches(query: str) -> None:
    session = Session(make_crowd_scenario(count=14))
    app = make_app(session.run.scenario, (900, 700))
    press_combination(app, "Alt+U")
    dialog = app.window.dialogs.current_dialog
    assert isinstance(dialog, CrowdList)
    dialog.sort_order = (0, True)
    type_text(app, query)
    assert [item.cells[0] for item in dialog.agent_list.items][:2] == ["lazy 1", "lazy 14"]
    press_combination(app, "Return")
    mind = app.session.run.panels[0].drawn_agent
    assert mind is not None and mind.label == "lazy 1"


def test_crowd_list_filters_by_number_or_state() -> None:
    app = make_crowd_app()
    app.session.advance_by_ticks(200)
    press_combination(app, "Alt+U")
    dialog = app.window.dialogs.current_dialog
    assert isinstance(dialog, CrowdList)
    everybody = dialog.agent_list.items
    type_text(app, "5")
    assert [item.cells[0].split()[-1] for item in dialog.agent_list.items] == ["5"]
    assert dialog.match_count_label.text == f"1 of {len(everybody)}"
    assert dialog.selected_agent == dialog.agent_list.items[0].value
    press(app, pygame.K_BACKSPACE)
    assert dialog.agent_list.items == everybody, "in the order of before"
    type_text(app, "at goal zz")
    assert not dialog.agent_list.items and not dialog.follow_button.is_enabled
    press_combination(app, "Return")
    assert app.window.dialogs.current_dialog is dialog, "there is nobody to follow"


@pytest.mark.parametrize(
    ("query", "is_found"),
    [("", True), ("1", True), ("12", True), ("2", False), ("lazy", True), ("azy", False), ("no path", True)],
)
def test_crowd_list_query_matches_name_number_or_state(query: str, is_found: bool) -> None:
    assert agent_matches_query("lazy 12", "no path", query) is is_found


def test_crowd_heat_is_the_sum_of_all_visits() -> None:
    app = make_crowd_app()
    for _ in range(2):
        app.window.run_command("next_heat")
    assert app.window.map_view.layer_state.heat_setting.kind == "visits"
    settle(app)
    (panel, crowd), _ = crowds_of(app.session.run)
    bands = app.window.map_view.cells[panel.key].heat_bands
    assert ((bands > 0) == (crowd.visit_counts > 0)).all()
    assert app.window.map_view.heat_scale.peak_value >= crowd.visit_counts.max()


def test_crowd_panel_and_agent_names_do_not_depend_on_seek_order() -> None:
    """Its first agent leaves, another one is renamed: the panel went to the end, and the list had the old name."""
    script = ((6, RemoveAgent(0)), (8, RenameAgent(2, "other")))
    scenario = changed(make_crowd_scenario(), script)
    forwards, backwards = Session(scenario), Session(scenario)
    backwards.seek_to_tick(10)
    want = [
        (["lazy", "TBA*", "eager"], ("lazy 1", "lazy 2", "other")),
        (["lazy", "TBA*", "eager"], ("lazy 2", "other")),
    ]
    for session, ticks in ((forwards, (5, 10)), (backwards, (10, 5)), (forwards, (5, 10))):
        for tick in ticks:
            session.seek_to_tick(tick)
            found = [panel.walker_view.label for panel in session.run.panels]
            (panel, _), *_ = crowds_of(session.run)
            assert (found, session.run.labels_of_crowd(panel.key)[: 3 - (tick == 10)]) == want[tick == 10]
            session.run.follow_crowd_agent(panel.key, 2)
            mind = session.run.panels[0].drawn_agent
            assert mind is not None and mind.label == "other", "nor the one that is followed its old one"
