"""What an agent is to the world, what it is shown, and what it shows.

An agent knows the whole map and one problem on it. It never touches the world, the clock or the screen: the
world asks it to plan and act for some ticks, judges the moves, and tells it what changed.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from sim.abstraction import RegionMap
from sim.grid import Grid, MapChange
from sim.kernels import log
from sim.kernels.learned import Learned
from sim.kernels.search import Search
from sim.metrics import OwnCounts
from sim.params import Param, Value
from sim.prepared import Prepared, Step, Stopwatch

Cells = npt.NDArray[np.int32]


class Status(IntEnum):
    """How an agent stands after a tick."""

    ACTIVE = log.ACTIVE
    AT_GOAL = log.AT_GOAL
    NO_PATH = log.NO_PATH  # proved on the map as it is; a change may wake the agent
    GAVE_UP = log.GAVE_UP  # it will not go on, whatever changes


STATUSES: tuple[Status, ...] = tuple(Status)
"""By number: making a Status of a number takes longer than many a tick."""

PHASE_WORDS = {
    log.WAITING: "waiting",
    log.SEARCHING: "searching",
    log.TRACING: "tracing",
    log.FOLLOWING: "following",
    log.WALKING_BACK: "walking back",
    log.SHUTTLING: "to and fro",
    log.LEARNING: "learning",
}
STATUS_WORDS = {Status.AT_GOAL: "arrived", Status.NO_PATH: "no path", Status.GAVE_UP: "gave up"}


GROUP_NAMES = ("local space", "queued", "dead", "redundant", "inconsistent", "new contour", "corridor")
"""What sets of cells an agent may show: the search space of its last plan, P LRTA*'s queue, RIBS's pruned states, the
states that D* Lite has yet to repair, those that IDA* enters for the first time in this iteration, the part
of the map in which a path is refined."""


ACCEPTED, NOT_REACHED, GOAL_NOT_REACHED, LEFT_OUT, UNTRIED = (
    "accepted",
    "not reached",
    "goal not reached",
    "left out",
    "not tried",
)
"""What came of a candidate: taken; no climb leads to its first cell; none from its last cell to the goal; it led
nowhere before; another one was taken first."""


class Candidate(NamedTuple):
    """A record of a solved problem that was similar enough to be tried."""

    record: int
    verdict: str


@dataclass(frozen=True)
class Problem:
    """What an agent is given to solve. The grid is the world's own and changes under it."""

    grid: Grid
    start: int
    goal: int
    seed: int = 0
    budget: int = 1  # expansions a tick at the time the agent is made, for checks
    watched: bool = False  # somebody looks: count expansions per cell and note their order
    tile_width: int = 0  # for tables with an entry for each cell, see kernels/tiled.py

    @property
    def reuses_memory(self) -> bool:
        """Whether memory may come from agents that are no more, see memory.Pool. Hundreds of agents are to take no more
        than they need: not pages that a search over the whole map has touched.
        """
        return not self.watched and not self.tile_width


@dataclass(frozen=True)
class AgentView:
    """What there is to draw of an agent. Arrays are the agent's own: read them, until the next tick.

    Lists of cells lie one behind the other in memory: for others, what draws them would be compiled once more.
    """

    search: Search | None = None  # open and closed cells, parents, g; None as long as none has begun
    best: int = -1  # the open cell that would be expanded next
    root: int = -1
    path: Cells = field(default_factory=lambda: np.empty(0, np.int32))  # the path followed, in walking order
    head: int = 0  # cells before this place on the path are used up
    tracing: Cells = field(default_factory=lambda: np.empty(0, np.int32))  # path being traced, its far end first
    detour: Search | None = None  # TBA*'s search for a shortcut
    learned: Learned | None = None  # learned heuristic, where the agent learns one
    groups: Mapping[str, Cells] = field(default_factory=dict)  # named sets of cells, see GROUP_NAMES
    numbers: Mapping[str, float] = field(default_factory=dict)  # further counters of this algorithm, by name
    waypoints: Cells = field(default_factory=lambda: np.empty(0, np.int32))  # heads for these before its goal, in order
    depths: npt.NDArray[np.uint32] | None = None  # how deep it looks ahead from each cell; 0: not said
    contours: npt.NDArray[np.float64] | None = None  # the limit on f that let each cell in; 0: none yet
    regions: RegionMap | None = None  # of the level of the abstraction that it works on
    candidates: tuple[Candidate, ...] = ()  # of the last choice of a record, most similar first
    chosen_at: int = -1  # the cell where it was made
    prepared: tuple[Prepared, ...] = ()  # data computed before the run that it uses
    is_stale: bool = False  # the map is not the one that this data was computed on
    target: int = -1  # what its last move headed for, where that may be a subgoal
    notes: frozenset[str] = frozenset()
    """Words on its last tick that neither its row nor the rest of this can tell, for ui/model/pseudocode.py, why.py."""

    def __post_init__(self) -> None:
        """A search that has not begun has number 0, as have all cells that no search has written: it knows none."""
        if self.search is not None and not self.search.control[0].search:
            object.__setattr__(self, "search", None)


def noted(words: Mapping[int, str], did: int) -> frozenset[str]:
    """The notes of a view, from the marks in which a kernel has kept what its last tick did."""
    return frozenset(word for mark, word in words.items() if did & mark)


class Agent(Protocol):
    """The contract. `tests/test_contract.py` holds every registered agent to it."""

    def advance(self, budget: int, rows: np.ndarray) -> int:
        """Plan and act for up to len(rows) ticks (log.ROW each); the ticks done, fewer only when not ACTIVE.

        Rows have the names of their fields, `rows[0].cell`, unless the agent says `takes_bare_rows`, see jit.bare.
        """

    def on_change(self, change: MapChange) -> None:
        """The map has changed; called before the agent plans on the new one."""

    def set_goal(self, goal: int) -> None:
        """From now on the goal is elsewhere."""

    def set_param(self, name: str, value: Value) -> None:
        """A parameter changed while running; `value` is legal."""

    def refused(self, cell: int) -> None:
        """The last move was illegal on the true map; the agent still stands on `cell`."""

    @property
    def status(self) -> Status: ...

    def own_counts(self) -> OwnCounts:
        """What nobody else can count of it."""

    def view(self) -> AgentView:
        """What to draw."""


class Learner(Agent, Protocol):
    """An agent that learns h, so that one trial after the other makes it better (spec.keeps_h)."""

    def begin_trial(self, start: int) -> None:
        """Stand on the start again and keep what was learned."""

    @property
    def h_changes(self) -> int:
        """How often a learned value has changed so far; never less than before."""


def _any_budget(budget: int, params: Mapping[str, Value]) -> str | None:
    """Every budget will do. A function with a name, because a world must survive pickling."""
    return None


def _nothing(params: Mapping[str, Value]) -> float:
    return 0


def _never(params: Mapping[str, Value]) -> bool:
    return False


def _no_preparation(problem: Problem, params: Mapping[str, Value], stopwatch: Stopwatch | None) -> Iterator[Step]:
    return iter(())


@dataclass(frozen=True)
class AgentSpec:
    """One declaration of an agent, from which come panel, scenario keys, command line, index and tests."""

    key: str
    name: str
    paper: str
    summary: str  # one sentence for menus and the index
    make: Callable[[Problem, Mapping[str, Value]], Agent]
    params: tuple[Param, ...] = ()
    family: str = "time-bounded"
    is_real_time: bool = True  # obeys the budget of every tick, or a bound of its own, see `needed`
    proves_no_path: bool = True
    is_complete: bool = True  # reaches every reachable goal of a map that does not change
    may_loop: Callable[[Mapping[str, Value]], bool] = _never  # with these parameters it is not complete, for comparison
    runs_in_bulk: bool = True  # knows the true map, so that no move of it can be refused
    is_own: bool = False  # from a file of the user's: it gets a map that it cannot write to, and its code may fail
    keeps_h: bool = False  # a Learner: further trials make sense
    converges_to_optimal: bool = True  # of those: a trial that changes no h is a cheapest path
    check_budget: Callable[[int, Mapping[str, Value]], str | None] = _any_budget
    needed: Callable[[Mapping[str, Value]], float] = _nothing
    """Most expansions of a tick that no budget can cut; infinity: nothing bounds them, so with these parameters the
    agent is not real-time. Where a tick expands more than the budget, the referee marks it."""
    shows: frozenset[str] = frozenset()  # beside what every search has to show: keys of special layers
    prepare: Callable[[Problem, Mapping[str, Value], Stopwatch | None], Iterator[Step]] = _no_preparation
    """Computes, in pieces, the data that `make` will want; see prepared.py. It may be left out: `make` then does it."""

    @property
    def has_data(self) -> bool:
        """Whether it computes something before the run."""
        return self.prepare is not _no_preparation

    def param(self, name: str) -> Param | None:
        return next((p for p in self.params if p.name == name), None)

    def describe(self) -> dict[str, Any]:
        """Everything about this agent as plain data, for `agents --json`."""
        return {
            "key": self.key,
            "name": self.name,
            "paper": self.paper,
            "summary": self.summary,
            "family": self.family,
            "real_time": self.is_real_time,
            "proves_no_path": self.proves_no_path,
            "complete": self.is_complete,
            "keeps_h": self.keeps_h,
            "has_data": self.has_data,
            "params": [p.describe() for p in self.params],
        }


class Specs(dict[str, AgentSpec]):
    """All agents by key. A world looks them up in the table itself, so that one that came later can join it."""
