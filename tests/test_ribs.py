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

from agents.registry import BY_KEY
from sim.agent_api import Status
from sim.commands import AgentConfig, EditCells, MoveGoal, SetParam
from sim.generate import generate
from sim.grid import Grid
from sim.kernels.log import BACK_MOVE, RESTARTED
from sim.kernels.octile import DIAGONAL
from sim.kernels.search import parent
from sim.movement import USUAL, Movement
from sim.params import Value
from sim.walker import Walker
from sim.world import World

from .conftest import board_of, drawn, movements, problems, yaml_of
from .naive import Board, Place
from .naive_ribs import Ribs

Problem = tuple[list[str], int, int]
M1: Problem = drawn(yaml_of((Path(__file__).parent / "golden" / "m1.yaml").read_text())["map"])
LIMIT = 200_000  # ticks

small = problems(side=9, water=False)
flags = st.sampled_from([(True, True), (True, True), (True, False), (False, True), (False, False)])


def ribs_on(problem: Problem, movement: Movement = USUAL, budget: int = 1, **options: Any) -> tuple[World, Walker]:
    rows, start, goal = problem
    params: dict[str, Value] = {name: options.pop(name) for name in ("dead", "redundant") if name in options}
    world = World(Grid.from_rows(rows, movement=movement), start, goal, BY_KEY, budget=budget, **options)
    return world, world.add(AgentConfig("ribs", params=params))


def rows_of(world: World) -> Iterator[Any]:
    for _ in range(LIMIT):
        if not world.advance(1):
            return
        yield world.walkers[0].rows[0]
    raise AssertionError("it never ends")


def corner(size: int) -> Problem:
    made = generate("corner", {"size": size})
    return made.grid.rows(), made.grid.cell(*made.start), made.grid.cell(*made.goal)


def g_of(walker: Walker, cell: int) -> float:
    search = walker.agent.view().search
    assert search is not None and search.nodes[cell].search == search.control[0].search
    return float(search.nodes[cell].g)


# --- golden values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "diagonal, moves, cost, expansions, limits, last",
    [(DIAGONAL, 606, 672.274170, 619, 14, 19.656854), (1.5, 400, 458.0, 407, 8, 20.0)],
)
def test_golden_rows_on_m1(diagonal: float, moves: int, cost: float, expansions: int, limits: int, last: float) -> None:
    world, walker = ribs_on(M1, Movement(diagonal=diagonal))
    world.advance(LIMIT)
    m, view = world.metrics(walker), walker.agent.view()
    assert (m.moves, m.expansions, m.waits) == (moves, expansions, limits - 1)
    assert m.cost == pytest.approx(cost, abs=1e-5)
    assert view.numbers["iteration"] == limits and view.numbers["limit"] == pytest.approx(last, abs=1e-5)
    assert (view.groups["dead"].size, view.groups["redundant"].size) == (23, 26)
    assert g_of(walker, world.goal) == world.optimal


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
def test_golden_corner_maps(size: int, diagonal: float, expansions: int, moves: int | None, cost: float | None) -> None:
    world, walker = ribs_on(corner(size), Movement(diagonal=diagonal), measures=False)
    world.advance(10**6)
    m = world.metrics(walker)
    assert walker.agent.status is Status.AT_GOAL and m.expansions == expansions
    assert moves is None or m.moves == moves
    assert cost is None or m.cost == cost


def test_each_pruning_rule_is_needed() -> None:
    counts = {}
    for dead, redundant in ((True, True), (True, False), (False, False)):
        world, walker = ribs_on(corner(56), Movement(diagonal=1.5), dead=dead, redundant=redundant, measures=False)
        world.advance(10**6)
        counts[dead, redundant] = world.metrics(walker).expansions
    assert counts[True, True] == 22_539 and counts[False, False] == 221_497
    assert counts[True, False] > 3 * counts[True, True]


def test_expansions_grow_linearly_on_the_corner_map() -> None:
    sizes, counts = [], []
    for size in (8, 12, 16, 24, 32, 48, 64, 96):
        world, walker = ribs_on(corner(size), Movement(diagonal=1.5), measures=False)
        world.advance(10**6)
        sizes.append(int(world.grid.free.sum()))
        counts.append(world.metrics(walker).expansions)
    exponent = np.polyfit(np.log(sizes[2:]), np.log(counts[2:]), 1)[0]
    assert 0.95 < exponent < 1.1
    assert all(3.0 < count / size < 8.0 for count, size in zip(counts, sizes, strict=True))


# --- against naive code -----------------------------------------------------------------------------------


def assert_as_naive(world: World, walker: Walker, agent: Ribs) -> None:
    board, view = agent.board, walker.agent.view()
    status = {"active": Status.ACTIVE, "goal": Status.AT_GOAL, "no path": Status.NO_PATH}[agent.status]
    assert walker.agent.status is status
    assert view.numbers["limit"] == agent.limit and view.numbers["iteration"] == len(agent.limits)
    assert view.numbers.get("next limit", math.inf) == agent.next_limit
    groups = {name: {board.at(int(cell)) for cell in cells} for name, cells in view.groups.items()}
    assert groups == {"dead": agent.dead, "redundant": agent.redundant}
    assert all(g_of(walker, board.id(place)) == g for place, g in agent.g.items())
    for place, before in agent.back.items():
        assert parent(world.grid.ground, view.search, board.id(place)) == board.id(before)
    live = agent.back.keys() - agent.dead - agent.redundant
    assert not any(agent.back[place] in agent.dead | agent.redundant for place in live)
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
def test_every_tick_is_that_of_the_naive_one(
    problem: Problem, movement: Movement, prunes: tuple[bool, bool], budget: int
) -> None:
    world, walker = ribs_on(problem, movement, budget, dead=prunes[0], redundant=prunes[1])
    board = board_of(world.grid)
    agent = Ribs(board, board.at(world.start), board.at(world.goal), *prunes)
    for row in rows_of(world):
        want = agent.tick(budget)
        assert (board.at(int(row.cell)), row.expanded) == (want.cell, want.expanded)
        assert bool(row.marks & BACK_MOVE) == want.back
        if world.tick % 7 == 0:
            assert_as_naive(world, walker, agent)
    assert_as_naive(world, walker, agent)


@given(small, movements, st.integers(0, 2**32))
def test_after_a_change_it_begins_again_where_it_stands(problem: Problem, movement: Movement, seed: int) -> None:
    world, walker = ribs_on(problem, movement)
    board, chance = board_of(world.grid), random.Random(seed)
    agent = Ribs(board, board.at(world.start), board.at(world.goal))
    for _ in range(60):
        if chance.random() < 0.1:
            before, was_done = board_of(world.grid), agent.status == "goal"
            cells = {*chance.sample(range(world.grid.cells), min(2, world.grid.cells))} - {walker.position}
            free = {cell for cell in cells if world.grid.is_free(cell)}
            world.submit(EditCells(tuple(free), tuple(cells - free)))
            world.apply_now()
            board = board_of(world.grid)
            gone, came = before.arcs() - board.arcs(), board.arcs() - before.arcs()
            agent.board = board
            wakes = agent.status != "no path" or any(tail in agent.g for tail, _ in came)
            has_begun = walker.agent.state[0].iteration > 1 or len(agent.entered) > 1 or len(agent.g) > 1
            if (gone or came) and not was_done and wakes and (has_begun or agent.status == "no path"):
                agent.change()
        if agent.status == "active":
            want = agent.tick()
            assert world.advance(1) == 1
            row = walker.rows[0]
            assert (board.at(int(row.cell)), row.expanded) == (want.cell, want.expanded)
            assert bool(row.marks & RESTARTED) == want.restarted
        else:
            assert walker.agent.status is not Status.ACTIVE


# --- invariants (1) to (6) --------------------------------------------------------------------------------


@given(small, movements)
def test_invariants_of_the_walk(problem: Problem, movement: Movement) -> None:
    """First entry at the optimal g (1); limits rise to at most d* (3); the pruned are never entered again (4)."""
    world, walker = ribs_on(problem, movement)
    board = board_of(world.grid)
    true = board.distances(board.at(world.start))
    entered, pruned, limit = {world.start}, set[int](), 0.0
    for row in rows_of(world):
        cell, view = int(row.cell), walker.agent.view()
        if cell not in entered:
            assert g_of(walker, cell) == true[board.at(cell)]
            entered.add(cell)
        assert cell not in pruned or row.expanded == 0
        pruned |= {int(c) for cells in view.groups.values() for c in cells}
        assert limit <= view.numbers["limit"] and (world.optimal == math.inf or view.numbers["limit"] <= world.optimal)
        limit = view.numbers["limit"]
        assert world.goal not in pruned and world.start not in pruned
    if board.at(world.goal) in true:  # (2) and (6)
        assert walker.agent.status is Status.AT_GOAL and g_of(walker, world.goal) == world.optimal
    else:
        assert walker.agent.status is Status.NO_PATH


@given(small, movements)
def test_an_optimal_path_is_never_pruned_away(problem: Problem, movement: Movement) -> None:
    """(5): after every tick some optimal path from the start to the goal goes by cells that are not pruned."""
    world, walker = ribs_on(problem, movement)
    board = board_of(world.grid)
    start, goal = board.at(world.start), board.at(world.goal)
    true = board.distances(start)
    size = -1
    for _ in rows_of(world):
        pruned = {board.at(int(c)) for cells in walker.agent.view().groups.values() for c in cells}
        if goal in true and len(pruned) != size:
            assert goal in optimal_tree(board, start, true, pruned)
            size = len(pruned)


def optimal_tree(board: Board, start: Place, true: dict[Place, float], without: set[Place]) -> set[Place]:
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
def test_cells_that_the_paper_calls_dead_are_dead(problem: Problem, movement: Movement) -> None:
    """The rule used prunes all that the rule in the chapter's text prunes, when the agent leaves a cell by the tree."""
    rows, start, goal = problem
    board = board_of(Grid.from_rows(rows, movement=movement))
    agent = Ribs(board, board.at(start), board.at(goal), redundant=False)
    while agent.status == "active":
        u = agent.loc
        agent.tick()
        if u != agent.start and agent.is_dead_by_the_paper(u):
            assert u in agent.dead


# --- what the user does to it -----------------------------------------------------------------------------


def test_a_moved_goal_and_a_flag_begin_a_new_walk() -> None:
    world, walker = ribs_on(M1)
    world.advance(40)
    assert walker.agent.view().numbers["iteration"] > 1
    for command in (MoveGoal(230), SetParam(0, "dead", False)):
        world.submit(command)
        world.apply_now()
        view = walker.agent.view()
        assert view.numbers["iteration"] == 1 and view.root == walker.position
        assert view.path.tolist() == [walker.position] and not any(c.size for c in view.groups.values())
        assert world.advance(3) == 3
    world.advance(LIMIT)
    assert walker.position == 230 and world.metrics(walker).restarts == 2


def test_beginning_again_does_not_touch_the_map() -> None:
    """Records of an old walk are told by their number: after thousands of edits all is as in a first walk."""
    rows, start, goal = corner(12)
    world, walker = ribs_on((rows, start, goal), measures=False)
    for number in range(400):
        cell = 10 + 12 * (number % 10)
        world.submit(EditCells(freed=(cell,)) if number // 10 % 2 else EditCells(blocked=(cell,)))
        world.advance(1)
    assert world.metrics(walker).restarts > 300
    world.submit(EditCells(freed=tuple(range(144)), blocked=tuple(i for i, c in enumerate("".join(rows)) if c == "@")))
    world.apply_now()
    if walker.agent.status is Status.ACTIVE:
        fresh, other = ribs_on((world.grid.rows(), walker.position, goal), measures=False)
        before = world.metrics(walker).expansions
        world.advance(LIMIT)
        fresh.advance(LIMIT)
        assert world.metrics(walker).expansions - before == fresh.metrics(other).expansions


def test_notes_begin_again_when_nobody_takes_them() -> None:
    """A cell is expanded many times, so there may be more expansions than cells."""
    world, walker = ribs_on(corner(10), watched=True)
    world.advance(LIMIT)
    search = walker.agent.view().search
    assert search is not None and int(search.control[0].expansions) == 413 > search.order.size
    assert 0 < int(search.control[0].noted) <= search.order.size and int(search.heat.sum()) == 413
