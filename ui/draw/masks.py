"""Small shapes as antialiased alpha masks (uint8[height, width], 255 is opaque), with 8 x 8 samples per pixel."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.uint8]
_SAMPLES_PER_PIXEL = 8  # number of sample points per pixel in x and in y, for antialiasing


def _sample_grid(width: int, height: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the x and the y of all sample points of a mask, in pixels relative to the middle of the mask."""
    x = (np.arange(width * _SAMPLES_PER_PIXEL) + 0.5) / _SAMPLES_PER_PIXEL - width / 2
    y = (np.arange(height * _SAMPLES_PER_PIXEL) + 0.5) / _SAMPLES_PER_PIXEL - height / 2
    return x[None, :], y[:, None]


def _mask_from_samples(inside: npt.NDArray[np.bool_]) -> Mask:
    height, width = inside.shape[0] // _SAMPLES_PER_PIXEL, inside.shape[1] // _SAMPLES_PER_PIXEL
    share = inside.reshape(height, _SAMPLES_PER_PIXEL, width, _SAMPLES_PER_PIXEL).mean(axis=(1, 3))
    return np.ascontiguousarray(np.round(share * 255).astype(np.uint8))


@lru_cache(maxsize=256)
def disc_mask(size: int, diameter: float) -> Mask:
    """Return a mask of size x size pixels with a filled circle in its middle."""
    x, y = _sample_grid(size, size)
    return _mask_from_samples(np.hypot(x, y) <= diameter / 2)


@lru_cache(maxsize=256)
def ring_mask(size: int, diameter: float, thickness: float) -> Mask:
    x, y = _sample_grid(size, size)
    r = np.hypot(x, y)
    return _mask_from_samples((r <= diameter / 2) & (r >= diameter / 2 - thickness))


@lru_cache(maxsize=256)
def square_mask(size: int, side: float, thickness: float = 1e9) -> Mask:
    """Return a mask of size x size pixels with a square in its middle, filled unless `thickness` is given."""
    x, y = _sample_grid(size, size)
    r = np.maximum(np.abs(x), np.abs(y))
    return _mask_from_samples((r <= side / 2) & (r >= side / 2 - thickness))


@lru_cache(maxsize=256)
def cross_mask(size: int, side: float, thickness: float) -> Mask:
    """Return a mask of size x size pixels with an X in its middle, which fits into a square of side `side`."""
    x, y = _sample_grid(size, size)
    is_inside = np.maximum(np.abs(x), np.abs(y)) <= side / 2
    return _mask_from_samples(is_inside & ((np.abs(x - y) <= thickness * 0.7) | (np.abs(x + y) <= thickness * 0.7)))


@lru_cache(maxsize=256)
def diamond_mask(size: int, diameter: float) -> Mask:
    x, y = _sample_grid(size, size)
    return _mask_from_samples(np.abs(x) + np.abs(y) <= diameter / 2)


@lru_cache(maxsize=256)
def arrow_head_mask(size: int, length: float, sixteenth: int) -> Mask:
    """Return a mask with a triangle that points to the right, turned clockwise by `sixteenth` / 16 of a full turn."""
    angle = sixteenth * np.pi / 8
    x, y = _sample_grid(size, size)
    along = x * np.cos(angle) + y * np.sin(angle)
    across = np.abs(y * np.cos(angle) - x * np.sin(angle))
    return _mask_from_samples((along <= length / 2) & (across <= 0.62 * (length / 2 - along)) & (along >= -length / 2))


@lru_cache(maxsize=64)
def tree_texture(size: int) -> Mask:
    """Return the texture of trees: two small fir shapes that leave the middle of the cell free."""
    x, y = _sample_grid(size, size)
    x, y = x / size, y / size
    inside = np.zeros(np.broadcast(x, y).shape, np.bool_)
    for at_x, at_y in ((-0.25, -0.2), (0.25, 0.22)):
        down = y - at_y + 0.2  # vertical distance from the tip of the fir, as a fraction of a cell
        inside |= (down >= 0) & (down <= 0.36) & (np.abs(x - at_x) <= 0.42 * down)
    return _mask_from_samples(inside)


@lru_cache(maxsize=64)
def swamp_texture(size: int) -> Mask:
    """Return the texture of swamp: four dots that leave the middle of the cell free."""
    x, y = _sample_grid(size, size)
    inside = np.zeros((size * _SAMPLES_PER_PIXEL, size * _SAMPLES_PER_PIXEL), np.bool_)
    for at_x, at_y in ((-0.27, -0.12), (0.05, -0.3), (0.27, 0.1), (-0.08, 0.3)):
        inside |= np.hypot(x / size - at_x, y / size - at_y) <= 0.075
    return _mask_from_samples(inside)


@lru_cache(maxsize=64)
def water_texture(size: int) -> Mask:
    """Return the texture of water: two wave lines, above and below the middle of the cell."""
    x, y = _sample_grid(size, size)
    x, y = x / size, y / size
    inside = np.zeros((size * _SAMPLES_PER_PIXEL, size * _SAMPLES_PER_PIXEL), np.bool_)
    thickness = max(0.045, 0.6 / size)
    for at_y in (-0.24, 0.24):
        inside |= np.abs(y - at_y - 0.06 * np.sin(4 * np.pi * x)) <= thickness
    return _mask_from_samples(inside)


def empty_mask() -> Mask:
    return np.zeros((0, 0), np.uint8)
