"""Scroll bar, and the base class of controls with content taller than their viewport."""

import math

import pygame

from ui.draw.theme import mix_colours
from ui.widgets.canvas import Canvas
from ui.widgets.controls import Control, PaintedElement
from ui.widgets.dialog_interfaces import ClipArea, WidgetDialog

MIN_THUMB_HEIGHT = 28  # minimum height of the thumb (the draggable part of a scroll bar), in design units
_LINES_PER_WHEEL_STEP = 3  # number of lines (see Scrolled.line) that one step of the mouse wheel scrolls
_FORM_SCROLL_STEP = 20  # distance that an arrow key scrolls a form, in design units


class ScrollBar:
    """Scroll position and thumb of content taller than its viewport, in pixels."""

    BAR_WIDTH = 8  # width of the scroll bar in design units

    def __init__(self, view: int = 1, content_height: int = 1, position: float = 0.0) -> None:
        self.viewport_height, self.content_height, self.position = view, content_height, position
        self._grab_offset: float | None = None  # pixels from the top of the thumb to the pointer; None while released

    @property
    def max_position(self) -> int:
        """Return the largest scroll position, in pixels."""
        return max(0, self.content_height - self.viewport_height)

    @property
    def is_scrolling_needed(self) -> bool:
        return self.max_position > 0

    @property
    def is_thumb_dragged(self) -> bool:
        """Return whether the thumb is being dragged."""
        return self._grab_offset is not None

    def set_viewport_and_content_heights(self, view: int, content_height: int) -> None:
        """Set the heights of viewport and content, and keep the scroll position in range."""
        self.viewport_height, self.content_height = max(1, view), max(1, content_height)
        self.scroll_to(self.position)

    def scroll_to(self, position: float) -> None:
        self.position = min(max(0.0, position), self.max_position)

    def scroll_into_view(self, top: float, bottom: float) -> None:
        """Scroll just far enough to make a range of the content visible, given by its top and bottom in pixels."""
        if top < self.position:
            self.scroll_to(top)
        elif bottom > self.position + self.viewport_height:
            self.scroll_to(bottom - self.viewport_height)

    def thumb_span(self, min_height: int) -> tuple[int, int]:
        """Return top and height of the thumb within the viewport, in pixels; `min_height` is the minimum height."""
        height = max(min_height, round(self.viewport_height * self.viewport_height / self.content_height))
        top = round((self.viewport_height - height) * self.position / self.max_position) if self.max_position else 0
        return top, min(height, self.viewport_height)

    def begin_thumb_drag(self, y: float, min_height: int) -> None:
        """Begin to drag the thumb; if the press is outside the thumb, first centre the thumb on the press.

        Args:
            y: Distance of the press from the top of the viewport, in pixels.
            min_height: Minimum height of the thumb, in pixels.
        """
        top, height = self.thumb_span(min_height)
        if not top <= y < top + height:
            self.centre_thumb_on(y, min_height)
            top, height = self.thumb_span(min_height)
        self._grab_offset = y - top

    def centre_thumb_on(self, y: float, min_height: int) -> None:
        """Scroll so that the middle of the thumb is `y` pixels below the top of the viewport."""
        _, height = self.thumb_span(min_height)
        self.scroll_to(self.max_position * (y - height / 2) / max(1, self.viewport_height - height))

    def drag_to(self, y: float, min_height: int) -> None:
        if self._grab_offset is not None:
            _, height = self.thumb_span(min_height)
            self.scroll_to(self.max_position * (y - self._grab_offset) / max(1, self.viewport_height - height))

    def end_thumb_drag(self) -> None:
        self._grab_offset = None

    def paint_scroll_bar(self, pen: Canvas, right: int, top: int) -> None:
        if self.is_scrolling_needed:
            start, height = self.thumb_span(pen.to_px(MIN_THUMB_HEIGHT))
            width = pen.to_px(self.BAR_WIDTH)
            colour = mix_colours(pen.palette.raised, pen.palette.dim, 0.55 if self.is_thumb_dragged else 0.3)
            pen.fill_box((right - width, top + start, width, height), colour, self.BAR_WIDTH / 2)


class ScrollingControl(Control):
    """Base class of controls whose content scrolls by mouse wheel, arrow and page keys, and a scroll bar."""

    element: PaintedElement
    header_height = 0  # height in pixels of the header above the viewport, which does not scroll

    def __init__(self, dialog: WidgetDialog) -> None:
        super().__init__(dialog)
        self.scroll_bar = ScrollBar()

    @property
    def line_height(self) -> int:
        """Return the pixels that one press of an arrow key scrolls; the wheel scrolls three times as far."""
        raise NotImplementedError

    def scroll_to(self, position: float) -> None:
        self.scroll_bar.scroll_to(position)
        self.element.repaint()

    def handle_key(self, event: pygame.event.Event) -> bool:
        page = self.scroll_bar.viewport_height - self.line_height
        steps = {
            pygame.K_UP: -self.line_height,
            pygame.K_DOWN: self.line_height,
            pygame.K_PAGEUP: -page,
            pygame.K_PAGEDOWN: page,
        }
        target_by_key = {pygame.K_HOME: 0, pygame.K_END: self.scroll_bar.content_height}
        if event.key not in steps and event.key not in target_by_key:
            return False
        self.scroll_to(target_by_key.get(event.key, self.scroll_bar.position + steps.get(event.key, 0)))
        return True

    def handle_mouse(self, event: pygame.event.Event, position: tuple[int, int]) -> bool:
        if self.scroll_bar.is_thumb_dragged:
            return self._handle_drag(event, position)
        if not self.contains_point(position):
            return False
        if event.type == pygame.MOUSEWHEEL:
            self.scroll_to(
                self.scroll_bar.position - whole_wheel_steps(event.y) * _LINES_PER_WHEEL_STEP * self.line_height
            )
            return True
        if event.type == pygame.MOUSEBUTTONDOWN and event.button == 1 and self.is_on_scroll_bar(position):
            self.scroll_bar.begin_thumb_drag(self._y_in_viewport(position), self.dialog.to_px(MIN_THUMB_HEIGHT))
            self.is_mouse_pressed = True
            self.element.repaint()
            return True
        return False

    def _handle_drag(self, event: pygame.event.Event, position: tuple[int, int]) -> bool:
        """Handle a mouse event while the thumb is dragged, also if the pointer is outside the control."""
        if event.type == pygame.MOUSEMOTION:
            self.scroll_bar.drag_to(self._y_in_viewport(position), self.dialog.to_px(MIN_THUMB_HEIGHT))
        elif event.type == pygame.MOUSEBUTTONUP and event.button == 1:
            self.scroll_bar.end_thumb_drag()
            self.is_mouse_pressed = False
        else:
            return False
        self.element.repaint()
        return True

    def _y_in_viewport(self, position: tuple[int, int]) -> int:
        return int(position[1] - self.element.rect.y - self.header_height)

    def is_on_scroll_bar(self, position: tuple[int, int]) -> bool:
        x = position[0] - self.element.rect.x
        is_right = x >= self.element.surface.get_width() - self.dialog.to_px(ScrollBar.BAR_WIDTH + 4)
        return self.scroll_bar.is_scrolling_needed and is_right and self._y_in_viewport(position) >= 0


class ScrollingArea(ScrollingControl):
    """Scrolling viewport for other controls, which are clipped to it; the scroll bar looks as in lists."""

    can_focus = False
    shows_focus_ring = False

    def __init__(self, dialog: WidgetDialog, rect: pygame.Rect, content_height: int) -> None:
        super().__init__(dialog)
        self.viewport_rect = rect
        visible_rect = rect.move(dialog.card_rect.topleft).clip(dialog.widget_container.visible_rect)
        self.content_area = ClipArea(visible_rect)
        self.scroll_bar.set_viewport_and_content_heights(rect.height, content_height)
        strip = dialog.to_px(ScrollBar.BAR_WIDTH + 4)
        self.element = PaintedElement(
            dialog, pygame.Rect(rect.right - strip, rect.y, strip, rect.height), self._paint_scroll_bar
        )
        self.element.repaint()

    @property
    def line_height(self) -> int:
        return self.dialog.to_px(_FORM_SCROLL_STEP)

    def scroll_to(self, position: float) -> None:
        super().scroll_to(position)
        self._move_content()

    def scroll_into_view(self, top: float, bottom: float) -> None:
        """Scroll a range of the content into view, given by its top and bottom in pixels."""
        self.scroll_bar.scroll_into_view(top, bottom)
        self.element.repaint()
        self._move_content()

    def _handle_drag(self, event: pygame.event.Event, position: tuple[int, int]) -> bool:
        is_used = super()._handle_drag(event, position)
        self._move_content()
        return is_used

    def handle_mouse(self, event: pygame.event.Event, position: tuple[int, int]) -> bool:
        is_used = super().handle_mouse(event, position)
        if is_used:
            self._move_content()
        return is_used

    def _move_content(self) -> None:
        self.content_area.scroll_y = round(self.scroll_bar.position)

    def contains_point(self, position: tuple[int, int]) -> bool:
        return bool(self.content_area.visible_rect.collidepoint(position))

    def _paint_scroll_bar(self, pen: Canvas) -> None:
        self.scroll_bar.paint_scroll_bar(pen, pen.surface.get_width(), 0)


def whole_wheel_steps(count: float) -> int:
    """Convert the movement in a mouse wheel event to a whole number of steps.

    A smaller movement than one step counts as one step in its direction; no movement is 0 steps.
    """
    return int(math.copysign(max(1, abs(count)), count)) if count else 0
