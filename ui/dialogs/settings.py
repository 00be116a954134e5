"""Settings: appearance, folders, memory limits and keys. Changes apply at once."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pygame

from sim.files.disk import check_name
from sim.params import ConfigError, Param, Value
from ui.dialogs.base import FormDialog, Host, take_bottom, take_left, take_right, take_top
from ui.dialogs.file_browser import ChooseFolder
from ui.model.command import Command
from ui.model.settings import (
    HEAT_COLOURS_SET,
    HEAT_IS_LOG_SET,
    KEYFRAMES,
    LINKED,
    PREPARED,
    PREPARED_DISK,
    SHOWS_MINIMAP,
    THEME,
    UI_SCALE,
)
from ui.widgets.controls import Button, Choice, Control, Field, Text
from ui.widgets.forms import ParamForm
from ui.widgets.key_names import combination
from ui.widgets.lists import Col, Item, Rows

FORM: tuple[Param, ...] = (
    THEME,
    UI_SCALE,
    HEAT_COLOURS_SET,
    HEAT_IS_LOG_SET,
    LINKED,
    SHOWS_MINIMAP,
    KEYFRAMES,
    PREPARED,
    PREPARED_DISK,
)
FOLDERS = {"recordings": "Save pictures and videos in", "files_folder": "Open and save start in"}
"""Labels of the settings that are folders, by name of the setting."""

# Sizes in design units: widths of the form, of the folders' labels and of the button "..."; heights of all other parts
_FORM_WIDTH, _PAGES, _BUTTONS, _FOLDER, _FOLDER_LABEL, _LABEL_ABOVE, _BROWSE = 360, 30, 34, 34, 190, 22, 40
LOOK, KEYS, FILES = "look", "keys", "folders"
PAGES = (LOOK, KEYS, FILES)
PAGE_LABELS = {LOOK: "Appearance", KEYS: "Keys", FILES: "Folders"}
_MIN_WIDTH, _MIN_HEIGHT = 620, 240
"""Minimum size in design units of the area that shows all PAGES at once; a smaller area shows one page."""

# Keys that cannot be the shortcut of a command by themselves, only together with another key
_MODIFIER_KEYS = (
    *(pygame.K_LSHIFT, pygame.K_RSHIFT, pygame.K_LCTRL, pygame.K_RCTRL, pygame.K_LALT, pygame.K_RALT),
    *(pygame.K_LMETA, pygame.K_RMETA, pygame.K_CAPSLOCK, pygame.K_NUMLOCK, pygame.K_MODE),
)

Rebind = Callable[[str, str | None], None]
"""Function that assigns a key to a command id; None restores the default keys."""


class SettingsDialog(FormDialog):
    title = "Settings"
    hint = "changes apply at once and are saved"
    size = (980, 680)
    command = "settings"

    def __init__(
        self, host: Host, apply: Callable[[], None], rebind: Rebind, recordings: Path, fixed: str | None = None
    ) -> None:
        """Open the settings.

        Args:
            host: Window of the dialog.
            apply: Called after each change, to apply and save the settings.
            rebind: Function that assigns keys to commands.
            recordings: Default folder of pictures and videos.
            fixed: Message shown if the user changes that folder although it is fixed; None if it may be changed.
        """
        self.apply, self.rebind = apply, rebind
        self.usual, self.fixed = {"recordings": str(recordings), "files_folder": ""}, fixed
        self.at, self.page = 0, LOOK
        self.waits_for_key = False  # whether the next key press becomes the key of the chosen command
        self._is_changed = False  # whether the user changed a setting since the last call of the callback `apply`
        super().__init__(host)

    def build(self) -> None:
        """Create the controls of all pages, or of the chosen page only if the card is small."""
        area = self.area.copy()
        self.fields: dict[str, Field] = {}
        self.rows: Rows | None = None
        self.controls = []
        is_whole = area.width >= self.px(_MIN_WIDTH) and area.height >= self.px(_MIN_HEIGHT)
        if not is_whole:
            options = [(page, PAGE_LABELS[page]) for page in PAGES]
            self.add(Choice(self, take_top(area, self.px(_PAGES), self.px(10)), options, self.page, self._show_page))
        foot = area.copy()
        if is_whole:
            foot = take_bottom(area, 2 * self.px(_FOLDER) + self.px(8), self.px(18))
        left = take_left(area, min(self.px(_FORM_WIDTH), area.width * 3 // 5), self.px(24)) if is_whole else area.copy()
        self._build_form(left, FORM if is_whole or self.page == LOOK else ())
        if is_whole or self.page == KEYS:
            self._build_keys(area)
        if is_whole or self.page == FILES:
            for name, label in FOLDERS.items():
                if not is_whole:
                    self.add(Text(self, take_top(foot, self.px(_LABEL_ABOVE)), label))
                row = take_top(foot, self.px(_FOLDER), self.px(8))
                if is_whole:
                    self.add(Text(self, take_left(row, self.px(_FOLDER_LABEL), self.px(8)), label, middle=True))
                self._add_folder(name, row)
        self.add_footer(("Done", self.confirm, "main"))
        self.add_note()

    def _show_page(self, page: str) -> None:
        self.form.flush()
        self.page = page
        self.rebuild()

    def _build_form(self, area: pygame.Rect, params: Sequence[Param]) -> None:
        """Create the form of a page; without parameters, create an empty form that takes up no space."""
        area = area if params else pygame.Rect(*area.topleft, 1, 1)
        values = {param.name: getattr(self.host.settings, param.name) for param in params}
        self.form = ParamForm(self, area, params, values, self._changed, gives_back=True)
        for control in self.form.controls() if params else ():
            self.add(control)

    def _build_keys(self, area: pygame.Rect) -> None:
        buttons = take_top(area, self.px(_BUTTONS), self.px(10))
        half = (buttons.width - self.px(8)) // 2
        for i, (label, action) in enumerate(
            (("Change key ...", self._wait), ("Default key", self._restore_default_keys))
        ):
            place = pygame.Rect(buttons.x + i * (half + self.px(8)), buttons.y, half, buttons.height)
            self.add(Button(self, place, label, action))
        columns = [Col("Command"), Col("Key", width=150, align="right", face="mono")]
        self.rows = Rows(self, area, columns, self._items(), place=self.at, chosen=self._wait, selected=self._selected)
        self.add(self.rows)

    def _add_folder(self, name: str, rect: pygame.Rect) -> None:
        browse = take_right(rect, self.px(_BROWSE), self.px(8))
        text = getattr(self.host.settings, name)
        field = Field(self, rect, text or self.usual[name], finished=partial(self._left, name))
        self.fields[name] = field
        self.add(field)
        self.add(Button(self, browse, "...", partial(self._browse_folder, name)))

    def _items(self) -> list[Item]:
        own = self.host.settings.keys
        return [
            Item((c.help, " ".join(c.keys)), c.id, is_dim=False, roles={1: "accent"} if c.id in own else {})
            for c in self.host.commands
        ]

    @property
    def chosen(self) -> Command:
        assert self.rows is not None, "only the page of keys has a chosen command"
        return self.host.commands[self.rows.items[self.rows.place].value]

    def _selected(self, index: int) -> None:
        self.at = index
        self.waits_for_key = False
        self.complain("")

    # --- appearance -------------------------------------------------------------------------------

    def _changed(self, name: str, value: Value) -> None:
        setattr(self.host.settings, name, value)
        self._is_changed = True

    def update(self, seconds: float = 1 / 60) -> None:
        """Apply changed settings.

        This cannot be done in the callback of a control, because a new theme or scale recreates all controls.
        """
        super().update(seconds)
        self.form.update(seconds)
        if self._is_changed:
            self._is_changed = False
            self.apply()

    # --- folders ----------------------------------------------------------------------------------

    def _left(self, name: str) -> None:
        """Apply the text in a folder's field, because the user has finished editing the field."""
        self._apply_folder(name)

    def _apply_folder(self, name: str) -> bool:
        """Store the folder that the user entered in the settings if it can be used, and return whether it can."""
        text = self.fields[name].text.strip()
        if text in ("", self.usual[name]):
            self._set_folder(name, "")
            return True
        folder = Path(text).expanduser()
        problem = _folder_problem(folder, is_made=name == "recordings")
        if name == "recordings" and self.fixed:
            problem = self.fixed
        self.complain(problem)
        if not problem:
            self._set_folder(name, str(folder))
        return not problem

    def _set_folder(self, name: str, folder: str) -> None:
        if getattr(self.host.settings, name) != folder:
            self._changed(name, folder)

    def _browse_folder(self, name: str) -> None:
        def choose(folder: Path) -> None:
            if name in self.fields:  # if the window was made smaller meanwhile, the field may not be shown any more
                self.fields[name].set(str(folder))
                self._apply_folder(name)

        at = Path(self.fields[name].text.strip() or self.host.settings.last_folder).expanduser()
        self.ask(lambda host: ChooseFolder(host, at, choose))

    # --- keys -------------------------------------------------------------------------------------

    def _wait(self) -> None:
        """Ask the user to press the new key of the chosen command."""
        self.waits_for_key = True
        self.complain(f'Press the new key for "{self.chosen.help}", or Escape to keep the old one')

    def _restore_default_keys(self) -> None:
        self.rebind(self.chosen.id, None)
        self._show_keys("")

    def handle(self, event: pygame.event.Event) -> bool:
        if self.waits_for_key and event.type == pygame.KEYDOWN:
            if event.key not in _MODIFIER_KEYS:
                self._take(event)
            return True
        if self.waits_for_key and event.type == pygame.TEXTINPUT:
            return True
        return super().handle(event)

    def _take(self, event: pygame.event.Event) -> None:
        """Assign the pressed key to the chosen command, unless the key is Escape or another command uses it."""
        self.waits_for_key = False
        pressed = combination(event.key, event.mod, getattr(event, "unicode", ""))
        if pressed == "Escape":
            self.complain("")
            return
        other = self.host.commands.clash(self.chosen.id, pressed)
        if other is not None:
            self.complain(f'{pressed} is already the key of "{other.help}": change that key first')
            return
        self.rebind(self.chosen.id, pressed)
        self._show_keys("")

    def _show_keys(self, problem: str) -> None:
        assert self.rows is not None
        self.rows.set(self._items(), self.at)
        self.complain(problem)

    def key(self, event: pygame.event.Event) -> bool:
        return self.rows is not None and self.focused is self.rows and self.rows.key(event)

    def confirm(self) -> None:
        if self.rows is not None and self.focused is self.rows:
            self._wait()
        elif all(self._apply_folder(name) for name in self.fields) and not self.form.stops():
            self.host.close_dialog()

    def reveal(self, control: object) -> None:
        if isinstance(control, Control) and control in self.form.controls():
            self.form.reveal(control)


def _folder_problem(folder: Path, *, is_made: bool) -> str:
    """Return why files cannot be saved in a folder; "" if they can.

    Args:
        folder: Folder to check.
        is_made: Whether the folder will be created if it does not exist.
    """
    if not folder.is_absolute():
        return f"Enter the full path of a folder, such as ~/videos, instead of {folder}"
    try:
        check_name(folder)
    except ConfigError as error:
        return error.problems[0]
    is_new = is_made and not os.path.exists(folder)
    if os.path.isdir(folder.parent if is_new else folder):
        return ""
    return f"There is no folder {folder.parent if is_new else folder}"
