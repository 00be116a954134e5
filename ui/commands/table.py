"""Table of all commands and their keys, ordered by topic; each topic is a module with its own `command` decorator."""

from ui.commands import (
    branches,
    editing,
    files,
    help,
    layers,
    lessons,
    minimap,
    moments,
    panels,
    pictures,
    selection,
    sidebar,
    time,
    view,
)
from ui.model.command import CommandTable

TOPICS = (
    time,
    lessons,
    moments,
    panels,
    view,
    minimap,
    sidebar,
    branches,
    editing,
    selection,
    pictures,
    files,
    help,
    layers,
)
COMMANDS = CommandTable(topic.command for topic in TOPICS)
