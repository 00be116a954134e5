"""Sequential executor: lets one agent after the other plan and act."""

from collections.abc import Iterator, Sequence

from sim.agent_api import Status
from sim.agent_times import AgentTimes
from sim.digest_table import DigestTable
from sim.executor import AgentTiming, InvalidationReason, RunResult, StepBlock
from sim.grid import MapChange
from sim.log_rows import UnbatchedRows
from sim.referee import Referee
from sim.walker import Walker
from sim.world_state import WorldState


class SequentialExecutor:
    """Executor that calls every agent by itself. Other executors must give the same results as this one."""

    def __init__(self, referee: Referee, times: AgentTimes) -> None:
        self._referee, self._agent_times = referee, times
        self._walkers_with_rows: Sequence[Walker] = ()
        # Of the last call of `run`: agents that were called, the number of ticks in which each acted, and the others.
        self._acting_walkers: Sequence[Walker] = ()
        self._acted_tick_counts: Sequence[int] = ()
        self._waiting_walkers: Sequence[Walker] = ()

    def begin_advance(self, state: WorldState) -> None:
        for walker in state.walkers:
            walker.take_unbatched_rows().discard_rows()
        self._agent_times.last_advance_s.clear()

    def run(self, state: WorldState, ticks: int) -> RunResult:
        self._acting_walkers = [walker for walker in state.walkers if may_walker_act(walker)]
        self._waiting_walkers = [walker for walker in state.walkers if is_waiting_for_path(walker)]
        self._acted_tick_counts = [self.run_walker(state, walker, ticks) for walker in self._acting_walkers]
        return (
            self._build_run_result(state)
            if self._acting_walkers or self._waiting_walkers
            else RunResult(ticks, has_activity=False)
        )

    def finish_run(self, passed: int) -> None:
        for walker in self._waiting_walkers:
            walker.count_waits(passed)
        for walker, done in zip(self._acting_walkers, self._acted_tick_counts, strict=True):
            if done < passed and walker.agent.status is Status.NO_PATH:
                walker.count_waits(passed - done)

    def end_advance(self, state: WorldState) -> None:
        self._collect_rows(state.walkers)

    def notify_map_change(self, state: WorldState, change: MapChange) -> None:
        for walker in state.walkers:
            self.notify_walker(walker, change)

    def invalidate_caches(self, reason: InvalidationReason) -> None:
        pass  # nothing is cached

    def prepare_first_tick(self, state: WorldState) -> None:
        pass

    def walkers_with_rows(self) -> Sequence[Walker]:
        return self._walkers_with_rows

    def step_blocks(self) -> Iterator[StepBlock]:
        return iter(())

    def agent_timings(self, state: WorldState) -> Iterator[AgentTiming]:
        seconds = self._agent_times.last_advance_s
        for walker in state.walkers:
            if walker.id in seconds and walker.recent_rows.rows.size:
                yield AgentTiming((walker,), seconds[walker.id], walker.recent_rows.rows.size)

    def occupied_cells(self, state: WorldState) -> Sequence[int]:
        return [walker.position for walker in state.walkers]

    def digest_bytes(self, state: WorldState) -> bytes:
        table = DigestTable(state.walkers)
        for halves, walker in zip(table.digest_halves, table.walkers, strict=True):
            halves[:] = walker.digest_halves
        return table.used_bytes()

    def begin_partial_tick(self, state: WorldState) -> None:
        pass

    def run_queue_front(self, state: WorldState, queue: Sequence[Walker]) -> int:
        self.run_walker(state, queue[0], 1)
        return 1

    def end_partial_tick(self, state: WorldState) -> None:
        pass

    # --- for this class and its subclasses --------------------------------------------------------

    def run_walker(self, state: WorldState, walker: Walker, ticks: int) -> int:
        """Let one agent plan and act for up to `ticks` ticks; return the number of ticks in which it acted."""
        clock = self._agent_times.clock
        before = clock() if clock else 0.0
        done = self._referee.run_walker(walker, state.tick, ticks, walker.budget or state.budget)
        if clock:
            self._agent_times.last_advance_s[walker.id] += clock() - before
        return done

    def notify_walker(self, walker: Walker, change: MapChange) -> None:
        """Notify one agent of a change of the map."""
        stopwatch = self._agent_times.stopwatch
        before = stopwatch() if stopwatch else 0.0
        walker.agent.on_change(change)
        if stopwatch:
            self._agent_times.map_change_s[walker.id] += stopwatch() - before

    def _build_run_result(self, state: WorldState, longest: int = 0) -> RunResult:
        """Return the result of a call of `run`. `longest`: number of ticks in which agents of batches acted."""
        # A tick in which the referee stopped an agent counts as passed, although that agent has no row for it.
        return RunResult(max([longest, self._referee.last_stop_tick + 1 - state.tick, *self._acted_tick_counts]))

    def _collect_rows(self, walkers: Sequence[Walker]) -> None:
        """Complete the rows of these agents, and list the agents that wrote any in the present advance."""
        own = [(walker, walker.recent_rows) for walker in walkers if isinstance(walker.recent_rows, UnbatchedRows)]
        self._walkers_with_rows = [walker for walker, rows in own if rows.row_arrays]
        for _, rows in own:
            rows.join_row_arrays()


def may_walker_act(walker: Walker) -> bool:
    """Return whether an agent is called in the next tick.

    An agent from a user's file always is, because its status may change or its code may fail at any time.
    """
    return walker.spec.is_own or not walker.is_done


def is_waiting_for_path(walker: Walker) -> bool:
    """Return whether an agent waits because there is no path. Agents from users' files are called nevertheless."""
    return not walker.spec.is_own and walker.agent.status is Status.NO_PATH
