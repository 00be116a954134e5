"""The pool that keyframes lie in: every part of memory once, however many keyframes have it.

    pool = Pool(most_bytes)                     room for so much; what is not used takes no memory
    content = pool.kept(memories, like)         the memories as they are now, or None when there is no room for them
    content.copy_into(memories)                 what is held, into memories of zeros; in pieces
    pool.held                                   bytes in use

A Content gives its room back when the last one who has it lets go of it. What is slow about setting memory aside is
reading it. That may be done in another thread, while nobody writes to the memories, and nothing else is kept.
"""

import mmap
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from sim.kernels import parts
from sim.kernels.jit import bare
from sim.kernels.memory import zeros
from sim.kernels.pace import Pace, hurried
from sim.kernels.parts import PART, PARTS, SLOTS, TABLES
from sim.time.memories import Bytes, Memories, TouchedPages, block_counts

Words = npt.NDArray[np.uint64]

_SLOT_BYTES = PART + 8  # with who uses it and where it stands among the free ones
_TABLE_BYTES = 4 * PARTS + 8
_COPIED_AT_ONCE = 16  # blocks in one piece of a restore


class Content:
    """What a keyframe holds of its memories."""

    def __init__(self, pool: "Pool", sizes: tuple[int, ...], blocks: npt.NDArray[np.int32]) -> None:
        self.pool, self.sizes, self.blocks = pool, sizes, blocks
        self.bytes = PART * int(parts.count_parts(pool.arrays, blocks))
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

    def kept(
        self,
        memories: Memories,
        like: Content | None = None,
        touched: TouchedPages | None = None,
        pace: Pace | None = None,
    ) -> Content | None:
        """The memories as they are now; parts equal to those of `like` are shared with it. None: no room.

        `touched` is what was asked of them lately; who has a `pace` gives way to others (sim/kernels/pace.py).
        """
        self._is_keeping = True
        try:
            self._release_gone()
            return self._kept(memories, like, touched or TouchedPages(memories), hurried() if pace is None else pace)
        finally:
            self._is_keeping = False

    def _kept(self, memories: Memories, like: Content | None, touched: TouchedPages, pace: Pace) -> Content | None:
        blocks = _blocks_before(memories.sizes, like if like is not None and like.pool is self else None)
        segments, room = bare(memories.segments(touched)), memories.part_count
        changed, places = np.empty(room, np.int32), np.empty(room, np.int64)
        if not parts.set_aside(self.arrays, segments, touched.entries, mmap.PAGESIZE, blocks, changed, places, pace):
            return None
        return Content(self, memories.sizes, blocks)

    def _release_gone(self) -> None:
        while self.gone:
            parts.release(self.arrays, self.gone.pop())


# --- memories as parts and blocks -----------------------------------------------------------------


def _split(blocks: npt.NDArray[np.int32], sizes: Sequence[int]) -> list[npt.NDArray[np.int32]]:
    """The blocks of each memory."""
    ends = np.cumsum(block_counts(sizes))
    return np.split(blocks, ends[:-1].tolist()) if len(sizes) else []


def _blocks_before(sizes: tuple[int, ...], like: Content | None) -> npt.NDArray[np.int32]:
    """What the memories were in an older keyframe. Memories come in the order in which the graph of the world is
    walked; an agent more or less shifts some of them, and those that have another size now count as new.
    """
    blocks = np.zeros(int(block_counts(sizes).sum()), np.int32)
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
