"""Editing tools, and the shapes that they paint as lists of cells (x, y)."""

from collections import deque
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

Point = tuple[int, int]

BRUSH, ERASER, LINE, RECTANGLE, FILL, SELECT = "brush", "eraser", "line", "rectangle", "fill", "select"
TOOL_NAMES = {
    BRUSH: "Brush",
    ERASER: "Eraser",
    LINE: "Line",
    RECTANGLE: "Rectangle",
    FILL: "Fill",
    SELECT: "Select",
}
MAX_BRUSH = 64


def line_cells(start: Point, end: Point) -> list[Point]:
    """Return the cells of a connected line, including both ends (Bresenham)."""
    (x, y), (end_x, end_y) = start, end
    dx, dy = abs(end_x - x), -abs(end_y - y)
    step_x, step_y = (1 if end_x > x else -1), (1 if end_y > y else -1)
    error = dx + dy
    cells = [(x, y)]
    while (x, y) != (end_x, end_y):
        doubled = 2 * error
        if doubled >= dy:
            error += dy
            x += step_x
        if doubled <= dx:
            error += dx
            y += step_y
        cells.append((x, y))
    return cells


def brush_cells(centre: Point, size: int) -> list[Point]:
    """Return the cells of a disc about `size` cells wide; for size 1, only the centre."""
    if size <= 1:
        return [centre]
    radius = size / 2
    middle = 0.0 if size % 2 else 0.5
    low, high = -(size // 2), (size + 1) // 2
    return [
        (centre[0] + dx, centre[1] + dy)
        for dy in range(low, high + 1)
        for dx in range(low, high + 1)
        if (dx + middle) ** 2 + (dy + middle) ** 2 < radius * radius + 0.25
    ]


def stroke_cells(start: Point, end: Point, size: int) -> list[Point]:
    """Return the cells of a brush drawn from one cell to another without gaps."""
    if size <= 1:
        return line_cells(start, end)
    return list(dict.fromkeys(cell for point in line_cells(start, end) for cell in brush_cells(point, size)))


def rectangle_cells(corner: Point, opposite: Point) -> list[Point]:
    left, right = sorted((corner[0], opposite[0]))
    top, bottom = sorted((corner[1], opposite[1]))
    return [(x, y) for y in range(top, bottom + 1) for x in range(left, right + 1)]


def connected_cells(free: npt.NDArray[np.bool_], seed: Point) -> list[Point]:
    """Return the connected area of free cells, or of blocked ones, that contains the seed; corners do not connect.

    Args:
        free: bool[height, width]: whether each cell is free.
        seed: First cell.
    """
    height, width = free.shape
    is_free = free[seed[1], seed[0]]
    is_visited = free != is_free
    is_visited[seed[1], seed[0]] = True
    cells, queue = [], deque([seed])
    while queue:
        x, y = queue.popleft()
        cells.append((x, y))
        for near_x, near_y in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
            if 0 <= near_x < width and 0 <= near_y < height and not is_visited[near_y, near_x]:
                is_visited[near_y, near_x] = True
                queue.append((near_x, near_y))
    return cells


def cells_clipped_to_map(cells: Iterable[Point], width: int, height: int) -> list[Point]:
    return [(x, y) for x, y in cells if 0 <= x < width and 0 <= y < height]
