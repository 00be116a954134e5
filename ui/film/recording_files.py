"""Files of recordings: names, folders, and the list of interrupted recordings. This module does not import pygame.

A video is first recorded to a part file such as `talk.mp4.part_path.mkv`, which is locked by the process that writes
it. A journal in the settings folder has the paths of part files. A part file without a lock belongs to a process that
was killed, so its recording can be finished later.
"""

import hashlib
import os
import re
import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from files.disk import check_file_name_lengths, shorten_file_name
from sim.params import ConfigError
from sim.system.file_locks import lock_descriptor
from sim.system.user_folders import config_folder
from ui.film.film_options import MKV, MP4, VIDEO_SUFFIXES

PART_SUFFIX = ".part.mkv"
FOLDER_VARIABLE = "BACKMOVE_RECORDINGS"
_MAX_LABEL_BYTES = 80  # maximum length of the labels of agents in a file name, in bytes
_MAX_ADDED_BYTES = len(".finishing.webm")  # length of the longest suffix of temporary files, in bytes

# --- names ----------------------------------------------------------------------------------------


def part_path_of(target: Path) -> Path:
    """Return the path of the part file of a video, to which the video is written until it is finished."""
    return target.with_name(target.name + PART_SUFFIX)


def target_path_of(part: Path) -> Path:
    """Return the path of the finished video for a part file; its suffix is .mkv unless the name has another one."""
    target = part.with_name(part.name.removesuffix(PART_SUFFIX))
    is_known = target.suffix.lower() in VIDEO_SUFFIXES
    return target if is_known else target.with_name(target.name + MKV)


def unused_path(path: str | os.PathLike[str], reserved: Collection[str] = ()) -> Path:
    """Return an unused path: the requested path, or the first unused of name-2, name-3, ...

    Args:
        path: Requested path.
        reserved: Absolute paths reserved for recordings in progress, which count as used.
    """
    requested = Path(path)
    number, candidate = 1, requested
    while (
        os.path.lexists(candidate) or os.path.lexists(part_path_of(candidate)) or os.path.abspath(candidate) in reserved
    ):
        number += 1
        candidate = requested.with_name(f"{requested.stem}-{number}{requested.suffix}")
    return candidate


def check_path_is_writable(path: str | os.PathLike[str]) -> None:
    """Check that a file can be written, so that a problem is reported before the recording begins.

    Raises:
        ConfigError: The name is too long, or the folder is missing or read-only.
    """
    check_file_name_lengths(path, spare=_MAX_ADDED_BYTES)
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


def recording_file_name(labels: Sequence[str], tick: int, suffix: str = MP4, last: int | None = None) -> str:
    """Return a file name such as lazy-vs-eager-tick-66.mp4 or lazy-vs-eager-ticks-10-30.gif.

    Args:
        labels: Labels of the agents; labels that would make the name too long are dropped.
        tick: First tick of the recording, or the tick of a picture.
        suffix: Suffix of the file; "": a folder.
        last: Last tick of the recording; None: the name has only one tick.
    """
    names = [re.sub(r"[^\w.+]+", "-", label.replace("*", "")).strip("-.") for label in labels]
    names = [name for name in names if name]
    while len(names) > 1 and len("-vs-".join(names).encode()) > _MAX_LABEL_BYTES:
        names.pop()
    subject = shorten_file_name("-vs-".join(names), _MAX_LABEL_BYTES).rstrip("-") or "run"
    # the name of a folder has no dots, because the text after a dot would look like a suffix
    subject = subject if suffix else subject.replace(".", "-")
    tick_text = f"tick-{tick}" if last is None else f"ticks-{tick}-{last}"
    return f"{subject}-{tick_text}{suffix}"


@dataclass
class RecordingsFolderSetting:
    """Setting of the user: the folder for recordings; None: the default folder."""

    chosen_folder: Path | None = None


FOLDER_SETTING = RecordingsFolderSetting()


def recordings_folder() -> Path:
    """Return the folder for recordings and pictures, which may not exist yet.

    The environment variable BACKMOVE_RECORDINGS has priority over the settings, and these over the default.
    """
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        return Path(named)
    return FOLDER_SETTING.chosen_folder or default_recordings_folder()


def default_recordings_folder() -> Path:
    try:
        return Path.home() / "Backmove"
    except RuntimeError:  # the user has no home folder, for example in a container
        return Path.cwd() / "Backmove"


# --- interrupted recordings -----------------------------------------------------------------------


@dataclass(frozen=True)
class InterruptedRecording:
    """Interrupted recording that can be finished from its part file."""

    part_path: Path
    duration_s: float  # length of the readable video, in seconds
    byte_count: int
    written_at: float  # time of the last change, in seconds since 1970

    @property
    def target_path(self) -> Path:
        return target_path_of(self.part_path)

    def __str__(self) -> str:
        time_text = time.strftime("%d %B, %H:%M", time.localtime(self.written_at)).lstrip("0")
        return f"{self.target_path.name}: {self.duration_s:.1f} s of video, recorded on {time_text}"


def interrupted_recordings(folders: Iterable[str | os.PathLike[str]] = ()) -> list[InterruptedRecording]:
    """Return all interrupted recordings that can be finished, the latest first.

    Part files are searched in the recordings folder, the given folders and the journal. Files that are still being
    written are omitted.
    """
    part_files = {
        part.resolve(): None
        for folder in (recordings_folder(), *folders)
        for part in _part_files_in_folder(Path(folder))
    }
    part_files |= dict.fromkeys(_part_files_in_journal())
    recordings = [recording for part in part_files if (recording := _read_interrupted_recording(part))]
    return sorted(recordings, key=lambda recording: -recording.written_at)


def _part_files_in_folder(folder: Path) -> list[Path]:
    with suppress(OSError):
        return sorted(folder.glob(f"*{PART_SUFFIX}"))
    return []


def _read_interrupted_recording(part: Path) -> InterruptedRecording | None:
    try:
        if is_part_file_being_written(part):
            return None
        file_stat = part.stat()
    except OSError:
        return None
    from ui.film.video_encoding import readable_seconds_of  # a late import, because the codecs are slow to load

    seconds = readable_seconds_of(part)
    return InterruptedRecording(part, seconds, file_stat.st_size, file_stat.st_mtime) if seconds > 0 else None


def remove_part_file(part: Path) -> None:
    """Delete the part file of a recording and its journal entry."""
    with suppress(OSError):
        part.unlink()
    with suppress(OSError):
        _journal_entry_path(part).unlink()


# --- locks and journal ----------------------------------------------------------------------------


def lock_part_file(descriptor: int) -> bool:
    """Lock a part file until it is closed or the program ends; return False if another process has locked it."""
    try:
        return lock_descriptor(descriptor)
    except OSError:  # the file system has no locks, so every part file counts as interrupted
        return True


def is_part_file_being_written(part: Path) -> bool:
    with open(part, "rb+") as file:
        return not lock_part_file(file.fileno())


def _journal_folder() -> Path:
    """Return the journal of recordings: a folder with one file per recording in progress, which has its path."""
    return config_folder() / "recordings"


def _journal_entry_path(part: Path) -> Path:
    name = hashlib.sha256(str(part.resolve()).encode()).hexdigest()[:16]
    return _journal_folder() / f"{name}.txt"


def add_journal_entry(part: Path) -> None:
    with suppress(OSError):  # part files in the recordings folder are found even without a journal entry
        entry = _journal_entry_path(part)
        entry.parent.mkdir(parents=True, exist_ok=True)
        entry.write_text(str(part.resolve()), encoding="utf-8")


def _part_files_in_journal() -> list[Path]:
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
