"""Files dropped onto the window: the first run is opened, then all agent files, one by one.

A run is any file that is not an agent file, such as a scenario, a map or a session.
"""

from pathlib import Path

from agents import own_files
from ui.commands.app_context import AppContext


class DroppedFileQueue:
    """Queue of files that the user dropped onto the window."""

    def __init__(self, window: AppContext) -> None:
        self.window = window
        self._files_dropped_in_frame: list[Path] = []  # files dropped in this frame
        self._waiting_files: list[Path] = []  # files dropped in earlier frames and not opened yet

    def add_file(self, name: str) -> None:
        """Add a dropped file to the queue; `open_next_file` is called after all events of the frame."""
        self._files_dropped_in_frame.append(Path(name))

    def open_next_file(self) -> None:
        """Open the next dropped file; called once a frame.

        If several files were dropped together, each of them waits until the dialogs of the previous one are closed.
        """
        if self._files_dropped_in_frame:
            self._waiting_files, self._files_dropped_in_frame = (
                self._dropped_files_to_open(self._files_dropped_in_frame),
                [],
            )
            self.window.document_opener.open_path(self._waiting_files.pop(0))
        elif self._waiting_files and self.window.dialogs.current_dialog is None:
            self.window.document_opener.open_path(self._waiting_files.pop(0))

    def _dropped_files_to_open(self, dropped: list[Path]) -> list[Path]:
        """Return the dropped files to open: the first run, then all agent files; notify the user about further runs."""
        agents = [path for path in dropped if path.suffix.lower() == own_files.AGENT_FILE_SUFFIX]
        runs = [path for path in dropped if path not in agents]
        if len(runs) > 1:
            self.window.notify_user(
                f"{len(runs)} files were dropped at once, but only one can be opened: {runs[0].name}"
            )
        return [*runs[:1], *agents]
