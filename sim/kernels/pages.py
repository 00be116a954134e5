"""Page entries: what Linux says about each page of memory, as 64-bit words (sim/time/memories.py reads them)."""

import numpy as np

from sim.kernels.jit import kernel

UNKNOWN_PAGE = -1
"""Index that means that the page entries of a memory were not read, so any of its pages may be in use."""

IS_IN_USE = np.uint64(3 << 62)
"""Bits of an entry: the page is in memory, or swapped out. If neither is set, the page was never written or read."""


@kernel
def may_be_in_use(address, first, begin, length, entries, page):
    """Return whether any page under a range of memory may be in use.

    The range begins `begin` bytes after `address` and is `length` bytes long. `first` is the index in `entries` of the
    page that contains `address`, or UNKNOWN; `page` is the page size in bytes.
    """
    if first == UNKNOWN_PAGE:
        return True
    offset = address % page + begin
    for i in range(first + offset // page, first + (offset + length - 1) // page + 1):
        if entries[i] & IS_IN_USE:
            return True
    return False
