"""PRA*: partial refinement A*.

The agent plans on a middle level of the clique abstraction, where a map has hundreds of nodes instead of a hundred
thousand cells. Then it refines the path level by level, each time inside the corridor given by the path above, down to
the map, and walks. It is not a real-time agent: it waits in place until the path is complete (mode sliced), or plans
everything in the first tick (mode instant). It finds a path exactly when A* does, nearly as cheap, with a fraction of
the expansions; the expansions of all levels count.

Papers: a reference of "Dynamic Control in Real-Time Heuristic Search", section 7.5; Sturtevant and Buro 2005. After a
change the agent waits until the abstraction is rebuilt, or falls back to plain A*. Deviations: docs/deviations.md.
Known weakness: the abstraction is valid for one map, so every change makes it stale.
"""

from collections.abc import Mapping
from math import inf
from typing import Any

import numpy as np

from agents.kernel_agent import KernelAgent
from agents.prepared_data_mixins import AbstractionMixin, after_change_param, prepare_abstraction
from agents.sliced_agent import MODE_PARAM
from sim.abstraction import region_map
from sim.agent_api import AgentSpec, AgentView, Problem, Status, event_words
from sim.grid import MapChange
from sim.kernels import log, pra
from sim.kernels.distance import UNLIMITED_EXPANSIONS
from sim.kernels.levels import STRAIGHT_LINE_COST, new_corridor, new_node_search
from sim.kernels.search import Search, new_search
from sim.metrics import OwnCounts
from sim.params import Param, Value

ABSTRACT_COST_PARAM = Param(
    "abstract_cost",
    str,
    "octile",
    "cost of arcs between regions, and heuristic between them: octile distance or straight line",
    choices=("octile", "straight"),
)

_EVENT_KEYS = {
    pra.PLAN_BEGAN: "begin",
    pra.PLAN_BEGAN_ON_MAP: "without data",
    pra.PATH_REFINED: "refine",
    pra.TICK_ENDED_IN_REGIONS: "ended among",
    pra.PATH_FOUND: "path",
    pra.WAITED_FOR_REGIONS: "rebuild",
}


class Pra(AbstractionMixin, KernelAgent):
    def __init__(self, problem: Problem, params: Mapping[str, Value]) -> None:
        KernelAgent.__init__(self, pra.STATE)
        self.problem, self.params = problem, dict(params)
        self.map_arrays = problem.grid.map_arrays
        self.fetch_initial_data(problem.grid, params)
        self.search = new_search(problem.grid.cells, counts_heat=problem.watched, notes_order=problem.watched)
        self.path = np.zeros(problem.grid.cells, np.int32)
        pra.place_agent(self.state_record, problem.start, problem.goal)
        self.on_rebuilt_data()

    def searches_of_agent(self) -> tuple[Search, ...]:
        return self.node_search.search, self.search

    def own_counts(self) -> OwnCounts:
        return OwnCounts(super().own_counts().memory, self.database_bytes)

    def on_rebuilt_data(self) -> None:
        """Allocate memory for the rebuilt abstraction, and drop the plan."""
        self.node_search = new_node_search(self.abstraction_levels.parent.size)
        self.corridor = new_corridor(self.map_arrays, self.abstraction_levels.parent.size)
        self._apply_params()

    def _apply_params(self) -> None:
        st = self.state_record[0]
        st.fixed_level, st.is_wide = self.params["level"], self.params["wide"]
        st.has_enough = self.params["enough"]
        st.keep = int(self.params["keep"]) or pra.REFINE_WHOLE_PATHS
        st.arc_diagonal = (
            STRAIGHT_LINE_COST if self.params["abstract_cost"] == "straight" else self.problem.grid.diagonal_cost
        )
        st.is_planning = st.length = 0

    def _restart_agent(self) -> None:
        st = self.state_record[0]
        pra.place_agent(self.state_record, st.loc, st.goal)
        st.restarts += 1
        st.marks |= log.RESTARTED

    def set_goal(self, goal: int) -> None:
        self.state_record[0].goal = goal
        self._restart_agent()

    def set_param(self, name: str, value: Value) -> None:
        self.params[name] = value
        if name == "after_change":
            self.set_after_change_policy(value)
        if name == "mode":
            return  # the mode changes only the number of expansions in a tick, so the plan stays valid
        self._apply_params()
        self._restart_agent()

    def refused(self, cell: int) -> None:
        pra.place_agent(self.state_record, cell, self.state_record[0].goal)

    def on_change(self, change: MapChange) -> None:
        self.update_data_after_change(change)
        is_asleep = self.status is Status.NO_PATH and not change.has_new_arcs
        if change.has_changed_arcs and self.status is not Status.AT_GOAL and not is_asleep:
            self._restart_agent()

    def rebuild_expansions_per_tick(self, budget: int) -> float:
        return inf if self.params["mode"] == "instant" else float(budget)

    def kernel_arguments(self) -> tuple[Any, ...]:
        return (
            self.map_arrays,
            self.abstraction_levels,
            self.node_search,
            self.corridor,
            self.search,
            self.path,
            self.state_record,
        )

    def run_with_data(self, budget: int, rows: np.ndarray) -> int:
        if self.rebuild_expansions_left > 0.0:
            return int(pra.wait_ticks(self.state_record, rows))
        self.state_record[0].uses_levels = not self.is_stale
        expansions = int(UNLIMITED_EXPANSIONS) if self.params["mode"] == "instant" else budget
        return int(self.call_kernel(pra.run_ticks, expansions, rows))

    def view(self) -> AgentView:
        st = self.state_record[0]
        length = int(st.length)
        inside = self.corridor.cells[: int(self.corridor.size[0])]
        return AgentView(
            search=self.search,
            root=int(st.loc) if not length else int(self.path[0]),
            path=self.path[:length],
            head=int(st.head) if length else 0,
            groups={"corridor": inside},
            numbers={
                "level": float(st.level),
                "first level": float(st.top_level),
                "among regions in this tick": float(st.among),
            },
            regions=region_map(self.abstraction, max(1, int(st.top_level))),
            prepared=self.prepared_data,
            is_stale=self.is_stale,
            notes=event_words(_EVENT_KEYS, st.did),
        )


SPEC = AgentSpec(
    key="pra",
    name="PRA*",
    paper="Sturtevant and Buro 2005",
    summary="A reference that plans among regions of the map, then refines the path inside them before it walks.",
    make=Pra,
    params=(
        MODE_PARAM,
        Param(
            "level", int, 0, "level on which to begin; 0: half the level of the region that start and goal share", 0, 20
        ),
        Param("enough", bool, False, "begin on a lower level if this one has fewer than 2 sqrt(cells) regions"),
        Param("wide", bool, True, "refine a path inside its regions and their neighbours, not only inside its regions"),
        Param("keep", int, 0, "steps of a path that are refined before the agent walks; 0: all", 0, 1000, symbol="K"),
        ABSTRACT_COST_PARAM,
        after_change_param("fall back"),
    ),
    family="reference",
    is_real_time=False,
    prepare=prepare_abstraction,
    shows=frozenset({"groups", "regions"}),
)
