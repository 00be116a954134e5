"""What of the kernels is compiled already, and compiling the rest, by several processes at once if need be.

A `Part` is what one thing needs: an agent, the drawing. A note in the cache folder says that it is compiled, of these
sources (after an edit the part is gone through again, which costs little where nothing it needs has changed); a lock
on that note says that some process is at it. Processes that start at the same time share the parts among them, and
one that was killed leaves a lock that is gone and a note that is not written.
"""

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sim.files.locks import BINARY, lock
from sim.kernels import CACHE_FOLDER
from sim.kernels.jit import JIT_ON
from sim.kernels.packed import NOTES
from sim.kernels.sources import stamp_of_all

_DONE = b"ready"


@dataclass(frozen=True)
class Part:
    """Kernels that are compiled together, because one thing uses them."""

    key: str
    title: str
    compile: Callable[[], None]


Tell = Callable[[Part, int, int], None]
"""Told before a part is compiled: which, how many are done, of how many."""


def is_ready(key: str) -> bool:
    try:
        return _note(key).stat().st_size > 0
    except OSError:
        return False


def make_ready(parts: Iterable[Part], tell: Tell = lambda *_: None) -> None:
    """Compile what is not compiled yet. Parts that another process is at come last, and are waited for.

    Where numba is switched off there is nothing to compile, and nothing may be noted: the next start would believe it.
    """
    if not JIT_ON:
        return
    missing = [part for part in parts if not is_ready(part.key)]
    with _no_collections():
        tried = _pass(missing, tell, len(missing), waits=False)
        _pass(tried, tell, len(missing), waits=True)


@contextmanager
def _no_collections() -> Iterator[None]:
    """The compiler makes millions of objects that stay: looking for garbage among them takes 6 % of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _pass(parts: Sequence[Part], tell: Tell, total: int, *, waits: bool) -> list[Part]:
    """Go through the parts once. Returns those that another process is at."""
    taken: list[Part] = []
    for i, part in enumerate(parts):
        if not is_ready(part.key):
            tell(part, total - len(parts) + i - len(taken), total)
        if not _compile_alone(part, waits=waits):
            taken.append(part)
    return taken


def _compile_alone(part: Part, *, waits: bool) -> bool:
    """Compile a part unless it is done; False if another process is at it."""
    try:
        note = os.open(_note(part.key), os.O_RDWR | os.O_CREAT | BINARY, 0o600)
    except OSError:  # nothing can be noted; it is compiled all the same
        part.compile()
        return True
    try:
        if not _locked(note, waits):
            return False
        if not os.fstat(note).st_size:
            part.compile()
            os.write(note, _DONE)
        return True
    finally:
        os.close(note)


def _locked(note: int, waits: bool) -> bool:
    try:
        return lock(note, waits=waits)
    except OSError:  # a file system without locks: what two processes compile at once is compiled twice
        return True


def _note(key: str) -> Path:
    return CACHE_FOLDER / f"{key}-{stamp_of_all()}{NOTES}"
