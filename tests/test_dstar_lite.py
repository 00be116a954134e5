"""D* Lite: after any edits the way left is optimal (scipy), and every tick is that of naive_dstar_lite.py."""

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from agents.registry import AGENT_SPECS_BY_KEY
from sim.agent_api import Status
from sim.grid import Grid
from sim.kernels import labels
from sim.kernels.octile import DX, DY
from sim.kernels.search import is_known
from sim.movement import DEFAULT_MOVEMENT, Movement
from sim.walker import Walker
from sim.world import World
from sim.world_commands import AgentConfig, EditCells, MoveGoal, SetParam

from .conftest import UNLIMITED, board_of, drawn, movements, problems, random_map_rows
from .naive import arc_difference
from .naive_dstar_lite import DstarLite

Problem = tuple[list[str], int, int]
budgets = st.sampled_from([1, 2, 5, 20, UNLIMITED])
seeds = st.integers(0, 2**32)


def make_dstar_world(
    problem: Problem, movement: Movement = DEFAULT_MOVEMENT, budget: int = 10, **options: Any
) -> tuple[World, Walker]:
    rows, start, goal = problem
    params = {"mode": options.pop("mode", "sliced")}
    world = World(
        Grid.from_text_rows(rows, movement=movement), start, goal, AGENT_SPECS_BY_KEY, budget=budget, **options
    )
    return world, world.add(AgentConfig("dstar-lite", params=params))


def scipy_distances(grid: Grid, goal: int) -> np.ndarray:
    """True distances of all cells to the goal, by scipy over the legal moves of naive code."""
    board = board_of(grid)
    arcs = [(board.id(a), board.id(b), board.cost(a, b)) for a, b in board.arcs()]
    tails, heads, costs = zip(*arcs, strict=True) if arcs else ((), (), ())
    whole = csr_matrix((costs, (tails, heads)), shape=(grid.cells, grid.cells))
    distances: np.ndarray = dijkstra(whole, indices=goal)
    return distances


def toggle_random_cells(world: World, walker: Walker, chance: random.Random, most: int = 6) -> None:
    """Toggle some cells now, the goal and the agent's neighbourhood among them."""
    x, y = world.grid.xy(walker.position)
    around = [
        world.grid.cell(x + dx, y + dy)
        for dx, dy in zip(DX.tolist(), DY.tolist(), strict=True)
        if world.grid.contains_point(x + dx, y + dy)
    ]
    cells = {chance.randrange(world.grid.cells) for _ in range(chance.randint(1, most))}
    if around and chance.random() < 0.3:
        cells |= set(chance.sample(around, chance.randint(1, len(around))))
    if chance.random() < 0.2:
        cells.add(world.goal)
    cells.discard(walker.position)
    free = {cell for cell in cells if world.grid.is_free(cell)}
    world.submit(EditCells(tuple(free), tuple(cells - free)))
    world.apply_due_changes()


def repair(world: World, walker: Walker) -> None:
    """Let ticks pass until it has repaired what matters. The first move is part of that tick."""
    assert walker.position != world.goal or walker.agent.status is Status.AT_GOAL
    for _ in range(100_000):
        if walker.agent.state_record[0].found or walker.agent.status is not Status.ACTIVE:
            return
        world.advance(1)
    raise AssertionError("it never ends")


def assert_path_is_optimal(world: World, walker: Walker) -> None:
    distances = scipy_distances(world.grid, world.goal)
    if walker.agent.status is Status.AT_GOAL:
        assert walker.position == world.goal
        return
    if walker.agent.status is Status.NO_PATH:
        assert not np.isfinite(distances[walker.position])
        return
    board, way = board_of(world.grid), walker.agent.view().path.tolist()
    assert way[0] == walker.position and way[-1] == world.goal
    assert board.length([board.at(cell) for cell in way]) == distances[walker.position]


def assert_queue_invariants(world: World, walker: Walker) -> None:
    """U holds exactly the inconsistent cells, and every rhs is what the successors say."""
    agent, board, goal = walker.agent, board_of(world.grid), world.goal
    search, rhs = agent.search, agent.dstar_lite_memory.rhs
    know = [is_known(search, cell) for cell in range(world.grid.cells)]
    g = [float(search.nodes[cell].g) if know[cell] else np.inf for cell in range(world.grid.cells)]
    r = [float(rhs[cell]) if know[cell] else np.inf for cell in range(world.grid.cells)]
    for cell in range(world.grid.cells):
        terms = [cost + g[board.id(t)] for t, cost in board.successors(board.at(cell))]
        assert r[cell] == (0.0 if cell == goal else min(terms, default=np.inf))
        assert know[cell] == (min(g[cell], r[cell]) < np.inf)
    uneven = [cell for cell in range(world.grid.cells) if g[cell] != r[cell]]
    assert sorted(agent.view().groups["inconsistent"].tolist()) == uneven
    queue, size = agent.dstar_lite_memory.queue, int(search.control[0].open_size)
    entries = [(float(e.k1), float(e.k2), int(e.cell)) for e in queue[:size]]
    assert all(search.nodes[cell].place == i for i, (_, _, cell) in enumerate(entries))
    assert all(entries[(i - 1) // 2] < entries[i] for i in range(1, size))


# --- optimal, whatever happens ----------------------------------------------------------------------------


@given(problems(), movements, budgets, st.sampled_from(["sliced", "instant"]), seeds)
def test_remaining_path_is_optimal_after_random_edits(
    problem: Problem, movement: Movement, budget: int, mode: str, seed: int
) -> None:
    world, walker = make_dstar_world(problem, movement, budget, mode=mode)
    chance = random.Random(seed)
    for _ in range(8):
        repair(world, walker)
        assert_path_is_optimal(world, walker)
        assert_queue_invariants(world, walker)
        world.advance(chance.randint(0, 3))
        if walker.agent.status is Status.AT_GOAL:
            break  # from here on the map is nothing to it
        for _ in range(chance.randint(1, 3)):  # several edits before it can repair anything
            toggle_random_cells(world, walker, chance)
        assert_queue_invariants(world, walker)
    world.advance(100_000)
    assert walker.agent.status is not Status.ACTIVE
    assert_path_is_optimal(world, walker)


@given(problems(side=9), movements, st.sampled_from([1, 3, 8, UNLIMITED]), seeds)
def test_every_tick_matches_naive_dstar_lite(problem: Problem, movement: Movement, budget: int, seed: int) -> None:
    world, walker = make_dstar_world(problem, movement, budget)
    board, chance = board_of(world.grid), random.Random(seed)
    agent = DstarLite(board, board.at(world.start), board.at(world.goal))
    words = {"active": Status.ACTIVE, "goal": Status.AT_GOAL, "no path": Status.NO_PATH}
    for _ in range(50):
        if chance.random() < 0.25:
            before = board_of(world.grid).arcs()
            toggle_random_cells(world, walker, chance, most=3)
            agent.board = board_of(world.grid)
            agent.change(*arc_difference(before, agent.board.arcs()))
        assert walker.agent.status is words[agent.status]
        if agent.status == "active":
            want = agent.tick(budget)
            assert world.advance(1) == 1
            row = walker.log_rows[0]
            assert (board.at(int(row.cell)), row.expanded) == (want.cell, want.expanded)
        assert {board.at(int(c)) for c in walker.agent.view().groups["inconsistent"]} == set(agent.queue)
        assert walker.agent.view().numbers["km"] == agent.km
        best = agent.top()
        assert walker.agent.view().best == (-1 if best is None else board.id(best))


@given(problems(side=20), movements)
def test_dstar_lite_equals_astar_on_a_static_map(problem: Problem, movement: Movement) -> None:
    world, walker = make_dstar_world(problem, movement)
    other = world.add(AgentConfig("astar"))
    world.advance(100_000)
    assert walker.agent.status is other.agent.status
    mine, its = world.metrics_of_walker(walker), world.metrics_of_walker(other)
    assert (mine.cost, mine.moves > 0) == (its.cost, its.moves > 0)
    assert mine.nonoptimal_moves == 0 and mine.back_moves == 0 and mine.restarts == 0


def test_repair_after_a_small_change_is_cheaper_than_a_new_search() -> None:
    rows = random_map_rows(5, 120, 120, 0.2)
    rows[0], rows[-1] = "." * 120, "." * 120
    world, walker = make_dstar_world((rows, 0, 120 * 120 - 1), budget=UNLIMITED)
    world.advance(1)
    first = world.metrics_of_walker(walker).expansions
    way = walker.agent.view().path.tolist()
    world.submit(EditCells(blocked_cells=(way[5],)))
    world.advance(1)
    assert 0 < world.metrics_of_walker(walker).expansions - first < first / 10
    assert_path_is_optimal(world, walker)


# --- ends and wakes ---------------------------------------------------------------------------------------

ROOM = """
    .......
    .S.....
    .......
    .....G.
    .......
"""


def test_agent_reaches_a_goal_blocked_and_freed_again() -> None:
    world, walker = make_dstar_world(drawn(ROOM))
    world.advance(20)
    assert walker.agent.status is Status.AT_GOAL
    world, walker = make_dstar_world(drawn(ROOM))
    world.submit(EditCells(blocked_cells=(world.goal,)), 2)
    world.advance(40)
    assert walker.agent.status is Status.NO_PATH and walker.agent.view().path.size == 0
    before = world.metrics_of_walker(walker).expansions
    world.submit(EditCells(blocked_cells=(6,)))  # nothing that a lost arc can open
    world.advance(5)
    assert walker.agent.status is Status.NO_PATH and world.metrics_of_walker(walker).expansions == before
    world.submit(EditCells(freed_cells=(world.goal,)))
    world.advance(60)
    assert walker.agent.status is Status.AT_GOAL and world.metrics_of_walker(walker).restarts == 0


def test_enclosed_agent_reaches_the_goal_once_freed() -> None:
    world, walker = make_dstar_world(drawn(ROOM))
    world.submit(EditCells(blocked_cells=(0, 1, 2, 7, 9, 14, 15, 16)))
    world.advance(60)
    assert walker.agent.status is Status.NO_PATH and world.metrics_of_walker(walker).moves == 0
    world.submit(EditCells(freed_cells=(9,)))
    world.advance(60)
    assert walker.agent.status is Status.AT_GOAL
    assert world.metrics_of_walker(walker).cost == scipy_distances(world.grid, world.goal)[world.start]


def test_no_path_is_proved_by_expanding_cells_around_the_goal() -> None:
    world, walker = make_dstar_world(drawn("S..#..\n...#.G\n...#.."), budget=2)
    world.advance(100)
    assert walker.agent.status is Status.NO_PATH
    assert world.metrics_of_walker(walker).expansions == 6 and world.metrics_of_walker(walker).moves == 0


def test_sliced_and_instant_modes_differ_only_in_ticks() -> None:
    rows = random_map_rows(2, 30, 30, 0.25)
    rows[0], rows[-1] = "." * 30, "." * 30
    runs = {}
    for mode in ("sliced", "instant"):
        world, walker = make_dstar_world((rows, 0, 899), budget=7, mode=mode)
        world.advance(10_000)
        runs[mode] = world.metrics_of_walker(walker)
    assert runs["sliced"].expansions == runs["instant"].expansions and runs["sliced"].cost == runs["instant"].cost
    assert (runs["instant"].waits, runs["instant"].over_budget) == (0, 1)
    assert runs["sliced"].waits > 0 and runs["sliced"].max_expansions == 7
    world, walker = make_dstar_world((rows, 0, 899), budget=7)
    world.submit(SetParam(0, "mode", "instant"), 4)
    world.advance(10_000)
    changed = world.metrics_of_walker(walker)
    assert (changed.expansions, changed.restarts, changed.waits) == (runs["sliced"].expansions, 0, 4)


def test_only_a_sliced_dstar_lite_plans_in_batches() -> None:
    """A batch keeps to the budget, which an instant agent must not."""
    world, walker = make_dstar_world(drawn(ROOM))
    assert walker.agent.batch_kernel is not None
    world.submit(SetParam(0, "mode", "instant"))
    world.apply_due_changes()
    assert walker.agent.batch_kernel is None


def test_moved_goal_restarts_the_search() -> None:
    world, walker = make_dstar_world(drawn(ROOM))
    world.advance(3)
    world.submit(MoveGoal(28))
    world.advance(60)
    assert walker.position == 28 and world.metrics_of_walker(walker).restarts == 1
    assert walker.agent.view().root == 28


def test_reversed_labels_are_opposite_directions() -> None:
    for d, back in enumerate(labels.OPPOSITE_DIRECTION.tolist()):
        assert (DX[d], DY[d]) == (-DX[back], -DY[back])


@pytest.mark.parametrize("seed", range(3))
def test_parents_form_optimal_paths_to_the_goal(seed: int) -> None:
    """The tree that a panel draws: from every closed cell the parents are a cheapest way."""
    world, walker = make_dstar_world(([*random_map_rows(seed, 25, 25, 0.2)[:-1], "." * 25], 24 * 25, 24 * 25 + 24))
    world.advance(1000)
    search, ground = walker.agent.search, world.grid.map_arrays
    distances = scipy_distances(world.grid, world.goal)
    for cell in range(world.grid.cells):
        if is_known(search, cell) and search.nodes[cell].place < 0 and cell != world.goal:
            before = cell - int(ground.step[search.nodes[cell].came])
            assert search.nodes[cell].g == distances[cell] > distances[before]
