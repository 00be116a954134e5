"""The open list: an indexed 4-ary heap with decrease-key whose keys lie inline.

Order: f ascending, then larger g, then smaller cell: a total order, so results do not depend on the
shape of the heap. The two tie-breakers and the cell itself are packed into one integer,
`tie = rank << shift | cell`, so that an entry is 16 bytes and four children share a cache line.
Where g counts (wg > 0), among equal f a larger g is a smaller h, and h has few bits: rank is h in cost
units. Where it does not (greedy search), rank is a large constant minus g in cost units.

Comparisons use & and | on purpose: `and` and `or` would branch, and equal f are so common on a grid
that the branch is unpredictable (measured: 15.4 against 13.1 million expansions a second).
"""

import numpy as np

from sim.kernels.jit import kernel
from sim.kernels.octile import COST_UNIT

ENTRY = np.dtype([("f", "f8"), ("tie", "i8")], align=True)

UNITS_PER_COST = 1.0 / COST_UNIT


@kernel
def tie_of(s, g, h, is_greedy, shift):
    """The packed tie-breaker of cell s, see the head of this file."""
    if is_greedy:
        cap = (np.int64(1) << (62 - shift)) - 1
        rank = max(np.int64(0), cap - np.int64(g * UNITS_PER_COST))
    else:
        rank = np.int64(h * UNITS_PER_COST)
    return rank << shift | s


@kernel
def sift_up(heap, nodes, i, f, tie, mask):
    """Put the entry (f, tie) at place i or higher. Writes: heap, the `place` of every cell moved."""
    while i > 0:
        up = (i - 1) >> 2
        above = heap[up]
        if (f > above.f) | ((f == above.f) & (tie > above.tie)):
            break
        heap[i].f = above.f
        heap[i].tie = above.tie
        nodes[above.tie & mask].place = i
        i = up
    heap[i].f = f
    heap[i].tie = tie
    nodes[tie & mask].place = i


@kernel
def sift_down(heap, nodes, size, f, tie, mask):
    """Put the entry (f, tie) at the root or lower. Writes: heap, the `place` of every cell moved."""
    i = 0
    while True:
        child = 4 * i + 1
        if child >= size:
            break
        best = child
        best_f = heap[child].f
        best_tie = heap[child].tie
        for k in range(child + 1, min(child + 4, size)):
            k_f = heap[k].f
            k_tie = heap[k].tie
            is_less = (k_f < best_f) | ((k_f == best_f) & (k_tie < best_tie))
            best = k if is_less else best
            best_f = k_f if is_less else best_f
            best_tie = k_tie if is_less else best_tie
        if (best_f > f) | ((best_f == f) & (best_tie > tie)):
            break
        heap[i].f = best_f
        heap[i].tie = best_tie
        nodes[best_tie & mask].place = i
        i = best
    heap[i].f = f
    heap[i].tie = tie
    nodes[tie & mask].place = i
