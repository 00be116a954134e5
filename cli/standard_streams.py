"""Handling of standard output and standard error if the calling process has closed them, at the start or later."""

import os
import sys

from sim.params import ConfigError


def replace_closed_streams() -> bool:
    """Replace streams that were closed at the start (`>&-`) by the null device, because Python sets them to None.

    Returns:
        Whether standard output was open.
    """
    has_output = sys.stdout is not None
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - for good
    return has_output


def check_output_is_open(command: str, has_output: bool) -> None:
    """Raise a ConfigError if a command that prints results was started with closed standard output."""
    if not has_output:
        raise ConfigError(
            f"{command}: standard output is closed, so results would be lost; use >/dev/null to discard them"
        )


def discard_output(code: int) -> int:
    """Redirect standard output to the null device and return `code`.

    Otherwise the interpreter would flush standard output at exit, and report the error of the closed stream again.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code
