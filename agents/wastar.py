"""Weighted A*: f = g + w * h. A path of at most w times the optimal cost, mostly after far fewer expansions.

With the consistent octile heuristic the bound holds without reopening closed cells; with reopening, grids make
it expand several times as many.
"""

from dataclasses import replace

from agents.best_first import REOPEN, WEIGHT
from agents.sliced import MODE, SlicedAgent
from sim.agent_api import AgentSpec

SPEC = AgentSpec(
    key="wastar",
    name="Weighted A*",
    paper="Pohl 1970",
    summary="A reference that trades path cost for search effort; waits until it has the whole path.",
    make=SlicedAgent,
    params=(replace(WEIGHT, default=2.0), REOPEN, MODE),
    family="reference",
    is_real_time=False,
)
