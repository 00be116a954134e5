"""Executors: all of them give identical results tick by tick, whatever is done to the world between two ticks."""

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from agents.registry import AGENT_SPECS_BY_KEY
from sim import world_commands
from sim.agent_api import AgentDefaults, AgentSpec, Problem, Status
from sim.changes import RandomChangeSchedule
from sim.executor import ExecutorFactory, InvalidationReason
from sim.grid import Grid
from sim.jit.decorators import JIT_ON
from sim.metrics import OwnCounts
from sim.params import Value
from sim.sequential_executor import SequentialExecutor
from sim.time.keyframes import restore_world, take_keyframe
from sim.world import World
from sim.world_commands import AgentConfig, Command
from tests.runs import batches_of

from .conftest import random_map_rows

KINDS: tuple[tuple[str, dict[str, float | str | bool]], ...] = (
    ("tb-wa", {"weight": 2.5}),
    ("rtb-wa", {"restart": "lazy"}),
    ("rtb-gbfs", {"restart": "eager"}),
    ("lrta", {}),
    ("tba", {"shortcut": True}),
    ("dstar-lite", {}),
    ("lss-lrta", {}),
)
CELLS = st.integers(0, 80)
AGENTS = st.integers(0, 24)
EXECUTORS: dict[str, ExecutorFactory] = {
    "sequential": SequentialExecutor,
    "batches of 2": batches_of(2),
    "batches of 3": batches_of(3),
    "no batches": batches_of(1_000_000),
}


def make_world(seed: int, executor: ExecutorFactory) -> World:
    """Return a world with agents of several kinds, three of each, with starts and goals of their own."""
    grid = Grid.from_text_rows(random_map_rows(seed, 9, 9, 0.2))
    free = grid.free_mask.nonzero()[0].tolist()
    changes = RandomChangeSchedule(7, 12.0)
    world = World(
        grid, free[0], free[-1], AGENT_SPECS_BY_KEY, budget=4, seed=seed, random_changes=changes, executor=executor
    )
    for index, (kind, params) in enumerate(KINDS):
        for number in range(3):
            start, goal = free[(7 * index + 3 * number) % len(free)], free[-1 - (5 * index + number) % len(free)]
            config = AgentConfig(kind, "", params, (None, 3, 9)[number], start=grid.xy(start), goal=grid.xy(goal))
            world.add(config)
    return world


def state_of(world: World) -> list[object]:
    """Return all that an executor could get wrong: tick, digest, messages, rows, status and counts of each agent."""
    agents = [
        (
            w.id,
            w.log_rows.tolist(),
            w.recent_rows.tick,
            w.recent_rows.last_budget,
            w.state_word,
            w.counts_record.tolist(),
            w.own_optimum,
            w.trials,
        )
        for w in world.walkers
    ]
    messages = [note.text for note in world.messages]
    return [world.tick, world.compute_digest(), sorted(world.executor.occupied_cells(world)), messages, agents]


class ExecutorMachine(RuleBasedStateMachine):
    """Does the same to worlds with different executors; one of them changes its executor now and then."""

    @initialize(seed=st.integers(0, 30))
    def begin(self, seed: int) -> None:
        self.worlds = {name: make_world(seed, executor) for name, executor in EXECUTORS.items()}
        self.worlds["changing"] = make_world(seed, batches_of(2))

    def submit(self, command: Command) -> None:
        for world in self.worlds.values():
            world.submit(command)

    @rule(ticks=st.sampled_from([1, 1, 2, 5, 12]))
    def advance(self, ticks: int) -> None:
        assert len({world.advance(ticks) for world in self.worlds.values()}) == 1

    @rule(cells=st.lists(CELLS, min_size=1, max_size=12), is_blocked=st.booleans())
    def edit(self, cells: list[int], is_blocked: bool) -> None:
        chosen = tuple(cell % self.worlds["changing"].grid.cells for cell in cells)
        self.submit(world_commands.EditCells(chosen, ()) if is_blocked else world_commands.EditCells((), chosen))

    @rule(cell=CELLS, agent=st.none() | AGENTS)
    def move_goal(self, cell: int, agent: int | None) -> None:
        self.submit(world_commands.MoveGoal(cell % self.worlds["changing"].grid.cells, agent))

    @rule(agent=AGENTS)
    def remove(self, agent: int) -> None:
        self.submit(world_commands.RemoveAgent(agent))

    @rule(kind=st.sampled_from(KINDS), count=st.integers(1, 3), cell=CELLS)
    def add(self, kind: tuple[str, dict[str, float | str | bool]], count: int, cell: int) -> None:
        grid = self.worlds["changing"].grid
        for _ in range(count):
            self.submit(world_commands.AddAgent(AgentConfig(kind[0], "", kind[1], goal=grid.xy(cell % grid.cells))))

    @rule(
        agent=AGENTS,
        setting=st.sampled_from(
            [("weight", 1.5), ("depth", 2), ("restart", "eager"), ("shortcut", False), ("mode", "instant")]
        ),
    )
    def set_param(self, agent: int, setting: tuple[str, float | str | bool]) -> None:
        self.submit(world_commands.SetParam(agent, *setting))

    @rule(budget=st.integers(2, 9), agent=st.none() | AGENTS)
    def set_budget(self, budget: int, agent: int | None) -> None:
        self.submit(world_commands.SetBudget(budget, agent))

    @rule(count=st.integers(1, 2))
    def set_trials(self, count: int) -> None:
        self.submit(world_commands.SetMaxTrials(count))

    @rule(agents=st.integers(0, 20))
    def limit_planners(self, agents: int) -> None:
        self.submit(world_commands.LimitPlanners(agents))

    @rule(executor=st.sampled_from(sorted(EXECUTORS)))
    def change_executor(self, executor: str) -> None:
        self.worlds["changing"].use_executor(EXECUTORS[executor])

    @rule(name=st.sampled_from([*sorted(EXECUTORS), "changing"]))
    def restore(self, name: str) -> None:
        self.worlds[name] = restore_world(take_keyframe(self.worlds[name]))

    @rule(reason=st.sampled_from(list(InvalidationReason)))
    def invalidate(self, reason: InvalidationReason) -> None:
        self.worlds["changing"].invalidate_executor_caches(reason)

    @precondition(lambda self: hasattr(self, "worlds"))
    @invariant()
    def worlds_are_equal(self) -> None:
        expected = state_of(self.worlds["sequential"])
        for name, world in self.worlds.items():
            assert state_of(world) == expected, name


ExecutorMachine.TestCase.settings = settings(max_examples=12, stateful_step_count=25)
TestExecutors = pytest.mark.skipif(not JIT_ON, reason="batches are compiled")(ExecutorMachine.TestCase)


def test_restored_world_keeps_its_executor() -> None:
    world = make_world(1, SequentialExecutor)
    assert isinstance(world.executor, SequentialExecutor)
    assert type(restore_world(take_keyframe(world)).executor) is SequentialExecutor


@pytest.mark.skipif(not JIT_ON, reason="batches are compiled")
def test_rows_of_an_earlier_executor_are_discarded_by_the_next_advance() -> None:
    """Also those of an agent that has arrived, and writes no more."""
    world, expected = make_world(5, batches_of(2)), make_world(5, SequentialExecutor)
    for each in (world, expected):
        each.advance(12)
    before = state_of(world)
    world.use_executor(batches_of(3))
    assert state_of(world) == before == state_of(expected), "rows of the last advance can still be read"
    for each in (world, expected):
        each.advance(2)
    assert state_of(world) == state_of(expected)


@pytest.mark.parametrize("executor", EXECUTORS.values(), ids=EXECUTORS)
def test_advance_in_one_call_equals_many_calls_of_one_tick(executor: ExecutorFactory) -> None:
    at_once, singly = make_world(4, executor), make_world(4, SequentialExecutor)
    passed = at_once.advance(60)
    for _ in range(passed):
        singly.advance(1)
    assert at_once.compute_digest() == singly.compute_digest() and at_once.tick == singly.tick
    assert [w.counts_record.tolist() for w in at_once.walkers] == [w.counts_record.tolist() for w in singly.walkers]


@pytest.mark.parametrize("executor", EXECUTORS.values(), ids=EXECUTORS)
def test_agent_waits_from_the_tick_in_which_it_proves_that_there_is_no_path(executor: ExecutorFactory) -> None:
    """Also within one call of many ticks, while another agent still walks."""
    rows = ["......", "@@@@@.", "......", ".@@@@@", "......"]
    waits = []
    for step in (1, 12):
        world = World(Grid.from_text_rows(rows), 0, 29, AGENT_SPECS_BY_KEY, budget=3, executor=executor, measures=False)
        world.submit(world_commands.EditCells((28, 22, 23), ()))
        for kind in ("tb-wa", "lrta"):
            world.add(AgentConfig(kind, start=(0, 0), goal=(5, 4) if kind == "tb-wa" else (0, 4)))
        while world.tick < 12:
            world.advance(step)
        waits.append([int(walker.counts_record[0].waits) for walker in world.walkers])
    assert waits[0] == waits[1] and waits[0][0] > 0


class Sleeper(AgentDefaults):
    """An agent from a user's file that says that there is no path, until the test lets it walk."""

    def __init__(self, problem: Problem, params: Mapping[str, Value]) -> None:
        self.cell, self.status = problem.start, Status.NO_PATH

    def advance(self, budget: int, rows: np.ndarray) -> int:
        for row in rows:
            row.cell, row.expanded = self.cell, 0
        return len(rows)

    def own_counts(self) -> OwnCounts:
        return OwnCounts()


def test_agent_from_a_file_is_called_although_it_had_no_path() -> None:
    spec = AgentSpec("sleeper", "Sleeper", "", "For tests.", Sleeper, runs_in_bulk=False, is_own=True)
    world = World(Grid.from_text_rows(["." * 30]), 0, 29, {**AGENT_SPECS_BY_KEY, "sleeper": spec}, budget=1)
    sleeper, _ = world.add(AgentConfig("sleeper")), world.add(AgentConfig("lrta"))
    world.advance(3)
    assert not sleeper.log_rows.size
    sleeper.agent.status = Status.ACTIVE
    world.advance(2)
    assert sleeper.log_rows.size == 2


@pytest.mark.skipif(not JIT_ON, reason="batches are compiled")
def test_rows_of_an_agent_that_joins_a_batch_during_an_advance_are_complete() -> None:
    found = []
    for executor in (SequentialExecutor, batches_of(2)):
        world = World(Grid.from_text_rows(["." * 9] * 9), 0, 80, AGENT_SPECS_BY_KEY, budget=3, executor=executor)
        for agent in range(3):
            world.add(AgentConfig("tb-wa"))
            world.submit(world_commands.MoveGoal(72, agent), 5)  # agents with a goal of their own can be batched
        assert world.advance(9) == 9
        found.append([(walker.log_rows.tolist(), walker.recent_rows.tick) for walker in world.walkers])
    assert found[0] == found[1] and all(len(rows) == 9 for rows, _ in found[0])
