"""Folders, version and command name of this program."""

import importlib.metadata
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""Folder of main.py: a checkout of the repository, or the private folder of the installed package."""

ASSETS = ROOT / "assets"
"""Folder of the examples, lessons, maps and experiments that come with the program."""

IS_INSTALLED = ROOT.name == "_app"  # whether the program was installed as a package


def version() -> str:
    """Return the version from pyproject.toml; for an installed program, from its package."""
    if IS_INSTALLED:
        return importlib.metadata.version("backmove")
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


NAME = "backmove" if IS_INSTALLED else "python main.py"
"""Beginning of a command line that starts the program, for messages."""
