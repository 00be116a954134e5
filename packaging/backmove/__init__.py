"""Entry point of `backmove`. The program is in the folder `_app` next to this file, or in the checkout above.

Its packages (sim, agents, ui, cli) are found through sys.path, so that `backmove` is the only installed package name.
"""

import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
ROOT = _HERE / "_app" if (_HERE / "_app").is_dir() else _HERE.parents[1]

if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))


def main() -> int:
    """Run the command line of Backmove and return its exit code."""
    from main import main as run  # importable only after sys.path was extended

    return run()
