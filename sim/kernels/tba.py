"""TBA*: one A* search divided into time slices, with its path traced in slices too.

Paper: "TBA*: Time-Bounded A*", algorithm listing and section 4.3 (shortcut and switch rule).

A tick's resource limit R is split: N_E = floor(R * r) expansions, and (R - expansions) * c trace steps. The agent walks
the last completely traced path. Off that path, it goes back along parents. At the root without a path to walk, it
bounces to the cell it came from.

Deviations, each with its reason in docs/deviations.md: the walked part of a path stays removed (`head`); the cell that
the agent leaves is stored in `prev` before the move, not after; a trace ends early at the agent's cell.
"""

import numpy as np

from sim.jit.addresses import agent_arrays_at
from sim.jit.decorators import inlined_kernel, kernel
from sim.kernels import log
from sim.kernels.octile import cost_between_neighbours
from sim.kernels.referee import judge_log_rows
from sim.kernels.route import route_index, set_route_from_trace
from sim.kernels.search import (
    GOAL_ON_TOP,
    OPEN_LIST_EMPTY,
    add_root,
    begin_search,
    best_open_cell,
    expand_best_cells,
    parent_of,
    start_search_without_roots,
)
from sim.kernels.tb_bfs import may_added_arc_open_path

STATE = np.dtype(
    [
        ("loc", "i8"),
        ("prev", "i8"),  # cell of the agent before its last move
        ("goal", "i8"),
        ("root", "i8"),  # cell at which the search began
        ("status", "i8"),  # ACTIVE, AT_GOAL, NO_PATH of log.py
        ("found", "i8"),  # whether A* has the goal on top of its open list
        ("traced", "i8"),  # whether the agent has the traced path to the goal
        ("is_first", "i8"),  # whether no slice is planned yet; the first slice must leave time to trace its whole path
        ("trace_done", "i8"),  # whether the last trace is complete, so that the next slice begins a new one
        ("trace_length", "i8"),  # number of cells on the present trace
        ("length", "i8"),  # number of cells on the path
        ("head", "i8"),  # index on the path; the cells before it count as removed
        ("end_g", "f8"),  # g of the path's last cell when the path was adopted
        ("marks", "i8"),  # bits for the events that the next row reports, see log.py
        ("restarts", "i8"),  # number of times that the search was begun again after a map change
        ("shortcuts", "i8"),  # number of shortcuts found
        ("did", "i8"),  # bits for the events of the last tick: FOUND, TRACED, TOOK, SOUGHT
        # Parameters of the agent.
        ("share", "f8"),  # r: fraction of R for expansions
        ("trace_rate", "f8"),  # c: number of trace steps that cost as much as one expansion
        ("cuts_trace", "i8"),  # whether a trace ends early at the agent's cell
        ("keeps_longer", "i8"),  # whether to switch only to a path at least as long
        ("seeks_shortcut", "i8"),  # whether an agent off the path to the goal searches for a shortcut to it
        ("shortcut_budget", "i8"),  # maximum number of expansions of a search for a shortcut in a tick
    ],
    align=True,
)

# Events of a tick, for display only: the search never reads them.
GOAL_FOUND = 1  # in this tick the goal came on top of the open list
PATH_TRACED = 2  # in this tick a trace was begun or continued
PATH_ADOPTED = 4  # in this tick a path was traced completely, and the agent adopted it
SOUGHT_SHORTCUT = 8  # in this tick the agent searched for a shortcut


@kernel
def split_budget(budget, share, trace_rate):
    """Return the expansions N_E and trace steps N_T of a tick, as in the paper. The 1e-9 keeps floor(10 * 0.9) at 9."""
    expansions = np.int64(np.floor(budget * share + 1e-9))
    steps = np.int64(np.floor((budget - expansions) * trace_rate + 1e-9))
    return expansions, steps


@kernel
def reset_agent(ground, search, state, start, goal):
    """Place the agent at `start` with a new search to `goal`, and set its counts to 0."""
    st = state[0]
    st.loc = start
    st.goal = goal
    st.marks = 0
    st.restarts = 0
    st.shortcuts = 0
    begin_search_at_agent(ground, search, st)


@kernel
def begin_search_at_agent(ground, search, st):
    """Begin a new search with its root at the agent's cell, and forget all paths. Costs O(1)."""
    begin_search(ground, search, st.loc, st.goal, st.goal)
    st.root = st.loc
    st.prev = -1
    st.found = 0
    st.traced = 0
    st.is_first = 1
    st.trace_done = 1
    st.trace_length = 0
    st.length = 0
    st.head = 0
    st.end_g = 0.0
    st.status = log.AT_GOAL if st.loc == st.goal else log.ACTIVE


@inlined_kernel
def run_ticks(ground, search, detour, path, trace, state, budget, rows):
    """Plan and act for up to len(rows) ticks. Returns the ticks done, fewer if the agent is no longer active."""
    st = state[0]
    for tick in range(rows.size):
        if st.status != log.ACTIVE:
            return tick
        used, steps = plan_within_budget(ground, search, detour, path, trace, st, budget)
        marks, phase = move_agent(ground, search, path, st)
        log.write_tick_row(rows[tick], st.loc, used, steps, marks | st.marks, phase)
        st.marks = 0
    return rows.size


@inlined_kernel
def plan_within_budget(ground, search, detour, path, trace, st, budget):
    """Plan one slice. Returns its expansions and its trace steps; expansions + steps / c never exceeds the budget."""
    control = search.control[0]
    used = 0
    st.did = 0
    if not st.found:
        limit, steps = split_budget(budget, st.share, st.trace_rate)
        used = expand_best_cells(ground, search, min(limit, steps) if st.is_first else limit)
        st.is_first = 0
        if control.status == OPEN_LIST_EMPTY:
            st.status = log.NO_PATH
            return used, 0
        st.found = control.status == GOAL_ON_TOP
        if st.found:
            st.did |= GOAL_FOUND
    room = np.int64(np.floor((budget - used) * st.trace_rate + 1e-9))
    steps = 0
    if not st.traced:
        steps = continue_trace(ground, search, path, trace, st, room)
    if st.traced and st.seeks_shortcut and route_index(path, st.length, st.loc) < 0:
        more_used, more_steps = seek_shortcut(ground, search, detour, path, st, budget - used, steps, room)
        used += more_used
        steps += more_steps
    return used, steps


@kernel
def continue_trace(ground, search, path, trace, st, room):
    """Continue the trace, or begin one at the best open cell; adopt it when complete. Returns the trace steps."""
    st.did |= PATH_TRACED
    if st.trace_done:
        st.trace_length = 0
        append_to_trace(trace, st, best_open_cell(ground, search))
    st.trace_done = 0
    if st.cuts_trace:
        i = route_index(trace, st.trace_length, st.loc)
        if i >= 0:
            st.trace_length = i + 1
            st.trace_done = 1
    steps = 0
    while not st.trace_done:
        last = np.int64(trace.cells[st.trace_length - 1])
        if last == st.loc or last == st.root:
            st.trace_done = 1
        elif steps == room:
            break
        else:
            append_to_trace(trace, st, parent_of(ground, search, last))
            steps += 1
    if st.trace_done and accepts_trace(search, trace, st):
        adopt_trace(search, path, trace, st)
    return steps


@kernel
def append_to_trace(trace, st, s):
    """Append cell s to the trace, which leads from the path's end towards the root."""
    trace.cells[st.trace_length] = s
    trace.place[s].depth = st.trace_length
    st.trace_length += 1


@kernel
def accepts_trace(search, trace, st):
    """Return whether the agent adopts the traced path: always, or only if it leads at least as far (`keeps_longer`)."""
    end = np.int64(trace.cells[0])
    is_used_up = st.head >= st.length
    return not st.keeps_longer or is_used_up or end == st.goal or search.nodes[end].g >= st.end_g


@kernel
def adopt_trace(search, path, trace, st):
    """Make the completed trace, in walking order, the agent's path."""
    end = np.int64(trace.cells[0])
    st.length = set_route_from_trace(path, trace.cells, st.trace_length)
    st.head = 0
    st.end_g = search.nodes[end].g
    st.traced = end == st.goal
    st.did |= PATH_ADOPTED


@kernel
def move_agent(ground, search, path, st):
    """Make one move. Returns the marks and the phase of the tick."""
    if st.status != log.ACTIVE:
        return 0, log.WAITING
    i = route_index(path, st.length, st.loc)
    marks = 0
    if i >= st.head and i >= 0 and i + 1 < st.length:
        new = np.int64(path.cells[i + 1])
        st.head = i + 1
        phase = log.FOLLOWING if st.traced else (log.TRACING if st.found else log.SEARCHING)
    else:
        if i >= 0 and i == st.length - 1:
            st.head = st.length  # the path is used up: go back along the tree, not to and fro at the path's end
        if st.loc != st.root:
            new = parent_of(ground, search, st.loc)
            marks = log.BACK_MOVE
            phase = log.WALKING_BACK
        elif st.prev >= 0:
            new = st.prev
            marks = log.BOUNCED
            phase = log.SHUTTLING
        else:
            return 0, log.WAITING
    # prev is stored before the move. The paper's listing stores it after the move: the agent would bounce on the spot.
    st.prev = st.loc
    st.loc = new
    if new == st.goal:
        st.status = log.AT_GOAL
    return marks, phase


@kernel
def seek_shortcut(ground, search, detour, path, st, budget, traced, room):
    """Search from the path to the agent, and replace the path by the shortcut if it is found. Section 4.3.

    The roots are the cells of the path from the one where the agent would join it to the goal, each with its true cost
    to the goal. So the search finds the cheapest path to the goal through any of them. Inserting a root costs a trace
    step; `traced` of the `room` steps are already spent.

    Returns the expansions and the trace steps.
    """
    joint, steps = find_junction(ground, search, path, st, room - traced)
    if joint < 0 or traced + steps + st.length - joint > room:
        return 0, steps  # inserting the roots would exceed the time limit
    st.did |= SOUGHT_SHORTCUT
    start_search_without_roots(ground, detour, st.loc, st.loc)
    cost = 0.0
    for i in range(st.length - 1, joint - 1, -1):
        s = np.int64(path.cells[i])
        if i + 1 < st.length:
            cost += cost_between_neighbours(ground, s, np.int64(path.cells[i + 1]))
        add_root(ground, detour, s, cost)
        steps += 1
    spent = np.int64(np.ceil((traced + steps) / st.trace_rate - 1e-9))
    used = expand_best_cells(ground, detour, max(0, min(st.shortcut_budget, budget - spent)))
    if detour.control[0].status == GOAL_ON_TOP:
        join_shortcut_to_path(ground, detour, path, st)
        st.shortcuts += 1
    return used, steps


@kernel
def find_junction(ground, search, path, st, room):
    """Return the index on the path where the agent, walking back along parents, would join it.

    Returns also the number of parents followed, at most `room`. The index is -1 if the path is further away.
    """
    s = np.int64(st.loc)
    steps = 0
    while s >= 0:
        i = route_index(path, st.length, s)
        if i >= 0:
            return i, steps
        if steps >= room:
            break
        s = parent_of(ground, search, s)
        steps += 1
    return np.int64(-1), steps


@kernel
def join_shortcut_to_path(ground, detour, path, st):
    """Replace the path: it now leads from the agent by the shortcut to the old path, then along that to the goal."""
    length = 0
    s = np.int64(st.loc)
    joint = np.int64(-1)
    while s >= 0:
        path.scratch[length] = s
        length += 1
        joint = route_index(path, st.length, s)
        s = parent_of(ground, detour, s)
    for i in range(joint + 1, st.length):
        path.scratch[length] = path.cells[i]
        length += 1
    for i in range(length):
        s = np.int64(path.scratch[i])
        path.cells[i] = s
        path.place[s].depth = i
    st.length = length
    st.head = 0


@kernel
def on_change(ground, search, state, tails, rose):
    """Begin again from the agent after a map change, as "Time-Bounded Best-First Search" does eagerly.

    The paper on TBA* does not treat changing maps.
    """
    st = state[0]
    if st.status == log.AT_GOAL or tails.size == 0:
        return
    if st.status == log.NO_PATH and not may_added_arc_open_path(search, tails, rose):
        return
    if search.control[0].expansions == 0 and st.status == log.ACTIVE and st.is_first:
        return  # the agent has not planned yet, so the change makes nothing wrong
    restart_search(ground, search, st)


@kernel
def restart_search(ground, search, st):
    """Begin a new search at the agent's cell. The restart is counted, and reported as a mark of the next row."""
    begin_search_at_agent(ground, search, st)
    st.restarts += 1
    st.marks |= log.RESTARTED


# --- batches -----------------------------------------------------------------------------------


@kernel
def run_batch(ground, prototype, table, results, tick, rows):
    """Advance a batch of agents without shortcuts.

    Writes: rows, results, all arrays at the addresses in `table`.
    """
    for i in range(table.shape[0]):
        result = results[i]
        (search, detour, path, trace, state), metrics, visits = agent_arrays_at(prototype, table, i)
        result.done = run_ticks(ground, search, detour, path, trace, state, result.budget, rows[i])
        result.legal = judge_log_rows(ground, rows[i], result.done, tick, result.budget, metrics, visits)
        result.status = state[0].status


@kernel
def apply_map_change_to_batch(ground, prototype, table, tails, heads, rose):
    """Notify all agents of a batch of a map change. Writes: all arrays at the addresses in `table`."""
    for i in range(table.shape[0]):
        (search, _, _, _, state), _, _ = agent_arrays_at(prototype, table, i)
        on_change(ground, search, state, tails, rose)
