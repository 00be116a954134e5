"""Prompt for one line of text."""

from collections.abc import Callable

import pygame

from ui.dialogs.dialog_base import Dialog, DialogHost, WindowRectCallback, cut_strip_from_top, no_rect_to_keep_visible
from ui.model.layout import PANEL_GAP
from ui.widgets.text_field import TextField


def _accept_any_text(text: str) -> str | None:
    return None


class TextPrompt(Dialog):
    size = (460, 186)

    def __init__(
        self,
        host: DialogHost,
        title: str,
        text: str,
        on_text_entered: Callable[[str], None],
        problem_of_text: Callable[[str], str | None] = _accept_any_text,
        rect_above: WindowRectCallback = no_rect_to_keep_visible,
    ) -> None:
        """Ask for a text.

        Args:
            host: Window of the dialog.
            title: Title of the dialog.
            text: Initial text.
            on_text_entered: Called with the text after the dialog was closed.
            problem_of_text: Function that returns why a text is not valid, or None if it is.
            rect_above: Callback that returns the rectangle below which the dialog is placed.
        """
        self.title, self.text, self.on_text_entered, self.problem_of_text, self.rect_above_callback = (
            title,
            text,
            on_text_entered,
            problem_of_text,
            rect_above,
        )
        super().__init__(host)

    def _compute_card_rect(self) -> pygame.Rect:
        card, rect_above = super()._compute_card_rect(), self.rect_above_callback()
        if rect_above is not None:
            card.topleft = rect_above[0], rect_above[1] + rect_above[3] + self.to_px(PANEL_GAP)
            card.clamp_ip(pygame.Rect((0, 0), self.host.window_size))
        return card

    def build_controls(self) -> None:
        self.text_field = TextField(
            self,
            cut_strip_from_top(self.content_rect, self.to_px(36), self.to_px(8)),
            self.text,
            self._on_text_typed,
            longest=80,
        )
        self.add(self.text_field)
        self.add_footer_buttons(("Cancel", self.cancel, ""), ("OK", self.on_confirm, "main"))
        self.add_problem_note()

    def _on_text_typed(self, text: str) -> None:
        self.text = text
        self.text_field.set_problem(False)
        self.show_problem("")

    def on_confirm(self) -> None:
        problem = self.problem_of_text(self.text.strip()) if self.text.strip() else "Enter a name"
        if problem is not None:
            self.show_problem(problem)
            self.text_field.set_problem(True)
            self.focus_control(self.text_field)
            return
        self.host.close_dialog()
        self.on_text_entered(self.text.strip())
