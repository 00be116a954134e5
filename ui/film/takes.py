"""Names and folders of recordings, and the recovery of unfinished ones. This module does not import pygame.

A video is recorded to a part file such as `talk.mp4.part.mkv`, locked by the process that writes it; a journal entry in
the settings folder has its path. After a kill the lock is released but the file remains, which marks it as unfinished.
"""

import hashlib
import os
import re
import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sim.files.disk import check_name, shortened
from sim.files.folders import config_folder
from sim.files.locks import lock
from sim.params import ConfigError
from ui.film.options import MKV, MP4, VIDEO_SUFFIXES

PART_SUFFIX = ".part.mkv"
FOLDER_VARIABLE = "BACKMOVE_RECORDINGS"
_MAX_NAME = 80  # maximum number of bytes of a file name that are used for the labels of agents
_MAX_ADDED_BYTES = len(".finishing.webm")  # maximum bytes added to the name of a video while it is being written

# --- names ----------------------------------------------------------------------------------------


def part_of(target: Path) -> Path:
    """Return the part file to which a video is recorded."""
    return target.with_name(target.name + PART_SUFFIX)


def target_of(part: Path) -> Path:
    """Return the target of a part file; an .mkv if the name of the part file has no known suffix."""
    target = part.with_name(part.name.removesuffix(PART_SUFFIX))
    is_known = target.suffix.lower() in VIDEO_SUFFIXES
    return target if is_known else target.with_name(target.name + MKV)


def free_name(path: str | os.PathLike[str], promised: Collection[str] = ()) -> Path:
    """Return the path, or the first of name-2, name-3, ... that is free.

    Args:
        path: Wanted path.
        promised: Absolute paths reserved for recordings in progress, which count as taken.
    """
    wanted = Path(path)
    number, tried = 1, wanted
    while os.path.lexists(tried) or os.path.lexists(part_of(tried)) or os.path.abspath(tried) in promised:
        number += 1
        tried = wanted.with_name(f"{wanted.stem}-{number}{wanted.suffix}")
    return tried


def check_place(path: str | os.PathLike[str]) -> None:
    """Check that a file can be written, to report a problem before the recording begins.

    Raises:
        ConfigError: The name is too long, or the folder is missing or read-only.
    """
    check_name(path, spare=_MAX_ADDED_BYTES)
    folder = Path(path).absolute().parent
    reason = ""
    if not os.path.exists(folder):
        reason = f"there is no folder {folder}"
    elif not os.path.isdir(folder):
        reason = f"{folder} is not a folder"
    elif not os.access(folder, os.W_OK):
        reason = f"the folder {folder} cannot be written"
    if reason:
        raise ConfigError(f"{path}: cannot be written: {reason}")


def default_name(labels: Sequence[str], tick: int, suffix: str = MP4, last: int | None = None) -> str:
    """Return a file name such as lazy-vs-eager-tick-66.mp4 or lazy-vs-eager-ticks-10-30.gif.

    Args:
        labels: Labels of the agents; as many as fit are used.
        tick: First or only tick.
        suffix: Suffix of the file; "": a folder.
        last: Last tick of a range; None: there is only one tick.
    """
    words = [re.sub(r"[^\w.+]+", "-", label.replace("*", "")).strip("-.") for label in labels]
    words = [word for word in words if word]
    while len(words) > 1 and len("-vs-".join(words).encode()) > _MAX_NAME:
        words.pop()
    who = shortened("-vs-".join(words), _MAX_NAME).rstrip("-") or "run"
    who = who if suffix else who.replace(".", "-")  # the text after a dot would be taken for a suffix
    when = f"tick-{tick}" if last is None else f"ticks-{tick}-{last}"
    return f"{who}-{when}{suffix}"


@dataclass
class Chosen:
    """Folder for recordings that the user has chosen in the settings; None: the default folder."""

    folder: Path | None = None


CHOSEN = Chosen()


def recordings_folder() -> Path:
    """Return the folder for recordings and pictures, which may not exist yet.

    The environment variable comes first, then the settings, then the default.
    """
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        return Path(named)
    return CHOSEN.folder or usual_folder()


def usual_folder() -> Path:
    try:
        return Path.home() / "Backmove"
    except RuntimeError:  # the user has no home folder, as in some containers
        return Path.cwd() / "Backmove"


# --- interrupted recordings -----------------------------------------------------------------------


@dataclass(frozen=True)
class Leftover:
    """Part file of one interrupted recording."""

    part: Path
    seconds: float  # seconds of video that can be read
    bytes: int
    written_at: float  # seconds since 1970

    @property
    def target(self) -> Path:
        return target_of(self.part)

    def __str__(self) -> str:
        when = time.strftime("%d %B, %H:%M", time.localtime(self.written_at)).lstrip("0")
        return f"{self.target.name}: {self.seconds:.1f} s of video, recorded on {when}"


def recoverable(folders: Iterable[str | os.PathLike[str]] = ()) -> list[Leftover]:
    """Return the part files of interrupted recordings, the latest first.

    The recordings folder, the given folders and the paths in the journal are searched. Files that are still being
    written are left out.
    """
    places = {
        part.resolve(): None for folder in (recordings_folder(), *folders) for part in _part_files_in(Path(folder))
    }
    places |= dict.fromkeys(_journalled_parts())
    found = [leftover for part in places if (leftover := _leftover_of(part))]
    return sorted(found, key=lambda leftover: -leftover.written_at)


def _part_files_in(folder: Path) -> list[Path]:
    with suppress(OSError):
        return sorted(folder.glob(f"*{PART_SUFFIX}"))
    return []


def _leftover_of(part: Path) -> Leftover | None:
    try:
        if is_being_written(part):
            return None
        about = part.stat()
    except OSError:
        return None
    from ui.film.video import seconds_of  # imports the codecs, which are slow to load, only if there is a part file

    seconds = seconds_of(part)
    return Leftover(part, seconds, about.st_size, about.st_mtime) if seconds > 0 else None


def remove_part(part: Path) -> None:
    """Delete a part file and its journal entry."""
    with suppress(OSError):
        part.unlink()
    with suppress(OSError):
        _journal_entry(part).unlink()


# --- locks and journal ----------------------------------------------------------------------------


def mark_as_written(descriptor: int) -> bool:
    """Lock a file until it is closed or the program ends; return False if another process holds the lock."""
    try:
        return lock(descriptor)
    except OSError:  # the file system has no locks: then every part file counts as interrupted
        return True


def is_being_written(part: Path) -> bool:
    with open(part, "rb+") as file:
        return not mark_as_written(file.fileno())


def _journal_folder() -> Path:
    """Return the folder of the journal, which has one entry with the path of each recording in progress."""
    return config_folder() / "recordings"


def _journal_entry(part: Path) -> Path:
    name = hashlib.sha256(str(part.resolve()).encode()).hexdigest()[:16]
    return _journal_folder() / f"{name}.txt"


def enter_journal(part: Path) -> None:
    with suppress(OSError):  # without an entry, `recoverable` still finds the file in the recordings folder
        entry = _journal_entry(part)
        entry.parent.mkdir(parents=True, exist_ok=True)
        entry.write_text(str(part.resolve()), encoding="utf-8")


def _journalled_parts() -> list[Path]:
    """Return the part files listed in the journal; delete the entries of files that no longer exist."""
    parts = []
    for entry in sorted(_journal_folder().glob("*.txt")):
        with suppress(OSError, UnicodeDecodeError):
            part = Path(entry.read_text(encoding="utf-8"))
            if part.exists() and part.name.endswith(PART_SUFFIX):
                parts.append(part)
            else:
                entry.unlink()
    return parts
