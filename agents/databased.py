"""Base classes of agents with data that is computed from the map before the run and becomes stale if the map changes.

"Data" is an abstraction, a database of subgoals or records of solved problems.

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
    """Return the agent parameter `after_change`, which selects what happens to stale data: "fall back" or "rebuild"."""
    return Param(
        "after_change",
        str,
        default,
        "after a map change, work without the prepared data (fall back), or rebuild it, which takes ticks",
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
    """Mixin of agents with prepared data: keeps the data, whether it is stale, and the progress of its rebuild.

    Subclasses implement `run`, `steps`, `prepared` and `_take`.
    """

    problem: Problem
    left = 0.0  # number of expansions that the rebuild of the data still needs; 0: no rebuild is under way

    def use_data(self, grid: Grid, params: Mapping[str, Value]) -> None:
        """Fetch all prepared data for the current map; the constructor of the agent calls this."""
        self._grid, self._after_change = grid, str(params["after_change"])
        self._take()

    def _take(self) -> None:
        """Fetch the prepared data for the current map. Subclasses extend this method by fetching their kind of data."""
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
        if change.has_arcs:  # without a changed arc the data stays valid, and a rebuild under way continues
            self._look_at_map()

    def _look_at_map(self) -> None:
        """Compare the present map with the one of the prepared data; set `is_stale`, and start or stop the rebuild."""
        self.is_stale = not np.array_equal(self.built_on, self._grid.moves)
        is_rebuilt = self.is_stale and self._after_change == "rebuild"
        self.left = float(sum(data.build_expansions for data in self.prepared)) if is_rebuilt else 0.0
        if is_rebuilt and self.problem.watched:
            # Compute in the background, because otherwise the frame in which the rebuild ends would take too long.
            make_ahead(id(self), self.steps(self._grid.copy()))

    @property
    def database_bytes(self) -> int:
        """Return the size of the agent's prepared data in memory, in bytes."""
        return sum(data.bytes for data in self.prepared)

    def steps(self, grid: Grid) -> Iterator[Step]:
        """Return the steps that compute the agent's prepared data for this map."""
        raise NotImplementedError

    def rebuild_rate(self, budget: int) -> float:
        """Return the number of expansions by which one tick advances the rebuild."""
        return float(budget)

    def run(self, budget: int, rows: np.ndarray) -> int:
        """Plan and act with the current prepared data; arguments and result are those of `Agent.advance`."""
        raise NotImplementedError

    def on_new_data(self) -> None:
        """Handle the replacement of stale data by rebuilt data. Subclasses reset the memory that depends on it."""

    def advance(self, budget: int, rows: np.ndarray) -> int:
        """Plan and act for up to len(rows) ticks; start to use rebuilt data after the tick that completes the rebuild.

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
        """Replace the stale data by the rebuilt data, and notify the subclass."""
        self._take()
        self.on_new_data()


class Abstracted(Databased):
    """Mixin of agents whose prepared data is the clique abstraction of the map, or is computed from it."""

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
