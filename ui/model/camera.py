"""Camera of a panel: its zoom, and the part of the map that it shows.

All pixel positions are relative to the panel's map area.
"""

from dataclasses import dataclass, replace

MIN_ZOOM = 0.05  # pixels per cell
MAX_ZOOM = 96.0  # pixels per cell


@dataclass(frozen=True)
class Camera:
    """Zoom and position of a view of the map.

    `zoom` is in pixels per cell; (`left`, `top`) are the map coordinates, in cells, of the upper left pixel.
    """

    zoom: float = 1.0
    left: float = 0.0
    top: float = 0.0

    def map_to_px(self, x: float, y: float) -> tuple[float, float]:
        """Return the pixel of the map coordinates (x, y); the upper left corner of a cell has integer coordinates."""
        return (x - self.left) * self.zoom, (y - self.top) * self.zoom

    def px_to_map(self, px: float, py: float) -> tuple[float, float]:
        return self.left + px / self.zoom, self.top + py / self.zoom

    def cell_at(self, px: float, py: float) -> tuple[int, int]:
        """Return the cell under a pixel, which may be outside the map."""
        x, y = self.px_to_map(px + 0.5, py + 0.5)
        return int(x // 1), int(y // 1)

    def zoomed_at(self, px: float, py: float, factor: float) -> "Camera":
        """Return the camera zoomed by a factor; the point of the map under the given pixel stays there."""
        x, y = self.px_to_map(px, py)
        zoom = _zoom_snapped_to_pixels(min(MAX_ZOOM, max(MIN_ZOOM, self.zoom * factor)))
        return Camera(zoom, x - px / zoom, y - py / zoom)

    def panned_by(self, dx_px: float, dy_px: float) -> "Camera":
        """Return the camera after the map was dragged by (dx_px, dy_px) pixels; the map follows the pointer."""
        return replace(self, left=self.left - dx_px / self.zoom, top=self.top - dy_px / self.zoom)

    def clamped_to_map(self, map_width: int, map_height: int, width_px: int, height_px: int) -> "Camera":
        """Return the camera, moved back if too little of the map would be visible.

        Along each axis, the map has to begin within the first 75 % of the view and to end after the first 25 %.
        """
        view_width, view_height = width_px / self.zoom, height_px / self.zoom
        left = min(max(self.left, -0.75 * view_width), map_width - 0.25 * view_width)
        top = min(max(self.top, -0.75 * view_height), map_height - 0.25 * view_height)
        return replace(self, left=left, top=top)

    def centred_on_point(self, x: float, y: float, width_px: int, height_px: int) -> "Camera":
        return replace(self, left=x - width_px / 2 / self.zoom, top=y - height_px / 2 / self.zoom)

    def centred_on_cell(self, cell: tuple[int, int], map_size: tuple[int, int], size: tuple[int, int]) -> "Camera":
        """Return the camera centred on a cell; along an axis in which the whole map fits, centred on the map."""
        x, y = (
            map_side / 2 if map_side * self.zoom <= view_side else coordinate + 0.5
            for coordinate, map_side, view_side in zip(cell, map_size, size, strict=True)
        )
        return self.centred_on_point(x, y, *size)


def camera_fitting_map(map_width: int, map_height: int, width_px: int, height_px: int) -> Camera:
    """Return the camera that shows the whole map, centred and as large as possible."""
    zoom = min(width_px / map_width, height_px / map_height)
    zoom = _zoom_snapped_to_pixels(min(MAX_ZOOM, max(MIN_ZOOM, zoom)), down=True)
    return Camera(zoom).centred_on_point(map_width / 2, map_height / 2, width_px, height_px)


def _zoom_snapped_to_pixels(zoom: float, down: bool = False) -> float:
    """Return a zoom rounded to whole pixels per cell if it is at least 3, so that all cells have the same size."""
    if zoom < 3.0:
        return zoom
    return float(int(zoom)) if down else float(round(zoom))
