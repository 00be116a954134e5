"""Databases of subgoals and lookahead depths for agents, computed before the run, one column at a time.

A region is a set of cells: a node of the abstraction (abstraction.py). For an agent in one region whose goal is in
another region, a database contains a subgoal to head for, or the depth of the agent's lookahead. A column contains the
entries of all regions for one goal region.

    fetch_data(database_column_recipe(level, region, cap, needs), grid)

returns the column for one goal region, with one entry per region of the level. `fetch_data` is in prepared.py.

A whole database of V regions would have V^2 entries and take V searches of the map. An agent needs only the column of
its goal, so each column is computed when it is first needed.
"""

from collections.abc import Generator, Iterator
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sim.abstraction import ABSTRACTION_RECIPE, AbstractionLevels, cell_values_from_regions, top_level_number
from sim.grid import Grid
from sim.kernels import learner, level_lrta, subgoals, whole_depths
from sim.kernels.labels import new_search_without_heap
from sim.kernels.level_lrta import new_node_ball
from sim.kernels.levels import STRAIGHT_LINE_COST, new_node_search
from sim.kernels.lrta import new_lookahead_ball
from sim.kernels.memory import lazily_allocated_zeros
from sim.kernels.search import new_search
from sim.kernels.targets import new_target_heuristics
from sim.prepared_data import BuildProgress, BuiltData, DataBuild, DataRecipe, PreparedData, iter_fetch_data

Ints = npt.NDArray[np.int32]

UNCAPPED_DEPTH = 0  # value of the parameter `cap` (maximum lookahead depth) that means: no maximum

_REGIONS_PER_STEP = 256  # number of regions processed between two progress reports
# Regions processed between two reports if depths have no maximum: each region may need a search of the whole map.
_UNCAPPED_REGIONS_PER_STEP = 16


class DatabaseColumn(NamedTuple):
    """Entries of all regions of a level for one goal region. Arrays that were not requested are empty."""

    subgoal: Ints  # [regions] cell that agents in each region head for; -1: the goal itself
    far_depth: Ints  # [regions] lookahead depth of agents that head for the goal; 0: there is no path
    near_depth: Ints  # [regions] lookahead depth of agents that head for the subgoal of their region


def clipped_level(levels: AbstractionLevels, level: int) -> int:
    """Return `level`, or the highest level of the abstraction if `level` exceeds it."""
    return min(level, top_level_number(levels))


def region_of_cell(levels: AbstractionLevels, cell: int, level: int) -> int:
    """Return the region (node) of a level that contains a cell; -1: the cell is in no region."""
    region = int(levels.node_of[cell])
    for _ in range(clipped_level(levels, level)):
        region = int(levels.parent[region]) if region >= 0 else -1
    return region


def database_column_recipe(level: int, region: int, cap: int, needs: str) -> DataRecipe:
    """Return the recipe (sim/prepared_data.py) of the database column for one goal region.

    Args:
        level: level of the abstraction whose regions have entries.
        region: goal region, a node of that level.
        cap: maximum lookahead depth, or UNCAPPED. It is ignored if only subgoals are needed.
        needs: arrays to compute: "subgoals"; "near depths" (and subgoals); "far depths"; or "all depths" (all three).
    """
    cap = cap if needs != "subgoals" else UNCAPPED_DEPTH
    params = (("level", level), ("region", region), ("cap", cap), ("needs", needs))
    make = (
        partial(_combine_near_and_far_columns, level, region, cap)
        if needs == "all depths"
        else partial(_build_database_column, level, region, cap, needs)
    )
    return DataRecipe("database column", params, make, DatabaseColumn)


def _combine_near_and_far_columns(level: int, region: int, cap: int, grid: Grid) -> DataBuild:
    """Join the columns of near and far depths into one. Both are also cached, for agents that need only one."""
    near = yield from iter_fetch_data(database_column_recipe(level, region, cap, "near depths"), grid)
    far = yield from iter_fetch_data(database_column_recipe(level, region, cap, "far depths"), grid)
    column = near.tables._replace(far_depth=far.tables.far_depth)
    return BuiltData(column, near.build_expansions + far.build_expansions, near.entries, near.column_count)


def _build_database_column(level: int, region: int, cap: int, needs: str, grid: Grid) -> DataBuild:
    """Compute the column of one goal region, in steps. `needs`: "subgoals", "near depths" or "far depths"."""
    abstraction = yield from iter_fetch_data(ABSTRACTION_RECIPE, grid)
    levels = abstraction.tables
    field, expansions = _true_distance_field(grid, int(levels.rep[region]))
    count = int(levels.first[level + 1] - levels.first[level])
    subgoal, far, near = (np.empty(0, np.int32) for _ in range(3))
    if needs != "far depths":
        subgoal = np.empty(count, np.int32)
        for first, last in _region_ranges(count):
            subgoals.find_subgoals(grid.map_arrays, levels, level, region, field, first, last, subgoal)
            yield BuildProgress("subgoals", last / count)
    if needs != "subgoals":
        depths = np.empty(count, np.int32)
        expansions += yield from _fill_lookahead_depths(grid, levels, level, region, cap, field, subgoal, depths)
        far, near = (depths, near) if needs == "far depths" else (far, depths)
    return BuiltData(DatabaseColumn(subgoal, far, near), expansions, count, count)


def abstract_column_recipe(lower: int, level: int, region: int, cap: int, needs: str, cost: str) -> DataRecipe:
    """Return the recipe of a column of lookahead depths for LRTA* that walks on the regions of a level.

    Args:
        lower: level of the abstraction on whose regions LRTA* walks.
        level: level of the abstraction whose regions have entries.
        region: goal region, a node of `level`.
        cap: maximum lookahead depth.
        needs: "near depths" (for walks to subgoals) or "far depths" (for walks to the goal).
        cost: cost of arcs between regions, "octile" or "straight".
    """
    params = (("lower", lower), ("level", level), ("region", region), ("cap", cap), ("needs", needs), ("cost", cost))
    return DataRecipe(
        "database column",
        params,
        partial(_build_abstract_column, lower, level, region, cap, needs, cost),
        DatabaseColumn,
    )


def _build_abstract_column(
    lower: int, level: int, region: int, cap: int, needs: str, cost: str, grid: Grid
) -> DataBuild:
    """Compute a column of lookahead depths for LRTA* that walks on the regions of level `lower`, in steps."""
    levels = (yield from iter_fetch_data(ABSTRACTION_RECIPE, grid)).tables
    is_near, expansions = needs == "near depths", 0
    subgoal = np.empty(0, np.int32)
    if is_near:
        below = yield from iter_fetch_data(database_column_recipe(level, region, 0, "subgoals"), grid)
        subgoal, expansions = below.tables.subgoal, below.build_expansions
    depths = np.empty(int(levels.first[level + 1] - levels.first[level]), np.int32)
    count = levels.parent.size
    ball, nodes, tables = new_node_ball(count), new_node_search(count), new_target_heuristics(grid.map_arrays, 0)
    notes, diagonal = (
        new_search_without_heap(grid.cells, False),
        STRAIGHT_LINE_COST if cost == "straight" else grid.diagonal_cost,
    )
    for first, last in _region_ranges(depths.size):
        memory = ball, nodes, tables, diagonal, cap, first, last, subgoal, depths, notes
        level_lrta.find_node_depths(levels, lower, level, region, is_near, *memory)
        yield BuildProgress("depths", last / depths.size)
    expansions += int(notes.control[0].expansions)
    none = np.empty(0, np.int32)
    column = DatabaseColumn(subgoal, none, depths) if is_near else DatabaseColumn(subgoal, depths, none)
    return BuiltData(column, expansions, depths.size, depths.size)


def _true_distance_field(grid: Grid, source: int) -> tuple[npt.NDArray[np.float64], int]:
    """Return the cost of the cheapest path from each cell to `source`, and the expansions of the search."""
    field, came = np.full(grid.cells, np.inf), lazily_allocated_zeros(grid.cells, np.uint8)
    rings = lazily_allocated_zeros(3 * grid.cells, np.int32).reshape(3, grid.cells)
    expansions = subgoals.compute_distance_field(grid.map_arrays, source, field, came, rings, np.zeros(3, np.int64))
    return field, int(expansions)


def _fill_lookahead_depths(
    grid: Grid,
    levels: AbstractionLevels,
    level: int,
    region: int,
    cap: int,
    field: npt.NDArray[np.float64],
    subgoal: Ints,
    depths: Ints,
) -> Generator[BuildProgress, None, int]:
    """Write the lookahead depth of each region into `depths`; return the number of expansions.

    The depths are for walks to the subgoals. If `subgoal` is empty, they are for walks to the goal region.
    """
    if cap == UNCAPPED_DEPTH:
        return (yield from _fill_uncapped_lookahead_depths(grid, levels, level, region, subgoal, depths))
    ground, expansions = grid.map_arrays, 0
    state = np.zeros(1, learner.STATE).view(np.recarray)
    targets, ball = new_target_heuristics(ground, int(levels.rep[region])), new_lookahead_ball(grid.cells, False)
    backward = new_search(grid.cells)
    for first, last in _region_ranges(depths.size):
        if subgoal.size:
            near_arguments = field, backward, targets, ball, state[0], cap, first, last, subgoal, depths
            expansions += int(subgoals.find_depths_to_subgoals(ground, levels, level, *near_arguments))
        else:
            far_arguments = field, targets, ball, state[0], cap, first, last, depths
            expansions += int(subgoals.find_depths_to_representative(ground, levels, level, region, *far_arguments))
        yield BuildProgress("depths", last / depths.size)
    return expansions


def _fill_uncapped_lookahead_depths(
    grid: Grid, levels: AbstractionLevels, level: int, region: int, subgoal: Ints, depths: Ints
) -> Generator[BuildProgress, None, int]:
    """Write lookahead depths, which have no maximum, into `depths`; return the number of expansions."""
    targets, ball = (
        new_target_heuristics(grid.map_arrays, int(levels.rep[region])),
        new_lookahead_ball(grid.cells, False),
    )
    backward, expansions = new_search(grid.cells), 0
    for first, last in _region_ranges(depths.size, _UNCAPPED_REGIONS_PER_STEP):
        memory = backward, targets, ball, first, last, subgoal, depths
        expansions += int(whole_depths.find_uncapped_depths(grid.map_arrays, levels, level, region, *memory))
        yield BuildProgress("depths", last / depths.size)
    return expansions


def _region_ranges(count: int, piece: int = _REGIONS_PER_STEP) -> Iterator[tuple[int, int]]:
    return ((first, min(first + piece, count)) for first in range(0, count, piece))


@lru_cache(maxsize=16)
def lookahead_depths_of_cells(
    abstraction: PreparedData, column: PreparedData, level: int
) -> npt.NDArray[np.uint32] | None:
    """Return the lookahead depth of each cell, which a column has for its region; None: the column has no depths."""
    tables: DatabaseColumn = column.tables
    count = int(abstraction.tables.first[level + 1] - abstraction.tables.first[level])
    depths = tables.near_depth if tables.near_depth.size == count else tables.far_depth
    return cell_values_from_regions(abstraction, level, depths) if depths.size == count else None


NO_DATABASE_COLUMN = PreparedData(
    "database column", (), DatabaseColumn(*(np.zeros(1, np.int32) for _ in range(3))), 0, 0.0
)
"""Placeholder for the column of a goal that is blocked, for which there are no entries."""
