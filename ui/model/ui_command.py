"""Commands: everything that a user can do, each described once.

    command = CommandTopic("Time")

    @command("Space P", "Run or pause", synonyms=("start", "stop"), is_on=lambda view: view.player.is_running)
    def play(window): ...

The description has the title, keys, context menus, synonyms for the search, the reason why the command may be disabled,
and whether it is switched on. Help, palette, context menus, tooltips, buttons, README and the dispatcher of keys all
read it from one table (ui/commands/command_table.py). The id of a command is the name of its function, unless `name=`
gives another one. docs/ui-guide.md shows step by step how to add a command.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import groupby
from typing import Any, Protocol

from ui.model.key_placeholders import fill_in_key_placeholders
from ui.model.layer_state import LayerState
from ui.model.player import Player
from ui.model.session import Session
from ui.model.settings import Settings
from ui.model.ui_state import UiState

ANY_MODE, RUN_MODE, EDIT_MODE = "any", "run", "edit"

Action = Callable[[Any], None]
"""Function that performs a command; its argument is the window."""


class ContextMenu(Enum):
    """Context menus that a command can belong to."""

    AGENT = "agent"
    CELL = "cell"
    CHART = "chart"
    SELECTION = "selection"
    TIME_LINE = "time line"


class CameraState(Protocol):
    """Cameras of the panels, as far as commands switch them on and off."""

    @property
    def is_following_agents(self) -> bool: ...

    @property
    def is_linked(self) -> bool: ...


class MapViewState(Protocol):
    """View of the maps, as far as commands switch its parts on and off."""

    @property
    def layer_state(self) -> LayerState: ...

    @property
    def panel_cameras(self) -> CameraState: ...


class CommandContext(Protocol):
    """State that decides whether a command is enabled and whether it is on; every `ViewContext` is one."""

    @property
    def session(self) -> Session: ...

    @property
    def settings(self) -> Settings: ...

    @property
    def ui_state(self) -> UiState: ...

    @property
    def player(self) -> Player: ...

    @property
    def map_view(self) -> MapViewState: ...


DisabledReason = Callable[[CommandContext], str]
"""Function that returns why a command is disabled, as a sentence without a full stop, or "" if it is enabled."""

ToggledState = Callable[[CommandContext], bool]
"""Function that returns whether a command that switches something on and off has switched it on."""


def _is_always_enabled(context: CommandContext) -> str:
    return ""


def requires(is_possible: Callable[[CommandContext], object], reason: str) -> DisabledReason:
    """Return a function that gives `reason` unless `is_possible` returns something true."""
    return lambda context: "" if is_possible(context) else reason


def first_reason(*reasons: DisabledReason) -> DisabledReason:
    """Return a function that gives the first reason of several that is not empty."""
    return lambda context: next((text for reason in reasons if (text := reason(context))), "")


@dataclass(frozen=True)
class UiCommand:
    """Command of the user interface: the only description of its texts, its keys and its state."""

    id: str
    keys: tuple[str, ...]
    title: str  # label in help, palette, menus, tooltips and README: an imperative in sentence case
    group: str
    action: Action
    short_title: str = ""  # label on buttons, which have little room; by default the title
    available_mode: str = ANY_MODE  # RUN: available only outside edit mode; EDIT: only in edit mode; ANY: in both
    repeats_while_held: bool = False  # whether the command runs repeatedly while its key is held down
    disabled_reason: DisabledReason = _is_always_enabled
    is_on: ToggledState | None = None  # None for a command that does not switch anything on and off
    # context menu that contains the command -> position in the menu; items with lower numbers are higher
    menus: Mapping[ContextMenu, int] = field(default_factory=dict)
    synonyms: tuple[str, ...] = ()  # further words by which palette and help find the command
    # (title, member) of a command that differs from others only in a number or an arrow key, such as
    # ("Focus panel", "3") or ("Pan the map", "Left"); help and README show such commands in one line
    family: tuple[str, str] | None = None

    @property
    def button_label(self) -> str:
        return self.short_title or self.title

    @property
    def title_with_mode(self) -> str:
        """Return the title, followed by the mode if the command is available only in edit mode."""
        return f"{self.title} (edit mode)" if self.available_mode == EDIT_MODE else self.title

    @property
    def searchable_text(self) -> str:
        """Return everything by which palette and help find the command, in lower case."""
        return " ".join([self.title_with_mode, self.short_title, self.group, *self.keys, *self.synonyms]).lower()


@dataclass(frozen=True)
class CommandLine:
    """Line of help and README: one command, or the commands of a family that differ only in a number or an arrow."""

    commands: tuple[UiCommand, ...]
    keys: tuple[str, ...]  # text shown to the user, such as "Alt+1 to 5" for five commands
    title: str  # title that fits all commands of the line

    @property
    def searchable_text(self) -> str:
        return " ".join([self.title.lower(), *(command.searchable_text for command in self.commands)])


class CommandTopic:
    """Group of commands in help and README; calling a topic returns a decorator that adds a command to it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.commands: list[UiCommand] = []

    def __call__(
        self,
        keys: str,
        title: str,
        *,
        button: str = "",
        mode: str = ANY_MODE,
        repeats: bool = False,
        disabled: DisabledReason = _is_always_enabled,
        is_on: ToggledState | None = None,
        menus: Mapping[ContextMenu, int] | None = None,
        synonyms: Sequence[str] = (),
        family: tuple[str, str] | None = None,
        name: str = "",
    ) -> Callable[[Action], Action]:
        """Return a decorator that makes a function a command.

        Args:
            keys: Keys as ui/widgets/key_names.py writes them, separated by spaces; "" for none.
            title: Label of the command, an imperative in sentence case.
            button: Shorter label for buttons.
            mode: ANY, RUN or EDIT.
            repeats: Repeat the command while its key is held.
            disabled: Function that returns why the command is disabled, or "" if it is enabled.
            is_on: Function that returns whether the command has switched on what it switches.
            menus: Context menu -> position of the command in it.
            synonyms: Further words by which palette and help find the command.
            family: (title, member) of a command that differs from others only in a number or an arrow.
            name: Id of the command; by default the function's name.

        Example:
            @command("Alt+U", "List the agents of the focused crowd", disabled=_NEEDS_CROWD, synonyms=("units",))
            def list_agents(window): ...
        """

        def add(act: Action) -> Action:
            self.commands.append(
                UiCommand(
                    id=name or act.__name__,
                    keys=tuple(keys.split()),
                    title=title,
                    group=self.name,
                    action=act,
                    short_title=button,
                    available_mode=mode,
                    repeats_while_held=repeats,
                    disabled_reason=disabled,
                    is_on=is_on,
                    menus=menus or {},
                    synonyms=tuple(synonyms),
                    family=family,
                )
            )
            return act

        return add


TableLoader = Callable[[Mapping[str, str]], "CommandTable"]
"""Function that returns the table of the program with keys that the user assigned: command id -> keys."""


class CommandTable:
    """Table of all commands, searched by id, by group, by menu or by key."""

    def __init__(self, commands: Iterable[UiCommand], load_in_other_process: TableLoader | None = None) -> None:
        """Create a table.

        Args:
            commands: All commands, in the order in which help lists them.
            load_in_other_process: Function that returns the same table in another process, such as the one that
                records a video; a pickled table then contains only the user's keys.
        """
        self._command_by_id = {command.id: command for command in commands}
        self._assigned_keys: Mapping[str, str] = {}  # keys that the user assigned: command id -> keys
        self._load_in_other_process = load_in_other_process
        # Command id -> first key and title; texts of every frame are filled in with them.
        self._first_keys = {command.id: self.first_key_of(command.id) for command in self}
        self._titles = {command.id: command.title for command in self}
        self.group_names = tuple(dict.fromkeys(command.group for command in self))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle only the assigned keys, because the process that reads them has the same commands."""
        if self._load_in_other_process is None:
            return CommandTable, (tuple(self),)
        return self._load_in_other_process, (self._assigned_keys,)

    def with_assigned_keys(self, keys: Mapping[str, str]) -> "CommandTable":
        """Return a copy of this table with the keys that the user assigned; `keys`: command id -> keys."""
        commands = (replace(c, keys=tuple(keys[c.id].split())) if c.id in keys else c for c in self)
        table = CommandTable(commands, self._load_in_other_process)
        table._assigned_keys = dict(keys)
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
        return iter(self._command_by_id.values())

    def __len__(self) -> int:
        return len(self._command_by_id)

    def __getitem__(self, command_id: str) -> UiCommand:
        return self._command_by_id[command_id]

    def commands_of_group(self, group: str) -> list[UiCommand]:
        return [command for command in self if command.group == group]

    def commands_of_menu(self, menu: ContextMenu) -> list[UiCommand]:
        """Return the commands of a context menu, from top to bottom."""
        return sorted((command for command in self if menu in command.menus), key=lambda command: command.menus[menu])

    def command_for_key(self, key: str, is_editing: bool) -> UiCommand | None:
        """Return the command that a pressed key triggers, in or outside edit mode; None if there is none."""
        for mode in (EDIT_MODE if is_editing else RUN_MODE, ANY_MODE):
            for command in self:
                if command.available_mode == mode and key in command.keys:
                    return command
        return None

    def commands_matching(self, query: str) -> list[UiCommand]:
        """Return the commands that contain all words of a query, best matches first."""
        words, wanted = query.lower().split(), query.lower().strip()
        matches = [command for command in self if all(word in command.searchable_text for word in words)]
        return sorted(matches, key=lambda command: _match_rank(command, wanted))

    def text_with_key_names(self, text: str) -> str:
        """Return a text in which each placeholder `{key:command}` is replaced by the key of that command."""
        return fill_in_key_placeholders(text, self._first_keys, self._titles)

    def first_key_of(self, command_id: str) -> str:
        """Return the first key of a command, for tooltips and menus; "" if it has none."""
        keys = self[command_id].keys
        return keys[0] if keys else ""


NO_COMMANDS = CommandTable(())
"""Table of a picture without buttons."""


def _match_rank(command: UiCommand, query: str) -> int:
    """Return how well a command matches a query: 0 for the best matches, 4 for the worst."""
    title = command.title.lower()
    if not query or title.startswith(query) or query == command.short_title.lower():
        return 0
    return 1 if f" {query}" in title else 2 if query in title else 3 if query in command.synonyms else 4


# --- lines of help and README ----------------------------------------------------------------------

_ARROWS = ("Left", "Right", "Up", "Down")


def command_lines(commands: Iterable[UiCommand]) -> list[CommandLine]:
    """Return the lines of help and README: one per command, except that members of a family share one.

    Members share a line only if each has exactly one key, which ends with the member's number or arrow. After the user
    has assigned another key to a member, that member has a line of its own.
    """
    lines: list[CommandLine] = []
    for family, grouped in groupby(commands, _family_and_key_prefix):
        members = list(grouped)
        lines += [_line_of_command(member) for member in members] if family is None else _family_lines(members)
    return lines


def _family_and_key_prefix(command: UiCommand) -> tuple[str, str] | None:
    """Return the family and the common beginning of its keys, such as "Alt+"; None if the key is not a usual one."""
    if command.family is None or len(command.keys) != 1:
        return None
    title, member = command.family
    prefix, key = command.keys[0][: -len(member)], command.keys[0]
    return (title, prefix) if key == prefix + member and (not prefix or prefix.endswith("+")) else None


def _line_of_command(command: UiCommand) -> CommandLine:
    return CommandLine((command,), command.keys, command.title_with_mode)


def _family_lines(commands: list[UiCommand]) -> list[CommandLine]:
    """Return one line for all four arrows, or one for each sequence of consecutive numbers."""
    members = [command.family[1] for command in commands if command.family is not None]
    if sorted(members) == sorted(_ARROWS):
        return [_shared_line(commands, "arrows", "")]
    if not all(member.isdigit() for member in members):
        return [_line_of_command(command) for command in commands]
    lines = []
    for _, numbered in groupby(enumerate(commands), lambda pair: int(members[pair[0]]) - pair[0]):
        run = [command for _, command in numbered]
        lines.append(_numbers_line(run) if len(run) > 1 else _line_of_command(run[0]))
    return lines


def _numbers_line(commands: list[UiCommand]) -> CommandLine:
    first, last = (command.family[1] for command in (commands[0], commands[-1]) if command.family is not None)
    numbers = f"{first} to {last}"
    return _shared_line(commands, numbers, f" {numbers}")


def _shared_line(commands: list[UiCommand], key_suffix: str, title_suffix: str) -> CommandLine:
    assert commands[0].family is not None
    title, member = commands[0].family
    mode = " (edit mode)" if commands[0].available_mode == EDIT_MODE else ""
    key = commands[0].keys[0][: -len(member)] + key_suffix
    return CommandLine(tuple(commands), (key,), title + title_suffix + mode)
