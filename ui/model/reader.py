"""The thread that reads keyframes while the window draws, presents and waits.

The window goes first. A thread like others keeps its processor from it for 4 ms, and so does one of the lowest rank as
soon as both are on one processor: whoever waits there longest gets a turn, and turns are that long. So, where the
system knows ranks and lets threads choose their processors (Linux), the reader gets the lowest rank, for the sake of
the screen; and while it reads the window stays on the processor where it is, and the reader on the others.
"""

import ctypes
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from typing import NamedTuple, ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")


class _Stay(NamedTuple):
    """A thread that stays on its processor for a while, and where it might be."""

    thread: int
    allowed: set[int]


class Reader(Executor):
    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "keyframes", self._begin)
        self._thread: int | None = None  # its number to the system, where that lets it choose processors
        self._processor = _current_processor()
        self._stay: _Stay | None = None

    def submit(self, fn: Callable[_P, _R], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_R]:
        self._keep_apart()
        future = self._pool.submit(fn, *args, **kwargs)
        future.add_done_callback(lambda _: self.let_go())
        return future

    def let_go(self) -> None:
        """Let whoever asked run on all processors again: at the end of the reading, and of the frame. What it starts
        (the encoder of a video, a process) would otherwise stay on its processor for good.
        """
        stay, self._stay = self._stay, None
        if stay is not None:
            with suppress(OSError):  # the thread has ended
                os.sched_setaffinity(stay.thread, stay.allowed)

    def _begin(self) -> None:
        if sys.platform == "linux":
            self._thread = threading.get_native_id()
            with suppress(OSError):
                os.sched_setscheduler(self._thread, os.SCHED_IDLE, os.sched_param(0))

    def _keep_apart(self) -> None:
        if self._thread is None or self._processor is None:
            return
        with suppress(OSError):  # where nobody may choose
            stay, own = _Stay(threading.get_native_id(), os.sched_getaffinity(0)), {self._processor()}
            if own < stay.allowed:
                os.sched_setaffinity(self._thread, stay.allowed - own)
                self._stay = stay
                os.sched_setaffinity(stay.thread, own)


def _current_processor() -> Callable[[], int] | None:
    """What says on which processor a thread runs, where there is such a call: Python has none before 3.13."""
    return getattr(ctypes.CDLL(None), "sched_getcpu", None) if sys.platform == "linux" else None


READER = Reader()
