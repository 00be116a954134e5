"""Greedy best-first search: f = h, and among equal f the larger g first.

Each cell is expanded at most once and keeps its first parent. The search is complete, but the cost of its path has no
bound.
"""

from agents.sliced_agent import MODE_PARAM, SlicedAgent
from sim.agent_api import AgentSpec


class Gbfs(SlicedAgent):
    def _f_weights(self) -> tuple[float, float]:
        return 0.0, 1.0


SPEC = AgentSpec(
    key="gbfs",
    name="GBFS",
    paper="Doran and Michie 1966",
    summary="Greedy best-first search, a reference without any bound on cost; waits until it has the whole path.",
    make=Gbfs,
    params=(MODE_PARAM,),
    family="reference",
    is_real_time=False,
)
