"""Bench `experiment`: overhead of the engine, speed-up by two processes and a scheduler, and time to resume."""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agents.registry import AGENT_SPECS_BY_KEY
from benchmarks.bench_setup import BenchSetup
from benchmarks.table import BenchRow, BenchTable, BenchTarget
from cli.experiment import pools, worker
from cli.experiment.engine import ExperimentEngine
from cli.progress import ProgressBar
from cli.report import AGENT_NAMES
from experiments.columns import MEASURED_COLUMNS, PROCESSOR_TIME_COLUMNS
from experiments.export import write_csv_tables
from experiments.plan import iter_planned_rows, iter_unfinished_tasks
from experiments.report_charts import standard_charts
from experiments.report_tables import comparison_table, settings_table
from experiments.specification import ExperimentSpecification, parse_experiment
from experiments.store import ResultStore, open_store_for_writing

# specification of the measured experiment, with placeholders for the sides of the maps
WORK_SPECIFICATION = """format: backmove-experiment
version: 1
problems: {generate: {kind: caves, width: %d, height: %d, seed: [1, 2, 3, 4, 5]}, random: 100}
agents: [{kind: tb-wa, weight: [1, 1.4, 1.8, 2.2, 3]}]
budgets: [1, 16]
"""
SIDE, SHORT_SIDE = 768, 192
"""Sides of the maps in cells: SIDE gives twenty seconds of work, like the smallest experiments that come with the
program; SHORT_SIDE gives three seconds, for which the time to start processes matters."""
# specification of an experiment with invented results, with a placeholder for the weights
INVENTED_SPECIFICATION = """format: backmove-experiment
version: 1
problems: {generate: {kind: rooms, width: 64, height: 64, seed: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}, random: 100}
agents: [{kind: tb-wa, weight: [%s]}]
budgets: [1, 4, 16, 64, 256]
"""


def run(setup: BenchSetup) -> BenchTable:
    table = BenchTable("experiment: 50 tasks of 100 problems, results of 100,000 and of 300,000 runs")
    setup.progress.update_bar("experiment: in this process")
    spec, short = _parse_work_specification(SIDE), _parse_work_specification(SHORT_SIDE)
    bare = _time_call_s(lambda: _run_without_engine(spec), time.process_time)
    alone, alone_s = _engine_seconds(spec, lambda folder: pools.choose_executor_factory(None, 1, folder))
    table.rows.append(
        BenchRow("engine over the bare loop", alone, "s", bare, alone / bare, BenchTarget(1.05, is_upper_limit=True))
    )
    setup.progress.update_bar("experiment: two processes")
    _, pair_s = _engine_seconds(spec, lambda folder: pools.choose_executor_factory(None, 2, folder))
    table.rows.append(BenchRow("two processes", pair_s, "s", alone_s, alone_s / pair_s, BenchTarget(1.8)))
    _, short_alone_s = _engine_seconds(short, lambda folder: pools.choose_executor_factory(None, 1, folder))
    _, short_pair_s = _engine_seconds(short, lambda folder: pools.choose_executor_factory(None, 2, folder))
    table.rows.append(
        BenchRow("two processes, a short job", short_pair_s, "s", short_alone_s, short_alone_s / short_pair_s)
    )
    table.rows += _scheduler_rows(spec, short, pair_s, setup.progress)
    setup.progress.update_bar("experiment: finished rows")
    table.rows += [_bench_row_of_resuming(20), _bench_row_of_report(60)]
    table.notes.append("rows of processes and the scheduler: elapsed time with their start; other rows: processor time")
    return table


def _parse_work_specification(side: int) -> ExperimentSpecification:
    return parse_experiment(WORK_SPECIFICATION % (side, side), "bench.yaml", AGENT_SPECS_BY_KEY)


def _time_call_s(work: Callable[[], object], clock: Callable[[], float]) -> float:
    before = clock()
    work()
    return clock() - before


def _run_without_engine(spec: ExperimentSpecification) -> None:
    """Compute all tasks of an experiment in a plain loop, without the engine."""
    for task in iter_unfinished_tasks(spec, set()):
        worker.compute_task(task)


@contextmanager
def _temporary_store() -> Iterator[ResultStore]:
    """Open a results folder that is deleted afterwards."""
    with tempfile.TemporaryDirectory() as folder, open_store_for_writing(Path(folder)) as store:
        yield store


def _engine_seconds(
    spec: ExperimentSpecification, pool: Callable[[Path], pools.ExecutorFactory]
) -> tuple[float, float]:
    """Run an experiment; return the processor time of this process and the elapsed time, both in seconds."""
    with _temporary_store() as store:
        store.store_plan(spec)
        began_s, began = time.monotonic(), time.process_time()
        ExperimentEngine(
            store, pool(store.folder), ProgressBar(), iter_unfinished_tasks(spec, set()), spec.run_count
        ).run_all_tasks()
        return time.process_time() - began, time.monotonic() - began_s


def _scheduler_rows(
    spec: ExperimentSpecification, short: ExperimentSpecification, pair_s: float, progress: ProgressBar
) -> Iterator[BenchRow]:
    """Yield the row about a Dask scheduler, or nothing if Dask is not installed."""
    try:
        from distributed import LocalCluster
    except ImportError:
        return
    progress.update_bar("experiment: a scheduler with two workers")
    start: Any = LocalCluster
    with start(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        # first an untimed run, in which the workers import the program
        _engine_seconds(short, lambda folder: pools.choose_executor_factory(address, 1, folder))
        _, seconds = _engine_seconds(spec, lambda folder: pools.choose_executor_factory(address, 1, folder))
    yield BenchRow(
        "a scheduler with two workers", seconds, "s", pair_s, seconds / pair_s, BenchTarget(1.15, is_upper_limit=True)
    )


# --- resuming and reporting many runs -------------------------------------------------------------


def _fill_with_invented_results(store: ResultStore, weights: int) -> ExperimentSpecification:
    """Fill a store with invented results of 5,000 runs for each weight, and return their specification."""
    text = INVENTED_SPECIFICATION % ", ".join(f"{1 + i / 100}" for i in range(weights))
    spec = parse_experiment(text, "bench.yaml", AGENT_SPECS_BY_KEY)
    store.store_plan(spec)
    names = [column.name for column in (*MEASURED_COLUMNS, *PROCESSOR_TIME_COLUMNS)]
    usual_cells: dict[str, Any] = dict.fromkeys(names, 1) | {"outcome": "reached", "digest": "0" * 16}
    lines = []
    for row, key, *_ in iter_planned_rows(spec):
        cells = usual_cells | {
            "cost": 10.5 + row % 97,
            "suboptimality": 1.0 + row % 13 / 7,
            "expansions": row % 5000 + 1,
        }
        lines.append((key, *(cells[name] for name in names)))
    store.add(lines)
    return spec


def _bench_row_of_resuming(weights: int) -> BenchRow:
    with _temporary_store() as store:
        spec = _fill_with_invented_results(store, weights)
        write_csv_tables(store)

        def again() -> None:
            store.store_plan(spec)
            store.progress_counts()
            assert not list(iter_unfinished_tasks(spec, store.done()))

        seconds = _time_call_s(again, time.process_time)
    return BenchRow(
        f"going on with {spec.run_count:,} finished runs", seconds, "s", target=BenchTarget(2.0, is_upper_limit=True)
    )


def _bench_row_of_report(weights: int) -> BenchRow:
    with _temporary_store() as store:
        spec = _fill_with_invented_results(store, weights)

        def report() -> None:
            frame = store.load_frame()
            settings_table(frame, AGENT_NAMES)
            comparison_table(frame, AGENT_NAMES)
            standard_charts(frame, AGENT_NAMES)

        seconds = _time_call_s(report, time.process_time)
    return BenchRow(
        f"tables and charts of {spec.run_count:,} runs", seconds, "s", target=BenchTarget(20.0, is_upper_limit=True)
    )
