"""Maps of any kind: MovingAI `.map`, pictures (PNG, PGM), ROS `map_server` YAML, Tiled `.tmj`."""

import os
from pathlib import Path

from sim.files.disk import open_regular
from sim.files.map import SWAMP, read_map
from sim.files.picture_map import PICTURE_SUFFIXES, THRESHOLD, is_ros_map, read_picture_map, read_ros_map
from sim.files.tiled import TILED_SUFFIXES, read_tiled_map
from sim.grid import Grid
from sim.movement import USUAL, Movement
from sim.params import ConfigError, Param

MAP_SUFFIX = ".map"
MAP_KINDS = "MovingAI .map, PNG, PGM, ROS map_server .yaml or Tiled .tmj"
ROS_SUFFIXES = (".yaml", ".yml")
OTHER_MAP_SUFFIXES = (*PICTURE_SUFFIXES, *TILED_SUFFIXES)
"""Of maps that can be nothing else, but for pictures of ours, which hold a session."""

MAP_SETTINGS = (SWAMP, THRESHOLD)
"""How maps of one kind are read. Those of the other kinds do not have it."""


def maps_for(setting: Param, path: str | os.PathLike[str]) -> str:
    """The maps that a setting goes with, in words; nothing where this file is one of them."""
    suffix = Path(path).suffix.lower()
    if setting is THRESHOLD:
        return "" if suffix in PICTURE_SUFFIXES else f"a picture ({' or '.join(PICTURE_SUFFIXES)})"
    return f"a MovingAI {MAP_SUFFIX}" if suffix in (*OTHER_MAP_SUFFIXES, *ROS_SUFFIXES) else ""


def open_map(
    path: str | os.PathLike[str],
    swamp: str = "passable",
    movement: Movement = USUAL,
    threshold: int = int(THRESHOLD.default),
) -> Grid:
    """The grid in a map file, of the kind that its name says; anything else is taken for a `.map` file."""
    suffix = Path(path).suffix.lower()
    if suffix in PICTURE_SUFFIXES:
        return read_picture_map(path, threshold, movement)
    if suffix in ROS_SUFFIXES:
        return read_ros_map(path, movement)
    if suffix in TILED_SUFFIXES:
        return read_tiled_map(path, movement)
    return read_map(path, swamp, movement)


def is_map(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a map by its name; of a YAML file, by how it begins."""
    suffix = Path(path).suffix.lower()
    if suffix not in ROS_SUFFIXES:
        return suffix in (MAP_SUFFIX, *OTHER_MAP_SUFFIXES)
    try:
        with open_regular(path, suffix) as file:
            return is_ros_map(file.read(4096))
    except ConfigError:
        return False  # whoever reads it next says what is wrong
