"""Tables in tiles: every cell has a place of its own, and whoever looks sees the same as in rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.jit.decorators import JIT_ON
from sim.kernels.pages import IS_IN_USE
from sim.kernels.search import NODE
from sim.kernels.tiled import (
    _entry_index,
    log2_tile_side,
    new_table,
    prefault_table_entries,
    set_table_entry,
    table_in_row_order,
    table_with_layout,
    tiled_entry_count,
)
from sim.time.memory_buffers import BufferSet, TouchedPages

KINDS = (NODE, np.dtype(np.float64), np.dtype(np.uint32))

pytestmark = pytest.mark.skipif(not JIT_ON, reason="tiles are compiled only")


@given(st.integers(1, 90), st.integers(1, 90), st.sampled_from(KINDS))
def test_tiled_table_gives_each_cell_a_unique_index(width: int, height: int, dtype: np.dtype) -> None:
    table, bits = new_table("", width * height, dtype, width), log2_tile_side(dtype.itemsize)
    places = [int(_entry_index(table, s, bits)) for s in range(width * height)]
    assert len(set(places)) == width * height and max(places) < table.records.size
    tile = 4**bits
    for s, place in enumerate(places):
        first = places[(s // width >> bits << bits) * width + (s % width >> bits << bits)]
        assert first % tile == 0 and first <= place < first + tile, "neighbours are not in one tile"


@pytest.mark.parametrize("width", [1, 3, 511, 512, 1000, 4095, 16_384, 65_536])
def test_tiled_index_is_right_for_any_map_width(width: int) -> None:
    """The last cells of the widest maps, where y comes of a multiplication in place of a division."""
    cells = min(1 << 30, 65_536 * width)
    table = new_table("", 64 * width, np.uint32, width)._replace(size=cells)
    rng = np.random.default_rng(width)
    for s in (0, width - 1, width % cells, cells - 1, *rng.integers(0, cells, 200).tolist()):
        y, x = divmod(int(s), width)
        assert (
            int(_entry_index(table, s, 5)) == ((y // 32) * table.tiles_per_row + x // 32) * 1024 + y % 32 * 32 + x % 32
        )


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 99))
def test_tiled_table_converts_to_rows_and_back(width: int, height: int, seed: int) -> None:
    cells, rng = width * height, np.random.default_rng(seed)
    values = rng.integers(0, 9, cells).astype(np.float64)
    tiles = table_with_layout(values, width)
    assert (table_in_row_order(tiles) == values).all() and (table_with_layout(tiles, 0) == values).all()
    set_table_entry(tiles, cells - 1, 77.0)
    values[cells - 1] = 77.0
    assert (table_in_row_order(tiles) == values).all()
    assert tiled_entry_count(cells, width, 8) >= cells


@pytest.mark.parametrize("tile_width", [0, 512])
def test_prefault_changes_no_values_and_maps_pages(tile_width: int) -> None:
    table = new_table("", 512 * 512, NODE, tile_width)
    records = table.records if tile_width else table
    cells = np.array([0, 300 * 512 + 5, 512 * 512 - 1])
    memories = BufferSet([records.view(np.ndarray).view(np.uint8)])
    if not TouchedPages(memories).entries.size:
        pytest.skip("this system does not tell which pages were touched")
    set_table_entry(table, int(cells[1]), (2.5, 7, 3, 1, False))
    prefault_table_entries(table, cells)
    assert ((TouchedPages(memories).entries & IS_IN_USE) != 0).sum() == len(cells)
    rows = table_in_row_order(table)
    assert rows[cells[1]].tolist() == (2.5, 7, 3, 1, False) and (rows != np.zeros(1, NODE)).sum() == 1
