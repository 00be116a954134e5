"""The folders of this user: for compiled kernels, for settings, for journals. One owner of where they are.

The system says where such folders belong (platformdirs). Where it cannot, because the user has no home folder as in
some containers, they lie in a folder of the temporary one that nobody else can read or write.
"""

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import platformdirs

NAME = "backmove"


def cache_folder() -> Path:
    """For what can be made again."""
    return _own(lambda: platformdirs.user_cache_path(NAME, appauthor=False, opinion=False))


def config_folder() -> Path:
    """For settings; they follow the user from one Windows machine to the next."""
    return _own(lambda: platformdirs.user_config_path(NAME, appauthor=False, roaming=True))


def state_folder() -> Path:
    """For what was under way when the program ended."""
    return _own(lambda: platformdirs.user_state_path(NAME, appauthor=False))


def _own(place: Callable[[], Path]) -> Path:
    try:
        return place()
    except RuntimeError:  # no home folder, and nothing that names one
        return temporary_folder()


def temporary_folder() -> Path:
    """A folder of this user alone below the temporary one: always the same, unless somebody else took its name."""
    user = os.getuid() if sys.platform != "win32" else os.environ.get("USERNAME", "user")
    folder = Path(tempfile.gettempdir()) / f"{NAME}-{user}"
    return folder if make_private(folder) else Path(tempfile.mkdtemp(prefix=f"{NAME}-"))


def keep_newest(folder: Path, pattern: str, count: int) -> None:
    """Remove all but the newest `count` folders of a kind."""
    found = [(path.stat().st_mtime, path) for path in folder.glob(pattern) if path.is_dir()]
    for _, path in sorted(found, reverse=True)[count:]:
        shutil.rmtree(path, ignore_errors=True)


def make_private(folder: Path) -> bool:
    """Make `folder` so that nobody else can write into it. Returns whether that is so now."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        return is_private(folder)
    except OSError:
        return False


def is_private(folder: Path) -> bool:
    """Whether `folder` is a folder, not a link to one, that belongs to this user and that nobody else may write.

    Windows keeps the folders of each user apart by itself.
    """
    about = folder.lstat()
    if sys.platform == "win32":
        return stat.S_ISDIR(about.st_mode)
    return stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid() and not about.st_mode & 0o022
