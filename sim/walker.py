"""A walker: an agent on the map, with the referee's numbers about it, and what is shown of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from sim.agent_api import PHASE_WORDS, STATUS_WORDS, Agent, AgentSpec, AgentView, Learner, Status
from sim.commands import AgentConfig
from sim.crew import Lately, Seat
from sim.kernels import log, referee
from sim.kernels.jit import Frequent, bare
from sim.kernels.tiled import Table, in_rows
from sim.metrics import Metrics, Trial, TrialCounts
from sim.params import Value
from sim.rules import OFFENCE_WORDS, Offence

CONVERGED_WORD = "converged"
STATE_WORDS = (*PHASE_WORDS.values(), *STATUS_WORDS.values(), CONVERGED_WORD, *OFFENCE_WORDS)
"""What a walker can be said to be, see `state_word`."""

_NO_ROWS = log.new_bare_log(0)
_VIEWS = ("counts", "judge", "_position", "_expansions", "_waits")  # see Walker._look_at_counts


@dataclass
class Walker:
    """An agent on the map, with the referee's numbers about it."""

    id: int
    config: AgentConfig
    spec: AgentSpec
    params: dict[str, Value]
    agent: Agent
    metrics: np.ndarray  # referee.METRICS[1]
    visit_table: Table  # how often the agent stood on each cell
    budget: int | None  # its own, or None for the world's
    joined: int  # tick at which it was put on the map
    start: int
    own_goal: int | None  # None: the world's
    own_optimal: tuple[float, int | None] | None  # cost and moves of the cheapest path between its own ends
    goal_tick: int  # in which its goal was set last
    lately: Lately = field(default_factory=Lately)  # what it has done lately, unless its crew keeps that
    seat: Seat | None = None  # its place in the crew in which it advances, while that keeps what it does
    new_rows: list[np.ndarray] = field(default_factory=list)  # of the advance that is going on
    refusals: int = 0
    offence: Offence | None = None  # why it was stopped
    most_trials: int = 1
    trials: list[Trial] = field(default_factory=list)  # those that came to the goal, the present one included
    trial_began: TrialCounts = field(default_factory=TrialCounts)  # the numbers at the beginning of the present one

    def __post_init__(self) -> None:
        # Agents written in Python name the fields of their rows.
        self.new_log = log.new_bare_log if getattr(self.agent, "takes_bare_rows", False) else log.new_log
        self._look_at_counts()

    def _look_at_counts(self) -> None:
        """Keep views of the counts that cost nothing to take."""
        self.counts = bare((self.metrics, self.visit_table))  # what the referee writes to
        self.judge = Frequent(referee.judge)
        self._position, self._expansions = self.metrics["position"], self.metrics["expansions"]
        self._waits = self.metrics.view(np.ndarray)["waits"]

    def __getstate__(self) -> dict[str, Any]:
        """Without the views: copies of them would not be the same memory any more."""
        self.leave_seat()
        return {name: value for name, value in self.__dict__.items() if name not in _VIEWS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._look_at_counts()

    @property
    def position(self) -> int:
        return int(self._position.item())

    def wait(self, ticks: int) -> None:
        """Count ticks without a move; through a record array this would take 10 us instead of less than 1."""
        self._waits += ticks

    @property
    def expansions(self) -> int:
        return int(self._expansions.item())

    @property
    def visits(self) -> npt.NDArray[np.uint32]:
        """How often it stood on each cell; of one of many a copy."""
        return in_rows(self.visit_table)

    def leave_seat(self) -> None:
        """Keep for itself what its crew has kept so far."""
        if self.seat is not None:
            self.seat.crew.are_seated = False
            self.lately, self.seat = self.seat.lately(), None

    def leave_crew(self) -> None:
        """Go on alone in the middle of an advance: what its crew has kept of it so far are its first rows."""
        if self.seat is not None:
            self.leave_seat()
            self.new_rows = [self.lately.rows] if self.lately.rows.size else []

    @property
    def bare_rows(self) -> np.ndarray:
        """Its rows of the last advance, as kernels write them."""
        return self.lately.rows if self.seat is None else self.seat.rows()

    @property
    def rows(self) -> np.ndarray:
        """The same with the names of their fields."""
        return self.bare_rows.view(np.recarray)

    @property
    def rows_tick(self) -> int:
        """World tick of the first of them."""
        return self.lately.tick if self.seat is None else int(self.seat.crew.row_ticks[self.seat.place])

    @property
    def last_phase(self) -> int:
        return self.lately.phase if self.seat is None else int(self.seat.crew.phases[self.seat.place])

    @property
    def last_budget(self) -> int:
        """The budget of the last row; the present one may be another already."""
        return self.lately.budget if self.seat is None else int(self.seat.crew.budgets[self.seat.place])

    def show_rows(self, rows: np.ndarray, tick: int) -> None:
        """Let these be its rows, the first of them that of `tick`, as after a seek."""
        self.leave_seat()
        self.lately = self.lately._replace(rows=rows, tick=tick)

    @property
    def sums(self) -> tuple[int, int]:
        """Two numbers in which everything is that it has done."""
        record = self.counts[0]
        return int(record["digest_a"][0]), int(record["digest_b"][0])

    @property
    def has_own_ends(self) -> bool:
        """Whether its start or its goal was given to it alone."""
        return self.own_optimal is not None

    @property
    def label(self) -> str:
        return self.config.label or self.spec.name

    @property
    def trial(self) -> int:
        """Number of the present trial, from 1."""
        return self.trial_began.trial

    def trial_counts(self, trial: int) -> TrialCounts:
        """The numbers that are counted by trial, as they are now, for a trial of this number."""
        m = self.metrics[0]
        h_changes = cast(Learner, self.agent).h_changes if self.spec.keeps_h else 0
        names = "ticks", "moves", "expansions", "nonoptimal_moves", "restarts", "over_budget"
        numbers = {name: int(m[name]) for name in names}
        return TrialCounts(trial, float(m.cost), h_changes=h_changes, **numbers)

    @property
    def has_arrived(self) -> bool:
        """Whether it is at the goal, if only until its next trial."""
        return self.agent.status is Status.AT_GOAL

    @property
    def is_converged(self) -> bool:
        """Whether it has learned nothing in the present trial, which is at its end."""
        return self.has_arrived and len(self.trials) == self.trial and self.trials[-1].h_changes == 0

    @property
    def is_done(self) -> bool:
        """Nothing will happen to it unless somebody changes something."""
        status = self.agent.status
        if status is Status.AT_GOAL:
            return self.trial >= self.most_trials or self.is_converged
        return status is not Status.ACTIVE

    def keep_rows(self, rows: np.ndarray, tick: int, budget: int) -> None:
        """The first of an advance are its rows at once: mostly there are no others."""
        lately = self.lately
        first, begin = (lately.rows, lately.tick) if self.new_rows else (rows, tick)
        self.new_rows.append(rows)
        self.lately = Lately(first, begin, rows["phase"].item(-1), budget)

    def put_rows_together(self) -> None:
        """Take in the rows of an advance, once: a long run has thousands of pieces."""
        if self.seat is not None:  # it joined a crew meanwhile
            tick = self.lately.tick
            self.new_rows.append(self.seat.rows())
            self.leave_seat()
            self.lately = self.lately._replace(tick=tick)
        if len(self.new_rows) > 1:
            self.lately = self.lately.with_rows(np.concatenate(self.new_rows))
        self.new_rows = []

    def begin_advance(self) -> None:
        """Forget the rows of the last one; those that a crew keeps it forgets itself."""
        if self.lately.rows.size:
            self.lately = self.lately.with_rows(_NO_ROWS)
        self.new_rows = []

    @property
    def state_word(self) -> str:
        if self.offence is not None:
            return self.offence.word
        if self.most_trials > 1 and self.is_converged:
            return CONVERGED_WORD
        return STATUS_WORDS.get(self.agent.status) or PHASE_WORDS[self.last_phase]


@dataclass(frozen=True)
class WalkerView:
    """A read-only look at one agent, valid until the next tick."""

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
    trials: tuple[Trial, ...] = ()  # those that came to the goal, of an agent that learns h
    is_converged: bool = False  # the last of them taught it nothing
    last_budget: int = 0  # that of the tick of the last row
    start: int = 0
    goal: int = 0
    group: str = ""  # of those that belong together, such as a crowd; "": none
    offence: Offence | None = None  # why it was stopped by the referee
    has_own_ends: bool = False  # its start or goal are not the world's
