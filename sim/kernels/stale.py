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

RECORD = 16  # bytes
PAGES = 1024  # in a piece of work, see pace.py


class Stamped(NamedTuple):
    """A table of records of which only those count that bear a number."""

    table: Table
    shift: int  # of the number in the second word of a record
    mask: int
    number: int

    @property
    def bytes(self) -> npt.NDArray[np.uint8]:
        records = self.table.records if isinstance(self.table, Tiled) else self.table
        assert records.dtype.itemsize == RECORD
        flat: npt.NDArray[np.uint8] = records.view(np.ndarray).view(np.uint8)
        return flat


ROW = np.dtype(
    [("address", "i8"), ("records", "i8"), ("shift", "u8"), ("mask", "u8"), ("number", "u8"), ("page", "i8")],
    align=True,
)
"""A table to a kernel: where it lies, and the place of its first page among the entries of pages (pages.py)."""


def rows_of(tables: Iterable[Stamped], least: int = 0) -> Any:
    """Rows of tables of so many bytes at least, whose pages are not known; their memory has to outlive them."""
    memories = ((each, each.bytes) for each in tables)
    rows = [
        (memory.ctypes.data, memory.size // RECORD, each.shift, each.mask, each.number, UNKNOWN)
        for each, memory in memories
        if memory.size >= least
    ]
    return np.array(rows, ROW).view(np.recarray)


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
        words = words_at(row.address, 2 * row.records)
        first = 0
        while first < row.records:
            here = (row.address + first * RECORD) // page
            beyond = min(row.records, ((here + 1) * page - row.address) // RECORD)
            if may_be_touched(row.address, row.page, first * RECORD, (beyond - first) * RECORD, entries, page):
                wipe_some(words, row.shift, row.mask, row.number, first, beyond)
                wiped += 1
                give_way_after(wiped, PAGES, pace)
            first = beyond


@kernel
def wipe_some(words, shift, mask, number, first, beyond):
    zero = np.uint64(0)
    for i in range(np.uint64(first), np.uint64(beyond)):
        k = np.uint64(2) * np.uint64(i)
        more = words[k + np.uint64(1)]
        if (more >> shift) & mask != number and (more | words[k]) != zero:  # clean pages stay as they are
            words[k] = zero
            words[k + np.uint64(1)] = zero
