"""Tool that grows the decision tree of LRTA*(DT,G) from labelled walks on generated maps.

No test, experiment or benchmark uses these maps: caves of four grains, rooms of three sizes and scattered blocks of
three densities, each with sides of 96, 160 and 320 cells and seeds from 1000 on. All draws have fixed seeds, so the
same command makes the same file.

With `--maps DIR` the tree is also compared with trees of the game maps in that folder, shrunk by 3 as in experiment E9.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from random import Random

import numpy as np

from benchmarks.bench_problems import random_start_goal_pairs
from cli.arguments import CommandParser, run_module
from cli.progress import ProgressBar
from experiments.problems import shrink_map
from files.depth_tree_file import STANDARD_TREE_FILE, write_tree
from files.movingai import read_map
from sim.depth_tree import (
    DepthTree,
    LabelledStates,
    TreeScore,
    best_tree_depth,
    cross_validation_scores,
    grow_tree,
    label_states_of_maps,
    tree_accuracy,
    tree_digest,
)
from sim.grid import Grid
from sim.map_generators import generate_map

STEPS, Q, DMAX = 60, 1, 10  # parameters of `label_states_of_maps`, which are stored in the tree
KINDS = (
    *(("caves", {"grain": grain}) for grain in (2, 3, 5, 8)),
    *(("rooms", {"room": room}) for room in (5, 9, 17)),
    *(("random", {"density": density}) for density in (15, 25, 35)),
)
SIDES, SEEDS = (96, 160, 320), (1000, 1001, 1002)  # sides in cells and seeds of the generated maps
PROBLEMS = 6  # number of problems on each generated map
GAME_FOLDERS, GAME_PROBLEMS, SHRINK = ("bg512", "wc3maps512", "sc1"), 12, 3
DEPTHS, FOLDS = range(2, 13, 2), 10  # depths of trees to try, and number of folds of the cross-validation

Problem = tuple[Grid, int, int]


def main(argv: Sequence[str]) -> int:
    parser = CommandParser(
        "train_tree", "Grow the decision tree that dt-lrta uses, from generated maps.", module="tools.train_tree"
    )
    parser.add_argument("-o", "--output", default=str(STANDARD_TREE_FILE), metavar="FILE", help="where to write it")
    parser.add_argument("--maps", metavar="DIR", help="game maps to compare the tree with trees of game maps")
    args = parser.parse_args(argv)
    progress = ProgressBar()
    names = [f"{kind} {next(iter(values.values()))}" for kind, values in KINDS for _ in SIDES for _ in SEEDS]
    data = label_states_of_maps(_generated_maps(progress), Q, STEPS, DMAX)
    depth = best_tree_depth(data, DEPTHS, _min_states_per_leaf(data), FOLDS)
    tree = grow_tree(data.features, data.labels, depth, _min_states_per_leaf(data))
    origin = f"python -m tools.train_tree: {data.labels.size} states of {len(names)} maps with {PROBLEMS} problems each"
    write_tree(Path(args.output), DepthTree(tree, STEPS, Q, DMAX, {"made": origin}))
    progress.print_line(f"{origin}; depth of the tree: {depth}")
    for line in _accuracy_lines(names, cross_validation_scores(data, depth, _min_states_per_leaf(data), FOLDS)):
        progress.print_line(line)
    if args.maps:
        for line in _game_accuracy_lines(
            Path(args.maps), lambda part: tree_accuracy(tree, part.features, part.labels), progress
        ):
            progress.print_line(line)
    progress.print_line(f"{args.output}: {tree.feature.size} nodes, digest {tree_digest(tree)}")
    return 0


def _min_states_per_leaf(data: LabelledStates) -> int:
    """Return the minimum number of states in a leaf of the tree: a thousandth of all states, but at least 20."""
    return max(20, data.labels.size // 1000)


def _generated_maps(progress: ProgressBar) -> Iterator[list[Problem]]:
    for index, (kind, values) in enumerate(KINDS):
        for side in SIDES:
            for seed in SEEDS:
                progress.update_bar(f"labelling {kind} {side} {seed}", index / len(KINDS))
                grid = generate_map(kind, {**values, "width": side, "height": side, "seed": seed}).grid
                yield _random_problems(grid, PROBLEMS, f"{kind}{values}{side}{seed}")


def _random_problems(grid: Grid, count: int, seed: str) -> list[Problem]:
    pairs = random_start_goal_pairs(grid, count, Random(seed))
    return [(grid, grid.cell(*start), grid.cell(*goal)) for start, goal in pairs]


def _accuracy_lines(names: Iterable[str], scores: Iterable[TreeScore]) -> Iterator[str]:
    """Yield lines with the accuracy for each kind of map, as the mean over the maps of the kind."""
    yield "accuracy on held-out maps: tree, constant guess"
    rows = zip(names, scores, strict=True)
    for name, group in groupby(rows, key=lambda row: row[0]):
        part = [score for _, score in group]
        of_tree, of_constant = (
            np.mean([getattr(s, key) for s in part]) for key in ("accuracy", "constant_label_accuracy")
        )
        yield f"  {name}: {of_tree:.3f}, {of_constant:.3f}"


def _game_accuracy_lines(
    folder: Path, guess: Callable[[LabelledStates], float], progress: ProgressBar
) -> Iterator[str]:
    """Yield a line for each game map: accuracy of the tree, of a tree of the other maps, and of a constant guess."""
    files = sorted(file for name in GAME_FOLDERS for file in (folder / name).glob("*.map"))
    if len(files) < 2:
        yield f"{folder}: expected at least two maps in {', '.join(GAME_FOLDERS)}, got {len(files)}"
        return
    data = label_states_of_maps(_game_maps(files, progress), Q, STEPS, DMAX)
    trees = [cross_validation_scores(data, depth, _min_states_per_leaf(data), len(files)) for depth in DEPTHS]
    best = max(trees, key=lambda scores: np.mean([score.accuracy for score in scores]))
    yield "accuracy on game maps: this tree, a tree of the other game maps, constant guess"
    for index, (file, score) in enumerate(zip(files, best, strict=True)):
        part = data.selected_states(data.map_indices == index)
        yield f"  {file.stem}: {guess(part):.3f}, {score.accuracy:.3f}, {score.constant_label_accuracy:.3f}"


def _game_maps(files: Sequence[Path], progress: ProgressBar) -> Iterator[list[Problem]]:
    for index, file in enumerate(files):
        progress.update_bar(f"labelling {file.stem}", index / len(files))
        yield _random_problems(shrink_map(read_map(file), SHRINK), GAME_PROBLEMS, file.stem)


if __name__ == "__main__":
    run_module(main)
