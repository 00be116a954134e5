"""Small experiments for tests: a few generated maps, agents that take different times."""

from collections.abc import Sequence
from pathlib import Path

from agents.registry import AGENT_SPECS_BY_KEY
from cli.experiment import pools
from cli.experiment.engine import ExperimentEngine
from cli.progress import ProgressBar
from experiments.export import write_csv_tables
from experiments.plan import iter_unfinished_tasks
from experiments.specification import ExperimentSpecification, parse_experiment
from experiments.store import ResultStore, open_store_for_writing

HEAD = "format: backmove-experiment\nversion: 1\n"
TINY = (
    HEAD
    + """
problems: {generate: {kind: rooms, width: 32, height: 32, seed: [1, 2, 3]}, random: 4, seed: 5}
agents: ["tb-wa:weight=1", {kind: tb-wa, weight: [1.4, 3]}, lrta]
budgets: [1, 16]
slice: 3
"""
)
SLOWER = (
    HEAD
    + """
problems: {generate: {kind: caves, width: 96, height: 96, seed: [1, 2, 3, 4]}, random: 10, seed: 5}
agents: [{kind: lrta, depth: [1, 2, 3, 4]}, rtaa, tba]
budgets: [16, 64]
slice: 2
"""
)


def spec_of(text: str, size: str = "full", folders: Sequence[Path] = ()) -> ExperimentSpecification:
    return parse_experiment(text, "x.yaml", AGENT_SPECS_BY_KEY, size, folders)


def engine_of(spec: ExperimentSpecification, store: ResultStore, jobs: int = 1) -> ExperimentEngine:
    store.store_plan(spec)
    done, whole = store.progress_counts()
    pool = pools.choose_executor_factory(None, jobs, store.folder)
    return ExperimentEngine(store, pool, ProgressBar(), iter_unfinished_tasks(spec, store.done()), whole - done)


def run_all(text: str, folder: Path, jobs: int = 1, size: str = "full", folders: Sequence[Path] = ()) -> bytes:
    """results.csv of an experiment."""
    store = open_store_for_writing(folder)
    engine_of(spec_of(text, size, folders), store, jobs).run_all_tasks()
    write_csv_tables(store)
    store.close()
    return (folder / "results.csv").read_bytes()
