"""The memories that a keyframe holds, as a kernel goes through them: where they lie, and which pages were touched.

memories = Memories(arrays, copied_below)   small ones are copied now, the others stay where they are
touched = TouchedPages(memories)            asks the system; in the thread that reads
memories.segments(touched)                  all of it in whole parts (sim/kernels/parts.py)
"""

import mmap
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.kernels import pages
from sim.kernels.parts import PART, PARTS, SEGMENT

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]

_LOOKED_AT_APART = 64 * 1024
"""Memories of fewer bytes are read whole: asking which of their pages were touched would take longer."""

_READ_TOGETHER = 64  # untouched pages between two memories: asking for these, too, is less than asking once more
_PAGEMAP = "/proc/self/pagemap"


def block_counts(sizes: Sequence[int]) -> Ints:
    """The blocks of memories of these sizes: each begins with a block of its own."""
    return -(-np.array(sizes, np.int64) // (PART * PARTS))


class Memories:
    """Memories that stay as they are until they are read; those of fewer bytes than `copied_below` may change.

    What does not fill a part is copied, too, into a part filled up with zeros.
    """

    def __init__(
        self, memories: Sequence[Bytes], copied_below: int = 0, addresses: Sequence[int] | None = None
    ) -> None:
        """`addresses` where they are known: asking is slow."""
        self.sizes = tuple(memory.size for memory in memories)
        self._owners = memories  # keeps the addresses valid
        sizes = np.array(self.sizes, np.int64)
        self.addresses = np.array(addresses or [memory.ctypes.data for memory in memories], np.int64)
        copied = np.where(sizes < copied_below, sizes, sizes % PART)
        self._parts = (sizes - copied) // PART
        self._copied_parts = -(-copied // PART)
        self._places = PART * (np.cumsum(self._copied_parts) - self._copied_parts)
        self._copies = np.zeros(PART * int(self._copied_parts.sum()), np.uint8)
        for memory, place, length in zip(memories, self._places.tolist(), copied.tolist(), strict=True):
            if length:
                self._copies[place : place + length] = memory[memory.size - length :]

    @property
    def size(self) -> int:
        """Bytes of all memories, touched or not."""
        return sum(self.sizes)

    @property
    def part_count(self) -> int:
        return int(self._parts.sum() + self._copied_parts.sum())

    def segments(self, touched: "TouchedPages") -> Any:
        """All of it, in the order of its parts: a block must not come up twice, see parts.keep."""
        blocks = block_counts(self.sizes)
        first = PARTS * (np.cumsum(blocks) - blocks)
        segments = np.zeros((len(self.sizes), 2), SEGMENT)
        in_place, copied = segments[:, 0], segments[:, 1]
        in_place["address"], in_place["parts"], in_place["first"] = self.addresses, self._parts, first
        in_place["page"] = touched.places(self.addresses, np.array(self.sizes, np.int64))
        copied["address"], copied["parts"] = self._copies.ctypes.data + self._places, self._copied_parts
        copied["first"], copied["page"] = first + self._parts, pages.UNKNOWN
        return segments.reshape(-1).view(np.recarray)


class TouchedPages:
    """Which pages of some memories anybody has ever written to or read from, where the system tells (Linux does).

    Most pages of a world are neither: they are zero without being looked at, and looking would make them take room.
    Memories that lie beside each other are asked for together: of eight agents, 82 of them in 14 reads.
    """

    def __init__(self, memories: Memories) -> None:
        sizes = np.array(memories.sizes, np.int64)
        is_large = sizes >= _LOOKED_AT_APART
        first = memories.addresses[is_large] // mmap.PAGESIZE
        last = (memories.addresses[is_large] + sizes[is_large] - 1) // mmap.PAGESIZE
        order = np.argsort(first)
        first, last = first[order], last[order]
        begins = np.flatnonzero(np.diff(first, prepend=-_READ_TOGETHER - 2) > 0)
        begins = begins[(begins == 0) | (first[begins] - last[begins - 1] > _READ_TOGETHER)]
        self._first = first[begins]  # page of each run
        self._last = last[np.append(begins[1:], first.size) - 1] if first.size else first
        lengths = self._last - self._first + 1
        self._at = np.cumsum(lengths) - lengths
        self.entries = np.zeros(int(lengths.sum()), np.uint64)
        if not self._read():
            self._first = self._last = self._first[:0]

    def _read(self) -> bool:
        try:
            file = os.open(_PAGEMAP, os.O_RDONLY)
        except OSError:
            return False
        try:
            view, ends = self.entries.data.cast("B"), self._at + self._last - self._first + 1
            for begin, end, page in zip(self._at.tolist(), ends.tolist(), self._first.tolist(), strict=True):
                if os.preadv(file, [view[8 * begin : 8 * end]], 8 * page) < 8 * (end - begin):
                    return False
            return True
        finally:
            os.close(file)

    def places(self, addresses: Ints, sizes: Ints) -> Ints:
        """The places among the entries of the pages on which memories of these sizes begin; pages.UNKNOWN for some.

        One that was not asked for may begin on the last page of one that was: of it no more than that page is known.
        """
        if not self._first.size:
            return np.full(addresses.size, pages.UNKNOWN)
        page, end = addresses // mmap.PAGESIZE, (addresses + sizes - 1) // mmap.PAGESIZE
        run = np.maximum(np.searchsorted(self._first, page, "right") - 1, 0)
        is_known = (self._first[run] <= page) & (end <= self._last[run])
        return np.where(is_known, self._at[run] + page - self._first[run], pages.UNKNOWN)
