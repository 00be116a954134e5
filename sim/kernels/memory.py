"""Large arrays of zeros of which only the pages that somebody touches take memory.

np.zeros promises that only at first: once an array of its size has been freed, the C library takes the next one
from its own store, and has to overwrite all of it with zeros. A window that opens its second world, or a command
that solves its second problem, would then pay for every cell of every agent. Large pages are refused for the same
reason: one touched cell would take 2 MB. Only a table with an entry for each cell that goes from one user to the next
asks for them: a search touches most of it sooner or later, and on a map of 2048 x 2048 every row of it would lie on
pages of its own.
"""

import mmap
import weakref
from collections import defaultdict, deque
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

_SMALL = 1 << 16  # bytes; below this a mapping of its own saves nothing
_PRIVATE: dict[str, Any] = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}


def zeros(count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """A flat array of `count` zeros. It goes back to the system when the last reference to it goes."""
    size = count * np.dtype(dtype).itemsize
    return np.zeros(count, dtype) if size < _SMALL else np.frombuffer(_new_pages(size, are_large=False), dtype)


def _new_pages(size: int, *, are_large: bool) -> mmap.mmap:
    pages = mmap.mmap(-1, size, **_PRIVATE)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        with suppress(OSError):  # a kernel without large pages
            pages.madvise(mmap.MADV_HUGEPAGE if are_large else mmap.MADV_NOHUGEPAGE)
    return pages


class Pool:
    """Memory that goes from one user to the next as it was left, its pages already there.

    A command that solves a thousand problems on one map spends a third of its time on first touches of fresh memory.
    Whoever takes memory from here must be able to tell its own content from what was left: by a stamp that grows from
    user to user, or because it reads only what it wrote. It comes back by itself when the last array that looks into
    it goes. Memories are told apart by what they are for and by their exact size, so that a stamp that begins again
    at zero has wiped all of the memory.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.bytes = 0  # that wait for their next user
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
        """A flat array, zeros only at first. `stamp` is an array of one where its user counts.

        The count of the last user is put there now, and the one found there at the end is for the next. `purpose` says
        whether it lies in large pages: what comes back does as it did.
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
        """Give everything back to the system."""
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
"""For runs that nobody looks at: solve, run, experiments, benches. A window's worlds are set aside in keyframes, which
are small because what nobody has touched is zero. An agent on 2048 x 2048 has 230 MB, of which it touches a part."""


def scratch(
    purpose: str, count: int, dtype: npt.DTypeLike, is_reused: bool, *, in_large_pages: bool = False
) -> npt.NDArray[Any]:
    """Memory of which its user reads nothing that it has not written."""
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
    """Memory whose user marks what it wrote with the number at `stamp`, which only grows."""
    return POOL.take(purpose, count, dtype, stamp, in_large_pages=in_large_pages) if is_reused else zeros(count, dtype)
