"""Cameras of all panels: one shared view while the panels are linked, else one view for each panel."""

from dataclasses import dataclass

from ui.model.camera import Camera, fitted
from ui.model.keys import PanelKey

PAN_STEP_PX = 80


@dataclass(frozen=True)
class View:
    """Camera that does not depend on the size of a panel: centre in map coordinates, and zoom in pixels per cell."""

    zoom: float
    x: float
    y: float


class Cameras:
    """Views of all panels: one shared view while the panels are linked, else one view for each panel."""

    def __init__(self) -> None:
        self.is_linked = True
        self.follows = False
        # view of linked panels, and of unlinked panels without a view of their own; None: the whole map
        self._shared_view: View | None = None
        # panel -> its own view, used while the panels are not linked; None: the whole map
        self._own: dict[PanelKey, View | None] = {}

    def forget(self) -> None:
        """Show the whole map in all panels and follow no agent, after another map was opened."""
        self._shared_view = None
        self.follows = False
        self._own.clear()

    def of(self, panel: PanelKey, size: tuple[int, int], map_size: tuple[int, int]) -> Camera:
        """Return the camera of a panel; `size` is the size of its map area in pixels, `map_size` is in cells."""
        view = self._shared_view if self.is_linked else self._own.get(panel, self._shared_view)
        if view is None:
            return fitted(*map_size, *size)
        return Camera(view.zoom).centred_on(view.x, view.y, *size)

    def put(self, panel: PanelKey, camera: Camera, size: tuple[int, int], map_size: tuple[int, int]) -> None:
        """Set the camera of a panel; if the panels are linked, all panels get the same view."""
        camera = camera.kept_near(*map_size, *size)
        x, y = camera.to_map(size[0] / 2, size[1] / 2)
        self._store_view(panel, View(camera.zoom, x, y))

    def fit(self, panel: PanelKey) -> None:
        self._store_view(panel, None)

    def _store_view(self, panel: PanelKey, view: View | None) -> None:
        if self.is_linked:
            self._shared_view = view
        else:
            self._own[panel] = view

    def toggle_link(self, focused: PanelKey) -> None:
        """Link all panels to the view of the focused panel; if they are linked already, unlink them."""
        if self.is_linked:
            self._own.clear()
            self.is_linked = False
        else:
            self._shared_view = self._own.get(focused, self._shared_view)
            self.is_linked = True
