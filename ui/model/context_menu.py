"""Context menu, opened with the right mouse button or the menu key.

This module does not use pygame.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Action = Callable[[], None]


@dataclass(frozen=True)
class MenuItem:
    """Item of a context menu; `key` is its keyboard shortcut, or "" if it has none."""

    label: str
    action: Action
    key: str = ""


@dataclass
class Menu:
    """Open context menu with the index of its selected item."""

    title: str
    items: Sequence[MenuItem]
    position: tuple[int, int]
    selected_index: int = 0  # index in `items` of the item selected with the keyboard

    def move_selection(self, by: int) -> None:
        self.selected_index = (self.selected_index + by) % len(self.items)
