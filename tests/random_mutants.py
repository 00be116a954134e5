"""Random small changes of the program, each against the tests that execute its lines: `--random 100 --seed 1`.

Where a change can be is said in mutation_sites.py. Which tests execute which lines is recorded once: a test file at a
time, in a cache folder, by the content of the program and of that file. Later runs record only files that are new or
changed; a new program records all of them, which takes some minutes. Kernels run uncompiled throughout.

For a mutant, the tests that execute its lines run in the order of their time until one fails. A test that takes much
longer than it did when it was recorded fails, too. What became of each mutant is kept, so that a run that was
interrupted goes on where it was; `--only 3 17` tries these mutants of a seed again.
"""

import difflib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from queue import SimpleQueue
from subprocess import CompletedProcess
from typing import TypeVar

from sim.system.user_folders import cache_folder
from tests.mutation_sites import Site, pick
from tests.program_copy import ROOT, copy_program, environment_in, run_tests

T, R = TypeVar("T"), TypeVar("R")

NOT_ASKED = frozenset({"test_mutants.py", "test_mutation_sites.py", "test_wheel.py", "test_real_window.py"})
"""Test files that compare source texts, or need minutes or a display."""

MAX_TEST_S = 10.0  # a test that takes longer uncompiled is not asked
MAX_TESTS_S = 60.0  # of recorded time for one mutant: where its lines are executed by more tests, the fastest are asked
TOO_LONG_S = 1800.0  # the tests of one mutant, or of one file
_MACHINERY = frozenset({"mutants.py", "random_mutants.py", "mutation_sites.py", "program_copy.py"})  # no test's helpers
_PROGRAM = (
    "sim",
    "files",
    "experiments",
    "agents",
    "ui",
    "cli",
    "benchmarks",
    "tools",
    "assets",
    "main.py",
    "pyproject.toml",
)


@dataclass(frozen=True)
class RecordedTest:
    """One test, how long it took, and the lines that it executed: a bit mask for each file."""

    id: str
    seconds: float
    lines: dict[str, int]


@dataclass(frozen=True)
class Verdict:
    """What became of one mutant."""

    number: int  # from 1
    is_noticed: bool
    seconds: float
    note: str  # the first test that failed, or why none did

    def line(self, site: Site) -> str:
        word = "noticed " if self.is_noticed else "SURVIVED"
        return f"{self.number:3} {word} {self.seconds:5.0f} s  {site.path}:{site.first_line} {site.kind}; {self.note}"


class Copies:
    """Two copies of the program; each is used by one worker at a time."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.free: SimpleQueue[Path] = SimpleQueue()
        for number in range(workers):
            (folder / str(number)).mkdir()
            self.free.put(copy_program(folder / str(number)))
        self.pool = ThreadPoolExecutor(workers)

    def map(self, work: Callable[[Path, T], R], items: Iterable[T]) -> Iterator[R]:
        """Yield the results of `work(root, item)` in the order of the items."""

        def one(item: T) -> R:
            root = self.free.get()
            try:
                return work(root, item)
            finally:
                self.free.put(root)

        return self.pool.map(one, items)


@dataclass(frozen=True)
class Sample:
    """Which mutants are tried, and against which tests."""

    count: int
    seed: int
    only: Sequence[int] = ()  # numbers of mutants; none: all
    within: str = ""  # only in files whose paths begin so
    test_files: Sequence[str] = ()  # names such as test_grid.py; none: all

    @property
    def name(self) -> str:
        """Return the name of the file that keeps what became of its mutants."""
        asked = blake2b(" ".join([self.within, *sorted(self.test_files)]).encode(), digest_size=4).hexdigest()
        return f"seed-{self.seed}-{asked}-{_digest_of_all()}.jsonl"


def try_random(sample: Sample, workers: int) -> int:
    """Try the mutants of a sample and print what became of each. 0: none survived."""
    folder = cache_folder() / "mutants"
    folder.mkdir(parents=True, exist_ok=True)
    only = sample.only
    sites = pick(ROOT, max(sample.count, *only) if only else sample.count, sample.seed, sample.within)
    chosen = [number for number in only or range(1, sample.count + 1) if number <= len(sites)]
    with tempfile.TemporaryDirectory(prefix="backmove-mutants-") as place:
        copies = Copies(Path(place), workers)
        tests = recorded_tests(folder, copies, sample.test_files)
        kept = Kept(folder / sample.name)
        if only:
            kept.forget(only)
        verdicts = dict[int, Verdict]()

        def verdict_of(root: Path, number: int) -> Verdict:
            return kept.verdicts.get(number) or kept.keep(_try(root, number, sites[number - 1], tests))

        for verdict in copies.map(verdict_of, chosen):
            verdicts[verdict.number] = verdict
            print(verdict.line(sites[verdict.number - 1]), flush=True)
    survivors = [number for number in chosen if not verdicts[number].is_noticed]
    for number in survivors:
        print(f"\n{number}: {verdicts[number].note}\n{difference(sites[number - 1])}")
    print(f"seed {sample.seed}: {len(chosen) - len(survivors)} of {len(chosen)} noticed, {len(survivors)} survived")
    return 1 if survivors else 0


def difference(site: Site) -> str:
    """Return what a mutant changes, as a diff."""
    source = (ROOT / site.path).read_bytes()
    old, new = (text.decode().splitlines() for text in (source, site.apply(source)))
    return "\n".join(difflib.unified_diff(old, new, site.path, site.path, n=2, lineterm=""))


class Kept:
    """What became of the mutants of one seed, in a file: a run that was interrupted goes on from there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        rows = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        self.verdicts = {verdict.number: verdict for row in rows for verdict in [Verdict(**json.loads(row))]}

    def keep(self, verdict: Verdict) -> Verdict:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(verdict.__dict__) + "\n")
        return verdict

    def forget(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            self.verdicts.pop(number, None)


# --- one mutant -------------------------------------------------------------------------------------------


def tests_of(site: Site, tests: Sequence[RecordedTest]) -> list[RecordedTest]:
    """Return the tests that execute a line of the mutated node, the fastest first, as far as the time allows.

    Lines that are executed when a module is imported are not recorded for any test. Mutants of such lines are tried
    with the tests that execute any other line of the module.
    """
    executing = [test for test in tests if executes(test, site)]
    asked, left = list[RecordedTest](), MAX_TESTS_S
    for test in sorted(
        executing or [test for test in tests if site.path in test.lines], key=lambda t: (t.seconds, t.id)
    ):
        left -= test.seconds
        if test.seconds > MAX_TEST_S or left < 0:
            break
        asked.append(test)
    return asked


def executes(test: RecordedTest, site: Site) -> bool:
    return bool(test.lines.get(site.path, 0) & sum(1 << line for line in range(site.first_line, site.last_line + 1)))


def _try(root: Path, number: int, site: Site, tests: Sequence[RecordedTest]) -> Verdict:
    asked, began = tests_of(site, tests), time.monotonic()
    if not asked:
        return Verdict(number, False, 0.0, "no test executes its module")
    file = root / site.path
    source, times = file.read_bytes(), file.stat()
    wanted = root / "wanted.json"
    wanted.write_text(json.dumps([[test.id, test.seconds] for test in asked]), encoding="utf-8")
    environment = {**environment_in(root.parent, compiles=False), "BACKMOVE_RUN_TESTS": str(wanted)}
    files = sorted({test.id.split("::")[0] for test in asked})
    try:
        file.write_bytes(site.apply(source))
        done = run_tests(root, ["-x", "-p", "tests.mutation_plugin", *files], environment, TOO_LONG_S)
    finally:
        file.write_bytes(source)
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))  # what Python has compiled of it holds again
    seconds = round(time.monotonic() - began, 1)
    if done is not None and done.returncode == 5:
        raise RuntimeError(f"none of the recorded tests was found:\n{done.stdout}\n{done.stderr}")
    if done is None or done.returncode != 0:
        return Verdict(number, True, seconds, _first_failure(done))
    missed = "" if executes(asked[0], site) else ", none of which executes it"
    return Verdict(number, False, seconds, f"{len(asked)} tests pass{missed}")


def _first_failure(done: CompletedProcess[str] | None) -> str:
    """Return the id of the test that failed, or what else has noticed a mutant."""
    lines = done.stdout.splitlines() if done else []
    words = [line.split()[1] for line in lines if line.startswith(("FAILED ", "ERROR "))]
    if words:
        return words[0]
    return "the tests do not start" if done and done.returncode in (2, 3, 4) else "a test did not end"


# --- which tests execute which lines ----------------------------------------------------------------------


def recorded_tests(folder: Path, copies: Copies, names: Sequence[str] = ()) -> list[RecordedTest]:
    """Return every test that passes, with its lines; test files of which nothing is known are run. `names`: only of
    these files.
    """
    helpers = sorted(f for f in (ROOT / "tests").glob("*.py") if not _is_test_file(f) and f.name not in _MACHINERY)
    program = _digest([*_files_of(_PROGRAM), *helpers])
    files = sorted(f for f in (ROOT / "tests").glob("test_*.py") if f.name in names or not names)
    files = [file for file in files if file.name not in NOT_ASKED]
    known = {file: folder / f"{file.stem}-{program}-{_digest([file])}.jsonl" for file in files}
    missing = [file for file in files if not known[file].is_file()]
    if missing:
        print(f"recording which lines {len(missing)} test files execute", flush=True)
    for file in copies.map(lambda root, file: _record(root, file, known[file]), missing):
        print(f"  {file.name}", flush=True)
    return [test for file in files for test in _read(known[file])]


def _record(root: Path, file: Path, to: Path) -> Path:
    """Run one test file with the recorder; a test that does not end is left out, and the others are run again."""
    part = to.with_suffix(".part")
    part.unlink(missing_ok=True)
    environment = {**environment_in(root.parent, compiles=False), "BACKMOVE_RECORD_LINES": str(part)}
    while True:
        begun = _ids(part, "begun")
        skipped = [f"--deselect={name}" for name in begun]
        arguments = ["-p", "tests.mutation_plugin", *skipped, f"tests/{file.name}"]
        run_tests(root, arguments, environment, TOO_LONG_S)
        if set(_ids(part, "begun")) - set(begun) <= set(_ids(part, "test")):  # nothing is left, or it came to an end
            break
    part.touch()
    part.replace(to)
    for old in to.parent.glob(f"{file.stem}-*.jsonl"):
        if old != to:
            old.unlink()
    return file


def _rows(path: Path) -> Iterator[dict[str, object]]:
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def _ids(path: Path, key: str) -> list[str]:
    return [str(row[key]) for row in _rows(path) if key in row]


def _read(path: Path) -> Iterator[RecordedTest]:
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row.get("passed"):
            yield RecordedTest(row["test"], row["s"], {name: int(mask, 16) for name, mask in row["lines"].items()})


# --- digests ----------------------------------------------------------------------------------------------


def _is_test_file(file: Path) -> bool:
    return file.name.startswith("test_")


def _files_of(names: Iterable[str]) -> list[Path]:
    found = [ROOT / name for name in names]
    inside = [f for place in found if place.is_dir() for f in place.rglob("*") if f.is_file()]
    return sorted([f for f in found if f.is_file()] + [f for f in inside if "__pycache__" not in f.parts])


def _digest(files: Iterable[Path]) -> str:
    total = blake2b(digest_size=8)
    for file in files:
        total.update(file.relative_to(ROOT).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return total.hexdigest()


def _digest_of_all() -> str:
    return _digest(_files_of((*_PROGRAM, "tests")))
