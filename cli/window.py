"""The way into the window, which is loaded only when it is wanted."""

import importlib
import importlib.util
import sys
from pathlib import Path

from cli import run

FIRST_SCENARIO = Path(__file__).resolve().parent.parent / "assets" / "scenarios" / "scrubbing.yaml"


def open_window(path: str | None) -> int:
    """Open the app with a file, or with the gallery."""
    if importlib.util.find_spec("ui.start") is None:
        # Without the window's code, a run on the terminal is better than a dead end.
        print("this copy has no window; running a scenario here instead", file=sys.stderr)
        return run.main([path or str(FIRST_SCENARIO)])
    app = importlib.import_module("ui.start")
    return int(app.run(Path(path) if path else None) or 0)
