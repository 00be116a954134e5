"""Speech bubble with a note (an explanation for beginners), and a line to the cell or number that the note is about."""

import pygame

from ui.draw import marker_shapes
from ui.model.layout import Box, PanelBoxes, box_contains_position
from ui.model.run import Panel
from ui.model.tutorial_notes import TutorialNote
from ui.panels import highlights
from ui.panels.view_context import ViewContext
from ui.widgets.canvas import HitRegion

# Width, minimum width and padding of the bubble, and height of a line of text, in design units
BUBBLE_WIDTH, MIN_BUBBLE_WIDTH, BUBBLE_PADDING, BUBBLE_LINE_HEIGHT = 290, 200, 12, 20


class NoteBubble:
    """Bubble of the current note. It remembers whether it is at the top or bottom of the map, so as not to jump."""

    def __init__(self) -> None:
        # (note, rectangle of the map, whether the bubble was at the bottom of the map) in the last frame
        self._last_note_edge: tuple[TutorialNote, Box, bool] | None = None

    def draw_note(self, desk: ViewContext, note: TutorialNote) -> None:
        """Draw a note at the upper or lower edge of the map, whichever is farther from the target of the note.

        The note stays at that edge while its target moves, until it would cover the target. A note that would cover
        most of a small map is drawn outside the map.
        """
        panel_with_boxes = next(
            (p for p in desk.map_view.panels_with_boxes() if p[0].walker_view.label == note.highlight.agent), None
        )
        target = _note_target_position(desk, *panel_with_boxes, note) if panel_with_boxes is not None else None
        if panel_with_boxes is None or target is None:
            return
        highlights.draw_highlights(desk, (note.highlight,))
        around = panel_with_boxes[1].map_box
        ring = highlights.ring_radius(desk, *panel_with_boxes)
        is_low = self._is_note_at_bottom(note, around, target)
        box = _note_box(desk, around, note.text, is_low)
        if pygame.Rect(box).inflate(2 * ring, 2 * ring).collidepoint(target):
            self._last_note_edge = note, around, not is_low
            box = _note_box(desk, around, note.text, not is_low)
        # Draw the line to the target only inside the map, because outside it would cross other parts of the window.
        if box_contains_position(around, target) and box_contains_position(around, box[:2]):
            _draw_line_to_target(desk, box, target, ring)
        _draw_note_bubble(desk, box, note)

    def _is_note_at_bottom(self, note: TutorialNote, around: Box, target: tuple[int, int]) -> bool:
        """Return whether to draw a note at the bottom of the map; a note that is already on screen keeps its edge."""
        if self._last_note_edge is None or self._last_note_edge[:2] != (note, around):
            _, top, _, height = around
            self._last_note_edge = note, around, target[1] < top + height // 2 or target[1] > top + height
        return self._last_note_edge[2]


def _draw_line_to_target(desk: ViewContext, box: Box, target: tuple[int, int], ring: int) -> None:
    """Draw a line from the edge of the note to the ring around the note's target."""
    x, y, width, height = box
    edge = min(max(target[0], x), x + width), min(max(target[1], y), y + height)
    offset = pygame.Vector2(edge) - pygame.Vector2(target)
    if offset.length() <= ring:
        return
    end = pygame.Vector2(target) + offset * (ring / offset.length())
    for colour, thick in (
        (marker_shapes.casing_colour_for(desk.palette, desk.palette.accent), 3),
        (desk.palette.accent, 1),
    ):
        pygame.draw.line(desk.canvas.surface, colour, edge, end, desk.canvas.to_px(thick))


def _draw_note_bubble(desk: ViewContext, box: Box, note: TutorialNote) -> None:
    canvas, palette, px = desk.canvas, desk.palette, desk.canvas.to_px
    x, y, width, height = box
    canvas.fill_box(box, palette.surface, 8)
    canvas.draw_outline(box, palette.accent, 8, 1.5)
    close = "Close this note; it will not appear again"
    is_hovered = canvas.add_hit_region(HitRegion("note", box, lambda: desk.run_command("cancel"), close, ("cancel",)))
    for i, line in enumerate(_wrapped_note_lines(desk, note.text, width)):
        canvas.draw_text((x + px(BUBBLE_PADDING), y + px(BUBBLE_PADDING) + i * px(BUBBLE_LINE_HEIGHT)), line, size=13)
    ink = palette.accent if is_hovered else palette.dim
    footer_y = y + height - px(BUBBLE_PADDING + 14)
    canvas.draw_text((x + px(BUBBLE_PADDING), footer_y), note.position_text, size=12, colour=palette.dim)
    canvas.draw_text(
        (x + width - px(BUBBLE_PADDING), footer_y),
        f"{key}: got it" if (key := desk.shortcut_of_command("cancel")) else "Got it",
        size=12,
        colour=ink,
        align="right",
    )


def _wrapped_note_lines(desk: ViewContext, text: str, width: int) -> list[str]:
    return desk.canvas.wrap_text(desk.text_with_shortcuts(text), width - 2 * desk.canvas.to_px(BUBBLE_PADDING), 13)


def _note_box(desk: ViewContext, around: Box, text: str, is_low: bool) -> Box:
    """Return the rectangle of a note: on the map, or if the map is too small, at the bottom of the sidebar.

    If there is no sidebar either, the rectangle is to the left or right of the map.
    """
    px = desk.canvas.to_px
    left, top, max_width, height = around
    width = min(px(BUBBLE_WIDTH), max_width - 2 * px(BUBBLE_PADDING))
    note_height = _note_height(desk, text, width)
    if width >= px(MIN_BUBBLE_WIDTH) and note_height <= height // 3:
        return (
            left + (max_width - width) // 2,
            top + height - note_height - px(BUBBLE_PADDING) if is_low else top + px(BUBBLE_PADDING),
            width,
            note_height,
        )
    if desk.map_view.layout.sidebar_box is None:
        return _note_box_beside_map(desk, around, text)
    left, top, max_width, height = desk.map_view.layout.sidebar_box
    note_height = _note_height(desk, text, max_width)
    return left, top + height - note_height, max_width, note_height


def _note_height(desk: ViewContext, text: str, width: int) -> int:
    px = desk.canvas.to_px
    return (
        len(_wrapped_note_lines(desk, text, width)) * px(BUBBLE_LINE_HEIGHT)
        + px(BUBBLE_LINE_HEIGHT)
        + 2 * px(BUBBLE_PADDING)
    )


def _note_box_beside_map(desk: ViewContext, around: Box, text: str) -> Box:
    """Return the rectangle of a note to the right of a small map, or to its left if there is more room."""
    px, window = desk.canvas.to_px, desk.canvas.surface.get_width()
    left, top, max_width, _ = around
    right = left + max_width + px(BUBBLE_PADDING)
    is_right = window - right >= left
    width = min(px(BUBBLE_WIDTH), (window - right if is_right else left) - 2 * px(BUBBLE_PADDING))
    x = right if is_right else left - px(BUBBLE_PADDING) - width
    return x, top + px(BUBBLE_PADDING), width, _note_height(desk, text, width)


def _note_target_position(
    desk: ViewContext, panel: Panel, boxes: PanelBoxes, note: TutorialNote
) -> tuple[int, int] | None:
    """Return the position in the window that the note points at; None if that position is not on screen."""
    cells = highlights.highlighted_cells(panel, note.highlight)
    if cells:
        return highlights.cell_centre_in_window(desk, panel, boxes, cells[0])
    region = highlights.highlighted_number_region(desk, panel, note.highlight)
    return (region.box[0] + region.box[2] // 2, region.box[1]) if region is not None else None
