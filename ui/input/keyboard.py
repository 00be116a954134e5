"""Dispatch of key presses to the open dialog, the focused control, or the command bound to the key."""

import pygame

from ui.commands.window import Window
from ui.panels.menu import choosing
from ui.widgets.key_names import combination, usual

# keys that act only once on menus and controls, however long they are held
_PRESSED_ONCE = (pygame.K_RETURN, pygame.K_KP_ENTER, pygame.K_SPACE, pygame.K_ESCAPE)


class Keyboard:
    """Dispatcher of key events, with the keys that are held."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self._held: set[int] = set()
        self._ignored: int | None = None  # key that opened or closed a dialog; its repeats are ignored until key-up

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
        if self.window.dialogs.dialog is not None:
            self.window.dialogs.dialog.handle(event)

    def _key_down(self, event: pygame.event.Event) -> None:
        is_repeat = event.key in self._held
        self._held.add(event.key)
        if event.key == self._ignored:
            return
        before = self.window.dialogs.dialog
        if before is None or not before.handle(event):
            self._key_of_window(event, is_repeat)
        if self.window.dialogs.dialog is not before:
            self._ignored = event.key

    @property
    def _is_for_control(self) -> bool:
        """Return whether Enter, Space and Escape go to an open menu or a focused control."""
        return self.window.desk.state.menu is not None or bool(self.window.canvas.focus_id)

    def _key_of_menu(self, event: pygame.event.Event) -> bool:
        """Handle a key for the open menu: arrows move, Enter and Space choose, any other key closes it.

        Returns:
            Whether a menu was open.
        """
        desk = self.window.desk
        menu = desk.state.menu
        if menu is None:
            return False
        step = {pygame.K_UP: -1, pygame.K_DOWN: 1}.get(event.key)
        if step is not None:
            menu.step(step)
        elif event.key in (pygame.K_RETURN, pygame.K_KP_ENTER, pygame.K_SPACE):
            choosing(desk, menu, menu.items[menu.place].action)()
        else:
            desk.state.menu = None
        return True

    def _key_of_window(self, event: pygame.event.Event, is_repeat: bool) -> None:
        if is_repeat and event.key in _PRESSED_ONCE and self._is_for_control:
            return
        if self._key_of_menu(event):
            return
        if self.window.canvas.focus_id and event.key in (pygame.K_RETURN, pygame.K_SPACE, pygame.K_ESCAPE):
            self._key_of_control(event)
            return
        pressed = combination(event.key, event.mod, getattr(event, "unicode", ""))
        command = self.window.commands.of_key(pressed, self.window.state.is_editing)
        if command and (not is_repeat or command.repeats):
            self.window.run(command.id)

    def _key_of_control(self, event: pygame.event.Event) -> None:
        """Activate the focused control with Enter or Space; remove the focus with Escape."""
        canvas = self.window.canvas
        spot = canvas.spot_named(canvas.focus_id or "")
        if event.key == pygame.K_ESCAPE or spot is None or spot.action is None:
            canvas.focus_id = None
        else:
            spot.action()
