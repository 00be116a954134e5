"""RIBS: the golden values, the invariants of its paper, and every tick against naive_ribs.py."""

import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agents.registry import AGENT_SPECS_BY_KEY
from sim.agent_api import Status
from sim.grid import Grid
from sim.kernels.log import BACK_MOVE, RESTARTED
from sim.kernels.octile import DIAGONAL
from sim.kernels.search import parent_of
from sim.map_generators import generate_map
from sim.movement import DEFAULT_MOVEMENT, Movement
from sim.params import Value
from sim.walker import Walker
from sim.world import World
from sim.world_commands import AgentConfig, EditCells, MoveGoal, SetParam

from .conftest import board_of, drawn, movements, problems, yaml_of
from .naive import Board, Place
from .naive_ribs import Ribs

Problem = tuple[list[str], int, int]
M1: Problem = drawn(yaml_of((Path(__file__).parent / "golden" / "m1.yaml").read_text())["map"])
LIMIT = 200_000  # ticks

small = problems(side=9, water=False)
flags = st.sampled_from([(True, True), (True, True), (True, False), (False, True), (False, False)])


def make_ribs_world(
    problem: Problem, movement: Movement = DEFAULT_MOVEMENT, budget: int = 1, **options: Any
) -> tuple[World, Walker]:
    rows, start, goal = problem
    params: dict[str, Value] = {name: options.pop(name) for name in ("dead", "redundant") if name in options}
    world = World(
        Grid.from_text_rows(rows, movement=movement), start, goal, AGENT_SPECS_BY_KEY, budget=budget, **options
    )
    return world, world.add(AgentConfig("ribs", params=params))


def iter_rows(world: World) -> Iterator[Any]:
    for _ in range(LIMIT):
        if not world.advance(1):
            return
        yield world.walkers[0].log_rows[0]
    raise AssertionError("it never ends")


def corner(size: int) -> Problem:
    made = generate_map("corner", {"size": size})
    return made.grid.text_rows(), made.grid.cell(*made.start), made.grid.cell(*made.goal)


def g_of_cell(walker: Walker, cell: int) -> float:
    search = walker.agent.view().search
    assert search is not None and search.nodes[cell].search == search.control[0].search
    return float(search.nodes[cell].g)


# --- golden values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "diagonal, moves, cost, expansions, limits, last",
    [(DIAGONAL, 606, 672.274170, 619, 14, 19.656854), (1.5, 400, 458.0, 407, 8, 20.0)],
)
def test_ribs_metrics_on_m1_match_golden_values(
    diagonal: float, moves: int, cost: float, expansions: int, limits: int, last: float
) -> None:
    world, walker = make_ribs_world(M1, Movement(diagonal=diagonal))
    world.advance(LIMIT)
    m, view = world.metrics_of_walker(walker), walker.agent.view()
    assert (m.moves, m.expansions, m.waits) == (moves, expansions, limits - 1)
    assert m.cost == pytest.approx(cost, abs=1e-5)
    assert view.numbers["iteration"] == limits and view.numbers["limit"] == pytest.approx(last, abs=1e-5)
    assert (view.groups["dead"].size, view.groups["redundant"].size) == (23, 26)
    assert g_of_cell(walker, world.goal) == world.optimal_cost


@pytest.mark.parametrize(
    "size, diagonal, expansions, moves, cost",
    [
        (10, 1.5, 413, 404, 483.0),
        (40, 1.5, 11_003, 10_964, None),
        (40, 1.4, 11_003, None, None),
        (40, DIAGONAL, 11_003, None, None),
        (56, 1.5, 22_539, None, None),
        (160, 1.5, 197_363, None, None),
    ],
)
def test_ribs_metrics_on_corner_maps_match_golden_values(
    size: int, diagonal: float, expansions: int, moves: int | None, cost: float | None
) -> None:
    world, walker = make_ribs_world(corner(size), Movement(diagonal=diagonal), measures=False)
    world.advance(10**6)
    m = world.metrics_of_walker(walker)
    assert walker.agent.status is Status.AT_GOAL and m.expansions == expansions
    assert moves is None or m.moves == moves
    assert cost is None or m.cost == cost


def test_each_ribs_pruning_rule_reduces_expansions() -> None:
    counts = {}
    for dead, redundant in ((True, True), (True, False), (False, False)):
        world, walker = make_ribs_world(
            corner(56), Movement(diagonal=1.5), dead=dead, redundant=redundant, measures=False
        )
        world.advance(10**6)
        counts[dead, redundant] = world.metrics_of_walker(walker).expansions
    assert counts[True, True] == 22_539 and counts[False, False] == 221_497
    assert counts[True, False] > 3 * counts[True, True]


def test_ribs_expansions_grow_linearly_on_corner_maps() -> None:
    sizes, counts = [], []
    for size in (8, 12, 16, 24, 32, 48, 64, 96):
        world, walker = make_ribs_world(corner(size), Movement(diagonal=1.5), measures=False)
        world.advance(10**6)
        sizes.append(int(world.grid.free_mask.sum()))
        counts.append(world.metrics_of_walker(walker).expansions)
    exponent = np.polyfit(np.log(sizes[2:]), np.log(counts[2:]), 1)[0]
    assert 0.95 < exponent < 1.1
    assert all(3.0 < count / size < 8.0 for count, size in zip(counts, sizes, strict=True))


# --- against naive code -----------------------------------------------------------------------------------


def assert_matches_naive(world: World, walker: Walker, agent: Ribs) -> None:
    board, view = agent.board, walker.agent.view()
    status = {"active": Status.ACTIVE, "goal": Status.AT_GOAL, "no path": Status.NO_PATH}[agent.status]
    assert walker.agent.status is status
    assert view.numbers["limit"] == agent.limit and view.numbers["iteration"] == len(agent.limits)
    assert view.numbers.get("next limit", math.inf) == agent.next_limit
    groups = {name: {board.at(int(cell)) for cell in cells} for name, cells in view.groups.items()}
    assert groups == {"dead": agent.dead_cells, "redundant": agent.redundant_cells}
    assert all(g_of_cell(walker, board.id(place)) == g for place, g in agent.g.items())
    for place, before in agent.back.items():
        assert parent_of(world.grid.map_arrays, view.search, board.id(place)) == board.id(before)
    live = agent.back.keys() - agent.dead_cells - agent.redundant_cells
    assert not any(agent.back[place] in agent.dead_cells | agent.redundant_cells for place in live)
    chain = [agent.loc]
    while chain[-1] != agent.start:
        chain.append(agent.back[chain[-1]])
    assert [board.at(int(cell)) for cell in view.path[::-1]] == chain


@given(small, movements, flags, st.sampled_from([1, 1, 2, 5]))
@example(
    ([".....", ".@.@@", "@...@", "...@.", "...@."], 0, 24), Movement(diagonal=2.0), (True, True), 1
)  # enters a cell from
@example(
    ([".....", ".@@..", ".....", "..@.@", "..@.."], 0, 24), Movement(diagonal=1.0), (True, True), 1
)  # another parent than before
def test_every_ribs_tick_matches_naive_version(
    problem: Problem, movement: Movement, prunes: tuple[bool, bool], budget: int
) -> None:
    world, walker = make_ribs_world(problem, movement, budget, dead=prunes[0], redundant=prunes[1])
    board = board_of(world.grid)
    agent = Ribs(board, board.at(world.start), board.at(world.goal), *prunes)
    for row in iter_rows(world):
        want = agent.tick(budget)
        assert (board.at(int(row.cell)), row.expanded) == (want.cell, want.expanded)
        assert bool(row.marks & BACK_MOVE) == want.back
        if world.tick % 7 == 0:
            assert_matches_naive(world, walker, agent)
    assert_matches_naive(world, walker, agent)


@given(small, movements, st.integers(0, 2**32))
def test_ribs_restarts_at_its_position_after_a_map_change(problem: Problem, movement: Movement, seed: int) -> None:
    world, walker = make_ribs_world(problem, movement)
    board, chance = board_of(world.grid), random.Random(seed)
    agent = Ribs(board, board.at(world.start), board.at(world.goal))
    for _ in range(60):
        if chance.random() < 0.1:
            before, was_done = board_of(world.grid), agent.status == "goal"
            cells = {*chance.sample(range(world.grid.cells), min(2, world.grid.cells))} - {walker.position}
            free = {cell for cell in cells if world.grid.is_free(cell)}
            world.submit(EditCells(tuple(free), tuple(cells - free)))
            world.apply_due_changes()
            board = board_of(world.grid)
            gone, came = before.arcs() - board.arcs(), board.arcs() - before.arcs()
            agent.board = board
            wakes = agent.status != "no path" or any(tail in agent.g for tail, _ in came)
            has_begun = walker.agent.state_record[0].iteration > 1 or len(agent.entered) > 1 or len(agent.g) > 1
            if (gone or came) and not was_done and wakes and (has_begun or agent.status == "no path"):
                agent.change()
        if agent.status == "active":
            want = agent.tick()
            assert world.advance(1) == 1
            row = walker.log_rows[0]
            assert (board.at(int(row.cell)), row.expanded) == (want.cell, want.expanded)
            assert bool(row.marks & RESTARTED) == want.restarted
        else:
            assert walker.agent.status is not Status.ACTIVE


# --- invariants (1) to (6) --------------------------------------------------------------------------------


@given(small, movements)
def test_ribs_walk_invariants_hold(problem: Problem, movement: Movement) -> None:
    """First entry at the optimal g (1); limits rise to at most d* (3); the pruned are never entered again (4)."""
    world, walker = make_ribs_world(problem, movement)
    board = board_of(world.grid)
    true = board.distances(board.at(world.start))
    entered, pruned, limit = {world.start}, set[int](), 0.0
    for row in iter_rows(world):
        cell, view = int(row.cell), walker.agent.view()
        if cell not in entered:
            assert g_of_cell(walker, cell) == true[board.at(cell)]
            entered.add(cell)
        assert cell not in pruned or row.expanded == 0
        pruned |= {int(c) for cells in view.groups.values() for c in cells}
        assert limit <= view.numbers["limit"] and (
            world.optimal_cost == math.inf or view.numbers["limit"] <= world.optimal_cost
        )
        limit = view.numbers["limit"]
        assert world.goal not in pruned and world.start not in pruned
    if board.at(world.goal) in true:  # (2) and (6)
        assert walker.agent.status is Status.AT_GOAL and g_of_cell(walker, world.goal) == world.optimal_cost
    else:
        assert walker.agent.status is Status.NO_PATH


@given(small, movements)
def test_ribs_pruning_keeps_an_optimal_path(problem: Problem, movement: Movement) -> None:
    """(5): after every tick some optimal path from the start to the goal goes by cells that are not pruned."""
    world, walker = make_ribs_world(problem, movement)
    board = board_of(world.grid)
    start, goal = board.at(world.start), board.at(world.goal)
    true = board.distances(start)
    size = -1
    for _ in iter_rows(world):
        pruned = {board.at(int(c)) for cells in walker.agent.view().groups.values() for c in cells}
        if goal in true and len(pruned) != size:
            assert goal in cells_on_optimal_paths(board, start, true, pruned)
            size = len(pruned)


def cells_on_optimal_paths(board: Board, start: Place, true: dict[Place, float], without: set[Place]) -> set[Place]:
    """The places that an optimal path from the start leads to, by no place of `without`."""
    found, stack = {start}, [start]
    while stack:
        a = stack.pop()
        for b, cost in board.successors(a):
            if true[a] + cost == true[b] and b not in without and b not in found:
                found.add(b)
                stack.append(b)
    return found


@given(small, movements)
def test_cells_dead_by_the_paper_are_pruned(problem: Problem, movement: Movement) -> None:
    """The rule used prunes all that the rule in the chapter's text prunes, when the agent leaves a cell by the tree."""
    rows, start, goal = problem
    board = board_of(Grid.from_text_rows(rows, movement=movement))
    agent = Ribs(board, board.at(start), board.at(goal), redundant=False)
    while agent.status == "active":
        u = agent.loc
        agent.tick()
        if u != agent.start and agent.is_dead_by_the_paper(u):
            assert u in agent.dead_cells


# --- what the user does to it -----------------------------------------------------------------------------


def test_moved_goal_and_changed_flag_restart_ribs() -> None:
    world, walker = make_ribs_world(M1)
    world.advance(40)
    assert walker.agent.view().numbers["iteration"] > 1
    for command in (MoveGoal(230), SetParam(0, "dead", False)):
        world.submit(command)
        world.apply_due_changes()
        view = walker.agent.view()
        assert view.numbers["iteration"] == 1 and view.root == walker.position
        assert view.path.tolist() == [walker.position] and not any(c.size for c in view.groups.values())
        assert world.advance(3) == 3
    world.advance(LIMIT)
    assert walker.position == 230 and world.metrics_of_walker(walker).restarts == 2


def test_ribs_restart_equals_a_fresh_run_after_many_edits() -> None:
    """Records of an old walk are told by their number: after thousands of edits all is as in a first walk."""
    rows, start, goal = corner(12)
    world, walker = make_ribs_world((rows, start, goal), measures=False)
    for number in range(400):
        cell = 10 + 12 * (number % 10)
        world.submit(EditCells(freed_cells=(cell,)) if number // 10 % 2 else EditCells(blocked_cells=(cell,)))
        world.advance(1)
    assert world.metrics_of_walker(walker).restarts > 300
    world.submit(
        EditCells(
            freed_cells=tuple(range(144)), blocked_cells=tuple(i for i, c in enumerate("".join(rows)) if c == "@")
        )
    )
    world.apply_due_changes()
    if walker.agent.status is Status.ACTIVE:
        fresh, other = make_ribs_world((world.grid.text_rows(), walker.position, goal), measures=False)
        before = world.metrics_of_walker(walker).expansions
        world.advance(LIMIT)
        fresh.advance(LIMIT)
        assert world.metrics_of_walker(walker).expansions - before == fresh.metrics_of_walker(other).expansions


def test_expansion_order_buffer_wraps_around_if_not_read() -> None:
    """A cell is expanded many times, so there may be more expansions than cells."""
    world, walker = make_ribs_world(corner(10), watched=True)
    world.advance(LIMIT)
    search = walker.agent.view().search
    assert search is not None and int(search.control[0].expansions) == 413 > search.order.size
    assert 0 < int(search.control[0].noted) <= search.order.size and int(search.heat.sum()) == 413
