"""LSS-LRTA*: local search space LRTA*.

The agent expands n cells by A* from its cell, backs up the values of all of them at once by Dijkstra's algorithm from
the open cells, and walks the whole path to the best open cell. Then it plans again; earlier if a map change cuts the
path.

Paper: Koenig and Sun 2009, "Comparing real-time and incremental heuristic search for real-time situated agents".
Expansions: the ones of A*, in the ticks with a plan; cells taken from the queue of the backup are counted separately.
Deviations: docs/deviations.md.
Known weakness: the backup costs about as much as the search.
"""

from agents.learning_agent import ON_UNBLOCK_PARAM
from agents.local_search_agent import LOOKAHEAD_PARAM, MOVES_PARAM, LocalSearchAgent
from sim.agent_api import AgentSpec


class LssLrta(LocalSearchAgent):
    pass


SPEC = AgentSpec(
    key="lss-lrta",
    name="LSS-LRTA*",
    paper="Koenig and Sun 2009",
    summary="Learns h of all cells in an A*-shaped space around it, then walks out of it.",
    make=LssLrta,
    params=(LOOKAHEAD_PARAM, MOVES_PARAM, ON_UNBLOCK_PARAM),
    family="learning",
    keeps_h=True,
    shows=frozenset({"groups"}),
    advised_settings=({},),
)
