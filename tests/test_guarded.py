"""The guard around code of the user's: whatever an exception of it does when it is shown, and whatever it writes to."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import main
from agents import guarded_agent, own_files
from agents.guarded_agent import GuardedAgent
from agents.registry import AGENT_SPECS, AGENT_SPECS_BY_KEY
from agents.watchdog import WATCHDOG
from cli.own_agents import AGENT_FILE_OPTION
from sim.agent_api import AgentView, Problem, Status
from sim.grid import Grid, ReadOnlyGrid
from sim.kernels import log
from sim.params import ConfigError
from sim.time.timeline import Timeline
from sim.world import World
from sim.world_commands import AgentConfig, EditCells
from sim.world_editor import WorldEditor
from tests.test_app import setup
from tests.window import make_app
from ui.model import agent_edits

from .conftest import ROOT

HEAD = """
import os, sys, threading, time
import numpy as np
from agents.own import OwnAgent

"""
WALK = "        return min(self.expand(self.position), key=lambda arc: self.distance(arc[0], self.goal))[0]\n"
MINE = "class Mine(OwnAgent):\n    def step(self):\n"

ODD = {
    "raises": ("def __str__(self): raise ValueError('no')", "Odd, whose message could not be read"),
    "exits": ("def __str__(self): raise SystemExit(3)", "Odd, whose message could not be read"),
    "interrupts": ("def __str__(self): raise KeyboardInterrupt", "Odd, whose message could not be read"),
    "returns a number": ("def __str__(self): return 3", "Odd, whose message could not be read"),
    "never returns": (
        "def __str__(self):\n        while True: pass",
        "Odd, whose message could not be read",
    ),
    "catches all": (
        "def __str__(self):\n        while True:\n"
        "            try: time.sleep(0.01)\n            except BaseException: pass",
        "Odd, whose message could not be read",
    ),
    "sleeps in C": ("def __str__(self): time.sleep(1e6)", "Odd, whose message could not be read"),
    "is huge": ("def __str__(self): return 'x' * 10**8", f"Odd: {'x' * 297}..."),
    "has lines": ("def __str__(self): return 'a\\n b\\x07\\r\\nc'", "Odd: a b\\x07 c"),
    "is an odd text": ("def __str__(self): return Text('abc')", "Odd: abc"),
    "repr raises": ("def __repr__(self): raise ValueError('no')", "mine.py:"),
    "has an odd trace": ("__traceback__ = property(lambda self: 1 / 0)", "Odd: what"),
    "has an odd class": ("__class__ = property(lambda self: 1 / 0)", "Odd: what"),
    "has a class without a name": ("kind = 1", "an error whose class and message could not be read"),
    "cannot be given a trace": (
        "def __setattr__(self, name, value):\n        while True: pass",
        "Odd: what",
    ),
}
CLASSES = """
class Text(str):
    def isprintable(self): raise ValueError('text')
    __len__ = __getitem__ = __format__ = split = isprintable

class Meta(type):
    __name__ = property(lambda self: 1 / 0)

class Odd(Exception, metaclass=META):
    BODY

"""


@pytest.fixture(autouse=True)
def isolate_user_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setenv(own_files.LOADED_FILES_VARIABLE, "[]")
    monkeypatch.setattr(guarded_agent, "CALL_TIME_LIMIT_S", 0.25)
    keys, specs, output = dict(AGENT_SPECS_BY_KEY), list(AGENT_SPECS), sys.stdout
    yield
    AGENT_SPECS_BY_KEY.clear()
    AGENT_SPECS_BY_KEY.update(keys)
    AGENT_SPECS[:] = specs
    own_files.LOADED_FILES.clear()
    sys.stdout = output


def write_agent(folder: Path, text: str) -> Path:
    path = folder / "mine.py"
    path.write_text(text)
    return path


def odd(name: str) -> str:
    meta = "Meta" if "without a name" in name else "type"
    return HEAD + CLASSES.replace("META", meta).replace("BODY", ODD[name][0])


def world() -> World:
    made = World(Grid.from_text_rows(["." * 9] * 4), 0, 35, AGENT_SPECS_BY_KEY, budget=4)
    for kind in ("mine", "lrta"):
        made.add(AgentConfig(kind))
    return made


# --- exceptions as text ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ODD)
def test_message_of_an_odd_exception_class_is_one_short_line(name: str, tmp_path: Path) -> None:
    own_files.load_agent_file(write_agent(tmp_path, f"{odd(name)}{MINE}        raise Odd('what')\n"))
    made = world()
    began = time.monotonic()
    made.advance(50)
    mine, other = made.walkers
    assert mine.state_word == "failed" and other.has_arrived and time.monotonic() - began < 10
    what = mine.violation.description
    assert what.startswith("mine.py:") and ODD[name][1] in what and len(what) < 400 and "\n" not in what
    assert type(what) is str and WATCHDOG.is_outside_watched_calls


@pytest.mark.parametrize("place", ["begin", "changed", "set_goal", "no_path"])
@pytest.mark.parametrize("name", ["raises", "interrupts", "never returns"])
def test_odd_exception_from_any_method_fails_only_its_agent(name: str, place: str, tmp_path: Path) -> None:
    text = f"{odd(name)}{MINE}{WALK}    def {place}(self, *given): raise Odd('what')\n"
    if place == "no_path":
        text = text.replace(
            f"    def {place}(self, *given)", "    path = property(lambda self: self.no_path())\n    def no_path(self)"
        )
    own_files.load_agent_file(write_agent(tmp_path, text))
    made = world()
    made.submit(EditCells(blocked_cells=(8,)))
    if place == "set_goal":
        WorldEditor(made).move_goal(7)
    made.create_snapshot()
    made.advance(20)
    assert ODD[name][1] in made.walkers[0].violation.description


@pytest.mark.parametrize("name", ODD)
def test_odd_exception_while_loading_is_a_config_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        own_files.load_agent_file(write_agent(tmp_path, f"{odd(name)}raise Odd('what')\n"))
    assert ODD[name][1] in str(caught.value) and "mine" not in AGENT_SPECS_BY_KEY


@pytest.mark.parametrize("raised", ["GeneratorExit", "SystemExit", "BaseException('x')"])
def test_file_that_raises_while_loading_is_refused(raised: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"mine\.py:6: "):
        own_files.load_agent_file(write_agent(tmp_path, f"{HEAD}raise {raised}\n"))


@pytest.mark.parametrize(
    "how",
    [
        "raise ValueError('outer') from Odd('what')",
        "error = ValueError('outer')\n        error.__notes__ = [Odd('what')]\n        raise error",
    ],
)
def test_exception_causes_and_notes_are_not_shown(how: str, tmp_path: Path) -> None:
    own_files.load_agent_file(write_agent(tmp_path, f"{odd('never returns')}{MINE}        {how}\n"))
    made = world()
    made.advance(3)
    assert made.walkers[0].violation.description.endswith("ValueError: outer")


def test_long_exception_message_is_truncated_with_dots() -> None:
    assert guarded_agent._as_one_line("x" * guarded_agent.MAX_MESSAGE_LENGTH) == "x" * guarded_agent.MAX_MESSAGE_LENGTH
    assert (
        guarded_agent._as_one_line("x" * (guarded_agent.MAX_MESSAGE_LENGTH + 1))
        == "x" * (guarded_agent.MAX_MESSAGE_LENGTH - 3) + "..."
    )


@pytest.mark.parametrize("name", ["raises", "never returns", "exits"])
def test_failing_agent_does_not_suppress_results_of_other_agents(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_agent(tmp_path, f"{odd(name)}{MINE}        raise Odd('what')\n")
    ends = ["--map", str(ROOT / "assets/maps/rooms-32.map"), "--from", "0,0", "--to", "9,9"]
    main.main(["solve", AGENT_FILE_OPTION, str(path), *ends, "--agent", "mine", "lrta"])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["agent"] for line in lines] == ["mine", "lrta"] and lines[1]["outcome"] == "reached"


@pytest.mark.parametrize("name", ["raises", "never returns"])
def test_exception_in_an_agent_thread_is_not_an_internal_error(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    fail = "def fail(): raise Odd('what')\n\n"
    start = "    def begin(self): threading.Thread(target=fail, name='of an agent').start()\n"
    own_files.load_agent_file(write_agent(tmp_path, f"{odd(name)}{fail}{MINE}{WALK}{start}"))
    app = make_app(setup(1))
    app.error_recovery.switch_on_recovery()
    said: list[str] = []
    monkeypatch.setattr(app.window, "notify_user", said.append)
    agent_edits.add_agent(app.session, AgentConfig("mine"))
    for thread in threading.enumerate():
        if thread.name == "of an agent":
            thread.join(10.0)
    app.run_frame(0.0)
    assert app.window.dialogs.current_dialog is None and not app.error_recovery.caught_faults
    assert any("A thread of an agent failed: mine.py:" in text and "Odd, whose message" in text for text in said)


# --- values of the user's own classes -------------------------------------------------------------

DECLARED = """
import time
import numpy as np
from sim.agent_api import AgentSpec, AgentView, Status
from sim.metrics import OwnCounts

class Slow:
    def never(self, *given):
        while True: pass
    __int__ = __index__ = __float__ = __repr__ = __eq__ = __lt__ = __hash__ = never

class Class:
    @property
    def __class__(self):
        while True: pass

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
    def own_counts(self): return OwnCounts()
    def view(self): return AgentView()
    MORE

SPEC = AgentSpec("mine", "Mine", "none", "Stands.", Mine)
"""


@pytest.mark.parametrize("kind", ["Slow()", "Class()"])
@pytest.mark.parametrize(
    "more",
    [
        "def advance(self, budget, rows): return VALUE",
        "status = property(lambda self: VALUE)",
        "def own_counts(self): return VALUE",
        "def own_counts(self): return OwnCounts(memory=VALUE)",
        "def view(self): return VALUE",
        "def view(self): return AgentView(best=VALUE)",
        "def view(self): return AgentView(numbers={'a': VALUE})",
        "h_changes = property(lambda self: VALUE)",
    ],
)
def test_values_with_endless_methods_are_read_under_the_watchdog(more: str, kind: str, tmp_path: Path) -> None:
    own_files.load_agent_file(write_agent(tmp_path, DECLARED.replace("MORE", more).replace("VALUE", kind)))
    made = world()
    began = time.monotonic()
    for _ in range(3):
        made.advance(1)
        made.create_snapshot()
        made.walkers[0].agent.view()
        made.walkers[0].agent.own_counts()
    made.advance(30)
    assert made.walkers[1].has_arrived and time.monotonic() - began < 10


# --- processes, output and memory -----------------------------------------------------------------


def solve(path: Path) -> tuple[list[str], str]:
    ends = ["--map", "assets/maps/rooms-32.map", "--from", "0,0", "--to", "3,3", "--agent", "mine", "lrta"]
    done = subprocess.run(
        [sys.executable, "main.py", "solve", AGENT_FILE_OPTION, str(path), *ends],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=120,
    )
    return done.stdout.splitlines(), done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no system that forks")
@pytest.mark.parametrize(
    "text",
    [
        f"{MINE}        os.fork()\n{WALK}",
        f"os.fork()\n{MINE}{WALK}",
        f"{MINE}        os.fork()\n        raise ValueError\n",
    ],
)
def test_process_forked_by_an_agent_prints_no_results(text: str, tmp_path: Path) -> None:
    lines, _ = solve(write_agent(tmp_path, HEAD + text))
    assert [json.loads(line)["agent"] for line in lines] == ["mine", "lrta"]


WRITES = (
    f"{MINE}        sys.stdout.write('here')\n{WALK}",
    f"{MINE}        print('here', end='')\n{WALK}",
    f"from sys import stdout\nstdout.write('here')\n{MINE}        stdout.write('here')\n{WALK}",
    f"{MINE}        sys.stdout.writelines(['here'])\n        sys.stdout.flush()\n{WALK}",
    f"{MINE}        thread = threading.Thread(target=print, args=('here',))\n"
    f"        thread.start()\n        thread.join()\n{WALK}",
    f"{MINE}        return Odd()\nclass Odd:\n    def __repr__(self):\n        print('here')\n        return ''\n",
)


@pytest.mark.parametrize("text", WRITES)
def test_agent_output_on_stdout_goes_to_stderr(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_agent(tmp_path, HEAD + text)
    ends = ["--map", str(ROOT / "assets/maps/rooms-32.map"), "--from", "0,0", "--to", "1,1"]
    main.main(["solve", AGENT_FILE_OPTION, str(path), *ends, "--agent", "mine", "lrta"])
    out, err = capsys.readouterr()
    assert [json.loads(line)["agent"] for line in out.splitlines()] == ["mine", "lrta"] and "here" in err


@pytest.mark.parametrize(
    "name",
    ["terrain", "original_terrain", "moves", "_cell_domains", "map_arrays.moves", "map_arrays.step", "map_arrays.cost"],
)
def test_agent_map_view_is_read_only(name: str) -> None:
    grid = Grid.from_text_rows(["..@", "..."])
    array = seen = ReadOnlyGrid(grid)
    for part in name.split("."):
        array = getattr(array, part)
    for open_it in (lambda: array.setflags(write=True), lambda: setattr(array.flags, "writeable", True)):
        with pytest.raises(ValueError, match="WRITEABLE"):
            open_it()
    grid.block_and_free([0], [])
    assert seen.text_rows() == grid.text_rows() == ["@.@", "..."] and not seen.moves[0] and not seen.is_free(0)


def test_agent_map_view_stays_read_only_after_seeking_back(tmp_path: Path) -> None:
    body = (
        "        if self.position % 9 == 4:\n            try: self.moves.flags.writeable = True\n"
        "            except ValueError: pass\n            else: self.moves[:] = 255\n"
        "            self.locked.flags.writeable = True\n            self.locked[0] += 1\n"
    )
    begin = (
        "    def begin(self):\n        self.moves, self.locked = self.grid.moves, np.zeros(3)\n"
        "        self.locked.flags.writeable = False\n"
    )
    own_files.load_agent_file(write_agent(tmp_path, f"{HEAD}{MINE}{body}{WALK}{begin}"))
    line = Timeline(world)
    line.advance(2)
    line.keyframe_saver.save(line._present_cursor())
    line.advance(1)
    line.seek(2)
    moves = line.world.walkers[0].agent.agent.moves
    with pytest.raises(ValueError, match="WRITEABLE"):
        moves.flags.writeable = True
    assert np.shares_memory(moves, line.world.grid.moves)
    before = line.world.grid.moves.copy()
    line.advance(20)
    assert line.world.walkers[0].violation is None and (line.world.grid.moves == before).all()
    assert line.world.walkers[0].agent.agent.locked[0] == 1


# --- small rules of the guard ---------------------------------------------------------------------


class PlainAgent:
    """An agent without faults whose calls are noted."""

    h_changes, status = 0, Status.ACTIVE

    def __init__(self, problem: Problem, params: dict[str, object]) -> None:
        self.start, self.trials, self.path = problem.start, list[int](), np.array([], np.int32)

    def advance(self, budget: int, rows: np.ndarray) -> int:
        log.write_tick_row(rows[0], self.start + 1, 0, 0, 0, log.SEARCHING)
        return 1

    def begin_trial(self, start: int) -> None:
        self.trials.append(start)

    def view(self) -> AgentView:
        return AgentView(path=self.path)


def make_guarded_plain_agent() -> tuple[GuardedAgent, list[PlainAgent]]:
    made: list[PlainAgent] = []

    def make(problem: Problem, params: object) -> PlainAgent:
        made.append(PlainAgent(problem, {}))
        return made[-1]

    grid = Grid.from_text_rows(["...."] * 2)
    return GuardedAgent(Path("mine.py"), lambda version: make, Problem(grid, 2, 7), {"version": "1"}), made


def test_new_agent_version_starts_at_the_start_of_the_trial() -> None:
    agent, made = make_guarded_plain_agent()
    agent.advance(1, log.new_tick_log(1))
    assert agent.cell == 3
    agent.begin_trial(2)
    assert agent.cell == 2 and made[0].trials == [2]
    agent.set_param("version", "2")
    assert made[1].start == 2


@pytest.mark.parametrize("cell, is_drawn", [(0, True), (7, True), (-1, False), (8, False)])
def test_path_with_invalid_cells_is_not_drawn(cell: int, is_drawn: bool) -> None:
    agent, made = make_guarded_plain_agent()
    made[0].path = np.array([3, cell], np.int32)
    assert agent.view().path.tolist() == ([3, cell] if is_drawn else [])
    assert not agent.error_text


def test_map_change_wakes_an_agent_with_no_path(tmp_path: Path) -> None:
    body = "        if not self.grid.is_free(2): return self.no_path()\n"
    own_files.load_agent_file(write_agent(tmp_path, f"{HEAD}{MINE}{body}{WALK}"))
    made = World(Grid.from_text_rows(["..@.."]), 0, 4, AGENT_SPECS_BY_KEY, budget=4)
    made.add(AgentConfig("mine"))
    made.submit(EditCells(freed_cells=(2,)), 5)
    made.advance(3)
    assert made.walkers[0].agent.status is Status.NO_PATH
    made.advance(20)
    assert made.walkers[0].has_arrived and made.walkers[0].violation is None
