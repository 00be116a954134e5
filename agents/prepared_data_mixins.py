"""Base classes of agents with data that is computed from the map before the run and becomes stale if the map changes.

"Data" is an abstraction, a database of subgoals or records of solved problems.

A change makes the data stale. With `after_change_param: fall back` the agent works without the data until the map is
again equal to the map for which the data was computed. With `rebuild` the data is recomputed, which takes (expansions
of the computation / budget) ticks, in addition to the agent's own work in these ticks. Another change restarts the
rebuild.
"""

from collections.abc import Iterator, Mapping
from math import ceil, inf
from typing import Any

import numpy as np

from sim.abstraction import ABSTRACTION_RECIPE
from sim.agent_api import Problem
from sim.grid import Grid, MapChange
from sim.params import Param, Value
from sim.prepared_data import BuildProgress, PreparedData, Stopwatch, fetch_data, iter_fetch_data, prefetch_data


def after_change_param(default: str) -> Param:
    """Return the agent parameter that selects what happens to stale data: "fall back" or "rebuild"."""
    return Param(
        "after_change",
        str,
        default,
        "after a map change, work without the prepared data (fall back), or rebuild it, which takes ticks",
        choices=("fall back", "rebuild"),
    )


def prepare_abstraction(
    problem: Problem, params: Mapping[str, Value], stopwatch: Stopwatch | None
) -> Iterator[BuildProgress]:
    """Compute the clique abstraction of the map, in steps (see `AgentSpec.prepare`).

    Args:
        problem: Problem of the agent.
        params: Parameters of the agent; not used.
        stopwatch: Clock that measures the time of the computation; None: the time is not measured.
    """
    return iter_fetch_data(ABSTRACTION_RECIPE, problem.grid, stopwatch)


class PreparedDataMixin:
    """Mixin of agents with prepared data: keeps the data, whether it is stale, and the progress of its rebuild.

    Subclasses implement `run_with_data`, `steps`, `prepared_data` and `_fetch_prepared_data`.
    """

    problem: Problem
    # Number of expansions that the rebuild of the data still needs; 0: no rebuild is under way.
    rebuild_expansions_left = 0.0

    def fetch_initial_data(self, grid: Grid, params: Mapping[str, Value]) -> None:
        """Fetch all prepared data for the current map; the constructor of the agent calls this."""
        self._present_grid, self._after_change_policy = grid, str(params["after_change"])
        self._fetch_prepared_data()

    def _fetch_prepared_data(self) -> None:
        """Fetch the prepared data for the current map. Subclasses extend this method by fetching their kind of data."""
        self.rebuild_expansions_left = 0.0
        self.moves_of_prepared_data = self._present_grid.moves.copy()
        self.is_stale = False

    @property
    def prepared_data(self) -> tuple[PreparedData, ...]:
        raise NotImplementedError

    def set_after_change_policy(self, choice: Value) -> None:
        """Apply a change of the parameter `after_change_param` during the run."""
        self._after_change_policy = str(choice)
        self._update_staleness()

    def update_data_after_change(self, change: MapChange) -> None:
        """Handle a change of the map: mark the data as stale or valid again."""
        if change.has_changed_arcs:  # without a changed arc the data stays valid, and a rebuild under way continues
            self._update_staleness()

    def _update_staleness(self) -> None:
        """Compare the present map with the one of the prepared data; set `is_stale`, and start or stop the rebuild."""
        self.is_stale = not np.array_equal(self.moves_of_prepared_data, self._present_grid.moves)
        is_rebuilt = self.is_stale and self._after_change_policy == "rebuild"
        self.rebuild_expansions_left = (
            float(sum(data.build_expansions for data in self.prepared_data)) if is_rebuilt else 0.0
        )
        if is_rebuilt and self.problem.watched:
            # Compute in the background, because otherwise the frame in which the rebuild ends would take too long.
            prefetch_data(id(self), self.steps(self._present_grid.copy()))

    @property
    def database_bytes(self) -> int:
        """Return the size of the agent's prepared data in memory, in bytes."""
        return sum(data.size_in_bytes for data in self.prepared_data)

    def steps(self, grid: Grid) -> Iterator[BuildProgress]:
        """Return the steps that compute the agent's prepared data for this map."""
        raise NotImplementedError

    def rebuild_expansions_per_tick(self, budget: int) -> float:
        """Return the number of expansions by which one tick advances the rebuild."""
        return float(budget)

    def run_with_data(self, budget: int, rows: np.ndarray) -> int:
        """Plan and act with the current prepared data; arguments and result are those of `Agent.advance`."""
        raise NotImplementedError

    def on_rebuilt_data(self) -> None:
        """Handle the replacement of stale data by rebuilt data. Subclasses reset the memory that depends on it."""

    def advance(self, budget: int, rows: np.ndarray) -> int:
        """Plan and act for up to len(rows) ticks; start to use rebuilt data after the tick that completes the rebuild.

        Returns:
            The number of ticks done, as for `Agent.advance`.
        """
        done, rate = 0, self.rebuild_expansions_per_tick(budget)
        while done < rows.size:
            if self.rebuild_expansions_left > 0.0 and rate == inf:
                self._switch_to_rebuilt_data()
            ticks = rows.size - done
            if self.rebuild_expansions_left > 0.0:
                ticks = min(ticks, ceil(self.rebuild_expansions_left / rate))
            passed = self.run_with_data(budget, rows[done : done + ticks])
            done += passed
            if 0.0 < self.rebuild_expansions_left <= rate * passed:
                self._switch_to_rebuilt_data()
            elif self.rebuild_expansions_left > 0.0:
                self.rebuild_expansions_left -= rate * passed
            if passed < ticks:
                break
        return done

    def _switch_to_rebuilt_data(self) -> None:
        """Replace the stale data by the rebuilt data, and notify the subclass."""
        self._fetch_prepared_data()
        self.on_rebuilt_data()


class AbstractionMixin(PreparedDataMixin):
    """Mixin of agents whose prepared data is the clique abstraction of the map, or is computed from it."""

    def _fetch_prepared_data(self) -> None:
        super()._fetch_prepared_data()
        self.abstraction = fetch_data(ABSTRACTION_RECIPE, self._present_grid)

    def steps(self, grid: Grid) -> Iterator[BuildProgress]:
        return iter_fetch_data(ABSTRACTION_RECIPE, grid)

    @property
    def abstraction_levels(self) -> Any:
        return self.abstraction.tables

    @property
    def prepared_data(self) -> tuple[PreparedData, ...]:
        return (self.abstraction,)
