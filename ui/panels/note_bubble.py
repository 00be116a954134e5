"""A note over the map, with a line to what it points at."""

import pygame

from ui.model.layout import PanelBoxes
from ui.model.notes import Note
from ui.model.session import Panel
from ui.panels import pointing
from ui.panels.desk import Desk
from ui.widgets.canvas import HotSpot

WIDTH, PAD, LINE, KEY = 290, 12, 20, "Esc"


def draw(desk: Desk, note: Note) -> None:
    """At the edge of the map that is further from what it points at, so as not to cover it."""
    found = next((p for p in desk.scene.panels() if p[0].view.label == note.points_at.agent), None)
    target = _target(desk, *found, note) if found is not None else None
    if found is None or target is None:
        return
    boxes = found[1]
    pointing.draw(desk, (note.points_at,))
    canvas, palette, px = desk.canvas, desk.palette, desk.canvas.px
    left, top, room, height = boxes.map
    width = min(px(WIDTH), room - 2 * px(PAD))
    lines = canvas.wrap_lines(note.text, width - 2 * px(PAD), 13)
    tall = len(lines) * px(LINE) + px(LINE) + 2 * px(PAD)
    x = left + (room - width) // 2  # it stands still while what it points at moves
    is_low = target[1] < top + height // 2 or target[1] > top + height
    y = top + height - tall - px(PAD) if is_low else top + px(PAD)
    edge = (min(max(target[0], x + px(PAD)), x + width - px(PAD)), y if target[1] < y else y + tall)
    if target[1] <= top + height:  # a number below the map has a frame, and a line would cross its neighbours
        for colour, thick in ((palette.casing_dark, 3), (palette.accent, 1)):
            pygame.draw.line(canvas.surface, colour, edge, target, px(thick))
    box = (x, y, width, tall)
    canvas.fill(box, palette.surface, 8)
    canvas.outline(box, palette.accent, 8, 1.5)
    close = "Close this note; it never comes again"
    hot = canvas.spot(HotSpot("note", box, lambda: desk.run("cancel"), close, KEY))
    for i, line in enumerate(lines):
        canvas.text((x + px(PAD), y + px(PAD) + i * px(LINE)), line, size=13)
    ink = palette.accent if hot else palette.dim
    canvas.text((x + width - px(PAD), y + tall - px(PAD + 14)), "Esc: got it", size=12, colour=ink, align="right")


def _target(desk: Desk, panel: Panel, boxes: PanelBoxes, note: Note) -> tuple[int, int] | None:
    """Where the line ends, in the window."""
    cells = pointing.cells_of(panel, note.points_at)
    if cells:
        return pointing.middle_of(desk, panel, boxes, cells[0])
    spot = pointing.number_spot(desk, panel, note.points_at)
    return (spot.box[0] + spot.box[2] // 2, spot.box[1]) if spot is not None else None
