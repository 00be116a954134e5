"""The names of keys as the table of commands writes them, such as "Ctrl+Shift+Z", "?" or "Shift+1"."""

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
    **{getattr(pygame, f"K_F{n}"): f"F{n}" for n in range(1, 13)},
    **{getattr(pygame, f"K_{n}"): str(n) for n in range(10)},
    **{getattr(pygame, f"K_KP{n}"): str(n) for n in range(10)},
}


def combination(key: int, mod: int, typed: str) -> str:
    """The name of a key press as the table writes it, such as 'Ctrl+Shift+Z', '?' or 'Shift+1'.

    Signs are named by what they type, whatever the keyboard: Shift is then part of the sign. With Ctrl or Alt
    held the system types nothing useful, so the sign on the key counts.
    """
    parts = [name for name, bit in (("Ctrl", pygame.KMOD_CTRL), ("Alt", pygame.KMOD_ALT)) if mod & bit]
    has_shift = bool(mod & pygame.KMOD_SHIFT)
    if key in _NAMES:
        return "+".join([*parts, *(["Shift"] if has_shift else []), _NAMES[key]])
    if not parts and typed and typed.isprintable() and not typed.isalpha():
        return typed
    name = pygame.key.name(key)
    label = name.upper() if len(name) == 1 else name.title()
    return "+".join([*parts, *(["Shift"] if has_shift else []), label])
