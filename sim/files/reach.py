"""Which files another file may name: it may come from a stranger, together with symbolic links that were made for it.

A name must lie within the folders that are open to the file, so that an absolute path or `..` reaches nothing else.
A symbolic link within these folders may lead out of them where it leads to a benchmark file, which is how large
collections are shared: whatever else a link could lead to, such as a private file whose text an error message would
quote, or a device, is refused.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

BENCHMARK_SUFFIXES = (".map", ".scen")
OUTSIDE = "outside the folder of this file"


def refusal(place: str | os.PathLike[str], folders: Iterable[str | os.PathLike[str]]) -> str | None:
    """Return why a file that another file names must not be opened, None where it may be.

    Args:
        place: The named path, without `..` behind a link.
        folders: The folders that are open to the file that names it.
    """
    open_to = list(folders)
    real, roots = Path(os.path.realpath(place)), [Path(os.path.realpath(folder)) for folder in open_to]
    if _is_below(real, roots):
        return None
    named = Path(os.path.abspath(place))
    if not _is_below(named, [*roots, *(Path(os.path.abspath(folder)) for folder in open_to)]):
        return OUTSIDE
    suffix = real.suffix.lower()
    if suffix in BENCHMARK_SUFFIXES and suffix == named.suffix.lower():
        return None
    kind = f"a {named.suffix} file" if named.suffix.lower() in BENCHMARK_SUFFIXES else "a .map file"
    return f"a link that leads out of the folder of this file must lead to {kind}, got {real}"


def _is_below(path: Path, folders: Sequence[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)
