"""Read and write commands in files, by a table that defines the form of each kind of command.

    {block: [[3, 4]], free: {runs: "3-40,4 3-9,5"}}  cells; many cells are written as runs along rows
    {terrain: {cells: [[3, 4]], letters: T}}         exact terrain letters
    {block: south bridge}                            block a switch
    {switches: {gate: [[3, 4]], south bridge: []}}   name cells as a switch; an empty list removes the switch
    {goal: [9, 9]}    {agent: lazy, goal: [9, 9]}    {budget: 4}   {agent: lazy, budget: 4}
    {agent: lazy, set: {weight: 3}}                  set parameters of an agent
    {agent: lazy, label: w = 3}                      rename an agent
    {group: units, set: {weight: 3}}                 set parameters of a group; also goal, budget, and remove: all
    {add: {kind: tba}}    {agent: 9, add: {kind: tba}}    {remove: lazy}
    {tick_ms: 2}    {serve: 120}                     milliseconds per tick for all agents; agents that plan in a tick
    {changes: {every: 10, rate: 5}}                  {trials: 20}

Two kinds of files use the table. A scenario (timed_commands.py) is written by people: it names agents by label, and an
impossible command is a problem of the file. A log (log_entries.py) records all commands of the user, even without
effect: it names agents by number, and only its form is checked.

Subclasses of CommandReader and CommandWriter implement the difference.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

from files.agents import agent_config_data, random_changes_data, read_random_changes
from files.cell_lists import read_cells
from files.document_fields import DocumentField, require_field
from files.yaml import InlineList, InlineMap
from sim import world_commands
from sim.changes import RandomChangeSchedule
from sim.grid import PASSABLE_LETTERS, SOLID_LETTERS
from sim.params import Value
from sim.world_commands import BUDGET_PARAM, PLANNING_AGENTS_PARAM, TICK_MS_PARAM, TRIALS_PARAM, AgentConfig, Command

Fields = Mapping[str, DocumentField]


class CommandWriter(ABC):
    """Base class of the writers of commands: a subclass defines how one kind of file names cells and agents.

    Its method `cells` returns a list of cells, and `agent` the number or label of an agent, as plain data.
    """

    def __init__(self, width: int) -> None:
        self.width = width

    def cell(self, cell: int) -> InlineList:
        return InlineList([int(cell) % self.width, int(cell) // self.width])

    @abstractmethod
    def cells(self, cells: Iterable[int]) -> InlineList | InlineMap: ...

    @abstractmethod
    def agent(self, number: int) -> int | str: ...


class CommandReader(ABC):
    """Base class of the readers of commands: a subclass defines which names and values one kind of file allows.

    Methods return None (read_params: {}) after reporting a problem in the document of the field.
    """

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height

    @abstractmethod
    def agent(self, part: DocumentField) -> int | None:
        """Return the number of the agent that a field names."""

    @abstractmethod
    def read_group_agent(self, part: DocumentField) -> int | None:
        """Return the number of any one agent of the group that a field names.

        A command to the group is read as if it was a command to this agent.
        """

    @abstractmethod
    def read_switch_name(self, part: DocumentField) -> str | None:
        """Return the name of the switch that a field names."""

    @abstractmethod
    def is_budget_valid(self, part: DocumentField, budget: int | None, agent: int | None) -> bool:
        """Return whether a new budget is valid for an agent; agent None: for all agents that use the shared budget."""

    @abstractmethod
    def read_params(self, part: DocumentField, agent: int) -> dict[str, Value]:
        """Return the parameters to set for an agent, with their new values."""

    @abstractmethod
    def read_new_agent(
        self, part: DocumentField, number: DocumentField | None
    ) -> tuple[AgentConfig, int | None] | None:
        """Return the configuration of a new agent, and its number if the file sets one, otherwise None."""

    def on_agent_removed(self, agent: int) -> None:  # noqa: B027  a reader of logs keeps no list of agents
        """Register that a command removes an agent, so that later commands cannot name the agent."""

    def on_group_removed(self, group: str) -> None:  # noqa: B027  a reader of logs keeps no list of agents
        """Register that a command removes all agents of a group, so that later commands cannot name them."""

    def on_agent_renamed(self, agent: int, label: str) -> None:  # noqa: B027  a reader of logs keeps no labels
        """Register that a command renames an agent, so that later commands can use the new label."""

    def on_switch_named(self, name: str, is_created: bool) -> None:  # noqa: B027  a reader of logs keeps no switches
        """Register that a command creates a switch of this name, or removes the switch if `is_created` is false."""

    def cell(self, part: DocumentField) -> int | None:
        pair = part.cell(self.width, self.height)
        return None if pair is None else pair[1] * self.width + pair[0]

    def cells(self, part: DocumentField) -> tuple[int, ...] | None:
        return read_cells(part, self.width, self.height)

    def read_terrain_letters(self, entry: DocumentField) -> tuple[tuple[int, ...], str] | None:
        """Return cells and a string with a terrain letter for each, written {cells: ..., letters: ...}."""
        parts = entry.read_known_keys(("cells", "letters"), "terrain such as {cells: [[3, 4]], letters: T}")
        cells_field = require_field(parts, "cells", entry, "a list of cells") if parts else None
        letters_field = require_field(parts, "letters", entry, "a terrain letter for each cell") if parts else None
        if cells_field is None or letters_field is None:
            return None
        cells, letters = self.cells(cells_field), letters_field.value
        if not isinstance(letters, str) or not set(letters) <= set(PASSABLE_LETTERS + SOLID_LETTERS):
            letters_field.report_expected_value(f"letters of {' '.join(PASSABLE_LETTERS + SOLID_LETTERS)}")
            return None
        if cells is not None and len(cells) != len(letters):
            letters_field.report_problem(f"expected {len(cells):,} letters, one for each cell, got {len(letters):,}")
            return None
        return None if cells is None else (cells, letters)


# --- the table ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CommandForm:
    """Form of one kind of command in files: its keys, and the functions that write and read it."""

    kind: type[Command]
    keys: tuple[str, ...]  # keys of an entry, at least one of which identifies this kind of command
    write_data: Callable[[Any, CommandWriter], dict[str, Any]]
    # Returns the commands of an entry, or [] after reporting a problem.
    read_commands: Callable[[Fields, CommandReader], list[Command]]
    agent: str = "never"  # whether the command has a key `agent`: "never", "maybe" or "always"


def _write_cell_edit(command: world_commands.EditCells, writer: CommandWriter) -> dict[str, Any]:
    cells = {"block": command.blocked_cells, "free": command.freed_cells}
    return {key: writer.cells(some) for key, some in cells.items() if some} or {"block": InlineList()}


def _read_cell_edit(fields: Fields, reader: CommandReader) -> list[Command]:
    """Read a command that blocks or frees cells, written with the key `block`, `free` or both."""
    cells = {key: reader.cells(fields[key]) for key in ("block", "free") if key in fields}
    if None in cells.values():
        return []
    return [world_commands.EditCells(cells.get("block") or (), cells.get("free") or ())]


def _write_terrain(command: world_commands.SetTerrain, writer: CommandWriter) -> dict[str, Any]:
    return {"terrain": InlineMap(cells=writer.cells(command.cells), letters=command.letters)}


def _read_terrain(fields: Fields, reader: CommandReader) -> list[Command]:
    found = reader.read_terrain_letters(fields["terrain"])
    return [world_commands.SetTerrain(*found)] if found else []


def _write_switch_state(command: world_commands.SetSwitch, writer: CommandWriter) -> dict[str, Any]:
    return {"block" if command.is_blocked else "free": command.name}


def _read_switch_state(fields: Fields, reader: CommandReader) -> list[Command]:
    """Read a command that sets a switch, written as `block` or `free` with the switch's name instead of cells."""
    key, part = next((key, part) for key, part in fields.items() if isinstance(part.value, str))
    name = reader.read_switch_name(part)
    if name is None:
        return []
    if {"block", "free"} <= set(fields):
        part.report_problem("expected a switch alone, or cells to block and cells to free")
        return []
    return [world_commands.SetSwitch(name, key == "block")]


def _write_switch_definition(command: world_commands.DefineSwitch, writer: CommandWriter) -> dict[str, Any]:
    return {"switches": InlineMap({command.name: writer.cells(command.cells)})}


def _read_switch_definitions(fields: Fields, reader: CommandReader) -> list[Command]:
    """Read commands that name groups of cells as switches, written as {gate: [[3, 4]], bridge: []}."""
    read: list[Command] = []
    for name, part in fields["switches"].read_mapping("named groups of cells such as {bridge: [[60, 20]]}").items():
        is_name = DocumentField(part.problems, part.path, name).read_text(world_commands.MAX_NAME_LENGTH) is not None
        cells = reader.cells(part)
        if is_name and cells is not None:
            reader.on_switch_named(name, bool(cells))
            read.append(world_commands.DefineSwitch(name, cells))
    return read


def _write_goal_move(command: world_commands.MoveGoal, writer: CommandWriter) -> dict[str, Any]:
    agent_key = {} if command.agent is None else {"agent": writer.agent(command.agent)}
    return {**agent_key, "goal": writer.cell(command.cell)}


def _read_goal_move(fields: Fields, reader: CommandReader) -> list[Command]:
    cell = reader.cell(fields["goal"])
    agent = reader.agent(fields["agent"]) if "agent" in fields else None
    is_wrong = cell is None or ("agent" in fields and agent is None)
    return [] if is_wrong or cell is None else [world_commands.MoveGoal(cell, agent)]


def _write_budget(command: world_commands.SetBudget, writer: CommandWriter) -> dict[str, Any]:
    agent_key = {} if command.agent is None else {"agent": writer.agent(command.agent)}
    return {**agent_key, "budget": command.budget}


def _read_budget(fields: Fields, reader: CommandReader) -> list[Command]:
    """Read a command that sets a budget; the budget null returns an agent to the shared budget."""
    part = fields["budget"]
    agent = reader.agent(fields["agent"]) if "agent" in fields else None
    is_wrong = "agent" in fields and agent is None
    is_back_to_shared = agent is not None and part.value is None
    budget = None if is_back_to_shared or is_wrong else part.read_integer(BUDGET_PARAM)
    if is_wrong or (budget is None and not is_back_to_shared) or not reader.is_budget_valid(part, budget, agent):
        return []
    return [world_commands.SetBudget(budget, agent)]


def _write_agent_param(command: world_commands.SetParam, writer: CommandWriter) -> dict[str, Any]:
    return {"agent": writer.agent(command.agent), "set": InlineMap({command.name: command.value})}


def _read_agent_params(fields: Fields, reader: CommandReader) -> list[Command]:
    agent = reader.agent(fields["agent"])
    if agent is None:
        return []
    return [
        world_commands.SetParam(agent, name, value) for name, value in reader.read_params(fields["set"], agent).items()
    ]


def _write_agent_label(command: world_commands.RenameAgent, writer: CommandWriter) -> dict[str, Any]:
    return {"agent": writer.agent(command.agent), "label": command.label}


def _read_agent_label(fields: Fields, reader: CommandReader) -> list[Command]:
    agent, label = reader.agent(fields["agent"]), fields["label"].read_text(world_commands.MAX_NAME_LENGTH)
    if agent is None or label is None:
        return []
    reader.on_agent_renamed(agent, label)
    return [world_commands.RenameAgent(agent, label)]


def _write_added_agent(command: world_commands.AddAgent, writer: CommandWriter) -> dict[str, Any]:
    number = {} if command.agent is None else {"agent": command.agent}
    return {**number, "add": agent_config_data(command.config)}


def _read_added_agent(fields: Fields, reader: CommandReader) -> list[Command]:
    found = reader.read_new_agent(fields["add"], fields.get("agent"))
    return [world_commands.AddAgent(*found)] if found else []


def _write_removed_agent(command: world_commands.RemoveAgent, writer: CommandWriter) -> dict[str, Any]:
    return {"remove": writer.agent(command.agent)}


def _read_removed_agent(fields: Fields, reader: CommandReader) -> list[Command]:
    agent = reader.agent(fields["remove"])
    if agent is None:
        return []
    reader.on_agent_removed(agent)
    return [world_commands.RemoveAgent(agent)]


def _write_change_schedule(command: world_commands.SetRandomChanges, writer: CommandWriter) -> dict[str, Any]:
    return {"changes": random_changes_data(RandomChangeSchedule(command.interval_ticks, command.changed_percent))}


def _read_change_schedule(fields: Fields, reader: CommandReader) -> list[Command]:
    changes = read_random_changes(fields["changes"])
    return [world_commands.SetRandomChanges(changes.interval_ticks, changes.changed_percent)] if changes else []


def _write_max_trials(command: world_commands.SetMaxTrials, writer: CommandWriter) -> dict[str, Any]:
    return {"trials": command.max_trials}


def _read_max_trials(fields: Fields, reader: CommandReader) -> list[Command]:
    count = fields["trials"].read_integer(TRIALS_PARAM)
    return [] if count is None else [world_commands.SetMaxTrials(count)]


def _write_group_command(command: world_commands.ApplyToGroup, writer: CommandWriter) -> dict[str, Any]:
    data = command_data(command.command, writer)
    own_keys = {"remove": "all"} if "remove" in data else {key: value for key, value in data.items() if key != "agent"}
    return {"group": command.group, **own_keys}


def _read_group_command(fields: Fields, reader: CommandReader) -> list[Command]:
    """Read a command to all agents of a group, in the same way as a command to one agent of the group."""
    part = fields["group"]
    matching_row = next((row for row in _AGENT_FORMS if set(row.keys) & set(fields)), None)
    if matching_row is None or len(fields) != 2:
        part.report_problem("expected exactly one of goal, budget, set and remove: all for a group, and no agent")
        return []
    name, agent = part.read_text(world_commands.MAX_NAME_LENGTH), reader.read_group_agent(part)
    if name is None or agent is None:
        return []
    if "remove" in fields and fields["remove"].value != "all":
        fields["remove"].report_expected_value("all")
        return []
    agent_field = DocumentField(part.problems, part.path, agent)
    read = matching_row.read_commands(
        {**fields, "agent": agent_field, **({"remove": agent_field} if "remove" in fields else {})}, reader
    )
    if "remove" in fields:
        reader.on_group_removed(name)
    return [
        world_commands.ApplyToGroup(name, replace(command, agent=0))
        for command in read
        if isinstance(command, world_commands.GroupCommand)
    ]


def _write_tick_time_limit(command: world_commands.SetTickTimeLimit, writer: CommandWriter) -> dict[str, Any]:
    return {"tick_ms": command.limit_ms}


def _read_tick_time_limit(fields: Fields, reader: CommandReader) -> list[Command]:
    value = fields["tick_ms"].read_value(TICK_MS_PARAM)
    return [] if value is None else [world_commands.SetTickTimeLimit(float(value))]


def _write_planner_limit(command: world_commands.LimitPlanners, writer: CommandWriter) -> dict[str, Any]:
    return {"serve": command.agent_count}


def _read_planner_limit(fields: Fields, reader: CommandReader) -> list[Command]:
    agents = fields["serve"].read_integer(PLANNING_AGENTS_PARAM)
    return [] if agents is None else [world_commands.LimitPlanners(agents)]


COMMAND_FORMS = (
    CommandForm(world_commands.EditCells, ("block", "free"), _write_cell_edit, _read_cell_edit),
    CommandForm(world_commands.SetSwitch, ("block", "free"), _write_switch_state, _read_switch_state),
    CommandForm(world_commands.SetTerrain, ("terrain",), _write_terrain, _read_terrain),
    CommandForm(world_commands.DefineSwitch, ("switches",), _write_switch_definition, _read_switch_definitions),
    CommandForm(world_commands.MoveGoal, ("goal",), _write_goal_move, _read_goal_move, agent="maybe"),
    CommandForm(world_commands.SetBudget, ("budget",), _write_budget, _read_budget, agent="maybe"),
    CommandForm(world_commands.SetParam, ("set",), _write_agent_param, _read_agent_params, agent="always"),
    CommandForm(world_commands.RenameAgent, ("label",), _write_agent_label, _read_agent_label, agent="always"),
    CommandForm(world_commands.AddAgent, ("add",), _write_added_agent, _read_added_agent, agent="maybe"),
    CommandForm(world_commands.RemoveAgent, ("remove",), _write_removed_agent, _read_removed_agent),
    CommandForm(world_commands.SetRandomChanges, ("changes",), _write_change_schedule, _read_change_schedule),
    CommandForm(world_commands.SetMaxTrials, ("trials",), _write_max_trials, _read_max_trials),
    CommandForm(world_commands.SetTickTimeLimit, ("tick_ms",), _write_tick_time_limit, _read_tick_time_limit),
    CommandForm(world_commands.LimitPlanners, ("serve",), _write_planner_limit, _read_planner_limit),
    CommandForm(
        world_commands.ApplyToGroup,
        ("group", "goal", "budget", "set", "remove"),
        _write_group_command,
        _read_group_command,
    ),
)
COMMAND_KEYS = tuple(dict.fromkeys(key for row in COMMAND_FORMS for key in row.keys))

_FORMS_BY_CLASS = {row.kind: row for row in COMMAND_FORMS}
_AGENT_FORMS = tuple(_FORMS_BY_CLASS[kind] for kind in get_args(world_commands.GroupCommand))
_SWITCH_FORM = _FORMS_BY_CLASS[world_commands.SetSwitch]


def command_data(command: Command, writer: CommandWriter) -> dict[str, Any]:
    """Return a command as plain data for a file, without its tick."""
    return _FORMS_BY_CLASS[type(command)].write_data(command, writer)


def read_entry_commands(entry: DocumentField, fields: Fields, reader: CommandReader) -> list[Command]:
    """Return the commands that one entry of a file describes; [] after reporting a problem.

    An entry is mostly one command, but `set` and `switches` may have several values, each a command.

    Args:
        entry: the whole entry.
        fields: its parts by key.
        reader: reader for the kind of file.
    """
    row = _command_form_for_keys(entry, fields)
    if row is None:
        return []
    if "agent" in fields and row.agent == "never":
        fields["agent"].report_problem(
            f"'{next(key for key in row.keys if key in fields)}' cannot be used with an agent"
        )
        return []
    if row.agent == "always" and require_field(fields, "agent", entry, "the label or number of an agent") is None:
        return []
    return row.read_commands({key: fields[key] for key in (*row.keys, "agent") if key in fields}, reader)


def _command_form_for_keys(entry: DocumentField, fields: Fields) -> CommandForm | None:
    given_keys = [key for key in COMMAND_KEYS if key in fields]
    row = next((row for row in COMMAND_FORMS if given_keys and set(given_keys) <= set(row.keys)), None)
    if row is None or (len(given_keys) > 1 and set(given_keys) != {"block", "free"} and "group" not in given_keys):
        entry.report_problem(
            f"expected one of {', '.join(COMMAND_KEYS)}, got {' and '.join(given_keys) or 'none of them'}"
        )
        return None
    names_a_switch = row.kind is world_commands.EditCells and any(
        isinstance(fields[key].value, str) for key in given_keys
    )
    return _SWITCH_FORM if names_a_switch else row
