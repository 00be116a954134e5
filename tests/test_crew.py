"""Crews: single and grouped agents give the same walk, whatever is done to them on the way."""

import itertools
import random
from contextlib import nullcontext
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agents.registry import AGENT_SPECS_BY_KEY
from sim import agent_placing, world_commands
from sim.batching.agent_batch import _agent_kernel_arrays, _iter_nested_arrays
from sim.batching.batched_executor import BatchedExecutor
from sim.changes import RandomChangeSchedule
from sim.grid import Grid
from sim.jit.decorators import JIT_ON
from sim.kernels.tiled import TiledTable
from sim.time.keyframes import restore_world, take_keyframe
from sim.time.run_marks import marks_of_run
from sim.time.timeline import Timeline
from sim.world import World
from sim.world_commands import AgentConfig
from sim.world_editor import WorldEditor
from tests.runs import batches_of

from .conftest import problems, random_map_rows

FIRST_KIND = (0, 1, 2)
"""The numbers of the agents that a crowd begins with."""

Problem = tuple[list[str], int, int]

pytestmark = pytest.mark.skipif(not JIT_ON, reason="crews are compiled only")

KINDS = (
    ("tb-wa", {"weight": 2.5}),
    ("tb-wa", {"weight": 1.0}),
    ("tb-gbfs", {}),
    ("rtb-wa", {"restart": "lazy"}),
    ("rtb-wa", {"restart": "lazy", "reopen": True}),
    ("rtb-gbfs", {"restart": "eager"}),
    ("lrta", {}),
    ("tba", {}),
    ("tba", {"shortcut": True}),
    ("dstar-lite", {}),
)


def crowd(problem: Problem, seed: int, are_grouped: bool = False, fewest: int = 2) -> World:
    """Agents of several kinds, each with ends of its own, on a map that changes; in groups their tables are tiled."""
    rows, start, goal = problem
    grid, chance = Grid.from_text_rows(rows), random.Random(seed)
    changes = RandomChangeSchedule(6, 15.0)
    world = World(
        grid, start, goal, AGENT_SPECS_BY_KEY, budget=4, seed=seed, random_changes=changes, executor=batches_of(fewest)
    )
    free = grid.free_mask.nonzero()[0].tolist()
    for kind, params in KINDS:
        for _ in range(3):
            ends = [grid.xy(chance.choice(free)) for _ in range(2)]
            budget = chance.choice([None, 4, 9])
            group = f"{kind} {params}" if are_grouped else ""
            world.add(AgentConfig(kind, "", params, budget, start=ends[0], goal=ends[1], group=group))
    return world


def agent_states(world: World) -> list[object]:
    """What there is to draw of each: its visits, its search, what it learned."""
    found: list[object] = []
    for walker in world.walkers:
        view = walker.agent.view()
        found.append((walker.visit_counts.tolist(), view.path.tolist(), view.head, view.best, dict(view.numbers)))
        if view.search is not None:
            is_of = view.search.nodes["search"] == view.search.control[0].search
            found += [view.search.nodes[name][is_of].tolist() for name in ("g", "came")] + [is_of.nonzero()[0].tolist()]
        if view.learned is not None:
            found.append(view.learned.h.tolist())
    return found


def random_command(world: World, chance: random.Random) -> world_commands.Command:
    agent, cell = chance.randrange(34), chance.randrange(world.grid.cells)
    return chance.choice(
        [
            world_commands.EditCells(blocked_cells=(cell,)),
            world_commands.EditCells(freed_cells=(cell,)),
            world_commands.MoveGoal(cell),
            world_commands.MoveGoal(cell, agent),
            world_commands.SetParam(agent, "weight", chance.choice([1.0, 1.5, 3.0])),
            world_commands.SetParam(agent, "depth", chance.choice([1, 2])),
            world_commands.SetParam(agent, "restart", chance.choice(["lazy", "eager"])),
            world_commands.SetParam(agent, "shortcut", chance.choice([True, False])),
            world_commands.SetParam(agent, "mode", chance.choice(["sliced", "instant"])),
            world_commands.SetBudget(chance.choice([5, 7]), chance.choice([None, agent])),
            world_commands.RemoveAgent(agent),
            world_commands.AddAgent(AgentConfig("tb-wa", params={"weight": 2.0}, goal=world.grid.xy(cell))),
            world_commands.SetMaxTrials(chance.choice([1, 2])),
        ]
    )


def run_with_group_goals(seed: int, is_one: bool) -> tuple[list[str], list[tuple[float, int | None]]]:
    """Digests, and cost and moves of cheapest ways, of a group that is sent to one cell after the other."""
    digests, ways = [], []
    rows = ["." * 9, *random_map_rows(seed, 9, 7, 0.3), "." * 9]
    world, chance = crowd((rows, 0, 80), seed), random.Random(seed)
    free = [world.grid.xy(cell) for cell in world.grid.free_mask.nonzero()[0].tolist()]
    for kind in ("tb-wa", "lrta"):
        world.add(AgentConfig(kind, group="units"))
        for _ in range(3):
            start, goal = chance.choices(free, k=2)
            world.add(AgentConfig(kind, group="units", start=start, goal=goal))
    for _ in range(8):
        world.advance(chance.choice([1, 5, 30]))
        cell = chance.randrange(world.grid.cells)
        told = [world_commands.MoveGoal(cell, agent) for agent in WorldEditor(world).agent_ids_of_group("units")]
        with patch.object(agent_placing, "find_cheapest_path", side_effect=AssertionError) if is_one else nullcontext():
            for command in [world_commands.ApplyToGroup("units", world_commands.MoveGoal(cell))] if is_one else told:
                world.submit(command)
            world.apply_due_changes()
        assert world.compute_digest() == restore_world(take_keyframe(world)).compute_digest(), (
            "nothing is kept from before"
        )
        digests.append(world.compute_digest())
        ways += [walker.own_optimum or (-1.0, -1) for walker in world.walkers]
    return digests, ways


@pytest.mark.parametrize("seed", range(6))
def test_group_goal_equals_the_same_goal_for_each_member(seed: int) -> None:
    """Also for those of it who had the goal of all before, and where some can never get there."""
    (digests, ways), (single_digests, single_ways) = run_with_group_goals(seed, True), run_with_group_goals(seed, False)
    assert digests == single_digests
    assert [moves for _, moves in ways] == [moves for _, moves in single_ways]
    assert [cost for cost, _ in ways] == pytest.approx([cost for cost, _ in single_ways])


PARTING = (["..", "..", ".W", "..", "..", "..", "..", "..", ".."], 11, 3)
"""With seed 186 one D* Lite of three becomes instant, which needs another kernel but no other memory."""


def run_mixed_world(problem: Problem, seed: int, fewest: int, are_grouped: bool = False) -> tuple[list[object], int]:
    """All rows and digests of a run, and the most crews there were."""
    log: list[object] = []
    most = 0
    world, chance = crowd(problem, seed, are_grouped, fewest), random.Random(seed)
    for _ in range(25):
        if chance.random() < 0.4:
            world.submit(random_command(world, chance))
        if chance.random() < 0.1:
            world = restore_world(take_keyframe(world))
        world.advance(chance.choice([1, 1, 3]))
        world.prepare_first_tick()
        most = max(most, len(world.executor.batches))
        log.append((world.tick, world.compute_digest(), [note.text for note in world.messages]))
        log.append([(w.id, w.log_rows.tolist(), w.recent_rows.tick, w.state_word, w.trials) for w in world.walkers])
    log.append(agent_states(world))
    return log, most


@settings(max_examples=15)
@given(problems(side=9), st.integers(0, 999))
@example(PARTING, 186)
def test_batched_and_unbatched_agents_walk_alike(problem: Problem, seed: int) -> None:
    alone, none = run_mixed_world(problem, seed, 1_000_000)
    together, crews = run_mixed_world(problem, seed, 2)
    assert together == alone
    assert none == 0 and crews >= 2
    for fewest in (2, 1_000_000):
        assert run_mixed_world(problem, seed, fewest, are_grouped=True)[0] == alone, "in tiles"


def timeline_state(problem: Problem, seed: int, fewest: int) -> list[object]:
    """What a timeline has kept of a run that is changed, wound back and gone on with."""
    log: list[object] = []
    timeline, chance = Timeline(lambda: crowd(problem, seed, fewest=fewest)), random.Random(seed)
    for _ in range(20):
        if chance.random() < 0.3:
            timeline.apply_command(random_command(timeline.world, chance))
        agents = tuple(walker.id for walker in timeline.world.walkers)
        since = timeline.tick
        some = [walker for walker in timeline.world.walkers if walker.id in FIRST_KIND]
        stood = np.array([walker.position for walker in some], np.int32)
        for _ in range(chance.choice([1, 2, 5])):
            timeline.advance(chance.choice([1, 1, 4]))
        if some:
            ids = tuple(walker.id for walker in some)
            log.append(timeline.run_history.cells(ids, since, timeline.tick, stood).tolist())
        if chance.random() < 0.15:
            timeline.seek(chance.randrange(timeline.tick + 1))
        chosen = timeline.run_history.record(chance.choice(agents))
        log.append((chosen.log_rows.tolist(), list(chosen.active_spans)))
        if chance.random() < 0.1:
            log.append(
                {agent: record.log_rows.tolist() for agent, record in timeline.run_history.agent_records.items()}
            )
        log.append(marks_of_run(timeline, 0, timeline.tick).tolist())
    return log


@settings(max_examples=15)
@given(problems(side=9), st.integers(0, 999))
def test_timeline_records_of_batched_and_unbatched_agents_are_equal(problem: Problem, seed: int) -> None:
    assert timeline_state(problem, seed, 2) == timeline_state(problem, seed, 1_000_000)


def test_timed_or_measured_agents_are_not_batched() -> None:
    rows = ["." * 9] * 9
    for options, want in (({}, 1), ({"stopwatch": lambda: 0.0}, 0)):
        world = World(Grid.from_text_rows(rows), 0, 80, AGENT_SPECS_BY_KEY, budget=4, executor=batches_of(2), **options)
        for start in ((1, 1), (5, 2), (3, 8)):
            world.add(AgentConfig("tb-wa", start=start, goal=(8, 0)))
            world.add(AgentConfig("tb-wa", start=start))  # its moves are judged by the world's goal
        world.advance(2)
        assert [len(batch.walkers) for batch in world.executor.batches] == [3] * want


def test_kernel_time_of_a_batch_is_measured_only_with_a_clock() -> None:
    world, seconds = make_batched_world(), itertools.count()
    world.advance(1)
    assert [batch.kernel_seconds for batch in world.executor.batches] == [0.0]
    world.agent_times.clock = lambda: float(next(seconds))
    world.advance(1)
    assert [batch.kernel_seconds for batch in world.executor.batches] == [1.0]


@pytest.mark.parametrize("agent", [None, 3])
def test_new_budget_of_batched_agents_applies_to_the_next_tick(agent: int | None) -> None:
    world = make_batched_world()
    world.advance(1)
    assert len(world.executor.batches) == 1
    world.submit(world_commands.SetBudget(5, agent))
    world.advance(1)
    spent = [int(walker.log_rows[-1].expanded) for walker in world.walkers[:20]]
    assert spent == [5 if agent in (None, walker.id) else 3 for walker in world.walkers[:20]]


def test_prepare_prefaults_memory_without_changing_it() -> None:
    """Pages of the tiles ahead are there before the first tick; nothing is written that was not there."""
    world = make_batched_world()
    digest = world.compute_digest()
    before = [
        bytes(part.records)
        for part in _iter_nested_arrays(_agent_kernel_arrays(world.walkers[3]))
        if isinstance(part, TiledTable)
    ]
    world.prepare_first_tick()
    after = [
        bytes(part.records)
        for part in _iter_nested_arrays(_agent_kernel_arrays(world.walkers[3]))
        if isinstance(part, TiledTable)
    ]
    assert before and before == after and world.compute_digest() == digest


def test_digest_is_the_same_for_batched_and_restored_worlds() -> None:
    world = make_batched_world()
    for _ in range(30):
        world.advance(1)
        assert world.executor.batches
        in_crew = world.compute_digest()
        assert in_crew == restore_world(take_keyframe(world)).compute_digest()
    WorldEditor(world).remove_agent(world.walkers[4].id)
    assert world.compute_digest() == restore_world(take_keyframe(world)).compute_digest() != in_crew
    WorldEditor(world).move_goal(world.grid.free_mask.nonzero()[0][7], world.walkers[2].id)
    assert world.compute_digest() == restore_world(take_keyframe(world)).compute_digest()


def make_batched_world() -> World:
    """Enough of one kind for a crew, and one that walks alone."""
    grid = Grid.from_text_rows(["." * 60] * 60)
    world = World(grid, 0, 5, AGENT_SPECS_BY_KEY, budget=3, measures=False, executor=BatchedExecutor)
    for i in range(20):
        ends = {"start": (i, 2 * i), "goal": (59 - i, 50)}
        world.add(AgentConfig("tb-wa", "", {"weight": 2.0}, group="crowd", **ends))
    world.add(AgentConfig("lrta"))
    world.prepare_first_tick()
    return world


def test_digest_is_independent_of_walker_order() -> None:
    world, other = make_batched_world(), make_batched_world()
    other.walkers = other.walkers[::-1]
    assert other.compute_digest() == restore_world(take_keyframe(other)).compute_digest() == world.compute_digest()
    for each in (world, other):
        each.advance(20)
    assert other.compute_digest() == restore_world(take_keyframe(other)).compute_digest() == world.compute_digest()


def test_digest_ignores_an_agent_added_and_removed_in_one_tick() -> None:
    """Whether anybody has asked for one in between or not: a replay asks for fewer."""
    digests = set()
    for looks in (False, True):
        world = make_batched_world()
        WorldEditor(world).add_agent(AgentConfig("tba"), None)
        if looks:
            world.compute_digest()
        WorldEditor(world).remove_agent(world.walkers[-1].id)
        digests |= {world.compute_digest(), restore_world(take_keyframe(world)).compute_digest()}
    assert digests == {make_batched_world().compute_digest()}


def test_stopped_agent_leaves_its_batch_and_the_others_continue() -> None:
    """In the middle of a tick, as where its crew has come to a row that is no legal move."""
    rows, ends = ["." * 9] * 9, ((0, 0), (0, 4), (0, 8))
    world, alone = (
        World(Grid.from_text_rows(rows), 0, 80, AGENT_SPECS_BY_KEY, budget=400, measures=False, executor=batches_of(2))
        for _ in range(2)
    )
    for start in ends:
        world.add(AgentConfig("tb-wa", start=start, goal=(8, start[1])))
    for start in (ends[0], ends[2]):
        alone.add(AgentConfig("tb-wa", start=start, goal=(8, start[1])))
    world.advance(2)
    assert [len(each.walkers) for each in world.executor.batches] == [3]
    liar = world.walkers[1]
    world.referee.stop_agent(liar, "moved from (2, 4) to (7, 4), which is not a legal move", world.tick)
    place = liar.position
    alone.advance(world.advance(20) + 2)
    assert [len(each.walkers) for each in world.executor.batches] == [2] and liar.position == place != liar.own_goal
    others = [walker for walker in world.walkers if walker is not liar]
    assert [w.digest_halves for w in others] == [w.digest_halves for w in alone.walkers] and all(
        w.has_arrived for w in others
    )
