"""Question at program start after a crash: restore the last session, or discard it."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from agents.registry import BY_KEY
from sim.files.journal import Crashed, discard, restore
from sim.files.session import Saved
from sim.params import ConfigError
from ui.dialogs.base import Host
from ui.dialogs.question import Answer, Question


class CrashedQuestion(Question):
    def __init__(self, host: Host, take_up: Callable[[Saved, Path], None], crashed: Sequence[Crashed]) -> None:
        self.take_up, self.crashed = take_up, list(crashed)
        latest, *others = self.crashed
        text = f"The session that was open until {_time(latest)} can be restored with all edits up to its last tick."
        answers: list[Answer] = [("Later", _nothing, ""), ("Discard", partial(discard, latest.path), "danger")]
        before = next((other for other in others if latest.is_of_same_program(other)), None)
        if before is not None:
            text += f" Its run was started over at {_time(before)}; the previous run can be restored instead."
            answers.append(("Previous run", partial(self._restore_session, before), ""))
        if len(others) > (before is not None):
            text += " Older sessions are offered afterwards."
        answers.append(("Restore", partial(self._restore_session, latest), "main"))
        super().__init__(host, "Backmove did not close properly", text, answers)

    def _restore_session(self, chosen: Crashed) -> None:
        path = chosen.path
        try:
            saved = restore(path, BY_KEY)
        except ConfigError as error:
            self.host.complain(error, "The session could not be restored")
        else:
            self.take_up(saved, path)


def _time(crashed: Crashed) -> str:
    return f"{datetime.fromtimestamp(crashed.modified_s):%d %B, %H:%M}"


def _nothing() -> None:
    """Do nothing for the answer "Later": the journal is kept, and offered again at the next start."""
