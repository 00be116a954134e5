"""Background jobs for work that takes longer than a frame: large files, long exports.

This module does not use pygame.
"""

import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar
from weakref import WeakSet

T = TypeVar("T")

PROGRESS_DELAY_S = 0.12
"""Time in seconds that the window waits for a job before it shows the progress."""


_EXIT_WAIT_S = 2.0  # seconds that the program waits for cancelled jobs when it exits

_STARTED_JOBS: "WeakSet[BackgroundJob[Any]]" = WeakSet()


class JobCancelledError(Exception):
    """Exception that ends the work of a job cancelled by the user."""


class BackgroundJob(Generic[T]):
    """Function that runs in a background thread, with its progress and its result."""

    def __init__(self, work: "Callable[[BackgroundJob[T]], T]") -> None:
        """Start the work in a background thread.

        Args:
            work: Function called with this job, to report its progress. It must not access what the window shows.
        """
        self.share: float | None = None  # progress: finished share of the work from 0 to 1; None if unknown
        self._work_function = work
        self._result: list[T] = []
        self._error: BaseException | None = None
        self._is_cancelled = threading.Event()
        self._thread = threading.Thread(target=self._run_work, name="job", daemon=True)
        _STARTED_JOBS.add(self)
        self._thread.start()

    def _run_work(self) -> None:
        try:
            self._result.append(self._work_function(self))
        except BaseException as error:  # stored for `result`, which raises it in the calling thread
            self._error = error

    def report_progress(self, share: float) -> None:
        """Report the progress of the work; `work` calls this method regularly, and a cancelled job ends here.

        Args:
            share: Finished share, from 0 to 1.

        Raises:
            JobCancelledError: The job was cancelled.
        """
        self.share = share
        if self._is_cancelled.is_set():
            raise JobCancelledError

    def wait_until_done(self, seconds: float) -> bool:
        """Wait at most this many seconds for the job, and return whether it is done."""
        self._thread.join(seconds)
        return self.is_done

    @property
    def is_done(self) -> bool:
        return not self._thread.is_alive()

    def cancel(self) -> None:
        """Cancel the job: its result will not be used."""
        self._is_cancelled.set()

    def result(self) -> T:
        """Return the result of a job that is done; raise the exception that its work raised, if any."""
        assert self.is_done
        if self._error is not None:
            raise self._error
        return self._result[0]


def cancel_all_jobs() -> None:
    """Cancel all jobs at exit and wait a moment, so that they leave no incomplete files and no running threads."""
    deadline = time.monotonic() + _EXIT_WAIT_S
    for job in (jobs := list(_STARTED_JOBS)):
        job.cancel()
    for job in jobs:
        job.wait_until_done(max(0.0, deadline - time.monotonic()))
