"""Records that nobody will read again: what searches before the present one have left.

A search begins in no time because a record counts only with the number of the present search in it. What the others
wrote stays there, and keyframes would hold all of it: of four agents on a changing map nine tenths of their bytes.
Written over with zeros it is the same to every kernel, and takes no room.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sim.kernels.jit import kernel
from sim.kernels.tiled import Table, Tiled

RECORD = 16  # bytes


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

    def wipe(self, touched: npt.NDArray[np.uint8], page: int) -> None:
        """Write zeros over the records that do not count. `touched` says which pages anybody ever wrote to; empty:
        nobody knows.
        """
        memory = self.bytes
        words, mask = memory.view(np.uint64), np.uint64(self.mask)
        wipe(words, np.uint64(self.shift), mask, np.uint64(self.number), touched, memory.ctypes.data % page, page)


@kernel
def wipe(words, shift, mask, number, touched, offset, page):
    """See Stamped.wipe; the memory begins `offset` bytes into the first page. Writes: words."""
    end = words.size // 2
    first = 0
    while first < end:
        here = (offset + first * RECORD) // page
        beyond = min(end, ((here + 1) * page - offset) // RECORD)
        if not touched.size or touched[here]:
            wipe_some(words, shift, mask, number, first, beyond)
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
