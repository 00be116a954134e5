"""Dispatch of key presses to the open dialog, the open menu, the focused control, or the command of the key."""

import pygame

from ui.commands.app_context import AppContext
from ui.panels.context_menu import menu_item_callback
from ui.widgets.key_names import key_press_name, modifiers_with_cmd_as_ctrl

# keys whose repeats are ignored while a menu is open or a control is focused
_KEYS_WITHOUT_REPEAT = (pygame.K_RETURN, pygame.K_KP_ENTER, pygame.K_SPACE, pygame.K_ESCAPE)


class KeyDispatcher:
    """Dispatcher of key events, with the set of keys that are held down."""

    def __init__(self, window: AppContext) -> None:
        self.window = window
        self._held_keys: set[int] = set()
        self._ignored_key: int | None = None  # key that opened or closed a dialog; its repeats are ignored until key-up

    def handle_event(self, event: pygame.event.Event) -> None:
        if (mod := modifiers_with_cmd_as_ctrl(event.mod)) != event.mod:
            event = pygame.event.Event(event.type, {**event.dict, "mod": mod})
        if event.type == pygame.KEYUP:
            self._handle_key_up(event)
        else:
            self._handle_key_down(event)

    def _handle_key_up(self, event: pygame.event.Event) -> None:
        self._held_keys.discard(event.key)
        if event.key == self._ignored_key:
            self._ignored_key = None
        if self.window.dialogs.current_dialog is not None:
            self.window.dialogs.current_dialog.handle_event(event)

    def _handle_key_down(self, event: pygame.event.Event) -> None:
        is_repeat = event.key in self._held_keys
        self._held_keys.add(event.key)
        if event.key == self._ignored_key:
            return
        before = self.window.dialogs.current_dialog
        if before is None or not before.handle_event(event):
            self._handle_window_key(event, is_repeat)
        if self.window.dialogs.current_dialog is not before:
            self._ignored_key = event.key

    @property
    def _has_focused_control(self) -> bool:
        """Return whether a menu is open or a control is focused, on which Enter, Space and Escape then act."""
        return self.window.view_context.ui_state.context_menu is not None or bool(self.window.canvas.focused_control_id)

    def _handle_menu_key(self, event: pygame.event.Event) -> bool:
        """Handle a key for the open menu: arrows move in it, Enter and Space choose an item, other keys close it.

        Returns:
            Whether a menu was open.
        """
        desk = self.window.view_context
        menu = desk.ui_state.context_menu
        if menu is None:
            return False
        step = {pygame.K_UP: -1, pygame.K_DOWN: 1}.get(event.key)
        if step is not None:
            menu.move_selection(step)
        elif event.key in (pygame.K_RETURN, pygame.K_KP_ENTER, pygame.K_SPACE):
            item = menu.items[menu.selected_index]
            if item.disabled_reason:
                desk.show_message_until_edit(item.disabled_reason)
            else:
                menu_item_callback(desk, menu, item.action)()
        else:
            desk.ui_state.context_menu = None
        return True

    def _handle_window_key(self, event: pygame.event.Event, is_repeat: bool) -> None:
        if is_repeat and event.key in _KEYS_WITHOUT_REPEAT and self._has_focused_control:
            return
        if self._handle_menu_key(event):
            return
        if self.window.canvas.focused_control_id and event.key in (pygame.K_RETURN, pygame.K_SPACE, pygame.K_ESCAPE):
            self._handle_control_key(event)
            return
        key = key_press_name(event.key, event.mod, getattr(event, "unicode", ""))
        command = self.window.command_table.command_for_key(key, self.window.ui_state.is_editing)
        if command and (not is_repeat or command.repeats_while_held):
            self.window.run_command(command.id)

    def _handle_control_key(self, event: pygame.event.Event) -> None:
        """Activate the focused control with Enter or Space; remove the focus with Escape."""
        canvas = self.window.canvas
        region = canvas.hit_region_with_id(canvas.focused_control_id or "")
        if event.key == pygame.K_ESCAPE or region is None or region.on_click is None:
            canvas.focused_control_id = None
        else:
            region.on_click()
