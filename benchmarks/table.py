"""Results of benches: rows for the terminal and for a CSV file."""

import csv
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sim.jit.numba_version import NUMBA_VERSION


@dataclass(frozen=True)
class BenchTarget:
    """Target of a row: a limit for the ratio of the row, or for its measured value if it has no ratio."""

    limit: float
    is_upper_limit: bool = False  # whether the limit is a maximum; otherwise it is a minimum

    def is_met_by(self, value: float) -> bool:
        return value <= self.limit if self.is_upper_limit else value >= self.limit

    def __str__(self) -> str:
        return f"{'<=' if self.is_upper_limit else '>='} {self.limit:g}"


@dataclass(frozen=True)
class BenchRow:
    """Row of a table of results: one measured value, optionally compared with a control and with a target."""

    name: str
    measured: float
    unit: str
    control: float | None = None  # value of the control in the same unit
    ratio: float | None = None  # comparison with the control; each bench defines its direction
    target: BenchTarget | None = None  # None if the row is only for information

    @property
    def is_target_met(self) -> bool | None:
        if self.target is None:
            return None
        return self.target.is_met_by(self.measured if self.ratio is None else self.ratio)


@dataclass
class BenchTable:
    """Results of one bench."""

    title: str
    rows: list[BenchRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


_HEADINGS = ("", "measured", "unit", "control", "ratio", "target", "met")
_TEXT_COLUMNS = (True, False, True, False, False, True, True)


def table_lines(table: BenchTable) -> list[str]:
    """Return the lines of a table as text: the title, one line for each row, then the notes."""
    cells = [_HEADINGS, *(_cell_texts_of_row(row) for row in table.rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(_HEADINGS))]
    return [
        table.title,
        *("  " + _aligned_line(line, widths).rstrip() for line in cells),
        *("  " + note for note in table.notes),
    ]


def _cell_texts_of_row(row: BenchRow) -> tuple[str, ...]:
    return (
        row.name,
        number_text(row.measured),
        row.unit,
        "" if row.control is None else number_text(row.control),
        "" if row.ratio is None else f"{row.ratio:.2f}",
        "" if row.target is None else str(row.target),
        {None: "", True: "yes", False: "NO"}[row.is_target_met],
    )


def _aligned_line(line: Sequence[str], widths: Sequence[int]) -> str:
    columns = zip(line, widths, _TEXT_COLUMNS, strict=True)
    return "  ".join(text.ljust(width) if is_text else text.rjust(width) for text, width, is_text in columns)


def number_text(value: float) -> str:
    """Return a number with about four significant digits."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


_COLUMNS = ("machine", "python", "numba", "bench", "name", "measured", "unit", "control", "ratio", "target", "met")


def write_csv_file(path: str, tables: Iterable[tuple[str, BenchTable]]) -> None:
    """Write all rows of several benches to a CSV file; the file contains no dates, so that files can be compared.

    Args:
        path: The file.
        tables: The name and the table of each bench.
    """
    machine = (_machine_name(), platform.python_version(), NUMBA_VERSION)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(_COLUMNS)
        for bench, table in tables:
            for row in table.rows:
                values = (row.measured, row.unit, row.control, row.ratio, row.target, row.is_target_met)
                writer.writerow([*machine, bench, row.name, *(_csv_cell(value) for value in values)])


def _csv_cell(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else value


def _machine_name() -> str:
    """Return the name of the machine, its processor and the number of processors."""
    return f"{platform.node()} ({_processor_name()}, {os.cpu_count()} processors)"


def _processor_name() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
