"""Text field of one line: keys, mouse, clipboard, input methods and drawing.

The editing itself is in ui/model/text_editing.py.
"""

from collections.abc import Callable, Sequence
from functools import partial

import pygame

from sim.params import clean_typed_text, escape_unprintable
from ui.draw.theme import Colour, mix_colours
from ui.model.context_menu import Menu, MenuItem
from ui.model.layout import Box
from ui.model.text_editing import CaretMove, SelectionUnit, TextEditor, TextState, index_at_x, scroll_to_caret
from ui.widgets.canvas import Canvas
from ui.widgets.clipboard import copy_text_to_clipboard, text_of_clipboard
from ui.widgets.controls import Control, PaintedControl
from ui.widgets.dialog_interfaces import ClipArea, WidgetDialog

BLINK_S = 0.6
"""Seconds for which the caret is visible, and then hidden. An idle window draws five frames a second, which is enough
for the caret to blink, so that a focused field need not keep the window at its full frame rate."""

BLINKING_S = 9.6
"""Seconds after the last input for which the caret blinks; then it stays visible."""

MULTIPLE_CLICK_MS = 500  # maximum milliseconds between two clicks of a double or triple click
_MULTIPLE_CLICK_DISTANCE = 4  # maximum distance of these clicks, in design units
_TEXT_SIZE = 14  # font size in design units
_PADDING = 10  # space to the left and right of the text, in design units
_LINE_HEIGHT = 20  # height of caret and selection, in design units
_MIN_SIDE_PX = 8  # minimum width and height of a field in pixels, for tiny windows

_CARET_MOVES = {
    pygame.K_LEFT: (CaretMove.LEFT, CaretMove.WORD_LEFT),
    pygame.K_RIGHT: (CaretMove.RIGHT, CaretMove.WORD_RIGHT),
    pygame.K_HOME: (CaretMove.START, CaretMove.START),
    pygame.K_END: (CaretMove.END, CaretMove.END),
}
"""Movements of the caret by key, without and with Ctrl."""

_DELETIONS = {
    pygame.K_BACKSPACE: (CaretMove.LEFT, CaretMove.WORD_LEFT),
    pygame.K_DELETE: (CaretMove.RIGHT, CaretMove.WORD_RIGHT),
}
"""Deleted ranges by key, without and with Ctrl."""


class TextField(PaintedControl):
    """Text field of one line; the callback `on_text_changed` gets the text after every change by the user."""

    is_text_entry = True
    cursor_shape = pygame.SYSTEM_CURSOR_IBEAM

    def __init__(
        self,
        dialog: WidgetDialog,
        rect: pygame.Rect,
        text: str,
        changed: Callable[[str], None] | None = None,
        *,
        mono: bool = False,
        longest: int = 1000,
        hint: str = "",
        container: ClipArea | None = None,
        finished: Callable[[], None] | None = None,
    ) -> None:
        """Create the field.

        Args:
            dialog: Dialog that contains the field.
            rect: Rectangle in the container, in pixels.
            text: Initial text.
            changed: Callback that gets the text after every change by the user.
            mono: Whether the font is monospaced.
            longest: Maximum length of the text, in characters.
            hint: Placeholder, shown in grey while the field is empty.
            container: Container of the element; by default that of the dialog.
            finished: Callback without arguments, called when the field loses the focus.
        """
        self.on_text_changed, self.on_focus_lost = changed, finished
        self.placeholder, self.font_face = clean_typed_text(hint), "mono" if mono else "sans"
        self.editor = TextEditor(escape_unprintable(text), longest)
        self.is_enabled, self.has_problem = True, False
        self._is_hovered = False
        self._scroll_px = 0  # number of pixels by which the text is scrolled to the left
        self._caret_age_s = 0.0  # seconds since the caret was moved, from which its blinking is computed
        self._last_click = ((0, 0), -MULTIPLE_CLICK_MS, 0)  # position, time in ms, and number of clicks in a row
        super().__init__(dialog, rect.union((*rect.topleft, _MIN_SIDE_PX, _MIN_SIDE_PX)), container)

    # --- interface for dialogs --------------------------------------------------------------------

    @property
    def text(self) -> str:
        return self.editor.text

    def set_text(self, text: str) -> None:
        """Replace the text without calling `on_text_changed`."""
        text = clean_typed_text(escape_unprintable(text))
        if text != self.text:
            self.editor.replace_text(text)
            self._show_change()

    def select_all_text(self) -> None:
        """Select the whole text with the caret at its end, so that typing replaces it and End keeps it."""
        self.select_range(0, len(self.text))

    def select_range(self, first: int, end: int) -> None:
        """Select a part of the text, with the caret at its end."""
        self.editor.select_range(first, end)
        self._show_change()

    def set_enabled(self, is_enabled: bool) -> None:
        if is_enabled != self.is_enabled:
            self.is_enabled = self.can_focus = is_enabled
            self.repaint()

    def set_problem(self, has_problem: bool) -> None:
        """Set whether the field has the border of a field with invalid text."""
        if has_problem != self.has_problem:
            self.has_problem = has_problem
            self.repaint()

    def set_focused(self, has_focus: bool) -> None:
        if has_focus == self.has_focus:
            return
        super().set_focused(has_focus)
        self.is_mouse_pressed = False
        self.editor.compose("", 0)
        if has_focus:
            self.editor.select_all()
        self._show_change()

    def complete_entry(self) -> None:
        if self.on_focus_lost:
            self.on_focus_lost()

    def continue_from(self, replaced: Control) -> None:
        """Keep caret, selection, undo steps and composition when the dialog is rebuilt."""
        if isinstance(replaced, TextField) and replaced.text == self.text:
            self.editor = replaced.editor
            self._show_change()

    # --- changes ----------------------------------------------------------------------------------

    def _edit(self, change: Callable[[], object]) -> None:
        """Run an operation of the editor, show its result, and report it if the text has changed."""
        before = self.text
        change()
        self._show_change()
        if self.text != before and self.on_text_changed is not None:
            self.on_text_changed(self.text)

    def _show_change(self) -> None:
        """Scroll to the caret, make it visible, and repaint."""
        self._caret_age_s = 0.0
        state = self.editor.shown_state
        text_width, view_width = self._measure(state.text), self._text_box[2] - self._caret_width
        self._scroll_px = scroll_to_caret(self._scroll_px, self._caret_x(state), text_width, view_width)
        self.repaint()
        if self.has_focus:
            x, y, _, height = self._text_box
            caret_left = self.element.rect.x + x + self._caret_x(state) - self._scroll_px
            # The system opens the window of an input method next to this rectangle.
            pygame.key.set_text_input_rect(pygame.Rect(caret_left, self.element.rect.y + y, 1, height))

    def update_control(self, seconds: float) -> None:
        if not self.has_focus:
            return
        was_visible = self._is_caret_visible
        self._caret_age_s += seconds
        if self._scrolls_by_drag:
            self._drag_to(self.dialog.mouse_position)
        elif self._is_caret_visible != was_visible:
            self.repaint()

    @property
    def is_animated(self) -> bool:
        return self._scrolls_by_drag

    @property
    def _is_caret_visible(self) -> bool:
        is_blinking = self._caret_age_s < BLINKING_S
        return self.has_focus and not (is_blinking and int(self._caret_age_s / BLINK_S) % 2)

    # --- keys -------------------------------------------------------------------------------------

    def handle_key(self, event: pygame.event.Event) -> bool:
        if self.editor.is_composing:
            return True  # the input method uses the key
        has_ctrl, has_shift = bool(event.mod & pygame.KMOD_CTRL), bool(event.mod & pygame.KMOD_SHIFT)
        if event.mod & pygame.KMOD_ALT:
            return False
        if event.key in _CARET_MOVES:
            self._edit(partial(self.editor.move_caret, _CARET_MOVES[event.key][has_ctrl], extends=has_shift))
            return True
        action = self._shortcut_action(event.key, has_ctrl, has_shift)
        if action is None and event.key in _DELETIONS and self.text:
            action = partial(self._edit, partial(self.editor.delete, _DELETIONS[event.key][has_ctrl]))
        if action is not None:
            action()
        return action is not None

    def _shortcut_action(self, key: int, has_ctrl: bool, has_shift: bool) -> Callable[[], None] | None:
        """Return the action of a shortcut of the clipboard, of undo and redo, and of selection; None if it is none."""
        actions: dict[int, Callable[[], None]] = {}
        if has_ctrl:
            actions = {
                pygame.K_a: self.select_all_text,
                pygame.K_c: self.copy_selection,
                pygame.K_INSERT: self.copy_selection,
                pygame.K_x: self.cut_selection,
                pygame.K_v: self.paste,
                pygame.K_y: self.redo,
                pygame.K_z: self.redo if has_shift else self.undo,
            }
        elif has_shift:
            actions = {pygame.K_INSERT: self.paste, pygame.K_DELETE: self.cut_selection}
        return actions.get(key)

    def undo(self) -> None:
        self._edit(self.editor.undo)

    def redo(self) -> None:
        self._edit(self.editor.redo)

    def handle_text(self, event: pygame.event.Event) -> None:
        """Insert typed text, or show the text that an input method is composing."""
        if event.type == pygame.TEXTINPUT:
            self._edit(partial(self.editor.type_text, event.text))
        elif event.text or self.editor.is_composing:
            self._edit(partial(self.editor.compose, event.text, event.start))

    # --- clipboard --------------------------------------------------------------------------------

    def copy_selection(self) -> None:
        if self.editor.selected_text:
            copy_text_to_clipboard(self.editor.selected_text)

    def cut_selection(self) -> None:
        """Move the selected text to the clipboard; keep it if the system has no clipboard."""
        if self.editor.selected_text and copy_text_to_clipboard(self.editor.selected_text):
            self._edit(self.editor.cut_text)

    def paste(self) -> None:
        self._edit(partial(self.editor.paste_text, text_of_clipboard()))

    def _menu_items(self) -> Sequence[MenuItem]:
        """Return the items of the context menu that can be used now."""
        items = []
        if self.editor.selected_text:
            items += [MenuItem("Cut", self.cut_selection, "Ctrl+X"), MenuItem("Copy", self.copy_selection, "Ctrl+C")]
        if clean_typed_text(text_of_clipboard()):
            items.append(MenuItem("Paste", self.paste, "Ctrl+V"))
        if self.text:
            items.append(MenuItem("Select all", self.select_all_text, "Ctrl+A"))
        return items

    # --- mouse ------------------------------------------------------------------------------------

    def handle_mouse(self, event: pygame.event.Event, position: tuple[int, int]) -> bool:
        if self.is_mouse_pressed:
            return self._handle_drag(event, position)
        is_inside = self.contains_point(position) and self.is_enabled
        if is_inside != self._is_hovered:
            self._is_hovered = is_inside
            self.repaint()
        if event.type != pygame.MOUSEBUTTONDOWN or not is_inside or event.button not in (1, 3):
            return False
        if event.button == 1:
            self._handle_press(position)
        else:
            self._open_menu(position)
        return True

    def _handle_press(self, position: tuple[int, int]) -> None:
        self.is_mouse_pressed = True
        index = self._index_at(position)
        if pygame.key.get_mods() & pygame.KMOD_SHIFT:
            self._edit(partial(self.editor.extend_mouse_selection, index))
        else:
            unit = tuple(SelectionUnit)[self._count_click(position) - 1]
            self._edit(partial(self.editor.begin_mouse_selection, index, unit))

    def _count_click(self, position: tuple[int, int]) -> int:
        """Return 1 for a single click, 2 for a double click, 3 for a triple click; a fourth click is a single one."""
        (x, y), last_ms, count = self._last_click
        now_ms, reach = pygame.time.get_ticks(), self.dialog.to_px(_MULTIPLE_CLICK_DISTANCE)
        is_near = abs(position[0] - x) <= reach and abs(position[1] - y) <= reach
        count = count % 3 + 1 if is_near and now_ms - last_ms < MULTIPLE_CLICK_MS else 1
        self._last_click = (position, now_ms, count)
        return count

    def _handle_drag(self, event: pygame.event.Event, position: tuple[int, int]) -> bool:
        if event.type == pygame.MOUSEMOTION:
            self._drag_to(position)
        elif event.type == pygame.MOUSEBUTTONUP and event.button == 1:
            self.is_mouse_pressed = False
        else:
            return False
        return True

    def _drag_to(self, position: tuple[int, int]) -> None:
        self._edit(partial(self.editor.drag_mouse_selection, self._index_at(position)))

    @property
    def _scrolls_by_drag(self) -> bool:
        """Return whether the pointer is dragged beyond the left or right end, so that the text scrolls on."""
        x, width = self.dialog.mouse_position[0] - self.element.rect.x, self.element.rect.width
        return self.is_mouse_pressed and not 0 <= x < width

    def _index_at(self, position: tuple[int, int]) -> int:
        x = position[0] - self.element.rect.x - self._text_box[0] + self._scroll_px
        return index_at_x(self.text, x, self._measure)

    def _open_menu(self, position: tuple[int, int]) -> None:
        """Open the context menu; a click outside the selection first places the caret there."""
        self.dialog.focus_control(self)
        index, (first, end) = self._index_at(position), self.editor.selection
        if not first <= index <= end:
            self._edit(partial(self.editor.place_caret, index))
        items = self._menu_items()
        if items:
            self.dialog.open_menu(Menu("Text", items, position))

    # --- drawing ----------------------------------------------------------------------------------

    @property
    def _text_box(self) -> Box:
        """Return the rectangle in which text is visible, in pixels from the upper left corner of the field."""
        width, height = self.element.surface.get_size()
        padding = min(self.dialog.to_px(_PADDING), (width - 1) // 2)
        line_height = min(self.dialog.to_px(_LINE_HEIGHT), height)
        return (padding, (height - line_height) // 2, width - 2 * padding, line_height)

    @property
    def _caret_width(self) -> int:
        return max(1, self.dialog.to_px(1))

    def _measure(self, text: str) -> int:
        return self.dialog.canvas.text_width(text, _TEXT_SIZE, self.font_face)

    def _caret_x(self, state: TextState) -> int:
        return self._measure(state.text[: state.caret])

    def paint_control(self, pen: Canvas) -> None:
        palette = pen.palette
        ground = palette.raised if self.is_enabled else mix_colours(palette.raised, palette.surface, 0.5)
        pen.fill_box(self.local_box, ground, 6)
        pen.draw_outline(self.local_box, self._border_colour(pen), 6)
        state = self.editor.shown_state
        with pen.clip_drawing_to_box(self._text_box):
            if state.text:
                self._paint_text(pen, state)
            elif self.placeholder:
                x, y, width, height = self._text_box
                pen.draw_text(
                    (x, y + height // 2),
                    self.placeholder,
                    size=_TEXT_SIZE,
                    face=self.font_face,
                    colour=palette.dim,
                    middle=True,
                    width=width,
                )
            if self._is_caret_visible:
                self._fill_span(pen, state.text, state.caret, state.caret, palette.text)

    def _border_colour(self, pen: Canvas) -> Colour:
        palette = pen.palette
        if self.has_problem:
            return palette.warning
        return palette.dim if self._is_hovered and not self.has_focus else palette.edge

    def _paint_text(self, pen: Canvas, state: TextState) -> None:
        palette, editor = pen.palette, self.editor
        if self.has_focus and editor.selected_text and not editor.is_composing:
            self._fill_span(pen, state.text, *editor.selection, mix_colours(palette.accent, palette.raised, 0.45))
        self._draw_visible_text(pen, state.text)
        if editor.is_composing:
            first, end = editor.composition_span
            self._fill_span(pen, state.text, first, end, palette.accent, height=self._caret_width)

    def _draw_visible_text(self, pen: Canvas, text: str) -> None:
        """Draw only the visible part of a text, because an image of a long text would need megabytes."""
        x, y, width, height = self._text_box
        first = index_at_x(text, self._scroll_px - height, self._measure)
        end = index_at_x(text, self._scroll_px + width + height, self._measure)
        colour = pen.palette.text if self.is_enabled else mix_colours(pen.palette.dim, pen.palette.surface, 0.4)
        font = pen.font_cache.load_font(self.font_face, pen.to_px(_TEXT_SIZE))
        image = font.render(text[first:end], True, colour)
        left = x + self._measure(text[:first]) - self._scroll_px
        pen.surface.blit(image, (left, y + (height - image.get_height()) // 2))

    def _fill_span(
        self, pen: Canvas, text: str, first: int, end: int, colour: Colour, height: int | None = None
    ) -> None:
        """Fill the rectangle behind a part of a text, or of the caret if the part is empty.

        Args:
            pen: Canvas.
            text: The shown text.
            first: Index of the first character of the part.
            end: Index of the end of the part.
            colour: Colour of the rectangle.
            height: Height in pixels at the bottom of the line; None for the height of the line.
        """
        x, y, _, line_height = self._text_box
        left, right = self._measure(text[:first]), self._measure(text[:end])
        top = y if height is None else y + line_height - height
        width = right - left if end > first else self._caret_width
        pen.fill_box((x + left - self._scroll_px, top, width, height or line_height), colour)
