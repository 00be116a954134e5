"""Results of runs without a window: one line of plain data per agent, with its outcome and all quality measures."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np

from sim.agent_api import Status
from sim.measures import MEASURES
from sim.metrics import TrialResult, game_time_ratio
from sim.run_until import run_until
from sim.walker import Walker
from sim.world import MAX_TICKS_PER_CALL, World

REACHED, NO_PATH, WAITING_NO_PATH = "reached", "no_path", "waiting_no_path"
MOVE_LIMIT, STUCK = "move_limit", "stuck"
GAVE_UP, REMOVED, INTERRUPTED = "gave_up", "removed", "interrupted"
BROKE_RULES, FAILED = "broke_rules", "failed"

KEYS_AT_FIXED_POSITIONS = frozenset(
    {"cost", "optimal", "suboptimality", "moves", "back_moves", "nonoptimal_moves", "revisits"}
    | {"expansions", "max_expansions", "restarts", "trial"}
)
"""Keys of measures that `agent_result_line` writes at fixed positions instead of appending them; and the key of the
trial, which only `trial_result_line` writes."""


def outcome_of_walker(world: World, walker: Walker, if_active: str) -> str:
    """Return the outcome of an agent at the end of a run, in one word such as "reached".

    Args:
        world: world at the end of the run.
        walker: agent.
        if_active: outcome of an agent that is still active, which is the reason why the run ended.
    """
    if walker.violation is not None:
        return FAILED if walker.violation.is_failure else BROKE_RULES
    status = walker.agent.status
    if status is Status.ACTIVE:
        return if_active
    if status is Status.AT_GOAL:
        return REACHED
    if status is Status.GAVE_UP:
        return NO_PATH if walker.spec.proves_no_path else GAVE_UP
    return NO_PATH if world.is_over else WAITING_NO_PATH


class NoPathProofs:
    """Table of the last tick in which each agent proved that there is no path.

    The ticks are stored here, because the log rows of an agent exist only until the next advance.
    """

    def __init__(self) -> None:
        self._last_proof_ticks: dict[int, int] = {}

    def record_proofs(self, walkers: Iterable[Walker]) -> None:
        """Store the tick of every agent that has proved in the last advance that there is no path.

        Each status is checked before the rows, because reading rows is slow and most agents of a crowd have arrived.
        """
        for walker in walkers:
            if walker.agent.status in (Status.NO_PATH, Status.GAVE_UP) and walker.recent_rows.rows.size:
                self._last_proof_ticks[walker.id] = walker.recent_rows.tick + walker.recent_rows.rows.size - 1

    def last_proof_tick(self, walker: Walker) -> int | None:
        """Return the tick of an agent's last proof; None if there was none."""
        return self._last_proof_ticks.get(walker.id)


def agent_result_line(
    world: World, walker: Walker, outcome: str, map_name: str, no_path_tick: int | None = None, **more: Any
) -> dict[str, Any]:
    """Return the result line of an agent: a dict with its problem, outcome and quality measures.

    The order of keys up to `digest` is published and fixed. All measures without a fixed position follow
    automatically.

    Args:
        world: world at the end of the run.
        walker: agent.
        outcome: how the agent ended, see `outcome_of_walker`.
        map_name: name of the map to write into the line.
        no_path_tick: tick in which the agent proved that there is no path; None: it did not.
        more: further entries to append to the line.
    """
    metrics = world.metrics_of_walker(walker)
    optimal = metrics.optimal if metrics.optimal != float("inf") else None
    return {
        "agent": walker.spec.key,
        "params": dict(walker.params),
        "map": map_name,
        "start": list(world.grid.xy(walker.start)),
        "goal": list(world.grid.xy(world.goal_of_walker(walker))),
        "outcome": outcome,
        "cost": metrics.cost,
        "optimal": optimal,
        "suboptimality": metrics.suboptimality if metrics.trial == 1 else None,
        "moves": metrics.moves,
        "back_moves": metrics.back_moves,
        "nonoptimal_moves": metrics.nonoptimal_moves,
        "revisits": metrics.revisits,
        "expansions": metrics.expansions,
        "max_expansions": metrics.max_expansions,
        "restarts": metrics.restarts,
        "ticks": metrics.moves + metrics.waits,
        "planning_ms": round(world.agent_times.planning_s.get(walker.id, 0.0) * 1000.0, 3),
        "digest": world.walker_digest(walker),
        "label": walker.label,
        "budget": walker.budget or world.budget,
        "changes_ms": round(world.agent_times.map_change_s.get(walker.id, 0.0) * 1000.0, 3),
        "movement": world.grid.movement.rule,
        "diagonal": world.grid.diagonal_cost,
        "no_path_tick": no_path_tick if outcome in (NO_PATH, WAITING_NO_PATH) else None,
        **{
            measure.key: measure.value_for_agent(metrics)
            for measure in MEASURES
            if measure.key not in KEYS_AT_FIXED_POSITIONS
        },
        **(
            {"data": [data.build_cost_entries for data in walker.agent.view().prepared]} if walker.spec.has_data else {}
        ),
        **more,
    }


def trial_result_line(line: dict[str, Any], trial: TrialResult, outcome: str = REACHED) -> dict[str, Any]:
    """Return the result line of one trial (walk from start to goal) of an agent. `line`: result line of the whole run.

    Values that are not counted per trial, such as max_expansions, first_move, planning_ms and digest, are copied from
    the whole run, or are None.
    """
    return {
        **line,
        "outcome": outcome,
        "cost": trial.cost,
        "suboptimality": trial.suboptimality(float("inf") if line["optimal"] is None else line["optimal"]),
        "moves": trial.moves,
        "back_moves": 0,  # agents that learn h make no back-moves, because they have no path to walk back to
        "nonoptimal_moves": trial.nonoptimal_moves,
        "back_move_share": None,
        "revisits": None,
        "longest_stay": None,
        "game_time": game_time_ratio(trial.ticks, line["optimal_moves"]),
        "mean_expansions": trial.expansions / trial.moves if trial.moves else None,
        "expansions": trial.expansions,
        "restarts": trial.restarts,
        "ticks": trial.ticks,
        "waits": trial.ticks - trial.moves,
        "over_budget": trial.over_budget,
        "trial": trial.trial_number,
        "h_changes": trial.h_changes,
        "converged": outcome == REACHED and trial.h_changes == 0,
    }


ResultGroup = tuple[str, str]
"""Name of a group, and key of its algorithm. An agent without a group is a group of its own, named by label and id."""


def group_of_walker(walker: Walker) -> ResultGroup:
    """Return the group (name, algorithm key) of an agent; an agent without a group forms a group of its own."""
    return walker.config.group or f"{walker.label} {walker.id}", walker.spec.key


def milliseconds_by_group(world: World) -> dict[ResultGroup, float]:
    """Return the milliseconds that each group took in the last advance, without the time for map changes.

    Groups in which no agent planned are left out. The world must have a clock.
    """
    seconds: defaultdict[ResultGroup, float] = defaultdict(float)
    for timing in world.executor.agent_timings(world):
        seconds[group_of_walker(timing.walkers[0])] += timing.seconds
    return {group: 1000.0 * spent for group, spent in seconds.items()}


@dataclass
class TickDurations:
    """Durations of all ticks of a run in milliseconds, in total and by group."""

    limit: float = 0.0  # last time limit of a tick in ms, for all agents together; 0: no tick had a limit
    tick_ms: list[float] = field(default_factory=list)  # duration in ms of each tick, for all agents together
    # Group -> time in ms that its agents took, for each tick in which any of them planned.
    group_ms: defaultdict[ResultGroup, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add_tick_times(self, world: World, ms: float) -> None:
        """Add the times of the last advance, which must have been one tick. `ms`: its duration in milliseconds."""
        self.limit = world.tick_time_limit_ms or self.limit
        self.tick_ms.append(ms)
        for group, own in milliseconds_by_group(world).items():
            self.group_ms[group].append(own)


def group_result_lines(
    world: World, outcomes: Iterable[tuple[Walker, str]], times: TickDurations
) -> Iterator[dict[str, Any]]:
    """Yield one result line for each group of agents; an agent without a group forms a group of its own."""
    groups: dict[ResultGroup, list[tuple[Walker, str]]] = {}
    for walker, outcome in outcomes:
        groups.setdefault(group_of_walker(walker), []).append((walker, outcome))
    for group, members in groups.items():
        walkers, outcomes_of_group = zip(*members, strict=True)
        yield _group_result_line(world, group[1], walkers, outcomes_of_group) | {
            "tick_ms": times.limit or None,
            "reproducible": not times.limit,  # with a time limit, the run depends on the speed of the machine
            **_duration_statistics("tick_ms", times.tick_ms),
            "group_ticks": len(times.group_ms[group]),
            **_duration_statistics("group_ms", times.group_ms[group]),
            "world_digest": world.compute_digest(),
        }


def _duration_statistics(name: str, ms: Sequence[float]) -> dict[str, float | None]:
    """Return median, 99th percentile and maximum of durations in ms, as result entries whose keys begin with `name`."""
    if not ms:
        return {f"{name}_median": None, f"{name}_p99": None, f"{name}_worst": None}
    return {
        f"{name}_median": round(float(np.median(ms)), 3),
        f"{name}_p99": round(float(np.percentile(ms, 99)), 3),
        f"{name}_worst": round(max(ms), 3),
    }


_COUNTED_IN_GROUPS = (GAVE_UP, BROKE_RULES, FAILED, REMOVED, INTERRUPTED)
"""Outcomes of which the result line of a group has the number, in addition to "arrived" and "no_path"."""


def _group_result_line(
    world: World, kind: str, members: Sequence[Walker], outcomes_of_group: Iterable[str]
) -> dict[str, Any]:
    """Return the outcomes and the added-up counts of one group as a result line."""
    outcomes = Counter(outcomes_of_group)
    every = [world.metrics_of_walker(walker) for walker in members]
    arrived = [m for m, walker in zip(every, members, strict=True) if walker.has_arrived]
    ratios = [m.suboptimality for m in arrived if m.suboptimality is not None]
    return {
        "group": members[0].config.group or members[0].label,
        "agent": kind,
        "params": dict(members[0].params),
        "budget": members[0].budget or world.budget,
        "count": len(members),
        "arrived": len(arrived),
        "no_path": outcomes[NO_PATH] + outcomes[WAITING_NO_PATH],
        **{outcome: outcomes[outcome] for outcome in _COUNTED_IN_GROUPS},
        "mean_suboptimality": sum(ratios) / len(ratios) if ratios else None,
        "median_suboptimality": median(ratios) if ratios else None,
        "worst_suboptimality": max(ratios, default=None),
        "cost": sum(m.cost for m in every),
        "moves": sum(m.moves for m in every),
        "back_moves": sum(m.back_moves for m in every),
        "expansions": sum(m.expansions for m in every),
        "max_expansions": max(m.max_expansions for m in every),
        "restarts": sum(m.restarts for m in every),
        "ticks": world.tick,
    }


# An agent counts as stuck after (_STUCK_TICKS_PER_CELL x number of cells of the map) ticks without a move.
_STUCK_TICKS_PER_CELL = 100


def run_single_agent(
    world: World,
    walker: Walker,
    max_moves: int,
    longest_step: Callable[[], int] = lambda: MAX_TICKS_PER_CALL,
    max_ticks: float = math.inf,
) -> Iterator[None]:
    """Advance a world with one agent and no map changes, and yield after each step of some ticks.

    The iteration ends when the agent is done, has used up its moves or ticks, or has not moved for longer than any
    search can take. An agent moves at most once per tick, so a step has at most as many ticks as moves remain.

    Args:
        world: world with one agent and without changes of the map.
        walker: the agent.
        max_moves: maximum number of moves.
        longest_step: function that returns the maximum number of ticks of the next step.
        max_ticks: maximum number of ticks.
    """
    patience = _STUCK_TICKS_PER_CELL * world.grid.cells
    moves = last_move = 0

    def is_stuck_or_used_up() -> bool:
        return moves >= max_moves or world.tick - last_move > patience

    def next_step() -> int:
        return min(max_moves - moves, longest_step())

    for _ in run_until(world, is_stuck_or_used_up, max_ticks=max_ticks, next_step=next_step):
        if world.metrics_of_walker(walker).moves > moves:
            moves, last_move = world.metrics_of_walker(walker).moves, world.tick
        yield
