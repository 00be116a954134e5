"""Context of all commands: session, settings, view, dialogs, documents, recordings and the display surface.

Its attribute `view_context` (a `ViewContext`) is the context of all drawing: session, settings, canvas and map view.
"""

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pygame

from sim.params import ConfigError
from sim.prepared_data import DATA_CACHE
from ui.dialogs.dialog_base import Dialog
from ui.dialogs.dialog_host import WindowDialogs
from ui.dialogs.document_opener import DocumentOpener
from ui.dialogs.unsaved_question import RunningExperimentQuestion
from ui.draw.theme import PALETTES
from ui.film.recording_controller import RecordingController
from ui.film.recording_files import FOLDER_SETTING
from ui.maps.map_view import MapView
from ui.model import value_adjustments
from ui.model.camera import Camera
from ui.model.drawing_tools import Point
from ui.model.layer_state import LayerState
from ui.model.layout import MAX_PANELS, Layout
from ui.model.map_editor import MapEditor
from ui.model.panel_cameras import Cameras
from ui.model.panel_keys import PanelKey
from ui.model.player import Player
from ui.model.run import Panel
from ui.model.session import Session
from ui.model.settings import Settings
from ui.model.ui_command import CommandTable
from ui.model.ui_state import UiState
from ui.panels.view_context import ViewContext, window_layout
from ui.panels.view_overrides import ViewOverrides
from ui.widgets.canvas import Canvas


class AppContext:
    """Context passed to all commands: the session with its view, dialogs, documents and recording."""

    def __init__(self, session: Session, settings: Settings, surface: pygame.Surface, commands: CommandTable) -> None:
        self.session, self.settings, self.surface = session, settings, surface
        self._default_command_table = commands
        self.ui_state = UiState()
        self.player = Player(session, settings.speed)
        self.cameras = Cameras()
        self.cameras.is_linked = settings.linked_cameras
        self.map_view = self._create_map_view()
        self.view_context = ViewContext(
            session,
            settings,
            self.ui_state,
            self.player,
            self.map_view,
            run_command=self.run_command,
            command_table=commands.with_assigned_keys(settings.keys),
        )
        self.map_editor = MapEditor(session, self.ui_state)
        self.view_overrides = ViewOverrides(self.view_context, self.cameras)
        self.view_context.is_default_view = lambda: self.view_overrides.is_default_view
        # heat map and camera linking of the settings when they were last applied to the view
        self._applied_view_defaults = settings.heat, settings.linked_cameras
        self.dialogs = WindowDialogs(self.view_context, self.view_overrides, surface.get_size())
        self.document_opener.run_replaced_callbacks.append(self.map_editor.abandon_drag)
        self.recording_controller = RecordingController(self.view_overrides, self.dialogs)
        self.player.on_seek = self.recording_controller.cut_at_next_seek
        self.is_window_open = True
        self.is_terminated = False  # whether SIGTERM closed the window, in which case the journal keeps unsaved work

    def _create_map_view(self) -> MapView:
        settings = self.settings
        return MapView(
            lambda: self.session.run,
            PALETTES[settings.theme],
            settings.ui_scale,
            LayerState(dict(settings.layers), settings.heat),
            self.cameras,
            first=lambda: self.session.panel_index(self.session.focused_key),
            panels_to_show=self._panels_to_draw,
            layout_of_panels=self._layout_for_panels,
        )

    def _layout_for_panels(self, count: int) -> Layout:
        """Return the layout of the window for this number of panels: the rects of all its parts."""
        size, scene = self.surface.get_size(), self.map_view
        is_slow = self.player.is_slow_motion
        return window_layout(
            size, scene.px_per_unit, count, scene.map_size, self.settings, self.ui_state, is_slow_motion=is_slow
        )

    def _panels_to_draw(self) -> tuple[Panel, ...]:
        """Return the panels that are drawn: the maximised panel, the panels of the lesson step, or all that fit."""
        panels = self.session.run.panels
        if self.ui_state.is_maximised:
            return tuple(panel for panel in panels if panel.key == self.session.focused_key)
        lesson_keys = (
            self.ui_state.lesson_player.shown_panel_keys(self.session)
            if self.ui_state.lesson_player is not None
            else None
        )
        if lesson_keys is not None:
            return tuple(panel for panel in panels if panel.key in lesson_keys)[:MAX_PANELS]
        return self.session.panels_that_fit_in_window

    # --- commands, dialogs, messages --------------------------------------------------------------

    @property
    def canvas(self) -> Canvas:
        return self.view_context.canvas

    @property
    def document_opener(self) -> DocumentOpener:
        return self.dialogs.document_opener

    @property
    def command_table(self) -> CommandTable:
        return self.view_context.command_table

    def run_command(self, command_id: str) -> None:
        """Run a command, as its key, its button and its menu items do; if it is disabled, show the reason instead."""
        if reason := self.view_context.disabled_reason_of_command(command_id):
            self.notify_until_next_edit(reason)
        else:
            self.command_table[command_id].action(self)

    def notify_user(self, text: str) -> None:
        """Show a message to the user for a few seconds."""
        self.view_context.show_message(text)

    def notify_until_next_edit(self, text: str) -> None:
        """Show a message about the current run, at most until the user's next edit, undo or redo."""
        self.view_context.show_message_until_edit(text)

    def notify_if_sidebar_does_not_fit(self, part: str = "the sidebar") -> None:
        """Notify the user if the sidebar is switched on but the window is too narrow for it at this text size.

        Args:
            part: Name, in the message, of what the user cannot see.
        """
        if (
            self.settings.shows_sidebar
            and not self.ui_state.are_bars_hidden
            and self.map_view.layout.sidebar_box is None
        ):
            can_reduce = self.map_view.px_per_unit > value_adjustments.UI_SCALES[0]
            advice = "; {key:ui_smaller} reduces it" if can_reduce else ""
            self.notify_user(f"The window is too narrow for {part} at this text size{advice}")

    def open_dialog(self, dialog: Dialog) -> None:
        self.dialogs.open_dialog(dialog)

    def show_error(self, error: ConfigError) -> None:
        self.dialogs.show_error(error)

    def quit_after_asking(self) -> None:
        self.document_opener.ask_about_unsaved_edits(self._close_after_experiment)

    def _close_after_experiment(self) -> None:
        study = self.ui_state.background_experiment
        if study is not None and study.is_running:
            self.open_dialog(RunningExperimentQuestion(self.dialogs, study, self._end_main_loop))
        else:
            self._end_main_loop()

    def _end_main_loop(self) -> None:
        """End the main loop after the current frame."""
        self.is_window_open = False

    def terminate(self) -> None:
        """Close the window without a dialog, for SIGTERM.

        The journal of unsaved work is kept, and the next start offers it.
        """
        self.is_terminated = True
        self._end_main_loop()

    def stop_background_experiment(self) -> None:
        """Cancel the experiment that runs in the background; its finished results are kept."""
        if self.ui_state.background_experiment is not None:
            self.ui_state.background_experiment.cancel()

    # --- appearance -------------------------------------------------------------------------------

    def set_theme(self, name: str) -> None:
        self.settings.theme = name
        self.map_view.palette = PALETTES[name]
        self._rebuild_dialogs()

    def set_ui_scale(self, scale: float) -> None:
        self.settings.ui_scale = self.map_view.px_per_unit = scale
        self._rebuild_dialogs()

    def on_window_resized(self, surface: pygame.Surface) -> None:
        self.surface = surface
        self._rebuild_dialogs()

    def _rebuild_dialogs(self) -> None:
        """Build the open dialog again, for a changed theme, text size or window size."""
        self.dialogs.rebuild_widgets(self.surface.get_size())

    @property
    def _is_full_screen(self) -> bool:
        return bool(self.surface.get_flags() & pygame.FULLSCREEN)

    def toggle_full_screen(self) -> None:
        """Switch between a window and full screen.

        `set_windowed` restores the position and size that the window had before; calling `set_mode` instead would
        leave the window as large as the screen.
        """
        if not self._is_full_screen:
            self.settings.window_size = self.surface.get_size()
        with warnings.catch_warnings():  # from_display_module() is deprecated, but has no replacement
            warnings.simplefilter("ignore", DeprecationWarning)
            os_window = pygame.Window.from_display_module()
        os_window.set_windowed() if self._is_full_screen else os_window.set_fullscreen(desktop=True)
        self.on_window_resized(pygame.display.get_surface() or self.surface)

    def apply_settings(self) -> None:
        """Apply the settings: theme, text size, default view, memory limits and folders."""
        settings = self.settings
        self.map_view.palette, self.map_view.px_per_unit = PALETTES[settings.theme], settings.ui_scale
        defaults = settings.heat, settings.linked_cameras
        # Only defaults that the user has just changed override the view, which may come from the open file.
        if defaults != self._applied_view_defaults:
            self._applied_view_defaults, layers = defaults, self.map_view.layer_state
            self.cameras.is_linked = settings.linked_cameras
            layers.heat_setting = replace(
                layers.heat_setting, colour_map=settings.heat_colours, is_log=settings.heat_is_log
            )
        self.apply_memory_and_folder_settings()
        self._rebuild_dialogs()

    def apply_memory_and_folder_settings(self) -> None:
        """Apply the settings for keyframe memory, prepared data (in memory and on disk) and the recordings folder."""
        settings = self.settings
        self.session.limit_keyframe_memory(settings.keyframe_mb)
        DATA_CACHE.limit(settings.prepared_mb, settings.prepared_disk_mb)
        FOLDER_SETTING.chosen_folder = Path(settings.recordings) if settings.recordings else None

    def assign_keys_to_command(self, command_id: str, keys: str | None) -> None:
        """Assign keys to a command.

        Args:
            command_id: Id of the command.
            keys: Key combinations, separated by spaces; None: the default keys.
        """
        if keys is None:
            self.settings.keys.pop(command_id, None)
        else:
            self.settings.keys[command_id] = keys
        self.view_context.command_table = self._default_command_table.with_assigned_keys(self.settings.keys)

    # --- cameras and the pinned cell --------------------------------------------------------------

    def change_camera_of_panel(self, key: PanelKey, change: Callable[[Camera], Camera]) -> None:
        """Replace the camera of a panel by `change(camera_of_panel)`; do nothing if the panel is not shown."""
        panel_with_boxes = self.map_view.panel_with_key(key)
        if panel_with_boxes is not None:
            boxes = panel_with_boxes[1]
            camera = change(self.map_view.camera_of_panel(key, boxes))
            self.cameras.store_camera_of_panel(
                key, camera, (boxes.map_box[2], boxes.map_box[3]), self.map_view.map_size
            )

    def zoom_focused_panel(self, factor: float) -> None:
        """Zoom the focused panel about its centre."""
        panel_with_boxes = self.map_view.panel_with_key(self.session.focused_key)
        if panel_with_boxes:
            width, height = panel_with_boxes[1].map_box[2:]
            self.change_camera_of_panel(self.session.focused_key, lambda c: c.zoomed_at(width / 2, height / 2, factor))

    def centre_panel_on(self, key: PanelKey, x: float, y: float) -> None:
        """Centre a panel on a point of the map; keep the zoom."""
        panel_with_boxes = self.map_view.panel_with_key(key)
        if panel_with_boxes:
            width, height = panel_with_boxes[1].map_box[2:]
            self.change_camera_of_panel(key, lambda c: c.centred_on_point(x, y, width, height))

    def pan_focused_panel(self, dx_px: int, dy_px: int) -> None:
        """Shift the map of the focused panel by a number of pixels."""
        self.change_camera_of_panel(self.session.focused_key, lambda c: c.panned_by(dx_px, dy_px))

    def toggle_pinned_cell(self, point: Point) -> None:
        """Pin a cell in the inspector, or unpin it if it is pinned already."""
        if self.session.run.world.grid.contains_point(*point):
            self.ui_state.pinned_cell = None if self.ui_state.pinned_cell == point else point
            self.settings.sidebar_tab = "inspect"
            self.settings.shows_sidebar = True

    # --- settings ---------------------------------------------------------------------------------

    def copy_window_state_to_settings(self) -> None:
        """Copy the speed and the window size, which are kept between starts of the program, into the settings."""
        settings = self.settings
        settings.speed = (
            self.view_overrides.users_speed
            if self.ui_state.lesson_player is None
            else self.ui_state.lesson_player.speed_before_lesson
        )
        if not self._is_full_screen:  # in full screen, the settings keep the window size from before
            settings.window_size = self.surface.get_size()
