"""The three fonts, and rendered texts."""

from functools import lru_cache
from typing import Any

import pygame

from sim.params import printable
from sim.program import ROOT
from ui.draw.theme import Colour

FONT_FOLDER = ROOT / "assets" / "fonts"
"""Our own copies: what is drawn depends on their shapes."""

_FACES = {"sans": "NotoSans-Regular.ttf", "bold": "NotoSans-Bold.ttf", "mono": "FiraCode-Regular.ttf"}
_CACHED_TEXTS = 4096


class _Font(pygame.font.Font):
    """A font that spells out what cannot be drawn, such as a file name that is no text."""

    def render(self, text: Any, *how: Any, **more: Any) -> pygame.Surface:
        """Return a picture of a text; one of no width where the text has none, which pygame refuses to draw."""
        if text and not self.size(text)[0]:
            return pygame.Surface((0, self.get_height()), pygame.SRCALPHA)
        return super().render(printable(text), *how, **more)

    def size(self, text: Any) -> tuple[int, int]:
        return super().size(printable(text))


class Fonts:
    """Fonts and rendered texts, at final size: scaling text surfaces looks ragged."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, str, int, Colour], pygame.Surface] = {}

    @staticmethod
    @lru_cache(maxsize=64)
    def font(face: str, size: int) -> pygame.font.Font:
        return _Font(str(FONT_FOLDER / _FACES[face]), size)

    def render(self, text: str, face: str, size: int, colour: Colour) -> pygame.Surface:
        key = (text, face, size, colour)
        surface = self._texts.get(key)
        if surface is None:
            if len(self._texts) > _CACHED_TEXTS:
                self._texts.clear()
            surface = self.font(face, size).render(text, True, colour)
            self._texts[key] = surface
        return surface

    @staticmethod
    @lru_cache(maxsize=4096)
    def width(text: str, face: str, size: int) -> int:
        return Fonts.font(face, size).size(text)[0]
