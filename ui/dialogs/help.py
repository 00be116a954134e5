"""Overview of all keys on one page, generated from the command table."""

from dataclasses import dataclass, replace

import pygame

from ui.dialogs.base import Dialog, Host, take_top
from ui.model.command import CommandTable, Family, families
from ui.widgets.canvas import Canvas
from ui.widgets.controls import Drawn, Field
from ui.widgets.scrolling import Scrolled

_PITCHES = ((18, 13), (17, 12.5), (16, 12))
"""Line heights and text sizes. The largest pair that avoids scrolling is used, or the largest if none does."""

_HEAD = 1.5  # height of a group's name, in lines
_COLUMN = 380  # minimum width of a column
_KEYS = 88  # minimum width of the keys before the text
_GAP = 20
_BAR = 14  # width reserved for the scroll bar
_GOES_ON = ", continued"


@dataclass(frozen=True)
class Line:
    """One line of the page: the keys of a command and its help, or the name of a group if `help` is empty."""

    keys: str  # or the name of the group
    help: str = ""
    searched: str = ""


@dataclass(frozen=True)
class _SetOut:
    """A line wrapped to the width of its column."""

    keys: str  # or the name of a group
    start: int  # x of the text, in pixels
    words: tuple[str, ...]  # wrapped text; empty for the name of a group


class HelpOverlay(Dialog):
    title = "All keys"
    hint = "type to find a key or a command"
    size = (1500, 960)
    command = "help"
    has_footer = False

    def __init__(self, host: Host) -> None:
        self.query = ""
        super().__init__(host)

    def build(self) -> None:
        width = min(self.px(300), self.card.width // 3)
        right = self.card.width - self.px(64)
        rect = pygame.Rect(right - width, self.px(13), width, self.px(32))
        self.field = Field(self, rect, self.query, self._typed)
        self.add(self.field)
        take_top(self.area, 1)
        self.page = _Page(self, self.area.inflate(0, self.px(24)), lines_of(self.host.commands, self.query))
        self.add(self.page)
        self.field.put_cursor_at_end()

    def _typed(self, text: str) -> None:
        self.query = text
        self.page.set(lines_of(self.host.commands, text))

    def confirm(self) -> None:
        self.host.close_dialog()

    def key(self, event: pygame.event.Event) -> bool:
        return event.key not in (pygame.K_HOME, pygame.K_END) and self.page.key(event)


def lines_of(table: CommandTable, query: str = "") -> list[Line]:
    """Return the lines of the page: commands that contain all words of the query, below the names of their groups."""
    words = query.lower().split()
    page: list[Line] = []
    for group in table.groups:
        lines = [
            line for line in map(_line, families(table.of_group(group))) if all(word in line.searched for word in words)
        ]
        if lines:
            page += [Line(group), *lines]
    return page


def _line(family: Family) -> Line:
    searched = " ".join([family.words, *(f"{c.help} {' '.join(c.keys)} {c.group}" for c in family.members)])
    return Line("  ".join(family.keys), family.words, searched.lower())


class _Page(Scrolled):
    """Lines in as many columns as fit into the width, with a scroll bar if necessary."""

    can_focus = False

    def __init__(self, dialog: Dialog, rect: pygame.Rect, lines: list[Line]) -> None:
        super().__init__(dialog)
        self.element = Drawn(dialog, rect, self._paint)
        self.set(lines)

    def set(self, lines: list[Line]) -> None:
        self.lines = lines
        px, (width, height) = self.dialog.px, self.element.surface.get_size()
        count = max(1, (width + px(_GAP)) // (px(_COLUMN) + px(_GAP)))
        room = width - px(_BAR)
        self.column_width = min((room + px(_GAP)) // count - px(_GAP), px(_COLUMN * 1.4))
        for pitch, size in (*_PITCHES, _PITCHES[0]):
            self.pitch, self.size = px(pitch), size
            self.columns = self._flow([self._set_out(line) for line in lines], count)
            tallest = max((self._height(column) for column in self.columns), default=0)
            if tallest + px(3) <= height:
                break
        self.bar.measure(height, tallest + px(3))  # room for descenders of the last line
        self.bar.scroll_to(0)
        self.element.refresh()

    def _set_out(self, line: Line) -> _SetOut:
        """Return a line with its text wrapped to the width of a column."""
        pen, most = self.dialog.pen, self.column_width // 2
        keys = pen.cut(line.keys, most, 12, "mono") if line.help else line.keys
        start = max(pen.px(_KEYS), pen.text_width(keys, 12, "mono") + pen.px(12))
        words = pen.wrap_lines(line.help, self.column_width - start, self.size) if line.help else []
        return _SetOut(keys, start, tuple(words))

    def _height(self, lines: list[_SetOut]) -> int:
        return sum(self._line_height(line) for line in lines)

    def _line_height(self, line: _SetOut) -> int:
        return self.pitch * len(line.words) or round(self.pitch * _HEAD)

    def _flow(self, lines: list[_SetOut], count: int) -> list[list[_SetOut]]:
        """Return the lines in columns of similar height.

        The name of a group is never the last line of a column. A group that continues in the next column has its name
        repeated there.
        """
        target = max(self._height(lines) / count, 1)
        columns: list[list[_SetOut]] = [[]]
        group = lines[0] if lines else None
        for line in lines:
            group = group if line.words else line
            head = 0 if line.words else self.pitch
            is_full = self._height(columns[-1]) + self._line_height(line) + head > target
            if is_full and len(columns) < count and columns[-1]:
                columns.append([replace(group, keys=f"{group.keys}{_GOES_ON}")] if line.words and group else [])
            columns[-1].append(line)
        return columns

    @property
    def line(self) -> int:
        return self.pitch

    def _paint(self, pen: Canvas) -> None:
        if not self.columns[0]:
            pen.text((0, pen.px(8)), "no key or command with these words", size=14, colour=pen.palette.dim)
            return
        for i, column in enumerate(self.columns):
            self._paint_column(pen, i * (self.column_width + pen.px(_GAP)), column)
        self.bar.paint(pen, self.element.surface.get_width(), 0)

    def _paint_column(self, pen: Canvas, left: int, lines: list[_SetOut]) -> None:
        palette = pen.palette
        y = -round(self.bar.position)
        for line in lines:
            if line.words:
                pen.text((left, y + self.pitch // 2), line.keys, size=12, face="mono", middle=True)
            else:
                spot = (left, y + self._line_height(line) // 2 + pen.px(3))
                pen.text(spot, line.keys.upper(), size=11, face="bold", colour=palette.accent, middle=True)
            for number, words in enumerate(line.words):
                spot = (left + line.start, y + number * self.pitch + self.pitch // 2)
                pen.text(spot, words, size=self.size, colour=palette.dim, middle=True)
            y += self._line_height(line)
