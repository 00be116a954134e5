"""Grid: the terrain, the legal moves of every cell, and edits that say which arcs came and went."""

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, NewType

import numpy as np
import numpy.typing as npt

from sim.kernels import octile, terrain
from sim.movement import USUAL, Movement
from sim.params import ConfigError

Cell = NewType("Cell", int)
"""A cell is y * width + x. Pairs (x, y), x right and y down, exist only at the borders of the program."""

MAX_SIDE = 8192
MAX_CELLS = 1 << 25
"""Largest maps: 37 bits of heuristic and 25 bits of cell number share one 64-bit tie-breaker (openlist.py)."""

PASSABLE = "GSWB."
SOLID = "@OT"

_DOMAIN_OF_CHAR: npt.NDArray[np.uint8] = np.full(256, terrain.BLOCKED, np.uint8)
for _char in ".GSB":
    _DOMAIN_OF_CHAR[ord(_char)] = terrain.GROUND
_DOMAIN_OF_CHAR[ord("W")] = terrain.WATER


@dataclass(frozen=True)
class MapChange:
    """What one edit did: the cells whose terrain changed and the directed arcs that rose or fell with them."""

    cells: npt.NDArray[np.int32]
    tails: npt.NDArray[np.int32]
    heads: npt.NDArray[np.int32]
    rose: npt.NDArray[np.bool_]  # True: the arc is gone (its cost rose to infinity); False: it is new

    @property
    def has_arcs(self) -> bool:
        """Whether any arc rose or fell: a cell that has only blocked ones around it has none."""
        return bool(self.tails.size)

    @property
    def has_new_arcs(self) -> bool:
        return bool((~self.rose).any())


_NO_CELLS = np.empty(0, np.int32)


class _Lookups:
    """What is asked of a map again and again and can be found out anew: no part of what it is, so nothing keeps it."""

    __slots__ = ("last_edited", "noted", "original_cells")

    def __init__(
        self, noted: npt.NDArray[np.int32] | None = None, last_edited: npt.NDArray[np.int32] | None = None
    ) -> None:
        self.noted = noted  # cells whose letters were edited since the version rose; None: not known
        self.last_edited = last_edited  # those that were edited when it rose, or since the time before
        self.original_cells: tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]] | None = None

    def note(self, cells: npt.NDArray[np.int32]) -> None:
        if self.noted is not None:
            self.noted = np.union1d(self.noted, cells) if self.noted.size else cells

    def rise(self) -> None:
        self.noted, self.last_edited = _NO_CELLS, self.noted

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Lookups)

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return _Lookups, ()


@dataclass
class Grid:
    """One map. `terrain` holds MovingAI characters as bytes, `moves` a byte of legal moves per cell."""

    terrain: npt.NDArray[np.uint8]  # [height, width]
    movement: Movement = USUAL
    name: str = "untitled"
    moves: npt.NDArray[np.uint8] = field(init=False)
    original: npt.NDArray[np.uint8] = field(init=False)  # terrain as opened; blocking and freeing go back to it
    version: int = field(init=False, default=0)  # rises with every edit that changed something
    free_count: int = field(init=False)  # cells that can be stood on

    def __post_init__(self) -> None:
        self.height: int = self.terrain.shape[0]
        self.width: int = self.terrain.shape[1]
        check_size(self.width, self.height, self.name)
        least, most = 1.0 + octile.LEAST_GAP, 2.0 - octile.LEAST_GAP
        if not (self.diagonal in (1.0, 2.0) or least <= self.diagonal <= most):
            raise ConfigError(
                f"{self.name}: diagonal: expected 1, 2 or a number from {least} to {most}, got {self.diagonal}"
            )
        self.movement = Movement(self.movement.rule, round(self.diagonal / octile.COST_UNIT) * octile.COST_UNIT)
        self.terrain = np.ascontiguousarray(self.terrain)
        self.original = self.terrain.copy()
        self._domain: npt.NDArray[np.uint8] = _DOMAIN_OF_CHAR[self.terrain].ravel()
        self.free_count = int(np.count_nonzero(self._domain))
        self.moves = np.zeros(self.cells, np.uint8)
        terrain.all_moves(self._domain, self.width, self.height, self.movement.needed, self.moves)
        self.ground = self._ground()
        self._digested = -1  # the version of which moves_digest is
        self._lookups = _Lookups(_NO_CELLS, _NO_CELLS)

    @property
    def diagonal(self) -> float:
        """What a diagonal costs, for costs and for the heuristic."""
        return self.movement.diagonal

    @property
    def longest_way(self) -> float:
        """What no way costs more than that visits no cell twice."""
        return self.movement.dearest * self.free_count

    @property
    def moves_digest(self) -> bytes:
        """16 bytes by which the legal moves are known, computed once for each version: it looks at every cell."""
        if self._digested != self.version:
            self._digested, self._moves_digest = self.version, blake2b(self.moves.tobytes(), digest_size=16).digest()
        return self._moves_digest

    def _ground(self) -> octile.Ground:
        step = octile.DY * self.width + octile.DX
        cost = np.where(np.arange(8) < octile.FIRST_DIAGONAL, 1.0, self.diagonal)
        shift = max(1, (self.cells - 1).bit_length())
        return octile.Ground(self.moves, step, cost, self.width, self.height, shift)

    @classmethod
    def from_rows(cls, rows: list[str], name: str = "untitled", movement: Movement = USUAL) -> "Grid":
        """A grid from its text form, one string per row."""
        width = len(rows[0]) if rows else 0
        for y, row in enumerate(rows):
            if len(row) != width:
                raise ConfigError(f"{name}: rows[{y}]: expected {width} characters, got {len(row)}")
            for x, char in enumerate(row):
                if char not in PASSABLE + SOLID:
                    raise ConfigError(
                        f"{name}: rows[{y}][{x}]: expected one of {' '.join(PASSABLE + SOLID)}, got {char!r}"
                    )
        check_size(width, len(rows), name)
        letters = np.frombuffer("".join(rows).encode("ascii"), np.uint8)
        return cls(letters.reshape(len(rows), width).copy(), movement, name)

    def change_original(self, cells: npt.ArrayLike, letters: npt.NDArray[np.uint8]) -> None:
        """Let some cells have been something else when the map was opened."""
        self.original.reshape(-1)[_cell_list(cells)] = letters
        self._lookups.original_cells = None

    @property
    def original_cells(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """The cells that could be stood on when the map was opened, and the others."""
        if self._lookups.original_cells is None:
            was_free = self.is_passable_letter(self.original.reshape(-1))
            self._lookups.original_cells = np.flatnonzero(was_free), np.flatnonzero(~was_free)
        return self._lookups.original_cells

    def edited_since(self, version: int) -> npt.NDArray[np.int32] | None:
        """The cells whose letters may be others than at a version; None when that is not known."""
        noted, before = self._lookups.noted, self._lookups.last_edited
        if version == self.version or noted is None:
            return noted
        return np.union1d(before, noted) if version == self.version - 1 and before is not None else None

    def copy(self, movement: Movement | None = None) -> "Grid":
        """The same map apart, or with another movement rule: what is done to the one does not change the other."""
        other = Grid(self.terrain.copy(), movement or self.movement, self.name)
        other.original = self.original.copy()
        return other

    def freeze(self) -> "Grid":
        """The map, which nobody can write to any more."""
        for letters in (self.terrain, self.original):
            letters.setflags(write=False)
        return self

    def rows(self) -> list[str]:
        """The text form of the terrain as it is now."""
        return [bytes(row).decode("ascii") for row in self.terrain]

    @property
    def cells(self) -> int:
        return self.width * self.height

    def cell(self, x: int, y: int) -> Cell:
        assert 0 <= x < self.width and 0 <= y < self.height, (x, y, self.width, self.height)
        return Cell(y * self.width + x)

    def xy(self, cell: int) -> tuple[int, int]:
        return cell % self.width, cell // self.width

    def contains(self, x: int, y: int) -> bool:
        return 0 <= x < self.width and 0 <= y < self.height

    def is_free(self, cell: int) -> bool:
        return bool(self._domain[cell] != terrain.BLOCKED)

    @staticmethod
    def is_passable_letter(letters: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
        passable: npt.NDArray[np.bool_] = _DOMAIN_OF_CHAR[letters] != terrain.BLOCKED
        return passable

    @property
    def free(self) -> npt.NDArray[np.bool_]:
        """bool[cells]: which cells can be stood on."""
        free: npt.NDArray[np.bool_] = self._domain != terrain.BLOCKED
        return free

    @property
    def free_map(self) -> npt.NDArray[np.bool_]:
        """The same as rows: bool[height, width]."""
        return self.free.reshape(self.height, self.width)

    def are_free(self, cells: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.bool_]:
        """Which of some cells can be stood on."""
        free: npt.NDArray[np.bool_] = self._domain[cells] != terrain.BLOCKED
        return free

    def free_neighbours(self, cell: int) -> list[Cell]:
        """The cells that one legal move leads to, in the fixed order of directions."""
        mask = int(self.moves[cell])
        return [Cell(cell + int(self.ground.step[d])) for d in range(8) if mask >> d & 1]

    def edit(self, blocked: npt.ArrayLike, freed: npt.ArrayLike) -> MapChange:
        """Block some cells and free others, all at once; say what changed.

        Blocking gives a cell its original solid character back, or '@'; freeing its original passable one,
        or '.'. A cell in both lists ends up free.
        """
        to_block, to_free = _cell_list(blocked), _cell_list(freed)
        flat, original = self.terrain.reshape(-1), self.original.reshape(-1)
        touched = np.unique(np.concatenate([to_block, to_free]))
        before = self._domain[touched]
        was = original[to_block]
        flat[to_block] = np.where(_DOMAIN_OF_CHAR[was] == terrain.BLOCKED, was, ord("@"))
        flat[to_free] = self.freed(to_free)
        self._domain[touched] = _DOMAIN_OF_CHAR[flat[touched]]
        return self._change(touched, before)

    def freed(self, cells: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.uint8]:
        """The letters that cells have when they are freed: their original passable one, or '.'."""
        was = self.original.reshape(-1)[cells]
        return np.where(_DOMAIN_OF_CHAR[was] == terrain.BLOCKED, np.uint8(ord(".")), was)

    def restorable(self, cells: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.bool_]:
        """Return which cells are free and have the same letter when they are blocked and freed again."""
        is_as_freed: npt.NDArray[np.bool_] = self.terrain.reshape(-1)[cells] == self.freed(cells)
        return self.are_free(cells) & is_as_freed

    def put_terrain(self, cells: npt.ArrayLike, letters: npt.NDArray[np.uint8]) -> MapChange:
        """Give cells exact characters, for undo, seek and restore."""
        chosen = _cell_list(cells)
        touched = np.unique(chosen)
        before = self._domain[touched]
        self.terrain.reshape(-1)[chosen] = letters
        self._domain[chosen] = _DOMAIN_OF_CHAR[letters]
        return self._change(touched, before)

    def _change(self, touched: npt.NDArray[np.int32], before: npt.NDArray[np.uint8]) -> MapChange:
        """Renew the moves around those of some cells, each listed once, whose domain is not what it was before."""
        after = self._domain[touched]
        toggled = touched[after != before]
        self.free_count += int(np.count_nonzero(after)) - int(np.count_nonzero(before))
        room = 24 * toggled.size
        tails, heads, rose = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.bool_)
        found = terrain.update_moves(
            self._domain,
            self.width,
            self.height,
            self.movement.needed,
            self.moves,
            toggled,
            self.ground.step,
            tails,
            heads,
            rose,
        )
        self._lookups.note(touched)
        if toggled.size:
            self.version += 1
            self._lookups.rise()
        return MapChange(toggled, tails[:found], heads[:found], rose[:found])

    def __getstate__(self) -> dict[str, object]:
        state = self.__dict__.copy()
        del state["ground"]  # rebuilt around the same `moves`, which agents share
        return state

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self.ground = self._ground()


class SeenGrid(Grid):
    """The same map as another grid, which changes with it and cannot be written to. For agents of strangers."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self.movement, self.name, self.width, self.height = grid.movement, grid.name, grid.width, grid.height
        self.terrain, self.original, self.moves = (sealed(a) for a in (grid.terrain, grid.original, grid.moves))
        self._domain, self._lookups = sealed(grid._domain), grid._lookups
        self.ground = grid.ground._replace(
            moves=self.moves, step=sealed(grid.ground.step), cost=sealed(grid.ground.cost)
        )

    @property
    def version(self) -> int:  # type: ignore[override]
        return self._grid.version

    @property
    def free_count(self) -> int:  # type: ignore[override]
        return self._grid.free_count

    def edit(self, blocked: npt.ArrayLike, freed: npt.ArrayLike) -> MapChange:
        raise TypeError("an agent cannot change the map")

    def put_terrain(self, cells: npt.ArrayLike, letters: npt.NDArray[np.uint8]) -> MapChange:
        raise TypeError("an agent cannot change the map")

    def __getstate__(self) -> dict[str, object]:
        return {"_grid": self._grid}

    def __setstate__(self, state: dict[str, object]) -> None:
        grid = state["_grid"]
        assert isinstance(grid, Grid)
        self.__init__(grid)  # type: ignore[misc]


def sealed(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the same memory as an array that cannot be written to, and whose flag cannot be set again: numpy sets the
    flag of a view only where what it is a view of can be written to.
    """
    return np.asarray(array.data.toreadonly())


def _cell_list(cells: npt.ArrayLike) -> npt.NDArray[np.int32]:
    return np.asarray(cells, np.int32).reshape(-1)


def check_size(width: int, height: int, where: str) -> None:
    """Refuse maps that are empty or too large, before any memory is taken for them."""
    if width < 1 or height < 1:
        raise ConfigError(f"{where}: expected a map of at least 1 x 1 cells, got {width} x {height}")
    if width > MAX_SIDE or height > MAX_SIDE or width * height > MAX_CELLS:
        raise ConfigError(
            f"{where}: expected at most {MAX_SIDE:,} cells a side and {MAX_CELLS:,} in all, got {width:,} x {height:,}"
        )
