"""Clipboard of the system, as plain text."""

import pygame


def copy_text_to_clipboard(text: str) -> bool:
    """Put a text on the clipboard, and return whether the system has accepted it.

    Null characters and undecodable bytes, which no clipboard accepts, become question marks.
    """
    try:
        pygame.scrap.put_text(text.replace("\0", "?").encode(errors="replace").decode())
    except pygame.error:  # the system has no clipboard
        return False
    return True


def text_of_clipboard() -> str:
    """Return the text on the clipboard, or "" if there is none."""
    try:
        return pygame.scrap.get_text()
    except pygame.error:  # the system has no clipboard
        return ""
