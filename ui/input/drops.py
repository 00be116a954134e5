"""Files that are dropped onto the window, perhaps several at once: one run is opened, agents join it one by one."""

from pathlib import Path

from agents import own_files
from ui.commands.window import Window


class Drops:
    def __init__(self, window: Window) -> None:
        self.window = window
        self._dropped: list[Path] = []  # in this frame
        self._waiting: list[Path] = []  # of an earlier one

    def take(self, name: str) -> None:
        """A file has come."""
        self._dropped.append(Path(name))

    def open(self) -> None:
        """Once a frame. What the first of them asks, or shows, has to be over before the next is opened."""
        if self._dropped:
            self._waiting, self._dropped = self._chosen(self._dropped), []
            self.window.documents.open_path(self._waiting.pop(0))
        elif self._waiting and self.window.dialogs.dialog is None:
            self.window.documents.open_path(self._waiting.pop(0))

    def _chosen(self, dropped: list[Path]) -> list[Path]:
        """The first run, then all agents."""
        agents = [path for path in dropped if path.suffix.lower() == own_files.SUFFIX]
        runs = [path for path in dropped if path not in agents]
        if len(runs) > 1:
            self.window.say(f"{len(runs)} files were dropped at once: one can be open, {runs[0].name}")
        return [*runs[:1], *agents]
