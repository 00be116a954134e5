"""Bench `search`: problems per second of offline A*, with the kernels that all agents use."""

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt

from benchmarks import plain_astar
from benchmarks.bench_problems import MapProblem, grouped_by_map
from benchmarks.bench_setup import BenchSetup
from benchmarks.table import BenchRow, BenchTable, BenchTarget
from benchmarks.timing import best_times
from files.movingai import are_path_lengths_equal
from sim.jit.decorators import as_plain_arrays
from sim.kernels.memory import scratch_array
from sim.kernels.offline import find_cheapest_path
from sim.kernels.search import Search, new_search

# name of a set of problems -> minimum ratio to the speed of the control
TARGETS = {"bg512": BenchTarget(90.0), "rooms": BenchTarget(82.0), "sc1": BenchTarget(95.0)}
# Minimum ratio: rate with a new search memory per problem / rate with one memory per map.
FRESH_TARGET = BenchTarget(0.8)
# name of a set of problems -> published total expansions; ties between cells allow several totals
EXPANSIONS = {"bg512": (1_419_401,), "rooms": (2_948_349, 2_948_350, 2_948_351), "sc1": (840_833,)}
_TIES_NOTE = (
    "rooms: in three problems, two cells tie on f and g, which decides about one expansion each. Expansions: "
    "2,948,351 if ties go to the smaller cell (our rule), 2,948,349 first in, first out, 2,948,350 last in, first out."
)


def run(setup: BenchSetup) -> BenchTable:
    table = BenchTable("search: offline A*, one memory per map, one kernel call per problem, path included")
    for name, problems in setup.problems.iter_problem_groups():
        rate, fresh_rate, control_rate, totals = _measure_expansion_rates(setup, name, problems)
        target = TARGETS.get(name) if setup.problems.is_from_list else None
        table.rows.append(BenchRow(name, rate, "problems/s", control_rate, rate / control_rate, target))
        is_listed = setup.problems.is_from_list
        fresh = FRESH_TARGET if is_listed else None
        table.rows.append(BenchRow(f"{name}, a world each", fresh_rate, "problems/s", rate, fresh_rate / rate, fresh))
        table.notes.append(_total_note(name, *totals, is_listed=setup.problems.is_from_list))
    table.notes.append("control: textbook A* with heapq in plain Python (benchmarks/plain_astar.py)")
    if setup.problems.is_from_list:
        table.notes.append(_TIES_NOTE)
    return table


def _measure_expansion_rates(
    setup: BenchSetup, name: str, problems: list[MapProblem]
) -> tuple[float, float, float, tuple[int, int]]:
    """Measure the rates of one set of problems.

    Returns:
        Four values: problems per second of the kernels with one search memory per map, of the kernels with a new search
        memory for each problem, and of the control; and (total expansions of the kernels, of the control).
    """
    seconds, fresh_seconds, control_seconds = 0.0, 0.0, 0.0
    total, control_total = 0, 0
    for batch in grouped_by_map(problems):
        setup.progress.update_bar(f"search: {name}, {batch[0].map_name}")
        ours, theirs = kernel_solver(batch), control_solver(batch)
        total += ours()
        control_total += theirs()
        own, fresh, other = best_times(setup.rounds, (ours, partial(_solve_each_with_new_memory, batch), theirs))
        seconds += own
        fresh_seconds += fresh
        control_seconds += other
    return (
        len(problems) / seconds,
        len(problems) / fresh_seconds,
        len(problems) / control_seconds,
        (total, control_total),
    )


def _solve_each_with_new_memory(batch: list[MapProblem]) -> int:
    """Solve each problem with a new search memory, as commands that solve many problems do; return the expansions."""
    expansions = 0
    for problem in batch:
        cells = problem.grid.cells
        memory, path = new_search(cells, is_bucketed=True, is_reused=True), scratch_array("way", cells, np.int32, True)
        expansions += _solve_all(as_plain_arrays(memory), path, [(problem, *problem.start_and_goal_cells)])
    return expansions


def kernel_solver(batch: list[MapProblem]) -> Callable[[], int]:
    """Return a function that solves all problems of one map with the kernels and returns the number of expansions."""
    cells = batch[0].grid.cells
    cases = [(problem, *problem.start_and_goal_cells) for problem in batch]
    return partial(_solve_all, as_plain_arrays(new_search(cells, is_bucketed=True)), np.zeros(cells, np.int32), cases)


def _solve_all(memory: Search, path: npt.NDArray[np.int32], cases: list[tuple[MapProblem, int, int]]) -> int:
    expansions = 0
    for problem, start, goal in cases:
        expansions += int(find_cheapest_path(problem.grid.map_arrays, memory, start, goal, path)[1])
        _check_path_length(problem, float(memory.nodes["g"][goal]))
    return expansions


def control_solver(batch: list[MapProblem]) -> Callable[[], int]:
    """Return a function that solves all problems of one map with the control and returns the number of expansions."""
    board = plain_astar.FramedMap(batch[0].grid)
    return partial(_solve_all_plainly, board, [(p, board.cell(*p.start), board.cell(*p.goal)) for p in batch])


def _solve_all_plainly(board: plain_astar.FramedMap, cases: list[tuple[MapProblem, int, int]]) -> int:
    expansions = 0
    for problem, start, goal in cases:
        length, expanded = plain_astar.astar_cost(board, start, goal)
        expansions += expanded
        _check_path_length(problem, length)
    return expansions


def _check_path_length(problem: MapProblem, length: float) -> None:
    if problem.optimal is not None:
        assert are_path_lengths_equal(length, problem.optimal), (problem, length)


def _total_note(name: str, total: int, control_total: int, is_listed: bool) -> str:
    expected = EXPANSIONS.get(name) if is_listed else None
    if expected is None:
        verdict = "" if total == control_total else f", the control {control_total:,}: THEY DIFFER"
    elif total in expected and control_total in expected:
        verdict = ", as published"
    else:
        verdict = f", the control {control_total:,}, EXPECTED {' or '.join(f'{n:,}' for n in expected)}"
    return f"{name}: {total:,} expansions{verdict}"
