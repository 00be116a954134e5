"""Base classes of agents that learn a heuristic while they walk."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from agents.kernel_agent import KernelAgent
from sim.agent_api import Problem, Status
from sim.grid import MapChange
from sim.kernels import learner
from sim.kernels.learned import LearnedHeuristic, new_learned_heuristic
from sim.kernels.targets import (
    TargetHeuristics,
    count_subgoal_values,
    goal_only_targets,
    new_target_heuristics,
    with_larger_hash_table,
)
from sim.params import Param, Value

ON_UNBLOCK_PARAM = Param(
    "on_unblock",
    str,
    "keep",
    "when cells are freed, keep the learned values, which may then be too high, or reset them",
    choices=("keep", "reset"),
)


CELLS_OF_ONE_EXPANSION = 9
"""Number of open and closed cells of a lookahead that expands one cell: at most the cell and its eight neighbours."""


@lru_cache(maxsize=4)
def uniform_lookahead_depth_map(cells: int, depth: int) -> np.ndarray:
    """Return the table of lookahead depths to display for an agent that has the same depth on all cells."""
    return np.full(cells, depth, np.uint32)


class LearningAgent(KernelAgent):
    """Agent with a table of learned h and a state record. Subclasses run their kernel in `advance`."""

    def __init__(self, problem: Problem, params: Mapping[str, Value]) -> None:
        super().__init__(learner.STATE)
        self.problem = problem
        self.map_arrays = problem.grid.map_arrays
        self.params = dict(params)
        self.learned_heuristic = self._new_learned_heuristic(problem.goal)
        self._set_h_limit()
        learner.place_agent(self.state_record, problem.start, problem.goal)

    def _new_learned_heuristic(self, goal: int) -> LearnedHeuristic:
        return new_learned_heuristic(self.map_arrays, goal, self.problem.watched)

    forgotten_cell_count = 0  # largest number of cells that had a learned h at a reset of the learned values

    def learned_cell_count(self) -> int:
        return max(self.forgotten_cell_count, self._learned_cell_count_now())

    def _learned_cell_count_now(self) -> int:
        """Return the number of cells that have a learned h now, without values that were reset."""
        return int(self.learned_heuristic.target[0].cells)

    @property
    def h_changes(self) -> int:
        """Return how often the learned h of any cell has changed so far."""
        return int(self.learned_heuristic.target[0].changes)

    def begin_trial(self, start: int) -> None:
        """Place the agent on the start again for its next trial, and keep all learned values."""
        self._drop_plan()
        learner.place_agent(self.state_record, start, self.state_record[0].goal)

    def set_goal(self, goal: int) -> None:
        """Set another goal and forget the learned values, which are distances to the old goal."""
        self.state_record[0].goal = goal
        self._forget_learned_h()
        self._set_h_limit()
        self._restart_agent()

    def set_param(self, name: str, value: Value) -> None:
        """Set a parameter and drop the plan; learned values stay valid."""
        self.params[name] = value
        self._drop_plan()

    def refused(self, cell: int) -> None:
        self._drop_plan()
        learner.place_agent(self.state_record, cell, self.state_record[0].goal)

    def on_change(self, change: MapChange) -> None:
        """Handle a change of the map: reset or keep learned values, and drop a plan with a move that became illegal.

        New arcs (moves that became legal) can make learned values too high, but only if the agent can reach them.
        """
        st = self.state_record[0]
        reaches_new_arcs = change.has_new_arcs and self._may_reach_new_arcs(change)
        loses_h = reaches_new_arcs and self.params["on_unblock"] == "reset"
        if loses_h:
            self._forget_learned_h()
        elif reaches_new_arcs:
            st.slack = self.learned_heuristic.target[0].highest
        self._set_h_limit()
        wakes = reaches_new_arcs and self.status is Status.NO_PATH
        if self.status is not Status.AT_GOAL and (loses_h or wakes or self._drop_plan_if_cut()):
            self._restart_agent()

    def _may_reach_new_arcs(self, change: MapChange) -> bool:
        """Return whether the agent can reach a cell from which a move has become legal."""
        cells = self.problem.grid.cells
        seen, queue = np.zeros(cells, np.uint8), np.empty(cells, np.int32)
        loc = int(self.state_record[0].loc)
        return bool(learner.can_reach_added_arc(self.map_arrays, loc, change.tails, change.rose, seen, queue))

    _cached_target_heuristics: TargetHeuristics | None = None  # cached result of targets()
    derived_attributes = (*KernelAgent.derived_attributes, "_cached_target_heuristics")

    def targets(self) -> TargetHeuristics:
        """Return the learned values as Targets, the form for kernels that can head for several targets.

        The object is cached until one of its tables is replaced.
        """
        if self._cached_target_heuristics is None or self._cached_target_heuristics.goal is not self.learned_heuristic:
            self._cached_target_heuristics = goal_only_targets(self.learned_heuristic)
        return self._cached_target_heuristics

    def _set_h_limit(self) -> None:
        """Set the limit above which h proves that there is no path, from the cost of the longest possible path."""
        learner.set_h_limit(self.state_record, self.problem.grid.max_path_cost)

    def _drop_plan_if_cut(self) -> bool:
        """Drop the plan if one of its moves has become illegal; return whether that counts as a restart."""
        return False

    def _forget_learned_h(self) -> None:
        """Reset all learned values."""
        changes, self.forgotten_cell_count = int(self.learned_heuristic.target[0].changes), self.learned_cell_count()
        self.learned_heuristic = self._new_learned_heuristic(int(self.state_record[0].goal))
        # The number of changes must never fall, so it continues from the old table; the reset counts as one change.
        self.learned_heuristic.target[0].changes = changes + 1
        self.state_record[0].slack = 0.0

    def _restart_agent(self) -> None:
        self._drop_plan()
        learner.restart_agent(self.state_record)

    def _drop_plan(self) -> None:
        """Drop the planned path, so that the next tick begins with planning."""
        self.state_record[0].length = 0


class SubgoalLearningAgent(LearningAgent):
    """Learning agent that also heads for subgoals, and learns a separate h toward each of its targets."""

    # Learned h toward subgoals, in a hash table that grows; h toward the goal is in `learned_heuristic`.
    subgoal_heuristics: TargetHeuristics

    @property
    def h_changes(self) -> int:
        return int(self.learned_heuristic.target[0].changes + self.subgoal_heuristics.present_target[0].changes)

    def _forget_learned_h(self) -> None:
        super()._forget_learned_h()
        changes = self.subgoal_heuristics.present_target[0].changes
        self.subgoal_heuristics = new_target_heuristics(self.map_arrays, int(self.state_record[0].goal))
        self.subgoal_heuristics.present_target[0].changes = changes

    def _learned_cell_count_now(self) -> int:
        return super()._learned_cell_count_now() + count_subgoal_values(self.subgoal_heuristics)

    def targets(self) -> TargetHeuristics:
        cached = self._cached_target_heuristics
        if (
            cached is None
            or cached.goal is not self.learned_heuristic
            or cached.keys is not self.subgoal_heuristics.keys
        ):
            cached = self._cached_target_heuristics = self.subgoal_heuristics._replace(goal=self.learned_heuristic)
        return cached

    def call_kernel_with_growing_table(self, kernel: Any, rows: np.ndarray) -> int:
        """Call a kernel that stops early when the hash table of h is too full, enlarge the table, and call it again.

        Args:
            kernel: Kernel to call.
            rows: Records to fill, one per tick.

        Returns:
            The number of rows filled.
        """
        done = 0
        while True:
            done += int(self.call_kernel(kernel, rows[done:]))
            if done == rows.size or self.status is not Status.ACTIVE:
                return done
            self.subgoal_heuristics = with_larger_hash_table(self.subgoal_heuristics)
