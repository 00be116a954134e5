"""Clique abstraction of a map: a hierarchy of ever smaller graphs, computed before the run.

    prepared = fetch_abstraction(grid)              the whole hierarchy, cached as prepared data (prepared.py)
    regions = regions_of_cells(prepared.tables, 3)      for each cell the number of its node on level 3

On level 0, each free cell is a node. Each level above groups neighbouring nodes of the level below (cliques) into one
node; these nodes are called the regions of the level. The nodes of all levels share one numbering, beginning with
level 0: node i of level l has the number levels.first[l] + i.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sim.grid import Grid
from sim.kernels import cliques
from sim.prepared_data import BuildProgress, BuiltData, DataBuild, DataRecipe, PreparedData, fetch_data

Ints = npt.NDArray[np.int32]


class AbstractionLevels(NamedTuple):
    """All levels of the hierarchy as flat arrays. Level 0 has no list of arcs, because its arcs are the legal moves."""

    first: npt.NDArray[np.int64]  # [levels + 1] first node of each level; the last entry is the number of all nodes
    parent: Ints  # [nodes] node of the next higher level that contains this node; -1 on the highest level
    x: npt.NDArray[np.float64]  # [nodes] mean x of the cells of the node
    y: npt.NDArray[np.float64]  # [nodes] mean y of the cells of the node
    rep: Ints  # [nodes] representative of the node: its cell that is nearest to the mean (x, y)
    edge_first: npt.NDArray[np.int64]  # [nodes + 1] neighbours of node u: edge[edge_first[u]:edge_first[u + 1]]
    edge: Ints  # neighbours of all nodes, one node after the other; `edge_first` has the offsets
    child_first: npt.NDArray[np.int64]  # [nodes + 1] children of node u: child[child_first[u]:child_first[u + 1]]
    child: Ints  # children (nodes of the next lower level) of all nodes; `child_first` has the offsets
    node_of: Ints  # [cells] node of each cell on level 0; -1 for blocked cells


class _UnfinishedLevel(NamedTuple):
    """One level of the hierarchy under construction, with its nodes numbered from 0."""

    first: npt.NDArray[np.int64]  # [nodes + 1] neighbours of node u: edge[first[u]:first[u + 1]]
    edge: Ints  # neighbours of all nodes, one node after the other; `first` has the offsets
    x: npt.NDArray[np.int64]  # [nodes] sum of x over the cells of the node
    y: npt.NDArray[np.int64]  # [nodes] sum of y over the cells of the node
    size: npt.NDArray[np.int64]  # [nodes] number of cells in the node
    child_first: npt.NDArray[np.int64]  # [nodes + 1] children of node u: child[child_first[u]:child_first[u + 1]]
    child: Ints  # children of all nodes: numbers of nodes on the level below, from 0


def top_level_number(levels: AbstractionLevels) -> int:
    """Return the number of the highest level, which has one node for each connected part of the map, and no arcs."""
    return int(levels.first.size) - 2


def regions_of_cells(levels: AbstractionLevels, level: int) -> Ints:
    """Return for each cell the node that contains it on `level` or the highest level; -1 for blocked cells."""
    table = levels.node_of
    for _ in range(min(level, top_level_number(levels))):
        table = np.where(table >= 0, levels.parent[table], -1)
    return table.astype(np.int32)


def _build_cell_level(grid: Grid) -> tuple[_UnfinishedLevel, Ints, Ints]:
    """Return level 0 of the hierarchy, the node number of each cell, and the cell of each node."""
    node_of, cell_of = np.empty(grid.cells, np.int32), np.empty(grid.cells, np.int32)
    count = int(cliques.number_free_cells(grid.free_mask, node_of, cell_of))
    cell_of = cell_of[:count].copy()
    first, edge = np.empty(count + 1, np.int64), np.empty(8 * count, np.int32)
    arcs = int(cliques.build_cell_graph(grid.map_arrays, node_of, cell_of, count, first, edge))
    x, y = (part.astype(np.int64) for part in (cell_of % grid.width, cell_of // grid.width))
    none = np.zeros(count + 1, np.int64)
    ground = _UnfinishedLevel(first, edge[:arcs], x, y, np.ones(count, np.int64), none, np.empty(0, np.int32))
    return ground, node_of, cell_of


def _build_next_level(level: _UnfinishedLevel) -> tuple[_UnfinishedLevel, Ints]:
    """Return the next higher level of the hierarchy, and for each node of `level` its parent on the higher level."""
    count, arcs = level.size.size, level.edge.size
    parent, aside = np.empty(count, np.int32), np.empty(count, np.int32)
    found = np.empty(count + 3, np.int64)
    parents = int(cliques.group_nodes_into_cliques(level.first, level.edge, count, parent, aside, found))
    child_first, child = np.empty(parents + 1, np.int64), np.empty(count, np.int32)
    cliques.list_children(parent, count, parents, child_first, child)
    first, edge, last_seen_from = np.empty(parents + 1, np.int64), np.empty(arcs, np.int32), np.empty(parents, np.int32)
    arcs = int(
        cliques.build_parent_graph(
            level.first, level.edge, parent, parents, child_first, child, last_seen_from, first, edge
        )
    )
    x, y, size = (np.empty(parents, np.int64) for _ in range(3))
    cliques.sum_cell_coordinates(parent, count, parents, level.x, level.y, level.size, x, y, size)
    return _UnfinishedLevel(first, edge[:arcs].copy(), x, y, size, child_first, child), parent


def _build_abstraction(grid: Grid) -> DataBuild:
    """Compute all levels, from level 0 up to the first level on which no node has a neighbour, in steps.

    `BuiltData.expansions`, the reported cost of this computation, is the number of nodes on all levels.
    """
    yield BuildProgress("abstraction", 0.0)
    level, node_of, cell_of = _build_cell_level(grid)
    unfinished, parents, reps = [level], [], [cell_of]
    region = np.arange(cell_of.size, dtype=np.int32)
    while level.edge.size:
        level, parent = _build_next_level(level)
        region = parent[region]
        rep, min_distances = np.empty(level.size.size, np.int32), np.empty(level.size.size, np.float64)
        cliques.find_region_representatives(
            cell_of, region, rep.size, grid.width, level.x, level.y, level.size, rep, min_distances
        )
        unfinished.append(level)
        parents.append(parent)
        reps.append(rep)
        yield BuildProgress("abstraction", 1.0 - level.size.size / max(1, cell_of.size))
    levels = _combine_levels(unfinished, parents, reps, node_of)
    return BuiltData(levels, int(levels.first[-1]))


def _combine_levels(
    unfinished: list[_UnfinishedLevel], parents: list[Ints], reps: list[Ints], node_of: Ints
) -> AbstractionLevels:
    """Combine the separate levels into one hierarchy with a common numbering of nodes."""
    sizes = [level.size.size for level in unfinished]
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    parents = [*parents, np.full(sizes[-1], -1, np.int32)]
    ups = [np.where(p >= 0, p + first[i + 1], -1).astype(np.int32) for i, p in enumerate(parents)]
    none = np.zeros(sizes[0], np.int64)
    edges = [level.edge + np.int32(first[i]) for i, level in enumerate(unfinished)]
    children = [level.child + np.int32(first[i - 1]) for i, level in enumerate(unfinished)]
    return AbstractionLevels(
        first,
        np.concatenate(ups),
        np.concatenate([level.x / level.size for level in unfinished]),
        np.concatenate([level.y / level.size for level in unfinished]),
        np.concatenate(reps).astype(np.int32),
        _concatenate_offsets([none, *(level.first for level in unfinished[1:])]),
        np.concatenate([np.empty(0, np.int32), *edges[1:]]).astype(np.int32),
        _concatenate_offsets([none, *(level.child_first for level in unfinished[1:])]),
        np.concatenate([np.empty(0, np.int32), *children[1:]]).astype(np.int32),
        node_of,
    )


def _concatenate_offsets(firsts: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Concatenate the offset arrays of all levels. The array of level 0 lacks the final entry that the others have."""
    parts, offset = [firsts[0]], 0
    for beginnings in firsts[1:]:
        parts.append(beginnings[:-1] + offset)
        offset += int(beginnings[-1])
    return np.concatenate([*parts, [offset]]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class RegionMap:
    """Regions of one level of the abstraction, with colours and neighbours, for drawing."""

    level: int
    cells: tuple[Ints, ...]  # cells to draw in each colour; neighbouring regions have different colours
    region_by_cell: Ints  # [cells] number of the region of each cell, from 0; -1 for blocked cells
    x: npt.NDArray[np.float64]  # [regions] mean x of the cells of the region
    y: npt.NDArray[np.float64]  # [regions] mean y of the cells of the region
    neighbour_pairs: Ints  # [arcs, 2] pairs of regions that are neighbours


@lru_cache(maxsize=16)
def region_map(abstraction: PreparedData, level: int) -> RegionMap:
    """Return the regions of a level of the abstraction, for drawing. If `level` is too high, use the highest level."""
    levels: AbstractionLevels = abstraction.tables
    level = min(level, top_level_number(levels))
    begin, end = (int(number) for number in levels.first[level : level + 2])
    colour = np.zeros(end - begin, np.int64)
    if level:
        cliques.colour_regions(levels.edge_first, levels.edge, begin, end, colour)
    table = regions_of_cells(levels, level)
    colour_of = np.where(table >= 0, colour[np.maximum(table - begin, 0)], -1)
    cells = tuple(np.flatnonzero(colour_of == c).astype(np.int32) for c in range(int(colour.max()) + 1))
    counts = np.diff(levels.edge_first[begin : end + 1])
    tails = np.repeat(np.arange(end - begin), counts)
    heads = levels.edge[levels.edge_first[begin] : levels.edge_first[end]] - begin
    arcs = np.stack([tails, heads], axis=1)[tails < heads].astype(np.int32)
    numbers = np.where(table >= 0, table - begin, -1).astype(np.int32)
    return RegionMap(level, cells, numbers, levels.x[begin:end], levels.y[begin:end], arcs)


def cell_values_from_regions(abstraction: PreparedData, level: int, values: Ints) -> npt.NDArray[np.uint32]:
    """Return for each cell the value in `values` of the region that contains it on `level`; 0 for blocked cells."""
    numbers = region_map(abstraction, level).region_by_cell
    found: npt.NDArray[np.uint32] = np.where(numbers >= 0, values[numbers], 0).astype(np.uint32)
    return found


ABSTRACTION_KIND = "abstraction"
"""Kind of this prepared data, as stored in `PreparedData.kind`."""

ABSTRACTION_RECIPE = DataRecipe(ABSTRACTION_KIND, (), _build_abstraction, AbstractionLevels)


def fetch_abstraction(grid: Grid) -> PreparedData:
    """Return the clique abstraction of the present map, from the cache or, if it is not cached, computed now."""
    return fetch_data(ABSTRACTION_RECIPE, grid)
