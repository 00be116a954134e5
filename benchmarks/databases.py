"""Bench `subgoal_databases`: time to compute data before a run, and speed of the agents that use it."""

import time
from collections.abc import Callable
from functools import partial

import numpy as np

from agents.registry import AGENT_SPECS_BY_KEY
from benchmarks import plain_algorithms
from benchmarks.bench_problems import MapProblem, grouped_by_map
from benchmarks.bench_setup import BenchSetup
from benchmarks.plain_astar import FramedMap, astar_cost
from benchmarks.table import BenchRow, BenchTable, BenchTarget
from benchmarks.ticks import TickCase, case_runner, control_expansion_rate
from benchmarks.timing import best_times
from sim import abstraction, subgoal_databases
from sim import problem_records as recipes
from sim.batching.batched_executor import BatchedExecutor
from sim.grid import Grid
from sim.kernels.records import ProblemRecords, find_similar_records, new_similar_records
from sim.prepared_data import DataRecipe, PreparedData, build_data_uncached, fetch_data
from sim.world import World
from sim.world_commands import AgentConfig

_COLUMN_LEVEL = 3  # abstraction level of the database of which one column is computed and timed
_MAX_MAPS = 3  # maximum number of maps of each size, because the plain versions take seconds
_RECORD_COUNT, _SIMILAR_COUNT = 1000, 10  # number of records per map, and of similar records to find
# number of problems that the control solves; all problems of the records would take it minutes
_PLAIN_RECORD_COUNT = 8
WALKER_CASES = (
    TickCase("D LRTA*, depth 1, level 3", "d-lrta", {"depth_control": "fixed"}, 1),
    TickCase("D LRTA*, level 3", "d-lrta", {}, 1, problem_stride=4),
    TickCase("kNN LRTA*, 1,000 records", "knn-lrta", {"records": _RECORD_COUNT}, 1),
    TickCase("PR LRTA*, level 4, depth 5", "pr-lrta", {"depth": 5}, 1, problem_stride=4),
    TickCase("PRA*", "pra", {"mode": "instant"}, 1, problem_stride=4),
    TickCase("DT LRTA*", "dt-lrta", {}, 1, problem_stride=16, max_ticks=20_000),
)


ONE_STATE_AGENTS = ("d-lrta", "knn-lrta")
"""Agents that expand one state per move. Creating a world takes as long as a run of such an agent, so walking is also
measured without the creation of the world."""


def run(setup: BenchSetup) -> BenchTable:
    table = BenchTable("databases: abstraction, columns of subgoals, records, and the agents that use them")
    problems = grouped_by_map(setup.problems.problems)
    for side, limit in ((512, 0.3), (1024, 1.2)):
        chosen = [batch for batch in problems if max(batch[0].grid.width, batch[0].grid.height) == side]
        if chosen or not setup.problems.is_from_list:
            _measure_abstraction(setup, table, (chosen or problems)[:_MAX_MAPS], side if chosen else 0, limit)
    _measure_column(setup, table, problems[:_MAX_MAPS])
    of_512 = [batch for batch in problems if max(batch[0].grid.width, batch[0].grid.height) == 512]
    _measure_records(setup, table, (of_512 or problems)[:_MAX_MAPS])
    batches = grouped_by_map(next(iter(dict(setup.problems.iter_problem_groups()).values())))
    rate = control_expansion_rate(setup, batches)
    for case in WALKER_CASES:
        _measure_walker_rate(setup, table, case, batches, rate)
        if case.kind in ONE_STATE_AGENTS and not case.problem_stride > 1:
            _measure_walking_alone(setup, table, case, batches, rate)
    table.notes.append(
        "walking alone: agent and referee, without the time to create a world, its optimum and its measures"
    )
    table.notes.append("control: the same in plain Python; for agents, expansions of A* with heapq, as in `search`")
    return table


def _measure_abstraction(
    setup: BenchSetup, table: BenchTable, batches: list[list[MapProblem]], side: int, limit: float
) -> None:
    name = f"abstraction of {side} x {side}" if side else "abstraction of generated maps"
    own_s, plain_s = 0.0, 0.0
    for batch in batches:
        setup.progress.update_bar(f"databases: {name}, {batch[0].map_name}")
        grid, board = batch[0].grid, FramedMap(batch[0].grid)
        built: PreparedData = build_data_uncached(abstraction.ABSTRACTION_RECIPE, grid)
        assert np.diff(built.tables.first).tolist() == plain_algorithms.region_counts(board), "they disagree"
        own_batch_s, plain_batch_s = best_times(
            setup.rounds,
            (_uncached_build(abstraction.ABSTRACTION_RECIPE, grid), partial(plain_algorithms.region_counts, board)),
        )
        own_s, plain_s = own_s + own_batch_s, plain_s + plain_batch_s
    _add_result_rows(table, name, own_s / len(batches), plain_s / len(batches), limit if side else None)


def _measure_column(setup: BenchSetup, table: BenchTable, batches: list[list[MapProblem]]) -> None:
    own_s, plain_s = 0.0, 0.0
    for batch in batches:
        setup.progress.update_bar(f"databases: column, {batch[0].map_name}")
        grid, board = batch[0].grid, FramedMap(batch[0].grid)
        levels = fetch_data(abstraction.ABSTRACTION_RECIPE, grid).tables
        region = subgoal_databases.region_of_cell(levels, batch[0].start_and_goal_cells[1], _COLUMN_LEVEL)
        column = subgoal_databases.database_column_recipe(
            subgoal_databases.clipped_level(levels, _COLUMN_LEVEL), region, 0, "subgoals"
        )
        source = board.cell(*grid.xy(int(levels.rep[region])))
        own_batch_s, plain_batch_s = best_times(
            setup.rounds, (_uncached_build(column, grid), partial(plain_algorithms.true_distances, board, source))
        )
        own_s, plain_s = own_s + own_batch_s, plain_s + plain_batch_s
    limit = 0.006 if setup.problems.is_from_list else None
    _add_result_rows(table, f"column of level {_COLUMN_LEVEL}", own_s / len(batches), plain_s / len(batches), limit)


def _measure_records(setup: BenchSetup, table: BenchTable, batches: list[list[MapProblem]]) -> None:
    """Add rows with the time to compute the records of a map, and to find the records similar to each problem.

    Records are computed only once, because this takes seconds on all processor cores.
    """
    build_s, plain_build_s, find_s, plain_find_s, problem_count = 0.0, 0.0, 0.0, 0.0, 0
    for batch in batches:
        setup.progress.update_bar(f"databases: records, {batch[0].map_name}")
        grid, problems = batch[0].grid, [problem.start_and_goal_cells for problem in batch]
        before = time.perf_counter()
        records = build_data_uncached(
            recipes.problem_records_recipe({"records": _RECORD_COUNT, "seed": 1}), grid
        ).tables
        # elapsed time instead of processor time, because several threads do the work
        build_s += time.perf_counter() - before
        pairs = recipes.random_problem_pairs(grid, _PLAIN_RECORD_COUNT, 1)
        plain_build_s += (
            best_times(1, (partial(_solve_plainly, FramedMap(grid), grid, pairs),))[0] * _RECORD_COUNT / len(pairs)
        )
        find = partial(_find_similar_with_kernels, grid, records, problems)
        find_plainly = partial(_find_similar_plainly, grid, records, problems)
        assert find() == find_plainly(), "they disagree"
        own_batch_s, plain_batch_s = best_times(setup.rounds, (find, find_plainly))
        find_s, plain_find_s = find_s + own_batch_s, plain_find_s + plain_batch_s
        problem_count += len(problems)
    is_listed, maps = setup.problems.is_from_list, len(batches)
    _add_result_rows(
        table,
        f"{_RECORD_COUNT:,} records of solved problems",
        build_s / maps,
        plain_build_s / maps,
        4.0 if is_listed else None,
    )
    _add_result_rows(
        table,
        f"{_SIMILAR_COUNT} similar records",
        find_s / problem_count,
        plain_find_s / problem_count,
        60e-6 if is_listed else None,
    )


def _find_similar_with_kernels(grid: Grid, records: ProblemRecords, pairs: list[tuple[int, int]]) -> list[list[int]]:
    similar, found = new_similar_records(_SIMILAR_COUNT), []
    for pair in pairs:
        find_similar_records(grid.map_arrays, records, *pair, similar)
        found.append(similar.records.tolist())
    return found


def _solve_plainly(board: FramedMap, grid: Grid, pairs: list[tuple[int, int]]) -> None:
    """Solve problems with the control (A* in plain Python), without compressing their paths to records."""
    for pair in pairs:
        astar_cost(board, *(board.cell(*grid.xy(cell)) for cell in pair))


def _find_similar_plainly(grid: Grid, records: ProblemRecords, pairs: list[tuple[int, int]]) -> list[list[int]]:
    points = records.ends.tolist()
    return [
        plain_algorithms.most_similar_records(points, grid.xy(start), grid.xy(goal), _SIMILAR_COUNT)
        for start, goal in pairs
    ]


def _uncached_build(recipe: DataRecipe, grid: Grid) -> Callable[[], object]:
    return partial(build_data_uncached, recipe, grid)


def _add_result_rows(table: BenchTable, name: str, own_s: float, plain_s: float, limit: float | None) -> None:
    """Add rows with the time of a computation (`own_s`, in seconds), and its ratio to the control (`plain_s`)."""
    target = None if limit is None else BenchTarget(1000.0 * limit, is_upper_limit=True)
    table.rows.append(BenchRow(name, 1000.0 * own_s, "ms", target=target))
    table.rows.append(BenchRow(f"{name}, how often a second", 1.0 / own_s, "1/s", 1.0 / plain_s, plain_s / own_s))


def _measure_walker_rate(
    setup: BenchSetup, table: BenchTable, case: TickCase, batches: list[list[MapProblem]], rate: float
) -> None:
    seconds, expansions = 0.0, 0
    for batch in batches:
        setup.progress.update_bar(f"databases: {case.name}, {batch[0].map_name}")
        work = case_runner(case, batch[:: case.problem_stride])
        expansions += work()[0]  # the first call also prepares data, which is not timed
        seconds += best_times(setup.rounds, (work,))[0]
    own = expansions / seconds
    target = case.target if setup.problems.is_from_list else None
    table.rows.append(BenchRow(case.name, own, "expansions/s", rate, own / rate, target))


def _measure_walking_alone(
    setup: BenchSetup, table: BenchTable, case: TickCase, batches: list[list[MapProblem]], rate: float
) -> None:
    setup.progress.update_bar(f"databases: {case.name}, walking alone")
    problems = [problem for batch in batches for problem in batch]
    walks = [_walk_problems_with_agent(case, problems) for _ in range(setup.rounds)]
    own = walks[0][0] / min(seconds for _, seconds in walks)
    target = BenchTarget(5.0) if setup.problems.is_from_list else None
    table.rows.append(BenchRow(f"{case.name}, walking alone", own, "expansions/s", rate, own / rate, target))


def _walk_problems_with_agent(case: TickCase, problems: list[MapProblem]) -> tuple[int, float]:
    """Return the expansions of a case on some problems, and the processor time of its ticks in seconds."""
    expansions, seconds = 0, 0.0
    for problem in problems:
        world = World(
            problem.grid,
            *problem.start_and_goal_cells,
            AGENT_SPECS_BY_KEY,
            budget=case.budget,
            measures=False,
            executor=BatchedExecutor,
        )
        walker = world.add(AgentConfig(case.kind, params=case.params))
        before = time.thread_time()
        world.advance(case.max_ticks)
        seconds += time.thread_time() - before
        expansions += world.metrics_of_walker(walker).expansions
    return expansions, seconds
