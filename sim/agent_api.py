"""Interface between agents and the world: the problem an agent gets, the methods it implements, the view it offers.

An agent knows the whole map and one problem on it. It never accesses the world, the clock or the screen: the world
calls it to plan and act for some ticks, judges its moves, and notifies it of changes.
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
    """State of an agent after a tick."""

    ACTIVE = log.ACTIVE
    AT_GOAL = log.AT_GOAL
    NO_PATH = log.NO_PATH  # there is no path on the present map; after a map change the agent may be active again
    GAVE_UP = log.GAVE_UP  # final: the agent will not act any more, whatever changes


STATUSES: tuple[Status, ...] = tuple(Status)
"""Statuses by number. `STATUSES[number]` is faster than `Status(number)`, which takes longer than some whole ticks."""

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
"""Names of sets of cells that an agent may show. In order: the search space of its last plan, P LRTA*'s queue, the two
kinds of states that RIBS prunes, the states that D* Lite has yet to repair, the states that IDA* enters for the first
time in this iteration, and the part of the map in which a path is refined."""


ACCEPTED, NOT_REACHED, GOAL_NOT_REACHED, LEFT_OUT, UNTRIED = (
    "accepted",
    "not reached",
    "goal not reached",
    "left out",
    "not tried",
)
"""Verdicts on a candidate, in order: it was taken; hill climbing from the agent does not reach the first cell of the
record; hill climbing from the last cell of the record does not reach the goal; the agent did not get to the goal with
this record before; another candidate was taken earlier, so this one was not tried."""


class Candidate(NamedTuple):
    """Record of a solved problem (sim/records.py) that was similar enough to the present problem to be considered."""

    record: int  # index of the record in the database
    verdict: str  # ACCEPTED, NOT_REACHED, GOAL_NOT_REACHED, LEFT_OUT or UNTRIED


@dataclass(frozen=True)
class Problem:
    """Problem that an agent has to solve. Its grid is shared with the world and changes during the run."""

    grid: Grid
    start: int
    goal: int
    seed: int = 0
    budget: int = 1  # expansions per tick at the creation of the agent, to check whether parameters allow it
    watched: bool = False  # whether to count expansions per cell and store their order, for drawing
    tile_width: int = 0  # width of the map if per-cell tables are stored in tiles (kernels/tiled.py); 0: in rows

    @property
    def reuses_memory(self) -> bool:
        """Return whether tables may reuse the memory of deleted agents (sim/kernels/memory.py).

        Members of a group get new memory, because reused memory occupies all pages that its earlier owner has written,
        which is too much for hundreds of agents.
        """
        return not self.watched and not self.tile_width


@dataclass(frozen=True)
class AgentView:
    """State of an agent for display. Its arrays belong to the agent: only read them, and only until the next tick.

    Lists of cells must be contiguous in memory, because drawing kernels would be compiled again for other arrays.
    """

    search: Search | None = None  # open and closed cells, parents, g; None before the first search
    best: int = -1  # open cell that would be expanded next; -1: none
    root: int = -1  # cell at which the search began; -1: none
    path: Cells = field(default_factory=lambda: np.empty(0, np.int32))  # path followed, in walking order
    head: int = 0  # index on `path`; the cells before it are used up
    # Cells of the path that is being traced, beginning with its far end.
    tracing: Cells = field(default_factory=lambda: np.empty(0, np.int32))
    detour: Search | None = None  # TBA*'s search for a shortcut
    learned: Learned | None = None  # learned heuristic, if the agent learns one
    groups: Mapping[str, Cells] = field(default_factory=dict)  # sets of cells by name, one of GROUP_NAMES
    numbers: Mapping[str, float] = field(default_factory=dict)  # further counters of this algorithm, by name
    waypoints: Cells = field(default_factory=lambda: np.empty(0, np.int32))  # subgoals before the goal, in order
    depths: npt.NDArray[np.uint32] | None = None  # [cells] depth of the lookahead; 0: unknown
    contours: npt.NDArray[np.float64] | None = None  # [cells] limit on f when each cell was entered; 0: not yet
    regions: RegionMap | None = None  # regions of the level of the abstraction that the agent works on
    candidates: tuple[Candidate, ...] = ()  # candidates when a record was last chosen, most similar first
    chosen_at: int = -1  # cell of the agent when that record was chosen; -1: none
    prepared: tuple[Prepared, ...] = ()  # data that was computed before the run and that the agent uses
    is_stale: bool = False  # whether the map has changed since `prepared` was computed
    target: int = -1  # cell that the last move headed for, of agents with subgoals; -1: none
    notes: frozenset[str] = frozenset()
    """Words for events of the last tick that neither its row nor the rest of this view contains. The window uses them
    to show the current line of the pseudocode and the reason of a move: pseudocode.py and why.py in ui/model."""

    def __post_init__(self) -> None:
        """Replace a search that has not begun by None.

        Records of cells contain the number of the search that wrote them. A search that has not begun has number 0, as
        have all unwritten records, so all cells would seem to belong to it.
        """
        if self.search is not None and not self.search.control[0].search:
            object.__setattr__(self, "search", None)


def noted(words: Mapping[int, str], did: int) -> frozenset[str]:
    """Return the words for bits that are set, for `AgentView.notes`.

    Args:
        words: word for each bit.
        did: bit mask of events that a kernel has set in the last tick.
    """
    return frozenset(word for mark, word in words.items() if did & mark)


class Agent(Protocol):
    """Contract of all agents. `tests/test_contract.py` checks it for every registered agent."""

    def advance(self, budget: int, rows: np.ndarray) -> int:
        """Plan and act for up to len(rows) ticks.

        Args:
            budget: maximum of expansions per tick.
            rows: one log.ROW per tick, to be filled in. Fields have names, as in `rows[0].cell`, unless the agent
                sets `takes_bare_rows`, see jit.bare.

        Returns:
            The number of ticks done. It may be less than len(rows) only if the agent is no longer ACTIVE.
        """

    def on_change(self, change: MapChange) -> None:
        """Handle a map change, before planning on the new map."""

    def set_goal(self, goal: int) -> None:
        """Use another goal from now on."""

    def set_param(self, name: str, value: Value) -> None:
        """Change a parameter during the run; `value` is legal."""

    def refused(self, cell: int) -> None:
        """Handle a refused move: the last move was illegal on the true map, so the agent is still on `cell`."""

    @property
    def status(self) -> Status: ...

    def own_counts(self) -> OwnCounts:
        """Return the numbers that only the agent itself can count."""

    def view(self) -> AgentView:
        """Return the state for display."""


class Learner(Agent, Protocol):
    """Agent that learns h and improves from trial to trial (spec.keeps_h)."""

    def begin_trial(self, start: int) -> None:
        """Begin the next trial on the cell `start`, with the learned values of earlier trials."""

    @property
    def h_changes(self) -> int:
        """Return how many times learned values have changed so far; the number never decreases."""


def _accept_any_budget(budget: int, params: Mapping[str, Value]) -> str | None:
    """Accept every budget. This is not a lambda, because worlds are pickled."""
    return None


def _nothing(params: Mapping[str, Value]) -> float:
    return 0


def _never_loops(params: Mapping[str, Value]) -> bool:
    return False


def _no_preparation(problem: Problem, params: Mapping[str, Value], stopwatch: Stopwatch | None) -> Iterator[Step]:
    return iter(())


@dataclass(frozen=True)
class AgentSpec:
    """Declaration of one algorithm, from which its panel, scenario keys, command line, index and tests are derived."""

    key: str
    name: str
    paper: str
    summary: str  # one sentence for menus and the index
    make: Callable[[Problem, Mapping[str, Value]], Agent]
    params: tuple[Param, ...] = ()
    family: str = "time-bounded"
    is_real_time: bool = True  # whether its expansions per tick are limited: by the budget, or by `needed`
    proves_no_path: bool = True  # whether it can prove that there is no path
    is_complete: bool = True  # whether it reaches every reachable goal of a map that does not change
    # Test for parameters with which the algorithm is not complete, although they are offered for comparison.
    may_loop: Callable[[Mapping[str, Value]], bool] = _never_loops
    # Whether one call may cover many ticks, because it knows the true map, so that no move can be refused.
    runs_in_bulk: bool = True
    is_own: bool = False  # whether it is from a user's file: its map is read-only, and its code may fail
    keeps_h: bool = False  # whether it is a Learner, for which further trials make sense
    converges_to_optimal: bool = True  # for a Learner: whether a trial that changes no h follows a cheapest path
    # Check of a budget with the parameters; returns an error message or None.
    check_budget: Callable[[int, Mapping[str, Value]], str | None] = _accept_any_budget
    needed: Callable[[Mapping[str, Value]], float] = _nothing
    """Number of expansions that the algorithm may make in a tick even if the budget is smaller, for some parameters.
    Infinity: there is no limit, so with these parameters the agent is not real-time. The referee marks ticks with more
    expansions than the budget."""
    # Keys of its special layers (drawings over the map), in addition to the layers of every search.
    shows: frozenset[str] = frozenset()
    prepare: Callable[[Problem, Mapping[str, Value], Stopwatch | None], Iterator[Step]] = _no_preparation
    """Function that returns an iterator, which computes the data that `make` needs in steps (prepared.py). Callers may
    skip it; then `make` computes the data."""

    @property
    def has_data(self) -> bool:
        """Return whether the algorithm computes data before the run."""
        return self.prepare is not _no_preparation

    def param(self, name: str) -> Param | None:
        """Return the parameter with this name, or None."""
        return next((p for p in self.params if p.name == name), None)

    def describe(self) -> dict[str, Any]:
        """Return everything about this agent as plain data, for `agents --json`."""
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
    """Algorithms by key. Worlds use this table itself, not a copy, so algorithms can be registered during a run."""
