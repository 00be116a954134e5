"""Output of commands without a window: one JSON object per agent and problem on standard output."""

import json
import sys
from typing import Any

from cli.progress import ProgressBar


def print_result(line: dict[str, Any], progress: ProgressBar) -> None:
    progress.print_line(json.dumps(line, allow_nan=False), sys.stdout)
