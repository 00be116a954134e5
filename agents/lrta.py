"""LRTA*: learning real-time A*.

Looks ahead `depth` moves, raises h of the cell it stands on to the best value on the frontier, takes one step. Values
are never lowered, so it leaves every dead end at last, after filling it with what it learned: scrubbing.

Papers: Korf 1990 (depth 1); depths above as LRTA*(d), the control of "TBA*: Time-Bounded A*"; by cost as in figure 2
of "Real-time heuristic search for pathfinding in video games" (gmax). Expansions: cells before the last layer, at most
(2d - 1)^2. A lookahead cannot be cut by a budget: where it is larger the referee marks the tick. Deviations:
docs/deviations.md.
Known weakness: one value a move. Depressions of the heuristic are filled cell by cell.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from agents.learning import ON_UNBLOCK, ONE_LOOK, LearningAgent, same_depth
from sim.agent_api import AgentSpec, AgentView, Problem
from sim.kernels import crew, lrta
from sim.kernels.learned import Learned, new_learned
from sim.kernels.search import CLOSED, most_known
from sim.kernels.tiled import in_rows, laid_out
from sim.metrics import OwnCounts
from sim.params import Param, Value


class Lrta(LearningAgent):
    def __init__(self, problem: Problem, params: Mapping[str, Value]) -> None:
        super().__init__(problem, params)
        self.ball = lrta.new_ball(problem.grid.cells, problem.watched, problem.reuses_memory)

    def _lookahead(self) -> tuple[int, float]:
        """Depth, and the g up to which cells are expanded; by depth there is none, by cost the other way round."""
        if self.params["lookahead_by"] == "depth":
            return int(self.params["depth"]), lrta.NO_REACH
        return 0, max(0.0, float(self.params["gmax"]) - self.problem.grid.movement.dearest)

    def _is_classic(self) -> bool:
        """Whether one cell is expanded a move, and nobody wants to see it."""
        is_one = self.params["lookahead_by"] == "depth" and self.params["depth"] == 1
        return is_one and not self.problem.watched

    def _new_learned(self, goal: int) -> Learned:
        """Where there are many of them its values are in tiles, see kernels/tiled.py; deeper lookaheads want rows."""
        return new_learned(self.ground, goal, self.problem.watched, self._tile_width())

    def _tile_width(self) -> int:
        return self.problem.tile_width if self._is_classic() else 0

    def set_param(self, name: str, value: Value) -> None:
        super().set_param(name, value)
        self.learned = self.learned._replace(h=laid_out(self.learned.h, self._tile_width()))

    def settle_view(self) -> None:
        """Looking at it writes nothing."""

    @property
    def crew_kernel(self) -> Any:
        return crew.run_classic_lrta if self._is_classic() else None

    def parts(self) -> tuple[Any, ...]:
        if self._is_classic():
            return self.ground, self.learned, self.state
        return self.ground, self.targets(), self.ball, self.state

    def advance(self, budget: int, rows: np.ndarray) -> int:
        if self._is_classic():
            return int(self.call(lrta.run_classic, rows))
        return int(self.call(lrta.run, *self._lookahead(), rows))

    def own_counts(self) -> OwnCounts:
        """The same whether the lookahead of depth 1 takes the short way, which has no lists, or somebody looks."""
        return OwnCounts(memory=max(ONE_LOOK, most_known(self.ball.search)) + self.learned_cells())

    def _depths(self) -> np.ndarray | None:
        if self.params["lookahead_by"] == "cost" or not self.problem.watched:
            return None
        return same_depth(self.problem.grid.cells, int(self.params["depth"]))

    def view(self) -> AgentView:
        st, search = self.state[0], self.ball.search
        if self._is_classic() or st.best < 0:
            shown = self.learned._replace(h=in_rows(self.learned.h))
            return AgentView(learned=shown, best=int(st.best), depths=self._depths())
        cells = self.ball.cells[: int(st.closed)]
        return AgentView(
            search=search,
            best=int(st.best),
            root=int(search.control[0].root),
            learned=self.learned,
            groups={"local space": cells[search.nodes["place"][cells] == CLOSED]},
            numbers={"h updates": float(st.updates)},
            depths=self._depths(),
        )


def needed(params: Mapping[str, Value]) -> int:
    """Most expansions of one lookahead, whatever the budget is."""
    radius = int(params["depth"]) - 1 if params["lookahead_by"] == "depth" else max(0, int(params["gmax"]) - 1)
    return (2 * radius + 1) ** 2


SPEC = AgentSpec(
    key="lrta",
    name="LRTA*",
    paper="Korf 1990; TBA*: Time-Bounded A*",
    summary="Looks a few moves ahead, raises the heuristic where it stands, takes one step.",
    make=Lrta,
    params=(
        Param("depth", int, 1, "moves to look ahead", 1, 32, symbol="d"),
        Param("lookahead_by", str, "depth", "look ahead so many moves, or up to a cost", choices=("depth", "cost")),
        Param("gmax", float, 1.5, "cost to look ahead; up to 2, the neighbours only", 1.0, 32.0, step=0.5),
        ON_UNBLOCK,
    ),
    family="learning",
    keeps_h=True,
    needed=needed,
    shows=frozenset({"groups"}),
)
