"""Repeated TB-GBFS: TB-GBFS on a map that changes.

Algorithm 3 of "Time-Bounded Best-First Search" is stated for weighted A*. Its rule for cheaper arcs compares bounded
costs, which a greedy search does not have. A lazy greedy agent therefore restarts only if the cost of arcs rose.
"""

from agents.tb_bfs import LAZY_RULE_PARAM, NO_PATH_PARAM, RESTART_PARAM, TbGreedy
from sim.agent_api import AgentSpec

SPEC = AgentSpec(
    key="rtb-gbfs",
    name="RTB-GBFS",
    paper="Time-Bounded Best-First Search",
    summary="TB-GBFS for changing maps, restarting eagerly or lazily.",
    make=TbGreedy,
    params=(RESTART_PARAM, LAZY_RULE_PARAM, NO_PATH_PARAM),
)
