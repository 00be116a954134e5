"""Every dialog, through the real event path under the dummy driver: opened, operated by keys, closed."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pygame
import pytest

from agents.registry import AGENT_SPECS
from files.movingai import ScenFile
from files.scenario import Scenario
from sim.map_generators import GENERATOR_SPECS
from sim.movement import FOUR_NEIGHBOURS, Movement
from sim.params import ConfigError
from sim.walker import Walker
from sim.world_commands import AgentConfig
from ui.commands.command_table import COMMAND_TABLE
from ui.dialogs.agent_editor import AgentEditor
from ui.dialogs.command_palette import CommandPalette
from ui.dialogs.comparison_table import SHOWN_COLUMNS, ComparisonTable
from ui.dialogs.dialog_base import FOOTER_HEIGHT, Dialog, DialogHost
from ui.dialogs.experiment_dialog import ExperimentDialog
from ui.dialogs.file_dialogs import FolderChooser, OpenFileDialog, SaveFileDialog, valid_file_stem
from ui.dialogs.gallery import Gallery
from ui.dialogs.help_overlay import HelpOverlay
from ui.dialogs.map_generator_dialog import MapGeneratorDialog
from ui.dialogs.message_box import MessageBox
from ui.dialogs.number_prompt import NumberPrompt
from ui.dialogs.problem_list import ProblemList
from ui.dialogs.question import QuestionDialog
from ui.dialogs.recent_files import RecentFiles
from ui.dialogs.settings_dialog import FOLDER_LABELS, SETTINGS_FORM_PARAMS, SETTINGS_PAGES, SettingsDialog
from ui.dialogs.split_dialog import SplitDialog
from ui.dialogs.text_prompt import TextPrompt
from ui.dialogs.unsaved_question import UnsavedQuestion
from ui.dialogs.worst_block_dialog import WorstBlockDialog
from ui.draw.theme import DARK, LIGHT, Palette
from ui.draw.thumbnails import draw_thumbnail
from ui.film import record_dialogs
from ui.film.record_dialogs import ExportDialog, RecordDialog, film_options_of
from ui.model import agent_edits, branch_actions, cell_edits, opened_files
from ui.model.panel_keys import FIRST_PANEL, PanelKey
from ui.model.session import Session
from ui.model.settings import Settings
from ui.model.start_over import user_commands
from ui.model.ui_state import UiState
from ui.widgets.controls import Button, CheckBox, ChoiceControl, Control, Slider
from ui.widgets.param_form import display_name_of_param
from ui.widgets.row_list import ROW_HEIGHT
from ui.widgets.text_field import TextField

from .test_files import make_scenario, write_map_file, write_scen_file

PROBLEMS = [f"river.yaml:{n}: agents[0].kind: no agent 'rtb-w'; did you mean 'rtb-wa'?" for n in range(30)]


class FakeHost:
    """A window that only remembers what dialogs ask of it."""

    def __init__(
        self,
        size: tuple[int, int] = (1280, 720),
        scale: float = 1.0,
        palette: Palette = DARK,
        setup: Scenario | None = None,
    ) -> None:
        self.window = pygame.display.set_mode(size)
        self.window_size, self.ui_scale, self.palette = size, scale, palette
        self.session = Session(setup or make_scenario())
        self.settings = Settings()
        self.command_table = COMMAND_TABLE
        self.benchmark_problems: ScenFile | None = None
        self.dialog: Dialog | None = None
        self.ran: list[str] = []
        self.said: list[str] = []
        self.paths: list[Path] = []
        self.setups: list[Scenario] = []
        self.calls: list[object] = []

    def run_command(self, command_id: str) -> None:
        self.ran.append(command_id)

    def disabled_reason_of_command(self, command_id: str) -> str:
        return ""

    def is_command_on(self, command_id: str) -> bool:
        return False

    def open_path(self, path: str | os.PathLike[str]) -> None:
        self.paths.append(Path(path))

    def open_example(self, path: str | os.PathLike[str]) -> None:
        self.open_path(path)

    def open_scenario(self, setup: Scenario, *, keeps_view: bool = False) -> None:
        self.setups.append(setup)

    def save_session(self, then: Callable[[], None] = lambda: None) -> None:
        self.calls.append("session saved")
        then()

    def show_message(self, text: str) -> None:
        self.said.append(text)

    show_message_until_edit = show_message

    def open_dialog(self, dialog: Dialog) -> None:
        self.close_dialog()
        self.dialog = dialog

    def close_dialog(self) -> None:
        dialog, self.dialog = self.dialog, None
        if dialog is not None:
            dialog.close()

    def create_message_box(self, host: DialogHost, title: str, problems: Sequence[str]) -> Dialog:
        return MessageBox(host, title, problems)

    def show_error(self, error: ConfigError, title: str = "") -> None:
        self.open_dialog(MessageBox(self, title, error.problems))

    # --- what a user does -------------------------------------------------------------------------

    def frame(self, seconds: float = 0.05, times: int = 1) -> None:
        for _ in range(times):
            for event in pygame.event.get():
                if self.dialog is not None:
                    self.dialog.handle_event(event)
            if self.dialog is not None:
                self.dialog.update_dialog(seconds)

    def send(self, event_type: int, **attributes: object) -> bool:
        assert self.dialog is not None
        return self.dialog.handle_event(pygame.event.Event(event_type, attributes))

    def press(self, *names: str) -> bool:
        """Press keys such as 'Down', 'Shift+Tab' or 'Ctrl+S'; True if the last one was used."""
        used = False
        for name in names:
            *mods, key = name.split("+")
            mod = sum(
                {"Ctrl": pygame.KMOD_LCTRL, "Shift": pygame.KMOD_LSHIFT, "Alt": pygame.KMOD_LALT}[m] for m in mods
            )
            code = pygame.key.key_code(key)
            text = key if len(key) == 1 else ""
            used = self.send(pygame.KEYDOWN, key=code, mod=mod, unicode=text, scancode=0)
            if self.dialog is not None:
                self.send(pygame.KEYUP, key=code, mod=mod, unicode=text, scancode=0)
        return used

    def type(self, text: str) -> None:
        for char in text:
            self.send(pygame.KEYDOWN, key=ord(char.lower()), mod=0, unicode=char, scancode=0)
            self.send(pygame.TEXTINPUT, text=char)
            self.send(pygame.KEYUP, key=ord(char.lower()), mod=0, unicode=char, scancode=0)

    def clear_field(self) -> None:
        self.press("Ctrl+a", "Backspace")

    def click(self, position: tuple[int, int], button: int = 1) -> bool:
        self.send(pygame.MOUSEMOTION, pos=position, rel=(0, 0), buttons=(0, 0, 0))
        used = self.send(pygame.MOUSEBUTTONDOWN, pos=position, button=button)
        if self.dialog is not None:
            self.send(pygame.MOUSEBUTTONUP, pos=position, button=button)
        self.frame(0.0)
        return used

    def focus(self, control: Control) -> None:
        """Go to a control with the Tab key."""
        assert self.dialog is not None
        for _ in range(len(self.dialog.controls) + 1):
            if self.dialog.focused_control is control:
                return
            self.press("Tab")
        raise AssertionError("Tab does not lead there")


@pytest.fixture(autouse=True)
def _display() -> Iterator[None]:
    pygame.display.init()
    pygame.font.init()
    pygame.event.clear()
    Dialog._open_dialogs.clear()  # a test may leave its dialog open
    record_dialogs._remembered_values.update({param.name: param.default for param in record_dialogs.PARAMS})
    yield
    pygame.event.clear()


@pytest.fixture(scope="module")
def problem_list(tmp_path_factory: pytest.TempPathFactory) -> ScenFile:
    folder = tmp_path_factory.mktemp("problems")
    write_map_file(folder, ["." * 20] * 10 + ["@" * 20] + ["." * 20] * 9)
    rows = [f"{n} a.map 20 20 0 0 {n} {n} {n * 1.4142:.4f}" for n in range(1, 20)]
    opened = opened_files.open_any_file(write_scen_file(folder, rows))
    assert opened.problem_list is not None
    return opened.problem_list


def make_problems(host: FakeHost) -> Dialog:
    return ProblemList(host)


def settings_of(host: FakeHost, fixed: str | None = None) -> SettingsDialog:
    def rebind(command: str, keys: str | None) -> None:
        host.calls.append((command, keys))

    return SettingsDialog(host, lambda: host.calls.append("applied"), rebind, Path("/usual/folder"), fixed)


MAKERS: dict[str, Callable[[FakeHost], Dialog]] = {
    "agent": lambda host: AgentEditor(host, FIRST_PANEL),
    "add agent": lambda host: AgentEditor(host, None),
    "comparison": ComparisonTable,
    "experiment": lambda host: ExperimentDialog(host, UiState()),
    "export": lambda host: ExportDialog(host, host.calls.append, 3, 20, has_parent=True),
    "gallery": Gallery,
    "generate": MapGeneratorDialog,
    "help": HelpOverlay,
    "message": lambda host: MessageBox(host, "river.yaml could not be opened", PROBLEMS),
    "short message": lambda host: MessageBox(host, "Something", "happened"),
    "number": lambda host: NumberPrompt(host, "Run until tick", 100, host.calls.append, low=1),
    "open": OpenFileDialog,
    "palette": CommandPalette,
    "problems": make_problems,
    "question": lambda host: QuestionDialog(
        host, "Really?", "A text. " * 20, [("No", host.calls.clear, ""), ("Yes", host.calls.clear, "main")]
    ),
    "recent": RecentFiles,
    "record": lambda host: RecordDialog(host, host.calls.append),
    "save": lambda host: SaveFileDialog(host, "Save the map under another name", ".map", "caves", host.calls.append),
    "folder": lambda host: FolderChooser(host, Path.cwd(), host.calls.append),
    "settings": lambda host: settings_of(host),
    "split": SplitDialog,
    "text": lambda host: TextPrompt(host, "Rename the focused branch", "eager", host.calls.append),
    "unsaved": lambda host: UnsavedQuestion(host, host.calls.clear),
}
WINDOWS = {
    "720p": ((1280, 720), 1.0, DARK),
    "4K": ((3840, 2160), 2.0, LIGHT),
    "720p at 200 %": ((1280, 720), 2.0, DARK),
    "900p at 150 %": ((1600, 900), 1.5, LIGHT),
    "720p at 75 %": ((1280, 720), 0.75, LIGHT),
}


def opened(name: str, window: str = "720p", problems: ScenFile | None = None) -> FakeHost:
    host = FakeHost(*WINDOWS[window])
    host.benchmark_problems = problems
    host.settings.add_recent_file(opened_files.example_files()[0])
    host.open_dialog(MAKERS[name](host))
    return host


@pytest.fixture
def host(problem_list: ScenFile) -> FakeHost:
    fake = FakeHost()
    fake.benchmark_problems = problem_list
    return fake


# --- what holds for all of them -------------------------------------------------------------------


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("name", MAKERS)
def test_dialog_opens_visibly_and_closes_with_escape(name: str, window: str, problem_list: ScenFile) -> None:
    host = opened(name, window, problem_list)
    dialog = host.dialog
    assert dialog is not None
    host.frame(times=2)
    host.window.fill(host.palette.window)
    dialog.draw_dialog(host.window)
    screen = host.window.get_rect()
    assert screen.contains(dialog.card_rect)
    assert (
        host.window.get_at((dialog.card_rect.left + dialog.to_px(30), dialog.card_rect.bottom - dialog.to_px(8)))[:3]
        == host.palette.surface
    )
    for control in dialog.controls:
        if isinstance(control, Button):
            assert dialog.card_rect.contains(control.element.rect)
            assert host_text_width(dialog, control.label) <= control.element.rect.width - dialog.to_px(8), control.label
    assert host.press("Escape")
    assert host.dialog is None
    assert (host.ran, host.paths, host.setups, host.calls) == ([], [], [], [])


def host_text_width(dialog: Dialog, text: str) -> int:
    return dialog.canvas.font_cache.width(text, "sans", dialog.to_px(14))


@pytest.mark.parametrize("name", MAKERS)
def test_tab_cycles_through_all_controls(name: str, problem_list: ScenFile) -> None:
    host = opened(name, problems=problem_list)
    dialog = host.dialog
    assert dialog is not None
    usable = [control for control in dialog.controls if control.can_focus]
    seen = [dialog.focused_control]
    for _ in usable[1:]:
        assert host.press("Tab")
        host.frame(0.0)
        seen.append(dialog.focused_control)
    assert len(set(map(id, seen))) == len(usable) and None not in seen
    assert host.press("Tab") and dialog.focused_control is seen[0]
    host.press("Shift+Tab")
    assert dialog.focused_control is seen[-1]


@pytest.mark.parametrize("name", MAKERS)
def test_focused_field_receives_all_keys(name: str, problem_list: ScenFile) -> None:
    host = opened(name, problems=problem_list)
    dialog = host.dialog
    assert dialog is not None
    for field in [control for control in dialog.controls if isinstance(control, TextField)]:
        host.focus(field)
        for key in (
            "Space",
            "p",
            "r",
            "Delete",
            "Left",
            "Right",
            "Home",
            "F11",
            "Ctrl+z",
            "Ctrl+s",
            "Alt+b",
            "Shift+w",
        ):
            assert host.press(key), key
            assert host.dialog is dialog
        assert host.send(pygame.TEXTINPUT, text="p")
        assert host.ran == []
        host.press("Tab")


@pytest.mark.parametrize("name", MAKERS)
def test_shortcut_letter_is_not_typed_into_the_dialog(name: str, problem_list: ScenFile) -> None:
    host = opened(name, problems=problem_list)
    dialog = host.dialog
    assert dialog is not None
    before = [control.text for control in dialog.controls if isinstance(control, TextField)]
    host.send(pygame.TEXTINPUT, text="g")
    host.send(pygame.KEYUP, key=pygame.K_g, mod=0, unicode="g", scancode=0)
    host.frame()
    assert [control.text for control in dialog.controls if isinstance(control, TextField)] == before


@pytest.mark.parametrize("name", MAKERS)
def test_dialog_is_rebuilt_with_same_controls_after_resize(name: str, problem_list: ScenFile) -> None:
    host = opened(name, problems=problem_list)
    dialog = host.dialog
    assert dialog is not None
    host.frame()
    host.press("Tab", "Down")
    place = [type(control) for control in dialog.controls]
    for size, scale, palette in (((1900, 1000), 1.25, LIGHT), ((1280, 720), 2.0, DARK), ((1280, 720), 1.0, DARK)):
        host.window_size, host.ui_scale, host.palette = size, scale, palette
        dialog.rebuild_widgets()
        host.frame(times=2)
    assert [type(control) for control in dialog.controls] == place
    host.press("Escape")
    assert host.dialog is None


@pytest.mark.parametrize("name", [name for name, make in MAKERS.items() if "agent" not in name])
def test_modal_dialog_captures_all_input(name: str, problem_list: ScenFile) -> None:
    host = opened(name, problems=problem_list)
    dialog = host.dialog
    assert dialog is not None and dialog.is_modal
    assert host.send(pygame.MOUSEMOTION, pos=(2, 2), rel=(0, 0), buttons=(0, 0, 0))
    assert host.send(pygame.MOUSEWHEEL, y=1, x=0)
    assert host.press("F10") and host.ran == []
    assert not host.send(pygame.QUIT)
    assert host.send(pygame.MOUSEBUTTONDOWN, pos=(2, 2), button=1)
    assert (host.dialog is None) == dialog.closes_on_outside_click


def test_closing_dialog_restores_key_repeat(host: FakeHost) -> None:
    pygame.key.set_repeat(300, 40)
    host.open_dialog(CommandPalette(host))
    host.open_dialog(OpenFileDialog(host))  # one after the other, as from a menu
    host.frame()
    assert pygame.key.get_repeat() != (300, 40)
    host.press("Escape")
    assert pygame.key.get_repeat() == (300, 40)


def test_last_shown_dialog_has_the_focus(host: FakeHost) -> None:
    host.open_dialog(CommandPalette(host))
    host.open_dialog(HelpOverlay(host))
    host.frame()
    host.type("undo")
    assert isinstance(host.dialog, HelpOverlay) and host.dialog.query == "undo"


def test_close_button_closes_the_dialog(host: FakeHost) -> None:
    host.open_dialog(HelpOverlay(host))
    assert host.dialog is not None
    host.click((host.dialog.card_rect.right - 34, host.dialog.card_rect.top + 30))
    assert host.dialog is None


# --- lists of commands, files and examples --------------------------------------------------------


def test_palette_runs_the_selected_command(host: FakeHost) -> None:
    host.open_dialog(CommandPalette(host))
    host.type("heat")
    host.press("Down", "Return")
    assert len(host.ran) == 1 and "heat" in host.ran[0] and host.dialog is None


def test_palette_without_match_runs_nothing(host: FakeHost) -> None:
    host.open_dialog(CommandPalette(host))
    host.type("qqq")
    host.press("Return")
    assert host.ran == [] and host.dialog is not None


def test_palette_double_click_runs_the_command(host: FakeHost) -> None:
    host.open_dialog(CommandPalette(host))
    dialog = host.dialog
    assert isinstance(dialog, CommandPalette)
    spot = (dialog.command_list.element.rect.x + 40, dialog.command_list.element.rect.y + 75)
    host.click(spot)
    assert host.ran == [] and dialog.command_list.selected_index == 2
    host.click(spot)
    assert host.ran == [list(COMMAND_TABLE)[2].id]


def test_help_filters_by_typed_text_and_closes_with_f1(host: FakeHost) -> None:
    host.open_dialog(HelpOverlay(host))
    dialog = host.dialog
    assert isinstance(dialog, HelpOverlay)
    host.press(*["PageDown"] * 5)
    assert dialog.help_page.scroll_bar.position == dialog.help_page.scroll_bar.max_position
    host.type("undo?")
    assert dialog.query == "undo?"  # the sign is text, not the command
    host.press("F1")
    assert host.dialog is None


def test_gallery_opens_the_chosen_example(host: FakeHost) -> None:
    host.open_dialog(Gallery(host))
    host.frame(times=len(opened_files.example_files()) + 1)
    host.press("Right", "Right", "Left", "Down", "Up", "Return")
    assert host.paths == [opened_files.example_files()[1]] and host.dialog is None


@pytest.mark.parametrize(("size", "columns"), [((800, 600), 2), ((1024, 768), 2), ((1280, 720), 4)])
def test_gallery_keeps_columns_in_small_windows(host: FakeHost, size: tuple[int, int], columns: int) -> None:
    """At 800 x 600 it was one column of 21 cards."""
    host.window_size = size
    host.open_dialog(Gallery(host))
    dialog = host.dialog
    assert isinstance(dialog, Gallery) and dialog.detail_area is not None
    assert dialog.card_grid.column_count == columns and dialog.card_grid.card_width >= 180
    assert dialog.card_grid.element.rect.right <= dialog.detail_area.element.rect.left


def test_gallery_click_opens_an_example(host: FakeHost) -> None:
    host.open_dialog(Gallery(host))
    dialog = host.dialog
    assert isinstance(dialog, Gallery)
    host.frame(times=3)
    rect = dialog.card_grid.element.rect
    host.click((rect.x + 20, rect.y + 20))
    assert host.paths == [opened_files.example_files()[0]]


def test_gallery_shows_error_of_broken_example(host: FakeHost, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("format: nothing")
    monkeypatch.setattr(opened_files, "example_files", lambda: [tmp_path / "bad.yaml", tmp_path / "gone.yaml"])
    host.open_dialog(Gallery(host))
    host.frame(times=3)
    dialog = host.dialog
    assert isinstance(dialog, Gallery) and dialog.card_grid.shown_example is not None
    assert "expected 'backmove-scenario'" in dialog.card_grid.shown_example.caption


def test_recent_files_can_be_opened_and_removed(host: FakeHost, tmp_path: Path) -> None:
    there = write_map_file(tmp_path, ["..."])
    host.settings.add_recent_file(there)
    host.settings.add_recent_file(tmp_path / "gone.map")
    host.open_dialog(RecentFiles(host))
    host.press("Return")
    assert host.paths == []  # it is not there
    host.press("Delete", "Return")
    assert host.paths == [there] and host.settings.recent_files == [str(there)]


# --- opening and saving ---------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "maps").mkdir()
    write_map_file(tmp_path / "maps", ["..."], "one.map")
    write_map_file(tmp_path, ["..."], "two.map")
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / ".hidden.map").write_text("")
    return tmp_path


def open_file(host: FakeHost, folder: Path) -> OpenFileDialog:
    host.settings.add_recent_file(folder / "two.map")
    dialog = OpenFileDialog(host)
    host.open_dialog(dialog)
    return dialog


def names(dialog: OpenFileDialog | SaveFileDialog) -> list[str]:
    return [item.cells[0] for item in dialog.entry_list.items]


def test_open_dialog_lists_folders_and_known_files(host: FakeHost, folder: Path) -> None:
    dialog = open_file(host, folder)
    assert names(dialog) == ["..", "maps/", "two.map"]
    host.press("Down", "Return")
    assert host.paths == [folder / "two.map"] and host.dialog is None


def test_open_dialog_navigates_into_and_out_of_folders(host: FakeHost, folder: Path) -> None:
    dialog = open_file(host, folder)
    host.press("Return")
    assert dialog.shown_folder == folder / "maps" and names(dialog) == ["..", "one.map"]
    host.press("Backspace")
    assert (
        dialog.shown_folder == folder
        and dialog.entry_list.selected_row
        and dialog.entry_list.selected_row.cells[0] == "maps/"
    )
    host.press("Alt+Up")
    assert dialog.shown_folder == folder.parent
    assert dialog.entry_list.selected_row and dialog.entry_list.selected_row.value == folder


def test_open_dialog_filters_by_text_and_follows_typed_paths(host: FakeHost, folder: Path) -> None:
    dialog = open_file(host, folder)
    host.type("two")
    assert names(dialog) == ["two.map"]
    host.clear_field()
    host.type("maps/")
    host.press("Return")
    assert dialog.shown_folder == folder / "maps" and dialog.entered_text == ""
    host.type("../none.map")
    host.press("Return")
    assert host.paths == [] and "There is no file" in dialog.problem
    host.clear_field()
    host.type("../two.map")
    host.press("Return")
    assert host.paths == [folder / "two.map"]


def test_unknown_file_name_suggests_nearest_and_keeps_text(host: FakeHost, folder: Path) -> None:
    dialog = open_file(host, folder)
    for text, words in (("nosuchthing", "Nothing here matches 'nosuchthing'"), ("twu.map", "did you mean 'two.map'")):
        host.type(text)
        host.press("Return")
        assert host.dialog is dialog and dialog.shown_folder == folder and dialog.entered_text == text
        assert words in dialog.problem and not host.paths
        host.clear_field()


def test_unreadable_folder_is_reported(host: FakeHost, folder: Path) -> None:
    dialog = open_file(host, folder)
    dialog.show_folder(folder / "not there")
    assert "No such file" in dialog.problem
    host.press("Alt+Up")
    assert dialog.shown_folder == folder and dialog.problem == ""


def test_shipped_maps_button_opens_the_maps_folder(host: FakeHost, folder: Path) -> None:
    dialog = open_file(host, folder)
    button = next(c for c in dialog.controls if isinstance(c, Button) and c.label == "Shipped maps")
    host.focus(button)
    host.press("Space")
    assert dialog.shown_folder == opened_files.MAPS_FOLDER


def save_file(host: FakeHost, folder: Path, name: str = "caves") -> SaveFileDialog:
    host.settings.add_recent_file(folder / "two.map")
    dialog = SaveFileDialog(host, "Save the map under another name", ".map", name, host.calls.append)
    host.open_dialog(dialog)
    return dialog


def test_save_dialog_appends_the_extension(host: FakeHost, folder: Path) -> None:
    dialog = save_file(host, folder)
    assert dialog.name == "caves.map" and names(dialog) == ["..", "maps/", "two.map"]
    host.type("new")  # over the selected stem
    assert dialog.name == "new.map"
    host.press("Return")
    assert host.calls == [folder / "new.map"] and host.dialog is None
    save_file(host, folder)
    host.clear_field()
    host.type("maps/x")
    host.press("Return")
    assert host.calls[-1] == folder / "maps" / "x.map"


def test_overwriting_asks_for_confirmation(host: FakeHost, folder: Path) -> None:
    dialog = save_file(host, folder, "two")
    host.press("Return")
    assert isinstance(dialog.inner_dialog, QuestionDialog)
    host.press("Escape")
    assert dialog.inner_dialog is None and host.dialog is dialog and host.calls == []
    host.press("Return", "Return")  # Cancel
    assert dialog.inner_dialog is None and host.calls == []
    host.press("Return", "Left", "Return")
    assert host.calls == [folder / "two.map"] and host.dialog is None


def test_invalid_save_names_are_reported(host: FakeHost, folder: Path) -> None:
    dialog = save_file(host, folder)
    host.clear_field()
    host.press("Return")
    assert dialog.problem == "Enter a file name"
    host.type("nowhere/a")
    assert dialog.problem == ""
    host.press("Return")
    assert "There is no folder" in dialog.problem and host.calls == []


def test_field_text_can_be_cut_and_pasted(host: FakeHost, folder: Path) -> None:
    dialog = save_file(host, folder)
    host.press("Ctrl+a", "Ctrl+x")
    assert dialog.name == ""
    host.press("Ctrl+v")
    assert dialog.name in ("caves.map", "")  # without a screen there may be no clipboard


def test_failed_save_keeps_name_and_shows_reason(host: FakeHost, folder: Path) -> None:
    host.settings.add_recent_file(folder / "two.map")

    def save(path: Path) -> None:
        if path.name == "bad.map":
            raise ConfigError(f"{path}: cannot be written: Permission denied")
        host.calls.append(path)

    dialog = SaveFileDialog(host, "Save the map under another name", ".map", "bad", save)
    host.open_dialog(dialog)
    host.press("Return")
    assert host.dialog is dialog and dialog.inner_dialog is None and dialog.name == "bad.map"
    assert dialog.problem_note.text == f"{folder / 'bad.map'}: cannot be written: Permission denied"
    host.clear_field()
    host.type("good")
    assert dialog.problem_note.text == ""
    host.press("Return")
    assert host.calls == [folder / "good.map"] and host.dialog is None


def test_dialog_opened_by_saving_stays_open(host: FakeHost, folder: Path) -> None:
    host.open_dialog(
        SaveFileDialog(
            host,
            "Save the map under another name",
            ".map",
            "a",
            lambda path: host.open_dialog(MessageBox(host, "Next", "comes")),
        )
    )
    host.press("Return")
    assert isinstance(host.dialog, MessageBox)


def test_long_error_is_shown_in_a_message_box(host: FakeHost, folder: Path) -> None:
    dialog = save_file(host, folder)
    reason = "it cannot be written for a reason that takes long to tell; " * 20
    dialog.show_problem(reason)
    assert isinstance(dialog.inner_dialog, MessageBox) and dialog.inner_dialog.problems == [reason]
    assert dialog.problem_note.text == "" and dialog.problem == reason
    host.press("Return")
    assert dialog.inner_dialog is None and host.dialog is dialog


def test_choosing_a_file_fills_in_its_name(host: FakeHost, folder: Path) -> None:
    dialog = save_file(host, folder)
    host.press("Down")
    assert dialog.name == "two.map"


def test_save_dialog_does_not_start_in_the_shipped_folder(host: FakeHost) -> None:
    host.settings.add_recent_file(opened_files.example_files()[0])
    assert not opened_files.is_shipped_file(SaveFileDialog(host, "Save", ".map", "a", host.calls.append).shown_folder)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a/b: c?", "a-b- c"),
        ("  ..", "untitled"),
        ("x.map", "x"),
        ("ä" * 200, "ä" * 100),
        ("\u65e5" * 100, "\u65e5" * 66),
    ],
)
def test_clean_name_makes_valid_file_names(name: str, expected: str) -> None:
    assert valid_file_stem(name, ".map") == expected


# --- questions ------------------------------------------------------------------------------------


def test_number_prompt_accepts_typing_and_arrow_keys(host: FakeHost) -> None:
    host.open_dialog(NumberPrompt(host, "Run until tick", 100, host.calls.append, low=51))
    host.press("Up", "PageUp", "Down", "Return")
    assert host.calls == [200] and host.dialog is None
    host.open_dialog(NumberPrompt(host, "Run until tick", 100, host.calls.append, low=51))
    host.type("7")
    host.press("Return")
    assert host.calls == [200] and host.dialog is not None  # 7 is too low
    host.type("0x")
    host.press("Return")
    assert host.dialog is not None
    host.clear_field()
    host.type("1,070")
    host.press("Return")
    assert host.calls == [200, 1070]


def test_number_prompt_button_refuses_wrong_number(host: FakeHost) -> None:
    host.open_dialog(NumberPrompt(host, "Run until tick", 100, host.calls.append, low=51))
    dialog = host.dialog
    assert isinstance(dialog, NumberPrompt)
    host.type("7")
    press_button(host, "OK")
    assert (
        host.dialog is dialog
        and host.calls == []
        and dialog.focused_control is dialog.number_field
        and dialog.number_field.text == "7"
    )


def test_empty_name_is_refused(host: FakeHost) -> None:
    host.open_dialog(TextPrompt(host, "Rename the focused branch", "eager", host.calls.append))
    dialog = host.dialog
    assert isinstance(dialog, TextPrompt)
    host.clear_field()
    press_button(host, "OK")
    assert (
        host.dialog is dialog
        and dialog.problem_note.text == "Enter a name"
        and dialog.focused_control is dialog.text_field
    )
    host.type("lazy")
    assert dialog.problem_note.text == ""
    host.press("Return")
    assert host.calls == ["lazy"] and host.dialog is None


def test_split_dialog_uses_parameter_labels_of_the_form(host: FakeHost) -> None:
    host.open_dialog(SplitDialog(host))
    assert isinstance(host.dialog, SplitDialog)
    spec = host.session.focused_walker.spec
    words = [(item.cells[0], item.detail_text) for item in host.dialog.choice_list.items]
    assert words[-1][0] == "Budget" and all(detail for _, detail in words)
    assert set(words[:-1]) <= {(display_name_of_param(param), param.help) for param in spec.params}
    assert not any("_" in cell for item in host.dialog.choice_list.items for cell in item.cells)


def test_failed_split_is_reported_in_its_dialog(host: FakeHost, monkeypatch: pytest.MonkeyPatch) -> None:
    def split(*given: object) -> None:
        raise ConfigError("split: expected a walking agent, got one at the goal")

    monkeypatch.setattr(host.session.run.branch_tree, "create_variants", split)
    host.open_dialog(SplitDialog(host))
    dialog = host.dialog
    host.press("Return")
    assert host.dialog is dialog and dialog is not None and "got one at the goal" in dialog.problem_note.text


@pytest.mark.parametrize(
    ("keys_pressed", "went_on"),
    [(["Escape"], 0), (["Left", "Left", "Return"], 1), (["Left", "Left", "Left", "Space"], 0)],
)
def test_unsaved_question_discards_or_cancels(host: FakeHost, keys_pressed: list[str], went_on: int) -> None:
    host.open_dialog(UnsavedQuestion(host, lambda: host.calls.append("on")))
    host.press(*keys_pressed)
    assert host.dialog is None and len(host.calls) == went_on


def test_unsaved_edits_beyond_the_map_are_saved_as_session(host: FakeHost) -> None:
    agent_edits.set_agent_param(host.session, FIRST_PANEL, "weight", 2.9)
    cell_edits.block_or_free_cells(host.session, [25], block=True)
    branch_actions.create_branch_at_current_tick(host.session)
    host.open_dialog(UnsavedQuestion(host, lambda: host.calls.append("on")))
    assert isinstance(host.dialog, UnsavedQuestion) and "2 branches" in host.dialog.text
    host.press("Return")
    assert host.calls == ["session saved", "on"]


def test_unsaved_edits_are_saved_to_the_open_map(host: FakeHost, tmp_path: Path) -> None:
    path = write_map_file(tmp_path, ["....", "...."])
    host.session = Session(opened_files.open_any_file(path).scenario)
    host.session.path = path
    cell_edits.block_or_free_cells(host.session, [2], block=True)
    host.open_dialog(UnsavedQuestion(host, lambda: host.calls.append("on")))
    host.press("Return")
    assert host.calls == ["on"] and host.dialog is None
    assert path.read_text().splitlines()[4] == "..@."


def test_unsaved_edits_of_an_unnamed_map_ask_for_a_name(host: FakeHost, tmp_path: Path) -> None:
    host.settings.add_recent_file(tmp_path / "a.map")
    cell_edits.block_or_free_cells(host.session, [25], block=True)
    host.open_dialog(UnsavedQuestion(host, lambda: host.calls.append("on")))
    host.press("Return")
    assert isinstance(host.dialog, SaveFileDialog)
    host.press("Return")
    assert host.calls == ["on"] and [path.suffix for path in tmp_path.iterdir()] == [".map"]


def test_failed_map_save_discards_nothing(host: FakeHost, tmp_path: Path) -> None:
    host.session.path = tmp_path / "gone" / "a.map"
    host.open_dialog(UnsavedQuestion(host, lambda: host.calls.append("on")))
    host.press("Return")
    assert isinstance(host.dialog, MessageBox) and "cannot be written" in host.dialog.problems[0]
    assert host.calls == []


def test_scroll_bar_drag_continues_outside_the_bar(host: FakeHost) -> None:
    dialog = MessageBox(host, "Broken", PROBLEMS)
    host.open_dialog(dialog)
    area, bar = dialog.scrolling_text.element.rect, dialog.scrolling_text.scroll_bar
    host.send(pygame.MOUSEBUTTONDOWN, pos=(area.right - 3, area.y + 5), button=1)
    for x, y in ((area.right - 3, area.y + 60), (area.x + 9, area.y + 90), (area.x - 200, area.bottom + 300)):
        before = bar.position
        host.send(pygame.MOUSEMOTION, pos=(x, y), rel=(0, 0), buttons=(1, 0, 0))
        assert bar.position > before
    assert bar.position == bar.max_position
    host.send(pygame.MOUSEBUTTONUP, pos=(area.x - 200, area.bottom + 300), button=1)
    host.send(pygame.MOUSEMOTION, pos=area.topleft, rel=(0, 0), buttons=(0, 0, 0))
    assert bar.position == bar.max_position and host.dialog is dialog


def test_a_long_message_scrolls(host: FakeHost) -> None:
    dialog = MessageBox(host, "Broken", PROBLEMS)
    host.open_dialog(dialog)
    assert dialog.scrolling_text.scroll_bar.is_scrolling_needed
    host.press("End")
    assert dialog.scrolling_text.scroll_bar.position == dialog.scrolling_text.scroll_bar.max_position
    host.press("Up")
    assert 0 < dialog.scrolling_text.scroll_bar.position < dialog.scrolling_text.scroll_bar.max_position
    host.send(pygame.MOUSEMOTION, pos=dialog.card_rect.center, rel=(0, 0), buttons=(0, 0, 0))
    host.send(pygame.MOUSEWHEEL, y=100, x=0)
    assert dialog.scrolling_text.scroll_bar.position == 0
    host.press("Return")
    assert host.dialog is None


# --- problems and numbers -------------------------------------------------------------------------


def test_problem_list_finds_and_opens_a_problem(host: FakeHost) -> None:
    dialog = ProblemList(host)
    host.open_dialog(dialog)
    assert len(dialog.problem_row_list.items) == 19 and dialog.focused_control is dialog.search_field
    host.type("b5")
    assert [row.bucket for row in dialog.shown_problems] == [5]
    host.press("Return")
    setup = host.setups[0]
    assert setup.goal == (5, 5) and setup.listed_optimal == pytest.approx(7.071)
    assert [config.kind for config in setup.agents] == ["tba", "rtb-wa"] and setup.budget == 3


def test_opened_problem_keeps_movement_rule_of_the_run(host: FakeHost) -> None:
    host.session.set_movement(Movement(FOUR_NEIGHBOURS))
    host.open_dialog(ProblemList(host))
    host.type("b5")
    host.press("Return")
    setup = host.setups[0]
    assert setup.grid.movement == setup.map.movement == Movement(FOUR_NEIGHBOURS) and setup.listed_optimal is None


def test_bad_problems_are_dimmed_and_cannot_be_opened(host: FakeHost) -> None:
    dialog = ProblemList(host)
    host.open_dialog(dialog)
    assert "1 of them cannot be run" in dialog.hint
    host.focus(dialog.search_field)
    host.type("blocked")
    assert [row.goal for row in dialog.shown_problems] == [(10, 10)] and dialog.problem_row_list.items[0].is_dim
    assert not dialog.open_button.can_focus
    host.press("Return")
    assert host.setups == [] and host.dialog is dialog


def test_problem_list_sorts_by_key_and_click(host: FakeHost) -> None:
    dialog = ProblemList(host)
    host.open_dialog(dialog)
    host.focus(dialog.problem_row_list)
    host.press("Right", "Space")
    assert dialog.sort_order == (1, True)
    assert [row.bucket for row in dialog.shown_problems] == list(range(19, 0, -1))
    rect = dialog.problem_row_list.element.rect
    host.click((rect.x + 40, rect.y + 10))
    assert dialog.sort_order == (0, False) and dialog.shown_problems[0].row_index == 0
    host.press("End")
    assert dialog.problem_row_list.selected_index == 18


def test_comparison_table_sorts_and_updates_live(host: FakeHost) -> None:
    host.session.advance_by_ticks(20)
    dialog = ComparisonTable(host)
    host.open_dialog(dialog)
    labels = [item.cells[0] for item in dialog.agent_list.items]
    assert labels == ["first", "RTB-WA*"]
    cost = [column.key for column in SHOWN_COLUMNS].index("cost")
    host.press(*["Right"] * (cost + 1))
    costs = [item.cells[cost] for item in dialog.agent_list.items]
    assert costs == sorted(costs, key=float)
    host.press("Space")
    assert [item.cells[cost] for item in dialog.agent_list.items] == costs[::-1]
    host.session.advance_by_ticks(15)
    host.frame(0.1, times=4)
    assert [item.cells[cost] for item in dialog.agent_list.items] != costs[::-1]
    assert f"tick {host.session.tick}" in dialog.hint
    host.press("Return")
    assert host.session.focused_walker and host.session.focused_walker.label in labels


def test_comparison_table_is_exported_as_csv(host: FakeHost, tmp_path: Path) -> None:
    host.settings.add_recent_file(tmp_path / "a.map")
    dialog = ComparisonTable(host)
    host.open_dialog(dialog)
    button = next(c for c in dialog.controls if isinstance(c, Button) and "CSV" in c.label)
    host.focus(button)
    host.press("Return")
    assert isinstance(dialog.inner_dialog, SaveFileDialog)
    host.press("Return")
    assert dialog.inner_dialog is None and host.dialog is dialog
    assert [path.suffix for path in tmp_path.iterdir()] == [".csv"] and host.said[0].startswith("Saved A title- with")


def test_failed_table_export_is_reported_in_its_dialog(host: FakeHost, tmp_path: Path) -> None:
    host.settings.add_recent_file(tmp_path / "a.map")
    dialog = ComparisonTable(host)
    host.open_dialog(dialog)
    button = next(c for c in dialog.controls if isinstance(c, Button) and "CSV" in c.label)
    host.focus(button)
    host.press("Return")
    inner = dialog.inner_dialog
    assert isinstance(inner, SaveFileDialog)
    (tmp_path / "taken.csv").mkdir()
    inner._save_and_close(tmp_path / "taken.csv")
    assert host.dialog is dialog and dialog.inner_dialog is inner and "cannot be written" in inner.problem_note.text
    assert host.said == []


# --- videos ---------------------------------------------------------------------------------------


def choice_control(dialog: RecordDialog, name: str) -> ChoiceControl:
    control = dialog.option_form._row_of_param(name).controls[0]
    assert isinstance(control, ChoiceControl)
    return control


def field_control(dialog: RecordDialog | MapGeneratorDialog, name: str) -> TextField:
    control = dialog.option_form._row_of_param(name).controls[-1]
    assert isinstance(control, TextField)
    return control


def test_gif_offers_only_valid_frame_rates(host: FakeHost) -> None:
    dialog = RecordDialog(host, lambda values: host.calls.append(dict(values)))
    host.open_dialog(dialog)
    dialog.values["frames_per_second"] = "60"
    dialog.rebuild_widgets()
    choice_control(dialog, "format").choose_value("gif")
    rate = choice_control(dialog, "frames_per_second")
    assert [value for value, _ in rate.options] == ["10", "20", "25", "50"] and rate.chosen_value == "50"
    assert "a gif does not support 60" in dialog.option_form._row_of_param("frames_per_second").problem_text
    dialog.rebuild_widgets()
    rate = choice_control(dialog, "frames_per_second")
    assert len(rate.options) == 4 and rate.chosen_value == "50", "also after the window has changed"
    host.focus(rate)
    host.press("Left")
    host.press("Return")
    assert host.calls[0]["frames_per_second"] == "25" and film_options_of(host.calls[0], (800, 600), 0).fps == 25
    host.open_dialog(RecordDialog(host, host.calls.append))
    assert isinstance(host.dialog, RecordDialog)
    assert len(choice_control(host.dialog, "frames_per_second").options) == 4, "a gif is what was made last"
    choice_control(host.dialog, "format").choose_value("mp4")
    assert (
        choice_control(host.dialog, "frames_per_second").chosen_value == "25"
        and not host.dialog.option_form.problem_texts
    )
    assert len(choice_control(host.dialog, "frames_per_second").options) == 6


def test_reversed_tick_range_is_not_exported(host: FakeHost) -> None:
    dialog = ExportDialog(host, host.calls.append, 0, 30)
    host.open_dialog(dialog)
    choice_control(dialog, "format").choose_value("webm")
    host.focus(field_control(dialog, "from_tick"))
    host.type("500")
    host.press("Return")
    assert host.dialog is dialog and host.calls == [] and dialog.focused_control is field_control(dialog, "to_tick")
    assert dialog.option_form.problem_texts == ["expected 500 or later, got 30"]
    assert (dialog.values["from_tick"], dialog.values["format"]) == (500, "webm")
    host.type("x")
    host.press("Return")
    assert "expected a whole number" in dialog.option_form.problem_texts[0] and host.calls == []
    host.focus(field_control(dialog, "from_tick"))
    host.type("30")
    host.frame(1.0)
    host.focus(field_control(dialog, "to_tick"))
    host.clear_field()
    host.type("30")
    host.press("Return")
    assert len(host.calls) == 1 and host.dialog is None, "one tick is a range"


def test_reversed_marked_range_is_reported_immediately(host: FakeHost) -> None:
    dialog = ExportDialog(host, host.calls.append, 50, 10)
    host.open_dialog(dialog)
    assert dialog.option_form.problem_texts == ["expected 50 or later, got 10"]
    host.focus(field_control(dialog, "from_tick"))
    host.type("5")
    host.frame(1.0)
    assert dialog.option_form.problem_texts == []


def test_failed_recording_start_keeps_the_form(host: FakeHost) -> None:
    def begin(values: object) -> None:
        raise ConfigError("/recordings: expected a folder for recordings, got a file")

    dialog = RecordDialog(host, begin)
    host.open_dialog(dialog)
    choice_control(dialog, "size").choose_value("640 x 360")
    host.press("Return")
    assert (
        host.dialog is dialog
        and dialog.problem_note.text == "/recordings: expected a folder for recordings, got a file"
    )
    assert choice_control(dialog, "size").chosen_value == "640 x 360" and host.said == []
    dialog.rebuild_widgets()
    assert dialog.problem_note.text and choice_control(dialog, "size").chosen_value == "640 x 360"
    choice_control(dialog, "part").choose_value("window")
    assert dialog.problem_note.text == ""


# --- maps -----------------------------------------------------------------------------------------


def test_generated_map_keeps_current_agents(host: FakeHost) -> None:
    dialog = MapGeneratorDialog(host)
    host.open_dialog(dialog)
    host.frame()
    assert dialog.generated_map is not None
    host.press("Down", "Down", "Down", "Down")
    host.frame()
    assert dialog.chosen_generator_spec.kind == "river" and dialog.generated_map.recipe["kind"] == "river"
    host.press("Return")
    setup = host.setups[0]
    assert setup.switches and [config.label for config in setup.agents] == ["first", ""]
    assert setup.budget == 3 and setup.seed == 11


def test_map_parameters_are_set_by_field_and_slider(host: FakeHost) -> None:
    dialog = MapGeneratorDialog(host)
    host.open_dialog(dialog)
    sliders = [control for control in dialog.controls if isinstance(control, Slider)]
    fields = [control for control in dialog.controls if isinstance(control, TextField)]
    host.focus(sliders[0])
    host.press("Right")
    host.frame(0.2)
    assert dialog.values["rooms"]["width"] == 144
    host.focus(fields[0])
    host.type("60")
    assert dialog.values["rooms"]["width"] == 144  # not while typing
    host.press("Return")
    setup = host.setups[0]
    assert setup.grid.width == 60


def press_button(host: FakeHost, label: str) -> None:
    dialog = host.dialog
    while dialog is not None and dialog.inner_dialog is not None:
        dialog = dialog.inner_dialog
    assert dialog is not None
    button = next(c for c in dialog.controls if isinstance(c, Button) and c.label == label)
    host.click(button.element.rect.center)


@pytest.mark.parametrize("way", ["Return", "the button"])
def test_wrong_number_generates_no_map(host: FakeHost, way: str) -> None:
    dialog = MapGeneratorDialog(host)
    host.open_dialog(dialog)
    host.frame()
    field = field_control(dialog, "width")
    host.focus(field)
    host.type("5000")
    host.press("Return") if way == "Return" else press_button(host, "Generate")
    assert host.dialog is dialog and host.setups == []
    assert (
        dialog.focused_control is field
        and field.text == "5000"
        and "from 16 to 2,048" in dialog.option_form.problem_texts[0]
    )
    host.clear_field()
    host.type("50")
    host.press("Return")
    assert host.setups[0].grid.width == 50


def test_wrong_number_is_scrolled_into_view(host: FakeHost) -> None:
    dialog = MapGeneratorDialog(host)
    host.open_dialog(dialog)
    dialog.map_kind_list.select_row([spec.kind for spec in GENERATOR_SPECS].index("caves"))
    last = dialog.option_form.controls()[-1]
    assert isinstance(last, TextField)
    host.focus(last)
    host.type("-7")
    host.focus(dialog.map_kind_list)
    host.press("Return")
    host.frame(times=3)
    assert dialog.focused_control is last and host.setups == []
    assert dialog.option_form.rect.move(dialog.card_rect.topleft).contains(last.element.rect)


def test_new_seed_changes_map_and_old_seed_restores_it(host: FakeHost) -> None:
    dialog = MapGeneratorDialog(host)
    host.open_dialog(dialog)
    host.frame()
    assert dialog.generated_map is not None
    first, seed = dialog.generated_map.grid.text_rows(), dialog.values["rooms"]["seed"]
    host.press("F8")
    host.frame()
    assert dialog.values["rooms"]["seed"] != seed and dialog.generated_map.grid.text_rows() != first
    field = next(
        c for c in dialog.controls if isinstance(c, TextField) and c.text == str(dialog.values["rooms"]["seed"])
    )
    host.focus(field)
    host.type(str(seed))
    host.press("Tab")  # leaving the field is enough
    host.frame()
    assert dialog.generated_map.grid.text_rows() == first


def test_conflicting_map_parameters_are_reported(host: FakeHost) -> None:
    dialog = MapGeneratorDialog(host)
    host.open_dialog(dialog)
    dialog.map_kind_list.select_row([spec.kind for spec in GENERATOR_SPECS].index("maze"))
    dialog.values["maze"].update(width=16, height=16, corridor=30)
    dialog.rebuild_widgets()
    host.press("Return")
    assert host.setups == [] and "corridor: expected at most" in dialog.problem


@pytest.mark.parametrize("place", range(len(GENERATOR_SPECS)), ids=[spec.kind for spec in GENERATOR_SPECS])
def test_every_map_kind_can_be_generated(host: FakeHost, place: int) -> None:
    dialog = MapGeneratorDialog(host)
    host.open_dialog(dialog)
    host.press(*["Down"] * place)
    host.frame()
    assert dialog.generated_map is not None and dialog.generated_map.recipe["kind"] == GENERATOR_SPECS[place].kind
    host.press("Return")
    Session(host.setups[0]).advance_by_ticks(3)


def test_thumbnail_shows_walls_start_and_goal(host: FakeHost) -> None:
    setup = make_scenario()
    picture = draw_thumbnail(setup.grid, setup.start_cell, setup.goal_cell, (200, 120), DARK)
    assert picture.get_size() == (120, 120)
    colours = {tuple(picture.get_at((x, y)))[:3] for x in range(120) for y in range(120)}
    assert {DARK.free, DARK.wall, DARK.path} <= colours
    assert DARK.agent not in colours, "start and goal look as in panels: nothing there is an agent"


# --- agents ---------------------------------------------------------------------------------------


def open_agent_editor(host: FakeHost, kind: str = "rtb-wa") -> tuple[AgentEditor, Walker]:
    walker = next(w for w in host.session.run.world.walkers if w.spec.key == kind)
    dialog = AgentEditor(host, PanelKey(0, walker.id))
    host.open_dialog(dialog)
    host.frame()
    return dialog, walker


def control_of_kind(dialog: AgentEditor, name: str, kind: type) -> Control:
    row = next(row for row in dialog.option_form.param_rows if row.param.name == name)
    return next(control for control in row.controls if isinstance(control, kind))


def test_agent_slider_sets_parameter_during_the_run(host: FakeHost) -> None:
    dialog, walker = open_agent_editor(host)
    host.session.advance_by_ticks(5)
    host.focus(control_of_kind(dialog, "weight", Slider))
    host.press("Right", "Right", "Left")
    assert walker.params["weight"] == 3.0  # a moment's rest first
    host.frame(0.2)
    assert walker.params["weight"] == pytest.approx(3.2)
    assert [type(command).__name__ for _, command in user_commands(host.session.run.focused_branch_timeline)] == [
        "SetParam"
    ]


def test_agent_field_sets_number_and_reports_wrong_one(host: FakeHost) -> None:
    dialog, walker = open_agent_editor(host)
    host.focus(control_of_kind(dialog, "weight", TextField))
    host.type("0.5")
    host.frame(1.0)
    assert walker.params["weight"] == 3.0 and "from 1 to 100" in dialog.option_form.problem_texts[0]
    host.press("Return")
    assert host.dialog is dialog and user_commands(host.session.run.focused_branch_timeline) == []
    host.clear_field()
    host.type("7")
    assert dialog.option_form.problem_texts == []
    host.press("Return")
    assert walker.params["weight"] == 7.0 and host.dialog is dialog, "what is typed next must not become commands"
    host.press("Escape")
    assert host.dialog is None


def test_leaving_a_field_with_invalid_text_restores_its_value(host: FakeHost) -> None:
    dialog, _ = open_agent_editor(host)
    field = control_of_kind(dialog, "weight", TextField)
    assert isinstance(field, TextField)
    host.focus(field)
    host.type("abc")
    host.press("Tab")
    assert field.text == "3" and dialog.option_form.problem_texts == []


def test_agent_with_wrong_number_is_not_added(host: FakeHost) -> None:
    dialog = AgentEditor(host, None)
    host.open_dialog(dialog)
    dialog.algorithm_list.select_row([s.key for s in AGENT_SPECS].index("tb-wa"))
    field = control_of_kind(dialog, "weight", TextField)
    assert isinstance(field, TextField)
    host.focus(field)
    host.type("5000")
    press_button(host, "Add")
    assert host.dialog is dialog and len(host.session.run.world.walkers) == 2
    assert dialog.focused_control is field and field.text == "5000"
    assert dialog.problem == "", "it stands below the field, whole"
    row = dialog.option_form._row_of_param("weight")
    assert row.problem_text == "expected a number from 1 to 100, got '5000'" and row.has_room_for_text(row.problem_text)


@pytest.mark.parametrize("spec", AGENT_SPECS, ids=lambda spec: spec.key)
def test_form_rows_have_room_for_their_error_messages(host: FakeHost, spec) -> None:  # type: ignore[no-untyped-def]
    dialog = AgentEditor(host, None)
    host.open_dialog(dialog)
    dialog.own_budget = 5
    dialog.algorithm_list.select_row([s.key for s in AGENT_SPECS].index(spec.key))
    dialog.rebuild_widgets()
    for row in dialog.option_form.param_rows:
        if isinstance(row.controls[-1], TextField):
            with pytest.raises(ConfigError) as caught:
                row.param.parse_value("-123456789")
            assert row.has_room_for_text(caught.value.problems[0]), row.param.name


@pytest.mark.parametrize(
    ("size", "scale", "fewest"),
    [
        ((1600, 900), 1.0, 8),
        ((1280, 720), 1.0, 5),
        ((3840, 2160), 2.0, 10),
        ((1600, 900), 2.0, 3),
        ((1280, 720), 2.0, 2),
    ],
)
def test_agent_list_uses_available_window_height(size: tuple[int, int], scale: float, fewest: int) -> None:
    host = FakeHost(size, scale)
    dialog, _ = open_agent_editor(host, "tba")
    assert dialog.algorithm_list.scroll_bar.viewport_height // dialog.to_px(ROW_HEIGHT) >= fewest
    row = dialog.option_form._row_of_param("share")
    assert row.rect.height <= dialog.option_form.rect.height, "a whole parameter is in view"
    top = dialog.algorithm_list.element.rect.bottom
    assert (
        top <= dialog.card_rect.y + dialog.option_form.rect.top
        and dialog.option_form.rect.bottom <= dialog.card_rect.height - dialog.to_px(FOOTER_HEIGHT)
    )


def test_long_budget_error_is_fully_visible(host: FakeHost) -> None:
    dialog, _ = open_agent_editor(host, "tba")
    host.focus(control_of_kind(dialog, "own_budget", CheckBox))
    host.press("Space")
    host.focus(control_of_kind(dialog, "budget", TextField))
    host.type("1")
    host.frame(1.0)
    assert "one trace step a tick, got 1, which at share" in dialog.problem_note.text
    assert dialog.problem_note.has_room_for_text(dialog.problem_note.text)
    dialog.on_confirm()
    assert host.dialog is None, "the value has gone back: nothing is left to be put right"


def test_choice_and_check_box_set_parameters_by_key(host: FakeHost) -> None:
    dialog, walker = open_agent_editor(host)
    host.focus(control_of_kind(dialog, "restart", ChoiceControl))
    host.press("Right")
    assert walker.params["restart"] == "eager"
    host.focus(control_of_kind(dialog, "reopen", CheckBox))
    host.press("Space")
    assert walker.params["reopen"] is True
    host.press("Space")
    assert walker.params["reopen"] is False


def test_choice_sets_parameter_by_click(host: FakeHost) -> None:
    dialog, walker = open_agent_editor(host)
    rect = control_of_kind(dialog, "restart", ChoiceControl).element.rect
    host.click((rect.x + 180, rect.centery))
    assert walker.params["restart"] == "eager"


def test_agent_budget_can_be_own_or_shared(host: FakeHost) -> None:
    dialog, walker = open_agent_editor(host)
    assert walker.budget == 2
    host.focus(control_of_kind(dialog, "budget", TextField))
    host.type("40")
    host.frame(1.0)
    assert walker.budget == 40
    host.focus(control_of_kind(dialog, "own_budget", CheckBox))
    host.press("Space")
    assert walker.budget is None and not any(row.param.name == "budget" for row in dialog.option_form.param_rows)
    host.press("Space")
    assert walker.budget == host.session.run.world.budget


def test_budget_refused_by_the_agent_is_reported(host: FakeHost) -> None:
    dialog, walker = open_agent_editor(host, "tba")
    host.focus(control_of_kind(dialog, "own_budget", CheckBox))
    host.press("Space")
    host.focus(control_of_kind(dialog, "budget", TextField))
    host.type("1")
    host.frame(1.0)
    assert walker.budget == 3 and "at least one expansion" in dialog.option_form.problem_texts[0]
    assert host.session.user_messages.messages_until_next_edit == []
    host.frame(0.0)
    assert dialog.option_form.values["budget"] == 3


def test_new_agent_kind_is_applied_after_debounce(host: FakeHost) -> None:
    dialog, walker = open_agent_editor(host)
    host.focus(dialog.algorithm_list)
    host.press("Up", "Up", "Down")
    assert host.session.run.world.walker_with_id(walker.id) is walker
    host.frame(0.2, times=3)
    kinds = [w.spec.key for w in host.session.run.world.walkers]
    expected = AGENT_SPECS[[spec.key for spec in AGENT_SPECS].index("rtb-wa") - 1].key
    assert kinds == ["tba", expected] and dialog.edited_walker is host.session.run.world.walkers[1]
    assert (
        sum(
            type(command).__name__ == "AddAgent"
            for _, command in user_commands(host.session.run.focused_branch_timeline)
        )
        == 1
    )


@pytest.mark.parametrize("spec", AGENT_SPECS, ids=lambda spec: spec.key)
def test_every_agent_kind_can_be_added(host: FakeHost, spec) -> None:  # type: ignore[no-untyped-def]
    host.open_dialog(AgentEditor(host, None))
    dialog = host.dialog
    assert isinstance(dialog, AgentEditor)
    dialog.algorithm_list.select_row([s.key for s in AGENT_SPECS].index(spec.key))
    host.frame(times=2)
    assert [row.param for row in dialog.option_form.param_rows][: len(spec.params)] == list(spec.params)
    dialog.own_budget = 50
    host.press("Return")
    assert host.dialog is None and host.session.run.world.walkers[-1].spec is spec


def test_agent_with_invalid_budget_is_not_added(host: FakeHost) -> None:
    dialog = AgentEditor(host, None)
    host.open_dialog(dialog)
    dialog.algorithm_list.select_row([s.key for s in AGENT_SPECS].index("tba"))
    dialog.own_budget = 1
    host.press("Return")
    assert host.dialog is dialog and "budget" in dialog.problem and len(host.session.run.world.walkers) == 2


def test_remove_button_removes_the_agent(host: FakeHost) -> None:
    dialog, walker = open_agent_editor(host)
    host.focus(next(c for c in dialog.controls if isinstance(c, Button) and c.label == "Remove"))
    host.press("Return")
    assert host.dialog is None and host.session.run.world.walker_with_id(walker.id) is None


def test_agent_editor_follows_external_changes(host: FakeHost) -> None:
    dialog, walker = open_agent_editor(host)
    agent_edits.set_agent_param(host.session, PanelKey(0, walker.id), "weight", 9.0)
    host.frame()
    field = control_of_kind(dialog, "weight", TextField)
    assert isinstance(field, TextField) and field.text == "9"
    host.session.start_over(keeps_map=False)
    host.frame()
    assert dialog.edited_walker is host.session.run.world.walkers[1]
    agent_edits.replace_agent(host.session, PanelKey(0, dialog.edited_walker.id), AgentConfig("tb-gbfs"))
    host.frame()
    assert host.dialog is None  # the agent that was edited is gone


def test_agent_editor_leaves_input_outside_its_card_to_the_window(host: FakeHost) -> None:
    dialog, _ = open_agent_editor(host)
    assert not host.send(pygame.MOUSEMOTION, pos=(50, 300), rel=(0, 0), buttons=(0, 0, 0))
    assert not host.send(pygame.MOUSEWHEEL, y=1, x=0)
    assert host.send(pygame.MOUSEBUTTONDOWN, pos=dialog.card_rect.center, button=1)
    host.focus(dialog.algorithm_list)
    assert host.press("Down") and not host.press("Space") and not host.press("Ctrl+z")
    field = control_of_kind(dialog, "weight", TextField) if dialog.chosen_agent_spec.param("weight") else None
    if field:
        host.focus(field)
        assert host.press("Space")
    assert not host.send(pygame.MOUSEBUTTONDOWN, pos=(50, 300), button=1)
    assert dialog.focused_control is None and not host.press("Up") and not host.press("Return")
    host.press("Tab")
    assert dialog.focused_control is not None
    assert host.press("Escape") and host.dialog is None


def test_slider_is_set_by_click(host: FakeHost) -> None:
    dialog, walker = open_agent_editor(host)
    slider = control_of_kind(dialog, "weight", Slider)
    rect = slider.element.rect
    host.click((rect.right - 2, rect.centery))
    host.frame(0.2)
    assert walker.params["weight"] == 100.0
    host.click((rect.left + 3, rect.centery))
    host.frame(0.2)
    assert walker.params["weight"] == 1.0


def test_form_scrolls_to_the_focused_control(host: FakeHost) -> None:
    dialog, _ = open_agent_editor(host, "tba")
    last = dialog.option_form.controls()[-1]
    assert dialog.option_form.scrolling_area.scroll_bar.is_scrolling_needed
    host.focus(last)
    host.frame(times=3)
    assert dialog.option_form.rect.move(dialog.card_rect.topleft).contains(last.element.rect)
    host.focus(dialog.option_form.controls()[1])
    host.frame(times=3)
    assert dialog.option_form.rect.move(dialog.card_rect.topleft).contains(
        dialog.option_form.controls()[1].element.rect
    )


# --- settings -----------------------------------------------------------------------------------------


def test_settings_dialog_covers_all_settings(host: FakeHost) -> None:
    dialog = settings_of(host)
    names = {param.name for param in SETTINGS_FORM_PARAMS} | set(FOLDER_LABELS)
    assert {"theme", "ui_scale", "heat_colours", "keyframe_mb", "prepared_mb", "recordings", "files_folder"} <= names
    host.open_dialog(dialog)
    choice = next(row for row in dialog.option_form.param_rows if row.param.name == "heat_colours").controls[0]
    host.focus(choice)
    host.press("Right")
    host.frame(times=2)
    assert host.settings.heat.colour_map == "cividis" and host.calls == ["applied"]


@pytest.mark.parametrize(
    ("size", "scale"), [((480, 360), 1.0), ((480, 360), 2.0), ((640, 480), 1.5), ((800, 600), 2.0)]
)
def test_settings_dialog_opens_in_the_smallest_windows(size: tuple[int, int], scale: float) -> None:
    host = FakeHost(size, scale)
    host.open_dialog(settings_of(host))
    host.press("Escape")
    assert host.dialog is None


def test_settings_folder_is_validated_and_stored(host: FakeHost, tmp_path: Path) -> None:
    host.open_dialog(dialog := settings_of(host))
    field = dialog.folder_fields["recordings"]
    assert field.text == "/usual/folder"
    host.focus(field)
    host.clear_field()
    host.type(str(tmp_path / "no" / "such"))
    host.press("Tab")
    assert host.settings.recordings == "" and "There is no folder" in dialog.problem
    field.set_text(str(tmp_path / "new"))
    dialog.on_confirm()
    assert host.settings.recordings == str(tmp_path / "new") and host.dialog is None, "it is made when it is needed"


def test_folder_set_by_environment_cannot_be_changed(host: FakeHost, tmp_path: Path) -> None:
    host.open_dialog(dialog := settings_of(host, "BACKMOVE_RECORDINGS says where they go"))
    dialog.folder_fields["recordings"].set_text(str(tmp_path))
    dialog.on_confirm()
    assert host.settings.recordings == "" and "BACKMOVE_RECORDINGS" in dialog.problem and host.dialog is dialog


def test_files_folder_setting_is_the_start_of_file_dialogs(host: FakeHost, tmp_path: Path) -> None:
    host.settings.add_recent_file(opened_files.example_files()[0])
    host.settings.files_folder = str(tmp_path)
    host.open_dialog(dialog := OpenFileDialog(host))
    assert dialog.shown_folder == tmp_path


# --- tables that are wider than their dialog ------------------------------------------------------------


@pytest.mark.parametrize("size", [(1920, 1080), (1600, 900), (1000, 700)])
def test_comparison_columns_are_never_truncated(size: tuple[int, int]) -> None:
    host = FakeHost(size)
    host.session.advance_by_ticks(40)
    host.open_dialog(dialog := ComparisonTable(host))
    seen = set()
    for column in range(len(SHOWN_COLUMNS)):
        dialog.agent_list._sort_by_column(column, False)
        boxes = dialog.agent_list._column_spans()
        assert boxes[0][1] and boxes[column][1], "the names stay, and the column that is chosen is in view"
        seen |= {place for place, (left, width) in enumerate(boxes) if width}
        for place, (left, width) in enumerate(boxes):
            assert not width or width >= dialog.to_px(SHOWN_COLUMNS[place].width)
            assert left + width <= dialog.agent_list.element.rect.width
    assert seen == set(range(len(SHOWN_COLUMNS)))


def test_comparison_header_arrows_page_through_columns() -> None:
    host = FakeHost((1000, 700))
    host.open_dialog(dialog := ComparisonTable(host))
    first = [place for place, (_, width) in enumerate(dialog.agent_list._column_spans()) if width]
    dialog.agent_list._handle_press_on_list(dialog.agent_list.element.rect.width - dialog.to_px(4), 4)
    later = [place for place, (_, width) in enumerate(dialog.agent_list._column_spans()) if width]
    assert later[0] == 0 and later[1] == first[-1], "the last one that was seen is the first one now"
    dialog.agent_list._handle_press_on_list(dialog.to_px(140), 4)
    assert [place for place, (_, width) in enumerate(dialog.agent_list._column_spans()) if width] == first


def test_help_page_keeps_a_readable_font_size() -> None:
    for size in ((1000, 700), (1600, 900)):
        host = FakeHost(size)
        host.open_dialog(dialog := HelpOverlay(host))
        assert dialog.help_page.size >= 12


@pytest.mark.parametrize("size", [(640, 480), (1000, 700), (1366, 768), (1600, 900)])
def test_help_page_truncates_no_text_and_repeats_group_headings(size: tuple[int, int]) -> None:
    """A second column began with "Hand tool" and no word of what it belongs to; ten lines ended in dots."""
    host = FakeHost(size)
    host.open_dialog(dialog := HelpOverlay(host))
    page, shown = dialog.help_page, []
    for number, column in enumerate(page.page_columns):
        assert not column[0].help_text_lines and column[0].keys, "a column begins with the name of a group"
        for line in column:
            room = page.column_width - line.help_text_x
            assert all(dialog.canvas.text_width(words, page.size) <= room for words in line.help_text_lines)
            shown += [" ".join(line.help_text_lines)] if line.help_text_lines else []
        if number and column[0].keys.endswith(", continued"):
            before = [line.keys for line in page.page_columns[number - 1] if not line.help_text_lines][-1]
            assert column[0].keys.removesuffix(", continued") == before.removesuffix(", continued")
    assert shown == [line.help_text for line in page.shown_lines if line.help_text]


def test_form_errors_persist_when_the_window_is_resized(host: FakeHost) -> None:
    dialog = MapGeneratorDialog(host)
    host.open_dialog(dialog)
    row = next(row for row in dialog.option_form.param_rows if row.param.name == "width")
    assert row.value_slider is not None
    place = row.value_slider.slider_step
    for text in ("40", "2"):
        row.number_field.set_text(text)
        row.parse_typed_text(text)
    assert row.has_invalid_text and row.value_slider.slider_step == place, (
        "the slider shows what holds, as the preview does"
    )
    dialog.rebuild_widgets()
    row = next(row for row in dialog.option_form.param_rows if row.param.name == "width")
    assert row.number_field.text == "2" and row.has_invalid_text and dialog.option_form.has_invalid_row()


@pytest.mark.parametrize(("size", "scale"), [((800, 600), 2.0), ((640, 480), 1.5)])
def test_settings_are_split_into_pages_in_small_windows(size: tuple[int, int], scale: float) -> None:
    host = FakeHost(size, scale)
    host.open_dialog(dialog := settings_of(host))
    for page in SETTINGS_PAGES:
        host.focus(next(c for c in dialog.controls if isinstance(c, ChoiceControl)))
        while dialog.shown_page != page:
            host.press("Right")
        host.frame(times=2)
        buttons = [c for c in dialog.controls if isinstance(c, Button)]
        for button in buttons:
            assert dialog.canvas.font_cache.width(button.label, "sans", dialog.to_px(14)) < button.element.rect.width
        assert bool(dialog.folder_fields) == (page == "folders") and (dialog.command_key_list is not None) == (
            page == "keys"
        )
    host.press("Escape")
    assert host.dialog is None


def test_worst_block_dialog_highlights_the_next_action(host: FakeHost) -> None:
    """Before the search there was one button that stood out: to open what nobody had found yet."""
    host.open_dialog(dialog := WorstBlockDialog(host))

    def main() -> list[str]:
        return [
            control.label
            for control in dialog.controls
            if isinstance(control, Button) and control.button_style == "main"
        ]

    assert main() == ["Search"]
    dialog._start_or_stop_search()
    assert main() == ["Open as branch"]
    dialog.close()
