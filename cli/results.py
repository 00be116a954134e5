"""Output of commands without a window: one JSON object per agent and problem on standard output."""

import json
import sys
from typing import Any

from cli.progress import Progress


def print_result(line: dict[str, Any], progress: Progress) -> None:
    progress.say(json.dumps(line, allow_nan=False), sys.stdout)
