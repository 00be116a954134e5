"""World: one map, the agents on it, and the order of events in each tick. The referee (referee.py) judges the moves.

Agents do not collide: each agent solves its problem on its own. A tick begins with the random change of the map and the
commands that are due. Then each agent in turn plans and acts, and its move is judged. Nothing else happens between two
ticks of an agent, so `advance(1000)` has the same result as 1000 calls of `advance(1)`, but needs fewer kernel calls.
`advance`, `_apply_due_changes`, `_run_all_agents` and `_run_batches_and_walkers` implement a tick.

A walker (class `Walker`, walker.py) is an agent in the world, with its position and its counts. Agents of one kind
advance together in batches (class `AgentBatch`, agent_batch.py), and each gets the result that it would get alone. A
batch plan (class `BatchPlan`, batch_plan.py) says which walkers are batched and which advance one by one ("unbatched").
A row is the record (log.ROW) of what one agent did in one tick. A note is a message for the user. A cell is "refused"
if the user wants to block it while an agent occupies it. A switch is a named set of cells that are blocked or freed
together.
"""

from bisect import insort_right
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from sim import agent_checks, changes
from sim.agent_api import AgentSpec, AgentSpecTable, Problem, Status
from sim.agent_batch import AgentBatch, BatchSteps, prefault_search_pages
from sim.batch_plan import BatchPlan, BatchPlanCache
from sim.changes import NO_RANDOM_CHANGE, RandomChangeSchedule
from sim.commands import MAX_AGENTS, MAX_SWITCHES, AgentConfig, Command, RunMessage
from sim.grid import Grid, MapChange, ReadOnlyGrid
from sim.kernels import log
from sim.kernels.referee import new_metrics
from sim.kernels.stale import GenerationTable
from sim.kernels.tiled import Table, new_table, tile_width_if_compiled
from sim.metrics import Metrics, read_metrics
from sim.optimality import OptimalityTracker
from sim.params import ConfigError, Value, did_you_mean_hint
from sim.placing import cheapest_cost_and_moves, cheapest_costs_and_moves
from sim.referee import Referee
from sim.rules import describe_broken_rule
from sim.tick_timer import TickTimer
from sim.true_distances import UNLIMITED
from sim.walker import Walker, WalkerView

MAX_TICKS_PER_CALL = 4096  # maximum number of ticks in one kernel call
# Names of the attributes of World that are not pickled, so keyframes (saved states of the run) do not contain them.
# These attributes describe only the last call of `advance`, or hold time measurements of this machine.
_TRANSIENT_ATTRIBUTES = ("_last_active_index", "activity_version", "unbatched_with_rows", "_tick_timer")
_MAX_NAMED_REFUSALS = 3  # if more occupied cells stay free, one message gives their number, and no positions
_MAX_ROWS_PER_CALL = 1 << 20  # maximum number of log rows (agents x ticks) per kernel call, to limit memory


@dataclass(frozen=True)
class WorldSnapshot:
    """Read-only view of the whole world, valid until the next tick."""

    tick: int
    grid: Grid
    start: int
    goal: int
    budget: int
    switches: Mapping[str, bool]
    walkers: tuple[WalkerView, ...]


class World:
    """Simulation of agents on one map, with a queue of commands. Time is counted in ticks."""

    is_live = True
    """Whether ticks are computed for the first time, so that `clock` may limit how many agents plan in a tick. A replay
    does not use the clock: recorded LimitPlanners commands say how many agents plan in each tick."""

    clock: Callable[[], float] | None = None
    """Clock in seconds, for the time limit of ticks and for planning times on display; None: no limit and no times.

    It measures each batch as a whole, and each unbatched agent. The constructor's `stopwatch` measures every agent, so
    with a stopwatch there are no batches.
    """

    unbatched_with_rows: Sequence[Walker] = ()
    """Unbatched walkers that produced rows in the last `advance()`. A batch holds the rows of its own walkers."""

    activity_version = 0
    """Version counter, incremented whenever the state of any agent may have changed: it acted, waited for a path, or
    commands or a random change were applied.
    """

    _last_active_index = 0  # index of the walker that the last check found active; the next check begins there

    _tick_timer: TickTimer | None = None  # timer for the time limit of ticks, created when it is first needed

    def __init__(
        self,
        grid: Grid,
        start: int,
        goal: int,
        specs: Mapping[str, AgentSpec],
        *,
        budget: int = 1,
        seed: int = 0,
        switches: Mapping[str, tuple[int, ...]] | None = None,
        random_changes: RandomChangeSchedule | None = None,
        watched: bool = False,
        measures: bool = True,
        stopwatch: Callable[[], float] | None = None,
        trials: int = 1,
        tick_ms: float = 0.0,
    ) -> None:
        """Create a world without agents, at tick 0.

        Args:
            grid: map, which the world edits.
            start: start cell of all agents without a start of their own (the shared start).
            goal: goal cell of all agents without a goal of their own (the shared goal).
            specs: algorithms that agents may use, by key.
            budget: maximum number of expansions per agent and tick; it applies to agents without a budget of their own.
            seed: seed of random changes; the seeds of agents are derived from it.
            switches: cells of each named switch.
            random_changes: schedule of random map changes; None: the map does not change at random.
            watched: whether agents that belong to no group count expansions per cell, for heat maps and other drawings.
            measures: whether to count non-optimal moves, which needs true distances to the shared goal.
            stopwatch: clock in seconds that measures the planning time of each agent. It does not affect results.
            trials: maximum number of walks from start to goal by each agent that learns h; it stops earlier once a walk
                changes no learned value.
            tick_ms: time limit of a tick in milliseconds, for all agents together; it needs a `clock`. 0: no limit.

        Raises:
            ConfigError: start or goal is not a free cell of the map.
        """
        agent_checks.check_start_and_goal(grid, start, goal)
        self.grid, self.start, self.goal = grid, start, goal
        self.specs = specs if isinstance(specs, AgentSpecTable) else dict(specs)
        self.budget, self.seed = budget, seed
        self.switches = dict(switches or {})
        self.random_changes = random_changes or RandomChangeSchedule(1, 0.0)
        self.watched, self.measures, self.stopwatch = watched, measures, stopwatch
        self.trials = trials
        self.tick_ms = tick_ms
        # (tick, number of agents that planned) for each tick in which the time limit kept other agents from planning.
        self.limited_ticks: list[tuple[int, int]] = []
        self._planner_limit: int | None = None  # maximum number of agents that plan in the coming tick; None: no limit
        self._next_planner_id = 0  # id of the agent that plans first in the next time-limited tick
        self.tick = 0
        self.walkers: list[Walker] = []
        self._instrumented_ids: set[int] = set()  # ids of group members that count expansions per cell
        self.notes: list[RunMessage] = []
        self.map_change_seconds: dict[
            int, float
        ] = {}  # agent id -> seconds spent on reacting to map changes; empty without a stopwatch
        # Agent id -> seconds that this unbatched agent took in the last `advance`; empty without a `clock`.
        self.unbatched_seconds: dict[int, float] = {}
        self._plan_cache = BatchPlanCache()
        self._queued_commands: list[tuple[int, Command]] = []
        self._next_id = 0
        self._last_random_change = NO_RANDOM_CHANGE
        # Tick whose random change was handled last. Each random change must be applied only once.
        self._last_random_change_tick = -1
        self._command_being_applied: Command | None = None
        self._map_changes_digest = b""  # digest of all cells changed so far, in the order of the changes
        self.optimality = OptimalityTracker(grid, start, goal, measures, is_watched=watched)
        self.referee = Referee(grid, self.optimality, self._plan_cache, self.notes, stopwatch)

    # --- adding agents and commands ---------------------------------------------------------------

    def add(self, config: AgentConfig, agent_id: int | None = None) -> Walker:
        """Add an agent to the world, on its start cell.

        Args:
            config: algorithm, parameters, start and goal of the agent.
            agent_id: id of the agent; None: the next unused id. An id counts as used even if `config` is invalid.

        Returns:
            The new walker.

        Raises:
            ConfigError: `config` is invalid, the id is taken, or the world is full. The error lists all problems.
        """
        self.check_agent_count()
        number = self._next_id if agent_id is None else agent_id
        if self.walker(number) is not None:
            raise ConfigError(f"agent: there is an agent {number} already")
        self._next_id = max(self._next_id, number + 1)
        spec, params, budget = self.check_agent_config(config)
        own_start, own_goal = agent_checks.own_start_and_goal(self.grid, config)
        start = self.start if own_start is None else own_start
        goal = self.goal if own_goal is None else own_goal
        has_own = (own_start, own_goal) != (None, None)
        problem = self._build_problem(config, number, (start, goal), budget)
        visits: Table = new_table("visits", self.grid.cells, np.uint32, problem.tile_width)
        walker = Walker(
            id=number,
            config=config,
            spec=spec,
            params=params,
            agent=spec.make(problem, params),
            metrics=new_metrics(start, visits),
            visit_table=visits,
            budget=config.budget,
            added_tick=self.tick,
            start=start,
            own_goal=own_goal,
            own_optimum=cheapest_cost_and_moves(self.grid, start, goal) if has_own else None,
            goal_tick=self.tick,
            max_trials=self.trials if spec.keeps_h else 1,
        )
        walker.trial_start_counts = walker.current_trial_counts(1)
        if walker.has_arrived:
            self.referee.store_finished_trial(walker)
        self.walkers.append(walker)
        self.optimality.costs.on_goal_set(self.tick)
        return walker

    def check_agent_count(self) -> None:
        """Raise a ConfigError if the world already has MAX_AGENTS agents, so that none can be added."""
        if len(self.walkers) >= MAX_AGENTS:
            raise ConfigError(f"agents: expected at most {MAX_AGENTS:,} agents, got one more")

    def _build_problem(self, config: AgentConfig, number: int, start_and_goal: tuple[int, int], budget: int) -> Problem:
        """Return the search problem of an agent: map, start, goal, seed, budget and the layout of its tables.

        A member of a group stores its tables in tiles and does not count expansions per cell, because full tables of
        500 agents would exhaust memory. The agents in `_instrumented_ids` get full tables nevertheless.
        `start_and_goal`: start cell and goal cell of the agent.
        """
        is_one_of_many = bool(config.group) and number not in self._instrumented_ids
        width = tile_width_if_compiled(self.grid.width) if is_one_of_many else 0
        grid = ReadOnlyGrid(self.grid) if self.specs[config.kind].is_own else self.grid
        seed = agent_checks.seed_of_agent(self.seed, number)
        return Problem(grid, *start_and_goal, seed, budget, self.watched and not is_one_of_many, width)

    def instrument_agent(self, agent: int) -> None:
        """Let a member of a group count its expansions per cell, as agents without a group do.

        The agent may be added later. An agent that is already in the world is replaced by a new one, so it must not
        have acted yet.
        """
        self._instrumented_ids.add(agent)
        walker = self.walker(agent)
        if walker is not None and walker.config.group:
            assert walker.added_tick == self.tick and not walker.metrics[0].ticks
            start_and_goal, budget = (walker.start, self.goal_of_walker(walker)), walker.budget or self.budget
            walker.agent = walker.spec.make(
                self._build_problem(walker.config, agent, start_and_goal, budget), walker.params
            )
            self._plan_cache.needs_refresh = True

    def check_agent_config(self, config: AgentConfig, where: str = "agent") -> tuple[AgentSpec, dict[str, Value], int]:
        """Check the configuration of an agent; return its algorithm (spec), all parameter values and its budget.

        Raises:
            ConfigError: the configuration is invalid. The error lists all problems, each with `where` in front.
        """
        return agent_checks.check_agent_config(self.specs, config, self.budget, where)

    def submit(self, command: Command, tick: int | None = None) -> None:
        """Queue a command. `tick`: tick at whose beginning it is applied; None: the present tick."""
        due = self.tick if tick is None else tick
        assert due >= self.tick, (due, self.tick)
        insort_right(self._queued_commands, (due, command), key=itemgetter(0))

    def queue_commands(self, timed: Iterable[tuple[int, Command]]) -> None:
        """Queue several commands, given as pairs (tick, command)."""
        for tick, command in timed:
            self.submit(command, tick)

    def replace_queued_commands(self, timed: Iterable[tuple[int, Command]]) -> list[tuple[int, Command]]:
        """Replace the queue of commands by `timed`, and return the old queue; both contain pairs (tick, command)."""
        waiting, self._queued_commands = self._queued_commands, []
        self.queue_commands(timed)
        return waiting

    @property
    def next_agent_id(self) -> int:
        """Return the id that the next added agent will get."""
        return self._next_id

    def walker(self, agent_id: int) -> Walker | None:
        """Return the walker of an agent, or None if there is no such agent."""
        return next((w for w in self.walkers if w.id == agent_id), None)

    # --- time -------------------------------------------------------------------------------------

    @property
    def is_over(self) -> bool:
        """Return whether the run is over: every agent is done and no command is queued.

        While an agent has no path, the run is not over as long as a random change is scheduled, which may open a path.
        """
        if self._queued_commands or self._is_any_walker_active():
            return False
        waits = any(w.agent.status is Status.NO_PATH for w in self.walkers)
        return not (waits and self.random_changes.next_change_tick_after(self.tick) is not None)

    def _is_any_walker_active(self) -> bool:
        """Return whether any walker can still act.

        The walker found by the last call is checked first. In a crowd of which most have arrived, checking all walkers
        in every tick would be slow.
        """
        if self._last_active_index < len(self.walkers) and not self.walkers[self._last_active_index].is_done:
            return True
        found = next((index for index, walker in enumerate(self.walkers) if not walker.is_done), None)
        self._last_active_index = found or 0
        return found is not None

    def prepare_first_tick(self) -> None:
        """Do slow work of the first tick in advance: form batches, and write to memory pages that searches will use.

        For hundreds of agents, this work takes as long as several ticks.
        """
        self._up_to_date_plan()
        if self.random_changes.next_change_tick_after(self.tick) is not None:
            _ = self.grid.original_cells  # compute this cached property now: a million cells take some milliseconds
        for walker in self.walkers:
            if getattr(walker.agent, "batch_kernel", None) is not None:
                prefault_search_pages(self.grid, walker, self.goal)

    @property
    def _max_ticks_per_call(self) -> int:
        """Return the maximum number of ticks per kernel call, so that a call writes at most _MAX_ROWS_PER_CALL rows."""
        return (
            MAX_TICKS_PER_CALL
            if len(self.walkers) <= _MAX_ROWS_PER_CALL // MAX_TICKS_PER_CALL
            else max(1, _MAX_ROWS_PER_CALL // len(self.walkers))
        )

    def apply_due_changes(self) -> None:
        """Apply the random change and the commands due at this tick without advancing. A paused window calls this."""
        self._apply_due_changes()

    @property
    def are_due_changes_pending(self) -> bool:
        """Return whether the random change and the commands of this tick have not been applied yet."""
        return self._last_random_change_tick != self.tick

    def ticks_to_next_event(self) -> int:
        """Return the number of ticks to the next command or random change; MAX_TICKS_PER_CALL if there is neither."""
        event = self.random_changes.next_change_tick_after(self.tick)
        due = self.tick + MAX_TICKS_PER_CALL if event is None else event
        return (min(due, self._queued_commands[0][0]) if self._queued_commands else due) - self.tick

    # --- a tick: commands first, then agents ------------------------------------------------------

    def advance(self, ticks: int) -> int:
        """Advance by up to `ticks` ticks and return how many have passed.

        The call ends early when the world is over. It also ends after a tick in which a time limit or a command kept
        agents from planning: such agents have no log row for this tick, and an agent's rows of one call must belong to
        consecutive ticks.
        """
        settled = self._begin_advance()
        passed, has_ended = 0, self.is_over
        while passed < ticks and not has_ended:
            has_applied = self._apply_due_changes()
            while self.optimality.costs.refresh(self.walkers, self.tick, UNLIMITED):
                pass
            if has_applied and self.is_over:
                break
            if self._has_time_limit or self._planner_limit is not None:
                before = self.tick
                has_ended = not self._run_round_robin_tick() or self.is_over
                passed += self.tick - before
            else:
                passed += self._run_all_agents(
                    min(ticks - passed, self._max_ticks_per_call, self.ticks_to_next_event())
                )
                has_ended = self.is_over
        self._end_advance(settled)
        return passed

    def _apply_due_changes(self) -> bool:
        """Apply the random change and the commands due at this tick; return whether there were any."""
        has_applied = False
        if self._last_random_change_tick != self.tick:
            self._last_random_change_tick = self.tick
            if self.random_changes.is_change_due(self.tick):
                self._apply_random_change()
                has_applied = True
        while self._queued_commands and self._queued_commands[0][0] <= self.tick:
            self._command_being_applied = self._queued_commands.pop(0)[1]
            self._command_being_applied.apply_to_world(self)
            has_applied = True
        self._command_being_applied = None
        self.activity_version += has_applied
        return has_applied

    def _run_all_agents(self, ticks: int) -> int:
        """Let all agents plan and act for up to `ticks` ticks; return the number of ticks passed.

        The caller chooses `ticks` so that no command or random change is due before these ticks have passed.
        """
        plan = self._up_to_date_plan()
        passed = self._run_batches_and_walkers(plan, ticks) if plan.has_runnable else ticks
        self.tick += passed
        self.optimality.judge_queue_with_limit(passed)
        return passed

    def _run_batches_and_walkers(self, plan: BatchPlan, ticks: int) -> int:
        """Advance all batches, and all unbatched walkers that can act; return the number of ticks passed.

        Fewer than `ticks` ticks pass only if the world is over earlier.
        """
        batch_steps = [self._run_batch(batch, ticks) for batch in plan.batches]
        done = [self._run_walker(walker, ticks) for walker in plan.runnable]
        # A tick in which the referee stopped an agent counts as passed, although that agent has no row for it.
        longest = max(
            [0, self.referee.last_stop_tick + 1 - self.tick, *done, *(int(steps.done.max()) for steps in batch_steps)]
        )
        passed = longest if longest < ticks and self.is_over else ticks
        self._count_waiting_ticks(plan, batch_steps, done, passed)
        if min(done, default=passed) < passed:
            plan.refresh_runnable_walkers()
        self.activity_version += 1
        return passed

    def _begin_advance(self) -> BatchPlan | None:
        """Discard the log rows that agents wrote in the last call of `advance`.

        Returns:
            The present batch plan, if its batches store the rows of their walkers: `_end_advance` can skip these
            walkers. None: there is no such plan, so all walkers have to be visited one by one.
        """
        settled = self._plan_cache.plan_with_stored_rows(self.walkers)
        for walker in self.walkers if settled is None else settled.unbatched:
            if walker.slot is None:
                walker.discard_log_rows()
        for batch in self.batches:
            batch.discard_log_rows()
        self.unbatched_seconds.clear()
        return settled

    def _end_advance(self, settled: BatchPlan | None) -> None:
        """List the unbatched walkers that acted in this advance in `unbatched_with_rows`, and join the rows of each.

        Args:
            settled: batch plan that `_begin_advance` returned. If it is still in use, batched walkers are skipped.
        """
        unbatched = (
            settled.unbatched if settled is not None and settled is self._plan_cache.cached_plan else self.walkers
        )
        self.unbatched_with_rows = [walker for walker in unbatched if walker.row_arrays]
        for walker in self.unbatched_with_rows:
            walker.join_log_rows()

    def _count_waiting_ticks(
        self, plan: BatchPlan, batch_steps: list[BatchSteps], done: list[int], passed: int
    ) -> None:
        """Count one wait for each tick in which an agent without a path did not act.

        Args:
            plan: batches and unbatched walkers that have advanced.
            batch_steps: log rows of each batch in `plan.batches`.
            done: number of ticks in which each walker of `plan.runnable` acted.
            passed: number of ticks that have passed.
        """
        for walker in plan.without_path:
            walker.wait(passed)
        for walker, own in zip(plan.runnable, done, strict=True):
            if own < passed and walker.agent.status is Status.NO_PATH:
                walker.wait(passed - own)
        for batch, steps in zip(plan.batches, batch_steps, strict=True):
            for i in np.flatnonzero((steps.done < passed) & (batch.results["status"] == Status.NO_PATH)).tolist():
                batch.walkers[i].wait(passed - int(steps.done[i]))

    @property
    def batches(self) -> Sequence[AgentBatch]:
        """Return the batches of the present batch plan; empty before the first plan is formed."""
        return self._plan_cache.cached_plan.batches if self._plan_cache.cached_plan is not None else ()

    @property
    def _has_time_limit(self) -> bool:
        """Return whether a clock limits how many agents plan in a tick."""
        return self.tick_ms > 0.0 and self.is_live and self.clock is not None

    def _run_round_robin_tick(self) -> bool:
        """Run one tick: agents plan in round-robin order until the time limit of the tick; the other agents wait.

        If the time limit makes agents wait, the number of agents that planned is appended to `limited_ticks`. A
        LimitPlanners command with this number repeats the tick with the same result on any machine.

        Returns:
            Whether all agents that can act have planned.
        """
        max_served, self._planner_limit = self._planner_limit, None
        timer = self._start_tick_timer() if max_served is None else None
        plan = self._up_to_date_plan()
        queue, idle = self._round_robin_order()
        for batch in plan.batches:
            batch.prepare_ticks(self.budget, 1)
        served, limit = 0, len(queue) if max_served is None else min(max_served, len(queue))
        while served < limit and (count := timer.next_agent_count(served) if timer else limit):
            served += self._run_next_agents(queue[served : min(served + count, limit)], plan)
        for batch in plan.batches:
            self._apply_batch_result(batch, batch.end(self.tick))
        for walker in (*idle, *queue[served:]):
            walker.wait(1)
        if served < len(queue):
            self._next_planner_id = queue[served].id
            if max_served is None:
                self.limited_ticks.append((self.tick, served))
        self.activity_version += 1
        self.tick += 1
        self.optimality.judge_queue_with_limit(1)
        if timer:
            timer.end()
        return served == len(queue)

    def _start_tick_timer(self) -> TickTimer | None:
        """Start the timer for the time limit of this tick; return the timer, or None without a clock."""
        if self.clock is None:
            return None
        self._tick_timer = self._tick_timer or TickTimer()
        self._tick_timer.begin_tick(self.clock, self.tick_ms / 1000.0)
        return self._tick_timer

    def _round_robin_order(self) -> tuple[list[Walker], list[Walker]]:
        """Return the agents that can act, in round-robin order, and the agents without a path.

        The order begins with the agent `_next_planner_id`.
        """
        active, without_path = [], []
        for walker in self.walkers:
            if not walker.is_done:
                active.append(walker)
            elif walker.agent.status is Status.NO_PATH:
                without_path.append(walker)
        first = next((i for i, walker in enumerate(active) if walker.id >= self._next_planner_id), 0)
        return active[first:] + active[:first], without_path

    def _run_next_agents(self, queue: list[Walker], plan: BatchPlan) -> int:
        """Let the first agents of `queue` plan and act, in one kernel call.

        If the first agent is batched, the call includes the next agents of the queue, as long as their indices in the
        same batch are consecutive. An unbatched agent acts alone.

        Returns:
            The number of agents that have planned.
        """
        count = plan.queue_prefix_length_for_one_call(queue)
        if not count:
            self._run_walker(queue[0], 1)
            return 1
        batch, first = plan.slot_by_id[queue[0].id]
        batch.run_agents_in_slots(self.grid, self.tick, slice(first, first + count), self.clock)
        return count

    def _run_batch(self, batch: AgentBatch, ticks: int) -> BatchSteps:
        """Let a batch plan and act for `ticks` ticks, and judge its moves; return its log rows without illegal ones."""
        return self._apply_batch_result(batch, batch.run(self.grid, self.tick, self.budget, ticks, self.clock))

    def _apply_batch_result(self, batch: AgentBatch, steps: BatchSteps) -> BatchSteps:
        """Apply the results of a batch: stop agents that broke a rule, and store the trials of agents that arrived.

        Returns:
            `steps`, whose field `done` then counts, for each agent, only the rows before its first broken rule.
        """
        for i in np.flatnonzero(batch.results["legal"] < steps.done).tolist():
            walker, row = batch.walkers[i], int(batch.results["legal"][i])
            steps.done[i] = row
            self.referee.stop_agent(
                walker, describe_broken_rule(self.grid, walker.position, steps.rows[i], row), self.tick + row
            )
        for i in np.flatnonzero((batch.results["status"] == Status.AT_GOAL) & (steps.done > 0)).tolist():
            steps.rows["marks"][i, steps.done[i] - 1] |= log.ARRIVED
            self.referee.verify_agent_status(batch.walkers[i], self.tick + int(steps.done[i]) - 1)
            self.referee.store_finished_trial(batch.walkers[i])
        return steps

    def _up_to_date_plan(self) -> BatchPlan:
        """Return the batch plan of the present walkers: the cached one if it is valid, otherwise a new one."""
        return self._plan_cache.up_to_date_plan(self.walkers, self._batchable_walkers)

    def _batchable_walkers(self) -> list[Walker]:
        """Return the walkers that may be in a batch.

        A walker cannot be batched if its planning time is measured or its non-optimal moves are counted.
        """
        if self.stopwatch is not None:
            return []
        return [walker for walker in self.walkers if walker.own_goal is not None or not self.optimality.is_on]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _TRANSIENT_ATTRIBUTES}

    def _run_walker(self, walker: Walker, ticks: int) -> int:
        """Let an unbatched walker act for up to `ticks` ticks; return the number of ticks in which it acted."""
        before = self.clock() if self.clock else 0.0
        done = self.referee.run_walker(walker, self.tick, ticks, walker.budget or self.budget)
        if self.clock:
            self.unbatched_seconds[walker.id] = self.unbatched_seconds.get(walker.id, 0.0) + self.clock() - before
        return done

    # --- interface for commands, see commands.Changeable ------------------------------------------

    def block_and_free(self, blocked: Sequence[int], freed: Sequence[int]) -> None:
        """Block some cells and free others. A cell that an agent occupies stays free, and the user gets a message."""
        self._block_and_free_allowed_cells(np.asarray(blocked, np.int32), np.asarray(freed, np.int32))

    def _block_and_free_allowed_cells(self, blocked: npt.NDArray[np.int32], freed: npt.NDArray[np.int32]) -> None:
        """Block and free cells, and notify all agents of the change. Cells that agents occupy stay free."""
        self.optimality.before_map_change()
        self._notify_of_map_change(self.grid.block_and_free(blocked[self._blockable_mask(blocked)], freed))

    def set_switch_blocked(self, name: str, is_blocked: bool) -> None:
        """Block or free all cells of a switch. If there is no switch of this name, only add a message for the user."""
        if name not in self.switches:
            self.add_message(f"no switch '{name}'{did_you_mean_hint(name, self.switches)}")
            return
        group, none = np.asarray(self.switches[name], np.int32), np.empty(0, np.int32)
        self._block_and_free_allowed_cells(*((group, none) if is_blocked else (none, group)))

    def define_switch(self, name: str, cells: Sequence[int]) -> None:
        """Define or redefine a switch; without cells, delete it. If there are too many switches, add a message."""
        if not cells:
            self.switches.pop(name, None)
        elif name in self.switches or len(self.switches) < MAX_SWITCHES:
            self.switches[name] = tuple(int(cell) for cell in cells)
        else:
            self.add_message(f"switch '{name}' was not added: there are already {MAX_SWITCHES} switches, the maximum")

    def set_terrain(self, cells: Sequence[int], letters: str) -> None:
        """Set the terrain character of each cell. Cells that agents occupy are not blocked; the user gets a message."""
        chosen, characters = np.asarray(cells, np.int32), np.frombuffer(letters.encode("ascii"), np.uint8)
        allowed = self.grid.passable_letter_mask(characters)
        allowed[~allowed] = self._blockable_mask(chosen[~allowed])
        self.optimality.before_map_change()
        self._notify_of_map_change(self.grid.set_terrain(chosen[allowed], characters[allowed]))

    def _blockable_mask(self, cells: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        """Return for each of `cells` whether no agent occupies it, so that it may be blocked; report occupied cells."""
        refused = np.isin(cells, self._occupied_cells())
        if refused.sum() > _MAX_NAMED_REFUSALS:
            self.add_message(f"{refused.sum():,} of {cells.size:,} cells stay free: agents are on them")
        for cell in cells[refused].tolist() if refused.sum() <= _MAX_NAMED_REFUSALS else ():
            label = [w.label for w in self.walkers if w.position == cell][-1]
            x, y = self.grid.xy(cell)
            self.add_message(f"({x}, {y}) stays free: {label} is on it")
        if self.goal in cells:
            self.add_message("the goal is blocked: agents wait until it is free again")
        return ~refused

    def _occupied_cells(self) -> list[int]:
        """Return the cells that agents occupy. One kernel call per batch is faster than reading each walker."""
        settled = self._plan_cache.plan_with_stored_rows(self.walkers)
        if settled is None:
            return [walker.position for walker in self.walkers]
        cells = [cell for batch in settled.batches for cell in batch.walker_cells().tolist()]
        return [*cells, *(walker.position for walker in settled.unbatched)]

    def _apply_random_change(self) -> None:
        """Undo the last random change and apply the next one. Both are one map edit, so agents are notified once."""
        own_goals = {w.own_goal for w in self.walkers if w.own_goal is not None}
        protected = np.array([*self._occupied_cells(), self.goal, *sorted(own_goals)])
        event = changes.sample_random_change(self.grid, self.random_changes, self.seed, self.tick, protected)
        self._last_random_change, edit = changes.merge_undo_with_next_change(
            self._last_random_change, event, self.grid, protected
        )
        self.optimality.before_map_change()
        self._notify_of_map_change(self.grid.block_and_free(edit.blocked, edit.freed))

    def _notify_of_map_change(self, change: MapChange) -> None:
        """Notify every agent of a map change. Mark true distances and the costs of cheapest paths as outdated."""
        if not change.cells.size:
            return
        self.optimality.after_map_change(change, self.tick, self._cell_near_agents)
        self._map_changes_digest = blake2b(self._map_changes_digest + change.cells.tobytes(), digest_size=8).digest()
        notified = self._notify_batches(change)
        for walker in self.walkers:
            if walker.id in notified:
                continue
            self._plan_cache.needs_refresh = True  # agents may replace arrays, so addresses in batches may be wrong
            before = self.stopwatch() if self.stopwatch else 0.0
            walker.agent.on_change(change)
            if self.stopwatch:
                self.map_change_seconds[walker.id] = (
                    self.map_change_seconds.get(walker.id, 0.0) + self.stopwatch() - before
                )

    def _notify_batches(self, change: MapChange) -> Container[int]:
        """Notify the agents of all batches of a map change by kernel calls; return the ids of the notified agents.

        If the batch plan is out of date, no agent is notified.
        """
        plan = self._plan_cache.right(self.walkers)
        if plan is None:
            return ()
        return {number for batch in plan.batches if batch.notify_map_change(self.grid, change) for number in batch.ids}

    def move_goal(self, cell: int, agent: int | None = None) -> None:
        """Move the shared goal, or give one agent a goal of its own.

        Args:
            cell: new goal. If it is blocked, the goal does not move, and a message is added for the user.
            agent: id of the agent; None: all agents without a goal of their own.
        """
        if not self._can_be_goal(cell):
            return
        if agent is not None:
            if (walker := self.walker(agent)) is None:
                self._report_missing_agent(agent)
            else:
                self._move_own_goal(cell, walker, cheapest_cost_and_moves(self.grid, walker.start, cell))
            return
        self.optimality.before_map_change()
        self.goal, self._plan_cache.needs_refresh = cell, True
        sharing = [walker for walker in self.walkers if walker.own_goal is None]
        # The optimal costs are those of the present map, because on the initial map the new goal may be blocked.
        self.optimality.move_shared_goal(cell, self._cell_near_agents, sharing, self.tick)
        for walker in sharing:
            walker.goal_tick = self.tick
            walker.agent.set_goal(cell)

    def move_goals(self, cell: int, agents: Sequence[int]) -> None:
        """Give several agents the same new goal. One search finds the cheapest paths of all these agents."""
        if not self._can_be_goal(cell):
            return
        chosen = set(agents)
        walkers = [walker for walker in self.walkers if walker.id in chosen]
        paths = cheapest_costs_and_moves(self.grid, [walker.start for walker in walkers], cell)
        for walker, path in zip(walkers, paths, strict=True):
            self._move_own_goal(cell, walker, path)

    def _can_be_goal(self, cell: int) -> bool:
        """Return whether a cell may become a goal: whether it is free. If it is blocked, add a message for the user."""
        if not self.grid.is_free(cell):
            self.add_message(f"the goal cannot be at {self.grid.xy(cell)}: that cell is blocked")
            return False
        return True

    def _move_own_goal(self, cell: int, walker: Walker, path: tuple[float, int | None]) -> None:
        """Give a walker a new goal of its own. `path`: cost and moves of the cheapest path from its start to `cell`."""
        if walker.own_goal is None:
            # Judge all queued moves now: moves of agents with a goal of their own are never judged.
            self.optimality.judge_whole_queue()
            self._plan_cache.needs_rebuild = (
                True  # form new batches, because agents with a goal of their own can be batched
            )
        walker.own_goal, walker.own_optimum, walker.goal_tick = cell, path, self.tick
        self.optimality.costs.on_goal_set(self.tick)
        walker.config = replace(walker.config, goal=self.grid.xy(cell))
        walker.agent.set_goal(cell)
        self._plan_cache.on_goals_changed()

    def set_budget(self, budget: int | None, agent: int | None) -> None:
        """Set the shared budget, or the own budget of one agent.

        If the budget is invalid for the algorithm of an affected agent, no budget changes, and a message says why.

        Args:
            budget: expansions per tick; None: the agent uses the shared budget again.
            agent: id of the agent; None: set the shared budget.
        """
        chosen = [w for w in self.walkers if (w.id == agent if agent is not None else w.budget is None)]
        if agent is not None and not chosen:
            self._report_missing_agent(agent)
        for walker in chosen:
            complaint = walker.spec.check_budget(budget or self.budget, walker.params)
            if complaint:
                self.add_message(f"{walker.label}: {complaint}")
                return
        self._plan_cache.needs_refresh = True
        if agent is None:
            self.budget = budget or self.budget
        else:
            for walker in chosen:
                walker.budget = budget

    def rename_agent(self, agent: int, label: str) -> None:
        """Rename an agent. With the label "", the name of its algorithm is shown."""
        walker = self.walker(agent)
        if walker is None:
            self._report_missing_agent(agent)
        else:
            walker.config = replace(walker.config, label=label)

    def set_param(self, agent: int, name: str, value: Value) -> None:
        """Change a parameter of an agent. If its name or value is invalid, only add a message for the user."""
        walker = self.walker(agent)
        param = walker.spec.param(name) if walker else None
        if walker is None:
            self._report_missing_agent(agent)
            return
        if param is None:
            names = [p.name for p in walker.spec.params]
            self.add_message(f"{walker.label} has no parameter '{name}'{did_you_mean_hint(name, names)}")
            return
        try:
            params = {**walker.params, name: param.parse_value(value, f"{walker.label}: {name}")}
        except ConfigError as error:
            self.add_message(str(error))
            return
        if complaint := walker.spec.check_budget(walker.budget or self.budget, params):
            self.add_message(f"{walker.label}: {complaint}")
            return
        walker.params, self._plan_cache.needs_refresh = params, True
        walker.agent.set_param(name, params[name])

    def set_random_changes(self, changes: RandomChangeSchedule) -> None:
        """Replace the schedule of random map changes."""
        self.random_changes = changes

    def set_tick_time_limit_ms(self, milliseconds: float) -> None:
        """Set the time limit of a tick, in milliseconds for all agents together; 0: no limit."""
        self.tick_ms = milliseconds

    def limit_planning_agents(self, agents: int) -> None:
        """Let only the next `agents` agents in round-robin order plan in the coming tick; the others wait."""
        self._planner_limit = agents

    def set_max_trials(self, count: int) -> None:
        """Set the maximum number of trials (walks from start to goal) of each agent that learns."""
        self.trials, self._plan_cache.needs_rebuild = count, True
        for walker in self.walkers:
            walker.max_trials = count if walker.spec.keeps_h else 1

    def remove_agent(self, agent: int) -> None:
        """Remove an agent. If there is no such agent, add a message for the user."""
        if self.walker(agent) is None:
            self._report_missing_agent(agent)
        self.walkers = [w for w in self.walkers if w.id != agent]

    def agent_ids_of_group(self, group: str) -> Sequence[int]:
        """Return the ids of the members of a group. For an unknown group, return an empty list and add a message."""
        found = [walker.id for walker in self.walkers if walker.config.group == group]
        if not found:
            self.add_message(
                f"no group '{group}'{did_you_mean_hint(group, {w.config.group for w in self.walkers} - {''})}"
            )
        return found

    def _report_missing_agent(self, agent: int) -> None:
        """Add the message that there is no agent with this id."""
        self.add_message(f"there is no agent {agent}")

    def add_agent(self, config: AgentConfig, agent: int | None) -> None:
        """Add an agent for a command: report errors as messages for the user instead of raising exceptions."""
        try:
            self.add(config, agent)
        except ConfigError as error:
            for problem in error.problems:
                self.add_message(problem)

    def add_message(self, text: str) -> None:
        """Add a message for the user, together with the present tick and the command that is being applied."""
        self.notes.append(RunMessage(self.tick, text, self._command_being_applied))

    # --- reading the state ------------------------------------------------------------------------

    @property
    def optimal(self) -> float:
        """Return the cost of the cheapest path from the shared start to the shared goal; infinity: there is no path."""
        return self.optimality.costs.shared[0]

    @property
    def _cell_near_agents(self) -> int:
        """Return a cell near which true distances will be needed next: that of the first agent, or the shared start."""
        return self.walkers[0].position if self.walkers else self.start

    def metrics_of_walker(self, walker: Walker) -> Metrics:
        """Return the quality measures of an agent, such as its cost and moves since it was added."""
        optimal = self.optimality.costs.of_walker(walker)
        own = walker.agent.own_counts()
        is_measured = self.referee.has_judged_all_moves(walker)
        is_coming = not is_measured and walker.own_goal is None and self.optimality.can_judge_all_moves(walker.id)
        return read_metrics(walker.metrics[0], optimal, is_measured, walker.trial_start_counts, own, is_coming)

    def goal_of_walker(self, walker: Walker) -> int:
        return self.referee.goal_of_walker(walker)

    def switch_states(self) -> dict[str, bool]:
        """Return for every switch whether it is blocked, that is, whether all of its cells are blocked."""
        return {name: not self.grid.are_cells_free(np.asarray(cells)).any() for name, cells in self.switches.items()}

    def snapshot(self, only: Container[int] | None = None) -> WorldSnapshot:
        """Return a view of the world with all agents, or only with those whose ids are in `only`."""
        return WorldSnapshot(
            self.tick,
            self.grid,
            self.start,
            self.goal,
            self.budget,
            self.switch_states(),
            tuple(self.view(w) for w in self.walkers if only is None or w.id in only),
        )

    def generation_tables(self) -> Iterator[GenerationTable]:
        """Yield tables with records of finished searches, so that keyframes (saved states) can leave such records out.

        Tables of group members are not included, because they are many and small.
        """
        yield self.optimality.distances.generation_table()
        for walker in self.walkers:
            if not walker.config.group and (stamped := getattr(walker.agent, "generation_tables", None)):
                yield from stamped()

    def materialize_views(self) -> None:
        """Compute now what agents' views otherwise compute at first use, such as the path ahead.

        After this call, reading a view writes no memory until the next tick.
        """
        for walker in self.walkers:
            getattr(walker.agent, "materialize_view", walker.agent.view)()

    def view(self, walker: Walker) -> WalkerView:
        """Return a view of one agent."""
        return WalkerView(
            id=walker.id,
            label=walker.label,
            spec=walker.spec,
            params=walker.params,
            budget=walker.budget or self.budget,
            position=walker.position,
            status=walker.agent.status,
            state_text=walker.state_text,
            metrics=self.metrics_of_walker(walker),
            visits=walker.visits,
            rows=walker.rows,
            first_row_tick=walker.first_row_tick,
            agent=walker.agent.view(),
            max_trials=walker.max_trials,
            trials=tuple(walker.trials),
            is_converged=walker.is_converged,
            last_budget=walker.last_budget,
            start=walker.start,
            goal=self.goal_of_walker(walker),
            group=walker.config.group,
            violation=walker.violation,
            has_own_start_or_goal=walker.has_own_start_or_goal,
        )

    def compute_digest(self) -> str:
        """Return the digest of map changes, moves, expansions and restarts of the run so far, as 16 hex digits."""
        head = np.array([self.tick, self.start, self.goal], np.int64).tobytes()
        sums = self._plan_cache.digest_columns(self.walkers).read_digest_bytes()
        return blake2b(self._map_changes_digest + head + sums, digest_size=8).hexdigest()

    def walker_digest(self, walker: Walker) -> str:
        """Return the digest of everything that an agent has done, as 16 hex digits."""
        a, b = walker.digest_numbers
        return f"{a:08x}{b:08x}"
