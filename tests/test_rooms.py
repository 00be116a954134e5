"""The rooms of ui/: imports run one way, from a room to those below it; and nowhere in a circle.

Imports inside functions are named here, each with its reason. A name that is no longer needed fails: the list shrinks.
"""

import ast
from collections.abc import Container, Iterator
from functools import cache
from pathlib import Path

from .conftest import ROOT

ORDER = (
    ("model",),
    ("draw",),
    ("maps",),
    ("widgets",),
    ("panels", "dialogs"),
    ("film",),
    ("commands",),
    ("input",),
    ("warmup", "kernel_preparation", "error_recovery", "app"),
    ("status_file", "frame_pacer", "start"),
)
FLOOR = {room: floor for floor, rooms in enumerate(ORDER) for room in rooms}

LAZY = {
    "ui/film/recording_controller.py": "ui.film.recorder",  # codecs
    "ui/film/recording_files.py": "ui.film.video_encoding",  # codecs
    "files/picture_map.py": "av",  # codecs
    "experiments/export.py": "pyarrow",  # not everybody has it
    "cli/experiment/pools.py": "distributed submitit",  # nor these
    "benchmarks/experiment.py": "distributed",
    "tools/readme.py": "ui.commands.command_table ui.model.ui_command",  # the other tables are made without a window
    "benchmarks/frames.py": "pygame ui",  # the other benchmarks run without one
}
"""Imports inside functions: file, and what it may import there."""


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


PACKAGES = ("sim", "files", "experiments", "agents", "ui", "cli", "benchmarks", "tools")
EVERYWHERE = {module_name(path): path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))}
MODULES = {name: path for name, path in EVERYWHERE.items() if name.split(".")[0] == "ui"}


@cache
def parse_module(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements below a node. No import is in an expression, and most of a tree is expressions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield child
            yield from statements(child)


def type_checking_nodes(tree: ast.Module) -> set[ast.AST]:
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


def imported_modules(module: str, with_types: bool = False, among: Container[str] = MODULES) -> set[str]:
    """The modules of ui/ that one imports, at its top or inside functions."""
    return {name for name in all_imports(module, with_types) if name in among}


@cache
def all_imports(module: str, with_types: bool) -> frozenset[str]:
    """All that a module imports, from whomever."""
    tree = parse_module(EVERYWHERE[module])
    left_out = set() if with_types else type_checking_nodes(tree)
    return frozenset(name for node in statements(tree) if node not in left_out for name in modules_in(node))


def layer_of(module: str) -> int:
    return FLOOR[module.split(".")[1]] if "." in module else 0


def test_ui_modules_import_only_lower_layers() -> None:
    above = {(m, other) for m in MODULES for other in imported_modules(m) if layer_of(other) > layer_of(m)}
    assert not above


def test_type_only_imports_come_from_lower_layers() -> None:
    for_types = {m: imported_modules(m, with_types=True) - imported_modules(m) for m in MODULES}
    above = {(m, other) for m, others in for_types.items() for other in others if layer_of(other) > layer_of(m)}
    assert not above


def test_there_are_no_import_cycles() -> None:
    assert not import_cycles({module: imported_modules(module, among=EVERYWHERE) for module in EVERYWHERE})


def test_only_one_pair_of_modules_has_a_type_import_cycle():
    """A world creates its editor, which changes the world."""
    knots = import_cycles(
        {module: imported_modules(module, with_types=True, among=EVERYWHERE) for module in EVERYWHERE}
    )
    assert knots == {frozenset({"sim.world", "sim.world_editor"})}


def import_cycles(graph: dict[str, set[str]]) -> set[frozenset[str]]:
    """The knots of a graph: what can be reached from all of its own."""
    graph = reversed_graph(without_leaves(reversed_graph(without_leaves(graph))))
    reach = {start: reachable(graph, start) for start in graph}
    knots = {frozenset(b for b in reach[a] if a in reach[b]) for a in graph if a in reach[a]}
    return {knot for knot in knots if len(knot) > 1}


def reversed_graph(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Who imports whom, the other way round."""
    others: dict[str, set[str]] = {module: set() for module in graph}
    for module, imports in graph.items():
        for other in imports:
            others[other].add(module)
    return others


def without_leaves(graph: dict[str, set[str]]) -> dict[str, set[str]]:
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


def test_ui_has_few_top_level_modules() -> None:
    assert len(list((ROOT / "ui").glob("*.py"))) <= 12


def test_import_cycles_finds_a_cycle() -> None:
    assert import_cycles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == {frozenset({"b", "c"})}


def test_lazy_imports_are_limited_to_the_listed_modules() -> None:
    found: dict[str, set[str]] = {}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            names = set(lazy_imports(parse_module(path)))
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
