"""IDA*: iterative-deepening A*, the reference that explains RIBS.

Depth-first searches within a limit on f, which rises from one search to the next; memory is linear in the length of a
path. The agent waits until it has the whole path, then walks it.

Paper: Korf 1985; as in section 3.2 of "Real-Time Heuristic Search for Pathfinding in Video Games".
Known weakness: a cell is expanded once for every path that leads to it, and grids have exponentially many paths. The
agent therefore gives up after `most` expansions (a parameter); a path that it finds before that is a cheapest path.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from agents.best_first import BestFirstAgent
from agents.sliced_agent import MODE_PARAM
from sim.agent_api import AgentSpec, AgentView, Problem, event_words
from sim.grid import MapChange
from sim.kernels import ida
from sim.kernels.distance import UNLIMITED_EXPANSIONS
from sim.kernels.labels import new_search_without_heap
from sim.kernels.route import new_route
from sim.kernels.search import Search
from sim.params import Param, Value

_EMPTY_CELLS = np.empty(0, np.int32)
_EVENT_KEYS = {ida.LIMIT_ROSE: "limit", ida.CELL_POPPED: "back", ida.CELL_POPPED_LAST: "ended back"}


class IdaStar(BestFirstAgent):
    def __init__(self, problem: Problem, params: Mapping[str, Value]) -> None:
        super().__init__(problem, params, ida.STATE)
        self.search_stack = ida.new_search_stack(problem.grid.cells)
        self.planned_route = new_route(problem.grid.cells)
        self._reset_agent(problem.start)

    def _new_search(self) -> Search:
        return new_search_without_heap(self.problem.grid.cells, self.problem.watched)

    def _reset_agent(self, start: int) -> None:
        max_expansions = int(self.params["most"])
        ida.reset_agent(
            self.map_arrays, self.search, self.search_stack, self.state_record, start, self.goal, max_expansions
        )

    def kernel_arguments(self) -> tuple[Any, ...]:
        return self.map_arrays, self.search, self.search_stack, self.planned_route, self.state_record

    def advance(self, budget: int, rows: np.ndarray) -> int:
        expansions = int(UNLIMITED_EXPANSIONS) if self.params["mode"] == "instant" else budget
        return int(self.call_kernel(ida.run_ticks, expansions, rows))

    def on_change(self, change: MapChange) -> None:
        ida.on_change(self.map_arrays, self.search, self.search_stack, self.state_record, change.tails, change.rose)

    def best(self) -> int:
        """Return -1, because a depth-first search has no best open cell."""
        return -1

    def view(self) -> AgentView:
        st = self.state_record[0]
        numbers = {"limit": float(st.limit), "iteration": float(st.iteration)}
        if np.isfinite(st.next_limit):
            numbers["next limit"] = float(st.next_limit)
        contours = self._find_contours()
        return AgentView(
            search=self.search,
            root=int(st.root),
            path=self.planned_route.cells[: int(st.length)],
            tracing=_EMPTY_CELLS if st.found else np.ascontiguousarray(self.search_stack.cells[: int(st.depth)][::-1]),
            groups={
                "new contour": np.flatnonzero(contours == st.limit).astype(np.int32) if st.iteration else _EMPTY_CELLS
            },
            numbers=numbers,
            contours=contours,
            notes=event_words(_EVENT_KEYS, st.did),
        )

    def _find_contours(self) -> np.ndarray:
        limits = np.empty(self.problem.grid.cells)
        ida.read_contour_limits(self.search, self.search_stack, limits)
        return limits


SPEC = AgentSpec(
    key="ida",
    name="IDA*",
    paper="Korf 1985",
    summary="Depth-first searches within a rising limit on f: needs only a stack as memory; fast only on small maps.",
    make=IdaStar,
    params=(
        MODE_PARAM,
        Param("most", int, 1_000_000, "expansions after which the agent gives up", 100, 1_000_000_000),
    ),
    family="reference",
    is_real_time=False,
    is_complete=False,
    proves_no_path=False,
    shows=frozenset({"tracing", "groups", "contours"}),
)
