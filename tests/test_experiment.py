"""Specifications, plans and stored results of experiments."""

import csv
import json
import os
import random
import re
import sqlite3
import sys
import tempfile
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import main
from agents.registry import AGENT_SPECS_BY_KEY
from cli import replay
from cli.report import create_report
from experiments import plan, rerun
from experiments.columns import MEASURED_COLUMNS, PLANNED_COLUMNS, PROCESSOR_TIME_COLUMNS
from experiments.export import write_csv_tables, write_downward_lab_properties, write_parquet
from experiments.job_runner import build_job_world
from experiments.plan import (
    create_world_job,
    find_planned_row,
    iter_planned_rows,
    iter_run_batches,
    iter_unfinished_tasks,
)
from experiments.specification import parse_experiment
from experiments.store import DATABASE_FILE, open_store_for_reading, open_store_for_writing
from experiments.table_formats import ReportTable, table_as_csv
from files.movingai import ScenRow, scen_text, write_map
from files.scenario import StopTick, build_world, load_scenario, save_scenario
from sim.grid import Grid
from sim.map_generators import generate_map
from sim.measures import MEASURES
from sim.movement import CUT_ONE_CORNER, EIGHT_NEIGHBOURS, FOUR_NEIGHBOURS, SQUEEZE_BETWEEN_CORNERS, Movement
from sim.params import ConfigError
from sim.world import World
from sim.world_commands import AgentConfig
from sim.world_editor import WorldEditor

from .conftest import ROOT
from .experiments import HEAD, TINY, engine_of, run_all, spec_of

BAD = """format: backmove-experimen
version: 2
problem: {scen: [x.scen]}
problems: {scen: [nope/*.scen], sampl: 60, seed: x, optimal: [600, 400], random: 3}
agents: ["tb-w:weight=1", "tb-wa:wight=1", {kind: tb-wa, weight: [0.4, a], foo: 3}, {kind: lrt}, 7, {weight: 1}]
budgets: [0, 16]
changes: {every: 0, rat: 4}
claims: [{less: 3}, {claim: y, less: [{agent: a}], value: costs}]
figures: [{name: f, x: moves, y: expansions/bar, log: z}, {name: ../../f, x: moves, y: cost}]
tables: [{rows: budget, values: bad}]
small: {each: 3}
"""
MISTAKES = """x.yaml:2: version: expected 1, the only version so far, got 2
x.yaml:3: problem: no such key; did you mean 'problems'?
x.yaml:4: problems.sampl: no such key; did you mean 'sample'?
x.yaml:4: problems.random: is allowed only with map or generate
x.yaml:4: problems.seed: expected a whole number from 0 to 4,294,967,295, got 'x'
x.yaml:4: problems.optimal: expected the shorter length first, got [600, 400]
x.yaml:5: agents[0]: no agent 'tb-w'; did you mean 'tb-wa'?
x.yaml:5: agents[1]: tb-wa.wight: no such parameter; did you mean 'weight'?
x.yaml:5: agents[2].weight[0]: expected a number from 1 to 100, got 0.4
x.yaml:5: agents[2].weight[1]: expected a number from 1 to 100, got 'a'
x.yaml:5: agents[3].kind: no agent 'lrt'; did you mean 'lrta'?
x.yaml:5: agents[4]: expected an agent such as {kind: tb-wa, weight: [1.4, 3]}, got 7
x.yaml:5: agents[5].kind: expected the key of an agent, got nothing
x.yaml:6: budgets[0]: expected a whole number from 1 to 1,000,000,000, got 0
x.yaml:7: changes.rat: no such key; did you mean 'rate'?
x.yaml:7: changes.rate: expected the percentage of cells that change, got nothing
x.yaml:8: claims[0].claim: expected the claim in words, got nothing
x.yaml:8: claims[1].value: no measure 'costs'; did you mean 'cost'?
x.yaml:9: figures[0].log: expected one of x, y, xy, none, got 'z'
x.yaml:9: figures[1].name: expected letters, digits, blanks and . + - _, beginning with a letter or digit, got '../../f'
""".splitlines()


def rows_of(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(data.decode().splitlines()))


# --- specifications -------------------------------------------------------------------------------


def test_specification_reports_all_mistakes_with_lines() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_experiment(BAD, "x.yaml", AGENT_SPECS_BY_KEY)
    found = caught.value.problems
    assert not [text for text in MISTAKES if text not in found]
    assert len(found) == len(set(found))
    lines = [int(text.split(":")[1]) for text in found]
    assert all(a <= b for a, b in pairwise(lines)) and lines[-1] == 11


@pytest.mark.parametrize("text", ["", "a: [", "[]", "format: backmove-experiment", HEAD + "problems: 3\nagents: 3"])
def test_malformed_specification_raises_config_error(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_experiment(text, "x.yaml", AGENT_SPECS_BY_KEY)


def test_unknown_names_in_claims_tables_and_figures_are_reported() -> None:
    more = """claims:
  - {claim: x, falls: wieght, value: cost, over: [budget, agnt]}
  - {claim: y, less: [{agent: tb-w}, {agent: lrta, weigt: 1}], value: cost, where: {part: games}}
tables: [{rows: budgt, columns: weight, values: cost, of: [{agent: lrta}, {agent: lrat}]}]
figures: [{name: f, kind: lines, x: wait, y: cost, by: outcome, levels: {agent: lrta}}]
"""
    with pytest.raises(ConfigError) as caught:
        spec_of(TINY + more)
    assert [text.partition(": ")[2] for text in caught.value.problems] == [
        "claims[0].over[1]: no run has an attribute 'agnt'; did you mean 'agent'?",
        "claims[0].falls: no run has an attribute 'wieght'; did you mean 'weight'?",
        "claims[1].where.part: no run has part 'games'",
        "claims[1].less[0].agent: no run has agent 'tb-w'; did you mean 'tb-wa'?",
        "claims[1].less[1].weigt: no run has an attribute 'weigt'; did you mean 'weight'?",
        "tables[0].rows: no run has an attribute 'budgt'; did you mean 'budget'?",
        "tables[0].of[1].agent: no run has agent 'lrat'; did you mean 'lrta'?",
        "figures[0].x: no run has an attribute 'wait'; did you mean 'waits'?",
    ]


@pytest.mark.parametrize(
    "more, told",
    [
        ("claims: [{claim: x, value: cost, falls: weight, rises: budget}]", "claims[0]: expected a claim with one of"),
        ("claims: [{claim: x, value: cost, ratio: [{budget: 1}, {budget: 16}]}]", "expected between with ratio"),
        ("claims: [{claim: x, value: cost, power: budget}]", "expected exponent or factor with power"),
        (
            "claims: [{claim: x, value: cost, falls: budget, within: 3}]",
            "claims[0].within: is allowed only with printed",
        ),
        ("claims: [{claim: x, value: cost, between: [2, 1]}]", "the smaller first, got [2, 1]"),
        ("claims: [{claim: x, value: cost, printed: {1: 0}, over: budget}]", "claims[0].printed.1: expected a number"),
        ("claims: [{claim: x, value: cost, falls: budget, expect: nope}]", "claims[0].expect: expected true or false"),
        ("tables: [{rows: budget, values: [cost, moves], printed_rows: {TBA*: {move: 3}}}]", "did you mean 'moves'?"),
        ("figures: [{name: f, x: moves, y: cost}, {name: F, x: moves, y: cost}]", "another figure has the name 'F'"),
        (
            "figures: [{name: f, kind: lines, x: agent, y: cost}]",
            "figures[0].x: expected an attribute that is a number",
        ),
        ("figures: [{name: f, kind: histogram, x: expansions/moves}]", "figures[0].x: expected a column"),
        ("parts: {}", "parts: expected parts by name"),
        ("parts: {one: {}}\nsmall: {parts: {on: {budgets: 1}}}", "small.parts.on: no such part; did you mean 'one'?"),
        ("small: {problems: {radnom: 2}}", "small.problems.radnom: no such key; did you mean 'random'?"),
        ("small: {problems: {optimal: [1, 9]}}", "small.problems.optimal: replaces nothing"),
    ],
)
def test_specification_parts_without_effect_are_reported(more: str, told: str) -> None:
    """A claim that always holds, a figure of something else, a small size that is not small."""
    with pytest.raises(ConfigError) as caught:
        spec_of(TINY + more + "\n")
    (text,) = caught.value.problems
    assert text.startswith("x.yaml:") and told in text


def test_small_size_may_set_keys_missing_in_full_size() -> None:
    text = TINY.replace("budgets: [1, 16]\n", "") + "small: {budgets: [4], ticks: 9}\n"
    (part,) = spec_of(text, "small").parts
    assert {setting.budget for setting in part.settings} == {4} and part.ticks == 9


def test_parameter_budget_and_seed_grids_multiply() -> None:
    spec = spec_of(TINY + "seeds: [0, 7]\nchanges: {every: 10, rate: [1, 5]}\n")
    (part,) = spec.parts
    assert [(s.kind, s.params.get("weight"), s.budget) for s in part.settings[:5]] == [
        ("tb-wa", 1.0, 1),
        ("tb-wa", 1.0, 16),
        ("tb-wa", 1.4, 1),
        ("tb-wa", 1.4, 16),
        ("tb-wa", 3.0, 1),
    ]
    assert spec.run_count == 12 * 8 * 2 * 2


def test_documented_list_keys_multiply() -> None:
    table = (ROOT / "docs" / "own-experiments.md").read_text()
    said = [line.split("|")[1] for line in table.splitlines() if "lists multiply" in line]
    assert len(said) == 3
    lists = {
        "budgets": "budgets: [2, 3]",
        "seeds": "seeds: [1, 2]",
        "changes": "changes: {every: 10, rate: [1, 5]}",
        "trials": "trials: [1, 2]",
    }
    once = HEAD + "problems: {generate: {kind: corner, size: 10}}\nagents: [lrta]\n"
    for key, text in lists.items():
        if f" `{key}` " in said:
            assert spec_of(f"{once}{text}\n").run_count == 2 * spec_of(once).run_count, key
        else:
            with pytest.raises(ConfigError, match=f"{key}: expected a whole number"):
                spec_of(f"{once}{text}\n")


def test_small_size_replaces_matching_problem_keys() -> None:
    """Of problems that are drawn in another way in each part, each takes the keys that it has."""
    other = "parts: {a: {}, b: {problems: {generate: {kind: corner, size: [8, 9]}}}}\n"
    text = TINY + other + "small: {problems: {random: 2}, budgets: [4]}\n"
    assert spec_of(text).run_count == (12 + 2) * 8
    small = spec_of(text, "small")
    assert [len(part.cases) for part in small.parts] == [6, 2] and small.run_count == (6 + 2) * 4


def test_parts_merge_shared_and_own_keys() -> None:
    own = "{problems: {generate: {kind: corner, size: 8}}, budgets: [7]}"
    spec = spec_of(TINY + f"parts: {{a: {{}}, b: {own}}}\nsmall: {{parts: {{b: {{budgets: [9]}}}}}}\n")
    assert [(part.name, part.run_count) for part in spec.parts] == [("a", 96), ("b", 4)]
    small = spec_of(TINY + f"parts: {{b: {own}}}\nsmall: {{parts: {{b: {{budgets: [9]}}}}}}\n", "small")
    assert {s.budget for s in small.parts[0].settings} == {9}


def write_scen_folder(folder: Path) -> None:
    for seed in (1, 2):
        made = generate_map("caves", {"width": 48, "height": 48, "seed": seed})
        write_map(made.grid, folder / f"caves-{seed}.map")
        goal, free = made.grid.cell(*made.goal), made.grid.free_mask.nonzero()[0].tolist()
        rows = []
        for number, start in enumerate(free[::40]):
            length = World(made.grid, start, goal, AGENT_SPECS_BY_KEY).optimal_cost
            if length < float("inf"):
                size = made.grid.width, made.grid.height
                rows.append(ScenRow(number, 0, f"caves-{seed}.map", *size, made.grid.xy(start), made.goal, length))
        blocked = made.grid.xy(int((~made.grid.free_mask).nonzero()[0][0]))
        rows.append(ScenRow(0, 0, f"caves-{seed}.map", 48, 48, blocked, made.goal, 20.0))
        (folder / f"caves-{seed}.map.scen").write_bytes(scen_text(rows).encode())


def parse_scen_spec(folder: Path, problems: str) -> Any:
    return parse_experiment(
        HEAD + f"problems: {{scen: ['*.scen'], {problems}}}\nagents: [tba]\n",
        "x.yaml",
        AGENT_SPECS_BY_KEY,
        folders=[folder],
    )


def test_scen_rows_are_selected_by_length_sample_and_index(tmp_path: Path) -> None:
    write_scen_folder(tmp_path)
    whole = parse_scen_spec(tmp_path, "seed: 0")
    assert len(whole.omission_messages) == 2
    assert re.search(
        r"row \d+: start: expected a free cell, got .* is blocked; it is left out$", whole.omission_messages[0]
    )
    with open(tmp_path / "caves-1.map.scen", "a") as file:
        file.write("0 nothing\n" * 2)
    assert (
        parse_scen_spec(tmp_path, "seed: 0").omission_messages[0].endswith("; it and 2 more of its rows are left out")
    )
    cases = parse_scen_spec(tmp_path, "optimal: [20, 40]").parts[0].cases
    assert cases and all(20 <= case.listed_optimal <= 40 for case in cases)
    assert len(cases) == sum(20 <= case.listed_optimal <= 40 for case in whole.parts[0].cases)
    each = parse_scen_spec(tmp_path, "each: 5, seed: 3").parts[0].cases
    assert [case.map_data.name for case in each] == ["caves-1.map"] * 5 + ["caves-2.map"] * 5
    assert parse_scen_spec(tmp_path, "each: 5, seed: 3").parts[0].cases == each
    assert parse_scen_spec(tmp_path, "each: 5, seed: 4").parts[0].cases != each
    assert len(parse_scen_spec(tmp_path, "sample: 7").parts[0].cases) == 7
    assert [case.problem_number for case in parse_scen_spec(tmp_path, "rows: '0,2:4'").parts[0].cases] == [0, 2, 3] * 2


def test_maps_outside_the_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "deep" / "inside").mkdir(parents=True)
    write_scen_folder(tmp_path)
    text = HEAD + "problems: {map: ['../../*.map'], random: 3}\nagents: [tba]\n"
    with pytest.raises(ConfigError, match=r"expected files, got only .*: outside the folder .*; add a folder with"):
        parse_experiment(text, "x.yaml", AGENT_SPECS_BY_KEY, folders=[tmp_path / "deep" / "inside"])
    with pytest.raises(ConfigError, match=r"expected files, got none that matches .*; add a folder with --maps"):
        parse_experiment(
            text.replace("*.map", "*.nap"), "x.yaml", AGENT_SPECS_BY_KEY, folders=[tmp_path / "deep" / "inside"]
        )
    assert (
        parse_experiment(
            text.replace("../../", "../"), "x.yaml", AGENT_SPECS_BY_KEY, folders=[tmp_path / "deep"]
        ).run_count
        == 6
    )


@pytest.mark.parametrize("parts, where", [("{}", ""), ("parts: {{one: {{{}}}}}", "parts.one.")])
def test_missing_number_of_random_pairs_is_reported_at_the_problems(parts: str, where: str, tmp_path: Path) -> None:
    write_scen_folder(tmp_path)
    text = HEAD + parts.format("problems: {map: ['*.map']}") + "\nagents: [tba]\nbudgets: [4]\n"
    with pytest.raises(ConfigError) as caught:
        spec_of(text, folders=[tmp_path])
    said = f"{where}problems.random: expected the number of random pairs, got nothing"
    assert said in [problem.partition(": ")[2] for problem in caught.value.problems]


def test_benchmark_files_may_be_symlinks(tmp_path: Path) -> None:
    """Once refused, with "got none that matches": a collection that many share lies elsewhere."""
    specs, shared = tmp_path / "mine" / "specs", tmp_path / "shared"
    specs.mkdir(parents=True)
    shared.mkdir()
    write_scen_folder(shared)
    own = "problems: {map: ['*.map'], random: 3}\nagents: [tba]\n"
    (specs / "linked.map").symlink_to(shared / "caves-1.map")
    assert [
        case.map_data.name
        for case in parse_experiment(HEAD + own, "x.yaml", AGENT_SPECS_BY_KEY, folders=[specs]).parts[0].cases
    ] == ["linked.map"] * 3
    (specs / "caves-2.map.scen").symlink_to(shared / "caves-2.map.scen")  # its map lies beside the list itself
    cases = parse_scen_spec(specs, "each: 5").parts[0].cases
    assert [case.map_data.name for case in cases] == ["caves-2.map"] * 5
    (specs / "linked.map").unlink()
    (tmp_path / "secret.txt").write_text("type octile")
    (specs / "linked.map").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(ConfigError, match=r"got only .*linked\.map: a link .* must lead to a \.map file, got .*secret"):
        parse_experiment(HEAD + own, "x.yaml", AGENT_SPECS_BY_KEY, folders=[specs])


def test_maps_of_scen_rows_are_searched_in_map_folders(tmp_path: Path) -> None:
    """`--maps DIR` was not used for the map that a row of a .scen names."""
    specs, maps = tmp_path / "specs", tmp_path / "maps"
    specs.mkdir()
    maps.mkdir()
    write_scen_folder(specs)
    for path in specs.glob("*.map"):
        path.rename(maps / path.name)
    (specs / "x.yaml").write_text(HEAD + "problems: {scen: ['*.scen'], each: 2}\nagents: [astar]\nbudgets: [16]\n")
    command = ["experiment", str(specs / "x.yaml"), "-o", str(tmp_path / "out"), "--jobs", "1", "--maps"]
    assert main.main([*command, str(tmp_path)]) == 2
    assert main.main([*command, str(maps)]) == 0
    rows = list(csv.DictReader((tmp_path / "out" / "results.csv").read_text().splitlines()))
    assert [row["map"] for row in rows] == ["caves-1.map"] * 2 + ["caves-2.map"] * 2
    assert main.main(["replay", str(tmp_path / "out"), "0", "--check", "--maps", str(maps)]) == 0


def test_random_pairs_are_solvable_and_share_a_common_prefix(tmp_path: Path) -> None:
    recipe = "{kind: random, width: 32, height: 32, density: 40}"
    text = HEAD + f"problems: {{generate: {recipe}, random: %d}}\nagents: [tba]\n"
    few, many = (spec_of(text % count).parts[0].cases for count in (5, 40))
    assert many[:5] == few
    for case in many:
        grid = case.map_data.grid
        assert World(grid, grid.cell(*case.start), grid.cell(*case.goal), AGENT_SPECS_BY_KEY).optimal_cost < float(
            "inf"
        )


def test_random_pairs_have_requested_optimal_lengths() -> None:
    text = (
        HEAD
        + "problems: {generate: {kind: caves, width: 40, height: 40}, random: 12, optimal: [20, 25]}\nagents: [tba]\n"
    )
    cases = spec_of(text).parts[0].cases
    grid = cases[0].map_data.grid
    lengths = [
        World(grid, grid.cell(*case.start), grid.cell(*case.goal), AGENT_SPECS_BY_KEY).optimal_cost for case in cases
    ]
    assert len(lengths) == 12 and all(20 <= length <= 25 for length in lengths)


def test_experiment_accepts_map_image(tmp_path: Path) -> None:
    (tmp_path / "a.pgm").write_bytes(b"P5 9 6 255\n" + bytes(10 if i % 9 == 4 and i > 9 else 250 for i in range(54)))
    problems = "{map: a.pgm, random: 4}"
    spec = spec_of(f"{HEAD}problems: {problems}\nagents: [lrta]\nbudgets: [1]\n", folders=[tmp_path])
    (part,) = spec.parts
    assert {case.map_data.name for case in part.cases} == {"a.pgm"} and len(part.cases) == 4
    assert part.cases[0].map_data.grid.text_rows() == [".........", *["....@...."] * 5]
    problems = problems.replace("}", ", swamp: blocked}")
    with pytest.raises(ConfigError, match=r"problems.swamp: is allowed only with a MovingAI .map, got 'a.pgm'"):
        spec_of(f"{HEAD}problems: {problems}\nagents: [lrta]\nbudgets: [1]\n", folders=[tmp_path])


def test_shrunk_map_cells_are_free_by_majority(tmp_path: Path) -> None:
    grid = generate_map("caves", {"width": 49, "height": 32, "seed": 1}).grid
    write_map(grid, tmp_path / "caves.map")
    text = HEAD + "problems: {map: [caves.map], shrink: 3, random: 5}\nagents: [tba]\n"
    board = parse_experiment(text, "x.yaml", AGENT_SPECS_BY_KEY, folders=[tmp_path]).parts[0].cases[0].map_data
    assert board.name == "caves.map / 3" and (board.grid.width, board.grid.height) == (16, 10)
    free = grid.free_mask.reshape(32, 49)
    for y in range(10):
        for x in range(16):
            assert board.grid.is_free(board.grid.cell(x, y)) == (free[3 * y : 3 * y + 3, 3 * x : 3 * x + 3].sum() >= 5)


def test_sealed_goal_is_unreachable() -> None:
    text = HEAD + "problems: {generate: {kind: rooms, width: 24, height: 24}, random: 9, sealed: true}\nagents: [tba]\n"
    cases = spec_of(text).parts[0].cases
    assert 5 < len(cases) <= 9
    for case in cases:
        grid = case.map_data.grid
        world = World(grid, grid.cell(*case.start), grid.cell(*case.goal), AGENT_SPECS_BY_KEY)
        assert world.optimality_tracker.optimal_costs.shared_optimum == (float("inf"), None)


def test_changes_without_repeat_happen_once() -> None:
    text = HEAD + "problems: {generate: {kind: random, width: 24, height: 24, density: 20}}\nagents: [tba]\n"
    once = spec_of(text + "changes: {every: 5, rate: 10, repeat: false}\n").parts[0]
    again = spec_of(text + "changes: {every: 5, rate: 10}\n").parts[0]
    assert not once.changes[0].repeats and again.changes[0].repeats
    worlds = []
    for part in (once, again):
        grid = part.cases[0].map_data.grid.copy()
        world = World(grid, grid.cell(*part.cases[0].start), grid.cell(*part.cases[0].goal), AGENT_SPECS_BY_KEY)
        WorldEditor(world).set_random_changes(part.changes[0])
        world.add(AgentConfig("lrta"))
        maps = []
        for _ in range(12):
            world.advance(1)
            maps.append(world.grid.moves.tobytes())
        worlds.append(maps)
    assert worlds[0][:10] == worlds[1][:10]
    assert worlds[0][4] != worlds[0][5] == worlds[0][11] != worlds[1][11]


# --- plans ----------------------------------------------------------------------------------------


def test_find_row_finds_every_planned_row() -> None:
    for more in ("", "together: true\nchanges: {every: 10, rate: [1, 5]}\nseeds: [0, 3]\n"):
        spec = spec_of(TINY + more)
        planned = list(iter_planned_rows(spec))
        assert [row[0] for row in sorted(planned)] == list(range(spec.run_count))
        assert len({row[1] for row in planned}) == spec.run_count
        for row in planned[:: max(1, spec.run_count // 50)]:
            batch, case, setting = find_planned_row(spec, row[0])
            key = plan.RunKeyCalculator(batch).run_keys_for_problem(case)[batch.settings.index(setting)]
            assert key == row[1] and setting.kind == row[2 + [column.name for column in PLANNED_COLUMNS].index("agent")]


@pytest.mark.parametrize(
    "old, new",
    [
        ("seed: [1, 2, 3]", "seed: [4, 5, 6]"),  # other maps
        ("budgets: [1, 16]", "budgets: [2, 15]"),
        ("weight: [1.4, 3]", "weight: [1.5, 3.1]"),
        ("slice: 3", "slice: 3\nmoves: 99"),
        ("slice: 3", "slice: 3\ntrials: 2"),
        ("slice: 3", "slice: 3\nseeds: [1]"),
        ("slice: 3", "slice: 3\nchanges: {every: 3, rate: 1}"),
        ("slice: 3", "slice: 3\ntogether: true"),
    ],
)
def test_row_key_changes_with_inputs_of_the_result(old: str, new: str) -> None:
    before = {row[1]: row for row in iter_planned_rows(spec_of(TINY))}
    after = {row[1]: row for row in iter_planned_rows(spec_of(TINY.replace(old, new)))}
    shared = before.keys() & after.keys()
    assert all(before[key][2:] == after[key][2:] for key in shared)
    assert len(shared) < len(before)


def test_row_key_depends_on_code_version(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {row[1] for row in iter_planned_rows(spec_of(TINY))}
    monkeypatch.setattr(plan, "code_version", lambda: "another")
    assert not before & {row[1] for row in iter_planned_rows(spec_of(TINY))}


def test_row_key_ignores_names_order_and_slices() -> None:
    before = {row[1] for row in iter_planned_rows(spec_of(TINY))}
    other = TINY.replace("slice: 3", "slice: 50\ntitle: x\ncutoff: 9").replace("[1, 16]", "[16, 1]")
    assert before == {row[1] for row in iter_planned_rows(spec_of(other))}


def test_tasks_contain_each_missing_run_once() -> None:
    spec = spec_of(TINY)
    keys = [row[1] for row in iter_planned_rows(spec)]
    done = set(keys[::3])
    found = list(iter_unfinished_tasks(spec, done))
    assert all(len(task.jobs) <= 3 for task in found)
    assert sorted(w.key for t in found for j in t.jobs for w in j.agent_runs) == sorted(set(keys) - done)


# --- results --------------------------------------------------------------------------------------


def test_results_match_a_separately_built_world(tmp_path: Path) -> None:
    rows = rows_of(run_all(TINY, tmp_path))
    spec = spec_of(TINY)
    assert len(rows) == spec.run_count
    for row in rows[::7]:
        _, case, setting = find_planned_row(spec, int(row["row"]))
        grid = case.map_data.grid
        world = World(grid, grid.cell(*case.start), grid.cell(*case.goal), AGENT_SPECS_BY_KEY, budget=setting.budget)
        walker = world.add(AgentConfig(setting.kind, params=setting.params))
        world.advance(1_000_000)
        metrics = world.metrics_of_walker(walker)
        assert (float(row["cost"]), int(row["expansions"])) == (metrics.cost, metrics.expansions)
        assert int(row["nonoptimal_moves"]) == metrics.nonoptimal_moves
        assert row["outcome"] == "reached" and float(row["suboptimality"]) == metrics.suboptimality


def test_agents_run_together_see_the_same_map_changes(tmp_path: Path) -> None:
    text = TINY + "together: true\nchanges: {every: 5, rate: 4}\nmeasures: false\n"
    spec = spec_of(text)
    rows = rows_of(run_all(text, tmp_path))
    assert [int(row["row"]) for row in rows] == list(range(spec.run_count))
    assert all(row["nonoptimal_moves"] == "" and row["rate"] == "4.0" for row in rows)
    assert any(int(row["restarts"]) for row in rows)
    alone = rows_of(run_all(text.replace("together: true", "together: false"), tmp_path / "b"))
    assert [row["digest"] for row in alone] != [row["digest"] for row in rows]


def test_precomputed_data_is_counted_in_full(tmp_path: Path) -> None:
    """A database has as many columns as regions, of which a run needs one; records are needed as they are."""
    text = TINY.replace(
        '"tb-wa:weight=1", {kind: tb-wa, weight: [1.4, 3]}, lrta',
        "{kind: d-lrta, level: 2}, {kind: knn-lrta, records: 9}, tba",
    )
    run_all(text.replace("[1, 16]", "[400]"), tmp_path)
    rows, times = (rows_of((tmp_path / name).read_bytes()) for name in ("results.csv", "times.csv"))
    for batch in list(iter_run_batches(spec_of(text.replace("[1, 16]", "[400]"))))[:2]:
        for number, case in enumerate(batch.part.cases):
            walker = build_job_world(
                create_world_job(batch, case, [b""]), case.map_data.grid, AGENT_SPECS_BY_KEY
            ).walkers[0]
            data = walker.agent.view().prepared
            row, spent = rows[batch.results_row_number(number, 0)], times[batch.results_row_number(number, 0)]
            assert int(row["build_expansions"]) == sum(d.build_expansions * d.column_count for d in data)
            assert float(spent["build_ms"]) > 0
            if batch.settings[0].kind == "d-lrta":
                assert int(row["entries"]) == data[1].tables.subgoal.size ** 2
            else:
                assert int(row["entries"]) == data[0].tables.cells.size
    assert rows[-1]["entries"] == rows[-1]["build_expansions"] == times[-1]["build_ms"] == ""


def test_results_record_the_movement_rule(tmp_path: Path) -> None:
    recipe = "generate: {kind: corner, size: 8}"
    text = HEAD + f"agents: [astar]\nparts: {{a: {{problems: {{{recipe}, movement: four}}}},"
    text += f" b: {{problems: {{{recipe}, movement: eight-cut, diagonal: 1.5}}}}}}\n"
    text += "tables: [{rows: [movement, diagonal], values: optimal}]\n"
    rows = rows_of(run_all(text, tmp_path))
    assert [(row["movement"], row["diagonal"]) for row in rows] == [("four", "2.0"), ("eight-cut", "1.5")]
    with open_store_for_reading(tmp_path) as store:
        (table,) = create_report(store, is_short=True).tables
    assert [row[:2] for row in table.rows] == [("four", 2), ("eight-cut", 1.5)]


def test_results_have_one_row_per_trial(tmp_path: Path) -> None:
    text = HEAD + "problems: {generate: {kind: corner, size: 10}}\nagents: [lrta, tba]\ntrials: 4\n"
    rows = rows_of(run_all(text, tmp_path))
    lrta = [row for row in rows if row["agent"] == "lrta"]
    assert [row["trial"] for row in lrta] == [str(i + 1) for i in range(len(lrta))] and 1 < len(lrta) <= 4
    assert [row["trial"] for row in rows if row["agent"] == "tba"] == ["1"]


def test_move_and_tick_limits_end_runs(tmp_path: Path) -> None:
    text = HEAD + "problems: {generate: {kind: corner, size: 24}}\nagents: [lrta]\n"
    assert rows_of(run_all(text + "moves: 50\n", tmp_path / "a"))[0]["outcome"] == "move_limit"
    long = text.replace("24", "80")
    for ticks in 50, 4096, 5000:  # fewer than go into one call of a kernel, as many, and more
        row = rows_of(run_all(f"{long}ticks: {ticks}\n", tmp_path / str(ticks)))[0]
        assert (row["outcome"], row["ticks"]) == ("stuck", str(ticks))


LIMITED = {
    "moves: 50\n": "at its limit of 50 moves",
    "moves: 300\ntrials: 5\n": "at its limit of 300 moves",
    "moves: 60\nchanges: {every: 7, rate: 3}\n": "at its limit of 60 moves",
    "ticks: 70\n": "at its limit of 70 ticks",
    "": None,
}


@pytest.mark.parametrize("is_together", [False, True])
@pytest.mark.parametrize(("limit", "why"), LIMITED.items())
def test_scenario_of_a_limited_row_ends_at_the_same_tick(
    limit: str, why: str | None, is_together: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = HEAD + "problems: {generate: {kind: corner, size: 24}}\nagents: [lrta, tb-wa]\n"
    rows = rows_of(run_all(text + limit + ("together: true\n" if is_together else ""), tmp_path / "out"))
    with open_store_for_reading(tmp_path / "out") as store:
        scenario = rerun.scenario_of_row(store, rerun.stored_specification(store, AGENT_SPECS_BY_KEY), 0)
    was = [row for row in rows if row["row"] == "0"]
    if why is None:
        assert scenario.stop_tick is None and was[-1]["outcome"] == "reached"
        return
    assert scenario.stop_tick == StopTick(sum(int(row["ticks"]) for row in was), f"row 0 ended here {why}")
    world = build_world(scenario, AGENT_SPECS_BY_KEY)
    world.advance(scenario.stop_tick.tick)
    assert world.tick == scenario.stop_tick.tick and world.walker_digest(world.walkers[0]) == was[-1]["digest"]
    path = tmp_path / "row.yaml"
    save_scenario(scenario, path)
    assert load_scenario(path, AGENT_SPECS_BY_KEY).stop_tick == scenario.stop_tick
    for more, ticks in (([], scenario.stop_tick.tick), (["--ticks", "9"], 9)):
        capfd.readouterr()
        assert main.main(["run", str(path), *more]) == 0
        assert json.loads(capfd.readouterr().out.splitlines()[0])["ticks"] == ticks


@pytest.mark.parametrize("changes", ["", "changes: {every: 7, rate: 3}\n"])
def test_move_limit_ends_each_agent_run_together(tmp_path: Path, changes: str) -> None:
    text = TINY.replace("slice: 3", "together: true") + changes
    free, limited = (rows_of(run_all(text + more, tmp_path / str(i))) for i, more in enumerate(["", "moves: 40\n"]))
    is_ended = [int(row["moves"]) > 40 for row in free]
    assert any(is_ended) and not all(is_ended)
    for row, was, is_over in zip(limited, free, is_ended, strict=True):
        assert not is_over or (row["outcome"], row["moves"]) == ("move_limit", "40")
        assert is_over or changes or row == was, (
            "who leaves changes nothing for the others of a map that stays as it is"
        )
    most = max(int(row["moves"]) for row in free)
    assert rows_of(run_all(f"{text}moves: {most}\n", tmp_path / "most")) == free


def test_no_path_tick_is_kept_while_other_agents_walk(tmp_path: Path) -> None:
    text = HEAD + "problems: {generate: {kind: corner, size: 10}, sealed: true}\nticks: 60\nmeasures: false\n"
    text += "agents: [tb-wa, lrta]\nbudgets: [100]\n"
    alone = rows_of(run_all(text, tmp_path / "alone"))
    together = rows_of(run_all(text + "together: true\nmoves: 20\n", tmp_path / "together"))
    assert alone[0]["no_path_tick"] == together[0]["no_path_tick"] != "" and together[1]["outcome"] == "move_limit"


def test_no_path_tick_is_that_of_the_last_proof_after_changes(tmp_path: Path) -> None:
    """Also of one that walks alone: in between it has waited, for as long as nothing changed."""
    text = HEAD + "problems: {scen: [walls.map.scen]}\nticks: 300\nmeasures: false\nchanges: {every: 20, rate: 6}\n"
    text += "agents: [tb-wa]\nbudgets: [8]\nseeds: [25, 26, 27, 28]\n"
    chance = random.Random(27)
    lines = ["".join("@" if chance.random() < 0.35 else "." for _ in range(14)) for _ in range(14)]
    grid = Grid.from_text_rows([f".{lines[0][1:]}", *lines[1:-1], f"{lines[-1][:-1]}."])
    write_map(grid, tmp_path / "walls.map")
    rows = [ScenRow(0, 0, "walls.map", 14, 14, (0, 0), (13, 13), 20.0)]
    (tmp_path / "walls.map.scen").write_bytes(scen_text(rows).encode())
    results = rows_of(run_all(text, tmp_path / "out", folders=[tmp_path]))
    proofs = []
    for row in results:
        batch, case, _ = find_planned_row(spec_of(text, folders=[tmp_path]), int(row["row"]))
        world, proof = build_job_world(create_world_job(batch, case, [b""]), grid, AGENT_SPECS_BY_KEY), ""
        while world.tick < 300 and world.advance(1):
            walker = world.walkers[0]
            if walker.log_rows.size and walker.is_done:
                proof = str(world.tick - 1)
        proofs.append(proof if row["outcome"] == "waiting_no_path" else "")
    assert [row["no_path_tick"] for row in results] == proofs and sum(proof != "" for proof in proofs) == 3


def test_changed_specification_computes_only_new_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run_all(TINY, tmp_path / "a")
    more = TINY.replace("lrta]", "lrta, rtaa]")
    store = open_store_for_writing(tmp_path / "a")
    engine = engine_of(spec_of(more), store)
    engine.run_all_tasks()
    store.close()
    assert engine.done == 12 * 2
    assert run_all(more, tmp_path / "a") == run_all(more, tmp_path / "b")
    assert run_all(TINY, tmp_path / "a") == first


def test_times_are_written_to_a_separate_file(tmp_path: Path) -> None:
    run_all(TINY, tmp_path)
    times = rows_of((tmp_path / "times.csv").read_bytes())
    assert len(times) == spec_of(TINY).run_count and all(float(row["planning_ms"]) >= 0 for row in times)
    assert "planning_ms" not in (tmp_path / "results.csv").read_text()


def test_file_at_downward_lab_folder_path_is_reported(tmp_path: Path) -> None:
    run_all(TINY, tmp_path / "walks")
    (tmp_path / "walks" / "walks-eval").write_text("")
    with (
        open_store_for_reading(tmp_path / "walks") as store,
        pytest.raises(ConfigError, match="expected a folder, got a file"),
    ):
        write_downward_lab_properties(store)


def test_downward_lab_properties_describe_every_run(tmp_path: Path) -> None:
    run_all(TINY, tmp_path / "walks")
    with open_store_for_reading(tmp_path / "walks") as store:
        runs = json.loads(write_downward_lab_properties(store).read_text())
    assert (tmp_path / "walks" / "walks-eval" / "properties").is_file()
    assert len(runs) == spec_of(TINY).run_count
    for name, run in runs.items():
        assert name == "-".join(run["id"]) and run["id"] == [run["algorithm"], run["domain"], run["problem"]]
        assert run["coverage"] == 1 and run["cost"] > 0


def test_parquet_has_all_columns_of_the_tables(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = rows_of(run_all(TINY, tmp_path))
    store = open_store_for_reading(tmp_path)
    write_parquet(store)
    store.close()
    found = parquet.read_table(tmp_path / "results.parquet").to_pylist()
    assert [(row["row"], row["digest"], row["cost"]) for row in found] == [
        (int(row["row"]), row["digest"], float(row["cost"])) for row in table
    ]
    assert found[0]["planning_ms"] >= 0


def test_missing_parquet_library_is_reported_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "tiny.yaml").write_text(TINY)
    assert main.main(["experiment", str(tmp_path / "tiny.yaml"), "-o", str(tmp_path / "out"), "--parquet"]) == 2
    assert "first run pip install -r requirements-parquet.txt" in capfd.readouterr().err
    assert not (tmp_path / "out").exists()


# --- the folder -----------------------------------------------------------------------------------


def test_second_writer_is_refused_and_reader_is_allowed(tmp_path: Path) -> None:
    run_all(TINY, tmp_path)
    store = open_store_for_writing(tmp_path)
    with pytest.raises(ConfigError, match="another experiment is writing to it"):
        open_store_for_writing(tmp_path)
    with open_store_for_reading(tmp_path) as reader:
        assert len(reader.load_frame()) == spec_of(TINY).run_count
    store.close()
    open_store_for_writing(tmp_path).close()


def test_reader_of_store_under_creation_sees_all_tables_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect, found = sqlite3.connect, list[Any]()

    def try_to_read_store(_statement: str) -> None:
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(sqlite3, "connect", connect)
            try:
                reader = open_store_for_reading(tmp_path)
            except ConfigError:
                return
            with reader:
                try:
                    found.append(reader.progress_counts())
                except ConfigError as error:  # raised here, nobody would hear of it
                    found.append(str(error))

    def connect_traced(*given: Any, **named: Any) -> sqlite3.Connection:
        db = connect(*given, **named)
        db.set_trace_callback(try_to_read_store)
        return db

    monkeypatch.setattr(sqlite3, "connect", connect_traced)
    open_store_for_writing(tmp_path).close()
    assert found and set(found) == {(0, 0)}


def test_results_in_read_only_folder_can_be_read(
    results: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A system refuses to make files there. The superuser of a test may, so SQLite itself is asked for none."""
    connect, asked = sqlite3.connect, []

    def connect_read_only(place: Any, **options: Any) -> sqlite3.Connection:
        asked.append(str(place))
        if "immutable" not in str(place):
            raise sqlite3.OperationalError("unable to open database file")
        return connect(place, **options)

    monkeypatch.setattr(os, "access", lambda place, mode: Path(place) != results)
    monkeypatch.setattr(sqlite3, "connect", connect_read_only)
    before = sorted(path.name for path in results.iterdir())
    with open_store_for_reading(results) as store:
        assert store.progress_counts() == (96, 96) and len(store.load_frame()) == 96
        assert sorted(path.name for path in results.iterdir()) == before
    assert main.main(["replay", str(results), "--check", "3"]) == 0
    assert main.main(["report", str(results), "-o", str(tmp_path / "report")]) == 0
    assert all("mode=ro" in place or "immutable=1" in place for place in asked)


def test_full_disk_is_one_message_and_keeps_results(tmp_path: Path) -> None:
    whole = run_all(TINY, tmp_path / "whole")
    store = open_store_for_writing(tmp_path / "full")
    engine = engine_of(spec_of(TINY), store)
    (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
    store._connection.execute(f"PRAGMA max_page_count={pages + 1}")
    with pytest.raises(ConfigError, match="cannot be written: database or disk is full; the results so far are kept"):
        engine.run_all_tasks()
    done, _ = store.progress_counts()
    store.close()
    assert 0 < done < spec_of(TINY).run_count
    assert run_all(TINY, tmp_path / "full") == whole


def test_corrupt_database_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "results.db").write_bytes(b"no database at all, but long enough to try_to_read_store at it" * 50)
    with pytest.raises(ConfigError, match=r"results\.db"):
        open_store_for_writing(tmp_path)
    with pytest.raises(ConfigError, match=r"results\.db"):
        open_store_for_reading(tmp_path)
    with pytest.raises(ConfigError, match="expected a folder of"):
        open_store_for_reading(tmp_path / "nothing")


# --- commands -------------------------------------------------------------------------------------


def write_spec(folder: Path, text: str = TINY) -> Path:
    path = folder / "tiny.yaml"
    path.write_text(text)
    return path


def test_experiment_command_plans_runs_and_resumes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path, folder = write_spec(tmp_path), tmp_path / "out"
    assert main.main(["experiment", str(path), "--dry-run", "--jobs", "1"]) == 0
    assert "96 runs: 12 problems, 8 settings" in capfd.readouterr().out
    assert main.main(["experiment", str(path), "-o", str(folder), "--jobs", "1", "--lab"]) == 0
    assert "96 of 96 runs" in capfd.readouterr().err
    before = (folder / "results.csv").read_bytes()
    assert main.main(["experiment", str(path), "-o", str(folder), "--jobs", "1"]) == 0
    assert (folder / "results.csv").read_bytes() == before == run_all(TINY, tmp_path / "b")
    assert main.main(["experiment", str(path), "-o", str(folder), "--cluster", "here"]) == 2
    assert main.main(["experiment", str(tmp_path / "no.yaml")]) == 2


def test_replay_checks_and_exports_rows(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path, folder = write_spec(tmp_path, TINY + "changes: {every: 9, rate: 3}\n"), tmp_path / "out"
    assert main.main(["experiment", str(path), "-o", str(folder), "--jobs", "1"]) == 0
    assert main.main(["replay", str(folder), "--check", "30"]) == 0
    assert "30 of 30 rows are unchanged" in capfd.readouterr().out
    rows = rows_of((folder / "results.csv").read_bytes())
    for row in (rows[5], rows[60]):
        target = tmp_path / f"row-{row['row']}.yaml"
        assert main.main(["replay", str(folder), row["row"], "-o", str(target)]) == 0
        assert capfd.readouterr().out == f"{target}\n"
        assert main.main(["run", str(target)]) == 0
        again = json.loads(capfd.readouterr().out)
        assert (again["digest"], again["cost"]) == (row["digest"], float(row["cost"]))
        assert again["map"] == row["map"]
    assert main.main(["replay", str(folder), "9999"]) == 2
    assert "expected a row from 0 to 95" in capfd.readouterr().err


def test_replay_refuses_to_overwrite_results(results: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = (results / "results.csv").read_bytes()
    assert main.main(["replay", str(results), "3", "-o", str(results / "results.csv")]) == 2
    assert "expected a file that is not an input as well" in capfd.readouterr().err
    assert (results / "results.csv").read_bytes() == before


def test_replay_checks_a_single_row(results: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with closing(sqlite3.connect(results / "results.db")) as db, db:
        db.execute("UPDATE results SET cost = cost + 1 WHERE key = (SELECT key FROM plan WHERE row = 17)")
    for row, code in ((17, 1), (18, 0)):
        assert main.main(["replay", str(results), str(row), "--check"]) == code
        told = capfd.readouterr()
        assert f"{1 - code} of 1 rows" in told.out and (f"row {row}: cost: was" in told.err) == bool(code)
    for arguments, message in (
        ("17 --check 5", "got both ROW and N"),
        ("999 --check", "a row that has a result, got 999"),
    ):
        assert main.main(["replay", str(results), *arguments.split()]) == 2
        assert message in capfd.readouterr().err


def test_replay_refuses_rows_whose_map_has_changed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "two"):
        write_map(Grid.from_text_rows(["." * 12] * 9), tmp_path / f"{name}.map")
    problems = "problems: {map: [one.map, two.map], random: 6}\nagents: [tba]\nbudgets: [16]\n"
    path, folder = write_spec(tmp_path, HEAD + problems), tmp_path / "out"
    assert main.main(["experiment", str(path), "-o", str(folder), "--jobs", "1"]) == 0
    write_map(Grid.from_text_rows(["." * 12] * 8 + ["..@" * 4]), tmp_path / "one.map")
    capfd.readouterr()
    assert main.main(["replay", str(folder), "3", "-o", str(tmp_path / "row.yaml")]) == 2
    assert capfd.readouterr().err == "row 3: the map one.map has changed since the results were computed\n"
    assert not (tmp_path / "row.yaml").exists()
    assert main.main(["replay", str(folder), "8", "-o", str(tmp_path / "row.yaml")]) == 0
    assert main.main(["replay", str(folder), "--check"]) == 1
    told = capfd.readouterr()
    assert told.err.count("the map one.map has changed") == 6 and "6 of 12 rows" in told.out


def test_replay_check_detects_changed_results(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path, folder = write_spec(tmp_path), tmp_path / "out"
    assert main.main(["experiment", str(path), "-o", str(folder), "--jobs", "1"]) == 0
    with closing(sqlite3.connect(folder / "results.db")) as db, db:
        db.execute("UPDATE results SET cost = cost + 1")
    assert main.main(["replay", str(folder), "--check", "5"]) == 1
    assert "0 of 5 rows" in capfd.readouterr().out


def test_failed_run_is_reported_and_others_continue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def do_job_failing_for_victim(job: Any, *rest: Any) -> Any:
        if job.start == victim:
            raise ValueError("nobody knows")
        return whole(job, *rest)

    from experiments import job_runner

    whole, spec = job_runner.run_job, spec_of(TINY)
    victim = spec.parts[0].cases[4].start
    monkeypatch.setattr(job_runner, "run_job", do_job_failing_for_victim)
    store = open_store_for_writing(tmp_path)
    engine = engine_of(spec, store)
    engine.run_all_tasks()
    assert [row for row, _ in store.failed_runs()] == list(range(4, 96, 12))
    assert engine.failed_runs == 8 and engine.done == 88
    assert store.failed_runs()[0][1] == "ValueError: nobody knows"
    write_csv_tables(store)
    store.close()
    monkeypatch.setattr(job_runner, "run_job", whole)
    assert run_all(TINY, tmp_path) == run_all(TINY, tmp_path / "b")
    with open_store_for_reading(tmp_path) as reader:
        assert not reader.failed_runs()


def test_map_data_survives_packing() -> None:
    from experiments.problems import compress_map, create_map_data

    grid = Grid.from_text_rows(["..T.", "WW@.", "G..S"], "x", Movement(CUT_ONE_CORNER, 1.5))
    again = compress_map(create_map_data("x", grid)).decompress()
    assert again.text_rows() == grid.text_rows() and again.movement == grid.movement == Movement(CUT_ONE_CORNER, 1.5)
    assert create_map_data("x", again).digest == create_map_data("y", grid).digest
    others = [
        Movement(CUT_ONE_CORNER, 1.25),
        Movement(EIGHT_NEIGHBOURS, 1.5),
        Movement(FOUR_NEIGHBOURS),
        Movement(SQUEEZE_BETWEEN_CORNERS, 1.5),
    ]
    keys = [
        create_map_data("x", Grid.from_text_rows(grid.text_rows(), "x", movement)).digest
        for movement in (grid.movement, *others)
    ]
    assert len(set(keys)) == 5
    usual = Grid.from_text_rows([".@.", "..."]), Grid.from_text_rows([".@.", "..."], movement=Movement(diagonal=1.5))
    before = ["be1d92c08c01c8904cc8a324", "aebfe340f4e406a242cb1610"]  # when there was no other rule
    assert [create_map_data("m", grid).digest for grid in usual] == before, "rows of older results are found again"


def test_results_of_older_version_without_a_measure_can_be_continued(tmp_path: Path) -> None:
    store = open_store_for_writing(tmp_path)
    store.close()
    with closing(sqlite3.connect(tmp_path / DATABASE_FILE)) as db, db:
        db.execute("ALTER TABLE results DROP COLUMN memory")
        db.execute("INSERT INTO plan (row, key) VALUES (1, x'01')")
        db.execute("INSERT INTO results (key, trial, moves) VALUES (x'01', 1, 7)")
    reader = open_store_for_reading(tmp_path)
    assert list(reader.iter_rows(["row", "moves", "memory"])) == [(1, 7, None)]
    reader.close()
    store = open_store_for_writing(tmp_path)
    store.add(
        [(b"2", *(1 if column.kind is not str else "x" for column in (*MEASURED_COLUMNS, *PROCESSOR_TIME_COLUMNS)))]
    )
    assert list(store.iter_rows(["row", "moves", "memory"])) == [(1, 7, None)] and store.done() == {b"\x01", b"2"}
    store.close()


def test_every_measure_is_a_column_or_follows_from_columns() -> None:
    names = {column.name: column.kind for column in MEASURED_COLUMNS}
    missing = {measure.key for measure in MEASURES} - set(names)
    assert missing == {"back_move_share", "mean_expansions"}
    assert names["game_time"] is float and names["moves"] is int


def test_labels_are_escaped_against_spreadsheet_formulas(tmp_path: Path) -> None:
    text = HEAD + "problems: {generate: {kind: rooms, width: 24, height: 24, seed: 1}}\n"
    text += "agents: [{kind: lrta, label: '=1+1'}, {kind: lrta, label: plain}]\nbudgets: [4]\n"
    rows = rows_of(run_all(text, tmp_path / "out"))
    assert [row["label"] for row in rows] == ["'=1+1", "plain"]
    with_label = ReportTable("t", "t", ("agent", "cost"), (("@SUM(A1)", -1.5), ("b", float("nan"))))
    assert table_as_csv(with_label) == "agent,cost\n'@SUM(A1),-1.5\nb,\n"


@pytest.mark.skipif(os.name == "nt", reason="file names are text there")
def test_map_and_folder_names_may_be_invalid_unicode(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/f\xfe"))
    folder.mkdir()
    write_map(generate_map("rooms", {"width": 24, "height": 24, "seed": 1}).grid, tmp_path / "a.map")
    (tmp_path / "a.map").rename(os.fsdecode(os.fsencode(folder) + b"/b\xff\x1b[31m.map"))
    path = write_spec(folder, HEAD + "problems: {map: ['*.map'], random: 2}\nagents: [lrta]\nbudgets: [4]\n")
    assert main.main(["experiment", str(path), "-o", str(folder / "out"), "--jobs", "1", "--lab"]) == 0
    rows = rows_of((folder / "out" / "results.csv").read_bytes())
    assert {row["map"] for row in rows} == {"b\\udcff\\x1b[31m.map"}
    assert main.main(["report", str(folder / "out")]) == 0
    assert main.main(["replay", str(folder / "out"), "--check"]) == 2, "its folder cannot be named"
    assert "Traceback" not in (said := capfd.readouterr().err) and "\x1b" not in said


# --- results that are not what they were ----------------------------------------------------------


@pytest.fixture
def results(tmp_path: Path) -> Path:
    run_all(TINY, tmp_path / "out")
    return tmp_path / "out"


def test_replay_opens_row_from_temp_folder_if_results_are_read_only(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raise_unwritable(place: Path) -> None:
        raise ConfigError(f"{place}: cannot be written")

    opened: list[Path] = []
    monkeypatch.setattr(replay, "_start_window_program", opened.append)
    assert main.main(["replay", str(results), "3"]) == 0
    monkeypatch.setattr(replay, "check_file_writable", raise_unwritable)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path / "elsewhere"))
    assert main.main(["replay", str(results), "3"]) == 0
    assert opened[0] == results / "row-3.yaml" and opened[1].is_relative_to(tmp_path / "elsewhere")
    assert opened[1].read_text() == opened[0].read_text()


def test_damaged_results_are_reported_without_traceback(results: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = write_spec(results.parent)
    data = (results / DATABASE_FILE).read_bytes()
    size = int.from_bytes(data[16:18], "big")
    for place in range(0, len(data), size):
        (results / DATABASE_FILE).write_bytes(data[:place] + bytes(200) + data[place + 200 :])
        for command in (["report", str(results)], ["replay", str(results), "--check"], ["replay", str(results), "3"]):
            out = ["-o", str(results.parent / "row.yaml")] if command[-1] == "3" else []
            assert main.main([*command, *out]) in (0, 1, 2)
        assert main.main(["experiment", str(path), "-o", str(results), "--jobs", "1"]) in (0, 1, 2)
        assert "Traceback" not in capfd.readouterr().err
        for left in results.glob(f"{DATABASE_FILE}-*"):
            left.unlink()


ODD = (
    "DROP TABLE meta",
    "DROP TABLE results",
    "UPDATE results SET max_expansions = 'many'",
    "UPDATE results SET cost = x'ff00'",
    "UPDATE plan SET params = 'no json'",
    "UPDATE meta SET value = 'no number' WHERE name = 'cutoff'",
    "UPDATE meta SET value = x'ff' WHERE name = 'specification'",
    "UPDATE meta SET value = 'a: [' WHERE name = 'specification'",
    "ALTER TABLE plan DROP COLUMN label",
    "ALTER TABLE results DROP COLUMN moves",
    "ALTER TABLE results ADD COLUMN of_the_future TEXT",
)


@pytest.mark.parametrize("change", ODD)
def test_results_of_other_version_are_read_or_refused_without_traceback(
    change: str, results: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with closing(sqlite3.connect(results / DATABASE_FILE)) as db, db:
        db.execute(change)
    for command in (
        ["report", str(results)],
        ["report", str(results), "--markdown"],
        ["replay", str(results), "--check"],
    ):
        assert main.main(command) in (0, 1, 2)
    assert main.main(["replay", str(results), "3", "-o", str(results.parent / "row.yaml")]) in (0, 2)
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("change", ["ALTER TABLE plan DROP COLUMN label", "ALTER TABLE plan ADD COLUMN more TEXT"])
def test_plan_of_other_version_is_rebuilt_and_results_are_kept(change: str, results: Path) -> None:
    before = (results / "results.csv").read_bytes()
    with closing(sqlite3.connect(results / DATABASE_FILE)) as db, db:
        db.execute(change)
    store = open_store_for_writing(results)
    engine = engine_of(spec_of(TINY), store)
    assert engine.total_runs == 0
    write_csv_tables(store)
    store.close()
    assert (results / "results.csv").read_bytes() == before
