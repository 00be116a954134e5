"""Imports run one way: ui -> agents -> experiments -> files -> sim. Read off the syntax trees and an interpreter.

Commands (cli/) stand above all three; those without a window must not load one. Benches and
generators may import everything, and the program does not import them.
"""

import ast
from functools import cache
from pathlib import Path

import pytest

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
DRAWING = {"pygame", "pygame_gui"}
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
            found.append((node.lineno, node.module or ""))
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


@pytest.mark.parametrize("package", ["sim", "files", "experiments", "agents"])
def test_only_ui_imports_drawing_libraries(package: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sources(package)
        for line, name in imports(path)
        if name.split(".")[0] in DRAWING
    ]
    assert not wrong


def test_only_kernels_import_numba() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in [ROOT / "main.py", *(path for package in PACKAGES for path in sources(package))]
        if path.parent.name not in ("jit", "kernels")
        for line, name in imports(path)
        if name.split(".")[0] == "numba"
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
