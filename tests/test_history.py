"""One undo for everything: whatever was done, in whatever branch, is taken back as if it had never been done."""

import json
import random
from collections.abc import Callable
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from agents.registry import AGENT_SPECS_BY_KEY
from files.journal import Journal, journals_folder, restore_session
from files.session import parse_session
from sim.grid import Grid
from sim.movement import FOUR_NEIGHBOURS, SQUEEZE_BETWEEN_CORNERS, Movement
from sim.time.branches import BranchTree
from sim.world_commands import (
    AgentConfig,
    EditCells,
    LimitPlanners,
    SetBudget,
    SetMaxTrials,
    SetParam,
    SetRandomChanges,
)
from tests.runs import scenario_on
from tests.test_session import SIDE, finish_seek, setup, stroke, terrain
from ui.model import agent_edits, branch_actions, cell_edits, script_entries, session_saving, value_adjustments
from ui.model.autosave import AutosaveJournal
from ui.model.panel_keys import PanelKey
from ui.model.session import Session
from ui.model.undo_history import UndoEntry

Act = Callable[[Session], object]


def find_free_cells(session: Session, count: int = 6) -> list[int]:
    stood_on = {walker.position for walker in session.run.world.walkers}
    return [int(c) for c in np.flatnonzero(session.run.world.grid.free_mask)[40:] if int(c) not in stood_on][:count]


def observable_state(session: Session) -> object:
    """Everything that a user can tell two runs by."""
    finish_seek(session)
    tree = session.run.branch_tree
    for branch in tree.branches.values():
        branch.timeline.apply_due_commands()
    branches = [
        (b.number, b.name, b.parent, b.first_differing_tick, b.timeline.command_log.entries)
        for b in tree.branches.values()
    ]
    digests = [branch.timeline.world.compute_digest() for branch in session.run.shown_branches]
    panels = [(panel.key, panel.walker_view.label) for panel in session.run.panels]
    return branches, tree.link_groups(), list(session.run.shown_branch_numbers), digests, panels, session.run.scenario


def stroke_in_the_past(session: Session) -> None:
    session.seek_to_tick(session.tick - 2)
    stroke(session, find_free_cells(session, 3), True)


ACTS: dict[str, Act] = {
    "stroke": lambda s: stroke(s, find_free_cells(s), True),
    "switch": lambda s: (
        value_adjustments.toggle_map_switch(s, "gate") if "gate" in s.run.world.switch_states() else None
    ),
    "goal": lambda s: cell_edits.move_shared_goal(s, find_free_cells(s, 9)[-1]),
    "start": lambda s: s.start_over_with_changes(start=s.run.world.grid.xy(find_free_cells(s)[2])),
    "four neighbours": lambda s: s.set_movement(Movement(FOUR_NEIGHBOURS)),
    "squeeze": lambda s: s.set_movement(Movement(SQUEEZE_BETWEEN_CORNERS, 1.5)),
    "add": lambda s: agent_edits.add_agent(s, AgentConfig("tb-wa", "new")),
    "remove": lambda s: agent_edits.remove_agent(s, s.run.panels[1].key),
    "kind": lambda s: agent_edits.replace_agent(s, s.run.panels[0].key, AgentConfig("tb-gbfs")),
    "order": lambda s: agent_edits.move_panel_by_positions(s, s.run.panels[0].key, 1),
    "weight": lambda s: agent_edits.set_agent_param(s, PanelKey(s.run.focused_branch_number, 1), "weight", 2.75),
    "budget": lambda s: s.submit_command(SetBudget(9)),
    "own budget": lambda s: agent_edits.set_agent_budget(s, s.run.panels[0].key, 7),
    "trials": lambda s: s.submit_command(SetMaxTrials(5)),
    "changes": lambda s: s.submit_command(SetRandomChanges(3, 10.0)),
    "branch": lambda s: branch_actions.create_branch_at_current_tick(s),
    "split": lambda s: (
        s.focus_panel(PanelKey(s.run.focused_branch_number, 1)),
        branch_actions.split_into_variants(s, [{"budget": 20}, {"budget": 90}]),
    ),
    "rename": lambda s: branch_actions.rename_branch(s, s.run.focused_branch_number, "another name"),
    "map as opened": lambda s: (
        cell_edits.block_or_free_cells(s, find_free_cells(s), block=True),
        s.undo_history.done.pop(),
        cell_edits.remove_map_edits(s),
    ),
    "R": lambda s: s.start_over(keeps_map=False),
    "Ctrl+R": lambda s: s.start_over(keeps_map=True),
    "script off": lambda s: script_entries.toggle_script_entry(s, script_entries.script_entries(s.run)[0]),
    "script moved": lambda s: script_entries.move_script_entry(s, script_entries.script_entries(s.run)[0], 3),
    "script deleted": lambda s: script_entries.delete_script_entry(s, script_entries.script_entries(s.run)[0]),
    "script again": lambda s: script_entries.duplicate_script_entry(s, script_entries.script_entries(s.run)[0]),
}


def make_session_with_stroke() -> Session:
    session = Session(setup())
    session.advance_by_ticks(5)
    stroke(session, find_free_cells(session, 2), True)
    session.advance_by_ticks(4)
    return session


@pytest.mark.parametrize("name", [name for name in ACTS if name != "map as opened"])
@pytest.mark.parametrize("ticks", [0, 6])
def test_undo_and_redo_restore_every_act(name: str, ticks: int) -> None:
    session = make_session_with_stroke()
    before, count = observable_state(session), len(session.undo_history.done)
    tick = session.tick
    ACTS[name](session)
    assert len(session.undo_history.done) == count + 1, "one thing"
    session.advance_by_ticks(ticks)
    after, there = observable_state(session), session.tick
    done = session.undo_history.undo_last_entry()
    assert isinstance(done, UndoEntry) and done.description and done.tick == tick
    session.seek_to_tick(tick)
    assert observable_state(session) == before
    assert session.undo_history.redo_last_entry() is done
    session.seek_to_tick(there)
    assert observable_state(session) == after


def test_undo_restores_deleted_branch_with_children_and_links() -> None:
    session = make_session_with_stroke()
    child = branch_actions.create_branch_at_current_tick(session).number
    stroke(session, find_free_cells(session), True)
    branch_actions.create_branch_at_current_tick(session)
    session.focus_panel(PanelKey(child, 1))
    branch_actions.split_into_variants(session, [{"weight": 1.0}, {"weight": 4.0}])
    branch_actions.show_branch(session, child)
    before = observable_state(session)
    branch_actions.delete_branch(session, child)
    assert child not in session.run.branch_tree.branches
    session.undo_history.undo_last_entry()
    assert observable_state(session) == before
    session.undo_history.redo_last_entry()
    assert (
        child not in session.run.branch_tree.branches
        and session.run.focused_branch_number in session.run.branch_tree.branches
    )


def test_undo_of_past_edit_removes_the_branch_of_the_old_future() -> None:
    session = make_session_with_stroke()
    stroke(session, find_free_cells(session, 2), True)
    session.advance_by_ticks(6)
    session.seek_to_tick(11)
    before = observable_state(session)
    stroke_in_the_past(session)
    assert len(session.run.branch_tree.branches) == 2
    session.undo_history.undo_last_entry()
    session.seek_to_tick(11)
    assert observable_state(session) == before and len(session.run.branch_tree.branches) == 1


def test_undo_and_redo_restore_time_slice_log_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under a limit of milliseconds the log grows while time passes. In each tick the run has the turns that it had."""
    now = count()
    monkeypatch.setattr("ui.model.run.time.perf_counter", lambda: next(now) * 0.0004)
    grid = Grid.from_text_rows(["." * 20] * 6)
    agents = [AgentConfig("lrta", start=(0, y), goal=(19, 5)) for y in range(6)]
    session = Session(scenario_on(grid, 0, 119, agents, budget=2, tick_ms=1.0))
    seen = []
    for wall in (50, 70):
        session.advance_by_ticks(10)
        seen.append(observable_state(session))
        session.seek_to_tick(session.tick - 6)
        session.submit_command(EditCells((wall,)))
    session.advance_by_ticks(9)
    seen.append(observable_state(session))
    for _ in range(3):
        for place, tick in ((1, 14), (0, 10), (1, 14), (2, session.tick), (0, 10), (2, 17)):
            session.undo_history.go_to_history_entry(place)
            session.seek_to_tick(tick)
            assert observable_state(session)[3] == seen[place][3], f"after {place} things"
            noted = [
                entry.tick
                for entry in session.run.focused_branch_timeline.command_log.entries
                if isinstance(entry.command, LimitPlanners)
            ]
            assert noted == sorted(set(noted)), "one number of turns a tick"


def test_time_slice_entries_before_later_commands_keep_undo_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """A script goes on at a later tick; meanwhile it is branched, and its last command is put off."""
    now = count()
    monkeypatch.setattr("ui.model.run.time.perf_counter", lambda: next(now) * 0.0004)
    agents = [AgentConfig("lrta", start=(0, y), goal=(19, 5)) for y in range(6)]
    edits = [(tick, EditCells((tick,))) for tick in (2, 40, 44)]
    grid = Grid.from_text_rows(["." * 20] * 6)
    session = Session(scenario_on(grid, 0, 119, agents, budget=2, tick_ms=1.0, script=edits))
    acts: list[Callable[[], object]] = [
        lambda: branch_actions.create_branch_at_current_tick(session),
        lambda: script_entries.move_script_entry(session, script_entries.script_entries(session.run)[-1], 6),
        lambda: session.submit_command(EditCells((70,))),
    ]
    seen = []
    for act in acts:
        session.advance_by_ticks(7)
        seen.append(observable_state(session))
        act()
        finish_seek(session)
    session.advance_by_ticks(60)
    for place in (2, 3, 1, 3, 0, 3):
        session.undo_history.go_to_history_entry(place)
        if place < 3:
            session.seek_to_tick(7 * (place + 1))
            assert observable_state(session)[3] == seen[place][3], f"after {place} things"


def test_undo_focuses_the_branch_of_the_edit() -> None:
    session = make_session_with_stroke()
    child = branch_actions.create_branch_at_current_tick(session).number
    session.advance_by_ticks(2)
    stroke(session, find_free_cells(session), True)
    branch_actions.show_branch(session, 0)
    branch_actions.hide_branch(session, child)
    assert session.run.focused_branch_number == 0 and session.run.shown_branch_numbers == [0]
    done = session.undo_history.undo_last_entry()
    assert done is not None and "branch 1" in str(done)
    assert session.run.focused_branch_number == child and child in session.run.shown_branch_numbers
    assert len(session.run.focused_branch_timeline.command_log.entries) == 2, "those of the first stroke"


def test_consecutive_changes_of_one_parameter_are_one_undo_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.model.undo_history.MAX_MERGE_TICKS", 5)
    session = Session(setup())
    for weight in (1.6, 1.7, 1.8):
        agent_edits.set_agent_param(session, PanelKey(0, 1), "weight", weight)
    session.advance_by_ticks(5)
    agent_edits.set_agent_param(session, PanelKey(0, 1), "weight", 1.9)
    assert len(session.undo_history.done) == len(script_entries.script_entries(session.run)) == 1
    session.submit_command(SetBudget(5))
    agent_edits.set_agent_param(session, PanelKey(0, 1), "weight", 2.0)
    assert len(session.undo_history.done) == len(script_entries.script_entries(session.run)) == 3
    session.advance_by_ticks(6)
    agent_edits.set_agent_param(session, PanelKey(0, 1), "weight", 2.1)
    assert len(session.undo_history.done) == 4
    for left in (3, 2, 1, 0):
        session.undo_history.undo_last_entry()
        assert len(script_entries.script_entries(session.run)) == left
    finish_seek(session)
    assert session.run.world.walker_with_id(1).params["weight"] == 1.5


def test_history_go_to_restores_any_index() -> None:
    session = Session(setup())
    seen = [observable_state(session)]
    for act in ("stroke", "branch", "weight", "R", "switch", "add"):
        ACTS[act](session)
        seen.append(observable_state(session))
    for place in (2, 5, 0, 6, 3):
        session.undo_history.go_to_history_entry(place)
        assert len(session.undo_history.done) == place
        assert observable_state(session) == seen[place]


def test_undo_restores_window_settings_of_the_session() -> None:
    session, marks = Session(setup()), {"in": None}
    for tick in (3, 8):
        session.undo_history.set_undoable_value(
            f"range begins at {tick}", lambda value: marks.update({"in": value}), marks["in"], tick
        )
    assert session.undo_history.undo_last_entry().description == "range begins at 8" and marks["in"] == 3
    session.undo_history.undo_last_entry()
    assert marks["in"] is None
    session.undo_history.redo_last_entry()
    assert marks["in"] == 3


def test_undo_removes_edit_marks_from_the_map() -> None:
    session = make_session_with_stroke()
    marked = session.run.recent_edits_of_branch()
    stroke(session, find_free_cells(session, 200), True)
    assert len(session.run.recent_edits_of_branch()) > 100
    session.undo_history.undo_last_entry()
    finish_seek(session)
    assert session.run.recent_edits_of_branch() == marked


def test_undo_works_after_removing_agents_and_branch_and_reset() -> None:
    """KeyError: the focus stayed on a branch that was gone (issue 10, point 2)."""
    session = Session(setup())
    session.advance_by_ticks(4)
    child = branch_actions.create_branch_at_current_tick(session).number
    branch_actions.show_branch(session, 0)
    while any(panel.key.branch == 0 for panel in session.run.panels):
        agent_edits.remove_agent(session, next(panel.key for panel in session.run.panels if panel.key.branch == 0))
    branch_actions.show_branch(session, child)
    branch_actions.delete_branch(session, child)
    assert session.focused_walker is None and session.focused_key.branch == session.run.focused_branch_number == 0
    session.start_over(keeps_map=False)
    while session.undo_history.undo_last_entry():
        finish_seek(session)
    assert len(session.run.panels) == 3 and not session.run.focused_branch_timeline.command_log.entries


@pytest.mark.parametrize("seed", range(6))
def test_undo_reverts_random_acts_one_by_one(seed: int) -> None:
    chance, session = random.Random(seed), Session(setup(seed))
    seen: list[tuple[int, object]] = []
    for _ in range(9):
        session.advance_by_ticks(chance.randrange(6))
        usable = [name for name in ACTS if "script" not in name or script_entries.script_entries(session.run)]
        usable.remove("map as opened")
        name, count = chance.choice(usable), len(session.undo_history.done)
        if len(session.run.panels) < 2 or session.run.world.walker_with_id(1) is None:
            name = "stroke"
        tick = session.tick
        before = observable_state(session)
        ACTS[name](session)
        if len(session.undo_history.done) > count:
            seen.append((tick, before))
    for tick, before in reversed(seen):
        assert session.undo_history.undo_last_entry() is not None
        session.seek_to_tick(tick)
        found = observable_state(session)
        assert found[0] == before[0] and found[3:5] == before[3:5]


# --- a stroke from the brush to the file ----------------------------------------------------------------


def make_session_with_strokes_over_time() -> Session:
    session = Session(setup(density=0.0))
    session.advance_by_ticks(3)
    session.undo_history.open_entry(is_stroke=True)
    for cell in (100, 101, 140):  # apart, and two of them side by side
        cell_edits.block_or_free_cells(session, [cell], block=True)
        session.advance_by_ticks(2)
    session.undo_history.close_entry()
    cell_edits.block_or_free_cells(session, [102], block=True)  # beside the stroke, and not of it
    return session


def test_strokes_survive_saving_and_opening(tmp_path: Path) -> None:
    session = make_session_with_strokes_over_time()
    wanted = [[entry.tick for entry in deed.log_entries] for deed in script_entries.script_entries(session.run)]
    assert wanted == [[3, 5, 7], [9]]
    path = session_saving.save_session(session, tmp_path / "mine.yaml")
    text = path.read_text()
    assert text.count("stroke:") == 4
    other = Session(setup())
    session_saving.restore_session(other, parse_session(text, "mine.yaml", AGENT_SPECS_BY_KEY), path)
    assert [[entry.tick for entry in deed.log_entries] for deed in script_entries.script_entries(other.run)] == wanted


def test_strokes_survive_a_crash(tmp_path: Path) -> None:
    session = Session(setup(density=0.0))
    journal = Journal(session.run.scenario, session.run.branch_tree, folder=tmp_path)
    session.undo_history.open_entry(is_stroke=True)
    for cell in (100, 140):
        cell_edits.block_or_free_cells(session, [cell], block=True)
        session.advance_by_ticks(2)
    session.undo_history.close_entry()
    cell_edits.block_or_free_cells(session, [101], block=True)
    saved = restore_session(journal.path, AGENT_SPECS_BY_KEY)
    assert [entry.stroke_id for entry in saved.branches[0].branch_state.entries] == [
        e.stroke_id for e in session.run.focused_branch_timeline.command_log.entries
    ]
    journal.close()


def test_undo_is_journaled_immediately_without_the_whole_log(tmp_path: Path) -> None:
    session = Session(setup())
    journal = Journal(session.run.scenario, session.run.branch_tree, folder=tmp_path)
    for _ in range(4):
        stroke(session, find_free_cells(session), True)
        session.advance_by_ticks(3)
    size = journal.path.stat().st_size
    session.undo_history.undo_last_entry()
    finish_seek(session)
    written = journal.path.read_bytes()[size:]
    assert json.loads(written.splitlines()[0])["gone"] and len(written) < 300
    for act in ("branch", "weight", "rename"):
        ACTS[act](session)
    session.undo_history.go_to_history_entry(2)
    session.undo_history.go_to_history_entry(6)
    session.undo_history.go_to_history_entry(4)
    finish_seek(session)
    saved = restore_session(journal.path, AGENT_SPECS_BY_KEY)
    again = saved.build_branch_tree(AGENT_SPECS_BY_KEY)
    assert [s.entries for s in again.branch_states()] == [s.entries for s in session.run.branch_tree.branch_states()]
    assert [(b.number, b.name, b.parent) for b in again.branches.values()] == [
        (b.number, b.name, b.parent) for b in session.run.branch_tree.branches.values()
    ]
    journal.close()


def test_undo_restores_command_order_within_a_tick() -> None:
    """Two edits of one cell at one tick: which comes last decides."""
    tree = BranchTree(lambda: Session(make_empty_map_scenario()).run.world)
    session = Session(make_empty_map_scenario())
    session.submit_command(EditCells(blocked_cells=(20,)))
    session.submit_command(EditCells(freed_cells=(20,)))
    wanted = terrain(session)
    script_entries.delete_script_entry(session, script_entries.script_entries(session.run)[0])
    session.undo_history.undo_last_entry()
    finish_seek(session)
    assert terrain(session) == wanted and len(tree.branches) == 1
    assert (
        isinstance(session.run.focused_branch_timeline.command_log.entries[0].command, EditCells)
        and session.run.focused_branch_timeline.command_log.entries[0].command.blocked_cells
    )


def make_empty_map_scenario():
    grid = setup(density=0.0).grid
    return scenario_on(grid.copy(), 0, SIDE * SIDE - 1, (AgentConfig("tba"),))


def test_undo_of_branch_parameter_affects_only_that_branch() -> None:
    session = Session(setup())
    branch_actions.create_branch_at_current_tick(session)
    agent_edits.set_agent_param(session, PanelKey(1, 1), "weight", 3.0)
    assert isinstance(session.run.focused_branch_timeline.command_log.entries[-1].command, SetParam)
    session.undo_history.undo_last_entry()
    finish_seek(session)
    weights = [b.timeline.world.walker_with_id(1).params["weight"] for b in session.run.shown_branches]
    assert weights == [1.5, 1.5] and len(session.run.branch_tree.branches) == 2


def test_undo_and_redo_add_and_remove_journals_of_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many are there as there are runs that a kill must not lose: the open one, and those that undo brings back."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    session = make_session_with_stroke()
    keeper = AutosaveJournal(session)

    def count_journals() -> int:
        keeper.update_journal()
        return len(list(journals_folder().glob("*.journal")))

    assert count_journals() == 1
    session.start_over(keeps_map=False)
    assert count_journals() == 2
    session.start_over_with_changes(start=session.run.world.grid.xy(find_free_cells(session)[0]))
    assert count_journals() == 3
    for place, wanted in ((1, 1), (3, 3), (2, 2), (3, 3), (0, 1)):
        session.undo_history.go_to_history_entry(place)
        assert count_journals() == wanted
    keeper.close()
    assert not list(journals_folder().glob("*.journal"))


def test_deleting_a_branch_frees_its_trails_and_undo_restores_panel_order() -> None:
    """Trails of 300 deleted branches held 20 MB, and the order of their panels grew in every undo entry."""
    session = Session(setup())
    session.advance_by_ticks(20)
    branch = branch_actions.create_branch_at_current_tick(session)
    before = [panel.key for panel in session.run.panels]
    session.run.order_panels([*before[1:], before[0]])
    arranged = [panel.key for panel in session.run.panels]
    assert any(key.branch == branch.number for key in session.run.trail_by_panel)
    branch_actions.delete_branch(session, branch.number)
    kept = {key.branch for key in (*session.run.trail_by_panel, *session.run.panel_order)}
    assert kept == set(session.run.branch_tree.branches)
    session.undo_history.undo_last_entry()
    assert [panel.key for panel in session.run.panels] == arranged
    assert any(key.branch == branch.number for key in session.run.trail_by_panel)
