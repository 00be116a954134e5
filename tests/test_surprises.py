"""What a window must not do by surprise: hide its bars for good, remove, go on, press twice, overwrite."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pygame
import pytest

from sim.commands import AgentConfig
from tests.test_app import setup
from tests.window import App, click, make_app, press, press_combination, settle
from ui.dialogs.base import SETTLE_S, Dialog
from ui.dialogs.experiment import ExperimentSheet
from ui.dialogs.file_browser import SaveFile
from ui.dialogs.own_agent import OwnAgentQuestion
from ui.dialogs.question import Question
from ui.dialogs.unsaved import RunningQuestion, UnsavedQuestion
from ui.dialogs.working import Working
from ui.film.forms import RecordDialog
from ui.film.messages import Report
from ui.model import saving
from ui.model.job import Job
from ui.model.settings import load_settings, save_settings
from ui.widgets.canvas import HitRegion
from ui.widgets.controls import Button

SIZES = [(800, 600), (1280, 800)]


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "BACKMOVE_RECORDINGS"):
        monkeypatch.setenv(name, str(tmp_path))


@pytest.fixture
def app() -> App:
    return make_app(replace(setup(), agents=(AgentConfig("tba"), AgentConfig("tb-wa"))))


def spot(app: App, name: str) -> HitRegion:
    return next(spot for spot in app.window.canvas.spots if spot.id.startswith(name))


def middle(box: tuple[int, int, int, int]) -> tuple[int, int]:
    return box[0] + box[2] // 2, box[1] + box[3] // 2


def key(app: App, code: int, *, is_down: bool = True) -> None:
    """A key goes down, once more while it is held, or up."""
    kind = pygame.KEYDOWN if is_down else pygame.KEYUP
    pygame.event.post(pygame.event.Event(kind, key=code, mod=0, unicode="", scancode=0))


def dialog_of(app: App) -> Dialog:
    dialog = app.window.dialogs.dialog
    assert dialog is not None
    return dialog


def labelled(dialog: Dialog, label: str) -> Button:
    return next(c for c in dialog.controls if isinstance(c, Button) and c.label == label)


# --- the sidebar ----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("combination", ["F2", "F7"])
def test_a_hidden_sidebar_has_a_handle_that_brings_it_back(size: tuple[int, int], combination: str) -> None:
    app = make_app(setup(), size)
    while app.window.scene.layout.sidebar is not None:
        press_combination(app, combination)
    handle = spot(app, "sidebar:show")
    assert (handle.tip, handle.key) == ("Show the sidebar", combination)
    assert all(panel.whole[0] + panel.whole[2] <= handle.box[0] for _, panel in app.window.scene.panels())
    click(app, middle(handle.box))
    assert app.window.scene.layout.sidebar is not None and app.window.scene.layout.sidebar_handle is None
    assert not any(other.id == "sidebar:show" for other in app.window.canvas.spots)


def test_the_handle_is_there_after_a_restart(app: App, tmp_path: Path) -> None:
    press_combination(app, "F2")
    save_settings(app.window.settings, tmp_path / "settings.yaml")
    again = make_app(setup())
    loaded, _ = load_settings(tmp_path / "settings.yaml")
    again.window.settings.shows_sidebar = loaded.shows_sidebar
    assert not loaded.shows_sidebar
    settle(again)
    click(again, middle(spot(again, "sidebar:show").box))
    assert again.window.scene.layout.sidebar is not None


def test_the_tab_on_screen_says_that_a_click_hides_the_sidebar(app: App) -> None:
    assert spot(app, "tab_layers").tip == "Hide the sidebar"
    assert spot(app, "tab_edit").tip != "Hide the sidebar"
    click(app, middle(spot(app, "tab_layers").box))
    assert app.window.scene.layout.sidebar is None and spot(app, "sidebar:show").box


def test_where_there_is_no_room_for_a_sidebar_its_key_does_not_hide_it_for_good() -> None:
    app = make_app(setup(), (640, 500))
    assert app.window.scene.layout.sidebar is None and app.window.scene.layout.sidebar_handle is None
    press_combination(app, "F2")
    assert app.window.settings.shows_sidebar and "too narrow" in app.window.state.messages.texts()[-1]


# --- a panel that fills the window ----------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
def test_the_button_at_the_end_of_a_maximised_panel_leads_back(size: tuple[int, int]) -> None:
    app = make_app(replace(setup(), agents=(AgentConfig("tba"), AgentConfig("tb-wa"))), size)
    press_combination(app, "X")
    assert len(app.window.scene.panels()) == 1
    assert not any(other.id.startswith("remove:") for other in app.window.canvas.spots)
    button = spot(app, "restore")
    assert (button.tip, button.key) == ("Show all panels", "X")
    click(app, middle(button.box))
    assert len(app.window.scene.panels()) == 2 and len(app.session.run.panels) == 2
    assert spot(app, "remove:").tip == "Remove this agent"


def test_an_agent_that_was_removed_comes_back_by_undo(app: App) -> None:
    labels = [panel.view.label for panel in app.session.run.panels]
    click(app, middle(spot(app, "remove:").box))
    assert len(app.session.run.panels) == 1
    press_combination(app, "Ctrl+Z")
    assert [panel.view.label for panel in app.session.run.panels] == labels


# --- recording ------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_slow_motion", [False, True])
def test_the_run_waits_while_a_recording_is_asked_about(
    app: App, monkeypatch: pytest.MonkeyPatch, is_slow_motion: bool
) -> None:
    began: list[int] = []
    monkeypatch.setattr("ui.film.recording.Studio.film", lambda *given: began.append(given[1].tick) or Filming())
    app.session.advance(5)
    app.window.player.play()
    app.window.player.is_slow_motion = is_slow_motion
    app.frame(0.1)
    tick = app.session.tick
    press_combination(app, "F9")
    dialog = dialog_of(app)
    assert isinstance(dialog, RecordDialog) and dialog.hint.startswith(f"starts at tick {tick}; F9 stops it.")
    for _ in range(20):
        app.frame(0.5)
    assert app.session.tick == tick
    press(app, pygame.K_RETURN)
    assert app.window.dialogs.dialog is None and began == [tick]
    app.window.recording.filming = None
    for _ in range(20):
        app.frame(0.5)
    assert app.session.tick > tick, "it goes on as it did before"


def test_the_run_goes_on_when_recording_is_cancelled(app: App) -> None:
    app.window.player.play()
    press_combination(app, "F9")
    press(app, pygame.K_ESCAPE)
    app.frame(0.5)
    app.frame(0.5)
    assert app.session.tick > 0


def test_a_seek_arrives_while_a_recording_is_asked_about(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.model.run.SEEK_WORK", 1.0)
    app.session.advance(12)
    app.window.player.seek(3)
    assert app.session.run.is_seeking
    press_combination(app, "F9")
    for _ in range(200):
        app.frame(0.02)
    assert not app.session.run.is_seeking and app.session.tick == 3
    assert dialog_of(app).hint.startswith("starts at tick 3;")


class Filming:
    """A studio that films nothing."""

    must_wait = False
    report = Report()

    def follow(self, *given: object) -> None:
        """Nothing is filmed."""


# --- a key that is held, or pressed again ---------------------------------------------------------


class Study:
    """An experiment that never ends."""

    results = Path("results")

    def __init__(self, sketch: object) -> None:
        self.sketch = sketch
        self.cancelled = 0
        self.is_running = True
        self.done, self.whole, self.left_s, self.failures = 0, 4, 1.0, 0
        self.points: list[object] = []
        self.complaint = ""
        self.was_cancelled = False

    def poll(self) -> bool:
        return False

    def front(self) -> list[int]:
        return []

    def cancel(self) -> None:
        self.cancelled += 1


@pytest.fixture
def sheet(app: App, monkeypatch: pytest.MonkeyPatch) -> ExperimentSheet:
    """The dialog of experiments, with the focus on Start."""
    monkeypatch.setattr("ui.dialogs.experiment.studies.begin", Study)
    press_combination(app, "Alt+X")
    sheet = dialog_of(app)
    assert isinstance(sheet, ExperimentSheet)
    sheet.focus(labelled(sheet, "Start"))
    return sheet


def test_a_held_return_starts_and_does_not_stop(app: App, sheet: ExperimentSheet) -> None:
    for _ in range(40):
        key(app, pygame.K_RETURN)
        app.frame(0.05)
    assert sheet.study is not None and sheet.study.cancelled == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize("code", [pygame.K_RETURN, pygame.K_SPACE])
def test_a_second_press_meant_for_start_does_not_stop(app: App, sheet: ExperimentSheet, code: int) -> None:
    for _ in range(2):  # both before the window has shown anything
        key(app, code)
        key(app, code, is_down=False)
    app.frame(3.0)
    press(app, code)  # in the frame after it, which took long
    assert sheet.study is not None and sheet.study.cancelled == 0  # type: ignore[attr-defined]
    for _ in range(round(SETTLE_S / 0.05) + 1):
        app.frame(0.05)
    press(app, code)
    assert sheet.study.cancelled == 1, "once it has been seen it can be pressed"  # type: ignore[attr-defined]


def test_a_double_click_on_start_does_not_stop(app: App, sheet: ExperimentSheet) -> None:
    where = labelled(sheet, "Start").element.rect.center
    click(app, where)
    click(app, where)
    assert sheet.study is not None and sheet.study.cancelled == 0  # type: ignore[attr-defined]
    for _ in range(round(SETTLE_S / 0.05) + 1):
        app.frame(0.05)
    click(app, where)
    assert sheet.study.cancelled == 1  # type: ignore[attr-defined]


def test_an_enter_that_began_long_work_does_not_cancel_it(app: App) -> None:
    job = Job(lambda job: None)
    app.window.show(Working(app.window.dialogs, "Working", job, lambda done: None))
    working = dialog_of(app)
    key(app, pygame.K_RETURN)
    pygame.event.post(pygame.event.Event(pygame.KEYUP, key=pygame.K_RETURN, mod=0, unicode="", scancode=0))
    for event in pygame.event.get():
        working.handle(event)
    assert app.window.dialogs.dialog is working


def test_a_held_key_presses_a_control_of_the_window_once(app: App) -> None:
    app.window.canvas.focus_id = spot(app, "remove:").id
    for _ in range(5):
        key(app, pygame.K_RETURN)
        settle(app)
        app.window.canvas.focus_id = next((s.id for s in app.window.canvas.spots if s.id.startswith("remove:")), None)
    assert len(app.session.run.panels) == 1


def test_a_held_return_does_not_answer_the_question_that_it_brought_up(app: App) -> None:
    Path("there.map").write_text("kept")
    app.window.run("save_map_as")
    dialog = dialog_of(app)
    assert isinstance(dialog, SaveFile)
    dialog._typed("there")
    for _ in range(10):
        key(app, pygame.K_RETURN)
        app.frame(0.05)
    assert isinstance(dialog.inner, Question), "it stays until the key has come up"
    key(app, pygame.K_RETURN, is_down=False)
    press(app, pygame.K_RETURN)
    assert dialog.inner is None and app.window.dialogs.dialog is dialog
    assert Path("there.map").read_text() == "kept"


# --- questions ------------------------------------------------------------------------------------


def nothing() -> None:
    """Go on with nothing."""


QUESTIONS: dict[str, Callable[[App], Dialog]] = {
    "unsaved": lambda app: UnsavedQuestion(app.window.dialogs, nothing),
    "experiment": lambda app: RunningQuestion(app.window.dialogs, Study(None), nothing),  # type: ignore[arg-type]
    "own agent": lambda app: OwnAgentQuestion(app.window.dialogs, "/a.py", nothing),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_enter_never_loses_anything(app: App, name: str) -> None:
    app.window.show(QUESTIONS[name](app))
    question = dialog_of(app)
    assert isinstance(question.focused, Button)
    assert question.focused.kind == "main" and any(answer[2] == "danger" for answer in question.answers)  # type: ignore[attr-defined]


def test_in_overwrite_enter_keeps_the_file(app: App) -> None:
    saving.save(app.session, Path("there.yaml"))
    before = Path("there.yaml").read_bytes()
    app.session.advance(9)
    app.session.path = None
    app.window.run("save_session")
    dialog = dialog_of(app)
    assert isinstance(dialog, SaveFile)
    dialog._typed("there")
    press(app, pygame.K_RETURN)
    question = dialog.inner
    assert isinstance(question, Question) and isinstance(question.focused, Button)
    assert (question.focused.label, labelled(question, "Overwrite").kind) == ("Cancel", "danger")
    press(app, pygame.K_RETURN)
    assert Path("there.yaml").read_bytes() == before
    press(app, pygame.K_RETURN)
    for code in (pygame.K_LEFT, pygame.K_RETURN):
        press(app, code)
    assert Path("there.yaml").read_bytes() != before and app.window.dialogs.dialog is None
