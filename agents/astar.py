"""A*: the reference, whose paths are always the cheapest.

The agent expands by f = g + h until the goal is on top of the open list, then walks the cheapest path. It is not a
real-time agent: it waits in place until the search is done (mode sliced), or exceeds the budget in its first tick (mode
instant). Invariants: cost equals the true distance, no cell is expanded twice, no back-move, no non-optimal move.
"""

from agents.sliced_agent import MODE_PARAM, SlicedAgent
from sim.agent_api import AgentSpec

SPEC = AgentSpec(
    key="astar",
    name="A*",
    paper="Hart, Nilsson and Raphael 1968",
    summary="The optimal reference: waits until it has the whole path, then walks it.",
    make=SlicedAgent,
    params=(MODE_PARAM,),
    family="reference",
    is_real_time=False,
)
