"""Large arrays of zeros of which only the pages that somebody touches take memory.

np.zeros promises that only at first: once an array of its size has been freed, the C library takes the next one
from its own store, and has to overwrite all of it with zeros. A window that opens its second world, or a command
that solves its second problem, would then pay for every cell of every agent. Large pages are refused for the same
reason: one touched cell would take 2 MB.
"""

import mmap
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

_SMALL = 1 << 16  # bytes; below this a mapping of its own saves nothing
_PRIVATE: dict[str, int] = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}


def zeros(count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """A flat array of `count` zeros. It goes back to the system when the last reference to it goes."""
    size = count * np.dtype(dtype).itemsize
    if size < _SMALL:
        return np.zeros(count, dtype)
    pages = mmap.mmap(-1, size, **_PRIVATE)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        with suppress(OSError):  # a kernel without large pages
            pages.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(pages, dtype)
