"""The thread that reads keyframes while the window draws, presents and waits.

The window goes first: what reads gives way after each fifth of a millisecond (sim/kernels/pace.py), for the sake of the
screen; and where the system lets threads choose their processors (Linux), the window stays on its processor until the
frame is over in which the reading begins, and the reader on the others. Otherwise both are soon on one, for whoever
wakes the other draws it near. No longer than that frame: then the window's processor is idle, and on a busy machine no
other is.
"""

import ctypes
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import NamedTuple, ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")


class _Stay(NamedTuple):
    """Threads that stay on processors of their own for a while, and where they might be."""

    threads: tuple[int, int]  # who asked, and the reader
    allowed: set[int]


class Reader(ThreadPoolExecutor):
    def __init__(self) -> None:
        super().__init__(1, "keyframes", self._begin)
        self._thread: int | None = None  # its number to the system, where that lets it choose processors
        self._processor = _current_processor()
        self._stay: _Stay | None = None

    def submit(self, fn: Callable[_P, _R], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_R]:
        self._keep_apart()
        future = super().submit(fn, *args, **kwargs)
        future.add_done_callback(lambda _: self.let_go())
        return future

    def let_go(self) -> None:
        """Let both run on all processors again: at the end of the reading, and of the frame. What the window starts
        (the encoder of a video, a process) would otherwise stay on its processor for good.
        """
        stay, self._stay = self._stay, None
        if stay is None:
            return
        for thread in stay.threads:
            with suppress(OSError):  # it has ended
                os.sched_setaffinity(thread, stay.allowed)

    def _begin(self) -> None:
        if sys.platform == "linux":
            self._thread = threading.get_native_id()

    def _keep_apart(self) -> None:
        if self._thread is None or self._processor is None:
            return
        with suppress(OSError):  # where nobody may choose
            asker, allowed, own = threading.get_native_id(), os.sched_getaffinity(0), {self._processor()}
            if own < allowed:
                try:
                    os.sched_setaffinity(self._thread, allowed - own)
                    os.sched_setaffinity(asker, own)
                finally:  # not before: the end of an earlier reading may let go just now, of what is not done yet
                    self._stay = _Stay((asker, self._thread), allowed)


def _current_processor() -> Callable[[], int] | None:
    """What says on which processor a thread runs, where there is such a call: Python has none before 3.13."""
    return getattr(ctypes.CDLL(None), "sched_getcpu", None) if sys.platform == "linux" else None


READER = Reader()
