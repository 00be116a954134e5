"""Everything that can happen to a world from outside. Commands are plain data: they are the recording of a run.

A command is due at a tick and is applied before any agent plans in that tick.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sim.params import Value


@dataclass(frozen=True)
class AgentConfig:
    """An agent to put on the map: which, what it is called, how it is set."""

    kind: str
    label: str = ""
    params: Mapping[str, Value] = field(default_factory=dict)
    budget: int | None = None  # its own budget instead of the world's


@dataclass(frozen=True)
class EditCells:
    """Block some cells and free others. One stroke of the brush is one command."""

    blocked: tuple[int, ...] = ()
    freed: tuple[int, ...] = ()


@dataclass(frozen=True)
class SetTerrain:
    """Put exact terrain characters on cells: what undoes an EditCells."""

    cells: tuple[int, ...]
    letters: str


@dataclass(frozen=True)
class SetSwitch:
    """Block or free a named group of cells, such as a bridge."""

    name: str
    blocked: bool


@dataclass(frozen=True)
class MoveGoal:
    cell: int


@dataclass(frozen=True)
class SetBudget:
    """Change the shared budget, or the own budget of one agent (None: back to the shared one)."""

    budget: int | None
    agent: int | None = None


@dataclass(frozen=True)
class SetParam:
    agent: int
    name: str
    value: Value


@dataclass(frozen=True)
class AddAgent:
    """Put another agent on the start."""

    config: AgentConfig
    agent: int | None = None  # the number it gets, so that it keeps it whatever becomes of other commands


@dataclass(frozen=True)
class RemoveAgent:
    agent: int


@dataclass(frozen=True)
class SetChanges:
    """Begin, alter or (rate 0) end the random changes of the map."""

    every: int
    rate: float


@dataclass(frozen=True)
class SetTrials:
    """Let agents that learn walk from start to goal so often, those that have arrived included."""

    count: int


Command = (
    EditCells
    | SetTerrain
    | SetSwitch
    | MoveGoal
    | SetBudget
    | SetParam
    | AddAgent
    | RemoveAgent
    | SetChanges
    | SetTrials
)
