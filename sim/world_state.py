"""State of a world: everything that has happened in a run up to its present tick, and what decides how it continues.

`World` (world.py) is a `WorldState` with the rules by which time passes. Caches are not part of the state: those of
executors belong to the executors, and those of measurements to the tracker in sim/move_optimality.py.
"""

from bisect import insort_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import itemgetter

import numpy as np

from sim.agent_api import AgentSpec, Status
from sim.changes import NO_RANDOM_CHANGE, RandomChange, RandomChangeSchedule
from sim.grid import Grid
from sim.walker import Walker
from sim.world_commands import Command, RunMessage


@dataclass(eq=False)
class WorldState:
    """State of a world, see the module docstring. The words are explained in docs/glossary.md."""

    grid: Grid  # map, which commands and random changes edit
    start: int  # start cell of all agents without a start of their own
    goal: int  # goal cell of all agents without a goal of their own
    agent_specs: Mapping[str, AgentSpec]  # algorithms that agents may use, by key
    budget: int  # maximum number of expansions per tick of an agent without a budget of its own
    seed: int  # seed of random changes, from which the seeds of agents are derived
    switches: dict[str, tuple[int, ...]]  # name of a switch -> its cells, which are blocked or freed together
    random_changes: RandomChangeSchedule
    max_trials: int  # maximum number of walks from start to goal by each agent that learns h
    tick_time_limit_ms: float  # time limit of a tick in milliseconds, for all agents together; 0: no limit
    tick: int = 0
    walkers: list[Walker] = field(default_factory=list)
    queued_commands: list[tuple[int, Command]] = field(default_factory=list)  # (tick, command), ordered by tick
    messages: list[RunMessage] = field(default_factory=list, compare=False)  # messages that the user has yet to get
    next_agent_id: int = 0  # id of the next agent that is added
    # The last random change, which the next one undoes, and the tick whose random change was handled last.
    last_random_change: RandomChange = NO_RANDOM_CHANGE
    last_random_change_tick: int = -1
    map_changes_digest: bytes = b""  # digest of all cells changed so far, in the order of the changes
    planner_limit: int | None = None  # maximum number of agents that plan in the coming tick; None: no limit
    next_planner_id: int = 0  # id of the agent that plans first in the next tick in which agents have to wait
    # (tick, number of agents that planned) for each tick in which the time limit kept other agents from planning.
    planner_limited_ticks: list[tuple[int, int]] = field(default_factory=list)

    def walker_with_id(self, agent_id: int) -> Walker | None:
        """Return the walker of an agent, or None if there is no such agent."""
        return next((w for w in self.walkers if w.id == agent_id), None)

    def goal_of_walker(self, walker: Walker) -> int:
        """Return the cell of an agent's goal: its own goal, or else the shared one."""
        return walker.goal(self.goal)

    def switch_states(self) -> dict[str, bool]:
        """Return for every switch whether it is blocked, that is, whether all of its cells are blocked."""
        return {name: not self.grid.are_cells_free(np.asarray(cells)).any() for name, cells in self.switches.items()}

    def submit(self, command: Command, tick: int | None = None) -> None:
        """Queue a command. `tick`: tick at whose beginning it is applied; None: the present tick."""
        due = self.tick if tick is None else tick
        assert due >= self.tick, (due, self.tick)
        insort_right(self.queued_commands, (due, command), key=itemgetter(0))

    def queue_commands(self, timed: Iterable[tuple[int, Command]]) -> None:
        """Queue several commands, given as pairs (tick, command)."""
        for tick, command in timed:
            self.submit(command, tick)

    def replace_queued_commands(self, timed: Iterable[tuple[int, Command]]) -> list[tuple[int, Command]]:
        """Replace the queue of commands by `timed`, and return the old queue; both contain pairs (tick, command)."""
        waiting, self.queued_commands = self.queued_commands, []
        self.queue_commands(timed)
        return waiting

    @property
    def are_due_changes_pending(self) -> bool:
        """Return whether the random change and the commands of this tick have not been applied yet."""
        return self.last_random_change_tick != self.tick

    @property
    def is_waiting_for_random_change(self) -> bool:
        """Return whether an agent has no path, and a random change is scheduled, which may open one."""
        waits = any(walker.agent.status is Status.NO_PATH for walker in self.walkers)
        return waits and self.random_changes.next_change_tick_after(self.tick) is not None
