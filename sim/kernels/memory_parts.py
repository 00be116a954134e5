"""Chunked, deduplicated storage of memory: the content of keyframes, which are snapshots of a world.

The memory of the world's agents is a sequence of parts of 1 KB, and 32 parts are a block. The pool stores the content
of each part in a slot. A table of the pool lists the 32 slots of one block. A keyframe is an array of table numbers,
called `blocks`: one for each block of memory. A part that has not changed since the previous keyframe shares its slot
with it, and a block without changes shares its table. Slot 0 contains zeros, and table 0 lists slot 0 only: a block
of memory that was never written.
"""

from typing import NamedTuple

import numpy as np

from sim.kernels.addresses import memory_words_at
from sim.kernels.jit import kernel
from sim.kernels.pages import may_be_in_use
from sim.kernels.yield_flag import yield_after_steps

PART_WORDS = 128  # uint64 words in a part
PART_BYTES = 8 * PART_WORDS  # bytes in a part
PARTS_PER_BLOCK = 32  # parts in a block

COMPARED_PER_YIELD, COPIED_PER_YIELD = 2048, 512
"""Number of parts compared, and of parts copied, before the kernel yields the processor again (pace.py). Either number
takes about 0.2 ms."""

SLOTS, FREED_SLOTS, TABLES, FREED_TABLES = 0, 1, 2, 3
"""Indices into `counts`: number of slots ever allocated, number of these slots that are free now, number of tables ever
allocated, number of these tables that are free now."""


class PartArrays(NamedTuple):
    """Arrays of a pool, in which keyframes share content. Slot 0 and table 0 always exist and have no user counts."""

    contents: np.ndarray  # uint64[slots, WORDS] content of each slot
    slot_users: np.ndarray  # int32[slots] number of tables that contain the slot
    freed_slots: np.ndarray  # int32[slots] stack of free slots
    tables: np.ndarray  # int32[tables, PARTS] slot of each part of a block
    table_users: np.ndarray  # int32[tables] number of keyframes that contain the table
    freed_tables: np.ndarray  # int32[tables] stack of free tables
    counts: np.ndarray  # int64[4] numbers of allocated and free slots and tables, at the indices SLOTS ... FREED_TABLES


SEGMENT = np.dtype([("address", "i8"), ("parts", "i8"), ("first", "i8"), ("page", "i8")], align=True)
"""Contiguous piece of memory: its address, its length in parts, the index of its first part among the parts of all
memories, and the index of its first page among the page entries (pages.py)."""


@kernel
def store_keyframe(pool, segments, entries, page, blocks, changed, places, pace):
    """Store the memory of the segments in the pool as a new keyframe.

    One call stores all segments, so that the storing thread seldom holds Python's lock, for which the window may wait.

    Args:
        pool: The Arrays of the pool.
        segments: SEGMENT records of all memory to store, in the order of its parts.
        entries: Page entries of the segments (pages.py).
        page: Size of a page in bytes.
        blocks: Table numbers of an older keyframe; overwritten with the table numbers of the new one.
        changed: Buffer with room for the indices of all parts, used for the parts that have changed.
        places: Buffer with room for the addresses of all parts, used for the parts that have changed.
        pace: Yield flag, see pace.py.

    Returns:
        Whether there was room in the pool. If not, nothing is stored.

    Writes: pool, blocks, changed, places.
    """
    count = 0
    for i in range(segments.size):
        count = find_changed_parts(pool, segments[i], entries, page, blocks, changed, places, count, pace)
    if not has_room(pool, count):
        return False
    store_changed_parts(pool, blocks, changed, places, count, pace)
    add_keyframe_user(pool, blocks)
    return True


@kernel
def find_changed_parts(pool, segment, entries, page, blocks, changed, places, count, pace):
    """Find the parts of a memory segment that differ from an older keyframe, whose table numbers are `blocks`.

    `entries` are the page entries (pages.py), which show the pages that were never used; `page` is the page size in
    bytes. The index and the address of each changed part are appended to `changed` and `places`, whose first `count`
    elements are in use. Returns the new number of elements in use. Writes: changed, places.
    """
    for place in range(segment.parts):
        yield_after_steps(place + 1, COMPARED_PER_YIELD, pace)
        part = segment.first + place
        address = segment.address + place * PART_BYTES
        slot = pool.tables[blocks[part // PARTS_PER_BLOCK], part % PARTS_PER_BLOCK]
        if not may_be_in_use(segment.address, segment.page, place * PART_BYTES, PART_BYTES, entries, page):
            if slot == 0:
                continue
        elif is_same_content(pool.contents, slot, memory_words_at(address, PART_WORDS)):
            continue
        changed[count] = part
        places[count] = address
        count += 1
    return count


@kernel
def has_room(pool, count):
    """Return whether the pool has free slots for `count` more parts, and a free table for each, if each needs one."""
    used_slots = pool.counts[SLOTS] - pool.counts[FREED_SLOTS]
    used_tables = pool.counts[TABLES] - pool.counts[FREED_TABLES]
    return max(used_slots, used_tables) + count <= pool.slot_users.size


@kernel
def is_same_content(contents, slot, words):
    """Return whether a part of a memory, given by its words, equals the content of a slot.

    The loop compares all words instead of stopping at the first difference, and its indices are unsigned. So the
    compiler can make the processor compare eight words at once, which raises the speed from 5 to 15 GB/s.
    """
    differing = np.uint64(0)
    row = np.uint64(slot)
    for i in range(np.uint64(PART_WORDS)):
        differing |= words[np.uint64(i)] ^ contents[row, np.uint64(i)]
    return differing == np.uint64(0)


@kernel
def store_changed_parts(pool, blocks, changed, places, count, pace):
    """Copy the first `count` changed parts into slots of the pool, and list the slots in tables of the new keyframe.

    `changed` has the indices of the parts, `places` their addresses; parts of one block must be consecutive.
    has_room() must have returned true. Writes: pool, blocks.
    """
    renewed = -1
    for i in range(count):
        yield_after_steps(i + 1, COPIED_PER_YIELD, pace)
        part = np.int64(changed[i])
        block = part // PARTS_PER_BLOCK
        if block != renewed:
            blocks[block] = copy_slot_table(pool, blocks[block])
            renewed = block
        pool.tables[blocks[block], part % PARTS_PER_BLOCK] = slot_for_words(
            pool, memory_words_at(places[i], PART_WORDS)
        )


@kernel
def copy_slot_table(pool, old):
    """Return a new table that is a copy of table `old`. Writes: pool."""
    table = allocate_number(pool.freed_tables, pool.counts, TABLES, FREED_TABLES)
    for i in range(PARTS_PER_BLOCK):
        pool.tables[table, i] = pool.tables[old, i]
    return table


@kernel
def slot_for_words(pool, words):
    """Return a slot with the content of a part: slot 0 if the part is all zeros, else a new slot. Writes: pool."""
    if is_same_content(pool.contents, 0, words):
        return np.int64(0)
    slot = allocate_number(pool.freed_slots, pool.counts, SLOTS, FREED_SLOTS)
    for i in range(np.uint64(PART_WORDS)):
        pool.contents[np.uint64(slot), np.uint64(i)] = words[np.uint64(i)]
    return slot


@kernel
def allocate_number(freed, counts, all_of_them, free_again):
    """Allocate a slot or table and return its number: the last one freed, or else one never used before.

    `all_of_them` and `free_again` are the indices in `counts` of the numbers to update. Writes: counts.
    """
    if counts[free_again]:
        counts[free_again] -= 1
        return np.int64(freed[counts[free_again]])
    counts[all_of_them] += 1
    return counts[all_of_them] - 1


@kernel
def add_keyframe_user(pool, blocks):
    """Increase the user counts of a new keyframe's tables, given by their numbers `blocks`. Writes: pool."""
    for table in blocks:
        if table == 0:
            continue
        if pool.table_users[table] == 0:  # the table is new, so it is not yet counted as a user of its slots
            for i in range(PARTS_PER_BLOCK):
                pool.slot_users[pool.tables[table, i]] += 1
        pool.table_users[table] += 1


@kernel
def remove_keyframe_user(pool, blocks):
    """Remove a keyframe from the user counts of its tables, and free tables and slots without users. Writes: pool.

    `blocks` are the table numbers of the keyframe. A table is used by keyframes, a slot by tables.
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
                pool.freed_slots[pool.counts[FREED_SLOTS]] = slot
                pool.counts[FREED_SLOTS] += 1
        pool.freed_tables[pool.counts[FREED_TABLES]] = table
        pool.counts[FREED_TABLES] += 1


@kernel
def count_stored_parts(pool, blocks):
    """Return the number of parts stored for a keyframe with these table numbers: those that are not all zeros."""
    count = 0
    for table in blocks:
        if table:
            for i in range(PARTS_PER_BLOCK):
                count += pool.tables[table, i] != 0
    return count


@kernel
def restore_blocks(pool, blocks, begin, end, words, first):
    """Restore a piece of memory: copy the blocks from `begin` up to `end` (exclusive) into `words`, which is all zeros.

    `first` is the index of the part with which `words` begins. Parts outside of `words` are skipped. Returns the number
    of parts copied. Writes: words.
    """
    count = words.size // PART_WORDS
    copied = 0
    for block in range(begin, end):
        if blocks[block] == 0:
            continue
        for i in range(PARTS_PER_BLOCK):
            slot = pool.tables[blocks[block], i]
            place = block * PARTS_PER_BLOCK + i - first
            if slot and 0 <= place < count:
                for k in range(np.uint64(PART_WORDS)):
                    words[np.uint64(place * PART_WORDS) + np.uint64(k)] = pool.contents[np.uint64(slot), np.uint64(k)]
                copied += 1
    return copied
