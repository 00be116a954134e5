"""Plan an experiment: list the runs of a specification, with their keys and row numbers, and form tasks for workers.

The key of a run is a digest of everything that its result depends on, including the version of the program. A run
whose key already has results is never computed again, even if other parts of the specification have changed.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from sim.changes import RandomChanges
from sim.experiments.code_version import code_version
from sim.experiments.problems import Board, Case, Packed, packed
from sim.experiments.spec import Part, Setting, Specification
from sim.joining import seed_of_problem
from sim.params import Value


@dataclass(frozen=True)
class Walk:
    """One agent of a job: its kind, parameters and budget, and the key under which its results are stored."""

    kind: str  # key of the agent, such as tb-wa
    params: Mapping[str, Value]
    budget: int  # expansions per tick
    key: bytes  # key of the run in the results: a digest of everything that the results depend on


@dataclass(frozen=True)
class Job:
    """One world to simulate: a problem, and the agents that solve it at the same time.

    Jobs are pickled and sent to workers, so they are kept small. The map is not part of a job but of its task.
    """

    start: tuple[int, int]
    goal: tuple[int, int]
    seed: int  # seed of all random numbers in the world
    changes: RandomChanges | None  # random changes of the map; None: no changes
    trials: int  # maximum number of walks from start to goal per agent
    moves: int  # maximum number of moves of an agent
    ticks: int  # maximum number of ticks of the world
    measures: bool  # whether non-optimal moves are counted, which takes extra searches for true distances
    walks: tuple[Walk, ...]


@dataclass(frozen=True)
class Task:
    """Work sent to a worker process at once: several jobs on the same map."""

    board: Packed  # compressed map of all jobs
    jobs: tuple[Job, ...]
    code: str  # code_version() of the program that planned the task; workers with another version must refuse it

    @property
    def runs(self) -> int:
        """Return the number of runs (agents in worlds) that the jobs of this task contain."""
        return sum(len(job.walks) for job in self.jobs)


@dataclass(frozen=True)
class Batch:
    """Runs with the same settings, random changes and seed, on all problems of one part of the experiment.

    A batch has one setting, or all settings of the part if they run in one world (`Part.together`).
    """

    part: Part
    settings: tuple[Setting, ...]
    changes: RandomChanges | None  # random changes of the map; None: no changes
    seed: int  # one of the seeds in the specification
    first_row: int  # row number of the batch's first run in the results

    def row(self, case: int, setting: int) -> int:
        """Return the row number of a run in the results. Rows are ordered by setting first, then by problem.

        Args:
            case: Index of the problem in the part.
            setting: Index of the setting in the batch.
        """
        return self.first_row + setting * len(self.part.cases) + case

    def world_seed(self, case: Case) -> int:
        """Return the seed of the world for one problem, derived from the batch's seed and the problem's number."""
        return seed_of_problem(self.seed, case.number)


def batches(spec: Specification) -> Iterator[Batch]:
    """Yield all batches of an experiment in a fixed order: by part, random changes, seed and setting."""
    row = 0
    for part in spec.parts:
        for changes in part.changes:
            for seed in part.seeds:
                for settings in [part.settings] if part.together else [(s,) for s in part.settings]:
                    yield Batch(part, settings, changes, seed, row)
                    row += len(settings) * len(part.cases)


# --- keys -----------------------------------------------------------------------------------------


def setting_text(setting: Setting) -> str:
    """Return a setting (agent, parameters, budget) as one canonical line of text, to be hashed."""
    return f"{setting.kind} {params_text(setting.params)} {setting.budget}"


def params_text(params: Mapping[str, Value]) -> str:
    return json.dumps(dict(params), separators=(",", ":"))


class Keys:
    """Calculator of the keys under which the results of one batch's runs are stored."""

    def __init__(self, batch: Batch) -> None:
        part, changes = batch.part, batch.changes
        dynamics = f"{changes.every} {changes.rate}" + ("" if changes.repeats else " once") if changes else "-"
        limits = f"{part.trials} {part.moves} {part.ticks} {part.measures}"
        company = "; ".join(map(setting_text, batch.settings)) if part.together else ""
        self._batch = batch
        begun = blake2b(f"{code_version()}|{dynamics}|{limits}|{company}|".encode(), digest_size=16)
        self._begun: list[Any] = []  # hash state of each setting, to which only the data of a problem must be added
        for setting in batch.settings:
            own = begun.copy()
            own.update(setting_text(setting).encode())
            self._begun.append(own)

    def of(self, case: Case) -> list[bytes]:
        """Return the keys of the runs on a problem, one for each setting of the batch."""
        seed = self._batch.world_seed(case)
        text = f"|{case.board.key}|{case.start}|{case.goal}|{seed}".encode()
        return [_digest(begun, text) for begun in self._begun]


def _digest(begun: Any, text: bytes) -> bytes:
    """Return the digest of a hash state and a further text, without changing the hash state."""
    whole = begun.copy()
    whole.update(text)
    found: bytes = whole.digest()
    return found


# --- rows and tasks -------------------------------------------------------------------------------


def planned_rows(spec: Specification) -> Iterator[tuple[Any, ...]]:
    """Yield the planned columns (row, key, *columns.PLANNED) of every run, ordered by batch, setting and problem."""
    for batch in batches(spec):
        keys = Keys(batch)
        lines = [(keys.of(case), case) for case in batch.part.cases]
        every, rate = (batch.changes.every, batch.changes.rate) if batch.changes else (None, None)
        for number, setting in enumerate(batch.settings):
            params = params_text(setting.params)
            tail = (setting.kind, params, setting.label, setting.budget, batch.seed, every, rate)
            for index, (found, case) in enumerate(lines):
                board = case.board
                of_map = (board.states, board.grid.movement.rule, board.grid.diagonal)
                head = (batch.part.name, board.name, *case.start, *case.goal, case.listed, *of_map)
                yield (batch.row(index, number), found[number], *head, *tail)


class Packer:
    """Cache of compressed maps, so that each map is compressed only once for all tasks."""

    def __init__(self) -> None:
        self._packed_maps: dict[str, Packed] = {}

    def pack(self, board: Board) -> Packed:
        if board.key not in self._packed_maps:
            self._packed_maps[board.key] = packed(board)
        return self._packed_maps[board.key]


def tasks(spec: Specification, done: set[bytes]) -> Iterator[Task]:
    """Yield tasks for all runs that have no results yet.

    Each task has at most `spec.slice` problems, all on one map. A problem is left out if all of its runs in the
    batch already have results.

    Args:
        spec: The experiment.
        done: The keys of all runs that have results.
    """
    packer = Packer()
    for batch in batches(spec):
        keys = Keys(batch)
        jobs: list[Job] = []
        board: Board | None = None
        for case in batch.part.cases:
            found = keys.of(case)
            if done.issuperset(found):
                continue
            if board is not None and (len(jobs) == spec.slice or case.board.key != board.key):
                yield Task(packer.pack(board), tuple(jobs), code_version())
                jobs = []
            board = case.board
            jobs.append(job_of(batch, case, found))
        if board is not None and jobs:
            yield Task(packer.pack(board), tuple(jobs), code_version())


def job_of(batch: Batch, case: Case, keys: Iterable[bytes]) -> Job:
    """Return the job (world to simulate) for one problem of a batch.

    Args:
        batch: The batch.
        case: The problem.
        keys: The keys of its runs, one for each setting of the batch.
    """
    part = batch.part
    walks = tuple(Walk(s.kind, s.params, s.budget, key) for s, key in zip(batch.settings, keys, strict=True))
    seed = batch.world_seed(case)
    return Job(case.start, case.goal, seed, batch.changes, part.trials, part.moves, part.ticks, part.measures, walks)


def split(task: Task) -> list[Task]:
    """Return a separate task for each job of a task, to find out which job crashes its worker."""
    return [Task(task.board, (job,), task.code) for job in task.jobs]


def find_row(spec: Specification, row: int) -> tuple[Batch, Case, Setting]:
    """Return the batch, problem and setting of a row of the results.

    Raises:
        IndexError: The experiment has no such row.
    """
    for batch in batches(spec):
        index = row - batch.first_row
        if 0 <= index < len(batch.settings) * len(batch.part.cases):
            setting, case = divmod(index, len(batch.part.cases))
            return batch, batch.part.cases[case], batch.settings[setting]
    raise IndexError(row)
