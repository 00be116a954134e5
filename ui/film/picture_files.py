"""Picture files (PNG, SVG) of the window and of single panels, rendered at the requested size instead of scaled up.

A PNG file has text chunks that describe its content: title, tick, digest, agents, and the whole session. The run of a
figure can therefore be opened in the window again, years later.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pygame

from files.disk import create_folder, write_file_atomically
from files.png import png_bytes
from sim.params import ConfigError
from sim.world_view import WalkerView
from ui.draw.marker_shapes import TEXTURES_FROM_PX
from ui.film.film_options import MAX_PICTURE_SIDE, MAX_PIXELS, PICTURE, WINDOW, WindowPart
from ui.film.offscreen_renderer import OffscreenRenderer
from ui.film.recording_files import recording_file_name, recordings_folder, unused_path
from ui.maps.svg_page import panel_svg
from ui.model import opened_files, session_saving
from ui.model.appearance import Appearance
from ui.model.comparison_columns import params_text
from ui.model.panel_keys import PanelKey
from ui.model.run import Run
from ui.model.session import Session
from ui.panels.view_overrides import ViewOverrides

SVG = ".svg"


def copied_pixels(surface: pygame.Surface) -> npt.NDArray[np.uint32]:
    """Return a copy of the pixels of a surface as uint32[height, width], 0x00RRGGBB."""
    pixels: npt.NDArray[np.uint32] = np.ascontiguousarray(pygame.surfarray.pixels2d(surface).T & np.uint32(0xFFFFFF))
    return pixels


# --- drawing --------------------------------------------------------------------------------------


def draw_window_picture(overrides: ViewOverrides, scale: int = 1) -> pygame.Surface:
    """Draw a picture of the window without mouse pointer, messages and dialogs.

    Args:
        overrides: View settings of the window.
        scale: Size of the picture divided by the size of the window.

    Raises:
        ConfigError: The picture would be too large.
    """
    width, height = overrides.view_context.map_view.layout.size
    size = _checked_picture_size((width * scale, height * scale))
    renderer = OffscreenRenderer(
        overrides.view_context.session,
        size,
        WindowPart(WINDOW),
        _view_settings_for_picture(overrides, scale),
        scale=overrides.view_context.map_view.px_per_unit * scale,
    )
    return renderer.draw_picture()


def draw_panel_picture(overrides: ViewOverrides, panel: PanelKey, scale: int = 1) -> pygame.Surface:
    """Draw a picture of one panel without legend and title.

    Args:
        overrides: View settings of the window.
        panel: Key of the panel.
        scale: Size of the picture divided by the size of the panel in the window.

    Raises:
        ConfigError: The picture would be too large.
    """
    index = overrides.view_context.session.panel_index(panel)
    boxes = {
        panel_on_screen.key: boxes for panel_on_screen, boxes in overrides.view_context.map_view.panels_with_boxes()
    }.get(panel)
    width, height = boxes.panel_box[2:] if boxes else overrides.view_context.map_view.layout.size
    size = _checked_picture_size((width * scale, height * scale))
    renderer = OffscreenRenderer(
        overrides.view_context.session,
        size,
        WindowPart("panel", index + 1),
        _view_settings_for_picture(overrides, scale),
        has_legend=False,
        has_title=False,
        scale=overrides.view_context.map_view.px_per_unit * scale,
    )
    return renderer.draw_picture()


def _view_settings_for_picture(overrides: ViewOverrides, scale: int) -> Appearance:
    """Return the view settings of the window; an enlarged picture gets no grid lines if the window shows none."""
    desk = overrides.view_context
    appearance = replace(overrides.current_appearance(), playback_state=desk.player_activity_text())
    zooms = [desk.map_view.camera_of_panel(panel.key, boxes).zoom for panel, boxes in desk.map_view.panels_with_boxes()]
    if scale == 1 or any(zoom >= TEXTURES_FROM_PX for zoom in zooms):
        return appearance
    return replace(appearance, hidden_layers=frozenset({"grid"}))


def _checked_picture_size(size: tuple[int, int]) -> tuple[int, int]:
    """Return the size of a picture unchanged; raise a ConfigError if the picture would be too large."""
    if max(size) > 2 * MAX_PICTURE_SIDE or size[0] * size[1] > 4 * MAX_PIXELS:
        raise ConfigError(f"a picture of {size[0]} x {size[1]} pixels is too large; choose a smaller scale")
    return size


# --- files ----------------------------------------------------------------------------------------


def png_text_chunks(
    run: Run, folder: Path, view: Mapping[str, Any] | None = None, *, agent: int = 0, source: Path | None = None
) -> dict[str, str]:
    """Return the text chunks of a PNG file: a description of the run, and the session to open it again.

    Args:
        run: Run that the picture shows.
        folder: Folder of the picture; paths in the session text are relative to this folder.
        view: View settings for the session.
        agent: Number of the focused agent.
        source: File from which the run was opened.
    """
    texts = {"Title": run.scenario.title, "Tick": str(run.max_shown_tick), "Digest": run.world.compute_digest()}
    if len(run.shown_branch_numbers) > 1:
        texts["Branches"] = ", ".join(f"{b.name} {b.timeline.world.compute_digest()}" for b in run.shown_branches)
    if run.scenario.caption:
        texts["Description"] = run.scenario.caption
    texts["Agents"] = "\n".join(_agent_description(panel.walker_view) for panel in run.panels)
    texts["Map"] = _map_description(run)
    if source is not None:
        texts["Source"] = source.name
    texts[opened_files.PICTURE_TEXT] = session_saving.session_text(run, folder, view, agent)
    return texts


def _agent_description(view: WalkerView) -> str:
    return f"{view.label}: {view.spec.key} budget={view.budget} {params_text(view.spec, view.params)}".rstrip()


def _map_description(run: Run) -> str:
    grid = run.world.grid
    return f"{grid.name}, {grid.width} x {grid.height}, seed {run.scenario.seed}"


def save_window_picture(overrides: ViewOverrides) -> Path:
    """Write a picture of the window to a new file and return its path."""
    _complete_seek(overrides.view_context.session)
    labels = [panel.walker_view.label for panel in overrides.view_context.map_view.shown_panels]
    return _save_png(overrides, draw_window_picture(overrides), labels)


def save_panel_picture(overrides: ViewOverrides, panel: PanelKey, scale: int = 1) -> Path:
    """Write a picture of one panel to a new file and return its path."""
    _complete_seek(overrides.view_context.session)
    _check_panel_exists(overrides, panel)
    return _save_png(overrides, draw_panel_picture(overrides, panel, scale), [_label_of_panel(overrides, panel)])


def _complete_seek(session: Session) -> None:
    """Complete a seek in progress, so that all branches in the picture are at the same tick."""
    if session.run.is_seeking:
        session.seek_to_tick(session.tick)


def _check_panel_exists(overrides: ViewOverrides, key: PanelKey) -> None:
    if all(panel.key != key for panel in overrides.view_context.session.run.panels):
        raise ConfigError("there is no panel to save as a picture; add an agent first ({key:add_agent})")


def _label_of_panel(overrides: ViewOverrides, panel: PanelKey) -> str:
    """Return the label of a panel's agent, for use in a file name; "map" if the panel has no agent."""
    walker = overrides.view_context.session.run.walker_of_panel(panel)
    return walker.label if walker else "map"


def _save_png(overrides: ViewOverrides, picture: pygame.Surface, labels: list[str]) -> Path:
    """Write a picture to a new PNG file named after the agents, and return its path."""
    session = overrides.view_context.session
    agent = session.focused_key.agent
    texts = png_text_chunks(
        session.run, recordings_folder(), overrides.current_view_section(), agent=agent, source=session.path
    )
    return _write_to_recordings_folder(
        png_bytes(copied_pixels(picture), texts), recording_file_name(labels, session.tick, PICTURE)
    )


def save_panel_svg(overrides: ViewOverrides, panel: PanelKey) -> Path:
    """Write a panel to a new SVG file, for use in a paper, and return the path of that file."""
    _complete_seek(overrides.view_context.session)
    _check_panel_exists(overrides, panel)
    text = panel_svg(overrides.view_context.session.run, panel, overrides.current_appearance())
    return _write_to_recordings_folder(
        text.encode("utf-8"),
        recording_file_name([_label_of_panel(overrides, panel)], overrides.view_context.session.tick, SVG),
    )


def _write_to_recordings_folder(data: bytes, name: str) -> Path:
    """Write a file in the recordings folder and return its path; a number is added to a name that is taken."""
    folder = recordings_folder()
    create_folder(folder)
    path = unused_path(folder / name)
    write_file_atomically(path, data)
    return path
