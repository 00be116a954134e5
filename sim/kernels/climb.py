"""Hill climbing: a test whether a simple greedy walk leads from cell a to cell b, and the cells of this walk.

Each step goes to the successor with the least c + h0 (c: cost of the arc, h0: octile distance to b). Ties: larger c,
then smaller cell. If this successor is not nearer to b by h0, climbing fails. LRTA* with one expansion per move chooses
its moves by the same rule, so it walks over the same cells until it has learned a higher h.

If a climb from a to b succeeds, the climb from b to a can still fail. A climb between neighbours always succeeds.

Paper: section 5.1 of "Real-time heuristic search for pathfinding in video games". Steps are not counted as expansions.
"""

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels.octile import FIRST_DIAGONAL, TIE_ORDERED_SUCCESSORS, h0_between_cells

NO_STEP_LIMIT = np.int64(1) << 62  # value of `cap` (maximum number of steps) that means: no limit
CLIMB_FAILED = -1  # result of a climb that fails; otherwise the result is its number of steps


@kernel
def climb_length(ground, a, b, cap):
    """Climb from a to b. Return the number of steps, or CLIMB_FAILED if this fails or needs more than `cap` steps."""
    return climb_length_and_steps(ground, a, b, cap)[0]


@kernel
def count_climbable_pairs(ground, pairs, cap):
    """Return the number of cell pairs (a, b) for which a climb from a to b succeeds in at most `cap` steps."""
    count = 0
    for i in range(pairs.shape[0]):
        count += climb_length(ground, np.int64(pairs[i, 0]), np.int64(pairs[i, 1]), np.int64(cap)) >= 0
    return count


@kernel
def climb_length_and_steps(ground, a, b, cap):
    """Climb from a to b in at most `cap` steps. Return two numbers: the result and the number of steps made.

    The result is the number of steps, or CLIMB_FAILED. The second number also counts the steps of a failed climb.
    """
    s, h = np.int64(a), h0_between_cells(ground, a, b)
    steps = np.int64(0)
    while s != b:
        if steps == cap:
            return np.int64(CLIMB_FAILED), steps
        t = next_climb_cell(ground, s, b)
        if t < 0:
            return np.int64(CLIMB_FAILED), steps
        h_t = h0_between_cells(ground, t, b)
        if h_t >= h:
            return np.int64(CLIMB_FAILED), steps
        s, h = t, h_t
        steps += 1
    return steps, steps


@kernel
def next_climb_cell(ground, s, b):
    """Return the next cell of a climb to b: the successor t of s with the least c(s,t) + h0(t,b); -1 if s has none."""
    best, best_f = np.int64(-1), np.inf
    is_dearer = np.int64(ground.cost[FIRST_DIAGONAL] > 1.0)
    successors = np.int64(TIE_ORDERED_SUCCESSORS[is_dearer << 8 | np.int64(ground.moves[s])])
    while successors:
        d = (successors & 15) - 1
        successors >>= 4
        t = np.int64(s) + ground.step[d]
        f = ground.cost[d] + h0_between_cells(ground, t, b)
        if f < best_f:
            best, best_f = t, f
    return best


@kernel
def write_climb_cells(ground, a, b, path):
    """Write all cells of the climb from a to b to `path`, with a and b; return their number. The climb must succeed."""
    s = np.int64(a)
    path[0] = s
    count = 1
    while s != b:
        s = next_climb_cell(ground, s, b)
        path[count] = s
        count += 1
    return count
