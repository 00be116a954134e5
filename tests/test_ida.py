"""IDA*: against a recursive version, against A* and against RIBS without pruning."""

import math

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from agents.registry import AGENT_SPECS_BY_KEY
from sim.agent_api import Status
from sim.grid import Grid
from sim.movement import DEFAULT_MOVEMENT, Movement
from sim.world import World
from sim.world_commands import AgentConfig, EditCells

from .conftest import board_of, drawn, movements, problems, solo
from .naive import Board, Place

PATIENCE = 3000  # expansions of the slow version; problems that need more are left out
Problem = tuple[list[str], int, int]


class TooManyExpansionsError(Exception):
    pass


def recursive_ida(board: Board, start: Place, goal: Place) -> tuple[list[float], list[Place] | None, int]:
    """Recursive IDA*: its limits, the path it finds or None, and its expansions."""
    limits, expansions = [board.h(start, goal)], 0

    def visit(way: list[Place], g: float) -> tuple[list[Place] | None, float]:
        nonlocal expansions
        expansions += 1
        if expansions > PATIENCE:
            raise TooManyExpansionsError
        beyond = math.inf
        for child, cost in board.successors(way[-1]):
            if child in way:
                continue
            f = g + cost + board.h(child, goal)
            if f > limits[-1]:
                beyond = min(beyond, f)
            elif child == goal:
                return [*way, child], beyond
            else:
                found, least = visit([*way, child], g + cost)
                beyond = min(beyond, least)
                if found:
                    return found, beyond
        return None, beyond

    while True:
        found, beyond = visit([start], 0.0)
        if found or beyond == math.inf:
            return limits, found, expansions
        limits.append(beyond)


def walked(
    problem: Problem, budget: int, kind: str = "ida", movement: Movement = DEFAULT_MOVEMENT, **params: bool
) -> tuple[World, list[float]]:
    """A world walked to its end, and every limit that was seen."""
    world, walker = solo(*problem, kind, budget, movement, **params)
    limits: list[float] = []
    for _ in range(10 * PATIENCE):
        limit = walker.agent.view().numbers["limit"]
        if limit and (not limits or limits[-1] != limit):
            limits.append(limit)
        if not world.advance(1):
            break
    return world, limits


@settings(max_examples=150)
@given(problem=problems(side=6, water=False), movement=movements, budget=st.sampled_from([1, 3, 50]))
def test_path_limits_and_expansions_match_recursive_ida(problem: Problem, movement: Movement, budget: int) -> None:
    rows, start, goal = problem
    assume(start != goal)
    board = board_of(Grid.from_text_rows(rows, movement=movement))
    try:
        limits, path, expansions = recursive_ida(board, board.at(start), board.at(goal))
    except TooManyExpansionsError:
        assume(False)
    world, seen = walked(problem, budget, movement=movement)
    walker = world.walkers[0]
    assert world.metrics_of_walker(walker).expansions == expansions
    if path is None:
        assert walker.agent.status is Status.NO_PATH
    else:
        assert walker.agent.status is Status.AT_GOAL
        assert [board.at(int(c)) for c in walker.agent.view().path] == path
        assert world.metrics_of_walker(walker).cost == world.metrics_of_walker(walker).optimal
    if budget == 1:  # else iterations may begin and end within a tick
        assert seen == limits
    assert sorted(set(limits)) == limits, "limits rise"


@settings(max_examples=60)
@given(problem=problems(side=5, water=False))
@example(problem=([".....", ".@...", "..@@.", "@.@..", "..@.."], 19, 11))  # three limits more
def test_limits_are_consistent_with_those_of_ribs(problem: Problem) -> None:
    """One that RIBS has not is the f of a dearer way to a cell that RIBS knows a cheaper way to: it lets in nothing."""
    rows, start, goal = problem
    board = board_of(Grid.from_text_rows(rows))
    assume(start != goal and board.at(goal) in board.distances(board.at(start)))
    try:
        limits, _, _ = recursive_ida(board, board.at(start), board.at(goal))
    except TooManyExpansionsError:
        assume(False)
    _, ribs = walked(problem, 1, "ribs", dead=False, redundant=False)
    world, ida = walked(problem, 1)
    assert ida == limits and set(ribs) <= set(limits)
    assert (ribs[0], ribs[-1]) == (limits[0], limits[-1])
    contours = world.walkers[0].agent.view().contours
    assert set(contours.tolist()) - {0.0} <= set(ribs)  # type: ignore[union-attr]


OPEN = drawn("""
    ......
    .####.
    S..#.G
    .####.
    ......
""")


def test_ida_gives_up_at_the_expansion_limit() -> None:
    rows = ["." * 12] * 5 + ["@" * 11 + "."] + ["." * 12] * 6
    world, walker = solo(rows, 0, 12 * 11, "ida", 1000, most=5000)
    world.advance(100)
    assert walker.agent.status is Status.GAVE_UP and world.is_over
    assert 5000 <= world.metrics_of_walker(walker).expansions <= 6000 and walker.position == 0


def test_contours_hold_cells_first_entered_in_an_iteration() -> None:
    world, walker = solo(*OPEN, "ida", 1)
    seen: dict[int, set[int]] = {}
    while world.advance(1) and not walker.agent.view().path.size:
        view = walker.agent.view()
        seen[int(view.numbers["iteration"])] = set(view.groups["new contour"].tolist())
    assert len(seen) > 3
    cells = [cell for contour in seen.values() for cell in contour]
    assert len(cells) == len(set(cells)), "a cell belongs to one contour"
    assert world.start in seen[1] and world.start not in seen[2]


@pytest.mark.parametrize("budget", [1, 7])
def test_search_stack_is_a_path_from_the_root_within_the_limit(budget: int) -> None:
    world, walker = solo(*OPEN, "ida", budget)
    board = board_of(world.grid)
    while world.advance(1) and not walker.agent.view().path.size:
        way = [board.at(int(cell)) for cell in walker.agent.view().tracing[::-1]]
        assert not way or way[0] == board.at(world.start)
        assert board.length(way) <= walker.agent.view().numbers["limit"]


def test_map_change_restarts_the_search() -> None:
    rows, start, goal = drawn("S.#.G")
    world = World(Grid.from_text_rows(rows), start, goal, AGENT_SPECS_BY_KEY, budget=5)
    walker = world.add(AgentConfig("ida"))
    world.advance(20)
    assert walker.agent.status is Status.NO_PATH
    world.submit(EditCells(freed_cells=(2,)))
    world.advance(20)
    assert walker.agent.status is Status.AT_GOAL and world.metrics_of_walker(walker).restarts == 1
