"""TB-GBFS: time-bounded greedy best-first search.

As TB-WA*, but ordered by the heuristic alone: the least scrubbing at small budgets, and no bound on the cost of
the path that it ends with. Paper: "Time-Bounded Best-First Search".
"""

from agents.tb_bfs import TbGreedy
from sim.agent_api import AgentSpec

SPEC = AgentSpec(
    key="tb-gbfs",
    name="TB-GBFS",
    paper="Time-Bounded Best-First Search",
    summary="Greedy search sliced over ticks: best at tiny budgets, unbounded at large ones.",
    make=TbGreedy,
)
