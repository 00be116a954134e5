"""All keys on one page, made from the dispatcher's own table."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

import pygame

from ui.dialogs.base import Dialog, Host, take_top
from ui.model.command import EDIT, Command, CommandTable
from ui.widgets.canvas import Canvas
from ui.widgets.controls import Drawn, Field
from ui.widgets.scrolling import Scrolled

_PITCHES = ((18, 13), (17, 12.5), (16, 12))
"""Line heights and text sizes; the largest with which the page needs no scrolling is taken, or the largest of all."""

_HEAD = 1.5  # height of a group's name in lines
_COLUMN = 380  # least width of a column
_KEYS = 88  # where the text begins, unless keys are longer
_GAP = 20


@dataclass(frozen=True)
class Line:
    """One line of the page: a group's name when there is no help."""

    keys: str
    help: str = ""
    searched: str = ""


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
    """The lines of the page: each group that has a command with all words of the query."""
    words = query.lower().split()
    page: list[Line] = []
    for group in table.groups:
        lines = [line for line in _lines(table.of_group(group)) if all(word in line.searched for word in words)]
        if lines:
            page += [Line(group), *lines]
    return page


def _lines(commands: Iterable[Command]) -> list[Line]:
    """A line for each command, and one for commands that differ only in a number or a direction."""
    families: dict[str, list[Command]] = {}
    for command in commands:
        families.setdefault(_family(command), []).append(command)
    return [_line(members) for members in families.values()]


def _family(command: Command) -> str:
    return re.sub(r"_([1-9]|left|right|up|down)$", "_*", command.id) if _is_steered(command) else command.id


def _is_steered(command: Command) -> bool:
    """Whether its key is a number or an arrow, as for its brothers."""
    last = command.keys[0].rsplit("+", 1)[-1] if command.keys else ""
    return last in "123456789" or last in ("Left", "Right", "Up", "Down")


def _line(members: list[Command]) -> Line:
    first = members[0]
    mode = " (edit mode)" if first.mode == EDIT else ""
    searched = " ".join(f"{c.help} {' '.join(c.keys)} {c.group}" for c in members).lower() + mode
    if len(members) == 1:
        return Line("  ".join(first.keys), first.help + mode, searched)
    head, _, last = first.keys[0].rpartition("+")
    prefix = f"{head}+" if head else ""
    if last.isdigit():
        end = members[-1].keys[0].rpartition("+")[2]
        return Line(f"{prefix}{last} to {end}", f"{first.help} to {end}{mode}", searched)
    return Line(f"{prefix}arrows", first.help.rpartition(" ")[0] + mode, searched)


class _Page(Scrolled):
    """The lines in as many columns as fit, scrolling where they do not."""

    can_focus = False

    def __init__(self, dialog: Dialog, rect: pygame.Rect, lines: list[Line]) -> None:
        super().__init__(dialog)
        self.element = Drawn(dialog, rect, self._paint)
        self.set(lines)

    def set(self, lines: list[Line]) -> None:
        self.lines = lines
        px, (width, height) = self.dialog.px, self.element.surface.get_size()
        count = max(1, (width + px(_GAP)) // (px(_COLUMN) + px(_GAP)))
        for pitch, size in (*_PITCHES, _PITCHES[0]):
            self.pitch, self.size = px(pitch), size
            self.columns = self._flow(count)
            tallest = max((self._height(column) for column in self.columns), default=0)
            if tallest + px(3) <= height:
                break
        self.bar.measure(height, tallest + px(3))  # letters hang down below the last line
        self.bar.scroll_to(0)
        self.element.refresh()

    def _height(self, lines: list[Line]) -> int:
        return sum(self._line_height(line) for line in lines)

    def _line_height(self, line: Line) -> int:
        return self.pitch if line.help else round(self.pitch * _HEAD)

    def _flow(self, count: int) -> list[list[Line]]:
        """Columns of about the same height; a group's name does not stand alone at the foot."""
        target = max(self._height(self.lines) / count, 1)
        columns: list[list[Line]] = [[]]
        for line in self.lines:
            is_full = self._height(columns[-1]) + self._line_height(line) * (1 if line.help else 2) > target
            if is_full and len(columns) < count and columns[-1]:
                columns.append([])
            columns[-1].append(line)
        return columns

    @property
    def line(self) -> int:
        return self.pitch

    def _paint(self, pen: Canvas) -> None:
        width = self.element.surface.get_width()
        if not self.lines:
            pen.text((0, pen.px(8)), "no key or command with these words", size=14, colour=pen.palette.dim)
            return
        room = width - (pen.px(14) if self.bar.is_needed else 0)
        column_width = (room + pen.px(_GAP)) // len(self.columns) - pen.px(_GAP)
        column_width = min(column_width, pen.px(_COLUMN * 1.4))
        for i, column in enumerate(self.columns):
            self._paint_column(pen, i * (column_width + pen.px(_GAP)), column_width, column)
        self.bar.paint(pen, width, 0)

    def _paint_column(self, pen: Canvas, left: int, width: int, lines: list[Line]) -> None:
        palette = pen.palette
        y = -round(self.bar.position)
        for line in lines:
            height = self._line_height(line)
            middle = y + height // 2
            if line.help:
                used = pen.text((left, middle), line.keys, size=12, face="mono", middle=True, width=width // 2)
                start = max(pen.px(_KEYS), used + pen.px(12))
                spot, room = (left + start, middle), width - start
                pen.text(spot, line.help, size=self.size, colour=palette.dim, middle=True, width=room)
            else:
                spot = (left, middle + pen.px(3))
                pen.text(spot, line.keys.upper(), size=11, face="bold", colour=palette.accent, middle=True)
            y += height
