"""A line on standard error that says how far long work has got; only on a terminal."""

import sys
import time
from typing import TextIO

from sim.params import printable

_INTERVAL_S = 0.1
_WIDTH = 24


class Progress:
    """Shows a bar while there is something to wait for. Everything else is printed through say()."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self.is_on = self._stream.isatty()
        self._next_s = time.monotonic() + _INTERVAL_S  # short work shows nothing
        self._shown = 0  # characters of the bar on screen

    def show(self, text: str, share: float | None = None) -> None:
        """Say what is being done, and which share of it is done if that is known."""
        if not self.is_on or time.monotonic() < self._next_s:
            return
        self._next_s = time.monotonic() + _INTERVAL_S
        line = f"{_bar(share)} {text}" if share is not None else text
        self._write("\r" + printable(line).ljust(self._shown))
        self._shown = len(line)

    def say(self, line: str, stream: TextIO | None = None) -> None:
        """Print a whole line, at once, to standard error or another stream, not into the bar."""
        self.clear()
        print(printable(line), file=stream if stream is not None else self._stream, flush=True)

    def clear(self) -> None:
        """Take the bar off the screen."""
        if self._shown:
            self._write("\r" + " " * self._shown + "\r")
            self._shown = 0

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def _bar(share: float) -> str:
    done = round(max(0.0, min(1.0, share)) * _WIDTH)
    return f"[{'=' * done}{' ' * (_WIDTH - done)}]"
