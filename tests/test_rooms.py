"""The rooms of ui/: imports run one way, from a room to those below it; and nowhere in a circle.

Imports inside functions are named here, each with its reason. A name that is no longer needed fails: the list shrinks.
"""

import ast
from collections.abc import Container, Iterator
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
    ("status", "pace", "start"),
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


PACKAGES = ("sim", "agents", "ui", "cli")
EVERYWHERE = {name_of(path): path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))}
MODULES = {name: path for name, path in EVERYWHERE.items() if name.split(".")[0] == "ui"}


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements below a node. No import is in an expression, and most of a tree is expressions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield child
            yield from statements(child)


def types_only(tree: ast.Module) -> set[ast.AST]:
    """What stands under `if TYPE_CHECKING`."""
    guards = [n for n in statements(tree) if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.unparse(n.test)]
    return {inner for guard in guards for inner in statements(guard)}


def modules_in(node: ast.AST) -> Iterator[str]:
    """The modules that an import statement names."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            yield whole if whole in EVERYWHERE else str(node.module)


def imported(module: str, with_types: bool = False, among: Container[str] = MODULES) -> set[str]:
    """The modules of ui/ that one imports, at its top or inside functions."""
    return {name for name in named_in(module, with_types) if name in among}


@cache
def named_in(module: str, with_types: bool) -> frozenset[str]:
    """All that a module imports, from whomever."""
    tree = tree_of(EVERYWHERE[module])
    left_out = set() if with_types else types_only(tree)
    return frozenset(name for node in statements(tree) if node not in left_out for name in modules_in(node))


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
    assert not circles({module: imported(module, among=EVERYWHERE) for module in EVERYWHERE})


def test_two_modules_know_each_other_for_their_types_alone():
    """A crew holds walkers, and a walker its seat in one."""
    knots = circles({module: imported(module, with_types=True, among=EVERYWHERE) for module in EVERYWHERE})
    assert knots == {frozenset({"sim.crew", "sim.walker"})}


def circles(graph: dict[str, set[str]]) -> set[frozenset[str]]:
    """The knots of a graph: what can be reached from all of its own."""
    graph = turned(pruned(turned(pruned(graph))))
    reach = {start: reachable(graph, start) for start in graph}
    knots = {frozenset(b for b in reach[a] if a in reach[b]) for a in graph if a in reach[a]}
    return {knot for knot in knots if len(knot) > 1}


def turned(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Who imports whom, the other way round."""
    others: dict[str, set[str]] = {module: set() for module in graph}
    for module, imports in graph.items():
        for other in imports:
            others[other].add(module)
    return others


def pruned(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Without whoever imports nobody, and then nobody who is left: what is in no circle, mostly."""
    left = dict(graph)
    while ends := [module for module, imports in left.items() if not imports & left.keys()]:
        for module in ends:
            del left[module]
    return {module: imports & left.keys() for module, imports in left.items()}


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
    for package in PACKAGES:
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
