"""Lookahead depths chosen during the run: by a decision tree over features of the state, or by an oracle.

Paper: section 5.1 and appendix A of "Dynamic Control in Real-Time Heuristic Search". The label of a state is the least
depth from which on all depths, up to the largest, choose the same move with the present h. The oracle computes the
label by trying the depths, and walks with it. The tree has learned to predict labels from eleven features, for which
the agent first looks ahead a little (the pre-search).
"""

from typing import NamedTuple

import numpy as np

from sim.jit.decorators import kernel
from sim.kernels import log
from sim.kernels.dynamic_control import make_lrta_move
from sim.kernels.labels import count_expansion
from sim.kernels.learned import learned_h_excess, learned_h_of
from sim.kernels.learner import has_obviously_no_path, write_learning_row
from sim.kernels.lrta import NO_G_LIMIT, best_frontier_cell, first_cell_on_path, run_lookahead
from sim.kernels.memory import lazily_allocated_zeros
from sim.kernels.octile import direction_between, h0_between_cells
from sim.kernels.search import CLOSED

FEATURE_COUNT = 11
# Upper bound of the feature h(s) / h(s') of the next cell s', also its value if s' is the goal.
MAX_H_RATIO_FEATURE = 100.0

STEP_HISTORY_RECORD = np.dtype([("count", "i8"), ("head", "i8"), ("last_depth", "i8"), ("probed", "i8")], align=True)
"""Numbers of a History: all steps made so far; the index in its ring buffers of the next step; the depth of the last
lookahead; the expansions of all pre-searches."""


class DecisionTree(NamedTuple):
    """Decision tree in flat arrays. Node 0 is its root; a leaf has feature -1 and a depth."""

    feature: np.ndarray  # int32[nodes] index of the feature tested at each node
    threshold: np.ndarray  # float64[nodes] threshold of the test: a feature up to it leads left, a larger one right
    left: np.ndarray  # int32[nodes] index of the left child of each node
    right: np.ndarray  # int32[nodes] index of the right child of each node
    depth: np.ndarray  # int32[nodes] lookahead depth that each leaf predicts


class StepHistory(NamedTuple):
    """Last steps of an agent, from which the features of the decision tree are computed. Made by new_step_history()."""

    recent: np.ndarray  # int32[n] ring buffer of the cells from which the last n steps were made
    raised: np.ndarray  # float64[n] for each of the last n steps, by how much it raised h of the cell that was left
    times: np.ndarray  # int32[cells] scratch buffer of distinct(), all zeros between the calls of that kernel
    last_move_directions: np.ndarray  # uint8[cells] direction of the last move from each cell, plus one; 0: none
    depths: np.ndarray  # uint32[cells] depth of the last lookahead from each cell, 0: none
    features: np.ndarray  # float64[FEATURES] values of the features before the last move
    record: np.ndarray  # RECORD[1] counts, ring buffer index and last depth


def new_step_history(cells: int, steps: int) -> StepHistory:
    record = np.zeros(1, STEP_HISTORY_RECORD).view(np.recarray)
    recent, raised = np.zeros(steps, np.int32), np.zeros(steps, np.float64)
    times, planned, depths = (
        lazily_allocated_zeros(cells, np.int32),
        lazily_allocated_zeros(cells, np.uint8),
        lazily_allocated_zeros(cells, np.uint32),
    )
    return StepHistory(recent, raised, times, planned, depths, np.zeros(FEATURE_COUNT), record)


@kernel
def run_oracle_ticks(ground, targets, ball, probe, history, state, dmax, sees_all, rows):
    """Plan and act for up to len(rows) ticks, with the ideal lookahead depth (the label) in each.

    Only the expansions of the lookahead with that depth are reported, not those of finding the label. Returns the ticks
    done.
    """
    st = state[0]
    for tick in range(rows.size):
        if st.status != log.ACTIVE:
            return tick
        used, has_moved = np.int64(0), False
        if not has_obviously_no_path(ground, st):
            depth = least_sufficient_depth(ground, targets, probe, st, dmax)
            history.record[0].last_depth = depth
            history.depths[st.loc] = depth
            used, has_moved = make_lrta_move(ground, targets, ball, st, depth, sees_all)
        write_learning_row(rows[tick], st, used, has_moved)
    return rows.size


@kernel
def run_tree_ticks(ground, targets, ball, probe, history, state, tree, q, dmax, sees_all, rows):
    """Plan and act for up to len(rows) ticks, with the lookahead depth that a decision tree predicts, at most dmax.

    Args:
        ground: The map.
        targets: Learned heuristics.
        ball: Memory of the lookahead.
        probe: Memory of the pre-search.
        history: Last steps of the agent.
        state: learner.STATE[1] of the agent.
        tree: Decision tree.
        q: Depth of the pre-search.
        dmax: Maximum depth of the lookahead.
        sees_all: Whether the agent is displayed, see dynamic_control.step().
        rows: log.ROW records to write, one per tick.

    Returns:
        The ticks done, fewer if the agent is no longer active.
    """
    st = state[0]
    for tick in range(rows.size):
        if st.status != log.ACTIVE:
            return tick
        used, has_moved = np.int64(0), False
        if not has_obviously_no_path(ground, st):
            used = compute_features(ground, targets, probe, history, st, q)
            depth = min(predict_depth(tree, history.features), np.int64(dmax))
            history.record[0].last_depth = depth
            history.depths[st.loc] = depth
            history.record[0].probed += used
            more, has_moved = make_move_and_record_step(ground, targets, ball, history, st, depth, sees_all)
            used += more
            if sees_all:
                list_presearch_cells(ball, probe)
        write_learning_row(rows[tick], st, used, has_moved)
    return rows.size


@kernel
def walk_and_label_states(ground, targets, ball, probe, history, q, dmax, state, features, labels):
    """Walk by LRTA* of depth dmax and write the features and the label of every state on the walk.

    Returns the number of states written: fewer than there is room for if the walk has ended. Writes: features, labels.
    """
    st = state[0]
    for i in range(labels.size):
        if st.status != log.ACTIVE or has_obviously_no_path(ground, st):
            return i
        labels[i] = least_sufficient_depth(ground, targets, probe, st, dmax)
        compute_features(ground, targets, probe, history, st, q)
        for k in range(FEATURE_COUNT):
            features[i, k] = history.features[k]
        _, has_moved = make_move_and_record_step(ground, targets, ball, history, st, dmax, False)
        if not has_moved:
            return i + 1
    return labels.size


@kernel
def least_sufficient_depth(ground, targets, probe, st, dmax):
    """Return the least lookahead depth such that all depths from it up to dmax choose the same first move."""
    move = first_move_at_depth(ground, targets, probe, st, dmax)
    depth = np.int64(dmax)
    while depth > 1 and first_move_at_depth(ground, targets, probe, st, depth - 1) == move:
        depth -= 1
    return depth


@kernel
def first_move_at_depth(ground, targets, probe, st, depth):
    """Return the cell to which a lookahead of this depth would move, -1 if it finds no path. Learns nothing."""
    run_lookahead(ground, targets, probe, st, depth, NO_G_LIMIT)
    b = best_frontier_cell(targets, probe, st)
    return first_cell_on_path(ground, probe.search, st.loc, b) if b >= 0 else np.int64(-1)


@kernel
def compute_features(ground, targets, probe, history, st, q):
    """Run the pre-search, a lookahead of depth q, and compute the features of the state. Returns its expansions.

    Writes: history.features, probe.
    """
    learned, f, s = targets.goal, history.features, np.int64(st.loc)
    t = first_move_at_depth(ground, targets, probe, st, q)
    used = np.int64(probe.search.control[0].expansions)
    count, steps = history.record[0].count, history.recent.size
    known = min(count, steps)
    oldest = s
    if known:
        oldest = np.int64(history.recent[history.record[0].head if known == steps else 0])
    f[0] = h0_between_cells(ground, s, st.goal)
    f[1] = h0_between_cells(ground, s, oldest)
    f[2] = count_distinct_cells(history, known)
    f[3] = 0.0
    for i in range(known):
        f[3] += history.raised[i]
    rim = np.int64(probe.search.control[0].open_size)
    f[4] = rim / (8.0 * q)
    f[5] = raised_frontier_fraction(learned, probe, st, rim)
    move = direction_between(ground, s, t) + 1 if t >= 0 else 0
    f[6] = np.float64(history.last_move_directions[s] != 0 and history.last_move_directions[s] == move)
    f[7] = np.float64(known > 0 and move == last_step_direction(ground, history, s))
    f[8] = f[9] = f[10] = 0.0
    if t >= 0:
        h, h_t = learned_h_of(learned, s), learned_h_of(learned, t)
        f[8] = min(MAX_H_RATIO_FEATURE, h / h_t) if h_t > 0.0 else MAX_H_RATIO_FEATURE
        f[9] = np.float64(learned_h_excess(learned, t) > 0.0)
        f[10] = np.float64(h > h_t)
    return used


@kernel
def count_distinct_cells(history, known):
    """Return the number of different cells among the last `known` steps. Writes: history.times, and restores it."""
    different = 0
    for i in range(known):
        s = history.recent[i]
        different += history.times[s] == 0
        history.times[s] = 1
    for i in range(known):
        history.times[history.recent[i]] = 0
    return np.float64(different)


@kernel
def raised_frontier_fraction(learned, probe, st, rim):
    """Return the fraction of the pre-search's frontier cells whose h has been raised by learning."""
    raised = 0
    for i in range(1, st.closed):
        t = probe.cells[i]
        raised += probe.search.nodes[t].place != CLOSED and learned_h_excess(learned, t) > 0.0
    return raised / rim if rim else 0.0


@kernel
def last_step_direction(ground, history, s):
    """Return the direction of the last step plus one, or 0 if the agent did not come to s by that step."""
    steps = history.recent.size
    before = np.int64(history.recent[(history.record[0].head + steps - 1) % steps])
    return direction_between(ground, before, s) + 1


@kernel
def make_move_and_record_step(ground, targets, ball, history, st, depth, sees_all):
    """Make one move of LRTA* with this depth, and record the step in `history` for later features."""
    s = np.int64(st.loc)
    before = learned_h_of(targets.goal, s)
    used, has_moved = make_lrta_move(ground, targets, ball, st, depth, sees_all)
    if has_moved:
        record, steps = history.record[0], history.recent.size
        history.last_move_directions[s] = direction_between(ground, s, st.loc) + 1
        history.recent[record.head] = s
        history.raised[record.head] = learned_h_of(targets.goal, s) - before
        record.head = (record.head + 1) % steps
        record.count += 1
    return used, has_moved


@kernel
def predict_depth(tree, features):
    """Return the depth that the decision tree predicts from the features."""
    node = 0
    while tree.feature[node] >= 0:
        is_left = features[tree.feature[node]] <= tree.threshold[node]
        node = tree.left[node] if is_left else tree.right[node]
    return np.int64(tree.depth[node])


@kernel
def list_presearch_cells(ball, probe):
    """Insert the cells expanded by the pre-search into the displayed list, before those expanded by the lookahead."""
    search, more = ball.search, probe.search.control[0].expansions
    noted = search.control[0].noted
    i = 0
    for _ in range(more):
        while probe.search.nodes[probe.cells[i]].place != CLOSED:
            i += 1
        count_expansion(search, probe.cells[i])
        i += 1
    if search.control[0].noted == noted + more:  # otherwise the list was full and was overwritten from its beginning
        for _ in range(more):
            last = search.order[noted + more - 1]
            for k in range(noted + more - 1, 0, -1):
                search.order[k] = search.order[k - 1]
            search.order[0] = last
