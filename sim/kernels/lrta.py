"""LRTA*: look ahead a fixed depth, store the best value of the frontier in the current cell, make one move.

Papers: Korf 1990 (depth 1); the deeper lookahead, mini-min with path-max, as in the control of "TBA*: Time-Bounded A*";
the lookahead limited by cost as in figure 2 of "Real-time heuristic search for pathfinding in video games".

Ties on f: the goal, the least g + h before path-max, larger g, smaller cell. Path-max raises f of every neighbour to
the agent's own h where this is too high, for example after a cell was freed. Without the second rule all neighbours
would then be equal, and the agent might turn away from the goal. The budget does not shorten a lookahead, because LRTA*
with a shallower lookahead is another algorithm.

The ball is the set of cells that a lookahead has found. Its inside is expanded; its frontier (rim) is not.
"""

from typing import NamedTuple

import numpy as np

from sim.kernels import log
from sim.kernels.jit import inlined_kernel, kernel
from sim.kernels.labels import count_expansion
from sim.kernels.learned import learned_h_of, set_h
from sim.kernels.learner import has_no_moves, move_agent_to, write_learning_row
from sim.kernels.memory import untouched_zeros
from sim.kernels.octile import FIRST_DIAGONAL, NO_DIRECTION, SUCCESSORS, TIE_ORDERED_SUCCESSORS
from sim.kernels.openlist import key_of_f, sift_down, sift_up
from sim.kernels.search import CLOSED, Search, clear_search, new_search, parent_of
from sim.kernels.targets import h_toward, raise_toward

INSIDE, FRONTIER = -2, -3  # values of NODE.place of a cell in the ball: it will be expanded; it is on the frontier
NO_REACH = -1.0  # value of `reach`, the limit on g, for a lookahead that is limited by depth instead


class LookaheadBall(NamedTuple):
    """Memory of one lookahead: the ball of cells that it has found. Make it only with new_lookahead_ball()."""

    search: Search  # g and parents inside the ball; its heap has the cells still to be expanded
    cells: np.ndarray  # int32[cells] all cells of the ball, the agent's own first
    fh: np.ndarray  # float64[cells] f of each cell, raised by path-max to at least the f of its parent


def new_lookahead_ball(cells: int, is_watched: bool, is_reused: bool = False) -> LookaheadBall:
    search = new_search(cells, counts_heat=is_watched, notes_order=is_watched, is_reused=is_reused)
    return LookaheadBall(search, untouched_zeros(cells, np.int32), untouched_zeros(cells, np.float64))


# --- depth 1 --------------------------------------------------------------------------------------------


@inlined_kernel
def run_ticks_at_depth_1(ground, learned, state, rows):
    """Plan and act with depth 1 for up to len(rows) ticks. Returns the number of ticks done.

    The moves are those of run() with depth 1, but no ball is recorded, which saves time.
    """
    st = state[0]
    for tick in range(rows.size):
        if st.status != log.ACTIVE:
            return tick
        used, phase = 0, log.WAITING
        if has_no_moves(ground, st):
            st.status = log.NO_PATH
        else:
            used, phase = make_move_at_depth_1(ground, learned, st)
        log.write_row(rows[tick], st.loc, used, 0, st.marks, phase)
        st.marks = 0
    return rows.size


@inlined_kernel
def make_move_at_depth_1(ground, learned, st):
    """Make one step of LRTA* with depth 1: expand the agent's cell, learn, move. Returns expansions and phase."""
    s = np.uint64(st.loc)
    t, f = best_successor(ground, learned, s, learned_h_of(learned, s))
    st.updates += 1
    st.best = t
    set_h(learned, s, f)  # sets h[s] to max(h[s], f), which is f, because f is at least h[s]
    if f > st.limit:
        st.status = log.NO_PATH
        return 1, log.WAITING
    move_agent_to(st, t)
    return 1, log.LEARNING


@kernel
def best_successor(ground, learned, s, least):
    """Return the successor t of s with the least f = max(least, c(s,t) + h[t]), and that f. s must have a successor."""
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
        f = max(least, total)
        if is_goal:
            total = -1.0  # less than any other sum, so the goal wins every tie
        if f < best_f or (f == best_f and total < best_sum):
            best_f, best_sum, best = f, total, t
    return best, best_f


# --- any depth ------------------------------------------------------------------------------------------


@kernel
def run_ticks(ground, targets, ball, state, depth, reach, rows):
    """Plan and act for up to len(rows) ticks. Returns the number of ticks done.

    `depth` and `reach` limit the lookahead, see look_ahead().
    """
    st = state[0]
    for tick in range(rows.size):
        if st.status != log.ACTIVE:
            return tick
        used, has_moved = np.int64(0), False
        if not has_no_moves(ground, st):
            used = look_ahead(ground, targets, ball, st, depth, reach)
            has_moved = learn_and_move(ground, targets, ball, st)
        write_learning_row(rows[tick], st, used, has_moved)
    return rows.size


@kernel
def learn_and_move(ground, targets, ball, st):
    """Learn from a lookahead, and move toward the best frontier cell.

    Returns False, without a move, if there is no path.
    """
    b = best_frontier_cell(targets, ball, st)
    st.best = b
    st.updates += 1
    if b >= 0:
        raise_toward(targets, st.loc, ball.fh[b])
    if b < 0 or max(ball.fh[b], h_toward(targets, st.loc)) > st.limit:
        return False
    move_agent_to(st, first_cell_on_path(ground, ball.search, st.loc, b))
    return True


@kernel
def look_ahead(ground, targets, ball, st, depth, reach):
    """Run Dijkstra's algorithm from the agent inside its ball. Returns the number of expansions.

    If `reach` is negative, the ball has the cells up to `depth` moves away, and all but its last layer are expanded.
    Otherwise the cells with g <= reach are expanded, and the ball has these cells and their successors. The present
    target is never expanded. Writes: the ball, h of cells read for the first time.
    """
    search, cells, fh, step, cost = ball.search, ball.cells, ball.fh, ground.step, ground.cost
    nodes, heap, control = search.nodes, search.heap, search.control[0]
    mask = (np.int64(1) << ground.shift) - 1
    root, target = np.int64(st.loc), np.int64(targets.aimed[0].goal)
    clear_search(ground, search, target, target)
    control.root = root
    count = find_ball_cells(ground, search, cells, root, target, 0 if reach >= 0.0 else depth)
    nodes[root].g = 0.0
    nodes[root].came = NO_DIRECTION
    fh[root] = h_toward(targets, root)
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
            fh[t] = max(fh[s], g + h_toward(targets, t))
            if child.place == FRONTIER and g <= reach and t != target:
                child.place = INSIDE
            if child.place != FRONTIER:
                place = np.int64(child.place)
                if place == INSIDE:
                    place = size
                    size += 1
                sift_up(heap, nodes, place, key_of_f(g), t, mask)
    st.closed = count
    return control.expansions


@kernel
def find_ball_cells(ground, search, cells, root, goal, depth):
    """Find the cells up to `depth` moves from the root, layer by layer. All cells but the last layer become INSIDE.

    Returns the number of cells found. Writes: cells, nodes.
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
            break  # the last layer added no cell, so all reachable cells are in the ball
    return count


@kernel
def add_frontier_cell(search, cells, count, s):
    """Add a newly found cell to the list of the ball's cells, as a frontier cell. Returns the length of the list."""
    node = search.nodes[s]
    node.search = search.control[0].search
    search.control[0].known += 1
    node.place = FRONTIER
    node.g = np.inf
    cells[count] = s
    return count + 1


@kernel
def best_frontier_cell(targets, ball, st):
    """Return the frontier cell with the least path-max f, -1 if there is none.

    After a single expansion, ties go to the least c + h first, as in best_successor(); see docs/deviations.md. Writes:
    `place` of the frontier cells and open_size, so that drawing code shows the frontier as an open list.
    """
    search, fh, target = ball.search, ball.fh, targets.aimed[0].goal
    best, best_sum = np.int64(-1), np.inf
    is_single, found = search.control[0].expansions == 1, 0
    for i in range(1, st.closed):
        t = np.int64(ball.cells[i])
        node = search.nodes[t]
        if node.place != FRONTIER:
            continue
        node.place = found
        found += 1
        total = -1.0 if t == target else node.g + h_toward(targets, t) if is_single else 0.0
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
    """Return the first cell after s on the path from s to b."""
    t = np.int64(b)
    before = parent_of(ground, search, t)
    while before != s:
        t = before
        before = parent_of(ground, search, t)
    return t
