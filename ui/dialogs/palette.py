"""Command palette: a searchable list of all commands and their keys; Enter runs the selected command."""

import pygame

from ui.dialogs.base import Dialog, Host, take_top
from ui.model.command import ANY, EDIT, RUN, Command, CommandTable
from ui.widgets.controls import Field
from ui.widgets.lists import Col, Item, Rows

_UNLISTED_COMMANDS = {"cancel", "find_command"}
_MODE_NAMES = {RUN: "", EDIT: "edit mode", ANY: ""}


class CommandPalette(Dialog):
    title = "Commands"
    hint = "type words such as: weight, heat, save"
    size = (720, 560)
    command = "find_command"
    has_footer = False

    def __init__(self, host: Host) -> None:
        self.query = ""
        super().__init__(host)

    def build(self) -> None:
        area = self.area
        self.field = Field(self, take_top(area, self.px(36), self.px(10)), self.query, self._typed)
        self.add(self.field)
        columns = [Col(), Col(width=84, role="dim"), Col(width=190, align="right", face="mono", role="dim")]
        self.rows = Rows(self, area, columns, self._items(), chosen=self.confirm, empty="No command matches")
        self.add(self.rows)
        self.field.put_cursor_at_end()

    def _typed(self, text: str) -> None:
        self.query = text
        self.rows.set(self._items())

    def _items(self) -> list[Item]:
        return [
            Item((_shown_help(command), command.group, "  ".join(command.keys)), command.id)
            for command in found(self.host.commands, self.query)
        ]

    def key(self, event: pygame.event.Event) -> bool:
        # Leave Home and End to the text field, where they move the cursor.
        return event.key not in (pygame.K_HOME, pygame.K_END) and self.rows.key(event)

    def confirm(self) -> None:
        item = self.rows.item
        if item is not None:
            self.host.close_dialog()
            self.host.run(item.value)


def found(table: CommandTable, query: str) -> list[Command]:
    """Return the commands whose help, group, keys or id contain all words of a query, best matches first."""
    words = query.lower().split()
    listed = [c for c in table if c.id not in _UNLISTED_COMMANDS]
    hits = [c for c in listed if all(word in _searched(c) for word in words)]
    return sorted(hits, key=lambda c: _match_rank(c, query.lower().strip()))


def _searched(command: Command) -> str:
    return f"{command.help} {command.group} {' '.join(command.keys)} {command.id}".lower()


def _match_rank(command: Command, query: str) -> int:
    text = command.help.lower()
    if not query:
        return 0
    return 0 if text.startswith(query) else 1 if f" {query}" in text else 2 if query in text else 3


def _shown_help(command: Command) -> str:
    mode = _MODE_NAMES[command.mode]
    return f"{command.help} ({mode})" if mode else command.help
