"""Hill climbing: a test whether greedy steps lead from one cell to another, and the path of these steps.

A step goes to the successor with the least c + h0 (c: cost of the arc, h0: octile distance to the second cell). Ties:
larger c, then smaller cell. LRTA* with one expansion per move has the same rule, so it walks exactly these cells as
long as it has learned nothing. Climbing gives up at a cell if no successor is nearer by h0. Climbing is directed:
success from a to b does not imply success from b to a. Between neighbours it always succeeds.

Paper: section 5.1 of "Real-time heuristic search for pathfinding in video games". Steps are counted separately; they
are no expansions.
"""

import numpy as np

from sim.kernels.jit import kernel
from sim.kernels.octile import FIRST_DIAGONAL, TIE_ORDERED_SUCCESSORS, h0_cells

NO_CAP = np.int64(1) << 62  # value of `cap`, the maximum number of steps, for a climb without a limit
CLIMB_FAILED = -1  # result of a climb that gives up, instead of its number of steps


@kernel
def climb_length(ground, a, b, cap):
    """Return the number of steps from a to b, or FAILED if climbing gives up or needs more than `cap` steps."""
    return climb_length_and_steps(ground, a, b, cap)[0]


@kernel
def count_climbable_pairs(ground, pairs, cap):
    """Return the number of pairs of cells whose second cell is reached from the first by at most `cap` steps."""
    count = 0
    for i in range(pairs.shape[0]):
        count += climb_length(ground, np.int64(pairs[i, 0]), np.int64(pairs[i, 1]), np.int64(cap)) >= 0
    return count


@kernel
def climb_length_and_steps(ground, a, b, cap):
    """Climb from a to b. Returns the result of climb(), and the number of steps made, also of a climb that fails."""
    s, h = np.int64(a), h0_cells(ground, a, b)
    steps = np.int64(0)
    while s != b:
        if steps == cap:
            return np.int64(CLIMB_FAILED), steps
        t = next_climb_cell(ground, s, b)
        if t < 0:
            return np.int64(CLIMB_FAILED), steps
        h_t = h0_cells(ground, t, b)
        if h_t >= h:
            return np.int64(CLIMB_FAILED), steps
        s, h = t, h_t
        steps += 1
    return steps, steps


@kernel
def next_climb_cell(ground, s, b):
    """Return the successor t of s with the least c(s,t) + h0(t,b), or -1 if s has no successor."""
    best, best_f = np.int64(-1), np.inf
    is_dearer = np.int64(ground.cost[FIRST_DIAGONAL] > 1.0)
    successors = np.int64(TIE_ORDERED_SUCCESSORS[is_dearer << 8 | np.int64(ground.moves[s])])
    while successors:
        d = (successors & 15) - 1
        successors >>= 4
        t = np.int64(s) + ground.step[d]
        f = ground.cost[d] + h0_cells(ground, t, b)
        if f < best_f:
            best, best_f = t, f
    return best


@kernel
def write_climb_cells(ground, a, b, way):
    """Write the cells of a successful climb from a to b, both included, into `way`. Returns the number of cells."""
    s = np.int64(a)
    way[0] = s
    count = 1
    while s != b:
        s = next_climb_cell(ground, s, b)
        way[count] = s
        count += 1
    return count
