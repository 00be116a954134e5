"""The results of an experiment on disk: one SQLite file with one writer.

What a line of results depends on is its key (plan.py); the plan says which keys the present specification asks for, and
in which order. A killed program loses the task it was at and nothing else.
"""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import numpy as np

from sim.experiments.code_version import code_version
from sim.experiments.columns import MEASURED, OF_WHO_ARRIVED, OF_WHOLE_RUNS, PLANNED, TIMES, Column
from sim.experiments.frame import DamageError, Frame, frame_of, shared_out
from sim.experiments.plan import planned_rows
from sim.experiments.problems import Board
from sim.experiments.spec import Specification
from sim.files.disk import make_folder
from sim.params import ConfigError, shown
from sim.program import NAME

FILE, LOCK = "results.db", "lock"
_TYPES = {int: "INTEGER", float: "REAL", str: "TEXT"}


def _declared(columns: Iterable[Column]) -> str:
    return ", ".join(f'"{column.name}" {_TYPES[column.kind]}' for column in columns)


_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS plan (row INTEGER PRIMARY KEY, key BLOB, {_declared(PLANNED)});
CREATE TABLE IF NOT EXISTS results (key BLOB, {_declared((*MEASURED, *TIMES))}, PRIMARY KEY (key, trial)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS failures (key BLOB PRIMARY KEY, text TEXT) WITHOUT ROWID;
"""


class Store:
    """An open folder of results."""

    def __init__(self, folder: Path, connection: sqlite3.Connection, lock: sqlite3.Connection | None = None) -> None:
        self.folder, self._db, self._lock = folder, connection, lock

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()
        if self._lock is not None:
            self._lock.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A whole change or none; a disk that is full is said, and what was there stays."""
        try:
            with self._db:
                yield
        except sqlite3.Error as error:
            raise ConfigError(
                f"{self.folder / FILE}: cannot be written: {error}; what was done so far is kept, and the same"
                " command goes on from there"
            ) from error

    # --- what is to be done ---

    def set_plan(self, spec: Specification) -> None:
        """Put the runs of a specification in the place of those before."""
        wanted = f"{code_version()}{_versions_of(spec)} {spec.size} {_maps_of(spec)}\n{spec.text}"
        if self.meta("plan") == wanted:
            return
        marks = ", ".join("?" * (2 + len(PLANNED)))
        with self._writing():
            self._db.execute("DELETE FROM plan")
            self._db.execute("DELETE FROM failures")
            self._db.executemany(f"INSERT INTO plan VALUES ({marks})", planned_rows(spec))
            self._set_meta("plan", wanted)
            self._set_meta("specification", spec.text)
            self._set_meta("name", spec.name)
            self._set_meta("folder", spec.folder)
            self._set_meta("size", spec.size)
            self._set_meta("cutoff", str(spec.cutoff))

    def is_planned_on(self, board: Board) -> bool:
        """Whether a map is still the one that the results are of."""
        return _word_of(board) in self.meta("plan").partition("\n")[0]

    def _ask(self, query: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        """What the file answers. Where it is damaged, or not ours, that is said."""
        try:
            # `yield from` would also close the cursor when this generator is closed, which fails after the database.
            for row in self._db.execute(query, values):  # noqa: UP028
                yield row
        except sqlite3.Error as error:
            raise ConfigError(f"{self.folder / FILE}: cannot be read: {error}") from error

    def _set_meta(self, name: str, value: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def meta(self, name: str) -> str:
        found = next(self._ask("SELECT value FROM meta WHERE name = ?", name), None)
        return str(found[0]) if found else ""

    def remember(self, name: str, value: str) -> None:
        with self._writing():
            self._set_meta(name, value)

    # --- what is done ---

    def done(self) -> set[bytes]:
        """The keys of all results, also of those that the present plan does not ask for."""
        return {key for (key,) in self._ask("SELECT DISTINCT key FROM results")}

    def count(self) -> tuple[int, int]:
        """(runs of the plan that are done, all of them)."""
        [(whole,)] = self._ask("SELECT COUNT(*) FROM plan")
        [(done,)] = self._ask("SELECT COUNT(*) FROM plan WHERE key IN (SELECT key FROM results)")
        return int(done), int(whole)

    def add(self, lines: Sequence[Sequence[Any]], failures: Sequence[tuple[bytes, str]] = ()) -> None:
        """Keep the results of a task. Lines that are there already are the same and are left."""
        names = ["key", *(column.name for column in (*MEASURED, *TIMES))]
        marks = ", ".join("?" * len(names))
        with self._writing():
            self._db.executemany(f"INSERT OR IGNORE INTO results ({', '.join(names)}) VALUES ({marks})", lines)
            self._db.executemany("DELETE FROM failures WHERE key = ?", {(line[0],) for line in lines})
            self._db.executemany("INSERT OR REPLACE INTO failures VALUES (?, ?)", failures)

    def failures(self) -> list[tuple[int, str]]:
        """(row, why) of the runs that could not be done."""
        query = "SELECT row, text FROM plan JOIN failures USING (key) ORDER BY row"
        return [(int(row), str(text)) for row, text in self._ask(query)]

    def problem_of(self, row: int) -> str:
        """What a row is about, in a few words."""
        names = "map", "start_x", "start_y", "goal_x", "goal_y", "label", "agent", "budget"
        query = f"SELECT {', '.join(names)} FROM plan WHERE row = ?"
        name, x, y, goal_x, goal_y, label, agent, budget = self._db.execute(query, (row,)).fetchone()
        return f"{name}, {x},{y} to {goal_x},{goal_y}, {label or agent} k={budget}"

    def ends_of(self, row: int) -> tuple[Any, ...] | None:
        """(map, start_x, start_y, goal_x, goal_y) of a row, None where there is no such row."""
        return next(self._ask("SELECT map, start_x, start_y, goal_x, goal_y FROM plan WHERE row = ?", row), None)

    def end_of(self, row: int) -> tuple[str, int] | None:
        """How the run of a row ended and after how many ticks, all its trials together; None where it was not done."""
        query = (
            "SELECT outcome, SUM(ticks) OVER () FROM plan JOIN results USING (key) WHERE row = ? ORDER BY trial DESC"
        )
        return next(self._ask(query, row), None)

    # --- reading ---

    def rows(self, columns: Sequence[str], more: str = "") -> Iterator[tuple[Any, ...]]:
        """Columns of the finished runs of the plan, in its order; empty those that were not known then."""
        known = {"row", *self._columns_of("plan"), *self._columns_of("results")}
        names = ", ".join(f'"{name}"' if name in known else "NULL" for name in columns)
        query = f"SELECT {names} FROM plan JOIN results USING (key) {more} ORDER BY row, trial"
        yield from self._ask(query)

    def _columns_of(self, table: str) -> set[str]:
        return {str(row[1]) for row in self._ask(f"PRAGMA table_info({table})")}

    def frame(self) -> Frame:
        """All finished runs as columns. How long a way is by the cheapest one is known of those that arrived."""
        names = ["row", *(c.name for c in (*PLANNED, *MEASURED, *TIMES))]
        try:
            frame = frame_of(names, self.rows(names))
            cutoff, most = int(self.meta("cutoff") or 0), frame.numbers("max_expansions")
        except ConfigError:
            raise
        except DamageError as error:
            raise ConfigError(f"{self.folder / FILE}: damaged or changed by hand: {error}") from error
        except (ValueError, TypeError) as error:
            raise ConfigError(f"{self.folder / FILE}: cannot be read: {shown(str(error))}") from error
        frame.columns["disqualified"] = ((most > cutoff) if cutoff else (most < 0)).astype(float)
        for name in OF_WHO_ARRIVED:
            frame.columns[name] = np.where(frame.numbers("arrived") > 0, frame.numbers(name), np.nan)
        for name in OF_WHOLE_RUNS:
            frame.columns[name] = shared_out(frame, name)
        return frame


def _versions_of(spec: Specification) -> str:
    """The states of the files of agents of the user's own: a file that was saved again asks for other runs."""
    settings = (setting for part in spec.parts for setting in part.settings)
    return "".join(sorted({f" {s.kind} {s.params['version']}" for s in settings if "version" in s.params}))


def _maps_of(spec: Specification) -> str:
    """What the text of a specification does not say: which maps its names meant."""
    return " ".join(sorted({_word_of(case.board) for part in spec.parts for case in part.cases}))


def _word_of(board: Board) -> str:
    return f"{board.name}={board.key}"


def open_for_writing(folder: Path) -> Store:
    """The folder's results, made if need be. A second program that wants to write there is refused."""
    make_folder(folder)
    lock = _locked(folder)
    try:
        db = _connected(folder / FILE, _make_tables)
    except sqlite3.Error as error:
        lock.close()
        raise ConfigError(f"{folder / FILE}: cannot be opened: {error}") from error
    return Store(folder, db, lock)


def _connected(place: Path | str, begin: Callable[[sqlite3.Connection], None]) -> sqlite3.Connection:
    """A file, or its URI, that proved to be ours by what `begin` does with it; one that is not is let go of again."""
    db = sqlite3.connect(place, uri=isinstance(place, str))
    try:
        begin(db)
    except sqlite3.Error:
        db.close()
        raise
    return db


def _make_tables(db: sqlite3.Connection) -> None:
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=NORMAL")
    db.executescript(f"BEGIN; {_SCHEMA} COMMIT")  # at once: who reads meanwhile finds all tables or none
    _leave_old_plan(db)
    _add_new_columns(db)


def _only_read(db: sqlite3.Connection) -> None:
    db.execute("PRAGMA query_only=ON")
    db.execute("SELECT 1 FROM plan LIMIT 1")


def _leave_old_plan(db: sqlite3.Connection) -> None:
    """A plan of a version that knew other columns goes: the specification says it all again."""
    if _columns_of(db, "plan") != ["row", "key", *(column.name for column in PLANNED)]:
        db.executescript(f"BEGIN; DROP TABLE plan; DELETE FROM meta WHERE name = 'plan'; {_SCHEMA} COMMIT")


def _add_new_columns(db: sqlite3.Connection) -> None:
    """Results of a version that measured less keep what they have."""
    known = _columns_of(db, "results")
    for column in (*MEASURED, *TIMES):
        if column.name not in known:
            db.execute(f"ALTER TABLE results ADD COLUMN {_declared((column,))}")


def _columns_of(db: sqlite3.Connection, table: str) -> list[str]:
    return [str(row[1]) for row in db.execute(f"PRAGMA table_info({table})")]


def _locked(folder: Path) -> sqlite3.Connection:
    """Hold the folder. SQLite's own lock: it works on every system and ends with the process, however that ends."""
    lock = sqlite3.connect(folder / LOCK, timeout=0.0, isolation_level=None)
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        lock.close()
        raise ConfigError(f"{folder}: another experiment is writing there ({error}); wait for it or stop it") from None
    return lock


def open_for_reading(folder: Path) -> Store:
    """The results of a folder, also while an experiment is running there."""
    path = folder / FILE
    if not os.path.isfile(path):
        is_there = os.path.exists(folder)
        there = f"one without {FILE}" if os.path.isdir(folder) else "a file" if is_there else "no such folder"
        raise ConfigError(f"{folder}: expected a folder of `{NAME} experiment`, got {there}")
    *others, last = _ways_to_read(path)
    for way in others:
        with suppress(sqlite3.Error):
            return Store(folder, _connected(way, _only_read))
    try:
        return Store(folder, _connected(last, _only_read))
    except sqlite3.Error as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error


def _ways_to_read(path: Path) -> list[str]:
    """URIs to try one after the other.

    SQLite puts two files beside the one that it reads. In a folder where it may not, it can read only what has them
    already, or what is declared never to change; that leaves out what stands in one of the two, so it must be empty.
    """
    uri, ahead = path.absolute().as_uri(), Path(f"{path}-wal")
    if os.access(path.parent, os.W_OK):
        return [uri]
    is_whole = not ahead.is_file() or not ahead.stat().st_size
    return [f"{uri}?mode=ro", *([f"{uri}?immutable=1"] if is_whole else [])]
