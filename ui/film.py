"""Filming a run: which frame shows which tick, captions, and the loop from the simulation to the recorder.

Time in a video is simulated time: one frame for every n ticks, or m frames for every tick, in which agents glide.
What a frame shows follows from the run and its place in the video. No clock is looked at.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from sim.commandfile import LAST_TICK
from sim.params import ConfigError, Param, did_you_mean, shown
from ui import video
from ui.happenings import Happening
from ui.look import Look
from ui.recorder import Recorder
from ui.replay import Replay, ReplaySession, TimedCommands
from ui.stage import PANELS, WINDOW, Part, Stage

CAPTION_S = 2.5
"""How long a caption stays, beside the time that the video is held for it."""

BURST_TICKS = 5
"""Edits that follow each other this closely, such as those of one stroke, hold the video only once."""

MOST_PER_FRAME = 100_000
MOST_FRAMES_PER_TICK = 60
HOLD = Param("hold", float, 0.0, "seconds for which the video stands still at an edit or a restart", 0.0, 60.0)


def parse_part(text: str) -> Part:
    """What of the window is filmed: `window`, `panels` or `panel:2`."""
    if text in (WINDOW, PANELS):
        return Part(text)
    match = re.fullmatch(r"panel:([1-8])", text)
    if match is None:
        near = did_you_mean(text, (WINDOW, PANELS, "panel:1"))
        raise ConfigError(f"expected {WINDOW}, {PANELS} or panel:N with N from 1 to 8, got {shown(text)}{near}")
    return Part("panel", int(match[1]))


def parse_ticks_per_frame(text: str) -> Fraction:
    """Ticks for each frame: a whole number, or 1/M for M frames a tick."""
    match = re.fullmatch(r"\s*(?:(\d{1,9})|1\s*/\s*(\d{1,9}))\s*", text)
    number = Fraction(int(match[1])) if match and match[1] else Fraction(0)
    if match and match[2] and int(match[2]):
        number = Fraction(1, int(match[2]))
    if not Fraction(1, MOST_FRAMES_PER_TICK) <= number <= MOST_PER_FRAME:
        raise ConfigError(
            f"expected a whole number of ticks from 1 to {MOST_PER_FRAME:,}, or 1/M with M up to "
            f"{MOST_FRAMES_PER_TICK} for M frames a tick, got {shown(text)}"
        )
    return number


@dataclass(frozen=True)
class FilmOptions:
    """Everything about a video but the run that it shows and how that looks."""

    size: tuple[int, int] = (1280, 720)
    fps: int = 30
    ticks_per_frame: Fraction = Fraction(1)
    part: Part = field(default_factory=lambda: Part(PANELS))
    preset: str = video.NORMAL
    exact_colours: bool = False
    has_captions: bool = False
    hold_s: float = 0.0
    has_legend: bool = True
    has_title: bool = True

    @property
    def ticks_a_frame(self) -> int:
        return max(1, self.ticks_per_frame.numerator)

    @property
    def frames_a_tick(self) -> int:
        return self.ticks_per_frame.denominator


def frames_between(first: int, end: int, options: FilmOptions) -> int:
    """How many frames the ticks from `first` up to `end`, which is left out, take without holding."""
    ticks = max(0, end - first)
    return -(-ticks // options.ticks_a_frame) * options.frames_a_tick


class Film:
    """A video in the making. Runs may be cut: it goes on wherever the run goes on."""

    def __init__(
        self, sessions: Sequence[ReplaySession], stage: Stage, recorder: Recorder, options: FilmOptions
    ) -> None:
        self.sessions, self.stage, self.recorder, self.options = list(sessions), stage, recorder, options
        self.next_tick = self.tick  # of the frame to come
        self.frames = 0
        self.shown_tick = -1  # of the last frame
        self._told = self.tick  # up to this tick what happened has had its caption
        self._captions: list[tuple[str, int]] = []  # text, and the frame from which it is gone
        self._last_happening = -BURST_TICKS - 1

    @property
    def tick(self) -> int:
        return max(session.tick for session in self.sessions)

    @property
    def is_over(self) -> bool:
        return all(session.is_over for session in self.sessions)

    def run_to(self, tick: int) -> bool:
        """Film everything before a tick; False when it cannot go on: the run or the recording has ended.

        The tick itself waits, for commands may still be given at it.
        """
        while self.next_tick < tick:
            if not self.shoot_next():
                return False
        return True

    def shoot_next(self) -> bool:
        """Go on to the next frame that is due and film it."""
        self.advance_to(self.next_tick)
        if self.tick < self.next_tick:
            return False
        going = self._shoot_tick()
        self.next_tick = self.tick + self.options.ticks_a_frame
        return going

    def shoot_last(self) -> bool:
        """Film the present tick, unless it has just been filmed: a video ends with what came out."""
        if self.shown_tick == self.tick:
            return True
        return self._shoot_tick()

    def advance_to(self, tick: int) -> None:
        """Let time pass for all runs. A run that is over waits for the others."""
        for session in self.sessions:
            session.advance_to(tick)

    def cut_to(self, replays: Sequence[Replay], tick: int) -> None:
        """The video goes on with these runs at this tick."""
        self.sessions = [replay.begin() for replay in replays]
        self.advance_to(tick)
        self.stage.replace_sessions(self.sessions)
        self.wear(self.stage.look)
        self.next_tick = self._told = self.tick
        self.shown_tick = -1
        self._captions.clear()

    def add_commands(self, commands: TimedCommands) -> None:
        """What was done by hand in the run, from now on."""
        self.sessions[0].add_commands(commands)
        self.advance_to(self.tick)  # at once, if they are for this tick

    def wear(self, look: Look) -> None:
        """Another look from the next frame on."""
        self.stage.wear(look)
        for session in self.sessions:
            session.front = look.front

    # --- frames -----------------------------------------------------------------------------------

    def _shoot_tick(self) -> bool:
        """All frames of the present tick."""
        happened = self._what_happened() if self.options.has_captions or self.options.hold_s else []
        if self.options.has_captions:
            stays = self.frames + round((CAPTION_S + self.options.hold_s) * self.options.fps)
            self._captions += [(str(happening), stays) for happening in happened]
        count = self.options.frames_a_tick
        for phase in range(1, count + 1):
            if not self._shoot(phase / count):
                return False
        self.shown_tick = self.tick
        if happened and self.options.hold_s:
            return self._hold(happened)
        return True

    def _shoot(self, glide: float) -> bool:
        self._captions = [(text, gone) for text, gone in self._captions if gone > self.frames]
        self.frames += 1
        return self.recorder.add(self.stage.draw(glide, [text for text, _ in self._captions]))

    def _what_happened(self) -> list[Happening]:
        """What happened since the last frame, told once however many of the runs it happened in."""
        found: dict[tuple[int, str], Happening] = {}
        for session in self.sessions:
            for happening in session.happenings.between(self._told, self.tick):
                found.setdefault((happening.tick, happening.text), happening)
        self._told = self.tick
        return sorted(found.values(), key=lambda happening: happening.tick)

    def _hold(self, happened: list[Happening]) -> bool:
        """Let people read, once for things that happen in quick succession."""
        is_new = happened[0].tick - self._last_happening > BURST_TICKS
        self._last_happening = happened[-1].tick
        if not is_new:
            return True
        times = round(self.options.hold_s * self.options.fps)
        self.frames += times
        return self.recorder.repeat(times)


# --- a whole film at once -------------------------------------------------------------------------

Told = Callable[[Film], None]


@dataclass(frozen=True)
class Done:
    """A finished film."""

    path: Path
    frames: int
    fps: int
    bytes: int
    last_tick: int
    digests: tuple[str, ...]  # of the runs at the last tick
    is_over: bool  # whether all runs had come to their end
    was_stopped: bool = False  # by Ctrl+C; what had been filmed was kept

    @property
    def seconds(self) -> float:
        return self.frames / self.fps


class Cancelled(Exception):  # noqa: N818 - nothing went wrong
    """The user does not want it any more."""


def export(
    replays: Sequence[Replay],
    path: str | Path,
    ticks: tuple[int, int | None],
    options: FilmOptions,
    look: Look | None = None,
    *,
    told: Told = lambda film: None,
    finishing: video.Progress = lambda share: None,
    is_cancelled: Callable[[], bool] = lambda: False,
    most_frames: int | None = None,
) -> Done:
    """Film some ticks of a run, or of several side by side, without a window; returns what came out.

    `ticks`: from the first up to the second, which is left out; None: up to the end of the runs, which is shown.
    `told` hears of every frame. When `is_cancelled` says so, what has been filmed is thrown away (Cancelled).
    """
    first, end = checked_range(ticks)
    film = begin_film(replays, path, first, options, look)
    was_stopped = False
    try:
        for _ in _filming(film, end, most_frames):
            told(film)
            if is_cancelled():
                raise Cancelled
    except KeyboardInterrupt:
        was_stopped = True
    except Cancelled:
        film.recorder.discard()
        raise
    film.recorder.finish(finishing)
    return _done(film, was_stopped)


def checked_range(ticks: tuple[int, int | None]) -> tuple[int, int | None]:
    first, end = ticks
    if first < 0 or (end is not None and end <= first):
        got = f"{first}:{'' if end is None else end}"
        raise ConfigError(f"ticks: expected a range with a tick in it, such as 0:100, got {got}")
    return first, end


def begin_film(
    replays: Sequence[Replay], path: str | Path, first: int, options: FilmOptions, look: Look | None = None
) -> Film:
    """A film that stands at its first tick; a ConfigError when that cannot be reached or filmed."""
    sessions = [replay.begin() for replay in replays]
    reached = max(session.advance_to(first) for session in sessions)
    if reached < first:
        raise ConfigError(f"ticks: expected a tick of the run, which is over at {reached:,}, got {first:,}")
    _check_part(options.part, sessions)
    recorder = Recorder(path, options.size, options.fps, options.preset, options.exact_colours)
    options = replace(options, fps=recorder.fps)
    film = Film(sessions, make_stage(sessions, replays, options, look or Look()), recorder, options)
    film.wear(film.stage.look)
    return film


def make_stage(sessions: Sequence[ReplaySession], replays: Sequence[Replay], options: FilmOptions, look: Look) -> Stage:
    return Stage(
        sessions,
        options.size,
        options.part,
        look,
        names=[replay.name for replay in replays],
        has_legend=options.has_legend,
        has_title=options.has_title,
    )


def _check_part(part: Part, sessions: Sequence[ReplaySession]) -> None:
    most = max(len(session.world.walkers) for session in sessions)
    if part.number > most:
        there = "1 panel" if most == 1 else f"{most} panels"
        raise ConfigError(f"part: expected a panel of the run, which has {there}, got {part}")


def _filming(film: Film, end: int | None, most_frames: int | None) -> Iterator[None]:
    """Frame after frame."""
    while (end is None or film.next_tick < end) and film.shoot_next():
        yield
        if most_frames is not None and film.frames >= most_frames:
            return
    if end is None or film.is_over:
        film.shoot_last()


def _done(film: Film, was_stopped: bool) -> Done:
    status = film.recorder.status
    path = film.recorder.target
    size = path.stat().st_size if path.is_file() else status.bytes
    digests = tuple(session.world.digest() for session in film.sessions)
    return Done(path, status.frames, film.options.fps, size, film.shown_tick, digests, film.is_over, was_stopped)


def picture(
    replays: Sequence[Replay], ticks: tuple[int, int | None], options: FilmOptions, look: Look | None = None
) -> Film:
    """A film of one frame, the last of a range of ticks, that is written nowhere: its stage holds the picture."""
    first, end = checked_range(ticks)
    sessions = [replay.begin() for replay in replays]
    _check_part(options.part, sessions)
    film = Film(sessions, make_stage(sessions, replays, options, look or Look()), _NoRecorder(), options)  # type: ignore[arg-type]
    film.wear(film.stage.look)
    film.advance_to(first)
    if film.tick < first:
        raise ConfigError(f"ticks: expected a tick of the run, which is over at {film.tick:,}, got {first:,}")
    film.advance_to(LAST_TICK if end is None else end - 1)
    film.shoot_last()
    return film


class _NoRecorder:
    """Takes frames and keeps none."""

    def add(self, picture: object) -> bool:
        return True

    def repeat(self, times: int = 1) -> bool:
        return True
