"""The names of keys as the table of commands writes them, such as "Ctrl+Shift+Z", "?" or "Shift+1"."""

import sys

import pygame

_NAMES = {
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


_MODIFIERS = (("Meta", pygame.KMOD_META), ("Ctrl", pygame.KMOD_CTRL), ("Alt", pygame.KMOD_ALT))


def usual(mod: int, platform: str = sys.platform) -> int:
    """The modifiers as everywhere else: on a Mac, Cmd does what Ctrl does on other systems."""
    if platform != "darwin" or not mod & pygame.KMOD_META:
        return mod
    return (mod & ~pygame.KMOD_META) | pygame.KMOD_LCTRL


def is_sign_of_right_alt(key: int, mod: int, typed: str) -> bool:
    """Whether the right Alt key has typed a sign that is not the key's own, such as [ on the 8 of a German keyboard.

    Windows reports that key as Ctrl and Alt together.
    """
    if not mod & (pygame.KMOD_RALT | pygame.KMOD_MODE) or len(typed) != 1 or not typed.isprintable():
        return False
    return not typed.isalnum() and not typed.isspace() and typed != pygame.key.name(key)


def combination(key: int, mod: int, typed: str) -> str:
    """The name of a key press as the table writes it, such as 'Ctrl+Shift+Z', '?' or 'Shift+1'.

    Signs are named by what they type, whatever the keyboard: Shift is then part of the sign. With Ctrl or Alt
    held the system types nothing useful, so the sign on the key counts; but the right Alt key of many keyboards is
    there to type signs, and what it types counts. The key with the system's mark on it is part of the name, so that
    no command answers to what is meant for the system.
    """
    if is_sign_of_right_alt(key, mod, typed):
        return typed
    parts = [name for name, bit in _MODIFIERS if mod & bit]
    has_shift = bool(mod & pygame.KMOD_SHIFT)
    if key in _NAMES:
        return "+".join([*parts, *(["Shift"] if has_shift else []), _NAMES[key]])
    if not parts and typed and typed.isprintable() and not typed.isalpha():
        return typed
    name = pygame.key.name(key)
    label = name.upper() if len(name) == 1 else name.title()
    return "+".join([*parts, *(["Shift"] if has_shift else []), label])
