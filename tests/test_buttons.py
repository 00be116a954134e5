"""Buttons of the window and of dialogs: they act when the mouse button is released over them."""

import pygame
import pytest

from tests.test_app import setup
from tests.window import App, make_app, middle_of, settle
from ui.dialogs.dialog_base import BUTTON_SETTLE_S, Dialog
from ui.dialogs.question import QuestionDialog
from ui.dialogs.settings_dialog import SettingsDialog
from ui.widgets.controls import Button, CheckBox, ChoiceControl, Control


@pytest.fixture
def app() -> App:
    return make_app(setup())


def mouse(app: App, kind: int, position: tuple[int, int], button: int = 1) -> None:
    attributes = {"rel": (0, 0), "buttons": (1, 0, 0)} if kind == pygame.MOUSEMOTION else {"button": button}
    pygame.event.post(pygame.event.Event(kind, pos=position, **attributes))
    settle(app)


def press_at(app: App, position: tuple[int, int], button: int = 1) -> None:
    mouse(app, pygame.MOUSEMOTION, position)
    mouse(app, pygame.MOUSEBUTTONDOWN, position, button)


def release_at(app: App, position: tuple[int, int], button: int = 1) -> None:
    mouse(app, pygame.MOUSEMOTION, position)
    mouse(app, pygame.MOUSEBUTTONUP, position, button)


# --- window ------------------------------------------------------------------------------------------


def test_button_of_the_window_acts_on_release(app: App) -> None:
    spot = middle_of(app, "transport:play")
    press_at(app, spot)
    assert not app.window.player.step_clock.is_running
    release_at(app, spot)
    assert app.window.player.step_clock.is_running


def test_press_is_cancelled_by_leaving_the_button(app: App) -> None:
    spot, away = middle_of(app, "transport:play"), middle_of(app, "transport:step")
    press_at(app, spot)
    release_at(app, away)
    assert not app.window.player.step_clock.is_running and app.session.tick == 0
    press_at(app, spot)
    mouse(app, pygame.MOUSEMOTION, away)
    release_at(app, spot)
    assert app.window.player.step_clock.is_running, "a press that returns to its button counts"


def test_press_on_a_map_and_release_on_a_button_does_nothing(app: App) -> None:
    release_at(app, middle_of(app, "transport:play"))
    assert not app.window.player.step_clock.is_running


def test_other_mouse_button_does_not_act(app: App) -> None:
    spot = middle_of(app, "transport:play")
    press_at(app, spot)
    release_at(app, spot, button=3)
    assert not app.window.player.step_clock.is_running


def test_pressed_button_looks_pressed_only_under_the_pointer(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    spot, away = middle_of(app, "transport:play"), middle_of(app, "transport:step")
    pointer = [spot]
    monkeypatch.setattr(pygame.mouse, "get_pos", lambda: pointer[0])

    def colour_at(position: tuple[int, int]) -> tuple[int, ...]:
        app.draw_window()
        region = app.window.canvas.topmost_region_at(position)
        assert region is not None
        x, y, width, _ = region.box
        return tuple(app.window.surface.get_at((x + width // 2, y + 2)))

    hovered, other = colour_at(spot), colour_at(away)
    press_at(app, spot)
    pressed = colour_at(spot)
    assert pressed != hovered
    pointer[0] = away
    assert colour_at(spot) not in (pressed, hovered)
    assert colour_at(away) == other, "another button does not look as if it could be clicked"
    release_at(app, away)
    assert colour_at(away) != other


def test_dialog_opened_by_a_key_cancels_the_press(app: App) -> None:
    spot = middle_of(app, "transport:play")
    press_at(app, spot)
    app.window.run_command("find_command")
    release_at(app, spot)
    app.window.dialogs.close_dialog()
    release_at(app, spot)
    assert not app.window.player.step_clock.is_running and app.window.canvas.pressed_id is None


# --- dialogs -----------------------------------------------------------------------------------------


def control_of(dialog: Dialog, kind: type[Control], label: str = "") -> Control:
    return next(c for c in dialog.controls if isinstance(c, kind) and label in ("", getattr(c, "label", "")))


def picture_of(control: Control) -> bytes:
    return pygame.image.tobytes(control.element.surface, "RGB")


class AskedOnce:
    """A question in the window, and the answers that it got."""

    def __init__(self, app: App) -> None:
        self.answers: list[str] = []
        answers = [("Yes", lambda: self.answers.append("Yes"), "danger"), ("No", self.answers.clear, "main")]
        self.dialog = QuestionDialog(app.window.dialogs, "Really?", "A text.", answers)
        app.window.dialogs.open_dialog(self.dialog)
        self.button = control_of(self.dialog, Button, "Yes")
        self.centre = self.button.element.rect.center
        self.away = self.centre[0], self.dialog.card_rect.top + 4


def test_button_of_a_dialog_acts_on_release(app: App) -> None:
    asked = AskedOnce(app)
    press_at(app, asked.centre)
    assert asked.answers == []
    release_at(app, asked.centre)
    assert asked.answers == ["Yes"] and not asked.dialog.is_open


def test_button_of_a_dialog_can_be_left(app: App) -> None:
    asked = AskedOnce(app)
    mouse(app, pygame.MOUSEMOTION, asked.centre)
    hovered = picture_of(asked.button)
    press_at(app, asked.centre)
    pressed = picture_of(asked.button)
    mouse(app, pygame.MOUSEMOTION, asked.away)
    left = picture_of(asked.button)
    assert len({hovered, pressed, left}) == 3
    release_at(app, asked.away)
    assert asked.answers == [] and asked.dialog.is_open
    press_at(app, asked.away)
    release_at(app, asked.centre)
    assert asked.answers == [] and asked.dialog.is_open, "the press was elsewhere"


def test_button_acts_although_the_dialog_is_rebuilt_while_it_is_pressed(app: App) -> None:
    asked = AskedOnce(app)
    press_at(app, asked.centre)
    asked.dialog.rebuild_widgets()
    release_at(app, asked.centre)
    assert asked.answers == ["Yes"]


def test_press_on_a_button_that_has_just_replaced_another_one_does_nothing(app: App) -> None:
    asked = AskedOnce(app)
    asked.dialog.answers = [("Maybe", lambda: asked.answers.append("Maybe"), "danger"), *asked.dialog.answers[1:]]
    asked.dialog.rebuild_widgets()
    spot = control_of(asked.dialog, Button, "Maybe").element.rect.center
    press_at(app, spot)
    for _ in range(8):
        app.run_frame(BUTTON_SETTLE_S / 4)
    release_at(app, spot)
    assert asked.answers == [] and asked.dialog.is_open
    press_at(app, spot)
    release_at(app, spot)
    assert asked.answers == ["Maybe"]


def test_entered_folder_does_not_swallow_the_click_on_done(app: App, tmp_path) -> None:
    """The click moves the focus, which applies the folder and rebuilds the dialog before the button is released."""
    app.window.run_command("settings")
    dialog = app.window.dialogs.current_dialog
    assert isinstance(dialog, SettingsDialog)
    field = dialog.folder_fields["files_folder"]
    dialog.focus_control(field)
    field.select_all_text()
    field.editor.paste_text(str(tmp_path))
    spot = control_of(dialog, Button, "Done").element.rect.center
    press_at(app, spot)
    app.run_frame(0.05)
    release_at(app, spot)
    assert app.window.dialogs.current_dialog is None
    assert app.window.settings.files_folder == str(tmp_path)


def test_check_boxes_and_choices_act_on_release(app: App) -> None:
    app.window.run_command("settings")
    dialog = app.window.dialogs.current_dialog
    assert dialog is not None
    check_box = control_of(dialog, CheckBox)
    assert isinstance(check_box, CheckBox)
    spot, is_checked = check_box.element.rect.center, check_box.is_checked
    press_at(app, spot)
    assert check_box.is_checked is is_checked
    release_at(app, (spot[0], dialog.card_rect.top + 4))
    assert check_box.is_checked is is_checked
    press_at(app, spot)
    release_at(app, spot)
    assert check_box.is_checked is not is_checked
    app.run_frame(0.05)
    choice = control_of(dialog, ChoiceControl)  # the applied setting has rebuilt the dialog
    assert isinstance(choice, ChoiceControl)
    chosen, other = (pygame.Rect(box).move(choice.element.rect.topleft).center for box in choice._option_boxes()[:2])
    assert choice.chosen_value == choice.options[0][0]
    for pressed, released, index in ((other, chosen, 0), (chosen, other, 0), (other, other, 1)):
        press_at(app, pressed)
        assert choice.chosen_value == choice.options[0][0]
        release_at(app, released)
        assert choice.chosen_value == choice.options[index][0]
