"""RTAA*: real-time adaptive A*.

Expands n cells by A* from where it stands, sets h of each of them to f of the best open cell minus its own g, and walks
to that open cell before it plans again. Learns a little less than LSS-LRTA* in far less time.

Paper: Koenig and Likhachev 2006, "Real-time adaptive A*". Expansions: those of A*, in the ticks that plan.
Deviations: docs/deviations.md.
Known weakness: values are less informed than those of LSS-LRTA*, so with the same n it walks further.
"""

from agents.learning import ON_UNBLOCK
from agents.local_search import LOOKAHEAD, MOVES, LocalSearchAgent
from sim.agent_api import AgentSpec
from sim.kernels import local_search


class Rtaa(LocalSearchAgent):
    backup = local_search.ADAPTIVE


SPEC = AgentSpec(
    key="rtaa",
    name="RTAA*",
    paper="Koenig and Likhachev 2006",
    summary="Raises h of an A*-shaped space around it by subtraction alone, then walks out of it.",
    make=Rtaa,
    params=(LOOKAHEAD, MOVES, ON_UNBLOCK),
    family="learning",
    keeps_h=True,
    shows=frozenset({"groups"}),
)
