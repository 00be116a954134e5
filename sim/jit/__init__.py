"""Compilation of kernels by numba, and everything that depends on numba's internals.

A kernel is a function that numba compiles to machine code. numba's cache ignores the bounds-check flag, so the cache
folder is named by a hash of that flag, the Python version, the system and the processor. Inside it, each module of
kernels has a subfolder named by a hash of its sources (see cache.py). The folder must be chosen before numba is
imported, so importing this package chooses it. Kernels are in sim/kernels/ and in ui/draw/kernels/, which paint pixels.

Machine code read from the cache is executed. So the folder must belong to this user, and no other user may write to it.
"""

import hashlib
import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sim.jit.kernel_archive import kernel_archive_name, unpack_kernel_archive
from sim.system.program import PROGRAM_FOLDER
from sim.system.user_folders import cache_folder, create_private_folder, delete_old_folders, temporary_folder

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


def _cache_folder_name_and_archive() -> tuple[str, Path | None]:
    """Return the name of the cache folder, and the shipped archive of kernels that fits this system, or None."""
    if processor := os.environ.get("NUMBA_CPU_NAME"):
        return _cache_folder_name_for(processor), None
    name = _cache_folder_name_for(_GENERIC_CPU)
    archive = PROGRAM_FOLDER / kernel_archive_name(name)
    return (name, archive) if archive.is_file() else (_cache_folder_name_for(""), None)


_cache_folder_name, _kernel_archive = _cache_folder_name_and_archive()
CACHE_FOLDER = _choose_cache_folder(_cache_folder_name)
if _kernel_archive is not None:
    os.environ["NUMBA_CPU_NAME"] = _GENERIC_CPU
    unpack_kernel_archive(_kernel_archive, CACHE_FOLDER)
os.environ["NUMBA_CACHE_DIR"] = str(CACHE_FOLDER)
