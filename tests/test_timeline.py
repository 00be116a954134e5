"""Time travel: whatever way a state was reached, it is that of a plain run with the same commands."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, precondition, rule

from agents.registry import BY_KEY, SPECS
from sim import commands, timeline as timelines
from sim.branches import BranchTree
from sim.commands import AgentConfig
from sim.keyframes import KeyframeStore
from sim.recorded import MarkKind
from sim.timeline import DIGEST_EVERY, Timeline

from .conftest import make_world
from .runs import assert_as_plain, plain_run, setups, some_command

FAR = 130  # ticks that a random session covers, so that some digests are recorded


class Sessions(RuleBasedStateMachine):
    """A user who plays, edits, goes back, branches and rewrites the log, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self._spacing = timelines.SPACING, timelines.NEAR_SPACING, timelines._BYTES_A_WORK
        # Small worlds do little work: with keyframes as rare as in large ones there would be none to go wrong.
        timelines.SPACING, timelines.NEAR_SPACING, timelines._BYTES_A_WORK = 1500.0, 300.0, 1 << 40

    def teardown(self) -> None:
        timelines.SPACING, timelines.NEAR_SPACING, timelines._BYTES_A_WORK = self._spacing
        if hasattr(self, "tree"):
            for branch in self.tree.branches.values():
                check_whole(branch.timeline)

    @initialize(setup=setups(), budget=st.sampled_from([0, 60_000, 1 << 30]))
    def begin(self, setup, budget):
        self.tree = BranchTree(setup, budget)
        self.cells = self.tree[0].timeline.world.grid.cells

    def pick(self, data):
        return data.draw(st.sampled_from(list(self.tree.branches)))

    def line(self, data):
        return self.tree[self.pick(data)].timeline

    @rule(data=st.data(), ticks=st.integers(0, 60))
    def play(self, data, ticks):
        self.line(data).advance(ticks)

    @rule(data=st.data(), tick=st.integers(0, FAR))
    def seek(self, data, tick):
        line = self.line(data)
        reached = line.seek(tick)
        assert reached == line.tick and (reached == tick or line.is_over)

    @rule(data=st.data(), tick=st.integers(0, FAR), work=st.floats(1, 3000), steps=st.integers(1, 8))
    def seek_for_a_while(self, data, tick, work, steps):
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
        self.line(data).do(data.draw(some_command(self.cells)), keeps_later)

    @rule(data=st.data())
    def do_to_all_linked(self, data):
        self.tree.do(self.pick(data), data.draw(some_command(self.cells)))

    @rule(data=st.data())
    def undo(self, data):
        """What the window does: put back the terrain that was there before."""
        line = self.line(data)
        flat = line.world.grid.terrain.reshape(-1)
        cells = tuple(data.draw(st.lists(st.integers(0, self.cells - 1), min_size=1, max_size=5, unique=True)))
        letters = bytes(flat[list(cells)].tolist()).decode("ascii")
        line.do(commands.EditCells(cells))
        line.do(commands.SetTerrain(cells, letters))

    @rule(data=st.data(), tick=st.integers(0, FAR))
    def insert(self, data, tick):
        self.line(data).insert(tick, data.draw(some_command(self.cells)))

    @rule(data=st.data(), tick=st.integers(0, FAR))
    def rewrite(self, data, tick):
        line = self.line(data)
        if not line.entries():
            return
        chosen = data.draw(st.sampled_from(line.entries())).id
        what = data.draw(st.sampled_from(["toggle", "move", "delete", "duplicate", "change"]))
        if what == "toggle":
            line.set_enabled(chosen, not line.entry(chosen).is_enabled)
        elif what == "move":
            line.move(chosen, tick)
        elif what == "delete":
            line.delete(chosen)
        elif what == "duplicate":
            line.duplicate(chosen, tick)
        else:
            line.change(chosen, data.draw(some_command(self.cells)))

    @rule(data=st.data(), work=st.floats(1, 3000))
    def catch_up(self, data, work):
        self.line(data).catch_up(work)

    @precondition(lambda self: len(self.tree.branches) < 5)
    @rule(data=st.data(), tick=st.one_of(st.none(), st.integers(0, FAR)))
    def branch(self, data, tick):
        self.tree.branch(self.pick(data), tick)

    @precondition(lambda self: len(self.tree.branches) > 1)
    @rule(data=st.data())
    def delete_branch(self, data):
        self.tree.delete(self.pick(data))

    @precondition(lambda self: len(self.tree.branches) > 1)
    @rule(data=st.data())
    def link(self, data):
        self.tree.link({self.pick(data), self.pick(data)})

    @invariant()
    def memory_is_within_the_budget(self):
        if hasattr(self, "tree"):
            assert self.tree.store.held <= self.tree.store.budget

    @rule(data=st.data())
    def check(self, data):
        line = self.line(data)
        assert_as_plain(line)
        assert line.diverged is None
        assert line.recorded_end <= line.horizon


def check_whole(line: Timeline) -> None:
    """The world, and everything that was recorded on the way, against plain runs."""
    line.settle()
    assert_as_plain(line)
    assert line.diverged is None
    fresh = Timeline(line.setup)
    fresh.replace_log(line.entries())
    fresh.settle()
    fresh.advance(line.recorded_end)
    assert fresh.recorded_end == line.recorded_end
    assert fresh.digests() == line.digests()
    a, b = fresh.marks(0, 1 << 30).tolist(), line.marks(0, 1 << 30).tolist()
    assert a == b, (set(a) ^ set(b), len(a), len(b), line.recorded_end, line.tick, a, b)
    for agent, record in fresh.records.items():
        if record.joined < line.recorded_end:
            mine = line.records[agent]
            assert record.spans == mine.spans, (record.spans, mine.spans, record.joined, mine.joined, line.tick)
            assert np.array_equal(record.rows, mine.rows)
            assert (record.joined, record.start) == (mine.joined, mine.start)
            assert record.left == mine.left or line.recorded_end in (record.left, mine.left)


TestSessions = Sessions.TestCase
TestSessions.settings = settings(max_examples=40, stateful_step_count=25)
