"""Milliseconds for all agents together: they plan in turn, and what a clock said can be repeated exactly."""

import json
import random
from collections.abc import Callable
from itertools import count
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.registry import AGENT_SPECS_BY_KEY
from cli import run
from sim import world_commands
from sim.batching import agent_batch
from sim.batching.batch_plan import BatchPlan
from sim.batching.batched_executor import BatchedExecutor
from sim.changes import RandomChangeSchedule
from sim.grid import Grid
from sim.jit.decorators import JIT_ON
from sim.tick_timer import TickTimer
from sim.time.branches import BranchTree
from sim.time.run_marks import marks_of_run
from sim.time.timeline import Timeline
from sim.world import World
from sim.world_commands import AgentConfig
from tests.runs import batches_of
from ui.model import script_entries
from ui.model.session import Session
from ui.model.start_over import scenario_of_run, user_commands

from .conftest import make_world, problems
from .test_crowds import make_crowd_scenario

Problem = tuple[list[str], int, int]
KINDS = (("tb-wa", 2.5), ("tba", None), ("rtb-wa", 1.5), ("lrta", None), ("tb-wa", 2.5))


class RandomClock:
    """Seconds that pass as they like."""

    def __init__(self, seed: int, slowness: float) -> None:
        self.chance, self.slowness, self.now = random.Random(seed), slowness, 0.0

    def __call__(self) -> float:
        self.now += self.chance.random() * self.slowness
        return self.now


def make_random_world(problem: Problem, seed: int, tick_ms: float = 0.0, fewest: int = 2) -> World:
    rows, start, goal = problem
    grid, chance = Grid.from_text_rows(rows), random.Random(seed)
    world = World(
        grid,
        start,
        goal,
        AGENT_SPECS_BY_KEY,
        budget=4,
        seed=seed,
        random_changes=RandomChangeSchedule(9, 10.0),
        tick_ms=tick_ms,
        executor=batches_of(fewest),
    )
    free = grid.free_mask.nonzero()[0].tolist()
    for kind, weight in KINDS:
        for _ in range(3):
            ends = [grid.xy(chance.choice(free)) for _ in range(2)]
            params = {} if weight is None else {"weight": weight}
            world.add(AgentConfig(kind, params=params, start=ends[0], goal=ends[1], group=kind))
    return world


def world_state(world: World) -> list[object]:
    numbers = [(w.position, w.agent.status, w.counts_record[0].item()) for w in world.walkers]
    return [world.tick, world.compute_digest(), numbers]


@settings(max_examples=20)
@given(problems(side=8), st.integers(0, 999), st.sampled_from([1, 3, 40]))
def test_slice_log_reproduces_a_timed_run_without_a_clock(problem: Problem, seed: int, step: int) -> None:
    world = make_random_world(problem, seed, tick_ms=1.0)
    world.agent_times.clock = RandomClock(seed, 0.0005)
    for _ in range(0, 60, step):
        world.advance(step)
    again = make_random_world(problem, seed, fewest=1_000_000)
    again.queue_commands((tick, world_commands.LimitPlanners(count)) for tick, count in world.planner_limited_ticks)
    while again.tick < world.tick:
        again.advance(world.tick - again.tick)
    assert world_state(again) == world_state(world)


class PlanningClock:
    """Seconds that pass only while agents plan, by what each turn is said to take, and a little at each look."""

    LOOK_S = 5e-6

    def __init__(self, seed: int, turn_s: float) -> None:
        self.chance, self.turn_s, self.now, self.looks = random.Random(seed), turn_s, 0.0, 0

    def __call__(self) -> float:
        self.now += self.LOOK_S
        self.looks += 1
        return self.now

    def plan(self, turns: int) -> None:
        self.now += sum(self.chance.expovariate(1.0 / self.turn_s) for _ in range(turns))


@pytest.mark.parametrize("turn_us", [1, 20, 130, 250])
@pytest.mark.parametrize("closing_us", [0, 300])
def test_tick_takes_its_time_limit_at_any_agent_time(turn_us: int, closing_us: int) -> None:
    """With a look after every 25 agents, `tick_ms: 2` took 3.2 ms in the median for 200 D* Lite units."""
    clock, timer = PlanningClock(1, turn_us / 1e6), TickTimer()
    took, looks = [], []
    for _ in range(200):
        begin, clock.looks, served = clock.now, 0, 0
        timer.begin_tick(clock, 0.002)
        while served < 5000 and (batch := timer.next_agent_count(served)):
            clock.plan(min(batch, 5000 - served))
            served += min(batch, 5000 - served)
        clock.now += closing_us / 1e6
        timer.end()
        took.append(1000.0 * (clock.now - begin))
        looks.append(clock.looks)
    assert 1.8 <= median(took[20:]) <= 2.2
    assert max(looks) <= 30, "looking costs time, too"


def test_half_of_the_agents_that_fit_into_the_tick_plan_before_the_next_reading() -> None:
    """A turn takes 1/1024 s. After 8 turns there is time for 128 more: 64 of them are served, then half of the rest."""
    timer, now = TickTimer(), 0.0
    timer.begin_tick(lambda: now, 136 / 1024)
    timer.next_agent_count(0)
    now = 8 / 1024
    assert timer.next_agent_count(8) == 64
    now = 72 / 1024
    assert timer.next_agent_count(72) == 32
    now = 136 / 1024
    assert timer.next_agent_count(136) == 0


@pytest.mark.parametrize(
    ("queue", "length"), [([0, 1, 2], 3), ([1, 2, 3], 2), ([0, 2, 1], 1), ([2, 3], 1), ([3, 0, 1], 1), ([4, 0, 1], 0)]
)
def test_agents_that_follow_each_other_in_a_batch_advance_in_one_call(queue: list[int], length: int) -> None:
    """Agents 0, 1 and 2 are in one batch, agent 3 is in another one, and agent 4 is in none."""
    world = make_world(["." * 5], 0, 4, *[("lrta", {})] * 5)
    plan = BatchPlan(world.walkers, [], 2)
    batches: Any = [SimpleNamespace(index_by_id={0: 0, 1: 1, 2: 2}), SimpleNamespace(index_by_id={3: 0})]
    plan.batches = batches
    assert plan.queue_prefix_length_for_one_call([world.walkers[index] for index in queue]) == length


def test_kernel_time_of_a_batch_is_that_of_the_last_advance() -> None:
    """Each call of the kernel takes a second."""
    world = make_world(["." * 5], 0, 4, *[("lrta", {})] * 2)
    parts = [agent_batch._flat_memory_arrays(walker) for walker in world.walkers]
    batch = agent_batch.AgentBatch(lambda *_: None, world.walkers, parts)
    seconds = count()
    for _ in range(3):
        batch.discard_log_rows()
        for tick in range(2):
            batch.run_ticks(world.grid, tick, 1, 1, lambda: float(next(seconds)))
        assert batch.kernel_seconds == 2.0


@pytest.mark.skipif(not JIT_ON, reason="crews need compiled kernels")
def test_batch_planning_respects_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each turn takes 0.13 ms: 15 of 200 agents fit into 2 ms."""
    grid = Grid.from_text_rows(["." * 48] * 48)
    world = World(grid, 0, 1, AGENT_SPECS_BY_KEY, budget=1, tick_ms=2.0, measures=False, executor=BatchedExecutor)
    for place in range(200):
        world.add(AgentConfig("dstar-lite", start=(place % 48, 0), goal=(47 - place % 48, 47), group="units"))
    clock, serve = PlanningClock(2, 0.13e-3), agent_batch.AgentBatch.run_agents_in_slots

    def serve_slowly(self: agent_batch.AgentBatch, grid: Grid, tick: int, places: slice, timed_by: object) -> None:
        serve(self, grid, tick, places)
        clock.plan(len(range(*places.indices(len(self.walkers)))))

    monkeypatch.setattr(agent_batch.AgentBatch, "run_agents_in_slots", serve_slowly)
    world.agent_times.clock = clock
    took = []
    for _ in range(60):
        begin = clock.now
        world.advance(1)
        took.append(1000.0 * (clock.now - begin))
    assert len(world.planner_limited_ticks) == 60 and len(world.executor.batches) == 1
    assert 1.8 <= median(took) <= 2.2
    assert 12 <= median(count for _, count in world.planner_limited_ticks) <= 18


@settings(max_examples=10)
@given(problems(side=8), st.integers(0, 999), st.sampled_from([2, 1_000_000]))
def test_records_hold_positions_of_agents_waiting_for_a_time_slice(problem: Problem, seed: int, fewest: int) -> None:
    """Also where a frame lets several ticks pass: who waits leaves no gap in the rows of the others, nor in its own."""

    def begin() -> World:
        world = make_random_world(problem, seed, tick_ms=1.0, fewest=fewest)
        world.agent_times.clock = RandomClock(seed, 0.0005)
        return world

    line = Timeline(begin)
    for _ in range(6):
        line.advance(5)
    again = line.fork(0)
    for tick in range(line.tick + 1):
        again.seek(tick)
        stood = {walker.id: walker.position for walker in again.world.walkers}
        assert {
            agent: record.cell_at_tick(tick) for agent, record in line.run_history.agent_records.items()
        } == stood, tick


@settings(max_examples=10)
@given(problems(side=8), st.integers(0, 999))
def test_ample_time_limit_does_not_change_the_run(problem: Problem, seed: int) -> None:
    world, free = make_random_world(problem, seed, tick_ms=1.0), make_random_world(problem, seed)
    world.agent_times.clock = lambda: 0.0
    for each in (world, free):
        each.advance(40)
    assert not world.planner_limited_ticks and world_state(world) == world_state(free)


def test_every_agent_plans_once_per_round() -> None:
    rows = ["." * 8] * 8
    world = make_random_world((rows, 0, 63), 3)
    there = len([walker for walker in world.walkers if not walker.is_done])
    world.random_changes = RandomChangeSchedule(1, 0.0)
    world.queue_commands((tick, world_commands.LimitPlanners(1)) for tick in range(there))
    while world.tick < there:
        world.advance(there - world.tick)
    ticks = [
        int(walker.counts_record[0].ticks) for walker in world.walkers if walker.start != world.goal_of_walker(walker)
    ]
    assert set(ticks) == {1}
    assert all(int(walker.counts_record[0].waits) >= there - 1 for walker in world.walkers if not walker.is_done)


@settings(max_examples=10)
@given(problems(side=8), st.integers(0, 999))
def test_timeline_replays_a_timed_run_exactly(problem: Problem, seed: int) -> None:
    """However it is wound, forked, edited or made again from its plain values."""
    chance, clock = random.Random(seed), RandomClock(seed, 0.0006)

    def setup() -> World:
        world = make_random_world(problem, seed, tick_ms=1.0)
        world.agent_times.clock = clock
        return world

    tree = BranchTree(setup)
    timeline = tree[0].timeline
    seen: dict[int, str] = {}
    for _ in range(12):
        if chance.random() < 0.2:
            tree.apply_command(
                0, world_commands.EditCells(blocked_cells=(chance.randrange(timeline.world.grid.cells),))
            )
            seen = {tick: digest for tick, digest in seen.items() if tick < timeline.tick}
        timeline.advance(chance.choice([1, 5]))
        timeline.apply_due_commands()  # as a seek does
        seen[timeline.tick] = timeline.world.compute_digest()
        there = timeline.tick
        if seen:
            tick = chance.choice(list(seen))
            timeline.seek(tick)
            assert timeline.world.compute_digest() == seen[tick]
        timeline.seek(there)
        assert timeline.world.compute_digest() == seen[there]
    assert timeline.run_history.divergence_tick is None
    made = BranchTree.from_states(setup, tree.branch_states())[0].timeline
    made.finish_seek()
    assert made.tick == timeline.tick and made.world.compute_digest() == timeline.world.compute_digest()
    fork = timeline.fork()
    fork.finish_seek()
    assert fork.world.compute_digest() == timeline.world.compute_digest()


def test_slice_log_entries_are_not_user_edits() -> None:
    session = Session(make_crowd_scenario())
    session.submit_command(world_commands.SetTickTimeLimit(1.0))
    session.run.world.agent_times.clock = RandomClock(1, 0.001)
    session.advance_by_ticks(20)
    served = [
        entry
        for entry in session.run.focused_branch_timeline.command_log.entries
        if isinstance(entry.command, world_commands.LimitPlanners)
    ]
    assert served and len(script_entries.script_entries(session.run)) == 1
    assert [type(command) for _, command in user_commands(session.run.focused_branch_timeline)] == [
        world_commands.SetTickTimeLimit
    ]
    assert not any(
        mark["tick"] > 0 and mark["kind"] == 0
        for mark in marks_of_run(session.run.focused_branch_timeline, 0, session.run.recorded_end_tick)
    )
    assert scenario_of_run(session.run, keeps_map=True).tick_ms == 1.0


CROWD = """format: backmove-scenario
version: 1
map: {rows: ["..........", ".@@@@@@@..", "..........", "..@@@@@@@.", ".........."]}
budget: 2
start: [0, 0]
goal: [9, 4]
agents:
  - {kind: tb-wa, weight: 2, count: 40, placing: {pairs: random, seed: 2, min_cost: 6}}
  - {kind: astar, count: 20, placing: {pairs: random, seed: 3, min_cost: 6}}
"""


def test_keep_writes_a_reproducible_scenario_of_a_timed_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, kept = tmp_path / "crowd.yaml", tmp_path / "kept.yaml"
    path.write_text(CROWD)

    def lines(of: Callable[[], int]) -> list[dict[str, object]]:
        assert of() == 0
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    first = lines(lambda: run.main([str(path), "--summary", "--tick-ms", "0.05", "--keep", str(kept)]))
    again = lines(lambda: run.main([str(kept), "--summary"]))
    assert first[0]["tick_ms"] == 0.05 and not first[0]["reproducible"] and again[0]["reproducible"]
    assert "serve:" in kept.read_text()
    assert [line["world_digest"] for line in first] == [line["world_digest"] for line in again]
    assert [line["arrived"] for line in again] == [40, 20]


@pytest.mark.parametrize(
    ("limit", "ticks", "is_told"),
    [
        ("tick_ms: 0.5\n", 9, True),
        ("tick_ms: 0.5\n", 9999, False),
        ("edits: [{tick: 2, tick_ms: 0.5}, {tick: 4, tick_ms: 0}]\n", 9, False),
        ("edits: [{tick: 11, tick_ms: 0.5}]\n", 9, True),
    ],
)
def test_keep_of_a_truncated_timed_run_warns_about_its_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], limit: str, ticks: int, is_told: bool
) -> None:
    path, kept = tmp_path / "crowd.yaml", tmp_path / "kept.yaml"
    path.write_text(CROWD + limit)
    assert run.main([str(path), "--ticks", str(ticks), "--keep", str(kept)]) == 0
    assert (f"{kept}: from tick 9 on, where this run ends, ticks" in capsys.readouterr().err) == is_told


@pytest.mark.parametrize("options", [[], ["--summary"]])
def test_scripted_time_limit_applies_and_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    """Whatever is printed; a limit that has ended by the end of the run had its say all the same."""
    monkeypatch.setattr("cli.run.time.perf_counter", RandomClock(3, 0.001))
    path, kept = tmp_path / "crowd.yaml", tmp_path / "kept.yaml"
    path.write_text(CROWD + "edits:\n  - {tick: 2, tick_ms: 0.5}\n  - {tick: 20, tick_ms: 0}\n")

    def lines(*arguments: str) -> list[dict[str, object]]:
        assert run.main([*arguments, *options]) == 0
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    first = lines(str(path), "--keep", str(kept))
    assert "serve:" in kept.read_text() and "tick_ms" not in kept.read_text()
    again = lines(str(kept))
    assert [line["world_digest"] for line in again] == [line["world_digest"] for line in first]
    if options:
        assert (first[0]["tick_ms"], first[0]["reproducible"]) == (0.5, False)
        assert (again[0]["tick_ms"], again[0]["reproducible"]) == (None, True)
