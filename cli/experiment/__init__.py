"""Command `experiment`: run agents on many problems, on all processors or on a cluster; see docs/experiments.md."""

import time
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agents.registry import AGENT_SPECS_BY_KEY
from cli.arguments import (
    FURTHER_MAPS_HELP,
    CommandParser,
    add_maps_option,
    argparse_arguments_of_param,
    help_with_default,
    param_converter,
)
from cli.experiment import pools, worker
from cli.experiment.engine import ExperimentEngine, duration_text
from cli.interrupts import InterruptFlag, terminate_at_end_of_input
from cli.kernel_warm_up import warm_up_agents
from cli.progress import ProgressBar
from experiments.export import (
    RESULTS_FILE,
    import_pyarrow,
    write_csv_tables,
    write_downward_lab_properties,
    write_parquet,
)
from experiments.plan import WorkerTask, WorldJob, iter_unfinished_tasks
from experiments.specification import SIZES, ExperimentSpecification, load_experiment
from experiments.store import ResultStore, open_store_for_writing
from files.shipped_files import EXPERIMENTS, require_shipped_file
from sim.params import Param
from sim.plurals import count_with_noun
from sim.world_commands import AgentConfig

SIZE = Param("size", str, SIZES[0], "full, or the small size of the specification", choices=SIZES)
NICE = Param("nice", int, 0, "by how much to lower the priority of the processes, from 0 to 19", 0, 19)
_MAX_REASONS, _MAX_ROWS = 10, 3  # maximum number of reasons for failures that are printed, and of rows per reason
_SAMPLING_SECONDS = 5.0  # approximate seconds that a dry run spends on sample runs


def main(argv: Sequence[str]) -> int:
    args = _parser().parse_args(argv)
    if args.until_input_ends:
        terminate_at_end_of_input()
    spec = load_experiment(
        require_shipped_file(args.spec, EXPERIMENTS), AGENT_SPECS_BY_KEY, args.size, [Path(args.maps)]
    )
    progress = ProgressBar()
    for text in spec.omission_messages:
        progress.print_line(text)
    if args.dry_run:
        return print_run_estimate(spec, progress, args.jobs)
    return run_experiment(spec, args, progress)


def _parser() -> CommandParser:
    parser = CommandParser(
        "experiment",
        "Run every agent of a specification on every problem. After an interruption, the same command continues.",
    )
    parser.add_argument("spec", metavar="SPEC.yaml", help="what to run: a file, or the name of an example such as e6")
    parser.add_argument(
        "-o", "--output", metavar="FOLDER", help="where to store results (default: the name of SPEC without .yaml)"
    )
    parser.add_argument("--size", metavar="NAME", **argparse_arguments_of_param(SIZE))
    parser.add_argument(
        "--jobs",
        type=param_converter(pools.JOBS),
        default=pools.processor_count(),
        metavar="N",
        help=help_with_default(pools.JOBS.help, "one per processor"),
    )
    parser.add_argument("--cluster", metavar="ADDRESS", help="a Dask scheduler as tcp://HOST:PORT, or slurm")
    parser.add_argument("--nice", metavar="N", **argparse_arguments_of_param(NICE))
    parser.add_argument(
        "--until-input-ends",
        action="store_true",
        help="stop when standard input ends, for example with the calling program",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="only print the number of runs and an estimate of their time"
    )
    parser.add_argument("--lab", action="store_true", help="also write a properties file for Downward Lab")
    parser.add_argument(
        "--parquet", action="store_true", help="also write results.parquet (needs requirements-parquet.txt)"
    )
    add_maps_option(parser, FURTHER_MAPS_HELP)
    return parser


def run_experiment(spec: ExperimentSpecification, args: Namespace, progress: ProgressBar) -> int:
    """Compute all missing runs and write the files of results.

    Returns:
        The exit code: 0 if all runs have results, 1 if runs failed or the cluster was lost, 130 or 143 after a signal.
    """
    if args.parquet:
        import_pyarrow()  # raise the error about a missing package now, not after hours of computing
    folder = Path(args.output or Path(args.spec).stem)
    # choose the pool before the folder is created, because the cluster may be unreachable
    pool = pools.choose_executor_factory(args.cluster, args.jobs, folder, args.nice)
    with open_store_for_writing(folder) as store:
        code = compute_missing_runs(spec, store, pool, progress)
        if args.lab:
            write_downward_lab_properties(store)
        if args.parquet:
            write_parquet(store)
        return code


def compute_missing_runs(
    spec: ExperimentSpecification, store: ResultStore, pool: pools.ExecutorFactory, progress: ProgressBar
) -> int:
    """Compute all missing runs and return the exit code.

    A signal ends the computation. The files of results are written in any case.
    """
    with InterruptFlag() as interrupts:
        return _compute_interruptibly(spec, store, pool, progress, interrupts)


def _compute_interruptibly(
    spec: ExperimentSpecification,
    store: ResultStore,
    pool: pools.ExecutorFactory,
    progress: ProgressBar,
    interrupts: InterruptFlag,
) -> int:
    store.store_plan(spec)
    done, total = store.progress_counts()
    if done < total:
        # compile the kernels in this process first, so that workers find them in the cache
        interrupts.run_interruptibly(lambda: warm_up_agents(_agent_configs(spec), progress))
        already = f", {done:,} of them finished" if done else ""
        progress.print_line(f"{store.folder}: {total:,} runs{already}; {pool.description}")
    has_lost_cluster = False
    try:
        interrupts.run_interruptibly(
            lambda: ExperimentEngine(
                store, pool, progress, iter_unfinished_tasks(spec, store.done()), total - done
            ).run_all_tasks()
        )
    except pools.ClusterLostError:
        has_lost_cluster = True
    write_csv_tables(store)
    return _print_outcome(store, pool, interrupts.exit_code, has_lost_cluster, progress)


def _agent_configs(spec: ExperimentSpecification) -> list[AgentConfig]:
    settings = {s.kind: AgentConfig(s.kind, params=s.params) for part in spec.parts for s in part.settings}
    return list(settings.values())


def _print_outcome(
    store: ResultStore, pool: pools.ExecutorFactory, interrupted: int, has_lost_cluster: bool, progress: ProgressBar
) -> int:
    failures = store.failed_runs()
    _print_failures(store, failures, progress)
    done, total = store.progress_counts()
    if has_lost_cluster:
        progress.print_line(f"lost {pool.description}; finished results are kept, the other runs were not computed")
    stopped = "; stopped, run the same command to continue" if interrupted or has_lost_cluster else ""
    progress.print_line(f"{store.folder / RESULTS_FILE}: {done:,} of {total:,} runs{stopped}")
    return interrupted or (1 if failures or has_lost_cluster else 0)


def _print_failures(store: ResultStore, failures: Sequence[tuple[int, str]], progress: ProgressBar) -> None:
    """Print each reason for failures, with the first rows that failed for this reason."""
    rows_of: dict[str, list[int]] = {}
    for row, text in failures:
        rows_of.setdefault(text, []).append(row)
    for text, rows in list(rows_of.items())[:_MAX_REASONS]:
        for row in rows[:_MAX_ROWS]:
            progress.print_line(f"row {row}: {store.describe_planned_run(row)}: {text}")
        if len(rows) > _MAX_ROWS:
            progress.print_line(f"and {len(rows) - _MAX_ROWS:,} more rows with the same message")
    if len(rows_of) > _MAX_REASONS:
        progress.print_line(f"and {len(rows_of) - _MAX_REASONS:,} other reasons; the report lists all of them")


# --- dry run --------------------------------------------------------------------------------------


def print_run_estimate(spec: ExperimentSpecification, progress: ProgressBar, jobs: int) -> int:
    """Print the number of runs and an estimate of the time for all of them; return the exit code."""
    warm_up_agents(_agent_configs(spec), progress)
    settings = sum(len(part.settings) * len(part.changes) * len(part.seeds) for part in spec.parts)
    problems = sum(len(part.cases) for part in spec.parts)
    parts_note = f", {len(spec.parts)} parts" if len(spec.parts) > 1 else ""
    parts = count_with_noun(problems, "problem"), count_with_noun(settings, "setting")
    print(f"{count_with_noun(spec.run_count, 'run')}: {', '.join(parts)}{parts_note}")
    seconds, tried = estimate_experiment_time(spec)
    print(
        f"about {duration_text(seconds)} of processor time, {duration_text(seconds / jobs)} with {jobs} processes"
        f" (from {tried} sample runs)"
    )
    return 0


def estimate_experiment_time(spec: ExperimentSpecification) -> tuple[float, int]:
    """Estimate the time of an experiment from sample runs.

    Returns:
        The seconds that all runs would take on one processor, and the number of problems that were tried.
    """
    began, total, tried = time.monotonic(), 0.0, 0
    tasks = list(iter_unfinished_tasks(replace(spec, max_task_problems=1_000_000), set()))
    for task in tasks:
        share = max(0.02, _SAMPLING_SECONDS / len(tasks))
        spent, count, until = 0.0, 0, time.monotonic() + share
        for job in _sample_jobs_spread_over_task(task):
            before = time.thread_time()
            worker.compute_task(WorkerTask(task.packed_map, (job,), task.program_version))
            spent += time.thread_time() - before
            count += 1
            if time.monotonic() > until:
                break
        total += spent / count * len(task.jobs)
        tried += count
        if time.monotonic() - began > 4 * _SAMPLING_SECONDS:
            done = tasks.index(task) + 1
            return total * sum(t.run_count for t in tasks) / sum(t.run_count for t in tasks[:done]), tried
    return total, tried


def _sample_jobs_spread_over_task(task: WorkerTask) -> list[WorldJob]:
    """Return up to 50 jobs of a task, in an order in which already the first few are spread over the whole task."""
    count = len(task.jobs)
    step = next((s for s in (7919, 104729, 1) if count % s or s == 1), 1)
    return [task.jobs[(i * step + count // 2) % count] for i in range(min(count, 50))]
