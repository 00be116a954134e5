"""The wiring that all agents share which learn a heuristic as they walk."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from agents.kernel_agent import KernelAgent
from sim.agent_api import Problem, Status
from sim.grid import MapChange
from sim.kernels import learner
from sim.kernels.learned import Learned, new_learned
from sim.kernels.targets import Targets, cells_toward_others, grown, new_targets, only_goal
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

    _targets: Targets | None = None  # what targets() made last
    made_again = (*KernelAgent.made_again, "_targets")

    def targets(self) -> Targets:
        """What was learned, as kernels take it that may head for other cells; the same object as long as no table of
        it was replaced by another.
        """
        if self._targets is None or self._targets.goal is not self.learned:
            self._targets = only_goal(self.learned)
        return self._targets

    def _set_limit(self) -> None:
        learner.set_limit(self.state, self.problem.grid.longest_way)

    def _drops_cut_plan(self) -> bool:
        """Drop a plan that the map has cut; whether that is a restart."""
        return False

    def _forget(self) -> None:
        """Learn from nothing."""
        changes, self.forgotten_cells = int(self.learned.target[0].changes), self.learned_cells()
        self.learned = self._new_learned(int(self.state[0].goal))
        self.learned.target[0].changes = changes + 1  # forgetting is a change; other tables keep their own counts
        self.state[0].slack = 0.0

    def _begin_again(self) -> None:
        self._drop_plan()
        learner.begin_again(self.state)

    def _drop_plan(self) -> None:
        """Plan anew in the next tick."""
        self.state[0].length = 0


class TargetingAgent(LearningAgent):
    """One that heads for other cells than the goal, too, and learns toward each of them."""

    others: Targets  # what was learned toward these, in a table that grows; the goal has `learned`

    @property
    def h_changes(self) -> int:
        return int(self.learned.target[0].changes + self.others.aimed[0].changes)

    def _forget(self) -> None:
        super()._forget()
        changes = self.others.aimed[0].changes
        self.others = new_targets(self.ground, int(self.state[0].goal))
        self.others.aimed[0].changes = changes

    def _known_cells(self) -> int:
        return super()._known_cells() + cells_toward_others(self.others)

    def targets(self) -> Targets:
        made = self._targets
        if made is None or made.goal is not self.learned or made.keys is not self.others.keys:
            made = self._targets = self.others._replace(goal=self.learned)
        return made

    def call_growing(self, kernel: Any, rows: np.ndarray) -> int:
        """Let a kernel work that stops where the table is too full, and go on with a larger one. Returns the rows."""
        done = 0
        while True:
            done += int(self.call(kernel, rows[done:]))
            if done == rows.size or self.status is not Status.ACTIVE:
                return done
            self.others = grown(self.others)
