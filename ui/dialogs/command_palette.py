"""Command palette: a searchable list of all commands with their keys and their state; Enter runs the selected command.

A disabled command is dim. While it is selected, the line below the list says why it is disabled.
"""

import pygame

from ui.dialogs.dialog_base import Dialog, DialogHost, cut_strip_from_bottom, cut_strip_from_top
from ui.model.ui_command import CommandTable, UiCommand
from ui.widgets.controls import TextLabel
from ui.widgets.row_list import ListColumn, ListRow, RowList
from ui.widgets.text_field import TextField

_UNLISTED_COMMAND_IDS = {"cancel", "find_command"}


class CommandPalette(Dialog):
    title = "Commands"
    hint = "type words such as: weight, heat, save"
    size = (760, 580)
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
        reason_rect = cut_strip_from_bottom(area, self.to_px(20), self.to_px(6))
        columns = [
            ListColumn(),
            ListColumn(width=36, colour_name="accent"),
            ListColumn(width=84, colour_name="dim"),
            ListColumn(width=190, text_align="right", font_face="mono", colour_name="dim"),
        ]
        self.command_list = RowList(
            self,
            area,
            columns,
            self._command_rows(),
            chosen=self.on_confirm,
            selected=self._on_selected,
            empty="No command matches",
        )
        self.add(self.command_list)
        self.reason_label = TextLabel(self, reason_rect, self._selected_disabled_reason, size=13, role="warning")
        self.add(self.reason_label)

    def _on_query_typed(self, text: str) -> None:
        self.query = text
        self.command_list.set_rows(self._command_rows())
        self._on_selected(self.command_list.selected_index)

    def _on_selected(self, index: int) -> None:
        self.reason_label.set_text(self._selected_disabled_reason)

    @property
    def _selected_disabled_reason(self) -> str:
        """Return the reason why the selected command is disabled; "" if it is enabled or nothing is selected."""
        row = self.command_list.selected_row
        return self.host.disabled_reason_of_command(row.value) if row is not None else ""

    def _command_rows(self) -> list[ListRow]:
        return [self._row_of_command(c) for c in matching_commands(self.host.command_table, self.query)]

    def _row_of_command(self, command: UiCommand) -> ListRow:
        state = "on" if self.host.is_command_on(command.id) else ""
        cells = (command.title_with_mode, state, command.group, "  ".join(command.keys))
        return ListRow(cells, command.id, is_dim=bool(self.host.disabled_reason_of_command(command.id)))

    def handle_unused_key(self, event: pygame.event.Event) -> bool:
        # Leave Home and End to the text field, where they move the cursor.
        return event.key not in (pygame.K_HOME, pygame.K_END) and self.command_list.handle_key(event)

    def on_confirm(self) -> None:
        """Run the selected command, unless it is disabled; the reason is then visible below the list."""
        item = self.command_list.selected_row
        if item is not None and not item.is_dim:
            self.host.close_dialog()
            self.host.run_command(item.value)


def matching_commands(table: CommandTable, query: str) -> list[UiCommand]:
    """Return the commands that the palette lists for a query, best matches first."""
    return [command for command in table.commands_matching(query) if command.id not in _UNLISTED_COMMAND_IDS]
