"""Records of searches that are over: keyframes hold them as zeros, and nobody notices."""

import mmap

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.commands import EditCells
from sim.grid import Grid
from sim.kernels.ancestry import LINK, link, new_links, stamped_links
from sim.kernels.jit import bare
from sim.kernels.memory import zeros
from sim.kernels.pace import hurried
from sim.kernels.pages import IS_THERE, UNKNOWN
from sim.kernels.search import NODE, begin, best_open, expand, new_search
from sim.kernels.stale import GenerationTable, rows_of, wipe, wipe_rows
from sim.time.keyframes import restore, take

from .conftest import problems
from .test_ancestry import chain
from .test_keyframes import big_world

PAGE = mmap.PAGESIZE
A_PAGE = PAGE // NODE.itemsize


@settings(max_examples=20)
@given(st.integers(1, 5 * A_PAGE), st.integers(0, 999), st.booleans())
def test_only_what_counts_is_left_and_only_where_somebody_wrote(count: int, seed: int, is_told: bool) -> None:
    rng = np.random.default_rng(seed)
    table = zeros(count + 5 * A_PAGE, NODE)[:count]
    table["g"], table["place"], table["came"] = rng.random(count), rng.integers(-1, 9, count), rng.integers(0, 8, count)
    table["search"] = rng.integers(0, 4, count)
    pages = -(-(table.ctypes.data % PAGE + table.nbytes) // PAGE)
    touched = rng.integers(0, 2, pages).astype(bool)
    first = (table.ctypes.data % PAGE + np.arange(count) * NODE.itemsize) // PAGE
    is_wiped = (table["search"] != 2) & (touched[first] != 0 if is_told else True)
    expected = table.copy()
    expected[is_wiped] = np.zeros(1, NODE)
    rows = rows_of([GenerationTable(table, table, 32, 65_535, 2)])
    rows["page"] = 1 if is_told else UNKNOWN
    wipe_rows(bare(rows), np.append(IS_THERE, IS_THERE * touched), PAGE, hurried())
    assert (table == expected).all()


def test_a_keyframe_holds_nothing_of_searches_that_are_over() -> None:
    world = big_world("tb-wa", "rtb-wa", side=256, budget=4000)
    world.advance(20)
    known = take(world).content.bytes
    grid = world.grid
    cell = next(s for s in grid.free.nonzero()[0].tolist() if grid.xy(s)[0] > 200)
    world.submit(EditCells(blocked=(cell,)))  # TB-WA* begins again
    world.advance(1)
    world.measuring.finish()
    frame = take(world)
    assert frame.content.bytes < known
    other = restore(frame)
    for each in (world, other):
        each.advance(200)
    assert other.digest() == world.digest()


@given(problems(side=24), st.integers(1, 40))
def test_links_count_where_the_present_tree_has_linked_the_cell(
    problem: tuple[list[str], int, int], expansions: int
) -> None:
    """Two searches in the same memory, the second from the other side and cut short: of the links that the first has
    left, a keyframe keeps none, of those of the second all.
    """
    rows, start, goal = problem
    grid = Grid.from_rows(rows)
    search, links, scratch = new_search(grid.cells, 1.0, 2.5), new_links(grid.cells), np.zeros(grid.cells, np.int32)
    way: list[int] = []
    for root, aim, most in ((start, goal, grid.cells), (goal, start, expansions)):
        begin(grid.ground, search, root, aim, aim)
        expand(grid.ground, search, most)
        end = int(best_open(grid.ground, search))
        way = chain(grid, search, end) if end >= 0 else []
        if way:
            link(grid.ground, search, links, scratch, end)
    before = links.copy()
    wipe([stamped_links(search, links)])
    assert (links[way] == before[way]).all()
    assert (np.delete(links, way) == np.zeros(1, LINK)).all()
