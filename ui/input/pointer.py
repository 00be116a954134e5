"""The mouse: over a control of the canvas, or over the map of a panel, where it edits, pans and zooms."""

from typing import TYPE_CHECKING

import pygame

from ui.model.keys import PanelKey
from ui.model.layout import PanelBoxes
from ui.model.session import Panel
from ui.model.tools import Point
from ui.widgets.canvas import HotSpot
from ui.widgets.key_names import usual

if TYPE_CHECKING:
    from ui.app import App

LEFT, MIDDLE, RIGHT = 1, 2, 3
ZOOM_STEP = 1.25

Position = tuple[int, int]


class Pointer:
    def __init__(self, app: "App") -> None:
        self.app = app
        self.hover: Point | None = None  # cell under the pointer
        self.hover_panel: PanelKey | None = None
        self.editing_panel: PanelKey | None = None  # panel in which a stroke is going on
        self._panning: tuple[PanelKey, Position] | None = None  # panel, and where the pointer was

    def handle(self, event: pygame.event.Event) -> None:
        if event.type == pygame.MOUSEBUTTONDOWN:
            self._button_down(event.pos, event.button)
        elif event.type == pygame.MOUSEBUTTONUP:
            self._button_up(event.button)
        elif event.type == pygame.MOUSEMOTION:
            self._motion(event.pos)
        elif event.type == pygame.MOUSEWHEEL:
            self._wheel(event.pos if hasattr(event, "pos") else pygame.mouse.get_pos(), event.y)

    def edits_in(self, panel: PanelKey) -> bool:
        """Whether this is the panel in which the mouse edits now, or would."""
        return panel == (self.hover_panel if self.editing_panel is None else self.editing_panel)

    # --- buttons ------------------------------------------------------------------------------------

    def _button_down(self, position: Position, button: int) -> None:
        app = self.app
        panel = app.panel_at(position)
        if panel is None:
            spot = app.canvas.spot_at(position)
            if button == LEFT and spot is not None:
                self._press_control(spot, position)
            return
        shown, boxes = panel
        app.session.focus(shown.key)
        if button == MIDDLE or (button == LEFT and app.has_hand):
            self._panning = (shown.key, position)
        elif button in (LEFT, RIGHT):
            self._press_map(shown, boxes, position, button)

    def _press_control(self, spot: HotSpot, position: Position) -> None:
        canvas = self.app.canvas
        canvas.focus_id = None
        if spot.drag:
            canvas.held = spot
            spot.drag(position)
        elif spot.action:
            spot.action()

    def _press_map(self, shown: Panel, boxes: PanelBoxes, position: Position, button: int) -> None:
        app = self.app
        mods = usual(pygame.key.get_mods())
        point = app.point_at(shown, boxes, position)
        if mods & pygame.KMOD_ALT:
            app.pin(point)
            return
        has_ctrl, has_shift = bool(mods & pygame.KMOD_CTRL), bool(mods & pygame.KMOD_SHIFT)
        erases = button == RIGHT or (has_ctrl and not has_shift)  # Ctrl+click, for those without a right button
        self.editing_panel = shown.key
        app.editor.press(point, erases=erases, line=has_shift, rectangle=has_ctrl and has_shift)

    def _button_up(self, button: int) -> None:
        self.app.canvas.held = None
        self._panning = None
        if button in (LEFT, RIGHT):
            self.app.editor.release()
            self.editing_panel = None

    # --- motion and wheel ---------------------------------------------------------------------------

    def _motion(self, position: Position) -> None:
        held = self.app.canvas.held
        if held is not None and held.drag:
            held.drag(position)
        elif self._panning is not None:
            panel, last = self._panning
            self._panning = (panel, position)
            self.app.move_camera(panel, lambda c: c.panned(position[0] - last[0], position[1] - last[1]))
        else:
            self._move_over(position)

    def _move_over(self, position: Position) -> None:
        """Go on with a stroke, which may leave its panel and come back; and see what is under the pointer."""
        app = self.app
        panel = app.panel_at(position) if self.editing_panel is None else app.panel_of(self.editing_panel)
        self.hover = app.point_at(*panel, position) if panel else None
        self.hover_panel = panel[0].key if panel else None
        if self.hover and app.editor.drag:
            app.editor.move(self.hover)
        if self.hover and not app.session.world.grid.contains(*self.hover):
            self.hover = None

    def _wheel(self, position: Position, steps: int) -> None:
        app = self.app
        panel = app.panel_at(position)
        if panel is not None:
            shown, boxes = panel
            x, y = position[0] - boxes.map[0], position[1] - boxes.map[1]
            app.move_camera(shown.key, lambda c: c.zoomed_at(x, y, ZOOM_STEP**steps))
            return
        spot = app.canvas.wheel_spot_at(position)
        if spot and spot.wheel:
            spot.wheel(1 if steps > 0 else -1)
