"""Move masks: which of the eight moves are legal at a cell. This module alone implements the movement rule.

A domain is a kind of cells that moves cannot leave: GROUND or WATER. The shoulders of a diagonal move are the two cells
that both its ends touch by a side. `needed` (0, 1 or 2) is the number of shoulders that must be in the same domain as
the two ends (sim/movement.py).
"""

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels.octile import DX, DY, FIRST_DIAGONAL

BLOCKED = 0
GROUND = 1
WATER = 2


@kernel
def move_mask(domain, width, height, needed, s):
    """Return the move mask of cell s.

    A move stays in one domain, and a diagonal move needs `needed` of its shoulders in that domain too.
    """
    own_domain = domain[s]
    if own_domain == BLOCKED:
        return 0
    x = s % width
    y = s // width
    mask = 0
    for d in range(8):
        tx = x + DX[d]
        ty = y + DY[d]
        if tx < 0 or tx >= width or ty < 0 or ty >= height or domain[ty * width + tx] != own_domain:
            continue
        if d >= FIRST_DIAGONAL:
            same_sides = np.int64(domain[y * width + tx] == own_domain) + np.int64(domain[ty * width + x] == own_domain)
            if same_sides < needed:
                continue
        mask |= 1 << d
    return mask


@kernel
def compute_move_masks(domain, width, height, needed, moves):
    """Compute the move masks of all cells of the map. Writes: moves."""
    for s in range(width * height):
        moves[s] = move_mask(domain, width, height, needed, s)


@kernel
def update_move_masks(domain, width, height, needed, moves, toggled, step, tails, heads, rose):
    """Update the move masks around toggled cells, and list every directed arc that was added or removed.

    A toggled cell changes at most the masks of the 3 x 3 block around it. `domain` must already contain the changes of
    all toggled cells. A mask that was updated does not change when it is visited again, so no arc is listed twice.

    Returns the number of arcs. Writes: moves, tails, heads, rose (True: the arc was removed).
    """
    found = 0
    for i in range(toggled.size):
        x = toggled[i] % width
        y = toggled[i] // width
        for near_y in range(max(0, y - 1), min(height, y + 2)):
            for near_x in range(max(0, x - 1), min(width, x + 2)):
                s = near_y * width + near_x
                before = np.int64(moves[s])
                after = move_mask(domain, width, height, needed, s)
                changed = before ^ after
                moves[s] = after
                for d in range(8):
                    if changed >> d & 1:
                        tails[found] = s
                        heads[found] = s + step[d]
                        rose[found] = before >> d & 1
                        found += 1
    return found
