"""Oracle LRTA*, LRTA*(Oracle,G) in the paper: LRTA* with the ideal depth of lookahead for every move.

Before each move the agent tries all depths from the largest down, as long as they choose the same move, and then moves
with the smallest of them. Only the expansions of the lookahead with that depth count. The agent is therefore not a
real-time agent but a reference for agents that guess depths: it shows the result of a perfect guess.

Paper: "Dynamic Control in Real-Time Heuristic Search", section 5.1. The first move equals the one of LRTA* with depth
dmax; later the walks differ, because the agent learns with the smaller depth. Deviations: docs/deviations.md.
Known weakness: the true cost of every move is the sum of all depths tried.
"""

from collections.abc import Mapping

import numpy as np

from agents.dt_lrta import DepthChoosingAgent, dmax_param
from agents.learning_agent import ON_UNBLOCK_PARAM
from sim.agent_api import AgentSpec
from sim.kernels import depth_control
from sim.params import Value


class OracleLrta(DepthChoosingAgent):
    def advance(self, budget: int, rows: np.ndarray) -> int:
        return int(
            self.call_kernel(depth_control.run_oracle_ticks, int(self.params["dmax"]), self.problem.watched, rows)
        )


def max_expansions_per_move(params: Mapping[str, Value]) -> int:
    """Return the maximum number of expansions charged for one move. The budget does not limit them."""
    return (2 * int(params["dmax"]) - 1) ** 2


SPEC = AgentSpec(
    key="oracle-lrta",
    name="Oracle LRTA*",
    paper="Dynamic Control in Real-Time Heuristic Search",
    summary="A reference: LRTA* that tries all depths before each move and is charged for the right one only.",
    make=OracleLrta,
    params=(dmax_param(10), ON_UNBLOCK_PARAM),
    family="learning",
    is_real_time=False,
    keeps_h=True,
    needed=max_expansions_per_move,
    shows=frozenset({"groups"}),
)
