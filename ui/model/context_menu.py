"""Context menu, opened with the right mouse button or the menu key, and the objects in the window that have one.

This module does not use pygame.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ui.model.panel_keys import PanelKey

Action = Callable[[], None]


@dataclass(frozen=True)
class AgentTarget:
    """Agent or crowd of a panel."""

    panel_key: PanelKey


@dataclass(frozen=True)
class SwitchTarget:
    """Switch of the map, such as a bridge."""

    name: str


@dataclass(frozen=True)
class ScriptEntryTarget:
    """Entry of the script of edits."""

    first_log_entry_id: int


@dataclass(frozen=True)
class TimeLineTarget:
    """Time line; its menu concerns the tick under the pointer."""


@dataclass(frozen=True)
class ChartTarget:
    """Chart of the agents."""


MenuTarget = AgentTarget | SwitchTarget | ScriptEntryTarget | TimeLineTarget | ChartTarget
"""Object in the window that has a context menu; a hit region names it."""


@dataclass(frozen=True)
class MenuItem:
    """Item of a context menu."""

    label: str
    action: Action
    key: str = ""  # keyboard shortcut, or "" if it has none
    disabled_reason: str = ""  # why the item is disabled; "" if it is enabled
    is_on: bool = False  # whether the item has a check mark, because what it switches is on


@dataclass
class Menu:
    """Open context menu with the index of its selected item."""

    title: str
    items: Sequence[MenuItem]
    position: tuple[int, int]
    selected_index: int = 0  # index in `items` of the item selected with the keyboard

    def move_selection(self, by: int) -> None:
        self.selected_index = (self.selected_index + by) % len(self.items)
