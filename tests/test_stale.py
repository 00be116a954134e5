"""Records of searches that are over: keyframes hold them as zeros, and nobody notices."""

import mmap

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.grid import Grid
from sim.jit.decorators import as_plain_arrays
from sim.jit.yield_flag import never_yield_flag
from sim.kernels.ancestry import LINK, link_ancestors, new_ancestry_links, stamped_table_of_links
from sim.kernels.memory import lazily_allocated_zeros
from sim.kernels.pages import IS_IN_USE, UNKNOWN_PAGE
from sim.kernels.search import (
    NODE,
    begin_search,
    best_open_cell,
    expand_best_cells,
    new_search,
    stamped_table_of_nodes,
)
from sim.kernels.stale import StampedTable, clear_stale_records, clear_stale_records_of_rows, stamped_table_rows
from sim.time.keyframes import restore_world, take_keyframe
from sim.world_commands import EditCells

from .conftest import problems
from .test_ancestry import chain
from .test_keyframes import make_world_setup

PAGE = mmap.PAGESIZE
A_PAGE = PAGE // NODE.itemsize


@settings(max_examples=20)
@given(st.integers(1, 5 * A_PAGE), st.integers(0, 999), st.booleans())
def test_wipe_clears_stale_rows_only_in_touched_pages(count: int, seed: int, is_told: bool) -> None:
    rng = np.random.default_rng(seed)
    table = lazily_allocated_zeros(count + 5 * A_PAGE, NODE)[:count]
    table["g"], table["place"], table["came"] = rng.random(count), rng.integers(-1, 9, count), rng.integers(0, 8, count)
    table["search"] = rng.integers(0, 4, count)
    pages = -(-(table.ctypes.data % PAGE + table.nbytes) // PAGE)
    touched = rng.integers(0, 2, pages).astype(bool)
    first = (table.ctypes.data % PAGE + np.arange(count) * NODE.itemsize) // PAGE
    is_wiped = (table["search"] != 2) & (touched[first] != 0 if is_told else True)
    expected = table.copy()
    expected[is_wiped] = np.zeros(1, NODE)
    rows = stamped_table_rows([StampedTable(table, table, 32, 65_535, 2)])
    rows["page"] = 1 if is_told else UNKNOWN_PAGE
    clear_stale_records_of_rows(
        as_plain_arrays(rows), np.append(IS_IN_USE, IS_IN_USE * touched), PAGE, never_yield_flag()
    )
    assert (table == expected).all()


def test_keyframe_excludes_data_of_finished_searches() -> None:
    world = make_world_setup("tb-wa", "rtb-wa", side=256, budget=4000)
    world.advance(20)
    known = take_keyframe(world).array_contents.restored_bytes
    grid = world.grid
    cell = next(s for s in grid.free_mask.nonzero()[0].tolist() if grid.xy(s)[0] > 200)
    world.submit(EditCells(blocked_cells=(cell,)))  # TB-WA* begins again
    world.advance(1)
    world.optimality_tracker.judge_whole_queue()
    frame = take_keyframe(world)
    assert frame.array_contents.restored_bytes < known
    other = restore_world(frame)
    for each in (world, other):
        each.advance(200)
    assert other.compute_digest() == world.compute_digest()


@given(problems(side=24), st.integers(1, 40))
def test_wipe_keeps_only_nodes_of_the_current_search(problem: tuple[list[str], int, int], expansions: int) -> None:
    rows, start, goal = problem
    grid = Grid.from_text_rows(rows)
    search = new_search(grid.cells, 1.0, 2.5)
    for root, aim, most in ((start, goal, grid.cells), (goal, start, expansions)):
        begin_search(grid.map_arrays, search, root, aim, aim)
        expand_best_cells(grid.map_arrays, search, most)
    expected, known = search.nodes.copy(), search.nodes["search"] == 2
    expected[~known] = np.zeros(1, NODE)
    clear_stale_records([stamped_table_of_nodes(search)])
    assert known[goal] and search.nodes.tobytes() == expected.tobytes()


@given(problems(side=24), st.integers(1, 40))
def test_wipe_keeps_only_links_of_the_current_search(problem: tuple[list[str], int, int], expansions: int) -> None:
    """Two searches in the same memory, the second from the other side and cut short: of the links that the first has
    left, a keyframe keeps none, of those of the second all.
    """
    rows, start, goal = problem
    grid = Grid.from_text_rows(rows)
    search, links, scratch = (
        new_search(grid.cells, 1.0, 2.5),
        new_ancestry_links(grid.cells),
        np.zeros(grid.cells, np.int32),
    )
    way: list[int] = []
    for root, aim, most in ((start, goal, grid.cells), (goal, start, expansions)):
        begin_search(grid.map_arrays, search, root, aim, aim)
        expand_best_cells(grid.map_arrays, search, most)
        end = int(best_open_cell(grid.map_arrays, search))
        way = chain(grid, search, end) if end >= 0 else []
        if way:
            link_ancestors(grid.map_arrays, search, links, scratch, end)
    before = links.copy()
    clear_stale_records([stamped_table_of_links(search, links)])
    assert (links[way] == before[way]).all()
    assert (np.delete(links, way) == np.zeros(1, LINK)).all()
