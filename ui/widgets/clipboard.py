"""Clipboard of the system, as plain text."""

import pygame


def copy_text_to_clipboard(text: str) -> bool:
    """Put a text on the clipboard, and return whether the system has accepted it."""
    try:
        pygame.scrap.put_text(text)
    except pygame.error:  # the system has no clipboard
        return False
    return True


def text_of_clipboard() -> str:
    """Return the text on the clipboard, or "" if there is none."""
    try:
        return pygame.scrap.get_text()
    except pygame.error:  # the system has no clipboard
        return ""
