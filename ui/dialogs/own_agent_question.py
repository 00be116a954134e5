"""Question whether to run the Python file of a user-defined agent for the first time."""

from collections.abc import Callable

from sim.params import escape_unprintable
from ui.dialogs.dialog_base import DialogHost
from ui.dialogs.question import QuestionDialog


class OwnAgentQuestion(QuestionDialog):
    def __init__(self, host: DialogHost, path: str, run: Callable[[], None]) -> None:
        text = (
            f"{escape_unprintable(path)} is a program: it can do anything on this computer that you can. Run it only "
            "if you "
            "wrote it or trust its author. While this window is open, it is run again whenever the file is saved."
        )
        super().__init__(
            host, "Run this agent?", text, [("Run agent", run, "danger"), ("Cancel", _do_not_run_file, "main")]
        )


def _do_not_run_file() -> None:
    """Do nothing for the answer "Cancel", so that the file is not run."""
