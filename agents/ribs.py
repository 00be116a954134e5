"""RIBS: real-time iterative-deepening best-first search.

The agent itself walks an IDA* search: depth first to cells with f <= T and back along the tree, then again with a
larger T. It learns g, the distance from the start, whereas agents of the LRTA* family learn h. It prunes dead and
redundant cells for ever, so the work in a deep dead end is linear in the number of its cells.

Paper: Sturtevant, Bulitko and Bjornsson 2010, "On learning in agent-centered search". A move back to the tree parent
counts as a back-move. A change of the map restarts the search at the agent's cell: neither g nor the marks of pruned
cells stay valid. Deviations: docs/deviations.md.
Known weakness: one iteration per value of f. With a good heuristic there are many iterations with little progress each.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from agents.best_first import BestFirstAgent
from sim.agent_api import AgentSpec, AgentView, Problem
from sim.grid import MapChange
from sim.kernels import ribs
from sim.kernels.labels import new_search_without_heap
from sim.kernels.search import Search
from sim.params import Param, Value


class Ribs(BestFirstAgent):
    def __init__(self, problem: Problem, params: Mapping[str, Value]) -> None:
        super().__init__(problem, params, ribs.STATE)
        self.ribs_memory = ribs.new_ribs_memory(problem.grid.cells)
        self._reset_agent(problem.start)

    def _new_search(self) -> Search:
        return new_search_without_heap(self.problem.grid.cells, self.problem.watched)

    def _reset_agent(self, start: int) -> None:
        st = self.state_record[0]
        st.prunes_dead, st.prunes_redundant = self.params["dead"], self.params["redundant"]
        ribs.reset_agent(self.map_arrays, self.search, self.ribs_memory, self.state_record, start, self.goal)

    def kernel_arguments(self) -> tuple[Any, ...]:
        return self.map_arrays, self.search, self.ribs_memory, self.state_record

    def advance(self, budget: int, rows: np.ndarray) -> int:
        return int(self.call_kernel(ribs.run_ticks, budget, rows))

    def on_change(self, change: MapChange) -> None:
        ribs.on_change(self.map_arrays, self.search, self.ribs_memory, self.state_record, change.tails, change.rose)

    def best(self) -> int:
        """Return -1: RIBS has no best open cell, because the agent always expands the cell that it is on."""
        return -1

    def view(self) -> AgentView:
        st = self.state_record[0]
        chain = np.empty(self.problem.grid.cells, np.int32)
        length = int(ribs.trace_tree_path(self.map_arrays, self.search, self.loc, chain))
        numbers = {"limit": float(st.limit), "iteration": float(st.iteration)}
        if np.isfinite(st.next_limit):
            numbers["next limit"] = float(st.next_limit)
        return AgentView(
            search=self.search,
            root=int(st.root),
            path=np.ascontiguousarray(chain[:length][::-1]),
            head=length - 1,
            groups={
                "dead": self.ribs_memory.dead_cells[: int(st.dead_count)],
                "redundant": self.ribs_memory.redundant_cells[: int(st.redundant_count)],
            },
            numbers=numbers,
        )


SPEC = AgentSpec(
    key="ribs",
    name="RIBS",
    paper="Sturtevant, Bulitko and Bjornsson 2010",
    summary="Walks an iterative-deepening search: learns distances from the start, prunes useless cells.",
    make=Ribs,
    params=(
        Param("dead", bool, True, "prune dead cells, which are on no best known path to another cell"),
        Param("redundant", bool, True, "prune redundant cells, all of whose children have another best parent"),
    ),
    family="learning",
    shows=frozenset({"groups"}),
)
