"""Encoding, conversion and reading of video files with PyAV. This module does not import pygame.

A video is recorded to a temporary Matroska file, the part file. If the program is killed, the part file is readable
except for the last quarter of a second. When the recording ends, the part file is converted to the requested format:
the encoded frames are copied into an .mp4 or .webm unchanged; a .gif is encoded from them, because its palette depends
on the whole clip.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from io import RawIOBase
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt
from av.video.reformatter import ColorRange, Colorspace, VideoReformatter

from sim.params import ConfigError
from ui.film.film_options import GIF, MP4, PICTURE, WEBM, Encoding

Pixels = npt.NDArray[np.uint32]  # picture as an array [height, width] of pixels 0x00RRGGBB

# milliseconds of video per Matroska cluster: at most this much of a video is lost if the program is killed
CLUSTER_MS = 250
# Code of the colour space BT.709, which players assume for HD video; with BT.601, colours would be off by up to 40.
BT709 = 1

# --- encoding -------------------------------------------------------------------------------------


class VideoEncoder:
    """Encoder of pictures into the part file of a video. If the file cannot be written, methods raise an OSError."""

    def __init__(self, file: RawIOBase, size: tuple[int, int], encoding: Encoding, threads: int = 0) -> None:
        """Open the container and the codec.

        Args:
            file: Part file, open for writing.
            size: Width and height of the pictures in pixels.
            encoding: Parameters of the encoding.
            threads: Threads of the codec; 0: one per processor.

        Raises:
            ConfigError: The codec is missing on this machine.
        """
        check_codec_available(encoding)
        self.size, self.encoding, self.thread_count = size, encoding, threads
        self.frame_count = 0
        self._last_frame: Any = None  # last picture as a PyAV frame, encoded again when the picture is repeated
        self._pixel_reformatter = VideoReformatter()
        self._container = av.open(
            file,
            "w",
            format="matroska",
            options={"flush_packets": "1", "cluster_time_limit": str(CLUSTER_MS)},
        )
        self._video_stream = self._create_stream()

    def _create_stream(self) -> Any:
        encoding = self.encoding
        stream: Any = self._container.add_stream(
            encoding.codec_name, rate=encoding.fps, options=encoding.codec_options()
        )
        stream.width, stream.height = self.size
        stream.pix_fmt = encoding.pixel_format
        context = stream.codec_context
        context.time_base = Fraction(1, encoding.fps)
        context.thread_count = self.thread_count
        context.gop_size = 2 * encoding.fps  # a key frame every two seconds, so that players can seek
        if not encoding.is_lossless:
            context.colorspace = context.color_primaries = context.color_trc = BT709
            context.color_range = ColorRange.MPEG
        return stream

    def add(self, pixels: Pixels) -> None:
        """Encode the next picture; the caller may reuse the array afterwards."""
        self._last_frame = self.to_codec_frame(pixels)
        self._encode_last_frame()

    def to_codec_frame(self, pixels: Pixels) -> Any:
        """Return a picture as a PyAV frame in the pixel format of the codec."""
        height, width = pixels.shape
        frame = av.VideoFrame.from_numpy_buffer(pixels.view(np.uint8).reshape(height, width, 4), "bgra")
        if self.encoding.is_lossless:
            return self._pixel_reformatter.reformat(frame, format="rgb24", threads=self.thread_count)
        return self._pixel_reformatter.reformat(
            frame,
            format=self.encoding.pixel_format,
            dst_colorspace=Colorspace.ITU709,
            dst_color_range=ColorRange.MPEG,
            threads=self.thread_count,
        )

    def repeat_frame(self) -> None:
        """Encode the last picture again."""
        self._encode_last_frame()

    def _encode_last_frame(self) -> None:
        """Encode the last picture as the next frame, and write the packets that the codec returns."""
        self._last_frame.pts = self.frame_count
        self._last_frame.time_base = Fraction(1, self.encoding.fps)
        self.frame_count += 1
        for packet in self._video_stream.encode(self._last_frame):
            self._container.mux(packet)

    def close(self) -> None:
        """Write the frames held back by the codec and the index of the file, and close the file."""
        try:
            for packet in self._video_stream.encode(None):
                self._container.mux(packet)
        finally:
            self._container.close()

    def close_after_error(self) -> None:
        """Close the file after a failed write: frames held back by the codec are lost, and errors are ignored."""
        with suppress(OSError, av.FFmpegError):
            self._container.close()


def check_codec_available(encoding: Encoding) -> None:
    """Check that PyAV has the encoder, which may be missing if PyAV is a package of a Linux distribution.

    Raises:
        ConfigError: The encoder is missing; the message lists the formats that can be recorded.
    """
    if encoding.codec_name in av.codecs_available:
        return
    available_kinds = [kind for kind in (MP4, WEBM, GIF) if Encoding(kind).codec_name in av.codecs_available]
    raise ConfigError(
        f"{encoding.file_suffix}: the encoder {encoding.codec_name} is not installed; available formats: "
        f"{', '.join([*available_kinds, PICTURE])}"
    )


# --- finishing ------------------------------------------------------------------------------------

ProgressCallback = Callable[[float], None]  # type of a callback that gets the completed fraction, from 0 to 1


def _ignore_progress(share: float) -> None:
    pass


def convert_part_file(part: Path, target: Path, progress: ProgressCallback = _ignore_progress) -> None:
    """Convert the part file of a video to the requested format; delete an incomplete target after an error.

    Args:
        part: Part file.
        target: File to write; its suffix chooses the format.
        progress: Callback for the completed fraction.
    """
    try:
        if target.suffix.lower() == GIF:
            _convert_to_gif(part, target, progress)
        else:
            _copy_frames_to_container(part, target, progress)
    except BaseException:
        with suppress(OSError):
            target.unlink()
        raise


def _copy_frames_to_container(part: Path, target: Path, progress: ProgressCallback) -> None:
    """Copy the encoded frames of a part file into an .mp4, .webm or .mkv, without encoding them again.

    Matroska rounds times to milliseconds, so the exact time of every frame is computed from its index.
    """
    options = {"movflags": "+faststart"} if target.suffix.lower() == MP4 else {}
    kind = {MP4: "mp4", WEBM: "webm"}.get(target.suffix.lower(), "matroska")
    with av.open(str(part)) as source, av.open(str(target), "w", format=kind, options=options) as file:
        stream = source.streams.video[0]
        copy = file.add_stream_from_template(stream)
        rate = stream.average_rate or Fraction(30)
        copy.time_base = 1 / rate
        length = max(1, part.stat().st_size)
        for index, packet in enumerate(_undamaged_packets(source, stream)):
            progress(min(1.0, (packet.pos or 0) / length))
            packet.stream = copy
            packet.time_base = 1 / rate
            packet.pts = packet.dts = index
            packet.duration = 1
            file.mux(packet)


def _undamaged_packets(source: Any, stream: Any) -> Iterator[Any]:
    """Yield the complete packets of a video file, which may end in the middle of a packet."""
    try:
        for packet in source.demux(stream):
            if packet.size and packet.pts is not None and not packet.is_corrupt:
                yield packet
    except (av.InvalidDataError, av.EOFError):
        return


def decode_frames_of_part_file(part: Path) -> Iterator[Any]:
    """Yield the decoded frames of a video file, up to its end or its first damaged frame."""
    with av.open(str(part)) as source:
        stream = source.streams.video[0]
        stream.thread_type = "AUTO"
        try:
            yield from source.decode(stream)
        except (av.InvalidDataError, av.EOFError):
            return


def count_frames(path: Path) -> int:
    """Return the number of frames of a video file, without decoding the frames."""
    with av.open(str(path)) as source:
        return sum(1 for _ in _undamaged_packets(source, source.streams.video[0]))


def readable_seconds_of(path: Path) -> float:
    """Return the length of the readable video in a file, in seconds; 0 if the file is no video."""
    try:
        with av.open(str(path)) as file:
            rate = file.streams.video[0].average_rate or 30
        return float(count_frames(path) / rate)
    except (OSError, IndexError, av.FFmpegError):
        return 0.0


def _convert_to_gif(part: Path, target: Path, progress: ProgressCallback) -> None:
    """Convert a part file to a .gif with one colour palette for the whole clip.

    The part file is decoded twice, for the palette and for the frames, so that frames need not be kept in memory.
    """
    total = max(1, count_frames(part))
    palette = _gif_palette(part, lambda done: progress(0.5 * done / total))
    with av.open(str(part)) as source:
        stream = source.streams.video[0]
        rate, size = stream.average_rate or Fraction(10), (stream.width, stream.height)
    delay = Fraction(1) / rate
    with av.open(str(target), "w", format="gif", options={"loop": "0"}) as file:
        copy = file.add_stream("gif", rate=rate)
        copy.width, copy.height = size
        copy.pix_fmt = "pal8"
        copy.codec_context.time_base = Fraction(1, 100)
        for index, frame in enumerate(_frames_with_gif_palette(part, palette)):
            frame.pts = round(index * delay * 100)
            frame.time_base = Fraction(1, 100)
            file.mux(copy.encode(frame))
            progress(0.5 + 0.5 * index / total)
        file.mux(copy.encode(None))


def _gif_palette(part: Path, progress: Callable[[int], None]) -> Any:
    """Return the palette of 256 colours computed from all frames of the clip."""
    graph = None
    for index, frame in enumerate(decode_frames_of_part_file(part)):
        if graph is None:
            graph = _empty_filter_graph()
            source = graph.add_buffer(template=None, **_filter_input_options(frame))
            # All 256 entries are used for colours; none is reserved for transparency, which these pictures do not have.
            palette_filter = graph.add("palettegen", "stats_mode=full:reserve_transparent=0")
            sink = graph.add("buffersink")
            source.link_to(palette_filter)
            palette_filter.link_to(sink)
            graph.configure()
        graph.push(_opaque_frame(frame))
        for _ in _completed_frames(
            sink
        ):  # polling makes the filter consume the frame; the palette follows after the last frame
            raise AssertionError("a palette before the end of the clip")
        progress(index)
    if graph is None:
        raise ConfigError(f"{part}: it contains no picture")
    graph.push(None)
    return graph.pull()


def _empty_filter_graph() -> Any:
    """Return an empty filter graph, typed as Any, because PyAV's annotations do not allow names of formats."""
    return av.filter.Graph()


def _frames_with_gif_palette(part: Path, palette: Any) -> Iterator[Any]:
    """Yield the frames of a part file in the colours of the palette, without dithering."""
    graph = None
    for frame in decode_frames_of_part_file(part):
        if graph is None:
            graph = _empty_filter_graph()
            source = graph.add_buffer(template=None, **_filter_input_options(frame))
            colours = graph.add_buffer(width=16, height=16, format="bgra", time_base=Fraction(1, 1000))
            palette_filter = graph.add("paletteuse", "dither=none:diff_mode=rectangle")
            sink = graph.add("buffersink")
            source.link_to(palette_filter, 0, 0)
            colours.link_to(palette_filter, 0, 1)
            palette_filter.link_to(sink)
            graph.configure()
            palette.pts, palette.time_base = 0, Fraction(1, 1000)
            colours.push(palette)
            colours.push(None)
        source.push(_opaque_frame(frame))
        yield from _completed_frames(sink)
    if graph is not None:
        source.push(None)
        yield from _completed_frames(sink)


def _completed_frames(sink: Any) -> Iterator[Any]:
    """Yield the frames that a filter graph has completed, without waiting for more."""
    while True:
        try:
            yield sink.pull()
        except (av.BlockingIOError, av.EOFError):
            return


def _opaque_frame(frame: Any) -> Any:
    """Return the frame with BGRA pixels, the pixel format that the palette filters need."""
    solid = frame.reformat(format="bgra")
    solid.pts, solid.time_base = frame.pts, frame.time_base
    return solid


def _filter_input_options(frame: Any) -> dict[str, Any]:
    """Return the options of a filter input for frames of this size and time base."""
    return {"width": frame.width, "height": frame.height, "format": "bgra", "time_base": frame.time_base}
