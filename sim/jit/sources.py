"""Hashes of source files, called stamps, which detect that cached machine code is out of date.

If a kernel calls a function in another file and that file is edited, numba does not notice the edit and loads the old
machine code from its cache. So the name of each cache folder contains a stamp: a hash of the kernel's source file and
of all kernel files that it imports. After an edit, the stamps of all files that depend on the edited file are new, and
only the kernels in these files are compiled again.
"""

import functools
import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from sim.system.program import PROGRAM_FOLDER

STAMP_LENGTH = 16  # number of hexadecimal digits of a stamp (hash of source files)

_KERNEL_PACKAGES = ("sim.jit", "sim.kernels", "ui.draw.kernels")
_IMPORT_LINE = re.compile(
    r"^[ ]*(?:from[ ]+(?P<package>[\w.]+)[ ]+import[ ]+(?P<names>\([^)]*\)|[^\n]*)|import[ ]+(?P<module>[\w.]+))", re.M
)


@functools.cache
def source_stamp(source: Path) -> str:
    """Return a hash of a kernel source file and of all kernel source files that it imports, directly or indirectly."""
    return _hash_of_files(_import_closure(source))


@functools.cache
def all_sources_stamp() -> str:
    """Return a hash of all source files of kernels."""
    return _hash_of_files(path for package in _KERNEL_PACKAGES for path in _folder_of_package(package).glob("*.py"))


def _hash_of_files(sources: Iterable[Path]) -> str:
    """Return a hash of the contents of these files."""
    digest = hashlib.sha256()
    for source in sorted(sources, key=lambda path: path.name):
        digest.update(hashlib.sha256(source.read_bytes()).digest())
    return digest.hexdigest()[:STAMP_LENGTH]


def _import_closure(source: Path) -> set[Path]:
    """Return the paths of a kernel source file and of all kernel files that it imports, directly or indirectly."""
    found, waiting = {source}, [source]
    while waiting:
        for path in _imported_files(waiting.pop()):
            if path not in found:
                found.add(path)
                waiting.append(path)
    return found


@functools.cache
def _imported_files(source: Path) -> tuple[Path, ...]:
    """Return the paths of the kernel source files that a file imports directly."""
    names = (
        name
        for match in _IMPORT_LINE.finditer(source.read_text(encoding="utf-8"))
        for name in _modules_in_import(match)
    )
    return tuple(dict.fromkeys(path for name in names if (path := _file_of_module(name)) is not None))


def _modules_in_import(match: "re.Match[str]") -> Iterator[str]:
    """Yield the module names in an import line: `sim.kernels.log` for the line `from sim.kernels import log`."""
    package = match["package"]
    if package is None:
        yield match["module"]
    elif package in _KERNEL_PACKAGES:
        yield from (f"{package}.{name}" for name in re.findall(r"\w+", match["names"]))
    else:
        yield package


def _file_of_module(module: str) -> Path | None:
    """Return the path of a kernel module; return None if the module contains no kernels."""
    package, _, name = module.rpartition(".")
    path = _folder_of_package(package) / f"{name}.py"
    return path if package in _KERNEL_PACKAGES and path.is_file() else None


def _folder_of_package(package: str) -> Path:
    """Return the path of the folder of a package."""
    return PROGRAM_FOLDER.joinpath(*package.split("."))
