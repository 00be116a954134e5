"""daRTAA*: depression-avoiding RTAA*.

Learns as RTAA* does, but heads for the open cell of which it has learned least: where h - h0 is small it is not in a
depression of the heuristic.

Paper: Hernandez and Baier 2012, "Avoiding and escaping depressions in real-time heuristic search". Expansions: those of
A*, in the ticks that plan. Deviations: docs/deviations.md.
Known weakness: a trial in which it learns nothing need not be optimal, for it does not follow the least f.
"""

from agents.learning import ON_UNBLOCK
from agents.local_search import LOOKAHEAD, MOVES
from agents.rtaa import Rtaa
from sim.agent_api import AgentSpec
from sim.kernels import local_search


class DaRtaa(Rtaa):
    exit_rule = local_search.LEAST_EXCESS


SPEC = AgentSpec(
    key="da-rtaa",
    name="daRTAA*",
    paper="Hernandez and Baier 2012",
    summary="RTAA* that heads for where it has learned least, out of depressions of the heuristic.",
    make=DaRtaa,
    params=(LOOKAHEAD, MOVES, ON_UNBLOCK),
    family="learning",
    keeps_h=True,
    converges_to_optimal=False,
    shows=frozenset({"groups"}),
)
