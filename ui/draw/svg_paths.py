"""SVG path data: outlines around cells, and lines through the middles of cells. The unit of length is a cell.

Walls and other fills are outlines around all cells of a kind instead of one rectangle per cell. Viewers show no seams
between neighbouring cells in outlines, and files need a tenth of the bytes. Lines are split into straight runs. Does
not use pygame.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ui.draw.theme import Colour

Point = tuple[int, int]
Mask = npt.NDArray[np.bool_]


# --- shapes of cells ------------------------------------------------------------------------------


def outline_path(mask: Mask) -> str:
    """Return SVG path data of the outlines of all set cells of a mask [row, column], for the even-odd fill rule."""
    horizontal, vertical = _horizontal_edges(mask), _horizontal_edges(mask.T)
    # Edges run in opposite directions on opposite sides of the set cells, so that they join to closed loops.
    next_across = _edge_ends_by_start((x0, y, x1, y) if right else (x1, y, x0, y) for y, x0, x1, right in horizontal)
    next_down = _edge_ends_by_start((x, y1, x, y0) if right else (x, y0, x, y1) for x, y0, y1, right in vertical)
    parts = []
    while next_across:
        start = next(iter(next_across))
        parts.append(_outline_loop(start, next_across, next_down))
    return "".join(parts)


def _horizontal_edges(mask: Mask) -> list[tuple[int, int, int, bool]]:
    """Return the horizontal edges of the set cells of a mask as (y, first x, last x, whether set cells are below)."""
    height, width = mask.shape
    padded = np.zeros((height + 2, width), np.int8)
    padded[1:-1] = mask
    change = np.diff(padded, axis=0)  # 1: only the cell below the grid line is set; -1: only the cell above is set
    edges = []
    for kind in (1, -1):
        hits = np.zeros((height + 1, width + 2), np.int8)
        hits[:, 1:-1] = change == kind
        changes = np.diff(hits, axis=1)
        line_starts, line_ends = np.argwhere(changes == 1), np.argwhere(changes == -1)
        edges += [
            (int(y), int(x0), int(x1), kind == 1) for (y, x0), (_, x1) in zip(line_starts, line_ends, strict=True)
        ]
    return edges


def _edge_ends_by_start(edges: Iterable[tuple[int, int, int, int]]) -> dict[Point, list[Point]]:
    """Return a dict from the start of edges to the list of their ends.

    Two edges have the same start where two set cells touch only diagonally.
    """
    ends_by_start: dict[Point, list[Point]] = {}
    for x0, y0, x1, y1 in edges:
        ends_by_start.setdefault((x0, y0), []).append((x1, y1))
    return ends_by_start


def _outline_loop(start: Point, next_across: dict[Point, list[Point]], next_down: dict[Point, list[Point]]) -> str:
    """Return SVG path data of one closed outline through `start`, and remove its edges from both dicts."""
    parts = [f"M{start[0]} {start[1]}"]
    corner = start
    while True:
        x, y = _pop_edge(next_across, corner)
        parts.append(f"h{x - corner[0]}")
        corner = _pop_edge(next_down, (x, y))
        if corner == start:
            break
        parts.append(f"v{corner[1] - y}")
    return "".join(parts) + "z"


def _pop_edge(table: dict[Point, list[Point]], start: Point) -> Point:
    """Remove one edge that begins at `start` from a dict of edges, and return the end of this edge."""
    ends = table[start]
    end = ends.pop()
    if not ends:
        del table[start]
    return end


# --- lines ----------------------------------------------------------------------------------------


def path_through_points(points: Sequence[Point]) -> str:
    """Return SVG path data of a line through neighbouring cells, with one path command per straight run."""
    if len(points) < 2:
        return ""
    parts = [f"M{points[0][0]} {points[0][1]}"]
    run_x = run_y = 0
    last = (0, 0)
    for (x0, y0), (x1, y1) in pairwise(points):
        step = (x1 - x0, y1 - y0)
        if step == last or last == (0, 0):
            run_x, run_y = run_x + step[0], run_y + step[1]
        else:
            parts.append(line_segment_command(run_x, run_y))
            run_x, run_y = step
        last = step if step != (0, 0) else last
    return "".join([*parts, line_segment_command(run_x, run_y)])


def line_segment_command(dx: int, dy: int) -> str:
    """Return the shortest SVG path command for a straight line by (dx, dy)."""
    if dy == 0:
        return f"h{dx}" if dx else ""
    return f"v{dy}" if dx == 0 else f"l{dx} {dy}"


# --- numbers and colours ---------------------------------------------------------------------------


def short_decimal_text(value: float) -> str:
    """Return a number as short text for SVG: at most three decimals, without trailing zeros, ".5" for 0.5."""
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    if text in ("-0", ""):
        return "0"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def hex_code_of_colour(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def rect_attributes(x: float, y: float, width: float, height: float) -> str:
    return (
        f'x="{short_decimal_text(x)}" y="{short_decimal_text(y)}" width="{short_decimal_text(width)}" height="'
        f'{short_decimal_text(height)}"'
    )


def is_light_colour(colour: Colour) -> bool:
    red, green, blue = colour
    return 0.299 * red + 0.587 * green + 0.114 * blue > 110
