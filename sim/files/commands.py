"""Agents and timed commands as the plain data of scenario and session files, read and written.

    {kind: rtb-wa, label: lazy, weight: 2}              an agent
    {tick: 40, block: south bridge}                     a switch, or cells: {tick: 40, block: [[60, 99]], free: []}
    {tick: 41, terrain: {cells: [[3, 4]], letters: T}}  exact characters
    {tick: 50, goal: [9, 9]}    {tick: 50, budget: 4}   {tick: 50, agent: lazy, budget: 4}
    {tick: 60, agent: lazy, set: {weight: 3}}           parameters of a running agent
    {tick: 70, add: {kind: tba}}    {tick: 75, agent: 9, add: {kind: tba}}    {tick: 80, remove: lazy}
    {tick: 90, changes: {every: 10, rate: 5}}           {tick: 95, trials: 20}

Files say [x, y] and names; commands hold flat cells and the numbers that the world gives to agents. The numbers
follow from the order in which agents join, so a Roster plays the joining through while commands are read.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sim import commands
from sim.agent_api import AgentSpec
from sim.changes import RandomChanges
from sim.commands import AgentConfig, Command
from sim.files.fields import Field, Pair, require
from sim.files.yaml import Inline, InlineMap
from sim.grid import PASSABLE, SOLID
from sim.params import Param, Value, did_you_mean, parse_params, shown

MAX_AGENTS = 64
MAX_NAME = 60  # characters of a label or of a switch's name
LAST_TICK = 1_000_000_000

BUDGET = Param("budget", int, 16, "cells that each agent may expand a tick", 1, 1_000_000_000, symbol="k")
TICK = Param("tick", int, 0, "when a command is due", 0, LAST_TICK)
EVERY = Param("every", int, 10, "ticks between random changes", 1, LAST_TICK)
NUMBER = Param("agent", int, 0, "the number of an agent", 0, 1_000_000)
TRIALS = Param("trials", int, 1, "most walks from start to goal of agents that learn", 1, 1_000_000)
RATE = Param("rate", float, 0.0, "percent of cells that one random change redraws", 0.0, 100.0)

AGENT_KEYS = ("kind", "label", "budget")
EDIT_KEYS = ("tick", "block", "free", "terrain", "goal", "budget", "agent", "set", "add", "remove", "changes", "trials")


@dataclass(frozen=True)
class TimedCommand:
    tick: int
    command: Command


# --- who takes part -------------------------------------------------------------------------------


@dataclass
class Member:
    """An agent as it stands at some point of the script."""

    label: str
    kind: str
    spec: AgentSpec | None  # None: its own entry is wrong, so that nothing more can be said about it
    params: dict[str, Value]
    budget: int | None
    is_gone: bool = False


@dataclass
class Roster:
    """The agents by the number that the world gives them: the next one, or the one that was asked for."""

    specs: Mapping[str, AgentSpec]
    budget: int
    members: dict[int, Member] = field(default_factory=dict)
    next_number: int = 0

    def join(self, config: AgentConfig, number: int | None = None) -> None:
        spec = self.specs[config.kind]
        params = parse_params(spec.params, config.params, "", [])
        self._take_place(Member(config.label, config.kind, spec, params, config.budget), number)

    def join_unread(self, entry: object, number: int | None = None) -> None:
        """Keep the place and the name of an agent whose entry is wrong, so that no later line is blamed for it."""
        given = entry if isinstance(entry, dict) else {}
        self._take_place(Member(str(given.get("label", "")), str(given.get("kind", "")), None, {}, None), number)

    def _take_place(self, member: Member, number: int | None) -> None:
        place = self.next_number if number is None else number
        self.members[place] = member
        self.next_number = max(self.next_number, place + 1)

    def is_taken(self, number: int) -> bool:
        return number in self.members and not self.members[number].is_gone

    def find(self, name: object) -> int | str:
        """The number of the agent that a file calls `name`, or what is wrong with that name."""
        if isinstance(name, int) and not isinstance(name, bool):
            known = ", ".join(map(str, self.members)) or "none"
            return self._still_there(name) if name in self.members else f"no agent {name}; known: {known}"
        for names in ({n: m.label for n, m in self.members.items()}, {n: m.kind for n, m in self.members.items()}):
            found = [number for number, known in names.items() if known == name]
            present = [number for number in found if self.is_taken(number)]
            if len(present) > 1:
                return f"agents {', '.join(map(str, present))} are called {shown(name)}; say which by its number"
            if found:
                return self._still_there((present or found)[0])
        return f"no agent {shown(name)}{did_you_mean(name, [m.label or m.kind for m in self.members.values()])}"

    def _still_there(self, number: int) -> int | str:
        member = self.members[number]
        return number if self.is_taken(number) else f"agent {number} ({member.label or member.kind}) was removed before"


# --- reading an agent -----------------------------------------------------------------------------


def read_agent(entry: Field, specs: Mapping[str, AgentSpec], shared_budget: int) -> AgentConfig | None:
    """The agent that a mapping of the file describes, or None after noting all of its problems."""
    fields = entry.any_keys("an agent such as {kind: tb-wa, weight: 2}")
    before = len(entry.problems.found)
    kind = require(fields, "kind", entry, "the key of an agent")
    label = fields["label"].text(MAX_NAME) if "label" in fields else ""
    budget = fields["budget"].integer(BUDGET) if "budget" in fields else None
    if kind is None:
        return None
    spec = specs.get(kind.value) if isinstance(kind.value, str) else None
    if spec is None:
        kind.complain(f"no agent {shown(kind.value)}{did_you_mean(kind.value, specs)}")
        return None
    params = _agent_params(entry, spec, {key: part for key, part in fields.items() if key not in AGENT_KEYS})
    config = AgentConfig(spec.key, label or "", params, budget)
    if len(entry.problems.found) > before:
        return None
    full = parse_params(spec.params, params, "", [])
    if complaint := spec.check_budget(budget or shared_budget, full):
        entry.complain(complaint)
        return None
    return config


def _agent_params(entry: Field, spec: AgentSpec, fields: dict[str, Field]) -> dict[str, Value]:
    """The parameters that are given, each legal."""
    params: dict[str, Value] = {}
    for key, part in fields.items():
        param = spec.param(key)
        if param is None:
            names = [*AGENT_KEYS, *(p.name for p in spec.params)]
            part.complain(f"{spec.key} has no such parameter{did_you_mean(key, names)}")
        elif (value := part.parse(param)) is not None:
            params[key] = value
    return params


# --- reading commands -----------------------------------------------------------------------------


@dataclass
class Script:
    """What commands may refer to while they are read in the order of their ticks."""

    width: int
    height: int
    switches: Mapping[str, object] | None  # None: not known, because the map that has them is wrong
    roster: Roster

    def flat(self, pairs: Iterable[Pair]) -> tuple[int, ...]:
        return tuple(y * self.width + x for x, y in pairs)

    def pair(self, cell: int) -> Inline:
        return Inline([cell % self.width, cell // self.width])

    def pairs(self, cells: Iterable[int]) -> Inline:
        return Inline([self.pair(cell) for cell in cells])


def read_edits(entry: Field, script: Script) -> tuple[TimedCommand, ...]:
    """All commands of a list, by tick; commands of one tick keep the order of the file."""
    timed = []
    for part in entry.items("a list of commands such as {tick: 40, block: [[3, 4]]}"):
        fields = part.keys(EDIT_KEYS, "a command such as {tick: 40, block: [[3, 4]]}")
        tick_field = require(fields, "tick", part, "the tick at which it is due") if fields else None
        tick = tick_field.integer(TICK) if tick_field else None
        if tick is not None:
            timed.append((tick, part, fields))
    timed.sort(key=lambda item: item[0])
    return tuple(
        TimedCommand(tick, command) for tick, part, fields in timed for command in _read_command(part, fields, script)
    )


def _read_command(entry: Field, fields: dict[str, Field], script: Script) -> list[Command]:
    """The commands of one entry: one, or one for each parameter under `set`."""
    given = [key for key in fields if key not in ("tick", "agent")]
    if set(given) == {"block", "free"}:
        return _read_cells(fields, script)
    if len(given) != 1:
        entry.complain(f"expected one of {', '.join(_READERS)}, got {' and '.join(given) or 'none of them'}")
        return []
    takes_agent = {"budget": False, "set": True, "add": False}  # and whether it needs one
    if "agent" in fields and given[0] not in takes_agent:
        fields["agent"].complain(f"'{given[0]}' is for no agent in particular")
        return []
    if takes_agent.get(given[0]) and require(fields, "agent", entry, "the label or number of an agent") is None:
        return []
    return _READERS[given[0]](fields, script)


def _read_cells(fields: dict[str, Field], script: Script) -> list[Command]:
    """block, free, or both."""
    for key, is_blocked in (("block", True), ("free", False)):
        if key in fields and isinstance(fields[key].value, str):
            return _read_switch(fields, key, is_blocked, script)
    cells = {key: fields[key].cells(script.width, script.height) for key in ("block", "free") if key in fields}
    if None in cells.values():
        return []
    return [commands.EditCells(script.flat(cells.get("block") or ()), script.flat(cells.get("free") or ()))]


def _read_switch(fields: dict[str, Field], key: str, is_blocked: bool, script: Script) -> list[Command]:
    part = fields[key]
    if script.switches is not None and part.value not in script.switches:
        part.complain(f"no switch {shown(part.value)}{did_you_mean(part.value, script.switches)}")
        return []
    if len(fields) > 2:
        part.complain("expected a switch alone, or cells to block and cells to free")
        return []
    return [commands.SetSwitch(part.value, is_blocked)]


def _read_terrain(fields: dict[str, Field], script: Script) -> list[Command]:
    entry = fields["terrain"]
    parts = entry.keys(("cells", "letters"), "terrain such as {cells: [[3, 4]], letters: T}")
    cells_field = require(parts, "cells", entry, "a list of cells") if parts else None
    letters_field = require(parts, "letters", entry, "a terrain letter for each cell") if parts else None
    if cells_field is None or letters_field is None:
        return []
    cells, letters = cells_field.cells(script.width, script.height), letters_field.value
    if not isinstance(letters, str) or not set(letters) <= set(PASSABLE + SOLID):
        letters_field.expect(f"letters of {' '.join(PASSABLE + SOLID)}")
    elif cells is not None and len(letters) == len(cells):
        return [commands.SetTerrain(script.flat(cells), letters)]
    elif cells is not None:
        letters_field.complain(f"expected {len(cells):,} letters, one for each cell, got {len(letters):,}")
    return []


def _read_goal(fields: dict[str, Field], script: Script) -> list[Command]:
    pair = fields["goal"].cell(script.width, script.height)
    return [commands.MoveGoal(cell) for cell in script.flat([pair])] if pair else []


def _read_budget(fields: dict[str, Field], script: Script) -> list[Command]:
    entry, roster = fields["budget"], script.roster
    number = _read_agent_number(fields["agent"], roster) if "agent" in fields else None
    if "agent" in fields and number is None:
        return []
    is_back_to_shared = number is not None and entry.value is None
    budget = None if is_back_to_shared else entry.integer(BUDGET)
    if budget is None and not is_back_to_shared:
        return []
    if not _allows_budget(entry, roster, budget, number):
        return []
    if number is None:
        roster.budget = budget or roster.budget
    else:
        roster.members[number].budget = budget
    return [commands.SetBudget(budget, number)]


def _allows_budget(entry: Field, roster: Roster, budget: int | None, number: int | None) -> bool:
    """Whether every agent concerned can live with a new budget, as the world will ask at the time."""
    shared = roster.budget if budget is None else budget
    allowed = True
    for i, member in roster.members.items():
        is_concerned = i == number if number is not None else member.budget is None and not member.is_gone
        if is_concerned and member.spec and (complaint := member.spec.check_budget(shared, member.params)):
            entry.complain(f"agent {i} ({member.label or member.kind}): {complaint.removeprefix('budget: ')}")
            allowed = False
    return allowed


def _read_set(fields: dict[str, Field], script: Script) -> list[Command]:
    number = _read_agent_number(fields["agent"], script.roster)
    if number is None:
        return []
    member = script.roster.members[number]
    parts = fields["set"].any_keys("parameters such as {weight: 3}")
    found: list[Command] = []
    for name, value in (_set_values(parts, member.spec) if member.spec else {}).items():
        params = {**member.params, name: value}
        if member.spec and (complaint := member.spec.check_budget(member.budget or script.roster.budget, params)):
            parts[name].complain(complaint)
            continue
        member.params = params
        found.append(commands.SetParam(number, name, value))
    return found


def _set_values(parts: dict[str, Field], spec: AgentSpec) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for name, part in parts.items():
        param = spec.param(name)
        if param is None:
            part.complain(f"{spec.key} has no such parameter{did_you_mean(name, [p.name for p in spec.params])}")
        elif (value := part.parse(param)) is not None:
            values[name] = value
    return values


def _read_agent_number(entry: Field, roster: Roster) -> int | None:
    found = roster.find(entry.value)
    if isinstance(found, int):
        return found
    entry.complain(found)
    return None


def _read_add(fields: dict[str, Field], script: Script) -> list[Command]:
    """An agent to add. An `agent` beside it is the number that it gets."""
    roster = script.roster
    if len(roster.members) >= MAX_AGENTS:
        fields["add"].complain(f"expected at most {MAX_AGENTS} agents in all")
        return []
    number = fields["agent"].integer(NUMBER) if "agent" in fields else None
    if number is not None and roster.is_taken(number):
        fields["agent"].complain(f"there is an agent {number} already")
    config = read_agent(fields["add"], roster.specs, roster.budget)
    if config is None:
        roster.join_unread(fields["add"].value, number)
        return []
    roster.join(config, number)
    return [commands.AddAgent(config, number)]


def _read_remove(fields: dict[str, Field], script: Script) -> list[Command]:
    number = _read_agent_number(fields["remove"], script.roster)
    if number is None:
        return []
    script.roster.members[number].is_gone = True
    return [commands.RemoveAgent(number)]


def _read_changes(fields: dict[str, Field], script: Script) -> list[Command]:
    changes = read_changes(fields["changes"])
    return [commands.SetChanges(changes.every, changes.rate)] if changes else []


def _read_trials(fields: dict[str, Field], script: Script) -> list[Command]:
    count = fields["trials"].integer(TRIALS)
    return [] if count is None else [commands.SetTrials(count)]


def read_changes(entry: Field) -> RandomChanges | None:
    """The random dynamics, written {every: 10, rate: 5}."""
    parts = entry.keys(("every", "rate"), "random changes such as {every: 10, rate: 5}")
    every = require(parts, "every", entry, "the ticks between changes") if parts else None
    rate = require(parts, "rate", entry, "the percentage of cells that change") if parts else None
    if every is None or rate is None:
        return None
    ticks, percent = every.integer(EVERY), rate.parse(RATE)
    return None if ticks is None or percent is None else RandomChanges(ticks, float(percent))


_READERS: dict[str, Callable[[dict[str, Field], Script], list[Command]]] = {
    "block": _read_cells,
    "free": _read_cells,
    "terrain": _read_terrain,
    "goal": _read_goal,
    "budget": _read_budget,
    "set": _read_set,
    "add": _read_add,
    "remove": _read_remove,
    "changes": _read_changes,
    "trials": _read_trials,
}


# --- writing --------------------------------------------------------------------------------------


def agent_data(config: AgentConfig) -> InlineMap:
    data = InlineMap(kind=config.kind)
    if config.label:
        data["label"] = config.label
    if config.budget is not None:
        data["budget"] = config.budget
    data.update(config.params)
    return data


def edits_data(configs: Iterable[AgentConfig], edits: Iterable[TimedCommand], width: int) -> list[InlineMap]:
    """The commands as a file says them. `configs` are the agents that are there from the beginning."""
    timed = sorted(edits, key=lambda edit: edit.tick)
    names = _names(configs, (edit.command for edit in timed))
    script = Script(width, 0, None, Roster({}, 1))
    return [InlineMap(tick=edit.tick, **_command_data(edit.command, script, names)) for edit in timed]


def _names(configs: Iterable[AgentConfig], later: Iterable[Command]) -> dict[int, str]:
    """What agents can be called by: the labels that one agent alone ever has. The others go by their number."""
    joined = list(enumerate(config.label for config in configs))
    for command in later:
        if isinstance(command, commands.AddAgent):
            following = max((number for number, _ in joined), default=-1) + 1
            joined.append((following if command.agent is None else command.agent, command.config.label))
    labels, numbers = [label for _, label in joined], [number for number, _ in joined]
    return {n: label for n, label in joined if label and labels.count(label) == numbers.count(n) == 1}


def _command_data(command: Command, script: Script, names: Mapping[int, str]) -> dict[str, Any]:
    match command:
        case commands.EditCells(blocked, freed):
            cells = {"block": script.pairs(blocked), "free": script.pairs(freed)}
            return {key: pairs for key, pairs in cells.items() if pairs} or {"block": Inline()}
        case commands.SetTerrain(cells, letters):
            return {"terrain": InlineMap(cells=script.pairs(cells), letters=letters)}
        case commands.SetSwitch(name, blocked):
            return {"block" if blocked else "free": name}
        case commands.MoveGoal(cell):
            return {"goal": script.pair(cell)}
        case commands.SetBudget(budget, agent):
            return {"budget": budget} if agent is None else {"agent": names.get(agent, agent), "budget": budget}
        case commands.SetParam(agent, name, value):
            return {"agent": names.get(agent, agent), "set": InlineMap({name: value})}
        case commands.AddAgent(config, agent):
            return ({} if agent is None else {"agent": agent}) | {"add": agent_data(config)}
        case commands.RemoveAgent(agent):
            return {"remove": names.get(agent, agent)}
        case commands.SetChanges(every, rate):
            return {"changes": changes_data(RandomChanges(every, rate))}
        case commands.SetTrials(count):
            return {"trials": count}


def changes_data(changes: RandomChanges) -> InlineMap:
    return InlineMap(every=changes.every, rate=changes.rate)
