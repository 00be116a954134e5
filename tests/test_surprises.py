"""What a window must not do by surprise: hide its bars for good, remove, go on, press twice, overwrite."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pygame
import pytest

from sim.world_commands import AgentConfig
from tests.test_app import setup
from tests.window import App, click, make_app, press, press_combination, settle
from ui.dialogs.dialog_base import BUTTON_SETTLE_S, Dialog
from ui.dialogs.experiment_dialog import ExperimentDialog
from ui.dialogs.file_dialogs import SaveFileDialog
from ui.dialogs.own_agent_question import OwnAgentQuestion
from ui.dialogs.progress_dialog import ProgressDialog
from ui.dialogs.question import QuestionDialog
from ui.dialogs.unsaved_question import RunningExperimentQuestion, UnsavedQuestion
from ui.film.record_dialogs import RecordDialog
from ui.film.worker_messages import WorkerReport
from ui.model import session_saving
from ui.model.background_job import BackgroundJob
from ui.model.settings import load_settings, save_settings
from ui.widgets.canvas import HitRegion
from ui.widgets.controls import Button

SIZES = [(800, 600), (1280, 800)]


@pytest.fixture(autouse=True)
def isolated_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "BACKMOVE_RECORDINGS"):
        monkeypatch.setenv(name, str(tmp_path))


@pytest.fixture
def app() -> App:
    return make_app(replace(setup(), agents=(AgentConfig("tba"), AgentConfig("tb-wa"))))


def spot(app: App, name: str) -> HitRegion:
    return next(spot for spot in app.window.canvas.hit_regions if spot.id.startswith(name))


def centre_of(box: tuple[int, int, int, int]) -> tuple[int, int]:
    return box[0] + box[2] // 2, box[1] + box[3] // 2


def key(app: App, code: int, *, is_down: bool = True) -> None:
    """A key goes down, once more while it is held, or up."""
    kind = pygame.KEYDOWN if is_down else pygame.KEYUP
    pygame.event.post(pygame.event.Event(kind, key=code, mod=0, unicode="", scancode=0))


def dialog_of(app: App) -> Dialog:
    dialog = app.window.dialogs.current_dialog
    assert dialog is not None
    return dialog


def find_button(dialog: Dialog, label: str) -> Button:
    return next(c for c in dialog.controls if isinstance(c, Button) and c.label == label)


# --- the sidebar ----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("combination", ["F2", "F7"])
def test_sidebar_handle_shows_a_hidden_sidebar(size: tuple[int, int], combination: str) -> None:
    app = make_app(setup(), size)
    while app.window.map_view.layout.sidebar_box is not None:
        press_combination(app, combination)
    handle = spot(app, "sidebar:show")
    tooltip, keys = app.window.view_context.tooltip_and_keys_of_region(handle)
    assert tooltip.startswith("Show or hide ") and keys == combination
    assert all(
        panel.panel_box[0] + panel.panel_box[2] <= handle.box[0] for _, panel in app.window.map_view.panels_with_boxes()
    )
    click(app, centre_of(handle.box))
    assert app.window.map_view.layout.sidebar_box is not None and app.window.map_view.layout.sidebar_handle is None
    assert not any(other.id == "sidebar:show" for other in app.window.canvas.hit_regions)


def test_sidebar_handle_is_shown_after_a_restart(app: App, tmp_path: Path) -> None:
    press_combination(app, "F2")
    save_settings(app.window.settings, tmp_path / "settings.yaml")
    again = make_app(setup())
    loaded, _ = load_settings(tmp_path / "settings.yaml")
    again.window.settings.shows_sidebar = loaded.shows_sidebar
    assert not loaded.shows_sidebar
    settle(again)
    click(again, centre_of(spot(again, "sidebar:show").box))
    assert again.window.map_view.layout.sidebar_box is not None


def test_active_tab_tooltip_says_that_a_click_hides_the_sidebar(app: App) -> None:
    tooltip, _ = app.window.view_context.tooltip_and_keys_of_region(spot(app, "tab_layers"))
    assert tooltip == "Show or hide layers and legend in the sidebar"
    click(app, centre_of(spot(app, "tab_layers").box))
    assert app.window.map_view.layout.sidebar_box is None and spot(app, "sidebar:show").box


def test_sidebar_key_in_a_narrow_window_keeps_the_setting() -> None:
    app = make_app(setup(), (640, 500))
    assert app.window.map_view.layout.sidebar_box is None and app.window.map_view.layout.sidebar_handle is None
    press_combination(app, "F2")
    assert (
        app.window.settings.shows_sidebar
        and "too narrow" in app.window.ui_state.message_queue.queued_message_texts()[-1]
    )


# --- a panel that fills the window ----------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
def test_maximised_panel_has_a_restore_button(size: tuple[int, int]) -> None:
    app = make_app(replace(setup(), agents=(AgentConfig("tba"), AgentConfig("tb-wa"))), size)
    press_combination(app, "X")
    assert len(app.window.map_view.panels_with_boxes()) == 1
    assert not any(other.id.startswith("remove:") for other in app.window.canvas.hit_regions)
    button = spot(app, "restore")
    tip = app.window.view_context.tooltip_and_keys_of_region(button)
    assert tip == ("Maximise or restore the focused panel", "X")
    click(app, centre_of(button.box))
    assert len(app.window.map_view.panels_with_boxes()) == 2 and len(app.session.run.panels) == 2
    assert spot(app, "remove:").tooltip == "Remove the focused agent"


def test_removed_agent_is_restored_by_undo(app: App) -> None:
    labels = [panel.walker_view.label for panel in app.session.run.panels]
    click(app, centre_of(spot(app, "remove:").box))
    assert len(app.session.run.panels) == 1
    press_combination(app, "Ctrl+Z")
    assert [panel.walker_view.label for panel in app.session.run.panels] == labels


# --- recording ------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_slow_motion", [False, True])
def test_run_is_paused_while_the_recording_dialog_is_open(
    app: App, monkeypatch: pytest.MonkeyPatch, is_slow_motion: bool
) -> None:
    began: list[int] = []
    monkeypatch.setattr(
        "ui.film.recording_controller.WorkerHandle.start_recording",
        lambda *given: began.append(given[1].tick) or FakeStudio(),
    )
    app.session.advance_by_ticks(5)
    app.window.player.play()
    app.window.player.is_slow_motion = is_slow_motion
    app.run_frame(0.1)
    tick = app.session.tick
    press_combination(app, "F9")
    dialog = dialog_of(app)
    assert isinstance(dialog, RecordDialog) and dialog.hint.startswith(f"starts at tick {tick}; F9 stops it.")
    for _ in range(20):
        app.run_frame(0.5)
    assert app.session.tick == tick
    press(app, pygame.K_RETURN)
    assert app.window.dialogs.current_dialog is None and began == [tick]
    app.window.recording_controller.active_recording = None
    for _ in range(20):
        app.run_frame(0.5)
    assert app.session.tick > tick, "it goes on as it did before"


def test_run_continues_after_the_recording_dialog_is_cancelled(app: App) -> None:
    app.window.player.play()
    press_combination(app, "F9")
    press(app, pygame.K_ESCAPE)
    app.run_frame(0.5)
    app.run_frame(0.5)
    assert app.session.tick > 0


def test_seek_finishes_while_the_recording_dialog_is_open(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.model.run.SEEK_WORK", 1.0)
    app.session.advance_by_ticks(12)
    app.window.player.pause_and_seek(3)
    assert app.session.run.is_seeking
    press_combination(app, "F9")
    for _ in range(200):
        app.run_frame(0.02)
    assert not app.session.run.is_seeking and app.session.tick == 3
    assert dialog_of(app).hint.startswith("starts at tick 3;")


class FakeStudio:
    """A studio that films nothing."""

    must_simulation_wait = False
    last_report = WorkerReport()

    def send_window_changes(self, *given: object) -> None:
        """Nothing is filmed."""


# --- a key that is held, or pressed again ---------------------------------------------------------


class FakeStudy:
    """An experiment that never ends."""

    results_folder = Path("results")

    def __init__(self, sketch: object) -> None:
        self.draft = sketch
        self.cancelled = 0
        self.is_running = True
        self.done, self.run_count, self.estimated_remaining_s, self.failed_run_count = 0, 4, 1.0, 0
        self.setting_results: list[object] = []
        self.error_output = ""
        self.was_cancelled = False

    def read_new_results(self) -> bool:
        return False

    def pareto_front(self) -> list[int]:
        return []

    def cancel(self) -> None:
        self.cancelled += 1


@pytest.fixture
def experiment_dialog(app: App, monkeypatch: pytest.MonkeyPatch) -> ExperimentDialog:
    """The dialog of experiments, with the focus on Start."""
    monkeypatch.setattr("ui.dialogs.experiment_dialog.studies.begin_experiment", FakeStudy)
    press_combination(app, "Alt+X")
    experiment_dialog = dialog_of(app)
    assert isinstance(experiment_dialog, ExperimentDialog)
    experiment_dialog.focus_control(find_button(experiment_dialog, "Start"))
    return experiment_dialog


def test_held_return_starts_the_experiment_without_stopping_it(app: App, experiment_dialog: ExperimentDialog) -> None:
    for _ in range(40):
        key(app, pygame.K_RETURN)
        app.run_frame(0.05)
    assert experiment_dialog.current_experiment is not None and experiment_dialog.current_experiment.cancelled == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize("code", [pygame.K_RETURN, pygame.K_SPACE])
def test_second_key_press_on_start_does_not_stop_the_experiment(
    app: App, experiment_dialog: ExperimentDialog, code: int
) -> None:
    for _ in range(2):  # both before the window has shown anything
        key(app, code)
        key(app, code, is_down=False)
    app.run_frame(3.0)
    press(app, code)  # in the frame after it, which took long
    assert experiment_dialog.current_experiment is not None and experiment_dialog.current_experiment.cancelled == 0  # type: ignore[attr-defined]
    for _ in range(round(BUTTON_SETTLE_S / 0.05) + 1):
        app.run_frame(0.05)
    press(app, code)
    assert experiment_dialog.current_experiment.cancelled == 1, "once it has been seen it can be pressed"  # type: ignore[attr-defined]


def test_double_click_on_start_does_not_stop_the_experiment(app: App, experiment_dialog: ExperimentDialog) -> None:
    where = find_button(experiment_dialog, "Start").element.rect.center
    click(app, where)
    click(app, where)
    assert experiment_dialog.current_experiment is not None and experiment_dialog.current_experiment.cancelled == 0  # type: ignore[attr-defined]
    for _ in range(round(BUTTON_SETTLE_S / 0.05) + 1):
        app.run_frame(0.05)
    click(app, where)
    assert experiment_dialog.current_experiment.cancelled == 1  # type: ignore[attr-defined]


def test_return_held_from_starting_a_job_does_not_cancel_it(app: App) -> None:
    job = BackgroundJob(lambda job: None)
    app.window.open_dialog(ProgressDialog(app.window.dialogs, "Working", job, lambda done: None))
    working = dialog_of(app)
    key(app, pygame.K_RETURN)
    pygame.event.post(pygame.event.Event(pygame.KEYUP, key=pygame.K_RETURN, mod=0, unicode="", scancode=0))
    for event in pygame.event.get():
        working.handle_event(event)
    assert app.window.dialogs.current_dialog is working


def test_held_key_activates_a_control_once(app: App) -> None:
    app.window.canvas.focused_control_id = spot(app, "remove:").id
    for _ in range(5):
        key(app, pygame.K_RETURN)
        settle(app)
        app.window.canvas.focused_control_id = next(
            (s.id for s in app.window.canvas.hit_regions if s.id.startswith("remove:")), None
        )
    assert len(app.session.run.panels) == 1


def test_held_return_does_not_answer_the_overwrite_question(app: App) -> None:
    Path("there.map").write_text("kept")
    app.window.run_command("save_map_as")
    dialog = dialog_of(app)
    assert isinstance(dialog, SaveFileDialog)
    dialog._on_text_typed("there")
    for _ in range(10):
        key(app, pygame.K_RETURN)
        app.run_frame(0.05)
    assert isinstance(dialog.inner_dialog, QuestionDialog), "it stays until the key has come up"
    key(app, pygame.K_RETURN, is_down=False)
    press(app, pygame.K_RETURN)
    assert dialog.inner_dialog is None and app.window.dialogs.current_dialog is dialog
    assert Path("there.map").read_text() == "kept"


# --- questions ------------------------------------------------------------------------------------


def nothing() -> None:
    """Go on with nothing."""


QUESTIONS: dict[str, Callable[[App], Dialog]] = {
    "unsaved": lambda app: UnsavedQuestion(app.window.dialogs, nothing),
    "experiment": lambda app: RunningExperimentQuestion(app.window.dialogs, FakeStudy(None), nothing),  # type: ignore[arg-type]
    "own agent": lambda app: OwnAgentQuestion(app.window.dialogs, "/a.py", nothing),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_return_chooses_the_safe_answer(app: App, name: str) -> None:
    app.window.open_dialog(QUESTIONS[name](app))
    question = dialog_of(app)
    assert isinstance(question.focused_control, Button)
    assert question.focused_control.button_style == "main" and any(answer[2] == "danger" for answer in question.answers)  # type: ignore[attr-defined]


def test_return_in_the_overwrite_question_keeps_the_file(app: App) -> None:
    session_saving.save_session(app.session, Path("there.yaml"))
    before = Path("there.yaml").read_bytes()
    app.session.advance_by_ticks(9)
    app.session.path = None
    app.window.run_command("save_session")
    dialog = dialog_of(app)
    assert isinstance(dialog, SaveFileDialog)
    dialog._on_text_typed("there")
    press(app, pygame.K_RETURN)
    question = dialog.inner_dialog
    assert isinstance(question, QuestionDialog) and isinstance(question.focused_control, Button)
    assert (question.focused_control.label, find_button(question, "Overwrite").button_style) == ("Cancel", "danger")
    press(app, pygame.K_RETURN)
    assert Path("there.yaml").read_bytes() == before
    press(app, pygame.K_RETURN)
    for code in (pygame.K_LEFT, pygame.K_RETURN):
        press(app, code)
    assert Path("there.yaml").read_bytes() != before and app.window.dialogs.current_dialog is None
