"""Read maps from pictures: PNG and PGM with a threshold, and the maps of ROS `map_server`.

A ROS map is a YAML file that names a picture and defines the meaning of its shades:

    image: office.pgm
    resolution: 0.05                  ignored, because each pixel is a cell
    origin: [0.0, 0.0, 0.0]           ignored
    negate: 0
    occupied_thresh: 0.65
    free_thresh: 0.196
    mode: trinary                     or scale, or raw

With p = (255 - shade) / 255, or shade / 255 if `negate` is 1, a pixel is occupied if p > occupied_thresh, free if
p < free_thresh, and otherwise unknown, which is blocked, too. In mode raw, p is shade / 100, and shades above 100 are
unknown.
"""

import os
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from files.disk import read_file
from files.document_fields import DocumentField, DocumentProblems, require_field
from files.file_kinds import ROS_MAP, check_file_kind
from files.png import PNG_SIGNATURE
from files.yaml import MAX_BYTES, read_yaml
from sim.grid import MAX_MAP_SIDE, Grid, check_map_size
from sim.movement import DEFAULT_MOVEMENT, Movement
from sim.params import ConfigError, Param, value_as_in_files

PICTURE_SUFFIXES = (".png", ".pgm")
MAX_PICTURE_BYTES = 1 << 28

THRESHOLD_PARAM = Param("threshold", int, 128, "shade from which a pixel of a picture is free, 1 to 255", 1, 255)

FREE_LETTER, OCCUPIED_LETTER, UNKNOWN_LETTER = ord("."), ord("@"), ord("O")

_ROS_KEYS = ("image", "resolution", "origin", "negate", "occupied_thresh", "free_thresh", "mode", "cost_translation")
_THRESHOLD_PARAMS = {
    "occupied_thresh": Param("occupied_thresh", float, 0.65, "above it a pixel is occupied", 0.0, 1.0),
    "free_thresh": Param("free_thresh", float, 0.196, "below it a pixel is free", 0.0, 1.0),
}
_MODE_PARAM = Param("mode", str, "trinary", "what shades mean", choices=("trinary", "scale", "raw"))
_PGM_HEADER = re.compile(rb"P[25]\s(?:\s|#[^\n]*\n)*(\d{1,9})\s(?:\s|#[^\n]*\n)*(\d{1,9})\s")

Shades = npt.NDArray[np.float32]  # shades of pixels [height, width], from 0 (black) to 255 (white)


def read_picture_map(path: str | os.PathLike[str], threshold: int = 128, movement: Movement = DEFAULT_MOVEMENT) -> Grid:
    """Read the grid of a picture: dark pixels are blocked; light and transparent pixels are free.

    Args:
        path: the picture.
        threshold: lowest shade of a free pixel, 1 to 255.
        movement: movement rule of the grid.

    Raises:
        ConfigError: The file is no valid picture.
    """
    shades, alpha = _read_pixels(path)
    on_white = shades * alpha + 255.0 * (1.0 - alpha)
    letters = np.where(on_white >= THRESHOLD_PARAM.parse_value(threshold), FREE_LETTER, OCCUPIED_LETTER).astype(
        np.uint8
    )
    return Grid(letters, movement, Path(path).name)


def read_ros_map(path: str | os.PathLike[str], movement: Movement = DEFAULT_MOVEMENT) -> Grid:
    """Read the grid of a `map_server` file, whose picture must be in the folder of the file or below.

    Raises:
        ConfigError: The file or its picture is not valid; the error lists all problems of the file.
    """
    problems = DocumentProblems(read_yaml(read_file(path, MAX_BYTES, ".yaml"), str(path)))
    check_file_kind(problems.document, ROS_MAP)
    root = DocumentField(problems, (), problems.document.data)
    fields = root.read_known_keys(_ROS_KEYS, "a map of ROS such as {image: office.pgm, negate: 0}")
    picture = _read_picture_path(root, fields, Path(path))
    occupied, free = (_read_optional_number(fields, name, param) for name, param in _THRESHOLD_PARAMS.items())
    mode = fields["mode"].read_value(_MODE_PARAM) if "mode" in fields else _MODE_PARAM.default
    negate = _read_negate_flag(fields)
    if occupied is not None and free is not None and free > occupied:
        _report_threshold_overlap(fields, occupied, free)
    problems.raise_if_any_problem()
    assert picture is not None and occupied is not None and free is not None and negate is not None
    shades, _ = _read_pixels(picture)
    letters = _terrain_of_ros_shades(shades, str(mode), negate, occupied, free)
    return Grid(letters, movement, Path(path).name)


def _report_threshold_overlap(fields: dict[str, DocumentField], occupied: float, free: float) -> None:
    """Report the problem that some shades would be both free and occupied, at one of the thresholds in the file."""
    if "free_thresh" in fields:
        fields["free_thresh"].report_problem(f"expected at most occupied_thresh, {occupied:g}, got {free:g}")
    else:
        message = f"expected at least free_thresh, {free:g} when not given, got {occupied:g}"
        fields["occupied_thresh"].report_problem(message)


def is_ros_map(data: bytes) -> bool:
    """Return whether a YAML file that begins with these bytes is a ROS map, not a scenario."""
    return re.search(rb"^image\s*:", data, re.MULTILINE) is not None and b"format:" not in data


def _terrain_of_ros_shades(
    shades: Shades, mode: str, negate: bool, occupied: float, free: float
) -> npt.NDArray[np.uint8]:
    if mode == "raw":
        p, is_known = shades / 100.0, shades <= 100.0
    else:
        p, is_known = (shades if negate else 255.0 - shades) / 255.0, np.ones(shades.shape, np.bool_)
    letters = np.full(shades.shape, UNKNOWN_LETTER, np.uint8)
    letters[is_known & (p > occupied)] = OCCUPIED_LETTER
    letters[is_known & (p < free)] = FREE_LETTER
    return letters


def _read_picture_path(root: DocumentField, fields: dict[str, DocumentField], path: Path) -> Path | None:
    """Return the path of the picture that a ROS map names; None after reporting a problem."""
    part = require_field(fields, "image", root, "the name of a picture")
    name = part.read_text(1000) if part else None
    if part is None or name is None:
        return None
    home = Path(os.path.realpath(path.parent))
    picture = Path(os.path.realpath(home / name))
    if not picture.is_relative_to(home):  # refuse such a picture, because the file may come from an untrusted source
        part.report_problem(f"expected a picture in {home}, got {value_as_in_files(name)}, which is outside")
        return None
    return picture


def _read_optional_number(fields: dict[str, DocumentField], name: str, param: Param) -> float | None:
    """Return the number of an optional key, by default `param.default`; None after reporting a problem."""
    value = fields[name].read_value(param) if name in fields else param.default
    return None if value is None else float(value)


def _read_negate_flag(fields: dict[str, DocumentField]) -> bool | None:
    """Return the value of the key `negate`, or False if the key is missing; None after reporting a problem."""
    value = fields["negate"].value if "negate" in fields else 0
    if value in (0, 1, False, True):
        return bool(value)
    fields["negate"].report_expected_value("0 or 1")
    return None


# --- pixels ---------------------------------------------------------------------------------------


def _read_pixels(path: str | os.PathLike[str]) -> tuple[Shades, Shades]:
    """Return the shade of each pixel, which is the mean of red, green and blue, and its opacity from 0 to 1."""
    data = read_file(path, MAX_PICTURE_BYTES, " or ".join(PICTURE_SUFFIXES))
    width, height = _picture_size(data, str(path))
    check_map_size(width, height, str(path))  # check before decompressing, because a huge picture would fill the memory
    colours = _decode_pixels("png" if data.startswith(PNG_SIGNATURE) else "pgm", data, str(path))
    if colours.shape[:2] != (height, width):
        raise ConfigError(f"{path}: expected a picture of {width} x {height} pixels, got another size")
    shades: Shades = colours[..., :3].mean(axis=2, dtype=np.float32)
    return shades, colours[..., 3].astype(np.float32) / 255.0


def _picture_size(data: bytes, name: str) -> tuple[int, int]:
    if data.startswith(PNG_SIGNATURE) and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        return min(width, MAX_MAP_SIDE + 1), min(height, MAX_MAP_SIDE + 1)
    if header := _PGM_HEADER.match(data):
        return int(header[1]), int(header[2])
    raise ConfigError(f"{name}: expected a PNG or PGM picture (P2 or P5), got something else")


def _decode_pixels(codec: str, data: bytes, name: str) -> npt.NDArray[np.uint8]:
    """Return the picture as red, green, blue and alpha, uint8[height, width, 4]."""
    # Loading codecs takes long, so they are imported here. Pillow is no replacement: it clips the shades of pictures
    # of 16 bits, and reads a PGM picture in text form (P2) of 2048 x 2048 pixels in 1.1 s instead of 0.03 s.
    import av

    try:
        context: Any = av.CodecContext.create(codec, "r")
        context.thread_count = 1
        frames = [*context.decode(av.Packet(data)), *context.decode(None)]
        if frames:
            pixels: npt.NDArray[np.uint8] = frames[0].to_ndarray(format="rgba")
            return pixels
    except (av.FFmpegError, MemoryError):
        pass
    raise ConfigError(f"{name}: expected a {codec.upper()} picture, got one that is damaged or cut short")
