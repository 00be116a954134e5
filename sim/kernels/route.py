"""Routes: a sequence of cells from a search's root to an open cell, with O(1) membership.

`place[s].depth` says where on the route cell s stands; it counts only if the route says so too (it is less than the
length, and the cell there is s), so nothing ever has to be cleared. A search whose closed cells keep their parents has
such depths in the links of its tree (ancestry.py), and its route looks there.
"""

from typing import NamedTuple

import numpy as np

from sim.kernels.jit import kernel
from sim.kernels.memory import scratch
from sim.kernels.octile import direction_between
from sim.kernels.search import parent
from sim.kernels.tiled import Table, new_table

PLACE = np.dtype([("depth", "i4")], align=True)


class Route(NamedTuple):
    """Make it only with new_route(). How many cells it has is in the state of the agent that owns it."""

    cells: np.ndarray  # int32[n] the cells in walking order
    place: Table  # PLACE[n] or LINK[n]: place of each cell on the route
    scratch: np.ndarray  # int32[n] the part being traced, last cell first


def new_route(cells: int, is_reused: bool = False, tile_width: int = 0, place: Table | None = None) -> Route:
    """`place`: the links of the tree that it leads through, by default a table of its own. `tile_width`: tiled.py."""
    return Route(
        cells=scratch("route", cells, np.int32, is_reused),
        place=new_table("places", cells, PLACE, tile_width, is_reused) if place is None else place,
        scratch=scratch("route", cells, np.int32, is_reused),
    )


@kernel
def place_on(route, length, s):
    """Where on the route cell s stands, or -1."""
    i = route.place[s].depth
    if i < length and route.cells[i] == s:
        return np.int64(i)
    return np.int64(-1)


@kernel
def trace_whole(ground, search, route, end):
    """Make the route lead from the root to `end`. Returns its length and the parent pointers followed."""
    s = np.int64(end)
    steps = 0
    while s >= 0:
        route.scratch[steps] = s
        steps += 1
        s = parent(ground, search, s)
    return adopt(route, route.scratch, steps), steps


@kernel
def trace_linked(ground, search, route, length, end):
    """The same where closed cells keep their parents and `end` has its link, so that its place is known.

    Stops at the first cell that is already on the route: from there back to the root it would find the same cells
    again. Nothing is read but parents: of five hundred routes, none is in the cache.
    """
    s = np.int64(end)
    last = np.int64(route.place[s].depth)
    i = last
    while i >= 0 and (i >= length or route.cells[i] != s):
        route.cells[i] = s
        s = parent(ground, search, s)
        i -= 1
    return last + 1, last - i


@kernel
def way_to(ground, search, end, way):
    """Write the cells from the root of the search to `end` into `way`. Returns how many."""
    length = 0
    s = np.int64(end)
    while s >= 0:
        way[length] = s
        length += 1
        s = parent(ground, search, s)
    for i in range(length // 2):
        k = length - 1 - i
        way[i], way[k] = way[k], way[i]
    return length


@kernel
def adopt(route, trace, traced):
    """Make the first `traced` cells of `trace`, which stand last cell first, the route. Returns its length."""
    for i in range(traced):
        s = trace[traced - 1 - i]
        route.cells[i] = s
        route.place[s].depth = i
    return traced


@kernel
def way_holds(ground, search, route, length, loc):
    """Whether every move of an agent at `loc` is still legal: back along parents to the route, then along it."""
    s = np.int64(loc)
    i = place_on(route, length, s)
    while i < 0:
        before = parent(ground, search, s)
        if before < 0 or direction_between(ground, s, before) < 0:
            return False
        s = before
        i = place_on(route, length, s)
    for k in range(i, length - 1):
        if direction_between(ground, route.cells[k], route.cells[k + 1]) < 0:
            return False
    return True


@kernel
def way_cost(ground, search, route, length, loc):
    """Cost of the walk described in way_holds; infinity when an arc of it is gone."""
    cost = 0.0
    s = np.int64(loc)
    i = place_on(route, length, s)
    while i < 0:
        before = parent(ground, search, s)
        d = direction_between(ground, s, before) if before >= 0 else -1
        if d < 0:
            return np.inf
        cost += ground.cost[d]
        s = before
        i = place_on(route, length, s)
    for k in range(i, length - 1):
        d = direction_between(ground, route.cells[k], route.cells[k + 1])
        if d < 0:
            return np.inf
        cost += ground.cost[d]
    return cost
