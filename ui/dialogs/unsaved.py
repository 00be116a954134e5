"""What to do with edits before something would lose them: save, discard, or stay."""

from collections.abc import Callable
from pathlib import Path

from sim.params import ConfigError
from ui import files
from ui.dialogs.base import Host
from ui.dialogs.file_browser import SaveFile
from ui.dialogs.message import MessageBox
from ui.dialogs.question import Question


class UnsavedQuestion(Question):
    def __init__(self, host: Host, go_on: Callable[[], None]) -> None:
        self.go_on = go_on
        name = host.session.world.grid.name
        super().__init__(
            host,
            "Unsaved edits",
            f"The map {name} was edited and is not saved. Going on would lose the edits.",
            [("Cancel", _nothing, ""), ("Discard", go_on, "danger"), ("Save ...", self._save, "main")],
        )

    def _save(self) -> None:
        path = self.host.session.path
        if path is not None and path.suffix.lower() == files.MAP_SUFFIX and not files.is_shipped(path):
            self._save_to(path)
        else:
            name = self.host.session.world.grid.name
            self.host.show(SaveFile(self.host, "Save the map", files.MAP_SUFFIX, name, self._save_to))

    def _save_to(self, path: Path) -> None:
        try:
            files.save_map(self.host.session, path)
        except ConfigError as error:
            self.host.show(MessageBox(self.host, "The map was not saved", error.problems))
        else:
            self.go_on()


def _nothing() -> None:
    """Stay."""
