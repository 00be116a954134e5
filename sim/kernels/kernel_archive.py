"""Archive of compiled kernels that is shipped with an installed program and unpacked into the cache when needed.

The kernels are compiled for a generic processor, so they run on every processor of that architecture. The archive's
name contains the sources, Python version and system that it is for; where no archive fits, kernels are compiled as in a
checkout.
"""

import os
import shutil
import tarfile
import tempfile
from contextlib import suppress
from pathlib import Path

from sim.kernels.sources import all_sources_stamp

NOTE_SUFFIX = ".ready"  # suffix of the note files of ready.py, which record that kernels are compiled
_UNPACKED_SUFFIX = "unpacked"


def pack_cache(folder: str) -> Path:
    """Pack the cache of this process into an archive in `folder`, and return the archive's path."""
    cache = Path(os.environ["NUMBA_CACHE_DIR"])
    archive = Path(folder) / archive_name(cache.name)
    with tarfile.open(archive, "w:xz") as tar:
        for file in sorted(path for path in cache.rglob("*") if path.is_file() and ".tmp." not in path.name):
            tar.add(file, str(file.relative_to(cache)), filter=_without_owner_and_time)
    return archive


def archive_name(cache_name: str) -> str:
    """Return the name of the archive with the content of a cache folder, for the present sources."""
    return f"{cache_name}-{all_sources_stamp()}.tar.xz"


def _without_owner_and_time(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Remove owner and time from an archive entry, so that equal content gives equal archives."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = 0
    return entry


def unpack_archive(archive: Path, cache: Path) -> None:
    """Unpack the archive into the cache, unless done before.

    Files are moved into the cache one by one, so two processes may unpack at the same time. The notes of ready.py come
    last, because a note means that all kernels of its part are in the cache.
    A damaged archive or a full disk is ignored: the kernels are compiled instead.
    """
    note = cache / f"{archive.name}.{_UNPACKED_SUFFIX}"
    if note.exists():
        return
    with suppress(OSError, tarfile.TarError, EOFError):  # if unpacking fails, kernels are compiled when needed
        draft = Path(tempfile.mkdtemp(prefix=".unpack-", dir=cache))
        try:
            with tarfile.open(archive, "r:xz") as tar:
                tar.extractall(draft, filter="data")
            files = [path for path in draft.rglob("*") if path.is_file()]
            for file in sorted(files, key=lambda path: path.name.endswith(NOTE_SUFFIX)):
                target = cache / file.relative_to(draft)
                target.parent.mkdir(exist_ok=True)
                os.replace(file, target)
            note.touch()
        finally:
            shutil.rmtree(draft, ignore_errors=True)
