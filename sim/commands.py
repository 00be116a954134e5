"""Everything that can happen to a world from outside. Commands are plain data: they are the recording of a run.

A command is due at a tick and is applied before any agent plans in that tick. Each says here what it does to a world
and what it is in words; how files write and read it stands in the table of sim/files/commands.py. A new command is a
class here and a row there.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from sim.changes import RandomChanges
from sim.counted import counted
from sim.params import Param, Value

MAX_AGENTS = 5000  # of one run, so that no file asks for more memory than there is
MAX_NAME = 60  # characters of a label or of a switch's name
MAX_SWITCHES = 256
LAST_TICK = 1_000_000_000


def with_end(name: str, end: str, longest: int = MAX_NAME) -> str:
    """A name with something at its end, such as a number; cut before that, so that files take the whole for a name."""
    return name[: longest - len(end)] + end


TICK = Param("tick", int, 0, "when a command is due", 0, LAST_TICK)
BUDGET = Param("budget", int, 16, "cells that each agent may expand a tick", 1, 1_000_000_000, symbol="k")
TRIALS = Param("trials", int, 1, "most walks from start to goal of agents that learn", 1, 1_000_000)
TICK_MS = Param(
    "tick_ms", float, 0.0, "milliseconds a tick for all agents together; 0: as long as it takes", 0.0, 10_000.0
)
SERVED = Param("serve", int, 0, "so many agents plan in this tick, the others wait their turn", 0, MAX_AGENTS)
AGENT = Param("agent", int, 0, "the number of an agent", 0, 1_000_000)


Pair = tuple[int, int]
"""A cell as files say it, (x, y)."""


@dataclass(frozen=True)
class AgentConfig:
    """An agent to put on the map: which, what it is called, how it is set."""

    kind: str
    label: str = ""
    params: Mapping[str, Value] = field(default_factory=dict)
    budget: int | None = None  # its own budget instead of the world's
    start: Pair | None = None  # its own start instead of the world's
    goal: Pair | None = None  # its own goal, which a move of the world's leaves where it is
    group: str = ""  # the group that it belongs to, for summaries; "": none


class Drawable(Protocol):
    """What can be drawn on: a map with its switches, in a world or apart."""

    def edit_cells(self, blocked: Sequence[int], freed: Sequence[int]) -> None: ...
    def put_terrain(self, cells: Sequence[int], letters: str) -> None: ...
    def set_switch(self, name: str, is_blocked: bool) -> None: ...
    def name_switch(self, name: str, cells: Sequence[int]) -> None: ...


class Changeable(Drawable, Protocol):
    """What commands can do to a world. What is not possible there, the world refuses with a note."""

    def move_goal(self, cell: int, agent: int | None) -> None: ...
    def move_goals(self, cell: int, agents: Sequence[int]) -> None: ...
    def set_budget(self, budget: int | None, agent: int | None) -> None: ...
    def set_param(self, agent: int, name: str, value: Value) -> None: ...
    def name_agent(self, agent: int, label: str) -> None: ...
    def add_agent(self, config: AgentConfig, agent: int | None) -> None: ...
    def remove_agent(self, agent: int) -> None: ...
    def agents_of(self, group: str) -> Sequence[int]: ...
    def set_random_changes(self, changes: RandomChanges) -> None: ...
    def set_trials(self, count: int) -> None: ...
    def set_tick_ms(self, milliseconds: float) -> None: ...
    def serve(self, agents: int) -> None: ...


class Names(Protocol):
    """What the things of one run are called."""

    def cell(self, cell: int) -> str: ...
    def agent(self, agent: int) -> str: ...
    def algorithm(self, kind: str) -> str: ...


@dataclass(frozen=True)
class Command(ABC):
    @abstractmethod
    def apply(self, world: Changeable) -> None:
        """Do it."""

    @abstractmethod
    def say(self, names: Names) -> str:
        """What happened, in a few words."""

    def joined(self, later: "Command") -> "Command | None":
        """This and a later one as one thing that was done, None where they are two."""
        return None


@dataclass(frozen=True)
class MapEdit(Command):
    """What somebody draws on the map."""

    @abstractmethod
    def apply(self, world: Drawable) -> None: ...

    @abstractmethod
    def drawn(self, switches: Mapping[str, Sequence[int]]) -> Sequence[int]:
        """The cells that it is about, on a map with these switches."""


@dataclass(frozen=True)
class EditCells(MapEdit):
    """Block some cells and free others. One stroke of the brush is one command."""

    blocked: tuple[int, ...] = ()
    freed: tuple[int, ...] = ()

    def apply(self, world: Drawable) -> None:
        world.edit_cells(self.blocked, self.freed)

    def drawn(self, switches: Mapping[str, Sequence[int]]) -> Sequence[int]:
        return (*self.blocked, *self.freed)

    def say(self, names: Names) -> str:
        parts = ((self.blocked, "blocked"), (self.freed, "freed"))
        return ", ".join(f"{_cells(cells, names)} {word}" for cells, word in parts if cells) or "nothing edited"

    def joined(self, later: Command) -> Command | None:
        if not isinstance(later, EditCells):
            return None
        return EditCells(_each_once(self.blocked + later.blocked), _each_once(self.freed + later.freed))


@dataclass(frozen=True)
class SetTerrain(MapEdit):
    """Put exact terrain characters on cells: what undoes an EditCells."""

    cells: tuple[int, ...]
    letters: str

    def apply(self, world: Drawable) -> None:
        world.put_terrain(self.cells, self.letters)

    def drawn(self, switches: Mapping[str, Sequence[int]]) -> Sequence[int]:
        return self.cells

    def say(self, names: Names) -> str:
        return f"{_cells(self.cells, names)} changed"

    def joined(self, later: Command) -> Command | None:
        if not isinstance(later, SetTerrain):
            return None
        letters = dict(zip(self.cells + later.cells, self.letters + later.letters, strict=True))
        return SetTerrain(tuple(letters), "".join(letters.values()))


@dataclass(frozen=True)
class SetSwitch(MapEdit):
    """Block or free a named group of cells, such as a bridge."""

    name: str
    blocked: bool

    def apply(self, world: Drawable) -> None:
        world.set_switch(self.name, self.blocked)

    def drawn(self, switches: Mapping[str, Sequence[int]]) -> Sequence[int]:
        return switches.get(self.name, ())

    def say(self, names: Names) -> str:
        return f"{self.name} {'blocked' if self.blocked else 'open'}"


@dataclass(frozen=True)
class NameSwitch(Command):
    """Make these cells a switch of this name, in the place of one that has the name already; no cells: end it.

    It changes nothing on the map, so it is no MapEdit: a file of the map alone does not keep it.
    """

    name: str
    cells: tuple[int, ...]

    def apply(self, world: Drawable) -> None:
        world.name_switch(self.name, self.cells)

    def say(self, names: Names) -> str:
        return f"{_cells(self.cells, names)} named {self.name}" if self.cells else f"{self.name} is no switch any more"


@dataclass(frozen=True)
class MoveGoal(Command):
    """Move the goal of all who have none of their own, or that of one agent, which is its own from then on."""

    cell: int
    agent: int | None = None

    def apply(self, world: Changeable) -> None:
        world.move_goal(self.cell, self.agent)

    def say(self, names: Names) -> str:
        text = f"goal moved to {names.cell(self.cell)}"
        return text if self.agent is None else f"{names.agent(self.agent)}: {text}"


@dataclass(frozen=True)
class SetBudget(Command):
    """Change the shared budget, or the own budget of one agent (None: back to the shared one)."""

    budget: int | None
    agent: int | None = None

    def apply(self, world: Changeable) -> None:
        world.set_budget(self.budget, self.agent)

    def say(self, names: Names) -> str:
        text = f"budget {self.budget:,} a tick" if self.budget else "budget as all"
        return text if self.agent is None else f"{names.agent(self.agent)}: {text}"


@dataclass(frozen=True)
class SetParam(Command):
    agent: int
    name: str
    value: Value

    def apply(self, world: Changeable) -> None:
        world.set_param(self.agent, self.name, self.value)

    def say(self, names: Names) -> str:
        value = ("on" if self.value else "off") if isinstance(self.value, bool) else self.value
        return f"{names.agent(self.agent)}: {self.name.replace('_', ' ')} {value}"


@dataclass(frozen=True)
class NameAgent(Command):
    """Call an agent something else; what it does is the same. "": as its algorithm."""

    agent: int
    label: str

    def apply(self, world: Changeable) -> None:
        world.name_agent(self.agent, self.label)

    def say(self, names: Names) -> str:
        """By its new name alone: the old one is known to nobody any more."""
        return f"an agent is called {self.label}" if self.label else "an agent is called as its algorithm"


@dataclass(frozen=True)
class AddAgent(Command):
    """Put another agent on the start."""

    config: AgentConfig
    agent: int | None = None  # the number it gets, so that it keeps it whatever becomes of other commands

    def apply(self, world: Changeable) -> None:
        world.add_agent(self.config, self.agent)

    def say(self, names: Names) -> str:
        return f"{self.config.label or names.algorithm(self.config.kind)} joins"


@dataclass(frozen=True)
class RemoveAgent(Command):
    agent: int

    def apply(self, world: Changeable) -> None:
        world.remove_agent(self.agent)

    def say(self, names: Names) -> str:
        return f"{names.agent(self.agent)} leaves"


Told = MoveGoal | SetBudget | SetParam | RemoveAgent
"""What one agent can be told, and all of a group as well."""


@dataclass(frozen=True)
class ToGroup(Command):
    """The same for every agent of a group. The number of the agent in the command itself means nothing."""

    group: str
    command: Told

    def apply(self, world: Changeable) -> None:
        agents = world.agents_of(self.group)
        if isinstance(self.command, MoveGoal):
            world.move_goals(self.command.cell, agents)  # one search from there for all of them
            return
        for agent in agents:
            replace(self.command, agent=agent).apply(world)

    def say(self, names: Names) -> str:
        return replace(self.command, agent=0).say(_OneName(self.group, names))


@dataclass(frozen=True)
class _OneName:
    """Every agent is called as its group."""

    group: str
    names: Names

    def cell(self, cell: int) -> str:
        return self.names.cell(cell)

    def agent(self, agent: int) -> str:
        return self.group

    def algorithm(self, kind: str) -> str:
        return self.names.algorithm(kind)


@dataclass(frozen=True)
class SetChanges(Command):
    """Begin, alter or (rate 0) end the random changes of the map."""

    every: int
    rate: float

    def apply(self, world: Changeable) -> None:
        world.set_random_changes(RandomChanges(self.every, self.rate))

    def say(self, names: Names) -> str:
        is_on = self.rate > 0
        return f"random changes: {self.rate:g} % every {counted(self.every, 'tick')}" if is_on else "random changes end"


@dataclass(frozen=True)
class SetTrials(Command):
    """Let agents that learn walk from start to goal so often, those that have arrived included."""

    count: int

    def apply(self, world: Changeable) -> None:
        world.set_trials(self.count)

    def say(self, names: Names) -> str:
        return f"{self.count:,} trials" if self.count > 1 else "one trial"


@dataclass(frozen=True)
class SetTickMs(Command):
    """Give all agents together so many milliseconds a tick, as games do; 0: as long as it takes."""

    milliseconds: float

    def apply(self, world: Changeable) -> None:
        world.set_tick_ms(self.milliseconds)

    def say(self, names: Names) -> str:
        return f"{self.milliseconds:g} ms a tick for all" if self.milliseconds else "a tick takes as long as it takes"


@dataclass(frozen=True)
class Serve(Command):
    """Only so many agents plan in this tick, those whose turn it is: what a clock once said, to be repeated."""

    agents: int

    def apply(self, world: Changeable) -> None:
        world.serve(self.agents)

    def say(self, names: Names) -> str:
        return f"{counted(self.agents, 'agent')} had {'its' if self.agents == 1 else 'their'} turn"


@dataclass(frozen=True)
class TimedCommand:
    tick: int
    command: Command


@dataclass(frozen=True)
class Note:
    """Something to tell the user, such as an edit that was refused."""

    tick: int
    text: str
    command: Command | None = None  # the one that it is about


def together(commands: Iterable[Command]) -> list[Command]:
    """What was done at once, with the many pieces of a stroke as one."""
    found: list[Command] = []
    for command in commands:
        for i, earlier in enumerate(found):
            if (both := earlier.joined(command)) is not None:
                found[i] = both
                break
        else:
            found.append(command)
    return found


def _each_once(cells: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(cells))


def _cells(cells: Sequence[int], names: Names) -> str:
    return f"cell {names.cell(cells[0])}" if len(cells) == 1 else f"{len(cells):,} cells"
