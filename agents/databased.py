"""What agents share whose data is computed before the run: what happens when the map is not that of the data.

A change makes the data stale. `after_change: fall back` does without it until the map is again the one that it was
computed on; `rebuild` computes it anew, which takes as many ticks as the making had expansions for the budget, beside
what the agent does meanwhile. A change while it is rebuilt begins that again.
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
    return Param(
        "after_change",
        str,
        default,
        "on another map than that of the data, do without the data, or rebuild it, which takes its ticks",
        choices=("fall back", "rebuild"),
    )


def prepare_abstraction(problem: Problem, params: Mapping[str, Value], stopwatch: Stopwatch | None) -> Iterator[Step]:
    """The steps of making what all these agents need. See AgentSpec.prepare."""
    return obtain(RECIPE, problem.grid, stopwatch)


class Databased:
    """A mixin: prepared data, whether it is stale, and the ticks until it is rebuilt. Agents say how they run()."""

    problem: Problem
    left = 0.0  # expansions of the making that are still to be paid for; 0: nothing is being rebuilt

    def use_data(self, grid: Grid, params: Mapping[str, Value]) -> None:
        """Fetch all data for the map as it is. Agents call it first of all."""
        self._grid, self._after_change = grid, str(params["after_change"])
        self._take()

    def _take(self) -> None:
        """Fetch the data for the map as it is. Subclasses say what data."""
        self.left = 0.0
        self.built_on = self._grid.moves.copy()
        self.is_stale = False

    @property
    def prepared(self) -> tuple[Prepared, ...]:
        raise NotImplementedError

    def choose_after_change(self, choice: Value) -> None:
        """The parameter was changed while running."""
        self._after_change = str(choice)
        self._look_at_map()

    def look_at_change(self, change: MapChange) -> None:
        if change.has_arcs:  # else the data is as good as before, and its making goes on
            self._look_at_map()

    def _look_at_map(self) -> None:
        """It may be another one: is the data still good, and does the making begin?"""
        self.is_stale = not np.array_equal(self.built_on, self._grid.moves)
        is_rebuilt = self.is_stale and self._after_change == "rebuild"
        self.left = float(sum(data.build_expansions for data in self.prepared)) if is_rebuilt else 0.0
        if is_rebuilt and self.problem.watched:  # a window must not stand still in the tick in which it is ready
            make_ahead(id(self), self.steps(self._grid.copy()))

    @property
    def database_bytes(self) -> int:
        """The size of the data in memory."""
        return sum(data.bytes for data in self.prepared)

    def steps(self, grid: Grid) -> Iterator[Step]:
        """The steps of making the data for this map."""
        raise NotImplementedError

    def rebuild_rate(self, budget: int) -> float:
        """Expansions of the making that one tick pays for."""
        return float(budget)

    def run(self, budget: int, rows: np.ndarray) -> int:
        """Plan and act with the data as it is, as Agent.advance does."""
        raise NotImplementedError

    def on_new_data(self) -> None:
        """The data was rebuilt."""

    def advance(self, budget: int, rows: np.ndarray) -> int:
        """Ticks one after the other; between two of them rebuilt data is taken."""
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
        self._take()
        self.on_new_data()


class Abstracted(Databased):
    """One whose data is, or is based on, the clique abstraction of the map."""

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
