"""RTAA*: real-time adaptive A*.

The agent expands n cells by A* from its cell, sets h of each expanded cell to (f of the best open cell - g of the
cell), and walks to the best open cell before it plans again. It learns a little less than LSS-LRTA* in far less time.

Paper: Koenig and Likhachev 2006, "Real-time adaptive A*". Expansions: the ones of A*, in the ticks with a plan.
Deviations: docs/deviations.md.
Known weakness: learned values are less informed than with LSS-LRTA*, so with an equal n the agent walks further.
"""

from agents.learning_agent import ON_UNBLOCK_PARAM
from agents.local_search_agent import LOOKAHEAD_PARAM, MOVES_PARAM, LocalSearchAgent
from sim.agent_api import AgentSpec
from sim.kernels import local_search


class Rtaa(LocalSearchAgent):
    backup_rule = local_search.RTAA_BACKUP


SPEC = AgentSpec(
    key="rtaa",
    name="RTAA*",
    paper="Koenig and Likhachev 2006",
    summary="Raises h of an A*-shaped space around it by subtraction alone, then walks out of it.",
    make=Rtaa,
    params=(LOOKAHEAD_PARAM, MOVES_PARAM, ON_UNBLOCK_PARAM),
    family="learning",
    keeps_h=True,
    shows=frozenset({"groups"}),
)
