"""Dragging, undoing, seeking and branching in any order: no edit is lost in part, and the old end is reached again."""

from functools import cache

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from files.scenario import Scenario
from sim.grid import Grid
from sim.time.command_log import LogEntry
from sim.time.run_marks import marks_of_run
from sim.time.timeline import Timeline
from sim.world_commands import AgentConfig, EditCells, SetSwitch
from ui.model import branch_actions, script_entries, value_adjustments
from ui.model.panel_keys import PanelKey
from ui.model.session import Session

from .runs import plain_run, scenario_on

SIDE = 12
END = 120  # longer than any walk here, so that ticks go by while an edit is waited for


@cache
def setup() -> Scenario:
    """A corridor that is walked in about twenty ticks; scripted edits let the run go on to tick 120."""
    grid = Grid.from_text_rows(["." * SIDE] * SIDE)
    edits = [(30, SetSwitch("gate", True)), (60, SetSwitch("gate", False)), (END, SetSwitch("gate", True))]
    agents = (AgentConfig("rtb-wa", "lazy", {"restart": "lazy"}),)
    return scenario_on(grid, 0, SIDE * SIDE - 1, agents, budget=4, switches={"gate": (65, 66)}, script=edits)


def finish_seek(session: Session) -> None:
    while not session.continue_seek():
        pass


def finish_recording(session: Session) -> None:
    while session.run.continue_rerecording_ticks():
        pass


def draw(session: Session, first: int, ticks: int) -> None:
    """Draw a stroke of one cell a tick while the run goes on."""
    session.undo_history.open_entry(is_stroke=True)
    for i in range(ticks):
        session.submit_command(EditCells((SIDE + first + i,)))
        session.advance_by_ticks(1 if i + 1 < ticks else 0)
    session.undo_history.close_entry()


def drag(session: Session, tick: int, to: int) -> None:
    deed = next(deed for deed in script_entries.script_entries(session.run) if deed.tick == tick)
    script_entries.move_script_entry(session, deed, to - tick)
    finish_seek(session)


def painted_cells(session: Session, number: int) -> list[int]:
    """The cells of all strokes in the script of a branch."""
    commands = [entry.command for entry in session.run.branch_tree[number].timeline.command_log.entries]
    return [cell for command in commands if isinstance(command, EditCells) for cell in command.blocked_cells]


def assert_equals_plain_run(line: Timeline) -> None:
    assert (
        line.world.compute_digest() == plain_run(line.build_world, line.command_log.entries, line.tick).compute_digest()
    )


def make_finished_session() -> Session:
    """A session with a stroke drawn in ticks 37 to 45, at its end."""
    session = Session(setup())
    session.advance_by_ticks(37)
    draw(session, 0, 9)
    session.advance_by_ticks(1000)
    assert session.tick == END and session.run.is_over
    return session


@pytest.mark.parametrize("to", [60, 40, 25])
def test_command_in_the_past_removes_a_later_stroke_as_a_whole(to: int) -> None:
    session = make_finished_session()
    session.seek_to_tick(20)
    if to != 60:
        drag(session, 60, to)
        session.undo_history.undo_last_entry()
        finish_seek(session)
    branch_actions.create_branch_at_current_tick(session)
    value_adjustments.toggle_map_switch(session, "gate")
    assert painted_cells(session, session.run.focused_branch_number) == [] and len(painted_cells(session, 0)) == 9
    assert session.user_messages.messages_until_next_edit == ['1 later edit removed from "branch 1" but kept in "run"']


def test_edit_in_the_past_removes_a_stroke_moved_across_the_end() -> None:
    session = make_finished_session()
    drag(session, 37, END - 4)
    assert session.tick == END
    session.seek_to_tick(20)
    value_adjustments.toggle_map_switch(session, "gate")
    assert painted_cells(session, 0) == [] and len(painted_cells(session, 1)) == 9


def test_branch_point_is_where_the_scripts_differ() -> None:
    session = make_finished_session()
    session.seek_to_tick(80)
    branch = branch_actions.create_branch_at_current_tick(session)
    assert branch.first_differing_tick == 80
    session.focus_panel(PanelKey(0, 0))
    drag(session, 37, 70)
    assert branch.first_differing_tick == 37, "the parent draws it later now"
    session.undo_history.undo_last_entry()
    assert branch.first_differing_tick == 80
    drag(session, 37, 20)
    assert branch.first_differing_tick == 20


# --- the old end ----------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [20, 50, END])
@pytest.mark.parametrize(("tick", "to"), [(60, 45), (60, 90), (END, 45), (37, 10)])
def test_moved_edit_and_its_undo_are_recomputed_to_the_old_end(at: int, tick: int, to: int) -> None:
    session = make_finished_session()
    session.seek_to_tick(at)
    before = tuple(session.run.focused_branch_timeline.run_history.world_digests)
    drag(session, tick, to)
    finish_recording(session)
    line = session.run.focused_branch_timeline
    assert line.run_history.recorded_end == line.run_history.end and not session.run.is_rerecording_ticks
    assert session.tick == min(at, line.run_history.end), "looking at a tick goes on"
    assert line.run_history.recorded_end == (END if tick != END else 60)
    assert_equals_plain_run(line)
    session.undo_history.undo_last_entry()
    finish_seek(session)
    finish_recording(session)
    assert (session.tick, line.run_history.recorded_end, tuple(line.run_history.world_digests)) == (at, END, before)
    assert_equals_plain_run(line)


def test_background_recording_equals_a_plain_run() -> None:
    session = make_finished_session()
    session.seek_to_tick(20)
    drag(session, 60, 45)
    line, shown = session.run.focused_branch_timeline, session.run.world
    pieces = 0
    while session.run.continue_rerecording_ticks(1.0):
        pieces += 1
        assert session.run.world is shown and session.tick == 20
    assert pieces > 3 and line.run_history.divergence_tick is None
    again = Timeline(line.build_world)
    again.replace_command_log(line.command_log.entries)
    again.seek(END)
    assert tuple(again.run_history.world_digests) == tuple(line.run_history.world_digests)
    assert again.run_history.agent_records[0].log_rows.tolist() == line.run_history.agent_records[0].log_rows.tolist()
    assert marks_of_run(again, 0, END).tolist() == marks_of_run(line, 0, END).tolist()


def test_run_can_advance_during_background_recording() -> None:
    session = make_finished_session()
    session.seek_to_tick(20)
    drag(session, 60, 45)
    line = session.run.focused_branch_timeline
    while line.run_history.recorded_end <= 45:
        session.run.continue_rerecording_ticks(1.0)
    assert line.run_history.recorded_end < END
    session.advance_by_ticks(60)
    finish_recording(session)
    assert (session.tick, line.run_history.recorded_end, line.run_history.divergence_tick) == (80, END, None)
    assert_equals_plain_run(line)


# --- in any order ---------------------------------------------------------------------------------

TICKS = st.integers(0, 90)


def entries_before(entries: tuple[LogEntry, ...], before: int) -> list[tuple[object, ...]]:
    return [(e.tick, e.command, e.is_enabled) for e in entries if e.tick < before]


class RewritingMachine(RuleBasedStateMachine):
    """Two sessions get the same acts; one of them also drags an edit and takes that back before each.

    What was taken back must make no difference, and no act may take the beginning of a stroke and leave its end.
    """

    @initialize()
    def begin(self) -> None:
        self.sessions = Session(setup()), Session(setup())
        self.strokes: dict[int, list[int]] = {}  # ids of the pieces of each stroke, in the order drawn
        self.drawn = 0

    @rule(ticks=st.integers(1, 60), seeks=st.none() | TICKS, which=st.integers(0, 9), by=st.integers(-60, 60))
    def advance_and_seek(self, ticks: int, seeks: int | None, which: int, by: int) -> None:
        self.detour(which, by)
        for session in self.sessions:
            session.advance_by_ticks(ticks)
            if seeks is not None:
                session.seek_to_tick(min(seeks, session.run.last_reached_tick))

    @rule(ticks=st.integers(1, 9), which=st.integers(0, 9), by=st.integers(-60, 60))
    def draw(self, ticks: int, which: int, by: int) -> None:
        self.detour(which, by)
        for session in self.sessions:
            draw(session, 10 * (self.drawn % 8), ticks)
        self.drawn += 1

    @rule(which=st.integers(0, 9), by=st.integers(-60, 60))
    def flip(self, which: int, by: int) -> None:
        self.detour(which, by)
        for session in self.sessions:
            value_adjustments.toggle_map_switch(session, "gate")

    @precondition(lambda self: len(self.sessions[0].run.branch_tree.branches) < 5)
    @rule(which=st.integers(0, 9), by=st.integers(-60, 60))
    def branch(self, which: int, by: int) -> None:
        self.detour(which, by)
        for session in self.sessions:
            branch_actions.create_branch_at_current_tick(session)

    @rule(which=st.integers(0, 9), by=st.integers(-60, 60))
    def show_another_branch(self, which: int, by: int) -> None:
        self.detour(which, by)
        for session in self.sessions:
            numbers = [*session.run.branch_tree.branches]
            branch_actions.show_branch(session, numbers[which % len(numbers)])
            finish_seek(session)

    @rule(which=st.integers(0, 9), by=st.integers(-60, 60))
    def drag(self, which: int, by: int) -> None:
        for session in self.sessions:
            self.move(session, which, by)

    @rule(redoes=st.booleans())
    def undo(self, redoes: bool) -> None:
        for session in self.sessions:
            was_done = session.undo_history.undo_last_entry()
            finish_seek(session)
            if redoes and was_done:
                session.undo_history.redo_last_entry()
                finish_seek(session)

    def detour(self, which: int, by: int) -> None:
        """Drag an edit and take that back, in the second session only."""
        other = self.sessions[1]
        acts = len(other.undo_history.done)
        self.move(other, which, by)
        if len(other.undo_history.done) > acts:
            other.undo_history.undo_last_entry()
            finish_seek(other)

    def move(self, session: Session, which: int, by: int) -> None:
        deeds = script_entries.script_entries(session.run)
        script_entries.move_script_entry(session, deeds[which % len(deeds)], by)
        finish_seek(session)

    @invariant()
    def scripts_are_equal(self) -> None:
        one, other = (
            [
                (s.number, s.parent, s.split_tick, s.tick, entries_before(s.entries, 1 << 30))
                for s in session.run.branch_tree.branch_states()
            ]
            for session in self.sessions
        )
        assert one == other

    @invariant()
    def branch_shares_the_script_of_its_parent(self) -> None:
        for session in self.sessions:
            for branch in session.run.branch_tree.branches.values():
                if branch.parent is not None:
                    origin = session.run.branch_tree[branch.parent]
                    assert entries_before(
                        branch.timeline.command_log.entries, branch.first_differing_tick
                    ) == entries_before(origin.timeline.command_log.entries, branch.first_differing_tick)

    @invariant()
    def strokes_keep_their_first_pieces(self) -> None:
        tree = self.sessions[1].run.branch_tree
        for branch in tree.branches.values():
            pieces: dict[int, list[int]] = {}
            for entry in branch.timeline.command_log.entries:
                if entry.stroke_id:
                    pieces.setdefault(entry.stroke_id, []).append(entry.id)
            for stroke, found in pieces.items():
                whole = self.strokes.setdefault(stroke, found)
                self.strokes[stroke] = max(whole, found, key=len)
                assert found == self.strokes[stroke][: len(found)]


TestRewriting = RewritingMachine.TestCase
TestRewriting.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
