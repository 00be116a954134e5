"""Ends that come from outside: another program's polite one is treated as Ctrl+C."""

import signal
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


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
