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

Two kinds of files use the table. A scenario (edits.py) is written by people: it names agents by label, and an
impossible command is a problem of the file. A log (log.py) records all commands of the user, even those without effect:
it names agents by number, and only its form is checked. Subclasses of Reader and Writer implement the difference.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

from sim import commands
from sim.changes import RandomChanges
from sim.commands import BUDGET, SERVED, TICK_MS, TRIALS, AgentConfig, Command
from sim.files.agents import agent_data, changes_data, read_changes
from sim.files.cells import read_cells
from sim.files.fields import Field, require
from sim.files.yaml import Inline, InlineMap
from sim.grid import PASSABLE, SOLID
from sim.params import Value

Fields = Mapping[str, Field]


class Writer(ABC):
    """Base class of the writers of commands: a subclass defines how one kind of file names cells and agents.

    Its method `cells` returns a list of cells, and `agent` returns the number or label of an agent, as plain data.
    """

    def __init__(self, width: int) -> None:
        self.width = width

    def cell(self, cell: int) -> Inline:
        return Inline([int(cell) % self.width, int(cell) // self.width])

    @abstractmethod
    def cells(self, cells: Iterable[int]) -> Inline | InlineMap: ...

    @abstractmethod
    def agent(self, number: int) -> int | str: ...


class Reader(ABC):
    """Base class of the readers of commands: a subclass defines which names and values one kind of file allows.

    Methods return None (settings: {}) after reporting a problem in the document of the field.
    """

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height

    @abstractmethod
    def agent(self, part: Field) -> int | None:
        """Return the number of the agent that a field names."""

    @abstractmethod
    def one_of(self, part: Field) -> int | None:
        """Return the number of any one agent of the group that a field names.

        A command to the group is read as if it was a command to this agent.
        """

    @abstractmethod
    def switch(self, part: Field) -> str | None:
        """Return the name of the switch that a field names."""

    @abstractmethod
    def allows_budget(self, part: Field, budget: int | None, agent: int | None) -> bool:
        """Return whether a new budget is valid for an agent; agent None: for all agents that use the shared budget."""

    @abstractmethod
    def settings(self, part: Field, agent: int) -> dict[str, Value]:
        """Return the parameters to set for an agent, with their new values."""

    @abstractmethod
    def newcomer(self, part: Field, number: Field | None) -> tuple[AgentConfig, int | None] | None:
        """Return the configuration of a new agent, and its number if the file sets one, otherwise None."""

    def leaves(self, agent: int) -> None:  # noqa: B027  a reader of logs keeps no list of agents
        """Register that a command removes an agent, so that later commands cannot name the agent."""

    def all_leave(self, group: str) -> None:  # noqa: B027  a reader of logs keeps no list of agents
        """Register that a command removes all agents of a group, so that later commands cannot name them."""

    def names_agent(self, agent: int, label: str) -> None:  # noqa: B027  a reader of logs keeps no labels
        """Register that a command renames an agent, so that later commands can use the new label."""

    def names_switch(self, name: str, is_there: bool) -> None:  # noqa: B027  a reader of logs keeps no switches
        """Register that a command creates a switch of this name, or removes the switch if `is_there` is false."""

    def cell(self, part: Field) -> int | None:
        pair = part.cell(self.width, self.height)
        return None if pair is None else pair[1] * self.width + pair[0]

    def cells(self, part: Field) -> tuple[int, ...] | None:
        return read_cells(part, self.width, self.height)

    def letters(self, entry: Field) -> tuple[tuple[int, ...], str] | None:
        """Return cells and a string with a terrain letter for each, written {cells: ..., letters: ...}."""
        parts = entry.keys(("cells", "letters"), "terrain such as {cells: [[3, 4]], letters: T}")
        cells_field = require(parts, "cells", entry, "a list of cells") if parts else None
        letters_field = require(parts, "letters", entry, "a terrain letter for each cell") if parts else None
        if cells_field is None or letters_field is None:
            return None
        cells, letters = self.cells(cells_field), letters_field.value
        if not isinstance(letters, str) or not set(letters) <= set(PASSABLE + SOLID):
            letters_field.expect(f"letters of {' '.join(PASSABLE + SOLID)}")
            return None
        if cells is not None and len(cells) != len(letters):
            letters_field.complain(f"expected {len(cells):,} letters, one for each cell, got {len(letters):,}")
            return None
        return None if cells is None else (cells, letters)


# --- the table ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """Form of one kind of command in files: its keys, and the functions that write and read it."""

    kind: type[Command]
    keys: tuple[str, ...]  # keys of an entry, at least one of which identifies this kind of command
    write: Callable[[Any, Writer], dict[str, Any]]
    read: Callable[[Fields, Reader], list[Command]]  # returns the commands of an entry, or [] after reporting a problem
    agent: str = "never"  # whether the command has a key `agent`: "never", "maybe" or "always"


def _write_cells(command: commands.EditCells, writer: Writer) -> dict[str, Any]:
    cells = {"block": command.blocked, "free": command.freed}
    return {key: writer.cells(some) for key, some in cells.items() if some} or {"block": Inline()}


def _read_cells(fields: Fields, reader: Reader) -> list[Command]:
    """Read a command that blocks or frees cells, written with the key `block`, `free` or both."""
    cells = {key: reader.cells(fields[key]) for key in ("block", "free") if key in fields}
    if None in cells.values():
        return []
    return [commands.EditCells(cells.get("block") or (), cells.get("free") or ())]


def _write_terrain(command: commands.SetTerrain, writer: Writer) -> dict[str, Any]:
    return {"terrain": InlineMap(cells=writer.cells(command.cells), letters=command.letters)}


def _read_terrain(fields: Fields, reader: Reader) -> list[Command]:
    found = reader.letters(fields["terrain"])
    return [commands.SetTerrain(*found)] if found else []


def _write_switch(command: commands.SetSwitch, writer: Writer) -> dict[str, Any]:
    return {"block" if command.blocked else "free": command.name}


def _read_switch(fields: Fields, reader: Reader) -> list[Command]:
    """Read a command that sets a switch, written as `block` or `free` with the switch's name instead of cells."""
    key, part = next((key, part) for key, part in fields.items() if isinstance(part.value, str))
    name = reader.switch(part)
    if name is None:
        return []
    if {"block", "free"} <= set(fields):
        part.complain("expected a switch alone, or cells to block and cells to free")
        return []
    return [commands.SetSwitch(name, key == "block")]


def _write_switch_name(command: commands.NameSwitch, writer: Writer) -> dict[str, Any]:
    return {"switches": InlineMap({command.name: writer.cells(command.cells)})}


def _read_switch_names(fields: Fields, reader: Reader) -> list[Command]:
    """Read commands that name groups of cells as switches, written as {gate: [[3, 4]], bridge: []}."""
    read: list[Command] = []
    for name, part in fields["switches"].any_keys("named groups of cells such as {bridge: [[60, 20]]}").items():
        is_name = Field(part.problems, part.path, name).text(commands.MAX_NAME) is not None
        cells = reader.cells(part)
        if is_name and cells is not None:
            reader.names_switch(name, bool(cells))
            read.append(commands.NameSwitch(name, cells))
    return read


def _write_goal(command: commands.MoveGoal, writer: Writer) -> dict[str, Any]:
    agent_key = {} if command.agent is None else {"agent": writer.agent(command.agent)}
    return {**agent_key, "goal": writer.cell(command.cell)}


def _read_goal(fields: Fields, reader: Reader) -> list[Command]:
    cell = reader.cell(fields["goal"])
    agent = reader.agent(fields["agent"]) if "agent" in fields else None
    is_wrong = cell is None or ("agent" in fields and agent is None)
    return [] if is_wrong or cell is None else [commands.MoveGoal(cell, agent)]


def _write_budget(command: commands.SetBudget, writer: Writer) -> dict[str, Any]:
    agent_key = {} if command.agent is None else {"agent": writer.agent(command.agent)}
    return {**agent_key, "budget": command.budget}


def _read_budget(fields: Fields, reader: Reader) -> list[Command]:
    """Read a command that sets a budget; the budget null returns an agent to the shared budget."""
    part = fields["budget"]
    agent = reader.agent(fields["agent"]) if "agent" in fields else None
    is_wrong = "agent" in fields and agent is None
    is_back_to_shared = agent is not None and part.value is None
    budget = None if is_back_to_shared or is_wrong else part.integer(BUDGET)
    if is_wrong or (budget is None and not is_back_to_shared) or not reader.allows_budget(part, budget, agent):
        return []
    return [commands.SetBudget(budget, agent)]


def _write_param(command: commands.SetParam, writer: Writer) -> dict[str, Any]:
    return {"agent": writer.agent(command.agent), "set": InlineMap({command.name: command.value})}


def _read_params(fields: Fields, reader: Reader) -> list[Command]:
    agent = reader.agent(fields["agent"])
    if agent is None:
        return []
    return [commands.SetParam(agent, name, value) for name, value in reader.settings(fields["set"], agent).items()]


def _write_label(command: commands.NameAgent, writer: Writer) -> dict[str, Any]:
    return {"agent": writer.agent(command.agent), "label": command.label}


def _read_label(fields: Fields, reader: Reader) -> list[Command]:
    agent, label = reader.agent(fields["agent"]), fields["label"].text(commands.MAX_NAME)
    if agent is None or label is None:
        return []
    reader.names_agent(agent, label)
    return [commands.NameAgent(agent, label)]


def _write_add(command: commands.AddAgent, writer: Writer) -> dict[str, Any]:
    number = {} if command.agent is None else {"agent": command.agent}
    return {**number, "add": agent_data(command.config)}


def _read_add(fields: Fields, reader: Reader) -> list[Command]:
    found = reader.newcomer(fields["add"], fields.get("agent"))
    return [commands.AddAgent(*found)] if found else []


def _write_remove(command: commands.RemoveAgent, writer: Writer) -> dict[str, Any]:
    return {"remove": writer.agent(command.agent)}


def _read_remove(fields: Fields, reader: Reader) -> list[Command]:
    agent = reader.agent(fields["remove"])
    if agent is None:
        return []
    reader.leaves(agent)
    return [commands.RemoveAgent(agent)]


def _write_changes(command: commands.SetChanges, writer: Writer) -> dict[str, Any]:
    return {"changes": changes_data(RandomChanges(command.every, command.rate))}


def _read_changes(fields: Fields, reader: Reader) -> list[Command]:
    changes = read_changes(fields["changes"])
    return [commands.SetChanges(changes.every, changes.rate)] if changes else []


def _write_trials(command: commands.SetTrials, writer: Writer) -> dict[str, Any]:
    return {"trials": command.count}


def _read_trials(fields: Fields, reader: Reader) -> list[Command]:
    count = fields["trials"].integer(TRIALS)
    return [] if count is None else [commands.SetTrials(count)]


def _write_to_group(command: commands.ToGroup, writer: Writer) -> dict[str, Any]:
    data = command_data(command.command, writer)
    own_keys = {"remove": "all"} if "remove" in data else {key: value for key, value in data.items() if key != "agent"}
    return {"group": command.group, **own_keys}


def _read_to_group(fields: Fields, reader: Reader) -> list[Command]:
    """Read a command to all agents of a group, in the same way as a command to one agent of the group."""
    part = fields["group"]
    matching_row = next((row for row in _AGENT_ROWS if set(row.keys) & set(fields)), None)
    if matching_row is None or len(fields) != 2:
        part.complain("expected exactly one of goal, budget, set and remove: all for a group, and no agent")
        return []
    name, agent = part.text(commands.MAX_NAME), reader.one_of(part)
    if name is None or agent is None:
        return []
    if "remove" in fields and fields["remove"].value != "all":
        fields["remove"].expect("all")
        return []
    one = Field(part.problems, part.path, agent)
    read = matching_row.read({**fields, "agent": one, **({"remove": one} if "remove" in fields else {})}, reader)
    if "remove" in fields:
        reader.all_leave(name)
    return [commands.ToGroup(name, replace(command, agent=0)) for command in read if isinstance(command, commands.Told)]


def _write_tick_ms(command: commands.SetTickMs, writer: Writer) -> dict[str, Any]:
    return {"tick_ms": command.milliseconds}


def _read_tick_ms(fields: Fields, reader: Reader) -> list[Command]:
    value = fields["tick_ms"].parse(TICK_MS)
    return [] if value is None else [commands.SetTickMs(float(value))]


def _write_serve(command: commands.Serve, writer: Writer) -> dict[str, Any]:
    return {"serve": command.agents}


def _read_serve(fields: Fields, reader: Reader) -> list[Command]:
    agents = fields["serve"].integer(SERVED)
    return [] if agents is None else [commands.Serve(agents)]


TABLE = (
    Row(commands.EditCells, ("block", "free"), _write_cells, _read_cells),
    Row(commands.SetSwitch, ("block", "free"), _write_switch, _read_switch),
    Row(commands.SetTerrain, ("terrain",), _write_terrain, _read_terrain),
    Row(commands.NameSwitch, ("switches",), _write_switch_name, _read_switch_names),
    Row(commands.MoveGoal, ("goal",), _write_goal, _read_goal, agent="maybe"),
    Row(commands.SetBudget, ("budget",), _write_budget, _read_budget, agent="maybe"),
    Row(commands.SetParam, ("set",), _write_param, _read_params, agent="always"),
    Row(commands.NameAgent, ("label",), _write_label, _read_label, agent="always"),
    Row(commands.AddAgent, ("add",), _write_add, _read_add, agent="maybe"),
    Row(commands.RemoveAgent, ("remove",), _write_remove, _read_remove),
    Row(commands.SetChanges, ("changes",), _write_changes, _read_changes),
    Row(commands.SetTrials, ("trials",), _write_trials, _read_trials),
    Row(commands.SetTickMs, ("tick_ms",), _write_tick_ms, _read_tick_ms),
    Row(commands.Serve, ("serve",), _write_serve, _read_serve),
    Row(commands.ToGroup, ("group", "goal", "budget", "set", "remove"), _write_to_group, _read_to_group),
)
KEYS = tuple(dict.fromkeys(key for row in TABLE for key in row.keys))

_BY_KIND = {row.kind: row for row in TABLE}
_AGENT_ROWS = tuple(_BY_KIND[kind] for kind in get_args(commands.Told))
_SWITCH_ROW = _BY_KIND[commands.SetSwitch]


def command_data(command: Command, writer: Writer) -> dict[str, Any]:
    """Return a command as plain data for a file, without its tick."""
    return _BY_KIND[type(command)].write(command, writer)


def read_command(entry: Field, fields: Fields, reader: Reader) -> list[Command]:
    """Return the commands that one entry of a file describes; [] after reporting a problem.

    An entry is mostly one command, but `set` and `switches` may have several values, each a command.

    Args:
        entry: the whole entry.
        fields: its parts by key.
        reader: reader for the kind of file.
    """
    row = _row_for_keys(entry, fields)
    if row is None:
        return []
    if "agent" in fields and row.agent == "never":
        fields["agent"].complain(f"'{next(key for key in row.keys if key in fields)}' cannot be used with an agent")
        return []
    if row.agent == "always" and require(fields, "agent", entry, "the label or number of an agent") is None:
        return []
    return row.read({key: fields[key] for key in (*row.keys, "agent") if key in fields}, reader)


def _row_for_keys(entry: Field, fields: Fields) -> Row | None:
    given = [key for key in KEYS if key in fields]
    row = next((row for row in TABLE if given and set(given) <= set(row.keys)), None)
    if row is None or (len(given) > 1 and set(given) != {"block", "free"} and "group" not in given):
        entry.complain(f"expected one of {', '.join(KEYS)}, got {' and '.join(given) or 'none of them'}")
        return None
    names_a_switch = row.kind is commands.EditCells and any(isinstance(fields[key].value, str) for key in given)
    return _SWITCH_ROW if names_a_switch else row
