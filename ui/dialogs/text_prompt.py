"""Asks for one line of text."""

from collections.abc import Callable

from ui.dialogs.base import Dialog, Host, take_top
from ui.widgets.controls import Field


class TextPrompt(Dialog):
    size = (460, 186)

    def __init__(self, host: Host, title: str, text: str, go: Callable[[str], None]) -> None:
        self.title, self.text, self.go = title, text, go
        super().__init__(host)

    def build(self) -> None:
        self.field = Field(self, take_top(self.area, self.px(36), self.px(8)), self.text, self._typed, longest=80)
        self.add(self.field)
        self.field.put_cursor_at_end()
        self.add_footer(("Cancel", self.cancel, ""), ("OK", self.confirm, "main"))
        self.add_note()

    def _typed(self, text: str) -> None:
        self.text = text
        self.complain("")

    def confirm(self) -> None:
        if not self.text.strip():
            self.complain("expected a name, got none")
            self.focus(self.field)
            return
        self.host.close_dialog()
        self.go(self.text.strip())
