"""Crowd: all agents of one group together, with their counts in arrays, and the measures of the whole crowd."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.agent_api import Status
from sim.kernels.referee import METRICS
from sim.metrics import Metrics, OwnCounts, TrialCounts, read_metrics
from sim.walker import Walker
from sim.world import World

_MIN_FIELDS = ("first_move", "twentieth_move")
_MAX_FIELDS = ("max_expansions", "longest_stay")
"""Fields of METRICS of which a crowd has the minimum (_MIN_FIELDS) or the maximum (_MAX_FIELDS) over its agents. All
other fields are added up."""

GroupKey = tuple[str, str]
"""Name of a group, and key of the algorithm of its agents."""


def members_by_group(walkers: Iterable[Walker]) -> dict[GroupKey, list[Walker]]:
    """Return a table (group name, algorithm key) -> members of the group. Walkers without a group are left out."""
    groups: dict[GroupKey, list[Walker]] = {}
    for walker in walkers:
        if walker.config.group:
            groups.setdefault((walker.config.group, walker.spec.key), []).append(walker)
    return groups


@dataclass(frozen=True)
class CrowdCounts:
    """Counts, statuses and optimal costs of a crowd at one tick, with one entry per agent in each array."""

    counts_by_agent: npt.NDArray[Any]  # referee.METRICS[agents]: the counts of each agent, such as moves and cost
    agent_statuses: npt.NDArray[np.int8]  # [agents] values of agent_api.Status
    optimal_costs: npt.NDArray[np.float64]  # [agents] cost of the cheapest path from start to goal

    @classmethod
    def from_walkers(cls, world: World, walkers: Sequence[Walker]) -> "CrowdCounts":
        """Return the present counts, statuses and optimal costs of these walkers."""
        return cls(
            np.frombuffer(b"".join([walker.count_arrays[0].tobytes() for walker in walkers]), METRICS),
            np.array([walker.agent.status for walker in walkers], np.int8),
            np.array([world.optimal_cost if w.own_optimum is None else w.own_optimum[0] for w in walkers]),
        )

    @property
    def agent_count(self) -> int:
        """Return the number of agents in the crowd."""
        return int(self.counts_by_agent.size)

    @cached_property
    def cells(self) -> npt.NDArray[np.int32]:
        """Return the cell that each agent occupies."""
        cells: npt.NDArray[np.int32] = self.counts_by_agent["position"].astype(np.int32)
        return cells

    @cached_property
    def arrived_mask(self) -> npt.NDArray[np.bool_]:
        mask: npt.NDArray[np.bool_] = self.agent_statuses == Status.AT_GOAL
        return mask

    @property
    def arrived_count(self) -> int:
        return int(self.arrived_mask.sum())

    @property
    def no_path_count(self) -> int:
        return int((self.agent_statuses == Status.NO_PATH).sum())

    @property
    def stopped_count(self) -> int:
        """Return the number of agents that were stopped by the referee, or gave up without a proof of "no path"."""
        return int((self.agent_statuses == Status.GAVE_UP).sum())

    @cached_property
    def cost_ratios(self) -> npt.NDArray[np.float64]:
        """Return the ratio cost / optimal cost of each agent that has arrived and whose optimal cost is finite."""
        chosen = self.arrived_mask & np.isfinite(self.optimal_costs)
        cost, optimal = self.counts_by_agent["cost"][chosen], self.optimal_costs[chosen]
        found: npt.NDArray[np.float64] = np.where(optimal > 0.0, cost / np.where(optimal > 0.0, optimal, 1.0), 1.0)
        return found

    @property
    def mean_cost_ratio(self) -> float | None:
        return float(self.cost_ratios.mean()) if self.cost_ratios.size else None

    @property
    def median_cost_ratio(self) -> float | None:
        return float(np.median(self.cost_ratios)) if self.cost_ratios.size else None

    @property
    def max_cost_ratio(self) -> float | None:
        return float(self.cost_ratios.max()) if self.cost_ratios.size else None

    def sum_of_count(self, name: str) -> int:
        """Return the sum of a count over all agents. `name`: field of referee.METRICS, such as "moves"."""
        return int(self.counts_by_agent[name].sum())

    def combined_metrics(self) -> Metrics:
        """Return the quality measures of the crowd, combined as if it were one agent.

        Most counts are added up over all agents; of maxima such as max_expansions the maximum is taken, and of first
        ticks such as first_move the minimum. Only cost / optimal is limited to agents that have arrived.
        """
        combined = np.zeros(1, METRICS)
        for name in METRICS.names or ():
            values = self.counts_by_agent[name]
            if name in _MIN_FIELDS:
                values = values[values >= 0]
                combined[name] = values.min() if values.size else -1
            else:
                combined[name] = values.max() if name in _MAX_FIELDS else values.sum()
        arrived = self.arrived_mask
        began = TrialCounts(cost=float(self.counts_by_agent["cost"][~arrived].sum()))
        optimal = float(self.optimal_costs[arrived].sum()) if arrived.any() else float("inf")
        counted = read_metrics(combined[0], (optimal, None), False, began, OwnCounts())
        return replace(counted, revisits=self.sum_of_count("moves") + self.agent_count - self.sum_of_count("distinct"))
