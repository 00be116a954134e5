"""CSV as everything here writes it: numbers in full, nothing where a number means nothing, words that stay words."""

import csv
import io
import math
from collections.abc import Iterable, Sequence

Cell = str | int | float | None

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet would compute what a stranger has written


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_cell(cell) for cell in row] for row in rows)
    return text.getvalue()


def _cell(cell: Cell) -> Cell:
    if isinstance(cell, str):
        return f"'{cell}" if cell.startswith(_FORMULA_STARTS) else cell
    return cell if cell is None or math.isfinite(cell) else None
