"""Referee kernels: judge the rows (reports on a tick) of an agent by the true map, and count them in its metrics."""

import numpy as np

from sim.jit.decorators import inlined_kernel, kernel
from sim.kernels import log
from sim.kernels.distance import UNKNOWN_DISTANCE, true_distance
from sim.kernels.octile import direction_between
from sim.kernels.tiled import Table, set_table_entry

METRICS = np.dtype(
    [
        ("position", "i8"),  # cell of the agent
        ("ticks", "i8"),  # number of rows judged, one for each tick
        ("cost", "f8"),  # sum of the arc costs of all moves made
        ("moves", "i8"),
        ("waits", "i8"),  # ticks without a move
        ("back_moves", "i8"),
        ("bounces", "i8"),
        ("nonoptimal_moves", "i8"),
        ("distinct", "i8"),  # different cells visited
        ("longest_stay", "i8"),  # largest number of visits of one cell
        ("expansions", "i8"),
        ("max_expansions", "i8"),  # largest number of expansions in one tick
        ("traced", "i8"),  # number of parent pointers followed
        ("over_budget", "i8"),  # ticks with more expansions than the budget allows
        ("restarts", "i8"),
        ("cap_hits", "i8"),  # ticks with the mark log.CAP_HIT
        ("reentries", "i8"),  # ticks with the mark log.REENTERED
        ("first_move", "i8"),  # world tick of the first move, -1 before it
        ("twentieth_move", "i8"),  # world tick of the 20th move, -1 before it
        ("digest_a", "i8"),  # first half of the digest, a hash of all judged rows, see mix()
        ("digest_b", "i8"),  # second half of the digest
    ],
    align=True,
)

# A digest is two polynomial hashes modulo primes below 2**31, so that products fit an int64, compiled or not.
_PRIME_A, _BASE_A = 2_147_483_647, 1_000_003
_PRIME_B, _BASE_B = 2_147_483_629, 998_244_353


def new_metrics(start: int, visits: Table) -> np.ndarray:
    """Return the metrics of an agent that has done nothing yet but visit its start cell. Writes: visits."""
    metrics = np.zeros(1, METRICS).view(np.recarray)
    metrics[0].position = start
    metrics[0].first_move = metrics[0].twentieth_move = -1
    metrics[0].distinct = 1
    metrics[0].longest_stay = 1
    set_table_entry(visits, start, 1)
    return metrics


@kernel
def add_to_digest(metrics, value):
    """Add one number to an agent's digest. Writes: metrics."""
    m = metrics[0]
    m.digest_a = (m.digest_a * _BASE_A + value + 1) % _PRIME_A
    m.digest_b = (m.digest_b * _BASE_B + value + 1) % _PRIME_B


@inlined_kernel
def judge_log_rows(ground, rows, count, tick, budget, metrics, visits):
    """Check and count the first `count` rows of an agent.

    A row is illegal if it reports an impossible move or a count below zero.

    Args:
        ground: The true map.
        rows: log.ROW records, one per tick.
        count: Number of rows to judge.
        tick: World tick of the first row.
        budget: Expansions allowed per tick.
        metrics: METRICS[1] of the agent.
        visits: Visit count of each cell.

    Returns:
        The index of the first illegal row, which is not counted, or `count` if all rows are legal.

    Writes: metrics, visits.
    """
    m = metrics[0]
    for i in range(count):
        row = rows[i]
        s = m.position
        t = np.int64(row.cell)
        if row.expanded < 0 or row.traced < 0:
            return i
        moved = s != t
        if moved:
            d = direction_between(ground, s, t)
            if d < 0:
                return i
            count_move(t, ground.cost[d], m, visits)
            if row.marks & log.BACK_MOVE:
                m.back_moves += 1
            if row.marks & log.BOUNCED:
                m.bounces += 1
            if m.first_move < 0:
                m.first_move = tick + i
            if m.moves == 20:
                m.twentieth_move = tick + i
        else:
            m.waits += 1
        if row.marks & log.RESTARTED:
            m.restarts += 1
        if row.marks & log.CAP_HIT:
            m.cap_hits += 1
        if row.marks & log.REENTERED:
            m.reentries += 1
        expanded = np.int64(row.expanded)
        m.ticks += 1
        m.expansions += expanded
        m.max_expansions = max(m.max_expansions, expanded)
        m.traced += row.traced
        if expanded > budget:
            m.over_budget += 1
        add_to_digest(metrics, t)
        add_to_digest(metrics, expanded)
        add_to_digest(metrics, np.int64(row.marks & log.DIGESTED_MARKS))
    return count


@kernel
def count_world_row(rows, metrics, visits):
    """Count a tick in which the world, not the agent, wrote the row: the agent was put on its start, or waited.

    The world puts an agent on its start for a new trial.

    Writes: metrics, visits.
    """
    m, row = metrics[0], rows[0]
    t = np.int64(row.cell)
    if row.marks & log.TRIAL_BEGAN:
        m.position = t
        if visits[t] == 0:
            m.distinct += 1
        visits[t] += 1
        m.longest_stay = max(m.longest_stay, np.int64(visits[t]))
    m.ticks += 1
    m.waits += 1
    add_to_digest(metrics, t)
    add_to_digest(metrics, 0)
    add_to_digest(metrics, np.int64(row.marks & log.DIGESTED_MARKS))


@kernel
def count_move(t, cost, m, visits):
    """Count one legal move to t. Writes: m, visits."""
    m.position = t
    m.moves += 1
    m.cost += cost
    if visits[t] == 0:
        m.distinct += 1
    visits[t] += 1
    m.longest_stay = max(m.longest_stay, np.int64(visits[t]))


@kernel
def count_nonoptimal_moves(ground, rows, first, position, metrics, backward, allowed):
    """Count the legal moves, from row `first` on, that are not on any cheapest path to the goal.

    Args:
        ground: The true map.
        rows: All log.ROW records.
        first: Index of the first row to count.
        position: Cell of the agent before row 0.
        metrics: METRICS[1] of the agent.
        backward: Search for true distances, see distance.py.
        allowed: Maximum number of expansions of that search.

    Returns:
        The index of the first row that was not counted because it needs more expansions, or the number of rows.

    Writes: metrics, backward.
    """
    m = metrics[0]
    end = backward.control[0].expansions + allowed
    s = np.int64(position) if first == 0 else np.int64(rows[first - 1].cell)
    for i in range(first, rows.size):
        t = np.int64(rows[i].cell)
        if s != t:
            before = true_distance(ground, backward, s, end - backward.control[0].expansions)
            after = true_distance(ground, backward, t, end - backward.control[0].expansions)
            if before == UNKNOWN_DISTANCE or after == UNKNOWN_DISTANCE:
                return i
            # Without a path there is no optimal move; the test is needed because inf == cost + inf.
            if before == np.inf or before != ground.cost[direction_between(ground, s, t)] + after:
                m.nonoptimal_moves += 1
        s = t
    return rows.size
