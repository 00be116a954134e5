"""Work that takes longer than a frame, in a thread of its own: large files, long exports. No pygame here."""

import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar
from weakref import WeakSet

T = TypeVar("T")

PATIENCE_S = 0.12
"""How long the window waits for a piece of work before it shows that it is going on."""


_ENDING_S = 2.0  # how long jobs are waited for that nobody wants any more

_BEGUN: "WeakSet[Job[Any]]" = WeakSet()


class GivenUpError(Exception):
    """The user does not want the result any more."""


class Job(Generic[T]):
    def __init__(self, work: "Callable[[Job[T]], T]") -> None:
        """`work` gets the job, to say how far it is. It must not touch what the window shows."""
        self.share: float | None = None  # what is done, where that is known
        self._work = work
        self._result: list[T] = []
        self._error: BaseException | None = None
        self._is_given_up = threading.Event()
        self._thread = threading.Thread(target=self._run, name="job", daemon=True)
        _BEGUN.add(self)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._result.append(self._work(self))
        except BaseException as error:  # whoever takes the result sees it
            self._error = error

    def told(self, share: float) -> None:
        """Called by the work: how far it is. Ends it when nobody waits for it."""
        self.share = share
        if self._is_given_up.is_set():
            raise GivenUpError

    def wait(self, seconds: float) -> bool:
        """Whether it is done within so long."""
        self._thread.join(seconds)
        return self.is_done

    @property
    def is_done(self) -> bool:
        return not self._thread.is_alive()

    def give_up(self) -> None:
        """Let go: what the work makes, it makes for nobody."""
        self._is_given_up.set()

    def result(self) -> T:
        """What was made; what went wrong is raised."""
        assert self.is_done
        if self._error is not None:
            raise self._error
        return self._result[0]


def give_up_all() -> None:
    """The program ends. Jobs that hear of it in time leave no half-written files, and no threads that go on."""
    deadline = time.monotonic() + _ENDING_S
    for job in (jobs := list(_BEGUN)):
        job.give_up()
    for job in jobs:
        job.wait(max(0.0, deadline - time.monotonic()))
