"""Repeated TB-WA*: TB-WA* on a map that changes.

After a change it begins its search again where it stands: eagerly (any change) or lazily (Algorithm 3 of
"Time-Bounded Best-First Search": only when an arc still to be walked got dearer, or a cheaper one may give a
path w times better). A lazy agent checks its way against the map before it walks it, so it never runs into a
wall that an old label leads through.
"""

from dataclasses import replace

from agents.best_first import REOPEN, WEIGHT
from agents.tb_bfs import LAZY_RULE, NO_PATH, RESTART, TbBfs
from sim.agent_api import AgentSpec

SPEC = AgentSpec(
    key="rtb-wa",
    name="RTB-WA*",
    paper="Time-Bounded Best-First Search",
    summary="TB-WA* for changing maps, restarting eagerly or lazily.",
    make=TbBfs,
    params=(replace(WEIGHT, default=2.0), RESTART, LAZY_RULE, NO_PATH, REOPEN),
)
