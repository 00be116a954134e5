"""The main journeys in a real window: Xvfb, a window manager, xdotool. What is asserted is the world's state."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NEEDED = ("Xvfb", "xdotool", "openbox")
pytestmark = [
    pytest.mark.window,
    pytest.mark.skipif(
        any(shutil.which(name) is None for name in NEEDED), reason=f"needs {', '.join(NEEDED)} (see README)"
    ),
]
PATIENCE_S = 120


class Window:
    """The program in a window of its own, and a hand on its keyboard and mouse."""

    def __init__(self, display: str, folder: Path, *arguments: str) -> None:
        self.status_path = folder / "status.json"
        self.environment = {
            **os.environ,
            "DISPLAY": display,
            "SDL_VIDEODRIVER": "x11",
            "BACKMOVE_STATUS": str(self.status_path),
            "XDG_CONFIG_HOME": str(folder),
            "XDG_STATE_HOME": str(folder),
        }
        for system in ("X11", "WAYLAND"):  # what pygame has put there for the tests themselves
            self.environment.pop(f"SDL_VIDEO_{system}_WMCLASS", None)
        self.process = subprocess.Popen(
            [sys.executable, "main.py", *arguments], cwd=ROOT, env=self.environment, stderr=subprocess.PIPE, text=True
        )
        self.until(lambda s: True)
        self.id = self._find()

    def _find(self) -> str:
        """The window that the manager has given the keyboard to; the display has no other."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            if name := self.xdotool("getactivewindow").strip():
                return name
            time.sleep(0.05)
        raise AssertionError("no window became active")

    def xdotool(self, *words: str) -> str:
        done = subprocess.run(
            ["xdotool", *words], env=self.environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        return done.stdout

    def keys(self, *names: str) -> None:
        for name in names:
            self.xdotool("key", "--clearmodifiers", name)

    @property
    def status(self) -> dict:
        return json.loads(self.status_path.read_text())

    def until(self, condition) -> dict:
        """Wait for the window to get where it should; the time allowed is only a limit, never measured."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            assert self.process is None or self.process.poll() is None, self.process.stderr.read()
            if self.status_path.exists() and condition(status := self.status):
                return status
            time.sleep(0.05)
        raise AssertionError(
            f"never came to pass; the last status was {self.status if self.status_path.exists() else None}"
        )

    def cell(self, x: int, y: int) -> tuple[int, int]:
        panel = self.status["panels"][0]
        left, top, _, _ = panel["map"]
        zoom = panel["zoom"]
        return round(left + (x + 0.5 - panel["left"]) * zoom), round(top + (y + 0.5 - panel["top"]) * zoom)

    def drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        self.xdotool("mousemove", "--window", self.id, str(start[0]), str(start[1]), "mousedown", "1")
        self.xdotool("mousemove", "--window", self.id, str(end[0]), str(end[1]))
        self.xdotool("mouseup", "1")

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)
        self.process.stderr.close()


@pytest.fixture(scope="module")
def display():
    read_end, write_end = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write_end), "-screen", "0", "1920x1080x24", "-nolisten", "tcp"],
        pass_fds=(write_end,),
        stderr=subprocess.DEVNULL,
    )
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        name = f":{pipe.readline().strip()}"
    manager = subprocess.Popen(["openbox"], env={**os.environ, "DISPLAY": name}, stderr=subprocess.DEVNULL)
    yield name
    for process in (manager, server):
        process.terminate()
        process.wait(10)


@pytest.fixture
def window(display, tmp_path):
    opened = []

    def start(*arguments: str) -> Window:
        opened.append(Window(display, tmp_path, *arguments))
        return opened[-1]

    yield start
    for each in opened:
        each.close()


def test_window_without_file_runs_first_example_and_opens_another(window):
    w = window()
    w.until(lambda s: s["running"] and s["tick"] > 3)
    first = w.status["title"]
    w.keys("space")
    w.until(lambda s: not s["running"])
    w.keys("g")
    w.until(lambda s: s["dialog"] == "Gallery")
    w.keys("Down", "Return")
    w.until(lambda s: s["dialog"] is None and s["title"] != first)


def test_window_runs_pauses_steps_and_toggles_bridge(window):
    w = window("assets/scenarios/bridges.yaml")
    w.until(lambda s: s["tick"] == 0 and not s["running"])
    w.keys("period")
    w.until(lambda s: s["tick"] == 1)
    w.keys("space")
    w.until(lambda s: s["tick"] > 5)
    w.keys("space")
    before = w.until(lambda s: not s["running"])
    w.keys("shift+1")
    blocked = w.until(lambda s: any(s["switches"].values()) and s["unsaved"])
    assert blocked["blocked"] > before["blocked"]
    w.keys("ctrl+z")
    w.until(lambda s: s["switches"] == before["switches"] and s["blocked"] == before["blocked"])
    weight = before["agents"][0]["params"].get("weight")
    if weight is not None:
        w.keys("1", "w")
        w.until(lambda s: s["agents"][0]["params"]["weight"] > weight)


def test_window_digest_equals_headless_run(window):
    w = window("assets/scenarios/bridges.yaml")
    w.keys("u", "space")
    end = w.until(lambda s: not s["running"] and s["tick"] > 10)
    done = subprocess.run(
        [sys.executable, "main.py", "run", "assets/scenarios/bridges.yaml"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    from ui.model import opened_files
    from ui.model.session import Session

    session = Session(opened_files.open_any_file(ROOT / "assets/scenarios/bridges.yaml").scenario)
    session.advance_by_ticks(100_000)
    assert session.run.world.compute_digest() == end["digest"]
    walkers = session.run.world.walkers
    assert [line["digest"] for line in lines] == [session.run.world.walker_digest(w) for w in walkers]


def test_window_paints_resizes_and_asks_before_quitting_unsaved(window):
    w = window("assets/scenarios/rooms.yaml")
    before = w.until(lambda s: s["panels"])
    w.xdotool("windowsize", "--sync", w.id, "1300", "800")
    w.until(lambda s: abs(s["size"][0] - 1300) <= 2 and abs(s["size"][1] - 800) <= 2)
    assert w.status["digest"] == before["digest"], "resizing does not touch the run"
    w.drag(w.cell(2, 2), w.cell(2, 9))
    w.until(lambda s: s["unsaved"] and s["blocked"] != before["blocked"])
    w.keys("F11")
    w.until(lambda s: s["full_screen"])
    w.keys("F11")
    w.until(lambda s: not s["full_screen"] and abs(s["size"][0] - 1300) <= 2 and abs(s["size"][1] - 800) <= 2)
    w.keys("ctrl+q")
    w.until(lambda s: s["dialog"] == "UnsavedQuestion")
    w.keys("Escape")
    w.until(lambda s: s["dialog"] is None)
    w.keys("ctrl+z", "ctrl+q")
    assert w.process.wait(PATIENCE_S) == 0


def test_user_agent_file_is_reloaded_when_broken_and_fixed(window, tmp_path):
    path = tmp_path / "mine.py"
    works = (ROOT / "assets/own-agent/example.py").read_text()
    path.write_text(works)
    w = window("--agent-file", str(path), "assets/scenarios/rooms.yaml")

    def mine(status: dict) -> dict:
        return next(agent for agent in status["agents"] if agent["kind"] == "mine")

    begun = w.until(lambda s: any(agent["kind"] == "mine" for agent in s["agents"]))
    panels = len(begun["panels"])
    w.keys(*["period"] * 6)
    before = w.until(lambda s: s["tick"] == 6)
    time.sleep(0.5)  # the file has been looked at
    path.write_text(works.replace("best, second, target = inf, inf, None", "best, second, target = inf, 1 / 0, None"))
    broken = w.until(lambda s: mine(s)["state"] == "failed" and len(s["panels"]) == 2 * panels)  # beside the run before
    assert broken["tick"] == 6
    if shot := os.environ.get("BACKMOVE_SHOT"):
        subprocess.run(["import", "-window", "root", shot], env=w.environment, check=True)
    path.write_text(works.replace("weight of the heuristic", "the weight of h"))
    mended = w.until(lambda s: mine(s)["state"] != "failed" and s["tick"] == 6)
    assert mine(mended)["position"] == mine(before)["position"]
    assert mine(mended)["params"]["version"] != mine(before)["params"]["version"]
    path.write_text("this is no Python")
    w.until(lambda s: s["dialog"] == "MessageBox")
    w.keys("Return", "period")
    w.until(lambda s: s["dialog"] is None and s["tick"] == 7)


def test_map_selection_is_moved_pasted_and_made_a_switch(window):
    w = window("assets/scenarios/bridges.yaml")
    w.keys("m", "s")
    before = w.until(lambda s: s["tool"] == "select" and s["editing"])
    w.drag(w.cell(40, 40), w.cell(60, 56))
    w.until(lambda s: s["selection"] == "21 x 17")
    w.drag(w.cell(50, 48), w.cell(75, 30))
    w.until(lambda s: s["unsaved"] and s["digest"] != before["digest"])
    w.keys("ctrl+z")
    w.until(lambda s: not s["unsaved"] and s["digest"] == before["digest"])
    w.keys("ctrl+c", "ctrl+v")
    w.xdotool("mousemove", "--window", w.id, *map(str, w.cell(80, 15)), "click", "1")
    pasted = w.until(lambda s: s["blocked"] > before["blocked"])
    w.keys("ctrl+g")
    w.until(lambda s: s["dialog"] == "TextPrompt")
    w.xdotool("type", "gate")
    w.keys("Return")
    w.until(lambda s: s["switches"].get("gate") is False)
    w.keys("shift+3")
    w.until(lambda s: s["switches"]["gate"] and s["blocked"] > pasted["blocked"])
    for _ in range(3):
        w.keys("ctrl+z")
    w.until(lambda s: "gate" not in s["switches"] and s["digest"] == before["digest"])


def test_agent_is_renamed_and_window_has_its_class(window):
    w = window("assets/scenarios/bridges.yaml")
    w.until(lambda s: s["panels"])
    assert w.id in w.xdotool("search", "--class", "^backmove$").split()
    w.keys("2", "alt+shift+n")
    w.until(lambda s: s["dialog"] == "TextPrompt")
    w.xdotool("type", "hasty")
    w.keys("Return")
    w.until(lambda s: [agent["label"] for agent in s["agents"]] == ["lazy", "hasty"])
    w.keys("ctrl+z")
    w.until(lambda s: [agent["label"] for agent in s["agents"]] == ["lazy", "eager"])
