"""Base classes of list dialogs, for lessons, moments and recent files."""

from collections.abc import Sequence
from typing import Any

import pygame

from ui.dialogs.dialog_base import Dialog
from ui.widgets.row_list import ListColumn, ListRow, RowList


class ListDialog(Dialog):
    """Dialog with a list. Enter, the main button or a double click opens the selected item."""

    # Column to the right of the names of the items.
    second_column = ListColumn(width=110, text_align="right", colour_name="dim")
    opens_on_single_click = False  # whether a single click already opens an item, instead of a double click
    empty_text = ""  # text shown if the list is empty
    left_button_label = "Close"  # label of the left button, which calls on_left_footer_button()
    main_button_label = "Open"  # label of the main button, which opens the selected item
    selected_index = 0  # index of the selected item

    def items(self) -> Sequence[ListRow]:
        raise NotImplementedError

    def open_selected_value(self, value: Any) -> None:
        """Open the value of the selected item; called after the dialog was closed."""
        raise NotImplementedError

    def on_left_footer_button(self) -> None:
        self.cancel()

    def build_controls(self) -> None:
        self.item_list = RowList(
            self,
            self.content_rect,
            [ListColumn(), self.second_column],
            self.items(),
            index=self.selected_index,
            chosen=self.on_confirm,
            is_chosen_at_once=self.opens_on_single_click,
            selected=self._on_selected,
            empty=self.empty_text,
        )
        self.add(self.item_list)
        self.add_footer_buttons(
            (self.left_button_label, self.on_left_footer_button, ""), (self.main_button_label, self.on_confirm, "main")
        )

    def _on_selected(self, index: int) -> None:
        self.selected_index = index

    def handle_unused_key(self, event: pygame.event.Event) -> bool:
        return self.item_list.handle_key(event)

    def on_confirm(self) -> None:
        item = self.item_list.selected_row
        if item is not None and not item.is_dim:
            self.host.close_dialog()
            self.open_selected_value(item.value)


class FileListDialog(ListDialog):
    """Dialog with a list of files; the left button opens the file dialog instead, to choose another file."""

    def on_left_footer_button(self) -> None:
        self.host.close_dialog()
        self.host.run_command("open")
