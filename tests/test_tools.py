"""The shapes that editing tools paint."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.model import drawing_tools

POINTS = st.tuples(st.integers(-40, 40), st.integers(-40, 40))


@given(POINTS, POINTS)
def test_line_is_connected_and_includes_both_ends(start: drawing_tools.Point, end: drawing_tools.Point) -> None:
    cells = drawing_tools.line_cells(start, end)
    assert cells[0] == start and cells[-1] == end
    for (x, y), (next_x, next_y) in pairwise(cells):
        assert max(abs(next_x - x), abs(next_y - y)) == 1
    assert len(cells) == max(abs(end[0] - start[0]), abs(end[1] - start[1])) + 1


@pytest.mark.parametrize("size", range(1, 65))
def test_brush_has_requested_width(size: int) -> None:
    cells = drawing_tools.brush_cells((100, 100), size)
    assert len(cells) == len(set(cells))
    for axis in (0, 1):
        places = {cell[axis] for cell in cells}
        assert max(places) - min(places) + 1 == len(places) == size
    # The same from all four sides.
    low = min(x for x, _ in cells)
    shape = {(x - low, y - min(y for _, y in cells)) for x, y in cells}
    assert shape == {(size - 1 - x, y) for x, y in shape} == {(y, x) for x, y in shape}


@given(POINTS, POINTS, st.integers(1, 9))
def test_stroke_has_no_gaps(start: drawing_tools.Point, end: drawing_tools.Point, size: int) -> None:
    cells = drawing_tools.stroke_cells(start, end, size)
    assert len(cells) == len(set(cells))
    painted = set(cells)
    assert painted == {
        cell for point in drawing_tools.line_cells(start, end) for cell in drawing_tools.brush_cells(point, size)
    }


@given(POINTS, POINTS)
def test_rectangle_is_filled(corner: drawing_tools.Point, opposite: drawing_tools.Point) -> None:
    filled = drawing_tools.rectangle_cells(corner, opposite)
    width, height = abs(corner[0] - opposite[0]) + 1, abs(corner[1] - opposite[1]) + 1
    assert len(filled) == len(set(filled)) == width * height
    assert {corner, opposite} <= set(filled)


def _flood_naive(free: np.ndarray, seed: drawing_tools.Point) -> set[drawing_tools.Point]:
    """Grow a set by its neighbours until nothing comes in."""
    height, width = free.shape
    kind = free[seed[1], seed[0]]
    found = {seed}
    while True:
        around = {(x + dx, y + dy) for x, y in found for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))}
        new = {(x, y) for x, y in around if 0 <= x < width and 0 <= y < height and free[y, x] == kind} - found
        if not new:
            return found
        found |= new


@given(st.data(), st.integers(1, 9), st.integers(1, 9))
def test_flood_selects_all_connected_cells_of_a_kind(data: st.DataObject, width: int, height: int) -> None:
    bits = data.draw(st.lists(st.booleans(), min_size=width * height, max_size=width * height))
    free = np.array(bits).reshape(height, width)
    seed = (data.draw(st.integers(0, width - 1)), data.draw(st.integers(0, height - 1)))
    cells = drawing_tools.connected_cells(free, seed)
    assert len(cells) == len(set(cells))
    assert set(cells) == _flood_naive(free, seed)


def test_flood_handles_a_large_open_map() -> None:
    assert len(drawing_tools.connected_cells(np.ones((256, 256), np.bool_), (3, 200))) == 256 * 256


@given(st.lists(POINTS, max_size=50), st.integers(1, 30), st.integers(1, 30))
def test_clipped_keeps_only_cells_on_the_map(cells: list[drawing_tools.Point], width: int, height: int) -> None:
    kept = drawing_tools.cells_clipped_to_map(cells, width, height)
    assert kept == [(x, y) for x, y in cells if x in range(width) and y in range(height)]
