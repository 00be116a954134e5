"""Tables with an entry for each cell, laid out in square tiles: for hundreds of agents on one map.

Each of hundreds of agents touches only a strip of the map along its way. In row order, each row of cells that the strip
crosses is in a memory page of its own, and 500 agents spend more time on first touches of pages than on their searches:
1.5 MB for each agent, 70 ms in the first tick. In tiles that fill a page (16 x 16 records of 16 bytes) the same cells
are in a quarter of the pages.

The source of a kernel has `table[s]` for both layouts, and numba compiles the kernel once for each layout. Only
compiled kernels can index tiles, so without the compiler no table is tiled. Python code reads a copy in row order
(`in_row_order`).
"""

import operator
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload, register_jitable

from sim.kernels.jit import IS_SIM_INTERPRETED, kernel
from sim.kernels.memory import scratch_array, stamped_array, untouched_zeros
from sim.kernels.octile import ROW_SHIFT


class TiledTable(NamedTuple):
    """Table in tiles, used where an array of `size` entries would be.

    Make it only with new_table() or as_tiled_table().
    """

    records: np.ndarray  # entries of all cells, tile after tile
    size: int  # number of cells of the map
    width: int  # width of the map in cells
    inverse: int  # factor that replaces a division by the width, see octile.inverse_of
    across: int  # number of tiles in a row of tiles


Table = Any
"""npt.NDArray[Any] | Tiled. The tables of displayed agents are arrays, because drawing code reads fields by name."""


def tile_width_if_compiled(width: int) -> int:
    """Return the `width` argument of new_table() for a table in tiles, or 0 for row order if there is no compiler."""
    return 0 if IS_SIM_INTERPRETED else width


def tile_bits(itemsize: int) -> int:
    """Return log2 of the side of a tile in cells; a tile fills a page of 4 KB, or half of one."""
    return 5 if itemsize <= 4 else 4


def tiled_entry_count(cells: int, width: int, itemsize: int) -> int:
    """Return the number of entries of a tiled table for a map, including unused entries outside the map's border."""
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
    """Return a table with an entry for each cell.

    Args:
        purpose: Key under which pooled memory is reused, see memory.Pool.
        cells: Number of cells of the map.
        dtype: Type of an entry.
        width: Width of the map for a table in tiles, 0 for one in row order.
        is_reused: Whether the memory comes from the pool and returns to it.
        stamp: Number by which the user marks the entries it has written, see memory.Pool; None if the user reads only
            entries that it has written.
    """
    itemsize = np.dtype(dtype).itemsize
    # Tables of another width must not reuse this block: entries outside the map are never cleared.
    purpose = f"{purpose}, {width} wide" if width else purpose
    count = tiled_entry_count(cells, width, itemsize) if width else cells
    in_large_pages = not width  # small pages for tiles, because each of many agents touches only a strip of the map
    if stamp is None:
        records = scratch_array(purpose, count, dtype, is_reused, in_large_pages=in_large_pages)
    else:
        records = stamped_array(purpose, count, dtype, stamp, is_reused, in_large_pages=in_large_pages)
    if width:
        return as_tiled_table(records, cells, width)
    return records.view(np.recarray) if records.dtype.names else records


def as_tiled_table(records: npt.NDArray[Any], cells: int, width: int) -> TiledTable:
    """Return a tiled table whose entries are `records`, an array that is in tile order already."""
    assert cells * width < 1 << ROW_SHIFT
    side = 1 << tile_bits(records.itemsize)
    return TiledTable(
        records.view(np.ndarray), cells, width, ((1 << ROW_SHIFT) + width - 1) // width, -(-width // side)
    )


# Arguments of the instruction llvm.prefetch.
_READ_ACCESS, _HIGHEST_LOCALITY, _DATA_CACHE = 0, 3, 1

_OPTIONS: Any = {"_nrt": False, "boundscheck": None}  # compile options, the same as for all kernels in jit.py


@register_jitable(**_OPTIONS)
def _entry_index(table: Any, s: Any, bits: Any) -> Any:
    """Return the index in `records` of the entry of cell s; `bits` is tile_bits() of the table."""
    s = np.int64(s)
    y = (s * table.inverse) >> ROW_SHIFT
    x = s - y * table.width
    side = (1 << bits) - 1
    return np.uint64(((y >> bits) * table.across + (x >> bits)) << 2 * bits | (y & side) << bits | x & side)


def prefetch_entry(table: Table, s: int) -> None:
    """Prefetch the entry of cell s into the processor's cache, so that a kernel can wait for many entries at once.

    Without the compiler this does nothing; `_overload_prefetch_entry` has the compiled code.
    """


def set_entry(table: Table, s: int, value: object) -> None:
    """Set table[s] = value from Python code."""
    if isinstance(table, TiledTable):
        table.records[int(_entry_index(table, s, tile_bits(table.records.itemsize)))] = value
    else:
        table[s] = value


def fault_in_entries(table: Table, cells: npt.NDArray[np.int64]) -> None:
    """Fault in the memory pages that have the entries of these cells, so that no search waits for them later."""
    is_tiled = isinstance(table, TiledTable)
    records = table.records if is_tiled else table.view(np.ndarray)
    places = _entry_index(table, cells, tile_bits(records.itemsize)) if is_tiled else cells
    first_bytes = records.view(np.uint8)[:: records.itemsize]
    first_bytes[places] = first_bytes[places]


def in_row_order(table: Table) -> npt.NDArray[Any]:
    """Return a copy of a tiled table in row order; return an array unchanged."""
    if not isinstance(table, TiledTable):
        return cast(npt.NDArray[Any], table)
    rows = np.zeros(table.size, table.records.dtype)
    _copy_table(table, rows)
    return rows.view(np.recarray) if rows.dtype.names else rows


def with_layout(table: Table, width: int) -> Table:
    """Return the table in tiles for a map of this width, or in row order if `width` is 0, copying it only if needed."""
    if isinstance(table, TiledTable) == bool(width):
        return table
    if not width:
        return in_row_order(table)
    dtype = table.dtype
    tiles = as_tiled_table(
        untouched_zeros(tiled_entry_count(table.size, width, dtype.itemsize), dtype), table.size, width
    )
    _copy_table(table, tiles)
    return tiles


@kernel
def _copy_table(table, copy):
    """Copy all entries of a table into another table, which may have the other layout. Writes: copy."""
    for s in range(copy.size):
        copy[s] = table[s]


# --- compiled operations on tables, registered with numba -------------------------------------------


def _tile_bits_of_type(table: Any) -> int | None:
    """Return tile_bits() for a table of this numba type, or None if the type is not that of a tiled table."""
    if not isinstance(table, types.BaseNamedTuple) or cast(Any, table).instance_class is not TiledTable:
        return None
    dtype: Any = cast(Any, table).types[0].dtype
    return tile_bits(dtype.size if isinstance(dtype, types.Record) else dtype.bitwidth // 8)


def _emit_prefetch(typing: Any, records: Any, place: Any) -> Any:
    """Emit an instruction that prefetches the cache line of an entry."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        byte = builder.bitcast(builder.gep(array.data, [args[1]]), ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte.type, number, number, number])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [byte.type], kind)
        builder.call(fetch, [byte, number(_READ_ACCESS), number(_HIGHEST_LOCALITY), number(_DATA_CACHE)])
        return context.get_dummy_value()

    return types.void(records, types.uint64), generate


_prefetch: Any = intrinsic(_emit_prefetch)


@overload(prefetch_entry, jit_options=_OPTIONS, strict=False)
def _overload_prefetch_entry(table: Any, s: Any) -> Any:
    bits = _tile_bits_of_type(table)
    if bits is None:
        return lambda table, s: _prefetch(table, np.uint64(s))
    return lambda table, s: _prefetch(table.records, _entry_index(table, s, bits))


@overload(operator.getitem, jit_options=_OPTIONS, strict=False)
def _overload_getitem(table: Any, s: Any) -> Any:
    bits = _tile_bits_of_type(table)
    return None if bits is None else lambda table, s: table.records[_entry_index(table, s, bits)]


@overload(operator.setitem, jit_options=_OPTIONS, strict=False)
def _overload_setitem(table: Any, s: Any, value: Any) -> Any:
    if (bits := _tile_bits_of_type(table)) is None:
        return None

    def write(table: Any, s: Any, value: Any) -> None:
        table.records[_entry_index(table, s, bits)] = value

    return write
