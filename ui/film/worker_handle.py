"""Handle (in the window) of a worker process that records a video of the run in the background.

The window sends the scenario of the run, then its commands and its current tick. The worker recomputes the run, draws
it and encodes it. Recording therefore costs the window almost nothing, and if the window is killed the worker still
finishes the file. If the worker is more than 300 frames behind the window, the simulation waits for it.

    handle = WorkerHandle.start_recording(path, session, options, look)
    handle.send_window_changes(session, look)    call once for every frame of the window
    handle.must_simulation_wait                  whether the next tick has to wait for the worker
    handle.stop_recording()                      the worker finishes the file; `last_report.is_done` is True after that
    handle = WorkerHandle.start_export(path, replay, (0, 200), options, look)

The code of the worker process is in ui/film/worker.py.
"""

import contextlib
import json
import os
import pickle
import queue
import subprocess
import threading
from collections import deque
from dataclasses import replace

from agents.own_files import loaded_files_json
from ui.film.film_options import FilmOptions
from ui.film.replay import ReplaySpec, branch_states_at_start, replay_spec_of_run
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
from ui.model import subprocesses
from ui.model.appearance import Appearance
from ui.model.session import Session

MAX_FRAMES_BEHIND = 300
"""Maximum number of frames that the worker may be behind the window."""

_JOIN_TIMEOUT_S = 20.0  # maximum seconds to wait for the threads that read the remaining output of an ended worker
_SEND_TIMEOUT_S = 2.0  # maximum seconds to wait until the remaining messages are sent, when the window closes
_MAX_ERROR_LINES = 20  # number of the last lines of the worker's standard error that are kept for an error message


class WorkerHandle:
    """Handle of one worker process that records a video: its pipes, and its latest progress report."""

    def __init__(self, job: FilmJob | ExportJob) -> None:
        self.last_report = WorkerReport(path=job.path)
        self.film_options = job.film_options
        self.is_stopping = False
        self._sent_replay_spec, self._sent_appearance = job.replay_spec, job.appearance
        # first: tick sent to the worker last; second: tick at which the video starts or continues after the last cut
        self._sent_tick = self._segment_start_tick = job.tick if isinstance(job, FilmJob) else 0
        self._followed_branch_tree: object = None  # branch tree of the followed run; another object means another run
        self._is_seek_next = False  # whether the next change of the tick is a seek, whose ticks are not filmed
        self._known_agent_files = loaded_files_json()  # files of user-defined agents that the worker knows
        self._error_lines: deque[str] = deque(maxlen=_MAX_ERROR_LINES)  # last lines of the worker's standard error
        # Messages to send; None ends the thread.
        self._outgoing_messages: queue.SimpleQueue[WorkerMessage | None] = queue.SimpleQueue()
        self._worker_process = _start_worker_process()
        self._pipe_threads = [
            threading.Thread(target=work, name=f"studio {work.__name__}", daemon=True)
            for work in (self._write_messages, self._read_reports, self._collect_error_lines)
        ]
        for thread in self._pipe_threads:
            thread.start()
        self._queue_message(job)

    @classmethod
    def start_recording(
        cls, path: str | os.PathLike[str], session: Session, options: FilmOptions, appearance: Appearance
    ) -> "WorkerHandle":
        """Start a worker that records a session from its current tick on.

        Args:
            path: File or folder to write.
            session: Session to follow.
            options: Options of the video.
            appearance: View settings.
        """
        replay = replay_spec_of_run(session.run)
        handle = cls(FilmJob(os.path.abspath(path), replay, session.run.max_shown_tick, options, appearance))
        handle._followed_branch_tree = session.run.branch_tree
        return handle

    @classmethod
    def start_export(
        cls,
        path: str | os.PathLike[str],
        replay: ReplaySpec,
        ticks: tuple[int, int | None],
        options: FilmOptions,
        appearance: Appearance,
    ) -> "WorkerHandle":
        """Start a worker that records a range of ticks of a run.

        Args:
            path: File or folder to write.
            replay: Run to film.
            ticks: First tick, and the end of the range (exclusive); None: up to the end of the run.
            options: Options of the video.
            appearance: View settings.
        """
        return cls(ExportJob(os.path.abspath(path), replay, ticks, options, appearance))

    # --- following the window ---------------------------------------------------------------------

    def send_window_changes(self, session: Session, appearance: Appearance) -> None:
        """Send the worker all changes of the run, the view settings and the tick since the last call."""
        if self.is_stopping or self.last_report.is_done or session.run.is_seeking:
            return
        tick = session.run.max_shown_tick
        self._send_run_changes(session, tick)
        if appearance != self._sent_appearance:
            self._sent_appearance = appearance
            self._queue_message(SetViewSettings(appearance))
        if tick < self._sent_tick or (self._is_seek_next and tick != self._sent_tick):
            self._queue_message(CutToTick(tick))
            self._segment_start_tick = tick
        elif tick > self._sent_tick:
            self._queue_message(FilmUntilTick(tick))
        self._sent_tick, self._is_seek_next = tick, False

    def _send_run_changes(self, session: Session, tick: int) -> None:
        """Send the worker the whole run if it was replaced, or only its commands if they have changed."""
        states = branch_states_at_start(session.run)
        if (
            named := loaded_files_json()
        ) != self._known_agent_files:  # sent before the commands, which may add agents of the new files
            self._known_agent_files = named
            self._queue_message(LoadAgentFiles(named))
        if session.run.branch_tree is not self._followed_branch_tree:
            self._followed_branch_tree = session.run.branch_tree
            self._sent_replay_spec = replay_spec_of_run(session.run)
            self._queue_message(ReplaceRun(self._sent_replay_spec, tick, is_same_run=False))
            self._sent_tick = self._segment_start_tick = tick
        elif (
            states != self._sent_replay_spec.branch_states
            or session.run.focused_branch_number != self._sent_replay_spec.focused_branch_number
        ):
            self._sent_replay_spec = replace(
                self._sent_replay_spec, branch_states=states, focused_branch_number=session.run.focused_branch_number
            )
            self._queue_message(ReplaceRun(replace(self._sent_replay_spec, scenario=None), tick, is_same_run=True))  # type: ignore[arg-type]

    def cut_at_next_seek(self) -> None:
        """Make a cut in the video at the next change of the tick, which is a seek: its ticks are not filmed."""
        self._is_seek_next = True

    @property
    def frames_behind(self) -> int:
        """Return the number of frames by which the worker is behind the window."""
        ticks = self._sent_tick - max(self._segment_start_tick, self.last_report.tick)
        return max(0, int(ticks / self.film_options.ticks_per_frame))

    @property
    def must_simulation_wait(self) -> bool:
        """Return whether the simulation should wait because the worker is too far behind."""
        return not (self.last_report.is_done or self.is_stopping) and self.frames_behind > MAX_FRAMES_BEHIND

    def stop_recording(self) -> None:
        """Tell the worker to film up to the current tick, and to finish the file in the background."""
        if not self.is_stopping:
            self.is_stopping = True
            self._queue_message(StopFilm())

    def cancel(self) -> None:
        """Tell the worker to stop recording and to delete the file."""
        self.is_stopping = True
        self._queue_message(CancelFilm())

    def close(self) -> None:
        """Close the connection to the worker, which finishes its file by itself, even after this process has ended."""
        self.stop_recording()
        self._outgoing_messages.put(None)
        self._pipe_threads[0].join(_SEND_TIMEOUT_S)

    def reap_process(self) -> bool:
        """Return whether the worker process has ended, without waiting for it; if it has ended, close its pipes."""
        if self._worker_process.poll() is None:
            return False
        self._close_pipes()
        return True

    def wait_until_done(self, seconds: float | None = None) -> WorkerReport:
        """Wait until the file is finished. Tests and commands use this, but not the window, which must not block.

        Args:
            seconds: Timeout; None: no timeout.

        Returns:
            The last report, also after a timeout.
        """
        try:
            self._worker_process.wait(seconds)
        except subprocess.TimeoutExpired:
            return self.last_report
        for thread in self._pipe_threads[1:]:
            thread.join(_JOIN_TIMEOUT_S)
        self._close_pipes()
        return self.last_report

    def _close_pipes(self) -> None:
        self._outgoing_messages.put(None)
        self._pipe_threads[0].join(_JOIN_TIMEOUT_S)
        for pipe in (self._worker_process.stdin, self._worker_process.stdout, self._worker_process.stderr):
            with contextlib.suppress(OSError):
                assert pipe is not None
                pipe.close()

    # --- pipes ------------------------------------------------------------------------------------

    def _queue_message(self, message: WorkerMessage) -> None:
        """Queue a message for the worker, which a thread then sends."""
        self._outgoing_messages.put(message)

    def _write_messages(self) -> None:
        """Send queued messages to the worker, in a thread, because sending a large map would delay a frame."""
        pipe = self._worker_process.stdin
        assert pipe is not None
        with contextlib.suppress(OSError):
            while (message := self._outgoing_messages.get()) is not None:
                pickle.dump(message, pipe, protocol=5)
                pipe.flush()
            pipe.close()

    def _read_reports(self) -> None:
        """Read the reports of the worker, in a thread; create an error report if the worker ends unexpectedly."""
        pipe = self._worker_process.stdout
        assert pipe is not None
        for line in pipe:
            with contextlib.suppress(ValueError, TypeError):
                self.last_report = WorkerReport(**json.loads(line))
        code = self._worker_process.wait()
        if not self.last_report.is_done:
            self._pipe_threads[2].join(_JOIN_TIMEOUT_S)
            last = next((line for line in reversed(self._error_lines) if line.strip()), f"code {code}")
            problem = f"{self.last_report.path}: the recording ended unexpectedly: {last.strip()}"
            self.last_report = replace(self.last_report, phase="done", problem=problem)

    def _collect_error_lines(self) -> None:
        """Keep the last lines of the worker's standard error for an error message, in a thread."""
        pipe = self._worker_process.stderr
        assert pipe is not None
        for line in pipe:
            self._error_lines.append(line.decode(errors="replace"))


def _start_worker_process() -> "subprocess.Popen[bytes]":
    """Start a worker process, detached from the terminal, so that Ctrl+C there ends only the window."""
    return subprocesses.start_detached_module(
        "ui.film.worker", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
