"""Compile all kernels for a generic processor into an archive for a wheel: `python packaging/compile.py FOLDER`.

The program prints the path of the archive. Its name identifies the sources, the Python version and the system.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_COMPILE = """
from agents.warm_up import all_agent_parts
from sim.kernels import CACHE_FOLDER
from sim.kernels.kernel_archive import pack
from sim.kernels.ready import make_ready
from ui.warmup import all_parts
import sys
def report_progress(part, done, total):
    print(f"{done + 1} of {total}: {part.title}", file=sys.stderr)
make_ready([*all_parts(), *all_agent_parts(watched=False)], report_progress)
print(pack(sys.argv[1]))
"""


def main() -> int:
    """Compile in a new process with an empty cache and return its exit code."""
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": cache, "SDL_VIDEODRIVER": "dummy"}
        environment["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"
        return subprocess.run(
            [sys.executable, "-c", _COMPILE, str(folder)], cwd=ROOT, env=environment, check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
