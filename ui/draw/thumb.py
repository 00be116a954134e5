"""Small pictures of maps for galleries and previews."""

import pygame

from sim.grid import Grid
from sim.program import ROOT
from ui.draw.cells import TerrainWords
from ui.draw.map_colours import fill_table
from ui.draw.theme import Palette

FOLDER = ROOT / "assets" / "thumbs"
"""Pictures of the examples, made by `make thumbs`."""

SIDE = 220
"""Pixels of the longer side of one."""


def thumbnail(grid: Grid, start: int, goal: int, size: tuple[int, int], palette: Palette) -> pygame.Surface:
    """The whole map, as large as fits into `size`, with start and goal on it."""
    scale = min(size[0] / grid.width, size[1] / grid.height)
    width, height = max(1, round(grid.width * scale)), max(1, round(grid.height * scale))
    cells = _cells(grid, palette)
    # Sharp cells where they are larger than a pixel; averaged where several share one, so that no wall vanishes.
    picture = (
        pygame.transform.scale(cells, (width, height))
        if scale >= 1
        else pygame.transform.smoothscale(cells, (width, height))
    )
    radius = max(3, round(min(size) / 64))
    casing = radius + max(1, radius // 3)
    for cell, colour in ((start, palette.casing_light), (goal, palette.agent)):
        x, y = grid.xy(cell)
        centre = (_within(x, scale, width, casing), _within(y, scale, height, casing))
        pygame.draw.circle(picture, palette.casing_dark, centre, casing)
        pygame.draw.circle(picture, colour, centre, radius)
    return picture


def example_picture(name: str, size: tuple[int, int], palette: Palette) -> pygame.Surface | None:
    """What happens in an example that ships, as large as it fits; None where there is no picture of it."""
    path = FOLDER / name_of(name, palette.name)
    if not path.is_file():
        return None
    picture = pygame.image.load(path)
    scale = min(size[0] / picture.get_width(), size[1] / picture.get_height())
    shown = max(1, round(picture.get_width() * scale)), max(1, round(picture.get_height() * scale))
    return pygame.transform.smoothscale(picture.convert(24), shown)


def name_of(example: str, theme: str) -> str:
    return f"{example}-{theme}.jpg"


def _within(place: int, scale: float, length: int, margin: int) -> int:
    """The middle of a cell, moved in from the border so that a mark on it is whole."""
    return min(max(round((place + 0.5) * scale), margin), max(margin, length - margin))


def _cells(grid: Grid, palette: Palette) -> pygame.Surface:
    """One pixel for each cell, in the colours of the map."""
    colours = fill_table(palette, 0, None)
    words = TerrainWords(grid).words.reshape(grid.height, grid.width)
    surface = pygame.Surface((grid.width, grid.height), 0, 32)
    pixels = pygame.surfarray.pixels2d(surface)
    pixels[:] = colours[words].T
    del pixels  # it locks the surface while it lives
    return surface
