"""Cameras of all panels: one shared view while the panels are linked, else one view for each panel."""

from dataclasses import dataclass

from ui.model.camera import Camera, camera_fitting_map
from ui.model.panel_keys import PanelKey

PAN_STEP_PX = 80


@dataclass(frozen=True)
class PanelView:
    """Camera that does not depend on the size of a panel: centre in map coordinates, and zoom in pixels per cell."""

    zoom: float
    x: float
    y: float


class Cameras:
    """Views of all panels: one shared view while the panels are linked, else one view for each panel."""

    def __init__(self) -> None:
        self.is_linked = True
        self.is_following_agents = False
        # view of linked panels, and of unlinked panels without a view of their own; None: the whole map
        self._shared_view: PanelView | None = None
        # panel -> its own view, used while the panels are not linked; None: the whole map
        self._own_views: dict[PanelKey, PanelView | None] = {}

    def reset_views(self) -> None:
        """Show the whole map in all panels and follow no agent, after another map was opened."""
        self._shared_view = None
        self.is_following_agents = False
        self._own_views.clear()

    def camera_of_panel(self, panel: PanelKey, size: tuple[int, int], map_size: tuple[int, int]) -> Camera:
        """Return the camera of a panel; `size` is the size of its map area in pixels, `map_size` is in cells."""
        view = self._shared_view if self.is_linked else self._own_views.get(panel, self._shared_view)
        if view is None:
            return camera_fitting_map(*map_size, *size)
        return Camera(view.zoom).centred_on_point(view.x, view.y, *size)

    def store_camera_of_panel(
        self, panel: PanelKey, camera: Camera, size: tuple[int, int], map_size: tuple[int, int]
    ) -> None:
        """Set the camera of a panel; if the panels are linked, all panels get the same view."""
        camera = camera.clamped_to_map(*map_size, *size)
        x, y = camera.px_to_map(size[0] / 2, size[1] / 2)
        self._store_panel_view(panel, PanelView(camera.zoom, x, y))

    def fit_map_to_panel(self, panel: PanelKey) -> None:
        self._store_panel_view(panel, None)

    def _store_panel_view(self, panel: PanelKey, view: PanelView | None) -> None:
        if self.is_linked:
            self._shared_view = view
        else:
            self._own_views[panel] = view

    def toggle_camera_link(self, focused: PanelKey) -> None:
        """Link all panels to the view of the focused panel; if they are linked already, unlink them."""
        if self.is_linked:
            self._own_views.clear()
            self.is_linked = False
        else:
            self._shared_view = self._own_views.get(focused, self._shared_view)
            self.is_linked = True
