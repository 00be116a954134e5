"""Short question with a few answers."""

from collections.abc import Callable, Sequence

import pygame

from ui.dialogs.dialog_base import CARD_MARGIN, FOOTER_HEIGHT, HEADING_HEIGHT, Dialog, DialogHost
from ui.widgets.canvas import Canvas
from ui.widgets.controls import TextLabel

QuestionAnswer = tuple[str, Callable[[], None], str]
"""Label, callback that is called after the question was closed, and kind: "", "main" or "danger"."""


class QuestionDialog(Dialog):
    closes_on_outside_click = False

    def __init__(self, host: DialogHost, title: str, text: str, answers: Sequence[QuestionAnswer]) -> None:
        """Ask a question.

        Args:
            host: Window of the dialog.
            title: Title of the dialog.
            text: Text of the question.
            answers: Buttons from left to right. Enter presses the button of kind "main", which must not discard
                anything. Esc closes the question without an answer.
        """
        text = host.command_table.text_with_key_names(text)
        self.title, self.text, self.answers = title, text, list(answers)
        self.size = (
            520,
            HEADING_HEIGHT + FOOTER_HEIGHT + wrapped_text_height(host, text, 520 - 2 * CARD_MARGIN, 14) + 10,
        )
        super().__init__(host)

    def build_controls(self) -> None:
        self.add(TextLabel(self, self.content_rect, self.text, size=14))
        buttons = self.add_footer_buttons(
            *((label, self._answer_callback(action), kind) for label, action, kind in self.answers)
        )
        main = next(i for i, answer in enumerate(self.answers) if answer[2] == "main")
        self._focused_index = self.controls.index(buttons[main])

    def _answer_callback(self, action: Callable[[], None]) -> Callable[[], None]:
        def give() -> None:
            self.host.close_dialog()
            action()

        return give

    def handle_unused_key(self, event: pygame.event.Event) -> bool:
        """Move the focus between the answers with the left and right keys."""
        step = {pygame.K_LEFT: -1, pygame.K_RIGHT: 1}.get(event.key)
        if step:
            self.focus_next_control(step)
        return step is not None


def wrapped_text_height(host: DialogHost, text: str, width: int, size: float) -> int:
    """Return the height of a text, wrapped at a width, both in design units."""
    pen = Canvas(host.ui_scale)
    lines = pen.wrap_text(text, round(width * host.ui_scale), size)
    return round(len(lines) * pen.to_px(size * 1.45) / host.ui_scale) + 2
