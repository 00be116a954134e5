"""What a file asks the window to look like: put on when the file is opened, taken off with the next one.

Layers, heat, camera and the tab of the sidebar. Theme and size of texts stay the user's own, whatever a file says;
`main.py record` follows those too (ui/model/look.py). And the other way round: how the window looks now, as plain data.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sim.params import ConfigError
from ui.draw.layers import LAYER_BY_KEY
from ui.model import clock
from ui.model.cameras import Cameras
from ui.model.keys import PanelKey
from ui.model.layers import LayerState
from ui.model.look import Look, MapPart, look_from_view, part_of, view_of
from ui.panels.desk import Desk


class Dressing:
    def __init__(self, desk: Desk, cameras: Cameras) -> None:
        self.desk, self.cameras = desk, cameras
        self._own: LayerState | None = None  # what the user had before, while a file has its say
        self._speeds: tuple[int, int] | None = None  # the user's and that of the file

    @property
    def own(self) -> LayerState:
        """The layers and the heat to keep as settings."""
        return self._own or self.desk.scene.layers

    @property
    def own_speed(self) -> int:
        """The speed to keep as a setting: the user's, unless they have turned that of a file."""
        now = self.desk.player.speed
        return self._speeds[0] if self._speeds is not None and self._speeds[1] == now else now

    def take_off(self) -> None:
        self.desk.scene.layers, self._own = self.own, None
        self.desk.player.set_speed(self.own_speed)
        self._speeds = None

    def put_on(self, view: Mapping[str, Any]) -> None:
        """Look as this view says; a view that cannot be understood is told of and left alone."""
        self.take_off()
        try:
            look = look_from_view(view, LAYER_BY_KEY)
        except ConfigError as error:
            self.desk.say(f"not all of the file's view could be used: {error.problems[0]}")
            return
        if {"layers", "heat", "region_level"} & view.keys():
            self._dress_layers(look, view)
        if "speed" in view:
            self._speeds = self.desk.player.speed, clock.nearest(look.speed)
            self.desk.player.set_speed(self._speeds[1])
        if "camera" in view or "cameras" in view:
            self._turn_cameras(look)
        if look.tab is not None and "sidebar" in view:
            self.desk.settings.sidebar_tab = look.tab

    def _dress_layers(self, look: Look, view: Mapping[str, Any]) -> None:
        own = self._own = self.desk.scene.layers
        visible = dict(look.visible) if "layers" in view else dict(own.visible)
        self.desk.scene.layers = LayerState(visible, look.heat if "heat" in view else replace(own.heat))
        self.desk.scene.layers.region_level = look.region_level if "region_level" in view else own.region_level

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
