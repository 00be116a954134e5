"""Compile all kernels for a generic processor into an archive for a wheel: `python packaging/compile.py FOLDER`.

The program prints the path of the archive. Its name identifies the sources, the Python version and the system.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Compile in a new process with an empty cache and return its exit code."""
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": cache, "SDL_VIDEODRIVER": "dummy"}
        environment["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"
        command = [sys.executable, "-m", "tools.compile_kernels", str(folder)]
        return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
