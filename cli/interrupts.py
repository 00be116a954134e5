"""Recording of Ctrl+C and SIGTERM as a flag, which a command checks between two steps of its work.

Usage in a command:

with InterruptFlag() as interrupts:
    if interrupts.run_interruptibly(compile_everything):    a signal ends this work at once
        while not interrupts.exit_code and step():   after a signal the current step finishes
            ...
return interrupts.exit_code or 0
"""

import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

EXIT_CODES: dict[int, int] = {signal.SIGINT: 130, signal.SIGTERM: 143}
"""Exit code for each signal: 128 + the number of the signal, as shells report a program that a signal has killed."""


class TerminatedError(KeyboardInterrupt):
    """Exception raised by SIGTERM during work that a signal may end at once."""


def exit_code_of(error: KeyboardInterrupt) -> int:
    """Return the exit code of a program that is ended by this exception."""
    return EXIT_CODES[signal.SIGTERM if isinstance(error, TerminatedError) else signal.SIGINT]


class InterruptFlag:
    """Signal handler that records the first signal that arrives while the context is open.

    The first signal raises an exception only inside `run_interruptibly`. Elsewhere an exception could interrupt the
    writing of a result line or file, break off a tick, or be lost in a callback. Every further signal raises an
    exception anywhere, because the command may never reach its next check.
    """

    def __init__(self) -> None:
        self.exit_code = 0  # exit code of the first signal, 0 if none has arrived
        # Whether the first signal may raise an exception, as inside `run_interruptibly`.
        self._may_interrupt_work = False
        self._previous_handlers: dict[int, Any] = {}  # signal -> handler to restore on exit

    def __enter__(self) -> "InterruptFlag":
        for number in EXIT_CODES:
            if signal.getsignal(number) is not signal.SIG_IGN:  # a shell ignores SIGINT for background jobs
                self._previous_handlers[number] = signal.signal(number, self._record_signal)
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._previous_handlers.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def run_interruptibly(self, work: Callable[[], object]) -> bool:
        """Call `work`, which the first signal may interrupt; return whether `work` finished.

        If a signal has already arrived, `work` is not called.
        """
        # set before `exit_code` is checked, so that a signal between the two statements is not missed
        self._may_interrupt_work = True
        try:
            if not self.exit_code:
                work()
        except KeyboardInterrupt as error:
            self.exit_code = self.exit_code or exit_code_of(error)
        finally:
            self._may_interrupt_work = False
        return not self.exit_code

    def _record_signal(self, number: int, frame: FrameType | None) -> None:
        is_first, self.exit_code = not self.exit_code, self.exit_code or EXIT_CODES[number]
        if self._may_interrupt_work or not is_first:
            raise TerminatedError if number == signal.SIGTERM else KeyboardInterrupt


def terminate_at_end_of_input() -> None:
    """Send a SIGTERM to this process when standard input ends, because the process that wrote to it has ended."""
    threading.Thread(target=_wait_for_end_of_input, args=(sys.stdin.fileno(),), daemon=True).start()


def _wait_for_end_of_input(stdin: int) -> None:
    while os.read(stdin, 4096):  # sys.stdin.read() would hold a lock that the interpreter waits for at exit
        pass
    os.kill(os.getpid(), signal.SIGTERM)
