"""numba's cache of one function, made robust against damaged files.

numba unpickles any file it finds, and a file truncated by a crash of the machine would end every start with a
traceback. Here each file begins with a checksum of the rest. A file with a wrong checksum counts as missing: the
function is compiled and the file written again. If the disk takes no more files, the only loss is compile time at the
next start.
"""

import hashlib
import os
import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, UserProvidedCacheLocator

from sim.files.user_folders import delete_old_folders
from sim.kernels import CACHE_FOLDER
from sim.kernels.sources import STAMP_LENGTH, source_stamp

_MAX_FOLDERS_PER_MODULE = 8
"""Number of cache folders kept for one module of kernels, each for other sources. So a checkout and an installed
program, or two branches, can use the same cache without deleting each other's machine code."""

_CHECKSUM_BYTES = hashlib.sha256().digest_size


def _with_checksum(data: bytes) -> bytes:
    """Return the data with its checksum in front."""
    return hashlib.sha256(data).digest() + data


def _without_checksum(data: bytes) -> bytes | None:
    """Return the data without its checksum, or None if the checksum does not match."""
    seal, rest = data[:_CHECKSUM_BYTES], data[_CHECKSUM_BYTES:]
    return rest if hashlib.sha256(rest).digest() == seal else None


class _ChecksummedFiles(IndexDataCacheFile):
    """Access to numba's index file of a function and to its files of machine code, all of which have a checksum."""

    def _load_index(self) -> dict[Any, str]:
        data = self._read_checked(self._index_path)
        if data is None:
            return {}
        version, stamp, overloads = pickle.loads(data)
        is_fresh = (version, stamp) == (self._version, self._source_stamp)
        return dict(overloads) if is_fresh else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write_checked(self._index_path, self._dump((self._version, self._source_stamp, overloads)))

    def _load_data(self, name: str) -> Any:
        data = self._read_checked(self._data_path(name))
        if data is None:
            raise FileNotFoundError(name)  # makes numba compile the function
        return pickle.loads(data)

    def _save_data(self, name: str, data: Any) -> None:
        self._write_checked(self._data_path(name), self._dump(data))

    def _read_checked(self, path: str) -> bytes | None:
        try:
            with open(path, "rb") as file:
                return _without_checksum(file.read())
        except OSError:
            return None

    def _write_checked(self, path: str, data: bytes) -> None:
        with self._open_for_write(path) as file:
            file.write(_with_checksum(data))


class _SourceStampLocator(UserProvidedCacheLocator):
    """Cache locator whose folder is named by a module's name and a hash of its sources, not by its path.

    So kernels that were compiled for a copy of the program in another folder are found too.
    """

    def __init__(self, function: Any, source: str) -> None:
        super().__init__(function, source)
        self._module = function.__module__
        self._cache_path = os.path.join(CACHE_FOLDER, f"{self._module}-{source_stamp(Path(source))}")

    @classmethod
    def from_function(cls, function: Any, source: str) -> "_SourceStampLocator":
        """Return the locator without checking that NUMBA_CACHE_DIR was set when numba was imported.

        If another package imported numba before this program set the variable, numba has stored an empty setting.
        """
        return cls(function, source)

    def ensure_cache_path(self) -> None:
        if not os.path.isdir(self._cache_path):
            os.makedirs(self._cache_path, exist_ok=True)
            delete_old_folders(CACHE_FOLDER, f"{self._module}-{'?' * STAMP_LENGTH}", _MAX_FOLDERS_PER_MODULE)


class _SourceStampCacheImpl(CompileResultCacheImpl):
    _locator_classes = [_SourceStampLocator]  # noqa: RUF012 - numba does not declare it as a ClassVar


class ChecksummedCache(FunctionCache):
    """numba's cache of one function, with checksums in its files; failing to write to it raises no error."""

    _impl_class = _SourceStampCacheImpl

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file = _ChecksummedFiles(
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Load the machine code of an overload without filling numba's tables for typing and translating code.

        Filling these tables takes a sixth of a second, more where scipy is installed. Loading machine code needs none
        of them, and the compiler fills them when it runs.
        """
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, target_context)

    def kept(self, target_context: Any) -> list[Any]:
        """Return the argument types for which the cache has machine code of this function for this processor."""
        machine_and_code = self._index_key((), target_context.codegen())[1:]
        return [key[0] for key in self._cache_file._load_index() if key[1:] == machine_and_code]

    def save_overload(self, signature: Any, data: Any) -> None:
        with suppress(OSError):
            super().save_overload(signature, data)


def attach_cache(dispatcher: Any) -> Any:
    """Make a dispatcher store its machine code in a `ChecksummedCache`, and return the dispatcher."""
    dispatcher._cache = ChecksummedCache(dispatcher.py_func)
    return dispatcher
