"""List of recently opened files."""

import os
from pathlib import Path

import pygame

from ui.dialogs.list_dialog import FileListDialog
from ui.widgets.row_list import ListRow


class RecentFiles(FileListDialog):
    title = "Recent files"
    hint = "Enter opens a file, Delete removes it from the list"
    size = (720, 520)
    command_id = "recent"
    empty_text = "No recent files"
    left_button_label = "Other file ..."

    def items(self) -> list[ListRow]:
        return [_recent_file_row(name) for name in self.host.settings.recent_files]

    def open_selected_value(self, value: str) -> None:
        self.host.open_path(Path(value))

    def handle_unused_key(self, event: pygame.event.Event) -> bool:
        if event.key == pygame.K_DELETE and self.item_list.selected_row:
            self.host.settings.remove_recent_file(self.item_list.selected_row.value)
            self.item_list.set_rows(self.items(), self.item_list.selected_index)
            return True
        return super().handle_unused_key(event)


def _recent_file_row(name: str) -> ListRow:
    path = Path(name)
    is_there = os.path.isfile(name)
    return ListRow((path.name, "" if is_there else "missing"), name, detail_text=str(path.parent), is_dim=not is_there)
