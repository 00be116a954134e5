"""Grid: the terrain of a map, the legal moves of every cell, and edits that report the arcs they add and remove.

An arc is a legal move from one cell (its tail) to a neighbour (its head). The domain of a cell is blocked, ground or
water. The "ground" of a grid (octile.MapArrays) is the set of arrays in which kernels read the map.
"""

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, NewType

import numpy as np
import numpy.typing as npt

from sim.kernels import octile, terrain
from sim.movement import DEFAULT_MOVEMENT, Movement
from sim.params import ConfigError

Cell = NewType("Cell", int)
"""Number of a cell: y * width + x. Pairs (x, y), with x to the right and y down, are used only for input and output."""

MAX_MAP_SIDE = 8192
MAX_MAP_CELLS = 1 << 25
"""Maximum size of a map, because open lists break ties with one 64-bit number, which has 37 bits for the heuristic and
25 bits for the cell (openlist.py)."""

PASSABLE_LETTERS = "GSWB."
SOLID_LETTERS = "@OT"

_DOMAIN_OF_CHAR: npt.NDArray[np.uint8] = np.full(256, terrain.BLOCKED, np.uint8)
for _char in ".GSB":
    _DOMAIN_OF_CHAR[ord(_char)] = terrain.GROUND
_DOMAIN_OF_CHAR[ord("W")] = terrain.WATER


@dataclass(frozen=True)
class MapChange:
    """Effect of one edit: the cells whose domain changed, and the directed arcs that appeared or disappeared.

    The cost of an arc that disappeared rose to infinity; the cost of a new arc fell from infinity.
    """

    cells: npt.NDArray[np.int32]  # cells whose domain (blocked, ground or water) changed, each listed once
    tails: npt.NDArray[np.int32]  # [arcs] cell at which each arc begins
    heads: npt.NDArray[np.int32]  # [arcs] cell to which each arc leads
    rose: npt.NDArray[np.bool_]  # [arcs] True: the arc disappeared (its cost rose to infinity); False: it is new

    @property
    def has_changed_arcs(self) -> bool:
        """Return whether any arc appeared or disappeared. The edit of a cell among blocked cells changes no arcs."""
        return bool(self.tails.size)

    @property
    def has_new_arcs(self) -> bool:
        return bool((~self.rose).any())


_NO_CELLS = np.empty(0, np.int32)


class _GridCaches:
    """Cached data of a grid, not part of its state: copies of a grid get empty caches, and caches compare equal."""

    __slots__ = ("cells_edited_in_previous_version", "noted", "original_free_and_blocked_cells")

    def __init__(
        self, noted: npt.NDArray[np.int32] | None = None, last_edited: npt.NDArray[np.int32] | None = None
    ) -> None:
        self.noted = noted  # cells edited since the present version of the map began; None: unknown
        # Cells edited during the previous version, up to the edit that ended it.
        self.cells_edited_in_previous_version = last_edited
        self.original_free_and_blocked_cells: tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]] | None = None

    def add_edited_cells(self, cells: npt.NDArray[np.int32]) -> None:
        """Add cells to those edited in the present version. `cells`: edited cells, each listed once."""
        if self.noted is not None:
            self.noted = np.union1d(self.noted, cells) if self.noted.size else cells

    def begin_map_version(self) -> None:
        """Start collecting edited cells for a new version of the map."""
        self.noted, self.cells_edited_in_previous_version = _NO_CELLS, self.noted

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _GridCaches)

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return _GridCaches, ()


@dataclass
class Grid:
    """One map: its terrain, as characters of the MovingAI format, and the legal moves of each cell as a bit mask."""

    terrain: npt.NDArray[np.uint8]  # [height, width] character of each cell as a byte
    movement: Movement = DEFAULT_MOVEMENT
    name: str = "untitled"
    moves: npt.NDArray[np.uint8] = field(init=False)  # [cells] bit d set: the move in direction d is legal
    # Terrain when the map was opened; freed cells get it back.
    original_terrain: npt.NDArray[np.uint8] = field(init=False)
    version: int = field(init=False, default=0)  # counter, incremented by every edit that changes the domain of a cell
    free_cell_count: int = field(init=False)  # number of free cells

    def __post_init__(self) -> None:
        self.height: int = self.terrain.shape[0]
        self.width: int = self.terrain.shape[1]
        check_map_size(self.width, self.height, self.name)
        low, high = 1.0 + octile.MIN_DIAGONAL_GAP, 2.0 - octile.MIN_DIAGONAL_GAP
        if not (self.diagonal_cost in (1.0, 2.0) or low <= self.diagonal_cost <= high):
            raise ConfigError(
                f"{self.name}: diagonal: expected 1, 2 or a number from {low} to {high}, got {self.diagonal_cost}"
            )
        self.movement = Movement(self.movement.rule, round(self.diagonal_cost / octile.COST_UNIT) * octile.COST_UNIT)
        self.terrain = np.ascontiguousarray(self.terrain)
        self.original_terrain = self.terrain.copy()
        self._cell_domains: npt.NDArray[np.uint8] = _DOMAIN_OF_CHAR[self.terrain].ravel()
        self.free_cell_count = int(np.count_nonzero(self._cell_domains))
        self.moves = np.zeros(self.cells, np.uint8)
        terrain.compute_move_masks(
            self._cell_domains, self.width, self.height, self.movement.required_shoulders, self.moves
        )
        self.map_arrays = self._build_map_arrays()
        self._digested_version = -1  # map version for which `legal_moves_digest` is cached; -1: it is not cached
        self._caches = _GridCaches(_NO_CELLS, _NO_CELLS)

    @property
    def diagonal_cost(self) -> float:
        """Return the cost of a diagonal move, which also defines the heuristic."""
        return self.movement.diagonal

    @property
    def max_path_cost(self) -> float:
        """Return an upper bound for the cost of any path on this map that visits no cell twice."""
        return self.movement.max_move_cost * self.free_cell_count

    @property
    def legal_moves_digest(self) -> bytes:
        """Return a digest of all legal moves (16 bytes), cached per map version, because it depends on every cell."""
        if self._digested_version != self.version:
            self._digested_version, self._moves_digest = (
                self.version,
                blake2b(self.moves.tobytes(), digest_size=16).digest(),
            )
        return self._moves_digest

    def _build_map_arrays(self) -> octile.MapArrays:
        step = octile.DY * self.width + octile.DX
        shift = max(1, (self.cells - 1).bit_length())
        return octile.MapArrays(self.moves, step, self.movement.direction_costs, self.width, self.height, shift)

    @classmethod
    def from_text_rows(cls, rows: list[str], name: str = "untitled", movement: Movement = DEFAULT_MOVEMENT) -> "Grid":
        """Create a grid from text rows of terrain characters, one string per row.

        Raises:
            ConfigError: rows differ in length, a character is unknown, or the map is empty or too large.
        """
        width = len(rows[0]) if rows else 0
        for y, row in enumerate(rows):
            if len(row) != width:
                raise ConfigError(f"{name}: rows[{y}]: expected {width} characters, got {len(row)}")
            for x, char in enumerate(row):
                if char not in PASSABLE_LETTERS + SOLID_LETTERS:
                    raise ConfigError(
                        f"{name}: rows[{y}][{x}]: expected one of {' '.join(PASSABLE_LETTERS + SOLID_LETTERS)}, "
                        f"got {char!r}"
                    )
        check_map_size(width, len(rows), name)
        letters = np.frombuffer("".join(rows).encode("ascii"), np.uint8)
        return cls(letters.reshape(len(rows), width).copy(), movement, name)

    def set_original_terrain(self, cells: npt.ArrayLike, letters: npt.NDArray[np.uint8]) -> None:
        """Replace terrain characters in `original_terrain`, the map as opened. The present terrain does not change."""
        self.original_terrain.reshape(-1)[_as_cell_array(cells)] = letters
        self._caches.original_free_and_blocked_cells = None

    @property
    def original_free_and_blocked_cells(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return the cells that were free when the map was opened, and the cells that were blocked."""
        if self._caches.original_free_and_blocked_cells is None:
            was_free = self.passable_letter_mask(self.original_terrain.reshape(-1))
            self._caches.original_free_and_blocked_cells = np.flatnonzero(was_free), np.flatnonzero(~was_free)
        return self._caches.original_free_and_blocked_cells

    def cells_edited_since(self, version: int) -> npt.NDArray[np.int32] | None:
        """Return the cells whose terrain may have changed since a version of the map; None if that is unknown."""
        noted, before = self._caches.noted, self._caches.cells_edited_in_previous_version
        if version == self.version or noted is None:
            return noted
        return np.union1d(before, noted) if version == self.version - 1 and before is not None else None

    def copy(self, movement: Movement | None = None) -> "Grid":
        """Return an independent copy of the map. `movement`: movement rule of the copy; None: the rule of this map."""
        other = Grid(self.terrain.copy(), movement or self.movement, self.name)
        other.original_terrain = self.original_terrain.copy()
        return other

    def make_read_only(self) -> "Grid":
        """Make the terrain read-only, and return this grid, not a copy."""
        for letters in (self.terrain, self.original_terrain):
            letters.setflags(write=False)
        return self

    def text_rows(self) -> list[str]:
        """Return the present terrain as text, one string of terrain characters per row."""
        return [bytes(row).decode("ascii") for row in self.terrain]

    @property
    def cells(self) -> int:
        """Return the number of cells of the map, free and blocked."""
        return self.width * self.height

    def cell(self, x: int, y: int) -> Cell:
        assert 0 <= x < self.width and 0 <= y < self.height, (x, y, self.width, self.height)
        return Cell(y * self.width + x)

    def xy(self, cell: int) -> tuple[int, int]:
        return cell % self.width, cell // self.width

    def contains_point(self, x: int, y: int) -> bool:
        return 0 <= x < self.width and 0 <= y < self.height

    def is_free(self, cell: int) -> bool:
        return bool(self._cell_domains[cell] != terrain.BLOCKED)

    @staticmethod
    def passable_letter_mask(letters: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
        passable: npt.NDArray[np.bool_] = _DOMAIN_OF_CHAR[letters] != terrain.BLOCKED
        return passable

    @property
    def free_mask(self) -> npt.NDArray[np.bool_]:
        """Return a mask of the free cells, as bool[cells]."""
        free: npt.NDArray[np.bool_] = self._cell_domains != terrain.BLOCKED
        return free

    @property
    def free_mask_2d(self) -> npt.NDArray[np.bool_]:
        """Return a mask of the free cells, as bool[height, width]."""
        return self.free_mask.reshape(self.height, self.width)

    def are_cells_free(self, cells: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.bool_]:
        """Return a mask that says which of `cells` are free."""
        free: npt.NDArray[np.bool_] = self._cell_domains[cells] != terrain.BLOCKED
        return free

    def free_neighbours(self, cell: int) -> list[Cell]:
        """Return the cells that one legal move from a cell reaches, in the fixed order of directions."""
        mask = int(self.moves[cell])
        return [Cell(cell + int(self.map_arrays.step[d])) for d in range(8) if mask >> d & 1]

    def block_and_free(self, blocked: npt.ArrayLike, freed: npt.ArrayLike) -> MapChange:
        """Block some cells and free others in one edit; return the changed cells and arcs.

        A blocked cell gets its original character if that is solid, else '@'. A freed cell gets its original character
        if that is passable, else '.'. A cell in both lists ends up free.
        """
        to_block, to_free = _as_cell_array(blocked), _as_cell_array(freed)
        flat, original = self.terrain.reshape(-1), self.original_terrain.reshape(-1)
        touched = np.unique(np.concatenate([to_block, to_free]))
        before = self._cell_domains[touched]
        was = original[to_block]
        flat[to_block] = np.where(_DOMAIN_OF_CHAR[was] == terrain.BLOCKED, was, ord("@"))
        flat[to_free] = self.terrain_when_freed(to_free)
        self._cell_domains[touched] = _DOMAIN_OF_CHAR[flat[touched]]
        return self._finish_edit(touched, before)

    def terrain_when_freed(self, cells: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.uint8]:
        """Return the characters that cells get when they are freed: the original character if passable, else '.'."""
        was = self.original_terrain.reshape(-1)[cells]
        return np.where(_DOMAIN_OF_CHAR[was] == terrain.BLOCKED, np.uint8(ord(".")), was)

    def restorable_mask(self, cells: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.bool_]:
        """Return a mask of the cells that are free and would have the same character after being blocked and freed."""
        is_as_freed: npt.NDArray[np.bool_] = self.terrain.reshape(-1)[cells] == self.terrain_when_freed(cells)
        return self.are_cells_free(cells) & is_as_freed

    def set_terrain(self, cells: npt.ArrayLike, letters: npt.NDArray[np.uint8]) -> MapChange:
        """Set the terrain characters of cells, for undo, seek and restore; return the changed cells and arcs."""
        chosen = _as_cell_array(cells)
        touched = np.unique(chosen)
        before = self._cell_domains[touched]
        self.terrain.reshape(-1)[chosen] = letters
        self._cell_domains[chosen] = _DOMAIN_OF_CHAR[letters]
        return self._finish_edit(touched, before)

    def _finish_edit(self, touched: npt.NDArray[np.int32], before: npt.NDArray[np.uint8]) -> MapChange:
        """Update legal moves, version and caches after an edit of the terrain; return the changed cells and arcs.

        Args:
            touched: edited cells, each listed once.
            before: domain of each edited cell before the edit; `_cell_domains` has the new domains.
        """
        after = self._cell_domains[touched]
        toggled = touched[after != before]
        self.free_cell_count += int(np.count_nonzero(after)) - int(np.count_nonzero(before))
        room = 24 * toggled.size
        tails, heads, rose = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.bool_)
        found = terrain.update_move_masks(
            self._cell_domains,
            self.width,
            self.height,
            self.movement.required_shoulders,
            self.moves,
            toggled,
            self.map_arrays.step,
            tails,
            heads,
            rose,
        )
        self._caches.add_edited_cells(touched)
        if toggled.size:
            self.version += 1
            self._caches.begin_map_version()
        return MapChange(toggled, tails[:found], heads[:found], rose[:found])

    def __getstate__(self) -> dict[str, object]:
        state = self.__dict__.copy()
        del state["map_arrays"]  # __setstate__ builds it again around the same `moves` array, which agents share
        return state

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self.map_arrays = self._build_map_arrays()


class ReadOnlyGrid(Grid):
    """Read-only view of the present state of another grid, for agents from users' files: they must not edit the map."""

    def __init__(self, grid: Grid) -> None:
        self._source_grid = grid
        self.movement, self.name, self.width, self.height = grid.movement, grid.name, grid.width, grid.height
        self.terrain, self.original_terrain, self.moves = (
            read_only_view(a) for a in (grid.terrain, grid.original_terrain, grid.moves)
        )
        self._cell_domains, self._caches = read_only_view(grid._cell_domains), grid._caches
        self.map_arrays = grid.map_arrays._replace(
            moves=self.moves, step=read_only_view(grid.map_arrays.step), cost=read_only_view(grid.map_arrays.cost)
        )

    @property
    def version(self) -> int:  # type: ignore[override]
        return self._source_grid.version

    @property
    def free_cell_count(self) -> int:  # type: ignore[override]
        return self._source_grid.free_cell_count

    def block_and_free(self, blocked: npt.ArrayLike, freed: npt.ArrayLike) -> MapChange:
        raise TypeError("an agent cannot change the map")

    def set_terrain(self, cells: npt.ArrayLike, letters: npt.NDArray[np.uint8]) -> MapChange:
        raise TypeError("an agent cannot change the map")

    def __getstate__(self) -> dict[str, object]:
        return {"_grid": self._source_grid}

    def __setstate__(self, state: dict[str, object]) -> None:
        grid = state["_grid"]
        assert isinstance(grid, Grid)
        self.__init__(grid)  # type: ignore[misc]


def read_only_view(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a read-only view of an array that cannot be made writeable again.

    numpy lets a view become writeable only if the memory that it is based on is writeable, and this view is based on a
    read-only buffer.
    """
    return np.asarray(array.data.toreadonly())


def _as_cell_array(cells: npt.ArrayLike) -> npt.NDArray[np.int32]:
    return np.asarray(cells, np.int32).reshape(-1)


def check_map_size(width: int, height: int, where: str) -> None:
    """Raise a ConfigError if a map is empty or too large. Call this function before memory is allocated for a map."""
    if width < 1 or height < 1:
        raise ConfigError(f"{where}: expected a map of at least 1 x 1 cells, got {width} x {height}")
    if width > MAX_MAP_SIDE or height > MAX_MAP_SIDE or width * height > MAX_MAP_CELLS:
        raise ConfigError(
            f"{where}: expected at most {MAX_MAP_SIDE:,} cells a side and {MAX_MAP_CELLS:,} in all, "
            f"got {width:,} x {height:,}"
        )
