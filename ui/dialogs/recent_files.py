"""List of recently opened files."""

import os
from pathlib import Path

import pygame

from ui.dialogs.list_dialog import FileListDialog
from ui.widgets.lists import ListRow


class RecentFiles(FileListDialog):
    title = "Recent files"
    hint = "Enter opens a file, Delete removes it from the list"
    size = (720, 520)
    command = "recent"
    empty_text = "No recent files"
    left_button_label = "Other file ..."

    def items(self) -> list[ListRow]:
        return [_file_row(name) for name in self.host.settings.recent_files]

    def open_selected_value(self, value: str) -> None:
        self.host.open_path(Path(value))

    def key(self, event: pygame.event.Event) -> bool:
        if event.key == pygame.K_DELETE and self.rows.selected_row:
            self.host.settings.remove_recent_file(self.rows.selected_row.value)
            self.rows.set(self.items(), self.rows.place)
            return True
        return super().key(event)


def _file_row(name: str) -> ListRow:
    path = Path(name)
    is_there = os.path.isfile(name)
    return ListRow((path.name, "" if is_there else "missing"), name, detail=str(path.parent), is_dim=not is_there)
