"""Command palette: a searchable list of all commands and their keys; Enter runs the selected command."""

import pygame

from ui.dialogs.dialog_base import Dialog, DialogHost, cut_strip_from_top
from ui.model.command import ANY_MODE, EDIT_MODE, RUN_MODE, CommandTable, UiCommand
from ui.widgets.controls import TextField
from ui.widgets.lists import ListColumn, ListRow, RowList

_UNLISTED_COMMANDS = {"cancel", "find_command"}
_MODE_NAMES = {RUN_MODE: "", EDIT_MODE: "edit mode", ANY_MODE: ""}


class CommandPalette(Dialog):
    title = "Commands"
    hint = "type words such as: weight, heat, save"
    size = (720, 560)
    command = "find_command"
    has_footer = False

    def __init__(self, host: DialogHost) -> None:
        self.query = ""
        super().__init__(host)

    def build_controls(self) -> None:
        area = self.area
        self.field = TextField(
            self, cut_strip_from_top(area, self.to_px(36), self.to_px(10)), self.query, self._on_query_typed
        )
        self.add(self.field)
        columns = [
            ListColumn(),
            ListColumn(width=84, colour_name="dim"),
            ListColumn(width=190, align="right", face="mono", colour_name="dim"),
        ]
        self.rows = RowList(
            self, area, columns, self._command_rows(), chosen=self.on_confirm, empty="No command matches"
        )
        self.add(self.rows)
        self.field.move_cursor_to_end()

    def _on_query_typed(self, text: str) -> None:
        self.query = text
        self.rows.set(self._command_rows())

    def _command_rows(self) -> list[ListRow]:
        return [
            ListRow((_help_text_with_mode(command), command.group, "  ".join(command.keys)), command.id)
            for command in matching_commands(self.host.commands, self.query)
        ]

    def key(self, event: pygame.event.Event) -> bool:
        # Leave Home and End to the text field, where they move the cursor.
        return event.key not in (pygame.K_HOME, pygame.K_END) and self.rows.key(event)

    def on_confirm(self) -> None:
        item = self.rows.selected_row
        if item is not None:
            self.host.close_dialog()
            self.host.run(item.value)


def matching_commands(table: CommandTable, query: str) -> list[UiCommand]:
    """Return the commands whose help, group, keys or id contain all words of a query, best matches first."""
    words = query.lower().split()
    listed_commands = [c for c in table if c.id not in _UNLISTED_COMMANDS]
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
    mode = _MODE_NAMES[command.mode]
    return f"{command.label} ({mode})" if mode else command.label
