"""Oracle LRTA*, LRTA*(Oracle,G) in the paper: LRTA* that knows how deep it should look.

Before each move it tries all depths from the largest down, as long as they choose the same move, and then moves with
the least of them. Only that lookahead is charged, so this is no real-time agent but the reference for those that guess
depths: what a perfect guess would give.

Paper: "Dynamic Control in Real-Time Heuristic Search", section 5.1. Its first move is that of LRTA* with depth dmax;
walks part later, because what it learns is what the smaller depth learns. Deviations: docs/deviations.md. Known
weakness: in truth every move costs all depths.
"""

from collections.abc import Mapping

import numpy as np

from agents.dt_lrta import DepthChooser, dmax_param
from agents.learning import ON_UNBLOCK
from sim.agent_api import AgentSpec
from sim.kernels import depth_control
from sim.params import Value


class OracleLrta(DepthChooser):
    def advance(self, budget: int, rows: np.ndarray) -> int:
        return int(self.call(depth_control.run_oracle, int(self.params["dmax"]), self.problem.watched, rows))


def needed(params: Mapping[str, Value]) -> int:
    """Most expansions charged for one move, whatever the budget is."""
    return (2 * int(params["dmax"]) - 1) ** 2


SPEC = AgentSpec(
    key="oracle-lrta",
    name="Oracle LRTA*",
    paper="Dynamic Control in Real-Time Heuristic Search",
    summary="A reference: LRTA* that tries all depths before each move and is charged for the right one only.",
    make=OracleLrta,
    params=(dmax_param(10), ON_UNBLOCK),
    family="learning",
    is_real_time=False,
    keeps_h=True,
    needed=needed,
    shows=frozenset({"groups"}),
)
