"""Worker process that records a video for a window: it recomputes the run, draws it and encodes the frames."""

import contextlib
import json
import os
import pickle
import queue
import sys
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

from agents.own_files import load_files_of_parent
from sim.params import ConfigError
from ui.film.film import Film, FilmCancelled, export_video, start_film
from ui.film.worker_messages import (
    CancelFilm,
    CutToTick,
    ExportJob,
    FilmJob,
    FilmUntilTick,
    LoadAgentFiles,
    ReplaceRun,
    SetViewSettings,
    StopFilm,
    WorkerMessage,
    WorkerReport,
)

REPORT_INTERVAL_S = 0.1  # seconds between two progress reports to the window
MAX_THREADS = 4  # maximum number of threads that the codec uses
_NICE_INCREMENT = 5  # added to the niceness of the worker process, so that the window has priority


class _MessageQueue:
    """Queue of messages from the window, filled by a thread.

    If the window closes the pipe, that counts as `StopFilm`.
    """

    def __init__(self, pipe: BinaryIO) -> None:
        self._message_pipe = pipe
        self._messages: queue.SimpleQueue[WorkerMessage] = queue.SimpleQueue()
        self.is_cancelled = False
        threading.Thread(target=self._read_messages, daemon=True).start()

    def _read_messages(self) -> None:
        """Read messages from the pipe into the queue until the pipe is closed; runs in a thread."""
        message: WorkerMessage
        try:
            while True:
                message = pickle.load(self._message_pipe)
                self.is_cancelled = self.is_cancelled or isinstance(message, CancelFilm)
                self._messages.put(message)
        except (EOFError, OSError, pickle.UnpicklingError):
            self._messages.put(StopFilm())

    def next_message(self, patience_s: float | None = None) -> WorkerMessage | None:
        """Return the next message, or None after `patience_s` seconds without one (None: wait without limit)."""
        try:
            return self._messages.get(timeout=patience_s)
        except queue.Empty:
            return None

    def messages_until_stop(self, patience_s: float | None = None) -> Iterator[WorkerMessage | None]:
        """Yield the messages before `StopFilm` or `CancelFilm`; yield None after `patience_s` seconds without one."""
        while not isinstance(message := self.next_message(patience_s), StopFilm | CancelFilm):
            yield message


@dataclass
class _ReportSender:
    """Sender of progress reports to the window, ten times a second and at every change of phase."""

    report_pipe: BinaryIO
    report: WorkerReport = field(default_factory=WorkerReport)
    film: Film | None = None
    end_tick: int | None = None  # tick after the last tick of an export; None: the end of the run, or no export
    _last_report: WorkerReport | None = None  # last report sent; an equal report is not sent again

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._has_ended = threading.Event()
        threading.Thread(target=self._send_reports, daemon=True).start()

    def _send_reports(self) -> None:
        while not self._has_ended.wait(REPORT_INTERVAL_S):
            self.send_report()

    def send_report(self, **changes: Any) -> None:
        """Apply changes to the report, and send it if it differs from the last report sent."""
        with self._lock:
            if self.film is not None and not self.report.is_done:
                self.report = replace(self.report, **self._report_fields_of_film(self.film))
            # `changes` are applied last, so that path and size of the finished file replace those of the part file
            self.report = replace(self.report, **changes)
            if self.report != self._last_report:
                self._last_report = self.report
                with contextlib.suppress(OSError):  # the window may have closed the pipe
                    self.report_pipe.write(json.dumps(asdict(self.report)).encode() + b"\n")
                    self.report_pipe.flush()

    def _report_fields_of_film(self, film: Film) -> dict[str, Any]:
        """Return the fields of the report that depend on the progress of the film."""
        status = film.recorder.status
        fields = {
            "frames": status.frame_count,
            "seconds": status.duration_s,
            "bytes": status.byte_count,
            "tick": film.shown_tick,
        }
        if self.report.phase == "filming":
            fields["share"] = min(1.0, film.tick / self.end_tick) if self.end_tick else 0.0
        return {**fields, "path": str(film.recorder.target_path)}

    def on_conversion_progress(self, share: float) -> None:
        """Store the progress of converting the file, from 0 to 1; the reporting thread sends it."""
        self.report = replace(self.report, phase="finishing", share=share)

    def done(self, **changes: Any) -> None:
        """Stop the regular reports and send a last report with these changes."""
        self._has_ended.set()
        self.send_report(phase="done", **changes)


def main() -> int:
    """Do the job (recording or export) that arrives as first message on standard input; return the exit code."""
    load_files_of_parent()
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # prints go to standard error, so as not to mix with reports
    if hasattr(os, "nice"):
        os.nice(_NICE_INCREMENT)  # lowers the priority of this process below that of the window
    inbox, reporter = _MessageQueue(sys.stdin.buffer), _ReportSender(out)
    job = inbox.next_message()
    if isinstance(job, FilmJob | ExportJob):
        reporter.report = replace(reporter.report, path=job.path)
    try:
        if isinstance(job, FilmJob):
            _record_run(job, inbox, reporter)
        elif isinstance(job, ExportJob):
            _record_tick_range(job, inbox, reporter)
    except ConfigError as error:
        reporter.done(problem="; ".join(error.problems))
    return 0


def _record_run(job: FilmJob, inbox: _MessageQueue, reporter: _ReportSender) -> None:
    """Record the run of the window, following its messages, until the window stops or cancels the recording."""
    film = start_film(job.replay_spec, job.path, job.tick, job.film_options, job.appearance, _codec_thread_count())
    film.is_cancelled = lambda: inbox.is_cancelled
    reporter.film = film
    reporter.send_report(phase="filming")
    try:
        for message in inbox.messages_until_stop(REPORT_INTERVAL_S):
            if message is not None:
                _apply_window_message(film, message)
            if film.recorder.status.problem:
                break  # report the failure at once, not only when the user stops the recording
    except BaseException:
        # close the part file, so that the recording can be recovered after the error
        film.recorder.stop_without_finishing()
        raise
    if inbox.is_cancelled:
        film.recorder.stop_and_delete()
        reporter.done(is_cancelled=True)
        return
    film.film_remaining_ticks()
    path = film.recorder.finish_file(reporter.on_conversion_progress)
    reporter.done(path=str(path), bytes=_output_size_bytes(path), share=1.0)


def _codec_thread_count() -> int:
    """Return the number of threads for the codec, which leaves one processor to the window."""
    return max(1, min(MAX_THREADS, (os.cpu_count() or 2) - 1))


def _apply_window_message(film: Film, message: WorkerMessage) -> None:
    """Apply a message of the window to the film: change the run, film up to a tick, cut, or change the view."""
    match message:
        case LoadAgentFiles(files):
            load_files_of_parent(files)
        case ReplaceRun(replay, tick, is_same_run):
            film.continue_with_replay(
                replace(replay, scenario=film.rerun.replay_spec.scenario) if is_same_run else replay, tick
            )
        case FilmUntilTick(tick):
            film.film_until_tick(tick)
        case CutToTick(tick):
            film.cut_to_tick(tick)
        case SetViewSettings(look):
            film.change_view_settings(look)


def _record_tick_range(job: ExportJob, inbox: _MessageQueue, reporter: _ReportSender) -> None:
    """Record a range of ticks until the range is complete or the window cancels the export."""
    reporter.end_tick = job.tick_range[1]
    threading.Thread(target=_wait_for_cancel_message, args=(inbox,), daemon=True).start()

    def told(film: Film) -> None:
        if reporter.film is None:
            reporter.film = film
            reporter.send_report(phase="filming")

    try:
        done = export_video(
            job.replay_spec,
            job.path,
            job.tick_range,
            job.film_options,
            job.appearance,
            told=told,
            finishing=reporter.on_conversion_progress,
            is_cancelled=lambda: inbox.is_cancelled,
        )
    except FilmCancelled:
        reporter.done(is_cancelled=True)
        return
    reporter.done(
        path=str(done.path), bytes=done.byte_count, frames=done.frame_count, seconds=done.duration_s, share=1.0
    )


def _wait_for_cancel_message(inbox: _MessageQueue) -> None:
    """Wait for a message that cancels the export, in a thread.

    An export continues after `StopFilm`, which also arrives if the window closes.
    """
    for _ in inbox.messages_until_stop():
        pass


def _output_size_bytes(path: Path) -> int:
    """Return the size in bytes of a file, or of all files in a folder of pictures."""
    return path.stat().st_size if path.is_file() else sum(file.stat().st_size for file in path.iterdir())


if __name__ == "__main__":
    sys.exit(main())
