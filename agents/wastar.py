"""Weighted A*: f = g + w * h. The path costs at most w times the optimum, mostly after far fewer expansions than A*.

With the consistent octile heuristic the bound holds without reopening closed cells; reopening makes the search expand
several times as many cells on grids.
"""

from dataclasses import replace

from agents.best_first import REOPEN_PARAM, WEIGHT_PARAM
from agents.sliced_agent import MODE_PARAM, SlicedAgent
from sim.agent_api import AgentSpec

SPEC = AgentSpec(
    key="wastar",
    name="Weighted A*",
    paper="Pohl 1970",
    summary="A reference that trades path cost for search effort; waits until it has the whole path.",
    make=SlicedAgent,
    params=(replace(WEIGHT_PARAM, default=2.0), REOPEN_PARAM, MODE_PARAM),
    family="reference",
    is_real_time=False,
)
