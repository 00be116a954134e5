"""Large arrays of zeros of which only the pages that are touched take memory.

np.zeros gives such arrays only at first: once an array of the same size has been freed, the C library reuses its memory
and overwrites all of it with zeros. A window that opens its second world, or a command that solves its second problem,
would then pay for every cell of every agent. Huge pages are disabled for the same reason: one touched cell would take
2 MB. Only a table that has an entry for each cell, and that later searches reuse, asks for huge pages: sooner or later
the searches touch most of it, and on a map of 2048 x 2048 every row of cells would need small pages of its own.
"""

import mmap
import weakref
from collections import defaultdict, deque
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

_MIN_MAPPED_BYTES = 1 << 16  # size in bytes below which an array gains nothing from memory pages of its own
_PRIVATE_MAPPING: dict[str, Any] = (
    {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
)


def untouched_zeros(count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return a flat array of `count` zeros, whose memory returns to the system when the last reference is gone."""
    size = count * np.dtype(dtype).itemsize
    return (
        np.zeros(count, dtype) if size < _MIN_MAPPED_BYTES else np.frombuffer(_new_pages(size, are_large=False), dtype)
    )


def _new_pages(size: int, *, are_large: bool) -> mmap.mmap:
    """Return new memory of `size` bytes, all zeros, in huge pages if `are_large`."""
    pages = mmap.mmap(-1, size, **_PRIVATE_MAPPING)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        with suppress(OSError):  # raised by a Linux kernel without huge pages
            pages.madvise(mmap.MADV_HUGEPAGE if are_large else mmap.MADV_NOHUGEPAGE)
    return pages


class BufferPool:
    """Pool of memory blocks that are reused without clearing them, so that their pages are already mapped.

    A command that solves a thousand problems on one map spends a third of its time on first touches of new memory,
    which the pool saves. A block still contains what its previous user has written. So its user must either read only
    entries that it has written itself, or store a stamp with each entry: a number that is larger for each later user.
    A block returns to the pool automatically when the last array that refers to it is deleted. A block is reused only
    for the same purpose and the same size. So a user that clears its whole table, to begin with stamp zero again,
    clears the whole block.
    """

    def __init__(self, most_bytes: int) -> None:
        self.max_bytes = most_bytes
        self.free_bytes = 0  # bytes of all blocks that are free for reuse
        self._free: defaultdict[tuple[str, int], deque[tuple[mmap.mmap, int]]] = defaultdict(deque)

    def take_array(
        self,
        purpose: str,
        count: int,
        dtype: npt.DTypeLike,
        stamp: npt.NDArray[np.int64] | None = None,
        *,
        in_large_pages: bool = False,
    ) -> npt.NDArray[Any]:
        """Return a flat array of `count` entries from a free block, or of zeros in new memory.

        Args:
            purpose: Key for reuse, together with the size. It must determine `in_large_pages`: a reused block keeps
                the kind of pages that it was made with.
            count: Number of entries.
            dtype: Type of an entry.
            stamp: Array of one element: the number that the user stores with its entries, and increases. This call
                sets it to the final value of the block's previous user; its own final value is kept for the next user.
            in_large_pages: Whether to ask the system for huge pages.
        """
        size = count * np.dtype(dtype).itemsize
        if size < _MIN_MAPPED_BYTES:
            return np.zeros(count, dtype)
        pages, last = self._take_block((purpose, size), in_large_pages)
        if stamp is not None:
            stamp[0] = last
        array = np.frombuffer(pages, dtype)
        weakref.finalize(array, self._return_block, (purpose, size), pages, stamp).atexit = False
        return array

    def release_free_blocks(self) -> None:
        """Return all free blocks to the system."""
        self._free.clear()
        self.free_bytes = 0

    def _take_block(self, key: tuple[str, int], are_large: bool) -> tuple[mmap.mmap, int]:
        try:
            found = self._free[key].pop()
        except IndexError:
            return _new_pages(key[1], are_large=are_large), 0
        self.free_bytes -= key[1]
        return found

    def _return_block(self, key: tuple[str, int], pages: mmap.mmap, stamp: npt.NDArray[np.int64] | None) -> None:
        if self.free_bytes + key[1] <= self.max_bytes:
            self.free_bytes += key[1]
            self._free[key].append((pages, 0 if stamp is None else int(stamp[0])))


BUFFER_POOL = BufferPool(512 * 1024 * 1024)
"""Pool for runs that are not displayed: solve, run, experiments, benches. The displayed agents of a window
do not use it: their memory is stored in keyframes, which are small because untouched memory is zero, and a reused block
is not zero. (An agent on 2048 x 2048 cells has 230 MB of memory, of which it touches a part.)"""


def scratch_array(
    purpose: str, count: int, dtype: npt.DTypeLike, is_reused: bool, *, in_large_pages: bool = False
) -> npt.NDArray[Any]:
    """Return a flat array whose caller reads only entries that it has written. It comes from POOL if `is_reused`."""
    return (
        BUFFER_POOL.take_array(purpose, count, dtype, in_large_pages=in_large_pages)
        if is_reused
        else untouched_zeros(count, dtype)
    )


def stamped_array(
    purpose: str,
    count: int,
    dtype: npt.DTypeLike,
    stamp: npt.NDArray[np.int64],
    is_reused: bool,
    *,
    in_large_pages: bool = False,
) -> npt.NDArray[Any]:
    """Return a flat array whose caller stores `stamp[0]` with each entry that it writes. POOL is used if `is_reused`.

    An entry with a smaller stamp is invalid. `stamp[0]` never falls, even from one user of a pooled block to the next.
    """
    return (
        BUFFER_POOL.take_array(purpose, count, dtype, stamp, in_large_pages=in_large_pages)
        if is_reused
        else untouched_zeros(count, dtype)
    )
