"""Controls of the bench `databases`: the data computed before a run, in plain Python with lists, sets and heapq."""

from heapq import heappop, heappush
from itertools import combinations

from benchmarks.plain_astar import FramedMap, neighbours_and_costs
from sim.kernels.octile import DIAGONAL


def true_distances(board: FramedMap, source: int) -> dict[int, float]:
    """Return the true distances of all reachable cells to one cell, by Dijkstra's algorithm."""
    found: dict[int, float] = {}
    queue = [(0.0, source)]
    while queue:
        g, s = heappop(queue)
        if s not in found:
            found[s] = g
            for t, cost in neighbours_and_costs(board.free, board.width, s):
                if t not in found:
                    heappush(queue, (g + cost, t))
    return found


def region_counts(board: FramedMap) -> list[int]:
    """Return the number of regions on each level of the clique abstraction."""
    cells = [cell for cell, free in enumerate(board.free) if free]
    number = {cell: i for i, cell in enumerate(cells)}
    arcs = [{number[t] for t, _ in neighbours_and_costs(board.free, board.width, cell)} for cell in cells]
    counts = [len(arcs)]
    while any(arcs):
        parent = _group_into_cliques(arcs)
        parent_arcs: list[set[int]] = [set() for _ in range(max(parent) + 1)]
        for u, p in enumerate(parent):
            parent_arcs[p].update(parent[v] for v in arcs[u] if parent[v] != p)
        arcs = parent_arcs
        counts.append(len(arcs))
    return counts


def _group_into_cliques(arcs: list[set[int]]) -> list[int]:
    parent = [-1] * len(arcs)
    clique_count, aside = 0, []
    for u, around in enumerate(arcs):
        if parent[u] >= 0:
            continue
        members = _first_clique(arcs, sorted(v for v in around if parent[v] < 0)) if len(around) > 1 else []
        if not members and around:
            aside.append(u)
            continue
        for v in [u, *members]:
            parent[v] = clique_count
        clique_count += 1
    for u in reversed(aside):
        if parent[u] >= 0:
            continue
        waiting = sorted(v for v in arcs[u] if parent[v] < 0)
        if not waiting and len(arcs[u]) == 1:
            parent[u] = parent[next(iter(arcs[u]))]
            continue
        for v in [u, *waiting[:1]]:
            parent[v] = clique_count
        clique_count += 1
    return parent


def _first_clique(arcs: list[set[int]], waiting: list[int]) -> list[int]:
    """Return the first three nodes that are neighbours of each other, else the first two, else none."""
    pair: list[int] = []
    for x, y in combinations(waiting, 2):
        if y in arcs[x]:
            pair = pair or [x, y]
            third = next((z for z in waiting if z > y and z in arcs[x] and z in arcs[y]), None)
            if third is not None:
                return [x, y, third]
    return pair


def most_similar_records(
    points: list[list[int]], start: tuple[int, int], goal: tuple[int, int], count: int
) -> list[int]:
    """Return the indices of the records most similar to a problem, by comparing all records.

    The distance of a record is the larger of the octile distances between both starts and between both goals.

    Args:
        points: The start and goal of each record, as x, y, x, y.
        start: The start of the problem.
        goal: The goal of the problem.
        count: The number of records to return.
    """
    found = []
    for number, (x0, y0, x1, y1) in enumerate(points):
        pairs = (abs(x0 - start[0]), abs(y0 - start[1])), (abs(x1 - goal[0]), abs(y1 - goal[1]))
        found.append((max(max(dx, dy) + (DIAGONAL - 1.0) * min(dx, dy) for dx, dy in pairs), number))
    return [number for _, number in sorted(found)[:count]]
