"""Message box: one message, or a list of problems such as all errors of a file."""

from collections.abc import Sequence

import pygame

from ui.dialogs.dialog_base import FOOTER_HEIGHT, HEADING_HEIGHT, MARGIN, Dialog, DialogHost
from ui.widgets.canvas import Canvas
from ui.widgets.controls import PaintedElement, wrap_breaking_words
from ui.widgets.scrolling import ScrollBar, ScrollingControl

# Sizes in design units: font, line height, gap between paragraphs; width and maximum height of the box; text indent
_SIZE, _LINE, _GAP = 14, 21, 7
_WIDTH, _MAX_HEIGHT = 700, 560
_INDENT = 16


class MessageBox(Dialog):
    def __init__(self, host: DialogHost, title: str, problems: Sequence[str] | str) -> None:
        self.title = title
        self.problems = [problems] if isinstance(problems, str) else list(problems)
        self.hint = f"{len(self.problems)} problems" if len(self.problems) > 1 else ""
        inside = _ScrollingParagraphs.height_of_texts(host, self.problems, _WIDTH - 2 * MARGIN)
        self.size = (_WIDTH, min(_MAX_HEIGHT, HEADING_HEIGHT + FOOTER_HEIGHT + inside + 14))
        super().__init__(host)

    def build_controls(self) -> None:
        self.area.height -= self.to_px(8)
        self.lines = _ScrollingParagraphs(self, self.area, self.problems)
        self.add(self.lines)
        self.add_footer_buttons(("Close", self.cancel, "main"))

    def on_confirm(self) -> None:
        self.host.close_dialog()

    def key(self, event: pygame.event.Event) -> bool:
        return self.lines.key(event)


class _ScrollingParagraphs(ScrollingControl):
    """Scrolling text of wrapped paragraphs; if there are several, each begins with a bullet."""

    shows_ring = False

    def __init__(self, dialog: Dialog, rect: pygame.Rect, texts: Sequence[str]) -> None:
        super().__init__(dialog)
        self.lines = _wrapped_lines(dialog.host.ui_scale, texts, rect.width - dialog.to_px(ScrollBar.WIDTH + 6))
        content_height = len(self.lines) * dialog.to_px(_LINE) + dialog.to_px(_GAP) * sum(
            first for _, first in self.lines
        )
        self.scroll_bar.set_viewport_and_content_heights(rect.height, content_height)
        self.can_focus = self.scroll_bar.is_scrolling_needed
        self.has_bullets = len(texts) > 1
        self.element = PaintedElement(dialog, rect, self._paint_paragraphs)
        self.element.repaint()

    @staticmethod
    def height_of_texts(host: DialogHost, texts: Sequence[str], width: int) -> int:
        """Return the height of the texts, wrapped at a width, both in design units."""
        lines = _wrapped_lines(host.ui_scale, texts, round((width - ScrollBar.WIDTH - 6) * host.ui_scale))
        return len(lines) * (_LINE + 1) + _GAP * len(texts)

    @property
    def line(self) -> int:
        return self.dialog.to_px(_LINE)

    def _paint_paragraphs(self, pen: Canvas) -> None:
        width, height = self.element.surface.get_size()
        y = -round(self.scroll_bar.position)
        for text, is_first in self.lines:
            y += pen.to_px(_GAP) if is_first else 0
            if -pen.to_px(_LINE) < y < height:
                if is_first and self.has_bullets:
                    pen.fill_box((pen.to_px(2), y + pen.to_px(8), pen.to_px(5), pen.to_px(5)), pen.palette.warning, 3)
                pen.text((pen.to_px(_INDENT), y), text, size=_SIZE)
            y += pen.to_px(_LINE)
        self.scroll_bar.paint_scroll_bar(pen, width, 0)


def _wrapped_lines(scale: float, texts: Sequence[str], width: int) -> list[tuple[str, bool]]:
    """Return the wrapped lines of all texts as (line, whether the line is the first of its text).

    A word longer than a line is broken.
    """
    pen = Canvas(scale)
    text_width = width - pen.to_px(_INDENT)
    lines: list[tuple[str, bool]] = []
    for text in texts:
        wrapped = wrap_breaking_words(pen, text, text_width, _SIZE)
        lines += [(line, index == 0) for index, line in enumerate(wrapped)]
    return lines
