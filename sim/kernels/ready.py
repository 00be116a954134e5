"""Compilation of all kernels that a start of the program needs, shared by processes that start at the same time.

A `KernelSet` is the set of kernels that one feature needs: an agent, or the drawing. A part is compiled by running it
on a tiny example. A file in the cache folder, called its note, records that the part is compiled from the present
sources. After an edit of any kernel every part is run again, which is fast if none of its own kernels changed. A
process holds a file lock on the note while it compiles the part, so that several processes compile different parts.
When a process is killed, its lock is released and its note remains empty.
"""

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sim.files.file_locks import BINARY_FLAG, lock_descriptor
from sim.kernels import CACHE_FOLDER
from sim.kernels.jit import JIT_ON
from sim.kernels.kernel_archive import NOTE_SUFFIX
from sim.kernels.sources import all_sources_stamp

_READY_CONTENT = b"ready"  # content of the note file of a compiled part; other parts have an empty note file or none


@dataclass(frozen=True)
class KernelSet:
    """Set of kernels that are compiled together, because one feature uses them."""

    key: str  # first part of the name of the note file, which records that the kernels are compiled
    title: str  # name of the feature, for the progress display
    compile_kernels: Callable[[], None]  # function that runs the kernels, so that numba compiles them


CompileProgress = Callable[[KernelSet, int, int], None]
"""Progress callback, called before a part is compiled: the part, the number of parts done, the number of all parts."""


def is_compiled(key: str) -> bool:
    """Return whether the part with this key is compiled from the present sources."""
    try:
        return _note_path(key).stat().st_size > 0
    except OSError:
        return False


def compile_missing(parts: Iterable[KernelSet], tell: CompileProgress = lambda *_: None) -> None:
    """Compile all parts that are not compiled yet.

    Parts locked by another process come last; the call waits until that process has finished them. If numba is switched
    off, nothing is compiled, and no note is written: a note would make the next start skip the compilation.

    Args:
        parts: Parts that must be ready when the call returns.
        tell: Progress callback.
    """
    if not JIT_ON:
        return
    missing = [part for part in parts if not is_compiled(part.key)]
    with _garbage_collection_disabled():
        tried = _compile_unlocked(missing, tell, len(missing), waits=False)
        _compile_unlocked(tried, tell, len(missing), waits=True)


@contextmanager
def _garbage_collection_disabled() -> Iterator[None]:
    """Disable garbage collection: scanning the compiler's millions of permanent objects would take 6 % of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _compile_unlocked(parts: Sequence[KernelSet], tell: CompileProgress, total: int, *, waits: bool) -> list[KernelSet]:
    """Compile the parts that are not compiled yet; return the parts that another process has locked."""
    taken: list[KernelSet] = []
    for i, part in enumerate(parts):
        if not is_compiled(part.key):
            tell(part, total - len(parts) + i - len(taken), total)
        if not _compile_under_lock(part, waits=waits):
            taken.append(part)
    return taken


def _compile_under_lock(part: KernelSet, *, waits: bool) -> bool:
    """Compile a part unless it is ready; return False if another process has locked its note file."""
    try:
        note = os.open(_note_path(part.key), os.O_RDWR | os.O_CREAT | BINARY_FLAG, 0o600)
    except OSError:  # the note file cannot be opened, so compile without recording it
        part.compile_kernels()
        return True
    try:
        if not _lock_note(note, waits):
            return False
        if not os.fstat(note).st_size:
            part.compile_kernels()
            os.write(note, _READY_CONTENT)
        return True
    finally:
        os.close(note)


def _lock_note(note: int, waits: bool) -> bool:
    """Lock a part's note file; return False if another process has locked it and `waits` is false."""
    try:
        return lock_descriptor(note, waits=waits)
    except OSError:  # the file system has no locks, so two processes may compile the same part at the same time
        return True


def _note_path(key: str) -> Path:
    """Return the path of a part's note file."""
    return CACHE_FOLDER / f"{key}-{all_sources_stamp()}{NOTE_SUFFIX}"
