"""Table of all commands and their keys, ordered by topic; each topic is a module with its own `command` decorator."""

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
COMMAND_TABLE = CommandTable(topic.command for topic in COMMAND_TOPICS)
