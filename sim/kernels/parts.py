"""Memory in parts of a fixed size, each kept once: what keyframes are made of.

A memory is a row of parts, 32 parts are a block. What a keyframe holds of a memory is a row of numbers, one for each
block: the table that says in which slot of the pool each of its parts lies. A part that has not changed since the
keyframe before keeps its slot, and a block without changes its table. Slot 0 is a part of zeros and table 0 a block
of them: memory that nobody has touched.
"""

from typing import NamedTuple

import numpy as np

from sim.kernels.addresses import words_at
from sim.kernels.jit import kernel
from sim.kernels.pace import give_way_after
from sim.kernels.pages import may_be_touched

WORDS = 128  # of 8 bytes in a part
PART = 8 * WORDS
PARTS = 32  # in a block

COMPARED, COPIED = 2048, 512
"""Parts in a piece of work, see pace.py: about 0.2 ms."""

SLOTS, FREED_SLOTS, TABLES, FREED_TABLES = 0, 1, 2, 3
"""Places in `counts`: slots and tables given out at least once, and those of them that are free again."""


class Arrays(NamedTuple):
    """The memory of a pool. Slot 0 and table 0 are always there, and nobody counts who uses them."""

    contents: np.ndarray  # uint64[slots, WORDS]
    slot_users: np.ndarray  # int32[slots] tables that name it
    freed_slots: np.ndarray  # int32[slots] a stack
    tables: np.ndarray  # int32[tables, PARTS] a slot for each part of a block
    table_users: np.ndarray  # int32[tables] keyframes that hold it
    freed_tables: np.ndarray  # int32[tables] a stack
    counts: np.ndarray  # int64[4]


SEGMENT = np.dtype([("address", "i8"), ("parts", "i8"), ("first", "i8"), ("page", "i8")], align=True)
"""Memory that lies in one piece: where, how many parts, the number of the first among the parts of all memories, and
the place of its first page among the entries of pages (pages.py)."""


@kernel
def set_aside(pool, segments, entries, page, blocks, changed, places, pace):
    """Put what the segments hold into the pool; `blocks` are the tables of an older keyframe, then of the new one.

    One call for all memories: the thread that sets aside holds Python's lock as seldom as can be, for the window may
    wait for it. `pace`: see pace.py. `changed` and `places` are room for a number and an address of each part. Returns
    whether there was room; nothing is kept where there was none. Writes: pool, blocks, changed, places.
    """
    count = 0
    for i in range(segments.size):
        count = find_changed(pool, segments[i], entries, page, blocks, changed, places, count, pace)
    if not has_room(pool, count):
        return False
    keep(pool, blocks, changed, places, count, pace)
    hold(pool, blocks)
    return True


@kernel
def find_changed(pool, segment, entries, page, blocks, changed, places, count, pace):
    """The parts of a segment that are not as the blocks of an older keyframe say.

    `entries` says which pages anybody ever wrote to (pages.py), `page` is their size.
    Appends to `changed` and `places`, of which `count` are used; returns how many are used then. Writes: both.
    """
    for place in range(segment.parts):
        give_way_after(place + 1, COMPARED, pace)
        part = segment.first + place
        address = segment.address + place * PART
        slot = pool.tables[blocks[part // PARTS], part % PARTS]
        if not may_be_touched(segment.address, segment.page, place * PART, PART, entries, page):
            if slot == 0:
                continue
        elif is_same(pool.contents, slot, words_at(address, WORDS)):
            continue
        changed[count] = part
        places[count] = address
        count += 1
    return count


@kernel
def has_room(pool, count):
    """Whether so many parts fit in, each in a table of its own."""
    used_slots = pool.counts[SLOTS] - pool.counts[FREED_SLOTS]
    used_tables = pool.counts[TABLES] - pool.counts[FREED_TABLES]
    return max(used_slots, used_tables) + count <= pool.slot_users.size


@kernel
def is_same(contents, slot, words):
    """Whether a part of a memory is what lies in a slot.

    It looks at all words rather than stop at the first that differs, and its numbers are unsigned: so the processor
    compares eight words at once. That is 15 GB/s instead of 5.
    """
    differing = np.uint64(0)
    row = np.uint64(slot)
    for i in range(np.uint64(WORDS)):
        differing |= words[np.uint64(i)] ^ contents[row, np.uint64(i)]
    return differing == np.uint64(0)


@kernel
def keep(pool, blocks, changed, places, count, pace):
    """Put changed parts into slots, parts of a block one after the other. There is room. Writes: pool, blocks."""
    renewed = -1
    for i in range(count):
        give_way_after(i + 1, COPIED, pace)
        part = np.int64(changed[i])
        block = part // PARTS
        if block != renewed:
            blocks[block] = new_table(pool, blocks[block])
            renewed = block
        pool.tables[blocks[block], part % PARTS] = new_slot(pool, words_at(places[i], WORDS))


@kernel
def new_table(pool, old):
    """A table with what another one says. Writes: pool."""
    table = give_out(pool.freed_tables, pool.counts, TABLES, FREED_TABLES)
    for i in range(PARTS):
        pool.tables[table, i] = pool.tables[old, i]
    return table


@kernel
def new_slot(pool, words):
    """A slot with a part of a memory in it: slot 0 if that is all zeros. Writes: pool."""
    if is_same(pool.contents, 0, words):
        return np.int64(0)
    slot = give_out(pool.freed_slots, pool.counts, SLOTS, FREED_SLOTS)
    for i in range(np.uint64(WORDS)):
        pool.contents[np.uint64(slot), np.uint64(i)] = words[np.uint64(i)]
    return slot


@kernel
def give_out(freed, counts, all_of_them, free_again):
    """The number of a free slot or table. Writes: counts."""
    if counts[free_again]:
        counts[free_again] -= 1
        return np.int64(freed[counts[free_again]])
    counts[all_of_them] += 1
    return counts[all_of_them] - 1


@kernel
def hold(pool, blocks):
    """A keyframe with these blocks uses its tables. Writes: pool."""
    for table in blocks:
        if table == 0:
            continue
        if pool.table_users[table] == 0:  # made for this keyframe
            for i in range(PARTS):
                pool.slot_users[pool.tables[table, i]] += 1
        pool.table_users[table] += 1


@kernel
def release(pool, blocks):
    """A keyframe with these blocks is gone: what nobody else uses is free. Writes: pool."""
    for table in blocks:
        if table == 0:
            continue
        pool.table_users[table] -= 1
        if pool.table_users[table]:
            continue
        for i in range(PARTS):
            slot = pool.tables[table, i]
            pool.slot_users[slot] -= 1
            if slot and pool.slot_users[slot] == 0:
                pool.freed_slots[pool.counts[FREED_SLOTS]] = slot
                pool.counts[FREED_SLOTS] += 1
        pool.freed_tables[pool.counts[FREED_TABLES]] = table
        pool.counts[FREED_TABLES] += 1


@kernel
def count_parts(pool, blocks):
    """Parts that are not all zeros."""
    count = 0
    for table in blocks:
        if table:
            for i in range(PARTS):
                count += pool.tables[table, i] != 0
    return count


@kernel
def fill(pool, blocks, begin, end, words, first):
    """Copy the blocks from `begin` to `end` into the memory whose first part has number `first`, as far as they lie
    in it; it is all zeros before. Returns the parts copied. Writes: words.
    """
    count = words.size // WORDS
    copied = 0
    for block in range(begin, end):
        if blocks[block] == 0:
            continue
        for i in range(PARTS):
            slot = pool.tables[blocks[block], i]
            place = block * PARTS + i - first
            if slot and 0 <= place < count:
                for k in range(np.uint64(WORDS)):
                    words[np.uint64(place * WORDS) + np.uint64(k)] = pool.contents[np.uint64(slot), np.uint64(k)]
                copied += 1
    return copied
