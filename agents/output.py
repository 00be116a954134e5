"""Redirection of standard output: it is reserved for results, so what user-defined agents print goes to stderr."""

import sys
from typing import Any, TextIO

from agents.watchdog import WATCHDOG


class _Output:
    """Stream that writes to standard output in the main thread outside user code, and to standard error elsewhere."""

    def __init__(self, results: TextIO) -> None:
        self._results = results

    def __getattr__(self, name: str) -> Any:
        return getattr(self._results if WATCHDOG.is_outside else sys.stderr, name)


def keep_for_results() -> None:
    """Replace `sys.stdout` by a stream that redirects the output of user code to standard error."""
    if sys.stdout is not None and not isinstance(sys.stdout, _Output):
        sys.stdout = _Output(sys.stdout)
