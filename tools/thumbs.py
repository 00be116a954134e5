"""Pictures of the examples for the gallery: `make thumbs` writes them to assets/thumbs/, dark and light.

Each picture shows the map of one agent, at a tick at which the topic of the example is visible.
"""

import os
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

import pygame

from cli.arguments import CommandParser, run_module
from sim.system.program import PROGRAM_FOLDER
from ui.app import App
from ui.draw.thumbnails import THUMBNAIL_FOLDER, THUMBNAIL_SIDE, picture_file_name
from ui.model import opened_files
from ui.model.session import Session
from ui.model.settings import THEMES, Settings

WINDOW = (440, 440)
"""Size of the window in pixels: twice the size of a picture. When scaled down further, thin walls would disappear."""
SHOWN_MOMENTS = {
    "scrubbing": (0, 1236),
    "weights": (0, 895),
    "bridges": (1, 150),
    "rooms": (0, 600),
    "corner": (0, 1500),
    "learning": (0, 4000),
    "subgoals": (0, 2000),
    "stale": (0, 1000),
    "database": (0, 900),
    "depths": (1, 60),
    "loop": (0, 3000),
    "no-path": (0, 340),
    "crowd-bridge": (0, 44),
    "crowd-budget": (0, 60),
}
"""(Index of the panel, tick) of the picture, by example. The default is the first panel after two thirds of the run."""
_MAX_TICKS = 6000  # maximum ticks to run an example when choosing the tick of its picture


def main(argv: Sequence[str]) -> int:
    what = f"Draw the pictures of the gallery into {THUMBNAIL_FOLDER.relative_to(PROGRAM_FOLDER)}."
    CommandParser("thumbs", what, module="tools.thumbs").parse_args(argv)
    pygame.display.init()
    pygame.font.init()
    THUMBNAIL_FOLDER.mkdir(exist_ok=True)
    for path in opened_files.example_files():
        for theme in THEMES:
            _write_thumbnail(path, theme)
    return 0


def _write_thumbnail(path: Path, theme: str) -> None:
    opened = opened_files.open_any_file(path)
    app = App(
        Session(opened.scenario), Settings(theme=theme, window_size=WINDOW, shows_sidebar=False), _create_window()
    )
    app.window.document_opener.apply_opened_file_parts(opened)
    panel, tick = SHOWN_MOMENTS.get(path.stem) or (0, _two_thirds_tick(app))
    session = app.session
    session.seek_to_tick(0)
    session.advance_by_ticks(tick)
    session.focus_panel(session.run.panels[panel].key)
    app.window.ui_state.is_maximised = app.window.ui_state.are_bars_hidden = True
    app.run_frame(0.0)
    app.window.ui_state.message_queue.queued_messages.clear()
    app.run_frame(0.0)
    pygame.image.save(_map_picture(app), THUMBNAIL_FOLDER / picture_file_name(path.stem, theme))
    print(path.stem, theme, tick)


def _create_window() -> pygame.Surface:
    return pygame.display.set_mode(WINDOW)


def _two_thirds_tick(app: App) -> int:
    app.session.advance_by_ticks(_MAX_TICKS)
    return app.session.tick * 2 // 3


def _map_picture(app: App) -> pygame.Surface:
    """Return the map without the rest of the window, scaled to fit into a square of SIDE pixels."""
    panel, boxes = app.window.map_view.panels_with_boxes()[0]
    camera = app.window.map_view.camera_of_panel(panel.key, boxes)
    width, height = app.window.map_view.map_size
    corner, end = camera.map_to_px(0, 0), camera.map_to_px(width, height)
    area = pygame.Rect(boxes.map_box[0] + round(corner[0]), boxes.map_box[1] + round(corner[1]), 0, 0)
    area.size = round(end[0] - corner[0]), round(end[1] - corner[1])
    area = area.clip(pygame.Rect(boxes.map_box))
    scale = THUMBNAIL_SIDE / max(area.size)
    size = max(1, round(area.width * scale)), max(1, round(area.height * scale))
    return pygame.transform.smoothscale(app.window.surface.subsurface(area), size)


if __name__ == "__main__":
    run_module(main)
