"""Prepared data: computed for agents before the run, such as abstractions, databases of subgoals, solved problems.

    prepared = fetch_data(recipe, grid)             return data for this map: from memory, from disk, or computed now
    for step in iter_fetch_data(recipe, grid): print(step)  fetch the data in steps; to cancel, stop the iteration
    spec.prepare(problem, params, stopwatch)        return an iterator that fetches all data of an agent in such steps

An agent fetches data in its constructor before the run, or between two ticks when the world notifies it of a map
change; never while it plans. The window and the command line first iterate over spec.prepare() and show the progress,
so that fetching then finds all data in memory.

The cache key is a digest of the map (its legal moves, movement rule and cost of a diagonal), the kind, the parameters
and the version of the recipe. Data never changes once it is computed, so agents, branches and keyframes share it. Data
that was expensive to compute is stored in files in the user's cache folder. Files have a checksum; a damaged file is
ignored, and its data is computed again.

The simulation itself reads no clock. To measure the time, a caller passes a stopwatch: a function that returns seconds.
"""

import io
import json
import os
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from sim.grid import Grid
from sim.movement import RULE_PARAM
from sim.params import Value
from sim.system.user_folders import cache_folder

MIN_STORED_EXPANSIONS = 50_000
"""Minimum cost, in expansions, of data that is stored in a file. Cheaper data is computed faster than it is read."""

MEMORY_MB, DISK_MB = 256, 1024  # default maximum size of the cached data in memory and on disk, in megabytes
_BYTES_PER_MB = 1024 * 1024
_CHECKSUM_BYTES = 16  # length of the checksum at the beginning of each cache file


@dataclass(frozen=True)
class BuildProgress:
    """Progress report of the computation of prepared data."""

    work_name: str  # name of the present work, shown with a progress bar
    share: float  # fraction of this work that is done, from 0 to 1


@dataclass(frozen=True)
class BuiltData:
    """Newly computed data and its cost, as returned by the function `DataRecipe.build_tables`."""

    tables: Any  # the data: a NamedTuple of arrays, of the class `DataRecipe.table_class`
    expansions: int  # cost of the computation: cells expanded by searches or visited in other work
    entries: int = 0  # size as papers report it: number of database entries, or of cells in records of solved problems
    column_count: int = 1  # number of columns of the whole database, if this data is a column of a database; else 1


DataBuild = Generator[BuildProgress, None, BuiltData]
Result = TypeVar("Result")
Stopwatch = Callable[[], float]


@dataclass(frozen=True)
class DataRecipe:
    """Description of one kind of prepared data, with the function that computes it from a map."""

    kind: str  # kind of the data, such as "abstraction"
    params: tuple[tuple[str, Value], ...]  # (name, value) of each parameter on which the data depends
    build_tables: Callable[[Grid], DataBuild]  # generator function that computes the data and yields its progress
    table_class: type[Any]  # NamedTuple class of the data
    # Version of `build_tables`; to be incremented when its results for the same map and parameters change.
    build_version: int = 1

    def cache_key(self, grid: Grid) -> str:
        """Return the cache key of the data for this map."""
        rule = [] if grid.movement.rule == RULE_PARAM.default else [grid.movement.rule]
        head = json.dumps(
            [self.kind, self.build_version, self.params, grid.width, grid.height, grid.diagonal_cost, *rule]
        )
        return blake2b(head.encode() + grid.legal_moves_digest, digest_size=16).hexdigest()


@dataclass(frozen=True, eq=False)
class PreparedData:
    """Data computed before the run. It must not be modified, because agents, branches and keyframes share it."""

    kind: str  # kind of the data, such as "abstraction"
    params: tuple[tuple[str, Value], ...]  # (name, value) of each parameter on which the data depends
    tables: Any  # the data: a NamedTuple of arrays
    build_expansions: int  # cost of the computation: cells expanded by searches or visited in other work
    build_ms: float | None = None  # duration of the computation in milliseconds; None: it was not measured
    disk_bytes: int = 0  # size of the cache file with this data, in bytes; 0: there is no file
    entries: int = 0  # size as papers report it: number of database entries, or of cells in records of solved problems
    column_count: int = 1  # number of columns of the whole database, if this data is a column of a database; else 1

    @property
    def size_in_bytes(self) -> int:
        """Return the size of the data in memory, in bytes."""
        return sum(array.nbytes for array in self.tables)

    @property
    def build_cost_entries(self) -> dict[str, Any]:
        """Return kind, parameters, sizes and computation costs of the data, by name, for the output of experiments."""
        return {
            "kind": self.kind,
            **dict(self.params),
            "bytes": self.size_in_bytes,
            "disk_bytes": self.disk_bytes,
            "build_expansions": self.build_expansions,
            "build_ms": None if self.build_ms is None else round(self.build_ms, 3),
        }


@dataclass
class PreparedCache:
    """Cache of prepared data. Recently used data is in memory; data that is expensive to compute is also in files."""

    # Folder of the cache files; None: data is cached in memory only.
    files_folder: Path | None = field(default_factory=lambda: cache_folder() / "prepared")
    # Data in memory: cache key -> data, ordered from the least to the most recently used.
    data_in_memory: "OrderedDict[str, PreparedData]" = field(default_factory=OrderedDict)
    # Maximum size of all data in memory, in bytes; the last used data is kept even if it is larger.
    max_memory_bytes: int = MEMORY_MB * _BYTES_PER_MB
    max_disk_bytes: int = DISK_MB * _BYTES_PER_MB  # maximum size of all files in the folder, in bytes

    def limit(self, memory_mb: int, disk_mb: int) -> None:
        """Change the maximum sizes of the cache. The new sizes take effect when data is added."""
        self.max_memory_bytes, self.max_disk_bytes = memory_mb * _BYTES_PER_MB, disk_mb * _BYTES_PER_MB

    def get_data(self, key: str, recipe: DataRecipe) -> PreparedData | None:
        """Return the data with this cache key, from memory or from its file; None: it is in neither."""
        if key in self.data_in_memory:
            self.data_in_memory.move_to_end(key)
            return self.data_in_memory[key]
        found = self._read_data_file(key, recipe)
        if found is not None:
            self._keep_data_in_memory(key, found)
        return found

    def add_data(self, key: str, prepared: PreparedData) -> PreparedData:
        """Add data to the cache; write expensive data to a file, too. Return the data, with the size of its file."""
        if prepared.build_expansions >= MIN_STORED_EXPANSIONS:
            prepared = self._write_data_file(key, prepared)
        self._keep_data_in_memory(key, prepared)
        return prepared

    def _keep_data_in_memory(self, key: str, prepared: PreparedData) -> None:
        """Keep data in memory; evict the least recently used data until the total size is within the limit."""
        self.data_in_memory[key] = prepared
        size = sum(other.size_in_bytes for other in list(self.data_in_memory.values()))
        while size > self.max_memory_bytes and len(self.data_in_memory) > 1:
            size -= self.data_in_memory.popitem(last=False)[1].size_in_bytes

    def _data_file_path(self, key: str, kind: str) -> Path | None:
        return self.files_folder / f"{kind.replace(' ', '-')}-{key}.npz" if self.files_folder else None

    def _read_data_file(self, key: str, recipe: DataRecipe) -> PreparedData | None:
        """Return the data from its cache file; None if there is no file or the file is damaged."""
        path = self._data_file_path(key, recipe.kind)
        with suppress(OSError, ValueError, KeyError, EOFError):
            if path is None or not path.is_file():
                return None
            data = path.read_bytes()
            content = data[_CHECKSUM_BYTES:]
            if data[:_CHECKSUM_BYTES] != blake2b(content, digest_size=_CHECKSUM_BYTES).digest():
                return None
            os.utime(path)  # mark the file as recently used, so that other files are deleted earlier
            with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                tables = recipe.table_class(**{name: arrays[name] for name in recipe.table_class._fields})
                about = json.loads(bytes(arrays["about"]).decode())
            size = int(about["entries"]), int(about["pieces"])
            return PreparedData(
                recipe.kind, recipe.params, tables, int(about["expansions"]), about["build_ms"], len(data), *size
            )
        return None

    def _write_data_file(self, key: str, prepared: PreparedData) -> PreparedData:
        """Write data to a file and return the data with the size of the file.

        If the file cannot be written, the data is returned unchanged, and the next run has to compute it again.
        """
        path = self._data_file_path(key, prepared.kind)
        if path is None or not self.max_disk_bytes:
            return prepared
        about = json.dumps(
            {
                "expansions": prepared.build_expansions,
                "build_ms": prepared.build_ms,
                "entries": prepared.entries,
                "pieces": prepared.column_count,
            }
        )
        file = io.BytesIO()
        np.savez(file, about=np.frombuffer(about.encode(), np.uint8), **prepared.tables._asdict())
        content = file.getvalue()
        data = blake2b(content, digest_size=_CHECKSUM_BYTES).digest() + content
        if len(data) > self.max_disk_bytes:  # too large even if all other files were deleted
            return prepared
        part = path.with_name(f"{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._evict_old_files(path.parent, len(data))
            part.write_bytes(data)
            part.replace(path)
        except OSError:
            with suppress(OSError):
                part.unlink()
            return prepared
        return replace(prepared, disk_bytes=len(data))

    def _evict_old_files(self, folder: Path, size: int) -> None:
        """Delete the least recently used files, so that a new file of `size` bytes fits into the limit."""
        files = []
        for path in folder.iterdir():
            with suppress(FileNotFoundError):  # another process may have deleted the file by now
                about = path.stat()
                files.append((about.st_mtime, about.st_size, path))
        for _, length, path in sorted(files, reverse=True):
            size += length
            if size > self.max_disk_bytes:
                path.unlink(missing_ok=True)


DATA_CACHE = PreparedCache()
"""Cache of prepared data that is used by this whole process."""


def iter_fetch_data(
    recipe: DataRecipe, grid: Grid, stopwatch: Stopwatch | None = None
) -> Generator[BuildProgress, None, PreparedData]:
    """Return prepared data for this map from the cache; if it is not there, compute it, and yield the progress.

    Args:
        recipe: recipe of the data.
        grid: map.
        stopwatch: clock in seconds that measures the time of the computation; None: not measured.
    """
    key = recipe.cache_key(grid)
    found = DATA_CACHE.get_data(key, recipe)
    if found is not None:
        return found
    before = stopwatch() if stopwatch else 0.0
    pending: Future[None] | None = Future() if _IS_PREFETCH_THREAD.get() else None
    if pending is not None:
        _PREFETCH_FUTURES[key] = pending
    try:
        built = yield from recipe.build_tables(grid)
        build_ms = 1000.0 * (stopwatch() - before) if stopwatch else None
        return DATA_CACHE.add_data(key, _create_prepared_data(recipe, built, build_ms))
    finally:  # also runs when the caller cancels the computation
        if pending is not None:
            del _PREFETCH_FUTURES[key]
            pending.set_result(None)


def fetch_data(recipe: DataRecipe, grid: Grid) -> PreparedData:
    """Return prepared data for this map: from the cache, from the prefetch thread, or else computed now."""
    pending = _PREFETCH_FUTURES.get(recipe.cache_key(grid)) if _PREFETCH_FUTURES else None
    if pending is not None and not _IS_PREFETCH_THREAD.get():
        pending.result()
    return _exhaust_generator(iter_fetch_data(recipe, grid))


_PREFETCH_FUTURES: dict[str, Future[None]] = {}  # cache key -> future of data that the prefetch thread is computing
_IS_PREFETCH_THREAD = ContextVar("is_maker", default=False)  # True while the prefetch thread runs this code
# Id of a requester -> number of its last request; 0: its requests are cancelled.
_LAST_REQUEST_NUMBERS: dict[int, int] = {}
_PREFETCH_EXECUTOR = ThreadPoolExecutor(1, "ahead")


def prefetch_data(owner: int, steps: Iterator[BuildProgress]) -> None:
    """Compute prepared data in the prefetch thread. A later `fetch_data` finds the data in the cache, or waits for it.

    A new request of an owner cancels the earlier requests of this owner. Results of the simulation do not depend on
    prefetching.

    Args:
        owner: id of the requester.
        steps: iterator that computes the data. Until it has finished, the map must not be edited.
    """
    _LAST_REQUEST_NUMBERS[owner] = number = _LAST_REQUEST_NUMBERS.get(owner, 0) + 1
    _PREFETCH_EXECUTOR.submit(_run_prefetch_steps, owner, number, steps)


def cancel_prefetching() -> None:
    """Cancel all prefetching, so that the program can exit without waiting for the prefetch thread."""
    _LAST_REQUEST_NUMBERS.update(dict.fromkeys(_LAST_REQUEST_NUMBERS, 0))


def _run_prefetch_steps(owner: int, number: int, steps: Iterator[BuildProgress]) -> None:
    _IS_PREFETCH_THREAD.set(True)
    while _LAST_REQUEST_NUMBERS[owner] == number and next(steps, None) is not None:
        pass


def build_data_uncached(recipe: DataRecipe, grid: Grid) -> PreparedData:
    """Compute prepared data without using the cache, so that the caller can measure the time."""
    return _create_prepared_data(recipe, _exhaust_generator(recipe.build_tables(grid)), None)


def _create_prepared_data(recipe: DataRecipe, built: BuiltData, build_ms: float | None) -> PreparedData:
    size = {"entries": built.entries, "column_count": built.column_count}
    return PreparedData(recipe.kind, recipe.params, built.tables, built.expansions, build_ms, **size)


def _exhaust_generator(generator: Generator[BuildProgress, None, Result]) -> Result:
    """Run a generator to its end, and return its return value."""
    while True:
        try:
            next(generator)
        except StopIteration as end:
            result: Result = end.value
            return result


def params_with_names(params: Mapping[str, Value], *names: str) -> tuple[tuple[str, Value], ...]:
    """Return the named parameters of an agent as (name, value) pairs, the form that `DataRecipe.params` needs."""
    return tuple((name, params[name]) for name in names)
