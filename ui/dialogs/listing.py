"""Base classes of list dialogs, for lessons, moments and recent files."""

from collections.abc import Sequence
from typing import Any

import pygame

from ui.dialogs.base import Dialog
from ui.widgets.lists import Col, Item, Rows


class Listing(Dialog):
    """Dialog with a list. Enter, the main button or a double click opens the selected item."""

    second = Col(width=110, align="right", role="dim")  # column to the right of the names of the items
    is_chosen_at_once = False  # whether a single click already opens an item, instead of a double click
    empty = ""  # text shown if the list is empty
    other = "Close"  # label of the left button, which calls turn_to_other()
    word = "Open"  # label of the main button, which opens the selected item
    at = 0  # index of the selected item

    def items(self) -> Sequence[Item]:
        raise NotImplementedError

    def go(self, value: Any) -> None:
        """Open the value of the selected item; called after the dialog was closed."""
        raise NotImplementedError

    def turn_to_other(self) -> None:
        self.cancel()

    def build(self) -> None:
        self.rows = Rows(
            self,
            self.area,
            [Col(), self.second],
            self.items(),
            place=self.at,
            chosen=self.confirm,
            is_chosen_at_once=self.is_chosen_at_once,
            selected=self._selected,
            empty=self.empty,
        )
        self.add(self.rows)
        self.add_footer((self.other, self.turn_to_other, ""), (self.word, self.confirm, "main"))

    def _selected(self, index: int) -> None:
        self.at = index

    def key(self, event: pygame.event.Event) -> bool:
        return self.rows.key(event)

    def confirm(self) -> None:
        item = self.rows.item
        if item is not None and not item.is_dim:
            self.host.close_dialog()
            self.go(item.value)


class FileListing(Listing):
    """Dialog with a list of files; the left button opens the file dialog instead, to choose another file."""

    def turn_to_other(self) -> None:
        self.host.close_dialog()
        self.host.run("open")
