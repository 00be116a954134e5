"""A menu that opens where the right button or the menu key asks for one: lines to choose from. No pygame."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Action = Callable[[], None]


@dataclass(frozen=True)
class MenuItem:
    label: str
    action: Action
    key: str = ""


@dataclass
class Menu:
    title: str
    items: Sequence[MenuItem]
    position: tuple[int, int]
    place: int = 0  # of the item that the keyboard has come to

    def step(self, by: int) -> None:
        self.place = (self.place + by) % len(self.items)
