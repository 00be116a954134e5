"""Which part of the map each panel shows: one view for all when linked, else one each."""

from dataclasses import dataclass

from ui.model.camera import Camera, fitted
from ui.model.keys import PanelKey

PAN_STEP_PX = 80


@dataclass(frozen=True)
class View:
    """A camera without a panel size: what is in the middle, and how large. Survives any resize."""

    zoom: float
    x: float
    y: float


class Cameras:
    def __init__(self) -> None:
        self.is_linked = True
        self.follows = False
        self._shared: View | None = None  # None: the whole map
        self._own: dict[PanelKey, View | None] = {}

    def forget(self) -> None:
        """Show the whole of another map, without following an agent."""
        self._shared = None
        self.follows = False
        self._own.clear()

    def of(self, panel: PanelKey, size: tuple[int, int], map_size: tuple[int, int]) -> Camera:
        """The camera of a panel whose map area has this size."""
        view = self._shared if self.is_linked else self._own.get(panel, self._shared)
        if view is None:
            return fitted(*map_size, *size)
        return Camera(view.zoom).centred_on(view.x, view.y, *size)

    def put(self, panel: PanelKey, camera: Camera, size: tuple[int, int], map_size: tuple[int, int]) -> None:
        """Make this the camera of a panel, and of all the others when linked."""
        camera = camera.kept_near(*map_size, *size)
        x, y = camera.to_map(size[0] / 2, size[1] / 2)
        self._store(panel, View(camera.zoom, x, y))

    def fit(self, panel: PanelKey) -> None:
        self._store(panel, None)

    def _store(self, panel: PanelKey, view: View | None) -> None:
        if self.is_linked:
            self._shared = view
        else:
            self._own[panel] = view

    def toggle_link(self, focused: PanelKey) -> None:
        """Link all to the focused panel's view, or let each keep what it shows now."""
        if self.is_linked:
            self._own.clear()
            self.is_linked = False
        else:
            self._shared = self._own.get(focused, self._shared)
            self.is_linked = True
