"""Walker: an agent on the map, with its counts and log rows.

The counts (referee.METRICS) are numbers that the referee adds up for each agent, such as moves, cost and expansions. A
log row, or row, is the record (log.ROW) of what the agent did in one tick (log_rows.py).
"""

from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from sim.agent_api import PHASE_WORDS, STATUS_WORDS, Agent, AgentSpec, Learner, Status
from sim.jit.decorators import as_plain_arrays, without_type_checks
from sim.kernels import log, referee
from sim.kernels.tiled import Table, table_in_row_order
from sim.log_rows import RecentRows, UnbatchedRows
from sim.metrics import TrialCounts, TrialResult
from sim.params import Value
from sim.referee_rules import VIOLATION_WORDS, Violation
from sim.world_commands import AgentConfig

CONVERGED_WORD = "converged"
STATE_WORDS = (*PHASE_WORDS.values(), *STATUS_WORDS.values(), CONVERGED_WORD, *VIOLATION_WORDS)
"""All possible values of `Walker.state_word`."""

_UNPICKLED_ATTRIBUTES = ("count_arrays", "judge_kernel", "_position_view", "_expansions_view", "_waits_view")
"""Names of the attributes that `Walker._create_count_views` sets. These attributes are not pickled."""


@dataclass
class Walker:
    """Agent on the map, with its counts and with the log rows that it wrote in the last call of `World.advance`."""

    id: int
    config: AgentConfig
    spec: AgentSpec
    params: dict[str, Value]
    agent: Agent
    counts_record: np.ndarray  # referee.METRICS[1]: record of the counts, written by the referee
    visit_table: Table  # number of visits of each cell by this agent
    budget: int | None  # own budget in expansions per tick; None: the agent uses the world's budget
    added_tick: int  # tick at which the agent was added to the world
    start: int  # start cell
    own_goal: int | None  # own goal cell; None: the agent uses the world's shared goal
    # Cost and moves of the cheapest path from start to goal; None: the agent uses the shared start and goal.
    own_optimum: tuple[float, int | None] | None
    goal_tick: int  # tick in which the goal of this agent was last set
    # Log rows of the last advance, and facts about the last row. They depend on the number of ticks of that advance.
    recent_rows: RecentRows = field(default_factory=UnbatchedRows, compare=False)
    refused_moves: int = 0  # number of moves that the referee has refused
    violation: Violation | None = None  # reason why the referee stopped the agent; None: it was not stopped
    max_trials: int = 1  # maximum number of trials (walks from start to goal)
    trials: list[TrialResult] = field(default_factory=list)  # finished trials, in order: walks that reached the goal
    trial_start_counts: TrialCounts = field(default_factory=TrialCounts)  # counts at the beginning of the present trial

    def __post_init__(self) -> None:
        # Agents written in Python read fields like rows.cell, which needs record arrays. Plain arrays are faster.
        self.new_log_rows = log.new_plain_tick_log if self.agent.takes_plain_rows else log.new_tick_log
        self._create_count_views()

    def _create_count_views(self) -> None:
        """Create numpy views of single counts in `counts_record`, because reading through the record is slow."""
        # Plain arrays for kernels, which share memory with `counts_record` and `visit_table`.
        self.count_arrays = as_plain_arrays((self.counts_record, self.visit_table))
        self.judge_kernel = without_type_checks(referee.judge_log_rows)
        self._position_view, self._expansions_view = self.counts_record["position"], self.counts_record["expansions"]
        self._waits_view = self.counts_record.view(np.ndarray)["waits"]

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle, without views of the counts, which would become separate copies."""
        state = {name: value for name, value in self.__dict__.items() if name not in _UNPICKLED_ATTRIBUTES}
        recent = self.recent_rows
        return {**state, "recent_rows": UnbatchedRows(recent.rows, recent.tick, recent.phase, recent.last_budget)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._create_count_views()

    @property
    def position(self) -> int:
        return int(self._position_view.item())

    def count_waits(self, ticks: int) -> None:
        """Add `ticks` to the number of ticks in which the agent waited.

        Through a view of this count, the addition takes less than 1 us; through the record array it would take 10 us.
        """
        self._waits_view += ticks

    @property
    def expansions(self) -> int:
        return int(self._expansions_view.item())

    @property
    def visit_counts(self) -> npt.NDArray[np.uint32]:
        """Return the number of visits of each cell. If the table is stored in tiles, the returned array is a copy."""
        return table_in_row_order(self.visit_table)

    def take_unbatched_rows(self) -> UnbatchedRows:
        """Return the log rows of the last advance as rows that belong to this walker alone, from now on."""
        own = self.recent_rows.as_unbatched_rows()
        self.recent_rows = own
        return own

    @property
    def log_rows(self) -> np.ndarray:
        """Return the log rows of the last advance as a record array, whose fields can be read like `log_rows.cell`."""
        return self.recent_rows.rows.view(np.recarray)

    def replace_log_rows(self, rows: np.ndarray, tick: int) -> None:
        """Replace the log rows of the last advance, for example after a seek. `tick`: world tick of the first row."""
        own = self.take_unbatched_rows()
        own.rows, own.tick, own.row_arrays = rows, tick, []

    @property
    def digest_halves(self) -> tuple[int, int]:
        """Return the two numbers that make up the digest of everything that the agent has done."""
        record = self.count_arrays[0]
        return int(record["digest_a"][0]), int(record["digest_b"][0])

    def goal(self, shared_goal: int) -> int:
        """Return the cell of the walker's goal: its own goal, or else the goal that all other agents share."""
        return shared_goal if self.own_goal is None else self.own_goal

    @property
    def has_own_start_or_goal(self) -> bool:
        """Return whether the walker has a start or a goal of its own."""
        return self.own_optimum is not None

    @property
    def label(self) -> str:
        """Return the name to show for the agent: the label in its configuration, or else the name of its algorithm."""
        return self.config.label or self.spec.name

    @property
    def trial_number(self) -> int:
        """Return the number of the present trial; the first trial has number 1."""
        return self.trial_start_counts.trial_number

    def current_trial_counts(self, trial: int) -> TrialCounts:
        """Return the present counts that describe trials, such as moves. `trial`: number to store with the counts."""
        m = self.counts_record[0]
        h_changes = cast(Learner, self.agent).h_changes if self.spec.keeps_h else 0
        names = "ticks", "moves", "expansions", "nonoptimal_moves", "restarts", "over_budget"
        numbers = {name: int(m[name]) for name in names}
        return TrialCounts(trial, float(m.cost), h_changes=h_changes, **numbers)

    @property
    def has_arrived(self) -> bool:
        """Return whether the agent is at its goal. If trials remain, it starts the next trial in its next tick."""
        return self.agent.status is Status.AT_GOAL

    @property
    def is_converged(self) -> bool:
        """Return whether the agent has reached the goal in this trial without changing any learned value."""
        return self.has_arrived and len(self.trials) == self.trial_number and self.trials[-1].h_changes == 0

    @property
    def is_done(self) -> bool:
        """Return whether the agent has finished: it acts again only after a change of map, goal or settings."""
        status = self.agent.status
        if status is Status.AT_GOAL:
            return self.trial_number >= self.max_trials or self.is_converged
        return status is not Status.ACTIVE

    @property
    def state_word(self) -> str:
        """Return the word to show for the state of the agent, such as searching or arrived; one of STATE_WORDS."""
        if self.violation is not None:
            return self.violation.state_word
        if self.max_trials > 1 and self.is_converged:
            return CONVERGED_WORD
        return STATUS_WORDS.get(self.agent.status) or PHASE_WORDS[self.recent_rows.phase]
