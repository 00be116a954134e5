"""The rooms of ui/: imports run one way, from a room to those below it, and never in a circle.

Imports inside functions are named here, each with its reason. A name that is no longer needed fails: the list shrinks.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from .conftest import ROOT

ORDER = (
    ("child", "model"),
    ("draw",),
    ("widgets",),
    ("panels", "dialogs"),
    ("film",),
    ("commands",),
    ("input",),
    ("warmup", "preparation", "safety", "app"),
    ("status", "start"),
)
FLOOR = {room: floor for floor, rooms in enumerate(ORDER) for room in rooms}

LAZY = {
    "ui/film/recording.py": "ui.film.sinks",  # codecs
    "ui/film/takes.py": "ui.film.video",  # codecs
    "sim/files/picture_map.py": "av",  # codecs
    "sim/experiments/files.py": "pyarrow",  # not everybody has it
    "cli/experiment/pools.py": "distributed submitit",  # nor these
    "cli/bench/experiment.py": "distributed",
    "cli/readme.py": "ui.commands.table ui.model.command",  # the other tables are made without a window
    "cli/bench/frames.py": "pygame ui",  # the other benchmarks run without one
}
"""Imports inside functions: file, and what it may import there."""


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {name_of(path): path for path in sorted((ROOT / "ui").rglob("*.py"))}


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def types_only(tree: ast.Module) -> set[ast.AST]:
    """What stands under `if TYPE_CHECKING`."""
    guards = [n for n in ast.walk(tree) if isinstance(n, ast.If) and names_type_checking(n.test)]
    return {inner for guard in guards for inner in ast.walk(guard)}


def names_type_checking(test: ast.expr) -> bool:
    return any("TYPE_CHECKING" in (getattr(n, "id", ""), getattr(n, "attr", "")) for n in ast.walk(test))


def modules_in(node: ast.AST) -> Iterator[str]:
    """The modules that an import statement names."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            yield whole if whole in MODULES else str(node.module)


@cache
def imported(module: str, with_types: bool = False) -> set[str]:
    """The modules of ui/ that one imports, at its top or inside functions."""
    tree = tree_of(MODULES[module])
    left_out = set() if with_types else types_only(tree)
    return {name for node in ast.walk(tree) if node not in left_out for name in modules_in(node) if name in MODULES}


def floor_of(module: str) -> int:
    return FLOOR[module.split(".")[1]] if "." in module else 0


def test_a_room_imports_only_those_below_it() -> None:
    above = {(m, other) for m in MODULES for other in imported(m) if floor_of(other) > floor_of(m)}
    assert not above


def test_what_is_imported_for_its_type_alone_lies_below_too() -> None:
    for_types = {m: imported(m, with_types=True) - imported(m) for m in MODULES}
    above = {(m, other) for m, others in for_types.items() for other in others if floor_of(other) > floor_of(m)}
    assert not above


def test_no_imports_run_in_a_circle() -> None:
    assert not circles({module: imported(module) for module in MODULES})


def circles(graph: dict[str, set[str]]) -> set[frozenset[str]]:
    """The knots of a graph: what can be reached from all of its own."""
    reach = {start: reachable(graph, start) for start in graph}
    knots = {frozenset(b for b in reach[a] if a in reach[b]) for a in graph if a in reach[a]}
    return {knot for knot in knots if len(knot) > 1}


def reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def test_few_modules_stand_at_the_top() -> None:
    assert len(list((ROOT / "ui").glob("*.py"))) <= 12


def test_circles_are_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == {frozenset({"b", "c"})}


def test_imports_inside_functions_are_those_of_optional_weights() -> None:
    found: dict[str, set[str]] = {}
    for package in ("sim", "agents", "ui", "cli"):
        for path in (ROOT / package).rglob("*.py"):
            names = set(lazy_imports(tree_of(path)))
            if names:
                found[path.relative_to(ROOT).as_posix()] = names
    unknown = {
        f"{path} imports {name}"
        for path, names in found.items()
        for name in names
        if not any(name == known or name.startswith(f"{known}.") for known in LAZY.get(path, "").split())
    }
    assert not unknown and set(LAZY) == set(found)


def lazy_imports(tree: ast.Module) -> Iterator[str]:
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Import):
                    yield from (alias.name for alias in node.names)
                elif isinstance(node, ast.ImportFrom):
                    yield str(node.module)
