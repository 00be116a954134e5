"""Read and write the timed commands of a scenario file, such as {tick: 40, block: south bridge}; see commands.py.

Files name agents by label, while commands contain the numbers that the world assigns. The numbers depend on the order
in which agents are added, so a Roster keeps track of the added agents while commands are read.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from files.agents import CROWD_KEYS, read_agent
from files.commands import COMMAND_KEYS, CommandReader, CommandWriter, command_data, read_entry_commands
from files.document_fields import DocumentField, require_field
from files.yaml import InlineList, InlineMap
from sim.agent_api import AgentSpec
from sim.params import Value, did_you_mean_hint, parse_params, value_as_in_files
from sim.world_commands import (
    AGENT_PARAM,
    MAX_AGENTS,
    TICK_PARAM,
    AddAgent,
    AgentConfig,
    Command,
    RenameAgent,
    TimedCommand,
)

# --- agents while the script is read --------------------------------------------------------------


@dataclass
class TrackedAgent:
    """State of an agent (or of a group with an invalid entry) after the timed commands that have been read so far."""

    label: str
    kind: str
    spec: AgentSpec | None  # None: the entry of the agent is invalid, so commands to it are not checked further
    params: dict[str, Value]
    budget: int | None  # expansions per tick; None: the agent uses the shared budget
    is_removed: bool = False
    group: str = ""

    @property
    def is_invalid_group(self) -> bool:
        """Return whether this member represents a whole group whose entry is invalid."""
        return self.spec is None and bool(self.group)


@dataclass
class TrackedAgents:
    """Agents that exist after the timed commands read so far, by the numbers that a world will give them."""

    specs: Mapping[str, AgentSpec]
    shared_budget: int
    agents_by_number: dict[int, TrackedAgent] = field(default_factory=dict)
    next_number: int = 0

    def add_agent(self, config: AgentConfig, number: int | None = None) -> None:
        """Add an agent with the given number, or with the next free number if `number` is None."""
        spec = self.specs[config.kind]
        params = parse_params(spec.params, config.params, "", [])
        self._add_tracked_agent(
            TrackedAgent(config.label, config.kind, spec, params, config.budget, group=config.group), number
        )

    def add_invalid_agent(self, entry: object, number: int | None = None) -> None:
        """Reserve number and name for an agent with an invalid entry, so that later commands to it are accepted."""
        values = entry if isinstance(entry, dict) else {}
        label, kind, group = (str(values.get(key, "")) for key in ("label", "kind", "group"))
        if any(key in values for key in CROWD_KEYS):
            group = label or kind
        self._add_tracked_agent(TrackedAgent(label, kind, None, {}, None, group=group), number)

    def _add_tracked_agent(self, member: TrackedAgent, number: int | None) -> None:
        assigned = self.next_number if number is None else number
        self.agents_by_number[assigned] = member
        self.next_number = max(self.next_number, assigned + 1)

    def is_agent_present(self, number: int) -> bool:
        return number in self.agents_by_number and not self.agents_by_number[number].is_removed

    def find_agent_number(self, name: object) -> int | str:
        """Return the number of the agent that a file calls `name`, or a message if there is no such agent.

        For a name that may belong to a group with an invalid entry, return the number reserved for that group.
        """
        if isinstance(name, int) and not isinstance(name, bool):
            known = ", ".join(map(str, self.agents_by_number)) or "none"
            number = name if name in self.agents_by_number else self._invalid_group_number()
            return f"no agent {name}; known: {known}" if number is None else self._agent_number_if_present(number)
        for names in (
            {n: m.label for n, m in self.agents_by_number.items()},
            {n: m.kind for n, m in self.agents_by_number.items()},
        ):
            found = [number for number, known in names.items() if known == name]
            present = [number for number in found if self.is_agent_present(number)]
            if len(present) > 1:
                numbers = ", ".join(map(str, present))
                return f"agents {numbers} are called {value_as_in_files(name)}; name one by its number"
            if found:
                return self._agent_number_if_present((present or found)[0])
        if (reserved := self._invalid_group_number(name)) is not None:
            return self._agent_number_if_present(reserved)
        labels = [member.label or member.kind for member in self.agents_by_number.values()]
        return f"no agent {value_as_in_files(name)}{did_you_mean_hint(name, labels)}"

    def _invalid_group_number(self, name: object = None) -> int | None:
        """Return the number reserved for a group with an invalid entry that may have an agent of this name.

        Args:
            name: name of the agent, such as "units 3"; None: any.
        """
        for number, member in self.agents_by_number.items():
            suffix = str(name).removeprefix(f"{member.group} ")
            if member.is_invalid_group and (name is None or (suffix != name and suffix.isdigit())):
                return number
        return None

    def _agent_number_if_present(self, number: int) -> int | str:
        member = self.agents_by_number[number]
        return (
            number
            if self.is_agent_present(number)
            else f"agent {number} ({member.label or member.kind}) has been removed"
        )


# --- reading --------------------------------------------------------------------------------------


class TimedCommandReader(CommandReader):
    """Reader of commands written by people: each name must exist when its command applies, and values must be valid."""

    def __init__(self, width: int, height: int, switches: Mapping[str, object] | None, roster: TrackedAgents) -> None:
        """Create a reader of timed commands for one scenario.

        Args:
            width: width of the map.
            height: height of the map.
            switches: switches by name; None if unknown because the map that defines them is invalid.
            roster: agents at the beginning of the script; commands update it.
        """
        super().__init__(width, height)
        self.switches = None if switches is None else set(switches)
        self.tracked_agents = roster

    def agent(self, part: DocumentField) -> int | None:
        found = self.tracked_agents.find_agent_number(part.value)
        if isinstance(found, int):
            return found
        part.report_problem(found)
        return None

    def read_group_agent(self, part: DocumentField) -> int | None:
        members = self.tracked_agents.agents_by_number.items()
        found = next((n for n, member in members if member.group == part.value and not member.is_removed), None)
        if found is None:
            known = {member.group for _, member in members} - {""}
            part.report_problem(f"no group {value_as_in_files(part.value)}{did_you_mean_hint(part.value, known)}")
        return found

    def read_switch_name(self, part: DocumentField) -> str | None:
        if self.switches is None or part.value in self.switches:
            return str(part.value)
        part.report_problem(f"no switch {value_as_in_files(part.value)}{did_you_mean_hint(part.value, self.switches)}")
        return None

    def on_agent_renamed(self, agent: int, label: str) -> None:
        self.tracked_agents.agents_by_number[agent].label = label

    def on_switch_named(self, name: str, is_created: bool) -> None:
        if self.switches is not None:
            self.switches.add(name) if is_created else self.switches.discard(name)

    def is_budget_valid(self, part: DocumentField, budget: int | None, agent: int | None) -> bool:
        """Return whether a new budget is valid when the command applies; store a valid budget in the roster."""
        shared = self.tracked_agents.shared_budget if budget is None else budget
        allowed = True
        for i, member in self.tracked_agents.agents_by_number.items():
            is_concerned = i == agent if agent is not None else member.budget is None and not member.is_removed
            if is_concerned and member.spec and (complaint := member.spec.check_budget(shared, member.params)):
                part.report_problem(f"agent {i} ({member.label or member.kind}): {complaint.removeprefix('budget: ')}")
                allowed = False
        if allowed and agent is None:
            self.tracked_agents.shared_budget = shared
        elif allowed and agent is not None:
            self.tracked_agents.agents_by_number[agent].budget = budget
        return allowed

    def read_params(self, part: DocumentField, agent: int) -> dict[str, Value]:
        member = self.tracked_agents.agents_by_number[agent]
        parts = part.read_mapping("parameters such as {weight: 3}")
        found: dict[str, Value] = {}
        for name, value in (_valid_params(parts, member.spec) if member.spec else {}).items():
            params = {**member.params, name: value}
            if member.spec and (
                complaint := member.spec.check_budget(member.budget or self.tracked_agents.shared_budget, params)
            ):
                parts[name].report_problem(complaint)
                continue
            member.params = params
            found[name] = value
        return found

    def read_new_agent(
        self, part: DocumentField, number: DocumentField | None
    ) -> tuple[AgentConfig, int | None] | None:
        if len(self.tracked_agents.agents_by_number) >= MAX_AGENTS:
            part.report_problem(f"expected at most {MAX_AGENTS} agents in all")
            return None
        assigned = number.read_integer(AGENT_PARAM) if number else None
        if number and assigned is not None and self.tracked_agents.is_agent_present(assigned):
            number.report_problem(f"agent {assigned} already exists")
        for key in CROWD_KEYS:
            if key in part.read_mapping("an agent such as {kind: tb-wa}"):
                part.report_problem(f"{key}: an edit can add only one agent; list several agents under the key agents")
        config = read_agent(
            part, self.tracked_agents.specs, self.tracked_agents.shared_budget, (self.width, self.height)
        )
        if config is None:
            self.tracked_agents.add_invalid_agent(part.value, assigned)
            return None
        self.tracked_agents.add_agent(config, assigned)
        return config, assigned

    def on_agent_removed(self, agent: int) -> None:
        member = self.tracked_agents.agents_by_number[agent]
        member.is_removed = not member.is_invalid_group

    def on_group_removed(self, group: str) -> None:
        for member in self.tracked_agents.agents_by_number.values():
            member.is_removed = member.is_removed or member.group == group


def _valid_params(parts: dict[str, DocumentField], spec: AgentSpec) -> dict[str, Value]:
    """Return the valid values of an agent's parameters, by name; report a problem for each invalid value."""
    values: dict[str, Value] = {}
    for name, part in parts.items():
        param = spec.param(name)
        if param is None:
            part.report_problem(
                f"{spec.key} has no such parameter{did_you_mean_hint(name, [p.name for p in spec.params])}"
            )
        elif (value := part.read_value(param)) is not None:
            values[name] = value
    return values


def read_timed_commands(entry: DocumentField, reader: TimedCommandReader) -> tuple[TimedCommand, ...]:
    """Return the timed commands of a scenario file, sorted by tick; commands of one tick keep the file's order."""
    timed = []
    for part in entry.items("a list of commands such as {tick: 40, block: [[3, 4]]}"):
        fields = part.read_known_keys(("tick", "agent", *COMMAND_KEYS), "a command such as {tick: 40, block: [[3, 4]]}")
        tick_field = require_field(fields, "tick", part, "the tick at which the command applies") if fields else None
        tick = tick_field.read_integer(TICK_PARAM) if tick_field else None
        if tick is not None:
            timed.append((tick, part, fields))
    timed.sort(key=lambda item: item[0])
    return tuple(
        TimedCommand(tick, command)
        for tick, part, fields in timed
        for command in read_entry_commands(part, fields, reader)
    )


# --- writing --------------------------------------------------------------------------------------


class _TimedCommandWriter(CommandWriter):
    def __init__(self, width: int, names: Mapping[int, str]) -> None:
        super().__init__(width)
        self._labels = names

    def cells(self, cells: Iterable[int]) -> InlineList:
        return InlineList(self.cell(cell) for cell in cells)

    def agent(self, number: int) -> int | str:
        return self._labels.get(number, number)


def timed_commands_data(configs: Iterable[AgentConfig], edits: Iterable[TimedCommand], width: int) -> list[InlineMap]:
    """Return timed commands as plain data for a scenario file.

    Args:
        configs: the initial agents, whose labels are used instead of their numbers.
        edits: the commands.
        width: width of the map.
    """
    timed = sorted(edits, key=lambda edit: edit.tick)
    writer = _TimedCommandWriter(width, _unambiguous_labels(configs, (edit.command for edit in timed)))
    return [InlineMap(tick=edit.tick, **command_data(edit.command, writer)) for edit in timed]


def _unambiguous_labels(configs: Iterable[AgentConfig], later: Iterable[Command]) -> dict[int, str]:
    """Return the labels that always name the same agent, by agent number: used by one agent that is never renamed."""
    pairs = list(enumerate(config.label for config in configs))
    for command in later:
        if isinstance(command, RenameAgent):
            pairs.append((command.agent, command.label))  # a renamed agent has two labels, so none is used
        if isinstance(command, AddAgent):
            following = max((number for number, _ in pairs), default=-1) + 1
            pairs.append((following if command.agent is None else command.agent, command.config.label))
    labels, numbers = [label for _, label in pairs], [number for number, _ in pairs]
    return {n: label for n, label in pairs if label and labels.count(label) == numbers.count(n) == 1}
