"""Base class of agents with an A*-shaped local search space: K LRTA*, LSS-LRTA*, RTAA*, daRTAA*."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from agents.learning_agent import LearningAgent
from sim.agent_api import AgentView, Problem
from sim.kernels import learner, local_search
from sim.kernels.search import Search
from sim.params import Param, Value

LOOKAHEAD_PARAM = Param(
    "lookahead",
    int,
    0,
    "maximum expansions in a planning episode, never more than the budget; 0: the whole budget",
    0,
    1_000_000,
    symbol="n",
)
MOVES_PARAM = Param(
    "moves",
    str,
    "all",
    "after planning, walk the whole path to the chosen open cell, or only one step",
    choices=("all", "one"),
)


class LocalSearchAgent(LearningAgent):
    """Learning agent that plans in a local search space. Subclasses set the backup rule and the choice of the exit."""

    backup_rule = local_search.DIJKSTRA_BACKUP
    exit_rule = local_search.MIN_F_RULE

    def __init__(self, problem: Problem, params: Mapping[str, Value]) -> None:
        super().__init__(problem, params)
        self.local_space = local_search.new_local_search_space(problem.grid.cells, problem.watched)

    def _walks_whole_path(self) -> bool:
        return self.params.get("moves") == "all"

    def _drop_plan_if_cut(self) -> bool:
        if not learner.is_planned_path_blocked(self.map_arrays, self.local_space.path, self.state_record):
            return False
        self._drop_plan()
        return self._walks_whole_path()

    def searches_of_agent(self) -> tuple[Search, ...]:
        return (self.local_space.search,)

    def kernel_arguments(self) -> tuple[Any, ...]:
        return self.map_arrays, self.learned_heuristic, self.local_space, self.state_record

    def advance(self, budget: int, rows: np.ndarray) -> int:
        n = min(int(self.params["lookahead"]) or budget, budget)
        return int(
            self.call_kernel(
                local_search.run_ticks, n, self.backup_rule, self.exit_rule, self._walks_whole_path(), rows
            )
        )

    def view(self) -> AgentView:
        st, search = self.state_record[0], self.local_space.search
        return AgentView(
            search=search,
            best=int(st.best),
            root=int(search.control[0].root) if search.control[0].search else -1,
            path=self.local_space.path[: int(st.length)],
            head=int(st.head) if st.length else 0,
            learned=self.learned_heuristic,
            groups={"local space": self.local_space.closed[: int(st.closed)]},
            numbers={"h updates": float(st.updates), "learning pops": float(st.pops)},
        )
