"""Views: read-only descriptions of agents and of the whole world, for display and for tables of results."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.agent_api import AgentSpec, AgentView, Status
from sim.grid import Grid
from sim.metrics import Metrics, TrialResult, read_metrics
from sim.move_optimality import OptimalityTracker
from sim.params import Value
from sim.referee_rules import Violation
from sim.walker import Walker
from sim.world_state import WorldState


@dataclass(frozen=True)
class WalkerView:
    """Read-only view of one agent, valid until the next tick."""

    id: int
    label: str
    spec: AgentSpec
    params: Mapping[str, Value]
    budget: int
    position: int
    status: Status
    state_word: str
    metrics: Metrics
    visit_counts: npt.NDArray[np.uint32]
    log_rows: np.ndarray
    first_row_tick: int
    agent: AgentView
    max_trials: int = 1
    trials: tuple[TrialResult, ...] = ()  # finished trials; empty if the agent does not learn h
    is_converged: bool = False  # whether the last trial changed no learned value
    last_budget: int = 0  # budget of the agent in the tick of its last log row, in expansions
    start: int = 0
    goal: int = 0
    group: str = ""  # name of the agent's group; "": it belongs to no group
    violation: Violation | None = None  # reason why the referee stopped the agent; None: it was not stopped
    has_own_start_or_goal: bool = False  # whether the agent has a start or a goal of its own


@dataclass(frozen=True)
class WorldSnapshot:
    """Read-only view of the whole world, valid until the next tick."""

    tick: int
    grid: Grid
    start: int
    goal: int
    budget: int
    switch_states: Mapping[str, bool]
    walkers: tuple[WalkerView, ...]


def metrics_of_walker(walker: Walker, optimality: OptimalityTracker) -> Metrics:
    """Return the quality measures of an agent, such as its cost and moves since it was added."""
    own_counts, is_judged = walker.agent.own_counts(), optimality.has_judged_all_moves(walker)
    is_coming = not is_judged and optimality.can_judge_all_moves(walker)
    optimum = optimality.optimal_costs.optimum_of_walker(walker)
    return read_metrics(walker.counts_record[0], optimum, is_judged, walker.trial_start_counts, own_counts, is_coming)


def view_of_walker(walker: Walker, state: WorldState, optimality: OptimalityTracker) -> WalkerView:
    """Return a view of one agent."""
    return WalkerView(
        id=walker.id,
        label=walker.label,
        spec=walker.spec,
        params=walker.params,
        budget=walker.budget or state.budget,
        position=walker.position,
        status=walker.agent.status,
        state_word=walker.state_word,
        metrics=metrics_of_walker(walker, optimality),
        visit_counts=walker.visit_counts,
        log_rows=walker.log_rows,
        first_row_tick=walker.recent_rows.tick,
        agent=walker.agent.view(),
        max_trials=walker.max_trials,
        trials=tuple(walker.trials),
        is_converged=walker.is_converged,
        last_budget=walker.recent_rows.last_budget,
        start=walker.start,
        goal=state.goal_of_walker(walker),
        group=walker.config.group,
        violation=walker.violation,
        has_own_start_or_goal=walker.has_own_start_or_goal,
    )
