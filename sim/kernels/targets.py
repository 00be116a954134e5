"""Learned heuristics toward several targets: one table of h for each, and LRTA* toward the present one.

Agents with subgoals head for one cell, then for another. Values learned toward one target mean nothing for another, so
they are never shared, and a table is kept because its target may come back. The table of the global goal is a Learned
of the whole map, as in every agent that learns. The tables of all other targets share one hash table, keyed by target
and cell, which contains only values that differ from h0. (A dense table for each of a hundred targets would cost memory
pages and room in keyframes.)

    targets = new_target_heuristics(ground, goal)                aimed at the goal
    set_present_target(ground, targets, cell)                            sets the target of the next three functions
    step_toward_target(ground, targets, st)                      one move of LRTA* with one expansion; st: learner.STATE
    if must_hash_table_grow(targets): targets = with_larger_hash_table(targets)    in Python code

Reaching a target other than the goal does not end the walk. If h toward the goal exceeds the cost of the longest path,
there is no path; if h toward another target exceeds it, only that target should be dropped.
"""

from typing import Any, NamedTuple

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels.learned import (
    ESTIMATE_TARGET,
    LearnedHeuristic,
    initial_h,
    learned_h_of,
    new_learned_heuristic,
    raise_learned_h,
    set_estimate_goal,
)
from sim.kernels.learner import move_agent_to
from sim.kernels.octile import FIRST_DIAGONAL, TIE_ORDERED_SUCCESSORS

CELL_BITS = 25  # bits of a cell number on the largest map (grid.MAX_CELLS)
_INITIAL_CAPACITY = 1 << 8  # slots of a new hash table; always a power of 2

TARGET_TABLE_COUNTS = np.dtype(
    [
        ("entries", "i8"),  # number of values in the hash table
        ("tables", "i8"),  # number of targets, other than the goal, toward which something was learned
    ],
    align=True,
)


class TargetHeuristics(NamedTuple):
    """Heuristics that an agent has learned toward its goal and other cells.

    Make it only with new_target_heuristics().
    """

    goal: LearnedHeuristic
    keys: np.ndarray  # int64[2^n] keys of the hash table: (target << CELL_BITS | cell) + 1, or 0 for a free slot
    values: np.ndarray  # float64[2^n] learned h of the cell and target in each key
    # TARGET[1] present target; its `changes` and `highest` count for all targets but the goal.
    present_target: np.ndarray
    counts: np.ndarray  # COUNTS[1] sizes of the hash table


def new_target_heuristics(ground: Any, goal: int, is_watched: bool = False) -> TargetHeuristics:
    """Return tables in which nothing is learned yet, aimed at the goal."""
    learned = new_learned_heuristic(ground, goal, is_watched)
    aimed = np.zeros(1, ESTIMATE_TARGET).view(np.recarray)
    set_estimate_goal(ground, aimed, goal)
    counts = np.zeros(1, TARGET_TABLE_COUNTS).view(np.recarray)
    return TargetHeuristics(
        learned, np.zeros(_INITIAL_CAPACITY, np.int64), np.zeros(_INITIAL_CAPACITY, np.float64), aimed, counts
    )


def with_larger_hash_table(targets: TargetHeuristics) -> TargetHeuristics:
    """Return the tables with twice the room for targets other than the goal."""
    capacity = 2 * targets.keys.size
    larger = targets._replace(keys=np.zeros(capacity, np.int64), values=np.zeros(capacity, np.float64))
    _rehash(targets.keys, targets.values, larger.keys, larger.values)
    return larger


def count_subgoal_values(targets: TargetHeuristics) -> int:
    """Return the number of pairs of a cell and a target other than the goal for which a value was learned."""
    return int(targets.counts[0].entries - targets.counts[0].tables)


_NO_KEYS, _NO_VALUES = np.zeros(1, np.int64), np.zeros(1, np.float64)


def goal_only_targets(learned: LearnedHeuristic) -> TargetHeuristics:
    """Return the learned values toward the goal as Targets, in which the goal is the only target."""
    return TargetHeuristics(
        learned, _NO_KEYS, _NO_VALUES, learned.target, np.zeros(1, TARGET_TABLE_COUNTS).view(np.recarray)
    )


@kernel
def must_hash_table_grow(targets):
    """Return whether the hash table must grow before the next step of LRTA*, which learns one value."""
    return 2 * (targets.counts[0].entries + 2) > targets.keys.size


@kernel
def set_present_target(ground, targets, target):
    """Make `target` the present target, toward which the agent looks up h, learns and walks."""
    if targets.present_target[0].goal != target:
        set_estimate_goal(ground, targets.present_target, target)


@kernel
def is_present_target_the_goal(targets):
    """Return whether the goal is the present target."""
    return targets.present_target[0].goal == targets.goal.target[0].goal


@kernel
def h_toward_target(targets, s):
    """Return the estimate of the cost from cell s to the present target."""
    if is_present_target_the_goal(targets):
        return learned_h_of(targets.goal, s)
    key = np.int64(targets.present_target[0].goal) << CELL_BITS | np.int64(s)
    index = index_in_hash_table(targets.keys, key + 1)
    if targets.keys[index] != 0:
        return targets.values[index]
    return initial_h(targets.present_target, s)


@kernel
def raise_h_toward_target(targets, s, value):
    """Raise the estimate of cell s toward the present target to `value` if it is lower. Writes: a table, counts."""
    if is_present_target_the_goal(targets):
        raise_learned_h(targets.goal, s, value)
    elif value > h_toward_target(targets, s):
        aimed, counts = targets.present_target[0], targets.counts[0]
        _count_new_target_once(targets, np.int64(aimed.goal), counts)
        counts.entries += put_in_hash_table(
            targets.keys, targets.values, np.int64(aimed.goal) << CELL_BITS | np.int64(s), value
        )
        aimed.changes += 1
        aimed.highest = max(aimed.highest, value)


@kernel
def _count_new_target_once(targets, target, counts):
    """Count the table of this target once.

    The entry of the target itself marks a counted table, because its value is 0 and never learned.
    """
    if put_in_hash_table(targets.keys, targets.values, target << CELL_BITS | target, 0.0):
        counts.tables += 1
        counts.entries += 1


@kernel
def index_in_hash_table(keys, key):
    """Return the index of this key in the hash table, or the index at which it would be inserted."""
    mask = keys.size - 1
    mixed = (key >> CELL_BITS) * 40_503 + key
    mixed ^= mixed >> 15
    index = ((mixed & 0x7FFFFFFF) * 0x5F356495 >> 24) & mask  # the product of two 31-bit numbers cannot overflow
    while keys[index] != 0 and keys[index] != key:
        index = (index + 1) & mask
    return index


@kernel
def put_in_hash_table(keys, values, key, value):
    """Store a value under a key in the hash table. Returns 1 if the key is new, else 0."""
    index = index_in_hash_table(keys, key + 1)
    is_new = keys[index] == 0
    keys[index] = key + 1
    values[index] = value
    return np.int64(is_new)


@kernel
def _rehash(keys, values, new_keys, new_values):
    for i in range(keys.size):
        if keys[i] != 0:
            put_in_hash_table(new_keys, new_values, keys[i] - 1, values[i])


@kernel
def step_toward_target(ground, targets, st):
    """Make one move of LRTA* with one expansion: expand the agent's cell, learn, move. A legal move must exist.

    Returns False, without a move, if the new estimate is above the cost of any path: then no path leads to this target.
    """
    s = np.int64(st.loc)
    t, f = best_successor_toward_target(ground, targets, s)
    f = max(f, h_toward_target(targets, s))
    st.updates += 1
    st.best = t
    raise_h_toward_target(targets, s, f)
    if f > st.limit:
        return False
    move_agent_to(st, t)
    return True


@kernel
def best_successor_toward_target(ground, targets, s):
    """Return the successor t of s with the least c(s,t) + h[t], and that sum.

    Ties go to the target, then to the larger c, then to the smaller cell.
    """
    best, best_f = np.int64(-1), np.inf
    target = targets.present_target[0].goal
    is_dearer = np.int64(ground.cost[FIRST_DIAGONAL] > 1.0)
    successors = np.int64(TIE_ORDERED_SUCCESSORS[is_dearer << 8 | np.int64(ground.moves[s])])
    while successors:
        d = np.uint64((successors & 15) - 1)
        successors >>= 4
        t = s + ground.step[d]
        f = ground.cost[d] + h_toward_target(targets, t)
        if f < best_f or (t == target and f == best_f):
            best, best_f = t, f
    return best, best_f
