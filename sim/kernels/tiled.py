"""Tables with an entry for each cell, laid out in square tiles: for hundreds of agents on one map.

An agent of a crowd knows a strip of the map along its way. Row by row, every row that it enters is a page of memory of
its own, and 500 agents wait for first touches of pages more than they search: 1.5 MB each, 70 ms in the first tick. In
tiles that fill a page (16 x 16 records of 16 bytes) the same cells lie on a quarter of the pages.

A kernel writes `table[s]` for either kind of table; numba compiles it once for each. Only compiled kernels read tiles,
so without the compiler there are none. Whoever else looks is given a copy in rows (`in_rows`).
"""

import operator
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload, register_jitable

from sim.kernels.jit import HAS_RECORDS, kernel
from sim.kernels.memory import scratch, stamped, zeros
from sim.kernels.octile import ROW_SHIFT


class Tiled(NamedTuple):
    """Make it only with new_tiled(). It stands where an array of `size` entries would."""

    records: np.ndarray
    size: int  # cells
    width: int  # of the map
    inverse: int  # see octile.inverse_of
    across: int  # tiles in a row of tiles


Table = Any
"""npt.NDArray[Any] | Tiled: agents that are drawn have the first, and who draws asks for its fields."""


def width_of_tiles(width: int) -> int:
    """What to ask new tables for on a map so wide: tiles if there is a compiler, else (0) rows."""
    return 0 if HAS_RECORDS else width


def tile_bits(itemsize: int) -> int:
    """A tile is a square of 2 ** bits, so large that it fills a page of 4 KB, or half of one."""
    return 5 if itemsize <= 4 else 4


def tiled_count(cells: int, width: int, itemsize: int) -> int:
    """Entries of a table for a map of so many cells, those of tiles that the map fills only in part included."""
    side = 1 << tile_bits(itemsize)
    return -(-width // side) * -(-(cells // width) // side) * side * side


def new_table(
    purpose: str,
    cells: int,
    dtype: npt.DTypeLike,
    width: int = 0,
    is_reused: bool = False,
    stamp: npt.NDArray[np.int64] | None = None,
) -> Any:
    """An entry for each cell, in rows or, for a map of the `width` that is said, in tiles.

    With a stamp its user marks what it wrote by that number, see memory.Pool; without one it reads only what it wrote.
    """
    itemsize = np.dtype(dtype).itemsize
    # Others must not find what lies beyond the map: nobody ever wipes that.
    purpose = f"{purpose}, {width} wide" if width else purpose
    count = tiled_count(cells, width, itemsize) if width else cells
    in_large_pages = not width  # tiles are for hundreds of agents, each of which knows a strip
    if stamp is None:
        records = scratch(purpose, count, dtype, is_reused, in_large_pages=in_large_pages)
    else:
        records = stamped(purpose, count, dtype, stamp, is_reused, in_large_pages=in_large_pages)
    if width:
        return in_tiles(records, cells, width)
    return records.view(np.recarray) if records.dtype.names else records


def in_tiles(records: npt.NDArray[Any], cells: int, width: int) -> Tiled:
    """The table whose entries these are."""
    assert cells * width < 1 << ROW_SHIFT
    side = 1 << tile_bits(records.itemsize)
    return Tiled(records.view(np.ndarray), cells, width, ((1 << ROW_SHIFT) + width - 1) // width, -(-width // side))


_TO_READ, _TO_KEEP, _IS_DATA = 0, 3, 1  # what LLVM calls reading, keeping in all caches, and no code

_OPTIONS: Any = {"_nrt": False, "boundscheck": None}  # as jit.py has them


@register_jitable(**_OPTIONS)
def _slot(table: Any, s: Any, bits: Any) -> Any:
    """Where the entry of cell s lies."""
    s = np.int64(s)
    y = (s * table.inverse) >> ROW_SHIFT
    x = s - y * table.width
    side = (1 << bits) - 1
    return np.uint64(((y >> bits) * table.across + (x >> bits)) << 2 * bits | (y & side) << bits | x & side)


def ask_for(table: Table, s: int) -> None:
    """Say that the entry of cell s is wanted soon: meanwhile a kernel that waits for many can ask for the others."""


def put(table: Table, s: int, value: object) -> None:
    """table[s] = value, in Python."""
    if isinstance(table, Tiled):
        table.records[int(_slot(table, s, tile_bits(table.records.itemsize)))] = value
    else:
        table[s] = value


def touch(table: Table, cells: npt.NDArray[np.int64]) -> None:
    """Have the system give out the pages of some cells before anybody waits for them."""
    is_tiled = isinstance(table, Tiled)
    records = table.records if is_tiled else table.view(np.ndarray)
    places = _slot(table, cells, tile_bits(records.itemsize)) if is_tiled else cells
    first_bytes = records.view(np.uint8)[:: records.itemsize]
    first_bytes[places] = first_bytes[places]


def in_rows(table: Table) -> npt.NDArray[Any]:
    """A copy of it in rows, cell by cell; an array as it is."""
    if not isinstance(table, Tiled):
        return cast(npt.NDArray[Any], table)
    rows = np.zeros(table.size, table.records.dtype)
    _copy(table, rows)
    return rows.view(np.recarray) if rows.dtype.names else rows


def laid_out(table: Table, width: int) -> Table:
    """The same table for a map of this width in tiles, or (0) in rows."""
    if isinstance(table, Tiled) == bool(width):
        return table
    if not width:
        return in_rows(table)
    dtype = table.dtype
    tiles = in_tiles(zeros(tiled_count(table.size, width, dtype.itemsize), dtype), table.size, width)
    _copy(table, tiles)
    return tiles


@kernel
def _copy(table, copy):
    """Writes: copy."""
    for s in range(copy.size):
        copy[s] = table[s]


# --- what numba is told ---------------------------------------------------------------------------


def _bits_of(table: Any) -> int | None:
    """Of the tiles of this type of table, None if it is none."""
    if not isinstance(table, types.BaseNamedTuple) or cast(Any, table).instance_class is not Tiled:
        return None
    dtype: Any = cast(Any, table).types[0].dtype
    return tile_bits(dtype.size if isinstance(dtype, types.Record) else dtype.bitwidth // 8)


def _fetch(typing: Any, records: Any, place: Any) -> Any:
    """Have the processor fetch the line of memory in which an entry lies."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        byte = builder.bitcast(builder.gep(array.data, [args[1]]), ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte.type, number, number, number])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [byte.type], kind)
        builder.call(fetch, [byte, number(_TO_READ), number(_TO_KEEP), number(_IS_DATA)])
        return context.get_dummy_value()

    return types.void(records, types.uint64), generate


_prefetch: Any = intrinsic(_fetch)


@overload(ask_for, jit_options=_OPTIONS, strict=False)
def _ask_for(table: Any, s: Any) -> Any:
    bits = _bits_of(table)
    if bits is None:
        return lambda table, s: _prefetch(table, np.uint64(s))
    return lambda table, s: _prefetch(table.records, _slot(table, s, bits))


@overload(operator.getitem, jit_options=_OPTIONS, strict=False)
def _get(table: Any, s: Any) -> Any:
    bits = _bits_of(table)
    return None if bits is None else lambda table, s: table.records[_slot(table, s, bits)]


@overload(operator.setitem, jit_options=_OPTIONS, strict=False)
def _set(table: Any, s: Any, value: Any) -> Any:
    if (bits := _bits_of(table)) is None:
        return None

    def write(table: Any, s: Any, value: Any) -> None:
        table.records[_slot(table, s, bits)] = value

    return write
