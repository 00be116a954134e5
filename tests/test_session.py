"""The open run: strokes undone as a whole, resets that keep what they say, and the same digests at any pace."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.registry import BY_KEY
from sim import commands
from sim.agent_api import Status
from sim.changes import RandomChanges
from sim.commands import (
    AgentConfig,
    Command,
    MoveGoal,
    SetBudget,
    SetChanges,
    SetParam,
    SetTickMs,
    SetTrials,
    ToGroup,
)
from sim.files.examples import EXAMPLES
from sim.files.scenario import Scenario, Until, dump_scenario, parse_scenario
from sim.grid import Grid
from sim.kernels import log
from sim.world import World
from tests.runs import changed, scenario_on
from ui.model import agent_edits, branching, files, painting, script, turning
from ui.model.beginning import configs_of, done_by_hand
from ui.model.clock import AS_FAST_AS_POSSIBLE
from ui.model.columns import arrived_at
from ui.model.keys import PanelKey
from ui.model.player import Player, advance_for
from ui.model.session import Session
from ui.model.trails import Trail
from ui.model.wording import RunNames

from .conftest import random_rows

FEW = settings(max_examples=25)
SIDE = 16
START, GOAL = 0, SIDE * SIDE - 1
AGENTS = (AgentConfig("tba"), AgentConfig("rtb-wa", params={"weight": 1.5}), AgentConfig("tb-gbfs", budget=2))


def setup(seed: int = 3, density: float = 0.15, **more: object) -> Scenario:
    rows = random_rows(seed, SIDE, SIDE, density)
    rows[0] = "." + rows[0][1:]
    rows[-1] = rows[-1][:-1] + "."
    base = scenario_on(
        Grid.from_rows(rows),
        START,
        GOAL,
        AGENTS,
        budget=3,
        seed=7,
        switches={"gate": (40, 41, 56)},
    )
    return changed(base, **more)


def terrain(session: Session) -> bytes:
    return session.run.world.grid.terrain.tobytes()


# --- strokes --------------------------------------------------------------------------------------


def arrive(session: Session) -> None:
    while not session.continue_seek():
        pass


def stroke(session: Session, cells: list[int], block: bool) -> None:
    session.history.begin(is_stroke=True)
    for cell in cells:
        painting.paint(session, [cell], block=block)
    session.history.end()


def test_a_stroke_is_undone_and_redone_as_a_whole() -> None:
    session = Session(setup())
    before = terrain(session)
    stroke(session, list(range(100, 110)), True)
    after = terrain(session)
    assert after != before and len(session.history.done) == 1
    assert session.history.undo() and terrain(session) == before
    assert not session.history.undo()
    assert session.history.redo() and terrain(session) == after
    assert not session.history.redo()


def test_a_new_stroke_clears_what_was_undone() -> None:
    session = Session(setup())
    stroke(session, [100, 101], True)
    session.history.undo()
    stroke(session, [120, 121], True)
    assert not session.history.redo()


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.lists(st.integers(0, SIDE * SIDE - 1), min_size=1, max_size=12), st.booleans()), max_size=8)
)
def test_undo_goes_back_through_any_strokes(strokes: list[tuple[list[int], bool]]) -> None:
    session = Session(setup())
    seen = [terrain(session)]
    for cells, block in strokes:
        stroke(session, cells, block)
        if terrain(session) != seen[-1]:
            seen.append(terrain(session))
    for wanted in seen[-2::-1]:
        assert session.history.undo() and terrain(session) == wanted
    assert not session.history.undo()
    for wanted in seen[1:]:
        assert session.history.redo() and terrain(session) == wanted


def test_a_stroke_that_changes_nothing_is_none() -> None:
    session = Session(setup())
    free = [c for c in range(SIDE * SIDE) if session.run.world.grid.is_free(c)][:5]
    stroke(session, free, False)
    assert session.history.done == [] and done_by_hand(session.run.timeline) == []


def test_a_cancelled_stroke_leaves_the_map_as_it_was() -> None:
    session = Session(setup())
    before = terrain(session)
    session.history.begin(is_stroke=True)
    painting.paint(session, [100, 101, 102], block=True)
    session.history.cancel()
    assert terrain(session) == before and session.history.done == []


def test_undo_restores_the_exact_letters() -> None:
    grid = Grid.from_rows([".STW@O..", "........"])
    session = Session(scenario_on(grid, 8, 15, (), budget=1))
    before = terrain(session)
    stroke(session, list(range(7)), True)
    stroke(session, list(range(7)), False)
    session.history.undo()
    session.history.undo()
    assert terrain(session) == before


def test_what_is_undone_was_never_done_whatever_happened_since() -> None:
    begun = setup(changes=RandomChanges(2, 20.0))
    session, other = Session(begun), Session(begun)
    session.advance(7)
    stroke(session, [c for c in range(90, 140) if session.run.world.grid.is_free(c)][:20], True)
    session.advance(8)
    with_stroke = session.run.world.digest()
    session.history.undo()
    arrive(session)
    other.advance(15)
    assert session.run.world.digest() == other.run.world.digest() and session.run.timeline.entries() == ()
    assert session.run.shown_edits() == {}, "nothing stays marked on the map"
    session.history.redo()
    arrive(session)
    assert session.run.world.digest() == with_stroke


def test_an_edit_under_an_agent_is_refused_and_told() -> None:
    session = Session(setup())
    stroke(session, [START, 100], True)
    assert session.run.world.grid.is_free(START) and not session.run.world.grid.is_free(100)
    assert any("stays free" in message for message in session.told.messages)
    session.history.undo()
    assert session.run.world.grid.is_free(100)


def test_edits_are_marked_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.model.run.EDIT_SHOWN_TICKS", 4)
    session = Session(setup())
    stroke(session, [100], True)
    for _ in range(5):
        assert session.run.shown_edits() == {100: (0, True)}
        session.advance(1)
    assert session.run.shown_edits() == {}


@pytest.mark.parametrize("way", ["run", "step", "seek", "back"])
def test_a_tick_looks_the_same_whichever_way_it_was_reached(way: str) -> None:
    """The map, the marks of edits and a drawing of both; also after somebody has asked for a digest."""
    begun = setup(density=0.0)
    session = Session(changed(begun, [(3, commands.SetSwitch("gate", True))]))
    match way:
        case "run":
            session.advance(3)
        case "step":
            for _ in range(3):
                session.advance(1)
                session.run.shown_edits()
        case "seek":
            session.seek(3)
        case "back":
            session.advance(4)
            session.run.shown_edits()
            session.seek(3)
    cells = begun.switch_cells["gate"]
    assert not session.run.world.grid.free[list(cells)].any()
    assert session.run.shown_edits() == dict.fromkeys(cells, (3, True))
    session.run.timeline.expectations()
    assert session.run.shown_edits() == dict.fromkeys(cells, (3, True))


def test_marks_of_edits_are_those_of_the_map_although_commands_are_applied_after_a_look() -> None:
    begun = setup(density=0.0)
    session = Session(changed(begun, [(3, commands.SetSwitch("gate", True))]))
    session.run.timeline.advance(3)
    session.changed()
    assert session.run.shown_edits() == {}, "not done yet"
    session.run.timeline.apply_now()
    assert session.run.shown_edits() == dict.fromkeys(begun.switch_cells["gate"], (3, True))


def test_switches_flip_and_are_undone() -> None:
    session = Session(setup(density=0.0))
    turning.flip_switch(session, "gate")
    assert session.run.world.switch_states() == {"gate": True}
    turning.flip_switch(session, "gate")
    assert session.run.world.switch_states() == {"gate": False}
    session.history.undo()
    assert session.run.world.switch_states() == {"gate": True}


def test_all_edits_are_taken_back_by_one_stroke() -> None:
    session = Session(setup())
    before = terrain(session)
    stroke(session, [100, 101], True)
    stroke(session, [130], True)
    edited = terrain(session)
    painting.take_edits_back(session)
    assert terrain(session) == before
    session.history.undo()
    assert terrain(session) == edited


def test_unsaved_edits_are_the_users_alone() -> None:
    session = Session(setup(changes=RandomChanges(1, 10.0)))
    session.advance(5)
    assert not session.has_unsaved_edits
    stroke(session, [100, 101, 102, 120], True)
    assert session.has_unsaved_edits
    session.unsaved.mark_saved()
    assert not session.has_unsaved_edits


# --- starting again -------------------------------------------------------------------------------


def test_reset_gives_the_first_map_or_keeps_the_edited_one() -> None:
    session = Session(setup())
    session.advance(5)
    stroke(session, [100, 101], True)
    agent_edits.set_param(session, session.run.panels[1].key, "weight", 2.5)
    edited = terrain(session)
    session.reset(keeps_map=True)
    assert session.tick == 0 and terrain(session) == edited and done_by_hand(session.run.timeline) == []
    assert session.run.world.walkers[1].params["weight"] == 2.5
    assert all(len(trail) == 1 for trail in session.run.trails.values())
    stroke(session, [130], True)
    session.reset(keeps_map=False)
    assert terrain(session) != edited, "drawn before the run began: it stays"
    assert not session.run.world.grid.is_free(130)
    session.advance(2)
    stroke(session, [131], True)
    session.reset(keeps_map=False)
    assert session.run.world.grid.is_free(131) and not session.run.world.grid.is_free(130)


@pytest.mark.parametrize("how", ["reset", "keep", "start"])
def test_beginning_again_can_be_undone(how: str) -> None:
    session = Session(setup())
    session.advance(5)
    stroke(session, [100, 101], True)
    session.advance(3)
    branching.branch_here(session)
    agent_edits.set_param(session, session.focused_key, "weight", 2.5) if session.focused.spec.param("weight") else None
    session.advance(4)
    states, digests = session.run.tree.states(), [b.timeline.world.digest() for b in session.run.shown_branches]
    shown, focused, begun = list(session.run.shown), session.focused_key, session.run.scenario
    match how:
        case "reset":
            session.reset(keeps_map=False)
        case "keep":
            session.reset(keeps_map=True)
        case "start":
            session.restart_with(start=(5, 0))
    assert session.tick == 0 and len(session.run.tree.branches) == 1 and session.has_unsaved_edits
    assert any("{key:undo}" in message for message in session.told.messages)
    session.advance(7)
    ahead = session.tick
    stroke(session, [int(np.flatnonzero(session.run.world.grid.free)[-3])], True)
    assert session.history.undo() and session.tick == ahead, "first the stroke"
    assert session.history.undo()
    while not session.continue_seek():
        pass
    assert session.run.tree.states() == states and session.run.scenario is begun
    assert [b.timeline.world.digest() for b in session.run.shown_branches] == digests
    assert (session.run.shown, session.focused_key) == (shown, focused)
    assert session.has_unsaved_edits
    while session.history.undo():
        pass
    assert not session.run.timeline.entries() and len(session.run.tree.branches) == 1, (
        "and on through what was done in the run before"
    )


def test_beginning_again_twice_is_undone_twice() -> None:
    session = Session(setup())
    session.advance(5)
    stroke(session, [100, 101], True)
    branching.branch_here(session)
    session.unsaved.mark_saved()
    states = session.run.tree.states()
    session.reset(keeps_map=True)
    session.advance(4)
    session.restart_with(start=(5, 0))
    session.reset(keeps_map=False)
    for _ in range(3):
        assert session.history.undo()
        while not session.continue_seek():
            pass
    assert session.run.tree.states() == states and not session.has_unsaved_edits


def done_in(session: Session) -> list[object]:
    """What is done in each branch, whatever tick it shows."""
    return [(state.number, state.name, state.parent, state.at, state.entries) for state in session.run.tree.states()]


def test_a_change_of_the_script_whose_entries_are_gone_is_undone_without_harm() -> None:
    session = Session(setup())
    session.advance(9)
    before = done_in(session)
    stroke(session, [100], True)
    for deed_of in (partial(script.toggle, session), partial(script.duplicate, session)):
        deed_of(script.deeds(session.run)[0])
    script.move(session, script.deeds(session.run)[0], 5)
    session.seek(2)
    stroke(session, [130], True)  # the future goes to a branch of its own
    after = done_in(session)
    assert len(after) == 2
    while session.history.undo():
        pass
    assert done_in(session) == before
    while session.history.redo():
        pass
    assert done_in(session) == after


@pytest.mark.parametrize(("label", "called"), [("other", "other"), ("", "RTB-WA*")])
def test_an_agent_has_one_name_wherever_it_is_named(label: str, called: str) -> None:
    """In its panel, in the field that renames it, in captions; at ticks before it was named, too."""
    session = Session(replace(setup(density=0.0), agents=(AgentConfig("rtb-wa", "lazy"),)))
    session.advance(5)
    session.do(commands.NameAgent(0, label))
    for tick in (5, 2):
        session.seek(tick)
        key = session.run.panels[0].key
        names = (
            session.run.panels[0].view.label,
            agent_edits.label_of(session, key),
            RunNames(session.run.timeline).agent(0),
        )
        assert names == (called,) * 3


def test_a_moved_goal_is_a_stroke() -> None:
    session = Session(setup(density=0.0))
    goal = session.run.world.goal
    painting.move_goal(session, 100)
    painting.move_goal(session, 55)
    assert session.history.undo() and session.run.world.goal == 100
    assert session.history.undo() and session.run.world.goal == goal and not session.history.undo()
    assert session.history.redo() and session.history.redo() and session.run.world.goal == 55


def test_what_was_done_is_unsaved_whatever_it_was() -> None:
    for deed, is_asked in (
        (lambda s: stroke(s, [100], True), True),
        (lambda s: branching.branch_here(s), True),
        (lambda s: painting.move_goal(s, 55), True),
        (lambda s: s.do(ToGroup("units", MoveGoal(55))), True),
        (lambda s: s.do(ToGroup("units", SetBudget(5, 0))), False),
        (lambda s: agent_edits.set_param(s, PanelKey(0, 1), "weight", 2.5), False),
        (lambda s: agent_edits.add(s, AgentConfig("tba")), True),
        (lambda s: agent_edits.remove(s, PanelKey(0, 1)), True),
        (lambda s: agent_edits.set_budget(s, PanelKey(0, 1), 3), False),
    ):
        session = Session(setup(density=0.0))
        session.advance(9)
        assert not session.has_unsaved_edits and not session.unsaved.is_worth_asking
        deed(session)
        assert session.has_unsaved_edits and session.unsaved.is_worth_asking == is_asked
        session.seek(2)
        assert session.has_unsaved_edits, "also when an earlier tick is shown"
        session.unsaved.mark_saved()
        assert not session.has_unsaved_edits and not session.unsaved.is_worth_asking


@pytest.mark.parametrize("keeps_map", [True, False])
def test_a_run_begins_with_free_ends_whatever_was_drawn_on_them(keeps_map: bool) -> None:
    session = Session(setup(density=0.0))
    painting.paint(session, [70], block=True)
    session.reset(keeps_map=True)
    painting.paint(session, [70], block=False)
    painting.move_goal(session, 70)
    session.advance(3)
    painting.paint(session, [START, 70], block=True)
    assert not session.run.world.grid.free[[START, 70]].any()
    session.reset(keeps_map=keeps_map)
    assert session.run.world.grid.free[[START, 70]].all() and session.run.world.goal == 70
    assert any("is now free" in message for message in session.told.messages)


def test_restart_with_another_start_keeps_map_and_agents() -> None:
    session = Session(setup(density=0.0))
    stroke(session, [100], True)
    session.advance(3)
    session.restart_with(start=(5, 0))
    assert session.tick == 0 and session.run.world.start == 5 and not session.run.world.grid.is_free(100)
    assert [w.position for w in session.run.world.walkers] == [5, 5, 5]


@pytest.mark.parametrize("goes_back", [False, True])
def test_a_run_that_is_put_back_can_be_drawn_before_it_has_arrived(monkeypatch, goes_back: bool) -> None:
    """A saved run, one left by R, one restored after a crash: each is on its way for many frames, and is drawn."""
    monkeypatch.setattr("ui.model.run.SEEK_WORK", 1.0)
    session = Session(setup())
    session.advance(20)
    agent_edits.add(session, AgentConfig("tba", "late"))
    session.advance(20)
    digest, panels = session.run.world.digest(), [panel.key for panel in session.run.panels]
    walked = [session.run.trails[key].cells.tolist() for key in panels]
    session.reset(keeps_map=False)
    session.history.undo()
    assert session.run.is_seeking
    for _ in range(3):
        assert all(panel.key in session.run.trails for panel in session.run.panels)
        session.continue_seek(1.0)
    if goes_back:
        session.begin_seek(0)
        assert all(panel.key in session.run.trails for panel in session.run.panels)
        session.begin_seek(40)
    while not session.continue_seek(1.0):
        pass
    assert session.run.world.digest() == digest
    assert [panel.key for panel in session.run.panels] == panels
    assert [session.run.trails[key].cells.tolist() for key in panels] == walked


def test_a_reset_run_goes_as_the_first_one() -> None:
    session = Session(setup(changes=RandomChanges(3, 10.0)))
    session.advance(30)
    digest = session.run.world.digest()
    session.reset(keeps_map=False)
    session.advance(30)
    assert session.run.world.digest() == digest


def test_a_run_that_nobody_has_touched_begins_again_as_it_was() -> None:
    """Also where a file mixes the agents of its groups: their numbers say which lots they draw."""
    groups = ("left", "right", "", "left", "right")
    agents = [AgentConfig("rtb-wa" if group else "tba", str(i), group=group) for i, group in enumerate(groups)]
    scenario = setup(agents=tuple(agents))
    session = Session(scenario)
    session.advance(5)
    digest = session.run.world.digest()
    session.reset(keeps_map=False)
    assert session.run.scenario == scenario
    session.advance(5)
    assert session.run.world.digest() == digest


SCRIPT = (
    (4, commands.SetSwitch("gate", True)),
    (5, commands.SetParam(1, "weight", 3.0)),
    (5, commands.SetBudget(9, 1)),
    (5, commands.SetBudget(4)),
    (5, commands.NameAgent(1, "hasty")),
    (6, commands.AddAgent(AgentConfig("tba", "late"))),
    (6, commands.RemoveAgent(0)),
    (7, commands.MoveGoal(55)),
    (7, commands.MoveGoal(70, 3)),
)


@pytest.mark.parametrize("keeps_map", [False, True])
def test_what_a_script_has_done_it_does_again_and_not_twice(keeps_map: bool) -> None:
    """To the map, to agents, to who is there: nothing of it is taken for the user's."""
    session = Session(setup(density=0.0, script=SCRIPT))
    session.advance(12)
    digest, names = session.run.world.digest(), [walker.label for walker in session.run.world.walkers]
    session.reset(keeps_map=keeps_map)
    assert session.run.scenario == setup(density=0.0, script=SCRIPT)
    session.advance(12)
    assert session.run.world.digest() == digest and [walker.label for walker in session.run.world.walkers] == names


def test_what_was_drawn_by_hand_stays_whatever_the_script_draws() -> None:
    session = Session(setup(density=0.0, script=SCRIPT))
    session.advance(9)
    stroke(session, [100, 101], True)
    session.reset(keeps_map=True)
    grid = session.run.world.grid
    assert not grid.free[[100, 101]].any() and grid.free[[40, 41, 56]].all()


def test_the_script_finds_its_agents_whoever_was_removed_or_moved() -> None:
    """Agents have other numbers when a run begins again: those of the script go with them."""
    session = Session(setup(density=0.0, script=SCRIPT[1:3]))
    session.advance(2)
    agent_edits.remove(session, PanelKey(0, 0))
    agent_edits.move_panel(session, PanelKey(0, 2), -1)
    session.reset(keeps_map=False)
    session.advance(8)
    assert [(w.spec.key, w.params.get("weight"), w.budget) for w in session.run.world.walkers] == [
        ("tb-gbfs", None, 2),
        ("rtb-wa", 3.0, 9),
    ]
    saved = files.scenario_from_session(session)
    assert parse_scenario(dump_scenario(saved), "saved", BY_KEY).edits == saved.edits


def test_what_the_user_does_to_an_agent_of_the_script_stays() -> None:
    session = Session(setup(density=0.0, script=SCRIPT))
    session.advance(9)
    agent_edits.set_budget(session, PanelKey(0, 3), 5)
    agent_edits.remove(session, PanelKey(0, 1))
    session.reset(keeps_map=False)
    assert [w.spec.key for w in session.run.world.walkers] == ["tba", "tb-gbfs"]
    session.advance(9)
    late = session.run.world.walkers[-1]
    assert [w.spec.key for w in session.run.world.walkers] == ["tb-gbfs", "tba"] and not session.run.world.notes
    assert (late.label, late.budget, session.run.world.goal_of(late)) == ("late", 5, 70)


def test_nobody_is_lost_whose_own_start_was_blocked() -> None:
    own = [AgentConfig("tba", start=(x, 3), goal=(x, 9)) for x in (4, 6, 8)]
    session = Session(replace(setup(density=0.0), agents=(*AGENTS, *own)))
    session.advance(4)
    stroke(session, [3 * SIDE + 4, 3 * SIDE + 5, 9 * SIDE + 8], True)
    session.reset(keeps_map=True)
    assert len(session.run.world.walkers) == 6 and not session.run.world.grid.is_free(3 * SIDE + 5)
    assert (
        "2 start or goal cells of agents were blocked and are now free, so that the run can begin"
        in session.told.messages
    )


# --- agents ---------------------------------------------------------------------------------------


def test_agents_are_added_replaced_and_moved() -> None:
    session = Session(setup())
    assert agent_edits.add(session, AgentConfig("tb-wa", params={"weight": 2.0}))
    assert session.focused and session.focused.spec.key == "tb-wa"
    agent_edits.move_panel(session, session.focused_key, -3)
    assert [panel.view.spec.key for panel in session.run.panels] == ["tb-wa", "tba", "rtb-wa", "tb-gbfs"]
    assert agent_edits.replace_agent(session, session.run.panels[1].key, AgentConfig("tb-gbfs"))
    assert [panel.view.spec.key for panel in session.run.panels] == ["tb-wa", "tb-gbfs", "rtb-wa", "tb-gbfs"]
    assert [config.kind for config in configs_of(session.run)] == ["tb-wa", "tb-gbfs", "rtb-wa", "tb-gbfs"]


def test_an_agent_that_is_not_legal_is_refused_with_its_reasons() -> None:
    session = Session(setup())
    assert not agent_edits.add(session, AgentConfig("tba", budget=1))
    assert not agent_edits.add(session, AgentConfig("nothing"))
    assert len(session.told.messages) >= 2 and len(session.run.world.walkers) == 3


def test_a_parameter_that_is_not_legal_changes_nothing() -> None:
    session = Session(setup())
    walker = session.run.world.walkers[1]
    agent_edits.set_param(session, PanelKey(session.run.front, walker.id), "weight", 0.5)
    assert walker.params["weight"] == 1.5 and "weight" in session.told.messages[-1]
    said = len(done_by_hand(session.run.timeline))
    agent_edits.set_param(session, PanelKey(session.run.front, walker.id), "weight", 1.5)
    assert len(done_by_hand(session.run.timeline)) == said  # no command for what is so already


# --- the same at any pace -------------------------------------------------------------------------

ACTIONS = st.sampled_from(["paint", "free", "switch", "undo", "goal", "budget", "param", "add", "remove", "changes"])


def act(session: Session, action: str, number: int) -> None:
    """Something that a user does; `number` chooses the details."""
    cell = number % (SIDE * SIDE)
    walkers = session.run.world.walkers
    match action:
        case "paint":
            stroke(session, [cell, (cell + 1) % (SIDE * SIDE)], True)
        case "free":
            stroke(session, [cell, (cell + SIDE) % (SIDE * SIDE)], False)
        case "switch":
            turning.flip_switch(session, "gate")
        case "undo":
            session.history.undo()
        case "goal":
            session.do(commands.MoveGoal(cell))
        case "budget":
            session.do(commands.SetBudget(2 + number % 9))
        case "param" if walkers:
            walker = walkers[number % len(walkers)]
            if walker.spec.param("weight"):
                agent_edits.set_param(session, PanelKey(session.run.front, walker.id), "weight", 1.0 + number % 4)
        case "add" if len(walkers) < 5:
            agent_edits.add(session, AgentConfig("tb-wa"))
        case "remove" if len(walkers) > 1:
            session.do(commands.RemoveAgent(walkers[number % len(walkers)].id))
        case "changes":
            session.do(commands.SetChanges(1 + number % 5, float(number % 3 * 5)))


def headless(begun: Scenario, session: Session) -> World:
    """The same run without a window: all commands in the queue, then time."""
    done, ticks = [(entry.tick, entry.command) for entry in session.run.timeline.entries()], session.tick
    grid = Grid(begun.grid.terrain.copy(), begun.grid.movement, begun.grid.name)
    world = World(
        grid,
        begun.start_cell,
        begun.goal_cell,
        BY_KEY,
        budget=begun.budget,
        seed=begun.seed,
        switches=begun.switch_cells,
        random_changes=begun.changes,
    )
    for config in begun.agents:
        world.add(config)
    world.submit_all(done)
    world.advance(ticks)
    world.apply_now()
    return world


@FEW
@given(
    st.lists(st.tuples(st.integers(0, 7), ACTIONS, st.integers(0, 10_000)), max_size=12),
    st.booleans(),
    st.integers(0, 20),
)
def test_the_digest_is_that_of_a_headless_world_with_the_same_commands(
    steps: list[tuple[int, str, int]], changes: bool, seed: int
) -> None:
    begun = setup(
        seed,
        changes=RandomChanges(4, 5.0) if changes else None,
        script=((6, commands.EditCells(blocked=(70, 71))), (9, commands.AddAgent(AgentConfig("tb-wa")))),
    )
    session = Session(begun)
    for ticks, action, number in steps:
        session.advance(ticks)
        act(session, action, number)
    session.advance(5)
    session.run.timeline.apply_now()
    world = headless(begun, session)
    assert world.tick == session.tick
    assert world.digest() == session.run.world.digest()
    assert terrain(session) == world.grid.terrain.tobytes()


@FEW
@given(st.lists(st.integers(1, 40), min_size=1, max_size=12), st.booleans())
def test_the_pace_changes_nothing(paces: list[int], changes: bool) -> None:
    begun = setup(5, changes=RandomChanges(3, 8.0) if changes else None)
    session, straight = Session(begun), Session(begun)
    for pace in paces:
        session.advance(pace)
    straight.advance(sum(paces))
    assert session.tick == straight.tick
    assert session.run.world.digest() == straight.run.world.digest()
    for walker, other in zip(session.run.world.walkers, straight.run.world.walkers, strict=True):
        for name in ("cells", "marks", "expanded", "cost", "revisits"):
            key = PanelKey(0, walker.id)
            mine, its = getattr(session.run.trails[key], name), getattr(straight.run.trails[key], name)
            assert other.id == walker.id
            assert np.array_equal(mine, its), name


@pytest.mark.parametrize("path", files.examples(), ids=lambda path: path.stem)
def test_trails_say_what_the_referee_says(path: object) -> None:
    """For every example, also where agents wait without a path and are woken."""
    session = Session(files.open_any(path).scenario)
    while session.tick < 700 and session.advance(137):
        pass
    for walker in (w for w in session.run.world.walkers if not w.config.group):  # a crowd has one panel
        trail, metrics = session.run.trails[PanelKey(0, walker.id)], session.run.world.metrics(walker)
        assert trail.cells[-1] == walker.position
        assert trail.cost[-1] == pytest.approx(metrics.cost)
        assert trail.expanded[-1] == metrics.expansions
        assert trail.revisits[-1] == metrics.revisits
        assert np.count_nonzero(trail.marks & log.BACK_MOVE) == metrics.back_moves
        ticks = trail.first_tick + len(trail) - 1
        if walker.agent.status is Status.ACTIVE:
            assert ticks == session.tick
        assert ticks <= session.tick
        assert metrics.moves + metrics.waits >= len(trail) - 1


def test_a_woken_agents_trail_is_in_step_with_the_clock() -> None:
    session = Session(files.open_any(EXAMPLES / "no-path.yaml").scenario)
    session.advance(300)
    session.advance(200)
    arrivals = {p.view.label: arrived_at(session.run, p) for p in session.run.panels}
    assert arrivals["waits"] is not None and arrivals["waits"] > 260
    assert max(a for a in arrivals.values() if a) == session.tick


def test_the_trail_of_an_agent_that_a_script_adds_begins_when_it_joins() -> None:
    session = Session(setup(script=((6, commands.AddAgent(AgentConfig("tb-wa"))),)))
    session.advance(10)
    trail = session.run.trails[session.run.panels[-1].key]
    assert trail.first_tick == 6 and len(trail) == 5
    assert trail.cells[0] == START and trail.cells[-1] == session.run.world.walkers[-1].position


def test_the_first_panel_cannot_go_further_to_the_left() -> None:
    session = Session(setup())
    agent_edits.move_panel(session, PanelKey(0, 0), -1)
    assert [panel.key.agent for panel in session.run.panels] == [0, 1, 2] and not session.history.done


def test_a_stroke_done_once_more_is_one_deed_and_its_pieces_are_on_or_off() -> None:
    session = Session(setup(density=0.0))
    stroke(session, [100, 101, 102], True)
    script.duplicate(session, script.deeds(session.run)[0])
    arrive(session)
    assert [(deed.tick, len(deed.entries)) for deed in script.deeds(session.run)] == [(0, 3), (10, 3)]
    last = script.deeds(session.run)[1]
    session.run.timeline.set_enabled(last.ids[0], False)
    arrive(session)
    assert [(len(deed.entries), deed.is_enabled) for deed in script.deeds(session.run)] == [
        (3, True),
        (1, False),
        (2, True),
    ]


def columns_of(trail: Trail) -> list[object]:
    """All that charts, the comparison and its CSV take from a trail."""
    names = ("cells", "marks", "expanded", "cost", "revisits")
    return [trail.first_tick, *(getattr(trail, name).tolist() for name in names)]


def test_a_trail_is_of_the_past_as_it_is_now_also_where_the_same_cells_are_walked() -> None:
    """Charts and their CSV kept the expansions of the run before a command was put into its past, or taken out."""
    corridor = scenario_on(Grid.from_rows(["." * 40]), 0, 39, [AgentConfig("tba", budget=10)])
    session, straight = Session(corridor), Session(corridor)
    session.advance(20)
    before = columns_of(session.run.trails[session.focused_key])
    budget = session.run.timeline.insert(1, commands.SetBudget(30, 0))
    arrive(session)
    straight.advance(1)
    straight.do(commands.SetBudget(30, 0))
    straight.advance(19)
    after = columns_of(session.run.trails[session.focused_key])
    assert after == columns_of(straight.run.trails[straight.focused_key]) != before
    session.run.timeline.delete(budget.id)
    arrive(session)
    assert columns_of(session.run.trails[session.focused_key]) == before


def test_what_is_shown_at_a_tick_does_not_depend_on_what_came_later() -> None:
    """Of an agent that had arrived and was sent on later the comparison said that it arrived at the tick shown."""
    agents = [AgentConfig("tba"), AgentConfig("lrta"), AgentConfig("tba", goal=(29, 0))]
    session = Session(scenario_on(Grid.from_rows(["." * 30]), 0, 5, agents))
    session.advance(9)

    def seen() -> list[object]:
        return [(arrived_at(session.run, p), columns_of(session.run.trails[p.key])) for p in session.run.panels]

    shown = {}
    for tick in range(10):
        session.seek(tick)
        shown[tick] = seen()
    assert [arrived for arrived, _ in shown[9]] == [5, 5, None]
    session.do(commands.MoveGoal(12))
    session.advance(5)
    for tick in range(9):
        session.seek(tick)
        assert seen() == shown[tick]


def test_panels_keep_their_order_where_their_agents_come_and_go() -> None:
    """An agent that took the place of another one stood last after a look at the time before it."""
    session = Session(setup())
    session.advance(10)
    first = [panel.key.agent for panel in session.run.panels]
    agent_edits.replace_agent(session, PanelKey(0, 1), AgentConfig("lrta"))
    replaced = [panel.key.agent for panel in session.run.panels]
    assert first == [0, 1, 2] and replaced == [0, 3, 2]
    for tick, want in ((4, first), (10, replaced)):
        session.seek(tick)
        assert [panel.key.agent for panel in session.run.panels] == want
    agent_edits.move_panel(session, PanelKey(0, 2), -2)
    for tick, want in ((4, [2, 0, 1]), (10, [2, 0, 3])):
        session.seek(tick)
        assert [panel.key.agent for panel in session.run.panels] == want
    session.seek(4)
    session.history.go_to(0)
    arrive(session)
    assert [panel.key.agent for panel in session.run.panels] == first
    session.history.go_to(2)
    session.seek(10)
    assert [panel.key.agent for panel in session.run.panels] == [2, 0, 3]


# --- run until ------------------------------------------------------------------------------------


def first_tick(begun: Scenario, after: int, has_happened: object, most: int = 2000) -> int:
    """The first tick after `after` at which something happens, found tick by tick."""
    session = Session(begun)
    session.advance(after)
    for _ in range(most):
        if not session.advance(1):
            break
        if any(w.rows.size and has_happened(session, w) for w in session.run.world.walkers):
            return session.tick
    raise AssertionError("it does not happen")


def _walked(trail: Trail) -> bool:
    return bool(trail.cells[-1] != trail.cells[-2])


RULES = {
    "back_move": lambda s, w: w.rows[-1].marks & log.BACK_MOVE,
    "arrival": lambda s, w: w.agent.status is Status.AT_GOAL,
    "restart": lambda s, w: w.rows[-1].marks & log.RESTARTED,
    "move": lambda s, w: w.id == s.focused_key.agent and _walked(s.run.trails[PanelKey(0, w.id)]),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("after", [0, 11])
@pytest.mark.parametrize("bulk", [1, 7, 500])
def test_run_until_stops_at_the_right_tick(rule: str, after: int, bulk: int) -> None:
    begun = replace(files.open_any(EXAMPLES / "bridges.yaml").scenario, budget=4)
    expected = first_tick(begun, after, RULES[rule])
    session = Session(begun)
    session.advance(after)
    session.run_until(rule)
    while session.advance(bulk) == bulk and not session.is_stopped_by_rule:
        pass
    assert session.is_stopped_by_rule and session.tick == expected


def test_run_until_looks_at_all_agents_of_a_crowd() -> None:
    """KeyError: only the first of a crowd has a trail."""
    session = Session(files.open_any(EXAMPLES / "crowd-bridge.yaml").scenario)
    session.run_until("restart")
    while session.advance(5) == 5 and not session.is_stopped_by_rule:
        pass
    assert session.is_stopped_by_rule and session.tick > 0


def test_run_until_looks_at_the_next_tick_not_at_the_last() -> None:
    begun = replace(files.open_any(EXAMPLES / "scrubbing.yaml").scenario, budget=1)
    session = Session(begun)
    session.run_until("back_move")
    session.advance(1000)
    first = session.tick
    session.run_until("back_move")
    assert not session.is_stopped_by_rule
    session.advance(1000)
    assert session.tick > first


def test_run_until_a_tick() -> None:
    session = Session(setup(density=0.0))
    session.run_until(None, 9)
    assert session.advance(50) == 9 and session.tick == 9 and session.is_stopped_by_rule
    session.until = None
    assert session.until is None


def test_advance_says_how_many_ticks_passed() -> None:
    session = Session(setup(density=0.0))
    passed = sum(session.advance(7) for _ in range(100))
    assert passed == session.tick and session.run.is_over
    session.run_until("arrival")
    assert session.advance(5) == 0


def test_as_many_ticks_as_fit_into_the_time() -> None:
    session = Session(setup(density=0.0))
    passed = advance_for(session, 0.02)
    assert passed == session.tick > 0


@pytest.mark.parametrize("speed", [1, 30, 2000, AS_FAST_AS_POSSIBLE])
@pytest.mark.parametrize("is_slow", [False, True])
def test_a_run_pauses_where_its_file_says_and_goes_on_from_there(speed: int, is_slow: bool) -> None:
    """However many ticks a frame has; again after going back; a run until a tick stops there as exactly."""
    session = Session(replace(setup(), until=Until(9, "out of moves")))
    player = Player(session, speed)
    player.is_slow_motion = is_slow

    def play() -> list[str]:
        player.play()
        told = []
        for _ in range(2000):
            player.pass_time(1.0 if speed == 1 or is_slow else 1 / 30, 10.0)
            told += [text for text in [player.look_for_the_end()] if text]
            if not player.clock.is_running:
                return told
        raise AssertionError("it never came to its end")

    for tick in (0, 8, 4):
        session.seek(tick)
        assert play() == ["Paused at tick 9: out of moves"] and session.tick == 9 and not session.run.is_over
    session.seek(4)
    assert session.advance(100) == 5, "nor is it passed over by a leap"
    session.run_until(None, 10)
    assert play() == ["Paused at tick 10: tick 10"] and session.tick == 10
    assert not play() and session.run.is_over


def test_the_futures_of_a_split_come_first() -> None:
    session = Session(setup())
    session.advance(3)
    session.focus(PanelKey(0, 1))
    futures = branching.split(session, [{"weight": 1.0}, {"weight": 1.5}, {"weight": 3.0}])
    assert len(session.run.panels) == 9, "one more than fits"
    assert [panel.key for panel in session.run.panels[:3]] == [PanelKey(branch.number, 1) for branch in futures]
    assert session.focused_key == session.run.panels[0].key


# --- the panels that a heat map A - B compares --------------------------------------------------------


def compared_keys(session: Session) -> tuple[int, int]:
    return tuple(session.run.panels[place].key for place in session.compared())


def test_an_agent_is_compared_with_itself_in_the_branch_it_comes_from() -> None:
    session = Session(setup())
    session.advance(4)
    child = branching.branch_here(session).number
    grandchild = branching.branch_here(session).number
    for number, other in ((child, 0), (grandchild, child), (0, child)):
        for agent in range(len(AGENTS)):
            session.focus(PanelKey(number, agent))
            assert compared_keys(session) == (PanelKey(number, agent), PanelKey(other, agent))
    branching.hide(session, child)
    session.focus(PanelKey(grandchild, 1))
    assert compared_keys(session) == (PanelKey(grandchild, 1), PanelKey(0, 1)), "no parent on screen: any other branch"


def test_branches_of_one_parent_are_compared_agent_by_agent() -> None:
    session = Session(setup())
    session.focus(PanelKey(0, 1))
    futures = [branch.number for branch in branching.split(session, [{"weight": 1.0}, {"weight": 2.0}])]
    session.focus(PanelKey(futures[1], 2))
    assert compared_keys(session) == (PanelKey(futures[1], 2), PanelKey(futures[0], 2))


def test_in_a_single_branch_an_agent_is_compared_with_the_next_one() -> None:
    session = Session(setup())
    for agent in range(3):
        session.focus(PanelKey(0, agent))
        assert session.compared() == (agent, (agent + 1) % 3)
    assert session.compared(1) == (1, 2)
    for agent in (0, 1):
        agent_edits.remove(session, PanelKey(0, agent))
    assert session.compared() == (0, 0)
    agent_edits.remove(session, PanelKey(0, 2))
    assert session.compared() == (0, 0)


def test_a_new_agent_of_a_branch_is_compared_with_the_next_panel() -> None:
    """Its parent branch has no such agent."""
    session = Session(setup())
    branching.branch_here(session)
    agent_edits.add(session, AgentConfig("astar"))
    place = session.panel_of(session.focused_key)
    assert session.compared() == (place, (place + 1) % 7)


def test_the_memory_for_going_back_has_a_limit_that_stays_with_later_runs() -> None:
    session = Session(setup())
    session.advance(20)
    assert session.run.tree.store.count
    session.limit_keyframes(1)
    assert session.run.tree.store.budget == 1_000_000
    session.reset(keeps_map=False)
    assert session.run.tree.store.budget == 1_000_000
    session.history.undo()
    session.seek(20)
    assert session.run.tree.store.held <= session.run.tree.store.budget == 1_000_000
    session.limit_keyframes(0)
    assert session.run.tree.store.budget > 100_000_000


# --- settings that are set already ------------------------------------------------------------------


def recorded(session: Session) -> list[Command]:
    return [entry.command for entry in session.run.timeline.entries()]


SAME_AGAIN = {
    "shared budget": lambda s: SetBudget(s.run.world.budget),
    "own budget": lambda s: SetBudget(5, 1),
    "no own budget": lambda s: SetBudget(None, 0),
    "parameter": lambda s: SetParam(0, "weight", s.run.world.walkers[0].params["weight"]),
    "trials": lambda s: SetTrials(s.run.world.trials),
    "milliseconds": lambda s: SetTickMs(s.run.world.tick_ms),
    "random changes": lambda s: SetChanges(s.run.world.random_changes.every, s.run.world.random_changes.rate),
}


@pytest.mark.parametrize("again", SAME_AGAIN.values(), ids=SAME_AGAIN)
def test_a_setting_that_is_set_already_is_not_recorded(again: Callable[[Session], Command]) -> None:
    session = Session(setup(agents=(AgentConfig("tb-wa"), AgentConfig("tb-wa", budget=5))))
    session.advance(20)
    painting.paint(session, [30], block=True)
    session.seek(10)
    before, done = recorded(session), len(session.history.done)
    session.do(again(session))
    assert recorded(session) == before, "what was done later is still there"
    assert len(session.history.done) == done and not session.history.undone


def test_a_knob_that_is_turned_back_in_its_tick_leaves_nothing() -> None:
    session = Session(setup(agents=(AgentConfig("tb-wa"),), budget=4))
    session.advance(7)
    for budget in (5, 9, 30, 4):
        turning.set_budget(session, budget)
    assert recorded(session) == [] and not session.history.done and not session.has_unsaved_edits
    assert session.run.world.budget == 4
    turning.set_budget(session, 8)
    session.advance(1)
    turning.set_budget(session, 4)
    assert len(session.history.done) == 1 and session.run.world.budget == 4, "a tick went by with 8"
    session.history.undo()
    assert session.run.world.budget == 4 and recorded(session) == []


@pytest.mark.parametrize("ends", [(turning.turn_tick_ms, -1), (turning.turn_trials, -1)])
def test_a_knob_at_its_end_records_nothing(ends: tuple[Callable[[Session, int], object], int]) -> None:
    session = Session(setup())
    turn, step = ends
    turn(session, step)
    assert recorded(session) == []


def test_what_all_of_a_group_have_is_not_set_again() -> None:
    session = Session(setup(agents=tuple(AgentConfig("tb-wa", group="units") for _ in range(3))))
    session.do(ToGroup("units", SetBudget(5, 0)))
    session.do(ToGroup("units", SetParam(0, "weight", 2.0)))
    before = recorded(session)
    session.advance(3)
    session.do(ToGroup("units", SetBudget(5, 0)))
    session.do(ToGroup("units", SetParam(0, "weight", 2.0)))
    assert recorded(session) == before
    session.do(ToGroup("units", SetBudget(6, 0)))
    assert len(recorded(session)) == len(before) + 1
