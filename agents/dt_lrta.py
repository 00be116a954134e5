"""DT LRTA*, LRTA*(DT,G) in the paper: LRTA* whose depth of lookahead is chosen by a decision tree.

Before each move the agent computes eleven features of its state (such as the distance to the goal, the number of
visits, the values learned nearby). A decision tree, trained on labelled walks on other maps, maps them to a depth. The
label of a state is the smallest depth from which on all depths up to the largest choose the same move; oracle-lrta
walks with the labels themselves.

Paper: "Dynamic Control in Real-Time Heuristic Search", section 5.1, appendix A. Expansions: at most (2 dmax - 1)^2 and
the ones of the pre-search. The tree is assets/depth-tree.json, made by `python -m tools.train_tree`. On game maps
outside the training set it predicts half of the labels; a constant depth predicts a fifth. Deviations:
docs/deviations.md.
Known weakness: the agent heads for the goal; the choice of subgoals matters more than the depth of lookahead.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from agents.learning_agent import CELLS_OF_ONE_EXPANSION, ON_UNBLOCK_PARAM, LearningAgent
from files.depth_tree_file import shipped_tree
from sim.agent_api import AgentSpec, AgentView, Problem
from sim.kernels import depth_control
from sim.kernels.lrta import new_lookahead_ball
from sim.kernels.search import CLOSED, max_known_cells
from sim.metrics import OwnCounts
from sim.params import Param, Value


class DepthChoosingAgent(LearningAgent):
    """Base class of agents that choose their lookahead depth during the run. Subclasses choose it in `advance`."""

    steps = 1  # number of last moves kept in the history, from which features are computed

    def __init__(self, problem: Problem, params: Mapping[str, Value]) -> None:
        super().__init__(problem, params)
        self.lookahead_ball = new_lookahead_ball(problem.grid.cells, problem.watched)
        # Memory of lookaheads that only serve to choose the depth.
        self.depth_choice_ball = new_lookahead_ball(problem.grid.cells, False)
        self._reset_step_history()

    def _reset_step_history(self) -> None:
        self.step_history = depth_control.new_step_history(self.problem.grid.cells, self.steps)

    def begin_trial(self, start: int) -> None:
        super().begin_trial(start)
        self._reset_step_history()

    def kernel_arguments(self) -> tuple[Any, ...]:
        return (
            self.map_arrays,
            self.targets(),
            self.lookahead_ball,
            self.depth_choice_ball,
            self.step_history,
            self.state_record,
        )

    def own_counts(self) -> OwnCounts:
        balls = self.lookahead_ball, self.depth_choice_ball
        return OwnCounts(
            memory=sum(max(CELLS_OF_ONE_EXPANSION, max_known_cells(ball.search)) for ball in balls)
            + self.learned_cell_count()
        )

    def view(self) -> AgentView:
        st, search, watched = self.state_record[0], self.lookahead_ball.search, self.problem.watched
        looks = watched and st.best >= 0
        cells = self.lookahead_ball.cells[: int(st.closed)] if looks else self.lookahead_ball.cells[:0]
        return AgentView(
            search=search if looks else None,
            best=int(st.best),
            root=int(search.control[0].root) if looks else -1,
            learned=self.learned_heuristic,
            groups={"local space": cells[search.nodes["place"][cells] == CLOSED]},
            numbers=self.displayed_numbers(),
            depths=self.step_history.depths,
        )

    def displayed_numbers(self) -> dict[str, float]:
        return {
            "depth": float(self.step_history.record[0].last_depth),
            "h updates": float(self.state_record[0].updates),
        }


FEATURE_NAMES = (
    "h0 to the goal",
    "h0 to cell n steps ago",
    "different cells in n steps",
    "h learned in n steps",
    "frontier",
    "frontier with learned h",
    "same move as last visit",
    "same move as last step",
    "h / h of next cell",
    "next cell has learned h",
    "h above h of next cell",
)
"""Names of the features of appendix A in the inspector."""


class DtLrta(DepthChoosingAgent):
    def __init__(self, problem: Problem, params: Mapping[str, Value]) -> None:
        self.depth_tree = shipped_tree()
        self.steps = self.depth_tree.steps
        super().__init__(problem, params)

    def advance(self, budget: int, rows: np.ndarray) -> int:
        dmax = int(self.params["dmax"])
        return int(
            self.call_kernel(
                depth_control.run_tree_ticks,
                self.depth_tree.decision_tree,
                self.depth_tree.presearch_depth,
                dmax,
                self.problem.watched,
                rows,
            )
        )

    def displayed_numbers(self) -> dict[str, float]:
        features = dict(zip(FEATURE_NAMES, self.step_history.features.tolist(), strict=True))
        probed, now = self.step_history.record[0].probed, self.depth_choice_ball.search.control[0].expansions
        return (
            super().displayed_numbers() | {"pre-search": float(probed), "of these for this move": float(now)} | features
        )


def dmax_param(default: int) -> Param:
    return Param("dmax", int, default, "largest lookahead depth", 1, 20)


def max_expansions_per_move(params: Mapping[str, Value]) -> int:
    """Return the maximum number of expansions of one move, pre-search included. The budget does not limit them."""
    return (2 * int(params["dmax"]) - 1) ** 2 + (2 * shipped_tree().presearch_depth - 1) ** 2


SPEC = AgentSpec(
    key="dt-lrta",
    name="DT LRTA*",
    paper="Dynamic Control in Real-Time Heuristic Search",
    summary="LRTA* whose lookahead depth is predicted by a decision tree trained on other maps.",
    make=DtLrta,
    params=(dmax_param(10), ON_UNBLOCK_PARAM),
    family="learning",
    keeps_h=True,
    needed=max_expansions_per_move,
    shows=frozenset({"groups"}),
)
