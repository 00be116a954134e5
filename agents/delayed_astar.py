"""Delayed A*: the "late acting" agent with which Table 1 of "TBA*: Time-Bounded A*" compares TBA*.

The agent plans like TBA* (with an equal split of the budget), but until the complete path is traced it only walks back
and forth between the start and one neighbour, drawn once from the agent's own random generator. Every such move has its
cost, so a comparison with TBA* shows the benefit of acting early.
"""

import random
from collections.abc import Mapping

import numpy as np

from agents.sliced_agent import SlicedAgent
from agents.tba import EXPANSION_SHARE_PARAM, TRACE_RATE_PARAM, check_tba_budget
from sim.agent_api import AgentSpec, Problem
from sim.kernels import sliced, tba
from sim.params import Value


class DelayedAstar(SlicedAgent):
    def __init__(self, problem: Problem, params: Mapping[str, Value]) -> None:
        self.random_generator = random.Random(problem.seed)
        super().__init__(problem, params)

    def _shuttle_cell(self) -> int:
        neighbours = self.problem.grid.free_neighbours(self.loc)
        return self.random_generator.choice(neighbours) if neighbours else -1

    def advance(self, budget: int, rows: np.ndarray) -> int:
        rate = float(self.params["trace_rate"])
        expansions, _ = tba.split_budget(budget, float(self.params["share"]), rate)
        return int(self.call_kernel(sliced.run_ticks, int(expansions), budget, rate, rows))


SPEC = AgentSpec(
    key="delayed-astar",
    name="Delayed A*",
    paper="TBA*: Time-Bounded A*",
    summary="Acts late: moves back and forth at the start until the whole path is traced, then walks it.",
    make=DelayedAstar,
    params=(EXPANSION_SHARE_PARAM, TRACE_RATE_PARAM),
    check_budget=check_tba_budget,
    shows=frozenset({"tracing"}),
)
