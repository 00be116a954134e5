"""The command line: what it prints, where, and its exit codes; bad input never ends in a traceback."""

import argparse
import io
import json
import math
import os
import pkgutil
import runpy
import signal
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

import benchmarks
import main
from agents.registry import AGENT_SPECS, AGENT_SPECS_BY_KEY
from cli.adaptive_stride import AdaptiveStride
from cli.arguments import CommandParser, parse_cell
from cli.interrupts import InterruptFlag
from cli.progress import ProgressBar
from files.agent_text import parse_agent_text
from files.movingai import read_map, select_row_indices
from files.scenario import build_world, load_scenario
from files.trace import TraceWriter
from sim.agent_checks import seed_of_problem
from sim.params import ConfigError
from sim.system.program import program_version
from sim.world import MAX_TICKS_PER_CALL, World

from .conftest import ROOT

ROOMS = str(ROOT / "assets" / "maps" / "rooms-32.map")
BRIDGES = str(ROOT / "assets" / "scenarios" / "bridges.yaml")
NO_PATH = str(ROOT / "assets" / "scenarios" / "no-path.yaml")
PUBLISHED = [
    *("agent", "params", "map", "start", "goal", "outcome", "cost", "optimal", "suboptimality"),
    *("moves", "back_moves", "nonoptimal_moves", "revisits", "expansions", "max_expansions"),
    *("restarts", "ticks", "planning_ms", "digest"),
]
TRACED = ["tick", "agent", "cell", "expanded", "back", "restarted", "refused"]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run a command; gives its exit code, standard output and standard error."""

    def call(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main.main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def parse_json_lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line, parse_constant=_refuse_constant) for line in text.splitlines()]


def _refuse_constant(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


def solve(run: Any, *more: str) -> list[dict[str, Any]]:
    code, out, _ = run("solve", "--map", ROOMS, "--from", "0,0", "--to", "31,31", *more)
    assert code == 0
    return parse_json_lines(out)


# --- agents ---------------------------------------------------------------------------------------


def test_agents_as_json(run: Any) -> None:
    code, out, err = run("agents", "--json")
    assert code == 0 and not err
    listed = json.loads(out)
    assert [entry["key"] for entry in listed] == [spec.key for spec in AGENT_SPECS]
    share = next(p for entry in listed if entry["key"] == "tba" for p in entry["params"] if p["name"] == "share")
    assert (share["low"], share["high"], share["default"], share["symbol"]) == (0.01, 0.99, 0.9, "r")


def test_agents_as_text(run: Any) -> None:
    code, out, _ = run("agents")
    assert code == 0
    for spec in AGENT_SPECS:
        assert spec.key in out and spec.summary in out
        assert all(param.name in out for param in spec.params)


# --- solve ----------------------------------------------------------------------------------------


def test_solve_prints_one_line_per_agent(run: Any) -> None:
    lines = solve(run, "--agent", "tb-wa:weight=3,reopen=true", "--agent", "astar:label=best", "--budget", "4")
    assert [line["agent"] for line in lines] == ["tb-wa", "astar"]
    for line in lines:
        assert list(line)[: len(PUBLISHED)] == PUBLISHED
        assert line["outcome"] == "reached" and line["start"] == [0, 0] and line["goal"] == [31, 31]
        assert line["map"] == ROOMS and line["suboptimality"] == line["cost"] / line["optimal"]
        assert line["ticks"] == line["moves"] + line["waits"] and line["max_expansions"] <= 4
        assert len(line["digest"]) == 16 and line["planning_ms"] > 0
    assert lines[0]["params"] == {"weight": 3.0, "reopen": True}
    assert lines[1]["label"] == "best" and lines[1]["cost"] == lines[1]["optimal"]
    assert lines[1]["first_move"] == lines[1]["waits"]


def test_result_line_reports_size_and_cost_of_agent_data(run: Any) -> None:
    """For each part its size and what making it took; nothing of agents without data."""
    database, records, plain = solve(run, "--agent", "d-lrta", "--agent", "knn-lrta:records=9", "--agent", "lrta")
    assert [part["kind"] for part in database["data"]] == ["abstraction", "database column"]
    assert [(part["kind"], part["records"]) for part in records["data"]] == [("records", 9)]
    for line in (database, records):
        assert sum(part["bytes"] for part in line["data"]) == line["database"] > 0
        assert all(part["build_expansions"] > 0 and part["disk_bytes"] >= 0 for part in line["data"])
        assert all(part["build_ms"] > 0 for part in line["data"]), "a stopwatch was held"
    assert "data" not in plain


def test_solve_results_match_world_and_are_repeatable(run: Any) -> None:
    first, second = (solve(run, "--agent", "tb-wa", "--budget", "2")[0] for _ in range(2))
    assert {**first, "planning_ms": 0} == {**second, "planning_ms": 0}
    grid = read_map(ROOMS)
    world = World(grid, grid.cell(0, 0), grid.cell(31, 31), AGENT_SPECS_BY_KEY, budget=2)
    walker = world.add(parse_agent_text("tb-wa", AGENT_SPECS_BY_KEY, 2))
    world.advance(100_000)
    metrics = world.metrics_of_walker(walker)
    assert (first["cost"], first["moves"], first["expansions"]) == (metrics.cost, metrics.moves, metrics.expansions)
    assert first["digest"] == world.walker_digest(walker)


@pytest.mark.parametrize("limit", [1, 7, 60])
def test_move_limit_is_exact(run: Any, limit: int) -> None:
    line = solve(run, "--agent", "tb-wa", "--budget", "1", "--max-moves", str(limit))[0]
    assert line["moves"] == limit and line["outcome"] == "move_limit"


def test_goal_reached_with_the_last_allowed_move_counts(run: Any) -> None:
    moves = solve(run, "--agent", "astar")[0]["moves"]
    assert solve(run, "--agent", "astar", "--max-moves", str(moves))[0]["outcome"] == "reached"
    assert solve(run, "--agent", "astar", "--max-moves", str(moves - 1))[0]["outcome"] == "move_limit"


def test_missing_path_has_null_optimal_in_json(run: Any, tmp_path: Path) -> None:
    (tmp_path / "cut.map").write_text("type octile\nheight 1\nwidth 5\nmap\n..@..\n")
    code, out, _ = run("solve", "--map", tmp_path / "cut.map", "--from", "0,0", "--to", "4,0", "--agent", "tb-wa")
    line = parse_json_lines(out)[0]
    assert code == 0 and line["outcome"] == "no_path"
    assert line["optimal"] is None and line["suboptimality"] is None and line["no_path_tick"] == 0


def test_agent_that_never_moves_is_reported_stuck(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.result_lines._STUCK_TICKS_PER_CELL", 0)
    monkeypatch.setattr("sim.result_lines.MAX_TICKS_PER_CALL", 10)
    line = solve(run, "--agent", "astar", "--budget", "1")[0]
    assert line["outcome"] == "stuck" and line["moves"] == 0


@pytest.fixture
def scen(tmp_path: Path) -> Path:
    """Five problems beside their map; the third starts in a wall, the fourth cannot be read."""
    rows = ["..@..", ".....", "..@.."]
    (tmp_path / "small.map").write_text("type octile\nheight 3\nwidth 5\nmap\n" + "\n".join(rows) + "\n")
    lengths = enumerate((4.8284, 4.4142, 3))
    lines = ["version 1", *(f"0\tmaps/x/small.map\t5\t3\t{x}\t0\t4\t2\t{long}" for x, long in lengths), "garbage"]
    lines.append("0 small.map 5 3 3 1 4 1 1")
    (tmp_path / "small.map.scen").write_text("\n".join(lines) + "\n")
    return tmp_path / "small.map.scen"


def test_solve_runs_selected_rows_of_scen_file(run: Any, scen: Path) -> None:
    code, out, err = run("solve", "--scen", scen, "--rows", "4,0:2", "--agent", "astar", "--agent", "gbfs")
    lines = parse_json_lines(out)
    assert code == 0 and not err
    assert [(line["row"], line["agent"]) for line in lines] == [
        (4, "astar"),
        (4, "gbfs"),
        (0, "astar"),
        (0, "gbfs"),
        (1, "astar"),
        (1, "gbfs"),
    ]
    assert lines[0]["listed_optimal"] == 1.0 and lines[0]["optimal"] == 1.0
    assert Path(lines[0]["map"]).name == "small.map"


def test_each_scen_row_has_its_own_random_seed(run: Any, tmp_path: Path) -> None:
    """Delayed A* shuttles beside the start in a direction that it draws: once in the same one in nearly all rows."""
    rows = "".join(f"0\t{ROOMS}\t32\t32\t0\t0\t31\t31\t49.0\n" for _ in range(8))
    (tmp_path / "same.scen").write_text(f"version 1\n{rows}")
    asked = ("--agent", "delayed-astar", "--budget", "5")

    def lines_of_rows(*more: str) -> list[dict[str, Any]]:
        return parse_json_lines(run("solve", "--map", ROOMS, "--scen", tmp_path / "same.scen", *asked, *more)[1])

    usual, other = lines_of_rows(), lines_of_rows("--seed", "7")
    assert [line["seed"] for line in usual] == [seed_of_problem(0, row) for row in range(8)]
    assert [line["seed"] for line in other] == [seed_of_problem(7, row) for row in range(8)]
    assert len({line["digest"] for line in usual}) == 3, "the start has three free neighbours"
    assert lines_of_rows("--rows", "5:7")[0]["digest"] == usual[5]["digest"], "a row keeps its seed"
    for line in (usual[5], other[5]):
        (alone,) = solve(run, *asked, "--seed", str(line["seed"]))
        assert (alone["seed"], alone["digest"]) == (line["seed"], line["digest"])
    (alone,) = solve(run, *asked)
    assert alone["seed"] == 0 and alone["digest"] == usual[0]["digest"]


def test_run_seed_option_overrides_scenario_seed(run: Any, tmp_path: Path) -> None:
    text = SCRIPT.split("agents:")[0].replace('"......", "......"', ", ".join(['"......"'] * 6))
    (tmp_path / "lots.yaml").write_text(f"{text}seed: 3\nagents: [{{kind: rtb-wa}}]\nchanges: {{every: 1, rate: 30}}\n")
    lines = [
        parse_json_lines(run("run", tmp_path / "lots.yaml", *more, "--keep", tmp_path / "kept.yaml")[1])[0]
        for more in ((), ("--seed", "3"), ("--seed", "4"))
    ]
    assert [line["seed"] for line in lines] == [3, 3, 4]
    assert lines[0]["world_digest"] == lines[1]["world_digest"] != lines[2]["world_digest"]
    again = parse_json_lines(run("run", tmp_path / "kept.yaml")[1])[0]
    assert again["world_digest"] == lines[2]["world_digest"], "what --keep writes has the seed of the run"


def test_wrong_listed_length_is_reported_and_ignored(run: Any, scen: Path) -> None:
    grid = "type octile\nheight 2\nwidth 3\nmap\n..@\n.@.\n"
    scen.with_name("cut.map").write_text(grid)
    rows = ["0 cut.map 3 2 0 0 1 0 1.01", "0 cut.map 3 2 0 0 1 0 1.5", "0 cut.map 3 2 0 0 2 1 2.83"]
    scen.write_text("\n".join(["version 1", *rows, ""]))
    code, out, err = run("solve", "--scen", scen, "--agent", "astar", "--agent", "tba", "--budget", "4")
    assert code == 0
    assert err.splitlines() == [
        "row 1: the file lists the length 1.5, but the cheapest path has length 1, which results use",
        "row 2: the file lists the length 2.83, but the cheapest path does not exist",
    ]
    found = [
        (line["row"], line["listed_optimal"], line["optimal"], line["suboptimality"])
        for line in parse_json_lines(out)[::2]
    ]
    assert found == [(0, 1.01, 1.0, 1.0), (1, 1.5, 1.0, 1.0), (2, 2.83, None, None)]


def test_bad_scen_rows_are_reported_and_others_run(run: Any, scen: Path) -> None:
    code, out, err = run("solve", "--scen", scen, "--map", scen.with_name("small.map"), "--agent", "astar")
    assert code == 2
    assert [line["row"] for line in parse_json_lines(out)] == [0, 1, 4]
    wrong = err.splitlines()
    assert len(wrong) == 2
    assert wrong[0].startswith(f"{scen}:4: row 2: start: expected a free cell")
    assert wrong[1].startswith(f"{scen}:5: row 3: ")


def test_missing_map_skips_only_its_rows(run: Any, scen: Path) -> None:
    rows = scen.read_text() + "0 gone.map 5 3 3 1 4 1 1\n0 small.map 5 3 3 1 4 1 1\n"
    scen = scen.with_name("list.scen")  # else its own name would lead to a map
    scen.write_text(rows)
    code, out, err = run("solve", "--scen", scen, "--rows", "0,5,6", "--agent", "astar")
    assert code == 2 and [line["row"] for line in parse_json_lines(out)] == [0, 6]
    assert err.startswith(f"{scen}:7: row 5: expected the map 'gone.map', found none at ") and err.count("\n") == 1
    code, out, err = run("solve", "--scen", scen, "--map", "gone.map", "--agent", "astar")
    assert (code, out, err) == (2, "", "gone.map: expected a .map file, got no such file\n")


@pytest.mark.parametrize("rows", [(), ("--rows", "0")])
def test_empty_scen_file_is_one_message(run: Any, tmp_path: Path, rows: tuple[str, ...]) -> None:
    path = tmp_path / "none.scen"
    path.write_text("version 1\n")
    said = f"{path}: expected a list with at least one problem, got none\n"
    assert run("solve", "--scen", path, "--agent", "astar", *rows) == (2, "", said)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (None, [0, 1, 2, 3]),
        ("2", [2]),
        ("3,0", [3, 0]),
        ("1:3", [1, 2]),
        (":2", [0, 1]),
        ("2:", [2, 3]),
        (" 1 , :1", [1, 0]),
    ],
)
def test_row_numbers_are_parsed(text: str | None, rows: list[int]) -> None:
    assert select_row_indices(text, 4, "x.scen") == rows


@pytest.mark.parametrize("text", ["4", "0:5", "x", "", "1,,2", "3:3", "3:1", "-1", "1:2:3", "9" * 5000])
def test_bad_row_numbers_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^--rows: expected rows "):
        select_row_indices(text, 4, "x.scen")


# --- run ------------------------------------------------------------------------------------------


def test_run_prints_one_line_per_agent(run: Any) -> None:
    code, out, err = run("run", BRIDGES)
    lines = parse_json_lines(out)
    assert code == 0 and not err
    assert [line["label"] for line in lines] == ["lazy", "eager"]
    assert all(list(line)[: len(PUBLISHED)] == PUBLISHED for line in lines)
    world = build_world(load_scenario(BRIDGES, AGENT_SPECS_BY_KEY), AGENT_SPECS_BY_KEY)
    world.advance(10_000)
    assert lines[0]["world_digest"] == world.compute_digest()
    assert lines[1]["digest"] == world.walker_digest(world.walkers[1])


def test_run_reports_outcome_of_each_agent(run: Any) -> None:
    outcomes = {}
    for ticks in (50, 205, 1000):
        _, out, _ = run("run", NO_PATH, "--ticks", ticks)
        lines = parse_json_lines(out)
        outcomes[ticks] = [line["outcome"] for line in lines]
        assert all(line["ticks"] <= ticks for line in lines)
        assert all((line["no_path_tick"] is not None) == line["outcome"].endswith("no_path") for line in lines)
    assert outcomes[50] == ["stuck"] * 4
    assert outcomes[205] == ["waiting_no_path"] * 3 + ["no_path"]
    assert outcomes[1000] == ["reached"] * 3 + ["no_path"]


def test_no_path_tick_matches_the_trace(run: Any, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    _, out, _ = run("run", NO_PATH, "--ticks", "205", "--trace", trace)
    last = {entry["id"]: entry["tick"] for entry in parse_json_lines(trace.read_text())}
    assert [line["no_path_tick"] for line in parse_json_lines(out)] == [last[i] for i in range(4)]


SCRIPT = """\
format: backmove-scenario
version: 1
map: {rows: ["......", "......"]}
start: [0, 0]
goal: [5, 0]
budget: 1
agents:
  - {kind: tb-wa, label: walker}
edits:
  - {tick: 1, add: {kind: astar, label: brief}}
  - {tick: 2, block: [[1, 0], [2, 0], [1, 1]]}
  - {tick: 3, remove: brief}
"""


def test_run_reports_notes_and_removed_agents(run: Any, tmp_path: Path) -> None:
    (tmp_path / "script.yaml").write_text(SCRIPT)
    code, out, err = run("run", tmp_path / "script.yaml")
    assert code == 0
    assert [(line["label"], line["outcome"]) for line in parse_json_lines(out)] == [
        ("walker", "reached"),
        ("brief", "removed"),
    ]
    assert err.splitlines() == ["tick 2: (2, 0) stays free: walker is on it"]


def test_run_reports_scenario_without_agents(run: Any, tmp_path: Path) -> None:
    (tmp_path / "empty.yaml").write_text(SCRIPT.split("agents:")[0] + "agents: []\n")
    assert run("run", tmp_path / "empty.yaml") == (0, "", "the scenario has no agents\n")


# --- trace ----------------------------------------------------------------------------------------


def test_trace_totals_match_the_result(run: Any, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    _, out, _ = run("run", BRIDGES, "--trace", trace)
    entries = parse_json_lines(trace.read_text())
    assert all(list(entry)[: len(TRACED)] == TRACED for entry in entries)
    assert [entry["tick"] for entry in entries] == sorted(entry["tick"] for entry in entries)
    for line in parse_json_lines(out):
        own = [entry for entry in entries if entry["agent"] == line["label"]]
        assert [entry["tick"] for entry in own] == list(range(line["ticks"]))
        assert sum(entry["expanded"] for entry in own) == line["expansions"]
        assert sum(entry["back"] for entry in own) == line["back_moves"]
        assert sum(entry["restarted"] for entry in own) == line["restarts"]
        assert own[-1]["cell"] == line["goal"] and not any(entry["refused"] for entry in own)


def test_agent_option_accepts_lists_and_repeats(run: Any) -> None:
    agents = ("--agent", "tba", "tb-wa:weight=3", "--budget", "8", "--agent", "astar")
    _, out, _ = run("solve", "--map", "rooms-32", "--from", "0,0", "--to", "31,31", *agents)
    assert [line["agent"] for line in parse_json_lines(out)] == ["tba", "tb-wa", "astar"]
    assert {line["map"] for line in parse_json_lines(out)} == {"rooms-32"}


def test_solve_trace_contains_the_scen_row(run: Any, scen: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    code, out, _ = run("solve", "--scen", scen, "--rows", "0,1", "--agent", "gbfs", "--trace", trace)
    entries = parse_json_lines(trace.read_text())
    assert code == 0
    for line in parse_json_lines(out):
        assert sum(entry["row"] == line["row"] for entry in entries) == line["ticks"]


# --- trials ---------------------------------------------------------------------------------------


def test_trials_print_one_line_each_until_convergence(run: Any) -> None:
    lines = solve(run, "--agent", "lss-lrta:lookahead=20", "--trials", "1000", "--budget", "20")
    assert [line["trial"] for line in lines] == list(range(1, len(lines) + 1)) and len(lines) > 3
    assert [line["converged"] for line in lines] == [False] * (len(lines) - 1) + [True]
    assert [line["h_changes"] > 0 for line in lines] == [True] * (len(lines) - 1) + [False]
    assert lines[-1]["cost"] == lines[-1]["optimal"] and lines[-1]["suboptimality"] == 1.0
    for line in lines:
        assert line["suboptimality"] == pytest.approx(line["cost"] / line["optimal"])
        assert line["ticks"] == line["moves"] + line["waits"] and line["outcome"] == "reached"
    (once,) = solve(run, "--agent", "lss-lrta:lookahead=20", "--budget", "20")
    same = ("cost", "moves", "expansions", "nonoptimal_moves", "ticks", "optimal", "restarts")
    assert {key: lines[0][key] for key in same} == {key: once[key] for key in same}


def test_trial_stopped_by_move_limit_is_printed(run: Any) -> None:
    first, *_ = solve(run, "--agent", "lrta", "--trials", "9")
    lines = solve(run, "--agent", "lrta", "--trials", "9", "--max-moves", str(first["moves"] + 5))
    assert [(line["trial"], line["outcome"], line["moves"]) for line in lines] == [
        (1, "reached", first["moves"]),
        (2, "move_limit", 5),
    ]
    assert not lines[-1]["converged"]


def test_agent_without_learning_runs_one_trial(run: Any) -> None:
    (line,) = solve(run, "--agent", "tb-wa", "--trials", "5")
    assert "trial" not in line and line["suboptimality"] == line["cost"] / line["optimal"]


def test_run_with_trials_reports_totals_and_last_trial(run: Any) -> None:
    code, out, _ = run("run", ROOT / "assets" / "scenarios" / "learning.yaml")
    assert code == 0
    for line in parse_json_lines(out):
        assert line["converged"] and line["trial"] > 3 and line["suboptimality"] is None
        assert line["trial_cost"] == line["optimal"] and line["trial_suboptimality"] == 1.0
        assert line["cost"] > line["trial"] * line["optimal"]


# --- which program, which Python --------------------------------------------------------------------


def test_version_matches_package_and_citation_file(run: Any) -> None:
    code, out, _ = run("--version")
    assert code == 0 and out.startswith(f"Backmove {program_version()}, Python ")
    assert f"\nversion: {program_version()}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("", "expected the package numpy, found none; "),  # -S: a Python without packages
        ("sys.version_info = (3, 10, 1); ", "Backmove needs Python 3.11 or later; "),
    ],
)
def test_unsupported_python_is_reported_in_one_line(before: str, words: str) -> None:
    code = f"import runpy, sys; {before}sys.argv[1:] = ['agents']; runpy.run_path('main.py', run_name='__main__')"
    result = subprocess.run(
        [sys.executable, "-S", "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
    )
    assert result.returncode != 0 and words in result.stderr and result.stderr.count("\n") == 1


# --- bad input ------------------------------------------------------------------------------------

ENDS = ("--from", "0,0", "--to", "31,31")
E1, E10 = (str(ROOT / "assets" / "experiments" / name) for name in ("e1.yaml", "e10.yaml"))
MAP_TAKERS = "--map, the window, and scenarios as `map: {file: ...}` accept it"
SMALL = "experiment: argument --size: expected one of full, small, got 'smal'; did you mean 'small'?"


@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        (["solv"], ["solv: no such command or file; did you mean 'solve'?"]),
        (
            [BRIDGES.replace("bridges", "brigdes")],
            [f"{BRIDGES.replace('bridges', 'brigdes')}: no such file; did you mean 'bridges.yaml'?"],
        ),
        (["/no/such/folder/x.yaml"], ["/no/such/folder/x.yaml: no such file"]),
        (["--hepl"], ["--hepl: no such option; did you mean '--help'?"]),
        (["a", "b"], [f"a: no such command or file; known: {', '.join((*main.COMMANDS, *main.OWN))}, --help"]),
        (
            ["bridges", "extra"],
            ["extra: expected only one file or example to open, got another argument after bridges"],
        ),
        (["run", "bridge"], ["bridge: no such file or example; did you mean 'bridges'?"]),
        (["record", "bridge", "-o", "a.mp4"], ["bridge: no such file or example; did you mean 'bridges'?"]),
        (["run"], ["run: the following arguments are required: scenario"]),
        (["run", "nope.yaml"], ["nope.yaml: expected a .yaml file, got no such file"]),
        (["run", BRIDGES, "--tics", "3"], ["run: unrecognized arguments: --tics 3; did you mean '--ticks'?"]),
        (
            ["run", BRIDGES, "--ticks", "no"],
            ["run: argument --ticks: expected a whole number from 1 to 1,000,000,000, got 'no'"],
        ),
        (["solve", "--map", ROOMS, *ENDS], ["solve: the following arguments are required: --agent"]),
        (
            ["solve", "--map", ROOMS, *ENDS, "--agent", "tbwa", "--agent", "tba:shar=1,share=2,x"],
            [
                "--agent tbwa: no agent 'tbwa'; did you mean 'tb-wa'?",
                "--agent tba:shar=1,share=2,x: expected parameter=value, got 'x'",
            ],
        ),
        (
            ["solve", "--map", ROOMS, *ENDS, "--agent", "TBA*", "--agent", "tb-wa,weight=3"],
            [
                "--agent TBA*: no agent 'TBA*'; did you mean 'tba'?",
                "--agent tb-wa,weight=3: no agent 'tb-wa,weight=3'; did you mean 'tb-wa'? "
                "Parameters follow a colon, as in tb-wa:weight=3",
            ],
        ),
        (
            ["solve", "--map", "room-64", *ENDS, "--agent", "tba"],
            ["room-64: no such file or example; did you mean 'rooms-64'?"],
        ),
        (["advise", "--map", "room-64"], ["room-64: no such file or example; did you mean 'rooms-64'?"]),
        (
            ["check-lesson", "why-agents-scrubs"],
            ["why-agents-scrubs: no such file or example; did you mean 'why-agents-scrub'?"],
        ),
        (
            ["solve", "--map", ROOMS, *ENDS, "--agent", "tba:shar=1,share=2"],
            [
                "--agent tba.shar: no such parameter; did you mean 'share'?",
                "--agent tba.share: expected a number from 0.01 to 0.99, got '2'",
            ],
        ),
        (
            ["solve", "--map", ROOMS, *ENDS, "--agent", "tba", "--budget", "1"],
            [
                "--agent tba: budget: expected one that leaves at least one expansion and one trace step a tick, "
                "got 1, which at share 0.9 and trace_rate 10.0 leaves 0 and 10"
            ],
        ),
        (
            ["solve", "--map", ROOMS, *ENDS, "--agent", "tb-wa:weight=1,weight=2", "--agent", "tb-wa:budget=0"],
            [
                "--agent tb-wa.weight: given twice",
                "--agent tb-wa.budget: expected a whole number from 1 to 1,000,000,000, got '0'",
            ],
        ),
        (
            ["solve", "--map", ROOMS, *ENDS, "--agent", "tb-wa:", "--agent", "astar: "],
            [
                "--agent tb-wa:: expected parameter=value after the colon, got nothing",
                "--agent astar: : expected parameter=value after the colon, got nothing",
            ],
        ),
        (
            ["solve", "--map", ROOMS, *ENDS, "--agent", "tb-wa:weight=2,"],
            ["--agent tb-wa:weight=2,: expected parameter=value, got ''"],
        ),
        (
            ["solve", "--map", "\x1b[2Jrooms\r.map", *ENDS, "--agent", "tba"],
            ["\\x1b[2Jrooms\\r.map: expected a .map file, got no such file"],
        ),
        (["solve", "--map", ROOMS, "--from", "0,0", "--agent", "tba"], ["solve: expected --to as X,Y, or --scen FILE"]),
        (["solve", "--agent", "tba"], ["solve: expected --map FILE with --from X,Y and --to X,Y, or --scen FILE"]),
        (["solve", *ENDS, "--scen", "x", "--agent", "tba"], ["solve: expected --scen or --from and --to, got both"]),
        (
            ["solve", "--map", ROOMS, *ENDS, "--rows", "1", "--agent", "tba"],
            ["solve: --rows: expected --scen FILE with it"],
        ),
        (
            ["solve", "--map", ROOMS, "--from", "0;0", "--to", "1,1", "--agent", "tba"],
            ["solve: argument --from: expected a cell as X,Y, got '0;0'"],
        ),
        (
            ["solve", "--map", ROOMS, "--from", "7,0", "--to", "32,1", "--agent", "tba"],
            [f"{ROOMS}: --from: expected a free cell, got (7, 0) on '@', which is blocked"],
        ),
        (
            ["solve", "--map", ROOMS[:-5] + ".map", *ENDS, "--agent", "tba"],
            [f"{ROOMS[:-5]}.map: expected a .map file, got no such file; did you mean 'rooms-32.map'?"],
        ),
        (
            ["solve", "--map", ROOMS, *ENDS, "--agent", "astar", "--trace", "/no/such/folder/t"],
            ["--trace /no/such/folder/t: cannot be written: No such file or directory"],
        ),
        (
            ["solve", "--map", ROOMS, *ENDS, "--threshold", "9", "--agent", "tba"],
            [f"solve: --threshold: expected a picture (.png or .pgm) as --map with it, got {ROOMS}"],
        ),
        (["--agent-fil", "a.py"], ["--agent-fil: no such option; did you mean '--agent-file'?"]),
        (["report", "no-such"], ["no-such: expected a folder of `python main.py experiment`, got no such folder"]),
        (["report", ROOMS], [f"{ROOMS}: expected a folder of `python main.py experiment`, got a file"]),
        (["replay", "no-such", "1"], ["no-such: expected a folder of `python main.py experiment`, got no such folder"]),
        (
            ["replay", "no-such", "x"],
            ["replay: argument ROW: expected a whole number from 0 to 999,999,999,999, got 'x'"],
        ),
        (
            ["experiment", E1, "--maps", "no-such"],
            ["experiment: argument --maps: expected a folder, got no such folder: 'no-such'"],
        ),
        (["experiment", E1, "--size", "smal"], [SMALL]),
        (["experiment", E10, "-o", ROOMS], [f"{ROOMS}: expected a folder, got a file"]),
        (["advise", "--map", ROOMS, "-o", ROOMS], [f"{ROOMS}: expected a folder, got a file"]),
        (["advise", "--map", ROOMS, "-o", f"{ROOMS}/a/b"], [f"{ROOMS}: expected a folder, got a file"]),
        (["run", ROOMS], [f"{ROOMS}: expected a scenario, got a map; {MAP_TAKERS}"]),
    ],
)
def test_bad_input_exits_with_messages(run: Any, arguments: list[str], messages: list[str] | None) -> None:
    code, out, err = run(*arguments)
    assert code == 2 and not out and "Traceback" not in err
    assert err and (messages is None or err.splitlines() == messages)


@pytest.mark.parametrize("label", ["a\nb", "\x1b[2J", "x" * 61])
def test_label_with_control_characters_is_refused(label: str) -> None:
    with pytest.raises(ConfigError, match="label: expected printable text of at most 60 characters"):
        parse_agent_text(f"lrta:label={label}", AGENT_SPECS_BY_KEY, 2)


@pytest.mark.parametrize("text", ["1", "1,2,3", "a,b", "-1,2", "", "1,", "9999999,1"])
def test_bad_cell_is_refused(text: str) -> None:
    with pytest.raises(Exception, match="expected a cell as X,Y"):
        parse_cell(text)


@pytest.mark.parametrize(
    ("command", "file", "message"),
    [
        (
            "run",
            "lessons/why-agents-scrub.yaml",
            "a scenario, got a lesson; `python main.py check-lesson` and the window",
        ),
        (
            "run",
            "experiments/e1.yaml",
            "a scenario, got the specification of an experiment; `python main.py experiment`",
        ),
        (
            "record",
            "experiments/e1.yaml",
            "a scenario, got the specification of an experiment; `python main.py experi",
        ),
        ("run", "session.yaml", "a scenario, got a session; `python main.py record` and the window accept it"),
        ("run", "office.yaml", "a scenario, got a map of ROS; --map, the window"),
        (
            "experiment",
            "scenarios/bridges.yaml",
            "the specification of an experiment, got a scenario; `python main.py run`",
        ),
        ("check-lesson", "session.yaml", "a lesson, got a session; `python main.py record` and the window accept it"),
        (
            "advise --map",
            "scenarios/bridges.yaml",
            "a map of ROS, got a scenario; `python main.py run`, `python main.py record` and",
        ),
    ],
)
def test_wrong_file_kind_is_named_in_the_message(
    run: Any, tmp_path: Path, command: str, file: str, message: str
) -> None:
    path = ROOT / "assets" / file
    if not path.exists():
        path = tmp_path / file
        path.write_text({"session.yaml": "format: backmove-session\n", "office.yaml": "image: office.pgm\n"}[file])
    more = ("-o", tmp_path / "a.mp4") if command == "record" else ()
    code, out, err = run(*command.split(), path, *more)
    assert (code, out) == (2, "") and err.startswith(f"{path}: expected {message}") and err.count("\n") == 1


def test_bad_scenario_reports_all_mistakes(run: Any) -> None:
    path = ROOT / "tests" / "bad" / "scenarios" / "everything.yaml"
    code, out, err = run("run", path)
    assert code == 2 and not out
    assert len(err.splitlines()) == 22 and all(line.startswith(f"{path}:") for line in err.splitlines())


@pytest.mark.skipif(os.name == "nt", reason="a shell that closes streams")
@pytest.mark.parametrize("command", ["agents", "run bridges", "--help", "agents 2>&-"])
def test_closed_stdout_is_reported_in_one_line(command: str) -> None:
    words = f'exec "{sys.executable}" "{ROOT / "main.py"}" {command} >&-'
    ended = subprocess.run(["sh", "-c", words], stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    what = (
        f"{command.split()[0]}: standard output is closed, so results would be lost; use >/dev/null to discard them\n"
    )
    assert ended.stderr == ("" if "2>&-" in command else what)


def test_help_option_after_file_prints_help(run: Any) -> None:
    assert run("bridges", "--help") == run("--help")


def test_help_lists_commands_and_their_usage(run: Any) -> None:
    code, out, _ = run("--help")
    assert code == 0 and all(f"\n    {command} " in out for command in (*main.COMMANDS, *main.OWN))
    for command in ("agents", "solve", "run"):
        code, out, _ = run(command, "--help")
        assert code == 0 and out.startswith(f"usage: python main.py {command}")


DEFAULTS = {
    ("record", "size"): "1280x720",
    ("record", "part"): "panels",
    ("record", "ticks"): "the whole run",
    ("experiment", "jobs"): "one per processor",
}


@pytest.mark.parametrize("command", [*main.COMMANDS, *main.OWN, "bench"])
def test_help_describes_each_option_and_its_default(command: str, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    parsers: list[CommandParser] = []
    monkeypatch.setattr(CommandParser, "parse_args", lambda parser, argv: parsers.append(parser) or sys.exit(0))
    if command == "bench":
        with pytest.raises(SystemExit):
            benchmarks.main([])
    else:
        assert run(command)[0] == 0
    for action in parsers[0]._actions:
        assert action.help, action.dest
        if not isinstance(action.default, (bool, type(None), Path, list)) and action.default != argparse.SUPPRESS:
            words = DEFAULTS.get((command, action.dest), str(action.default))
            assert action.help.replace(",", "").endswith(f" (default: {words})"), action.dest


@pytest.mark.parametrize(
    "module", ["benchmarks", *(f"tools.{name}" for name in ("thumbs", "readme", "shots", "papers", "train_tree"))]
)
def test_developer_modules_print_help_and_refuse_unknown_options(
    module: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refusing in a program of its own: elsewhere somebody else may have imported what a module forgot."""
    command = [sys.executable, "-m", module, "--hepl"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2 and "Traceback" not in ended.stderr and not ended.stdout
    assert "did you mean '--help'" in ended.stderr
    monkeypatch.setattr(sys, "argv", [module, "--help"])
    executed = f"{module}.__main__" if module == "benchmarks" else module
    monkeypatch.delitem(sys.modules, executed, raising=False)  # runpy runs what nobody has imported
    with pytest.raises(SystemExit) as end:
        runpy.run_module(module, run_name="__main__")
    assert end.value.code == 0 and capsys.readouterr().out.startswith(f"usage: python -m {module}")


# --- the window -----------------------------------------------------------------------------------


def test_window_opens_with_or_without_file(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Path | None] = []
    app = types.SimpleNamespace(run_until_closed=lambda path: opened.append(path) or 0)
    monkeypatch.setitem(sys.modules, "ui.start", app)
    assert run() == (0, "", "") and run(BRIDGES) == (0, "", "")
    assert opened == [None, Path(BRIDGES)]


def test_window_without_display_exits_with_message() -> None:
    hidden = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    hidden.pop("SDL_VIDEODRIVER", None)
    ended = subprocess.run(
        [sys.executable, ROOT / "main.py"], env=hidden, capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 2 and not ended.stdout and "Traceback" not in ended.stderr
    assert "the window cannot be opened" in ended.stderr


# --- interruptions --------------------------------------------------------------------------------


needs_signals = pytest.mark.skipif(os.name == "nt", reason="signals work differently on Windows")
SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]


def interrupt_after(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, sign: signal.Signals = signal.SIGINT, call: int = 1
) -> None:
    """Send a signal to this process at the end of the given call of a function."""
    original, calls = getattr(owner, name), []

    def interrupted(*given: Any, **named: Any) -> Any:
        found = original(*given, **named)
        calls.append(name)
        if len(calls) == call:
            os.kill(os.getpid(), sign)
        return found

    monkeypatch.setattr(owner, name, interrupted)


@needs_signals
def test_ctrl_c_prints_partial_results(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = {
        ("run", BRIDGES): [("rtb-wa", "interrupted")] * 2,
        ("solve", "--map", ROOMS, *ENDS, "--agent", "tb-wa", "tba", "--budget", "2"): [("tb-wa", "interrupted")],
    }
    for command, outcomes in commands.items():
        with monkeypatch.context() as patch:
            interrupt_after(patch, TraceWriter, "write_ticks")
            code, out, err = run(*command)
        assert code == 130 and not err
        assert [(line["agent"], line["outcome"]) for line in parse_json_lines(out)] == outcomes


def test_agent_at_its_own_limit_does_not_interrupt_solve(run: Any) -> None:
    """IDA* with `most` once ended `solve` like Ctrl+C, and the agents and rows after it were left out."""
    lines = solve(run, "--agent", "ida:most=100", "astar", "tba")
    outcomes = [(line["agent"], line["outcome"]) for line in lines]
    assert outcomes == [("ida", "gave_up"), ("astar", "reached"), ("tba", "reached")]


MOMENTS = [
    ("cli.solve.TraceWriter", "reset_refusal_counters", 1, ["interrupted"]),
    ("cli.solve.TraceWriter", "write_ticks", 1, ["interrupted"]),
    (
        "cli.solve.TraceWriter",
        "write_ticks",
        2,
        ["reached"],
    ),  # the agent is at its goal: once the interruption was lost here
    ("cli.solve", "print_result", 1, ["reached"]),
    ("cli.solve", "print_result", 2, ["reached", "reached"]),
    ("os", "fsync", 1, ["reached", "reached"]),  # the trace takes its place
]


@needs_signals
@pytest.mark.parametrize(("sign", "code"), SIGNALS)
@pytest.mark.parametrize(("owner", "name", "call", "outcomes"), MOMENTS)
def test_solve_handles_interrupt_at_any_stage(
    run: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    owner: str,
    name: str,
    call: int,
    outcomes: list[str],
    sign: signal.Signals,
    code: int,
) -> None:
    monkeypatch.setattr("cli.adaptive_stride._SHORT_S", math.inf)  # steps of 16 and 64 ticks on every machine
    interrupt_after(monkeypatch, pkgutil.resolve_name(owner), name, sign, call)
    ended, out, err = run(
        "solve", "--map", ROOMS, *ENDS, "--agent", "astar", "tba", "--trace", tmp_path / "t", "--budget", "9999"
    )
    assert ended == code and not err
    assert [line["outcome"] for line in parse_json_lines(out)] == outcomes
    traced = dict.fromkeys(entry["agent"] for entry in parse_json_lines((tmp_path / "t").read_text()))
    assert list(traced) == ["A*", "TBA*"][: len(outcomes)]


@needs_signals
@pytest.mark.parametrize(("sign", "code"), SIGNALS)
@pytest.mark.parametrize(
    ("owner", "name"), [("cli.run.TraceWriter", "write_ticks"), ("cli.run", "print_result"), ("os", "fsync")]
)
def test_run_handles_interrupt_at_any_stage(
    run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, owner: str, name: str, sign: signal.Signals, code: int
) -> None:
    interrupt_after(monkeypatch, pkgutil.resolve_name(owner), name, sign)
    ended, out, err = run("run", BRIDGES, "--trace", tmp_path / "t")
    assert ended == code and not err
    outcome = "interrupted" if name == "write_ticks" else "reached"
    assert [line["outcome"] for line in parse_json_lines(out)] == [outcome, outcome]
    assert parse_json_lines((tmp_path / "t").read_text())


@needs_signals
@pytest.mark.parametrize(("sign", "code"), SIGNALS)
def test_interrupt_before_first_tick_prints_nothing(
    run: Any, monkeypatch: pytest.MonkeyPatch, sign: signal.Signals, code: int
) -> None:
    """Compiling kernels and building data may take minutes, so that a signal ends them at once."""
    for module, command in (
        ("cli.solve", ("solve", "--map", ROOMS, *ENDS, *TWO_AGENTS)),
        ("cli.run", ("run", BRIDGES)),
    ):
        for name in ("warm_up_agents", "prepare_agent_data"):
            with monkeypatch.context() as patch:
                interrupt_after(patch, pkgutil.resolve_name(module), name, sign)
                assert run(*command) == (code, "", ""), (module, name)


@needs_signals
def test_second_signal_exits_immediately(monkeypatch: pytest.MonkeyPatch) -> None:
    with InterruptFlag() as interrupts:
        os.kill(os.getpid(), signal.SIGTERM)
        assert interrupts.exit_code == 143
        begun: list[int] = []
        assert not interrupts.run_interruptibly(lambda: begun.append(1)) and not begun, "nothing more is begun"
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        assert interrupts.exit_code == 143, "the first signal says how the program ends"
    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(signal, "getsignal", lambda _: signal.SIG_IGN)  # a program in the background of a shell
    with InterruptFlag():
        monkeypatch.undo()
        assert signal.getsignal(signal.SIGINT) is before


def test_stride_adapts_step_length_to_signal_polling_interval() -> None:
    now = 0.0
    stride = AdaptiveStride(lambda: now)
    steps = []
    for tick_s in (1e-6,) * 8 + (1.0,) * 8:
        steps.append(stride())
        now += steps[-1] * tick_s
    assert steps[0] <= 16 and MAX_TICKS_PER_CALL in steps and steps[-1] == 1
    assert max(steps) == MAX_TICKS_PER_CALL


def test_full_disk_is_reported_in_one_line(run: Any) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    for command, lines in ((("run", BRIDGES), 2), (("solve", "--map", ROOMS, *ENDS, *TWO_AGENTS), 2)):
        code, out, err = run(*command, "--trace", "/dev/full")
        assert code == 2 and err == "/dev/full: cannot be written: No space left on device\n"
        assert len(parse_json_lines(out)) == lines, "what was found is worth more than the files beside it"


@pytest.mark.parametrize("option", ["--keep", "--trace", "--posthoc"])
def test_unwritable_output_is_refused_before_the_run(
    run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, option: str
) -> None:
    monkeypatch.setattr(World, "advance", lambda *_: pytest.fail("it has begun"))
    (tmp_path / "folder.trace.yaml").mkdir()
    for place, why in (("none/k.trace.yaml", "No such file or directory"), ("folder.trace.yaml", "Is a directory")):
        code, out, err = run("run", BRIDGES, option, tmp_path / place)
        assert (code, out) == (2, "") and err == f"{option} {tmp_path / place}: cannot be written: {why}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["folder.trace.yaml"]


@pytest.mark.parametrize("fails", ["--keep", "--posthoc"])
def test_results_are_printed_even_if_output_files_fail(
    run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fails: str
) -> None:
    """A disk that gets full while the run goes on: one file is lost, and told."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("files.disk.os.fsync" if fails == "--keep" else "cli.posthoc.PosthocWriter._write_events", full)
    monkeypatch.setattr("files.posthoc.PosthocWriter.end", full)
    more = ("--keep", tmp_path / "k.yaml") if fails == "--keep" else ("--posthoc", tmp_path / "a.trace.yaml")
    code, out, err = run("run", BRIDGES, *more)
    assert code == 2 and len(parse_json_lines(out)) == 2
    assert err.count("No space left on device") == len(err.splitlines()) and not list(tmp_path.iterdir())


def test_output_file_must_differ_from_inputs_and_other_outputs(run: Any, tmp_path: Path) -> None:
    scenario, board, other = tmp_path / "a.yaml", tmp_path / "a.map", tmp_path / "link.jsonl"
    scenario.write_text(SCRIPT.replace('{rows: ["......", "......"]}', "{file: a.map}"))
    board.write_text("type octile\nheight 2\nwidth 6\nmap\n......\n......\n")
    os.link(board, other)
    crowd, rows = tmp_path / "crowd.yaml", tmp_path / "rows.scen"
    crowd.write_text(scenario.read_text().split("agents:")[0] + "agents: [{kind: lrta, placing: {scen: rows.scen}}]\n")
    rows.write_text("version 1\n0 a.map 6 2 0 0 5 1 5.4\n")
    files = {path: path.read_bytes() for path in (scenario, board, crowd, rows)}
    task = ("solve", "--map", board, "--from", "0,0", "--to", "5,1", "--agent", "tba")
    for command, places in {
        ("run", scenario, "--trace", scenario): "is not an input as well",
        ("run", scenario, "--keep", board): "is not an input as well",
        ("run", scenario, "--keep", other): "is not an input as well",
        ("run", crowd, "--trace", rows): "is not an input as well",
        (*task, "--trace", board): "is not an input as well",
        ("run", scenario, "--keep", tmp_path / "x", "--trace", tmp_path / "." / "x"): "got the file of --keep",
    }.items():
        code, out, err = run(*command)
        assert (code, out) == (2, "") and places in err and err.count("\n") == 1
    assert all(path.read_bytes() == before for path, before in files.items())
    assert run("run", scenario, "--keep", "/dev/null", "--trace", "/dev/null")[0] == 0


def test_failed_trace_keeps_the_existing_file(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = tmp_path / "trace.jsonl"
    trace.write_text("what was there")
    monkeypatch.setattr("files.trace.TraceWriter._agent_lines", lambda *_: [(0, "x" * 10)])
    monkeypatch.setattr("files.disk.os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left")))
    code, out, err = run("run", BRIDGES, "--trace", trace)
    assert code == 2 and len(parse_json_lines(out)) == 2 and err == f"{trace}: cannot be written: No space left\n"
    assert trace.read_text() == "what was there" and [path.name for path in tmp_path.iterdir()] == [trace.name]


TWO_AGENTS = ("--agent", "tba", "--agent", "tb-wa")


def start(*arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-W", "error", str(ROOT / "main.py"), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT.parent)


@pytest.mark.parametrize(("path", "code", "lines", "messages"), [(BRIDGES, 0, 2, 0), ("nope.yaml", 2, 0, 1)])
def test_main_runs_from_another_folder(path: str, code: int, lines: int, messages: int) -> None:
    with start("run", path) as process:
        out, err = process.communicate(timeout=120)
    assert process.returncode == code, err
    assert len(parse_json_lines(out)) == lines and err.count("\n") == messages


def test_closed_pipe_exits_without_message() -> None:
    with start("agents", "--json") as process:
        assert process.stdout and process.stderr
        process.stdout.close()
        assert process.wait(timeout=120) == 141
        assert process.stderr.read() == ""


@pytest.mark.skipif(os.name == "nt", reason="signals work differently on Windows")
@pytest.mark.parametrize(("sign", "code"), SIGNALS)
def test_real_interrupt_exits_quietly_and_keeps_complete_files(tmp_path: Path, sign: signal.Signals, code: int) -> None:
    """An agent that never gets there, because the changes of its map change nothing. Files are kept, and no half."""
    (tmp_path / "endless.yaml").write_text(
        SCRIPT.split("agents:")[0].replace('"......", "......"', '"..@..."')
        + "agents: [{kind: rtb-wa}]\nedits: [{tick: 9, block: [[1, 0]]}]\nchanges: {every: 1, rate: 1}\n"
    )
    files = ("--trace", str(tmp_path / "t.jsonl"), "--posthoc", str(tmp_path / "p.trace.json"))
    with start("run", str(tmp_path / "endless.yaml"), "--ticks", "900000000", *files) as process:
        assert process.stderr
        assert "stays free" in process.stderr.readline()  # now it is on its way
        process.send_signal(sign)
        try:
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()  # or the end of this block would wait for one that heeds no interrupt
    assert process.returncode == code and not err
    assert parse_json_lines(out)[0]["outcome"] == "waiting_no_path"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["endless.yaml", "p.trace.json", "t.jsonl"]
    assert parse_json_lines((tmp_path / "t.jsonl").read_text())
    assert json.loads((tmp_path / "p.trace.json").read_text())["events"][-1]["type"] == "end"


# --- progress -------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_bar_is_shown_only_on_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cli.progress._INTERVAL_S", 0.0)
    plain, terminal = io.StringIO(), Terminal()
    for stream in (plain, terminal):
        progress = ProgressBar(stream)
        progress.update_bar("row 1", 0.5)
        progress.update_bar("row 2")
        progress.print_line("a line")
    assert plain.getvalue() == "a line\n"
    shown = terminal.getvalue().split("\r")
    assert shown[1] == "[============            ] row 1"
    assert shown[2].rstrip() == "row 2" and len(shown[2]) == len(shown[1])
    assert not shown[3].strip() and shown[4] == "a line\n"
