"""Helpers for tests of videos and pictures: a small run, a short film, and files read back."""

import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

from typing import Any

import av
import numpy as np
import numpy.typing as npt

from files.scenario import Scenario
from sim.grid import Grid
from sim.world_commands import AgentConfig, SetSwitch
from tests.runs import changed, scenario_on
from ui.commands.command_table import COMMAND_TABLE
from ui.film.film_options import FilmOptions, WindowPart
from ui.film.offscreen_renderer import OffscreenRenderer
from ui.film.replay import ReplaySpec, Rerun
from ui.model.appearance import Appearance
from ui.model.session import Session

ROWS = [
    "........................",
    "........................",
    "......@@@@@@@@..........",
    "......@......@..........",
    "......@......@..........",
    "......@......@....TT....",
    "......@......@....TT....",
    ".............@..........",
    "......@@@@@@@@..........",
    "..............SSSWW.....",
    "..............SSSWW.....",
    "........................",
]
SMALL = (320, 240)

Frames = list[npt.NDArray[np.uint32]]


def setup(agents: int = 2, **more: Any) -> Scenario:
    """Two agents in a box with a door that a script closes and opens."""
    grid = Grid.from_text_rows(ROWS, "box")
    configs = tuple(AgentConfig("rtb-wa", f"a{i}", {"weight": 1.0 + i, "restart": "eager"}) for i in range(agents))
    door = {"door": (grid.cell(5, 7), grid.cell(6, 7))}
    script = ((6, SetSwitch("door", True)), (12, SetSwitch("door", False)))
    base = scenario_on(grid, grid.cell(8, 4), grid.cell(20, 9), configs, 3, 1, door, script=script, title="Box")
    return changed(base, **more)


def replay(**more: Any) -> ReplaySpec:
    return ReplaySpec(setup(**more))


def stage_of(
    session: Session | Rerun, size: tuple[int, int] = SMALL, look: Appearance | None = None, **more: Any
) -> OffscreenRenderer:
    part = more.pop("part", WindowPart("panels"))
    drawn = session.run if isinstance(session, Rerun) else session
    return OffscreenRenderer(drawn, size, part, look or Appearance(command_table=COMMAND_TABLE), **more)


def shown(stage: OffscreenRenderer, *arguments: Any) -> npt.NDArray[np.uint32]:
    """What the stage draws, as 0x00RRGGBB."""
    from ui.film.picture_files import copied_pixels

    return copied_pixels(stage.draw_picture(*arguments))


OPTIONS = FilmOptions(SMALL, 25)


def rgb(pixels: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
    """[..., 3] of 0x00RRGGBB."""
    return np.stack([pixels >> shift & 255 for shift in (16, 8, 0)], axis=-1).astype(np.int64)


@dataclass
class Clip:
    """A video read back."""

    pictures: list[npt.NDArray[np.int64]]  # [height, width, 3]
    size: tuple[int, int]
    rate: Fraction
    seconds: float
    times: list[float]
    codec: str
    pixel_format: str
    tags: tuple[int, int, int]  # matrix, primaries, transfer

    @property
    def count(self) -> int:
        return len(self.pictures)


def read(path: Path) -> Clip:
    """Decode a whole file."""
    with av.open(str(path)) as file:
        stream = file.streams.video[0]
        frames = list(file.decode(stream))
        context = stream.codec_context
        is_yuv = frames[0].format.name.startswith("yuv")
        how = {"src_colorspace": "ITU709", "src_color_range": "MPEG"} if is_yuv else {}
        pictures = [frame.to_ndarray(format="rgb24", **how).astype(np.int64) for frame in frames]
        return Clip(
            pictures,
            (stream.width, stream.height),
            Fraction(stream.average_rate),
            float(file.duration) / av.time_base,
            [float(frame.pts * frame.time_base) for frame in frames],
            context.name,
            frames[0].format.name,
            (int(context.colorspace), int(context.color_primaries), int(context.color_trc)),
        )
