"""Pages of memory, as the system tells of them: an entry for each (sim/time/memories.py asks for them)."""

import numpy as np

from sim.kernels.jit import kernel

UNKNOWN = -1
"""In place of the first entry of a memory: nobody knows which of its pages were touched."""

IS_THERE = np.uint64(3 << 62)
"""In an entry: the page is in memory, or swapped out. Otherwise nobody has ever written to it or read from it."""


@kernel
def may_be_touched(address, first, begin, length, entries, page):
    """Whether one of the pages is in use on which the `length` bytes lie that begin `begin` bytes after an address.

    `first` is the place in `entries` of the page of that address, or UNKNOWN; `page` the size of pages.
    """
    if first == UNKNOWN:
        return True
    offset = address % page + begin
    for i in range(first + offset // page, first + (offset + length - 1) // page + 1):
        if entries[i] & IS_THERE:
            return True
    return False
