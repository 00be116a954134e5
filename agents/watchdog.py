"""Ends a call into code of the user's that does not return: an endless loop must not hang the window.

    with WATCHDOG.watching(1.0):
        agent.advance(...)          a TooLongError is raised in there after about a second
    WATCHDOG.is_outside             whether it is the program's own code that asks: the main thread, outside such calls
    attempt(do, 1.0)                the same in a thread of its own, which may be left to itself

A thread of its own counts quarters of a second; no call reads a clock. The error is raised between two steps of Python
code: a call that waits in C, such as `time.sleep`, is ended when it returns.

A process that such a call forks ends where the call ends, or it would go on as a second copy of the program.
"""

import ctypes
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

_LOOK_S = 0.25


class TooLongError(BaseException):
    """A call takes too long. No `except Exception` in the code that is called may keep it back."""


class _Call:
    """One call that is watched, as a context manager.

    That of contextlib would set `__traceback__` of an error that passes, which a class of the user's may make endless.
    """

    def __init__(self, watchdog: "Watchdog", looks: int) -> None:
        self.watchdog, self.left, self.looks = watchdog, looks, looks
        self.thread = threading.get_ident()
        self.is_fired = self.is_forked = False

    def __enter__(self) -> None:
        self.watchdog.begin(self)

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.is_forked:
            os._exit(0)
        try:
            self.watchdog.end(self)
        except TooLongError:  # raised just here, before the call was taken off the list
            self.watchdog.end(self)
            raise


class Watchdog:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: set[_Call] = set()
        self._is_awake = False

    def watching(self, seconds: float) -> _Call:
        return _Call(self, max(1, round(seconds / _LOOK_S)))

    @property
    def is_outside(self) -> bool:
        """Whether the present thread is the main one, and in no call that is watched."""
        if threading.current_thread() is not threading.main_thread():
            return False
        thread = threading.get_ident()
        return all(call.thread != thread for call in self._calls.copy())

    def begin(self, call: _Call) -> None:
        if not self._is_awake:
            self._wake()
        self._calls.add(call)

    def end(self, call: _Call) -> None:
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
        """Raise the error in the thread of the call, and again after as long: its code may catch everything."""
        call.left, call.is_fired = call.looks, True
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(call.thread), ctypes.py_object(TooLongError))

    def after_fork(self) -> None:
        """Begin anew in a forked process, which has only the thread that forked it, and none that looks."""
        thread = threading.get_ident()
        for call in self._calls:
            call.is_forked = call.thread == thread
        self.__init__()  # type: ignore[misc]


WATCHDOG = Watchdog()


def attempt(do: Callable[[], object], seconds: float) -> None:
    """Run code of the user's in a thread of its own, whatever becomes of it.

    There it may wait in C for good, and a KeyboardInterrupt of its own is no Ctrl+C, which only the main thread gets.
    """

    def run() -> None:
        with suppress(BaseException), WATCHDOG.watching(seconds):
            do()

    thread = threading.Thread(target=run, name="code of the user's", daemon=True)
    with suppress(RuntimeError, MemoryError):  # no thread to be had
        thread.start()
        thread.join(2 * seconds)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WATCHDOG.after_fork)
