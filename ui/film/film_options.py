"""File formats of videos and pictures, their limits, and the options of a video. Imports neither pygame nor codecs."""

import os
import re
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from sim.params import ConfigError, Param, did_you_mean_hint, value_as_in_files

MP4, WEBM, MKV, GIF = ".mp4", ".webm", ".mkv", ".gif"
VIDEO_SUFFIXES = (MP4, WEBM, MKV, GIF)
PICTURE = ".png"
FOLDER = "folder"  # output format: a folder of numbered pictures instead of a file
KINDS = (*VIDEO_SUFFIXES, PICTURE)

DRAFT, NORMAL, HIGH = "draft", "normal", "high"
FPS = Param("fps", int, 30, "frames per second of video", 1, 240)
PRESET = Param(
    "preset",
    str,
    NORMAL,
    "quality of the picture; better quality takes longer to encode",
    choices=(DRAFT, NORMAL, HIGH),
)
HOLD = Param("hold", float, 0.0, "seconds for which the video pauses at an edit or a restart", 0.0, 60.0)
EXACT = Param("exact_colours", bool, False, "lossless colours (yuv444p); many browsers cannot play such files")

GIF_RATES = (50, 25, 20, 10)
"""Possible frame rates of a .gif. Its delay is an integer in hundredths of a second; browsers require at least 2."""

MIN_SIDE, MAX_PICTURE_SIDE = 16, 8192  # minimum and maximum width and height of a picture or video, in pixels
MAX_PIXELS = 7680 * 4320  # maximum number of pixels of a picture or a frame

WINDOW, PANELS = "window", "panels"  # what a video shows: the whole window or all panels; a third kind is "panel"

MAX_PER_FRAME = 100_000  # maximum number of ticks per frame of a video
MAX_FRAMES_PER_TICK = 60  # maximum number of frames of a video per tick


# --- files ----------------------------------------------------------------------------------------


def output_kind_of(path: str | os.PathLike[str]) -> str:
    """Return the file format of a target.

    Args:
        path: File or folder to write.

    Returns:
        One of `KINDS`, or `FOLDER` for a folder of numbered pictures.

    Raises:
        ConfigError: The suffix is not in `KINDS`.
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if os.path.isdir(target) or str(path).endswith(("/", os.sep)) or not suffix:
        return FOLDER
    if suffix not in KINDS:
        raise ConfigError(
            f"{path}: expected a file that ends in one of {', '.join(KINDS)}, or a folder, got '{target.name}'"
        )
    return suffix


# --- videos ---------------------------------------------------------------------------------------

# The encoder's default tuning for camera films distorts colours, but here colours show data.
# With tune=psnr and finer chroma, the worst error of a cell of 8 px is 10 of 255, not 27; files grow by a third.
_TRUE_COLOURS = {"tune": "psnr", "x264-params": "chroma-qp-offset=-6"}
_X264_PRESETS = {
    DRAFT: {"preset": "ultrafast", "crf": "26"},
    NORMAL: {"preset": "veryfast", "crf": "18", **_TRUE_COLOURS},
    HIGH: {"preset": "medium", "crf": "12", **_TRUE_COLOURS},
}
# Lossless, because with crf 18 the colour error would be 24 of 255, in files of more than half the lossless size.
_X264_EXACT = {"preset": "veryfast", "qp": "0"}
_VP9_PRESETS = {
    DRAFT: {"cpu-used": "9", "crf": "36"},
    NORMAL: {"cpu-used": "8", "crf": "24"},
    HIGH: {"cpu-used": "6", "crf": "12"},
}
_VP9_EXACT = {"cpu-used": "8", "lossless": "1"}
_X264_LOOKAHEAD_FRAMES = {DRAFT: 0, NORMAL: 10, HIGH: 20}


@dataclass(frozen=True)
class Encoding:
    """Parameters of one encoding: file format, frame rate, quality preset and colour precision."""

    file_suffix: str = MP4
    fps: int = 30
    quality_preset: str = NORMAL
    exact_colours: bool = False

    @property
    def is_lossless(self) -> bool:
        """Return whether the part file is lossless RGB; it is for a .gif, whose palette is computed from that file."""
        return self.file_suffix == GIF

    @property
    def codec_name(self) -> str:
        if self.is_lossless:
            return "libx264rgb"
        return "libvpx-vp9" if self.file_suffix == WEBM else "libx264"

    @property
    def pixel_format(self) -> str:
        if self.is_lossless:
            return "rgb24"
        return "yuv444p" if self.exact_colours else "yuv420p"

    @property
    def needs_even_sides(self) -> bool:
        return self.codec_name == "libx264" and not self.exact_colours

    def codec_options(self) -> dict[str, str]:
        """Return the options of the codec.

        B-frames are switched off, because the time they take is not worth the bytes they save.
        """
        if self.is_lossless:
            return {"preset": "ultrafast", "qp": "0", "bf": "0"}
        if self.codec_name == "libvpx-vp9":
            realtime_options = {
                "deadline": "realtime",
                "b": "0",
                "row-mt": "1",
                "lag-in-frames": "0",
                "tile-columns": "2",
            }
            return {**realtime_options, **(_VP9_EXACT if self.exact_colours else _VP9_PRESETS[self.quality_preset])}
        # The lookahead is limited to a quarter of a second, because its frames are lost if the program is killed.
        lookahead = 0 if self.exact_colours else min(_X264_LOOKAHEAD_FRAMES[self.quality_preset], self.fps // 4)
        chosen = _X264_EXACT if self.exact_colours else _X264_PRESETS[self.quality_preset]
        return {**chosen, "bf": "0", "rc-lookahead": str(lookahead)}


def check_picture_size(size: tuple[int, int], encoding: Encoding | None, setting: str = "size") -> None:
    """Check that a picture or a video can have this size.

    Args:
        size: Width and height in pixels.
        encoding: Encoding of a video; None for a picture.
        setting: Name of the option for the error message.

    Raises:
        ConfigError: The size is too small or too large, or has an odd side that the codec does not support.
    """
    width, height = size
    size_text = f"{width}x{height}"
    if min(size) < MIN_SIDE or max(size) > MAX_PICTURE_SIDE or width * height > MAX_PIXELS:
        raise ConfigError(
            f"{setting}: expected from {MIN_SIDE}x{MIN_SIDE} pixels to {MAX_PICTURE_SIDE} a side and "
            f"{MAX_PIXELS:,} in all, got {size_text}"
        )
    if encoding and encoding.needs_even_sides and (width % 2 or height % 2):
        even_size = f"{width - width % 2}x{height - height % 2}"
        raise ConfigError(
            f"{setting}: expected an even width and height, which H.264 needs, got {size_text}; "
            f"the nearest is {even_size} (exact colours, .webm, .gif and .png take any size)"
        )


def size_with_even_sides(size: tuple[int, int]) -> tuple[int, int]:
    """Return a size that every codec supports: odd sides are reduced by one pixel, to no less than `MIN_SIDE`."""
    return max(MIN_SIDE, size[0] & ~1), max(MIN_SIDE, size[1] & ~1)


def nearest_gif_rate(fps: int) -> int:
    return min(GIF_RATES, key=lambda rate: abs(rate - fps))


# --- films ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WindowPart:
    """Part of the window that a video or picture shows: the whole window, all panels, or one panel."""

    kind: str  # `WINDOW`, `PANELS` or "panel"
    panel_number: int = 0  # number of the panel, counted from 1; 0 for the whole window or all panels

    def __str__(self) -> str:
        return self.kind if self.kind in (WINDOW, PANELS) else f"panel:{self.panel_number}"


def parse_window_part(text: str) -> WindowPart:
    """Parse the part of the window to record: `window`, `panels` or `panel:N`; raise a ConfigError for other texts."""
    if text in (WINDOW, PANELS):
        return WindowPart(text)
    match = re.fullmatch(r"panel:([1-8])", text)
    if match is None:
        hint = did_you_mean_hint(text, (WINDOW, PANELS, "panel:1"))
        raise ConfigError(
            f"expected {WINDOW}, {PANELS} or panel:N with N from 1 to 8, got {value_as_in_files(text)}{hint}"
        )
    return WindowPart("panel", int(match[1]))


def parse_ticks_per_frame(text: str) -> Fraction:
    """Parse ticks per frame: an integer, or 1/M for M frames per tick; raise a ConfigError for other texts."""
    match = re.fullmatch(r"\s*(?:(\d{1,9})|1\s*/\s*(\d{1,9}))\s*", text)
    number = Fraction(int(match[1])) if match and match[1] else Fraction(0)
    if match and match[2] and int(match[2]):
        number = Fraction(1, int(match[2]))
    if not Fraction(1, MAX_FRAMES_PER_TICK) <= number <= MAX_PER_FRAME:
        raise ConfigError(
            f"expected a whole number of ticks from 1 to {MAX_PER_FRAME:,}, or 1/M with M up to "
            f"{MAX_FRAMES_PER_TICK} for M frames a tick, got {value_as_in_files(text)}"
        )
    return number


@dataclass(frozen=True)
class FilmOptions:
    """Options of a video, except the run that it shows and the view settings."""

    size: tuple[int, int] = (1280, 720)
    fps: int = 30
    ticks_per_frame: Fraction = Fraction(1)
    window_part: WindowPart = field(default_factory=lambda: WindowPart(PANELS))
    quality_preset: str = NORMAL
    exact_colours: bool = False
    has_captions: bool = False
    hold_s: float = 0.0  # seconds of video for which the picture is held after an edit or a restart
    has_legend: bool = True
    has_title: bool = True

    @property
    def tick_step(self) -> int:
        return max(1, self.ticks_per_frame.numerator)

    @property
    def frames_per_tick(self) -> int:
        return self.ticks_per_frame.denominator


def frame_count_between(first: int, end: int, options: FilmOptions) -> int:
    """Return the number of frames of a video from tick `first` to `end` (exclusive), without repeated frames."""
    ticks = max(0, end - first)
    return -(-ticks // options.tick_step) * options.frames_per_tick
