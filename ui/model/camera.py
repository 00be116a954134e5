"""What part of the map a panel shows. Plain arithmetic, in pixels relative to the panel's map area."""

from dataclasses import dataclass, replace

MIN_ZOOM = 0.05
MAX_ZOOM = 96.0


@dataclass(frozen=True)
class Camera:
    """`zoom` is pixels per cell; (`left`, `top`) is the map position, in cells, of the upper left pixel."""

    zoom: float = 1.0
    left: float = 0.0
    top: float = 0.0

    def to_px(self, x: float, y: float) -> tuple[float, float]:
        """Where the map position (x, y) appears; a cell's upper left corner has whole coordinates."""
        return (x - self.left) * self.zoom, (y - self.top) * self.zoom

    def to_map(self, px: float, py: float) -> tuple[float, float]:
        return self.left + px / self.zoom, self.top + py / self.zoom

    def cell_at(self, px: float, py: float) -> tuple[int, int]:
        """The cell under a pixel; it may lie outside the map."""
        x, y = self.to_map(px + 0.5, py + 0.5)
        return int(x // 1), int(y // 1)

    def zoomed_at(self, px: float, py: float, factor: float) -> "Camera":
        """Zoom so that the map position under the pixel stays under it."""
        x, y = self.to_map(px, py)
        zoom = _snapped(min(MAX_ZOOM, max(MIN_ZOOM, self.zoom * factor)))
        return Camera(zoom, x - px / zoom, y - py / zoom)

    def panned(self, dx_px: float, dy_px: float) -> "Camera":
        """Move the map with the hand: content follows the pointer."""
        return replace(self, left=self.left - dx_px / self.zoom, top=self.top - dy_px / self.zoom)

    def kept_near(self, map_width: int, map_height: int, width_px: int, height_px: int) -> "Camera":
        """Not so far away that the map is lost: its centre line stays in reach of the view."""
        wide, high = width_px / self.zoom, height_px / self.zoom
        left = min(max(self.left, -0.75 * wide), map_width - 0.25 * wide)
        top = min(max(self.top, -0.75 * high), map_height - 0.25 * high)
        return replace(self, left=left, top=top)

    def centred_on(self, x: float, y: float, width_px: int, height_px: int) -> "Camera":
        return replace(self, left=x - width_px / 2 / self.zoom, top=y - height_px / 2 / self.zoom)

    def following(self, cell: tuple[int, int], map_size: tuple[int, int], size: tuple[int, int]) -> "Camera":
        """A cell in the middle; but along an axis in which all of the map can be seen, the map."""
        x, y = (
            whole / 2 if whole * self.zoom <= room else place + 0.5
            for place, whole, room in zip(cell, map_size, size, strict=True)
        )
        return self.centred_on(x, y, *size)


def fitted(map_width: int, map_height: int, width_px: int, height_px: int) -> Camera:
    """The whole map, as large as it goes, in the middle."""
    zoom = min(width_px / map_width, height_px / map_height)
    zoom = _snapped(min(MAX_ZOOM, max(MIN_ZOOM, zoom)), down=True)
    return Camera(zoom).centred_on(map_width / 2, map_height / 2, width_px, height_px)


def _snapped(zoom: float, down: bool = False) -> float:
    """Whole pixels per cell where cells are large enough to count, so that all cells look alike."""
    if zoom < 3.0:
        return zoom
    return float(int(zoom)) if down else float(round(zoom))
