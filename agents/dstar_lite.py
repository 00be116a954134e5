"""D* Lite: the standard incremental search of robotics for changing maps.

The agent searches from the goal to its cell, and after a change repairs only the cells whose distances became wrong.
It always walks on a cheapest path of the current map. It is not a real-time agent: it waits in place while it repairs
(mode sliced), or repairs everything in the tick of the change (mode instant).

Paper: Koenig and Likhachev 2002, "D* Lite". A moved goal starts a new search, as all distances are to the old goal.
Invariant: when the agent walks, rhs of its cell is the true distance. Deviations: docs/deviations.md.
Known weakness: a change near the goal makes most distances wrong, and its repair costs more than a new search.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from agents.best_first import BestFirstAgent
from agents.sliced_agent import MODE_PARAM
from sim.agent_api import AgentSpec, AgentView, Problem, Status, event_words
from sim.grid import MapChange
from sim.kernels import dstar_lite
from sim.kernels.distance import UNLIMITED_EXPANSIONS
from sim.kernels.labels import new_search_without_heap
from sim.kernels.search import Search
from sim.params import Value

_EVENT_KEYS = {
    dstar_lite.MAP_CHANGE_HEEDED: "change",
    dstar_lite.G_LOWERED: "lower",
    dstar_lite.G_RAISED: "raise",
    dstar_lite.REPAIR_COMPLETED: "settled",
}


class DstarLite(BestFirstAgent):
    def __init__(self, problem: Problem, params: Mapping[str, Value]) -> None:
        super().__init__(problem, params, dstar_lite.STATE)
        self.dstar_lite_memory = dstar_lite.new_dstar_lite_memory(problem.grid.cells, self.tile_width)
        self._reset_agent(problem.start)

    @property
    def tile_width(self) -> int:
        return self.problem.tile_width

    def _new_search(self) -> Search:
        return new_search_without_heap(self.problem.grid.cells, self.problem.watched, self.tile_width)

    def _reset_agent(self, start: int) -> None:
        dstar_lite.reset_agent(
            self.map_arrays, self.search, self.dstar_lite_memory, self.state_record, start, self.goal
        )

    def set_param(self, name: str, value: Value) -> None:
        """Set the parameter `mode`. It changes only the number of expansions in a tick, so all distances stay valid."""
        self.params[name] = value

    @property
    def batch_kernel(self) -> Any:
        return None if self.params["mode"] == "instant" else dstar_lite.run_batch

    @property
    def batch_map_change_kernel(self) -> Any:
        return dstar_lite.apply_map_change_to_batch

    def kernel_arguments(self) -> tuple[Any, ...]:
        return self.map_arrays, self.search, self.dstar_lite_memory, self.state_record

    def advance(self, budget: int, rows: np.ndarray) -> int:
        expansions = int(UNLIMITED_EXPANSIONS) if self.params["mode"] == "instant" else budget
        return int(self.call_kernel(dstar_lite.run_ticks, expansions, rows))

    def on_change(self, change: MapChange) -> None:
        dstar_lite.on_change(
            self.map_arrays, self.search, self.dstar_lite_memory, self.state_record, change.tails, change.rose
        )

    def best(self) -> int:
        return int(self.dstar_lite_memory.queue[0].cell) if self.search.control[0].open_size else -1

    def path_ahead(self) -> np.ndarray:
        """Return the cells of the path ahead, the agent's own first; none during a repair or if there is no path."""
        if not self.state_record[0].found or self.status is Status.NO_PATH:
            return np.empty(0, np.int32)
        path = np.empty(self.problem.grid.cells, np.int32)
        return path[: int(dstar_lite.write_path_ahead(self.map_arrays, self.search, self.state_record, path))]

    def view(self) -> AgentView:
        st, queued = self.state_record[0], int(self.search.control[0].open_size)
        return AgentView(
            search=self.displayed_search(),
            best=self.best(),
            root=int(st.goal),
            path=self.path_ahead(),
            groups={"inconsistent": self.dstar_lite_memory.queue["cell"][:queued].astype(np.int32)},
            numbers={"inconsistent": float(queued), "km": float(st.km), "keys updated": float(st.rekeyed)},
            notes=event_words(_EVENT_KEYS, st.did),
        )


SPEC = AgentSpec(
    key="dstar-lite",
    name="D* Lite",
    paper="Koenig and Likhachev 2002",
    summary="The incremental reference: repairs its search after each change, and walks only cheapest paths.",
    make=DstarLite,
    params=(MODE_PARAM,),
    family="incremental",
    is_real_time=False,
    shows=frozenset({"groups"}),
)
