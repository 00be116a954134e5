"""Interfaces of the dialog and the window, reduced to the members that controls of a dialog use."""

from typing import Any, Protocol

import pygame
import pygame_gui
from pygame_gui.core import UIContainer, UIElement

from ui.draw.theme import Palette
from ui.widgets.canvas import Canvas


class WidgetHost(Protocol):
    """Interface of the window that contains a dialog, with only the members that the dialog's controls use."""

    @property
    def gui_manager(self) -> pygame_gui.UIManager: ...
    @property
    def palette(self) -> Palette: ...
    @property
    def ui_scale(self) -> float: ...
    @property
    def window_size(self) -> tuple[int, int]: ...


class WidgetDialog(Protocol):
    """Interface of a dialog, with only the members that the dialog's controls use."""

    title: str
    mouse_position: tuple[int, int]  # mouse position in window pixels
    card_rect: pygame.Rect  # rectangle of the dialog in window pixels
    canvas: Canvas  # canvas that paints and measures controls, at the scale of the window

    @property
    def shown_hint(self) -> str:
        """Return the small text to the right of the title, with key names filled in."""

    @property
    def host(self) -> WidgetHost: ...
    @property
    def widget_container(self) -> UIContainer: ...
    @property
    def card_background(self) -> UIElement: ...

    def to_px(self, units: float) -> int:
        """Convert a length in design units to pixels."""

    def focus_control(self, control: Any) -> None:
        """Give the keyboard focus to a control of the dialog."""

    def cancel(self) -> None:
        """Close the dialog without applying the user's input."""
