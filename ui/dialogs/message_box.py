"""Message box: one message, or a list of problems such as all errors of a file."""

from collections.abc import Sequence

import pygame

from ui.dialogs.dialog_base import CARD_MARGIN, FOOTER_HEIGHT, HEADING_HEIGHT, Dialog, DialogHost
from ui.widgets.canvas import Canvas
from ui.widgets.controls import PaintedElement, wrap_text_and_break_words
from ui.widgets.scrolling import ScrollBar, ScrollingControl

# Sizes in design units: font, line height, gap between paragraphs; width and maximum height of the box; text indent
_FONT_SIZE, _LINE_HEIGHT, _PARAGRAPH_GAP = 14, 21, 7
_BOX_WIDTH, _MAX_BOX_HEIGHT = 700, 560
_TEXT_INDENT = 16


class MessageBox(Dialog):
    def __init__(self, host: DialogHost, title: str, problems: Sequence[str] | str) -> None:
        self.title = title
        self.problems = [problems] if isinstance(problems, str) else list(problems)
        self.hint = f"{len(self.problems)} problems" if len(self.problems) > 1 else ""
        inside = _ScrollingParagraphs.height_of_texts(host, self.problems, _BOX_WIDTH - 2 * CARD_MARGIN)
        self.size = (_BOX_WIDTH, min(_MAX_BOX_HEIGHT, HEADING_HEIGHT + FOOTER_HEIGHT + inside + 14))
        super().__init__(host)

    def build_controls(self) -> None:
        self.content_rect.height -= self.to_px(8)
        self.scrolling_text = _ScrollingParagraphs(self, self.content_rect, self.problems)
        self.add(self.scrolling_text)
        self.add_footer_buttons(("Close", self.cancel, "main"))

    def on_confirm(self) -> None:
        self.host.close_dialog()

    def handle_unused_key(self, event: pygame.event.Event) -> bool:
        return self.scrolling_text.handle_key(event)


class _ScrollingParagraphs(ScrollingControl):
    """Scrolling text of wrapped paragraphs; if there are several, each begins with a bullet."""

    shows_focus_ring = False

    def __init__(self, dialog: Dialog, rect: pygame.Rect, texts: Sequence[str]) -> None:
        super().__init__(dialog)
        self.wrapped_lines = _wrapped_lines(
            dialog.host.ui_scale, texts, rect.width - dialog.to_px(ScrollBar.BAR_WIDTH + 6)
        )
        content_height = len(self.wrapped_lines) * dialog.to_px(_LINE_HEIGHT) + dialog.to_px(_PARAGRAPH_GAP) * sum(
            first for _, first in self.wrapped_lines
        )
        self.scroll_bar.set_viewport_and_content_heights(rect.height, content_height)
        self.can_focus = self.scroll_bar.is_scrolling_needed
        self.has_bullets = len(texts) > 1
        self.element = PaintedElement(dialog, rect, self._paint_paragraphs)
        self.element.repaint()

    @staticmethod
    def height_of_texts(host: DialogHost, texts: Sequence[str], width: int) -> int:
        """Return the height of the texts, wrapped at a width, both in design units."""
        lines = _wrapped_lines(host.ui_scale, texts, round((width - ScrollBar.BAR_WIDTH - 6) * host.ui_scale))
        return len(lines) * (_LINE_HEIGHT + 1) + _PARAGRAPH_GAP * len(texts)

    @property
    def line_height(self) -> int:
        return self.dialog.to_px(_LINE_HEIGHT)

    def _paint_paragraphs(self, pen: Canvas) -> None:
        width, height = self.element.surface.get_size()
        y = -round(self.scroll_bar.position)
        for text, is_first in self.wrapped_lines:
            y += pen.to_px(_PARAGRAPH_GAP) if is_first else 0
            if -pen.to_px(_LINE_HEIGHT) < y < height:
                if is_first and self.has_bullets:
                    pen.fill_box((pen.to_px(2), y + pen.to_px(8), pen.to_px(5), pen.to_px(5)), pen.palette.warning, 3)
                pen.draw_text((pen.to_px(_TEXT_INDENT), y), text, size=_FONT_SIZE)
            y += pen.to_px(_LINE_HEIGHT)
        self.scroll_bar.paint_scroll_bar(pen, width, 0)


def _wrapped_lines(scale: float, texts: Sequence[str], width: int) -> list[tuple[str, bool]]:
    """Return the wrapped lines of all texts as (line, whether the line is the first of its text).

    A word longer than a line is broken.
    """
    pen = Canvas(scale)
    text_width = width - pen.to_px(_TEXT_INDENT)
    lines: list[tuple[str, bool]] = []
    for text in texts:
        wrapped = wrap_text_and_break_words(pen, text, text_width, _FONT_SIZE)
        lines += [(line, index == 0) for index, line in enumerate(wrapped)]
    return lines
