"""The pool that keyframes lie in: every part of memory once, however many keyframes have it.

    pool = Pool(most_bytes)                     room for so much; what is not used takes no memory
    content = pool.kept(memories, like)         the memories as they are now, or None when there is no room for them
    content.copy_into(memories)                 what is held, into memories of zeros; in pieces
    pool.held                                   bytes in use

A Content gives its room back when the last one who has it lets go of it. What is slow about setting memory aside is
reading it. That may be done in another thread, while nobody writes to the memories, and nothing else is kept.
"""

import mmap
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.kernels import parts
from sim.kernels.memory import zeros
from sim.kernels.parts import PART, PARTS, SLOTS, TABLES

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]

_SLOT_BYTES = PART + 8  # with who uses it and where it stands among the free ones
_TABLE_BYTES = 4 * PARTS + 8
_LOOKED_AT_APART = 64 * 1024
"""Memories of fewer bytes are read whole: asking which of their pages were touched would take longer."""

_COPIED_AT_ONCE = 16  # blocks in one piece of a restore


class Content:
    """What a keyframe holds of its memories."""

    def __init__(self, pool: "Pool", sizes: tuple[int, ...], blocks: npt.NDArray[np.int32]) -> None:
        self.pool, self.sizes, self.blocks = pool, sizes, blocks
        self.bytes = PART * int(np.count_nonzero(pool.arrays.tables[blocks[blocks > 0]]))
        """What a restore has to copy."""

    def __del__(self) -> None:
        self.pool.gone.append(self.blocks)  # no more than that: something may be kept just now, in another thread

    @property
    def own_bytes(self) -> int:
        """What it takes beside its parts and tables."""
        return self.blocks.nbytes + 16 * len(self.sizes)

    def copy_into(self, memories: Sequence[Bytes]) -> Iterator[int]:
        """Fill memories of zeros with what is held, piece by piece; yields the bytes copied."""
        for memory, blocks in zip(memories, _split(self.blocks, self.sizes), strict=True):
            body, tail = _words_of(memory)
            for begin in range(0, blocks.size, _COPIED_AT_ONCE):
                end = min(begin + _COPIED_AT_ONCE, blocks.size)
                if blocks[begin:end].any():
                    yield PART * int(parts.fill(self.pool.arrays, blocks, begin, end, body, 0))
            first = body.size // parts.WORDS
            parts.fill(self.pool.arrays, blocks, first // PARTS, blocks.size, tail, first)
            memory[PART * first :] = tail.view(np.uint8)[: memory.size - PART * first]


class Pool:
    def __init__(self, most_bytes: int) -> None:
        slots = most_bytes // PART + 2
        self.arrays = parts.Arrays(
            contents=zeros(slots * parts.WORDS, np.uint64).reshape(-1, parts.WORDS),
            slot_users=zeros(slots, np.int32),
            freed_slots=zeros(slots, np.int32),
            tables=zeros(slots * PARTS, np.int32).reshape(-1, PARTS),
            table_users=zeros(slots, np.int32),
            freed_tables=zeros(slots, np.int32),
            counts=np.zeros(4, np.int64),
        )
        self.arrays.counts[[SLOTS, TABLES]] = 1  # slot 0 and table 0
        self.gone: list[npt.NDArray[np.int32]] = []  # what is not held any more, its room not yet free
        self._is_keeping = False

    @property
    def held(self) -> int:
        """Bytes in use."""
        if not self._is_keeping:
            self._release_gone()
        slots, freed_slots, tables, freed_tables = self.arrays.counts.tolist()
        return int(_SLOT_BYTES * (slots - 1 - freed_slots) + _TABLE_BYTES * (tables - 1 - freed_tables))

    def kept(self, memories: Sequence[Bytes], like: Content | None = None) -> Content | None:
        """The memories as they are now; parts equal to those of `like` are shared with it. None: no room."""
        self._is_keeping = True
        try:
            self._release_gone()
            return self._kept(memories, like)
        finally:
            self._is_keeping = False

    def _kept(self, memories: Sequence[Bytes], like: Content | None) -> Content | None:
        sizes = tuple(memory.size for memory in memories)
        blocks = _blocks_before(sizes, like if like is not None and like.pool is self else None)
        changed = np.empty(sum(_part_count(size) for size in sizes), np.int32)
        pages = TouchedPages()
        count, found = 0, []
        for memory, own in zip(memories, _split(blocks, sizes), strict=True):
            body, tail = _words_of(memory)
            for words, first, touched in ((body, 0, pages.of(memory)), (tail, body.size // parts.WORDS, _UNKNOWN)):
                begin, offset = count, memory.ctypes.data % mmap.PAGESIZE if touched.size else 0
                count = int(
                    parts.find_changed(self.arrays, words, first, own, touched, offset, mmap.PAGESIZE, changed, count)
                )
                found.append((words, first, own, begin, count))
        if not self._has_room(count):
            return None
        for words, first, own, begin, end in found:
            parts.keep(self.arrays, words, first, own, changed, begin, end)
        parts.hold(self.arrays, blocks)
        return Content(self, sizes, blocks)

    def _has_room(self, count: int) -> bool:
        """Whether so many parts fit in, each in a table of its own."""
        slots, freed_slots, tables, freed_tables = self.arrays.counts.tolist()
        return bool(max(slots - freed_slots, tables - freed_tables) + count <= self.arrays.slot_users.size)

    def _release_gone(self) -> None:
        while self.gone:
            parts.release(self.arrays, self.gone.pop())


# --- memories as parts and blocks -----------------------------------------------------------------


def _part_count(size: int) -> int:
    return -(-size // PART)


def _block_count(size: int) -> int:
    return -(-_part_count(size) // PARTS)


def _split(blocks: npt.NDArray[np.int32], sizes: Sequence[int]) -> list[npt.NDArray[np.int32]]:
    """The blocks of each memory."""
    ends = np.cumsum([_block_count(size) for size in sizes], dtype=np.int64)
    return np.split(blocks, ends[:-1].tolist()) if len(sizes) else []


def _blocks_before(sizes: tuple[int, ...], like: Content | None) -> npt.NDArray[np.int32]:
    """What the memories were in an older keyframe. Memories come in the order in which the graph of the world is
    walked; an agent more or less shifts some of them, and those that have another size now count as new.
    """
    blocks = np.zeros(sum(_block_count(size) for size in sizes), np.int32)
    if like is None:
        return blocks
    if like.sizes == sizes:
        return like.blocks.copy()
    pairs = zip(_split(blocks, sizes), _split(like.blocks, like.sizes), sizes, like.sizes, strict=False)
    for own, old, size, old_size in pairs:
        if size == old_size:
            own[:] = old
    return blocks


def _words_of(memory: Bytes) -> tuple[Words, Words]:
    """The whole parts of a memory, and what is left of it as a part filled up with zeros: no words if nothing is."""
    whole = memory.size // PART * PART
    rest = memory.size - whole
    tail = np.zeros(PART if rest else 0, np.uint8)
    tail[:rest] = memory[whole:]
    return memory[:whole].view(np.uint64), tail.view(np.uint64)


# --- pages ----------------------------------------------------------------------------------------

_UNKNOWN = np.empty(0, np.uint8)
_IS_THERE = np.uint64(3 << 62)  # in memory, or swapped out
_PAGEMAP = "/proc/self/pagemap"


@dataclass
class TouchedPages:
    """Which pages of a memory anybody has ever written to or read from, where the system tells (Linux does).

    Most pages of a world are neither: they are zero without being looked at, and looking would make them take room.
    """

    def __post_init__(self) -> None:
        try:
            self._file: int | None = os.open(_PAGEMAP, os.O_RDONLY)
        except OSError:
            self._file = None

    def __del__(self) -> None:
        if self._file is not None:
            os.close(self._file)

    def of(self, memory: Bytes) -> npt.NDArray[np.uint8]:
        """A number for each page, zero for those that nobody has touched; empty where that is not known."""
        if self._file is None or memory.size < _LOOKED_AT_APART:
            return _UNKNOWN
        first = memory.ctypes.data // mmap.PAGESIZE
        count = (memory.ctypes.data + memory.size - 1) // mmap.PAGESIZE - first + 1
        told = os.pread(self._file, 8 * count, 8 * first)
        if len(told) < 8 * count:
            return _UNKNOWN
        touched: npt.NDArray[np.uint8] = ((np.frombuffer(told, np.uint64) & _IS_THERE) != 0).view(np.uint8)
        return touched
