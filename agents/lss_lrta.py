"""LSS-LRTA*: local search space LRTA*.

Expands n cells by A* from where it stands, backs up the values of all of them at once by Dijkstra's algorithm from the
open cells, and walks the whole path to the best of those before it plans again; sooner if a change of the map cuts it.

Paper: Koenig and Sun 2009, "Comparing real-time and incremental heuristic search for real-time situated agents".
Expansions: those of A*, in the ticks that plan; cells taken from the queue of the backup are counted apart.
Deviations: docs/deviations.md.
Known weakness: the backup costs about as much again as the search.
"""

from agents.learning import ON_UNBLOCK
from agents.local_search import LOOKAHEAD, MOVES, LocalSearchAgent
from sim.agent_api import AgentSpec


class LssLrta(LocalSearchAgent):
    pass


SPEC = AgentSpec(
    key="lss-lrta",
    name="LSS-LRTA*",
    paper="Koenig and Sun 2009",
    summary="Learns all values of an A*-shaped space around it, then walks out of it.",
    make=LssLrta,
    params=(LOOKAHEAD, MOVES, ON_UNBLOCK),
    family="learning",
    keeps_h=True,
    shows=frozenset({"groups"}),
)
