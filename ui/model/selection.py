"""Selections of map cells, and copied pieces of maps.

A Selection is any set of cells, stored as a mask within its bounding box. A Piece is such a set with its letters,
independent of any map. Both can be mirrored and turned. This module does not use pygame.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sim.grid import SOLID_LETTERS, Grid
from ui.model.drawing_tools import Point

Mask = npt.NDArray[np.bool_]
Letters = npt.NDArray[np.uint8]
OutlineLines = npt.NDArray[np.int32]
"""Straight lines of an outline, int32[count, 3]: number of the border line, then begin and end along it, in cells."""

MIRROR_LEFT_RIGHT, MIRROR_TOP_BOTTOM, ROTATE_RIGHT, ROTATE_LEFT = (
    "left and right",
    "top and bottom",
    "to the right",
    "to the left",
)


def _mirrored_or_rotated(cells: npt.NDArray[np.generic], transform: str) -> npt.NDArray[np.generic]:
    """Return a mirrored or turned array of cells.

    Args:
        cells: The array.
        transform: MIRROR_LEFT_RIGHT, MIRROR_TOP_BOTTOM, ROTATE_RIGHT or ROTATE_LEFT.
    """
    if transform == MIRROR_LEFT_RIGHT:
        return cells[:, ::-1]
    if transform == MIRROR_TOP_BOTTOM:
        return cells[::-1, :]
    return np.rot90(cells, -1 if transform == ROTATE_RIGHT else 1)


@dataclass(frozen=True, eq=False)
class Selection:
    """Selected cells of a map, as a mask that is as small as possible."""

    left: int  # map column of the first column of the mask
    top: int  # map row of the first row of the mask
    mask: Mask  # bool[height, width]: whether each cell is selected

    @classmethod
    def from_mask(cls, mask: Mask) -> "Selection | None":
        """Return the selection of all cells that are True in a mask of the whole map; None if there are none."""
        rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        if not rows.size:
            return None
        top, bottom, left, right = int(rows[0]), int(rows[-1]) + 1, int(columns[0]), int(columns[-1]) + 1
        return cls(left, top, mask[top:bottom, left:right].copy())

    @classmethod
    def from_points(cls, cells: Iterable[Point], grid: Grid) -> "Selection | None":
        """Return the selection of those cells (x, y) that are on the map; None if there are none."""
        mask = np.zeros((grid.height, grid.width), np.bool_)
        for x, y in cells:
            if grid.contains_point(x, y):
                mask[y, x] = True
        return cls.from_mask(mask)

    @classmethod
    def from_cells(cls, cells: Sequence[int], grid: Grid) -> "Selection | None":
        mask = np.zeros(grid.cells, np.bool_)
        mask[np.asarray(cells, np.int64)] = True
        return cls.from_mask(mask.reshape(grid.height, grid.width))

    @classmethod
    def from_corners(cls, corner: Point, opposite: Point, grid: Grid) -> "Selection | None":
        """Return the selection of a rectangle, clipped to the map; None if no cell of it is on the map."""
        (left, right), (top, bottom) = (sorted((corner[i], opposite[i])) for i in (0, 1))
        left, top = max(0, left), max(0, top)
        width, height = min(grid.width, right + 1) - left, min(grid.height, bottom + 1) - top
        return cls(left, top, np.ones((height, width), np.bool_)) if width > 0 and height > 0 else None

    @property
    def width(self) -> int:
        return int(self.mask.shape[1])

    @property
    def height(self) -> int:
        return int(self.mask.shape[0])

    @cached_property
    def cell_count(self) -> int:
        return int(np.count_nonzero(self.mask))

    @property
    def is_rectangle(self) -> bool:
        return self.cell_count == self.width * self.height

    def __str__(self) -> str:
        size = f"{self.width} x {self.height}"
        return size if self.is_rectangle else f"{self.cell_count:,} cells in {size}"

    def contains_point(self, point: Point) -> bool:
        x, y = point[0] - self.left, point[1] - self.top
        return 0 <= x < self.width and 0 <= y < self.height and bool(self.mask[y, x])

    def cells(self, grid: Grid) -> npt.NDArray[np.int32]:
        """Return the selected cells that are on the map, as cell numbers, row by row."""
        inside = self.clipped_to_map(grid)
        if inside is None:
            return np.empty(0, np.int32)
        ys, xs = np.nonzero(inside.mask)
        return ((ys + inside.top) * grid.width + xs + inside.left).astype(np.int32)

    def clipped_to_map(self, grid: Grid) -> "Selection | None":
        return self if self._is_inside_map(grid) else Selection.from_mask(self._mask_on_map(grid))

    def _is_inside_map(self, grid: Grid) -> bool:
        right, bottom = self.left + self.width, self.top + self.height
        return self.left >= 0 and self.top >= 0 and right <= grid.width and bottom <= grid.height

    def _mask_on_map(self, grid: Grid) -> Mask:
        """Return the selection as a mask of the whole map, without cells outside the map."""
        whole = np.zeros((grid.height, grid.width), np.bool_)
        left, top = max(0, self.left), max(0, self.top)
        right, bottom = min(grid.width, self.left + self.width), min(grid.height, self.top + self.height)
        if left < right and top < bottom:
            rows, columns = slice(top - self.top, bottom - self.top), slice(left - self.left, right - self.left)
            whole[top:bottom, left:right] = self.mask[rows, columns]
        return whole

    def union_with(self, other: "Selection", grid: Grid) -> "Selection | None":
        return Selection.from_mask(self._mask_on_map(grid) | other._mask_on_map(grid))

    def difference_from(self, other: "Selection", grid: Grid) -> "Selection | None":
        return Selection.from_mask(self._mask_on_map(grid) & ~other._mask_on_map(grid))

    def moved_by(self, dx: int, dy: int) -> "Selection":
        return Selection(self.left + dx, self.top + dy, self.mask)

    def mirrored_or_rotated(self, transform: str, grid: Grid) -> "Selection | None":
        """Return the selection mirrored or turned about its centre, moved onto the map; None if it does not fit."""
        mask = _mirrored_or_rotated(self.mask, transform).astype(np.bool_)
        height, width = mask.shape
        if width > grid.width or height > grid.height:
            return None
        # offsets are rounded towards zero, so that turning the selection back restores its position
        left = self.left + int((self.width - width) / 2)
        top = self.top + int((self.height - height) / 2)
        return Selection(max(0, min(grid.width - width, left)), max(0, min(grid.height - height, top)), mask)

    @cached_property
    def outline(self) -> tuple[OutlineLines, OutlineLines]:
        """Return the horizontal and the vertical lines of the outline of the selection, in map coordinates."""
        padded = np.pad(self.mask, 1)
        across = padded[1:, 1:-1] != padded[:-1, 1:-1]  # bool[border between two rows, column]: is on the outline
        down = (padded[1:-1, 1:] != padded[1:-1, :-1]).T  # bool[border between columns, row]: is on the outline
        return _border_lines_of_runs(across, self.top, self.left), _border_lines_of_runs(down, self.left, self.top)


def _border_lines_of_runs(borders: Mask, line_from: int, run_from: int) -> OutlineLines:
    """Return a line (see `OutlineLines`) for each run of True values in a row of a mask, shifted by offsets."""
    changes = np.diff(np.pad(borders, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    lines, run_starts = np.nonzero(changes == 1)
    _, run_ends = np.nonzero(changes == -1)
    return np.stack([lines + line_from, run_starts + run_from, run_ends + run_from], axis=1).astype(np.int32)


@dataclass(frozen=True, eq=False)
class MapPiece:
    """Piece of a map: copied cells with their map letters, independent of the map."""

    terrain_letters: Letters  # uint8[height, width]: map letter of each cell, as ASCII code
    mask: Mask  # bool[height, width]: cells that belong to the piece

    @classmethod
    def copy_from_map(cls, selection: Selection, grid: Grid) -> "MapPiece":
        """Return the piece of map in a selection; all selected cells must be on the map."""
        rows = slice(selection.top, selection.top + selection.height)
        columns = slice(selection.left, selection.left + selection.width)
        return cls(grid.terrain[rows, columns].copy(), selection.mask)

    @property
    def width(self) -> int:
        return int(self.mask.shape[1])

    @property
    def height(self) -> int:
        return int(self.mask.shape[0])

    def __str__(self) -> str:
        return f"piece of {self.width} x {self.height}"

    def mirrored_or_rotated(self, transform: str) -> "MapPiece":
        letters, mask = (
            _mirrored_or_rotated(self.terrain_letters, transform).astype(np.uint8),
            _mirrored_or_rotated(self.mask, transform).astype(np.bool_),
        )
        return MapPiece(letters, mask)

    def selection_at(self, left: int, top: int) -> Selection:
        """Return the selection that the piece covers with its upper left corner at (left, top)."""
        return Selection(left, top, self.mask)

    def selection_centred_on(self, point: Point) -> Selection:
        """Return the selection that the piece covers with its centre at a cell."""
        return self.selection_at(point[0] - self.width // 2, point[1] - self.height // 2)

    def letters_for_target(self, target: Selection, grid: Grid) -> Letters:
        """Return the letters of the piece for the cells of `target` on the map, in the order of `Selection.cells`."""
        ys, xs = np.nonzero(self.mask)
        on_map = (xs + target.left >= 0) & (xs + target.left < grid.width)
        on_map &= (ys + target.top >= 0) & (ys + target.top < grid.height)
        return self.terrain_letters[ys[on_map], xs[on_map]]

    def to_grid(self) -> Grid:
        """Return the piece as a map of its own, in which cells outside the piece are blocked."""
        return Grid(np.where(self.mask, self.terrain_letters, ord(SOLID_LETTERS[0])).astype(np.uint8), name="piece")
