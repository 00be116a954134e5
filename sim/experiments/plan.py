"""From a specification to its runs: which world each is made in, what it is called, and how they are cut into tasks.

A run is known by its key: a digest of everything that its result depends on, the program included. Results that have
the key already are never computed again, whatever else was changed in a specification.
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
    """One agent in a world, and where its results belong."""

    kind: str
    params: Mapping[str, Value]
    budget: int
    key: bytes


@dataclass(frozen=True)
class Job:
    """One world: a problem and those who walk on it. Small, because it travels."""

    start: tuple[int, int]
    goal: tuple[int, int]
    seed: int
    changes: RandomChanges | None
    trials: int
    moves: int
    ticks: int
    measures: bool
    walks: tuple[Walk, ...]


@dataclass(frozen=True)
class Task:
    """Some worlds on one map, for one worker."""

    board: Packed
    jobs: tuple[Job, ...]
    code: str  # the program that is to run it; another one would give other results

    @property
    def runs(self) -> int:
        return sum(len(job.walks) for job in self.jobs)


@dataclass(frozen=True)
class Batch:
    """Everything of one part that walks under one setting (or together): the same but for the problem."""

    part: Part
    settings: tuple[Setting, ...]
    changes: RandomChanges | None
    seed: int
    first_row: int

    def row(self, case: int, setting: int) -> int:
        """The number of a run: all problems of the first setting, then those of the second."""
        return self.first_row + setting * len(self.part.cases) + case

    def world_seed(self, case: Case) -> int:
        """Another one for each problem of a map, and for each seed of the specification."""
        return seed_of_problem(self.seed, case.number)


def batches(spec: Specification) -> Iterator[Batch]:
    """All of an experiment in its fixed order: parts, changes, seeds, settings, problems."""
    row = 0
    for part in spec.parts:
        for changes in part.changes:
            for seed in part.seeds:
                for settings in [part.settings] if part.together else [(s,) for s in part.settings]:
                    yield Batch(part, settings, changes, seed, row)
                    row += len(settings) * len(part.cases)


# --- keys -----------------------------------------------------------------------------------------


def setting_text(setting: Setting) -> str:
    """A setting in one canonical line."""
    return f"{setting.kind} {params_text(setting.params)} {setting.budget}"


def params_text(params: Mapping[str, Value]) -> str:
    return json.dumps(dict(params), separators=(",", ":"))


class Keys:
    """The keys of the runs of one batch."""

    def __init__(self, batch: Batch) -> None:
        part, changes = batch.part, batch.changes
        dynamics = f"{changes.every} {changes.rate}" + ("" if changes.repeats else " once") if changes else "-"
        limits = f"{part.trials} {part.moves} {part.ticks} {part.measures}"
        company = "; ".join(map(setting_text, batch.settings)) if part.together else ""
        self._batch = batch
        begun = blake2b(f"{code_version()}|{dynamics}|{limits}|{company}|".encode(), digest_size=16)
        self._begun: list[Any] = []
        for setting in batch.settings:
            own = begun.copy()
            own.update(setting_text(setting).encode())
            self._begun.append(own)

    def of(self, case: Case) -> list[bytes]:
        """One for each setting of the batch."""
        seed = self._batch.world_seed(case)
        text = f"|{case.board.key}|{case.start}|{case.goal}|{seed}".encode()
        return [_digest(begun, text) for begun in self._begun]


def _digest(begun: Any, text: bytes) -> bytes:
    whole = begun.copy()
    whole.update(text)
    found: bytes = whole.digest()
    return found


# --- rows and tasks -------------------------------------------------------------------------------


def planned_rows(spec: Specification) -> Iterator[tuple[Any, ...]]:
    """(row, key, *columns.PLANNED) of every run, in order."""
    for batch in batches(spec):
        keys = Keys(batch)
        lines = [(keys.of(case), case) for case in batch.part.cases]
        every, rate = (batch.changes.every, batch.changes.rate) if batch.changes else (None, None)
        for number, setting in enumerate(batch.settings):
            params = params_text(setting.params)
            tail = (setting.kind, params, setting.label, setting.budget, batch.seed, every, rate)
            for place, (found, case) in enumerate(lines):
                board = case.board
                of_map = (board.states, board.grid.movement.rule, board.grid.diagonal)
                head = (batch.part.name, board.name, *case.start, *case.goal, case.listed, *of_map)
                yield (batch.row(place, number), found[number], *head, *tail)


class Packer:
    """Packs each map once."""

    def __init__(self) -> None:
        self._packed: dict[str, Packed] = {}

    def pack(self, board: Board) -> Packed:
        if board.key not in self._packed:
            self._packed[board.key] = packed(board)
        return self._packed[board.key]


def tasks(spec: Specification, done: set[bytes]) -> Iterator[Task]:
    """What is not done yet, in slices of some problems on one map."""
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
    part = batch.part
    walks = tuple(Walk(s.kind, s.params, s.budget, key) for s, key in zip(batch.settings, keys, strict=True))
    seed = batch.world_seed(case)
    return Job(case.start, case.goal, seed, batch.changes, part.trials, part.moves, part.ticks, part.measures, walks)


def split(task: Task) -> list[Task]:
    """The same work, a world a task: to find the one that is to blame."""
    return [Task(task.board, (job,), task.code) for job in task.jobs]


def find_row(spec: Specification, row: int) -> tuple[Batch, Case, Setting]:
    """What a row of the results is about."""
    for batch in batches(spec):
        place = row - batch.first_row
        if 0 <= place < len(batch.settings) * len(batch.part.cases):
            setting, case = divmod(place, len(batch.part.cases))
            return batch, batch.part.cases[case], batch.settings[setting]
    raise IndexError(row)
