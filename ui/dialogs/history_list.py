"""Undo history: a list of all actions, including undone ones. A click on an action undoes or redoes up to it.

The dialog is modeless and placed at the side of the window, so that the effect of a click is visible on the map.
"""

import pygame

from ui.dialogs.dialog_base import Dialog, DialogHost
from ui.model.undo_history import UndoEntry
from ui.widgets.row_list import ListColumn, ListRow, RowList


class HistoryList(Dialog):
    title = "Undo history"
    hint = "click an action to go to it"
    size = (420, 640)
    is_modal = False
    closes_on_outside_click = False
    card_position = "right"
    command_id = "history"

    def __init__(self, host: DialogHost) -> None:
        # Value of _history_state_key() when the list was filled.
        self._shown_state_key: tuple[int, UndoEntry | None] = 0, None
        super().__init__(host)

    def build_controls(self) -> None:
        columns = [ListColumn(), ListColumn(width=110, text_align="right", font_face="mono", colour_name="dim")]
        self.action_list = RowList(
            self,
            self.content_rect,
            columns,
            self._action_rows(),
            index=self._current_row_index,
            selected=self._on_selected,
        )
        self.add(self.action_list)
        self.add_footer_buttons(("Close", self.cancel, "main"))
        self._shown_state_key = self._history_state_key()

    @property
    def _current_row_index(self) -> int:
        """Return the index of the row of the last action that is not undone; row 0 is the state before all actions."""
        return len(self.host.session.undo_history.done)

    def _history_state_key(self) -> tuple[int, UndoEntry | None]:
        """Return a cache key of the list, which changes whenever the undo history changes."""
        history = self.host.session.undo_history
        return len(history.undone_entries), history.done[-1] if history.done else None

    def _action_rows(self) -> list[ListRow]:
        history = self.host.session.undo_history
        done = [_action_row(done) for done in history.done]
        undone = [_action_row(done, is_dim=True) for done in reversed(history.undone_entries)]
        return [ListRow(("Before all actions", "")), *done, *undone]

    def _on_selected(self, index: int) -> None:
        if index != self._current_row_index:
            self.host.session.undo_history.go_to_history_entry(index)
            self._refresh_action_list()

    def _refresh_action_list(self) -> None:
        self._shown_state_key = self._history_state_key()
        self.action_list.set_rows(self._action_rows(), self._current_row_index, notifies=False)

    def update_dialog(self, seconds: float = 1 / 60) -> None:
        """Update the list if actions outside the dialog have changed the undo history."""
        super().update_dialog(seconds)
        if self._history_state_key() != self._shown_state_key:
            self._refresh_action_list()

    def handle_unused_key(self, event: pygame.event.Event) -> bool:
        return self.focused_control is not None and self.action_list.handle_key(event)

    def on_confirm(self) -> None:
        self.cancel()


def _action_row(done: UndoEntry, is_dim: bool = False) -> ListRow:
    branch_text = f" ({done.branch_name})" if done.branch_name else ""
    return ListRow((f"{done.description}{branch_text}", f"{done.tick:,}"), is_dim=is_dim)
