"""Read and write the timed commands of a scenario file, such as {tick: 40, block: south bridge}; see commands.py.

Files name agents by label, while commands contain the numbers that the world assigns. The numbers depend on the order
in which agents are added, so a Roster keeps track of the added agents while commands are read.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sim.agent_api import AgentSpec
from sim.commands import AGENT, MAX_AGENTS, TICK, AddAgent, AgentConfig, Command, NameAgent, TimedCommand
from sim.files.agents import CROWD_KEYS, read_agent
from sim.files.commands import KEYS, Reader, Writer, command_data, read_command
from sim.files.fields import Field, require
from sim.files.yaml import Inline, InlineMap
from sim.params import Value, did_you_mean, parse_params, shown

# --- agents while the script is read --------------------------------------------------------------


@dataclass
class Member:
    """State of an agent (or of a group with an invalid entry) after the timed commands that have been read so far."""

    label: str
    kind: str
    spec: AgentSpec | None  # None: the entry of the agent is invalid, so commands to it are not checked further
    params: dict[str, Value]
    budget: int | None  # expansions per tick; None: the agent uses the shared budget
    is_gone: bool = False
    group: str = ""

    @property
    def may_be_many(self) -> bool:
        """Return whether this member represents a whole group whose entry is invalid."""
        return self.spec is None and bool(self.group)


@dataclass
class Roster:
    """Agents that exist after the timed commands read so far, by the numbers that a world will give them."""

    specs: Mapping[str, AgentSpec]
    budget: int
    members: dict[int, Member] = field(default_factory=dict)
    next_number: int = 0

    def join(self, config: AgentConfig, number: int | None = None) -> None:
        """Add an agent with the given number, or with the next free number if `number` is None."""
        spec = self.specs[config.kind]
        params = parse_params(spec.params, config.params, "", [])
        self._add_member(Member(config.label, config.kind, spec, params, config.budget, group=config.group), number)

    def join_unread(self, entry: object, number: int | None = None) -> None:
        """Reserve number and name for an agent with an invalid entry, so that later commands to it are accepted."""
        given = entry if isinstance(entry, dict) else {}
        label, kind, group = (str(given.get(key, "")) for key in ("label", "kind", "group"))
        if any(key in given for key in CROWD_KEYS):
            group = label or kind
        self._add_member(Member(label, kind, None, {}, None, group=group), number)

    def _add_member(self, member: Member, number: int | None) -> None:
        assigned = self.next_number if number is None else number
        self.members[assigned] = member
        self.next_number = max(self.next_number, assigned + 1)

    def is_taken(self, number: int) -> bool:
        return number in self.members and not self.members[number].is_gone

    def find(self, name: object) -> int | str:
        """Return the number of the agent that a file calls `name`, or a message if there is no such agent.

        For a name that may belong to a group with an invalid entry, return the number reserved for that group.
        """
        if isinstance(name, int) and not isinstance(name, bool):
            known = ", ".join(map(str, self.members)) or "none"
            number = name if name in self.members else self._invalid_group_number()
            return f"no agent {name}; known: {known}" if number is None else self._number_if_present(number)
        for names in ({n: m.label for n, m in self.members.items()}, {n: m.kind for n, m in self.members.items()}):
            found = [number for number, known in names.items() if known == name]
            present = [number for number in found if self.is_taken(number)]
            if len(present) > 1:
                return f"agents {', '.join(map(str, present))} are called {shown(name)}; name one by its number"
            if found:
                return self._number_if_present((present or found)[0])
        if (reserved := self._invalid_group_number(name)) is not None:
            return self._number_if_present(reserved)
        return f"no agent {shown(name)}{did_you_mean(name, [m.label or m.kind for m in self.members.values()])}"

    def _invalid_group_number(self, name: object = None) -> int | None:
        """Return the number reserved for a group with an invalid entry that may have an agent of this name.

        Args:
            name: name of the agent, such as "units 3"; None: any.
        """
        for number, member in self.members.items():
            words = str(name).removeprefix(f"{member.group} ")
            if member.may_be_many and (name is None or (words != name and words.isdigit())):
                return number
        return None

    def _number_if_present(self, number: int) -> int | str:
        member = self.members[number]
        return number if self.is_taken(number) else f"agent {number} ({member.label or member.kind}) has been removed"


# --- reading --------------------------------------------------------------------------------------


class EditReader(Reader):
    """Reader of commands written by people: each name must exist when its command applies, and values must be valid."""

    def __init__(self, width: int, height: int, switches: Mapping[str, object] | None, roster: Roster) -> None:
        """Create a reader of timed commands for one scenario.

        Args:
            width: width of the map.
            height: height of the map.
            switches: switches by name; None if unknown because the map that defines them is invalid.
            roster: agents at the beginning of the script; commands update it.
        """
        super().__init__(width, height)
        self.switches = None if switches is None else set(switches)
        self.roster = roster

    def agent(self, part: Field) -> int | None:
        found = self.roster.find(part.value)
        if isinstance(found, int):
            return found
        part.complain(found)
        return None

    def one_of(self, part: Field) -> int | None:
        members = self.roster.members.items()
        found = next((n for n, member in members if member.group == part.value and not member.is_gone), None)
        if found is None:
            known = {member.group for _, member in members} - {""}
            part.complain(f"no group {shown(part.value)}{did_you_mean(part.value, known)}")
        return found

    def switch(self, part: Field) -> str | None:
        if self.switches is None or part.value in self.switches:
            return str(part.value)
        part.complain(f"no switch {shown(part.value)}{did_you_mean(part.value, self.switches)}")
        return None

    def names_agent(self, agent: int, label: str) -> None:
        self.roster.members[agent].label = label

    def names_switch(self, name: str, is_there: bool) -> None:
        if self.switches is not None:
            self.switches.add(name) if is_there else self.switches.discard(name)

    def allows_budget(self, part: Field, budget: int | None, agent: int | None) -> bool:
        """Return whether a new budget is valid when the command applies; store a valid budget in the roster."""
        shared = self.roster.budget if budget is None else budget
        allowed = True
        for i, member in self.roster.members.items():
            is_concerned = i == agent if agent is not None else member.budget is None and not member.is_gone
            if is_concerned and member.spec and (complaint := member.spec.check_budget(shared, member.params)):
                part.complain(f"agent {i} ({member.label or member.kind}): {complaint.removeprefix('budget: ')}")
                allowed = False
        if allowed and agent is None:
            self.roster.budget = shared
        elif allowed and agent is not None:
            self.roster.members[agent].budget = budget
        return allowed

    def settings(self, part: Field, agent: int) -> dict[str, Value]:
        member = self.roster.members[agent]
        parts = part.any_keys("parameters such as {weight: 3}")
        found: dict[str, Value] = {}
        for name, value in (_values(parts, member.spec) if member.spec else {}).items():
            params = {**member.params, name: value}
            if member.spec and (complaint := member.spec.check_budget(member.budget or self.roster.budget, params)):
                parts[name].complain(complaint)
                continue
            member.params = params
            found[name] = value
        return found

    def newcomer(self, part: Field, number: Field | None) -> tuple[AgentConfig, int | None] | None:
        if len(self.roster.members) >= MAX_AGENTS:
            part.complain(f"expected at most {MAX_AGENTS} agents in all")
            return None
        assigned = number.integer(AGENT) if number else None
        if number and assigned is not None and self.roster.is_taken(assigned):
            number.complain(f"agent {assigned} already exists")
        for key in CROWD_KEYS:
            if key in part.any_keys("an agent such as {kind: tb-wa}"):
                part.complain(f"{key}: an edit can add only one agent; list several agents under the key agents")
        config = read_agent(part, self.roster.specs, self.roster.budget, (self.width, self.height))
        if config is None:
            self.roster.join_unread(part.value, assigned)
            return None
        self.roster.join(config, assigned)
        return config, assigned

    def leaves(self, agent: int) -> None:
        member = self.roster.members[agent]
        member.is_gone = not member.may_be_many

    def all_leave(self, group: str) -> None:
        for member in self.roster.members.values():
            member.is_gone = member.is_gone or member.group == group


def _values(parts: dict[str, Field], spec: AgentSpec) -> dict[str, Value]:
    """Return the valid values of an agent's parameters, by name; report a problem for each invalid value."""
    values: dict[str, Value] = {}
    for name, part in parts.items():
        param = spec.param(name)
        if param is None:
            part.complain(f"{spec.key} has no such parameter{did_you_mean(name, [p.name for p in spec.params])}")
        elif (value := part.parse(param)) is not None:
            values[name] = value
    return values


def read_edits(entry: Field, reader: EditReader) -> tuple[TimedCommand, ...]:
    """Return the timed commands of a scenario file, sorted by tick; commands of one tick keep the file's order."""
    timed = []
    for part in entry.items("a list of commands such as {tick: 40, block: [[3, 4]]}"):
        fields = part.keys(("tick", "agent", *KEYS), "a command such as {tick: 40, block: [[3, 4]]}")
        tick_field = require(fields, "tick", part, "the tick at which the command applies") if fields else None
        tick = tick_field.integer(TICK) if tick_field else None
        if tick is not None:
            timed.append((tick, part, fields))
    timed.sort(key=lambda item: item[0])
    return tuple(
        TimedCommand(tick, command) for tick, part, fields in timed for command in read_command(part, fields, reader)
    )


# --- writing --------------------------------------------------------------------------------------


class _ScenarioEditWriter(Writer):
    def __init__(self, width: int, names: Mapping[int, str]) -> None:
        super().__init__(width)
        self._unambiguous_labels = names

    def cells(self, cells: Iterable[int]) -> Inline:
        return Inline(self.cell(cell) for cell in cells)

    def agent(self, number: int) -> int | str:
        return self._unambiguous_labels.get(number, number)


def edits_data(configs: Iterable[AgentConfig], edits: Iterable[TimedCommand], width: int) -> list[InlineMap]:
    """Return timed commands as plain data for a scenario file.

    Args:
        configs: the initial agents, whose labels are used instead of their numbers.
        edits: the commands.
        width: width of the map.
    """
    timed = sorted(edits, key=lambda edit: edit.tick)
    writer = _ScenarioEditWriter(width, _unambiguous_labels(configs, (edit.command for edit in timed)))
    return [InlineMap(tick=edit.tick, **command_data(edit.command, writer)) for edit in timed]


def _unambiguous_labels(configs: Iterable[AgentConfig], later: Iterable[Command]) -> dict[int, str]:
    """Return the labels that always name the same agent, by agent number: used by one agent that is never renamed."""
    joined = list(enumerate(config.label for config in configs))
    for command in later:
        if isinstance(command, NameAgent):
            joined.append((command.agent, command.label))  # a renamed agent has two labels, so none is used
        if isinstance(command, AddAgent):
            following = max((number for number, _ in joined), default=-1) + 1
            joined.append((following if command.agent is None else command.agent, command.config.label))
    labels, numbers = [label for _, label in joined], [number for number, _ in joined]
    return {n: label for n, label in joined if label and labels.count(label) == numbers.count(n) == 1}
