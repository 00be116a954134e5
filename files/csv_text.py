"""Write CSV text: numbers in full precision, empty cells for infinity and nan, no text that acts as a formula."""

import csv
import io
import math
from collections.abc import Iterable, Sequence

CsvCell = str | int | float | None

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")  # beginnings that make a spreadsheet evaluate text as a formula


def format_csv(header: Sequence[str], rows: Iterable[Sequence[CsvCell]]) -> str:
    """Return the text of a CSV file; an apostrophe precedes text that a spreadsheet would evaluate as a formula."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_formula_safe_cell(cell) for cell in row] for row in rows)
    return text.getvalue()


def _formula_safe_cell(cell: CsvCell) -> CsvCell:
    if isinstance(cell, str):
        return f"'{cell}" if cell.startswith(_FORMULA_STARTS) else cell
    return cell if cell is None or math.isfinite(cell) else None
