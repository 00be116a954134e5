"""The bucketed open list that "TBA*: Time-Bounded A*" proposes: constant time per operation.

Bucket number floor(f * RESOLUTION), in a ring; each bucket is a doubly linked list, newest first.
Only for w = 1: with a consistent heuristic the least f never falls and no child lies more than two
diagonals above it, so the cursor only moves forward and the ring never wraps onto itself. With this
resolution a bucket holds a single value of f as long as the f values on the list differ by fewer than
about 1,400 diagonal moves; then the order of f is exactly the heap's, and only ties may differ.
"""

import numpy as np

from sim.kernels.jit import kernel

RESOLUTION = 4000.0
RING = 1 << 14  # above 2 * 2 * RESOLUTION + 2, the widest spread for any diagonal cost up to 2


@kernel
def bucket_of(f):
    return np.int64(f * RESOLUTION)


@kernel
def put(heads, links, bucket, s):
    """Link cell s in front of its bucket. Cells are stored plus one, so that zeroed arrays mean "none"."""
    slot = bucket & (RING - 1)
    first = heads[slot]
    links[s, 0] = 0
    links[s, 1] = first
    if first:
        links[first - 1, 0] = s + 1
    heads[slot] = s + 1


@kernel
def take(heads, links, bucket, s):
    """Unlink cell s from its bucket, wherever in it it stands."""
    before = links[s, 0]
    after = links[s, 1]
    if before:
        links[before - 1, 1] = after
    else:
        heads[bucket & (RING - 1)] = after
    if after:
        links[after - 1, 0] = before
