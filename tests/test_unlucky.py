"""What an unlucky user does: lets go in the wrong place, closes at the wrong moment."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pygame
import pytest

from sim import prepared_data
from sim.prepared_data import BuildProgress
from tests.test_app import setup
from tests.window import App, at_cell, drag, make_app, press, press_combination, settle
from ui import start
from ui.dialogs.own_agent_question import OwnAgentQuestion
from ui.dialogs.unsaved_question import RunningExperimentQuestion, UnsavedQuestion
from ui.model.background_job import BackgroundJob

LONG_S = 30.0  # only a fault takes so long

# --- letting go -------------------------------------------------------------------------------------------


def blocked_count(app: App) -> int:
    return int((~app.session.run.world.grid.free_mask).sum())


def move_mouse(app: App, to: tuple[int, int]) -> None:
    pygame.event.post(pygame.event.Event(pygame.MOUSEMOTION, pos=to, rel=(0, 0), buttons=(0, 0, 0)))
    settle(app)


def release_button(app: App, at: tuple[int, int]) -> None:
    pygame.event.post(pygame.event.Event(pygame.MOUSEBUTTONUP, button=1, pos=at))
    settle(app)


def release_over_agent_editor(app: App) -> None:
    press_combination(app, "E")
    drag(app, at_cell(app, 3, 3), at_cell(app, 4, 3), release=False)
    release_button(app, app.window.dialogs.current_dialog.card_rect.center)


def release_over_help_dialog(app: App) -> None:
    drag(app, at_cell(app, 3, 3), at_cell(app, 4, 3), release=False)
    press_combination(app, "?")
    release_button(app, app.window.dialogs.current_dialog.card_rect.center)


@pytest.mark.parametrize("let_go_there", [release_over_agent_editor, release_over_help_dialog])
def test_stroke_ends_when_the_button_is_released_over_a_dialog(let_go_there: Callable[[App], None]) -> None:
    app = make_app(setup(1))
    before = blocked_count(app)
    let_go_there(app)
    app.window.dialogs.close_dialog()
    painted = blocked_count(app)
    assert painted > before, "the stroke has begun"
    move_mouse(app, at_cell(app, 3, 5))
    move_mouse(app, at_cell(app, 6, 5))
    assert blocked_count(app) == painted
    app.window.run_command("undo")
    assert blocked_count(app) == before, "it was one stroke"


def test_slider_drag_ends_when_released_over_a_dialog() -> None:
    app = make_app(setup(1))
    spot = next(spot for spot in app.window.canvas.hit_regions if spot.id == "speed")
    drag(app, pygame.Rect(spot.box).center, pygame.Rect(spot.box).midleft, release=False)
    press_combination(app, "?")
    release_button(app, app.window.dialogs.current_dialog.card_rect.center)
    app.window.dialogs.close_dialog()
    speed = app.window.player.step_clock.ticks_per_second
    move_mouse(app, pygame.Rect(spot.box).midright)
    assert app.window.player.step_clock.ticks_per_second == speed


# --- closing ----------------------------------------------------------------------------------------------


@pytest.fixture
def stop_event() -> Iterator[threading.Event]:
    """Set at the end, so that a fault holds up no other test."""
    event = threading.Event()
    yield event
    event.set()


def endless_job(stop_event: threading.Event) -> Callable[[BackgroundJob[Any]], None]:
    def work(job: BackgroundJob[Any]) -> None:
        while not stop_event.is_set():
            job.report_progress(0.5)

    return work


def test_closing_the_window_cancels_background_jobs(
    stop_event: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It went on without a window, or held a dead one on the screen, until it was done."""
    monkeypatch.setattr(pygame, "quit", lambda: None)
    app = make_app(setup(1))
    job, begun = BackgroundJob(endless_job(stop_event)), threading.Event()

    def steps() -> Iterator[BuildProgress]:
        while not stop_event.is_set():
            begun.set()
            yield BuildProgress("", 0.5)

    prepared_data.prefetch_data(-1, steps())
    assert begun.wait(LONG_S)
    start._close_background_work(app)
    prepared_data._PREFETCH_EXECUTOR.submit(lambda: None).result(LONG_S)
    assert job.wait_until_done(LONG_S)


def test_closing_during_startup_cancels_the_preparation(
    stop_event: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone: list[str] = []
    jobs: list[BackgroundJob[None]] = []

    def start_job_and_exit(*given: object) -> None:
        jobs.append(BackgroundJob(endless_job(stop_event)))
        raise SystemExit(0)

    monkeypatch.setattr(pygame, "quit", lambda: gone.append("window"))
    monkeypatch.setattr(start, "open_window", lambda settings: None)
    monkeypatch.setattr(start, "_open_first_run", start_job_and_exit)
    with pytest.raises(SystemExit):
        start.run_until_closed(None)
    assert gone and jobs[0].wait_until_done(LONG_S)


class FakeStudy:
    """An experiment that goes on until it is stopped."""

    is_running, done, run_count, results_folder = True, 12, 1240, Path("/somewhere/results")
    stopped = False

    def read_new_results(self) -> bool:
        return False

    def cancel(self) -> None:
        self.stopped = True


def test_quitting_asks_before_stopping_an_experiment() -> None:
    app = make_app(setup(1))
    app.window.ui_state.background_experiment = FakeStudy()
    app.window.run_command("quit")
    asked = app.window.dialogs.current_dialog
    assert isinstance(asked, RunningExperimentQuestion)
    assert "12 of 1,240 runs" in asked.text and "/somewhere/results" in asked.text
    press(app, pygame.K_RETURN)
    assert app.window.is_window_open and app.window.dialogs.current_dialog is None, "the main answer lets it run"
    app.window.run_command("quit")
    press(app, pygame.K_LEFT), press(app, pygame.K_RETURN)
    assert not app.window.is_window_open


def test_quitting_asks_about_edits_before_the_experiment() -> None:
    app = make_app(setup(1))
    app.window.ui_state.background_experiment = FakeStudy()
    drag(app, at_cell(app, 3, 3), at_cell(app, 4, 3))
    app.window.run_command("quit")
    assert isinstance(app.window.dialogs.current_dialog, UnsavedQuestion)
    for key in (pygame.K_LEFT, pygame.K_LEFT, pygame.K_RETURN):  # "Discard"
        press(app, key)
    assert isinstance(app.window.dialogs.current_dialog, RunningExperimentQuestion) and app.window.is_window_open


def test_quitting_does_not_ask_about_a_finished_experiment() -> None:
    app = make_app(setup(1))
    study = FakeStudy()
    study.is_running = False
    app.window.ui_state.background_experiment = study
    app.window.run_command("quit")
    assert not app.window.is_window_open


# --- dropping files -----------------------------------------------------------------------------------------

SMALL = "type octile\nheight 3\nwidth {}\nmap\n" + 3 * "{}\n"


def drop_files(app: App, *files: Path) -> None:
    for file in files:
        pygame.event.post(pygame.event.Event(pygame.DROPFILE, file=str(file)))
    settle(app)


def write_small_map(folder: Path, width: int) -> Path:
    path = folder / f"map-{width}.map"
    path.write_text(SMALL.format(width, *[width * "."] * 3))
    return path


def test_dropping_several_files_opens_one_run_with_a_message(tmp_path: Path) -> None:
    app = make_app(setup(1))
    drop_files(app, write_small_map(tmp_path, 4), write_small_map(tmp_path, 5), tmp_path / "none.map")
    for _ in range(3):
        settle(app)
    assert app.session.run.world.grid.width == 4 and app.window.dialogs.current_dialog is None
    assert app.window.ui_state.message_queue.queued_message_texts() == [
        "3 files were dropped at once, but only one can be opened: map-4.map"
    ]


def test_dropped_agent_files_are_confirmed_after_the_run_opens(tmp_path: Path) -> None:
    """The question about one took the place of the one before, and gave up the opening of the run."""
    app = make_app(setup(1))
    agents = tmp_path / "mine.py", tmp_path / "yours.py"
    for path in agents:
        path.write_text("pass")
    drop_files(app, agents[0], write_small_map(tmp_path, 6), agents[1])
    assert app.session.run.world.grid.width == 6
    for path in agents:
        settle(app)
        asked = app.window.dialogs.current_dialog
        assert isinstance(asked, OwnAgentQuestion) and path.name in asked.text
        press(app, pygame.K_ESCAPE)
    settle(app)
    assert app.window.dialogs.current_dialog is None


def test_problems_of_a_dropped_file_name_the_file_once(tmp_path: Path) -> None:
    app = make_app(setup(1))
    wrong, none = tmp_path / "wrong.yaml", tmp_path / "none.yaml"
    wrong.write_text("format: backmove-scenario\nversion: 1\nbudget: none\n")
    drop_files(app, wrong)
    problems = app.window.dialogs.current_dialog.problems
    assert len(problems) > 1 and all(problem.startswith("line ") for problem in problems)
    drop_files(app, none)
    assert str(none) in app.window.dialogs.current_dialog.problems[0], "where it was looked for"
