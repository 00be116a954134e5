"""Minimap in a corner of a panel that shows only a part of the map; a click or a drag moves the camera."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import pygame

from ui.draw.thumbnails import draw_thumbnail
from ui.model.camera import Camera
from ui.model.layout import Box, PanelBoxes
from ui.model.panel_keys import PanelKey
from ui.model.run import Panel
from ui.panels.view_context import ViewContext
from ui.widgets.canvas import HitRegion

MAX_MINIMAP_SIDE, MINIMAP_EDGE_DISTANCE = 130, 24
"""Maximum side of a minimap and its distance from the edges, in design units.

The distance leaves room for the arrows at the edges of the map, which point to objects out of view.
"""

MIN_MAP_SIDE_FOR_MINIMAP = 280
"""Minimum width and height of a map with a minimap, in design units; a minimap would hide much of a smaller map."""

MIN_REDRAW_INTERVAL_S = 0.25
"""Minimum seconds between two redraws of a minimap while the map changes; each takes milliseconds on a large map."""

MinimapCacheKey = tuple[int, int, int]
"""Cache key of a minimap: branch, start and goal."""

CentrePanelCallback = Callable[[PanelKey, float, float], None]
"""Callback that centres a panel on a point of the map, given in cells."""


def _ignore_press() -> None:
    """Do nothing. As callback of a press on a minimap, it keeps the press away from the map below."""


@dataclass
class _CachedMinimap:
    """Cached picture of a minimap, with the inputs from which it was drawn."""

    minimap_picture: pygame.Surface
    appearance_key: object  # cache key of the appearance: theme, size in pixels, and generation counter of the session
    map_version: int  # version counter of the map's cells at the time of drawing
    drawn_at_s: float  # time of drawing, in seconds of time.monotonic()


@dataclass
class MinimapDrawer:
    """Minimaps of all panels, with a cache of their pictures."""

    cached_pictures: dict[MinimapCacheKey, _CachedMinimap] = field(default_factory=dict)
    # Whether a minimap was redrawn in this frame; at most one is, and other outdated minimaps wait for later frames
    _has_redrawn_minimap_in_frame: bool = False

    def draw_minimaps(self, desk: ViewContext, centre_on: CentrePanelCallback) -> None:
        """Draw a minimap in every panel that needs one, and drop the cached pictures of all others."""
        panels = desk.map_view.panels_with_boxes()
        self._has_redrawn_minimap_in_frame = False
        for panel, boxes in panels:
            camera = desk.map_view.camera_of_panel(panel.key, boxes)
            if needs_minimap(desk, boxes, camera):
                self._draw_minimap(desk, panel, boxes, camera, centre_on)
        for key in self.cached_pictures.keys() - {minimap_cache_key(panel) for panel, _ in panels}:
            del self.cached_pictures[key]

    def _draw_minimap(
        self, desk: ViewContext, panel: Panel, boxes: PanelBoxes, camera: Camera, centre_on: CentrePanelCallback
    ) -> None:
        canvas, palette, px = desk.canvas, desk.palette, desk.canvas.to_px
        picture = self._cached_minimap_picture(desk, panel)
        width, height = picture.get_size()
        left, top, room_x, room_y = boxes.map_box
        box = (
            left + room_x - width - px(MINIMAP_EDGE_DISTANCE),
            top + room_y - height - px(MINIMAP_EDGE_DISTANCE),
            width,
            height,
        )
        canvas.surface.blit(picture, box[:2])
        canvas.draw_outline((box[0] - 1, box[1] - 1, width + 2, height + 2), palette.edge, 0, 1.5)
        pygame.draw.rect(
            canvas.surface, palette.casing_dark, _visible_part_rect(desk, box, boxes, camera).inflate(2, 2), px(3)
        )
        pygame.draw.rect(canvas.surface, palette.accent, _visible_part_rect(desk, box, boxes, camera), max(1, px(1.5)))
        if panel.drawn_agent is not None:
            x, y = panel.snapshot.grid.xy(panel.drawn_agent.position)
            map_width, map_height = desk.map_view.map_size
            dot = (box[0] + round((x + 0.5) * width / map_width), box[1] + round((y + 0.5) * height / map_height))
            pygame.draw.circle(canvas.surface, palette.casing_dark, dot, px(4))
            pygame.draw.circle(canvas.surface, palette.agent, dot, px(3))

        def drag(position: tuple[int, int]) -> None:
            x, y = ((at - first) / side for at, first, side in zip(position, box[:2], (width, height), strict=True))
            map_width, map_height = desk.map_view.map_size
            centre_on(panel.key, min(max(x, 0.0), 1.0) * map_width, min(max(y, 0.0), 1.0) * map_height)

        tip = desk.text_with_shortcuts("The whole map: click or drag to move the view; {key:fit} shows the whole map")
        canvas.add_hit_region(HitRegion(f"minimap:{panel.key}", box, _ignore_press, tip, ("minimap",), on_drag=drag))

    def _cached_minimap_picture(self, desk: ViewContext, panel: Panel) -> pygame.Surface:
        grid, side, now = panel.snapshot.grid, desk.canvas.to_px(MAX_MINIMAP_SIDE), time.monotonic()
        appearance_key, key = (desk.palette.name, side, desk.session.picture_generation), minimap_cache_key(panel)
        cached = self.cached_pictures.get(key)
        is_old = (
            cached is not None
            and cached.map_version != grid.version
            and now - cached.drawn_at_s > MIN_REDRAW_INTERVAL_S
        )
        if (
            cached is None
            or cached.appearance_key != appearance_key
            or (is_old and not self._has_redrawn_minimap_in_frame)
        ):
            picture = draw_thumbnail(grid, panel.walker_view.start, panel.walker_view.goal, (side, side), desk.palette)
            cached = self.cached_pictures[key] = _CachedMinimap(picture, appearance_key, grid.version, now)
            self._has_redrawn_minimap_in_frame = True
        return cached.minimap_picture


def minimap_cache_key(panel: Panel) -> MinimapCacheKey:
    """Return the cache key of a panel's minimap; panels with the same key share one picture."""
    return panel.key.branch, panel.walker_view.start, panel.walker_view.goal


def needs_minimap(desk: ViewContext, boxes: PanelBoxes, camera: Camera) -> bool:
    """Return whether a panel has a minimap.

    It has one if part of its map is out of view, the map is large enough, and the user has not hidden minimaps. Panels
    in pictures have no minimap.
    """
    if desk.draws_into_picture or not desk.settings.shows_minimap:
        return False
    width, height = boxes.map_box[2:]
    map_width, map_height = desk.map_view.map_size
    has_room = min(width, height) >= desk.canvas.to_px(MIN_MAP_SIDE_FOR_MINIMAP)
    return has_room and (width / camera.zoom < map_width * 0.98 or height / camera.zoom < map_height * 0.98)


def _visible_part_rect(desk: ViewContext, box: Box, boxes: PanelBoxes, camera: Camera) -> pygame.Rect:
    """Return the part of the map that a panel shows, as a rectangle on its minimap in window pixels."""
    map_width, map_height = desk.map_view.map_size
    (x0, y0), (x1, y1) = camera.px_to_map(0, 0), camera.px_to_map(boxes.map_box[2], boxes.map_box[3])
    sx, sy = box[2] / map_width, box[3] / map_height
    rect = pygame.Rect(box[0] + x0 * sx, box[1] + y0 * sy, max(3, (x1 - x0) * sx), max(3, (y1 - y0) * sy))
    return rect.clip(pygame.Rect(box))
