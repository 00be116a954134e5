"""Walker: an agent on the map with the referee's counts and its rows, and the read-only view of it for display."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from sim.agent_api import PHASE_WORDS, STATUS_WORDS, Agent, AgentSpec, AgentView, Learner, Status
from sim.commands import AgentConfig
from sim.crew import BatchSlot, RecentRows
from sim.kernels import log, referee
from sim.kernels.jit import CachedDispatch, bare
from sim.kernels.tiled import Table, in_rows
from sim.metrics import Metrics, Trial, TrialCounts
from sim.params import Value
from sim.rules import OFFENCE_WORDS, Violation

CONVERGED_WORD = "converged"
STATE_WORDS = (*PHASE_WORDS.values(), *STATUS_WORDS.values(), CONVERGED_WORD, *OFFENCE_WORDS)
"""All possible values of `Walker.state_word`."""

_NO_ROWS = log.new_bare_log(0)
_VIEWS = ("counts", "judge", "_position", "_expansions", "_waits")  # attributes set by Walker._look_at_counts


@dataclass
class Walker:
    """One agent on the map, with the referee's counts and its recent rows."""

    id: int
    config: AgentConfig
    spec: AgentSpec
    params: dict[str, Value]
    agent: Agent
    metrics: np.ndarray  # referee.METRICS[1]
    visit_table: Table  # number of visits per cell
    budget: int | None  # own budget in expansions per tick; None: the world's
    joined: int  # tick at which it was put on the map
    start: int  # start cell
    own_goal: int | None  # own goal cell; None: the world's
    # Cost and moves of the cheapest path, for a walker with an own start or goal; None: both are the world's.
    own_optimal: tuple[float, int | None] | None
    goal_tick: int  # last tick in which its goal was set
    lately: RecentRows = field(
        default_factory=RecentRows
    )  # rows of the last advance, unless its batch stores them (`seat`)
    seat: BatchSlot | None = None  # its index in a batch while the batch stores its rows, else None
    new_rows: list[np.ndarray] = field(default_factory=list)  # pieces of rows of the present advance
    refusals: int = 0  # moves that the referee has refused
    offence: Violation | None = None  # reason why the referee stopped it
    most_trials: int = 1  # maximum of trials
    trials: list[Trial] = field(default_factory=list)  # trials that reached the goal, the present one included
    trial_began: TrialCounts = field(default_factory=TrialCounts)  # counts at the beginning of the present trial

    def __post_init__(self) -> None:
        # Agents written in Python access the fields of rows by name; kernels are called faster with plain arrays.
        self.new_log = log.new_bare_log if getattr(self.agent, "takes_bare_rows", False) else log.new_log
        self._look_at_counts()

    def _look_at_counts(self) -> None:
        """Create views of single counts, because reading them through `metrics` is slow."""
        self.counts = bare((self.metrics, self.visit_table))  # arrays that the referee's kernel writes
        self.judge = CachedDispatch(referee.judge)
        self._position, self._expansions = self.metrics["position"], self.metrics["expansions"]
        self._waits = self.metrics.view(np.ndarray)["waits"]

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the views: pickled copies of them would no longer share memory with `metrics`."""
        self.leave_seat()
        return {name: value for name, value in self.__dict__.items() if name not in _VIEWS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._look_at_counts()

    @property
    def position(self) -> int:
        return int(self._position.item())

    def wait(self, ticks: int) -> None:
        """Count ticks without a move. Through a record array this would take 10 us instead of less than 1 us."""
        self._waits += ticks

    @property
    def expansions(self) -> int:
        return int(self._expansions.item())

    @property
    def visits(self) -> npt.NDArray[np.uint32]:
        """Return the number of visits per cell. For a member of a group, whose table is in tiles, this is a copy."""
        return in_rows(self.visit_table)

    def leave_seat(self) -> None:
        """Take over from the batch the rows that it has stored for this walker."""
        if self.seat is not None:
            self.seat.crew.are_seated = False
            self.lately, self.seat = self.seat.lately(), None

    def leave_crew(self) -> None:
        """Leave the batch in the middle of an advance; the rows stored there become the first of `new_rows`."""
        if self.seat is not None:
            self.leave_seat()
            self.new_rows = [self.lately.rows] if self.lately.rows.size else []

    @property
    def bare_rows(self) -> np.ndarray:
        """Return the rows of the last advance as a plain array, as kernels write them."""
        return self.lately.rows if self.seat is None else self.seat.rows()

    @property
    def rows(self) -> np.ndarray:
        """Return the rows of the last advance as a record array, whose fields have names."""
        return self.bare_rows.view(np.recarray)

    @property
    def rows_tick(self) -> int:
        """Return the world tick of the first of `rows`."""
        return self.lately.tick if self.seat is None else int(self.seat.crew.row_ticks[self.seat.place])

    @property
    def last_phase(self) -> int:
        """Return the phase of the last row, a constant of sim/kernels/log.py."""
        return self.lately.phase if self.seat is None else int(self.seat.crew.phases[self.seat.place])

    @property
    def last_budget(self) -> int:
        """Return the budget in the tick of the last row; `budget` may have changed since."""
        return self.lately.budget if self.seat is None else int(self.seat.crew.budgets[self.seat.place])

    def show_rows(self, rows: np.ndarray, tick: int) -> None:
        """Replace the rows, for example after a seek. `tick`: world tick of the first of them."""
        self.leave_seat()
        self.lately = self.lately._replace(rows=rows, tick=tick)

    @property
    def sums(self) -> tuple[int, int]:
        """Return the two digest numbers, which depend on everything that the agent has done."""
        record = self.counts[0]
        return int(record["digest_a"][0]), int(record["digest_b"][0])

    @property
    def has_own_ends(self) -> bool:
        """Return whether it has a start or a goal of its own."""
        return self.own_optimal is not None

    @property
    def label(self) -> str:
        """Return the name to show: its label, by default the name of its algorithm."""
        return self.config.label or self.spec.name

    @property
    def trial(self) -> int:
        """Return the number of the present trial, from 1."""
        return self.trial_began.trial

    def trial_counts(self, trial: int) -> TrialCounts:
        """Return the present counts of everything that is counted per trial, labelled with the number `trial`."""
        m = self.metrics[0]
        h_changes = cast(Learner, self.agent).h_changes if self.spec.keeps_h else 0
        names = "ticks", "moves", "expansions", "nonoptimal_moves", "restarts", "over_budget"
        numbers = {name: int(m[name]) for name in names}
        return TrialCounts(trial, float(m.cost), h_changes=h_changes, **numbers)

    @property
    def has_arrived(self) -> bool:
        """Return whether it is at the goal, which may be only until its next trial begins."""
        return self.agent.status is Status.AT_GOAL

    @property
    def is_converged(self) -> bool:
        """Return whether the present trial has ended without a change of a learned value."""
        return self.has_arrived and len(self.trials) == self.trial and self.trials[-1].h_changes == 0

    @property
    def is_done(self) -> bool:
        """Return whether it will not act any more, unless the map, its goal or another setting changes."""
        status = self.agent.status
        if status is Status.AT_GOAL:
            return self.trial >= self.most_trials or self.is_converged
        return status is not Status.ACTIVE

    def keep_rows(self, rows: np.ndarray, tick: int, budget: int) -> None:
        """Append the rows of some ticks to the present advance.

        The first piece becomes `rows` at once, because most advances have only one.

        Args:
            rows: rows written by the agent and judged by the referee.
            tick: world tick of the first row.
            budget: expansions per tick in these ticks.
        """
        lately = self.lately
        first, begin = (lately.rows, lately.tick) if self.new_rows else (rows, tick)
        self.new_rows.append(rows)
        self.lately = RecentRows(first, begin, rows["phase"].item(-1), budget)

    def put_rows_together(self) -> None:
        """Join the pieces of rows, once at the end of an advance, because a long run has thousands of pieces."""
        if self.seat is not None:  # it joined a batch during the advance
            tick = self.lately.tick
            self.new_rows.append(self.seat.rows())
            self.leave_seat()
            self.lately = self.lately._replace(tick=tick)
        if len(self.new_rows) > 1:
            self.lately = self.lately.with_rows(np.concatenate(self.new_rows))
        self.new_rows = []

    def begin_advance(self) -> None:
        """Discard the rows of the last advance, except rows stored in a batch, which discards them itself."""
        if self.lately.rows.size:
            self.lately = self.lately.with_rows(_NO_ROWS)
        self.new_rows = []

    @property
    def state_word(self) -> str:
        """Return one of STATE_WORDS, for what the agent is doing or how it ended."""
        if self.offence is not None:
            return self.offence.word
        if self.most_trials > 1 and self.is_converged:
            return CONVERGED_WORD
        return STATUS_WORDS.get(self.agent.status) or PHASE_WORDS[self.last_phase]


@dataclass(frozen=True)
class WalkerView:
    """Read-only view of one agent, valid until the next tick."""

    id: int
    label: str
    spec: AgentSpec
    params: Mapping[str, Value]
    budget: int
    position: int
    status: Status
    state_word: str
    metrics: Metrics
    visits: npt.NDArray[np.uint32]
    rows: np.ndarray
    rows_tick: int
    agent: AgentView
    most_trials: int = 1
    trials: tuple[Trial, ...] = ()  # trials that reached the goal, of an agent that learns h
    is_converged: bool = False  # whether the last trial ended without a change of a learned value
    last_budget: int = 0  # expansions per tick, in the tick of the last row
    start: int = 0
    goal: int = 0
    group: str = ""  # name of its group, such as a crowd; "": none
    offence: Violation | None = None  # reason why the referee stopped it
    has_own_ends: bool = False  # whether it has a start or a goal of its own
