"""Read and write lists of cells in files: as pairs [[3, 4], [3, 5]], or as runs along rows, {runs: "3-40,4 3-40,5"}."""

import re
from collections.abc import Iterable

from files.document_fields import DocumentField
from files.yaml import InlineList, InlineMap
from sim.grid import MAX_MAP_CELLS

_RUN_PATTERN = re.compile(r"([0-9]{1,5})(?:-([0-9]{1,5}))?,([0-9]{1,5})")
_MAX_LISTED_CELLS = 8  # maximum number of cells written as a list of pairs; more cells are written as runs along rows


def read_cells(part: DocumentField, width: int, height: int) -> tuple[int, ...] | None:
    """Return the cells that a field lists, as numbers y * width + x; None after reporting problems.

    Args:
        part: the field.
        width: width of the map.
        height: height of the map.
    """
    if not isinstance(part.value, dict):
        pairs = part.cells(width, height)
        return None if pairs is None else tuple(y * width + x for x, y in pairs)
    fields = part.read_mapping("cells")
    # In YAML, unquoted text in braces ends at its first comma, so runs without quotes are not one string.
    if set(fields) != {"runs"} or not isinstance(part.value["runs"], str):
        part.report_expected_value('cells such as [[3, 4]] or, in quotes, {runs: "3-9,4"}')
        return None
    return _parse_cell_runs(fields["runs"], part.value["runs"], width, height)


def _parse_cell_runs(part: DocumentField, text: str, width: int, height: int) -> tuple[int, ...] | None:
    cells: list[int] = []
    for word in text.split():
        match = _RUN_PATTERN.fullmatch(word)
        first, last, y = (int(match[1]), int(match[2] or match[1]), int(match[3])) if match else (1, 0, 0)
        if not (first <= last < width and y < height):
            part.report_problem(f"expected runs within the map, which is {width} x {height}, got {word[:40]!r}")
            return None
        # limit the number of cells, because a short text can name millions; real lists have at most twice the map's
        if len(cells) > 4 * min(width * height, MAX_MAP_CELLS):
            part.report_problem(f"expected at most four times the {width} x {height} cells of the map")
            return None
        cells += range(y * width + first, y * width + last + 1)
    return tuple(cells)


def cell_list_data(cells: Iterable[int], width: int) -> InlineList | InlineMap:
    """Return cells as plain data for a file, in their order: a list of pairs, or runs along rows if there are many."""
    flat = [int(cell) for cell in cells]
    if len(flat) <= _MAX_LISTED_CELLS:
        return InlineList(InlineList([cell % width, cell // width]) for cell in flat)
    return InlineMap(
        runs=" ".join(_cell_run_text(first, last, width) for first, last in _consecutive_cell_runs(flat, width))
    )


def _consecutive_cell_runs(cells: list[int], width: int) -> list[tuple[int, int]]:
    """Return the first and last cell of each run of consecutive cells along a row, in the order of the cells."""
    runs: list[tuple[int, int]] = []
    for cell in cells:
        if runs and cell == runs[-1][1] + 1 and cell % width:
            runs[-1] = (runs[-1][0], cell)
        else:
            runs.append((cell, cell))
    return runs


def _cell_run_text(first: int, last: int, width: int) -> str:
    x = f"{first % width}-{last % width}" if last > first else f"{first % width}"
    return f"{x},{first // width}"
