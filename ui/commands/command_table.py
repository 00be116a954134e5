"""Table of all commands, ordered by topic; each topic is a module with its own `command` decorator."""

from collections.abc import Mapping

from ui.commands import (
    branch_commands,
    editing_commands,
    file_commands,
    help_commands,
    layer_commands,
    lesson_commands,
    minimap_commands,
    moment_commands,
    panel_commands,
    picture_commands,
    selection_commands,
    sidebar_commands,
    time_commands,
    view_commands,
)
from ui.model.ui_command import CommandTable

COMMAND_TOPICS = (
    time_commands,
    lesson_commands,
    moment_commands,
    panel_commands,
    view_commands,
    minimap_commands,
    sidebar_commands,
    branch_commands,
    editing_commands,
    selection_commands,
    picture_commands,
    file_commands,
    help_commands,
    layer_commands,
)


def command_table_with_keys(keys: Mapping[str, str]) -> CommandTable:
    """Return the table with the keys that the user assigned; `keys`: command id -> keys."""
    return COMMAND_TABLE.with_assigned_keys(keys)


COMMAND_TABLE = CommandTable(
    (command for topic in COMMAND_TOPICS for command in topic.command.commands), command_table_with_keys
)
