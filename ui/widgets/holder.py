"""What a control asks of the dialog that holds it."""

from typing import Any, Protocol

import pygame
import pygame_gui
from pygame_gui.core import UIContainer, UIElement

from ui.draw.theme import Palette
from ui.widgets.canvas import Canvas


class Screen(Protocol):
    """The window that a dialog is in, as far as controls go."""

    @property
    def gui(self) -> pygame_gui.UIManager: ...
    @property
    def palette(self) -> Palette: ...
    @property
    def scale(self) -> float: ...
    @property
    def window_size(self) -> tuple[int, int]: ...


class Holder(Protocol):
    title: str
    mouse: tuple[int, int]
    card: pygame.Rect
    pen: Canvas  # what controls are painted and measured with, at the scale of the window

    @property
    def shown_hint(self) -> str:
        """Return the small text beside the title, with the keys that it mentions."""

    @property
    def host(self) -> Screen: ...
    @property
    def container(self) -> UIContainer: ...
    @property
    def panel(self) -> UIElement: ...

    def px(self, units: float) -> int:
        """Pixels of a length in design units."""

    def focus(self, control: Any) -> None:
        """Give the keyboard to one of its controls."""

    def cancel(self) -> None:
        """Close without doing anything."""
