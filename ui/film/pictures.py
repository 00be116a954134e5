"""Pictures of the window and of single panels, rendered at the size that is asked for, not scaled up.

A PNG file carries what it shows as texts: title, tick, digest, agents, and the whole session. So a figure can be opened
in the window again, years later.
"""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pygame

from sim.files.disk import write_atomically
from sim.files.png import png_bytes
from sim.params import ConfigError, Param
from ui.draw.marks import TEXTURES_FROM_PX
from ui.draw.svg import panel_svg
from ui.film.options import MOST_PIXELS, MOST_SIDE, PICTURE, WINDOW, Part
from ui.film.stage import Stage
from ui.film.takes import default_name, free_name, recordings_folder
from ui.model import files, saving
from ui.model.columns import params_text
from ui.model.keys import PanelKey
from ui.model.look import Look, look_of
from ui.model.session import Session

if TYPE_CHECKING:
    from ui.app import App

SCALES = (1, 2, 4)
SCALE = Param("scale", int, 1, "pixels of the picture for each pixel of the window", min(SCALES), max(SCALES))
SVG = ".svg"


def surface_pixels(surface: pygame.Surface) -> npt.NDArray[np.uint32]:
    """A copy of what is drawn, as 0x00RRGGBB [height, width]."""
    pixels: npt.NDArray[np.uint32] = np.ascontiguousarray(pygame.surfarray.pixels2d(surface).T & np.uint32(0xFFFFFF))
    return pixels


# --- drawing --------------------------------------------------------------------------------------


def draw_window(app: "App", scale: int = 1) -> pygame.Surface:
    """The window as it is, but for pointer, messages and dialogs, with so many pixels for each of its own."""
    width, height = app.window_size
    size = _checked((width * scale, height * scale))
    stage = Stage(app.session, size, Part(WINDOW), _look(app, scale), scale=app.scale * scale)
    return stage.draw()


def draw_panel(
    app: "App", panel: PanelKey, scale: int = 1, *, size: tuple[int, int] | None = None, has_legend: bool = False
) -> pygame.Surface:
    """One panel, by its key, as large as it is in the window or as `size` says, times the scale."""
    place = app.session.panel_of(panel)
    boxes = {shown.key: boxes for shown, boxes in app.panels()}.get(panel)
    width, height = size or (boxes.whole[2:] if boxes else app.window_size)
    whole = _checked((width * scale, height * scale))
    stage = Stage(
        app.session,
        whole,
        Part("panel", place + 1),
        _look(app, scale),
        has_legend=has_legend,
        has_title=False,
        scale=app.scale * scale,
    )
    return stage.draw()


def _look(app: "App", scale: int) -> Look:
    """The look of the window; more pixels do not bring grid lines that the window has not."""
    look = replace(look_of(app), mode=app.mode_word())
    zooms = [app.camera(panel.key, boxes).zoom for panel, boxes in app.panels()]
    if scale == 1 or any(zoom >= TEXTURES_FROM_PX for zoom in zooms):
        return look
    return replace(look, left_out=frozenset({"grid"}))


def _checked(size: tuple[int, int]) -> tuple[int, int]:
    if max(size) > 2 * MOST_SIDE or size[0] * size[1] > 4 * MOST_PIXELS:
        raise ConfigError(f"a picture of {size[0]} x {size[1]} pixels is too large; take a smaller scale")
    return size


# --- files ----------------------------------------------------------------------------------------


def picture_texts(session: Session, folder: Path, view: Mapping[str, Any] | None = None) -> dict[str, str]:
    """What a picture shows, for the texts of its file, which lies in this folder. The last one opens again."""
    texts = {"Title": session.scenario.title, "Tick": str(session.tick), "Digest": session.world.digest()}
    if len(session.shown) > 1:
        texts["Branches"] = ", ".join(f"{b.name} {b.timeline.world.digest()}" for b in session.shown_branches)
    if session.scenario.caption:
        texts["Description"] = session.scenario.caption
    texts["Agents"] = "\n".join(_agent_text(session, panel.key) for panel in session.panels)
    texts["Map"] = _map_text(session)
    if session.path is not None:
        texts["Source"] = session.path.name
    texts[files.PICTURE_TEXT] = saving.text_of(session, folder, view)
    return texts


def _agent_text(session: Session, panel: PanelKey) -> str:
    walker = session.walker(panel)
    assert walker is not None
    params = params_text(walker.params)
    return f"{walker.label}: {walker.spec.key} budget={walker.budget or session.world.budget} {params}".rstrip()


def _map_text(session: Session) -> str:
    grid = session.world.grid
    return f"{grid.name}, {grid.width} x {grid.height}, seed {session.scenario.seed}"


def save_window(app: "App", path: str | os.PathLike[str] | None = None, scale: int = 1) -> Path:
    """Write a picture of the window; returns where. Nothing is overwritten."""
    return _save(app, draw_window(app, scale), path, [panel.view.label for panel in app.shown_panels])


def save_panel(
    app: "App", panel: PanelKey, path: str | os.PathLike[str] | None = None, scale: int = 1, *, has_legend: bool = False
) -> Path:
    """Write a picture of one panel; returns where."""
    _check_panel(app, panel)
    picture = draw_panel(app, panel, scale, has_legend=has_legend)
    return _save(app, picture, path, [_label(app, panel)])


def _check_panel(app: "App", key: PanelKey) -> None:
    if all(panel.key != key for panel in app.session.panels):
        raise ConfigError("there is no panel to take a picture of: A adds an agent")


def _label(app: "App", panel: PanelKey) -> str:
    walker = app.session.walker(panel)
    return walker.label if walker else "map"


def _save(app: "App", picture: pygame.Surface, path: str | os.PathLike[str] | None, labels: list[str]) -> Path:
    folder = recordings_folder() if path is None else Path(path).parent
    data = png_bytes(surface_pixels(picture), picture_texts(app.session, folder, app.dressing.as_view()))
    return _write(data, path, default_name(labels, app.session.tick, PICTURE))


def save_svg(
    app: "App", panel: PanelKey, path: str | os.PathLike[str] | None = None, *, has_legend: bool = True
) -> Path:
    """Write a panel as a drawing for a paper; returns where."""
    _check_panel(app, panel)
    text = panel_svg(app.session, panel, look_of(app), has_legend=has_legend)
    return _write(text.encode("utf-8"), path, default_name([_label(app, panel)], app.session.tick, SVG))


def _write(data: bytes, path: str | os.PathLike[str] | None, name: str) -> Path:
    """Write a file where it was asked for, or under its usual name in the usual folder."""
    if path is None:
        folder = recordings_folder()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"{folder}: cannot be made: {error.strerror or error}") from None
        path = folder / name
    place = free_name(path)
    write_atomically(place, data)
    return place
