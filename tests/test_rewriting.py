"""Dragging, undoing, seeking and branching in any order: no edit is lost in part, and the old end is reached again."""

from functools import cache

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from sim.commands import AgentConfig, EditCells, SetSwitch
from sim.files.scenario import Scenario
from sim.grid import Grid
from sim.time.log import Entry
from sim.time.timeline import Timeline
from ui.model import branching, script, turning
from ui.model.keys import PanelKey
from ui.model.session import Session

from .runs import plain_run, scenario_on

SIDE = 12
END = 120  # longer than any walk here, so that ticks go by while an edit is waited for


@cache
def setup() -> Scenario:
    """A corridor that is walked in about twenty ticks; scripted edits let the run go on to tick 120."""
    grid = Grid.from_rows(["." * SIDE] * SIDE)
    edits = [(30, SetSwitch("gate", True)), (60, SetSwitch("gate", False)), (END, SetSwitch("gate", True))]
    agents = (AgentConfig("rtb-wa", "lazy", {"restart": "lazy"}),)
    return scenario_on(grid, 0, SIDE * SIDE - 1, agents, budget=4, switches={"gate": (65, 66)}, script=edits)


def arrive(session: Session) -> None:
    while not session.continue_seek():
        pass


def record(session: Session) -> None:
    while session.run.continue_recording():
        pass


def draw(session: Session, first: int, ticks: int) -> None:
    """Draw a stroke of one cell a tick while the run goes on."""
    session.history.begin(is_stroke=True)
    for i in range(ticks):
        session.do(EditCells((SIDE + first + i,)))
        session.advance(1 if i + 1 < ticks else 0)
    session.history.end()


def drag(session: Session, tick: int, to: int) -> None:
    deed = next(deed for deed in script.deeds(session.run) if deed.tick == tick)
    script.move(session, deed, to - tick)
    arrive(session)


def drawn_in(session: Session, number: int) -> list[int]:
    """The cells of all strokes in the script of a branch."""
    commands = [entry.command for entry in session.run.tree[number].timeline.entries()]
    return [cell for command in commands if isinstance(command, EditCells) for cell in command.blocked]


def assert_as_run(line: Timeline) -> None:
    assert line.world.digest() == plain_run(line.setup, line.entries(), line.tick).digest()


def ran() -> Session:
    """A session with a stroke drawn in ticks 37 to 45, at its end."""
    session = Session(setup())
    session.advance(37)
    draw(session, 0, 9)
    session.advance(1000)
    assert session.tick == END and session.run.is_over
    return session


@pytest.mark.parametrize("to", [60, 40, 25])
def test_a_command_in_the_past_takes_all_of_a_later_stroke_whatever_was_dragged_before(to: int) -> None:
    session = ran()
    session.seek(20)
    if to != 60:
        drag(session, 60, to)
        session.history.undo()
        arrive(session)
    branching.branch_here(session)
    turning.flip_switch(session, "gate")
    assert drawn_in(session, session.run.front) == [] and len(drawn_in(session, 0)) == 9
    assert session.told.messages == ['1 later edit removed from "branch 1"; still in "run"']


def test_a_stroke_that_was_dragged_across_the_end_stays_or_goes_as_a_whole() -> None:
    session = ran()
    drag(session, 37, END - 4)
    assert session.tick == END
    session.seek(20)
    turning.flip_switch(session, "gate")
    assert drawn_in(session, 0) == [] and len(drawn_in(session, 1)) == 9


def test_a_branch_parts_from_its_parent_where_their_scripts_do() -> None:
    session = ran()
    session.seek(80)
    branch = branching.branch_here(session)
    assert branch.at == 80
    session.focus(PanelKey(0, 0))
    drag(session, 37, 70)
    assert branch.at == 37, "the parent draws it later now"
    session.history.undo()
    assert branch.at == 80
    drag(session, 37, 20)
    assert branch.at == 20


# --- the old end ----------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [20, 50, END])
@pytest.mark.parametrize(("tick", "to"), [(60, 45), (60, 90), (END, 45), (37, 10)])
def test_a_dragged_edit_is_computed_on_to_the_old_end_and_so_is_taking_it_back(at: int, tick: int, to: int) -> None:
    session = ran()
    session.seek(at)
    before = session.run.timeline.digests()
    drag(session, tick, to)
    record(session)
    line = session.run.timeline
    assert line.recorded_end == line.end and not session.run.is_recording
    assert session.tick == min(at, line.end), "looking at a tick goes on"
    assert line.recorded_end == (END if tick != END else 60)
    assert_as_run(line)
    session.history.undo()
    arrive(session)
    record(session)
    assert (session.tick, line.recorded_end, line.digests()) == (at, END, before)
    assert_as_run(line)


def test_what_is_computed_in_the_background_is_the_run() -> None:
    session = ran()
    session.seek(20)
    drag(session, 60, 45)
    line, shown = session.run.timeline, session.run.world
    pieces = 0
    while session.run.continue_recording(1.0):
        pieces += 1
        assert session.run.world is shown and session.tick == 20
    assert pieces > 3 and line.diverged is None
    again = Timeline(line.setup)
    again.replace_log(line.entries())
    again.seek(END)
    assert again.digests() == line.digests()
    assert again.records[0].rows.tolist() == line.records[0].rows.tolist()
    assert again.marks(0, END).tolist() == line.marks(0, END).tolist()


def test_ticks_may_pass_while_the_rest_is_computed() -> None:
    session = ran()
    session.seek(20)
    drag(session, 60, 45)
    line = session.run.timeline
    while line.recorded_end <= 45:
        session.run.continue_recording(1.0)
    assert line.recorded_end < END
    session.advance(60)
    record(session)
    assert (session.tick, line.recorded_end, line.diverged) == (80, END, None)
    assert_as_run(line)


# --- in any order ---------------------------------------------------------------------------------

TICKS = st.integers(0, 90)


def said(entries: tuple[Entry, ...], before: int) -> list[tuple[object, ...]]:
    return [(e.tick, e.command, e.is_enabled) for e in entries if e.tick < before]


class Rewriting(RuleBasedStateMachine):
    """Two sessions get the same acts; one of them also drags an edit and takes that back before each.

    What was taken back must make no difference, and no act may take the beginning of a stroke and leave its end.
    """

    @initialize()
    def begin(self) -> None:
        self.sessions = Session(setup()), Session(setup())
        self.strokes: dict[int, list[int]] = {}  # ids of the pieces of each stroke, in the order drawn
        self.drawn = 0

    @rule(ticks=st.integers(1, 60), seeks=st.none() | TICKS, which=st.integers(0, 9), by=st.integers(-60, 60))
    def let_ticks_pass(self, ticks: int, seeks: int | None, which: int, by: int) -> None:
        self.detour(which, by)
        for session in self.sessions:
            session.advance(ticks)
            if seeks is not None:
                session.seek(min(seeks, session.run.end))

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
            turning.flip_switch(session, "gate")

    @precondition(lambda self: len(self.sessions[0].run.tree.branches) < 5)
    @rule(which=st.integers(0, 9), by=st.integers(-60, 60))
    def branch(self, which: int, by: int) -> None:
        self.detour(which, by)
        for session in self.sessions:
            branching.branch_here(session)

    @rule(which=st.integers(0, 9), by=st.integers(-60, 60))
    def look_at_another(self, which: int, by: int) -> None:
        self.detour(which, by)
        for session in self.sessions:
            numbers = [*session.run.tree.branches]
            branching.show(session, numbers[which % len(numbers)])
            arrive(session)

    @rule(which=st.integers(0, 9), by=st.integers(-60, 60))
    def drag(self, which: int, by: int) -> None:
        for session in self.sessions:
            self.move(session, which, by)

    @rule(redoes=st.booleans())
    def undo(self, redoes: bool) -> None:
        for session in self.sessions:
            was_done = session.history.undo()
            arrive(session)
            if redoes and was_done:
                session.history.redo()
                arrive(session)

    def detour(self, which: int, by: int) -> None:
        """Drag an edit and take that back, in the second session only."""
        other = self.sessions[1]
        acts = len(other.history.done)
        self.move(other, which, by)
        if len(other.history.done) > acts:
            other.history.undo()
            arrive(other)

    def move(self, session: Session, which: int, by: int) -> None:
        deeds = script.deeds(session.run)
        script.move(session, deeds[which % len(deeds)], by)
        arrive(session)

    @invariant()
    def scripts_are_the_same(self) -> None:
        one, other = (
            [(s.number, s.parent, s.at, s.tick, said(s.entries, 1 << 30)) for s in session.run.tree.states()]
            for session in self.sessions
        )
        assert one == other

    @invariant()
    def a_branch_has_the_script_of_its_parent_up_to_its_tick(self) -> None:
        for session in self.sessions:
            for branch in session.run.tree.branches.values():
                if branch.parent is not None:
                    origin = session.run.tree[branch.parent]
                    assert said(branch.timeline.entries(), branch.at) == said(origin.timeline.entries(), branch.at)

    @invariant()
    def no_stroke_has_lost_its_beginning(self) -> None:
        tree = self.sessions[1].run.tree
        for branch in tree.branches.values():
            pieces: dict[int, list[int]] = {}
            for entry in branch.timeline.entries():
                if entry.stroke:
                    pieces.setdefault(entry.stroke, []).append(entry.id)
            for stroke, found in pieces.items():
                whole = self.strokes.setdefault(stroke, found)
                self.strokes[stroke] = max(whole, found, key=len)
                assert found == self.strokes[stroke][: len(found)]


TestRewriting = Rewriting.TestCase
TestRewriting.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
