"""Ends a call into code of a user's that does not come back: a loop without an end must not hang the window.

    with WATCHDOG.watching(1.0):
        agent.advance(...)          a TooLongError is raised in there after about a second

A thread of its own counts quarters of a second; nobody looks at a clock. The error comes between two steps of Python
code: what waits in C, such as `time.sleep`, is ended when it returns.
"""

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_LOOK_S = 0.25


class TooLongError(BaseException):
    """A call takes too long. No `except Exception` in the code that is called may keep it back."""


class _Call:
    def __init__(self, looks: int) -> None:
        self.thread, self.left, self.looks = threading.get_ident(), looks, looks
        self.is_fired = False


class Watchdog:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: set[_Call] = set()
        self._is_awake = False

    @contextmanager
    def watching(self, seconds: float) -> Iterator[None]:
        if not self._is_awake:
            self._wake()
        call = _Call(max(1, round(seconds / _LOOK_S)))
        self._calls.add(call)
        try:
            yield
        finally:
            with self._lock:
                self._calls.discard(call)
                if call.is_fired:  # too late to be raised in there: take it back, if it is not under way already
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(call.thread), None)

    def _wake(self) -> None:
        self._is_awake = True
        threading.Thread(target=self._look, name="watchdog", daemon=True).start()

    def _look(self) -> None:
        """Every quarter of a second for as long as the program lives."""
        pause = threading.Event()
        while not pause.wait(_LOOK_S):
            with self._lock:
                for call in tuple(self._calls):
                    call.left -= 1
                    if call.left < 0:
                        self._fire(call)

    def _fire(self, call: _Call) -> None:
        """Code that catches everything is told again after as long."""
        call.left, call.is_fired = call.looks, True
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(call.thread), ctypes.py_object(TooLongError))

    def after_fork(self) -> None:
        """A forked process has no thread that looks."""
        self.__init__()  # type: ignore[misc]


WATCHDOG = Watchdog()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WATCHDOG.after_fork)
