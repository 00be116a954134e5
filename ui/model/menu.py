"""Context menu, opened by the right button or the menu key.

This module does not use pygame.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Action = Callable[[], None]


@dataclass(frozen=True)
class MenuItem:
    """Item of a context menu; `key` is its shortcut, if it has one."""

    label: str
    action: Action
    key: str = ""


@dataclass
class Menu:
    """Open context menu."""

    title: str
    items: Sequence[MenuItem]
    position: tuple[int, int]
    place: int = 0  # index in `items` of the item selected with the keyboard

    def step(self, by: int) -> None:
        self.place = (self.place + by) % len(self.items)
