"""Large arrays of zeros of which only the pages that are touched take memory.

np.zeros gives such arrays only at first: once an array of the same size has been freed, the C library reuses its memory
and overwrites all of it with zeros. A window that opens its second world, or a command that solves its second problem,
would then pay for every cell of every agent. Huge pages are disabled for the same reason: one touched cell would take
2 MB. Only tables with an entry for each cell that are reused by later searches ask for them: sooner or later those
searches touch most of the table, and on a map of 2048 x 2048 every row of it would need pages of its own.
"""

import mmap
import weakref
from collections import defaultdict, deque
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

_SMALL = 1 << 16  # bytes; a smaller array gains nothing from a mapping of its own
_PRIVATE: dict[str, Any] = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}


def zeros(count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return a flat array of `count` zeros, whose memory returns to the system when the last reference is gone."""
    size = count * np.dtype(dtype).itemsize
    return np.zeros(count, dtype) if size < _SMALL else np.frombuffer(_new_pages(size, are_large=False), dtype)


def _new_pages(size: int, *, are_large: bool) -> mmap.mmap:
    pages = mmap.mmap(-1, size, **_PRIVATE)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        with suppress(OSError):  # raised by a Linux kernel without huge pages
            pages.madvise(mmap.MADV_HUGEPAGE if are_large else mmap.MADV_NOHUGEPAGE)
    return pages


class Pool:
    """Pool of memory blocks that are reused without clearing them, so that their pages are already mapped.

    A command that solves a thousand problems on one map spends a third of its time on first touches of new memory. A
    user of pooled memory must distinguish its own content from old content: by a stamp that grows from user to user, or
    by reading only what it has written. A block returns to the pool automatically when the last array that refers to it
    is deleted. Blocks are reused only for the same purpose and exact size. So a user that resets its stamp to zero, and
    then clears its whole table, clears the whole block.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.bytes = 0  # bytes of all blocks that are free for reuse
        self._free: defaultdict[tuple[str, int], deque[tuple[mmap.mmap, int]]] = defaultdict(deque)

    def take(
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
            stamp: Array of one element in which the user counts. It is set to the count of the last user now, and its
                final value is kept for the next user.
            in_large_pages: Whether to ask the system for huge pages.
        """
        size = count * np.dtype(dtype).itemsize
        if size < _SMALL:
            return np.zeros(count, dtype)
        pages, last = self._take_pages((purpose, size), in_large_pages)
        if stamp is not None:
            stamp[0] = last
        array = np.frombuffer(pages, dtype)
        weakref.finalize(array, self._give_back, (purpose, size), pages, stamp).atexit = False
        return array

    def empty(self) -> None:
        """Return all free blocks to the system."""
        self._free.clear()
        self.bytes = 0

    def _take_pages(self, key: tuple[str, int], are_large: bool) -> tuple[mmap.mmap, int]:
        try:
            found = self._free[key].pop()
        except IndexError:
            return _new_pages(key[1], are_large=are_large), 0
        self.bytes -= key[1]
        return found

    def _give_back(self, key: tuple[str, int], pages: mmap.mmap, stamp: npt.NDArray[np.int64] | None) -> None:
        if self.bytes + key[1] <= self.most_bytes:
            self.bytes += key[1]
            self._free[key].append((pages, 0 if stamp is None else int(stamp[0])))


POOL = Pool(512 * 1024 * 1024)
"""Pool for runs that are not displayed: solve, run, experiments, benches. Worlds in a window are stored in keyframes,
which are small because untouched memory is zero. An agent on 2048 x 2048 has 230 MB, of which it touches a part."""


def scratch(
    purpose: str, count: int, dtype: npt.DTypeLike, is_reused: bool, *, in_large_pages: bool = False
) -> npt.NDArray[Any]:
    """Return a flat array whose user reads only entries that it has written, from POOL if `is_reused`."""
    return POOL.take(purpose, count, dtype, in_large_pages=in_large_pages) if is_reused else zeros(count, dtype)


def stamped(
    purpose: str,
    count: int,
    dtype: npt.DTypeLike,
    stamp: npt.NDArray[np.int64],
    is_reused: bool,
    *,
    in_large_pages: bool = False,
) -> npt.NDArray[Any]:
    """Return a flat array whose user marks the entries that it writes with `stamp[0]`, from POOL if `is_reused`.

    `stamp[0]` only grows, also from user to user.
    """
    return POOL.take(purpose, count, dtype, stamp, in_large_pages=in_large_pages) if is_reused else zeros(count, dtype)
