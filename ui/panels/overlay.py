"""Overlays of the window: messages, tooltip, the dimming behind a dialog, and a hint while there is no agent."""

import time
from collections.abc import Sequence
from functools import lru_cache

import pygame

from ui.draw.theme import Colour
from ui.model.layout import Box, Layout
from ui.panels import command_button
from ui.panels.view_context import ViewContext

TOOLTIP_DELAY_S = 0.5  # seconds that the pointer must rest on a control before the tooltip of the control appears
# Side of the squares of pixels saved under a dialog's corners in design units, above any corner radius.
SAVED_CORNER_SIDE = 16


def draw_messages(desk: ViewContext, plan: Layout) -> None:
    """Draw the latest messages that have not expired over the maps, never over numbers, headers or bars."""
    texts = desk.ui_state.message_queue.current_message_texts(desk.session.undo_history.action_count)
    canvas, palette = desk.canvas, desk.palette
    px = canvas.to_px
    left, top, width, height = message_area(plan)
    bottom = top + height - px(10)
    for index, text in enumerate(reversed(texts)):
        lines = canvas.wrap_text(text, min(px(720), width - px(60)), 14)
        box_width = max(canvas.text_width(line, 14) for line in lines) + px(28)
        box_height = len(lines) * px(20) + px(14)
        if (
            index and bottom - box_height < top + height * 2 // 3
        ):  # leave out older messages, so that the map stays visible
            return
        box = (left + (width - box_width) // 2, bottom - box_height, box_width, box_height)
        canvas.fill_box(box, palette.text, 8)
        for i, line in enumerate(lines):
            canvas.draw_text((box[0] + px(14), box[1] + px(7) + i * px(20)), line, size=14, colour=palette.surface)
        bottom = box[1] - px(6)


def may_overlay_cover_regions(desk: ViewContext) -> bool:
    """Return whether an overlay, such as a message or a menu, may cover cached regions other than its own."""
    state = desk.ui_state
    return bool(
        state.message_queue.current_message_texts(desk.session.undo_history.action_count)
        or state.context_menu is not None
        or state.lesson_player is not None
        or (state.tutorial_notes is not None and state.tutorial_notes.shown_note is not None)
        or desk.canvas.focused_control_id
        or desk.canvas.dragged_region is not None
    )


def message_area(plan: Layout) -> Box:
    """Return the area for messages.

    It covers the maps of the lowest row of panels, or only the last map if its numbers are to the side of the map.
    """
    if not plan.panel_boxes:
        bottom = plan.transport_bar[1] or plan.size[1]
        return 0, 0, plan.size[0], bottom
    if plan.panel_boxes[-1].has_side_hud:
        return plan.panel_boxes[-1].map_box
    left = min(panel.panel_box[0] for panel in plan.panel_boxes)
    right = max(panel.panel_box[0] + panel.panel_box[2] for panel in plan.panel_boxes)
    _, top, _, height = plan.panel_boxes[-1].map_box
    return left, top, right - left, height


def dim_window(desk: ViewContext, boxes: Sequence[Box] | None = None) -> None:
    """Dim the window behind a dialog.

    Args:
        desk: View context.
        boxes: Rectangles drawn in this frame; only these are dimmed, because all other pixels are still dimmed from
            the last frame. None to dim the whole window.
    """
    surface = desk.canvas.surface
    dim_layer = _dimming_surface(surface.get_size(), desk.palette.window)
    if boxes is None:
        surface.blit(dim_layer, (0, 0))
        return
    rects = [pygame.Rect(box) for box in dict.fromkeys(boxes)]
    for rect in rects:
        # Skip rectangles inside other rectangles, because drawing the translucent layer twice dims an area twice.
        if not any(other is not rect and other.contains(rect) for other in rects):
            surface.blit(dim_layer, rect, rect)


@lru_cache(maxsize=1)
def _dimming_surface(size: tuple[int, int], colour: Colour) -> pygame.Surface:
    dim_layer = pygame.Surface(size)
    dim_layer.fill(colour)
    dim_layer.set_alpha(150)
    return dim_layer


class SavedDialogCorners:
    """Pixels of the window under the corners of dialogs, saved to restore them in the next frame.

    The rounded corners of a dialog are partly transparent. While the window rests, its pixels are kept from frame to
    frame, and corners drawn over the corners of the last frame would become more opaque in every frame.
    """

    def __init__(self) -> None:
        self._saved_corner_images: list[tuple[pygame.Surface, tuple[int, int]]] = []

    def save_pixels(self, surface: pygame.Surface, cards: Sequence[pygame.Rect], side: int) -> None:
        """Save the pixels under the corners, before dialogs are drawn.

        Args:
            surface: Window.
            cards: Rectangles of the dialogs.
            side: Side of the square saved under each corner, in pixels.
        """
        self._saved_corner_images = []
        for card in cards:
            for x in (card.left, card.right - side):
                for y in (card.top, card.bottom - side):
                    piece = pygame.Rect(x, y, side, side).clip(surface.get_rect())
                    # The square is empty if the dialog is larger than the window, so that this corner is outside.
                    if piece.width and piece.height:
                        self._saved_corner_images.append((surface.subsurface(piece).copy(), piece.topleft))

    def restore_pixels(self, surface: pygame.Surface) -> None:
        """Restore the pixels that were saved under the dialogs' corners in the last frame."""
        for piece, position in self._saved_corner_images:
            surface.blit(piece, position)


class TooltipDrawer:
    """Tooltip of the control under the pointer, shown after the pointer has rested on it for TOOLTIP_DELAY_S."""

    def __init__(self) -> None:
        self._hovered_id, self._hovered_since_s = "", 0.0
        self.visible_box: Box | None = None  # rectangle of the visible tooltip in pixels; None while hidden

    def draw_tooltip(self, desk: ViewContext) -> None:
        """Draw the tooltip if the pointer has rested long enough, and update `visible_box`."""
        self.visible_box, canvas = None, desk.canvas
        is_pressing = canvas.dragged_region is not None or canvas.pressed_id is not None
        region = None if is_pressing else canvas.topmost_region_at(canvas.mouse_position)
        hovered_id = region.id if region is not None and (region.tooltip or region.command_ids) else ""
        now = time.monotonic()
        if hovered_id != self._hovered_id or not hovered_id:
            self._hovered_id, self._hovered_since_s = hovered_id, now
        elif region is not None and now - self._hovered_since_s > TOOLTIP_DELAY_S:
            self.visible_box = canvas.draw_tooltip(region, *desk.tooltip_and_keys_of_region(region))


def panels_area(plan: Layout) -> Box:
    """Return the area of the window between the bars and the sidebar, in which the panels are laid out."""
    top = plan.top_bar[3]
    right_bar = plan.sidebar_box or plan.sidebar_handle
    return 0, top, right_bar[0] if right_bar else plan.size[0], (plan.transport_bar[1] or plan.size[1]) - top


def draw_no_agents_hint(desk: ViewContext, box: Box) -> None:
    """Draw a hint and the button "Add an agent" in the area of the panels, because there is no agent."""
    canvas = desk.canvas
    canvas.fill_box(box, desk.palette.window)
    x, y = box[0] + box[2] // 2, box[1] + box[3] // 2
    canvas.draw_text(
        (x, y - canvas.to_px(30)), "No agent on this map", size=18, face="bold", align="centre", middle=True
    )
    width = canvas.to_px(220)
    box = (x - width // 2, y, width, canvas.to_px(34))
    command_button.draw_command_button(desk, "add_agent", box, area="empty", shows_key=True)
