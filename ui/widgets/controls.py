"""The controls of dialogs: the window's own (ui/widgets/canvas.py) in boxes that can have the focus, and text entry.

Only text entry is pygame_gui's: selection, clipboard and key repeat are what it does better than we would.

Each control says what it does with a key while it has the focus, and notices by itself when it has changed
(`poll`), so that a dialog reacts in the same frame and needs no events that go round through the queue.

Every element is told that its parent is the card: pygame_gui builds all combinations of the names of an element's
ancestors, and inside a scrolling container that took 3 ms for each.
"""

from collections.abc import Callable, Sequence

import pygame
from pygame_gui.core import UIContainer, UIElement
from pygame_gui.core.interfaces import IContainerLikeInterface
from pygame_gui.core.utility import clipboard_paste
from pygame_gui.elements import UITextEntryLine

from sim.params import printable, typed_text
from ui.draw.theme import Colour, mix
from ui.model.layout import Box
from ui.widgets.canvas import HANDLE, Canvas, slider_share
from ui.widgets.holder import Holder

_PRESS = (pygame.K_RETURN, pygame.K_KP_ENTER, pygame.K_SPACE)
_MODIFIERS = pygame.KMOD_CTRL | pygame.KMOD_ALT


class Control:
    """One thing that can have the keyboard focus."""

    is_text = False  # takes letters
    can_focus = True
    shows_ring = True
    name = ""  # finds it again after the dialog was filled anew
    element: UIElement

    def __init__(self, dialog: Holder) -> None:
        self.dialog = dialog
        self.has_focus = False
        self.is_held = False  # the mouse button went down on it and is still down

    def key(self, event: pygame.event.Event) -> bool:
        """Use a key while it has the focus."""
        return False

    def mouse(self, event: pygame.event.Event, position: tuple[int, int]) -> bool:
        """Use a mouse event, wherever it is."""
        return False

    def poll(self) -> None:
        """Notice what pygame_gui has done."""

    def update(self, seconds: float) -> None:
        """Once a frame."""

    @property
    def is_moving(self) -> bool:
        """Whether it will look otherwise soon, though nobody does anything."""
        return False

    def set_focused(self, has_focus: bool) -> None:
        self.has_focus = has_focus

    def blur(self) -> None:
        """The focus goes elsewhere: finish what was being entered."""

    def is_under(self, position: tuple[int, int]) -> bool:
        """Whether a position is on the part of it that can be seen."""
        return bool(self.element.visible) and self.element.hover_point(*position)

    def kill(self) -> None:
        self.element.kill()


# --- pygame_gui's own -----------------------------------------------------------------------------


_LEAST_FIELD = 8  # pixels: pygame_gui warns of fields that have no room for their own edges


class _Entry(UITextEntryLine):
    """A text entry that takes only what it can draw. pygame_gui fails on characters without a width."""

    def set_text(self, text: str | None) -> None:
        super().set_text(None if text is None else typed_text(text)[: self.length_limit])

    def _process_entered_character(self, character: str) -> bool:
        """Take a typed character if it can be seen."""
        character = typed_text(character)
        return bool(character) and super()._process_entered_character(character)

    def _do_paste(self) -> None:
        """Put the clipboard in place of the selection, as much of it as there is room for."""
        try:
            pasted = typed_text(clipboard_paste() or "")
        except pygame.error:  # a system without a clipboard
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


class Field(Control):
    """A line of text. `changed` is told the text after every change."""

    is_text = True
    element: _Entry

    def __init__(
        self,
        dialog: Holder,
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
        """`hint`: stands there as long as nothing is entered. It looks as if it were: it must say that it is not."""
        super().__init__(dialog)
        self.changed, self.finished = changed, finished
        room = rect.union((*rect.topleft, _LEAST_FIELD, _LEAST_FIELD))  # in a window that is far too small
        shown = typed_text(printable(text))
        self.element = _Entry(
            room,
            dialog.host.gui,
            container or dialog.container,
            parent_element=dialog.panel,
            initial_text=shown,
            placeholder_text=typed_text(hint),
            object_id="#mono_field" if mono else None,
        )
        self.element.set_text_length_limit(longest)
        self._last = shown

    @property
    def text(self) -> str:
        return str(self.element.get_text())

    def set(self, text: str) -> None:
        """Another text, without telling `changed`."""
        text = typed_text(printable(text))
        if text != self.text:
            self.element.set_text(text)
            self.element.select_range = [0, 0]  # pygame_gui keeps the old one, and fails when a key deletes it
        self._last = text

    def poll(self) -> None:
        if self.text != self._last:
            self._last = self.text
            if self.changed:
                self.changed(self._last)

    def place_cursor(self) -> None:
        """Where typing begins: everything is selected, so that typing replaces it and End goes on behind it."""
        self.element.select_range = [0, len(self.text)]
        self.element.edit_position = len(self.text)
        self.element.cursor_has_moved_recently = True

    def set_focused(self, has_focus: bool) -> None:
        super().set_focused(has_focus)
        if not has_focus:
            self.element.cursor_has_moved_recently = False  # or the next update would show the cursor again

    def put_cursor_at_end(self) -> None:
        self.element.select_range = [0, 0]
        self.element.edit_position = len(self.text)
        self.element.cursor_has_moved_recently = True

    def blur(self) -> None:
        self.poll()
        if self.finished:
            self.finished()


# --- drawn by ourselves ---------------------------------------------------------------------------


class Drawn(UIElement):
    """An element of pygame_gui whose picture we paint. Opaque, so blending is no concern."""

    def __init__(
        self,
        dialog: Holder,
        rect: pygame.Rect,
        paint: Callable[[Canvas], None],
        container: IContainerLikeInterface | None = None,
        height: int = 1,
    ) -> None:
        super().__init__(
            rect,
            dialog.host.gui,
            container or dialog.container,
            starting_height=height,
            layer_thickness=1,
            parent_element=dialog.panel,
            element_id=["drawn"],
        )
        self.dialog, self._paint = dialog, paint
        self.surface = pygame.Surface((max(1, rect.width), max(1, rect.height)), pygame.SRCALPHA, 32)

    def refresh(self) -> None:
        """Paint the picture anew."""
        pen, host = self.dialog.pen, self.dialog.host
        self.surface.fill(host.palette.surface)
        x, y = self.dialog.mouse
        pen.begin(self.surface, host.palette, host.scale, (x - self.rect.x, y - self.rect.y))
        self._paint(pen)
        self._set_image(self.surface)


class Painted(Control):
    """A control that we draw ourselves, with the window's own pen."""

    element: Drawn

    def __init__(self, dialog: Holder, rect: pygame.Rect, container: IContainerLikeInterface | None = None) -> None:
        """Called last by those that have something to remember: it draws them for the first time."""
        super().__init__(dialog)
        self.element = Drawn(dialog, rect, self.paint, container)
        self.element.refresh()

    def paint(self, pen: Canvas) -> None:
        raise NotImplementedError

    def refresh(self) -> None:
        self.element.refresh()

    @property
    def box(self) -> Box:
        """All of it, as the pen sees it."""
        return (0, 0, *self.element.surface.get_size())


class FocusRing(UIElement):
    """A line around the control that has the focus. The mouse goes through it."""

    def __init__(self, dialog: Holder) -> None:
        self.dialog = dialog
        super().__init__(
            pygame.Rect(0, 0, 1, 1),
            dialog.host.gui,
            dialog.container,
            starting_height=6,
            layer_thickness=1,
            element_id=["focus_ring"],
            visible=0,
        )

    def follow(self, control: Control | None) -> None:
        if control is None or not control.shows_ring:
            self.hide()
            return
        element = control.element
        if element.ui_container is not self.ui_container:
            self.set_container(element.ui_container)
        pen, host = self.dialog.pen, self.dialog.host
        rect = pen.around(pygame.Rect(element.get_relative_rect()))
        image = pygame.Surface(rect.size, pygame.SRCALPHA, 32)
        pen.begin(image, host.palette, host.scale, (-1, -1))
        pen.ring(image.get_rect())
        self.set_dimensions(rect.size)
        self.set_relative_position(rect.topleft)
        self._set_image(image)
        self.show()

    def hover_point(self, hover_x: float, hover_y: float) -> bool:
        return False


class Veil(UIElement):
    """Nothing to be seen; it lies over the window and keeps the mouse from whatever is below."""

    def __init__(self, dialog: Holder, layer: int) -> None:
        gui = dialog.host.gui
        whole = pygame.Rect((0, 0), dialog.host.window_size)
        super().__init__(whole, gui, None, starting_height=layer, layer_thickness=1, element_id=["veil"])
        self._set_image(gui.get_universal_empty_surface())


class Card(UIElement):
    """The ground of a dialog, with round corners. pygame_gui's own rounded panels take 0.3 s at this size."""

    RADIUS = 10

    def __init__(self, dialog: Holder, container: UIContainer) -> None:
        whole = pygame.Rect((0, 0), dialog.card.size)
        super().__init__(whole, dialog.host.gui, container, starting_height=1, layer_thickness=1, element_id=["card"])
        palette = dialog.host.palette
        self._set_image(_rounded(whole.size, dialog.px(self.RADIUS), dialog.px(1), palette.surface, palette.edge))


def _rounded(size: tuple[int, int], radius: int, line: int, ground: Colour, edge: Colour) -> pygame.Surface:
    """A rounded rectangle with smooth corners, its colours multiplied by their alpha as pygame_gui wants them."""
    fine, line = 4, max(1, line)
    disc = pygame.Surface((2 * radius * fine,) * 2, pygame.SRCALPHA, 32)
    centre = (radius * fine,) * 2
    pygame.draw.circle(disc, edge, centre, radius * fine)
    pygame.draw.circle(disc, ground, centre, (radius - line) * fine)
    corners = pygame.transform.smoothscale(disc, (2 * radius,) * 2)
    image = pygame.Surface(size, pygame.SRCALPHA, 32)
    image.fill(edge)
    image.fill(ground, image.get_rect().inflate(-2 * line, -2 * line))
    for right in (0, 1):
        for low in (0, 1):
            spot = (right * (size[0] - radius), low * (size[1] - radius))
            image.fill((0, 0, 0, 0), (*spot, radius, radius))
            image.blit(corners, spot, (right * radius, low * radius, radius, radius), pygame.BLEND_PREMULTIPLIED)
    return image


class Heading:
    """Title and hint at the head of a card, and the button that closes it."""

    def __init__(self, dialog: Holder, rect: pygame.Rect) -> None:
        self.dialog = dialog
        # Inset, or it would cut the round corners of the card.
        inset = dialog.px(12)
        self.picture = Drawn(dialog, rect.inflate(-2 * inset, -2 * (inset // 2)), self._paint)
        side = dialog.px(28)
        spot = pygame.Rect(rect.right - dialog.px(20) - side, dialog.px(16), side, side)
        self.closer = Button(dialog, spot, "\u00d7", dialog.cancel)
        self.closer.can_focus = False  # Escape does the same
        self.refresh()

    def refresh(self) -> None:
        self.picture.refresh()

    def _paint(self, pen: Canvas) -> None:
        dialog = self.dialog
        box = pygame.Rect(self.picture.relative_rect)
        left, middle = dialog.px(24) - box.x, dialog.px(30) - box.y
        room = box.width - left - dialog.px(48)
        used = pen.text((left, middle), dialog.title, size=18, face="bold", middle=True, width=room)
        hint_left = left + used + dialog.px(14)
        if hint := dialog.shown_hint:
            pen.text(
                (hint_left, middle + dialog.px(2)),
                hint,
                size=13,
                colour=pen.palette.dim,
                middle=True,
                width=max(0, room - used - dialog.px(14)),
            )


class Text(Painted):
    """A paragraph, as many lines as fit. Not for the focus."""

    can_focus = False

    def __init__(
        self,
        dialog: Holder,
        rect: pygame.Rect,
        text: str,
        *,
        size: float = 13,
        role: str = "text",
        face: str = "sans",
        container: IContainerLikeInterface | None = None,
        middle: bool = False,
    ) -> None:
        """`role` is a colour of the palette."""
        self.text, self.size, self.role, self.face, self.middle = text, size, role, face, middle
        super().__init__(dialog, rect, container)

    def set(self, text: str, role: str | None = None) -> None:
        if (text, role or self.role) != (self.text, self.role):
            self.text, self.role = text, role or self.role
            self.refresh()

    def paint(self, pen: Canvas) -> None:
        width, height = self.element.surface.get_size()
        colour = getattr(pen.palette, self.role)
        if self.middle:
            pen.text(
                (0, height // 2), self.text, size=self.size, colour=colour, face=self.face, middle=True, width=width
            )
        elif self.face == "sans":
            pen.wrapped((0, 0, width, height), self.text, size=self.size, colour=colour)
        else:
            pen.text((0, 0), self.text, size=self.size, colour=colour, face=self.face, width=width)


class Note(Painted):
    """What is wrong in a dialog, and while nothing is, whatever else stands there. Not for the focus."""

    can_focus = False
    SIZE = 12

    def __init__(
        self,
        dialog: Holder,
        rect: pygame.Rect,
        text: str = "",
        otherwise: Callable[[Canvas], None] = lambda pen: None,
    ) -> None:
        self.text, self._otherwise = text, otherwise
        super().__init__(dialog, rect)

    def set(self, text: str) -> None:
        if text != self.text:
            self.text = text
            self.refresh()

    def has_room_for(self, text: str) -> bool:
        pen = self.dialog.pen
        width, height = self.element.surface.get_size()
        return len(whole_lines(pen, text, width, self.SIZE)) * pen.px(self.SIZE * 1.45) <= height

    def paint(self, pen: Canvas) -> None:
        if not self.text:
            self._otherwise(pen)
            return
        width, height = pen.surface.get_size()
        line = pen.px(self.SIZE * 1.45)
        lines = whole_lines(pen, self.text, width, self.SIZE)
        y = max(0, (height - line * len(lines)) // 2)
        for place, text in enumerate(lines):
            pen.text((0, y + place * line), text, size=self.SIZE, colour=pen.palette.warning)


def whole_lines(pen: Canvas, text: str, width: int, size: float) -> list[str]:
    """The lines of a text; a word that is longer than a line, such as a path, is broken."""
    return [part for line in pen.wrap_lines(text, width, size) for part in _broken(pen, line, width, size)]


def _broken(pen: Canvas, line: str, width: int, size: float) -> list[str]:
    parts = []
    while pen.text_width(line, size) > width and len(line) > 1:
        fits = len(pen.cut(line, width, size)) - len("...")
        parts.append(line[: max(1, fits)])
        line = line[max(1, fits) :]
    return [*parts, line]


class Button(Painted):
    """A labelled button, as in the window: a click, Enter or Space presses it. `kind` is "", "main" or "danger"."""

    def __init__(
        self,
        dialog: Holder,
        rect: pygame.Rect,
        label: str,
        action: Callable[[], None],
        kind: str = "",
        container: IContainerLikeInterface | None = None,
    ) -> None:
        self.action, self.label, self.kind = action, label, kind
        self.is_enabled = True
        self._is_settling = False
        self._is_hot = False
        super().__init__(dialog, rect, container)

    def press(self) -> None:
        if self.is_enabled and not self._is_settling:
            self.action()

    def let_settle(self, is_settling: bool) -> None:
        """While it settles it cannot be pressed, and looks so; the keyboard's focus stays on it."""
        if is_settling != self._is_settling:
            self._is_settling = is_settling
            self.refresh()

    def key(self, event: pygame.event.Event) -> bool:
        if event.key in _PRESS and not event.mod & _MODIFIERS:
            self.press()
            return True
        return False

    def mouse(self, event: pygame.event.Event, position: tuple[int, int]) -> bool:
        is_hot = self.is_under(position)
        if is_hot != self._is_hot:
            self._is_hot = is_hot
            self.refresh()
        if is_hot and event.type == pygame.MOUSEBUTTONDOWN and event.button == 1:
            self.press()
            return True
        return False

    def enable(self, is_enabled: bool) -> None:
        if is_enabled != self.is_enabled:
            self.is_enabled = self.can_focus = is_enabled
            self.refresh()

    def paint(self, pen: Canvas) -> None:
        colour = pen.palette.warning if self.kind == "danger" else None
        action = _nothing if self.is_enabled and not self._is_settling else None
        pen.button("", self.box, self.label, action, is_on=self.kind == "main", size=14, colour=colour)


class Slider(Painted):
    """A slider over steps 0 to `last`, as in the window: arrow keys, dragging, and a click beside the handle."""

    def __init__(
        self,
        dialog: Holder,
        rect: pygame.Rect,
        value: int,
        last: int,
        changed: Callable[[int], None],
        stepped: Callable[[int], None] | None = None,
        container: IContainerLikeInterface | None = None,
    ) -> None:
        """`stepped` gets the number of steps of a key or the wheel, where the owner knows better what a step is."""
        self.last, self.changed, self.stepped = max(1, last), changed, stepped
        self.value = self._within(value)
        super().__init__(dialog, rect, container)

    def _within(self, value: int) -> int:
        return min(max(value, 0), self.last)

    def set(self, value: int) -> None:
        """Another value, without telling `changed`."""
        if self._within(value) != self.value:
            self.value = self._within(value)
            self.refresh()

    def _slide(self, value: int) -> None:
        if self._within(value) != self.value:
            self.set(value)
            self.changed(self.value)

    def key(self, event: pygame.event.Event) -> bool:
        steps = {pygame.K_LEFT: -1, pygame.K_RIGHT: 1, pygame.K_PAGEDOWN: -10, pygame.K_PAGEUP: 10}.get(event.key)
        if steps is None or event.mod & _MODIFIERS:
            return False
        self._step(steps * (10 if event.mod & pygame.KMOD_SHIFT else 1))
        return True

    def _step(self, steps: int) -> None:
        if self.stepped:
            self.stepped(steps)
        else:
            self._slide(self.value + steps)

    def mouse(self, event: pygame.event.Event, position: tuple[int, int]) -> bool:
        if self.is_held and event.type == pygame.MOUSEBUTTONUP and event.button == 1:
            self.is_held = False
        elif self.is_held and event.type == pygame.MOUSEMOTION:
            self._slide(self._value_at(position[0]))
        elif event.type == pygame.MOUSEBUTTONDOWN and event.button == 1 and self.is_under(position):
            self.is_held = True
            self._slide(self._value_at(position[0]))
        else:
            return False
        return True

    def _value_at(self, x: int) -> int:
        rect = self.element.rect
        return round(self.last * slider_share(x - rect.x, rect.width, self.dialog.px(HANDLE)))

    def paint(self, pen: Canvas) -> None:
        pen.slider("", self.box, self.value / self.last, _slid_nowhere, _slid_nowhere, "")


class Check(Painted):
    """A box to tick, with its label."""

    def __init__(
        self,
        dialog: Holder,
        rect: pygame.Rect,
        label: str,
        is_on: bool,
        changed: Callable[[bool], None],
        container: IContainerLikeInterface | None = None,
    ) -> None:
        self.label, self.is_on, self.changed = label, is_on, changed
        super().__init__(dialog, rect, container)

    def set(self, is_on: bool) -> None:
        self.is_on = is_on
        self.refresh()

    def toggle(self) -> None:
        self.set(not self.is_on)
        self.changed(self.is_on)

    def key(self, event: pygame.event.Event) -> bool:
        if event.key == pygame.K_SPACE and not event.mod & _MODIFIERS:
            self.toggle()
            return True
        return False

    def mouse(self, event: pygame.event.Event, position: tuple[int, int]) -> bool:
        if event.type == pygame.MOUSEBUTTONDOWN and event.button == 1 and self.is_under(position):
            self.toggle()
            return True
        return False

    def paint(self, pen: Canvas) -> None:
        width, height = self.element.surface.get_size()
        left = pen.px(4)
        pen.check_box("", (left, 0, width, height), self.is_on, _nothing)
        pen.text((left + pen.px(24), height // 2), self.label, size=14, middle=True, width=width - left - pen.px(24))


class Choice(Painted):
    """A row of exclusive choices, all of them in view."""

    def __init__(
        self,
        dialog: Holder,
        rect: pygame.Rect,
        options: Sequence[tuple[str, str]],
        chosen: str,
        changed: Callable[[str], None],
        container: IContainerLikeInterface | None = None,
    ) -> None:
        """`options` are (value, label)."""
        self.options, self.chosen, self.changed = list(options), chosen, changed
        self._hot = -1
        super().__init__(dialog, rect, container)

    def set(self, chosen: str) -> None:
        self.chosen = chosen
        self.refresh()

    def offer(self, options: Sequence[tuple[str, str]]) -> None:
        """Other choices; the chosen one is to be among them, or to be set next."""
        self.options, self._hot = list(options), -1
        self.refresh()

    def choose(self, value: str) -> None:
        if value != self.chosen:
            self.set(value)
            self.changed(value)

    def key(self, event: pygame.event.Event) -> bool:
        step = {pygame.K_LEFT: -1, pygame.K_RIGHT: 1}.get(event.key, 1 if event.key == pygame.K_SPACE else None)
        if step is None or event.mod & _MODIFIERS:
            return False
        values = [value for value, _ in self.options]
        here = values.index(self.chosen) if self.chosen in values else -1
        self.choose(values[(here + step) % len(values)])
        return True

    def mouse(self, event: pygame.event.Event, position: tuple[int, int]) -> bool:
        place = self._place(position)
        if place != self._hot:
            self._hot = place
            self.refresh()
        if event.type == pygame.MOUSEBUTTONDOWN and event.button == 1 and place >= 0:
            self.choose(self.options[place][0])
            return True
        return False

    def _boxes(self) -> list[Box]:
        return self.dialog.pen.segment_boxes(self.box, [label for _, label in self.options])

    def _place(self, position: tuple[int, int]) -> int:
        if not self.is_under(position):
            return -1
        x = position[0] - self.element.rect.x
        return next((i for i, box in enumerate(self._boxes()) if box[0] <= x < box[0] + box[2]), -1)

    def paint(self, pen: Canvas) -> None:
        pen.segments("", self.box, [(value, label, "") for value, label in self.options], self.chosen, _chosen_nowhere)


class Picture(Painted):
    """A painted area without a meaning for the keyboard."""

    can_focus = False

    def __init__(
        self,
        dialog: Holder,
        rect: pygame.Rect,
        picture: Callable[[Canvas], None],
        container: IContainerLikeInterface | None = None,
    ) -> None:
        self._picture = picture
        super().__init__(dialog, rect, container)

    def paint(self, pen: Canvas) -> None:
        self._picture(pen)


def _nothing() -> None:
    """What is only drawn needs an action for its hot spot."""


def _chosen_nowhere(value: str) -> None:
    """The same for a choice."""


def _slid_nowhere(where: float) -> None:
    """The same for a slider."""


def tint(pen: Canvas, share: float = 0.22) -> Colour:
    """The ground of what is selected."""
    return mix(pen.palette.surface, pen.palette.accent, share)
