"""Programs of ours that run beside the window: the one that films, and the one that compiles kernels."""

import os
import subprocess
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sim.program import ROOT

NO_VARIABLES: Mapping[str, str] = MappingProxyType({})


def apart(platform: str = sys.platform, *, is_idle: bool = False) -> dict[str, Any]:
    """How to start a program that a Ctrl+C in the terminal of the window does not end, and that shows no window.

    `is_idle`: it only gets what nobody else wants of the processor. On POSIX it sees to that itself, by os.nice.
    """
    if platform != "win32":
        return {"start_new_session": True}
    new_group, no_window, idle = 0x200, 0x08000000, 0x40  # subprocess.CREATE_NEW_PROCESS_GROUP and so on
    return {"creationflags": new_group | no_window | (idle if is_idle else 0)}


def start(
    module: str, *words: str, is_idle: bool = False, variables: Mapping[str, str] = NO_VARIABLES, **pipes: Any
) -> "subprocess.Popen[bytes]":
    """Start `python -m module` with the same folders and caches as this program."""
    environment = {**os.environ, "SDL_VIDEODRIVER": "dummy", "PYGAME_HIDE_SUPPORT_PROMPT": "1", **variables}
    command = [sys.executable, "-m", module, *words]
    return subprocess.Popen(command, cwd=ROOT, env=environment, **pipes, **apart(is_idle=is_idle))


def be_idle() -> None:
    """Let everybody else go first; on Windows whoever started this program has said so."""
    if sys.platform != "win32":
        os.nice(19)
