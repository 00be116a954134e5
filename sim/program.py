"""Where this program lies and what its user calls it."""

import importlib.metadata
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The folder of main.py: a checkout, or the private folder of the installed package."""

ASSETS = ROOT / "assets"
"""What comes with the program: examples, lessons, maps, experiments."""

IS_INSTALLED = ROOT.name == "_app"


def version() -> str:
    """The version as pyproject.toml says it; installed, as it was when the package was built."""
    if IS_INSTALLED:
        return importlib.metadata.version("backmove")
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


NAME = "backmove" if IS_INSTALLED else "python main.py"
"""The words that a command line begins with, for messages."""
