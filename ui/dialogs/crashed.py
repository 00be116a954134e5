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
        text = (
            f"A session that was open until {_time(latest)} can be taken up again, with every edit up to its last tick."
        )
        answers: list[Answer] = [("Later", _nothing, ""), ("Discard", partial(discard, latest.path), "danger")]
        before = next((other for other in others if latest.is_of_same_program(other)), None)
        if before is not None:
            text += f" It was begun again at {_time(before)}; the run before that can be taken up instead."
            answers.append(("The run before", partial(self._restore_session, before), ""))
        if len(others) > (before is not None):
            text += " Older ones are offered after it."
        answers.append(("Restore", partial(self._restore_session, latest), "main"))
        super().__init__(host, "Backmove did not end as it should", text, answers)

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
