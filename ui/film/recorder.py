"""Recorder of videos, single pictures, or folders of pictures; the recorded frames survive a crash of the program.

    recorder = Recorder("talk.mp4", (1280, 720), fps=30)  .mp4 .webm .mkv .gif .png, or a folder of pictures
    recorder.add(surface)            add one picture; blocks while the queue is full, so no picture is dropped
    recorder.repeat_frame(15)        repeat the last picture 15 times, for example while a caption is read
    recorder.status                  frames, seconds of video, bytes, and the problem that stopped the recording, if any
    recorder.finish_file()           write the requested file and return its path

A worker thread encodes. Until it is finished, a video is written to `talk.mp4.part_path.mkv` in the folder of its
target. If the program is killed, this part file has all but the last quarter of a second, and the next start offers to
finish it. A full disk stops the recording but not the program.
"""

import os
import queue
import threading
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pygame
from av import FFmpegError

from files.disk import rename_file_synced, write_file_atomically
from files.png import png_bytes
from sim.params import ConfigError
from ui.film import film_options as film_options
from ui.film import video_encoding
from ui.film.film_options import FOLDER, PICTURE, Encoding, check_picture_size, output_kind_of
from ui.film.recording_files import (
    PART_SUFFIX,
    add_journal_entry,
    interrupted_recordings,
    is_part_file_being_written,
    lock_part_file,
    part_path_of,
    remove_part_file,
    target_path_of,
    unused_path,
)
from ui.film.video_encoding import Pixels, readable_seconds_of

__all__ = ["Recorder", "RecorderStatus", "interrupted_recordings", "recover_recording"]

QUEUE_LENGTH = 4
"""Maximum number of pictures that wait for the encoder. If the simulation is faster than the encoder, it has to wait in
any case; a longer queue would only delay that moment."""

_FILE_NUMBER_DIGITS = 6  # number of digits in the file names of pictures in a folder, such as 000042.png

# --- outputs --------------------------------------------------------------------------------------


class _RecorderOutput(Protocol):
    """Output of a recorder: a video, a folder of pictures, or a single picture."""

    target_path: Path

    @property
    def written_bytes(self) -> int: ...
    def add(self, pixels: Pixels) -> None: ...
    def repeat_frame(self) -> None: ...
    def finish_output(self, progress: video_encoding.ProgressCallback) -> Path: ...
    def close_unfinished_output(self, has_failed: bool = True) -> str: ...
    def delete_output(self) -> None: ...


class _VideoOutput:
    """Output to a video, which is written to a temporary part file until it is finished."""

    def __init__(self, path: Path, size: tuple[int, int], encoding: Encoding, threads: int) -> None:
        self.target_path, self._part_file = _create_part_file(path)
        self.part_path = part_path_of(self.target_path)
        add_journal_entry(self.part_path)
        try:
            self._video_encoder = video_encoding.VideoEncoder(self._part_file, size, encoding, threads)
        except BaseException:
            self._delete_part_file()
            raise

    @property
    def written_bytes(self) -> int:
        return self._part_file.byte_count

    def add(self, pixels: Pixels) -> None:
        self._check_part_file_exists()
        self._video_encoder.add(pixels)

    def repeat_frame(self) -> None:
        self._check_part_file_exists()
        self._video_encoder.repeat_frame()

    def _check_part_file_exists(self) -> None:
        """Raise an OSError if the part file was deleted; some systems accept writes to a deleted file."""
        os.stat(self.part_path)

    def finish_output(self, progress: video_encoding.ProgressCallback) -> Path:
        """Convert the part file to the requested file and return its path; if that fails, the part file is kept."""
        if self._video_encoder.frame_count == 0:
            self._delete_part_file()
            raise ConfigError(f"{self.target_path}: there is no picture to write")
        self._video_encoder.close()
        self._part_file.close()
        self.target_path = _convert_and_delete_part_file(self.part_path, self.target_path, progress)
        return self.target_path

    def close_unfinished_output(self, has_failed: bool = True) -> str:
        """Close the part file without converting it to the requested file.

        Args:
            has_failed: Whether writing has failed, so that frames still held back by the codec are discarded.

        Returns:
            A message for the user: the path of the part file, or that nothing was recorded.
        """
        if not has_failed:
            with suppress(OSError, FFmpegError):
                self._video_encoder.close()
        self._video_encoder.close_after_error()
        self._part_file.close()
        if readable_seconds_of(self.part_path) > 0:
            return f"the recording so far is in {self.part_path}"
        is_gone = not os.path.lexists(self.part_path)
        remove_part_file(self.part_path)
        return f"{self.part_path} was deleted, so the recording is lost" if is_gone else "nothing was recorded"

    def delete_output(self) -> None:
        self._video_encoder.close_after_error()
        self._delete_part_file()

    def _delete_part_file(self) -> None:
        self._part_file.close()
        remove_part_file(self.part_path)


class _FolderOutput:
    """Output to a folder of numbered pictures."""

    def __init__(self, path: Path) -> None:
        self.target_path = _create_picture_folder(path)
        self.written_bytes = self._picture_count = 0
        self._last_png = b""  # content of the last PNG file, written again when the picture is repeated

    def add(self, pixels: Pixels) -> None:
        self._last_png = png_bytes(pixels)
        self._write_next_picture()

    def repeat_frame(self) -> None:
        self._write_next_picture()

    def _write_next_picture(self) -> None:
        """Write the last picture to the file with the next number."""
        with open(self._picture_path(self._picture_count), "xb") as file:
            self._picture_count += 1
            file.write(self._last_png)
        self.written_bytes += len(self._last_png)

    def _picture_path(self, number: int) -> Path:
        """Return the path of the picture with this number, counted from 0."""
        return self.target_path / f"{number:0{_FILE_NUMBER_DIGITS}}{PICTURE}"

    def finish_output(self, progress: video_encoding.ProgressCallback) -> Path:
        if not self._picture_count:
            self.target_path.rmdir()
            raise ConfigError(f"{self.target_path}: there is no picture to write")
        return self.target_path

    def close_unfinished_output(self, has_failed: bool = True) -> str:
        if not self.target_path.is_dir():
            return f"the folder {self.target_path} was deleted, so the pictures are lost"
        return f"the pictures written so far are in {self.target_path}"

    def delete_output(self) -> None:
        for number in range(self._picture_count):
            with suppress(OSError):
                self._picture_path(number).unlink()
        with suppress(OSError):
            self.target_path.rmdir()


class _PictureOutput:
    """Output to a single picture file, which gets the last frame of the recording."""

    def __init__(self, path: Path, texts: dict[str, str]) -> None:
        self.target_path = unused_path(path)
        self._text_chunks = texts
        self.written_bytes = 0
        self._last_pixels: Pixels | None = None
        with open(self.target_path, "xb"):  # report a path that cannot be written now, not after the run
            pass
        self.target_path.unlink()

    def add(self, pixels: Pixels) -> None:
        self._last_pixels = pixels.copy()

    def repeat_frame(self) -> None:
        """Do nothing, because only the last picture is written."""

    def finish_output(self, progress: video_encoding.ProgressCallback) -> Path:
        if self._last_pixels is None:
            raise ConfigError(f"{self.target_path}: there is no picture to write")
        data = png_bytes(self._last_pixels, self._text_chunks)
        self.target_path = unused_path(self.target_path)
        write_file_atomically(self.target_path, data)
        self.written_bytes = len(data)
        return self.target_path

    def close_unfinished_output(self, has_failed: bool = True) -> str:
        return "nothing was written"

    def delete_output(self) -> None:
        """Do nothing, because no file has been written yet."""


class _PartFile(FileIO):
    """Part file of a video: locked, counts the bytes written, and writes all data or raises an OSError."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "x")
        self.byte_count = 0
        lock_part_file(self.fileno())

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        done = 0
        while done < len(view):
            done += super().write(view[done:]) or 0
        self.byte_count = max(self.byte_count, self.tell())
        return done


def _create_part_file(path: Path) -> tuple[Path, _PartFile]:
    """Create a part file for the first unused name; return the path of the target and the open part file."""
    while True:
        target = unused_path(path)
        with suppress(FileExistsError):  # another process has just created this file: try the next name
            return target, _PartFile(part_path_of(target))


def _create_picture_folder(path: Path) -> Path:
    if os.path.isdir(path) and not any(path.iterdir()):
        return path
    while True:
        target = unused_path(path)
        with suppress(FileExistsError):
            target.mkdir()
            return target


# --- the recorder ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class RecorderStatus:
    """Progress of one recording."""

    frame_count: int  # number of frames added, including repeated frames
    encoded_count: int  # number of frames that were passed to the encoder
    duration_s: float  # seconds of video recorded so far
    byte_count: int  # bytes written to the file so far
    problem: str = ""  # message that says why the recording failed; "": no failure

    @property
    def queued_frames(self) -> int:
        """Return the number of frames that wait in the queue of the encoder."""
        return self.frame_count - self.encoded_count


_END_JOB = object()  # queue entry that tells the worker thread to end
_REPEAT_JOB = object()  # queue entry that tells the worker thread to repeat the last picture


class Recorder:
    """Recorder that writes frames to a video or to picture files; a worker thread encodes the frames."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        size: tuple[int, int],
        fps: int = 30,
        preset: str = film_options.NORMAL,
        exact_colours: bool = False,
        texts: dict[str, str] | None = None,
        threads: int = 0,
    ) -> None:
        """Open the output and start the worker thread.

        Args:
            path: Target file or folder; its suffix chooses the format. A number is added to a name that is taken.
            size: Width and height of the pictures in pixels.
            fps: Frames a second; for a .gif the nearest possible rate is used.
            preset: Quality preset: "draft", "normal" or "high".
            exact_colours: Whether to encode without loss of colour.
            texts: Text chunks of a single .png picture.
            threads: Threads of the codec; 0: one per processor.

        Raises:
            ConfigError: The format, size or rate is not possible, or the file cannot be written.
        """
        self.kind = output_kind_of(path)
        is_video = self.kind in film_options.VIDEO_SUFFIXES
        fps = int(film_options.FPS.parse_value(fps, "fps"))
        self.fps = film_options.nearest_gif_rate(fps) if self.kind == film_options.GIF else fps
        encoding = Encoding(self.kind, self.fps, preset, exact_colours) if is_video else None
        check_picture_size(size, encoding)
        self.size = size
        self._output = _open_output(Path(path), size, self.kind, encoding, texts or {}, threads)
        self._encoding_queue: queue.Queue[Any] = queue.Queue(QUEUE_LENGTH)
        # Unused pixel buffers, for the next frames.
        self._unused_buffers: queue.SimpleQueue[Pixels] = queue.SimpleQueue()
        for _ in range(QUEUE_LENGTH + 2):
            self._unused_buffers.put(np.zeros((size[1], size[0]), np.uint32))
        self._frame_count = self._encoded_count = 0
        self._problem_text = ""
        self._thread = threading.Thread(target=self._encode_queue, name="recorder", daemon=True)
        self._thread.start()

    @property
    def target_path(self) -> Path:
        """Return the path of the file to write: the requested path, with a number if that path was taken."""
        return self._output.target_path

    @property
    def status(self) -> RecorderStatus:
        return RecorderStatus(
            self._frame_count,
            self._encoded_count,
            self._frame_count / self.fps,
            self._output.written_bytes,
            self._problem_text,
        )

    def add(self, picture: "pygame.Surface | Pixels") -> bool:
        """Add the next frame; block while the queue of the encoder is full, so that no frame is dropped.

        Args:
            picture: Surface or pixels in the size of the recorder, which are copied.

        Returns:
            False if a problem has stopped the recording.
        """
        if self._problem_text:
            return False
        pixels = self._unused_buffers.get()
        if isinstance(picture, pygame.Surface):
            assert picture.get_size() == self.size, (picture.get_size(), self.size)
            np.copyto(pixels, pygame.surfarray.pixels2d(picture).T)
        else:
            np.copyto(pixels, picture)
        self._encoding_queue.put(pixels)
        self._frame_count += 1
        return True

    def repeat_frame(self, times: int = 1) -> bool:
        """Repeat the last picture `times` times; return False if a problem has stopped the recording."""
        for _ in range(times):
            if self._problem_text:
                return False
            self._encoding_queue.put(_REPEAT_JOB)
            self._frame_count += 1
        return True

    def finish_file(self, progress: video_encoding.ProgressCallback = lambda share: None) -> Path:
        """Encode the remaining frames, and write the requested file.

        Args:
            progress: Callback for the completed fraction, from 0 to 1.

        Returns:
            Path of the file.

        Raises:
            ConfigError: A problem has stopped the recording, or the file could not be written. The part file of a
                video can be finished later.
        """
        self._encoding_queue.put(_END_JOB)
        self._thread.join()
        if self._problem_text:
            raise ConfigError(self._problem_text)
        try:
            return self._output.finish_output(progress)
        except (OSError, FFmpegError) as error:
            reason, outcome = _error_reason_text(error), self._output.close_unfinished_output()
            self._problem_text = f"{self.target_path}: the recording could not be finished: {reason}; {outcome}"
            raise ConfigError(self._problem_text) from None

    def stop_without_finishing(self) -> str:
        """Stop recording without finishing the file, which can be recovered later; return a message with its path."""
        self._encoding_queue.put(_END_JOB)
        self._thread.join()
        return self._output.close_unfinished_output(has_failed=bool(self._problem_text))

    def stop_and_delete(self) -> None:
        """Stop recording and delete the written files."""
        self._encoding_queue.put(_END_JOB)
        self._thread.join()
        self._output.delete_output()

    # --- the worker thread ------------------------------------------------------------------------

    def _encode_queue(self) -> None:
        """Encode the frames in the queue until `_END_JOB`; after an error, only free the buffers of the frames."""
        while (job := self._encoding_queue.get()) is not _END_JOB:
            if not self._problem_text:
                self._encode_queue_entry(job)
            if job is not _REPEAT_JOB:
                self._unused_buffers.put(job)

    def _encode_queue_entry(self, job: Any) -> None:
        """Encode one frame of the queue; store the message of an error for the status of the recording."""
        try:
            if job is _REPEAT_JOB:
                self._output.repeat_frame()
            else:
                self._output.add(job)
            self._encoded_count += 1
        except Exception as error:  # whatever the error is, the run continues, and the part file is kept
            reason, outcome = _error_reason_text(error), self._output.close_unfinished_output()
            self._problem_text = f"{self.target_path}: the recording stopped: {reason}; {outcome}"


def _open_output(
    path: Path, size: tuple[int, int], kind: str, encoding: Encoding | None, texts: dict[str, str], threads: int
) -> "_RecorderOutput":
    """Open and return the output for a file format; raise a ConfigError if the file cannot be written."""
    try:
        if encoding:
            return _VideoOutput(path, size, encoding, threads)
        return _FolderOutput(path) if kind == FOLDER else _PictureOutput(path, texts)
    except (OSError, FFmpegError) as error:
        raise ConfigError(f"{path}: cannot be written: {_error_reason_text(error)}") from None


def _error_reason_text(error: BaseException) -> str:
    """Return a short description of an error, for the end of a message."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


# --- finishing, and interrupted recordings --------------------------------------------------------


def _convert_and_delete_part_file(part: Path, target: Path, progress: video_encoding.ProgressCallback) -> Path:
    """Convert a part file to the target, delete the part file, and return the path of the target."""
    suffix = target.suffix.lower()
    if suffix == film_options.MKV:
        path = _rename_to_unused_path(part, target)
    else:
        draft = target.with_name(f"{target.name}.finishing{suffix}")
        video_encoding.convert_part_file(part, draft, progress)
        path = _rename_to_unused_path(draft, target)
    remove_part_file(part)
    return path


def _rename_to_unused_path(source: Path, target: Path) -> Path:
    """Rename a file to `target`, adding a number if that name has been taken meanwhile; return the new path."""
    number = 1
    path = target
    while os.path.lexists(path):
        number += 1
        path = target.with_name(f"{target.stem}-{number}{target.suffix}")
    # Raises if it fails, so that callers do not delete the only other copy of the video.
    rename_file_synced(source, path)
    return path


def recover_recording(
    part: str | os.PathLike[str], progress: video_encoding.ProgressCallback = lambda share: None
) -> Path:
    """Convert the part file of an interrupted recording to the requested format.

    Args:
        part: Part file of the interrupted recording.
        progress: Callback for the completed fraction, from 0 to 1.

    Returns:
        Path of the finished file.

    Raises:
        ConfigError: The file is no part file, is still being recorded, or cannot be finished.
    """
    file = Path(part)
    if not file.name.endswith(PART_SUFFIX):
        raise ConfigError(f"{part}: expected an unfinished recording, such as talk.mp4{PART_SUFFIX}")
    if not os.path.isfile(file):
        raise ConfigError(f"{part}: there is no such file")
    try:
        if is_part_file_being_written(file):
            raise ConfigError(f"{part}: it is still being recorded")
        if readable_seconds_of(file) == 0:
            raise ConfigError(f"{part}: it contains no picture")
        return _convert_and_delete_part_file(file, target_path_of(file), progress)
    except (OSError, FFmpegError) as error:
        raise ConfigError(f"{part}: cannot be finished: {_error_reason_text(error)}") from None
