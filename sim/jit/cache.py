"""Cache of compiled functions on disk: numba's cache, made robust against damaged files.

numba unpickles the files in its cache without checking them. If a crash of the machine truncated one of these files,
every later start of the program would fail. Here each file begins with a checksum of the rest. If the checksum is
wrong, the file is ignored: the function is compiled again and its file is rewritten. If a file cannot be written, for
example because the disk is full, the function is compiled again at the next start.
"""

import hashlib
import os
import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, UserProvidedCacheLocator

from sim.jit import CACHE_FOLDER
from sim.jit.sources import STAMP_LENGTH, source_stamp
from sim.system.user_folders import delete_old_folders

_MAX_FOLDERS_PER_MODULE = 8
"""Number of cache folders kept for one module of kernels. Each folder belongs to one version of the source code. So a
checkout and an installed program, or two branches, can share a cache without deleting each other's machine code."""

_CHECKSUM_BYTES = hashlib.sha256().digest_size


def _prepend_checksum(data: bytes) -> bytes:
    """Return the checksum of the data, followed by the data."""
    return hashlib.sha256(data).digest() + data


def _strip_checksum(data: bytes) -> bytes | None:
    """Remove the checksum from the start of the data; return None if the checksum is wrong."""
    checksum, content = data[:_CHECKSUM_BYTES], data[_CHECKSUM_BYTES:]
    return content if hashlib.sha256(content).digest() == checksum else None


class _ChecksummedFiles(IndexDataCacheFile):
    """Reader and writer of one function's cache files, with checksums: numba's index file and files of machine code."""

    def _load_index(self) -> dict[Any, str]:
        data = self._read_checksummed_file(self._index_path)
        if data is None:
            return {}
        version, stamp, overloads = pickle.loads(data)
        is_fresh = (version, stamp) == (self._version, self._source_stamp)
        return dict(overloads) if is_fresh else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write_checksummed_file(self._index_path, self._dump((self._version, self._source_stamp, overloads)))

    def _load_data(self, name: str) -> Any:
        data = self._read_checksummed_file(self._data_path(name))
        if data is None:
            raise FileNotFoundError(name)  # on this exception, numba compiles the function
        return pickle.loads(data)

    def _save_data(self, name: str, data: Any) -> None:
        self._write_checksummed_file(self._data_path(name), self._dump(data))

    def _read_checksummed_file(self, path: str) -> bytes | None:
        try:
            with open(path, "rb") as file:
                return _strip_checksum(file.read())
        except OSError:
            return None

    def _write_checksummed_file(self, path: str, data: bytes) -> None:
        with self._open_for_write(path) as file:
            file.write(_prepend_checksum(data))


class _SourceStampLocator(UserProvidedCacheLocator):
    """Class by which numba finds the folder with the cache files of a function.

    The folder's name consists of the module's name and a hash of its source code. numba would use the module's path
    instead; so copies of the program in different folders could not share compiled kernels.
    """

    def __init__(self, function: Any, source: str) -> None:
        super().__init__(function, source)
        self._module_name = function.__module__
        self._cache_path = os.path.join(CACHE_FOLDER, f"{self._module_name}-{source_stamp(Path(source))}")

    @classmethod
    def from_function(cls, function: Any, source: str) -> "_SourceStampLocator":
        """Return a locator. Unlike numba's method, do not require that NUMBA_CACHE_DIR was set at the import of numba.

        Another package may have imported numba before this program set that environment variable.
        """
        return cls(function, source)

    def ensure_cache_path(self) -> None:
        if not os.path.isdir(self._cache_path):
            os.makedirs(self._cache_path, exist_ok=True)
            delete_old_folders(CACHE_FOLDER, f"{self._module_name}-{'?' * STAMP_LENGTH}", _MAX_FOLDERS_PER_MODULE)


class _SourceStampCacheImpl(CompileResultCacheImpl):
    _locator_classes = [_SourceStampLocator]  # noqa: RUF012 - numba does not declare it as a ClassVar


class ChecksummedCache(FunctionCache):
    """Cache of one compiled function, with checksums in its files. Errors in writing a file are ignored."""

    _impl_class = _SourceStampCacheImpl

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file = _ChecksummedFiles(
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Load the machine code for these argument types. Unlike numba's method, do not prepare the compiler first.

        That preparation fills tables that only compiling needs. It takes 0.17 s, or more if scipy is installed. When
        the compiler runs, it does the preparation itself.
        """
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, target_context)

    def cached_signatures(self, target_context: Any) -> list[Any]:
        """Return the tuples of argument types for which the cache has machine code that can run on this processor."""
        machine_and_code = self._index_key((), target_context.codegen())[1:]
        return [key[0] for key in self._cache_file._load_index() if key[1:] == machine_and_code]

    def save_overload(self, signature: Any, data: Any) -> None:
        with suppress(OSError):
            super().save_overload(signature, data)


def attach_cache(dispatcher: Any) -> Any:
    """Make a compiled function (a numba dispatcher) use a `ChecksummedCache`, and return the function."""
    dispatcher._cache = ChecksummedCache(dispatcher.py_func)
    return dispatcher
