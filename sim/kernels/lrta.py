"""LRTA*: in each tick, search a small area around the agent, raise h of the agent's cell, and make one move.

The search is called lookahead, and the area is called ball. The cells inside the ball are expanded; the cells on its
border, the frontier, are not. The h of the agent's cell becomes the least f of the frontier cells, and the agent moves
toward the frontier cell with this f.

Papers: Korf 1990 for depth 1. The lookahead of a larger depth (mini-min with path-max) follows the reference algorithm
LRTA* in "TBA*: Time-Bounded A*". The lookahead limited by cost follows figure 2 of "Real-time heuristic search for
pathfinding in video games".

Ties on f are decided by these rules in turn: prefer the goal, the least g + h before path-max, the larger g, the
smaller cell. The second rule matters if the agent's h is too high, for example after a cell was freed: path-max raises
the f of every neighbour to that h, so all are equal, and without the rule the agent might turn away from the goal.

The budget does not limit a lookahead, because LRTA* with a smaller depth is another algorithm.
"""

from typing import NamedTuple

import numpy as np

from sim.jit.addresses import agent_arrays_at
from sim.jit.decorators import inlined_kernel, kernel
from sim.kernels import log
from sim.kernels.labels import count_expansion
from sim.kernels.learned import learned_h_of, set_learned_h
from sim.kernels.learner import has_obviously_no_path, move_agent_to, write_learning_row
from sim.kernels.memory import lazily_allocated_zeros
from sim.kernels.octile import FIRST_DIAGONAL, NO_DIRECTION, SUCCESSORS, TIE_ORDERED_SUCCESSORS
from sim.kernels.openlist import key_of_f, sift_down, sift_up
from sim.kernels.referee import judge_log_rows
from sim.kernels.search import CLOSED, Search, new_search, parent_of, start_search_without_roots
from sim.kernels.targets import h_toward_target, raise_h_toward_target

INSIDE, FRONTIER = -2, -3  # NODE.place of a cell that the lookahead will expand, and of a cell that it will not
NO_G_LIMIT = -1.0  # value of `reach` (limit of g) for a lookahead that is limited by depth, not by g


class LookaheadBall(NamedTuple):
    """Arrays of one lookahead and the cells that it has found (the ball). Make it only with new_lookahead_ball()."""

    search: Search  # search around the agent: g and parent of each cell, and the cells still to be expanded
    cells: np.ndarray  # int32[cells] list of the cells that the lookahead has found; the agent's cell is the first
    path_max_f: np.ndarray  # float64[cells] f of each cell of the map, with path-max: at least the f of its parent


def new_lookahead_ball(cells: int, is_watched: bool, is_reused: bool = False) -> LookaheadBall:
    search = new_search(cells, counts_heat=is_watched, notes_order=is_watched, is_reused=is_reused)
    return LookaheadBall(search, lazily_allocated_zeros(cells, np.int32), lazily_allocated_zeros(cells, np.float64))


# --- depth 1 --------------------------------------------------------------------------------------------


@inlined_kernel
def run_ticks_at_depth_1(ground, learned, state, rows):
    """Plan and act with depth 1 for up to len(rows) ticks. Returns the number of ticks done.

    The moves are the same as those of run_ticks() with depth 1. This function saves time, because it does not record
    the cells of the lookahead.
    """
    st = state[0]
    for tick in range(rows.size):
        if st.status != log.ACTIVE:
            return tick
        used, phase = 0, log.WAITING
        if has_obviously_no_path(ground, st):
            st.status = log.NO_PATH
        else:
            used, phase = make_move_at_depth_1(ground, learned, st)
        log.write_tick_row(rows[tick], st.loc, used, 0, st.marks, phase)
        st.marks = 0
    return rows.size


@inlined_kernel
def make_move_at_depth_1(ground, learned, st):
    """Expand the agent's cell, update its h, and move the agent. Returns the number of expansions and the phase."""
    s = np.uint64(st.loc)
    t, f = best_successor(ground, learned, s, learned_h_of(learned, s))
    st.updates += 1
    st.best = t
    set_learned_h(learned, s, f)  # raises h of s to f, which is at least the old h
    if f > st.limit:
        st.status = log.NO_PATH
        return 1, log.WAITING
    move_agent_to(st, t)
    return 1, log.LEARNING


@kernel
def best_successor(ground, learned, s, min_f):
    """Return the successor t of s with the least f = max(least, c(s,t) + h[t]), and this f.

    s must have at least one successor. Ties: the goal, the least c + h, the larger c, the smaller cell.
    """
    h, step, cost = learned.h, ground.step, ground.cost
    best_f, best_sum, best = np.inf, np.inf, np.int64(-1)
    is_dearer = np.int64(cost[FIRST_DIAGONAL] > 1.0)
    successors = np.int64(TIE_ORDERED_SUCCESSORS[is_dearer << 8 | np.int64(ground.moves[s])])
    while successors:
        d = np.uint64((successors & 15) - 1)
        successors >>= 4
        t = np.int64(s) + step[d]
        h_t = h[np.uint64(t)]
        is_goal = False
        if h_t == 0.0:
            h_t = learned_h_of(learned, t)
            is_goal = h_t == 0.0
        total = cost[d] + h_t
        f = max(min_f, total)
        if is_goal:
            total = -1.0  # less than any other sum, so that the goal wins every tie
        if f < best_f or (f == best_f and total < best_sum):
            best_f, best_sum, best = f, total, t
    return best, best_f


# --- any depth ------------------------------------------------------------------------------------------


@kernel
def run_ticks(ground, targets, ball, state, depth, reach, rows):
    """Plan and act for up to len(rows) ticks. Returns the number of ticks done.

    `depth` (maximum number of moves) or `reach` (maximum cost g) limits the lookahead, see run_lookahead().
    """
    st = state[0]
    for tick in range(rows.size):
        if st.status != log.ACTIVE:
            return tick
        used, has_moved = np.int64(0), False
        if not has_obviously_no_path(ground, st):
            used = run_lookahead(ground, targets, ball, st, depth, reach)
            has_moved = learn_and_move(ground, targets, ball, st)
        write_learning_row(rows[tick], st, used, has_moved)
    return rows.size


@kernel
def learn_and_move(ground, targets, ball, st):
    """Raise h of the agent's cell to the best f of the frontier, and move toward the frontier cell with this f.

    If there is no path to the goal, make no move and return False.
    """
    b = best_frontier_cell(targets, ball, st)
    st.best = b
    st.updates += 1
    if b >= 0:
        raise_h_toward_target(targets, st.loc, ball.path_max_f[b])
    if b < 0 or max(ball.path_max_f[b], h_toward_target(targets, st.loc)) > st.limit:
        return False
    move_agent_to(st, first_cell_on_path(ground, ball.search, st.loc, b))
    return True


@kernel
def run_lookahead(ground, targets, ball, st, depth, reach):
    """Search the surroundings of the agent with Dijkstra's algorithm. Returns the number of expansions.

    If `reach` is negative, expand all cells that are fewer than `depth` moves away from the agent. Otherwise expand all
    cells with g <= reach. Never expand the present target. The ball then consists of the expanded cells and their
    successors. Writes: the ball, st.closed (number of cells in the ball), initial h of cells seen for the first time.
    """
    search, cells, fh, step, cost = ball.search, ball.cells, ball.path_max_f, ground.step, ground.cost
    nodes, heap, control = search.nodes, search.heap, search.control[0]
    mask = (np.int64(1) << ground.shift) - 1
    root, target = np.int64(st.loc), np.int64(targets.present_target[0].goal)
    start_search_without_roots(ground, search, target, target)
    control.root = root
    count = find_ball_cells(ground, search, cells, root, target, 0 if reach >= 0.0 else depth)
    nodes[root].g = 0.0
    nodes[root].came = NO_DIRECTION
    fh[root] = h_toward_target(targets, root)
    sift_up(heap, nodes, 0, key_of_f(0.0), root, mask)
    size = 1
    while size:
        s = heap[0].tie
        size -= 1
        sift_down(heap, nodes, size, heap[size].key, heap[size].tie, mask)
        node = nodes[np.uint64(s)]
        node.place = CLOSED
        count_expansion(search, s)
        successors = np.int64(SUCCESSORS[np.int64(node.came) << 8 | np.int64(ground.moves[s])])
        while successors:  # for each t in succ(s)
            d = np.uint64((successors & 15) - 1)
            successors >>= 4
            t = s + step[d]
            g = node.g + cost[d]
            child = nodes[np.uint64(t)]
            if child.search != control.search:
                count = add_frontier_cell(search, cells, count, t)
            if child.g <= g:
                continue
            child.g = g
            child.came = d
            fh[t] = max(fh[s], g + h_toward_target(targets, t))
            if child.place == FRONTIER and g <= reach and t != target:
                child.place = INSIDE
            if child.place != FRONTIER:
                index = np.int64(child.place)
                if index == INSIDE:
                    index = size
                    size += 1
                sift_up(heap, nodes, index, key_of_f(g), t, mask)
    st.closed = count
    return control.expansions


@kernel
def find_ball_cells(ground, search, cells, root, goal, depth):
    """List the cells that are at most `depth` moves away from the root. Returns the number of cells.

    Cells fewer than `depth` moves away are marked INSIDE, the others FRONTIER. The goal is always marked FRONTIER.
    Writes: cells, nodes of the search.
    """
    count = add_frontier_cell(search, cells, 0, root)
    first = 0
    for _ in range(depth):
        last = count
        for i in range(first, last):
            s = np.int64(cells[i])
            if s == goal:
                continue
            search.nodes[s].place = INSIDE
            successors = np.int64(SUCCESSORS[NO_DIRECTION << 8 | np.int64(ground.moves[s])])
            while successors:
                t = s + ground.step[(successors & 15) - 1]
                successors >>= 4
                if search.nodes[t].search != search.control[0].search:
                    count = add_frontier_cell(search, cells, count, t)
        first = last
        if first == count:
            break  # no new cell was found, so all reachable cells are listed
    return count


@kernel
def add_frontier_cell(search, cells, count, s):
    """Append cell s to the list `cells` of length `count`, and mark it FRONTIER. Returns the new length."""
    node = search.nodes[s]
    node.search = search.control[0].search
    search.control[0].known += 1
    node.place = FRONTIER
    node.g = np.inf
    cells[count] = s
    return count + 1


@kernel
def best_frontier_cell(targets, ball, st):
    """Return the frontier cell with the least f (with path-max); return -1 if there are no frontier cells.

    Ties on f: the target, larger g, smaller cell. If only one cell was expanded, the least g + h comes before larger g,
    as in best_successor(); see docs/deviations.md.
    Writes: `place` of frontier cells and open_size, so that drawing code shows the frontier as an open list.
    """
    search, fh, target = ball.search, ball.path_max_f, targets.present_target[0].goal
    best, best_sum = np.int64(-1), np.inf
    is_single, found = search.control[0].expansions == 1, 0
    for i in range(1, st.closed):
        t = np.int64(ball.cells[i])
        node = search.nodes[t]
        if node.place != FRONTIER:
            continue
        node.place = found
        found += 1
        total = -1.0 if t == target else node.g + h_toward_target(targets, t) if is_single else 0.0
        if best < 0 or fh[t] < fh[best]:
            best, best_sum = t, total
        elif fh[t] == fh[best] and total <= best_sum:
            g, best_g = node.g, search.nodes[best].g
            if total < best_sum or g > best_g or (g == best_g and t < best):
                best, best_sum = t, total
    search.control[0].open_size = found
    return best


@kernel
def first_cell_on_path(ground, search, s, b):
    """Return the cell that follows s on the path from s to b. s must be an ancestor of b in the search."""
    t = np.int64(b)
    before = parent_of(ground, search, t)
    while before != s:
        t = before
        before = parent_of(ground, search, t)
    return t


# --- batches -----------------------------------------------------------------------------------


@kernel
def run_batch(ground, prototype, table, results, tick, rows):
    """Advance a batch of agents with depth 1.

    Writes: rows, results, all arrays at the addresses in `table`.
    """
    for i in range(table.shape[0]):
        result = results[i]
        (learned, state), metrics, visits = agent_arrays_at(prototype, table, i)
        result.done = run_ticks_at_depth_1(ground, learned, state, rows[i])
        result.legal = judge_log_rows(ground, rows[i], result.done, tick, result.budget, metrics, visits)
        result.status = state[0].status
