"""Archive of compiled kernels, shipped with the installed program, so that users need not wait for the compiler.

When the program needs the kernels, the archive is unpacked into the cache folder. The kernels are compiled for a
generic processor, so they run on every processor of the same architecture. The archive's name shows the source code,
the Python version and the operating system for which it is valid. If no archive is valid, the kernels are compiled.
"""

import os
import shutil
import tarfile
import tempfile
from contextlib import suppress
from pathlib import Path

from sim.jit.sources import all_sources_stamp

READY_MARKER_SUFFIX = ".ready"  # suffix of the marker files (ready.py) that show which kernels are compiled
_UNPACKED_SUFFIX = "unpacked"


def pack_kernel_cache(folder: str) -> Path:
    """Pack the cache folder of this process into an archive file in `folder`, and return the path of the file."""
    cache = Path(os.environ["NUMBA_CACHE_DIR"])
    archive = Path(folder) / kernel_archive_name(cache.name)
    with tarfile.open(archive, "w:xz") as tar:
        for file in sorted(path for path in cache.rglob("*") if path.is_file() and ".tmp." not in path.name):
            tar.add(file, str(file.relative_to(cache)), filter=_entry_without_owner_and_time)
    return archive


def kernel_archive_name(cache_name: str) -> str:
    """Return the file name of an archive of a cache folder, for the present source code of the kernels."""
    return f"{cache_name}-{all_sources_stamp()}.tar.xz"


def _entry_without_owner_and_time(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Remove owner and time from an archive entry, so that equal cache folders give identical archives."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = 0
    return entry


def unpack_kernel_archive(archive: Path, cache: Path) -> None:
    """Unpack an archive of compiled kernels into the cache folder, unless this was done before.

    Files are moved into the cache one by one, so two processes may unpack the archive at the same time. Marker files
    (ready.py) are moved last, because they tell other processes that all kernels of a feature are in the cache. If the
    archive is damaged or the disk is full, no error is raised: kernels that are missing in the cache are compiled.
    """
    note = cache / f"{archive.name}.{_UNPACKED_SUFFIX}"
    if note.exists():
        return
    with suppress(OSError, tarfile.TarError, EOFError):  # on failure, kernels are compiled instead
        draft = Path(tempfile.mkdtemp(prefix=".unpack-", dir=cache))
        try:
            with tarfile.open(archive, "r:xz") as tar:
                tar.extractall(draft, filter="data")
            files = [path for path in draft.rglob("*") if path.is_file()]
            for file in sorted(files, key=lambda path: path.name.endswith(READY_MARKER_SUFFIX)):
                target = cache / file.relative_to(draft)
                target.parent.mkdir(exist_ok=True)
                os.replace(file, target)
            note.touch()
        finally:
            shutil.rmtree(draft, ignore_errors=True)
