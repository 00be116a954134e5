"""After a crash: take up what was going on, or let it go."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from agents.registry import BY_KEY
from sim.files.journal import Crashed, discard, restore
from sim.params import ConfigError
from ui.dialogs.question import Question


class CrashedQuestion(Question):
    def __init__(self, host: Any, crashed: Sequence[Crashed]) -> None:
        """`host` is the app: besides what a dialog needs it can restore a session."""
        self.app, self.crashed = host, list(crashed)
        latest = datetime.fromtimestamp(self.crashed[0].modified_s)
        more = f" ({len(self.crashed) - 1} older ones can be restored after it.)" if len(self.crashed) > 1 else ""
        super().__init__(
            host,
            "Backmove did not end as it should",
            f"A session that was open until {latest:%d %B, %H:%M} can be taken up again, with every edit up to its "
            f"last tick.{more}",
            [("Later", _nothing, ""), ("Discard", self._discard, "danger"), ("Restore", self._restore, "main")],
        )

    def _restore(self) -> None:
        path = self.crashed[0].path
        try:
            saved = restore(path, BY_KEY)
        except ConfigError as error:
            self.app.complain(error, "The session could not be restored")
        else:
            self.app.restore(saved)
            discard(path)

    def _discard(self) -> None:
        discard(self.crashed[0].path)


def _nothing() -> None:
    """The journal stays where it is, and is offered again at the next start."""
