"""Decision trees for the depth of the lookahead (sim/depth_tree.py) as JSON files."""

import json
from functools import cache
from pathlib import Path

import numpy as np

from sim.depth_tree import DepthTree
from sim.kernels.depth_control import FEATURE_COUNT, DecisionTree
from sim.params import ConfigError
from sim.system.program import ASSETS_FOLDER

STANDARD_TREE_FILE = ASSETS_FOLDER / "depth-tree.json"
_TREE_FIELDS = ("feature", "threshold", "left", "right", "depth")


def write_tree(path: Path, tree: DepthTree) -> None:
    """Write a decision tree to a JSON file, with one list per line."""
    parts = {name: getattr(tree.decision_tree, name).tolist() for name in _TREE_FIELDS}
    head = {
        "format": "backmove-depth-tree",
        "n": tree.steps,
        "q": tree.presearch_depth,
        "dmax": tree.dmax,
        **tree.file_metadata,
    }
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in {**head, **parts}.items()]
    path.write_text("{\n  " + ",\n  ".join(lines) + "\n}\n", encoding="utf-8")


def read_tree(path: Path) -> DepthTree:
    """Read a decision tree from a JSON file and check it.

    Children must come after their parents in the file, so that every walk down the tree ends in a leaf.

    Raises:
        ConfigError: the file is not a valid tree.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        types = (np.int32, np.float64, np.int32, np.int32, np.int32)
        tree = DecisionTree(*(np.array(data[name], kind) for name, kind in zip(_TREE_FIELDS, types, strict=True)))
        found = DepthTree(tree, int(data["n"]), int(data["q"]), int(data["dmax"]), {"made": data.get("made", "")})
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path}: expected a depth tree: {error}") from None
    nodes = np.arange(tree.feature.size)
    inner = tree.feature >= 0
    children = np.concatenate([tree.left[inner] - nodes[inner], tree.right[inner] - nodes[inner]])
    is_sound = nodes.size and all(part.size == nodes.size for part in tree) and (tree.feature < FEATURE_COUNT).all()
    if not is_sound or (children <= 0).any() or max(tree.left.max(), tree.right.max()) >= nodes.size:
        raise ConfigError(f"{path}: expected a depth tree whose children come after their parents")
    if (tree.depth < 1).any() or found.steps < 1 or found.presearch_depth < 1 or found.dmax < 1:
        raise ConfigError(f"{path}: expected depths, n, q and dmax of at least 1")
    return found


@cache
def shipped_tree() -> DepthTree:
    """Return the decision tree that comes with the program, assets/depth-tree.json."""
    return read_tree(STANDARD_TREE_FILE)
