"""`python -m cli.train_tree`: grow the decision tree of LRTA*(DT,G) from labelled walks on generated maps.

The maps are those of no test, experiment or benchmark: caves, rooms and scattered blocks of 96 x 96 cells with seeds
from 1000 on. Everything is drawn with fixed seeds, so the same command makes the same file.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from cli.arguments import Arguments, run_module
from cli.bench.problems import drawn_ends
from cli.progress import Progress
from sim.depth_tree import STANDARD, DepthTree, cross_validated_depth, digest, grow, label_problems, write_tree
from sim.generate import generate
from sim.grid import Grid

STEPS, Q, DMAX = 60, 1, 10
KINDS = (("caves", {"grain": 3}), ("rooms", {"room": 9}), ("random", {"density": 25}))
SIDE, MAPS, PROBLEMS, FIRST_SEED = 96, 4, 10, 1000  # of each kind so many maps with so many problems
DEPTHS, FOLDS = range(1, 13), 10


def main(argv: Sequence[str]) -> int:
    parser = Arguments("train_tree", "Grow the decision tree that dt-lrta uses, from generated maps.", is_module=True)
    parser.add_argument("-o", "--output", default=str(STANDARD), metavar="FILE", help="where to write it")
    given = parser.parse_args(argv)
    progress = Progress()
    data = label_problems(_problems(progress), Q, STEPS, DMAX)
    least_leaf = max(20, data.labels.size // 100)
    depth, scores = cross_validated_depth(data, DEPTHS, least_leaf, FOLDS)
    tree = grow(data.features, data.labels, depth, least_leaf)
    made = f"python -m cli.train_tree: {data.labels.size} states of {int(data.problem[-1]) + 1} problems"
    write_tree(Path(given.output), DepthTree(tree, STEPS, Q, DMAX, {"made": made}))
    shares = [round(float((data.labels == d).mean()), 3) for d in range(1, DMAX + 1)]
    progress.say(f"{made}; labels 1 to {DMAX}: {shares}")
    progress.say(f"cross-validated by depth of tree: {[round(float(score), 3) for score in scores]}; chosen: {depth}")
    progress.say(f"{given.output}: {tree.feature.size} nodes, digest {digest(tree)}")
    return 0


def _problems(progress: Progress) -> Iterator[tuple[Grid, int, int]]:
    for kind, values in KINDS:
        for number in range(MAPS):
            seed = FIRST_SEED + number
            progress.show(f"labelling {kind} {seed}", number / MAPS)
            grid = generate(kind, {**values, "width": SIDE, "height": SIDE, "seed": seed}).grid
            for start, goal in drawn_ends(grid, PROBLEMS, Random(f"{kind} {seed}")):
                yield grid, grid.cell(*start), grid.cell(*goal)


if __name__ == "__main__":
    run_module(main)
