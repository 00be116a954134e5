"""Records that nobody will read again: what searches before the present one have left.

A search begins in no time because a record counts only with the number of the present search in it. What the others
wrote stays there, and keyframes would hold all of it: of four agents on a changing map nine tenths of their bytes.
Written over with zeros it is the same to every kernel, and takes no room.
"""

import mmap
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sim.kernels.addresses import words_at
from sim.kernels.jit import bare, kernel
from sim.kernels.pace import give_way_after, hurried
from sim.kernels.pages import UNKNOWN, may_be_touched
from sim.kernels.tiled import Table, Tiled

WORD, STAMP = 8, 16
"""Bytes of a word, and of a record with a number, which lies in its second word."""

PAGES = 1024  # in a piece of work, see pace.py


class Stamped(NamedTuple):
    """A table of records of which only those count that bear a number, or whose cells bear it in another table."""

    table: Table  # its records are of whole words
    stamps: Table  # the one whose records, of STAMP bytes, bear the numbers: often the same
    shift: int  # of the number in the second word of a stamp
    mask: int
    number: int


ROW = np.dtype(
    [
        ("address", "i8"),
        ("size", "i8"),  # bytes
        ("words", "i8"),  # of a record
        ("stamps", "i8"),  # address
        ("shift", "u8"),
        ("mask", "u8"),
        ("number", "u8"),
        ("page", "i8"),  # place of its first page among the entries of pages (pages.py)
    ],
    align=True,
)
"""A table to a kernel."""


def rows_of(tables: Iterable[Stamped], least: int = 0) -> Any:
    """Rows of tables of so many bytes at least, whose pages are not known; their memory has to outlive them."""
    rows = [_row(each) for each in tables]
    return np.array([row for row in rows if row[1] >= least], ROW).view(np.recarray)


def _row(each: Stamped) -> tuple[int, ...]:
    records, stamps = _records(each.table), _records(each.stamps)
    words, rest = divmod(records.itemsize, WORD)
    assert stamps.itemsize == STAMP and stamps.size == records.size and not rest
    place = records.ctypes.data, records.nbytes, words, stamps.ctypes.data
    return *place, each.shift, each.mask, each.number, UNKNOWN


def _records(table: Table) -> npt.NDArray[Any]:
    records: npt.NDArray[Any] = table.records if isinstance(table, Tiled) else table
    return records


def wipe(tables: Iterable[Stamped]) -> None:
    """Write zeros over the records that do not count."""
    wipe_rows(bare(rows_of(tables)), np.empty(0, np.uint64), mmap.PAGESIZE, hurried())


@kernel
def wipe_rows(rows, entries, page, pace):
    """The same; `entries` says which pages anybody ever wrote to. `pace`: see pace.py. Writes: what lies at the
    addresses.
    """
    wiped = 0
    for i in range(rows.size):
        row = rows[i]
        record = WORD * row.words
        count = row.size // record
        words = words_at(row.address, row.words * count)
        stamps = words_at(row.stamps, STAMP // WORD * count)
        first = 0
        while first < count:
            here = (row.address + first * record) // page
            beyond = min(count, ((here + 1) * page - row.address) // record)
            if may_be_touched(row.address, row.page, first * record, (beyond - first) * record, entries, page):
                wipe_some(words, row.words, stamps, row.shift, row.mask, row.number, first, beyond)
                wiped += 1
                give_way_after(wiped, PAGES, pace)
            first = beyond


@kernel
def wipe_some(words, size, stamps, shift, mask, number, first, beyond):
    zero = np.uint64(0)
    for i in range(np.uint64(first), np.uint64(beyond)):
        if (stamps[np.uint64(2) * i + np.uint64(1)] >> shift) & mask != number:
            for k in range(np.uint64(size) * i, np.uint64(size) * (i + np.uint64(1))):
                if words[k] != zero:  # clean pages stay as they are
                    words[k] = zero
