"""One undo for everything: whatever was done, in whatever branch, is taken back as if it had never been done."""

import json
import random
import re
from collections.abc import Callable
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from agents.registry import BY_KEY
from sim.commands import AgentConfig, EditCells, Serve, SetBudget, SetChanges, SetParam, SetTrials
from sim.files.journal import Journal, restore, state_folder
from sim.files.session import dump_session, parse_session
from sim.grid import Grid
from sim.movement import FOUR, SQUEEZE, Movement
from sim.time.branches import BranchTree
from tests.runs import scenario_on
from tests.test_session import SIDE, arrive, setup, stroke, terrain
from ui.model import agent_edits, branching, painting, saving, script, turning
from ui.model.history import Done
from ui.model.keeper import AutosaveJournal
from ui.model.keys import PanelKey
from ui.model.session import Session

Act = Callable[[Session], object]


def free_cells(session: Session, count: int = 6) -> list[int]:
    stood_on = {walker.position for walker in session.run.world.walkers}
    return [int(c) for c in np.flatnonzero(session.run.world.grid.free)[40:] if int(c) not in stood_on][:count]


def as_seen(session: Session) -> object:
    """Everything that a user can tell two runs by."""
    arrive(session)
    tree = session.run.tree
    for branch in tree.branches.values():
        branch.timeline.apply_now()
    branches = [(b.number, b.name, b.parent, b.at, b.timeline.entries()) for b in tree.branches.values()]
    digests = [branch.timeline.world.digest() for branch in session.run.shown_branches]
    panels = [(panel.key, panel.view.label) for panel in session.run.panels]
    return branches, tree.groups(), list(session.run.shown), digests, panels, session.run.scenario


def in_the_past(session: Session) -> None:
    session.seek(session.tick - 2)
    stroke(session, free_cells(session, 3), True)


ACTS: dict[str, Act] = {
    "stroke": lambda s: stroke(s, free_cells(s), True),
    "switch": lambda s: turning.flip_switch(s, "gate") if "gate" in s.run.world.switch_states() else None,
    "goal": lambda s: painting.move_goal(s, free_cells(s, 9)[-1]),
    "start": lambda s: s.restart_with(start=s.run.world.grid.xy(free_cells(s)[2])),
    "four neighbours": lambda s: s.set_movement(Movement(FOUR)),
    "squeeze": lambda s: s.set_movement(Movement(SQUEEZE, 1.5)),
    "add": lambda s: agent_edits.add(s, AgentConfig("tb-wa", "new")),
    "remove": lambda s: agent_edits.remove(s, s.run.panels[1].key),
    "kind": lambda s: agent_edits.replace_agent(s, s.run.panels[0].key, AgentConfig("tb-gbfs")),
    "order": lambda s: agent_edits.move_panel(s, s.run.panels[0].key, 1),
    "weight": lambda s: agent_edits.set_param(s, PanelKey(s.run.front, 1), "weight", 2.75),
    "budget": lambda s: s.do(SetBudget(9)),
    "own budget": lambda s: agent_edits.set_budget(s, s.run.panels[0].key, 7),
    "trials": lambda s: s.do(SetTrials(5)),
    "changes": lambda s: s.do(SetChanges(3, 10.0)),
    "branch": lambda s: branching.branch_here(s),
    "split": lambda s: (s.focus(PanelKey(s.run.front, 1)), branching.split(s, [{"budget": 20}, {"budget": 90}])),
    "rename": lambda s: branching.rename(s, s.run.front, "another name"),
    "map as opened": lambda s: (
        painting.paint(s, free_cells(s), block=True),
        s.history.done.pop(),
        painting.take_edits_back(s),
    ),
    "R": lambda s: s.reset(keeps_map=False),
    "Ctrl+R": lambda s: s.reset(keeps_map=True),
    "script off": lambda s: script.toggle(s, script.deeds(s.run)[0]),
    "script moved": lambda s: script.move(s, script.deeds(s.run)[0], 3),
    "script deleted": lambda s: script.delete(s, script.deeds(s.run)[0]),
    "script again": lambda s: script.duplicate(s, script.deeds(s.run)[0]),
}


def a_run_with_things_done() -> Session:
    session = Session(setup())
    session.advance(5)
    stroke(session, free_cells(session, 2), True)
    session.advance(4)
    return session


@pytest.mark.parametrize("name", [name for name in ACTS if name != "map as opened"])
@pytest.mark.parametrize("ticks", [0, 6])
def test_whatever_was_done_is_taken_back_and_done_again(name: str, ticks: int) -> None:
    session = a_run_with_things_done()
    before, count = as_seen(session), len(session.history.done)
    tick = session.tick
    ACTS[name](session)
    assert len(session.history.done) == count + 1, "one thing"
    session.advance(ticks)
    after, there = as_seen(session), session.tick
    done = session.history.undo()
    assert isinstance(done, Done) and done.words and done.tick == tick
    session.seek(tick)
    assert as_seen(session) == before
    assert session.history.redo() is done
    session.seek(there)
    assert as_seen(session) == after


def test_a_branch_that_was_deleted_comes_back_with_its_children_and_links() -> None:
    session = a_run_with_things_done()
    child = branching.branch_here(session).number
    stroke(session, free_cells(session), True)
    branching.branch_here(session)
    session.focus(PanelKey(child, 1))
    branching.split(session, [{"weight": 1.0}, {"weight": 4.0}])
    branching.show(session, child)
    before = as_seen(session)
    branching.delete(session, child)
    assert child not in session.run.tree.branches
    session.history.undo()
    assert as_seen(session) == before
    session.history.redo()
    assert child not in session.run.tree.branches and session.run.front in session.run.tree.branches


def test_a_change_of_the_past_is_taken_back_with_the_branch_that_kept_the_future() -> None:
    session = a_run_with_things_done()
    stroke(session, free_cells(session, 2), True)
    session.advance(6)
    session.seek(11)
    before = as_seen(session)
    in_the_past(session)
    assert len(session.run.tree.branches) == 2
    session.history.undo()
    session.seek(11)
    assert as_seen(session) == before and len(session.run.tree.branches) == 1


def test_turns_that_a_clock_has_noted_go_and_come_back_with_their_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under a limit of milliseconds the log grows while time passes. In each tick the run has the turns that it had."""
    now = count()
    monkeypatch.setattr("ui.model.run.time.perf_counter", lambda: next(now) * 0.0004)
    grid = Grid.from_rows(["." * 20] * 6)
    agents = [AgentConfig("lrta", start=(0, y), goal=(19, 5)) for y in range(6)]
    session = Session(scenario_on(grid, 0, 119, agents, budget=2, tick_ms=1.0))
    seen = []
    for wall in (50, 70):
        session.advance(10)
        seen.append(as_seen(session))
        session.seek(session.tick - 6)
        session.do(EditCells((wall,)))
    session.advance(9)
    seen.append(as_seen(session))
    for _ in range(3):
        for place, tick in ((1, 14), (0, 10), (1, 14), (2, session.tick), (0, 10), (2, 17)):
            session.history.go_to(place)
            session.seek(tick)
            assert as_seen(session)[3] == seen[place][3], f"after {place} things"
            noted = [entry.tick for entry in session.run.timeline.entries() if isinstance(entry.command, Serve)]
            assert noted == sorted(set(noted)), "one number of turns a tick"


def test_what_a_clock_notes_before_a_later_command_is_in_nobodys_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """A script goes on at a later tick; meanwhile it is branched, and its last command is put off."""
    now = count()
    monkeypatch.setattr("ui.model.run.time.perf_counter", lambda: next(now) * 0.0004)
    agents = [AgentConfig("lrta", start=(0, y), goal=(19, 5)) for y in range(6)]
    edits = [(tick, EditCells((tick,))) for tick in (2, 40, 44)]
    grid = Grid.from_rows(["." * 20] * 6)
    session = Session(scenario_on(grid, 0, 119, agents, budget=2, tick_ms=1.0, script=edits))
    acts: list[Callable[[], object]] = [
        lambda: branching.branch_here(session),
        lambda: script.move(session, script.deeds(session.run)[-1], 6),
        lambda: session.do(EditCells((70,))),
    ]
    seen = []
    for act in acts:
        session.advance(7)
        seen.append(as_seen(session))
        act()
        arrive(session)
    session.advance(60)
    for place in (2, 3, 1, 3, 0, 3):
        session.history.go_to(place)
        if place < 3:
            session.seek(7 * (place + 1))
            assert as_seen(session)[3] == seen[place][3], f"after {place} things"


def test_undo_goes_to_the_branch_in_which_it_was_done() -> None:
    session = a_run_with_things_done()
    child = branching.branch_here(session).number
    session.advance(2)
    stroke(session, free_cells(session), True)
    branching.show(session, 0)
    branching.hide(session, child)
    assert session.run.front == 0 and session.run.shown == [0]
    done = session.history.undo()
    assert done is not None and "branch 1" in str(done)
    assert session.run.front == child and child in session.run.shown
    assert len(session.run.timeline.entries()) == 2, "those of the first stroke"


def test_turns_of_one_knob_are_one_thing_and_others_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.model.history.TURN_TICKS", 5)
    session = Session(setup())
    for weight in (1.6, 1.7, 1.8):
        agent_edits.set_param(session, PanelKey(0, 1), "weight", weight)
    session.advance(5)
    agent_edits.set_param(session, PanelKey(0, 1), "weight", 1.9)
    assert len(session.history.done) == len(script.deeds(session.run)) == 1
    session.do(SetBudget(5))
    agent_edits.set_param(session, PanelKey(0, 1), "weight", 2.0)
    assert len(session.history.done) == len(script.deeds(session.run)) == 3
    session.advance(6)
    agent_edits.set_param(session, PanelKey(0, 1), "weight", 2.1)
    assert len(session.history.done) == 4
    for left in (3, 2, 1, 0):
        session.history.undo()
        assert len(script.deeds(session.run)) == left
    arrive(session)
    assert session.run.world.walker(1).params["weight"] == 1.5


def test_a_place_of_the_history_is_gone_to() -> None:
    session = Session(setup())
    seen = [as_seen(session)]
    for act in ("stroke", "branch", "weight", "R", "switch", "add"):
        ACTS[act](session)
        seen.append(as_seen(session))
    for place in (2, 5, 0, 6, 3):
        session.history.go_to(place)
        assert len(session.history.done) == place
        assert as_seen(session) == seen[place]


def test_settings_of_the_window_that_belong_to_the_work_are_taken_back() -> None:
    session, marks = Session(setup()), {"in": None}
    for tick in (3, 8):
        session.history.set(f"range begins at {tick}", lambda value: marks.update({"in": value}), marks["in"], tick)
    assert session.history.undo().words == "range begins at 8" and marks["in"] == 3
    session.history.undo()
    assert marks["in"] is None
    session.history.redo()
    assert marks["in"] == 3


def test_what_is_undone_leaves_no_marks_on_the_map() -> None:
    session = a_run_with_things_done()
    marked = session.run.shown_edits()
    stroke(session, free_cells(session, 200), True)
    assert len(session.run.shown_edits()) > 100
    session.history.undo()
    arrive(session)
    assert session.run.shown_edits() == marked


def test_ctrl_z_after_agents_and_branch_were_removed_and_r_was_pressed() -> None:
    """KeyError: the focus stayed on a branch that was gone (issue 10, point 2)."""
    session = Session(setup())
    session.advance(4)
    child = branching.branch_here(session).number
    branching.show(session, 0)
    while any(panel.key.branch == 0 for panel in session.run.panels):
        agent_edits.remove(session, next(panel.key for panel in session.run.panels if panel.key.branch == 0))
    branching.show(session, child)
    branching.delete(session, child)
    assert session.focused is None and session.focused_key.branch == session.run.front == 0
    session.reset(keeps_map=False)
    while session.history.undo():
        arrive(session)
    assert len(session.run.panels) == 3 and not session.run.timeline.entries()


@pytest.mark.parametrize("seed", range(6))
def test_any_things_done_are_taken_back_one_by_one(seed: int) -> None:
    chance, session = random.Random(seed), Session(setup(seed))
    seen: list[tuple[int, object]] = []
    for _ in range(9):
        session.advance(chance.randrange(6))
        usable = [name for name in ACTS if "script" not in name or script.deeds(session.run)]
        usable.remove("map as opened")
        name, count = chance.choice(usable), len(session.history.done)
        if len(session.run.panels) < 2 or session.run.world.walker(1) is None:
            name = "stroke"
        tick = session.tick
        before = as_seen(session)
        ACTS[name](session)
        if len(session.history.done) > count:
            seen.append((tick, before))
    for tick, before in reversed(seen):
        assert session.history.undo() is not None
        session.seek(tick)
        found = as_seen(session)
        assert found[0] == before[0] and found[3:5] == before[3:5]


# --- a stroke from the brush to the file ----------------------------------------------------------------


def painted_over_time() -> Session:
    session = Session(setup(density=0.0))
    session.advance(3)
    session.history.begin(is_stroke=True)
    for cell in (100, 101, 140):  # apart, and two of them side by side
        painting.paint(session, [cell], block=True)
        session.advance(2)
    session.history.end()
    painting.paint(session, [102], block=True)  # beside the stroke, and not of it
    return session


def test_strokes_are_the_same_after_saving_and_opening(tmp_path: Path) -> None:
    session = painted_over_time()
    wanted = [[entry.tick for entry in deed.entries] for deed in script.deeds(session.run)]
    assert wanted == [[3, 5, 7], [9]]
    path = saving.save(session, tmp_path / "mine.yaml")
    text = path.read_text()
    assert text.count("stroke:") == 4
    other = Session(setup())
    saving.restore(other, parse_session(text, "mine.yaml", BY_KEY), path)
    assert [[entry.tick for entry in deed.entries] for deed in script.deeds(other.run)] == wanted


def test_strokes_are_the_same_after_a_crash(tmp_path: Path) -> None:
    session = Session(setup(density=0.0))
    journal = Journal(session.run.scenario, session.run.tree, folder=tmp_path)
    session.history.begin(is_stroke=True)
    for cell in (100, 140):
        painting.paint(session, [cell], block=True)
        session.advance(2)
    session.history.end()
    painting.paint(session, [101], block=True)
    saved = restore(journal.path, BY_KEY)
    assert [entry.stroke for entry in saved.branches[0].state.entries] == [
        e.stroke for e in session.run.timeline.entries()
    ]
    journal.close()


def test_a_file_that_does_not_say_its_strokes_is_read_as_before() -> None:
    session = painted_over_time()
    text = dump_session(saving.describe(session.run))
    old = re.sub(r", stroke: \d+", "", text)
    assert "stroke" not in old and old != text
    saved = parse_session(old, "old.yaml", BY_KEY)
    strokes = [entry.stroke for entry in saved.branches[0].state.entries]
    assert len(strokes) == 4 and strokes[0] == strokes[1] and strokes[2] not in strokes[:2]


def test_undo_is_in_the_journal_at_once_and_does_not_write_the_whole_log(tmp_path: Path) -> None:
    session = Session(setup())
    journal = Journal(session.run.scenario, session.run.tree, folder=tmp_path)
    for _ in range(4):
        stroke(session, free_cells(session), True)
        session.advance(3)
    size = journal.path.stat().st_size
    session.history.undo()
    arrive(session)
    written = journal.path.read_bytes()[size:]
    assert json.loads(written.splitlines()[0])["gone"] and len(written) < 300
    for act in ("branch", "weight", "rename"):
        ACTS[act](session)
    session.history.go_to(2)
    session.history.go_to(6)
    session.history.go_to(4)
    arrive(session)
    saved = restore(journal.path, BY_KEY)
    again = saved.plant(BY_KEY)
    assert [s.entries for s in again.states()] == [s.entries for s in session.run.tree.states()]
    assert [(b.number, b.name, b.parent) for b in again.branches.values()] == [
        (b.number, b.name, b.parent) for b in session.run.tree.branches.values()
    ]
    journal.close()


def test_a_log_is_put_back_in_its_order_within_a_tick() -> None:
    """Two edits of one cell at one tick: which comes last decides."""
    tree = BranchTree(lambda: Session(scenario_on_empty()).run.world)
    session = Session(scenario_on_empty())
    session.do(EditCells(blocked=(20,)))
    session.do(EditCells(freed=(20,)))
    wanted = terrain(session)
    script.delete(session, script.deeds(session.run)[0])
    session.history.undo()
    arrive(session)
    assert terrain(session) == wanted and len(tree.branches) == 1
    assert (
        isinstance(session.run.timeline.entries()[0].command, EditCells)
        and session.run.timeline.entries()[0].command.blocked
    )


def scenario_on_empty():
    grid = setup(density=0.0).grid
    return scenario_on(grid.copy(), 0, SIDE * SIDE - 1, (AgentConfig("tba"),))


def test_a_parameter_of_a_branch_is_taken_back_there_alone() -> None:
    session = Session(setup())
    branching.branch_here(session)
    agent_edits.set_param(session, PanelKey(1, 1), "weight", 3.0)
    assert isinstance(session.run.timeline.entries()[-1].command, SetParam)
    session.history.undo()
    arrive(session)
    weights = [b.timeline.world.walker(1).params["weight"] for b in session.run.shown_branches]
    assert weights == [1.5, 1.5] and len(session.run.tree.branches) == 2


def test_journals_go_back_and_forth_with_the_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many are there as there are runs that a kill must not lose: the open one, and those that undo brings back."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    session = a_run_with_things_done()
    keeper = AutosaveJournal(session)

    def journals() -> int:
        keeper.keep()
        return len(list(state_folder().glob("*.journal")))

    assert journals() == 1
    session.reset(keeps_map=False)
    assert journals() == 2
    session.restart_with(start=session.run.world.grid.xy(free_cells(session)[0]))
    assert journals() == 3
    for place, wanted in ((1, 1), (3, 3), (2, 2), (3, 3), (0, 1)):
        session.history.go_to(place)
        assert journals() == wanted
    keeper.close()
    assert not list(state_folder().glob("*.journal"))


def test_what_is_kept_for_a_branch_goes_with_it_and_undo_brings_its_panels_back_in_their_order() -> None:
    """Trails of 300 deleted branches held 20 MB, and the order of their panels grew in every undo entry."""
    session = Session(setup())
    session.advance(20)
    branch = branching.branch_here(session)
    before = [panel.key for panel in session.run.panels]
    session.run.arrange([*before[1:], before[0]])
    arranged = [panel.key for panel in session.run.panels]
    assert any(key.branch == branch.number for key in session.run.trails)
    branching.delete(session, branch.number)
    kept = {key.branch for key in (*session.run.trails, *session.run.order)}
    assert kept == set(session.run.tree.branches)
    session.history.undo()
    assert [panel.key for panel in session.run.panels] == arranged
    assert any(key.branch == branch.number for key in session.run.trails)
