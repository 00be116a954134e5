"""Stamp of the sources that machine code depends on: a kernel's file and every kernel file that it imports.

numba does not notice that a helper in another file was edited: the cached caller keeps the old machine code. So each
cache entry has a stamp, a hash of all those sources, in its folder name. Changed sources give a new stamp, and only the
files of kernels that depend on the edited file are compiled again.
"""

import functools
import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from sim.program import ROOT

STAMP_LENGTH = 16

_KERNEL_PACKAGES = ("sim.kernels", "ui.draw.kernels")
_IMPORT_LINE = re.compile(
    r"^[ ]*(?:from[ ]+(?P<room>[\w.]+)[ ]+import[ ]+(?P<names>\([^)]*\)|[^\n]*)|import[ ]+(?P<module>[\w.]+))", re.M
)


@functools.cache
def stamp_of(source: Path) -> str:
    """Return the stamp of one file of kernels and of all files of kernels that it imports, directly or indirectly."""
    return _hash(_import_closure(source))


@functools.cache
def stamp_of_all() -> str:
    return _hash(path for room in _KERNEL_PACKAGES for path in _folder(room).glob("*.py"))


def _hash(sources: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for source in sorted(sources, key=lambda path: path.name):
        digest.update(hashlib.sha256(source.read_bytes()).digest())
    return digest.hexdigest()[:STAMP_LENGTH]


def _import_closure(source: Path) -> set[Path]:
    found, waiting = {source}, [source]
    while waiting:
        for path in _imported_files(waiting.pop()):
            if path not in found:
                found.add(path)
                waiting.append(path)
    return found


@functools.cache
def _imported_files(source: Path) -> tuple[Path, ...]:
    """Return the files of kernels that a file imports directly."""
    names = (
        name for match in _IMPORT_LINE.finditer(source.read_text(encoding="utf-8")) for name in _modules_imported(match)
    )
    return tuple(dict.fromkeys(path for name in names if (path := _file(name)) is not None))


def _modules_imported(match: "re.Match[str]") -> Iterator[str]:
    """Yield the modules that a line may import; `from sim.kernels import log` may import `sim.kernels.log`."""
    room = match["room"]
    if room is None:
        yield match["module"]
    elif room in _KERNEL_PACKAGES:
        yield from (f"{room}.{name}" for name in re.findall(r"\w+", match["names"]))
    else:
        yield room


def _file(module: str) -> Path | None:
    room, _, name = module.rpartition(".")
    path = _folder(room) / f"{name}.py"
    return path if room in _KERNEL_PACKAGES and path.is_file() else None


def _folder(room: str) -> Path:
    return ROOT.joinpath(*room.split("."))
