"""Every registered agent, with every parameter at its ends and off its default, held to the contract of agent_api.py.

Adding an agent to the registry adds its tests. The judge is naive code on the map of each tick.
"""

import pickle
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.agent_contract import advance_and_check_tick, check_final_status
from agents.registry import AGENT_SPECS_BY_KEY
from files.journal import Journal, restore_session
from files.session import SavedSession, create_saved_session
from sim.agent_api import AgentSpec, AgentView, Status
from sim.grid import Grid
from sim.movement import CUT_ONE_CORNER, DEFAULT_MOVEMENT, FOUR_NEIGHBOURS, SQUEEZE_BETWEEN_CORNERS, Movement
from sim.params import Param, Value
from sim.time.branches import BranchTree
from sim.world import World
from sim.world_commands import AgentConfig, Command, EditCells, MoveGoal, SetBudget, SetParam

from .conftest import (
    drawn,
    every_setting,
    make_world,
    movements,
    parameter_sets,
    problems,
    random_map_rows,
    smallest_accepted_budget,
)
from .runs import scenario_on
from .test_journal import assert_same_trees, simulate_crash
from .test_sessionfile import dump_and_parse

every_setting_of_every_agent = pytest.mark.parametrize("spec, params", every_setting())
every_agent = pytest.mark.parametrize("spec", AGENT_SPECS_BY_KEY.values(), ids=AGENT_SPECS_BY_KEY)

Problem = tuple[list[str], int, int]


BUDGETS = (1, 5, 9, 3000)  # the last does not cut any lookahead or queue
RULES = tuple(Movement(rule) for rule in (FOUR_NEIGHBOURS, CUT_ONE_CORNER, SQUEEZE_BETWEEN_CORNERS))


def random_problem(seed: int, width: int, height: int, density: float) -> Problem:
    rows = random_map_rows(seed, width, height, density)
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


def world_of(problem: Problem, spec: AgentSpec, params: Mapping[str, Value], min_budget: int = 1, **more: Any) -> World:
    return make_world(*problem, (spec.key, params), budget=smallest_accepted_budget(spec, params, min_budget), **more)


def max_ticks(world: World) -> int:
    """Ticks after which a complete agent must be done, generous enough for agents that learn."""
    return 200 * world.grid.cells + 1000


@every_setting_of_every_agent
def test_agent_is_legal_within_budget_and_complete(spec: AgentSpec, params: dict[str, Value]) -> None:
    for number, problem in enumerate(PROBLEMS):
        movement = RULES[number % len(RULES)] if number >= len(PROBLEMS) - len(RULES) else DEFAULT_MOVEMENT
        world = world_of(problem, spec, params, min_budget=BUDGETS[number % len(BUDGETS)], movement=movement)
        for _ in range(max_ticks(world)):
            if not advance_and_check_tick(world):
                break
        check_final_status(world)
        metrics = world.metrics_of_walker(world.walkers[0])
        assert world.walkers[0].agent.status is not Status.AT_GOAL or metrics.cost >= metrics.optimal


@every_agent
@settings(max_examples=25)
@given(problem=problems(side=9), movement=movements, choice=st.integers(0, 99), budget=st.sampled_from(BUDGETS))
def test_agent_is_legal_within_budget_and_complete_on_random_maps(
    spec: AgentSpec, problem: Problem, movement: Movement, choice: int, budget: int
) -> None:
    chosen = parameter_sets(spec)
    world = world_of(problem, spec, chosen[choice % len(chosen)], min_budget=budget, movement=movement)
    for _ in range(max_ticks(world)):
        if not advance_and_check_tick(world):
            break
    check_final_status(world)


@every_setting_of_every_agent
def test_agent_is_legal_and_complete_while_the_map_changes(spec: AgentSpec, params: dict[str, Value]) -> None:
    """An edit in every tick for a while, the goal's neighbourhood included; then the agent must end well."""
    for seed, movement in enumerate((DEFAULT_MOVEMENT, *RULES)):
        problem = random_problem(seed, 9, 8, 0.2)
        world = world_of(problem, spec, params, min_budget=1 + 3 * seed, movement=movement)
        chance = random.Random(seed)
        for tick in range(max_ticks(world)):
            if tick < 25:
                cells = chance.sample(range(world.grid.cells), 2)
                free = [c for c in cells if world.grid.is_free(c)]
                world.submit(
                    EditCells(blocked_cells=tuple(free), freed_cells=tuple(set(cells) - set(free))), world.tick
                )
            if not advance_and_check_tick(world) and tick >= 25:
                break
        if world.walkers[0].agent.status is not Status.GAVE_UP:
            world.submit(EditCells(freed_cells=(world.goal,)))
            for _ in range(max_ticks(world)):
                if not advance_and_check_tick(world):
                    break
            check_final_status(world)


@every_setting_of_every_agent
def test_agent_adopts_moved_goals_and_changed_parameters(spec: AgentSpec, params: dict[str, Value]) -> None:
    """In the middle of the run, one after the other, every parameter gets every value; the goal moves between."""
    world = world_of(drawn(TRAP), spec, params, min_budget=30)
    walker = world.walkers[0]
    for number, setting in enumerate(parameter_sets(spec)):
        for _ in range(2):
            advance_and_check_tick(world)
        for name, value in setting.items():
            world.submit(SetParam(walker.id, name, value))
        world.submit(MoveGoal((world.start, 8, 62, 35)[number % 4]))
        world.submit(EditCells(blocked_cells=(40,)) if number % 2 else EditCells(freed_cells=(40,)))
    for _ in range(max_ticks(world)):
        if not advance_and_check_tick(world):
            break
    check_final_status(world)
    refused = [note for note in world.messages if "budget" in note.text or "stays free" in note.text]
    assert len(refused) == len(world.messages), (
        "only a budget too small for a value, or the agent on the cell, may stop it"
    )
    for name in walker.params:
        assert walker.params[name] == spec.param(name).parse_value(walker.params[name])  # type: ignore[union-attr]


def script_for(spec: AgentSpec, seed: int, cells: int) -> list[tuple[int, Command]]:
    """Edits, goals, budgets and parameters at random ticks."""
    chance = random.Random(seed)
    script: list[tuple[int, Command]] = []
    for _ in range(12):
        some = tuple(chance.sample(range(cells), 6))
        script.append((chance.randrange(40), EditCells(blocked_cells=some[:3], freed_cells=some[3:])))
    script.append((chance.randrange(5, 20), MoveGoal(chance.randrange(cells))))
    script.append((chance.randrange(5, 20), SetBudget(40)))
    for setting in parameter_sets(spec)[1:]:
        script += [(chance.randrange(20, 60), SetParam(0, name, value)) for name, value in setting.items()]
    return sorted(script, key=lambda timed: timed[0])


def state_of_run(world: World) -> tuple[object, ...]:
    walker = world.walkers[0]
    return (
        world.compute_digest(),
        world.tick,
        world.metrics_of_walker(walker),
        walker.agent.status,
        walker.visit_counts.tolist(),
        world.messages,
    )


@every_setting_of_every_agent
def test_run_is_the_same_stepped_in_bulk_pickled_and_instrumented(spec: AgentSpec, params: dict[str, Value]) -> None:
    rows, start, goal = random_problem(4, 11, 10, 0.25)
    script = script_for(spec, 1, 110)

    def fresh(**more: object) -> World:
        world = world_of((rows, start, goal), spec, params, min_budget=2, seed=3, **more)
        world.queue_commands(script)
        return world

    bulk = fresh()
    bulk.advance(2000)
    single = fresh()
    while single.tick < 2000 and single.advance(1):
        single.apply_due_changes()  # looking at a paused world changes nothing
    assert state_of_run(single) == state_of_run(bulk)
    for cut in (7, 33):
        cut_short = fresh()
        cut_short.advance(cut)
        copy: World = pickle.loads(pickle.dumps(cut_short))
        copy.advance(2000 - cut)
        assert state_of_run(copy) == state_of_run(bulk), f"pickled at tick {cut}"
    watched = fresh(watched=True)
    watched.advance(2000)
    assert state_of_run(watched) == state_of_run(bulk)


def after_change_settings() -> list[object]:
    """Every agent as it is, and those with data computed before the run with each way to do when that is stale."""
    param = {spec.key: spec.param("after_change") for spec in AGENT_SPECS_BY_KEY.values()}
    chosen = [
        (spec, {"after_change": c} if c else {})
        for spec in AGENT_SPECS_BY_KEY.values()
        for c in choices(param[spec.key])
    ]
    return [pytest.param(spec, p, id=f"{spec.key}{''.join(f'-{v}' for v in p.values())}") for spec, p in chosen]


def choices(param: Param | None) -> tuple[str, ...]:
    return ("",) if param is None else param.choices


@pytest.mark.parametrize("spec, params", after_change_settings())
@pytest.mark.parametrize("tick", [3, 12, 60])
def test_restored_session_and_journal_continue_identically(
    spec: AgentSpec, params: dict[str, Value], tick: int, tmp_path: Path
) -> None:
    """Kept before, soon after and long after a change of the map; brought back, both walk on to the same end."""
    rows, start, goal = random_problem(4, 11, 10, 0.25)
    grid = Grid.from_text_rows(rows)
    wall = next(c for c in range(grid.cells) if grid.is_free(c) and c not in (start, goal))
    script = [(6, EditCells((wall,))), (25, MoveGoal(start)), (70, EditCells((), (wall,)))]
    budget = smallest_accepted_budget(spec, params, 2)
    scenario = scenario_on(grid, start, goal, [AgentConfig(spec.key, params=params)], budget, seed=3, script=script)
    tree = BranchTree(SavedSession(scenario, ()).world_builder(AGENT_SPECS_BY_KEY))
    journal = Journal(scenario, tree, folder=tmp_path)
    tree[0].timeline.advance(tick)
    journal.write_branch_ticks(tree.branches, now=True)
    for saved in (
        dump_and_parse(create_saved_session(scenario, tree)),
        restore_session(simulate_crash(journal), AGENT_SPECS_BY_KEY),
    ):
        again = saved.build_branch_tree(AGENT_SPECS_BY_KEY)
        assert_same_trees(tree, again)
        for each in (tree, again):
            each[0].timeline.advance(2000)
        assert again[0].timeline.world.compute_digest() == tree[0].timeline.world.compute_digest()
        tree[0].timeline.seek(tick)


@pytest.mark.parametrize("spec, params", after_change_settings())
@pytest.mark.parametrize("is_watched", [False, True])
def test_edit_that_changes_no_arc_leaves_the_digest_unchanged(
    spec: AgentSpec, params: dict[str, Value], is_watched: bool
) -> None:
    """A cell inside a rock is freed and blocked again: while it searches and walks, while data is made anew, after."""
    rows = [list(row) for row in random_map_rows(2, 14, 12, 0.2)]
    for x, y in ((x, y) for x in (6, 7, 8) for y in (5, 6, 7)):
        rows[y][x] = "@"
    grid = Grid.from_text_rows(["".join(row) for row in rows])
    free = grid.free_mask.nonzero()[0].tolist()
    start, goal, wall, inside = free[0], free[-1], free[len(free) // 3], grid.cell(7, 6)
    for opened in (1, 4, 8, 30):
        digests = []
        for edits in ((), ((opened, EditCells((), (inside,))), (opened + 2, EditCells((inside,))))):
            grid = Grid.from_text_rows(["".join(row) for row in rows])
            world = World(grid, start, goal, AGENT_SPECS_BY_KEY, watched=is_watched,
                          budget=smallest_accepted_budget(spec, params, 2))  # fmt: skip
            walker = world.add(AgentConfig(spec.key, params=params))
            world.queue_commands([(3, EditCells((wall,))), *edits])
            world.advance(opened + 4)
            left = getattr(walker.agent, "left", 0.0)  # of making data anew
            world.advance(300)
            digests.append(
                (world.walker_digest(walker), left, world.metrics_of_walker(walker).restarts, walker.state_word)
            )
        assert digests[0] == digests[1], opened


@every_agent
def test_instrumented_search_counts_every_expansion(spec: AgentSpec) -> None:
    world = world_of(drawn(TRAP), spec, {}, min_budget=3, watched=True)
    walker = world.walkers[0]
    search = walker.agent.view().search
    if search is None:
        pytest.skip("no search to watch")
    while world.advance(1):
        noted = search.order[: int(search.control[0].noted)]
        assert len(noted) == walker.log_rows[0].expanded
        assert all(search.heat[cell] > 0 for cell in noted)
        search.control[0].noted = 0  # whoever draws takes the notes
    assert int(search.heat.sum()) == world.metrics_of_walker(walker).expansions


@every_agent
def test_uninstrumented_agent_allocates_no_view_arrays(spec: AgentSpec) -> None:
    """Arrays for watchers have no cells when nobody looks."""
    view: AgentView = world_of(drawn(TRAP), spec, {}).walkers[0].agent.view()
    assert view.search is None or (view.search.heat.size, view.search.order.size) == (0, 0)


@every_agent
def test_agent_that_has_not_planned_yet_shows_no_path(spec: AgentSpec) -> None:
    """Of RIBS, the cell of the agent itself is shown: the path on its stack."""
    world = world_of(drawn(TRAP), spec, {})
    view: AgentView = world.walkers[0].agent.view()
    assert view.path.tolist() == ([world.start] if spec.key == "ribs" else []) and not view.tracing.size


@every_agent
def test_agent_spec_parameters_are_valid_and_unique(spec: AgentSpec) -> None:
    names = [param.name for param in spec.params]
    assert len(set(names)) == len(names)
    for param in spec.params:
        assert param.parse_value(param.default) == param.default
        assert param.help and param.declaration_data()["default"] == param.default
    assert AGENT_SPECS_BY_KEY[spec.key] is spec and spec.summary.endswith(".")
    pickle.loads(pickle.dumps(spec))
