"""The first start: what the opened run needs is compiled first, the rest beside the window; nobody walks before."""

import ast
import io
import os
import subprocess
from pathlib import Path

import pygame
import pytest

from agents.registry import AGENT_SPECS
from agents.warm_up import kernel_set_key
from sim.jit import ready
from sim.jit.decorators import JIT_ON
from sim.jit.ready import KernelSet
from sim.system import file_locks
from tests.window import make_app, press
from ui import kernel_preparation, start, warmup
from ui.kernel_preparation import KernelPreparation
from ui.model import opened_files, subprocesses
from ui.model.settings import Settings
from ui.warmup import all_kernel_sets, compile_kernels_in_background, first_frame_kernel_sets

from .conftest import ROOT, run_python

NOTHING_IS_LEFT = """
import gc, os, sys
from pathlib import Path
from sim.jit.inner import Kernel
from ui import start
from ui.app import App
from ui.model.session import Session
from ui.model.settings import Settings
from ui.warmup import first_frame_kernel_sets
def used():
    kernels = [k for k in gc.get_objects() if isinstance(k, Kernel)]
    return {(k.py_func.__name__, str(types)) for k in kernels for types in k.overloads}
window = start.open_window(Settings())
opened = start.open_first_file(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
for part in first_frame_kernel_sets(start.agent_kinds_of_file(opened)):
    part.compile_kernels()
prepared = used()
app = App(Session(opened.scenario), Settings(), window)
app.window.document_opener.apply_opened_file_parts(opened)
app.window.player.play()
for _ in range(40):
    app.run_frame(0.05)
assert app.session.tick > 10
print(sorted(used() - prepared))
"""


@pytest.mark.skipif(not JIT_ON, reason="nothing is compiled")
def test_first_example_needs_no_further_compilation() -> None:
    assert run_python(NOTHING_IS_LEFT, SDL_VIDEODRIVER="dummy").splitlines()[-1] == "[]"


@pytest.mark.slow
@pytest.mark.skipif(not JIT_ON, reason="nothing is compiled")
@pytest.mark.parametrize("kind", ["tb-wa", "lrta"])
def test_background_compilation_covers_all_drawing_kernels(kind: str, tmp_path: Path) -> None:
    """By a process that runs the simulation as Python code: afterwards no kernel that draws is compiled."""
    environment = {"NUMBA_CACHE_DIR": str(tmp_path), "SDL_VIDEODRIVER": "dummy"}
    run_python(
        f"import io; from ui.warmup import *; compile_picture_kernels(io.StringIO({kind + chr(10)!r}))",
        BACKMOVE_DRAWS_ONLY="1",
        **environment,
    )
    made = set(tmp_path.rglob("*.nbc"))
    assert made and all(path.parent.name.startswith("ui.draw.kernels.") for path in made)
    run_python(
        f"from ui.warmup import *; [part.compile_kernels() for part in first_frame_kernel_sets([{kind!r}])]",
        **environment,
    )
    later = set(tmp_path.rglob("*.nbc")) - made
    assert later and all(path.parent.name.startswith("sim.kernels.") for path in later)


def test_first_parts_contain_only_agents_of_the_run() -> None:
    keys = [part.key for part in first_frame_kernel_sets(["tb-wa", "astar", "tb-wa"])]
    assert keys == ["world", "time", "tb-wa-watched", "astar-watched", "first-picture"]
    assert "first-picture-learning" in [part.key for part in first_frame_kernel_sets(["lrta"])]
    everything = [part.key for part in all_kernel_sets()]
    assert len(set(everything)) == len(everything) and set(keys) <= set(everything)
    assert {kernel_set_key(spec.key, watched=True) for spec in AGENT_SPECS} <= set(everything)


def test_kinds_of_includes_agents_added_by_the_script(tmp_path: Path) -> None:
    path = tmp_path / "later.yaml"
    path.write_text(
        "format: backmove-scenario\nversion: 1\nmap: {rows: ['....', '....']}\nstart: [0, 0]\ngoal: [3, 1]\n"
        "agents: [{kind: astar}]\nedits: [{tick: 2, add: {kind: ribs}}]\n"
    )
    assert start.agent_kinds_of_file(opened_files.open_any_file(path)) == ["astar", "ribs"]


class FakeChildProcess:
    def __init__(self, *words: str, **_: object) -> None:
        self.words, self.stdin, self.told, self.is_alive = words, io.BytesIO(), b"", True
        self.stdin.close = lambda: setattr(self, "told", self.stdin.getvalue())

    def kill(self) -> None:
        self.is_alive = False

    def communicate(self) -> None:
        assert not self.is_alive


@pytest.fixture
def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[FakeChildProcess]:
    """The processes that were begun, with no kernel compiled yet."""
    monkeypatch.setattr(ready, "CACHE_FOLDER", tmp_path)
    found: list[FakeChildProcess] = []
    monkeypatch.setattr(
        subprocesses, "start_detached_module", lambda *words, **_: found.append(FakeChildProcess(*words)) or found[-1]
    )
    return found


def test_painter_starts_its_own_process_immediately(begun: list[FakeChildProcess]) -> None:
    """Before anybody has read what is to be opened; which agents there are it is told when that is known."""
    painter = warmup.PictureKernelCompiler()
    assert [one.words for one in begun] == [("ui.warmup", "pictures")]
    painter.send_agent_kinds(["tb-wa", "lrta"])
    assert begun[0].told == b"tb-wa lrta\n" and len(begun) == 1
    painter.stop_compiler_process()
    assert not begun[0].is_alive


def test_painter_starts_no_process_if_all_is_compiled(begun: list[FakeChildProcess]) -> None:
    for part in first_frame_kernel_sets(["tb-wa"]):
        if not part.key.startswith("first-picture"):
            ready._ready_marker_path(part.key).write_bytes(b"ready")
    painter = warmup.PictureKernelCompiler()
    painter.send_agent_kinds(["tb-wa"])
    assert not begun
    painter.send_agent_kinds(["lrta"])  # its kernels are missing, and what its picture needs beside the usual
    assert len(begun) == 1 and begun[0].told == b"lrta\n"


def test_splash_shows_count_only_for_several_parts() -> None:
    """What opening the file needs comes alone; "1 of 1", and then 1 of 5, would be no help."""
    progress = start.CompilationProgress()
    assert progress.splash_text == "" and progress.share is None
    progress.store_progress(ready.KernelSet("world", "the map", lambda: None), 0, 1)
    assert progress.splash_text == "Preparing the map (only the first time)" and progress.share is None
    progress.store_progress(ready.KernelSet("tba", "TBA*", lambda: None), 1, 4)
    assert progress.splash_text == "Preparing TBA*: 2 of 4 (only the first time)" and progress.share == 0.25


# --- beside the window ------------------------------------------------------------------------------------


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Three parts; gives the list of those that were compiled."""
    done: list[str] = []
    made = [KernelSet(key, key, lambda key=key: done.append(key)) for key in "abc"]  # type: ignore[misc]
    monkeypatch.setattr(ready, "CACHE_FOLDER", tmp_path)
    monkeypatch.setattr(warmup, "all_kernel_sets", lambda: made)
    return done


@pytest.mark.skipif(not JIT_ON, reason="nothing is compiled")
def test_requested_parts_are_compiled_first(parts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warmup.threading.Thread, "start", lambda thread: None)
    asked = warmup.SimpleQueue()
    monkeypatch.setattr(warmup, "SimpleQueue", lambda: asked)
    for key in ("c", "nothing"):
        asked.put(key)
    compile_kernels_in_background(io.StringIO())
    assert parts == ["c", "a", "b"]


def test_background_compilation_ends_when_the_window_closes(parts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    asked = warmup.SimpleQueue()
    asked.put(None)
    monkeypatch.setattr(warmup, "SimpleQueue", lambda: asked)
    compile_kernels_in_background(io.StringIO())
    assert not parts


def test_background_process_compiles_all_and_exits(tmp_path: Path) -> None:
    """On the full cache of the tests there is nothing to do; it must start, look, and end."""
    process = subprocesses.start_detached_module(
        "ui.warmup", is_idle=True, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    assert process.stdin and process.wait(timeout=300) == 0
    process.stdin.close()


class FakePipe(io.BytesIO):
    pass


class FakeCompileProcess:
    """A process that compiles for ever."""

    def __init__(self) -> None:
        self.stdin, self.code = FakePipe(), None

    def poll(self) -> int | None:
        return self.code


@pytest.fixture
def helper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeCompileProcess:
    made = FakeCompileProcess()
    monkeypatch.setattr(subprocesses, "start_detached_module", lambda *_, **__: made)
    monkeypatch.setattr(ready, "CACHE_FOLDER", tmp_path)
    return made


def mark_as_ready(folder: Path, kind: str) -> None:
    ready._ready_marker_path(kernel_set_key(kind, watched=True)).write_bytes(b"ready")


def test_preparation_reports_agents_until_they_are_ready(helper: FakeCompileProcess, tmp_path: Path) -> None:
    waiting = KernelPreparation()
    assert not waiting.agent_kinds_without_kernels(["ribs"])
    waiting.start_compiling_process()
    mark_as_ready(tmp_path, "astar")
    assert (
        waiting.agent_kinds_without_kernels(["astar", "ribs", "ribs"])
        == ["ribs"]
        == waiting.agent_kinds_without_kernels(["ribs"])
    )
    assert helper.stdin.getvalue() == b"ribs-watched\n"
    mark_as_ready(tmp_path, "ribs")
    assert not waiting.agent_kinds_without_kernels(["ribs"])
    helper.code = 1  # it died: what is missing is compiled when it is called
    assert not waiting.agent_kinds_without_kernels(["lrta"]) and helper.stdin.closed


def test_run_waits_for_agents_in_preparation_and_panel_shows_it(helper: FakeCompileProcess, tmp_path: Path) -> None:
    opened = opened_files.open_any_file(opened_files.example_files()[0])
    app = make_app(opened.scenario)
    app.kernel_preparation.start_compiling_process()
    app.window.player.play()
    app.run_frame(0.5)
    assert app.session.tick == 0
    kinds = {panel.walker_view.spec.key for panel in app.session.run.panels}
    assert set(app.window.ui_state.kinds_in_preparation) == kinds
    spots = [spot for spot in app.window.canvas.hit_regions if spot.id.startswith("state:")]
    assert spots and all("being compiled" in (spot.tooltip or "") for spot in spots)
    press(app, pygame.K_PERIOD, unicode=".")
    assert app.session.tick == 0 and "prepared" in app.window.ui_state.message_queue.queued_message_texts()[-1]
    for kind in kinds:
        mark_as_ready(tmp_path, kind)
    app.window.player.play()
    app.run_frame(0.5)
    assert app.session.tick > 0


def test_preparation_starts_no_process_if_all_is_ready(
    helper: FakeCompileProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_preparation, "are_all_kernels_compiled", lambda: True)
    waiting = KernelPreparation()
    waiting.start_compiling_process()
    helper.code = None
    assert not waiting.agent_kinds_without_kernels(["ribs"]) and not helper.stdin.getvalue()


# --- other systems ----------------------------------------------------------------------------------------


def test_window_requests_per_monitor_dpi_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SDL_WINDOWS_DPI_AWARENESS", raising=False)
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    asked = []
    monkeypatch.setattr(pygame.display, "init", lambda: asked.append(os.environ["SDL_WINDOWS_DPI_AWARENESS"]))
    start.open_window(Settings(window_size=(640, 480)))
    assert set(asked) == {"permonitorv2"}


def test_files_are_opened_in_binary_mode_on_windows() -> None:
    """Without that flag Windows writes two characters for a line end, and a journal is no longer what was written."""
    assert getattr(os, "O_BINARY", 0) == file_locks.BINARY_FLAG
    opening = [
        (path, node)
        for path in [ROOT / "files" / "journal.py", ROOT / "sim" / "jit" / "ready.py"]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "os.open"
    ]
    assert len(opening) >= 3 and all("BINARY" in ast.unparse(node) for _, node in opening)


def test_background_processes_are_detached_from_ctrl_c() -> None:
    assert (
        subprocesses.detached_popen_options("linux")
        == subprocesses.detached_popen_options("darwin", is_idle=True)
        == {"start_new_session": True}
    )
    flags = subprocesses.detached_popen_options("win32")["creationflags"]
    assert flags == 0x200 | 0x08000000  # a process group of its own, no console window
    assert subprocesses.detached_popen_options("win32", is_idle=True)["creationflags"] == flags | 0x40
