"""Control of the benches: textbook A* in plain Python with heapq. Benches give speeds as ratios to its speed.

The implementation is ordinary on purpose: the open list keeps outdated entries, g and parents are dicts, and closed
cells are a set. Cells are integers, and the map has a frame of blocked cells, so that neighbours need no border test.
"""

from heapq import heappop, heappush
from math import inf

from sim.grid import Grid
from sim.kernels.octile import DIAGONAL


class FramedMap:
    """Map as a list of booleans (whether a cell is free), with a frame of blocked cells around the map."""

    def __init__(self, grid: Grid) -> None:
        self.width = grid.width + 2
        blocked_row = [False] * self.width
        self.free = list(blocked_row)
        for row in grid.free_mask_2d.tolist():
            self.free += [False, *row, False]
        self.free += blocked_row

    def cell(self, x: int, y: int) -> int:
        return (y + 1) * self.width + x + 1


def astar_cost(board: FramedMap, start: int, goal: int) -> tuple[float, int]:
    """Return the cost of a cheapest path (infinity if there is none), and the number of cells expanded before the goal.

    Args:
        board: The map.
        start: The cell of the map at which the path begins.
        goal: The cell of the map at which the path ends.
    """
    width = board.width
    g = {start: 0.0}
    parent = {start: start}
    closed: set[int] = set()
    # Entries (f, -g, cell): ties prefer larger g, then smaller cell.
    queue = [(octile_distance(start, goal, width), 0.0, start)]
    while queue:
        _, minus_g, s = heappop(queue)
        if s in closed:
            continue
        if s == goal:
            return -minus_g, len(closed)
        closed.add(s)
        for t, cost in neighbours_and_costs(board.free, width, s):
            new_g = cost - minus_g
            if t not in closed and new_g < g.get(t, inf):
                g[t] = new_g
                parent[t] = s
                heappush(queue, (new_g + octile_distance(t, goal, width), -new_g, t))
    return inf, len(closed)


def octile_distance(s: int, t: int, width: int) -> float:
    dx = abs(s % width - t % width)
    dy = abs(s // width - t // width)
    return max(dx, dy) + (DIAGONAL - 1.0) * min(dx, dy)


def neighbours_and_costs(free: list[bool], width: int, s: int) -> list[tuple[int, float]]:
    """Return (cell, cost) of all moves from a cell; a diagonal move needs both adjacent straight neighbours free."""
    north, east, south, west = free[s - width], free[s + 1], free[s + width], free[s - 1]
    found: list[tuple[int, float]] = []
    if north:
        found.append((s - width, 1.0))
    if east:
        found.append((s + 1, 1.0))
    if south:
        found.append((s + width, 1.0))
    if west:
        found.append((s - 1, 1.0))
    if north and east and free[s - width + 1]:
        found.append((s - width + 1, DIAGONAL))
    if south and east and free[s + width + 1]:
        found.append((s + width + 1, DIAGONAL))
    if south and west and free[s + width - 1]:
        found.append((s + width - 1, DIAGONAL))
    if north and west and free[s - width - 1]:
        found.append((s - width - 1, DIAGONAL))
    return found
