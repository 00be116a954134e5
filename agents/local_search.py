"""Base class of agents with an A*-shaped local search space: K LRTA*, LSS-LRTA*, RTAA*, daRTAA*."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from agents.learning import LearningAgent
from sim.agent_api import AgentView, Problem
from sim.kernels import learner, local_search
from sim.kernels.search import Search
from sim.params import Param, Value

LOOKAHEAD = Param(
    "lookahead",
    int,
    0,
    "maximum expansions in a planning episode, never more than the budget; 0: the whole budget",
    0,
    1_000_000,
    symbol="n",
)
MOVES = Param(
    "moves",
    str,
    "all",
    "after planning, walk the whole path to the chosen open cell, or only one step",
    choices=("all", "one"),
)


class LocalSearchAgent(LearningAgent):
    """Learning agent that plans in a local search space. Subclasses set the backup rule and the choice of the exit."""

    backup_rule = local_search.DIJKSTRA
    exit_rule = local_search.MIN_F_RULE

    def __init__(self, problem: Problem, params: Mapping[str, Value]) -> None:
        super().__init__(problem, params)
        self.space = local_search.new_local_space(problem.grid.cells, problem.watched)

    def _walks_whole_path(self) -> bool:
        return self.params.get("moves") == "all"

    def _drop_plan_if_cut(self) -> bool:
        if not learner.is_planned_path_cut(self.ground, self.space.path, self.state):
            return False
        self._drop_plan()
        return self._walks_whole_path()

    def searches(self) -> tuple[Search, ...]:
        return (self.space.search,)

    def parts(self) -> tuple[Any, ...]:
        return self.ground, self.learned, self.space, self.state

    def advance(self, budget: int, rows: np.ndarray) -> int:
        n = min(int(self.params["lookahead"]) or budget, budget)
        return int(
            self.call_kernel(
                local_search.run_ticks, n, self.backup_rule, self.exit_rule, self._walks_whole_path(), rows
            )
        )

    def view(self) -> AgentView:
        st, search = self.state[0], self.space.search
        return AgentView(
            search=search,
            best=int(st.best),
            root=int(search.control[0].root) if search.control[0].search else -1,
            path=self.space.path[: int(st.length)],
            head=int(st.head) if st.length else 0,
            learned=self.learned,
            groups={"local space": self.space.closed[: int(st.closed)]},
            numbers={"h updates": float(st.updates), "learning pops": float(st.pops)},
        )
