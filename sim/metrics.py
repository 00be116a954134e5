"""The quality measures of one agent's walk, in the words of the papers. The referee kernel counts them."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class OwnCounts:
    """What an agent says of itself, since nobody else can count it."""

    memory: int = 0  # cells that it keeps something of, see Measure "memory"
    database: int = 0  # bytes of the data computed before the run
    climbed: int = 0  # steps of hill climbing
    max_climbed: int = 0  # most of them in one tick


@dataclass(frozen=True)
class Metrics:
    """What the referee has counted of one agent so far."""

    cost: float
    moves: int
    waits: int
    back_moves: int
    bounces: int
    nonoptimal_moves: int | None  # None: not counted in this world
    revisits: int  # moves + trials - different cells stood on
    longest_stay: int  # most visits of one cell
    expansions: int
    max_expansions: int  # most in one tick
    traced: int
    over_budget: int  # ticks above the budget: the papers disqualify the agent
    restarts: int
    first_move: int | None  # tick of the first move
    twentieth_move: int | None
    cap_hits: int
    reentries: int
    trial: int  # number of the present trial, from 1; all above counts from the first one on
    trial_cost: float  # cost walked in the present trial
    trial_ticks: int
    optimal: float  # cost of the cheapest path from the start, on the map on which the goal was set; infinity: none
    optimal_moves: int | None  # its moves; None: there is no path
    memory: int
    database: int
    climbed: int
    max_climbed: int
    is_being_measured: bool = False  # whether moves wait to be judged as optimal or not: the number is coming

    @property
    def suboptimality(self) -> float | None:
        """Cost / optimal, as far as the present trial has got; None where that means nothing."""
        return _ratio(self.trial_cost, self.optimal)

    @property
    def game_time(self) -> float | None:
        """Ticks / moves of the cheapest path, as far as the present trial has got; None where that means nothing."""
        return time_ratio(self.trial_ticks, self.optimal_moves)

    @property
    def back_move_share(self) -> float | None:
        """Back-moves in percent of non-optimal moves, the ratio plotted in "Time-Bounded Best-First Search"."""
        return 100.0 * self.back_moves / self.nonoptimal_moves if self.nonoptimal_moves else None

    @property
    def mean_expansions(self) -> float | None:
        """Expansions per move."""
        return self.expansions / self.moves if self.moves else None


@dataclass(frozen=True)
class Trial:
    """One walk from the start to the goal by an agent that keeps what it learned for the next."""

    number: int  # from 1
    cost: float
    ticks: int
    moves: int
    expansions: int
    nonoptimal_moves: int | None
    restarts: int
    over_budget: int
    h_changes: int  # learned values that changed; 0: converged

    def suboptimality(self, optimal: float) -> float | None:
        return _ratio(self.cost, optimal)


@dataclass(frozen=True)
class TrialCounts:
    """The referee's numbers at the beginning of a trial."""

    trial: int = 1
    cost: float = 0.0
    ticks: int = 0
    moves: int = 0
    expansions: int = 0
    nonoptimal_moves: int = 0
    restarts: int = 0
    over_budget: int = 0
    h_changes: int = 0

    def since(self, began: "TrialCounts", measures: bool) -> Trial:
        """The trial that began with those numbers and has these now."""
        return Trial(
            began.trial,
            self.cost - began.cost,
            self.ticks - began.ticks,
            self.moves - began.moves,
            self.expansions - began.expansions,
            self.nonoptimal_moves - began.nonoptimal_moves if measures else None,
            self.restarts - began.restarts,
            self.over_budget - began.over_budget,
            self.h_changes - began.h_changes,
        )


def time_ratio(ticks: int, moves: int | None) -> float | None:
    """Game time: 1.0 for an agent that walks a cheapest path from the first tick on."""
    if moves == 0:
        return 1.0
    return ticks / moves if moves else None


def _ratio(cost: float, optimal: float) -> float | None:
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
    """The referee's record in plain Python numbers, and what the agent says of itself.

    `optimal`: cost and moves of the cheapest path. `measures`: whether all moves have been judged by it, and
    `is_being_measured` whether they will be. `began`: the numbers at the beginning of the present trial.
    """
    m = dict(zip(record.dtype.names, record.item(), strict=True))
    return Metrics(
        cost=m["cost"],
        moves=m["moves"],
        waits=m["waits"],
        back_moves=m["back_moves"],
        bounces=m["bounces"],
        nonoptimal_moves=m["nonoptimal_moves"] if measures else None,
        revisits=m["moves"] + began.trial - m["distinct"],
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
        trial=began.trial,
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
