"""World: one map, the agents on it, and the order of events in each tick. The referee (referee.py) judges the moves.

Agents do not collide: each agent solves its problem on its own. A tick begins with the random change of the map and the
commands that are due. Then each agent in turn plans and acts, and its move is judged. Nothing else happens between two
ticks of an agent, so `advance(1000)` has the same result as 1000 calls of `advance(1)`, but needs fewer kernel calls.

A world is a `WorldState` (world_state.py) with these parts: an executor, which lets the agents plan and act
(executor.py); the referee; and a tracker of true distances and optimal costs (move_optimality.py). Commands change a
world through a `WorldEditor` (world_editor.py). A walker (walker.py) is an agent in the world, with its position and
counts. A row (log.ROW) says what one agent did in one tick. A note is a message for the user. A switch is a named set
of cells that are blocked or freed together.
"""

from collections.abc import Callable, Container, Mapping
from hashlib import blake2b
from typing import Any

import numpy as np

from sim import agent_checks, changes
from sim.agent_api import AgentSpec, AgentSpecTable, Problem
from sim.agent_placing import cheapest_cost_and_moves
from sim.agent_times import AgentTimes, Clock
from sim.changes import RandomChangeSchedule
from sim.executor import Executor, ExecutorFactory, InvalidationReason
from sim.grid import Grid, MapChange, ReadOnlyGrid
from sim.kernels.referee import new_metrics
from sim.kernels.tiled import Table, new_table, tile_width_if_compiled
from sim.metrics import Metrics
from sim.move_optimality import OptimalityTracker
from sim.params import ConfigError, Value
from sim.referee import Referee
from sim.sequential_executor import SequentialExecutor
from sim.time_sliced_executor import TimeSlicedExecutor
from sim.true_distances import UNLIMITED_EXPANSIONS
from sim.walker import Walker
from sim.world_commands import MAX_AGENTS, AgentConfig, Command, RunMessage
from sim.world_editor import WorldEditor
from sim.world_state import WorldState
from sim.world_view import WalkerView, WorldSnapshot, metrics_of_walker, view_of_walker

MAX_TICKS_PER_CALL = 4096  # maximum number of ticks in one kernel call
_MAX_ROWS_PER_CALL = 1 << 20  # maximum number of log rows (agents x ticks) per kernel call, to limit memory
_UNPICKLED_ATTRIBUTES = (
    "executor",
    "_time_slicer",
    "activity_version",
    "_last_active_index",
    "_command_being_applied",
)
"""Names of attributes that keyframes (saved states of the run) do not contain, because they hold no state."""


class World(WorldState):
    """Simulation of agents on one map, with a queue of commands. Time is counted in ticks."""

    is_live = True
    """Whether ticks are computed for the first time, so that the clock may limit how many agents plan in a tick. A
    replay does not use the clock: recorded LimitPlanners commands say how many agents plan in each tick."""

    activity_version = 0
    """Version counter, incremented whenever the state of any agent may have changed: it acted, waited for a path, or
    commands or a random change were applied.
    """

    _last_active_index = 0  # index of the walker that the last check found active; the next check begins there
    _command_being_applied: Command | None = None  # command that causes messages for the user

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
        stopwatch: Clock | None = None,
        trials: int = 1,
        tick_ms: float = 0.0,
        executor: ExecutorFactory = SequentialExecutor,
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
            tick_ms: time limit of a tick in milliseconds, for all agents together; 0: no limit. It needs a clock in
                `agent_times`.
            executor: class of the executor that calls the agents. It does not affect results, only speed (executor.py).

        Raises:
            ConfigError: start or goal is not a free cell of the map.
        """
        agent_checks.check_start_and_goal(grid, start, goal)
        specs = specs if isinstance(specs, AgentSpecTable) else dict(specs)
        schedule = random_changes or RandomChangeSchedule(1, 0.0)
        super().__init__(grid, start, goal, specs, budget, seed, dict(switches or {}), schedule, trials, tick_ms)
        self.is_watched, self.counts_nonoptimal_moves = watched, measures
        self.agent_times = AgentTimes(stopwatch)
        self._instrumented_ids: set[int] = set()  # ids of group members that count expansions per cell
        self.optimality_tracker = OptimalityTracker(grid, start, goal, measures, is_watched=watched)
        self.referee = Referee(grid, self.optimality_tracker, self.messages, self.agent_times)
        self.use_executor(executor)

    def use_executor(self, executor: ExecutorFactory) -> None:
        """Let another executor call the agents from now on. It does not affect results. `executor`: its class."""
        for walker in self.walkers:
            walker.take_unbatched_rows().join_row_arrays()  # rows that a batch of the earlier executor stores
        self._executor_factory, self.executor = executor, executor(self.referee, self.agent_times)
        self._time_slicer = TimeSlicedExecutor(self.agent_times, self.executor)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _UNPICKLED_ATTRIBUTES}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.use_executor(self._executor_factory)

    # --- agents -----------------------------------------------------------------------------------

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
        number = self.next_agent_id if agent_id is None else agent_id
        if self.walker_with_id(number) is not None:
            raise ConfigError(f"agent: there is an agent {number} already")
        self.next_agent_id = max(self.next_agent_id, number + 1)
        spec, params, budget = self.check_agent_config(config)
        own_start, own_goal = agent_checks.own_start_and_goal(self.grid, config)
        start = self.start if own_start is None else own_start
        goal = self.goal if own_goal is None else own_goal
        has_own = (own_start, own_goal) != (None, None)
        problem = self._build_problem(config, number, (start, goal), budget)
        visits: Table = new_table("visit_counts", self.grid.cells, np.uint32, problem.tile_width)
        walker = Walker(
            id=number,
            config=config,
            spec=spec,
            params=params,
            agent=spec.make(problem, params),
            counts_record=new_metrics(start, visits),
            visit_table=visits,
            budget=config.budget,
            added_tick=self.tick,
            start=start,
            own_goal=own_goal,
            own_optimum=cheapest_cost_and_moves(self.grid, start, goal) if has_own else None,
            goal_tick=self.tick,
            max_trials=self.max_trials if spec.keeps_h else 1,
        )
        walker.trial_start_counts = walker.current_trial_counts(1)
        if walker.has_arrived:
            self.referee.store_finished_trial(walker)
        self.walkers.append(walker)
        self.invalidate_executor_caches(InvalidationReason.MEMBERSHIP)
        self.optimality_tracker.optimal_costs.on_goal_set(self.tick)
        return walker

    def remove_agents(self, is_chosen: Callable[[Walker], bool]) -> None:
        """Remove all agents for which `is_chosen` returns True."""
        self.walkers = [walker for walker in self.walkers if not is_chosen(walker)]
        self.invalidate_executor_caches(InvalidationReason.MEMBERSHIP)

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
        grid = ReadOnlyGrid(self.grid) if self.agent_specs[config.kind].is_own else self.grid
        seed = agent_checks.seed_of_agent(self.seed, number)
        return Problem(grid, *start_and_goal, seed, budget, self.is_watched and not is_one_of_many, width)

    def instrument_agent(self, agent: int) -> None:
        """Let a member of a group count its expansions per cell, as agents without a group do.

        The agent may be added later. An agent that is already in the world is replaced by a new one, so it must not
        have acted yet.
        """
        self._instrumented_ids.add(agent)
        walker = self.walker_with_id(agent)
        if walker is not None and walker.config.group:
            assert walker.added_tick == self.tick and not walker.counts_record[0].ticks
            start_and_goal, budget = (walker.start, self.goal_of_walker(walker)), walker.budget or self.budget
            problem = self._build_problem(walker.config, agent, start_and_goal, budget)
            walker.agent = walker.spec.make(problem, walker.params)
            self.invalidate_executor_caches(InvalidationReason.AGENTS)

    def check_agent_config(self, config: AgentConfig, where: str = "agent") -> tuple[AgentSpec, dict[str, Value], int]:
        """Check the configuration of an agent; return its algorithm (spec), all parameter values and its budget.

        Raises:
            ConfigError: the configuration is invalid. The error lists all problems, each with `where` in front.
        """
        return agent_checks.check_agent_config(self.agent_specs, config, self.budget, where)

    def invalidate_executor_caches(self, reason: InvalidationReason) -> None:
        """Mark caches as out of date. Call this after every change that concerns agents, with its reason."""
        self.executor.invalidate_caches(reason)

    # --- time -------------------------------------------------------------------------------------

    def advance(self, ticks: int) -> int:
        """Advance by up to `ticks` ticks and return how many have passed.

        The call ends early when the world is over. It also ends after a tick in which a time limit or a command kept
        agents from planning: such agents have no log row for this tick, and an agent's rows of one call must belong to
        consecutive ticks.
        """
        self.executor.begin_advance(self)
        passed, has_ended = 0, self.is_over
        while passed < ticks and not has_ended:
            has_applied = self.apply_due_changes()
            while self.optimality_tracker.optimal_costs.refresh_outdated_optima(
                self.walkers, self.tick, UNLIMITED_EXPANSIONS
            ):
                pass
            if has_applied and self.is_over:
                break
            asked = min(ticks - passed, self._max_ticks_per_call, self.ticks_to_next_event())
            runner: Executor | TimeSlicedExecutor = self.executor
            if self._is_planning_limited:
                runner, asked = self._time_slicer, 1
            done = runner.run(self, asked)
            # Fewer ticks pass than were asked for if the run is over earlier.
            now_passed = done.ticks if done.ticks < asked and self.is_over else asked
            self.tick += now_passed
            self.activity_version += done.has_activity
            self.optimality_tracker.judge_queue_with_limit(now_passed)
            runner.finish_run(now_passed)
            passed += now_passed
            has_ended = not done.have_all_planned or self.is_over
        self.executor.end_advance(self)
        return passed

    @property
    def _is_planning_limited(self) -> bool:
        """Return whether a clock or a command limits how many agents plan in the coming tick."""
        has_time_limit = self.tick_time_limit_ms > 0.0 and self.is_live and self.agent_times.clock is not None
        return has_time_limit or self.planner_limit is not None

    @property
    def _max_ticks_per_call(self) -> int:
        """Return the maximum number of ticks per kernel call, so that a call writes at most _MAX_ROWS_PER_CALL rows."""
        return min(MAX_TICKS_PER_CALL, max(1, _MAX_ROWS_PER_CALL // max(1, len(self.walkers))))

    def ticks_to_next_event(self) -> int:
        """Return the number of ticks to the next command or random change; MAX_TICKS_PER_CALL if there is neither."""
        event = self.random_changes.next_change_tick_after(self.tick)
        due = self.tick + MAX_TICKS_PER_CALL if event is None else event
        return (min(due, self.queued_commands[0][0]) if self.queued_commands else due) - self.tick

    @property
    def is_over(self) -> bool:
        """Return whether the run is over: every agent is done and no command is queued.

        While an agent has no path, the run is not over as long as a random change is scheduled, which may open a path.
        """
        return not (self.queued_commands or self._is_any_walker_active() or self.is_waiting_for_random_change)

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
        """Do slow work of the first tick in advance. For hundreds of agents, it takes as long as several ticks."""
        self.executor.prepare_first_tick(self)
        if self.random_changes.next_change_tick_after(self.tick) is not None:
            # The next line computes this cached property now: a million cells take some milliseconds.
            _ = self.grid.original_free_and_blocked_cells

    # --- changes ----------------------------------------------------------------------------------

    def apply_due_changes(self) -> bool:
        """Apply the random change and the commands due at this tick; return whether there were any.

        `advance` does this. A paused window calls this method, so that the effect of a command is visible at once.
        """
        has_applied = False
        if self.are_due_changes_pending:
            self.last_random_change_tick = self.tick
            if self.random_changes.is_change_due(self.tick):
                self._apply_random_change()
                has_applied = True
        while self.queued_commands and self.queued_commands[0][0] <= self.tick:
            self._command_being_applied = self.queued_commands.pop(0)[1]
            self._command_being_applied.apply_to_world(WorldEditor(self))
            has_applied = True
        self._command_being_applied = None
        self.activity_version += has_applied
        return has_applied

    def _apply_random_change(self) -> None:
        """Undo the last random change and apply the next one. Both are one map edit, so agents are notified once."""
        own_goals = {w.own_goal for w in self.walkers if w.own_goal is not None}
        protected = np.array([*self.executor.occupied_cells(self), self.goal, *sorted(own_goals)])
        event = changes.sample_random_change(self.grid, self.random_changes, self.seed, self.tick, protected)
        self.last_random_change, edit = changes.merge_undo_with_next_change(
            self.last_random_change, event, self.grid, protected
        )
        self.change_map(lambda: self.grid.block_and_free(edit.blocked_cells, edit.freed_cells))

    def change_map(self, edit: Callable[[], MapChange]) -> None:
        """Change the map and notify all agents. `edit`: function that changes the grid and returns the change."""
        self.optimality_tracker.settle_queue_before_map_change()
        change = edit()
        if not change.cells.size:
            return
        self.optimality_tracker.invalidate_after_map_change(change, self.tick, self.cell_near_agents)
        self.map_changes_digest = blake2b(self.map_changes_digest + change.cells.tobytes(), digest_size=8).digest()
        self.executor.notify_map_change(self, change)

    def add_message(self, text: str) -> None:
        """Add a message for the user, together with the present tick and the command that is being applied."""
        self.messages.append(RunMessage(self.tick, text, self._command_being_applied))

    # --- reading the state ------------------------------------------------------------------------

    @property
    def optimal_cost(self) -> float:
        """Return the cost of the cheapest path from the shared start to the shared goal; infinity: there is no path."""
        return self.optimality_tracker.optimal_costs.shared_optimum[0]

    @property
    def cell_near_agents(self) -> int:
        """Return a cell near which true distances will be needed next: that of the first agent, or the shared start."""
        return self.walkers[0].position if self.walkers else self.start

    def metrics_of_walker(self, walker: Walker) -> Metrics:
        """Return the quality measures of an agent, such as its cost and moves since it was added."""
        return metrics_of_walker(walker, self.optimality_tracker)

    def create_snapshot(self, only: Container[int] | None = None) -> WorldSnapshot:
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

    def view(self, walker: Walker) -> WalkerView:
        """Return a view of one agent."""
        return view_of_walker(walker, self, self.optimality_tracker)

    def compute_digest(self) -> str:
        """Return the digest of map changes, moves, expansions and restarts of the run so far, as 16 hex digits."""
        head = np.array([self.tick, self.start, self.goal], np.int64).tobytes()
        return blake2b(self.map_changes_digest + head + self.executor.digest_bytes(self), digest_size=8).hexdigest()

    def walker_digest(self, walker: Walker) -> str:
        """Return the digest of everything that an agent has done, as 16 hex digits."""
        a, b = walker.digest_halves
        return f"{a:08x}{b:08x}"
