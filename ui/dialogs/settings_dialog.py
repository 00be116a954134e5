"""Settings: appearance, folders, memory limits and keys. Changes apply at once."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pygame

from files.disk import check_file_name_lengths
from sim.params import ConfigError, Param, Value
from ui.dialogs.dialog_base import (
    DialogHost,
    FormDialog,
    cut_strip_from_bottom,
    cut_strip_from_left,
    cut_strip_from_right,
    cut_strip_from_top,
)
from ui.dialogs.file_dialogs import FolderChooser
from ui.model.settings import (
    HEAT_COLOURS_SETTING,
    HEAT_IS_LOG_SETTING,
    KEYFRAME_MB,
    LINKED_CAMERAS,
    PREPARED_DISK_MB,
    PREPARED_MB,
    SHOWS_MINIMAP,
    THEME,
    UI_SCALE,
)
from ui.model.ui_command import UiCommand
from ui.widgets.controls import Button, ChoiceControl, Control, TextLabel
from ui.widgets.key_names import key_press_name
from ui.widgets.param_form import ParamForm
from ui.widgets.row_list import ListColumn, ListRow, RowList
from ui.widgets.text_field import TextField

SETTINGS_FORM_PARAMS: tuple[Param, ...] = (
    THEME,
    UI_SCALE,
    HEAT_COLOURS_SETTING,
    HEAT_IS_LOG_SETTING,
    LINKED_CAMERAS,
    SHOWS_MINIMAP,
    KEYFRAME_MB,
    PREPARED_MB,
    PREPARED_DISK_MB,
)
FOLDER_LABELS = {"recordings": "Save pictures and videos in", "files_folder": "Open and save start in"}
"""Labels of the settings that are folders, by name of the setting."""

# Sizes in design units: widths of the form, of the folders' labels and of the button "..."; heights of all other parts
(
    _FORM_WIDTH,
    _PAGE_CHOICE_HEIGHT,
    _BUTTON_ROW_HEIGHT,
    _FOLDER_ROW_HEIGHT,
    _FOLDER_LABEL_WIDTH,
    _LABEL_ABOVE_HEIGHT,
    _BROWSE_BUTTON_WIDTH,
) = 360, 30, 34, 34, 190, 22, 40
APPEARANCE_PAGE, KEYS_PAGE, FOLDERS_PAGE = "look", "keys", "folders"
SETTINGS_PAGES = (APPEARANCE_PAGE, KEYS_PAGE, FOLDERS_PAGE)
PAGE_LABELS = {APPEARANCE_PAGE: "Appearance", KEYS_PAGE: "Keys", FOLDERS_PAGE: "Folders"}
_MIN_WIDTH_FOR_ALL_PAGES, _MIN_HEIGHT_FOR_ALL_PAGES = 620, 240
"""Minimum size in design units of the area that shows all PAGES at once; a smaller area shows one page."""

# Keys that cannot be the shortcut of a command by themselves, only together with another key
_MODIFIER_KEYS = (
    *(pygame.K_LSHIFT, pygame.K_RSHIFT, pygame.K_LCTRL, pygame.K_RCTRL, pygame.K_LALT, pygame.K_RALT),
    *(pygame.K_LMETA, pygame.K_RMETA, pygame.K_CAPSLOCK, pygame.K_NUMLOCK, pygame.K_MODE),
)

RebindCallback = Callable[[str, str | None], None]
"""Function that assigns a key to a command id; None restores the default keys."""


class SettingsDialog(FormDialog):
    title = "Settings"
    hint = "changes apply at once and are saved"
    size = (980, 680)
    command_id = "settings"

    def __init__(
        self,
        host: DialogHost,
        apply: Callable[[], None],
        rebind: RebindCallback,
        recordings: Path,
        fixed: str | None = None,
    ) -> None:
        """Open the settings.

        Args:
            host: Window of the dialog.
            apply: Called after each change, to apply and save the settings.
            rebind: Function that assigns keys to commands.
            recordings: Default folder of pictures and videos.
            fixed: Message shown if the user changes that folder although it is fixed; None if it may be changed.
        """
        self.apply_settings_callback, self.rebind_key_callback = apply, rebind
        self.default_folders, self.fixed_folder_message = {"recordings": str(recordings), "files_folder": ""}, fixed
        self.selected_index, self.shown_page = 0, APPEARANCE_PAGE
        self.waits_for_key = False  # whether the next key press becomes the key of the chosen command
        # Whether the user changed a setting since the last call of the callback `apply_settings_callback`.
        self._has_unapplied_changes = False
        super().__init__(host)

    def build_controls(self) -> None:
        """Create the controls of all pages, or of the chosen page only if the card is small."""
        area = self.content_rect.copy()
        self.folder_fields: dict[str, TextField] = {}
        self.command_key_list: RowList | None = None
        self.controls = []
        is_whole = area.width >= self.to_px(_MIN_WIDTH_FOR_ALL_PAGES) and area.height >= self.to_px(
            _MIN_HEIGHT_FOR_ALL_PAGES
        )
        if not is_whole:
            options = [(page, PAGE_LABELS[page]) for page in SETTINGS_PAGES]
            self.add(
                ChoiceControl(
                    self,
                    cut_strip_from_top(area, self.to_px(_PAGE_CHOICE_HEIGHT), self.to_px(10)),
                    options,
                    self.shown_page,
                    self._show_settings_page,
                )
            )
        footer = area.copy()
        if is_whole:
            footer = cut_strip_from_bottom(area, 2 * self.to_px(_FOLDER_ROW_HEIGHT) + self.to_px(8), self.to_px(18))
        left = (
            cut_strip_from_left(area, min(self.to_px(_FORM_WIDTH), area.width * 3 // 5), self.to_px(24))
            if is_whole
            else area.copy()
        )
        self._build_form(left, SETTINGS_FORM_PARAMS if is_whole or self.shown_page == APPEARANCE_PAGE else ())
        if is_whole or self.shown_page == KEYS_PAGE:
            self._build_keys_page(area)
        if is_whole or self.shown_page == FOLDERS_PAGE:
            for name, label in FOLDER_LABELS.items():
                if not is_whole:
                    self.add(TextLabel(self, cut_strip_from_top(footer, self.to_px(_LABEL_ABOVE_HEIGHT)), label))
                row = cut_strip_from_top(footer, self.to_px(_FOLDER_ROW_HEIGHT), self.to_px(8))
                if is_whole:
                    self.add(
                        TextLabel(
                            self,
                            cut_strip_from_left(row, self.to_px(_FOLDER_LABEL_WIDTH), self.to_px(8)),
                            label,
                            middle=True,
                        )
                    )
                self._add_folder_field(name, row)
        self.add_footer_buttons(("Done", self.on_confirm, "main"))
        self.add_problem_note()

    def _show_settings_page(self, page: str) -> None:
        self.option_form.report_pending_changes()
        self.shown_page = page
        self.rebuild_widgets()

    def _build_form(self, area: pygame.Rect, params: Sequence[Param]) -> None:
        """Create the form of a page; without parameters, create an empty form that takes up no space."""
        area = area if params else pygame.Rect(*area.topleft, 1, 1)
        values = {param.name: getattr(self.host.settings, param.name) for param in params}
        self.option_form = ParamForm(self, area, params, values, self._on_setting_changed, gives_back=True)
        for control in self.option_form.controls() if params else ():
            self.add(control)

    def _build_keys_page(self, area: pygame.Rect) -> None:
        buttons = cut_strip_from_top(area, self.to_px(_BUTTON_ROW_HEIGHT), self.to_px(10))
        half = (buttons.width - self.to_px(8)) // 2
        for i, (label, action) in enumerate(
            (("Change key ...", self._ask_for_new_key), ("Default key", self._restore_default_keys))
        ):
            rect = pygame.Rect(buttons.x + i * (half + self.to_px(8)), buttons.y, half, buttons.height)
            self.add(Button(self, rect, label, action))
        columns = [ListColumn("Command"), ListColumn("Key", width=150, text_align="right", font_face="mono")]
        self.command_key_list = RowList(
            self,
            area,
            columns,
            self._command_key_rows(),
            index=self.selected_index,
            chosen=self._ask_for_new_key,
            selected=self._on_selected,
        )
        self.add(self.command_key_list)

    def _add_folder_field(self, name: str, rect: pygame.Rect) -> None:
        browse = cut_strip_from_right(rect, self.to_px(_BROWSE_BUTTON_WIDTH), self.to_px(8))
        text = getattr(self.host.settings, name)
        field = TextField(
            self, rect, text or self.default_folders[name], finished=partial(self._on_folder_field_left, name)
        )
        self.folder_fields[name] = field
        self.add(field)
        self.add(Button(self, browse, "...", partial(self._open_folder_chooser, name)))

    def _command_key_rows(self) -> list[ListRow]:
        user_keys = self.host.settings.keys
        return [
            ListRow(
                (c.title, " ".join(c.keys)), c.id, is_dim=False, colour_names={1: "accent"} if c.id in user_keys else {}
            )
            for c in self.host.command_table
        ]

    @property
    def selected_command(self) -> UiCommand:
        assert self.command_key_list is not None, "only the page of keys has a chosen command"
        return self.host.command_table[self.command_key_list.items[self.command_key_list.selected_index].value]

    def _on_selected(self, index: int) -> None:
        self.selected_index = index
        self.waits_for_key = False
        self.show_problem("")

    # --- appearance -------------------------------------------------------------------------------

    def _on_setting_changed(self, name: str, value: Value) -> None:
        setattr(self.host.settings, name, value)
        self._has_unapplied_changes = True

    def update_dialog(self, seconds: float = 1 / 60) -> None:
        """Apply changed settings.

        This cannot be done in the callback of a control, because a new theme or scale recreates all controls.
        """
        super().update_dialog(seconds)
        self.option_form.update_rows(seconds)
        if self._has_unapplied_changes:
            self._has_unapplied_changes = False
            self.apply_settings_callback()

    # --- folders ----------------------------------------------------------------------------------

    def _on_folder_field_left(self, name: str) -> None:
        """Apply the text in a folder's field, because the user has finished editing the field."""
        self._apply_entered_folder(name)

    def _apply_entered_folder(self, name: str) -> bool:
        """Store the folder that the user entered in the settings if it can be used, and return whether it can."""
        text = self.folder_fields[name].text.strip()
        if text in ("", self.default_folders[name]):
            self._store_folder_setting(name, "")
            return True
        folder = Path(text).expanduser()
        problem = _unusable_folder_reason(folder, is_made=name == "recordings")
        if name == "recordings" and self.fixed_folder_message:
            problem = self.fixed_folder_message
        self.folder_fields[name].set_problem(bool(problem))
        self.show_problem(problem)
        if not problem:
            self._store_folder_setting(name, str(folder))
        return not problem

    def _store_folder_setting(self, name: str, folder: str) -> None:
        if getattr(self.host.settings, name) != folder:
            self._on_setting_changed(name, folder)

    def _open_folder_chooser(self, name: str) -> None:
        def choose(folder: Path) -> None:
            if (
                name in self.folder_fields
            ):  # if the window was made smaller meanwhile, the field may not be shown any more
                self.folder_fields[name].set_text(str(folder))
                self._apply_entered_folder(name)

        at = Path(self.folder_fields[name].text.strip() or self.host.settings.initial_folder).expanduser()
        self.open_inner_dialog(lambda host: FolderChooser(host, at, choose))

    # --- keys -------------------------------------------------------------------------------------

    def _ask_for_new_key(self) -> None:
        """Ask the user to press the new key of the chosen command."""
        self.waits_for_key = True
        self.show_problem(f'Press the new key for "{self.selected_command.title}", or Escape to keep the old one')

    def _restore_default_keys(self) -> None:
        self.rebind_key_callback(self.selected_command.id, None)
        self._update_key_rows("")

    def handle_event(self, event: pygame.event.Event) -> bool:
        if self.waits_for_key and event.type == pygame.KEYDOWN:
            if event.key not in _MODIFIER_KEYS:
                self._assign_pressed_key(event)
            return True
        if self.waits_for_key and event.type == pygame.TEXTINPUT:
            return True
        return super().handle_event(event)

    def _assign_pressed_key(self, event: pygame.event.Event) -> None:
        """Assign the pressed key to the chosen command, unless the key is Escape or another command uses it."""
        self.waits_for_key = False
        key = key_press_name(event.key, event.mod, getattr(event, "unicode", ""))
        if key == "Escape":
            self.show_problem("")
            return
        other = self.host.command_table.conflicting_command(self.selected_command.id, key)
        if other is not None:
            self.show_problem(f'{key} is already the key of "{other.title}": change that key first')
            return
        self.rebind_key_callback(self.selected_command.id, key)
        self._update_key_rows("")

    def _update_key_rows(self, problem: str) -> None:
        assert self.command_key_list is not None
        self.command_key_list.set_rows(self._command_key_rows(), self.selected_index)
        self.show_problem(problem)

    def handle_unused_key(self, event: pygame.event.Event) -> bool:
        return (
            self.command_key_list is not None
            and self.focused_control is self.command_key_list
            and self.command_key_list.handle_key(event)
        )

    def on_confirm(self) -> None:
        if self.command_key_list is not None and self.focused_control is self.command_key_list:
            self._ask_for_new_key()
        elif (
            all(self._apply_entered_folder(name) for name in self.folder_fields)
            and not self.option_form.has_invalid_row()
        ):
            self.host.close_dialog()

    def scroll_to_control(self, control: object) -> None:
        if isinstance(control, Control) and control in self.option_form.controls():
            self.option_form.scroll_to_control(control)


def _unusable_folder_reason(folder: Path, *, is_made: bool) -> str:
    """Return why files cannot be saved in a folder; "" if they can.

    Args:
        folder: Folder to check.
        is_made: Whether the folder will be created if it does not exist.
    """
    if not folder.is_absolute():
        return f"Enter the full path of a folder, such as ~/videos, instead of {folder}"
    try:
        check_file_name_lengths(folder)
    except ConfigError as error:
        return error.problems[0]
    is_new = is_made and not os.path.exists(folder)
    if os.path.isdir(folder.parent if is_new else folder):
        return ""
    return f"There is no folder {folder.parent if is_new else folder}"
