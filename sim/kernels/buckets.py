"""Open list of A* (w = 1) in buckets by f. It returns cells in exactly the order of the heap, in half the time.

"TBA*: Time-Bounded A*" proposes buckets for their constant time per operation. The buckets here are exact: f ascending,
then larger g, then smaller cell, as in openlist.py. An entry is a packed tie-breaker, `rank of h << shift | cell`.

- Bucket number: floor(f * BUCKETS_PER_COST). Buckets are stored in the slots of a ring. With a consistent
  heuristic, the least f on the open list never falls, and no child has an f more than two diagonals above the least f.
  So two buckets never share a slot. A bitmap shows which buckets are not empty.
- A bucket is a chain of chunks of seven entries, in no order; all chunks but the first are full. One number, the head
  of the bucket, gives the first chunk and its number of free entries. So an empty bucket and a full chunk are
  recognised by one test, and most insertions read nothing but the head. A cheaper path to a cell inserts a second
  entry. The outdated entry remains, and is dropped when its bucket is emptied, because its cell is closed by then. So
  no entry is ever moved.
- The bucket with the least f is emptied onto a stack, its least tie on top. A child with that f has a larger g than
  every entry already on the stack, so it is inserted on top of the stack, or just below its siblings.
- Two values of f share a bucket only far from the goal (they differ by 1,400 diagonals or more). Then the entries with
  the larger f are put back into the bucket.

The open cells of a grid have about 200 different values of f at a time, and half of the stacks have one cell only. So
most entries need no sorting, while a heap must keep all of its entries in order.
"""

from typing import NamedTuple

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels.memory import lazily_allocated_zeros, scratch_array
from sim.kernels.octile import COST_UNIT

BUCKETS_PER_COST = 4000.0  # buckets per unit of cost
# number of slots in the ring: more than 2 * 2 * BUCKETS_PER_COST + 2, the widest range of buckets in use at a time
RING_SIZE = 1 << 14

IN_BUCKET, ON_STACK = 0, 1  # values of `place` in an open cell's node: its entry is in a bucket, or on the stack

# Number of entries in a chunk. The word before them links to the next chunk of the bucket: it is the old head, or 0.
_CHUNK_ENTRIES = 7
_FREE_MASK = np.int64(7)  # mask of the lowest bits of a bucket's head, which count the free entries of its first chunk
_MAX_INSERTIONS = 8  # maximum number of entries that one expansion inserts into buckets
_MAX_CELL_ENTRIES = 8  # maximum number of entries of one cell: each of its 8 neighbours is expanded once and adds one

# Stacks of up to this many entries are sorted by insertion alone, longer ones first by Shell sort.
_MAX_INSERTION_SORT = 24
# gaps of Shell sort for larger stacks
_SHELL_GAPS = np.array([88001, 39111, 17382, 7725, 3433, 1525, 701, 301, 132, 57, 23, 10, 4], np.int64)


class Buckets(NamedTuple):
    """Bucketed open list. Make it only with new_buckets(). Its sizes and indices are in the search's control record."""

    heads: np.ndarray  # int32[RING] head of each bucket: its first chunk << 3 | free entries in it; 0: empty bucket
    nonempty_bucket_bits: np.ndarray  # int64[RING / 32] bitmap of buckets that are not empty, 32 bits a word
    chunks: np.ndarray  # int64[8 * number of chunks] memory of all chunks, 8 words each; chunk 0 is not used
    stack: np.ndarray  # int64[cells + 7] entries of the cells with the least f, the least entry on top


def new_buckets(cells: int, is_reused: bool = False) -> Buckets:
    """Return empty buckets for a map of `cells` cells, or, if `cells` is 0, a placeholder for a search with a heap."""
    if not cells:
        return Buckets(*(np.zeros(0, dtype) for dtype in (np.int32, np.int64, np.int64, np.int64)))
    # Once squeeze() has dropped all outdated entries, the buckets contain at most one entry for each cell.
    # Then at least RING chunks are free, even if each bucket has one chunk that is not full.
    chunks = min(_MAX_CELL_ENTRIES * cells, cells // _CHUNK_ENTRIES + 2 * RING_SIZE) + _MAX_INSERTIONS + 2
    return Buckets(
        np.zeros(RING_SIZE, np.int32) if is_reused else lazily_allocated_zeros(RING_SIZE, np.int32),
        np.zeros(RING_SIZE // 32, np.int64),
        scratch_array("chunks", 8 * chunks, np.int64, is_reused),
        scratch_array("stack", cells + _CHUNK_ENTRIES, np.int64, is_reused),
    )


@kernel
def bucket_number(f):
    """Return the number of the bucket that contains cells with this f."""
    return np.int64(f * BUCKETS_PER_COST)


@kernel
def clear_buckets(buckets, control):
    """Empty the open list."""
    for word in range(RING_SIZE // 32):  # the number of words is constant, so the time does not depend on the map
        bits = buckets.nonempty_bucket_bits[word]
        while bits:
            buckets.heads[(word << 5) + lowest_set_bit(bits)] = 0
            bits &= bits - 1
        buckets.nonempty_bucket_bits[word] = 0
    control.cursor = 0
    control.stack_size = 0
    control.class_f = -1.0
    control.fresh_chunk = 1
    control.free_chunk = 0
    control.spare_chunks = buckets.chunks.size // 8 - 1


@kernel
def insert_bucket_entry(buckets, control, bucket, tie):
    """Put the entry `tie` into a bucket, which is given by its number. Writes: buckets, control."""
    slot = np.uint64(bucket & (RING_SIZE - 1))  # unsigned, because numba tests every signed index for being negative
    head = np.int64(buckets.heads[slot])
    if not head & _FREE_MASK:
        word, bit = slot >> np.uint64(5), np.int64(1) << (bucket & 31)
        buckets.nonempty_bucket_bits[word] |= bit
        chunk = allocate_chunk(buckets, control)
        buckets.chunks[np.uint64(chunk << 3)] = head
        head = chunk << 3 | _CHUNK_ENTRIES
    buckets.chunks[np.uint64(first_bucket_entry_index(head) + _CHUNK_ENTRIES - (head & _FREE_MASK))] = tie
    buckets.heads[slot] = head - 1


@kernel
def first_bucket_entry_index(head):
    """Return the index in `chunks` of the first entry of a bucket's first chunk, which `head` gives."""
    return (head & ~_FREE_MASK) + 1


@kernel
def allocate_chunk(buckets, control):
    """Return the index of an unused chunk and count it as used. Writes: control."""
    control.spare_chunks -= 1
    chunk = control.free_chunk
    if chunk:
        control.free_chunk = buckets.chunks[np.uint64(chunk << 3)] >> 3
        return chunk
    control.fresh_chunk += 1
    return control.fresh_chunk - 1


@kernel
def free_chunk(buckets, control, chunk):
    """Put a chunk on the list of freed chunks."""
    buckets.chunks[np.uint64(chunk << 3)] = control.free_chunk << 3
    control.free_chunk = chunk
    control.spare_chunks += 1


@kernel
def free_first_chunk(buckets, control, head):
    """Free the first chunk of a bucket. Returns the head that the bucket had before it got this chunk."""
    chunk = head >> 3
    before = buckets.chunks[np.uint64(chunk << 3)]
    free_chunk(buckets, control, chunk)
    return before


@kernel
def guaranteed_expansions(buckets, control, nodes, shift):
    """Return the number of expansions that cannot run out of free chunks.

    If even one expansion could run out of them, outdated entries are dropped first.
    """
    ensure_free_chunks(buckets, control, nodes, shift, _MAX_INSERTIONS)
    return (control.spare_chunks - 1) // _MAX_INSERTIONS


@kernel
def ensure_free_chunks(buckets, control, nodes, shift, puts):
    """Ensure that there are enough chunks for `puts` insertions. Not allowed during an expansion.

    The `place` of every open cell must be valid.
    """
    if control.spare_chunks < puts + 1:
        drop_outdated_entries(buckets, control, nodes, shift)


@kernel
def lowest_set_bit(bits):
    """Return the index of the lowest set bit of a 32-bit word: the exponent of that bit's value as a float."""
    return (np.float64(bits & -bits).view(np.int64) >> 52) - 1023


@kernel
def next_nonempty_bucket(buckets, cursor):
    """Return the number of the first non-empty bucket whose number is at least `cursor`. Such a bucket must exist."""
    slot = cursor & (RING_SIZE - 1)
    word = slot >> 5
    bits = buckets.nonempty_bucket_bits[word] >> (slot & 31) << (slot & 31)
    while not bits:
        word = (word + 1) & (RING_SIZE // 32 - 1)
        bits = buckets.nonempty_bucket_bits[word]
    found = (word << 5) + lowest_set_bit(bits)
    return cursor + ((found - slot) & (RING_SIZE - 1))


@kernel
def fill_stack_with_least_f(buckets, control, nodes, shift):
    """Move the open cells with the least f from their bucket to the empty stack. There must be an open cell.

    Writes: buckets, control, the `place` of the cells moved.
    """
    while control.stack_size == 0:
        control.cursor = next_nonempty_bucket(buckets, control.cursor)
        is_mixed = move_bucket_to_stack(buckets, control, nodes, shift)
        if is_mixed:
            return_stack_to_buckets(buckets, control, nodes, shift)
    sort_stack(buckets.stack, control.stack_size)


@kernel
def move_bucket_to_stack(buckets, control, nodes, shift):
    """Move all open cells of the bucket at the cursor to the stack. Returns whether these cells differ in f."""
    mask = (np.int64(1) << shift) - 1
    slot = control.cursor & (RING_SIZE - 1)
    buckets.nonempty_bucket_bits[slot >> 5] &= ~(np.int64(1) << (slot & 31))
    head = np.int64(buckets.heads[slot])
    buckets.heads[slot] = 0
    size = np.int64(0)
    min_f = np.inf
    is_mixed = False
    while head:
        first, count = first_bucket_entry_index(head), _CHUNK_ENTRIES - (head & _FREE_MASK)
        for i in range(first, first + count):
            tie = buckets.chunks[np.uint64(i)]
            node = nodes[np.uint64(tie & mask)]
            if node.place != IN_BUCKET:  # an outdated entry: the cell was closed, or its other entry was met first
                continue
            node.place = ON_STACK
            f = node.g + (tie >> shift) * COST_UNIT
            is_mixed |= size > 0 and f != min_f
            min_f = min(min_f, f)
            buckets.stack[np.uint64(size)] = tie
            size += 1
        head = free_first_chunk(buckets, control, head)
    control.stack_size = size
    control.class_f = min_f
    return is_mixed


@kernel
def return_stack_to_buckets(buckets, control, nodes, shift):
    """Put all entries of the stack with an f other than class_f back into their buckets."""
    mask = (np.int64(1) << shift) - 1
    size = 0
    for i in range(control.stack_size):
        tie = buckets.stack[i]
        node = nodes[tie & mask]
        f = node.g + (tie >> shift) * COST_UNIT
        if f == control.class_f:
            buckets.stack[size] = tie
            size += 1
        else:
            node.place = IN_BUCKET
            insert_bucket_entry(buckets, control, bucket_number(f), tie)
    control.stack_size = size


@kernel
def return_stack_before_smaller_f(buckets, control, nodes, shift, f):
    """Put the entries of the stack back into their buckets if a new entry with this f may precede them.

    Writes: buckets, control, the `place` of the cells moved.
    """
    if control.stack_size and f <= control.class_f:
        control.class_f = -1.0  # no entry has this f, so return_stack_to_buckets() puts all entries back
        return_stack_to_buckets(buckets, control, nodes, shift)
    if control.open_size == 0 or bucket_number(f) < control.cursor:
        control.cursor = bucket_number(f)


@kernel
def sort_stack(stack, size):
    """Sort the stack by descending tie, so that the entry with the least tie is on top.

    Most stacks are short and sorted by insertion; long ones are pre-sorted by Shell sort.
    """
    if size > _MAX_INSERTION_SORT:
        for gap in _SHELL_GAPS:
            if gap < size:
                insertion_sort_stack_with_gap(stack, size, gap)
    for i in range(1, size):
        push_on_stack(stack, i, stack[np.uint64(i)])


@kernel
def insertion_sort_stack_with_gap(stack, size, gap):
    """Sort, by insertion and in descending order, each set of entries whose indices differ by multiples of `gap`."""
    for i in range(gap, size):
        tie = stack[np.uint64(i)]
        k = i
        while k >= gap and stack[np.uint64(k - gap)] < tie:
            stack[np.uint64(k)] = stack[np.uint64(k - gap)]
            k -= gap
        stack[np.uint64(k)] = tie


@kernel
def push_on_stack(stack, size, tie):
    """Insert an entry into the sorted stack, below all smaller ties. All entries of the stack have the same f."""
    k = size
    while k > 0 and stack[np.uint64(k - 1)] < tie:
        stack[np.uint64(k)] = stack[np.uint64(k - 1)]
        k -= 1
    stack[np.uint64(k)] = tie


@kernel
def drop_outdated_entries(buckets, control, nodes, shift):
    """Drop all outdated entries of all buckets, which frees chunks.

    This is rarely needed, because most outdated entries are dropped when their bucket is emptied.
    """
    mask = (np.int64(1) << shift) - 1
    for slot in range(RING_SIZE):
        head = np.int64(buckets.heads[slot])
        buckets.heads[slot] = 0
        buckets.nonempty_bucket_bits[slot >> 5] &= ~(np.int64(1) << (slot & 31))
        while head:  # a chunk is freed before its entries are put back, so put() never runs out of chunks
            first, count = first_bucket_entry_index(head), _CHUNK_ENTRIES - (head & _FREE_MASK)
            begin = buckets.stack.size - count
            for i in range(count):
                buckets.stack[begin + i] = buckets.chunks[first + i]
            head = free_first_chunk(buckets, control, head)
            for i in range(begin, begin + count):
                tie = buckets.stack[i]
                node = nodes[tie & mask]
                f = node.g + (tie >> shift) * COST_UNIT
                if node.place == IN_BUCKET and bucket_number(f) & (RING_SIZE - 1) == slot:
                    insert_bucket_entry(buckets, control, bucket_number(f), tie)
