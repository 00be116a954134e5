"""Base classes of agents with prepared data, and their behaviour after a change of the map.

A change makes the data stale. With `after_change: fall back` the agent works without the data until the map is again
equal to the map for which the data was computed. With `rebuild` the data is recomputed, which takes (expansions of the
computation / budget) ticks, in addition to the agent's own work in these ticks. Another change restarts the rebuild.
"""

from collections.abc import Iterator, Mapping
from math import ceil, inf
from typing import Any

import numpy as np

from sim.abstraction import RECIPE
from sim.agent_api import Problem
from sim.grid import Grid, MapChange
from sim.params import Param, Value
from sim.prepared import Prepared, Step, Stopwatch, fetch, make_ahead, obtain


def after_change(default: str) -> Param:
    """Return the parameter `after_change`: "fall back" or "rebuild"."""
    return Param(
        "after_change",
        str,
        default,
        "on another map than that of the data, do without the data, or rebuild it, which takes its ticks",
        choices=("fall back", "rebuild"),
    )


def prepare_abstraction(problem: Problem, params: Mapping[str, Value], stopwatch: Stopwatch | None) -> Iterator[Step]:
    """Compute the clique abstraction of the map, in steps (see `AgentSpec.prepare`).

    Args:
        problem: Problem of the agent.
        params: Parameters of the agent; not used.
        stopwatch: Clock that measures the time of the computation; None: the time is not measured.
    """
    return obtain(RECIPE, problem.grid, stopwatch)


class Databased:
    """Mixin with prepared data, a flag whether it is stale, and the progress of its rebuild.

    Subclasses implement `run`, `steps`, `prepared` and `_take`.
    """

    problem: Problem
    left = 0.0  # expansions that the rebuild of the data still needs; 0: nothing is being rebuilt

    def use_data(self, grid: Grid, params: Mapping[str, Value]) -> None:
        """Fetch all data for the current map; called in the constructor of the agent."""
        self._grid, self._after_change = grid, str(params["after_change"])
        self._take()

    def _take(self) -> None:
        """Fetch the data for the current map. Subclasses extend this method by their kind of data."""
        self.left = 0.0
        self.built_on = self._grid.moves.copy()
        self.is_stale = False

    @property
    def prepared(self) -> tuple[Prepared, ...]:
        raise NotImplementedError

    def choose_after_change(self, choice: Value) -> None:
        """Apply a change of the parameter `after_change` during the run."""
        self._after_change = str(choice)
        self._look_at_map()

    def look_at_change(self, change: MapChange) -> None:
        """Handle a change of the map: mark the data as stale or valid again."""
        if change.has_arcs:  # otherwise the data stays valid, and a rebuild continues
            self._look_at_map()

    def _look_at_map(self) -> None:
        """Compare the present map with the map of the data; update `is_stale`, and start or stop the rebuild."""
        self.is_stale = not np.array_equal(self.built_on, self._grid.moves)
        is_rebuilt = self.is_stale and self._after_change == "rebuild"
        self.left = float(sum(data.build_expansions for data in self.prepared)) if is_rebuilt else 0.0
        if is_rebuilt and self.problem.watched:
            # compute in the background, because otherwise the frame in which the rebuild is due would take too long
            make_ahead(id(self), self.steps(self._grid.copy()))

    @property
    def database_bytes(self) -> int:
        """Return the size of the data in memory, in bytes."""
        return sum(data.bytes for data in self.prepared)

    def steps(self, grid: Grid) -> Iterator[Step]:
        """Return the steps that compute the data for this map."""
        raise NotImplementedError

    def rebuild_rate(self, budget: int) -> float:
        """Return the number of expansions by which one tick advances the rebuild."""
        return float(budget)

    def run(self, budget: int, rows: np.ndarray) -> int:
        """Plan and act with the current data; arguments and result as for `Agent.advance`."""
        raise NotImplementedError

    def on_new_data(self) -> None:
        """Handle the replacement of the data by rebuilt data."""

    def advance(self, budget: int, rows: np.ndarray) -> int:
        """Plan and act for up to len(rows) ticks; take over rebuilt data after the tick that completes it.

        Returns:
            The number of ticks done, as for `Agent.advance`.
        """
        done, rate = 0, self.rebuild_rate(budget)
        while done < rows.size:
            if self.left > 0.0 and rate == inf:
                self._renew()
            ticks = rows.size - done
            if self.left > 0.0:
                ticks = min(ticks, ceil(self.left / rate))
            passed = self.run(budget, rows[done : done + ticks])
            done += passed
            if 0.0 < self.left <= rate * passed:
                self._renew()
            elif self.left > 0.0:
                self.left -= rate * passed
            if passed < ticks:
                break
        return done

    def _renew(self) -> None:
        """Replace stale data by the rebuilt data."""
        self._take()
        self.on_new_data()


class Abstracted(Databased):
    """Agent whose data is, or is computed from, the clique abstraction of the map."""

    def _take(self) -> None:
        super()._take()
        self.abstraction = fetch(RECIPE, self._grid)

    def steps(self, grid: Grid) -> Iterator[Step]:
        return obtain(RECIPE, grid)

    @property
    def levels(self) -> Any:
        return self.abstraction.tables

    @property
    def prepared(self) -> tuple[Prepared, ...]:
        return (self.abstraction,)
