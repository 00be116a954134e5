"""PR LRTA*: LRTA* among the regions of a level chooses the next region; A* inside the two regions finds the way there.

Papers: path refinement, section 7.2 and table 2 of "Dynamic Control in Real-Time Heuristic Search"; "TBA*: Time-Bounded
A*". All planning of a leg falls into the tick in which it begins; the other moves of the leg are free.

While the abstraction is not that of the map, the agent walks by LRTA* toward its goal, one expansion a move.
"""

import numpy as np

from sim.kernels import log
from sim.kernels.distance import UNLIMITED
from sim.kernels.dynamic_control import FOR_GOOD, step
from sim.kernels.jit import kernel
from sim.kernels.learner import has_no_way
from sim.kernels.level_lrta import best_of_node_rim, first_node, look_ahead_nodes, raise_node
from sim.kernels.levels import (
    IS_END,
    IS_INSIDE,
    ancestor,
    begin_in,
    clear,
    common_level,
    expand_to_end,
    let_in,
    open_moves,
)
from sim.kernels.search import expand, parent
from sim.kernels.subgoals import NO_SUBGOAL
from sim.kernels.targets import is_crowded

CONTROL = np.dtype(
    [
        ("level", "i8"),  # on which LRTA* runs
        ("high_level", "i8"),  # of the database
        ("first", "i8"),  # number of that level's first node
        ("uses_levels", "i8"),  # 0: the abstraction is stale
        ("uses_subgoals", "i8"),
        ("uses_depths", "i8"),
        ("depth", "i8"),  # the fixed one
        ("cap", "i8"),
        ("rule", "i8"),  # see dynamic_control.py, of cells on which legs begin
        ("is_for_good", "i8"),
        ("sees_all", "i8"),
        ("gamma", "f8"),
        ("arc_diagonal", "f8"),
        ("last_depth", "i8"),
        ("last_target", "i8"),  # node
        ("cap_hits", "i8"),
        ("reentries", "i8"),
        ("legs", "i8"),
        ("abstract_expansions", "i8"),
    ],
    align=True,
)


@kernel
def run(ground, levels, column, plan, targets, ball, starts, control, state, rows):
    """Plan and act for up to len(rows) ticks. Returns early, still ACTIVE, when plan.tables must grow first.

    `plan`: an agents.pr_lrta.Plan, what a leg is planned with. `targets`, `ball`: for LRTA* on the map.
    """
    st, it = state[0], control[0]
    for tick in range(rows.size):
        if st.status != log.ACTIVE or is_crowded(plan.tables):
            return tick
        used, phase = np.int64(0), log.WAITING
        if has_no_way(ground, st):
            st.status = log.NO_PATH
        elif st.length > 0 or it.uses_levels:
            if st.length == 0:
                used = plan_leg(ground, levels, column, plan, starts, it, st)
            if st.length > 0:
                follow(plan.path, st)
                phase = log.FOLLOWING
        else:
            used, has_moved = step(ground, targets, ball, st, 1, it.sees_all)
            phase = log.LEARNING
            if not has_moved:
                st.status = log.NO_PATH
                phase = log.WAITING
        log.write_row(rows[tick], st.loc, used, 0, st.marks, phase)
        st.marks = 0
    return rows.size


@kernel
def follow(path, st):
    """One move along the leg."""
    st.head += 1
    st.loc = path[st.head]
    if st.loc == st.goal:
        st.status = log.AT_GOAL
    if st.loc == st.goal or st.head == st.length - 1:
        st.length = 0


@kernel
def plan_leg(ground, levels, column, plan, starts, it, st):
    """Find the way to the next region, or to the goal in this one. Returns the expansions. No way: no path."""
    corridor, search = plan.corridor, plan.search
    if common_level(levels, st.loc, st.goal) < 0:
        st.status = log.NO_PATH
        return np.int64(0)
    it.legs += 1
    starts[st.loc] += 1
    clear(corridor)
    u = ancestor(levels, st.loc, it.level)
    let_in(levels, corridor, u, IS_INSIDE)
    if u == ancestor(levels, st.goal, it.level):
        open_moves(ground, corridor)
        begin_in(ground, search, st.loc, st.goal, st.goal)
        used = np.int64(expand(corridor.ground, search, UNLIMITED))
    else:
        used, v = choose_region(levels, column, plan, starts, it, st, u)
        it.abstract_expansions += used
        let_in(levels, corridor, v, IS_END)
        open_moves(ground, corridor)
        begin_in(ground, search, st.loc, -1, levels.rep[v])
        used += expand_to_end(corridor, search, UNLIMITED)
    take_leg(ground, search, plan.path, st)
    return used


@kernel
def choose_region(levels, column, plan, starts, it, st, u):
    """One step of LRTA* from region u: expansions and the next region."""
    target, depth = choose(levels, column, starts, it, st)
    it.last_target, it.last_depth = target, depth
    ball, tables, diagonal = plan.node_ball, plan.tables, it.arc_diagonal
    used = look_ahead_nodes(levels, ball, tables, u, target, depth, it.gamma, diagonal, plan.search)
    b = best_of_node_rim(ball, target)
    raise_node(levels, tables, target, u, ball.fh[b], diagonal)
    st.updates += 1
    return used, first_node(ball, u, b)


@kernel
def choose(levels, column, starts, it, st):
    """The target region and the depth for the next leg, as dynamic_control.choose() does for moves."""
    target, depth = ancestor(levels, st.goal, it.level), np.int64(it.depth)
    place = ancestor(levels, st.loc, it.high_level) - it.first
    if not it.uses_subgoals:
        if it.uses_depths:
            depth = np.int64(column.far_depth[place])
    elif is_again(starts, it, st):
        it.reentries += 1
        if it.uses_depths:
            depth = np.int64(it.cap)
    else:
        if it.uses_depths:
            depth = np.int64(column.near_depth[place])
        if column.subgoal[place] != NO_SUBGOAL:
            target = ancestor(levels, column.subgoal[place], it.level)
    it.cap_hits += it.uses_depths and depth == it.cap
    return target, depth


@kernel
def is_again(starts, it, st):
    """Whether a leg has begun on this cell before, or, by the rule FOR_GOOD, once on any cell twice."""
    if starts[st.loc] > 1 and it.rule == FOR_GOOD:
        it.is_for_good = 1
    return starts[st.loc] > 1 or it.is_for_good != 0


@kernel
def take_leg(ground, search, path, st):
    """Write the leg found, the agent's cell first."""
    length = 0
    cell = np.int64(search.control[0].goal)
    while cell >= 0:
        path[length] = cell
        length += 1
        cell = parent(ground, search, cell)
    for i in range(length // 2):
        k = length - 1 - i
        path[i], path[k] = path[k], path[i]
    st.length = length
    st.head = 0
    st.best = path[length - 1]
