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
    NO_PATH = log.NO_PATH  # proved for the present map; after a change the agent may be active again
    GAVE_UP = log.GAVE_UP  # final: the agent will not act any more, whatever changes


STATUSES: tuple[Status, ...] = tuple(Status)
"""Statuses by number. Looking one up here is faster than `Status(number)`, which takes longer than many a tick."""

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
"""Sets of cells that an agent may show: the search space of its last plan, P LRTA*'s queue, the two kinds of states
that RIBS prunes, the states that D* Lite has yet to repair, the states that IDA* enters for the first time in this
iteration, and the part of the map in which a path is refined."""


ACCEPTED, NOT_REACHED, GOAL_NOT_REACHED, LEFT_OUT, UNTRIED = (
    "accepted",
    "not reached",
    "goal not reached",
    "left out",
    "not tried",
)
"""Verdicts on a candidate: it was taken; hill climbing does not reach its first cell; hill climbing does not reach the
goal from its last cell; it led nowhere before; another candidate was taken before it was tried."""


class Candidate(NamedTuple):
    """Record of a solved problem that was similar enough to be tried."""

    record: int  # index of the record
    verdict: str  # one of the verdicts above


@dataclass(frozen=True)
class Problem:
    """Problem that an agent has to solve. The grid is the world's own and changes during the run."""

    grid: Grid
    start: int
    goal: int
    seed: int = 0
    budget: int = 1  # expansions per tick when the agent is created, for checks
    watched: bool = False  # whether to count expansions per cell and note their order, for drawing
    tile_width: int = 0  # width of the map if tables per cell are laid out in tiles (kernels/tiled.py); 0: in rows

    @property
    def reuses_memory(self) -> bool:
        """Return whether tables may reuse the memory of deleted agents, see memory.Pool.

        Members of a group get new memory: with hundreds of agents none should hold pages that a search over the whole
        map has touched.
        """
        return not self.watched and not self.tile_width


@dataclass(frozen=True)
class AgentView:
    """State of an agent for display. Arrays are the agent's own: only read them, and only until the next tick.

    Lists of cells must be contiguous in memory: for other arrays the drawing kernels would be compiled again.
    """

    search: Search | None = None  # open and closed cells, parents, g; None before the first search
    best: int = -1  # open cell that would be expanded next
    root: int = -1
    path: Cells = field(default_factory=lambda: np.empty(0, np.int32))  # path followed, in walking order
    head: int = 0  # index on the path before which cells are used up
    tracing: Cells = field(default_factory=lambda: np.empty(0, np.int32))  # path being traced, its far end first
    detour: Search | None = None  # TBA*'s search for a shortcut
    learned: Learned | None = None  # learned heuristic, if the agent learns one
    groups: Mapping[str, Cells] = field(default_factory=dict)  # named sets of cells, see GROUP_NAMES
    numbers: Mapping[str, float] = field(default_factory=dict)  # further counters of this algorithm, by name
    waypoints: Cells = field(default_factory=lambda: np.empty(0, np.int32))  # subgoals before the goal, in order
    depths: npt.NDArray[np.uint32] | None = None  # depth of the lookahead per cell; 0: unknown
    contours: npt.NDArray[np.float64] | None = None  # limit on f at which each cell was entered; 0: not yet
    regions: RegionMap | None = None  # regions of the level of the abstraction that the agent works on
    candidates: tuple[Candidate, ...] = ()  # candidates of the last choice of a record, most similar first
    chosen_at: int = -1  # cell where that choice was made
    prepared: tuple[Prepared, ...] = ()  # data computed before the run that the agent uses
    is_stale: bool = False  # whether the map differs from the one that this data was computed on
    target: int = -1  # target of the last move, if that may be a subgoal
    notes: frozenset[str] = frozenset()
    """Notes on the last tick that neither its row nor this view contains, for ui/model/pseudocode.py and why.py."""

    def __post_init__(self) -> None:
        """Replace a search that has not begun by None.

        Such a search has number 0, like all cells that no search has written, so all cells would seem to belong to it.
        """
        if self.search is not None and not self.search.control[0].search:
            object.__setattr__(self, "search", None)


def noted(words: Mapping[int, str], did: int) -> frozenset[str]:
    """Return the notes of a view.

    Args:
        words: note for each bit.
        did: bits that a kernel has set in its last tick.
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
        """Handle a refused move: it was illegal on the true map, and the agent is still on `cell`."""

    @property
    def status(self) -> Status: ...

    def own_counts(self) -> OwnCounts:
        """Return the numbers that only the agent itself can count."""

    def view(self) -> AgentView:
        """Return the state for display."""


class Learner(Agent, Protocol):
    """Agent that learns h and improves from trial to trial (spec.keeps_h)."""

    def begin_trial(self, start: int) -> None:
        """Begin a trial at the start, and keep the learned values."""

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
    is_real_time: bool = True  # whether it obeys the budget of every tick, or a bound of its own, see `needed`
    proves_no_path: bool = True
    is_complete: bool = True  # whether it reaches every reachable goal of a map that does not change
    # Test whether parameters that are offered for comparison make it incomplete.
    may_loop: Callable[[Mapping[str, Value]], bool] = _never_loops
    runs_in_bulk: bool = True  # whether it knows the true map, so that none of its moves can be refused
    is_own: bool = False  # whether it is from a user's file: its map is read-only, and its code may fail
    keeps_h: bool = False  # whether it is a Learner, for which further trials make sense
    converges_to_optimal: bool = True  # for a Learner: whether a trial that changes no h follows a cheapest path
    # Check of a budget with the parameters; returns an error message or None.
    check_budget: Callable[[int, Mapping[str, Value]], str | None] = _accept_any_budget
    needed: Callable[[Mapping[str, Value]], float] = _nothing
    """Maximum of expansions that a tick may make regardless of the budget. Infinity: there is no bound, so with these
    parameters the agent is not real-time. The referee marks ticks with more expansions than the budget."""
    shows: frozenset[str] = frozenset()  # keys of special layers, in addition to the layers of every search
    prepare: Callable[[Problem, Mapping[str, Value], Stopwatch | None], Iterator[Step]] = _no_preparation
    """Iterator that computes in steps the data needed by `make`, see prepared.py. Callers may skip it; then `make`
    computes the data."""

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
    """Algorithms by key. Worlds refer to this table without a copy, so algorithms registered later can join them."""
