"""Command `replay`: open a row of an experiment's results in the window, or compute rows again to check them."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

from agents.own_files import LOADED_FILES
from agents.registry import AGENT_SPECS_BY_KEY
from cli.arguments import FURTHER_MAPS_HELP, CommandParser, add_maps_option, param_converter
from cli.outputs import check_output_paths
from cli.own_agents import AGENT_FILE_OPTION
from cli.progress import ProgressBar
from experiments.code_version import code_version
from experiments.columns import MEASURED_COLUMNS
from experiments.export import RESULT_FILES
from experiments.job_runner import run_job
from experiments.rerun import find_unchanged_run, scenario_of_row, stored_specification
from experiments.specification import ExperimentSpecification
from experiments.store import ResultStore, open_store_for_reading
from files.disk import check_file_writable, collect_read_paths
from files.scenario import save_scenario
from sim.params import ConfigError, Param
from sim.system.program import PROGRAM_COMMAND, PROGRAM_FOLDER
from sim.system.user_folders import temporary_folder

ROW_PARAM = Param("row", int, 0, "number of a row, from the first column of results.csv", 0, 999_999_999_999)
CHECK_COUNT_PARAM = Param("check", int, 20, "number of rows, drawn at random", 1, 1_000_000)


def main(argv: Sequence[str]) -> int:
    parser = CommandParser(
        "replay", "Open a row of an experiment in the window at tick 0, or compute rows again to check them."
    )
    parser.add_argument("folder", metavar="FOLDER", help=f"a folder of `{PROGRAM_COMMAND} experiment`")
    parser.add_argument("row", nargs="?", type=param_converter(ROW_PARAM), metavar="ROW", help=ROW_PARAM.help)
    parser.add_argument(
        "--check",
        nargs="?",
        type=param_converter(CHECK_COUNT_PARAM),
        const=0,
        metavar="N",
        help="compute ROW again, or N rows drawn at random (default: 20)",
    )
    parser.add_argument("-o", "--output", metavar="FILE.yaml", help="write the row as a scenario instead of opening it")
    add_maps_option(parser, FURTHER_MAPS_HELP)
    args = parser.parse_args(argv)
    if args.row is not None and args.check:
        raise ConfigError("replay: expected ROW --check or --check N, got both ROW and N")
    with open_store_for_reading(Path(args.folder)) as store:
        with collect_read_paths() as inputs:
            spec = stored_specification(store, AGENT_SPECS_BY_KEY, [Path(args.maps)])
        check_output_paths({"-o": args.output}, [*inputs, *(store.folder / name for name in RESULT_FILES)])
        if args.check is not None:
            return recompute_and_compare_rows(store, spec, int(args.check or CHECK_COUNT_PARAM.default), args.row)
        if args.row is None:
            raise ConfigError("replay: expected ROW or --check")
        path = Path(args.output or _scenario_path_of_row(store.folder, args.row))
        save_scenario(scenario_of_row(store, spec, args.row), path)
    if args.output is None:
        _start_window_program(path)
    print(path)
    return 0


def _scenario_path_of_row(folder: Path, row: int) -> Path:
    """Return the path for the scenario of a row, in the results folder.

    If the results folder is read-only, the path is in a temporary folder.
    """
    path = folder / f"row-{row}.yaml"
    try:
        check_file_writable(path)
    except ConfigError:
        return temporary_folder() / path.name
    return path


def _start_window_program(path: Path) -> None:
    """Replace this process by the program with a window.

    The window is not opened in this process, so that `--check` need not load the modules of the window.
    """
    own = [word for file in LOADED_FILES.values() for word in (AGENT_FILE_OPTION, str(file.path))]
    os.execv(sys.executable, [sys.executable, str(PROGRAM_FOLDER / "main.py"), *own, str(path)])


def recompute_and_compare_rows(
    store: ResultStore, spec: ExperimentSpecification, count: int, row: int | None = None
) -> int:
    """Compute rows again, print all differences from the stored results, and return the exit code.

    Args:
        store: The stored results.
        spec: Their specification.
        count: The number of rows to draw at random.
        row: The only row to compute, or None to draw rows.

    Returns:
        0 if all rows are equal to the stored results, 1 if some differ.

    Raises:
        ConfigError: `row` has no results.
    """
    columns = ["row", *(column.name for column in MEASURED_COLUMNS)]
    rows = {values[:2]: values for values in store.iter_rows(columns)}
    numbers = sorted({row for row, _ in rows})
    if row is not None and row not in numbers:
        raise ConfigError(f"replay: expected a row that has a result, got {row:,}")
    chosen = sorted(Random(0).sample(numbers, min(count, len(numbers)))) if row is None else [row]
    progress, wrong = ProgressBar(), 0
    for index, number in enumerate(chosen):
        progress.update_bar(f"row {number:,}", index / len(chosen))
        for text in _row_differences(store, spec, number, rows):
            wrong += 1
            progress.print_line(text)
    same = "" if store.program_version == code_version() else "; the program has changed since then"
    progress.print_line(f"{len(chosen) - wrong:,} of {len(chosen):,} rows are unchanged{same}", sys.stdout)
    return 1 if wrong else 0


def _row_differences(
    store: ResultStore, spec: ExperimentSpecification, row: int, rows: dict[tuple[object, ...], tuple[object, ...]]
) -> list[str]:
    """Return a message about the first column in which a row differs when it is computed again, if any."""
    try:
        planned_run = find_unchanged_run(store, spec, row)
    except ConfigError as error:
        return error.problems
    names = [column.name for column in MEASURED_COLUMNS]
    for line in run_job(planned_run.job, planned_run.case.map_data.grid, AGENT_SPECS_BY_KEY, lambda: 0.0)[0]:
        if line[0] != planned_run.key:
            continue
        recomputed, stored = line[1 : 1 + len(names)], rows[(row, line[1])][1:]
        for name, a, b in zip(names, stored, recomputed, strict=True):
            if a != b:
                return [f"row {row:,}: {name}: was {a}, is {b}"]
    return []
