"""Records of solved problems of a map, computed before the run as prepared data (prepared.py).

A record is the solution of one problem as a list of cells, compressed by sim/kernels/records.py.
"""

import os
import random
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from sim.grid import Grid
from sim.kernels import records as kernels
from sim.kernels.records import AXIS_COUNT, LEAF_SIZE, ProblemRecords
from sim.kernels.search import new_search
from sim.params import Value
from sim.prepared_data import BuildProgress, BuiltData, DataBuild, DataRecipe, params_with_names

PROBLEMS_PER_BATCH = 32
"""Number of problems that a worker solves between two reports of progress."""

StartGoalPair = tuple[int, int]


RECORDS_KIND = "records"
"""Kind of this prepared data, as stored in `PreparedData.kind`."""


def problem_records_recipe(params: Mapping[str, Value]) -> DataRecipe:
    """Return the recipe for the records of an agent, from its parameters `records` (number of records) and `seed`."""
    count, seed = int(params["records"]), int(params["seed"])
    return DataRecipe(
        RECORDS_KIND,
        params_with_names(params, "records", "seed"),
        lambda grid: _build_records(grid, count, seed),
        ProblemRecords,
    )


def _build_records(grid: Grid, count: int, seed: int) -> DataBuild:
    pairs = random_problem_pairs(grid, count, seed)
    solved: list[npt.NDArray[np.int32]] = []
    expansions = 0
    for batch, spent in _solve_problems_in_parallel(grid, pairs):
        solved += batch
        expansions += spent
        yield BuildProgress("solving problems", len(solved) / len(pairs))
    return BuiltData(_build_record_arrays(grid, solved), expansions, sum(record.size for record in solved))


def random_problem_pairs(grid: Grid, count: int, seed: int) -> list[StartGoalPair]:
    """Return random pairs of start and goal, drawn uniformly from the largest connected part of the map.

    There are at most as many pairs as this part has different problems, because more would only repeat them. The list
    is empty if the part has only one cell.
    """
    cells = np.empty(grid.cells, np.int32)
    size = int(kernels.list_largest_component_cells(grid.map_arrays, np.zeros(grid.cells, np.int32), cells))
    if size < 2:
        return []
    chance = random.Random(seed)
    index_pairs = (chance.sample(range(size), 2) for _ in range(min(count, size * (size - 1))))
    return [(int(cells[a]), int(cells[b])) for a, b in index_pairs]


def _solve_problems_in_parallel(
    grid: Grid, pairs: Sequence[StartGoalPair]
) -> Iterator[tuple[list[npt.NDArray[np.int32]], int]]:
    """Solve the problems on all cores; yield for each batch of pairs, in order, its records and its expansions.

    The records do not depend on the number of cores.
    """
    batches = [pairs[i : i + PROBLEMS_PER_BATCH] for i in range(0, len(pairs), PROBLEMS_PER_BATCH)]
    workers = min(len(batches), os.cpu_count() or 1)
    if workers < 2:
        yield from map(_RecordSolver(grid), batches)
        return
    idle = [_RecordSolver(grid) for _ in range(workers)]

    def solve(batch: Sequence[StartGoalPair]) -> tuple[list[npt.NDArray[np.int32]], int]:
        solver = idle.pop()
        try:
            return solver(batch)
        finally:
            idle.append(solver)

    with ThreadPoolExecutor(workers) as pool:
        try:
            yield from pool.map(solve, batches)
        finally:  # if the caller cancels the computation, the remaining batches are not solved
            pool.shutdown(cancel_futures=True)


class _RecordSolver:
    """Solver of problems with its own buffers, so that several threads can run one solver each at the same time."""

    def __init__(self, grid: Grid) -> None:
        self.map_arrays, self.search = grid.map_arrays, new_search(grid.cells)
        self.path_buffer = np.empty(grid.cells, np.int32)
        self.record = np.empty(grid.cells + 1, np.int32)  # a path of one cell has a record of two, see compress_path

    def __call__(self, pairs: Sequence[StartGoalPair]) -> tuple[list[npt.NDArray[np.int32]], int]:
        """Solve the problems of these pairs; return their records, and the number of expansions of all searches."""
        records, expansions = [], 0
        for start, goal in pairs:
            length, spent = kernels.solve_problem_and_compress_path(
                self.map_arrays, self.search, start, goal, self.path_buffer, self.record
            )
            records.append(self.record[:length].copy())
            expansions += int(spent)
        return records, expansions


def _build_record_arrays(grid: Grid, solved: Sequence[npt.NDArray[np.int32]]) -> ProblemRecords:
    """Return the records in the form that kernels read: all cells in one array, with offsets, ends and k-d tree."""
    lengths = [record.size for record in solved]
    first = np.array([record[0] for record in solved], np.int64)
    last = np.array([record[-1] for record in solved], np.int64)
    width = grid.width
    points = np.stack([first % width, first // width, last % width, last // width], axis=1).astype(np.int32)
    return ProblemRecords(
        offsets=np.concatenate([[0], np.cumsum(lengths, dtype=np.int32)]).astype(np.int32),
        cells=np.concatenate([*solved, np.empty(0, np.int32)]).astype(np.int32),
        ends=points.reshape(-1, AXIS_COUNT),
        order=kd_tree_order(points.reshape(-1, AXIS_COUNT)),
    )


def kd_tree_order(points: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Return the order of records in a balanced k-d tree over their start and end cells.

    Each part of the order is split by its middle record, along the axes in turn.
    """
    order = np.arange(len(points), dtype=np.int32)
    parts = [(0, len(points), 0)]
    while parts:
        low, high, axis = parts.pop()
        if high - low <= LEAF_SIZE:
            continue
        part = order[low:high]
        order[low:high] = part[np.argsort(points[part, axis], kind="stable")]
        middle = (low + high) // 2
        parts += [(low, middle, (axis + 1) % AXIS_COUNT), (middle + 1, high, (axis + 1) % AXIS_COUNT)]
    return order
