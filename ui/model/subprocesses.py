"""Functions that start the subprocesses of the window: the film worker and the compilers of kernels."""

import os
import subprocess
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sim.system.program import PROGRAM_FOLDER

NO_EXTRA_VARIABLES: Mapping[str, str] = MappingProxyType({})


def detached_popen_options(platform: str = sys.platform, *, is_idle: bool = False) -> dict[str, Any]:
    """Return the options of `subprocess.Popen` for a detached subprocess.

    Ctrl+C in the terminal of the window does not end such a subprocess, and on Windows it opens no console window.

    Args:
        platform: Value of `sys.platform`; tests pass other values.
        is_idle: Whether the subprocess runs at idle priority. Only used on Windows: on POSIX the subprocess lowers its
            priority itself.
    """
    if platform != "win32":
        return {"start_new_session": True}
    # values of subprocess.CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW and IDLE_PRIORITY_CLASS, defined on Windows only
    new_group, no_window, idle = 0x200, 0x08000000, 0x40
    return {"creationflags": new_group | no_window | (idle if is_idle else 0)}


def start_detached_module(
    module: str, *arguments: str, is_idle: bool = False, variables: Mapping[str, str] = NO_EXTRA_VARIABLES, **pipes: Any
) -> "subprocess.Popen[bytes]":
    """Start `python -m module` as a detached subprocess with the same folders and caches as this program.

    Args:
        module: Dotted name of the module.
        arguments: Command-line arguments.
        is_idle: Whether the subprocess runs at idle priority. Only used on Windows: on POSIX the subprocess has to
            lower its priority itself.
        variables: Further environment variables, added to the environment of this program.
        pipes: `stdin`, `stdout` and `stderr` of `subprocess.Popen`.
    """
    environment = {**os.environ, "SDL_VIDEODRIVER": "dummy", "PYGAME_HIDE_SUPPORT_PROMPT": "1", **variables}
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.Popen(
        command, cwd=PROGRAM_FOLDER, env=environment, **pipes, **detached_popen_options(is_idle=is_idle)
    )


def set_idle_priority() -> None:
    """Lower this process to idle priority; does nothing on Windows, where the parent process sets the priority."""
    if sys.platform != "win32":
        os.nice(19)
