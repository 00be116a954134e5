"""Agents from the user's own files: loaded when named, judged like ours, reloaded when saved, and never run unasked."""

import csv
import json
import os
import pickle
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pygame
import pytest

import main
from agents import agent_contract, guarded_agent, own_files
from agents.guarded_agent import VERSION_PARAM_NAME
from agents.registry import AGENT_SPECS, AGENT_SPECS_BY_KEY
from benchmarks import bench_problems, own_agent
from benchmarks.bench_setup import BenchSetup
from cli import replay
from cli.experiment import worker
from cli.new_agent import EXAMPLE_AGENT_FILE
from cli.own_agents import AGENT_FILE_OPTION
from cli.progress import ProgressBar
from experiments.code_version import code_version
from experiments.plan import AgentRun, WorkerTask, WorldJob
from experiments.problems import compress_map, create_map_data
from files import journal
from files import session as session_file
from files.movingai import write_map
from sim.agent_api import Status
from sim.grid import Grid
from sim.map_generators import generate_map
from sim.params import ConfigError
from sim.time.timeline import Timeline
from sim.world import World
from sim.world_commands import AgentConfig, EditCells, SetBudget
from sim.world_editor import WorldEditor
from tests.runs import scenario_on
from tests.test_anything import (
    OWN_COMMANDS,
    Chaos,
    assert_every_branch_replays_exactly,
    assert_undo_and_redo_restore_logs,
    close_dialogs_and_finish_seek,
)
from tests.test_app import setup
from tests.window import App, make_app, press
from ui.dialogs.own_agent_question import OwnAgentQuestion
from ui.film import worker as film_worker
from ui.film import worker_handle
from ui.film.film_options import FilmOptions
from ui.film.worker_messages import LoadAgentFiles, ReplaceRun
from ui.model import agent_edits, opened_files, session_saving
from ui.model.session import Session

from .conftest import ROOT, drawn

HEAD = """
from agents.own import OwnAgent, Param

class Mine(OwnAgent):
    def step(self):
"""
WALK = "        return min(self.expand(self.position), key=lambda arc: self.distance(arc[0], self.goal))[0]\n"
WALKS = HEAD + WALK
TRAP = """
    .........
    .######..
    ......#..
    S.....#.G
    ......#..
    .######..
    .........
"""


@pytest.fixture(autouse=True)
def isolate_user_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A test leaves the registry as it was."""
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setenv(own_files.LOADED_FILES_VARIABLE, "[]")
    keys, specs = dict(AGENT_SPECS_BY_KEY), list(AGENT_SPECS)
    yield
    AGENT_SPECS_BY_KEY.clear()
    AGENT_SPECS_BY_KEY.update(keys)
    AGENT_SPECS[:] = specs
    own_files.LOADED_FILES.clear()


def written(folder: Path, text: str, name: str = "mine.py") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def copy_example_agent(folder: Path, name: str = "mine.py") -> Path:
    return written(folder, EXAMPLE_AGENT_FILE.read_text(), name)


def world_of(key: str, budget: int = 4, **options: object) -> World:
    rows, start, goal = drawn(TRAP)
    world = World(Grid.from_text_rows(rows), start, goal, AGENT_SPECS_BY_KEY, budget=budget, **options)
    world.add(AgentConfig(key))
    world.add(AgentConfig("lrta"))
    return world


# --- loading ----------------------------------------------------------------------------------------------


def test_example_agent_is_short_and_passes_the_contract(tmp_path: Path) -> None:
    assert len(EXAMPLE_AGENT_FILE.read_text().splitlines()) <= 45
    spec = own_files.load_agent_file(copy_example_agent(tmp_path))
    assert spec.key == "mine" and AGENT_SPECS_BY_KEY["mine"] is spec and AGENT_SPECS[-1] is spec
    wrong = {rule: told for rule, told in agent_contract.check_agent_contract(spec) if told}
    assert not wrong


BAD_FILES = {
    "def step(:\n": "mine.py:1: SyntaxError",
    "x = 1\n\nraise ValueError('no')\n": "mine.py:3: ValueError: no",
    "import nothing_of_this_name\n": "mine.py:1: ModuleNotFoundError",
    "x = 1\n": "expected one class that inherits from OwnAgent",
    f"{WALKS}\nclass Other(Mine): pass\n": "expected one class that inherits from OwnAgent, got Mine, Other",
    f"{WALKS}    params = (3,)\n": "Mine.params: expected Params",
    f"{WALKS}    params = (Param('goal', int, 1, 'x'),)\n": "expected Params" if False else "'goal' is reserved",
    "raise SystemExit\n": "mine.py:1: SystemExit",
    f"{WALKS}    name = 5\n": "mine.py: name: expected printable text, got 5",
    f"{WALKS}    name = '\\x1b[31m'\n": "mine.py: name: expected printable text, got '\\x1b[31m'",
    f"{WALKS}    summary = '\\x07'\n": "mine.py: summary: expected printable text",
    f"{WALKS}    params = (Param('far', int, 3, 'x', low=5),)\n": "params: far: expected a whole number of at least 5",
    f"{WALKS}    params = (Param('far', int, 'a', 'x'),)\n": "params: far: expected a whole number, got 'a'",
    f"{WALKS}    params = (Param('far', int, 3, None),)\n": "params: far: expected printable text as its help",
}


@pytest.mark.parametrize("text, told", BAD_FILES.items())
def test_invalid_agent_file_is_refused_with_the_reason(text: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="mine") as caught:
        own_files.load_agent_file(written(tmp_path, text))
    assert told in str(caught.value) and "mine" not in AGENT_SPECS_BY_KEY


def test_two_agent_files_of_the_same_name_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other").mkdir()
    one, other = copy_example_agent(tmp_path), copy_example_agent(tmp_path / "other")
    assert main.main(["agents", AGENT_FILE_OPTION, str(one), AGENT_FILE_OPTION, str(other)]) == 2
    assert "two files for the agent 'mine'" in capsys.readouterr().err
    assert main.main(["agents", AGENT_FILE_OPTION, str(one), AGENT_FILE_OPTION, str(one)]) == 0


def test_agent_file_with_a_reserved_or_invalid_name_is_refused(tmp_path: Path) -> None:
    for name, told in (
        ("lrta.py", "a built-in agent"),
        ("a b.py", "expected a file such as"),
        ("x.txt", "expected a"),
    ):
        with pytest.raises(ConfigError, match=told):
            own_files.load_agent_file(copy_example_agent(tmp_path, name))


# --- walking ----------------------------------------------------------------------------------------------

FAILURES = {
    "        return 1 // 0\n": "mine.py:6: ZeroDivisionError",
    "        return 'there'\n": "TypeError: Mine.step, which begins in line 5, returned 'there'; expected a cell",
    "        return (3, 4)\n": "returned (3, 4); expected a cell, a number such as self.grid.cell(x, y)",
    "        return 3.7\n": "returned 3.7;",
    "        return True\n": "returned True;",
    "        return 10**20\n": "returned 100000000000000000000;",
    "        yield 1\n": "returned <generator object",
    "        def f(): return f()\n        return f()\n": "mine.py:6: RecursionError",
    "        self.big = bytearray(10**15)\n": "mine.py:6: MemoryError",
    "        self.grid.moves[0] = 255\n": "mine.py:6: ValueError",
    "        self.grid.block_and_free([], [1])\n": "mine.py:6: TypeError: an agent cannot change the map",
    "        exit(3)\n": "SystemExit: 3",
    "        raise GeneratorExit\n": "mine.py:6: GeneratorExit",
}


def test_run_ending_in_a_failure_ends_at_the_same_tick_with_a_time_limit(tmp_path: Path) -> None:
    """The tick in which the last agent fails passes: a limited run is the same when it is repeated without."""
    own_files.load_agent_file(written(tmp_path, f"{HEAD}        if self.left and self.budget == 4: raise ValueError\n"))
    ends = []
    for tick_ms, step in ((0.0, 1), (0.0, 50), (1000.0, 1), (1000.0, 50)):
        world = world_of("mine", 5, tick_ms=tick_ms)
        world.agent_times.clock = lambda: 0.0
        WorldEditor(world).remove_agent(1)
        world.submit(SetBudget(4), 7)
        passed = [world.advance(step) for _ in range(10)]
        ends.append(
            (world.tick, sum(passed), world.compute_digest(), world.metrics_of_walker(world.walkers[0]), world.is_over)
        )
    assert ends[0][:2] == (8, 8) and ends[0][-1]
    assert ends.count(ends[0]) == len(ends)


@pytest.mark.parametrize("step", [1, 50])
def test_failure_in_the_last_tick_is_the_same_after_any_seek(step: int, tmp_path: Path) -> None:
    body = "        if self.budget == 4: raise ValueError\n        return self.position\n"
    own_files.load_agent_file(written(tmp_path, HEAD + body))
    grid = Grid.from_text_rows(["." * 9] * 4)
    session = Session(scenario_on(grid, 0, 35, [AgentConfig("mine")], budget=9, script=[(7, SetBudget(4))]))

    def state() -> tuple[int, str, str]:
        (view,) = session.run.world.create_snapshot().walkers
        return session.tick, view.state_word, session.run.world.compute_digest()

    states = []
    while session.advance_by_ticks(step):
        states.append(state())
    end = session.tick
    assert end == 8 and states[-1][:2] == (8, "failed")
    for tick in (3, 7, 8, 1, 8):
        session.seek_to_tick(tick)
        assert state()[:2] == (tick, "failed" if tick == 8 else "searching")
    assert state() == states[-1] and not session.advance_by_ticks(1) and state() == states[-1]


@pytest.mark.parametrize("body, told", FAILURES.items())
def test_agent_exception_is_reported_and_other_agents_continue(body: str, told: str, tmp_path: Path) -> None:
    own_files.load_agent_file(written(tmp_path, HEAD + body))
    world = world_of("mine")
    world.advance(5000)
    mine, other = world.walkers
    assert mine.violation is not None and mine.violation.is_failure and told in mine.violation.description
    assert mine.state_word == "failed" and other.has_arrived and mine.agent.status is Status.GAVE_UP


@pytest.mark.parametrize("place", ["begin", "changed", "set_goal"])
def test_exception_in_any_agent_method_is_reported_with_file_and_line(place: str, tmp_path: Path) -> None:
    own_files.load_agent_file(
        written(tmp_path, f"{WALKS}    def {place}(self, *given):\n        raise KeyError('here')\n")
    )
    world = world_of("mine")
    world.submit(EditCells(blocked_cells=(8,)))
    if place == "set_goal":
        WorldEditor(world).move_goal(7)
    world.advance(3)
    assert "mine.py:8: KeyError: 'here'" in world.walkers[0].violation.description


def test_illegal_move_stops_the_agent_and_exceeded_budget_is_noted(tmp_path: Path) -> None:
    own_files.load_agent_file(written(tmp_path, f"{HEAD}        return self.goal\n"))
    world = world_of("mine")
    world.advance(3)
    told = world.walkers[0].violation.message_for_agent("Mine")
    assert told == "Mine broke the rules on (0, 3): moved from (0, 3) to (8, 3), which is not a legal move"
    own_files.load_agent_file(
        written(tmp_path, f"{HEAD}        [self.expand(self.position) for _ in range(9)]\n", "much.py")
    )
    world = world_of("much")
    world.advance(3)
    metrics = world.metrics_of_walker(world.walkers[0])
    assert (metrics.over_budget, metrics.max_expansions, metrics.expansions) == (3, 9, 27)
    assert [(note.tick, note.text) for note in world.messages] == [(0, "much expanded 9 cells with a budget of 4")]


@pytest.mark.parametrize(
    "body", ["while True: pass", "try:\n            while True: pass\n        except Exception: pass"]
)
def test_endless_agent_is_stopped_and_others_continue(body: str, tmp_path: Path) -> None:
    own_files.load_agent_file(written(tmp_path, f"{HEAD}        {body}\n"))
    world = world_of("mine")
    world.advance(400)
    mine, other = world.walkers
    assert "did not return within 1 s" in mine.violation.description and "mine.py:" in mine.violation.description
    assert other.has_arrived


def test_keyboard_interrupt_in_an_agent_stops_the_program(tmp_path: Path) -> None:
    own_files.load_agent_file(written(tmp_path, f"{HEAD}        raise KeyboardInterrupt\n"))
    with pytest.raises(KeyboardInterrupt):
        world_of("mine").advance(1)


def test_agent_added_during_recording_appears_in_the_video(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[object] = []
    silent = SimpleNamespace(Thread=lambda **given: SimpleNamespace(start=lambda: None))
    monkeypatch.setattr(worker_handle, "threading", silent)
    monkeypatch.setattr(worker_handle, "_start_worker_process", lambda: None)
    monkeypatch.setattr(worker_handle.WorkerHandle, "_queue_message", lambda self, message: sent.append(message))
    app = make_app(setup(1))
    look = app.window.recording_controller.view_overrides.current_appearance()
    recording = worker_handle.WorkerHandle.start_recording(tmp_path / "a.mkv", app.session, FilmOptions(), look)
    own_files.load_agent_file(copy_example_agent(tmp_path))
    agent_edits.add_agent(app.session, AgentConfig("mine"))
    recording.send_window_changes(app.session, look)
    named, followed = sent[1:3]
    assert isinstance(named, LoadAgentFiles) and isinstance(followed, ReplaceRun)
    spec = AGENT_SPECS_BY_KEY.pop("mine")
    AGENT_SPECS.remove(spec)
    own_files.LOADED_FILES.clear()
    film_worker._apply_window_message(None, named)
    assert AGENT_SPECS_BY_KEY["mine"].param(VERSION_PARAM_NAME) == spec.param(VERSION_PARAM_NAME)


def test_failed_or_illegal_agent_gives_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Failed and illegal agents end `solve` and `run` with 1; the agents after them walk all the same."""
    ends = ["--map", str(ROOT / "assets/maps/rooms-32.map"), "--from", "0,0", "--to", "31,31"]
    for step, outcome in (("return 1 // 0", "failed"), ("return self.goal", "broke_rules")):
        path = written(tmp_path, f"{HEAD}        {step}\n")
        assert main.main(["solve", AGENT_FILE_OPTION, str(path), *ends, "--agent", "mine", "astar"]) == 1
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [line["outcome"] for line in lines] == [outcome, "reached"]
        scenario = written(
            tmp_path,
            "format: backmove-scenario\nversion: 1\nmap: {rows: ['....', '....']}\nstart: [0, 0]\ngoal: [3, 1]\n"
            "agents: [{kind: mine}, {kind: astar}]\n",
            "mine.yaml",
        )
        assert main.main(["run", AGENT_FILE_OPTION, str(path), str(scenario)]) == 1
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [line["outcome"] for line in lines] == [outcome, "reached"]
        assert main.main(["run", AGENT_FILE_OPTION, str(path), str(scenario), "--summary"]) == 1
        line = json.loads(capsys.readouterr().out.splitlines()[0])
        assert line[outcome] == 1 and line["failed"] + line["broke_rules"] == 1


def test_output_printed_by_an_agent_goes_to_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(
        tmp_path, WALKS.replace("    def step(self):\n", "    def step(self):\n        print('here', self.position)\n")
    )
    ends = ["--map", str(ROOT / "assets/maps/rooms-32.map"), "--from", "0,0", "--to", "1,1", "--agent", "mine"]
    assert main.main(["solve", AGENT_FILE_OPTION, str(path), *ends]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["agent"] == "mine" and "here 0" in err


PATHS = ("[[1, 2], [3, 4]]", "7", "[1.5]", "'abc'", "[10**12]", "[-1]", "None", "[True]", "{1: 2}")


@pytest.mark.parametrize("path", PATHS)
def test_invalid_agent_path_is_ignored_by_the_window(path: str, tmp_path: Path) -> None:
    own_files.load_agent_file(written(tmp_path, f"{WALKS}    path = {path}\n"))
    app = make_app(setup(1))
    agent_edits.add_agent(app.session, AgentConfig("mine"))
    app.session.advance_by_ticks(3)
    for _ in range(2):
        app.run_frame(0.1)
    assert app.session.run.world.tick >= 3


DECLARED = """
import numpy as np
from sim.agent_api import AgentSpec, AgentView, Status
from sim.metrics import OwnCounts

class Mine:
    status = Status.ACTIVE
    def __init__(self, problem, params):
        self.cell = problem.start
    def advance(self, budget, rows):
        rows[0].cell, rows[0].expanded = self.cell, 0
        return 1
    def on_change(self, change): pass
    def set_goal(self, goal): pass
    def set_param(self, name, value): pass
    def refused(self, cell): pass
    def own_counts(self): return %s
    def view(self): return AgentView(%s)

SPEC = AgentSpec("mine", "Mine", "none", "Stands.", Mine)
"""
VIEWS = (
    "path=np.array([3], np.int32), head=9",
    "path=[1, 2]",
    "best=10**9",
    "best='a'",
    "groups={'no such': np.array([1], np.int32)}",
    "groups=3",
    "groups={'queued': [1, 2]}",
    "numbers={'a': float('nan')}",
    "numbers={'a': 'b'}",
    "waypoints=np.array([[1, 2]])",
    "search=3",
    "learned=3",
    "depths=np.zeros(3, np.uint32)",
)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("counts", ["OwnCounts()", "None"])
def test_invalid_view_of_a_declared_agent_does_not_crash_the_window(view: str, counts: str, tmp_path: Path) -> None:
    own_files.load_agent_file(written(tmp_path, DECLARED % (counts, view)))
    app = make_app(setup(1))
    agent_edits.add_agent(app.session, AgentConfig("mine"))
    app.session.focus_panel(app.session.run.panels[-1].key)
    for _ in range(3):
        app.session.advance_by_ticks(1)
        app.run_frame(0.1)
    assert app.session.run.panels[-1].walker_view.spec.key == "mine"


def test_child_process_loads_the_agent_version_that_was_run(tmp_path: Path) -> None:
    path = copy_example_agent(tmp_path)
    version = own_files.load_agent_file(path).param(VERSION_PARAM_NAME).default
    path.write_text("class Half(")
    own_files.LOADED_FILES.clear()
    own_files.load_files_of_parent()
    assert AGENT_SPECS_BY_KEY["mine"].param(VERSION_PARAM_NAME).default == version
    world = world_of("mine")
    world.advance(3)
    assert world.walkers[0].violation is None


HELD = ("(i for i in ())", "lambda: 0", "__import__('threading').Lock()")


@pytest.mark.parametrize("held", HELD)
def test_seek_works_for_agents_that_cannot_be_pickled(held: str, tmp_path: Path) -> None:
    text = f"{WALKS}    def begin(self):\n        self.held = {held}\n"
    own_files.load_agent_file(written(tmp_path, text))
    line = Timeline(lambda: world_of("mine", watched=True))
    line.advance(9)
    digest = line.world.compute_digest()
    for tick in (2, 0, 9):
        line.seek(tick)
    assert (
        line.world.compute_digest() == digest
        and line.run_history.divergence_tick is None
        and line.world.walkers[0].violation is None
    )
    fork = line.fork(4)
    fork.apply_command(EditCells(blocked_cells=(8,)))
    assert fork.tick == 4


@pytest.mark.parametrize("seed", range(4))
def test_random_input_with_a_repeatedly_saved_agent_file(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    chance, works = random.Random(seed), EXAMPLE_AGENT_FILE.read_text()
    texts = (works, works + "# more\n", works.replace("inf, inf, None", "inf, 1 / 0, None"), "no Python", WALKS)
    path = copy_example_agent(tmp_path)
    own_files.store_file_trust(path)
    app = make_app(setup(1))
    drop(app, path)
    chaos = Chaos(app, seed, OWN_COMMANDS, far=60)
    for _ in range(50):
        if chance.random() < 0.15:
            save_again(app, path, chance.choice(texts))
        chaos.go_on(1)
    close_dialogs_and_finish_seek(app)
    assert_every_branch_replays_exactly(app)
    assert_undo_and_redo_restore_logs(app)


def test_agent_file_gives_the_same_digest_in_solve_run_and_window(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = copy_example_agent(tmp_path)
    ends = ["--map", "assets/maps/rooms-32.map", "--from", "0,0", "--to", "31,31"]
    assert main.main(["solve", "--agent-file", str(path), *ends, "--agent", "mine", "--budget", "3"]) == 0
    solved = json.loads(capsys.readouterr().out)
    scenario = tmp_path / "mine.yaml"
    scenario.write_text(
        f"format: backmove-scenario\nversion: 1\nmap: {{file: {ROOT / 'assets/maps/rooms-32.map'}}}\nbudget: 3\n"
        "start: [0, 0]\ngoal: [31, 31]\nagents: [{kind: mine}]\n"
    )
    (tmp_path / "rooms-32.map").write_bytes((ROOT / "assets/maps/rooms-32.map").read_bytes())
    scenario.write_text(scenario.read_text().replace(str(ROOT / "assets/maps/rooms-32.map"), "rooms-32.map"))
    done = subprocess.run(
        [sys.executable, "main.py", "run", str(scenario), f"--agent-file={path}"],
        cwd=ROOT,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    ran = json.loads(done.stdout)
    session = Session(opened_files.open_any_file(scenario).scenario)
    session.advance_by_ticks(10_000)
    walker = session.run.world.walkers[0]
    assert solved["outcome"] == "reached" and solved["params"][VERSION_PARAM_NAME] == walker.params[VERSION_PARAM_NAME]
    assert solved["digest"] == ran["digest"] == session.run.world.walker_digest(walker)
    assert ran["world_digest"] == session.run.world.compute_digest()


def test_experiment_workers_run_an_agent_file_with_the_same_digest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = copy_example_agent(tmp_path)
    spec = written(
        tmp_path,
        "format: backmove-experiment\nversion: 1\ntitle: Mine\n"
        "problems: {generate: {kind: rooms, width: 24, height: 24, seed: 1}}\n"
        "agents: [{kind: mine}, {kind: lrta}]\nbudgets: [4]\n",
        "own.yaml",
    )
    words = ["experiment", str(spec), "-o", str(tmp_path / "out"), "--jobs", "2", AGENT_FILE_OPTION, str(path)]
    done = subprocess.run(
        [sys.executable, "main.py", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "out" / "results.csv").read_text().splitlines()
    mine = [line for line in lines if "mine" in line]
    assert mine and all("reached" in line for line in mine)
    row = next(row for row in csv.DictReader(lines) if "mine" in row["agent"])
    board = tmp_path / "board.map"
    write_map(generate_map("rooms", {"width": 24, "height": 24, "seed": 1}).grid, board)
    ends = ["--from", f"{row['start_x']},{row['start_y']}", "--to", f"{row['goal_x']},{row['goal_y']}"]
    solving = ["solve", AGENT_FILE_OPTION, str(path), "--map", str(board), *ends, "--agent", "mine", "--budget", "4"]
    assert main.main(solving) == 0
    assert json.loads(capsys.readouterr().out)["digest"] == row["digest"]


def test_replay_of_an_experiment_row_passes_its_agent_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, WALKS)
    recipe = "{generate: {kind: rooms, width: 24, height: 24, seed: 1}}"
    head = "format: backmove-experiment\nversion: 1\n"
    spec = written(tmp_path, f"{head}problems: {recipe}\nagents: [mine]\nticks: 50\n", "own.yaml")
    assert (
        main.main([AGENT_FILE_OPTION, str(path), "experiment", str(spec), "-o", str(tmp_path / "out"), "--jobs", "1"])
        == 0
    )
    opened: list[list[str]] = []
    monkeypatch.setattr(replay.os, "execv", lambda program, words: opened.append(words))
    assert main.main(["replay", str(tmp_path / "out"), "0", AGENT_FILE_OPTION, str(path)]) == 0
    assert opened[0][2:] == [AGENT_FILE_OPTION, str(path), str(tmp_path / "out" / "row-0.yaml")]


def test_agent_source_is_sent_to_workers_with_the_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a cluster nobody has named a file; the versions that runs ask for come with the task."""
    path = written(tmp_path, WALKS)
    versions = [own_files.load_agent_file(path).param(VERSION_PARAM_NAME).default]  # type: ignore[union-attr]
    path.write_text(f"{WALKS}\n# saved again\n")
    versions.append(own_files.load_agent_file(path).param(VERSION_PARAM_NAME).default)  # type: ignore[union-attr]
    walks = [AgentRun("mine", {VERSION_PARAM_NAME: version}, 4, version.encode()) for version in map(str, versions)]
    board = create_map_data("trap", Grid.from_text_rows(drawn(TRAP)[0]))
    jobs = [WorldJob((0, 0), (3, 0), 0, None, 1, 1000, 1000, False, (walk,)) for walk in walks]
    task, files = pickle.loads(
        pickle.dumps((WorkerTask(compress_map(board), tuple(jobs), code_version()), own_files.versions_to_send()))
    )
    path.unlink()
    own_files.LOADED_FILES.clear()
    del AGENT_SPECS_BY_KEY["mine"]
    # Another machine, another user's folders.
    monkeypatch.setattr(own_files, "_stored_version_text", lambda key, version: None)
    lines, failures = worker.compute_task(task, files)
    assert not failures and [line[0].decode() for line in lines] == versions
    assert list(own_files.LOADED_FILES["mine"].spec_by_version) == versions
    before = dict(own_files.LOADED_FILES["mine"].spec_by_version)
    assert (
        not worker.compute_task(task, files)[1] and own_files.LOADED_FILES["mine"].spec_by_version == before
    )  # run once


def test_failed_experiment_runs_are_repeated_after_the_agent_file_is_fixed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, f"{HEAD}        return 1 // 0\n")
    spec = written(
        tmp_path,
        "format: backmove-experiment\nversion: 1\ntitle: Mine\n"
        "problems: {generate: {kind: rooms, width: 24, height: 24, seed: 1}}\nagents: [{kind: mine}]\nbudgets: [4]\n",
        "own.yaml",
    )
    words = ["experiment", str(spec), "-o", str(tmp_path / "out"), "--jobs", "1", AGENT_FILE_OPTION, str(path)]
    assert main.main(words) == 1
    told = "tick 0: mine failed on (0, 0): mine.py:6: ZeroDivisionError"
    assert told in capsys.readouterr().err and ",failed," in (tmp_path / "out" / "results.csv").read_text()
    assert main.main(words) == 1 and told in capsys.readouterr().err, "said again, and not done again"
    copy_example_agent(tmp_path)
    assert main.main(words) == 0
    assert ",reached," in (tmp_path / "out" / "results.csv").read_text()


# --- unasked, nothing -------------------------------------------------------------------------------------


def test_scenario_does_not_run_an_agent_file_but_names_the_option(tmp_path: Path) -> None:
    written(tmp_path, "raise AssertionError('it was run')\n")
    text = (ROOT / "assets/scenarios/bridges.yaml").read_text()
    scenario = written(tmp_path, text.replace("kind: rtb-wa", "kind: mine"), "s.yaml")
    with pytest.raises(ConfigError, match=r"no agent 'mine'.*--agent-file mine\.py"):
        opened_files.open_any_file(scenario)


def test_agent_file_needs_one_confirmation_per_version(tmp_path: Path) -> None:
    path = copy_example_agent(tmp_path)
    app = make_app(setup(1))
    drop(app, path)
    assert isinstance(app.window.dialogs.current_dialog, OwnAgentQuestion) and not own_files.LOADED_FILES
    press(app, pygame.K_ESCAPE)
    assert not own_files.LOADED_FILES and not own_files.is_file_trusted(path)
    drop(app, path)
    press(app, pygame.K_RETURN)  # Cancel
    assert not own_files.LOADED_FILES and not own_files.is_file_trusted(path)
    drop(app, path)
    press(app, pygame.K_LEFT)
    press(app, pygame.K_RETURN)
    assert own_files.is_file_trusted(path)
    assert [w.spec.key for w in app.session.run.world.walkers] == ["tb-wa", "mine"]
    own_files.LOADED_FILES.clear()
    drop(app, path)
    assert app.window.dialogs.current_dialog is None and len(app.session.run.world.walkers) == 3
    path.write_text(WALKS)
    assert not own_files.is_file_trusted(path), "another text is another program"


def drop(app: App, path: Path) -> None:
    pygame.event.post(pygame.event.Event(pygame.DROPFILE, file=str(path)))
    app.run_frame(0.0)


# --- saved again ------------------------------------------------------------------------------------------


def save_again(app: App, path: Path, text: str) -> None:
    about = path.stat()
    path.write_text(text)
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns + 1_000_000_000))
    app.window.document_opener.agent_file_poller._last_check_s = 0.0
    app.run_frame(0.0)
    while app.session.run.is_seeking:
        app.run_frame(0.0)


def test_saving_an_agent_file_reruns_it_in_a_new_branch(tmp_path: Path) -> None:
    path = copy_example_agent(tmp_path)
    own_files.store_file_trust(path)
    app = make_app(setup(1))
    session = app.session
    drop(app, path)
    session.advance_by_ticks(5)
    session.submit_command(EditCells(blocked_cells=(3, 4)))
    session.advance_by_ticks(4)
    old = session.run.world.compute_digest()
    save_again(app, path, WALKS)
    assert len(session.run.shown_branch_numbers) == 2 and session.tick == 9 and not session.run.is_seeking
    before, after = (branch.timeline for branch in session.run.shown_branches)
    assert before.world.compute_digest() == old and before.tick == after.tick == 9
    assert EditCells(blocked_cells=(3, 4)) in [entry.command for entry in after.command_log.entries], "edits are kept"
    walkers = [line.world.walker_with_id(1) for line in (before, after)]
    assert (
        walkers[0].params[VERSION_PARAM_NAME] != walkers[1].params[VERSION_PARAM_NAME]
        and old != after.world.compute_digest()
    )
    # The same as if the new file had been there from the beginning.
    fresh = Session(setup(1))
    agent_edits.add_agent(fresh, AgentConfig("mine"))
    fresh.advance_by_ticks(5)
    fresh.submit_command(EditCells(blocked_cells=(3, 4)))
    fresh.advance_by_ticks(4)
    assert fresh.run.world.compute_digest() == after.world.compute_digest()
    for line in (before, after):
        line.seek(2)
        line.seek(9)
        assert line.run_history.divergence_tick is None


def test_broken_saved_agent_file_is_reported_until_fixed(tmp_path: Path) -> None:
    path = written(tmp_path, WALKS)
    own_files.store_file_trust(path)
    app = make_app(setup(1))
    drop(app, path)
    app.session.advance_by_ticks(4)
    save_again(app, path, WALKS + "    ???\n")
    assert "mine.py:7: SyntaxError" in app.window.dialogs.current_dialog.problems[0]
    app.window.dialogs.close_dialog()
    assert len(app.session.run.shown_branch_numbers) == 1, "the old version goes on"
    save_again(app, path, f"{HEAD}        return self.nothing\n")
    broken = app.session.run.walker_of_panel(app.session.focused_key)
    assert "mine.py:6: AttributeError" in broken.violation.description
    app.draw_window()
    assert any(spot.id.startswith("offence:") for spot in app.window.canvas.hit_regions)
    save_again(app, path, WALKS + "# mended\n")
    mended = app.session.run.walker_of_panel(app.session.focused_key)
    assert mended.violation is None and app.session.tick == 4 and len(app.session.run.shown_branch_numbers) == 2


def test_only_an_own_agent_without_a_version_is_given_the_current_one(tmp_path: Path) -> None:
    spec = own_files.load_agent_file(copy_example_agent(tmp_path))
    now = spec.param(VERSION_PARAM_NAME)
    assert now is not None and now.default
    config = AgentConfig("mine", "my own", budget=7)
    pinned = own_files.with_pinned_version(config)
    assert pinned == replace(config, params={VERSION_PARAM_NAME: now.default})
    for other in (replace(config, params={VERSION_PARAM_NAME: "0" * 12}), AgentConfig("lrta"), AgentConfig("nothing")):
        assert own_files.with_pinned_version(other) == other


def test_new_run_keeps_the_agent_version_it_began_with(tmp_path: Path) -> None:
    spec = own_files.load_agent_file(copy_example_agent(tmp_path))
    now = spec.param(VERSION_PARAM_NAME)
    assert now is not None
    scenario = replace(setup(1), agents=(AgentConfig("lrta"), AgentConfig("mine")))
    configs = Session(scenario).run.scenario.agents
    assert configs == (AgentConfig("lrta"), AgentConfig("mine", params={VERSION_PARAM_NAME: now.default}))


def test_saved_session_keeps_the_agent_version_it_was_saved_with(tmp_path: Path) -> None:
    path = copy_example_agent(tmp_path)
    own_files.load_agent_file(path)
    session = Session(setup(1))
    agent_edits.add_agent(session, AgentConfig("mine"))
    session.advance_by_ticks(9)
    saved = session_saving.save_session(session, tmp_path / "session")
    version = session.run.world.walkers[1].params[VERSION_PARAM_NAME]
    own_files.LOADED_FILES.clear()
    del AGENT_SPECS_BY_KEY["mine"], AGENT_SPECS[-1]
    path.write_text(WALKS)
    with pytest.raises(ConfigError, match=r"session.*no agent 'mine'.*--agent-file mine\.py"):
        opened_files.open_any_file(saved)
    own_files.load_agent_file(path)
    opened = opened_files.open_any_file(saved)
    other = Session(opened.scenario)
    session_saving.restore_session(other, opened.saved_session)
    other.run.focused_branch_timeline.finish_seek()
    assert other.run.world.walkers[1].params[VERSION_PARAM_NAME] == version
    assert (
        other.run.world.compute_digest() == session.run.world.compute_digest()
        and other.run.focused_branch_timeline.run_history.divergence_tick is None
    )
    assert session_file.is_session_data(saved.read_bytes())


def test_journal_can_be_restored_only_with_its_agent_file(tmp_path: Path) -> None:
    """Restored without its agent it would be another run, and the journal of the right one would be gone."""
    own_files.load_agent_file(copy_example_agent(tmp_path))
    session = Session(setup(1))
    writer = journal.Journal(session.run.scenario, session.run.branch_tree, folder=tmp_path)
    agent_edits.add_agent(session, AgentConfig("mine"))
    session.advance_by_ticks(9)
    writer.write_branch_ticks([0], now=True)
    del AGENT_SPECS_BY_KEY["mine"], AGENT_SPECS[-1]
    with pytest.raises(ConfigError, match=r"no agent 'mine'.*--agent-file mine\.py"):
        journal.restore_session(writer.path, AGENT_SPECS_BY_KEY)
    own_files.load_agent_file(tmp_path / "mine.py")
    assert len(journal.restore_session(writer.path, AGENT_SPECS_BY_KEY).branches[0].branch_state.entries) == 1


# --- the command line -------------------------------------------------------------------------------------


def test_new_agent_writes_a_file_that_check_agent_accepts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "my_agent.py"
    assert main.main(["new-agent", str(path)]) == 0 and 'name = "my_agent"' in path.read_text()
    assert main.main(["new-agent", str(path)]) == 2 and "the file exists already" in capsys.readouterr().err
    assert main.main(["new-agent", str(tmp_path / "lrta.py")]) == 2 and "rename the file" in capsys.readouterr().err
    assert not (tmp_path / "lrta.py").exists(), "nothing is written that could never be named"
    assert main.main(["check-agent", str(path)]) == 0
    told = capsys.readouterr().out
    assert "all rules are kept" in told and told.count("ok ") == len(agent_contract.CONTRACT_RULES)


BROKEN = {
    "        return self.goal\n": "not a legal move",
    "        [self.expand(0) for _ in range(self.budget + 1)]\n": "with a budget of",
    "        import random; return random.choice(self.expand(self.position))[0]\n": "walks differently",
    "        while True: pass\n": "did not return",
    "        return self.now\n": "AttributeError",
}


@pytest.mark.parametrize("body, told", BROKEN.items())
def test_check_agent_reports_the_broken_rule(
    body: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarded_agent, "CALL_TIME_LIMIT_S", 0.25)
    path = written(tmp_path, HEAD + body)
    assert main.main(["check-agent", str(path)]) == 1
    assert told in capsys.readouterr().out


def test_own_agent_bench_compares_with_a_compiled_agent() -> None:
    table = own_agent.run(
        BenchSetup(bench_problems.load_problems(Path("nowhere")), 1, ProgressBar()), side=32, ticks=20
    )
    assert table.rows[0].measured > 0 and table.rows[0].control and table.rows[0].target.limit == 30
