"""Pool of memory parts (pieces of 1 KB): keyframes that have equal parts share one reference-counted copy.

The pool stores each part in a slot. A block is PARTS_PER_BLOCK successive parts of a buffer; a table of the pool lists
the slots of its parts, so a keyframe stores one table number for each block. Slot 0 and table 0 represent zeros.

    pool = PartPool(most_bytes)                     reserve address space; unused space takes no memory
    content = pool.store_buffers(memories, like)    store the present contents of buffers; None if the pool is full
    content.copy_into(memories)                     copy the contents into zeroed buffers, in slices
    pool.used_bytes                                 bytes in use

Stored contents free their parts when they are garbage-collected. Storing is slow because it reads all the memory; it
may run in another thread, as long as no other thread writes to the buffers or stores anything in the pool.
"""

import mmap
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from sim.jit.decorators import as_plain_arrays
from sim.jit.yield_flag import YieldFlag, never_yield_flag
from sim.kernels import memory_parts
from sim.kernels.memory import lazily_allocated_zeros
from sim.kernels.memory_parts import PART_BYTES, PARTS_PER_BLOCK, SLOT_COUNT, TABLE_COUNT
from sim.time.memory_buffers import BufferSet, Bytes, TouchedPages, blocks_per_buffer

Words = npt.NDArray[np.uint64]

# Bytes that one stored part takes, including its reference count and its entry in the list of free slots.
_SLOT_BYTES = PART_BYTES + 8
# Bytes that the table of one block takes, including its reference count and its entry in the list of free tables.
_TABLE_BYTES = 4 * PARTS_PER_BLOCK + 8
_BLOCKS_PER_SLICE = 16  # number of blocks (32 KB each) that copy_into() copies in one slice


class StoredBuffers:
    """Contents of the memory buffers of one keyframe, stored in a pool."""

    def __init__(self, pool: "PartPool", sizes: tuple[int, ...], blocks: npt.NDArray[np.int32]) -> None:
        self.part_pool, self.buffer_sizes, self.block_numbers = pool, sizes, blocks
        self.restored_bytes = PART_BYTES * int(memory_parts.count_stored_parts(pool.part_arrays, blocks))
        """Number of bytes that a restore copies: all stored parts that are not zero."""

    def __del__(self) -> None:
        # Only queue the blocks for release, because another thread may be storing a keyframe in the pool.
        self.part_pool.blocks_to_release.append(self.block_numbers)

    @property
    def bytes_outside_pool(self) -> int:
        """Return the number of bytes that this object takes outside the pool."""
        return self.block_numbers.nbytes + 16 * len(self.buffer_sizes)

    def copy_into(self, memories: Sequence[Bytes]) -> Iterator[int]:
        """Copy the contents into zeroed buffers in slices, and yield the number of bytes copied in each slice."""
        for memory, blocks in zip(memories, _blocks_by_buffer(self.block_numbers, self.buffer_sizes), strict=True):
            body, tail = _split_buffer_into_words(memory)
            for begin in range(0, blocks.size, _BLOCKS_PER_SLICE):
                end = min(begin + _BLOCKS_PER_SLICE, blocks.size)
                if blocks[begin:end].any():
                    yield PART_BYTES * int(
                        memory_parts.restore_memory_blocks(self.part_pool.part_arrays, blocks, begin, end, body, 0)
                    )
            first = body.size // memory_parts.PART_WORDS
            memory_parts.restore_memory_blocks(
                self.part_pool.part_arrays, blocks, first // PARTS_PER_BLOCK, blocks.size, tail, first
            )
            memory[PART_BYTES * first :] = tail.view(np.uint8)[: memory.size - PART_BYTES * first]


class PartPool:
    """Store of memory parts with a fixed capacity, see the module docstring."""

    def __init__(self, max_bytes: int) -> None:
        slots = max_bytes // PART_BYTES + 2
        self.part_arrays = memory_parts.PartArrays(
            slot_contents=lazily_allocated_zeros(slots * memory_parts.PART_WORDS, np.uint64).reshape(
                -1, memory_parts.PART_WORDS
            ),
            slot_users=lazily_allocated_zeros(slots, np.int32),
            freed_slots=lazily_allocated_zeros(slots, np.int32),
            tables=lazily_allocated_zeros(slots * PARTS_PER_BLOCK, np.int32).reshape(-1, PARTS_PER_BLOCK),
            table_users=lazily_allocated_zeros(slots, np.int32),
            freed_tables=lazily_allocated_zeros(slots, np.int32),
            counts=np.zeros(4, np.int64),
        )
        # Slot 0 and table 0 represent zeros and are always in use.
        self.part_arrays.counts[[SLOT_COUNT, TABLE_COUNT]] = 1
        # Blocks of garbage-collected StoredBuffers; their memory is released before the next keyframe is stored.
        self.blocks_to_release: list[npt.NDArray[np.int32]] = []
        self._is_storing = False  # whether a thread is storing buffers in the pool

    @property
    def used_bytes(self) -> int:
        """Return the number of bytes of the pool that are in use."""
        if not self._is_storing:
            self._release_queued_blocks()
        slots, freed_slots, tables, freed_tables = self.part_arrays.counts.tolist()
        return int(_SLOT_BYTES * (slots - 1 - freed_slots) + _TABLE_BYTES * (tables - 1 - freed_tables))

    def store_buffers(
        self,
        memories: BufferSet,
        base: StoredBuffers | None = None,
        touched: TouchedPages | None = None,
        pace: YieldFlag | None = None,
    ) -> StoredBuffers | None:
        """Store the present contents of buffers in the pool, and return a handle to the stored contents.

        Args:
            memories: the buffers.
            base: contents of an earlier keyframe; memory equal to them is not stored again.
            touched: memory pages of the buffers that are in use; None: the system is asked for them now.
            pace: flag with which the kernel yields to other threads (sim/jit/yield_flag.py); None: it never yields.

        Returns:
            The stored contents; None if the pool is full.
        """
        self._is_storing = True
        try:
            self._release_queued_blocks()
            return self._store_buffers(
                memories, base, touched or TouchedPages(memories), never_yield_flag() if pace is None else pace
            )
        finally:
            self._is_storing = False

    def _store_buffers(
        self, memories: BufferSet, base: StoredBuffers | None, touched: TouchedPages, pace: YieldFlag
    ) -> StoredBuffers | None:
        blocks = _blocks_of_base(memories.buffer_sizes, base if base is not None and base.part_pool is self else None)
        segments, room = as_plain_arrays(memories.memory_segments(touched)), memories.part_count
        changed, addresses = np.empty(room, np.int32), np.empty(room, np.int64)
        if not memory_parts.store_keyframe(
            self.part_arrays, segments, touched.entries, mmap.PAGESIZE, blocks, changed, addresses, pace
        ):
            return None
        return StoredBuffers(self, memories.buffer_sizes, blocks)

    def _release_queued_blocks(self) -> None:
        while self.blocks_to_release:
            memory_parts.remove_keyframe_user(self.part_arrays, self.blocks_to_release.pop())


# --- buffers as parts and blocks ------------------------------------------------------------------


def _blocks_by_buffer(blocks: npt.NDArray[np.int32], sizes: Sequence[int]) -> list[npt.NDArray[np.int32]]:
    """Split the block array of a keyframe into one array per buffer; `sizes` are the sizes of the buffers in bytes."""
    block_ends = np.cumsum(blocks_per_buffer(sizes))
    return np.split(blocks, block_ends[:-1].tolist()) if len(sizes) else []


def _blocks_of_base(sizes: tuple[int, ...], base: StoredBuffers | None) -> npt.NDArray[np.int32]:
    """Return the table number of each block in the earlier keyframe `base`; 0 for the blocks of a new buffer.

    Buffers of the two keyframes are matched by their index in the order in which the object graph of the world is
    traversed. An added or removed agent shifts the indices. A buffer counts as new if its size differs from the size of
    the buffer with the same index.
    """
    blocks = np.zeros(int(blocks_per_buffer(sizes).sum()), np.int32)
    if base is None:
        return blocks
    if base.buffer_sizes == sizes:
        return base.block_numbers.copy()
    pairs = zip(
        _blocks_by_buffer(blocks, sizes),
        _blocks_by_buffer(base.block_numbers, base.buffer_sizes),
        sizes,
        base.buffer_sizes,
        strict=False,
    )
    for own, old, size, old_size in pairs:
        if size == old_size:
            own[:] = old
    return blocks


def _split_buffer_into_words(memory: Bytes) -> tuple[Words, Words]:
    """Split a buffer into whole parts (1 KB) and a remainder padded to a whole part; return both as 64-bit words."""
    whole_size = memory.size // PART_BYTES * PART_BYTES
    tail_size = memory.size - whole_size
    tail = np.zeros(PART_BYTES if tail_size else 0, np.uint8)
    tail[:tail_size] = memory[whole_size:]
    return memory[:whole_size].view(np.uint64), tail.view(np.uint64)
