"""Dialogs to open and save files: a list of folders and files, and a text field for a name, path or filter."""

import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pygame

from sim.files.disk import check_place, shortened
from sim.files.examples import EXAMPLES
from sim.params import ConfigError, nearest, typed_text
from ui.dialogs.base import BUTTON_HEIGHT, Dialog, Host, take_bottom, take_left, take_top
from ui.dialogs.question import Question
from ui.model import files
from ui.widgets.controls import Button, Field, Text
from ui.widgets.lists import Col, Item, Rows

_PARENT_FOLDER = ".."
_MAX_ENTRIES = 20_000  # maximum number of listed entries of a folder
_FORBIDDEN_CHARS = '/\\:*?"<>|'  # characters that file names must not contain on at least one operating system


class _FileDialog(Dialog):
    """Base class of file dialogs: a list of folders and files, and a text field whose meaning subclasses define."""

    size = (940, 640)
    suffixes: Sequence[str] = ()
    action = "Open"
    label, label_width = "Name", 48

    def __init__(self, host: Host, folder: Path) -> None:
        self.folder = folder
        self.at = 1  # index of the selected entry; entry 0 is the parent folder
        self.problem = ""
        super().__init__(host)

    # --- widgets ----------------------------------------------------------------------------------

    def build(self) -> None:
        area = self.area
        self.crumb = Text(
            self, take_top(area, self.px(22), self.px(6)), str(self.folder), role="dim", face="mono", middle=True
        )
        foot = take_bottom(area, self.px(36), self.px(10))
        places = self._places()
        shows_places = area.width > self.px(620)
        side = take_left(area, self.px(170), self.px(16)) if shows_places else pygame.Rect(0, 0, 0, 0)
        size, changed = Col(width=96, align="right", face="mono", role="dim"), Col(width=150, align="right", role="dim")
        self.rows = Rows(
            self,
            area,
            [Col(), size, changed],
            self._items(),
            place=self.at,
            chosen=self.confirm,
            selected=self._selected,
            empty="Nothing in this folder matches",
        )
        label = Text(self, take_left(foot, self.px(self.label_width), self.px(8)), self.label, role="dim", middle=True)
        self.field = Field(self, foot, self.field_text, self._typed)
        self.controls = [self.field, self.rows, label]
        if shows_places:
            self._add_place_buttons(side, places)
        self.add(self.crumb)
        self.add_footer(("Cancel", self.cancel, ""), (self.action, self.confirm, "main"))
        self.add_note()
        if self.field_text:
            self._select_stem()

    def _add_place_buttons(self, side: pygame.Rect, places: list[tuple[str, Path]]) -> None:
        for label, path in places:
            rect = take_top(side, self.px(BUTTON_HEIGHT - 2), self.px(6))
            self.add(Button(self, rect, label, partial(self.go, path)))

    def _places(self) -> list[tuple[str, Path]]:
        named = [
            ("Home", Path(os.path.expanduser("~"))),
            ("Current folder", Path.cwd()),
            ("Examples", EXAMPLES),
            ("Shipped maps", files.MAPS_FOLDER),
        ]
        recent = list(dict.fromkeys(Path(name).parent for name in self.host.settings.recent_files))
        known = {path for _, path in named}
        named += [(path.name or str(path), path) for path in recent if path not in known][:4]
        return [(label, path) for label, path in named if os.path.isdir(path)]

    @property
    def field_text(self) -> str:
        raise NotImplementedError

    def _select_stem(self) -> None:
        """Select the file name without its suffix in the text field, so that typing replaces the name."""

    # --- the list ---------------------------------------------------------------------------------

    def _items(self) -> list[Item]:
        """Return the rows of the list: parent folder, folders, and files of known kinds that match the filter."""
        self.problem = ""
        entries = self._entries()
        wanted = self.filter_text.lower()
        has_parent = self.folder.parent != self.folder and not wanted
        items = [Item((_PARENT_FOLDER, "", ""), self.folder.parent)] if has_parent else []
        items += [
            Item((f"{entry.name}/", "", ""), Path(entry.path))
            for entry in entries
            if _is_folder(entry) and wanted in entry.name.lower()
        ]
        return items + [
            _file_item(entry)
            for entry in entries
            if not _is_folder(entry) and self._is_shown(entry.name) and wanted in entry.name.lower()
        ]

    def _entries(self) -> list["os.DirEntry[str]"]:
        try:
            with os.scandir(self.folder) as found:
                entries = [entry for entry, _ in zip(found, range(_MAX_ENTRIES), strict=False)]
        except OSError as error:
            self.problem = f"{self.folder}: {error.strerror or error}"
            return []
        return sorted(
            (entry for entry in entries if not entry.name.startswith(".")), key=lambda entry: entry.name.lower()
        )

    def _is_shown(self, name: str) -> bool:
        return name.lower().endswith(tuple(self.suffixes))

    filter_text = ""

    def refill(self) -> None:
        self.rows.set(self._items(), tells=False)
        self.at = self.rows.place
        self.crumb.set(str(self.folder))
        self.complain(self.problem)

    def _selected(self, index: int) -> None:
        self.at = index

    def _typed(self, text: str) -> None:
        raise NotImplementedError

    def go(self, folder: Path) -> None:
        """Show another folder, and select the previous one if it is listed there."""
        before = self.folder
        self.folder = folder
        self.entered()
        self.refill()
        came_from = next((i for i, item in enumerate(self.rows.items) if item.value == before), None)
        if came_from is not None:
            self.rows.select(came_from)
        elif len(self.rows.items) > 1:
            self.rows.select(1)

    def entered(self) -> None:
        """Update the text field for a new folder; called before the list of the folder is filled."""

    def key(self, event: pygame.event.Event) -> bool:
        is_up = event.key == pygame.K_UP and event.mod & pygame.KMOD_ALT
        is_back = event.key == pygame.K_BACKSPACE and (self.focused is not self.field or not self.field.text)
        if is_up or is_back:
            self.go(self.folder.parent)
            return True
        if self.focused is self.field:
            moves = (pygame.K_UP, pygame.K_DOWN, pygame.K_PAGEUP, pygame.K_PAGEDOWN)
            return event.key in moves and self.rows.key(event)
        return False

    def as_path(self, text: str) -> Path:
        """Convert a user's text to a path: absolute, in the home folder ("~/..."), or else in the shown folder."""
        try:
            return Path(os.path.normpath(self.folder / Path(text).expanduser()))
        except RuntimeError:  # the text begins with "~name", and there is no user with this name
            return self.folder / text


class OpenFile(_FileDialog):
    title = "Open"
    hint = "a scenario (.yaml), a map (.map, .png, .pgm, .tmj, ROS .yaml) or a problem list (.scen)"
    suffixes = files.KNOWN_SUFFIXES
    command = "open"
    label, label_width = "Filter or path", 96

    def __init__(self, host: Host) -> None:
        self.text = ""
        super().__init__(host, host.settings.last_folder)

    @property
    def field_text(self) -> str:
        return self.text

    @property
    def filter_text(self) -> str:  # type: ignore[override]
        return "" if _looks_like_path(self.text) else self.text.strip()

    def _typed(self, text: str) -> None:
        self.text = text
        self.refill()

    def entered(self) -> None:
        self.text = ""
        self.field.set("")

    def confirm(self) -> None:
        chosen = self.as_path(self.text.strip()) if _looks_like_path(self.text) else None
        item = self.rows.item
        path = chosen or (item.value if item else None)
        if path is None:
            self.complain(self._no_match_message())
            return
        if os.path.isdir(path):
            self.go(path)
        elif chosen and not os.path.exists(chosen):
            self.complain(f"There is no file {chosen}")
        else:
            self.host.close_dialog()
            self.host.open_path(path)

    def _no_match_message(self) -> str:
        """Return the message that no entry matches the filter, with a suggestion of the most similar name."""
        known = [entry.name for entry in self._entries() if _is_folder(entry) or self._is_shown(entry.name)]
        return f"Nothing here matches '{self.filter_text}'{nearest(self.filter_text, known)}"


class ChooseFolder(_FileDialog):
    title = "Choose a folder"
    action = "Choose"
    label, label_width = "Folder", 60

    def __init__(self, host: Host, folder: Path, choose: Callable[[Path], None]) -> None:
        self.text, self.choose = str(folder), choose
        super().__init__(host, folder if os.path.isdir(folder) else Path.cwd())

    @property
    def field_text(self) -> str:
        return self.text

    def _typed(self, text: str) -> None:
        self.text = text
        self.complain("")

    def entered(self) -> None:
        self.text = str(self.folder)
        self.field.set(self.text)

    def confirm(self) -> None:
        """Show the selected folder if the list has the focus; otherwise choose the folder in the field."""
        item = self.rows.item
        if self.focused is self.rows and item is not None:
            self.go(item.value)
            return
        folder = self.as_path(self.text.strip())
        if not os.path.isdir(folder):
            self.complain(f"There is no folder {folder}")
            return
        self.host.close_dialog()
        self.choose(folder)


class SaveFile(_FileDialog):
    action = "Save"

    def __init__(self, host: Host, title: str, suffix: str, name: str, save: Callable[[Path], None]) -> None:
        """Ask where to save a file.

        Args:
            host: Window of the dialog.
            title: Title of the dialog.
            suffix: Suffix of the file, with its dot.
            name: Suggested name.
            save: Called with a path that has the suffix, after the user has agreed to overwrite an existing file. If it
                raises a ConfigError, the dialog shows the problem and stays open.
        """
        self.title, self.suffix, self.save = title, suffix, save
        self.suffixes = (suffix,)
        self.name = f"{clean_name(name, suffix)}{suffix}"
        folder = host.settings.last_folder
        super().__init__(host, Path.cwd() if files.is_shipped(folder) else folder)

    @property
    def field_text(self) -> str:
        return self.name

    _selects_stem = False  # whether to select the file name without its suffix when the field gets the focus

    def _select_stem(self) -> None:
        self._selects_stem = True

    def _apply_focus(self) -> None:
        super()._apply_focus()
        if self._selects_stem and self.focused is self.field:
            self._selects_stem = False
            stem = len(self.name) - len(self.suffix)
            self.field.element.select_range = [0, max(0, stem)]
            self.field.element.edit_position = max(0, stem)

    def _typed(self, text: str) -> None:
        self.name = text
        self.complain("")

    def _selected(self, index: int) -> None:
        super()._selected(index)
        item = self.rows.items[index]
        if not os.path.isdir(item.value):
            self.name = item.value.name
            self.field.set(self.name)

    def confirm(self) -> None:
        item = self.rows.item
        if self.focused is self.rows and item and os.path.isdir(item.value):
            self.go(item.value)
            return
        text = self.name.strip()
        if not text:
            self.complain("Enter a file name")
            return
        path = self.as_path(text)
        if os.path.isdir(path):
            self.go(path)
            return
        path = files.with_suffix(path, self.suffix)
        if not os.path.isdir(path.parent):
            self.complain(f"There is no folder {path.parent}")
        elif self._can_write(path):
            self._ask_to_overwrite(path) if os.path.exists(path) else self._finish(path)

    def _can_write(self, path: Path) -> bool:
        """Return whether a file can be written to a path; if it cannot, show the reason.

        The check takes place before saving, because a save in the background cannot show its error in this dialog.
        """
        try:
            check_place(path)
        except ConfigError as error:
            self.complain("\n".join(error.problems))
            return False
        return True

    def _ask_to_overwrite(self, path: Path) -> None:
        answers = [("Overwrite", lambda: self._finish(path), "danger"), ("Cancel", _nothing, "main")]
        changed = _when(os.path.getmtime(path))
        text = f"{path.name} already exists; it was last changed on {changed}. Its present contents would be lost."
        self.ask(lambda host: Question(host, "Overwrite file?", text, answers))

    def _finish(self, path: Path) -> None:
        """Save to a path and close the dialog; if saving fails, show why and keep the dialog open."""
        try:
            self.save(path)
        except ConfigError as error:
            self.complain("\n".join(error.problems))
            return
        if self.is_open:  # the callback may have opened another dialog
            self.host.close_dialog()


def clean_name(name: str, suffix: str) -> str:
    """Return the name without its suffix, changed so that it is a valid file name on every system."""
    stem = name[: -len(suffix)] if name.lower().endswith(suffix) else name
    kept = typed_text("".join("-" if char in _FORBIDDEN_CHARS or not char.isprintable() else char for char in stem))
    return shortened(kept.strip(" .-")[:100], 200) or "untitled"


def _looks_like_path(text: str) -> bool:
    return text.startswith("~") or "/" in text or os.sep in text or text.strip() == _PARENT_FOLDER


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _file_item(entry: "os.DirEntry[str]") -> Item:
    try:
        status = entry.stat()
    except OSError:
        return Item((entry.name, "", "missing"), Path(entry.path), is_dim=True)
    return Item((entry.name, _size(status.st_size), _when(status.st_mtime)), Path(entry.path))


def _size(count: int) -> str:
    if count < 1000:
        return f"{count} B"
    return f"{count / 1000:,.0f} kB" if count < 10_000_000 else f"{count / 1e6:,.0f} MB"


def _when(seconds: float) -> str:
    """Return a time (seconds since 1970) as local date and time."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _nothing() -> None:
    """Do nothing for the answer "Cancel", so that the file dialog stays open."""
