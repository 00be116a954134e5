"""Fonts of the program, and a cache of rendered texts."""

from functools import lru_cache
from typing import Any

import pygame

from sim.params import escape_unprintable
from sim.system.program import PROGRAM_FOLDER
from ui.draw.theme import Colour

FONT_FOLDER = PROGRAM_FOLDER / "assets" / "fonts"
"""Folder with the font files, which are part of the program so that pictures look the same on every system."""

_FONT_FILES = {"sans": "NotoSans-Regular.ttf", "bold": "NotoSans-Bold.ttf", "mono": "FiraCode-Regular.ttf"}
_MAX_CACHED_TEXTS = 4096


class _PrintableFont(pygame.font.Font):
    """Font that escapes unprintable characters, such as undecodable bytes of a file name."""

    def render(self, text: Any, *how: Any, **more: Any) -> pygame.Surface:
        """Return a surface with the text; for a text of zero width, on which pygame fails, an empty surface."""
        if text and not self.size(text)[0]:
            return pygame.Surface((0, self.get_height()), pygame.SRCALPHA)
        return super().render(escape_unprintable(text), *how, **more)

    def size(self, text: Any) -> tuple[int, int]:
        return super().size(escape_unprintable(text))


class FontCache:
    """Cache of fonts and rendered texts. Texts are rendered at their final size, because scaled text looks ragged."""

    def __init__(self) -> None:
        self._text_surfaces: dict[tuple[str, str, int, Colour], pygame.Surface] = {}

    @staticmethod
    @lru_cache(maxsize=64)
    def load_font(face: str, size: int) -> pygame.font.Font:
        return _PrintableFont(str(FONT_FOLDER / _FONT_FILES[face]), size)

    def render_text(self, text: str, face: str, size: int, colour: Colour) -> pygame.Surface:
        key = (text, face, size, colour)
        surface = self._text_surfaces.get(key)
        if surface is None:
            if len(self._text_surfaces) > _MAX_CACHED_TEXTS:
                self._text_surfaces.clear()
            surface = self.load_font(face, size).render(text, True, colour)
            self._text_surfaces[key] = surface
        return surface

    @staticmethod
    @lru_cache(maxsize=4096)
    def width(text: str, face: str, size: int) -> int:
        return FontCache.load_font(face, size).size(text)[0]
