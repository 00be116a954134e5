"""Stamp of the sources that machine code depends on: a kernel's file and every kernel file that it imports.

numba does not notice that a helper in another file was edited: the cached caller keeps the old machine code. So the
name of each cache folder contains a stamp, a hash of all sources that its machine code depends on. Changed sources give
a new stamp, and only the modules of kernels that depend on the edited file are compiled again.
"""

import functools
import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from sim.program import ROOT

STAMP_LENGTH = 16  # number of hexadecimal digits of a stamp

_KERNEL_PACKAGES = ("sim.kernels", "ui.draw.kernels")
_IMPORT_LINE = re.compile(
    r"^[ ]*(?:from[ ]+(?P<package>[\w.]+)[ ]+import[ ]+(?P<names>\([^)]*\)|[^\n]*)|import[ ]+(?P<module>[\w.]+))", re.M
)


@functools.cache
def source_stamp(source: Path) -> str:
    """Return the stamp of one file of kernels and of all files of kernels that it imports, directly or indirectly."""
    return _hash_of_files(_import_closure(source))


@functools.cache
def all_sources_stamp() -> str:
    """Return the stamp of all files of kernels."""
    return _hash_of_files(path for package in _KERNEL_PACKAGES for path in _folder_of_package(package).glob("*.py"))


def _hash_of_files(sources: Iterable[Path]) -> str:
    """Return the stamp of these files, which depends on their contents only."""
    digest = hashlib.sha256()
    for source in sorted(sources, key=lambda path: path.name):
        digest.update(hashlib.sha256(source.read_bytes()).digest())
    return digest.hexdigest()[:STAMP_LENGTH]


def _import_closure(source: Path) -> set[Path]:
    """Return a file of kernels and all files of kernels that it imports, directly or indirectly."""
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
        name
        for match in _IMPORT_LINE.finditer(source.read_text(encoding="utf-8"))
        for name in _modules_in_import(match)
    )
    return tuple(dict.fromkeys(path for name in names if (path := _file_of_module(name)) is not None))


def _modules_in_import(match: "re.Match[str]") -> Iterator[str]:
    """Yield the modules that an import line may import: `from sim.kernels import log` may import `sim.kernels.log`."""
    package = match["package"]
    if package is None:
        yield match["module"]
    elif package in _KERNEL_PACKAGES:
        yield from (f"{package}.{name}" for name in re.findall(r"\w+", match["names"]))
    else:
        yield package


def _file_of_module(module: str) -> Path | None:
    """Return the file of a module of kernels, or None for any other module."""
    package, _, name = module.rpartition(".")
    path = _folder_of_package(package) / f"{name}.py"
    return path if package in _KERNEL_PACKAGES and path.is_file() else None


def _folder_of_package(package: str) -> Path:
    """Return the folder of a package."""
    return ROOT.joinpath(*package.split("."))
