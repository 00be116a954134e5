"""Command `replay`: open a row of an experiment's results in the window, or compute rows again to check them."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

from agents.own_files import LOADED
from agents.registry import BY_KEY
from cli.arguments import FURTHER_MAPS, Arguments, add_maps, checked
from cli.outputs import check_outputs
from cli.own_agents import OPTION
from cli.progress import Progress
from sim.experiments.again import found_as_it_was, scenario_of, specification_of
from sim.experiments.code_version import code_version
from sim.experiments.columns import MEASURED
from sim.experiments.files import OF_A_FOLDER
from sim.experiments.runs import do_job
from sim.experiments.spec import Specification
from sim.experiments.store import Store, open_for_reading
from sim.files.disk import check_place, noting_reads
from sim.files.folders import temporary_folder
from sim.files.scenario import save_scenario
from sim.params import ConfigError, Param
from sim.program import NAME, ROOT

ROW = Param("row", int, 0, "number of a row, from the first column of results.csv", 0, 999_999_999_999)
CHECK = Param("check", int, 20, "number of rows, drawn at random", 1, 1_000_000)


def main(argv: Sequence[str]) -> int:
    parser = Arguments(
        "replay", "Open a row of an experiment in the window at tick 0, or compute rows again to check them."
    )
    parser.add_argument("folder", metavar="FOLDER", help=f"a folder of `{NAME} experiment`")
    parser.add_argument("row", nargs="?", type=checked(ROW), metavar="ROW", help=ROW.help)
    parser.add_argument(
        "--check",
        nargs="?",
        type=checked(CHECK),
        const=0,
        metavar="N",
        help="compute ROW again, or N rows drawn at random (default: 20)",
    )
    parser.add_argument("-o", "--output", metavar="FILE.yaml", help="write the row as a scenario instead of opening it")
    add_maps(parser, FURTHER_MAPS)
    given = parser.parse_args(argv)
    if given.row is not None and given.check:
        raise ConfigError("replay: expected ROW --check or --check N, got both ROW and N")
    with open_for_reading(Path(given.folder)) as store:
        with noting_reads() as inputs:
            spec = specification_of(store, BY_KEY, [Path(given.maps)])
        check_outputs({"-o": given.output}, [*inputs, *(store.folder / name for name in OF_A_FOLDER)])
        if given.check is not None:
            return check(store, spec, int(given.check or CHECK.default), given.row)
        if given.row is None:
            raise ConfigError("replay: expected ROW or --check")
        path = Path(given.output or _place_of(store.folder, given.row))
        save_scenario(scenario_of(store, spec, given.row), path)
    if given.output is None:
        _open_window(path)
    print(path)
    return 0


def _place_of(folder: Path, row: int) -> Path:
    """Return the path for the scenario of a row, in the results folder.

    If the results folder is read-only, the path is in a temporary folder.
    """
    path = folder / f"row-{row}.yaml"
    try:
        check_place(path)
    except ConfigError:
        return temporary_folder() / path.name
    return path


def _open_window(path: Path) -> None:
    """Replace this process by the program with a window.

    The window is not opened in this process, so that `--check` need not load the modules of the window.
    """
    own = [word for file in LOADED.values() for word in (OPTION, str(file.path))]
    os.execv(sys.executable, [sys.executable, str(ROOT / "main.py"), *own, str(path)])


def check(store: Store, spec: Specification, count: int, row: int | None = None) -> int:
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
    columns = ["row", *(column.name for column in MEASURED)]
    rows = {values[:2]: values for values in store.rows(columns)}
    numbers = sorted({row for row, _ in rows})
    if row is not None and row not in numbers:
        raise ConfigError(f"replay: expected a row that has a result, got {row:,}")
    chosen = sorted(Random(0).sample(numbers, min(count, len(numbers)))) if row is None else [row]
    progress, wrong = Progress(), 0
    for index, number in enumerate(chosen):
        progress.show(f"row {number:,}", index / len(chosen))
        for text in _row_differences(store, spec, number, rows):
            wrong += 1
            progress.say(text)
    same = "" if store.program == code_version() else "; the program has changed since then"
    progress.say(f"{len(chosen) - wrong:,} of {len(chosen):,} rows are unchanged{same}", sys.stdout)
    return 1 if wrong else 0


def _row_differences(
    store: Store, spec: Specification, row: int, rows: dict[tuple[object, ...], tuple[object, ...]]
) -> list[str]:
    """Return a message about the first column in which a row differs when it is computed again, if any."""
    try:
        there = found_as_it_was(store, spec, row)
    except ConfigError as error:
        return error.problems
    names = [column.name for column in MEASURED]
    for line in do_job(there.job, there.case.board.grid, BY_KEY, lambda: 0.0)[0]:
        if line[0] != there.key:
            continue
        again, kept = line[1 : 1 + len(names)], rows[(row, line[1])][1:]
        for name, a, b in zip(names, kept, again, strict=True):
            if a != b:
                return [f"row {row:,}: {name}: was {a}, is {b}"]
    return []
