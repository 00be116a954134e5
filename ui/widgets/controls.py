"""Controls of dialogs: text fields, and focusable controls painted with the canvas (ui/widgets/canvas.py).

Only text fields use an interactive element of pygame_gui, for its text selection, clipboard and key repeat.

Each control handles keys while it has the focus and detects its own changes in `report_changes`. A dialog therefore
reacts in the same frame, without events that take a round trip through the queue.

Every element has the card (the background of the dialog) as its parent element, also inside a scrolling container.
Otherwise pygame_gui would build all combinations of the names of an element's ancestors, which took 3 ms per element.
"""

from collections.abc import Callable, Sequence

import pygame
from pygame_gui.core import UIContainer, UIElement
from pygame_gui.core.interfaces import IContainerLikeInterface
from pygame_gui.core.utility import clipboard_paste
from pygame_gui.elements import UITextEntryLine

from sim.params import clean_typed_text, escape_unprintable
from ui.draw.theme import Colour, mix_colours
from ui.model.layout import Box
from ui.widgets.canvas import SLIDER_HANDLE_RADIUS, Canvas, slider_share_at
from ui.widgets.dialog_interfaces import WidgetDialog

_PRESS_KEYS = (pygame.K_RETURN, pygame.K_KP_ENTER, pygame.K_SPACE)
_SHORTCUT_MODIFIERS = pygame.KMOD_CTRL | pygame.KMOD_ALT


class Control:
    """Base class of everything in a dialog that can have the keyboard focus."""

    is_text_entry = False  # whether the user types text into the control
    can_focus = True
    shows_focus_ring = True  # whether the focused control has an outline
    name = ""  # name by which the control is found again after the dialog was rebuilt
    element: UIElement

    def __init__(self, dialog: WidgetDialog) -> None:
        self.dialog = dialog
        self.has_focus = False
        self.is_mouse_pressed = False  # whether the mouse button was pressed on the control and has not been released

    def handle_key(self, event: pygame.event.Event) -> bool:
        """Handle a key press while the control has the focus, and return whether the event was used."""
        return False

    def handle_mouse(self, event: pygame.event.Event, position: tuple[int, int]) -> bool:
        """Handle a mouse event, also outside the control, and return whether the event was used."""
        return False

    def report_changes(self) -> None:
        """Detect input that pygame_gui processed since the last call, and report it to the control's callback."""

    def update_control(self, seconds: float) -> None:
        """Advance timers and animations; called once per frame."""

    @property
    def is_animated(self) -> bool:
        """Return whether the control will soon look different without user input, and needs a redraw."""
        return False

    def set_focused(self, has_focus: bool) -> None:
        self.has_focus = has_focus

    def complete_entry(self) -> None:
        """Complete the user's entry, because the keyboard focus moves to another control."""

    def contains_point(self, position: tuple[int, int]) -> bool:
        """Return whether a position is on the visible part of the control."""
        return bool(self.element.visible) and self.element.hover_point(*position)

    def remove(self) -> None:
        self.element.kill()


# --- elements of pygame_gui -----------------------------------------------------------------------


_MIN_TEXT_FIELD_SIDE_PX = (
    8  # minimum width and height of a text field in pixels; pygame_gui warns if the borders do not fit
)


class _PrintableTextEntry(UITextEntryLine):
    """Text entry that accepts only printable characters, because pygame_gui fails on characters without a width."""

    def set_text(self, text: str | None) -> None:
        super().set_text(None if text is None else clean_typed_text(text)[: self.length_limit])

    def _process_entered_character(self, character: str) -> bool:
        """Accept a typed character if it is printable, and return whether it was accepted."""
        character = clean_typed_text(character)
        return bool(character) and super()._process_entered_character(character)

    def _do_paste(self) -> None:
        """Replace the selection by the clipboard's text, cut to the length limit."""
        try:
            pasted = clean_typed_text(clipboard_paste() or "")
        except pygame.error:  # the system has no clipboard
            return
        selected = sorted(self.select_range)
        first, end = selected if selected[0] < selected[1] else (self.edit_position, self.edit_position)
        head, tail = self.text[:first], self.text[end:]
        if self.length_limit is not None:
            pasted = pasted[: max(0, self.length_limit - len(head) - len(tail))]
        self.set_text(head + pasted + tail)
        self.select_range = [0, 0]
        self.edit_position = len(head + pasted)
        self.cursor_has_moved_recently = True


class TextField(Control):
    """Text field of one line; the callback `on_change` gets the text after every change by the user."""

    is_text_entry = True
    element: _PrintableTextEntry

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
        container: IContainerLikeInterface | None = None,
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
            hint: Placeholder shown while the field is empty. It looks like entered text, so its wording must say that
                it is only a hint.
            container: Container of the element; by default that of the dialog.
            finished: Callback without arguments, called when the field loses the focus.
        """
        super().__init__(dialog)
        self.on_text_changed, self.on_focus_lost = changed, finished
        # Enlarge the field to the minimum size, because `rect` can be smaller in a tiny window.
        field_rect = rect.union((*rect.topleft, _MIN_TEXT_FIELD_SIDE_PX, _MIN_TEXT_FIELD_SIDE_PX))
        clean_text = clean_typed_text(escape_unprintable(text))
        self.element = _PrintableTextEntry(
            field_rect,
            dialog.host.gui_manager,
            container or dialog.widget_container,
            parent_element=dialog.card_background,
            initial_text=clean_text,
            placeholder_text=clean_typed_text(hint),
            object_id="#mono_field" if mono else None,
        )
        self.element.set_text_length_limit(longest)
        self._reported_text = clean_text

    @property
    def text(self) -> str:
        return str(self.element.get_text())

    def set_text(self, text: str) -> None:
        """Replace the text without calling `on_change`."""
        text = clean_typed_text(escape_unprintable(text))
        if text != self.text:
            self.element.set_text(text)
            # Clear the selection of the old text, because pygame_gui keeps it and fails when a key deletes it.
            self.element.select_range = [0, 0]
        self._reported_text = text

    def report_changes(self) -> None:
        if self.text != self._reported_text:
            self._reported_text = self.text
            if self.on_text_changed:
                self.on_text_changed(self._reported_text)

    def select_all_text(self) -> None:
        """Select the whole text with the cursor at its end, so that typing replaces it and End keeps it."""
        self.element.select_range = [0, len(self.text)]
        self.element.edit_position = len(self.text)
        self.element.cursor_has_moved_recently = True

    def set_focused(self, has_focus: bool) -> None:
        super().set_focused(has_focus)
        if not has_focus:
            # Reset this flag, because pygame_gui's next update would otherwise show the text cursor again.
            self.element.cursor_has_moved_recently = False

    def move_cursor_to_end(self) -> None:
        self.element.select_range = [0, 0]
        self.element.edit_position = len(self.text)
        self.element.cursor_has_moved_recently = True

    def complete_entry(self) -> None:
        self.report_changes()
        if self.on_focus_lost:
            self.on_focus_lost()


# --- drawn with the canvas ------------------------------------------------------------------------


class PaintedElement(UIElement):
    """Element of pygame_gui whose image is painted by a callback; the image is opaque, so no blending is needed."""

    def __init__(
        self,
        dialog: WidgetDialog,
        rect: pygame.Rect,
        paint: Callable[[Canvas], None],
        container: IContainerLikeInterface | None = None,
        height: int = 1,
    ) -> None:
        super().__init__(
            rect,
            dialog.host.gui_manager,
            container or dialog.widget_container,
            starting_height=height,
            layer_thickness=1,
            parent_element=dialog.card_background,
            element_id=["drawn"],
        )
        self.dialog, self._paint_callback = dialog, paint
        self.surface = pygame.Surface((max(1, rect.width), max(1, rect.height)), pygame.SRCALPHA, 32)

    def repaint(self) -> None:
        """Paint the image of the element again, because its content has changed."""
        pen, host = self.dialog.canvas, self.dialog.host
        self.surface.fill(host.palette.surface)
        x, y = self.dialog.mouse_position
        pen.begin_frame(self.surface, host.palette, host.ui_scale, (x - self.rect.x, y - self.rect.y))
        self._paint_callback(pen)
        self._set_image(self.surface)


class PaintedControl(Control):
    """Base class of controls that are painted with the window's canvas."""

    element: PaintedElement

    def __init__(
        self, dialog: WidgetDialog, rect: pygame.Rect, container: IContainerLikeInterface | None = None
    ) -> None:
        """Create the element and paint it. Subclasses first set the attributes that `paint_control` uses."""
        super().__init__(dialog)
        self.element = PaintedElement(dialog, rect, self.paint_control, container)
        self.element.repaint()

    def paint_control(self, pen: Canvas) -> None:
        raise NotImplementedError

    def repaint(self) -> None:
        self.element.repaint()

    @property
    def local_box(self) -> Box:
        """Return the rectangle to paint in: the whole control, with the upper left corner at (0, 0)."""
        return (0, 0, *self.element.surface.get_size())


class FocusRing(UIElement):
    """Outline of the focused control; it is transparent to the mouse."""

    def __init__(self, dialog: WidgetDialog) -> None:
        self.dialog = dialog
        super().__init__(
            pygame.Rect(0, 0, 1, 1),
            dialog.host.gui_manager,
            dialog.widget_container,
            starting_height=6,
            layer_thickness=1,
            element_id=["focus_ring"],
            visible=0,
        )

    def surround_control(self, control: Control | None) -> None:
        """Move the ring to a control, or hide it if the control is None or shows no ring."""
        if control is None or not control.shows_focus_ring:
            self.hide()
            return
        element = control.element
        if element.ui_container is not self.ui_container:
            self.set_container(element.ui_container)
        pen, host = self.dialog.canvas, self.dialog.host
        rect = pen.focus_ring_rect(pygame.Rect(element.get_relative_rect()))
        image = pygame.Surface(rect.size, pygame.SRCALPHA, 32)
        pen.begin_frame(image, host.palette, host.ui_scale, (-1, -1))
        pen.draw_focus_ring(image.get_rect())
        self.set_dimensions(rect.size)
        self.set_relative_position(rect.topleft)
        self._set_image(image)
        self.show()

    def hover_point(self, hover_x: float, hover_y: float) -> bool:
        return False


class ModalBackdrop(UIElement):
    """Invisible modal backdrop that covers the window and keeps the mouse away from the elements below it."""

    def __init__(self, dialog: WidgetDialog, layer: int) -> None:
        gui = dialog.host.gui_manager
        rect = pygame.Rect((0, 0), dialog.host.window_size)
        super().__init__(rect, gui, None, starting_height=layer, layer_thickness=1, element_id=["veil"])
        self._set_image(gui.get_universal_empty_surface())


class DialogCard(UIElement):
    """Background of a dialog with rounded corners; creating a rounded panel of pygame_gui in this size takes 0.3 s."""

    CORNER_RADIUS = 10

    def __init__(self, dialog: WidgetDialog, container: UIContainer) -> None:
        rect = pygame.Rect((0, 0), dialog.card_rect.size)
        super().__init__(
            rect, dialog.host.gui_manager, container, starting_height=1, layer_thickness=1, element_id=["card"]
        )
        palette = dialog.host.palette
        self._set_image(
            _rounded_card_image(
                rect.size, dialog.to_px(self.CORNER_RADIUS), dialog.to_px(1), palette.surface, palette.edge
            )
        )


def _rounded_card_image(size: tuple[int, int], radius: int, line: int, ground: Colour, edge: Colour) -> pygame.Surface:
    """Return an image of a rounded rectangle with antialiased corners, in premultiplied alpha as pygame_gui requires.

    Args:
        size: Width and height in pixels.
        radius: Radius of the corners in pixels.
        line: Width of the border in pixels, at least 1.
        ground: Colour of the inside.
        edge: Colour of the border.
    """
    oversampling, line = 4, max(1, line)
    disc = pygame.Surface((2 * radius * oversampling,) * 2, pygame.SRCALPHA, 32)
    centre = (radius * oversampling,) * 2
    pygame.draw.circle(disc, edge, centre, radius * oversampling)
    pygame.draw.circle(disc, ground, centre, (radius - line) * oversampling)
    corners = pygame.transform.smoothscale(disc, (2 * radius,) * 2)
    image = pygame.Surface(size, pygame.SRCALPHA, 32)
    image.fill(edge)
    image.fill(ground, image.get_rect().inflate(-2 * line, -2 * line))
    for right in (0, 1):
        for bottom in (0, 1):
            corner_pos = (right * (size[0] - radius), bottom * (size[1] - radius))
            image.fill((0, 0, 0, 0), (*corner_pos, radius, radius))
            image.blit(
                corners, corner_pos, (right * radius, bottom * radius, radius, radius), pygame.BLEND_PREMULTIPLIED
            )
    return image


class DialogHeading:
    """Title and hint at the top of a card, and the button that closes the dialog."""

    def __init__(self, dialog: WidgetDialog, rect: pygame.Rect) -> None:
        self.dialog = dialog
        # Make the image smaller than `rect`, so that it does not cover the rounded corners of the card.
        inset = dialog.to_px(12)
        self.heading_element = PaintedElement(dialog, rect.inflate(-2 * inset, -2 * (inset // 2)), self._paint_heading)
        side = dialog.to_px(28)
        button_rect = pygame.Rect(rect.right - dialog.to_px(20) - side, dialog.to_px(16), side, side)
        self.close_button = Button(dialog, button_rect, "\u00d7", dialog.cancel)
        self.close_button.can_focus = (
            False  # the Tab key skips this button, because the Escape key closes the dialog too
        )
        self.repaint()

    def repaint(self) -> None:
        self.heading_element.repaint()

    def _paint_heading(self, pen: Canvas) -> None:
        dialog = self.dialog
        box = pygame.Rect(self.heading_element.relative_rect)
        left, middle = dialog.to_px(24) - box.x, dialog.to_px(30) - box.y
        text_width = box.width - left - dialog.to_px(48)
        title_width = pen.draw_text((left, middle), dialog.title, size=18, face="bold", middle=True, width=text_width)
        hint_left = left + title_width + dialog.to_px(14)
        if hint := dialog.shown_hint:
            pen.draw_text(
                (hint_left, middle + dialog.to_px(2)),
                hint,
                size=13,
                colour=pen.palette.dim,
                middle=True,
                width=max(0, text_width - title_width - dialog.to_px(14)),
            )


class TextLabel(PaintedControl):
    """Paragraph of text that cannot have the keyboard focus; lines that do not fit are left out."""

    can_focus = False

    def __init__(
        self,
        dialog: WidgetDialog,
        rect: pygame.Rect,
        text: str,
        *,
        size: float = 13,
        role: str = "text",
        face: str = "sans",
        container: IContainerLikeInterface | None = None,
        middle: bool = False,
    ) -> None:
        """Create the text.

        Args:
            dialog: Dialog that contains the text.
            rect: Rectangle in the container, in pixels.
            text: The text.
            size: Font size in design units.
            role: Name of the palette's colour for the text.
            face: Name of the font: "sans", "bold" or "mono". Only "sans" is wrapped.
            container: Container of the element; by default that of the dialog.
            middle: Whether to draw a single line, centred vertically.
        """
        self.text, self.size, self.colour_name, self.font_face, self.is_centred = text, size, role, face, middle
        super().__init__(dialog, rect, container)

    def set_text(self, text: str, role: str | None = None) -> None:
        if (text, role or self.colour_name) != (self.text, self.colour_name):
            self.text, self.colour_name = text, role or self.colour_name
            self.repaint()

    def paint_control(self, pen: Canvas) -> None:
        width, height = self.element.surface.get_size()
        colour = getattr(pen.palette, self.colour_name)
        if self.is_centred:
            pen.draw_text(
                (0, height // 2),
                self.text,
                size=self.size,
                colour=colour,
                face=self.font_face,
                middle=True,
                width=width,
            )
        elif self.font_face == "sans":
            pen.draw_wrapped_text((0, 0, width, height), self.text, size=self.size, colour=colour)
        else:
            pen.draw_text((0, 0), self.text, size=self.size, colour=colour, face=self.font_face, width=width)


class ProblemNote(PaintedControl):
    """Area of a dialog for an error message; while there is no error, a callback paints the area instead."""

    can_focus = False
    FONT_SIZE = 12

    def __init__(
        self,
        dialog: WidgetDialog,
        rect: pygame.Rect,
        text: str = "",
        otherwise: Callable[[Canvas], None] = lambda pen: None,
    ) -> None:
        self.text, self._paint_when_no_problem = text, otherwise
        super().__init__(dialog, rect)

    def set_text(self, text: str) -> None:
        if text != self.text:
            self.text = text
            self.repaint()

    def has_room_for_text(self, text: str) -> bool:
        pen = self.dialog.canvas
        width, height = self.element.surface.get_size()
        return (
            len(wrap_text_and_break_words(pen, text, width, self.FONT_SIZE)) * pen.to_px(self.FONT_SIZE * 1.45)
            <= height
        )

    def paint_control(self, pen: Canvas) -> None:
        if not self.text:
            self._paint_when_no_problem(pen)
            return
        width, height = pen.surface.get_size()
        line = pen.to_px(self.FONT_SIZE * 1.45)
        lines = wrap_text_and_break_words(pen, self.text, width, self.FONT_SIZE)
        y = max(0, (height - line * len(lines)) // 2)
        for index, text in enumerate(lines):
            pen.draw_text((0, y + index * line), text, size=self.FONT_SIZE, colour=pen.palette.warning)


def wrap_text_and_break_words(pen: Canvas, text: str, width: int, size: float) -> list[str]:
    """Wrap a text and return its lines; a word longer than a line, such as a path, is broken."""
    return [part for line in pen.wrap_text(text, width, size) for part in _break_long_line(pen, line, width, size)]


def _break_long_line(pen: Canvas, line: str, width: int, size: float) -> list[str]:
    parts = []
    while pen.text_width(line, size) > width and len(line) > 1:
        fits = len(pen.shorten_text(line, width, size)) - len("...")
        parts.append(line[: max(1, fits)])
        line = line[max(1, fits) :]
    return [*parts, line]


class Button(PaintedControl):
    """Labelled button, pressed by a click, Enter or Space.

    `button_style` is "" for a plain button, "main" for one with the accent colour, and "danger" for one in the warning
    colour.
    """

    def __init__(
        self,
        dialog: WidgetDialog,
        rect: pygame.Rect,
        label: str,
        action: Callable[[], None],
        kind: str = "",
        container: IContainerLikeInterface | None = None,
    ) -> None:
        self.on_press, self.label, self.button_style = action, label, kind
        self.is_enabled = True
        self._ignores_presses = False
        self._is_hovered = False
        super().__init__(dialog, rect, container)

    def press_button(self) -> None:
        if self.is_enabled and not self._ignores_presses:
            self.on_press()

    def set_ignoring_presses(self, is_settling: bool) -> None:
        """Set whether the button ignores presses because it has just replaced another button in the same position.

        While it settles, the button looks disabled but keeps the keyboard focus.
        """
        if is_settling != self._ignores_presses:
            self._ignores_presses = is_settling
            self.repaint()

    def handle_key(self, event: pygame.event.Event) -> bool:
        if event.key in _PRESS_KEYS and not event.mod & _SHORTCUT_MODIFIERS:
            self.press_button()
            return True
        return False

    def handle_mouse(self, event: pygame.event.Event, position: tuple[int, int]) -> bool:
        is_hovered = self.contains_point(position)
        if is_hovered != self._is_hovered:
            self._is_hovered = is_hovered
            self.repaint()
        if is_hovered and event.type == pygame.MOUSEBUTTONDOWN and event.button == 1:
            self.press_button()
            return True
        return False

    def set_enabled(self, is_enabled: bool) -> None:
        if is_enabled != self.is_enabled:
            self.is_enabled = self.can_focus = is_enabled
            self.repaint()

    def paint_control(self, pen: Canvas) -> None:
        colour = pen.palette.warning if self.button_style == "danger" else None
        action = _ignore_click if self.is_enabled and not self._ignores_presses else None
        pen.draw_button(
            "", self.local_box, self.label, action, is_on=self.button_style == "main", size=14, colour=colour
        )


class Slider(PaintedControl):
    """Slider with the steps 0 to `last_step`, moved by arrow keys, dragging, or a click on its track."""

    def __init__(
        self,
        dialog: WidgetDialog,
        rect: pygame.Rect,
        value: int,
        last: int,
        changed: Callable[[int], None],
        stepped: Callable[[int], None] | None = None,
        container: IContainerLikeInterface | None = None,
    ) -> None:
        """Create the slider.

        Args:
            dialog: Dialog that contains the slider.
            rect: Rectangle in the container, in pixels.
            value: Initial step.
            last: Largest step.
            changed: Callback that gets the new step.
            stepped: Callback that gets the number of steps of a key press and moves the slider itself, for callers
                whose steps differ from those of the slider. None to move the slider by its own steps.
            container: Container of the element; by default that of the dialog.
        """
        self.last_step, self.on_step_changed, self.on_key_steps = max(1, last), changed, stepped
        self.slider_step = self._clamped_step(value)
        super().__init__(dialog, rect, container)

    def _clamped_step(self, value: int) -> int:
        return min(max(value, 0), self.last_step)

    def set_slider_step(self, value: int) -> None:
        """Move the handle without calling `on_change`."""
        if self._clamped_step(value) != self.slider_step:
            self.slider_step = self._clamped_step(value)
            self.repaint()

    def _change_slider_step(self, value: int) -> None:
        if self._clamped_step(value) != self.slider_step:
            self.set_slider_step(value)
            self.on_step_changed(self.slider_step)

    def handle_key(self, event: pygame.event.Event) -> bool:
        steps = {pygame.K_LEFT: -1, pygame.K_RIGHT: 1, pygame.K_PAGEDOWN: -10, pygame.K_PAGEUP: 10}.get(event.key)
        if steps is None or event.mod & _SHORTCUT_MODIFIERS:
            return False
        self._move_by_steps(steps * (10 if event.mod & pygame.KMOD_SHIFT else 1))
        return True

    def _move_by_steps(self, steps: int) -> None:
        if self.on_key_steps:
            self.on_key_steps(steps)
        else:
            self._change_slider_step(self.slider_step + steps)

    def handle_mouse(self, event: pygame.event.Event, position: tuple[int, int]) -> bool:
        if self.is_mouse_pressed and event.type == pygame.MOUSEBUTTONUP and event.button == 1:
            self.is_mouse_pressed = False
        elif self.is_mouse_pressed and event.type == pygame.MOUSEMOTION:
            self._change_slider_step(self._step_at_x(position[0]))
        elif event.type == pygame.MOUSEBUTTONDOWN and event.button == 1 and self.contains_point(position):
            self.is_mouse_pressed = True
            self._change_slider_step(self._step_at_x(position[0]))
        else:
            return False
        return True

    def _step_at_x(self, x: int) -> int:
        rect = self.element.rect
        return round(self.last_step * slider_share_at(x - rect.x, rect.width, self.dialog.to_px(SLIDER_HANDLE_RADIUS)))

    def paint_control(self, pen: Canvas) -> None:
        pen.draw_slider("", self.local_box, self.slider_step / self.last_step, _ignore_position, _ignore_position, "")


class CheckBox(PaintedControl):
    """Check box with a label to its right; a click on either toggles the check box."""

    def __init__(
        self,
        dialog: WidgetDialog,
        rect: pygame.Rect,
        label: str,
        is_on: bool,
        changed: Callable[[bool], None],
        container: IContainerLikeInterface | None = None,
    ) -> None:
        self.label, self.is_checked, self.on_toggled = label, is_on, changed
        super().__init__(dialog, rect, container)

    def set_checked(self, is_on: bool) -> None:
        self.is_checked = is_on
        self.repaint()

    def toggle_checked(self) -> None:
        self.set_checked(not self.is_checked)
        self.on_toggled(self.is_checked)

    def handle_key(self, event: pygame.event.Event) -> bool:
        if event.key == pygame.K_SPACE and not event.mod & _SHORTCUT_MODIFIERS:
            self.toggle_checked()
            return True
        return False

    def handle_mouse(self, event: pygame.event.Event, position: tuple[int, int]) -> bool:
        if event.type == pygame.MOUSEBUTTONDOWN and event.button == 1 and self.contains_point(position):
            self.toggle_checked()
            return True
        return False

    def paint_control(self, pen: Canvas) -> None:
        width, height = self.element.surface.get_size()
        left = pen.to_px(4)
        pen.draw_check_box("", (left, 0, width, height), self.is_checked, _ignore_click)
        pen.draw_text(
            (left + pen.to_px(24), height // 2), self.label, size=14, middle=True, width=width - left - pen.to_px(24)
        )


class ChoiceControl(PaintedControl):
    """Row of buttons of which exactly one is chosen; all choices are visible."""

    def __init__(
        self,
        dialog: WidgetDialog,
        rect: pygame.Rect,
        options: Sequence[tuple[str, str]],
        chosen: str,
        changed: Callable[[str], None],
        container: IContainerLikeInterface | None = None,
    ) -> None:
        """Create the row.

        Args:
            dialog: Dialog that contains the row.
            rect: Rectangle in the container, in pixels.
            options: The choices as (value, label).
            chosen: Value of the initial choice.
            changed: Callback that gets the value of a new choice.
            container: Container of the element; by default that of the dialog.
        """
        self.options, self.chosen_value, self.on_value_chosen = list(options), chosen, changed
        self._hovered_index = -1  # index of the choice under the pointer; -1 for none
        super().__init__(dialog, rect, container)

    def set_chosen_value(self, chosen: str) -> None:
        self.chosen_value = chosen
        self.repaint()

    def replace_options(self, options: Sequence[tuple[str, str]]) -> None:
        """Replace the choices; if they lack the chosen value, the caller must call `set` next."""
        self.options, self._hovered_index = list(options), -1
        self.repaint()

    def choose_value(self, value: str) -> None:
        if value != self.chosen_value:
            self.set_chosen_value(value)
            self.on_value_chosen(value)

    def handle_key(self, event: pygame.event.Event) -> bool:
        step = {pygame.K_LEFT: -1, pygame.K_RIGHT: 1}.get(event.key, 1 if event.key == pygame.K_SPACE else None)
        if step is None or event.mod & _SHORTCUT_MODIFIERS:
            return False
        values = [value for value, _ in self.options]
        index = values.index(self.chosen_value) if self.chosen_value in values else -1
        self.choose_value(values[(index + step) % len(values)])
        return True

    def handle_mouse(self, event: pygame.event.Event, position: tuple[int, int]) -> bool:
        index = self._option_index_at(position)
        if index != self._hovered_index:
            self._hovered_index = index
            self.repaint()
        if event.type == pygame.MOUSEBUTTONDOWN and event.button == 1 and index >= 0:
            self.choose_value(self.options[index][0])
            return True
        return False

    def _option_boxes(self) -> list[Box]:
        return self.dialog.canvas.segment_boxes(self.local_box, [label for _, label in self.options])

    def _option_index_at(self, position: tuple[int, int]) -> int:
        if not self.contains_point(position):
            return -1
        x = position[0] - self.element.rect.x
        return next((i for i, box in enumerate(self._option_boxes()) if box[0] <= x < box[0] + box[2]), -1)

    def paint_control(self, pen: Canvas) -> None:
        pen.draw_segmented_control(
            "", self.local_box, [(value, label, "") for value, label in self.options], self.chosen_value, _ignore_choice
        )


class PaintedArea(PaintedControl):
    """Area of a dialog that a callback paints and that cannot have the keyboard focus."""

    can_focus = False

    def __init__(
        self,
        dialog: WidgetDialog,
        rect: pygame.Rect,
        picture: Callable[[Canvas], None],
        container: IContainerLikeInterface | None = None,
    ) -> None:
        self._paint_callback = picture
        super().__init__(dialog, rect, container)

    def paint_control(self, pen: Canvas) -> None:
        self._paint_callback(pen)


def _ignore_click() -> None:
    """Do nothing; the control handles clicks itself, but `Canvas` would draw a button without an action as disabled."""


def _ignore_choice(value: str) -> None:
    """Ignore a choice, because `ChoiceControl` handles the mouse itself and uses the canvas only to paint."""


def _ignore_position(position: float) -> None:
    """Ignore a position, because `Slider` handles the mouse itself and uses `Canvas.draw_slider` only for painting."""


def selected_row_colour(pen: Canvas, share: float = 0.22) -> Colour:
    """Return the background colour of selected rows: `share` of the accent colour mixed into the surface colour."""
    return mix_colours(pen.palette.surface, pen.palette.accent, share)
