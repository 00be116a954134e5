"""Bench `start`: seconds from the command to the first complete frame, warm and cold, and to open a map.

Each start is a process of its own, without a screen. The window itself stands sooner: while kernels are made ready it
says so.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cli.bench.setup import Setup
from cli.bench.table import Row, Table, Target
from sim.files.map import write_map
from sim.generate import generate
from ui.status import VARIABLE

WARM = Target(1.5, is_upper=True)
OPEN = Target(2.0, is_upper=True)
LARGE = 1024
_PATIENCE_S = 180.0
_ROOT = Path(__file__).resolve().parents[2]


def run(setup: Setup) -> Table:
    table = Table("start: seconds to the first complete frame")
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder) / "large.map"
        write_map(generate("caves", {"width": LARGE, "height": LARGE, "seed": 5}).grid, large)
        setup.progress.show("start: cold")
        cold = seconds_to_frame(Path(folder) / "cold", cache=Path(folder) / "kernels")
        setup.progress.show("start: warm")
        warm = min(seconds_to_frame(Path(folder) / f"warm{i}") for i in range(setup.rounds))
        opened = min(seconds_to_frame(Path(folder) / f"open{i}", large) for i in range(setup.rounds))
    table.rows.append(Row("first example, warm cache", warm, "s", target=WARM))
    table.rows.append(Row(f"a {LARGE} x {LARGE} map more than that", max(0.0, opened - warm), "s", target=OPEN))
    table.rows.append(Row("first example, cold cache (first start only)", cold, "s"))
    return table


def seconds_to_frame(folder: Path, path: Path | None = None, cache: Path | None = None) -> float:
    """From starting the program to its first frame with the world in it."""
    folder.mkdir(parents=True, exist_ok=True)
    status = folder / "status.json"
    environment = {**os.environ, VARIABLE: str(status), "SDL_VIDEODRIVER": "dummy", "XDG_CONFIG_HOME": str(folder)}
    environment["XDG_STATE_HOME"] = str(folder)
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = str(cache)
    command = [sys.executable, "main.py", *([str(path)] if path else [])]
    begin = time.perf_counter()
    process = subprocess.Popen(command, cwd=_ROOT, env=environment, stderr=subprocess.DEVNULL)
    try:
        while not status.exists() and process.poll() is None and time.perf_counter() - begin < _PATIENCE_S:
            time.sleep(0.005)
        return time.perf_counter() - begin if status.exists() else float("nan")
    finally:
        process.kill()
        process.wait()
