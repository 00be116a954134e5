"""Crowds: all agents of a group in one panel. What it shows is what its agents come to, whatever way led there."""

import random
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pygame
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim import crew
from sim.agent_api import Status
from sim.commands import AgentConfig, MoveGoal, NameAgent, RemoveAgent, ToGroup
from sim.files.scenario import Scenario
from sim.grid import Grid
from sim.kernels.jit import JIT_ON
from sim.placing import Drawn, cheapest_way, spread
from sim.walker import Walker
from tests.runs import changed, scenario_on
from tests.window import App, at_cell, choose, click, drag, make_app, press, press_combination, settle, type_text
from ui.dialogs import comparison
from ui.dialogs.crowd import CrowdList, ends_of, matches
from ui.draw.layers.agent import STUCK, kinds_of
from ui.film.replay import Replay
from ui.model import agent_edits, branching, painting, script, wording
from ui.model.crowds import TAIL, Crowd, as_one
from ui.model.keys import PanelKey
from ui.model.run import Panel, Run
from ui.model.session import Session
from ui.model.wording import LONGEST, crowd_fields
from ui.panels import charts

from .conftest import random_rows

SIDE = 12


def crowd_scenario(seed: int = 1, count: int = 6) -> Scenario:
    """Two crowds and, between them, an agent by itself."""
    grid = Grid.from_rows(random_rows(seed, SIDE, SIDE, 0.15))
    free = grid.free.nonzero()[0].tolist()
    lazy = AgentConfig("rtb-wa", "lazy", {"weight": 2.0, "restart": "lazy"})
    eager = AgentConfig("rtb-wa", "eager", {"weight": 2.0, "restart": "eager"})
    agents = [*spread(lazy, count, Drawn(seed), grid), AgentConfig("tba"), *spread(eager, count, Drawn(seed), grid)]
    return scenario_on(grid, free[0], free[-1], agents, budget=3, seed=seed)


def crowds_of(run: Run) -> list[tuple[Panel, Crowd]]:
    return [(panel, panel.crowd) for panel in run.panels if panel.crowd is not None]


def assert_true(session: Session) -> None:
    """Every crowd on screen says what its agents say one by one."""
    for panel, crowd in crowds_of(session.run):
        members = [w for w in panel.world.walkers if w.config.group == crowd.name]
        every = [panel.world.metrics(walker) for walker in members]
        assert crowd.agents == tuple(walker.id for walker in members)
        assert crowd.visits.tolist() == np.sum([walker.visits for walker in members], axis=0).tolist()
        assert crowd.tails[:, -1].tolist() == [walker.position for walker in members]
        assert crowd.tails.shape[1] <= TAIL
        there = [m for m, walker in zip(every, members, strict=True) if walker.agent.status is Status.AT_GOAL]
        assert crowd.numbers.arrived == len(there)
        ratios = [m.suboptimality for m in there if m.suboptimality is not None]
        assert crowd.numbers.worst_ratio == pytest.approx(max(ratios)) if ratios else crowd.numbers.worst_ratio is None
        if ratios:
            shown = {field.name: field.value for field in crowd_fields(crowd)}
            wanted = (np.mean(ratios), np.median(ratios), max(ratios))
            names = ("mean cost / opt", "median", "max")
            mean, middle, most = (wording.ratio(float(value)) for value in wanted)
            detail = comparison._detail_text(panel, 0)
            assert f"mean of agents {mean}, median {middle}, max {most}" in detail
            pooled = panel.view.metrics.suboptimality
            assert f"cost / optimal: pooled {wording.ratio(pooled)}" in detail
            assert [shown[name] for name in names] == [wording.ratio(float(value)) for value in wanted]
        whole = panel.view.metrics
        for name in ("moves", "back_moves", "expansions", "restarts", "revisits", "waits"):
            assert getattr(whole, name) == sum(getattr(m, name) for m in every), name
        assert whole.cost == pytest.approx(sum(m.cost for m in every))
        assert whole.max_expansions == max(m.max_expansions for m in every)
        firsts = [m.first_move for m in every if m.first_move is not None]
        assert whole.first_move == min(firsts, default=None)


@settings(max_examples=15)
@given(st.integers(0, 50), st.integers(0, 999))
def test_a_crowd_says_what_its_agents_say(seed: int, luck: int) -> None:
    session, chance = Session(crowd_scenario(seed)), random.Random(luck)
    for _ in range(12):
        what = chance.choice(["on", "on", "back", "paint", "take", "branch"])
        if what == "on":
            session.advance(chance.choice([1, 2, 40]))
        elif what == "back":
            session.seek(chance.randrange(session.tick + 1))
        elif what == "paint":
            session.history.begin(is_stroke=True)
            painting.paint(session, [chance.randrange(SIDE * SIDE)], block=chance.random() < 0.5)
            session.history.end()
        elif what == "take":
            crowd = chance.choice(crowds_of(session.run))
            session.run.pick(crowd[0].key, chance.choice([None, *crowd[1].agents]))
        elif len(session.run.shown) < 2:
            branching.branch_here(session)
        assert_true(session)


def test_each_group_has_one_panel_in_its_place() -> None:
    session = Session(crowd_scenario())
    assert [panel.view.label for panel in session.run.panels] == ["lazy", "TBA*", "eager"]
    assert [panel.key.agent for panel in session.run.panels] == [0, 6, 7]
    assert [panel.mind is None for panel in session.run.panels] == [True, False, True]
    assert session.run.panels[0].view.state_word == "0 of 6 arrived"


def test_the_one_that_is_picked_is_shown_and_followed() -> None:
    session = Session(crowd_scenario())
    key = session.run.panels[0].key
    session.advance(3)
    assert session.run.followed(key) is None, "nobody was picked: the camera stays"
    session.run.pick(key, 4)
    session.advance(2)
    panel = session.run.panels[0]
    assert panel.member is not None and panel.member.id == 4 and panel.mind is panel.member
    assert session.run.trails[key].cells[-1] == panel.member.position == session.run.world.walkers[4].position
    assert len(session.run.trails[key]) == 6
    followed = session.run.followed(key)
    assert followed is not None and followed.id == 4
    session.run.point_at(key, 2)
    assert session.run.panels[0].member is not None and session.run.panels[0].member.id == 2, (
        "the mouse goes before the pick"
    )
    session.run.point_at(None, None)
    session.run.pick(key, None)
    assert session.run.panels[0].member is None


def test_what_a_crowd_is_told_all_of_it_are_told() -> None:
    session = Session(crowd_scenario())
    key, entries = session.run.panels[0].key, len(session.run.timeline.entries())
    agent_edits.set_param(session, key, "weight", 3.0)
    agent_edits.set_budget(session, key, 5)
    weights = {walker.config.group: walker.params.get("weight") for walker in session.run.world.walkers}
    assert weights == {"lazy": 3.0, "": None, "eager": 2.0}
    assert {walker.budget for walker in session.run.world.walkers[:6]} == {5}
    assert len(session.run.timeline.entries()) == entries + 2, "one command each, however many they are"
    branching.split(session, [{"weight": 3.0}, {"weight": 1.5}])
    assert {w.params["weight"] for w in session.run.world.walkers[:6]} == {3.0}
    other = session.run.tree[session.run.shown[-1]].timeline.world
    assert {w.params["weight"] for w in other.walkers[:6]} == {1.5}
    agent_edits.remove(session, PanelKey(session.run.front, 0))
    assert {walker.config.group for walker in session.run.world.walkers} == {"", "eager"}


def test_beginning_again_keeps_every_start_and_goal() -> None:
    session = Session(crowd_scenario())
    session.advance(20)
    before = [(w.start, session.run.world.goal_of(w), w.config.group) for w in session.run.world.walkers]
    session.reset(keeps_map=True)
    assert [(w.start, session.run.world.goal_of(w), w.config.group) for w in session.run.world.walkers] == before


@pytest.mark.skipif(not JIT_ON, reason="crews are compiled only")
def test_a_window_times_its_crowds_and_a_picture_does_not() -> None:
    with patch.object(crew, "MIN_BATCH_SIZE", 2):
        session, film = Session(crowd_scenario()), Replay(crowd_scenario()).begin()
        session.advance(5)
        film.go_to(5)
    (_, timed), (_, untimed) = crowds_of(session.run)[0], crowds_of(film.run)[0]
    assert timed.tick_ms and timed.longest_ms > 0.0 and not untimed.tick_ms
    shown = [[field.name for field in crowd_fields(crowd)] for crowd in (timed, untimed)]
    assert LONGEST in shown[0] and LONGEST not in shown[1]


def test_agents_that_plan_one_by_one_are_timed_too() -> None:
    """So are those of a user's own, of a kind that never advances together, or too few for that."""
    session = Session(crowd_scenario())
    for _ in range(5):
        session.advance(1)
        _ = session.run.panels
    (_, crowd), *_ = crowds_of(session.run)
    assert len(crowd.tick_ms) == 5 and crowd.median_ms > 0.0


def test_units_that_were_stopped_are_counted_and_stand_as_crosses() -> None:
    """Those of a user's own that fail would look as if they were on their way."""
    session = Session(crowd_scenario())
    session.advance(3)
    (panel, crowd), *_ = crowds_of(session.run)
    world, leader = panel.world, panel.world.walkers[0]
    ends = {
        (Status.GAVE_UP,): ("6", Status.GAVE_UP),
        (Status.GAVE_UP, Status.AT_GOAL): ("3", Status.GAVE_UP),
        (Status.GAVE_UP, Status.NO_PATH): ("3", Status.NO_PATH),
        (Status.GAVE_UP, Status.NO_PATH, Status.ACTIVE): ("2", Status.ACTIVE),
    }
    assert "stopped" not in {field.name for field in crowd_fields(crowd)}
    for statuses, (count, status) in ends.items():
        numbers = replace(crowd.numbers, statuses=np.resize(np.array(statuses, np.int8), 6))
        some = replace(crowd, numbers=numbers)
        (stopped,) = [field for field in crowd_fields(some) if field.name == "stopped"]
        assert stopped.value == count and stopped.is_warning and as_one(world, leader, some).status is status
        drawn = kinds_of(numbers).tolist()
        assert [kind == STUCK for kind in drawn] == [s in (Status.GAVE_UP, Status.NO_PATH) for s in numbers.statuses]


# --- the window -----------------------------------------------------------------------------------


def crowd_app() -> App:
    app = make_app(crowd_scenario())
    app.session.advance(4)
    settle(app)
    return app


@pytest.mark.parametrize(("size", "is_beside"), [((1600, 700), True), ((1600, 900), False), ((500, 800), False)])
def test_a_meter_shows_the_milliseconds_of_a_crowd_wherever_its_numbers_stand(
    size: tuple[int, int], is_beside: bool
) -> None:
    app = make_app(crowd_scenario(), size)
    app.session.advance(4)
    press(app, pygame.K_x)
    settle(app)
    assert app.window.scene.layout.panels[0].has_side == is_beside
    (panel, _), *_ = crowds_of(app.session.run)
    spot = app.window.canvas.spot_named(f"meter:{panel.key}")
    assert spot is not None and spot.tip.startswith("Milliseconds per tick")


def test_units_cheaper_than_optimal_are_among_the_bars() -> None:
    """A door that opens while they walk makes their ways shorter than the cheapest was when they set out."""
    assert ends_of(np.array([0.7, 1.2])) == (0.7, 1.2)
    assert ends_of(np.array([1.0])) == (1.0, 1.05)


def following_the_fourth() -> tuple[App, Walker]:
    """Of the first crowd."""
    app = crowd_app()
    app.session.run.pick(app.session.run.panels[0].key, 3)
    settle(app)
    return app, app.session.run.world.walkers[3]


def test_pointing_at_a_dot_shows_its_search_and_a_click_picks_it() -> None:
    app = crowd_app()
    session, panel = app.session, app.session.run.panels[0]
    walker = session.run.world.walkers[3]
    there = at_cell(app, *session.run.world.grid.xy(walker.position))
    here = {w.id for w in session.run.world.walkers[:6] if w.position == walker.position}
    pygame.event.post(pygame.event.Event(pygame.MOUSEMOTION, pos=there, rel=(0, 0), buttons=(0, 0, 0)))
    settle(app)
    assert session.run.panels[0].member is not None and session.run.panels[0].member.id in here
    blocked = int((~session.run.world.grid.free).sum())
    drag(app, there, there)
    crowd = session.run.crowd(panel.key)
    assert crowd is not None and crowd.picked in here
    assert int((~session.run.world.grid.free).sum()) == blocked, "a click on an agent paints nothing"
    drag(app, there, there)
    assert session.run.panels[0].crowd is not None and session.run.panels[0].crowd.picked is None


def test_the_goal_and_the_start_of_the_one_that_is_picked_can_be_dragged() -> None:
    app, walker = following_the_fourth()
    session, key, grid = app.session, app.session.run.panels[0].key, app.session.run.world.grid
    others = [(w.start, session.run.world.goal_of(w)) for w in session.run.world.walkers if w.id != 3]
    taken = {w.position for w in session.run.world.walkers} | {cell for pair in others for cell in pair}
    free = [cell for cell in grid.free.nonzero()[0].tolist() if cell not in taken | {walker.start, walker.own_goal}]
    for there, cell in ((session.run.world.goal_of(walker), free[0]), (walker.start, free[-1])):
        app.window.editor.panel = key
        app.window.editor.press(grid.xy(there))
        app.window.editor.move(grid.xy(cell))
        app.window.editor.release()
        settle(app)
    walker = session.run.world.walkers[3]
    assert (walker.start, walker.own_goal) == (free[-1], free[0]) and session.tick == 0
    assert walker.own_optimal == cheapest_way(session.run.world.grid, free[-1], free[0])
    assert [(w.start, session.run.world.goal_of(w)) for w in session.run.world.walkers if w.id != 3] == others
    session.advance(300)
    assert (
        session.run.world.walkers[3].position == free[0] or session.run.world.walkers[3].agent.status is Status.NO_PATH
    )


@pytest.mark.parametrize("width", [620, 860, 1120])
def test_the_header_of_a_crowd_stands_still_while_its_units_arrive(width: int) -> None:
    app = make_app(crowd_scenario(count=14), (width, 800))
    key = app.session.run.panels[0].key
    parts = tuple(f"{part}:{key}" for part in ("name", "edit", "remove", "chip"))
    places, words = set(), set()
    for _ in range(12):
        app.session.advance(4)
        app.draw()
        words.add(app.session.run.panels[0].view.state_word)
        places.add(tuple((spot.id, spot.box) for spot in app.window.canvas.spots if spot.id.startswith(parts)))
    assert len({len(word) for word in words}) > 1 and len(places) == 1


def test_charts_are_of_the_unit_that_is_followed_and_say_so() -> None:
    app = crowd_app()
    session, key = app.session, app.session.run.panels[0].key
    session.advance(4)
    cost = next(chart for chart in charts.CHARTS if chart.key == "cost")
    place = session.panel_of(key)
    assert place not in {line.place for line in charts.lines_of(app.window.desk, cost)}
    (hint,) = charts.whose(session.run.panels)
    assert "point at an agent" in hint
    for follow, how in ((session.run.pick, "followed"), (session.run.point_at, "pointed at")):
        session.run.pick(key, None)
        follow(key, 3)
        line = next(line for line in charts.lines_of(app.window.desk, cost) if line.place == place)
        walker = session.run.world.walkers[3]
        (told,) = charts.whose(session.run.panels)
        assert line.label == walker.label and line.label in told and how in told
        assert line.at(line.last) == session.run.world.metrics(walker).suboptimality


def test_the_goal_of_the_one_that_is_picked_can_be_dragged_from_under_another() -> None:
    app, walker = following_the_fourth()
    session, key, grid = app.session, app.session.run.panels[0].key, app.session.run.world.grid
    taken = {w.position for w in session.run.world.walkers}
    free = [cell for cell in grid.free.nonzero()[0].tolist() if cell not in taken | {walker.start, walker.own_goal}]
    there = at_cell(app, *grid.xy(walker.own_goal))
    with patch.object(Crowd, "nearest", lambda *_: 2):  # another stands on it
        drag(app, there, at_cell(app, *grid.xy(free[0])))
    settle(app)
    assert session.run.crowd(key).picked == 3
    assert session.run.world.walkers[3].own_goal == free[0]


def goals_of(app: App, group: str) -> set[int]:
    world = app.session.run.world
    return {world.goal_of(walker) for walker in world.walkers if walker.config.group == group}


def test_a_whole_crowd_gets_a_goal_by_its_menu_and_by_a_key_and_by_dragging_the_one_they_have() -> None:
    app = crowd_app()
    session, grid = app.session, app.session.run.world.grid
    key, others, shared = session.run.panels[0].key, goals_of(app, "eager"), session.run.world.goal
    taken = {w.position for w in session.run.world.walkers} | others | goals_of(app, "lazy") | {shared}
    first, second, third = [cell for cell in grid.free.nonzero()[0].tolist() if cell not in taken][:3]
    assert len(goals_of(app, "lazy")) > 1 and session.run.panels[0].crowd.ends((1, 2)) == (-1, -1)

    click(app, at_cell(app, *grid.xy(first)), button=3)
    assert "Move the goal here" not in [item.label for item in app.window.state.menu.items], (
        "of whom, if nobody is followed?"
    )
    choose(app, "Move the goal of all agents of lazy here")
    assert goals_of(app, "lazy") == {first} and session.run.panels[0].crowd.ends((1, 2)) == (-1, first)
    assert [deed.command for deed in script.deeds(session.run)] == [ToGroup("lazy", MoveGoal(first, 0))]

    session.focus(key)
    app.window.state.cursor = grid.xy(second)
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


def test_of_a_crowd_with_one_who_is_followed_a_menu_has_the_goal_of_either() -> None:
    app, _ = following_the_fourth()
    session, grid, shared = app.session, app.session.run.world.grid, app.session.run.world.goal
    taken = {w.position for w in session.run.world.walkers} | goals_of(app, "lazy") | goals_of(app, "eager") | {shared}
    first, second, *_ = [cell for cell in grid.free.nonzero()[0].tolist() if cell not in taken]
    click(app, at_cell(app, *grid.xy(first)), button=3)
    choose(app, "Move the goal here")
    assert session.run.world.goal_of(session.run.world.walkers[3]) == first and session.run.world.goal == shared
    assert len(goals_of(app, "lazy")) > 1
    click(app, at_cell(app, *grid.xy(second)), button=3)
    choose(app, "Move the goal of all agents of lazy here")
    assert goals_of(app, "lazy") == {second}


def test_an_agent_by_itself_is_no_crowd_to_be_told() -> None:
    app = crowd_app()
    app.session.focus(app.session.run.panels[1].key)
    app.window.state.cursor = (0, 0)
    press_combination(app, "Alt+Shift+Return")
    assert app.session.run.timeline.entries() == ()


def test_the_list_finds_the_worst_and_follows_it() -> None:
    app = crowd_app()
    app.session.advance(200)
    press_combination(app, "Alt+U")
    dialog = app.window.dialogs.dialog
    assert isinstance(dialog, CrowdList)
    crowd = app.session.run.crowd(app.session.run.panels[0].key)
    assert crowd is not None
    worst = float((crowd.numbers.counts["cost"] / crowd.numbers.optimal).max())
    assert dialog.rows.items[0].cells[2] == f"{worst:.3f}"
    assert {item.cells[1] for item in dialog.rows.items} == {"at goal"}
    chosen = dialog.rows.items[0].value
    press_combination(app, "Return")
    assert app.window.dialogs.dialog is None
    assert app.session.run.panels[0].crowd is not None and app.session.run.panels[0].crowd.picked == chosen


@pytest.mark.parametrize("query", ["1", "lazy 1"])
def test_the_agent_of_a_number_comes_before_those_whose_numbers_begin_with_it(query: str) -> None:
    session = Session(crowd_scenario(count=14))
    app = make_app(session.run.scenario, (900, 700))
    press_combination(app, "Alt+U")
    dialog = app.window.dialogs.dialog
    assert isinstance(dialog, CrowdList)
    dialog.sort_by = (0, True)
    type_text(app, query)
    assert [item.cells[0] for item in dialog.rows.items][:2] == ["lazy 1", "lazy 14"]
    press_combination(app, "Return")
    mind = app.session.run.panels[0].mind
    assert mind is not None and mind.label == "lazy 1"


def test_an_agent_of_a_crowd_is_found_by_its_number_or_its_state() -> None:
    app = crowd_app()
    app.session.advance(200)
    press_combination(app, "Alt+U")
    dialog = app.window.dialogs.dialog
    assert isinstance(dialog, CrowdList)
    everybody = dialog.rows.items
    type_text(app, "5")
    assert [item.cells[0].split()[-1] for item in dialog.rows.items] == ["5"]
    assert dialog.count.text == f"1 of {len(everybody)}"
    assert dialog.agent == dialog.rows.items[0].value
    press(app, pygame.K_BACKSPACE)
    assert dialog.rows.items == everybody, "in the order of before"
    type_text(app, "at goal zz")
    assert not dialog.rows.items and not dialog.follow_button.is_enabled
    press_combination(app, "Return")
    assert app.window.dialogs.dialog is dialog, "there is nobody to follow"


@pytest.mark.parametrize(
    ("query", "is_found"),
    [("", True), ("1", True), ("12", True), ("2", False), ("lazy", True), ("azy", False), ("no path", True)],
)
def test_words_that_find_an_agent(query: str, is_found: bool) -> None:
    assert matches("lazy 12", "no path", query) is is_found


def test_heat_of_a_crowd_is_that_of_all_its_visits() -> None:
    app = crowd_app()
    for _ in range(2):
        app.window.run("next_heat")
    assert app.window.scene.layers.heat.kind == "visits"
    settle(app)
    (panel, crowd), _ = crowds_of(app.session.run)
    bands = app.window.scene.cells[panel.key].bands
    assert ((bands > 0) == (crowd.visits > 0)).all()
    assert app.window.scene.heat_scale.peak >= crowd.visits.max()


def test_a_crowd_keeps_its_panel_and_its_agents_their_names_whatever_tick_was_looked_at_first() -> None:
    """Its first agent leaves, another one is renamed: the panel went to the end, and the list had the old name."""
    script = ((6, RemoveAgent(0)), (8, NameAgent(2, "other")))
    scenario = changed(crowd_scenario(), script)
    forwards, backwards = Session(scenario), Session(scenario)
    backwards.seek(10)
    want = [
        (["lazy", "TBA*", "eager"], ("lazy 1", "lazy 2", "other")),
        (["lazy", "TBA*", "eager"], ("lazy 2", "other")),
    ]
    for session, ticks in ((forwards, (5, 10)), (backwards, (10, 5)), (forwards, (5, 10))):
        for tick in ticks:
            session.seek(tick)
            found = [panel.view.label for panel in session.run.panels]
            (panel, _), *_ = crowds_of(session.run)
            assert (found, session.run.labels_of(panel.key)[: 3 - (tick == 10)]) == want[tick == 10]
            session.run.pick(panel.key, 2)
            mind = session.run.panels[0].mind
            assert mind is not None and mind.label == "other", "nor the one that is followed its old one"
