"""The kernels against scipy and naive.py: searches, open lists, distances, tracing.

`check_core` is also run with bounds checks on, and without the JIT: see test_bounds.py.
"""

import importlib
import itertools
import math
import pkgutil
import random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from sim import kernels
from sim.grid import Grid
from sim.kernels import buckets, search
from sim.kernels.ancestry import link_ancestors, new_ancestry_links
from sim.kernels.distance import UNLIMITED_EXPANSIONS, true_distance
from sim.kernels.octile import COST_UNIT, DIAGONAL, direction_between, h0_between_cells
from sim.kernels.route import new_route, route_index, trace_changed_route, trace_whole_route
from sim.kernels.search import (
    GOAL_ON_TOP,
    OPEN_LIST_EMPTY,
    RUNNING,
    add_root,
    begin_search,
    best_open_cell,
    expand_best_cells,
    is_closed,
    is_known,
    new_search,
    parent_of,
    start_search_without_roots,
)
from sim.movement import (
    CUT_ONE_CORNER,
    DEFAULT_MOVEMENT,
    EIGHT_NEIGHBOURS,
    FOUR_NEIGHBOURS,
    SQUEEZE_BETWEEN_CORNERS,
    Movement,
)

from .conftest import board_of, movements, problems, random_map_rows
from .naive import BestFirst

WEIGHTS = [(1.0, 1.0), (1.0, 1.4), (1.0, 2.6), (1.0, 3.0), (1.0, 100.0), (0.0, 1.0)]


def expanded_cells(run: search.Search) -> list[int]:
    return run.order[: int(run.control[0].noted)].tolist()


def assert_search_matches_naive(
    rows: list[str],
    start: int,
    goal: int,
    weights: tuple[float, float],
    reopen: bool,
    slices: list[int],
    movement: Movement = DEFAULT_MOVEMENT,
) -> None:
    """Expand slice by slice; after each, kernel and naive code must agree on everything."""
    grid = Grid.from_text_rows(rows, movement=movement)
    board = board_of(grid)
    naive = BestFirst(board, board.at(start), board.at(goal), *weights, reopen)
    is_bucketed = weights == (1.0, 1.0) and not reopen
    run = new_search(grid.cells, *weights, reopens=reopen, is_bucketed=is_bucketed, counts_heat=True, notes_order=True)
    begin_search(grid.map_arrays, run, start, goal, goal)
    control = run.control[0]
    for limit in [*slices, 10**6]:
        done = len(naive.order)
        end = naive.run(limit)
        control.noted = 0
        assert expand_best_cells(grid.map_arrays, run, limit) == len(naive.order) - done
        if len(naive.order) - done <= run.order.size:  # with reopening there may be more than cells
            assert expanded_cells(run) == [board.id(a) for a in naive.order[done:]]
        assert int(control.status) == {"goal": GOAL_ON_TOP, "empty": OPEN_LIST_EMPTY, "budget": RUNNING}[end]
        best = naive.best()
        assert best_open_cell(grid.map_arrays, run) == (-1 if best is None else board.id(best))
    assert int(control.expansions) == len(naive.order)
    for cell in range(grid.cells):
        place = board.at(cell)
        assert is_known(run, cell) == (place in naive.g)
        assert run.heat[cell] == naive.order.count(place)
        if place in naive.g:
            assert run.nodes[cell].g == naive.g[place]
            before = naive.parent[place]
            assert parent_of(grid.map_arrays, run, cell) == (-1 if before is None else board.id(before))
            assert is_closed(run, cell) == (place not in naive.open)


@given(
    problems(),
    st.sampled_from(WEIGHTS),
    st.booleans(),
    st.lists(st.integers(0, 9), max_size=6),
    movements,
)
def test_search_matches_naive_expansions_parents_and_costs(
    problem: tuple[list[str], int, int],
    weights: tuple[float, float],
    reopen: bool,
    slices: list[int],
    movement: Movement,
) -> None:
    assert_search_matches_naive(*problem, weights, reopen, slices, movement)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("reopen", [False, True])
def test_search_matches_naive_on_larger_maps(weights: tuple[float, float], reopen: bool) -> None:
    rows = random_map_rows(11, 26, 22, 0.3)
    rows[0], rows[-1] = "." * 26, "." * 26
    assert_search_matches_naive(rows, 0, 26 * 22 - 1, weights, reopen, [0, 7, 0, 50])


@pytest.mark.parametrize("weights", [(1.0, 1.4), (0.0, 1.0)])
def test_every_open_cell_has_its_place_in_the_heap(weights: tuple[float, float]) -> None:
    """With a wrong place, a cheaper path to the cell would overwrite the entry of another one."""
    grid = Grid.from_text_rows(random_map_rows(11, 26, 22, 0.3))
    free = np.flatnonzero(grid.free_mask)
    run = new_search(grid.cells, *weights)
    begin_search(grid.map_arrays, run, int(free[0]), -1, int(free[-1]))
    while run.control[0].status == RUNNING:
        expand_best_cells(grid.map_arrays, run, 1)
        size = int(run.control[0].open_size)
        cells = run.heap.tie[:size] & (1 << grid.map_arrays.shift) - 1
        assert run.nodes["place"][cells].tolist() == list(range(size))


@pytest.mark.parametrize("is_bucketed", [False, True])
def test_search_continued_after_a_map_change_finds_freed_cells(is_bucketed: bool) -> None:
    """The root was expanded while the cell was blocked, so the search must move there from the other two cells."""
    grid = Grid.from_text_rows(["..", ".@"])
    run = new_search(grid.cells, is_bucketed=is_bucketed)
    begin_search(grid.map_arrays, run, 0, 3, 3)
    expand_best_cells(grid.map_arrays, run, 1)
    grid.block_and_free([], [3])
    run.control[0].is_stale = 1
    expand_best_cells(grid.map_arrays, run, UNLIMITED_EXPANSIONS)
    assert run.control[0].status == GOAL_ON_TOP and run.nodes[3].g == 2.0


def test_cells_are_reopened_only_if_allowed() -> None:
    """A weighted search on an open map with a wall reaches cells too dearly first; only `reopen` repairs that."""
    rows = random_map_rows(5, 30, 30, 0.25)
    grid = Grid.from_text_rows(rows)
    cells = np.flatnonzero(grid.free_mask)
    counts = {}
    for reopen in (False, True):
        run = new_search(grid.cells, 1.0, 3.0, reopens=reopen, counts_heat=True)
        begin_search(grid.map_arrays, run, int(cells[0]), int(cells[-1]), int(cells[-1]))
        expand_best_cells(grid.map_arrays, run, UNLIMITED_EXPANSIONS)
        counts[reopen] = int(run.heat.max())
    assert counts == {False: 1, True: counts[True]} and counts[True] > 1


def check_distances(grid: Grid, goal: int, queries: list[int], aim: int) -> None:
    """The lazy distance field against Dijkstra by scipy, asked in any order."""
    tails, heads, costs = [], [], []
    for d in range(8):
        have = np.flatnonzero(grid.moves >> d & 1)
        tails.append(have)
        heads.append(have + int(grid.map_arrays.step[d]))
        costs.append(np.full(have.size, float(grid.map_arrays.cost[d])))
    arcs = (np.concatenate(costs), (np.concatenate(tails), np.concatenate(heads)))
    want = dijkstra(csr_matrix(arcs, shape=(grid.cells, grid.cells)), indices=goal)
    backward = new_search(grid.cells)
    begin_search(grid.map_arrays, backward, goal, -1, aim)
    for cell in queries:
        assert true_distance(grid.map_arrays, backward, cell, UNLIMITED_EXPANSIONS) == want[cell]


@given(problems(), st.lists(st.integers(0, 80), min_size=1, max_size=12), st.integers(0, 80))
def test_true_distances_match_scipy_dijkstra(problem: tuple[list[str], int, int], queries: list[int], aim: int) -> None:
    rows, _, goal = problem
    grid = Grid.from_text_rows(rows)
    check_distances(grid, goal, [q % grid.cells for q in queries], aim % grid.cells)


def test_true_distances_match_scipy_on_a_large_map() -> None:
    grid = Grid.from_text_rows(random_map_rows(3, 300, 300, 0.35))
    free = np.flatnonzero(grid.free_mask)
    check_distances(grid, int(free[0]), np.random.default_rng(0).choice(free, 200).tolist(), int(free[-1]))


def assert_same_searches(heap: search.Search, listed: search.Search) -> None:
    """Two searches on one map, one with the heap and one with buckets, know the same of every cell."""
    for name in ("status", "expansions", "open_size", "search", "root", "noted"):
        assert heap.control[0][name] == listed.control[0][name], name
    assert expanded_cells(heap) == expanded_cells(listed)
    known = heap.nodes["search"] == heap.control[0].search
    assert (known == (listed.nodes["search"] == listed.control[0].search)).all()
    for name in ("g", "came"):
        assert (heap.nodes[name][known] == listed.nodes[name][known]).all(), name
    assert ((heap.nodes["place"] == search.CLOSED)[known] == (listed.nodes["place"] == search.CLOSED)[known]).all()


DIAGONALS = [1.0, 1.0005, 1.41, DIAGONAL, 1.7, 1.9995, 2.0]
NARROW = [
    Movement(rule, diagonal)
    for diagonal in DIAGONALS
    for rule in (EIGHT_NEIGHBOURS, CUT_ONE_CORNER, SQUEEZE_BETWEEN_CORNERS)
]


@given(
    problems(),
    st.sampled_from([*NARROW, Movement(FOUR_NEIGHBOURS)]),
    st.lists(st.integers(0, 9), max_size=6),
    st.data(),
)
def test_bucket_queue_expands_in_heap_order(
    problem: tuple[list[str], int, int], movement: Movement, slices: list[int], data: st.DataObject
) -> None:
    """Same cells in the same order, same parents: in slices, towards any aim, with roots added in between."""
    rows, start, goal = problem
    grid = Grid.from_text_rows(rows, movement=movement)
    runs = [new_search(grid.cells, is_bucketed=chosen, notes_order=True) for chosen in (False, True)]
    aim = data.draw(st.sampled_from([start, goal]))
    for root, target in ((goal, start), (start, goal)):  # the second one works on used memory
        for run in runs:
            begin_search(grid.map_arrays, run, root, target, aim)
        for limit in [*slices, UNLIMITED_EXPANSIONS]:
            for run in runs:
                expand_best_cells(grid.map_arrays, run, limit)
            assert best_open_cell(grid.map_arrays, runs[0]) == best_open_cell(grid.map_arrays, runs[1])
            assert_same_searches(*runs)


@given(problems(), st.lists(st.tuples(st.integers(0, 80), st.integers(0, 3), st.integers(0, 4)), max_size=6))
def test_bucket_queue_accepts_roots_below_current_f(
    problem: tuple[list[str], int, int], roots: list[tuple[int, int, int]]
) -> None:
    """A root may come before all that waits; what stood ready to be expanded goes back."""
    rows, start, goal = problem
    grid = Grid.from_text_rows(rows)
    runs = [new_search(grid.cells, is_bucketed=chosen, notes_order=True) for chosen in (False, True)]
    for run in runs:
        begin_search(grid.map_arrays, run, start, goal, goal)
    for cell, lead, limit in roots:
        cell %= grid.cells
        best = int(best_open_cell(grid.map_arrays, runs[0]))
        if not grid.is_free(cell) or is_known(runs[0], cell) or best < 0:
            continue
        f = runs[0].nodes[best].g + h0_between_cells(grid.map_arrays, best, goal)
        # All six together 1.2 below the first; the ring spans 4.
        g = f - lead / 16 - h0_between_cells(grid.map_arrays, cell, goal)
        if g < 0.0:
            continue
        for run in runs:
            add_root(grid.map_arrays, run, cell, g)
            expand_best_cells(grid.map_arrays, run, limit)
        assert_same_searches(*runs)
    for run in runs:
        expand_best_cells(grid.map_arrays, run, UNLIMITED_EXPANSIONS)
    assert_same_searches(*runs)


@pytest.mark.parametrize("density", [0.0, 0.2, 0.35])
def test_bucket_queue_matches_heap_when_chunks_run_out(density: float) -> None:
    grid = Grid.from_text_rows(random_map_rows(7, 120, 120, density))
    free = np.flatnonzero(grid.free_mask)
    runs = [new_search(grid.cells, is_bucketed=chosen, notes_order=True) for chosen in (False, True)]
    control = runs[1].control[0]
    for root, target in ((free[0], free[-1]), (free[-1], free[7]), (free[free.size // 2], -1)):
        for run in runs:
            begin_search(grid.map_arrays, run, int(root), int(target), int(max(target, 0)))
        for limit in (400, 30, 900, 30, 2000, 30, 10**6):
            spare = int(control.spare_chunks)
            if limit == 30:
                control.spare_chunks = 0  # so it will squeeze at every expansion
            for run in runs:
                expand_best_cells(grid.map_arrays, run, limit)
            if limit == 30:
                control.spare_chunks += spare
                assert control.spare_chunks <= runs[1].buckets.chunks.size // 8 - 1
            assert best_open_cell(grid.map_arrays, runs[0]) == best_open_cell(grid.map_arrays, runs[1])
            assert_same_searches(*runs)


def test_bucket_keeps_order_of_two_f_values() -> None:
    """Put in by hand: on a map they come after 1,400 diagonals."""
    shift = 10
    nodes = np.zeros(1 << shift, search.NODE).view(np.recarray)
    run = new_search(1 << shift, is_bucketed=True)
    control, lists = run.control[0], run.buckets
    buckets.clear_buckets(lists, control)
    chance = random.Random(4)
    want = []
    for cell in range(1, 900):
        rank, f = chance.randrange(50) << 20, 10.0 + chance.randrange(6) * 2.0**-14
        nodes[cell].g = f - rank * COST_UNIT
        tie = rank << shift | cell
        want.append((f, tie))
        for _ in range(1 + cell % 3 // 2):  # some stand there twice
            buckets.insert_bucket_entry(lists, control, buckets.bucket_number(f), tie)
    control.cursor, found = buckets.bucket_number(10.0), []
    while len(found) < len(want):
        buckets.fill_stack_with_least_f(lists, control, nodes, shift)
        while control.stack_size:
            control.stack_size -= 1
            tie = int(lists.stack[control.stack_size])
            nodes[tie & 1023].place = search.CLOSED
            found.append((float(control.class_f), tie))
    assert found == sorted(want)
    assert control.spare_chunks == lists.chunks.size // 8 - 1, "every chunk came back"


def test_dropping_outdated_entries_repeatedly_takes_no_further_chunks() -> None:
    """Eight cells with the same f fill one chunk and begin another one."""
    shift = 4
    nodes = np.zeros(1 << shift, search.NODE).view(np.recarray)
    nodes.g, nodes.place = 10.0, buckets.IN_BUCKET
    run = new_search(1 << shift, is_bucketed=True)
    control, lists = run.control[0], run.buckets
    buckets.clear_buckets(lists, control)
    spare = int(control.spare_chunks)
    for cell in range(1, 9):
        buckets.insert_bucket_entry(lists, control, buckets.bucket_number(10.0), cell)
    for _ in range(20):
        buckets.drop_outdated_entries(lists, control, nodes, shift)
        assert control.spare_chunks == spare - 2


def test_search_with_a_heap_has_no_memory_for_buckets() -> None:
    assert [part.size for part in new_search(9).buckets] == [0, 0, 0, 0]


def test_bucket_ring_wraps_around_repeatedly() -> None:
    """f beyond RING / RESOLUTION: the cursor wraps, and neither cells nor order are lost."""
    grid = Grid.from_text_rows(["." * 60, ("." + "@" * 59), "." * 60, ("@" * 59 + "."), "." * 60])
    goal = grid.cells - 60
    run = new_search(grid.cells, is_bucketed=True)
    begin_search(grid.map_arrays, run, 59, goal, goal)
    expand_best_cells(grid.map_arrays, run, UNLIMITED_EXPANSIONS)
    assert run.nodes[goal].g > 3 * buckets.RING_SIZE / buckets.BUCKETS_PER_COST
    board = board_of(grid)
    assert run.nodes[goal].g == board.distances(board.at(59))[board.at(goal)]


def test_reused_search_is_clean_after_generation_counter_overflow() -> None:
    grid = Grid.from_text_rows(random_map_rows(8, 12, 12, 0.2))
    free = np.flatnonzero(grid.free_mask).tolist()
    chance = random.Random(1)
    used = new_search(grid.cells)
    for number in range(40):
        if number == 20:
            used.control[0].search = 65_533  # two searches before the last number; then they begin again at 1
        fresh = new_search(grid.cells)
        root, goal = chance.sample(free, 2)
        for run in (used, fresh):
            begin_search(grid.map_arrays, run, root, goal, goal)
            expand_best_cells(grid.map_arrays, run, 40 if number < 20 else 5)
        assert [is_known(used, c) for c in range(grid.cells)] == [is_known(fresh, c) for c in range(grid.cells)]
        assert used.control[0].expansions == fresh.control[0].expansions
        assert best_open_cell(grid.map_arrays, used) == best_open_cell(grid.map_arrays, fresh)
    assert 0 < used.control[0].search < 40


@given(problems(), st.lists(st.tuples(st.integers(0, 80), st.integers(0, 30)), min_size=1, max_size=5))
def test_multi_root_search_finds_the_cheapest_path(
    problem: tuple[list[str], int, int], roots: list[tuple[int, int]]
) -> None:
    """Roots with a cost each, as TBA*'s shortcut search has them. Each may be a root only once."""
    rows, _, goal = problem
    grid = Grid.from_text_rows(rows)
    board = board_of(grid)
    costs = {c % grid.cells: float(g) for c, g in roots if grid.is_free(c % grid.cells)}
    run = new_search(grid.cells)
    begin_search(grid.map_arrays, run, goal, goal, goal)
    start_search_without_roots(grid.map_arrays, run, goal, goal)
    assert run.control[0].root == -1, "there may be several"
    for cell, g in costs.items():
        add_root(grid.map_arrays, run, cell, g)
    expand_best_cells(grid.map_arrays, run, UNLIMITED_EXPANSIONS)
    away = board.distances(board.at(goal))
    want = min((g + away.get(board.at(c), math.inf) for c, g in costs.items()), default=math.inf)
    assert (run.nodes[goal].g if run.control[0].status == GOAL_ON_TOP else math.inf) == want


def test_no_field_of_a_record_is_hidden_by_an_attribute_of_numpy() -> None:
    """Interpreted kernels would read the attribute: the `size` of every record is 1."""
    modules = [importlib.import_module(found.name) for found in pkgutil.iter_modules(kernels.__path__, "sim.kernels.")]
    records = [
        each for module in modules for each in vars(module).values() if isinstance(each, np.dtype) and each.names
    ]
    assert search.NODE in records and not {name for each in records for name in each.names or ()} & {*dir(np.record)}


@given(problems(), st.integers(0, 80), st.integers(0, 80))
def test_direction_between_returns_only_legal_moves(problem: tuple[list[str], int, int], a: int, b: int) -> None:
    grid = Grid.from_text_rows(problem[0])
    board = board_of(grid)
    a, b = a % grid.cells, b % grid.cells
    cost = board.cost(board.at(a), board.at(b))
    d = int(direction_between(grid.map_arrays, a, b))
    assert (d >= 0) == (cost is not None)
    assert d < 0 or grid.map_arrays.cost[d] == cost
    assert h0_between_cells(grid.map_arrays, a, b) == board.h(board.at(a), board.at(b))


@settings(max_examples=40)
@given(problems(low=3), st.sampled_from(WEIGHTS), st.booleans(), st.integers(1, 4))
@example((["...", "...", "..."], 0, 8), (1.0, 1.0), False, 1)
def test_traced_route_equals_parent_chain_after_every_slice(
    problem: tuple[list[str], int, int], weights: tuple[float, float], reopen: bool, k: int
) -> None:
    """Tracing stops where the last path is met; what it keeps must be what it would have found."""
    rows, start, goal = problem
    grid = Grid.from_text_rows(rows)
    run = new_search(grid.cells, *weights, reopens=reopen)
    begin_search(grid.map_arrays, run, start, goal, goal)
    links = new_ancestry_links(grid.cells)
    route, length = new_route(grid.cells, place=links), 0
    for _ in range(300):
        expand_best_cells(grid.map_arrays, run, k)
        if run.control[0].status == OPEN_LIST_EMPTY:
            break
        before_cells = route.cells[:length].tolist()
        chain = [int(best_open_cell(grid.map_arrays, run))]
        while (before := int(parent_of(grid.map_arrays, run, chain[-1]))) >= 0:
            chain.append(before)
        if reopen:
            length, steps = trace_whole_route(grid.map_arrays, run, route, chain[0])
            assert steps == len(chain)
        else:
            link_ancestors(grid.map_arrays, run, links, route.scratch, chain[0])
            length, steps = trace_changed_route(grid.map_arrays, run, route, length, chain[0])
            kept = next((i for i, cell in enumerate(chain) if cell in before_cells), len(chain))
            assert steps == kept, "no further than to the first cell that is on the route already"
        assert route.cells[:length].tolist() == chain[::-1]
        on_route = [cell for cell in range(grid.cells) if route_index(route, length, cell) >= 0]
        assert on_route == sorted(chain)
        if run.control[0].status == GOAL_ON_TOP:
            break


def check_core() -> None:
    """A little of everything above, for interpreters that are set up differently."""
    for seed, (weights, reopen) in enumerate(itertools.product(WEIGHTS[::2], (False, True))):
        rows = random_map_rows(seed, 8 + seed % 3, 7, 0.25)
        rows = ["." * len(rows[0]), *rows, "." * len(rows[0])]
        last = len(rows) * len(rows[0]) - 1
        assert_search_matches_naive(rows, 0, last, weights, reopen, [3, 0, 5])
        rule = (EIGHT_NEIGHBOURS, FOUR_NEIGHBOURS, CUT_ONE_CORNER, SQUEEZE_BETWEEN_CORNERS)[seed % 4]
        assert_search_matches_naive(rows, last, 0, weights, reopen, [1], Movement(rule, 1.5))
        check_distances(Grid.from_text_rows(rows), last, list(range(0, last, 3)), 0)
    test_bucket_ring_wraps_around_repeatedly()
    test_reused_search_is_clean_after_generation_counter_overflow()
    for rows in (["."], [".."], [".", "."], [".@.", "..."]):
        assert_search_matches_naive(rows, 0, len(rows) * len(rows[0]) - 1, (1.0, 1.0), False, [])
