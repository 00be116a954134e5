"""The open list of A* (w = 1): buckets by f, in exactly the order of the heap, at half its price.

"TBA*: Time-Bounded A*" proposes buckets for their constant time per operation. These are exact: f ascending, then
larger g, then smaller cell, as in openlist.py. What is put in are that file's ties, `rank of h << shift | cell`.

- A bucket is floor(f * RESOLUTION), in a ring. With a consistent heuristic the least f never falls and no child lies
  more than two diagonals above it, so the ring never wraps onto itself. A bitmap says which buckets hold something.
- A bucket is a chain of chunks of seven entries, in no order. A cheaper way to a cell puts in a second entry; the old
  one stays, and is dropped when its turn comes, the cell being closed by then. So nothing is ever moved.
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
from sim.kernels.memory import scratch
from sim.kernels.octile import COST_UNIT

RESOLUTION = 4000.0
RING = 1 << 14  # above 2 * 2 * RESOLUTION + 2, the widest spread for any diagonal cost up to 2

IN_BUCKET, ON_STACK = 0, 1  # `place` of an open cell

_ROOM = 7  # entries of a chunk; its first word holds the number of the next chunk and how many there are
_COUNT = np.int64(7)  # the bits of the count
_MOST_PUTS = 8  # of one expansion
_FULLEST = 8  # entries that one cell can ever have: each neighbour is expanded once

_SHORT = 24
_GAPS = np.array([88001, 39111, 17382, 7725, 3433, 1525, 701, 301, 132, 57, 23, 10, 4], np.int64)


class Buckets(NamedTuple):
    """Make it only with new_buckets(). Sizes and places are in the search's control record."""

    heads: np.ndarray  # int32[RING] first chunk of each bucket; counts only where the bitmap says so
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
        scratch("heads", RING, np.int32, is_reused),
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
    buckets.bits[:] = 0  # a fixed size, whatever the map
    control.cursor = 0
    control.stack_size = 0
    control.class_f = -1.0
    control.fresh_chunk = 1
    control.free_chunk = 0
    control.spare_chunks = buckets.chunks.size // 8 - 1


@kernel
def put(buckets, control, bucket, tie):
    """Put an entry into its bucket."""
    slot = bucket & (RING - 1)
    word, bit = np.uint64(slot >> 5), np.int64(1) << (slot & 31)  # unsigned: see openlist.py
    held = buckets.bits[word]
    chunk = np.int64(0)
    if held & bit:
        chunk = np.int64(buckets.heads[np.uint64(slot)])
        header = buckets.chunks[np.uint64(chunk << 3)]
        count = header & _COUNT
        if count < _ROOM:
            buckets.chunks[np.uint64(chunk << 3)] = header + 1
            buckets.chunks[np.uint64((chunk << 3) + count + 1)] = tie
            return
    else:
        buckets.bits[word] = held | bit
    new = take_chunk(buckets, control)
    buckets.chunks[np.uint64(new << 3)] = chunk << 3 | 1
    buckets.chunks[np.uint64((new << 3) + 1)] = tie
    buckets.heads[np.uint64(slot)] = new


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
def is_short(control):
    """Whether the next expansion might find no chunk: time for squeeze()."""
    return control.spare_chunks < _MOST_PUTS + 1


@kernel
def next_bucket(buckets, cursor):
    """The first bucket from `cursor` on that holds something; there must be one."""
    slot = cursor & (RING - 1)
    word = slot >> 5
    held = buckets.bits[word] >> (slot & 31) << (slot & 31)
    while not held:
        word = (word + 1) & (RING // 32 - 1)
        held = buckets.bits[word]
    lowest = np.float64(held & -held).view(np.int64)  # its exponent is the number of the bit
    found = (word << 5) + (lowest >> 52) - 1023
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
    chunk = np.int64(buckets.heads[slot])
    size = np.int64(0)
    least = np.inf
    is_mixed = False
    while chunk:
        header = buckets.chunks[np.uint64(chunk << 3)]
        for i in range(1, (header & _COUNT) + 1):
            tie = buckets.chunks[np.uint64((chunk << 3) + i)]
            node = nodes[np.uint64(tie & mask)]
            if node.place != IN_BUCKET:  # closed since, or here twice
                continue
            node.place = ON_STACK
            f = node.g + (tie >> shift) * COST_UNIT
            is_mixed |= size > 0 and f != least
            least = min(least, f)
            buckets.stack[np.uint64(size)] = tie
            size += 1
        free_chunk(buckets, control, chunk)
        chunk = header >> 3
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
        bit = np.int64(1) << (slot & 31)
        if not buckets.bits[slot >> 5] & bit:
            continue
        chunk = np.int64(buckets.heads[slot])
        buckets.bits[slot >> 5] &= ~bit
        while chunk:  # put() writes to chunks that were read already: it never needs more of them
            header = buckets.chunks[chunk << 3]
            count = header & _COUNT
            for i in range(1, count + 1):
                buckets.stack[buckets.stack.size - i] = buckets.chunks[(chunk << 3) + i]
            free_chunk(buckets, control, chunk)
            for i in range(1, count + 1):
                tie = buckets.stack[buckets.stack.size - i]
                node = nodes[tie & mask]
                f = node.g + (tie >> shift) * COST_UNIT
                if node.place == IN_BUCKET and bucket_of(f) & (RING - 1) == slot:
                    put(buckets, control, bucket_of(f), tie)
            chunk = header >> 3
