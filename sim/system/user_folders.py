"""Find the user's folders for compiled kernels, settings and journals; all other modules get the folders from here.

The system defines these folders (platformdirs). If it cannot, because the user has no home folder, as in some
containers, a subfolder of the temporary folder is used that no other user can read or write.
"""

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import platformdirs

FOLDER_NAME = "backmove"


def cache_folder() -> Path:
    """Return the folder for data that the program can create again, such as compiled kernels."""
    return _system_or_temporary_folder(
        lambda: platformdirs.user_cache_path(FOLDER_NAME, appauthor=False, opinion=False)
    )


def config_folder() -> Path:
    """Return the folder for settings; under Windows it is synchronised between the machines of the user."""
    return _system_or_temporary_folder(
        lambda: platformdirs.user_config_path(FOLDER_NAME, appauthor=False, roaming=True)
    )


def state_folder() -> Path:
    """Return the folder for the state of the program, such as journals of unsaved work."""
    return _system_or_temporary_folder(lambda: platformdirs.user_state_path(FOLDER_NAME, appauthor=False))


def _system_or_temporary_folder(find_folder: Callable[[], Path]) -> Path:
    """Return the folder that `find_folder` returns; if the system defines none, return the temporary folder."""
    try:
        return find_folder()
    except RuntimeError:  # the user has no home folder, and no environment variable defines one
        return temporary_folder()


def temporary_folder() -> Path:
    """Return a private folder of this user in the temporary folder.

    The folder is the same at each call. It is a new folder only if another user already has a folder of that name.
    """
    user = os.getuid() if sys.platform != "win32" else os.environ.get("USERNAME", "user")
    folder = Path(tempfile.gettempdir()) / f"{FOLDER_NAME}-{user}"
    return folder if create_private_folder(folder) else Path(tempfile.mkdtemp(prefix=f"{FOLDER_NAME}-"))


def delete_old_folders(folder: Path, pattern: str, count: int) -> None:
    """Delete all subfolders of `folder` whose names match a pattern, except the `count` newest ones."""
    found = [(path.stat().st_mtime, path) for path in folder.glob(pattern) if path.is_dir()]
    for _, path in sorted(found, reverse=True)[count:]:
        shutil.rmtree(path, ignore_errors=True)


def create_private_folder(folder: Path) -> bool:
    """Create a folder that no other user can write to, if it does not exist; return whether it is private now."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        return is_private_folder(folder)
    except OSError:
        return False


def is_private_folder(folder: Path) -> bool:
    """Return whether a path is a folder, not a link, that this user owns and that no other user may write to.

    Under Windows the owner is not checked, because the system itself separates the folders of users.
    """
    about = folder.lstat()
    if sys.platform == "win32":
        return stat.S_ISDIR(about.st_mode)
    return stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid() and not about.st_mode & 0o022
