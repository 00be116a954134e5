"""Memory buffers to save in a keyframe, described for kernels by addresses, sizes and touched pages.

memories = BufferSet(arrays, copied_below)   copies small buffers at once; larger buffers are read later
touched = TouchedPages(memories)            asks the system which pages are in use; call it in the thread that reads
memories.segments(touched)                  all buffers as segments (address and number of whole parts)

A part is PART_BYTES of memory, the unit that keyframes store; a block is PARTS_PER_BLOCK parts (memory_parts.py).
"""

import mmap
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.kernels import pages
from sim.kernels.memory_parts import PART_BYTES, PARTS_PER_BLOCK, SEGMENT

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]

_MIN_LOOKUP_BYTES = 64 * 1024
"""Smallest size in bytes of a buffer whose touched pages are looked up. Smaller buffers are read whole, because the
lookup would take longer."""

# Maximum gap, in pages, between two buffers whose entries in the system's page map are read in one call.
# Reading the entries of the pages in a smaller gap is faster than a second call.
_MAX_PAGE_GAP = 64
_PAGEMAP_FILE = "/proc/self/pagemap"


def blocks_per_buffer(sizes: Sequence[int]) -> Ints:
    """Return the number of blocks (32 KB) that each buffer takes, given its size in bytes; buffers share no block."""
    return -(-np.array(sizes, np.int64) // (PART_BYTES * PARTS_PER_BLOCK))


class BufferSet:
    """Memory buffers to be stored in a pool: small ones are copied at once, others must not change until stored.

    If the size of a buffer is not a multiple of 1 KB (a part), its last bytes are also copied at once, and padded with
    zeros.
    """

    def __init__(
        self, memories: Sequence[Bytes], copied_below: int = 0, addresses: Sequence[int] | None = None
    ) -> None:
        """Copy the small buffers, and keep the addresses of all others.

        Args:
            memories: the buffers.
            copied_below: size in bytes below which a buffer is copied at once and may change afterwards.
            addresses: addresses of the buffers; None: they are queried from numpy, which is slow.
        """
        self.buffer_sizes = tuple(memory.size for memory in memories)
        self._kept_alive_buffers = memories  # keeps the buffers alive, so that their addresses stay valid
        sizes = np.array(self.buffer_sizes, np.int64)
        self.buffer_addresses = np.array(addresses or [memory.ctypes.data for memory in memories], np.int64)
        copied = np.where(sizes < copied_below, sizes, sizes % PART_BYTES)
        self._in_place_part_counts = (sizes - copied) // PART_BYTES
        self._copied_part_counts = -(-copied // PART_BYTES)
        self._copied_offsets = PART_BYTES * (np.cumsum(self._copied_part_counts) - self._copied_part_counts)
        self._copied_bytes = np.zeros(PART_BYTES * int(self._copied_part_counts.sum()), np.uint8)
        for memory, offset, length in zip(memories, self._copied_offsets.tolist(), copied.tolist(), strict=True):
            if length:
                self._copied_bytes[offset : offset + length] = memory[memory.size - length :]

    @property
    def size(self) -> int:
        """Return the total size of all buffers in bytes, including pages that were never touched."""
        return sum(self.buffer_sizes)

    @property
    def part_count(self) -> int:
        return int(self._in_place_part_counts.sum() + self._copied_part_counts.sum())

    def memory_segments(self, touched: "TouchedPages") -> Any:
        """Return two memory segments (SEGMENT records) for each buffer: memory to read in place, then copied memory.

        The order matters, because the kernel stores memory block by block: the parts of a block must follow each other.
        """
        blocks = blocks_per_buffer(self.buffer_sizes)
        first = PARTS_PER_BLOCK * (np.cumsum(blocks) - blocks)
        segments = np.zeros((len(self.buffer_sizes), 2), SEGMENT)
        in_place, copied = segments[:, 0], segments[:, 1]
        in_place["address"], in_place["parts"], in_place["first"] = (
            self.buffer_addresses,
            self._in_place_part_counts,
            first,
        )
        in_place["page"] = touched.first_page_entry_indices(
            self.buffer_addresses, np.array(self.buffer_sizes, np.int64)
        )
        copied["address"], copied["parts"] = (
            self._copied_bytes.ctypes.data + self._copied_offsets,
            self._copied_part_counts,
        )
        copied["first"], copied["page"] = first + self._in_place_part_counts, pages.UNKNOWN_PAGE
        return segments.reshape(-1).view(np.recarray)


class TouchedPages:
    """Memory pages of some buffers that were ever written or read, if the system can list them (Linux can).

    Most pages of a world were never touched, so they contain zeros. They are skipped, because reading a page would
    allocate its memory. Neighbouring buffers are looked up together: the 82 buffers of eight agents take 14 reads.
    """

    def __init__(self, memories: BufferSet) -> None:
        sizes = np.array(memories.buffer_sizes, np.int64)
        is_large = sizes >= _MIN_LOOKUP_BYTES
        first = memories.buffer_addresses[is_large] // mmap.PAGESIZE
        last = (memories.buffer_addresses[is_large] + sizes[is_large] - 1) // mmap.PAGESIZE
        order = np.argsort(first)
        first, last = first[order], last[order]
        begins = np.flatnonzero(np.diff(first, prepend=-_MAX_PAGE_GAP - 2) > 0)
        begins = begins[(begins == 0) | (first[begins] - last[begins - 1] > _MAX_PAGE_GAP)]
        self._first_pages = first[begins]  # number of the first page of each run of neighbouring buffers
        # Number of the last page of each run of neighbouring buffers.
        self._last_pages = last[np.append(begins[1:], first.size) - 1] if first.size else first
        lengths = self._last_pages - self._first_pages + 1
        # Index in `entries` of the first page of each run of neighbouring buffers.
        self._entry_offsets = np.cumsum(lengths) - lengths
        self.entries = np.zeros(int(lengths.sum()), np.uint64)
        if not self._read_page_map():
            self._first_pages = self._last_pages = self._first_pages[:0]

    def _read_page_map(self) -> bool:
        """Read the page-map entries of all runs of neighbouring buffers; return whether the system allows this."""
        try:
            file = os.open(_PAGEMAP_FILE, os.O_RDONLY)
        except OSError:
            return False
        try:
            view, ends = self.entries.data.cast("B"), self._entry_offsets + self._last_pages - self._first_pages + 1
            for begin, end, page in zip(
                self._entry_offsets.tolist(), ends.tolist(), self._first_pages.tolist(), strict=True
            ):
                if os.preadv(file, [view[8 * begin : 8 * end]], 8 * page) < 8 * (end - begin):
                    return False
            return True
        finally:
            os.close(file)

    def first_page_entry_indices(self, addresses: Ints, sizes: Ints) -> Ints:
        """Return the index in `entries` of each buffer's first page; UNKNOWN_PAGE if one of its pages has no entry.

        A small buffer is not looked up itself. It has entries only if its pages were looked up for larger buffers.

        Args:
            addresses: addresses of the buffers.
            sizes: their sizes in bytes.
        """
        if not self._first_pages.size:
            return np.full(addresses.size, pages.UNKNOWN_PAGE)
        page, end = addresses // mmap.PAGESIZE, (addresses + sizes - 1) // mmap.PAGESIZE
        run = np.maximum(np.searchsorted(self._first_pages, page, "right") - 1, 0)
        is_known = (self._first_pages[run] <= page) & (end <= self._last_pages[run])
        return np.where(is_known, self._entry_offsets[run] + page - self._first_pages[run], pages.UNKNOWN_PAGE)
