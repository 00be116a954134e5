"""Everything that a run in the window begins with. No pygame here."""

from dataclasses import dataclass, field

from sim.changes import RandomChanges
from sim.commands import AgentConfig, Command
from sim.files.scenario import MapSource
from sim.grid import Grid


@dataclass(frozen=True)
class Setup:
    """Everything that a run begins with."""

    grid: Grid
    start: int
    goal: int
    agents: tuple[AgentConfig, ...]
    budget: int = 16
    seed: int = 0
    switches: dict[str, tuple[int, ...]] = field(default_factory=dict)
    changes: RandomChanges | None = None
    script: tuple[tuple[int, Command], ...] = ()
    title: str = "Untitled"
    caption: str = ""
    listed_optimal: float | None = None  # the optimal length that a problem list states
    source: MapSource | None = None  # file, recipe or rows of the map, for saving a scenario that names them
    trials: int = 1  # most walks from start to goal of agents that learn
