"""Ends that come from outside: another program's polite one is treated as Ctrl+C, and its own end as a polite one."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def heeding_sigterm() -> Iterator[None]:
    """As long as this lasts SIGTERM interrupts: results so far are printed and kept, and no half file stays behind."""
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)


def end_with_input() -> None:
    """From now on the end of standard input is a SIGTERM: whoever holds the other end of that pipe is gone, however it
    went.
    """
    threading.Thread(target=_end_with_input, args=(sys.stdin.fileno(),), daemon=True).start()


def _end_with_input(stdin: int) -> None:
    while os.read(stdin, 4096):  # not sys.stdin.read(): at its own end a program would stumble over the lock of that
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
