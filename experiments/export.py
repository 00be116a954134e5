"""Export an experiment's results to CSV, to Parquet, and to the properties file of Downward Lab."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from experiments.columns import MEASURED_COLUMNS, PLANNED_COLUMNS, PROCESSOR_TIME_COLUMNS
from experiments.result_frame import DamagedResultsError, parse_params_json
from experiments.store import DATABASE_FILE, LOCK_FILE, ResultStore
from files.csv_text import format_csv
from files.disk import create_folder, write_file_atomically
from sim.params import ConfigError

RESULTS_FILE, TIMES_FILE, PARQUET_FILE = "results.csv", "times.csv", "results.parquet"
RESULT_FILES = (DATABASE_FILE, LOCK_FILE, RESULTS_FILE, TIMES_FILE, PARQUET_FILE)
"""Names of the files in a results folder, which other output must not overwrite."""

EXPORTED_RESULT_COLUMNS = ("row", *(column.name for column in (*PLANNED_COLUMNS, *MEASURED_COLUMNS)))
EXPORTED_TIME_COLUMNS = ("row", "trial", *(column.name for column in PROCESSOR_TIME_COLUMNS))


def write_csv_tables(store: ResultStore) -> None:
    """Write results.csv and times.csv into the results folder.

    results.csv is identical each time the same specification is run. Processor times differ between repetitions, so
    they are written to a separate file.
    """
    write_file_atomically(store.folder / RESULTS_FILE, _table_csv(EXPORTED_RESULT_COLUMNS, store))
    write_file_atomically(store.folder / TIMES_FILE, _table_csv(EXPORTED_TIME_COLUMNS, store))


def _table_csv(columns: tuple[str, ...], store: ResultStore) -> bytes:
    rows: Iterable[tuple[Any, ...]] = store.iter_rows(columns)
    if "params" in columns:
        index, formatted = columns.index("params"), _ParamsFormatter()
        rows = ((*row[:index], formatted(row[index]), *row[index + 1 :]) for row in rows)
    return format_csv(columns, rows).encode("utf-8")


class _ParamsFormatter:
    """Converter of agent parameters from JSON to the form of the option `--agent`, such as weight=3.0,reopen=false.

    Converted texts are cached, because many rows of results have the same parameters.
    """

    def __init__(self) -> None:
        self._formatted_params: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        if text not in self._formatted_params:
            self._formatted_params[text] = ",".join(
                f"{name}={_param_option_text(value)}" for name, value in self._parse_params(text).items()
            )
        return self._formatted_params[text]

    def _parse_params(self, text: str) -> dict[str, Any]:
        try:
            return parse_params_json(text)
        except DamagedResultsError as error:
            raise ConfigError(f"{DATABASE_FILE}: damaged or edited manually: {error}") from error


def _param_option_text(value: object) -> str:
    """Return the value of an agent's parameter in the form of the option `--agent`, such as true or 3.0."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def import_pyarrow() -> tuple[Any, Any]:
    """Return the modules `pyarrow` and `pyarrow.import_pyarrow`; raise a ConfigError if they are not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ConfigError("experiment: --parquet: first run pip install -r requirements-parquet.txt") from None
    return pyarrow, pyarrow.parquet


def write_parquet(store: ResultStore) -> None:
    """Write all columns of the results to results.parquet; this needs the package pyarrow."""
    arrow, writer = import_pyarrow()
    names = [*EXPORTED_RESULT_COLUMNS, *(column.name for column in PROCESSOR_TIME_COLUMNS)]
    columns = zip(*store.iter_rows(names), strict=True)
    table = arrow.table({name: list(values) for name, values in zip(names, columns, strict=True)})
    writer.write_table(table, store.folder / PARQUET_FILE)


# --- Downward Lab ---------------------------------------------------------------------------------


def write_downward_lab_properties(store: ResultStore) -> Path:
    """Write the results for Downward Lab to `<folder>-eval/properties` in the results folder, and return that path.

    The file is JSON: a mapping from the id of each run to its attributes.
    """
    folder = store.folder / f"{store.folder.resolve().name}-eval"
    create_folder(folder)
    path = folder / "properties"
    write_file_atomically(path, (json.dumps(dict(_downward_lab_runs(store)), indent=1, sort_keys=True) + "\n").encode())
    return path


def _downward_lab_runs(store: ResultStore) -> Iterator[tuple[str, dict[str, Any]]]:
    names = [*EXPORTED_RESULT_COLUMNS, *(column.name for column in PROCESSOR_TIME_COLUMNS)]
    algorithm = _algorithm_name_function(store)
    for values in store.iter_rows(names):
        run = dict(zip(names, values, strict=True))
        start_and_goal = f"{run['start_x']},{run['start_y']}-{run['goal_x']},{run['goal_y']}"
        problem = f"{start_and_goal} seed {run['seed']}" + (f" trial {run['trial']}" if run["trial"] != 1 else "")
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


def _algorithm_name_function(store: ResultStore) -> Callable[[dict[str, Any]], str]:
    formatted = _ParamsFormatter()

    def name(run: dict[str, Any]) -> str:
        dynamics = f":every={run['every']},rate={run['rate']}" if run["every"] is not None else ""
        part = f"{run['part']}:" if run["part"] else ""
        return f"{part}{run['label'] or run['agent']}:{formatted(run['params'])},budget={run['budget']}{dynamics}"

    return name
