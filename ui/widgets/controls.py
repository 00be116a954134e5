"""Controls of dialogs: buttons, sliders, check boxes, choices and texts, painted with the window's canvas.

A control keeps its own image and paints it again only when it changes. It handles keys while it has the focus, and
mouse events at any time, and reports changes to its callback at once. Text fields are in ui/widgets/text_field.py.

A click acts when the mouse button is released over the control that was pressed, so a press can be cancelled by moving
the pointer away.
"""

from collections.abc import Callable, Sequence

import pygame

from ui.draw.theme import Colour, mix_colours
from ui.model.layout import Box
from ui.widgets.canvas import SLIDER_HANDLE_RADIUS, Canvas, slider_share_at
from ui.widgets.dialog_interfaces import ClipArea, WidgetDialog

_PRESS_KEYS = (pygame.K_RETURN, pygame.K_KP_ENTER, pygame.K_SPACE)
SHORTCUT_MODIFIERS = pygame.KMOD_CTRL | pygame.KMOD_ALT


class PaintedElement:
    """Opaque image in a dialog, painted by a callback when its content changes and clipped to an area."""

    def __init__(
        self,
        dialog: WidgetDialog,
        rect: pygame.Rect,
        paint: Callable[[Canvas], None],
        container: ClipArea | None = None,
    ) -> None:
        """Add an element to a dialog, on top of all elements that were added before.

        Args:
            dialog: Dialog that contains the element.
            rect: Rectangle in the area, in pixels.
            paint: Callback that paints the element on a surface of its size.
            container: Area that contains the element; by default that of the dialog.
        """
        self.dialog, self._paint_callback = dialog, paint
        self.widget_container = container or dialog.widget_container
        self.relative_rect = pygame.Rect(rect.topleft, (max(1, rect.width), max(1, rect.height)))
        self.surface = pygame.Surface(self.relative_rect.size, 0, 32)
        dialog.elements.append(self)

    @property
    def rect(self) -> pygame.Rect:
        """Return the rectangle in window pixels, with the parts that are scrolled out of view."""
        return self.widget_container.rect_in_window(self.relative_rect)

    def contains_point(self, position: tuple[int, int]) -> bool:
        """Return whether a position in the window is on the visible part of the element."""
        return bool(self.rect.clip(self.widget_container.visible_rect).collidepoint(position))

    def repaint(self) -> None:
        """Paint the image of the element again, because its content has changed."""
        pen, host = self.dialog.canvas, self.dialog.host
        self.surface.fill(host.palette.surface)
        x, y = self.dialog.mouse_position
        pen.begin_frame(self.surface, host.palette, host.ui_scale, (x - self.rect.x, y - self.rect.y))
        pen.pressed_id = None
        self._paint_callback(pen)

    def draw_element(self, window: pygame.Surface) -> None:
        """Draw the visible part of the image on the window."""
        visible = self.rect.clip(self.widget_container.visible_rect)
        window.blit(self.surface, visible, visible.move(-self.rect.x, -self.rect.y))

    def remove(self) -> None:
        if self in self.dialog.elements:
            self.dialog.elements.remove(self)


class Control:
    """Base class of everything in a dialog that can have the keyboard focus."""

    is_text_entry = False  # whether the user types text into the control
    can_focus = True
    shows_focus_ring = True  # whether the focused control has an outline
    cursor_shape = pygame.SYSTEM_CURSOR_ARROW  # shape of the mouse cursor over the control
    name = ""  # name by which the control is found again after the dialog was rebuilt
    element: PaintedElement

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
        return self.element.contains_point(position)

    def continue_from(self, replaced: "Control") -> None:
        """Take over the unfinished input of the control that this one replaces in a rebuilt dialog."""

    def remove(self) -> None:
        self.element.remove()


class PaintedControl(Control):
    """Base class of controls that are painted with the window's canvas."""

    def __init__(self, dialog: WidgetDialog, rect: pygame.Rect, container: ClipArea | None = None) -> None:
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


class PressableControl(PaintedControl):
    """Base class of controls with parts that a click activates when the mouse button is released."""

    def __init__(self, dialog: WidgetDialog, rect: pygame.Rect, container: ClipArea | None = None) -> None:
        self._hovered_part = self._pressed_part = -1  # index of the part under the pointer, or pressed; -1 for none
        super().__init__(dialog, rect, container)

    def part_at(self, position: tuple[int, int]) -> int:
        """Return the index of the part at a position in the window; -1 if there is none, or it is disabled."""
        return 0 if self.contains_point(position) else -1

    def activate_part(self, index: int) -> None:
        """Do what a click on a part does."""
        raise NotImplementedError

    def continue_from(self, replaced: Control) -> None:
        """Let a click activate the control although the dialog was rebuilt between press and release."""
        if isinstance(replaced, PressableControl) and replaced.is_mouse_pressed:
            self.is_mouse_pressed, self._pressed_part = True, replaced._pressed_part

    def handle_mouse(self, event: pygame.event.Event, position: tuple[int, int]) -> bool:
        part = self.part_at(position)
        before = self._hovered_part, self._pressed_part
        self._hovered_part = part
        is_left = getattr(event, "button", 0) == 1
        is_press = event.type == pygame.MOUSEBUTTONDOWN and is_left and part >= 0
        is_release = event.type == pygame.MOUSEBUTTONUP and is_left and self.is_mouse_pressed
        pressed_part = self._pressed_part
        if is_press or is_release:
            self.is_mouse_pressed = is_press
            self._pressed_part = part if is_press else -1
        if (self._hovered_part, self._pressed_part) != before:
            self.repaint()
        if is_release and part == pressed_part:
            self.activate_part(part)
        return is_press or is_release


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
        # The Tab key skips this button, because the Escape key closes the dialog too.
        self.close_button.can_focus = False
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
        container: ClipArea | None = None,
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


class Button(PressableControl):
    """Labelled button, activated by a click, Enter or Space.

    `kind` is "" for a plain button, "main" for one with the accent colour, and "danger" for one in the warning colour.
    """

    def __init__(
        self,
        dialog: WidgetDialog,
        rect: pygame.Rect,
        label: str,
        action: Callable[[], None],
        kind: str = "",
        container: ClipArea | None = None,
    ) -> None:
        self.on_press, self.label, self.button_style = action, label, kind
        self.name = label
        self.is_enabled = True
        self._ignores_presses = False
        super().__init__(dialog, rect, container)

    def part_at(self, position: tuple[int, int]) -> int:
        return super().part_at(position) if self.is_enabled and not self._ignores_presses else -1

    def activate_part(self, index: int) -> None:
        self.press_button()

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
        if event.key in _PRESS_KEYS and not event.mod & SHORTCUT_MODIFIERS:
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
        pen.pressed_id = "" if self._pressed_part == 0 else None
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
        container: ClipArea | None = None,
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
        """Move the handle without calling `on_step_changed`."""
        if self._clamped_step(value) != self.slider_step:
            self.slider_step = self._clamped_step(value)
            self.repaint()

    def _change_slider_step(self, value: int) -> None:
        if self._clamped_step(value) != self.slider_step:
            self.set_slider_step(value)
            self.on_step_changed(self.slider_step)

    def handle_key(self, event: pygame.event.Event) -> bool:
        steps = {pygame.K_LEFT: -1, pygame.K_RIGHT: 1, pygame.K_PAGEDOWN: -10, pygame.K_PAGEUP: 10}.get(event.key)
        if steps is None or event.mod & SHORTCUT_MODIFIERS:
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


class CheckBox(PressableControl):
    """Check box with a label to its right; a click on either toggles the check box."""

    def __init__(
        self,
        dialog: WidgetDialog,
        rect: pygame.Rect,
        label: str,
        is_on: bool,
        changed: Callable[[bool], None],
        container: ClipArea | None = None,
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
        if event.key == pygame.K_SPACE and not event.mod & SHORTCUT_MODIFIERS:
            self.toggle_checked()
            return True
        return False

    def activate_part(self, index: int) -> None:
        self.toggle_checked()

    def paint_control(self, pen: Canvas) -> None:
        width, height = self.element.surface.get_size()
        left = pen.to_px(4)
        pen.pressed_id = "" if self._pressed_part == 0 else None
        pen.draw_check_box("", (left, 0, width, height), self.is_checked, _ignore_click)
        pen.draw_text(
            (left + pen.to_px(24), height // 2), self.label, size=14, middle=True, width=width - left - pen.to_px(24)
        )


class ChoiceControl(PressableControl):
    """Row of buttons of which exactly one is chosen; all choices are visible."""

    def __init__(
        self,
        dialog: WidgetDialog,
        rect: pygame.Rect,
        options: Sequence[tuple[str, str]],
        chosen: str,
        changed: Callable[[str], None],
        container: ClipArea | None = None,
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
        super().__init__(dialog, rect, container)

    def set_chosen_value(self, chosen: str) -> None:
        self.chosen_value = chosen
        self.repaint()

    def replace_options(self, options: Sequence[tuple[str, str]]) -> None:
        """Replace the choices; if they lack the chosen value, the caller must call `set` next."""
        self.options, self._hovered_part, self._pressed_part = list(options), -1, -1
        self.repaint()

    def choose_value(self, value: str) -> None:
        if value != self.chosen_value:
            self.set_chosen_value(value)
            self.on_value_chosen(value)

    def handle_key(self, event: pygame.event.Event) -> bool:
        step = {pygame.K_LEFT: -1, pygame.K_RIGHT: 1}.get(event.key, 1 if event.key == pygame.K_SPACE else None)
        if step is None or event.mod & SHORTCUT_MODIFIERS:
            return False
        values = [value for value, _ in self.options]
        index = values.index(self.chosen_value) if self.chosen_value in values else -1
        self.choose_value(values[(index + step) % len(values)])
        return True

    def activate_part(self, index: int) -> None:
        self.choose_value(self.options[index][0])

    def _option_boxes(self) -> list[Box]:
        return self.dialog.canvas.segment_boxes(self.local_box, [label for _, label in self.options])

    def part_at(self, position: tuple[int, int]) -> int:
        if not self.contains_point(position):
            return -1
        x = position[0] - self.element.rect.x
        return next((i for i, box in enumerate(self._option_boxes()) if box[0] <= x < box[0] + box[2]), -1)

    def paint_control(self, pen: Canvas) -> None:
        index = self._pressed_part
        pen.pressed_id = f":{self.options[index][0]}" if index >= 0 else None
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
        container: ClipArea | None = None,
    ) -> None:
        self._paint_callback = picture
        super().__init__(dialog, rect, container)

    def paint_control(self, pen: Canvas) -> None:
        self._paint_callback(pen)


def rounded_card_image(size: tuple[int, int], radius: int, line: int, ground: Colour, edge: Colour) -> pygame.Surface:
    """Return an image of a rounded rectangle with antialiased corners, in premultiplied alpha.

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


def _ignore_click() -> None:
    """Do nothing; the control handles clicks itself, but `Canvas` would draw a button without an action as disabled."""


def _ignore_choice(value: str) -> None:
    """Ignore a choice, because `ChoiceControl` handles the mouse itself and uses the canvas only to paint."""


def _ignore_position(position: float) -> None:
    """Ignore a position, because `Slider` handles the mouse itself and uses `Canvas.draw_slider` only for painting."""


def selected_row_colour(pen: Canvas, share: float = 0.22) -> Colour:
    """Return the background colour of selected rows: `share` of the accent colour mixed into the surface colour."""
    return mix_colours(pen.palette.surface, pen.palette.accent, share)
