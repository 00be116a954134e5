"""Interfaces of the dialog and the window, reduced to the members that controls of a dialog use, and clipping areas."""

from dataclasses import dataclass
from typing import Any, Protocol

import pygame

from ui.draw.theme import Palette
from ui.model.context_menu import Menu
from ui.model.layout import Box
from ui.widgets.canvas import Canvas


@dataclass
class ClipArea:
    """Rectangle of the window in which a part of a dialog is visible, such as the card or a scrolling form."""

    visible_rect: pygame.Rect  # rectangle in window pixels
    scroll_y: int = 0  # number of pixels by which the content is scrolled up

    @property
    def visible_box(self) -> Box:
        rect = self.visible_rect
        return rect.x, rect.y, rect.width, rect.height

    def rect_in_window(self, rect: pygame.Rect) -> pygame.Rect:
        """Convert a rectangle of the content to window pixels."""
        return rect.move(self.visible_rect.x, self.visible_rect.y - self.scroll_y)


class ElementInterface(Protocol):
    """Interface of an image in a dialog."""

    def draw_element(self, window: pygame.Surface) -> None:
        """Draw the visible part of the image on the window."""


class WidgetHost(Protocol):
    """Interface of the window that contains a dialog, with only the members that the dialog's controls use."""

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
    widget_container: ClipArea  # area of the card
    elements: list[ElementInterface]  # images of the dialog in the order in which they are drawn
    canvas: Canvas  # canvas that paints and measures controls, at the scale of the window

    @property
    def shown_hint(self) -> str:
        """Return the small text to the right of the title, with key names filled in."""

    @property
    def host(self) -> WidgetHost: ...

    def to_px(self, units: float) -> int:
        """Convert a length in design units to pixels."""

    def focus_control(self, control: Any) -> None:
        """Give the keyboard focus to a control of the dialog."""

    def open_menu(self, menu: Menu) -> None:
        """Open a context menu on top of the dialog."""

    def cancel(self) -> None:
        """Close the dialog without applying the user's input."""
