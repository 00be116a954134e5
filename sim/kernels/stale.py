"""Clearing of stale records: table entries that earlier searches wrote and that no kernel will read again.

Each search has a number, its stamp. A record is valid only if it contains the stamp of the current search; so a new
search needs no clearing of old records and starts in constant time. But keyframes (copies of a world) would store
the old records: with four agents on a changing map, they were nine tenths of all stored bytes. This module overwrites
them with zeros, which take no room in a keyframe. A record of zeros is invalid too.
"""

import mmap
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sim.jit.addresses import memory_words_at
from sim.jit.decorators import as_plain_arrays, kernel
from sim.jit.yield_flag import never_yield_flag, yield_after_steps
from sim.kernels.pages import UNKNOWN_PAGE, may_pages_be_in_use
from sim.kernels.tiled import Table, TiledTable

WORD_BYTES, STAMP_RECORD_BYTES = 8, 16
"""WORD_BYTES: size of a memory word. STAMP_RECORD_BYTES: size of a record that has a stamp in its second word."""

PAGES_PER_YIELD = 1024  # number of memory pages to clear before yielding the processor (yield_flag.py)


class StampedTable(NamedTuple):
    """Table with a record for each cell. The record is valid only if the stamp of its cell equals `number`.

    A stamp is the number of the search that wrote the record. The table `stamps` contains the stamps of all cells; it
    may be the same table.
    """

    cleared_table: Table  # table to clear; its records consist of whole words of 8 bytes
    stamps: Table  # table with the stamp of each cell, in records of STAMP_RECORD_BYTES; may be `cleared_table`
    shift: int  # position of the stamp's lowest bit in the second word of a record in `stamps`
    mask: int  # bit mask that extracts the stamp after a right shift by `shift`
    number: int  # stamp that makes a record valid


STAMPED_TABLE_ROW = np.dtype(
    [
        ("address", "i8"),
        ("length", "i8"),  # size of the table in bytes; a field named `size` would be hidden by `np.record.size`
        ("words", "i8"),  # size of a record in words
        ("stamps", "i8"),  # address of the table that contains the stamp of each cell
        ("shift", "u8"),
        ("mask", "u8"),
        ("number", "u8"),
        ("page", "i8"),  # index of the table's first memory page in the page entries (pages.py)
    ],
    align=True,
)
"""Description of a `StampedTable` for kernels: the addresses of its two tables, and copies of its other fields."""


def stamped_table_rows(tables: Iterable[StampedTable], min_bytes: int = 0) -> Any:
    """Return an array with a STAMPED_TABLE_ROW record for each table that has at least `min_bytes` bytes.

    The field `page` of each record is UNKNOWN_PAGE. Keep the tables alive while the records are in use, because the
    records contain their addresses.
    """
    rows = [_stamped_table_row(each) for each in tables]
    return np.array([row for row in rows if row[1] >= min_bytes], STAMPED_TABLE_ROW).view(np.recarray)


def _stamped_table_row(each: StampedTable) -> tuple[int, ...]:
    """Return the field values of the STAMPED_TABLE_ROW record that describes a table."""
    records, stamps = _table_records(each.cleared_table), _table_records(each.stamps)
    words, remainder = divmod(records.itemsize, WORD_BYTES)
    assert stamps.itemsize == STAMP_RECORD_BYTES and stamps.size == records.size and not remainder
    addresses = records.ctypes.data, records.nbytes, words, stamps.ctypes.data
    return *addresses, each.shift, each.mask, each.number, UNKNOWN_PAGE


def _table_records(table: Table) -> npt.NDArray[Any]:
    """Return the array that contains the records of a table; works for tiled tables and for arrays."""
    records: npt.NDArray[Any] = table.records if isinstance(table, TiledTable) else table
    return records


def clear_stale_records(tables: Iterable[StampedTable]) -> None:
    """Overwrite all stale records (records of earlier searches) in the tables with zeros."""
    clear_stale_records_of_rows(
        as_plain_arrays(stamped_table_rows(tables)), np.empty(0, np.uint64), mmap.PAGESIZE, never_yield_flag()
    )


@kernel
def clear_stale_records_of_rows(rows, entries, page, pace):
    """Overwrite all records of earlier searches with zeros, in tables given as STAMPED_TABLE_ROW records.

    `entries` are the page entries (pages.py): they show which memory pages were never used and need no clearing.
    `page` is the size of a page in bytes, `pace` a yield flag (yield_flag.py).
    Writes: the memory at the addresses in `rows`.
    """
    wiped = 0
    for i in range(rows.size):
        row = rows[i]
        record = WORD_BYTES * row.words
        count = row.length // record
        words = memory_words_at(row.address, row.words * count)
        stamps = memory_words_at(row.stamps, STAMP_RECORD_BYTES // WORD_BYTES * count)
        first = 0
        while first < count:
            page_number = (row.address + first * record) // page
            beyond = min(count, ((page_number + 1) * page - row.address) // record)
            if may_pages_be_in_use(row.address, row.page, first * record, (beyond - first) * record, entries, page):
                clear_stale_record_range(words, row.words, stamps, row.shift, row.mask, row.number, first, beyond)
                wiped += 1
                yield_after_steps(wiped, PAGES_PER_YIELD, pace)
            first = beyond


@kernel
def clear_stale_record_range(words, size, stamps, shift, mask, number, first, beyond):
    """Overwrite the stale records among the records `first` to `beyond` - 1 of one table with zeros.

    `words` is the table's memory, `size` the size of a record in words. A record is stale if its stamp differs from
    `number`; see StampedTable for `shift` and `mask`. Writes: words.
    """
    zero = np.uint64(0)
    for i in range(np.uint64(first), np.uint64(beyond)):
        if (stamps[np.uint64(2) * i + np.uint64(1)] >> shift) & mask != number:
            for k in range(np.uint64(size) * i, np.uint64(size) * (i + np.uint64(1))):
                if words[k] != zero:  # do not write if unnecessary: an unused memory page takes no memory
                    words[k] = zero
