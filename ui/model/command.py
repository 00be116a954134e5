"""What a command is: something that a user can do, with its keys, its words and the function that does it.

    command = Topic("Time")

    @command("Space P", "Run or pause")
    def play(app): ...

The function's name is the command's id. The dispatcher, help, palette, tooltips and README all read the one table
(ui/commands/table.py) that such functions make up.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ui.model.key_words import worded

ANY, RUN, EDIT = "any", "run", "edit"

Action = Callable[[Any], None]
"""It is given the window."""


@dataclass(frozen=True)
class Command:
    id: str
    keys: tuple[str, ...]
    help: str
    group: str
    act: Action
    mode: str = ANY  # RUN: only outside edit mode; EDIT: only in it
    repeats: bool = False  # while its key is held


@dataclass(frozen=True)
class Family:
    """Commands that differ only in a number or a direction, told of in one line; most commands are alone in theirs."""

    members: tuple[Command, ...]
    keys: tuple[str, ...]  # as a reader sees them: "Alt+1 to 5" for five commands
    words: str


class Topic:
    """Commands that stand together in help and README. Called, it makes the function that follows one of them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.commands: list[Command] = []

    def __call__(
        self, keys: str, words: str, *, mode: str = ANY, repeats: bool = False, name: str = ""
    ) -> Callable[[Action], Action]:
        """`keys` as ui/widgets/key_names.py writes them, apart by spaces; `name` where it is not the function's."""

        def add(act: Action) -> Action:
            self.commands.append(
                Command(name or act.__name__, tuple(keys.split()), words, self.name, act, mode, repeats)
            )
            return act

        return add


class CommandTable:
    """All commands."""

    def __init__(self, topics: Iterable[Topic]) -> None:
        self._commands = tuple(command for topic in topics for command in topic.commands)
        self._by_id = {command.id: command for command in self._commands}
        self.groups = tuple(dict.fromkeys(command.group for command in self._commands))

    def with_keys(self, keys: Mapping[str, str]) -> "CommandTable":
        """The same commands, some of them with the keys that a user has given them."""
        table = CommandTable(())
        table._commands = tuple(replace(c, keys=tuple(keys[c.id].split())) if c.id in keys else c for c in self)
        table._by_id = {command.id: command for command in table._commands}
        table.groups = self.groups
        return table

    def clash(self, command_id: str, pressed: str) -> Command | None:
        """Another command that this key carries out in the same mode."""
        own = self[command_id]
        others = (c for c in self if c.id != command_id and pressed in c.keys)
        return next((c for c in others if ANY in (c.mode, own.mode) or c.mode == own.mode), None)

    def __iter__(self) -> Iterator[Command]:
        return iter(self._commands)

    def __len__(self) -> int:
        return len(self._commands)

    def __getitem__(self, command_id: str) -> Command:
        return self._by_id[command_id]

    def of_group(self, group: str) -> list[Command]:
        return [command for command in self if command.group == group]

    def of_key(self, pressed: str, is_editing: bool) -> Command | None:
        """The command of a key press in this mode."""
        for mode in (EDIT if is_editing else RUN, ANY):
            for command in self:
                if command.mode == mode and pressed in command.keys:
                    return command
        return None

    def keys(self) -> dict[str, str]:
        """The first key of every command."""
        return {command.id: self.key_of(command.id) for command in self}

    def names(self) -> dict[str, str]:
        """Return what every command does, in words."""
        return {command.id: command.help for command in self}

    def worded(self, text: str) -> str:
        """Return a text with the keys of the commands that it mentions as `{key:command}`."""
        return worded(text, self.keys(), self.names())

    def key_of(self, command_id: str) -> str:
        """The first key of a command, for tooltips and menus."""
        keys = self[command_id].keys
        return keys[0] if keys else ""


def families(commands: Iterable[Command]) -> list[Family]:
    """The commands in their order, families together: for lists that are read."""
    members: dict[str, list[Command]] = {}
    for command in commands:
        members.setdefault(_family_name(command), []).append(command)
    return [_family(tuple(those)) for those in members.values()]


def _family_name(command: Command) -> str:
    return re.sub(r"_([1-9]|left|right|up|down)$", "_*", command.id) if _is_steered(command) else command.id


def _is_steered(command: Command) -> bool:
    """Whether its key is a number or an arrow, as for its brothers."""
    last = command.keys[0].rsplit("+", 1)[-1] if command.keys else ""
    return last in (*"123456789", "Left", "Right", "Up", "Down")


def _family(members: tuple[Command, ...]) -> Family:
    first = members[0]
    mode = " (edit mode)" if first.mode == EDIT else ""
    if len(members) == 1:
        return Family(members, first.keys, first.help + mode)
    head, _, last = first.keys[0].rpartition("+")
    prefix = f"{head}+" if head else ""
    if last.isdigit():
        end = members[-1].keys[0].rpartition("+")[2]
        return Family(members, (f"{prefix}{last} to {end}",), f"{first.help} to {end}{mode}")
    return Family(members, (f"{prefix}arrows",), first.help.rpartition(" ")[0] + mode)
