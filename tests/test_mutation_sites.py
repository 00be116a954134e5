"""Random mutants: where they are put, which tests they are tried against, and what is kept of a run."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import program_copy, random_mutants
from tests.mutation_sites import Site, all_sites, changes_program, pick, sites_of
from tests.program_copy import ROOT
from tests.random_mutants import Kept, RecordedTest, Verdict

SOURCE = '''"""A module: 1."""
LIMIT = 7


def walk(cells, most: int = 3) -> int:
    """Return 2."""
    assert most > 0, "none"
    found = [c for c in cells[1:] if c]
    if most <= 4 and found:
        raise ValueError(f"{most + 1} of {5}")
    cells.sort()
    size = 8  # no mutant: the size of a cache
    self.count += 1
    return found if len(found) == most else True


class Walk:
    def __repr__(self):
        return str(9 + 1)
'''


def mutations_of(source: str) -> set[tuple[str, str, str]]:
    """Return kind, old and new text of every site."""
    data = source.encode()
    return {(site.kind, data[site.begin : site.end].decode(), site.new) for site in sites_of("sim/x.py", data)}


def test_all_kinds_of_mutation_sites_are_found() -> None:
    assert mutations_of(SOURCE) == {
        ("off by one", "1", "2"),
        ("off by one", "1", "0"),
        ("negated", "c", "not (c)"),
        ("negated", "most <= 4 and found", "not (most <= 4 and found)"),
        ("comparison", "<=", "<"),
        ("constant", "4", "5"),
        ("dropped", 'raise ValueError(f"{most + 1} of {5}")', "pass"),
        ("dropped", "cells.sort()", "pass"),
        ("dropped", "self.count += 1", "pass"),
        ("constant", "1", "2"),
        ("negated", "len(found) == most", "not (len(found) == most)"),
        ("comparison", "==", "!="),
        ("constant", "True", "False"),
    }


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a is not b", "a is b"),
        ("a not in b", "a in b"),
        ("isin in inside", "isin not in inside"),
        ("(a) < (b)", "(a) <= (b)"),
        ("é > b", "é >= b"),
    ],
)
def test_comparison_mutation_replaces_only_the_operator(before: str, after: str) -> None:
    source = f"def f(a, b):\n    return {before}\n".encode()
    (site,) = (site for site in sites_of("x.py", source) if site.kind == "comparison")
    assert site.apply(source).decode() == f"def f(a, b):\n    return {after}\n"


def test_ends_of_slices_and_ranges_are_mutated_by_one() -> None:
    texts = {new for kind, _, new in mutations_of("def f(a, n):\n    return a[:n], range(n)\n") if kind == "off by one"}
    assert texts == {"(n) + 1", "(n) - 1"}


def test_minus_one_in_reshape_is_not_mutated() -> None:
    assert mutations_of("def f(a):\n    return a[:, 3].reshape(-1, 4)\n") == {
        ("constant", "3", "4"),
        ("constant", "4", "5"),
    }


def test_seed_picks_reproducible_mutants_that_change_the_program() -> None:
    first = pick(ROOT, 60, 3)
    assert first == pick(ROOT, 60, 3) != pick(ROOT, 60, 4) and first[:10] == pick(ROOT, 10, 3)
    assert len(set(first)) == 60 and len({site.kind for site in first}) == 5
    assert all(changes_program(site, (ROOT / site.path).read_bytes()) for site in first)


def test_only_program_files_have_mutation_sites() -> None:
    assert {site.path.split("/")[0] for site in all_sites(ROOT)} == {"sim", "files", "experiments", "agents", "ui"}
    assert all(site.path != "sim/jit/decorators.py" for site in all_sites(ROOT))


def test_fastest_tests_covering_the_line_are_chosen() -> None:
    site = next(site for site in sites_of("sim/x.py", SOURCE.encode()) if site.new == "<")
    on, off = {"sim/x.py": 1 << site.first_line}, {"sim/x.py": 1 << (site.first_line + 1)}
    tests = [RecordedTest("slow", 5.0, on), RecordedTest("fast", 1.0, on), RecordedTest("other", 0.1, off)]
    assert [test.id for test in random_mutants.tests_of(site, tests)] == ["fast", "slow"]
    too_slow = RecordedTest("endless", random_mutants.MAX_TEST_S + 1, on)
    many = [RecordedTest(str(n), 10.0, on) for n in range(100)]
    assert random_mutants.tests_of(site, [too_slow]) == []
    assert sum(test.seconds for test in random_mutants.tests_of(site, many)) == random_mutants.MAX_TESTS_S


def test_verdicts_are_stored_until_forgotten(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "seed.jsonl")
    kept.keep(Verdict(3, False, 1.5, "4 tests pass"))
    kept.keep(Verdict(4, True, 0.5, "tests/test_x.py::test_a"))
    again = Kept(tmp_path / "seed.jsonl")
    assert sorted(again.verdicts) == [3, 4] and again.verdicts[3].note == "4 tests pass"
    again.forget([3])
    assert sorted(again.verdicts) == [4]


# --- the plugin -------------------------------------------------------------------------------------------


def write_small_program(folder: Path) -> Path:
    """Write a program of one module with three tests; the plugin finds its root beside it."""
    (folder / "sim").mkdir()
    (folder / "sim" / "__init__.py").touch()
    (folder / "sim" / "walk.py").write_text(
        "def double(n):\n    if n > 2:\n        return n + n\n    return 2 * n\n", encoding="utf-8"
    )
    (folder / "tests").mkdir()
    (folder / "tests" / "__init__.py").touch()
    plugin = (ROOT / "tests" / "mutation_plugin.py").read_text(encoding="utf-8")
    (folder / "tests" / "mutation_plugin.py").write_text(plugin, encoding="utf-8")
    (folder / "tests" / "test_walk.py").write_text(
        "from sim.walk import double\n"
        "def test_small(): assert double(1) == 2\n"
        "def test_large(): assert double(3) == 6\n"
        "def test_wrong(): assert double(3) == 7\n",
        encoding="utf-8",
    )
    (folder / "pyproject.toml").write_text("[tool.pytest.ini_options]\nmarkers = ['slow: x']\n", encoding="utf-8")
    return folder


def run_plugin(root: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    stops = ["-x"] if "BACKMOVE_RUN_TESTS" in variables else []
    arguments = ["-vv", *stops, "-p", "tests.mutation_plugin", "tests/test_walk.py"]
    done = program_copy.run_tests(root, arguments, {**os.environ, **variables}, 120)
    assert done is not None
    return done


def test_plugin_records_executed_lines_of_passing_tests(tmp_path: Path) -> None:
    root, to = write_small_program(tmp_path), tmp_path / "lines.jsonl"
    run_plugin(root, BACKMOVE_RECORD_LINES=str(to))
    rows = [json.loads(line) for line in to.read_text(encoding="utf-8").splitlines()]
    lines = {row["test"].split("::")[1]: row["lines"] for row in rows if "test" in row}
    masks = {name: {path: int(mask, 16) for path, mask in found.items()} for name, found in lines.items()}
    assert masks["test_small"] == {"sim/walk.py": 1 << 2 | 1 << 4}
    assert masks["test_large"] == {"sim/walk.py": 1 << 2 | 1 << 3}
    assert masks["test_wrong"] == {}, "a test that fails without a mutant says nothing"


def test_recording_skips_a_test_that_takes_too_long(tmp_path: Path) -> None:
    (tmp_path / "0").mkdir()
    root, file = write_small_program(tmp_path / "0"), tmp_path / "0" / "tests" / "test_walk.py"
    plugin = root / "tests" / "mutation_plugin.py"
    plugin.write_text(plugin.read_text(encoding="utf-8").replace("MAX_RECORDED_S = 12.0", "MAX_RECORDED_S = 0.5"))
    endless = "def test_endless():\n    while True: pass\n"
    file.write_text(endless + file.read_text(encoding="utf-8"), encoding="utf-8")
    random_mutants._record(root, file, tmp_path / "lines.jsonl")
    recorded = [test.id.split("::")[1] for test in random_mutants._read(tmp_path / "lines.jsonl")]
    assert recorded == ["test_small", "test_large"]


def test_chosen_tests_run_in_order_until_the_first_failure(tmp_path: Path) -> None:
    root, wanted = write_small_program(tmp_path), tmp_path / "wanted.json"
    names = ["test_large", "test_wrong", "test_small"]
    wanted.write_text(json.dumps([[f"tests/test_walk.py::{name}", 0.1] for name in names]), encoding="utf-8")
    done = run_plugin(root, BACKMOVE_RUN_TESTS=str(wanted))
    assert done.returncode == 1 and "test_small" not in done.stdout
    assert done.stdout.index("test_large") < done.stdout.index("test_wrong")


def test_mutants_of_lines_executed_at_import_are_tried_with_the_tests_of_the_module() -> None:
    executed, imported = (Site("sim/walk.py", 0, 1, "", "dropped", line, line) for line in (5, 2))
    tests = [
        RecordedTest("test_slow", 3.0, {"sim/walk.py": 1 << 5}),
        RecordedTest("test_fast", 1.0, {"sim/walk.py": 1 << 7}),
    ]
    other = RecordedTest("test_other", 0.1, {"sim/run.py": 1 << 2})
    assert [test.id for test in random_mutants.tests_of(executed, [*tests, other])] == ["test_slow"]
    assert [test.id for test in random_mutants.tests_of(imported, [*tests, other])] == ["test_fast", "test_slow"]


def test_endless_test_is_counted_as_a_failed_run(tmp_path: Path) -> None:
    root, wanted = write_small_program(tmp_path), tmp_path / "wanted.json"
    (root / "tests" / "test_walk.py").write_text("def test_endless():\n    while True: pass\n", encoding="utf-8")
    wanted.write_text(json.dumps([["tests/test_walk.py::test_endless", -5.9]]), encoding="utf-8")
    assert run_plugin(root, BACKMOVE_RUN_TESTS=str(wanted)).returncode not in (0, 5)


def test_copy_of_the_program_has_every_file_at_its_top(tmp_path: Path) -> None:
    """Tests read some of them, and would fail there without any fault in the program."""
    root = program_copy.copy_program(tmp_path)
    assert {path.name for path in ROOT.iterdir() if path.is_file()} == {p.name for p in root.iterdir() if p.is_file()}


def test_mutants_help_lists_its_options() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.mutants", "--help"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "--random" in done.stdout and "--seed" in done.stdout
