"""Base class of all dialogs: a card with heading, controls, keyboard focus and event handling.

The host of a dialog is the window as dialogs see it (class DialogHost).

Lifecycle of a dialog, from the app's point of view:

    dialog = SomeDialog(host, ...)      creates its controls; host.open_dialog(dialog) opens it
    dialog.handle_event(event) -> bool  receives every event before the window. True: the event was consumed.
                                        False: the window may handle it. Modal dialogs consume all key and mouse events.
    dialog.update_dialog(seconds)       once per frame while it is open
    dialog.draw_dialog(window)          after the window; a modal dialog darkens the window first
    dialog.rebuild_widgets()            after scale, palette or window size have changed
    dialog.close()                      host.close_dialog calls it, not the dialog

A dialog keeps all user input in plain attributes and creates its controls from them in `build_controls`, so
`rebuild_widgets` loses nothing; controls hand over unfinished input, such as the caret of a text field. A question on
top of a dialog (overwrite this file?) is its `inner_dialog`, which gets events through it.
"""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol, TypeVar
from weakref import WeakSet

import pygame

from files.movingai import ScenFile
from files.scenario import Scenario
from sim.params import ConfigError
from ui.model import layout
from ui.model.background_job import BackgroundJob
from ui.model.context_menu import Menu
from ui.model.session import Session
from ui.model.settings import Settings
from ui.model.ui_command import CommandTable
from ui.widgets.canvas import Canvas
from ui.widgets.controls import Button, Control, DialogHeading, ProblemNote, rounded_card_image
from ui.widgets.dialog_interfaces import ClipArea, ElementInterface, WidgetHost
from ui.widgets.key_names import key_press_name
from ui.widgets.menus import DialogMenu
from ui.widgets.param_form import ParamForm
from ui.widgets.text_field import TextField

T = TypeVar("T")

# Sizes in design units: margin inside a card; heights of heading, footer and buttons; radius of the corners of a card;
# gap around the error message
CARD_MARGIN = 24
HEADING_HEIGHT = 58
FOOTER_HEIGHT = 62
BUTTON_HEIGHT = 34
CARD_RADIUS = 10
PROBLEM_NOTE_GAP = 4
MIN_DISTANCE_TO_EDGE = 14
"""Minimum distance between a dialog's card and the edge of the window, in design units."""

MIN_CARD_SIZE = (260, 190)
"""Minimum size of a card in design units. It may exceed a small window, because controls of zero size would fail."""

MIN_HEIGHT_BETWEEN_BARS = 430
"""Minimum height in design units between top bar and transport bar for a card at the right; else it covers the bars."""

KEY_REPEAT_DELAY_MS, KEY_REPEAT_INTERVAL_MS = 400, 45  # auto-repeat of keys while a dialog is open, in milliseconds

_MOUSE_EVENTS = (pygame.MOUSEBUTTONDOWN, pygame.MOUSEBUTTONUP, pygame.MOUSEMOTION, pygame.MOUSEWHEEL)
_TEXT_EVENTS = (pygame.TEXTINPUT, pygame.TEXTEDITING)
ENTER_KEYS = (pygame.K_RETURN, pygame.K_KP_ENTER)
# Keys that press buttons or close dialogs; their auto-repeat is ignored
_KEYS_WITHOUT_REPEAT = (*ENTER_KEYS, pygame.K_SPACE, pygame.K_ESCAPE)

BUTTON_SETTLE_S = 0.5  # seconds for which a button that has replaced another button ignores presses
# Maximum number of seconds that one frame subtracts from BUTTON_SETTLE_S, so that a slow window shows the new button
# first
_MAX_SETTLE_PER_FRAME_S = 0.25


WindowRectCallback = Callable[[], layout.Box | None]
"""Callback that returns the rectangle in the window that a dialog is about, or None if there is none."""


def no_rect_to_keep_visible() -> layout.Box | None:
    """Return None, as callback of dialogs that may cover any part of the window."""
    return None


class DialogHost(WidgetHost, Protocol):
    """Interface of the window that dialogs use: state of the session, commands, and opening of other dialogs."""

    @property
    def session(self) -> Session: ...
    @property
    def settings(self) -> Settings: ...
    @property
    def benchmark_problems(self) -> ScenFile | None:
        """Return the open list of benchmark problems (a .scen file); None if no list is open."""

    @property
    def command_table(self) -> CommandTable: ...

    def run_command(self, command_id: str) -> None:
        """Run a command of the command table, given its id."""

    def disabled_reason_of_command(self, command_id: str) -> str:
        """Return the reason why a command is disabled; "" if it is enabled."""

    def is_command_on(self, command_id: str) -> bool:
        """Return whether a command that switches something on and off has switched it on."""

    def open_path(self, path: str | os.PathLike[str]) -> None:
        """Open a file, after asking about unsaved edits; show a message if it cannot be opened."""

    def open_example(self, path: str | os.PathLike[str]) -> None:
        """Open the file of an example like open_path(), and start its run."""

    def open_scenario(self, scenario: Scenario, *, keeps_view: bool = False) -> None:
        """Open a new run, after asking about unsaved edits.

        Args:
            scenario: Scenario of the new run.
            keeps_view: Whether layers, heat, speed and tab stay as they are, instead of returning to the defaults.
        """

    def save_session(self, then: Callable[[], None] = ...) -> None:
        """Save the session, ask for a file name if necessary, and call `then` after saving."""

    def show_message(self, text: str) -> None:
        """Show a short message over the maps for a few seconds."""

    def show_message_until_edit(self, text: str) -> None:
        """Show a short message about the present run until the next edit of the run."""

    def open_dialog(self, dialog: "Dialog") -> None:
        """Close the dialog that is open, if any, and open another one."""

    def close_dialog(self) -> None:
        """Close the topmost dialog."""

    def create_message_box(self, host: "DialogHost", title: str, problems: Sequence[str]) -> "Dialog":
        """Create a message box that lists problems; it is not opened yet."""

    def show_error(self, error: ConfigError, title: str = ...) -> None:
        """Open a message box that lists the problems of an error."""

    def call_when_job_done(
        self, title: str, job: BackgroundJob[T], then: Callable[[T], None], failed: str = ...
    ) -> None:
        """Call `then` with the result of a job; if the job takes long, show its progress in a dialog.

        Args:
            title: Title of the progress dialog.
            job: Job that is already running.
            then: Called with the result, in the main thread.
            failed: Title of the message box if the job raises a ConfigError.
        """


class Dialog:
    """Base class of dialogs. Subclasses set the class attributes and implement build()."""

    title = ""
    hint = ""  # short help text in small grey letters next to the title
    size = (640, 480)  # width and height of the card in design units; reduced if the window is smaller
    is_modal = True  # whether the dialog is modal: darkens the window and consumes all input
    closes_on_outside_click = True  # whether a click outside the card closes the dialog
    card_position = "centre"  # position of the card in the window: "centre" or "right"
    command_id = ""  # id of the command that opens the dialog; the key of this command also closes the dialog
    has_footer = True
    problem = ""  # error message about the input or the last action; "" if there is no error

    _open_dialogs: ClassVar["WeakSet[Dialog]"] = WeakSet()
    _window_key_repeat: ClassVar[tuple[int, int]] = (0, 0)  # key repeat (delay, interval in ms) while no dialog is open

    def __init__(self, host: DialogHost) -> None:
        self.host = host
        self.controls: list[Control] = []
        self.is_open = True
        self._focused_index = 0  # index of the focused control in `controls`; -1 if no control has the focus
        if not Dialog._open_dialogs:
            Dialog._window_key_repeat = pygame.key.get_repeat()
        Dialog._open_dialogs.add(self)
        # True until the next key press, because the key that opened the dialog also arrives as a text event
        self._ignores_text_events = True
        # Keys that are held down, to detect auto-repeat; shared with the inner dialog.
        self._held_keys: set[int] = set()
        # Seconds for which buttons that have just replaced other buttons still ignore presses.
        self._settle_timer_s = 0.0
        self.elements: list[ElementInterface] = []
        self.menu: DialogMenu | None = None
        self.inner_dialog: Dialog | None = None
        self.mouse_position = (-1, -1)
        self.rebuild_widgets()

    # --- for subclasses ---------------------------------------------------------------------------

    def build_controls(self) -> None:
        """Create the controls inside `self.content_rect` (relative to the card) from the dialog's attributes."""
        raise NotImplementedError

    def on_confirm(self) -> None:
        """Handle the Enter key if the focused control does not use it."""

    def cancel(self) -> None:
        """Handle the Escape key or a click outside the card: close the dialog."""
        self.host.close_dialog()

    def handle_unused_key(self, event: pygame.event.Event) -> bool:
        """Handle a key press that the focused control does not use, and return whether the dialog uses the key."""
        return False

    def update_dialog(self, seconds: float = 1 / 60) -> None:
        """Advance the timers of the dialog and of its controls; called once per frame."""
        self._enable_settled_buttons(seconds)
        if self.inner_dialog is not None:
            self.inner_dialog.update_dialog(seconds)
        for control in self.controls:
            control.update_control(seconds)

    @property
    def is_unchanging(self) -> bool:
        """Return whether the dialog needs no redraw until the next event, except for the blinking of a caret."""
        if self.inner_dialog is not None:
            return self.inner_dialog.is_unchanging
        return not self._settle_timer_s and not any(control.is_animated for control in self.controls)

    def open_inner_dialog(self, make: "Callable[[DialogHost], Dialog]") -> None:
        """Open a dialog on top of this one.

        Args:
            make: Function that creates the inner dialog. Its argument is a host whose close_dialog() closes only that
                dialog.
        """
        self.inner_dialog = make(_InnerDialogHost(self))
        self.inner_dialog._held_keys = self._held_keys
        self._notify_of_focus()

    def card_rects(self) -> list[pygame.Rect]:
        """Return the rectangles of this dialog and of the dialogs on top of it, in window pixels."""
        return [self.card_rect, *(self.inner_dialog.card_rects() if self.inner_dialog is not None else ())]

    # --- creating and removing widgets ------------------------------------------------------------

    def to_px(self, units: float) -> int:
        return self.canvas.to_px(units)

    def rebuild_widgets(self) -> None:
        """Recreate all widgets, because the size, scale or palette of the window has changed."""
        before, focused = list(self.controls), self.focused_control
        self.canvas = Canvas(self.host.ui_scale)
        self.controls, self.elements, self.menu = [], [], None
        self._build_card()
        self.build_controls()
        if self._focused_index >= len(self.controls):
            self._focused_index = 0
        self._notify_of_focus()
        self.continue_from_controls(before)
        self._disable_replaced_buttons(before, focused)
        if self.inner_dialog is not None:
            self.inner_dialog.rebuild_widgets()

    def continue_from_controls(self, before: Sequence[Control]) -> None:
        """Let each control continue the unfinished input of the control with the same kind and name that it replaces.

        Args:
            before: Controls before the rebuild.
        """
        replaced = _controls_by_identity(before)
        for identity, control in _controls_by_identity(self.controls).items():
            if identity in replaced and replaced[identity] is not control:
                control.continue_from(replaced[identity])

    # --- buttons that replace others --------------------------------------------------------------

    def _button_controls(self) -> list[Button]:
        return [control for control in self.controls if isinstance(control, Button)]

    def _disable_replaced_buttons(self, before: Sequence[Control], focused: Control | None) -> None:
        """Disable buttons that have replaced other buttons for BUTTON_SETTLE_S seconds.

        A press in this time was probably meant for the replaced button.

        Args:
            before: Controls before the rebuild.
            focused: Control that had the keyboard focus before the rebuild.
        """
        now = self.focused_control
        buttons_before = [control for control in before if isinstance(control, Button)]
        for button in self._button_controls():
            replaced = [other for other in buttons_before if other.element.rect.colliderect(button.element.rect)]
            if button is now and isinstance(focused, Button):
                replaced.append(focused)
            if any(other.label != button.label for other in replaced):
                button.set_ignoring_presses(True)
                self._settle_timer_s = BUTTON_SETTLE_S

    def _enable_settled_buttons(self, seconds: float) -> None:
        """Count a frame's seconds down from BUTTON_SETTLE_S; at 0 enable what _disable_replaced_buttons() disabled."""
        if self._settle_timer_s:
            self._settle_timer_s = max(0.0, self._settle_timer_s - min(seconds, _MAX_SETTLE_PER_FRAME_S))
            for button in self._button_controls() if not self._settle_timer_s else ():
                button.set_ignoring_presses(False)

    def close(self) -> None:
        self.is_open = False
        if self.inner_dialog is not None:
            self.inner_dialog.close()
        Dialog._open_dialogs.discard(self)
        if not Dialog._open_dialogs:
            delay, interval = Dialog._window_key_repeat
            pygame.key.set_repeat(delay, interval) if delay else pygame.key.set_repeat(0)

    def _build_card(self) -> None:
        palette = self.host.palette
        self.card_rect = self._compute_card_rect()
        self.widget_container = ClipArea(self.card_rect.copy())
        self._card_image = rounded_card_image(
            self.card_rect.size, self.to_px(CARD_RADIUS), self.to_px(1), palette.surface, palette.edge
        )
        inner = pygame.Rect(0, 0, self.card_rect.width, self.card_rect.height)
        inner.inflate_ip(-2 * self.to_px(CARD_MARGIN), 0)
        self._heading = DialogHeading(self, pygame.Rect(0, 0, self.card_rect.width, self.to_px(HEADING_HEIGHT)))
        footer_height = self.to_px(FOOTER_HEIGHT) if self.has_footer else self.to_px(CARD_MARGIN)
        self.content_rect = pygame.Rect(
            inner.x,
            self.to_px(HEADING_HEIGHT),
            inner.width,
            self.card_rect.height - self.to_px(HEADING_HEIGHT) - footer_height,
        )

    def _compute_card_rect(self) -> pygame.Rect:
        window_width, window_height = self.host.window_size
        edge = self.to_px(MIN_DISTANCE_TO_EDGE)
        width = min(self.to_px(self.size[0]), window_width - 2 * edge)
        height = min(self.to_px(self.size[1]), window_height - 2 * edge)
        card = pygame.Rect(0, 0, max(self.to_px(MIN_CARD_SIZE[0]), width), max(self.to_px(MIN_CARD_SIZE[1]), height))
        card.center = (window_width // 2, window_height // 2)
        if self.card_position == "right":
            self._move_to_right_edge(card)
        return card

    def _move_to_right_edge(self, card: pygame.Rect) -> None:
        """Move the card to the right edge of the window; if there is room, between top bar and transport bar."""
        window_width, window_height = self.host.window_size
        gap = self.to_px(layout.PANEL_GAP)
        card.right = window_width - gap
        max_height = window_height - self.to_px(layout.TOP_BAR_HEIGHT) - self.to_px(layout.TRANSPORT_HEIGHT) - 2 * gap
        if max_height >= self.to_px(MIN_HEIGHT_BETWEEN_BARS):
            card.height = min(card.height, max_height)
            card.top = self.to_px(layout.TOP_BAR_HEIGHT) + gap

    @property
    def shown_hint(self) -> str:
        return self.host.command_table.text_with_key_names(self.hint)

    def set_title(self, title: str, hint: str | None = None) -> None:
        self.title = title
        self.hint = self.hint if hint is None else hint
        self._heading.repaint()

    def add(self, control: Control) -> Control:
        """Append a control to the order in which the Tab key moves the focus, and return the control."""
        self.controls.append(control)
        return control

    def add_footer_buttons(self, *buttons: tuple[str, Callable[[], None], str]) -> list[Button]:
        """Add a row of buttons at the lower right of the card.

        Args:
            *buttons: (label, action, kind) from left to right; kind is "", "main" or "danger".

        Returns:
            The buttons, from left to right.
        """
        right = self.card_rect.width - self.to_px(CARD_MARGIN)
        y = self.card_rect.height - self.to_px(CARD_MARGIN) - self.to_px(BUTTON_HEIGHT) + self.to_px(4)
        added: list[Button] = []
        for label, action, kind in reversed(buttons):
            width = max(self.to_px(96), self.canvas.text_width(label, 14) + self.to_px(36))
            rect = pygame.Rect(right - width, y, width, self.to_px(BUTTON_HEIGHT))
            added.insert(0, Button(self, rect, label, action, kind))
            right -= width + self.to_px(10)
        for button in added:
            self.add(button)
        self.free_footer_rect = pygame.Rect(
            self.to_px(CARD_MARGIN), y, max(1, right - self.to_px(CARD_MARGIN)), self.to_px(BUTTON_HEIGHT)
        )
        return added

    def add_problem_note(self) -> None:
        """Add a text area for error messages to the left of the footer buttons."""
        gap, footer_height = self.to_px(PROBLEM_NOTE_GAP), self.to_px(FOOTER_HEIGHT)
        top = self.card_rect.height - footer_height + gap
        note_rect = pygame.Rect(self.free_footer_rect.x, top, self.free_footer_rect.width, footer_height - 2 * gap)
        self.problem_note = ProblemNote(self, note_rect, self.problem)
        self.add(self.problem_note)

    def show_problem(self, problem: str) -> None:
        """Show an error message in the note, or in a message box if it is too long for the note; "" clears the note."""
        is_new, self.problem = problem != self.problem, problem
        has_room = self.problem_note.has_room_for_text(problem)
        self.problem_note.set_text(problem if has_room else "")
        if is_new and not has_room:
            self._show_in_message_box(problem)

    def _show_in_message_box(self, problem: str) -> None:
        self.open_inner_dialog(lambda host: host.create_message_box(host, "That did not work", problem.split("\n")))

    # --- focus ------------------------------------------------------------------------------------

    @property
    def focused_control(self) -> Control | None:
        return self.controls[self._focused_index] if 0 <= self._focused_index < len(self.controls) else None

    def focus_control(self, control: Control | None) -> None:
        before = self.focused_control
        if before is not None and before is not control:
            before.complete_entry()
        self._focused_index = self.controls.index(control) if control is not None else -1
        self._notify_of_focus()

    def focus_next_control(self, step: int) -> None:
        focusable = [c for c in self.controls if c.can_focus]
        if not focusable:
            return
        focused = self.focused_control
        if focused in focusable:
            self.focus_control(focusable[(focusable.index(focused) + step) % len(focusable)])
        else:
            self.focus_control(focusable[0 if step > 0 else -1])

    def _notify_of_focus(self) -> None:
        """Notify the controls of which of them has the focus; none has it while an inner dialog is open.

        If the control at that index cannot have the focus, the first control that can have it gets it.
        """
        control = self.focused_control
        if control is not None and not control.can_focus:
            control = next((c for c in self.controls if c.can_focus), None)
            self._focused_index = self.controls.index(control) if control else -1
        for other in self.controls:
            other.set_focused(other is control and self.inner_dialog is None)
        pygame.key.set_repeat(KEY_REPEAT_DELAY_MS, KEY_REPEAT_INTERVAL_MS)

    def _move_focus_by_key(self, event: pygame.event.Event) -> bool:
        """Move the focus with the up and down keys, for dialogs that are forms; return whether the key was used."""
        step = {pygame.K_UP: -1, pygame.K_DOWN: 1}.get(event.key)
        if step is None or event.mod & (pygame.KMOD_CTRL | pygame.KMOD_ALT):
            return False
        self.focus_next_control(step)
        if self.focused_control:
            self.scroll_to_control(self.focused_control)
        return True

    def scroll_to_control(self, control: Control) -> None:
        """Scroll a control into view. Dialogs whose content scrolls implement this method."""

    # --- events -----------------------------------------------------------------------------------

    def handle_event(self, event: pygame.event.Event) -> bool:
        """Handle an event, and return False if the window may handle the event as well."""
        if self.inner_dialog is not None:
            return self.inner_dialog.handle_event(event)
        if event.type == pygame.KEYDOWN:
            return self._handle_key(event)
        if event.type == pygame.KEYUP:
            self._ignores_text_events = False
            self._held_keys.discard(event.key)
            return self.is_modal or self._is_typing_text
        if event.type in _TEXT_EVENTS:
            return self._handle_text(event)
        return event.type in _MOUSE_EVENTS and self._handle_mouse(event)

    @property
    def _is_typing_text(self) -> bool:
        return self.focused_control is not None and self.focused_control.is_text_entry

    def _handle_text(self, event: pygame.event.Event) -> bool:
        """Pass typed text, or the text of an input method, to the focused text field."""
        self._ignores_text_events = self._ignores_text_events and event.type == pygame.TEXTINPUT
        control = self.focused_control
        if isinstance(control, TextField) and not self._ignores_text_events and self.menu is None:
            control.handle_text(event)
        return self.is_modal or self._is_typing_text

    def _handle_key(self, event: pygame.event.Event) -> bool:
        self._ignores_text_events = False
        is_repeat = event.key in self._held_keys
        self._held_keys.add(event.key)
        if event.key in _KEYS_WITHOUT_REPEAT and (is_repeat or (self._settle_timer_s and event.key != pygame.K_ESCAPE)):
            return True
        if self.menu is not None:
            self.menu.handle_key(event)
            return True
        return self._dispatch_key(event) or self._is_typing_text or self.is_modal or is_repeat

    def _dispatch_key(self, event: pygame.event.Event) -> bool:
        control = self.focused_control
        if isinstance(control, TextField) and control.editor.is_composing:
            return True  # Enter, Escape and Tab are meant for the input method
        if event.key == pygame.K_ESCAPE:
            self.cancel()
            return True
        if event.key == pygame.K_TAB and not event.mod & (pygame.KMOD_CTRL | pygame.KMOD_ALT):
            self.focus_next_control(-1 if event.mod & pygame.KMOD_SHIFT else 1)
            if self.focused_control:
                self.scroll_to_control(self.focused_control)
            return True
        if control is not None and control.handle_key(event):
            return True
        if self.handle_unused_key(event):
            return True
        if event.key in ENTER_KEYS and not event.mod & pygame.KMOD_ALT and (self.is_modal or control is not None):
            self.on_confirm()
            return True
        return self._close_on_own_key(event)

    def _close_on_own_key(self, event: pygame.event.Event) -> bool:
        """Close the dialog on the key that opens it, unless the key is a letter that may be meant as text.

        Returns:
            Whether the dialog was closed.
        """
        if not self.command_id:
            return False
        key = key_press_name(event.key, event.mod, getattr(event, "unicode", ""))
        if key not in self.host.command_table[self.command_id].keys:
            return False
        is_letter = len(key) == 1 or key == "Return"
        if is_letter and (self._is_typing_text or not self.is_modal):
            return False
        self.cancel()
        return True

    def _handle_mouse(self, event: pygame.event.Event) -> bool:
        if hasattr(event, "pos"):
            self.mouse_position = event.pos
        if self.menu is not None:
            self.menu.handle_mouse(event, self.mouse_position)
            return True
        is_inside = self.card_rect.collidepoint(self.mouse_position)
        controls = [*self.controls, self._heading.close_button]
        is_held = any(control.is_mouse_pressed for control in controls)
        if event.type == pygame.MOUSEBUTTONDOWN and not is_inside:
            return self._handle_press_outside()
        if event.type == pygame.MOUSEBUTTONDOWN and event.button == 1:
            self._focus_control_under_mouse()
        for control in controls:
            if self.is_open and control.handle_mouse(event, self.mouse_position):
                break
        return self.is_modal or is_inside or is_held

    def _handle_press_outside(self) -> bool:
        if self.is_modal and self.closes_on_outside_click:
            self.cancel()
        elif not self.is_modal and self.focused_control is not None:
            self.focus_control(None)
        return self.is_modal

    def _focus_control_under_mouse(self) -> None:
        for control in self.controls:
            if control.can_focus and control.contains_point(self.mouse_position):
                if control is not self.focused_control:
                    self.focus_control(control)
                return

    # --- menu, cursor and drawing -----------------------------------------------------------------

    def open_menu(self, menu: Menu) -> None:
        """Open a context menu on top of the dialog; it gets all input until it is closed."""
        self.menu = DialogMenu(menu, self._close_menu)

    def _close_menu(self) -> None:
        self.menu = None

    def cursor_shape_at(self, position: tuple[int, int]) -> int | None:
        """Return the cursor shape of the control at a position; None if the window decides, next to a dialog."""
        if self.inner_dialog is not None:
            return self.inner_dialog.cursor_shape_at(position)
        if self.menu is not None:
            return pygame.SYSTEM_CURSOR_ARROW
        if not self.is_modal and not self.card_rect.collidepoint(position):
            return None
        hovered = next((control for control in self.controls if control.contains_point(position)), None)
        return pygame.SYSTEM_CURSOR_ARROW if hovered is None else hovered.cursor_shape

    def draw_dialog(self, window: pygame.Surface) -> None:
        """Draw the dialog, and dialogs and menus on top of it, on the window."""
        window.blit(self._card_image, self.card_rect, special_flags=pygame.BLEND_PREMULTIPLIED)
        for element in self.elements:
            element.draw_element(window)
        self._draw_focus_ring(window)
        if self.menu is not None:
            self.menu.draw_menu_over_dialog(window, self.host.palette, self.host.ui_scale, self.mouse_position)
        if self.inner_dialog is not None:
            self.inner_dialog.draw_dialog(window)

    def _draw_focus_ring(self, window: pygame.Surface) -> None:
        control = self.focused_control
        if control is None or not control.shows_focus_ring or self.inner_dialog is not None:
            return
        element = control.element
        self.canvas.begin_frame(window, self.host.palette, self.host.ui_scale, self.mouse_position)
        with self.canvas.clip_drawing_to_box(element.widget_container.visible_box):
            self.canvas.draw_focus_ring(self.canvas.focus_ring_rect(element.rect))


class _InnerDialogHost:
    """Host of an inner dialog: forwards all calls to the outer dialog's host, but closes only the inner dialog."""

    def __init__(self, outer: Dialog) -> None:
        self._outer_dialog = outer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._outer_dialog.host, name)

    def close_dialog(self) -> None:
        inner, self._outer_dialog.inner_dialog = self._outer_dialog.inner_dialog, None
        if inner is not None:
            inner.close()
            self._outer_dialog._notify_of_focus()


class FormDialog(Dialog):
    """Dialog with a form of parameters. Subclasses create `option_form` in build()."""

    option_form: ParamForm

    def rebuild_widgets(self) -> None:
        """Recreate all widgets, and copy invalid input from the old text fields to the new ones.

        Only the text fields contain invalid input. Without the copy, a button would use values that the user did not
        enter.
        """
        entered = self.option_form.invalid_texts() if hasattr(self, "option_form") else {}
        super().rebuild_widgets()
        self.option_form.enter_texts(entered)


def _controls_by_identity(controls: Sequence[Control]) -> dict[tuple[type[Control], str, int], Control]:
    """Return the controls by class, name, and number among those with the same class and name."""
    by_identity: dict[tuple[type[Control], str, int], Control] = {}
    counts: Counter[tuple[type[Control], str]] = Counter()
    for control in controls:
        kind = type(control), control.name
        by_identity[*kind, counts[kind]] = control
        counts[kind] += 1
    return by_identity


# --- cutting rectangles ---------------------------------------------------------------------------


def cut_strip_from_top(area: pygame.Rect, height: int, gap: int = 0) -> pygame.Rect:
    """Cut a strip, and a gap below the strip, from the top of an area; return the strip."""
    strip = pygame.Rect(area.x, area.y, area.width, min(height, max(1, area.height)))
    area.height = max(1, area.height - height - gap)
    area.y += height + gap
    return strip


def cut_strip_from_bottom(area: pygame.Rect, height: int, gap: int = 0) -> pygame.Rect:
    """Cut a strip, and a gap above the strip, from the bottom of an area; return the strip."""
    strip = pygame.Rect(area.x, area.bottom - height, area.width, height)
    area.height = max(1, area.height - height - gap)
    return strip


def cut_strip_from_left(area: pygame.Rect, width: int, gap: int = 0) -> pygame.Rect:
    """Cut a strip, and a gap to the right of the strip, from the left of an area; return the strip."""
    strip = pygame.Rect(area.x, area.y, width, area.height)
    area.width = max(1, area.width - width - gap)
    area.x += width + gap
    return strip


def cut_strip_from_right(area: pygame.Rect, width: int, gap: int = 0) -> pygame.Rect:
    """Cut a strip, and a gap to the left of the strip, from the right of an area; return the strip."""
    strip = pygame.Rect(area.right - width, area.y, width, area.height)
    area.width = max(1, area.width - width - gap)
    return strip
