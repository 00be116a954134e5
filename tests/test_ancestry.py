"""Links up a search tree against the plain chain of parents."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sim.grid import Grid
from sim.kernels.ancestry import ancestor_at_depth, link_ancestors, new_ancestry_links, next_cell_towards
from sim.kernels.search import (
    GOAL_ON_TOP,
    Search,
    begin_search,
    best_open_cell,
    expand_best_cells,
    new_search,
    parent_of,
)

from .conftest import problems


def chain(grid: Grid, search: Search, cell: int) -> list[int]:
    """The path from the root to a cell."""
    cells = [cell]
    while (up := int(parent_of(grid.map_arrays, search, cells[-1]))) >= 0:
        cells.append(up)
    return cells[::-1]


@given(problems(side=24), st.sampled_from([(1.0, 1.0), (1.0, 2.5), (0.0, 1.0)]), st.integers(1, 9))
def test_ancestor_and_next_towards_match_plain_parent_chains(
    problem: tuple[list[str], int, int], weights: tuple[float, float], slice_size: int
) -> None:
    rows, start, goal = problem
    grid = Grid.from_text_rows(rows)
    search, links, scratch = (
        new_search(grid.cells, *weights),
        new_ancestry_links(grid.cells),
        np.zeros(grid.cells, np.int32),
    )
    linked: set[int] = set()
    for root, aim in [(start, goal), (goal, start)]:  # the second forgets the first
        begin_search(grid.map_arrays, search, root, aim, aim)
        linked.clear()
        while (
            expand_best_cells(grid.map_arrays, search, slice_size)
            and (end := int(best_open_cell(grid.map_arrays, search))) >= 0
        ):
            way = chain(grid, search, end)
            assert link_ancestors(grid.map_arrays, search, links, scratch, end) == len(set(way) - linked)
            linked.update(way)
            for depth, cell in enumerate(way):
                assert links[cell].depth == depth
                assert ancestor_at_depth(grid.map_arrays, search, links, end, depth) == cell
            after = dict(zip(way, [*way[1:], -1], strict=True))
            for cell in linked:
                assert next_cell_towards(grid.map_arrays, search, links, cell, end) == after.get(cell, -1)
            if search.control[0].status == GOAL_ON_TOP:
                break


def test_ancestor_lookup_takes_logarithmic_jumps() -> None:
    """O(log n): a straight walk of 4,999 moves, its jumps counted."""
    grid = Grid(np.full((4, 5000), ord("."), np.uint8))
    search, links, scratch = (
        new_search(grid.cells),
        new_ancestry_links(grid.cells),
        np.zeros(grid.cells, np.int32),
    )
    begin_search(grid.map_arrays, search, 0, 4999, 4999)
    expand_best_cells(grid.map_arrays, search, grid.cells)
    link_ancestors(grid.map_arrays, search, links, scratch, 4999)
    for depth in (0, 1, 7, 2500, 4998):
        cell, hops = 4999, 0
        while links[cell].depth > depth:
            jump = int(links[cell].jump)
            cell = jump if links[jump].depth >= depth else int(parent_of(grid.map_arrays, search, cell))
            hops += 1
        assert cell == ancestor_at_depth(grid.map_arrays, search, links, 4999, depth) == depth
        assert hops <= 3 * 13, depth
