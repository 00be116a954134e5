"""The kernels against scipy and naive.py: searches, open lists, distances, tracing.

`check_core` is also run with bounds checks on, and without the JIT: see test_bounds.py.
"""

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from sim.grid import Grid
from sim.kernels import buckets, search
from sim.kernels.distance import UNLIMITED, true_distance
from sim.kernels.octile import DIAGONAL, direction_between, h0_cells
from sim.kernels.route import new_route, place_on, trace_whole
from sim.kernels.search import (
    EMPTY,
    GOAL_ON_TOP,
    RUNNING,
    add_root,
    begin,
    best_open,
    expand,
    forget,
    is_closed,
    is_known,
    new_search,
    parent,
)

from .conftest import board_of, problems, random_rows
from .naive import BestFirst

WEIGHTS = [(1.0, 1.0), (1.0, 1.4), (1.0, 2.6), (1.0, 3.0), (1.0, 100.0), (0.0, 1.0)]


def expanded_cells(run: search.Search) -> list[int]:
    return run.order[: int(run.control[0].noted)].tolist()


def compare_searches(
    rows: list[str],
    start: int,
    goal: int,
    weights: tuple[float, float],
    reopen: bool,
    slices: list[int],
    diagonal: float,
) -> None:
    """Expand slice by slice; after each, kernel and naive code must agree on everything."""
    grid = Grid.from_rows(rows, diagonal=diagonal)
    board = board_of(grid)
    naive = BestFirst(board, board.at(start), board.at(goal), *weights, reopen)
    run = new_search(grid.cells, *weights, reopens=reopen, counts_heat=True, notes_order=True)
    begin(grid.ground, run, start, goal, goal)
    control = run.control[0]
    for limit in [*slices, 10**6]:
        done = len(naive.order)
        end = naive.run(limit)
        control.noted = 0
        assert expand(grid.ground, run, limit) == len(naive.order) - done
        if len(naive.order) - done <= run.order.size:  # with reopening there may be more than cells
            assert expanded_cells(run) == [board.id(a) for a in naive.order[done:]]
        assert int(control.status) == {"goal": GOAL_ON_TOP, "empty": EMPTY, "budget": RUNNING}[end]
        best = naive.best()
        assert best_open(grid.ground, run) == (-1 if best is None else board.id(best))
    assert int(control.expansions) == len(naive.order)
    for cell in range(grid.cells):
        place = board.at(cell)
        assert is_known(run, cell) == (place in naive.g)
        assert run.heat[cell] == naive.order.count(place)
        if place in naive.g:
            assert run.nodes[cell].g == naive.g[place]
            before = naive.parent[place]
            assert parent(grid.ground, run, cell) == (-1 if before is None else board.id(before))
            assert is_closed(run, cell) == (place not in naive.open)


@given(
    problems(),
    st.sampled_from(WEIGHTS),
    st.booleans(),
    st.lists(st.integers(0, 9), max_size=6),
    st.sampled_from([DIAGONAL, DIAGONAL, 1.0, 1.5, 2.0]),
)
def test_expansions_parents_and_costs_are_those_of_naive_search(
    problem: tuple[list[str], int, int],
    weights: tuple[float, float],
    reopen: bool,
    slices: list[int],
    diagonal: float,
) -> None:
    compare_searches(*problem, weights, reopen, slices, diagonal)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("reopen", [False, True])
def test_larger_maps_expand_the_same_cells_in_the_same_order(weights: tuple[float, float], reopen: bool) -> None:
    rows = random_rows(11, 26, 22, 0.3)
    rows[0], rows[-1] = "." * 26, "." * 26
    compare_searches(rows, 0, 26 * 22 - 1, weights, reopen, [7, 50], DIAGONAL)


def test_reopening_happens_where_it_is_allowed() -> None:
    """A weighted search on an open map with a wall reaches cells too dearly first; only `reopen` repairs that."""
    rows = random_rows(5, 30, 30, 0.25)
    grid = Grid.from_rows(rows)
    cells = np.flatnonzero(grid.free)
    counts = {}
    for reopen in (False, True):
        run = new_search(grid.cells, 1.0, 3.0, reopens=reopen, counts_heat=True)
        begin(grid.ground, run, int(cells[0]), int(cells[-1]), int(cells[-1]))
        expand(grid.ground, run, UNLIMITED)
        counts[reopen] = int(run.heat.max())
    assert counts == {False: 1, True: counts[True]} and counts[True] > 1


def check_distances(grid: Grid, goal: int, queries: list[int], aim: int) -> None:
    """The lazy distance field against Dijkstra by scipy, asked in any order."""
    tails, heads, costs = [], [], []
    for d in range(8):
        have = np.flatnonzero(grid.moves >> d & 1)
        tails.append(have)
        heads.append(have + int(grid.ground.step[d]))
        costs.append(np.full(have.size, float(grid.ground.cost[d])))
    arcs = (np.concatenate(costs), (np.concatenate(tails), np.concatenate(heads)))
    want = dijkstra(csr_matrix(arcs, shape=(grid.cells, grid.cells)), indices=goal)
    backward = new_search(grid.cells)
    begin(grid.ground, backward, goal, -1, aim)
    for cell in queries:
        assert true_distance(grid.ground, backward, cell, UNLIMITED) == want[cell]


@given(problems(), st.lists(st.integers(0, 80), min_size=1, max_size=12), st.integers(0, 80))
def test_true_distances_equal_scipys_dijkstra(
    problem: tuple[list[str], int, int], queries: list[int], aim: int
) -> None:
    rows, _, goal = problem
    grid = Grid.from_rows(rows)
    check_distances(grid, goal, [q % grid.cells for q in queries], aim % grid.cells)


def test_true_distances_on_a_large_map() -> None:
    grid = Grid.from_rows(random_rows(3, 300, 300, 0.35))
    free = np.flatnonzero(grid.free)
    check_distances(grid, int(free[0]), np.random.default_rng(0).choice(free, 200).tolist(), int(free[-1]))


@given(problems(), st.sampled_from([1.0, 1.0005, 1.41, DIAGONAL, 1.7, 1.9995, 2.0]))
def test_bucket_list_pops_the_same_f_values_as_the_heap(problem: tuple[list[str], int, int], diagonal: float) -> None:
    """Only the order within a tie may differ: the same f in the same order, and a path of the same cost."""
    rows, start, goal = problem
    grid = Grid.from_rows(rows, diagonal=diagonal)
    runs = []
    for is_bucketed in (False, True):
        run = new_search(grid.cells, is_bucketed=is_bucketed, notes_order=True)
        for root, target in ((goal, start), (start, goal)):  # the second one works on used memory
            begin(grid.ground, run, root, target, target)
            run.control[0].noted = 0
            expand(grid.ground, run, 3)
            expand(grid.ground, run, UNLIMITED)
        f = [run.nodes[s].g + h0_cells(grid.ground, s, goal) for s in expanded_cells(run)]
        assert f == sorted(f), "with a consistent h no later f is smaller"
        cost = run.nodes[goal].g if is_known(run, goal) else math.inf
        below = [value for value in f if value < cost]
        if cost < math.inf and root != target:
            opened_goal = expanded_cells(run).index(parent(grid.ground, run, goal))
            assert all(value < cost for value in f[opened_goal + 1 :]), "the goal wins every tie"
        runs.append((int(run.control[0].status), cost, below, int(run.control[0].open_size) > 0))
    assert runs[0] == runs[1]


def test_bucket_ring_goes_round_more_than_once() -> None:
    """f beyond RING / RESOLUTION: the cursor wraps, and neither cells nor order are lost."""
    grid = Grid.from_rows(["." * 60, ("." + "@" * 59), "." * 60, ("@" * 59 + "."), "." * 60])
    goal = grid.cells - 60
    run = new_search(grid.cells, is_bucketed=True)
    begin(grid.ground, run, 59, goal, goal)
    expand(grid.ground, run, UNLIMITED)
    assert run.nodes[goal].g > 3 * buckets.RING / buckets.RESOLUTION
    board = board_of(grid)
    assert run.nodes[goal].g == board.distances(board.at(59))[board.at(goal)]


def test_searches_forget_each_other_also_when_their_numbers_run_out() -> None:
    grid = Grid.from_rows(random_rows(8, 12, 12, 0.2))
    free = np.flatnonzero(grid.free).tolist()
    chance = random.Random(1)
    used = new_search(grid.cells)
    for number in range(40):
        if number == 20:
            used.control[0].search = 65_533  # two searches before the last number; then they begin again at 1
        fresh = new_search(grid.cells)
        root, goal = chance.sample(free, 2)
        for run in (used, fresh):
            begin(grid.ground, run, root, goal, goal)
            expand(grid.ground, run, 40 if number < 20 else 5)
        assert [is_known(used, c) for c in range(grid.cells)] == [is_known(fresh, c) for c in range(grid.cells)]
        assert used.control[0].expansions == fresh.control[0].expansions
        assert best_open(grid.ground, used) == best_open(grid.ground, fresh)
    assert 0 < used.control[0].search < 40


@given(problems(), st.lists(st.tuples(st.integers(0, 80), st.integers(0, 30)), min_size=1, max_size=5))
def test_a_search_from_several_roots_finds_the_cheapest(
    problem: tuple[list[str], int, int], roots: list[tuple[int, int]]
) -> None:
    """Roots with a cost each, as TBA*'s shortcut search has them. Each may be a root only once."""
    rows, _, goal = problem
    grid = Grid.from_rows(rows)
    board = board_of(grid)
    costs = {c % grid.cells: float(g) for c, g in roots if grid.is_free(c % grid.cells)}
    run = new_search(grid.cells)
    forget(grid.ground, run, goal, goal)
    for cell, g in costs.items():
        add_root(grid.ground, run, cell, g)
    expand(grid.ground, run, UNLIMITED)
    away = board.distances(board.at(goal))
    want = min((g + away.get(board.at(c), math.inf) for c, g in costs.items()), default=math.inf)
    assert (run.nodes[goal].g if run.control[0].status == GOAL_ON_TOP else math.inf) == want


@given(problems(), st.integers(0, 80), st.integers(0, 80))
def test_direction_between_finds_legal_moves_only(problem: tuple[list[str], int, int], a: int, b: int) -> None:
    grid = Grid.from_rows(problem[0])
    board = board_of(grid)
    a, b = a % grid.cells, b % grid.cells
    cost = board.cost(board.at(a), board.at(b))
    d = int(direction_between(grid.ground, a, b))
    assert (d >= 0) == (cost is not None)
    assert d < 0 or grid.ground.cost[d] == cost
    assert h0_cells(grid.ground, a, b) == board.h(board.at(a), board.at(b))


@settings(max_examples=40)
@given(problems(low=3), st.sampled_from(WEIGHTS), st.booleans(), st.integers(1, 4))
@example((["...", "...", "..."], 0, 8), (1.0, 1.0), False, 1)
def test_the_route_is_the_parent_chain_after_every_slice(
    problem: tuple[list[str], int, int], weights: tuple[float, float], reopen: bool, k: int
) -> None:
    """Tracing stops where the last path is met; what it keeps must be what it would have found."""
    rows, start, goal = problem
    grid = Grid.from_rows(rows)
    run = new_search(grid.cells, *weights, reopens=reopen)
    begin(grid.ground, run, start, goal, goal)
    route, length = new_route(grid.cells), 0
    for _ in range(300):
        expand(grid.ground, run, k)
        if run.control[0].status == EMPTY:
            break
        chain = [int(best_open(grid.ground, run))]
        while (before := int(parent(grid.ground, run, chain[-1]))) >= 0:
            chain.append(before)
        length, steps = trace_whole(grid.ground, run, route, length, chain[0], not reopen)
        assert route.cells[:length].tolist() == chain[::-1]
        assert steps <= len(chain)
        on_route = [cell for cell in range(grid.cells) if place_on(route, length, cell) >= 0]
        assert on_route == sorted(chain)
        if run.control[0].status == GOAL_ON_TOP:
            break


def check_core() -> None:
    """A little of everything above, for interpreters that are set up differently."""
    for seed, (weights, reopen) in enumerate(itertools.product(WEIGHTS[::2], (False, True))):
        rows = random_rows(seed, 8 + seed % 3, 7, 0.25)
        rows = ["." * len(rows[0]), *rows, "." * len(rows[0])]
        last = len(rows) * len(rows[0]) - 1
        compare_searches(rows, 0, last, weights, reopen, [3, 0, 5], DIAGONAL)
        compare_searches(rows, last, 0, weights, reopen, [1], 1.5)
        check_distances(Grid.from_rows(rows), last, list(range(0, last, 3)), 0)
    test_bucket_ring_goes_round_more_than_once()
    test_searches_forget_each_other_also_when_their_numbers_run_out()
    for rows in (["."], [".."], [".", "."], [".@.", "..."]):
        compare_searches(rows, 0, len(rows) * len(rows[0]) - 1, (1.0, 1.0), False, [], DIAGONAL)
