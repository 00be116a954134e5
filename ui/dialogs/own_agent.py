"""Question whether to run the Python file of a user-defined agent for the first time."""

from collections.abc import Callable

from sim.params import printable
from ui.dialogs.base import Host
from ui.dialogs.question import Question


class OwnAgentQuestion(Question):
    def __init__(self, host: Host, path: str, run: Callable[[], None]) -> None:
        text = (
            f"{printable(path)} is a program: it can do anything on this computer that you can do. Run it only if you "
            "wrote it or trust its author. While this window is open, it is run again whenever the file is saved."
        )
        super().__init__(host, "Run this agent?", text, [("Run agent", run, "danger"), ("Cancel", _nothing, "main")])


def _nothing() -> None:
    """Do nothing for the answer "Cancel", so that the file is not run."""
