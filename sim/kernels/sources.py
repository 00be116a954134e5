"""What machine code depends on: the source of its kernel and of every kernel file that this one imports.

numba does not notice when a helper in another file was edited: the cached caller keeps the old machine code. So what
is kept bears a stamp, a hash of all those sources. Another source means another stamp, and only what depends on the
edited file is compiled anew.
"""

import functools
import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from sim.program import ROOT

STAMP_LENGTH = 16

_ROOMS = ("sim.kernels", "ui.draw.kernels")
_IMPORT = re.compile(
    r"^[ ]*(?:from[ ]+(?P<room>[\w.]+)[ ]+import[ ]+(?P<names>\([^)]*\)|[^\n]*)|import[ ]+(?P<module>[\w.]+))", re.M
)


@functools.cache
def stamp_of(source: Path) -> str:
    """Of one file of kernels, with all that it imports."""
    return _hash(_reached(source))


@functools.cache
def stamp_of_all() -> str:
    return _hash(path for room in _ROOMS for path in _folder(room).glob("*.py"))


def _hash(sources: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for source in sorted(sources, key=lambda path: path.name):
        digest.update(hashlib.sha256(source.read_bytes()).digest())
    return digest.hexdigest()[:STAMP_LENGTH]


def _reached(source: Path) -> set[Path]:
    found, waiting = {source}, [source]
    while waiting:
        for path in _imported(waiting.pop()):
            if path not in found:
                found.add(path)
                waiting.append(path)
    return found


@functools.cache
def _imported(source: Path) -> tuple[Path, ...]:
    """The files of kernels that a file imports by itself."""
    names = (name for match in _IMPORT.finditer(source.read_text(encoding="utf-8")) for name in _modules(match))
    return tuple(dict.fromkeys(path for name in names if (path := _file(name)) is not None))


def _modules(match: "re.Match[str]") -> Iterator[str]:
    """What a line may import as a module. `from sim.kernels import log` names one as `from sim.kernels.log` does."""
    room = match["room"]
    if room is None:
        yield match["module"]
    elif room in _ROOMS:
        yield from (f"{room}.{name}" for name in re.findall(r"\w+", match["names"]))
    else:
        yield room


def _file(module: str) -> Path | None:
    room, _, name = module.rpartition(".")
    path = _folder(room) / f"{name}.py"
    return path if room in _ROOMS and path.is_file() else None


def _folder(room: str) -> Path:
    return ROOT.joinpath(*room.split("."))
