"""Errors of the program itself, as text for the user and as a report for its developers.

A fault is an exception caused by a bug. It must not close the window: ui/error_recovery.py catches it. This module does
not use pygame.
"""

import platform
import queue
import sys
import threading
import traceback
from dataclasses import dataclass
from pathlib import Path

from agents import own_files
from files.disk import write_file_atomically
from sim.params import ConfigError, escape_unprintable
from sim.system.program import PROGRAM_FOLDER
from sim.system.user_folders import state_folder
from ui.model.session import Session

MAX_CONSECUTIVE_FAULTS = 3
"""Maximum number of consecutive failed frames before the program gives up."""

_MAX_INNERMOST_CALLS = 12  # number of innermost calls shown in a report; enough to recognise an endless recursion


@dataclass(frozen=True)
class Fault:
    """One error caused by a bug: what the program was doing, the error, and its traceback."""

    failed_activity: str
    error_text: str
    traceback_text: str

    @property
    def message(self) -> str:
        return f"An internal error occurred in Backmove while {self.failed_activity}: {self.error_text}"


def fault_from_exception(doing: str, error: BaseException) -> Fault:
    error_text = escape_unprintable(" ".join("".join(traceback.format_exception_only(error)).split()))
    trace = "".join(traceback.format_exception(error, limit=-_MAX_INNERMOST_CALLS))
    return Fault(doing, error_text, trace.replace(str(PROGRAM_FOLDER), "."))


def fault_report(fault: Fault, session: Session) -> str:
    """Return the report of a fault for developers; it contains nothing of the user's files but the scenario title."""
    lines = [
        "Backmove: error report",
        fault.message,
        f"Python {platform.python_version()} on {platform.platform()}",
        *_run_description_lines(session),
        "",
        fault.traceback_text,
    ]
    return "\n".join(lines)


def _run_description_lines(session: Session) -> list[str]:
    try:
        run = session.run
        kinds_text = ", ".join(walker.spec.key for walker in run.world.walkers)
        grid = run.world.grid
        return [
            f"Run: {run.scenario.title}, tick {session.tick} of {run.recorded_end_tick}, agents {kinds_text or 'none'}",
            f"Map: {grid.width} x {grid.height}; branches: {len(run.branch_tree.branches)}, "
            f"on screen {run.shown_branch_numbers}",
        ]
    except Exception as error:  # describing a broken run may fail as well
        return [f"Run: cannot be described: {error!r}"]


def crash_report_path() -> Path:
    """Return the path of the file for the report of an error that ended the program."""
    return state_folder() / "last-error.txt"


def write_report_file(text: str) -> Path | None:
    """Write a report and return its path; None if it could not be written."""
    path = crash_report_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file_atomically(path, text.encode("utf-8", "replace"))
    except (ConfigError, OSError):
        return None
    return path


class ThreadFaults:
    """Queue of exceptions that ended background threads; the window takes them out one by one and shows them."""

    def __init__(self) -> None:
        self._thread_exceptions: queue.SimpleQueue[BaseException] = queue.SimpleQueue()
        self._agent_errors: queue.SimpleQueue[str] = queue.SimpleQueue()

    def install_exception_hook(self) -> None:
        """Collect the uncaught exceptions of all threads from now on."""
        threading.excepthook = self._record_thread_exception

    def _record_thread_exception(self, hook_args: threading.ExceptHookArgs) -> None:
        if hook_args.exc_value is None or hook_args.exc_type is SystemExit:
            return
        if (text := own_files.describe_user_error(hook_args.exc_value)) is not None:
            self._agent_errors.put(text)
        else:
            self._thread_exceptions.put(hook_args.exc_value)

    def next_agent_error(self) -> str | None:
        """Return the next error in a thread that was started by a user-defined agent; None if there is none.

        Such an error is a bug of the agent, not of the program.
        """
        try:
            return self._agent_errors.get_nowait()
        except queue.Empty:
            return None

    def next_exception(self) -> BaseException | None:
        try:
            return self._thread_exceptions.get_nowait()
        except queue.Empty:
            return None


def print_final_message(text: str, path: Path | None, is_kept: bool) -> None:
    """Print why the window cannot continue, where the report is, and whether the session can be restored."""
    report_text = f"The report is in {path}. " if path else ""
    session = "can be restored at the next start" if is_kept else "could not be saved: no journal can be written"
    print(f"{text}\n{report_text}The session {session}.", file=sys.stderr)
