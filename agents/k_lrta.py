"""K LRTA*: Koenig's version of LRTA*.

Expands n cells by A* from where it stands, backs up the values of all of them at once by Dijkstra's algorithm from the
open cells, takes one step towards the best of those, and plans again.

Paper: Koenig 2004, "A comparison of fast search methods for real-time situated agents". Expansions: those of A*; cells
taken from the queue of the backup are counted apart. One step a plan, as "TBA*: Time-Bounded A*" quotes it.
Deviations: docs/deviations.md.
Known weakness: plans at every step, although the plan before it was as good.
"""

from agents.learning import ON_UNBLOCK
from agents.local_search import LOOKAHEAD, LocalSearchAgent
from sim.agent_api import AgentSpec


class KLrta(LocalSearchAgent):
    pass


SPEC = AgentSpec(
    key="k-lrta",
    name="K LRTA*",
    paper="Koenig 2004",
    summary="Learns all values of an A*-shaped space around it, takes one step, plans again.",
    make=KLrta,
    params=(LOOKAHEAD, ON_UNBLOCK),
    family="learning",
    keeps_h=True,
    shows=frozenset({"groups"}),
)
