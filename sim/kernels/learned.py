"""Learned heuristics: a table h, rising from h0 as an agent walks, that costs nothing where nobody has been.

A cell of which nothing is known holds 0 and still has its initial value h0, the octile distance; only at the goal is
that 0 as well. So the table begins as zeros, and beginning again is a new table.
"""

from typing import NamedTuple

import numpy as np

from sim.kernels.jit import kernel
from sim.kernels.octile import FIRST_DIAGONAL, h0
from sim.kernels.tiled import Table, new_table

TARGET = np.dtype(
    [
        ("goal", "i8"),
        ("goal_x", "i8"),
        ("goal_y", "i8"),
        ("width", "i8"),
        ("diagonal_cost", "f8"),
        ("changes", "i8"),  # how often a value changed: a trial that leaves this as it was has learned nothing
        ("cells", "i8"),  # of which something was learned
        ("highest", "f8"),  # largest value ever learned
    ],
    align=True,
)

NOTES = 1 << 14
"""Changes that a watched table remembers. Whoever draws looks at every frame; if it missed more, it looks at all."""


class Learned(NamedTuple):
    """One agent's estimates of the cost to its goal. Make it only with new_learned()."""

    h: Table  # float64[cells] 0: not looked at yet, still h0
    changed: np.ndarray  # int32[NOTES] the cells that changed last: change i is at i % NOTES; or [0] when nobody looks
    target: np.ndarray  # TARGET[1]


def new_learned(ground, goal: int, is_watched: bool = False, tile_width: int = 0) -> Learned:
    """A table in which nothing is learned yet. `tile_width`: see tiled.py."""
    target = np.zeros(1, TARGET).view(np.recarray)
    aim(ground, target, goal)
    h = new_table("h", ground.moves.size, np.float64, tile_width)
    return Learned(h, np.zeros(NOTES if is_watched else 0, np.int32), target)


@kernel
def aim(ground, target, goal):
    """Say which cell the values lead to."""
    it = target[0]
    it.goal = goal
    it.goal_x = goal % ground.width
    it.goal_y = goal // ground.width
    it.width = ground.width
    it.diagonal_cost = ground.cost[FIRST_DIAGONAL]


@kernel
def initial(target, s):
    """h0 of cell s."""
    it = target[0]
    return h0(s % it.width, s // it.width, it.goal_x, it.goal_y, it.diagonal_cost)


@kernel
def h_of(learned, s):
    """The estimate of cell s. Looked at once, it is kept: agents come back. Writes: h."""
    value = learned.h[np.uint64(s)]  # unsigned: see openlist.py
    if value == 0.0:
        value = initial(learned.target, s)
        learned.h[np.uint64(s)] = value
    return value


@kernel
def excess(learned, s):
    """How much was learned of cell s: h - h0. For whoever draws; changes nothing."""
    value = learned.h[s]
    return 0.0 if value == 0.0 else value - initial(learned.target, s)


@kernel
def learn(learned, s, value):
    """Give cell s a new estimate. Writes: h, and the notes of what changed."""
    target, before = learned.target[0], learned.h[s]
    if before == value:
        return
    if before == 0.0 or before == initial(learned.target, s):
        target.cells += 1
    learned.h[s] = value
    if learned.changed.size:
        learned.changed[target.changes % learned.changed.size] = s
    target.changes += 1
    target.highest = max(target.highest, value)


@kernel
def raise_to(learned, s, value):
    """Raise the estimate of cell s, if that is higher. The cell must have been looked at."""
    if value > learned.h[s]:
        learn(learned, s, value)
