"""The files opened lately."""

import os
from pathlib import Path

import pygame

from ui.dialogs.base import Dialog, Host
from ui.widgets.lists import Col, Item, Rows


class RecentFiles(Dialog):
    title = "Recent files"
    hint = "Enter opens, Delete takes one off the list"
    size = (720, 520)
    command = "recent"

    def __init__(self, host: Host) -> None:
        self.at = 0
        super().__init__(host)

    def build(self) -> None:
        self.rows = Rows(
            self,
            self.area,
            [Col(), Col(width=110, align="right", role="dim")],
            self._items(),
            place=self.at,
            chosen=self.confirm,
            selected=self._selected,
            empty="no file has been opened yet",
        )
        self.add(self.rows)
        self.add_footer(("Other file ...", self._browse, ""), ("Open", self.confirm, "main"))

    def _items(self) -> list[Item]:
        return [_item(name) for name in self.host.settings.recent_files]

    def _selected(self, place: int) -> None:
        self.at = place

    def _browse(self) -> None:
        self.host.close_dialog()
        self.host.run("open")

    def key(self, event: pygame.event.Event) -> bool:
        if event.key == pygame.K_DELETE and self.rows.item:
            self.host.settings.forget(self.rows.item.value)
            self.rows.set(self._items(), self.rows.place)
            return True
        return self.rows.key(event)

    def confirm(self) -> None:
        item = self.rows.item
        if item is not None and not item.is_dim:
            self.host.close_dialog()
            self.host.open_path(Path(item.value))


def _item(name: str) -> Item:
    path = Path(name)
    is_there = os.path.isfile(name)
    return Item((path.name, "" if is_there else "not there"), name, detail=str(path.parent), is_dim=not is_there)
