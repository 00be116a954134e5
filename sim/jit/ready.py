"""Compilation of kernels at the start of the program. Processes that start at the same time divide the work.

The kernels that one feature needs (an agent, or the drawing code) are a `KernelSet`. They are compiled by running them
on a tiny example. Afterwards a marker file in the cache folder, called note, records that the set is compiled from the
present source code. Editing any kernel makes all notes invalid, so every set is run again; sets whose kernels have not
changed are loaded from the cache, which is fast. A process locks the note of a set while it compiles the set, so other
processes compile other sets meanwhile. If a process is killed, its lock is released and the note remains empty, so
another process compiles the set.
"""

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sim.jit import CACHE_FOLDER
from sim.jit.decorators import JIT_ON
from sim.jit.kernel_archive import READY_MARKER_SUFFIX
from sim.jit.sources import all_sources_stamp
from sim.system.file_locks import BINARY_FLAG, lock_descriptor

_READY_CONTENT = b"ready"  # content of the note (marker file) of a kernel set that is compiled; otherwise it is empty


@dataclass(frozen=True)
class KernelSet:
    """Set of kernels that one feature of the program uses, compiled together."""

    key: str  # unique name, used in the file name of the note (marker file)
    title: str  # name of the feature, shown in the progress display
    compile_kernels: Callable[[], None]  # runs the kernels on a tiny example, so that numba compiles them


CompileProgress = Callable[[KernelSet, int, int], None]
"""Progress callback. It is called before a kernel set is compiled, with three arguments: the kernel set, the number of
sets already done, and the number of all sets."""


def is_kernel_set_compiled(key: str) -> bool:
    """Return whether the kernel set with this key is already compiled from the present source code."""
    try:
        return _ready_marker_path(key).stat().st_size > 0
    except OSError:
        return False


def compile_missing_kernel_sets(parts: Iterable[KernelSet], tell: CompileProgress = lambda *_: None) -> None:
    """Compile all kernel sets that are not compiled yet.

    If another process is compiling one of the sets, wait for it at the end. If numba is switched off, do nothing: do
    not even write notes (marker files), because they would make the next start skip the compilation.

    Args:
        parts: Kernel sets that must be compiled when the call returns.
        tell: Progress callback.
    """
    if not JIT_ON:
        return
    missing = [part for part in parts if not is_kernel_set_compiled(part.key)]
    with _garbage_collection_disabled():
        tried = _compile_unlocked_sets(missing, tell, len(missing), waits=False)
        _compile_unlocked_sets(tried, tell, len(missing), waits=True)


@contextmanager
def _garbage_collection_disabled() -> Iterator[None]:
    """Disable garbage collection during compilation, which saves 6 % of the time.

    The compiler makes millions of permanent objects, and each collection would scan them in vain.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _compile_unlocked_sets(
    parts: Sequence[KernelSet], tell: CompileProgress, total: int, *, waits: bool
) -> list[KernelSet]:
    """Compile the kernel sets that are not compiled yet; return the sets that another process is compiling."""
    locked: list[KernelSet] = []
    for i, part in enumerate(parts):
        if not is_kernel_set_compiled(part.key):
            tell(part, total - len(parts) + i - len(locked), total)
        if not _compile_set_under_lock(part, waits=waits):
            locked.append(part)
    return locked


def _compile_set_under_lock(part: KernelSet, *, waits: bool) -> bool:
    """Compile a kernel set unless this is done already; return False if another process is compiling it."""
    try:
        note = os.open(_ready_marker_path(part.key), os.O_RDWR | os.O_CREAT | BINARY_FLAG, 0o600)
    except OSError:  # the note (marker file) cannot be opened: compile without recording it
        part.compile_kernels()
        return True
    try:
        if not _lock_ready_marker(note, waits):
            return False
        if not os.fstat(note).st_size:
            part.compile_kernels()
            os.write(note, _READY_CONTENT)
        return True
    finally:
        os.close(note)


def _lock_ready_marker(note: int, waits: bool) -> bool:
    """Lock a note (marker file of a kernel set). Unless `waits`, return False if another process holds the lock."""
    try:
        return lock_descriptor(note, waits=waits)
    except OSError:  # without file locks, two processes may compile the same kernel set
        return True


def _ready_marker_path(key: str) -> Path:
    """Return the path of the note (marker file) of the kernel set with this key."""
    return CACHE_FOLDER / f"{key}-{all_sources_stamp()}{READY_MARKER_SUFFIX}"
