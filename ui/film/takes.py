"""Takes: what recordings are called, where they lie, and which of them were never finished. No pygame here.

While a video is recorded it is `talk.mp4.part.mkv`, locked by whoever writes it, and a note in the settings folder
says where it is. After a kill the lock is gone and the file is not: that is how it is found again.
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
_LONGEST_NAME = 80  # bytes
_MAX_ADDED = len(".finishing.webm")  # bytes that the name of a video grows by while it is being written

# --- names ----------------------------------------------------------------------------------------


def part_of(target: Path) -> Path:
    """Where a video lies while it is being recorded."""
    return target.with_name(target.name + PART_SUFFIX)


def target_of(part: Path) -> Path:
    """What a part file is to become; an .mkv if its name does not tell."""
    target = part.with_name(part.name.removesuffix(PART_SUFFIX))
    is_known = target.suffix.lower() in VIDEO_SUFFIXES
    return target if is_known else target.with_name(target.name + MKV)


def free_name(path: str | os.PathLike[str], promised: Collection[str] = ()) -> Path:
    """The path, or the first of name-2, name-3, ... that would overwrite nothing, nor what is promised to others."""
    place = Path(path)
    number, tried = 1, place
    while os.path.lexists(tried) or os.path.lexists(part_of(tried)) or os.path.abspath(tried) in promised:
        number += 1
        tried = place.with_name(f"{place.stem}-{number}{place.suffix}")
    return tried


def check_place(path: str | os.PathLike[str]) -> None:
    """Say early what `Recorder` would say later: that nothing can be written there."""
    check_name(path, spare=_MAX_ADDED)
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
    """A name that says who is in it and when: lazy-vs-eager-tick-66.mp4, lazy-vs-eager-ticks-10-30.gif."""
    words = [re.sub(r"[^\w.+]+", "-", label.replace("*", "")).strip("-.") for label in labels]
    words = [word for word in words if word]
    while len(words) > 1 and len("-vs-".join(words).encode()) > _LONGEST_NAME:
        words.pop()
    who = shortened("-vs-".join(words), _LONGEST_NAME).rstrip("-") or "run"
    who = who if suffix else who.replace(".", "-")  # what follows a dot would be taken for a kind of file
    when = f"tick-{tick}" if last is None else f"ticks-{tick}-{last}"
    return f"{who}-{when}{suffix}"


@dataclass
class Chosen:
    """What the user has set for this process."""

    folder: Path | None = None


CHOSEN = Chosen()


def recordings_folder() -> Path:
    """Where recordings and pictures of the window go: as the environment says, or the user. It need not exist yet."""
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        return Path(named)
    return CHOSEN.folder or usual_folder()


def usual_folder() -> Path:
    try:
        return Path.home() / "Backmove"
    except RuntimeError:  # a user without an entry anywhere, as in some containers
        return Path.cwd() / "Backmove"


# --- leftovers ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Leftover:
    """A part file of a recording that was never finished."""

    part: Path
    seconds: float  # of video that can be read
    bytes: int
    written_at: float  # seconds since 1970

    @property
    def target(self) -> Path:
        return target_of(self.part)

    def __str__(self) -> str:
        when = time.strftime("%d %B, %H:%M", time.localtime(self.written_at)).lstrip("0")
        return f"{self.target.name}: {self.seconds:.1f} s of video, recorded on {when}"


def recoverable(folders: Iterable[str | os.PathLike[str]] = ()) -> list[Leftover]:
    """Recordings that a killed program has left, in the folders and wherever it noted one; the latest first.

    Those that somebody is still writing are left out.
    """
    places = {part.resolve(): None for folder in (recordings_folder(), *folders) for part in _parts_in(Path(folder))}
    places |= dict.fromkeys(_journalled())
    found = [leftover for part in places if (leftover := _leftover(part))]
    return sorted(found, key=lambda leftover: -leftover.written_at)


def _parts_in(folder: Path) -> list[Path]:
    with suppress(OSError):
        return sorted(folder.glob(f"*{PART_SUFFIX}"))
    return []


def _leftover(part: Path) -> Leftover | None:
    try:
        if is_being_written(part):
            return None
        about = part.stat()
    except OSError:
        return None
    from ui.film.video import seconds_of  # codecs are loaded only when there is a file to look into

    seconds = seconds_of(part)
    return Leftover(part, seconds, about.st_size, about.st_mtime) if seconds > 0 else None


def remove_part(part: Path) -> None:
    """Take a part file away, and the note of it."""
    with suppress(OSError):
        part.unlink()
    with suppress(OSError):
        _journal_entry(part).unlink()


# --- who is writing -------------------------------------------------------------------------------


def mark_as_written(descriptor: int) -> bool:
    """Lock a file until it is closed or the program ends; False if somebody else has it."""
    try:
        return lock(descriptor)
    except OSError:  # a file system without locks: every part file counts as left over
        return True


def is_being_written(part: Path) -> bool:
    with open(part, "rb+") as file:
        return not mark_as_written(file.fileno())


def _journal_folder() -> Path:
    """A note for each recording under way, so that it is found again whichever folder it is in."""
    return config_folder() / "recordings"


def _journal_entry(part: Path) -> Path:
    name = hashlib.sha256(str(part.resolve()).encode()).hexdigest()[:16]
    return _journal_folder() / f"{name}.txt"


def enter_journal(part: Path) -> None:
    with suppress(OSError):  # then it is found in its folder, or by hand
        entry = _journal_entry(part)
        entry.parent.mkdir(parents=True, exist_ok=True)
        entry.write_text(str(part.resolve()), encoding="utf-8")


def _journalled() -> list[Path]:
    """The part files of the journal; entries of files that are gone are taken out."""
    parts = []
    for entry in sorted(_journal_folder().glob("*.txt")):
        with suppress(OSError, UnicodeDecodeError):
            part = Path(entry.read_text(encoding="utf-8"))
            if part.exists() and part.name.endswith(PART_SUFFIX):
                parts.append(part)
            else:
                entry.unlink()
    return parts
