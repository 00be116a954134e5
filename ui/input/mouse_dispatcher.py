"""Mouse input: presses on controls, and editing, panning and zooming of the maps in the panels."""

from contextlib import suppress

import pygame

from ui.commands.app_context import AppContext
from ui.commands.context_menus import context_menu_at
from ui.draw.map_painter import DraggedMarker, ToolPreview
from ui.model.drawing_tools import Point, cells_clipped_to_map
from ui.model.layout import PanelBoxes
from ui.model.map_editor import nearest_start_or_goal
from ui.model.panel_keys import PanelKey
from ui.model.run import Panel
from ui.widgets.canvas import HitRegion
from ui.widgets.key_names import modifiers_with_cmd_as_ctrl

LEFT_BUTTON, MIDDLE_BUTTON, RIGHT_BUTTON = 1, 2, 3
ZOOM_FACTOR_PER_WHEEL_STEP = 1.25
MARKER_HIT_RADIUS_PX = 7  # hit-test radius of start and goal markers, in pixels at a UI scale of 1
CROWD_AGENT_HIT_RADIUS_PX = 6  # hit-test radius of the dot of an agent in a crowd, in pixels at a UI scale of 1

WindowPosition = tuple[int, int]  # x and y in the window, in pixels


class MouseDispatcher:
    """Dispatcher of mouse events, with the press or drag in progress."""

    def __init__(self, window: AppContext) -> None:
        self.window = window
        self.hovered_panel_key: PanelKey | None = None
        self._last_cursor_shape: int | None = None  # cursor shape that was set last; None at first
        # pending press (panel, position in pixels, button), which becomes an edit only if the mouse is dragged
        self._pending_press: tuple[PanelKey, WindowPosition, int] | None = None
        # Panned panel and last pointer position in pixels.
        self._pan_drag: tuple[PanelKey, WindowPosition] | None = None

    def handle_event(self, event: pygame.event.Event) -> None:
        if event.type == pygame.MOUSEBUTTONDOWN:
            self._handle_button_down(event.pos, event.button)
        elif event.type == pygame.MOUSEBUTTONUP:
            self._handle_button_up(event.pos, event.button)
        elif event.type == pygame.MOUSEMOTION:
            self._handle_motion(event.pos)
        elif event.type == pygame.MOUSEWHEEL:
            self._handle_wheel(event.pos if hasattr(event, "pos") else pygame.mouse.get_pos(), event.y)

    def is_editing_panel(self, panel: PanelKey) -> bool:
        """Return whether the current stroke edits this panel; without a stroke, whether a press now would edit it."""
        editing = self.window.map_editor.stroke_panel
        return panel == (self.hovered_panel_key if editing is None else editing)

    def tool_preview(self, panel: Panel) -> ToolPreview:
        """Return what the tool shows in a panel: the dragged start or goal, or the cells that a press would edit."""
        window = self.window
        if (
            window.ui_state.is_hand_tool_active
            or window.dialogs.current_dialog is not None
            or not self.is_editing_panel(panel.key)
        ):
            return ToolPreview()
        editor, grid = window.map_editor, window.session.run.world.grid
        if editor.dragged_marker is not None:
            kind, point = editor.dragged_marker
            inside = cells_clipped_to_map([point], grid.width, grid.height)
            return ToolPreview(
                dragged_marker=DraggedMarker(kind, grid.cell(*inside[0]), editor.cannot_place_marker_at(point))
                if inside
                else None
            )
        return ToolPreview(
            [
                grid.cell(x, y)
                for x, y in cells_clipped_to_map(
                    editor.cells_to_preview(window.ui_state.hovered_cell), grid.width, grid.height
                )
            ]
        )

    # --- cursor shape -----------------------------------------------------------------------------

    def update_cursor_shape(self) -> None:
        """Set the cursor shape for what a click at the pointer would do, in the open dialog or in the window."""
        position, dialog = pygame.mouse.get_pos(), self.window.dialogs.current_dialog
        shape = None if dialog is None else dialog.cursor_shape_at(position)
        if shape is None:
            shape = self._cursor_shape(position)
        if shape != self._last_cursor_shape:
            with suppress(pygame.error):  # the video driver may lack this cursor
                pygame.mouse.set_cursor(shape)
        self._last_cursor_shape = shape

    def _cursor_shape(self, position: WindowPosition) -> int:
        """Return the cursor shape at a position, for the drag in progress, else for the control or the map there."""
        window = self.window
        region, panel = (
            window.canvas.dragged_region or window.canvas.topmost_region_at(position),
            window.map_view.panel_at_position(position),
        )
        dragged_marker = window.map_editor.dragged_marker
        if dragged_marker is not None:
            return (
                pygame.SYSTEM_CURSOR_NO
                if window.map_editor.cannot_place_marker_at(dragged_marker[1])
                else pygame.SYSTEM_CURSOR_SIZEALL
            )
        if self._pan_drag is not None:
            return pygame.SYSTEM_CURSOR_SIZEALL
        if region is not None and region.cursor is not None:
            return region.cursor
        if region is not None and region.on_drag is not None:
            return pygame.SYSTEM_CURSOR_SIZEWE if region.box[2] > region.box[3] else pygame.SYSTEM_CURSOR_SIZENS
        if region is not None and region.on_click is not None:
            return pygame.SYSTEM_CURSOR_HAND
        if panel is None:
            return pygame.SYSTEM_CURSOR_ARROW
        return self._cursor_shape_on_map()

    def _cursor_shape_on_map(self) -> int:
        window = self.window
        grid, world, hover = window.session.run.world.grid, window.session.run.world, window.ui_state.hovered_cell
        if window.ui_state.is_hand_tool_active:
            return pygame.SYSTEM_CURSOR_HAND
        if window.map_editor.select_tool.can_move_piece_from(hover):
            return pygame.SYSTEM_CURSOR_SIZEALL
        is_end = hover is not None and grid.contains_point(*hover) and grid.cell(*hover) in (world.start, world.goal)
        return pygame.SYSTEM_CURSOR_HAND if is_end else pygame.SYSTEM_CURSOR_CROSSHAIR

    # --- buttons ------------------------------------------------------------------------------------

    def _handle_button_down(self, position: WindowPosition, button: int) -> None:
        window = self.window
        panel, region = window.map_view.panel_at_position(position), window.canvas.topmost_region_at(position)
        if window.ui_state.context_menu is not None:
            self._handle_press_while_menu_open(region)
            return
        # a press outside all maps, or on a control, which may be drawn over a map and may be disabled
        if panel is None or (region is not None and (region.on_click is not None or region.command_ids)):
            if button == RIGHT_BUTTON:
                window.ui_state.context_menu = context_menu_at(window, position)
            elif button == LEFT_BUTTON and region is not None:
                self._handle_press_on_control(region, position)
            return
        hit_panel, boxes = panel
        changes_focus = hit_panel.key != window.session.focused_key
        window.session.focus_panel(hit_panel.key)
        if button == MIDDLE_BUTTON or (button == LEFT_BUTTON and window.ui_state.is_hand_tool_active):
            self._pan_drag = (hit_panel.key, position)
        elif button == RIGHT_BUTTON or changes_focus:
            self._pending_press = (hit_panel.key, position, button)
        elif button == LEFT_BUTTON:
            self._handle_press_on_map(hit_panel, boxes, position, button)

    def _handle_press_while_menu_open(self, region: HitRegion | None) -> None:
        """Handle a press while a menu is open: press the item under the pointer; a press outside closes the menu."""
        if region is None or not region.is_menu_part:
            self.window.ui_state.context_menu = None
        elif region.on_click is not None:
            self.window.canvas.pressed_id = region.id

    def _handle_press_on_control(self, region: HitRegion, position: WindowPosition) -> None:
        """Begin a drag, or begin a click, which acts when the button is released over the same control."""
        canvas = self.window.canvas
        canvas.focused_control_id = None
        if region.on_drag:
            canvas.dragged_region = region
            region.on_drag(position)
        elif region.on_click:
            canvas.pressed_id = region.id

    def _handle_press_on_map(self, panel: Panel, boxes: PanelBoxes, position: WindowPosition, button: int) -> None:
        window = self.window
        mods = modifiers_with_cmd_as_ctrl(pygame.key.get_mods())
        point = window.map_view.map_cell_at(panel, boxes, position)
        if mods & pygame.KMOD_ALT:
            window.toggle_pinned_cell(point)
            return
        if button == LEFT_BUTTON and not mods and self._toggle_following_crowd_agent(panel, boxes, position):
            return
        has_ctrl, has_shift = bool(mods & pygame.KMOD_CTRL), bool(mods & pygame.KMOD_SHIFT)
        erases = button == RIGHT_BUTTON or (has_ctrl and not has_shift)  # Ctrl+click serves mice without a right button
        window.map_editor.stroke_panel = panel.key
        if button == LEFT_BUTTON and not mods:
            point = self._start_or_goal_marker_at(panel, boxes, position) or point
        is_rectangle, is_right = has_ctrl and has_shift, button == RIGHT_BUTTON
        window.map_editor.handle_press(point, erases=erases, line=has_shift, rectangle=is_rectangle, is_right=is_right)

    def _start_or_goal_marker_at(self, panel: Panel, boxes: PanelBoxes, position: WindowPosition) -> Point | None:
        """Return the start or goal whose marker is under the pointer, as a point of the map, or None.

        Markers have a minimum size in pixels, so at low zoom they are larger than their cells.
        """
        return self.window.map_editor.start_or_goal_near(
            *self._map_position_at(panel, boxes, position, MARKER_HIT_RADIUS_PX)
        )

    def _map_position_at(
        self, panel: Panel, boxes: PanelBoxes, position: WindowPosition, reach_px: int
    ) -> tuple[float, float, float]:
        """Convert a position in the window, and a hit-test radius in pixels, to map coordinates.

        Returns:
            x and y of the centre of the pixel, and the radius in cells (at least 0.5).
        """
        camera = self.window.map_view.camera_of_panel(panel.key, boxes)
        x, y = camera.px_to_map(position[0] - boxes.map_box[0] + 0.5, position[1] - boxes.map_box[1] + 0.5)
        return x, y, max(0.5, reach_px * self.window.map_view.px_per_unit / camera.zoom)

    def _toggle_following_crowd_agent(self, panel: Panel, boxes: PanelBoxes, position: WindowPosition) -> bool:
        """Follow the crowd's agent under the pointer, or stop following it if it is followed already.

        Returns:
            Whether there was an agent under the pointer; always False in edit mode, in which nothing is done.
        """
        crowd = panel.crowd
        agent = (
            None if crowd is None or self.window.ui_state.is_editing else self._crowd_agent_at(panel, boxes, position)
        )
        if crowd is None or agent is None:
            return False
        self.window.session.run.follow_crowd_agent(panel.key, None if crowd.followed_agent == agent else agent)
        return True

    def _crowd_agent_at(self, panel: Panel, boxes: PanelBoxes, position: WindowPosition) -> int | None:
        """Return the id of the crowd's agent under the pointer; None if there is none.

        None is also returned at the start and the goal of the followed agent, even if another agent is there. Otherwise
        that start and that goal could not be dragged.
        """
        if panel.crowd is None:
            return None
        grid = panel.snapshot.grid
        agent = panel.crowd.nearest_agent(
            grid.width, *self._map_position_at(panel, boxes, position, CROWD_AGENT_HIT_RADIUS_PX)
        )
        followed = self.window.session.run.followed_walker(panel.key)
        if followed is None or agent == followed.id:
            return agent
        start_and_goal = followed.start, panel.world.goal_of_walker(followed)
        return (
            None
            if nearest_start_or_goal(
                grid, start_and_goal, *self._map_position_at(panel, boxes, position, MARKER_HIT_RADIUS_PX)
            )
            else agent
        )

    def _handle_button_up(self, position: WindowPosition, button: int) -> None:
        pending, pressed_id = self._pending_press, self.window.canvas.pressed_id
        self._release_dragged_control()
        region = self.window.canvas.topmost_region_at(position)
        if button == LEFT_BUTTON and region is not None and region.id == pressed_id and region.on_click is not None:
            region.on_click()
        if pending is not None and button == pending[2] == RIGHT_BUTTON:
            self.window.ui_state.context_menu = context_menu_at(self.window, pending[1])
        if button in (LEFT_BUTTON, RIGHT_BUTTON):
            self._end_stroke()

    def end_press_or_drag(self) -> None:
        """End the press, drag or stroke in progress, after a dialog has consumed the button-up event."""
        self._release_dragged_control()
        self._end_stroke()

    def _release_dragged_control(self) -> None:
        self.window.canvas.pressed_id = None
        captured, self.window.canvas.dragged_region = self.window.canvas.dragged_region, None
        if captured is not None and captured.on_drop is not None:
            captured.on_drop()
        self._pan_drag = self._pending_press = None

    def _end_stroke(self) -> None:
        self.window.map_editor.handle_release()
        self.window.map_editor.stroke_panel = None

    # --- motion and wheel ---------------------------------------------------------------------------

    def _handle_motion(self, position: WindowPosition) -> None:
        captured = self.window.canvas.dragged_region
        if captured is not None and captured.on_drag:
            captured.on_drag(position)
        elif self._pan_drag is not None:
            panel, last = self._pan_drag
            self._pan_drag = (panel, position)
            self.window.change_camera_of_panel(
                panel, lambda c: c.panned_by(position[0] - last[0], position[1] - last[1])
            )
        else:
            self._handle_hover(position)

    def _handle_hover(self, position: WindowPosition) -> None:
        """Continue the current stroke, if any, and update the hovered cell and panel.

        During a stroke, the hovered cell is one of the stroke's panel, even if the pointer leaves that panel.
        """
        self._begin_pending_press(position)
        window, editing = self.window, self.window.map_editor.stroke_panel
        panel = (
            window.map_view.panel_at_position(position) if editing is None else window.map_view.panel_with_key(editing)
        )
        window.ui_state.hovered_cell = window.map_view.map_cell_at(*panel, position) if panel else None
        self.hovered_panel_key = panel[0].key if panel else None
        is_looking = panel is not None and editing is None
        hovered_agent = self._crowd_agent_at(*panel, position) if panel and is_looking else None
        window.session.run.show_hovered_crowd_agent(self.hovered_panel_key, hovered_agent)
        window.map_editor.select_tool.move_piece_to(window.ui_state.hovered_cell)
        if window.ui_state.hovered_cell and window.map_editor.is_dragging:
            window.map_editor.handle_move(window.ui_state.hovered_cell)
        if window.ui_state.hovered_cell and not window.session.run.world.grid.contains_point(
            *window.ui_state.hovered_cell
        ):
            window.ui_state.hovered_cell = None

    def _begin_pending_press(self, position: WindowPosition) -> None:
        """Turn the pending press into an edit once the pointer has reached another cell.

        A click that only focuses a panel or opens a menu must not edit the map; a drag edits from its first cell on.
        """
        if (
            self._pending_press is None
            or (panel := self.window.map_view.panel_with_key(self._pending_press[0])) is None
        ):
            return
        if self.window.map_view.map_cell_at(*panel, position) != self.window.map_view.map_cell_at(
            *panel, self._pending_press[1]
        ):
            (_, press_position, button), self._pending_press = self._pending_press, None
            self._handle_press_on_map(*panel, press_position, button)

    def _handle_wheel(self, position: WindowPosition, steps: int) -> None:
        window = self.window
        panel = window.map_view.panel_at_position(position)
        if panel is not None:
            hit_panel, boxes = panel
            x, y = position[0] - boxes.map_box[0], position[1] - boxes.map_box[1]
            window.change_camera_of_panel(hit_panel.key, lambda c: c.zoomed_at(x, y, ZOOM_FACTOR_PER_WHEEL_STEP**steps))
            return
        region = window.canvas.wheel_region_at(position)
        if region and region.on_wheel:
            region.on_wheel(1 if steps > 0 else -1)
