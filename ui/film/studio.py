"""The studio: a second process that films what the window does, or a range of it, while the window goes on.

The window sends what the run began with, then its commands and how far it has got; the studio runs the same run
again, draws it and encodes it. So recording costs the window next to nothing, and when the window is killed the
studio still finishes the file. Up to `MOST_BEHIND` frames may wait for it; then the simulation waits.

    studio = Studio.film(path, replay, tick, options, look)
    studio.follow(session, look)         once for every frame of the window
    studio.must_wait                     let no further tick pass now
    studio.stop()                        it finishes by itself; `report.is_done` says when
    studio = Studio.export(path, replay, (0, 200), options, look)

This is the window's end of it; the process itself is ui/film/worker.py.
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

MOST_BEHIND = 300
"""Frames that the studio may be behind the window."""

_STOPPED_S = 20.0  # how long wait() waits for what a studio that has ended still has to say
_SENT_S = 2.0  # how long close() waits for messages to be taken
_KEPT_LINES = 20  # of what a studio says that comes to a bad end


class Studio:
    """A studio at work."""

    def __init__(self, job: FilmJob | ExportJob) -> None:
        self.report = Report(path=job.path)
        self.options = job.options
        self.is_stopping = False
        self._replay, self._look = job.replay, job.look
        self._tick = self._first = job.tick if isinstance(job, FilmJob) else 0
        self._run: object = None  # the tree of branches that is being followed
        self._is_cut = False
        self._named = named_so_far()  # which the process knows from its start
        self._said: deque[str] = deque(maxlen=_KEPT_LINES)
        self._outbox: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._process = _start_process()
        self._threads = [
            threading.Thread(target=work, name=f"studio {work.__name__}", daemon=True)
            for work in (self._send_all, self._listen, self._collect_words)
        ]
        for thread in self._threads:
            thread.start()
        self._send(job)

    @classmethod
    def film(cls, path: str | os.PathLike[str], session: Session, options: FilmOptions, look: Look) -> "Studio":
        """Begin to film a session at its present tick."""
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
        return cls(ExportJob(os.path.abspath(path), replay, ticks, options, look))

    # --- following --------------------------------------------------------------------------------

    def follow(self, session: Session, look: Look) -> None:
        """Tell the studio what has changed since the last call."""
        if self.is_stopping or self.report.is_done or session.run.is_seeking:
            return
        tick = session.run.furthest
        self._follow_run(session, tick)
        if look != self._look:
            self._look = look
            self._send(Wear(look))
        if tick < self._tick or (self._is_cut and tick != self._tick):
            self._send(CutTo(tick))
            self._first = tick
        elif tick > self._tick:
            self._send(RunTo(tick))
        self._tick, self._is_cut = tick, False

    def _follow_run(self, session: Session, tick: int) -> None:
        """Send the run if it is another one, or the commands if they are others."""
        states = states_of(session.run)
        if (named := named_so_far()) != self._named:  # they may be in what comes now
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
        """The next change of the tick is a jump: do not film the ticks in between."""
        self._is_cut = True

    @property
    def frames_behind(self) -> int:
        """Frames that are still to be filmed."""
        ticks = self._tick - max(self._first, self.report.tick)
        return max(0, int(ticks / self.options.ticks_per_frame))

    @property
    def must_wait(self) -> bool:
        """Whether the simulation should wait for the studio."""
        return not (self.report.is_done or self.is_stopping) and self.frames_behind > MOST_BEHIND

    def stop(self) -> None:
        """Finish the file with the present tick as the last one. The window need not wait for it."""
        if not self.is_stopping:
            self.is_stopping = True
            self._send(Stop())

    def cancel(self) -> None:
        """Throw away what was filmed."""
        self.is_stopping = True
        self._send(Cancel())

    def close(self) -> None:
        """Let go: a studio that films finishes by itself, even after this process has ended."""
        self.stop()
        self._outbox.put(None)
        self._threads[0].join(_SENT_S)

    def reap(self) -> bool:
        """Clear up after a studio that is done, without waiting; whether it is gone."""
        if self._process.poll() is None:
            return False
        self._close_pipes()
        return True

    def wait(self, seconds: float | None = None) -> Report:
        """Wait until the file is finished; for tests and commands, not for a window."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return self.report
        for thread in self._threads[1:]:
            thread.join(_STOPPED_S)
        self._close_pipes()
        return self.report

    def _close_pipes(self) -> None:
        self._outbox.put(None)
        self._threads[0].join(_STOPPED_S)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError):
                assert pipe is not None
                pipe.close()

    # --- the pipes --------------------------------------------------------------------------------

    def _send(self, message: Message) -> None:
        self._outbox.put(message)

    def _send_all(self) -> None:
        """Write messages as the pipe takes them; a large map must not hold up a frame of the window."""
        pipe = self._process.stdin
        assert pipe is not None
        with contextlib.suppress(OSError):
            while (message := self._outbox.get()) is not None:
                pickle.dump(message, pipe, protocol=5)
                pipe.flush()
            pipe.close()

    def _listen(self) -> None:
        pipe = self._process.stdout
        assert pipe is not None
        for line in pipe:
            with contextlib.suppress(ValueError, TypeError):
                self.report = Report(**json.loads(line))
        code = self._process.wait()
        if not self.report.is_done:
            self._threads[2].join(_STOPPED_S)
            last = next((line for line in reversed(self._said) if line.strip()), f"code {code}")
            problem = f"{self.report.path}: the recording ended early: {last.strip()}"
            self.report = replace(self.report, phase="done", problem=problem)

    def _collect_words(self) -> None:
        """What the studio says on standard error, in case it comes to a bad end."""
        pipe = self._process.stderr
        assert pipe is not None
        for line in pipe:
            self._said.append(line.decode(errors="replace"))


def _start_process() -> "subprocess.Popen[bytes]":
    """A studio apart from the terminal: a Ctrl+C there is for the window."""
    return child.start("ui.film.worker", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
