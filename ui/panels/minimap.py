"""In a corner of a panel that shows a part of the map only: all of it, small. A click or a drag goes there."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import pygame

from ui.draw.thumb import thumbnail
from ui.model.camera import Camera
from ui.model.keys import PanelKey
from ui.model.layout import Box, PanelBoxes
from ui.model.run import Panel
from ui.panels.desk import Desk
from ui.widgets.canvas import HotSpot

SIDE, PAD = 130, 24
"""Beside it there is room for the arrows that point to what is out of sight."""

LEAST_ROOM = 280
"""Sides of a panel's map; in a smaller one the minimap would cover what is looked at."""

AGAIN_S = 0.25
"""While the map changes, seconds between two pictures of it: on a large map one takes milliseconds."""

Shows = tuple[int, int, int]
"""The branch, and the ends of the way."""

Go = Callable[[PanelKey, float, float], None]
"""Puts a place of the map into the middle of a panel."""


def _nothing() -> None:
    """It is dragged; but a press on it must not reach the map."""


@dataclass
class _Kept:
    picture: pygame.Surface
    look: object  # theme, size, and which world
    version: int  # of the map
    at: float


@dataclass
class Minimap:
    kept: dict[Shows, _Kept] = field(default_factory=dict)
    _has_renewed: bool = False  # one in this frame

    def draw(self, desk: Desk, go: Go) -> None:
        panels = desk.scene.panels()
        self._has_renewed = False
        for panel, boxes in panels:
            camera = desk.scene.camera(panel.key, boxes)
            if is_wanted(desk, boxes, camera):
                self._draw_one(desk, panel, boxes, camera, go)
        for gone in self.kept.keys() - {shows(panel) for panel, _ in panels}:
            del self.kept[gone]

    def _draw_one(self, desk: Desk, panel: Panel, boxes: PanelBoxes, camera: Camera, go: Go) -> None:
        canvas, palette, px = desk.canvas, desk.palette, desk.canvas.px
        picture = self._picture(desk, panel)
        width, height = picture.get_size()
        left, top, room_x, room_y = boxes.map
        box = (left + room_x - width - px(PAD), top + room_y - height - px(PAD), width, height)
        canvas.surface.blit(picture, box[:2])
        canvas.outline((box[0] - 1, box[1] - 1, width + 2, height + 2), palette.edge, 0, 1.5)
        pygame.draw.rect(canvas.surface, palette.casing_dark, _part(desk, box, boxes, camera).inflate(2, 2), px(3))
        pygame.draw.rect(canvas.surface, palette.accent, _part(desk, box, boxes, camera), max(1, px(1.5)))
        if panel.mind is not None:
            x, y = panel.snapshot.grid.xy(panel.mind.position)
            map_width, map_height = desk.scene.map_size
            dot = (box[0] + round((x + 0.5) * width / map_width), box[1] + round((y + 0.5) * height / map_height))
            pygame.draw.circle(canvas.surface, palette.casing_dark, dot, px(4))
            pygame.draw.circle(canvas.surface, palette.agent, dot, px(3))

        def drag(position: tuple[int, int]) -> None:
            x, y = ((at - first) / side for at, first, side in zip(position, box[:2], (width, height), strict=True))
            map_width, map_height = desk.scene.map_size
            go(panel.key, min(max(x, 0.0), 1.0) * map_width, min(max(y, 0.0), 1.0) * map_height)

        tip = desk.worded("All of the map: click or drag to look elsewhere; {key:fit} shows all of it")
        canvas.spot(HotSpot(f"minimap:{panel.key}", box, _nothing, tip, desk.key_of("minimap"), drag=drag))

    def _picture(self, desk: Desk, panel: Panel) -> pygame.Surface:
        grid, side, now = panel.snapshot.grid, desk.canvas.px(SIDE), time.monotonic()
        look, key = (desk.palette.name, side, desk.session.generation), shows(panel)
        kept = self.kept.get(key)
        is_old = kept is not None and kept.version != grid.version and now - kept.at > AGAIN_S
        if kept is None or kept.look != look or (is_old and not self._has_renewed):
            picture = thumbnail(grid, panel.view.start, panel.view.goal, (side, side), desk.palette)
            kept = self.kept[key] = _Kept(picture, look, grid.version, now)
            self._has_renewed = True
        return kept.picture


def shows(panel: Panel) -> Shows:
    """Panels that show the same have one picture."""
    return panel.key.branch, panel.view.start, panel.view.goal


def is_wanted(desk: Desk, boxes: PanelBoxes, camera: Camera) -> bool:
    """Whether a part of the map is out of sight, and there is room; pictures have none."""
    if desk.is_picture or not desk.settings.shows_minimap:
        return False
    width, height = boxes.map[2:]
    map_width, map_height = desk.scene.map_size
    has_room = min(width, height) >= desk.canvas.px(LEAST_ROOM)
    return has_room and (width / camera.zoom < map_width * 0.98 or height / camera.zoom < map_height * 0.98)


def _part(desk: Desk, box: Box, boxes: PanelBoxes, camera: Camera) -> pygame.Rect:
    """What the panel shows, on the minimap."""
    map_width, map_height = desk.scene.map_size
    (x0, y0), (x1, y1) = camera.to_map(0, 0), camera.to_map(boxes.map[2], boxes.map[3])
    sx, sy = box[2] / map_width, box[3] / map_height
    shown = pygame.Rect(box[0] + x0 * sx, box[1] + y0 * sy, max(3, (x1 - x0) * sx), max(3, (y1 - y0) * sy))
    return shown.clip(pygame.Rect(box))
