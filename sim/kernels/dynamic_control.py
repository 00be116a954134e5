"""LRTA* with dynamic control: before each move it chooses the lookahead depth and the target cell.

Depth and target come from a column of the database (see subgoals.py), or the depth is fixed and the target is the goal.
Paper: figure 1, sections 5 and 6 and appendix D of "Dynamic Control in Real-Time Heuristic Search".

If a cell is visited again, the agent may be circling between subgoals. From such a cell it heads for the goal, with the
largest depth or the one stored for the goal. So every cell uses a subgoal at most once, and the agent arrives.
"""

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels import log
from sim.kernels.learner import has_obviously_no_path
from sim.kernels.levels import node_on_level
from sim.kernels.lrta import NO_G_LIMIT, learn_and_move, run_lookahead
from sim.kernels.subgoals import NO_SUBGOAL
from sim.kernels.targets import must_hash_table_grow, set_present_target, step_toward_target
from sim.kernels.whole_depths import NO_DEPTH

# Rules for a re-entry (a visit to a cell visited before), after which an agent may drop subgoals and head for its goal.
# DROP_AT_THIS_CELL: it does so from this cell only; DROP_FOR_GOOD: for the rest of the run; NEVER: it does not.
DROP_AT_THIS_CELL, DROP_FOR_GOOD, NEVER_DROP = 0, 1, 2

CONTROL = np.dtype(
    [
        ("level", "i8"),  # level of the abstraction whose regions the database describes
        ("first", "i8"),  # number of the first node of the database's level
        ("uses_database", "i8"),  # 0: it is stale or has no column for the goal, so target is the goal and depth is 1
        ("uses_subgoals", "i8"),
        ("uses_depths", "i8"),
        ("depth", "i8"),  # fixed lookahead depth, for agents without depths from the database
        ("cap", "i8"),  # largest depth in the database, or the number of cells of the map if the database has no cap
        ("uses_stored", "i8"),  # whether a re-entered cell uses the depth stored for the goal; if not, it uses the cap
        ("rule", "i8"),  # rule for re-entries: DROP_AT_THIS_CELL, DROP_FOR_GOOD or NEVER
        ("is_for_good", "i8"),  # whether the goal remains the target for the rest of the run
        ("drops_subgoal", "i8"),  # whether the last look-up chose the goal instead of the region's subgoal
        ("sees_all", "i8"),  # whether the agent is displayed, which needs the full lookahead even for depth 1
        ("last_depth", "i8"),
        ("last_target", "i8"),
        # whether the last depth and target came from the database, which may have been recomputed since
        ("has_looked_up", "i8"),
    ],
    align=True,
)


@kernel
def look_up_subgoal_and_depth(column, index, visits, it, st):
    """Return the database's target (NO_SUBGOAL: the goal) and depth for the region at index `index` of the column.

    `visits` counts how often the agent was on each cell, or began a leg there. Writes: st.marks, it.
    """
    subgoal, depth = np.int64(NO_SUBGOAL), np.int64(it.depth)
    it.drops_subgoal = 0
    if not it.uses_subgoals:
        if it.uses_depths:
            depth = np.int64(column.far_depth[index])
    elif should_drop_subgoal(visits, it, st):
        it.drops_subgoal = 1
        if visits[st.loc] > 1:
            st.marks |= log.REENTERED
        if it.uses_depths:
            depth = np.int64(column.far_depth[index]) if it.uses_stored else np.int64(it.cap)
    else:
        if it.uses_depths:
            depth = np.int64(column.near_depth[index])
        subgoal = np.int64(column.subgoal[index])
    if it.uses_depths and depth == NO_DEPTH:
        # With this depth the lookahead covers all reachable cells, and so proves that there is no path.
        depth = np.int64(it.cap)
    if it.uses_depths and depth == it.cap:
        st.marks |= log.CAP_HIT
    return subgoal, depth


@kernel
def should_drop_subgoal(visits, it, st):
    """Return whether the agent heads for its goal instead of the region's subgoal.

    It does so on a cell that it has visited before (a re-entry), unless the rule is NEVER; and on every cell after the
    first re-entry by the rule DROP_FOR_GOOD, or once a subgoal turned out to be unreachable. Writes: it.is_for_good.
    """
    if it.rule == NEVER_DROP:
        return it.is_for_good != 0
    is_again = visits[st.loc] > 1
    if is_again and it.rule == DROP_FOR_GOOD:
        it.is_for_good = 1
    return is_again or it.is_for_good != 0


@kernel
def choose_target_and_depth(levels, column, visits, it, st):
    """Return target and lookahead depth for the next move: the goal and depth 1 if the database is not used."""
    if not it.uses_database:
        it.drops_subgoal = 0
        return np.int64(st.goal), np.int64(1)
    subgoal, depth = look_up_subgoal_and_depth(
        column, node_on_level(levels, st.loc, it.level) - it.first, visits, it, st
    )
    return np.int64(st.goal) if subgoal == NO_SUBGOAL else subgoal, depth


@kernel
def run_ticks(ground, levels, column, targets, ball, visits, control, state, rows):
    """Plan and act for up to len(rows) ticks. Returns the number of ticks done.

    Returns early, with the status still ACTIVE, if the hash table of `targets` must grow first.
    """
    st, it = state[0], control[0]
    for tick in range(rows.size):
        if st.status != log.ACTIVE or must_hash_table_grow(targets):
            return tick
        used, phase = np.int64(0), log.WAITING
        if has_obviously_no_path(ground, st):
            st.status = log.NO_PATH
        else:
            target, depth = choose_target_and_depth(levels, column, visits, it, st)
            it.last_target, it.last_depth, it.has_looked_up = target, depth, it.uses_database
            set_present_target(ground, targets, target)
            used, has_moved = make_lrta_move(ground, targets, ball, st, depth, it.sees_all)
            if has_moved:
                phase = log.LEARNING
                visits[st.loc] += 1
            elif target == st.goal:
                st.status = log.NO_PATH
            else:
                it.is_for_good = 1
        log.write_tick_row(rows[tick], st.loc, used, 0, st.marks, phase)
        st.marks = 0
    return rows.size


@kernel
def make_lrta_move(ground, targets, ball, st, depth, sees_all):
    """Make one move of LRTA* of this depth toward the present target.

    Depth 1 needs no memory of a lookahead unless the agent is displayed (`sees_all`). Returns the expansions and
    whether the agent has moved.
    """
    if depth == 1 and not sees_all:
        return np.int64(1), step_toward_target(ground, targets, st)
    used = np.int64(run_lookahead(ground, targets, ball, st, depth, NO_G_LIMIT))
    return used, learn_and_move(ground, targets, ball, st)
