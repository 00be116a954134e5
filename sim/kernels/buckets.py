"""The open list of A* (w = 1): buckets by f, in exactly the order of the heap, at half its price.

"TBA*: Time-Bounded A*" proposes buckets for their constant time per operation. These are exact: f ascending, then
larger g, then smaller cell, as in openlist.py. What is put in are that file's ties, `rank of h << shift | cell`.

- A bucket is floor(f * RESOLUTION), in a ring. With a consistent heuristic the least f never falls and no child lies
  more than two diagonals above it, so the ring never wraps onto itself. A bitmap says which buckets hold something.
- A bucket is a chain of chunks of seven entries, in no order; all but the first chunk are full. One number says which
  that is and how many places it has left. So an empty bucket and a full chunk are one test, and most entries go in
  without a look at more than that number. A cheaper way to a cell puts in a second entry; the old one stays, and is
  dropped when its turn comes, the cell being closed by then. So nothing is ever moved.
- The bucket whose turn has come goes to a stack, its least tie on top. A child of the same f has a larger g than all
  that wait there, so it goes on top, past its siblings at most.
- Two values of f share a bucket only far from the goal (they differ by 1,400 diagonals or more). Then the larger goes
  back into the bucket.

A grid has about 200 values of f open at once, and half of the stacks hold one cell: what the heap pays for keeping all
of them in order is saved.
"""

from typing import NamedTuple

import numpy as np

from sim.kernels.jit import kernel
from sim.kernels.memory import scratch, zeros
from sim.kernels.octile import COST_UNIT

RESOLUTION = 4000.0
RING = 1 << 14  # above 2 * 2 * RESOLUTION + 2, the widest spread for any diagonal cost up to 2

IN_BUCKET, ON_STACK = 0, 1  # `place` of an open cell

_ROOM = 7  # entries of a chunk; its first word holds what the head was before it: the full chunk that follows, or 0
_LEFT = np.int64(7)  # the bits of a head that say how many places are left in its chunk
_MOST_PUTS = 8  # of one expansion
_FULLEST = 8  # entries that one cell can ever have: each neighbour is expanded once

_SHORT = 24
_GAPS = np.array([88001, 39111, 17382, 7725, 3433, 1525, 701, 301, 132, 57, 23, 10, 4], np.int64)


class Buckets(NamedTuple):
    """Make it only with new_buckets(). Sizes and places are in the search's control record."""

    heads: np.ndarray  # int32[RING] of each bucket: number of its first chunk << 3 | places left there; 0: empty
    bits: np.ndarray  # int64[RING / 32] the bitmap, 32 bits a word
    chunks: np.ndarray  # int64[8 * chunks], the chunk at 0 is none
    stack: np.ndarray  # int64[cells + 7] the ties of the least f, least on top


def new_buckets(cells: int, is_reused: bool = False) -> Buckets:
    """For a map of so many cells; 0: for a search with a heap."""
    if not cells:
        return Buckets(*(np.zeros(0, dtype) for dtype in (np.int32, np.int64, np.int64, np.int64)))
    # After squeeze() no entry is outdated, so there are `cells` at most, and RING chunks are free again.
    chunks = min(_FULLEST * cells, cells // _ROOM + 2 * RING) + _MOST_PUTS + 2
    return Buckets(
        np.zeros(RING, np.int32) if is_reused else zeros(RING, np.int32),
        np.zeros(RING // 32, np.int64),
        scratch("chunks", 8 * chunks, np.int64, is_reused),
        scratch("stack", cells + _ROOM, np.int64, is_reused),
    )


@kernel
def bucket_of(f):
    return np.int64(f * RESOLUTION)


@kernel
def forget_all(buckets, control):
    """Empty the list."""
    for word in range(RING // 32):  # a fixed size, whatever the map
        held = buckets.bits[word]
        while held:
            buckets.heads[(word << 5) + lowest_of(held)] = 0
            held &= held - 1
        buckets.bits[word] = 0
    control.cursor = 0
    control.stack_size = 0
    control.class_f = -1.0
    control.fresh_chunk = 1
    control.free_chunk = 0
    control.spare_chunks = buckets.chunks.size // 8 - 1


@kernel
def put(buckets, control, bucket, tie):
    """Put an entry into its bucket."""
    slot = np.uint64(bucket & (RING - 1))  # unsigned: see openlist.py
    head = np.int64(buckets.heads[slot])
    if not head & _LEFT:
        word, bit = slot >> np.uint64(5), np.int64(1) << (bucket & 31)
        buckets.bits[word] |= bit
        chunk = take_chunk(buckets, control)
        buckets.chunks[np.uint64(chunk << 3)] = head
        head = chunk << 3 | _ROOM
    buckets.chunks[np.uint64(first_of(head) + _ROOM - (head & _LEFT))] = tie
    buckets.heads[slot] = head - 1


@kernel
def first_of(head):
    """Where the entries of a head's chunk begin."""
    return (head & ~_LEFT) + 1


@kernel
def take_chunk(buckets, control):
    control.spare_chunks -= 1
    chunk = control.free_chunk
    if chunk:
        control.free_chunk = buckets.chunks[np.uint64(chunk << 3)] >> 3
        return chunk
    control.fresh_chunk += 1
    return control.fresh_chunk - 1


@kernel
def free_chunk(buckets, control, chunk):
    buckets.chunks[np.uint64(chunk << 3)] = control.free_chunk << 3
    control.free_chunk = chunk
    control.spare_chunks += 1


@kernel
def drop_first(buckets, control, head):
    """Give the first chunk of a bucket back. Returns what its head was before that chunk was there."""
    chunk = head >> 3
    before = buckets.chunks[np.uint64(chunk << 3)]
    free_chunk(buckets, control, chunk)
    return before


@kernel
def fitting(buckets, control, nodes, shift):
    """For how many expansions there are chunks, whatever they put in; where needed, outdated entries are dropped."""
    make_room(buckets, control, nodes, shift, _MOST_PUTS)
    return (control.spare_chunks - 1) // _MOST_PUTS


@kernel
def make_room(buckets, control, nodes, shift, puts):
    """Have chunks for so many entries. Not in the middle of an expansion: `place` must say of all where they are."""
    if control.spare_chunks < puts + 1:
        squeeze(buckets, control, nodes, shift)


@kernel
def lowest_of(held):
    """The number of the lowest bit of 32: the exponent of its value."""
    return (np.float64(held & -held).view(np.int64) >> 52) - 1023


@kernel
def next_bucket(buckets, cursor):
    """The first bucket from `cursor` on that holds something; there must be one."""
    slot = cursor & (RING - 1)
    word = slot >> 5
    held = buckets.bits[word] >> (slot & 31) << (slot & 31)
    while not held:
        word = (word + 1) & (RING // 32 - 1)
        held = buckets.bits[word]
    found = (word << 5) + lowest_of(held)
    return cursor + ((found - slot) & (RING - 1))


@kernel
def activate(buckets, control, nodes, shift):
    """Bring the cells of the least f to the empty stack. There must be an open cell.

    Writes: the stack, the `place` of its cells.
    """
    while control.stack_size == 0:
        control.cursor = next_bucket(buckets, control.cursor)
        is_mixed = empty_bucket(buckets, control, nodes, shift)
        if is_mixed:
            send_back(buckets, control, nodes, shift)
    sort(buckets.stack, control.stack_size)


@kernel
def empty_bucket(buckets, control, nodes, shift):
    """Bring all cells of the bucket at the cursor to the stack. Returns whether they have more than one f."""
    mask = (np.int64(1) << shift) - 1
    slot = control.cursor & (RING - 1)
    buckets.bits[slot >> 5] &= ~(np.int64(1) << (slot & 31))
    head = np.int64(buckets.heads[slot])
    buckets.heads[slot] = 0
    size = np.int64(0)
    least = np.inf
    is_mixed = False
    while head:
        first, count = first_of(head), _ROOM - (head & _LEFT)
        for i in range(first, first + count):
            tie = buckets.chunks[np.uint64(i)]
            node = nodes[np.uint64(tie & mask)]
            if node.place != IN_BUCKET:  # closed since, or here twice
                continue
            node.place = ON_STACK
            f = node.g + (tie >> shift) * COST_UNIT
            is_mixed |= size > 0 and f != least
            least = min(least, f)
            buckets.stack[np.uint64(size)] = tie
            size += 1
        head = drop_first(buckets, control, head)
    control.stack_size = size
    control.class_f = least
    return is_mixed


@kernel
def send_back(buckets, control, nodes, shift):
    """Put all entries of the stack that are not of its least f back into their buckets."""
    mask = (np.int64(1) << shift) - 1
    kept = 0
    for i in range(control.stack_size):
        tie = buckets.stack[i]
        node = nodes[tie & mask]
        f = node.g + (tie >> shift) * COST_UNIT
        if f == control.class_f:
            buckets.stack[kept] = tie
            kept += 1
        else:
            node.place = IN_BUCKET
            put(buckets, control, bucket_of(f), tie)
    control.stack_size = kept


@kernel
def begin_below(buckets, control, nodes, shift, f):
    """Make room for an entry that may come before the stack: what is on that goes back. Writes: cursor."""
    if control.stack_size and f <= control.class_f:
        control.class_f = -1.0  # nothing is of it
        send_back(buckets, control, nodes, shift)
    if control.open_size == 0 or bucket_of(f) < control.cursor:
        control.cursor = bucket_of(f)


@kernel
def sort(stack, size):
    """Greatest first, so that the least is on top. Most stacks are short; long ones are sorted Shell's way."""
    if size > _SHORT:
        for gap in _GAPS:
            if gap < size:
                sort_by_gap(stack, size, gap)
    for i in range(1, size):
        push(stack, i, stack[np.uint64(i)])


@kernel
def sort_by_gap(stack, size, gap):
    for i in range(gap, size):
        tie = stack[np.uint64(i)]
        k = i
        while k >= gap and stack[np.uint64(k - gap)] < tie:
            stack[np.uint64(k)] = stack[np.uint64(k - gap)]
            k -= gap
        stack[np.uint64(k)] = tie


@kernel
def push(stack, size, tie):
    """Put an entry of the present f on the stack, past those that come before it."""
    k = size
    while k > 0 and stack[np.uint64(k - 1)] < tie:
        stack[np.uint64(k)] = stack[np.uint64(k - 1)]
        k -= 1
    stack[np.uint64(k)] = tie


@kernel
def squeeze(buckets, control, nodes, shift):
    """Drop every outdated entry, so that there are chunks again. Rare: most are dropped when their turn comes."""
    mask = (np.int64(1) << shift) - 1
    for slot in range(RING):
        head = np.int64(buckets.heads[slot])
        buckets.heads[slot] = 0
        buckets.bits[slot >> 5] &= ~(np.int64(1) << (slot & 31))
        while head:  # put() writes to chunks that were read already: it never needs more of them
            first, count = first_of(head), _ROOM - (head & _LEFT)
            begin = buckets.stack.size - count
            for i in range(count):
                buckets.stack[begin + i] = buckets.chunks[first + i]
            head = drop_first(buckets, control, head)
            for i in range(begin, begin + count):
                tie = buckets.stack[i]
                node = nodes[tie & mask]
                f = node.g + (tie >> shift) * COST_UNIT
                if node.place == IN_BUCKET and bucket_of(f) & (RING - 1) == slot:
                    put(buckets, control, bucket_of(f), tie)
