"""Video files: encoding, finishing and reading back, all through PyAV. No pygame here.

While a video is being recorded it lies in a Matroska file that can be read up to the last quarter of a second,
whatever happens to the program. When the recording ends, that part file becomes the file that was asked for: an
.mp4 or .webm takes over the encoded pictures as they are, a .gif is made from them, for its colours are those of
the whole clip.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from io import RawIOBase
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt
from av.video.reformatter import ColorRange, Colorspace, VideoReformatter

from sim.params import ConfigError, Param

Pixels = npt.NDArray[np.uint32]  # [height, width], 0x00RRGGBB

MP4, WEBM, MKV, GIF = ".mp4", ".webm", ".mkv", ".gif"
VIDEO_SUFFIXES = (MP4, WEBM, MKV, GIF)

DRAFT, NORMAL, HIGH = "draft", "normal", "high"
FPS = Param("fps", int, 30, "frames in a second of video", 1, 240)
PRESET = Param("preset", str, NORMAL, "quick and large, or slow and small", choices=(DRAFT, NORMAL, HIGH))
EXACT = Param("exact_colours", bool, False, "every pixel as it was (yuv444p, lossless); many browsers cannot play it")

GIF_RATES = (50, 25, 20, 10)
"""Frames a second whose delay is a whole number of hundredths and long enough for browsers to respect it."""

LEAST_SIDE, MOST_SIDE = 16, 8192
MOST_PIXELS = 7680 * 4320

CLUSTER_MS = 250  # what a part file lags behind the encoder
BT709 = 1  # what players assume for HD; untagged BT.601 shows errors of up to 40 in 255

# What the encoder does to please the eye in films costs colour, and here colour has a meaning. With tune=psnr and
# finer chroma the worst flat 8 px cell is off by 10 in 255 instead of 27, for a third more bytes.
_TRUE_COLOURS = {"tune": "psnr", "x264-params": "chroma-qp-offset=-6"}
_X264 = {
    DRAFT: {"preset": "ultrafast", "crf": "26"},
    NORMAL: {"preset": "veryfast", "crf": "18", **_TRUE_COLOURS},
    HIGH: {"preset": "medium", "crf": "12", **_TRUE_COLOURS},
}
_X264_EXACT = {"preset": "veryfast", "qp": "0"}  # crf 18 in yuv444p is off by 24 on flat cells, and no smaller by half
_VP9 = {
    DRAFT: {"cpu-used": "9", "crf": "36"},
    NORMAL: {"cpu-used": "8", "crf": "24"},
    HIGH: {"cpu-used": "6", "crf": "12"},
}
_VP9_EXACT = {"cpu-used": "8", "lossless": "1"}
_LOOKAHEAD = {DRAFT: 0, NORMAL: 10, HIGH: 20}


@dataclass(frozen=True)
class Encoding:
    """How pictures become a video: everything but the pictures."""

    suffix: str = MP4
    fps: int = 30
    preset: str = NORMAL
    exact_colours: bool = False

    @property
    def is_lossless(self) -> bool:
        """A .gif takes its colours from the recording, so that has to keep them."""
        return self.suffix == GIF

    @property
    def codec(self) -> str:
        if self.is_lossless:
            return "libx264rgb"
        return "libvpx-vp9" if self.suffix == WEBM else "libx264"

    @property
    def pixel_format(self) -> str:
        if self.is_lossless:
            return "rgb24"
        return "yuv444p" if self.exact_colours else "yuv420p"

    @property
    def needs_even_sides(self) -> bool:
        return self.codec == "libx264" and not self.exact_colours

    def options(self) -> dict[str, str]:
        """Options of the codec. There are no frames out of order: they cost more time than they save bytes here."""
        if self.is_lossless:
            return {"preset": "ultrafast", "qp": "0", "bf": "0"}
        if self.codec == "libvpx-vp9":
            usual = {"deadline": "realtime", "b": "0", "row-mt": "1", "lag-in-frames": "0", "tile-columns": "2"}
            return {**usual, **(_VP9_EXACT if self.exact_colours else _VP9[self.preset])}
        # The encoder may look ahead a quarter of a second: what it holds back is lost if the program is killed.
        ahead = 0 if self.exact_colours else min(_LOOKAHEAD[self.preset], self.fps // 4)
        chosen = _X264_EXACT if self.exact_colours else _X264[self.preset]
        return {**chosen, "bf": "0", "rc-lookahead": str(ahead)}


def check_size(size: tuple[int, int], encoding: Encoding | None, where: str = "size") -> None:
    """Refuse sizes that the codec, or any file, cannot have. `encoding` is None for pictures."""
    width, height = size
    shown = f"{width}x{height}"
    if min(size) < LEAST_SIDE or max(size) > MOST_SIDE or width * height > MOST_PIXELS:
        raise ConfigError(
            f"{where}: expected from {LEAST_SIDE}x{LEAST_SIDE} pixels to {MOST_SIDE} a side and "
            f"{MOST_PIXELS:,} in all, got {shown}"
        )
    if encoding and encoding.needs_even_sides and (width % 2 or height % 2):
        even = f"{width - width % 2}x{height - height % 2}"
        raise ConfigError(
            f"{where}: expected an even width and height, which H.264 needs, got {shown}; the nearest is {even} "
            "(exact colours, .webm, .gif and .png take any size)"
        )


def even(size: tuple[int, int]) -> tuple[int, int]:
    """The largest size inside this one that every codec takes: the last column or row of pixels is left out."""
    return max(LEAST_SIDE, size[0] & ~1), max(LEAST_SIDE, size[1] & ~1)


def nearest_gif_rate(fps: int) -> int:
    return min(GIF_RATES, key=lambda rate: abs(rate - fps))


# --- encoding -------------------------------------------------------------------------------------


class Encoder:
    """Writes pictures into a part file. Whatever goes wrong with the file is an OSError."""

    def __init__(self, file: RawIOBase, size: tuple[int, int], encoding: Encoding) -> None:
        self.size, self.encoding = size, encoding
        self.frames = 0
        self._last: Any = None  # the last picture as the codec takes it
        self._reformatter = VideoReformatter()
        self._container = av.open(
            file,
            "w",
            format="matroska",
            options={"flush_packets": "1", "cluster_time_limit": str(CLUSTER_MS)},
        )
        self._stream = self._make_stream()

    def _make_stream(self) -> Any:
        encoding = self.encoding
        stream = self._container.add_stream(encoding.codec, rate=encoding.fps, options=encoding.options())
        stream.width, stream.height = self.size
        stream.pix_fmt = encoding.pixel_format
        context = stream.codec_context
        context.time_base = Fraction(1, encoding.fps)
        context.gop_size = 2 * encoding.fps  # a player can jump to every second second
        if not encoding.is_lossless:
            context.colorspace = context.color_primaries = context.color_trc = BT709
            context.color_range = ColorRange.MPEG
        return stream

    def add(self, pixels: Pixels) -> None:
        """The next picture. It is read before this returns."""
        height, width = pixels.shape
        frame = av.VideoFrame.from_numpy_buffer(pixels.view(np.uint8).reshape(height, width, 4), "bgra")
        self._last = self._converted(frame)
        self._encode()

    def _converted(self, frame: Any) -> Any:
        if self.encoding.is_lossless:
            return self._reformatter.reformat(frame, format="rgb24")
        return self._reformatter.reformat(
            frame, format=self.encoding.pixel_format, dst_colorspace=Colorspace.ITU709, dst_color_range=ColorRange.MPEG
        )

    def repeat(self) -> None:
        """The last picture once more."""
        self._encode()

    def _encode(self) -> None:
        self._last.pts = self.frames
        self._last.time_base = Fraction(1, self.encoding.fps)
        self.frames += 1
        for packet in self._stream.encode(self._last):
            self._container.mux(packet)

    def close(self) -> None:
        """Write what the codec still holds back, and the index."""
        try:
            for packet in self._stream.encode(None):
                self._container.mux(packet)
        finally:
            self._container.close()

    def abandon(self) -> None:
        """Close what can be closed after the file could not be written."""
        with suppress(OSError, av.FFmpegError):
            self._container.close()


# --- finishing ------------------------------------------------------------------------------------

Progress = Callable[[float], None]  # told the share that is done


def _no_progress(share: float) -> None:
    pass


def finish(part: Path, target: Path, progress: Progress = _no_progress) -> None:
    """Make the file that was asked for from a part file. Half a target is never left behind."""
    try:
        if target.suffix.lower() == GIF:
            _make_gif(part, target, progress)
        else:
            _remux(part, target, progress)
    except BaseException:
        with suppress(OSError):
            target.unlink()
        raise


def _remux(part: Path, target: Path, progress: Progress) -> None:
    """The encoded pictures as they are in another kind of file.

    Matroska counts in milliseconds; every picture gets its exact time back from its place.
    """
    options = {"movflags": "+faststart"} if target.suffix.lower() == MP4 else {}
    kind = {MP4: "mp4", WEBM: "webm"}.get(target.suffix.lower(), "matroska")
    with av.open(str(part)) as source, av.open(str(target), "w", format=kind, options=options) as file:
        stream = source.streams.video[0]
        copy = file.add_stream_from_template(stream)
        rate = stream.average_rate or Fraction(30)
        copy.time_base = 1 / rate
        length = max(1, part.stat().st_size)
        for place, packet in enumerate(_packets(source, stream)):
            progress(min(1.0, (packet.pos or 0) / length))
            packet.stream = copy
            packet.time_base = 1 / rate
            packet.pts = packet.dts = place
            packet.duration = 1
            file.mux(packet)


def _packets(source: Any, stream: Any) -> Iterator[Any]:
    """The whole packets of a file, which may end in the middle of one."""
    try:
        for packet in source.demux(stream):
            if packet.size and packet.pts is not None:
                yield packet
    except (av.InvalidDataError, av.EOFError):
        return


def pictures(part: Path) -> Iterator[Any]:
    """The pictures of a video, as many as can be read."""
    with av.open(str(part)) as source:
        stream = source.streams.video[0]
        stream.thread_type = "AUTO"
        try:
            yield from source.decode(stream)
        except (av.InvalidDataError, av.EOFError):
            return


def count_pictures(path: Path) -> int:
    """How many pictures a video has, without decoding them."""
    with av.open(str(path)) as source:
        return sum(1 for _ in _packets(source, source.streams.video[0]))


def _make_gif(part: Path, target: Path, progress: Progress) -> None:
    """One palette for the whole clip, then the clip in its colours. Read twice, so that no clip is too long."""
    total = max(1, count_pictures(part))
    palette = _palette(part, lambda done: progress(0.5 * done / total))
    with av.open(str(part)) as source:
        stream = source.streams.video[0]
        rate, size = stream.average_rate or Fraction(10), (stream.width, stream.height)
    delay = Fraction(1) / rate
    with av.open(str(target), "w", format="gif", options={"loop": "0"}) as file:
        copy = file.add_stream("gif", rate=rate)
        copy.width, copy.height = size
        copy.pix_fmt = "pal8"
        copy.codec_context.time_base = Fraction(1, 100)
        for place, frame in enumerate(_in_palette(part, palette)):
            frame.pts = round(place * delay * 100)
            frame.time_base = Fraction(1, 100)
            file.mux(copy.encode(frame))
            progress(0.5 + 0.5 * place / total)
        file.mux(copy.encode(None))


def _palette(part: Path, progress: Callable[[int], None]) -> Any:
    """The 256 colours that serve the clip best."""
    graph = None
    for place, frame in enumerate(pictures(part)):
        if graph is None:
            graph = av.filter.Graph()
            source = graph.add_buffer(template=None, **_shape(frame))
            # No transparent entry: nothing in these pictures is.
            maker = graph.add("palettegen", "stats_mode=full:reserve_transparent=0")
            sink = graph.add("buffersink")
            source.link_to(maker)
            maker.link_to(sink)
            graph.configure()
        graph.push(_solid(frame))
        progress(place)
    if graph is None:
        raise ConfigError(f"{part}: there is no picture in it")
    graph.push(None)
    return graph.pull()


def _in_palette(part: Path, palette: Any) -> Iterator[Any]:
    """The pictures in the colours of the palette, without dithering: our colours are flat."""
    graph = None
    for frame in pictures(part):
        if graph is None:
            graph = av.filter.Graph()
            source = graph.add_buffer(template=None, **_shape(frame))
            colours = graph.add_buffer(width=16, height=16, format="bgra", time_base=Fraction(1, 1000))
            user = graph.add("paletteuse", "dither=none:diff_mode=rectangle")
            sink = graph.add("buffersink")
            source.link_to(user, 0, 0)
            colours.link_to(user, 0, 1)
            user.link_to(sink)
            graph.configure()
            palette.pts, palette.time_base = 0, Fraction(1, 1000)
            colours.push(palette)
            colours.push(None)
        source.push(_solid(frame))
        yield from _ready(sink)
    if graph is not None:
        source.push(None)
        yield from _ready(sink)


def _ready(sink: Any) -> Iterator[Any]:
    while True:
        try:
            yield sink.pull()
        except (av.BlockingIOError, av.EOFError):
            return


def _solid(frame: Any) -> Any:
    """The picture with every pixel opaque, as the palette filters want it."""
    solid = frame.reformat(format="bgra")
    solid.pts, solid.time_base = frame.pts, frame.time_base
    return solid


def _shape(frame: Any) -> dict[str, Any]:
    return {"width": frame.width, "height": frame.height, "format": "bgra", "time_base": frame.time_base}
