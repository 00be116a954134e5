"""View settings while a file is open: settings specified in the file, and the user's defaults for all others.

View settings are layers, heat, cameras, speed and the tab of the sidebar. Theme and text size in the window are always
the user's; only `main.py record` takes theme and text size from the file as well (ui/model/look.py). This module also
returns the current look of the window as plain data, to be saved in a file.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sim.params import ConfigError
from ui.draw.layers import LAYER_BY_KEY
from ui.model import clock
from ui.model.cameras import Cameras
from ui.model.keys import PanelKey
from ui.model.layers import LayerState
from ui.model.look import Look, MapPart, look_from_view, part_of, view_of
from ui.panels.desk import ViewContext

T = TypeVar("T")


@dataclass(frozen=True)
class _Override(Generic[T]):
    """View setting that a file specifies; it replaces the user's setting until another file is opened."""

    own: T  # the user's value before the file was opened
    of_file: T  # value that the file specifies

    def own_value(self, now: T) -> T:
        """Return the user's value: `now` if the user has changed the file's value, else the value before the file.

        Args:
            now: Current value of the setting.
        """
        return self.own if now == self.of_file else now


class ViewOverrides:
    """View settings of the window while a file is open.

    Layers, heat and cameras belong to the file: changes by the user are dropped when another file is opened, and that
    file begins with the user's defaults, which are stored in the settings (`keep_as_default`). Speed and sidebar tab
    belong to the user; a file may replace them while it is open.
    """

    def __init__(self, desk: ViewContext, cameras: Cameras) -> None:
        self.desk, self.cameras = desk, cameras
        self._speed_override: _Override[int] | None = None
        self._tab: _Override[str] | None = None

    # --- the user's defaults ------------------------------------------------------------------------

    @property
    def default_layers(self) -> LayerState:
        """Return the user's default layers and heat map, for files that do not specify a view."""
        return LayerState(dict(self.desk.settings.layers), self.desk.settings.heat)

    @property
    def is_default(self) -> bool:
        """Return whether layers, heat map and linking of cameras have the user's default values."""
        layers, default = self.desk.scene.layers, self.default_layers
        same_links = self.cameras.is_linked == self.desk.settings.linked_cameras
        return same_links and (layers.visible, layers.heat) == (default.visible, default.heat)

    def keep_as_default(self) -> None:
        """Store the current layers, heat map and linking of cameras as the user's defaults for all files."""
        settings, layers = self.desk.settings, self.desk.scene.layers
        settings.layers, settings.heat = dict(layers.visible), layers.heat
        settings.linked_cameras = self.cameras.is_linked

    @property
    def own_speed(self) -> int:
        """Return the speed to store in the user's settings.

        If the file specifies a speed and the user has not changed that speed, return the speed before the file was
        opened; otherwise return the current speed.
        """
        now = self.desk.player.speed
        return now if self._speed_override is None else self._speed_override.own_value(now)

    # --- opening a file -----------------------------------------------------------------------------

    def take_off(self) -> None:
        """Restore the user's layers, heat map, speed and sidebar tab in place of those that a file has specified.

        Cameras are reset by `forget_cameras`.
        """
        self.desk.scene.layers = self.default_layers
        self.desk.player.set_speed(self.own_speed)
        if self._tab is not None:
            self.desk.settings.sidebar_tab = self._tab.own_value(self.desk.settings.sidebar_tab)
        self._speed_override = self._tab = None

    def forget_cameras(self) -> None:
        """Show the whole map in every panel, and link the cameras if that is the user's default."""
        self.cameras.forget()
        self.cameras.is_linked = self.desk.settings.linked_cameras

    def put_on(self, view: Mapping[str, Any]) -> None:
        """Restore the user's defaults, then apply the `view` section of a file.

        For an invalid view, show a message and keep the defaults.
        """
        self.take_off()
        try:
            look = look_from_view(view, LAYER_BY_KEY)
        except ConfigError as error:
            self.desk.say(f"The view settings in the file are not valid: {error.problems[0]}")
            return
        self._apply_layers(look, view)
        if "speed" in view:
            self._speed_override = _Override(self.desk.player.speed, clock.nearest(look.speed))
            self.desk.player.set_speed(self._speed_override.of_file)
        if "camera" in view or "cameras" in view:
            self._apply_cameras(look)
        if look.tab is not None and "sidebar" in view:
            self._tab = _Override(self.desk.settings.sidebar_tab, look.tab)
            self.desk.settings.sidebar_tab = look.tab

    def _apply_layers(self, look: Look, view: Mapping[str, Any]) -> None:
        layers = self.desk.scene.layers
        layers.visible = dict(look.visible) if "layers" in view else layers.visible
        layers.heat = look.heat if "heat" in view else layers.heat
        layers.region_level = look.region_level

    def _apply_cameras(self, look: Look) -> None:
        self.cameras.follows = look.follows
        self.cameras.is_linked = not look.own_parts
        for panel, boxes in self.desk.scene.panels():
            part, size = look.part_for(panel.key), (boxes.map[2], boxes.map[3])
            if part is not None:
                self.cameras.put(panel.key, part.camera(size), size, self.desk.scene.map_size)
            else:
                self.cameras.fit(panel.key)

    # --- saving the view --------------------------------------------------------------------------

    def look(self) -> Look:
        """Return the current look of the window."""
        desk, session = self.desk, self.desk.session
        part, own = self._parts()
        return Look(
            theme=desk.palette.name,
            visible=dict(desk.scene.layers.visible),
            heat=desk.scene.layers.heat,
            region_level=desk.scene.layers.region_level,
            part=part,
            own_parts=own,
            follows=self.cameras.follows,
            scale=desk.scene.scale,
            tab=desk.settings.sidebar_tab if desk.settings.shows_sidebar else None,
            order=tuple(session.run.order),
            front=session.panel_of(session.focused_key),
            only=session.focused_key if desk.state.is_maximised else None,
            speed=desk.player.speed,
            pinned=desk.state.pinned,
            keys=desk.keys,
        )

    def _parts(self) -> tuple[MapPart | None, dict[PanelKey, MapPart | None]]:
        """Return (part of the map that all panels show, panel key -> part of the map that this panel shows).

        If the cameras are linked, the dictionary is empty; otherwise the first value is None.
        """
        scene = self.desk.scene
        own: dict[PanelKey, MapPart | None] = {}
        for panel, boxes in scene.panels():
            size = (boxes.map[2], boxes.map[3])
            own[panel.key] = part_of(scene.camera(panel.key, boxes), size, scene.map_size)
            if self.cameras.is_linked:
                return own[panel.key], {}
        return None, own

    def as_view(self) -> dict[str, Any]:
        """Return the current look of the window as the `view` section of a file."""
        return view_of(self.look())
