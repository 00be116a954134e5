"""Quality measures of one agent's walk, in the terms of the papers. Most are counted by the referee's kernel.

Counts are added up from the first tick on, over all trials. A trial is one walk from start to goal; agents that learn
may make several.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class OwnCounts:
    """Counts of an agent that only the agent itself can keep, not the referee."""

    memory: int = 0  # maximum number of cells that were open or closed at the same time, plus cells with learned h
    database: int = 0  # bytes of the data computed before the run
    climbed: int = 0  # number of steps of hill climbing so far
    max_climbed: int = 0  # maximum number of steps of hill climbing in one tick


@dataclass(frozen=True)
class Metrics:
    """Counts of one agent so far, and the quality measures derived from them."""

    cost: float
    moves: int
    waits: int
    back_moves: int
    bounces: int
    nonoptimal_moves: int | None  # number of non-optimal moves; None: not counted for this agent, or not known
    revisits: int  # moves onto cells visited before: moves + trials - number of distinct cells
    longest_stay: int  # maximum number of visits of one cell
    expansions: int
    max_expansions: int  # maximum number of expansions in one tick
    traced: int  # number of parent pointers followed to make paths
    over_budget: int  # number of ticks with more expansions than the budget; papers disqualify such agents
    restarts: int  # number of searches begun again after a change
    first_move: int | None  # tick of the first move; None: the agent has not moved yet
    twentieth_move: int | None  # tick of the twentieth move; None: the agent has made fewer moves
    cap_hits: int  # number of ticks in which the lookahead had its maximum depth or a climb its maximum length
    reentries: int  # number of ticks in which the agent, on a cell visited before, headed for its goal, not a subgoal
    trial: int  # number of the present trial, from 1; all counts above include the earlier trials
    trial_cost: float  # cost walked in the present trial
    trial_ticks: int  # number of ticks in the present trial
    optimal: float  # cost of the cheapest path from the start, on the map on which the goal was set; infinity: no path
    optimal_moves: int | None  # number of moves of the cheapest path; None: there is no path
    memory: int  # number of cells in the agent's memory, as defined in OwnCounts.memory
    database: int  # bytes of the data computed before the run
    climbed: int
    max_climbed: int
    is_being_measured: bool = False  # whether `nonoptimal_moves` is None only because queued moves are not judged yet

    @property
    def suboptimality(self) -> float | None:
        """Return the ratio: cost walked in the present trial / cost of the cheapest path; None if there is no path."""
        return _cost_ratio(self.trial_cost, self.optimal)

    @property
    def game_time(self) -> float | None:
        """Return the ratio: ticks of the present trial / moves of the cheapest path; None if there is no path."""
        return game_time_ratio(self.trial_ticks, self.optimal_moves)

    @property
    def back_move_share(self) -> float | None:
        """Return the back-moves in percent of all non-optimal moves, as plotted in "Time-Bounded Best-First Search".

        The result is None if there are no non-optimal moves or their number is unknown.
        """
        return 100.0 * self.back_moves / self.nonoptimal_moves if self.nonoptimal_moves else None

    @property
    def mean_expansions(self) -> float | None:
        """Return the mean number of expansions per move; None before the first move."""
        return self.expansions / self.moves if self.moves else None


@dataclass(frozen=True)
class TrialResult:
    """Counts of one walk from start to goal by an agent that keeps its learned values for the next walk."""

    trial_number: int  # ordinal number of the trial, from 1
    cost: float
    ticks: int
    moves: int
    expansions: int
    nonoptimal_moves: int | None
    restarts: int
    over_budget: int
    h_changes: int  # number of changes of learned values; 0: the agent has converged

    def suboptimality(self, optimal: float) -> float | None:
        return _cost_ratio(self.cost, optimal)


@dataclass(frozen=True)
class TrialCounts:
    """Counts of an agent over all of its trials so far, stored when a trial begins or ends."""

    trial_number: int = 1
    cost: float = 0.0
    ticks: int = 0
    moves: int = 0
    expansions: int = 0
    nonoptimal_moves: int = 0
    restarts: int = 0
    over_budget: int = 0
    h_changes: int = 0

    def trial_since_counts(self, began: "TrialCounts", measures: bool) -> TrialResult:
        """Return the counts of one trial, by subtracting the counts at its beginning from the counts at its end.

        Args:
            began: counts at the beginning of the trial; `self` has the counts at its end.
            measures: whether all moves of the trial have been judged as optimal or non-optimal.
        """
        return TrialResult(
            began.trial_number,
            self.cost - began.cost,
            self.ticks - began.ticks,
            self.moves - began.moves,
            self.expansions - began.expansions,
            self.nonoptimal_moves - began.nonoptimal_moves if measures else None,
            self.restarts - began.restarts,
            self.over_budget - began.over_budget,
            self.h_changes - began.h_changes,
        )


def game_time_ratio(ticks: int, moves: int | None) -> float | None:
    """Return the game time, ticks / moves of the cheapest path; None if `moves` is None because there is no path.

    The result is 1.0 for an agent that follows a cheapest path with a move in every tick.
    """
    if moves == 0:
        return 1.0
    return ticks / moves if moves else None


def _cost_ratio(cost: float, optimal: float) -> float | None:
    if optimal == 0.0:
        return 1.0
    return cost / optimal if np.isfinite(optimal) else None


def read_metrics(
    record: Any,
    optimal: tuple[float, int | None],
    measures: bool,
    began: TrialCounts,
    own: OwnCounts,
    is_being_measured: bool = False,
) -> Metrics:
    """Return the quality measures of an agent as plain Python numbers.

    Args:
        record: record of referee.METRICS with the agent's counts.
        optimal: cost and number of moves of the cheapest path.
        measures: whether all moves have been judged as optimal or non-optimal.
        began: counts at the beginning of the present trial.
        own: counts kept by the agent itself.
        is_being_measured: whether moves are queued that will be judged later.
    """
    m = dict(zip(record.dtype.names, record.item(), strict=True))
    return Metrics(
        cost=m["cost"],
        moves=m["moves"],
        waits=m["waits"],
        back_moves=m["back_moves"],
        bounces=m["bounces"],
        nonoptimal_moves=m["nonoptimal_moves"] if measures else None,
        revisits=m["moves"] + began.trial_number - m["distinct"],
        longest_stay=m["longest_stay"],
        expansions=m["expansions"],
        max_expansions=m["max_expansions"],
        traced=m["traced"],
        over_budget=m["over_budget"],
        restarts=m["restarts"],
        first_move=m["first_move"] if m["first_move"] >= 0 else None,
        twentieth_move=m["twentieth_move"] if m["twentieth_move"] >= 0 else None,
        cap_hits=m["cap_hits"],
        reentries=m["reentries"],
        trial=began.trial_number,
        trial_cost=m["cost"] - began.cost,
        trial_ticks=m["ticks"] - began.ticks,
        optimal=optimal[0],
        optimal_moves=optimal[1],
        memory=own.memory,
        database=own.database,
        climbed=own.climbed,
        max_climbed=own.max_climbed,
        is_being_measured=is_being_measured,
    )
