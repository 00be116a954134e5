"""Folders, version and command name of this program."""

import importlib.metadata
import tomllib
from pathlib import Path

PROGRAM_FOLDER = Path(__file__).resolve().parents[2]
"""Folder of main.py: a checkout of the repository, or the private folder of the installed package."""

ASSETS_FOLDER = PROGRAM_FOLDER / "assets"
"""Folder of the examples, lessons, maps and experiments that come with the program."""

IS_INSTALLED = PROGRAM_FOLDER.name == "_app"  # whether the program runs from an installed package, not from a checkout


def program_version() -> str:
    """Return the version of the program, from pyproject.toml or, if it is installed, from its package."""
    if IS_INSTALLED:
        return importlib.metadata.version("backmove")
    return str(tomllib.loads((PROGRAM_FOLDER / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


PROGRAM_COMMAND = "backmove" if IS_INSTALLED else "python main.py"
"""Command that starts the program, for messages that show a command line."""
