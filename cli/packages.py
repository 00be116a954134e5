"""Checks that the packages that the program needs are installed, with instructions for installing missing packages."""

import importlib.metadata
import os
import sys

from sim.params import ConfigError
from sim.system.program import PROGRAM_FOLDER

# top-level modules of this program; "" is the name of an unknown module
_OWN_PACKAGES = ("", "main", "sim", "files", "experiments", "agents", "ui", "cli", "benchmarks", "tools")


def missing_package_message(error: ModuleNotFoundError) -> str:
    """Return a message that names the missing package and how to install it.

    If the missing module belongs to this program, the error is a bug and is raised again.
    """
    if (error.name or "").partition(".")[0] in _OWN_PACKAGES:
        raise error
    own = PROGRAM_FOLDER / ".venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    remedy = (
        f"activate .venv, or use {own} instead of python"
        if own.parent.is_dir()
        else f"`make run` installs it into .venv; or: {sys.executable} -m pip install "
        f"-r {PROGRAM_FOLDER / 'requirements.txt'}"
    )
    return f"{sys.executable}: expected the package {error.name}, found none; {remedy}"


def check_pygame() -> None:
    """Raise a ConfigError if pygame is installed.

    pygame overwrites files of pygame-ce, and widgets then fail with unrelated errors.
    """
    if any(importlib.metadata.distributions(name="pygame")):
        raise ConfigError(
            "pygame is installed in addition to pygame-ce and has overwritten parts of it; to repair it, run\n"
            f"    {sys.executable} -m pip uninstall -y pygame pygame-ce\n"
            f"    {sys.executable} -m pip install pygame-ce"
        )
