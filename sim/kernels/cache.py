"""numba's cache of one function, made safe against files that are damaged.

numba unpickles whatever it finds, and a file that a crash of the machine has torn ends every start with a traceback.
Here each file begins with a checksum of the rest. One that does not fit counts as absent: the function is compiled
and written anew. A disk that takes no more files costs time at the next start, and nothing else.
"""

import hashlib
import os
import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, UserProvidedCacheLocator

from sim.files.folders import keep_newest
from sim.kernels import CACHE_FOLDER
from sim.kernels.sources import STAMP_LENGTH, stamp_of

_KEPT_EDITIONS = (
    8  # of one file of kernels: a checkout and an installed program, or two branches, need not compile in turn
)
_SUM_BYTES = hashlib.sha256().digest_size


def _sealed(data: bytes) -> bytes:
    return hashlib.sha256(data).digest() + data


def _unsealed(data: bytes) -> bytes | None:
    """What was sealed, or None if it is not whole."""
    seal, rest = data[:_SUM_BYTES], data[_SUM_BYTES:]
    return rest if hashlib.sha256(rest).digest() == seal else None


class _SealedFiles(IndexDataCacheFile):
    """The index of a function and its files of machine code, each sealed."""

    def _load_index(self) -> dict[Any, str]:
        data = self._read(self._index_path)
        if data is None:
            return {}
        version, stamp, overloads = pickle.loads(data)
        is_fresh = (version, stamp) == (self._version, self._source_stamp)
        return dict(overloads) if is_fresh else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write(self._index_path, self._dump((self._version, self._source_stamp, overloads)))

    def _load_data(self, name: str) -> Any:
        data = self._read(self._data_path(name))
        if data is None:
            raise FileNotFoundError(name)  # numba's word for "compile it"
        return pickle.loads(data)

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), self._dump(data))

    def _read(self, path: str) -> bytes | None:
        try:
            with open(path, "rb") as file:
                return _unsealed(file.read())
        except OSError:
            return None

    def _write(self, path: str, data: bytes) -> None:
        with self._open_for_write(path) as file:
            file.write(_sealed(data))


class _Place(UserProvidedCacheLocator):
    """A folder for each module by name and sources, wherever the program lies: kernels compiled elsewhere are found."""

    def __init__(self, function: Any, source: str) -> None:
        super().__init__(function, source)
        self._module = function.__module__
        self._cache_path = os.path.join(CACHE_FOLDER, f"{self._module}-{stamp_of(Path(source))}")

    @classmethod
    def from_function(cls, function: Any, source: str) -> "_Place":
        """Also where somebody has imported numba before us: it read the name of its folder then, and found none."""
        return cls(function, source)

    def ensure_cache_path(self) -> None:
        if not os.path.isdir(self._cache_path):
            os.makedirs(self._cache_path, exist_ok=True)
            keep_newest(CACHE_FOLDER, f"{self._module}-{'?' * STAMP_LENGTH}", _KEPT_EDITIONS)


class _Form(CompileResultCacheImpl):
    _locator_classes = [_Place]  # noqa: RUF012 - numba makes it no ClassVar


class SoundCache(FunctionCache):
    """numba's cache of one function with sealed files; it never ends the program."""

    _impl_class = _Form

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file = _SealedFiles(
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Without the tables by which numba types and translates code (a sixth of a second, more where scipy lies
        installed): whoever only reads what is compiled needs none of them, and whoever compiles fills them then.
        """
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, target_context)

    def kept(self, target_context: Any) -> list[Any]:
        """The signatures of which machine code for this machine is here."""
        machine_and_code = self._index_key((), target_context.codegen())[1:]
        return [key[0] for key in self._cache_file._load_index() if key[1:] == machine_and_code]

    def save_overload(self, signature: Any, data: Any) -> None:
        with suppress(OSError):
            super().save_overload(signature, data)


def with_cache(dispatcher: Any) -> Any:
    """The function that numba compiles, keeping its machine code in this cache."""
    dispatcher._cache = SoundCache(dispatcher.py_func)
    return dispatcher
