"""Thread that reads keyframes while the window draws, presents and waits.

The window has priority: so that frames are not late, the reader yields after each fifth of a millisecond
(sim/jit/yield_flag.py). Where threads can choose their processors (Linux), the window stays on its processor, and
the reader on the others, until the end of the frame in which the reading begins. Otherwise both would soon share a
processor, because the system moves a woken thread close to the one that woke it. The restriction ends with that frame,
because then the window's processor is idle, and on a busy machine it may be the only idle one.
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


class _SeparatedThreads(NamedTuple):
    """Two threads that are temporarily restricted to different processors."""

    thread_ids: tuple[int, int]  # native ids of the calling thread and of the reader thread
    allowed_processors: set[int]  # processors that both threads may use when the restriction is lifted


class KeyframeReader(ThreadPoolExecutor):
    """Executor with one thread, which reads keyframes on other processors than the caller."""

    def __init__(self) -> None:
        super().__init__(1, "keyframes", self._store_thread_id)
        self._reader_thread_id: int | None = None  # native thread id, on systems where it can be assigned to processors
        self._current_processor = _current_processor_function()
        self._separated_threads: _SeparatedThreads | None = None

    def submit(self, fn: Callable[_P, _R], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_R]:
        self._separate_threads()
        future = super().submit(fn, *args, **kwargs)
        future.add_done_callback(lambda _: self.end_thread_separation())
        return future

    def end_thread_separation(self) -> None:
        """Let both threads use all processors again, at the end of the reading or of the frame.

        Otherwise threads and processes that the window starts, such as a video encoder, would inherit its restriction.
        """
        separation, self._separated_threads = self._separated_threads, None
        if separation is None:
            return
        for thread in separation.thread_ids:
            with suppress(OSError):  # the thread may have ended already
                os.sched_setaffinity(thread, separation.allowed_processors)

    def _store_thread_id(self) -> None:
        if sys.platform == "linux":
            self._reader_thread_id = threading.get_native_id()

    def _separate_threads(self) -> None:
        if self._reader_thread_id is None or self._current_processor is None:
            return
        with suppress(OSError):  # the system may not permit threads to choose their processors
            calling_thread, allowed = threading.get_native_id(), os.sched_getaffinity(0)
            own_processor = {self._current_processor()}
            if own_processor < allowed:
                try:
                    os.sched_setaffinity(self._reader_thread_id, allowed - own_processor)
                    os.sched_setaffinity(calling_thread, own_processor)
                # set last, because the callback of an earlier reading may call end_thread_separation() meanwhile
                finally:
                    self._separated_threads = _SeparatedThreads((calling_thread, self._reader_thread_id), allowed)


def _current_processor_function() -> Callable[[], int] | None:
    """Return a function that returns the number of the processor on which its caller runs; None if there is none.

    The function is taken from the C library, because the `os` module has no such function.
    """
    return getattr(ctypes.CDLL(None), "sched_getcpu", None) if sys.platform == "linux" else None


KEYFRAME_READER = KeyframeReader()
