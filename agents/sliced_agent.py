"""Base class of agents that find their whole path before they walk, with a slice of the search in each tick."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from agents.best_first import BestFirstAgent
from sim.agent_api import AgentView, Problem
from sim.grid import MapChange
from sim.kernels import sliced
from sim.kernels.distance import UNLIMITED_EXPANSIONS
from sim.kernels.route import new_route
from sim.params import Param, Value

MODE_PARAM = Param(
    "mode",
    str,
    "sliced",
    "sliced: stay within the budget and wait until solved; instant: solve in the first tick, over any budget",
    choices=("sliced", "instant"),
)


class SlicedAgent(BestFirstAgent):
    """Agent that waits in place until its search is done, then follows the path."""

    def __init__(self, problem: Problem, params: Mapping[str, Value]) -> None:
        super().__init__(problem, params, sliced.STATE)
        self.planned_route = new_route(problem.grid.cells, problem.reuses_memory)
        self._reset_agent(problem.start)

    def _shuttle_cell(self) -> int:
        """Return the neighbour to which the agent walks back and forth while it plans; -1: it waits in place."""
        return -1

    def _reset_agent(self, start: int) -> None:
        self.state_record[0].loc = start
        sliced.reset_agent(self.map_arrays, self.search, self.state_record, start, self.goal, self._shuttle_cell())

    def kernel_arguments(self) -> tuple[Any, ...]:
        return self.map_arrays, self.search, self.planned_route, self.state_record

    def advance(self, budget: int, rows: np.ndarray) -> int:
        expansions = int(UNLIMITED_EXPANSIONS) if self.params["mode"] == "instant" else budget
        return int(self.call_kernel(sliced.run_ticks, expansions, budget, 0.0, rows))

    def on_change(self, change: MapChange) -> None:
        if sliced.needs_restart(self.search, self.state_record, change.tails, change.rose):
            sliced.restart_search(self.map_arrays, self.search, self.state_record, self._shuttle_cell())

    def view(self) -> AgentView:
        st = self.state_record[0]
        path = self.planned_route.cells[: int(st.length)]
        tracing = self.planned_route.scratch[: int(st.trace_length) if not st.traced else 0]
        return AgentView(self.search, self.best(), int(st.root), path, 0, tracing)
