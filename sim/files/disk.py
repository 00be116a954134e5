"""Files as a whole: read within limits, written whole or not at all, and really on the disk when they are there."""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO

from sim.files.locks import BINARY
from sim.params import ConfigError, nearest

_NOTED: ContextVar[list[Path] | None] = ContextVar("noted", default=None)  # belongs to a thread, not to the program
_DO_NOT_WAIT = getattr(os, "O_NONBLOCK", 0)  # a pipe that nobody writes to would be waited for
_USUAL_MAX_NAME = 255  # bytes of one name, where the system does not give its limit
_SHOWN_OF_NAME = 40  # bytes of a too long name that a message repeats


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a whole file or none."""
    with written_whole(path) as file:
        file.write(data)


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to. It takes its place at the end; where that is not reached, what was there before stays.

    A pipe or a device has no place to be taken: it gets what is written as it comes.
    """
    try:
        with _stream(path) if is_stream(path) else _draft(os.path.realpath(path)) as file:  # a link stays a link
            yield file
    except (OSError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        raise file_error(path, "written", error) from error


def make_folder(folder: Path) -> None:
    """A folder to write to, with those around it; it may be there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise ConfigError(f"{folder}: expected a folder, got a file") from error
    except (OSError, ValueError) as error:
        raise file_error(folder, "made", error) from error


def check_folder(folder: Path) -> None:
    """Say before long work what make_folder() would say after it. Nothing is made."""
    check_name(folder)
    there = next(place for place in (folder, *folder.absolute().parents) if os.path.exists(place))
    if not os.path.isdir(there):
        raise ConfigError(f"{there}: expected a folder, got a file")
    if not os.access(there, os.W_OK | os.X_OK):
        raise ConfigError(f"{folder}: cannot be made: {os.strerror(errno.EACCES)}")


def check_place(path: str | os.PathLike[str]) -> None:
    """Say before long work what written_whole() would say after it: that nothing can be written there."""
    check_name(path)
    try:
        target = os.path.realpath(path)
        if os.path.isdir(target):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not is_stream(path):
            draft = _draft_name(target)
            open(draft, "xb").close()
            os.remove(draft)
    except (OSError, ValueError) as error:
        raise file_error(path, "written", error) from error


def check_name(path: str | os.PathLike[str], spare: int = 0) -> None:
    """Raise a ConfigError where a name in a path is longer than its file system allows.

    Args:
        path: A file or folder that may not exist yet.
        spare: Bytes that are added to the last name while the file is being written.
    """
    place = Path(path).absolute()
    for name, folder in zip(reversed(place.parts[1:]), place.parents, strict=True):
        limit = _max_name(folder) - (spare if name == place.name else 0)
        size = len(name.encode(errors="replace"))  # a byte that is no text counts once
        if size > limit:
            beginning = f"{shortened(name, _SHOWN_OF_NAME)}..."
            raise ConfigError(f"{folder}: expected a file name of at most {limit} bytes, got {size}: {beginning}")


def _max_name(folder: Path) -> int:
    """Return the number of bytes that a name in a folder may have."""
    there = next((place for place in (folder, *folder.parents) if os.path.isdir(place)), folder)
    try:
        return int(os.pathconf(there, "PC_NAME_MAX"))
    except (AttributeError, OSError, ValueError):  # no such function on Windows
        return _USUAL_MAX_NAME


def file_error(path: str | os.PathLike[str], what: str, error: Exception) -> ConfigError:
    """Return the message for a file that could not be `what`: "read", "written" or "made"."""
    try:
        if getattr(error, "errno", None) == errno.ENAMETOOLONG:
            check_name(path)
    except ConfigError as too_long:
        return too_long
    return ConfigError(f"{path}: cannot be {what}: {reason(error)}")


def shortened(name: str, most: int) -> str:
    """The beginning of a name, of so many bytes: that is what disks count, and a letter may take four of their 255."""
    return name.encode(errors="ignore")[:most].decode(errors="ignore")


def _draft_name(target: str) -> str:
    return os.path.join(os.path.dirname(target), f".backmove-{secrets.token_hex(8)}.part")


@contextmanager
def _draft(target: str) -> Iterator[BinaryIO]:
    """A file beside the one that it becomes."""
    draft = _draft_name(target)
    try:
        with open(draft, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # or a crash of the machine could leave an empty file under the name
        os.replace(draft, target)
    finally:
        with suppress(FileNotFoundError):
            os.remove(draft)
    _sync_folder(os.path.dirname(target))


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether a pipe or a device is there."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _stream(path: str | os.PathLike[str]) -> BinaryIO:
    """A pipe that nobody reads is an error: it would be waited for."""
    descriptor = os.open(path, os.O_WRONLY | _DO_NOT_WAIT | BINARY)
    if _DO_NOT_WAIT:
        os.set_blocking(descriptor, True)
    return os.fdopen(descriptor, "wb")


def bring_to_disk(path: str | os.PathLike[str]) -> None:
    """What a file holds that somebody has written is on the disk after this, where a system can."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDWR | BINARY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def rename_to(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Give a whole file its name, so that a crash of the machine leaves it under one of the two."""
    bring_to_disk(source)
    os.replace(source, target)
    _sync_folder(os.path.dirname(target))


def _sync_folder(folder: str) -> None:
    """Bring the new name of a file to the disk, where a system can."""
    with suppress(OSError):
        handle = os.open(folder or ".", os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def noting_reads() -> Iterator[list[Path]]:
    """The files that are read as long as this lasts, whoever names them: maps, their pictures, lists of problems."""
    noted: list[Path] = []
    before = _NOTED.set(noted)
    try:
        yield noted
    finally:
        _NOTED.reset(before)


@contextmanager
def open_regular(path: str | os.PathLike[str], suffix: str) -> Iterator[BinaryIO]:
    """A regular file to read from; a pipe or a device could go on for ever, or never begin."""
    if not os.path.lexists(path):
        raise ConfigError(f"{path}: expected a {suffix} file, got no such file{nearest_file(Path(path), suffix)}")
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | _DO_NOT_WAIT | BINARY), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ConfigError(f"{path}: expected a {suffix} file, got a device or a pipe")
            if (noted := _NOTED.get()) is not None:
                noted.append(Path(path))
            yield file
    except IsADirectoryError:
        raise ConfigError(f"{path}: expected a {suffix} file, got a folder") from None
    except (OSError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        raise file_error(path, "read", error) from error


def read_file(path: str | os.PathLike[str], limit: int, suffix: str) -> bytes:
    """All bytes of a regular file of at most `limit` bytes."""
    with open_regular(path, suffix) as file:
        size = os.fstat(file.fileno()).st_size
        data = b"" if size > limit else file.read(limit + 1)
        size = max(len(data), size)
    if size > limit:
        raise ConfigError(f"{path}: expected a {suffix} file of at most {limit:,} bytes, got {size:,}")
    return data


def nearest_file(path: Path, suffix: str) -> str:
    """A question that names the file of nearly this name, or nothing."""
    try:
        names = [name for name in os.listdir(path.parent) if name.lower().endswith(suffix)]
    except (OSError, ValueError):
        return ""
    return nearest(path.name, sorted(names))


def reason(error: Exception) -> str:
    """What went wrong with a file, in a few words."""
    return getattr(error, "strerror", None) or str(error)
