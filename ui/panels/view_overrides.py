"""View settings while a file is open: settings specified in the file, and the user's defaults for all others.

View settings are layers, heat, cameras, speed and the tab of the sidebar. Theme and text size in the window are always
the user's; only `main.py record` takes theme and text size from the file as well (ui/model/appearance.py). This module
also returns the current look of the window as plain data, to be saved in a file.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sim.params import ConfigError
from ui.draw.layers import LAYER_BY_KEY
from ui.model import step_clock
from ui.model.appearance import (
    Appearance,
    MapPart,
    appearance_from_view,
    map_part_of_camera,
    view_mapping_of_appearance,
)
from ui.model.layer_state import LayerState
from ui.model.panel_cameras import Cameras
from ui.model.panel_keys import PanelKey
from ui.panels.view_context import ViewContext

T = TypeVar("T")


@dataclass(frozen=True)
class _ViewOverride(Generic[T]):
    """View setting that a file specifies; it replaces the user's setting until another file is opened."""

    users_value: T  # the user's value before the file was opened
    files_value: T  # value that the file specifies

    def current_users_value(self, now: T) -> T:
        """Return the user's value: `now` if the user has changed the file's value, else the value before the file.

        Args:
            now: Current value of the setting.
        """
        return self.users_value if now == self.files_value else now


class ViewOverrides:
    """View settings of the window while a file is open.

    Layers, heat and cameras belong to the file: changes by the user are dropped when another file is opened, and that
    file begins with the user's defaults, which are stored in the settings (`store_view_as_default`). Speed and sidebar
    tab belong to the user; a file may replace them while it is open.
    """

    def __init__(self, desk: ViewContext, cameras: Cameras) -> None:
        self.view_context, self.cameras = desk, cameras
        self._speed_override: _ViewOverride[int] | None = None
        self._tab_override: _ViewOverride[str] | None = None

    # --- the user's defaults ------------------------------------------------------------------------

    @property
    def default_layers(self) -> LayerState:
        """Return the user's default layers and heat map, for files that do not specify a view."""
        return LayerState(dict(self.view_context.settings.layers), self.view_context.settings.heat)

    @property
    def is_default_view(self) -> bool:
        """Return whether layers, heat map and linking of cameras have the user's default values."""
        layers, default = self.view_context.map_view.layer_state, self.default_layers
        same_links = self.cameras.is_linked == self.view_context.settings.linked_cameras
        return same_links and (layers.layer_visibility, layers.heat_setting) == (
            default.layer_visibility,
            default.heat_setting,
        )

    def store_view_as_default(self) -> None:
        """Store the current layers, heat map and linking of cameras as the user's defaults for all files."""
        settings, layers = self.view_context.settings, self.view_context.map_view.layer_state
        settings.layers, settings.heat = dict(layers.layer_visibility), layers.heat_setting
        settings.linked_cameras = self.cameras.is_linked

    @property
    def users_speed(self) -> int:
        """Return the speed to store in the user's settings.

        If the file specifies a speed and the user has not changed that speed, return the speed before the file was
        opened; otherwise return the current speed.
        """
        now = self.view_context.player.speed
        return now if self._speed_override is None else self._speed_override.current_users_value(now)

    # --- opening a file -----------------------------------------------------------------------------

    def restore_user_view(self) -> None:
        """Restore the user's layers, heat map, speed and sidebar tab in place of those that a file has specified.

        Cameras are reset by `reset_cameras`.
        """
        self.view_context.map_view.layer_state = self.default_layers
        self.view_context.player.set_speed(self.users_speed)
        if self._tab_override is not None:
            self.view_context.settings.sidebar_tab = self._tab_override.current_users_value(
                self.view_context.settings.sidebar_tab
            )
        self._speed_override = self._tab_override = None

    def reset_cameras(self) -> None:
        """Show the whole map in every panel, and link the cameras if that is the user's default."""
        self.cameras.reset_views()
        self.cameras.is_linked = self.view_context.settings.linked_cameras

    def apply_file_view(self, view: Mapping[str, Any]) -> None:
        """Restore the user's defaults, then apply the `view` section of a file.

        For an invalid view, show a message and keep the defaults.
        """
        self.restore_user_view()
        try:
            appearance = appearance_from_view(view, LAYER_BY_KEY)
        except ConfigError as error:
            self.view_context.show_message(f"The view settings in the file are not valid: {error.problems[0]}")
            return
        self._apply_layers(appearance, view)
        if "speed" in view:
            self._speed_override = _ViewOverride(
                self.view_context.player.speed, step_clock.nearest_speed(appearance.ticks_per_second)
            )
            self.view_context.player.set_speed(self._speed_override.files_value)
        if "camera" in view or "cameras" in view:
            self._apply_cameras(appearance)
        if appearance.sidebar_tab is not None and "sidebar" in view:
            self._tab_override = _ViewOverride(self.view_context.settings.sidebar_tab, appearance.sidebar_tab)
            self.view_context.settings.sidebar_tab = appearance.sidebar_tab

    def _apply_layers(self, appearance: Appearance, view: Mapping[str, Any]) -> None:
        layers = self.view_context.map_view.layer_state
        layers.layer_visibility = dict(appearance.layer_visibility) if "layers" in view else layers.layer_visibility
        layers.heat_setting = appearance.heat_setting if "heat" in view else layers.heat_setting
        layers.region_level = appearance.region_level

    def _apply_cameras(self, appearance: Appearance) -> None:
        self.cameras.is_following_agents = appearance.is_following_agents
        self.cameras.is_linked = not appearance.map_part_by_panel
        for panel, boxes in self.view_context.map_view.panels_with_boxes():
            part, size = appearance.map_part_for_panel(panel.key), (boxes.map_box[2], boxes.map_box[3])
            if part is not None:
                self.cameras.store_camera_of_panel(
                    panel.key, part.to_camera(size), size, self.view_context.map_view.map_size
                )
            else:
                self.cameras.fit_map_to_panel(panel.key)

    # --- saving the view --------------------------------------------------------------------------

    def current_appearance(self) -> Appearance:
        """Return the current look of the window."""
        desk, session = self.view_context, self.view_context.session
        part, own = self._visible_map_parts()
        return Appearance(
            theme_name=desk.palette.name,
            layer_visibility=dict(desk.map_view.layer_state.layer_visibility),
            heat_setting=desk.map_view.layer_state.heat_setting,
            region_level=desk.map_view.layer_state.region_level,
            shared_map_part=part,
            map_part_by_panel=own,
            is_following_agents=self.cameras.is_following_agents,
            text_scale=desk.map_view.px_per_unit,
            sidebar_tab=desk.settings.sidebar_tab if desk.settings.shows_sidebar else None,
            panel_order=tuple(session.run.panel_order),
            first_compared_index=session.panel_index(session.focused_key),
            only_panel=session.focused_key if desk.ui_state.is_maximised else None,
            ticks_per_second=desk.player.speed,
            pinned_cell=desk.ui_state.pinned_cell,
            command_table=desk.command_table,
        )

    def _visible_map_parts(self) -> tuple[MapPart | None, dict[PanelKey, MapPart | None]]:
        """Return (part of the map that all panels show, panel key -> part of the map that this panel shows).

        If the cameras are linked, the dictionary is empty; otherwise the first value is None.
        """
        scene = self.view_context.map_view
        own: dict[PanelKey, MapPart | None] = {}
        for panel, boxes in scene.panels_with_boxes():
            size = (boxes.map_box[2], boxes.map_box[3])
            own[panel.key] = map_part_of_camera(scene.camera_of_panel(panel.key, boxes), size, scene.map_size)
            if self.cameras.is_linked:
                return own[panel.key], {}
        return None, own

    def current_view_section(self) -> dict[str, Any]:
        """Return the current look of the window as the `view_context` section of a file."""
        return view_mapping_of_appearance(self.current_appearance())
