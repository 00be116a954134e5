"""Agents with time-bounded best-first search: TB-WA*, TB-GBFS and their repeated versions.

Paper: "Time-Bounded Best-First Search". For a changing map the paper gives no other rule than a restart of the search;
TB-WA* and TB-GBFS restart eagerly, which is after every change. Their repeated versions (rtb_wa.py, rtb_gbfs.py) have
a parameter for eager or lazy restarts; a lazy restart takes place only if the change matters for the way ahead.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from agents.best_first import BestFirstAgent
from sim.agent_api import AgentView, Problem
from sim.grid import MapChange
from sim.kernels import tb_bfs
from sim.kernels.ancestry import new_ancestry_links, stamped_table_of_links
from sim.kernels.route import new_route, route_index, trace_path_from_root
from sim.kernels.stale import StampedTable
from sim.params import Param, Value

RESTART_PARAM = Param(
    "restart",
    str,
    "lazy",
    "restart the search after every map change (eager), or only if it affects the path ahead (lazy)",
    choices=("lazy", "eager"),
)
LAZY_RULE_PARAM = Param(
    "lazy_rule",
    str,
    "arc",
    "what triggers a lazy restart: changes of arcs ahead (arc), or of any cell of the path (printed, as in the paper)",
    choices=("arc", "printed"),
)
NO_PATH_PARAM = Param(
    "no_path",
    str,
    "wait",
    "if no path exists: wait for a change that may open one, or give up as in the paper's listing",
    choices=("wait", "give-up"),
)


class TbBfs(BestFirstAgent):
    """Time-bounded best-first search with f = g + w h, for TB-WA* and RTB-WA*."""

    def __init__(self, problem: Problem, params: Mapping[str, Value]) -> None:
        super().__init__(problem, params, tb_bfs.STATE)
        cells, width = problem.grid.cells, self.tile_width
        self.ancestry_links = new_ancestry_links(cells, problem.reuses_memory, width)
        self.planned_route = new_route(cells, problem.reuses_memory, width, self.ancestry_links)
        self._reset_agent(problem.start)

    @property
    def tile_width(self) -> int:
        return self.problem.tile_width

    def _reset_agent(self, start: int) -> None:
        self._store_params()
        tb_bfs.reset_agent(self.map_arrays, self.search, self.state_record, start, self.goal)

    def _store_params(self) -> None:
        """Store the parameters that the kernels read in the state record."""
        st, params = self.state_record[0], self.params
        st.gives_up = params.get("no_path") == "give-up"
        st.policy = tb_bfs.LAZY_RESTART if params.get("restart") == "lazy" else tb_bfs.EAGER_RESTART
        is_as_printed = params.get("lazy_rule") == "printed"
        st.heeds = tb_bfs.REMOVED_ARC_INTO_ROUTE if is_as_printed else tb_bfs.REMOVED_ARC_AHEAD
        st.shortcut_weight = self._shortcut_weight()

    def set_param(self, name: str, value: Value) -> None:
        if name in (RESTART_PARAM.name, LAZY_RULE_PARAM.name):
            self.params[name] = value  # the search stays valid, because these parameters matter only for map changes
            self._store_params()
        else:
            super().set_param(name, value)

    @property
    def batch_kernel(self) -> Any:
        return tb_bfs.run_batch

    @property
    def batch_map_change_kernel(self) -> Any:
        return tb_bfs.apply_map_change_to_batch

    def generation_tables(self) -> Iterator[StampedTable]:
        yield from super().generation_tables()
        # If closed cells are not reopened, a link is valid only if the node of its cell belongs to the current search.
        # If they are, the table has no links but the indices of cells on the route, which need no search to be valid.
        if not self.search.control[0].reopens:
            yield stamped_table_of_links(self.search, self.ancestry_links)

    def kernel_arguments(self) -> tuple[Any, ...]:
        return self.map_arrays, self.search, self.planned_route, self.ancestry_links, self.state_record

    def advance(self, budget: int, rows: np.ndarray) -> int:
        return int(self.call_kernel(tb_bfs.run_ticks, budget, rows))

    def _shortcut_weight(self) -> float:
        """Return the weight w in the rule for restarts after arcs were added; 0 disables the rule."""
        return self._f_weights()[1]

    def on_change(self, change: MapChange) -> None:
        tb_bfs.on_change(
            self.map_arrays,
            self.search,
            self.planned_route,
            self.state_record,
            change.tails,
            change.heads,
            change.rose,
        )

    def view(self) -> AgentView:
        if self.tile_width:  # one of many agents: use temporary arrays, so that its own route arrays stay unused
            buffer = np.empty(self.problem.grid.cells, np.int32)
            path = buffer[
                : int(trace_path_from_root(self.map_arrays, self.search, int(self.state_record[0].end), buffer))
            ]
            head = int((path == self.loc).argmax()) if path.size else 0
        else:
            tb_bfs.update_route(self.map_arrays, self.search, self.planned_route, self.state_record[0])
            length = int(self.state_record[0].length)
            path = self.planned_route.cells[:length]
            head = max(0, int(route_index(self.planned_route, length, self.loc)))
        return AgentView(self.displayed_search(), self.best(), int(self.search.control[0].root), path, head)


class TbGreedy(TbBfs):
    """Time-bounded greedy best-first search, for TB-GBFS and RTB-GBFS."""

    def _f_weights(self) -> tuple[float, float]:
        return 0.0, 1.0

    def _shortcut_weight(self) -> float:
        return 0.0  # no rule: Algorithm 3 of the paper compares bounds on costs, which a greedy search does not have
