"""Open map files of all kinds: MovingAI `.map`, pictures (PNG, PGM), ROS `map_server` YAML, Tiled `.tmj`."""

import os
from pathlib import Path

from files.disk import open_regular_file
from files.movingai import SWAMP_PARAM, read_map
from files.picture_map import PICTURE_SUFFIXES, THRESHOLD_PARAM, is_ros_map, read_picture_map, read_ros_map
from files.tiled import TILED_SUFFIXES, read_tiled_map
from sim.grid import Grid
from sim.movement import DEFAULT_MOVEMENT, Movement
from sim.params import ConfigError, Param

MAP_SUFFIX = ".map"
MAP_KINDS = "MovingAI .map, PNG, PGM, ROS map_server .yaml or Tiled .tmj"
ROS_SUFFIXES = (".yaml", ".yml")
OTHER_MAP_SUFFIXES = (*PICTURE_SUFFIXES, *TILED_SUFFIXES)
"""Suffixes of files that are always maps. The only exception are pictures saved by this program, which contain a
session."""

MAP_SETTINGS = (SWAMP_PARAM, THRESHOLD_PARAM)
"""Parameters of open_map() that each apply to only one kind of map file."""


def describe_maps_with_setting(setting: Param, path: str | os.PathLike[str]) -> str:
    """Return a description of the map files to which a setting applies; "" if the setting applies to this file."""
    suffix = Path(path).suffix.lower()
    if setting is THRESHOLD_PARAM:
        return "" if suffix in PICTURE_SUFFIXES else f"a picture ({' or '.join(PICTURE_SUFFIXES)})"
    return f"a MovingAI {MAP_SUFFIX}" if suffix in (*OTHER_MAP_SUFFIXES, *ROS_SUFFIXES) else ""


def open_map(
    path: str | os.PathLike[str],
    swamp: str = "passable",
    movement: Movement = DEFAULT_MOVEMENT,
    threshold: int = int(THRESHOLD_PARAM.default),
) -> Grid:
    """Read the grid of a map file; the suffix determines its kind, and an unknown one is read as `.map`.

    Args:
        path: the file.
        swamp: "passable" or "blocked", for `.map` files.
        movement: movement rule of the grid.
        threshold: lowest shade of a free pixel, for pictures.

    Raises:
        ConfigError: The file is no valid map.
    """
    suffix = Path(path).suffix.lower()
    if suffix in PICTURE_SUFFIXES:
        return read_picture_map(path, threshold, movement)
    if suffix in ROS_SUFFIXES:
        return read_ros_map(path, movement)
    if suffix in TILED_SUFFIXES:
        return read_tiled_map(path, movement)
    return read_map(path, swamp, movement)


def is_map_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is a map, judged by its suffix, or for YAML files by its first bytes."""
    suffix = Path(path).suffix.lower()
    if suffix not in ROS_SUFFIXES:
        return suffix in (MAP_SUFFIX, *OTHER_MAP_SUFFIXES)
    try:
        with open_regular_file(path, suffix) as file:
            return is_ros_map(file.read(4096))
    except ConfigError:
        return False  # the problem is reported when the file is opened as another kind
