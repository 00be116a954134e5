"""Interface of executors, which let all agents of a world plan and act.

`SequentialExecutor` (sequential_executor.py) is the plain one: one agent after the other. All others give identical
results. `TimeSlicedExecutor` (time_sliced_executor.py) wraps another executor for single ticks in which only some
agents plan. `BatchedExecutor` (sim/batching/) advances agents of the same kind in one kernel call.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from sim.agent_times import AgentTimes
from sim.grid import MapChange
from sim.referee import Referee
from sim.walker import Walker
from sim.world_state import WorldState


class InvalidationReason(Enum):
    """Kind of change in a world: the reason that `World.invalidate_executor_caches` gets."""

    AGENTS = auto()  # agents may act again, or use other arrays, parameters or budgets
    GOALS = auto()  # the same, and an agent has got a goal of its own
    MEMBERSHIP = auto()  # agents were added, removed or stopped, or may have to join or leave a batch


class RunResult(NamedTuple):
    """Result of a call of `Executor.run`."""

    ticks: int  # largest number of ticks in which any agent acted
    has_activity: bool = True  # whether the state of any agent may have changed
    have_all_planned: bool = True  # False: a limit kept agents from planning, so that they have no rows for the tick


@dataclass(frozen=True)
class StepBlock:
    """Log rows that several agents wrote in consecutive ticks."""

    first_tick: int  # world tick of column 0 of `log_rows`
    index_by_id: Mapping[int, int]  # agent id -> index of the agent in this block
    log_rows: npt.NDArray[Any]  # log.ROW[agents, ticks]: log row of each agent and tick
    done: npt.NDArray[np.int64]  # [agents] number of ticks in which each agent acted; rows of later ticks are unused

    @property
    def end(self) -> int:
        """Return the world tick that follows the last of these ticks."""
        return self.first_tick + int(self.log_rows.shape[1])


@dataclass(frozen=True)
class AgentTiming:
    """Agents that acted together in the last advance, and the seconds that they took."""

    walkers: Sequence[Walker]
    seconds: float
    ticks: int  # number of ticks of these agents in the last advance


class Executor(Protocol):
    """Interface of executors. A world calls `begin_advance`, then `run` once or several times, then `end_advance`.

    A new executor is best written as a subclass of `SequentialExecutor`. Its constructor takes the `Referee` and the
    `AgentTimes` of the world (`ExecutorFactory`). Add it to tests/test_executors.py, which compares all.

    An executor keeps no reference to the state of the world, so that a world which is no longer used is freed at once.
    """

    def begin_advance(self, state: WorldState) -> None:
        """Discard the rows of the last advance."""

    def run(self, state: WorldState, ticks: int) -> RunResult:
        """Let all agents plan and act for up to `ticks` ticks from the world's tick on, and judge their moves.

        No command and no change of the map is due in these ticks.
        """

    def finish_run(self, passed: int) -> None:
        """Finish a call of `run`: count the ticks in which agents waited.

        Args:
            passed: number of ticks that have passed: all for which the agents were called, unless the run is over
                earlier.
        """

    def end_advance(self, state: WorldState) -> None:
        """Complete the rows of the advance, so that they can be read."""

    def notify_map_change(self, state: WorldState, change: MapChange) -> None:
        """Notify all agents of a change of the map."""

    # A tick in which a limit keeps some agents from planning is run in parts (time_sliced_executor.py).

    def begin_partial_tick(self, state: WorldState) -> None:
        """Begin a tick in which agents are called in the order of a queue."""

    def run_queue_front(self, state: WorldState, queue: Sequence[Walker]) -> int:
        """Let the agents at the front of a queue act that can act in one call; return their number, at least 1."""

    def end_partial_tick(self, state: WorldState) -> None:
        """End the tick: judge the moves of all agents that have acted."""

    # What the last advance did.

    def walkers_with_rows(self) -> Sequence[Walker]:
        """Return the agents that wrote rows of their own in the last advance, outside of all blocks."""

    def step_blocks(self) -> Iterator[StepBlock]:
        """Yield the rows of agents that acted together in the last advance, in the order of ticks."""

    def agent_timings(self, state: WorldState) -> Iterator[AgentTiming]:
        """Yield the times that agents took in the last advance; nothing without a clock."""

    # Methods that a plain executor answers from the walkers. Others know the answer faster.

    def occupied_cells(self, state: WorldState) -> Sequence[int]:
        """Return the cells that agents occupy."""

    def digest_bytes(self, state: WorldState) -> bytes:
        """Return what all agents have done so far, for the digest of the world."""

    # Methods for executors with caches. A plain executor does nothing.

    def invalidate_caches(self, reason: InvalidationReason) -> None:
        """Mark caches as out of date. A world calls this after every change that concerns agents."""

    def prepare_first_tick(self, state: WorldState) -> None:
        """Do slow work of the first tick in advance."""


ExecutorFactory = Callable[[Referee, AgentTimes], Executor]
"""Function that creates an executor for a world, such as the class `SequentialExecutor`."""
