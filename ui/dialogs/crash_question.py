"""Question at program start after a crash: restore the last session, or discard it."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from agents.registry import AGENT_SPECS_BY_KEY
from files.journal import CrashedJournal, delete_journal, restore_session
from files.session import SavedSession
from sim.params import ConfigError
from ui.dialogs.dialog_base import DialogHost
from ui.dialogs.question import QuestionAnswer, QuestionDialog


class CrashQuestion(QuestionDialog):
    def __init__(
        self, host: DialogHost, on_restored: Callable[[SavedSession, Path], None], crashed: Sequence[CrashedJournal]
    ) -> None:
        self.on_restored, self.crashed_sessions = on_restored, list(crashed)
        latest, *others = self.crashed_sessions
        text = (
            f"The session that was open until {_crash_time_text(latest)} can be restored with all edits up to its "
            "last tick."
        )
        answers: list[QuestionAnswer] = [
            ("Later", _keep_journal, ""),
            ("Discard", partial(delete_journal, latest.path), "danger"),
        ]
        before = next((other for other in others if latest.is_of_same_program(other)), None)
        if before is not None:
            text += (
                f" Its run was started over at {_crash_time_text(before)}; the previous run can be restored instead."
            )
            answers.append(("Previous run", partial(self._restore_session, before), ""))
        if len(others) > (before is not None):
            text += " Older sessions are offered afterwards."
        answers.append(("Restore", partial(self._restore_session, latest), "main"))
        super().__init__(host, "Backmove did not close properly", text, answers)

    def _restore_session(self, chosen: CrashedJournal) -> None:
        path = chosen.path
        try:
            saved = restore_session(path, AGENT_SPECS_BY_KEY)
        except ConfigError as error:
            self.host.show_error(error, "The session could not be restored")
        else:
            self.on_restored(saved, path)


def _crash_time_text(crashed: CrashedJournal) -> str:
    return f"{datetime.fromtimestamp(crashed.modified_s):%d %B, %H:%M}"


def _keep_journal() -> None:
    """Do nothing for the answer "Later": the journal is kept, and offered again at the next start."""
