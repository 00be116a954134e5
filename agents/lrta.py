"""LRTA*: learning real-time A*.

The agent looks ahead `depth` moves, raises h of its cell to the best value on the frontier, and takes one step. Values
are never lowered, so the agent leaves every dead end eventually, after raising h of its cells: scrubbing.

Papers: Korf 1990 (depth 1); larger depths as LRTA*(d), the control of "TBA*: Time-Bounded A*"; lookahead by cost (gmax)
as in figure 2 of "Real-time heuristic search for pathfinding in video games". Expansions: cells before the last layer,
at most (2d - 1)^2. A budget cannot cut a lookahead; if the lookahead exceeds the budget, the referee marks the tick.
Deviations: docs/deviations.md.
Known weakness: the agent learns one value a move, so it fills depressions of the heuristic cell by cell.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from agents.learning_agent import CELLS_OF_ONE_EXPANSION, ON_UNBLOCK_PARAM, LearningAgent, uniform_lookahead_depth_map
from sim.agent_api import AgentSpec, AgentView, Problem
from sim.kernels import lrta
from sim.kernels.learned import LearnedHeuristic, new_learned_heuristic
from sim.kernels.search import CLOSED, max_known_cells
from sim.kernels.tiled import table_in_row_order, table_with_layout
from sim.metrics import OwnCounts
from sim.params import Param, Value


class Lrta(LearningAgent):
    def __init__(self, problem: Problem, params: Mapping[str, Value]) -> None:
        super().__init__(problem, params)
        self.lookahead_ball = lrta.new_lookahead_ball(problem.grid.cells, problem.watched, problem.reuses_memory)

    def _lookahead_limits(self) -> tuple[int, float]:
        """Return the limits of a lookahead: its depth in moves, and its reach, the largest g of an expanded cell.

        A lookahead by depth has the reach `NO_G_LIMIT`, a lookahead by cost the depth 0.
        """
        if self.params["lookahead_by"] == "depth":
            return int(self.params["depth"]), lrta.NO_G_LIMIT
        return 0, max(0.0, float(self.params["gmax"]) - self.problem.grid.movement.max_move_cost)

    def _can_use_fast_kernel(self) -> bool:
        """Return whether the fast kernel can be used, which is only for depth 1 and for agents not displayed."""
        is_one = self.params["lookahead_by"] == "depth" and self.params["depth"] == 1
        return is_one and not self.problem.watched

    def _new_learned_heuristic(self, goal: int) -> LearnedHeuristic:
        """Return a new table of learned h values.

        The table is tiled (small squares of cells in contiguous memory, sim/kernels/tiled.py) if there are many agents
        and each move has one expansion. Deeper lookaheads need a table in row order.
        """
        return new_learned_heuristic(self.map_arrays, goal, self.problem.watched, self._tile_width())

    def _tile_width(self) -> int:
        return self.problem.tile_width if self._can_use_fast_kernel() else 0

    def set_param(self, name: str, value: Value) -> None:
        super().set_param(name, value)
        self.learned_heuristic = self.learned_heuristic._replace(
            h=table_with_layout(self.learned_heuristic.h, self._tile_width())
        )

    def materialize_view(self) -> None:
        """Do nothing, because `view` computes nothing lazily."""

    @property
    def batch_kernel(self) -> Any:
        return lrta.run_batch if self._can_use_fast_kernel() else None

    def kernel_arguments(self) -> tuple[Any, ...]:
        if self._can_use_fast_kernel():
            return self.map_arrays, self.learned_heuristic, self.state_record
        return self.map_arrays, self.targets(), self.lookahead_ball, self.state_record

    def advance(self, budget: int, rows: np.ndarray) -> int:
        if self._can_use_fast_kernel():
            return int(self.call_kernel(lrta.run_ticks_at_depth_1, rows))
        return int(self.call_kernel(lrta.run_ticks, *self._lookahead_limits(), rows))

    def own_counts(self) -> OwnCounts:
        """Return the agent's count of memory, which is the same whether or not the agent is displayed.

        The fast kernel for depth 1 has no open and closed lists, so `CELLS_OF_ONE_EXPANSION` cells are counted in their
        place.
        """
        return OwnCounts(
            memory=max(CELLS_OF_ONE_EXPANSION, max_known_cells(self.lookahead_ball.search)) + self.learned_cell_count()
        )

    def _lookahead_depth_map(self) -> np.ndarray | None:
        if self.params["lookahead_by"] == "cost" or not self.problem.watched:
            return None
        return uniform_lookahead_depth_map(self.problem.grid.cells, int(self.params["depth"]))

    def view(self) -> AgentView:
        st, search = self.state_record[0], self.lookahead_ball.search
        if self._can_use_fast_kernel() or st.best < 0:
            learned = self.learned_heuristic._replace(h=table_in_row_order(self.learned_heuristic.h))
            return AgentView(learned=learned, best=int(st.best), depths=self._lookahead_depth_map())
        cells = self.lookahead_ball.cells[: int(st.closed)]
        return AgentView(
            search=search,
            best=int(st.best),
            root=int(search.control[0].root),
            learned=self.learned_heuristic,
            groups={"local space": cells[search.nodes["place"][cells] == CLOSED]},
            numbers={"h updates": float(st.updates)},
            depths=self._lookahead_depth_map(),
        )


def max_expansions_per_move(params: Mapping[str, Value]) -> int:
    """Return the maximum number of expansions of one lookahead. The budget does not limit them."""
    radius = int(params["depth"]) - 1 if params["lookahead_by"] == "depth" else max(0, int(params["gmax"]) - 1)
    return (2 * radius + 1) ** 2


SPEC = AgentSpec(
    key="lrta",
    name="LRTA*",
    paper="Korf 1990; TBA*: Time-Bounded A*",
    summary="Looks a few moves ahead, raises the heuristic of its cell, takes one step.",
    make=Lrta,
    params=(
        Param("depth", int, 1, "lookahead depth in moves", 1, 32, symbol="d"),
        Param(
            "lookahead_by",
            str,
            "depth",
            "whether the lookahead is limited by depth in moves, or by cost",
            choices=("depth", "cost"),
        ),
        Param(
            "gmax",
            float,
            1.5,
            "limit of a lookahead by cost; up to 2 it reaches only the neighbours",
            1.0,
            32.0,
            step=0.5,
        ),
        ON_UNBLOCK_PARAM,
    ),
    family="learning",
    keeps_h=True,
    needed=max_expansions_per_move,
    shows=frozenset({"groups"}),
)
