"""K LRTA*: Koenig's version of LRTA*.

The agent expands n cells by A* from its cell, backs up the values of all of them at once by Dijkstra's algorithm from
the open cells, takes one step towards the best open cell, and plans again.

Paper: Koenig 2004, "A comparison of fast search methods for real-time situated agents". Expansions: the ones of A*;
cells taken from the queue of the backup are counted separately. The agent takes one step a plan, as described in
"TBA*: Time-Bounded A*". Deviations: docs/deviations.md.
Known weakness: it plans at every step, even if the previous plan is still as good.
"""

from agents.learning_agent import ON_UNBLOCK_PARAM
from agents.local_search_agent import LOOKAHEAD_PARAM, LocalSearchAgent
from sim.agent_api import AgentSpec


class KLrta(LocalSearchAgent):
    pass


SPEC = AgentSpec(
    key="k-lrta",
    name="K LRTA*",
    paper="Koenig 2004",
    summary="Learns h of all cells in an A*-shaped space around it, takes one step, plans again.",
    make=KLrta,
    params=(LOOKAHEAD_PARAM, ON_UNBLOCK_PARAM),
    family="learning",
    keeps_h=True,
    shows=frozenset({"groups"}),
)
