"""All numba code of the project, and the folder in which its compiled form is kept.

numba's cache ignores the bounds-check flag, so the folder is named by a hash of that flag, of the Python version and of
the system; inside, each file of kernels has a folder named by a stamp of its sources (see cache.py). The folder must be
chosen before numba is imported, which is why it stands here and why nothing outside folders called `kernels` imports
numba: those of the simulation here, and those that paint pixels in `ui/draw/kernels`.

What is read from the cache is run. So the folder belongs to this user, and nobody else may write into it.
"""

import hashlib
import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sim.files.folders import cache_folder, keep_newest, make_private, temporary_folder
from sim.kernels.packed import archive_name, unpack
from sim.program import ROOT

_KEPT_CACHES = 4  # another Python leaves one behind
_GENERIC = "generic"


def _folder_for(processor: str) -> str:
    checks_bounds = os.environ.get("NUMBA_BOUNDSCHECK", "0")
    about = (checks_bounds, sys.implementation.cache_tag, sys.platform, platform.machine(), processor)
    return f"kernels-{hashlib.sha256(repr(about).encode()).hexdigest()[:16]}"


def _is_ours(folder: Path) -> bool:
    """Whether compiled kernels may be kept there: nobody else can write it, and a file can really be made in it."""
    if not make_private(folder):
        return False
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:  # a disk that is full or read-only; permissions alone do not tell
        return False


def _places(name: str) -> Iterator[Path]:
    """Where compiled kernels can be kept, best first. A numba without any writable place fails at import."""
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        root = Path(named)
        yield root if root.name == name else root / name  # a child process inherits the chosen folder itself
    yield cache_folder() / name
    yield temporary_folder() / name


def _choose_cache(name: str) -> Path:
    for place in _places(name):
        if _is_ours(place):
            os.utime(place)  # used now, so not among the oldest
            keep_newest(place.parent, "kernels-*", _KEPT_CACHES)
            return place
    return Path(tempfile.mkdtemp(prefix="backmove-kernels-"))


def _name() -> tuple[str, Path | None]:
    """What the folder is called, and the archive of kernels that came with the program, if it is the right one."""
    if processor := os.environ.get("NUMBA_CPU_NAME"):
        return _folder_for(processor), None
    name = _folder_for(_GENERIC)
    archive = ROOT / archive_name(name)
    return (name, archive) if archive.is_file() else (_folder_for(""), None)


_folder_name, _archive = _name()
CACHE_FOLDER = _choose_cache(_folder_name)
if _archive is not None:
    os.environ["NUMBA_CPU_NAME"] = _GENERIC
    unpack(_archive, CACHE_FOLDER)
os.environ["NUMBA_CACHE_DIR"] = str(CACHE_FOLDER)
