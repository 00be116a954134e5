"""Command `record`: film a scenario as a video, a GIF or pictures, without a window."""

import argparse
import json
import os
import re
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

from cli.arguments import CommandParser, argparse_arguments_of_param, help_with_default, param_converter
from cli.kernel_warm_up import warm_up_agents
from cli.progress import ProgressBar
from files.disk import write_file_atomically
from files.png import png_bytes
from files.shipped_files import require_shipped_file
from sim.params import ConfigError
from sim.system.program import PROGRAM_COMMAND
from ui.commands.command_table import COMMAND_TABLE
from ui.draw.layers import LAYER_BY_KEY
from ui.film import film_options as film_options
from ui.film.film import Film, FilmSummary, draw_last_film_frame, export_video
from ui.film.film_options import (
    HOLD,
    PICTURE,
    Encoding,
    FilmOptions,
    WindowPart,
    check_picture_size,
    frame_count_between,
    output_kind_of,
    parse_ticks_per_frame,
    parse_window_part,
)
from ui.film.picture_files import copied_pixels, png_text_chunks
from ui.film.recorder import recover_recording
from ui.film.recording_files import PART_SUFFIX, check_path_is_writable, unused_path
from ui.film.replay import ReplaySpec, replay_spec_of_session
from ui.film.video_encoding import readable_seconds_of
from ui.model import opened_files
from ui.model.appearance import Appearance, appearance_from_view, view_mapping_of_appearance
from ui.model.settings import THEME

MAX_FRAMES = 18_000
"""Maximum number of frames without --ticks, because some runs do not end by themselves: ten minutes of video."""

GIF_FPS = 25  # frames per second of GIFs without --fps, because browsers do not play GIFs at the default of 30

_DESCRIPTION = (
    "Film a scenario without a window. One JSON line on standard output describes the file. "
    "An existing file is never overwritten: talk.mp4 becomes talk-2.mp4."
)
_OUTPUT_FORMATS_TEXT = (
    "FILE.mp4, .webm, .mkv or .gif; FILE.png for the last tick alone; or a folder for numbered pictures"
)


@dataclass(frozen=True)
class _RecordRequest:
    """Checked arguments of the command line."""

    output_path: str  # path of the output
    output_kind: str  # kind of the output file, as `output_kind_of` returns it
    tick_range: tuple[int, int | None]  # first tick, and the tick after the last one; None: until the end of the run
    options: FilmOptions


def main(argv: Sequence[str]) -> int:
    args = _parser().parse_args(argv)
    if args.recover:
        return _recover_unfinished_film(args)
    problems: list[str] = []
    request = _checked_request(args, problems)
    opened = _open_scenario(args.scenario, problems)
    if problems or request is None or opened is None:
        raise ConfigError(problems)
    progress = ProgressBar()
    replay = _create_replay(opened, args.branch)
    for text in _replay_warnings(opened):
        progress.print_line(text)
    look = _view_settings(opened, args.theme)
    warm_up_agents(opened.scenario.agents, progress)
    if request.output_kind == PICTURE:
        return _write_picture(request, replay, look, progress)
    return _film_run(request, replay, look, progress)


def _parser() -> CommandParser:
    parser = CommandParser("record", _DESCRIPTION)
    add = parser.add_argument
    add("scenario", nargs="?", help="a scenario or a session; or a .map or .scen file, with the default agents")
    add("-o", "--output", metavar="FILE", help=_OUTPUT_FORMATS_TEXT)
    add(
        "--size",
        type=_parse_picture_size,
        default=(1280, 720),
        metavar="WxH",
        help="in pixels, such as 1920x1080 (default: 1280x720)",
    )
    add("--fps", type=param_converter(film_options.FPS), metavar="N", help="frames per second (default: 30; GIF: 25)")
    add(
        "--ticks",
        type=_parse_tick_range,
        default=(0, None),
        metavar="A:B",
        help="from tick A up to, but not including, tick B (default: the whole run)",
    )
    add(
        "--ticks-per-frame",
        type=_config_converter(parse_ticks_per_frame),
        default=Fraction(1),
        metavar="N",
        help="ticks per frame; or 1/M for M frames per tick, with smooth motion (default: 1)",
    )
    add("--exact-colours", action="store_true", help=f"{film_options.EXACT.help}")
    add(
        "--preset",
        type=param_converter(film_options.PRESET),
        default=film_options.NORMAL,
        metavar="NAME",
        help=help_with_default(
            f"{film_options.PRESET.describe_legal_values()}: {film_options.PRESET.help}", film_options.NORMAL
        ),
    )
    add(
        "--part",
        type=_config_converter(parse_window_part),
        default=WindowPart("panels"),
        metavar="PART",
        help="what to film: window, panels or panel:N (default: panels)",
    )
    add("--captions", action="store_true", help="show captions for edits and restarts")
    add("--hold", metavar="S", **argparse_arguments_of_param(HOLD))
    add(
        "--branch",
        action="append",
        default=[],
        metavar="NAME",
        help="a branch of a session file; repeat it to film several side by side",
    )
    add("--no-legend", action="store_true", help="leave out the legend of the marks")
    add(
        "--theme",
        type=param_converter(THEME),
        metavar="NAME",
        help="dark or light, instead of the theme of the scenario",
    )
    add("--recover", metavar=f"FILE{PART_SUFFIX}", help="finish a recording that was killed, and exit")
    return parser


# --- arguments ------------------------------------------------------------------------------------


def _config_converter(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a converter for argparse from a function that raises ConfigErrors."""

    def convert(text: str) -> Any:
        try:
            return parse(text)
        except ConfigError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert


def _parse_picture_size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"\s*(\d{1,6})\s*[xX]\s*(\d{1,6})\s*", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"expected a size as WxH, such as 1280x720, got {text!r}")
    return int(match[1]), int(match[2])


def _parse_tick_range(text: str) -> tuple[int, int | None]:
    match = re.fullmatch(r"\s*(\d{1,12})?\s*:\s*(\d{1,12})?\s*", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"expected a range of ticks as A:B, such as 0:200, got {text!r}")
    first, end = int(match[1] or 0), int(match[2]) if match[2] else None
    if end is not None and end <= first:
        raise argparse.ArgumentTypeError(f"expected a range with at least one tick, such as 0:200, got {text!r}")
    return first, end


def _checked_request(args: Namespace, problems: list[str]) -> _RecordRequest | None:
    """Check the arguments; return None and append messages to `problems` if they have mistakes."""
    if not args.output:
        problems.append(f"record: expected -o with {_OUTPUT_FORMATS_TEXT}")
        return None
    options = FilmOptions(
        args.size,
        args.fps or int(film_options.FPS.default),
        args.ticks_per_frame,
        args.part,
        args.preset,
        args.exact_colours,
        args.captions,
        args.hold,
        not args.no_legend,
    )
    try:
        kind = output_kind_of(args.output)
        is_video = kind in film_options.VIDEO_SUFFIXES
        encoding = Encoding(kind, options.fps, args.preset, args.exact_colours) if is_video else None
        check_picture_size(args.size, encoding, "record: --size")
        check_path_is_writable(args.output)
    except ConfigError as error:
        problems += [text if text.startswith("record: ") else f"record: -o {text}" for text in error.problems]
        return None
    if kind == film_options.GIF and args.fps is None:
        options = replace(options, fps=GIF_FPS)
    return _RecordRequest(args.output, kind, args.ticks, options)


def _open_scenario(name: str | None, problems: list[str]) -> opened_files.OpenedFile | None:
    if not name:
        problems.append("record: expected a scenario file")
        return None
    try:
        return opened_files.open_any_file(require_shipped_file(name))
    except ConfigError as error:
        problems += error.problems
        return None


def _create_replay(opened: opened_files.OpenedFile, branches: list[str]) -> ReplaySpec:
    if opened.saved_session is not None:
        return replay_spec_of_session(opened.saved_session, opened.path, branches)
    if branches:
        raise ConfigError(f"record: --branch: expected a session file, which has branches, got {opened.path}")
    return ReplaySpec(opened.scenario)


def _replay_warnings(opened: opened_files.OpenedFile) -> Sequence[str]:
    """Return warnings about reasons why the filmed run may differ from the run that the user expects."""
    if opened.saved_session is not None:
        return opened.saved_session.warnings
    if not opened.scenario.depends_on_clock:
        return ()
    return (
        f"record: {opened.path}: limits the milliseconds of a tick; the film ignores the limit, so that it is the same"
        f" on every machine. To film a run with the limit, run `{PROGRAM_COMMAND} run {opened.path} --keep "
        "KEPT.yaml`, then record"
        " KEPT.yaml",
    )


def _view_settings(opened: opened_files.OpenedFile, theme: str | None) -> Appearance:
    """Return the view settings of a scenario, with the theme of the command line if it is given."""
    look = appearance_from_view(opened.scenario.view, LAYER_BY_KEY, f"{opened.path}: view")
    return replace(look, theme_name=theme or look.theme_name, command_table=COMMAND_TABLE)


# --- filming --------------------------------------------------------------------------------------


def _film_run(request: _RecordRequest, replay: ReplaySpec, look: Appearance, progress: ProgressBar) -> int:
    first, end = request.tick_range
    options = request.options
    if request.output_kind == film_options.GIF and options.fps not in film_options.GIF_RATES:
        options = replace(options, fps=film_options.nearest_gif_rate(options.fps))
        rates = ", ".join(str(rate) for rate in film_options.GIF_RATES)
        progress.print_line(f"record: browsers play GIFs at {rates} frames a second; using {options.fps}")
    meter = _ProgressMeter(progress, options, first, end)
    done = export_video(
        replay,
        request.output_path,
        request.tick_range,
        options,
        look,
        told=meter.on_frame,
        finishing=meter.on_file_finishing,
        most_frames=MAX_FRAMES if end is None else None,
    )
    progress.clear_bar()
    if end is None and not done.is_over and not done.was_stopped:
        progress.print_line(f"record: the run was not over at tick {done.last_tick:,}; --ticks A:B records more")
    if done.was_stopped:
        progress.print_line("record: stopped; the frames filmed so far are kept")
    _print_difference_warnings(done, replay, progress)
    _print_result(done, request, meter.elapsed_seconds)
    return 130 if done.was_stopped else 0


def _write_picture(request: _RecordRequest, replay: ReplaySpec, look: Appearance, progress: ProgressBar) -> int:
    """Write a picture of the last tick and return the exit code."""
    film = draw_last_film_frame(replay, request.tick_range, request.options, look)
    target = unused_path(request.output_path)
    data = png_bytes(
        copied_pixels(film.renderer.surface),
        png_text_chunks(film.rerun.run, target.parent, view_mapping_of_appearance(look)),
    )
    write_file_atomically(target, data)
    run = film.rerun.run
    alarms = tuple(run.user_messages.alert_messages)
    done = FilmSummary(
        target,
        1,
        request.options.fps,
        len(data),
        film.tick,
        run.world_digests(),
        run.is_over,
        divergence_messages=alarms,
    )
    _print_difference_warnings(done, replay, progress)
    _print_result(done, request, None)
    return 0


def _print_difference_warnings(done: FilmSummary, replay: ReplaySpec, progress: ProgressBar) -> None:
    """Print why the filmed run differs from the saved run, and from which tick on the filmed run has no time limit."""
    for alarm in done.divergence_messages:
        progress.print_line(f"record: {alarm}")
    unnoted = replay.first_irreproducible_tick
    if unnoted is not None and unnoted < done.last_tick:
        progress.print_line(
            f"record: from tick {unnoted:,} on, ticks have no time limit, because the session was run no further; run"
            " it further in the window to film these ticks with the limit"
        )


def _print_result(done: FilmSummary, request: _RecordRequest, seconds: float | None) -> None:
    line: dict[str, Any] = {
        "file": str(done.path),
        "frames": done.frame_count,
        "fps": done.fps if request.output_kind != PICTURE else None,
        "size": list(request.options.size),
        "seconds": round(done.duration_s, 3) if request.output_kind != PICTURE else None,
        "bytes": done.byte_count,
        "ticks": [request.tick_range[0], done.last_tick],
        "digest": done.branch_digests[0],
    }
    if seconds:
        line["frames_per_second"] = round(done.frame_count / seconds, 1)
    print(json.dumps(line), flush=True)


def _recover_unfinished_film(args: Namespace) -> int:
    progress = ProgressBar()
    path = recover_recording(args.recover, lambda share: progress.update_bar("finishing", share))
    progress.clear_bar()
    print(json.dumps({"file": str(path), "bytes": path.stat().st_size, "seconds": readable_seconds_of(path)}))
    return 0


class _ProgressMeter:
    """Progress line of filming, with the number of frames, frames per second and the remaining time."""

    def __init__(self, progress: ProgressBar, options: FilmOptions, first: int, end: int | None) -> None:
        self.progress, self.film_options, self.first, self.end_tick = progress, options, first, end
        self.elapsed_seconds = 0.0
        self._start_time_s: float | None = None
        self._total_frames = frame_count_between(first, end, options) if end is not None else None

    def on_frame(self, film: Film) -> None:
        now = time.monotonic()
        if self._start_time_s is None:
            self._start_time_s = now  # measured from the end of the first frame, which also loads fonts and kernels
        self.elapsed_seconds = now - self._start_time_s
        rate = film.frame_count / self.elapsed_seconds if self.elapsed_seconds else 0.0
        text = f"tick {film.tick:,}, {film.frame_count:,} frames, {rate:.0f} frames/s"
        share = None
        if self._total_frames and rate:
            share = min(1.0, film.frame_count / self._total_frames)
            text += f", {_minutes_text(max(0.0, (self._total_frames - film.frame_count) / rate))} left"
        self.progress.update_bar(text, share)

    def on_file_finishing(self, share: float) -> None:
        self.progress.update_bar("finishing the file", share)


def _minutes_text(seconds: float) -> str:
    minutes, remainder = divmod(round(seconds), 60)
    return f"{minutes}:{remainder:02}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
