"""The open run: strokes undone as a whole, resets that keep what they say, and the same digests at any pace."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.registry import AGENT_SPECS, AGENT_SPECS_BY_KEY
from files.scenario import Scenario, StopTick, dump_scenario, parse_scenario
from files.shipped_files import SCENARIOS_FOLDER
from sim import world_commands
from sim.agent_api import Status
from sim.changes import RandomChangeSchedule
from sim.grid import Grid
from sim.kernels import log
from sim.world import World
from sim.world_commands import (
    AgentConfig,
    ApplyToGroup,
    Command,
    MoveGoal,
    SetBudget,
    SetMaxTrials,
    SetParam,
    SetRandomChanges,
    SetTickTimeLimit,
)
from tests.runs import changed, scenario_on
from ui.model import agent_edits, branch_actions, cell_edits, opened_files, script_entries, value_adjustments
from ui.model.comparison_columns import arrival_tick
from ui.model.panel_keys import PanelKey
from ui.model.panel_texts import RunNames
from ui.model.player import Player, advance_for_seconds
from ui.model.session import Session
from ui.model.start_over import current_agent_configs, user_commands
from ui.model.step_clock import AS_FAST_AS_POSSIBLE
from ui.model.trails import Trail

from .conftest import random_map_rows

FEW = settings(max_examples=25)
SIDE = 16
START, GOAL = 0, SIDE * SIDE - 1
AGENTS = (AgentConfig("tba"), AgentConfig("rtb-wa", params={"weight": 1.5}), AgentConfig("tb-gbfs", budget=2))


def setup(seed: int = 3, density: float = 0.15, **more: object) -> Scenario:
    rows = random_map_rows(seed, SIDE, SIDE, density)
    rows[0] = "." + rows[0][1:]
    rows[-1] = rows[-1][:-1] + "."
    base = scenario_on(
        Grid.from_text_rows(rows),
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


def finish_seek(session: Session) -> None:
    while not session.continue_seek():
        pass


def stroke(session: Session, cells: list[int], block: bool) -> None:
    session.undo_history.open_entry(is_stroke=True)
    for cell in cells:
        cell_edits.block_or_free_cells(session, [cell], block=block)
    session.undo_history.close_entry()


def test_stroke_is_undone_and_redone_as_a_whole() -> None:
    session = Session(setup())
    before = terrain(session)
    stroke(session, list(range(100, 110)), True)
    after = terrain(session)
    assert after != before and len(session.undo_history.done) == 1
    assert session.undo_history.undo_last_entry() and terrain(session) == before
    assert not session.undo_history.undo_last_entry()
    assert session.undo_history.redo_last_entry() and terrain(session) == after
    assert not session.undo_history.redo_last_entry()


def test_measures_computed_between_ticks_are_shown_at_once() -> None:
    session = Session(setup())
    session.run.world.optimality_tracker.expansion_limit = 0
    session.advance_by_ticks(3)
    assert session.run.panels[0].walker_view.metrics.is_being_measured
    session.run.world.optimality_tracker.expansion_limit = 10_000
    session.run.continue_measuring_optimality()
    metrics = session.run.panels[0].walker_view.metrics
    assert not metrics.is_being_measured and metrics.nonoptimal_moves is not None


def test_new_stroke_clears_the_redo_history() -> None:
    session = Session(setup())
    stroke(session, [100, 101], True)
    session.undo_history.undo_last_entry()
    stroke(session, [120, 121], True)
    assert not session.undo_history.redo_last_entry()


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.lists(st.integers(0, SIDE * SIDE - 1), min_size=1, max_size=12), st.booleans()), max_size=8)
)
def test_undo_and_redo_restore_every_map_of_random_strokes(strokes: list[tuple[list[int], bool]]) -> None:
    session = Session(setup())
    seen = [terrain(session)]
    for cells, block in strokes:
        stroke(session, cells, block)
        if terrain(session) != seen[-1]:
            seen.append(terrain(session))
    for wanted in seen[-2::-1]:
        assert session.undo_history.undo_last_entry() and terrain(session) == wanted
    assert not session.undo_history.undo_last_entry()
    for wanted in seen[1:]:
        assert session.undo_history.redo_last_entry() and terrain(session) == wanted


def test_stroke_without_effect_adds_no_undo_entry() -> None:
    session = Session(setup())
    free = [c for c in range(SIDE * SIDE) if session.run.world.grid.is_free(c)][:5]
    stroke(session, free, False)
    assert session.undo_history.done == [] and user_commands(session.run.focused_branch_timeline) == []


def test_cancelled_stroke_restores_the_map() -> None:
    session = Session(setup())
    before = terrain(session)
    session.undo_history.open_entry(is_stroke=True)
    cell_edits.block_or_free_cells(session, [100, 101, 102], block=True)
    session.undo_history.cancel()
    assert terrain(session) == before and session.undo_history.done == []


def test_undo_restores_the_exact_terrain() -> None:
    grid = Grid.from_text_rows([".STW@O..", "........"])
    session = Session(scenario_on(grid, 8, 15, (), budget=1))
    before = terrain(session)
    stroke(session, list(range(7)), True)
    stroke(session, list(range(7)), False)
    session.undo_history.undo_last_entry()
    session.undo_history.undo_last_entry()
    assert terrain(session) == before


def test_undoing_an_earlier_stroke_equals_a_run_without_it() -> None:
    begun = setup(changes=RandomChangeSchedule(2, 20.0))
    session, other = Session(begun), Session(begun)
    session.advance_by_ticks(7)
    stroke(session, [c for c in range(90, 140) if session.run.world.grid.is_free(c)][:20], True)
    session.advance_by_ticks(8)
    with_stroke = session.run.world.compute_digest()
    session.undo_history.undo_last_entry()
    finish_seek(session)
    other.advance_by_ticks(15)
    assert (
        session.run.world.compute_digest() == other.run.world.compute_digest()
        and session.run.focused_branch_timeline.command_log.entries == ()
    )
    assert session.run.recent_edits_of_branch() == {}, "nothing stays marked on the map"
    session.undo_history.redo_last_entry()
    finish_seek(session)
    assert session.run.world.compute_digest() == with_stroke


def test_edit_under_an_agent_is_refused_with_a_message() -> None:
    session = Session(setup())
    stroke(session, [START, 100], True)
    assert session.run.world.grid.is_free(START) and not session.run.world.grid.is_free(100)
    assert any("stays free" in message for message in session.user_messages.messages_until_next_edit)
    session.undo_history.undo_last_entry()
    assert session.run.world.grid.is_free(100)


def test_edit_marks_expire_after_some_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.model.run.EDIT_SHOWN_TICKS", 4)
    session = Session(setup())
    stroke(session, [100], True)
    for _ in range(5):
        assert session.run.recent_edits_of_branch() == {100: (0, True)}
        session.advance_by_ticks(1)
    assert session.run.recent_edits_of_branch() == {}


@pytest.mark.parametrize("way", ["run", "step", "seek", "back"])
def test_edit_marks_are_the_same_by_run_step_or_seek(way: str) -> None:
    """The map, the marks of edits and a drawing of both; also after somebody has asked for a digest."""
    begun = setup(density=0.0)
    session = Session(changed(begun, [(3, world_commands.SetSwitch("gate", True))]))
    match way:
        case "run":
            session.advance_by_ticks(3)
        case "step":
            for _ in range(3):
                session.advance_by_ticks(1)
                session.run.recent_edits_of_branch()
        case "seek":
            session.seek_to_tick(3)
        case "back":
            session.advance_by_ticks(4)
            session.run.recent_edits_of_branch()
            session.seek_to_tick(3)
    cells = begun.switch_cells["gate"]
    assert not session.run.world.grid.free_mask[list(cells)].any()
    assert session.run.recent_edits_of_branch() == dict.fromkeys(cells, (3, True))
    session.run.focused_branch_timeline.expected_digests()
    assert session.run.recent_edits_of_branch() == dict.fromkeys(cells, (3, True))


def test_edit_marks_update_after_deferred_commands_are_applied() -> None:
    begun = setup(density=0.0)
    session = Session(changed(begun, [(3, world_commands.SetSwitch("gate", True))]))
    session.run.focused_branch_timeline.advance(3)
    session.update_after_change()
    assert session.run.recent_edits_of_branch() == {}, "not done yet"
    session.run.focused_branch_timeline.apply_due_commands()
    assert session.run.recent_edits_of_branch() == dict.fromkeys(begun.switch_cells["gate"], (3, True))


def test_switch_flips_can_be_undone() -> None:
    session = Session(setup(density=0.0))
    value_adjustments.toggle_map_switch(session, "gate")
    assert session.run.world.switch_states() == {"gate": True}
    value_adjustments.toggle_map_switch(session, "gate")
    assert session.run.world.switch_states() == {"gate": False}
    session.undo_history.undo_last_entry()
    assert session.run.world.switch_states() == {"gate": True}


def test_reverting_all_edits_is_one_undo_entry() -> None:
    session = Session(setup())
    before = terrain(session)
    stroke(session, [100, 101], True)
    stroke(session, [130], True)
    edited = terrain(session)
    cell_edits.remove_map_edits(session)
    assert terrain(session) == before
    session.undo_history.undo_last_entry()
    assert terrain(session) == edited


def test_only_user_edits_count_as_unsaved() -> None:
    session = Session(setup(changes=RandomChangeSchedule(1, 10.0)))
    session.advance_by_ticks(5)
    assert not session.has_unsaved_edits
    stroke(session, [100, 101, 102, 120], True)
    assert session.has_unsaved_edits
    session.unsaved_work.mark_saved()
    assert not session.has_unsaved_edits


# --- starting again -------------------------------------------------------------------------------


def test_reset_restores_the_original_map_or_keeps_the_edited_map() -> None:
    session = Session(setup())
    session.advance_by_ticks(5)
    stroke(session, [100, 101], True)
    agent_edits.set_agent_param(session, session.run.panels[1].key, "weight", 2.5)
    edited = terrain(session)
    session.start_over(keeps_map=True)
    assert session.tick == 0 and terrain(session) == edited and user_commands(session.run.focused_branch_timeline) == []
    assert session.run.world.walkers[1].params["weight"] == 2.5
    assert all(len(trail) == 1 for trail in session.run.trail_by_panel.values())
    stroke(session, [130], True)
    session.start_over(keeps_map=False)
    assert terrain(session) != edited, "drawn before the run began: it stays"
    assert not session.run.world.grid.is_free(130)
    session.advance_by_ticks(2)
    stroke(session, [131], True)
    session.start_over(keeps_map=False)
    assert session.run.world.grid.is_free(131) and not session.run.world.grid.is_free(130)


@pytest.mark.parametrize("how", ["reset", "keep", "start"])
def test_reset_can_be_undone(how: str) -> None:
    session = Session(setup())
    session.advance_by_ticks(5)
    stroke(session, [100, 101], True)
    session.advance_by_ticks(3)
    branch_actions.create_branch_at_current_tick(session)
    agent_edits.set_agent_param(session, session.focused_key, "weight", 2.5) if session.focused_walker.spec.param(
        "weight"
    ) else None
    session.advance_by_ticks(4)
    states, digests = (
        session.run.branch_tree.branch_states(),
        [b.timeline.world.compute_digest() for b in session.run.shown_branches],
    )
    shown, focused, begun = list(session.run.shown_branch_numbers), session.focused_key, session.run.scenario
    match how:
        case "reset":
            session.start_over(keeps_map=False)
        case "keep":
            session.start_over(keeps_map=True)
        case "start":
            session.start_over_with_changes(start=(5, 0))
    assert session.tick == 0 and len(session.run.branch_tree.branches) == 1 and session.has_unsaved_edits
    assert any("{key:undo}" in message for message in session.user_messages.messages_until_next_edit)
    session.advance_by_ticks(7)
    ahead = session.tick
    stroke(session, [int(np.flatnonzero(session.run.world.grid.free_mask)[-3])], True)
    assert session.undo_history.undo_last_entry() and session.tick == ahead, "first the stroke"
    assert session.undo_history.undo_last_entry()
    while not session.continue_seek():
        pass
    assert session.run.branch_tree.branch_states() == states and session.run.scenario is begun
    assert [b.timeline.world.compute_digest() for b in session.run.shown_branches] == digests
    assert (session.run.shown_branch_numbers, session.focused_key) == (shown, focused)
    assert session.has_unsaved_edits
    while session.undo_history.undo_last_entry():
        pass
    assert not session.run.focused_branch_timeline.command_log.entries and len(session.run.branch_tree.branches) == 1, (
        "and on through what was done in the run before"
    )


def test_two_resets_are_undone_one_by_one() -> None:
    session = Session(setup())
    session.advance_by_ticks(5)
    stroke(session, [100, 101], True)
    branch_actions.create_branch_at_current_tick(session)
    session.unsaved_work.mark_saved()
    states = session.run.branch_tree.branch_states()
    session.start_over(keeps_map=True)
    session.advance_by_ticks(4)
    session.start_over_with_changes(start=(5, 0))
    session.start_over(keeps_map=False)
    for _ in range(3):
        assert session.undo_history.undo_last_entry()
        while not session.continue_seek():
            pass
    assert session.run.branch_tree.branch_states() == states and not session.has_unsaved_edits


def branch_scripts(session: Session) -> list[object]:
    """What is done in each branch, whatever tick it shows."""
    return [
        (state.number, state.name, state.parent, state.split_tick, state.entries)
        for state in session.run.branch_tree.branch_states()
    ]


def test_undo_and_redo_restore_script_changes_moved_to_a_branch() -> None:
    session = Session(setup())
    session.advance_by_ticks(9)
    before = branch_scripts(session)
    stroke(session, [100], True)
    for deed_of in (
        partial(script_entries.toggle_script_entry, session),
        partial(script_entries.duplicate_script_entry, session),
    ):
        deed_of(script_entries.script_entries(session.run)[0])
    script_entries.move_script_entry(session, script_entries.script_entries(session.run)[0], 5)
    session.seek_to_tick(2)
    stroke(session, [130], True)  # the future goes to a branch of its own
    after = branch_scripts(session)
    assert len(after) == 2
    while session.undo_history.undo_last_entry():
        pass
    assert branch_scripts(session) == before
    while session.undo_history.redo_last_entry():
        pass
    assert branch_scripts(session) == after


@pytest.mark.parametrize(("label", "called"), [("other", "other"), ("", "RTB-WA*")])
def test_agent_has_the_same_name_everywhere(label: str, called: str) -> None:
    """In its panel, in the field that renames it, in captions; at ticks before it was named, too."""
    session = Session(replace(setup(density=0.0), agents=(AgentConfig("rtb-wa", "lazy"),)))
    session.advance_by_ticks(5)
    session.submit_command(world_commands.RenameAgent(0, label))
    for tick in (5, 2):
        session.seek_to_tick(tick)
        key = session.run.panels[0].key
        names = (
            session.run.panels[0].walker_view.label,
            agent_edits.agent_label(session, key),
            RunNames(session.run.focused_branch_timeline).agent_name(0),
        )
        assert names == (called,) * 3


def test_goal_moves_can_be_undone_and_redone() -> None:
    session = Session(setup(density=0.0))
    goal = session.run.world.goal
    cell_edits.move_shared_goal(session, 100)
    cell_edits.move_shared_goal(session, 55)
    assert session.undo_history.undo_last_entry() and session.run.world.goal == 100
    assert (
        session.undo_history.undo_last_entry()
        and session.run.world.goal == goal
        and not session.undo_history.undo_last_entry()
    )
    assert (
        session.undo_history.redo_last_entry()
        and session.undo_history.redo_last_entry()
        and session.run.world.goal == 55
    )


def test_every_kind_of_edit_marks_the_session_as_unsaved() -> None:
    for deed, is_asked in (
        (lambda s: stroke(s, [100], True), True),
        (lambda s: branch_actions.create_branch_at_current_tick(s), True),
        (lambda s: cell_edits.move_shared_goal(s, 55), True),
        (lambda s: s.submit_command(ApplyToGroup("units", MoveGoal(55))), True),
        (lambda s: s.submit_command(ApplyToGroup("units", SetBudget(5, 0))), False),
        (lambda s: agent_edits.set_agent_param(s, PanelKey(0, 1), "weight", 2.5), False),
        (lambda s: agent_edits.add_agent(s, AgentConfig("tba")), True),
        (lambda s: agent_edits.remove_agent(s, PanelKey(0, 1)), True),
        (lambda s: agent_edits.set_agent_budget(s, PanelKey(0, 1), 3), False),
    ):
        session = Session(setup(density=0.0))
        session.advance_by_ticks(9)
        assert not session.has_unsaved_edits and not session.unsaved_work.has_work_worth_saving
        deed(session)
        assert session.has_unsaved_edits and session.unsaved_work.has_work_worth_saving == is_asked
        session.seek_to_tick(2)
        assert session.has_unsaved_edits, "also when an earlier tick is shown"
        session.unsaved_work.mark_saved()
        assert not session.has_unsaved_edits and not session.unsaved_work.has_work_worth_saving


@pytest.mark.parametrize("keeps_map", [True, False])
def test_reset_frees_a_blocked_start_and_goal(keeps_map: bool) -> None:
    session = Session(setup(density=0.0))
    cell_edits.block_or_free_cells(session, [70], block=True)
    session.start_over(keeps_map=True)
    cell_edits.block_or_free_cells(session, [70], block=False)
    cell_edits.move_shared_goal(session, 70)
    session.advance_by_ticks(3)
    cell_edits.block_or_free_cells(session, [START, 70], block=True)
    assert not session.run.world.grid.free_mask[[START, 70]].any()
    session.start_over(keeps_map=keeps_map)
    assert session.run.world.grid.free_mask[[START, 70]].all() and session.run.world.goal == 70
    assert any("is now free" in message for message in session.user_messages.messages_until_next_edit)


def test_restart_with_a_new_start_keeps_map_and_agents() -> None:
    session = Session(setup(density=0.0))
    stroke(session, [100], True)
    session.advance_by_ticks(3)
    session.start_over_with_changes(start=(5, 0))
    assert session.tick == 0 and session.run.world.start == 5 and not session.run.world.grid.is_free(100)
    assert [w.position for w in session.run.world.walkers] == [5, 5, 5]


@pytest.mark.parametrize("goes_back", [False, True])
def test_restored_run_can_be_drawn_during_its_seek(monkeypatch, goes_back: bool) -> None:
    """A saved run, one left by R, one restored after a crash: each is on its way for many frames, and is drawn."""
    monkeypatch.setattr("ui.model.run.SEEK_WORK", 1.0)
    session = Session(setup())
    session.advance_by_ticks(20)
    agent_edits.add_agent(session, AgentConfig("tba", "late"))
    session.advance_by_ticks(20)
    digest, panels = session.run.world.compute_digest(), [panel.key for panel in session.run.panels]
    walked = [session.run.trail_by_panel[key].cells.tolist() for key in panels]
    session.start_over(keeps_map=False)
    session.undo_history.undo_last_entry()
    assert session.run.is_seeking
    for _ in range(3):
        assert all(panel.key in session.run.trail_by_panel for panel in session.run.panels)
        session.continue_seek(1.0)
    if goes_back:
        session.begin_seek(0)
        assert all(panel.key in session.run.trail_by_panel for panel in session.run.panels)
        session.begin_seek(40)
    while not session.continue_seek(1.0):
        pass
    assert session.run.world.compute_digest() == digest
    assert [panel.key for panel in session.run.panels] == panels
    assert [session.run.trail_by_panel[key].cells.tolist() for key in panels] == walked


def test_reset_run_has_the_same_digest() -> None:
    session = Session(setup(changes=RandomChangeSchedule(3, 10.0)))
    session.advance_by_ticks(30)
    digest = session.run.world.compute_digest()
    session.start_over(keeps_map=False)
    session.advance_by_ticks(30)
    assert session.run.world.compute_digest() == digest


def test_reset_of_an_unedited_run_keeps_the_scenario() -> None:
    """Also where a file mixes the agents of its groups: their numbers say which lots they draw."""
    groups = ("left", "right", "", "left", "right")
    agents = [AgentConfig("rtb-wa" if group else "tba", str(i), group=group) for i, group in enumerate(groups)]
    scenario = setup(agents=tuple(agents))
    session = Session(scenario)
    session.advance_by_ticks(5)
    digest = session.run.world.compute_digest()
    session.start_over(keeps_map=False)
    assert session.run.scenario == scenario
    session.advance_by_ticks(5)
    assert session.run.world.compute_digest() == digest


SCRIPT = (
    (4, world_commands.SetSwitch("gate", True)),
    (5, world_commands.SetParam(1, "weight", 3.0)),
    (5, world_commands.SetBudget(9, 1)),
    (5, world_commands.SetBudget(4)),
    (5, world_commands.RenameAgent(1, "hasty")),
    (6, world_commands.AddAgent(AgentConfig("tba", "late"))),
    (6, world_commands.RemoveAgent(0)),
    (7, world_commands.MoveGoal(55)),
    (7, world_commands.MoveGoal(70, 3)),
)


@pytest.mark.parametrize("keeps_map", [False, True])
def test_reset_replays_the_script_once(keeps_map: bool) -> None:
    """To the map, to agents, to who is there: nothing of it is taken for the user's."""
    session = Session(setup(density=0.0, script=SCRIPT))
    session.advance_by_ticks(12)
    digest, names = session.run.world.compute_digest(), [walker.label for walker in session.run.world.walkers]
    session.start_over(keeps_map=keeps_map)
    assert session.run.scenario == setup(density=0.0, script=SCRIPT)
    session.advance_by_ticks(12)
    assert (
        session.run.world.compute_digest() == digest and [walker.label for walker in session.run.world.walkers] == names
    )


def test_reset_keeps_manual_edits_but_not_scripted_ones() -> None:
    session = Session(setup(density=0.0, script=SCRIPT))
    session.advance_by_ticks(9)
    stroke(session, [100, 101], True)
    session.start_over(keeps_map=True)
    grid = session.run.world.grid
    assert not grid.free_mask[[100, 101]].any() and grid.free_mask[[40, 41, 56]].all()


def test_script_refers_to_its_agents_after_removal_and_reordering() -> None:
    """Agents have other numbers when a run begins again: those of the script go with them."""
    session = Session(setup(density=0.0, script=SCRIPT[1:3]))
    session.advance_by_ticks(2)
    agent_edits.remove_agent(session, PanelKey(0, 0))
    agent_edits.move_panel_by_positions(session, PanelKey(0, 2), -1)
    session.start_over(keeps_map=False)
    session.advance_by_ticks(8)
    assert [(w.spec.key, w.params.get("weight"), w.budget) for w in session.run.world.walkers] == [
        ("tb-gbfs", None, 2),
        ("rtb-wa", 3.0, 9),
    ]
    saved = opened_files.scenario_from_session(session)
    assert parse_scenario(dump_scenario(saved), "saved", AGENT_SPECS_BY_KEY).timed_commands == saved.timed_commands


def test_reset_keeps_user_changes_to_a_scripted_agent() -> None:
    session = Session(setup(density=0.0, script=SCRIPT))
    session.advance_by_ticks(9)
    agent_edits.set_agent_budget(session, PanelKey(0, 3), 5)
    agent_edits.remove_agent(session, PanelKey(0, 1))
    session.start_over(keeps_map=False)
    assert [w.spec.key for w in session.run.world.walkers] == ["tba", "tb-gbfs"]
    session.advance_by_ticks(9)
    late = session.run.world.walkers[-1]
    assert [w.spec.key for w in session.run.world.walkers] == ["tb-gbfs", "tba"] and not session.run.world.messages
    assert (late.label, late.budget, session.run.world.goal_of_walker(late)) == ("late", 5, 70)


def test_reset_frees_blocked_own_starts_and_goals_of_agents() -> None:
    own = [AgentConfig("tba", start=(x, 3), goal=(x, 9)) for x in (4, 6, 8)]
    session = Session(replace(setup(density=0.0), agents=(*AGENTS, *own)))
    session.advance_by_ticks(4)
    stroke(session, [3 * SIDE + 4, 3 * SIDE + 5, 9 * SIDE + 8], True)
    session.start_over(keeps_map=True)
    assert len(session.run.world.walkers) == 6 and not session.run.world.grid.is_free(3 * SIDE + 5)
    assert (
        "2 start or goal cells of agents were blocked and are now free, so that the run can begin"
        in session.user_messages.messages_until_next_edit
    )


# --- agents ---------------------------------------------------------------------------------------


def test_agents_can_be_added_replaced_and_reordered() -> None:
    session = Session(setup())
    assert agent_edits.add_agent(session, AgentConfig("tb-wa", params={"weight": 2.0}))
    assert session.focused_walker and session.focused_walker.spec.key == "tb-wa"
    agent_edits.move_panel_by_positions(session, session.focused_key, -3)
    assert [panel.walker_view.spec.key for panel in session.run.panels] == ["tb-wa", "tba", "rtb-wa", "tb-gbfs"]
    assert agent_edits.replace_agent(session, session.run.panels[1].key, AgentConfig("tb-gbfs"))
    assert [panel.walker_view.spec.key for panel in session.run.panels] == ["tb-wa", "tb-gbfs", "rtb-wa", "tb-gbfs"]
    assert [config.kind for config in current_agent_configs(session.run)] == ["tb-wa", "tb-gbfs", "rtb-wa", "tb-gbfs"]


@pytest.mark.parametrize("step", [1, -1])
def test_cycling_replaces_an_agent_by_the_next_algorithm_of_the_registry(step: int) -> None:
    session = Session(setup())
    key = session.run.panels[1].key
    agent_edits.set_agent_budget(session, key, 40)
    before = session.run.panels[1].walker_view.spec
    value_adjustments.cycle_agent_algorithm(session, key, step)
    panel = session.run.panels[1]
    assert panel.walker_view.spec is AGENT_SPECS[(AGENT_SPECS.index(before) + step) % len(AGENT_SPECS)]
    walker = session.run.walker_of_panel(panel.key)
    assert walker is not None and walker.budget == 40 and len(session.run.panels) == 3
    value_adjustments.cycle_agent_algorithm(session, panel.key, -step)
    assert session.run.panels[1].walker_view.spec is before


def test_agent_is_renamed_in_the_branch_of_its_panel_which_gets_the_focus() -> None:
    session = Session(setup())
    other = branch_actions.create_branch_at_current_tick(session).number
    agent = session.run.panels[0].key.agent
    here, there = PanelKey(0, agent), PanelKey(other, agent)
    session.focus_panel(there)
    agent_edits.rename_agent(session, here, "careful")
    assert session.focused_key == here
    assert [agent_edits.agent_label(session, key) for key in (here, there)] == ["careful", "TBA*"]


def test_invalid_agent_is_refused_with_reasons() -> None:
    session = Session(setup())
    assert not agent_edits.add_agent(session, AgentConfig("tba", budget=1))
    assert not agent_edits.add_agent(session, AgentConfig("nothing"))
    assert len(session.user_messages.messages_until_next_edit) >= 2 and len(session.run.world.walkers) == 3


def test_invalid_parameter_is_refused_with_a_message() -> None:
    session = Session(setup())
    walker = session.run.world.walkers[1]
    agent_edits.set_agent_param(session, PanelKey(session.run.focused_branch_number, walker.id), "weight", 0.5)
    assert walker.params["weight"] == 1.5 and "weight" in session.user_messages.messages_until_next_edit[-1]
    said = len(user_commands(session.run.focused_branch_timeline))
    agent_edits.set_agent_param(session, PanelKey(session.run.focused_branch_number, walker.id), "weight", 1.5)
    assert len(user_commands(session.run.focused_branch_timeline)) == said  # no command for what is so already


# --- the same at any pace -------------------------------------------------------------------------

ACTIONS = st.sampled_from(["paint", "free", "switch", "undo", "goal", "budget", "param", "add", "remove", "changes"])


def apply_user_action(session: Session, action: str, number: int) -> None:
    """Something that a user does; `number` chooses the details."""
    cell = number % (SIDE * SIDE)
    walkers = session.run.world.walkers
    match action:
        case "paint":
            stroke(session, [cell, (cell + 1) % (SIDE * SIDE)], True)
        case "free":
            stroke(session, [cell, (cell + SIDE) % (SIDE * SIDE)], False)
        case "switch":
            value_adjustments.toggle_map_switch(session, "gate")
        case "undo":
            session.undo_history.undo_last_entry()
        case "goal":
            session.submit_command(world_commands.MoveGoal(cell))
        case "budget":
            session.submit_command(world_commands.SetBudget(2 + number % 9))
        case "param" if walkers:
            walker = walkers[number % len(walkers)]
            if walker.spec.param("weight"):
                agent_edits.set_agent_param(
                    session, PanelKey(session.run.focused_branch_number, walker.id), "weight", 1.0 + number % 4
                )
        case "add" if len(walkers) < 5:
            agent_edits.add_agent(session, AgentConfig("tb-wa"))
        case "remove" if len(walkers) > 1:
            session.submit_command(world_commands.RemoveAgent(walkers[number % len(walkers)].id))
        case "changes":
            session.submit_command(world_commands.SetRandomChanges(1 + number % 5, float(number % 3 * 5)))


def run_headless(begun: Scenario, session: Session) -> World:
    """The same run without a window: all commands in the queue, then time."""
    done, ticks = (
        [(entry.tick, entry.command) for entry in session.run.focused_branch_timeline.command_log.entries],
        session.tick,
    )
    grid = Grid(begun.grid.terrain.copy(), begun.grid.movement, begun.grid.name)
    world = World(
        grid,
        begun.start_cell,
        begun.goal_cell,
        AGENT_SPECS_BY_KEY,
        budget=begun.budget,
        seed=begun.seed,
        switches=begun.switch_cells,
        random_changes=begun.changes,
    )
    for config in begun.agents:
        world.add(config)
    world.queue_commands(done)
    world.advance(ticks)
    world.apply_due_changes()
    return world


@FEW
@given(
    st.lists(st.tuples(st.integers(0, 7), ACTIONS, st.integers(0, 10_000)), max_size=12),
    st.booleans(),
    st.integers(0, 20),
)
def test_session_digest_equals_a_headless_run_of_its_commands(
    steps: list[tuple[int, str, int]], changes: bool, seed: int
) -> None:
    begun = setup(
        seed,
        changes=RandomChangeSchedule(4, 5.0) if changes else None,
        script=(
            (6, world_commands.EditCells(blocked_cells=(70, 71))),
            (9, world_commands.AddAgent(AgentConfig("tb-wa"))),
        ),
    )
    session = Session(begun)
    for ticks, action, number in steps:
        session.advance_by_ticks(ticks)
        apply_user_action(session, action, number)
    session.advance_by_ticks(5)
    session.run.focused_branch_timeline.apply_due_commands()
    world = run_headless(begun, session)
    assert world.tick == session.tick
    assert world.compute_digest() == session.run.world.compute_digest()
    assert terrain(session) == world.grid.terrain.tobytes()


@FEW
@given(st.lists(st.integers(1, 40), min_size=1, max_size=12), st.booleans())
def test_digest_and_trails_are_independent_of_the_pace(paces: list[int], changes: bool) -> None:
    begun = setup(5, changes=RandomChangeSchedule(3, 8.0) if changes else None)
    session, straight = Session(begun), Session(begun)
    for pace in paces:
        session.advance_by_ticks(pace)
    straight.advance_by_ticks(sum(paces))
    assert session.tick == straight.tick
    assert session.run.world.compute_digest() == straight.run.world.compute_digest()
    for walker, other in zip(session.run.world.walkers, straight.run.world.walkers, strict=True):
        for name in ("cells", "marks", "expanded", "total_costs", "revisit_counts"):
            key = PanelKey(0, walker.id)
            mine, its = getattr(session.run.trail_by_panel[key], name), getattr(straight.run.trail_by_panel[key], name)
            assert other.id == walker.id
            assert np.array_equal(mine, its), name


@pytest.mark.parametrize("path", opened_files.example_files(), ids=lambda path: path.stem)
def test_trails_match_the_metrics_of_the_referee(path: object) -> None:
    """For every example, also where agents wait without a path and are woken."""
    session = Session(opened_files.open_any_file(path).scenario)
    while session.tick < 700 and session.advance_by_ticks(137):
        pass
    for walker in (w for w in session.run.world.walkers if not w.config.group):  # a crowd has one panel
        trail, metrics = session.run.trail_by_panel[PanelKey(0, walker.id)], session.run.world.metrics_of_walker(walker)
        assert trail.cells[-1] == walker.position
        assert trail.total_costs[-1] == pytest.approx(metrics.cost)
        assert trail.expanded[-1] == metrics.expansions
        assert trail.revisit_counts[-1] == metrics.revisits
        assert np.count_nonzero(trail.marks & log.BACK_MOVE) == metrics.back_moves
        ticks = trail.first_tick + len(trail) - 1
        if walker.agent.status is Status.ACTIVE:
            assert ticks == session.tick
        assert ticks <= session.tick
        assert metrics.moves + metrics.waits >= len(trail) - 1


def test_trail_of_a_woken_agent_is_aligned_with_ticks() -> None:
    session = Session(opened_files.open_any_file(SCENARIOS_FOLDER / "no-path.yaml").scenario)
    session.advance_by_ticks(300)
    session.advance_by_ticks(200)
    arrivals = {p.walker_view.label: arrival_tick(session.run, p) for p in session.run.panels}
    assert arrivals["waits"] is not None and arrivals["waits"] > 260
    assert max(a for a in arrivals.values() if a) == session.tick


def test_trail_of_an_added_agent_begins_at_its_first_tick() -> None:
    session = Session(setup(script=((6, world_commands.AddAgent(AgentConfig("tb-wa"))),)))
    session.advance_by_ticks(10)
    trail = session.run.trail_by_panel[session.run.panels[-1].key]
    assert trail.first_tick == 6 and len(trail) == 5
    assert trail.cells[0] == START and trail.cells[-1] == session.run.world.walkers[-1].position


def test_first_panel_cannot_be_moved_left() -> None:
    session = Session(setup())
    agent_edits.move_panel_by_positions(session, PanelKey(0, 0), -1)
    assert [panel.key.agent for panel in session.run.panels] == [0, 1, 2] and not session.undo_history.done


def test_duplicated_stroke_is_one_entry_until_a_piece_is_disabled() -> None:
    session = Session(setup(density=0.0))
    stroke(session, [100, 101, 102], True)
    script_entries.duplicate_script_entry(session, script_entries.script_entries(session.run)[0])
    finish_seek(session)
    assert [(deed.tick, len(deed.log_entries)) for deed in script_entries.script_entries(session.run)] == [
        (0, 3),
        (10, 3),
    ]
    last = script_entries.script_entries(session.run)[1]
    session.run.focused_branch_timeline.set_command_enabled(last.log_entry_ids[0], False)
    finish_seek(session)
    assert [(len(deed.log_entries), deed.is_enabled) for deed in script_entries.script_entries(session.run)] == [
        (3, True),
        (1, False),
        (2, True),
    ]


def trail_columns(trail: Trail) -> list[object]:
    """All that charts, the comparison and its CSV take from a trail."""
    names = ("cells", "marks", "expanded", "total_costs", "revisit_counts")
    return [trail.first_tick, *(getattr(trail, name).tolist() for name in names)]


def test_trail_is_updated_after_an_edit_that_keeps_the_cells() -> None:
    """Charts and their CSV kept the expansions of the run before a command was put into its past, or taken out."""
    corridor = scenario_on(Grid.from_text_rows(["." * 40]), 0, 39, [AgentConfig("tba", budget=10)])
    session, straight = Session(corridor), Session(corridor)
    session.advance_by_ticks(20)
    before = trail_columns(session.run.trail_by_panel[session.focused_key])
    budget = session.run.focused_branch_timeline.insert_command(1, world_commands.SetBudget(30, 0))
    finish_seek(session)
    straight.advance_by_ticks(1)
    straight.submit_command(world_commands.SetBudget(30, 0))
    straight.advance_by_ticks(19)
    after = trail_columns(session.run.trail_by_panel[session.focused_key])
    assert after == trail_columns(straight.run.trail_by_panel[straight.focused_key]) != before
    session.run.focused_branch_timeline.delete_command(budget.id)
    finish_seek(session)
    assert trail_columns(session.run.trail_by_panel[session.focused_key]) == before


def test_arrivals_and_trails_at_a_tick_ignore_later_ticks() -> None:
    """Of an agent that had arrived and was sent on later the comparison said that it arrived at the tick shown."""
    agents = [AgentConfig("tba"), AgentConfig("lrta"), AgentConfig("tba", goal=(29, 0))]
    session = Session(scenario_on(Grid.from_text_rows(["." * 30]), 0, 5, agents))
    session.advance_by_ticks(9)

    def seen() -> list[object]:
        return [
            (arrival_tick(session.run, p), trail_columns(session.run.trail_by_panel[p.key])) for p in session.run.panels
        ]

    shown = {}
    for tick in range(10):
        session.seek_to_tick(tick)
        shown[tick] = seen()
    assert [arrived for arrived, _ in shown[9]] == [5, 5, None]
    session.submit_command(world_commands.MoveGoal(12))
    session.advance_by_ticks(5)
    for tick in range(9):
        session.seek_to_tick(tick)
        assert seen() == shown[tick]


def test_panel_order_survives_seeks_and_replaced_agents() -> None:
    """An agent that took the place of another one stood last after a look at the time before it."""
    session = Session(setup())
    session.advance_by_ticks(10)
    first = [panel.key.agent for panel in session.run.panels]
    agent_edits.replace_agent(session, PanelKey(0, 1), AgentConfig("lrta"))
    replaced = [panel.key.agent for panel in session.run.panels]
    assert first == [0, 1, 2] and replaced == [0, 3, 2]
    for tick, want in ((4, first), (10, replaced)):
        session.seek_to_tick(tick)
        assert [panel.key.agent for panel in session.run.panels] == want
    agent_edits.move_panel_by_positions(session, PanelKey(0, 2), -2)
    for tick, want in ((4, [2, 0, 1]), (10, [2, 0, 3])):
        session.seek_to_tick(tick)
        assert [panel.key.agent for panel in session.run.panels] == want
    session.seek_to_tick(4)
    session.undo_history.go_to_history_entry(0)
    finish_seek(session)
    assert [panel.key.agent for panel in session.run.panels] == first
    session.undo_history.go_to_history_entry(2)
    session.seek_to_tick(10)
    assert [panel.key.agent for panel in session.run.panels] == [2, 0, 3]


# --- run until ------------------------------------------------------------------------------------


def first_tick(begun: Scenario, after: int, has_happened: object, most: int = 2000) -> int:
    """The first tick after `after` at which something happens, found tick by tick."""
    session = Session(begun)
    session.advance_by_ticks(after)
    for _ in range(most):
        if not session.advance_by_ticks(1):
            break
        if any(w.log_rows.size and has_happened(session, w) for w in session.run.world.walkers):
            return session.tick
    raise AssertionError("it does not happen")


def _walked(trail: Trail) -> bool:
    return bool(trail.cells[-1] != trail.cells[-2])


RULES = {
    "back_move": lambda s, w: w.log_rows[-1].marks & log.BACK_MOVE,
    "arrival": lambda s, w: w.agent.status is Status.AT_GOAL,
    "restart": lambda s, w: w.log_rows[-1].marks & log.RESTARTED,
    "move": lambda s, w: w.id == s.focused_key.agent and _walked(s.run.trail_by_panel[PanelKey(0, w.id)]),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("after", [0, 11])
@pytest.mark.parametrize("bulk", [1, 7, 500])
def test_run_until_stops_at_the_right_tick(rule: str, after: int, bulk: int) -> None:
    begun = replace(opened_files.open_any_file(SCENARIOS_FOLDER / "bridges.yaml").scenario, budget=4)
    expected = first_tick(begun, after, RULES[rule])
    session = Session(begun)
    session.advance_by_ticks(after)
    session.set_stop_condition(rule)
    while session.advance_by_ticks(bulk) == bulk and not session.is_stop_condition_met:
        pass
    assert session.is_stop_condition_met and session.tick == expected


def test_run_until_checks_all_agents_of_a_crowd() -> None:
    """KeyError: only the first of a crowd has a trail."""
    session = Session(opened_files.open_any_file(SCENARIOS_FOLDER / "crowd-bridge.yaml").scenario)
    session.set_stop_condition("restart")
    while session.advance_by_ticks(5) == 5 and not session.is_stop_condition_met:
        pass
    assert session.is_stop_condition_met and session.tick > 0


def test_run_until_ignores_the_current_tick() -> None:
    begun = replace(opened_files.open_any_file(SCENARIOS_FOLDER / "scrubbing.yaml").scenario, budget=1)
    session = Session(begun)
    session.set_stop_condition("back_move")
    session.advance_by_ticks(1000)
    first = session.tick
    session.set_stop_condition("back_move")
    assert not session.is_stop_condition_met
    session.advance_by_ticks(1000)
    assert session.tick > first


def test_run_until_stops_at_a_given_tick() -> None:
    session = Session(setup(density=0.0))
    session.set_stop_condition(None, 9)
    assert session.advance_by_ticks(50) == 9 and session.tick == 9 and session.is_stop_condition_met
    session.stop_condition = None
    assert session.stop_condition is None


def test_advance_returns_the_number_of_ticks() -> None:
    session = Session(setup(density=0.0))
    passed = sum(session.advance_by_ticks(7) for _ in range(100))
    assert passed == session.tick and session.run.is_over
    session.set_stop_condition("arrival")
    assert session.advance_by_ticks(5) == 0


def test_advance_for_returns_the_ticks_that_fit_the_time() -> None:
    session = Session(setup(density=0.0))
    passed = advance_for_seconds(session, 0.02)
    assert passed == session.tick > 0


@pytest.mark.parametrize("speed", [1, 30, 2000, AS_FAST_AS_POSSIBLE])
@pytest.mark.parametrize("is_slow", [False, True])
def test_run_pauses_at_the_tick_of_its_scenario_and_continues(speed: int, is_slow: bool) -> None:
    """However many ticks a frame has; again after going back; a run until a tick stops there as exactly."""
    session = Session(replace(setup(), stop_tick=StopTick(9, "out of moves")))
    player = Player(session, speed)
    player.is_slow_motion = is_slow

    def play() -> list[str]:
        player.play()
        told = []
        for _ in range(2000):
            player.update_frame(1.0 if speed == 1 or is_slow else 1 / 30, 10.0)
            told += [text for text in [player.pause_if_run_ended()] if text]
            if not player.step_clock.is_running:
                return told
        raise AssertionError("it never came to its end")

    for tick in (0, 8, 4):
        session.seek_to_tick(tick)
        assert play() == ["Paused at tick 9: out of moves"] and session.tick == 9 and not session.run.is_over
    session.seek_to_tick(4)
    assert session.advance_by_ticks(100) == 5, "nor is it passed over by a leap"
    session.set_stop_condition(None, 10)
    assert play() == ["Paused at tick 10: tick 10"] and session.tick == 10
    assert not play() and session.run.is_over


def test_split_branches_are_shown_first() -> None:
    session = Session(setup())
    session.advance_by_ticks(3)
    session.focus_panel(PanelKey(0, 1))
    futures = branch_actions.split_into_variants(session, [{"weight": 1.0}, {"weight": 1.5}, {"weight": 3.0}])
    assert len(session.run.panels) == 9, "one more than fits"
    assert [panel.key for panel in session.run.panels[:3]] == [PanelKey(branch.number, 1) for branch in futures]
    assert session.focused_key == session.run.panels[0].key


# --- the panels that a heat map A - B compares --------------------------------------------------------


def compared_keys(session: Session) -> tuple[int, int]:
    return tuple(session.run.panels[place].key for place in session.compared_panel_indices())


def test_agent_is_compared_with_itself_in_the_parent_branch() -> None:
    session = Session(setup())
    session.advance_by_ticks(4)
    child = branch_actions.create_branch_at_current_tick(session).number
    grandchild = branch_actions.create_branch_at_current_tick(session).number
    for number, other in ((child, 0), (grandchild, child), (0, child)):
        for agent in range(len(AGENTS)):
            session.focus_panel(PanelKey(number, agent))
            assert compared_keys(session) == (PanelKey(number, agent), PanelKey(other, agent))
    branch_actions.hide_branch(session, child)
    session.focus_panel(PanelKey(grandchild, 1))
    assert compared_keys(session) == (PanelKey(grandchild, 1), PanelKey(0, 1)), "no parent on screen: any other branch"


def test_agent_is_compared_with_itself_in_a_sibling_branch() -> None:
    session = Session(setup())
    session.focus_panel(PanelKey(0, 1))
    futures = [
        branch.number for branch in branch_actions.split_into_variants(session, [{"weight": 1.0}, {"weight": 2.0}])
    ]
    session.focus_panel(PanelKey(futures[1], 2))
    assert compared_keys(session) == (PanelKey(futures[1], 2), PanelKey(futures[0], 2))


def test_agent_of_a_single_branch_is_compared_with_the_next_panel() -> None:
    session = Session(setup())
    for agent in range(3):
        session.focus_panel(PanelKey(0, agent))
        assert session.compared_panel_indices() == (agent, (agent + 1) % 3)
    assert session.compared_panel_indices(1) == (1, 2)
    for agent in (0, 1):
        agent_edits.remove_agent(session, PanelKey(0, agent))
    assert session.compared_panel_indices() == (0, 0)
    agent_edits.remove_agent(session, PanelKey(0, 2))
    assert session.compared_panel_indices() == (0, 0)


def test_agent_missing_in_the_parent_is_compared_with_the_next_panel() -> None:
    """Its parent branch has no such agent."""
    session = Session(setup())
    branch_actions.create_branch_at_current_tick(session)
    agent_edits.add_agent(session, AgentConfig("astar"))
    place = session.panel_index(session.focused_key)
    assert session.compared_panel_indices() == (place, (place + 1) % 7)


def test_keyframe_memory_limit_persists_after_reset() -> None:
    session = Session(setup())
    session.advance_by_ticks(20)
    assert session.run.branch_tree.keyframe_store.keyframe_count
    session.limit_keyframe_memory(1)
    assert session.run.branch_tree.keyframe_store.budget_bytes == 1_000_000
    session.start_over(keeps_map=False)
    assert session.run.branch_tree.keyframe_store.budget_bytes == 1_000_000
    session.undo_history.undo_last_entry()
    session.seek_to_tick(20)
    assert (
        session.run.branch_tree.keyframe_store.used_bytes
        <= session.run.branch_tree.keyframe_store.budget_bytes
        == 1_000_000
    )
    session.limit_keyframe_memory(0)
    assert session.run.branch_tree.keyframe_store.budget_bytes > 100_000_000


# --- settings that are set already ------------------------------------------------------------------


def recorded_commands(session: Session) -> list[Command]:
    return [entry.command for entry in session.run.focused_branch_timeline.command_log.entries]


SAME_AGAIN = {
    "shared budget": lambda s: SetBudget(s.run.world.budget),
    "own budget": lambda s: SetBudget(5, 1),
    "no own budget": lambda s: SetBudget(None, 0),
    "parameter": lambda s: SetParam(0, "weight", s.run.world.walkers[0].params["weight"]),
    "trials": lambda s: SetMaxTrials(s.run.world.max_trials),
    "milliseconds": lambda s: SetTickTimeLimit(s.run.world.tick_time_limit_ms),
    "random changes": lambda s: SetRandomChanges(
        s.run.world.random_changes.interval_ticks, s.run.world.random_changes.changed_percent
    ),
}


@pytest.mark.parametrize("again", SAME_AGAIN.values(), ids=SAME_AGAIN)
def test_command_without_effect_is_not_recorded(again: Callable[[Session], Command]) -> None:
    session = Session(setup(agents=(AgentConfig("tb-wa"), AgentConfig("tb-wa", budget=5))))
    session.advance_by_ticks(20)
    cell_edits.block_or_free_cells(session, [30], block=True)
    session.seek_to_tick(10)
    before, done = recorded_commands(session), len(session.undo_history.done)
    session.submit_command(again(session))
    assert recorded_commands(session) == before, "what was done later is still there"
    assert len(session.undo_history.done) == done and not session.undo_history.undone_entries


def test_setting_restored_within_its_tick_leaves_no_entry() -> None:
    session = Session(setup(agents=(AgentConfig("tb-wa"),), budget=4))
    session.advance_by_ticks(7)
    for budget in (5, 9, 30, 4):
        value_adjustments.set_shared_budget(session, budget)
    assert recorded_commands(session) == [] and not session.undo_history.done and not session.has_unsaved_edits
    assert session.run.world.budget == 4
    value_adjustments.set_shared_budget(session, 8)
    session.advance_by_ticks(1)
    value_adjustments.set_shared_budget(session, 4)
    assert len(session.undo_history.done) == 1 and session.run.world.budget == 4, "a tick went by with 8"
    session.undo_history.undo_last_entry()
    assert session.run.world.budget == 4 and recorded_commands(session) == []


@pytest.mark.parametrize(
    "ends", [(value_adjustments.adjust_tick_time_limit, -1), (value_adjustments.adjust_trial_count, -1)]
)
def test_adjusting_beyond_a_limit_records_nothing(ends: tuple[Callable[[Session, int], object], int]) -> None:
    session = Session(setup())
    turn, step = ends
    turn(session, step)
    assert recorded_commands(session) == []


def test_group_setting_without_effect_is_not_recorded() -> None:
    session = Session(setup(agents=tuple(AgentConfig("tb-wa", group="units") for _ in range(3))))
    session.submit_command(ApplyToGroup("units", SetBudget(5, 0)))
    session.submit_command(ApplyToGroup("units", SetParam(0, "weight", 2.0)))
    before = recorded_commands(session)
    session.advance_by_ticks(3)
    session.submit_command(ApplyToGroup("units", SetBudget(5, 0)))
    session.submit_command(ApplyToGroup("units", SetParam(0, "weight", 2.0)))
    assert recorded_commands(session) == before
    session.submit_command(ApplyToGroup("units", SetBudget(6, 0)))
    assert len(recorded_commands(session)) == len(before) + 1
