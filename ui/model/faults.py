"""What went wrong in the program itself, in plain words and as a report for its makers. No pygame here.

A fault is an error of ours: nothing that a user gives may lead to one, and when one is there all the same it must not
end the window. Who catches it is ui/safety.py.
"""

import platform
import queue
import sys
import threading
import traceback
from dataclasses import dataclass
from pathlib import Path

from agents import own_files
from sim.files.disk import write_atomically
from sim.files.folders import state_folder
from sim.params import ConfigError, printable
from sim.program import ROOT
from ui.model.session import Session

MOST_IN_A_ROW = 3
"""Frames that may fail one after the other before it is hopeless."""

_DEEPEST = 12  # calls in a report: of an endless recursion the last ones do


@dataclass(frozen=True)
class Fault:
    """One error: what the program was at, what it was, and where."""

    doing: str
    what: str
    trace: str

    @property
    def words(self) -> str:
        return f"Something went wrong in Backmove itself, while {self.doing}: {self.what}"


def fault_of(doing: str, error: BaseException) -> Fault:
    what = printable(" ".join("".join(traceback.format_exception_only(error)).split()))
    trace = "".join(traceback.format_exception(error, limit=-_DEEPEST))
    return Fault(doing, what, trace.replace(str(ROOT), "."))


def report(fault: Fault, session: Session) -> str:
    """Everything that somebody who wants to mend it has to know; nothing of the user's files but a title."""
    lines = [
        "Backmove: report of an error",
        fault.words,
        f"Python {platform.python_version()} on {platform.platform()}",
        *_about_run(session),
        "",
        fault.trace,
    ]
    return "\n".join(lines)


def _about_run(session: Session) -> list[str]:
    try:
        run = session.run
        kinds = ", ".join(walker.spec.key for walker in run.world.walkers)
        grid = run.world.grid
        return [
            f"Run: {run.scenario.title}, tick {session.tick} of {run.recorded_end}, agents {kinds or 'none'}",
            f"Map: {grid.width} x {grid.height}; branches: {len(run.tree.branches)}, on screen {run.shown}",
        ]
    except Exception as error:  # the run may be what is broken
        return [f"Run: cannot be described: {error!r}"]


def report_place() -> Path:
    """Where the report of an error that ended the program is kept."""
    return state_folder() / "last-error.txt"


def keep_report(text: str) -> Path | None:
    """Write a report; where that is not possible there is none."""
    place = report_place()
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(place, text.encode("utf-8", "replace"))
    except (ConfigError, OSError):
        return None
    return place


class ThreadFaults:
    """Errors of threads that nobody waits for, taken out one by one by the window."""

    def __init__(self) -> None:
        self._found: queue.SimpleQueue[BaseException] = queue.SimpleQueue()
        self._of_agents: queue.SimpleQueue[str] = queue.SimpleQueue()

    def listen(self) -> None:
        """From now on hear of every thread that ends with an error."""
        threading.excepthook = self._heard

    def _heard(self, told: threading.ExceptHookArgs) -> None:
        if told.exc_value is None or told.exc_type is SystemExit:
            return
        if (text := own_files.described_if_own(told.exc_value)) is not None:
            self._of_agents.put(text)
        else:
            self._found.put(told.exc_value)

    def take_agent_error(self) -> str | None:
        """Return an error in a thread that an agent of the user's started, which is no error of ours."""
        try:
            return self._of_agents.get_nowait()
        except queue.Empty:
            return None

    def take(self) -> BaseException | None:
        try:
            return self._found.get_nowait()
        except queue.Empty:
            return None


def complain_on_terminal(text: str, place: Path | None, is_kept: bool) -> None:
    """The last words of a window that cannot go on."""
    told = f"The report is in {place}. " if place else ""
    session = "is offered again at the next start" if is_kept else "could not be kept: no journal can be written"
    print(f"{text}\n{told}The session {session}.", file=sys.stderr)
