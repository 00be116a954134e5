"""The studio: a second process that films what the window does, or a range of it, while the window goes on.

The window sends what the run began with, then its commands and how far it has got; the studio runs the same run
again, draws it and encodes it. So recording costs the window next to nothing, and when the window is killed the
studio still finishes the file. Up to `MOST_BEHIND` frames may wait for it; then the simulation waits.

    studio = Studio.film(path, replay, tick, options, look)
    studio.follow(session, look)         once for every frame of the window
    studio.must_wait                     let no further tick pass now
    studio.stop()                        it finishes by itself; `report.is_done` says when
    studio = Studio.export(path, replay, (0, 200), options, look)

Both sides talk over pipes: Python objects go in, one JSON line for each change of the state comes out. What is
unpickled comes from the parent process alone.
"""

import contextlib
import json
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from sim.params import ConfigError
from ui.film.options import FilmOptions
from ui.film.replay import Replay, beginning_of, states_of
from ui.model.look import Look
from ui.model.session import Session

if TYPE_CHECKING:
    from ui.film.film import Film

ROOT = Path(__file__).resolve().parents[2]

MOST_BEHIND = 300
"""Frames that the studio may be behind the window."""

REPORT_INTERVAL_S = 0.1
MOST_THREADS = 4
_NICENESS = 5
_STOPPED_S = 20.0  # how long wait() waits for what a studio that has ended still has to say
_SENT_S = 2.0  # how long close() waits for messages to be taken
_KEPT_LINES = 20  # of what a studio says that comes to a bad end


@dataclass(frozen=True)
class Report:
    """How the studio is doing."""

    frames: int = 0
    seconds: float = 0.0  # of video
    bytes: int = 0
    tick: int = -1  # the last one that was filmed
    share: float = 0.0  # of an export, or of finishing the file
    phase: str = "starting"  # then filming, finishing, done
    path: str = ""  # of the file; while it is being made, of what it will be
    problem: str = ""
    is_cancelled: bool = False

    @property
    def is_done(self) -> bool:
        return self.phase == "done"


# --- what is sent ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class FilmJob:
    """Film what the window does, from a tick on."""

    path: str
    replay: Replay
    tick: int
    options: FilmOptions
    look: Look


@dataclass(frozen=True)
class ExportJob:
    """Film some ticks of a run."""

    path: str
    replay: Replay
    ticks: tuple[int, int | None]
    options: FilmOptions
    look: Look


@dataclass(frozen=True)
class Follow:
    """Other commands for the same run, or another run altogether; the video goes on at the tick."""

    replay: Replay
    tick: int
    is_same_run: bool  # the setup of the replay is the one sent before, and left out


@dataclass(frozen=True)
class RunTo:
    tick: int


@dataclass(frozen=True)
class CutTo:
    tick: int


@dataclass(frozen=True)
class Wear:
    look: Look


@dataclass(frozen=True)
class Stop:
    """Film up to the present tick and finish."""


@dataclass(frozen=True)
class Cancel:
    """Throw everything away."""


Message = FilmJob | ExportJob | Follow | RunTo | CutTo | Wear | Stop | Cancel


# --- the side of the window -----------------------------------------------------------------------


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
        replay = Replay(beginning_of(session), states_of(session), session.branch)
        studio = cls(FilmJob(os.path.abspath(path), replay, _tick_of(session), options, look))
        studio._run = session.tree
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
        if self.is_stopping or self.report.is_done or session.is_seeking:
            return
        tick = _tick_of(session)
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
        states = states_of(session)
        if session.tree is not self._run:
            self._run = session.tree
            self._replay = Replay(beginning_of(session), states, session.branch)
            self._send(Follow(self._replay, tick, is_same_run=False))
            self._tick = self._first = tick
        elif states != self._replay.branches or session.branch != self._replay.focused:
            self._replay = replace(self._replay, branches=states, focused=session.branch)
            self._send(Follow(replace(self._replay, setup=None), tick, is_same_run=True))  # type: ignore[arg-type]

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


def _tick_of(session: Session) -> int:
    """The tick of the branch that has come furthest, as a replay counts."""
    return max(branch.timeline.target for branch in session.shown_branches)


def _start_process() -> "subprocess.Popen[bytes]":
    """A studio in a session of its own: a Ctrl+C in the terminal is for the window."""
    environment = {**os.environ, "SDL_VIDEODRIVER": "dummy", "PYGAME_HIDE_SUPPORT_PROMPT": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "ui.film.studio"],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


# --- the side of the studio -----------------------------------------------------------------------


class _Inbox:
    """Messages of the window, in their order. The end of the pipe, when the window is gone, means stop."""

    def __init__(self, pipe: BinaryIO) -> None:
        self._pipe = pipe
        self._messages: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self.is_cancelled = False
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        message: Message
        try:
            while True:
                message = pickle.load(self._pipe)
                self.is_cancelled = self.is_cancelled or isinstance(message, Cancel)
                self._messages.put(message)
        except (EOFError, OSError, pickle.UnpicklingError):
            self._messages.put(Stop())

    def next(self, patience_s: float | None = None) -> Message | None:
        """The next message; None if there is none for so long."""
        try:
            return self._messages.get(timeout=patience_s)
        except queue.Empty:
            return None

    def messages(self, patience_s: float | None = None) -> Iterator[Message | None]:
        """All messages up to the one that ends the work, and None now and then while there are none."""
        while not isinstance(message := self.next(patience_s), Stop | Cancel):
            yield message


@dataclass
class _Reporter:
    """Tells the window how far the work is, ten times a second and at every turn."""

    pipe: BinaryIO
    report: Report = field(default_factory=Report)
    film: "Film | None" = None
    end: int | None = None  # of an export
    _told: Report | None = None

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        threading.Thread(target=self._tell_now_and_then, daemon=True).start()

    def _tell_now_and_then(self) -> None:
        while not self._is_over.wait(REPORT_INTERVAL_S):
            self.tell()

    def tell(self, **changes: Any) -> None:
        with self._lock:
            if self.film is not None and not self.report.is_done:
                self.report = replace(self.report, **self._progress(self.film))
            self.report = replace(self.report, **changes)  # of the finished file, which is not the one recorded into
            if self.report != self._told:
                self._told = self.report
                with contextlib.suppress(OSError):  # the window may be gone
                    self.pipe.write(json.dumps(asdict(self.report)).encode() + b"\n")
                    self.pipe.flush()

    def _progress(self, film: "Film") -> dict[str, Any]:
        status = film.recorder.status
        about = {"frames": status.frames, "seconds": status.seconds, "bytes": status.bytes, "tick": film.shown_tick}
        if self.report.phase == "filming":
            about["share"] = min(1.0, film.tick / self.end) if self.end else 0.0
        return {**about, "path": str(film.recorder.target)}

    def finishing(self, share: float) -> None:
        """How much of the file is finished; the thread tells it."""
        self.report = replace(self.report, phase="finishing", share=share)

    def done(self, **changes: Any) -> None:
        self._is_over.set()
        self.tell(phase="done", **changes)


def main() -> int:
    """Work for the process that has started this one."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever else prints must not get in between
    if hasattr(os, "nice"):
        os.nice(_NICENESS)  # the window comes first
    inbox, reporter = _Inbox(sys.stdin.buffer), _Reporter(out)
    job = inbox.next()
    if isinstance(job, FilmJob | ExportJob):
        reporter.report = replace(reporter.report, path=job.path)
    try:
        if isinstance(job, FilmJob):
            _film(job, inbox, reporter)
        elif isinstance(job, ExportJob):
            _export(job, inbox, reporter)
    except ConfigError as error:
        reporter.done(problem="; ".join(error.problems))
    return 0


def _film(job: FilmJob, inbox: _Inbox, reporter: _Reporter) -> None:
    from ui.film.film import begin_film

    film = begin_film(job.replay, job.path, job.tick, job.options, job.look, _threads())
    film.is_cancelled = lambda: inbox.is_cancelled
    reporter.film = film
    reporter.tell(phase="filming")
    try:
        for message in inbox.messages(REPORT_INTERVAL_S):
            if message is not None:
                _obey(film, message)
            if film.recorder.status.problem:
                break  # the window is to hear of it now, not when the user stops
    except BaseException:
        film.recorder.stop()  # a bug: what was filmed can be recovered
        raise
    if inbox.is_cancelled:
        film.recorder.discard()
        reporter.done(is_cancelled=True)
        return
    film.shoot_due()
    path = film.recorder.finish(reporter.finishing)
    reporter.done(path=str(path), bytes=_size(path), share=1.0)


def _threads() -> int:
    """Threads for the codec: one processor is the window's."""
    return max(1, min(MOST_THREADS, (os.cpu_count() or 2) - 1))


def _obey(film: "Film", message: Message) -> None:
    match message:
        case Follow(replay, tick, is_same_run):
            film.follow(replace(replay, setup=film.session.replay.setup) if is_same_run else replay, tick)
        case RunTo(tick):
            film.run_to(tick)
        case CutTo(tick):
            film.cut_to(tick)
        case Wear(look):
            film.wear(look)


def _export(job: ExportJob, inbox: _Inbox, reporter: _Reporter) -> None:
    from ui.film.film import Cancelled, Film, export

    reporter.end = job.ticks[1]
    threading.Thread(target=_listen_for_cancel, args=(inbox,), daemon=True).start()

    def told(film: Film) -> None:
        if reporter.film is None:
            reporter.film = film
            reporter.tell(phase="filming")

    try:
        done = export(
            job.replay,
            job.path,
            job.ticks,
            job.options,
            job.look,
            told=told,
            finishing=reporter.finishing,
            is_cancelled=lambda: inbox.is_cancelled,
        )
    except Cancelled:
        reporter.done(is_cancelled=True)
        return
    reporter.done(path=str(done.path), bytes=done.bytes, frames=done.frames, seconds=done.seconds, share=1.0)


def _listen_for_cancel(inbox: _Inbox) -> None:
    """Take messages in; an export goes on to its end even if the window is gone."""
    for _ in inbox.messages():
        pass


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else sum(file.stat().st_size for file in path.iterdir())


if __name__ == "__main__":
    # By its real name: what comes through the pipe is made of that module's classes, not of __main__'s.
    from ui.film import studio

    sys.exit(studio.main())
