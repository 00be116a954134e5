"""Commands: actions of the user with their keys, their description and the function that performs them.

    command = CommandTopic("Time")

    @command("Space P", "Run or pause")
    def play(app): ...

The id of a command is the name of its function, unless `name=` gives another one. Dispatcher, help, palette, tooltips
and README all read one table of these commands (ui/commands/command_table.py).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ui.model.key_placeholders import fill_in_key_placeholders

ANY_MODE, RUN_MODE, EDIT_MODE = "any", "run", "edit"

Action = Callable[[Any], None]
"""Function that performs a command; its argument is the window."""


@dataclass(frozen=True)
class UiCommand:
    """Command of the user interface: its keys, its label and the function that performs it."""

    id: str
    keys: tuple[str, ...]
    label: str
    group: str
    action: Action
    available_mode: str = ANY_MODE  # RUN: available only outside edit mode; EDIT: only in edit mode; ANY: in both
    repeats_while_held: bool = False  # whether the command runs repeatedly while its key is held down


@dataclass(frozen=True)
class CommandFamily:
    """Commands that differ only in a number or a direction and are listed in one line; most families have only one."""

    commands: tuple[UiCommand, ...]
    keys: tuple[str, ...]  # text shown to the user, such as "Alt+1 to 5" for five commands
    label: str  # description that fits all commands of the family


class CommandTopic:
    """Group of commands in help and README; calling a topic returns a decorator that adds a command to it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.commands: list[UiCommand] = []

    def __call__(
        self, keys: str, label: str, *, mode: str = ANY_MODE, repeats: bool = False, name: str = ""
    ) -> Callable[[Action], Action]:
        """Return a decorator that makes a function a command.

        Args:
            keys: Keys as ui/widgets/key_names.py writes them, separated by spaces.
            label: Description of the command.
            mode: ANY, RUN or EDIT.
            repeats: Repeat the command while its key is held.
            name: Id of the command; by default the function's name.
        """

        def add(act: Action) -> Action:
            self.commands.append(
                UiCommand(name or act.__name__, tuple(keys.split()), label, self.name, act, mode, repeats)
            )
            return act

        return add


class CommandTable:
    """Table of all commands, searched by id, by group or by key."""

    def __init__(self, topics: Iterable[CommandTopic]) -> None:
        self._all_commands = tuple(command for topic in topics for command in topic.commands)
        self._command_by_id = {command.id: command for command in self._all_commands}
        self.group_names = tuple(dict.fromkeys(command.group for command in self._all_commands))

    def with_assigned_keys(self, keys: Mapping[str, str]) -> "CommandTable":
        """Return a copy of this table with the keys that the user assigned; `keys`: command id -> keys."""
        table = CommandTable(())
        table._all_commands = tuple(replace(c, keys=tuple(keys[c.id].split())) if c.id in keys else c for c in self)
        table._command_by_id = {command.id: command for command in table._all_commands}
        table.group_names = self.group_names
        return table

    def conflicting_command(self, command_id: str, key: str) -> UiCommand | None:
        """Return another command that is triggered by this key in the same mode; None if there is none."""
        command = self[command_id]
        others = (c for c in self if c.id != command_id and key in c.keys)
        return next(
            (
                c
                for c in others
                if ANY_MODE in (c.available_mode, command.available_mode) or c.available_mode == command.available_mode
            ),
            None,
        )

    def __iter__(self) -> Iterator[UiCommand]:
        return iter(self._all_commands)

    def __len__(self) -> int:
        return len(self._all_commands)

    def __getitem__(self, command_id: str) -> UiCommand:
        return self._command_by_id[command_id]

    def commands_of_group(self, group: str) -> list[UiCommand]:
        return [command for command in self if command.group == group]

    def command_for_key(self, key: str, is_editing: bool) -> UiCommand | None:
        """Return the command that a pressed key triggers, in or outside edit mode; None if there is none."""
        for mode in (EDIT_MODE if is_editing else RUN_MODE, ANY_MODE):
            for command in self:
                if command.available_mode == mode and key in command.keys:
                    return command
        return None

    def first_key_by_id(self) -> dict[str, str]:
        """Return the first key of every command: command id -> key, "" for a command without a key."""
        return {command.id: self.first_key_of(command.id) for command in self}

    def label_by_id(self) -> dict[str, str]:
        """Return the description of every command: command id -> description."""
        return {command.id: command.label for command in self}

    def text_with_key_names(self, text: str) -> str:
        """Return a text in which each placeholder `{key:command}` is replaced by the key of that command."""
        return fill_in_key_placeholders(text, self.first_key_by_id(), self.label_by_id())

    def first_key_of(self, command_id: str) -> str:
        """Return the first key of a command, for tooltips and menus; "" if it has none."""
        keys = self[command_id].keys
        return keys[0] if keys else ""


def command_families(commands: Iterable[UiCommand]) -> list[CommandFamily]:
    """Group commands into families, which take one line each in help and README; the order is kept."""
    members: dict[str, list[UiCommand]] = {}
    for command in commands:
        members.setdefault(_family_name(command), []).append(command)
    return [_family_of_commands(tuple(family)) for family in members.values()]


def _family_name(command: UiCommand) -> str:
    return re.sub(r"_([1-9]|left|right|up|down)$", "_*", command.id) if _has_numbered_key(command) else command.id


def _has_numbered_key(command: UiCommand) -> bool:
    """Return whether the first key of a command ends in a digit or an arrow, as in families of several commands."""
    last = command.keys[0].rsplit("+", 1)[-1] if command.keys else ""
    return last in (*"123456789", "Left", "Right", "Up", "Down")


def _family_of_commands(members: tuple[UiCommand, ...]) -> CommandFamily:
    first = members[0]
    mode = " (edit mode)" if first.available_mode == EDIT_MODE else ""
    if len(members) == 1:
        return CommandFamily(members, first.keys, first.label + mode)
    head, _, last = first.keys[0].rpartition("+")
    prefix = f"{head}+" if head else ""
    if last.isdigit():
        end = members[-1].keys[0].rpartition("+")[2]
        return CommandFamily(members, (f"{prefix}{last} to {end}",), f"{first.label} to {end}{mode}")
    return CommandFamily(members, (f"{prefix}arrows",), first.label.rpartition(" ")[0] + mode)
