"""Texts that mention keyboard keys: `{key:play}` in a text is replaced by the key of the command `play`.

    fill_in_key_placeholders("No lesson is open. {key:lessons} lists the lessons.", keys, names)

The key is the one assigned by the user. A command without a key is named by its description, in quotes, so that the
sentence remains complete. This module does not use pygame.
"""

import re
from collections.abc import Mapping

_PLACEHOLDER = re.compile(r"\{key:(\w+)\}")


def fill_in_key_placeholders(text: str, keys: Mapping[str, str], names: Mapping[str, str]) -> str:
    """Return a text in which placeholders `{key:command}` are replaced by keys; unknown commands stay unchanged."""

    def key_or_name(match: re.Match[str]) -> str:
        command_id = match[1]
        if command_id not in keys:
            return match[0]
        return keys[command_id] or f'"{names.get(command_id, command_id.replace("_", " "))}"'

    return _PLACEHOLDER.sub(key_or_name, text)


def commands_mentioned_in(text: str) -> list[str]:
    """Return the ids of the commands whose keys a text mentions."""
    return _PLACEHOLDER.findall(text)
