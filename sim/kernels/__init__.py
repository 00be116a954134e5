"""All numba code of the simulation and the agents, and the choice of the folder for compiled kernels.

A kernel is a function that numba compiles to machine code. numba's cache ignores the bounds-check flag, so the cache
folder is named by a hash of that flag, the Python version, the system and the processor. Inside it, each module of
kernels has a subfolder named by a hash of its sources (see cache.py). The folder must be chosen before numba is
imported. So the choice is made here, and only packages called `kernels` import numba: this one, and `ui/draw/kernels`,
which paints pixels.

Machine code read from the cache is executed. So the folder must belong to this user, and no other user may write to it.

Parameters that mean the same in all kernels:
- `ground`: arrays of the map that kernels read (octile.MapArrays).
- `search`: memory of one search (search.Search); `control` is its record of numbers.
- `state`: array with the one record of an agent's variables; `st` is that record.
- `rows`: log.ROW records to fill, one for each tick; a row is what the agent reports to the referee about a tick.
- `marks`: bits of a row, such as log.BACK_MOVE.
- `tails`, `heads`, `rose`: arcs added or removed by a change of the map: the cell that each leaves, the cell that it
  enters, and whether its cost rose to infinity (true: the arc was removed, false: it was added).
- `came`: direction of the move by which a search reached a cell from the cell's parent.
"""

import hashlib
import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sim.files.user_folders import cache_folder, create_private_folder, delete_old_folders, temporary_folder
from sim.kernels.kernel_archive import archive_name, unpack_archive
from sim.program import ROOT

_MAX_CACHE_FOLDERS = 4  # number of cache folders kept, the newest ones; every Python version and processor has its own
_GENERIC_CPU = "generic"


def _cache_folder_name_for(processor: str) -> str:
    checks_bounds = os.environ.get("NUMBA_BOUNDSCHECK", "0")
    about = (checks_bounds, sys.implementation.cache_tag, sys.platform, platform.machine(), processor)
    return f"kernels-{hashlib.sha256(repr(about).encode()).hexdigest()[:16]}"


def _is_safe_cache_folder(folder: Path) -> bool:
    """Return whether compiled kernels may be stored in a folder: only this user can write to it, and writing works."""
    if not create_private_folder(folder):
        return False
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:  # a full or read-only disk, which permissions do not show
        return False


def _candidate_cache_folders(name: str) -> Iterator[Path]:
    """Yield the possible folders for compiled kernels, best first. Without a writable folder numba fails at import."""
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        root = Path(named)
        # In a child process, NUMBA_CACHE_DIR is the folder that its parent chose, whose path already ends with `name`.
        yield root if root.name == name else root / name
    yield cache_folder() / name
    yield temporary_folder() / name


def _choose_cache_folder(name: str) -> Path:
    for folder in _candidate_cache_folders(name):
        if _is_safe_cache_folder(folder):
            os.utime(folder)  # mark the folder as used now, so that delete_old_folders() does not delete it
            delete_old_folders(folder.parent, "kernels-*", _MAX_CACHE_FOLDERS)
            return folder
    return Path(tempfile.mkdtemp(prefix="backmove-kernels-"))


def _folder_name_and_archive() -> tuple[str, Path | None]:
    """Return the name of the cache folder, and the shipped archive of kernels that fits this system, or None."""
    if processor := os.environ.get("NUMBA_CPU_NAME"):
        return _cache_folder_name_for(processor), None
    name = _cache_folder_name_for(_GENERIC_CPU)
    archive = ROOT / archive_name(name)
    return (name, archive) if archive.is_file() else (_cache_folder_name_for(""), None)


_folder_name, _archive = _folder_name_and_archive()
CACHE_FOLDER = _choose_cache_folder(_folder_name)
if _archive is not None:
    os.environ["NUMBA_CPU_NAME"] = _GENERIC_CPU
    unpack_archive(_archive, CACHE_FOLDER)
os.environ["NUMBA_CACHE_DIR"] = str(CACHE_FOLDER)
