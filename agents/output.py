"""Keeps standard output for results: what an agent of the user's writes there goes to standard error."""

import sys
from typing import Any, TextIO

from agents.watchdog import WATCHDOG


class _Output:
    """Standard output as it was, for the main thread outside of the user's code; standard error for all others."""

    def __init__(self, results: TextIO) -> None:
        self._results = results

    def __getattr__(self, name: str) -> Any:
        return getattr(self._results if WATCHDOG.is_outside else sys.stderr, name)


def keep_for_results() -> None:
    """Have writes to `sys.stdout` sorted from now on, by who makes them."""
    if sys.stdout is not None and not isinstance(sys.stdout, _Output):
        sys.stdout = _Output(sys.stdout)
