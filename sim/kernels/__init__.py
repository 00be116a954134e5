"""All numba code of the simulation and the agents, and the choice of the folder for compiled kernels.

numba's cache ignores the bounds-check flag, so the folder is named by a hash of that flag, the Python version, the
system and the processor; inside it, each file of kernels has a folder named by a stamp of its sources (see cache.py).
The folder must be chosen before numba is imported. So the choice is made here, and only packages called `kernels`
import numba: this one, and `ui/draw/kernels`, which paints pixels.

Machine code read from the cache is executed. So the folder must belong to this user, and no other user may write to it.
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

_KEPT_CACHES = 4  # folders kept; another Python version leaves a folder behind
_GENERIC = "generic"


def _folder_for(processor: str) -> str:
    checks_bounds = os.environ.get("NUMBA_BOUNDSCHECK", "0")
    about = (checks_bounds, sys.implementation.cache_tag, sys.platform, platform.machine(), processor)
    return f"kernels-{hashlib.sha256(repr(about).encode()).hexdigest()[:16]}"


def _is_ours(folder: Path) -> bool:
    """Return whether compiled kernels may be stored there: only this user can write to it, and writing works."""
    if not make_private(folder):
        return False
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:  # a full or read-only disk, which permissions do not show
        return False


def _places(name: str) -> Iterator[Path]:
    """Yield the possible folders for compiled kernels, best first. Without a writable folder numba fails at import."""
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        root = Path(named)
        # A child process inherits the chosen folder itself.
        yield root if root.name == name else root / name
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
    """Return the folder's name, and the archive of kernels shipped with the program if it fits this system."""
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
