"""Progress bar on standard error, shown only on a terminal."""

import sys
import time
from typing import TextIO

from sim.params import escape_unprintable

_INTERVAL_S = 0.1  # minimum seconds between two updates of the bar
_WIDTH = 24  # characters inside the brackets of the bar


class ProgressBar:
    """Progress bar of a command. All other lines must be printed with `print_line`, which removes the bar first."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self.is_terminal = self._stream.isatty()
        # earliest time of the next update; it is not now, so that short work shows no bar
        self._next_update_s = time.monotonic() + _INTERVAL_S
        self._shown_width = 0  # number of characters of the bar on screen

    def update_bar(self, text: str, share: float | None = None) -> None:
        """Update the bar, unless the last update was less than _INTERVAL_S seconds ago.

        Args:
            text: Describes the current work.
            share: The share of the work that is done, from 0 to 1; None if it is unknown.
        """
        if not self.is_terminal or time.monotonic() < self._next_update_s:
            return
        self._next_update_s = time.monotonic() + _INTERVAL_S
        line = f"{_bar_text(share)} {text}" if share is not None else text
        self._write_to_terminal("\r" + escape_unprintable(line).ljust(self._shown_width))
        self._shown_width = len(line)

    def print_line(self, line: str, stream: TextIO | None = None) -> None:
        """Remove the bar and print a line to standard error, or to another stream, without buffering."""
        self.clear_bar()
        print(escape_unprintable(line), file=stream if stream is not None else self._stream, flush=True)

    def clear_bar(self) -> None:
        """Remove the bar from the screen."""
        if self._shown_width:
            self._write_to_terminal("\r" + " " * self._shown_width + "\r")
            self._shown_width = 0

    def _write_to_terminal(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def _bar_text(share: float) -> str:
    done = round(max(0.0, min(1.0, share)) * _WIDTH)
    return f"[{'=' * done}{' ' * (_WIDTH - done)}]"
