"""Octile grid in the form that kernels use: directions, arc costs, the heuristic, successor lists."""

from typing import NamedTuple

import numpy as np

from sim.jit.decorators import kernel

# Order of directions everywhere: N, E, S, W, NE, SE, SW, NW. Bit d of a move mask is direction d.
DX = np.array([0, 1, 0, -1, 1, 1, -1, -1], np.int64)
DY = np.array([-1, 0, 1, 0, -1, 1, 1, -1], np.int64)
FIRST_DIAGONAL = 4
NO_DIRECTION = 8  # the "direction" by which a search reached its root

DIAGONAL = float.fromhex("0x1.6a09e6p0")
"""sqrt(2) rounded down to 24 bits, an error of 2.4e-8. So sums of this number and of 1 are exact in float64, and paths
of equal cost compare as equal."""

COST_UNIT = 2.0**-23
"""Unit of costs: every arc cost is a multiple of this unit (see Grid), and so is every path cost."""

MIN_DIAGONAL_GAP = 0.0005
"""Minimum by which a diagonal cost other than exactly 1 or 2 differs from both. The buckets of the open list need this
gap to separate values of f."""


class MapArrays(NamedTuple):
    """Arrays of a map that kernels read. Grid makes it; the arrays belong to the grid."""

    moves: np.ndarray  # uint8[cells] bit d set: the move in direction d is legal
    step: np.ndarray  # int64[8] difference of cell numbers by which a move in direction d changes the cell
    cost: np.ndarray  # float64[8] cost of a move in direction d
    width: int
    height: int
    shift: int  # number of bits that hold a cell number in a packed tie-breaker, see openlist.py


@kernel
def h0(x, y, goal_x, goal_y, diagonal):
    """Return the octile distance of two points, admissible and consistent for every diagonal cost from 1 to 2."""
    dx = abs(x - goal_x)
    dy = abs(y - goal_y)
    return max(dx, dy) + (diagonal - 1.0) * min(dx, dy)


ROW_SHIFT = 40  # number of fraction bits of the fixed-point number that inverse_width() returns


@kernel
def inverse_width(width):
    """Return 1 / width as a fixed-point number, by which row_of_cell() multiplies instead of dividing.

    The results are exact for s * width < 2 ** ROW_SHIFT, thus for all maps: grid.MAX_CELLS * MAX_SIDE is 2 ** 38.
    """
    return ((np.int64(1) << ROW_SHIFT) + width - 1) // width


@kernel
def row_of_cell(s, inverse):
    """Return the row of cell s, s // width, without a division, which would slow down every expansion.

    `inverse` is inverse_width(width).
    """
    return (s * inverse) >> ROW_SHIFT


@kernel
def h0_between_cells(ground, s, t):
    """Return the octile distance between two cells."""
    width = ground.width
    return h0(s % width, s // width, t % width, t // width, ground.cost[FIRST_DIAGONAL])


@kernel
def cost_between_neighbours(ground, s, t):
    """Return the cost of a move between two neighbouring cells, whether or not the move is legal."""
    width = ground.width
    is_straight = s % width == t % width or s // width == t // width
    return ground.cost[0] if is_straight else ground.cost[FIRST_DIAGONAL]


@kernel
def direction_between(ground, s, t):
    """Return the direction of the legal move from s to t, or -1 if there is none."""
    for d in range(8):
        if s + ground.step[d] == t and ground.moves[s] >> d & 1:
            return d
    return -1


def _is_reachable_from_parent(parent_to_s: int, s_to_t: int, moves: int) -> bool:
    """Return whether the parent of s is t, or has an arc to t itself, so that a path to t through s cannot be cheaper.

    The parent was expanded before s and relaxed its own arc to t. That arc costs at most as much as the way through s,
    because every diagonal costs from 1 to 2. So relaxing t from s can never be a strict improvement. The move mask of s
    alone shows whether the arc exists.
    """
    px, py = -DX[parent_to_s], -DY[parent_to_s]
    tx, ty = DX[s_to_t], DY[s_to_t]
    dx, dy = tx - px, ty - py
    if dx == 0 and dy == 0:
        return True
    if max(abs(dx), abs(dy)) > 1:
        return False
    shoulders = {(px + dx, py), (px, py + dy)} - {(0, 0), (px, py), (tx, ty)}
    free = {(DX[d], DY[d]) for d in range(8) if moves >> d & 1}
    return shoulders <= free


def _pack_directions(directions: list[int]) -> int:
    """Pack directions into an integer: 4 bits for each, which hold direction + 1, the first one in the lowest bits."""
    return sum((d + 1) << 4 * index for index, d in enumerate(directions))


def _build_successor_lists() -> np.ndarray:
    table = np.zeros(9 * 256, np.uint32)
    for came in range(9):
        for moves in range(256):
            directions = [
                d
                for d in range(8)
                if moves >> d & 1 and not (came != NO_DIRECTION and _is_reachable_from_parent(came, d, moves))
            ]
            table[came << 8 | moves] = _pack_directions(directions)
    return table


SUCCESSORS = _build_successor_lists()
"""uint32[9 * 256]: lists of the directions in which a successor may be improved. The list for a cell that was reached
by direction `came` and has the move mask `moves` is at index came << 8 | moves. It is packed into nibbles of direction
+ 1, lowest nibble first, ended by 0. For `came` = NO_DIRECTION the lists have all legal directions."""


def _build_tie_ordered_lists() -> np.ndarray:
    table = np.zeros(2 * 256, np.uint32)
    for diagonals_cost_more in (0, 1):
        order = sorted(range(8), key=lambda d: (-diagonals_cost_more * (d >= FIRST_DIAGONAL), DY[d], DX[d]))
        for moves in range(256):
            table[diagonals_cost_more << 8 | moves] = _pack_directions([d for d in order if moves >> d & 1])
    return table


TIE_ORDERED_SUCCESSORS = _build_tie_ordered_lists()
"""uint32[2 * 256]: lists of the legal directions of a move mask, packed as in SUCCESSORS, but in the order that wins
ties on f: larger cost, then smaller cell. The index is the mask, plus 256 if diagonals cost more than 1."""
