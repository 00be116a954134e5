"""kNN LRTA*: LRTA* along the subgoals of the most similar of many problems that were solved before the run.

`problem_records` random problems are solved on the map of tick 0, and their paths are compressed to chains of cells
that hill climbing connects. The agent takes the record whose start and goal are nearest to its own, provided that
climbing connects its cell with the record's start, and the record's end with the goal. It walks from subgoal to subgoal
by LRTA* with one expansion a move, and so rarely fills a depression of the heuristic, the cause of LRTA*'s scrubbing.

Paper: "Real-Time Heuristic Search for Pathfinding in Video Games", section 5. After a change of the map the records are
kept, and a record that leads nowhere is dropped; or all records are recomputed. Deviations: docs/deviations.md.
Known weakness: if no record fits, the agent is plain LRTA* for a while; and the records are valid for one map.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from agents.learning_agent import CELLS_OF_ONE_EXPANSION, ON_UNBLOCK_PARAM, LearningAgent, SubgoalLearningAgent
from agents.prepared_data_mixins import PreparedDataMixin, after_change_param
from sim import climb_coverage
from sim.agent_api import (
    ACCEPTED,
    GOAL_NOT_REACHED,
    LEFT_OUT,
    NOT_REACHED,
    UNTRIED,
    AgentSpec,
    AgentView,
    Problem,
    RecordCandidate,
)
from sim.climb_coverage import ClimbCoverage
from sim.grid import Grid, MapChange
from sim.kernels import knn_lrta
from sim.kernels.records import ProblemRecords
from sim.kernels.targets import new_target_heuristics
from sim.metrics import OwnCounts
from sim.params import Param, Value
from sim.prepared_data import BuildProgress, DataRecipe, PreparedData, Stopwatch, fetch_data, iter_fetch_data
from sim.problem_records import problem_records_recipe

_MAX_RECORDS = 80_000

_VERDICT_NAMES = {
    knn_lrta.UNTRIED: UNTRIED,
    knn_lrta.ACCEPTED: ACCEPTED,
    knn_lrta.NO_WAY_TO_IT: NOT_REACHED,
    knn_lrta.NO_WAY_FROM_IT: GOAL_NOT_REACHED,
    knn_lrta.DROPPED: LEFT_OUT,
}
_EVENT_NAMES = {
    knn_lrta.RECORD_LOST: "lost",
    knn_lrta.TARGET_REACHED: "reached",
    knn_lrta.SELECTION_BEGAN: "select",
    knn_lrta.RECORDS_TRIED: "ask",
    knn_lrta.GOAL_CLIMBABLE: "straight",
    knn_lrta.RECORD_CHOSEN: "take",
    knn_lrta.NO_RECORD_FITS: "none fits",
}


class KnnLrta(PreparedDataMixin, SubgoalLearningAgent):
    def __init__(self, problem: Problem, params: Mapping[str, Value]) -> None:
        LearningAgent.__init__(self, problem, params)
        self.control_record = np.zeros(1, knn_lrta.CONTROL).view(np.recarray)
        self.subgoal_heuristics = new_target_heuristics(self.map_arrays, problem.goal)
        self._fill_control_record()
        self.fetch_initial_data(problem.grid, params)

    # --- data -----------------------------------------------------------------------------------------

    def _fetch_prepared_data(self) -> None:
        super()._fetch_prepared_data()
        self._measure_climb_coverage()
        self.records_data = fetch_data(_records_recipe(self.params, self.climbable_pair_share), self.problem.grid)
        self.params_of_fetched_records = self._params_of_records()
        self._reset_record_choice()

    def _measure_climb_coverage(self) -> None:
        """Measure which fraction of random pairs of cells hill climbing connects, on the map of the records."""
        self.cap_of_climb_coverage = int(self.params["cap"])
        coverage_tables: ClimbCoverage = fetch_data(
            climb_coverage.climb_coverage_recipe(self.cap_of_climb_coverage), self.problem.grid
        ).tables
        self.climbable_pair_share = float(coverage_tables.share[0])

    def _params_of_records(self) -> tuple[Value, ...]:
        """Return the current values of those parameters on which the records depend, as a key of the records."""
        names = ("records", "seed", "fits", "cap") if self.params["fits"] else ("records", "seed", "fits")
        return tuple(self.params[name] for name in names)

    def _fetch_if_params_changed(self) -> None:
        """Fetch the records and the coverage for the current parameters, if these have changed since the last fetch.

        While the data is stale nothing is fetched, because new data would be computed for the changed map.
        """
        if self.is_stale:
            return
        if self.params_of_fetched_records != self._params_of_records():
            self._fetch_prepared_data()
        elif self.cap_of_climb_coverage != self.params["cap"]:
            self._measure_climb_coverage()

    def _reset_record_choice(self) -> None:
        lengths = np.diff(self.problem_records.offsets)
        self.record_choice = knn_lrta.new_record_choice(
            int(self.params["similar"]), lengths.size, int(lengths.max(initial=0))
        )
        self._drop_plan()

    def steps(self, grid: Grid) -> Iterator[BuildProgress]:
        return _record_preparation_steps(self.params, grid, None)

    @property
    def problem_records(self) -> ProblemRecords:
        tables: ProblemRecords = self.records_data.tables
        return tables

    @property
    def prepared_data(self) -> tuple[PreparedData, ...]:
        return (self.records_data,)

    # --- the contract ---------------------------------------------------------------------------------

    def _fill_control_record(self) -> None:
        it, params = self.control_record[0], self.params
        it.direct, it.skips_first = params["direct"], params["skip_first"]
        it.cap, it.spread = params["cap"], params["spread"]

    def _drop_plan(self) -> None:
        super()._drop_plan()
        knn_lrta.drop_chosen_record(self.control_record)

    def set_param(self, name: str, value: Value) -> None:
        super().set_param(name, value)
        self._fill_control_record()
        if name == "after_change":
            self.set_after_change_policy(value)
        elif name == "similar":
            self._reset_record_choice()
        self._fetch_if_params_changed()

    def on_change(self, change: MapChange) -> None:
        super().on_change(change)
        self.update_data_after_change(change)
        self._fetch_if_params_changed()
        if change.has_changed_arcs:
            # Try all records again, because those that failed on the old map may now work.
            self.record_choice.dropped[:] = 0

    def kernel_arguments(self) -> tuple[Any, ...]:
        return (
            self.map_arrays,
            self.problem_records,
            self.record_choice,
            self.targets(),
            self.state_record,
            self.control_record,
        )

    def run_with_data(self, budget: int, rows: np.ndarray) -> int:
        # Copied before every call, because a map change or a rebuild sets it.
        self.control_record[0].is_stale = self.is_stale
        return self.call_kernel_with_growing_table(knn_lrta.run_ticks, rows)

    def own_counts(self) -> OwnCounts:
        it = self.control_record[0]
        return OwnCounts(
            CELLS_OF_ONE_EXPANSION + self.learned_cell_count(), self.database_bytes, int(it.steps), int(it.most_steps)
        )

    def _considered_records(self) -> tuple[RecordCandidate, ...]:
        """Return the records considered in the last selection; none if the goal itself could be climbed to."""
        similar, verdicts = self.record_choice.similar_records.records, self.record_choice.verdicts
        found = max(0, int(self.control_record[0].found))
        return tuple(RecordCandidate(int(similar[i]), _VERDICT_NAMES[int(verdicts[i])]) for i in range(found))

    def view(self) -> AgentView:
        st, it = self.state_record[0], self.control_record[0]
        waypoints = self.record_choice.queue[int(it.next) : int(it.targets)]
        return AgentView(
            best=int(st.best),
            learned=self.learned_heuristic,
            numbers={
                "record": float(it.record),
                "selections": float(it.selections),
                "h updates": float(st.updates),
                "tables of h": float(1 + self.subgoal_heuristics.counts[0].tables),
                "records": float(len(self.problem_records.ends)),
                "pairs climbed, %": 100.0 * self.climbable_pair_share,
                "expected fits": climb_coverage.expected_fitting_records(
                    len(self.problem_records.ends), self.climbable_pair_share
                ),
            },
            candidates=self._considered_records(),
            chosen_at=int(it.from_cell),
            waypoints=waypoints[waypoints != st.goal] if it.record >= 0 else waypoints[:0],
            prepared=self.prepared_data,
            is_stale=self.is_stale,
            target=int(self.subgoal_heuristics.present_target[0].goal) if st.best >= 0 and it.targets else -1,
            notes=self._target_text_keys() | self._event_text_keys(),
        )

    def _target_text_keys(self) -> frozenset[str]:
        """Return the key of the text that explains the current target; none if the target is a subgoal of a record."""
        it = self.control_record[0]
        if not it.targets or it.record >= 0:
            return frozenset()
        if it.stage != knn_lrta.NO_SELECTION:
            return frozenset({"choosing"})
        return frozenset({"direct" if it.quota < 0 else "no record"})

    def _event_text_keys(self) -> frozenset[str]:
        """Return the keys of what happened in the last tick while the agent selected or followed a record."""
        did = int(self.control_record[0].did)
        return frozenset(word for bit, word in _EVENT_NAMES.items() if did & bit)


def prepare_records(
    problem: Problem, params: Mapping[str, Value], stopwatch: Stopwatch | None
) -> Iterator[BuildProgress]:
    """Compute the records step by step; each text has p, the expected fitting records, and how many the map needs.

    Args:
        problem: Problem of the agent.
        params: Parameters of the agent.
        stopwatch: Clock that measures the time of the computation; None: the time is not measured.
    """
    return _record_preparation_steps(params, problem.grid, stopwatch)


def _record_preparation_steps(
    params: Mapping[str, Value], grid: Grid, stopwatch: Stopwatch | None
) -> Iterator[BuildProgress]:
    """Yield the steps that compute the coverage (the fraction of pairs that climbing connects), then the records."""
    measured = yield from iter_fetch_data(climb_coverage.climb_coverage_recipe(int(params["cap"])), grid)
    share = float(measured.tables.share[0])
    summary = climb_coverage.summarize_expected_fits(_record_count(params, share), share)
    for step in iter_fetch_data(_records_recipe(params, share), grid, stopwatch):
        yield BuildProgress(f"{step.work_name}; {summary}", step.share)


def _records_recipe(params: Mapping[str, Value], share: float) -> DataRecipe:
    """Return the recipe of the records for a map on which hill climbing connects this fraction of pairs of cells."""
    return problem_records_recipe({**params, "records": _record_count(params, share)})


def _record_count(params: Mapping[str, Value], share: float) -> int:
    """Return how many records to compute: `records`, or as many as `fits` needs on this map."""
    if not params["fits"]:
        return int(params["records"])
    return climb_coverage.needed_record_count(int(params["fits"]), share, _MAX_RECORDS)


SPEC = AgentSpec(
    key="knn-lrta",
    name="kNN LRTA*",
    paper="Real-Time Heuristic Search for Pathfinding in Video Games",
    summary="LRTA* along the subgoals of the most similar of many problems solved before the run.",
    make=KnnLrta,
    params=(
        Param("records", int, 1000, "number of problems solved before the run", 1, _MAX_RECORDS, symbol="N"),
        Param(
            "fits",
            int,
            0,
            "create enough records that about this many fit a problem; 0: create the number set by records",
            0,
            1000,
        ),
        Param("similar", int, 10, "number of records to try, the most similar first", 1, 100, symbol="M"),
        Param(
            "cap", int, 250, "maximum steps of a climb; also moves without a record until the next selection", 1, 10_000
        ),
        Param("direct", bool, True, "try to climb to the goal itself before looking for a record"),
        Param("skip_first", bool, False, "skip the first cell of a record if its second cell can be climbed to"),
        Param(
            "spread", int, 0, "maximum climbing steps in a tick; 0: no limit, so a selection takes one tick", 0, 100_000
        ),
        Param("seed", int, 1, "seed of the random problems to solve", 0, 2**31 - 1),
        ON_UNBLOCK_PARAM,
        after_change_param("fall back"),
    ),
    family="learning",
    keeps_h=True,
    converges_to_optimal=False,
    prepare=prepare_records,
    shows=frozenset({"waypoints", "records", "candidates", "control"}),
)
