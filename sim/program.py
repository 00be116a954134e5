"""Where this program lies and what its user calls it."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The folder of main.py: a checkout, or the private folder of the installed package."""

ASSETS = ROOT / "assets"
"""What comes with the program: examples, lessons, maps, experiments."""

IS_INSTALLED = ROOT.name == "_app"

NAME = "backmove" if IS_INSTALLED else "python main.py"
"""The words that a command line begins with, for messages."""
