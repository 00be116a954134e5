"""Routes: a route is a sequence of cells from a search's root to an open cell, with an O(1) test for membership.

`place[s].depth` is the index of cell s on the route. It is valid only if it is less than the route's length and the
cell at that index is s, so it never has to be cleared. In a search whose closed cells keep their parents, the links of
the tree (ancestry.py) contain the same depths, and the route uses them.
"""

from typing import NamedTuple

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels.memory import scratch_array
from sim.kernels.octile import direction_between
from sim.kernels.search import parent_of
from sim.kernels.tiled import Table, new_table

ROUTE_INDEX = np.dtype([("depth", "i4")], align=True)


class Route(NamedTuple):
    """Route of an agent. Make it only with new_route(). Its number of cells is in the state of its agent."""

    cells: np.ndarray  # int32[n] cells in walking order
    place: Table  # PLACE[n] or LINK[n] record of each cell, whose field `depth` is the cell's index on the route
    scratch: np.ndarray  # int32[n] buffer for the part being traced, last cell first


def new_route(cells: int, is_reused: bool = False, tile_width: int = 0, place: Table | None = None) -> Route:
    """Return an empty route.

    Args:
        cells: Number of cells of the map.
        is_reused: Whether the memory comes from the pool, see memory.py.
        tile_width: Width of the map for a table in tiles, 0 for rows, see tiled.py.
        place: Links of the tree through which the route leads, by default a table of its own.
    """
    return Route(
        cells=scratch_array("route", cells, np.int32, is_reused),
        place=new_table("places", cells, ROUTE_INDEX, tile_width, is_reused) if place is None else place,
        scratch=scratch_array("route", cells, np.int32, is_reused),
    )


@kernel
def route_index(route, length, s):
    """Return the index of cell s on a route of `length` cells, or -1 if s is not on it."""
    i = route.place[s].depth
    if i < length and route.cells[i] == s:
        return np.int64(i)
    return np.int64(-1)


@kernel
def trace_whole_route(ground, search, route, end):
    """Trace the whole route from the root to `end`. Returns its length and the number of parent pointers followed."""
    s = np.int64(end)
    steps = 0
    while s >= 0:
        route.scratch[steps] = s
        steps += 1
        s = parent_of(ground, search, s)
    return set_route_from_trace(route, route.scratch, steps), steps


@kernel
def trace_changed_route(ground, search, route, length, end):
    """Change the route so that it leads from the root to `end`, tracing only the cells that differ from the old route.

    Closed cells must keep their parents, and `end` must have its link (ancestry.py), whose depth is the index of `end`
    on the route. Tracing stops at the first cell that is on the old route: from there back to the root the cells are
    the same. Tracing reads no other links and only the parents in the search, to save memory accesses: with five
    hundred agents, no route is in the processor's cache.

    Returns the route's length and the number of parent pointers followed.
    """
    s = np.int64(end)
    last = np.int64(route.place[s].depth)
    i = last
    while i >= 0 and (i >= length or route.cells[i] != s):
        route.cells[i] = s
        s = parent_of(ground, search, s)
        i -= 1
    return last + 1, last - i


@kernel
def trace_path_from_root(ground, search, end, path):
    """Write the cells from the root of the search to `end` into `path`. Returns their number."""
    length = 0
    s = np.int64(end)
    while s >= 0:
        path[length] = s
        length += 1
        s = parent_of(ground, search, s)
    for i in range(length // 2):
        k = length - 1 - i
        path[i], path[k] = path[k], path[i]
    return length


@kernel
def set_route_from_trace(route, trace, traced):
    """Set the route to the first `traced` cells of `trace`, in reverse order. Returns the route's length."""
    for i in range(traced):
        s = trace[traced - 1 - i]
        route.cells[i] = s
        route.place[s].depth = i
    return traced


@kernel
def is_remaining_walk_legal(ground, search, route, length, loc):
    """Return whether every move of the walk ahead of an agent at `loc` is still legal.

    The walk leads back along parents to the route, then along the route.
    """
    s = np.int64(loc)
    i = route_index(route, length, s)
    while i < 0:
        before = parent_of(ground, search, s)
        if before < 0 or direction_between(ground, s, before) < 0:
            return False
        s = before
        i = route_index(route, length, s)
    for k in range(i, length - 1):
        if direction_between(ground, route.cells[k], route.cells[k + 1]) < 0:
            return False
    return True


@kernel
def remaining_walk_cost(ground, search, route, length, loc):
    """Return the cost of the walk ahead of an agent at `loc`, infinity if one of its moves is no longer legal.

    The walk leads back along parents to the route, then along the route.
    """
    cost = 0.0
    s = np.int64(loc)
    i = route_index(route, length, s)
    while i < 0:
        before = parent_of(ground, search, s)
        d = direction_between(ground, s, before) if before >= 0 else -1
        if d < 0:
            return np.inf
        cost += ground.cost[d]
        s = before
        i = route_index(route, length, s)
    for k in range(i, length - 1):
        d = direction_between(ground, route.cells[k], route.cells[k + 1])
        if d < 0:
            return np.inf
        cost += ground.cost[d]
    return cost
