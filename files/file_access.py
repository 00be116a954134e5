"""Control access to files that are named in other files, which may come from an untrusted source.

The named file must be inside the folders that are open to the naming file, so that absolute paths and `..` cannot reach
other files. A symbolic link inside these folders may lead out of them only to a benchmark file, because large
collections are shared this way. Any other target is refused, such as a device, or a private file whose text could
appear in error messages.
"""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

BENCHMARK_SUFFIXES = (".map", ".scen")
OUTSIDE_REASON = "outside the folder of this file"


def file_refusal_reason(path: str | os.PathLike[str], folders: Iterable[str | os.PathLike[str]]) -> str | None:
    """Return the reason why a file that another file names must not be opened; None if it may be opened.

    Args:
        path: The named path, without `..` after a link.
        folders: The folders that are open to the naming file.
    """
    open_folders = list(folders)
    real, roots = Path(os.path.realpath(path)), [Path(os.path.realpath(folder)) for folder in open_folders]
    if _is_inside_any_folder(real, roots):
        return None
    named = Path(os.path.abspath(path))
    if not _is_inside_any_folder(named, [*roots, *(Path(os.path.abspath(folder)) for folder in open_folders)]):
        return OUTSIDE_REASON
    suffix = real.suffix.lower()
    if suffix in BENCHMARK_SUFFIXES and suffix == named.suffix.lower():
        return None
    kind = f"a {named.suffix} file" if named.suffix.lower() in BENCHMARK_SUFFIXES else "a .map file"
    return f"a link that leads out of the folder of this file must lead to {kind}, got {real}"


def _is_inside_any_folder(path: Path, folders: Sequence[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)
