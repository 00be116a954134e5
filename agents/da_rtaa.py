"""daRTAA*: depression-avoiding RTAA*.

The agent learns like RTAA*, but heads for the open cell with the smallest h - h0: a cell with a small difference is
not in a depression of the heuristic.

Paper: Hernandez and Baier 2012, "Avoiding and escaping depressions in real-time heuristic search". Expansions: the ones
of A*, in the ticks with a plan. Deviations: docs/deviations.md.
Known weakness: a trial without learning may be suboptimal, because the agent does not follow the smallest f.
"""

from agents.learning_agent import ON_UNBLOCK_PARAM
from agents.local_search_agent import LOOKAHEAD_PARAM, MOVES_PARAM
from agents.rtaa import Rtaa
from sim.agent_api import AgentSpec
from sim.kernels import local_search


class DaRtaa(Rtaa):
    exit_rule = local_search.MIN_EXCESS_RULE


SPEC = AgentSpec(
    key="da-rtaa",
    name="daRTAA*",
    paper="Hernandez and Baier 2012",
    summary="RTAA* that heads for cells where it has learned least, to leave depressions of the heuristic.",
    make=DaRtaa,
    params=(LOOKAHEAD_PARAM, MOVES_PARAM, ON_UNBLOCK_PARAM),
    family="learning",
    keeps_h=True,
    converges_to_optimal=False,
    shows=frozenset({"groups"}),
    advised_settings=({},),
)
