"""Key presses: to the open dialog, to the focused control, or to the command of the key table."""

from typing import TYPE_CHECKING

import pygame

from ui.widgets.key_names import combination, usual

if TYPE_CHECKING:
    from ui.app import App


class Keyboard:
    def __init__(self, app: "App") -> None:
        self.app = app
        self._held: set[int] = set()
        self._ignored: int | None = None  # it opened or closed a dialog, and counts once until it is let go

    def handle(self, event: pygame.event.Event) -> None:
        if (mod := usual(event.mod)) != event.mod:
            event = pygame.event.Event(event.type, {**event.dict, "mod": mod})
        if event.type == pygame.KEYUP:
            self._key_up(event)
        else:
            self._key_down(event)

    def _key_up(self, event: pygame.event.Event) -> None:
        self._held.discard(event.key)
        if event.key == self._ignored:
            self._ignored = None
        if self.app.dialog is not None:
            self.app.dialog.handle(event)

    def _key_down(self, event: pygame.event.Event) -> None:
        is_repeat = event.key in self._held
        self._held.add(event.key)
        if event.key == self._ignored:
            return
        before = self.app.dialog
        if before is None or not before.handle(event):
            self._key_of_window(event, is_repeat)
        if self.app.dialog is not before:
            self._ignored = event.key

    def _key_of_window(self, event: pygame.event.Event, is_repeat: bool) -> None:
        if self.app.canvas.focus_id and event.key in (pygame.K_RETURN, pygame.K_SPACE, pygame.K_ESCAPE):
            self._key_of_control(event)
            return
        pressed = combination(event.key, event.mod, getattr(event, "unicode", ""))
        command = self.app.commands.of_key(pressed, self.app.is_editing)
        if command and (not is_repeat or command.repeats):
            self.app.run(command.id)

    def _key_of_control(self, event: pygame.event.Event) -> None:
        """Enter and Space use the control that has the keyboard's focus, Escape leaves it."""
        canvas = self.app.canvas
        spot = canvas.spot_named(canvas.focus_id or "")
        if event.key == pygame.K_ESCAPE or spot is None or spot.action is None:
            canvas.focus_id = None
        else:
            spot.action()
