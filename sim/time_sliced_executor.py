"""Time-sliced executor: runs single ticks in which only some agents plan, in round-robin order; the others wait.

A time limit per tick decides how many agents plan, or a recorded LimitPlanners command, which repeats such a tick with
the same result on any machine. Other executors call the agents; this one decides which, and when to stop.
"""

from sim.agent_api import Status
from sim.agent_times import AgentTimes
from sim.executor import Executor, RunResult
from sim.tick_timer import TickTimer
from sim.walker import Walker
from sim.world_state import WorldState


class TimeSlicedExecutor:
    """Runs one tick at a time. The order of agents begins with the first one that had to wait in an earlier tick."""

    def __init__(self, times: AgentTimes, inner: Executor) -> None:
        """Create the executor. `inner`: executor that calls the agents."""
        self._agent_times, self._inner_executor = times, inner
        self._waiting_walkers: list[Walker] = []  # agents that waited in the last tick
        self._tick_timer = TickTimer()
        self._is_timed = False  # whether the timer measures the present tick

    def run(self, state: WorldState, ticks: int) -> RunResult:
        """Run one tick. If the time limit makes agents wait, append the number of agents that planned to the state."""
        del ticks
        inner = self._inner_executor
        max_served, state.planner_limit = state.planner_limit, None
        self._is_timed = max_served is None and self._begin_timer(state)
        inner.begin_partial_tick(state)
        queue, without_path = self._round_robin_order(state)
        served, limit = 0, len(queue) if max_served is None else min(max_served, len(queue))
        while served < limit and (count := self._tick_timer.next_agent_count(served) if self._is_timed else limit):
            served += inner.run_queue_front(state, queue[served : min(served + count, limit)])
        inner.end_partial_tick(state)
        self._waiting_walkers = [*without_path, *queue[served:]]
        if served < len(queue):
            state.next_planner_id = queue[served].id
            if max_served is None:
                state.planner_limited_ticks.append((state.tick, served))
        return RunResult(1, have_all_planned=served == len(queue))

    def finish_run(self, passed: int) -> None:
        """Count the agents that waited, and measure the end of the tick, for which the next tick reserves time."""
        for walker in self._waiting_walkers:
            walker.count_waits(passed)
        if self._is_timed:
            self._tick_timer.end()

    def _begin_timer(self, state: WorldState) -> bool:
        """Start the timer of this tick; return whether there is a clock."""
        clock = self._agent_times.clock
        if clock is None:
            return False
        self._tick_timer.begin_tick(clock, state.tick_time_limit_ms / 1000.0)
        return True

    def _round_robin_order(self, state: WorldState) -> tuple[list[Walker], list[Walker]]:
        """Return the agents that can act, in round-robin order, and the agents without a path."""
        active, without_path = [], []
        for walker in state.walkers:
            if not walker.is_done:
                active.append(walker)
            elif walker.agent.status is Status.NO_PATH:
                without_path.append(walker)
        first = next((i for i, walker in enumerate(active) if walker.id >= state.next_planner_id), 0)
        return active[first:] + active[:first], without_path
