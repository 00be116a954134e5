"""Installation of pinned packages into the Python that runs this file: `python packaging/install.py requirements.txt`.

`make` runs it for `.venv`. It prints the size of the download first, then pip's own progress bars in a terminal, or one
line per package elsewhere.
"""

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator

# Sum of the wheel sizes of a fresh installation, and its disk usage, in MB; measured on Linux with Python 3.11.
SIZES_MB = {"requirements.txt": (155, 555), "requirements-dev.txt": (230, 855)}


def main(file: str) -> int:
    """Install the packages of a requirements file and return pip's exit code."""
    download, disk = SIZES_MB[file]
    print(f"Installing Python packages into {sys.prefix}. This is needed once.", flush=True)
    print(f"A fresh installation downloads about {download} MB and takes {disk} MB on disk.", flush=True)
    print("After the download, pip installs the packages without further output for up to a minute.", flush=True)
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "-r", file]
    if sys.stdout.isatty():
        return subprocess.call(command)
    with subprocess.Popen([*command, "--progress-bar", "off"], stdout=subprocess.PIPE, text=True) as pip:
        assert pip.stdout
        for line in progress(pip.stdout):
            print(line, flush=True)
    return pip.returncode


def progress(output: Iterable[str]) -> Iterator[str]:
    """Yield one line per package that pip collects, and one for the installation of all of them."""
    count = 0
    for line in output:
        if match := re.match(r"Collecting ([\w.-]+)", line):
            count += 1
            yield f"  {count}: {match[1]}"
        elif line.startswith("Installing collected packages"):
            yield f"  installing {count} packages"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
