"""The open list: an indexed 4-ary heap with decrease-key, whose entries contain their keys.

Order: f ascending, then larger g, then smaller cell: a total order, so results do not depend on the
shape of the heap. The two tie-breakers and the cell itself are packed into one integer,
`tie = rank << shift | cell`, so that an entry is 16 bytes and four children share a cache line.
If g is part of f (wg > 0), a larger g among equal f is a smaller h, and h needs few bits: rank is h in cost
units. If it is not (greedy search), rank is a large constant minus g in cost units. It has too few bits for a very
large g: all g from 131,072 on (on a map of 2048 x 2048; 16,384 on the largest map) rank the same, and the smaller
cell decides.

Three habits here are for speed (measured together, on bg512: 24.8 against 14.7 million expansions a second):
- Comparisons use & and |: `and` and `or` would branch, and equal f are so common on a grid that the branch is
  unpredictable.
- f is stored as its bits, because comparing integers takes a fraction of the time of comparing floats.
- Indices are unsigned, because numba tests every signed index for being negative.
"""

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels.octile import COST_UNIT

# F as an integer, by key_of_f(); tie-breaker, by packed_tie().
OPEN_LIST_ENTRY = np.dtype([("key", "i8"), ("tie", "i8")], align=True)

HEAP_OFFSET = 3
"""Number of unused entries before a heap, so that the four children of an entry are in one cache line."""

UNITS_PER_COST = 1.0 / COST_UNIT

# Unsigned constants for heap indices, because numba adds an unsigned and a signed integer as floats.
_1, _2, _3, _4 = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)


@kernel
def packed_tie(s, g, h, is_greedy, shift):
    """Return the tie-breaker of cell s as one integer, `rank << shift | s`; among equal f the smallest comes first."""
    if is_greedy:
        cap = (np.int64(1) << (62 - shift)) - 1
        rank = max(np.int64(0), cap - np.int64(g * UNITS_PER_COST))
    else:
        rank = np.int64(h * UNITS_PER_COST)
    return rank << shift | s


@kernel
def key_of_f(f):
    """Return the key of an f: its bits, which order like the numbers themselves as long as these are not negative."""
    return np.float64(f).view(np.int64)


@kernel
def sift_up(heap, nodes, i, key, tie, mask):
    """Put an entry (key, tie) into the heap at index i, and move it up as far as needed.

    Writes: heap, the `place` of every cell moved.
    """
    i = np.uint64(i)
    while i > 0:
        up = (i - _1) >> _2
        above = heap[up]
        if (key > above.key) | ((key == above.key) & (tie > above.tie)):
            break
        heap[i].key = above.key
        heap[i].tie = above.tie
        nodes[np.uint64(above.tie & mask)].place = i
        i = up
    heap[i].key = key
    heap[i].tie = tie
    nodes[np.uint64(tie & mask)].place = i


@kernel
def sift_down(heap, nodes, size, key, tie, mask):
    """Put an entry (key, tie) at the root of the heap, and move it down as far as needed.

    Writes: heap, the `place` of every cell moved.
    """
    i = np.uint64(0)
    size = np.uint64(size)
    while True:
        child = _4 * i + _1
        if child + _3 < size:  # comparing two pairs and then their winners is faster than three comparisons in sequence
            best = first_of_two_entries(
                heap, first_of_two_entries(heap, child, child + _1), first_of_two_entries(heap, child + _2, child + _3)
            )
        elif child < size:
            best = child
            for k in range(child + _1, size):
                best = first_of_two_entries(heap, best, k)
        else:
            break
        best_key = heap[best].key
        best_tie = heap[best].tie
        if (best_key > key) | ((best_key == key) & (best_tie > tie)):
            break
        heap[i].key = best_key
        heap[i].tie = best_tie
        nodes[np.uint64(best_tie & mask)].place = i
        i = best
    heap[i].key = key
    heap[i].tie = tie
    nodes[np.uint64(tie & mask)].place = i


@kernel
def first_of_two_entries(heap, i, k):
    """Return i or k, whichever is the index of the heap entry that comes first in the order of the open list."""
    is_less = (heap[k].key < heap[i].key) | ((heap[k].key == heap[i].key) & (heap[k].tie < heap[i].tie))
    return k if is_less else i
