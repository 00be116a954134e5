"""The quality measures of one agent's walk, in the words of the papers. The referee kernel counts them."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Metrics:
    """What the referee has counted of one agent so far."""

    cost: float
    moves: int
    waits: int
    back_moves: int
    bounces: int
    nonoptimal_moves: int | None  # None: not counted in this world
    revisits: int  # moves + 1 - different cells stood on
    longest_stay: int  # most visits of one cell
    expansions: int
    max_expansions: int  # most in one tick
    traced: int
    over_budget: int  # ticks above the budget: the papers disqualify the agent
    restarts: int
    first_move: int | None  # tick of the first move
    optimal: float  # cost of the cheapest path from the start, on the first map; infinity when there is none

    @property
    def suboptimality(self) -> float | None:
        """Cost / optimal, as far as the walk has got; None where that means nothing."""
        if self.optimal == 0.0:
            return 1.0
        return self.cost / self.optimal if np.isfinite(self.optimal) else None

    @property
    def back_move_share(self) -> float | None:
        """Back-moves in percent of non-optimal moves, the ratio plotted in "Time-Bounded Best-First Search"."""
        return 100.0 * self.back_moves / self.nonoptimal_moves if self.nonoptimal_moves else None

    @property
    def mean_expansions(self) -> float | None:
        """Expansions per move."""
        return self.expansions / self.moves if self.moves else None


def read_metrics(record: Any, optimal: float, measures: bool) -> Metrics:
    """The referee's record in plain Python numbers."""
    m = dict(zip(record.dtype.names, record.item(), strict=True))
    return Metrics(
        cost=m["cost"],
        moves=m["moves"],
        waits=m["waits"],
        back_moves=m["back_moves"],
        bounces=m["bounces"],
        nonoptimal_moves=m["nonoptimal_moves"] if measures else None,
        revisits=m["moves"] + 1 - m["distinct"],
        longest_stay=m["longest_stay"],
        expansions=m["expansions"],
        max_expansions=m["max_expansions"],
        traced=m["traced"],
        over_budget=m["over_budget"],
        restarts=m["restarts"],
        first_move=m["first_move"] if m["first_move"] >= 0 else None,
        optimal=optimal,
    )
