"""PRA*: A* on a middle level of the abstraction, then level by level down to the map, each inside the path above it.

Paper: named in section 7.5 of "Dynamic Control in Real-Time Heuristic Search"; partial refinement A* after Sturtevant
and Buro 2005. The agent waits until it has the whole path, as with A*; the search can be stopped after any expansion.
"""

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels import log
from sim.kernels.levels import (
    IS_END,
    IS_INSIDE,
    add_node_to_corridor,
    allow_corridor_moves,
    begin_node_search,
    begin_search_in_same_tick,
    clear_corridor,
    expand_nodes,
    expand_to_marked_end,
    lowest_common_level,
    mark_node_path,
    node_on_level,
    trace_node_path,
)
from sim.kernels.route import trace_path_from_root
from sim.kernels.search import GOAL_ON_TOP, OPEN_LIST_EMPTY, expand_best_cells

REFINE_WHOLE_PATHS = np.int64(1) << 60  # value of `keep` for refining whole paths, without partial refinement

STATE = np.dtype(
    [
        ("loc", "i8"),
        ("goal", "i8"),
        ("status", "i8"),
        ("marks", "i8"),
        ("restarts", "i8"),
        ("is_planning", "i8"),  # whether a plan was begun and its path is not found yet
        ("level", "i8"),  # level of the present search
        ("top_level", "i8"),  # level on which the plan began
        ("mark", "i8"),  # mark of the nodes whose children the present search may enter, 0: all
        ("end_parent", "i8"),  # the present search ends in any child of this node, -1: in the goal's own node
        ("length", "i8"),  # number of cells on the path, 0: none
        ("head", "i8"),  # index of the agent's cell on the path
        ("fixed_level", "i8"),  # level on which to begin; 0: half the level of the lowest common node
        ("has_enough", "i8"),  # whether a plan must not begin on a level with too few nodes, see is_level_too_coarse()
        ("keep", "i8"),  # number of steps of each path that are refined on the level below
        ("is_wide", "i8"),  # whether neighbours of a path belong to the corridor
        ("uses_levels", "i8"),  # whether the abstraction is used; 0: it is of another map, so the agent runs plain A*
        ("arc_diagonal", "f8"),  # diagonal cost of arcs between nodes, see levels.py
        (
            "did",
            "i8",
        ),  # bits for events of the last tick: BEGAN, PLAN_BEGAN_ON_MAP, REFINED, TICK_ENDED_IN_REGIONS, TOOK, STOOD
        ("among", "i8"),  # number of expansions of regions in the last tick
    ],
    align=True,
)

# Events of a tick, for display only: the search never reads them.
PLAN_BEGAN = 1  # in this tick a plan was begun with the abstraction, on the level chosen for it
PLAN_BEGAN_ON_MAP = 2  # in this tick a plan was begun on the map alone, because the regions are of another map
PATH_REFINED = 4  # in this tick a path among regions was found, and the search inside it on the level below begun
# The last expansion of the tick was of a region, and no path among regions was found after it.
TICK_ENDED_IN_REGIONS = 8
PATH_FOUND = 16  # in this tick the path on the map was found
WAITED_FOR_REGIONS = 32  # in this tick the agent waited, because the regions are being recomputed


@kernel
def place_agent(state, start, goal):
    """Place the agent at `start` with nothing planned."""
    st = state[0]
    st.loc = start
    st.goal = goal
    st.length = 0
    st.head = 0
    st.is_planning = 0
    st.status = log.AT_GOAL if start == goal else log.ACTIVE


@kernel
def run_ticks(ground, levels, nodes, corridor, search, path, state, budget, rows):
    """Plan and act for up to len(rows) ticks, with up to `budget` expansions in each. Returns the ticks done."""
    st = state[0]
    for tick in range(rows.size):
        if st.status != log.ACTIVE:
            return tick
        used = np.int64(0)
        st.did = st.among = 0
        if st.length == 0:
            used = plan_within_budget(ground, levels, nodes, corridor, search, path, st, budget)
        phase = log.WAITING if st.status != log.ACTIVE else log.SEARCHING
        if st.length > 0:
            st.head += 1
            st.loc = path[st.head]
            phase = log.FOLLOWING
            if st.loc == st.goal:
                st.status = log.AT_GOAL
            elif st.head == st.length - 1:
                st.length = 0
        log.write_tick_row(rows[tick], st.loc, used, 0, st.marks, phase)
        st.marks = 0
    return rows.size


@kernel
def plan_within_budget(ground, levels, nodes, corridor, search, path, st, budget):
    """Spend up to `budget` expansions on finding a path; st.length > 0 once it is found. Returns the expansions."""
    used = np.int64(0)
    if not st.is_planning:
        begin_plan(ground, levels, nodes, corridor, search, st)
    while st.is_planning:
        if st.level > 0:
            end = node_on_level(levels, st.goal, st.level)
            more = expand_nodes(levels, nodes, end, st.end_parent, st.mark, st.arc_diagonal, budget - used, search)
            used += more
            st.among += more
            st.did |= TICK_ENDED_IN_REGIONS if more else 0
            status = nodes.search.control[0].status
            if status == GOAL_ON_TOP:
                begin_refinement(ground, levels, nodes, corridor, search, st)
                continue
        else:
            used += expand_map_cells(ground, corridor, search, st, budget - used)
            status = search.control[0].status
            if status == GOAL_ON_TOP:
                set_agent_path(ground, search, path, st)
        if status == OPEN_LIST_EMPTY:
            st.is_planning = 0
            st.status = log.NO_PATH
        if used >= budget:
            break
    return used


@kernel
def begin_plan(ground, levels, nodes, corridor, search, st):
    """Begin a plan on a middle level, or report that there is no path because start and goal share no node."""
    clear_corridor(corridor)
    st.end_parent = -1
    st.mark = 0
    st.level = 0
    st.top_level = 0
    st.is_planning = 1
    common = lowest_common_level(levels, st.loc, st.goal) if st.uses_levels else 0
    st.did |= PLAN_BEGAN if st.uses_levels else PLAN_BEGAN_ON_MAP
    if common < 0:
        st.is_planning = 0
        st.status = log.NO_PATH
        return
    if common >= 2:
        st.level = max(1, common // 2) if st.fixed_level == 0 else min(st.fixed_level, common)
        while st.has_enough and st.level > 1 and is_level_too_coarse(levels, st.level):
            st.level -= 1
        st.top_level = st.level
        begin_node_search(nodes, node_on_level(levels, st.loc, st.level))
    else:
        begin_search_in_same_tick(ground, search, st.loc, st.goal, st.goal)


@kernel
def is_level_too_coarse(levels, level):
    """Return whether a level has fewer than 2 sqrt(cells) nodes, too few for its paths to resemble paths on the map."""
    return levels.first[level + 1] - levels.first[level] < 2.0 * np.sqrt(levels.first[1])


@kernel
def begin_refinement(ground, levels, nodes, corridor, search, st):
    """Begin the search on the next lower level, restricted to the path of nodes found on the present level."""
    st.did = (st.did | PATH_REFINED) & ~TICK_ENDED_IN_REGIONS
    length = trace_node_path(nodes, nodes.search.control[0].goal)
    st.end_parent = -1
    if length > st.keep + 1:
        length = st.keep + 1
        st.end_parent = nodes.way[length - 1]
    elif node_on_level(levels, st.goal, st.level) != nodes.way[length - 1]:
        st.end_parent = nodes.way[length - 1]
    st.mark = next_unused_node_mark(nodes)
    mark_node_path(levels, nodes, length, st.mark, st.is_wide)
    st.level -= 1
    if st.level > 0:
        begin_node_search(nodes, node_on_level(levels, st.loc, st.level))
    else:
        begin_map_search(ground, levels, nodes, corridor, search, st, length)


@kernel
def next_unused_node_mark(nodes):
    """Return a number for marking nodes that no node is marked with yet."""
    nodes.search.control[0].cursor += 1
    return nodes.search.control[0].cursor


@kernel
def begin_map_search(ground, levels, nodes, corridor, search, st, length):
    """Begin the search on the map, inside a corridor made of the marked nodes' cells."""
    for i in range(length):
        u = nodes.way[i]
        add_node_to_corridor(levels, corridor, u, IS_INSIDE)
        if st.is_wide:
            for k in range(levels.edge_first[u], levels.edge_first[u + 1]):
                if corridor.marks[levels.rep[levels.edge[k]]] == 0:
                    add_node_to_corridor(levels, corridor, levels.edge[k], IS_INSIDE)
    aim = np.int64(st.goal)
    if st.end_parent >= 0:
        add_node_to_corridor(levels, corridor, st.end_parent, IS_END)
        aim = np.int64(levels.rep[st.end_parent])
    allow_corridor_moves(ground, corridor)
    begin_search_in_same_tick(ground, search, st.loc, st.goal if st.end_parent < 0 else np.int64(-1), aim)


@kernel
def expand_map_cells(ground, corridor, search, st, budget):
    """Expand up to `budget` map cells, inside the corridor if there is one. Returns the number of expansions."""
    if corridor.size[0] == 0:
        return expand_best_cells(ground, search, budget)
    if st.end_parent < 0:
        return expand_best_cells(corridor.ground, search, budget)
    return expand_to_marked_end(corridor, search, budget)


@kernel
def set_agent_path(ground, search, path, st):
    """Write the path that was found on the map into `path`, the agent's cell first."""
    st.length = trace_path_from_root(ground, search, search.control[0].goal, path)
    st.head = 0
    st.is_planning = 0
    st.did |= PATH_FOUND


@kernel
def wait_ticks(state, rows):
    """Wait in place for len(rows) ticks, while the regions are recomputed. Returns the number of ticks done."""
    st = state[0]
    for tick in range(rows.size):
        if st.status != log.ACTIVE:
            return tick
        st.did, st.among = WAITED_FOR_REGIONS, 0
        log.write_tick_row(rows[tick], st.loc, 0, 0, st.marks, log.WAITING)
        st.marks = 0
    return rows.size
