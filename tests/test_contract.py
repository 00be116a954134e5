"""Every registered agent, with every parameter at its ends and off its default, held to the contract of agent_api.py.

Adding an agent to the registry adds its tests. The judge is naive code on the map of each tick.
"""

import itertools
import math
import pickle
import random
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.registry import BY_KEY
from sim.agent_api import GROUP_NAMES, AgentSpec, AgentView, Status
from sim.commands import Command, EditCells, MoveGoal, SetBudget, SetParam
from sim.params import Value
from sim.world import Walker, World

from .conftest import board_of, budget_for, drawn, every_setting, make_world, problems, random_rows, settings_of
from .naive import Board

every_setting_of_every_agent = pytest.mark.parametrize("spec, params", every_setting())
every_agent = pytest.mark.parametrize("spec", BY_KEY.values(), ids=BY_KEY)

Problem = tuple[list[str], int, int]


BUDGETS = (1, 5, 9, 3000)  # the last does not cut any lookahead or queue


def random_problem(seed: int, width: int, height: int, density: float) -> Problem:
    rows = random_rows(seed, width, height, density)
    free = [i for i, letter in enumerate("".join(rows)) if letter == "."]
    chance = random.Random(seed)
    return rows, chance.choice(free), chance.choice(free)


TRAP = """
    .........
    .######..
    ......#..
    S.....#.G
    ......#..
    .######..
    .........
"""
PROBLEMS = [
    drawn(TRAP),
    drawn("S..#.G"),
    drawn("SG"),
    (["."], 0, 0),
    drawn("..#..\nS.#.G\n..#..\n#####"),
    drawn("S#.\n##.\n..G"),
    *(random_problem(seed, 4 + seed, 12 - seed, 0.1 * (seed % 4) + 0.05) for seed in range(6)),
]


def world_of(
    problem: Problem, spec: AgentSpec, params: Mapping[str, Value], at_least: int = 1, **more: object
) -> World:
    return make_world(*problem, (spec.key, params), budget=budget_for(spec, params, at_least), **more)


def patience(world: World) -> int:
    """Ticks after which a complete agent must be done, generous enough for agents that learn."""
    return 200 * world.grid.cells + 1000


def judged_tick(world: World) -> bool:
    """One tick, its rows judged by naive code. False when the world is over."""
    walker = world.walkers[0]
    stood, metrics = walker.position, world.metrics(walker)
    if not world.advance(1):
        return False
    board, budget = board_of(world.grid), walker.budget or world.budget
    needed = walker.spec.needed(walker.params)
    after = world.metrics(walker)
    step = 0.0
    if walker.position != stood:
        cost = board.cost(board.at(stood), board.at(walker.position))
        assert cost is not None, f"illegal move {board.at(stood)} -> {board.at(walker.position)}"
        step = cost
    assert after.cost == metrics.cost + step and after.moves == metrics.moves + (walker.position != stood)
    for row in walker.rows:
        assert row.cell == walker.position
        assert not walker.spec.is_real_time or row.expanded <= max(budget, needed)
    assert after.over_budget == metrics.over_budget or not walker.spec.is_real_time or needed > budget
    check_view(walker, board)
    return True


def check_view(walker: Walker, board: Board) -> None:
    view, cells = walker.agent.view(), board.width * board.height
    for way in (view.path, view.tracing):
        places = [board.at(int(c)) for c in way]
        assert len(set(places)) == len(places), "a way crosses itself"
        assert all(max(abs(ax - bx), abs(ay - by)) == 1 for (ax, ay), (bx, by) in itertools.pairwise(places))
    assert -1 <= view.best < cells and -1 <= view.root < cells
    assert 0 <= view.head <= view.path.size
    ahead = [board.at(int(c)) for c in view.path[view.head :]]
    if ahead and ahead[0] == board.at(walker.position) and walker.agent.status is Status.ACTIVE:
        assert board.length(ahead) >= 0.0, "the path ahead is legal"
    for search in (view.search, view.detour):
        assert search is None or search.nodes.size in (cells, 1)
    assert view.learned is None or view.learned.h.size == cells
    for name, group in view.groups.items():
        assert name in GROUP_NAMES and np.all((group >= 0) & (group < cells))
    assert np.all((view.waypoints >= 0) & (view.waypoints < cells))
    assert view.depths is None or view.depths.size == cells
    assert all(candidate.record >= 0 and candidate.verdict for candidate in view.candidates)
    counts = walker.agent.own_counts()
    assert counts.memory > 0 and counts.max_climbed <= counts.climbed
    assert (counts.database > 0) == walker.spec.has_data
    if view.regions is not None:
        shown = np.concatenate(view.regions.cells)
        assert len(set(shown.tolist())) == shown.size and view.regions.x.size > view.regions.arcs.max(initial=-1)
    assert all(math.isfinite(number) for number in view.numbers.values())


def assert_ended_well(world: World) -> None:
    """At the goal if and only if there is a way; a claim that there is none must be true."""
    walker, board = world.walkers[0], board_of(world.grid)
    is_reachable = board.at(walker.position) in board.distances(board.at(world.goal))
    if is_reachable:
        is_complete = walker.spec.is_complete and not walker.spec.may_loop(walker.params)
        assert not is_complete or walker.agent.status is Status.AT_GOAL
        assert walker.agent.status is not Status.NO_PATH
    elif walker.spec.proves_no_path:
        assert walker.agent.status in (Status.NO_PATH, Status.GAVE_UP)
    assert (walker.agent.status is Status.AT_GOAL) == (walker.position == world.goal)


@every_setting_of_every_agent
def test_legal_within_budget_and_complete(spec: AgentSpec, params: dict[str, Value]) -> None:
    for number, problem in enumerate(PROBLEMS):
        world = world_of(problem, spec, params, at_least=BUDGETS[number % len(BUDGETS)])
        for _ in range(patience(world)):
            if not judged_tick(world):
                break
        assert_ended_well(world)
        metrics = world.metrics(world.walkers[0])
        assert world.walkers[0].agent.status is not Status.AT_GOAL or metrics.cost >= metrics.optimal


@every_agent
@settings(max_examples=25)
@given(problem=problems(side=9), choice=st.integers(0, 99), budget=st.sampled_from(BUDGETS))
def test_legal_within_budget_and_complete_on_any_map(
    spec: AgentSpec, problem: Problem, choice: int, budget: int
) -> None:
    chosen = settings_of(spec)
    world = world_of(problem, spec, chosen[choice % len(chosen)], at_least=budget)
    for _ in range(patience(world)):
        if not judged_tick(world):
            break
    assert_ended_well(world)


@every_setting_of_every_agent
def test_legal_and_complete_while_the_map_changes(spec: AgentSpec, params: dict[str, Value]) -> None:
    """An edit in every tick for a while, the goal's neighbourhood included; then the agent must end well."""
    for seed in range(3):
        world = world_of(random_problem(seed, 9, 8, 0.2), spec, params, at_least=1 + 3 * seed)
        chance = random.Random(seed)
        for tick in range(patience(world)):
            if tick < 25:
                cells = chance.sample(range(world.grid.cells), 2)
                free = [c for c in cells if world.grid.is_free(c)]
                world.submit(EditCells(blocked=tuple(free), freed=tuple(set(cells) - set(free))), world.tick)
            if not judged_tick(world) and tick >= 25:
                break
        if world.walkers[0].agent.status is not Status.GAVE_UP:
            world.submit(EditCells(freed=(world.goal,)))
            for _ in range(patience(world)):
                if not judged_tick(world):
                    break
            assert_ended_well(world)


@every_setting_of_every_agent
def test_moved_goals_and_parameters_are_heeded(spec: AgentSpec, params: dict[str, Value]) -> None:
    """In the middle of the run, one after the other, every parameter gets every value; the goal moves between."""
    world = world_of(drawn(TRAP), spec, params, at_least=30)
    walker = world.walkers[0]
    for number, setting in enumerate(settings_of(spec)):
        for _ in range(2):
            judged_tick(world)
        for name, value in setting.items():
            world.submit(SetParam(walker.id, name, value))
        world.submit(MoveGoal((world.start, 8, 62, 35)[number % 4]))
        world.submit(EditCells(blocked=(40,)) if number % 2 else EditCells(freed=(40,)))
    for _ in range(patience(world)):
        if not judged_tick(world):
            break
    assert_ended_well(world)
    refused = [note for note in world.notes if "budget" in note.text or "stays free" in note.text]
    assert len(refused) == len(world.notes), (
        "only a budget too small for a value, or the agent on the cell, may stop it"
    )
    for name in walker.params:
        assert walker.params[name] == spec.param(name).parse(walker.params[name])  # type: ignore[union-attr]


def script_for(spec: AgentSpec, seed: int, cells: int) -> list[tuple[int, Command]]:
    """Edits, goals, budgets and parameters at random ticks."""
    chance = random.Random(seed)
    script: list[tuple[int, Command]] = []
    for _ in range(12):
        some = tuple(chance.sample(range(cells), 6))
        script.append((chance.randrange(40), EditCells(blocked=some[:3], freed=some[3:])))
    script.append((chance.randrange(5, 20), MoveGoal(chance.randrange(cells))))
    script.append((chance.randrange(5, 20), SetBudget(40)))
    for setting in settings_of(spec)[1:]:
        script += [(chance.randrange(20, 60), SetParam(0, name, value)) for name, value in setting.items()]
    return sorted(script, key=lambda timed: timed[0])


def facts(world: World) -> tuple[object, ...]:
    walker = world.walkers[0]
    return world.digest(), world.tick, world.metrics(walker), walker.agent.status, walker.visits.tolist(), world.notes


@every_setting_of_every_agent
def test_same_run_tick_by_tick_in_bulk_pickled_and_watched(spec: AgentSpec, params: dict[str, Value]) -> None:
    rows, start, goal = random_problem(4, 11, 10, 0.25)
    script = script_for(spec, 1, 110)

    def fresh(**more: object) -> World:
        world = world_of((rows, start, goal), spec, params, at_least=2, seed=3, **more)
        world.submit_all(script)
        return world

    bulk = fresh()
    bulk.advance(2000)
    single = fresh()
    while single.tick < 2000 and single.advance(1):
        single.apply_now()  # looking at a paused world changes nothing
    assert facts(single) == facts(bulk)
    for cut in (7, 33):
        cut_short = fresh()
        cut_short.advance(cut)
        copy: World = pickle.loads(pickle.dumps(cut_short))
        copy.advance(2000 - cut)
        assert facts(copy) == facts(bulk), f"pickled at tick {cut}"
    watched = fresh(watched=True)
    watched.advance(2000)
    assert facts(watched) == facts(bulk)


@every_agent
def test_watching_counts_every_expansion(spec: AgentSpec) -> None:
    world = world_of(drawn(TRAP), spec, {}, at_least=3, watched=True)
    walker = world.walkers[0]
    search = walker.agent.view().search
    if search is None:
        pytest.skip("no search to watch")
    while world.advance(1):
        noted = search.order[: int(search.control[0].noted)]
        assert len(noted) == walker.rows[0].expanded
        assert all(search.heat[cell] > 0 for cell in noted)
        search.control[0].noted = 0  # whoever draws takes the notes
    assert int(search.heat.sum()) == world.metrics(walker).expansions


@every_agent
def test_memory_of_an_agent_without_watchers_is_not_touched(spec: AgentSpec) -> None:
    """Arrays for watchers have no cells when nobody looks."""
    view: AgentView = world_of(drawn(TRAP), spec, {}).walkers[0].agent.view()
    assert view.search is None or (view.search.heat.size, view.search.order.size) == (0, 0)


@every_agent
def test_an_agent_takes_only_what_its_spec_declares(spec: AgentSpec) -> None:
    names = [param.name for param in spec.params]
    assert len(set(names)) == len(names)
    for param in spec.params:
        assert param.parse(param.default) == param.default
        assert param.help and param.describe()["default"] == param.default
    assert BY_KEY[spec.key] is spec and spec.summary.endswith(".")
    pickle.loads(pickle.dumps(spec))
