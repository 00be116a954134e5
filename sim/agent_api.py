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
from sim.kernels.learned import LearnedHeuristic
from sim.kernels.search import Search
from sim.kernels.stale import StampedTable
from sim.metrics import OwnCounts
from sim.params import Param, Value
from sim.prepared_data import BuildProgress, PreparedData, Stopwatch

Cells = npt.NDArray[np.int32]


class Status(IntEnum):
    """Status of an agent after a tick: it can still act, or why it cannot."""

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
    log.SHUTTLING: "shuttling",
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


class RecordCandidate(NamedTuple):
    """Record of a solved problem (sim/problem_records.py) similar enough to the present problem."""

    record: int  # index of the record in the database of solved problems
    verdict: str  # result of the check: ACCEPTED, NOT_REACHED, GOAL_NOT_REACHED, LEFT_OUT or UNTRIED


@dataclass(frozen=True)
class Problem:
    """Problem that an agent has to solve. Its grid is shared with the world and changes during the run."""

    grid: Grid
    start: int
    goal: int
    seed: int = 0
    budget: int = 1  # expansions per tick when the agent is created, to check whether its parameters allow this budget
    watched: bool = False  # whether to count expansions per cell and store their order, for drawing
    tile_width: int = 0  # map width in cells if per-cell tables are stored in tiles (kernels/tiled.py); 0: in row order

    @property
    def reuses_memory(self) -> bool:
        """Return whether tables of this agent may reuse the memory of deleted agents (sim/kernels/memory.py).

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
    head: int = 0  # index in `path`; the cells before this index have been walked and no longer count as path
    # Cells of the path that is being traced, in the order of tracing, which begins at the far end of the path.
    tracing: Cells = field(default_factory=lambda: np.empty(0, np.int32))
    detour: Search | None = None  # search for a shortcut to the path
    learned: LearnedHeuristic | None = None  # learned heuristic; None: the agent does not learn h
    groups: Mapping[str, Cells] = field(default_factory=dict)  # name from GROUP_NAMES -> set of cells to show
    numbers: Mapping[str, float] = field(default_factory=dict)  # name -> value of further counters of this algorithm
    waypoints: Cells = field(default_factory=lambda: np.empty(0, np.int32))  # subgoals on the way to the goal, in order
    depths: npt.NDArray[np.uint32] | None = None  # [cells] depth of lookahead to use at each cell; 0: unknown
    contours: npt.NDArray[np.float64] | None = None  # [cells] limit on f when each cell was entered; 0: not entered
    regions: RegionMap | None = None  # regions of the abstraction level on which the agent works
    candidates: tuple[RecordCandidate, ...] = ()  # records considered when a record was last chosen, most similar first
    chosen_at: int = -1  # cell of the agent when a record was last chosen; -1: none has been chosen
    prepared: tuple[PreparedData, ...] = ()  # data that was computed before the run and that the agent uses
    is_stale: bool = False  # whether the map has changed since the data in `prepared` was computed
    target: int = -1  # for agents with subgoals: cell that the last move headed for; -1: none
    notes: frozenset[str] = frozenset()
    """Words for events of the last tick that neither its row nor the rest of this view contains. The window uses them
    to show the current line of the pseudocode and the reason of a move (pseudocode.py and move_explanation.py)."""

    def __post_init__(self) -> None:
        """Replace a search that has not begun by None, because all cells would seem to belong to it.

        Records of cells contain the number of the search that wrote them. A search that has not begun has number 0, and
        so have all unwritten records.
        """
        if self.search is not None and not self.search.control[0].search:
            object.__setattr__(self, "search", None)


def event_words(words: Mapping[int, str], did: int) -> frozenset[str]:
    """Return the words for events of the last tick, for `AgentView.notes`.

    Args:
        words: bit of an event -> word for the event.
        did: bit mask of the events of the last tick, as set by a kernel.
    """
    return frozenset(word for mark, word in words.items() if did & mark)


class Agent(Protocol):
    """Interface that every agent implements. `tests/test_contract.py` checks it for every registered agent."""

    def advance(self, budget: int, rows: np.ndarray) -> int:
        """Plan and act for up to len(rows) ticks, and report each tick in one row.

        Args:
            budget: maximum number of expansions per tick.
            rows: one log.ROW per tick, to be filled in. Fields have names, as in `rows[0].cell`, unless the agent
                sets `takes_plain_rows`.

        Returns:
            The number of ticks done. It may be less than len(rows) only if the agent is no longer ACTIVE.
        """

    def on_change(self, change: MapChange) -> None:
        """Handle a map change. The world calls this method before the agent plans on the changed map."""

    def set_goal(self, goal: int) -> None:
        """Replace the goal; the agent heads for the new goal from now on."""

    def set_param(self, name: str, value: Value) -> None:
        """Change a parameter during the run. `value` has been checked, so it is legal."""

    def refused(self, cell: int) -> None:
        """Handle a refused move: the last move was illegal on the true map, so the agent is still on `cell`."""

    @property
    def status(self) -> Status: ...

    def own_counts(self) -> OwnCounts:
        """Return the counts that only the agent itself can keep, such as its memory in cells."""

    def view(self) -> AgentView:
        """Return the state of the agent for display."""

    # The members below serve speed. `AgentDefaults` has them for agents that need nothing special.

    @property
    def takes_plain_rows(self) -> bool:
        """Return whether `advance` gets rows as plain structured arrays, which is faster (jit.as_plain_arrays)."""

    def materialize_view(self) -> None:
        """Compute everything that `view` computes lazily, so that calls of `view` write nothing until the next tick."""

    def generation_tables(self) -> Iterator[StampedTable]:
        """Return tables in which most entries are invalid, so that saved states can leave those entries out."""

    def as_batchable(self) -> "Batchable | None":
        """Return the interface by which a batch advances the agent together with others; None: there is none."""


class AgentDefaults:
    """Base class of agents that need nothing special for speed."""

    takes_plain_rows = False

    def materialize_view(self) -> None:
        """Do nothing: every call of `view` computes a new view and writes nothing."""

    def generation_tables(self) -> Iterator[StampedTable]:
        return iter(())

    def as_batchable(self) -> "Batchable | None":
        return None


class Batchable(Protocol):
    """Interface of agents of one kind that one kernel call can advance together (sim/batching/agent_batch.py)."""

    @property
    def batch_kernel(self) -> Any:
        """Return the kernel that advances agents of this kind together, see sim/kernels/batch.py."""

    @property
    def batch_map_change_kernel(self) -> Any:
        """Return the kernel that applies a map change to agents of this kind; None: call `on_change` of each agent."""

    def batch_arguments(self) -> tuple[Any, ...]:
        """Return this agent's arguments of the batch kernel: all arguments except the ground, which is shared."""

    def plain_kernel_arguments(self) -> tuple[Any, ...]:
        """Return all arrays of the agent as plain arrays. The same tuple is returned until an array is replaced."""


class Learner(Agent, Protocol):
    """Agent that learns h and improves from trial to trial; its spec sets `keeps_h`."""

    def begin_trial(self, start: int) -> None:
        """Begin the next trial (walk to the goal) on the cell `start`, with the learned values of earlier trials."""

    @property
    def h_changes(self) -> int:
        """Return how many times learned values have changed so far; the number never decreases."""


def _accept_any_budget(budget: int, params: Mapping[str, Value]) -> str | None:
    """Accept every budget. This is not a lambda, because lambdas cannot be pickled."""
    return None


def _needs_no_expansions(params: Mapping[str, Value]) -> float:
    return 0


def _never_loops(params: Mapping[str, Value]) -> bool:
    return False


def _no_preparation(
    problem: Problem, params: Mapping[str, Value], stopwatch: Stopwatch | None
) -> Iterator[BuildProgress]:
    return iter(())


@dataclass(frozen=True)
class AgentSpec:
    """Declaration of one algorithm, from which its panel, scenario keys, command line, index and tests are derived."""

    key: str
    name: str
    paper: str
    summary: str  # description of the algorithm in one sentence, for menus and the index of agents
    make: Callable[[Problem, Mapping[str, Value]], Agent]
    params: tuple[Param, ...] = ()
    family: str = "time-bounded"
    is_real_time: bool = True  # whether the expansions in a tick have a limit: the budget, or the value of `needed`
    proves_no_path: bool = True  # whether the algorithm can prove that there is no path to the goal
    is_complete: bool = True  # whether the algorithm reaches every reachable goal of a map that does not change
    # Function: returns whether the algorithm is incomplete with these parameters, which are offered for comparison.
    may_loop: Callable[[Mapping[str, Value]], bool] = _never_loops
    # Whether one call may cover many ticks, because the agent knows the true map, so that no move can be refused.
    runs_in_bulk: bool = True
    is_own: bool = False  # whether the agent is from a user's file: its map is read-only, and its code may fail
    keeps_h: bool = False  # whether the agent learns h (is a Learner), so that further trials make sense
    converges_to_optimal: bool = True  # for a Learner: whether a trial that changes no h follows a cheapest path
    # Function: returns an error message if the algorithm cannot work with this budget and these parameters, else None.
    check_budget: Callable[[int, Mapping[str, Value]], str | None] = _accept_any_budget
    needed: Callable[[Mapping[str, Value]], float] = _needs_no_expansions
    """Number of expansions that the algorithm may make in a tick even if the budget is smaller, for some parameters.
    Infinity: there is no limit, so with these parameters the agent is not real-time. The referee marks ticks with more
    expansions than the budget."""
    # Keys of the layers (drawings over the map) that only this algorithm has, in addition to those of every search.
    shows: frozenset[str] = frozenset()
    prepare: Callable[[Problem, Mapping[str, Value], Stopwatch | None], Iterator[BuildProgress]] = _no_preparation
    """Function that returns an iterator, which computes the data that `make` needs in steps (prepared.py). Callers may
    skip it; then `make` computes the data."""

    # Parameter values, one entry per setting, with which `advise` tries the algorithm for use in games.
    advised_settings: tuple[Mapping[str, Value], ...] = field(default=(), hash=False)

    @property
    def has_data(self) -> bool:
        """Return whether the algorithm needs data that is computed before the run."""
        return self.prepare is not _no_preparation

    def param(self, name: str) -> Param | None:
        """Return the parameter with this name, or None if the algorithm has no such parameter."""
        return next((p for p in self.params if p.name == name), None)

    def describe(self) -> dict[str, Any]:
        """Return the declaration of this algorithm as plain data, for the output of `agents --json`."""
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
            "params": [p.declaration_data() for p in self.params],
        }


class AgentSpecTable(dict[str, AgentSpec]):
    """Algorithms by key. Worlds share this table instead of copying it, so algorithms can be added during a run."""
