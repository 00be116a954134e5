"""Stored results of experiments survive changes of comments and local names, and no other change of the sources."""

import ast
import random
from pathlib import Path

import pytest

from experiments.code_version import canonical_source
from sim.system.program import PROGRAM_FOLDER

FUNCTION = """
LIMIT = 3

def walk(grid, steps=1):
    total = 0
    for cell in grid:
        cost = steps * cell
        total += min(LIMIT, cost)
    def add(other):
        nonlocal total
        total = total + other
        return total
    return add(sum(cell for cell in grid if cell))
"""

SAME = [
    ("total", "cost_so_far"),  # a local that a nested function changes
    ("cost", "price"),
    ("    total = 0\n", "    total = 0  # the sum so far\n\n"),
    ("def walk(grid, steps=1):\n", 'def walk(grid, steps=1):\n    """Walk over the grid."""\n'),
    ("\nLIMIT", '"""A module."""\nLIMIT'),
    ("LIMIT = 3\n", 'LIMIT = 3\n"""The most that one cell may cost."""\n'),
    ("sum(cell for cell in grid if cell)", "sum(each for each in grid if each)"),
    ("total += min(LIMIT, cost)", "total += (min(\n            LIMIT, cost))"),
]

DIFFERENT = [
    ("LIMIT = 3", "LIMIT = 4"),
    ("LIMIT", "MAX"),
    ("steps", "count"),  # a parameter: callers may name it
    ("def walk", "def run"),
    ("def add", "def plus"),
    ("steps * cell", "steps + cell"),
    ("steps * cell", "cell * steps"),
    ("steps=1", "steps=2"),
    ("        nonlocal total\n", ""),
    ("if cell)", "if grid)"),
    ("min(LIMIT, cost)", "min(LIMIT, total)"),
    ("min(LIMIT, cost)", "max(LIMIT, cost)"),
    ("return total\n", "return other\n"),
    ("    total = 0\n", ""),
]


@pytest.mark.parametrize(("old", "new"), SAME)
def test_canonical_source_ignores_docstrings_and_local_names(old: str, new: str) -> None:
    changed = FUNCTION.replace(old, new)
    assert changed != FUNCTION
    assert canonical_source(changed) == canonical_source(FUNCTION)


@pytest.mark.parametrize(("old", "new"), DIFFERENT)
def test_canonical_source_reflects_all_other_changes(old: str, new: str) -> None:
    changed = FUNCTION.replace(old, new)
    assert changed != FUNCTION
    assert canonical_source(changed) != canonical_source(FUNCTION)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(y):\n    x = y\n    return g", "def f(y):\n    g = y\n    return g"),  # global or local
        ("def f(y):\n    return [x for x in x]", "def f(y):\n    return [z for z in z]"),  # the iterable is global
        ("def f():\n    x = 1\n    def g(a=x):\n        x = 2", "def f():\n    x = 1\n    def g(a=y):\n        x = 2"),
        ("def f(a):\n    b = 1; c = a\n    return b", "def f(a):\n    b = 1; c = a\n    return c"),
        ("class C:\n    x = 1", "class C:\n    y = 1"),  # attributes are not local variables
        (
            "def f(n):\n    match n:\n        case [a, b]: return a",
            "def f(n):\n    match n:\n        case [a, b]: return b",
        ),
    ],
)
def test_canonical_source_distinguishes_swapped_variables(one: str, other: str) -> None:
    assert canonical_source(one) != canonical_source(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "try:\n    pass\nexcept E as e:\n    print(e)",
            "try:\n    pass\nexcept E as e:\n    print(e)  # printed",
        ),
        (
            "def f():\n    try:\n        g()\n    except E as error:\n        print(error)",
            "def f():\n    try:\n        g()\n    except E as fault:\n        print(fault)",
        ),
        (
            "def f(n):\n    match n:\n        case {1: a, **rest}: return a, rest",
            "def f(n):\n    match n:\n        case {1: b, **more}: return b, more",
        ),
        ("def f(a):\n    return [n := g(x) for x in a], n", "def f(a):\n    return [m := g(y) for y in a], m"),
        ("def f(a):\n    k = 2\n    return lambda b: b + k", "def f(a):\n    j = 2\n    return lambda b: b + j"),
    ],
)
def test_canonical_source_renames_locals_of_every_binding_kind(one: str, other: str) -> None:
    assert canonical_source(one) == canonical_source(other)


def test_changed_constant_changes_canonical_source() -> None:
    """Change one number in some of the sources that results depend on; each must give another text."""
    chosen = random.Random(7)
    sources = sorted((PROGRAM_FOLDER / "sim" / "kernels").glob("*.py")) + sorted(
        (PROGRAM_FOLDER / "agents").glob("*.py")
    )
    noticed = 0
    for source in chosen.sample(sources, 12):
        text = source.read_text(encoding="utf-8")
        numbers = [
            n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Constant) and type(n.value) in (int, float)
        ]
        if not numbers:
            continue
        changed = _source_with_incremented_number(text, chosen.choice(numbers))
        assert canonical_source(changed) != canonical_source(text), source
        noticed += 1
    assert noticed >= 8


def _source_with_incremented_number(text: str, number: ast.Constant) -> str:
    lines = text.encode().split(b"\n")
    row = number.lineno - 1
    lines[row] = lines[row][: number.col_offset] + b"971" + lines[row][number.end_col_offset :]
    return b"\n".join(lines).decode()


def test_code_version_depends_only_on_agents_and_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sources that only store or show results do not count."""
    from experiments import code_version as module

    for file in ("sim/world.py", "experiments/store.py", "agents/tba.py"):
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("X = 1\n", encoding="utf-8")
    monkeypatch.setattr(module, "PROGRAM_FOLDER", tmp_path)
    versions = []
    for file in ("sim/world.py", "experiments/store.py", "agents/tba.py"):
        (tmp_path / file).write_text("X = 2\n", encoding="utf-8")
        versions.append(module.code_version.__wrapped__())
    assert versions[0] == versions[1] != versions[2]
