"""Report of an agent on each tick: one ROW, written by its kernel and checked by the referee."""

import numpy as np

from sim.jit.decorators import IS_SIM_INTERPRETED, kernel

ROW = np.dtype(
    [
        ("cell", "i4"),  # cell at which the agent wants to be after this tick
        ("expanded", "i4"),  # number of cells expanded in this tick
        ("traced", "i4"),  # number of parent pointers followed in this tick
        ("marks", "i2"),  # bits for the events of this tick, such as BACK_MOVE
        ("phase", "i2"),  # activity of the agent in this tick, such as SEARCHING
    ],
    align=True,
)

# Marks of a row: bits for the events of its tick.
BACK_MOVE = 1  # a move to the parent, made because the agent was off its path
RESTARTED = 2  # the agent has begun a new search or plan, because the map, its goal or a parameter has changed
BOUNCED = 4  # TBA*'s move from the start when it has no path to walk
TRIAL_BEGAN = 8  # written by the world: the agent was put back on the start for its next trial, which is not a move
ARRIVED = 16  # written by the world: the agent came to the goal in this tick
CAP_HIT = 32  # a lookahead had the largest depth that the agent allows, or a climb the largest number of steps
REENTERED = 64  # the agent had visited its cell before, so it headed for its goal instead of a subgoal
DIGESTED_MARKS = 31  # mask of the marks that enter digests; the other marks can be derived from moves and expansions

# Phases of an agent, which the panel header shows by the words in agent_api.PHASE_WORDS.
WAITING, SEARCHING, TRACING, FOLLOWING, WALKING_BACK, SHUTTLING, LEARNING = 0, 1, 2, 3, 4, 5, 6

# Status of an agent: it can continue; it is at its goal; it has found that no path exists; it has stopped for good.
ACTIVE, AT_GOAL, NO_PATH, GAVE_UP = 0, 1, 2, 3


def new_tick_log(rows: int) -> np.ndarray:
    """Return a log of `rows` rows, all of them zeros, whose fields Python code can read by name."""
    return np.zeros(rows, ROW).view(np.recarray)


def new_plain_tick_log(rows: int) -> np.ndarray:
    """Return a log of `rows` rows for kernels to fill: plain if kernels are compiled, see jit.as_plain_arrays()."""
    return new_tick_log(rows) if IS_SIM_INTERPRETED else np.zeros(rows, ROW)


@kernel
def write_tick_row(row, cell, expanded, traced, marks, phase):
    """Write the report of one tick. Writes: row."""
    row.cell = cell
    row.expanded = expanded
    row.traced = traced
    row.marks = marks
    row.phase = phase
