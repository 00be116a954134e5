"""Imports run one way: ui -> agents -> experiments -> files -> sim. Read off the syntax trees and an interpreter.

Commands (cli/) stand above all three; those without a window must not load one. Benches and
generators may import everything, and the program does not import them.
"""

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest

from agents.registry import AGENT_SPECS_BY_KEY

from .conftest import ROOT, run_python

SHIPPED = ("sim", "files", "experiments", "agents", "ui", "cli")
PACKAGES = (*SHIPPED, "benchmarks", "tools")
ALLOWED = {
    "sim": {"sim"},
    "files": {"files", "sim"},
    "experiments": {"experiments", "files", "sim"},
    "agents": {"agents", "files", "sim"},
    "ui": {"ui", "agents", "experiments", "files", "sim"},
    "cli": {*SHIPPED},
    "benchmarks": {*SHIPPED, "benchmarks"},
    "tools": {*PACKAGES},
}
PACKAGE_ORDER = (
    "sim.system",
    "sim.jit",
    "sim.kernels",
    "sim",
    "sim.batching",
    "sim.time",
    "files",
    "experiments",
    "agents",
    "ui.model",
    "ui.draw.kernels",
    "ui.draw",
    "ui.draw.layers",
    "ui.maps",
    "ui.widgets",
    "ui.panels",
    "ui.dialogs",
    "ui.film",
    "ui.commands",
    "ui.input",
    "ui",
    "cli",
    "cli.experiment",
    "cli.report",
    "benchmarks",
    "tools",
)
"""All packages; a package is a folder without its subfolders. Each imports only packages that are before it."""
DRAWING = {"pygame"}
ENDS_ENDLESS_CALLS = {"watchdog.py"}  # it must not decide what an agent does, but whether it ever comes back


def sources(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


@cache
def imports(path: Path) -> list[tuple[int, str]]:
    """Line and absolute name of every import in a file, also of those inside functions."""
    found: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            found += [(node.lineno, name) for name in sorted(modules_of_import(node))]
    return found


def modules_of_import(node: ast.ImportFrom) -> set[str]:
    """Return the modules that `from ... import ...` names: submodules, or else the module that defines the names."""
    module = str(node.module)
    folder = ROOT.joinpath(*module.split("."))
    return {
        f"{module}.{alias.name}"
        if (folder / alias.name).is_dir() or (folder / f"{alias.name}.py").is_file()
        else module
        for alias in node.names
    }


def package_of_module(module: str) -> str:
    """Return the package (folder) of a module. `module`: dotted name; the name of a package stands for its __init__."""
    return module if ROOT.joinpath(*module.split(".")).is_dir() else module.rpartition(".")[0]


@cache
def package_imports() -> dict[str, dict[str, str]]:
    """Return for each package the packages that it imports, each with one of the imports."""
    found: dict[str, dict[str, str]] = {}
    for path in (path for package in PACKAGES for path in sources(package)):
        importer = ".".join(path.parent.relative_to(ROOT).parts)
        packages = found.setdefault(importer, {})
        for line, name in imports(path):
            imported = package_of_module(name) if name.split(".")[0] in PACKAGES else importer
            if imported != importer:
                packages[imported] = f"{path.relative_to(ROOT)}:{line} imports {name}"
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_package_imports_only_lower_packages(package: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in sources(package)
        for line, name in imports(path)
        if name.split(".")[0] in {*PACKAGES, "main", "tests"} - ALLOWED[package]
    ]
    assert not wrong


def test_packages_do_not_import_each_other_in_cycles() -> None:
    try:
        TopologicalSorter(package_imports()).prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1]  # each package is imported by the next one
        steps = [package_imports()[importer][imported] for imported, importer in pairwise(cycle)]
        pytest.fail("\n".join(["packages import each other:", *steps]))


def test_each_package_imports_only_packages_before_it_in_the_order() -> None:
    assert set(package_imports()) == set(PACKAGE_ORDER)
    wrong = [
        text
        for importer, packages in package_imports().items()
        for imported, text in packages.items()
        if PACKAGE_ORDER.index(imported) >= PACKAGE_ORDER.index(importer)
    ]
    assert not wrong


@pytest.mark.parametrize("package", ["sim", "files", "experiments", "agents"])
def test_only_ui_imports_drawing_libraries(package: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sources(package)
        for line, name in imports(path)
        if name.split(".")[0] in DRAWING
    ]
    assert not wrong


@pytest.mark.parametrize("package", ["sim", "files", "experiments"])
def test_packages_below_agents_name_no_agent(package: str) -> None:
    """Agents are found by their specs, so that a new agent needs no change elsewhere."""
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno} names {node.value}"
        for path in sources(package)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value in AGENT_SPECS_BY_KEY
    ]
    assert not wrong


def test_simulation_knows_no_file_formats() -> None:
    """Packages above convert the state of the simulation to files. Compilers and caches have files of their own."""
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in sources("sim")
        if path.parent.name not in ("jit", "system") and path.name != "prepared_data.py"
        for line, name in imports(path)
        if name.split(".")[0] in {"csv", "json", "tarfile", "tomllib", "xml", "yaml", "zipfile", "zlib", "PIL"}
    ]
    assert not wrong


def test_only_kernels_import_numba() -> None:
    """All knowledge about numba is in sim/jit. The modules of kernels import the decorator from there."""
    wrong = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in [ROOT / "main.py", *(path for package in PACKAGES for path in sources(package))]
        if path.parent != ROOT / "sim" / "jit"
        for line, name in imports(path)
        if name.split(".")[0] in ("numba", "llvmlite")
    ]
    assert not wrong


def test_drawing_kernels_import_only_the_decorators() -> None:
    found = {name for path in sources("ui/draw/kernels") for _, name in imports(path) if name.startswith("sim.jit.")}
    assert found == {"sim.jit.decorators"}


DOCUMENTED_BY_NUMBA = {"numba", "numba.extending"}
GUARDS = {"IS_NUMBA_SUPPORTED", "HAS_INTRINSICS"}


def modules_with_numba_internals() -> set[str]:
    """Modules that import something of numba which its documentation does not describe, or that import such modules."""
    internal = {
        f"sim.jit.{path.stem}"
        for path in sources("sim/jit")
        if any(
            name.split(".")[0] in ("numba", "llvmlite") and name not in DOCUMENTED_BY_NUMBA for _, name in imports(path)
        )
    }
    assert {"sim.jit.cache", "sim.jit.inner", "sim.jit.intrinsics", "sim.jit.table_indexing"} == internal
    return internal


def unguarded_imports(path: Path) -> list[str]:
    """Names of the modules that a file imports, except those imported under an `if` with one of the guards."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    guarded = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id in GUARDS
        for statement in node.body
        for inner in ast.walk(statement)
    }
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and id(node) not in guarded]
    return [name for node in nodes for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))]


def test_numba_internals_are_imported_only_after_the_version_check() -> None:
    internal = modules_with_numba_internals()
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for package in PACKAGES
        for path in sources(package)
        if f"sim.jit.{path.stem}" not in internal
        for name in unguarded_imports(path)
        if name in internal
    ]
    assert not wrong


def test_simulation_does_not_import_clocks_or_threads() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for package in ("sim", "files", "experiments", "agents")
        for path in sources(package)
        for line, name in imports(path)
        if name.split(".")[0] in {"time", "datetime", "threading"} and path.name not in ENDS_ENDLESS_CALLS
    ]
    assert not wrong


def test_headless_commands_import_no_ui_modules() -> None:
    modules = "files.scenario, agents.registry, main, cli.run, cli.solve, cli.agents, tools.readme"
    loaded = run_python(f"import sys, {modules}; print(*sys.modules)").split()
    assert not DRAWING & set(loaded)
    assert not [name for name in loaded if name.split(".")[0] == "ui"]


def test_main_module_is_short() -> None:
    assert len((ROOT / "main.py").read_text(encoding="utf-8").splitlines()) < 120
