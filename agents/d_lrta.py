"""D LRTA*: LRTA* with dynamic control of depth and goal by a database.

Before the run the map is divided into regions. For each region a database has the subgoal on the way to the goal's
region, and the depth of lookahead. During the run each move needs one lookup. With subgoals nearly every move is
correct with a lookahead of one cell. Names in the paper: LRTA*(F,G) is LRTA*; with depths from the database it is
LRTA*(PDB,G), with subgoals LRTA*(F,PDB), with both LRTA*(PDB,PDB), which is D LRTA* itself.

Real-time bound: (2 d - 1)^2 expansions a move, where d is the fixed depth or the cap. There is no bound with
`cap: none`, as in table 3 of the paper, because the depth then comes from the database: on a cell visited before from
a third database, which has the depths for the global goal.

Paper: "Dynamic Control in Real-Time Heuristic Search" (2008). After a change of the map the database is stale: the
agent heads for the goal with depth 1 until the change is reverted or the database is rebuilt.
Deviations: docs/deviations.md.
Known weakness: the computation before the run, for every map and goal region.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from math import inf
from typing import Any

import numpy as np

from agents.column_agent import DatabaseColumnAgent, prepare_database_column
from agents.learning_agent import (
    CELLS_OF_ONE_EXPANSION,
    ON_UNBLOCK_PARAM,
    LearningAgent,
    SubgoalLearningAgent,
    uniform_lookahead_depth_map,
)
from agents.prepared_data_mixins import after_change_param
from sim import subgoal_databases
from sim.abstraction import region_map
from sim.agent_api import AgentSpec, AgentView, Problem
from sim.kernels import dynamic_control
from sim.kernels.lrta import new_lookahead_ball
from sim.kernels.search import CLOSED, max_known_cells
from sim.kernels.targets import count_subgoal_values, new_target_heuristics
from sim.metrics import OwnCounts
from sim.params import Param, Value
from sim.prepared_data import DataRecipe

_MAX_WAYPOINTS = 64  # maximum number of subgoals ahead of the agent that the window draws
REENTRANCE_RULES = {
    "per cell": dynamic_control.DROP_AT_THIS_CELL,
    "for good": dynamic_control.DROP_FOR_GOOD,
    "never": dynamic_control.NEVER_DROP,
}


def d_lrta_column_recipe(levels: Any, goal: int, params: Mapping[str, Value]) -> DataRecipe | None:
    """Return the recipe of the database column that an agent with these parameters needs; None: it needs none.

    Args:
        levels: Levels of the abstraction.
        goal: Goal cell.
        params: Parameters of the agent.
    """
    level = subgoal_databases.clipped_level(levels, int(params["level"]))
    region = subgoal_databases.region_of_cell(levels, goal, level)
    uses_depths, uses_subgoals = params["depth_control"] == "database", params["goal_control"] == "database"
    if region < 0 or not (uses_depths or uses_subgoals):
        return None
    near_needs = "all depths" if uses_stored_depth(params) else "near depths"
    needs = "subgoals" if not uses_depths else near_needs if uses_subgoals else "far depths"
    return subgoal_databases.database_column_recipe(level, region, int(params["cap"]), needs)


def uses_stored_depth(params: Mapping[str, Value]) -> bool:
    """Return whether on a cell visited before the agent uses the lookahead depth stored for its goal, not the cap."""
    return params["revisit"] == "stored depth" or (params["revisit"] == "as published" and not params["cap"])


class DLrta(DatabaseColumnAgent, SubgoalLearningAgent):
    column_recipe = staticmethod(d_lrta_column_recipe)

    def __init__(self, problem: Problem, params: Mapping[str, Value]) -> None:
        LearningAgent.__init__(self, problem, params)
        self.subgoal_heuristics = new_target_heuristics(self.map_arrays, problem.goal)
        self.lookahead_ball = new_lookahead_ball(problem.grid.cells, problem.watched)
        self.control_record = np.zeros(1, dynamic_control.CONTROL).view(np.recarray)
        self.control_record[0].sees_all = problem.watched
        self._reset_visit_counts()
        self.fetch_initial_data(problem.grid, params)

    # --- data ---

    def _fill_control_record(self) -> None:
        it, params = self.control_record[0], self.params
        level = subgoal_databases.clipped_level(self.abstraction_levels, int(params["level"]))
        it.level, it.first = level, self.abstraction_levels.first[level]
        it.uses_subgoals = params["goal_control"] == "database"
        it.uses_depths = params["depth_control"] == "database"
        it.depth, it.rule = params["depth"], REENTRANCE_RULES[str(params["reentrance"])]
        it.cap, it.uses_stored = params["cap"] or self.problem.grid.cells, uses_stored_depth(params)
        it.uses_database = not self.needs_database or (self.has_database_column and not self.is_stale)

    @property
    def needs_database(self) -> bool:
        """Return whether the agent uses the database, which a map change makes stale; LRTA*(F,G) does not."""
        return "database" in (self.params["goal_control"], self.params["depth_control"])

    def on_rebuilt_data(self) -> None:
        """Forget the learned values toward subgoals, because they may be too high for the new map."""
        self.forgotten_cell_count = self.learned_cell_count()
        self.subgoal_heuristics = new_target_heuristics(self.map_arrays, int(self.state_record[0].goal))

    # --- the contract ---

    def own_counts(self) -> OwnCounts:
        return OwnCounts(
            max(CELLS_OF_ONE_EXPANSION, max_known_cells(self.lookahead_ball.search)) + self.learned_cell_count(),
            self.database_bytes,
        )

    def kernel_arguments(self) -> tuple[Any, ...]:
        data, targets = (self.abstraction_levels, self.database_column.tables), self.targets()
        return (
            self.map_arrays,
            *data,
            targets,
            self.lookahead_ball,
            self.visit_counts,
            self.control_record,
            self.state_record,
        )

    def run_with_data(self, budget: int, rows: np.ndarray) -> int:
        return self.call_kernel_with_growing_table(dynamic_control.run_ticks, rows)

    def subgoal_chain(self) -> np.ndarray:
        """Return the chain of subgoals in the database from the agent's cell on; the agent may deviate from it."""
        it, cell, chain = self.control_record[0], int(self.state_record[0].loc), list[int]()
        while it.uses_database and it.uses_subgoals and len(chain) < _MAX_WAYPOINTS:
            region = subgoal_databases.region_of_cell(self.abstraction_levels, cell, int(it.level))
            cell = int(self.database_column.tables.subgoal[region - it.first]) if region >= 0 else -1
            if cell < 0 or cell in chain:
                break
            chain.append(cell)
        return np.array(chain, np.int32)

    def _lookahead_depth_map(self) -> np.ndarray | None:
        """Return the table of lookahead depths to display, one for each cell, or None if no depths are displayed.

        The depth of a cell is the one of its region in the database. If the database has no depths, all cells have the
        fixed depth; while the database is not used, they have depth 1.
        """
        it = self.control_record[0]
        if not (it.uses_database and it.uses_depths):
            depth = int(it.depth) if it.uses_database else 1
            return uniform_lookahead_depth_map(self.problem.grid.cells, depth) if self.problem.watched else None
        return subgoal_databases.lookahead_depths_of_cells(self.abstraction, self.database_column, int(it.level))

    def view(self) -> AgentView:
        it, counts = self.control_record[0], self.subgoal_heuristics.counts[0]
        search, st = self.lookahead_ball.search, self.state_record[0]
        cells = (
            self.lookahead_ball.cells[: int(st.closed)]
            if st.best >= 0 and it.sees_all
            else self.lookahead_ball.cells[:0]
        )
        return AgentView(
            search=search if it.sees_all and st.best >= 0 else None,
            best=int(st.best),
            root=int(search.control[0].root) if cells.size else -1,
            learned=self.learned_heuristic,
            groups={"local space": cells[search.nodes["place"][cells] == CLOSED]},
            numbers={
                "depth": float(it.last_depth),
                "h updates": float(st.updates),
                "tables of h": float(1 + counts.tables),
                "h of subgoals": float(count_subgoal_values(self.subgoal_heuristics)),
            },
            waypoints=self.subgoal_chain(),
            target=int(it.last_target) if st.best >= 0 else -1,
            depths=self._lookahead_depth_map(),
            regions=region_map(self.abstraction, int(it.level)),
            prepared=self.prepared_data,
            is_stale=self.is_stale and self.needs_database,
            notes=frozenset(self._event_text_keys()),
        )

    def _event_text_keys(self) -> Iterator[str]:
        """Yield the keys of the events of the last tick, for display."""
        it = self.control_record[0]
        if it.is_for_good:
            yield "for good"
        if self.needs_database:
            yield "look up" if it.has_looked_up else "without data"
        if it.drops_subgoal:
            yield "reenter"


def may_loop_between_subgoals(params: Mapping[str, Value]) -> bool:
    """Return whether the agent may loop between subgoals for ever, because no rule sends it to its goal instead."""
    return params["goal_control"] == "database" and params["reentrance"] == "never"


def max_expansions_per_move(params: Mapping[str, Value]) -> float:
    """Return the maximum number of expansions of a lookahead (infinity without a cap). No budget limits them."""
    if params["depth_control"] == "database" and not params["cap"]:
        return inf
    depth = int(params["cap"]) if params["depth_control"] == "database" else int(params["depth"])
    return (2 * depth - 1) ** 2


SPEC = AgentSpec(
    key="d-lrta",
    name="D LRTA*",
    paper="Dynamic Control in Real-Time Heuristic Search",
    summary="LRTA* that looks up its subgoal and its depth in a database of the map.",
    make=DLrta,
    params=(
        Param(
            "goal_control",
            str,
            "database",
            "head for subgoals (database), or only for the goal (global)",
            choices=("database", "global"),
        ),
        Param("depth_control", str, "database", "source of the lookahead depth", choices=("database", "fixed")),
        Param("level", int, 3, "level of the abstraction whose regions the database describes", 1, 12),
        Param("depth", int, 1, "lookahead depth in moves, if it is fixed", 1, 32, symbol="d"),
        Param(
            "cap",
            int,
            10,
            "largest lookahead depth in the database; none, as in the paper's table 3: unlimited expansions in a move",
            0,
            32,
            symbol="c",
            zero_word="none",
        ),
        Param(
            "revisit",
            str,
            "as published",
            "depth on a cell visited before: the cap; the one stored for the goal; as published: stored if cap is none",
            choices=("as published", "stored depth", "cap"),
        ),
        Param(
            "reentrance",
            str,
            "per cell",
            "on a cell visited before, head for the goal: while on such cells, from then on (for good), or never",
            choices=tuple(REENTRANCE_RULES),
        ),
        ON_UNBLOCK_PARAM,
        after_change_param("fall back"),
    ),
    family="learning",
    keeps_h=True,
    converges_to_optimal=False,
    may_loop=may_loop_between_subgoals,
    needed=max_expansions_per_move,
    prepare=partial(prepare_database_column, d_lrta_column_recipe),
    shows=frozenset({"groups", "regions", "waypoints", "control"}),
)
