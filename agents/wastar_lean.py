"""Weighted A* with w = 1.5 and nothing to set: an agent that shows which files one more agent takes."""

from agents.sliced import MODE, SlicedAgent
from sim.agent_api import AgentSpec


class LeanWeightedAStar(SlicedAgent):
    def _weights(self) -> tuple[float, float]:
        return 1.0, 1.5


SPEC = AgentSpec(
    key="wastar-lean",
    name="Lean A*",
    paper="Pohl 1970",
    summary="Weighted A* with w = 1.5; waits until it has the whole path.",
    make=LeanWeightedAStar,
    params=(MODE,),
    family="reference",
    is_real_time=False,
)
