"""Plan an experiment: list the runs of a specification, with their keys and row numbers, and form tasks for workers.

The key of a run is a digest of everything that its result depends on, including the version of the program. A run
whose key already has results is never computed again, even if other parts of the specification have changed.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from experiments.code_version import code_version
from experiments.problems import CompressedMap, MapData, ProblemInstance, compress_map
from experiments.specification import AgentSetting, ExperimentPart, ExperimentSpecification
from sim.agent_checks import seed_of_problem
from sim.changes import RandomChangeSchedule
from sim.params import Value


@dataclass(frozen=True)
class AgentRun:
    """One agent of a job: its kind, parameters and budget, and the key under which its results are stored."""

    kind: str  # key of the agent, such as tb-wa
    params: Mapping[str, Value]
    budget: int  # expansions per tick
    key: bytes  # key of the run in the results: a digest of everything that the results depend on


@dataclass(frozen=True)
class WorldJob:
    """One world to simulate: a problem, and the agents that solve it at the same time.

    Jobs are pickled and sent to workers, so they are kept small. The map is not part of a job but of its task.
    """

    start: tuple[int, int]
    goal: tuple[int, int]
    seed: int  # seed of all random numbers in the world
    changes: RandomChangeSchedule | None  # random changes of the map; None: no changes
    max_trials: int  # maximum number of walks from start to goal per agent
    moves: int  # maximum number of moves of an agent
    ticks: int  # maximum number of ticks of the world
    # Whether non-optimal moves are counted, which takes extra searches for true distances.
    counts_nonoptimal_moves: bool
    agent_runs: tuple[AgentRun, ...]


@dataclass(frozen=True)
class WorkerTask:
    """Work sent to a worker process at once: several jobs on the same map."""

    packed_map: CompressedMap  # compressed map of all jobs
    jobs: tuple[WorldJob, ...]
    # code_version() of the program that planned the task; workers with another version must refuse it.
    program_version: str

    @property
    def run_count(self) -> int:
        """Return the number of runs (agents in worlds) that the jobs of this task contain."""
        return sum(len(job.agent_runs) for job in self.jobs)


@dataclass(frozen=True)
class RunBatch:
    """Runs with the same settings, random changes and seed, on all problems of one part of the experiment.

    A batch has one setting, or all settings of the part if they run in one world (`ExperimentPart.is_one_world`).
    """

    part: ExperimentPart
    settings: tuple[AgentSetting, ...]
    changes: RandomChangeSchedule | None  # random changes of the map; None: no changes
    seed: int  # one of the seeds in the specification
    first_row: int  # row number of the batch's first run in the results

    def results_row_number(self, case: int, setting: int) -> int:
        """Return the row number of a run in the results. Rows are ordered by setting first, then by problem.

        Args:
            case: Index of the problem in the part.
            setting: Index of the setting in the batch.
        """
        return self.first_row + setting * len(self.part.cases) + case

    def world_seed(self, case: ProblemInstance) -> int:
        """Return the seed of the world for one problem, derived from the batch's seed and the problem's number."""
        return seed_of_problem(self.seed, case.problem_number)


def iter_run_batches(spec: ExperimentSpecification) -> Iterator[RunBatch]:
    """Yield all batches of an experiment in a fixed order: by part, random changes, seed and setting."""
    row = 0
    for part in spec.parts:
        for changes in part.changes:
            for seed in part.seeds:
                for settings in [part.settings] if part.is_one_world else [(s,) for s in part.settings]:
                    yield RunBatch(part, settings, changes, seed, row)
                    row += len(settings) * len(part.cases)


# --- keys -----------------------------------------------------------------------------------------


def canonical_setting_text(setting: AgentSetting) -> str:
    """Return a setting (agent, parameters, budget) as one canonical line of text, to be hashed."""
    return f"{setting.kind} {params_json(setting.params)} {setting.budget}"


def params_json(params: Mapping[str, Value]) -> str:
    return json.dumps(dict(params), separators=(",", ":"))


class RunKeyCalculator:
    """Calculator of the keys under which the results of one batch's runs are stored."""

    def __init__(self, batch: RunBatch) -> None:
        part, changes = batch.part, batch.changes
        dynamics = (
            f"{changes.interval_ticks} {changes.changed_percent}" + ("" if changes.repeats else " once")
            if changes
            else "-"
        )
        limits = f"{part.max_trials} {part.moves} {part.ticks} {part.counts_nonoptimal_moves}"
        company = "; ".join(map(canonical_setting_text, batch.settings)) if part.is_one_world else ""
        self._batch = batch
        begun = blake2b(f"{code_version()}|{dynamics}|{limits}|{company}|".encode(), digest_size=16)
        # Hash state of each setting, to which only the data of a problem must be added.
        self._setting_hashes: list[Any] = []
        for setting in batch.settings:
            own = begun.copy()
            own.update(canonical_setting_text(setting).encode())
            self._setting_hashes.append(own)

    def run_keys_for_problem(self, case: ProblemInstance) -> list[bytes]:
        """Return the keys of the runs on a problem, one for each setting of the batch."""
        seed = self._batch.world_seed(case)
        text = f"|{case.map_data.digest}|{case.start}|{case.goal}|{seed}".encode()
        return [_digest_with_further_text(begun, text) for begun in self._setting_hashes]


def _digest_with_further_text(begun: Any, text: bytes) -> bytes:
    """Return the digest of a hash state and a further text, without changing the hash state."""
    extended = begun.copy()
    extended.update(text)
    digest: bytes = extended.digest()
    return digest


# --- rows and tasks -------------------------------------------------------------------------------


def iter_planned_rows(spec: ExperimentSpecification) -> Iterator[tuple[Any, ...]]:
    """Yield (row, key, *columns.PLANNED_COLUMNS) of every run, ordered by batch, setting and problem."""
    for batch in iter_run_batches(spec):
        keys = RunKeyCalculator(batch)
        lines = [(keys.run_keys_for_problem(case), case) for case in batch.part.cases]
        every, rate = (batch.changes.interval_ticks, batch.changes.changed_percent) if batch.changes else (None, None)
        for number, setting in enumerate(batch.settings):
            params = params_json(setting.params)
            tail = (setting.kind, params, setting.label, setting.budget, batch.seed, every, rate)
            for index, (run_keys, case) in enumerate(lines):
                board = case.map_data
                map_columns = (board.free_cell_count, board.grid.movement.rule, board.grid.diagonal_cost)
                head = (batch.part.name, board.name, *case.start, *case.goal, case.listed_optimal, *map_columns)
                yield (batch.results_row_number(index, number), run_keys[number], *head, *tail)


class CompressedMapCache:
    """Cache of compressed maps, so that each map is compressed only once for all tasks."""

    def __init__(self) -> None:
        self._packed_maps: dict[str, CompressedMap] = {}

    def compressed_map(self, board: MapData) -> CompressedMap:
        if board.digest not in self._packed_maps:
            self._packed_maps[board.digest] = compress_map(board)
        return self._packed_maps[board.digest]


def iter_unfinished_tasks(spec: ExperimentSpecification, done: set[bytes]) -> Iterator[WorkerTask]:
    """Yield tasks for all runs that have no results yet.

    Each task has at most `spec.max_task_problems` problems, all on one map. A problem is left out if all of its runs in
    the batch already have results.

    Args:
        spec: The experiment.
        done: The keys of all runs that have results.
    """
    packer = CompressedMapCache()
    for batch in iter_run_batches(spec):
        keys = RunKeyCalculator(batch)
        jobs: list[WorldJob] = []
        board: MapData | None = None
        for case in batch.part.cases:
            run_keys = keys.run_keys_for_problem(case)
            if done.issuperset(run_keys):
                continue
            if board is not None and (len(jobs) == spec.max_task_problems or case.map_data.digest != board.digest):
                yield WorkerTask(packer.compressed_map(board), tuple(jobs), code_version())
                jobs = []
            board = case.map_data
            jobs.append(create_world_job(batch, case, run_keys))
        if board is not None and jobs:
            yield WorkerTask(packer.compressed_map(board), tuple(jobs), code_version())


def create_world_job(batch: RunBatch, case: ProblemInstance, keys: Iterable[bytes]) -> WorldJob:
    """Return the job (world to simulate) for one problem of a batch.

    Args:
        batch: The batch.
        case: The problem.
        keys: The keys of its runs, one for each setting of the batch.
    """
    part = batch.part
    walks = tuple(AgentRun(s.kind, s.params, s.budget, key) for s, key in zip(batch.settings, keys, strict=True))
    seed = batch.world_seed(case)
    return WorldJob(
        case.start,
        case.goal,
        seed,
        batch.changes,
        part.max_trials,
        part.moves,
        part.ticks,
        part.counts_nonoptimal_moves,
        walks,
    )


def split_task(task: WorkerTask) -> list[WorkerTask]:
    """Return a separate task for each job of a task, to find out which job crashes its worker."""
    return [WorkerTask(task.packed_map, (job,), task.program_version) for job in task.jobs]


def find_planned_row(spec: ExperimentSpecification, row: int) -> tuple[RunBatch, ProblemInstance, AgentSetting]:
    """Return the batch, problem and setting of a row of the results.

    Raises:
        IndexError: The experiment has no such row.
    """
    for batch in iter_run_batches(spec):
        index = row - batch.first_row
        if 0 <= index < len(batch.settings) * len(batch.part.cases):
            setting, case = divmod(index, len(batch.part.cases))
            return batch, batch.part.cases[case], batch.settings[setting]
    raise IndexError(row)
