"""Ctrl+C and SIGTERM as a flag, which a command checks between two steps of its work.

with Interrupts() as interrupts:
    if interrupts.finishes(compile_everything):      a signal ends this at once
        while not interrupts.exit_code and step():   a signal lets the current step finish
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
"""Exit code for each signal: 128 + its number, as shells report a program that was killed by a signal."""


class TerminatedError(KeyboardInterrupt):
    """Exception raised by SIGTERM where a signal may end the current work at once."""


def exit_code_of(error: KeyboardInterrupt) -> int:
    """Return the exit code of a program that is ended by this exception."""
    return EXIT_CODES[signal.SIGTERM if isinstance(error, TerminatedError) else signal.SIGINT]


class Interrupts:
    """Signal handler that records the first signal that arrives while the context is open.

    The first signal raises an exception only inside `finishes`. Elsewhere an exception could interrupt the writing of
    a result line or file, break off a tick, or be lost in a callback. Every further signal raises an exception
    anywhere, in case the command never reaches its next check.
    """

    def __init__(self) -> None:
        self.exit_code = 0  # exit code of the first signal, 0 if none has arrived
        self._is_breakable = False
        self._handlers_before: dict[int, Any] = {}

    def __enter__(self) -> "Interrupts":
        for number in EXIT_CODES:
            if signal.getsignal(number) is not signal.SIG_IGN:  # a shell ignores SIGINT for background jobs
                self._handlers_before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *exception: object) -> None:
        for number, handler in self._handlers_before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def finishes(self, work: Callable[[], object]) -> bool:
        """Do work that the first signal may interrupt; return whether it was finished."""
        self._is_breakable = True  # set before checking `exit_code`, so that no signal between the two is missed
        try:
            if not self.exit_code:
                work()
        except KeyboardInterrupt as error:
            self.exit_code = self.exit_code or exit_code_of(error)
        finally:
            self._is_breakable = False
        return not self.exit_code

    def _note(self, number: int, frame: FrameType | None) -> None:
        is_first, self.exit_code = not self.exit_code, self.exit_code or EXIT_CODES[number]
        if self._is_breakable or not is_first:
            raise TerminatedError if number == signal.SIGTERM else KeyboardInterrupt


def end_with_input() -> None:
    """Send a SIGTERM to this process when standard input ends, because the process that wrote to it has ended."""
    threading.Thread(target=_end_with_input, args=(sys.stdin.fileno(),), daemon=True).start()


def _end_with_input(stdin: int) -> None:
    while os.read(stdin, 4096):  # sys.stdin.read() would hold a lock that the interpreter waits for at exit
        pass
    os.kill(os.getpid(), signal.SIGTERM)
