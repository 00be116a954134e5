"""Filming of a run: the loop that advances the simulation, draws each frame with its captions, and records it.

Time in a video is simulated time: it has one frame for every n ticks, or m frames for every tick, with interpolated
positions of agents. A frame depends only on the run and on its index in the video, never on a clock.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from sim.params import ConfigError
from sim.plurals import count_with_noun
from sim.world_commands import MAX_COMMAND_TICK
from ui.film import video_encoding
from ui.film.captions import Caption
from ui.film.film_options import FilmOptions, WindowPart
from ui.film.offscreen_renderer import OffscreenRenderer
from ui.film.recorder import Recorder
from ui.film.replay import ReplaySpec, Rerun
from ui.model.appearance import Appearance

CAPTION_S = 2.5
"""Seconds of video for which a caption is shown, not counting the time for which the video is held."""

BURST_TICKS = 5
"""Maximum number of ticks between two events, such as edits of one stroke, for which the video pauses only once."""


class Film:
    """Video that is being recorded from a run.

    It may follow a window: then it films up to the current tick of the window, call by call. After a seek in the window
    the video has a cut: it continues at another tick, without the ticks in between.
    """

    def __init__(self, rerun: Rerun, renderer: OffscreenRenderer, recorder: Recorder, options: FilmOptions) -> None:
        self.rerun, self.renderer, self.recorder, self.film_options = rerun, renderer, recorder, options
        # first: tick that the next frame will show; second: current tick of the run in the followed window
        self.next_tick = self._window_tick = rerun.tick
        self.frame_count = 0  # number of frames recorded so far, including repeated frames
        self.shown_tick = -1  # tick shown by the last frame; -1: no frame since the last cut
        self._captioned_tick = rerun.tick  # tick up to which events have been turned into captions
        self._shown_captions: list[tuple[str, int]] = []  # (text, index of the first frame without this caption)
        self._last_captioned_event = -BURST_TICKS - 1  # tick of the last event that had a caption
        self.is_cancelled: Callable[[], bool] = lambda: False
        self.change_view_settings(renderer.appearance)

    @property
    def tick(self) -> int:
        return self.rerun.tick

    def change_view_settings(self, appearance: Appearance) -> None:
        """Change the view settings (theme, layers, cameras, order of panels) from the next frame on."""
        self.renderer.set_view_settings(appearance)
        self.rerun.arrange_panels(appearance)

    def film_until_tick(self, tick: int) -> bool:
        """Film all frames that are due before a tick.

        The tick itself is not filmed yet, because the user may still give commands at this tick.

        Returns:
            False if the run or the recording has ended.
        """
        self._window_tick = tick
        while self.next_tick < tick:
            if not self.film_next_frame_tick():
                return False
        return True

    def film_remaining_ticks(self) -> bool:
        """Film the remaining frames up to the tick at which the user stopped the recording.

        Returns:
            False if the recording has ended.
        """
        self.film_until_tick(self._window_tick)
        self.rerun.seek_to_tick(self._window_tick)
        return self.film_final_tick()

    def film_next_frame_tick(self) -> bool:
        """Advance the run to the tick of the next frame, and film this tick.

        Returns:
            False if the run or the recording has ended.
        """
        if self.rerun.seek_to_tick(self.next_tick) < self.next_tick:
            return False
        is_recording = self._film_tick()
        self.next_tick = self.tick + self.film_options.tick_step
        return is_recording

    def film_final_tick(self) -> bool:
        """Film the current tick unless it has been filmed, so that the video ends with the final state of the run.

        Returns:
            False if the recording has ended.
        """
        if self.shown_tick == self.tick:
            return True
        return self._film_tick()

    def cut_to_tick(self, tick: int) -> None:
        """Continue the video at another tick, without the ticks in between and without the captions shown so far."""
        self.next_tick = self._window_tick = self._captioned_tick = self.rerun.seek_to_tick(tick)
        self.shown_tick = -1
        self._shown_captions.clear()

    def continue_with_replay(self, replay: ReplaySpec, tick: int) -> None:
        """Continue with a changed run.

        Args:
            replay: The same run with other commands, which continues at its current tick; or another run.
            tick: Tick at which to continue if it is another run.
        """
        if not self.rerun.replace_commands(replay):
            self.rerun = replay.start_rerun()
            self.renderer.set_shown_run(self.rerun.run)
            self.change_view_settings(self.renderer.appearance)
            self.cut_to_tick(tick)

    # --- frames -----------------------------------------------------------------------------------

    def _film_tick(self) -> bool:
        """Film all frames of the current tick; return False if the recording has ended."""
        new_captions = self._new_captions() if self.film_options.has_captions or self.film_options.hold_s else []
        if self.film_options.has_captions:
            end_frame = self.frame_count + round((CAPTION_S + self.film_options.hold_s) * self.film_options.fps)
            self._shown_captions += [(str(caption), end_frame) for caption in new_captions]
        count = self.film_options.frames_per_tick
        for phase in range(1, count + 1):
            if not self._film_frame(phase / count):
                return False
        self.shown_tick = self.tick
        if new_captions and self.film_options.hold_s:
            return self._hold_picture_for_captions(new_captions)
        return True

    def _film_frame(self, interpolation: float) -> bool:
        if self.is_cancelled():
            return False
        self._shown_captions = [
            (text, end_frame) for text, end_frame in self._shown_captions if end_frame > self.frame_count
        ]
        self.frame_count += 1
        return self.recorder.add(self.renderer.draw_picture(interpolation, [text for text, _ in self._shown_captions]))

    def _new_captions(self) -> list[Caption]:
        """Return the captions of all events that happened since the last frame."""
        captions = self.rerun.captions_between(self._captioned_tick, self.tick)
        self._captioned_tick = self.tick
        return captions

    def _hold_picture_for_captions(self, new_captions: list[Caption]) -> bool:
        """Hold the video (repeat the last frame) so that captions can be read.

        Events that follow each other within `BURST_TICKS` hold the video only once.

        Args:
            new_captions: Captions of the current tick, the earliest first.

        Returns:
            False if the recording has ended.
        """
        is_new = new_captions[0].tick - self._last_captioned_event > BURST_TICKS
        self._last_captioned_event = new_captions[-1].tick
        if not is_new:
            return True
        for _ in range(round(self.film_options.hold_s * self.film_options.fps)):
            if self.is_cancelled() or not self.recorder.repeat_frame():
                return False
            self.frame_count += 1
        return True


# --- whole films ----------------------------------------------------------------------------------

FilmCallback = Callable[[Film], None]  # type of a callback that is called after every filmed tick


@dataclass(frozen=True)
class FilmSummary:
    """Description of a finished video."""

    path: Path
    frame_count: int
    fps: int
    byte_count: int
    last_tick: int
    branch_digests: tuple[str, ...]  # digest of each branch at the last tick
    is_over: bool  # whether the run has ended at the last tick
    was_stopped: bool = False  # whether Ctrl+C ended the recording early; the file has the frames up to that moment
    divergence_messages: tuple[str, ...] = ()  # messages about differences between the filmed run and the saved run

    @property
    def duration_s(self) -> float:
        return self.frame_count / self.fps


class FilmCancelled(Exception):  # noqa: N818 - nothing went wrong
    """Exception for a recording that the user has cancelled."""


def export_video(
    replay: ReplaySpec,
    path: str | Path,
    ticks: tuple[int, int | None],
    options: FilmOptions,
    appearance: Appearance | None = None,
    *,
    told: FilmCallback = lambda film: None,
    finishing: video_encoding.ProgressCallback = lambda share: None,
    is_cancelled: Callable[[], bool] = lambda: False,
    most_frames: int | None = None,
) -> FilmSummary:
    """Record a video of a range of ticks, without a window. Branches of the run are shown side by side.

    Ctrl+C ends the recording early and keeps the frames that are recorded.

    Args:
        replay: Run to film.
        path: File or folder to write; a number is added to its name if the name is taken.
        ticks: First tick, and the end of the range (exclusive); None: up to and including the last tick of the run.
        options: Options of the video.
        appearance: View settings; None: the defaults.
        told: Callback for every recorded tick.
        finishing: Callback for the progress of finishing the file, from 0 to 1.
        is_cancelled: Callback that returns True once the user has cancelled.
        most_frames: Maximum number of frames; None: no limit.

    Returns:
        A description of the finished file.

    Raises:
        ConfigError: The range, the options or the file are not possible.
        Cancelled: The film was cancelled; its file has been deleted.
    """
    first, end = checked_tick_range(ticks)
    film = start_film(replay, path, first, options, appearance)
    film.is_cancelled = is_cancelled
    was_stopped = False
    try:
        for _ in _film_ticks(film, end, most_frames):
            told(film)
        if is_cancelled():
            raise FilmCancelled
    except KeyboardInterrupt:
        was_stopped = True
    except FilmCancelled:
        film.recorder.stop_and_delete()
        raise
    except BaseException:
        film.recorder.stop_without_finishing()
        raise
    film.recorder.finish_file(finishing)
    return _film_summary(film, was_stopped)


def checked_tick_range(ticks: tuple[int, int | None]) -> tuple[int, int | None]:
    """Return the range of ticks unchanged; raise a ConfigError if it contains no tick."""
    first, end = ticks
    if first < 0 or (end is not None and end <= first):
        range_text = f"{first}:{'' if end is None else end}"
        raise ConfigError(f"ticks: expected a range with a tick in it, such as 0:100, got {range_text}")
    return first, end


def start_film(
    replay: ReplaySpec,
    path: str | Path,
    first: int,
    options: FilmOptions,
    appearance: Appearance | None = None,
    threads: int = 0,
) -> Film:
    """Create the file of a video, and return a film at the first tick to record.

    Args:
        replay: Run to film.
        path: File or folder to write.
        first: First tick to film.
        options: Options of the video; the frame rate is replaced by the nearest one that the format can have.
        appearance: View settings; None: the defaults.
        threads: Threads of the codec; 0: one per processor.

    Raises:
        ConfigError: The run ends before the first tick, the panel does not exist, or the file cannot be written.
    """
    rerun = _start_rerun_at(replay, first, options.window_part)
    recorder = Recorder(path, options.size, options.fps, options.quality_preset, options.exact_colours, threads=threads)
    options = replace(options, fps=recorder.fps)
    return Film(rerun, create_renderer(rerun, options, appearance or Appearance()), recorder, options)


def _start_rerun_at(replay: ReplaySpec, tick: int, part: WindowPart) -> Rerun:
    rerun = replay.start_rerun()
    reached = rerun.seek_to_tick(tick)
    if reached < tick:
        raise ConfigError(f"ticks: expected at most {reached:,}, the last tick of the run, got {tick:,}")
    if part.panel_number > (count := len(rerun.run.panels)):
        raise ConfigError(f"part: expected a panel of the run, which has {count_with_noun(count, 'panel')}, got {part}")
    return rerun


def create_renderer(rerun: Rerun, options: FilmOptions, appearance: Appearance) -> OffscreenRenderer:
    run = rerun.run
    return OffscreenRenderer(
        run, options.size, options.window_part, appearance, has_legend=options.has_legend, has_title=options.has_title
    )


def _film_ticks(film: Film, end: int | None, most_frames: int | None) -> Iterator[None]:
    """Film tick after tick up to `end` or the maximum number of frames; yield after each filmed tick."""
    while (end is None or film.next_tick < end) and film.film_next_frame_tick():
        yield
        if most_frames is not None and film.frame_count >= most_frames:
            return
    if end is None or film.tick < end:
        film.film_final_tick()


def _film_summary(film: Film, was_stopped: bool) -> FilmSummary:
    status, path = film.recorder.status, film.recorder.target_path
    size = path.stat().st_size if path.is_file() else status.byte_count
    return FilmSummary(
        path,
        status.frame_count,
        film.film_options.fps,
        size,
        film.shown_tick,
        film.rerun.run.world_digests(),
        film.rerun.run.is_over,
        was_stopped,
        tuple(film.rerun.run.user_messages.alert_messages),
    )


def draw_last_film_frame(
    replay: ReplaySpec, ticks: tuple[int, int | None], options: FilmOptions, appearance: Appearance | None = None
) -> Film:
    """Draw only the last frame of a video, without recording it.

    Args:
        replay: Run to film.
        ticks: First tick, and the end of the range (exclusive); None: the last tick of the run.
        options: Options with the size and the part of the window.
        appearance: View settings; None: the defaults.

    Returns:
        A film whose `renderer` holds the picture.
    """
    first, end = checked_tick_range(ticks)
    rerun = _start_rerun_at(replay, first, options.window_part)
    rerun.seek_to_tick(MAX_COMMAND_TICK if end is None else end - 1)
    film = Film(rerun, create_renderer(rerun, options, appearance or Appearance()), _DiscardingRecorder(), options)  # type: ignore[arg-type]
    film.film_final_tick()
    return film


class _DiscardingRecorder:
    """Recorder that discards all frames, for drawing a single picture."""

    def add(self, picture: object) -> bool:
        return True

    def repeat_frame(self, times: int = 1) -> bool:
        return True
