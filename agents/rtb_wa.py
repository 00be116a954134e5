"""Repeated TB-WA*: TB-WA* on a map that changes.

After a map change the agent restarts its search at its cell: eagerly (after any change) or lazily (Algorithm 3 of
"Time-Bounded Best-First Search": only if an arc still to be walked became more expensive, or a cheaper arc may give a
path that is better by a factor of w). A lazy agent checks its path against the map before it walks, so that labels from
before the change never lead it into a wall.
"""

from dataclasses import replace

from agents.best_first import REOPEN_PARAM, WEIGHT_PARAM
from agents.tb_bfs import LAZY_RULE_PARAM, NO_PATH_PARAM, RESTART_PARAM, TbBfs
from sim.agent_api import AgentSpec

SPEC = AgentSpec(
    key="rtb-wa",
    name="RTB-WA*",
    paper="Time-Bounded Best-First Search",
    summary="TB-WA* for changing maps, restarting eagerly or lazily.",
    make=TbBfs,
    params=(replace(WEIGHT_PARAM, default=2.0), RESTART_PARAM, LAZY_RULE_PARAM, NO_PATH_PARAM, REOPEN_PARAM),
)
