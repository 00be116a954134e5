"""All numba code of the project, and the folder in which its compiled form is kept.

numba does not notice when a helper in another file was edited: the cached caller keeps the old
machine code. It also ignores the bounds-check flag. So the cache folder is named by a hash of every
kernel source and of that flag; another source means another folder. This must happen before numba
is imported, which is why it stands here and why nothing outside folders called `kernels` imports numba:
those of the simulation here, and those that paint pixels in `ui/draw/kernels`.
"""

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

_KEPT_CACHES = 4
_PROJECT = Path(__file__).resolve().parents[2]


def _sources_hash() -> str:
    digest = hashlib.sha256(os.environ.get("NUMBA_BOUNDSCHECK", "0").encode())
    for source in sorted(_PROJECT.glob("sim/kernels/*.py")) + sorted(_PROJECT.glob("ui/draw/kernels/*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _is_writable(folder: Path) -> bool:
    """Whether a file can really be made in `folder`; permissions alone do not tell."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _cache_roots() -> list[Path]:
    """Places for compiled kernels, best first. A numba without any writable place fails at import."""
    roots = []
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        roots.append(Path(named))
    if cache_home := os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA"):
        roots.append(Path(cache_home) / "backmove")
    roots.append(Path(os.path.expanduser("~")) / ".cache" / "backmove")
    roots.append(Path(tempfile.gettempdir()) / f"backmove-{os.getuid() if hasattr(os, 'getuid') else 0}")
    return roots


def _forget_old_caches(root: Path, current: Path) -> None:
    """Keep the newest few folders: each edit of a kernel leaves one behind."""
    others = [f for f in root.glob("kernels-*") if f != current]
    others.sort(key=lambda folder: folder.stat().st_mtime, reverse=True)
    for folder in others[_KEPT_CACHES:]:
        shutil.rmtree(folder, ignore_errors=True)


def _choose_cache() -> Path:
    name = f"kernels-{_sources_hash()}"
    for root in _cache_roots():
        if root.name == name and _is_writable(root):  # a child process inherits the chosen folder
            return root
        if _is_writable(root / name):
            _forget_old_caches(root, root / name)
            return root / name
    return Path(tempfile.mkdtemp(prefix="backmove-kernels-"))


CACHE_FOLDER = _choose_cache()
WAS_WARM = any(CACHE_FOLDER.rglob("*.nbi"))
"""Whether compiled kernels lay ready at start, so that the window knows if it has to say "preparing"."""

os.environ["NUMBA_CACHE_DIR"] = str(CACHE_FOLDER)
