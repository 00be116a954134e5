"""PR LRTA*: LRTA* among the regions of a level chooses the next region; A* inside the two regions finds the path to it.

Papers: path refinement, section 7.2 and table 2 of "Dynamic Control in Real-Time Heuristic Search"; "TBA*: Time-Bounded
A*". All planning of a leg takes place in the tick in which the leg begins; its other moves cost no expansions.

While the abstraction is of another map, the agent walks by LRTA* toward its goal, with one expansion a move.
"""

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels import log
from sim.kernels.distance import UNLIMITED_EXPANSIONS
from sim.kernels.dynamic_control import look_up_subgoal_and_depth, make_lrta_move
from sim.kernels.learner import has_obviously_no_path, write_learning_row
from sim.kernels.level_lrta import best_frontier_node, first_node_on_path, raise_learned_node_h, run_node_lookahead
from sim.kernels.levels import (
    IS_END,
    IS_INSIDE,
    add_node_to_corridor,
    allow_corridor_moves,
    begin_search_in_same_tick,
    clear_corridor,
    expand_to_marked_end,
    lowest_common_level,
    node_on_level,
)
from sim.kernels.route import trace_path_from_root
from sim.kernels.search import expand_best_cells
from sim.kernels.subgoals import NO_SUBGOAL
from sim.kernels.targets import must_hash_table_grow

CONTROL = np.dtype(
    [
        ("level", "i8"),  # level on which LRTA* runs
        ("high_level", "i8"),  # level whose regions the database describes
        ("first", "i8"),  # number of the first node of the database's level
        ("uses_levels", "i8"),  # 0: the abstraction is stale, so the agent walks by LRTA* on the map
        ("uses_subgoals", "i8"),
        ("uses_depths", "i8"),
        ("depth", "i8"),  # fixed lookahead depth, for agents without depths from the database
        ("cap", "i8"),  # largest depth in the database
        ("uses_stored", "i8"),  # always 0, because the databases of this agent store no depths for re-entered cells
        ("rule", "i8"),  # rule for re-entries, see dynamic_control.py, applied to cells on which legs begin
        ("is_for_good", "i8"),
        ("drops_subgoal", "i8"),  # whether the last look-up chose the goal instead of the region's subgoal
        ("sees_all", "i8"),
        ("gamma", "f8"),
        ("arc_diagonal", "f8"),
        ("last_depth", "i8"),
        ("last_target", "i8"),  # target node of the last step of LRTA* among regions
        ("legs", "i8"),  # number of legs begun
        ("abstract_expansions", "i8"),
        ("leg_expansions", "i8"),  # expansions of regions for the last leg; 0: the goal was in the agent's region
    ],
    align=True,
)


@kernel
def run_ticks(ground, levels, column, plan, targets, ball, starts, control, state, rows):
    """Plan and act for up to len(rows) ticks. Returns the number of ticks done.

    Returns early, with the status still ACTIVE, if plan.tables must grow first.

    Args:
        ground: The map.
        levels: Abstraction of the map.
        column: Database column for the goal's region.
        plan: An agents.pr_lrta.Plan, the memory for planning a leg.
        targets: Learned heuristics of LRTA* on the map, used while the abstraction is stale.
        ball: Lookahead memory of LRTA* on the map.
        starts: Number of legs begun on each cell.
        control: CONTROL[1].
        state: learner.STATE[1] of the agent.
        rows: log.ROW records to write, one per tick.
    """
    st, it = state[0], control[0]
    for tick in range(rows.size):
        if st.status != log.ACTIVE or must_hash_table_grow(plan.tables):
            return tick
        used, has_moved = np.int64(0), False
        if not has_obviously_no_path(ground, st):
            if st.length == 0 and it.uses_levels:
                used = plan_leg(ground, levels, column, plan, starts, it, st)
            elif st.length == 0:
                used, has_moved = make_lrta_move(ground, targets, ball, st, 1, it.sees_all)
            if st.length > 0:
                follow_leg(rows[tick], plan.path, st, used)
                continue
        write_learning_row(rows[tick], st, used, has_moved)
    return rows.size


@kernel
def follow_leg(row, path, st, used):
    """Make one move along the leg, and write the row of this tick."""
    st.head += 1
    st.loc = path[st.head]
    if st.loc == st.goal:
        st.status = log.AT_GOAL
    if st.loc == st.goal or st.head == st.length - 1:
        st.length = 0
    log.write_tick_row(row, st.loc, used, 0, st.marks, log.FOLLOWING)
    st.marks = 0


@kernel
def plan_leg(ground, levels, column, plan, starts, it, st):
    """Find the path to the next region, or to the goal if it is in the agent's region. Returns the expansions.

    If start and goal have no common node, there is no path. Writes: st, it, plan, starts.
    """
    corridor, search = plan.corridor, plan.search
    if lowest_common_level(levels, st.loc, st.goal) < 0:
        st.status = log.NO_PATH
        return np.int64(0)
    it.legs += 1
    it.leg_expansions = 0
    starts[st.loc] += 1
    clear_corridor(corridor)
    u = node_on_level(levels, st.loc, it.level)
    add_node_to_corridor(levels, corridor, u, IS_INSIDE)
    if u == node_on_level(levels, st.goal, it.level):
        allow_corridor_moves(ground, corridor)
        begin_search_in_same_tick(ground, search, st.loc, st.goal, st.goal)
        used = np.int64(expand_best_cells(corridor.ground, search, UNLIMITED_EXPANSIONS))
    else:
        used, v = choose_region(levels, column, plan, starts, it, st, u)
        it.leg_expansions = used
        it.abstract_expansions += used
        add_node_to_corridor(levels, corridor, v, IS_END)
        allow_corridor_moves(ground, corridor)
        begin_search_in_same_tick(ground, search, st.loc, -1, levels.rep[v])
        used += expand_to_marked_end(corridor, search, UNLIMITED_EXPANSIONS)
    set_leg_path(ground, search, plan.path, st)
    return used


@kernel
def choose_region(levels, column, plan, starts, it, st, u):
    """Choose the next region by one step of LRTA* from region u. Returns the expansions and the region."""
    target, depth = choose_target_node(levels, column, starts, it, st)
    it.last_target, it.last_depth = target, depth
    ball, tables, diagonal = plan.node_ball, plan.tables, it.arc_diagonal
    used = run_node_lookahead(levels, ball, tables, u, target, depth, it.gamma, diagonal, plan.search)
    b = best_frontier_node(ball, target)
    raise_learned_node_h(levels, tables, target, u, ball.path_max_f[b], diagonal)
    st.updates += 1
    return used, first_node_on_path(ball, u, b)


@kernel
def choose_target_node(levels, column, starts, it, st):
    """Return the target region and the lookahead depth for the next leg."""
    subgoal, depth = look_up_subgoal_and_depth(
        column, node_on_level(levels, st.loc, it.high_level) - it.first, starts, it, st
    )
    cell = st.goal if subgoal == NO_SUBGOAL else subgoal
    return node_on_level(levels, cell, it.level), depth


@kernel
def set_leg_path(ground, search, path, st):
    """Write the path that `search` has found into `path`, as the agent's next leg. The agent's cell comes first."""
    st.length = trace_path_from_root(ground, search, search.control[0].goal, path)
    st.head = 0
    st.best = path[st.length - 1]
