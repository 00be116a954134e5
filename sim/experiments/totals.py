"""What the runs of one setting come to: added up one after the other, for whoever shows results as they come."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Any


@dataclass
class Totals:
    """Sums over all runs. Cost is a mean over those that arrived: of the others nobody knows it."""

    runs: int = 0
    arrived: int = 0
    ratios: list[float] = field(default_factory=list)  # cost / optimal of each that arrived
    moves: int = 0
    back_moves: int = 0
    ticks: int = 0
    expansions: int = 0
    most: int = 0  # expansions in the largest tick
    planning_ms: float = 0.0

    def add(self, run: Mapping[str, Any]) -> None:
        """Take in a run, by the columns of results."""
        self.runs += 1
        if run["outcome"] == "reached" and run["suboptimality"] is not None:
            self.arrived += 1
            self.ratios.append(run["suboptimality"])
        self.moves += run["moves"]
        self.back_moves += run["back_moves"]
        self.ticks += run["ticks"]
        self.expansions += run["expansions"]
        self.most = max(self.most, run["max_expansions"])
        self.planning_ms += run["planning_ms"]

    @property
    def cost(self) -> float:
        """Mean of cost / optimal; nan where none arrived."""
        return fmean(self.ratios) if self.ratios else float("nan")

    @property
    def median_cost(self) -> float:
        """Median of cost / optimal; nan where none arrived."""
        return median(self.ratios) if self.ratios else float("nan")

    @property
    def largest_cost(self) -> float:
        """Maximum of cost / optimal; nan where none arrived."""
        return max(self.ratios, default=float("nan"))

    @property
    def work(self) -> float:
        """Expansions a move, pooled: all expansions divided by all moves."""
        return self.expansions / max(1, self.moves)

    @property
    def move_us(self) -> float:
        """Mean processor time of planning for each move."""
        return 1000.0 * self.planning_ms / max(1, self.moves)

    @property
    def tick_us(self) -> float:
        """Mean processor time of a tick."""
        return 1000.0 * self.planning_ms / max(1, self.ticks)
