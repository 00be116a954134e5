"""Tables with an entry for each cell, stored in square tiles of cells. They save memory pages if a map has many agents.

An agent reads and writes only a strip of the map along its path. If the entries are stored row by row, each row of the
strip is in another memory page. 500 agents then spend more time on page faults than on their searches: 1.5 MB of pages
for each agent, 70 ms in the first tick. A tile fills one page (16 x 16 entries of 16 bytes), so the same strip is in a
quarter of the pages.

Kernels write `table[s]` for either layout; numba compiles a kernel separately for each layout. Only compiled kernels
can index a tiled table, and only with a supported version of numba. Otherwise all tables are in row order. To read a
tiled table in Python, make a copy in row order (`table_in_row_order`).
"""

from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from sim.jit.decorators import HAS_INTRINSICS, kernel
from sim.kernels.memory import lazily_allocated_zeros, scratch_array, stamped_array
from sim.kernels.octile import ROW_SHIFT


class TiledTable(NamedTuple):
    """Table that kernels index by cell, like an array, and whose entries are stored in tiles.

    Make it only with new_table() or as_tiled_table().
    """

    records: np.ndarray  # all entries, tile after tile
    size: int  # number of cells of the map
    width: int  # width of the map in cells
    inverse_map_width: int  # factor for computing s // width without a division, see octile.inverse_width
    tiles_per_row: int  # number of tiles side by side in the width of the map


Table = Any
"""npt.NDArray[Any] | TiledTable. Tables of displayed agents are arrays, because drawing code reads fields by name."""


def tile_width_if_compiled(width: int) -> int:
    """Return the `width` argument for new_table(): `width` makes a tiled table, and 0 a table in row order.

    Return 0 if kernels run as Python code or are compiled by an unsupported version of numba.
    """
    return width if HAS_INTRINSICS else 0


def log2_tile_side(itemsize: int) -> int:
    """Return log2 of the side length of a tile in cells, for entries of `itemsize` bytes (up to 16).

    A tile fills a memory page of 4 KB, or a part of it.
    """
    return 5 if itemsize <= 4 else 4


def tiled_entry_count(cells: int, width: int, itemsize: int) -> int:
    """Return the number of entries of a tiled table. Tiles that extend beyond the map have unused entries."""
    side = 1 << log2_tile_side(itemsize)
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
        purpose: What the table is used for: pooled memory is reused only for the same purpose (BufferPool).
        cells: Number of cells of the map.
        dtype: Type of an entry.
        width: Width of the map in cells to make a tiled table; 0 to make a table in row order.
        is_reused: Whether to take the memory from the pool and return it later.
        stamp: Array with the number that marks valid entries, see stamped_array(). None if the caller reads only
            entries that it has written itself.
    """
    itemsize = np.dtype(dtype).itemsize
    # A table of another width must not reuse this memory: unused entries at the map's border are never cleared.
    purpose = f"{purpose}, {width} wide" if width else purpose
    count = tiled_entry_count(cells, width, itemsize) if width else cells
    in_large_pages = not width  # tiled tables get small pages, because each agent uses only a strip of the map
    if stamp is None:
        records = scratch_array(purpose, count, dtype, is_reused, in_large_pages=in_large_pages)
    else:
        records = stamped_array(purpose, count, dtype, stamp, is_reused, in_large_pages=in_large_pages)
    if width:
        return as_tiled_table(records, cells, width)
    return records.view(np.recarray) if records.dtype.names else records


def as_tiled_table(records: npt.NDArray[Any], cells: int, width: int) -> TiledTable:
    """Return a tiled table for `records`, an array whose entries are already in the order of the tiles."""
    assert cells * width < 1 << ROW_SHIFT
    side = 1 << log2_tile_side(records.itemsize)
    return TiledTable(
        records.view(np.ndarray), cells, width, ((1 << ROW_SHIFT) + width - 1) // width, -(-width // side)
    )


def _entry_index(table: Any, s: Any, bits: Any) -> Any:
    """Return the index of the entry of cell s in table.records. `bits` is log2 of the side length of a tile."""
    s = np.int64(s)
    y = (s * table.inverse_map_width) >> ROW_SHIFT
    x = s - y * table.width
    side = (1 << bits) - 1
    return np.uint64(((y >> bits) * table.tiles_per_row + (x >> bits)) << 2 * bits | (y & side) << bits | x & side)


def prefetch_table_entry(table: Table, s: int) -> None:
    """Start loading the entry of cell s into the processor's cache, without waiting for it.

    This Python version does nothing. Compiled kernels prefetch (sim/jit/table_indexing.py).
    """


def set_table_entry(table: Table, s: int, value: object) -> None:
    """Set table[s] to `value`, whether the table is tiled or not. For Python code; kernels use table[s] = value."""
    if isinstance(table, TiledTable):
        table.records[int(_entry_index(table, s, log2_tile_side(table.records.itemsize)))] = value
    else:
        table[s] = value


def prefault_table_entries(table: Table, cells: npt.NDArray[np.int64]) -> None:
    """Write to the memory pages with the entries of these cells, so that later searches have no page faults there."""
    is_tiled = isinstance(table, TiledTable)
    records = table.records if is_tiled else table.view(np.ndarray)
    indices = _entry_index(table, cells, log2_tile_side(records.itemsize)) if is_tiled else cells
    first_bytes = records.view(np.uint8)[:: records.itemsize]
    first_bytes[indices] = first_bytes[indices]


def table_in_row_order(table: Table) -> npt.NDArray[Any]:
    """Return the table in row order: a copy of a tiled table, or the table itself if it is an array."""
    if not isinstance(table, TiledTable):
        return cast(npt.NDArray[Any], table)
    rows = np.zeros(table.size, table.records.dtype)
    _copy_table_entries(table, rows)
    return rows.view(np.recarray) if rows.dtype.names else rows


def table_with_layout(table: Table, width: int) -> Table:
    """Return the table in row order if `width` is 0, otherwise in tiles; copy it only if its layout must change."""
    if isinstance(table, TiledTable) == bool(width):
        return table
    if not width:
        return table_in_row_order(table)
    dtype = table.dtype
    tiles = as_tiled_table(
        lazily_allocated_zeros(tiled_entry_count(table.size, width, dtype.itemsize), dtype), table.size, width
    )
    _copy_table_entries(table, tiles)
    return tiles


@kernel
def _copy_table_entries(table, copy):
    """Copy all entries of `table` to `copy`. The two tables may have different layouts. Writes: copy."""
    for s in range(copy.size):
        copy[s] = table[s]


if HAS_INTRINSICS:
    from sim.jit.table_indexing import compile_table_indexing, compile_table_prefetching

    compile_table_indexing(TiledTable, _entry_index, log2_tile_side)
    compile_table_prefetching(prefetch_table_entry, TiledTable, _entry_index, log2_tile_side)
