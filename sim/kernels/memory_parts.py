"""Deduplicated storage for keyframes, which are copies of the memory of a world's agents.

The memory is divided into blocks of 32 KB, and each block into 32 parts of 1 KB. The storage, called the pool, copies
each part into a slot (room for 1 KB). For each block, a table lists the slots of its 32 parts. A keyframe is an array
of table ids, one for each block; the array is called `blocks`. If a part has not changed since the previous keyframe,
both keyframes use the same slot. If a whole block has not changed, they use the same table. Slot 0 contains zeros.
Table 0 contains slot 0 thirty-two times: it represents a block of memory that is all zeros.
"""

from typing import NamedTuple

import numpy as np

from sim.jit.addresses import memory_words_at
from sim.jit.decorators import kernel
from sim.jit.yield_flag import yield_after_steps
from sim.kernels.pages import may_pages_be_in_use

PART_WORDS = 128  # size of a part of memory in uint64 words
PART_BYTES = 8 * PART_WORDS  # size of a part of memory in bytes
PARTS_PER_BLOCK = 32  # number of parts in a block of memory

COMPARED_PER_YIELD, COPIED_PER_YIELD = 2048, 512
"""Number of parts that a kernel compares, or copies, before it yields the processor (yield_flag.py): 0.2 ms of work."""

SLOT_COUNT, FREED_SLOT_COUNT, TABLE_COUNT, FREED_TABLE_COUNT = 0, 1, 2, 3
"""Indices into `counts`. SLOTS, TABLES: number of slots or tables ever allocated. FREED_SLOT_COUNT, FREED_TABLE_COUNT:
number of these that are free now."""


class PartArrays(NamedTuple):
    """Arrays of the pool that stores all keyframes. Slot 0 and table 0 contain zeros; their users are not counted."""

    slot_contents: np.ndarray  # uint64[slots, PART_WORDS] part of memory stored in each slot
    slot_users: np.ndarray  # int32[slots] number of tables that contain each slot
    freed_slots: np.ndarray  # int32[slots] stack with the ids of the free slots
    tables: np.ndarray  # int32[tables, PARTS_PER_BLOCK] ids of the slots that each table lists
    table_users: np.ndarray  # int32[tables] number of keyframes that use each table
    freed_tables: np.ndarray  # int32[tables] stack with the ids of the free tables
    counts: np.ndarray  # int64[4] counters, at the indices SLOTS, FREED_SLOT_COUNT, TABLES and FREED_TABLE_COUNT


SEGMENT = np.dtype([("address", "i8"), ("parts", "i8"), ("first", "i8"), ("page", "i8")], align=True)
"""Contiguous piece of memory. `address`: where it begins. `parts`: its length in parts of 1 KB. `first`: index of its
first part in the memory of all agents. `page`: index of its first memory page in the page entries (pages.py)."""


@kernel
def store_keyframe(pool, segments, entries, page, blocks, changed, addresses, pace):
    """Store a new keyframe: the memory of all segments.

    One call stores all segments, because the kernel runs without Python's global lock: the window need not wait for it.

    Args:
        pool: PartArrays of the pool.
        segments: SEGMENT records of all memory to store, in the order of its parts.
        entries: Page entries of the segments (pages.py).
        page: Size of a memory page in bytes.
        blocks: Table ids of an older keyframe. They are replaced by the table ids of the new keyframe.
        changed: Buffer for the indices of the parts that have changed, with room for all parts.
        addresses: Buffer for the addresses of the parts that have changed, with room for all parts.
        pace: Yield flag, see yield_flag.py.

    Returns:
        True if the pool had room for the keyframe. Otherwise nothing is stored.

    Writes: pool, blocks, changed, addresses.
    """
    count = 0
    for i in range(segments.size):
        count = find_changed_parts(pool, segments[i], entries, page, blocks, changed, addresses, count, pace)
    if not has_free_slots_and_tables(pool, count):
        return False
    store_changed_parts(pool, blocks, changed, addresses, count, pace)
    add_keyframe_user(pool, blocks)
    return True


@kernel
def find_changed_parts(pool, segment, entries, page, blocks, changed, addresses, count, pace):
    """Find the parts (1 KB each) of a memory segment that have changed since the keyframe with table ids `blocks`.

    Append the index of each changed part to `changed` and its address to `addresses`. Both lists have `count` elements
    before the call; return their new length. `entries` are the page entries (pages.py): they show which memory pages
    were never used. `page` is the size of a page in bytes. Writes: changed, addresses.
    """
    for index in range(segment.parts):
        yield_after_steps(index + 1, COMPARED_PER_YIELD, pace)
        part = segment.first + index
        address = segment.address + index * PART_BYTES
        slot = pool.tables[blocks[part // PARTS_PER_BLOCK], part % PARTS_PER_BLOCK]
        if not may_pages_be_in_use(segment.address, segment.page, index * PART_BYTES, PART_BYTES, entries, page):
            if slot == 0:
                continue
        elif has_same_part_content(pool.slot_contents, slot, memory_words_at(address, PART_WORDS)):
            continue
        changed[count] = part
        addresses[count] = address
        count += 1
    return count


@kernel
def has_free_slots_and_tables(pool, count):
    """Return True if the pool has at least `count` free slots and at least `count` free tables."""
    used_slots = pool.counts[SLOT_COUNT] - pool.counts[FREED_SLOT_COUNT]
    used_tables = pool.counts[TABLE_COUNT] - pool.counts[FREED_TABLE_COUNT]
    return max(used_slots, used_tables) + count <= pool.slot_users.size


@kernel
def has_same_part_content(contents, slot, words):
    """Return True if the slot contains exactly `words`, the words of one part of memory.

    The loop does not stop at the first difference, and its indices are unsigned. So the compiler can use vector
    instructions that compare eight words at once, which raises the speed from 5 to 15 GB/s.
    """
    differing = np.uint64(0)
    row = np.uint64(slot)
    for i in range(np.uint64(PART_WORDS)):
        differing |= words[np.uint64(i)] ^ contents[row, np.uint64(i)]
    return differing == np.uint64(0)


@kernel
def store_changed_parts(pool, blocks, changed, addresses, count, pace):
    """Copy the changed parts of memory into slots of the pool, and make new tables for the blocks that contain them.

    The first `count` elements of `changed` are the indices of the parts, those of `addresses` their addresses. Parts of
    one block must follow one another. Call has_free_slots_and_tables() first. Writes: pool, blocks.
    """
    renewed = -1
    for i in range(count):
        yield_after_steps(i + 1, COPIED_PER_YIELD, pace)
        part = np.int64(changed[i])
        block = part // PARTS_PER_BLOCK
        if block != renewed:
            blocks[block] = copy_slot_table(pool, blocks[block])
            renewed = block
        pool.tables[blocks[block], part % PARTS_PER_BLOCK] = store_part_in_slot(
            pool, memory_words_at(addresses[i], PART_WORDS)
        )


@kernel
def copy_slot_table(pool, old):
    """Copy table `old` to a new table, and return the id of the new table. Writes: pool."""
    table = allocate_slot_or_table(pool.freed_tables, pool.counts, TABLE_COUNT, FREED_TABLE_COUNT)
    for i in range(PARTS_PER_BLOCK):
        pool.tables[table, i] = pool.tables[old, i]
    return table


@kernel
def store_part_in_slot(pool, words):
    """Store `words` in a new slot and return its id; if all words are zero, return slot 0 instead. Writes: pool."""
    if has_same_part_content(pool.slot_contents, 0, words):
        return np.int64(0)
    slot = allocate_slot_or_table(pool.freed_slots, pool.counts, SLOT_COUNT, FREED_SLOT_COUNT)
    for i in range(np.uint64(PART_WORDS)):
        pool.slot_contents[np.uint64(slot), np.uint64(i)] = words[np.uint64(i)]
    return slot


@kernel
def allocate_slot_or_table(freed, counts, total_index, freed_index):
    """Allocate a slot or a table: reuse the last one freed, otherwise take an unused one. Return its id.

    For a slot, `total_index` is SLOTS and `freed_index` is FREED_SLOT_COUNT; for a table, TABLES and FREED_TABLE_COUNT.
    Writes: counts.
    """
    if counts[freed_index]:
        counts[freed_index] -= 1
        return np.int64(freed[counts[freed_index]])
    counts[total_index] += 1
    return counts[total_index] - 1


@kernel
def add_keyframe_user(pool, blocks):
    """Count a new keyframe as a user of its tables, whose ids are `blocks`. Writes: pool."""
    for table in blocks:
        if table == 0:
            continue
        if pool.table_users[table] == 0:  # the table is new: count it as a user of its slots
            for i in range(PARTS_PER_BLOCK):
                pool.slot_users[pool.tables[table, i]] += 1
        pool.table_users[table] += 1


@kernel
def remove_keyframe_user(pool, blocks):
    """Delete a keyframe, and free the tables and slots that no other keyframe uses.

    `blocks` are the table ids of the keyframe. Writes: pool.
    """
    for table in blocks:
        if table == 0:
            continue
        pool.table_users[table] -= 1
        if pool.table_users[table]:
            continue
        for i in range(PARTS_PER_BLOCK):
            slot = pool.tables[table, i]
            pool.slot_users[slot] -= 1
            if slot and pool.slot_users[slot] == 0:
                pool.freed_slots[pool.counts[FREED_SLOT_COUNT]] = slot
                pool.counts[FREED_SLOT_COUNT] += 1
        pool.freed_tables[pool.counts[FREED_TABLE_COUNT]] = table
        pool.counts[FREED_TABLE_COUNT] += 1


@kernel
def count_stored_parts(pool, blocks):
    """Return the number of memory parts of a keyframe that are not all zeros. `blocks` are its table ids."""
    count = 0
    for table in blocks:
        if table:
            for i in range(PARTS_PER_BLOCK):
                count += pool.tables[table, i] != 0
    return count


@kernel
def restore_memory_blocks(pool, blocks, begin, end, words, first):
    """Copy the memory blocks `begin` to `end` - 1 of a keyframe into `words`, and return the number of parts copied.

    `words` is a piece of memory that contains only zeros and begins with the part of index `first`. The blocks may
    extend beyond it at both ends; parts outside of it are skipped. Writes: words.
    """
    count = words.size // PART_WORDS
    copied = 0
    for block in range(begin, end):
        if blocks[block] == 0:
            continue
        for i in range(PARTS_PER_BLOCK):
            slot = pool.tables[blocks[block], i]
            index = block * PARTS_PER_BLOCK + i - first
            if slot and 0 <= index < count:
                for k in range(np.uint64(PART_WORDS)):
                    words[np.uint64(index * PART_WORDS) + np.uint64(k)] = pool.slot_contents[
                        np.uint64(slot), np.uint64(k)
                    ]
                copied += 1
    return copied
