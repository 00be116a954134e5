"""The command `backmove`. The program itself lies in the folder `_app` beside this file, or in the checkout above it.

Its folders (sim, agents, ui, cli) are found by path, so that nothing but `backmove` lies among the installed packages.
"""

import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
ROOT = _HERE / "_app" if (_HERE / "_app").is_dir() else _HERE.parents[1]

if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))


def main() -> int:
    """What `backmove` does on the command line."""
    from main import main as run  # found only now that its folder is known

    return run()
