"""How the window shows a file: as its view says, else as the user's defaults say. The next file begins with those, too.

Layers, heat, cameras, speed and the tab of the sidebar. Theme and size of texts stay the user's own, whatever a file
says; `main.py record` follows those too (ui/model/look.py). And the other way round: how the window looks now, as plain
data.
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
from ui.panels.desk import Desk

T = TypeVar("T")


@dataclass(frozen=True)
class _Override(Generic[T]):
    """A value of a file in the place of the user's, until another file is opened."""

    own: T
    of_file: T

    def own_value(self, now: T) -> T:
        """Return the user's value: what they have turned that of the file to, or what they had before."""
        return self.own if now == self.of_file else now


class Dressing:
    """How the window shows the file that is open.

    Layers, heat and cameras belong to that file: whatever the user switches ends with it, and the next file begins
    with the user's defaults, which are in the settings (`keep_as_default`). Speed and tab are the user's own; a file
    may ask for others as long as it is open.
    """

    def __init__(self, desk: Desk, cameras: Cameras) -> None:
        self.desk, self.cameras = desk, cameras
        self._speed: _Override[int] | None = None
        self._tab: _Override[str] | None = None

    # --- the user's defaults ------------------------------------------------------------------------

    @property
    def default_layers(self) -> LayerState:
        """Return the layers and the heat that a file without a view of its own begins with."""
        return LayerState(dict(self.desk.settings.layers), self.desk.settings.heat)

    @property
    def is_default(self) -> bool:
        """Whether layers, heat and links of the cameras are as every file begins with."""
        layers, default = self.desk.scene.layers, self.default_layers
        same_links = self.cameras.is_linked == self.desk.settings.linked_cameras
        return same_links and (layers.visible, layers.heat) == (default.visible, default.heat)

    def keep_as_default(self) -> None:
        """Let every file begin with the layers, the heat and the links of the cameras that are shown now."""
        settings, layers = self.desk.settings, self.desk.scene.layers
        settings.layers, settings.heat = dict(layers.visible), layers.heat
        settings.linked_cameras = self.cameras.is_linked

    @property
    def own_speed(self) -> int:
        """Return the speed to keep as a setting: the user's, unless they have turned that of a file."""
        now = self.desk.player.speed
        return now if self._speed is None else self._speed.own_value(now)

    # --- opening a file -----------------------------------------------------------------------------

    def take_off(self) -> None:
        """Go back to the user's defaults. Cameras stay where they are, see `forget_cameras`."""
        self.desk.scene.layers = self.default_layers
        self.desk.player.set_speed(self.own_speed)
        if self._tab is not None:
            self.desk.settings.sidebar_tab = self._tab.own_value(self.desk.settings.sidebar_tab)
        self._speed = self._tab = None

    def forget_cameras(self) -> None:
        """Show the whole map in every panel, linked or not as the user's default says."""
        self.cameras.forget()
        self.cameras.is_linked = self.desk.settings.linked_cameras

    def put_on(self, view: Mapping[str, Any]) -> None:
        """Look as this view says; a view that cannot be understood is told of and left alone."""
        self.take_off()
        try:
            look = look_from_view(view, LAYER_BY_KEY)
        except ConfigError as error:
            self.desk.say(f"not all of the file's view could be used: {error.problems[0]}")
            return
        self._dress_layers(look, view)
        if "speed" in view:
            self._speed = _Override(self.desk.player.speed, clock.nearest(look.speed))
            self.desk.player.set_speed(self._speed.of_file)
        if "camera" in view or "cameras" in view:
            self._turn_cameras(look)
        if look.tab is not None and "sidebar" in view:
            self._tab = _Override(self.desk.settings.sidebar_tab, look.tab)
            self.desk.settings.sidebar_tab = look.tab

    def _dress_layers(self, look: Look, view: Mapping[str, Any]) -> None:
        layers = self.desk.scene.layers
        layers.visible = dict(look.visible) if "layers" in view else layers.visible
        layers.heat = look.heat if "heat" in view else layers.heat
        layers.region_level = look.region_level

    def _turn_cameras(self, look: Look) -> None:
        self.cameras.follows = look.follows
        self.cameras.is_linked = not look.own_parts
        for panel, boxes in self.desk.scene.panels():
            part, size = look.part_for(panel.key), (boxes.map[2], boxes.map[3])
            if part is not None:
                self.cameras.put(panel.key, part.camera(size), size, self.desk.scene.map_size)
            else:
                self.cameras.fit(panel.key)

    # --- the other way ----------------------------------------------------------------------------

    def look(self) -> Look:
        """How the window looks now."""
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
        """What the panels show: one part for all when the cameras are linked, else one each."""
        scene = self.desk.scene
        own: dict[PanelKey, MapPart | None] = {}
        for panel, boxes in scene.panels():
            size = (boxes.map[2], boxes.map[3])
            own[panel.key] = part_of(scene.camera(panel.key, boxes), size, scene.map_size)
            if self.cameras.is_linked:
                return own[panel.key], {}
        return None, own

    def as_view(self) -> dict[str, Any]:
        """How the window looks now, as the `view` of a file."""
        return view_of(self.look())
