"""Benches: what they measure is right, and where it is written. No test looks at the time taken."""

import csv
import importlib.util
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

import benchmarks
from benchmarks import crowd, databases, growth, memory, scaling, search, ticks
from benchmarks.bench_problems import MapProblem, ProblemSet, grouped_by_map, load_problems
from benchmarks.bench_setup import BenchSetup
from benchmarks.plain_astar import FramedMap, astar_cost
from benchmarks.table import BenchRow, BenchTable, BenchTarget, table_lines, write_csv_file
from cli.progress import ProgressBar
from experiments.problems import random_start_goal_pairs
from sim.grid import Grid
from sim.map_generators import generate_map
from sim.params import ConfigError

from .conftest import SHARED_MAPS

SMALL = generate_map("random", {"width": 48, "height": 48, "density": 25, "seed": 3}).grid
PROBLEMS = tuple(
    MapProblem("bg512", "small", SMALL, SMALL.xy(start), SMALL.xy(goal), None)
    for start, goal in random_start_goal_pairs(SMALL, 2, Random("small"))
)


@pytest.fixture
def setup() -> BenchSetup:
    return BenchSetup(ProblemSet(PROBLEMS, is_from_list=False), 1, ProgressBar())


def test_control_and_kernels_expand_the_same_cells(setup: BenchSetup) -> None:
    batches = grouped_by_map(PROBLEMS)
    assert len(batches) == 1
    for problem in PROBLEMS:
        assert search.kernel_solver([problem])() == search.control_solver([problem])() > 0
    assert sum(search.kernel_solver([p])() for p in PROBLEMS) == search.kernel_solver(batches[0])()


def test_control_astar_finds_optimal_paths_without_cutting_corners() -> None:
    board = FramedMap(Grid.from_text_rows(["...", ".@.", "..."]))
    assert astar_cost(board, board.cell(0, 0), board.cell(2, 2))[0] == 4.0
    walled = FramedMap(Grid.from_text_rows([".@.", ".@.", ".@."]))
    assert astar_cost(walled, walled.cell(0, 0), walled.cell(2, 0)) == (float("inf"), 3)


def test_wrong_listed_path_length_is_detected() -> None:
    wrong = replace(PROBLEMS[0], optimal=1.0)
    with pytest.raises(AssertionError):
        search.kernel_solver([wrong])()
    with pytest.raises(AssertionError):
        search.control_solver([wrong])()


def test_search_bench_has_a_row_per_set_and_notes_total_expansions(setup: BenchSetup) -> None:
    table = search.run(setup)
    assert [row.name for row in table.rows] == ["bg512", "bg512, a world each"]
    assert table.rows[0].ratio == table.rows[0].measured / (table.rows[0].control or 0.0)
    assert table.rows[0].target is None, "targets hold for the listed problems only"
    assert any(f"{search.kernel_solver(list(PROBLEMS))():,} expansions" in note for note in table.notes)
    assert not any("DIFFER" in note for note in table.notes)


def test_search_bench_has_targets_for_the_listed_sets() -> None:
    assert {name: target.limit for name, target in search.TARGETS.items()} == {
        "bg512": 90.0,
        "rooms": 82.0,
        "sc1": 95.0,
    }
    assert search.TARGETS.keys() == search.EXPANSIONS.keys()


def test_ticks_bench_has_a_row_per_case(setup: BenchSetup) -> None:
    table = ticks.run(setup)
    assert [row.name for row in table.rows] == [case.name for case in ticks.CASES]
    assert all(row.measured > 0 for row in table.rows)


def test_databases_bench_compares_with_plain_versions(setup: BenchSetup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "WALKER_CASES", databases.WALKER_CASES[:1])
    table = databases.run(setup)
    names = [row.name for row in table.rows]
    assert "column of level 3" in names and "D LRTA*, depth 1, level 3" in names
    assert all(row.measured > 0 and (row.ratio is None or row.ratio > 0) for row in table.rows)


def test_ticks_case_expands_as_many_cells_as_the_search_bench() -> None:
    case = ticks.CASES[0]
    assert case.target == BenchTarget(2.0)
    expansions, passed = ticks.case_runner(case, list(PROBLEMS))()
    assert expansions == search.kernel_solver(list(PROBLEMS))()
    assert passed >= expansions


def test_scaling_bench_compares_every_size_with_the_first(setup: BenchSetup) -> None:
    table = scaling.run(setup, sides=(64, 128))
    assert len(table.rows) == len(scaling.MAPS) * (len(scaling.CASES) + 2), "two rows with measures and edits"
    plain = [row for row in table.rows if scaling.CHANGING_CASE.name not in row.name]
    assert all(row.name.endswith("128 x 128") and row.target == scaling.TARGET for row in plain)
    assert sum(row.target == scaling.LONGEST_TARGET for row in table.rows) == len(scaling.MAPS)


def test_crowd_bench_times_every_size(setup: BenchSetup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowd, "SIDE", 64)
    monkeypatch.setattr(crowd, "MIN_COST", 5.0)
    table = crowd.run(setup, sizes=(2, 5), ticks=4)
    names = [row.name for row in table.rows if row.name.startswith("TBA*")]
    assert names[0] == "TBA* R=25, 2 units: median" and names[-1] == "TBA* R=25: fit into 3 ms"
    assert all(row.measured >= 0.0 for row in table.rows if row.unit == "ms")


def test_fitting_unit_count_is_interpolated_between_measured_sizes() -> None:
    assert crowd.units_within_budget((10, 100), [1.0, 5.0]) == 55.0
    assert crowd.units_within_budget((10, 100), [0.5, 0.4]) == 100.0


def test_memory_probe_of_one_agent_is_within_target() -> None:
    if memory.resident_mb() is None:
        pytest.skip("this system does not tell how much memory a process has")
    idle, later = memory.measure_agent_mb("tb-wa")
    assert idle < memory.TARGET.limit
    assert later < 10.0


def test_growth_is_the_memory_added_by_the_second_half_of_a_load(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[int] = []

    def leak(count: int) -> Iterator[int]:
        for done in range(1, count + 1):
            held.append(done)
            yield done

    monkeypatch.setitem(growth.LOAD_FUNCTIONS, "leak", leak)
    monkeypatch.setattr(growth, "resident_mb", lambda: float(len(held)))
    assert growth.measure_load_memory("leak", 32) == (16.0, 32.0)
    monkeypatch.setitem(growth.KEPT_MB, "leak", 0.75)
    held.clear()
    assert growth.measure_load_memory("leak", 32) == (4.0, 32.0), "without what is kept on purpose"


def test_every_growth_load_terminates() -> None:
    assert growth.LOAD_FUNCTIONS.keys() == growth.COUNTS.keys() == growth.NAMES.keys()
    assert list(growth.create_and_delete_branches(4)) == [1, 2, 3, 4]
    assert list(growth.advance_ticks(20_000)) == [10_000, 20_000]


def test_target_is_compared_with_the_ratio_or_without_it_the_value() -> None:
    least, most = BenchTarget(2.0), BenchTarget(2.0, is_upper_limit=True)
    assert BenchRow("a", 1.0, "x", 0.5, 2.0, least).is_target_met is True
    assert BenchRow("a", 9.0, "x", 5.0, 1.8, least).is_target_met is False
    assert BenchRow("a", 1.9, "MB", target=most).is_target_met is True
    assert BenchRow("a", 2.1, "MB", target=most).is_target_met is False
    assert BenchRow("a", 2.1, "MB").is_target_met is None


def test_table_shows_every_row_and_note() -> None:
    table = BenchTable("title", [BenchRow("first", 1234.5, "x/s", 2.0, 617.25, BenchTarget(2.0))], ["a note"])
    title, _, row, note = table_lines(table)
    assert title == "title"
    assert row.split() == ["first", "1,234", "x/s", "2", "617.25", ">=", "2", "yes"]
    assert note.strip() == "a note"


def test_csv_output_is_reproducible(tmp_path: Path) -> None:
    table = BenchTable("title", [BenchRow("one", 1.5, "s"), BenchRow("two", 3.0, "x", 2.0, 1.5, BenchTarget(1.0))])
    first, again = tmp_path / "a.csv", tmp_path / "b.csv"
    for path in (first, again):
        write_csv_file(str(path), [("ticks", table)])
    assert first.read_bytes() == again.read_bytes()
    with open(first, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["bench"], row["name"], row["measured"]) for row in rows] == [
        ("ticks", "one", "1.5"),
        ("ticks", "two", "3"),
    ]
    assert [(row["ratio"], row["target"], row["met"]) for row in rows] == [("", "", ""), ("1.5", ">= 1", "True")]
    assert all(row["machine"] and row["python"] and row["numba"] for row in rows)


def test_bench_registry_lists_existing_modules_in_fixed_order() -> None:
    assert benchmarks.BENCHES[:4] == ("search", "ticks", "scaling", "crowd")
    assert all(importlib.util.find_spec(f"benchmarks.{name.replace('-', '_')}") for name in benchmarks.BENCHES)


def test_unknown_bench_is_refused_with_a_suggestion() -> None:
    with pytest.raises(ConfigError, match="no bench 'tick'; did you mean 'ticks'"):
        benchmarks.main(["tick"])


def test_unwritable_csv_file_is_refused_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"--csv .*nowhere.*: cannot be written"):
        benchmarks.main(["ticks", "--csv", str(tmp_path / "nowhere" / "out.csv")])


def test_missing_benchmark_maps_are_replaced_by_generated_maps(tmp_path: Path) -> None:
    problems = load_problems(tmp_path)
    assert not problems.is_from_list
    assert all(problem.grid.is_free(cell) for problem in problems.problems for cell in problem.start_and_goal_cells)
    assert [name for name, _ in problems.iter_problem_groups()] == [
        "caves (generated)",
        "rooms (generated)",
        "random (generated)",
    ]


def test_broken_problem_list_is_refused(tmp_path: Path) -> None:
    (tmp_path / "search-set.tsv").write_text("set\tmap\nbg512\tx.map\n")
    with pytest.raises(ConfigError, match=r"x\.map"):
        load_problems(tmp_path)


@pytest.mark.skipif(not (SHARED_MAPS / "search-set.tsv").is_file(), reason="the benchmark maps are not there")
def test_listed_problem_sets_are_complete() -> None:
    problems = load_problems(SHARED_MAPS)
    assert {name: len(group) for name, group in problems.iter_problem_groups()} == {
        "bg512": 160,
        "rooms": 80,
        "sc1": 40,
    }


def test_problem_ends_are_start_and_goal_cells() -> None:
    problem = MapProblem("set", "map", SMALL, (1, 2), (3, 4), None)
    assert problem.start_and_goal_cells == (2 * 48 + 1, 4 * 48 + 3)
