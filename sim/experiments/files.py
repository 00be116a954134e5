"""Export an experiment's results to CSV, to Parquet, and to the properties file of Downward Lab."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from sim.experiments.columns import MEASURED, PLANNED, TIMES
from sim.experiments.frame import DamageError, params_of
from sim.experiments.store import FILE, LOCK, Store
from sim.files.csv_text import csv_text
from sim.files.disk import make_folder, write_atomically
from sim.params import ConfigError

RESULTS, TIMES_FILE, PARQUET = "results.csv", "times.csv", "results.parquet"
OF_A_FOLDER = (FILE, LOCK, RESULTS, TIMES_FILE, PARQUET)
"""Names of the files in a results folder, which other output must not overwrite."""

RESULT_COLUMNS = ("row", *(column.name for column in (*PLANNED, *MEASURED)))
TIME_COLUMNS = ("row", "trial", *(column.name for column in TIMES))


def write_tables(store: Store) -> None:
    """Write results.csv and times.csv into the results folder.

    results.csv is identical each time the same specification is run. Processor times differ between repetitions, so
    they are written to a separate file.
    """
    write_atomically(store.folder / RESULTS, _csv(RESULT_COLUMNS, store))
    write_atomically(store.folder / TIMES_FILE, _csv(TIME_COLUMNS, store))


def _csv(columns: tuple[str, ...], store: Store) -> bytes:
    rows: Iterable[tuple[Any, ...]] = store.rows(columns)
    if "params" in columns:
        index, formatted = columns.index("params"), _ParamsFormatter()
        rows = ((*row[:index], formatted(row[index]), *row[index + 1 :]) for row in rows)
    return csv_text(columns, rows).encode("utf-8")


class _ParamsFormatter:
    """Converter of agent parameters from JSON to the form of the option `--agent`, such as weight=3.0,reopen=false.

    Converted texts are cached, because many rows of results have the same parameters.
    """

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        if text not in self._known:
            self._known[text] = ",".join(f"{name}={_word(value)}" for name, value in self._read(text).items())
        return self._known[text]

    def _read(self, text: str) -> dict[str, Any]:
        try:
            return params_of(text)
        except DamageError as error:
            raise ConfigError(f"{FILE}: damaged or edited manually: {error}") from error


def _word(value: object) -> str:
    """Return the value of an agent's parameter in the form of the option `--agent`, such as true or 3.0."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def parquet() -> tuple[Any, Any]:
    """Return the modules `pyarrow` and `pyarrow.parquet`; raise a ConfigError if they are not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ConfigError("experiment: --parquet: first run pip install -r requirements-parquet.txt") from None
    return pyarrow, pyarrow.parquet


def write_parquet(store: Store) -> None:
    """Write all columns of the results to results.parquet; this needs the package pyarrow."""
    arrow, writer = parquet()
    names = [*RESULT_COLUMNS, *(column.name for column in TIMES)]
    columns = zip(*store.rows(names), strict=True)
    table = arrow.table({name: list(values) for name, values in zip(names, columns, strict=True)})
    writer.write_table(table, store.folder / PARQUET)


# --- Downward Lab ---------------------------------------------------------------------------------


def write_lab(store: Store) -> Path:
    """Write the results for Downward Lab to `<folder>-eval/properties` in the results folder, and return that path.

    The file is JSON: a mapping from the id of each run to its attributes.
    """
    folder = store.folder / f"{store.folder.resolve().name}-eval"
    make_folder(folder)
    path = folder / "properties"
    write_atomically(path, (json.dumps(dict(_lab_runs(store)), indent=1, sort_keys=True) + "\n").encode())
    return path


def _lab_runs(store: Store) -> Iterator[tuple[str, dict[str, Any]]]:
    names = [*RESULT_COLUMNS, *(column.name for column in TIMES)]
    algorithm = _algorithm_namer(store)
    for values in store.rows(names):
        run = dict(zip(names, values, strict=True))
        ends = f"{run['start_x']},{run['start_y']}-{run['goal_x']},{run['goal_y']}"
        problem = f"{ends} seed {run['seed']}" + (f" trial {run['trial']}" if run["trial"] != 1 else "")
        identity = [algorithm(run), run["map"], problem]
        attributes = {
            **{key: value for key, value in run.items() if value is not None},
            "id": identity,
            "algorithm": identity[0],
            "domain": identity[1],
            "problem": identity[2],
            "coverage": int(run["outcome"] == "reached"),
            "error": "none" if run["outcome"] == "reached" else run["outcome"],
        }
        yield "-".join(identity), attributes


def _algorithm_namer(store: Store) -> Callable[[dict[str, Any]], str]:
    formatted = _ParamsFormatter()

    def name(run: dict[str, Any]) -> str:
        dynamics = f":every={run['every']},rate={run['rate']}" if run["every"] is not None else ""
        part = f"{run['part']}:" if run["part"] else ""
        return f"{part}{run['label'] or run['agent']}:{formatted(run['params'])},budget={run['budget']}{dynamics}"

    return name
