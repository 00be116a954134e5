"""The wiring that all agents share which learn a heuristic as they walk."""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from agents.kernel_agent import KernelAgent
from sim.agent_api import Problem, Status
from sim.grid import MapChange
from sim.kernels import learner
from sim.kernels.learned import Learned, new_learned
from sim.params import Param, Value

ON_UNBLOCK = Param(
    "on_unblock",
    str,
    "keep",
    "when cells become free, keep what was learned, too high as it may be now, or reset it",
    choices=("keep", "reset"),
)


ONE_LOOK = 9
"""Cells open and closed in a lookahead that expands one cell: it and its neighbours."""


@lru_cache(maxsize=4)
def same_depth(cells: int, depth: int) -> np.ndarray:
    """What an agent shows that looks equally deep from every cell."""
    return np.full(cells, depth, np.uint32)


class LearningAgent(KernelAgent):
    """A table of learned values and the state record of the kernel. Subclasses say which kernel runs them."""

    def __init__(self, problem: Problem, params: Mapping[str, Value]) -> None:
        super().__init__(learner.STATE)
        self.problem = problem
        self.ground = problem.grid.ground
        self.params = dict(params)
        self.learned = self._new_learned(problem.goal)
        self._set_limit()
        learner.stand(self.state, problem.start, problem.goal)

    def _new_learned(self, goal: int) -> Learned:
        return new_learned(self.ground, goal, self.problem.watched)

    forgotten_cells = 0  # the most that were learned of, before all was forgotten

    def learned_cells(self) -> int:
        return max(self.forgotten_cells, self._known_cells())

    def _known_cells(self) -> int:
        """Cells of which it knows more than h0 now."""
        return int(self.learned.target[0].cells)

    @property
    def h_changes(self) -> int:
        """How often a learned value has changed so far."""
        return int(self.learned.target[0].changes)

    def begin_trial(self, start: int) -> None:
        """Stand on the start again, with all that was learned."""
        self._drop_plan()
        learner.stand(self.state, start, self.state[0].goal)

    def set_goal(self, goal: int) -> None:
        """What was learned leads to the old goal: begin again."""
        self.state[0].goal = goal
        self._forget()
        self._set_limit()
        self._begin_again()

    def set_param(self, name: str, value: Value) -> None:
        """What was learned stays true."""
        self.params[name] = value
        self._drop_plan()

    def refused(self, cell: int) -> None:
        self._drop_plan()
        learner.stand(self.state, cell, self.state[0].goal)

    def on_change(self, change: MapChange) -> None:
        """New arcs may make what was learned too high, but not those that the agent cannot get to."""
        st = self.state[0]
        has_news = change.has_new_arcs and self._may_lead_out(change)
        loses_h = has_news and self.params["on_unblock"] == "reset"
        if loses_h:
            self._forget()
        elif has_news:
            st.slack = self.learned.target[0].highest
        self._set_limit()
        wakes = has_news and self.status is Status.NO_PATH
        if self.status is not Status.AT_GOAL and (loses_h or wakes or self._drops_cut_plan()):
            self._begin_again()

    def _may_lead_out(self, change: MapChange) -> bool:
        cells = self.problem.grid.cells
        seen, queue = np.zeros(cells, np.uint8), np.empty(cells, np.int32)
        loc = int(self.state[0].loc)
        return bool(learner.may_lead_out(self.ground, loc, change.tails, change.rose, seen, queue))

    def _set_limit(self) -> None:
        learner.set_limit(self.state, self.problem.grid.longest_way)

    def _drops_cut_plan(self) -> bool:
        """Drop a plan that the map has cut; whether that is a restart."""
        return False

    def _forget(self) -> None:
        """Learn from nothing."""
        changes, self.forgotten_cells = self.h_changes, self.learned_cells()
        self.learned = self._new_learned(int(self.state[0].goal))
        self.learned.target[0].changes = changes + 1  # it has changed, and does not count backwards
        self.state[0].slack = 0.0

    def _begin_again(self) -> None:
        self._drop_plan()
        learner.begin_again(self.state)

    def _drop_plan(self) -> None:
        """Plan anew in the next tick."""
        self.state[0].length = 0
