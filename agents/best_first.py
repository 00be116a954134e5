"""Base class of agents with one resumable best-first search."""

from collections.abc import Mapping

import numpy as np

from agents.kernel_agent import KernelAgent
from sim.agent_api import AgentView, Problem
from sim.grid import MapChange
from sim.kernels import log
from sim.kernels import search as kernels
from sim.kernels.tiled import table_in_row_order
from sim.params import Param, Value

WEIGHT_PARAM = Param(
    "weight",
    float,
    1.0,
    "weight of the heuristic relative to the cost so far",
    low=1.0,
    high=100.0,
    symbol="w",
    step=0.2,
)
REOPEN_PARAM = Param("reopen", bool, False, "expand a closed cell again when a cheaper path to it is found")


class BestFirstAgent(KernelAgent):
    """Agent with one resumable search, a state record and parameters. Subclasses run their kernel in `advance`."""

    def __init__(self, problem: Problem, params: Mapping[str, Value], state: np.dtype) -> None:
        super().__init__(state)
        self.problem = problem
        self.map_arrays = problem.grid.map_arrays
        self.goal = problem.goal
        self.params = dict(params)
        self.search = self._new_search()

    @property
    def tile_width(self) -> int:
        """Return the map's width in cells if the agent's tables are tiled; 0: the tables are in row order.

        A tiled table stores each small square of cells in contiguous memory (sim/kernels/tiled.py). Kinds that can be
        in a batch override this: their tables are tiled if there are many agents.
        """
        return 0

    def _f_weights(self) -> tuple[float, float]:
        """Return the weights (wg, wh) of f = wg * g + wh * h, by which the search orders its open list."""
        return 1.0, float(self.params.get("weight", 1.0))

    def _new_search(self) -> kernels.Search:
        wg, wh = self._f_weights()
        return kernels.new_search(
            self.problem.grid.cells,
            wg,
            wh,
            reopens=bool(self.params.get("reopen", False)),
            is_bucketed=self._can_use_bucketed_open_list(wg, wh),
            counts_heat=self.problem.watched,
            notes_order=self.problem.watched,
            is_reused=self.problem.reuses_memory,
            tile_width=self.tile_width,
        )

    def _can_use_bucketed_open_list(self, wg: float, wh: float) -> bool:
        """Return whether the search can use the bucketed open list, which gives the same walk in half the time."""
        return wg == wh == 1.0 and not self.params.get("reopen") and self.params.get("open_list") != "heap"

    @property
    def loc(self) -> int:
        cell: int = self.state_record["loc"].item()
        return cell

    def set_param(self, name: str, value: Value) -> None:
        """Set a parameter and start a new search, because g and parents computed with the old value are not valid."""
        self.params[name] = value
        before = self.search
        self.search = self._new_search()
        self.search.heat[:] = before.heat
        self.search.control[0].most_known = kernels.max_known_cells(before)
        self._reset_agent(self.loc)
        self.state_record[0].marks |= log.RESTARTED

    def set_goal(self, goal: int) -> None:
        self.goal = goal
        self._reset_agent(self.loc)
        self.state_record["marks"] |= log.RESTARTED

    def refused(self, cell: int) -> None:
        self._reset_agent(cell)

    def _reset_agent(self, start: int) -> None:
        """Place the agent on `start` without a plan, and begin its search from there."""
        raise NotImplementedError

    def on_change(self, change: MapChange) -> None:
        raise NotImplementedError

    def searches_of_agent(self) -> tuple[kernels.Search, ...]:
        return (self.search,)

    def best(self) -> int:
        return int(kernels.best_open_cell(self.map_arrays, self.search))

    def displayed_search(self) -> kernels.Search:
        """Return the search for drawing, with its nodes in row order instead of tiles."""
        return self.search._replace(nodes=table_in_row_order(self.search.nodes))

    def materialize_view(self) -> None:
        if not self.tile_width:
            self.view()
        elif self.search.control[0].is_bucketed:
            self.best()  # finding the best cell moves entries of a bucketed open list, which must not happen in view()

    def view(self) -> AgentView:
        return AgentView(search=self.displayed_search(), best=self.best(), root=int(self.search.control[0].root))
