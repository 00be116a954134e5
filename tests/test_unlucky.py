"""What an unlucky user does: lets go in the wrong place, closes at the wrong moment."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pygame
import pytest

from sim import prepared
from sim.prepared import Step
from tests.test_app import setup
from tests.window import App, at_cell, drag, make_app, press, press_combination, settle
from ui import start
from ui.dialogs.own_agent import OwnAgentQuestion
from ui.dialogs.unsaved import RunningQuestion, UnsavedQuestion
from ui.model.job import Job

LONG_S = 30.0  # only a fault takes so long

# --- letting go -------------------------------------------------------------------------------------------


def blocked(app: App) -> int:
    return int((~app.session.run.world.grid.free).sum())


def move(app: App, to: tuple[int, int]) -> None:
    pygame.event.post(pygame.event.Event(pygame.MOUSEMOTION, pos=to, rel=(0, 0), buttons=(0, 0, 0)))
    settle(app)


def let_go(app: App, at: tuple[int, int]) -> None:
    pygame.event.post(pygame.event.Event(pygame.MOUSEBUTTONUP, button=1, pos=at))
    settle(app)


def over_a_card_beside_the_map(app: App) -> None:
    press_combination(app, "E")
    drag(app, at_cell(app, 3, 3), at_cell(app, 4, 3), release=False)
    let_go(app, app.window.dialogs.dialog.card.center)


def over_a_dialog_that_has_come_up(app: App) -> None:
    drag(app, at_cell(app, 3, 3), at_cell(app, 4, 3), release=False)
    press_combination(app, "?")
    let_go(app, app.window.dialogs.dialog.card.center)


@pytest.mark.parametrize("let_go_there", [over_a_card_beside_the_map, over_a_dialog_that_has_come_up])
def test_a_stroke_ends_when_the_button_comes_up_over_a_dialog(let_go_there: Callable[[App], None]) -> None:
    app = make_app(setup(1))
    before = blocked(app)
    let_go_there(app)
    app.window.dialogs.close_dialog()
    painted = blocked(app)
    assert painted > before, "the stroke has begun"
    move(app, at_cell(app, 3, 5))
    move(app, at_cell(app, 6, 5))
    assert blocked(app) == painted
    app.window.run("undo")
    assert blocked(app) == before, "it was one stroke"


def test_a_slider_is_let_go_over_a_dialog() -> None:
    app = make_app(setup(1))
    spot = next(spot for spot in app.window.canvas.spots if spot.id == "speed")
    drag(app, pygame.Rect(spot.box).center, pygame.Rect(spot.box).midleft, release=False)
    press_combination(app, "?")
    let_go(app, app.window.dialogs.dialog.card.center)
    app.window.dialogs.close_dialog()
    speed = app.window.player.clock.ticks_per_second
    move(app, pygame.Rect(spot.box).midright)
    assert app.window.player.clock.ticks_per_second == speed


# --- closing ----------------------------------------------------------------------------------------------


@pytest.fixture
def over() -> Iterator[threading.Event]:
    """Set at the end, so that a fault holds up no other test."""
    event = threading.Event()
    yield event
    event.set()


def endless(over: threading.Event) -> Callable[[Job[Any]], None]:
    def work(job: Job[Any]) -> None:
        while not over.is_set():
            job.told(0.5)

    return work


def test_closing_gives_up_work_that_nobody_will_want(over: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    """It went on without a window, or held a dead one on the screen, until it was done."""
    monkeypatch.setattr(pygame, "quit", lambda: None)
    app = make_app(setup(1))
    job, begun = Job(endless(over)), threading.Event()

    def steps() -> Iterator[Step]:
        while not over.is_set():
            begun.set()
            yield Step("", 0.5)

    prepared.make_ahead(-1, steps())
    assert begun.wait(LONG_S)
    start._close_background_work(app)
    prepared._PREFETCH_EXECUTOR.submit(lambda: None).result(LONG_S)
    assert job.wait(LONG_S)


def test_closing_while_the_first_run_is_prepared_gives_it_up(
    over: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone: list[str] = []
    jobs: list[Job[None]] = []

    def closed_meanwhile(*given: object) -> None:
        jobs.append(Job(endless(over)))
        raise SystemExit(0)

    monkeypatch.setattr(pygame, "quit", lambda: gone.append("window"))
    monkeypatch.setattr(start, "open_window", lambda settings: None)
    monkeypatch.setattr(start, "_open_first_run", closed_meanwhile)
    with pytest.raises(SystemExit):
        start.run(None)
    assert gone and jobs[0].wait(LONG_S)


class Running:
    """An experiment that goes on until it is stopped."""

    is_running, done, whole, results = True, 12, 1240, Path("/somewhere/results")
    stopped = False

    def poll(self) -> bool:
        return False

    def cancel(self) -> None:
        self.stopped = True


def test_quitting_asks_before_it_stops_an_experiment() -> None:
    app = make_app(setup(1))
    app.window.state.study = Running()
    app.window.run("quit")
    asked = app.window.dialogs.dialog
    assert isinstance(asked, RunningQuestion)
    assert "12 of 1,240 runs" in asked.text and "/somewhere/results" in asked.text
    press(app, pygame.K_RETURN)
    assert app.window.is_open and app.window.dialogs.dialog is None, "the main answer lets it run"
    app.window.run("quit")
    press(app, pygame.K_LEFT), press(app, pygame.K_RETURN)
    assert not app.window.is_open


def test_quitting_asks_for_edits_first_and_then_for_the_experiment() -> None:
    app = make_app(setup(1))
    app.window.state.study = Running()
    drag(app, at_cell(app, 3, 3), at_cell(app, 4, 3))
    app.window.run("quit")
    assert isinstance(app.window.dialogs.dialog, UnsavedQuestion)
    for key in (pygame.K_LEFT, pygame.K_LEFT, pygame.K_RETURN):  # "Discard"
        press(app, key)
    assert isinstance(app.window.dialogs.dialog, RunningQuestion) and app.window.is_open


def test_an_experiment_that_is_over_is_not_asked_about() -> None:
    app = make_app(setup(1))
    study = Running()
    study.is_running = False
    app.window.state.study = study
    app.window.run("quit")
    assert not app.window.is_open


# --- dropping files -----------------------------------------------------------------------------------------

SMALL = "type octile\nheight 3\nwidth {}\nmap\n" + 3 * "{}\n"


def drop(app: App, *files: Path) -> None:
    for file in files:
        pygame.event.post(pygame.event.Event(pygame.DROPFILE, file=str(file)))
    settle(app)


def a_map(folder: Path, width: int) -> Path:
    path = folder / f"map-{width}.map"
    path.write_text(SMALL.format(width, *[width * "."] * 3))
    return path


def test_of_several_files_dropped_at_once_one_run_is_opened_and_that_is_said(tmp_path: Path) -> None:
    app = make_app(setup(1))
    drop(app, a_map(tmp_path, 4), a_map(tmp_path, 5), tmp_path / "none.map")
    for _ in range(3):
        settle(app)
    assert app.session.run.world.grid.width == 4 and app.window.dialogs.dialog is None
    assert app.window.state.messages.texts() == ["3 files were dropped at once, but only one can be opened: map-4.map"]


def test_every_agent_that_is_dropped_is_asked_about_after_the_run_is_open(tmp_path: Path) -> None:
    """The question about one took the place of the one before, and gave up the opening of the run."""
    app = make_app(setup(1))
    agents = tmp_path / "mine.py", tmp_path / "yours.py"
    for path in agents:
        path.write_text("pass")
    drop(app, agents[0], a_map(tmp_path, 6), agents[1])
    assert app.session.run.world.grid.width == 6
    for path in agents:
        settle(app)
        asked = app.window.dialogs.dialog
        assert isinstance(asked, OwnAgentQuestion) and path.name in asked.text
        press(app, pygame.K_ESCAPE)
    settle(app)
    assert app.window.dialogs.dialog is None


def test_a_file_that_was_read_is_named_once_above_its_problems(tmp_path: Path) -> None:
    app = make_app(setup(1))
    wrong, none = tmp_path / "wrong.yaml", tmp_path / "none.yaml"
    wrong.write_text("format: backmove-scenario\nversion: 1\nbudget: none\n")
    drop(app, wrong)
    problems = app.window.dialogs.dialog.problems
    assert len(problems) > 1 and all(problem.startswith("line ") for problem in problems)
    drop(app, none)
    assert str(none) in app.window.dialogs.dialog.problems[0], "where it was looked for"
