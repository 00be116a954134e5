"""Base class of D LRTA* and PR LRTA*: agents with a database of subgoals and lookahead depths.

A database has one column for each goal region. The column has an entry for every region of the map: the next subgoal on
the way to the goal region, or the lookahead depth, or both. An agent also counts its visits to each cell, because a
cell that is visited again may mean that the agent is in a loop between subgoals (dynamic_control.py).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from agents.learning_agent import LearningAgent
from agents.prepared_data_mixins import AbstractionMixin
from sim import subgoal_databases
from sim.abstraction import ABSTRACTION_RECIPE
from sim.agent_api import Problem
from sim.grid import Grid, MapChange
from sim.kernels.memory import lazily_allocated_zeros
from sim.params import Value
from sim.prepared_data import BuildProgress, DataRecipe, PreparedData, Stopwatch, fetch_data, iter_fetch_data

ColumnRecipe = Callable[[Any, int, Mapping[str, Value]], DataRecipe | None]
"""Function that returns the recipe of the column that an agent needs, or None if it needs no column.

Its arguments are the levels of the abstraction, the goal cell and the agent's parameters.
"""


def prepare_database_column(
    column_recipe: ColumnRecipe, problem: Problem, params: Mapping[str, Value], stopwatch: Stopwatch | None
) -> Iterator[BuildProgress]:
    """Compute the abstraction and the database column of the goal's region step by step.

    Args:
        column_recipe: Function that returns the recipe of the needed column.
        problem: Problem of the agent.
        params: Parameters of the agent.
        stopwatch: Clock that measures the time of the computation; None: the time is not measured.
    """
    abstraction = yield from iter_fetch_data(ABSTRACTION_RECIPE, problem.grid, stopwatch)
    recipe = column_recipe(abstraction.tables, problem.goal, params)
    if recipe is not None:
        yield from iter_fetch_data(recipe, problem.grid, stopwatch)


class DatabaseColumnAgent(AbstractionMixin, LearningAgent):
    """Base class of agents with a database column.

    Subclasses have a record array `control_record`, which `_fill_control_record` fills in. Its field `is_for_good` is 1
    once the agent heads only for the goal, without further subgoals, until the next trial or goal.
    """

    column_recipe: ColumnRecipe
    control_record: Any
    initial_visits = 1  # number of visits of the agent's own cell when a run, a trial or a new goal begins

    # --- prepared data ---

    def _fetch_prepared_data(self) -> None:
        super()._fetch_prepared_data()
        self._fetch_database_column()

    def _fetch_database_column(self) -> None:
        """Fetch the database column of the goal's region. The abstraction must be of the current map."""
        recipe = self.column_recipe(self.abstraction_levels, int(self.state_record[0].goal), self.params)
        self.database_column = fetch_data(recipe, self.problem.grid) if recipe else subgoal_databases.NO_DATABASE_COLUMN
        self._fill_control_record()

    def steps(self, grid: Grid) -> Iterator[BuildProgress]:
        problem = Problem(grid, int(self.state_record[0].loc), int(self.state_record[0].goal))
        return prepare_database_column(self.column_recipe, problem, self.params, None)

    def _fill_control_record(self) -> None:
        raise NotImplementedError

    @property
    def has_database_column(self) -> bool:
        return self.database_column is not subgoal_databases.NO_DATABASE_COLUMN

    @property
    def prepared_data(self) -> tuple[PreparedData, ...]:
        return self.abstraction, self.database_column

    # --- the contract ---

    def _reset_visit_counts(self) -> None:
        self.visit_counts = lazily_allocated_zeros(self.problem.grid.cells, np.uint32)
        self.visit_counts[self.state_record[0].loc] = self.initial_visits
        self.control_record[0].is_for_good = 0

    def begin_trial(self, start: int) -> None:
        super().begin_trial(start)
        self._reset_visit_counts()

    def set_goal(self, goal: int) -> None:
        super().set_goal(goal)
        self._reset_visit_counts()
        if not self.is_stale:
            self._fetch_database_column()

    def set_param(self, name: str, value: Value) -> None:
        super().set_param(name, value)
        if name == "after_change":
            self.set_after_change_policy(value)
        if not self.is_stale:
            self._fetch_database_column()
        self._fill_control_record()

    def on_change(self, change: MapChange) -> None:
        super().on_change(change)
        was_stale = self.is_stale
        self.update_data_after_change(change)
        if was_stale and not self.is_stale:
            self._fetch_database_column()  # while the data was stale, the goal may have been moved to another region
        self._fill_control_record()
