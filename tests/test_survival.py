"""Nothing that a user does, and no fault of ours, ends the window or loses work."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pygame
import pytest

from agents.registry import AGENT_SPECS_BY_KEY
from files.journal import find_crashed_journals, restore_session
from files.png import png_texts
from sim.params import ConfigError
from sim.world_commands import AgentConfig, EditCells
from tests.test_app import setup
from tests.window import App, make_app, press, press_combination
from ui.commands.command_table import COMMAND_TABLE
from ui.dialogs import fault_box
from ui.dialogs.fault_box import FaultBox
from ui.dialogs.progress_dialog import ProgressDialog
from ui.model import agent_edits, background_job, branch_actions
from ui.model.autosave import AutosaveJournal

from .conftest import ROOT

WINDOW_KEYS = ("F12", "Ctrl+P", "Shift+F12", "Alt+F12")


@pytest.fixture(autouse=True)
def isolated_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BACKMOVE_RECORDINGS", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))


# --- pictures while a seek is under way -----------------------------------------------------------------


def make_app_with_seeking_branch() -> App:
    """The first branch is back at a tick at which the second agent was not there yet; the other one is on its way."""
    app = make_app(setup(1))
    session = app.session
    session.advance_by_ticks(8)
    agent_edits.add_agent(session, AgentConfig("lrta"))
    session.advance_by_ticks(4)
    branch_actions.create_branch_at_current_tick(session)
    first, second = (branch.timeline for branch in session.run.shown_branches)
    assert len(session.run.panels) == 4, "so the window remembers it"
    for line in first, second:
        line.begin_seek(3)
    first.finish_seek()
    assert second.is_seeking and len(session.run.panels) == 4
    session.focus_panel(session.run.panels[0].key)
    return app


@pytest.mark.parametrize("key", WINDOW_KEYS)
def test_picture_waits_for_seeking_branches(key: str, tmp_path: Path) -> None:
    app = make_app_with_seeking_branch()
    press_combination(app, key)
    assert app.window.dialogs.current_dialog is None, app.window.dialogs.current_dialog.problems
    picture = Path(app.window.ui_state.message_queue.queued_message_texts()[-1].removeprefix("Saved "))
    assert picture.is_file()
    if picture.suffix == ".png":
        texts = png_texts(picture.read_bytes())
        assert texts["Tick"] == "3" and texts["Digest"] == app.session.run.world.compute_digest()
        assert "lrta" not in texts["Agents"], "the agent of tick 8 is not there at tick 3"


# --- windows of any size --------------------------------------------------------------------------------

NOT_HERE = {"quit", "full_screen", "record", "export_video"}
SIZES = (((1, 1), 0.75), ((200, 150), 2.0))
TYPED = (pygame.K_TAB, pygame.K_9, pygame.K_DELETE, pygame.K_DOWN, pygame.K_RIGHT, pygame.K_RETURN, pygame.K_SPACE)


def find_dialog_commands() -> list[str]:
    app = make_app(setup(2))
    found = []
    for command in COMMAND_TABLE:
        if command.id not in NOT_HERE:
            app.window.run_command(command.id)
            if app.window.dialogs.current_dialog is not None:
                found.append(command.id)
            app.window.dialogs.close_dialog()
    return found


@pytest.mark.parametrize("size, scale", SIZES)
def test_every_dialog_opens_in_the_smallest_window(
    size: tuple[int, int], scale: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    commands = find_dialog_commands()
    assert {"rename_branch", "until_tick", "find_command", "add_agent", "open"} <= set(commands)
    app = make_app(setup(2))
    app.window.set_ui_scale(scale)
    for command in commands:
        app.window.on_window_resized(pygame.display.set_mode((1280, 720)))
        app.window.run_command(command)
        app.window.on_window_resized(pygame.display.set_mode(size))
        for _ in range(2):
            app.run_frame(0.02)
        for key in TYPED:
            press(app, key, 0, "9" if key == pygame.K_9 else "")
        app.window.dialogs.close_dialog()
        app.window.run_command(command)
        app.run_frame(0.02)
        app.window.dialogs.close_dialog()
    app.run_frame(0.02)


# --- errors of ours -------------------------------------------------------------------------------------


class PlantedError(Exception):
    """What no part of the program expects."""


def fails(*given: object, **named: object) -> None:
    raise PlantedError("planted")


def fail_next_call(target: object, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next call of this method fails."""
    real = getattr(target, name)

    def fail(*given: object, **named: object) -> None:
        monkeypatch.setattr(target, name, real)
        fails()

    monkeypatch.setattr(target, name, fail)


@pytest.fixture
def app() -> App:
    app = make_app(setup(2))
    app.error_recovery.is_recovery_on = True
    app.autosave_journal = AutosaveJournal(app.session)
    app.session.advance_by_ticks(6)
    app.session.submit_command(EditCells(blocked_cells=(3, 4)))
    app.run_frame(0.0)
    return app


def assert_error_reported_and_run_continues(app: App) -> None:
    """The dialog is there and can be drawn, the run stands and goes on as a run without the error."""
    box = app.window.dialogs.current_dialog
    assert isinstance(box, FaultBox) and "PlantedError: planted" in box.fault.message
    app.run_frame(0.0)
    assert len(app.error_recovery.caught_faults) == 1 and not app.error_recovery.should_abort_program
    text = box.report_callback()
    assert "in fails" in text and "tick " in text and str(Path(__file__).parent.parent) not in text
    press(app, pygame.K_RETURN)
    assert app.window.dialogs.current_dialog is None and not app.window.player.step_clock.is_running
    while app.session.run.is_seeking:
        app.run_frame(0.0)
    app.session.advance_by_ticks(5)
    line, plain = app.session.run.focused_branch_timeline, make_app(setup(2)).session
    plain.advance_by_ticks(6)
    plain.submit_command(EditCells(blocked_cells=(3, 4)))
    plain.advance_by_ticks(line.tick - 6)
    assert line.world.compute_digest() == plain.run.world.compute_digest() and line.run_history.divergence_tick is None


def break_draw(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_next_call(app.window.map_view.renderer, "draw_map", monkeypatch)
    app.run_frame(0.0)


def break_tick(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second agent fails in a tick in which the first one has already moved."""
    fail_next_call(app.session.run.world.walkers[1].agent, "advance", monkeypatch)
    app.window.player.play()
    app.run_frame(0.2)


def break_command(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_next_call(app.session.run.branch_tree, "create_branch", monkeypatch)
    press_combination(app, "B")


def break_key(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    fail_next_call(app.key_dispatcher, "handle_event", monkeypatch)
    press_combination(app, "Space")


def break_dialog(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    press_combination(app, "?")
    fail_next_call(app.window.dialogs.current_dialog, "update_dialog", monkeypatch)
    monkeypatch.setattr(app.window.dialogs.current_dialog, "close", fails)
    app.run_frame(0.0)


def break_thread(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    app.error_recovery.switch_on_recovery()
    thread = threading.Thread(target=fails)
    thread.start()
    thread.join()
    app.run_frame(0.0)


def break_job(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_job, "PROGRESS_DELAY_S", 0.0)
    may_fail = threading.Event()

    def work(_: background_job.BackgroundJob[None]) -> None:
        may_fail.wait()
        fails()

    app.window.dialogs.call_when_job_done("Working", background_job.BackgroundJob(work), fails)
    may_fail.set()
    while isinstance(app.window.dialogs.current_dialog, ProgressDialog):
        app.run_frame(0.0)


BREAKS = (break_draw, break_tick, break_command, break_key, break_dialog, break_thread, break_job)


@pytest.mark.parametrize("do_break", BREAKS)
def test_error_is_reported_and_the_run_continues(
    do_break: Callable[[App, pytest.MonkeyPatch], None], app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    do_break(app, monkeypatch)
    assert_error_reported_and_run_continues(app)


def test_error_report_can_be_copied(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[str] = []
    monkeypatch.setattr(fault_box, "copy_text_to_clipboard", copied.append)
    break_command(app, monkeypatch)
    press(app, pygame.K_LEFT), press(app, pygame.K_TAB), press(app, pygame.K_RETURN)
    assert copied and copied[0] == app.window.dialogs.current_dialog.report_callback() and "Box" in copied[0]


def test_error_dialog_says_if_no_journal_can_be_written(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    break_draw(app, monkeypatch)
    assert "Nothing is lost" in app.window.dialogs.current_dialog.text
    press(app, pygame.K_RETURN)
    monkeypatch.setattr(os, "write", lambda file, line: raise_disk_full())
    app.session.submit_command(EditCells(blocked_cells=(5, 6)))
    break_draw(app, monkeypatch)
    assert "could not be written to the journal" in app.window.dialogs.current_dialog.text and "save the session" in (
        app.window.dialogs.current_dialog.text
    )


def raise_disk_full() -> None:
    raise OSError(28, "No space left on device")


def test_config_error_is_shown_as_user_mistake(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(number: int) -> None:
        raise ConfigError("there is no such thing")

    monkeypatch.setattr(app.session.run.branch_tree, "create_branch", refuse)
    press_combination(app, "B")
    assert (
        app.window.dialogs.current_dialog.problems == ["there is no such thing"]
        and not app.error_recovery.caught_faults
    )


def test_repeated_frame_errors_abort_and_keep_the_journal(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app.window.map_view.renderer, "draw_map", fails)
    for _ in range(2):
        app.run_frame(0.0)
    assert not app.error_recovery.should_abort_program
    app.run_frame(0.0)
    assert app.error_recovery.should_abort_program
    assert app.autosave_journal.journal.path.exists()


ENDS_IN_DESPAIR = """
import ui.start, ui.app
from sim.world_commands import EditCells
count = 0
real = ui.app.App.run_frame

def frame(app, seconds):
    global count
    count += 1
    if count == 3:
        app.window.dialogs.close_dialog()
        app.session.submit_command(EditCells(blocked_cells=(3, 4)))
    if count == 5:
        ui.app.App.draw_window = lambda app, *given: 1 / 0
    real(app, seconds)

ui.app.App.run_frame = frame
raise SystemExit(ui.start.run_until_closed(None))
"""


def test_aborted_window_reports_error_and_offers_session(home: Path) -> None:
    environment = {**os.environ, "SDL_VIDEODRIVER": "dummy", "NUMBA_DISABLE_JIT": "1"}
    environment |= {"XDG_STATE_HOME": str(home), "XDG_CONFIG_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-c", ENDS_IN_DESPAIR],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "ZeroDivisionError" in done.stderr and "can be restored" in done.stderr and "Traceback" not in done.stderr
    assert "ZeroDivisionError" in (home / "backmove" / "last-error.txt").read_text()
    crashed = find_crashed_journals(home / "backmove" / "journals")
    saved = restore_session(crashed[0].path, AGENT_SPECS_BY_KEY)
    assert [entry.command for entry in saved.branches[0].branch_state.entries][-1] == EditCells(blocked_cells=(3, 4))


TERMINATED = """
import os, signal, sys
import ui.start, ui.app
from sim.world_commands import EditCells
count = 0
real = ui.app.App.run_frame

def frame(app, seconds):
    global count
    count += 1
    if count == 3:
        app.window.dialogs.close_dialog()
        if "edit" in sys.argv:
            app.session.submit_command(EditCells(blocked_cells=(3, 4)))
    if count == 5:
        os.kill(os.getpid(), signal.SIGTERM)
    if count == 40:
        os._exit(99)  # a question is open, and nobody answers it
    real(app, seconds)

ui.app.App.run_frame = frame
raise SystemExit(ui.start.run_until_closed(None))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGTERM")
@pytest.mark.parametrize("acts", ["edit", "nothing"])
def test_sigterm_closes_the_window_without_losing_edits(home: Path, acts: str) -> None:
    environment = {**os.environ, "SDL_VIDEODRIVER": "dummy", "NUMBA_DISABLE_JIT": "1"}
    environment |= {"XDG_STATE_HOME": str(home), "XDG_CONFIG_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-c", TERMINATED, acts],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 143, done.stderr
    assert done.stderr == ""
    crashed = find_crashed_journals(home / "backmove" / "journals")
    if acts == "nothing":
        assert crashed == [], "there is nothing to restore"
        return
    saved = restore_session(crashed[0].path, AGENT_SPECS_BY_KEY)
    assert [entry.command for entry in saved.branches[0].branch_state.entries][-1] == EditCells(blocked_cells=(3, 4))
