"""RIBS, real-time iterative-deepening best-first search: IDA* walked by the agent.

Paper: Sturtevant, Bulitko and Bjornsson 2010; here from "Real-Time Heuristic Search for Pathfinding in Video Games".
The agent learns distances from the start (g). It walks depth first to cells with f = g + h0 <= T, the limit of the
iteration, and back along the tree. When it is back at the start and no cell is left to enter, T rises to the least f
beyond it. Dead cells (no cell is best reached through them) and redundant ones (every cell is reached as well through
another parent) are never entered again. The depth-first walk needs no stack: the chain of tree parents replaces it.

One expansion is one visit of the agent to a cell, and ends in one move, or in a new limit (at the start only). Ties
among candidates: less f, then larger g, then smaller cell.

Deviation: a cell is dead if no live neighbour has an optimal known path through it, as in the authors' published code
(the text: if no live neighbour has a larger g). This rule prunes all that the text's rule prunes, and more; it is safe
because the g of neighbours only fall. See docs/deviations.md.
"""

from typing import NamedTuple

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels import log
from sim.kernels.labels import count_expansion
from sim.kernels.memory import lazily_allocated_zeros
from sim.kernels.octile import NO_DIRECTION
from sim.kernels.search import CLOSED, h_to_aim, is_known, parent_of, start_search_without_roots
from sim.kernels.tb_bfs import may_added_arc_open_path

NOT_PRUNED, DEAD, REDUNDANT = 0, 1, 2  # values of MARK.pruned: not pruned; pruned as dead; pruned as redundant

RIBS_CELL_MARK = np.dtype(
    [
        ("entered", "i4"),  # iteration in which the cell was last entered (lastT of the paper, as a number)
        ("parents", "u1"),  # op(t): bit d is set if an optimal known path to t ends with a move in direction d
        ("pruned", "u1"),  # whether and why the cell is never entered again: NEITHER, DEAD or REDUNDANT
    ],
    align=True,
)

STATE = np.dtype(
    [
        ("loc", "i8"),
        ("goal", "i8"),
        ("root", "i8"),  # start of the walk since the last restart
        ("status", "i8"),
        ("marks", "i8"),
        ("restarts", "i8"),
        ("iteration", "i8"),  # number of the iteration, 1 for the first limit
        ("limit", "f8"),  # T, the limit on f in this iteration
        ("next_limit", "f8"),  # least f beyond T in this iteration, infinity if there is none
        ("dead_count", "i8"),  # number of dead cells in this search
        ("redundant_count", "i8"),  # number of redundant cells in this search
        ("prunes_dead", "i8"),  # setting: whether dead cells are pruned
        ("prunes_redundant", "i8"),  # setting: whether redundant cells are pruned
    ],
    align=True,
)


class RibsMemory(NamedTuple):
    """Memory of RIBS, made with new_ribs_memory(). g and tree parents are in the Search."""

    marks: np.ndarray  # MARK[cells] further record of each cell, valid only for cells that the search knows
    dead_cells: np.ndarray  # int32[cells] dead cells, in the order in which they were found dead
    redundant_cells: np.ndarray  # int32[cells] redundant cells, in the order in which they were found redundant


def new_ribs_memory(cells: int) -> RibsMemory:
    return RibsMemory(
        lazily_allocated_zeros(cells, RIBS_CELL_MARK).view(np.recarray),
        lazily_allocated_zeros(cells, np.int32),
        lazily_allocated_zeros(cells, np.int32),
    )


@kernel
def reset_agent(ground, search, memory, state, start, goal):
    """Place the agent at `start` with nothing learned. Costs O(1)."""
    st = state[0]
    st.loc = start
    st.goal = goal
    st.marks = 0
    st.restarts = 0
    begin_search_at_agent(ground, search, memory, st)


@kernel
def begin_search_at_agent(ground, search, memory, st):
    """Begin a new search at the agent's cell, with the first iteration."""
    start_search_without_roots(ground, search, st.goal, st.goal)
    control = search.control[0]
    control.root = st.loc
    st.root = st.loc
    initialise_cell(search, memory, st.loc)
    node = search.nodes[st.loc]
    node.g = 0.0
    node.came = NO_DIRECTION
    st.iteration = 1
    memory.marks[st.loc].entered = 1
    st.limit = h_to_aim(ground, control, st.loc)
    st.next_limit = np.inf
    st.dead_count = 0
    st.redundant_count = 0
    st.status = log.AT_GOAL if st.loc == st.goal else log.ACTIVE


@kernel
def initialise_cell(search, memory, s):
    """Initialise the record of cell s, which this search sees for the first time."""
    node = search.nodes[s]
    node.search = search.control[0].search
    node.place = 0
    search.control[0].open_size += 1
    search.control[0].known += 1
    mark = memory.marks[s]
    mark.entered = 0
    mark.parents = 0
    mark.pruned = NOT_PRUNED


@kernel
def run_ticks(ground, search, memory, state, budget, rows):
    """Plan and act for up to len(rows) ticks.

    A tick ends with a move, or when the budget is spent. Returns the number of ticks done.
    """
    st = state[0]
    for tick in range(rows.size):
        if st.status != log.ACTIVE:
            return tick
        stood = st.loc
        used = 0
        while st.status == log.ACTIVE and st.loc == stood and used < budget:
            expand_and_move(ground, search, memory, st)
            used += 1
        phase = log.LEARNING
        if st.status == log.NO_PATH:
            phase = log.WAITING
        elif st.marks & log.BACK_MOVE:
            phase = log.WALKING_BACK
        log.write_tick_row(rows[tick], st.loc, used, 0, st.marks, phase)
        st.marks = 0
    return rows.size


@kernel
def expand_and_move(ground, search, memory, st):
    """Expand the agent's cell u, then make one move, set a new limit, or prove that there is no path.

    Writes: st, the records of u and of its neighbours.
    """
    u = st.loc
    live, required, best = generate_successors(ground, search, memory, st, u)
    count_expansion(search, u)
    if search.nodes[u].place != CLOSED:
        search.nodes[u].place = CLOSED
        search.control[0].open_size -= 1
    is_start = u == st.root
    if not live and not is_start and st.prunes_dead:
        memory.marks[u].pruned = DEAD
        memory.dead_cells[st.dead_count] = u
        st.dead_count += 1
    if live and not required and not is_start and st.prunes_redundant:
        prune_redundant_cell(ground, search, memory, st, u)
        move_back(ground, search, st)
    elif best >= 0:
        t = u + ground.step[best]
        memory.marks[t].entered = st.iteration
        search.nodes[t].came = best
        st.loc = t
        if t == st.goal:
            st.status = log.AT_GOAL
    elif not is_start:
        move_back(ground, search, st)
    elif st.next_limit == np.inf:
        st.status = log.NO_PATH
    else:
        st.limit = st.next_limit
        st.next_limit = np.inf
        st.iteration += 1


@kernel
def generate_successors(ground, search, memory, st, u):
    """Generate the successors of u: learn their g, record the least f beyond the limit, choose the cell to enter.

    Returns whether u is live (an optimal known parent of some neighbour), whether some neighbour requires u (has no
    other such parent), and the direction of the best candidate or -1. Writes: g, came, parents; next_limit.
    """
    control = search.control[0]
    live = False
    required = False
    best = np.int64(-1)
    best_f = np.inf
    best_g = 0.0
    for d in range(8):  # for t in succ(u), not dead[t], not red[t]
        if not ground.moves[u] >> d & 1:
            continue
        t = u + ground.step[d]
        node = search.nodes[t]
        mark = memory.marks[t]
        ng = search.nodes[u].g + ground.cost[d]
        is_new = not is_known(search, t)
        if is_new:
            initialise_cell(search, memory, t)
        elif mark.pruned or ng > node.g:  # t is pruned, or it was reached at a lower cost through another parent
            continue
        live = True
        if is_new or ng < node.g:
            node.g = ng
            node.came = d
            mark.parents = 1 << d
            is_candidate = True
        else:
            mark.parents |= 1 << d
            is_candidate = mark.entered != st.iteration
        required |= has_single_parent(np.int64(mark.parents))
        if not is_candidate:
            continue
        f = node.g + h_to_aim(ground, control, t)
        if f > st.limit:
            st.next_limit = min(st.next_limit, f)
        elif candidate_precedes(f, node.g, t, best_f, best_g, u + ground.step[best] if best >= 0 else -1):
            best, best_f, best_g = np.int64(d), f, node.g
    return live, required, best


@kernel
def candidate_precedes(f, g, s, other_f, other_g, other):
    """Return whether a candidate comes first: less f, then larger g, then smaller cell."""
    if f != other_f:
        return f < other_f
    if g != other_g:
        return g > other_g
    return s < other


@kernel
def has_single_parent(parents):
    """Return whether a set of parents, given as a bit mask, has exactly one member."""
    return parents != 0 and parents & (parents - 1) == 0


@kernel
def prune_redundant_cell(ground, search, memory, st, u):
    """Prune u, whose children all have another optimal parent, and remove it from their sets of parents.

    A child whose tree parent was u gets the first of its remaining parents as tree parent, so that the tree parent of a
    live cell is never a pruned cell. Writes: the mark of u, the parents and came of its neighbours.
    """
    memory.marks[u].pruned = REDUNDANT
    memory.redundant_cells[st.redundant_count] = u
    st.redundant_count += 1
    for d in range(8):
        if not ground.moves[u] >> d & 1:
            continue
        t = u + ground.step[d]
        mark = memory.marks[t]
        parents = np.int64(mark.parents)
        if not is_known(search, t) or not parents >> d & 1 or has_single_parent(parents):
            continue
        parents &= ~(1 << d)
        mark.parents = parents
        if search.nodes[t].came == d:
            search.nodes[t].came = first_parent_direction(parents)


@kernel
def first_parent_direction(parents):
    """Return the first direction in a non-empty set of parents, which is given as a bit mask."""
    for d in range(8):
        if parents >> d & 1:
            return d
    return NO_DIRECTION


@kernel
def move_back(ground, search, st):
    """Move the agent back to the tree parent of its cell."""
    st.loc = parent_of(ground, search, st.loc)
    st.marks |= log.BACK_MOVE


@kernel
def on_change(ground, search, memory, state, tails, rose):
    """Begin again at the agent's cell after a map change: distances learned on the old map mean nothing on the new one.

    An agent that has proved that there is no path begins again only if an added arc leaves a cell that it has reached.
    """
    st = state[0]
    if st.status == log.AT_GOAL or tails.size == 0 or search.control[0].expansions == 0:
        return
    if st.status == log.NO_PATH and not may_added_arc_open_path(search, tails, rose):
        return
    begin_search_at_agent(ground, search, memory, st)
    st.restarts += 1
    st.marks |= log.RESTARTED


@kernel
def trace_tree_path(ground, search, s, path):
    """Write the chain of tree parents from cell s back to the start into `path`. Returns its length."""
    length = 0
    while s >= 0:
        path[length] = s
        length += 1
        s = parent_of(ground, search, s)
    return length
