"""Store the results of an experiment in a SQLite file with a single writer.

The table `results` is indexed by the keys of runs (plan.py). The table `plan` lists the keys that the current
specification asks for, by row number. Results are committed once per task, so a program that is killed
loses only its unfinished tasks.
"""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import numpy as np

from experiments.code_version import VERSION_LENGTH, code_version
from experiments.columns import (
    ARRIVED_ONLY_COLUMNS,
    MEASURED_COLUMNS,
    PLANNED_COLUMNS,
    PROCESSOR_TIME_COLUMNS,
    WHOLE_RUN_COLUMNS,
    ResultColumn,
)
from experiments.plan import iter_planned_rows
from experiments.problems import MapData
from experiments.result_frame import DamagedResultsError, ResultFrame, create_result_frame, divide_among_trials
from experiments.specification import ExperimentSpecification
from files.disk import create_folder
from sim.params import ConfigError, value_as_in_files
from sim.system.program import PROGRAM_COMMAND

DATABASE_FILE, LOCK_FILE = "results.db", "lock"
_SQL_TYPES = {int: "INTEGER", float: "REAL", str: "TEXT"}


def _column_declarations(columns: Iterable[ResultColumn]) -> str:
    """Return the SQL declarations of columns, such as `"moves" INTEGER, "cost" REAL`."""
    return ", ".join(f'"{column.name}" {_SQL_TYPES[column.kind]}' for column in columns)


_RESULT_COLUMNS = _column_declarations((*MEASURED_COLUMNS, *PROCESSOR_TIME_COLUMNS))
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS plan (row INTEGER PRIMARY KEY, key BLOB, {_column_declarations(PLANNED_COLUMNS)});
CREATE TABLE IF NOT EXISTS results (key BLOB, {_RESULT_COLUMNS}, PRIMARY KEY (key, trial)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS failures (key BLOB PRIMARY KEY, text TEXT) WITHOUT ROWID;
"""


class ResultStore:
    """Open results of an experiment, read from and written to a SQLite file in a folder."""

    def __init__(self, folder: Path, connection: sqlite3.Connection, lock: sqlite3.Connection | None = None) -> None:
        self.folder, self._connection, self._lock_connection = folder, connection, lock

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()
        if self._lock_connection is not None:
            self._lock_connection.close()

    @contextmanager
    def _write_transaction(self) -> Iterator[None]:
        """Run a write transaction: commit it, or roll it back and raise a ConfigError if the file cannot be written."""
        try:
            with self._connection:
                yield
        except sqlite3.Error as error:
            raise ConfigError(
                f"{self.folder / DATABASE_FILE}: cannot be written: {error}; the results so far are kept: run the "
                "same command"
                " again to continue"
            ) from error

    # --- plan ---

    def store_plan(self, spec: ExperimentSpecification) -> None:
        """Store the runs of a specification as the new plan; do nothing if the stored plan is already up to date.

        Recorded failures are deleted with the old plan. Results are kept.
        """
        plan_key = (
            f"{code_version()}{_user_agent_versions_text(spec)} {spec.size} {_map_versions_text(spec)}\n{spec.text}"
        )
        if self.metadata_value("plan") == plan_key:
            return
        marks = ", ".join("?" * (2 + len(PLANNED_COLUMNS)))
        with self._write_transaction():
            self._connection.execute("DELETE FROM plan")
            self._connection.execute("DELETE FROM failures")
            self._connection.executemany(f"INSERT INTO plan VALUES ({marks})", iter_planned_rows(spec))
            self._insert_metadata("plan", plan_key)
            self._insert_metadata("specification", spec.text)
            self._insert_metadata("name", spec.name)
            self._insert_metadata("folder", spec.folder)
            self._insert_metadata("size", spec.size)
            self._insert_metadata("cutoff", str(spec.cutoff))

    def is_plan_for_map(self, board: MapData) -> bool:
        """Return whether the stored plan was created for this map with its present content."""
        return _map_version_text(board) in self.metadata_value("plan").partition("\n")[0]

    def _iter_query_rows(self, query: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of an SQL query; raise a ConfigError if the file is damaged or is not a results file."""
        try:
            # Not `yield from`: closing this generator would then close the cursor as well.
            # Closing a cursor raises an error if the database has already been closed.
            for row in self._connection.execute(query, values):  # noqa: UP028
                yield row
        except sqlite3.Error as error:
            raise ConfigError(f"{self.folder / DATABASE_FILE}: cannot be read: {error}") from error

    def _insert_metadata(self, name: str, value: str) -> None:
        self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def metadata_value(self, name: str) -> str:
        found = next(self._iter_query_rows("SELECT value FROM meta WHERE name = ?", name), None)
        return str(found[0]) if found else ""

    @property
    def program_version(self) -> str:
        """Return the code_version() of the program that created plan and results; "" if there is no plan yet."""
        return self.metadata_value("plan")[:VERSION_LENGTH]

    def set_metadata(self, name: str, value: str) -> None:
        with self._write_transaction():
            self._insert_metadata(name, value)

    # --- results ---

    def done(self) -> set[bytes]:
        """Return the keys of all runs with stored results, including runs that the current plan does not contain."""
        return {key for (key,) in self._iter_query_rows("SELECT DISTINCT key FROM results")}

    def progress_counts(self) -> tuple[int, int]:
        """Return (number of planned runs that have results, number of planned runs)."""
        [(total,)] = self._iter_query_rows("SELECT COUNT(*) FROM plan")
        [(done,)] = self._iter_query_rows("SELECT COUNT(*) FROM plan WHERE key IN (SELECT key FROM results)")
        return int(done), int(total)

    def add(self, lines: Sequence[Sequence[Any]], failures: Sequence[tuple[bytes, str]] = ()) -> None:
        """Store the results and failures of one task in a single transaction.

        A line whose key and trial are already stored is ignored, because it would be identical. Storing results of a
        run deletes a failure of the same run.

        Args:
            lines: (key, *columns.MEASURED_COLUMNS, *columns.PROCESSOR_TIME_COLUMNS) of each run or trial.
            failures: (key, reason) of each run that failed.
        """
        names = ["key", *(column.name for column in (*MEASURED_COLUMNS, *PROCESSOR_TIME_COLUMNS))]
        marks = ", ".join("?" * len(names))
        with self._write_transaction():
            self._connection.executemany(f"INSERT OR IGNORE INTO results ({', '.join(names)}) VALUES ({marks})", lines)
            self._connection.executemany("DELETE FROM failures WHERE key = ?", {(line[0],) for line in lines})
            self._connection.executemany("INSERT OR REPLACE INTO failures VALUES (?, ?)", failures)

    def failed_runs(self) -> list[tuple[int, str]]:
        """Return (row number, reason) of every planned run that failed."""
        query = "SELECT row, text FROM plan JOIN failures USING (key) ORDER BY row"
        return [(int(row), str(text)) for row, text in self._iter_query_rows(query)]

    def describe_planned_run(self, row: int) -> str:
        """Return a short description of a planned run for messages: map, start, goal, agent and budget."""
        names = "map", "start_x", "start_y", "goal_x", "goal_y", "label", "agent", "budget"
        query = f"SELECT {', '.join(names)} FROM plan WHERE row = ?"
        name, x, y, goal_x, goal_y, label, agent, budget = self._connection.execute(query, (row,)).fetchone()
        return f"{name}, {x},{y} to {goal_x},{goal_y}, {label or agent} k={budget}"

    def map_start_goal(self, row: int) -> tuple[Any, ...] | None:
        """Return (map, start_x, start_y, goal_x, goal_y) of a planned run, or None if there is no such row."""
        return next(
            self._iter_query_rows("SELECT map, start_x, start_y, goal_x, goal_y FROM plan WHERE row = ?", row), None
        )

    def outcome_and_ticks(self, row: int) -> tuple[str, int] | None:
        """Return (outcome of the last trial, ticks of all trials) of a planned run, or None if it has no results."""
        query = (
            "SELECT outcome, SUM(ticks) OVER () FROM plan JOIN results USING (key) WHERE row = ? ORDER BY trial DESC"
        )
        return next(self._iter_query_rows(query, row), None)

    # --- reading ---

    def iter_rows(self, columns: Sequence[str], more: str = "") -> Iterator[tuple[Any, ...]]:
        """Yield the requested columns of all planned runs that have results, ordered by row and trial.

        A column that the file lacks, because an older version wrote the file, has the value None.

        Args:
            columns: The names of the columns.
            more: Further SQL clauses such as WHERE, inserted before ORDER BY.
        """
        known = {"row", *self._column_names_of_table("plan"), *self._column_names_of_table("results")}
        names = ", ".join(f'"{name}"' if name in known else "NULL" for name in columns)
        query = f"SELECT {names} FROM plan JOIN results USING (key) {more} ORDER BY row, trial"
        yield from self._iter_query_rows(query)

    def _column_names_of_table(self, table: str) -> set[str]:
        return {str(row[1]) for row in self._iter_query_rows(f"PRAGMA table_info({table})")}

    def _read_cutoff(self) -> int:
        """Return the cut-off of the experiment in expansions per tick; 0: there is none."""
        text = self.metadata_value("cutoff") or "0"
        if not (text.isascii() and text.isdigit()):
            raise DamagedResultsError(f"cutoff: expected a whole number, got {value_as_in_files(text)}")
        return int(text)

    def load_frame(self) -> ResultFrame:
        """Return the results of all planned runs as a table of columns.

        The column `disqualified` is added. Ratios of cost are nan for runs that did not arrive (ARRIVED_ONLY_COLUMNS),
        and times that are measured per run are divided among its trials (WHOLE_RUN_COLUMNS).

        Raises:
            ConfigError: The file is damaged or cannot be read.
        """
        names = ["row", *(c.name for c in (*PLANNED_COLUMNS, *MEASURED_COLUMNS, *PROCESSOR_TIME_COLUMNS))]
        try:
            frame = create_result_frame(names, self.iter_rows(names))
            cutoff, max_expansions = self._read_cutoff(), frame.numeric_column("max_expansions")
        except ConfigError:
            raise
        except DamagedResultsError as error:
            raise ConfigError(f"{self.folder / DATABASE_FILE}: damaged or edited manually: {error}") from error
        except (ValueError, TypeError) as error:
            raise ConfigError(
                f"{self.folder / DATABASE_FILE}: cannot be read: {value_as_in_files(str(error))}"
            ) from error
        frame.columns["disqualified"] = ((max_expansions > cutoff) if cutoff else (max_expansions < 0)).astype(float)
        for name in ARRIVED_ONLY_COLUMNS:
            frame.columns[name] = np.where(frame.numeric_column("arrived") > 0, frame.numeric_column(name), np.nan)
        for name in WHOLE_RUN_COLUMNS:
            frame.columns[name] = divide_among_trials(frame, name)
        return frame


def _user_agent_versions_text(spec: ExperimentSpecification) -> str:
    """Return the versions of all user-defined agents of an experiment as text for comparing plans.

    The text is stored with a plan, so that the plan is renewed after the file of an agent was edited.
    """
    settings = (setting for part in spec.parts for setting in part.settings)
    return "".join(sorted({f" {s.kind} {s.params['version']}" for s in settings if "version" in s.params}))


def _map_versions_text(spec: ExperimentSpecification) -> str:
    """Return the names and digests of all maps of an experiment as text for comparing plans.

    The text is stored with a plan, so that the plan is renewed after a map file was edited. The specification alone
    would not show such an edit, because it contains only the names of its maps.
    """
    return " ".join(sorted({_map_version_text(case.map_data) for part in spec.parts for case in part.cases}))


def _map_version_text(board: MapData) -> str:
    return f"{board.name}={board.digest}"


def open_store_for_writing(folder: Path) -> ResultStore:
    """Open the results in a folder for writing, and create them if there are none.

    Raises:
        ConfigError: Another program writes to this folder, or the file cannot be opened.
    """
    create_folder(folder)
    lock = _lock_folder(folder)
    try:
        db = _open_connection(folder / DATABASE_FILE, _create_tables)
    except sqlite3.Error as error:
        lock.close()
        raise ConfigError(f"{folder / DATABASE_FILE}: cannot be opened: {error}") from error
    return ResultStore(folder, db, lock)


def _open_connection(file: Path | str, begin: Callable[[sqlite3.Connection], None]) -> sqlite3.Connection:
    """Open a SQLite file and call `begin` with the connection; close the connection if `begin` fails.

    SQLite opens a file only at the first statement. A damaged file therefore raises its error in `begin`.

    Args:
        file: The path of the file, or its URI as text.
        begin: Executes the first statements; may raise a sqlite3.Error.
    """
    db = sqlite3.connect(file, uri=isinstance(file, str))
    try:
        begin(db)
    except sqlite3.Error:
        db.close()
        raise
    return db


def _create_tables(db: sqlite3.Connection) -> None:
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=NORMAL")
    # create all tables in one transaction, so that concurrent readers see either all tables or none
    db.executescript(f"BEGIN; {_SCHEMA} COMMIT")
    _drop_old_plan(db)
    _add_new_columns(db)


def _set_read_only(db: sqlite3.Connection) -> None:
    """Forbid writing through a connection, and read a row; this raises an error if the file is no results file."""
    db.execute("PRAGMA query_only=ON")
    db.execute("SELECT 1 FROM plan LIMIT 1")


def _drop_old_plan(db: sqlite3.Connection) -> None:
    """Replace the table `plan` by an empty table if a version of the program with other columns created it."""
    if _table_column_names(db, "plan") != ["row", "key", *(column.name for column in PLANNED_COLUMNS)]:
        db.executescript(f"BEGIN; DROP TABLE plan; DELETE FROM meta WHERE name = 'plan'; {_SCHEMA} COMMIT")


def _add_new_columns(db: sqlite3.Connection) -> None:
    """Add the columns that the table `results` of an older version lacks; they are NULL in existing rows."""
    known = _table_column_names(db, "results")
    for column in (*MEASURED_COLUMNS, *PROCESSOR_TIME_COLUMNS):
        if column.name not in known:
            db.execute(f"ALTER TABLE results ADD COLUMN {_column_declarations((column,))}")


def _table_column_names(db: sqlite3.Connection, table: str) -> list[str]:
    return [str(row[1]) for row in db.execute(f"PRAGMA table_info({table})")]


def _lock_folder(folder: Path) -> sqlite3.Connection:
    """Lock a folder for writing and return the connection that holds the lock.

    The lock is SQLite's own, because it works on every operating system and is released when the process ends,
    even if it is killed.
    """
    lock = sqlite3.connect(folder / LOCK_FILE, timeout=0.0, isolation_level=None)
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        lock.close()
        raise ConfigError(f"{folder}: another experiment is writing to it ({error}); wait for it or stop it") from None
    return lock


def open_store_for_reading(folder: Path) -> ResultStore:
    """Open the results in a folder for reading, possibly while an experiment is writing to the same folder.

    Raises:
        ConfigError: The folder has no results, or they cannot be read.
    """
    path = folder / DATABASE_FILE
    if not os.path.isfile(path):
        exists = os.path.exists(folder)
        actual = (
            f"a folder without {DATABASE_FILE}" if os.path.isdir(folder) else "a file" if exists else "no such folder"
        )
        raise ConfigError(f"{folder}: expected a folder of `{PROGRAM_COMMAND} experiment`, got {actual}")
    *others, last = _readable_uris(path)
    for uri in others:
        with suppress(sqlite3.Error):
            return ResultStore(folder, _open_connection(uri, _set_read_only))
    try:
        return ResultStore(folder, _open_connection(last, _set_read_only))
    except sqlite3.Error as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error


def _readable_uris(path: Path) -> list[str]:
    """Return the SQLite URIs with which a results file may be readable, to be tried in this order.

    To read a database in WAL mode, SQLite creates two more files in its folder. In a read-only folder it can read the
    database only if these files exist, or if the database is declared immutable. An immutable database is read without
    its write-ahead log, so this is allowed only if the log is empty.
    """
    uri, write_ahead_log = path.absolute().as_uri(), Path(f"{path}-wal")
    if os.access(path.parent, os.W_OK):
        return [uri]
    is_complete = not write_ahead_log.is_file() or not write_ahead_log.stat().st_size
    return [f"{uri}?mode=ro", *([f"{uri}?immutable=1"] if is_complete else [])]
