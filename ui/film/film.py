"""Filming a run: which frame shows which tick, captions, and the loop from the simulation to the recorder.

Time in a video is simulated time: one frame for every n ticks, or m frames for every tick, in which agents glide.
What a frame shows follows from the run and its place in the video. No clock is looked at.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from sim.commands import LAST_TICK
from sim.counted import counted
from sim.params import ConfigError
from ui.film import video
from ui.film.captions import Happening
from ui.film.options import FilmOptions, Part
from ui.film.replay import Replay, Rerun
from ui.film.sinks import Recorder
from ui.film.stage import Stage
from ui.model.look import Look

CAPTION_S = 2.5
"""How long a caption stays, beside the time that the video is held for it."""

BURST_TICKS = 5
"""Edits that follow each other this closely, such as those of one stroke, hold the video only once."""


class Film:
    """A video in the making. The run may be cut: the video goes on wherever the run goes on."""

    def __init__(self, rerun: Rerun, stage: Stage, recorder: Recorder, options: FilmOptions) -> None:
        self.rerun, self.stage, self.recorder, self.options = rerun, stage, recorder, options
        self.next_tick = self._present = rerun.tick  # of the frame to come; how far a run that is followed has got
        self.frames = 0
        self.shown_tick = -1  # of the last frame
        self._told = rerun.tick  # up to this tick what happened has had its caption
        self._captions: list[tuple[str, int]] = []  # text, and the frame from which it is gone
        self._last_happening = -BURST_TICKS - 1
        self.is_cancelled: Callable[[], bool] = lambda: False
        self.wear(stage.look)

    @property
    def tick(self) -> int:
        return self.rerun.tick

    def wear(self, look: Look) -> None:
        """Another look from the next frame on."""
        self.stage.wear(look)
        self.rerun.wear(look)

    def run_to(self, tick: int) -> bool:
        """Film everything before a tick; False when it cannot go on: the run or the recording has ended.

        The tick itself waits, for commands may still be given at it.
        """
        self._present = tick
        while self.next_tick < tick:
            if not self.shoot_next():
                return False
        return True

    def shoot_due(self) -> bool:
        """The end of a film that follows a window: what waits, and the tick at which it was stopped."""
        self.run_to(self._present)
        self.rerun.go_to(self._present)
        return self.shoot_last()

    def shoot_next(self) -> bool:
        """Go on to the next frame that is due and film it."""
        if self.rerun.go_to(self.next_tick) < self.next_tick:
            return False
        going = self._shoot_tick()
        self.next_tick = self.tick + self.options.ticks_a_frame
        return going

    def shoot_last(self) -> bool:
        """Film the present tick, unless it has just been filmed: a video ends with what came out."""
        if self.shown_tick == self.tick:
            return True
        return self._shoot_tick()

    def cut_to(self, tick: int) -> None:
        """The video goes on at another tick."""
        self.next_tick = self._present = self._told = self.rerun.go_to(tick)
        self.shown_tick = -1
        self._captions.clear()

    def follow(self, replay: Replay, tick: int) -> None:
        """Go on with other commands, from the same tick; or with another run, from a tick of that."""
        if not self.rerun.follow(replay):
            self.rerun = replay.begin()
            self.stage.replace(self.rerun.run)
            self.wear(self.stage.look)
            self.cut_to(tick)

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
        if self.is_cancelled():
            return False
        self._captions = [(text, gone) for text, gone in self._captions if gone > self.frames]
        self.frames += 1
        return self.recorder.add(self.stage.draw(glide, [text for text, _ in self._captions]))

    def _what_happened(self) -> list[Happening]:
        """What happened since the last frame."""
        found = self.rerun.happenings(self._told, self.tick)
        self._told = self.tick
        return found

    def _hold(self, happened: list[Happening]) -> bool:
        """Let people read, once for things that happen in quick succession."""
        is_new = happened[0].tick - self._last_happening > BURST_TICKS
        self._last_happening = happened[-1].tick
        if not is_new:
            return True
        for _ in range(round(self.options.hold_s * self.options.fps)):
            if self.is_cancelled() or not self.recorder.repeat():
                return False
            self.frames += 1
        return True


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
    digests: tuple[str, ...]  # of the branches at the last tick
    is_over: bool  # whether the run had come to its end
    was_stopped: bool = False  # by Ctrl+C; what had been filmed was kept
    alarms: tuple[str, ...] = ()  # that it is not the run that was saved

    @property
    def seconds(self) -> float:
        return self.frames / self.fps


class Cancelled(Exception):  # noqa: N818 - nothing went wrong
    """The user does not want it any more."""


def export(
    replay: Replay,
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
    """Film some ticks of a run without a window; returns what came out. Branches of the replay stand side by side.

    `ticks`: from the first up to the second, which is left out; None: up to the end of the run, which is shown.
    `told` hears of every frame. When `is_cancelled` says so, what has been filmed is thrown away (Cancelled).
    """
    first, end = checked_range(ticks)
    film = begin_film(replay, path, first, options, look)
    film.is_cancelled = is_cancelled
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
    except BaseException:
        film.recorder.stop()
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
    replay: Replay, path: str | Path, first: int, options: FilmOptions, look: Look | None = None, threads: int = 0
) -> Film:
    """A film that stands at its first tick; a ConfigError when that cannot be reached or filmed."""
    rerun = _rerun_at(replay, first, options.part)
    recorder = Recorder(path, options.size, options.fps, options.preset, options.exact_colours, threads=threads)
    options = replace(options, fps=recorder.fps)
    return Film(rerun, make_stage(rerun, options, look or Look()), recorder, options)


def _rerun_at(replay: Replay, tick: int, part: Part) -> Rerun:
    rerun = replay.begin()
    reached = rerun.go_to(tick)
    if reached < tick:
        raise ConfigError(f"ticks: expected a tick of the run, which is over at {reached:,}, got {tick:,}")
    if part.number > (count := len(rerun.run.panels)):
        raise ConfigError(f"part: expected a panel of the run, which has {counted(count, 'panel')}, got {part}")
    return rerun


def make_stage(rerun: Rerun, options: FilmOptions, look: Look) -> Stage:
    run = rerun.run
    return Stage(run, options.size, options.part, look, has_legend=options.has_legend, has_title=options.has_title)


def _filming(film: Film, end: int | None, most_frames: int | None) -> Iterator[None]:
    """Frame after frame."""
    while (end is None or film.next_tick < end) and film.shoot_next():
        yield
        if most_frames is not None and film.frames >= most_frames:
            return
    if end is None or film.tick < end:
        film.shoot_last()


def _done(film: Film, was_stopped: bool) -> Done:
    status, path = film.recorder.status, film.recorder.target
    size = path.stat().st_size if path.is_file() else status.bytes
    return Done(
        path,
        status.frames,
        film.options.fps,
        size,
        film.shown_tick,
        film.rerun.run.digests(),
        film.rerun.run.is_over,
        was_stopped,
        tuple(film.rerun.run.told.alarms),
    )


def picture(replay: Replay, ticks: tuple[int, int | None], options: FilmOptions, look: Look | None = None) -> Film:
    """A film of one frame, the last of a range of ticks, that is written nowhere: its stage holds the picture."""
    first, end = checked_range(ticks)
    rerun = _rerun_at(replay, first, options.part)
    rerun.go_to(LAST_TICK if end is None else end - 1)
    film = Film(rerun, make_stage(rerun, options, look or Look()), _NoRecorder(), options)  # type: ignore[arg-type]
    film.shoot_last()
    return film


class _NoRecorder:
    """Takes frames and keeps none."""

    def add(self, picture: object) -> bool:
        return True

    def repeat(self, times: int = 1) -> bool:
        return True
