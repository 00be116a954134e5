"""Dialogs to open and save files: a list of folders and files, and a text field for a name, path or filter."""

import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pygame

from files.disk import check_file_writable, shorten_file_name
from files.shipped_files import SCENARIOS_FOLDER
from sim.params import ConfigError, clean_typed_text, similar_name_hint
from ui.dialogs.dialog_base import (
    BUTTON_HEIGHT,
    Dialog,
    DialogHost,
    cut_strip_from_bottom,
    cut_strip_from_left,
    cut_strip_from_top,
)
from ui.dialogs.question import QuestionDialog
from ui.model import opened_files
from ui.widgets.controls import Button, TextLabel
from ui.widgets.row_list import ListColumn, ListRow, RowList
from ui.widgets.text_field import TextField

_PARENT_FOLDER = ".."
_MAX_LISTED_ENTRIES = 20_000  # maximum number of listed entries of a folder
# Characters that file names must not contain on at least one operating system.
_FORBIDDEN_FILE_NAME_CHARS = '/\\:*?"<>|'


class _FileDialog(Dialog):
    """Base class of file dialogs: a list of folders and files, and a text field whose meaning subclasses define."""

    size = (940, 640)
    suffixes: Sequence[str] = ()
    confirm_button_label = "Open"
    field_label, field_label_width = "Name", 48

    def __init__(self, host: DialogHost, folder: Path) -> None:
        self.shown_folder = folder
        self.selected_index = 1  # index of the selected entry; entry 0 is the parent folder
        self.problem = ""
        super().__init__(host)

    # --- widgets ----------------------------------------------------------------------------------

    def build_controls(self) -> None:
        area = self.content_rect
        self.folder_label = TextLabel(
            self,
            cut_strip_from_top(area, self.to_px(22), self.to_px(6)),
            str(self.shown_folder),
            role="dim",
            face="mono",
            middle=True,
        )
        name_row = cut_strip_from_bottom(area, self.to_px(36), self.to_px(10))
        folders = self._shortcut_folders()
        shows_places = area.width > self.to_px(620)
        side = cut_strip_from_left(area, self.to_px(170), self.to_px(16)) if shows_places else pygame.Rect(0, 0, 0, 0)
        size, changed = (
            ListColumn(width=96, text_align="right", font_face="mono", colour_name="dim"),
            ListColumn(width=150, text_align="right", colour_name="dim"),
        )
        self.entry_list = RowList(
            self,
            area,
            [ListColumn(), size, changed],
            self._file_list_rows(),
            index=self.selected_index,
            chosen=self.on_confirm,
            selected=self._on_selected,
            empty="Nothing in this folder matches",
        )
        label = TextLabel(
            self,
            cut_strip_from_left(name_row, self.to_px(self.field_label_width), self.to_px(8)),
            self.field_label,
            role="dim",
            middle=True,
        )
        self.path_field = TextField(self, name_row, self.field_text, self._on_text_typed)
        self.controls = [self.path_field, self.entry_list, label]
        if shows_places:
            self._add_folder_buttons(side, folders)
        self.add(self.folder_label)
        self.add_footer_buttons(("Cancel", self.cancel, ""), (self.confirm_button_label, self.on_confirm, "main"))
        self.add_problem_note()
        if self.field_text:
            self._select_file_stem()

    def _add_folder_buttons(self, side: pygame.Rect, folders: list[tuple[str, Path]]) -> None:
        for label, path in folders:
            rect = cut_strip_from_top(side, self.to_px(BUTTON_HEIGHT - 2), self.to_px(6))
            self.add(Button(self, rect, label, partial(self.show_folder, path)))

    def _shortcut_folders(self) -> list[tuple[str, Path]]:
        folders = [
            ("Home", Path(os.path.expanduser("~"))),
            ("Current folder", Path.cwd()),
            ("Examples", SCENARIOS_FOLDER),
            ("Shipped maps", opened_files.MAPS_FOLDER),
        ]
        recent = list(dict.fromkeys(Path(name).parent for name in self.host.settings.recent_files))
        listed_paths = {path for _, path in folders}
        folders += [(path.name or str(path), path) for path in recent if path not in listed_paths][:4]
        return [(label, path) for label, path in folders if os.path.isdir(path)]

    @property
    def field_text(self) -> str:
        raise NotImplementedError

    def _select_file_stem(self) -> None:
        """Select the file name without its suffix in the text field, so that typing replaces the name."""

    # --- the list ---------------------------------------------------------------------------------

    def _file_list_rows(self) -> list[ListRow]:
        """Return the rows of the list: parent folder, folders, and files of known kinds that match the filter."""
        self.problem = ""
        entries = self._folder_entries()
        wanted = self.filter_text.lower()
        has_parent = self.shown_folder.parent != self.shown_folder and not wanted
        items = [ListRow((_PARENT_FOLDER, "", ""), self.shown_folder.parent)] if has_parent else []
        items += [
            ListRow((f"{entry.name}/", "", ""), Path(entry.path))
            for entry in entries
            if _is_folder(entry) and wanted in entry.name.lower()
        ]
        return items + [
            _file_row(entry)
            for entry in entries
            if not _is_folder(entry) and self._is_known_file_kind(entry.name) and wanted in entry.name.lower()
        ]

    def _folder_entries(self) -> list["os.DirEntry[str]"]:
        try:
            with os.scandir(self.shown_folder) as scanned:
                entries = [entry for entry, _ in zip(scanned, range(_MAX_LISTED_ENTRIES), strict=False)]
        except OSError as error:
            self.problem = f"{self.shown_folder}: {error.strerror or error}"
            return []
        return sorted(
            (entry for entry in entries if not entry.name.startswith(".")), key=lambda entry: entry.name.lower()
        )

    def _is_known_file_kind(self, name: str) -> bool:
        return name.lower().endswith(tuple(self.suffixes))

    filter_text = ""

    def update_entry_list(self) -> None:
        self.entry_list.set_rows(self._file_list_rows(), notifies=False)
        self.selected_index = self.entry_list.selected_index
        self.folder_label.set_text(str(self.shown_folder))
        self.show_problem(self.problem)

    def _on_selected(self, index: int) -> None:
        self.selected_index = index

    def _on_text_typed(self, text: str) -> None:
        raise NotImplementedError

    def show_folder(self, folder: Path) -> None:
        """Show another folder, and select the previous one if it is listed there."""
        before = self.shown_folder
        self.shown_folder = folder
        self.update_field_for_folder()
        self.update_entry_list()
        came_from = next((i for i, item in enumerate(self.entry_list.items) if item.value == before), None)
        if came_from is not None:
            self.entry_list.select_row(came_from)
        elif len(self.entry_list.items) > 1:
            self.entry_list.select_row(1)

    def update_field_for_folder(self) -> None:
        """Update the text field for a new folder; called before the list of the folder is filled."""

    def handle_unused_key(self, event: pygame.event.Event) -> bool:
        is_up = event.key == pygame.K_UP and event.mod & pygame.KMOD_ALT
        is_back = event.key == pygame.K_BACKSPACE and (
            self.focused_control is not self.path_field or not self.path_field.text
        )
        if is_up or is_back:
            self.show_folder(self.shown_folder.parent)
            return True
        if self.focused_control is self.path_field:
            moves = (pygame.K_UP, pygame.K_DOWN, pygame.K_PAGEUP, pygame.K_PAGEDOWN)
            return event.key in moves and self.entry_list.handle_key(event)
        return False

    def path_from_text(self, text: str) -> Path:
        """Convert a user's text to a path: absolute, in the home folder ("~/..."), or else in the shown folder."""
        try:
            return Path(os.path.normpath(self.shown_folder / Path(text).expanduser()))
        except RuntimeError:  # the text begins with "~name", and there is no user with this name
            return self.shown_folder / text


class OpenFileDialog(_FileDialog):
    title = "Open"
    hint = "a scenario (.yaml), a map (.map, .png, .pgm, .tmj, ROS .yaml) or a problem list (.scen)"
    suffixes = opened_files.KNOWN_SUFFIXES
    command_id = "open"
    field_label, field_label_width = "Filter or path", 96

    def __init__(self, host: DialogHost) -> None:
        self.entered_text = ""
        super().__init__(host, host.settings.initial_folder)

    @property
    def field_text(self) -> str:
        return self.entered_text

    @property
    def filter_text(self) -> str:  # type: ignore[override]
        return "" if _looks_like_path(self.entered_text) else self.entered_text.strip()

    def _on_text_typed(self, text: str) -> None:
        self.entered_text = text
        self.update_entry_list()

    def update_field_for_folder(self) -> None:
        self.entered_text = ""
        self.path_field.set_text("")

    def on_confirm(self) -> None:
        chosen = self.path_from_text(self.entered_text.strip()) if _looks_like_path(self.entered_text) else None
        item = self.entry_list.selected_row
        path = chosen or (item.value if item else None)
        if path is None:
            self.show_problem(self._no_match_message())
            return
        if os.path.isdir(path):
            self.show_folder(path)
        elif chosen and not os.path.exists(chosen):
            self.show_problem(f"There is no file {chosen}")
        else:
            self.host.close_dialog()
            self.host.open_path(path)

    def _no_match_message(self) -> str:
        """Return the message that no entry matches the filter, with a suggestion of the most similar name."""
        known = [
            entry.name for entry in self._folder_entries() if _is_folder(entry) or self._is_known_file_kind(entry.name)
        ]
        return f"Nothing here matches '{self.filter_text}'{similar_name_hint(self.filter_text, known)}"


class FolderChooser(_FileDialog):
    title = "Choose a folder"
    confirm_button_label = "Choose"
    field_label, field_label_width = "Folder", 60

    def __init__(self, host: DialogHost, folder: Path, choose: Callable[[Path], None]) -> None:
        self.entered_text, self.on_folder_chosen = str(folder), choose
        super().__init__(host, folder if os.path.isdir(folder) else Path.cwd())

    @property
    def field_text(self) -> str:
        return self.entered_text

    def _on_text_typed(self, text: str) -> None:
        self.entered_text = text
        self.show_problem("")

    def update_field_for_folder(self) -> None:
        self.entered_text = str(self.shown_folder)
        self.path_field.set_text(self.entered_text)

    def on_confirm(self) -> None:
        """Show the selected folder if the list has the focus; otherwise choose the folder in the field."""
        item = self.entry_list.selected_row
        if self.focused_control is self.entry_list and item is not None:
            self.show_folder(item.value)
            return
        folder = self.path_from_text(self.entered_text.strip())
        if not os.path.isdir(folder):
            self.show_problem(f"There is no folder {folder}")
            return
        self.host.close_dialog()
        self.on_folder_chosen(folder)


class SaveFileDialog(_FileDialog):
    confirm_button_label = "Save"

    def __init__(self, host: DialogHost, title: str, suffix: str, name: str, save: Callable[[Path], None]) -> None:
        """Ask where to save a file.

        Args:
            host: Window of the dialog.
            title: Title of the dialog.
            suffix: Suffix of the file, with its dot.
            name: Suggested name.
            save: Called with a path that has the suffix, after the user has agreed to overwrite an existing file. If it
                raises a ConfigError, the dialog shows the problem and stays open.
        """
        self.title, self.suffix, self.save_callback = title, suffix, save
        self.suffixes = (suffix,)
        self.name = f"{valid_file_stem(name, suffix)}{suffix}"
        folder = host.settings.initial_folder
        super().__init__(host, Path.cwd() if opened_files.is_shipped_file(folder) else folder)

    @property
    def field_text(self) -> str:
        return self.name

    _selects_stem = False  # whether to select the file name without its suffix when the field gets the focus

    def _select_file_stem(self) -> None:
        self._selects_stem = True

    def _notify_of_focus(self) -> None:
        super()._notify_of_focus()
        if self._selects_stem and self.focused_control is self.path_field:
            self._selects_stem = False
            stem = len(self.name) - len(self.suffix)
            self.path_field.select_range(0, max(0, stem))

    def _on_text_typed(self, text: str) -> None:
        self.name = text
        self.show_problem("")

    def _on_selected(self, index: int) -> None:
        super()._on_selected(index)
        item = self.entry_list.items[index]
        if not os.path.isdir(item.value):
            self.name = item.value.name
            self.path_field.set_text(self.name)

    def on_confirm(self) -> None:
        item = self.entry_list.selected_row
        if self.focused_control is self.entry_list and item and os.path.isdir(item.value):
            self.show_folder(item.value)
            return
        text = self.name.strip()
        if not text:
            self.show_problem("Enter a file name")
            return
        path = self.path_from_text(text)
        if os.path.isdir(path):
            self.show_folder(path)
            return
        path = opened_files.path_with_suffix(path, self.suffix)
        if not os.path.isdir(path.parent):
            self.show_problem(f"There is no folder {path.parent}")
        elif self._check_can_write_file(path):
            self._ask_to_overwrite(path) if os.path.exists(path) else self._save_and_close(path)

    def _check_can_write_file(self, path: Path) -> bool:
        """Return whether a file can be written to a path; if it cannot, show the reason.

        The check takes place before saving, because a save in the background cannot show its error in this dialog.
        """
        try:
            check_file_writable(path)
        except ConfigError as error:
            self.show_problem("\n".join(error.problems))
            return False
        return True

    def _ask_to_overwrite(self, path: Path) -> None:
        answers = [("Overwrite", lambda: self._save_and_close(path), "danger"), ("Cancel", _keep_dialog_open, "main")]
        changed = _modification_time_text(os.path.getmtime(path))
        text = f"{path.name} already exists; it was last changed on {changed}. Its present contents would be lost."
        self.open_inner_dialog(lambda host: QuestionDialog(host, "Overwrite file?", text, answers))

    def _save_and_close(self, path: Path) -> None:
        """Save to a path and close the dialog; if saving fails, show why and keep the dialog open."""
        try:
            self.save_callback(path)
        except ConfigError as error:
            self.show_problem("\n".join(error.problems))
            return
        if self.is_open:  # the callback may have opened another dialog
            self.host.close_dialog()


def valid_file_stem(name: str, suffix: str) -> str:
    """Return the name without its suffix, changed so that it is a valid file name on every system."""
    stem = name[: -len(suffix)] if name.lower().endswith(suffix) else name
    printable = clean_typed_text(
        "".join("-" if char in _FORBIDDEN_FILE_NAME_CHARS or not char.isprintable() else char for char in stem)
    )
    return shorten_file_name(printable.strip(" .-")[:100], 200) or "untitled"


def _looks_like_path(text: str) -> bool:
    return text.startswith("~") or "/" in text or os.sep in text or text.strip() == _PARENT_FOLDER


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _file_row(entry: "os.DirEntry[str]") -> ListRow:
    try:
        status = entry.stat()
    except OSError:
        return ListRow((entry.name, "", "missing"), Path(entry.path), is_dim=True)
    return ListRow(
        (entry.name, _file_size_text(status.st_size), _modification_time_text(status.st_mtime)), Path(entry.path)
    )


def _file_size_text(count: int) -> str:
    if count < 1000:
        return f"{count} B"
    return f"{count / 1000:,.0f} kB" if count < 10_000_000 else f"{count / 1e6:,.0f} MB"


def _modification_time_text(seconds: float) -> str:
    """Return a time (seconds since 1970) as local date and time."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _keep_dialog_open() -> None:
    """Do nothing for the answer "Cancel", so that the file dialog stays open."""
