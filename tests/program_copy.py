"""Copies of the program for mutants, and the environment in which the tests run there."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("sim", "files", "experiments", "agents", "ui", "cli", "benchmarks", "tools", "tests", "assets", "docs")


def copy_program(folder: Path) -> Path:
    """Copy the program into a folder and return the root of the copy."""
    root = folder / "program"
    for name in FOLDERS:
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in ROOT.iterdir():  # every file at the top, since tests may read any of them
        if path.is_file():
            shutil.copy2(path, root / path.name)
    return root


def environment_in(folder: Path, *, compiles: bool) -> dict[str, str]:
    """Return the environment of tests that keep the user's own folders as they are; the cache of kernels is shared."""
    homes = {f"XDG_{kind}_HOME": str(folder / kind) for kind in ("STATE", "CONFIG", "DATA")}
    jit = {"NUMBA_DISABLE_JIT": "0" if compiles else "1"}
    return {**os.environ, **homes, **jit, "CI": "1", "SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}


def run_tests(
    root: Path, arguments: Sequence[str], environment: dict[str, str], seconds: float
) -> subprocess.CompletedProcess[str] | None:
    """Run pytest in a copy of the program; None where it does not end in time."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow", *arguments]
    try:
        return subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return None
