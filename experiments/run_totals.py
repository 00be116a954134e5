"""Running totals over the runs of one setting, for displays that are updated while results arrive."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any


@dataclass
class RunTotals:
    """Sums over the runs of one setting (agent with parameters and budget)."""

    run_count: int = 0  # number of runs added so far
    arrived_count: int = 0  # number of runs that reached the goal
    cost_ratios: list[float] = field(default_factory=list)  # (cost / cheapest cost) of each run that reached the goal
    moves: int = 0
    back_moves: int = 0
    ticks: int = 0
    expansions: int = 0
    max_tick_expansions: int = 0  # maximum number of expansions in one tick of any run
    planning_ms: float = 0.0  # processor time of planning in all runs, in milliseconds

    def add(self, run: Mapping[str, Any]) -> None:
        """Add the results of one run to the totals.

        Args:
            run: The results of the run, by the names of the columns.
        """
        self.run_count += 1
        if run["outcome"] == "reached" and run["suboptimality"] is not None:
            self.arrived_count += 1
            self.cost_ratios.append(run["suboptimality"])
        self.moves += run["moves"]
        self.back_moves += run["back_moves"]
        self.ticks += run["ticks"]
        self.expansions += run["expansions"]
        self.max_tick_expansions = max(self.max_tick_expansions, run["max_expansions"])
        self.planning_ms += run["planning_ms"]

    @property
    def cost(self) -> float:
        """Return the mean of (cost / cheapest cost) over the runs that arrived, or nan if no run arrived."""
        return fmean(self.cost_ratios) if self.cost_ratios else float("nan")

    @property
    def median_cost_ratio(self) -> float:
        """Return the median of (cost / cheapest cost) over the runs that arrived, or nan if no run arrived."""
        return median(self.cost_ratios) if self.cost_ratios else float("nan")

    @property
    def max_cost_ratio(self) -> float:
        """Return the maximum of (cost / cheapest cost) over the runs that arrived, or nan if no run arrived."""
        return max(self.cost_ratios, default=float("nan"))

    @property
    def expansions_per_move(self) -> float:
        """Return the pooled expansions per move: the sum of all expansions divided by the sum of all moves."""
        return self.expansions / max(1, self.moves)

    @property
    def us_per_move(self) -> float:
        """Return the mean processor time of planning per move, in microseconds."""
        return 1000.0 * self.planning_ms / max(1, self.moves)

    @property
    def us_per_tick(self) -> float:
        """Return the mean processor time of planning per tick, in microseconds."""
        return 1000.0 * self.planning_ms / max(1, self.ticks)
