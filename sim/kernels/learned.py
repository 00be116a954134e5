"""Learned heuristic: a table h that starts at h0 and rises as an agent walks, at no cost for cells it never reads.

The entry of a cell whose h was never read is 0, which means that h has its initial value h0, the octile distance. (An h
of 0 itself occurs only at the goal.) So a new table is all zeros, and means that nothing is learned.
"""

from typing import NamedTuple

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels.octile import FIRST_DIAGONAL, h0
from sim.kernels.tiled import Table, new_table

ESTIMATE_TARGET = np.dtype(
    [
        ("goal", "i8"),
        ("goal_x", "i8"),
        ("goal_y", "i8"),
        ("width", "i8"),
        ("diagonal_cost", "f8"),
        ("changes", "i8"),  # number of changes of h so far; a trial that does not increase it has learned nothing
        ("cells", "i8"),  # number of cells whose h has been changed by learning
        ("highest", "f8"),  # largest h ever learned
    ],
    align=True,
)

MAX_LISTED_CHANGES = 1 << 14
"""Number of changes of values that the table of a displayed agent records. Drawing code reads them in every frame. If a
frame has more changes than this, it reads the whole table."""


class LearnedHeuristic(NamedTuple):
    """Learned heuristic of one agent: estimates of the cost from each cell to the goal.

    Made only by new_learned_heuristic().
    """

    h: Table  # float64[cells] estimate of each cell; 0: never read, so the estimate is h0
    changed: np.ndarray  # int32[NOTES] ring buffer: cell of change i at index i % NOTES; empty if not displayed
    target: np.ndarray  # TARGET[1] goal of the estimates, and counts of changes


def new_learned_heuristic(ground, goal: int, is_watched: bool = False, tile_width: int = 0) -> LearnedHeuristic:
    """Return a table in which nothing is learned yet. `tile_width`: width of the map for tiles, 0 for row order."""
    target = np.zeros(1, ESTIMATE_TARGET).view(np.recarray)
    set_estimate_goal(ground, target, goal)
    h = new_table("h", ground.moves.size, np.float64, tile_width)
    return LearnedHeuristic(h, np.zeros(MAX_LISTED_CHANGES if is_watched else 0, np.int32), target)


@kernel
def set_estimate_goal(ground, target, goal):
    """Set the goal of the estimates. Writes: target."""
    it = target[0]
    it.goal = goal
    it.goal_x = goal % ground.width
    it.goal_y = goal // ground.width
    it.width = ground.width
    it.diagonal_cost = ground.cost[FIRST_DIAGONAL]


@kernel
def initial_h(target, s):
    """Return h0 of cell s: the octile distance to the goal of `target`."""
    it = target[0]
    return h0(s % it.width, s // it.width, it.goal_x, it.goal_y, it.diagonal_cost)


@kernel
def learned_h_of(learned, s):
    """Return the estimate of cell s. The first read stores h0, because more reads are likely. Writes: h."""
    value = learned.h[np.uint64(s)]  # unsigned, because numba tests every signed index for being negative
    if value == 0.0:
        value = initial_h(learned.target, s)
        learned.h[np.uint64(s)] = value
    return value


@kernel
def learned_h_excess(learned, s):
    """Return by how much learning has raised h of cell s: h - h0. For display and features; writes nothing."""
    value = learned.h[s]
    return 0.0 if value == 0.0 else value - initial_h(learned.target, s)


@kernel
def set_learned_h(learned, s, value):
    """Set the estimate of cell s, and record the change. Writes: h, changed, target."""
    target, before = learned.target[0], learned.h[s]
    if before == value:
        return
    if before == 0.0 or before == initial_h(learned.target, s):
        target.cells += 1
    learned.h[s] = value
    if learned.changed.size:
        learned.changed[target.changes % learned.changed.size] = s
    target.changes += 1
    target.highest = max(target.highest, value)


@kernel
def raise_learned_h(learned, s, value):
    """Raise the estimate of cell s to `value` if it is lower. The cell must have been read before."""
    if value > learned.h[s]:
        set_learned_h(learned, s, value)
