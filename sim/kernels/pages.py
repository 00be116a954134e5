"""Page entries: words of 64 bits in which Linux describes each memory page of a process.

Other modules read the page entries from the system and use them to skip memory pages that were never used.
"""

import numpy as np

from sim.jit.decorators import kernel

UNKNOWN_PAGE = -1
"""Page index that means: no page entries are available, so assume that every page is in use."""

IS_IN_USE = np.uint64(3 << 62)
"""Two bits of a page entry: the page is in memory; the page is swapped out. Both are 0 if the page was never used."""


@kernel
def may_pages_be_in_use(address, first, begin, length, entries, page):
    """Return False if all pages of a range of memory were never used, and True otherwise.

    The range begins at `address` + `begin` and is `length` bytes long. `entries` are page entries, and `first` is the
    index of the entry of the page that contains `address`. If `first` is UNKNOWN_PAGE, the result is True. `page` is
    the size of a page in bytes.
    """
    if first == UNKNOWN_PAGE:
        return True
    offset = address % page + begin
    for i in range(first + offset // page, first + (offset + length - 1) // page + 1):
        if entries[i] & IS_IN_USE:
            return True
    return False
