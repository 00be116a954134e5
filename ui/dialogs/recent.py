"""List of recently opened files."""

import os
from pathlib import Path

import pygame

from ui.dialogs.listing import FileListing
from ui.widgets.lists import Item


class RecentFiles(FileListing):
    title = "Recent files"
    hint = "Enter opens a file, Delete removes it from the list"
    size = (720, 520)
    command = "recent"
    empty = "No recent files"
    other = "Other file ..."

    def items(self) -> list[Item]:
        return [_item(name) for name in self.host.settings.recent_files]

    def go(self, value: str) -> None:
        self.host.open_path(Path(value))

    def key(self, event: pygame.event.Event) -> bool:
        if event.key == pygame.K_DELETE and self.rows.item:
            self.host.settings.forget(self.rows.item.value)
            self.rows.set(self.items(), self.rows.place)
            return True
        return super().key(event)


def _item(name: str) -> Item:
    path = Path(name)
    is_there = os.path.isfile(name)
    return Item((path.name, "" if is_there else "missing"), name, detail=str(path.parent), is_dim=not is_there)
