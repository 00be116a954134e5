"""Time-bounded best-first search, and its repetition on a changing map.

Paper: "Time-Bounded Best-First Search" (TB-BFS, TB-WA*, TB-GBFS; Algorithm 3 for lazy restarts).

Each tick expands k cells of one search that is never thrown away, takes the path from the root to the
best open cell, and moves one cell: along the path when standing on it, else back to the parent.

Deviations, each with its reason in docs/deviations.md:
- closed cells stay closed unless the search says otherwise;
- the path is not made, only asked for the agent's next cell, so that a tick costs the same on any map; it is
  made for whoever looks at it, after a map change, and always when closed cells may change their parents;
- a way that the changed map has cut is noticed in planning, not by bumping into it;
- with no path the agent waits for a change that may open one, unless told to give up.
"""

import numpy as np

from sim.kernels import log
from sim.kernels.ancestry import link, next_towards
from sim.kernels.jit import inlined, kernel
from sim.kernels.octile import h0_cells
from sim.kernels.route import place_on, trace_linked, trace_whole, way_cost, way_holds
from sim.kernels.search import EMPTY, GOAL_ON_TOP, begin, best_open, expand, is_known, parent

STATE = np.dtype(
    [
        ("loc", "i8"),
        ("goal", "i8"),
        ("status", "i8"),  # ACTIVE, AT_GOAL, NO_PATH, GAVE_UP of log.py
        ("end", "i8"),  # where the path leads: the best open cell when last planned, -1 before
        ("length", "i8"),  # cells on the route, which is that path when last made
        ("found", "i8"),  # the goal has been on top of the open list
        ("marks", "i8"),  # marks for the next row
        ("restarts", "i8"),
        ("gives_up", "i8"),  # without a path: end for good instead of waiting
    ],
    align=True,
)

EAGER, LAZY = 0, 1  # when to begin the search again after a change
ARC_AHEAD, AS_PRINTED = 0, 1  # which dearer arcs a lazy restart heeds


@kernel
def reset(ground, search, state, start, goal):
    """Stand at `start` with a new search to `goal`."""
    st = state[0]
    st.loc = start
    st.goal = goal
    st.marks = 0
    st.restarts = 0
    search_from_here(ground, search, st)


@kernel
def search_from_here(ground, search, st):
    """InitializeSearch: root the search at the agent. Costs O(1)."""
    begin(ground, search, st.loc, st.goal, st.goal)
    st.end = -1
    st.length = 0
    st.found = 0
    st.status = log.AT_GOAL if st.loc == st.goal else log.ACTIVE


@kernel
def restart(ground, search, st):
    search_from_here(ground, search, st)
    st.restarts += 1
    st.marks |= log.RESTARTED


@inlined
def run(ground, search, route, links, state, budget, rows):
    """Plan and act for up to len(rows) ticks. Returns the ticks done; fewer when the agent is at its end."""
    st = state[0]
    for tick in range(rows.size):
        if st.status != log.ACTIVE:
            return tick
        used, traced = plan(ground, search, route, links, st, budget)
        marks, phase = act(ground, search, route, links, st)
        log.write_row(rows[tick], st.loc, used, traced, marks | st.marks, phase)
        st.marks = 0
    return rows.size


@inlined
def plan(ground, search, route, links, st, budget):
    """Spend at most `budget` expansions, then take the path. Returns expansions and parent pointers followed."""
    control = search.control[0]
    used = 0
    traced = 0
    while not st.found:
        used += expand(ground, search, budget - used)
        if control.status == EMPTY:
            if not control.is_stale:
                st.status = log.GAVE_UP if st.gives_up else log.NO_PATH
                break
        else:
            st.found = control.status == GOAL_ON_TOP
            st.end = best_open(ground, search)
            if not control.reopens:
                traced += link(ground, search, links, route.scratch, st.end)
            if control.reopens or control.is_stale:
                traced += make_route(ground, search, route, st)
            if not control.is_stale or way_holds(ground, search, route, st.length, st.loc):
                break
        restart(ground, search, st)  # the old labels lead through a wall, or prove nothing
    return used, traced


@kernel
def make_route(ground, search, route, st):
    """Make the route the path that the agent has taken. Returns the parent pointers followed."""
    if st.end < 0:
        return 0
    if search.control[0].reopens:
        st.length, steps = trace_whole(ground, search, route, st.end)
    else:
        st.length, steps = trace_linked(ground, search, route, st.length, st.end)
    return steps


@kernel
def next_cell(ground, search, route, links, st):
    """The cell after the agent's on its path, or -1 when it is not on it, or on its end."""
    if not search.control[0].reopens:
        return next_towards(ground, search, links, st.loc, st.end)
    i = place_on(route, st.length, st.loc)
    return np.int64(route.cells[i + 1]) if 0 <= i < st.length - 1 else np.int64(-1)


@kernel
def act(ground, search, route, links, st):
    """One move. Returns the marks and the phase of the tick."""
    if st.status != log.ACTIVE:
        return 0, log.WAITING
    ahead = next_cell(ground, search, route, links, st)
    if ahead >= 0:
        st.loc = ahead
        if st.loc == st.goal:
            st.status = log.AT_GOAL
        return 0, log.FOLLOWING if st.found else log.SEARCHING
    before = parent(ground, search, st.loc)
    if before < 0:
        return 0, log.WAITING  # a restart used up the budget: the root has no path to follow yet
    st.loc = before
    return log.BACK_MOVE, log.WALKING_BACK


@kernel
def on_change(ground, search, route, state, tails, heads, rose, policy, heeds, weight):
    """Algorithm 3: after the map changed, keep the search or begin again.

    Eager: any change restarts. Lazy: only a dearer arc still to be walked, or a cheaper one through which
    w times the estimated cost is less than what is left to walk. `weight` 0 switches the second rule off.

    The way held when it was planned, so an arc of it went away if and only if it does not hold now: there is no need
    to look for each arc that changed.
    """
    st = state[0]
    if st.status == log.AT_GOAL or st.status == log.GAVE_UP or tails.size == 0:
        return
    control = search.control[0]
    if st.status == log.NO_PATH:
        if opens_a_way(search, tails, rose):
            restart(ground, search, st)
        return
    if st.end < 0:
        return  # nothing has been planned on the old map
    if policy == EAGER:  # asked first: there is no need to make a way that nobody will look at
        restart(ground, search, st)
        return
    control.is_stale = 1
    make_route(ground, search, route, st)
    left = way_cost(ground, search, route, st.length, st.loc)
    if left == np.inf or (heeds == AS_PRINTED and enters_route(route, st, heads, rose)):
        restart(ground, search, st)
    elif weight > 0.0 and offers_shortcut(ground, route, st, tails, heads, rose, weight, left):
        restart(ground, search, st)


@kernel
def opens_a_way(search, tails, rose):
    """Whether some new arc leaves a cell that the exhausted search had reached."""
    for i in range(tails.size):
        if not rose[i] and is_known(search, tails[i]):
            return True
    return False


@kernel
def enters_route(route, st, heads, rose):
    """Whether an arc that went away led into the route: what the listing, as printed, calls a change of the path.

    The listing forgets that an agent off its path has yet to walk back to it; it would walk into the wall.
    """
    for i in range(heads.size):
        if rose[i] and place_on(route, st.length, heads[i]) >= 0:
            return True
    return False


@kernel
def offers_shortcut(ground, route, st, tails, heads, rose, weight, left):
    """Whether a new arc may lead to the goal at less than 1/w of the cost of the way the agent is on.

    `left` is the cost of that way as far as it is known. No way by any arc is shorter than h0 from here to the goal,
    which is consistent; so mostly that one number spares a look at every arc.
    """
    if not st.found and st.length > 0:
        left += h0_cells(ground, route.cells[st.length - 1], st.goal)
    if weight * h0_cells(ground, st.loc, st.goal) >= left:
        return False
    for i in range(tails.size):
        if not rose[i]:
            d_cost = ground.cost[0]
            if tails[i] % ground.width != heads[i] % ground.width and tails[i] // ground.width != (
                heads[i] // ground.width
            ):
                d_cost = ground.cost[4]
            via = h0_cells(ground, st.loc, tails[i]) + d_cost + h0_cells(ground, heads[i], st.goal)
            if weight * via < left:
                return True
    return False
