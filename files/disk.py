"""Read whole files within size limits, and write files atomically and synced to the disk."""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO

from sim.params import ConfigError, similar_name_hint
from sim.system.file_locks import BINARY_FLAG

# paths of the files that the current thread has read inside of collect_read_paths(); None outside of it
_READ_FILES: ContextVar[list[Path] | None] = ContextVar("noted", default=None)
# flag for os.open, without which opening a pipe that has no writer would block
_NONBLOCKING_FLAG = getattr(os, "O_NONBLOCK", 0)
_DEFAULT_MAX_NAME = 255  # assumed maximum length of a file name in bytes if the system does not report its limit
_SHOWN_NAME_BYTES = 40  # maximum number of bytes of a file name that an error message quotes


def write_file_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file; after an error, the file that existed before is unchanged."""
    with open_file_atomically(path) as file:
        file.write(data)


@contextmanager
def open_file_atomically(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for atomic writing: the context replaces the file at `path` only if it ends without an error.

    A pipe or a device cannot be replaced, so it is written to directly.

    Raises:
        ConfigError: The file cannot be written.
    """
    try:
        # resolve a symbolic link, so that its target is replaced and not the link itself
        with _open_pipe_or_device(path) if is_pipe_or_device(path) else _temporary_file(os.path.realpath(path)) as file:
            yield file
    except (OSError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        raise create_file_error(path, "written", error) from error


def create_folder(folder: Path) -> None:
    """Create a folder and its parents if they do not exist; raise a ConfigError if that is impossible."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise ConfigError(f"{folder}: expected a folder, got a file") from error
    except (OSError, ValueError) as error:
        raise create_file_error(folder, "created", error) from error


def check_folder_creatable(folder: Path) -> None:
    """Raise the ConfigError that create_folder() would raise, but create nothing; call it before long computations."""
    check_file_name_lengths(folder)
    existing_parent = next(parent for parent in (folder, *folder.absolute().parents) if os.path.exists(parent))
    if not os.path.isdir(existing_parent):
        raise ConfigError(f"{existing_parent}: expected a folder, got a file")
    if not os.access(existing_parent, os.W_OK | os.X_OK):
        raise ConfigError(f"{folder}: cannot be created: {os.strerror(errno.EACCES)}")


def check_file_writable(path: str | os.PathLike[str]) -> None:
    """Raise a ConfigError if open_file_atomically() could not write a file; call it before long computations."""
    check_file_name_lengths(path)
    try:
        target = os.path.realpath(path)
        if os.path.isdir(target):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not is_pipe_or_device(path):
            draft = _temporary_file_name(target)
            open(draft, "xb").close()
            os.remove(draft)
    except (OSError, ValueError) as error:
        raise create_file_error(path, "written", error) from error


def check_file_name_lengths(path: str | os.PathLike[str], spare: int = 0) -> None:
    """Raise a ConfigError if any name in a path is longer than its file system allows.

    Args:
        path: A file or folder that may not exist yet.
        spare: Bytes that are added to the last name while the file is being written.
    """
    absolute = Path(path).absolute()
    for name, folder in zip(reversed(absolute.parts[1:]), absolute.parents, strict=True):
        limit = _max_name_bytes(folder) - (spare if name == absolute.name else 0)
        size = len(name.encode(errors="replace"))  # a byte of the name that could not be decoded counts as one byte
        if size > limit:
            beginning = f"{shorten_file_name(name, _SHOWN_NAME_BYTES)}..."
            raise ConfigError(f"{folder}: expected a file name of at most {limit} bytes, got {size}: {beginning}")


def _max_name_bytes(folder: Path) -> int:
    """Return the maximum length of a file name in a folder, in bytes."""
    existing_parent = next((parent for parent in (folder, *folder.parents) if os.path.isdir(parent)), folder)
    try:
        return int(os.pathconf(existing_parent, "PC_NAME_MAX"))
    except (AttributeError, OSError, ValueError):  # Windows has no os.pathconf
        return _DEFAULT_MAX_NAME


def create_file_error(path: str | os.PathLike[str], what: str, error: Exception) -> ConfigError:
    """Return the error for a file that could not be "read", "written" or "created" (`what`), with the reason."""
    try:
        if getattr(error, "errno", None) == errno.ENAMETOOLONG:
            check_file_name_lengths(path)
    except ConfigError as too_long:
        return too_long
    return ConfigError(f"{path}: cannot be {what}: {file_error_reason(error)}")


def shorten_file_name(name: str, max_bytes: int) -> str:
    """Return a name truncated to `max_bytes` bytes, because file systems limit bytes and a letter may have four."""
    return name.encode(errors="ignore")[:max_bytes].decode(errors="ignore")


def _temporary_file_name(target: str) -> str:
    return os.path.join(os.path.dirname(target), f".backmove-{secrets.token_hex(8)}.part")


@contextmanager
def _temporary_file(target: str) -> Iterator[BinaryIO]:
    """Open a temporary file in the folder of `target`, and rename it to `target` at the end of the context."""
    draft = _temporary_file_name(target)
    try:
        with open(draft, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # otherwise a crash of the machine could leave an empty file with the final name
        os.replace(draft, target)
    finally:
        with suppress(FileNotFoundError):
            os.remove(draft)
    _sync_folder_to_disk(os.path.dirname(target))


def is_pipe_or_device(path: str | os.PathLike[str]) -> bool:
    """Return whether the path is a pipe or a device."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _open_pipe_or_device(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a pipe or a device for writing; raise an OSError for a pipe without a reader, which would block."""
    descriptor = os.open(path, os.O_WRONLY | _NONBLOCKING_FLAG | BINARY_FLAG)
    if _NONBLOCKING_FLAG:
        os.set_blocking(descriptor, True)
    return os.fdopen(descriptor, "wb")


def sync_file_to_disk(path: str | os.PathLike[str]) -> None:
    """Force the data of a file to the disk if the system supports that, even if another process wrote the file."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDWR | BINARY_FLAG)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def rename_file_synced(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Rename a completely written file; after a crash of the machine, the file exists under one of both names."""
    sync_file_to_disk(source)
    os.replace(source, target)
    _sync_folder_to_disk(os.path.dirname(target))


def _sync_folder_to_disk(folder: str) -> None:
    """Sync a folder, so that the new name of a file in it is on the disk, if the system can."""
    with suppress(OSError):
        handle = os.open(folder or ".", os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def collect_read_paths() -> Iterator[list[Path]]:
    """Return a context that collects the paths of all files read in it: maps, pictures of maps, problem lists."""
    noted: list[Path] = []
    before = _READ_FILES.set(noted)
    try:
        yield noted
    finally:
        _READ_FILES.reset(before)


@contextmanager
def open_regular_file(path: str | os.PathLike[str], suffix: str) -> Iterator[BinaryIO]:
    """Open a regular file for reading.

    Pipes and devices are refused, because they could be endless or block.

    Args:
        path: the file.
        suffix: expected suffix, for messages.

    Raises:
        ConfigError: The file does not exist, is not regular or cannot be read.
    """
    if not os.path.lexists(path):
        raise ConfigError(f"{path}: expected a {suffix} file, got no such file{nearest_file_hint(Path(path), suffix)}")
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | _NONBLOCKING_FLAG | BINARY_FLAG), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ConfigError(f"{path}: expected a {suffix} file, got a device or a pipe")
            if (noted := _READ_FILES.get()) is not None:
                noted.append(Path(path))
            yield file
    except IsADirectoryError:
        raise ConfigError(f"{path}: expected a {suffix} file, got a folder") from None
    except (OSError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        raise create_file_error(path, "read", error) from error


def read_file(path: str | os.PathLike[str], limit: int, suffix: str) -> bytes:
    """Return the contents of a regular file; raise a ConfigError if it has more than `limit` bytes."""
    with open_regular_file(path, suffix) as file:
        size = os.fstat(file.fileno()).st_size
        data = b"" if size > limit else file.read(limit + 1)
        size = max(len(data), size)
    if size > limit:
        raise ConfigError(f"{path}: expected a {suffix} file of at most {limit:,} bytes, got {size:,}")
    return data


def nearest_file_hint(path: Path, suffix: str) -> str:
    """Return a question that suggests a file with a similar name and this suffix; "" if there is none."""
    try:
        names = [name for name in os.listdir(path.parent) if name.lower().endswith(suffix)]
    except (OSError, ValueError):
        return ""
    return similar_name_hint(path.name, sorted(names))


def file_error_reason(error: Exception) -> str:
    """Return a short description of an error of a file operation."""
    return getattr(error, "strerror", None) or str(error)
