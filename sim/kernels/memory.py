"""Large arrays of zeros that take physical memory only for the pages that are accessed.

np.zeros gives such arrays only at first: once an array of the same size has been freed, the C library reuses its memory
and overwrites all of it with zeros. A window that opens a second world, or a command that solves a second problem,
would then spend time and memory on every cell of every agent. Huge pages are disabled too, because a single accessed
cell would take 2 MB. One kind of array does get huge pages: a table with an entry for each cell that later searches
reuse. These searches access most of the table in the end, and need far fewer pages if the pages are huge.
"""

import mmap
import weakref
from collections import defaultdict, deque
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

_MIN_MAPPED_BYTES = 1 << 16  # smaller arrays are allocated with np.zeros
_PRIVATE_MAPPING: dict[str, Any] = (
    {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
)


def lazily_allocated_zeros(count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return a flat array of `count` zeros. Its memory is freed when the array is deleted."""
    size = count * np.dtype(dtype).itemsize
    return (
        np.zeros(count, dtype)
        if size < _MIN_MAPPED_BYTES
        else np.frombuffer(_new_memory_pages(size, are_large=False), dtype)
    )


def _new_memory_pages(size: int, *, are_large: bool) -> mmap.mmap:
    """Allocate `size` bytes of zeros in new memory pages, which are huge pages if `are_large`."""
    pages = mmap.mmap(-1, size, **_PRIVATE_MAPPING)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        with suppress(OSError):  # a Linux kernel without huge pages raises OSError
            pages.madvise(mmap.MADV_HUGEPAGE if are_large else mmap.MADV_NOHUGEPAGE)
    return pages


class BufferPool:
    """Pool of large memory buffers that are reused without clearing them.

    Reuse saves time, because the pages of a reused buffer are already mapped: without the pool, a command that solves a
    thousand problems on one map spends a third of its time on page faults. A reused buffer still contains the data of
    its previous user. So each user must either read only entries that it has written itself, or store a stamp (a number
    that grows from user to user) with each entry and ignore entries with older stamps.
    A buffer returns to the pool automatically when the array in it is deleted. It is reused only for arrays of the same
    purpose and size. So a user that wants to restart its stamps at zero can clear its array: this clears all old data.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.free_bytes = 0  # total size in bytes of the buffers that are free for reuse
        self._free_buffers: defaultdict[tuple[str, int], deque[tuple[mmap.mmap, int]]] = defaultdict(deque)

    def take_array(
        self,
        purpose: str,
        count: int,
        dtype: npt.DTypeLike,
        stamp: npt.NDArray[np.int64] | None = None,
        *,
        in_large_pages: bool = False,
    ) -> npt.NDArray[Any]:
        """Return a flat array of `count` entries in a free buffer of the pool, or in new memory filled with zeros.

        Args:
            purpose: What the array is used for: a buffer is reused only for the same purpose and size. All arrays of
                one purpose must have the same value of `in_large_pages`, because the page size of a buffer is fixed.
            count: Number of entries.
            dtype: Type of an entry.
            stamp: Array of one element, the stamp that the caller stores with the entries that it writes. This call
                sets it to the last stamp of the buffer's previous user. The caller may only increase it.
            in_large_pages: Whether to ask the operating system for huge pages.
        """
        size = count * np.dtype(dtype).itemsize
        if size < _MIN_MAPPED_BYTES:
            return np.zeros(count, dtype)
        pages, last = self._take_buffer((purpose, size), in_large_pages)
        if stamp is not None:
            stamp[0] = last
        array = np.frombuffer(pages, dtype)
        weakref.finalize(array, self._return_buffer, (purpose, size), pages, stamp).atexit = False
        return array

    def release_free_buffers(self) -> None:
        """Return the memory of all free buffers to the operating system."""
        self._free_buffers.clear()
        self.free_bytes = 0

    def _take_buffer(self, key: tuple[str, int], are_large: bool) -> tuple[mmap.mmap, int]:
        try:
            found = self._free_buffers[key].pop()
        except IndexError:
            return _new_memory_pages(key[1], are_large=are_large), 0
        self.free_bytes -= key[1]
        return found

    def _return_buffer(self, key: tuple[str, int], pages: mmap.mmap, stamp: npt.NDArray[np.int64] | None) -> None:
        if self.free_bytes + key[1] <= self.max_bytes:
            self.free_bytes += key[1]
            self._free_buffers[key].append((pages, 0 if stamp is None else int(stamp[0])))


BUFFER_POOL = BufferPool(512 * 1024 * 1024)
"""Pool for runs that are not displayed: solve, run, experiments, benches. The displayed agents of a window do not use
it. Their memory is stored in keyframes (copies of a world), which are small because unused memory contains zeros;
a reused buffer contains other data. (An agent on 2048 x 2048 cells has 230 MB of memory and uses a part of it.)"""


def scratch_array(
    purpose: str, count: int, dtype: npt.DTypeLike, is_reused: bool, *, in_large_pages: bool = False
) -> npt.NDArray[Any]:
    """Return a flat array with arbitrary content: read only entries that you have written.

    The array is in a buffer of BUFFER_POOL if `is_reused`, otherwise in new memory.
    """
    return (
        BUFFER_POOL.take_array(purpose, count, dtype, in_large_pages=in_large_pages)
        if is_reused
        else lazily_allocated_zeros(count, dtype)
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
    """Return a flat array whose entries are valid only if the caller has stored the present `stamp[0]` with them.

    If `is_reused`, the array is in a buffer of BUFFER_POOL and may contain entries of earlier users. To make these
    entries invalid, `stamp[0]` is set to the last stamp of the buffer; the caller must increase it before writing.
    """
    return (
        BUFFER_POOL.take_array(purpose, count, dtype, stamp, in_large_pages=in_large_pages)
        if is_reused
        else lazily_allocated_zeros(count, dtype)
    )
