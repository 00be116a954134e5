"""Standard output and standard error, where whoever started us has closed them or wants no more of them."""

import os
import sys


def replace_closed() -> bool:
    """Python has None for a stream that is closed from the beginning (`>&-`). Returns whether there is an output."""
    has_output = sys.stdout is not None
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - for good
    return has_output


def close_output(code: int) -> int:
    """Let nothing be written any more, or the interpreter would complain once again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code
