"""Commands: all changes made to a world from outside, as plain data. A run can be replayed from its commands.

A command is due at a tick and is applied before any agent plans in that tick. Each class defines its effect on a world
and its description in words; the table of files/commands.py defines how files write and read it. A new command
needs a class in this file and a row in that table.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from sim.changes import RandomChangeSchedule
from sim.params import Param, Value
from sim.plurals import count_with_noun

MAX_AGENTS = 5000  # maximum number of agents in a run, so that no file can exhaust memory
MAX_NAME_LENGTH = 60  # maximum number of characters in a label or in the name of a switch
MAX_SWITCHES = 256  # maximum number of switches (named sets of cells) in a world
MAX_COMMAND_TICK = 1_000_000_000  # last tick for which a file can schedule a command


def name_with_suffix(name: str, end: str, longest: int = MAX_NAME_LENGTH) -> str:
    """Return `name` followed by `end`, such as a number; `name` is cut so that both fit into `longest` characters."""
    return name[: longest - len(end)] + end


TICK_PARAM = Param("tick", int, 0, "tick at which the command is due", 0, MAX_COMMAND_TICK)
BUDGET_PARAM = Param(
    "budget", int, 16, "maximum number of cells that each agent may expand in a tick", 1, 1_000_000_000, symbol="k"
)
TRIALS_PARAM = Param("trials", int, 1, "maximum number of walks from start to goal for agents that learn", 1, 1_000_000)
TICK_MS_PARAM = Param(
    "tick_ms", float, 0.0, "time limit of a tick in milliseconds, for all agents together; 0: no limit", 0.0, 10_000.0
)
PLANNING_AGENTS_PARAM = Param(
    "serve", int, 0, "number of agents that plan in this tick; the others wait for their turn", 0, MAX_AGENTS
)
AGENT_PARAM = Param("agent", int, 0, "number of the agent", 0, 1_000_000)


CellXY = tuple[int, int]
"""Cell as files contain it: its coordinates (x, y)."""


@dataclass(frozen=True)
class AgentConfig:
    """Configuration of one agent: its algorithm, name, parameters, budget, start and goal."""

    kind: str  # key of the agent's algorithm
    label: str = ""  # name of the agent on screen; "": the name of its algorithm
    params: Mapping[str, Value] = field(default_factory=dict)
    budget: int | None = None  # own budget in expansions per tick; None: the world's budget
    start: CellXY | None = None  # own start cell; None: the world's start
    goal: CellXY | None = None  # own goal cell, which stays when the world's goal moves; None: the world's goal
    group: str = ""  # name of the group to which the agent belongs, for summaries; "": no group


class MapEditTarget(Protocol):
    """Interface for commands that edit a map and its switches (named sets of cells). The map need not be in a world."""

    def block_and_free(self, blocked: Sequence[int], freed: Sequence[int]) -> None: ...
    def set_terrain(self, cells: Sequence[int], letters: str) -> None: ...
    def set_switch_blocked(self, name: str, is_blocked: bool) -> None: ...
    def define_switch(self, name: str, cells: Sequence[int]) -> None: ...


class CommandTarget(MapEditTarget, Protocol):
    """Interface of a world for commands. If a change is impossible, the world adds a message for the user instead."""

    def move_goal(self, cell: int, agent: int | None) -> None: ...
    def move_goals(self, cell: int, agents: Sequence[int]) -> None: ...
    def set_budget(self, budget: int | None, agent: int | None) -> None: ...
    def set_param(self, agent: int, name: str, value: Value) -> None: ...
    def rename_agent(self, agent: int, label: str) -> None: ...
    def add_agent(self, config: AgentConfig, agent: int | None) -> None: ...
    def remove_agent(self, agent: int) -> None: ...
    def agent_ids_of_group(self, group: str) -> Sequence[int]: ...
    def set_random_changes(self, changes: RandomChangeSchedule) -> None: ...
    def set_max_trials(self, count: int) -> None: ...
    def set_tick_time_limit_ms(self, milliseconds: float) -> None: ...
    def limit_planning_agents(self, agents: int) -> None: ...


class DescriptionNames(Protocol):
    """Interface that returns the names of cells, agents and algorithms of a run, for descriptions of commands."""

    def cell(self, cell: int) -> str: ...
    def agent_name(self, agent: int) -> str: ...
    def algorithm_name(self, kind: str) -> str: ...


@dataclass(frozen=True)
class Command(ABC):
    """Base class of commands: one change of a world from outside, as plain data."""

    @abstractmethod
    def apply_to_world(self, world: CommandTarget) -> None:
        """Apply the command to a world."""

    @abstractmethod
    def describe_change(self, names: DescriptionNames) -> str:
        """Return a short description of the change for the user, such as "goal moved to (3, 4)"."""

    def merge_with_later(self, later: "Command") -> "Command | None":
        """Return one command with the effect of this command followed by `later`; None: they cannot be merged."""
        return None


@dataclass(frozen=True)
class MapEdit(Command):
    """Base class of commands that edit the terrain of the map."""

    @abstractmethod
    def apply_to_world(self, world: MapEditTarget) -> None: ...

    @abstractmethod
    def edited_cells(self, switches: Mapping[str, Sequence[int]]) -> Sequence[int]:
        """Return the cells that the command edits. `switches`: switch name -> cells of the switch."""


@dataclass(frozen=True)
class EditCells(MapEdit):
    """Command that blocks some cells and frees others. Each stroke of the brush becomes one such command."""

    blocked_cells: tuple[int, ...] = ()
    freed_cells: tuple[int, ...] = ()

    def apply_to_world(self, world: MapEditTarget) -> None:
        world.block_and_free(self.blocked_cells, self.freed_cells)

    def edited_cells(self, switches: Mapping[str, Sequence[int]]) -> Sequence[int]:
        return (*self.blocked_cells, *self.freed_cells)

    def describe_change(self, names: DescriptionNames) -> str:
        parts = ((self.blocked_cells, "blocked"), (self.freed_cells, "freed"))
        return (
            ", ".join(f"{_describe_cells(cells, names)} {word}" for cells, word in parts if cells) or "nothing edited"
        )

    def merge_with_later(self, later: Command) -> Command | None:
        if not isinstance(later, EditCells):
            return None
        return EditCells(
            _without_duplicates(self.blocked_cells + later.blocked_cells),
            _without_duplicates(self.freed_cells + later.freed_cells),
        )


@dataclass(frozen=True)
class SetTerrain(MapEdit):
    """Command that sets terrain characters of cells. With the earlier characters, it undoes an EditCells command."""

    cells: tuple[int, ...]
    letters: str

    def apply_to_world(self, world: MapEditTarget) -> None:
        world.set_terrain(self.cells, self.letters)

    def edited_cells(self, switches: Mapping[str, Sequence[int]]) -> Sequence[int]:
        return self.cells

    def describe_change(self, names: DescriptionNames) -> str:
        return f"{_describe_cells(self.cells, names)} changed"

    def merge_with_later(self, later: Command) -> Command | None:
        if not isinstance(later, SetTerrain):
            return None
        letters = dict(zip(self.cells + later.cells, self.letters + later.letters, strict=True))
        return SetTerrain(tuple(letters), "".join(letters.values()))


@dataclass(frozen=True)
class SetSwitch(MapEdit):
    """Command that blocks or frees a named set of cells, such as a bridge."""

    name: str
    is_blocked: bool

    def apply_to_world(self, world: MapEditTarget) -> None:
        world.set_switch_blocked(self.name, self.is_blocked)

    def edited_cells(self, switches: Mapping[str, Sequence[int]]) -> Sequence[int]:
        return switches.get(self.name, ())

    def describe_change(self, names: DescriptionNames) -> str:
        return f"{self.name} {'blocked' if self.is_blocked else 'open'}"


@dataclass(frozen=True)
class DefineSwitch(Command):
    """Command that defines a switch with this name and these cells, or redefines it. Without cells, it is deleted.

    The command does not change the terrain, so it is not a MapEdit, and map files do not store its effect.
    """

    name: str
    cells: tuple[int, ...]

    def apply_to_world(self, world: MapEditTarget) -> None:
        world.define_switch(self.name, self.cells)

    def describe_change(self, names: DescriptionNames) -> str:
        return (
            f"{_describe_cells(self.cells, names)} named {self.name}" if self.cells else f"switch {self.name} removed"
        )


@dataclass(frozen=True)
class MoveGoal(Command):
    """Command that moves the shared goal, or the goal of one agent, which has a goal of its own from then on."""

    cell: int
    agent: int | None = None

    def apply_to_world(self, world: CommandTarget) -> None:
        world.move_goal(self.cell, self.agent)

    def describe_change(self, names: DescriptionNames) -> str:
        text = f"goal moved to {names.cell(self.cell)}"
        return text if self.agent is None else f"{names.agent_name(self.agent)}: {text}"


@dataclass(frozen=True)
class SetBudget(Command):
    """Command that changes the shared budget, or the own budget of one agent (None: use the shared budget again)."""

    budget: int | None
    agent: int | None = None

    def apply_to_world(self, world: CommandTarget) -> None:
        world.set_budget(self.budget, self.agent)

    def describe_change(self, names: DescriptionNames) -> str:
        text = f"budget {self.budget:,} a tick" if self.budget else "shared budget"
        return text if self.agent is None else f"{names.agent_name(self.agent)}: {text}"


@dataclass(frozen=True)
class SetParam(Command):
    """Command that changes a parameter of one agent."""

    agent: int
    name: str
    value: Value

    def apply_to_world(self, world: CommandTarget) -> None:
        world.set_param(self.agent, self.name, self.value)

    def describe_change(self, names: DescriptionNames) -> str:
        value = ("on" if self.value else "off") if isinstance(self.value, bool) else self.value
        return f"{names.agent_name(self.agent)}: {self.name.replace('_', ' ')} {value}"


@dataclass(frozen=True)
class RenameAgent(Command):
    """Command that renames an agent. With the label "", the name of its algorithm is shown."""

    agent: int
    label: str

    def apply_to_world(self, world: CommandTarget) -> None:
        world.rename_agent(self.agent, self.label)

    def describe_change(self, names: DescriptionNames) -> str:
        """Return a description with the new name only, because `names` no longer has the old name."""
        return f"agent renamed to {self.label}" if self.label else "agent renamed to its algorithm"


@dataclass(frozen=True)
class AddAgent(Command):
    """Command that adds an agent, on its own start or on the shared start."""

    config: AgentConfig
    agent: int | None = None  # id of the new agent; None: the next unused id, which depends on earlier commands

    def apply_to_world(self, world: CommandTarget) -> None:
        world.add_agent(self.config, self.agent)

    def describe_change(self, names: DescriptionNames) -> str:
        return f"{self.config.label or names.algorithm_name(self.config.kind)} added"


@dataclass(frozen=True)
class RemoveAgent(Command):
    """Command that removes an agent from the map."""

    agent: int

    def apply_to_world(self, world: CommandTarget) -> None:
        world.remove_agent(self.agent)

    def describe_change(self, names: DescriptionNames) -> str:
        return f"{names.agent_name(self.agent)} removed"


GroupCommand = MoveGoal | SetBudget | SetParam | RemoveAgent
"""Commands for one agent that can also be applied to every member of a group, by ApplyToGroup."""


@dataclass(frozen=True)
class ApplyToGroup(Command):
    """Command that applies another command to every agent of a group. The agent id in `command` is ignored."""

    group: str
    command: GroupCommand

    def apply_to_world(self, world: CommandTarget) -> None:
        agents = world.agent_ids_of_group(self.group)
        if isinstance(self.command, MoveGoal):
            world.move_goals(self.command.cell, agents)  # cheaper: one search from the goal finds all members' paths
            return
        for agent in agents:
            replace(self.command, agent=agent).apply_to_world(world)

    def describe_change(self, names: DescriptionNames) -> str:
        return replace(self.command, agent=0).describe_change(_GroupNames(self.group, names))


@dataclass(frozen=True)
class _GroupNames:
    """Names for the description of a ApplyToGroup command: every agent is called by the name of the group."""

    group: str
    names: DescriptionNames

    def cell(self, cell: int) -> str:
        return self.names.cell(cell)

    def agent_name(self, agent: int) -> str:
        return self.group

    def algorithm_name(self, kind: str) -> str:
        return self.names.algorithm_name(kind)


@dataclass(frozen=True)
class SetRandomChanges(Command):
    """Command that starts or alters the random changes of the map, or stops them with rate 0."""

    interval_ticks: int  # number of ticks from one random change to the next
    changed_percent: float  # percent of cells that one random change alters; 0: no random changes

    def apply_to_world(self, world: CommandTarget) -> None:
        world.set_random_changes(RandomChangeSchedule(self.interval_ticks, self.changed_percent))

    def describe_change(self, names: DescriptionNames) -> str:
        is_on = self.changed_percent > 0
        return (
            f"random changes: {self.changed_percent:g} % every {count_with_noun(self.interval_ticks, 'tick')}"
            if is_on
            else "random changes stopped"
        )


@dataclass(frozen=True)
class SetMaxTrials(Command):
    """Command that sets the maximum number of trials of agents that learn; agents at the goal may start again."""

    max_trials: int

    def apply_to_world(self, world: CommandTarget) -> None:
        world.set_max_trials(self.max_trials)

    def describe_change(self, names: DescriptionNames) -> str:
        return f"{self.max_trials:,} trials" if self.max_trials > 1 else "one trial"


@dataclass(frozen=True)
class SetTickTimeLimit(Command):
    """Command that sets the time limit of a tick, in milliseconds for all agents together; 0: no limit."""

    limit_ms: float

    def apply_to_world(self, world: CommandTarget) -> None:
        world.set_tick_time_limit_ms(self.limit_ms)

    def describe_change(self, names: DescriptionNames) -> str:
        return f"time limit {self.limit_ms:g} ms a tick" if self.limit_ms else "no time limit of ticks"


@dataclass(frozen=True)
class LimitPlanners(Command):
    """Command that lets only `agent_count` agents plan in this tick, the next ones in round-robin order.

    It is recorded when the time limit of a tick keeps agents from planning, so that a replay needs no clock.
    """

    agent_count: int

    def apply_to_world(self, world: CommandTarget) -> None:
        world.limit_planning_agents(self.agent_count)

    def describe_change(self, names: DescriptionNames) -> str:
        return f"{count_with_noun(self.agent_count, 'agent')} planned"


@dataclass(frozen=True)
class TimedCommand:
    """Command with the tick at which it is due."""

    tick: int
    command: Command


@dataclass(frozen=True)
class RunMessage:
    """Message for the user, for example about an edit that was refused."""

    tick: int
    text: str
    command: Command | None = None  # command that caused the message


def merge_commands(commands: Iterable[Command]) -> list[Command]:
    """Return a shorter list of commands with the same effect, by merging commands such as the parts of a stroke."""
    found: list[Command] = []
    for command in commands:
        for i, earlier in enumerate(found):
            if (both := earlier.merge_with_later(command)) is not None:
                found[i] = both
                break
        else:
            found.append(command)
    return found


def _without_duplicates(cells: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(cells))


def _describe_cells(cells: Sequence[int], names: DescriptionNames) -> str:
    return f"cell {names.cell(cells[0])}" if len(cells) == 1 else f"{len(cells):,} cells"
