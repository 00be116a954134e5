"""TB-WA*: time-bounded weighted A*.

Each tick expands k cells of one weighted A* search, makes the path to the best open cell, and moves one cell:
along it, or back to the parent when off it. A larger weight keeps the search on one course: fewer back-moves.

Paper: "Time-Bounded Best-First Search". Bound: floor((N - 1) / k) * sqrt(2) + 2 * w * optimal cost, where N is
the number of expansions. With w = 1 it expands exactly what A* expands.
Trap: `reopen` on, as the listing reads literally, makes the cost grow with w; the published trends hold without.
"""

from agents.best_first import REOPEN, WEIGHT
from agents.tb_bfs import TbBfs
from sim.agent_api import AgentSpec

SPEC = AgentSpec(
    key="tb-wa",
    name="TB-WA*",
    paper="Time-Bounded Best-First Search",
    summary="Weighted A* sliced over ticks; a weight above 1 tames the scrubbing.",
    make=TbBfs,
    params=(WEIGHT, REOPEN),
)
