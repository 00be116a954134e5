"""Overview of all keys on one page, generated from the command table."""

from dataclasses import dataclass, replace

import pygame

from ui.dialogs.dialog_base import Dialog, DialogHost, cut_strip_from_top
from ui.model.ui_command import CommandLine, CommandTable, command_lines
from ui.widgets.canvas import Canvas
from ui.widgets.controls import PaintedElement
from ui.widgets.scrolling import ScrollingControl
from ui.widgets.text_field import TextField

_LINE_PITCHES_AND_TEXT_SIZES = ((18, 13), (17, 12.5), (16, 12))
"""Pairs (line height, text size) in design units. The page uses the largest pair with which it need not scroll.

If it must scroll with each pair, it uses the largest.
"""

_HEADING_HEIGHT_IN_LINES = 1.5  # height of the heading of a group, as a multiple of the line height
_MIN_COLUMN_WIDTH = 380  # minimum width of a column of the page, in design units
_MIN_KEYS_WIDTH = 88  # minimum width reserved for the keys, to the left of the help text, in design units
_COLUMN_GAP = 20  # width between two columns, in design units
_SCROLL_BAR_SPACE = 14  # width reserved for the scroll bar, in design units
_CONTINUED_SUFFIX = ", continued"  # suffix of a group's heading that is repeated at the top of the next column


@dataclass(frozen=True)
class HelpLine:
    """One line of the page: keys and help text of a command, or if `label` is empty, the heading of a group."""

    keys: str  # keys of the command; if the line is a heading, the name of the group
    help_text: str = ""
    searchable_text: str = ""


@dataclass(frozen=True)
class _WrappedLine:
    """Line of the page, wrapped to the width of its column."""

    keys: str  # keys of the command; if the line is a heading, the name of the group
    help_text_x: int  # x of the help text, in pixels from the left edge of the column
    help_text_lines: tuple[str, ...]  # lines of the wrapped help text; empty in a heading


class HelpOverlay(Dialog):
    title = "All keys"
    hint = "type to search for a key or a command"
    size = (1500, 960)
    command_id = "help"
    has_footer = False

    def __init__(self, host: DialogHost) -> None:
        self.query = ""
        super().__init__(host)

    def build_controls(self) -> None:
        width = min(self.to_px(300), self.card_rect.width // 3)
        right = self.card_rect.width - self.to_px(64)
        rect = pygame.Rect(right - width, self.to_px(13), width, self.to_px(32))
        self.search_field = TextField(self, rect, self.query, self._on_query_typed)
        self.add(self.search_field)
        cut_strip_from_top(self.content_rect, 1)
        self.help_page = _HelpPage(
            self, self.content_rect.inflate(0, self.to_px(24)), help_lines(self.host.command_table, self.query)
        )
        self.add(self.help_page)

    def _on_query_typed(self, text: str) -> None:
        self.query = text
        self.help_page.set_lines(help_lines(self.host.command_table, text))

    def on_confirm(self) -> None:
        self.host.close_dialog()

    def handle_unused_key(self, event: pygame.event.Event) -> bool:
        return event.key not in (pygame.K_HOME, pygame.K_END) and self.help_page.handle_key(event)


def help_lines(table: CommandTable, query: str = "") -> list[HelpLine]:
    """Return the lines of the page: each group's heading and those of its commands that match all words of a query."""
    words = query.lower().split()
    page: list[HelpLine] = []
    for group in table.group_names:
        lines = [
            line
            for line in map(_help_line, command_lines(table.commands_of_group(group)))
            if all(word in line.searchable_text for word in words)
        ]
        if lines:
            page += [HelpLine(group), *lines]
    return page


def _help_line(line: CommandLine) -> HelpLine:
    return HelpLine("  ".join(line.keys), line.title, line.searchable_text)


class _HelpPage(ScrollingControl):
    """Scrolling page of keys and help texts, in as many columns as fit into its width."""

    can_focus = False

    def __init__(self, dialog: Dialog, rect: pygame.Rect, lines: list[HelpLine]) -> None:
        super().__init__(dialog)
        self.element = PaintedElement(dialog, rect, self._paint_page)
        self.set_lines(lines)

    def set_lines(self, lines: list[HelpLine]) -> None:
        self.shown_lines = lines
        px, (width, height) = self.dialog.to_px, self.element.surface.get_size()
        count = max(1, (width + px(_COLUMN_GAP)) // (px(_MIN_COLUMN_WIDTH) + px(_COLUMN_GAP)))
        text_width = width - px(_SCROLL_BAR_SPACE)
        self.column_width = min((text_width + px(_COLUMN_GAP)) // count - px(_COLUMN_GAP), px(_MIN_COLUMN_WIDTH * 1.4))
        for pitch, size in (*_LINE_PITCHES_AND_TEXT_SIZES, _LINE_PITCHES_AND_TEXT_SIZES[0]):
            self.line_pitch, self.size = px(pitch), size
            self.page_columns = self._split_into_columns([self._wrap_line(line) for line in lines], count)
            tallest = max((self._total_height(column) for column in self.page_columns), default=0)
            if tallest + px(3) <= height:
                break
        # Add 3 units for letters that descend below the last line.
        self.scroll_bar.set_viewport_and_content_heights(height, tallest + px(3))
        self.scroll_bar.scroll_to(0)
        self.element.repaint()

    def _wrap_line(self, line: HelpLine) -> _WrappedLine:
        """Wrap the help text of a line to the width of a column."""
        pen, max_keys_width = self.dialog.canvas, self.column_width // 2
        keys = pen.shorten_text(line.keys, max_keys_width, 12, "mono") if line.help_text else line.keys
        start = max(pen.to_px(_MIN_KEYS_WIDTH), pen.text_width(keys, 12, "mono") + pen.to_px(12))
        text_lines = pen.wrap_text(line.help_text, self.column_width - start, self.size) if line.help_text else []
        return _WrappedLine(keys, start, tuple(text_lines))

    def _total_height(self, lines: list[_WrappedLine]) -> int:
        return sum(self._line_height(line) for line in lines)

    def _line_height(self, line: _WrappedLine) -> int:
        return self.line_pitch * len(line.help_text_lines) or round(self.line_pitch * _HEADING_HEIGHT_IN_LINES)

    def _split_into_columns(self, lines: list[_WrappedLine], count: int) -> list[list[_WrappedLine]]:
        """Distribute the lines over at most `count` columns of similar height.

        A heading is never the last line of a column. If a group continues in the next column, its heading is repeated.
        """
        target = max(self._total_height(lines) / count, 1)
        columns: list[list[_WrappedLine]] = [[]]
        group = lines[0] if lines else None
        for line in lines:
            group = group if line.help_text_lines else line
            head = 0 if line.help_text_lines else self.line_pitch
            is_full = self._total_height(columns[-1]) + self._line_height(line) + head > target
            if is_full and len(columns) < count and columns[-1]:
                columns.append(
                    [replace(group, keys=f"{group.keys}{_CONTINUED_SUFFIX}")] if line.help_text_lines and group else []
                )
            columns[-1].append(line)
        return columns

    @property
    def line_height(self) -> int:
        return self.line_pitch

    def _paint_page(self, pen: Canvas) -> None:
        if not self.page_columns[0]:
            pen.draw_text((0, pen.to_px(8)), "No key or command matches", size=14, colour=pen.palette.dim)
            return
        for i, column in enumerate(self.page_columns):
            self._paint_column(pen, i * (self.column_width + pen.to_px(_COLUMN_GAP)), column)
        self.scroll_bar.paint_scroll_bar(pen, self.element.surface.get_width(), 0)

    def _paint_column(self, pen: Canvas, left: int, lines: list[_WrappedLine]) -> None:
        palette = pen.palette
        y = -round(self.scroll_bar.position)
        for line in lines:
            if line.help_text_lines:
                pen.draw_text((left, y + self.line_pitch // 2), line.keys, size=12, face="mono", middle=True)
            else:
                position = (left, y + self._line_height(line) // 2 + pen.to_px(3))
                pen.draw_text(position, line.keys.upper(), size=11, face="bold", colour=palette.accent, middle=True)
            for number, text in enumerate(line.help_text_lines):
                position = (left + line.help_text_x, y + number * self.line_pitch + self.line_pitch // 2)
                pen.draw_text(position, text, size=self.size, colour=palette.dim, middle=True)
            y += self._line_height(line)
