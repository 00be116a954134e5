"""PR LRTA*: LRTA* with path refinement.

LRTA* runs on the regions of one level of the abstraction, where a lookahead of a few regions covers a large area. Each
move between regions is refined by A* inside the current region and the next one, and then walked as a leg. The depth
of the lookahead may come from a database; the target may come from a database too, for a second, higher level.

Papers: "Dynamic Control in Real-Time Heuristic Search", section 7.2, table 2; "TBA*: Time-Bounded A*". Expansions: on
regions and on the map, all in the tick in which a leg begins; they are bounded by the sizes of regions, not by the
budget. While the abstraction is stale, the agent walks by LRTA* toward the goal. Deviations: docs/deviations.md.
Known weakness: a high level has large regions, whose refinement takes a long tick; with a low level the agent scrubs
like LRTA*.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from agents.column_agent import DatabaseColumnAgent, prepare_database_column
from agents.learning_agent import CELLS_OF_ONE_EXPANSION, ON_UNBLOCK_PARAM, LearningAgent
from agents.pra import ABSTRACT_COST_PARAM
from agents.prepared_data_mixins import after_change_param
from sim import subgoal_databases
from sim.abstraction import region_map
from sim.agent_api import AgentSpec, AgentView, Problem, Status
from sim.kernels import dynamic_control, learner, pr_lrta
from sim.kernels.level_lrta import NodeBall, new_node_ball
from sim.kernels.levels import STRAIGHT_LINE_COST, Corridor, new_corridor
from sim.kernels.lrta import LookaheadBall
from sim.kernels.memory import lazily_allocated_zeros
from sim.kernels.search import Search, max_known_cells, new_search
from sim.kernels.targets import TargetHeuristics, goal_only_targets, new_target_heuristics, with_larger_hash_table
from sim.metrics import OwnCounts
from sim.params import Param, Value
from sim.prepared_data import DataRecipe


class LegMemory(NamedTuple):
    """Memory for planning a leg, which is one move between two regions, refined to a path on the map."""

    node_ball: NodeBall
    tables: TargetHeuristics  # learned h of regions toward each target region; its keys have nodes instead of cells
    corridor: Corridor
    search: Search  # A* search on the map that refines one move between regions
    path: np.ndarray  # int32[cells] cells of the leg


def search_and_database_levels(levels: Any, params: Mapping[str, Value]) -> tuple[int, int]:
    """Return the level on which LRTA* runs and the level of the database, which is higher if it has subgoals."""
    level = subgoal_databases.clipped_level(levels, int(params["level"]))
    min_level = level + 1 if params["goal_control"] == "database" else level
    return level, subgoal_databases.clipped_level(levels, max(min_level, int(params["database_level"])))


def pr_lrta_column_recipe(levels: Any, goal: int, params: Mapping[str, Value]) -> DataRecipe | None:
    """Return the recipe of the database column that an agent with these parameters needs; None: it needs none.

    Args:
        levels: Levels of the abstraction.
        goal: Goal cell.
        params: Parameters of the agent.
    """
    lower, level = search_and_database_levels(levels, params)
    region = subgoal_databases.region_of_cell(levels, goal, level)
    uses_depths, uses_subgoals = params["depth_control"] == "database", params["goal_control"] == "database"
    if region < 0 or not (uses_depths or uses_subgoals):
        return None
    if not uses_depths:
        return subgoal_databases.database_column_recipe(level, region, 0, "subgoals")
    needs = "near depths" if uses_subgoals else "far depths"
    return subgoal_databases.abstract_column_recipe(
        lower, level, region, int(params["cap"]), needs, str(params["abstract_cost"])
    )


class PrLrta(DatabaseColumnAgent):
    column_recipe = staticmethod(pr_lrta_column_recipe)
    initial_visits = 0  # only the beginning of a leg counts as a visit, and no leg has begun on the start

    def __init__(self, problem: Problem, params: Mapping[str, Value]) -> None:
        LearningAgent.__init__(self, problem, params)
        cells = problem.grid.cells
        self.search = new_search(cells, counts_heat=problem.watched, notes_order=problem.watched)
        self.lookahead_ball = LookaheadBall(
            self.search, lazily_allocated_zeros(cells, np.int32), lazily_allocated_zeros(cells, np.float64)
        )
        self.leg_path = lazily_allocated_zeros(cells, np.int32)
        self.control_record = np.zeros(1, pr_lrta.CONTROL).view(np.recarray)
        self.control_record[0].sees_all = problem.watched
        self.tables = new_target_heuristics(self.map_arrays, problem.goal)
        # Changes of h counted in tables that were reset, plus one for each reset. With it `h_changes` never falls.
        self.h_changes_before_resets = 0
        self._reset_visit_counts()
        self.fetch_initial_data(problem.grid, params)
        self.on_rebuilt_data()

    # --- data ---

    def _fill_control_record(self) -> None:
        it, params = self.control_record[0], self.params
        it.level, it.high_level = search_and_database_levels(self.abstraction_levels, params)
        it.first = self.abstraction_levels.first[it.high_level]
        it.uses_subgoals = params["goal_control"] == "database" and self.has_database_column
        it.uses_depths = params["depth_control"] == "database" and self.has_database_column
        it.depth, it.cap, it.gamma = params["depth"], params["cap"], params["gamma"]
        it.rule = dynamic_control.DROP_AT_THIS_CELL
        it.arc_diagonal = (
            STRAIGHT_LINE_COST if params["abstract_cost"] == "straight" else self.problem.grid.diagonal_cost
        )
        it.uses_levels = not self.is_stale

    def on_rebuilt_data(self) -> None:
        """Allocate memory for the rebuilt abstraction, and forget h values that were learned for the old regions."""
        count = self.abstraction_levels.parent.size
        self.node_ball, self.corridor = new_node_ball(count), new_corridor(self.map_arrays, count)
        self._reset_region_tables()
        self._drop_plan()

    def _reset_region_tables(self) -> None:
        self.forgotten_cell_count = self.learned_cell_count()
        self.h_changes_before_resets += int(self.tables.present_target[0].changes) + 1
        self.tables = new_target_heuristics(self.map_arrays, int(self.state_record[0].goal))

    # --- the contract ---

    @property
    def h_changes(self) -> int:
        return (
            int(self.learned_heuristic.target[0].changes + self.tables.present_target[0].changes)
            + self.h_changes_before_resets
        )

    def _forget_learned_h(self) -> None:
        super()._forget_learned_h()
        self._reset_region_tables()

    def set_param(self, name: str, value: Value) -> None:
        if name in ("level", "abstract_cost"):
            self._reset_region_tables()  # learned values hold only for nodes of the old level and for old arc costs
        super().set_param(name, value)

    def _drop_plan_if_cut(self) -> bool:
        if not learner.is_planned_path_blocked(self.map_arrays, self.leg_path, self.state_record):
            return False
        self._drop_plan()
        return True

    def searches_of_agent(self) -> tuple[Search, ...]:
        return self.node_ball.nodes.search, self.search

    def _learned_cell_count_now(self) -> int:
        return super()._learned_cell_count_now() + int(self.tables.counts[0].entries)

    def own_counts(self) -> OwnCounts:
        """Return the agent's counts of memory, which are the same whether or not the agent is displayed.

        The fast kernel for a lookahead of depth 1 on the map, used without regions, has no open and closed lists, so
        `CELLS_OF_ONE_EXPANSION` cells are counted in their place.
        """
        cells = max(CELLS_OF_ONE_EXPANSION, max_known_cells(self.search))
        known = cells + max_known_cells(self.node_ball.nodes.search) + self.learned_cell_count()
        return OwnCounts(known, self.database_bytes)

    def run_with_data(self, budget: int, rows: np.ndarray) -> int:
        done = 0
        while True:
            plan = LegMemory(self.node_ball, self.tables, self.corridor, self.search, self.leg_path)
            memory = (
                self.database_column.tables,
                plan,
                goal_only_targets(self.learned_heuristic),
                self.lookahead_ball,
                self.visit_counts,
                self.control_record,
            )
            done += int(
                pr_lrta.run_ticks(self.map_arrays, self.abstraction_levels, *memory, self.state_record, rows[done:])
            )
            if done == rows.size or self.status is not Status.ACTIVE:
                return done
            self.tables = with_larger_hash_table(self.tables)

    def _lookahead_depth_map(self) -> np.ndarray | None:
        """Return the table of lookahead depths to display, for each cell the depth of its region in the database."""
        it = self.control_record[0]
        if not (it.uses_levels and it.uses_depths):
            return None
        return subgoal_databases.lookahead_depths_of_cells(self.abstraction, self.database_column, int(it.high_level))

    def view(self) -> AgentView:
        it, st = self.control_record[0], self.state_record[0]
        inside = self.corridor.cells[: int(self.corridor.size[0])]
        end = [int(self.leg_path[int(st.length) - 1])] if st.length else []
        return AgentView(
            search=self.search if self.search.control[0].search else None,
            best=int(st.best),
            root=int(self.search.control[0].root) if self.search.control[0].search else -1,
            path=self.leg_path[: int(st.length)],
            head=int(st.head) if st.length else 0,
            learned=self.learned_heuristic,
            groups={"corridor": inside},
            numbers={
                "depth": float(it.last_depth),
                "legs": float(it.legs),
                "expansions among regions": float(it.abstract_expansions),
                "of these for this leg": float(it.leg_expansions),
                "h of regions": float(self.tables.counts[0].entries),
            },
            waypoints=np.array(end, np.int32),
            target=int(st.best),
            depths=self._lookahead_depth_map(),
            regions=region_map(self.abstraction, int(it.level)),
            prepared=self.prepared_data,
            is_stale=self.is_stale,
        )


SPEC = AgentSpec(
    key="pr-lrta",
    name="PR LRTA*",
    paper="TBA*: Time-Bounded A*; Dynamic Control in Real-Time Heuristic Search",
    summary="LRTA* among the regions of the map, each of its steps refined by A* inside two regions.",
    make=PrLrta,
    params=(
        Param("level", int, 4, "level of the abstraction on which LRTA* runs", 1, 12, symbol="l"),
        Param("depth", int, 1, "lookahead depth in regions, if it is fixed", 1, 32, symbol="d"),
        Param("gamma", float, 1.0, "weight of the cost so far in the choice of a region", 0.05, 1.0, step=0.2),
        Param("depth_control", str, "fixed", "source of the lookahead depth", choices=("fixed", "database")),
        Param(
            "goal_control",
            str,
            "global",
            "head for the goal (global), or for subgoals (database)",
            choices=("global", "database"),
        ),
        Param(
            "database_level",
            int,
            0,
            "level of the database; 0: the level of LRTA*, or with subgoals the next higher one",
            0,
            13,
        ),
        Param("cap", int, 10, "largest lookahead depth in the database", 1, 32, symbol="c"),
        ABSTRACT_COST_PARAM,
        ON_UNBLOCK_PARAM,
        after_change_param("rebuild"),
    ),
    family="learning",
    is_real_time=False,
    keeps_h=True,
    converges_to_optimal=False,
    prepare=partial(prepare_database_column, pr_lrta_column_recipe),
    shows=frozenset({"groups", "regions", "waypoints", "control"}),
)
