"""A list of things to go to: what lessons, moments and recent files have in common."""

from collections.abc import Sequence
from typing import Any

import pygame

from ui.dialogs.base import Dialog
from ui.widgets.lists import Col, Item, Rows


class Listing(Dialog):
    """A row for each thing; Enter, the button or a double click goes to the one that is selected."""

    second = Col(width=110, align="right", role="dim")  # the column beside the names
    is_chosen_at_once = False  # a click goes there
    empty = ""
    other = "Close"  # the button beside the one that goes there, and `turn_to_other` what it does
    word = "Open"
    at = 0

    def items(self) -> Sequence[Item]:
        raise NotImplementedError

    def go(self, value: Any) -> None:
        """Go to what a row is about; the dialog is closed already."""
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

    def _selected(self, place: int) -> None:
        self.at = place

    def key(self, event: pygame.event.Event) -> bool:
        return self.rows.key(event)

    def confirm(self) -> None:
        item = self.rows.item
        if item is not None and not item.is_dim:
            self.host.close_dialog()
            self.go(item.value)


class FileListing(Listing):
    """The same for files, beside all others that there are."""

    def turn_to_other(self) -> None:
        self.host.close_dialog()
        self.host.run("open")
