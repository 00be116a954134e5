"""TB-GBFS: time-bounded greedy best-first search.

The agent works like TB-WA* but orders the open list by the heuristic alone. This gives the least scrubbing at small
budgets, and no bound on the cost of the final path. Paper: "Time-Bounded Best-First Search".
"""

from agents.tb_bfs import TbGreedy
from sim.agent_api import AgentSpec

SPEC = AgentSpec(
    key="tb-gbfs",
    name="TB-GBFS",
    paper="Time-Bounded Best-First Search",
    summary="Greedy search sliced over ticks: best at tiny budgets, but the cost of its path has no bound.",
    make=TbGreedy,
    advised_settings=({},),
)
