"""Undo history: a list of all actions, including undone ones. A click on an action undoes or redoes up to it.

The dialog is modeless and placed at the side of the window, so that the effect of a click is visible on the map.
"""

import pygame

from ui.dialogs.base import Dialog, Host
from ui.model.history import Done
from ui.widgets.lists import Col, Item, Rows


class HistoryList(Dialog):
    title = "Undo history"
    hint = "click an action to go to it"
    size = (420, 640)
    veils = False
    closes_outside = False
    place = "right"
    command = "history"

    def __init__(self, host: Host) -> None:
        self._shown: tuple[int, Done | None] = (0, None)  # value of _state_key() when the list was filled
        super().__init__(host)

    def build(self) -> None:
        columns = [Col(), Col(width=110, align="right", face="mono", role="dim")]
        self.rows = Rows(self, self.area, columns, self._items(), place=self._place, selected=self._go_to)
        self.add(self.rows)
        self.add_footer(("Close", self.cancel, "main"))
        self._shown = self._state_key()

    @property
    def _place(self) -> int:
        """Return the index of the row of the last action that is not undone; row 0 is the state before all actions."""
        return len(self.host.session.history.done)

    def _state_key(self) -> tuple[int, Done | None]:
        """Return a cache key of the list, which changes whenever the undo history changes."""
        history = self.host.session.history
        return len(history.undone), history.done[-1] if history.done else None

    def _items(self) -> list[Item]:
        history = self.host.session.history
        done = [_item(done) for done in history.done]
        undone = [_item(done, is_dim=True) for done in reversed(history.undone)]
        return [Item(("Before all actions", "")), *done, *undone]

    def _go_to(self, index: int) -> None:
        if index != self._place:
            self.host.session.history.go_to(index)
            self._refresh_list()

    def _refresh_list(self) -> None:
        self._shown = self._state_key()
        self.rows.set(self._items(), self._place, tells=False)

    def update(self, seconds: float = 1 / 60) -> None:
        """Update the list if actions outside the dialog have changed the undo history."""
        super().update(seconds)
        if self._state_key() != self._shown:
            self._refresh_list()

    def key(self, event: pygame.event.Event) -> bool:
        return self.focused is not None and self.rows.key(event)

    def confirm(self) -> None:
        self.cancel()


def _item(done: Done, is_dim: bool = False) -> Item:
    where = f" ({done.branch})" if done.branch else ""
    return Item((f"{done.words}{where}", f"{done.tick:,}"), is_dim=is_dim)
