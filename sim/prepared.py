"""Data that agents need computed before the run: abstractions, databases of subgoals, records of solved problems.

    prepared = fetch(recipe, grid)                  what it makes of this map: from memory, from disk, or made now
    for step in obtain(recipe, grid): show(step)    the same in pieces; whoever stops asking has cancelled it
    spec.prepare(problem, params)                   such pieces for all that an agent will fetch when it is made

An agent fetches in its constructor, which is before the run, or when the world tells it of a change, which is between
two ticks; never while it plans. A window or a command first goes through spec.prepare() with a bar of progress; after
that fetching finds everything in memory.

What was made is known by a digest of the map (its legal moves, their rule, the cost of a diagonal), the kind, the
parameters and the version of the recipe. It never changes afterwards, so agents, branches and keyframes share it. What
took long to make is kept in the user's cache folder; a file that is damaged is not believed, and made again.

The simulation looks at no clock: whoever wants to know how long it took hands a stopwatch in.
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

from sim.files.folders import cache_folder
from sim.grid import Grid
from sim.movement import RULE
from sim.params import Value

WORTH_KEEPING = 50_000
"""Expansions of the making from which on a file is written: anything smaller is made faster than read."""

MEMORY_MB, DISK_MB = 256, 1024  # where nothing else is said
_MB = 1024 * 1024
_CHECK = 16  # bytes of the digest before a file's content


@dataclass(frozen=True)
class Step:
    """How far the making has come."""

    text: str
    share: float  # from 0 to 1


@dataclass(frozen=True)
class Made:
    """What a recipe's function hands back."""

    tables: Any  # a NamedTuple of arrays, of the class that the recipe names
    expansions: int  # of all searches; what else visits cells counts each visit
    entries: int = 0  # its size as papers count it: pairs of regions, or cells in records
    pieces: int = 1  # how many like it are the whole, where a run needs only one: the columns of a database


Making = Generator[Step, None, Made]
Result = TypeVar("Result")
Stopwatch = Callable[[], float]


@dataclass(frozen=True)
class Recipe:
    """How to make some data from a map."""

    kind: str
    params: tuple[tuple[str, Value], ...]
    make: Callable[[Grid], Making]
    form: type[Any]  # the NamedTuple class of the tables
    version: int = 1  # raise it when the same map and parameters would give other tables

    def key(self, grid: Grid) -> str:
        """The digest by which what it makes of this map is known."""
        rule = [] if grid.movement.rule == RULE.default else [grid.movement.rule]
        head = json.dumps([self.kind, self.version, self.params, grid.width, grid.height, grid.diagonal, *rule])
        return blake2b(head.encode() + grid.moves_digest, digest_size=16).hexdigest()


@dataclass(frozen=True, eq=False)
class Prepared:
    """Data computed before the run. Nobody writes to it."""

    kind: str
    params: tuple[tuple[str, Value], ...]
    tables: Any
    build_expansions: int
    build_ms: float | None = None  # None: nobody held a stopwatch
    disk_bytes: int = 0  # of its file, 0 if it has none
    entries: int = 0
    pieces: int = 1

    @property
    def bytes(self) -> int:
        """Its size in memory."""
        return sum(array.nbytes for array in self.tables)

    @property
    def costs(self) -> dict[str, Any]:
        """What it is, what it takes and what it took, for a line of results."""
        return {
            "kind": self.kind,
            **dict(self.params),
            "bytes": self.bytes,
            "disk_bytes": self.disk_bytes,
            "build_expansions": self.build_expansions,
            "build_ms": None if self.build_ms is None else round(self.build_ms, 3),
        }


@dataclass
class Shelf:
    """Where prepared data is kept: the latest in memory, the dear ones in a folder."""

    folder: Path | None = field(default_factory=lambda: cache_folder() / "prepared")  # None: no files
    held: "OrderedDict[str, Prepared]" = field(default_factory=OrderedDict)
    memory: int = MEMORY_MB * _MB  # most bytes in memory; the data used last stays in any case
    disk: int = DISK_MB * _MB  # most bytes in the folder

    def limit(self, memory_mb: int, disk_mb: int) -> None:
        """Keep no more than so much, from the next time something is put here."""
        self.memory, self.disk = memory_mb * _MB, disk_mb * _MB

    def get(self, key: str, recipe: Recipe) -> Prepared | None:
        if key in self.held:
            self.held.move_to_end(key)
            return self.held[key]
        found = self._read(key, recipe)
        if found is not None:
            self._hold(key, found)
        return found

    def put(self, key: str, prepared: Prepared) -> Prepared:
        if prepared.build_expansions >= WORTH_KEEPING:
            prepared = self._write(key, prepared)
        self._hold(key, prepared)
        return prepared

    def _hold(self, key: str, prepared: Prepared) -> None:
        self.held[key] = prepared
        size = sum(other.bytes for other in list(self.held.values()))
        while size > self.memory and len(self.held) > 1:
            size -= self.held.popitem(last=False)[1].bytes

    def _path(self, key: str, kind: str) -> Path | None:
        return self.folder / f"{kind.replace(' ', '-')}-{key}.npz" if self.folder else None

    def _read(self, key: str, recipe: Recipe) -> Prepared | None:
        """What an earlier run has kept; None if there is no file, or none that can be believed."""
        path = self._path(key, recipe.kind)
        with suppress(OSError, ValueError, KeyError, EOFError):
            if path is None or not path.is_file():
                return None
            data = path.read_bytes()
            content = data[_CHECK:]
            if data[:_CHECK] != blake2b(content, digest_size=_CHECK).digest():
                return None
            os.utime(path)  # used last: see _make_room
            with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                tables = recipe.form(**{name: arrays[name] for name in recipe.form._fields})
                about = json.loads(bytes(arrays["about"]).decode())
            size = int(about["entries"]), int(about["pieces"])
            return Prepared(
                recipe.kind, recipe.params, tables, int(about["expansions"]), about["build_ms"], len(data), *size
            )
        return None

    def _write(self, key: str, prepared: Prepared) -> Prepared:
        """Keep it in a file; where that is impossible it is made anew by the next run, no more."""
        path = self._path(key, prepared.kind)
        if path is None or not self.disk:
            return prepared
        about = json.dumps(
            {
                "expansions": prepared.build_expansions,
                "build_ms": prepared.build_ms,
                "entries": prepared.entries,
                "pieces": prepared.pieces,
            }
        )
        file = io.BytesIO()
        np.savez(file, about=np.frombuffer(about.encode(), np.uint8), **prepared.tables._asdict())
        content = file.getvalue()
        data = blake2b(content, digest_size=_CHECK).digest() + content
        if len(data) > self.disk:  # nor does it drive out what others will want again
            return prepared
        part = path.with_name(f"{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._make_room(path.parent, len(data))
            part.write_bytes(data)
            part.replace(path)
        except OSError:
            with suppress(OSError):
                part.unlink()
            return prepared
        return replace(prepared, disk_bytes=len(data))

    def _make_room(self, folder: Path, size: int) -> None:
        """Give up the files that were not used for the longest time."""
        files = []
        for path in folder.iterdir():
            with suppress(FileNotFoundError):  # another process gives up files as well
                about = path.stat()
                files.append((about.st_mtime, about.st_size, path))
        for _, length, path in sorted(files, reverse=True):
            size += length
            if size > self.disk:
                path.unlink(missing_ok=True)


SHELF = Shelf()
"""That of this process."""


def obtain(recipe: Recipe, grid: Grid, stopwatch: Stopwatch | None = None) -> Generator[Step, None, Prepared]:
    """What the recipe makes of this map, in pieces."""
    key = recipe.key(grid)
    found = SHELF.get(key, recipe)
    if found is not None:
        return found
    before = stopwatch() if stopwatch else 0.0
    being_made: Future[None] | None = Future() if _IS_MAKER.get() else None
    if being_made is not None:
        _AHEAD[key] = being_made
    try:
        made = yield from recipe.make(grid)
        build_ms = 1000.0 * (stopwatch() - before) if stopwatch else None
        return SHELF.put(key, _prepared(recipe, made, build_ms))
    finally:  # also when whoever asked has given it up
        if being_made is not None:
            del _AHEAD[key]
            being_made.set_result(None)


def fetch(recipe: Recipe, grid: Grid) -> Prepared:
    """What the recipe makes of this map, at once. What is being made ahead already is waited for."""
    being_made = _AHEAD.get(recipe.key(grid)) if _AHEAD else None
    if being_made is not None and not _IS_MAKER.get():
        being_made.result()
    return _finished(obtain(recipe, grid))


_AHEAD: dict[str, Future[None]] = {}  # by the key of what is being made: done when it is there, or given up
_IS_MAKER = ContextVar("is_maker", default=False)  # whether this is the thread that makes it
_WANTED: dict[int, int] = {}  # by whoever wants something: the number of its last wish
_MAKER = ThreadPoolExecutor(1, "ahead")


def make_ahead(owner: int, steps: Iterator[Step]) -> None:
    """Make data in a thread of its own while its owner goes on; fetching it later finds it, or waits for the rest.

    Only the last wish of an owner counts: an earlier one is given up, or never begun. What is simulated does not depend
    on any of this. `steps` must hold a map that nobody edits.
    """
    _WANTED[owner] = number = _WANTED.get(owner, 0) + 1
    _MAKER.submit(_make_ahead, owner, number, steps)


def give_up_ahead() -> None:
    """Nobody wants any of it now: the program ends, and would wait for it."""
    _WANTED.update(dict.fromkeys(_WANTED, 0))


def _make_ahead(owner: int, number: int, steps: Iterator[Step]) -> None:
    _IS_MAKER.set(True)
    while _WANTED[owner] == number and next(steps, None) is not None:
        pass


def made_now(recipe: Recipe, grid: Grid) -> Prepared:
    """The same, made anew and kept nowhere: for measuring."""
    return _prepared(recipe, _finished(recipe.make(grid)), None)


def _prepared(recipe: Recipe, made: Made, build_ms: float | None) -> Prepared:
    size = {"entries": made.entries, "pieces": made.pieces}
    return Prepared(recipe.kind, recipe.params, made.tables, made.expansions, build_ms, **size)


def _finished(making: Generator[Step, None, Result]) -> Result:
    while True:
        try:
            next(making)
        except StopIteration as end:
            result: Result = end.value
            return result


def params_of(params: Mapping[str, Value], *names: str) -> tuple[tuple[str, Value], ...]:
    """Those parameters of an agent on which a recipe depends, as a recipe wants them."""
    return tuple((name, params[name]) for name in names)
