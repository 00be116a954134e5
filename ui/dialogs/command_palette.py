"""Command palette: a searchable list of all commands and their keys; Enter runs the selected command."""

import pygame

from ui.dialogs.dialog_base import Dialog, DialogHost, cut_strip_from_top
from ui.model.ui_command import ANY_MODE, EDIT_MODE, RUN_MODE, CommandTable, UiCommand
from ui.widgets.controls import TextField
from ui.widgets.row_list import ListColumn, ListRow, RowList

_UNLISTED_COMMAND_IDS = {"cancel", "find_command"}
_MODE_NAMES = {RUN_MODE: "", EDIT_MODE: "edit mode", ANY_MODE: ""}


class CommandPalette(Dialog):
    title = "Commands"
    hint = "type words such as: weight, heat, save"
    size = (720, 560)
    command_id = "find_command"
    has_footer = False

    def __init__(self, host: DialogHost) -> None:
        self.query = ""
        super().__init__(host)

    def build_controls(self) -> None:
        area = self.content_rect
        self.search_field = TextField(
            self, cut_strip_from_top(area, self.to_px(36), self.to_px(10)), self.query, self._on_query_typed
        )
        self.add(self.search_field)
        columns = [
            ListColumn(),
            ListColumn(width=84, colour_name="dim"),
            ListColumn(width=190, text_align="right", font_face="mono", colour_name="dim"),
        ]
        self.command_list = RowList(
            self, area, columns, self._command_rows(), chosen=self.on_confirm, empty="No command matches"
        )
        self.add(self.command_list)
        self.search_field.move_cursor_to_end()

    def _on_query_typed(self, text: str) -> None:
        self.query = text
        self.command_list.set_rows(self._command_rows())

    def _command_rows(self) -> list[ListRow]:
        return [
            ListRow((_help_text_with_mode(command), command.group, "  ".join(command.keys)), command.id)
            for command in matching_commands(self.host.command_table, self.query)
        ]

    def handle_unused_key(self, event: pygame.event.Event) -> bool:
        # Leave Home and End to the text field, where they move the cursor.
        return event.key not in (pygame.K_HOME, pygame.K_END) and self.command_list.handle_key(event)

    def on_confirm(self) -> None:
        item = self.command_list.selected_row
        if item is not None:
            self.host.close_dialog()
            self.host.run_command(item.value)


def matching_commands(table: CommandTable, query: str) -> list[UiCommand]:
    """Return the commands whose help, group, keys or id contain all words of a query, best matches first."""
    words = query.lower().split()
    listed_commands = [c for c in table if c.id not in _UNLISTED_COMMAND_IDS]
    matches = [c for c in listed_commands if all(word in _searchable_text_of_command(c) for word in words)]
    return sorted(matches, key=lambda c: _query_match_rank(c, query.lower().strip()))


def _searchable_text_of_command(command: UiCommand) -> str:
    return f"{command.label} {command.group} {' '.join(command.keys)} {command.id}".lower()


def _query_match_rank(command: UiCommand, query: str) -> int:
    text = command.label.lower()
    if not query:
        return 0
    return 0 if text.startswith(query) else 1 if f" {query}" in text else 2 if query in text else 3


def _help_text_with_mode(command: UiCommand) -> str:
    mode = _MODE_NAMES[command.available_mode]
    return f"{command.label} ({mode})" if mode else command.label
