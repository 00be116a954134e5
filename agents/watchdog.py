"""Watchdog that interrupts calls into user code, because an endless loop must not hang the window.

    with WATCHDOG.watch_call(1.0):
        agent.advance(...)          a CallTimeoutError is raised inside this call after about a second
    WATCHDOG.is_outside_watched_calls    whether the caller is in the main thread and outside all watched calls
    run_watched_thread(do, 1.0)          run `do` in a watched thread, which is abandoned if it does not return

A daemon thread counts quarters of a second; the watched calls read no clock. The error is raised between two bytecode
instructions: a call that blocks in C, such as `time.sleep`, is interrupted only when it returns.

If user code forks a process inside a watched call, the child process ends at the end of the call; otherwise it would
continue as a second copy of the program.
"""

import ctypes
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

_CHECK_INTERVAL_S = 0.25  # interval in seconds between two checks of the watched calls


class CallTimeoutError(BaseException):
    """Raised inside a watched call that takes too long; a BaseException, which `except Exception` does not catch."""


class _WatchedCall:
    """Context manager of one watched call, which is a call into user code with a time limit.

    It does not use contextlib, which would set `__traceback__` of a passing error: a user-defined error class could
    make that an endless loop.
    """

    def __init__(self, watchdog: "Watchdog", looks: int) -> None:
        """Create the context manager of a call that is interrupted after `max_checks` checks by the watchdog thread."""
        self.watchdog, self.checks_left, self.max_checks = watchdog, looks, looks
        self.thread_id = threading.get_ident()
        self.is_interrupted = self.is_forked = False

    def __enter__(self) -> None:
        self.watchdog.register_watched_call(self)

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.is_forked:
            os._exit(0)
        try:
            self.watchdog.end(self)
        except CallTimeoutError:  # raised while `end` ran, so the call may still be registered: remove it again
            self.watchdog.end(self)
            raise


class Watchdog:
    """Registry of the watched calls of all threads, with the daemon thread that interrupts calls that take too long."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watched_calls: set[_WatchedCall] = set()  # watched calls that have not returned
        self._has_thread = False  # whether the daemon thread has been started

    def watch_call(self, seconds: float) -> _WatchedCall:
        return _WatchedCall(self, max(1, round(seconds / _CHECK_INTERVAL_S)))

    @property
    def is_outside_watched_calls(self) -> bool:
        """Return whether the current thread is the main thread and outside all watched calls."""
        if threading.current_thread() is not threading.main_thread():
            return False
        thread = threading.get_ident()
        return all(call.thread_id != thread for call in self._watched_calls.copy())

    def register_watched_call(self, call: _WatchedCall) -> None:
        if not self._has_thread:
            self._start_watchdog_thread()
        self._watched_calls.add(call)

    def end(self, call: _WatchedCall) -> None:
        with self._lock:
            self._watched_calls.discard(call)
            if (
                call.is_interrupted
            ):  # the call has returned, so cancel its pending error unless it is being raised already
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(call.thread_id), None)

    def _start_watchdog_thread(self) -> None:
        self._has_thread = True
        threading.Thread(target=self._check_watched_calls, name="watchdog", daemon=True).start()

    def _check_watched_calls(self) -> None:
        """Check all watched calls every quarter of a second, until the program ends; body of the daemon thread."""
        pause = threading.Event()
        while not pause.wait(_CHECK_INTERVAL_S):
            with self._lock:
                for call in tuple(self._watched_calls):
                    call.checks_left -= 1
                    if call.checks_left < 0:
                        self._interrupt_call(call)

    def _interrupt_call(self, call: _WatchedCall) -> None:
        """Raise a CallTimeoutError in the thread of the call; re-arm its timer in case the code swallows the error."""
        call.checks_left, call.is_interrupted = call.max_checks, True
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(call.thread_id), ctypes.py_object(CallTimeoutError))

    def reset_after_fork(self) -> None:
        """Reset the watchdog in a forked process, which has no watchdog thread, only the thread that forked."""
        thread = threading.get_ident()
        for call in self._watched_calls:
            call.is_forked = call.thread_id == thread
        self.__init__()  # type: ignore[misc]


WATCHDOG = Watchdog()


def run_watched_thread(do: Callable[[], object], seconds: float) -> None:
    """Run user code in a daemon thread, wait for it for at most twice the given time, and ignore all its errors.

    In such a thread the code may block in C for ever without blocking the caller. A KeyboardInterrupt that the code
    raises cannot be confused with Ctrl+C, which only the main thread receives.

    Args:
        do: Function that calls the user code.
        seconds: Time after which the watchdog interrupts the code.
    """

    def run() -> None:
        with suppress(BaseException), WATCHDOG.watch_call(seconds):
            do()

    thread = threading.Thread(target=run, name="user code", daemon=True)
    with suppress(RuntimeError, MemoryError):  # raised if the system cannot start another thread
        thread.start()
        thread.join(2 * seconds)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WATCHDOG.reset_after_fork)
