"""TB-WA*: time-bounded weighted A*.

In each tick the agent expands k cells of one weighted A* search, makes the path to the best open cell, and moves one
cell: along the path, or to the parent if it is not on the path. With a larger weight the best open cell changes less
from tick to tick, which gives fewer back-moves.

Paper: "Time-Bounded Best-First Search". Bound: floor((N - 1) / k) * sqrt(2) + 2 * w * optimal cost, where N is
the number of expansions. With w = 1 the agent expands exactly the cells that A* expands.
Note: with `reopen`, the literal reading of the paper's listing, the mean cost on game maps grows with w; the published
trends hold only without it.
"""

from agents.best_first import REOPEN_PARAM, WEIGHT_PARAM
from agents.tb_bfs import TbBfs
from sim.agent_api import AgentSpec

SPEC = AgentSpec(
    key="tb-wa",
    name="TB-WA*",
    paper="Time-Bounded Best-First Search",
    summary="Weighted A* sliced over ticks; a weight above 1 tames the scrubbing.",
    make=TbBfs,
    params=(WEIGHT_PARAM, REOPEN_PARAM),
    advised_settings=({"weight": 1.4}, {"weight": 2.0}, {"weight": 3.0}),
)
