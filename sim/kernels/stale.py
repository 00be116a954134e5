"""Clearing of stale records: records written by earlier searches, which no kernel will read again.

A search begins in constant time because a record is valid only if it has the number of the current search, its stamp.
Records of earlier searches remain in memory, and keyframes (snapshots of a world) would store them: with four agents on
a changing map, stale records were nine tenths of all bytes. A stale record that is overwritten with zeros is still
invalid to every kernel, and takes no room in a keyframe.
"""

import mmap
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sim.kernels.addresses import memory_words_at
from sim.kernels.jit import as_plain_arrays, kernel
from sim.kernels.pages import UNKNOWN_PAGE, may_be_in_use
from sim.kernels.tiled import Table, TiledTable
from sim.kernels.yield_flag import never_yield_flag, yield_after_steps

WORD_BYTES, STAMP_RECORD_BYTES = 8, 16
"""WORD: bytes of a memory word. STAMP: bytes of a record with a stamp, which is in the record's second word."""

PAGES_PER_YIELD = 1024  # number of memory pages cleared before the kernel yields the processor again, see pace.py


class GenerationTable(NamedTuple):
    """Table of records that are valid only if their stamp equals `number`.

    The stamp of a cell is in the record of that cell in `stamps`, which may be the table itself.
    """

    table: Table  # records to clear, each a whole number of words
    stamps: Table  # records of STAMP bytes each, which contain the stamps; often the same table as `table`
    shift: int  # bit position of the stamp in the second word of a record of `stamps`
    mask: int  # bit mask of the stamp after the word is shifted right by `shift`
    number: int  # stamp of the valid records


TABLE_ROW = np.dtype(
    [
        ("address", "i8"),
        ("size", "i8"),  # size of the table in bytes
        ("words", "i8"),  # size of a record in words
        ("stamps", "i8"),  # address of the table that contains the stamps
        ("shift", "u8"),
        ("mask", "u8"),
        ("number", "u8"),
        ("page", "i8"),  # index of the table's first page among the page entries (pages.py)
    ],
    align=True,
)
"""Record that describes a `GenerationTable` to kernels: its arrays as addresses, its other fields as they are."""


def table_rows(tables: Iterable[GenerationTable], least: int = 0) -> Any:
    """Return a ROW record for each table of at least `least` bytes.

    Their `page` is UNKNOWN. The caller must keep the tables alive while the ROW records are in use.
    """
    rows = [_table_row(each) for each in tables]
    return np.array([row for row in rows if row[1] >= least], TABLE_ROW).view(np.recarray)


def _table_row(each: GenerationTable) -> tuple[int, ...]:
    """Return the fields of the ROW record for a table."""
    records, stamps = _table_records(each.table), _table_records(each.stamps)
    words, rest = divmod(records.itemsize, WORD_BYTES)
    assert stamps.itemsize == STAMP_RECORD_BYTES and stamps.size == records.size and not rest
    addresses = records.ctypes.data, records.nbytes, words, stamps.ctypes.data
    return *addresses, each.shift, each.mask, each.number, UNKNOWN_PAGE


def _table_records(table: Table) -> npt.NDArray[Any]:
    """Return the array of a table's records, whether the table is tiled or in row order."""
    records: npt.NDArray[Any] = table.records if isinstance(table, TiledTable) else table
    return records


def clear_stale(tables: Iterable[GenerationTable]) -> None:
    """Write zeros over all stale records of the tables."""
    clear_stale_of_rows(as_plain_arrays(table_rows(tables)), np.empty(0, np.uint64), mmap.PAGESIZE, never_yield_flag())


@kernel
def clear_stale_of_rows(rows, entries, page, pace):
    """Write zeros over all stale records of the tables given as ROW records.

    Memory pages are skipped if `entries`, the system's entries about them (see pages.py), show that they were never
    used. `page` is the page size in bytes, `pace` a yield flag (see pace.py). Writes: the memory at the addresses.
    """
    wiped = 0
    for i in range(rows.size):
        row = rows[i]
        record = WORD_BYTES * row.words
        count = row.size // record
        words = memory_words_at(row.address, row.words * count)
        stamps = memory_words_at(row.stamps, STAMP_RECORD_BYTES // WORD_BYTES * count)
        first = 0
        while first < count:
            here = (row.address + first * record) // page
            beyond = min(count, ((here + 1) * page - row.address) // record)
            if may_be_in_use(row.address, row.page, first * record, (beyond - first) * record, entries, page):
                clear_stale_range(words, row.words, stamps, row.shift, row.mask, row.number, first, beyond)
                wiped += 1
                yield_after_steps(wiped, PAGES_PER_YIELD, pace)
            first = beyond


@kernel
def clear_stale_range(words, size, stamps, shift, mask, number, first, beyond):
    """Write zeros over the stale records from index `first` up to `beyond` (exclusive) of one table.

    `size` is the number of words of a record, `number` the stamp of a valid one. Writes: words.
    """
    zero = np.uint64(0)
    for i in range(np.uint64(first), np.uint64(beyond)):
        if (stamps[np.uint64(2) * i + np.uint64(1)] >> shift) & mask != number:
            for k in range(np.uint64(size) * i, np.uint64(size) * (i + np.uint64(1))):
                if words[k] != zero:  # zeros are not overwritten, because a page that is never written takes no memory
                    words[k] = zero
