"""Bench `experiment`: overhead of the engine, speed-up by two processes and a scheduler, and time to resume."""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agents.registry import BY_KEY
from cli.bench.setup import Setup
from cli.bench.table import Row, Table, Target
from cli.experiment import pools, worker
from cli.experiment.engine import Engine
from cli.progress import Progress
from cli.report import NAMES
from sim.experiments.charts import usual
from sim.experiments.columns import MEASURED, TIMES
from sim.experiments.files import write_tables
from sim.experiments.plan import planned_rows, tasks
from sim.experiments.spec import Specification, parse_experiment
from sim.experiments.store import Store, open_for_writing
from sim.experiments.summary import comparison_table, settings_table

# specification of the measured experiment, with placeholders for the sides of the maps
WORK = """format: backmove-experiment
version: 1
problems: {generate: {kind: caves, width: %d, height: %d, seed: [1, 2, 3, 4, 5]}, random: 100}
agents: [{kind: tb-wa, weight: [1, 1.4, 1.8, 2.2, 3]}]
budgets: [1, 16]
"""
SIDE, SHORT_SIDE = 768, 192
"""Sides of the maps in cells: SIDE gives twenty seconds of work, like the smallest experiments that come with the
program; SHORT_SIDE gives three seconds, for which the time to start processes matters."""
# specification of an experiment with invented results, with a placeholder for the weights
ROWS = """format: backmove-experiment
version: 1
problems: {generate: {kind: rooms, width: 64, height: 64, seed: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}, random: 100}
agents: [{kind: tb-wa, weight: [%s]}]
budgets: [1, 4, 16, 64, 256]
"""


def run(setup: Setup) -> Table:
    table = Table("experiment: 50 tasks of 100 problems, results of 100,000 and of 300,000 runs")
    setup.progress.show("experiment: in this process")
    spec, short = _work(SIDE), _work(SHORT_SIDE)
    bare = _seconds(lambda: _bare(spec), time.process_time)
    alone, alone_s = _engine_seconds(spec, lambda folder: pools.choose(None, 1, folder))
    table.rows.append(Row("engine over the bare loop", alone, "s", bare, alone / bare, Target(1.05, is_upper=True)))
    setup.progress.show("experiment: two processes")
    _, pair_s = _engine_seconds(spec, lambda folder: pools.choose(None, 2, folder))
    table.rows.append(Row("two processes", pair_s, "s", alone_s, alone_s / pair_s, Target(1.8)))
    _, short_alone_s = _engine_seconds(short, lambda folder: pools.choose(None, 1, folder))
    _, short_pair_s = _engine_seconds(short, lambda folder: pools.choose(None, 2, folder))
    table.rows.append(Row("two processes, a short job", short_pair_s, "s", short_alone_s, short_alone_s / short_pair_s))
    table.rows += _scheduler_rows(spec, short, pair_s, setup.progress)
    setup.progress.show("experiment: finished rows")
    table.rows += [_resume_row(20), _report(60)]
    table.notes.append("rows of processes and the scheduler: elapsed time with their start; other rows: processor time")
    return table


def _work(side: int) -> Specification:
    return parse_experiment(WORK % (side, side), "bench.yaml", BY_KEY)


def _seconds(work: Callable[[], object], clock: Callable[[], float]) -> float:
    before = clock()
    work()
    return clock() - before


def _bare(spec: Specification) -> None:
    """Compute all tasks of an experiment in a plain loop, without the engine."""
    for task in tasks(spec, set()):
        worker.work(task)


@contextmanager
def _folder() -> Iterator[Store]:
    """Open a results folder that is deleted afterwards."""
    with tempfile.TemporaryDirectory() as folder, open_for_writing(Path(folder)) as store:
        yield store


def _engine_seconds(spec: Specification, pool: Callable[[Path], pools.Pool]) -> tuple[float, float]:
    """Run an experiment; return the processor time of this process and the elapsed time, both in seconds."""
    with _folder() as store:
        store.set_plan(spec)
        began_s, began = time.monotonic(), time.process_time()
        Engine(store, pool(store.folder), Progress(), tasks(spec, set()), spec.count).run()
        return time.process_time() - began, time.monotonic() - began_s


def _scheduler_rows(spec: Specification, short: Specification, pair_s: float, progress: Progress) -> Iterator[Row]:
    """Yield the row about a Dask scheduler, or nothing if Dask is not installed."""
    try:
        from distributed import LocalCluster
    except ImportError:
        return
    progress.show("experiment: a scheduler with two workers")
    start: Any = LocalCluster
    with start(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        # first an untimed run, in which the workers import the program
        _engine_seconds(short, lambda folder: pools.choose(address, 1, folder))
        _, seconds = _engine_seconds(spec, lambda folder: pools.choose(address, 1, folder))
    yield Row("a scheduler with two workers", seconds, "s", pair_s, seconds / pair_s, Target(1.15, is_upper=True))


# --- resuming and reporting many runs -------------------------------------------------------------


def _filled(store: Store, weights: int) -> Specification:
    """Fill a store with invented results of 5,000 runs for each weight, and return their specification."""
    text = ROWS % ", ".join(f"{1 + i / 100}" for i in range(weights))
    spec = parse_experiment(text, "bench.yaml", BY_KEY)
    store.set_plan(spec)
    names = [column.name for column in (*MEASURED, *TIMES)]
    usual_cells: dict[str, Any] = dict.fromkeys(names, 1) | {"outcome": "reached", "digest": "0" * 16}
    lines = []
    for row, key, *_ in planned_rows(spec):
        cells = usual_cells | {
            "cost": 10.5 + row % 97,
            "suboptimality": 1.0 + row % 13 / 7,
            "expansions": row % 5000 + 1,
        }
        lines.append((key, *(cells[name] for name in names)))
    store.add(lines)
    return spec


def _resume_row(weights: int) -> Row:
    with _folder() as store:
        spec = _filled(store, weights)
        write_tables(store)

        def again() -> None:
            store.set_plan(spec)
            store.count()
            assert not list(tasks(spec, store.done()))

        seconds = _seconds(again, time.process_time)
    return Row(f"going on with {spec.count:,} finished runs", seconds, "s", target=Target(2.0, is_upper=True))


def _report(weights: int) -> Row:
    with _folder() as store:
        spec = _filled(store, weights)

        def report() -> None:
            frame = store.frame()
            settings_table(frame, NAMES)
            comparison_table(frame, NAMES)
            usual(frame, NAMES)

        seconds = _seconds(report, time.process_time)
    return Row(f"tables and charts of {spec.count:,} runs", seconds, "s", target=Target(20.0, is_upper=True))
