"""Text that users type and paste: names that no disk takes, characters that no font draws."""

from pathlib import Path

import pygame
import pytest

from files.disk import check_file_writable, create_folder, write_file_atomically
from sim.params import ConfigError, clean_typed_text
from tests.test_app import setup
from tests.window import App, make_app, press, press_combination, settle
from ui.dialogs.dialog_base import Dialog
from ui.dialogs.file_dialogs import SaveFileDialog
from ui.dialogs.settings_dialog import SettingsDialog
from ui.draw.fonts import FontCache
from ui.draw.theme import DARK
from ui.film import recording_files
from ui.widgets.canvas import Canvas
from ui.widgets.text_field import TextField

LONG = "n" * 300
SAVERS = ("save_map_as", "save_session", "save_scenario", "export_csv", "export_posthoc", "save_charts", "save_piece")


@pytest.fixture(autouse=True)
def isolated_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "BACKMOVE_RECORDINGS"):
        monkeypatch.setenv(name, str(tmp_path))


@pytest.fixture
def app() -> App:
    return make_app(setup())


def dialog_of(app: App) -> Dialog:
    dialog = app.window.dialogs.current_dialog
    assert dialog is not None
    return dialog


def set_field_text(field: TextField, text: str) -> None:
    """Replace the text of a field, as somebody does who pastes."""
    field.select_all_text()
    field.editor.paste_text(text)
    assert field.on_text_changed is not None
    field.on_text_changed(text)


# --- names that are too long ----------------------------------------------------------------------


def test_overlong_file_name_is_refused_with_its_limit(tmp_path: Path) -> None:
    expected = f"{tmp_path}: expected a file name of at most 255 bytes, got 304: {'n' * 40}..."
    for refuse in (
        check_file_writable,
        lambda path: write_file_atomically(path, b"a"),
        lambda path: create_folder(Path(path)),
    ):
        with pytest.raises(ConfigError) as caught:
            refuse(tmp_path / f"{LONG}.map")
        assert caught.value.problems == [expected]
    with pytest.raises(ConfigError, match="expected a file name of at most 255 bytes, got 300"):
        create_folder(tmp_path / LONG / "deeper")
    assert list(tmp_path.iterdir()) == [], "nothing is left behind"


def test_file_name_limit_counts_bytes(tmp_path: Path) -> None:
    check_file_writable(tmp_path / ("n" * 255))
    check_file_writable(tmp_path / ("ä" * 127))
    with pytest.raises(ConfigError, match="at most 255 bytes, got 256"):
        check_file_writable(tmp_path / ("ä" * 128))


def test_video_name_limit_reserves_temporary_suffix(tmp_path: Path) -> None:
    recording_files.check_path_is_writable(tmp_path / f"{'n' * 236}.mp4")
    with pytest.raises(ConfigError, match="expected a file name of at most 240 bytes, got 241"):
        recording_files.check_path_is_writable(tmp_path / f"{'n' * 237}.mp4")


@pytest.mark.parametrize("command", SAVERS)
def test_save_dialogs_refuse_overlong_name_and_keep_it(app: App, command: str) -> None:
    app.session.advance_by_ticks(3)
    if command == "save_piece":
        app.window.map_editor.select_tool.select_whole_map()
    app.window.run_command(command)
    if command == "save_charts":
        press(app, pygame.K_RETURN)  # as SVG
    dialog = dialog_of(app)
    assert isinstance(dialog, SaveFileDialog)
    set_field_text(dialog.path_field, LONG)
    press(app, pygame.K_RETURN)
    assert app.window.dialogs.current_dialog is dialog and dialog.name == LONG
    assert "expected a file name of at most 255 bytes, got 3" in dialog.problem
    assert dialog.problem.count("\n") == 0
    if dialog.inner_dialog is not None:
        press(app, pygame.K_ESCAPE)
    set_field_text(dialog.path_field, "short")
    press(app, pygame.K_RETURN)
    assert list(Path.cwd().glob(f"short{dialog.suffix}")), "the same dialog saves under another name"


def test_overlong_settings_folder_is_refused(app: App) -> None:
    press_combination(app, "Ctrl+,")
    dialog = dialog_of(app)
    assert isinstance(dialog, SettingsDialog)
    dialog.folder_fields["files_folder"].set_text(f"/tmp/{LONG}")
    assert not dialog._apply_entered_folder("files_folder")
    assert "expected a file name of at most 255 bytes, got 300" in dialog.problem


def test_dropped_file_with_overlong_name_is_reported(app: App) -> None:
    for name in (LONG, f"{LONG}.map", f"{LONG}.yaml", f"{LONG}.py", f"{LONG}/a.scen", f"{LONG}.png"):
        pygame.event.post(pygame.event.Event(pygame.DROPFILE, file=str(Path.cwd() / name)))
        settle(app)
        assert type(dialog_of(app)).__name__ == "MessageBox"
        press(app, pygame.K_ESCAPE)


# --- characters that cannot be drawn --------------------------------------------------------------

INVISIBLE = (
    "\u200b",  # zero width space
    "\u202e",  # text runs from right to left from here on
    "\u2066",
    "\ufeff",
    "\u00ad",  # soft hyphen
    "\ufe0f",  # variation selector, which Python calls printable
    "\u034f",
    "\U000e0100",
    "\x00",
    "\x07",
    "\ud800",  # half of a character
    "\ue000",  # of private use
    "\uffff",
)
TEXT_DIALOGS = ("save_map_as", "open", "rename_agent", "rename_branch", "find_command", "help", "settings", "generate")


def paste(app: App, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.widgets.text_field.text_of_clipboard", lambda: text)
    press(app, pygame.K_v, pygame.KMOD_LCTRL)
    app.run_frame(0.05)


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("a\u200bb", "ab"),
        ("\u202eabc\u202c", "abc"),
        ("two\nlines\tand\u00a0more", "two lines and more"),
        ("e\u0301 ä 地图", "e\u0301 ä 地图"),
        ("❤\ufe0f", "❤"),
        ("".join(INVISIBLE), ""),
    ],
)
def test_typed_text_filters_characters(text: str, taken: str) -> None:
    assert clean_typed_text(text) == taken


@pytest.mark.parametrize("command", TEXT_DIALOGS)
def test_fields_drop_invisible_characters(app: App, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    app.window.run_command(command)
    dialog = dialog_of(app)
    fields = [control for control in dialog.controls if isinstance(control, TextField)]
    assert fields
    for field in fields:
        dialog.focus_control(field)
        app.run_frame(0.05)
        for odd in INVISIBLE:
            press(app, pygame.K_a, pygame.KMOD_LCTRL)
            pygame.event.post(pygame.event.Event(pygame.TEXTINPUT, text=odd.encode(errors="ignore").decode()))
            app.run_frame(0.05)
            paste(app, odd, monkeypatch)
            paste(app, f"a{odd}b", monkeypatch)
            for key in (pygame.K_LEFT, pygame.K_LEFT, pygame.K_DELETE, pygame.K_BACKSPACE):
                press(app, key, pygame.KMOD_LSHIFT if key == pygame.K_LEFT else 0)
            assert odd not in field.text
            if app.window.dialogs.current_dialog is not dialog:
                return


def test_pasted_text_is_truncated_to_the_field_limit(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    app.window.run_command("rename_agent")
    field = dialog_of(app).controls[0]
    assert isinstance(field, TextField)
    field.set_text("ab")
    field.select_range(1, 1)
    paste(app, "n" * 5000, monkeypatch)
    assert field.text == f"a{'n' * 78}b" and field.editor.caret == 79
    field.select_range(1, 79)
    paste(app, "x\u200by", monkeypatch)
    assert field.text == "axyb" and field.editor.caret == 3
    press(app, pygame.K_BACKSPACE)
    assert field.text == "axb"


def test_name_of_invisible_characters_counts_as_empty(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    app.window.run_command("save_map_as")
    dialog = dialog_of(app)
    press(app, pygame.K_a, pygame.KMOD_LCTRL)
    press(app, pygame.K_BACKSPACE)
    paste(app, "\u202e\u200b", monkeypatch)
    press(app, pygame.K_RETURN)
    assert dialog.problem == "Enter a file name"


@pytest.mark.parametrize("label", INVISIBLE)
def test_any_name_from_a_file_can_be_drawn(label: str) -> None:
    fonts = FontCache()
    for text in (label, f"a{label}", label * 3):
        assert fonts.render_text(text, "bold", 15, (1, 2, 3)).get_height() > 0
    canvas = Canvas()
    canvas.begin_frame(pygame.Surface((50, 50)), DARK, 1.0, (-1, -1))
    canvas.draw_text((0, 0), label, width=20)
    canvas.draw_wrapped_text((0, 0, 20, 40), f"{label} {label}")


# --- commands without a key -----------------------------------------------------------------------


def test_help_opens_when_commands_have_no_key(app: App) -> None:
    for command in ("focus_1", "pan_left"):
        app.window.assign_keys_to_command(command, "")
    app.window.run_command("help")
    assert type(dialog_of(app)).__name__ == "HelpOverlay"
