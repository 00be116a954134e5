"""Decision trees for the depth of the lookahead, grown from labelled states.

A state is a situation of an agent, described by numbers (features). Its label is the depth of lookahead that it needs.

    data = label_states_of_maps(maps, q, steps, dmax)    run LRTA* on problems, label visited states
    tree = grow_tree(data.features, data.labels, depth, least_leaf) a classification tree by Gini impurity

files/depth_tree_file.py reads and writes trees. `python -m tools.train_tree` makes assets/depth-tree.json from
generated maps; none of these maps tests the tree.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.grid import Grid
from sim.kernels import depth_control, learner
from sim.kernels.depth_control import FEATURE_COUNT, DecisionTree, new_step_history
from sim.kernels.lrta import new_lookahead_ball
from sim.kernels.targets import new_target_heuristics

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

MAX_STATES_PER_PROBLEM = 2000
"""Maximum number of labelled states per problem, so that a walk with much scrubbing does not outweigh all others."""


@dataclass(frozen=True)
class LabelledStates:
    """States of agents on several maps, each with its features and its label (the lookahead depth that it needs)."""

    features: Floats
    labels: Ints
    map_indices: Ints  # [states] index of the map on which each state was visited

    def selected_states(self, chosen: npt.NDArray[np.bool_]) -> "LabelledStates":
        """Return a selection of the states. `chosen`: mask of the states to return."""
        return LabelledStates(self.features[chosen], self.labels[chosen], self.map_indices[chosen])


@dataclass(frozen=True)
class TreeScore:
    """Quality of a tree on one test map, which was not used to grow the tree."""

    state_count: int  # number of labelled states on the test map
    accuracy: float  # fraction of the states whose label the tree predicts
    constant_label_accuracy: float  # fraction of the states that have the most common label of the training maps


@dataclass(frozen=True)
class DepthTree:
    """Decision tree for lookahead depths, with the parameters for which it was grown."""

    decision_tree: DecisionTree
    steps: int  # n of the paper: number of steps in the history of the agent
    presearch_depth: int  # depth of the pre-search that computes features
    dmax: int  # maximum depth of the lookahead
    file_metadata: Mapping[str, Any]  # further entries of the tree's file, which describe how the tree was grown


def label_states_of_maps(
    maps: Iterable[Iterable[tuple[Grid, int, int]]], q: int, steps: int, dmax: int
) -> LabelledStates:
    """Run LRTA* with depth `dmax` on the problems of each map, and return the visited states with their labels.

    Args:
        maps: for each map, its problems as (grid, start, goal).
        q: depth of the pre-search.
        steps: number of steps in the history of an agent.
        dmax: maximum depth of the lookahead.
    """
    features, labels, groups = [], [], []
    for index, problems in enumerate(maps):
        for grid, start, goal in problems:
            found, depths = _label_states_of_problem(grid, start, goal, q, steps, dmax)
            features.append(found)
            labels.append(depths)
            groups.append(np.full(depths.size, index, np.int32))
    return LabelledStates(np.concatenate(features), np.concatenate(labels), np.concatenate(groups))


def _label_states_of_problem(grid: Grid, start: int, goal: int, q: int, steps: int, dmax: int) -> tuple[Floats, Ints]:
    """Run LRTA* on one problem; return the features and labels of the visited states."""
    state = np.zeros(1, learner.STATE).view(np.recarray)
    learner.place_agent(state, start, goal)
    learner.set_h_limit(state, grid.max_path_cost)
    features, labels = np.zeros((MAX_STATES_PER_PROBLEM, FEATURE_COUNT)), np.zeros(MAX_STATES_PER_PROBLEM, np.int32)
    memory = (
        new_lookahead_ball(grid.cells, False),
        new_lookahead_ball(grid.cells, False),
        new_step_history(grid.cells, steps),
    )
    targets = new_target_heuristics(grid.map_arrays, goal)
    count = int(
        depth_control.walk_and_label_states(grid.map_arrays, targets, *memory, q, dmax, state, features, labels)
    )
    return features[:count], labels[:count]


# --- growing --------------------------------------------------------------------------------------


def grow_tree(features: Floats, labels: Ints, depth: int, min_leaf_size: int) -> DecisionTree:
    """Grow a classification tree by Gini impurity.

    Args:
        features: [states, features] features of each state.
        labels: [states] depth of the lookahead that each state needs.
        depth: maximum depth of the tree.
        min_leaf_size: minimum number of states in a leaf.
    """
    nodes: list[tuple[int, float, int, int, int]] = []
    _grow_subtree(features, labels, depth, min_leaf_size, nodes)
    columns = list(zip(*nodes, strict=True))
    types = (np.int32, np.float64, np.int32, np.int32, np.int32)
    return DecisionTree(*(np.array(column, kind) for column, kind in zip(columns, types, strict=True)))


def _grow_subtree(
    features: Floats, labels: Ints, depth: int, min_leaf_size: int, nodes: list[tuple[int, float, int, int, int]]
) -> int:
    """Append the node for these states and the nodes of its subtree to `nodes`; return the index of the node."""
    number = len(nodes)
    common = int(np.bincount(labels).argmax())
    nodes.append((-1, 0.0, -1, -1, common))
    split = _best_split(features, labels, min_leaf_size) if depth else None
    if split is not None:
        feature, threshold = split
        is_left = features[:, feature] <= threshold
        left = _grow_subtree(features[is_left], labels[is_left], depth - 1, min_leaf_size, nodes)
        right = _grow_subtree(features[~is_left], labels[~is_left], depth - 1, min_leaf_size, nodes)
        nodes[number] = (feature, threshold, left, right, common)
    return number


def _best_split(features: Floats, labels: Ints, min_leaf_size: int) -> tuple[int, float] | None:
    """Return the feature and threshold whose split has the lowest Gini impurity; None: no split is an improvement."""
    one_hot = np.eye(int(labels.max()) + 1)[labels]
    totals = one_hot.sum(axis=0)
    best, split = float((totals**2).sum() / labels.size) + 1e-9, None
    for feature in range(FEATURE_COUNT):
        order = np.argsort(features[:, feature], kind="stable")
        values, counts = features[order, feature], one_hot[order].cumsum(axis=0)
        sizes = np.arange(1, labels.size + 1)
        left_ends = np.flatnonzero(np.diff(values) > 0)  # possible splits: only between different values of the feature
        left_ends = left_ends[(sizes[left_ends] >= min_leaf_size) & (labels.size - sizes[left_ends] >= min_leaf_size)]
        if not left_ends.size:
            continue
        left, right = counts[left_ends], totals - counts[left_ends]
        purity = (left**2).sum(axis=1) / sizes[left_ends] + (right**2).sum(axis=1) / (labels.size - sizes[left_ends])
        index = int(purity.argmax())
        if purity[index] > best:
            best, end = float(purity[index]), left_ends[index]
            split = (feature, float((values[end] + values[end + 1]) / 2.0))
    return split


def tree_accuracy(tree: DecisionTree, features: Floats, labels: Ints) -> float:
    """Return the fraction of states whose label the tree predicts."""
    hits = sum(
        int(depth_control.predict_depth(tree, row)) == depth for row, depth in zip(features, labels, strict=True)
    )
    return float(hits / max(1, labels.size))


def cross_validation_scores(data: LabelledStates, depth: int, min_leaf_size: int, folds: int) -> list[TreeScore]:
    """Score trees of one depth by cross-validation; each tree is scored on maps that were not used to grow it.

    Args:
        data: labelled states of at least `folds` maps.
        depth: maximum depth of the trees.
        min_leaf_size: minimum number of states in a leaf.
        folds: number of trees; each is grown without every `folds`-th map.

    Returns:
        One score for each map, in the order of the maps.
    """
    found: dict[int, TreeScore] = {}
    for fold in range(folds):
        is_test = data.map_indices % folds == fold
        known = data.selected_states(~is_test)
        tree = grow_tree(known.features, known.labels, depth, min_leaf_size)
        common = int(np.bincount(known.labels).argmax())
        for group in np.unique(data.map_indices[is_test]):
            part = data.selected_states(data.map_indices == group)
            constant = float((part.labels == common).mean())
            found[int(group)] = TreeScore(part.labels.size, tree_accuracy(tree, part.features, part.labels), constant)
    return [found[group] for group in sorted(found)]


def best_tree_depth(data: LabelledStates, depths: Sequence[int], min_leaf_size: int, folds: int) -> int:
    """Return the tree depth, one of `depths`, whose trees score best in cross-validation; all maps weigh the same."""
    means = [
        float(np.mean([score.accuracy for score in cross_validation_scores(data, d, min_leaf_size, folds)]))
        for d in depths
    ]
    return depths[int(np.argmax(means))]


def tree_digest(tree: DecisionTree) -> str:
    """Return a digest that identifies a decision tree, 16 hex digits."""
    return blake2b(b"".join(part.tobytes() for part in tree), digest_size=8).hexdigest()
