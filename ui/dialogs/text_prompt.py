"""Prompt for one line of text."""

from collections.abc import Callable

import pygame

from ui.dialogs.base import Dialog, Host, Where, nowhere, take_top
from ui.model.layout import GAP
from ui.widgets.controls import Field


def _accept_any_text(text: str) -> str | None:
    return None


class TextPrompt(Dialog):
    size = (460, 186)

    def __init__(
        self,
        host: Host,
        title: str,
        text: str,
        go: Callable[[str], None],
        wrong: Callable[[str], str | None] = _accept_any_text,
        near: Where = nowhere,
    ) -> None:
        """Ask for a text.

        Args:
            host: Window of the dialog.
            title: Title of the dialog.
            text: Initial text.
            go: Called with the text after the dialog was closed.
            wrong: Function that returns why a text is not valid, or None if it is.
            near: Callback that returns the rectangle below which the dialog is placed.
        """
        self.title, self.text, self.go, self.wrong, self.near = title, text, go, wrong, near
        super().__init__(host)

    def _card_rect(self) -> pygame.Rect:
        card, about = super()._card_rect(), self.near()
        if about is not None:
            card.topleft = about[0], about[1] + about[3] + self.px(GAP)
            card.clamp_ip(pygame.Rect((0, 0), self.host.window_size))
        return card

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
        problem = self.wrong(self.text.strip()) if self.text.strip() else "Enter a name"
        if problem is not None:
            self.complain(problem)
            self.focus(self.field)
            return
        self.host.close_dialog()
        self.go(self.text.strip())
