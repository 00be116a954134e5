"""Pseudocode of the focused agent in slow motion, with the line that is being executed highlighted."""

from ui.draw.theme import mix
from ui.model import wording
from ui.model.algorithms import Line
from ui.model.layout import Box
from ui.model.pseudocode import Reading, read
from ui.model.run import Panel
from ui.panels.desk import ViewContext
from ui.widgets.canvas import Canvas

# Line height, height of the heading, padding of the card, and indentation per nesting level, all in design units
LINE, HEAD, PAD, INDENT = 17, 26, 8, 12
SIZE, MARGIN = 11.5, 4  # font size of the pseudocode, and margin at the right of its lines, both in design units


def reading_of(desk: ViewContext) -> tuple[Panel, Reading] | None:
    """Return the focused agent's panel and its pseudocode with the executed lines marked.

    Return None outside slow motion, and if the agent has no pseudocode.
    """
    session = desk.session
    panel = next((p for p in session.run.panels if p.key == session.focused_key), None)
    if panel is None or panel.mind is None or not desk.player.is_slow_motion or session.run.is_seeking:
        return None
    record = session.run.tree[panel.key.branch].timeline.records.get(panel.mind.id)
    before = record.cell_at(panel.snapshot.tick - 1) if record else panel.mind.position
    reading = read(panel.mind, before, desk.player.revealed, panel.snapshot.tick)
    return (panel, reading) if reading is not None else None


def height_of(desk: ViewContext, reading: Reading) -> int:
    return desk.canvas.px(HEAD + len(reading.lines) * LINE + 2 * PAD)


def left_of(canvas: Canvas, line: Line) -> int:
    """Return the indentation of a line of pseudocode in pixels, with room for the dot that marks executed lines."""
    return canvas.px(14) + line.depth * canvas.px(INDENT)


def first_line(reading: Reading, room: int) -> int:
    """Return the index of the first line to draw if only `room` lines fit, so that the current line is visible."""
    last = max(reading.at, min(room, len(reading.lines)) - 1)
    return max(0, last + 1 - room)


def draw(desk: ViewContext, box: Box, panel: Panel, reading: Reading) -> None:
    canvas, palette, px = desk.canvas, desk.palette, desk.canvas.px
    x, y, width, height = box
    room = (height - px(HEAD + PAD)) // px(LINE)
    first = first_line(reading, room)
    canvas.hline(x, y, width)
    canvas.text((x + px(PAD), y + px(PAD)), wording.full_name(panel.view), size=13, face="bold", width=width - px(16))
    y += px(HEAD + 2)
    for index, line in list(enumerate(reading.lines))[first : first + room]:
        row = (x + px(3), y, width - px(6), px(LINE))
        if index == reading.at:
            canvas.fill(row, mix(palette.surface, palette.accent, 0.35), 4)
        is_done = index in reading.done
        ink = palette.text if is_done or index == reading.at else palette.dim
        if is_done:
            canvas.fill((x + px(6), y + px(6), px(4), px(4)), palette.accent, 2)
        left = left_of(canvas, line)
        middle, room = (x + left, y + px(LINE) // 2), width - left - px(MARGIN)
        canvas.text(middle, line.text, size=SIZE, colour=ink, middle=True, width=room)
        y += px(LINE)
