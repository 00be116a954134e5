"""Studio: the window's handle on a worker process that films the run, or a range of its ticks, in the background.

The window sends the scenario of the run, then its commands and its current tick; the worker recomputes the run, draws
it and encodes it. Recording therefore costs the window almost nothing, and if the window is killed the worker still
finishes the file. When more than `MAX_BEHIND` frames are waiting for the worker, the simulation waits for it.

    studio = Studio.film(path, session, options, look)
    studio.follow(session, look)         call once for every frame of the window
    studio.must_wait                     whether the next tick has to wait for the worker
    studio.stop()                        the worker finishes the file; `report.is_done` is True after that
    studio = Studio.export(path, replay, (0, 200), options, look)

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

from agents.own_files import named_so_far
from ui import child
from ui.film.messages import Cancel, CutTo, ExportJob, FilmJob, Follow, Message, Named, Report, RunTo, Stop, Wear
from ui.film.options import FilmOptions
from ui.film.replay import Replay, replay_of, states_of
from ui.model.look import Look
from ui.model.session import Session

MAX_BEHIND = 300
"""Maximum number of frames that the worker may be behind the window."""

_JOIN_TIMEOUT_S = 20.0  # maximum seconds to wait until the threads have read the remaining output of an ended worker
_SEND_TIMEOUT_S = 2.0  # maximum seconds that close() waits until the remaining messages are sent
_MAX_ERROR_LINES = 20  # number of last lines of the worker's standard error that are kept for an error message


class Studio:
    """Handle on one worker process, its pipes and its latest report."""

    def __init__(self, job: FilmJob | ExportJob) -> None:
        self.report = Report(path=job.path)
        self.options = job.options
        self.is_stopping = False
        self._replay, self._look = job.replay, job.look
        # tick that was sent to the worker last, and the tick at which the film began or continued after the last cut
        self._tick = self._first = job.tick if isinstance(job, FilmJob) else 0
        self._run: object = None  # branch tree of the followed run, compared by identity
        self._is_seek_next = False  # whether the next change of the tick is a seek, which is not filmed
        self._named = named_so_far()  # agent files already known to the worker, which inherits them at its start
        self._said: deque[str] = deque(maxlen=_MAX_ERROR_LINES)  # last lines of the worker's standard error
        self._outbox: queue.SimpleQueue[Message | None] = queue.SimpleQueue()  # messages to send; None ends the thread
        self._process = _start_process()
        self._threads = [
            threading.Thread(target=work, name=f"studio {work.__name__}", daemon=True)
            for work in (self._write_messages, self._listen, self._collect_error_lines)
        ]
        for thread in self._threads:
            thread.start()
        self._send(job)

    @classmethod
    def film(cls, path: str | os.PathLike[str], session: Session, options: FilmOptions, look: Look) -> "Studio":
        """Start filming a session from its current tick on.

        Args:
            path: File or folder to write.
            session: Session to follow.
            options: Options of the video.
            look: View settings.
        """
        replay = replay_of(session.run)
        studio = cls(FilmJob(os.path.abspath(path), replay, session.run.furthest, options, look))
        studio._run = session.run.tree
        return studio

    @classmethod
    def export(
        cls,
        path: str | os.PathLike[str],
        replay: Replay,
        ticks: tuple[int, int | None],
        options: FilmOptions,
        look: Look,
    ) -> "Studio":
        """Start exporting a range of ticks.

        Args:
            path: File or folder to write.
            replay: Run to film.
            ticks: First tick, and the end of the range (exclusive); None: up to the end of the run.
            options: Options of the video.
            look: View settings.
        """
        return cls(ExportJob(os.path.abspath(path), replay, ticks, options, look))

    # --- following the window ---------------------------------------------------------------------

    def follow(self, session: Session, look: Look) -> None:
        """Send the worker the changes of run, look and tick since the last call."""
        if self.is_stopping or self.report.is_done or session.run.is_seeking:
            return
        tick = session.run.furthest
        self._send_run_changes(session, tick)
        if look != self._look:
            self._look = look
            self._send(Wear(look))
        if tick < self._tick or (self._is_seek_next and tick != self._tick):
            self._send(CutTo(tick))
            self._first = tick
        elif tick > self._tick:
            self._send(RunTo(tick))
        self._tick, self._is_seek_next = tick, False

    def _send_run_changes(self, session: Session, tick: int) -> None:
        """Send the whole run if it was replaced, or only its commands if they changed."""
        states = states_of(session.run)
        if (named := named_so_far()) != self._named:  # the commands sent below may refer to the new agents
            self._named = named
            self._send(Named(named))
        if session.run.tree is not self._run:
            self._run = session.run.tree
            self._replay = replay_of(session.run)
            self._send(Follow(self._replay, tick, is_same_run=False))
            self._tick = self._first = tick
        elif states != self._replay.branches or session.run.front != self._replay.focused:
            self._replay = replace(self._replay, branches=states, focused=session.run.front)
            self._send(Follow(replace(self._replay, scenario=None), tick, is_same_run=True))  # type: ignore[arg-type]

    def cut(self) -> None:
        """Treat the next change of the tick as a seek, whose ticks in between are not filmed."""
        self._is_seek_next = True

    @property
    def frames_behind(self) -> int:
        """Return the number of frames that the worker has not filmed yet."""
        ticks = self._tick - max(self._first, self.report.tick)
        return max(0, int(ticks / self.options.ticks_per_frame))

    @property
    def must_wait(self) -> bool:
        """Return whether the simulation should wait because the worker is too far behind."""
        return not (self.report.is_done or self.is_stopping) and self.frames_behind > MAX_BEHIND

    def stop(self) -> None:
        """Finish the file with the current tick as the last one, in the background."""
        if not self.is_stopping:
            self.is_stopping = True
            self._send(Stop())

    def cancel(self) -> None:
        """Stop filming and delete the file."""
        self.is_stopping = True
        self._send(Cancel())

    def close(self) -> None:
        """Close the connection; the worker finishes its file by itself, even after this process has ended."""
        self.stop()
        self._outbox.put(None)
        self._threads[0].join(_SEND_TIMEOUT_S)

    def reap(self) -> bool:
        """Close the pipes if the worker process has ended, without waiting; return whether it has ended."""
        if self._process.poll() is None:
            return False
        self._close_pipes()
        return True

    def wait(self, seconds: float | None = None) -> Report:
        """Wait until the file is finished; for tests and commands, not for the window.

        Args:
            seconds: Timeout; None: no timeout.

        Returns:
            The last report, also after a timeout.
        """
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return self.report
        for thread in self._threads[1:]:
            thread.join(_JOIN_TIMEOUT_S)
        self._close_pipes()
        return self.report

    def _close_pipes(self) -> None:
        self._outbox.put(None)
        self._threads[0].join(_JOIN_TIMEOUT_S)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError):
                assert pipe is not None
                pipe.close()

    # --- pipes ------------------------------------------------------------------------------------

    def _send(self, message: Message) -> None:
        """Put a message into the outbox, from which a thread sends it to the worker."""
        self._outbox.put(message)

    def _write_messages(self) -> None:
        """Write messages to the pipe in a thread, because sending a large map would delay a frame of the window."""
        pipe = self._process.stdin
        assert pipe is not None
        with contextlib.suppress(OSError):
            while (message := self._outbox.get()) is not None:
                pickle.dump(message, pipe, protocol=5)
                pipe.flush()
            pipe.close()

    def _listen(self) -> None:
        """Read the worker's reports in a thread; report a problem if the worker ends without a last report."""
        pipe = self._process.stdout
        assert pipe is not None
        for line in pipe:
            with contextlib.suppress(ValueError, TypeError):
                self.report = Report(**json.loads(line))
        code = self._process.wait()
        if not self.report.is_done:
            self._threads[2].join(_JOIN_TIMEOUT_S)
            last = next((line for line in reversed(self._said) if line.strip()), f"code {code}")
            problem = f"{self.report.path}: the recording ended early: {last.strip()}"
            self.report = replace(self.report, phase="done", problem=problem)

    def _collect_error_lines(self) -> None:
        """Keep the last lines of the worker's standard error for an error message."""
        pipe = self._process.stderr
        assert pipe is not None
        for line in pipe:
            self._said.append(line.decode(errors="replace"))


def _start_process() -> "subprocess.Popen[bytes]":
    """Start a worker process that is detached from the terminal, where Ctrl+C is meant for the window."""
    return child.start("ui.film.worker", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
