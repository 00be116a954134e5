"""Names of key presses as the command table writes them, such as "Ctrl+Shift+Z", "?" or "Shift+1"."""

import sys

import pygame

_NAME_BY_KEY = {
    pygame.K_SPACE: "Space",
    pygame.K_RETURN: "Return",
    pygame.K_KP_ENTER: "Return",
    pygame.K_TAB: "Tab",
    pygame.K_ESCAPE: "Escape",
    pygame.K_LEFT: "Left",
    pygame.K_RIGHT: "Right",
    pygame.K_UP: "Up",
    pygame.K_DOWN: "Down",
    pygame.K_PAGEDOWN: "PageDown",
    pygame.K_PAGEUP: "PageUp",
    pygame.K_HOME: "Home",
    pygame.K_END: "End",
    pygame.K_DELETE: "Delete",
    pygame.K_INSERT: "Insert",
    pygame.K_MENU: "Menu",
    **{getattr(pygame, f"K_F{n}"): f"F{n}" for n in range(1, 13)},
    **{getattr(pygame, f"K_{n}"): str(n) for n in range(10)},
    **{getattr(pygame, f"K_KP{n}"): str(n) for n in range(10)},
}


_NAMES_AND_BITS_OF_MODIFIERS = (("Meta", pygame.KMOD_META), ("Ctrl", pygame.KMOD_CTRL), ("Alt", pygame.KMOD_ALT))


def modifiers_with_cmd_as_ctrl(mod: int, platform: str = sys.platform) -> int:
    """Return the modifiers of a key press; on a Mac, replace Cmd by Ctrl, so that Cmd shortcuts work as with Ctrl."""
    if platform != "darwin" or not mod & pygame.KMOD_META:
        return mod
    return (mod & ~pygame.KMOD_META) | pygame.KMOD_LCTRL


def is_right_alt_character(key: int, mod: int, typed: str) -> bool:
    """Return whether a key press with the right Alt key typed a sign that is not the key's label.

    An example is the right Alt key with 8 on a German keyboard, which types "[". Windows reports the right Alt key as
    Ctrl and Alt together.

    Args:
        key: Code of the key in pygame.
        mod: Bit mask of the modifiers in pygame.
        typed: Text that the key press typed.
    """
    if not mod & (pygame.KMOD_RALT | pygame.KMOD_MODE) or len(typed) != 1 or not typed.isprintable():
        return False
    return not typed.isalnum() and not typed.isspace() and typed != pygame.key.name(key)


def key_press_name(key: int, mod: int, typed: str) -> str:
    """Return the name of a key press as the command table writes it, such as "Ctrl+Shift+Z", "?" or "Shift+1".

    Punctuation signs are named by the typed text, independent of the keyboard layout, and Shift is then left out of the
    name: Shift+/ is "?". With Ctrl or Alt held down the system types nothing useful, so the label of the key is used.
    The right Alt key is an exception: on many keyboards it types signs, and the typed sign is used. Meta (the key with
    the logo of the system) is part of the name, so that no command reacts to shortcuts of the system.

    Args:
        key: Code of the key in pygame.
        mod: Bit mask of the modifiers in pygame.
        typed: Text that the key press typed.
    """
    if is_right_alt_character(key, mod, typed):
        return typed
    parts = [name for name, bit in _NAMES_AND_BITS_OF_MODIFIERS if mod & bit]
    has_shift = bool(mod & pygame.KMOD_SHIFT)
    if key in _NAME_BY_KEY:
        return "+".join([*parts, *(["Shift"] if has_shift else []), _NAME_BY_KEY[key]])
    if not parts and typed and typed.isprintable() and not typed.isalpha():
        return typed
    name = pygame.key.name(key)
    label = name.upper() if len(name) == 1 else name.title()
    return "+".join([*parts, *(["Shift"] if has_shift else []), label])
