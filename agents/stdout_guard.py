"""Redirection of what user-defined agents print to standard error, because standard output is for results only."""

import sys
from typing import Any, TextIO

from agents.watchdog import WATCHDOG


class _ResultStream:
    """Stream that writes to standard error while user code runs, and in other threads; else to standard output."""

    def __init__(self, results: TextIO) -> None:
        self._stdout = results

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stdout if WATCHDOG.is_outside_watched_calls else sys.stderr, name)


def reserve_stdout_for_results() -> None:
    """Reserve standard output for results: redirect what user code prints to standard error."""
    if sys.stdout is not None and not isinstance(sys.stdout, _ResultStream):
        sys.stdout = _ResultStream(sys.stdout)
