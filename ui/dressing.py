"""What a file asks the window to look like: put on when the file is opened, taken off with the next one.

Layers, heat, camera and the tab of the sidebar. Theme and size of texts stay the user's own, whatever a file says;
`main.py record` follows those too (ui/model/look.py).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sim.params import ConfigError
from ui.draw.layers import LAYER_BY_KEY
from ui.model.layers import LayerState
from ui.model.look import Look, look_from_view, look_of, view_of

if TYPE_CHECKING:
    from ui.app import App


class Dressing:
    def __init__(self, app: "App") -> None:
        self.app = app
        self._own: LayerState | None = None  # what the user had before, while a file has its say

    @property
    def own(self) -> LayerState:
        """The layers and the heat to keep as settings."""
        return self._own or self.app.layers

    def take_off(self) -> None:
        self.app.layers, self._own = self.own, None

    def put_on(self, view: Mapping[str, Any]) -> None:
        """Look as this view says; a view that cannot be understood is told of and left alone."""
        self.take_off()
        try:
            look = look_from_view(view, LAYER_BY_KEY)
        except ConfigError as error:
            self.app.say(f"not all of the file's view could be used: {error.problems[0]}")
            return
        if "layers" in view or "heat" in view:
            self._dress_layers(look, view)
        if "camera" in view or "cameras" in view:
            self._turn_cameras(look)
        if look.tab is not None and "sidebar" in view:
            self.app.settings.sidebar_tab = look.tab

    def _dress_layers(self, look: Look, view: Mapping[str, Any]) -> None:
        self._own = self.app.layers
        visible = dict(look.visible) if "layers" in view else dict(self._own.visible)
        self.app.layers = LayerState(visible, look.heat if "heat" in view else replace(self._own.heat))

    def _turn_cameras(self, look: Look) -> None:
        app, grid = self.app, self.app.session.world.grid
        app.cameras.follows = look.follows
        app.cameras.is_linked = not look.own_parts
        for panel, boxes in app.panels():
            part, size = look.part_for(panel.key), (boxes.map[2], boxes.map[3])
            if part is not None:
                app.cameras.put(panel.key, part.camera(size), size, (grid.width, grid.height))

    def as_view(self) -> dict[str, Any]:
        """How the window looks now, as the `view` of a file."""
        return view_of(look_of(self.app))
