"""Time travel: whatever way a state was reached, it is that of a plain run with the same commands."""

import time
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from sim import world_commands
from sim.agent_api import Status
from sim.batching.batched_executor import BatchedExecutor
from sim.changes import RandomChangeSchedule
from sim.executor import ExecutorFactory, InvalidationReason, RunResult
from sim.time import keyframe_saver, work_estimates
from sim.time.agent_records import MarkKind
from sim.time.branches import BranchTree
from sim.time.keyframes import KeyframeStore
from sim.time.run_marks import marks_of_run, next_mark_tick, previous_mark_tick
from sim.time.timeline import Timeline
from sim.world import World
from sim.world_commands import AgentConfig, EditCells, MoveGoal, SetParam, SetSwitch
from sim.world_state import WorldState

from .conftest import make_world
from .runs import assert_as_plain, plain_run, setups, some_command
from .test_keyframes import make_world_setup

FAR = 130  # ticks that a random session covers, so that some digests are recorded


class TimelineMachine(RuleBasedStateMachine):
    """A user who plays, edits, goes back, branches and rewrites the log, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self._spacing = keyframe_saver.KEYFRAME_SPACING, keyframe_saver.MIN_NEAR_SPACING, work_estimates._BYTES_PER_WORK
        # Small worlds do little work: with keyframes as rare as in large ones there would be none to go wrong.
        keyframe_saver.KEYFRAME_SPACING, keyframe_saver.MIN_NEAR_SPACING, work_estimates._BYTES_PER_WORK = (
            400.0,
            60.0,
            1 << 40,
        )

    def teardown(self) -> None:
        keyframe_saver.KEYFRAME_SPACING, keyframe_saver.MIN_NEAR_SPACING, work_estimates._BYTES_PER_WORK = self._spacing
        if hasattr(self, "tree"):
            for branch in self.tree.branches.values():
                assert_records_as_plain(branch.timeline)

    @initialize(setup=setups(), budget=st.sampled_from([0, 60_000, 1 << 30]))
    def begin(self, setup, budget):
        self.tree = BranchTree(setup, budget)
        self.cells = self.tree[0].timeline.world.grid.cells

    def pick_branch(self, data):
        return data.draw(st.sampled_from(list(self.tree.branches)))

    def line(self, data):
        return self.tree[self.pick_branch(data)].timeline

    @rule(data=st.data(), ticks=st.integers(0, 60))
    def play(self, data, ticks):
        self.line(data).advance(ticks)

    @rule(data=st.data(), tick=st.integers(0, FAR))
    def seek(self, data, tick):
        line = self.line(data)
        reached = line.seek(tick)
        assert reached == line.tick and (reached == tick or line.world.is_over)

    @rule(data=st.data(), tick=st.integers(0, FAR), work=st.floats(1, 3000), steps=st.integers(1, 8))
    def seek_partially(self, data, tick, work, steps):
        line = self.line(data)
        line.begin_seek(tick)
        for _ in range(steps):
            line.continue_seek(work)

    @rule(data=st.data())
    def step_back(self, data):
        line = self.line(data)
        for _ in range(3):
            line.seek(line.tick - 1)

    @rule(data=st.data(), keeps_later=st.booleans())
    def do(self, data, keeps_later):
        self.line(data).apply_command(data.draw(some_command(self.cells)), keeps_later)

    @rule(data=st.data())
    def do_in_linked_branches(self, data):
        self.tree.apply_command(self.pick_branch(data), data.draw(some_command(self.cells)))

    @rule(data=st.data())
    def undo(self, data):
        """What the window does: put back the terrain that was there before."""
        line = self.line(data)
        flat = line.world.grid.terrain.reshape(-1)
        cells = tuple(data.draw(st.lists(st.integers(0, self.cells - 1), min_size=1, max_size=5, unique=True)))
        letters = bytes(flat[list(cells)].tolist()).decode("ascii")
        line.apply_command(world_commands.EditCells(cells))
        line.apply_command(world_commands.SetTerrain(cells, letters))

    @rule(data=st.data(), tick=st.integers(0, FAR))
    def insert(self, data, tick):
        self.line(data).insert_command(tick, data.draw(some_command(self.cells)))

    @rule(data=st.data(), tick=st.integers(0, FAR))
    def rewrite(self, data, tick):
        line = self.line(data)
        if not line.command_log.entries:
            return
        chosen = data.draw(st.sampled_from(line.command_log.entries)).id
        what = data.draw(st.sampled_from(["toggle", "move", "delete", "duplicate", "change"]))
        if what == "toggle":
            line.set_command_enabled(chosen, not line.command_log.entry_by_id(chosen).is_enabled)
        elif what == "move":
            line.move_command(chosen, tick)
        elif what == "delete":
            line.delete_command(chosen)
        elif what == "duplicate":
            line.duplicate_command(chosen, tick)
        else:
            line.change_command(chosen, data.draw(some_command(self.cells)))

    @precondition(lambda self: len(self.tree.branches) < 5)
    @rule(data=st.data(), tick=st.one_of(st.none(), st.integers(0, FAR)))
    def branch(self, data, tick):
        self.tree.create_branch(self.pick_branch(data), tick)

    @precondition(lambda self: len(self.tree.branches) > 1)
    @rule(data=st.data())
    def delete_branch(self, data):
        self.tree.delete_branch(self.pick_branch(data))

    @precondition(lambda self: len(self.tree.branches) > 1)
    @rule(data=st.data())
    def link(self, data):
        self.tree.link_branches({self.pick_branch(data), self.pick_branch(data)})

    @invariant()
    def memory_is_within_the_budget(self):
        if hasattr(self, "tree"):
            assert self.tree.keyframe_store.used_bytes <= self.tree.keyframe_store.budget_bytes

    @rule(data=st.data())
    def check(self, data):
        line = self.line(data)
        assert_as_plain(line)
        assert line.run_history.divergence_tick is None
        assert line.run_history.recorded_end <= line.run_history.furthest_tick


def assert_records_as_plain(line: Timeline) -> None:
    """The world, and everything that was recorded on the way, against plain runs."""
    line.finish_seek()
    assert_as_plain(line)
    assert line.run_history.divergence_tick is None
    fresh = Timeline(line.build_world)
    fresh.replace_command_log(line.command_log.entries)
    fresh.finish_seek()
    fresh.advance(line.run_history.recorded_end)
    assert fresh.run_history.recorded_end == line.run_history.recorded_end
    assert tuple(fresh.run_history.world_digests) == tuple(line.run_history.world_digests)
    a, b = marks_of_run(fresh, 0, 1 << 30).tolist(), marks_of_run(line, 0, 1 << 30).tolist()
    assert a == b, (set(a) ^ set(b), len(a), len(b), line.run_history.recorded_end, line.tick, a, b)
    for agent, record in fresh.run_history.agent_records.items():
        if record.joined_tick < line.run_history.recorded_end:
            mine = line.run_history.agent_records[agent]
            assert record.active_spans == mine.active_spans, (
                record.active_spans,
                mine.active_spans,
                record.joined_tick,
                mine.joined_tick,
                line.tick,
            )
            assert np.array_equal(record.log_rows, mine.log_rows)
            assert (record.joined_tick, record.start_cell) == (mine.joined_tick, mine.start_cell)


TestSessions = TimelineMachine.TestCase
TestSessions.settings = settings(max_examples=40, stateful_step_count=25)


# --- seeking --------------------------------------------------------------------------------------


def long_world() -> World:
    """Agents that are busy for a thousand ticks."""
    world = make_world_setup("rtb-wa", "tba", "tb-gbfs", side=64, budget=3)
    free = np.flatnonzero(world.grid.free_mask)
    world.queue_commands((tick, MoveGoal(int(free[tick * 7 % free.size]))) for tick in range(100, 1000, 100))
    return world


@pytest.fixture
def close_keyframes(monkeypatch):
    """Keyframes as close in a small run as they are in one a hundred times as large."""
    monkeypatch.setattr(keyframe_saver, "KEYFRAME_SPACING", 400.0)
    monkeypatch.setattr(keyframe_saver, "MIN_NEAR_SPACING", 60.0)
    monkeypatch.setattr(work_estimates, "_BYTES_PER_WORK", 1 << 40)


def test_incremental_seek_keeps_the_shown_world_until_it_arrives(close_keyframes):
    line = Timeline(long_world)
    line.advance(900)
    world, digest, generation = line.world, line.world.compute_digest(), line.past_version
    line.begin_seek(333)
    assert (line.is_seeking, line.tick, line.target_tick) == (True, 900, 333)
    pieces = 0
    while not line.continue_seek(10.0):
        assert line.world is world
        assert line.world.compute_digest() == digest
        assert line.past_version == generation
        pieces += 1
    assert pieces > 3
    assert line.tick == 333
    assert line.world is not world
    assert line.past_version > generation
    assert_as_plain(line)


def test_seek_step_stays_near_its_work_limit():
    line = Timeline(long_world)
    line.begin_seek(5000)
    line.continue_seek(500.0)
    works = []
    before = line._head_cursor.replay_work_us
    while not line.continue_seek(500.0):
        works.append(line._head_cursor.replay_work_us - before)
        before = line._head_cursor.replay_work_us
    assert len(works) > 4
    assert max(works) < 1000.0


def test_ticks_with_a_random_change_are_estimated_to_be_more_work():
    """Random changes are due at the begin of ticks 4 and 8."""
    world = make_world(["." * 40] * 30, 0, 1199, ("lrta", {}), random_changes=RandomChangeSchedule(4, 1.0))
    works = []
    while world.tick < 9:
        world.advance(1)
        works.append(work_estimates.estimated_work_of_ticks(world, 1, 1))
    assert set(works[4::4]) == {max(works)} and set(works) - {max(works)} == {min(works)}
    assert works.count(max(works)) == 2


def test_seek_extends_the_record_and_stops_at_the_end():
    line = Timeline(long_world)
    assert line.seek(700) == line.run_history.recorded_end == 700
    end = line.seek(10**6)
    assert line.world.is_over
    assert line.seek(end - 1) == end - 1
    assert line.seek(10**6) == end
    assert line.seek(-5) == 0
    assert_as_plain(line)


def test_new_seek_replaces_the_current_seek(close_keyframes):
    line = Timeline(long_world)
    line.advance(800)
    for tick in (100, 300, 200, 799, 50):
        line.begin_seek(tick)
        line.continue_seek(200.0)
    line.finish_seek()
    assert line.tick == 50
    assert_as_plain(line)


def test_stepping_back_adds_keyframes_that_shorten_later_steps(close_keyframes):
    line = Timeline(long_world)
    line.advance(900)
    frame = line.keyframe_saver.keyframe_track.track_keyframes[-1]
    line.seek(frame.tick)
    frames, replays = line.keyframe_saver.keyframe_store.keyframe_count, []
    for tick in range(frame.tick - 1, frame.tick - 40, -1):
        nearest = line.keyframe_saver.keyframe_track.keyframe_at_or_before(tick)
        assert line.seek(tick) == tick
        replays.append(line._head_cursor.replay_work_us - nearest.replay_work_us)
    assert line.keyframe_saver.keyframe_store.keyframe_count > frames
    assert replays[0] > 200.0, "or there was nothing to shorten"
    assert np.mean(replays[1:]) < replays[0] / 2
    assert_as_plain(line)


def test_seek_without_keyframe_memory_replays_from_tick_0():
    calls = []
    line = Timeline(lambda: calls.append(1) or long_world(), KeyframeStore(0))
    line.advance(500)
    for tick in (499, 3, 250):
        line.seek(tick)
        assert_as_plain(line)
    assert line.keyframe_saver.keyframe_store.used_bytes == 0
    assert len(calls) == 6, "the first time, two seeks backwards, and the three plain runs it was compared with"


def test_setup_is_called_once_with_keyframe_memory():
    calls = []
    line = Timeline(lambda: calls.append(1) or long_world())
    line.advance(500)
    for tick in (0, 499, 3, 0):
        line.seek(tick)
    assert len(calls) == 1


def test_rows_after_a_seek_are_those_of_the_last_tick():
    line = Timeline(long_world)
    line.advance(400)
    for tick in (399, 77, 0, 78):
        line.seek(tick)
        for walker in line.world.walkers:
            rows = line.run_history.agent_records[walker.id].rows_before_tick(tick)
            is_active = line.run_history.agent_records[walker.id].activity_end_before(tick) == tick > 0
            assert walker.log_rows.tolist() == (rows[-1:].tolist() if is_active else [])
            assert not tick or walker.recent_rows.tick == tick - 1


def test_rows_at_the_end_are_those_of_the_last_tick():
    """A run that was played a little further than it goes showed nothing of its last moves: no reason, no lines."""
    line = Timeline(long_world)
    line.advance(10**6)
    assert line.world.is_over
    rows = [
        walker.log_rows[-1:].tolist()
        for walker in line.world.walkers
        if walker.recent_rows.tick + len(walker.log_rows) == line.tick
    ]
    assert rows
    line.advance(5)
    line.seek(line.tick - 1)
    line.seek(line.tick + 1)
    assert [walker.log_rows.tolist() for walker in line.world.walkers if walker.log_rows.size] == rows


# --- what is shown while a seek is under way ------------------------------------------------------


def test_reading_the_world_of_a_fork_does_not_finish_its_seek():
    """A saved session is opened as forks that are on their way: whoever draws them must not stop the window."""
    line = Timeline(long_world)
    line.advance(900)
    fork = line.fork(0)
    fork.replace_command_log(line.command_log.entries)
    fork.begin_seek(900)
    for _ in range(3):
        assert fork.world.tick == fork.tick
        assert fork.is_seeking and fork.target_tick == 900
        fork.continue_seek(1.0)
    assert fork.world.tick < 900
    fork.finish_seek()
    assert fork.tick == 900
    assert_as_plain(fork)


def test_fork_has_a_record_for_every_agent_it_shows():
    line = Timeline(long_world)
    line.advance(300)
    line.apply_command(world_commands.AddAgent(AgentConfig("tba", "late")))
    line.advance(300)
    for tick in (0, 100, 300, 301, 600):
        fork = line.fork(tick)
        for _ in range(4):
            assert {walker.id for walker in fork.world.walkers} <= set(fork.run_history.agent_records)
            fork.continue_seek(1.0)


def test_commands_during_a_seek_apply_at_the_target_tick():
    """The tick of a command is the one that the user has asked for, also in linked branches."""
    tree = BranchTree(long_world)
    tree[0].timeline.advance(500)
    other = tree.create_branch(0, 500)
    tree.link_branches([0, other.number])
    tree[0].timeline.begin_seek(200)
    other.timeline.begin_seek(200)
    entries = tree.apply_command(0, EditCells((700,)))
    assert [entry.tick for entry in entries] == [200, 200]


# --- beside a window ------------------------------------------------------------------------------


def test_keyframes_saved_during_drawing_are_correct(close_keyframes):
    """A window draws while a keyframe is read in another thread, asks for distances, edits, steps back."""
    line = Timeline(long_world)
    with ThreadPoolExecutor(1) as line.keyframe_saver.keyframe_store.background_executor:
        line.world.optimality_tracker.expansion_limit = 50
        while line.advance(3):
            line.world.create_snapshot()
            line.poll_true_distance(line.tick)
            line.continue_measuring()
            if line.tick % 60 == 0:
                line.apply_command(EditCells((600 + line.tick,)))
        assert line.keyframe_saver.keyframe_store.keyframe_count > 10
        for frame in list(line.keyframe_saver.keyframe_track.track_keyframes):
            line.seek(frame.tick + 20)
            plain = plain_run(line.build_world, line.command_log.entries, line.tick)
            assert line.world.compute_digest() == plain.compute_digest()
        assert line.run_history.divergence_tick is None


def test_keyframe_is_taken_one_frame_after_it_is_due(close_keyframes):
    """That was mostly one with a change of the map; and the frame after it does not read one itself."""
    line, due, taken = Timeline(long_world), [], []
    with ThreadPoolExecutor(1) as line.keyframe_saver.keyframe_store.background_executor:
        for _ in range(900):
            wanted = line.keyframe_saver.is_due(line._present_cursor())
            line.advance(1)
            if not wanted and line.keyframe_saver.is_due(line._present_cursor()):
                due.append(line.tick)
            if line.keyframe_saver._pending_keyframe is not None:
                taken.append(line.tick)
        line.finish_seek()
    assert len(taken) > 5 and taken == [tick + 1 for tick in due[: len(taken)]]
    assert {frame.tick for frame in line.keyframe_saver.keyframe_track.track_keyframes} <= {0, *taken}


class LazyReader(ThreadPoolExecutor):
    """Begins to read only when it is told to hurry, as where all processors are busy."""

    def submit(self, read, taking, like):
        def wait_and_read():
            for _ in range(10_000):
                if taking.yield_flag[0]:
                    return read(taking, like)
                time.sleep(0.001)
            raise AssertionError("nobody has said that they wait")

        return super().submit(wait_and_read)


def test_waiting_for_a_keyframe_sets_the_pace_flag(close_keyframes):
    line = Timeline(long_world)
    with LazyReader(1) as line.keyframe_saver.keyframe_store.background_executor:
        while line.advance(3):  # a tick waits for it
            pass
        assert line.keyframe_saver.keyframe_store.keyframe_count > 5
        line.advance(1)
        line.keyframe_saver.keyframe_store.evict_to_budget()  # and so does this
    assert (
        line.world.compute_digest() == plain_run(line.build_world, line.command_log.entries, line.tick).compute_digest()
    )


def test_pending_measurements_continue_while_paused():
    line, plain = Timeline(long_world), long_world()
    line.world.optimality_tracker.expansion_limit = 5
    edit = EditCells(tuple(range(700, 730)))
    line.advance(1)  # at tick 0 the optimum would be looked for, and know all that is asked for
    plain.advance(1)
    line.apply_command(edit)
    plain.submit(edit)
    line.advance(5)
    plain.advance(5)
    frames = 0
    while line.continue_measuring():
        frames += 1
    assert frames > 1
    numbers = [[world.metrics_of_walker(w).nonoptimal_moves for w in world.walkers] for world in (line.world, plain)]
    assert numbers[0] == numbers[1] and None not in numbers[0]


# --- changing the past ----------------------------------------------------------------------------


def test_moved_duplicated_and_deleted_edits_replay_as_plain_runs():
    line = Timeline(long_world)
    line.advance(90)
    entry = line.apply_command(EditCells(tuple(range(700, 730))))
    line.advance(200)
    line.move_command(entry.id, 50)
    assert line.is_seeking
    assert line.target_tick == 290
    assert (line.run_history.recorded_end, line.run_history.furthest_tick) == (50, 290)
    line.finish_seek()
    assert line.tick == 290
    assert_as_plain(line)
    other = line.duplicate_command(entry.id, 60)
    line.change_command(other.id, EditCells((), tuple(range(700, 730))))
    line.set_command_enabled(entry.id, False)
    assert [e.tick for e in line.command_log.entries[:3]] == [50, 60, 100]
    assert_as_plain(line)
    line.delete_command(entry.id)
    line.delete_command(other.id)
    assert_as_plain(line)
    assert all(e.is_scripted for e in line.command_log.entries)


@pytest.mark.parametrize("offset", range(-3, 4))
def test_edit_inserted_near_the_current_tick_applies(offset):
    for applies_first in (False, True):
        line = Timeline(long_world)
        line.advance(120)
        if applies_first:
            line.apply_due_commands()
        line.insert_command(120 + offset, EditCells(tuple(range(640, 700))))
        assert_as_plain(line)
        line.advance(1)
        assert_as_plain(line)
        line.advance(200)
        assert_as_plain(line)


def test_keyframes_after_an_inserted_edit_are_dropped(close_keyframes):
    line = Timeline(long_world)
    line.advance(600)
    for share in (1.0, 0.8, 0.4):
        place = int(share * (len(line.keyframe_saver.keyframe_track.track_keyframes) - 1))
        tick = line.keyframe_saver.keyframe_track.track_keyframes[place].tick - 1
        line.insert_command(tick, EditCells(tuple(range(700 + place, 730))))
        assert line.keyframe_saver.keyframe_track.track_keyframes[-1].tick <= tick
        line.finish_seek()
        assert_as_plain(line)
        line.advance(600 - line.tick)


@pytest.mark.parametrize("tick", [0, 1, 5])
def test_deleting_the_last_command_keeps_the_present_tick(tick):
    line = Timeline(long_world)
    line.advance(tick)
    entry = line.apply_command(EditCells((700,)))
    line.delete_command(entry.id)
    line.finish_seek()
    assert line.tick == tick
    assert_as_plain(line)


def test_deleting_a_pending_command_shortens_the_run():
    """Time goes on while a command waits, also when all agents have arrived. Take it away, and those ticks are gone."""
    line = Timeline(lambda: make_world_setup("tb-wa", side=16, budget=50))
    line.advance(10_000)
    end = line.tick
    entry = line.insert_command(end + 300, EditCells((5,)))
    assert line.advance(1000) == 300
    line.delete_command(entry.id)
    line.finish_seek()
    assert line.tick == line.run_history.recorded_end == end
    assert_as_plain(line)


def test_inapplicable_entries_give_complaints():
    line = Timeline(long_world)
    wall = int(np.flatnonzero(~line.world.grid.free_mask)[0])
    free = int(np.flatnonzero(line.world.grid.free_mask)[50])
    commands_and_words = [
        (SetParam(9, "weight", 2.0), "there is no agent 9"),
        (SetParam(0, "wight", 2.0), "has no parameter 'wight'; did you mean 'weight'?"),
        (SetParam(0, "weight", 0.0), "expected a number from 1 to 100, got 0.0"),
        (SetSwitch("gate", True), "no switch 'gate'"),
        (MoveGoal(wall), "that cell is blocked"),
        (EditCells((0,)), "stays free"),
        (world_commands.AddAgent(AgentConfig("tbaa")), "no agent 'tbaa'; did you mean 'tba'?"),
        (world_commands.RemoveAgent(7), "there is no agent 7"),
        (EditCells((free,)), ""),
    ]
    entries = [(line.insert_command(0, command), words) for command, words in commands_and_words]
    line.finish_seek()
    line.advance(30)
    line.seek(5)
    line.seek(30)
    complaints = line.command_log.rejection_reasons(line.run_history.run_messages)
    for entry, words in entries:
        assert words in complaints.get(entry.id, ""), entry
        assert bool(words) == (entry.id in complaints), entry
    assert len(line.run_history.run_messages) == len(complaints)
    for entry, _ in entries:
        line.delete_command(entry.id)
    line.finish_seek()
    assert not line.command_log.rejection_reasons(line.run_history.run_messages)
    assert not line.run_history.run_messages


def test_new_command_keeps_older_commands_of_the_same_tick():
    line = Timeline(long_world)
    line.advance(50)
    first = line.apply_command(EditCells((700,)))
    line.advance(10)
    later = line.apply_command(EditCells((701,)))
    line.advance(100)
    line.seek(50)
    second = line.apply_command(EditCells((702,)))
    by_hand = [entry for entry in line.command_log.entries if not entry.is_scripted]
    assert by_hand == [first, second] and later not in by_hand
    assert_as_plain(line)


def test_edit_in_the_past_drops_a_command_at_the_end_of_the_record():
    line = Timeline(long_world)
    line.advance(80)
    line.apply_command(EditCells((700,)))
    line.seek(50)
    line.apply_command(EditCells((701,)))
    assert [entry.tick for entry in line.command_log.entries if not entry.is_scripted] == [50]
    assert_as_plain(line)


@pytest.mark.parametrize("tick", [100, 230, 299])
def test_diverging_replay_is_reported_with_its_tick(tick):
    """A setup that does not make the same world again stands for any bug that makes a replay go another way."""
    budgets = iter([3, 4])

    def setup() -> World:
        world = long_world()
        world.walkers[0].budget = next(budgets)
        return world

    line = Timeline(setup, KeyframeStore(0))
    line.advance(300)
    assert line.run_history.divergence_tick is None
    line.seek(tick)
    assert line.run_history.divergence_tick == 100


def test_equal_replay_is_not_reported_as_diverged(close_keyframes):
    line = Timeline(long_world)
    line.advance(900)
    for tick in (100, 250, 899, 1):
        line.seek(tick)
    assert line.run_history.divergence_tick is None


# --- what is recorded -----------------------------------------------------------------------------


def small_world() -> World:
    rows = ["........", ".@@@@@@.", "........"]
    world = make_world(rows, 0, 7, ("rtb-wa", {"restart": "eager"}), ("tba", {}), budget=20)
    world.switches = {"gate": (6,)}
    return world


def test_records_contain_every_tick_of_every_agent():
    line = Timeline(small_world)
    cells = {0: [], 1: []}
    for _ in range(4):
        line.advance(1)
        for walker in line.world.walkers:
            cells[walker.id].append(walker.position)
    line.apply_command(world_commands.AddAgent(AgentConfig("tb-gbfs", "late")))
    line.apply_command(world_commands.RemoveAgent(1))
    line.advance(100)
    late = line.run_history.agent_records[2]
    assert (late.label, late.kind, late.joined_tick, late.start_cell) == ("late", "tb-gbfs", 4, 0)
    assert line.run_history.agent_records[1].end == 4
    for agent, walked in cells.items():
        assert line.run_history.agent_records[agent].rows_before_tick(4)["cell"].tolist() == walked
        assert [line.run_history.agent_records[agent].cell_at_tick(tick) for tick in range(5)] == [0, *walked]
    assert line.run_history.agent_records[0].cell_at_tick(10**6) == 7


def test_waiting_agent_has_a_record_row_for_every_tick():
    line = Timeline(lambda: make_world(["..@..", ".....", "..@.."], 5, 9, ("rtb-wa", {}), budget=20))
    line.apply_command(EditCells((7,)))
    line.insert_command(40, EditCells((), (7,)))
    line.advance(100)
    record = line.run_history.agent_records[0]
    assert record.end > 41
    assert len(record.active_spans) == 2
    assert record.log_rows.size == record.end - record.joined_tick
    waiting = record.log_rows[record.active_spans[0][1] : 40]
    assert set(waiting["cell"].tolist()) == {record.cell_at_tick(record.active_spans[0][1])}
    assert not waiting["expanded"].any()


@pytest.mark.parametrize("step", [1, 7, 100_000])
def test_every_trial_has_an_arrival_mark_at_any_step_size(step):
    def world() -> World:
        rows = ["...@....", ".@.@.@.@", ".@...@.."]
        return make_world(rows, 0, 23, ("lss-lrta", {"lookahead": 3}), budget=9, trials=6)

    line = Timeline(world)
    while line.advance(step):
        pass
    (walker,) = line.world.walkers
    assert len(walker.trials) > 2
    ends = np.cumsum([trial.ticks for trial in walker.trials]) + np.arange(len(walker.trials))
    assert marks_of_run(line, 0, 10**6, [MarkKind.ARRIVAL])["tick"].tolist() == ends.tolist()


def test_marks_list_edits_restarts_and_arrivals():
    line = Timeline(small_world)
    line.advance(2)
    line.apply_command(SetSwitch("gate", True))
    line.advance(100)
    kinds = {int(k) for k in marks_of_run(line, 0, 10**6)["kind"]}
    assert {int(MarkKind.EDIT), int(MarkKind.RESTART), int(MarkKind.ARRIVAL)} <= kinds
    assert marks_of_run(line, 0, 100, [MarkKind.EDIT]).tolist() == [(2, -1, int(MarkKind.EDIT))]
    (restart,) = marks_of_run(line, 0, 100, [MarkKind.RESTART])[:1]
    assert restart["tick"] == 3
    for tick, agent, _ in marks_of_run(line, 0, 100, [MarkKind.ARRIVAL]).tolist():
        line.seek(tick - 1)
        assert line.world.walker_with_id(agent).agent.status is not Status.AT_GOAL
        line.seek(tick)
        assert line.world.walker_with_id(agent).agent.status is Status.AT_GOAL
    ticks = marks_of_run(line, 0, 100)["tick"].tolist()
    assert ticks == sorted(ticks)
    walked, tick = [], 0
    while (tick := next_mark_tick(line, tick)) is not None:
        walked.append(tick)
    assert walked == sorted(set(ticks))
    assert previous_mark_tick(line, 0) is None
    back, tick = [], 10**6
    while (tick := previous_mark_tick(line, tick)) is not None:
        back.append(tick)
    assert back == walked[::-1]


def test_goal_moved_onto_an_agent_is_an_arrival():
    line = Timeline(lambda: make_world(["....."], 0, 4, ("tb-wa", {}), budget=20))
    line.advance(2)
    line.insert_command(20, EditCells((), (4,)))  # so that time goes on
    line.apply_command(MoveGoal(line.world.walkers[0].position))
    assert line.advance(8) == 8
    assert marks_of_run(line, 0, 10, [MarkKind.ARRIVAL])["tick"].tolist() == [3]
    line.apply_command(MoveGoal(4))
    line.advance(5)
    assert line.world.walkers[0].has_arrived, "it is woken again"


class AlwaysRefreshingExecutor(BatchedExecutor):
    """An executor that calls all agents which act alone in every tick, and reports activity in every tick."""

    def run(self, state: WorldState, ticks: int) -> RunResult:
        self.invalidate_caches(InvalidationReason.AGENTS)
        return super().run(state, ticks)._replace(has_activity=True)


class AlwaysRefreshingWorld(World):
    """A world in which no tick is taken to be without activity."""

    def use_executor(self, executor: ExecutorFactory) -> None:
        super().use_executor(AlwaysRefreshingExecutor)


@settings(max_examples=60)
@given(setups(), st.sampled_from([1, 4, 60]), st.data())
def test_skipping_blocked_agents_does_not_change_the_run(setup, step, data):
    """Who has arrived, who has no path, and ticks in which nobody does anything, whatever is done meanwhile."""
    with patch("tests.runs.World", AlwaysRefreshingWorld):
        lines = Timeline(setup), Timeline(setup)
    lines = Timeline(setup), lines[1]
    cells = lines[0].world.grid.cells
    wakes = st.builds(MoveGoal, st.integers(0, cells - 1)) | st.builds(world_commands.SetMaxTrials, st.integers(1, 4))
    for line in lines:
        line.insert_command(FAR, SetSwitch("none", True))  # so that time goes on where nobody does anything
    for _ in range(data.draw(st.integers(1, 6))):
        command = data.draw(wakes | some_command(cells))
        for line in lines:
            line.advance(step)
            line.apply_command(command)
            line.advance(step)
        one, other = map(timeline_state, lines)
        assert one == other


def timeline_state(line: Timeline) -> list[object]:
    world = line.world
    agents = [(w.id, w.agent.status, w.trials, w.counts_record[0].item(), world.view(w).metrics) for w in world.walkers]
    records = {
        a: (r.joined_tick, r.active_spans, r.log_rows.tolist()) for a, r in line.run_history.agent_records.items()
    }
    return [
        world.tick,
        world.compute_digest(),
        agents,
        records,
        marks_of_run(line, 0, 10**6).tolist(),
        tuple(line.run_history.world_digests),
    ]


def test_no_path_mark_is_at_the_tick_of_its_proof():
    line = Timeline(lambda: make_world(["..@..", ".....", "..@.."], 5, 9, ("rtb-wa", {}), ("tba", {}), budget=20))
    line.apply_command(EditCells((7,)))
    line.advance(20)
    marks = marks_of_run(line, 0, 20, [MarkKind.NO_PATH])
    assert sorted(marks["agent"].tolist()) == [0, 1]
    for tick, agent, _ in marks.tolist():
        line.seek(tick)
        assert line.world.walker_with_id(agent).agent.status is Status.NO_PATH


def test_back_move_marks_match_the_metrics():
    line = Timeline(long_world)
    line.advance(800)
    marks = marks_of_run(line, 0, 800, [MarkKind.BACK_MOVE])
    counted = sum(int(walker.counts_record[0].back_moves) for walker in line.world.walkers)
    assert marks.size == counted > 0


def test_re_added_agent_keeps_its_number_and_later_agents_get_new_ones():
    line = Timeline(lambda: make_world(["....."] * 3, 0, 14, ("tb-wa", {}), ("lrta", {})))
    line.apply_command(world_commands.RemoveAgent(0))
    for number in (0, None, None):
        line.apply_command(world_commands.AddAgent(AgentConfig("tb-wa"), number))
    assert [walker.id for walker in line.world.walkers] == [1, 0, 2, 3]
    line.seek(0)
    assert [entry.command.agent for entry in line.command_log.entries[1:]] == [0, 2, 3]
