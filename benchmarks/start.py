"""Bench `measure_program_start`: time from the command to the first tick, cold and warm, and time to open a large map.

Each start is a separate process without a screen. The window appears before the first tick, with a message while
kernels are prepared. A cold start has no compiled kernels, as on a machine on which the program has never run. The cold
start of an installed wheel is measured if the environment variable BACKMOVE_INSTALLED names its `backmove` command.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.bench_setup import BenchSetup
from benchmarks.table import BenchRow, BenchTable, BenchTarget
from files.movingai import write_map
from sim.map_generators import generate_map
from sim.system.program import PROGRAM_FOLDER
from ui.status_file import STATUS_FILE_VARIABLE

# targets: maximum seconds of each measurement
WARM_START_TARGET = BenchTarget(1.5, is_upper_limit=True)
COLD_START_TARGET = BenchTarget(8.0, is_upper_limit=True)
COLD_PROCESSOR_TARGET = BenchTarget(12.0, is_upper_limit=True)
INSTALLED_START_TARGET = BenchTarget(1.5, is_upper_limit=True)
OPEN_MAP_TARGET = BenchTarget(2.0, is_upper_limit=True)
LARGE_MAP_SIDE = 1024  # side of the large map in cells
INSTALLED_VARIABLE = "BACKMOVE_INSTALLED"  # environment variable with the command of an installed wheel
_WATCHING_TIME_S = 60.0  # seconds for which the window is watched after a cold start
_PATIENCE_S = 180.0  # maximum seconds until the awaited state; a start that takes longer has failed
_CHECKOUT_COMMAND = (sys.executable, "main.py")


@dataclass(frozen=True)
class StartTimes:
    """Measurements of one start of the program."""

    # Seconds from the command until the awaited state, usually the first tick of the example.
    seconds_until_state: float
    processor_s: float  # processor time until the awaited state, in seconds; nan if the system does not report it
    # longest frame from the start of the program to the end of the measurement, in milliseconds
    longest_frame_ms: float


def run(setup: BenchSetup) -> BenchTable:
    table = BenchTable("start: seconds to the first tick of the first example")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        large = root / "large.map"
        write_map(generate_map("caves", {"width": LARGE_MAP_SIDE, "height": LARGE_MAP_SIDE, "seed": 5}).grid, large)
        setup.progress.update_bar("start: cold")
        cold = measure_program_start(root / "cold", cache=root / "kernels", watched_s=_WATCHING_TIME_S)
        setup.progress.update_bar("start: warm")
        warm = min(
            (measure_program_start(root / f"warm{i}") for i in range(setup.rounds)), key=lambda s: s.seconds_until_state
        )
        frame = min(
            measure_program_start(root / f"first{i}", until=has_window_appeared).seconds_until_state
            for i in range(setup.rounds)
        )
        opened = min(
            measure_program_start(root / f"open{i}", large, until=has_window_appeared).seconds_until_state
            for i in range(setup.rounds)
        )
        rows = _start_rows("checkout, warm", warm, WARM_START_TARGET) + _start_rows(
            "checkout, cold", cold, COLD_START_TARGET, COLD_PROCESSOR_TARGET
        )
        rows.append(BenchRow("longest frame of the first minute, cold", cold.longest_frame_ms, "ms"))
        if command := os.environ.get(INSTALLED_VARIABLE):
            wheel = measure_program_start(root / "wheel", cache=root / "unpacked", command=(command,))
            rows += _start_rows("wheel, cold", wheel, INSTALLED_START_TARGET)
    table.rows += rows
    table.rows.append(
        BenchRow(
            f"a {LARGE_MAP_SIDE} x {LARGE_MAP_SIDE} map more than the example",
            max(0.0, opened - frame),
            "s",
            target=OPEN_MAP_TARGET,
        )
    )
    return table


def _start_rows(
    name: str, start: StartTimes, target: BenchTarget, processor: BenchTarget | None = None
) -> list[BenchRow]:
    return [
        BenchRow(name, start.seconds_until_state, "s", target=target),
        BenchRow(f"{name}: processor time", start.processor_s, "s", target=processor),
    ]


def has_window_appeared(status: dict[str, Any]) -> bool:
    """Return True, because any status file shows that the window has appeared."""
    return True


def _has_first_tick_passed(status: dict[str, Any]) -> bool:
    """Return whether the first tick has passed."""
    return bool(status["tick"] > 0)


def measure_program_start(
    folder: Path,
    path: Path | None = None,
    cache: Path | None = None,
    command: Sequence[str] = _CHECKOUT_COMMAND,
    until: Callable[[dict[str, Any]], bool] = _has_first_tick_passed,
    watched_s: float = 0.0,
) -> StartTimes:
    """Start the program, wait until its window has reached a state, watch it for a while, and end it.

    Args:
        folder: The folder for the status file and settings of the program.
        path: The file to open.
        cache: The folder of compiled kernels; None for the default folder.
        command: The command that starts the program.
        until: Returns whether the awaited state has been reached, from the content of the status file.
        watched_s: The seconds to watch the program after that.

    Returns:
        The measurements; nan if the program ends early or takes too long.
    """
    folder.mkdir(parents=True, exist_ok=True)
    status = folder / "status.json"
    environment = {
        **os.environ,
        STATUS_FILE_VARIABLE: str(status),
        "SDL_VIDEODRIVER": "dummy",
        "XDG_CONFIG_HOME": str(folder),
    }
    environment["XDG_STATE_HOME"] = str(folder)
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = str(cache)
    begin = time.perf_counter()
    process = subprocess.Popen(
        [*command, *([str(path)] if path else [])], cwd=PROGRAM_FOLDER, env=environment, stderr=subprocess.DEVNULL
    )
    try:
        while not (state := _read_status(status)) or not until(state):
            if process.poll() is not None or time.perf_counter() - begin > _PATIENCE_S:
                return StartTimes(float("nan"), float("nan"), float("nan"))
            time.sleep(0.005)
        passed, processor = time.perf_counter() - begin, _processor_seconds(process.pid)
        time.sleep(watched_s)
        return StartTimes(passed, processor, (_read_status(status) or state)["longest_frame_ms"])
    finally:
        process.kill()
        process.wait()


def _read_status(status: Path) -> dict[str, Any]:
    """Return the content of the status file, empty if the file cannot be read."""
    try:
        return dict(json.loads(status.read_text()))
    except (OSError, ValueError):  # the file does not exist yet or, on Windows, is just being replaced
        return {}


def _processor_seconds(pid: int) -> float:
    """Return the processor time in seconds of a process and its finished children, or nan if this is not Linux."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return float("nan")
    return sum(int(ticks) for ticks in fields[11:15]) / os.sysconf("SC_CLK_TCK")
